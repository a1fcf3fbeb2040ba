"""A study of simulated models whose truth is known: `python benchmarks/simulated_study.py`. Prints what
docs/simulated-study.md states; exit 1 where an estimate differs from the truth by more than chance, after Holm.

Part 1 runs models, interventions and pairs through the whole suite, and compares what it says with the truth. The
truth comes from the rates alone: what each combination of faults earns is worked out on many other instances of each
task, with the task's own solver and without any text (`outcomes`), and weighted by how likely it is. Drawing from the
same table gives what chance does to every estimate.

Part 2 repeats small studies of numbers, drawn from distributions whose means are known, and counts how often the
intervals hold the truth, and how often an effect is found where there is none.
"""

from __future__ import annotations

import argparse
import os
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import Executor, ProcessPoolExecutor
from dataclasses import dataclass, replace
from functools import cache, partial
from itertools import product
from math import erfc, sqrt
from pathlib import Path
from typing import Any, TypeAlias

for library in ("OPENBLAS", "OMP", "MKL"):  # two processes share the cores; numpy reads this when it is imported
    os.environ.setdefault(f"{library}_NUM_THREADS", "1")
ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))

import numpy as np  # noqa: E402
from numpy.typing import NDArray  # noqa: E402

import graders  # noqa: E402
from collabtax.options import INTERVENTIONS  # noqa: E402
from collabtax.report.several import holm, standing  # noqa: E402
from collabtax.sim.policy import RELIEF, knobs  # noqa: E402
from collabtax.statistics import (  # noqa: E402
    Estimate,
    difference,
    jackknife,
    mean_of,
    over_seeds,
    over_task_means,
    over_tasks,
    partition,
    ratio_gap,
)
from collabtax.statistics.intervals import Statistic  # noqa: E402
from tasks import Problem, Task, all_tasks, get_task, problem  # noqa: E402
from tasks.base import seeded  # noqa: E402

Array: TypeAlias = NDArray[np.float64]
Cell: TypeAlias = tuple[str, tuple[str, ...], str]  # mode, models in seat order, condition
Row: TypeAlias = dict[str, Any]

TIERS = tuple(
    "sim/" + ",".join([f"l1={l1},l2={l2},l3={l2},l4={l4},slip={slip}", f"spatial_l4={most}", f"csp_l4={least}",
                       f"spatial_l3={more}", f"csp_l3={less}"])
    for l1, l2, l4, slip, most, least, more, less in (
        (0.30, 0.35, 0.75, 0.05, 0.95, 0.50, 0.55, 0.20), (0.20, 0.25, 0.60, 0.04, 0.85, 0.35, 0.45, 0.12),
        (0.12, 0.16, 0.45, 0.03, 0.75, 0.25, 0.35, 0.08), (0.06, 0.09, 0.35, 0.02, 0.65, 0.15, 0.25, 0.04),
        (0.02, 0.04, 0.25, 0.01, 0.55, 0.08, 0.16, 0.02),
    )
)  # fmt: skip
WEAKEST, MIDDLE, STRONGEST = TIERS[0], TIERS[2], TIERS[-1]
EASED = (TIERS[0], TIERS[2])  # the models that also talk under every intervention
TWIN = "sim/" + ",".join(reversed(MIDDLE.removeprefix("sim/").split(",")))  # MIDDLE under another name: other draws
PERFECT = "sim/perfect"
PAIRS = ((WEAKEST, STRONGEST), (MIDDLE, TWIN))
STAGES = ("l1", "l2", "l3", "l4")
KNOWN = 10_000  # first seed of the instances that the truth is worked out on; the study's begin at 0
AGAIN = 1_000  # first seed of the further studies that the fit is compared with
LEVEL = 0.05
NEAR = 1e-9  # rounding


# The truth


def outcomes(task: Task[Any], one: Problem[Any], lies: Sequence[Any]) -> tuple[Array, NDArray[np.bool_]]:
    """What a dialogue earns under every combination of faults: scores (128,), and (128, 5) whether it succeeded and
    passed l1 to l4. The bits of an index, highest first: l1 to l4 of the initiator, then l1, l3 and l4 of the
    responder, who need not ask. `lies` are the views as those who fabricate tell them.
    """
    views: dict[tuple[int, int | None], Any] = {(seat, None): one.views[seat] for seat in (0, 1)}
    for seat, told in product((0, 1), (0, 1)):  # by what was heard: the other view, or the lie
        try:
            views[seat, told] = task.merge((one.views[seat], lies[1 - seat] if told else one.views[1 - seat]))
        except ValueError:  # contradicts one's own view, and is not believed
            continue
    answers = {known: task.solve(view) for known, view in views.items()}
    grades = {known: graders.grade(task, one.instance, answer) for known, answer in answers.items()}
    empty = {known for known, answer in answers.items() if answer in (None, [], {})}
    scores, passed = np.zeros(128), np.zeros((128, 5), dtype=bool)
    for index, (l1, l2, l3, l4, lie, other_l3, other_l4) in enumerate(product((0, 1), repeat=7)):
        heard = None if l2 else lie, l1
        knows = [(seat, heard[seat]) if (seat, heard[seat]) in views else (seat, None) for seat in (0, 1)]
        uncombined, unchecked = (l3, other_l3), (l4, other_l4)
        final = proposed = None
        integrated = rederived = False
        for seat in (0, 1, 0, 1):  # who has proposed nothing in the first two turns never does
            if proposed is not None:
                rederived = not unchecked[seat]
                final = knows[seat] if rederived and answers[knows[seat]] is not None else proposed
                break
            can = knows[seat][1] is not None
            integrated |= can and not uncombined[seat]
            proposal = (seat, None) if uncombined[seat] else knows[seat]
            proposed = None if proposal in empty else proposal
        if final is not None:
            scores[index] = grades[final].score
        success = final is not None and grades[final].success
        passed[index] = success, not (l1 or (lie and not l2)), not l2, integrated, rederived
    return scores, passed


