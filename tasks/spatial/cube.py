"""cube: a walk through a block of cells, of which each agent knows every other layer (paper, table 8)."""

from __future__ import annotations

import random
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache, lru_cache
from itertools import pairwise, product

from tasks import drawing, grids, walks
from tasks.answers import Cell, PathForm
from tasks.base import register
from tasks.frames import Frame, Scheme, schemes
from tasks.walks import WalkTask

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
TURN = 37  # from the scheme of one variant to that of the next, so that they differ widely


@dataclass(frozen=True)
class Cube:
    """`layers` from bottom to top, in each the lines from north to south, from west to east in a line. Marks: `#`
    solid, `.` free, `@` start, `*` goal, `?` unknown."""

    layers: tuple[grids.Rows, ...]


def mark(cube: Cube, cell: Cell) -> str:
    return cube.layers[cell[0]][cell[1]][cell[2]]


def size(cube: Cube) -> Cell:
    return len(cube.layers), *grids.shape(cube.layers[0])


@cache
def cells(shape: Cell) -> list[Cell]:
    return list(product(*map(range, shape)))


def marked(cube: Cube, marks: str) -> list[Cell]:
    """All cells with one of the marks."""
    return [cell for cell in cells(size(cube)) if mark(cube, cell) in marks]


def gathered(shape: Cell, mark_of: Callable[[Cell], str]) -> Cube:
    """The cube of `shape` that has the mark `mark_of(cell)` in each cell."""
    layers, lines, places = map(range, shape)
    return Cube(tuple(tuple("".join(mark_of((x, y, z)) for z in places) for y in lines) for x in layers))


def put(cube: Cube, cell: Cell, new: str) -> Cube:
    return gathered(size(cube), lambda other: new if other == cell else mark(cube, other))


@lru_cache(maxsize=256)
def through(cube: Cube) -> list[Cell]:
    """A shortest walk, empty if there is none; an unseen start is taken to be the first hidden cell, an unseen goal the
    last one."""
    shape, free, hidden = size(cube), set(marked(cube, ".@*?")), marked(cube, "?")
    start, goal = (marked(cube, "@") or hidden)[:1], (marked(cube, "*") or hidden)[-1:]
    if not (start and goal):
        return []
    return walks.shortest(start[0], goal[0], lambda cell: [n for n in grids.neighbours(cell, shape) if n in free])


@cache
def ends(shape: Cell) -> tuple[tuple[Cell, Cell], ...]:
    """Every start and goal that may be asked for: some way apart, the start not next to a corner, and such that no
    scheme but ours leaves both about where they are: a mirrored walk might then join them too."""
    every, corners = cells(shape), list(product(*((0, n - 1) for n in shape)))
    kept = {cell: frozenset(s for s in SCHEMES[1:] if grids.apart(s.read(cell, shape), cell) <= 1) for cell in every}
    starts = [cell for cell in every if not any(grids.adjacent(cell, corner) for corner in corners)]
    pairs = (pair for pair in product(starts, every) if grids.apart(*pair) >= APART)
    return tuple((start, goal) for start, goal in pairs if not kept[start] & kept[goal])


@cache
def state(scheme: Scheme) -> str:
    """How layers, lines and places lie in space, and how they are counted."""
    runs = [AXES[axis][:: -1 if scheme.flips[axis] else 1] for axis in scheme.order]
    layers, lines, places = (f"from {first} to {last}" for first, last in runs)
    return (
        f"The layers follow each other {layers}, the lines of a layer {lines}, the places in a line {places}; "
        f"layers, lines and places are counted from {scheme.base}."
    )


def turned(cube: Cube, scheme: Scheme) -> Cube:
    """The cube along the axes of `scheme`."""
    shape, base = size(cube), scheme.base
    told = tuple(shape[axis] for axis in scheme.order)
    return gathered(told, lambda cell: mark(cube, scheme.read(tuple(x + base for x in cell), shape)))


def righted(told: Cube, scheme: Scheme) -> Cube:
    """Inverse of `turned`."""
    shape, base = tuple(size(told)[place] for place in scheme.places), scheme.base
    return gathered(shape, lambda cell: mark(told, tuple(x - base for x in scheme.write(cell, shape))))


LAYER = re.compile(rf"\b(?:{'|'.join(ORDINALS)}) layer:")
STATED = re.compile(r"The layers follow each other from [\w, ;]+ are counted from [01]\.")


