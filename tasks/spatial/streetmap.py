"""streetmap: a way through one-way streets; one agent sees some of them, the other all else (paper, appendix E.1)."""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import pairwise

from tasks import drawing, grids
from tasks.answers import Cell, PathForm, PathKey
from tasks.base import Task, register
from tasks.frames import Frame, Scheme
from tasks.spatial.geomaze import reaches, remote, walk_parts

PROMPT = """\
Find a shortest way through a town from the start `@` to the goal `*`. One step goes to a cell that shares a side with
the present one. Cells marked `#` are walls and cannot be entered. A cell with an arrow is a one-way street: it may be
entered from any side, but left only to the cell that its arrow points to in the drawing. Cells marked `.` are free,
and `?` marks a cell that is hidden from you: free, a wall or a one-way street. Give the way as the list of all its
cells from start to goal, both included, each cell as a pair of numbers in round brackets, for example `(20, 30), (20,
31), (21, 31)`."""

SIZES = {"easy": (5, 5), "default": (7, 9), "hard": (10, 14)}  # side of the map, least moves of the way
ARROWS = {"\u2191": (-1, 0), "\u2190": (0, -1), "\u2192": (0, 1), "\u2193": (1, 0)}  # up, left, right, down
GROUND = "#" * 3 + "." * 9 + "".join(ARROWS) * 3  # what a cell is drawn from
FIRST = 0.6  # share of the one-way streets that the first agent sees


@dataclass(frozen=True)
class Streets:
    """Marks: `#` wall, an arrow, `.` free, `@` start, `*` goal, `?` unknown.

    One agent sees arrows only, and so nothing that bars the way; the other one sees the walls, the remaining arrows and
    the free cells. Arrows turn with the drawing, so that they point to the same cell in every frame. They are no ASCII
    because a `>` could not be told from the mark of a quotation.
    """

    rows: grids.Rows


def ways(rows: grids.Rows, cell: Cell) -> list[Cell]:
    """The cells to which one may go on."""
    r, c = cell
    mark = rows[r][c]
    near = [(r + down, c + right) for down, right in ([ARROWS[mark]] if mark in ARROWS else ARROWS.values())]
    high, wide = len(rows), len(rows[0])
    return [(a, b) for a, b in near if 0 <= a < high and 0 <= b < wide and rows[a][b] != "#"]


def way(rows: grids.Rows) -> list[Cell]:
    """A shortest way that takes hidden cells to be free; empty if there is none."""
    start, goal = grids.find(rows, "@"), grids.find(rows, "*")
    return grids.shortest(start, goal.__eq__, lambda cell: ways(rows, cell)) if start and goal else []


@cache
def turned(scheme: Scheme) -> dict[str, str]:
    """How each arrow looks in a drawing along the axes of `scheme`."""
    signs = [-1 if flip else 1 for flip in scheme.flips]
    looks = {pointed: arrow for arrow, pointed in ARROWS.items()}
    return {
        arrow: looks[signed[scheme.order[0]], signed[scheme.order[1]]]
        for arrow, pointed in ARROWS.items()
        for signed in [[sign * x for sign, x in zip(signs, pointed, strict=True)]]
    }


def turn(rows: grids.Rows, arrows: dict[str, str]) -> grids.Rows:
    table = str.maketrans("".join(arrows), "".join(arrows.values()))
    return tuple(row.translate(table) for row in rows)


