"""What every task promises, shown for every registered task over many seeds.

`CONTRACT` lists the promises as functions of a task and its cases; a new task is tested by being registered, and
`check_contract` puts any other one through them.
"""

from __future__ import annotations

import inspect
import json
import math
import os
import random
import shutil
import subprocess
import sys
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import FrozenInstanceError, dataclass, fields, replace
from functools import cache
from itertools import islice, pairwise
from pathlib import Path
from statistics import mean
from typing import Any
from xml.etree import ElementTree

import pytest

from collabtax.sim.speech import Voice
from graders import RULES, Grade, extract, grade
from tasks import FAMILIES, FRICTIONS, Frame, Problem, Task, all_tasks, get_task, problem, register
from tasks.answers import (
    CellsKey,
    ChoiceKey,
    CostKey,
    EdgesKey,
    GroupsKey,
    JointKey,
    Key,
    LinksKey,
    NumberKey,
    PathForm,
    PathKey,
    RouteKey,
    SlotForm,
)  # fmt: skip
from tasks.base import _REGISTRY, ATTEMPTS, DIFFICULTIES, seeded
from tasks.drawing import svg, text
from tasks.frames import SCHEMES, Scheme, disorient, draw_frames, orient, schemes
from tasks.names import NAMES
from tasks.spatial.maze import Maze

ROOT = Path(__file__).resolve().parents[1]
SEEDS = range(50)
COMPARED = range(12)  # seeds that are worked out anew in other processes and interpreters
FRAMES = (Frame("none"), Frame("natural"), *(Frame("strong", v) for v in range(1, 16)))


@dataclass(frozen=True)
class Case:
    """A task at a seed, with the answer of its own solver to the whole instance."""

    seed: int
    problem: Problem[Any]
    answer: Any

    @property
    def tellings(self) -> tuple[Any, ...]:
        """Everything that is ever told: both views and the instance."""
        return (*self.problem.views, self.problem.instance)

    @property
    def frame(self) -> Frame:
        """One frame a seed, all of them in turn."""
        return FRAMES[self.seed % len(FRAMES)]


@cache
def case(task: Task[Any], seed: int) -> Case:
    one = problem(task, seed)
    return Case(seed, one, task.solve(one.instance))


Cases = Sequence[Case]


# Answers

HOSTILE = "</text><script>alert(1)</script>&\"'\x00\x1b\ud800"


class Thorny:
    """Raises whatever is asked of it."""

    def _refuse(self, *_: object) -> Any:
        raise RuntimeError("do not touch")

    __eq__ = __len__ = __iter__ = __getitem__ = __repr__ = __str__ = __bool__ = __contains__ = get = _refuse  # type: ignore[assignment]
    __hash__ = object.__hash__


Mapping.register(Thorny)


class ThornyList(Sequence[int]):
    """Says that it is a sequence, and raises."""

    __getitem__ = __len__ = Thorny._refuse  # type: ignore[assignment]


@cache
def bottomless() -> list[Any]:
    inner: list[Any] = []
    for _ in range(50_000):
        inner = [inner]
    return inner


@cache
def garbage() -> list[Any]:
    """Values that answer nothing."""
    return [
        None, "", {}, [], (), 0, 1, -1, True, False, 0.5, math.nan, math.inf, 10**5000, 1j, ..., "garbage",
        "x" * 99_999, "[[0, 0], [0, 1]]", b"\x00", bytearray(b"ab"), set(), {1, 2}, frozenset({"a"}), object(),
        Thorny(), HOSTILE,
        ThornyList(), range(3), iter([1]), print, type, [None], [[]], [[[[]]]], [[0]], [[0, 0, 0]], [["0", "1"]],
        [[True, False]], [[math.nan, math.inf]], [[0.5, 1]], [10**5000], [[10**5000, -(10**5000)]], [Thorny()] * 3,
        [{"row": 0}], ["\ud800"], [HOSTILE] * 9, bottomless(), {"": ""}, {None: None}, {1: [2]}, {("a",): {}},
        {"q1": math.nan}, {"answer": {"answer": {}}}, {HOSTILE: HOSTILE}, {"error": bottomless()}, {Thorny(): Thorny()},
    ]  # fmt: skip


def spoiled(answer: Any, rng: random.Random) -> Iterator[Any]:
    """`answer` with one part exchanged for something that answers nothing."""
    for bad in garbage():
        if isinstance(answer, dict):
            item = rng.choice(sorted(answer))
            if not (type(bad) is int and bad == answer[item]):  # a right number, for once
                yield {**answer, item: bad}
        elif isinstance(answer, list):
            at = rng.randrange(len(answer))
            yield [*answer[:at], bad, *answer[at + 1 :]]


def pieces(answer: Any) -> Iterator[Any]:
    """What an answer that was given up early looks like."""
    if isinstance(answer, dict):
        yield from (dict(islice(answer.items(), n)) for n in range(len(answer) + 1))
    elif isinstance(answer, list | str):
        yield from (answer[:n] for n in range(len(answer) + 1))
    else:
        yield answer


def inflated(answer: Any, waits: bool) -> Iterator[Any]:
    """`answer` and more: things that nobody asked for, and its own parts again; with `waits` to repeat is to wait."""
    if isinstance(answer, dict):
        yield answer | {"Z9": next(iter(answer.values()), None), "": None, HOSTILE: 1}
        yield answer | {f"{name} ": value for name, value in answer.items()}
        yield answer | {name.upper() + "!": value for name, value in answer.items()}
    elif isinstance(answer, list) and answer:
        yield from (answer + answer, answer + answer[::-1], [*answer, answer[-1]], answer + answer[-2:-1] * 3)
        if not waits:
            yield [part for part in answer for _ in (0, 1)]


def thawed(value: Any, kind: type = list) -> Any:
    """Lists for tuples or, with `kind` tuple, tuples for lists, at every depth."""
    if isinstance(value, dict):
        return {k: thawed(v, kind) for k, v in value.items()}
    return kind(thawed(v, kind) for v in value) if isinstance(value, list | tuple) else value


