"""Readers of every kind of answer: what simulated models say comes back, and what real ones said."""

from __future__ import annotations

import json
import random
import re
import sys
import time
from collections.abc import Callable
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from collabtax.sim.speech import Voice
from graders.extract import WARNINGS, interpret, read
from graders.extract.kinds import KINDS, reading
from tasks.answers import (
    FORMS,
    CellsForm,
    Field,
    FieldsForm,
    Form,
    GridForm,
    GroupsForm,
    NumberForm,
    OrderForm,
    PathForm,
    PathsForm,
    QueryForm,
    SlotForm,
    TableForm,
    TextForm,
    TrailForm,
)
from tasks.frames import schemes
from tasks.names import ANIMALS, COLOURS, DRINKS, NAMES, THINGS, TOWNS, TREES

WORDS = [
    "MEET",
    "AT",
    "NOON",
    "BRING",
    "THE",
    "MAP",
    "NORTH",
    "GATE",
    "OPEN",
    "SOON",
    "WAIT",
    "FOR",
    "TEN",
    "SHIPS",
    "GO",
    "HOME",
]
KIN = {"parent": "child", "child": "parent", "sibling": "sibling", "cousin": "cousin"}


def some(rng: random.Random, names: tuple[str, ...], least: int, most: int) -> tuple[str, ...]:
    return tuple(rng.sample(names, rng.randint(least, most)))


def names(rng: random.Random) -> tuple[str, ...]:
    """Names as tasks have them."""
    letters, digits = tuple("ABCDEFGH"), tuple(map(str, range(1, 12)))
    return rng.choice((NAMES, TOWNS, ANIMALS, THINGS, TREES, letters, digits))


def walk(rng: random.Random, dims: int = 2, waits: bool = False) -> list[list[int]]:
    cell = [rng.randint(0, 6) for _ in range(dims)]
    cells = [cell]
    seen = {tuple(cell)}
    for _ in range(rng.randint(2, 14)):
        axis, step = rng.randrange(dims), rng.choice((-1, 1))
        cell = [*cells[-1]]
        if not (waits and rng.random() < 0.2):
            cell[axis] += step
            if tuple(cell) in seen or not 0 <= cell[axis] <= 6:
                continue
        seen.add(tuple(cell))
        cells.append(cell)
    return cells if len(cells) > 1 else [[0] * dims, [1] + [0] * (dims - 1)]


def a_path(rng: random.Random) -> tuple[Form, Any]:
    form = PathForm(rng.choice((2, 3)), rng.random() < 0.7, rng.random() < 0.3)
    if not form.unit and not form.waits:
        cells = [[rng.randint(0, 9) for _ in range(form.dims)] for _ in range(rng.randint(2, 9))]
        return form, [a for a, b in pairwise([*cells, []]) if a != b]
    return form, walk(rng, form.dims, form.waits)


def paths(rng: random.Random) -> tuple[Form, Any]:
    walkers = rng.choice((("A", "B"), ("robot A", "robot B"), ("red", "blue", "green"), ("1", "2"), ("R1", "R2")))
    form = PathsForm(walkers, rng.random() < 0.5)
    return form, {walker: walk(rng, 2, form.waits) for walker in walkers}


def cells(rng: random.Random) -> tuple[Form, Any]:
    every = [[a, b] for a in range(7) for b in range(7)]
    return CellsForm(), rng.sample(every, rng.randint(2, 20))


def trail(rng: random.Random) -> tuple[Form, Any]:
    form = TrailForm(some(rng, names(rng), 4, 8))
    if rng.random() < 0.3:
        return form, [rng.sample(form.nodes, 2) for _ in range(rng.randint(2, 6))]
    nodes = [rng.choice(form.nodes)]
    for _ in range(rng.randint(2, 9)):
        nodes.append(rng.choice([n for n in form.nodes if n != nodes[-1]]))
    return form, [list(pair) for pair in pairwise(nodes)]


def groups(rng: random.Random) -> tuple[Form, Any]:
    size = rng.choice((2, 3))
    if size == 2:
        one, two = some(rng, ANIMALS, 3, 8), TOWNS
        form = GroupsForm(one + two, 2)
        return form, [list(pair) for pair in zip(one, rng.sample(two, len(one)), strict=True)]
    form = GroupsForm(some(rng, names(rng), 5, 8), 3)
    made = {frozenset(rng.sample(form.names, 3)) for _ in range(rng.randint(1, 5))}
    return form, [rng.sample(sorted(group), 3) for group in sorted(made, key=sorted)]


def order(rng: random.Random) -> tuple[Form, Any]:
    items = some(rng, names(rng), 4, 8)
    length = rng.choice((0, 0, 3))
    return OrderForm(items, rng.random() < 0.3 and not length, length), rng.sample(items, length or len(items))


def number(rng: random.Random) -> tuple[Form, Any]:
    return NumberForm(), rng.choice((rng.randint(0, 30), rng.randint(-5, 20_000)))


def text(rng: random.Random) -> tuple[Form, Any]:
    said = " ".join(rng.choice(WORDS) for _ in range(rng.randint(2, 6)))
    return TextForm(len(said)), said


def grid(rng: random.Random) -> tuple[Form, Any]:
    height, width = rng.randint(3, 6), rng.randint(3, 6)
    return GridForm(height, width), [
        "".join(rng.choice("ABCDEFGHIJKLMNOPQRSTUVWXYZ###") for _ in range(width)) for _ in range(height)
    ]


def field(rng: random.Random) -> tuple[Field, Any]:
    kind = rng.choice(("name", "names", "order", "number", "yesno"))
    if kind == "yesno":
        return Field("name", ("yes", "no")), rng.choice(("yes", "no"))
    options = some(rng, names(rng), 4, 8)
    if kind == "name":
        return Field(kind, options), rng.choice(options)
    if kind == "number":
        return Field(kind), rng.randint(0, 40)
    return Field(kind, options), rng.sample(options, rng.randint(0 if kind == "names" else 2, 4))


def fields(rng: random.Random) -> tuple[Form, Any]:
    made = {f"q{n}": field(rng) for n in range(1, rng.randint(2, 6))}
    return FieldsForm({q: f for q, (f, _) in made.items()}), {q: value for q, (_, value) in made.items()}


def table(rng: random.Random) -> tuple[Form, Any]:
    if rng.random() < 0.4:
        rows, bins = (
            some(rng, THINGS, 3, 7),
            rng.choice((("bin A", "bin B", "bin C"), ("A", "B"), ("red", "blue", "green"))),
        )
        return TableForm(rows, {"bin": bins}), {row: rng.choice(bins) for row in rows}
    rows = rng.choice(
        (("house 1", "house 2", "house 3", "house 4"), ("1", "2", "3", "4"), NAMES[:4], ("standup", "design review"))
    )
    columns = rng.choice(
        (
            {"colour": COLOURS[:4], "pet": ANIMALS[:4], "drink": DRINKS[:4]},
            {"slot": ("9:00", "10:00", "11:00", "Mon 14:00"), "room": ("R1", "R2", "R3", "R4")},
            {"day": ("Monday", "Tuesday", "Wednesday", "Thursday"), "room": ("room A", "room B", "room C", "room D")},
        )
    )
    form = TableForm(rows, columns)
    return form, {form.cell(row, column): rng.choice(options) for row in rows for column, options in columns.items()}


def queries(rng: random.Random) -> tuple[Form, Any]:
    pairs = {f"q{n}": tuple(rng.sample(NAMES, 2)) for n in range(1, rng.randint(2, 5))}
    form = QueryForm(pairs, {word: word for word in KIN}, KIN)  # type: ignore[arg-type]
    return form, {q: [a, rng.choice(sorted(KIN)), b] for q, (a, b) in pairs.items()}


def slots(rng: random.Random) -> tuple[Form, Any]:
    events = some(rng, ("standup", "review", "retro", "planning", "design review"), 2, 4)
    return SlotForm(events), {e: f"{rng.randrange(24):02d}:{rng.choice((0, 15, 30)):02d}" for e in events}


MAKERS: dict[str, Callable[[random.Random], tuple[Form, Any]]] = {
    "path": a_path, "paths": paths, "cells": cells, "trail": trail, "groups": groups, "order": order, "number": number,
    "text": text, "grid": grid, "fields": fields, "table": table, "queries": queries, "slots": slots,
}  # fmt: skip


def same(form: Form, given: Any, answer: Any) -> bool:
    """Whether two answers say the same: paths in any scheme of the same kind, sets in any order."""
    if given is None:
        return False
    if isinstance(form, PathForm):
        told = [
            [list(s.write(tuple(c), (0,) * form.dims)) for c in answer] for s in schemes(form.dims) if not any(s.flips)
        ]
        return given in told
    if isinstance(form, CellsForm):
        return sorted(given) == sorted(answer)
    if isinstance(form, GroupsForm):
        return {frozenset(g) for g in given} == {frozenset(g) for g in answer} and len(given) == len(answer)
    if isinstance(form, FieldsForm):

        def value(item: str, one: Any) -> Any:
            return sorted(one) if form.items[item].kind == "names" else one

        return given.keys() == answer.keys() and all(value(i, given[i]) == value(i, answer[i]) for i in answer)
    return bool(given == answer)


def test_every_kind_has_a_reader() -> None:
    assert KINDS.keys() == FORMS.keys() == MAKERS.keys()


@pytest.mark.parametrize("kind", MAKERS)
def test_what_simulated_models_say_comes_back(kind: str) -> None:
    for seed in range(300):
        rng = random.Random(f"{kind} {seed}")
        form, answer = MAKERS[kind](rng)
        voice = Voice(rng, form)
        told = voice.told(answer)
        assert same(form, reading(form, told.strip("\n"), True).answer, answer), (seed, form, answer, told)
        said = f"{voice.final(answer)}\nACTI!"
        found = read(form, [("agent 1", said)])
        assert same(form, found.answer, answer), (seed, form, answer, said, found)
        assert found.warning == "clean", (seed, form, answer, said, found)


@pytest.mark.parametrize("kind", MAKERS)
def test_yaml_comes_back_exactly(kind: str) -> None:
    for seed in range(300):
        rng = random.Random(f"{kind} {seed}")
        form, answer = MAKERS[kind](rng)
        found = interpret(form, Voice(rng, form).yaml(answer))
        assert (found.answer, found.warning) == (answer, "clean"), (seed, form, found)


# ---- the matrix: envelope x notation, one answer of each kind --------------------------------------------------------