@dataclass(frozen=True)
class Worth:
    """One task of `family` on `seeds` instances: `scores` (seeds, 128) and `passed` (seeds, 128, 5) of `outcomes`, and
    `solo` (seeds, 2), what a model earns alone that does not slip and that does."""

    family: str
    scores: Array
    passed: NDArray[np.bool_]
    solo: Array


def worth(name: str, seeds: Iterable[int]) -> Worth:
    task, found, alone = get_task(name), [], []
    for seed in seeds:
        one = problem(task, seed)
        lies = [task.corrupt(view, seeded("known lie", name, seed, seat)) for seat, view in enumerate(one.views)]
        found.append(outcomes(task, one, lies))
        slip = task.corrupt(one.instance, seeded("known slip", name, seed))
        alone.append([graders.grade(task, one.instance, task.solve(x)).score for x in (one.instance, slip)])
    scores, passed = (np.array([one[i] for one in found]) for i in (0, 1))
    return Worth(task.family, scores, passed, np.array(alone))


def rates(model: str, condition: str, family: str) -> dict[str, float]:
    """The rates of the model under an intervention, on tasks of a family; `slip` is what the second look leaves."""
    mine = knobs(model, family)
    eased = INTERVENTIONS.get(condition, ())
    return {name: getattr(mine, name) * (RELIEF if name in eased else 1) for name in STAGES} | {
        "slip": mine.slip * (1 - mine.mend)
    }


@cache
def likelihood(first: str, second: str, condition: str, family: str) -> Array:
    """How likely each combination of faults is (128,)."""
    a, b = rates(first, condition, family), rates(second, condition, family)
    each = [a["l1"], a["l2"], a["l3"], a["l4"], b["l1"], b["l3"], b["l4"]]
    return np.array([np.prod([p if x else 1 - p for p, x in zip(each, bits, strict=True)]) for bits in BITS])


BITS = list(product((0, 1), repeat=7))


def expected(known: Worth, cell: Cell) -> float:
    """The mean score of a cell."""
    mode, models, condition = cell
    if mode == "solo":
        right, slipped = known.solo.mean(axis=0)
        slip = rates(models[0], "", known.family)["slip"]
        return float((1 - slip) * right + slip * slipped)
    return float((known.scores @ likelihood(models[0], models[1], condition, known.family)).mean())


def expected_stages(known: Worth, cell: Cell) -> Array:
    """Probabilities (2, 5), failed dialogues first and then successful ones: of such a dialogue, and of one that passed
    l1 to l4."""
    weights = likelihood(cell[1][0], cell[1][1], cell[2], known.family)
    success = known.passed[..., 0]
    table = np.ones_like(known.passed, dtype=np.float64)
    table[..., 1:] = known.passed[..., 1:]
    return np.array([np.einsum("sc,sck,c->k", is_so, table, weights) for is_so in (~success, success)]) / len(success)


def by_chance(
    known: Worth, cells: Sequence[Cell], seeds: int, draws: int, rng: np.random.Generator
) -> dict[Cell, Array]:
    """Mean scores (draws,) of each cell in studies of so many seeds.

    As in the policy, an initiator's faults are the same under every condition and with every partner, and a
    responder's depend on what it was told: whether that was a lie and whether it was asked.
    """
    at = rng.integers(len(known.scores), size=(draws, seeds))
    uniform: dict[tuple[str, ...], NDArray[np.float32]] = {}

    def drawn(key: tuple[str, ...], size: int) -> NDArray[np.float32]:
        if key not in uniform:
            uniform[key] = rng.random((size, draws, seeds), dtype=np.float32)
        return uniform[key]

    found = {}
    for cell in cells:
        mode, models, condition = cell
        if mode == "solo":
            slips = drawn(("alone", *models), 1)[0] < rates(models[0], "", known.family)["slip"]
            found[cell] = known.solo[at, slips.astype(np.intp)].mean(axis=1)
            continue
        a, b = (rates(model, condition, known.family) for model in models)
        first = drawn(models[:1], 4)
        struck = [first[i] < a[stage] for i, stage in enumerate(STAGES)]
        told = 2 * struck[0] + struck[1]
        second = drawn(models, 12)
        for i, stage in enumerate(("l1", "l3", "l4")):
            struck.append(np.choose(told, second[4 * i : 4 * i + 4]) < b[stage])
        index = np.zeros(at.shape, dtype=np.intp)
        for one in struck:
            index = 2 * index + one
        found[cell] = known.scores[at, index].mean(axis=1)
    return found


# The study


def plan(seeds: int) -> list[dict[str, Any]]:
    """The options of the runs that make up the study of one task. The last one is for the pairs."""
    return [
        {"model": [*TIERS, PERFECT, TWIN], "mode": ["solo", "homo"], "rollouts": seeds},
        {"model": [*EASED], "mode": ["homo"], "intervention": [*INTERVENTIONS], "rollouts": seeds},
        {"pair": [",".join(pair) for pair in PAIRS], "mode": ["hetero"], "rollouts": seeds},
    ]


@dataclass(frozen=True)
class Measured:
    """One task of the study. `judged` counts verdicts of the rules, and of these such that are not the truth."""

    rows: list[Row]
    verdicts: dict[Any, Any]
    judged: Counter[str]
    features: list[Any]
    again: list[list[Any]]  # features and gaps of further studies, on other seeds
    true: dict[Cell, float]
    stages: dict[Cell, Array]
    chance: dict[Cell, Array]


