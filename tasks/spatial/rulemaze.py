"""rulemaze: a walk over colours known to one agent, under a rule of colours known to the other (paper, table 8)."""

from __future__ import annotations

import random
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from itertools import pairwise, permutations, product

from tasks import drawing, grids, walks
from tasks.answers import Cell
from tasks.base import register
from tasks.frames import Frame
from tasks.walks import WalkTask

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


@lru_cache(maxsize=256)
def roads(maze: Coloured) -> dict[Cell, list[Cell]]:
    """For each cell the cells to which one may go on; what is unknown is taken as allowed."""
    colours, walls = maze.colours or maze.walls, maze.walls or maze.colours

    def allowed(here: Cell, there: Cell) -> bool:
        pair = grids.at(colours, here), grids.at(colours, there)
        return grids.at(walls, there) != "#" and (not maze.rule or pair in maze.rule or not COLOURS.keys() >= {*pair})

    near = {cell: sorted(grids.neighbours(cell, grids.shape(walls))) for cell in grids.cells(walls)}
    return {here: [there for there in cells if allowed(here, there)] for here, cells in near.items()}


NAMES = "|".join(COLOURS.values())
LETTER = re.compile(rf"\b([A-Z]) is ({NAMES})\b")
RULE = re.compile(rf"\b({NAMES}|[A-Z]) may follow ({NAMES}|[A-Z])\b")


@register
class RuleMaze(WalkTask[Coloured]):
    name, family, version, rule, prompt = "rulemaze", "spatial", 1, "path", PROMPT

    def sample(self, rng: random.Random, difficulty: str) -> Coloured | None:
        side, least = SIZES[difficulty]
        colours = grids.filled(side, lambda: rng.choice("RGBY"))
        walls = grids.filled(side, lambda: "#" if rng.random() < WALLS else ".")
        rule = tuple(sorted(rng.sample(EVERY, PAIRS)))
        start = rng.randrange(side), rng.randrange(side)
        colours, walls = grids.put(colours, start, "@"), grids.put(walls, start, "@")
        goal = walks.remote(start, roads(Coloured(colours, walls, rule)).__getitem__, rng)
        if grids.mirrored((side, side), start, goal):
            return None  # a mirrored walk would join the same two cells, and the grader could not tell
        maze = Coloured(grids.put(colours, goal, "*"), grids.put(walls, goal, "*"), rule)
        return maze if len(self.walk(maze)) > least else None

    def split(self, instance: Coloured, rng: random.Random) -> tuple[Coloured, ...]:
        return replace(instance, walls=(), rule=()), replace(instance, colours=())

    def merge(self, views: Sequence[Coloured]) -> Coloured:
        colours, walls = [v.colours for v in views if v.colours], [v.walls for v in views if v.walls]
        if len({(grids.shape(grid), grids.ends(grid)) for grid in colours + walls}) > 1:
            raise ValueError("size, start or goal are told in two ways")
        rules = [v.rule for v in views if v.rule]
        for one, other in pairwise(rules):
            if one != other:
                first, second = min({*one} ^ {*other})
                raise ValueError(f"whether {COLOURS[second]} may follow {COLOURS[first]} is told in two ways")
        return Coloured(grids.merged(colours), grids.merged(walls), rules[0] if rules else ())

    def render(self, view: Coloured, frame: Frame) -> str:
        strong = frame.friction == "strong"
        letters = dict(zip(COLOURS, ALIASES[frame.variant] if strong else COLOURS, strict=True))
        lines = grids.heading(frame)
        if frame.friction != "natural":
            lines.append(f"In what follows {', '.join(f'{letters[c]} is {name}' for c, name in COLOURS.items())}.")
        if view.colours:
            lines += ["The colours:", grids.told(grids.exchanged(view.colours, letters), frame)]
        if view.walls:
            lines += ["The walls:", grids.told(view.walls, frame)]
        said = letters if strong else COLOURS
        return "\n".join([*lines, *(f"{said[b]} may follow {said[a]}" for a, b in view.rule)])

    def parse(self, text: str) -> Coloured:
        meant = {name: initial for initial, name in COLOURS.items()}
        meant |= {letter: meant[name] for letter, name in LETTER.findall(text)} or {c: c for c in COLOURS}
        colours, walls = (grids.read(text, marks, none=True) for marks in ("@*RGBYKLMN", "@*.#"))
        told = RULE.findall(text)
        unknown = {*"".join(colours), *(word for pair in told for word in pair)} - {*meant, "@", "*"}
        if unknown or not (colours or walls):
            raise ValueError(f"no colours and no walls in the text, or letters not explained: {sorted(unknown)}")
        colours = grids.exchanged(colours, {letter: meant[letter] for letter in meant if len(letter) == 1})
        rule = tuple(sorted({(meant[a], meant[b]) for b, a in told}))
        return self.merge([Coloured(colours, (), ()), Coloured((), walls, rule)])

    def shape(self, view: Coloured) -> Cell:
        return grids.shape(view.colours or view.walls)

    def walk(self, view: Coloured) -> list[Cell]:
        ends = grids.ends(view.colours or view.walls)
        return walks.shortest(*ends, roads(view).__getitem__) if ends else []

    def fault(self, instance: Coloured, walked: Sequence[Cell], cell: Cell) -> str | None:
        here = walked[-1]
        if why := walks.barred(instance.walls, here, cell):
            return why
        if cell in roads(instance)[here]:
            return None
        one, other = (COLOURS[grids.at(instance.colours, each)] for each in (here, cell))
        return f"breaks the rule: {other} may not follow {one}"

    def changed(self, instance: Coloured, view: Coloured, walk: Sequence[Cell]) -> Iterator[Coloured]:
        """A cell of the walk has another colour, or the rule allows something else instead of one of its steps."""
        if not view.colours:
            for cell, colour in product(walk[1:-1], COLOURS):
                yield replace(instance, colours=grids.put(instance.colours, cell, colour))
        if not view.rule:
            for one, other in pairwise(walk[1:-1]):
                gone = grids.at(instance.colours, one), grids.at(instance.colours, other)
                for pair in (pair for pair in EVERY if pair not in instance.rule):
                    yield replace(instance, rule=tuple(sorted({*instance.rule, pair} - {gone})))

    def corrupt(self, view: Coloured, rng: random.Random) -> Coloured:
        """Another colour of a cell or another pair in the rule."""
        if view.colours:
            cell = rng.choice(grids.marked(view.colours, "".join(COLOURS)))
            colour = rng.choice([colour for colour in COLOURS if colour != grids.at(view.colours, cell)])
            return replace(view, colours=grids.put(view.colours, cell, colour))
        gone, told = rng.choice(view.rule), rng.choice([pair for pair in EVERY if pair not in view.rule])
        return replace(view, rule=tuple(sorted({*view.rule, told} - {gone})))

    def draw(self, instance: Coloured, answer: object, where: object) -> str:
        rows = instance.colours
        for cell in grids.marked(instance.walls, "#"):
            rows = grids.put(rows, cell, "#")
        after = {c: ", ".join(COLOURS[b] for a, b in instance.rule if a == c) or "nothing" for c in COLOURS}
        lines = [(f"after {COLOURS[c]} may come {names}", "") for c, names in after.items()]
        parts = drawing.walk(rows, where)
        return drawing.board(rows, parts, "the coloured grid with the walk that was answered", lines)