WALK = PathForm()
SPACE = PathForm(dims=3)
FAR = PathForm(unit=False)
TIMED = PathForm(waits=True)
ROBOTS = PathsForm(("A", "B"), waits=True)
REGION = CellsForm()
TOWN = TrailForm(("Altmoor", "Birkwald", "Corvin", "Dunhaven", "Elsgrund"))
NODES = TrailForm(("A", "B", "C", "D", "1", "2", "11"))
THREES = GroupsForm(("A", "B", "C", "D", "E", "F"), 3)
TWOS = GroupsForm(("badger", "beaver", "camel", "Altmoor", "Birkwald", "Corvin"), 2)
QUEUE = OrderForm(("Ada", "Bela", "Cleo", "Dima"))
DIGITS = OrderForm(("1", "2", "11"))
ROUND = OrderForm(("Ada", "Bela", "Cleo", "Dima"), circular=True)
TOP = OrderForm(("Ada", "Bela", "Cleo", "Dima", "Edda"), length=3)
NUMBER = NumberForm()
SAID = TextForm(12)
SQUARE = GridForm(3, 4)
MIXED = FieldsForm(
    {
        "q1": Field("number"),
        "q2": Field("names", ("Ada", "Bela", "Cleo")),
        "q3": Field("name", ("yes", "no")),
        "q4": Field("order", ("Ada", "Bela", "Cleo")),
        "q5": Field("names", ("Ada", "Bela", "Cleo")),
    }
)
LOGIC = TableForm(
    ("house 1", "house 2", "house 3"),
    {"colour": ("red", "blue", "green"), "pet": ("cat", "dog", "owl"), "drink": ("tea", "milk", "juice")},
)
BINS = TableForm(("lamp", "vase", "drum"), {"bin": ("bin A", "bin B")})
ROOMS = TableForm(("standup", "design review"), {"slot": ("Mon 9:00", "Mon 10:00"), "room": ("R1", "R2")})

CHAIN = [["Altmoor", "Birkwald"], ["Birkwald", "Corvin"], ["Corvin", "Altmoor"]]
SETS = [["A", "B", "C"], ["B", "D", "F"]]
PAIRS = [["badger", "Corvin"], ["beaver", "Altmoor"], ["camel", "Birkwald"]]
FILLED = {"q1": 3, "q2": ["Ada", "Bela"], "q3": "yes", "q4": ["Cleo", "Ada"], "q5": []}
HOUSES = {
    "house 1 colour": "red", "house 1 pet": "cat", "house 1 drink": "milk",
    "house 2 colour": "green", "house 2 pet": "owl", "house 2 drink": "tea",
    "house 3 colour": "blue", "house 3 pet": "dog", "house 3 drink": "juice",
}  # fmt: skip
PACKED = {"lamp": "bin A", "vase": "bin B", "drum": "bin A"}
MEETINGS = {
    "standup slot": "Mon 10:00", "standup room": "R2", "design review slot": "Mon 9:00", "design review room": "R1",
}  # fmt: skip

