"""Oracles of walks on grids, by networkx: directed graphs built cell by cell, shortest and some longer simple paths."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import islice
from typing import Any

import networkx as nx

SEVERAL = ["blueprintmaze", "geomaze", "rulemaze", "streetmap", "terrain"]
COMPASS = {(-1, 0): "north", (1, 0): "south", (0, -1): "west", (0, 1): "east"}


def _town(rows: Any, may: Callable[[Any, Any], bool]) -> Any:
    """All moves between cells of a grid that `may` allows."""
    lattice = nx.grid_2d_graph(len(rows), len(rows[0])).to_directed()
    return nx.DiGraph([(a, b) for a, b in lattice.edges if may(a, b)])


def _where(rows: Any, mark: str) -> Any:
    return next((r, c) for r, row in enumerate(rows) for c, m in enumerate(row) if m == mark)


def _walks(town: Any, start: Any, goal: Any) -> list[Any]:
    """Many walks of least length, and some that are longer by a detour or two: all are full successes."""

    def found() -> Iterator[Any]:
        yield from islice(nx.all_shortest_paths(town, start, goal), 40)
        least = nx.shortest_path_length(town, start, goal)
        yield from islice(nx.all_simple_paths(town, start, goal, cutoff=least + 4), 40)

    return [[list(cell) for cell in walk] for walk in found()]


def blueprintmaze(instance: Any) -> list[Any]:
    rows = instance.rows
    town = _town(rows, lambda a, b: "#" not in rows[a[0]][a[1]] + rows[b[0]][b[1]])
    return _walks(town, _where(rows, "@"), _where(rows, "*"))


def geomaze(instance: Any) -> list[Any]:
    barred = {frozenset(wall) for wall in instance.walls}
    town = _town(["." * instance.size[1]] * instance.size[0], lambda a, b: frozenset((a, b)) not in barred)
    return _walks(town, instance.start, instance.goal)


def streetmap(instance: Any) -> list[Any]:
    rows = instance.rows
    points = dict(zip("↑↓←→", COMPASS.values(), strict=True))

    def may(a: Any, b: Any) -> bool:
        here, there = rows[a[0]][a[1]], rows[b[0]][b[1]]
        heading = COMPASS[b[0] - a[0], b[1] - a[1]]
        return "#" not in here + there and points.get(here, heading) == heading

    return _walks(_town(rows, may), _where(rows, "@"), _where(rows, "*"))


def rulemaze(instance: Any) -> list[Any]:
    colours, walls = instance.colours, instance.walls

    def may(a: Any, b: Any) -> bool:
        if "#" in (walls[a[0]][a[1]], walls[b[0]][b[1]]):
            return False
        pair = colours[a[0]][a[1]], colours[b[0]][b[1]]
        return pair in instance.rule or "@" in pair or "*" in pair

    return _walks(_town(colours, may), _where(colours, "@"), _where(colours, "*"))


def terrain(instance: Any) -> list[Any]:
    rows = instance.rows
    town = _town(rows, lambda a, b: True)
    for _, (r, c), data in town.edges(data=True):
        data["cost"] = int(rows[r][c]) if rows[r][c].isdigit() else 1
    walks = nx.all_shortest_paths(town, _where(rows, "@"), _where(rows, "*"), weight="cost")
    return [[list(cell) for cell in walk] for walk in islice(walks, 60)]
