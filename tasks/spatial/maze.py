"""maze: a walk from start to goal on a grid whose cells are half hidden from each agent (paper, appendix F)."""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from tasks import drawing, grids
from tasks.answers import Cell, PathForm, PathKey
from tasks.base import Task, register
from tasks.frames import Frame

PROMPT = """\
Find a shortest walk from the start `@` to the goal `*` on a grid. One step goes to a cell that shares a side with the
present one. Cells marked `#` are walls and cannot be entered, cells marked `.` are free, and `?` marks a cell that is
hidden from you. Give the walk as the list of all its cells from start to goal, both included, each cell as a pair of
numbers in round brackets."""

SIZES = {"easy": (5, 5), "default": (7, 8), "hard": (10, 14)}  # side of the grid, least length of the walk
WALLS = 0.32  # share of wall cells before the draw is accepted
BOTH = 0.1  # share of cells that both agents see


@dataclass(frozen=True)
class Maze:
    """Marks: `#` wall, `.` free, `@` start, `*` goal, `?` unknown."""

    rows: grids.Rows


@register
class MazeTask(Task[Maze]):
    name, family, version, rule, prompt = "maze", "spatial", 1, "path", PROMPT

    def sample(self, rng: random.Random, difficulty: str) -> Maze | None:
        side, least = SIZES[difficulty]
        rows = tuple("".join("#" if rng.random() < WALLS else "." for _ in range(side)) for _ in range(side))
        free = [(r, c) for r, row in enumerate(rows) for c, mark in enumerate(row) if mark == "."]
        start, goal = rng.sample(free, 2)
        if grids.mirrored((side, side), start, goal):
            return None  # a mirrored walk would join the same two cells, and the grader could not tell
        if len(grids.through(rows, start, goal)) <= least:
            return None
        return Maze(grids.put(grids.put(rows, start, "@"), goal, "*"))

    def split(self, instance: Maze, rng: random.Random) -> tuple[Maze, ...]:
        return tuple(map(Maze, grids.mask(instance.rows, rng, BOTH)))

    def merge(self, views: Sequence[Maze]) -> Maze:
        return Maze(grids.merge([v.rows for v in views]))

    def render(self, view: Maze, frame: Frame) -> str:
        return "\n".join([*grids.heading(frame), grids.told(view.rows, frame)])

    def parse(self, text: str) -> Maze:
        return Maze(grids.read(text, ".#@*?"))

    def solve(self, view: Maze) -> list[list[int]] | None:
        """Of a partial view: an unseen start is taken to be the first hidden cell, an unseen goal the last one."""
        start, goal = grids.find(view.rows, "@"), grids.find(view.rows, "*")
        if not (start and goal):
            hidden = [(r, c) for r, c in grids.cells(view.rows) if view.rows[r][c] == "?"]
            start, goal = start or next(iter(hidden), None), goal or next(reversed(hidden), None)
        walk = grids.through(view.rows, start, goal) if start and goal else None
        return [list(cell) for cell in walk] if walk else None

    def key(self, instance: Maze) -> PathKey:
        start, goal = grids.find(instance.rows, "@"), grids.find(instance.rows, "*")
        if start is None or goal is None or not (walk := grids.through(instance.rows, start, goal)):
            raise ValueError("the maze has no start, no goal or no way between them")

        def step(walked: Sequence[Cell], cell: Cell) -> str | None:
            if not grids.adjacent(walked[-1], cell):
                return "is no step to a cell that shares a side"
            return "hits a wall" if instance.rows[cell[0]][cell[1]] == "#" else None

        return PathKey((len(instance.rows), len(instance.rows[0])), start, goal, len(walk) - 1, step)

    def form(self, view: Maze) -> PathForm:
        return PathForm()

    def rivals(self, instance: Maze, view: Maze) -> Iterator[Maze]:
        """A wall on a hidden cell of the canonical walk: what the view alone suggests is then no walk at all."""
        for r, c in (self.solve(instance) or [])[1:-1]:
            if view.rows[r][c] == "?" and self.solve(other := Maze(grids.put(instance.rows, (r, c), "#"))):
                yield other

    def corrupt(self, view: Maze, rng: random.Random) -> Maze:
        r, c = rng.choice([(r, c) for r, c in grids.cells(view.rows) if view.rows[r][c] in ".#"])
        return Maze(grids.put(view.rows, (r, c), "#" if view.rows[r][c] == "." else "."))

    def draw(self, instance: Maze, answer: object, where: object) -> str:
        return drawing.grid(instance.rows, where)