def run(options: Mapping[str, Any], folder: Path) -> list[Row]:
    """Rows of a run in this process, through cassettes, store and all."""
    from collabtax.session import Session

    session = Session({"cassettes": str(folder / "cassettes"), "run": str(folder / "run"), **options}, ROOT)
    for cell in session.settings.cells("tax"):
        if failures := session.run_cell(cell, lambda rollout: None):
            raise SystemExit(f"{cell.id}: {failures[0]}")
    rows = list(session.store.consolidate().values())
    session.close()
    return rows


def measure(name: str, seeds: int, known_seeds: int, again: int, draws: int) -> Measured:
    """All that is done for one task; a process of its own can do it."""
    from collabtax.cascade.judgements import RULES, Judge, all_verdicts, judge_run
    from collabtax.prediction.table import table
    from collabtax.sim.truth import truth
    from collabtax.store import key

    known = worth(name, range(KNOWN, KNOWN + known_seeds))
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place)
        rows: list[Row] = []
        for options in plan(seeds):
            rows = run({"task": [name], **options}, folder)
        talks = [row for row in rows if row["mode"] in ("homo", "hetero")]
        judge_run(folder / "run", talks, Judge(RULES))
        verdicts = all_verdicts(folder / "run", talks)[RULES]
    judged: Counter[str] = Counter()
    for row in talks:
        for stage, passed in truth(row).items():
            verdict = verdicts[key(row)][stage]
            judged.update(["verdicts", *(["silent"] * (verdict is None)), *(["wrong"] * (verdict == (not passed)))])
    further = []
    for number in range(again):
        with tempfile.TemporaryDirectory() as place:
            options = {"model": [*TIERS], "mode": ["solo", "homo"], "rollouts": seeds, "seed": AGAIN + number * seeds}
            further.append(table(run({"task": [name], **options}, Path(place))))
    features = [line for line in table(rows) if line.model in TIERS]
    cells = sorted({(row["mode"], tuple(row["models"]), row["condition"]) for row in rows})
    chance = by_chance(known, cells, seeds, draws, np.random.default_rng([*name.encode()]))
    for row in rows:
        del row["turns"], row["evidence"]
    true = {cell: expected(known, cell) for cell in cells}
    stages = {cell: expected_stages(known, cell) for cell in cells if cell[0] == "homo"}
    return Measured(rows, verdicts, judged, features, further, true, stages, chance)


# Comparison


@dataclass(frozen=True)
class Check:
    """A quantity: its truth, its estimate with the interval of the suite, and the probability that chance alone puts
    the estimate as far from the truth, for these tasks."""

    group: str
    name: str
    truth: float
    estimate: Estimate
    p: float

    @property
    def inside(self) -> bool:
        low, high = self.estimate.low, self.estimate.high
        return low is not None and high is not None and low - NEAR <= self.truth <= high + NEAR


def far(value: float, chance: Array, summed: bool) -> float:
    """Two-sided p-value of `value` among what chance gives: its rank, and where nothing is as far and many tasks were
    `summed`, so that the normal law holds, the normal tail."""
    mean, deviation = float(chance.mean()), float(chance.std())
    if deviation < NEAR:
        return 1.0 if abs(value - mean) < NEAR else 0.0
    least = min(float(np.mean(chance <= value + NEAR)), float(np.mean(chance >= value - NEAR)))
    if not least and summed:
        return erfc(abs(value - mean) / deviation / sqrt(2))
    return min(1.0, 2 * (least * len(chance) + 1) / (len(chance) + 1))


Formula: TypeAlias = Callable[[Callable[[Cell], Any]], Any]  # a quantity of a task from its cells' mean scores


def solo(model: str) -> Cell:
    return "solo", (model,), ""


def homo(model: str, condition: str = "") -> Cell:
    return "homo", (model, model), condition


def tax_of(model: str) -> Formula:
    return lambda mean: mean(solo(model)) - mean(homo(model))


def ratio_of(model: str) -> Formula:
    def formula(mean: Callable[[Cell], Any]) -> Any:
        with np.errstate(divide="ignore", invalid="ignore"):
            return 1 - mean(homo(model)) / mean(solo(model))

    return formula


def lift_of(model: str, condition: str) -> Formula:
    return lambda mean: mean(homo(model, condition)) - mean(homo(model))


def lift_and_tax_of(model: str, condition: str) -> Formula:
    return lambda mean: np.array([lift_of(model, condition)(mean), tax_of(model)(mean)])


def averaged(values: Sequence[Any]) -> Any:
    """Over tasks (first axis), of those that have a value."""
    return np.nanmean(values, axis=0)


def ratio_of_means(values: Sequence[Any]) -> Any:
    """Of the two numbers that each task has (second axis)."""
    first, second = np.mean(values, axis=0)
    return first / second


