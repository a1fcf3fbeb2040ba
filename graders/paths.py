"""Path score: the longest valid prefix against a shortest path, under the most favourable of the sixteen schemes.

With L the optimal number of moves and k the moves of the longest valid prefix, the score is min(k, L)/L if that prefix
reaches the goal and min(k, L-1)/L if not (paper, table 8 and appendix E.3: one valid move where L = 12 scores 0.083).
A move onto a cell that is already on the path is not valid, so pacing to and fro earns nothing.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from graders.grade import Grade
from tasks.answers import Cell, PathKey
from tasks.frames import SCHEMES

FAR = 10**6  # no grid reaches this far; coordinates beyond it are cut to it


def as_cells(answer: Any) -> list[Cell] | None:
    """`answer` as cells of two whole numbers, or None if it is anything else."""
    if not isinstance(answer, list | tuple) or not answer:
        return None
    cells: list[Cell] = []
    for cell in answer:
        if not isinstance(cell, list | tuple) or len(cell) != 2:
            return None
        if not all(isinstance(x, int) and not isinstance(x, bool) for x in cell):
            return None
        a, b = (max(-FAR, min(int(x), FAR)) for x in cell)
        cells.append((a, b))
    return cells


def walk(key: PathKey, cells: Sequence[Cell]) -> tuple[list[Cell], Cell | None, str]:
    """The longest valid prefix of canonical `cells`, the cell that ended it and why (None, "" if nothing did).

    A path that leaves out the start is read as starting there.
    """
    walked = [key.start]
    for cell in cells[1:] if cells[0] == key.start else cells:
        if walked[-1] == key.goal:
            return walked, None, ""
        if not (0 <= cell[0] < key.height and 0 <= cell[1] < key.width):
            return walked, cell, "leaves the grid"
        if cell in walked:
            return walked, cell, "returns to a cell already walked"
        if why := key.step(walked, cell):
            return walked, cell, why
        walked.append(cell)
    return walked, None, ""


def score(key: PathKey, walked: Sequence[Cell]) -> float:
    """The path score of a valid prefix, start cell included."""
    moves, best = len(walked) - 1, key.optimal
    return min(moves, best) / best if walked[-1] == key.goal else min(moves, best - 1) / best


def grade(key: PathKey, answer: Any) -> Grade:
    """Grade a list of cells `[a, b]`; one scheme is applied to the whole answer, the best one wins, ours on ties."""
    cells = as_cells(answer)
    if cells is None:
        return Grade(0.0, False, "the answer is not a list of cells of two whole numbers")
    best: tuple[float, int, list[Cell], Cell | None, str] | None = None
    for number, scheme in enumerate(SCHEMES):
        walked, broke, why = walk(key, [scheme.read(c, key.height, key.width) for c in cells])
        value = score(key, walked)
        if best is None or value > best[0]:
            best = value, number, walked, broke, why
            if value == 1:
                break
    assert best is not None
    value, number, walked, broke, why = best
    where = {"walked": [list(c) for c in walked], "broke": list(broke) if broke else None, "scheme": number}
    if walked[-1] == key.goal:
        return Grade(value, value == 1, f"reaches the goal in {len(walked) - 1} moves (shortest {key.optimal})", where)
    if broke is None:
        return Grade(value, False, f"stops at {walked[-1]} after {len(walked) - 1} moves, short of the goal", where)
    return Grade(value, False, f"move {len(walked)}: {walked[-1]} -> {broke} {why}", where)
