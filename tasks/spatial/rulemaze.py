"""rulemaze: a walk over colours known to one agent, under a rule of colours known to the other (paper, table 8)."""

from __future__ import annotations

import random
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise, permutations

from tasks import drawing, grids
from tasks.answers import Cell, PathForm, PathKey, Step
from tasks.base import Task, register
from tasks.frames import Frame
from tasks.spatial.geomaze import reaches, remote, walk_parts

PROMPT = """\
Find a shortest walk from the start `@` to the goal `*` on a grid of coloured cells. One step goes to a cell that
shares a side with the present one. One drawing shows the colour of every cell, each colour as a letter; another one
shows which cells are walls, `#`, that cannot be entered, and which are open, `.`. From one colour to the next the
walk may only go as the rule of colours allows; where the rule says nothing about two colours in this order, the
second may not follow the first, and this holds for a colour and itself too. Start and goal have no colour: the rule
does not bind the first step and the last one. Give the walk as the list of all its cells from start to goal, both
included, each cell as a pair of numbers in round brackets, for example `(20, 30), (20, 31), (21, 31)`."""

SIZES = {"easy": (5, 5), "default": (7, 9), "hard": (10, 14)}  # side of the grid, least moves of the walk
WALLS = 0.12  # share of walls
COLOURS = {"R": "red", "G": "green", "B": "blue", "Y": "yellow"}
ALIASES = tuple(permutations("KLMN"))  # letters for the colours under strong friction, one row a variant
EVERY = [(a, b) for a in COLOURS for b in COLOURS]
PAIRS = 9  # how many of them the rule allows

Pair = tuple[str, str]


@dataclass(frozen=True)
class Coloured:
    """`colours`: a colour a cell, walls too, with `@` start and `*` goal; `walls`: `#`, `.`, `@`, `*`; `rule`: sorted
    pairs of a colour and one that may follow it. What is unknown is empty.

    Colours go by their initials, which nobody is told under natural friction. Under strong friction both agents call
    the colours K, L, M, N, each in an order of its own.
    """

    colours: grids.Rows
    walls: grids.Rows
    rule: tuple[Pair, ...]


def roads(maze: Coloured) -> Callable[[Cell], list[Cell]]:
    """For each cell the cells to which one may go on; what is unknown is taken as allowed."""
    known = maze.colours or maze.walls
    ground: dict[Cell, str] = {(r, c): mark for r, row in enumerate(known) for c, mark in enumerate(row)}
    for r, row in enumerate(maze.walls):
        for c, mark in enumerate(row):
            if mark == "#":
                del ground[r, c]
    anything = {"@", "*", ".", *COLOURS}
    follow = {c: {"@", "*", *(b for a, b in maze.rule if a == c)} for c in COLOURS} if maze.rule else {}

    def ways(cell: Cell) -> list[Cell]:
        r, c = cell
        allowed = follow.get(ground[cell], anything)
        return [other for other in ((r - 1, c), (r, c - 1), (r, c + 1), (r + 1, c)) if ground.get(other) in allowed]

    return ways


def walk(maze: Coloured) -> list[Cell]:
    """A shortest walk; empty if there is none."""
    _, start, goal = ends(maze.colours or maze.walls)
    return grids.shortest(start, goal.__eq__, roads(maze)) if start and goal else []


def ends(grid: grids.Rows) -> tuple[Cell, Cell | None, Cell | None]:
    """Shape, start and goal."""
    return (len(grid), len(grid[0])), grids.find(grid, "@"), grids.find(grid, "*")


def stepper(maze: Coloured) -> Step:
    ways = roads(maze)

    def step(walked: Sequence[Cell], cell: Cell) -> str | None:
        if not grids.adjacent(walked[-1], cell):
            return "is no step to a cell that shares a side"
        if maze.walls[cell[0]][cell[1]] == "#":
            return "hits a wall"
        if cell in ways(walked[-1]):
            return None
        one, other = (COLOURS[maze.colours[r][c]] for r, c in (walked[-1], cell))
        return f"breaks the rule: {other} may not follow {one}"

    return step


NAMES = "|".join(COLOURS.values())
LETTER = re.compile(rf"\b([A-Z]) is ({NAMES})\b")
RULE = re.compile(rf"\b({NAMES}|[A-Z]) may follow ({NAMES}|[A-Z])\b")


