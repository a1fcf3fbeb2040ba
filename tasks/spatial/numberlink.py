"""numberlink: pairs to be joined by paths that do not meet, one end of each known to each agent (paper, table 8)."""

from __future__ import annotations

import random
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice

from tasks import drawing, grids
from tasks.answers import Cell, LinksKey, PathsForm
from tasks.base import Task, register
from tasks.frames import SCHEMES, Frame

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


@dataclass(frozen=True)
class Board:
    """Marks: `#` blocked, `.` free, `?` unknown, and letters at the ends of paths."""

    rows: grids.Rows


def ends_of(rows: grids.Rows) -> Ends:
    """The ends of each letter; an unseen one is taken to be one of the hidden cells in turn."""
    hidden = (cell for cell in grids.cells(rows) if rows[cell[0]][cell[1]] == "?")
    found = {}
    for letter in LETTERS:
        seen = [(r, c) for r, c in grids.cells(rows) if rows[r][c] == letter][:2]
        both = [*seen, *islice(hidden, 1 if len(seen) == 1 else 0)]
        if len(both) == 2:
            found[letter] = both[0], both[1]
    return found


def wander(rng: random.Random, free: Collection[Cell], shape: Cell, length: int) -> list[Cell]:
    """A random path of at most `length` free cells that does not come to lie beside itself."""
    path = [rng.choice(sorted(free))]
    while len(path) < length:
        ways = [
            cell
            for cell in grids.neighbours(path[-1], shape)
            if cell in free and not any(cell == other or grids.adjacent(cell, other) for other in path[:-1])
        ]
        if not ways:
            break
        path.append(rng.choice(ways))
    return path


def joined(rows: grids.Rows, ends: Ends) -> dict[str, list[Cell]]:
    """Paths for all letters by depth-first search, nearer to the goal first; empty if there are none, or if none was
    found within `TRIES` cells."""
    shape, letters, tries = (len(rows), len(rows[0])), list(ends), iter(range(TRIES))
    paths = [[start] for start, _ in ends.values()]
    taken = {cell for both in ends.values() for cell in both}

    def extend(number: int) -> bool:
        """Lead a path on to its goal, and then the later ones. None lies beside itself: it could be cut short."""
        if number == len(paths):
            return True
        path, goal = paths[number], ends[letters[number]][1]
        if grids.adjacent(path[-1], goal):
            path.append(goal)
            if extend(number + 1):
                return True
            path.pop()
            return False
        ways = [
            cell
            for cell in grids.neighbours(path[-1], shape)
            if rows[cell[0]][cell[1]] != "#"
            and cell not in taken
            and not any(grids.adjacent(cell, other) for other in path[:-1])
        ]
        for cell in sorted(ways, key=lambda way: abs(way[0] - goal[0]) + abs(way[1] - goal[1])):
            if next(tries, None) is None:
                return False
            path.append(cell)
            taken.add(cell)
            if extend(number):
                return True
            taken.remove(path.pop())
        return False

    return dict(zip(letters, paths, strict=True)) if extend(0) else {}