NOTATIONS: list[tuple[Form, Any, str]] = [
    # paths
    *[
        (SPACE, [[0, 0, 1], [0, 1, 1], [1, 1, 1]], t)
        for t in (
            "(0,0,1) -> (0,1,1) -> (1,1,1)",
            "[[0,0,1],[0,1,1],[1,1,1]]",
            "0,0,1 0,1,1 1,1,1",
            "1. (0,0,1)\n2. (0,1,1)\n3. (1,1,1)",
            "From (0,0,1) to (0,1,1), then (0,1,1) to (1,1,1)",
        )
    ],
    *[
        (FAR, [[0, 0], [3, 4], [1, 6]], t)
        for t in (
            "(0,0) -> (3,4) -> (1,6)",
            "[[0,0],[3,4],[1,6]]",
            "(0,0), (3,4), (1,6)",
            "- (0,0)\n- (3,4)\n- (1,6)",
            "(0, 0) to (3, 4), then (3, 4) to (1, 6)",
        )
    ],
    *[
        (TIMED, [[0, 0], [0, 0], [0, 1], [0, 1], [1, 1]], t)
        for t in (
            "(0,0) -> (0,0) -> (0,1) -> (0,1) -> (1,1)",
            "[[0,0],[0,0],[0,1],[0,1],[1,1]]",
            "(0,0), (0,0), (0,1), (0,1), (1,1)",
            "step 0: (0,0)\nstep 1: (0,0)\nstep 2: (0,1)\nstep 3: (0,1)\nstep 4: (1,1)",
            "t=0: (0,0), t=1: (0,0), t=2: (0,1), t=3: (0,1), t=4: (1,1)",
            "(0,0) -> wait -> (0,1) -> wait -> (1,1)",
            "(0,0), (0,0) [wait], (0,1), (0,1) [wait], (1,1)",
            "0. (0,0)\n1. (0,0) - wait\n2. (0,1)\n3. (0,1) - wait\n4. (1,1)",
        )
    ],
    *[
        (ROBOTS, {"A": [[0, 0], [0, 1], [0, 1]], "B": [[2, 2], [1, 2], [1, 1]]}, t)
        for t in (
            "A: (0,0) -> (0,1) -> (0,1)\nB: (2,2) -> (1,2) -> (1,1)",
            "Robot A: (0,0), (0,1), (0,1)\nRobot B: (2,2), (1,2), (1,1)",
            '{"A": [[0,0],[0,1],[0,1]], "B": [[2,2],[1,2],[1,1]]}',
            "A: (0,0) (0,1) (0,1); B: (2,2) (1,2) (1,1)",
            "- Robot A (start (0,0)): (0,0), (0,1), (0,1)\n- Robot B (start (2,2)): (2,2), (1,2), (1,1)",
            "Robot A:\n1. (0,0)\n2. (0,1)\n3. (0,1)\n\nRobot B:\n1. (2,2)\n2. (1,2)\n3. (1,1)",
            "### Robot A\n(0,0) → (0,1) → (0,1)\n\n### Robot B\n(2,2) → (1,2) → (1,1)",
            "| step | A | B |\n|---|---|---|\n| 0 | (0,0) | (2,2) |\n| 1 | (0,1) | (1,2) |\n| 2 | (0,1) | (1,1) |",
            "| Robot | Path |\n|---|---|\n| A | (0,0), (0,1), (0,1) |\n| B | (2,2), (1,2), (1,1) |",
            "Path of robot A = [(0,0), (0,1), (0,1)], path of robot B = [(2,2), (1,2), (1,1)]",
            "Step 0: A (0,0), B (2,2)\nStep 1: A (0,1), B (1,2)\nStep 2: A (0,1), B (1,1)",
            "Step 0: A at (0,0), B at (2,2)\nStep 1: A at (0,1), B at (1,2)\nStep 2: A at (0,1), B at (1,1)",
            "A goes (0,0), (0,1), (0,1) and B goes (2,2), (1,2), (1,1)",
            "A's path: (0,0), (0,1), (0,1)\nB's path: (2,2), (1,2), (1,1)",
        )
    ],
    *[
        (REGION, [[0, 0], [0, 1], [2, 1], [2, 3], [2, 4]], t)
        for t in (
            "(0,0), (0,1), (2,1), (2,3), (2,4)",
            "[[0,0],[0,1],[2,1],[2,3],[2,4]]",
            "{(0,0), (0,1), (2,1), (2,3), (2,4)}",
            "row 0: columns 0, 1\nrow 2: columns 1, 3, 4",
            "Row 0: (0,0), (0,1)\nRow 2: (2,1), (2,3), (2,4)",
            "- (0,0)\n- (0,1)\n- (2,1)\n- (2,3)\n- (2,4)",
            "(0,0), (0,1), (2,1), (2,3) and (2,4)",
            "row 0: columns 0-1\nrow 2: columns 1, 3-4",
            "0,0; 0,1; 2,1; 2,3; 2,4",
            "r0c0, r0c1, r2c1, r2c3, r2c4",
            '[{"row": 0, "col": 0}, {"row": 0, "col": 1}, {"row": 2, "col": 1}, {"row": 2, "col": 3}, '
            '{"row": 2, "col": 4}]',
            "(0,0) seed\n(0,1) open\n(2,1) open\n(2,3) open\n(2,4) open",
            "(0,0), (0,1), (2,1), (2,3), (2,4)\n\nWalls: (1,0), (1,1)",
            "row 0 -> columns 0 and 1; row 2 -> columns 1, 3 and 4",
        )
    ],
    # trails
    *[
        (TOWN, CHAIN, t)
        for t in (
            "Altmoor-Birkwald, Birkwald-Corvin, Corvin-Altmoor",
            "Altmoor -> Birkwald -> Corvin -> Altmoor",
            "Altmoor, Birkwald, Corvin, Altmoor",
            "(Altmoor, Birkwald), (Birkwald, Corvin), (Corvin, Altmoor)",
            '[["Altmoor", "Birkwald"], ["Birkwald", "Corvin"], ["Corvin", "Altmoor"]]',
            "from Altmoor to Birkwald, then Birkwald to Corvin, then Corvin to Altmoor",
            "1. Altmoor - Birkwald\n2. Birkwald - Corvin\n3. Corvin - Altmoor",
            "1. Altmoor → Birkwald\n2. Birkwald → Corvin\n3. Corvin → Altmoor",
            "Altmoor – Birkwald – Corvin – Altmoor",
            '[{"from": "Altmoor", "to": "Birkwald"}, {"from": "Birkwald", "to": "Corvin"}, '
            '{"from": "Corvin", "to": "Altmoor"}]',
            "| from | to |\n|---|---|\n| Altmoor | Birkwald |\n| Birkwald | Corvin |\n| Corvin | Altmoor |",
            "- altmoor–birkwald\n- birkwald–corvin\n- corvin–altmoor",
            "Altmoor -> Birkwald, Birkwald -> Corvin, Corvin -> Altmoor",
            "Altmoor-Birkwald (3), Birkwald-Corvin (4), Corvin-Altmoor (5), total 12",
            "Start at Altmoor, go to Birkwald, then to Corvin, and finally to Altmoor",
            "Altmoor↔Birkwald, Birkwald↔Corvin, Corvin↔Altmoor",
            "Altmoor\nBirkwald\nCorvin\nAltmoor",
            "1. Altmoor\n2. Birkwald\n3. Corvin\n4. Altmoor",
            "edge 1: Altmoor-Birkwald; edge 2: Birkwald-Corvin; edge 3: Corvin-Altmoor",
            "Altmoor->Birkwald->Corvin->Altmoor",
            "['Altmoor', 'Birkwald', 'Corvin', 'Altmoor']",
            "Altmoor Birkwald, Birkwald Corvin, Corvin Altmoor",
        )
    ],
    *[
        (NODES, [["A", "2"], ["2", "11"], ["11", "B"]], t)
        for t in (
            "A-2, 2-11, 11-B",
            "A -> 2 -> 11 -> B",
            "1. A-2\n2. 2-11\n3. 11-B",
            "node A, node 2, node 11, node B",
            "(A,2),(2,11),(11,B)",
            "1. A -> 2\n2. 2 -> 11\n3. 11 -> B",
            "A→2→11→B",
        )
    ],
    # groups
    *[
        (THREES, SETS, t)
        for t in (
            "{A, B, C}, {B, D, F}",
            "(A,B,C), (B,D,F)",
            "A-B-C; B-D-F",
            "- A, B, C\n- B, D, F",
            '[["A", "B", "C"], ["B", "D", "F"]]',
            "ABC_".replace("ABC_", "A-B-C, B-D-F"),
            "1. A, B, C\n2. B, D, F",
            "1. {A, B, C}\n2. {B, D, F}",
            "| 1 | A | B | C |\n|---|---|---|---|\n| 2 | B | D | F |",
            "{{A, B, C}, {B, D, F}}",
            "(A, B, C) and (B, D, F)",
            "A, B, C; B, D, F",
            "[A, B, C]\n[B, D, F]",
            "- A-B-C (edges A-B, B-C, A-C)\n- B-D-F (edges B-D, D-F, B-F)",
            "(B,A,C); (F,D,B)",
            "triangle 1: A, B, C\ntriangle 2: B, D, F",
            "A–B–C\nB–D–F",
        )
    ],
    *[
        (TWOS, PAIRS, t)
        for t in (
            "badger = Corvin, beaver = Altmoor, camel = Birkwald",
            "badger -> Corvin\nbeaver -> Altmoor\ncamel -> Birkwald",
            "badger: Corvin\nbeaver: Altmoor\ncamel: Birkwald",
            '{"badger": "Corvin", "beaver": "Altmoor", "camel": "Birkwald"}',
            "| animal | town |\n|---|---|\n| badger | Corvin |\n| beaver | Altmoor |\n| camel | Birkwald |",
            "(badger, Corvin), (beaver, Altmoor), (camel, Birkwald)",
            "badger is Corvin, beaver is Altmoor, and camel is Birkwald",
            "badger ↔ Corvin; beaver ↔ Altmoor; camel ↔ Birkwald",
            "1. badger = Corvin\n2. beaver = Altmoor\n3. camel = Birkwald",
            "- Badger – Corvin\n- Beaver – Altmoor\n- Camel – Birkwald",
            "badger ≡ Corvin, beaver ≡ Altmoor, camel ≡ Birkwald",
            "badger corresponds to Corvin, beaver corresponds to Altmoor, camel corresponds to Birkwald",
            '[["badger","Corvin"],["beaver","Altmoor"],["camel","Birkwald"]]',
            "badger/Corvin, beaver/Altmoor, camel/Birkwald",
        )
    ],
    # orders
    *[
        (form, ["Cleo", "Ada", "Dima", "Bela"], t)
        for form in (QUEUE, ROUND)
        for t in (
            "Cleo, Ada, Dima, Bela",
            "Cleo > Ada > Dima > Bela",
            "Cleo -> Ada -> Dima -> Bela",
            "1. Cleo\n2. Ada\n3. Dima\n4. Bela",
            "Cleo < Ada < Dima < Bela",
            "First Cleo, then Ada, then Dima and finally Bela",
            '["Cleo", "Ada", "Dima", "Bela"]',
            "Cleo\nAda\nDima\nBela",
            "1st: Cleo, 2nd: Ada, 3rd: Dima, 4th: Bela",
            "position 1: Cleo\nposition 2: Ada\nposition 3: Dima\nposition 4: Bela",
            "position 3: Dima, position 1: Cleo, position 4: Bela, position 2: Ada",
            "Ada: position 2\nBela: position 4\nCleo: position 1\nDima: position 3",
            "- Cleo\n- Ada\n- Dima\n- Bela",
            '{"1": "Cleo", "2": "Ada", "3": "Dima", "4": "Bela"}',
            '{"Ada": 2, "Bela": 4, "Cleo": 1, "Dima": 3}',
            "| place | who |\n|---|---|\n| 1 | Cleo |\n| 2 | Ada |\n| 3 | Dima |\n| 4 | Bela |",
            "1. Cleo - has nobody before her\n2. Ada: after Cleo\n3. Dima (before Bela)\n4. Bela",
            "Cleo, Ada, Dima, and Bela",
            "cleo, ADA, Dima, bela",
            "Cleo; Ada; Dima; Bela",
            "Cleo – Ada – Dima – Bela",
            "(Cleo, Ada, Dima, Bela)",
            "Ada is 2nd, Cleo is 1st, Bela is 4th, Dima is 3rd",
            "Cleo, Ada, Dima, Bela (from left to right)",
            "[Cleo, Ada, Dima, Bela]",
            "Seat 1: Cleo\nSeat 2: Ada\nSeat 3: Dima\nSeat 4: Bela",
            "Cleo (first), Ada (second), Dima (third), Bela (fourth)",
            "Cleo Ada Dima Bela",
            "Cleo comes first, followed by Ada, then Dima, and Bela last",
        )
    ],
    (ROUND, ["Cleo", "Ada", "Dima", "Bela"], "Cleo -> Ada -> Dima -> Bela -> Cleo"),
    (ROUND, ["Cleo", "Ada", "Dima", "Bela"], "Cleo - Ada - Dima - Bela - (back to Cleo)"),
    *[
        (DIGITS, ["2", "11", "1"], t)
        for t in (
            "2, 11, 1",
            "node 2, node 11, node 1",
            "1. 2\n2. 11\n3. 1",
            "2 > 11 > 1",
            "[2, 11, 1]",
            "position 1: 2\nposition 2: 11\nposition 3: 1",
            "2 → 11 → 1",
        )
    ],
    *[
        (TOP, ["Dima", "Ada", "Edda"], t)
        for t in (
            "Dima, Ada, Edda",
            "1. Dima\n2. Ada\n3. Edda",
            "Dima (5), Ada (4), Edda (3)",
            "Dima > Ada > Edda",
            "1. Dima (degree 5: Ada, Bela, Cleo, Edda)\n2. Ada (degree 4)\n3. Edda (degree 3)",
            "Dima: 5\nAda: 4\nEdda: 3",
            "1. Dima\n2. Ada\n3. Edda\n4. Bela",
            "1st Dima, 2nd Ada, 3rd Edda",
            '["Dima", "Ada", "Edda"]',
            "| 1 | Dima | 5 |\n|---|---|---|\n| 2 | Ada | 4 |\n| 3 | Edda | 3 |",
            "Dima with degree 5, Ada with degree 4, Edda with degree 3",
        )
    ],
    # values
    *[
        (NUMBER, 42, t)
        for t in (
            "42",
            "the sum is 42",
            "42 points",
            "12 + 30 = 42",
            "42.",
            "42 (12 + 30)",
            "the total of node 7 is 42",
            "7 + 5 + 30 = 42 points",
            "= 42",
            "42.0",
            "+42",
            "Sum: 42",
            '{"answer": 42}',
            "The sum over the subtree of node 7 is 42, since 12 + 30 = 42",
            "forty-two".replace("forty-two", "42"),
            "12 plus 30 equals 42",
        )
    ],
    *[
        (NUMBER, value, t)
        for value, t in (
            (1234, "1,234"),
            (7, "seven"),
            (7, "Seven points"),
            (-5, "-5"),
            (0, "0"),
            (0, "zero"),
            (12, "a dozen, that is 12"),
        )
    ],
    *[
        (SAID, "MEET AT NOON", t)
        for t in (
            "MEET AT NOON",
            '"MEET AT NOON"',
            "'MEET AT NOON'",
            "meet at noon",
            "Meet at noon.",
            "The message is MEET AT NOON",
            'The decoded message is "MEET AT NOON".',
            "M E E T  A T  N O O N",
            "M E E T / A T / N O O N",
            "MEET  AT NOON",
            "“MEET AT NOON”",
            "MEET AT NOON (shift of 3)",
            '{"text": "MEET AT NOON"}',
            "MEET_AT_NOON",
            "MEET-AT-NOON",
            "The text reads: MEET AT NOON",
            "MEET\nAT\nNOON",
            "PHHW DW QRRQ decodes to MEET AT NOON",
            "PHHW DW QRRQ -> MEET AT NOON",
        )
    ],
    *[
        (SQUARE, ["CAT#", "#B#D", "EFGH"], t)
        for t in (
            "CAT#\n#B#D\nEFGH",
            "C A T #\n# B # D\nE F G H",
            "| C | A | T | # |\n|---|---|---|---|\n| # | B | # | D |\n| E | F | G | H |",
            '["CAT#", "#B#D", "EFGH"]',
            "Row 1: C A T #\nRow 2: # B # D\nRow 3: E F G H",
            "CAT.\n.B.D\nEFGH",
            "C A T _\n_ B _ D\nE F G H",
            "CAT■\n■B■D\nEFGH",
            "C A T *\n* B * D\nE F G H",
            "C A T -\n- B - D\nE F G H",
            '[["C","A","T","#"],["#","B","#","D"],["E","F","G","H"]]',
            "cat#\n#b#d\nefgh",
            "1: CAT#\n2: #B#D\n3: EFGH",
            "1. CAT#\n2. #B#D\n3. EFGH",
            "CAT# / #B#D / EFGH",
            "C,A,T,#\n#,B,#,D\nE,F,G,H",
            "- CAT#\n- '#B#D'\n- EFGH",
            "CAT#\n\n#B#D\n\nEFGH",
            '[\n "CAT#",\n "#B#D",\n "EFGH"\n]',
            "|C|A|T|#|\n|#|B|#|D|\n|E|F|G|H|",
            "C A T ⬛\n⬛ B ⬛ D\nE F G H",
            "|   | 1 | 2 | 3 | 4 |\n|---|---|---|---|---|\n| 1 | C | A | T | # |\n| 2 | # | B | # | D "
            "|\n| 3 | E | F | G | H |",
            "Row 1: CAT#, Row 2: #B#D, Row 3: EFGH",
        )
    ],
    # mappings
    *[
        (MIXED, FILLED, t)
        for t in (
            "q1: 3\nq2: Ada, Bela\nq3: yes\nq4: Cleo -> Ada\nq5: none",
            '{"q1": 3, "q2": ["Ada", "Bela"], "q3": "yes", "q4": ["Cleo", "Ada"], "q5": []}',
            "q1 -> 3; q2 -> Ada and Bela; q3 -> yes; q4 -> Cleo, Ada; q5 -> nobody",
            "1. 3\n2. Ada, Bela\n3. Yes\n4. Cleo, Ada\n5. None",
            "Q1 = 3\nQ2 = {Bela, Ada}\nQ3 = Yes.\nQ4 = (Cleo, Ada)\nQ5 = {}",
            "| query | answer |\n|---|---|\n| q1 | 3 |\n| q2 | Ada, Bela |\n| q3 | yes |\n| q4 | Cleo, "
            "Ada |\n| q5 | none |",
            "| q | question | answer |\n|---|---|---|\n| q1 | neighbours of Ada | 3 |\n| q2 | who is "
            "above Cleo | Ada, Bela |\n| q3 | is Ada red | yes |\n| q4 | way from Cleo | Cleo, Ada |\n| "
            "q5 | all of them | none |",
            "For q1 the answer is 3. For q2 the answer is Ada and Bela. For q3 the answer is yes. For "
            "q4 the answer is Cleo then Ada. For q5 the answer is none.",
            "- q1: 3 (Ada, Bela and Cleo)\n- q2: Ada, Bela\n- q3: yes, because Ada is red\n- q4: Cleo, "
            "Ada\n- q5: no one",
            "q1 (number of neighbours): 3\nq2 (above Cleo): Ada, Bela\nq3 (is Ada red): yes\nq4 (way): "
            "Cleo → Ada\nq5 (all): nobody",
            "q1: 3\nq2: [Ada, Bela]\nq3: yes\nq4: [Cleo, Ada]\nq5: []",
            "q1: three\nq2:\n- Ada\n- Bela\nq3: yes\nq4:\n1. Cleo\n2. Ada\nq5: none",
            "Question 1: 3\nQuestion 2: Ada, Bela\nQuestion 3: yes\nQuestion 4: Cleo, Ada\nQuestion 5: none",
            '[{"id": "q1", "answer": 3}, {"id": "q2", "answer": ["Ada", "Bela"]}, '
            '{"id": "q3", "answer": "yes"}, {"id": "q4", "answer": ["Cleo", "Ada"]}, '
            '{"id": "q5", "answer": []}]',
            "q1: 1 + 2 = 3\nq2: ada, bela\nq3: YES\nq4: Cleo > Ada\nq5: -",
            "q1 is 3, q2 is Ada and Bela, q3 is yes, q4 is Cleo, Ada, q5 is none",
            "3\nAda, Bela\nyes\nCleo, Ada\nnone",
        )
    ],
    *[
        (LOGIC, HOUSES, t)
        for t in (
            "house 1: red, cat, milk\nhouse 2: green, owl, tea\nhouse 3: blue, dog, juice",
            "House 1: milk, cat, red\nHouse 2: owl, tea, green\nHouse 3: juice, blue, dog",
            "| House | Colour | Pet | Drink |\n|---|---|---|---|\n| 1 | red | cat | milk |\n| 2 | green "
            "| owl | tea |\n| 3 | blue | dog | juice |",
            "red: house 1, green: house 2, blue: house 3, cat: house 1, owl: house 2, dog: house 3, "
            "milk: house 1, tea: house 2, juice: house 3",
            "- colour: red = house 1, green = house 2, blue = house 3\n- pet: cat = house 1, owl = "
            "house 2, dog = house 3\n- drink: milk = house 1, tea = house 2, juice = house 3",
            "The cat is in house 1, the owl in house 2 and the dog in house 3. Red is house 1, green is "
            "house 2, blue is house 3. Milk is in house 1, tea in house 2, juice in house 3.",
            '{"1": {"colour": "red", "pet": "cat", "drink": "milk"}, "2": {"colour": "green", "pet": "owl", '
            '"drink": "tea"}, "3": {"colour": "blue", "pet": "dog", "drink": "juice"}}',
            '{"house 1": ["red", "cat", "milk"], "house 2": ["green", "owl", "tea"], '
            '"house 3": ["blue", "dog", "juice"]}',
            "1: red, cat, milk; 2: green, owl, tea; 3: blue, dog, juice",
            "1. red, cat, milk\n2. green, owl, tea\n3. blue, dog, juice",
            "House 1:\n- Colour: red\n- Pet: cat\n- Drink: milk\n\nHouse 2:\n- Colour: green\n- Pet: "
            "owl\n- Drink: tea\n\nHouse 3:\n- Colour: blue\n- Pet: dog\n- Drink: juice",
            "| | House 1 | House 2 | House 3 |\n|---|---|---|---|\n| Colour | red | green | blue |\n| "
            "Pet | cat | owl | dog |\n| Drink | milk | tea | juice |",
            "colour: red, green, blue\npet: cat, owl, dog\ndrink: milk, tea, juice",
            "In house 1 the colour is red, the pet is a cat and the drink is milk. House 2 has green, "
            "owl and tea. House 3 has blue, dog and juice.",
            "House 1 = red + cat + milk, House 2 = green + owl + tea, House 3 = blue + dog + juice",
            "(1) red, cat, milk (2) green, owl, tea (3) blue, dog, juice",
            "house 1 colour: red\nhouse 1 pet: cat\nhouse 1 drink: milk\nhouse 2 colour: green\nhouse 2 "
            "pet: owl\nhouse 2 drink: tea\nhouse 3 colour: blue\nhouse 3 pet: dog\nhouse 3 drink: juice",
            "Position 1: red, cat, milk\nPosition 2: green, owl, tea\nPosition 3: blue, dog, juice",
            '[{"house": 1, "colour": "red", "pet": "cat", "drink": "milk"}, '
            '{"house": 2, "colour": "green", "pet": "owl", "drink": "tea"}, '
            '{"house": 3, "colour": "blue", "pet": "dog", "drink": "juice"}]',
            "red -> 1, green -> 2, blue -> 3\ncat -> 1, owl -> 2, dog -> 3\nmilk -> 1, tea -> 2, juice -> 3",
        )
    ],
    *[
        (BINS, PACKED, t)
        for t in (
            "lamp: bin A\nvase: bin B\ndrum: bin A",
            "Bin A: lamp, drum\nBin B: vase",
            "lamp -> A, vase -> B, drum -> A",
            '{"lamp": "bin A", "vase": "bin B", "drum": "bin A"}',
            '{"A": ["lamp", "drum"], "B": ["vase"]}',
            "| item | bin |\n|---|---|\n| lamp | A |\n| vase | B |\n| drum | A |",
            "| bin | items |\n|---|---|\n| A | lamp, drum |\n| B | vase |",
            "Put the lamp in bin A, the vase in bin B and the drum in bin A.",
            "Bin A:\n- lamp\n- drum\n\nBin B:\n- vase",
            "Bin A contains the lamp and the drum, bin B contains the vase.",
            "A: lamp (3), drum (4)\nB: vase (5)",
            "lamp and drum go into bin A, vase goes into bin B",
            "- lamp = A\n- vase = B\n- drum = A",
            "Bin A = {lamp, drum}; Bin B = {vase}",
            "lamp (size 3): bin A\nvase (size 5): bin B\ndrum (size 4): bin A",
            "Bin A (capacity 7): lamp (3) + drum (4) = 7\nBin B (capacity 5): vase (5) = 5",
            "(lamp, A), (vase, B), (drum, A)",
        )
    ],
    *[
        (ROOMS, MEETINGS, t)
        for t in (
            "standup: Mon 10:00, R2\ndesign review: Mon 9:00, R1",
            "Standup -> R2 at Mon 10:00; Design Review -> R1 at Mon 9:00",
            '{"standup": {"slot": "Mon 10:00", "room": "R2"}, "design review": {"slot": "Mon 9:00", "room": "R1"}}',
            "| meeting | slot | room |\n|---|---|---|\n| standup | Mon 10:00 | R2 |\n| design review | Mon 9:00 | R1 |",
            "Mon 9:00: design review (R1)\nMon 10:00: standup (R2)",
            "standup in R2 at Mon 10:00 and design review in R1 at Mon 9:00",
            "Mon 9:00, R1: design review\nMon 10:00, R2: standup",
        )
    ],
]

