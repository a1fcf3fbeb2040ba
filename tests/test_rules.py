"""Every grading rule on keys made by hand: worked examples, a second way to compute each score, cheap tricks with the
most they may honestly earn, and whatever a search can think of."""

from __future__ import annotations

import json
import math
import random
import time
from collections import Counter, OrderedDict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import FrozenInstanceError
from itertools import chain, combinations, pairwise, permutations, product
from statistics import mean
from typing import Any

import networkx as nx
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import kendalltau

from graders import RULES, Grade, grade
from graders.grade import name_of, number_of, quoted
from graders.paths import LONGEST
from tasks.answers import (
    BinsKey,
    Cell,
    CellsKey,
    ChoiceKey,
    Constraint,
    ConstraintsKey,
    CostKey,
    EdgesKey,
    FieldsKey,
    GridKey,
    GroupsKey,
    JointKey,
    LinksKey,
    NumberKey,
    OrderKey,
    PathKey,
    RouteKey,
    TextKey,
)  # fmt: skip

SEARCH = settings(deadline=None, derandomize=True, database=None, max_examples=100)
Grid = Mapping[Cell, str]


def scored(rule: str, key: Any, answer: Any) -> float:
    """The score, after what holds for every grade."""
    said = repr(answer)[:9999] if type(answer) in (list, dict) else ""
    verdict = RULES[rule](key, answer)
    assert type(verdict.score) is float
    assert 0 <= verdict.score <= 1
    assert verdict.success is (verdict.score == 1)
    assert 0 < len(verdict.reason) < 600
    assert verdict.reason == verdict.reason.strip()
    assert len(json.dumps(verdict.where, allow_nan=False)) < 20_000
    assert verdict == RULES[rule](key, answer)
    assert (repr(answer)[:9999] if said else "") == said
    return verdict.score


# Keys


def close(a: Cell, b: Cell) -> bool:
    return sum(abs(x - y) for x, y in zip(a, b, strict=True)) == 1


def lattice(rows: Sequence[str]) -> nx.Graph:
    graph = nx.grid_2d_graph(len(rows), len(rows[0]))
    graph.remove_nodes_from([cell for cell in list(graph) if rows[cell[0]][cell[1]] == "#"])
    return graph


def board(*rows: str) -> PathKey:
    graph = lattice(rows)
    (start,) = (cell for cell in graph if rows[cell[0]][cell[1]] == "@")
    (goal,) = (cell for cell in graph if rows[cell[0]][cell[1]] == "*")

    def step(walked: Sequence[Cell], cell: Cell) -> str | None:
        return None if graph.has_edge(walked[-1], cell) else "is no step on the board"

    return PathKey((len(rows), len(rows[0])), start, goal, nx.shortest_path_length(graph, start, goal), step)


def closing(walked: Sequence[Cell], cell: Cell) -> str | None:
    """A lane of four cells; the third is closed during the first three steps."""
    if cell != walked[-1] and not close(cell, walked[-1]):
        return "is no step"
    return "is closed" if cell[0] == 1 or (cell == (0, 2) and len(walked) <= 3) else None


ROWS = ("@..#.", ".#...", "...#*")
WALK = [[0, 0], [0, 1], [0, 2], [1, 2], [1, 3], [1, 4], [2, 4]]
LONG = [[0, 0], [1, 0], [2, 0], [2, 1], [2, 2], *WALK[3:]]
PATH = board(*ROWS)
LANE = PathKey((2, 4), (0, 0), (0, 3), 5, closing, waits=True)
CUBE = PathKey((3, 3, 3), (0, 0, 0), (2, 2, 1), 5, lambda walked, cell: None if close(walked[-1], cell) else "jumps")
COST = CostKey(PATH, lambda cell: 5 if cell == (0, 1) else 1, 8)
BAY = JointKey((2, 4), {"A": ((0, 0), (0, 3)), "B": ((0, 3), (0, 0))}, frozenset({(1, 0), (1, 2), (1, 3)}), 5)
PASSING = {
    "A": [[0, 0], [0, 1], [1, 1], [0, 1], [0, 2], [0, 3]],
    "B": [[0, 3], [0, 2], [0, 1], [0, 0]],
}  # A steps aside and comes back to a cell where it was
LINKS = LinksKey(
    (4, 5), {"a": ((0, 0), (0, 3)), "b": ((1, 0), (1, 3)), "c": ((3, 0), (2, 4))}, frozenset({(2, 1)})
)  # fmt: skip
ACROSS = {
    "a": [[0, 0], [0, 1], [0, 2], [0, 3]], "b": [[1, 0], [1, 1], [1, 2], [1, 3]],
    "c": [[3, 0], [3, 1], [3, 2], [3, 3], [3, 4], [2, 4]],
}  # fmt: skip
UNDER = [[1, 0], [1, 1], [1, 2], [2, 2], [3, 2], [3, 3], [2, 3], [1, 3]]  # joins b across c's way
ROUTE = RouteKey((4, 6), ((0, 1), (2, 3), (3, 0), (1, 1), (0, 4)))
CELLS = CellsKey((3, 4), frozenset({(0, 0), (0, 1), (0, 2), (1, 0), (2, 0)}))
TRIOS = GroupsKey(frozenset(map(frozenset, ("ABC", "BCD", "DEF"))))
PAIRS = GroupsKey(frozenset(map(frozenset, ("Aa", "Bb", "Cc", "Dd"))))  # compare without case: see PEOPLE
PAIRS = GroupsKey(frozenset(map(frozenset, (("Ada", "x1"), ("Bela", "x2"), ("Cleo", "x3"), ("Dima", "x4")))))
EDGES = EdgesKey((("A", "B"), ("B", "C"), ("C", "A"), ("A", "B"), ("C", "D")))  # A-B twice
TRAIL = [["A", "B"], ["B", "C"], ["C", "A"], ["A", "B"]]
EULER = [["B", "A"], ["C", "A"], ["B", "C"], ["A", "B"]]  # B-A-C-B-A
ROUND = EdgesKey((("A", "B"), ("B", "C"), ("C", "A"), ("A", "B")))
SQUARE = EdgesKey((("A", "B"), ("B", "C"), ("C", "D"), ("D", "A")))
ORDER = OrderKey(("Cleo", "Ada", "Edo", "Bela", "Dima"))
TABLE = OrderKey(("Cleo", "Ada", "Edo", "Bela", "Dima", "Fay"))
TOP = OrderKey(("Cleo", "Ada", "Edo"))
NUMBER = NumberKey(42)
TEXT = TextKey("MEET AT NOON")
LETTERS = GridKey(("CAT#", "O#O#", "WOOD"))
FIELDS = FieldsKey({
    "q1": "Ada", "q2": 7, "q3": frozenset({"Ada", "Bela"}), "q4": frozenset(), "q5": ("Ada", "Bela", "Ada"), "q6": 0,
})  # fmt: skip
RIGHT_FIELDS = {"q1": "Ada", "q2": 7, "q3": ["Ada", "Bela"], "q4": [], "q5": ["Ada", "Bela", "Ada"], "q6": 0}
CHOICES = ChoiceKey({"demo": frozenset({"09:00", "10:00"}), "retro": frozenset({"12:00"})})
BINS = BinsKey(
    {"axe": 3, "bow": 2, "cup": 2, "dye": 1, "egg": 1}, {"X": 5, "Y": 4, "Z": 1},
    (("axe", "bow"), ("cup", "dye")), (("axe", "egg"),),
)  # fmt: skip
PACKED = {"axe": "X", "bow": "X", "cup": "Y", "dye": "Y", "egg": "Z"}
DAYS = ("Mon", "Tue", "Wed")
PLANS = ConstraintsKey(
    dict.fromkeys(("demo", "retro", "sync"), DAYS),
    (
        Constraint(("demo", "retro"), lambda at: at["demo"] != at["retro"], "demo and retro on different days"),
        Constraint(("retro", "sync"), lambda at: at["retro"] != at["sync"], "retro and sync on different days"),
        Constraint(("demo",), lambda at: at["demo"] == "Tue", "demo on Tue"),
        Constraint(("demo", "sync"), lambda at: DAYS.index(at["demo"]) < DAYS.index(at["sync"]), "demo before sync"),
    ),
)
PLACED = {"demo": "Tue", "retro": "Mon", "sync": "Wed"}

KEYS: dict[str, list[tuple[Any, Any]]] = {  # rule -> keys, each with a right answer
    "path": [(PATH, WALK), (LANE, [[0, 0], [0, 1], [0, 1], [0, 1], [0, 2], [0, 3]]), (CUBE, [
        [0, 0, 0], [0, 0, 1], [1, 0, 1], [2, 0, 1], [2, 1, 1], [2, 2, 1]])],
    "cheapest": [(COST, LONG)],
    "route": [(ROUTE, [list(cell) for cell in ROUTE.cells])],
    "cells": [(CELLS, [list(cell) for cell in sorted(CELLS.cells)])],
    "joint": [(BAY, PASSING)],
    "links": [(LINKS, ACROSS)],
    "groups": [(TRIOS, [["A", "B", "C"], ["B", "C", "D"], ["D", "E", "F"]])],
    "pairs": [(PAIRS, [["Ada", "x1"], ["Bela", "x2"], ["Cleo", "x3"], ["Dima", "x4"]])],
    "trail": [(ROUND, EULER), (SQUARE, [["A", "B"], ["C", "B"], ["C", "D"], ["D", "A"]])],
    "kendall": [(ORDER, list(ORDER.order))],
    "circular": [(TABLE, list(TABLE.order))],
    "ranking": [(TOP, list(TOP.order))],
    "number": [(NUMBER, 42)],
    "text": [(TEXT, TEXT.text)],
    "grid": [(LETTERS, list(LETTERS.rows))],
    "fields": [(FIELDS, RIGHT_FIELDS)],
    "choices": [(CHOICES, {"demo": "09:00", "retro": "12:00"})],
    "bins": [(BINS, PACKED)],
    "constraints": [(PLANS, PLACED)],
}  # fmt: skip
CASES = [
    pytest.param(rule, key, right, id=f"{rule}-{i}")
    for rule, keys in KEYS.items()
    for i, (key, right) in enumerate(keys)
]


def test_every_rule_is_tested():
    assert KEYS.keys() == RULES.keys()