@register
class NumberLink(Task[Board]):
    """The letters' cells are hidden from the other agent, and so is whether they are free."""

    name, family, version, rule, prompt = "numberlink", "spatial", 1, "links", PROMPT

    def sample(self, rng: random.Random, difficulty: str) -> Board | None:
        side, pairs = SIZES[difficulty]
        shape = side, side
        free = set(grids.cells(("." * side,) * side))
        rows = ("." * side,) * side
        for letter in LETTERS[:pairs]:
            path = wander(rng, free, shape, rng.randint(*LENGTH))
            if len(path) < LENGTH[0]:
                return None
            free -= set(path)
            for cell in (path[0], path[-1]):
                rows = grids.put(rows, cell, letter)
        for cell in sorted(free):
            rows = grids.put(rows, cell, "#" if rng.random() < BLOCKED else ".")
        both = [set(ends) for ends in ends_of(rows).values()]
        if any(all({s.read(cell, shape) for cell in ends} == ends for ends in both) for s in SCHEMES[1:]):
            return None  # mirrored paths would join the same cells, and the grader could not tell
        return Board(rows) if joined(rows, ends_of(rows)) else None

    def split(self, instance: Board, rng: random.Random) -> tuple[Board, ...]:
        pairs = [ends if rng.random() < 0.5 else ends[::-1] for ends in ends_of(instance.rows).values()]
        views = []
        for own, half in zip(zip(*pairs, strict=True), grids.mask(instance.rows, rng, BOTH), strict=True):
            rows = half
            for r, c in grids.cells(instance.rows):
                if (mark := instance.rows[r][c]) in LETTERS:
                    rows = grids.put(rows, (r, c), mark if (r, c) in own else "?")
            views.append(Board(rows))
        return tuple(views)

    def merge(self, views: Sequence[Board]) -> Board:
        return Board(grids.merge([v.rows for v in views]))

    def render(self, view: Board, frame: Frame) -> str:
        return "\n".join([*grids.heading(frame), grids.told(view.rows, frame)])

    def parse(self, text: str) -> Board:
        return Board(grids.read(text, ".#?" + LETTERS))

    def solve(self, view: Board) -> dict[str, list[list[int]]] | None:
        """Where not all can be joined: a shortest path for each letter, past those of the letters before."""
        ends = ends_of(view.rows)
        paths = joined(view.rows, ends)
        for letter, (start, goal) in ends.items() if not paths else ():
            barred = [end for other, both in ends.items() if other != letter for end in both]
            barred += [cell for path in paths.values() for cell in path]
            rows = view.rows
            for cell in barred:
                rows = grids.put(rows, cell, "#")
            if path := grids.through(rows, start, goal):
                paths = {**paths, letter: path}
        return {letter: [list(cell) for cell in path] for letter, path in paths.items()} or None

    def key(self, instance: Board) -> LinksKey:
        blocked = frozenset((r, c) for r, c in grids.cells(instance.rows) if instance.rows[r][c] == "#")
        return LinksKey((len(instance.rows), len(instance.rows[0])), ends_of(instance.rows), blocked)

    def form(self, view: Board) -> PathsForm:
        return PathsForm(tuple(letter for letter in LETTERS if any(letter in row for row in view.rows)))

    def rivals(self, instance: Board, view: Board) -> Iterator[Board]:
        """A hidden cell of the canonical paths is blocked, or an unseen end lies one cell further on."""
        for letter, path in (self.solve(instance) or {}).items():
            for r, c in path[1:-1]:
                if view.rows[r][c] == "?" and joined(rows := grids.put(instance.rows, (r, c), "#"), ends_of(rows)):
                    yield Board(rows)
            for (a, b), (r, c) in (path[:2], path[:-3:-1]):
                if view.rows[a][b] == view.rows[r][c] == "?":
                    rows = grids.put(grids.put(instance.rows, (a, b), "."), (r, c), letter)
                    if joined(rows, ends_of(rows)):
                        yield Board(rows)

    def corrupt(self, view: Board, rng: random.Random) -> Board:
        """Rather a blocked cell told as free than the reverse, and one that a path then goes through."""
        known = [(r, c) for r, c in grids.cells(view.rows) if view.rows[r][c] in ".#"]
        rng.shuffle(known)
        known.sort(key=lambda cell: view.rows[cell[0]][cell[1]])
        lies = [Board(grids.put(view.rows, (r, c), "#" if view.rows[r][c] == "." else ".")) for r, c in known]
        ours = self.solve(view)
        return next((lie for lie in lies if self.solve(lie) != ours), lies[0])

    def draw(self, instance: Board, answer: object, where: object) -> str:
        """Paths as they were answered, red where one does not count, over pale ones that would do."""
        kept = where if isinstance(where, dict) else {}
        right = kept.get("right", [])
        parts = drawing.tiles(instance.rows, LETTERS, dict.fromkeys(LETTERS, "start"))
        parts += [drawing.line(drawing.centres(path), "goal") for path in (self.solve(instance) or {}).values()]
        for letter, path in kept.get("paths", {}).items():
            parts.append(drawing.line(drawing.centres(path), "right" if letter in right else "wrong"))
        said = [(name, f"{name} {'' if name in right else 'not '}joined") for name in self.form(instance).walkers]
        side = len(instance.rows) * drawing.CELL
        parts += drawing.notes(side, drawing.verdicts(where, said))
        return drawing.svg(side, side + 20 * len(said) + 16, parts, "the board with the paths that were answered")