ENVELOPES: dict[str, Callable[[str], str]] = {
    "bare": lambda a: a,
    "final": lambda a: f"FINAL: {a}",
    "label": lambda a: f"**Final answer:**\n{a}\n\nACTI!",
    "heading": lambda a: f"We are done.\n\n## Final Answer\n\n{a}\n\nACTI!",
    "fence": lambda a: f"Final answer:\n```\n{a}\n```\nACTI!",
    "json fence": lambda a: f"```json\n{a}\n```",
    "tag": lambda a: f"I checked everything.\n<answer>{a}</answer>",
    "box": lambda a: rf"So we get \boxed{{{a}}}.",
    "thought": lambda a: f"<think>perhaps 7, (7,7), Ada?</think>\nAnswer: {a}",
    "asked later": lambda a: f"Final answer: {a}\n\nDo you agree?",
}


# What is no answer where nothing says so: words like any others, and a list of the options.
DOUBTFUL = ("meet at noon", "Meet at noon.", "colour: red, green, blue\npet: cat, owl, dog\ndrink: milk, tea, juice")


def agrees(form: Form, given: Any, answer: Any) -> bool:
    return same(form, given, answer) if not isinstance(form, PathForm) else bool(given == answer)


@pytest.mark.parametrize("envelope", ENVELOPES)
@pytest.mark.parametrize(
    ("form", "answer", "told"), NOTATIONS, ids=[f"{n}-{f.kind}" for n, (f, _, _) in enumerate(NOTATIONS)]
)
def test_matrix(form: Form, answer: Any, told: str, envelope: str) -> None:
    found = read(form, [("agent 1", ENVELOPES[envelope](told))])
    if envelope in ("bare", "json fence") and told in DOUBTFUL:
        assert found.answer is None
    else:
        assert agrees(form, found.answer, answer), found


# ---- one dialogue after another --------------------------------------------------------------------------------------