# Worked examples

LINE = [[0, 0], [0, 1]]
WORKED: list[tuple[str, Any, str, Any, float]] = [
    ("path", PATH, "the shortest", WALK, 1),
    ("path", PATH, "a longer one", LONG, 1),
    ("path", PATH, "start left out", WALK[1:], 1),
    ("path", PATH, "more after the goal", [*WALK, [9, 9]], 1),
    ("path", PATH, "lists and tuples", [tuple(WALK[0]), *WALK[1:]], 1),
    ("path", PATH, "three moves of six", WALK[:4], 3 / 6),
    ("path", PATH, "six moves, not at the goal", LONG[:7], 5 / 6),
    ("path", PATH, "one cell that is not a cell", [*WALK[:3], [1]], 0),
    ("path", PATH, "truths for numbers", [[False, False], [False, True]], 0),
    ("path", LANE, "waits", KEYS["path"][1][1], 1),
    ("path", LANE, "goes to and fro in place of waiting", [[0, 0], [0, 1], [0, 0], [0, 1], [0, 2], [0, 3]], 1),
    ("path", LANE, "waits, the start left out", [[0, 1], [0, 1], [0, 1], [0, 2], [0, 3]], 1),
    ("path", LANE, "waits at the start", [[0, 0]] * 3 + [[0, 1], [0, 2], [0, 3]], 1),
    ("path", LANE, "one step too early", [[0, 0], [0, 1], [0, 1], [0, 2], [0, 3]], 1 / 5),
    ("path", LANE, "stands there", [[0, 0], [0, 1]] + [[0, 1]] * 50, 1 / 5),
    ("path", LANE, "all but the last", KEYS["path"][1][1][:-1], 2 / 5),
    ("path", CUBE, "three moves of five", KEYS["path"][2][1][:4], 3 / 5),
    ("path", CUBE, "two numbers a cell", [[0, 0], [0, 1]], 0),
    ("cheapest", COST, "the cheapest", LONG, 1),
    ("cheapest", COST, "the shortest", WALK, 8 / 10),
    ("cheapest", COST, "stops short", LONG[:-1], 0),
    ("cheapest", COST, "through a wall", [[0, 0], [0, 1], [1, 1], [1, 2], [1, 3], [1, 4], [2, 4]], 0),
    ("route", ROUTE, "start left out", [[2, 3], [3, 0], [1, 1], [0, 4]], 1),
    ("route", ROUTE, "two moves of four", [[0, 1], [2, 3], [3, 0]], 2 / 4),
    ("route", ROUTE, "two, then elsewhere", [[0, 1], [2, 3], [3, 0], [0, 4], [1, 1]], 2 / 4),
    ("route", ROUTE, "and then on", [[0, 1], [2, 3], [3, 0], [1, 1], [0, 4], [0, 1]], 3 / 4),
    ("route", ROUTE, "start and end", [[0, 1], [0, 4]], 0),
    ("route", ROUTE, "the start", [[0, 1]], 0),
    ("cells", CELLS, "three of five", [[0, 0], [0, 1], [0, 2]], 3 / 5),
    ("cells", CELLS, "all, and one more", [[0, 0], [0, 1], [0, 2], [1, 0], [2, 0], [2, 3]], 5 / 6),
    ("cells", CELLS, "all, and one outside the grid", [[0, 0], [0, 1], [0, 2], [1, 0], [2, 0], [7, 7]], 5 / 6),
    ("cells", CELLS, "outside the grid", [[8, 8], [9, 9], [-3, 0]], 0),
    ("joint", BAY, "they pass", PASSING, 1),
    ("joint", BAY, "starts left out", {name: cells[1:] for name, cells in PASSING.items()}, 1),
    ("joint", BAY, "B waits first", {"A": PASSING["A"], "B": [[0, 3], [0, 3], [0, 2], [0, 1], [0, 0]]}, 1.5 / 5),
    ("joint", BAY, "two steps", {name: cells[:3] for name, cells in PASSING.items()}, 2 / 5),
    ("joint", BAY, "A alone goes on", {"A": [[0, 0], [0, 1], [0, 2], [0, 3]]}, 2 * 0.5 / 5),
    ("joint", BAY, "they run into each other", {"A": [[0, 0], [0, 1], [0, 2]], "B": [[0, 3], [0, 2], [0, 1]]}, 1 / 5),
    ("joint", BAY, "into a blocked cell", {"A": [[0, 0], [1, 0]], "B": [[0, 3], [0, 2]]}, 0),
    ("joint", BAY, "a jump", {"A": [[0, 0], [0, 2]]}, 0),
    ("joint", BAY, "A's path is no path", {"A": "north", "B": PASSING["B"]}, 2 * 0.5 / 5),
    ("joint", BAY, "nobody moves", {"A": [[0, 0]], "B": [[0, 3]] * 9}, 0),
    ("links", LINKS, "all", ACROSS, 1),
    ("links", LINKS, "backwards", {name: cells[::-1] for name, cells in ACROSS.items()}, 1),
    ("links", LINKS, "two", {name: ACROSS[name] for name in "ab"}, 2 / 3),
    ("links", LINKS, "b crosses c, and one of them counts", {**ACROSS, "b": UNDER}, 2 / 3),
    ("links", LINKS, "an end missing", {**ACROSS, "a": ACROSS["a"][:-1]}, 2 / 3),
    ("links", LINKS, "over a blocked cell", {**ACROSS, "c": [[3, 0], [2, 0], [2, 1], [2, 2], [2, 3], [2, 4]]}, 2 / 3),
    ("links", LINKS, "over another's end",
     {**ACROSS, "b": [[1, 0], [0, 0], [0, 1], [1, 1], [1, 2], [1, 3]]}, 2 / 3),
    ("links", LINKS, "a jump", {**ACROSS, "a": [[0, 0], [0, 3]]}, 2 / 3),
    ("links", LINKS, "twice through a cell", {**ACROSS, "a": [[0, 0], [0, 1], [0, 2], [0, 1], [0, 2], [0, 3]]}, 2 / 3),
    ("links", LINKS, "past the edge", {**ACROSS, "a": [[0, 0], [-1, 0], [-1, 1], [0, 1], [0, 2], [0, 3]]}, 2 / 3),
    ("groups", TRIOS, "two of three", [["C", "B", "A"], ["d", "e", " F"]], 2 / 3),
    ("groups", TRIOS, "three and a wrong one", [*KEYS["groups"][0][1], ["A", "B", "D"]], 3 / 4),
    ("groups", TRIOS, "one, and one twice", [["A", "B", "C"], ["A", "B", "B"], ["B", "A", "C"]], 1 / 4),
    ("groups", TRIOS, "an unknown name", [["A", "B", "C"], ["A", "B", "Zed"]], 1 / 4),
    ("groups", TRIOS, "one group of two", [["A", "B", "C"], ["A", "B"]], 0),
    ("groups", TRIOS, "a blank name", [["A", "B", "C"], ["A", "B", " "]], 0),
    ("pairs", PAIRS, "two", [["Ada", "x1"], ["X2", "BELA"]], 2 / 4),
    ("pairs", PAIRS, "two and two wrong", [["Ada", "x1"], ["Bela", "x2"], ["Cleo", "x4"], ["Dima", "x3"]], 2 / 4),
    ("pairs", PAIRS, "four and one wrong", [*KEYS["pairs"][0][1], ["Ada", "x2"]], 4 / 5),
    ("trail", ROUND, "all", EULER, 1),
    ("trail", ROUND, "and then on", [*EULER, ["A", "B"]], 1),
    ("trail", ROUND, "two of four, then not on", [["A", "B"], ["B", "C"], ["A", "B"]], 2 / 4),
    ("trail", ROUND, "three times the same", [["a", "b"]] * 3, 2 / 4),
    ("trail", ROUND, "an edge that does not exist", [["A", "B"], ["B", "D"], ["D", "A"]], 1 / 4),
    ("trail", ROUND, "begins with none", [["A", "D"], ["D", "C"]], 0),
    ("trail", ROUND, "a node alone", [["A", "B"], ["B"]], 0),
    ("trail", EDGES, "four of five, and a dead end", TRAIL, 4 / 5),
    ("kendall", ORDER, "two neighbours exchanged", ["Ada", "Cleo", "Edo", "Bela", "Dima"], 9 / 10),
    ("kendall", ORDER, "the last one first", ["Dima", "Cleo", "Ada", "Edo", "Bela"], 6 / 10),
    ("kendall", ORDER, "one missing", ["cleo", "ADA", " edo", "Dima "], 6 / 10),
    ("kendall", ORDER, "one alone", ["Cleo"], 0),
    ("kendall", ORDER, "strangers", ["Zed", 3, None], 0),
    ("kendall", ORDER, "again and again", [*ORDER.order, "Cleo", "Ada"], 1),
    ("circular", TABLE, "another first", ["Edo", "Bela", "Dima", "Fay", "Cleo", "Ada"], 1),
    ("circular", TABLE, "two neighbours exchanged", ["Ada", "Cleo", "Edo", "Bela", "Dima", "Fay"], 1 - 2 / 9),
    ("circular", TABLE, "opposites exchanged", ["Bela", "Ada", "Edo", "Cleo", "Dima", "Fay"], 1 - 6 / 9),
    ("circular", TABLE, "one missing", ["Cleo", "Ada", "Edo", "Bela", "Dima"], 1 - 6 / 9),
    ("circular", TABLE, "two missing", ["Cleo", "Ada", "Edo", "Bela"], 0),
    ("circular", TABLE, "mirrored", list(TABLE.order[::-1]), 1 - 8 / 9),
    ("circular", ORDER, "mirrored, an odd number", list(ORDER.order[::-1]), 0),
    ("ranking", TOP, "the right three, the first two exchanged", ["Ada", "Cleo", "Edo"], (0 + 1 + 1) / 3),
    ("ranking", TOP, "the right three backwards", ["Edo", "Ada", "Cleo"], (0 + 1 / 3 + 1) / 3),
    ("ranking", TOP, "first and second", ["Cleo", "Ada", "Zed"], (1 + 1 + 2 / 4) / 3),
    ("ranking", TOP, "the first alone", ["Cleo"], (1 + 1 / 3 + 1 / 5) / 3),
    ("ranking", TOP, "the first three times", ["Cleo", "Cleo", "cleo"], (1 + 1 / 3 + 1 / 5) / 3),
    ("ranking", TOP, "four", ["Cleo", "Ada", "Edo", "Zed"], 1),
    ("ranking", TOP, "one too late", ["Zed", "Cleo", "Ada", "Edo"], (0 + 1 / 3 + 2 / 4) / 3),
    ("number", NUMBER, "a float", 42.0, 1),
    ("number", NUMBER, "digits", " +42 ", 1),
    ("number", NUMBER, "near", 41, 0),
    ("number", NUMBER, "between", 42.5, 0),
    ("number", NUMBER, "two", [42], 0),
    ("number", NUMBER, "words", "42 or 43", 0),
    ("number", NumberKey(-3), "below 0", "-3", 1),
    ("number", NumberKey(1), "a truth", True, 0),
    ("number", NumberKey(10**6), "a large one", 10**7, 0),
    ("text", TEXT, "blanks do not matter", "meetat  NOON", 1),
    ("text", TEXT, "one letter of ten wrong", "MEET AT MOON", 9 / 10),
    ("text", TEXT, "half of it", "MEET A", 5 / 10),
    ("text", TEXT, "two letters more", "MEET AT NOON OK", 10 / 12),
    ("text", TEXT, "a letter left out", "MET AT NOON", 3 / 10),
    ("text", TEXT, "blank", " \n", 0),
    ("grid", LETTERS, "in other words", [" cat#", "o # o #", "wood"], 1),
    ("grid", LETTERS, "what stands on black cells is not looked at", ["CATS", "OXOX", "WOOD", "EXTRA"], 1),
    ("grid", LETTERS, "the first line alone", ["CAT#"], 3 / 9),
    ("grid", LETTERS, "one letter wrong", ["CAT#", "O#O#", "WORD"], 8 / 9),
    ("grid", LETTERS, "a line that is none", ["CAT#", None, "WOOD"], 7 / 9),
    ("fields", FIELDS, "all", RIGHT_FIELDS, 1),
    ("fields", FIELDS, "in other words",
     {"q1": " ADA", "q2": "7", "q3": ["bela", "ADA", "Ada"], "q4": (), "q5": ("ada", "BELA", "ada"), "q6": 0.0}, 1),
    ("fields", FIELDS, "one of six",
     {"q2": 7.0, "q1": "Bela", "q3": ["Ada"], "q4": None, "q5": ["Bela", "Ada", "Ada"]}, 1 / 6),
    ("fields", FIELDS, "unknown items", {"q7": "Ada", " q1": "Ada", 1: 7}, 0),
    ("fields", FIELDS, "lists of one", {"q1": ["Ada"], "q2": [7], "q6": False}, 0),
    ("fields", FieldsKey({"q1": "7"}), "a number that is a name", {"q1": 7}, 1),
    ("choices", CHOICES, "another right one", {"demo": "10:00", "retro": " 12:00"}, 1),
    ("choices", CHOICES, "both at once", {"demo": ["09:00", "10:00"], "retro": "12:00"}, 1 / 2),
    ("choices", CHOICES, "another's", {"demo": "12:00", "retro": "09:00"}, 0),
    ("bins", BINS, "all", PACKED, 1),
    ("bins", BINS, "other case", {item: f" {bin_.lower()}" for item, bin_ in PACKED.items()}, 1),
    ("bins", BINS, "Y is too full, and axe is with egg", {**PACKED, "egg": "X"}, 2 / 5),
    ("bins", BINS, "a pair parted", {**PACKED, "dye": "Z"}, 2 / 5),
    ("bins", BINS, "one left out, its mate fails", {k: v for k, v in PACKED.items() if k != "dye"}, 3 / 5),
    ("bins", BINS, "an unknown bin", {**PACKED, "egg": "W"}, 4 / 5),
    ("constraints", PLANS, "all", PLACED, 1),
    ("constraints", PLANS, "other case", {"demo": "TUE", "retro": "mon", "sync": " Wed "}, 1),
    ("constraints", PLANS, "demo on Mon", {**PLACED, "demo": "Mon"}, 2 / 4),
    ("constraints", PLANS, "sync not placed", {"demo": "Tue", "retro": "Mon"}, 2 / 4),
    ("constraints", PLANS, "sync on no day", {**PLACED, "sync": "Sun"}, 2 / 4),
]  # fmt: skip


