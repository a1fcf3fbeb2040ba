"""conflictpath: two robots that get into each other's way, each known to one agent only (paper, table 8)."""

from __future__ import annotations

import random
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import pairwise, product

from tasks import drawing, grids
from tasks.answers import Cell, JointKey, PathsForm
from tasks.base import Task, register
from tasks.frames import Frame

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

Pair = tuple[Cell, Cell]  # where copper is, and where silver is
Near = Mapping[Cell, tuple[Cell, ...]]


@dataclass(frozen=True)
class Floor:
    """Marks: `#` wall, `.` free, `?` unknown, and those of `ROBOTS`."""

    rows: grids.Rows


@cache
def ways(shape: Cell) -> Near:
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


def ends_of(rows: grids.Rows) -> dict[str, tuple[Cell, Cell]]:
    """Start and goal of each robot of which both are shown."""
    found = {robot: (grids.find(rows, start), grids.find(rows, goal)) for robot, (start, goal) in ROBOTS.items()}
    return {robot: (start, goal) for robot, (start, goal) in found.items() if start and goal}


def within(limits: Sequence[int], starts: Pair, far: Sequence[Mapping[Cell, int]], near: Near) -> list[Pair]:
    """A plan by which each robot is at its goal from its limit on; empty if there is none."""
    dead: set[tuple[int, Pair]] = set()

    def follow(now: Pair, step: int) -> list[Pair]:
        if step == max(limits):
            return [now]
        if (step, now) in dead:
            return []
        left = [max(0, limit - step - 1) for limit in limits]
        able = [[x for x in near[now[i]] if far[i].get(x, left[i] + 1) <= left[i]] for i in (0, 1)]
        both = [(a, b) for a, b in product(*able) if a != b and (b, a) != now]
        for then in sorted(both, key=lambda pair: far[0][pair[0]] + far[1][pair[1]]):
            if rest := follow(then, step + 1):
                return [now, *rest]
        dead.add((step, now))
        return []

    return follow(starts, 0)


def plan(rows: grids.Rows, direct: bool = False) -> dict[str, list[Cell]]:
    """The cells of each robot up to its goal in a plan with the fewest steps, at most `SLACK` more than the longer of
    the robots' own ways; with `direct` in one by which both go their own shortest ways without waiting. Empty if there
    is none."""
    ends, near = ends_of(rows), ways((len(rows), len(rows[0])))
    far = [distances(rows, goal) for _, goal in ends.values()]
    own = [moves[start] for moves, (start, _) in zip(far, ends.values(), strict=True) if start in moves]
    if len(own) < len(ROBOTS):
        return {}
    starts = ends["copper"][0], ends["silver"][0]
    tried = [own] if direct else [[limit, limit] for limit in range(max(own), max(own) + SLACK + 1)]
    found = next((steps for limits in tried if (steps := within(limits, starts, far, near))), [])
    cells = {robot: [pair[i] for pair in found] for i, robot in enumerate(ROBOTS)} if found else {}
    for way in cells.values():
        while way[-2:-1] == way[-1:]:
            way.pop()  # waiting at the goal goes without saying
    return cells