@register
class CubeTask(WalkTask[Cube]):
    """Layers are hidden by turns along an axis that the split draws, so that every second one lies with each agent.

    A start next to a corner is rejected: all corners are one under the 96 schemes, so that naming any would be a move.
    """

    name, family, version, rule, prompt = "cube", "spatial", 1, "path", PROMPT
    paths = PathForm(dims=3)

    def sample(self, rng: random.Random, difficulty: str) -> Cube | None:
        shape, least = SIZES[difficulty]
        start, goal = rng.choice(ends(shape))
        cube = gathered(shape, lambda cell: "#" if cell not in (start, goal) and rng.random() < WALLS else ".")
        cube = put(put(cube, start, "@"), goal, "*")
        return cube if len(through(cube)) > least else None

    def split(self, instance: Cube, rng: random.Random) -> tuple[Cube, ...]:
        axis, first = rng.randrange(3), rng.randrange(2)

        def layers(turn: int) -> Cube:
            return gathered(size(instance), lambda cell: mark(instance, cell) if cell[axis] % 2 == turn else "?")

        return layers(first), layers(1 - first)

    def merge(self, views: Sequence[Cube]) -> Cube:
        if len({size(v) for v in views}) > 1:
            raise ValueError("the cubes differ in size")
        return Cube(tuple(map(grids.merged, zip(*(v.layers for v in views), strict=True))))

    def render(self, view: Cube, frame: Frame) -> str:
        scheme = SCHEMES[TURN * frame.variant % len(SCHEMES)]
        lines = [] if frame.friction == "natural" else [state(scheme)]
        for ordinal, rows in zip(ORDINALS, turned(view, scheme).layers, strict=False):
            lines += [f"{ordinal} layer:", *map(" ".join, rows)]
        return "\n".join(lines)

    def parse(self, text: str) -> Cube:
        layers = tuple(grids.read(drawn, ".#@*?") for drawn in LAYER.split(text)[1:])
        if not layers or len({*map(grids.shape, layers)}) > 1:
            raise ValueError("no layers of one size in the text")
        said = STATED.search(text)
        scheme = next((s for s in SCHEMES if said is None or said[0] == state(s)), None)
        if scheme is None:
            raise ValueError("no cube lies like this")
        return righted(Cube(layers), scheme)

    def shape(self, view: Cube) -> Cell:
        return size(view)

    def walk(self, view: Cube) -> list[Cell]:
        return through(view)

    def fault(self, instance: Cube, walked: Sequence[Cell], cell: Cell) -> str | None:
        if not grids.adjacent(walked[-1], cell):
            return "is no step to a cell that shares a face"
        return "is solid" if mark(instance, cell) == "#" else None

    def changed(self, instance: Cube, view: Cube, walk: Sequence[Cell]) -> Iterator[Cube]:
        """A hidden cell of the walk is solid."""
        for cell in walk[1:-1]:
            if mark(view, cell) == "?":
                yield put(instance, cell, "#")

    def complete(self, view: Cube, other: Cube) -> Cube | None:
        layers = zip(view.layers, other.layers, strict=True)
        return Cube(tuple(grids.completed(ours, theirs) for ours, theirs in layers))

    def corrupt(self, view: Cube, rng: random.Random) -> Cube:
        """A solid cell told as free, or a free cell as solid."""
        cell = rng.choice(marked(view, ".#"))
        return put(view, cell, "#" if mark(view, cell) == "." else ".")

    def draw(self, instance: Cube, answer: object, where: object) -> str:
        """The layers side by side; moves between them are seen by the numbers of the steps."""
        kept = where if isinstance(where, dict) else {}
        rows = tuple(" ".join(lines) for lines in zip(*instance.layers, strict=True))

        def flat(way: Sequence[Sequence[int]]) -> list[Cell]:
            return [(line, layer * (size(instance)[2] + 1) + place) for layer, line, place in way]

        best, walked, broke = through(instance), kept.get("walked", []), kept.get("broke")
        parts = drawing.tiles(rows, css={" ": "paper"})
        for way, css in ((best, "goal"), (walked, "walk")):
            within = [pair for pair in pairwise(way) if pair[0][0] == pair[1][0]]
            parts += [drawing.line(drawing.centres(flat(pair)), css) for pair in within]
        parts += [drawing.ring(x, y, 14, "edge") for x, y in drawing.centres(flat(best))]
        parts += drawing.numbers(flat(walked), 9, -4)
        wrong = [broke] if broke and tuple(broke) in cells(size(instance)) else []
        parts += [drawing.ring(x, y, 12, "broken") for x, y in drawing.centres(flat(wrong))]
        told = "layers from the bottom (left) to the top; circles: a shortest walk"
        return drawing.board(rows, parts, "the layers with the walk that was answered", [(told, "")])