def checks(found: Mapping[str, Measured], summary: Any) -> Iterator[Check]:
    """Every estimate of the summary that has a truth."""

    def check(
        group: str, name: str, estimate: Estimate, tasks: Iterable[str], formula: Formula, whole: Any = averaged
    ) -> Check:
        tasks = list(tasks)
        truth = float(whole([formula(found[task].true.__getitem__) for task in tasks]))
        chance = whole([formula(found[task].chance.__getitem__) for task in tasks])
        assert estimate.value is not None
        return Check(group, name, truth, estimate, far(estimate.value, chance, len(tasks) >= 8))

    for line in summary.lines:
        if line.model in TIERS:
            name = f"tier {TIERS.index(line.model) + 1} {line.scope}"
            yield check("tax", name, line.tax, line.tasks, tax_of(line.model))
            yield check("ratio gap", name, line.ratio, line.tasks, ratio_of(line.model))
    for model in TIERS:
        for one in summary.taxes[model].tasks:
            name = f"tier {TIERS.index(model) + 1} {one.task}"
            yield check("tax, one task", name, one.tax, [one.task], tax_of(model))
            if one.ratio.value is not None:
                yield check("ratio gap, one task", name, one.ratio, [one.task], ratio_of(model))
    for effect in summary.effects:
        model = effect.models[0]
        for one in effect.lifts:
            tasks = [t.task for t in summary.taxes[model].tasks if one.scope in (t.family, "all")]
            tasks = [task for task in tasks if task in summary.taxes[model].overall.tasks]
            name = f"tier {TIERS.index(model) + 1} {effect.condition} {one.scope}"
            yield check("change by intervention", name, one.change, tasks, lift_of(model, effect.condition))
            if one.closed.value is not None:
                both = lift_and_tax_of(model, effect.condition)
                yield check("share of the tax closed", name, one.closed, tasks, both, whole=ratio_of_means)
    for pair, asymmetry in summary.pairs:
        a, b = pair.models
        group = "pair of equals" if TWIN in pair.models else "pair"
        name = f"{told_model(a)} + {told_model(b)}"

        def loss(mean: Callable[[Cell], Any], a: str = a, b: str = b) -> Any:
            return np.maximum(mean(solo(a)), mean(solo(b))) - mean(("hetero", (a, b), ""))

        def share(mean: Callable[[Cell], Any], a: str, b: str, models: tuple[str, str] = (a, b)) -> Any:
            return (mean(solo(a)) + mean(("hetero", models, "")) - mean(solo(b))) / 2

        def seats(mean: Callable[[Cell], Any], a: str = a, b: str = b) -> Any:
            return mean(("hetero", (a, b), "")) - mean(("hetero", (b, a), ""))

        yield check(group, f"{name}: tax", pair.tax, pair.tasks, loss)
        yield check(group, f"{name}: share of the first", pair.phi1, pair.tasks, lambda m, a=a, b=b: share(m, a, b))  # type: ignore[misc]
        if a < b:
            yield check(group, f"{name}: seat asymmetry", asymmetry, pair.tasks, seats)
        for game in pair.by_task:
            yield check("tax of a pair, one task", f"{name} {game.task}", game.tax, [game.task], loss)


def told_model(model: str) -> str:
    return "twin of 3" if model == TWIN else f"tier {TIERS.index(model) + 1}"


def stage_checks(found: Mapping[str, Measured]) -> Iterator[Check]:
    """Shares of dialogues that pass a stage by the judge with rules: of all, and of the failed ones."""
    from scipy.stats import binomtest

    from collabtax.cascade.rates import cascades
    from collabtax.store import key

    def check(group: str, name: str, truth: float, estimate: Estimate) -> Check:
        assert estimate.value is not None
        p = binomtest(round(estimate.value * estimate.n), estimate.n, truth).pvalue
        return Check(group, name, truth, estimate, float(p))

    verdicts = {one: verdict for measured in found.values() for one, verdict in measured.verdicts.items()}
    cells = [homo(model) for model in TIERS] + [homo(model, c) for model in EASED for c in INTERVENTIONS]
    for cell in cells:
        rows = [
            row for measured in found.values() for row in measured.rows
            if (row["mode"], tuple(row["models"]), row["condition"]) == cell
        ]  # fmt: skip
        true = np.mean([measured.stages[cell] for measured in found.values()], axis=0)
        name = " ".join(filter(None, (told_model(cell[1][0]), cell[2])))
        (cascade,) = cascades("rules", rows, verdicts)
        for number, stage in enumerate(STAGES, 1):
            by_task = {
                task: [float(v) for row in some if (v := verdicts[key(row)][stage]) is not None]
                for task, some in partition(rows, lambda row: str(row["task"])).items()
            }
            estimate = jackknife({task: values for task, values in by_task.items() if values}, mean_of, unit="tasks")
            truth = float(true[:, number].sum())
            yield check("stage passed", f"{name} {stage}", truth, estimate)
            (rate,) = [r for r in cascade.rates if (r.stage, r.category, r.success) == (stage, "all", False)]
            if rate.passed.low is not None:
                truth = float(true[0, number] / true[0, 0])
                yield check("stage passed in failed dialogues", f"{name} {stage}", truth, rate.passed)