def equivalents(task: Task[Any], one: Case) -> Iterator[Any]:
    """The canonical answer in every form that says the same."""
    yield json.loads(json.dumps(one.answer, allow_nan=False))
    yield thawed(one.answer)
    yield thawed(one.answer, tuple)
    if isinstance(one.answer, dict):
        yield dict(reversed(one.answer.items()))
        yield dict(sorted(one.answer.items()))
    yield from retold(task.key(one.problem.instance), one.answer)


def retold(key: Key, answer: Any) -> Iterator[Any]:
    """The same answer in other words, as far as its kind allows."""
    if isinstance(key, PathKey | CostKey | RouteKey | CellsKey | JointKey | LinksKey):
        shape = key.path.shape if isinstance(key, CostKey) else key.shape

        def written(cells: Any, scheme: Scheme) -> list[list[int]]:
            return [list(scheme.write(tuple(cell), shape)) for cell in cells]

        for scheme in schemes(len(shape)):
            if isinstance(answer, dict):
                yield {walker: written(cells, scheme) for walker, cells in answer.items()}
            else:
                yield written(answer, scheme)
                if not isinstance(key, CellsKey):
                    yield written(answer, scheme)[1:]  # without the start
        if isinstance(key, CellsKey):
            yield from (answer[::-1], answer + answer[:3])
        if isinstance(key, LinksKey):
            yield {pair: cells[::-1] for pair, cells in answer.items()}
        if isinstance(key, JointKey):
            yield {walker: cells[1:] for walker, cells in answer.items()}
        return
    if isinstance(key, EdgesKey | GroupsKey):
        yield [group[::-1] for group in answer]
    if isinstance(key, GroupsKey):
        yield answer[::-1]
    if isinstance(key, EdgesKey):
        yield [edge if i % 2 else edge[::-1] for i, edge in enumerate(answer)]
    if isinstance(key, NumberKey):
        yield from (str(answer), f" {answer} ", float(answer), f"+{answer}")
    elif not isinstance(key, ChoiceKey):  # names, whatever their case and the blanks around them
        yield from (spelled(answer, str.upper), spelled(answer, str.lower), spelled(answer, lambda name: f" {name} "))


def spelled(value: Any, how: Callable[[str], str]) -> Any:
    """`value` with every text in it spelled in another way; names of items stay."""
    if isinstance(value, str):
        return how(value)
    if isinstance(value, dict):
        return {k: spelled(v, how) for k, v in value.items()}
    return [spelled(v, how) for v in value] if isinstance(value, list) else value


def check_grade(verdict: Grade, about: object = "") -> float:
    """What holds for every grade."""
    assert isinstance(verdict.score, float), about
    assert math.isfinite(verdict.score), about
    assert 0 <= verdict.score <= 1, about
    assert verdict.success is (verdict.score == 1), about
    assert verdict.reason.strip(), about
    assert len(verdict.reason) < 1000, about
    json.dumps(verdict.where, allow_nan=False)
    return verdict.score


# Promises


def describes_itself(task: Task[Any], cases: Cases) -> None:
    assert task.name.isidentifier()
    assert task.name == task.name.lower()
    assert task.family in FAMILIES
    assert task.version >= 1
    assert task.rule in RULES
    assert task.prompt == task.prompt.strip() != ""
    for one in cases:
        assert len(one.problem.views) == len(one.problem.frames) == len(one.problem.witnesses) == 2
        for view in one.tellings:
            assert type(view) is type(one.problem.instance)
            hash(view)  # plain frozen data all the way down
            with pytest.raises(FrozenInstanceError):
                setattr(view, fields(view)[0].name, None)


def repeats_itself(task: Task[Any], cases: Cases) -> None:
    """The same problem at any time, in any order, whatever the friction; nobody else's random numbers are touched."""
    random.seed(cases[0].seed)
    before = random.getstate()
    for one in reversed(cases):
        again = problem(task, one.seed, friction="strong")
        assert repr((again.instance, again.views, again.witnesses)) == repr(
            (one.problem.instance, one.problem.views, one.problem.witnesses)
        )
        assert repr(task.solve(again.instance)) == repr(one.answer)
        assert task.render(one.problem.instance, one.frame) == task.render(again.instance, one.frame)
    assert random.getstate() == before


def neighbours_share_nothing(task: Task[Any], cases: Cases) -> None:
    """No two seeds give the same instance or view, and another version, name or size is another stream."""
    told = Counter(view for one in cases for view in one.tellings)
    assert max(told.values()) == 1, "two seeds share an instance or a view"
    kind: Any = type(task)
    later = type("Later", (kind,), {"version": task.version + 1})()
    renamed = type("Renamed", (kind,), {"name": task.name + "2"})()
    for one in cases[:5]:
        others = problem(later, one.seed), problem(renamed, one.seed), problem(task, one.seed, "easy")
        assert not any(view in told for other in others for view in (*other.views, other.instance))


def reads_what_it_tells(task: Task[Any], cases: Cases) -> None:
    for one in cases:
        for view in one.tellings:
            for frame in FRAMES:
                assert task.parse(task.render(view, frame)) == view, (one.seed, frame)


def reads_it_in_a_chat(task: Task[Any], cases: Cases) -> None:
    """With the task's own text around it, fenced, quoted, or after small talk."""
    for one in cases:
        for view in one.tellings:
            for frame in (one.frame, Frame("natural")):
                told = task.render(view, frame)
                for chat in (
                    f"[user]: {task.prompt}\n\nYou hold one part. Your part:\n\n{told}\n\nTalk with the other agent.",
                    f"Sure! Here is everything I have (2 parts, no more):\n\n```\n{told}\n```\n\nWhat is yours?\n- Bob",
                    "As you asked:\n" + "\n".join(f"> {line}" for line in told.split("\n")) + "\n\nWe need yours too.",
                ):
                    assert task.parse(chat) == view, (one.seed, frame, chat)


