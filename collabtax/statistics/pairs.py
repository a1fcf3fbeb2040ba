"""Mixed pairs as cooperative games (paper, section 6 and appendix A): tax, Shapley shares, what the seats change."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import combinations
from math import comb, fsum, isfinite
from typing import NamedTuple, TypeVar, Unpack

import numpy as np

from collabtax.statistics.intervals import ROUNDING, Estimate, difference, jackknife, over, over_seeds, over_tasks
from collabtax.statistics.rows import Choice, FloatArray, Scored, entering, one_condition, paired, partition
from collabtax.statistics.tax import TRACTABLE, is_tractable, one_family

P = TypeVar("P")


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
class TaskGame:
    """A pair on one task: means of both solos and of the pair over their common seeds, and the tax, the better member's
    mean minus the pair's, over seeds. A positive tax violates max-superadditivity there (proposition 2). The better
    member is the one that came out better, so that the tax of members who are close is too large by chance."""

    task: str
    family: str
    v1: float
    v2: float
    v12: float
    tax: Estimate
    spread: Spread


@dataclass(frozen=True, slots=True)
class PairRow:
    """One ordered pair (initiator, responder), a line of the paper's table 2; means over tasks of means by task.

    `tax` is that of equation 4 on each task, the better member's score minus the pair's, and then the mean. It is never
    smaller than max(v1, v2) - v12 of this row, and larger when the better member changes between tasks. A positive tax
    is a failure of max-superadditivity (proposition 2); `tasks_violated` counts the tasks out of `tasks` that have one.
    `phi1` and `phi2` are the Shapley shares. `left_out` says why a task that the pair played does not enter. `by_task`
    holds those that do.
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
    by_task: tuple[TaskGame, ...] = ()


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


def pair_table(rows: Iterable[Scored], **choice: Unpack[Choice]) -> tuple[PairRow, ...]:
    """Every ordered pair with hetero rows, sorted by models; rows of other modes than solo and hetero are passed over.

    A task enters when some seed has a rollout of both solos and of the team, and, unless `include_intractable`, when
    the better member's solo mean over these seeds reaches the target. (Table 2 of the paper averages all its tasks.)
    Intervals are over the tasks' values, with one task over its seeds; that of the tax inherits the upward bias of a
    maximum of estimated means where the members are close.

    Raises:
        ValueError: several conditions and none named, a seed twice in a cell, a task in two families.
    """
    result = []
    for (first, second), by_task in _teams(rows, ("hetero",), choice).items():
        tables, left_out = _tables(by_task, choice)
        v1, v2, v12 = (over_tasks(tables, partial(_column, index)) for index in range(3))
        games = tuple(_game(task, by_task[task][2][0].family, table) for task, table in tables.items())
        result.append(
            PairRow(
                models=(first, second),
                v1=v1,
                v2=v2,
                v12=v12,
                tax=over_tasks(tables, _team_tax),
                phi1=over_tasks(tables, partial(_share, 0)),
                phi2=over_tasks(tables, partial(_share, 1)),
                tasks_violated=sum(game.tax.value is not None and game.tax.value > ROUNDING for game in games),
                tasks=tuple(tables),
                left_out=left_out,
                by_task=games,
            )
        )
    return tuple(result)


def team_map(rows: Iterable[Scored], **choice: Unpack[Choice]) -> dict[tuple[str, str], TeamGap]:
    """Every team that was run, two copies of a model and mixed pairs, by initiator and responder.

    Tasks enter as in `pair_table`, of which it has the intervals and raises the errors too.
    """
    result = {}
    for models, by_task in _teams(rows, ("homo", "hetero"), choice).items():
        tables, _ = _tables(by_task, choice)
        score, ratio = over_tasks(tables, partial(_column, 2)), over_tasks(tables, _team_ratio)
        result[models] = TeamGap(models, score, ratio, tuple(tables))
    return result


def additive_null(rows: Iterable[Scored], **choice: Unpack[Choice]) -> AdditiveNull:
    """Mixed pairs beside the midpoint of their members; points in the order of models and tasks.

    A (pair, task) enters over the seeds that both solos, both teams of two copies and the pair have, when there is one,
    all three gaps are defined (no solo mean is 0) and, unless `include_intractable`, the better member solves the task
    alone. Intervals leave out whole tasks; one task has none. Raises as `pair_table` does.
    """
    teams = _teams(rows, ("homo", "hetero"), choice)
    points, left_out = [], 0
    for models, by_task in teams.items():
        if models[0] == models[1]:
            continue
        for task, cells in by_task.items():
            copies = [teams.get((model, model), {}).get(task, ((), (), ()))[2] for model in models]
            table, _ = paired(*cells[:2], *copies, cells[2])
            means = table.mean(axis=0) if len(table) else np.zeros(5)
            if means[:2].min() > 0 and _enters(float(means[:2].max()), choice):
                own, team = 1 - means[2:4] / means[:2], 1 - means[4] / means[:2].max()
                points.append(Point(models, task, float(own.mean()), float(team)))
            else:
                left_out += 1
    lines = {
        task: [(p.midpoint, p.gap, p.midpoint**2, p.midpoint * p.gap, p.gap**2) for p in some]
        for task, some in partition(points, lambda p: p.task).items()
    }
    slope, intercept, r2, below = (
        jackknife(lines, statistic, unit="tasks") for statistic in (slope_of, _intercept, _r2, difference)
    )
    return AdditiveNull(tuple(points), slope, intercept, r2, below, left_out)


