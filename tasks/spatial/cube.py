"""cube: a walk through a block of cells, of which each agent knows every other layer (paper, table 8)."""

from __future__ import annotations

import random
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import pairwise, product

from tasks import drawing, grids
from tasks.answers import Cell, PathForm, PathKey
from tasks.base import Task, register
from tasks.frames import Frame, Scheme, schemes

PROMPT = """\
Find a shortest walk from the start `@` to the goal `*` through a block of cells. It is drawn layer by layer; cells at
the same line and place of two layers that follow each other lie next to each other. One step goes to a cell that
shares a face with the present one: along a line, to the next line, or to the next layer. Cells marked `#` are solid
and cannot be entered, cells marked `.` are free, and `?` marks a cell that is hidden from you. Give the walk as the
list of all its cells from start to goal, both included, each cell as three numbers in round brackets, as in
`(7, 9, 8), (7, 9, 9)`."""

SIZES = {"easy": ((3, 4, 4), 5), "default": ((4, 4, 4), 7), "hard": ((5, 5, 5), 9)}  # shape, least moves of the walk
WALLS = 0.45  # share of solid cells before the draw is accepted
APART = 3  # least distance of start and goal, walls aside
ORDINALS = ("First", "Second", "Third", "Fourth", "Fifth")
AXES = (("bottom", "top"), ("north", "south"), ("west", "east"))  # from where to where each axis runs
SCHEMES = schemes(3)
TURN = (
    37  # from the scheme of one variant to that of the next; prime to their number, so that 16 variants differ widely
)


@dataclass(frozen=True)
class Cube:
    """`layers` from bottom to top, in each the lines from north to south, from west to east in a line. Marks: `#`
    solid, `.` free, `@` start, `*` goal, `?` unknown."""

    layers: tuple[grids.Rows, ...]


def mark(cube: Cube, cell: Cell) -> str:
    return cube.layers[cell[0]][cell[1]][cell[2]]


def size(cube: Cube) -> Cell:
    return len(cube.layers), len(cube.layers[0]), len(cube.layers[0][0])


def cells(cube: Cube) -> list[Cell]:
    return list(product(*map(range, size(cube))))


def find(cube: Cube, wanted: str) -> list[Cell]:
    """All cells with a mark."""
    return [cell for cell in cells(cube) if mark(cube, cell) == wanted]


def put(cube: Cube, cell: Cell, new: str) -> Cube:
    layer, *place = cell
    return Cube((*cube.layers[:layer], grids.put(cube.layers[layer], tuple(place), new), *cube.layers[layer + 1 :]))


def through(cube: Cube, start: Cell, goal: Cell) -> list[Cell]:
    shape = size(cube)
    free = {cell for cell in cells(cube) if mark(cube, cell) != "#"}
    return grids.shortest(start, goal.__eq__, lambda cell: (n for n in grids.neighbours(cell, shape) if n in free))


def apart(one: Cell, other: Cell) -> int:
    return sum(abs(x - y) for x, y in zip(one, other, strict=True))


@cache
def ends(shape: Cell) -> tuple[tuple[Cell, Cell], ...]:
    """Every start and goal that may be asked for: some way apart, the start not next to a corner, and such that no
    scheme but ours leaves both about where they are: a mirrored walk might then join them too."""
    every = list(product(*map(range, shape)))
    corners = [cell for cell in every if all(x in (0, n - 1) for x, n in zip(cell, shape, strict=True))]
    kept = {cell: frozenset(s for s in SCHEMES[1:] if apart(s.read(cell, shape), cell) <= 1) for cell in every}
    starts = [cell for cell in every if all(apart(cell, corner) != 1 for corner in corners)]
    pairs = (pair for pair in product(starts, every) if apart(*pair) >= APART)
    return tuple((start, goal) for start, goal in pairs if not kept[start] & kept[goal])


def scheme_of(frame: Frame) -> Scheme:
    return SCHEMES[TURN * frame.variant % len(SCHEMES)]


def state(scheme: Scheme) -> str:
    """How layers, lines and places lie in space, and how they are counted."""
    runs = [AXES[axis][:: -1 if scheme.flips[axis] else 1] for axis in scheme.order]
    layers, lines, places = (f"from {first} to {last}" for first, last in runs)
    return (
        f"The layers follow each other {layers}, the lines of a layer {lines}, the places in a line {places}; "
        f"layers, lines and places are counted from {scheme.base}."
    )


def gathered(shape: Cell, marked: Callable[[Cell], str]) -> Cube:
    """The cube of `shape` that has the mark `marked(cell)` in each cell."""
    a, b, c = map(range, shape)
    return Cube(tuple(tuple("".join(marked((x, y, z)) for z in c) for y in b) for x in a))


def turned(cube: Cube, scheme: Scheme) -> Cube:
    """The cube along the axes of `scheme`."""
    shape = size(cube)
    told = tuple(shape[axis] for axis in scheme.order)
    return gathered(told, lambda cell: mark(cube, scheme.read(tuple(x + scheme.base for x in cell), shape)))


def righted(told: Cube, scheme: Scheme) -> Cube:
    """Inverse of `turned`."""
    shape = tuple(size(told)[place] for place in scheme.places)
    return gathered(shape, lambda cell: mark(told, tuple(x - scheme.base for x in scheme.write(cell, shape))))


LAYER = re.compile(rf"\b(?:{'|'.join(ORDINALS)}) layer:")
STATED = re.compile(r"The layers follow each other from [\w, ;]+ are counted from [01]\.")