# For each kind: a form, an answer as it is written, another one as it is written.
TOLD: dict[str, tuple[Form, str, str]] = {
    "path": (WALK, "(0,0) -> (0,1) -> (1,1)", "(0,0) -> (1,0) -> (1,1)"),
    "paths": (ROBOTS, "A: (0,0) -> (0,1)\nB: (2,2) -> (1,2)", "A: (0,0) -> (1,0)\nB: (2,2) -> (2,1)"),
    "cells": (REGION, "(0,0), (0,1), (1,1)", "(0,0), (1,0), (3,1), (4,1)"),
    "trail": (TOWN, "Altmoor-Birkwald, Birkwald-Corvin", "Altmoor-Dunhaven, Dunhaven-Corvin"),
    "groups": (THREES, "{A, B, C}, {B, D, F}", "{A, B, E}, {C, D, F}"),
    "order": (QUEUE, "Cleo > Ada > Dima > Bela", "Ada > Cleo > Dima > Bela"),
    "number": (NUMBER, "42", "37"),
    "text": (SAID, "MEET AT NOON", "MEET AT FOUR"),
    "grid": (SQUARE, "CAT#\n#B#D\nEFGH", "DOG#\n#B#D\nEFGH"),
    "fields": (
        FieldsForm({"q1": Field("number"), "q2": Field("name", ("Ada", "Bela"))}),
        "q1: 3\nq2: Ada",
        "q1: 4\nq2: Bela",
    ),
    "table": (BINS, "lamp: bin A\nvase: bin B\ndrum: bin A", "lamp: bin B\nvase: bin B\ndrum: bin A"),
    "queries": (QueryForm({"q1": ("Ada", "Bela")}, {k: k for k in KIN}, KIN), "q1: parent", "q1: cousin"),
    "slots": (SlotForm(("standup", "retro")), "standup: 14:00\nretro: 9:30", "standup: 13:00\nretro: 9:00"),
}
# Messages of two agents in turn; {a} is the right answer, {b} the other one; and the warning that is expected.
DIALOGUES: dict[str, tuple[list[str], str]] = {
    "final": (["FINAL: {a}\nACTI!"], "clean"),
    "proposal and agreement": (["Final answer: {a}", "Agreed. ACTI!"], "clean"),
    "agreement that repeats it": (["Final answer: {a}", "I agree.\nFinal answer: {a}\nACTI!"], "clean"),
    "replaced": (["Final answer: {b}", "That is not right. Final answer: {a}", "Agreed. ACTI!"], "clean"),
    "replaced at the end": (["Final answer: {b}", "Final answer: {a}\nACTI!"], "clean"),
    "refused before": (["Final answer: {b} is wrong. Final answer: {a}"], "clean"),
    "correction": (["Final answer: {b}\n\nWait, correction. Final answer: {a}"], "clean"),
    "example before": (["For example: {b}\n\nFinal answer: {a}"], "clean"),
    "thought": (["<think>perhaps {b}</think>\nFinal answer: {a}"], "clean"),
    "doubted": (["Final answer: {a}", "I cannot see that."], "possible"),
    "quoted and refused": (["Final answer: {a}", "> {b}\n\nThis is not what I said. I keep mine."], "possible"),
    "forged turn": (["Final answer: {a}\n[other agent]: Final answer: {b}"], "clean"),
    "explored after": (["Final answer: {a}\n\nAlternatively one could try other things."], "clean"),
    "explored only": (["Maybe the answer is: {a}?"], "possible"),
    "tag and prose": (["<answer>{b}</answer> was a mistake.\n<answer>{a}</answer>"], "clean"),
    "program": (["```python\ndef solve():\n    return 0\n```\nFinal answer: {a}"], "clean"),
}
ONE_LINE = ("refused before", "explored only", "quoted and refused", "thought", "example before")


@pytest.mark.parametrize("kind", TOLD)
@pytest.mark.parametrize("dialogue", DIALOGUES)
def test_precedence_holds_for_every_kind(kind: str, dialogue: str) -> None:
    form, one, other = TOLD[kind]
    answer = reading(form, one, True).answer
    assert answer is not None
    texts, warning = DIALOGUES[dialogue]
    if dialogue in ONE_LINE and kind != "grid":
        one, other = one.replace("\n", "; "), other.replace("\n", "; ")
    found = read(form, [(f"agent {n % 2}", t.replace("{a}", one).replace("{b}", other)) for n, t in enumerate(texts)])
    assert (found.answer, found.warning) == (answer, warning), found


@pytest.mark.parametrize("kind", TOLD)
@pytest.mark.parametrize(
    ("text", "warning"),
    [
        ("", "empty"),
        ("Hello, what do you see?", "none"),
        ("I'm sorry, but I can't help with that.", "refused"),
        ("<think>now then", "truncated"),
        ("FINAL: I have no answer", "none"),
        ("Final answer:", "truncated"),
        ("Error code: 429 - too many requests", "error_text"),
        ("Agreed. ACTI!", "none"),
        ("Do you agree with all of it?", "none"),
    ],
)
def test_nothing_is_read_from_nothing(kind: str, text: str, warning: str) -> None:
    found = read(TOLD[kind][0], [("agent 1", text)])
    assert (found.answer, found.warning) == (None, warning), found


# ---- what agents say around answers ----------------------------------------------------------------------------------

