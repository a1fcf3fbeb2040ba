"""Runs beside each other: worked by hand, nothing from nothing, signs that turn with the order, few false findings."""

from __future__ import annotations

import base64
import hashlib
import re
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from collabtax.report import compare as module
from collabtax.report.compare import Change, Comparison, compare, compare_rows, html, main, markdown, text
from collabtax.store import Store
from tasks.base import seeded

Row = dict[str, Any]
FAMILIES = {"maze": "spatial", "cube": "spatial", "graph": "relational", "order": "csp", "logic": "csp"}
HOSTILE = 'm</td><script>alert(1)</script>|`$x$ \u202e\x1b[2J\x00 "'


def row(task: str, mode: str, seed: int, score: float | None, model: str = "m", **more: Any) -> Row:
    said = {"friction": "natural", "difficulty": "default", "temperature": 0.7} | more.pop("said", {})
    versions = {"task": 1, "prompts": "p1", "graders": 1} | more.pop("versions", {})
    models = [model] * (2 if mode == "homo" else 1)
    return {
        "study": "tax", "task": task, "family": FAMILIES[task], "mode": mode, "models": models, "condition": "",
        "seed": seed, "settings": "s", "outcome": "infrastructure" if score is None else "scored", "score": score,
        "success": score == 1.0, "warning": "clean", "said": said, "versions": versions, **more,
    }  # fmt: skip


def of(scores: Mapping[tuple[str, str], Sequence[float | None]], **more: Any) -> list[Row]:
    return [row(t, mode, seed, s, **more) for (t, mode), own in scores.items() for seed, s in enumerate(own)]


FIRST = {
    ("maze", "solo"): (1.0, 1.0), ("maze", "homo"): (1.0, 0.0),
    ("graph", "solo"): (1.0, 1.0), ("graph", "homo"): (1.0, 1.0),
}  # fmt: skip
LATER = FIRST | {("maze", "homo"): (1.0, 1.0), ("graph", "homo"): (1.0, 0.5)}


def line(found: Comparison, what: str, scope: str = "all") -> Change:
    (one,) = [c for c in found.versus[0].changes if (c.what, c.scope) == (what, scope)]
    return one


def test_worked_example() -> None:
    """Means by task change by +0.5 and -0.25: +0.125, with a t interval over two tasks (12.706 times the error)."""
    found = compare_rows([("a", of(FIRST)), ("b", of(LATER))])
    homo, tax, (v,) = line(found, "homo score"), line(found, "tax"), found.versus
    assert (homo.first, homo.second, homo.change.value, homo.tasks) == (0.75, 0.875, 0.125, 2)
    half = 12.7062 * 0.375  # the standard error of 0.5 and -0.25 is 0.375
    assert homo.change.low == pytest.approx(0.125 - half, abs=1e-4)
    assert (homo.change.n, homo.change.clusters) == (4, 2)
    assert (tax.first, tax.second, tax.change.value) == (0.25, 0.125, -0.125)
    assert line(found, "solo score").change.value == 0
    spatial = line(found, "homo score", "spatial")
    assert (spatial.change.value, spatial.change.clusters, spatial.tasks) == (0.5, 2, 1)
    assert [(f.place.told, f.seed, f.first[1], f.second[1]) for f in v.flips] == [
        ("graph homo m", 1, 1.0, 0.5), ("maze homo m", 1, 0.0, 1.0),
    ]  # fmt: skip
    assert [(c.place.told, c.change.value, c.gained, c.lost) for c in v.cells[:2]] == [
        ("maze homo m", 0.5, 1, 0), ("graph homo m", -0.25, 0, 1),
    ]  # fmt: skip
    assert (v.same, v.other, v.apart, v.settings, v.caution) == (6, 2, {}, (), "")


def test_only_success_that_changes_is_a_flip() -> None:
    first, later = ({("maze", "homo"): (0.0, score)} for score in (0.25, 0.5))
    (v,) = compare_rows([("a", of(first)), ("b", of(later))]).versus
    assert (v.same, v.other, v.flips) == (1, 1, ())


