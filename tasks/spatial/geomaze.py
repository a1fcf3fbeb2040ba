"""geomaze: a walk between thin walls that are told in compass words, half of them to each agent (paper, table 8)."""

from __future__ import annotations

import random
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cache
from itertools import pairwise

from tasks import drawing, grids
from tasks.answers import Cell, PathForm, PathKey
from tasks.base import Task, register
from tasks.frames import SCHEMES, Frame, Scheme

PROMPT = """\
Find a shortest walk from the start to the goal of a maze whose walls stand between its cells. One step goes north,
south, west or east to the next cell, unless a wall stands on that side of the cell. A wall is told from one of its
two cells only and bars the way from both. The maze is closed all round; no walls stand in it but those that you are
told and those that are hidden from you. Give the walk as the list of all its cells from start to goal, both included,
each cell as a pair of numbers in round brackets, for example `(20, 30), (20, 31), (21, 31)`."""

SIZES = {"easy": (4, 5), "default": (6, 9), "hard": (8, 12)}  # side of the maze, least moves of the walk
WALLS = 0.4  # share of walls among the places where one could stand

Wall = tuple[Cell, Cell]  # the cell to the north or west of it, the cell to the south or east


@dataclass(frozen=True)
class Walls:
    """`size`: how many cells from north to south and from west to east; `walls`: sorted.

    Under natural friction the frame is not stated, but cells and compass words must be told together, so that two walls
    of the border are told as well: who thinks can find out from them how cells are counted.
    """

    size: Cell
    start: Cell
    goal: Cell
    walls: tuple[Wall, ...]


def between(a: Cell, b: Cell) -> Wall:
    return min(a, b), max(a, b)


@cache
def places(size: Cell) -> tuple[Wall, ...]:
    """Everywhere that a wall could stand, sorted."""
    cells = [(r, c) for r in range(size[0]) for c in range(size[1])]
    return tuple(sorted((cell, other) for cell in cells for other in grids.neighbours(cell, size) if cell < other))


def roads(walls: Sequence[Wall], size: Cell) -> Callable[[Cell], list[Cell]]:
    """For each cell the cells to which one may go on past the known walls."""
    known = set(walls)
    return lambda cell: [other for other in grids.neighbours(cell, size) if between(cell, other) not in known]


def walk(maze: Walls) -> list[Cell]:
    """A shortest walk; empty if there is none."""
    return grids.shortest(maze.start, maze.goal.__eq__, roads(maze.walls, maze.size))


def remote(start: Cell, ways: Callable[[Cell], Sequence[Cell]], rng: random.Random) -> Cell:
    """One of the six cells that are furthest from the start on foot."""
    order: list[Cell] = []

    def visit(cell: Cell) -> bool:
        order.append(cell)
        return False

    grids.shortest(start, visit, ways)
    return rng.choice(order[-6:])


def reaches(key: PathKey, cells: Sequence[Cell], schemes: Sequence[Scheme] = SCHEMES) -> bool:
    """Whether a walk leads to the goal in any of the schemes in which it may be read."""
    for scheme in schemes:
        last = key.start
        for number, written in enumerate(cells):
            cell = scheme.read(written, key.shape)
            if number == 0 and cell == last:
                continue  # the start may be left out
            inside = all(0 <= x < n for x, n in zip(cell, key.shape, strict=True))
            if not inside or key.step((last,), cell):
                break
            if cell == key.goal:
                return True
            last = cell
    return False


CELL = r"\((\d\d?), (\d\d?)\)"
WALL = re.compile(rf"\bon the (north|south|west|east) side of {CELL}")
GIVEN = re.compile(
    rf"\b(\d\d?) cells from north to south and (\d\d?) from west to east\. Start: {CELL}\. Goal: {CELL}\."
)


