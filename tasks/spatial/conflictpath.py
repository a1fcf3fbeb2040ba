"""conflictpath: two robots that get into each other's way, each known to one agent only (paper, table 8)."""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import pairwise, product

from tasks import drawing, grids
from tasks.answers import Cell, JointKey, PathsForm
from tasks.base import Task, register
from tasks.frames import Frame

PROMPT = """\
Two robots, copper and silver, move at the same time on a grid. Copper goes from `c` to `C`, silver from `s` to `S`. With
each step a robot goes to a cell that shares a side with its present one, or waits. Cells marked `#` are walls and cannot
be entered, all others are free, and `?` marks a cell that is hidden from you. The robots may never be in one cell at the
same step, nor exchange their cells in one step. A robot does not return to a cell that it has left; at its goal it stays
and is in the way of the other. Bring both to their goals in as few steps as possible; any plan with the fewest steps
will do. Give each robot a line of its own with its name and its cells at step 0 (the start), 1, 2 and so on up to its
goal, each as a pair of numbers in round brackets; where it waits the cell comes again, for example
`tin: (8, 9), (8, 9), (7, 9)`."""

SIZES = {"easy": (4, 4), "default": (5, 6), "hard": (7, 9)}  # side of the grid, least steps of the plan
WALLS = 0.25  # share of wall cells before the draw is accepted
BOTH = 0.1  # share of cells without a robot's mark that both agents see
SLACK = 3  # steps that a plan may take beyond the longer of the robots' own ways
TRIES = 24  # starts and goals tried on one floor
ROBOTS = {"copper": "cC", "silver": "sS"}  # the marks of start and goal

Pair = tuple[Cell, Cell]  # where copper is, and where silver is


@dataclass(frozen=True)
class Floor:
    """Marks: `#` wall, `.` free, `?` unknown, and those of `ROBOTS`."""

    rows: grids.Rows


@cache
def ways(shape: Cell) -> dict[Cell, tuple[Cell, ...]]:
    """Where a step may lead from each cell of a grid without walls, waiting first."""
    every = product(*map(range, shape))
    return {cell: (cell, *grids.neighbours(cell, shape)) for cell in every}


def distances(rows: grids.Rows, goal: Cell) -> dict[Cell, int]:
    """The moves from each cell that can reach `goal`, where unknown cells are free; nearest first."""
    near, far, edge = ways((len(rows), len(rows[0]))), {goal: 0}, [goal]
    for cell in edge:  # which grows
        for other in near[cell]:
            if other not in far and rows[other[0]][other[1]] != "#":
                far[other] = far[cell] + 1
                edge.append(other)
    return far


class Plans:
    """Joint plans on a floor that shows both robots."""

    def __init__(self, rows: grids.Rows, copper: tuple[Cell, Cell], silver: tuple[Cell, Cell]) -> None:
        self.start = copper[0], silver[0]
        self.far = distances(rows, copper[1]), distances(rows, silver[1])
        self.ways = ways((len(rows), len(rows[0])))
        self.own = [far.get(cell, len(rows) * len(rows[0])) for far, cell in zip(self.far, self.start, strict=True)]

    def within(self, limits: Sequence[int]) -> list[Pair]:
        """A plan by which each robot is at its goal from its limit on; empty if there is none."""
        dead: set[tuple[int, Pair]] = set()

        def follow(now: Pair, step: int) -> list[Pair]:
            if step == max(limits):
                return [now]
            if (step, now) in dead:
                return []
            left = [max(0, limit - step - 1) for limit in limits]
            able = [[x for x in self.ways[now[i]] if self.far[i].get(x, left[i] + 1) <= left[i]] for i in (0, 1)]
            both = [then for then in product(*able) if then[0] != then[1] and then != now[::-1]]
            for then in sorted(both, key=lambda pair: self.far[0][pair[0]] + self.far[1][pair[1]]):
                if rest := follow(then, step + 1):
                    return [now, *rest]
            dead.add((step, now))
            return []

        return follow(self.start, 0) if all(o <= limit for o, limit in zip(self.own, limits, strict=True)) else []

    def best(self) -> list[Pair]:
        """A plan with the fewest steps; empty if there is none within `SLACK`."""
        least = max(self.own)
        reachable = all(start in far for start, far in zip(self.start, self.far, strict=True))
        plans = (self.within((limit, limit)) for limit in range(least, least + SLACK + 1) if reachable)
        return next((plan for plan in plans if plan), [])


