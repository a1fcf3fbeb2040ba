"""Mixed pairs as cooperative games (paper, section 6 and appendix A): tax, Shapley shares, what the seats change."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import combinations
from math import comb, fsum, isfinite
from typing import NamedTuple, TypeVar

import numpy as np

from collabtax.statistics.intervals import (
    DRAWS,
    SEED,
    Estimate,
    bootstrap,
    difference,
    nested_bootstrap,
    only_one,
    t_interval,
)
from collabtax.statistics.rows import FloatArray, Scored, one_condition, paired, partition
from collabtax.statistics.tax import TRACTABLE, is_tractable, one_family

P = TypeVar("P")
_ROUNDING = 1e-9  # two means that differ by less are equal


class Spread(NamedTuple):
    """Paired differences on one task: their mean, their standard deviation over seeds (None for one), how many."""

    mean: float
    sd: float | None
    n: int

    @classmethod
    def of(cls, differences: FloatArray) -> Spread:
        n = len(differences)
        return cls(float(differences.mean()), float(differences.std(ddof=1)) if n > 1 else None, n)


@dataclass(frozen=True, slots=True)
class PairRow:
    """One ordered pair (initiator, responder), a line of the paper's table 2; means over tasks of means by task.

    `tax` is that of equation 4 on each task, the better member's score minus the pair's, and then the mean. It is never
    smaller than max(v1, v2) - v12 of this row, and larger when the better member changes between tasks. A positive tax
    is a failure of max-superadditivity (proposition 2); `tasks_violated` counts the tasks out of `tasks` that have one.
    `phi1` and `phi2` are the Shapley shares. `left_out` says why a task that the pair played does not enter. `spreads`
    are of the tax, a task each.
    """

    models: tuple[str, str]
    v1: Estimate
    v2: Estimate
    v12: Estimate
    tax: Estimate
    phi1: Estimate
    phi2: Estimate
    tasks_violated: int
    tasks: tuple[str, ...]
    left_out: dict[str, str]
    spreads: tuple[Spread, ...] = ()


@dataclass(frozen=True, slots=True)
class TeamGap:
    """A place in the map of initiators and responders (paper, figure 9); two copies of a model are on its diagonal.

    `score` is the team's, `ratio` its ratio gap, (better member's solo - team) / better member's solo by task; both are
    means over `tasks`, `ratio` over those of them where it is defined.
    """

    models: tuple[str, str]
    score: Estimate
    ratio: Estimate
    tasks: tuple[str, ...]


class Point(NamedTuple):
    """A mixed pair on a task: the mean of its members' ratio gaps in teams of two copies, and its own ratio gap."""

    models: tuple[str, str]
    task: str
    midpoint: float
    gap: float


@dataclass(frozen=True, slots=True)
class AdditiveNull:
    """Gaps of mixed pairs against the midpoint of their members' (paper, section 6, figure 5).

    Were a pair's gap what its members bring along, half each, all points would lie on gap = midpoint. `slope`,
    `intercept` and `r2` are of the least squares line over all points, `below` is the mean of midpoint - gap. What is
    not defined (one point, equal midpoints) is None. `left_out` counts the (pair, task) that cannot enter.
    """

    points: tuple[Point, ...]
    slope: Estimate
    intercept: Estimate
    r2: Estimate
    below: Estimate
    left_out: int


def pair_table(
    rows: Iterable[Scored],
    *,
    condition: str | None = None,
    solo_condition: str | None = None,
    include_intractable: bool = False,
    level: float = 0.95,
    seed: int = SEED,
    draws: int = DRAWS,
) -> tuple[PairRow, ...]:
    """Every ordered pair with hetero rows, sorted by models; rows of other modes than solo and hetero are passed over.

    A task enters when some seed has a rollout of both solos and of the team, and, unless `include_intractable`, when
    the better member's solo mean over these seeds reaches the target. (Table 2 of the paper averages all its tasks.)
    Intervals resample tasks, then seeds with all three scores together; that of the tax inherits the upward bias of
    a maximum of estimated means where the members are close.

    Raises:
        ValueError: several conditions and none named, a seed twice in a cell, a task in two families.
    """
    over = partial(nested_bootstrap, level=level, seed=seed, draws=draws)
    result = []
    for (first, second), by_task in _teams(rows, ("hetero",), condition, solo_condition).items():
        tables, left_out = _tables(by_task, include_intractable)
        v1, v2, v12 = (over(tables, partial(_column, index)) for index in range(3))
        result.append(
            PairRow(
                models=(first, second),
                v1=v1,
                v2=v2,
                v12=v12,
                tax=over(tables, _team_tax),
                phi1=over(tables, partial(_share, 0)),
                phi2=over(tables, partial(_share, 1)),
                tasks_violated=sum(float(_team_tax(table.mean(axis=0))) > _ROUNDING for table in tables.values()),
                tasks=tuple(tables),
                left_out=left_out,
                spreads=tuple(
                    Spread.of(table[:, table[:, :2].mean(axis=0).argmax()] - table[:, 2]) for table in tables.values()
                ),
            )
        )
    return tuple(result)