def fit_checks(found: Mapping[str, Measured]) -> tuple[list[Check], list[str]]:
    """The prediction of the gap: the fit beside that of further studies, and the best possible one."""
    from scipy.stats import t as student
    from sklearn import metrics

    from collabtax.prediction.model import predict

    r2_score: Callable[[Any, Any], float] = metrics.r2_score
    lines = [line for measured in found.values() for line in measured.features]
    mine = predict(lines, draws=2)
    studies = [
        [line for m in found.values() for line in m.again[i]] for i in range(len(next(iter(found.values())).again))
    ]
    further = [predict(study, draws=2) for study in studies]
    result = []
    wanted: tuple[tuple[str, Callable[[Any], Any]], ...] = (
        ("R2, 5 folds by task", lambda p: p.folds.r2), ("Spearman, 5 folds by task", lambda p: p.folds.spearman),
        ("R2, leave one task out", lambda p: p.by_task.r2), ("R2, leave one model out", lambda p: p.by_model.r2),
    )  # fmt: skip
    for name, of in wanted:
        values = np.array([of(one) for one in further])
        if len(values) < 2:
            break
        spread = float(values.std(ddof=1)) * sqrt(1 + 1 / len(values))
        half, value = float(student.ppf(0.975, len(values) - 1)) * spread, of(mine)
        p = float(2 * student.sf(abs(value - values.mean()) / max(spread, NEAR), len(values) - 1))
        estimate = Estimate(value, value - half, value + half, len(lines), len(found), "t over further studies")
        result.append(Check("fit", name, float(values.mean()), estimate, p))
    kept = mine.cells
    true = np.array([ratio_of(c.model)(found[c.task].true.__getitem__) for c in kept])
    gaps = np.array([c.gap for c in kept])
    chance = np.array([ratio_of(c.model)(found[c.task].chance.__getitem__)[:1000] for c in kept])
    ceiling = np.array([r2_score(column, true) for column in chance.T])
    value, (low, high) = r2_score(gaps, true), np.quantile(ceiling, [0.025, 0.975]) - ceiling.mean()
    estimate = Estimate(value, value + low, value + high, len(kept), len(found), "simulated")
    result.append(
        Check("fit", "R2 of the true gaps themselves", float(ceiling.mean()), estimate, far(value, ceiling, True))
    )
    rng = np.random.default_rng(7)
    mixed = [predict([replace(c, gap=float(g)) for c, g in zip(kept, rng.permutation(gaps), strict=True)], draws=2)
             for _ in range(20)]  # fmt: skip
    r2 = [one.folds.r2 for one in mixed if one.folds.r2 is not None]
    return result, [
        f"fit: foreseen gaps against the true ones R2 {r2_score(true, mine.foreseen):.2f} ({len(kept)} lines)",
        f"fit, negative control, gaps dealt out anew 20 times: R2 {np.mean(r2):.2f} on average, largest {max(r2):.2f}",
    ]


def orders(found: Mapping[str, Measured], summary: Any) -> Iterator[str]:
    """The order of categories and of models, in truth and as measured, and how often chance lets it come out."""
    from tasks import FAMILIES

    lines = {(line.model, line.scope): line for line in summary.lines}
    families = [family for family in FAMILIES if (TIERS[0], family) in lines]

    def gaps(model: str, family: str, of: str) -> Any:
        tasks = lines[model, family].tasks
        return np.mean([ratio_of(model)(getattr(found[task], of).__getitem__) for task in tasks], axis=0)

    for model in TIERS:
        true, seen = {f: gaps(model, f, "true") for f in families}, {f: lines[model, f].ratio.value for f in families}
        order, measured = (sorted(families, key=lambda f, of=of: -of[f]) for of in (true, seen))  # type: ignore[misc]
        chance = np.array([gaps(model, family, "chance") for family in order])
        likely = float(np.mean((np.diff(chance, axis=0) < 0).all(axis=0)))
        yield (
            f"categories, {told_model(model)}: {', '.join(f'{f} {true[f]:.3f}/{seen[f]:.3f}' for f in order)} "
            f"(truth/measured); {'as in truth' if measured == order else 'measured ' + ' > '.join(measured)}; chance "
            f"keeps the order in {likely:.0%} of such studies"
        )
    true_tax = [np.mean([tax_of(m)(found[t].true.__getitem__) for t in found]) for m in TIERS]
    seen_tax = [lines[m, "all"].tax.value for m in TIERS]
    same = list(np.argsort(true_tax)) == list(np.argsort(seen_tax))
    yield (
        "capability, tax of tiers 1 to 5: "
        + ", ".join(f"{a:.3f}/{b:.3f}" for a, b in zip(true_tax, seen_tax, strict=True))
        + f" (truth/measured); order {'as in truth' if same else 'differs'}"
    )


def summary_of(rows: Iterable[Row]) -> Any:
    from collabtax.cascade.stages import cell_of
    from collabtax.report.summary import summarise

    cells: dict[Any, dict[int, Row | None]] = {}
    for row in rows:
        cells.setdefault(cell_of(row), {})[row["seed"]] = row
    return summarise(cells.items())


# Part 2: coverage over repeated small studies

BETA_Q = (2.0, 3.0)  # of tasks: how often a dialogue fails; 0.4 on average
BETA_M = (2.0, 3.0)  # of tasks: what a failed dialogue earns; 0.4 on average
BETA_S = (1.0, 19.0)  # of tasks: how often a model errs alone; 0.05 on average, and then earns 0.5
ESTIMANDS = ("tax", "ratio gap", "seat asymmetry", "change", "equal models")
METHODS = ("t over tasks", "t over seeds")  # the first is the suite's


