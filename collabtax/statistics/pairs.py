"""Mixed pairs as cooperative games (paper, section 6 and appendix A): tax, Shapley shares, what the seats change."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import partial
from itertools import combinations
from math import comb, fsum, isfinite
from typing import TypeVar

import numpy as np

from collabtax.statistics.intervals import DRAWS, SEED, Estimate, difference, nested_bootstrap, only_one, t_interval
from collabtax.statistics.rows import FloatArray, Scored, one_condition, paired, partition
from collabtax.statistics.tax import TRACTABLE, is_tractable, one_family

P = TypeVar("P")
_ROUNDING = 1e-9  # two means that differ by less are equal


@dataclass(frozen=True, slots=True)
class PairRow:
    """One ordered pair (initiator, responder), a line of the paper's table 2; means over tasks of means by task.

    `tax` is that of equation 4 on each task, the better member's score minus the pair's, and then the mean. It is never
    smaller than max(v1, v2) - v12 of this row, and larger when the better member changes between tasks. A positive tax
    is a failure of max-superadditivity (proposition 2); `tasks_violated` counts the tasks out of `tasks` that have one.
    `phi1` and `phi2` are the Shapley shares. `left_out` says why a task that the pair played does not enter.
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
    rows = list(rows)
    solos = partition(
        one_condition((row for row in rows if row.mode == "solo"), solo_condition),
        lambda row: (row.models[0], row.task),
    )
    teams = partition(
        one_condition((row for row in rows if row.mode == "hetero"), condition), lambda row: (row.models, row.task)
    )
    over = partial(nested_bootstrap, level=level, seed=seed, draws=draws)
    played: dict[tuple[str, ...], dict[str, list[Scored]]] = {}
    for (models, task), team in teams.items():
        played.setdefault(models, {})[task] = team
    result = []
    for (first, second), by_task in played.items():
        tables: dict[str, FloatArray] = {}
        left_out = {}
        for task, team in by_task.items():
            cells = solos.get((first, task), []), solos.get((second, task), []), team
            one_family([row for cell in cells for row in cell])
            table, _ = paired(*cells)
            if not len(table):
                left_out[task] = "no seed with both solo rollouts and one of the team"
                continue
            best = float(table[:, :2].mean(axis=0).max())
            if is_tractable(best) or include_intractable:
                tables[task] = table
            else:
                left_out[task] = f"better solo mean {best:.3f} is under {TRACTABLE}"
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
            )
        )
    return tuple(result)


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


def _column(index: int, means: FloatArray) -> FloatArray:
    return means[..., index]


def _team_tax(means: FloatArray) -> FloatArray:
    return np.maximum(means[..., 0], means[..., 1]) - means[..., 2]


def _share(member: int, means: FloatArray) -> FloatArray:
    """Equation 9: half of what the member has alone, plus the team's, minus the other's."""
    return (means[..., member] + means[..., 2] - means[..., 1 - member]) / 2
