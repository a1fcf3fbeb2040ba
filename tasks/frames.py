"""Frames: the representation a view is told in, and how far apart the agents' frames start (`--friction`)."""

from __future__ import annotations

import random
from dataclasses import dataclass
from itertools import product

FRICTIONS = ("none", "natural", "strong")


@dataclass(frozen=True)
class Frame:
    """`none`: the canonical frame, stated. `natural`: the canonical frame, unstated. `strong`: a frame of one's own,
    stated, picked by `variant` (0 to 15); what a variant means is up to the task."""

    friction: str = "natural"
    variant: int = 0


def draw_frames(friction: str, agents: int, rng: random.Random) -> tuple[Frame, ...]:
    """One frame an agent; under `strong` all of them differ. Raises ValueError for an unknown friction."""
    if friction not in FRICTIONS:
        raise ValueError(f"friction {friction!r} is none of {', '.join(FRICTIONS)}")
    variants = rng.sample(range(1, 16), agents) if friction == "strong" else [0] * agents
    return tuple(Frame(friction, v) for v in variants)


@dataclass(frozen=True)
class Scheme:
    """One of the sixteen ways to write a grid cell: index base, direction of either axis, order of the axes."""

    base: int
    flip_rows: bool
    flip_cols: bool
    swap: bool

    def read(self, cell: tuple[int, int], height: int, width: int) -> tuple[int, int]:
        """The canonical (row, column) of `cell` as written in this scheme; it may lie outside the grid."""
        a, b = cell[0] - self.base, cell[1] - self.base
        row, col = (b, a) if self.swap else (a, b)
        return (height - 1 - row if self.flip_rows else row, width - 1 - col if self.flip_cols else col)

    def write(self, cell: tuple[int, int], height: int, width: int) -> tuple[int, int]:
        """Inverse of `read`."""
        row = height - 1 - cell[0] if self.flip_rows else cell[0]
        col = width - 1 - cell[1] if self.flip_cols else cell[1]
        a, b = (col, row) if self.swap else (row, col)
        return a + self.base, b + self.base


SCHEMES = tuple(Scheme(*s) for s in product((0, 1), (False, True), (False, True), (False, True)))  # SCHEMES[0]: ours


def orient(rows: tuple[str, ...], scheme: Scheme) -> tuple[str, ...]:
    """Redraw a grid along the axes of `scheme`: its first coordinate runs down the lines, its second along them."""
    rows = rows[::-1] if scheme.flip_rows else rows
    rows = tuple(r[::-1] for r in rows) if scheme.flip_cols else rows
    return tuple("".join(column) for column in zip(*rows, strict=True)) if scheme.swap else rows


def disorient(rows: tuple[str, ...], scheme: Scheme) -> tuple[str, ...]:
    """Inverse of `orient`."""
    rows = tuple("".join(column) for column in zip(*rows, strict=True)) if scheme.swap else rows
    rows = tuple(r[::-1] for r in rows) if scheme.flip_cols else rows
    return rows[::-1] if scheme.flip_rows else rows