@dataclass(frozen=True)
class Levels:
    """Tasks (each field one number a task): how often a dialogue fails, what it then earns, how often a model errs
    alone, how much the seats or the intervention change."""

    fails: Array
    earns: Array
    errs: Array
    effect: Array

    @classmethod
    def draw(cls, rng: np.random.Generator, tasks: int, estimand: str) -> Levels:
        low, high = {"seat asymmetry": (-0.3, 0.7), "change": (0.1, 0.5)}.get(estimand, (0.0, 0.0))
        return cls(
            rng.beta(*BETA_Q, tasks), rng.beta(*BETA_M, tasks), rng.beta(*BETA_S, tasks), rng.uniform(low, high, tasks)
        )

    def truth(self, estimand: str) -> Array:
        """The quantity of each task."""
        loss = self.fails * (1 - self.earns)
        if estimand in ("tax", "ratio gap"):
            tax = loss - self.errs / 2
            return tax if estimand == "tax" else tax / (1 - self.errs / 2)
        if estimand == "seat asymmetry":
            return -2 * self.effect * self.fails * (1 - self.fails) * (1 - self.earns)
        return loss * (1 - self.effect) if estimand == "change" else 0 * loss

    def study(self, rng: np.random.Generator, seeds: int, estimand: str) -> dict[int, Array]:
        """Scores (seeds, 2) by task, of which the quantity is the difference or the ratio gap. Some instances are
        harder than others, for both columns."""
        shape = (len(self.fails), seeds)
        fails, earns, errs, effect = (x[:, None] for x in (self.fails, self.earns, self.errs, self.effect))
        harder = rng.choice([-0.4, 0.4], shape)

        def scores(rate: Array, earned: Array, struck: Array) -> Array:
            return np.where(
                struck < rate * (1 + harder * (1 - rate)), rng.beta(2 * earned, 2 * (1 - earned), shape), 1.0
            )

        chance, other = rng.random(shape), rng.random(shape)
        if estimand in ("tax", "ratio gap"):
            columns = scores(errs, np.full_like(errs, 0.5), other), scores(fails, earns, chance)
        elif estimand == "seat asymmetry":
            turn = effect * fails * (1 - fails)
            columns = scores(fails + turn, earns, chance), scores(fails - turn, earns, other)
        elif estimand == "change":  # the same draws with and without, as of simulated models
            columns = scores(fails * effect, earns, chance), scores(fails, earns, chance)
        else:
            columns = scores(fails, earns, chance), scores(fails, earns, other)
        return dict(enumerate(np.stack(columns, axis=-1)))


def mean_of_all_tasks(estimand: str) -> float:
    """The mean quantity of all tasks that could be drawn, by numerical integration."""
    million = Levels.draw(np.random.default_rng(11), 1_000_000, estimand)
    return float(million.truth(estimand).mean())


def as_given(tables: Mapping[int, Array], ratio: bool) -> tuple[float | None, float | None]:
    """The interval that takes the tasks as given: their own squared standard errors add up (Welch and Satterthwaite's
    degrees of freedom); of the ratio by the delta method."""
    from scipy.special import stdtrit

    values, squared, n = [], [], len(next(iter(tables.values())))
    for table in tables.values():
        first, second = table.mean(axis=0)
        pseudo = (second / first * table[:, 0] - table[:, 1]) / first if ratio else table[:, 0] - table[:, 1]
        values.append(1 - second / first if ratio else first - second)
        squared.append(pseudo.var(ddof=1) / n)
    total, of_each = sum(squared), sum(s * s for s in squared) / (n - 1)
    half = float(stdtrit(total**2 / of_each, 0.975)) * sqrt(total) / len(values) if total else 0.0
    return float(np.mean(values)) - half, float(np.mean(values)) + half


def intervals(tables: Mapping[int, Array], estimand: str) -> dict[str, tuple[float | None, float | None]]:
    """The interval by each method."""
    suite = over_tasks(tables, ratio_gap if estimand == "ratio gap" else difference)
    return {"t over tasks": (suite.low, suite.high), "t over seeds": as_given(tables, estimand == "ratio gap")}


@dataclass(frozen=True)
class Coverage:
    """Of `studies`: how many intervals of each method hold the truth, and how many leave 0 out; their mean width."""

    estimand: str
    reading: str
    tasks: int
    seeds: int
    studies: int
    held: dict[str, int]
    found: dict[str, int]
    width: dict[str, float]


def coverage(estimand: str, reading: str, tasks: int, seeds: int, studies: int) -> Coverage:
    """Repeat a small study. Read as "fixed", all have the same tasks, whose mean is the truth; as "drawn", each has
    tasks of its own, and the truth is the mean over all tasks that there could be."""
    rng = np.random.default_rng([*f"{estimand} {reading}".encode(), tasks, seeds])
    levels = Levels.draw(rng, tasks, estimand)
    truth = float(levels.truth(estimand).mean()) if reading == "fixed" else mean_of_all_tasks(estimand)
    held, found, width = Counter[str](), Counter[str](), Counter[str]()
    for _ in range(studies):
        if reading == "drawn":
            levels = Levels.draw(rng, tasks, estimand)
        for method, (low, high) in intervals(levels.study(rng, seeds, estimand), estimand).items():
            if low is not None and high is not None:
                held[method] += low - NEAR <= truth <= high + NEAR
                found[method] += not low - NEAR <= 0 <= high + NEAR
                width[method] += high - low  # type: ignore[assignment]
    widths = {method: width[method] / studies for method in METHODS}
    return Coverage(estimand, reading, tasks, seeds, studies, held, found, widths)


def single_tasks(seeds: int, studies: int) -> dict[str, int]:
    """How many intervals of one task hold its truth, of the tax and of the ratio gap; and in how many studies of 32
    tasks of two equal models some task's interval leaves 0 out, and after Holm."""
    rng = np.random.default_rng([41, seeds])
    found: Counter[str] = Counter()
    for _ in range(studies):
        one = Levels.draw(rng, 1, "tax")
        (table,) = one.study(rng, seeds, "tax").values()
        for name, estimate, truth in (
            ("tax", over_seeds(table, difference), one.truth("tax")[0]),
            ("ratio gap", over_seeds(table, ratio_gap), one.truth("ratio gap")[0]),
        ):
            found[name] += estimate.low is not None and estimate.low - NEAR <= truth <= (estimate.high or 0) + NEAR
            found[f"{name}, of no width"] += estimate.low == estimate.high
        equals = Levels.draw(rng, 32, "equal models").study(rng, seeds, "equal models").values()
        each = [over_seeds(table, difference) for table in equals]
        found["equal models, some of 32 tasks"] += any(
            not (e.low or 0) <= NEAR or not (e.high or 0) >= -NEAR for e in each
        )
        found["equal models, some of 32 tasks after Holm"] += bool(standing(each))
    return dict(found)


