"""blueprintmaze: a walk across a walled grid that was cut in two, each agent holding one part (paper, table 8)."""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from tasks import drawing, grids
from tasks.answers import Cell, PathForm, PathKey
from tasks.base import Task, register
from tasks.frames import Frame

PROMPT = """\
A blueprint was cut in two. Find a shortest walk from the start `@`, which is on one part, to the goal `*`, which is on the
other part. One step goes to a cell that shares a side with the present one. Cells marked `#` are walls and cannot be
entered, cells marked `.` are free, and `?` marks a cell that is not on your part. Give the walk as the list of all its
cells from start to goal, both included, each cell as a pair of numbers in round brackets, for example
`(20, 30), (20, 31), (21, 31)`."""

SIZES = {"easy": (5, 3, 6), "default": (7, 4, 10), "hard": (10, 5, 16)}  # side, columns of agent 1, least moves
WALLS = 0.35  # share of wall cells before the draw is accepted
SHARE = 0.35  # least share of the walk on either part


@dataclass(frozen=True)
class Blueprint:
    """Marks: `#` wall, `.` free, `@` start, `*` goal, `?` unknown. `left`: how many columns the western part has."""

    rows: grids.Rows
    left: int


def walk(rows: grids.Rows) -> list[Cell]:
    """A shortest walk; an unseen start is taken to be the first hidden cell, an unseen goal the last one."""
    hidden = [(r, c) for r, c in grids.cells(rows) if rows[r][c] == "?"]
    start = grids.find(rows, "@") or next(iter(hidden), None)
    goal = grids.find(rows, "*") or next(reversed(hidden), None)
    return grids.through(rows, start, goal) if start and goal else []