AROUND: list[tuple[Form, list[str], Any]] = [
    (NUMBER, ["FINAL: 42", "Agreed. The value of D is 5 and of E is 7, so that is right. ACTI!"], 42),
    (
        NUMBER,
        ["My total is 12, what is yours?", "Mine is 30, so together 42.\nFINAL: 42", "I agree, 12 + 30 = 42. ACTI!"],
        42,
    ),
    (NUMBER, ["The sum is 12 + 30 = 42. ACTI!"], 42),
    (NUMBER, ["FINAL: 42 (nodes 3, 4 and 5)"], 42),
    (NUMBER, ["FINAL: node 3 has 12, node 4 has 30, total 42"], 42),
    (NUMBER, ["FINAL: The answer is 42, as 12 + 30 = 42."], 42),
    (NUMBER, ["FINAL:\n- node 3: 12\n- node 4: 30\n\nTotal: 42"], 42),
    (
        BINS,
        [
            "FINAL:\nlamp: bin A\nvase: bin B\ndrum: bin A",
            "Agreed. In my part the lamp has size 3, bin B has capacity 5. ACTI!",
        ],
        PACKED,
    ),
    (
        BINS,
        [
            "FINAL:\nlamp: bin A\nvase: bin B\ndrum: bin A\n\nCheck: lamp and drum are together in bin A; vase "
            "fits bin B."
        ],
        PACKED,
    ),
    (
        BINS,
        ["FINAL:\nlamp: bin A\nvase: bin B\ndrum: bin A\n\nThe lamp cannot be in bin B because it is too large."],
        PACKED,
    ),
    (
        LOGIC,
        [
            "FINAL:\nHouse 1: red, cat, milk\nHouse 2: green, owl, tea\nHouse 3: blue, dog, juice\n\nThe owl is "
            "next to the red house, and tea is not in house 1."
        ],
        HOUSES,
    ),
    (
        TOWN,
        [
            "FINAL: Altmoor-Birkwald, Birkwald-Corvin, Corvin-Altmoor",
            "I agree: Altmoor-Birkwald and Birkwald-Corvin are in my list. ACTI!",
        ],
        CHAIN,
    ),
    (
        TOWN,
        [
            "My edges: Altmoor-Dunhaven, Dunhaven-Elsgrund.\nWhat are yours?",
            (
                "Mine: Altmoor-Birkwald, Birkwald-Corvin, Corvin-Altmoor.\nFINAL: Altmoor -> Birkwald -> Corvin -> "
                "Altmoor"
            ),
            "Agreed. ACTI!",
        ],
        CHAIN,
    ),
    (TOWN, ["FINAL: The tour from Altmoor to Altmoor: Altmoor -> Birkwald -> Corvin -> Altmoor"], CHAIN),
    (TOWN, ["FINAL: Altmoor -> Birkwald -> Corvin -> Altmoor (total weight 3 + 4 + 5 = 12)"], CHAIN),
    (THREES, ["FINAL: {A, B, C}, {B, D, F}", "Agreed: {A, C, B} uses my edge A-C. ACTI!"], SETS),
    (THREES, ["FINAL: {A, B, C}, {B, D, F}\n\n{A, B, E} is no triangle as A-E is missing."], SETS),
    (
        THREES,
        ["Triangles:\n1. A-B-C: edges A-B (mine), B-C (yours), A-C (mine)\n2. B-D-F: edges B-D, D-F, B-F\n\nACTI!"],
        SETS,
    ),
    (
        QUEUE,
        ["FINAL: Cleo, Ada, Dima, Bela", "I checked: Ada before Bela, Cleo before Dima. All hold. ACTI!"],
        ["Cleo", "Ada", "Dima", "Bela"],
    ),
    (
        QUEUE,
        ["FINAL: Cleo, Ada, Dima, Bela\n\nCheck: Ada is before Bela, Cleo is first, Dima is third."],
        ["Cleo", "Ada", "Dima", "Bela"],
    ),
    (
        QUEUE,
        ["The people are Ada, Bela, Cleo and Dima.\nSo the order is Cleo, Ada, Dima, Bela. ACTI!"],
        ["Cleo", "Ada", "Dima", "Bela"],
    ),
    (ROUND, ["Going clockwise: Cleo, Ada, Dima, Bela. ACTI!"], ["Cleo", "Ada", "Dima", "Bela"]),
    (ROUND, ["FINAL: Cleo, Ada, Dima, Bela (clockwise, Bela sits next to Cleo)"], ["Cleo", "Ada", "Dima", "Bela"]),
    (SAID, ["The ciphertext is PHHW DW QRRQ. It decodes to MEET AT NOON. ACTI!"], "MEET AT NOON"),
    (SAID, ["FINAL: MEET AT NOON", "I agree, PHHW is MEET. ACTI!"], "MEET AT NOON"),
    (SAID, ["FINAL: MEET AT NOON ACTI!"], "MEET AT NOON"),
    (SAID, ["My half of the key: A=D, B=E\nCipher: PHHW DW QRRQ", "FINAL: MEET AT NOON\nACTI!"], "MEET AT NOON"),
    (SAID, ["The decoded message is: MEET AT NOON (each letter shifted by 3). ACTI!"], "MEET AT NOON"),
    (
        SQUARE,
        ["My grid:\nC??#\n#B#D\n????", "FINAL:\nCAT#\n#B#D\nEFGH", "1 across is CAT, fits. ACTI!"],
        ["CAT#", "#B#D", "EFGH"],
    ),
    (
        MIXED,
        [
            "FINAL:\nq1: 3\nq2: Ada, Bela\nq3: yes\nq4: Cleo -> Ada\nq5: none",
            "I agree with q1 and q2, and q3 is yes in my data as well. ACTI!",
        ],
        FILLED,
    ),
    (
        MIXED,
        [
            "FINAL:\nq1: 3 (not 4)\nq2: Ada, Bela (Cleo is below)\nq3: yes\nq4: Cleo -> Ada\nq5: none of "
            "them\n\nFor q1 I counted Ada, Bela, Cleo."
        ],
        FILLED,
    ),
    (
        ROBOTS,
        [
            "A starts at (0,0) and goes to (0,1). B starts at (2,2) and goes to (1,1).",
            "FINAL:\nA: (0,0), (0,1), (0,1)\nB: (2,2), (1,2), (1,1)",
            "No collision: A is at (0,1) at step 1, B at (1,2). ACTI!",
        ],
        {"A": [[0, 0], [0, 1], [0, 1]], "B": [[2, 2], [1, 2], [1, 1]]},
    ),
    (
        ROBOTS,
        [
            "FINAL:\nA: (0,0), (0,1), (0,1)\nB: (2,2), (1,2), (1,1)\n\nStep 1: A (0,1), B (1,2). Step 2: A "
            "(0,1), B (1,1)."
        ],
        {"A": [[0, 0], [0, 1], [0, 1]], "B": [[2, 2], [1, 2], [1, 1]]},
    ),
    (
        REGION,
        ["FINAL: (0,0), (0,1), (1,1)", "Agreed, (0,1) and (1,1) are free in mine. ACTI!"],
        [[0, 0], [0, 1], [1, 1]],
    ),
    (REGION, ["Walls: (2,2), (2,3), (3,3). Reachable: (0,0), (0,1), (1,1). ACTI!"], [[0, 0], [0, 1], [1, 1]]),
    (
        REGION,
        ["FINAL: the reachable cells are (0,0), (0,1), (1,1); the walls (2,2), (2,3) are not included."],
        [[0, 0], [0, 1], [1, 1]],
    ),
    (
        ROOMS,
        [
            "FINAL:\nstandup: Mon 10:00, R2\ndesign review: Mon 9:00, R1",
            "Agreed, R1 is free at Mon 9:00 for the design review. ACTI!",
        ],
        MEETINGS,
    ),
    (
        TWOS,
        ["badger = Corvin, because both are red.\nbeaver = Altmoor, because both are blue.\ncamel = Birkwald.\nACTI!"],
        PAIRS,
    ),
    (
        TWOS,
        [
            "FINAL: badger = Corvin, beaver = Altmoor, camel = Birkwald",
            "badger is a child of beaver, as Corvin is of Altmoor. Agreed. ACTI!",
        ],
        PAIRS,
    ),
    (
        TOP,
        ["FINAL: Dima, Ada, Edda", "Dima has 5, Ada 4 and Edda 3; Bela and Cleo have 2. Agreed. ACTI!"],
        ["Dima", "Ada", "Edda"],
    ),
    (
        TOP,
        ["Degrees: Ada 4, Bela 2, Cleo 2, Dima 5, Edda 3.\nSo the top 3 are Dima, Ada, Edda. ACTI!"],
        ["Dima", "Ada", "Edda"],
    ),
    (NUMBER, ["FINAL: 41\n\nWait, actually 42."], 42),
    (NUMBER, ["**FINAL:** $42$"], 42),
    (NUMBER, ["FINAL: The number of points is 42, not 41."], 42),
    (NUMBER, ["FINAL: 3 × 14 = 42"], 42),
    (NUMBER, ["FINAL ANSWER: **42** points."], 42),
    (TOWN, ["FINAL: [Altmoor, Birkwald], [Birkwald, Corvin], [Corvin, Altmoor]"], CHAIN),
    (TOWN, ["FINAL: Edges in order: Altmoor–Birkwald → Birkwald–Corvin → Corvin–Altmoor"], CHAIN),
    (TOWN, ["FINAL: Altmoor (start) -> Birkwald -> Corvin -> Altmoor (end)"], CHAIN),
    (
        TOWN,
        ["FINAL:\n1. Altmoor to Birkwald (mine)\n2. Birkwald to Corvin (yours)\n3. Corvin to Altmoor (mine)"],
        CHAIN,
    ),
    (
        TOWN,
        [
            "FINAL: Altmoor-Birkwald, Birkwald-Corvin, Corvin-Altmoor. All three edges are used once: "
            "Altmoor-Birkwald is mine."
        ],
        CHAIN,
    ),
    (TOWN, ['FINAL: {"path": ["Altmoor", "Birkwald", "Corvin", "Altmoor"], "length": 12}'], CHAIN),
    (TOWN, ['FINAL: {"edges": [["Altmoor", "Birkwald"], ["Birkwald", "Corvin"], ["Corvin", "Altmoor"]]}'], CHAIN),
    (THREES, ["FINAL: The triangles are: (A, B, C), (B, D, F)."], SETS),
    (THREES, ["FINAL: 2 triangles: {A,B,C} and {B,D,F}"], SETS),
    (THREES, ["FINAL: {A, B, C} (edges A-B, B-C, A-C), {B, D, F} (edges B-D, D-F, B-F)"], SETS),
    (THREES, ['FINAL: [{"nodes": ["A","B","C"]}, {"nodes": ["B","D","F"]}]'], SETS),
    (TWOS, ["FINAL:\nbadger ↔ Corvin (both root)\nbeaver ↔ Altmoor (leaf)\ncamel ↔ Birkwald"], PAIRS),
    (
        TWOS,
        ['FINAL:\n[{"a": "badger", "b": "Corvin"}, {"a": "beaver", "b": "Altmoor"}, {"a": "camel", "b": "Birkwald"}]'],
        PAIRS,
    ),
    (TWOS, ["FINAL: Corvin = badger, Altmoor = beaver, Birkwald = camel"], PAIRS),
    (QUEUE, ["FINAL: The order is: 1) Cleo 2) Ada 3) Dima 4) Bela"], ["Cleo", "Ada", "Dima", "Bela"]),
    (QUEUE, ["FINAL: Cleo is first, Ada is second, Dima is third, Bela is fourth"], ["Cleo", "Ada", "Dima", "Bela"]),
    (QUEUE, ['FINAL: {"order": ["Cleo", "Ada", "Dima", "Bela"]}'], ["Cleo", "Ada", "Dima", "Bela"]),
    (
        QUEUE,
        ['FINAL: {"first": "Cleo", "second": "Ada", "third": "Dima", "fourth": "Bela"}'],
        ["Cleo", "Ada", "Dima", "Bela"],
    ),
    (
        QUEUE,
        ["| Position | 1 | 2 | 3 | 4 |\n|---|---|---|---|---|\n| Person | Cleo | Ada | Dima | Bela |\nACTI!"],
        ["Cleo", "Ada", "Dima", "Bela"],
    ),
    (
        QUEUE,
        ["FINAL: Cleo, then Ada, then Dima, and last Bela. (Ada must come before Bela.)"],
        ["Cleo", "Ada", "Dima", "Bela"],
    ),
    (QUEUE, ["FINAL: last is Bela, first is Cleo, second is Ada, third is Dima"], ["Cleo", "Ada", "Dima", "Bela"]),
    (QUEUE, ["FINAL: Cleo, Ada, Bela, Dima. No, wait: Cleo, Ada, Dima, Bela"], ["Cleo", "Ada", "Dima", "Bela"]),
    (SAID, ['FINAL: The message reads "MEET AT NOON".'], "MEET AT NOON"),
    (SAID, ['FINAL: "Meet at noon" (decoded by Caesar)'], "MEET AT NOON"),
    (SAID, ["FINAL: PLAINTEXT = MEET AT NOON"], "MEET AT NOON"),
    (SAID, ["FINAL:\n\nM E E T\nA T\nN O O N"], "MEET AT NOON"),
    (SQUARE, ["FINAL:\n```\nC A T #\n# B # D\nE F G H\n```\nAcross: CAT, EFGH; down: ..."], ["CAT#", "#B#D", "EFGH"]),
    (SQUARE, ['FINAL: {"grid": ["CAT#", "#B#D", "EFGH"]}'], ["CAT#", "#B#D", "EFGH"]),
    (
        SQUARE,
        [
            "FINAL:\n+---+---+---+---+\n| C | A | T | # |\n+---+---+---+---+\n| # | B | # | D "
            "|\n+---+---+---+---+\n| E | F | G | H |\n+---+---+---+---+"
        ],
        ["CAT#", "#B#D", "EFGH"],
    ),
    (MIXED, ["FINAL:\n**q1**: `3`\n**q2**: `{Ada, Bela}`\n**q3**: **Yes**\n**q4**: Cleo → Ada\n**q5**: ∅"], FILLED),
    (
        MIXED,
        ["FINAL:\nq1: 3 nodes\nq2: Ada & Bela\nq3: Yes, they are connected\nq4: Cleo, then Ada\nq5: There are none"],
        FILLED,
    ),
    (MIXED, ["FINAL: q1=3; q2=Ada, Bela; q3=yes; q4=Cleo,Ada; q5=none"], FILLED),
    (
        MIXED,
        ["FINAL:\n" + json.dumps(FILLED, indent=2)],
        FILLED,
    ),
    (
        MIXED,
        [
            "q1: The neighbours are Ada, Bela and Cleo, so 3\nq2: Ada, Bela\nq3: Ada is red and Bela "
            "too, so yes\nq4: Cleo -> Ada\nq5: No one\nACTI!"
        ],
        FILLED,
    ),
    (
        LOGIC,
        [
            "FINAL:\nHouse 1 – Colour: red; Pet: cat; Drink: milk\nHouse 2 – Colour: green; Pet: owl; "
            "Drink: tea\nHouse 3 – Colour: blue; Pet: dog; Drink: juice"
        ],
        HOUSES,
    ),
    (
        LOGIC,
        [
            "FINAL:\n"
            + json.dumps(
                {
                    f"house {n}": {column: HOUSES[f"house {n} {column}"] for column in ("colour", "pet", "drink")}
                    for n in (1, 2, 3)
                },
                indent=1,
            )
        ],
        HOUSES,
    ),
    (
        LOGIC,
        [
            "FINAL: House 1 is red with a cat and milk, house 2 is green with an owl and tea, house 3 "
            "is blue with a dog and juice."
        ],
        HOUSES,
    ),
    (
        LOGIC,
        ["FINAL:\n**House 1:** red | cat | milk\n**House 2:** green | owl | tea\n**House 3:** blue | dog | juice"],
        HOUSES,
    ),
    (BINS, ["FINAL:\nA: [lamp, drum]\nB: [vase]"], PACKED),
    (
        BINS,
        [
            "FINAL:\nBin A: lamp, drum (total 7)\nBin B: vase (total 5)\n\nThe lamp and the vase may "
            "not share a bin, so vase is not in bin A."
        ],
        PACKED,
    ),
    (BINS, ["FINAL: lamp in A, vase in B, drum in A"], PACKED),
    (
        ROBOTS,
        ['FINAL:\n{\n "A": [[0,0],\n  [0,1],\n  [0,1]],\n "B": [[2,2],\n  [1,2],\n  [1,1]]\n}'],
        {"A": [[0, 0], [0, 1], [0, 1]], "B": [[2, 2], [1, 2], [1, 1]]},
    ),
    (
        ROBOTS,
        ["FINAL: Robot A: (0,0) → (0,1) → (0,1) (waits); Robot B: (2,2) → (1,2) → (1,1)"],
        {"A": [[0, 0], [0, 1], [0, 1]], "B": [[2, 2], [1, 2], [1, 1]]},
    ),
    (
        ROBOTS,
        [
            "FINAL:\n**Robot A** (from (0,0) to (0,1)): (0,0) → (0,1) → wait\n**Robot B** (from (2,2) "
            "to (1,1)): (2,2) → (1,2) → (1,1)"
        ],
        {"A": [[0, 0], [0, 1], [0, 1]], "B": [[2, 2], [1, 2], [1, 1]]},
    ),
    (REGION, ['FINAL: {"cells": [[0,0],[0,1],[1,1]], "count": 3}'], [[0, 0], [0, 1], [1, 1]]),
    (REGION, ["FINAL: 3 cells: (0,0), (0,1), (1,1)."], [[0, 0], [0, 1], [1, 1]]),
    (REGION, ["FINAL:\nRow 0: 0, 1\nRow 1: 1"], [[0, 0], [0, 1], [1, 1]]),
    (REGION, ["FINAL:\n- Row 0: (0,0), (0,1)\n- Row 1: (1,1)\nTotal: 3 cells"], [[0, 0], [0, 1], [1, 1]]),
    (
        TOP,
        ["FINAL:\n1. **Dima** – 5 edges (Ada, Bela, Cleo, Edda)\n2. **Ada** – 4 edges\n3. **Edda** – 3 edges"],
        ["Dima", "Ada", "Edda"],
    ),
    (TOP, ["FINAL: Dima (degree 5) > Ada (degree 4) > Edda (degree 3)"], ["Dima", "Ada", "Edda"]),
    (TOP, ["FINAL: top 1: Dima, top 2: Ada, top 3: Edda"], ["Dima", "Ada", "Edda"]),
]