@pytest.mark.parametrize(("rule", "key", "name", "answer", "expected"), WORKED, ids=[f"{w[0]}: {w[2]}" for w in WORKED])
def test_worked_examples(rule, key, name, answer, expected):
    assert scored(rule, key, answer) == pytest.approx(expected)


@pytest.mark.parametrize(("rule", "key", "right"), CASES)
def test_the_right_answer_in_any_form(rule, key, right):
    """Tuples for lists, another order of a mapping, a round trip through JSON."""
    for same in (right, thawed(right), json.loads(json.dumps(right)), reordered(right)):
        assert scored(rule, key, same) == 1


def thawed(value: Any) -> Any:
    if isinstance(value, dict):
        return {name: thawed(part) for name, part in value.items()}
    return tuple(map(thawed, value)) if isinstance(value, list) else value


def reordered(value: Any) -> Any:
    return dict(reversed(value.items())) if isinstance(value, dict) else value


def parts(answer: Any) -> list[Any]:
    """What an answer that was given up early looks like."""
    if isinstance(answer, dict):
        return [dict(list(answer.items())[:n]) for n in range(len(answer) + 1)]
    return [answer[:n] for n in range(len(answer) + 1)] if isinstance(answer, list | str) else [None, answer]


@pytest.mark.parametrize(("rule", "key", "right"), CASES)
def test_more_of_the_right_answer_never_scores_less(rule, key, right):
    scores = [scored(rule, key, part) for part in parts(right)]
    assert scores == sorted(scores)
    assert (scores[0], scores[-1]) == ((1 / 6, 1) if rule == "nothing" else (0, 1))


@pytest.mark.parametrize(("rule", "key", "right"), CASES)
def test_extra_and_repeated_items_never_raise_a_score(rule, key, right):
    for part in parts(right):
        if not isinstance(part, list | dict) or not part or key is ROUND:
            continue  # A-B may be walked twice
        if rule == "grid" and len(part) < len(right):
            continue  # a line more may be right by chance
        if isinstance(part, dict):
            first = next(iter(part.values()))
            more: list[Any] = [
                part | {"Z9": first, "": None, " a ": first},
                part | {n.upper() + "!": v for n, v in part.items()},
            ]
        else:
            more = [part + part, part + part[::-1], part + part[:1] * 99, [one for one in part for _ in (0, 1)]]
        assert all(scored(rule, key, each) <= scored(rule, key, part) for each in more)


# Schemes


def images(shape: Cell) -> list[Grid]:
    """All ways to write the cells of a grid: an array of cells, turned and mirrored, counted from 0 or from 1."""
    cells = np.empty(shape, dtype=object)
    for cell in np.ndindex(shape):
        cells[cell] = cell
    axes = range(len(shape))
    turned = [np.transpose(cells, order) for order in permutations(axes)]
    mirrored = [np.flip(one, flips) for one in turned for n in range(len(shape) + 1) for flips in combinations(axes, n)]
    return [
        {tuple(x + base for x in at): one[at] for at in np.ndindex(one.shape)} for one in mirrored for base in (0, 1)
    ]


def in_scheme(image: Grid, answer: Any) -> Any:
    """An answer made of cells, written as in `image`."""
    written = {cell: list(told) for told, cell in image.items()}
    if isinstance(answer, dict):
        return {name: in_scheme(image, cells) for name, cells in answer.items()}
    return [written[tuple(cell)] for cell in answer]


CELLED = [case for case in CASES if case.values[0] in ("path", "cheapest", "route", "cells", "joint", "links")]


def shape_of(key: Any) -> Cell:
    return key.path.shape if isinstance(key, CostKey) else key.shape


@pytest.mark.parametrize(("rule", "key", "right"), CELLED)
def test_any_scheme_for_the_whole_answer(rule, key, right):
    known = images(shape_of(key))
    assert len({tuple(sorted(image.items())) for image in known}) == {2: 16, 3: 96}[len(shape_of(key))]
    for image in known:
        told = in_scheme(image, right)
        assert scored(rule, key, told) == 1
        for part in parts(right)[1:-1]:
            assert scored(rule, key, in_scheme(image, part)) >= scored(rule, key, part) - 1e-12
        if isinstance(right, list) and rule != "cells":
            assert scored(rule, key, told[1:]) == 1, "without the start"
            mixed = [*right[:2], *told[2:]]
            assert mixed == right or key is CUBE or scored(rule, key, mixed) < 1, "two schemes in one answer"
        elif isinstance(right, dict):
            mixed = {**told, next(iter(right)): next(iter(right.values()))}
            assert mixed in (right, told) or scored(rule, key, mixed) < 1


def best_image(shape: Cell, cells: Sequence[Sequence[int]], score: Callable[[list[Cell | None]], float]) -> float:
    return max(score([image.get(tuple(cell)) for cell in cells]) for image in images(shape))


def random_cells(rng: random.Random, shape: Cell, near: Sequence[Sequence[int]]) -> list[list[int]]:
    """Random cells, or a piece of a right answer written in some scheme, with some cells spoiled."""
    if rng.random() < 0.3:
        return [[rng.randint(-1, n) for n in shape] for _ in range(rng.randint(1, 6))]
    cells = in_scheme(rng.choice(images(shape)), near)[rng.randint(0, 1) : rng.randint(2, len(near) + 1)]
    for _ in range(rng.randint(0, 2)):
        cells.insert(rng.randrange(len(cells) + 1), [rng.randrange(n) for n in shape])
        if rng.random() < 0.5:
            cells.pop(rng.randrange(len(cells)))
    return cells


# Every score in a second way


def naive_walk(key: PathKey, cells: list[Cell | None]) -> list[Cell]:
    cells = cells if cells[0] == key.start else [key.start, *cells]
    for n in range(1, len(cells)):
        before = [cell for cell in cells[:n] if cell is not None]
        if cells[n - 1] == key.goal or cells[n] is None or key.step(before, cells[n]):
            return before
        if cells[n] in before and not key.waits:
            return before
    return [cell for cell in cells if cell is not None]


