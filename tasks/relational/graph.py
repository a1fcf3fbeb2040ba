"""graph: the one shortest route between two places on a map, every road known to one agent only (paper, table 8)."""

from __future__ import annotations

import random
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from heapq import heappop, heappush
from itertools import combinations, pairwise

from tasks import drawing, facts, grids
from tasks.answers import Cell, PathForm, RouteKey
from tasks.base import Task, register
from tasks.frames import Frame

PROMPT = """\
Places on a map of square cells are joined by roads, which can be used in both directions. A road is told by the cells
of the two places that it joins, which may lie far apart, and by its length. Find the shortest route between two places,
that is the one whose roads have the smallest total length. Exactly one route is shortest. Give it as the list of all
its cells from start to goal, both included, each cell as a pair of numbers in round brackets, for example
`(8, 7), (5, 9), (8, 9)`."""

SIZES = {"easy": (5, 6, 8), "default": (6, 9, 13), "hard": (8, 15, 24)}  # side of the map, places, roads
MOVES = (3, 5)  # roads of the shortest route, at least and at most
LENGTHS = range(1, 10)
STARTS = 3  # places from which a route is looked for

Road = tuple[Cell, Cell, int]


@dataclass(frozen=True)
class Chart:
    """`roads`: (place, place, length), sorted within and without; `ends`: from where to where."""

    side: int
    roads: tuple[Road, ...]
    ends: tuple[Cell, Cell]


def routes(roads: Sequence[Road], start: Cell) -> dict[Cell, list[list[Cell]]]:
    """For each place that can be reached: all shortest routes to it, at most two of them."""
    near: dict[Cell, list[tuple[Cell, int]]] = {}
    for a, b, length in roads:
        near.setdefault(a, []).append((b, length))
        near.setdefault(b, []).append((a, length))
    least: dict[Cell, int] = {}
    found: dict[Cell, list[list[Cell]]] = {}
    queue = [(0, [start])]
    while queue:
        far, walk = heappop(queue)
        place = walk[-1]
        if far == least.setdefault(place, far) and len(found.setdefault(place, [])) < 2:
            found[place].append(walk)
            for there, length in near.get(place, ()):
                if there not in least:
                    heappush(queue, (far + length, [*walk, there]))
    return found


def route(chart: Chart) -> list[Cell]:
    """The shortest route if there is exactly one."""
    found = routes(chart.roads, chart.ends[0]).get(chart.ends[1], [])
    return found[0] if len(found) == 1 else []


def step_of(road: Road, cells: Sequence[Cell]) -> int:
    """At which step of a route a road is used, counted from 0; after all of them if it is not."""
    steps = [{*step} for step in pairwise(cells)]
    return steps.index({*road[:2]}) if {*road[:2]} in steps else len(steps)


def neighbours(places: Sequence[Cell]) -> list[tuple[Cell, Cell]]:
    """Pairs without a third place inside the circle that has them as its diameter (the Gabriel graph): roads between
    them join all places, and none passes through another place."""
    return [
        (a, b)
        for a, b in combinations(places, 2)
        if all((a[0] - c[0]) * (b[0] - c[0]) + (a[1] - c[1]) * (b[1] - c[1]) >= 0 for c in places)
    ]


CELL = r"\((\d{1,2}), (\d{1,2})\)"
ROAD = re.compile(rf"{CELL} - {CELL}: ([1-9]\d?)(?!\d)")
MAP = re.compile(r"The map has (\d{1,2}) lines of \d{1,2} cells\.")
ASKED = re.compile(rf"Wanted: the shortest route from {CELL} to {CELL}\.")