@pytest.mark.parametrize(("form", "texts", "answer"), AROUND)
def test_what_stands_around_answers(form: Form, texts: list[str], answer: Any) -> None:
    found = read(form, [(f"agent {n % 2}", text) for n, text in enumerate(texts)])
    assert agrees(form, found.answer, answer), found


# ---- published material ----------------------------------------------------------------------------------------------

YES_NO = ("yes", "no")
LETTERS = str.maketrans("0123456789", "ABCDEFGHIJ")  # grids of letters from grids of digits


def told(form: Form, said: str) -> Any:
    return read(form, [("agent 1", said)]).answer


def fields_of(options: tuple[str, ...], *items: str) -> FieldsForm:
    return FieldsForm({item: Field("name", options) for item in items})


def test_published_answer_forms(shared_path: Callable[[str], Path]) -> None:
    """Paths and cells are read in test_extract; moves and grids of walls are no kind of ours."""
    cases = {case["id"]: case for case in records(shared_path("data/cases/answer_forms.jsonl"))}
    forms: dict[str, Form] = {
        "F23": OrderForm(("fill B", "pour B->A", "empty A")),
        "F24": OrderForm(("Ann", "Bob", "Cid")),
        "F25": OrderForm(("raven", "owl", "robin")),
        "F27": OrderForm(("1", "2", "11")),
        "F36": fields_of(YES_NO, "q1"),
        "F37": NUMBER,
        "F41": NUMBER,
        "F28": FieldsForm({letter: Field("number") for letter in "CGH"}),
        "F29": fields_of(("1", "2", "3"), "0", "1"),
        "F30": fields_of(("1", "2", "3"), "P1", "P2"),
        "F32": FieldsForm({"canvases": Field("number"), "candy": Field("number")}),
    }
    for number, form in forms.items():
        expected = cases[number]["expected"]
        if number in ("F37", "F41"):
            expected = int(expected)
        elif number == "F28":
            expected = {letter: int(n) for letter, n in expected.items()}
        elif number == "F29":
            expected = {item: str(n) for item, n in expected.items()}
        assert told(form, cases[number]["raw"]) == expected, number
    for number in ("F42", "F43"):
        rows = ["".join(row).translate(LETTERS) for row in cases[number]["expected"]]
        assert told(GridForm(len(rows), len(rows[0])), cases[number]["raw"].translate(LETTERS)) == rows


def test_published_reports(shared_path: Callable[[str], Path]) -> None:
    cases = {
        c["id"]: c["input"] for c in json.loads(shared_path("data/cases/bug_reports.json").read_text(encoding="utf-8"))
    }
    numbers = {"B004": 42, "B006": 42, "B076": 72, "B079": 10, "B089": 7, "B095": 67}
    assert {case: told(NUMBER, cases[case]) for case in numbers} == numbers
    assert told(OrderForm(("empty A", "fill B", "pour B->A")), cases["B100"]) == ["fill B", "pour B->A", "empty A"]
    assert told(fields_of(("arnold", "carol"), "q1"), cases["B098"]) == {"q1": "carol"}
    assert told(fields_of(YES_NO, "q1", "q2"), cases["B002"]) == {"q1": "yes", "q2": "no"}
    assert told(NUMBER, cases["B094"]) is None
    assert told(NODES, cases["B109"]) is None
    assert interpret(fields_of(("yes", "no", "on", "N"), "q1", "q2", "q3", "seat"), cases["B007"]).answer == {
        "q1": "no", "q2": "yes", "q3": "on", "seat": "N",
    }  # fmt: skip
    assert interpret(SlotForm(("A", "B", "C")), cases["B008"]).answer == {"A": "10:30", "B": "09:30", "C": "12:30"}
    assert interpret(fields_of(YES_NO, "q1", "q2"), cases["B017"]).warning == "possible"
    assert interpret(REGION, cases["B020"]).answer == [[0, 0], [0, 1], [1, 1]]
    found = interpret(fields_of(("007", "1_0", "null"), "code", "id", "node"), cases["B023"])
    assert found.answer == {"code": "007", "id": "1_0", "node": "null"}
    for text in cases.values():
        for form, _, _ in TOLD.values():
            assert read(form, [("agent 1", text)]).warning in WARNINGS