def naive_path(key: PathKey, cells: list[Cell | None]) -> float:
    walked = naive_walk(key, cells)
    new = sum(cell not in walked[:n] for n, cell in enumerate(walked)) - 1
    return 1.0 if walked[-1] == key.goal else min(new / key.optimal, 1 - 1 / key.optimal)


def naive_cheapest(key: CostKey, cells: list[Cell | None]) -> float:
    walked = naive_walk(key.path, cells)
    return key.optimal / sum(key.cost(cell) for cell in walked[1:]) if walked[-1] == key.path.goal else 0.0


def naive_route(key: RouteKey, cells: list[Cell | None]) -> float:
    given = cells if cells[0] == key.cells[0] else [key.cells[0], *cells]
    same = max(n for n in range(len(key.cells) + 1) if list(key.cells[:n]) == given[:n])
    return 1.0 if given == list(key.cells) else min(same - 1, len(key.cells) - 2) / (len(key.cells) - 1)


def naive_cells(key: CellsKey, cells: list[Cell | None], told: int) -> float:
    found = {cell for cell in cells if cell}
    return len(found & key.cells) / (len(key.cells - found) + told)


@pytest.mark.parametrize("key", [PATH, LANE, CUBE], ids=["path", "lane", "cube"])
def test_paths_score_as_by_arrays(key):
    right = next(right for known, right in KEYS["path"] if known is key)
    rng, seen = random.Random(1), Counter[float]()
    for _ in range(60 if key is CUBE else 250):
        cells = random_cells(rng, key.shape, right)
        if cells:
            expected = best_image(key.shape, cells, lambda read: naive_path(key, read))
            assert scored("path", key, cells) == pytest.approx(expected)
            seen[round(expected, 3)] += 1
    assert len(seen) > 3


@pytest.mark.parametrize(
    ("rule", "key", "right", "naive"),
    [
        ("cheapest", COST, LONG, naive_cheapest), ("cheapest", COST, WALK, naive_cheapest),
        ("route", ROUTE, KEYS["route"][0][1], naive_route),
    ],
)  # fmt: skip
def test_other_paths_score_as_by_arrays(rule, key, right, naive):
    rng, seen = random.Random(2), Counter[float]()
    for _ in range(200):
        cells = random_cells(rng, shape_of(key), right)
        if cells:
            expected = best_image(shape_of(key), cells, lambda read: naive(key, read))
            assert scored(rule, key, cells) == pytest.approx(expected)
            seen[expected] += 1
    assert len(seen) > 1


def test_cells_score_as_by_arrays():
    rng = random.Random(3)
    for _ in range(200):
        shape = (rng.randint(2, 4), rng.randint(2, 4))
        grid = list(product(*map(range, shape)))
        key = CellsKey(shape, frozenset(rng.sample(grid, rng.randint(1, len(grid)))))
        cells = random_cells(rng, shape, rng.sample(grid, min(4, len(grid)))) or [[0, 0]]
        told = len(set(map(tuple, cells)))
        expected = max(naive_cells(key, [one.get(tuple(c)) for c in cells], told) for one in images(shape))
        assert scored("cells", key, cells) == pytest.approx(expected)


def test_optimal_costs_and_steps_are_those_of_networkx():
    graph = nx.DiGraph([(a, b) for a, b in product(lattice(ROWS), repeat=2) if lattice(ROWS).has_edge(a, b)])
    assert COST.optimal == nx.shortest_path_length(graph, PATH.start, PATH.goal, lambda a, b, _: COST.cost(b))
    assert PATH.optimal == nx.shortest_path_length(graph, PATH.start, PATH.goal)


def moves_of(key: JointKey) -> nx.DiGraph:
    """Every valid joint step of two walkers, from pairs of cells to pairs of cells."""
    free = nx.grid_2d_graph(*key.shape)
    free.remove_nodes_from(key.blocked)
    states = [pair for pair in product(free, repeat=2) if pair[0] != pair[1]]
    graph = nx.DiGraph()
    for (a, b), (c, d) in product(states, repeat=2):
        if (a == c or free.has_edge(a, c)) and (b == d or free.has_edge(b, d)) and (a, b) != (d, c):
            graph.add_edge((a, b), (c, d))
    return graph


def naive_joint(key: JointKey, graph: nx.DiGraph, walks: list[list[Cell | None]]) -> float:
    (a, b), (c, d) = key.ends.values()
    goal: Any = (b, d)
    walks = [cells if cells[:1] == [start] else [start, *cells] for cells, start in zip(walks, (a, c), strict=True)]
    last = max(map(len, walks))
    states: list[Any] = list(zip(*[cells + cells[-1:] * (last - len(cells)) for cells in walks], strict=True))
    worth = 0.0
    for n in range(1, len(states)):
        if states[n - 1] == goal or not graph.has_edge(states[n - 1], states[n]):
            return 1.0 if states[n - 1] == goal else min(worth, key.optimal - 1) / key.optimal
        late = [w for w in (0, 1) if states[n - 1][w] != goal[w]]
        worth += mean(float(states[n][w] not in [s[w] for s in states[:n]]) for w in late)
    return 1.0 if states[-1] == goal else min(worth, key.optimal - 1) / key.optimal


@pytest.mark.parametrize(
    "key",
    [
        BAY,
        JointKey((2, 3), {"A": ((0, 0), (0, 2)), "B": ((0, 1), (1, 0))}, frozenset(), 2),
        JointKey((3, 3), {"A": ((0, 0), (2, 1)), "B": ((0, 2), (2, 0))}, frozenset({(1, 1)}), 4),
    ],
    ids=["bay", "open", "round"],
)
def test_plans_score_as_by_a_graph_of_joint_steps(key):
    rng, graph, seen = random.Random(4), moves_of(key), Counter[float]()
    starts, goals = zip(*key.ends.values(), strict=True)
    assert key.optimal == nx.shortest_path_length(graph, starts, goals)
    for _ in range(150):
        state, walk = starts, [starts]
        if rng.random() < 0.4:
            walk = rng.choice(list(nx.all_shortest_paths(graph, starts, goals)))
        else:
            for _ in range(rng.randint(1, 6)):
                state = rng.choice(list(graph[state]))
                walk.append(state)
        plans = [[list(pair[w]) for pair in walk] for w in (0, 1)]
        if rng.random() < 0.5:
            plan = plans[rng.randrange(2)]
            plan[rng.randrange(len(plan))] = [rng.randint(-1, n) for n in key.shape]
        plans = [plan[rng.randint(0, 1) : rng.randint(1, len(plan))] for plan in plans] if rng.random() < 0.5 else plans
        image = rng.choice(images(key.shape))
        written = {cell: list(told) for told, cell in image.items()}
        answer = {n: [written.get(tuple(c), [9, 9]) for c in plan] for n, plan in zip(key.ends, plans, strict=True)}
        if any(answer.values()):
            expected = max(
                naive_joint(key, graph, [[one.get(tuple(c)) for c in cells] for cells in answer.values()])
                for one in images(key.shape)
            )
            assert scored("joint", key, answer) == pytest.approx(expected), answer
            seen[round(expected, 3)] += 1
    assert len(seen) > 3


def naive_links(key: LinksKey, walks: Mapping[str, list[Cell | None]]) -> float:
    """The largest subset of paths that are each a path of the grid without the rest, and share nothing."""
    graph = nx.grid_2d_graph(*key.shape)
    graph.remove_nodes_from(key.blocked)
    most = 0
    for names in chain.from_iterable(combinations(walks, n) for n in range(len(walks) + 1)):
        used = list(chain.from_iterable(walks[name] for name in names))
        fine = len(set(used)) == len(used) and all(
            set(key.ends[name]) == {walks[name][0], walks[name][-1]}
            and nx.is_path(graph, walks[name])
            and not set(walks[name]) & set(chain.from_iterable(key.ends[other] for other in key.ends if other != name))
            for name in names
        )
        most = max(most, len(names) * fine)
    return most / len(key.ends)


def test_links_score_as_the_best_choice_of_paths():
    rng, seen = random.Random(5), Counter[float]()
    grid = nx.grid_2d_graph(*LINKS.shape)
    grid.remove_nodes_from(LINKS.blocked)
    choices = {name: list(nx.all_simple_paths(grid, *ends, cutoff=7)) for name, ends in LINKS.ends.items()}
    for _ in range(150):
        image = rng.choice(images(LINKS.shape))
        answer = {name: in_scheme(image, rng.choice(walks)) for name, walks in choices.items() if rng.random() < 0.9}
        for cells in answer.values():
            if rng.random() < 0.2:
                cells[rng.randrange(len(cells))] = [rng.randint(-1, n) for n in LINKS.shape]
            if rng.random() < 0.3:
                cells.reverse()
        expected = max(
            naive_links(LINKS, {name: [one.get(tuple(c)) for c in cells] for name, cells in answer.items()})
            for one in images(LINKS.shape)
        )
        assert scored("links", LINKS, answer) == pytest.approx(expected)
        seen[expected] += 1
    assert len(seen) >= 3


PEOPLE = ("Ada", "Bela", "Cleo", "Dima", "Edo", "Fay", "Gus")


def test_sets_score_as_by_counting():
    rng = random.Random(6)
    for _ in range(200):
        trios = list(combinations(PEOPLE, 3))
        truth, told = rng.sample(trios, rng.randint(1, 6)), rng.choices(trios, k=rng.randint(1, 9))
        answer = [rng.sample(trio, 3) for trio in told]
        key, right = GroupsKey(frozenset(map(frozenset, truth))), set(truth) & set(told)
        assert scored("groups", key, answer) == pytest.approx(len(right) / len({*truth, *told}))
        assert scored("pairs", key, answer) == pytest.approx(min(len(right) / len(truth), len(right) / len({*told})))


def naive_trail(key: EdgesKey, answer: list[list[str]]) -> float:
    """The longest beginning that is a trail with each edge turned this way or that."""
    most = 0
    for n in range(1, len(answer) + 1):
        counted = Counter(map(frozenset, answer[:n]))
        real = all(counted[edge] <= Counter(map(frozenset, key.edges))[edge] for edge in counted)
        turned = product(*[(tuple(edge), tuple(edge[::-1])) for edge in answer[:n]])
        if real and any(all(a[1] == b[0] for a, b in pairwise(one)) for one in turned):
            most = n
    return most / len(key.edges)


