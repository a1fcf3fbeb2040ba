"""Pairs and mechanism in the report: estimators against other libraries, figures against what they are drawn from."""

from __future__ import annotations

import json
import random
import re
import shutil
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy import stats
from test_report import ATTACK, Made, Page, browsed, check, files, made, summary_of

from collabtax.cascade.judgements import Judge, file_of, judge_run
from collabtax.cascade.rates import cascades
from collabtax.cascade.stages import STAGES, cell_of
from collabtax.prediction.commands import as_json
from collabtax.prediction.model import predict
from collabtax.prediction.table import table
from collabtax.report import browser, figures, mechanism, overview, text
from collabtax.report.several import holm, p_value, resolved, standing
from collabtax.report.summary import Summary, effects
from collabtax.session import Session
from collabtax.settings import Settings
from collabtax.statistics import (
    Estimate,
    PairRow,
    Scored,
    difference,
    jackknife,
    over_seeds,
    over_tasks,
    pair_table,
    ratio_gap,
    t_interval,
    taxes,
)
from collabtax.statistics.pairs import Spread, additive_null, team_map
from collabtax.store import key
from collabtax.tax.study import TaxTold
from conftest import THREE

__all__ = ["made"]  # the fixture
SEEDS = range(20)


def rows_of(task: str, scores: Mapping[tuple[str, ...], Sequence[float]]) -> list[Scored]:
    """Rollouts of teams (`("a",)` alone, `("a", "a")` two copies) on a task, a score a seed."""
    mode = {1: "solo", 2: "homo", 3: "hetero"}
    return [
        Scored(task, "csp", mode[len(models) + (len(set(models)) == 2)], models, "", seed, score)
        for models, some in scores.items()
        for seed, score in enumerate(some)
    ]


def study(seed: int, tasks: int = 8, seeds: int = 5) -> list[Scored]:
    """Three models, all their teams, scores at random; alone everything is nearly solved."""
    rng = random.Random(seed)
    teams = [("a",), ("b",), ("c",)] + [(x, y) for x in "abc" for y in "abc"]
    return [
        row
        for i in range(tasks)
        for row in rows_of(
            f"t{i}", {m: [rng.uniform(0.85 if len(m) == 1 else 0, 1) for _ in range(seeds)] for m in teams}
        )
    ]


# Many intervals at once


def test_holm_by_hand() -> None:
    assert holm([0.01, 0.04, 0.03, 0.005]) == pytest.approx([0.03, 0.06, 0.06, 0.02])
    assert holm([0.5, 0.9]) == pytest.approx([1.0, 1.0])
    assert holm([]) == []


@pytest.mark.parametrize("seed", SEEDS)
def test_holm_is_bonferroni_on_every_subset(seed: int) -> None:
    """Closed testing: a hypothesis falls when every set of hypotheses that holds it falls by Bonferroni."""
    rng = random.Random(seed)
    ps = [rng.choice([0.001, 0.01, 0.02, 0.04, rng.random() ** 3]) for _ in range(rng.randint(1, 7))]
    sets = [some for size in range(1, len(ps) + 1) for some in combinations(range(len(ps)), size)]
    closed = [max(min(1, len(some) * min(ps[j] for j in some)) for some in sets if i in some) for i in range(len(ps))]
    assert holm(ps) == pytest.approx(closed)


@pytest.mark.parametrize("seed", SEEDS)
def test_p_values_of_t_intervals_are_those_of_the_t_test(seed: int) -> None:
    sample = np.random.default_rng(seed).normal(0.1, 0.3, 3 + seed)
    assert p_value(t_interval(sample)) == pytest.approx(stats.ttest_1samp(sample, 0).pvalue)


@pytest.mark.parametrize("seed", SEEDS)
def test_p_values_agree_with_their_intervals(seed: int) -> None:
    rng = np.random.default_rng(seed)
    tables = {i: rng.uniform(0.5, 1, (4, 2)) - [0.0, 0.06] for i in range(8)}
    for found in (over_tasks(tables, difference), jackknife(tables, ratio_gap), over_seeds(tables[0], ratio_gap)):
        p = p_value(found)
        assert p is not None
        assert found.low is not None
        assert found.high is not None
        assert (p < 0.05) == (not found.low <= 0 <= found.high)


