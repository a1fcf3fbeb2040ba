"""How far raters (judges, people, the known truth) agree: Cohen's and Fleiss' kappa with prevalence and intervals.

Both kappas are functions of column means, so that the jackknife of `collabtax.statistics` applies as it stands.
Where chance agreement is certain (all labels alike) kappa is undefined and reads None, never 0 or 1.
"""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations

import numpy as np
from numpy.typing import ArrayLike

from collabtax.cascade.stages import STAGES, Verdicts
from collabtax.statistics import Estimate, jackknife, over_seeds, partition
from collabtax.statistics.intervals import Statistic, over
from collabtax.statistics.rows import FloatArray

Labels = Mapping[Hashable, Verdicts]  # item -> verdicts
LANDIS_KOCH = ((0.0, "poor"), (0.2, "slight"), (0.4, "fair"), (0.6, "moderate"), (0.8, "substantial"))


def cohen(means: FloatArray) -> FloatArray:
    """Statistic: Cohen's kappa of two raters from the mean columns a, b and a * b of their 0/1 labels."""
    a, b, both = means[..., 0], means[..., 1], means[..., 2]
    return _kappa(1 - a - b + 2 * both, a * b + (1 - a) * (1 - b))


def fleiss(means: FloatArray) -> FloatArray:
    """Statistic: Fleiss' kappa from the mean columns of `fleiss_table`: agreement, then the share of each category."""
    return _kappa(means[..., 0], (means[..., 1:] ** 2).sum(axis=-1))


def _kappa(observed: FloatArray, chance: FloatArray) -> FloatArray:
    return over(observed - chance, 1 - chance)


def fleiss_table(counts: ArrayLike) -> FloatArray:
    """Columns for `fleiss` from counts (items, categories): of each item, how many raters chose each category.

    Raises:
        ValueError: fewer than two raters, or not equally many of each item.
    """
    table = np.asarray(counts, dtype=np.float64)
    raters = table.sum(axis=1)
    if table.ndim != 2 or not len(table) or (raters != raters[0]).any() or raters[0] < 2:
        raise ValueError("Fleiss' kappa needs items that two or more raters labelled, the same number each")
    n = raters[0]
    agreement = (table * (table - 1)).sum(axis=1) / (n * (n - 1))
    return np.column_stack([agreement, table / n])


def strength(kappa: float | None) -> str:
    """The word of Landis and Koch (1977) for a kappa."""
    if kappa is None:
        return "undefined"
    return next((word for edge, word in LANDIS_KOCH if kappa <= edge), "almost perfect")


@dataclass(frozen=True)
class Agreement:
    """Of some raters on one stage: kappa, the share of items (beyond two raters: of pairs of labels) on which they
    agree, the share of "passed" of each, and how many items all of them labelled, of how many that some did."""

    stage: str
    raters: tuple[str, ...]
    kappa: Estimate
    agreed: float | None
    prevalence: tuple[float | None, ...]
    n: int
    of: int


def _labels(stage: str, raters: Sequence[Labels]) -> tuple[list[Hashable], FloatArray, int]:
    """Items that all raters labelled, their 0/1 labels (items, raters), and the number of items that any did."""
    some = list(dict.fromkeys(i for rater in raters for i in rater))
    whole = [i for i in some if all(i in r and r[i][stage] is not None for r in raters)]
    return (
        whole,
        np.array([[float(bool(r[i][stage])) for r in raters] for i in whole]).reshape(len(whole), len(raters)),
        len(some),
    )


def agreement(stage: str, names: Sequence[str], raters: Sequence[Labels], cluster: Mapping[Hashable, str]) -> Agreement:
    """Agreement of two raters (Cohen) or more (Fleiss) on a stage; intervals are over the clusters (tasks) of items."""
    items, labels, of = _labels(stage, raters)
    if not items:
        nothing = over_rows([], [], cohen)
        return Agreement(stage, tuple(names), nothing, None, (None,) * len(names), 0, of)
    if len(raters) == 2:
        table = np.column_stack([labels, labels.prod(axis=1)])
        agreed, statistic = float((labels[:, 0] == labels[:, 1]).mean()), cohen
    else:
        yes = labels.sum(axis=1)
        table, statistic = fleiss_table(np.column_stack([yes, len(raters) - yes])), fleiss
        agreed = float(table[:, 0].mean())
    kappa = over_rows([cluster[i] for i in items], table.tolist(), statistic)
    return Agreement(stage, tuple(names), kappa, agreed, tuple(map(float, labels.mean(axis=0))), len(items), of)


def over_rows(
    tasks: Sequence[str], values: Sequence[Sequence[float]], statistic: Statistic, bounds: tuple[float, float] = (-1, 1)
) -> Estimate:
    """The statistic of the means of all rows, with an interval over their tasks, or over the rows of one task only; no
    interval leaves the bounds of what is estimated."""
    groups = partition(zip(tasks, values, strict=True), lambda row: row[0])
    tables = {task: np.array([value for _, value in rows], dtype=np.float64) for task, rows in groups.items()}
    if len(tables) == 1:
        ((table,),) = [tables.values()]
        found = over_seeds(table, statistic, unit="rollouts of one task")
    else:
        found = jackknife(tables, statistic, unit="tasks")
    if found.low is None or found.high is None:
        return found
    return replace(found, low=max(found.low, bounds[0]), high=min(found.high, bounds[1]))


def pairwise(raters: Mapping[str, Labels], cluster: Mapping[Hashable, str]) -> list[Agreement]:
    """Cohen's kappa of every two raters on every stage."""
    return [
        agreement(stage, pair, [raters[name] for name in pair], cluster)
        for pair in combinations(raters, 2)
        for stage in STAGES
    ]


def majority(raters: Sequence[Labels]) -> dict[Hashable, Verdicts]:
    """What more than half of those who gave a label say; None on a tie."""
    found: dict[Hashable, Verdicts] = {}
    for item in dict.fromkeys(i for rater in raters for i in rater):
        found[item] = {}
        for stage in STAGES:
            votes = [rater[item][stage] for rater in raters if item in rater and rater[item][stage] is not None]
            yes = sum(map(bool, votes))
            found[item][stage] = None if 2 * yes == len(votes) else 2 * yes > len(votes)
    return found


@dataclass(frozen=True)
class Recovery:
    """How a judge finds the failures of a stage that are there: precision and recall of "failed", None where undefined;
    `silent` counts items on which it gave no verdict."""

    stage: str
    precision: float | None
    recall: float | None
    failures: int
    n: int
    silent: int


def recovery(stage: str, judge: Labels, truth: Labels) -> Recovery:
    known = [i for i in judge if i in truth and truth[i][stage] is not None]
    items = [i for i in known if judge[i][stage] is not None]
    told = [i for i in items if judge[i][stage] is False]
    true = [i for i in items if truth[i][stage] is False]
    hits = sum(truth[i][stage] is False for i in told)
    share = [hits / len(group) if group else None for group in (told, true)]
    return Recovery(stage, share[0], share[1], len(true), len(items), len(known) - len(items))
