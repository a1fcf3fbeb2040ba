"""The tasks of the suite, described and measured: what `python -m collabtax tasks` lists and `docs/tasks.md` states."""

from __future__ import annotations

import importlib
import json
import random
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import count, islice, pairwise
from pathlib import Path
from statistics import mean
from typing import Any

from collabtax.tax.study import LETTERS
from graders import grade, paths
from tasks import Frame, Problem, Task, problem
from tasks.answers import (
    CellsKey,
    CostKey,
    EdgesKey,
    FieldsForm,
    Form,
    GridKey,
    GroupsForm,
    GroupsKey,
    JointKey,
    Key,
    LinksKey,
    OrderForm,
    OrderKey,
    PathKey,
    QueryForm,
    RouteKey,
    SlotForm,
    TableForm,
    TextKey,
    TrailForm,
)  # fmt: skip
from tasks.base import seeded
from tasks.grids import neighbours

TEMPLATES = Path(__file__).resolve().parents[1] / "report_templates"
COMPLETIONS = 64  # of the hidden part, for the half-view ceiling
INSTANCES = 8  # that the ceiling is averaged over, two views each
FRESH = 10_000  # first of the seeds whose hidden parts are taken
BREADTH = 24  # rivals that a step from completion to completion chooses from


def about(task: Task[Any]) -> dict[str, Any]:
    """What there is to say about a task without playing it, as JSON."""
    module = importlib.import_module(type(task).__module__)
    summary = (module.__doc__ or "").strip().partition("\n\n")[0].replace("\n", " ")
    form = task.form(problem(task, 0).instance)
    return {
        "name": task.name, "family": task.family, "version": task.version, "answer": form.kind, "rule": task.rule,
        "summary": summary.partition(": ")[2] or summary, "sizes": getattr(module, "SIZES", {}), "prompt": task.prompt,
    }  # fmt: skip


# How much one view, or none, is worth


def completions(task: Task[Any], instance: Any, view: Any, rng: random.Random) -> Iterator[Any]:
    """Solvable instances that contain `view`, without end: with the hidden part of other seeds where a task can do
    that, else on a walk from rival to rival, begun anew where it cannot go on."""
    for seed in count(FRESH):
        drawn = task.complete(view, problem(task, seed).instance)
        if drawn is None:
            break
        if task.merge((view, drawn)) == drawn and solvable(task, drawn):
            yield drawn
    here = instance
    while True:
        near = list(islice(task.rivals(here, view), BREADTH))
        if not near and here is instance:
            return
        here = rng.choice(near) if near else instance
        if near:
            yield here


def solvable(task: Task[Any], instance: Any) -> bool:
    try:
        return grade(task, instance, task.solve(instance)).success
    except (ValueError, LookupError):  # no instance at all, such as one without a start
        return False


def ceiling(task: Task[Any], seeds: Iterable[int] = range(INSTANCES)) -> float:
    """The half-view ceiling: what the best guesser who sees one view may expect to score, in [0, 1].

    For each view the hidden part is completed `COMPLETIONS` times. Candidates are the solutions of the first half of
    the completions and the task's own guess from the view; the one with the best mean score on the first half is
    scored on the second half. Where completions are reached by way of rivals they are nearer to the true instance than
    fresh draws would be, and the ceiling is rather too high than too low.
    """
    scores = []
    for seed in seeds:
        one = problem(task, seed)
        for number, view in enumerate(one.views):
            rng = seeded("ceiling", task.name, seed, number)
            drawn = list(islice(completions(task, one.instance, view, rng), 2 * COMPLETIONS))
            sample = [one.instance, *drawn][::2][:COMPLETIONS]  # neighbours on a walk are alike
            rng.shuffle(sample)
            first, second = sample[::2], sample[1::2] or sample
            guesses = [task.solve(view), *map(task.solve, first)]
            unique = list({json.dumps(g, sort_keys=True): g for g in guesses}.values())
            best = max(unique, key=lambda g: mean(grade(task, x, g).score for x in first))
            scores.append(mean(grade(task, x, best).score for x in second))
    return mean(scores)


