"""Frames: the representation a view is told in, and how far apart the agents' frames start (`--friction`)."""

from __future__ import annotations

import random
from dataclasses import dataclass
from functools import cache, cached_property
from itertools import permutations, product

from tasks.answers import Cell

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
    """One of the ways to write a cell: index base, which axes count from their far end, and the order of the axes."""

    base: int
    flips: tuple[bool, ...]
    order: tuple[int, ...]  # the axis that is written first, second, ...

    def read(self, cell: Cell, shape: Cell) -> Cell:
        """The canonical coordinates of `cell` as written in this scheme; it may lie outside the grid."""
        told = [cell[place] - self.base for place in self.places]
        return tuple(n - 1 - x if flip else x for x, n, flip in zip(told, shape, self.flips, strict=True))

    def write(self, cell: Cell, shape: Cell) -> Cell:
        """Inverse of `read`."""
        told = [n - 1 - x if flip else x for x, n, flip in zip(cell, shape, self.flips, strict=True)]
        return tuple(told[axis] + self.base for axis in self.order)

    @cached_property
    def places(self) -> tuple[int, ...]:
        """For each axis the place at which it is written."""
        return tuple(map(self.order.index, range(len(self.order))))


@cache
def schemes(dims: int) -> tuple[Scheme, ...]:
    """All schemes of a grid with `dims` axes, ours first: 16 for 2 axes, 96 for 3."""
    flips = product((False, True), repeat=dims)
    return tuple(Scheme(*s) for s in product((0, 1), flips, permutations(range(dims))))


SCHEMES = schemes(2)


def orient(rows: tuple[str, ...], scheme: Scheme) -> tuple[str, ...]:
    """Redraw a grid along the axes of `scheme`: its first coordinate runs down the lines, its second along them."""
    rows = rows[::-1] if scheme.flips[0] else rows
    rows = tuple(r[::-1] for r in rows) if scheme.flips[1] else rows
    return tuple("".join(column) for column in zip(*rows, strict=True)) if scheme.order[0] else rows


def disorient(rows: tuple[str, ...], scheme: Scheme) -> tuple[str, ...]:
    """Inverse of `orient`."""
    rows = tuple("".join(column) for column in zip(*rows, strict=True)) if scheme.order[0] else rows
    rows = tuple(r[::-1] for r in rows) if scheme.flips[1] else rows
    return rows[::-1] if scheme.flips[0] else rows
