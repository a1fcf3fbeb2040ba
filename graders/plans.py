"""Several paths on one grid: walkers that move at the same time, and pairs to be linked. One scheme for all paths."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from graders.grade import Grade, nothing
from graders.paths import as_cells, inside
from tasks.answers import Cell, JointKey, LinksKey
from tasks.frames import schemes
from tasks.grids import adjacent

Paths = dict[str, list[Cell]]


def as_paths(answer: Any, ends: Mapping[str, Any]) -> Paths:
    """The paths in a mapping from walker to list of cells that can be read; unknown names are left out."""
    given = answer if isinstance(answer, dict) else {}
    found = {name: as_cells(given.get(name)) for name in ends}
    return {name: cells for name, cells in found.items() if cells}


def best_of(paths: Paths, shape: Cell, graded: Callable[[Paths], Grade]) -> Grade:
    """The best grade over all schemes, ours on ties."""
    best: Grade | None = None
    for number, scheme in enumerate(schemes(len(shape))):
        one = graded({name: [scheme.read(c, shape) for c in cells] for name, cells in paths.items()})
        if best is None or one.score > best.score:
            best = Grade(one.score, one.success, one.reason, {**one.where, "scheme": number})
            if one.success:
                break
    assert best is not None
    return best


def joint(key: JointKey, answer: Any) -> Grade:
    """Grade paths walked at the same time: 1 if all arrive; else min(k, L-1)/L, where L is the least number of steps and
    k the valid joint steps in which somebody moves on. A walker whose path is over stays where it is; nobody returns
    to a cell, waiting excepted. A path that leaves out its start is read as starting there."""
    paths = as_paths(answer, key.ends)
    if not paths:
        return nothing("the answer does not map walkers to lists of cells of two whole numbers")

    def graded(read: Paths) -> Grade:
        walked = {name: [start] for name, (start, _) in key.ends.items()}
        ahead = {}
        for name, (start, _) in key.ends.items():
            cells = read.get(name, [])
            ahead[name] = cells[1:] if cells and cells[0] == start else cells
        moved, fault, broke = 0, "", {}
        for step in range(max(map(len, ahead.values()))):
            if all(cells[-1] == key.ends[name][1] for name, cells in walked.items()):
                break
            now = {name: cells[-1] for name, cells in walked.items()}
            then = {name: cells[step] if step < len(cells) else now[name] for name, cells in ahead.items()}
            if fault := next((f for name in then if (f := faulty(key, walked, now, then, name))), ""):
                fault, broke = f"step {step + 1}: {fault}", {name: list(cell) for name, cell in then.items()}
                break
            for name, cell in then.items():
                walked[name].append(cell)
            moved += now != then
        where = {"paths": {name: [list(c) for c in cells] for name, cells in walked.items()}, "broke": broke}
        late = [name for name, cells in walked.items() if cells[-1] != key.ends[name][1]]
        if not late:
            steps = len(next(iter(walked.values()))) - 1
            return Grade(1.0, True, f"all arrive within {steps} steps (fewest {key.optimal})", where)
        score = min(moved, key.optimal - 1) / key.optimal
        return Grade(score, False, fault or f"{' and '.join(late)} does not arrive", where)

    return best_of(paths, key.shape, graded)


def faulty(
    key: JointKey, walked: Mapping[str, list[Cell]], now: Mapping[str, Cell], then: Mapping[str, Cell], name: str
) -> str:
    """What is wrong with the step of `name` while all go from `now` to `then`; empty if nothing is."""
    old, new = now[name], then[name]
    said = f"{name} {old} -> {new}"
    if new != old:
        if not inside(new, key.shape):
            return f"{said} leaves the grid"
        if not adjacent(old, new):
            return f"{said} is no step to a cell that shares a side"
        if new in key.blocked:
            return f"{said} is blocked"
        if new in walked[name]:
            return f"{said} returns to a cell already walked"
    for other in then:
        if other != name and then[other] == new:
            return f"{said} meets {other}"
        if other != name and new == now[other] and then[other] == old != new:
            return f"{said} exchanges cells with {other}"
    return ""


def links(key: LinksKey, answer: Any) -> Grade:
    """Grade paths by the share of pairs that are joined. A path joins its pair, in either direction, if its cells share
    sides, none is blocked, repeated or an end of another pair, and no other path that is valid so far has a cell of it."""
    paths = as_paths(answer, key.ends)
    if not paths:
        return nothing("the answer does not map pairs to lists of cells of two whole numbers")

    def graded(read: Paths) -> Grade:
        faults = {name: unjoined(key, name, read.get(name)) for name in key.ends}
        valid = {name: set(read[name]) for name, fault in faults.items() if not fault}
        for name, own in valid.items():
            if other := next((o for o, theirs in valid.items() if o != name and own & theirs), None):
                faults[name] = f"shares a cell with {other}"
        good = [name for name, fault in faults.items() if not fault]
        where = {
            "paths": {n: [list(c) for c in cells if inside(c, key.shape)] for n, cells in read.items()},
            "right": good,
            "wrong": [n for n in faults if n not in good],
        }
        told = "; ".join(f"{name} {fault}" for name, fault in faults.items() if fault)
        reason = f"{len(good)} of {len(faults)} pairs joined" + (f"; {told}" if told else "")
        return Grade(len(good) / len(faults), len(good) == len(faults), reason[:500], where)

    return best_of(paths, key.shape, graded)


def unjoined(key: LinksKey, name: str, cells: list[Cell] | None) -> str:
    """Why a path alone does not join its pair; empty if it does."""
    if not cells:
        return "has no path"
    if {cells[0], cells[-1]} != set(key.ends[name]):
        return f"goes from {cells[0]} to {cells[-1]}"
    taken = {cell for other, ends in key.ends.items() if other != name for cell in ends}
    for before, cell in zip([None, *cells], cells, strict=False):
        if not inside(cell, key.shape) or cell in key.blocked or cell in taken:
            return f"may not enter {cell}"
        if before and not adjacent(before, cell):
            return f"jumps from {before} to {cell}"
    return "crosses itself" if len(set(cells)) < len(cells) else ""
