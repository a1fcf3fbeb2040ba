"""conflictpath: two robots that get into each other's way, each known to one agent only (paper, table 8)."""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache, partial
from itertools import product

from tasks import drawing, grids, walks
from tasks.answers import Cell, JointKey, PathsForm
from tasks.base import register
from tasks.grids import Grid, GridTask

PROMPT = """\
Two robots, copper and silver, move at the same time on a grid. Copper goes from `c` to `C`, silver from `s` to `S`.
With each step a robot goes to a cell that shares a side with its present one, or waits. Cells marked `#` are walls and
cannot be entered, all others are free, and `?` marks a cell that is hidden from you. The robots may never be in one
cell at the same step, nor exchange their cells in one step. A robot never returns to a cell that it has left; at its
goal it stays and is in the way of the other. Bring both to their goals in as few steps as possible; any plan with the
fewest steps will do. Give each robot a line of its own with its name and its cells at step 0 (the start), 1, 2 and so
on up to its goal, each as a pair of numbers in round brackets; where it waits the cell comes again, for example
`tin: (8, 9), (8, 9), (7, 9)`."""

SIZES = {"easy": (4, 4), "default": (5, 6), "hard": (7, 9)}  # side of the grid, least steps of the plan
WALLS = 0.25  # share of wall cells before the draw is accepted
BOTH = 0.1  # share of cells without a robot's mark that both agents see
SLACK = 3  # steps that a plan may take beyond the longer of the robots' own ways
TRIES = 24  # starts and goals tried on one floor
ROBOTS = {"copper": ("c", "C"), "silver": ("s", "S")}  # the marks of start and goal
MARKS = "".join(start + goal for start, goal in ROBOTS.values())

Pair = tuple[Cell, ...]  # where copper is, and where silver is
Plan = dict[str, list[Cell]]  # the cells of each robot at step 0, 1, 2, ... up to its goal


@dataclass(frozen=True)
class Floor(Grid):
    """Marks: `#` wall, `.` free, `?` unknown, and those of `ROBOTS`."""


def ends_of(rows: grids.Rows) -> dict[str, tuple[Cell, Cell]]:
    """Start and goal of each robot of which both are shown."""
    found = {robot: (grids.find(rows, start), grids.find(rows, goal)) for robot, (start, goal) in ROBOTS.items()}
    return {robot: (start, goal) for robot, (start, goal) in found.items() if start and goal}


def within(rows: grids.Rows, limits: Sequence[int]) -> list[Pair]:
    """Where the robots are in a plan by which each is at its goal from its limit on; empty if there is none."""
    starts, goals = zip(*ends_of(rows).values(), strict=True)
    far = [walks.distances(goal, partial(grids.near, rows)) for goal in goals]
    dead: set[tuple[int, Pair]] = set()

    def follow(now: Pair, step: int) -> list[Pair]:
        if step == max(limits):
            return [now]
        if (step, now) in dead:
            return []
        ways = []
        for cell, limit, moves in zip(now, limits, far, strict=True):
            left = max(0, limit - step - 1)
            ways.append([way for way in (cell, *grids.near(rows, cell)) if moves.get(way, left + 1) <= left])
        both = [(a, b) for a, b in product(*ways) if a != b and (b, a) != now]
        for then in sorted(both, key=lambda pair: far[0][pair[0]] + far[1][pair[1]]):
            if rest := follow(then, step + 1):
                return [now, *rest]
        dead.add((step, now))
        return []

    return follow(starts, 0)


def own_ways(rows: grids.Rows) -> Plan:
    """A shortest way of each robot of which both ends are shown, as if it were alone."""
    ways = {robot: walks.through(rows, *ends) for robot, ends in ends_of(rows).items()}
    return {robot: way for robot, way in ways.items() if way}


@lru_cache(maxsize=256)
def plan(rows: grids.Rows) -> Plan:
    """A plan with the fewest steps, at most `SLACK` more than the longer of the robots' own ways; empty if there is
    none."""
    own = own_ways(rows)
    if len(own) < len(ROBOTS):
        return {}
    least = max(map(len, own.values())) - 1
    found = next((steps for limit in range(least, least + SLACK + 1) if (steps := within(rows, (limit, limit)))), [])
    cells = {robot: [pair[i] for pair in found] for i, robot in enumerate(ROBOTS)} if found else {}
    for way in cells.values():
        while way[-2:-1] == way[-1:]:
            way.pop()  # waiting at the goal goes without saying
    return cells


def proper(rows: grids.Rows) -> bool:
    """Whether there is a plan in which no robot returns to a cell or waits at its start."""
    ways = plan(rows).values()
    return bool(ways) and not any(way[0] == way[1] or walks.returns(way) for way in ways)


