"""Grids as agents see them: drawn in a frame, hidden in part, put together again; and what tasks on them share.

A grid is a tuple of lines from north to south, one character a cell from west to east; `?` is a cell that is unknown.
"""

from __future__ import annotations

import random
import re
from collections import Counter
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache, lru_cache
from typing import Any, ClassVar, TypeVar

from tasks.answers import Cell
from tasks.base import Task
from tasks.frames import SCHEMES, Frame, Scheme, disorient, orient

Rows = tuple[str, ...]
SIDES = {"north": (-1, 0), "west": (0, -1), "east": (0, 1), "south": (1, 0)}
OPPOSITE = {"north": "south", "south": "north", "west": "east", "east": "west"}
STATED = re.compile(
    r"first line is the (north|south|west|east) edge and each line runs from (\w+) to \w+; "
    r"a cell is \(line, place in the line\), both counted from ([01])"
)


# Telling and reading


@cache
def state(scheme: Scheme) -> str:
    """How a drawing along the axes of `scheme` lies on the ground, and how its cells are counted."""
    first, run = ("south", "north")[not scheme.flips[0]], ("east", "west")[not scheme.flips[1]]
    if scheme.order[0]:
        first, run = run, first
    return (
        f"The first line is the {first} edge and each line runs from {run} to {OPPOSITE[run]}; "
        f"a cell is (line, place in the line), both counted from {scheme.base}."
    )


def scheme_of(frame: Frame) -> Scheme:
    """The scheme in which a frame draws grids and writes cells."""
    return SCHEMES[frame.variant]


def heading(frame: Frame) -> list[str]:
    """The line that states the frame; none under natural friction."""
    return [] if frame.friction == "natural" else [state(scheme_of(frame))]


def stated(text: str) -> Scheme:
    """The scheme that `text` states, ours if it states none. Raises ValueError for one that no grid can lie in."""
    said = STATED.search(text)
    if said is None:
        return SCHEMES[0]
    scheme = next((s for s in SCHEMES if said[0] in state(s)), None)
    if scheme is None:
        raise ValueError(f"no grid lies like this: {said[0]}")
    return scheme


def told(rows: Rows, frame: Frame) -> str:
    """The drawing of a grid in a frame, cells parted by blanks."""
    return "\n".join(" ".join(row) for row in orient(rows, scheme_of(frame)))


@cache
def _drawn(marks: str) -> tuple[re.Pattern[str], re.Pattern[str]]:
    mark = f"[{re.escape(marks)}]"
    return re.compile(rf"(?:^[ \t>|`]*{mark}(?: {mark})+[ \t|`]*$\n?){{2,}}", re.M), re.compile(
        f"[^{re.escape(marks)}]"
    )


def read(text: str, marks: str, none: bool = False) -> Rows:
    """Inverse of `told` and `heading`: the first drawing with these marks. Raises ValueError if there is none, or gives
    an empty grid if there may be `none`."""
    drawing, other = _drawn(marks)
    found = drawing.search(text)
    if not found and none:
        return ()
    if not found:
        raise ValueError("no drawn grid in the text")
    rows = tuple(other.sub("", row) for row in found[0].strip("\n").split("\n"))
    if len({len(row) for row in rows}) != 1:
        raise ValueError("the lines of the grid differ in length")
    return disorient(rows, stated(text))


# Cells


def filled(side: int, mark: Callable[[], str]) -> Rows:
    """A square grid of what `mark` gives, called for each cell in turn."""
    return tuple("".join(mark() for _ in range(side)) for _ in range(side))


def shape(rows: Rows) -> Cell:
    return len(rows), len(rows[0])


def cells(rows: Rows) -> Iterator[Cell]:
    return ((r, c) for r, row in enumerate(rows) for c in range(len(row)))


def at(rows: Rows, cell: Cell) -> str:
    return rows[cell[0]][cell[1]]


def marked(rows: Rows, marks: str) -> list[Cell]:
    """All cells with one of the marks."""
    return [(r, c) for r, row in enumerate(rows) for c, mark in enumerate(row) if mark in marks]


def find(rows: Rows, mark: str) -> Cell | None:
    """The first cell with a mark."""
    return next(((r, row.index(mark)) for r, row in enumerate(rows) if mark in row), None)


def ends(rows: Rows) -> tuple[Cell, Cell] | None:
    """Start and goal; an unseen start is taken to be the first hidden cell, an unseen goal the last one."""
    start, goal = find(rows, "@"), find(rows, "*")
    hidden = [] if start and goal else marked(rows, "?")
    start, goal = start or next(iter(hidden), None), goal or next(reversed(hidden), None)
    return (start, goal) if start and goal else None


def put(rows: Rows, cell: Cell, mark: str) -> Rows:
    r, c = cell
    return (*rows[:r], rows[r][:c] + mark + rows[r][c + 1 :], *rows[r + 1 :])


def put_ends(rows: Rows, start: Cell, goal: Cell) -> Rows:
    return put(put(rows, start, "@"), goal, "*")