@register
class CubeTask(Task[Cube]):
    """Layers are hidden by turns along an axis that the split draws, so that every second one lies with each agent.

    A start next to a corner is rejected: all corners are one under the 96 schemes, so that naming any would be a move.
    """

    name, family, version, rule, prompt = "cube", "spatial", 1, "path", PROMPT

    def sample(self, rng: random.Random, difficulty: str) -> Cube | None:
        shape, least = SIZES[difficulty]
        start, goal = rng.choice(ends(shape))
        cube = gathered(shape, lambda cell: "#" if cell not in (start, goal) and rng.random() < WALLS else ".")
        if len(through(cube, start, goal)) <= least:
            return None
        return put(put(cube, start, "@"), goal, "*")

    def split(self, instance: Cube, rng: random.Random) -> tuple[Cube, ...]:
        axis, shape = rng.randrange(3), size(instance)
        first = rng.randrange(2)
        return tuple(
            gathered(shape, lambda cell, turn=turn: mark(instance, cell) if cell[axis] % 2 == turn else "?")  # type: ignore[misc]
            for turn in (first, 1 - first)
        )

    def merge(self, views: Sequence[Cube]) -> Cube:
        if len({size(v) for v in views}) > 1:
            raise ValueError("the cubes differ in size")

        def marked(cell: Cell) -> str:
            told = sorted({mark(v, cell) for v in views} - {"?"})
            if len(told) > 1:
                raise ValueError(f"cell {cell} is told as {told[0]!r} and as {told[1]!r}")
            return told[0] if told else "?"

        return gathered(size(views[0]), marked)

    def render(self, view: Cube, frame: Frame) -> str:
        scheme = scheme_of(frame)
        lines = [] if frame.friction == "natural" else [state(scheme)]
        for ordinal, rows in zip(ORDINALS, turned(view, scheme).layers, strict=False):
            lines += [f"{ordinal} layer:", *map(" ".join, rows)]
        return "\n".join(lines)

    def parse(self, text: str) -> Cube:
        layers = tuple(grids.read(drawn, ".#@*?") for drawn in LAYER.split(text)[1:])
        if not layers or len({(len(rows), len(rows[0])) for rows in layers}) > 1:
            raise ValueError("no layers of one size in the text")
        said = STATED.search(text)
        scheme = next((s for s in SCHEMES if said and said[0] == state(s)), None) if said else SCHEMES[0]
        if scheme is None:
            raise ValueError("no cube lies like this")
        return righted(Cube(layers), scheme)

    def solve(self, view: Cube) -> list[list[int]] | None:
        """Of a partial view: an unseen start is taken to be the first hidden cell, an unseen goal the last one."""
        hidden = find(view, "?")
        start, goal = (find(view, "@") or hidden[:1]), (find(view, "*") or hidden[-1:])
        walk = through(view, start[0], goal[0]) if start and goal else None
        return [list(cell) for cell in walk] if walk else None

    def key(self, instance: Cube) -> PathKey:
        walk = through(instance, find(instance, "@")[0], find(instance, "*")[0])

        def step(walked: Sequence[Cell], cell: Cell) -> str | None:
            if not grids.adjacent(walked[-1], cell):
                return "is no step to a cell that shares a face"
            return "is solid" if mark(instance, cell) == "#" else None

        return PathKey(size(instance), walk[0], walk[-1], len(walk) - 1, step)

    def form(self, view: Cube) -> PathForm:
        return PathForm(dims=3)

    def rivals(self, instance: Cube, view: Cube) -> Iterator[Cube]:
        """A hidden cell of the canonical walk is solid."""
        for cell in (self.solve(instance) or [])[1:-1]:
            if mark(view, tuple(cell)) == "?" and self.solve(other := put(instance, tuple(cell), "#")):
                yield other

    def corrupt(self, view: Cube, rng: random.Random) -> Cube:
        """Rather a solid cell as free than the reverse, and one that the walk then goes through: that does harm."""
        known = [cell for cell in cells(view) if mark(view, cell) in ".#"]
        rng.shuffle(known)
        known.sort(key=lambda cell: mark(view, cell))
        lies = [put(view, cell, "#" if mark(view, cell) == "." else ".") for cell in known]
        ours = self.solve(view)
        return next((lie for lie in lies if self.solve(lie) != ours), lies[0])

    def draw(self, instance: Cube, answer: object, where: object) -> str:
        """The layers side by side; moves between them are seen by the numbers of the steps."""
        kept = where if isinstance(where, dict) else {}
        walked, broke, best = kept.get("walked", []), kept.get("broke"), self.solve(instance) or []
        count, height, width = size(instance)
        wide = width * drawing.CELL + 24
        parts = []
        for layer, rows in enumerate(instance.layers):
            parts += [
                f'<g transform="translate({layer * wide} 24)">',
                drawing.text(2, -8, f"layer {layer}", "", "start"),
            ]
            parts += drawing.tiles(rows)
            for way, css in ((best, "goal"), (walked, "walk")):
                both = ((a, b) for a, b in pairwise(way) if a[0] == b[0] == layer)
                parts += [drawing.line(drawing.centres([a[1:], b[1:]]), css) for a, b in both]
            parts += [drawing.ring(x, y, 14, "edge") for x, y in drawing.centres(c[1:] for c in best if c[0] == layer)]
            for step, cell in enumerate(walked):
                x, y = drawing.centres([cell[1:]])[0]
                parts += [drawing.text(x, y + 5, step)] * (step > 0 and cell[0] == layer)
            if broke and broke[0] == layer and 0 <= broke[1] < height and 0 <= broke[2] < width:
                parts += [drawing.ring(x, y, 12, "broken") for x, y in drawing.centres([broke[1:]])]
            parts.append("</g>")
        told = [("numbers: the steps of the answer; circles: a shortest walk", "")]
        parts += drawing.notes(height * drawing.CELL + 28, told)
        size_y = height * drawing.CELL + 60
        return drawing.svg(max(count * wide - 24, 380), size_y, parts, "the layers with the walk that was answered")
