"""timedpath: an earliest walk where one agent knows the walls and the other when cells are closed (paper, table 8)."""

from __future__ import annotations

import random
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from string import ascii_lowercase

from tasks import drawing, grids
from tasks.answers import Cell, PathForm, PathKey
from tasks.base import Task, register
from tasks.frames import Frame

PROMPT = """\
Walk from the start `@` to the goal `*` on a grid and arrive as early as possible. At step 0 you are on the start. With
each step you go to a cell that shares a side with the present one, or you wait where you are. Cells marked `#` are
walls and cannot be entered, all others are free, and `?` marks a cell of which you know nothing. Small letters stand
for free cells that are closed for some time: at these steps, the first and the last one included, you may neither
enter them nor wait in them. Never return to a cell that you have left; the earliest arrival needs no such thing. Only
a walk that arrives at the earliest possible step counts in full; any such walk will do. Give the walk as the list of
your cells at step 0, 1, 2 and so on, each as a pair of numbers in round brackets; where you wait the cell comes again,
as in `(8, 9), (8, 9), (7, 9)`."""

SIZES = {"easy": (5, 5, 8), "default": (7, 8, 14), "hard": (9, 12, 20)}  # side, least steps, closures
WALLS = 0.3  # share of wall cells before the draw is accepted
LONGEST = 7  # steps that a cell is closed

Closure = tuple[int, int, int, int]


@dataclass(frozen=True)
class Yard:
    """Marks: `#` wall, `.` free, `@` start, `*` goal, `?` unknown; `closures`: (row, column, first step, last step),
    sorted, each of another cell, which is marked `.`."""

    rows: grids.Rows
    closures: tuple[Closure, ...]


def earliest(yard: Yard, start: Cell, goal: Cell) -> list[Cell]:
    """The cells of a walk at step 0, 1, 2, ..., waiting as late as it can; empty if no walk arrives."""
    shape = len(yard.rows), len(yard.rows[0])
    ways: dict[Cell, list[Cell]] = {
        (r, c): [(r, c), *(n for n in grids.neighbours((r, c), shape) if yard.rows[n[0]][n[1]] != "#")]
        for r, c in grids.cells(yard.rows)
    }
    shut: set[tuple[Cell, int]] = {
        ((r, c), step) for r, c, first, last in yard.closures for step in range(first, last + 1)
    }
    horizon = len(ways) + max((last for *_, last in yard.closures), default=0)
    layers = [{start}]
    while goal not in layers[-1]:
        if len(layers) > horizon:
            return []
        layers.append({n for cell in layers[-1] for n in ways[cell] if (n, len(layers)) not in shut})
    walk = [goal]
    for layer in layers[-2::-1]:
        walk.append(next(cell for cell in ways[walk[-1]] if cell in layer))
    return walk[::-1]


def returns(walk: Sequence[Cell]) -> bool:
    """Whether a walk comes back to a cell that it has left."""
    left = [a for a, b in pairwise(walk) if a != b]
    return len({*left, walk[-1]}) <= len(left)


CLOCK = re.compile(r"clock that shows (\d\d?) at step 0")
CLOSED = re.compile(r"\b([a-z]) is closed (?:at steps|while the clock shows) (\d\d?)-(\d\d?)\b")


