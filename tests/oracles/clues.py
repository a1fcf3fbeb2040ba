"""Oracles of puzzles of clues by SAT and brute force, and of queries on tables and logs by SQL."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import combinations, permutations, product
from typing import Any

from pysat.solvers import Cadical153

ROW: dict[str, Callable[[int, int], bool]] = {
    "at": lambda a, b: a == b,
    "not at": lambda a, b: a != b,
    "same": lambda a, b: a == b,
    "not same": lambda a, b: a != b,
    "next": lambda a, b: abs(a - b) == 1,
    "directly": lambda a, b: a + 1 == b,
    "before": lambda a, b: a < b,
}


def order(instance: Any) -> list[Any]:
    def fits(line: Sequence[str]) -> bool:
        place = {person: i for i, person in enumerate(line)} | {str(i + 1): i for i in range(len(line))}
        return all(ROW[kind](place[a], place[b]) for kind, a, b in instance.clues)

    return [list(line) for line in permutations(instance.items[0]) if fits(line)]


def seating(instance: Any) -> list[Any]:
    first, *others = instance.items[0]
    n = len(others) + 1

    def fits(row: Sequence[str]) -> bool:
        seat = {person: i for i, person in enumerate(row)}

        def beside(a: str, b: str) -> bool:
            return (seat[a] - seat[b]) % n in (1, n - 1)

        tests: dict[str, Callable[..., bool]] = {
            "step": lambda a, b, seats: (seat[a] + int(seats)) % n == seat[b],
            "beside": beside,
            "apart": lambda a, b: not beside(a, b),
        }
        return all(tests[kind](*about) for kind, *about in instance.clues)

    return [[first, *row] for row in permutations(others) if fits((first, *row))]


def logic(instance: Any) -> list[Any]:
    columns = dict(zip(("person", "drink", "pet", "colour"), instance.items, strict=False))
    places = range(1, len(instance.items[0]) + 1)
    number = {key: i for i, key in enumerate(product((item for each in instance.items for item in each), places), 1)}

    def exactly_one(variables: Iterable[int]) -> Iterator[list[int]]:
        several = list(variables)
        yield several
        yield from ([-a, -b] for a, b in combinations(several, 2))

    def clauses() -> Iterator[list[int]]:
        for each in instance.items:
            for item in each:
                yield from exactly_one(number[item, place] for place in places)
            for place in places:
                yield from exactly_one(number[item, place] for item in each)
        for kind, a, b in instance.clues:
            for p in places:
                if b.isdigit():
                    yield from [] if ROW[kind](p, int(b)) else [[-number[a, p]]]
                else:
                    yield from ([-number[a, p], -number[b, q]] for q in places if not ROW[kind](p, q))

    found: list[Any] = []
    with Cadical153(bootstrap_with=list(clauses())) as solver:
        while solver.solve() and len(found) < 3:
            true = {v for v in solver.get_model() or () if v > 0}
            found.append(
                {
                    f"{place} {column}": item
                    for place in places
                    for column, each in columns.items()
                    for item in each
                    if number[item, place] in true
                }
            )
            solver.add_clause([-v for v in true])
    return found


def attrcombo(instance: Any) -> list[Any]:
    base = sqlite3.connect(":memory:")
    base.execute("create table thing (name text primary key, colour text, material text, shape text, size text)")
    for name in sorted({fact[0] for fact in instance.facts}):
        base.execute("insert into thing (name) values (?)", [name])
    for name, attribute, value in instance.facts:
        base.execute(f"update thing set {attribute} = ? where name = ?", (value, name))
    answer: dict[str, Any] = {}
    for query, kind, one, value, other, wanted in instance.queries:
        sql = f"select name from thing where {one} = ? and {other} {'=' if kind == 'which' else '<>'} ? order by name"
        names = [row[0] for row in base.execute(sql, [value, wanted])]
        answer[query] = names if kind == "which" else len(names)
    base.close()
    return [answer]


def eventlog(instance: Any) -> list[Any]:
    base = sqlite3.connect(":memory:")
    base.execute("create table event (log text, name text primary key, start int, stop int)")
    base.execute("create table same (porter text, system text)")
    base.executemany("insert into event values (?, ?, ?, ?)", [(log, name, *at) for log, name, at in instance.entries])
    base.executemany("insert into same values (?, ?)", instance.same)
    ahead = base.execute(
        "select distinct s.start - p.start from same join event p on p.name = porter join event s on s.name = system"
    ).fetchall()
    assert len(ahead) == 1, "the events of both logs agree on the clocks"
    base.execute("update event set start = start - ?, stop = stop - ? where log = 'system'", ahead[0] * 2)
    answer: dict[str, Any] = {}
    for query, kind, *about in instance.queries:
        if kind == "first":
            sql = "select name from event where name in (?, ?, ?, ?) order by start limit 1"
        elif kind == "overlap":
            overlap = "b.start < a.stop and a.start < b.stop"
            sql = f"select b.name from event a, event b where a.name = ? and b.log <> a.log and {overlap}"
        else:
            sql = "select b.start - a.start from event a, event b where a.name = ? and b.name = ?"
        rows = [row[0] for row in base.execute(sql, about)]
        answer[query] = rows if kind == "overlap" else rows[0]
    base.close()
    return [answer]