def test_trails_score_as_by_turning_edges():
    rng, seen = random.Random(7), Counter[float]()
    for _ in range(300):
        edges = [tuple(rng.sample("ABCD", 2)) for _ in range(rng.randint(1, 6))]
        graph = nx.MultiGraph(edges)
        here, answer = rng.choice("ABCD"), []
        while len(answer) < 6 and rng.random() < 0.9 and here in graph and graph[here]:
            there = rng.choice([*graph[here], rng.choice("ABCD")] if rng.random() < 0.2 else list(graph[here]))
            if graph.has_edge(here, there) and rng.random() < 0.9:
                graph.remove_edge(here, there)
            answer.append(rng.sample([here, there], 2))
            here = there
        if answer:
            key = EdgesKey(tuple(edges))  # type: ignore[arg-type]
            assert scored("trail", key, answer) == pytest.approx(naive_trail(key, answer)), (edges, answer)
            seen[naive_trail(key, answer)] += 1
    assert len(seen) > 5


def test_kendall_is_the_one_of_scipy():
    places = range(len(ORDER.order))
    for order in permutations(places):
        tau = kendalltau(places, [order.index(place) for place in places]).statistic
        assert scored("kendall", ORDER, [ORDER.order[place] for place in order]) == pytest.approx((1 + tau) / 2)


def test_circular_is_the_least_sum_of_seats_over_turns():
    for names in (TABLE.order[:n] for n in range(2, 7)):
        n, key, worst = len(names), OrderKey(names), 0.0
        turns = [sum(min((i + t) % n, -(i + t) % n) for t in range(n)) for i in range(n)]
        assert len(set(turns)) == 1, "every seat has the same average distance"
        for order in permutations(range(n)):
            apart = [np.abs(np.roll(order, turn) - np.arange(n)) for turn in range(n)]
            off = min(np.minimum(steps, n - steps).sum() for steps in apart)
            expected = 1 - off / turns[0]
            assert expected >= -1e-12
            assert scored("circular", key, [names[order.index(seat)] for seat in range(n)]) == pytest.approx(expected)
            worst = max(worst, 1 - expected)
        assert worst > 0.85 or n < 5


def test_ranking_is_the_mean_overlap_of_prefixes():
    for order in permutations(("Cleo", "Ada", "Edo", "Zed", "Yan"), 3):
        overlaps = [len({*TOP.order[:k]} & {*order[:k]}) / len({*TOP.order[:k]} | {*order[:k]}) for k in (1, 2, 3)]
        assert scored("ranking", TOP, list(order)) == pytest.approx(mean(overlaps))


@pytest.mark.parametrize(("rule", "key"), [("kendall", ORDER), ("circular", TABLE), ("ranking", TOP)])
def test_nobody_gains_by_leaving_a_name_out(rule, key):
    """Of a ranking the last ones: names after one that is left out stand in other places."""
    for order in permutations(key.order):
        whole = scored(rule, key, list(order))
        for name in order if rule != "ranking" else order[-1:]:
            assert scored(rule, key, [other for other in order if other != name]) <= whole + 1e-12


def test_bins_and_constraints_score_as_by_trying_all_answers():
    best = Counter[float]()
    for bins in product(("X", "Y", "Z", None), repeat=len(BINS.sizes)):
        at = dict(zip(BINS.sizes, bins, strict=True))
        fine = {
            item for item, bin_ in at.items()
            if bin_ and sum(BINS.sizes[i] for i in at if at[i] == bin_) <= BINS.capacities[bin_]
        } - {
            item for pair in BINS.together for item in pair if at[pair[0]] != at[pair[1]]
        } - {item for pair in BINS.apart for item in pair if at[pair[0]] == at[pair[1]]}  # fmt: skip
        score = scored("bins", BINS, {item: bin_ for item, bin_ in at.items() if bin_})
        assert score == pytest.approx(len(fine) / len(at)), at
        best[score] += 1
    assert best[1.0] >= 1
    for days in product((*DAYS, None), repeat=3):
        demo, retro, sync = days
        right = [
            demo and retro and demo != retro, retro and sync and retro != sync, demo == "Tue",
            demo and sync and (demo, sync) in (("Mon", "Tue"), ("Mon", "Wed"), ("Tue", "Wed")),
        ]  # fmt: skip
        answer = dict(zip(("demo", "retro", "sync"), days, strict=True))
        assert scored("constraints", PLANS, answer) == pytest.approx(sum(map(bool, right)) / 4)


# Reasons and places


