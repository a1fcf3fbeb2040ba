"""Grids as agents see them: drawn in a frame, hidden in part, put together again, and walked.

A grid is a tuple of lines from north to south, one character a cell from west to east; `?` is a cell that is unknown.
"""

from __future__ import annotations

import random
import re
from collections import deque
from collections.abc import Callable, Collection, Hashable, Iterable, Iterator, Sequence
from functools import cache
from typing import TypeVar

from tasks.answers import Cell
from tasks.frames import SCHEMES, Frame, Scheme, disorient, orient

Rows = tuple[str, ...]
SIDES = {"north": (-1, 0), "west": (0, -1), "east": (0, 1), "south": (1, 0)}
OPPOSITE = {"north": "south", "south": "north", "west": "east", "east": "west"}
STATED = re.compile(
    r"first line is the (north|south|west|east) edge and each line runs from (\w+) to \w+; "
    r"a cell is \(line, place in the line\), both counted from ([01])"
)


# Telling and reading


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
    return re.compile(rf"(?:^[ \t>|`]*{mark}(?: {mark})+[ \t|`]*$\n?){{2,}}", re.M), re.compile(f"[^{re.escape(marks)}]")


def read(text: str, marks: str) -> Rows:
    """Inverse of `told` and `heading`: the first drawing with these marks. Raises ValueError if there is none."""
    drawing, other = _drawn(marks)
    found = drawing.search(text)
    if not found:
        raise ValueError("no drawn grid in the text")
    rows = tuple(other.sub("", row) for row in found[0].strip("\n").split("\n"))
    if len({len(row) for row in rows}) != 1:
        raise ValueError("the lines of the grid differ in length")
    return disorient(rows, stated(text))


# Cells


def find(rows: Rows, mark: str) -> Cell | None:
    """The first cell with a mark."""
    return next(((r, row.index(mark)) for r, row in enumerate(rows) if mark in row), None)


def put(rows: Rows, cell: Cell, mark: str) -> Rows:
    r, c = cell
    return (*rows[:r], rows[r][:c] + mark + rows[r][c + 1 :], *rows[r + 1 :])


def cells(rows: Rows) -> Iterator[Cell]:
    return ((r, c) for r, row in enumerate(rows) for c in range(len(row)))


def neighbours(cell: Cell, shape: Cell) -> Iterator[Cell]:
    """Cells of a grid of `shape` that share a side with `cell`, in a fixed order."""
    for axis in range(len(cell)):
        for step in (-1, 1):
            if 0 <= cell[axis] + step < shape[axis]:
                yield (*cell[:axis], cell[axis] + step, *cell[axis + 1 :])


def adjacent(a: Cell, b: Cell) -> bool:
    """Whether two cells share a side."""
    return sum(abs(x - y) for x, y in zip(a, b, strict=True)) == 1


def mirrored(shape: Cell, *marks: Cell) -> bool:
    """Whether another scheme than ours maps all of these cells onto themselves, so that graders could not tell it."""
    return any(all(s.read(cell, shape) == cell for cell in marks) for s in SCHEMES[1:])


# Parts


def hide(rows: Rows, hidden: Collection[Cell]) -> Rows:
    return tuple("".join("?" if (r, c) in hidden else m for c, m in enumerate(row)) for r, row in enumerate(rows))


def mask(rows: Rows, rng: random.Random, both: float) -> tuple[Rows, Rows]:
    """Two views of a grid: a share of `both` of the cells in both of them, and of the others half in each."""
    order = list(cells(rows))
    rng.shuffle(order)
    shared = round(both * len(order))
    half = (len(order) - shared) // 2
    return hide(rows, set(order[shared : shared + half])), hide(rows, set(order[shared + half :]))


def merge(grids: Sequence[Rows]) -> Rows:
    """Grids put together. Raises ValueError, naming the cell, where they contradict each other."""
    merged = grids[0]
    for other in grids[1:]:
        if len(other) != len(merged) or len(other[0]) != len(merged[0]):
            raise ValueError("the grids differ in size")
        rows = []
        for r, both in enumerate(zip(merged, other, strict=True)):
            for c, (ours, theirs) in enumerate(zip(*both, strict=True)):
                if "?" not in (ours, theirs) and ours != theirs:
                    raise ValueError(f"cell {(r, c)} is told as {ours!r} and as {theirs!r}")
            rows.append("".join(theirs if ours == "?" else ours for ours, theirs in zip(*both, strict=True)))
        merged = tuple(rows)
    return merged


# Walks

Place = TypeVar("Place", bound=Hashable)


def shortest(start: Place, arrived: Callable[[Place], bool], ways: Callable[[Place], Iterable[Place]]) -> list[Place]:
    """A shortest walk by breadth-first search, the first one in the order of `ways`; empty if there is none."""
    came: dict[Place, Place | None] = {start: None}
    queue = deque([start])
    while queue:
        place = queue.popleft()
        if arrived(place):
            walk = [place]
            while (before := came[walk[-1]]) is not None:
                walk.append(before)
            return walk[::-1]
        for other in ways(place):
            if other not in came:
                came[other] = place
                queue.append(other)
    return []


def through(rows: Rows, start: Cell, goal: Cell, walls: str = "#") -> list[Cell]:
    """A shortest walk past cells marked as `walls`, both ends included; empty if there is none.

    Of several the first in the order north, west, east, south. Cells are numbered along a border of walls, which is
    several times as fast as `shortest`.
    """
    width = len(rows[0]) + 1
    border = walls[0]
    marks = border * width + border + border.join(rows) + border * (width + 1)
    begin, end = ((r + 1) * width + c + 1 for r, c in (start, goal))
    came = {begin: 0}
    queue = deque([begin])
    while queue and end not in came:
        cell = queue.popleft()
        for other in (cell - width, cell - 1, cell + 1, cell + width):
            if marks[other] not in walls and other not in came:
                came[other] = cell
                queue.append(other)
    walk: list[Cell] = []
    while end and end in came:
        walk.append((end // width - 1, end % width - 1))
        end = came[end]
    return walk[::-1]
