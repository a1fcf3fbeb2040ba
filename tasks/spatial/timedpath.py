"""timedpath: an earliest walk where one agent knows the walls and the other when cells are closed (paper, table 8)."""

from __future__ import annotations

import random
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from string import ascii_lowercase

from tasks import drawing, grids, walks
from tasks.answers import Cell, PathForm
from tasks.base import register
from tasks.frames import Frame
from tasks.grids import Grid, GridTask
from tasks.walks import WalkTask

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

Closure = tuple[int, ...]  # row, column, first step, last step


@dataclass(frozen=True)
class Yard(Grid):
    """Marks: `#` wall, `.` free, `@` start, `*` goal, `?` unknown; `closures`: sorted, each of another cell, which is
    marked `.`."""

    closures: tuple[Closure, ...]


@lru_cache(maxsize=256)
def earliest(yard: Yard) -> tuple[Cell, ...]:
    """The cells of a walk at step 0, 1, 2, ..., waiting as late as it can; empty if no walk arrives."""
    ends = grids.ends(yard.rows)
    if not ends:
        return ()
    start, goal = ends
    ways = {cell: (cell, *grids.near(yard.rows, cell)) for cell in grids.cells(yard.rows)}
    horizon = len(ways) + max((last for *_, last in yard.closures), default=0)
    layers = [{start}]  # where one can be at each step
    while goal not in layers[-1]:
        if len(layers) > horizon:
            return ()
        closed = {(r, c) for r, c, first, last in yard.closures if first <= len(layers) <= last}
        layers.append({way for cell in layers[-1] for way in ways[cell]} - closed)
    walk = [goal]
    for layer in layers[-2::-1]:
        walk.append(next(cell for cell in ways[walk[-1]] if cell in layer))
    return tuple(walk[::-1])


CLOCK = re.compile(r"clock that shows (\d\d?) at step 0")
CLOSED = re.compile(r"\b([a-z]) is closed (?:at steps|while the clock shows) (\d\d?)-(\d\d?)\b")


@register
class TimedPath(GridTask[Yard], WalkTask[Yard]):
    """Closures are told by letters drawn on the grid and not by coordinates, which would mean nothing to a reader who
    does not know the frame.

    Every closure ends, so that who waits at the start for long enough needs the walls only. That is why a walk is cut
    off at the earliest step of arrival. A walk may not return to a cell (the rule for all paths); instances are such
    that returning does not help. Nor do they make anybody wait at the start: an answer that leaves the start out would
    lose it.
    """

    name, family, version, rule, prompt = "timedpath", "spatial", 1, "path", PROMPT
    paths = PathForm(waits=True)

    def sample(self, rng: random.Random, difficulty: str) -> Yard | None:
        side, least, count = SIZES[difficulty]
        rows = grids.filled(side, lambda: "#" if rng.random() < WALLS else ".")
        free = grids.marked(rows, ".")
        start, goal = rng.sample(free, 2)
        direct = walks.through(rows, start, goal)
        if grids.mirrored((side, side), start, goal) or len(direct) < least:
            return None
        closures = []
        for cell in rng.sample([cell for cell in free if cell not in (start, goal)], count):
            steps = len(walks.through(rows, start, cell)) - 1  # it is closed about when somebody might arrive
            first = max(1, steps - rng.randrange(3))
            closures.append((*cell, first, first + rng.randrange(1, LONGEST)))
        yard = Yard(grids.put_ends(rows, start, goal), tuple(sorted(closures)))
        walk = earliest(yard)
        late = len(walk) > max(len(direct), least)
        return yard if late and not walks.returns(walk) and walk[1] != start else None

    def split(self, instance: Yard, rng: random.Random) -> tuple[Yard, ...]:
        closing = {(r, c) for r, c, *_ in instance.closures}
        walls = {*grids.marked(instance.rows, ".#")} - closing
        return replace(instance, closures=()), replace(instance, rows=grids.hide(instance.rows, walls))

    def merge(self, views: Sequence[Yard]) -> Yard:
        closures: dict[Cell, Closure] = {}
        for closure in (c for v in views for c in v.closures):
            if closures.setdefault(closure[:2], closure) != closure:
                raise ValueError(f"the steps at which cell {closure[:2]} is closed are told in two ways")
        return Yard(grids.merged([v.rows for v in views]), tuple(sorted(closures.values())))

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
        for cell in grids.marked(rows, ascii_lowercase):
            if (letter := grids.at(rows, cell)) not in when:
                raise ValueError(f"the grid has a letter {letter} of which nothing is said")
            closures.append((*cell, *when.pop(letter)))
            rows = grids.put(rows, cell, ".")
        return Yard(rows, tuple(closures))

    def walk(self, view: Yard) -> list[Cell]:
        return list(earliest(view))

    def fault(self, instance: Yard, walked: Sequence[Cell], cell: Cell) -> str | None:
        why = walks.barred(instance.rows, walked[-1], cell)
        if why and cell != walked[-1]:
            return why
        step, last = len(walked), len(earliest(instance)) - 1
        if any((r, c) == cell and first <= step <= last for r, c, first, last in instance.closures):
            return f"is closed at step {step}"
        return f"comes after step {last}, the earliest to arrive" if step > last else None

    def changed(self, instance: Yard, view: Yard, walk: Sequence[Cell]) -> Iterator[Yard]:
        """On the walk an unseen wall, or a closure just when it comes by."""
        for step, cell in list(enumerate(walk))[1:-1]:
            if not view.closures:
                kept = [closure for closure in instance.closures if closure[:2] != cell]
                other = replace(instance, closures=tuple(sorted([*kept, (*cell, step, step + 1)])))
            elif grids.at(view.rows, cell) == "?":
                other = replace(instance, rows=grids.put(instance.rows, cell, "#"))
            else:
                continue
            if not walks.returns(earliest(other)):
                yield other

    def complete(self, view: Yard, other: Yard) -> None:
        """Closures of another seed would be closures of other cells."""

    def corrupt(self, view: Yard, rng: random.Random) -> Yard:
        """A closure told as coming later or, by who knows of none, a wall as free or a free cell as a wall."""
        if not view.closures:
            return super().corrupt(view, rng)
        r, c, first, last = lost = rng.choice(view.closures)
        told = (r, c, last + 1, last + 1 + last - first)
        return replace(view, closures=tuple(sorted({*view.closures, told} - {lost})))

    def draw(self, instance: Yard, answer: object, where: object) -> str:
        kept = where if isinstance(where, dict) else {}
        walked, broke, best = kept.get("walked", []), kept.get("broke"), earliest(instance)
        rows, lines = instance.rows, [(f"earliest arrival: step {len(best) - 1} (pale)", "")]
        for letter, (r, c, first, last) in zip(ascii_lowercase, instance.closures, strict=False):
            rows = grids.put(rows, (r, c), letter)
            met = broke == [r, c] and first <= len(walked) <= last
            lines.append((f"{letter} is closed at steps {first}-{last}" + met * ": met", "wrong" * met))
        parts = [*drawing.walk(rows, where, best), *drawing.numbers(walked, 6, -5)]
        return drawing.board(rows, parts, "the yard with the walk that was answered", lines)
