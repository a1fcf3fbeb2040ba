"""Answers made of cells, under the most favourable scheme: paths, cheap paths, routes, and sets of cells.

Path score: with L the optimal number of moves and k the moves of the longest valid prefix, the score is 1 if that
prefix reaches the goal and min(k, L-1)/L if not (paper, table 8 and appendix E.3: one valid move where L = 12 scores
0.083). A move onto a cell that is already on the path is not valid, so pacing to and fro earns nothing; where waiting
is allowed it is valid and earns nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

from graders.grade import FAR, Grade, nothing
from tasks.answers import Cell, CellsKey, CostKey, PathKey, RouteKey
from tasks.frames import schemes


def as_cells(answer: Any, dims: int = 2) -> list[Cell] | None:
    """`answer` as cells of `dims` whole numbers, or None if it is anything else."""
    if not isinstance(answer, list | tuple) or not answer:
        return None
    cells: list[Cell] = []
    for cell in answer:
        if not isinstance(cell, list | tuple) or len(cell) != dims:
            return None
        if not all(isinstance(x, int) and not isinstance(x, bool) for x in cell):
            return None
        cells.append(tuple(max(-FAR, min(int(x), FAR)) for x in cell))
    return cells


def told(dims: int) -> str:
    return f"the answer is not a list of cells of {('two', 'three')[dims - 2]} whole numbers"


def readings(cells: Sequence[Cell], shape: Cell) -> Iterator[tuple[int, list[Cell]]]:
    """Each scheme's number and the cells as read in it; ours comes first, so that it wins ties."""
    for number, scheme in enumerate(schemes(len(shape))):
        yield number, [scheme.read(cell, shape) for cell in cells]


def inside(cell: Cell, shape: Cell) -> bool:
    return all(0 <= x < n for x, n in zip(cell, shape, strict=True))


def best_of(cells: Sequence[Cell], shape: Cell, graded: Callable[[list[Cell]], Grade]) -> Grade:
    """The best grade of `cells` over all schemes, the scheme's number added to `where`."""
    best: Grade | None = None
    for number, read in readings(cells, shape):
        one = graded(read)
        if best is None or one.score > best.score:
            best = Grade(one.score, one.success, one.reason, {**one.where, "scheme": number})
            if one.success:
                break
    assert best is not None
    return best


def walk(key: PathKey, cells: Sequence[Cell]) -> tuple[list[Cell], Cell | None, str]:
    """The longest valid prefix of canonical `cells`, the cell that ended it and why (None, "" if nothing did).

    A path that leaves out the start is read as starting there.
    """
    walked = [key.start]
    for cell in cells[1:] if cells[0] == key.start else cells:
        if walked[-1] == key.goal:
            return walked, None, ""
        if not inside(cell, key.shape):
            return walked, cell, "leaves the grid"
        if cell in walked and not (key.waits and cell == walked[-1]):
            return walked, cell, "returns to a cell already walked"
        if why := key.step(walked, cell):
            return walked, cell, why
        walked.append(cell)
    return walked, None, ""


def judged(key: PathKey, cells: Sequence[Cell]) -> Grade:
    """The path score of canonical cells."""
    walked, broke, why = walk(key, cells)
    moves, best = len(set(walked)) - 1, key.optimal
    where = {"walked": [list(c) for c in walked], "broke": list(broke) if broke else None}
    if walked[-1] == key.goal:
        return Grade(1.0, True, f"reaches the goal in {len(walked) - 1} moves (shortest {best})", where)
    score = min(moves, best - 1) / best
    if broke is None:
        return Grade(score, False, f"stops at {walked[-1]} after {moves} moves, short of the goal", where)
    return Grade(score, False, f"move {len(walked)}: {walked[-1]} -> {broke} {why}", where)


def path(key: PathKey, answer: Any) -> Grade:
    """Grade a list of cells by the path score."""
    cells = as_cells(answer, len(key.shape))
    if cells is None:
        return nothing(told(len(key.shape)))
    return best_of(cells, key.shape, lambda read: judged(key, read))


def cheapest(key: CostKey, answer: Any) -> Grade:
    """Grade a list of cells by optimal cost / achieved cost; 0 if it is no valid path to the goal."""
    cells = as_cells(answer, len(key.path.shape))
    if cells is None:
        return nothing(told(len(key.path.shape)))

    def graded(read: list[Cell]) -> Grade:
        found = judged(key.path, read)
        if not found.success:
            return Grade(0.0, False, found.reason, found.where)
        cost = sum(key.cost(tuple(cell)) for cell in found.where["walked"][1:])
        reason = f"reaches the goal at a cost of {cost} (least {key.optimal})"
        return Grade(key.optimal / cost, cost == key.optimal, reason, found.where)

    return best_of(cells, key.path.shape, graded)


def route(key: RouteKey, answer: Any) -> Grade:
    """Grade a list of cells by the moves it shares with the one right route, from the start on; only all of them, and
    no more, are a success. A route that leaves out the start is read as starting there."""
    cells = as_cells(answer, len(key.shape))
    if cells is None:
        return nothing(told(len(key.shape)))
    moves = len(key.cells) - 1

    def graded(read: list[Cell]) -> Grade:
        given = read if read[0] == key.cells[0] else [key.cells[0], *read]
        shared = 0
        while shared < min(moves, len(given) - 1) and given[shared + 1] == key.cells[shared + 1]:
            shared += 1
        done = shared == moves and len(given) == len(key.cells)
        broke = given[shared + 1] if len(given) > shared + 1 else None
        where = {"walked": [list(c) for c in given[: shared + 1]], "broke": list(broke) if broke else None}
        if done:
            return Grade(1.0, True, f"is the best route, {moves} moves", where)
        reason = f"shares {shared} of {moves} moves with the best route, which goes on to {(*key.cells, 'nothing')[shared + 1]}"
        return Grade(min(shared, moves - 1) / moves, False, reason, where)

    return best_of(cells, key.shape, graded)


def cells(key: CellsKey, answer: Any) -> Grade:
    """Grade a set of cells by intersection over union with the right set."""
    given = as_cells(answer, len(key.shape))
    if given is None:
        return nothing(told(len(key.shape)))

    def graded(read: list[Cell]) -> Grade:
        found = set(read)
        right = found & key.cells
        where = {
            "right": sorted(map(list, right)),
            "wrong": sorted(list(c) for c in found - key.cells if inside(c, key.shape)),
            "missing": sorted(map(list, key.cells - found)),
        }
        reason = f"{len(right)} of {len(key.cells)} cells, and {len(found) - len(right)} that do not belong"
        return Grade(len(right) / len(found | key.cells), found == key.cells, reason, where)

    return best_of(given, key.shape, graded)
