"""numberlink: pairs to be joined by paths that do not meet, one end of each known to each agent (paper, table 8)."""

from __future__ import annotations

import random
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache, partial
from itertools import islice

from tasks import drawing, grids
from tasks.answers import Cell, LinksKey, PathsForm
from tasks.base import register
from tasks.frames import SCHEMES
from tasks.grids import Grid, GridTask

PROMPT = """\
Every letter stands at two cells of a grid. Join the two cells of each letter by a path. The next cell of a path always
shares a side with the one before. Cells marked `#` are blocked, `.` marks a free cell, and `?` a cell that is hidden
from you. No cell may belong to two paths or come twice in one, and no path may run over another letter. Not every free
cell has to be used, and any paths that keep these rules will do. Give each letter a line of its own with the letter
and the cells of its path from one end to the other, both included, each as a pair of numbers in round brackets, for
example `Z: (8, 9), (8, 8), (7, 8)`."""

SIZES = {"easy": (5, 2), "default": (6, 3), "hard": (8, 4)}  # side of the grid, pairs
LETTERS = "KMPV"
LENGTH = 4, 9  # least and largest number of cells of the paths by which an instance is drawn
BLOCKED = 0.6  # share of the cells left over by these paths
BOTH = 0.1  # share of cells without a letter that both agents see
TRIES = 3000  # cells tried in the search for paths

Ends = dict[str, tuple[Cell, Cell]]
Paths = dict[str, list[Cell]]


@dataclass(frozen=True)
class Board(Grid):
    """Marks: `#` blocked, `.` free, `?` unknown, and letters at the ends of paths."""


def ends_of(rows: grids.Rows) -> Ends:
    """The ends of each letter; an unseen one is taken to be one of the hidden cells in turn."""
    hidden = iter(grids.marked(rows, "?"))
    found = {}
    for letter in LETTERS:
        both = grids.marked(rows, letter)[:2]
        if len(both) == 1:
            both += islice(hidden, 1)
        if len(both) == 2:
            found[letter] = both[0], both[1]
    return found


def onward(path: Sequence[Cell], free: Collection[Cell], shape: Cell) -> list[Cell]:
    """The free cells to which a path may go on without coming to lie beside itself: it could be cut short."""
    ways = [cell for cell in grids.neighbours(path[-1], shape) if cell in free and cell not in path]
    return [cell for cell in ways if sum(other in path for other in grids.neighbours(cell, shape)) == 1]


@lru_cache(maxsize=256)
def joined(rows: grids.Rows) -> Paths:
    """Paths for all letters by depth-first search, nearer to the goal first; empty if there are none, or if none was
    found within `TRIES` cells."""
    ends, shape, tries = ends_of(rows), grids.shape(rows), iter(range(TRIES))
    paths = {letter: [start] for letter, (start, _) in ends.items()}
    free = set(grids.marked(rows, ".?")) - {end for both in ends.values() for end in both}

    def extend(letters: Sequence[str]) -> bool:
        """Lead the path of the first letter on to its goal, and then those of the others."""
        if not letters:
            return True
        path, goal = paths[letters[0]], ends[letters[0]][1]
        if grids.adjacent(path[-1], goal):
            path.append(goal)
            if extend(letters[1:]):
                return True
            path.pop()
            return False
        for cell in sorted(onward(path, free, shape), key=partial(grids.apart, goal)):
            if next(tries, None) is None:
                return False
            path.append(cell)
            free.remove(cell)
            if extend(letters):
                return True
            free.add(path.pop())
        return False

    return paths if extend(list(ends)) else {}


@register
class NumberLink(GridTask[Board]):
    """The letters' cells are hidden from the other agent, and so is whether they are free."""

    name, family, version, rule, prompt = "numberlink", "spatial", 1, "links", PROMPT
    kind, marks = Board, ".#?" + LETTERS

    def sample(self, rng: random.Random, difficulty: str) -> Board | None:
        side, pairs = SIZES[difficulty]
        shape, rows = (side, side), ("." * side,) * side
        free = set(grids.cells(rows))
        for letter in LETTERS[:pairs]:
            length, path = rng.randint(*LENGTH), [rng.choice(sorted(free))]
            while len(path) < length and (ways := onward(path, free, shape)):
                path.append(rng.choice(ways))
            if len(path) < LENGTH[0]:
                return None
            free -= set(path)
            rows = grids.put(grids.put(rows, path[0], letter), path[-1], letter)
        for cell in sorted(free):
            rows = grids.put(rows, cell, "#" if rng.random() < BLOCKED else ".")
        both = [set(ends) for ends in ends_of(rows).values()]
        if any(all({s.read(cell, shape) for cell in ends} == ends for ends in both) for s in SCHEMES[1:]):
            return None  # mirrored paths would join the same cells, and the grader could not tell
        return Board(rows) if joined(rows) else None

    def split(self, instance: Board, rng: random.Random) -> tuple[Board, ...]:
        pairs = [ends if rng.random() < 0.5 else ends[::-1] for ends in ends_of(instance.rows).values()]
        return tuple(map(Board, grids.mask(instance.rows, rng, BOTH, list(zip(*pairs, strict=True)))))

    def solve(self, view: Board) -> dict[str, list[list[int]]] | None:
        paths = joined(view.rows)
        return {letter: [list(cell) for cell in path] for letter, path in paths.items()} or None

    def key(self, instance: Board) -> LinksKey:
        rows = instance.rows
        return LinksKey(grids.shape(rows), ends_of(rows), frozenset(grids.marked(rows, "#")))

    def form(self, view: Board) -> PathsForm:
        return PathsForm(tuple(letter for letter in LETTERS if grids.find(view.rows, letter)))

    def rivals(self, instance: Board, view: Board) -> Iterator[Board]:
        """A hidden cell of the canonical paths is blocked, or an unseen end lies one cell further on."""
        for letter, path in joined(instance.rows).items():
            others = [grids.put(instance.rows, cell, "#") for cell in path[1:-1] if grids.at(view.rows, cell) == "?"]
            for end, then in (path[:2], path[:-3:-1]):
                if grids.at(view.rows, end) == grids.at(view.rows, then) == "?":
                    others.append(grids.put(grids.put(instance.rows, end, "."), then, letter))
            yield from (Board(rows) for rows in others if joined(rows))

    def draw(self, instance: Board, answer: object, where: object) -> str:
        """Paths as they were answered, red where one does not count, over pale ones that would do."""
        kept = where if isinstance(where, dict) else {}
        right = kept.get("right", [])
        parts = drawing.tiles(instance.rows, LETTERS, dict.fromkeys(LETTERS, "start"))
        parts += [drawing.line(drawing.centres(path), "goal") for path in joined(instance.rows).values()]
        for letter, path in kept.get("paths", {}).items():
            parts.append(drawing.line(drawing.centres(path), "right" if letter in right else "wrong"))
        said = [(name, f"{name} {'' if name in right else 'not '}joined") for name in self.form(instance).walkers]
        label = "the board with the paths that were answered"
        return drawing.board(instance.rows, parts, label, drawing.verdicts(where, said))