def chance(task: Task[Any], seeds: Iterable[int] = range(100)) -> tuple[float, float | None]:
    """The chance level, in [0, 1]: the mean score of the solution of another instance, or of a random well-formed
    answer, whichever is larger; and what reading that in the best scheme adds, None where there are no schemes."""
    problems = [problem(task, seed) for seed in seeds]
    others = [grade(task, a.instance, task.solve(b.instance)).score for a, b in pairwise(problems)]
    random_, plain = [], []
    for seed, one in enumerate(problems):
        rng = seeded("chance", task.name, seed)
        key = task.key(one.instance)
        answer = babble(key, task.form(one.instance), rng)
        random_.append(grade(task, one.instance, answer).score)
        plain.append(in_our_scheme(key, answer))
    told = [score for score in plain if score is not None]
    return max(mean(others), mean(random_)), mean(random_) - mean(told) if told else None


def in_our_scheme(key: Key, answer: Any) -> float | None:
    """The score of a path or a set of cells that is read as written; None for other answers."""
    if isinstance(key, PathKey):
        return paths.judged(key, next(paths.walks(key, [tuple(cell) for cell in answer]))).score
    if isinstance(key, CellsKey):
        told = {tuple(cell) for cell in answer}
        return len(told & key.cells) / len(told | key.cells)
    return None


def stroll(start: tuple[int, ...], shape: Sequence[int], moves: int, rng: random.Random) -> list[list[int]]:
    """A random walk that does not return to a cell, blind to walls."""
    walk = [start]
    while len(walk) <= moves:
        ways = [cell for cell in neighbours(walk[-1], tuple(shape)) if cell not in walk]
        if not ways:
            break
        walk.append(rng.choice(ways))
    return [list(cell) for cell in walk]


def babble(key: Key, form: Form, rng: random.Random) -> Any:
    """A random answer that is well-formed, by somebody who knows the names and the size and nothing else."""
    if isinstance(key, CostKey):
        key = key.path
    if isinstance(key, PathKey):
        return stroll(key.start, key.shape, 2 * key.optimal, rng)
    if isinstance(key, JointKey | LinksKey):
        return {name: stroll(start, key.shape, 2 * sum(key.shape), rng) for name, (start, _) in key.ends.items()}
    if isinstance(key, RouteKey):
        return [list(key.cells[0]), *([rng.randrange(n) for n in key.shape] for _ in key.cells[1:])]
    if isinstance(key, CellsKey):
        grid = [[r, c] for r in range(key.shape[0]) for c in range(key.shape[1])]
        return [cell for cell in grid if rng.random() < 0.5] or grid
    if isinstance(form, TrailForm | GroupsForm) and isinstance(key, EdgesKey | GroupsKey):
        groups = key.edges if isinstance(key, EdgesKey) else key.groups
        names = sorted({name for group in groups for name in group})
        return [rng.sample(names, len(group)) for group in groups]
    if isinstance(form, OrderForm) and isinstance(key, OrderKey):
        return rng.sample(form.items if form.length else key.order, len(key.order))
    if isinstance(key, TextKey | GridKey):
        lines = [key.text] if isinstance(key, TextKey) else list(key.rows)
        told = ["".join(rng.choice("ABCDEFGHIJKLMNOPQRSTUVWXYZ") if c.isalpha() else c for c in line) for line in lines]
        return told[0] if isinstance(key, TextKey) else told
    if isinstance(form, TableForm):
        return {form.cell(row, column): rng.choice(of) for row in form.rows for column, of in form.columns.items()}
    if isinstance(form, FieldsForm):
        values: dict[str, Any] = {}
        for item, field in form.items.items():
            few = rng.sample(field.options, min(2, len(field.options)))
            values[item] = {"number": rng.randrange(10), "name": (few or [""])[0]}.get(field.kind, few)
        return values
    if isinstance(form, QueryForm):
        return {q: [x, rng.choice(sorted(form.inverse)), y] for q, (x, y) in form.queries.items()}
    if isinstance(form, SlotForm):
        return {event: f"{rng.randrange(8, 20):02d}:00" for event in form.events}
    return rng.randrange(100)


# The pages


@dataclass(frozen=True)
class Figures:
    """What is measured of a task. `tokens` of its text and one view, at 4 characters each; `rejected` is the share of
    draws that the generator does not emit; `milliseconds` are medians for each of `PARTS`."""

    tokens: float
    ceiling: float
    chance: float
    schemes: float | None  # what reading a random answer in the best of all schemes adds to its score
    rejected: float
    milliseconds: Mapping[str, float]


PARTS = ("problem", "render", "parse", "solve", "grade")  # problem: generate, split, prove that no view is enough