@register
class TimedPath(Task[Yard]):
    """Closures are told by letters drawn on the grid and not by coordinates, which would mean nothing to a reader who
    does not know the frame.

    Every closure ends, so that who waits at the start for long enough needs the walls only. That is why a walk is cut
    off at the earliest step of arrival. A walk may not return to a cell (the rule for all paths); instances are such
    that returning does not help. Nor do they make anybody wait at the start: an answer that leaves the start out would
    lose it.
    """

    name, family, version, rule, prompt = "timedpath", "spatial", 1, "path", PROMPT

    def sample(self, rng: random.Random, difficulty: str) -> Yard | None:
        side, least, count = SIZES[difficulty]
        rows = tuple("".join("#" if rng.random() < WALLS else "." for _ in range(side)) for _ in range(side))
        free = [(r, c) for r, c in grids.cells(rows) if rows[r][c] == "."]
        start, goal = rng.sample(free, 2)
        direct = grids.through(rows, start, goal)
        if grids.mirrored((side, side), start, goal) or len(direct) < least:
            return None
        closures = []
        for cell in rng.sample([cell for cell in free if cell not in (start, goal)], count):
            steps = len(grids.through(rows, start, cell)) - 1  # it is closed about when somebody might arrive
            first = max(1, steps - rng.randrange(3))
            closures.append((*cell, first, first + rng.randrange(1, LONGEST)))
        yard = Yard(grids.put(grids.put(rows, start, "@"), goal, "*"), tuple(sorted(closures)))
        walk = earliest(yard, start, goal)
        if len(walk) <= max(len(direct), least) or returns(walk) or walk[1] == start:
            return None
        return yard

    def split(self, instance: Yard, rng: random.Random) -> tuple[Yard, ...]:
        shut = {(r, c) for r, c, *_ in instance.closures}
        walls = [(r, c) for r, c in grids.cells(instance.rows) if instance.rows[r][c] in ".#" and (r, c) not in shut]
        rows = grids.hide(instance.rows, walls)
        return replace(instance, closures=()), replace(instance, rows=rows)

    def merge(self, views: Sequence[Yard]) -> Yard:
        closures: dict[Cell, Closure] = {}
        for closure in (c for v in views for c in v.closures):
            if closures.setdefault(closure[:2], closure) != closure:
                raise ValueError(f"the steps at which cell {closure[:2]} is closed are told in two ways")
        return Yard(grids.merge([v.rows for v in views]), tuple(sorted(closures.values())))

    def render(self, view: Yard, frame: Frame) -> str:
        clock, rows, lines = 3 * frame.variant, view.rows, []
        for letter, (r, c, first, last) in zip(ascii_lowercase, view.closures, strict=False):
            rows = grids.put(rows, (r, c), letter)
            when = "while the clock shows" if frame.friction == "strong" else "at steps"
            lines.append(f"{letter} is closed {when} {first + clock}-{last + clock}")
        stated = [f"Steps are told by a clock that shows {clock} at step 0."] * (frame.friction == "strong")
        return "\n".join([*grids.heading(frame), *stated, grids.told(rows, frame), *lines])

    def parse(self, text: str) -> Yard:
        rows = grids.read(text, ".#@*?" + ascii_lowercase)
        said = CLOCK.search(text)
        clock = int(said[1]) if said else 0
        when = {letter: (int(first) - clock, int(last) - clock) for letter, first, last in CLOSED.findall(text)}
        closures = []
        for r, c in grids.cells(rows):
            if (letter := rows[r][c]) in when:
                closures.append((r, c, *when.pop(letter)))
            elif letter in ascii_lowercase:
                raise ValueError(f"the grid has a letter {letter} of which nothing is said")
        for r, c, *_ in closures:
            rows = grids.put(rows, (r, c), ".")
        return Yard(rows, tuple(closures))

    def solve(self, view: Yard) -> list[list[int]] | None:
        start, goal = grids.find(view.rows, "@"), grids.find(view.rows, "*")
        walk = earliest(view, start, goal) if start and goal else None
        return [list(cell) for cell in walk] if walk else None

    def key(self, instance: Yard) -> PathKey:
        start, goal = grids.find(instance.rows, "@"), grids.find(instance.rows, "*")
        if start is None or goal is None or not (walk := earliest(instance, start, goal)):
            raise ValueError("the yard has no start, no goal or no way between them")
        closed: dict[Cell, range] = {(r, c): range(first, last + 1) for r, c, first, last in instance.closures}

        def step(walked: Sequence[Cell], cell: Cell) -> str | None:
            if cell != walked[-1] and not grids.adjacent(walked[-1], cell):
                return "is no step to a cell that shares a side"
            if instance.rows[cell[0]][cell[1]] == "#":
                return "hits a wall"
            if len(walked) in closed.get(cell, ()):
                return f"is closed at step {len(walked)}"
            return f"comes after step {len(walk) - 1}, the earliest to arrive" if len(walked) >= len(walk) else None

        return PathKey((len(instance.rows), len(instance.rows[0])), start, goal, len(walk) - 1, step, waits=True)

    def form(self, view: Yard) -> PathForm:
        return PathForm(waits=True)

    def rivals(self, instance: Yard, view: Yard) -> Iterator[Yard]:
        """On the canonical walk an unseen wall, or a closure just when it comes by."""
        walk = [tuple(cell) for cell in self.solve(instance) or []]
        for step, (r, c) in list(enumerate(walk))[1:-1]:
            if view.closures and view.rows[r][c] == "?":
                other = replace(instance, rows=grids.put(instance.rows, (r, c), "#"))
            elif not view.closures:
                kept = [closure for closure in instance.closures if closure[:2] != (r, c)]
                other = replace(instance, closures=tuple(sorted([*kept, (r, c, step, step + 1)])))
            else:
                continue
            new = self.solve(other)
            if new and new != [list(cell) for cell in walk] and not returns([tuple(cell) for cell in new]):
                yield other

    def corrupt(self, view: Yard, rng: random.Random) -> Yard:
        """Who knows of closures tells one as coming later; who does not tells a wall as free or a free cell as one.
        Of such lies rather one that changes the walk."""
        lies = []
        for lost in view.closures:
            r, c, first, last = lost
            told = (r, c, last + 1, last + 1 + last - first)
            lies.append(replace(view, closures=tuple(sorted({*view.closures, told} - {lost}))))
        for r, c in grids.cells(view.rows) if not lies else ():
            if (mark := view.rows[r][c]) in ".#":
                lies.append(replace(view, rows=grids.put(view.rows, (r, c), "#" if mark == "." else ".")))
        rng.shuffle(lies)
        ours = self.solve(view)
        return next((lie for lie in lies if self.solve(lie) != ours), lies[0])

    def draw(self, instance: Yard, answer: object, where: object) -> str:
        kept = where if isinstance(where, dict) else {}
        walked, broke, best = kept.get("walked", []), kept.get("broke"), self.solve(instance) or []
        rows, notes = instance.rows, [(f"earliest arrival: step {len(best) - 1} (pale)", "")]
        for letter, (r, c, first, last) in zip(ascii_lowercase, instance.closures, strict=False):
            rows = grids.put(rows, (r, c), letter)
            met = broke == [r, c] and first <= len(walked) <= last
            notes.append((f"{letter} is closed at steps {first}-{last}" + met * ": met", "wrong" * met))
        parts = [*drawing.tiles(rows, "@*?" + ascii_lowercase), drawing.line(drawing.centres(best), "goal")]
        parts.append(drawing.line(drawing.centres(walked), "walk"))
        for cell in dict.fromkeys(map(tuple, walked[1:])):
            steps = [step for step, other in enumerate(walked) if tuple(other) == cell]
            (x, y) = drawing.centres([cell])[0]
            parts.append(
                drawing.text(x + 15, y - 4, "-".join(map(str, dict.fromkeys((steps[0], steps[-1])))), "", "end")
            )
        if broke and walked and 0 <= broke[0] < len(rows) and 0 <= broke[1] < len(rows[0]):
            parts.append(drawing.line(drawing.centres([walked[-1], broke]), "broken"))
            parts += [drawing.ring(x, y, 13, "broken") for x, y in drawing.centres([broke])]
        side = len(rows) * drawing.CELL
        parts += drawing.notes(side, notes)
        return drawing.svg(
            max(side, 260), side + 30 + 20 * len(notes), parts, "the yard with the walk that was answered"
        )
