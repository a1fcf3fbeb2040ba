"""floodfill: the cells that can be reached from a seed, on a grid half hidden from each agent (paper, table 8)."""

from __future__ import annotations

import random
from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial

from tasks import drawing, grids, walks
from tasks.answers import Cell, CellsForm, CellsKey
from tasks.base import register
from tasks.frames import SCHEMES
from tasks.grids import Grid, GridTask

PROMPT = """\
Water rises at the spring `@` of a grid and spreads from every wet cell to all cells that share a side with it. Cells
marked `#` are barriers and stay dry, cells marked `.` are open, and `?` marks a cell that is hidden from you. Find all
cells that get wet, the spring included. Give them as a list in any order, each cell as a pair of numbers in round
brackets, for example `(8, 9), (8, 8)`."""

SIZES = {"easy": 6, "default": 8, "hard": 10}  # side of the grid
WALLS = 0.45  # share of barriers before the draw is accepted
WET = 0.25, 0.36  # least and largest share of the grid that gets wet
DRY = 0.2  # least share of the grid that is open and stays dry


@dataclass(frozen=True)
class Pond(Grid):
    """Marks: `#` barrier, `.` open, `@` spring, `?` unknown."""


def flooded(rows: grids.Rows) -> set[Cell]:
    """The cells that get wet where unknown cells are open; an unseen spring is taken to be the hidden cell nearest to
    the middle."""
    middle = [(n - 1) / 2 for n in grids.shape(rows)]
    hidden = sorted(
        grids.marked(rows, "?"), key=lambda cell: sum(abs(x - m) for x, m in zip(cell, middle, strict=True))
    )
    spring = grids.find(rows, "@") or next(iter(hidden), None)
    return {*walks.distances(spring, partial(grids.near, rows))} if spring else set()


@register
class FloodFill(GridTask[Pond]):
    """Every cell is known to one agent only, the spring like any other: what both know raises the score of a guess.

    A wet set that another scheme maps onto itself is rejected. It would give nothing to a wrong answer, but agents who
    count from different corners could put their parts together without noticing.
    """

    name, family, version, rule, prompt = "floodfill", "spatial", 1, "cells", PROMPT
    kind, marks = Pond, ".#@?"

    def sample(self, rng: random.Random, difficulty: str) -> Pond | None:
        side = SIZES[difficulty]
        rows = grids.filled(side, lambda: "#" if rng.random() < WALLS else ".")
        rows = grids.put(rows, (rng.randrange(side), rng.randrange(side)), "@")
        wet = flooded(rows)
        dry = len(grids.marked(rows, ".@")) - len(wet)
        if not WET[0] <= len(wet) / side**2 <= WET[1] or dry < DRY * side**2:
            return None
        if any({s.read(cell, (side, side)) for cell in wet} == wet for s in SCHEMES[1:]):
            return None
        return Pond(rows)

    def split(self, instance: Pond, rng: random.Random) -> tuple[Pond, ...]:
        return tuple(map(Pond, grids.mask(instance.rows, rng)))

    def solve(self, view: Pond) -> list[list[int]] | None:
        return [list(cell) for cell in sorted(flooded(view.rows))] or None

    def key(self, instance: Pond) -> CellsKey:
        return CellsKey(grids.shape(instance.rows), frozenset(flooded(instance.rows)))

    def form(self, view: Pond) -> CellsForm:
        return CellsForm()

    def rivals(self, instance: Pond, view: Pond) -> Iterator[Pond]:
        """A hidden cell that gets wet is a barrier."""
        for cell in sorted(flooded(instance.rows)):
            if grids.at(view.rows, cell) == "?" and grids.at(instance.rows, cell) == ".":
                yield Pond(grids.put(instance.rows, cell, "#"))

    def draw(self, instance: Pond, answer: object, where: object) -> str:
        kept = where if isinstance(where, dict) else {}
        rows = instance.rows
        for verdict, mark in (("right", "+"), ("wrong", "-")):
            for cell in kept.get(verdict, []):
                rows = grids.put(rows, tuple(cell), mark)
        parts = drawing.tiles(rows, "?", {"+": "right", "-": "wrong"})
        for r, c in sorted(flooded(instance.rows)):
            css = "broken" if [r, c] in kept.get("missing", []) else "edge"
            parts += [drawing.ring(x, y, 12, css) for x, y in drawing.centres([(r, c)])]
        parts += [drawing.text(x, y + 5, "@") for x, y in drawing.centres(grids.marked(instance.rows, "@"))]
        lines = [("circles get wet", ""), ("green: found", "right"), ("red: wrongly so", "wrong")]
        return drawing.board(rows, parts, "the grid with the cells that were answered", lines)