def test_what_does_not_vary_does_not_stand() -> None:
    assert p_value(t_interval([1.0, 1.0])) is None
    assert p_value(t_interval([0.3])) is None
    assert p_value(t_interval([])) is None
    some = t_interval([0.2, 0.3, 0.25, 0.2])
    assert standing([some]) == {some}
    assert standing([some, *(t_interval([0.1, -0.1, 0.01 * i]) for i in range(60))]) == frozenset()


def test_empty_replies_are_counted_and_told(made: Made) -> None:
    """B016: of 50 rollouts 7 ended with an empty reply: no zeros, the mean is over 43, and a warning says so."""

    def change(row: dict[str, Any]) -> None:
        row["score"] = 1.0
        if row["seed"] % 7 == 3:
            empty = {"outcome": "infrastructure", "error": "localhost: the reply is empty (finish_reason length)"}
            row.update(empty, score=None, success=None)

    session, lines = made(change=change, task=["schedule"], mode=["solo"], rollouts=50)
    (cell,) = summary_of(session).cells
    assert (cell.outcomes["infrastructure"], cell.mean.n, cell.mean.value) == (7, 43, 1.0)
    assert "43 scored, 7 infrastructure" in cell.told
    assert any(line.startswith("WARNING: 7 rollouts could not be run and are in no mean") for line in lines)


# Power


@pytest.mark.parametrize(("apart", "noise"), [(0.0, 0.3), (0.05, 0.3), (0.08, 0.4)])
def test_so_many_rollouts_do_resolve_half(apart: float, noise: float) -> None:
    """Data of a known spread, as many rollouts as said: intervals of half the width, on average over data sets."""

    def table_of(n: int, seed: int) -> tuple[Estimate, list[Spread]]:
        rng = np.random.default_rng(seed)
        tasks = {i: rng.normal(rng.normal(0, apart), noise, (n, 1)) for i in range(16)}
        two = {i: np.hstack([t, 0 * t]) for i, t in tasks.items()}
        return over_tasks(two, difference), [Spread.of(t[:, 0]) for t in tasks.values()]

    def half(estimate: Estimate) -> float:
        assert estimate.low is not None
        assert estimate.high is not None
        return (estimate.high - estimate.low) / 2

    lines = [table_of(6, seed) for seed in range(300)]
    said = resolved(lines)
    now, needed, then = re.fullmatch(
        r"with 6 rollouts a cell this table resolves differences of (\S+) \(half of a 95 % interval, the median\); "
        r"(\d+) would resolve (\S+)", said
    ).groups()  # type: ignore[union-attr]  # fmt: skip
    assert float(now) == pytest.approx(np.median([half(e) for e, _ in lines]), abs=0.0006)
    assert float(then) == pytest.approx(float(now) / 2, abs=0.001)
    assert int(needed) >= 24
    after = np.mean([half(table_of(int(needed), 100 + seed)[0]) for seed in range(30)])
    assert after == pytest.approx(float(then), rel=0.12)


def test_tasks_that_differ_too_much_take_more_tasks() -> None:
    spreads = [Spread(mean, 0.01, 50) for mean in (0.0, 0.5, 1.0, 0.2)]
    said = resolved([(Estimate(0.4, 0.1, 0.7, 200, 4, "95% t over tasks"), spreads)])
    assert said.endswith(
        "no number of rollouts would resolve 0.150, as tasks differ too much: it takes 16 tasks in place of 4"
    )


def test_lines_over_few_tasks_do_not_speak_for_the_table() -> None:
    rng = np.random.default_rng(5)
    wide = [rng.normal(0, 0.3, 6) for _ in range(16)]
    line = (Estimate(0.0, -0.1, 0.1, 96, 16, "95% t over tasks"), [Spread.of(d) for d in wide])
    few = (Estimate(0.5, 0.1, 0.9, 6, 2, "95% t over tasks"), [Spread(0.0, 0.1, 6), Spread(1.0, 0.1, 6)])
    assert resolved([line, few, few]) == resolved([line])


def test_no_power_without_a_spread() -> None:
    assert resolved([]) == ""
    assert resolved([(t_interval([0.5]), [Spread(0.5, None, 1)])]) == ""
    assert resolved([(t_interval([0.5, 0.5]), [Spread(0.5, 0.0, 2)])]) == ""