def test_a_tax_is_over_tasks_that_are_solved_alone_in_both_runs() -> None:
    poor = LATER | {("graph", "solo"): (1.0, 0.5)}
    found = compare_rows([("a", of(FIRST)), ("b", of(poor))])
    assert (line(found, "tax").tasks, line(found, "homo score").tasks) == (1, 2)


scores = st.sampled_from([0.0, 0.25, 0.5, 1.0])
cells = st.dictionaries(
    st.tuples(st.sampled_from(sorted(FAMILIES)), st.sampled_from(["solo", "homo"])),
    st.lists(st.none() | scores, min_size=1, max_size=4),
    min_size=1,
)


@given(cells)
@settings(max_examples=60, deadline=None)
def test_a_run_equals_itself(own: dict[tuple[str, str], list[float | None]]) -> None:
    rows = of(own)
    if all(r["score"] is None for r in rows):
        return
    (v,) = compare_rows([("a", rows), ("b", rows)]).versus
    assert all(c.change.value == 0 and not c.stands for c in (*v.changes, *v.cells))
    assert all(e in (None, 0) for c in (*v.changes, *v.cells) for e in (c.change.low, c.change.high))
    assert (v.flips, v.settings, v.other) == ((), (), 0)
    assert v.same == sum(r["score"] is not None for r in rows)
    assert "the same" in module.verdict(v)


@given(cells, cells)
@settings(max_examples=100, deadline=None)
def test_signs_turn_with_the_order(a: dict[Any, Any], b: dict[Any, Any]) -> None:
    both = [("a", of(a)), ("b", of(b, said={"friction": "strong"}))]
    common = [k for k in a if k in b and any(x is not None and y is not None for x, y in zip(a[k], b[k], strict=False))]
    if not common:
        with pytest.raises(ValueError, match="no rollout in common"):
            compare_rows(both)
        return
    (forth,), (back,) = (compare_rows(order).versus for order in (both, both[::-1]))
    assert len(forth.changes) == len(back.changes)
    for one, other in zip(forth.changes, back.changes, strict=True):
        assert (one.what, one.scope, one.tasks, one.stands) == (other.what, other.scope, other.tasks, other.stands)
        assert one.change.value == pytest.approx(-(other.change.value or 0.0))
        assert one.first == other.second
        if one.change.low is not None and other.change.high is not None:
            assert one.change.low == pytest.approx(-other.change.high)
    assert {(f.place, f.seed, f.first, f.second) for f in forth.flips} == {
        (f.place, f.seed, f.second, f.first) for f in back.flips
    }
    assert {(s.name, s.first, s.second) for s in forth.settings} == {(s.name, s.second, s.first) for s in back.settings}
    assert {len(x) for x in forth.apart.values()} == {len(x) for x in back.apart.values()}


@given(cells, st.randoms(use_true_random=False))
@settings(max_examples=30, deadline=None)
def test_order_of_rows_does_not_matter(own: dict[Any, Any], random: Any) -> None:
    rows = [*of(own), row("maze", "solo", 9, 1.0)]
    mixed = random.sample(rows, len(rows))
    assert compare_rows([("a", rows), ("b", rows)]) == compare_rows([("a", mixed), ("b", mixed)])


def noisy(name: str, study: int, shift: float = 0.0) -> list[Row]:
    rng = seeded("test_compare", name, study)
    return [
        row(task, mode, seed, min(1.0, max(0.0, rng.gauss(0.5, 0.1) + shift)))
        for task in FAMILIES for mode in ("solo", "homo") for seed in range(5)
    ]  # fmt: skip


def test_few_false_findings_and_most_true_ones() -> None:
    """Of runs that differ by chance only 5 % have a cell that stands, as many of their ten cells as there are; a
    difference of one standard deviation is found on the average over tasks."""
    studies = 500
    found = [compare_rows([("a", noisy("a", i)), ("b", noisy("b", i))]).versus[0] for i in range(studies)]
    by_cell = sum(any(c.stands for c in v.cells) for v in found) / studies
    by_change = sum(any(c.stands for c in v.changes) for v in found) / studies
    assert 0.025 < by_cell < 0.08
    assert by_change < 0.07
    better = [compare_rows([("a", noisy("a", i)), ("b", noisy("b", i, 0.2))]) for i in range(40)]
    assert sum(line(one, "homo score").stands for one in better) > 30