@register
class StreetMap(Task[Streets]):
    name, family, version, rule, prompt = "streetmap", "spatial", 1, "path", PROMPT

    def sample(self, rng: random.Random, difficulty: str) -> Streets | None:
        side, least = SIZES[difficulty]
        drawn = tuple("".join(rng.choice(GROUND) for _ in range(side)) for _ in range(side))
        start = rng.randrange(side), rng.randrange(side)
        rows = grids.put(drawn, start, "@")
        goal = remote(start, lambda cell: ways(rows, cell), rng)
        if grids.mirrored((side, side), start, goal):
            return None  # a mirrored walk would join the same two cells, and the grader could not tell
        streets = Streets(grids.put(rows, goal, "*"))
        return streets if len(way(streets.rows)) > least else None

    def split(self, instance: Streets, rng: random.Random) -> tuple[Streets, ...]:
        at = {mark: [cell for cell in grids.cells(instance.rows) if instance.rows[cell[0]][cell[1]] in mark]
              for mark in ("".join(ARROWS), "#.")}  # fmt: skip
        arrows, ground = at.values()
        rng.shuffle(arrows)
        first = round(FIRST * len(arrows))
        return tuple(Streets(grids.hide(instance.rows, cells)) for cells in (arrows[first:] + ground, arrows[:first]))

    def merge(self, views: Sequence[Streets]) -> Streets:
        return Streets(grids.merge([v.rows for v in views]))

    def render(self, view: Streets, frame: Frame) -> str:
        drawn = turn(view.rows, turned(grids.scheme_of(frame)))
        return "\n".join([*grids.heading(frame), grids.told(drawn, frame)])

    def parse(self, text: str) -> Streets:
        rows = grids.read(text, ".#@*?" + "".join(ARROWS))
        return Streets(turn(rows, {look: arrow for arrow, look in turned(grids.stated(text)).items()}))

    def solve(self, view: Streets) -> list[list[int]] | None:
        return [list(cell) for cell in way(view.rows)] or None

    def key(self, instance: Streets) -> PathKey:
        rows = instance.rows
        walk = way(rows)
        if not walk:
            raise ValueError("the map has no start, no goal or no way between them")

        def step(walked: Sequence[Cell], cell: Cell) -> str | None:
            if not grids.adjacent(walked[-1], cell):
                return "is no step to a cell that shares a side"
            if rows[cell[0]][cell[1]] == "#":
                return "hits a wall"
            return None if cell in ways(rows, walked[-1]) else "goes against a one-way street"

        return PathKey((len(rows), len(rows[0])), walk[0], walk[-1], len(walk) - 1, step)

    def form(self, view: Streets) -> PathForm:
        return PathForm()

    def rivals(self, instance: Streets, view: Streets) -> Iterator[Streets]:
        """Another arrow, or a wall, on a hidden cell of the canonical way; other hidden cells as they are, or free."""
        walk = way(instance.rows)
        hidden = [(r, c) for r, c in grids.cells(view.rows) if view.rows[r][c] == "?"]
        opened = instance.rows
        for place in hidden:
            opened = grids.put(opened, place, ".")
        for others in (instance.rows, opened):
            for cell, following in pairwise(walk[1:]):
                for mark in (*ARROWS, "#") if cell in hidden else ():
                    rows = grids.put(others, cell, mark)
                    bars = mark == "#" or following not in ways(rows, cell)
                    if bars and way(rows) and not reaches(self.key(Streets(rows)), walk):
                        yield Streets(rows)

    def corrupt(self, view: Streets, rng: random.Random) -> Streets:
        """A wall told as free or an arrow told the other way round, if possible one on which the way then depends."""
        known = [(r, c) for r, c in grids.cells(view.rows) if view.rows[r][c] in "#" + "".join(ARROWS)]
        opposite = dict(zip(["#", *ARROWS], [".", *reversed(ARROWS)], strict=True))
        rng.shuffle(known)
        lies = [Streets(grids.put(view.rows, (r, c), opposite[view.rows[r][c]])) for r, c in known]
        told = way(view.rows)
        return next((lie for lie in lies if way(lie.rows) != told), lies[0])

    def draw(self, instance: Streets, answer: object, where: object) -> str:
        high, wide = len(instance.rows) * drawing.CELL, len(instance.rows[0]) * drawing.CELL
        return drawing.svg(wide, high, walk_parts(instance.rows, where), "the town with the way that was answered")
