"""Answers made of cells, under the most favourable scheme: paths, cheap paths, routes, and sets of cells.

Path score: with L the optimal number of moves and k the moves of the longest valid prefix, the score is 1 if that
prefix reaches the goal and min(k, L-1)/L if not (paper, table 8 and appendix E.3: one valid move where L = 12 scores
0.083). A move onto a cell that is already on the path is not valid, so pacing to and fro earns nothing.

Where waiting is allowed, so is going back, since stepping aside passes the time as well as standing still does; moves
that enter no new cell are valid and earn nothing. One malformed cell makes the whole answer malformed.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import lru_cache
from itertools import chain, islice, product, takewhile
from typing import Any, NamedTuple, TypeVar

from graders.grade import Grade, listed, nothing
from tasks.answers import Cell, CellsKey, CostKey, PathKey, RouteKey
from tasks.frames import schemes

LONGEST = 500  # cells of a path with waiting that are looked at: many times the longest plan, and no wait is endless
FAR = 10**6  # in reasons and drawings coordinates beyond it are cut to it

Option = TypeVar("Option")


def as_cells(answer: Any, dims: int) -> list[Cell] | None:
    """`answer` as cells of `dims` whole numbers, as they were written, or None if it is anything else."""
    if not listed(answer) or not {*map(type, answer)} <= {list, tuple} or {*map(len, answer)} != {dims}:
        return None
    return [*map(tuple, answer)] if {*map(type, chain.from_iterable(answer))} == {int} else None


def malformed(dims: int) -> Grade:
    return nothing(f"the answer is not a list of cells of {('two', 'three')[dims - 2]} whole numbers")


@lru_cache(maxsize=64)
def tables(shape: Cell) -> tuple[dict[Cell, Cell], ...]:
    """For each scheme, ours first, the cells of a grid by the way they are written in it."""
    grid = list(product(*map(range, shape)))
    return tuple({scheme.write(cell, shape): cell for cell in grid} for scheme in schemes(len(shape)))


@lru_cache(maxsize=64)
def spellings(shape: Cell) -> tuple[dict[Cell, Cell], ...]:
    """For each scheme how it writes the cells of a grid."""
    return tuple({cell: told for told, cell in table.items()} for table in tables(shape))


def placed(cell: Cell, shape: Cell, scheme: int) -> Cell:
    """The canonical coordinates of a written cell for reasons and drawings, also when it lies outside the grid."""
    near = tuple(max(-FAR, min(x, FAR)) for x in cell)
    return schemes(len(shape))[scheme].read(near, shape)


def best(options: Iterable[Option], worth: Callable[[Option], float]) -> Option:
    """The first of the worthiest; a worth of 1 ends the search. Raises ValueError if there are none."""
    found: list[Option] = []
    most = float("-inf")
    for option in options:
        if (now := worth(option)) > most:
            found, most = [option], now
            if now == 1:
                break
    (option,) = found
    return option


class Walk(NamedTuple):
    """The longest valid prefix of a path in a scheme; the written cell that ended it and why (None, "" if none did)."""

    cells: list[Cell]
    broke: Cell | None
    why: str
    scheme: int


def walk(key: PathKey, written: Sequence[Cell], scheme: int, skipped: int) -> Walk:
    """Walk from the start to the written cells in turn, without the first `skipped`."""
    cell_of, step, goal, waits = tables(key.shape)[scheme].get, key.step, key.goal, key.waits
    walked, seen = [key.start], {key.start}
    for told in islice(written, skipped, LONGEST if waits else None):
        cell = cell_of(told)
        if cell is None:
            return Walk(walked, told, "leaves the grid", scheme)
        if cell in seen and not waits:
            return Walk(walked, told, "returns to a cell already walked", scheme)
        if why := step(walked, cell):
            return Walk(walked, told, why, scheme)
        walked.append(cell)
        if cell == goal:
            break
        seen.add(cell)
    return Walk(walked, None, "", scheme)


def walks(key: PathKey, written: Sequence[Cell]) -> Iterator[Walk]:
    """The path in every scheme in which it is more than the start, and in ours. One that leaves out the start is read
    as starting there; one that begins with it has not left it out, even where waiting is allowed."""
    hopeless: set[Cell | None] = set()  # first steps that are not valid: most schemes are done with after a look
    for scheme, table in enumerate(tables(key.shape)):
        skipped = int(table.get(written[0]) == key.start)
        first = table.get(written[skipped]) if skipped < len(written) else None
        if scheme and first in hopeless:
            continue
        one = walk(key, written, scheme, skipped)
        if len(one.cells) == 1:
            hopeless.add(first)
        yield one


def path_score(key: PathKey, cells: Sequence[Cell]) -> float:
    """The path score of a valid walk that begins at the start."""
    return 1.0 if cells[-1] == key.goal else min(len(set(cells)) - 1, key.optimal - 1) / key.optimal


def judged(key: PathKey, one: Walk) -> Grade:
    """The grade of a walk by the path score."""
    last, moves = one.cells[-1], len(one.cells) - 1
    broke = placed(one.broke, key.shape, one.scheme) if one.broke else None
    where = {"walked": [[*cell] for cell in one.cells], "broke": [*broke] if broke else None, "scheme": one.scheme}
    if last == key.goal:
        reason = f"reaches the goal in {moves} moves (shortest {key.optimal})"
    elif broke is None:
        reason = f"stops at {last} after {moves} moves, short of the goal"
    else:
        reason = f"move {moves + 1}: {last} -> {broke} {one.why}"
    return Grade(path_score(key, one.cells), last == key.goal, reason, where)


def path(key: PathKey, answer: Any) -> Grade:
    """Grade a list of cells by the path score."""
    written = as_cells(answer, len(key.shape))
    if written is None:
        return malformed(len(key.shape))
    return judged(key, best(walks(key, written), lambda one: path_score(key, one.cells)))


def cheapest(key: CostKey, answer: Any) -> Grade:
    """Grade a list of cells by optimal cost / achieved cost; 0 if it is no valid path to the goal."""
    written = as_cells(answer, len(key.path.shape))
    if written is None:
        return malformed(len(key.path.shape))

    def cost(one: Walk) -> int:
        return sum(map(key.cost, one.cells[1:]))

    def worth(one: Walk) -> float:
        """Below 0 for those that do not arrive: which comes furthest matters for the reason only."""
        return key.optimal / cost(one) if one.cells[-1] == key.path.goal else path_score(key.path, one.cells) - 1

    one = best(walks(key.path, written), worth)
    grade = judged(key.path, one)
    if not grade.success:
        return Grade(0.0, False, grade.reason, grade.where)
    score, reason = worth(one), f"reaches the goal at a cost of {cost(one)} (least {key.optimal})"
    return Grade(score, score == 1, reason, grade.where)


def route(key: RouteKey, answer: Any) -> Grade:
    """Grade a list of cells by the moves it shares with the one right route, from the start on; only all of them, and
    no more, are a success. A route that leaves out the start is read as starting there."""
    written = as_cells(answer, len(key.shape))
    if written is None:
        return malformed(len(key.shape))
    moves = len(key.cells) - 1

    def follow(scheme: int) -> tuple[list[Cell], int]:
        """The written cells after the start, and how many of them are as they should be."""
        table = tables(key.shape)[scheme]
        after = written[1 : moves + 2] if table.get(written[0]) == key.cells[0] else written[: moves + 1]
        agree = (table.get(told) == cell for told, cell in zip(after, key.cells[1:], strict=False))
        return after, sum(takewhile(bool, agree))

    def worth(scheme: int) -> float:
        after, shared = follow(scheme)
        return 1.0 if shared == len(after) == moves else min(shared, moves - 1) / moves

    scheme = best(range(len(tables(key.shape))), worth)
    after, shared = follow(scheme)
    score = worth(scheme)
    broke = [*placed(after[shared], key.shape, scheme)] if shared < len(after) else None
    where = {"walked": [[*cell] for cell in key.cells[: shared + 1]], "broke": broke, "scheme": scheme}
    if score == 1:
        return Grade(1.0, True, f"is the best route, {moves} moves", where)
    on = f"which goes on to {key.cells[shared + 1]}" if shared < moves else "which ends there"
    return Grade(score, False, f"shares {shared} of {moves} moves with the best route, {on}", where)


def cells(key: CellsKey, answer: Any) -> Grade:
    """Grade a set of cells by intersection over union with the right set."""
    written = as_cells(answer, len(key.shape))
    if written is None:
        return malformed(len(key.shape))
    told = set(written)

    def right(scheme: int) -> set[Cell]:
        """The written cells that are right."""
        return told.intersection(map(spellings(key.shape)[scheme].get, key.cells))

    def worth(scheme: int) -> float:
        both = len(right(scheme))
        return both / (len(told) + len(key.cells) - both)

    scheme = best(range(len(tables(key.shape))), worth)
    found = {cell for written, cell in tables(key.shape)[scheme].items() if written in told}
    where = {
        "right": sorted([*cell] for cell in found & key.cells),
        "wrong": sorted([*cell] for cell in found - key.cells),
        "missing": sorted([*cell] for cell in key.cells - found),
        "scheme": scheme,
    }
    both, score = len(found & key.cells), worth(scheme)
    reason = f"{both} of {len(key.cells)} cells, and {len(told) - both} that do not belong"
    return Grade(score, score == 1, reason, where)