def exchanged(rows: Rows, marks: Mapping[str, str]) -> Rows:
    """A grid with other marks for some."""
    table = str.maketrans(dict(marks))
    return tuple(row.translate(table) for row in rows)


@lru_cache(maxsize=1 << 14)
def neighbours(cell: Cell, shape: Cell) -> tuple[Cell, ...]:
    """Cells of a grid of `shape` that share a side with `cell`, in a fixed order."""
    return tuple(
        (*cell[:axis], cell[axis] + step, *cell[axis + 1 :])
        for axis in range(len(cell))
        for step in (-1, 1)
        if 0 <= cell[axis] + step < shape[axis]
    )


def near(rows: Rows, cell: Cell) -> list[Cell]:
    """The cells that share a side with a cell and are no walls."""
    return [other for other in neighbours(cell, shape(rows)) if at(rows, other) != "#"]


def apart(a: Cell, b: Cell) -> int:
    """How many steps two cells are apart, walls aside."""
    return sum(abs(x - y) for x, y in zip(a, b, strict=True))


def adjacent(a: Cell, b: Cell) -> bool:
    """Whether two cells share a side."""
    return apart(a, b) == 1


def mirrored(shape: Cell, *marks: Cell) -> bool:
    """Whether another scheme than ours maps all of these cells onto themselves, so that graders could not tell it."""
    return any(all(s.read(cell, shape) == cell for cell in marks) for s in SCHEMES[1:])


# Parts


def hide(rows: Rows, hidden: Collection[Cell]) -> Rows:
    return tuple("".join("?" if (r, c) in hidden else m for c, m in enumerate(row)) for r, row in enumerate(rows))


def mask(
    rows: Rows, rng: random.Random, both: float = 0, owned: Sequence[Collection[Cell]] = ((), ())
) -> tuple[Rows, Rows]:
    """Two views of a grid: cells `owned` by one of them only there, a share of `both` of the cells in both of them, and
    of the others half in each."""
    order = list(cells(rows))
    rng.shuffle(order)
    shared = round(both * len(order))
    half = shared + (len(order) - shared) // 2
    first, second = map(set, owned)
    return hide(rows, {*order[shared:half]} - first | second), hide(rows, {*order[half:]} - second | first)


def merged(grids: Sequence[Rows]) -> Rows:
    """Grids put together, an empty one if there are none. Raises ValueError, naming the cell, where they contradict
    each other."""
    whole = grids[0] if grids else ()
    for other in grids[1:]:
        if shape(other) != shape(whole):
            raise ValueError("the grids differ in size")
        rows = []
        for r, both in enumerate(zip(whole, other, strict=True)):
            for c, (ours, theirs) in enumerate(zip(*both, strict=True)):
                if "?" not in (ours, theirs) and ours != theirs:
                    raise ValueError(f"cell {(r, c)} is told as {ours!r} and as {theirs!r}")
            rows.append("".join(theirs if ours == "?" else ours for ours, theirs in zip(*both, strict=True)))
        whole = tuple(rows)
    return whole


def completed(rows: Rows, other: Rows) -> Rows:
    """A grid with its hidden cells as they are in `other`; marks of places, which are letters, `@` and `*`, not more
    often than they are there."""
    left = Counter("".join(other))
    left.subtract("".join(rows))

    def mark(ours: str, theirs: str) -> str:
        if ours != "?":
            return ours
        left[theirs] -= 1
        return "." if left[theirs] < 0 and (theirs in "@*" or theirs.isalpha()) else theirs

    return tuple("".join(map(mark, ours, theirs)) for ours, theirs in zip(rows, other, strict=True))


# Tasks


@dataclass(frozen=True)
class Grid:
    """A view that is one grid; its subclasses say what the marks mean."""

    rows: Rows


Drawn = TypeVar("Drawn", bound=Grid)


class GridTask(Task[Drawn]):
    """Views are one drawn grid each, cell by cell a mark of the task: `?` and others, mostly `#` for a wall and `.`."""

    kind: ClassVar[type[Any]]  # the class of its views
    marks: ClassVar[str]

    def merge(self, views: Sequence[Drawn]) -> Drawn:
        return replace(views[0], rows=merged([v.rows for v in views]))

    def render(self, view: Drawn, frame: Frame) -> str:
        return "\n".join([*heading(frame), told(view.rows, frame)])

    def parse(self, text: str) -> Drawn:
        view: Drawn = self.kind(read(text, self.marks))
        return view

    def shape(self, view: Drawn) -> Cell:
        return shape(view.rows)

    def complete(self, view: Drawn, other: Drawn) -> Drawn | None:
        return replace(view, rows=completed(view.rows, other.rows))

    def corrupt(self, view: Drawn, rng: random.Random) -> Drawn:
        """A wall told as free, or a free cell as a wall."""
        cell = rng.choice(marked(view.rows, ".#"))
        return replace(view, rows=put(view.rows, cell, "#" if at(view.rows, cell) == "." else "."))
