"""terrain: a cheap walk over ground whose costs are half hidden from each agent (paper, table 8)."""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from heapq import heappop, heappush

from tasks import drawing, grids
from tasks.answers import Cell, CostKey, PathForm, PathKey
from tasks.base import Task, register
from tasks.frames import SCHEMES, Frame
from tasks.spatial.geomaze import reaches, walk_parts

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
FAR = 10**6  # more than any walk costs
USUAL = 4  # cost of a hidden cell as a guesser takes it


@dataclass(frozen=True)
class Ground:
    """Marks: digits are costs, `@` start, `*` goal, `?` unknown.

    Costs are low in valleys and high on ridges, with nothing between, and every straight way is dear: on ground of even
    costs whoever knows half of it, or nothing, would walk nearly as cheaply as the best.
    """

    rows: grids.Rows


def cheapest(rows: grids.Rows, toll: int = 0) -> tuple[int, list[Cell]]:
    """The least cost and a walk that costs it, `toll` being paid on top for every step; (0, []) if there is none."""
    price = {"?": USUAL + toll, "*": 1 + toll, "@": 1 + toll, "#": FAR} | {str(n): n + toll for n in range(1, 10)}
    start, goal = grids.find(rows, "@"), grids.find(rows, "*")
    if start is None or goal is None:
        return 0, []
    width = len(rows[0]) + 1  # cells are numbered along a border that nobody can pay for
    prices = [price[mark] for mark in "#" * width + "#" + "#".join(rows) + "#" * (width + 1)]
    begin, end = ((r + 1) * width + c + 1 for r, c in (start, goal))
    paid, came, queue = [FAR] * len(prices), [0] * len(prices), [(0, begin)]
    paid[begin] = 0
    while queue:
        spent, cell = heappop(queue)
        if cell == end:
            break
        if spent == paid[cell]:
            for other in (cell - width, cell - 1, cell + 1, cell + width):
                cost = spent + prices[other]
                if cost < paid[other]:
                    paid[other], came[other] = cost, cell
                    heappush(queue, (cost, other))
    walk = [end]
    while walk[-1] != begin:
        walk.append(came[walk[-1]])
    return paid[end], [(cell // width - 1, cell % width - 1) for cell in reversed(walk)]


def cost(rows: grids.Rows, walk: Sequence[Cell]) -> int:
    """What a walk costs that ends at the goal."""
    return sum(int(rows[r][c]) for r, c in walk[1:-1]) + 1


@register
class Terrain(Task[Ground]):
    name, family, version, rule, prompt = "terrain", "spatial", 1, "cheapest", PROMPT

    def sample(self, rng: random.Random, difficulty: str) -> Ground | None:
        side, least = SIZES[difficulty]
        drawn = tuple(
            "".join(rng.choice(RIDGE if rng.random() < RIDGES else VALLEY) for _ in range(side)) for _ in range(side)
        )
        start = rng.randrange(side), rng.randrange(side)
        valley = [(r, c) for r, c in grids.cells(drawn) if drawn[r][c] in VALLEY]
        goal = max(rng.choices(valley, k=GOALS), key=lambda cell: len(grids.through(drawn, start, cell, RIDGE)))
        if len(grids.through(drawn, start, goal, RIDGE)) <= least or grids.mirrored((side, side), start, goal):
            return None
        rows = grids.put(grids.put(drawn, start, "@"), goal, "*")
        ground, walk = Ground(rows), cheapest(rows)[1]
        if cost(rows, cheapest(rows, toll=1000)[1]) < DETOUR * cost(rows, walk):
            return None
        return None if reaches(self.key(ground).path, walk, SCHEMES[1:]) else ground

    def split(self, instance: Ground, rng: random.Random) -> tuple[Ground, ...]:
        """Half of the cells each, both ends to both; of several ways to share them the one with the dearest guesses."""

        def both_ends(rows: grids.Rows) -> Ground:
            for mark in "@*":
                rows = grids.put(rows, grids.find(instance.rows, mark) or (0, 0), mark)
            return Ground(rows)

        masks = [tuple(map(both_ends, grids.mask(instance.rows, rng, 0))) for _ in range(MASKS)]
        return max(masks, key=lambda views: sum(cost(instance.rows, cheapest(v.rows)[1]) for v in views))

    def merge(self, views: Sequence[Ground]) -> Ground:
        return Ground(grids.merge([v.rows for v in views]))

    def render(self, view: Ground, frame: Frame) -> str:
        return "\n".join([*grids.heading(frame), grids.told(view.rows, frame)])

    def parse(self, text: str) -> Ground:
        return Ground(grids.read(text, "123456789@*?"))

    def solve(self, view: Ground) -> list[list[int]] | None:
        """Of a partial view: hidden cells are taken to be neither cheap nor dear."""
        return [list(cell) for cell in cheapest(view.rows)[1]] or None

    def key(self, instance: Ground) -> CostKey:
        rows = instance.rows
        least, walk = cheapest(rows)
        if not walk:
            raise ValueError("the ground has no start or no goal")

        def step(walked: Sequence[Cell], cell: Cell) -> str | None:
            return None if grids.adjacent(walked[-1], cell) else "is no step to a cell that shares a side"

        moves = sum(abs(a - b) for a, b in zip(walk[0], walk[-1], strict=True))
        path = PathKey((len(rows), len(rows[0])), walk[0], walk[-1], moves, step)
        return CostKey(path, lambda cell: 1 if cell == walk[-1] else int(rows[cell[0]][cell[1]]), least)

    def form(self, view: Ground) -> PathForm:
        return PathForm()

    def rivals(self, instance: Ground, view: Ground) -> Iterator[Ground]:
        """A hidden cell of the canonical walk is a ridge, so that another walk is cheaper."""
        walk = cheapest(instance.rows)[1]
        for r, c in walk[1:-1]:
            rows = grids.put(instance.rows, (r, c), "9")
            if view.rows[r][c] == "?" and cheapest(rows)[0] < cost(rows, walk):
                yield Ground(rows)

    def corrupt(self, view: Ground, rng: random.Random) -> Ground:
        """A valley told as a ridge or a ridge as a valley, if possible one that changes the way."""
        known = [(r, c) for r, c in grids.cells(view.rows) if view.rows[r][c] not in "@*?"]
        rng.shuffle(known)
        told = cheapest(view.rows)[1]
        lies = [Ground(grids.put(view.rows, (r, c), "28"[view.rows[r][c] in VALLEY])) for r, c in known]
        return next((lie for lie in lies if cheapest(lie.rows)[1] != told), lies[0])

    def draw(self, instance: Ground, answer: object, where: object) -> str:
        """The walk that was answered, over a cheapest one."""
        high, wide = len(instance.rows) * drawing.CELL, len(instance.rows[0]) * drawing.CELL
        parts = walk_parts(instance.rows, where, cheapest(instance.rows)[1])
        return drawing.svg(wide, high, parts, "the ground with the walk that was answered over a cheapest one")