@register
class ConflictPath(GridTask[Floor]):
    """No two shortest ways of the robots go together, so that one has to wait or to make way. Plans in which a robot
    waits at its start are rejected: an answer that leaves the start out would lose it."""

    name, family, version, rule, prompt = "conflictpath", "spatial", 1, "joint", PROMPT
    kind, marks = Floor, ".#?" + MARKS

    def sample(self, rng: random.Random, difficulty: str) -> Floor | None:
        side, least = SIZES[difficulty]
        shape = side, side
        rows = grids.filled(side, lambda: "#" if rng.random() < WALLS else ".")
        free = grids.marked(rows, ".")
        for _ in range(TRIES):
            start = rng.choice(free)
            room = walks.distances(start, partial(grids.near, rows))
            goal = rng.choice(list(room))
            marked = [start, goal]
            for cell in (goal, start):  # silver comes about the reverse way
                for _ in range(2):
                    cell = rng.choice((cell, *grids.neighbours(cell, shape)))
                marked.append(cell)
            if room[goal] < least - 1 or len(set(marked)) < 4 or not room.keys() >= set(marked):
                continue
            if len(walks.through(rows, marked[2], marked[3])) <= least // 2 or grids.mirrored(shape, *marked):
                continue  # mirrored ways would join the same cells, and the grader could not tell
            told = rows
            for cell, mark in zip(marked, MARKS, strict=True):
                told = grids.put(told, cell, mark)
            direct = [len(way) - 1 for way in own_ways(told).values()]
            if not within(told, direct) and proper(told) and max(map(len, plan(told).values())) > least:
                return Floor(told)
        return None

    def split(self, instance: Floor, rng: random.Random) -> tuple[Floor, ...]:
        owned = [grids.marked(instance.rows, start + goal) for start, goal in ROBOTS.values()]
        return tuple(map(Floor, grids.mask(instance.rows, rng, BOTH, owned)))

    def solve(self, view: Floor) -> dict[str, list[list[int]]] | None:
        """Of a partial view, or where there is no plan: a shortest way of each robot that is known."""
        found = plan(view.rows) or own_ways(view.rows)
        return {robot: [list(cell) for cell in way] for robot, way in found.items()} or None

    def key(self, instance: Floor) -> JointKey:
        if not (found := plan(instance.rows)):
            raise ValueError("a robot is missing, or there is no plan")
        rows, steps = instance.rows, max(map(len, found.values())) - 1
        return JointKey(grids.shape(rows), ends_of(rows), frozenset(grids.marked(rows, "#")), steps)

    def form(self, view: Floor) -> PathsForm:
        return PathsForm(tuple(ROBOTS), waits=True)

    def rivals(self, instance: Floor, view: Floor) -> Iterator[Floor]:
        """The goal of the robot that is not seen lies on a hidden cell off the canonical ways."""
        crossed = [cell for way in plan(instance.rows).values() for cell in way]
        (goal,) = (goal for _, goal in ROBOTS.values() if not grids.find(view.rows, goal))
        old = grids.find(instance.rows, goal) or (0, 0)
        for cell in grids.marked(view.rows, "?"):
            if grids.at(instance.rows, cell) == "." and cell not in crossed:
                rows = grids.put(grids.put(instance.rows, old, "."), cell, goal)
                if proper(rows):
                    yield Floor(rows)

    def draw(self, instance: Floor, answer: object, where: object) -> str:
        """Copper's lines and steps lie up and left in each cell, silver's down and right."""
        kept = where if isinstance(where, dict) else {}
        best, lines = plan(instance.rows), []
        parts = drawing.tiles(instance.rows, MARKS, dict.fromkeys(MARKS, "start"))
        for robot, shift, colour in zip(ROBOTS, (-4, 4), ("walk", "start"), strict=True):
            walked, broke = (kept.get(part, {}).get(robot, []) for part in ("paths", "broke"))
            for way, css in ((best[robot], "goal"), (walked, colour)):
                parts.append(drawing.line([(x + shift, y + shift) for x, y in drawing.centres(way)], css))
            parts += drawing.numbers(walked, 2.5 * shift, 2.2 * shift + 4)
            for x, y in drawing.centres([broke] if broke else []):
                parts.append(drawing.ring(x + shift, y + shift, 9, "broken"))
            lines.append((f"{robot}, pale: {' '.join(f'{r},{c}' for r, c in best[robot])}", ""))
        return drawing.board(instance.rows, parts, "the floor with the ways that were answered", lines)
