"""geomaze: a walk between thin walls that are told in compass words, half of them to each agent (paper, table 8)."""

from __future__ import annotations

import random
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cache, lru_cache
from itertools import pairwise

from tasks import drawing, grids, walks
from tasks.answers import Cell
from tasks.base import register
from tasks.frames import Frame
from tasks.walks import WalkTask

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


@lru_cache(maxsize=256)
def roads(size: Cell, walls: tuple[Wall, ...]) -> dict[Cell, list[Cell]]:
    """For each cell the cells to which one may go on past the walls."""
    cells = {cell for wall in places(size) for cell in wall}
    return {cell: [n for n in grids.neighbours(cell, size) if between(cell, n) not in walls] for cell in cells}


CELL = r"\((\d\d?), (\d\d?)\)"
WALL = re.compile(rf"\bon the (north|south|west|east) side of {CELL}")
GIVEN = re.compile(
    rf"\b(\d\d?) cells from north to south and (\d\d?) from west to east\. Start: {CELL}\. Goal: {CELL}\."
)


@register
class GeoMaze(WalkTask[Walls]):
    name, family, version, rule, prompt = "geomaze", "spatial", 1, "path", PROMPT

    def sample(self, rng: random.Random, difficulty: str) -> Walls | None:
        side, least = SIZES[difficulty]
        size = (side, side)
        walls = tuple(wall for wall in places(size) if rng.random() < WALLS)
        start = rng.randrange(side), rng.randrange(side)
        goal = walks.remote(start, roads(size, walls).__getitem__, rng)
        if grids.mirrored(size, start, goal):
            return None  # a mirrored walk would join the same two cells, and the grader could not tell
        maze = Walls(size, start, goal, walls)
        return maze if len(self.walk(maze)) > least else None

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

        (high, wide), lines = view.size, grids.heading(frame)
        if frame.friction == "natural":
            north, west = told((0, wide // 2)), told((high // 2, 0))
            lines.append(f"The border is, among others, on the north side of {north} and on the west side of {west}.")
        for a, b in view.walls:
            cell, side = a, "south" if a[1] == b[1] else "east"
            if frame.friction != "none" and (sum(a) + frame.variant) % 2:
                cell, side = b, grids.OPPOSITE[side]
            lines.append(f"A wall stands on the {side} side of {told(cell)}.")
        given = f"{high} cells from north to south and {wide} from west to east."
        return "\n".join([*lines, f"{given} Start: {told(view.start)}. Goal: {told(view.goal)}."])

    def parse(self, text: str) -> Walls:
        given, scheme = GIVEN.search(text), grids.stated(text)
        if given is None:
            raise ValueError("no size, start and goal in the text")
        high, wide, *numbers = map(int, given.groups())
        start, goal = (scheme.read(tuple(cell), (high, wide)) for cell in (numbers[:2], numbers[2:]))
        known = {cell for wall in places((high, wide)) for cell in wall}
        if not {start, goal} <= known:
            raise ValueError("the start or the goal lies outside of the maze")
        walls = set()
        for side, *told in WALL.findall(text):
            r, c = scheme.read(tuple(map(int, told)), (high, wide))
            down, right = grids.SIDES[side]
            walls.add(between((r, c), (r + down, c + right)))
        return Walls((high, wide), start, goal, tuple(sorted(walls.intersection(places((high, wide))))))

    def shape(self, view: Walls) -> Cell:
        return view.size

    def walk(self, view: Walls) -> list[Cell]:
        return walks.shortest(view.start, view.goal, roads(view.size, view.walls).__getitem__)

    def fault(self, instance: Walls, walked: Sequence[Cell], cell: Cell) -> str | None:
        if not grids.adjacent(walked[-1], cell):
            return "is no step to a cell that shares a side"
        return None if cell in roads(instance.size, instance.walls)[walked[-1]] else "goes through a wall"

    def changed(self, instance: Walls, view: Walls, walk: Sequence[Cell]) -> Iterator[Walls]:
        """One of the unseen walls stands across the walk instead."""
        unseen = [wall for wall in instance.walls if wall not in view.walls]
        for step in pairwise(walk):
            for gone in unseen:
                yield replace(instance, walls=tuple(sorted({*instance.walls, between(*step)} - {gone})))

    def corrupt(self, view: Walls, rng: random.Random) -> Walls:
        """A wall told at another place."""
        gone = rng.choice(view.walls)
        told = rng.choice([wall for wall in places(view.size) if wall not in view.walls])
        return replace(view, walls=tuple(sorted({*view.walls, told} - {gone})))

    def draw(self, instance: Walls, answer: object, where: object) -> str:
        high, wide = instance.size
        rows, side = grids.put_ends(("." * wide,) * high, instance.start, instance.goal), drawing.CELL
        right, low = wide * side, high * side
        parts = drawing.walk(rows, where)
        corners = [(1, 1), (right - 1, 1), (right - 1, low - 1), (1, low - 1), (1, 1)]
        parts += [drawing.line(edge, "wall") for edge in pairwise(corners)]
        for (north, _), (r, c) in instance.walls:
            end = (c * side + side, r * side) if north < r else (c * side, r * side + side)
            parts.append(drawing.line([(c * side, r * side), end], "wall"))
        return drawing.board(rows, parts, "the maze with the walk that was answered")
