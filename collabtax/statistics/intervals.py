"""Means with intervals: Student's t, and a cluster bootstrap of one or two levels. Undefined is None, never nan."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from numpy.typing import ArrayLike

from collabtax.statistics.rows import FloatArray, K

SEED = 20260
DRAWS = 2000
_CELLS = 2_000_000  # numbers in one block of resampling weights (16 MB)

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
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        ratio = difference(means) / means[..., 0]
    return np.where(np.isfinite(ratio), ratio, np.nan)


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
    _check_level(level)
    sample = np.sort(np.asarray(list(values), dtype=np.float64))
    method, n = f"{100 * level:g}% t over {unit}", sample.size
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


def replicates(
    clusters: Mapping[K, ArrayLike], statistic: Statistic, *, seed: int = SEED, draws: int = DRAWS
) -> FloatArray:
    """The statistic in `draws` resamples of whole clusters, shape (draws,); nan where undefined.

    A cluster is an array (n,) or (n, d) of rows that belong together. A resample takes as many clusters as there are,
    with replacement, and one drawn k times counts k times. The statistic sees the column means over all rows drawn,
    so clusters weigh by their rows; give one row a cluster to weigh them alike.

    Raises:
        ValueError: no clusters, an empty or ragged one, numbers that are not finite, or `draws` < 1.
    """
    tables = _tables(clusters)
    sums = np.array([table.sum(axis=0) for table in tables])
    return _resample(sums, np.array([float(len(table)) for table in tables]), statistic, seed, draws)


def bootstrap(
    clusters: Mapping[K, ArrayLike],
    statistic: Statistic,
    *,
    seed: int = SEED,
    draws: int = DRAWS,
    level: float = 0.95,
    unit: str = "clusters",
) -> Estimate:
    """The statistic with a percentile interval from resampling whole clusters; see `replicates` for shapes and errors.

    No clusters: undefined. One cluster: no interval, and none when the statistic is undefined in more than half of
    the resamples (fewer such are left out). The order of clusters and of the rows in them does not matter.
    """
    method = _method(level, unit, draws)
    if not clusters:
        return undefined(method)
    rows = np.concatenate(_tables(clusters))
    found = replicates(clusters, statistic, seed=seed, draws=draws)
    return _percentiles(_at(statistic, rows), found, level, len(rows), len(clusters), method)


def nested_bootstrap(
    clusters: Mapping[K, ArrayLike],
    statistic: Statistic,
    *,
    seed: int = SEED,
    draws: int = DRAWS,
    level: float = 0.95,
    units: tuple[str, str] = ("tasks", "seeds"),
) -> Estimate:
    """Mean over clusters of each cluster's statistic, resampling clusters and then the rows within each one drawn.

    For the tax over several tasks: a cluster is a task, (n, 2) rows of solo and homo scores by seed, and each task
    weighs the same whatever its n. Clusters whose statistic is undefined are left out of the mean. A single cluster
    cannot be resampled: then its rows are, and `clusters` and `method` say so. With fewer than about eight clusters
    the interval tends to be too narrow, as any percentile interval from so few units is. Errors as in `replicates`.
    """
    outer, inner = units
    if not clusters:
        return undefined(_method(level, f"{outer} then {inner}", draws))
    tables = _tables(clusters)
    n, rows = len(tables), sum(map(len, tables))
    values = np.array([_at(statistic, table) for table in tables])
    pools = np.array([_resample(table, np.ones(len(table)), statistic, seed, draws) for table in tables])
    if n == 1:
        return _percentiles(values[0], pools[0], level, rows, rows, _method(level, f"{inner}{only_one(outer)}", draws))
    # Each slot takes its own row of its task's pool: tasks of one length share weights, which must not line up.
    rng = np.random.default_rng([seed, n, draws])
    slots = pools[rng.integers(n, size=(draws, n)), rng.integers(draws, size=(draws, n))]
    return _percentiles(
        _defined_mean(values[None])[0],
        _defined_mean(slots),
        level,
        rows,
        n,
        _method(level, f"{outer} then {inner}", draws),
    )


def only_one(unit: str) -> str:
    """What a method says when there was one of the outer units and the inner ones had to do."""
    return f", one of the {unit} only"


def _check_level(level: float) -> None:
    if not 0 < level < 1:
        raise ValueError(f"level {level} is not between 0 and 1")


def _method(level: float, unit: str, draws: int) -> str:
    _check_level(level)
    if draws < 1:
        raise ValueError(f"draws must be at least 1, not {draws}")
    return f"{100 * level:g}% bootstrap over {unit} ({draws} draws)"


def _tables(clusters: Mapping[K, ArrayLike]) -> list[FloatArray]:
    """Clusters by sorted key as arrays (n, d), their rows sorted too: nothing may depend on the order of either."""
    tables = []
    for key in sorted(clusters):
        table = np.asarray(clusters[key], dtype=np.float64)
        table = table[:, None] if table.ndim == 1 else table
        if table.ndim != 2 or not table.size or not np.isfinite(table).all():
            raise ValueError(f"cluster {key!r}: rows of finite numbers expected, got shape {table.shape}")
        tables.append(table[np.lexsort(table.T[::-1])])
    if not tables or len({table.shape[1] for table in tables}) > 1:
        raise ValueError("there must be clusters, with equally many columns each")
    return tables


def _at(statistic: Statistic, table: FloatArray) -> float:
    return float(statistic(table.mean(axis=0, keepdims=True))[0])


@lru_cache(maxsize=8)
def _weights(units: int, rows: int, block: int, seed: int) -> FloatArray:
    """How often each of `units` is drawn in each of `rows` resamples; cached, as most cells have as many seeds."""
    drawn = np.random.default_rng([seed, units, block]).integers(units, size=(rows, units))
    drawn += units * np.arange(rows)[:, None]
    counts = np.bincount(drawn.ravel(), minlength=rows * units).reshape(rows, units).astype(np.float64)
    counts.setflags(write=False)
    return counts


def _resample(sums: FloatArray, counts: FloatArray, statistic: Statistic, seed: int, draws: int) -> FloatArray:
    """The statistic in each resample of the units with these column sums (k, d) and row counts (k,)."""
    if draws < 1:
        raise ValueError(f"draws must be at least 1, not {draws}")
    units = len(sums)
    step = max(1, _CELLS // units)
    found = []
    for block, start in enumerate(range(0, draws, step)):
        weights = _weights(units, min(step, draws - start), block, seed)
        found.append(statistic((weights @ sums) / (weights @ counts)[:, None]))
    return np.concatenate(found)


def _defined_mean(values: FloatArray) -> FloatArray:
    """Mean over the last axis of what is not nan; nan where nothing is left."""
    defined = ~np.isnan(values)
    count = defined.sum(axis=-1)
    total = np.where(defined, values, 0.0).sum(axis=-1)
    return np.where(count > 0, total / np.maximum(count, 1), np.nan)


def _percentiles(value: float, found: FloatArray, level: float, n: int, clusters: int, method: str) -> Estimate:
    if not np.isfinite(value):
        return Estimate(None, None, None, n, clusters, method)
    draws, found = found.size, found[np.isfinite(found)]
    if clusters < 2 or 2 * found.size < draws:
        return Estimate(float(value), None, None, n, clusters, method)
    low, high = np.quantile(found, [0.5 - level / 2, 0.5 + level / 2])
    return Estimate(float(value), float(low), float(high), n, clusters, method)
