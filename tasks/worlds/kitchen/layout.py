"""Where things stand in a kitchen, what each seat reaches and by which primitives it gets there.

Cells are (x, y) from the top left, y growing downwards. A primitive is N, E, S or W (a step, or only a turn where
that way is no floor), INTERACT with the faced cell, or STAY.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

from tasks.worlds.kitchen.recipes import LAYOUT, PRODUCTS, SEATS, kind_of

Cell = tuple[int, int]
FLOOR, TABLE = ".", "X"
INTERACT, STAY = "interact", "stay"
DIRECTIONS = {"N": (0, -1), "S": (0, 1), "E": (1, 0), "W": (-1, 0)}


class Pose(NamedTuple):
    """Where somebody stands and which way they face."""

    x: int
    y: int
    facing: str

    @property
    def faced(self) -> Cell:
        dx, dy = DIRECTIONS[self.facing]
        return self.x + dx, self.y + dy


class Way(NamedTuple):
    """The least number of primitives to an interaction, that one included, and the first of them."""

    cost: int
    first: str


class Seat(NamedTuple):
    """What one seat has: its floor, the cells beside it, and from each pose the way to each of those cells."""

    floor: frozenset[Cell]
    reach: frozenset[Cell]
    ways: Mapping[Pose, Mapping[Cell, Way]]


@dataclass(frozen=True)
class Layout:
    """A kitchen's plan: `rows` of marks (`.` floor, `X` counter, others as `stations` name them), and where each seat
    starts. Stations are given as pairs (mark, name).

    Raises:
        ValueError: rows of several lengths, a mark without a name or used twice, a start that is no floor, or seats
            that can walk into each other.
    """

    rows: tuple[str, ...]
    stations: tuple[tuple[str, str], ...]
    starts: tuple[Pose, ...]  # of the initiator, of the responder

    def __post_init__(self) -> None:
        named = dict(self.stations)
        marks = [mark for row in self.rows for mark in row if mark not in (FLOOR, TABLE)]
        if len({len(row) for row in self.rows}) != 1:
            raise ValueError(f"layout {self.rows!r}: all rows must have the same length")
        if unknown := [mark for mark in marks if mark not in named]:
            raise ValueError(f"layout: mark {unknown[0]!r} has no name; add it to `stations`")
        if twice := [mark for mark in named if marks.count(mark) != 1]:
            raise ValueError(f"layout: mark {twice[0]!r} must be in the rows once, not {marks.count(twice[0])} times")
        for seat, start in zip(SEATS, self.starts, strict=True):
            if start.facing not in DIRECTIONS or self.mark(start[:2]) != FLOOR:
                raise ValueError(f"layout: the {seat} starts at {start}, which is no floor and direction (N, E, S, W)")
        if self.seats[0].floor & self.seats[1].floor:
            raise ValueError("layout: the seats can walk into each other; part their floors by counters")

    def mark(self, cell: Cell) -> str:
        """What is at a cell; "" outside."""
        x, y = cell
        return self.rows[y][x] if 0 <= y < len(self.rows) and 0 <= x < len(self.rows[0]) else ""

    @cached_property
    def places(self) -> dict[str, Cell]:
        """The cell of each station, by name."""
        named = dict(self.stations)
        return {named[mark]: (x, y) for y, row in enumerate(self.rows) for x, mark in enumerate(row) if mark in named}

    @cached_property
    def utensils(self) -> tuple[str, ...]:
        """The stations that process food, in the order of `stations`."""
        return tuple(name for _, name in self.stations if kind_of(name) in PRODUCTS)

    @cached_property
    def counters(self) -> tuple[Cell, ...]:
        """All counters that somebody reaches, row by row."""
        reached = self.seats[0].reach | self.seats[1].reach
        cells = [(x, y) for y, row in enumerate(self.rows) for x, mark in enumerate(row) if mark == TABLE]
        return tuple(cell for cell in cells if cell in reached)

    @cached_property
    def shared(self) -> frozenset[Cell]:
        """The cells that both seats reach."""
        return self.seats[0].reach & self.seats[1].reach

    @cached_property
    def seats(self) -> tuple[Seat, ...]:
        return tuple(self._seat(start) for start in self.starts)

    def moved(self, pose: Pose, direction: str) -> Pose:
        """The pose after a step or turn."""
        turned = pose._replace(facing=direction)
        return Pose(*turned.faced, direction) if self.mark(turned.faced) == FLOOR else turned

    def _seat(self, start: Pose) -> Seat:
        floor, ahead = {start[:2]}, [start]
        while ahead:
            here = ahead.pop()
            for direction in DIRECTIONS:
                then = self.moved(here, direction)
                if then[:2] not in floor:
                    floor.add(then[:2])
                    ahead.append(then)
        poses = [Pose(x, y, facing) for x, y in sorted(floor) for facing in DIRECTIONS]
        ways = {pose: self._ways(pose) for pose in poses}
        return Seat(frozenset(floor), frozenset(ways[start]), ways)

    def _ways(self, start: Pose) -> dict[Cell, Way]:
        """Breadth first from a pose over all poses."""
        found: dict[Cell, Way] = {}
        ahead, seen = deque([(start, 0, INTERACT)]), {start}
        while ahead:
            pose, cost, first = ahead.popleft()
            if self.mark(pose.faced) not in (FLOOR, "") and pose.faced not in found:
                found[pose.faced] = Way(cost + 1, first)
            for direction in DIRECTIONS:
                then = self.moved(pose, direction)
                if then not in seen:
                    seen.add(then)
                    ahead.append((then, cost + 1, direction if cost == 0 else first))
        return found


PUBLISHED = Layout(
    tuple(LAYOUT["rows"]),
    tuple(LAYOUT["stations"].items()),
    tuple(Pose(*LAYOUT["starts"][seat]) for seat in SEATS),
)
