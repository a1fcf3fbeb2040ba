"""Means with intervals: Student's t over independent units, by the jackknife where a value is no plain mean.

Undefined is None, never nan.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from functools import lru_cache

import numpy as np
from numpy.typing import ArrayLike

from collabtax.statistics.rows import FloatArray, K

SEED = 20260  # of what draws at random elsewhere: refits on resampled tasks, starts of k-means
ROUNDING = 1e-9  # numbers that differ by less are equal

Statistic = Callable[[FloatArray], FloatArray]  # column means (..., d) -> value (...); nan where undefined


@dataclass(frozen=True, slots=True)
class Estimate:
    """A value with its interval.

    `value` is None when undefined, `low` and `high` when there is no interval. `n` counts the rollouts (or pairs of
    rollouts) that entered, `clusters` the units taken as independent. `method` names level, method and that unit.
    """

    value: float | None
    low: float | None
    high: float | None
    n: int
    clusters: int
    method: str


@dataclass(frozen=True, slots=True)
class PowerHint:
    """How closely `n` rollouts measure a mean and `needed` would; half-widths in units of the score, None for n < 2."""

    n: int
    half_width: float | None
    needed: int
    needed_half_width: float | None


def mean_of(means: FloatArray) -> FloatArray:
    """Statistic: the first column's mean."""
    return means[..., 0]


def difference(means: FloatArray) -> FloatArray:
    """Statistic: first minus second column, the tax where these are solo and homo (equation 1)."""
    return means[..., 0] - means[..., 1]


def ratio_gap(means: FloatArray) -> FloatArray:
    """Statistic: (first - second) / first, the ratio version of the tax (section 3); nan where the first is 0."""
    return over(difference(means), means[..., 0])


def over(part: FloatArray, whole: FloatArray) -> FloatArray:
    """A ratio; nan where the whole is 0 but for rounding."""
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        return np.where(np.abs(whole) > ROUNDING, part / whole, np.nan)


def undefined(method: str) -> Estimate:
    """The estimate of something that no row speaks about."""
    return Estimate(None, None, None, 0, 0, method)


@lru_cache(maxsize=1024)
def _t_critical(df: int, level: float) -> float:
    from scipy.special import stdtrit  # a fraction of the import time of scipy.stats

    return float(stdtrit(df, 0.5 + level / 2))


def t_interval(values: Iterable[float], level: float = 0.95, *, unit: str = "seeds") -> Estimate:
    """Mean of independent values with Student's t interval, not clipped to the range of the values.

    No value: undefined. One value: its value, no interval. All values equal: an interval of width zero, which says
    that nothing varied here, not that nothing could.

    Raises:
        ValueError: a value is not finite, or `level` is not in (0, 1).
    """
    method = _method(level, unit)
    sample = np.sort(np.asarray(list(values), dtype=np.float64))
    n = sample.size
    if not n:
        return undefined(method)
    if not np.isfinite(sample).all():
        raise ValueError("values must be finite")
    if n == 1 or sample[0] == sample[-1]:  # rounding in the mean must not make equal values differ
        edge = None if n == 1 else float(sample[0])
        return Estimate(float(sample[0]), edge, edge, n, n, method)
    mean, half = float(sample.mean()), _t_critical(n - 1, level) * float(sample.std(ddof=1)) / n**0.5
    return Estimate(mean, mean - half, mean + half, n, n, method)


def power_hint(differences_sd: float, n: int, level: float = 0.95) -> PowerHint:
    """The half-width of the interval of `n` paired differences with this standard deviation, and the n for half of it.

    The width falls with the root of n, so four times as many always suffice (and are needed but for a few when n is
    not small): "50 rollouts measure to within 0.06; 200 to within 0.03". That is no effect one would surely detect.

    Raises:
        ValueError: a negative or infinite standard deviation, or n < 1.
    """
    if not (0 <= differences_sd < np.inf and n >= 1):
        raise ValueError(f"no power for a standard deviation of {differences_sd} and n = {n}")
    _check_level(level)
    half, then = (_t_critical(m - 1, level) * differences_sd / m**0.5 if m > 1 else None for m in (n, 4 * n))
    return PowerHint(n, half, 4 * n, then if n > 1 else None)