@register
class Graph(Task[Chart]):
    name, family, version, rule, prompt = "graph", "relational", 1, "route", PROMPT

    def sample(self, rng: random.Random, difficulty: str) -> Chart | None:
        side, count, wanted = SIZES[difficulty]
        places = sorted(divmod(n, side) for n in rng.sample(range(side * side), count))
        pairs = neighbours(places)
        if len(pairs) < wanted:
            return None
        roads = tuple((a, b, rng.choice(LENGTHS)) for a, b in sorted(rng.sample(pairs, wanted)))
        ends = [
            (start, goal)
            for start in rng.sample(places, STARTS)
            for goal, found in sorted(routes(roads, start).items())
            if len(found) == 1 and MOVES[0] < len(found[0]) <= MOVES[1] + 1 and not grids.mirrored((side, side), goal)
        ]  # a goal that another scheme maps onto itself might be the end of a mirrored route
        return Chart(side, roads, rng.choice(ends)) if ends else None

    def split(self, instance: Chart, rng: random.Random) -> tuple[Chart, ...]:
        """By turns along the route, so that an agent never knows two of its roads in a row; then the others."""
        cells, roads = route(instance), rng.sample(instance.roads, len(instance.roads))
        roads.sort(key=lambda road: step_of(road, cells))
        turn = rng.randrange(2)
        return tuple(replace(instance, roads=tuple(sorted(roads[first::2]))) for first in (turn, 1 - turn))

    def merge(self, views: Sequence[Chart]) -> Chart:
        if len({(view.side, view.ends) for view in views}) > 1:
            raise ValueError("the maps or the ends of the route differ")
        return replace(views[0], roads=facts.merged((view.roads for view in views), about=2))

    def render(self, view: Chart, frame: Frame) -> str:
        def told(cell: Cell) -> str:
            return str(grids.scheme_of(frame).write(cell, (view.side, view.side)))

        start, goal = map(told, view.ends)
        head = [f"The map has {view.side} lines of {view.side} cells.", *grids.heading(frame)]
        roads = [f"{told(a)} - {told(b)}: {length}" for a, b, length in view.roads]
        return "\n".join([*head, *roads, f"Wanted: the shortest route from {start} to {goal}."])

    def parse(self, text: str) -> Chart:
        size, asked, scheme = MAP.search(text), ASKED.search(text), grids.stated(text)
        if not size or not asked:
            raise ValueError("no map and no route in the text")
        side = int(size[1])

        def cell(line: str, place: str) -> Cell:
            read = scheme.read((int(line), int(place)), (side, side))
            if not all(0 <= x < side for x in read):
                raise ValueError(f"the cell ({line}, {place}) lies outside the map")
            return read

        told = [(cell(*road[:2]), cell(*road[2:4]), int(road[4])) for road in ROAD.findall(text)]
        roads = {(min(a, b), max(a, b), length) for a, b, length in told}
        return Chart(side, tuple(sorted(roads)), (cell(*asked.groups()[:2]), cell(*asked.groups()[2:])))

    def solve(self, view: Chart) -> list[list[int]] | None:
        """Of a partial view: where no route is known, a road straight from start to goal."""
        start, goal = view.ends
        walks = routes(view.roads, start).get(goal, [[start, goal]])
        return [list(cell) for cell in walks[0]]

    def key(self, instance: Chart) -> RouteKey:
        if not (cells := route(instance)):
            raise ValueError("there is no route, or more than one is shortest")
        return RouteKey((instance.side, instance.side), tuple(cells))

    def form(self, view: Chart) -> PathForm:
        return PathForm(unit=False)

    def rivals(self, instance: Chart, view: Chart) -> Iterator[Chart]:
        """The same roads, an unseen one of our route longer or another unseen one shorter, so that our route is not
        the shortest any more and exactly one other is."""
        ours = route(instance)
        steps = len(ours) - 1
        unseen = [road for road in instance.roads if road not in view.roads]
        for road in sorted(unseen, key=lambda road: step_of(road, ours)):
            a, b, known = road
            for length in reversed(LENGTHS[known:]) if step_of(road, ours) < steps else LENGTHS[: known - 1]:
                other = replace(instance, roads=facts.exchanged(instance.roads, road, (a, b, length)))
                if (found := route(other)) and found != ours:
                    yield other

    def corrupt(self, view: Chart, rng: random.Random) -> Chart:
        a, b, length = road = rng.choice(view.roads)
        return replace(view, roads=facts.exchanged(view.roads, road, (a, b, 1 if length > 5 else 9)))

    def draw(self, instance: Chart, answer: object, where: object) -> str:
        kept = where if isinstance(where, dict) else {}
        walked, broke = [tuple(cell) for cell in kept.get("walked", [])], kept.get("broke")
        best, step = route(instance), 62

        def at(cell: Sequence[int]) -> tuple[float, float]:
            return 34 + step * cell[1], 24 + step * cell[0]

        parts = [drawing.edge(at(a), at(b), "goal") for a, b in pairwise(best)]
        parts += [drawing.edge(at(a), at(b), "right") for a, b in pairwise(walked)]
        if broke and walked and all(0 <= x < instance.side for x in broke):
            parts.append(drawing.edge(at(walked[-1]), at(broke), "broken"))
        parts += [drawing.edge(at(a), at(b), label=length) for a, b, length in instance.roads]
        places = sorted({cell for a, b, _ in instance.roads for cell in (a, b)})
        for place in places:
            css = "start" if place == best[0] else "goal" if place == best[-1] else "node"
            parts.append(drawing.node(at(place), f"{place[0]}, {place[1]}", css))
        side = step * instance.side
        return drawing.svg(side, side - 10, parts, "the map, the shortest route and the route that was answered")
