"""Several paths on one grid: walkers that move at the same time, and pairs to be linked. One scheme for all paths.

A walker or pair whose path is malformed has none; the others are graded all the same.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import combinations, pairwise
from typing import Any, NamedTuple

from graders.grade import Grade, mapped, nothing
from graders.paths import LONGEST, as_cells, best, placed, tables
from tasks.answers import Cell, JointKey, LinksKey
from tasks.grids import adjacent

Paths = dict[str, list[Cell]]
OUTSIDE: Cell = ()  # how a written cell is read that lies outside the grid


def as_paths(answer: Any, names: Mapping[str, Any]) -> Paths:
    """The paths of known names that can be read, as they were written, up to `LONGEST` cells of each."""
    given = mapped(answer) or {}
    found = {name: as_cells(given.get(name), 2) for name in names}
    return {name: cells[:LONGEST] for name, cells in found.items() if cells}


class Plan(NamedTuple):
    """The longest valid beginning of a joint plan in a scheme: each walker's cells; how many steps count; where the
    next step would have led and what is wrong with it ([] and "" if nothing is)."""

    walked: list[list[Cell]]
    counted: float
    broke: list[Cell]
    fault: str
    scheme: int


def carried_out(key: JointKey, written: Sequence[list[Cell]], scheme: int) -> Plan:
    """Move all walkers step by step. A path that leaves out its start is read as starting there."""
    table, goals = tables(key.shape)[scheme], [goal for _, goal in key.ends.values()]
    walked, counted = [[start] for start, _ in key.ends.values()], 0.0
    ahead = [
        cells[1:] if cells and table.get(cells[0]) == start else cells
        for cells, (start,) in zip(written, walked, strict=True)
    ]
    for step in range(max(map(len, ahead))):
        now = [cells[-1] for cells in walked]
        if now == goals:
            break
        then = [
            table.get(cells[step], OUTSIDE) if step < len(cells) else here
            for cells, here in zip(ahead, now, strict=True)
        ]
        for at, name in enumerate(key.ends):
            if why := fault_of(key, at, now, then):
                broke = [
                    cell or placed(cells[step], key.shape, scheme) for cells, cell in zip(ahead, then, strict=True)
                ]
                return Plan(walked, counted, broke, f"step {step + 1}: {name} {now[at]} -> {broke[at]} {why}", scheme)
        late = [at for at, goal in enumerate(goals) if now[at] != goal]
        counted += sum(then[at] not in walked[at] for at in late) / len(late)
        for cells, cell in zip(walked, then, strict=True):
            cells.append(cell)
    return Plan(walked, counted, [], "", scheme)


def fault_of(key: JointKey, at: int, now: Sequence[Cell], then: Sequence[Cell]) -> str:
    """What is wrong with the step of one walker while all go from `now` to `then`; empty if nothing is."""
    old, new = now[at], then[at]
    if new == OUTSIDE:
        return "leaves the grid"
    if new != old and not adjacent(old, new):
        return "is no step to a cell that shares a side"
    if new in key.blocked:
        return "is blocked"
    for other, name in enumerate(key.ends):
        if other != at and then[other] == new:
            return f"meets {name}"
        if other != at and then[other] == old and new == now[other]:
            return f"exchanges cells with {name}"
    return ""


def joint(key: JointKey, answer: Any) -> Grade:
    """Grade paths walked at the same time: 1 if all arrive; else min(k, L-1)/L, where L is the least number of steps
    and k counts the valid joint steps, each by the share of walkers still under way that enter a cell new to them.

    So waiting and stepping aside are valid and earn nothing, and whoever brings home one walker of two while the other
    stands still has less than one half. A walker whose path is over stays where it is.
    """
    paths = as_paths(answer, key.ends)
    if not paths:
        return nothing("the answer does not map walkers to lists of cells of two whole numbers")
    goals = [goal for _, goal in key.ends.values()]

    def worth(plan: Plan) -> float:
        if [cells[-1] for cells in plan.walked] == goals:
            return 1.0
        return min(plan.counted, key.optimal - 1) / key.optimal

    written = [paths.get(name, []) for name in key.ends]
    plan = best((carried_out(key, written, scheme) for scheme in range(len(tables(key.shape)))), worth)
    where = {
        "paths": {name: [[*cell] for cell in cells] for name, cells in zip(key.ends, plan.walked, strict=True)},
        "broke": {name: [*cell] for name, cell in zip(key.ends, plan.broke, strict=False)},
        "scheme": plan.scheme,
    }
    score, steps = worth(plan), len(plan.walked[0]) - 1
    if score == 1:
        return Grade(1.0, True, f"all arrive within {steps} steps (fewest {key.optimal})", where)
    late = [name for name, cells, goal in zip(key.ends, plan.walked, goals, strict=True) if cells[-1] != goal]
    return Grade(score, False, plan.fault or f"after {steps} steps {' and '.join(late)} short of the goal", where)


class Linked(NamedTuple):
    """What is wrong with each pair in a scheme, empty if nothing is."""

    faults: dict[str, str]
    scheme: int

    @property
    def share(self) -> float:
        return [*self.faults.values()].count("") / len(self.faults)


def links(key: LinksKey, answer: Any) -> Grade:
    """Grade paths by the share of pairs that are joined. A path joins its pair, in either direction, if it has both
    ends of it, its cells share sides, and none is blocked, repeated or an end of another pair.

    Of paths that share cells as many count as can stand together, so that nobody gains by leaving a path out.
    """
    paths = as_paths(answer, key.ends)
    if not paths:
        return nothing("the answer does not map pairs to lists of cells of two whole numbers")
    linked = best((linked_in(key, paths, scheme) for scheme in range(len(tables(key.shape)))), lambda one: one.share)
    wrong = [name for name, fault in linked.faults.items() if fault]
    right = [name for name in linked.faults if name not in wrong]
    table = tables(key.shape)[linked.scheme]
    where = {
        "paths": {name: [[*table[cell]] for cell in cells if cell in table] for name, cells in paths.items()},
        "right": right,
        "wrong": wrong,
        "scheme": linked.scheme,
    }
    faults = "".join(f"; {name} {linked.faults[name]}" for name in wrong[:5])
    return Grade(linked.share, not wrong, f"{len(right)} of {len(key.ends)} pairs joined{faults}", where)


def linked_in(key: LinksKey, paths: Paths, scheme: int) -> Linked:
    """What the paths join in a scheme."""
    table, faults, whole = tables(key.shape)[scheme], {}, {}
    for name, ends in key.ends.items():
        written = paths.get(name)
        faults[name] = "has no path"
        if written:
            faults[name] = "does not go from one end to the other"
            if (table.get(written[0]), table.get(written[-1])) in (ends, ends[::-1]):
                cells = [table.get(cell, OUTSIDE) for cell in written]
                faults[name] = unjoined(key, name, cells)
                if not faults[name]:
                    whole[name] = set(cells)
    kept = apart(whole)
    return Linked(faults | {name: "shares a cell with another" for name in whole if name not in kept}, scheme)


def unjoined(key: LinksKey, name: str, cells: list[Cell]) -> str:
    """Why a path from one end to the other does not join its pair; empty if it does."""
    barred = key.blocked.union(*(ends for other, ends in key.ends.items() if other != name), [OUTSIDE])
    for old, new in pairwise(cells):
        if new in barred:
            return f"may not go on from {old} to {new or 'outside the grid'}"
        if not adjacent(old, new):
            return f"jumps from {old} to {new}"
    return "crosses itself" if len(set(cells)) < len(cells) else ""


def apart(paths: Mapping[str, set[Cell]]) -> tuple[str, ...]:
    """The names of as many paths as there are without a common cell, of several choices the first."""
    for size in range(len(paths), 1, -1):
        for names in combinations(paths, size):
            if len(set().union(*(paths[n] for n in names))) == sum(len(paths[n]) for n in names):
                return names
    return tuple(paths)[:1]
