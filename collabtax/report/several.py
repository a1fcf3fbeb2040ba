"""Many numbers read at once: which differences stand when all of a table are (Holm), and how fine a table resolves."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from math import ceil
from statistics import fmean, median, median_low, variance

from collabtax.statistics import Estimate
from collabtax.statistics.pairs import Spread

LEVEL = 0.05
MOST = 100  # times the rollouts of now, beyond which a number of rollouts is no advice


def p_value(estimate: Estimate) -> float | None:
    """Two-sided p value of the t test against 0 that belongs to a 95 % t interval, hence below 0.05 exactly if that
    leaves 0 out. None without an interval, and where nothing varied: a width of zero does not tell chance from more."""
    from scipy.special import stdtr, stdtrit

    value, low, high = estimate.value, estimate.low, estimate.high
    if value is None or low is None or high is None or high - low <= 1e-9:
        return None
    df = estimate.clusters - 1
    return float(2 * stdtr(df, -abs(value) / ((high - low) / 2) * stdtrit(df, 1 - LEVEL / 2)))


def holm(ps: Sequence[float]) -> list[float]:
    """Holm's adjusted p values (1979): those of at most 0.05 hold together at an error rate of 5 % for all of `ps`."""
    adjusted, worst = [1.0] * len(ps), 0.0
    for rank, i in enumerate(sorted(range(len(ps)), key=lambda i: ps[i])):
        adjusted[i] = worst = max(worst, min(1.0, (len(ps) - rank) * ps[i]))
    return adjusted


def standing(estimates: Iterable[Estimate]) -> frozenset[Estimate]:
    """Those of the differences in a table that are told from 0 when all of them are read at once."""
    found = [(e, p) for e in estimates if (p := p_value(e)) is not None]
    adjusted = holm([p for _, p in found])
    return frozenset(e for (e, _), p in zip(found, adjusted, strict=True) if p <= LEVEL)


def resolved(lines: Iterable[tuple[Estimate, Sequence[Spread]]]) -> str:
    """Which difference a table resolves, and how many rollouts a cell would resolve half of it; "" if nobody can say.

    `lines` are the table's estimates, each with the spread of its paired differences on every task. What a table
    resolves is half of the width of its intervals, the median one; lines over less than half as many tasks as the one
    with the most are of another kind and not asked. More rollouts narrow the share that comes from
    seeds, not the one from tasks that differ: where that alone is too wide, only more tasks help.
    """
    usable = [
        (e, spreads)
        for e, spreads in lines
        if e.low is not None and e.high is not None and e.high > e.low and all(s.sd is not None for s in spreads)
    ]
    if not usable:
        return ""
    most = max(len(spreads) for _, spreads in usable)
    usable = [(e, spreads) for e, spreads in usable if 2 * len(spreads) >= most]
    half = median((e.high - e.low) / 2 for e, _ in usable if e.high is not None and e.low is not None)
    n = median_low(s.n for _, spreads in usable for s in spreads)
    tasks = median_low(len(spreads) for _, spreads in usable)
    noise = fmean(fmean((s.sd or 0.0) ** 2 / s.n for s in spreads) for _, spreads in usable)
    several = [spreads for _, spreads in usable if len(spreads) > 1]
    found = [
        variance(s.mean for s in spreads) - fmean((s.sd or 0.0) ** 2 / s.n for s in spreads) for spreads in several
    ]
    apart = max(0.0, fmean(found)) if found else 0.0
    said = (
        f"with {n} rollouts a cell this table resolves differences of {half:.3f} (half of a 95 % interval, the median)"
    )
    left = noise - 3 * apart  # the squared standard error is (apart + noise) / tasks, and only noise falls
    if 0 < 4 * noise <= MOST * left:
        return f"{said}; {ceil(n * 4 * noise / left - 1e-9)} would resolve {half / 2:.3f}"
    return (
        f"{said}; no number of rollouts would resolve {half / 2:.3f}, as tasks differ too much: it takes {4 * tasks} "
        f"tasks in place of {tasks}"
    )
