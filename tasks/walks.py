"""Walks on grids: shortest ones, distances, what a grader asks about a step; and what tasks that ask for one share."""

from __future__ import annotations

import random
from abc import abstractmethod
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from itertools import groupby
from typing import ClassVar

from tasks import grids
from tasks.answers import Cell, Form, Key, PathForm, PathKey
from tasks.base import Task, View
from tasks.frames import schemes

Ways = Callable[[Cell], Iterable[Cell]]  # where a step may lead


def shortest(start: Cell, goal: Cell, ways: Ways) -> list[Cell]:
    """A shortest walk by breadth-first search, the first one in the order of `ways`; empty if there is none."""
    came: dict[Cell, Cell] = {}
    queue = deque([start])
    while queue and goal not in came:
        cell = queue.popleft()
        for other in ways(cell):
            if other not in came and other != start:
                came[other] = cell
                queue.append(other)
    walk = [goal]
    while walk[-1] in came:
        walk.append(came[walk[-1]])
    return walk[::-1] if walk[-1] == start else []


def distances(start: Cell, ways: Ways) -> dict[Cell, int]:
    """The moves to each cell that can be reached, nearest first."""
    far, edge = {start: 0}, [start]
    for cell in edge:  # which grows
        for other in ways(cell):
            if other not in far:
                far[other] = far[cell] + 1
                edge.append(other)
    return far


def remote(start: Cell, ways: Ways, rng: random.Random) -> Cell:
    """One of the six cells that are furthest from the start on foot."""
    return rng.choice([*distances(start, ways)][-6:])


def returns(walk: Sequence[Cell]) -> bool:
    """Whether a walk comes back to a cell that it has left; waiting is no leaving."""
    stays = [cell for cell, _ in groupby(walk)]
    return len({*stays}) < len(stays)


def barred(rows: grids.Rows, here: Cell, there: Cell) -> str | None:
    """Why no step leads from one cell to the other, if so."""
    if not grids.adjacent(here, there):
        return "is no step to a cell that shares a side"
    return "hits a wall" if grids.at(rows, there) == "#" else None


def reaches(key: PathKey, cells: Sequence[Cell], but_ours: bool = False) -> bool:
    """Whether a walk leads to the goal in any of the schemes in which it may be read, or in any but ours."""
    for scheme in schemes(len(key.shape))[but_ours:]:
        walked = [key.start]
        for number, written in enumerate(cells):
            cell = scheme.read(written, key.shape)
            if number == 0 and cell == key.start:
                continue  # the start may be left out
            if not all(0 <= x < n for x, n in zip(cell, key.shape, strict=True)) or key.step(walked, cell):
                break
            if cell == key.goal:
                return True
            walked.append(cell)
    return False


def through(rows: grids.Rows, start: Cell, goal: Cell, walls: str = "#") -> list[Cell]:
    """A shortest walk past cells marked as `walls`, both ends included; empty if there is none.

    Of several the first in the order north, west, east, south. Cells are numbered along a border of walls, which is
    several times as fast as `shortest`.
    """
    width = len(rows[0]) + 1
    border = walls[0]
    marks = border * width + border + border.join(rows) + border * (width + 1)
    begin, end = ((r + 1) * width + c + 1 for r, c in (start, goal))
    came = {begin: 0}
    queue = deque([begin])
    while queue and end not in came:
        cell = queue.popleft()
        for other in (cell - width, cell - 1, cell + 1, cell + width):
            if marks[other] not in walls and other not in came:
                came[other] = cell
                queue.append(other)
    walk: list[Cell] = []
    while end and end in came:
        walk.append((end // width - 1, end % width - 1))
        end = came[end]
    return walk[::-1]


class WalkTask(Task[View]):
    """A walk from start to goal is asked for, each step of which can be judged by itself."""

    paths: ClassVar[PathForm] = PathForm()

    @abstractmethod
    def shape(self, view: View) -> Cell:
        """The size of the grid."""

    @abstractmethod
    def walk(self, view: View) -> list[Cell]:
        """A best walk, which takes unknowns as harmless; empty if there is none."""

    @abstractmethod
    def fault(self, instance: View, walked: Sequence[Cell], cell: Cell) -> str | None:
        """Why `cell` may not follow the cells walked so far, if so."""

    @abstractmethod
    def changed(self, instance: View, view: View, walk: Sequence[Cell]) -> Iterator[View]:
        """Instances that contain `view` in which `walk`, the canonical one, may be barred, and no other be left."""

    def solve(self, view: View) -> list[list[int]] | None:
        return [list(cell) for cell in self.walk(view)] or None

    def path(self, instance: View) -> PathKey:
        """What the path score needs to know."""
        walk = self.walk(instance)
        if not walk:
            raise ValueError("there is no start, no goal or no way between them")
        step = partial(self.fault, instance)
        return PathKey(self.shape(instance), walk[0], walk[-1], len(walk) - 1, step, self.paths.waits)

    def key(self, instance: View) -> Key:
        return self.path(instance)

    def form(self, view: View) -> Form:
        return self.paths

    def wrong(self, walk: Sequence[Cell], other: View) -> bool:
        """Whether a walk is wrong in another instance, in whatever scheme it is read."""
        return not reaches(self.path(other), walk)

    def rivals(self, instance: View, view: View) -> Iterator[View]:
        """Instances that contain `view` in which there is a way, but the canonical walk is wrong."""
        walk = self.walk(instance)
        for other in self.changed(instance, view, walk):
            if self.walk(other) and self.wrong(walk, other):
                yield other