def test_one_task_takes_four_times_as_many() -> None:
    sample = np.array([0.0, 0.5, 1.0, 0.0])
    assert "; 16 would resolve" in resolved([(t_interval(sample), [Spread.of(sample)])])


# Pairs


@pytest.mark.parametrize("seed", range(5))
def test_the_map_joins_the_tables(seed: int) -> None:
    """Off the diagonal it scores what the table of pairs says; on it, what that of models says."""
    rows = study(seed)
    found = team_map(rows)
    assert sorted(found) == [(x, y) for x in "abc" for y in "abc"]
    for pair in pair_table(rows):
        assert (found[pair.models].score, found[pair.models].tasks) == (pair.v12, pair.tasks)
    for name, model in taxes(rows).items():
        own = found[name, name]
        assert own.ratio.value == pytest.approx(model.overall.ratio.value)
        assert own.score.value == pytest.approx(model.overall.homo)


def test_the_map_by_hand() -> None:
    rows = rows_of("x", {("a",): [1, 0.8], ("b",): [1, 1], ("a", "b"): [0.5, 0.7], ("a", "a"): [0.9, 0.72]})
    found = team_map(rows)
    assert found["a", "b"].ratio.value == pytest.approx((1 - 0.6) / 1)
    assert found["a", "a"].ratio.value == pytest.approx((0.9 - 0.81) / 0.9)
    assert ("b", "a") not in found


@pytest.mark.parametrize("seed", range(5))
def test_the_fit_is_that_of_another_library(seed: int) -> None:
    rows = study(seed)
    found = additive_null(rows)
    assert len(found.points) == 6 * 8
    x, y = np.array([(p.midpoint, p.gap) for p in found.points]).T
    line = stats.linregress(x, y)
    assert (found.slope.value, found.intercept.value) == pytest.approx((line.slope, line.intercept))
    assert found.r2.value == pytest.approx(line.rvalue**2)
    assert found.below.value == pytest.approx((x - y).mean())
    for estimate in (found.slope, found.intercept, found.r2, found.below):
        assert estimate.low is not None
        assert estimate.high is not None
        assert estimate.value is not None
        assert estimate.low <= estimate.value <= estimate.high
        assert estimate.clusters == 8
    random.Random(seed).shuffle(rows)
    assert additive_null(rows) == found


def test_midpoint_and_gap_by_hand() -> None:
    a, b, aa, bb, ab = ("a",), ("b",), ("a", "a"), ("b", "b"), ("a", "b")
    rows = rows_of("x", {a: [0.5, 0.5], b: [1, 0.8], aa: [0.2, 0.2], bb: [0.9, 0.72], ab: [0.5, 0.58]})
    rows += rows_of("weak", {a: [0.5], b: [0.6], aa: [0.2], bb: [0.9], ab: [0.5]})  # nobody solves it alone
    rows += rows_of("zero", {a: [0.0], b: [1.0], aa: [0.0], bb: [0.9], ab: [0.5]})  # a has no ratio
    rows += rows_of("none", {a: [0.9], b: [1.0], bb: [0.9], ab: [0.5]})  # a never met itself
    found = additive_null(rows)
    (point,) = found.points
    assert point.midpoint == pytest.approx(((0.5 - 0.2) / 0.5 + (0.9 - 0.81) / 0.9) / 2)
    assert point.gap == pytest.approx((0.9 - 0.54) / 0.9)
    assert (point.models, point.task, found.left_out) == (ab, "x", 3)
    assert found.slope.value is found.intercept.value is found.r2.value is None
    assert found.below.low is None
    assert len(additive_null(rows, include_intractable=True).points) == 2


def test_a_null_is_found_where_it_holds() -> None:
    """Pairs that lose exactly the midpoint of their members lie on the line of equality, with nothing below it."""
    rng, rows = random.Random(3), list[Scored]()
    for i in range(12):
        p, q = rng.random(), rng.random()
        solo = {("a",): [1.0], ("b",): [1.0], ("a", "a"): [1 - p], ("b", "b"): [1 - q], ("a", "b"): [1 - (p + q) / 2]}
        rows += rows_of(f"t{i}", solo)
    found = additive_null(rows)
    assert (found.slope.value, found.intercept.value, found.r2.value) == pytest.approx((1, 0, 1))
    assert found.below.value == pytest.approx(0)