def test_differences_that_are_all_the_same_stand_when_there_are_enough() -> None:
    """t knows nothing of what does not vary; that ten of ten turn the same way by chance has p = 2 / 2**10."""
    for n, stands in ((10, True), (5, False)):
        before, after = ({("maze", "homo"): [score] * n} for score in (1.0, 0.0))
        found = compare_rows([("a", of(before)), ("b", of(after))])
        assert line(found, "homo score").stands is stands


def test_models_are_aligned_where_it_is_clear() -> None:
    first = of(FIRST, model="old") + of(FIRST, model="both")
    later = of(LATER, model="new") + of(FIRST, model="both")
    (v,) = compare_rows([("a", first), ("b", later)]).versus
    assert [(s.name, s.first, s.second, s.cells) for s in v.settings] == [("model", "old", "new", 4)]
    assert {c.team: c.change.value for c in v.changes if (c.what, c.scope) == ("tax", "all")} == {
        "old": -0.125, "both": 0,
    }  # fmt: skip
    two = of(LATER, model="new") + of(FIRST, model="newer")
    with pytest.raises(ValueError, match="no rollout in common; say which model stands for both with --align both"):
        compare_rows([("a", first), ("b", two)])
    (v,) = compare_rows([("a", first), ("b", two)], {"old": "newer"}).versus
    assert {s.second for s in v.settings} == {"new", "newer"}  # one is left on each side then
    with pytest.raises(ValueError, match="'none' is no model of a; it has both, old"):
        compare_rows([("a", first), ("b", two)], {"none": "newer"})


def test_settings_that_differ_are_told_and_counted() -> None:
    later = of(LATER, said={"difficulty": "hard", "new": 1}, versions={"prompts": "p2"})
    (v,) = compare_rows([("a", of(FIRST)), ("b", later)]).versus
    assert [(s.name, s.first, s.second, s.cells) for s in v.settings] == [
        ("difficulty", "default", "hard", 4), ("new", "-", "1", 4), ("version of prompts", "p1", "p2", 4),
    ]  # fmt: skip
    assert "not equal instances" in v.caution
    (v,) = compare_rows([("a", of(FIRST)), ("b", of(FIRST, settings="t"))]).versus
    assert [s.name for s in v.settings] == [module.ASKED]
    assert not v.caution


def test_what_cannot_be_compared_is_told() -> None:
    first = of({("maze", "solo"): (1.0, None, 1.0), ("cube", "solo"): (1.0,)})
    later = of({("maze", "solo"): (1.0, 1.0), ("order", "solo"): (1.0,)})
    (v,) = compare_rows([("a", first), ("b", later)]).versus
    assert dict(v.apart) == {
        "cell only in a": ("cube solo m",),
        "cell only in b": ("order solo m",),
        "rollout only in a": ("maze solo m seed 2",),
        "rollout that could not be run in one of them": ("maze solo m seed 1",),
    }
    assert (v.same, v.other) == (1, 0)


def test_of_several_settings_in_one_run_the_commonest_count() -> None:
    mixed = of({("maze", "solo"): (0.0,)}, settings="few") + of({("maze", "solo"): (1.0, 1.0)})
    (v,) = compare_rows([("a", mixed), ("b", of({("maze", "solo"): (1.0, 1.0)}))]).versus
    assert (v.same, v.other) == (2, 0)
    ((why, what),) = v.apart.items()
    assert "several settings" in why
    assert what == ("maze solo m in a",)