def team_map(
    rows: Iterable[Scored],
    *,
    condition: str | None = None,
    solo_condition: str | None = None,
    include_intractable: bool = False,
    level: float = 0.95,
    seed: int = SEED,
    draws: int = DRAWS,
) -> dict[tuple[str, str], TeamGap]:
    """Every team that was run, two copies of a model and mixed pairs, by initiator and responder.

    Tasks enter as in `pair_table`, of which it raises the errors too; intervals resample tasks, then seeds.
    """
    over = partial(nested_bootstrap, level=level, seed=seed, draws=draws)
    result = {}
    for models, by_task in _teams(rows, ("homo", "hetero"), condition, solo_condition).items():
        tables, _ = _tables(by_task, include_intractable)
        with_ratio = {task: table for task, table in tables.items() if table[:, :2].mean(axis=0).max() > 0}
        result[models] = TeamGap(
            models, over(tables, partial(_column, 2)), over(with_ratio, _team_ratio), tuple(tables)
        )
    return result


def additive_null(
    rows: Iterable[Scored],
    *,
    condition: str | None = None,
    solo_condition: str | None = None,
    include_intractable: bool = False,
    level: float = 0.95,
    seed: int = SEED,
    draws: int = DRAWS,
) -> AdditiveNull:
    """Mixed pairs beside the midpoint of their members; points in the order of models and tasks.

    A (pair, task) enters over the seeds that both solos, both teams of two copies and the pair have, when there is one,
    all three gaps are defined (no solo mean is 0) and, unless `include_intractable`, the better member solves the task
    alone. Intervals resample whole tasks; one task has none. Raises as `pair_table` does.
    """
    rows = list(rows)
    teams = _teams(rows, ("homo", "hetero"), condition, solo_condition)
    points, left_out = [], 0
    for models, by_task in teams.items():
        if models[0] == models[1]:
            continue
        for task, cells in by_task.items():
            copies = [teams.get((model, model), {}).get(task, ((), (), ()))[2] for model in models]
            table, _ = paired(*cells[:2], *copies, cells[2])
            means = table.mean(axis=0) if len(table) else np.zeros(5)
            if means[:2].min() > 0 and (include_intractable or is_tractable(float(means[:2].max()))):
                own, team = 1 - means[2:4] / means[:2], 1 - means[4] / means[:2].max()
                points.append(Point(models, task, float(own.mean()), float(team)))
            else:
                left_out += 1
    lines: dict[str, list[tuple[float, ...]]] = {}
    for p in points:
        lines.setdefault(p.task, []).append((p.midpoint, p.gap, p.midpoint**2, p.midpoint * p.gap, p.gap**2))
    over = partial(bootstrap, level=level, seed=seed, draws=draws, unit="tasks")
    slope, intercept, r2 = (over(lines, statistic) for statistic in (_slope, _intercept, _r2))
    return AdditiveNull(tuple(points), slope, intercept, r2, over(lines, difference), left_out)


def seat_asymmetry(
    rows: Iterable[Scored],
    a: str,
    b: str,
    *,
    condition: str | None = None,
    level: float = 0.95,
    seed: int = SEED,
    draws: int = DRAWS,
) -> Estimate:
    """How much better the pair does with `b` as responder: score of (a, b) minus that of (b, a), in [-1, 1].

    Paired by task and seed; mean over the tasks that both orders played, each weighing the same, resampling tasks and
    then seeds. One task: t interval over its seeds, as `method` says. No common seed: undefined. Swapping `a` and `b`
    swaps the sign of the value. Raises as `pair_table` does.
    """
    teams = one_condition((row for row in rows if row.mode == "hetero" and set(row.models) == {a, b}), condition)
    tables = {}
    for task, team in partition(teams, lambda row: row.task).items():
        orders = partition(team, lambda row: row.models)
        table, _ = paired(orders.get((a, b), []), orders.get((b, a), []))
        if len(table):
            tables[task] = table
    if len(tables) == 1:
        ((table,),) = [tables.values()]
        return t_interval(table[:, 0] - table[:, 1], level, unit="seeds" + only_one("tasks"))
    return nested_bootstrap(tables, difference, level=level, seed=seed, draws=draws)