def test_the_published_fit_and_what_it_says(shared_path: Any) -> None:
    """Its points are not printed. A study that lies on the line gives it back, and "below the additive line" holds for
    every midpoint up to 0.77, hence for all gaps of the paper's figures (at most 0.63)."""
    data = json.loads(shared_path("data/published/collaboration_tax.json").read_text(encoding="utf-8"))
    slope, intercept = data["additive_null_fit"]["slope"], data["additive_null_fit"]["intercept"]
    rows = list[Scored]()
    for i in range(10):
        x = 0.2 + 0.05 * i
        team = 1 - max(0.0, slope * x + intercept)
        cells = {("a",): [1.0], ("b",): [1.0], ("a", "a"): [1 - x], ("b", "b"): [1 - x], ("a", "b"): [team]}
        rows += rows_of(f"t{i}", cells)
    found = additive_null(rows)
    assert (found.slope.value, found.intercept.value) == pytest.approx((slope, intercept))
    assert found.below.value is not None
    assert found.below.value > 0
    assert -intercept / (slope - 1) == pytest.approx(0.771, abs=0.001)


@pytest.mark.parametrize(
    ("seats", "stands", "told"),
    [
        (
            (0.03, 0.01, 0.05),
            True,
            "put the stronger model (b, alone 0.90, the other 0.40) second: +0.03 [+0.01, +0.05]",
        ),
        (
            (-0.03, -0.05, -0.01),
            False,
            "put the weaker model (a, alone 0.40, the other 0.90) second: +0.03 [+0.01, +0.05]; that may be chance "
            "when the seats of all 3 pairs are read at once",
        ),
        (
            (-0.03, -0.08, 0.02),
            False,
            "the order is not decided: with the weaker model (a, alone 0.40, the other 0.90) second it scores +0.03 "
            "[-0.02, +0.08], which may be chance",
        ),
        (
            (0.2, None, None),
            False,
            "with the stronger model (b, alone 0.90, the other 0.40) second it scores +0.20; there is no interval, "
            "so it may be chance",
        ),
        ((None, None, None), False, "the two orders have no rollout in common, so nothing is known of the seats"),
    ],
)
def test_the_verdict_on_the_seats(
    seats: tuple[float | None, float | None, float | None], stands: bool, told: str
) -> None:
    v1, v2, some = (Estimate(v, None, None, 1, 1, "") for v in (0.4, 0.9, 0.5))
    pair = PairRow(("a", "b"), v1, v2, some, some, some, some, 1, ("maze",), {})
    assert text.seating(pair, Estimate(*seats, n=40, clusters=2, method=""), stands, 3) == told


def test_lifts_by_hand() -> None:
    """Table 1 on three tasks of two families: seeds that all cells have, differences, shares of the plain tax."""
    rows = list[Scored]()
    for task, family, alone, plain, under in (
        ("x", "csp", [1, 1], [0.5, 0.7], [0.8, 0.8]),
        ("y", "csp", [0.9, 0.9], [0.4, 0.6], [0.5, 0.9]),
        ("z", "spatial", [1, 0.9], [0.9, 0.5], [0.9, 0.7]),
        ("hard", "spatial", [0.1, 0.1], [0.0, 0.0], [0.9, 0.9]),  # not solved alone, and in no mean
    ):
        for mode, models, condition, scores in (
            ("solo", ("a",), "", alone), ("homo", ("a", "a"), "", plain), ("homo", ("a", "a"), "no-l1", [*under, 0.0]),
        ):  # fmt: skip
            rows += [Scored(task, family, mode, models, condition, seed, score) for seed, score in enumerate(scores)]
    (found,) = effects(rows, taxes(rows, condition="", solo_condition=""), [])
    assert [one.scope for one in found.lifts] == ["spatial", "csp", "all"]
    spatial, csp, both = found.lifts
    assert csp.change.value == pytest.approx((0.2 + 0.2) / 2)
    assert both.change.value == pytest.approx((0.2 + 0.2 + 0.1) / 3)
    assert found.change == both.change
    oracle = stats.ttest_1samp([0.2, 0.2, 0.1], 0).confidence_interval()
    assert (both.change.low, both.change.high) == pytest.approx((oracle.low, oracle.high))
    assert both.closed.value == pytest.approx((0.2 + 0.2 + 0.1) / (0.4 + 0.4 + 0.25))
    assert csp.closed.value == pytest.approx(0.5)
    assert (spatial.change.clusters, spatial.change.value) == (2, pytest.approx(0.1))
    assert spatial.closed.value is None, "the plain tax of 0.1 and 0.4 on two seeds is not told from 0"


