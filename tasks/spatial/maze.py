"""maze: a walk from start to goal on a grid whose cells are half hidden from each agent (paper, appendix F)."""

from __future__ import annotations

import random
import re
from collections import deque
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from tasks import drawing
from tasks.answers import Cell, PathForm, PathKey
from tasks.base import Task, register
from tasks.frames import SCHEMES, Frame, Scheme, disorient, orient

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
    """Rows from north to south, one character a cell: `#` wall, `.` free, `@` start, `*` goal, `?` unknown."""

    rows: tuple[str, ...]

    def find(self, mark: str) -> Cell | None:
        return next(((r, row.index(mark)) for r, row in enumerate(self.rows) if mark in row), None)

    def at(self, cell: Cell) -> str:
        return self.rows[cell[0]][cell[1]]

    def put(self, cell: Cell, mark: str) -> Maze:
        r, c = cell
        return Maze((*self.rows[:r], self.rows[r][:c] + mark + self.rows[r][c + 1 :], *self.rows[r + 1 :]))

    def cells(self) -> Iterator[Cell]:
        return ((r, c) for r, row in enumerate(self.rows) for c in range(len(row)))


def shortest(maze: Maze, start: Cell, goal: Cell) -> list[Cell] | None:
    """A shortest walk by breadth-first search, unknown cells taken as free; None if there is none.

    Of several the first in the order north, west, east, south. Cells are numbered along a border of walls.
    """
    width = len(maze.rows[0]) + 1
    marks = "#" * width + "#" + "#".join(maze.rows) + "#" * (width + 1)
    begin, end = ((r + 1) * width + c + 1 for r, c in (start, goal))
    came = {begin: 0}
    queue = deque([begin])
    while queue and end not in came:
        cell = queue.popleft()
        for other in (cell - width, cell - 1, cell + 1, cell + width):
            if marks[other] != "#" and other not in came:
                came[other] = cell
                queue.append(other)
    if end not in came:
        return None
    walk: list[Cell] = []
    while end:
        walk.append((end // width - 1, end % width - 1))
        end = came[end]
    return walk[::-1]


GRID = re.compile(r"(?:^[ \t>|`]*[.#@*?](?: [.#@*?])+[ \t|`]*$\n?){2,}", re.MULTILINE)
STATED = re.compile(
    r"first line is the (north|south|west|east) edge and each line runs from (\w+) to \w+; "
    r"a cell is \(line, place in the line\), both counted from ([01])"
)


def state(scheme: Scheme) -> str:
    """How a drawing along the axes of `scheme` lies on the ground."""
    first, run = ("south", "north")[not scheme.flip_rows], ("east", "west")[not scheme.flip_cols]
    if scheme.swap:
        first, run = run, first
    opposite = {"north": "south", "south": "north", "west": "east", "east": "west"}[run]
    return (
        f"The first line is the {first} edge and each line runs from {run} to {opposite}; "
        f"a cell is (line, place in the line), both counted from {scheme.base}."
    )


@register
class MazeTask(Task[Maze]):
    name, family, version, rule, prompt = "maze", "spatial", 1, "path", PROMPT

    def sample(self, rng: random.Random, difficulty: str) -> Maze | None:
        side, least = SIZES[difficulty]
        maze = Maze(tuple("".join("#" if rng.random() < WALLS else "." for _ in range(side)) for _ in range(side)))
        free = [(r, c) for r, row in enumerate(maze.rows) for c, mark in enumerate(row) if mark == "."]
        start, goal = rng.sample(free, 2)
        if any(s.read(start, side, side) == start and s.read(goal, side, side) == goal for s in SCHEMES[1:]):
            return None  # a mirrored walk would join the same two cells, and the grader could not tell
        walk = shortest(maze, start, goal)
        return maze.put(start, "@").put(goal, "*") if walk and len(walk) > least else None

    def split(self, instance: Maze, rng: random.Random) -> tuple[Maze, ...]:
        cells = list(instance.cells())
        rng.shuffle(cells)
        shared = round(BOTH * len(cells))
        half = (len(cells) - shared) // 2
        views = []
        for hidden in (set(cells[shared : shared + half]), set(cells[shared + half :])):
            rows = enumerate(instance.rows)
            view = ("".join("?" if (r, c) in hidden else mark for c, mark in enumerate(row)) for r, row in rows)
            views.append(Maze(tuple(view)))
        return tuple(views)

    def merge(self, views: Sequence[Maze]) -> Maze:
        merged = views[0]
        for other in views[1:]:
            if len(other.rows) != len(merged.rows) or len(other.rows[0]) != len(merged.rows[0]):
                raise ValueError("the grids differ in size")
            rows = []
            for r, both in enumerate(zip(merged.rows, other.rows, strict=True)):
                for c, (ours, theirs) in enumerate(zip(*both, strict=True)):
                    if "?" not in (ours, theirs) and ours != theirs:
                        raise ValueError(f"cell {(r, c)} is told as {ours!r} and as {theirs!r}")
                rows.append("".join(theirs if ours == "?" else ours for ours, theirs in zip(*both, strict=True)))
            merged = Maze(tuple(rows))
        return merged

    def render(self, view: Maze, frame: Frame) -> str:
        scheme = SCHEMES[frame.variant]
        drawn = "\n".join(" ".join(row) for row in orient(view.rows, scheme))
        return drawn if frame.friction == "natural" else f"{state(scheme)}\n{drawn}"

    def parse(self, text: str) -> Maze:
        found = GRID.search(text)
        if not found:
            raise ValueError("no drawn grid in the text")
        rows = tuple(re.sub(r"[^.#@*?]", "", row) for row in found[0].strip("\n").split("\n"))
        if len({len(row) for row in rows}) != 1:
            raise ValueError("the lines of the grid differ in length")
        if said := STATED.search(text):
            scheme = next((s for s in SCHEMES if said[0] in state(s)), None)
            if scheme is None:
                raise ValueError(f"no grid lies like this: {said[0]}")
            rows = disorient(rows, scheme)
        return Maze(rows)

    def solve(self, view: Maze) -> list[list[int]] | None:
        """Of a partial view: an unseen start is taken to be the first hidden cell, an unseen goal the last one."""
        start, goal = view.find("@"), view.find("*")
        if not (start and goal):
            hidden = [cell for cell in view.cells() if view.at(cell) == "?"]
            start, goal = start or next(iter(hidden), None), goal or next(reversed(hidden), None)
        walk = shortest(view, start, goal) if start and goal else None
        return [list(cell) for cell in walk] if walk else None

    def key(self, instance: Maze) -> PathKey:
        start, goal = instance.find("@"), instance.find("*")
        if start is None or goal is None or (walk := shortest(instance, start, goal)) is None:
            raise ValueError("the maze has no start, no goal or no way between them")

        def step(walked: Sequence[Cell], cell: Cell) -> str | None:
            if abs(cell[0] - walked[-1][0]) + abs(cell[1] - walked[-1][1]) != 1:
                return "is no step to a cell that shares a side"
            return "hits a wall" if instance.at(cell) == "#" else None

        return PathKey(len(instance.rows), len(instance.rows[0]), start, goal, len(walk) - 1, step)

    def form(self, view: Maze) -> PathForm:
        return PathForm()

    def rivals(self, instance: Maze, view: Maze) -> Iterator[Maze]:
        """A wall on a hidden cell of the canonical walk: what the view alone suggests is then no walk at all."""
        for r, c in (self.solve(instance) or [])[1:-1]:
            if view.at((r, c)) == "?" and self.solve(other := instance.put((r, c), "#")):
                yield other

    def corrupt(self, view: Maze, rng: random.Random) -> Maze:
        cell = rng.choice([c for c in view.cells() if view.at(c) in ".#"])
        return view.put(cell, "#" if view.at(cell) == "." else ".")

    def draw(self, instance: Maze, answer: object, where: object) -> str:
        return drawing.grid(instance.rows, where)