def test_three_runs_share_one_correction() -> None:
    """A p value that stands among ten does not among twenty."""
    rng = seeded("test_compare", "three")
    before = {("maze", "homo"): [0.5] * 8} | {(t, "solo"): [0.5] * 8 for t in FAMILIES}
    after = before | {("maze", "homo"): [0.5 + 0.14 * rng.random() - 0.03 for _ in range(8)]}
    two = compare_rows([("a", of(before)), ("b", of(after))])
    (p,) = {module._p(c.change) for c in two.versus[0].cells if c.place.mode == "homo"}
    assert p is not None
    many = compare_rows([("a", of(before)), *((f"b{i}", of(after)) for i in range(int(0.05 / p) + 1))])
    assert any(c.stands for c in two.versus[0].cells)
    assert not any(c.stands for v in many.versus for c in v.cells)


def test_what_is_said_is_safe() -> None:
    first, later = of(FIRST, model=HOSTILE), of(LATER, model=HOSTILE, said={"friction": HOSTILE})
    found = compare_rows([(HOSTILE, first), ("b", later)])
    assert all(one.isascii() and one.isprintable() for one in text(found))
    for one in markdown(found):
        assert "<script" not in one
        assert len(re.findall(r"(?<!\\)\|", one)) in (0, 5, 6, 7, 8)
    page = html(found)
    assert "<script" not in page
    assert "\u202e" not in page
    assert "⟨U+202E⟩" in page
    css = re.findall(r"<style>(.*?)</style>", page, re.DOTALL)
    digest = base64.b64encode(hashlib.sha256(css[0].encode()).digest()).decode()
    assert len(css) == 1
    assert f"default-src 'none'; style-src 'sha256-{digest}'" in page
    assert not re.search(r'(?:src|href)="(?!#)|style="|url\(|@import', page)
    ElementTree.fromstring(re.sub(r"<meta[^>]*>|<!doctype html>", "", page))


def test_renderings_say_the_same_numbers() -> None:
    found = compare_rows([("a", of(FIRST)), ("b", of(LATER))])
    told, page, md = "\n".join(text(found)), html(found), "\n".join(markdown(found))
    assert re.search(r"tax m +all +0\.25 +0\.12 +-0\.12 \[-4\.89, \+4\.64\] +2", told)
    assert "| tax m | all | 0.25 | 0.12 | -0.12 [-4.89, +4.64] | 2 |" in md
    assert "<td>tax m</td><td>all</td>" in page
    assert "8 rollouts in 4 cells compared: 6 as before, 2 otherwise, of which 1 now succeed and 1 no longer do" in told
    for said in (told, md):
        assert "scored 0.00 (clean)" in said
        assert "1.00 (clean)" in said
    numbers = {round(float(x), 3) for x in re.findall(r'<td class="n">(-?[\d.]+)</td>', page.replace("−", "-"))}
    assert {0.25, 0.125, -0.125, 0.5, 0.875} <= numbers


@pytest.fixture
def stored(tmp_path: Path) -> Callable[[str, list[Row]], Path]:
    def make(name: str, rows: list[Row]) -> Path:
        store = Store(tmp_path / name)
        for one in rows:
            store.add(one)
        store.close()
        return tmp_path / name

    return make


def test_command(stored: Callable[..., Path], tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    a, b = stored("x/a", of(FIRST)), stored("y/a", of(LATER))
    page, summary = tmp_path / "page.html", tmp_path / "summary.md"
    summary.write_text("before\n")
    assert main([str(a), str(b), "--html", str(page), "--markdown", str(summary)]) == 0
    assert [run.name for run in compare([a, b]).runs] == [str(a), str(b)]  # names alike: told apart by their paths
    assert "8 rollouts in 4 cells" in capsys.readouterr().out
    assert page.read_text().startswith("<!doctype html>")
    assert summary.read_text().startswith("before\n## Comparison of runs")
    for bad, said in (
        ([str(a)], "a comparison takes two runs, got 1; name another one"),
        ([str(a), str(tmp_path / "none")], "no results in"),
        ([str(a), str(b), "--html", str(tmp_path)], "cannot be written"),
        ([str(a), str(b), "--align", "m", "z"], "'z' is no model of"),
    ):
        assert main(bad) == 2
        error = capsys.readouterr().err
        assert said in error
        assert error.count("\n") == 1
