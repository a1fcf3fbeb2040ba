"""maze: a walk from start to goal on a grid whose cells are half hidden from each agent (paper, appendix F)."""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from tasks import drawing, grids, walks
from tasks.answers import Cell
from tasks.base import register
from tasks.grids import Grid, GridTask
from tasks.walks import WalkTask

PROMPT = """\
Find a shortest walk from the start `@` to the goal `*` on a grid. One step goes to a cell that shares a side with the
present one. Cells marked `#` are walls and cannot be entered, cells marked `.` are free, and `?` marks a cell that is
hidden from you. Give the walk as the list of all its cells from start to goal, both included, each cell as a pair of
numbers in round brackets."""

SIZES = {"easy": (5, 5), "default": (7, 8), "hard": (10, 14)}  # side of the grid, least length of the walk
WALLS = 0.32  # share of wall cells before the draw is accepted
BOTH = 0.1  # share of cells that both agents see


@dataclass(frozen=True)
class Maze(Grid):
    """Marks: `#` wall, `.` free, `@` start, `*` goal, `?` unknown."""


@register
class MazeTask(GridTask[Maze], WalkTask[Maze]):
    name, family, version, rule, prompt = "maze", "spatial", 1, "path", PROMPT
    kind, marks = Maze, ".#@*?"

    def sample(self, rng: random.Random, difficulty: str) -> Maze | None:
        side, least = SIZES[difficulty]
        rows = grids.filled(side, lambda: "#" if rng.random() < WALLS else ".")
        start, goal = rng.sample(grids.marked(rows, "."), 2)
        if grids.mirrored((side, side), start, goal):
            return None  # a mirrored walk would join the same two cells, and the grader could not tell
        if len(walks.through(rows, start, goal)) <= least:
            return None
        return Maze(grids.put_ends(rows, start, goal))

    def split(self, instance: Maze, rng: random.Random) -> tuple[Maze, ...]:
        return tuple(map(Maze, grids.mask(instance.rows, rng, BOTH)))

    def walk(self, view: Maze) -> list[Cell]:
        """Of a partial view: an unseen start is taken to be the first hidden cell, an unseen goal the last one."""
        ends = grids.ends(view.rows)
        return walks.through(view.rows, *ends) if ends else []

    def fault(self, instance: Maze, walked: Sequence[Cell], cell: Cell) -> str | None:
        return walks.barred(instance.rows, walked[-1], cell)

    def changed(self, instance: Maze, view: Maze, walk: Sequence[Cell]) -> Iterator[Maze]:
        """A wall on a hidden cell of the walk: what the view alone suggests is then no walk at all."""
        for cell in walk[1:-1]:
            if grids.at(view.rows, cell) == "?":
                yield replace(instance, rows=grids.put(instance.rows, cell, "#"))

    def draw(self, instance: Maze, answer: object, where: object) -> str:
        parts = drawing.walk(instance.rows, where)
        return drawing.board(instance.rows, parts, "the maze with the walk that was answered")
