"""terrain: a cheap walk over ground whose costs are half hidden from each agent (paper, table 8)."""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from heapq import heappop, heappush

from tasks import drawing, grids, walks
from tasks.answers import Cell, CostKey
from tasks.base import register
from tasks.grids import Grid, GridTask
from tasks.walks import WalkTask

PROMPT = """\
Find a cheapest walk from the start `@` to the goal `*` over rough ground. One step goes to a cell that shares a side
with the present one, and the digit of the cell that is entered is what the step costs; entering the goal costs 1, and
the start costs nothing. The cheapest walk may well be a long way round. `?` marks a cell whose cost is hidden from
you. Give the walk as the list of all its cells from start to goal, both included, each cell as a pair of numbers in
round brackets, for example `(20, 30), (20, 31), (21, 31)`. Any walk of the least cost is right."""

SIZES = {"easy": (5, 4), "default": (7, 8), "hard": (10, 12)}  # side of the ground, least moves through the valley
VALLEY, RIDGE = "112", "899"  # costs of a cell, drawn from either
RIDGES = 0.4  # share of ridge cells
DETOUR = 1.4  # how many times as dear a walk without any detour is, at least
GOALS = 10  # cells tried as the goal, of which the one furthest through the valley is taken
MASKS = 8  # ways to share the cells out, of which the one is taken that tells least
PRICES = {"?": 4, "*": 1, "@": 1} | {
    str(n): n for n in range(1, 10)
}  # of entering a cell; a hidden one as a guesser takes it


@dataclass(frozen=True)
class Ground(Grid):
    """Marks: digits are costs, `@` start, `*` goal, `?` unknown.

    Costs are low in valleys and high on ridges, with nothing between, and every straight way is dear: on ground of even
    costs whoever knows half of it, or nothing, would walk nearly as cheaply as the best.
    """


@lru_cache(maxsize=256)
def cheapest(rows: grids.Rows, toll: int = 0) -> list[Cell]:
    """A walk of the least cost, `toll` being paid on top for every step; empty if no start or no goal is known."""
    ends = grids.ends(rows)
    if not ends:
        return []
    start, goal = ends
    shape = grids.shape(rows)
    paid, came = {start: 0}, {start: start}
    queue = [(0, start)]
    while queue:
        spent, cell = heappop(queue)
        if cell == goal:
            break
        for other in grids.neighbours(cell, shape) if spent == paid[cell] else ():
            now = spent + PRICES[rows[other[0]][other[1]]] + toll
            if now < paid.get(other, now + 1):
                paid[other], came[other] = now, cell
                heappush(queue, (now, other))
    walk = [goal]
    while walk[-1] != start:
        walk.append(came[walk[-1]])
    return walk[::-1]


def cost(rows: grids.Rows, walk: Sequence[Cell]) -> int:
    """What a walk costs that ends at the goal."""
    return sum(PRICES[grids.at(rows, cell)] for cell in walk[1:])


@register
class Terrain(GridTask[Ground], WalkTask[Ground]):
    name, family, version, rule, prompt = "terrain", "spatial", 1, "cheapest", PROMPT
    kind, marks = Ground, "123456789@*?"

    def sample(self, rng: random.Random, difficulty: str) -> Ground | None:
        side, least = SIZES[difficulty]
        rows = grids.filled(side, lambda: rng.choice(RIDGE if rng.random() < RIDGES else VALLEY))
        start = rng.randrange(side), rng.randrange(side)
        goals = rng.choices(grids.marked(rows, VALLEY), k=GOALS)
        goal = max(goals, key=lambda cell: len(walks.through(rows, start, cell, RIDGE)))
        if len(walks.through(rows, start, goal, RIDGE)) <= least or grids.mirrored((side, side), start, goal):
            return None
        ground = Ground(grids.put_ends(rows, start, goal))
        walk, direct = (cheapest(ground.rows, toll) for toll in (0, 1000))
        if cost(ground.rows, direct) < DETOUR * cost(ground.rows, walk):
            return None
        return None if walks.reaches(self.path(ground), walk, but_ours=True) else ground

    def split(self, instance: Ground, rng: random.Random) -> tuple[Ground, ...]:
        """Half of the cells each, both ends to both; of several ways to share them the one with the dearest guesses."""
        start, goal = grids.ends(instance.rows) or ((0, 0), (0, 0))
        masks = [grids.mask(instance.rows, rng) for _ in range(MASKS)]
        both = [tuple(Ground(grids.put_ends(rows, start, goal)) for rows in halves) for halves in masks]
        return max(both, key=lambda views: sum(cost(instance.rows, cheapest(v.rows)) for v in views))

    def walk(self, view: Ground) -> list[Cell]:
        """Hidden cells are taken to be neither cheap nor dear."""
        return cheapest(view.rows)

    def fault(self, instance: Ground, walked: Sequence[Cell], cell: Cell) -> str | None:
        return walks.barred(instance.rows, walked[-1], cell)

    def key(self, instance: Ground) -> CostKey:
        rows, walk, path = instance.rows, self.walk(instance), self.path(instance)
        moves = grids.apart(path.start, path.goal)
        return CostKey(replace(path, optimal=moves), lambda cell: PRICES[grids.at(rows, cell)], cost(rows, walk))

    def changed(self, instance: Ground, view: Ground, walk: Sequence[Cell]) -> Iterator[Ground]:
        """A hidden cell of the walk is a ridge."""
        for cell in walk[1:-1]:
            if grids.at(view.rows, cell) == "?":
                yield Ground(grids.put(instance.rows, cell, "9"))

    def wrong(self, walk: Sequence[Cell], other: Ground) -> bool:
        return cost(other.rows, cheapest(other.rows)) < cost(other.rows, walk)

    def complete(self, view: Ground, other: Ground) -> Ground:
        return Ground(tuple(row.replace(".", "1") for row in grids.completed(view.rows, other.rows)))

    def corrupt(self, view: Ground, rng: random.Random) -> Ground:
        """A valley told as a ridge or a ridge as a valley."""
        cell = rng.choice(grids.marked(view.rows, VALLEY + RIDGE))
        return Ground(grids.put(view.rows, cell, "28"[grids.at(view.rows, cell) in VALLEY]))

    def draw(self, instance: Ground, answer: object, where: object) -> str:
        """The walk that was answered, over a cheapest one."""
        parts = drawing.walk(instance.rows, where, cheapest(instance.rows))
        return drawing.board(instance.rows, parts, "the ground with the walk that was answered over a cheapest one")