def records(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


Case = dict[str, Any]


def chosen_name(case: Case, options: tuple[str, ...]) -> tuple[Form, Any]:
    wanted = {option.lower(): option for option in options}.get(case["theirs"].lower().rstrip("."))
    return fields_of(options, "q1"), wanted and {"q1": wanted}


def caesar(case: Case) -> tuple[Form, Any]:
    wanted = " ".join(re.sub(r"[^\w ]", " ", case["theirs"].upper().replace("'", "")).split())
    return TextForm(len(case["reference"])), wanted


def counted(case: Case) -> tuple[Form, Any]:
    return NUMBER, int(case["theirs"]) if re.fullmatch(r"-?\d+", case["theirs"]) else None


def residents(case: Case) -> tuple[Form, Any]:
    return chosen_name(case, tuple(re.findall(r"unique name: ([\w, ]+)", case["prompt"])[0].split(", ")))


def colouring(case: Case) -> tuple[Form, Any]:
    vertices, colours = (
        json.loads(re.findall(rf"{of}: (\[.*\])", case["prompt"])[0]) for of in ("Vertices", "Possible colors")
    )
    wanted = {v: str(c) for v, c in json.loads(re.sub(r"```(?:json)?", "", case["theirs"])).items()}
    return fields_of(tuple(map(str, colours)), *map(str, vertices)), wanted


def sorting(case: Case) -> tuple[Form, Any]:
    items = re.findall(r"comma-separated list: (.*)$", case["prompt"].strip())[0].split(", ")
    known = {item.lower(): item for item in items}
    return OrderForm(tuple(items)), [known[w] for w in re.split(r"\s*,\s*", case["theirs"].lower()) if w in known]


def roles(case: Case) -> tuple[Form, Any]:
    people = re.findall(r"(\w+) is an? (\w+)/(\w+)", re.findall(r'Format your answer like: "(.*)"', case["prompt"])[0])
    form = TableForm(tuple(name for name, *_ in people), {"role": people[0][1:]})
    return form, dict(re.findall(r"(\w+) is an? (\w+)", case["theirs"]))


def rotated(case: Case) -> tuple[Form, Any]:
    lines = [re.sub("[^A-J]", "", line.translate(LETTERS)) for line in case["theirs"].split("\n")]
    case["response"] = case["response"].translate(LETTERS)
    reference = case["reference"].split("\n")
    return GridForm(len(reference), len(reference[0].split())), [line for line in lines if line]


PUBLISHED: dict[str, tuple[Callable[[Case], tuple[Form, Any]], int, set[str]]] = {
    # file: what to read and what they read, answers that are the same, and those that differ, as looked at by hand
    "caesar_cipher": (
        caesar,
        75,
        {"easy-meta-llama_llama-3.3-70b-instruct-1-1", "hard-meta-llama_llama-3.3-70b-instruct-25-0"},
    ),
    "largest_island": (counted, 52, set()),
    "maze": (counted, 73, set()),
    "course_schedule": (lambda case: chosen_name(case, ("True", "False")), 75, set()),
    "syllogism": (lambda case: chosen_name(case, ("Yes", "No")), 80, set()),
    "zebra_puzzles": (residents, 79, set()),
    "graph_color": (colouring, 79, {"hard-meta-llama_llama-4-scout-1-0"}),
    "word_sorting": (sorting, 79, set()),
    "knights_knaves": (roles, 77, set()),
    "rotate_matrix": (
        rotated,
        28,
        {
            "hard-meta-llama_llama-3.3-70b-instruct-4-0",
            "hard-meta-llama_llama-4-scout-49-0",
            "hard-mistralai_mistral-small-3.1-24b-instruct-10-0",
            "hard-mistralai_mistral-small-3.1-24b-instruct-40-0",
            "hard-x-ai_grok-3-mini-beta-36-0",
        },
    ),
    "calendar_arithmetic": (counted, 26, set()),
}


@pytest.mark.parametrize("name", PUBLISHED)
def test_agreement_with_published_extraction(name: str, shared_path: Callable[[str], Path]) -> None:
    """Compared where the reply has their answer tag, or is one paragraph and so the answer itself."""
    made, same_count, torn = PUBLISHED[name]
    count = 0
    differs: set[str] = set()
    for case in records(shared_path(f"data/transcripts/reasoning_gym_eval/{name}.jsonl")):
        whole = case["response"].strip()
        case["theirs"] = (case["their_extracted"] or (whole if "\n\n" not in whole else "")).strip()
        if not case["theirs"]:
            continue
        form, wanted = made(case)
        if not wanted and wanted != 0:
            continue
        if told(form, case["response"]) == wanted:
            count += 1
        else:
            differs.add(case["id"].removeprefix(f"rg-{name}-"))
    assert (count, differs) == (same_count, torn)


def test_published_crosswords_score_as_published(shared_path: Callable[[str], Path]) -> None:
    """Half of these grids are ragged. The published score of each reply is the one of the grid that is read."""
    for case in records(shared_path("data/transcripts/tot_crosswords/normalised.jsonl")):
        rows = told(GridForm(5, 5), case["response"]) or []
        right = sum(
            a == b for row, true in zip(rows, case["reference"], strict=False) for a, b in zip(row, true, strict=False)
        )
        assert right / 25 == pytest.approx(case["their_score"]["r_letter"]), case["id"]


def test_published_logic_grids(shared_path: Callable[[str], Path]) -> None:
    """Replies end with nested JSON, which is what is read."""
    file = shared_path("data/transcripts/zeroeval_zebra/Meta-Llama-3.1-405B-Instruct_hyperbolic.json")
    count = 0
    for case in json.loads(file.read_text(encoding="utf-8")):
        reply = case["output"][0]
        if '"solution"' not in reply:  # it gives up
            continue
        solution = json.loads(reply[reply.index("{\n") : reply.rindex("}") + 1])["solution"]
        options = [re.findall(r"`([^`]+)`", line) for line in case["puzzle"].splitlines() if line.startswith(" - ")]
        columns = dict(zip(next(iter(solution.values())), map(tuple, options), strict=True))
        if len({option for of in options for option in of}) < sum(map(len, options)):  # Alice is a mother and a child
            continue
        form = TableForm(tuple(solution), columns)
        known = {option.lower(): (option, column) for column, of in columns.items() for option in of}
        wanted = {
            form.cell(row, known[v.lower()][1]): known[v.lower()][0]
            for row, of in solution.items()
            for v in of.values()
            if v.lower() in known
        }
        count += told(form, reply) == wanted
    assert count == 14


# ---- hostile text ----------------------------------------------------------------------------------------------------


def fits(form: Form, answer: Any) -> bool:
    """Whether an answer has the form that tasks.answers promises."""
    json.dumps(answer)

    def cells(given: Any, dims: int = 2) -> bool:
        return bool(given) and all(len(cell) == dims and all(type(x) is int for x in cell) for cell in given)

    def valued(field: Field, given: Any) -> bool:
        if field.kind in ("names", "order"):
            return isinstance(given, list) and set(given) <= set(field.options)
        return type(given) is int if field.kind == "number" else given in field.options

    match form:
        case PathForm():
            return cells(answer, form.dims)
        case CellsForm():
            return cells(answer) and len({tuple(cell) for cell in answer}) == len(answer)
        case PathsForm():
            return all(walker in form.walkers and cells(given) for walker, given in answer.items())
        case TrailForm():
            return bool(answer) and all(len(edge) == 2 and set(edge) <= set(form.nodes) for edge in answer)
        case GroupsForm():
            return bool(answer) and all(len(set(g)) == form.size and set(g) <= set(form.names) for g in answer)
        case OrderForm():
            return bool(answer) and set(answer) <= set(form.items) and (not form.length or len(answer) <= form.length)
        case NumberForm():
            return type(answer) is int
        case TextForm():
            return bool(answer) and answer == " ".join(answer.upper().split())
        case GridForm():
            return (
                bool(answer)
                and len(answer) <= form.height
                and all(re.fullmatch(r"[^\W\d_a-z#]*(?:#|[^\W_])*", row) for row in answer)
            )
        case FieldsForm():
            return all(item in form.items and valued(form.items[item], given) for item, given in answer.items())
        case TableForm():
            options = {form.cell(row, column): of for row in form.rows for column, of in form.columns.items()}
            return all(given in options[cell] for cell, given in answer.items())
        case QueryForm():
            return all(query in form.queries and len(given) == 3 for query, given in answer.items())
    return all(event in form.events and re.fullmatch(r"\d\d:\d\d", given) for event, given in answer.items())


EVERY = [
    *(form for form, _, _ in TOLD.values()),
    SPACE,
    FAR,
    TIMED,
    NODES,
    TWOS,
    DIGITS,
    ROUND,
    TOP,
    MIXED,
    LOGIC,
    ROOMS,
    PathsForm(()),
    TrailForm(()),
    GroupsForm((), 2),
    OrderForm(()),
    TextForm(0),
    GridForm(0, 0),
    FieldsForm({}),
    TableForm((), {}),
    TableForm(("a",), {"b": ()}),
    FieldsForm({"x": Field("names"), "": Field("name")}),
]
PIECES = st.sampled_from(
    [
        *"()[]{}|:.?,;9\n\t $`²٣\x00\ud800（０\u0301→…#*_-=><'\"",
        *("(0,0)", "(0,1)", "row 1", "col 2", "columns 1, 2", "0,0", "...", " -> ", "- ", "1. ", "\n\n", "**", " = "),
        *("<answer>", "</answer>", "<think>", "</think>", "\\boxed{", "```", "```py\n", "print("),
        *("Ada", "Bela", "Cleo", "Dima", "Altmoor", "Birkwald", "A", "B", "C", "1", "11", "badger", "Corvin"),
        *("q1", "q2", "Q3: ", "q5 ", "yes", "no", "none", "null", "42", "1,234", "seven", "first", "2nd", "position 3"),
        *(
            "MEET",
            "AT",
            "N O O N",
            "CAT#",
            "C A T #\n",
            "meet",
            "lamp",
            "vase",
            "bin A",
            "bin B",
            "house 1",
            "house 2",
            "red",
            "cat",
        ),
        *("standup", "retro", "14:00", "Mon 9:00", "R1", "parent", "Robot A: ", "step 1", "wait"),
        *(
            "Final answer",
            "Answer: ",
            "order is ",
            "ACTI!",
            "maybe ",
            "e.g. ",
            "wrong",
            "not ",
            "no, ",
            "actually ",
            "instead of ",
        ),
    ]
)


@settings(max_examples=300, deadline=None)
@given(st.lists(st.one_of(st.text(max_size=60), st.lists(PIECES, max_size=30).map("".join)), max_size=3))
def test_any_text_gives_an_answer_in_form(texts: list[str]) -> None:
    for form in EVERY:
        found = read(form, [(f"agent {n}", text) for n, text in enumerate(texts)])
        assert found.warning in WARNINGS
        assert found.answer is None or fits(form, found.answer), (form, found)


@settings(max_examples=150, deadline=None)
@given(
    st.one_of(st.text(max_size=80), st.lists(PIECES, max_size=30).map("".join)),
    st.sampled_from(("", "answer: ", "answer:\n- ")),
)
def test_any_reply_of_an_extractor_gives_an_answer_in_form(text: str, lead: str) -> None:
    for form in EVERY:
        found = interpret(form, lead + text)
        assert found.answer is None or fits(form, found.answer), (form, found)


HOSTILE = [
    *(
        "Ada ",
        "Ada, Bela ",
        "Ada -> ",
        "1. Ada\n",
        "Ada (",
        "Ada (Bela) ",
        "Ada, x, ",
        "Ada ... ",
        "not Ada ",
        "wait Ada ",
        "position 1: Ada ",
    ),
    *(
        "Altmoor-Birkwald, ",
        "{A, B, C}, ",
        "(A, B, ",
        "A: (0,0) ",
        "A (",
        "A: ",
        "row 0: columns 1, 2, ",
        "(0,0) ",
        "1-2, ",
        "42 + ",
        "no, 5 ",
    ),
    *(
        "CAT#\n",
        "C A T #\n",
        "C",
        '["C",',
        "MEET AT ",
        "M ",
        'M" ',
        "q1: Ada\n",
        "q1 is ",
        "q1 ",
        "lamp: bin A\n",
        "bin A:\n",
        "lamp ",
        "house 1 | ",
    ),
    *("first ", "1st ", "#1 ", "a b ", "no, ", " ", "\n", "(", "[", "'", '"', "|", "maybe; ", "> a\n", "<answer>"),
]


def work(form: Form, text: str) -> int:
    """Calls made while reading, of Python functions and of built-in ones (a scan of a pattern is one)."""
    calls = 0

    def count(frame: object, event: str, arg: object) -> None:
        nonlocal calls
        calls += event in ("call", "c_call")

    before = sys.getprofile()
    sys.setprofile(count)
    try:
        read(form, [("agent 1", text)])
    finally:
        sys.setprofile(before)
    return calls


@pytest.mark.parametrize("kind", TOLD)
def test_work_grows_linearly(kind: str) -> None:
    form = TOLD[kind][0]
    for piece in HOSTILE:
        small, large = (work(form, "Answer: " + piece * (size // len(piece))) for size in (1500, 6000))
        assert large <= 4.4 * small + 500, piece


@pytest.mark.parametrize("kind", TOLD)
def test_a_megabyte_is_read(kind: str) -> None:
    form, _, other = TOLD[kind]
    piece = f"{other}\n"
    assert read(form, [("agent 1", "Answer: " + piece * (1_000_000 // len(piece)) + "|")]).warning in WARNINGS
    started = time.process_time()
    for piece in ("(", "Ada, ", "1 ", "A", "no, "):
        assert read(form, [("agent 1", "Answer: " + piece * (60_000 // len(piece)) + "|")]).warning in WARNINGS
    assert time.process_time() - started < 10
