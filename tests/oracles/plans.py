"""Oracles of tasks on grids that are more than one walk: by networkx on graphs of states, and by SAT."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations, groupby, islice, product
from typing import Any

import networkx as nx
from pysat.solvers import Cadical153

SEVERAL = {"conflictpath", "timedpath", "numberlink", "cube"}
MANY = 200  # answers that are tried of one instance


def _marks(rows: Any) -> dict[tuple[int, int], str]:
    return {(r, c): mark for r, row in enumerate(rows) for c, mark in enumerate(row)}


def _open(rows: Any) -> nx.Graph:
    """The cells that are no walls, neighbours joined."""
    marks = _marks(rows)
    grid = nx.grid_2d_graph(len(rows), len(rows[0]))
    return grid.subgraph([cell for cell in grid if marks[cell] != "#"])


def _at(rows: Any, mark: str) -> tuple[int, int]:
    (cell,) = (cell for cell, found in _marks(rows).items() if found == mark)
    return cell


def _never_returns(cells: Sequence[Any]) -> bool:
    stays = [cell for cell, _ in groupby(cells)]
    return len(set(stays)) == len(stays)


def conflictpath(instance: Any) -> list[Any]:
    """Shortest walks in the graph whose nodes are the places of both robots."""
    room, joint = _open(instance.rows), nx.DiGraph()
    for a, b in product(room, repeat=2):
        for then in product([a, *room[a]], [b, *room[b]]):
            if a != b and then[0] != then[1] and then != (b, a):
                joint.add_edge((a, b), then)
    start, goal = ((_at(instance.rows, x), _at(instance.rows, y)) for x, y in ("cs", "CS"))
    ways = (tuple(zip(*walk, strict=True)) for walk in islice(nx.all_shortest_paths(joint, start, goal), 5 * MANY))
    return [
        {robot: [list(cell) for cell in way] for robot, way in zip(("copper", "silver"), both, strict=True)}
        for both in ways
        if all(map(_never_returns, both))
    ][:MANY]


def timedpath(instance: Any) -> list[Any]:
    """Shortest walks in the graph whose nodes are cells at steps."""
    room, states = _open(instance.rows), nx.DiGraph()
    shut = {(r, c): range(first, last + 1) for r, c, first, last in instance.closures}
    goal = _at(instance.rows, "*")
    for step, cell in product(range(30), room):
        for then in (cell, *room[cell]):
            if step + 1 not in shut.get(then, ()):
                states.add_edge((step, cell), (step + 1, then))
        if cell == goal:
            states.add_edge((step, cell), "arrived")
    walks = nx.all_shortest_paths(states, (0, _at(instance.rows, "@")), "arrived")
    cells = ([cell for _, cell in walk[:-1]] for walk in islice(walks, 5 * MANY))
    return [[list(cell) for cell in walk] for walk in cells if _never_returns(walk)][:MANY]


def cube(instance: Any) -> list[Any]:
    marks = {(a, *cell): mark for a, rows in enumerate(instance.layers) for cell, mark in _marks(rows).items()}
    room = nx.Graph()
    for one, other in combinations(marks, 2):
        if "#" not in (marks[one], marks[other]) and sum(abs(x - y) for x, y in zip(one, other, strict=True)) == 1:
            room.add_edge(one, other)
    start, goal = (next(cell for cell in marks if marks[cell] == wanted) for wanted in "@*")
    return [[list(cell) for cell in walk] for walk in islice(nx.all_shortest_paths(room, start, goal), MANY)]


def floodfill(instance: Any) -> list[Any]:
    return [sorted(map(list, nx.node_connected_component(_open(instance.rows), _at(instance.rows, "@"))))]


def numberlink(instance: Any) -> list[Any]:
    """Models of: a cell has at most one letter; an end has one neighbour of its letter, any other has two."""
    marks, room = _marks(instance.rows), _open(instance.rows)
    letters = sorted({mark for mark in marks.values() if mark.isalpha()})
    has = {pair: number for number, pair in enumerate(product(room, letters), 1)}
    answers: list[Any] = []
    with Cadical153() as solver:
        for cell in room:
            solver.append_formula([[-has[cell, a], -has[cell, b]] for a, b in combinations(letters, 2)])
            if marks[cell] in letters:
                solver.add_clause([has[cell, marks[cell]]])
            for letter in letters:
                near, wanted = [has[other, letter] for other in room[cell]], 1 if marks[cell] == letter else 2
                unless = -has[cell, letter]
                for some in combinations(near, wanted + 1):  # not more than wanted
                    solver.add_clause([unless, *(-x for x in some)])
                for some in combinations(near, len(near) - wanted + 1) if len(near) >= wanted else [()]:
                    solver.add_clause([unless, *some])  # not fewer
        while len(answers) < 20 and solver.solve():
            model = {number for number in solver.get_model() if number > 0}
            solver.add_clause([-has[cell, letter] for cell, letter in has if has[cell, letter] in model])
            answer = {}
            for letter in letters:
                own = room.subgraph([cell for cell in room if has[cell, letter] in model])
                start, goal = (cell for cell in own if marks[cell] == letter)
                answer[letter] = [list(cell) for cell in nx.shortest_path(own, start, goal)]
            answers.append(answer)
    return answers
