"""floodfill: the cells that can be reached from a seed, on a grid half hidden from each agent (paper, table 8)."""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from tasks import drawing, grids
from tasks.answers import Cell, CellsForm, CellsKey
from tasks.base import Task, register
from tasks.frames import SCHEMES, Frame

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
class Pond:
    """Marks: `#` barrier, `.` open, `@` spring, `?` unknown."""

    rows: grids.Rows


def flooded(rows: grids.Rows, spring: Cell) -> set[Cell]:
    """The cells that get wet where unknown cells are open."""
    shape, wet, edge = (len(rows), len(rows[0])), {spring}, [spring]
    while edge:
        for cell in grids.neighbours(edge.pop(), shape):
            if cell not in wet and rows[cell[0]][cell[1]] != "#":
                wet.add(cell)
                edge.append(cell)
    return wet


@register
class FloodFill(Task[Pond]):
    """Every cell is known to one agent only, the spring like any other: what both know raises the score of a guess.

    A wet set that another scheme maps onto itself is rejected. It would give nothing to a wrong answer, but agents who
    count from different corners could put their parts together without noticing.
    """

    name, family, version, rule, prompt = "floodfill", "spatial", 1, "cells", PROMPT

    def sample(self, rng: random.Random, difficulty: str) -> Pond | None:
        side = SIZES[difficulty]
        rows = tuple("".join("#" if rng.random() < WALLS else "." for _ in range(side)) for _ in range(side))
        spring = rng.randrange(side), rng.randrange(side)
        rows = grids.put(rows, spring, "@")
        wet = flooded(rows, spring)
        dry = "".join(rows).count(".") + 1 - len(wet)
        if not WET[0] <= len(wet) / side**2 <= WET[1] or dry < DRY * side**2:
            return None
        if any({s.read(cell, (side, side)) for cell in wet} == wet for s in SCHEMES[1:]):
            return None
        return Pond(rows)

    def split(self, instance: Pond, rng: random.Random) -> tuple[Pond, ...]:
        return tuple(map(Pond, grids.mask(instance.rows, rng, 0)))

    def merge(self, views: Sequence[Pond]) -> Pond:
        return Pond(grids.merge([v.rows for v in views]))

    def render(self, view: Pond, frame: Frame) -> str:
        return "\n".join([*grids.heading(frame), grids.told(view.rows, frame)])

    def parse(self, text: str) -> Pond:
        return Pond(grids.read(text, ".#@?"))

    def solve(self, view: Pond) -> list[list[int]] | None:
        """Of a partial view: an unseen spring is taken to be the hidden cell nearest to the middle."""
        middle = len(view.rows) / 2, len(view.rows[0]) / 2
        hidden = [(r, c) for r, c in grids.cells(view.rows) if view.rows[r][c] == "?"]
        hidden.sort(key=lambda cell: sum(abs(x + 0.5 - m) for x, m in zip(cell, middle, strict=True)))
        spring = grids.find(view.rows, "@") or next(iter(hidden), None)
        return [list(cell) for cell in sorted(flooded(view.rows, spring))] if spring else None

    def key(self, instance: Pond) -> CellsKey:
        spring = grids.find(instance.rows, "@")
        if spring is None:
            raise ValueError("the grid has no spring")
        return CellsKey((len(instance.rows), len(instance.rows[0])), frozenset(flooded(instance.rows, spring)))

    def form(self, view: Pond) -> CellsForm:
        return CellsForm()

    def rivals(self, instance: Pond, view: Pond) -> Iterator[Pond]:
        """A hidden cell that gets wet is a barrier."""
        for r, c in self.solve(instance) or []:
            if view.rows[r][c] == "?" and instance.rows[r][c] == ".":
                yield Pond(grids.put(instance.rows, (r, c), "#"))

    def corrupt(self, view: Pond, rng: random.Random) -> Pond:
        r, c = rng.choice([(r, c) for r, c in grids.cells(view.rows) if view.rows[r][c] in ".#"])
        return Pond(grids.put(view.rows, (r, c), "#" if view.rows[r][c] == "." else "."))

    def draw(self, instance: Pond, answer: object, where: object) -> str:
        kept = where if isinstance(where, dict) else {}
        rows = instance.rows
        for verdict, mark in (("right", "+"), ("wrong", "-")):
            for r, c in kept.get(verdict, []):
                rows = grids.put(rows, (r, c), mark)
        parts = drawing.tiles(rows, "?", {"+": "right", "-": "wrong"})
        for cell, (x, y) in ((cell, drawing.centres([cell])[0]) for cell in self.solve(instance) or []):
            parts.append(drawing.ring(x, y, 12, "broken" if cell in kept.get("missing", []) else "edge"))
            parts += [drawing.text(x, y + 5, "@")] * (instance.rows[cell[0]][cell[1]] == "@")
        side = len(rows) * drawing.CELL
        parts += drawing.notes(side, [("circles get wet", ""), ("green: found", "right"), ("red: wrongly so", "wrong")])
        return drawing.svg(side, side + 70, parts, "the grid with the cells that were answered")
