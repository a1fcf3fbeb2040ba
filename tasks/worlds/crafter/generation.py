"""Maps: from a seed by value noise with Crafter's rules of terrain, or written by hand."""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from math import exp

from tasks.base import seeded
from tasks.worlds.crafter.bits import fill, map_bits, ones
from tasks.worlds.crafter.rules import (
    COAL,
    COW,
    DIAMOND,
    GRASS,
    IRON,
    LAVA,
    MARKS,
    NAMES,
    PATH,
    SAND,
    STONE,
    TREE,
    WATER,
    Cow,
    Cows,
    Terrain,
)

Rows = tuple[str, ...]
Cell = tuple[int, int]  # x, y
Field = list[list[float]]  # by y, then x
BARRIERS = WATER + LAVA  # all else can be walked on or mined


@dataclass(frozen=True)
class Chart:
    """A map with the cells where agents start, and with its first cows."""

    rows: Rows
    starts: tuple[Cell, ...]
    cows: tuple[Cow, ...]


def generate(seed: int, size: int, team: int, spread_of_team: int, terrain: Terrain, herd: Cows) -> Chart:
    """The map of a seed: the first draw that has `terrain.least` of everything within reach of all agents, who start
    on different random cells of grass, at most `spread_of_team` by Manhattan distance from the middle (0: anywhere).

    Raises:
        ValueError: no draw did, for which the numbers of `terrain` are to blame.
    """
    for attempt in range(terrain.attempts):
        rng = seeded("crafter", seed, "map", attempt)
        rows = _terrain(rng, size, terrain)
        reach = _reach(rows)
        found = [(reach & map_bits(rows, MARKS[kind])).bit_count() for kind, _ in terrain.least]
        if any(count < least for count, (_, least) in zip(found, terrain.least, strict=True)):
            continue
        if terrain.ordered and any(count <= rarer for count, rarer in pairwise(found)):
            continue
        middle = size // 2
        grass = [(bit % (size + 1), bit // (size + 1)) for bit in ones(reach & map_bits(rows, GRASS))]
        near = [c for c in grass if not spread_of_team or abs(c[0] - middle) + abs(c[1] - middle) <= spread_of_team]
        if len(near) < team:
            continue
        starts = tuple(rng.sample(near, team))
        return Chart(rows, starts, _cows(seeded("crafter", seed, "herd"), rows, starts, herd))
    wanted = ", ".join(f"{least} {kind}" for kind, least in terrain.least) + " in this order" * terrain.ordered
    raise ValueError(
        f"crafter, seed {seed}: none of {terrain.attempts} maps of side {size} has {wanted} within reach of {team} "
        f"agents; take a larger map or lower terrain.least"
    )


def drawn(chart: Sequence[str], team: int) -> Chart:
    """A map written by hand in the marks of `rules`. The digits 0, 1, ... are the agents' first cells, `w` cows; both
    stand on grass. Raises ValueError."""
    starts: dict[int, Cell] = {}
    cows: list[Cow] = []
    for y, row in enumerate(chart):
        if len(row) != len(chart[0]):
            raise ValueError(f"chart: row {y} has {len(row)} cells, but row 0 has {len(chart[0])}; make them equal")
        for x, mark in enumerate(row):
            if mark in "0123456789":
                if int(mark) in starts:
                    raise ValueError(f"chart: agent {mark} starts twice; write each digit once")
                starts[int(mark)] = (x, y)
            elif mark == COW:
                cows.append(Cow(len(cows), x, y))
            elif mark not in NAMES:
                raise ValueError(f"chart: {mark!r} in row {y} is none of {' '.join(NAMES)} {COW} or a digit")
    if sorted(starts) != list(range(team)):
        raise ValueError(f"chart: agents start at {sorted(starts)}; a team of {team} needs each digit below {team}")
    ground = str.maketrans(dict.fromkeys("0123456789" + COW, GRASS))
    return Chart(tuple(row.translate(ground) for row in chart), tuple(starts[i] for i in range(team)), tuple(cows))


def _reach(rows: Rows) -> int:
    """What can be reached from the middle by walking and mining, as bits."""
    size, stride = len(rows), len(rows[0]) + 1
    start = 1 << (size // 2) * stride + size // 2
    return fill(start, map_bits(rows, "".join(mark for mark in NAMES if mark not in BARRIERS)), stride)


def _cows(rng: random.Random, rows: Rows, starts: Sequence[Cell], herd: Cows) -> tuple[Cow, ...]:
    cells = []
    for y, row in enumerate(rows):
        for x, mark in enumerate(row):
            if mark == GRASS and rng.random() < herd.start:
                cells.append((x, y))
    far = [c for c in cells if all(abs(c[0] - x) + abs(c[1] - y) > herd.start_distance for x, y in starts)]
    return tuple(Cow(i, x, y) for i, (x, y) in enumerate(far))


def _noise(rng: random.Random, size: int, scale_x: float, scale_y: float, amplitude: float) -> Field:
    """Value noise: random numbers in [-amplitude, amplitude] at the points of a lattice, smoothed in between."""
    columns, rows = _lattice(rng, size, scale_x), _lattice(rng, size, scale_y)
    wide = columns[-1][0] + 2
    lines: Field = []
    for _ in range(rows[-1][0] + 2):
        points = [rng.uniform(-amplitude, amplitude) for _ in range(wide)]
        lines.append([points[i] + (points[i + 1] - points[i]) * t for i, t in columns])
    return [[a + (b - a) * t for a, b in zip(lines[i], lines[i + 1], strict=True)] for i, t in rows]


def _lattice(rng: random.Random, size: int, scale: float) -> list[tuple[int, float]]:
    """For each coordinate the lattice point before it and the smoothed way to the next one."""
    offset = rng.random()
    places = [divmod(offset + x / scale, 1) for x in range(size)]
    return [(int(i), t * t * (3 - 2 * t)) for i, t in places]


def _terrain(rng: random.Random, size: int, terrain: Terrain) -> Rows:
    def noise(scale_x: float, scale_y: float = 0) -> Field:
        return _noise(rng, size, scale_x, scale_y or scale_x, terrain.amplitude)

    near, lakes, ponds, heights, hills = noise(3), noise(15), noise(5), noise(15), noise(5)
    caves, across, along = noise(7), noise(1.5, 15), noise(15, 1.5)
    coals, irons, lavas, beaches, woods = noise(8), noise(6), noise(5), noise(9), noise(7)
    middle, draw = size // 2, rng.random
    rows = []
    for y in range(size):
        row = ""
        for x in range(size):
            far = ((x - middle) ** 2 + (y - middle) ** 2) ** 0.5
            start = 1 / (1 + exp(far - 4 - 2 * near[y][x]))
            water = lakes[y][x] + 0.15 * ponds[y][x] + terrain.shore - 2 * start
            mountain = (heights[y][x] + 0.3 * hills[y][x]) / 1.3 - 4 * start - 0.3 * water
            if start > terrain.start:
                mark = GRASS
            elif mountain > terrain.mountain:
                if (
                    (caves[y][x] > terrain.cave and mountain > terrain.cave_height)
                    or across[y][x] > terrain.tunnel
                    or along[y][x] > terrain.tunnel
                ):
                    mark = PATH
                elif coals[y][x] > terrain.coal and draw() < terrain.coal_share:
                    mark = COAL
                elif irons[y][x] > terrain.iron and draw() < terrain.iron_share:
                    mark = IRON
                elif mountain > terrain.diamond_height and draw() < terrain.diamond_share:
                    mark = DIAMOND
                elif mountain > terrain.lava_height and lavas[y][x] > terrain.lava:
                    mark = LAVA
                else:
                    mark = STONE
            elif terrain.sand_from < water <= terrain.sand_to and beaches[y][x] > terrain.sand:
                mark = SAND
            elif water > terrain.water:
                mark = WATER
            elif woods[y][x] > terrain.tree and draw() < terrain.tree_share:
                mark = TREE
            else:
                mark = GRASS
            row += mark
        rows.append(row)
    return tuple(rows)