def figures(task: Task[Any], milliseconds: Mapping[str, float]) -> Figures:
    """Measure a task; `milliseconds` come from the benchmark."""
    problems = [problem(task, seed) for seed in range(100)]
    views = [len(task.render(view, Frame())) for one in problems for view in one.views]
    tokens = (len(task.prompt) + mean(views)) / LETTERS
    draws = sum(one.draws for one in problems)
    return Figures(tokens, ceiling(task), *chance(task), 1 - len(problems) / draws, milliseconds)


def timed(path: Path) -> dict[str, dict[str, float]]:
    """Median milliseconds by task and part, from the JSON of `pytest benchmarks/bench_tasks.py --benchmark-json`.

    Raises ValueError for a file that holds something else.
    """
    found: dict[str, dict[str, float]] = {}
    try:
        for one in json.loads(path.read_text(encoding="utf-8"))["benchmarks"]:
            about = one["extra_info"]
            found.setdefault(about["task"], {})[about["part"]] = 1000 * one["stats"]["median"]
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise ValueError(f"{path} is no benchmark of tasks ({type(error).__name__}: {error}); make figures") from error
    return found


MARK = "<!-- figures -->\n"


def restate(page: str, figures: str) -> str:
    """`page` with what stands between its two marks exchanged. Raises ValueError where it has no marks."""
    before, _, rest = page.partition(MARK)
    _, mark, after = rest.partition(MARK)
    if not mark:
        raise ValueError(f"the page does not hold {MARK.strip()!r} twice")
    return f"{before}{MARK}\n{figures}\n\n{MARK}{after}"


def table(tasks: Sequence[Task[Any]], measured: Mapping[str, Figures]) -> str:
    """The figures in Markdown."""
    head = [
        "task",
        "version",
        "answer",
        "rule",
        "default size",
        "tokens",
        "half-view ceiling",
        "chance",
        "schemes add",
        "rejected",
    ]
    rows = [head + [f"{part} ms" for part in PARTS], ["---"] * (len(head) + len(PARTS))]
    for task in tasks:
        told, found = about(task), measured[task.name]
        sizes = told["sizes"]["default"]
        size = ", ".join(map(str, sizes)) if isinstance(sizes, tuple) else str(sizes)
        shares = [
            "" if share is None else f"{share:.2f}"
            for share in (found.ceiling, found.chance, found.schemes, found.rejected)
        ]
        times = [f"{found.milliseconds[part]:.2f}" for part in PARTS]
        name = f"[{task.name}](gallery.md#{task.name})"
        rows.append([name, str(task.version), told["answer"], task.rule, size, f"{found.tokens:.0f}", *shares, *times])
    return "\n".join(f"| {' | '.join(row)} |" for row in rows)


def style() -> str:
    """The style sheet of drawings."""
    return "".join((TEMPLATES / name).read_text(encoding="utf-8") for name in ("colours.css", "drawing.css"))


def drawn(task: Task[Any], one: Problem[Any], answer: Any) -> str:
    """The instance with an answer on it, as an SVG that needs no other file."""
    head, _, rest = task.draw(one.instance, answer, grade(task, one.instance, answer).where).partition(">")
    return f'{head}><style>{style()}</style><rect width="100%" height="100%" class="paper"/>{rest}\n'


GALLERY = """\
# The tasks, one by one

Of each task: what is asked, the two views of one seed as two agents get them under natural friction, and the instance
with a right answer drawn on it. The numbers are in [tasks.md](tasks.md). `make gallery` writes this page.
"""


def gallery(tasks: Sequence[Task[Any]], seed: int = 7) -> dict[str, str]:
    """The gallery's page and its drawings, by path below `docs`. The same tasks give the same bytes."""
    files: dict[str, str] = {}
    page = [GALLERY]
    for task in tasks:
        one = problem(task, seed)
        files[f"gallery/{task.name}.svg"] = drawn(task, one, task.solve(one.instance))
        asked = "\n".join(f"> {line}".rstrip() for line in task.prompt.split("\n"))
        views = "\n".join(f"```text\n{task.render(view, Frame())}\n```" for view in one.views)
        answer = json.dumps(task.solve(one.instance))
        page.append(
            f"## {task.name}\n\n{asked}\n\n{views}\n\n![{task.name} with a right answer](gallery/{task.name}.svg)\n\n"
            f"A right answer: `{answer}`\n"
        )
    files["gallery.md"] = "\n".join(page)
    return files