@pytest.mark.parametrize("seed", range(6))
def test_max_superadditivity_by_task_is_the_t_test_after_holm(seed: int, made: Made) -> None:
    """Scores of pairs are drawn by task around or under those of the better member; another library's test, and Holm's
    procedure stepped through by hand, find the same lines."""
    rng = random.Random(seed)
    apart = {task: rng.choice([0.0, 0.1, 0.5]) for task in THREE}

    def change(row: dict[str, Any]) -> None:
        row["score"] = rng.uniform(0.85, 0.95) - (apart[row["task"]] if row["mode"] == "hetero" else 0.0)

    session, lines = made(change=change, pair=["sim/weak,sim/strong"], mode=["solo", "hetero"], model=[], rollouts=6)
    summary = summary_of(session)
    scores = {
        (row["task"], row["mode"], tuple(row["models"]), row["seed"]): row["score"]
        for row in session.store.rows().values()
    }
    ps = {}
    for pair, game, _ in summary.games:
        solos = [[scores[game.task, "solo", (m,), s] for s in range(6)] for m in pair.models]
        team = [scores[game.task, "hetero", pair.models, s] for s in range(6)]
        better = max(solos, key=np.mean)
        ps[pair.models, game.task] = stats.ttest_rel(better, team).pvalue, np.mean(better) - np.mean(team)
    left, told = sorted(ps, key=lambda one: ps[one][0]), set()
    while left and ps[left[0]][0] <= 0.05 / len(left):
        told.add(left.pop(0))
    assert len(ps) == 6
    for pair, game, verdict in summary.games:
        one = pair.models, game.task
        assert verdict == ("not decided" if one not in told else "violated" if ps[one][1] > 0 else "holds")
        assert any(line.startswith(" ".join(pair.models)[:8]) and line.endswith(verdict) for line in lines)
    assert any(line.startswith("max-superadditivity by task, 6 lines read at once") for line in lines)


# In the report


@dataclass
class Ran:
    """A run whose folder holds judgements, a prediction and clusters, and the same report from a changed copy of it."""

    summary: Summary
    settings: Settings
    rows: list[dict[str, Any]]

    def load(self) -> mechanism.Mechanism:
        return mechanism.load(self.settings.run, self.rows, self.summary.taxes)

    def report(self) -> dict[str, Page]:
        results = [(c.cell, dict(c.rows)) for c in self.summary.cells]
        parts = [overview.Part(TaxTold(self.summary, self.settings), results)]
        overview.write(parts, self.settings, self.settings.report, {}, ("svg", "csv"))
        browser.write(self.rows, self.settings.report, self.settings)
        return check(self)

    @property
    def index(self) -> str:
        return (self.settings.report / "tax.html").read_text()


@pytest.fixture(scope="module")
def original(tmp_path_factory: pytest.TempPathFactory) -> Ran:
    given = {"model": ["sim/weak", "sim/strong"], "pair": ["sim/weak,sim/strong"], "rollouts": 3, "task": THREE}
    session = Session({**given, "run": "run"}, tmp_path_factory.mktemp("study"))
    for cell in session.settings.cells("tax"):
        session.run_cell(cell, lambda rollout: None)
    rows, run = list(session.store.consolidate().values()), session.settings.run
    session.close()
    dialogues = [row for row in rows if row["mode"] in ("homo", "hetero")]
    judge_run(run, dialogues, Judge("rules"))
    (run / "prediction.json").write_text(as_json(predict(table(rows), include_intractable=True, draws=20)))
    (run / "clusters.json").write_text(json.dumps(clusters([r for r in dialogues if r["mode"] == "homo"])))
    return Ran(summary_of(session), session.settings, rows)