def proper(found: Mapping[str, Sequence[Cell]]) -> bool:
    """Whether there is a plan, no robot returns to a cell, and none waits at its start."""
    left = [[a for a, b in pairwise(way) if a != b] for way in found.values()]
    starts = all(way[0] != way[1] for way in found.values())
    return (
        bool(found)
        and starts
        and all(len({*cells, way[-1]}) > len(cells) for cells, way in zip(left, found.values(), strict=True))
    )


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
            marked = start, goal, *nearby  # silver comes about the reverse way
            if room[goal] < least - 1 or len(set(marked)) < 4 or not all(cell in room for cell in marked):
                continue
            if distances(rows, nearby[1])[nearby[0]] < least // 2 or grids.mirrored((side, side), *marked):
                continue  # mirrored ways would join the same cells, and the grader could not tell
            told = rows
            for cell, mark in zip(marked, MARKS, strict=True):
                told = grids.put(told, cell, mark)
            if not plan(told, direct=True) and proper(found := plan(told)) and max(map(len, found.values())) > least:
                return Floor(told)
        return None

    def split(self, instance: Floor, rng: random.Random) -> tuple[Floor, ...]:
        views = []
        for own, rows in zip(ROBOTS.values(), grids.mask(instance.rows, rng, BOTH), strict=True):
            for r, c in grids.cells(rows):
                if (mark := instance.rows[r][c]) in MARKS:
                    rows = grids.put(rows, (r, c), mark if mark in own else "?")
            views.append(Floor(rows))
        return tuple(views)

    def merge(self, views: Sequence[Floor]) -> Floor:
        return Floor(grids.merge([v.rows for v in views]))

    def render(self, view: Floor, frame: Frame) -> str:
        return "\n".join([*grids.heading(frame), grids.told(view.rows, frame)])

    def parse(self, text: str) -> Floor:
        return Floor(grids.read(text, ".#?" + MARKS))

    def solve(self, view: Floor) -> dict[str, list[list[int]]] | None:
        """Of a partial view, or where there is no plan: a shortest way of each robot that is known."""
        found = plan(view.rows)
        for robot, ends in ends_of(view.rows).items() if not found else ():
            if way := grids.through(view.rows, *ends):
                found = {**found, robot: way}
        return {robot: [list(cell) for cell in way] for robot, way in found.items()} or None

    def key(self, instance: Floor) -> JointKey:
        if not (found := plan(instance.rows)):
            raise ValueError("a robot is missing, or there is no plan")
        blocked = frozenset((r, c) for r, c in grids.cells(instance.rows) if instance.rows[r][c] == "#")
        shape, steps = (len(instance.rows), len(instance.rows[0])), max(map(len, found.values())) - 1
        return JointKey(shape, ends_of(instance.rows), blocked, steps)

    def form(self, view: Floor) -> PathsForm:
        return PathsForm(tuple(ROBOTS), waits=True)

    def rivals(self, instance: Floor, view: Floor) -> Iterator[Floor]:
        """The goal of the robot that is not seen lies on a hidden cell off the canonical ways."""
        crossed = [cell for cells in (self.solve(instance) or {}).values() for cell in cells]
        for robot, (_, old) in ends_of(instance.rows).items():
            mark = ROBOTS[robot][1]
            for r, c in grids.cells(view.rows) if not grids.find(view.rows, mark) else ():
                if view.rows[r][c] == "?" and instance.rows[r][c] == "." and [r, c] not in crossed:
                    rows = grids.put(grids.put(instance.rows, old, "."), (r, c), mark)
                    if proper(plan(rows)):
                        yield Floor(rows)

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
        parts = drawing.tiles(instance.rows, MARKS, dict.fromkeys(MARKS, "start"))
        best, height = self.solve(instance) or {}, len(instance.rows) * drawing.CELL
        for robot, shift, colour in zip(ROBOTS, (-4, 4), ("walk", "start"), strict=True):
            walked, broke = (kept.get(part, {}).get(robot, []) for part in ("paths", "broke"))
            for way, css in ((best.get(robot, []), "goal"), (walked, colour)):
                parts.append(drawing.line([(x + shift, y + shift) for x, y in drawing.centres(way)], css))
            for cell in dict.fromkeys(map(tuple, walked[1:])):
                steps = [step for step, other in enumerate(walked) if tuple(other) == cell]
                x, y = drawing.centres([cell])[0]
                told = "-".join(map(str, dict.fromkeys((steps[0], steps[-1]))))
                parts.append(drawing.text(x + 2.5 * shift, y + 2.2 * shift + 4, told))
            if broke and 0 <= broke[0] < len(instance.rows) and 0 <= broke[1] < len(instance.rows[0]):
                parts += [drawing.ring(x + shift, y + shift, 9, "broken") for x, y in drawing.centres([broke])]
        plans = [f"{robot}, pale: {' '.join(f'{r},{c}' for r, c in way)}" for robot, way in best.items()]
        parts += drawing.notes(height, ((line, "") for line in plans))
        return drawing.svg(max(height, 420), height + 60, parts, "the floor with the ways that were answered")