LOSSES: list[tuple[str, Any, Any, str, Any]] = [  # rule, key, answer, reason, where
    ("path", PATH, WALK[:3], "stops at (0, 2) after 2 moves, short of the goal",
     {"walked": WALK[:3], "broke": None, "scheme": 0}),
    ("path", PATH, [*WALK[:3], [0, 3]], "move 3: (0, 2) -> (0, 3) is no step on the board",
     {"walked": WALK[:3], "broke": [0, 3], "scheme": 0}),
    ("path", PATH, [*WALK[:2], [-(10**5000), 1]], "move 2: (0, 1) -> (-1000000, 1) leaves the grid",
     {"walked": WALK[:2], "broke": [-(10**6), 1], "scheme": 0}),
    ("path", PATH, [*WALK[:2], [10**6 + 1, 1]], "move 2: (0, 1) -> (1000000, 1) leaves the grid",
     {"walked": WALK[:2], "broke": [10**6, 1], "scheme": 0}),
    ("path", PATH, [WALK[0], WALK[1], WALK[0]], "move 2: (0, 1) -> (0, 0) returns to a cell already walked",
     {"walked": WALK[:2], "broke": [0, 0], "scheme": 0}),
    ("path", PATH, LONG, "reaches the goal in 8 moves (shortest 6)", {"walked": LONG, "broke": None, "scheme": 0}),
    ("path", PATH, "north", "the answer is not a list of cells of two whole numbers", None),
    ("path", CUBE, [[0, 0]], "the answer is not a list of cells of three whole numbers", None),
    ("cheapest", COST, 5, "the answer is not a list of cells of two whole numbers", None),
    ("cheapest", COST, WALK, "reaches the goal at a cost of 10 (least 8)",
     {"walked": WALK, "broke": None, "scheme": 0}),
    ("cheapest", COST, [[c, r] for r, c in WALK[:5]], "stops at (1, 3) after 4 moves, short of the goal",
     {"walked": WALK[:5], "broke": None, "scheme": 1}),
    ("route", ROUTE, [], "the answer is not a list of cells of two whole numbers", None),
    ("route", ROUTE, [[0, 1], [2, 3], [3, 1]],
     "shares 1 of 4 moves with the best route, which goes on to (3, 0)",
     {"walked": [[0, 1], [2, 3]], "broke": [3, 1], "scheme": 0}),
    ("route", ROUTE, [[0, 1], [2, 3]], "shares 1 of 4 moves with the best route, which goes on to (3, 0)",
     {"walked": [[0, 1], [2, 3]], "broke": None, "scheme": 0}),
    ("route", ROUTE, [*map(list, ROUTE.cells), [9, 9]], "shares 4 of 4 moves with the best route, which ends there",
     {"walked": [list(c) for c in ROUTE.cells], "broke": [9, 9], "scheme": 0}),
    ("route", ROUTE, [list(c) for c in ROUTE.cells], "is the best route, 4 moves",
     {"walked": [list(c) for c in ROUTE.cells], "broke": None, "scheme": 0}),
    ("cells", CELLS, [[0, 0], [0, 1], [0, 2], [2, 0], [2, 3], [8, 8]],
     "4 of 5 cells, and 2 that do not belong",
     {"right": [[0, 0], [0, 1], [0, 2], [2, 0]], "wrong": [[2, 3]], "missing": [[1, 0]], "scheme": 0}),
    ("cells", CELLS, {}, "the answer is not a list of cells of two whole numbers", None),
    ("joint", BAY, {"A": [[0, 0], [0, 1], [0, 2]], "B": [[0, 3], [0, 2], [0, 1]]},
     "step 2: A (0, 1) -> (0, 2) exchanges cells with B",
     {"paths": {"A": [[0, 0], [0, 1]], "B": [[0, 3], [0, 2]]}, "broke": {"A": [0, 2], "B": [0, 1]}, "scheme": 0}),
    ("joint", BAY, {"A": [[0, 0], [0, 1], [0, 2], [0, 3]], "B": [[0, 3]]}, "step 3: A (0, 2) -> (0, 3) meets B",
     {"paths": {"A": [[0, 0], [0, 1], [0, 2]], "B": [[0, 3]] * 3},
      "broke": {"A": [0, 3], "B": [0, 3]}, "scheme": 0}),
    ("joint", BAY, {"A": [[0, 0], [0, 1], [0, 0]], "B": [[0, 3], [0, 2], [1, 2]]},
     "step 2: B (0, 2) -> (1, 2) is blocked",
     {"paths": {"A": [[0, 0], [0, 1]], "B": [[0, 3], [0, 2]]}, "broke": {"A": [0, 0], "B": [1, 2]}, "scheme": 0}),
    ("joint", BAY, {"A": [[0, 0], [0, 1]], "B": [[0, 3], [0, 2], [-1, 2]]},
     "step 2: B (0, 2) -> (-1, 2) leaves the grid",
     {"paths": {"A": [[0, 0], [0, 1]], "B": [[0, 3], [0, 2]]}, "broke": {"A": [0, 1], "B": [-1, 2]}, "scheme": 0}),
    ("joint", BAY, {"A": [[0, 0], [0, 1], [0, 3]]},
     "step 2: A (0, 1) -> (0, 3) is no step to a cell that shares a side",
     {"paths": {"A": [[0, 0], [0, 1]], "B": [[0, 3]] * 2}, "broke": {"A": [0, 3], "B": [0, 3]}, "scheme": 0}),
    ("joint", BAY, {"A": [[0, 0], [0, 1]], "B": [[0, 3]]}, "after 1 steps A and B short of the goal",
     {"paths": {"A": [[0, 0], [0, 1]], "B": [[0, 3]] * 2}, "broke": {}, "scheme": 0}),
    ("joint", BAY, {"A": PASSING["A"], "B": [*PASSING["B"], [0, 0]]}, "all arrive within 5 steps (fewest 5)",
     {"paths": {"A": PASSING["A"], "B": [*PASSING["B"], [0, 0], [0, 0]]}, "broke": {}, "scheme": 0}),
    ("joint", BAY, {"C": WALK}, "the answer does not map walkers to lists of cells of two whole numbers", None),
    ("links", LINKS, {"a": [[0, 0], [0, 1], [1, 1], [1, 2], [0, 2], [0, 3]], "b": ACROSS["b"]},
     "1 of 3 pairs joined; b shares a cell with another; c has no path",
     {"paths": {"a": [[0, 0], [0, 1], [1, 1], [1, 2], [0, 2], [0, 3]], "b": ACROSS["b"]},
      "right": ["a"], "wrong": ["b", "c"], "scheme": 0}),
    ("links", LINKS, {**ACROSS, "a": [[0, 0], [0, 2], [0, 3]]},
     "2 of 3 pairs joined; a jumps from (0, 0) to (0, 2)",
     {"paths": {**ACROSS, "a": [[0, 0], [0, 2], [0, 3]]}, "right": ["b", "c"], "wrong": ["a"], "scheme": 0}),
    ("links", LINKS, {**ACROSS, "a": [[0, 0], [-1, 0], [0, 3]]},
     "2 of 3 pairs joined; a may not go on from (0, 0) to outside the grid",
     {"paths": {**ACROSS, "a": [[0, 0], [0, 3]]}, "right": ["b", "c"], "wrong": ["a"], "scheme": 0}),
    ("links", LINKS, {**ACROSS, "a": [[0, 0], [1, 0], [0, 3]]},
     "2 of 3 pairs joined; a may not go on from (0, 0) to (1, 0)",
     {"paths": {**ACROSS, "a": [[0, 0], [1, 0], [0, 3]]}, "right": ["b", "c"], "wrong": ["a"], "scheme": 0}),
    ("links", LINKS, {**ACROSS, "a": [[0, 0], [0, 1], [0, 0], [0, 1], [0, 2], [0, 3]]},
     "2 of 3 pairs joined; a crosses itself",
     {"paths": {**ACROSS, "a": [[0, 0], [0, 1], [0, 0], [0, 1], [0, 2], [0, 3]]},
      "right": ["b", "c"], "wrong": ["a"], "scheme": 0}),
    ("links", LINKS, {"a": ACROSS["a"][:2], "b": ACROSS["b"], "c": ACROSS["c"]},
     "2 of 3 pairs joined; a does not go from one end to the other",
     {"paths": {**ACROSS, "a": ACROSS["a"][:2]}, "right": ["b", "c"], "wrong": ["a"], "scheme": 0}),
    ("links", LINKS, ACROSS, "3 of 3 pairs joined",
     {"paths": ACROSS, "right": ["a", "b", "c"], "wrong": [], "scheme": 0}),
    ("links", LINKS, [], "the answer does not map pairs to lists of cells of two whole numbers", None),
    ("groups", TRIOS, [["c", "b", "a"], ["Q", "A", "B"]], "1 of 3 found, and 1 that do not belong; missing: B C D",
     {"right": [["A", "B", "C"]], "wrong": [["A", "B", "q"]], "missing": [["B", "C", "D"], ["D", "E", "F"]]}),
    ("groups", TRIOS, KEYS["groups"][0][1], "3 of 3 found, and 0 that do not belong",
     {"right": KEYS["groups"][0][1], "wrong": [], "missing": []}),
    ("groups", TRIOS, [["A", "B"]], "the answer is not a list of groups of 3 names", None),
    ("trail", ROUND, [["a", "b"], ["C", "B"], ["A", "B"]],
     "covers 2 of 4 edges; edge 3, 'A-B', does not begin at 'C'",
     {"walked": [["A", "B"], ["B", "C"]], "broke": ["A", "B"]}),
    ("trail", ROUND, [["A", "B"], ["B", "C"], ["C", "B"]], "covers 2 of 4 edges; edge 3, 'C-B', is walked again",
     {"walked": [["A", "B"], ["B", "C"]], "broke": ["C", "B"]}),
    ("trail", ROUND, [["A", "B"], ["B", "Q"]], "covers 1 of 4 edges; edge 2, 'B-q', does not exist",
     {"walked": [["A", "B"]], "broke": ["B", "q"]}),
    ("trail", ROUND, EULER[:2], "covers 2 of 4 edges", {"walked": [["B", "A"], ["A", "C"]], "broke": None}),
    ("trail", ROUND, None, "the answer is not a list of edges of two nodes", None),
    ("kendall", ORDER, ["Ada", "cleo", "Edo", "Bela", "Dima"],
     "9 of 10 pairs in order; Cleo does not come before Ada",
     {"order": ["Ada", "Cleo", "Edo", "Bela", "Dima"], "wrong": [["Cleo", "Ada"]]}),
    ("kendall", ORDER, ["Ada", "Edo", "Bela", "Dima"], "6 of 10 pairs in order; Cleo is missing",
     {"order": ["Ada", "Edo", "Bela", "Dima"], "wrong": [["Cleo", n] for n in ("Ada", "Edo", "Bela", "Dima")]}),
    ("kendall", ORDER, list(ORDER.order), "all 5 in order", {"order": list(ORDER.order), "wrong": []}),
    ("kendall", ORDER, "Cleo", "the answer is not a list of names", None),
    ("circular", TABLE, ["Fay", "Ada", "Cleo", "Edo", "Bela", "Dima"],
     "4 of 6 sit right, all together 2 seats off",
     {"order": ["Fay", "Ada", "Cleo", "Edo", "Bela", "Dima"], "turn": 5, "right": ["Edo", "Bela", "Dima", "Fay"]}),
    ("circular", TABLE, 3, "the answer is not a list of names", None),
    ("ranking", TOP, ["Cleo", "Zed", "Ada"], "the top is Cleo, Ada, Edo", {"order": ["cleo", "ada"], "right": [0]}),
    ("ranking", TOP, ["Cleo", "Ada", "Edo"], "the top is Cleo, Ada, Edo, as answered",
     {"order": ["cleo", "ada", "edo"], "right": [0, 1, 2]}),
    ("ranking", TOP, {}, "the answer is not a list of names", None),
    ("number", NUMBER, 42, "is 42", None),
    ("number", NUMBER, "7", "is 42, not 7", None),
    ("number", NUMBER, 10**5000, "is 42, not some int", None),
    ("number", NUMBER, "seven", "the answer is not a whole number", None),
    ("text", TEXT, "mEET AX", "5 of 10 letters are right", {"right": [0, 1, 2, 3, 5], "given": "MEETAX"}),
    ("text", TEXT, "Meet at noon", "every letter is right",
     {"right": [0, 1, 2, 3, 5, 6, 8, 9, 10, 11], "given": "MEETATNOON"}),
    ("text", TEXT, ["M"], "the answer is not a text", None),
    ("grid", LETTERS, ["CAT#", "O#X#"],
     "4 of 9 letters are right; line 2, place 3 is O, not 'X'",
     {"right": [[0, 0], [0, 1], [0, 2], [1, 0]], "rows": ["CAT#", "O#X#", ""]}),
    ("grid", LETTERS, ["CAT##", "O#O#", "WOOD"], "9 of 9 letters are right",
     {"right": [[0, 0], [0, 1], [0, 2], [1, 0], [1, 2], *([2, c] for c in range(4))], "rows": list(LETTERS.rows)}),
    ("grid", LETTERS, ["", 5], "the answer is not a list of lines", None),
    ("grid", LETTERS, "CAT", "the answer is not a list of lines", None),
    ("fields", FIELDS, {**RIGHT_FIELDS, "q3": ["Ada", "Zed"]},
     "5 of 6 items right; q3 is Ada, Bela, not ['Ada', 'Zed']",
     {"right": ["q1", "q2", "q4", "q5", "q6"], "wrong": ["q3"]}),
    ("fields", FIELDS, {**RIGHT_FIELDS, "q4": ["Ada"]}, "5 of 6 items right; q4 is nothing, not ['Ada']",
     {"right": ["q1", "q2", "q3", "q5", "q6"], "wrong": ["q4"]}),
    ("fields", FIELDS, {**RIGHT_FIELDS, "q5": None}, "5 of 6 items right; q5 is Ada Bela Ada",
     {"right": ["q1", "q2", "q3", "q4", "q6"], "wrong": ["q5"]}),
    ("fields", FIELDS, RIGHT_FIELDS, "all 6 items right", {"right": list(RIGHT_FIELDS), "wrong": []}),
    ("fields", FIELDS, [1], "the answer does not map items to values", None),
    ("choices", CHOICES, {"demo": "09:00"}, "1 of 2 items right; retro has no value",
     {"right": ["demo"], "wrong": ["retro"]}),
    ("choices", CHOICES, {"retro": 9}, "0 of 2 items right; demo has no value",
     {"right": [], "wrong": ["demo", "retro"]}),
    ("choices", CHOICES, {"demo": 9, "retro": "12:00"}, "1 of 2 items right; demo cannot be 9",
     {"right": ["retro"], "wrong": ["demo"]}),
    ("choices", CHOICES, 9, "the answer does not map items to values", None),
    ("bins", BINS, {**PACKED, "egg": "Q"}, "4 of 5 items packed well; egg is in no bin",
     {"right": ["axe", "bow", "cup", "dye"], "wrong": ["egg"]}),
    ("bins", BINS, {**PACKED, "cup": "Z", "dye": "Z", "egg": "Y"},
     "3 of 5 items packed well; cup is in Z, which holds 3 of 1",
     {"right": ["axe", "bow", "egg"], "wrong": ["cup", "dye"]}),
    ("bins", BINS, {**PACKED, "dye": "Z", "egg": "Y"}, "3 of 5 items packed well; cup is in Y without dye",
     {"right": ["axe", "bow", "egg"], "wrong": ["cup", "dye"]}),
    ("bins", BINS, {"axe": "Y", "egg": "Y"}, "0 of 5 items packed well; axe is in Y without bow",
     {"right": [], "wrong": list(PACKED)}),
    ("bins", BinsKey({"a": 1, "b": 1}, {"X": 2}, (), (("b", "a"),)), {"a": "X", "b": "X"},
     "0 of 2 items packed well; a is in X with b", {"right": [], "wrong": ["a", "b"]}),
    ("bins", BINS, 1, "the answer does not map items to bins", None),
    ("constraints", PLANS, {"demo": "Tue", "retro": "Tue", "sync": "Wed"},
     "3 of 4 constraints satisfied; constraint 1 (demo and retro on different days) fails",
     {"right": ["constraint 2", "constraint 3", "constraint 4"], "wrong": ["constraint 1"]}),
    ("constraints", PLANS, {"demo": "Tue", "retro": "Mon"},
     "2 of 4 constraints satisfied; constraint 2 (retro and sync on different days) fails: sync is not placed",
     {"right": ["constraint 1", "constraint 3"], "wrong": ["constraint 2", "constraint 4"]}),
    ("constraints", PLANS, PLACED, "all 4 constraints satisfied",
     {"right": [f"constraint {n}" for n in (1, 2, 3, 4)], "wrong": []}),
    ("constraints", PLANS, "Mon", "the answer does not map items to options", None),
]  # fmt: skip