@pytest.fixture
def judged(original: Ran, tmp_path: Path) -> Ran:
    shutil.copytree(original.settings.run, tmp_path / "run")
    settings = replace(original.settings, run=tmp_path / "run", report=tmp_path / "report")
    return Ran(original.summary, settings, original.rows)


def clusters(rows: Sequence[dict[str, Any]]) -> dict[str, Any]:
    members = [{"task": r["task"], "model": r["models"][0], "seed": r["seed"], "text": ATTACK} for r in rows]
    one = {"name": "wall_never_asked", "stage": "L2", "size": len(rows), "terms": ["wall", ATTACK[:60]]}
    return {"describer": "<b>reader</b>", "clusters": [{**one, "families": {"spatial": len(rows)}, "members": members}]}


def test_stages_prediction_and_clusters_are_shown(judged: Ran) -> None:
    words, source = judged.report()["tax.html"].words, judged.index
    held = judged.load()
    assert held.problems == ()
    lines = held.judgements["rules"]
    dialogues = [row for row in judged.rows if row["mode"] in ("homo", "hetero")]
    expected = cascades("rules", dialogues, {one: {s: line[s] for s in STAGES} for one, line in lines.items()})
    assert [(c.mode, c.condition) for c in expected] == [("homo", ""), ("hetero", "")]
    for cascade in expected:
        assert cascade.judged
        figure = figures.cascade(cascade)
        assert len(figure.rows) >= len(cascade.rates)
        assert all(str(value) in words for row in figure.rows for value in row[:2])
        for rate in cascade.rates:
            if rate.passed.value is not None:
                assert f"{rate.passed.value:.2f}" in words
        for estimate in [*cascade.firing, *cascade.fires.values(), *cascade.sole.values(), *cascade.jaccard.values()]:
            assert text.interval(estimate).replace(" ", "", 1) in words
    assert held.foreseen is not None
    for name, estimate in held.foreseen.coefficients:
        assert name.replace("_", " ") in words
        assert text.interval(estimate, "+").replace(" ", "", 1) in words.replace("*", "")
    assert "wall never asked" in words
    assert source.count(">maze 0</a>") == 2, "a link for each model"
    assert "<script" not in source
    assert "<b>reader</b>" in words


def test_verdicts_lead_to_their_turns(judged: Ran) -> None:
    judged.report()
    lines, shown = judged.load().judgements["rules"], 0
    by_address = {f"tax/{cell_of(row).id}/{row['seed']}": lines.get(key(row)) for row in judged.rows}
    for address, one in browsed(judged).items():
        told = {stage: (judge, passed, evidence) for judge, stage, passed, evidence in one.get("verdicts", [])}
        line = by_address[address]
        assert bool(told) == (line is not None) == ("-homo-" in address or "-hetero-" in address)
        for stage, (judge, passed, evidence) in told.items():
            assert line is not None
            assert (judge, passed) == ("rules", line[stage])
            for turn, said, there in evidence:
                assert 0 <= turn <= len(one["turns"])
                assert (
                    not there
                    or " ".join(said.split()).casefold() in " ".join(one["turns"][turn - 1]["text"].split()).casefold()
                )
                shown += turn > 0
    assert shown > 20


def test_equal_folders_make_equal_bytes(judged: Ran, original: Ran, tmp_path: Path) -> None:
    judged.report()
    other = Ran(original.summary, replace(original.settings, report=tmp_path / "other"), original.rows)
    other.report()
    assert files(judged) == files(other)


@pytest.mark.parametrize("change", [
    {"evidence": [{"stage": "l1", "turn": 10**9, "text": ATTACK, "found": "yes"}, 7, None]},
    {"evidence": {"l1": ATTACK}, "judge": ATTACK},
    {"evidence": [{"stage": "l1", "turn": True}], "l1": None, "l2": False, "l3": False, "l4": False},
])  # fmt: skip
def test_hostile_judgements_stay_text(judged: Ran, change: dict[str, Any]) -> None:
    path = file_of(judged.settings.run, "rules")
    path.write_text("".join(json.dumps(json.loads(line) | change) + "\n" for line in path.read_text().splitlines()))
    for name in judged.report():
        assert "<script" not in (judged.settings.report / name).read_text()