def reads_or_refuses_anything(task: Task[Any], cases: Cases) -> None:
    """A damaged telling is read as some view that can be worked with, or refused with a ValueError."""
    for empty in ("", "\n", task.prompt, "hello", HOSTILE, "? " * 999):
        with pytest.raises(ValueError, match=r"\w"):
            task.parse(empty)
    for one in cases:
        rng = seeded("damage", one.seed)
        for view, frame in zip(one.problem.views, (one.frame, Frame("natural")), strict=True):
            told = task.render(view, frame)
            lines, at = told.split("\n"), rng.randrange(len(told))
            marks = "".join(rng.choice("0123456789-,:?#.@* amp") if rng.random() < 0.05 else c for c in told)
            words = told.split(" ")
            words[rng.randrange(len(words))] = words[rng.randrange(len(words))]
            for damaged in (
                told[:at], told[at:], told[:at] + told[at + 1 :], marks, " ".join(words), told + "\n" + marks,
                "\n".join(rng.sample(lines, len(lines) // 2 + 1)), told.replace("1", "99999999999"),
            ):  # fmt: skip
                try:
                    read = task.parse(damaged)
                    task.solve(read)
                    task.merge((view, read))
                except ValueError as error:
                    assert str(error)  # noqa: PT017 - refusing is one of two right ways


def solved_from_text(task: Task[Any], cases: Cases) -> None:
    """Whoever reads both views, as told, and combines them gets everything right."""
    for one in cases:
        instance = one.problem.instance
        for friction in FRICTIONS:
            frames = draw_frames(friction, 2, seeded(one.seed))
            read = [task.parse(task.render(v, f)) for v, f in zip(one.problem.views, frames, strict=True)]
            verdict = grade(task, instance, task.solve(task.merge(read)))
            assert check_grade(verdict) == 1.0, (one.seed, friction, verdict.reason)
        alone = task.parse(task.render(instance, one.frame))
        assert grade(task, instance, task.solve(alone)).success


def views_add_up(task: Task[Any], cases: Cases) -> None:
    """Together the views are the instance; neither is, nor holds anything else."""
    for one in cases:
        instance, views = one.problem.instance, one.problem.views
        assert task.merge(views) == task.merge(views[::-1]) == task.merge((instance,)) == instance
        for view in views:
            assert view != instance
            assert task.merge((view, view)) == view
            assert task.merge((view, instance)) == task.merge((instance, view)) == instance


def no_view_decides(task: Task[Any], cases: Cases) -> None:
    """For each view another instance holds it too, and there the right answer to ours is wrong."""
    for one in cases:
        instance = one.problem.instance
        for view, witness in zip(one.problem.views, one.problem.witnesses, strict=True):
            rivals = list(islice(task.rivals(instance, view), 3))
            assert rivals, one.seed
            for rival in (witness, *rivals):
                assert task.merge((view, rival)) == task.merge((rival, view)) == rival, one.seed
                assert task.parse(task.render(rival, one.frame)) == rival
                assert grade(task, rival, task.solve(rival)).success, one.seed
            assert witness != instance
            assert check_grade(grade(task, witness, one.answer)) < 1, one.seed


def form_tells_no_truth(task: Task[Any], cases: Cases) -> None:
    """Readers of answers know the same, whatever is true."""
    for one in cases:
        forms = {repr(task.form(v)) for v in (*one.tellings, *one.problem.witnesses)}
        assert len(forms) == 1, one.seed


CHANCY = {"kendall": 0.8, "circular": 0.8, "constraints": 0.85, "text": 0.8, "grid": 0.8}  # chance is far above 0


def half_is_not_enough(task: Task[Any], cases: Cases) -> None:
    """Guessing from one view, or giving another instance's answer, does badly on average."""
    guesses = [grade(task, c.problem.instance, task.solve(v)) for c in cases for v in c.problem.views]
    assert mean(map(check_grade, guesses)) < CHANCY.get(task.rule, 0.6)
    strangers = [grade(task, c.problem.instance, o.answer) for c, o in pairwise(cases)]
    assert mean(map(check_grade, strangers)) < CHANCY.get(task.rule, 0.6)
    assert mean(g.success for g in guesses) < 0.1


def facts_changed(before: Any, after: Any) -> list[tuple[int, int]]:
    """For each field that differs: how many of its parts went and how many came."""
    changes = []
    for field in fields(before):
        old, new = getattr(before, field.name), getattr(after, field.name)
        if old != new:
            is_tuple = isinstance(old, tuple)
            gone, come = (Counter(old), Counter(new)) if is_tuple else (Counter([old]), Counter([new]))
            changes.append(((gone - come).total(), (come - gone).total()))
    return changes


def lies_about_one_fact(task: Task[Any], cases: Cases) -> None:
    harm = 0
    for one in cases:
        for view in one.tellings:
            lie = task.corrupt(view, seeded("lie", one.seed))
            assert lie == task.corrupt(view, seeded("lie", one.seed))
            assert facts_changed(view, lie) == [(1, 1)], one.seed
            for frame in (one.frame, Frame("natural")):
                assert task.parse(task.render(lie, frame)) == lie, (one.seed, frame)
            harm += not grade(task, one.problem.instance, task.solve(lie)).success
    assert harm > 2 * len(cases), "no lie does any harm"


def contradictions_are_named(task: Task[Any], cases: Cases) -> None:
    """What is told in two ways is refused or kept both ways, never settled in silence."""
    for one in cases:
        for view in one.tellings:
            lie = task.corrupt(view, seeded("lie", one.seed))
            for pair in ((view, lie), (lie, view)):
                try:
                    both = task.merge(pair)
                except ValueError as error:
                    assert str(error).strip()  # noqa: PT017 - refusing is one of two right ways
                else:
                    assert both not in pair
                    assert all(task.merge((both, part)) == both for part in pair)


def grades_are_sound(task: Task[Any], cases: Cases) -> None:
    for one, other in zip(cases, (*cases[1:], cases[0]), strict=True):
        instance, before = one.problem.instance, repr(one.problem.instance)
        lies = [task.solve(task.corrupt(view, seeded(one.seed))) for view in one.tellings]
        tried = [one.answer, other.answer, *map(task.solve, one.problem.views), *lies, *pieces(one.answer)]
        for answer in tried:
            said = repr(answer)
            verdict = grade(task, instance, answer)
            check_grade(verdict, answer)
            assert verdict == grade(task, instance, answer)
            assert repr(answer) == said
        scores = [grade(task, instance, piece).score for piece in pieces(one.answer)]
        assert scores == sorted(scores), "more of the right answer scores less"
        assert (scores[0], scores[-1]) in ((0, 1), (1, 1))
        assert repr(instance) == before


def nothing_is_worth_nothing(task: Task[Any], cases: Cases) -> None:
    for one in cases:
        for bad in garbage():
            verdict = grade(task, one.problem.instance, bad)
            limit = 0.3 if task.rule in ("text", "grid") else 0  # a letter may be right by chance
            assert check_grade(verdict) <= limit, (one.seed, verdict.reason)
        for nearly in spoiled(one.answer, random.Random(one.seed)):
            assert check_grade(grade(task, one.problem.instance, nearly)) < 1, one.seed


def more_is_not_better(task: Task[Any], cases: Cases) -> None:
    for one in cases:
        instance = one.problem.instance
        for base in (*pieces(one.answer), *map(task.solve, one.problem.views)):
            score = grade(task, instance, base).score
            if task.rule == "grid" and base != one.answer:
                continue  # a line more fills lines that were missing, and a letter may be right by chance
            for more in inflated(base, getattr(task.form(instance), "waits", False)):
                assert check_grade(grade(task, instance, more)) <= score, (one.seed, base, more)


def equal_forms_score_equal(task: Task[Any], cases: Cases) -> None:
    for one in cases:
        for same in equivalents(task, one):
            verdict = grade(task, one.problem.instance, same)
            assert verdict.success, (one.seed, same, verdict.reason)


def is_read_as_told(task: Task[Any], cases: Cases) -> None:
    """An answer in words, in any of many ways to put it, is read back and graded as the answer that it is."""
    for one in cases[:12]:
        instance = one.problem.instance
        form = task.form(one.problem.views[0])
        voice = Voice(seeded("voice", one.seed), form)
        for answer in (one.answer, *map(task.solve, one.problem.views)):
            if not answer:
                continue
            said = [("agent 1", "Here is my part."), ("agent 2", f"{voice.final(answer)}\nACTI!")]
            found = extract.read(form, said)
            score = grade(task, instance, answer).score
            if score == 1 or not isinstance(form, PathForm):  # a wrong path may be worth more in another scheme
                assert grade(task, instance, found.answer).score == score, (one.seed, said, found)
            assert extract.interpret(form, voice.yaml(answer)).answer == answer, (one.seed, answer)


def draws_anything(task: Task[Any], cases: Cases) -> None:
    """Well-formed SVG for right, wrong, missing and hostile answers; text stays text."""
    for one in cases:
        instance = one.problem.instance
        wrong = [task.solve(view) for view in one.problem.views]
        hostile: list[Any] = [HOSTILE, [HOSTILE] * 3, [[HOSTILE, HOSTILE]]]
        if isinstance(one.answer, dict):
            hostile += [dict.fromkeys(one.answer, bad) for bad in (HOSTILE, [HOSTILE] * 3, 10**5000, bottomless())]
        for answer in (one.answer, *wrong, *hostile, *(garbage() if one is cases[0] else ())):
            where = grade(task, instance, answer).where
            for told in (where, json.loads(json.dumps(where)), None):
                drawn = task.draw(instance, answer, told)
                root = ElementTree.fromstring(drawn)
                assert root.tag == "{http://www.w3.org/2000/svg}svg"
                assert {e.tag.rpartition("}")[2] for e in root.iter()} <= {
                    "svg", "g", "text", "rect", "polyline", "circle", "line", "path", "title", "polygon", "ellipse",
                }  # fmt: skip
        right, nothing = (task.draw(instance, a, grade(task, instance, a).where) for a in (one.answer, None))
        assert right != nothing, "the answer is not in the drawing"


def comes_in_sizes(task: Task[Any], cases: Cases) -> None:
    lengths = []
    for difficulty in DIFFICULTIES:
        problems = [problem(task, one.seed, difficulty) for one in cases[:8]]
        for each in problems:
            assert task.merge(each.views) == each.instance
            assert grade(task, each.instance, task.solve(each.instance)).success
            assert all(task.merge((v, w)) == w for v, w in zip(each.views, each.witnesses, strict=True))
            assert not any(grade(task, w, task.solve(each.instance)).success for w in each.witnesses)
        lengths.append(mean(len(task.render(each.instance, Frame())) for each in problems))
    assert all(longer > 1.15 * shorter for shorter, longer in pairwise(lengths)), "the sizes do not differ"
    with pytest.raises(ValueError, match="huge"):
        problem(task, 0, "huge")
    with pytest.raises(ValueError, match="extreme"):
        problem(task, 0, friction="extreme")


Promise = Callable[[Task[Any], Cases], None]
CONTRACT: tuple[Promise, ...] = (
    describes_itself,
    repeats_itself,
    neighbours_share_nothing,
    reads_what_it_tells,
    reads_it_in_a_chat,
    reads_or_refuses_anything,
    solved_from_text,
    views_add_up,
    no_view_decides,
    form_tells_no_truth,
    half_is_not_enough,
    lies_about_one_fact,
    contradictions_are_named,
    grades_are_sound,
    nothing_is_worth_nothing,
    more_is_not_better,
    equal_forms_score_equal,
    is_read_as_told,
    draws_anything,
    comes_in_sizes,
)


def check_contract(task: Task[Any], seeds: Iterable[int] = SEEDS) -> None:
    """Raise AssertionError, or what the task itself raised, where `task` breaks a promise at one of `seeds`."""
    cases = [case(task, seed) for seed in seeds]
    for promise in CONTRACT:
        promise(task, cases)


@pytest.mark.parametrize("promise", CONTRACT, ids=lambda p: p.__name__)
@pytest.mark.parametrize("task", all_tasks(), ids=lambda t: t.name)
def test_contract(task, promise):
    promise(task, [case(task, seed) for seed in SEEDS])


# The same everywhere


def digest(task: Any, seeds: Iterable[int], everything: bool) -> str:
    """A SHA-256 of all that is told; with `everything`, of what is worked out from it too. Runs in any interpreter."""
    import hashlib

    from tasks import Frame, problem

    found = hashlib.sha256()
    frames = [Frame("none"), Frame("natural"), Frame("strong", 3), Frame("strong", 14)]
    for seed in seeds:
        for difficulty in ("easy", "default", "hard") if seed < 3 else ("default",):
            one = problem(task, seed, difficulty, "strong")
            told = [task.render(view, frame) for view in (*one.views, one.instance) for frame in (*frames, *one.frames)]
            found.update(ascii((task.prompt, one.instance, one.views, one.frames, told)).encode())
            if everything:
                lies = [task.corrupt(view, __import__("random").Random(seed)) for view in one.views]
                drawn = task.draw(one.instance, None, None)
                found.update(ascii((one.witnesses, task.solve(one.instance), lies, drawn)).encode())
    return found.hexdigest()


SCRIPT = f"""
import sys
from collections.abc import Iterable
from typing import Any
sys.path.insert(0, {str(ROOT)!r})
from tasks import all_tasks
{inspect.getsource(digest)}
for task in all_tasks():
    if task.__module__.startswith("tasks."):
        print(task.name, digest(task, range({len(COMPARED)}), True))
"""


@cache
def digests_here() -> dict[str, str]:
    return {t.name: digest(t, COMPARED, True) for t in all_tasks() if t.__module__.startswith("tasks.")}


def interpreters() -> dict[str, str]:
    """Other interpreters of this machine by version, as far as they can be found by name."""
    found: dict[str, str] = {}
    folders = (
        os.environ.get("PYENV_ROOT", str(Path.home() / ".pyenv")) + "/versions",
        str(Path.home() / ".local/share/uv/python"),
    )
    for version in ("3.11", "3.12", "3.13", "3.14"):
        kept = [p for f in folders for p in sorted(Path(f).glob(f"*{version}*/bin/python{version}"))[:1]]
        for path in (*map(str, kept), shutil.which(f"python{version}")):
            if path and version not in found:
                found[version] = path
    return found


@pytest.mark.parametrize("hash_seed", ["0", "1", "2"])
def test_same_bytes_in_another_process(hash_seed):
    assert elsewhere(sys.executable, hash_seed) == digests_here()


@pytest.mark.parametrize("version", ["3.11", "3.12", "3.13", "3.14"])
def test_same_bytes_under_another_interpreter(version):
    path = interpreters().get(version)
    if path is None or subprocess.run([path, "-c", ""], capture_output=True, check=False).returncode:
        pytest.skip(f"no Python {version} that runs")
    assert elsewhere(path, "7") == digests_here()


def elsewhere(python: str, hash_seed: str) -> dict[str, str]:
    """`digests_here` of another process, without any installed package."""
    environment = {**os.environ, "PYTHONHASHSEED": hash_seed}
    done = subprocess.run(
        [python, "-S", "-B", "-c", SCRIPT], env=environment, capture_output=True, text=True, timeout=120, check=False
    )
    assert done.returncode == 0, done.stderr
    return dict(line.split() for line in done.stdout.splitlines())


PINNED = {
    ("aliasedtaxonomy", 1): "d6023a93a3a0ad0beb71315b95e7bf78c888b859087cf7275580b4e71c93ed6a",
    ("ancestorpath", 1): "73459f3104be7cb6b179d4d7629af79b4b14c8eb73045bbce9a3dab21ff09c8a",
    ("attrcombo", 1): "a71723afc2430ec50936d0c06defc55350618aad100cd937672955f0e731a62e",
    ("binpack", 1): "7fd6a96badb0373f09c0bfcfa321d15249e5cbbb263948d9d5810b9acd9a6ce3",
    ("blueprintmaze", 1): "9f2e02070e2361e64a3b55bba1fde6ddd5a9209ce6a81e1173be134b7cf527d0",
    ("cipherdecode", 1): "f20dc81ac51e024e635258150ee7a488ec778b4120df7ab8c0adae4b29107f09",
    ("conflictpath", 1): "14ce5d5b114d44ab2f7c42c183a7f423de985f2b1080f1458a9f5fadf60ad20a",
    ("crossword", 1): "1633a55c274b86087d67745409cd8991060dc62db02261ecaa443e6756ecacf1",
    ("cube", 1): "c7793a6b86fb08fe805988d0cd39b9ece5493ad74a9b9985ba7c304a40a59cd3",
    ("dagorder", 1): "4532f4e96e11b91bbcda4926c1ec1a2b9a542ef565bde2745ca1c349b3922df9",
    ("eulerpath", 1): "1e4f39ba34276efab0dd4c9180b91b3eaf750e6a21ec25048a5225e800feb40e",
    ("eventlog", 1): "44880fd89a08f068245fffc00c4dc1d184257c332c4456c99401f0779faeaf1c",
    ("floodfill", 1): "9527f9e4ebf603a1963a0e068587a994763aeeeb0c944506a7b3bb321af26f3c",
    ("geomaze", 1): "59a523624ce3cf64d3dcbb3cf4c136473b8fedb11203385c496290c0233b74b3",
    ("graph", 1): "5a8ee8df1ae83a730552e8f356834865e7de89654f8af70b40e3972588848b3c",
    ("graphattr", 1): "e011698669a13e8295dd44decd5cff425882e86f0c85dfbb749aa4c190b2749d",
    ("graphpath", 1): "d3d4e7f1c7d839d73db41244b5e5904e78a2a11bcdc097dc5a2f97785c40f793",
    ("logic", 1): "bec66ab4376ed9e86d0a4691baa1126c6fdf278420ed1ea0295c47c26a6cb050",
    ("maze", 1): "7665e8cb968f125a322f9aa55e8d612522f5d57afcb4fc487b8ad163b86f6826",
    ("meetingmatrix", 1): "f03ad2de3f9d0817646df4848389c0d448712e2df418974ade086cdf0abccf13",
    ("noderanking", 1): "2d353d5bd998fafcf742ed5e89f633ea0f4bbfc0b4d275ad9a7102840a21bba2",
    ("numberlink", 1): "4a3d82336fec76be01971e26d4fb2110dfe33e634865e3e87c1078c17f8d73d3",
    ("order", 1): "d4fab9418c374b1dae02f63872940555be3ce00496e4382c66620fdf65c94325",
    ("relaquery", 1): "f8226fc9866d4f8bb052e2472000b2b84f6c9e51ad5d0f6fdec14e585e54157b",
    ("rulemaze", 1): "01f27f533eb045fff1ce0e33f39297eaab8045dd6f080ffb1d75f6f01bdb09b6",
    ("schedule", 1): "221b56c93b1d70f4eaf2c8b6b2b489c5af954dff8ac38967cbf86608181a698f",
    ("seating", 1): "8addfd3280631dc3b5a65aa8361bdac64b378c5875cc6ab1a870a66ac926f0fa",
    ("streetmap", 1): "bfc569e6878ea248b85cd8504c916fe7d26bae712703f962a89a7440da5d8ebb",
    ("terrain", 1): "a616fc20e30a81c959d1e0426c63e6c468c6c1492f3ca1027aa9e464f5d1b6c7",
    ("timedpath", 1): "53bdab95aacdfa77c9cb1b5c90e8b7382ef3fa3a97af34971ac04c2168ecb20e",
    ("treesum", 1): "792d2fc57555e2ffc8600d9249e55c77cc739949e85815c978dc800fb79e4db5",
    ("trianglecount", 1): "a3ac07cb358d2bdb55bbb6ab5551d0ba93d56d2b8a15d6c863c5a015a03f7833",
}


@pytest.mark.parametrize("task", all_tasks(), ids=lambda t: t.name)
def test_instances_change_only_with_the_version(task):
    found = digest(task, range(20), False)
    pinned = PINNED.get((task.name, task.version))
    if pinned is None:
        pytest.skip(f'not pinned yet; add ("{task.name}", {task.version}): "{found}" to PINNED')
    assert found == pinned, f"instances, views or texts of {task.name} changed: raise its version and pin it anew"


def test_seeds_are_hashed_and_not_added():
    """The first number of every stream, for neighbouring seeds, attempts and versions, is another one."""
    streams = [seeded("maze", v, "default", s, a).random() for v in range(3) for s in range(200) for a in range(5)]
    assert len(set(streams)) == len(streams)
    assert abs(mean(streams) - 0.5) < 0.03
    pairs = [(seeded("maze", 1, "default", s, 0).random(), seeded("maze", 1, "default", s + 1, 0).random())
             for s in range(500)]  # fmt: skip
    assert abs(mean((a - 0.5) * (b - 0.5) for a, b in pairs)) < 0.015
    assert [seeded("a", 1).randrange(10**9) for _ in range(2)] == [675299794, 675299794]


# Frames and drawings


@pytest.mark.parametrize(("height", "width"), [(3, 5), (5, 3), (2, 4), (4, 4)])
def test_schemes_are_sixteen_and_invertible(height, width):
    cells = [(r, c) for r in range(height) for c in range(width)]
    written = {tuple(s.write(cell, (height, width)) for cell in cells) for s in SCHEMES}
    assert len(written) == 16
    for scheme in SCHEMES:
        assert [scheme.read(scheme.write(c, (height, width)), (height, width)) for c in cells] == cells


@pytest.mark.parametrize("scheme", SCHEMES)
def test_a_drawing_is_oriented_as_its_scheme_counts(scheme):
    """Line and place of a mark in the drawing are its coordinates; also where height and width differ."""
    rows = ("abcde", "fghij", "klmno")
    drawn = orient(rows, scheme)
    assert disorient(drawn, scheme) == rows
    for r, row in enumerate(rows):
        for c, mark in enumerate(row):
            a, b = scheme.write((r, c), (3, 5))
            assert drawn[a - scheme.base][b - scheme.base] == mark


@pytest.mark.parametrize("frame", FRAMES)
def test_a_maze_that_is_not_square_keeps_its_axes(frame):
    maze, task = Maze(("@..#.", ".#?.*", "..#?.")), get_task("maze")
    assert task.parse(task.render(maze, frame)) == maze


def test_agents_under_strong_friction_have_frames_of_their_own():
    for seed in range(100):
        first, second = draw_frames("strong", 2, random.Random(seed))
        assert first != second
        assert {first.friction, second.friction} == {"strong"}
    assert draw_frames("none", 2, random.Random(0)) == (Frame("none"), Frame("none"))
    with pytest.raises(ValueError, match="heavy"):
        draw_frames("heavy", 2, random.Random(0))


@pytest.mark.parametrize(
    "value",
    [HOSTILE, 10**5000, Thorny(), bottomless(), None, 'a"b', "<&>"],
    ids=["hostile", "long", "thorny", "deep", "none", "quote", "marks"],
)
def test_drawn_text_is_escaped(value):
    root = ElementTree.fromstring(svg(10, 10, [text(1, 1, value)], HOSTILE))
    assert [e.tag.rpartition("}")[2] for e in root.iter()] == ["svg", "text"]
    if isinstance(value, str):
        assert root[0].text is not None
        assert root[0].text.startswith(value[:3])


# Contradictions by name


def test_maze_names_the_cell_that_is_told_in_two_ways():
    task = get_task("maze")
    with pytest.raises(ValueError, match=r"\(0, 1\).*'\.'.*'#'"):
        task.merge((Maze(("@.", "?*")), Maze(("@#", "?*"))))
    with pytest.raises(ValueError, match="size"):
        task.merge((Maze(("@.", "?*")), Maze(("@.?", "?*?"))))
    told = task.render(Maze(("@.", "?*")), Frame("strong", 2))
    assert "runs from east to west" in told
    with pytest.raises(ValueError, match="lies like"):
        task.parse(told.replace("runs from east to west", "runs from north to south"))


def test_schedule_names_whose_calendar_is_told_in_two_ways():
    task = get_task("schedule")
    for seed in SEEDS:
        view = case(task, seed).problem.views[0]
        lie = task.corrupt(view, random.Random(seed))
        (name,) = {a[0] for a, b in zip(view.people, lie.people, strict=True) if a != b}
        with pytest.raises(ValueError, match=rf"\b{name}\b"):
            task.merge((view, lie))
        with pytest.raises(ValueError, match="events differ"):
            task.merge((view, replace(view, events=view.events[1:])))


def test_relaquery_refuses_other_queries():
    task = get_task("relaquery")
    view = case(task, 0).problem.views[0]
    other = replace(view, queries=view.queries[1:])
    silent = replace(view, queries=())
    assert task.merge((silent, view)) == task.merge((view, silent)) == view
    for views in ((view, other), (silent, view, other), (view, silent, other)):
        with pytest.raises(ValueError, match="queries differ"):
            task.merge(views)


@pytest.mark.parametrize("told", ["2:30-4:00", "-9:00", "9:00", "9:00-", "25-99999999999", "9 am-", "am-pm"])
def test_schedule_refuses_times_that_it_does_not_tell(told):
    with pytest.raises(ValueError, match=r"\w"):
        get_task("schedule").parse(f"Ada (home clock UTC+1): free {told} home time\nreview needs Ada, Bela")


@pytest.mark.parametrize("told", ["22:00-24:00", "22:00-00:00", "10 pm-12 am", "22-0"])
def test_a_schedule_may_end_at_midnight(told):
    view = get_task("schedule").parse(f"Ada (home clock UTC+0): free 12 am-1 am, {told} UTC")
    assert view.people == (("Ada", 0, (0, 22, 23)),)


# The registry, and generators that fail


@dataclass(frozen=True)
class Board:
    hours: tuple[tuple[str, int], ...]
    events: tuple[str, ...]


class Toy(Task[Board]):
    """A timetable of which each agent knows half: the smallest task that keeps all promises."""

    name, family, version, rule, prompt = "toy", "csp", 1, "choices", "When does each event start? Name the hours."

    def sample(self, rng: random.Random, difficulty: str) -> Board | None:
        names = sorted(rng.sample(NAMES, {"easy": 4, "default": 6, "hard": 8}[difficulty]))
        return Board(tuple((n, rng.randrange(24)) for n in names), tuple(names))

    def split(self, instance: Board, rng: random.Random) -> tuple[Board, ...]:
        mine = set(rng.sample(instance.hours, len(instance.hours) // 2))
        return tuple(
            replace(instance, hours=tuple(h for h in instance.hours if (h in mine) is first)) for first in (True, False)
        )

    def merge(self, views: Sequence[Board]) -> Board:
        hours: dict[str, int] = {}
        for name, hour in (h for v in views for h in v.hours):
            if hours.setdefault(name, hour) != hour:
                raise ValueError(f"{name} starts twice")
        return Board(tuple(sorted(hours.items())), views[0].events)

    def render(self, view: Board, frame: Frame) -> str:
        lines = [f"{n} starts {h + frame.variant} h after day minus {frame.variant} h" for n, h in view.hours]
        return "\n".join([*lines, f"Events: {' '.join(view.events)}."])

    def parse(self, text: str) -> Board:
        import re

        found = re.findall(r"(\w+) starts (\d{1,2}) h after day minus (\d{1,2}) h", text)
        events = re.search(r"Events: ([\w ]+)\.", text)
        if events is None:
            raise ValueError("no events")
        hours = {(n, int(h) - int(v)) for n, h, v in found}
        return Board(tuple(sorted(hours)), tuple(events[1].split(" ")))

    def solve(self, view: Board) -> dict[str, str] | None:
        return {n: f"{h:02d}:00" for n, h in view.hours} or None

    def key(self, instance: Board) -> ChoiceKey:
        return ChoiceKey({n: frozenset({f"{h:02d}:00"}) for n, h in instance.hours})

    def form(self, view: Board) -> SlotForm:
        return SlotForm(view.events)

    def rivals(self, instance: Board, view: Board) -> Iterator[Board]:
        for at, (name, hour) in enumerate(instance.hours):
            if (name, hour) not in view.hours:
                told = (name, (hour + 1) % 24)
                yield replace(instance, hours=(*instance.hours[:at], told, *instance.hours[at + 1 :]))

    def corrupt(self, view: Board, rng: random.Random) -> Board:
        at = rng.randrange(len(view.hours))
        told = (view.hours[at][0], (view.hours[at][1] + 5) % 24)
        return replace(view, hours=(*view.hours[:at], told, *view.hours[at + 1 :]))

    def draw(self, instance: Board, answer: object, where: object) -> str:
        return svg(100, 100, [text(9, 9, instance.hours), text(9, 20, answer)], "times")


def test_a_task_that_keeps_its_promises_passes():
    check_contract(Toy(), range(12))


def _constant(self: Any, rng: Any, difficulty: str) -> Any:
    return Toy.sample(self, random.Random(0), difficulty)


def _global(self: Any, rng: Any, difficulty: str) -> Any:
    return Toy.sample(self, random, difficulty)  # type: ignore[arg-type]


def _one_size(self: Any, rng: Any, difficulty: str) -> Any:
    return Toy.sample(self, rng, "default")


def _forgetful(self: Any, view: Any, frame: Frame) -> str:
    return Toy.render(self, replace(view, hours=view.hours[:-1] if frame.variant == 7 else view.hours), frame)


def _key_error(self: Any, text: str) -> Any:
    return Toy.parse(self, text) if "Events:" in text else {}[text]


def _gullible(self: Any, text: str) -> Any:
    if text.startswith("[user]"):
        text = text.replace("Your part:", "Wim starts 3 h after day minus 0 h")
    return Toy.parse(self, text)


def _losing(self: Any, instance: Any, rng: Any) -> Any:
    first, second = Toy.split(self, instance, rng)
    return first, replace(second, hours=second.hours[1:])


def _first_wins(self: Any, views: Any) -> Any:
    return Board(tuple(sorted({**dict(views[-1].hours), **dict(views[0].hours)}.items())), views[0].events)


def _wrong(self: Any, view: Any) -> Any:
    return {n: "00:30" for n, _ in view.hours} | {"x": str(view.hours)}


def _telling_truth(self: Any, view: Any) -> Any:
    return SlotForm(tuple(f"{n} {h}" for n, h in view.hours))


def _lenient_key(self: Any, instance: Any) -> Any:
    return ChoiceKey({n: frozenset(f"{t % 24:02d}:00" for t in (h - 1, h, h + 1)) for n, h in instance.hours})


def _honest(self: Any, view: Any, rng: Any) -> Any:
    return view


def _liar(self: Any, view: Any, rng: Any) -> Any:
    return replace(view, hours=tuple((n, (h + 5) % 24) for n, h in view.hours))


def _raw(self: Any, instance: Any, answer: object, where: object) -> str:
    return svg(9, 9, [f"<text>{answer!s:.99}</text>"] if isinstance(answer, str | dict) else [], "times")


def _blank(self: Any, instance: Any, answer: object, where: object) -> str:
    return svg(9, 9, [], "times")


BROKEN = [
    ("sample", _constant, neighbours_share_nothing),
    ("sample", _global, repeats_itself),
    ("sample", _one_size, comes_in_sizes),
    ("render", _forgetful, reads_what_it_tells),
    ("parse", _key_error, reads_or_refuses_anything),
    ("parse", _gullible, reads_it_in_a_chat),
    ("split", _losing, views_add_up),
    ("merge", _first_wins, contradictions_are_named),
    ("solve", _wrong, solved_from_text),
    ("form", _telling_truth, form_tells_no_truth),
    ("key", _lenient_key, no_view_decides),
    ("corrupt", _honest, lies_about_one_fact),
    ("corrupt", _liar, lies_about_one_fact),
    ("draw", _raw, draws_anything),
    ("draw", _blank, draws_anything),
    ("rule", "unheard-of", describes_itself),
    ("prompt", " ", describes_itself),
    ("family", "numeric", describes_itself),
]


@pytest.mark.parametrize(("part", "instead", "promise"), BROKEN, ids=lambda x: getattr(x, "__name__", None))
def test_a_task_that_breaks_a_promise_is_caught(part, instead, promise):
    task = type("Broken", (Toy,), {part: instead})()
    cases = [case(task, seed) for seed in range(12)]
    with pytest.raises((AssertionError, KeyError, UnicodeError)):
        promise(task, cases)


def _saying_nothing(key: Any, answer: Any) -> Grade:
    return Grade(0.5, False, "who knows")


def _counting(key: Any, answer: Any) -> Grade:
    """Pays for what is given, asked for or not."""
    right = sum(t in (answer.get(e) or ()) for e, ts in key.right.items() for t in ts) if answer else 0
    return Grade(min(1.0, len(answer or ()) / len(key.right)), right == len(key.right), "counted")


def _trusting(key: Any, answer: Any) -> Grade:
    right = sum(answer[e] in times for e, times in key.right.items())
    return Grade(right / len(key.right), right == len(key.right), f"{right} right")


def _over_the_top(key: Any, answer: Any) -> Grade:
    verdict = RULES["choices"](key, answer)
    return replace(verdict, score=verdict.score * 1.01)


@pytest.mark.parametrize("rule", [_saying_nothing, _counting, _trusting, _over_the_top], ids=lambda r: r.__name__)
def test_a_rule_that_breaks_a_promise_is_caught(rule, monkeypatch):
    monkeypatch.setitem(RULES, "broken", rule)
    with pytest.raises((AssertionError, KeyError, TypeError, AttributeError)):
        check_contract(type("Broken", (Toy,), {"rule": "broken"})(), range(12))


def test_attempts_are_bounded():
    tried = []

    def never(self: Any, rng: Any, difficulty: str) -> None:
        tried.append(rng.random())

    with pytest.raises(ValueError, match=r"toy.*seed 41.*hard"):
        problem(type("Never", (Toy,), {"sample": never})(), 41, "hard")
    assert len(tried) == len(set(tried)) == ATTEMPTS


def test_an_instance_that_a_view_decides_is_not_emitted():
    """Draws without a rival are passed over; when nothing else comes, that is said."""
    decided = type("Decided", (Toy,), {"rivals": lambda self, instance, view: iter(())})()
    with pytest.raises(ValueError, match=r"toy.*seed 3.*no acceptable instance"):
        problem(decided, 3)


def test_a_view_with_a_fact_of_its_own_is_an_error():
    def inventing(self: Any, instance: Any, rng: Any) -> Any:
        first, second = Toy.split(self, instance, rng)
        return replace(first, hours=(*first.hours, ("Nobody", 3))), second

    with pytest.raises(ValueError, match=r"toy.*seed 5.*does not hold"):
        problem(type("Inventing", (Toy,), {"split": inventing})(), 5)


def test_registry(monkeypatch):
    monkeypatch.setattr("tasks.base._REGISTRY", dict(_REGISTRY))
    names = [t.name for t in all_tasks()]
    assert register(Toy) is Toy
    assert register(Toy) is Toy  # once more, as when a module is reloaded
    assert isinstance(get_task("toy"), Toy)
    found = all_tasks()
    assert {t.name for t in found} == {*names, "toy"}
    assert [FAMILIES.index(t.family) for t in found] == sorted(FAMILIES.index(t.family) for t in found)
    assert all(a.name < b.name for a, b in pairwise(found) if a.family == b.family)
    with pytest.raises(ValueError, match=r"toy.*taken"):
        register(type("Second", (Toy,), {}))
    namesake = type("Toy", (Toy,), {"__qualname__": "Toy", "__module__": "elsewhere"})
    with pytest.raises(ValueError, match=r"toy.*taken"):
        register(namesake)
    with pytest.raises(ValueError, match=r"numeric.*spatial, relational, csp"):
        register(type("Odd", (Toy,), {"name": "odd", "family": "numeric"}))
    assert "odd" not in {t.name for t in all_tasks()}
    with pytest.raises(ValueError, match=r"'labyrinth'.*maze.*toy"):
        get_task("labyrinth")