RATIOS = ("stage rate", "overlap of two stages", "kappa of two judges", "share of the tax closed", "slope of figure 5")


def ratio_study(kind: str, tasks: int, rng: np.random.Generator) -> dict[int, Array]:
    """Rows by task from which a ratio of two numbers is estimated. Tasks differ in how many of 20 dialogues fail, and
    those on which more do have lower stage rates; a task without a failure has no rows."""
    if kind == "share of the tax closed":
        levels = Levels.draw(rng, tasks, "change")
        solo = levels.study(rng, 20, "tax")
        return {i: np.column_stack([table, solo[i][:, 0]]) for i, table in levels.study(rng, 20, "change").items()}
    if kind == "slope of figure 5":
        x = rng.beta(2, 4, (tasks, 1)) + rng.normal(0, 0.1, (tasks, 6))
        y = 1.35 * x - 0.27 + rng.normal(0, 0.1, (tasks, 1)) + rng.normal(0, 0.1, (tasks, 6))
        return dict(enumerate(np.stack([x, y, x * x, x * y, y * y], axis=-1)))
    found = {}
    for task in range(tasks):
        fails, alike, both = rng.beta(2, 3), rng.beta(6, 3), rng.beta(6, 2)
        n = 20 if kind == "kappa of two judges" else int(rng.binomial(20, fails))
        first = rng.random(n) < alike * (1 - fails / 2)
        second = np.where(rng.random(n) < both, first, rng.random(n) < 0.6)
        columns = {"stage rate": [first], "overlap of two stages": [first & second, first | second]}
        if n:
            found[task] = np.column_stack(columns.get(kind, [first, second, first & second])).astype(float)
    return found


def ratios(kind: str, tasks: int, studies: int) -> int:
    """How many of the suite's intervals of such a ratio over drawn tasks hold it."""
    from collabtax.cascade.agreement import cohen, over_rows
    from collabtax.cascade.rates import share
    from collabtax.report.summary import share_closed
    from collabtax.statistics.pairs import slope_of

    statistic: Statistic = {
        "stage rate": mean_of, "overlap of two stages": share, "kappa of two judges": cohen,
        "slope of figure 5": slope_of,
    }.get(kind, share_closed)  # fmt: skip
    closed = kind == "share of the tax closed"
    many = ratio_study(kind, 60_000, np.random.default_rng(12))
    rows = [table.mean(axis=0, keepdims=True) for table in many.values()] if closed else list(many.values())
    truth = float(statistic(np.concatenate(rows).mean(axis=0, keepdims=True))[0])
    rng, held = np.random.default_rng([*kind.encode(), tasks]), 0
    for _ in range(studies):
        one = ratio_study(kind, tasks, rng)
        if closed:
            estimate = over_task_means(one, statistic)
        else:
            names = [f"{task:03d}" for task, table in one.items() for _ in table]
            wide = (-np.inf, np.inf) if kind == "slope of figure 5" else (-1, 1)
            estimate = over_rows(names, np.concatenate(list(one.values())).tolist(), statistic, wide)
        held += estimate.low is not None and estimate.low - NEAR <= truth <= (estimate.high or 0.0) + NEAR
    return held


# The command


def told(checks: Sequence[Check], adjusted: Sequence[float], whole: bool) -> Iterator[str]:
    """A table of the checks of one group; `whole` shows all of them and not only those that miss."""
    out = [check for check in checks if not check.inside]
    by_chance = f"{0.05 * len(checks):.1f} by chance"
    yield f"\n{checks[0].group}: {len(checks)} intervals, {len(out)} miss the truth ({by_chance})\n"
    shown = [pair for pair in zip(checks, adjusted, strict=True) if whole or not pair[0].inside]
    if shown:
        yield "| quantity | truth | estimate | interval | inside | p | p (Holm) |\n|---|---|---|---|---|---|---|"
    for check, p in shown:
        e = check.estimate
        interval = "-" if e.low is None else f"{e.low:.3f} to {e.high:.3f}"
        yield (
            f"| {check.name} | {check.truth:.3f} | {e.value:.3f} | {interval} | {'yes' if check.inside else 'no'} "
            f"| {check.p:.2g} | {p:.2g} |"
        )


def study(pool: Executor, names: Sequence[str], given: argparse.Namespace) -> dict[str, Measured]:
    """Part 1: the tasks, measured."""
    jobs = [pool.submit(measure, n, given.seeds, given.known, given.further, given.draws) for n in names]
    return {name: job.result() for name, job in zip(names, jobs, strict=True)}