@pytest.mark.parametrize(
    ("name", "content", "told"),
    [
        ("judgements/rules.jsonl", "{}\n", "judgements/rules.jsonl cannot be read: line 1: no judgement"),
        ("judgements/rules.jsonl", "[" * 100_000 + "\n", "judgements/rules.jsonl cannot be read: line 1: no judgement"),
        ("prediction.json", "[]", "prediction.json is not what predict of today writes"),
        ("prediction.json", '{"cells": [], "coefficients": NaN}', "run predict again"),
        (
            "clusters.json",
            '{"describer": "x", "clusters": [{"name": 1}]}',
            "clusters.json is not what cluster of today",
        ),
        ("clusters.json", "\udcff", "clusters.json is not what cluster of today"),
    ],
)
def test_damaged_files_get_one_line(judged: Ran, name: str, content: str, told: str) -> None:
    (judged.settings.run / name).write_bytes(content.encode("utf-8", "surrogateescape"))
    (problem,) = judged.load().problems
    assert told in problem
    assert "\n" not in problem


def test_a_prediction_from_other_rollouts_is_not_shown(judged: Ran) -> None:
    path = judged.settings.run / "prediction.json"
    data = json.loads(path.read_text())
    data["cells"][0]["gap"] += 0.01
    path.write_text(json.dumps(data))
    words = judged.report()["tax.html"].words
    assert "prediction.json is of other rollouts: the ratio gap of" in words
    assert "Foreseeing" not in words


def test_judgements_on_other_words_are_not_shown(judged: Ran) -> None:
    path = file_of(judged.settings.run, "rules")
    path.write_text(re.sub('"said":"[0-9a-f]+"', '"said":"000000000000"', path.read_text()))
    assert judged.load().cascades == ()


def test_a_run_without_judgements_has_none_of_it(judged: Ran) -> None:
    shutil.rmtree(judged.settings.run)
    words = judged.report()["tax.html"].words
    assert not any(heading in words for heading in ("Where dialogues fail", "Foreseeing", "have in common"))


def test_the_map_and_its_holes(made: Made) -> None:
    session, lines = made(pair=["sim/weak,sim/strong"], mode=["solo", "hetero"], model=[])
    page = Page((session.settings.report / "tax.html").read_text())
    assert "not run" in page.words, "no homogeneous teams"
    assert "No additive null" in page.words
    session, lines = made("b", pair=["sim/weak,sim/strong"], rollouts=4)
    source = (session.settings.report / "tax.html").read_text()
    words = Page(source).words
    summary = summary_of(session)
    assert ">not run<" not in source
    for gap in summary.map.values():
        assert all(f"{value:.2f}" in words for value in (gap.ratio.value, gap.ratio.low, gap.ratio.high))
    ((pair, seats),) = summary.seats
    told = text.seating(pair, seats, seats in summary.stands["seats"], 1)
    assert told in words
    assert f"sim/strong + sim/weak: {told}" in lines
    for name in ("lines", "pairs"):
        assert summary.resolves[name]
        assert summary.resolves[name] in words
        assert summary.resolves[name] in lines


def test_what_stands_is_starred(made: Made) -> None:
    session, _ = made(model=["sim/weak", "sim/strong"], intervention=["all-four"], rollouts=8, turn_cap=6)
    summary = summary_of(session)
    source = (session.settings.report / "tax.html").read_text()
    tables = re.split(r"<section id=\"(\w+)\"", source)
    by_name = dict(zip(tables[1::2], tables[2::2], strict=True))
    taxed = [t for model in summary.taxes.values() for t in model.tasks]
    assert by_name["families"].count('class="star"') == sum(x.tax in summary.stands["lines"] for x in summary.lines)
    assert by_name["tasks"].count('class="star"') == sum(t.tax in summary.stands["tasks"] for t in taxed)
    lifted = [one for e in summary.effects for one in e.lifts if one.scope != "all"]
    assert by_name["interventions"].count('class="star"') == sum(
        e.change in summary.stands["effects"] for e in summary.effects
    ) + sum(one.change in summary.stands["lifts"] for one in lifted)
    assert summary.stands["lines"] | summary.stands["tasks"]