def ways_of(plan: Sequence[Pair]) -> dict[str, list[Cell]]:
    """Each robot's cells up to its goal."""
    ways = {}
    for robot, cells in zip(ROBOTS, map(list, zip(*plan, strict=True)), strict=True):
        while len(cells) > 1 and cells[-1] == cells[-2]:
            cells.pop()
        ways[robot] = cells
    return ways


def plans(rows: grids.Rows) -> Plans | None:
    """None if a robot is missing."""
    copper, silver = ((grids.find(rows, a), grids.find(rows, b)) for a, b in ROBOTS.values())
    if copper[0] and copper[1] and silver[0] and silver[1]:
        return Plans(rows, (copper[0], copper[1]), (silver[0], silver[1]))
    return None


def proper(plan: Sequence[Pair]) -> bool:
    """Whether there is a plan, no robot returns to a cell, and none waits at its start."""
    for cells in ways_of(plan).values() if plan else ():
        left = [a for a, b in pairwise(cells) if a != b]
        if len({*left, cells[-1]}) <= len(left) or cells[0] == cells[1]:
            return False
    return bool(plan)


@register
class ConflictPath(Task[Floor]):
    """No two shortest ways of the robots go together, so that one has to wait or to make way. Plans in which a robot
    waits at its start are rejected: an answer that leaves the start out would lose it."""

    name, family, version, rule, prompt = "conflictpath", "spatial", 1, "joint", PROMPT

    def sample(self, rng: random.Random, difficulty: str) -> Floor | None:
        side, least = SIZES[difficulty]
        rows = tuple("".join("#" if rng.random() < WALLS else "." for _ in range(side)) for _ in range(side))
        free = [(r, c) for r, c in grids.cells(rows) if rows[r][c] == "."]
        near = ways((side, side))
        for _ in range(TRIES):
            start = rng.choice(free)
            room = distances(rows, start)
            goal = rng.choice(list(room))
            nearby = [rng.choice(near[rng.choice(near[end])]) for end in (goal, start)]
            marked = start, goal, nearby[0], nearby[1]  # silver comes about the reverse way
            if room[goal] < least - 1 or len(set(marked)) < 4 or not all(cell in room for cell in marked):
                continue
            found = Plans(rows, marked[:2], marked[2:])
            if min(found.own) < least // 2 or grids.mirrored((side, side), *marked):
                continue  # mirrored ways would join the same cells, and the grader could not tell
            if not found.within(found.own) and len(plan := found.best()) > least and proper(plan):
                for cell, mark in zip(marked, "".join(ROBOTS.values()), strict=True):
                    rows = grids.put(rows, cell, mark)
                return Floor(rows)
        return None

    def split(self, instance: Floor, rng: random.Random) -> tuple[Floor, ...]:
        views = []
        for own, half in zip(ROBOTS.values(), grids.mask(instance.rows, rng, BOTH), strict=True):
            others = {(r, c) for r, c in grids.cells(half) if half[r][c] == "?" and instance.rows[r][c] in ".#"}
            others |= {(r, c) for r, c in grids.cells(half) if instance.rows[r][c] not in ".#" + own}
            views.append(Floor(grids.hide(instance.rows, others)))
        return tuple(views)

    def merge(self, views: Sequence[Floor]) -> Floor:
        return Floor(grids.merge([v.rows for v in views]))

    def render(self, view: Floor, frame: Frame) -> str:
        return "\n".join([*grids.heading(frame), grids.told(view.rows, frame)])

    def parse(self, text: str) -> Floor:
        return Floor(grids.read(text, ".#?cCsS"))

    def solve(self, view: Floor) -> dict[str, list[list[int]]] | None:
        """Of a partial view, or where there is no plan: a shortest way of each robot that is known."""
        found = plans(view.rows)
        ways = ways_of(found.best()) if found and found.best() else {}
        for robot, (a, b) in ROBOTS.items() if not ways else ():
            start, goal = grids.find(view.rows, a), grids.find(view.rows, b)
            if start and goal and (way := grids.through(view.rows, start, goal)):
                ways[robot] = way
        return {robot: [list(cell) for cell in way] for robot, way in ways.items()} or None

    def key(self, instance: Floor) -> JointKey:
        found = plans(instance.rows)
        if found is None or not (plan := found.best()):
            raise ValueError("a robot is missing, or there is no plan")
        goals = [next(cell for cell, moves in far.items() if moves == 0) for far in found.far]
        ends = dict(zip(ROBOTS, zip(found.start, goals, strict=True), strict=True))
        blocked = frozenset((r, c) for r, c in grids.cells(instance.rows) if instance.rows[r][c] == "#")
        return JointKey((len(instance.rows), len(instance.rows[0])), ends, blocked, len(plan) - 1)

    def form(self, view: Floor) -> PathsForm:
        return PathsForm(tuple(ROBOTS), waits=True)

    def rivals(self, instance: Floor, view: Floor) -> Iterator[Floor]:
        """The goal of the robot that is not seen lies on a hidden cell off the canonical ways."""
        crossed = [cell for cells in (self.solve(instance) or {}).values() for cell in cells]
        for goal in (marks[1] for marks in ROBOTS.values() if not grids.find(view.rows, marks[1])):
            old = grids.find(instance.rows, goal)
            for r, c in grids.cells(view.rows) if old else ():
                if view.rows[r][c] == "?" and instance.rows[r][c] == "." and [r, c] not in crossed:
                    other = grids.put(grids.put(instance.rows, old, "."), (r, c), goal)
                    if (found := plans(other)) and proper(found.best()):
                        yield Floor(other)

    def corrupt(self, view: Floor, rng: random.Random) -> Floor:
        """Rather a wall told as free than the reverse, and one that a way then goes through: that does harm."""
        known = [(r, c) for r, c in grids.cells(view.rows) if view.rows[r][c] in ".#"]
        rng.shuffle(known)
        known.sort(key=lambda cell: view.rows[cell[0]][cell[1]])
        lies = [Floor(grids.put(view.rows, (r, c), "#" if view.rows[r][c] == "." else ".")) for r, c in known]
        ours = self.solve(view)
        return next((lie for lie in lies if self.solve(lie) != ours), lies[0])

    def draw(self, instance: Floor, answer: object, where: object) -> str:
        """Copper's lines and steps lie up and left in each cell, silver's down and right."""
        kept = where if isinstance(where, dict) else {}
        shown = "".join(ROBOTS.values())
        parts = drawing.tiles(instance.rows, shown, {m: ("start", "goal")[m.isupper()] for m in shown})
        best, height = self.solve(instance) or {}, len(instance.rows) * drawing.CELL
        for robot, shift in zip(ROBOTS, (-4, 4), strict=True):
            walked, broke = (kept.get(part, {}).get(robot, []) for part in ("paths", "broke"))
            for way, css in ((best.get(robot, []), "edge"), (walked, "walk")):
                parts.append(drawing.line([(x + shift, y + shift) for x, y in drawing.centres(way)], css))
            steps = {tuple(cell): [i for i, other in enumerate(walked) if other == cell] for cell in walked}
            for (x, y), at in zip(drawing.centres(steps), steps.values(), strict=True):
                told = f"{at[0]}-{at[-1]}" if len(at) > 1 else at[0]
                parts.append(drawing.text(x + 2 * shift, y + 2.2 * shift + 4, told))
            if broke and 0 <= broke[0] < len(instance.rows) and 0 <= broke[1] < len(instance.rows[0]):
                parts += [drawing.ring(x + shift, y + shift, 9, "broken") for x, y in drawing.centres([broke])]
        notes = [
            (f"{robot}, fewest steps (thin): {' '.join(f'{r},{c}' for r, c in way)}", "") for robot, way in best.items()
        ]
        parts += drawing.notes(height, notes)
        width = max(len(instance.rows[0]) * drawing.CELL, 500)
        return drawing.svg(width, height + 60, parts, "the floor with the ways that were answered")