@register
class RuleMaze(Task[Coloured]):
    name, family, version, rule, prompt = "rulemaze", "spatial", 1, "path", PROMPT

    def sample(self, rng: random.Random, difficulty: str) -> Coloured | None:
        side, least = SIZES[difficulty]
        colours = tuple("".join(rng.choice("RGBY") for _ in range(side)) for _ in range(side))
        walls = tuple("".join("#" if rng.random() < WALLS else "." for _ in range(side)) for _ in range(side))
        rule = tuple(sorted(rng.sample(EVERY, PAIRS)))
        start = rng.randrange(side), rng.randrange(side)
        colours, walls = grids.put(colours, start, "@"), grids.put(walls, start, "@")
        goal = remote(start, roads(Coloured(colours, walls, rule)), rng)
        if grids.mirrored((side, side), start, goal):
            return None  # a mirrored walk would join the same two cells, and the grader could not tell
        maze = Coloured(grids.put(colours, goal, "*"), grids.put(walls, goal, "*"), rule)
        return maze if len(walk(maze)) > least else None

    def split(self, instance: Coloured, rng: random.Random) -> tuple[Coloured, ...]:
        return replace(instance, walls=(), rule=()), replace(instance, colours=())

    def merge(self, views: Sequence[Coloured]) -> Coloured:
        if len({ends(grid) for v in views for grid in (v.colours, v.walls) if grid}) > 1:
            raise ValueError("size, start or goal are told in two ways")
        rules = [v.rule for v in views if v.rule]
        for one, other in pairwise(rules):
            if one != other:
                first, second = min({*one} ^ {*other})
                raise ValueError(f"whether {COLOURS[second]} may follow {COLOURS[first]} is told in two ways")
        colours, walls = [v.colours for v in views if v.colours], [v.walls for v in views if v.walls]
        return Coloured(
            grids.merge(colours) if colours else (), grids.merge(walls) if walls else (), rules[0] if rules else ()
        )

    def render(self, view: Coloured, frame: Frame) -> str:
        letters = dict(zip(COLOURS, ALIASES[frame.variant] if frame.friction == "strong" else COLOURS, strict=True))
        lines = grids.heading(frame)
        if frame.friction != "natural":
            lines.append(f"In what follows {', '.join(f'{letters[c]} is {name}' for c, name in COLOURS.items())}.")
        if view.colours:
            table = str.maketrans("".join(COLOURS), "".join(letters.values()))
            drawn = tuple(row.translate(table) for row in view.colours)
            lines += ["The colours:", grids.told(drawn, frame)]
        if view.walls:
            lines += ["The walls:", grids.told(view.walls, frame)]
        said = letters if frame.friction == "strong" else COLOURS
        return "\n".join([*lines, *(f"{said[b]} may follow {said[a]}" for a, b in view.rule)])

    def parse(self, text: str) -> Coloured:
        meant = {name: initial for initial, name in COLOURS.items()}
        meant |= {letter: meant[name] for letter, name in LETTER.findall(text)} or {c: c for c in COLOURS}
        rule = RULE.findall(text)
        grid: dict[str, grids.Rows] = {}
        for marks in ("@*RGBYKLMN", "@*.#"):
            try:
                grid[marks] = grids.read(text, marks)
            except ValueError:
                grid[marks] = ()
        colours, walls = grid.values()
        unknown = {*"".join(colours), *(word for pair in rule for word in pair)} - {*meant, "@", "*"}
        if unknown or not (colours or walls):
            raise ValueError(f"no colours and no walls in the text, or letters not explained: {sorted(unknown)}")
        if colours and walls and ends(colours) != ends(walls):
            raise ValueError("size, start or goal are told in two ways")
        colours = tuple("".join(meant.get(mark, mark) for mark in row) for row in colours)
        return Coloured(colours, walls, tuple(sorted({(meant[a], meant[b]) for b, a in rule})))

    def solve(self, view: Coloured) -> list[list[int]] | None:
        return [list(cell) for cell in walk(view)] or None

    def key(self, instance: Coloured) -> PathKey:
        best = walk(instance)
        if not best:
            raise ValueError("the grid has no start, no goal or no way between them")
        return PathKey(ends(instance.walls)[0], best[0], best[-1], len(best) - 1, stepper(instance))

    def form(self, view: Coloured) -> PathForm:
        return PathForm()

    def rivals(self, instance: Coloured, view: Coloured) -> Iterator[Coloured]:
        """What the view does not hold bars the canonical walk: a cell of it has another colour, or the rule does not
        allow one of its steps but another one instead."""
        key, ours = self.key(instance), walk(instance)
        others: list[Coloured] = []
        for cell in () if view.colours else ours[1:-1]:
            others += [replace(instance, colours=grids.put(instance.colours, cell, colour)) for colour in COLOURS]
        for a, b in () if view.rule else pairwise(ours[1:-1]):
            gone = instance.colours[a[0]][a[1]], instance.colours[b[0]][b[1]]
            pairs = [pair for pair in EVERY if pair not in instance.rule]
            others += [replace(instance, rule=tuple(sorted({*instance.rule, pair} - {gone}))) for pair in pairs]
        for other in others:
            if not reaches(replace(key, step=stepper(other)), ours) and walk(other):
                yield other

    def corrupt(self, view: Coloured, rng: random.Random) -> Coloured:
        """Another colour of a cell, an open wall, or another pair in the rule, if possible one that changes the way."""
        lies: list[Coloured] = []
        for r, c in grids.cells(view.colours):
            if (old := view.colours[r][c]) in COLOURS:
                colour = rng.choice([colour for colour in COLOURS if colour != old])
                lies.append(replace(view, colours=grids.put(view.colours, (r, c), colour)))
        for r, c in grids.cells(view.walls):
            if view.walls[r][c] == "#":
                lies.append(replace(view, walls=grids.put(view.walls, (r, c), ".")))
        for gone in view.rule:
            pair = rng.choice([pair for pair in EVERY if pair not in view.rule])
            lies.append(replace(view, rule=tuple(sorted({*view.rule, pair} - {gone}))))
        rng.shuffle(lies)
        told = walk(view)
        return next((lie for lie in lies if walk(lie) != told), lies[0])

    def draw(self, instance: Coloured, answer: object, where: object) -> str:
        rows = instance.colours
        for cell in grids.cells(instance.walls):
            rows = grids.put(rows, cell, "#") if instance.walls[cell[0]][cell[1]] == "#" else rows
        width, height = (side * drawing.CELL for side in (len(rows[0]), len(rows)))
        after = {c: ", ".join(COLOURS[b] for a, b in instance.rule if a == c) or "nothing" for c in COLOURS}
        notes = drawing.notes(height, [(f"after {COLOURS[c]} may come {names}", "") for c, names in after.items()])
        parts = [*walk_parts(rows, where), *notes]
        return drawing.svg(max(width, 320), height + 100, parts, "the coloured grid with the walk that was answered")