@pytest.mark.parametrize(("rule", "key", "answer", "reason", "where"), LOSSES, ids=[f"{x[0]}: {x[3]}" for x in LOSSES])
def test_a_grade_says_where_the_score_was_lost(rule, key, answer, reason, where):
    verdict = RULES[rule](key, answer)
    assert verdict.reason == reason
    assert verdict.where == where


# Cheap tricks: (rule, key, trick, answer, the most it may earn, why that is honest)

YARD = board("@..#...", ".#...#.", "...#.#.", "##.#...", "....##.", ".##....", "....#.*")
L = YARD.optimal
ALL = [list(cell) for cell in product(range(7), repeat=2)]
BLIND = random.Random(0)
STAR = OrderKey(("Gus", "Cleo", "Bela", "Fay", "Dima", "Ada", "Edo"))
POND = CellsKey((7, 7), frozenset((r, c) for r in range(3) for c in range(4)))
TOWNS = [f"T{n}" for n in range(12)]
ROADS = EdgesKey(tuple(zip(TOWNS, TOWNS[1:] + TOWNS[:1], strict=True)))
CIPHER = TextKey("THE RIVER RUNS PAST THE OLD MILL")
CRATES = BinsKey({f"i{n}": 1 for n in range(8)}, {f"B{n}": 2 for n in range(4)}, (("i0", "i1"),), (("i2", "i3"),))
CROSSED = ConstraintsKey(
    {name: tuple("WXYZ") for name in PEOPLE},
    tuple(
        Constraint(pair, lambda at, pair=pair: at[pair[0]] != at[pair[1]], "apart")  # type: ignore[misc]
        for pair in combinations(PEOPLE[:4], 2)
    ),
)
SURVEY = FieldsKey({f"q{n}": PEOPLE[n % 4] for n in range(8)} | {"n1": 3, "n2": 4})
TRICKS: list[tuple[str, Any, str, Any, float, str]] = [
    ("path", YARD, "pacing", [[0, 0], [0, 1]] * 5000, 1 / L, "one move that is new"),
    ("path", YARD, "waiting", [[0, 0]] * 10_000, 0, "no move"),
    ("path", YARD, "teleport", [[0, 0], [6, 6]], 0, "no step"),
    ("path", YARD, "diagonal", [[i, i] for i in range(7)], 0, "no step"),
    ("path", YARD, "staircase", [[(i + 1) // 2, i // 2] for i in range(13)], 1 / L, "one step, then a wall"),
    ("path", YARD, "straight through walls", [[0, c] for c in range(7)] + [[r, 6] for r in range(1, 7)], 2 / L,
     "two steps up to the first wall"),
    ("path", YARD, "all cells, line by line", ALL, 2 / L, "two steps up to the first wall"),
    ("path", YARD, "babble", [[BLIND.randrange(7), BLIND.randrange(7)] for _ in range(10_000)], 2 / L,
     "a random neighbour or two"),
    ("path", LANE, "stands before what is closed", [[0, 0], [0, 1]] + [[0, 1]] * 10_000, 1, "it waits long enough"),
    ("path", LANE, "waits for ever", [[0, 0]] * 10_000, 0, "no cell is new"),
    ("path", LANE, "paces for ever", [[0, 0], [0, 1]] * 5000, 1 / 5, "one cell is new"),
    ("cheapest", COST, "all cells", [list(cell) for cell in product(range(3), range(5))], 0, "no path to the goal"),
    ("cheapest", COST, "teleport", [[0, 0], [2, 4]], 0, "no path to the goal"),
    ("cheapest", COST, "start and goal in turn", [[0, 0], [2, 4]] * 5000, 0, "no path to the goal"),
    ("route", ROUTE, "start and end", [[0, 1], [0, 4]], 0, "no move is right"),
    ("route", ROUTE, "all cells", [list(cell) for cell in product(range(4), range(6))], 0, "no move is right"),
    ("cells", POND, "all cells", ALL, 12 / 49, "as many as belong"),
    ("cells", POND, "all cells in both bases", [list(c) for c in product(range(8), repeat=2)], 12 / 64, "fewer belong"),
    ("cells", POND, "one cell", [[0, 0]] * 10_000, 1 / 12, "one of them"),
    ("cells", POND, "outside", [[90, 90]], 0, "nothing is right"),
    ("joint", BAY, "one walker only", {"A": PASSING["A"]}, 0.3, "half of each step up to the other walker"),
    ("joint", BAY, "wait for ever", {"A": [[0, 0]] * 9999, "B": [[0, 3]] * 9999}, 0, "nobody moves"),
    ("joint", BAY, "pace for ever", {"A": [[0, 0], [0, 1]] * 999, "B": [[0, 3], [0, 2]] * 999}, 1 / 5, "one new step"),
    ("joint", BAY, "teleport", {"A": [[0, 0], [0, 3]], "B": [[0, 3], [0, 0]]}, 0, "no step"),
    ("links", LINKS, "all cells for all", {n: [list(c) for c in product(range(4), range(5))] for n in "abc"}, 0,
     "no path between ends"),
    ("links", LINKS, "ends alone", {name: [list(c) for c in ends] for name, ends in LINKS.ends.items()}, 0, "jumps"),
    ("links", LINKS, "one path for all", dict.fromkeys("abc", ACROSS["a"]), 1 / 3, "it joins one pair"),
    ("links", LINKS, "straight lines", {"a": ACROSS["a"], "b": ACROSS["b"],
                                        "c": [[3, 0], [2, 0], [2, 1], [2, 2], [2, 3], [2, 4]]}, 2 / 3, "two are right"),
    ("groups", TRIOS, "all groups", [list(g) for g in combinations("ABCDEF", 3)], 3 / 20, "as many as belong"),
    ("groups", TRIOS, "one group again and again", [["A", "B", "C"]] * 10_000, 1 / 3, "one of them"),
    ("groups", TRIOS, "babble", [[BLIND.choice("ABCDEFGHIJ") for _ in range(3)] for _ in range(10_000)], 3 / 120,
     "all groups, more or less"),
    ("pairs", PAIRS, "all pairs", [list(p) for p in product(PEOPLE[:4], ("x1", "x2", "x3", "x4"))], 4 / 16, "as many"),
    ("pairs", PAIRS, "one partner for all", [[name, "x1"] for name in PEOPLE[:4]], 1 / 4, "one is right"),
    ("trail", ROADS, "all edges by name", [sorted(edge) for edge in sorted(ROADS.edges, key=sorted)], 2 / 12,
     "T0-T1 and T0-T11 are a trail"),
    ("trail", ROADS, "all pairs", [list(p) for p in combinations(TOWNS, 2)], 1 / 12, "the first is an edge"),
    ("trail", ROADS, "to and fro", [["T0", "T1"], ["T1", "T0"]] * 5000, 1 / 12, "the same edge"),
    ("kendall", STAR, "by name", sorted(STAR.order), 8 / 21, "as many pairs as are in that order"),
    ("kendall", STAR, "backwards", list(STAR.order[::-1]), 0, "every pair is wrong"),
    ("kendall", STAR, "one name", ["Gus"] * 10_000, 0, "no pair"),
    ("circular", STAR, "by name", sorted(STAR.order), 0.5, "about a chance order"),
    ("circular", STAR, "backwards", list(STAR.order[::-1]), 0, "equally far off under every turn"),
    ("circular", STAR, "one name", ["Gus"] * 10_000, 0, "the others are missing"),
    ("circular", STAR, "half of them", list(STAR.order[:4]), 0, "three whole rounds off"),
    ("ranking", TOP, "by name", sorted(PEOPLE), 1 / 3 * (0 + 1 / 3 + 2 / 4), "two of the top three, one place late"),
    ("ranking", TOP, "the second for all", ["Ada"] * 10_000, 1 / 3 * (0 + 1 / 3 + 1 / 5), "one of three"),
    ("ranking", TOP, "backwards", ["Edo", "Ada", "Cleo"], 4 / 9, "the right three, the least likely first"),
    ("number", NUMBER, "all numbers", list(range(100)), 0, "no number"),
    ("number", NUMBER, "all numbers in a text", " ".join(map(str, range(100))), 0, "no number"),
    ("text", CIPHER, "blanks alone", " " * len(CIPHER.text), 0, "no letter"),
    ("text", CIPHER, "the commonest letter in every word", "EEE EEEEE EEEE EEEE EEE EEE EEEE", 3 / 26, "three are E"),
    ("text", CIPHER, "the alphabet again and again", "ABCDEFGHIJKLMNOPQRSTUVWXYZ" * 400, 0.01, "chance"),
    ("grid", LETTERS, "black cells alone", ["####"] * 3, 0, "no letter"),
    ("grid", LETTERS, "one letter everywhere", ["OOOO"] * 3, 4 / 9, "four are O"),
    ("fields", SURVEY, "one name for all", dict.fromkeys(SURVEY.truth, "Ada"), 2 / 10, "two are Ada"),
    ("fields", SURVEY, "all names for all", {q: list(PEOPLE) for q in SURVEY.truth}, 0, "a list is no name"),
    ("fields", SURVEY, "all names in one text", dict.fromkeys(SURVEY.truth, " ".join(PEOPLE)), 0, "no name"),
    ("fields", FIELDS, "everything for all", {q: ["Ada", "Bela", "Cleo"] for q in FIELDS.truth}, 0, "none is that set"),
    ("fields", FIELDS, "nothing for all", {q: [] for q in FIELDS.truth}, 1 / 6, "one is nothing"),
    ("choices", CHOICES, "one time for all", dict.fromkeys(CHOICES.right, "09:00"), 1 / 2, "one may start then"),
    ("choices", CHOICES, "all times", {e: ["09:00", "10:00", "12:00"] for e in CHOICES.right}, 0, "no time"),
    ("choices", CHOICES, "babble", {f"event {n}": "09:00" for n in range(10_000)}, 0, "nobody asked"),
    ("bins", CRATES, "one bin for all", dict.fromkeys(CRATES.sizes, "B0"), 0, "it is too full"),
    ("bins", CRATES, "two by two", {f"i{n}": f"B{n // 2}" for n in range(8)}, 6 / 8, "i2 and i3 are to be apart"),
    ("constraints", CROSSED, "the same for all", dict.fromkeys(PEOPLE, "W"), 0, "no two are apart"),
    ("constraints", CROSSED, "two by turns", {n: "WX"[i % 2] for i, n in enumerate(PEOPLE)}, 4 / 6, "four of six are"),
    ("constraints", CROSSED, "all for all", {n: list("WXYZ") for n in PEOPLE}, 0, "no option"),
]  # fmt: skip


@pytest.mark.parametrize(
    ("rule", "key", "trick", "answer", "most", "why"), TRICKS, ids=[f"{t[0]}: {t[2]}" for t in TRICKS]
)
def test_no_trick_earns_more_than_its_worth(rule, key, trick, answer, most, why):
    assert scored(rule, key, answer) <= most + 1e-12, why


def test_every_rule_is_tried_with_tricks():
    assert {trick[0] for trick in TRICKS} == RULES.keys()


# Whatever a search can think of


class Hostile:
    """Raises whatever is asked of it, its class included; it hides behind the hash of a name."""

    def _refuse(self, *_: object) -> Any:
        raise RuntimeError("do not touch")

    __eq__ = __len__ = __iter__ = __getitem__ = __repr__ = __bool__ = __int__ = __lt__ = get = _refuse  # type: ignore[assignment]
    __class__ = property(_refuse)  # type: ignore[assignment]

    def __hash__(self) -> int:
        return hash("q1")


class HostileList(list[Any]):
    __len__ = __iter__ = __getitem__ = __eq__ = __bool__ = Hostile._refuse  # type: ignore[assignment]


class HostileDict(dict[Any, Any]):
    __len__ = __iter__ = __getitem__ = __eq__ = get = items = keys = Hostile._refuse  # type: ignore[assignment]


class HostileText(str):
    __eq__ = __len__ = casefold = upper = split = strip = Hostile._refuse  # type: ignore[assignment]
    __hash__ = str.__hash__


class HostileInt(int):
    __eq__ = __lt__ = __gt__ = __abs__ = __index__ = Hostile._refuse  # type: ignore[assignment]
    __hash__ = int.__hash__


def bottomless() -> list[Any]:
    inner: list[Any] = []
    for _ in range(20_000):
        inner = [inner]
    return inner


LOOP: list[Any] = []
LOOP.append(LOOP)
ODD: list[Any] = [
    None, True, False, 0, -1, 10**5000, -(10**5000), 0.5, math.nan, math.inf, 1j, ..., b"ab", "", " ", "\ud800",
    "x" * 9999, Hostile(), HostileList([[0, 0]]), HostileDict(q1="Ada"), HostileText("Ada"), HostileInt(3),
    bottomless(),
    LOOP, {Hostile(): Hostile()}, {HostileText("q1"): "Ada"}, {"q1": Hostile(), "A": [[HostileInt(0), 0]]},
    {("a",): 1, 1: 2, None: 3}, np.eye(2), np.int64(3), OrderedDict(q1="Ada"), {1, 2}, frozenset("ab"), range(3),
    iter([1]), [10**5000], [[10**5000, 0]], [[0.0, 1.0]], [[True, 0]], [["0", "0"]], [[0, 0], None], [[]], [[[0, 0]]],
    object, print,
]  # fmt: skip
NAMES = [*"ABabcX", "q1", "q2", "q5", "Ada", "Bela", "demo", "retro", "axe", "Mon", "09:00", "CAT#", "7"]


def odd_at(place: int) -> Any:
    """Hypothesis would print the list itself."""
    return ODD[place]


atoms = (
    st.integers(0, len(ODD) - 1).map(odd_at)
    | st.sampled_from(NAMES)
    | st.integers(-2, 8)
    | st.text(max_size=5)
    | st.floats()
)
cells = st.lists(st.lists(st.integers(-1, 5), min_size=2, max_size=2), max_size=8)
anything = st.recursive(
    atoms | cells,
    lambda inner: (
        st.lists(inner, max_size=4)
        | st.tuples(inner, inner)
        | st.dictionaries(st.sampled_from(NAMES), inner, max_size=5)
    ),
    max_leaves=10,
)


def sound(rule: str, key: Any, answer: Any) -> float:
    verdict = RULES[rule](key, answer)
    assert type(verdict.score) is float
    assert 0 <= verdict.score <= 1
    assert verdict.success is (verdict.score == 1)
    assert 0 < len(verdict.reason) < 1000
    assert len(json.dumps(verdict.where, allow_nan=False)) < 50_000
    return verdict.score


@pytest.mark.parametrize(("rule", "key", "right"), CASES)
def test_odd_values_earn_nothing_and_raise_nothing(rule, key, right):
    for odd in ODD:
        worth = sound(rule, key, odd)
        assert worth == 0 or rule == "text", repr(odd)[:99]
        for wrapped in ([odd], [odd] * 3, [[odd, odd]], [[odd] * 3]):
            assert sound(rule, key, wrapped) == 0 or type(odd) is int, "two numbers are a cell"
        if isinstance(right, list):
            assert sound(rule, key, [*right[:-1], odd]) < 1
        elif isinstance(right, dict):
            assert sound(rule, key, {Hostile(): odd}) == 0
            for name in right:
                same = type(odd) is int and right[name] == odd
                assert (sound(rule, key, {**right, name: odd}) == 1) is same


@pytest.mark.parametrize(("rule", "key", "right"), CASES)
@SEARCH
@given(data=st.data())
def test_nothing_raises_and_nothing_leaves_the_range(rule, key, right, data):
    answer = data.draw(anything)
    if isinstance(right, dict) and data.draw(st.booleans()):
        answer = {name: data.draw(anything) for name in right}
    elif isinstance(right, list) and data.draw(st.booleans()):
        answer = [data.draw(anything) if data.draw(st.booleans()) else part for part in right]
    sound(rule, key, answer)


@pytest.mark.parametrize(("rule", "key", "right"), CASES)
def test_a_hundred_thousand_parts_take_linear_time(rule, key, right):
    """A million take up to 5 s (docs/grading.md)."""
    many = 10**5
    answer: Any = 10 ** (10 * many)
    if isinstance(right, str):
        answer = right * many
    elif isinstance(right, list):
        answer = [*right[:-1], *right[:1] * many]
    elif isinstance(right, dict):
        answer = {f"Z{n}": "x" for n in range(many)}
        answer |= {name: value * many if isinstance(value, list) else value for name, value in right.items()}
    started = time.process_time()
    sound(rule, key, answer)
    assert time.process_time() - started < 5


def test_waiting_is_looked_at_for_so_long():
    assert sound("path", LANE, [[0, 0]] * (LONGEST - 3) + [[0, 1], [0, 2], [0, 3]]) == 1
    assert sound("path", LANE, [[0, 0]] * (LONGEST - 2) + [[0, 1], [0, 2], [0, 3]]) == 2 / 5
    away = {"A": [[0, 0]] * (LONGEST - 4) + [[0, 1], [1, 1], [0, 1], [0, 2]], "B": [[0, 3]] * (LONGEST - 4)}
    assert sound("joint", BAY, away) < 1


def test_names_and_numbers():
    assert [name_of(v) for v in ("  Ada  Byron ", "ADA", 7, -7, 7.0, True, None, "", " ", ["Ada"], 10**9)] == [
        "ada byron", "ada", "7", "-7", None, None, None, None, None, None, None,
    ]  # fmt: skip
    assert name_of("a" * 99 + "b") == name_of("a" * 99)
    assert name_of(10**9 - 1) == "999999999"
    assert [number_of(v) for v in (7, "7", " -7 ", "+7", 7.0, -0.0)] == [7, 7, -7, 7, 7, 0]
    for no in (7.5, "7.0", "", "seven", "7 8", "+-7", True, math.nan, math.inf, [7], None):
        assert number_of(no) is None
    assert number_of("9" * 18) == 10**18 - 1
    assert number_of("9" * 19) is None
    assert number_of("٣") is None
    assert quoted("x" * 500).startswith("'xxx")
    assert len(quoted(["x" * 500] * 500)) <= 80
    assert quoted(10**5000) == "some int"
    assert quoted([1] * 9) == "[1, 1, 1, 1, 1, 1, 1, 1, ...]"
    assert quoted([[[[1]]]]) == "[[[[...]]]]"
    assert quoted(Hostile) == repr(Hostile)


def test_what_does_not_belong_is_told_up_to_a_bound():
    wrong = [list(group) for group in combinations("GHIJKLMNOP", 3)]
    assert RULES["groups"](TRIOS, wrong).where["wrong"] == [[name.lower() for name in group] for group in wrong[:50]]


class Stub:
    """As much of a task as grading asks for."""

    rule = "number"

    def key(self, instance: int) -> NumberKey:
        return NumberKey(instance)


def test_no_answer_is_worth_nothing():
    task: Any = Stub()
    assert grade(task, 7, None) == Grade(0.0, False, "no answer")
    assert grade(task, 7, "7") == Grade(1.0, True, "is 7")
    assert grade(task, 7, 8) == Grade(0.0, False, "is 7, not 8")
    with pytest.raises(FrozenInstanceError):
        grade(task, 7, 7).score = 0.5  # type: ignore[misc]
