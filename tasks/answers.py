"""Kinds of answers: for each what its reader may know (`Form`) and what its grading rule needs (`Key`).

Structured answers are plain JSON: a path is a list of cells `[a, b]` as written, in whatever scheme; queries are a
mapping from query name to `[subject, relation, object]`; slots are a mapping from event to a time `HH:MM` in UTC.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar

Cell = tuple[int, int]


@dataclass(frozen=True)
class PathForm:
    """A sequence of cells with `dims` coordinates each."""

    kind: ClassVar[str] = "path"
    dims: int = 2


@dataclass(frozen=True)
class QueryForm:
    """One `[subject, relation, object]` for each query. `words` maps each way to name a relation to the relation;
    `inverse` maps a relation to the one that holds with subject and object exchanged."""

    kind: ClassVar[str] = "queries"
    queries: Mapping[str, tuple[str, str]]  # query name -> (subject, object)
    words: Mapping[str, str]
    inverse: Mapping[str, str]


@dataclass(frozen=True)
class SlotForm:
    """One time `HH:MM` in UTC for each event."""

    kind: ClassVar[str] = "slots"
    events: tuple[str, ...]


Form = PathForm | QueryForm | SlotForm


@dataclass(frozen=True)
class PathKey:
    """`step(walked, cell)` says why `cell` may not follow the cells walked so far, or None if it may; it is only
    asked about cells inside the grid. `optimal` is the number of moves of a shortest path, at least 1."""

    height: int
    width: int
    start: Cell
    goal: Cell
    optimal: int
    step: Callable[[Sequence[Cell], Cell], str | None]


@dataclass(frozen=True)
class QueryKey:
    """The one right value of each query."""

    truth: Mapping[str, tuple[str, str, str]]


@dataclass(frozen=True)
class SlotKey:
    """For each event the times at which everybody it needs is there, never empty."""

    feasible: Mapping[str, frozenset[str]]


Key = PathKey | QueryKey | SlotKey