def compared(found: Mapping[str, Measured]) -> bool:
    """Print the study beside the truth. Returns whether nothing differs."""
    rows, names = [row for measured in found.values() for row in measured.rows], list(found)
    print(f"{len(rows)} rollouts of {len(names)} tasks, {len({row['seed'] for row in rows})} seeds; the tiers are")
    print("\n".join(f"{i} {model}" for i, model in enumerate(TIERS, 1)))
    summary = summary_of(rows)
    fits, remarks = fit_checks(found)
    groups: dict[str, list[Check]] = {}
    for check in (*checks(found, summary), *stage_checks(found), *fits):
        groups.setdefault(check.group, []).append(check)
    good = True
    for single in (False, True):  # Holm over all estimates that are over tasks, and over all that are of one task
        chosen = [checks_ for group, checks_ in groups.items() if group.endswith("one task") == single]
        total = [check for checks_ in chosen for check in checks_]
        adjusted = holm([check.p for check in total])
        left = iter(adjusted)
        for checks_ in chosen:
            print("\n".join(told(checks_, [next(left) for _ in checks_], whole=not single)))
        good &= min(adjusted) >= LEVEL
        print(
            f"\n{'of one task' if single else 'over tasks'}: {len(total)} intervals, "
            f"{sum(not check.inside for check in total)} miss, {0.05 * len(total):.0f} would by chance; "
            f"{sum(p < LEVEL for p in adjusted)} differ from the truth after Holm"
        )
    judged = sum((measured.judged for measured in found.values()), Counter())
    print(
        f"\nrules against truth.py: {judged['verdicts']} verdicts, {judged['silent']} silent, {judged['wrong']} wrong"
    )
    print("\n".join((*orders(found, summary), *remarks)))
    out = {told_model(m): len(names) - len(summary.taxes[m].overall.tasks) for m in TIERS}
    print(f"tasks left out of the means for a solo mean under 0.8: {out}")
    perfect = {row["score"] for row in rows if row["models"][0] == PERFECT}
    print(
        f"negative control, models without faults: scores {sorted(perfect)}, tax {summary.taxes[PERFECT].overall.tax}"
    )
    return good and perfect == {1.0}


def repeated(pool: Executor, studies: int) -> None:
    """Part 2."""
    grid = list(product(ESTIMANDS, ("fixed", "drawn"), (8, 32), (5, 20)))
    jobs = [pool.submit(coverage, *one, studies) for one in grid if one[:2] != ("equal models", "fixed")]
    few = [pool.submit(coverage, estimand, "drawn", 3, 20, studies) for estimand in ESTIMANDS]
    single = {seeds: pool.submit(single_tasks, seeds, studies) for seeds in (5, 20, 50)}
    of_two = {(kind, tasks): pool.submit(ratios, kind, tasks, studies) for kind in RATIOS for tasks in (3, 8, 32)}
    found = [job.result() for job in (*jobs, *few)]
    print(
        f"\ncoverage of 95 % intervals, % of {studies} studies (standard error of 95 %: {error(0.95, studies):.1f})\n"
    )
    head = "| quantity | tasks are | tasks | seeds | " + " | ".join(METHODS) + " | width, t over tasks | 0 is outside |"
    print(head + "\n" + "|---" * (head.count("|") - 1) + "|")
    for one in found:
        cells = [f"{100 * one.held[method] / studies:.1f}" for method in METHODS]
        ends = [f"{one.width[METHODS[0]]:.3f}", f"{100 * one.found[METHODS[0]] / studies:.1f}"]
        print("| " + " | ".join([one.estimand, one.reading, str(one.tasks), str(one.seeds), *cells, *ends]) + " |")
    print("\none task, % of studies\n")
    names = list(dict.fromkeys(name for job in single.values() for name in job.result()))
    print("| | " + " | ".join(f"{seeds} seeds" for seeds in single) + " |\n|---" + "|---" * len(single) + "|")
    for name in names:
        cells = [f"{100 * job.result().get(name, 0) / studies:.1f}" for job in single.values()]
        print("| " + " | ".join([name, *cells]) + " |")
    print("\nratios over drawn tasks\n\n| | 3 tasks | 8 | 32 |\n|---|---|---|---|")
    for kind in RATIOS:
        print(
            "| " + " | ".join([kind, *(f"{100 * of_two[kind, n].result() / studies:.1f}" for n in (3, 8, 32))]) + " |"
        )


def error(share: float, studies: int) -> float:
    """Standard error of a share measured on so many studies, in points."""
    return 100 * sqrt(share * (1 - share) / studies)


def whole_number(least: int, text: str) -> int:
    """An option's value. Raises argparse's error, with what is expected."""
    if not text.isdecimal() or int(text) < least:
        raise argparse.ArgumentTypeError(f"{text!r} is no whole number from {least} on")
    return int(text)


def main(arguments: Sequence[str] | None = None) -> int:
    options = argparse.ArgumentParser(description="a study of simulated models whose truth is known")
    for name, least, default, what in (
        ("seeds", 2, 20, "rollouts of each cell"),
        ("known", 2, 200, "instances of each task that the truth is worked out on"),
        ("further", 0, 4, "further studies that the fit is compared with"),
        ("draws", 2, 16_000, "studies drawn from the truth"),
        ("studies", 1, 1000, "repeated small studies"),
    ):
        at_least = partial(whole_number, least)
        options.add_argument(
            f"--{name}", type=at_least, default=default, metavar="N", help=f"{what} (default: {default})"
        )
    options.add_argument("--part", choices=("study", "coverage", "both"), default="both", help="(default: both)")
    options.add_argument("--task", action="append", metavar="NAME", help="a task; two or more (default: all)")
    given = options.parse_args(arguments)
    all_names = [task.name for task in all_tasks()]
    names = list(dict.fromkeys(given.task or all_names))
    if odd := [name for name in names if name not in all_names]:
        options.error(f"--task {odd[0]!r} is not known; known: {', '.join(all_names)}")
    if len(names) < 2:
        options.error(f"--task {names[0]} is one task; name two or more, as the fit leaves tasks out in turn")
    begun, good = time.monotonic(), True
    with ProcessPoolExecutor(2) as pool:
        if given.part != "coverage":
            good = compared(study(pool, names, given))
        if given.part != "study":
            repeated(pool, given.studies)
    print(f"\n{time.monotonic() - begun:.0f} s, load {os.getloadavg()[0]:.1f}")
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main())