def shapley(v: Mapping[frozenset[P], float]) -> dict[P, float]:
    """Shapley value of every player of the game `v`, in any unit (paper, proposition 3, for any number of players).

    `v` gives the worth of each coalition of the players it mentions; the empty one may be left out and is worth 0.
    The values sum to the worth of all players together. Players come in the order of their names.

    Raises:
        ValueError: a coalition is missing, its worth is not finite, or the empty one is worth something.
    """
    players = sorted({player for coalition in v for player in coalition}, key=str)
    if v.get(frozenset(), 0.0) != 0:
        raise ValueError("the empty coalition must be worth 0")
    if odd := [coalition for coalition in v if not isfinite(v[coalition])]:
        raise ValueError(f"the worth of the coalition {sorted(odd[0], key=str)} is not finite")
    worth = {**v, frozenset[P](): 0.0}
    n, result = len(players), {}
    for player in players:
        others = [other for other in players if other != player]
        terms = []
        for size in range(n):
            for chosen in combinations(others, size):
                coalition = frozenset(chosen)
                try:
                    gain = worth[coalition | {player}] - worth[coalition]
                except KeyError as missing:
                    raise ValueError(f"no worth for the coalition {sorted(missing.args[0], key=str)}") from None
                terms.append(gain / (n * comb(n - 1, size)))
        result[player] = fsum(terms)
    return result


_Cells = tuple[
    Sequence[Scored], Sequence[Scored], Sequence[Scored]
]  # solo of the initiator, of the responder, the team


def _teams(
    rows: Iterable[Scored], modes: Sequence[str], condition: str | None, solo_condition: str | None
) -> dict[tuple[str, str], dict[str, _Cells]]:
    """The cells of every team of these modes by task, teams sorted by models, with the solos of its members."""
    rows = list(rows)
    solos = partition(
        one_condition((row for row in rows if row.mode == "solo"), solo_condition),
        lambda row: (row.models[0], row.task),
    )
    teams = partition(
        one_condition((row for row in rows if row.mode in modes), condition), lambda row: (row.models, row.task)
    )
    result: dict[tuple[str, str], dict[str, _Cells]] = {}
    for ((first, second), task), team in teams.items():
        cells = solos.get((first, task), []), solos.get((second, task), []), team
        one_family([row for cell in cells for row in cell])
        result.setdefault((first, second), {})[task] = cells
    return result


def _tables(by_task: Mapping[str, _Cells], include_intractable: bool) -> tuple[dict[str, FloatArray], dict[str, str]]:
    """Scores (n, 3) of the tasks that enter, by seed: both solos, the team; and why each other task does not."""
    tables: dict[str, FloatArray] = {}
    left_out = {}
    for task, cells in by_task.items():
        table, _ = paired(*cells)
        if not len(table):
            left_out[task] = "no seed with both solo rollouts and one of the team"
            continue
        best = float(table[:, :2].mean(axis=0).max())
        if is_tractable(best) or include_intractable:
            tables[task] = table
        else:
            left_out[task] = f"better solo mean {best:.3f} is under {TRACTABLE}"
    return tables, left_out


def _column(index: int, means: FloatArray) -> FloatArray:
    return means[..., index]


def _team_tax(means: FloatArray) -> FloatArray:
    return np.maximum(means[..., 0], means[..., 1]) - means[..., 2]


def _share(member: int, means: FloatArray) -> FloatArray:
    """Equation 9: half of what the member has alone, plus the team's, minus the other's."""
    return (means[..., member] + means[..., 2] - means[..., 1 - member]) / 2


def _team_ratio(means: FloatArray) -> FloatArray:
    """The team's tax over the better member's solo; nan where that is 0."""
    best = np.maximum(means[..., 0], means[..., 1])
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        ratio = (best - means[..., 2]) / best
    return np.where(np.isfinite(ratio), ratio, np.nan)


def _moments(means: FloatArray) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Covariance and both variances from the mean columns x, y, x * x, x * y, y * y; a variance of 0 is nan."""
    x, y, xx, xy, yy = (means[..., i] for i in range(5))
    of_x, of_y = (np.where(v > _ROUNDING, v, np.nan) for v in (xx - x * x, yy - y * y))
    return xy - x * y, of_x, of_y


def _slope(means: FloatArray) -> FloatArray:
    shared, of_x, _ = _moments(means)
    return shared / of_x


def _intercept(means: FloatArray) -> FloatArray:
    return means[..., 1] - _slope(means) * means[..., 0]


def _r2(means: FloatArray) -> FloatArray:
    shared, of_x, of_y = _moments(means)
    return shared * shared / (of_x * of_y)
