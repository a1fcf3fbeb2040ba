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
class Blueprint:
    """Marks: `#` wall, `.` free, `@` start, `*` goal, `?` unknown. The columns are cut without overlap: the start lies
    on the western part, the goal on the eastern one, and a third of the walk or more on either."""

    rows: grids.Rows


def columns(side: int) -> int:
    """How many columns the western part has: 4 of 7."""
    return (side + 1) // 2


@register
class BlueprintMaze(Task[Blueprint]):
    name, family, version, rule, prompt = "blueprintmaze", "spatial", 1, "path", PROMPT

    def sample(self, rng: random.Random, difficulty: str) -> Blueprint | None:
        side, least = SIZES[difficulty]
        west = columns(side)
        rows = tuple("".join("#" if rng.random() < WALLS else "." for _ in range(side)) for _ in range(side))
        free = [(r, c) for r, c in grids.cells(rows) if rows[r][c] == "."]
        start = rng.choice([cell for cell in free if cell[1] < west])
        goals = rng.choices([cell for cell in free if cell[1] >= west], k=GOALS)
        goal = max(goals, key=lambda cell: len(grids.through(rows, start, cell)))
        if grids.mirrored((side, side), start, goal):
            return None  # a mirrored walk would join the same two cells, and the grader could not tell
        walk = grids.through(rows, start, goal)
        on_west = sum(c < west for _, c in walk)
        if len(walk) <= least or min(on_west, len(walk) - on_west) < SHARE * len(walk):
            return None
        return Blueprint(grids.put(grids.put(rows, start, "@"), goal, "*"))

    def split(self, instance: Blueprint, rng: random.Random) -> tuple[Blueprint, ...]:
        side = len(instance.rows)
        west = columns(side)
        parts = range(west), range(west, side)
        return tuple(
            Blueprint(grids.hide(instance.rows, [c for c in grids.cells(instance.rows) if c[1] not in part]))
            for part in parts
        )

    def merge(self, views: Sequence[Blueprint]) -> Blueprint:
        return Blueprint(grids.merge([v.rows for v in views]))

    def render(self, view: Blueprint, frame: Frame) -> str:
        return "\n".join([*grids.heading(frame), grids.told(view.rows, frame)])

    def parse(self, text: str) -> Blueprint:
        return Blueprint(grids.read(text, ".#@*?"))

    def solve(self, view: Blueprint) -> list[list[int]] | None:
        """Of a partial view: an unseen start is taken to be the first hidden cell, an unseen goal the last one."""
        hidden = [(r, c) for r, c in grids.cells(view.rows) if view.rows[r][c] == "?"]
        start = grids.find(view.rows, "@") or next(iter(hidden), None)
        goal = grids.find(view.rows, "*") or next(reversed(hidden), None)
        walk = grids.through(view.rows, start, goal) if start and goal else []
        return [list(cell) for cell in walk] or None

    def key(self, instance: Blueprint) -> PathKey:
        start, goal = grids.find(instance.rows, "@"), grids.find(instance.rows, "*")
        if start is None or goal is None or not (walk := grids.through(instance.rows, start, goal)):
            raise ValueError("the blueprint has no start, no goal or no way between them")

        def step(walked: Sequence[Cell], cell: Cell) -> str | None:
            if not grids.adjacent(walked[-1], cell):
                return "is no step to a cell that shares a side"
            return "hits a wall" if instance.rows[cell[0]][cell[1]] == "#" else None

        return PathKey((len(instance.rows), len(instance.rows[0])), start, goal, len(walk) - 1, step)

    def form(self, view: Blueprint) -> PathForm:
        return PathForm()

    def rivals(self, instance: Blueprint, view: Blueprint) -> Iterator[Blueprint]:
        """A wall on a hidden cell of the canonical walk: what the view alone suggests is then no walk at all."""
        for r, c in (self.solve(instance) or [])[1:-1]:
            if view.rows[r][c] == "?" and self.solve(other := Blueprint(grids.put(instance.rows, (r, c), "#"))):
                yield other

    def corrupt(self, view: Blueprint, rng: random.Random) -> Blueprint:
        """A wall told as free, if possible one that the way then leads through; else a free cell told as a wall."""
        known = [(r, c) for r, c in grids.cells(view.rows) if view.rows[r][c] in ".#"]
        rng.shuffle(known)
        known.sort(key=lambda cell: view.rows[cell[0]][cell[1]])  # walls first
        told = self.solve(view)
        lies = [Blueprint(grids.put(view.rows, (r, c), "#" if view.rows[r][c] == "." else ".")) for r, c in known]
        return next((lie for lie in lies if self.solve(lie) != told), lies[0])

    def draw(self, instance: Blueprint, answer: object, where: object) -> str:
        return drawing.grid(instance.rows, where)
