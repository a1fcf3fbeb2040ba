"""blueprintmaze: a walk across a walled grid that was cut in two, each agent holding one part (paper, table 8)."""

from __future__ import annotations

import random
from dataclasses import dataclass

from tasks import grids, walks
from tasks.base import register
from tasks.spatial.maze import Maze, MazeTask

PROMPT = """\
A blueprint was cut in two. Find a shortest walk from the start `@`, which is on one part, to the goal `*`, which is
on the other part. One step goes to a cell that shares a side with the present one. Cells marked `#` are walls and
cannot be entered, cells marked `.` are free, and `?` marks a cell that is not on your part. Give the walk as the list
of all its cells from start to goal, both included, each cell as a pair of numbers in round brackets, for example
`(20, 30), (20, 31), (21, 31)`."""

SIZES = {"easy": (5, 5), "default": (7, 9), "hard": (10, 14)}  # side of the grid, least moves of the walk
WALLS = 0.32  # share of wall cells before the draw is accepted
GOALS = 3  # cells tried as the goal, of which the furthest one is taken
SHARE = 0.33  # least share of the cells of the walk on either part


@dataclass(frozen=True)
class Blueprint(Maze):
    """A maze cut between two columns: the start lies on the western part, the goal on the eastern one, and a third of
    the walk or more on either."""


def columns(side: int) -> int:
    """How many columns the western part has: 4 of 7."""
    return (side + 1) // 2


@register
class BlueprintMaze(MazeTask):
    name, family, version, rule, prompt = "blueprintmaze", "spatial", 1, "path", PROMPT
    kind = Blueprint

    def sample(self, rng: random.Random, difficulty: str) -> Blueprint | None:
        side, least = SIZES[difficulty]
        west = columns(side)
        rows = grids.filled(side, lambda: "#" if rng.random() < WALLS else ".")
        free = grids.marked(rows, ".")
        start = rng.choice([cell for cell in free if cell[1] < west])
        goals = rng.choices([cell for cell in free if cell[1] >= west], k=GOALS)
        goal = max(goals, key=lambda cell: len(walks.through(rows, start, cell)))
        if grids.mirrored((side, side), start, goal):
            return None  # a mirrored walk would join the same two cells, and the grader could not tell
        walk = walks.through(rows, start, goal)
        on_west = sum(c < west for _, c in walk)
        if len(walk) <= least or min(on_west, len(walk) - on_west) < SHARE * len(walk):
            return None
        return Blueprint(grids.put_ends(rows, start, goal))

    def split(self, instance: Maze, rng: random.Random) -> tuple[Maze, ...]:
        west = columns(len(instance.rows))
        parts = [
            [cell for cell in grids.cells(instance.rows) if (cell[1] < west) is on_west] for on_west in (True, False)
        ]
        return tuple(Blueprint(grids.hide(instance.rows, other)) for other in reversed(parts))
