"""The input of every estimator: one scored rollout a row, and the one way in which rows become clusters."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from numbers import Real
from typing import TYPE_CHECKING, TypedDict, TypeVar

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from _typeshed import SupportsRichComparison

K = TypeVar("K", bound="SupportsRichComparison")
R = TypeVar("R")
FloatArray = NDArray[np.float64]

MEMBERS: Mapping[str, int] = {"solo": 1, "half": 1, "homo": 2, "hetero": 2}


@dataclass(frozen=True, slots=True)
class Scored:
    """One rollout that counts.

    `models` holds the one model of a solo or half rollout, (m, m) of a homo one, (initiator, responder) of a hetero
    one. `condition` is the intervention; for half rollouts the view (`view1`, `view2`). `seed` fixes instance and
    partition, so rows of one task with one seed are paired. `score` lies in [0, 1].

    Raises:
        ValueError: an unknown mode, models that do not fit it, a score outside [0, 1] or not a number.
    """

    task: str
    family: str
    mode: str
    models: tuple[str, ...]
    condition: str
    seed: int
    score: float

    def __post_init__(self) -> None:
        if self.mode not in MEMBERS:
            raise ValueError(f"mode {self.mode!r} is none of {', '.join(MEMBERS)}")
        alike = len(set(self.models)) == 1
        if len(self.models) != MEMBERS[self.mode] or alike == (self.mode == "hetero"):
            raise ValueError(f"models {self.models!r} do not fit mode {self.mode}")
        if not (isinstance(self.score, Real) and 0.0 <= self.score <= 1.0):  # also refuses nan
            raise ValueError(f"score {self.score!r} of {self.task} at seed {self.seed} is not in [0, 1]")


class Choice(TypedDict, total=False):
    """What enters an estimator: the `condition` of the team rows and the `solo_condition` of the solo rows, None (as
    when left out) if there is just one; `include_intractable` lets tasks into means that are not solved alone."""

    condition: str | None
    solo_condition: str | None
    include_intractable: bool


def partition(rows: Iterable[R], by: Callable[[R], K]) -> dict[K, list[R]]:
    """Group rows into the clusters `by` names; every clustered statistic groups its rows here.

    Keys come sorted; rows keep their order within a cluster. No rows give no clusters; clusters are never empty.
    """
    clusters: dict[K, list[R]] = {}
    for row in rows:
        clusters.setdefault(by(row), []).append(row)
    return {key: clusters[key] for key in sorted(clusters)}


def entering(rows: Iterable[Scored], modes: Sequence[str], choice: Choice) -> tuple[list[Scored], list[Scored]]:
    """The solo rows and the team rows, of `modes`, that a choice lets in. Raises as `one_condition` does."""
    rows = list(rows)
    solo = one_condition((row for row in rows if row.mode == "solo"), choice.get("solo_condition"))
    return solo, one_condition((row for row in rows if row.mode in modes), choice.get("condition"))


def one_condition(rows: Iterable[Scored], condition: str | None) -> list[Scored]:
    """The rows of `condition`; with None all of them, provided that they share one.

    Raises:
        ValueError: `condition` is None and there are several; averaging over them would answer no question.
    """
    rows = list(rows)
    if condition is not None:
        return [row for row in rows if row.condition == condition]
    present = sorted({row.condition for row in rows})
    if len(present) > 1:
        raise ValueError(f"{rows[0].mode} rows are of several conditions, name one: {', '.join(present)}")
    return rows


def paired(*cells: Sequence[Scored]) -> tuple[FloatArray, int]:
    """Line up d cells of one task by seed.

    Returns:
        Scores as an array (n, d), one line for each seed that all cells have, seeds ascending; and the number of
        rows, over all cells, whose seed is not among these.

    Raises:
        ValueError: a cell has two rows of one seed (it would count twice without anyone noticing).
    """
    columns = [{row.seed: row.score for row in cell} for cell in cells]
    for cell, column in zip(cells, columns, strict=True):
        if len(column) != len(cell):
            raise ValueError(f"{cell[0].task}, {cell[0].mode}, {' x '.join(cell[0].models)}: a seed occurs twice")
    seeds = sorted(set.intersection(*(set(column) for column in columns)))
    table = np.array([[column[seed] for column in columns] for seed in seeds], dtype=np.float64)
    return table.reshape(len(seeds), len(cells)), sum(map(len, cells)) - len(seeds) * len(cells)