def jackknife(
    clusters: Mapping[K, ArrayLike], statistic: Statistic, level: float = 0.95, *, unit: str = "clusters"
) -> Estimate:
    """The statistic with Student's t interval over clusters, its standard error from leaving each cluster out in turn.

    A cluster is an array (n,) or (n, d) of rows that belong together. The statistic sees the column means over all
    rows, so clusters weigh by their rows and a share is a ratio estimator. With one row a cluster and a statistic that
    is linear in the means this is `t_interval`. The interval is not clipped to what values can be.

    No clusters: undefined. No interval with one cluster, nor where the statistic is undefined without one of them. The
    order of clusters and of the rows in them does not matter.

    Raises:
        ValueError: an empty or ragged cluster, numbers that are not finite, or `level` is not in (0, 1).
    """
    if not clusters:
        return undefined(_method(level, unit))
    tables = _tables(clusters)
    sums, counts = np.array([table.sum(axis=0) for table in tables]), np.array([float(len(t)) for t in tables])
    return _jackknife(sums, counts, statistic, level, unit)


def over_seeds(table: FloatArray, statistic: Statistic, level: float = 0.95, *, unit: str = "seeds") -> Estimate:
    """The statistic of rows (n, d) that are each a unit of their own, as the seeds of a task are; see `jackknife`."""
    if not len(table):
        return undefined(_method(level, unit))
    (table,) = _tables({0: table})
    return _jackknife(table, np.ones(len(table)), statistic, level, unit)


def over_tasks(tables: Mapping[K, FloatArray], statistic: Statistic, level: float = 0.95) -> Estimate:
    """Mean over tasks of each task's statistic, with Student's t interval over these values: about tasks in general.

    `tables` holds rows (n, d) by task; each task weighs the same whatever its n, and one whose statistic is undefined
    is left out. With a single task the interval is the one over its seeds, as `method` and `clusters` say. Raises as
    `jackknife` does.
    """
    found = [(float(statistic(table.mean(axis=0, keepdims=True))[0]), table) for table in _tables(tables)]
    defined = [(value, table) for value, table in found if np.isfinite(value)]
    if len(defined) == 1:
        return over_seeds(defined[0][1], statistic, level, unit="seeds, one of the tasks only")
    mean = t_interval((value for value, _ in defined), level, unit="tasks")
    return replace(mean, n=sum(len(table) for _, table in defined))


def over_task_means(tables: Mapping[K, FloatArray], statistic: Statistic, level: float = 0.95) -> Estimate:
    """The statistic of the means over tasks, for ratios whose denominator may be near 0 on a task; otherwise as
    `over_tasks`, with the jackknife over tasks."""
    if len(tables) < 2:
        return over_tasks(tables, statistic, level)
    rows = {
        task: table.mean(axis=0, keepdims=True) for task, table in zip(sorted(tables), _tables(tables), strict=True)
    }
    return replace(jackknife(rows, statistic, level, unit="tasks"), n=sum(map(len, tables.values())))


def _jackknife(sums: FloatArray, counts: FloatArray, statistic: Statistic, level: float, unit: str) -> Estimate:
    """Of clusters with these column sums (k, d) and row counts (k,)."""
    method, k, rows, total = _method(level, unit), len(sums), counts.sum(), sums.sum(axis=0)
    value, n = float(statistic(total[None] / rows)[0]), int(rows)
    if not np.isfinite(value):
        return Estimate(None, None, None, n, k, method)
    without = statistic((total - sums) / (rows - counts)[:, None]) if k > 1 else np.array([np.nan])
    if not np.isfinite(without).all():
        return Estimate(value, None, None, n, k, method)
    squares = float(((without - without.mean()) ** 2).sum()) if np.ptp(without) > ROUNDING else 0.0
    half = _t_critical(k - 1, level) * ((k - 1) / k * squares) ** 0.5
    return Estimate(value, value - half, value + half, n, k, method)


def _check_level(level: float) -> None:
    if not 0 < level < 1:
        raise ValueError(f"level {level} is not between 0 and 1")


def _method(level: float, unit: str) -> str:
    _check_level(level)
    return f"{100 * level:g}% t over {unit}"


def _tables(clusters: Mapping[K, ArrayLike]) -> list[FloatArray]:
    """Clusters by sorted key as arrays (n, d), their rows sorted too: nothing may depend on the order of either."""
    tables = []
    for key in sorted(clusters):
        table = np.asarray(clusters[key], dtype=np.float64)
        table = table[:, None] if table.ndim == 1 else table
        if table.ndim != 2 or not table.size or not np.isfinite(table).all():
            raise ValueError(f"cluster {key!r}: rows of finite numbers expected, got shape {table.shape}")
        tables.append(table[np.lexsort(table.T[::-1])])
    if len({table.shape[1] for table in tables}) > 1:
        raise ValueError("clusters must have equally many columns each")
    return tables
