"""Oracles of tasks that fit things together: SAT (python-sat), and brute force where there are few ways."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import combinations, product
from typing import Any

from pysat.card import CardEnc, EncType
from pysat.formula import IDPool
from pysat.solvers import Cadical153

SEVERAL = {"binpack", "meetingmatrix"}
MANY = 300  # answers listed, where there are more


def _exactly_one(choices: list[int], pool: IDPool) -> list[list[int]]:
    return CardEnc.equals(choices, 1, vpool=pool, encoding=EncType.pairwise).clauses


def _models(clauses: Iterable[list[int]], shown: list[int]) -> list[set[int]]:
    """What is true of `shown` in each model of the clauses."""
    found = []
    with Cadical153(bootstrap_with=list(clauses)) as solver:
        while len(found) < MANY and solver.solve():
            model = set(solver.get_model()) & set(shown)
            found.append(model)
            solver.add_clause([-v for v in model])
    return found


def binpack(instance: Any) -> list[Any]:
    sizes, room = dict(instance.sizes), dict(instance.capacities)
    found = []
    for bins in product(instance.bins, repeat=len(instance.items)):
        packed = dict(zip(instance.items, bins, strict=True))
        if any(sum(sizes[i] for i in packed if packed[i] == b) > room[b] for b in room):
            continue
        if all((packed[a] == packed[b]) == (how == "one") for a, b, how in instance.pairs):
            found.append(packed)
    return found


def meetingmatrix(instance: Any) -> list[Any]:
    pool = IDPool()
    spots = list(product(range(len(instance.days)), instance.rooms))
    clauses = []
    for meeting in instance.meetings:
        clauses += _exactly_one([pool.id((meeting, spot)) for spot in spots], pool)
    for spot in spots:
        clauses += [[-pool.id((a, spot)), -pool.id((b, spot))] for a, b in combinations(instance.meetings, 2)]
    for kind, a, b in instance.rules:
        if kind in ("day", "room"):
            wrong = [spot for spot in spots if b != (instance.days[spot[0]] if kind == "day" else spot[1])]
            clauses += [[-pool.id((a, spot))] for spot in wrong]
            continue
        for one, other in product(spots, spots):
            gap = other[0] - one[0]
            if not {"earlier": gap > 0, "eve": gap == 1}[kind]:
                clauses.append([-pool.id((a, one)), -pool.id((b, other))])
    shown = {pool.id((m, spot)): (m, spot) for m in instance.meetings for spot in spots}
    plans = []
    for model in _models(clauses, list(shown)):
        plan = {}
        for meeting, (at, room) in (shown[v] for v in model):
            plan |= {f"{meeting} day": instance.days[at], f"{meeting} room": room}
        plans.append(plan)
    return plans


def cipherdecode(instance: Any) -> list[Any]:
    """Pair by pair into a list of open places, each of which has to be filled once."""
    plain: list[str] = [" " if sign == " " else "" for sign in instance.text]
    for cipher, letter in instance.key:
        for at, sign in enumerate(instance.text):
            if sign == cipher:
                assert not plain[at]
                plain[at] = letter
    assert all(plain)
    assert len({c for c, _ in instance.key}) == len({p for _, p in instance.key}) == len(instance.key)
    return ["".join(plain)]


def crossword(instance: Any) -> list[Any]:
    pool = IDPool()
    lines = list(product(range(3), instance.across))
    columns = list(product(range(3), instance.down))
    clauses = []
    for at in range(3):
        clauses += _exactly_one([pool.id(("line", at, word)) for word in instance.across], pool)
        clauses += _exactly_one([pool.id(("column", at, word)) for word in instance.down], pool)
    for kind, words in (("line", instance.across), ("column", instance.down)):
        for word, (a, b) in product(words, combinations(range(3), 2)):
            clauses.append([-pool.id((kind, a, word)), -pool.id((kind, b, word))])
    for (r, line), (c, column) in product(lines, columns):
        if line[2 * c] != column[2 * r]:
            clauses.append([-pool.id(("line", r, line)), -pool.id(("column", c, column))])
    shown = {
        pool.id((kind, at, w)): (kind, at, w) for kind, of in (("line", lines), ("column", columns)) for at, w in of
    }
    grids = []
    for model in _models(clauses, list(shown)):
        cells = dict.fromkeys(product(range(5), repeat=2), "#")
        for kind, at, word in (shown[v] for v in model):
            cells |= {(2 * at, i) if kind == "line" else (i, 2 * at): letter for i, letter in enumerate(word)}
        grids.append(["".join(cells[r, c] for c in range(5)) for r in range(5)])
    return grids