def seat_asymmetry(rows: Iterable[Scored], a: str, b: str, *, condition: str | None = None) -> Estimate:
    """How much better the pair does with `b` as responder: score of (a, b) minus that of (b, a), in [-1, 1].

    Paired by task and seed; mean over the tasks that both orders played, each weighing the same. One task: over its
    seeds, as `method` says. No common seed: undefined. Swapping `a` and `b` swaps the sign of the value. Raises as
    `pair_table` does.
    """
    teams = one_condition((row for row in rows if row.mode == "hetero" and set(row.models) == {a, b}), condition)
    tables = {}
    for task, team in partition(teams, lambda row: row.task).items():
        orders = partition(team, lambda row: row.models)
        table, _ = paired(orders.get((a, b), []), orders.get((b, a), []))
        if len(table):
            tables[task] = table
    return over_tasks(tables, difference)


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


def _teams(rows: Iterable[Scored], modes: Sequence[str], choice: Choice) -> dict[tuple[str, str], dict[str, _Cells]]:
    """The cells of every team of these modes by task, teams sorted by models, with the solos of its members."""
    alone, together = entering(rows, modes, choice)
    solos = partition(alone, lambda row: (row.models[0], row.task))
    result: dict[tuple[str, str], dict[str, _Cells]] = {}
    for ((first, second), task), team in partition(together, lambda row: (row.models, row.task)).items():
        cells = solos.get((first, task), []), solos.get((second, task), []), team
        one_family([row for cell in cells for row in cell])
        result.setdefault((first, second), {})[task] = cells
    return result


def _enters(best: float, choice: Choice) -> bool:
    """Whether a task enters on which the better member has this mean."""
    return is_tractable(best) or choice.get("include_intractable", False)


def _tables(by_task: Mapping[str, _Cells], choice: Choice) -> tuple[dict[str, FloatArray], dict[str, str]]:
    """Scores (n, 3) of the tasks that enter, by seed: both solos, the team; and why each other task does not."""
    tables: dict[str, FloatArray] = {}
    left_out = {}
    for task, cells in by_task.items():
        table, _ = paired(*cells)
        if not len(table):
            left_out[task] = "no seed with both solo rollouts and one of the team"
        elif _enters(best := float(table[:, :2].mean(axis=0).max()), choice):
            tables[task] = table
        else:
            left_out[task] = f"better solo mean {best:.3f} is under {TRACTABLE}"
    return tables, left_out


def _game(task: str, family: str, table: FloatArray) -> TaskGame:
    v1, v2, v12 = map(float, table.mean(axis=0))
    spread = Spread.of(table[:, int(v2 > v1)] - table[:, 2])
    return TaskGame(task, family, v1, v2, v12, over_seeds(table, _team_tax), spread)


def _column(index: int, means: FloatArray) -> FloatArray:
    return means[..., index]


def _team_tax(means: FloatArray) -> FloatArray:
    return np.maximum(means[..., 0], means[..., 1]) - means[..., 2]


def _share(member: int, means: FloatArray) -> FloatArray:
    """Equation 9: half of what the member has alone, plus the team's, minus the other's."""
    return (means[..., member] + means[..., 2] - means[..., 1 - member]) / 2


def _team_ratio(means: FloatArray) -> FloatArray:
    """The team's tax over the better member's solo; nan where that is 0."""
    return over(_team_tax(means), np.maximum(means[..., 0], means[..., 1]))


def _moments(means: FloatArray) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Covariance and both variances from the mean columns x, y, x * x, x * y, y * y; a variance of 0 is nan."""
    x, y, xx, xy, yy = (means[..., i] for i in range(5))
    of_x, of_y = (np.where(v > ROUNDING, v, np.nan) for v in (xx - x * x, yy - y * y))
    return xy - x * y, of_x, of_y


def slope_of(means: FloatArray) -> FloatArray:
    """Statistic: of the least squares line of y over x, from the mean columns x, y, x * x, x * y, y * y."""
    shared, of_x, _ = _moments(means)
    return shared / of_x


def _intercept(means: FloatArray) -> FloatArray:
    return means[..., 1] - slope_of(means) * means[..., 0]


def _r2(means: FloatArray) -> FloatArray:
    shared, of_x, of_y = _moments(means)
    return shared * shared / (of_x * of_y)
