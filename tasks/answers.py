"""Kinds of answers: for each what its reader may know (`Form`) and what its grading rule needs (`Key`).

Structured answers are plain JSON, as each form says. Names are spelled as in the form; cells are lists of whole numbers
as they were written, in whatever scheme.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, fields
from typing import Any, ClassVar

Cell = tuple[int, ...]


# Forms


@dataclass(frozen=True)
class PathForm:
    """`[[a, b], ...]`: cells in order, with `dims` coordinates each. `unit`: each shares a side with the one before.
    `waits`: a cell may follow itself."""

    kind: ClassVar[str] = "path"
    dims: int = 2
    unit: bool = True
    waits: bool = False


@dataclass(frozen=True)
class PathsForm:
    """`{walker: [[a, b], ...]}`: one path for each of `walkers`."""

    kind: ClassVar[str] = "paths"
    walkers: tuple[str, ...]
    waits: bool = False


@dataclass(frozen=True)
class CellsForm:
    """`[[a, b], ...]`: a set of cells; their order says nothing."""

    kind: ClassVar[str] = "cells"


@dataclass(frozen=True)
class TrailForm:
    """`[[u, v], ...]`: edges between known nodes, in order, each with its ends as written."""

    kind: ClassVar[str] = "trail"
    nodes: tuple[str, ...]


@dataclass(frozen=True)
class GroupsForm:
    """`[[a, b, c], ...]`: a set of groups of `size` names each; neither order says anything."""

    kind: ClassVar[str] = "groups"
    names: tuple[str, ...]
    size: int


@dataclass(frozen=True)
class OrderForm:
    """`[a, b, c]`: known items in order. `circular`: the order is closed, any item may come first. `length` of them,
    all if 0."""

    kind: ClassVar[str] = "order"
    items: tuple[str, ...]
    circular: bool = False
    length: int = 0


@dataclass(frozen=True)
class NumberForm:
    """`42`: a whole number."""

    kind: ClassVar[str] = "number"


@dataclass(frozen=True)
class TextForm:
    """`"MEET AT NOON"`: a text of about `length` characters, in capitals, words parted by single blanks."""

    kind: ClassVar[str] = "text"
    length: int


@dataclass(frozen=True)
class GridForm:
    """`["CAT#", ...]`: the lines of a grid of letters in capitals, `#` where none belongs."""

    kind: ClassVar[str] = "grid"
    height: int
    width: int


@dataclass(frozen=True)
class Field:
    """What one item takes: a `name` out of `options`; `names`, a set of them, maybe empty; an `order` of them; or a
    `number`. JSON: a text, a list of texts, a list of texts, a whole number."""

    kind: str
    options: tuple[str, ...] = ()


@dataclass(frozen=True)
class FieldsForm:
    """`{item: value}`: one value for each item, of the kind that its `Field` says."""

    kind: ClassVar[str] = "fields"
    items: Mapping[str, Field]


@dataclass(frozen=True)
class TableForm:
    """`{"row column": option}`, or `{row: option}` with a single column: one option for each cell of a table.

    An option belongs to one column only, so that a row may list its options in any order."""

    kind: ClassVar[str] = "table"
    rows: tuple[str, ...]
    columns: Mapping[str, tuple[str, ...]]  # column -> its options

    def cell(self, row: str, column: str) -> str:
        """The key under which the answer holds a cell."""
        return f"{row} {column}" if len(self.columns) > 1 else row


@dataclass(frozen=True)
class QueryForm:
    """`{query: [subject, relation, object]}`. `words` maps each way to name a relation to the relation; `inverse` maps
    a relation to the one that holds with subject and object exchanged."""

    kind: ClassVar[str] = "queries"
    queries: Mapping[str, tuple[str, str]]  # query name -> (subject, object)
    words: Mapping[str, str]
    inverse: Mapping[str, str]


@dataclass(frozen=True)
class SlotForm:
    """`{event: "HH:MM"}`: a time in UTC for each event."""

    kind: ClassVar[str] = "slots"
    events: tuple[str, ...]


Form = (
    PathForm | PathsForm | CellsForm | TrailForm | GroupsForm | OrderForm | NumberForm | TextForm | GridForm
    | FieldsForm | TableForm | QueryForm | SlotForm
)  # fmt: skip
FORMS: dict[str, type[Any]] = {form.kind: form for form in Form.__args__}


def as_data(form: Form) -> dict[str, Any]:
    """A form as JSON."""

    def plain(value: Any) -> Any:
        if isinstance(value, Field):
            return {"kind": value.kind, "options": list(value.options)}
        if isinstance(value, Mapping):
            return {k: plain(v) for k, v in value.items()}
        return [plain(v) for v in value] if isinstance(value, tuple) else value

    return {"kind": form.kind, **{f.name: plain(getattr(form, f.name)) for f in fields(form)}}


def from_data(data: Mapping[str, Any]) -> Form:
    """Inverse of `as_data`. Raises ValueError or TypeError for what is no form."""

    def frozen(value: Any) -> Any:
        if isinstance(value, Mapping):
            if set(value) == {"kind", "options"}:
                return Field(value["kind"], tuple(value["options"]))
            return {k: frozen(v) for k, v in value.items()}
        return tuple(frozen(v) for v in value) if isinstance(value, list) else value

    if data.get("kind") not in FORMS:
        raise ValueError(f"kind {data.get('kind')!r} is none of {', '.join(FORMS)}")
    form: Form = FORMS[data["kind"]](**{k: frozen(v) for k, v in data.items() if k != "kind"})
    return form


# Keys

Step = Callable[[Sequence[Cell], Cell], str | None]  # (cells walked so far, next cell) -> why it may not follow


@dataclass(frozen=True)
class PathKey:
    """`step(walked, cell)` says why `cell` may not follow the cells walked so far, or None if it may; it is only asked
    about cells inside the grid. `optimal` is the number of moves of a shortest path, at least 1. With `waits` a cell
    may follow itself or come again, and `optimal` counts the waiting."""

    shape: tuple[int, ...]
    start: Cell
    goal: Cell
    optimal: int
    step: Step
    waits: bool = False


@dataclass(frozen=True)
class CostKey:
    """A path that should be cheap: `cost` of entering a cell, above 0; `optimal` the least cost of a path."""

    path: PathKey
    cost: Callable[[Cell], int]
    optimal: int


@dataclass(frozen=True)
class JointKey:
    """Walkers that move at the same time, each from its start to its goal. `blocked` cells bar all. Two may not be in
    one cell, nor exchange cells; each may wait or go back. `optimal` is the least number of steps until all have
    arrived."""

    shape: tuple[int, ...]
    ends: Mapping[str, tuple[Cell, Cell]]
    blocked: frozenset[Cell]
    optimal: int


@dataclass(frozen=True)
class LinksKey:
    """Pairs of cells to be joined by paths that share no cell with each other, past `blocked` cells."""

    shape: tuple[int, ...]
    ends: Mapping[str, tuple[Cell, Cell]]
    blocked: frozenset[Cell]


@dataclass(frozen=True)
class RouteKey:
    """The one right sequence of cells, none following itself."""

    shape: tuple[int, ...]
    cells: tuple[Cell, ...]


@dataclass(frozen=True)
class CellsKey:
    """The right set of cells, not empty."""

    shape: tuple[int, ...]
    cells: frozenset[Cell]


@dataclass(frozen=True)
class EdgesKey:
    """Undirected edges of a multigraph, all of which a trail should walk once; at least one."""

    edges: tuple[tuple[str, str], ...]


@dataclass(frozen=True)
class GroupsKey:
    """The right set of groups of names, not empty."""

    groups: frozenset[frozenset[str]]


@dataclass(frozen=True)
class OrderKey:
    """The right order of at least two items."""

    order: tuple[str, ...]


@dataclass(frozen=True)
class NumberKey:
    number: int


@dataclass(frozen=True)
class TextKey:
    """Capitals and single blanks, not empty."""

    text: str


@dataclass(frozen=True)
class GridKey:
    """Lines of capitals, `#` where no letter belongs; at least one letter."""

    rows: tuple[str, ...]


Value = str | int | frozenset[str] | tuple[str, ...]  # a name, a number, a set of names, an order of names


@dataclass(frozen=True)
class FieldsKey:
    """The one right value of each item."""

    truth: Mapping[str, Value]


@dataclass(frozen=True)
class ChoiceKey:
    """For each item the values that are right, never none."""

    right: Mapping[str, frozenset[str]]


@dataclass(frozen=True)
class BinsKey:
    """Items with their `sizes`, bins with their `capacities`, pairs of items that must share a bin or must not."""

    sizes: Mapping[str, int]
    capacities: Mapping[str, int]
    together: tuple[tuple[str, str], ...]
    apart: tuple[tuple[str, str], ...]


@dataclass(frozen=True)
class Constraint:
    """`holds` is asked about an answer that gives every one of `needs` a known option."""

    needs: tuple[str, ...]
    holds: Callable[[Mapping[str, str]], bool]
    told: str


@dataclass(frozen=True)
class ConstraintsKey:
    """For each item its options, and what the answer as a whole has to satisfy; at least one constraint."""

    options: Mapping[str, tuple[str, ...]]
    constraints: tuple[Constraint, ...]


Key = (
    PathKey | CostKey | JointKey | LinksKey | RouteKey | CellsKey | EdgesKey | GroupsKey | OrderKey | NumberKey
    | TextKey | GridKey | FieldsKey | ChoiceKey | BinsKey | ConstraintsKey
)  # fmt: skip