@register
class GeoMaze(Task[Walls]):
    name, family, version, rule, prompt = "geomaze", "spatial", 1, "path", PROMPT

    def sample(self, rng: random.Random, difficulty: str) -> Walls | None:
        side, least = SIZES[difficulty]
        size = (side, side)
        walls = tuple(wall for wall in places(size) if rng.random() < WALLS)
        start = rng.randrange(side), rng.randrange(side)
        goal = remote(start, roads(walls, size), rng)
        if grids.mirrored(size, start, goal):
            return None  # a mirrored walk would join the same two cells, and the grader could not tell
        maze = Walls(size, start, goal, walls)
        return maze if len(walk(maze)) > least else None

    def split(self, instance: Walls, rng: random.Random) -> tuple[Walls, ...]:
        order = rng.sample(instance.walls, len(instance.walls))
        half = len(order) // 2
        return tuple(replace(instance, walls=tuple(sorted(part))) for part in (order[:half], order[half:]))

    def merge(self, views: Sequence[Walls]) -> Walls:
        for what in ("size", "start", "goal"):
            if len({getattr(v, what) for v in views}) > 1:
                raise ValueError(f"the {what} is told in two ways")
        return replace(views[0], walls=tuple(sorted({wall for v in views for wall in v.walls})))

    def render(self, view: Walls, frame: Frame) -> str:
        def told(cell: Cell) -> str:
            return "({}, {})".format(*grids.scheme_of(frame).write(cell, view.size))

        lines = grids.heading(frame)
        if frame.friction == "natural":
            north, west = told((0, view.size[1] // 2)), told((view.size[0] // 2, 0))
            lines.append(f"The border is, among others, on the north side of {north} and on the west side of {west}.")
        for a, b in view.walls:
            cell, side = a, "south" if a[1] == b[1] else "east"
            if frame.friction != "none" and (sum(a) + frame.variant) % 2:
                cell, side = b, grids.OPPOSITE[side]
            lines.append(f"A wall stands on the {side} side of {told(cell)}.")
        high, wide = view.size
        given = f"{high} cells from north to south and {wide} from west to east."
        return "\n".join([*lines, f"{given} Start: {told(view.start)}. Goal: {told(view.goal)}."])

    def parse(self, text: str) -> Walls:
        given, scheme = GIVEN.search(text), grids.stated(text)
        if given is None:
            raise ValueError("no size, start and goal in the text")
        numbers = [int(n) for n in given.groups()]
        size = (numbers[0], numbers[1])
        inside = set(grids.cells(("." * size[1],) * size[0]))
        start, goal = (scheme.read((a, b), size) for a, b in (numbers[2:4], numbers[4:6]))
        if start not in inside or goal not in inside:
            raise ValueError("the start or the goal lies outside of the maze")
        walls = set()
        for side, first, second in WALL.findall(text):
            r, c = scheme.read((int(first), int(second)), size)
            other = (r + grids.SIDES[side][0], c + grids.SIDES[side][1])
            if (r, c) in inside and other in inside:  # no part of the border
                walls.add(between((r, c), other))
        return Walls(size, start, goal, tuple(sorted(walls)))

    def solve(self, view: Walls) -> list[list[int]] | None:
        return [list(cell) for cell in walk(view)] or None

    def key(self, instance: Walls) -> PathKey:
        walls = set(instance.walls)

        def step(walked: Sequence[Cell], cell: Cell) -> str | None:
            if not grids.adjacent(walked[-1], cell):
                return "is no step to a cell that shares a side"
            return "goes through a wall" if between(walked[-1], cell) in walls else None

        return PathKey(instance.size, instance.start, instance.goal, len(walk(instance)) - 1, step)

    def form(self, view: Walls) -> PathForm:
        return PathForm()

    def rivals(self, instance: Walls, view: Walls) -> Iterator[Walls]:
        """One of the unseen walls stands across the canonical walk instead."""
        unseen = [wall for wall in instance.walls if wall not in view.walls]
        ours = walk(instance)
        for step in pairwise(ours):
            for gone in unseen:
                walls = {*instance.walls, between(*step)} - {gone}
                other = replace(instance, walls=tuple(sorted(walls)))
                if walk(other) and not reaches(self.key(other), ours):
                    yield other

    def corrupt(self, view: Walls, rng: random.Random) -> Walls:
        """A wall told at another place, if possible one that the way then leads through."""
        free = [wall for wall in places(view.size) if wall not in view.walls]
        lies = []
        for gone in rng.sample(view.walls, len(view.walls)):
            lies.append(replace(view, walls=tuple(sorted({*view.walls, rng.choice(free)} - {gone}))))
            if any(between(*step) == gone for step in pairwise(walk(lies[-1]))):
                return lies[-1]
        return lies[0]

    def draw(self, instance: Walls, answer: object, where: object) -> str:
        high, wide = instance.size
        rows = grids.put(grids.put(("." * wide,) * high, instance.start, "@"), instance.goal, "*")
        side = drawing.CELL
        right, low = wide * side, high * side
        parts = walk_parts(rows, where)
        corners = [(1, 1), (right - 1, 1), (right - 1, low - 1), (1, low - 1), (1, 1)]
        parts += [drawing.line(edge, "wall") for edge in pairwise(corners)]
        for (north, _), (r, c) in instance.walls:
            end = (c * side + side, r * side) if north < r else (c * side, r * side + side)
            parts.append(drawing.line([(c * side, r * side), end], "wall"))
        return drawing.svg(right, low, parts, "the maze with the walk that was answered")


def walk_parts(rows: grids.Rows, where: object, best: Sequence[Cell] = ()) -> list[str]:
    """A grid with a best walk, the walk that a grade kept and the step at which it broke, all marks written above."""
    kept = where if isinstance(where, dict) else {}
    centre, broke = drawing.centres(kept.get("walked", [])), kept.get("broke")
    parts = drawing.tiles(rows, "")
    parts += [drawing.line(drawing.centres(best), "goal")] if best else []
    parts += [drawing.line(centre, "walk")] if len(centre) > 1 else []
    if broke and centre:
        x, y = drawing.centres([broke])[0]
        parts += [drawing.line([centre[-1], (x, y)], "broken"), drawing.ring(x, y, drawing.CELL * 0.36, "broken")]
    marks = [((r, c), mark) for r, row in enumerate(rows) for c, mark in enumerate(row) if mark not in "#."]
    return parts + [drawing.text(x, y + 5, mark) for cell, mark in marks for x, y in drawing.centres([cell])]
