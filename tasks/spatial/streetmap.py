"""streetmap: a way through one-way streets; one agent sees some of them, the other all else (paper, appendix E.1)."""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import pairwise

from tasks import drawing, grids, walks
from tasks.answers import Cell
from tasks.base import register
from tasks.frames import Frame, Scheme
from tasks.grids import Grid, GridTask
from tasks.walks import WalkTask

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
class Streets(Grid):
    """Marks: `#` wall, an arrow, `.` free, `@` start, `*` goal, `?` unknown.

    One agent sees arrows only, and so nothing that bars the way; the other one sees the walls, the remaining arrows and
    the free cells. Arrows turn with the drawing, so that they point to the same cell in every frame. They are no ASCII
    because a `>` could not be told from the mark of a quotation.
    """


def ways(rows: grids.Rows, cell: Cell) -> list[Cell]:
    """The cells to which one may go on."""
    r, c = cell
    mark = rows[r][c]
    near = [(r + down, c + right) for down, right in ([ARROWS[mark]] if mark in ARROWS else ARROWS.values())]
    high, wide = grids.shape(rows)
    return [(a, b) for a, b in near if 0 <= a < high and 0 <= b < wide and rows[a][b] != "#"]


@cache
def looks(scheme: Scheme) -> dict[str, str]:
    """How each arrow looks in a drawing along the axes of `scheme`."""
    arrow_to = {pointed: arrow for arrow, pointed in ARROWS.items()}
    found = {}
    for arrow, pointed in ARROWS.items():
        down, right = (-x if flip else x for x, flip in zip(pointed, scheme.flips, strict=True))
        found[arrow] = arrow_to[(right, down) if scheme.order[0] else (down, right)]
    return found


@register
class StreetMap(GridTask[Streets], WalkTask[Streets]):
    name, family, version, rule, prompt = "streetmap", "spatial", 1, "path", PROMPT
    kind, marks = Streets, ".#@*?" + "".join(ARROWS)

    def sample(self, rng: random.Random, difficulty: str) -> Streets | None:
        side, least = SIZES[difficulty]
        rows = grids.filled(side, lambda: rng.choice(GROUND))
        start = rng.randrange(side), rng.randrange(side)
        rows = grids.put(rows, start, "@")
        goal = walks.remote(start, lambda cell: ways(rows, cell), rng)
        if grids.mirrored((side, side), start, goal):
            return None  # a mirrored walk would join the same two cells, and the grader could not tell
        streets = Streets(grids.put(rows, goal, "*"))
        return streets if len(self.walk(streets)) > least else None

    def split(self, instance: Streets, rng: random.Random) -> tuple[Streets, ...]:
        arrows, ground = (grids.marked(instance.rows, marks) for marks in ("".join(ARROWS), "#."))
        rng.shuffle(arrows)
        first = round(FIRST * len(arrows))
        return tuple(Streets(grids.hide(instance.rows, cells)) for cells in (arrows[first:] + ground, arrows[:first]))

    def render(self, view: Streets, frame: Frame) -> str:
        return super().render(Streets(grids.exchanged(view.rows, looks(grids.scheme_of(frame)))), frame)

    def parse(self, text: str) -> Streets:
        meant = {look: arrow for arrow, look in looks(grids.stated(text)).items()}
        return Streets(grids.exchanged(super().parse(text).rows, meant))

    def walk(self, view: Streets) -> list[Cell]:
        """Hidden cells are taken to be free."""
        ends = grids.ends(view.rows)
        return walks.shortest(*ends, lambda cell: ways(view.rows, cell)) if ends else []

    def fault(self, instance: Streets, walked: Sequence[Cell], cell: Cell) -> str | None:
        against = None if cell in ways(instance.rows, walked[-1]) else "goes against a one-way street"
        return walks.barred(instance.rows, walked[-1], cell) or against

    def changed(self, instance: Streets, view: Streets, walk: Sequence[Cell]) -> Iterator[Streets]:
        """Another arrow, or a wall, on a hidden cell of the walk; other hidden cells as they are, or free."""
        opened = instance.rows
        for cell in grids.marked(view.rows, "?"):
            opened = grids.put(opened, cell, ".")
        for rows in (instance.rows, opened):
            for cell, following in pairwise(walk[1:]):
                for mark in (*ARROWS, "#") if grids.at(view.rows, cell) == "?" else ():
                    other = grids.put(rows, cell, mark)
                    if mark == "#" or following not in ways(other, cell):
                        yield Streets(other)

    def corrupt(self, view: Streets, rng: random.Random) -> Streets:
        """A wall told as free, or an arrow told the other way round."""
        opposite = dict(zip(["#", *ARROWS], [".", *reversed(ARROWS)], strict=True))
        cell = rng.choice(grids.marked(view.rows, "".join(opposite)))
        return Streets(grids.put(view.rows, cell, opposite[grids.at(view.rows, cell)]))

    def draw(self, instance: Streets, answer: object, where: object) -> str:
        parts = drawing.walk(instance.rows, where)
        return drawing.board(instance.rows, parts, "the town with the way that was answered")
