"""The grading rules against examples worked by hand, independent oracles, and whatever a search can think of."""

from __future__ import annotations

import json
import math
import random
import re
from collections.abc import Sequence
from dataclasses import replace
from itertools import combinations, pairwise, product
from statistics import mean
from typing import Any

import networkx as nx
import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from graders import RULES, fields, grade, paths
from tasks import Frame, all_tasks, get_task, grids, problem
from tasks.answers import Cell, ChoiceKey, FieldsKey
from tasks.frames import SCHEMES
from tasks.relational.relaquery import INVERSE, kinships
from tasks.spatial.maze import Maze

settings.register_profile("graders", deadline=None, derandomize=True, database=None, max_examples=150)
SEARCH = settings.get_profile("graders")
OPEN = Maze(("@......", *[".......",] * 5, "......*"))  # fmt: skip


def score(maze: Maze | Sequence[str], cells: Any) -> float:
    return grade(get_task("maze"), maze if isinstance(maze, Maze) else Maze(tuple(maze)), cells).score


# Paths, by hand


def test_published_examples(shared_path):
    """One valid move of twelve on a 7x7 grid, and one right cell of twelve."""
    worked = json.loads(shared_path("data/published/collaboration_tax.json").read_text())["worked_scores"]
    (maze,) = (w for w in worked if w["task"] == "maze")
    assert maze["optimal_moves"] == get_task("maze").key(OPEN).optimal
    assert round(score(OPEN, maze["answer"]), 3) == maze["score"]


def test_one_valid_move_of_twelve():
    assert get_task("maze").key(OPEN).optimal == 12
    verdict = grade(get_task("maze"), OPEN, [[0, 0], [0, 1]])
    assert verdict.score == 1 / 12
    assert not verdict.success
    assert verdict.reason == "stops at (0, 1) after 1 moves, short of the goal"
    assert verdict.where == {"walked": [[0, 0], [0, 1]], "broke": None, "scheme": 0}


YARD = ("#@#...", "..#...", "..#...", "......", "...#.*")  # a mirrored start is next to nothing here
SHORTEST = [(0, 1), (1, 1), (2, 1), (3, 1), (3, 2), (3, 3), (3, 4), (3, 5), (4, 5)]
WINDING = [(0, 1), (1, 1), (1, 0), (2, 0), *SHORTEST[2:]]


@pytest.mark.parametrize(
    ("name", "cells", "expected"),
    [
        ("success", SHORTEST, 1),
        ("the start left out", SHORTEST[1:], 1),
        ("longer but valid", WINDING, 1),
        ("cells after the goal", [*SHORTEST, (4, 5), (9, 9)], 1),
        ("the start alone", SHORTEST[:1], 0),
        ("the start twice", [(0, 1), *SHORTEST], 0),
        ("three moves", SHORTEST[:4], 3 / 8),
        ("three moves, the start left out", SHORTEST[1:4], 3 / 8),
        ("all but the goal", SHORTEST[:-1], 7 / 8),
        ("longer than a shortest one, short of the goal", WINDING[:-1], 7 / 8),
        ("there and back", [(0, 1), (1, 1), (0, 1), (1, 1)], 1 / 8),
        ("to and fro all day", [(0, 1), (1, 1)] * 50, 1 / 8),
        ("into a wall", [(0, 1), (1, 1), (1, 2), (1, 3)], 1 / 8),
        ("out of the grid", [(0, 1), (-1, 1), (0, 1)], 0),
        ("a jump", [(0, 1), (1, 1), (3, 1), (3, 2)], 1 / 8),
        ("a jump to the goal", [(0, 1), (4, 5)], 0),
        ("across a corner", [(0, 1), (1, 0), (1, 1)], 0),
        ("the right cells in another order", [SHORTEST[0], *SHORTEST[2:], SHORTEST[1]], 0),
        ("backwards, which is a walk from (1, 1) where both axes are turned and count from 1", SHORTEST[::-1], 2 / 8),
        ("a pause", [(0, 1), (1, 1), (1, 1), (2, 1)], 1 / 8),
    ],
)
def test_worked_paths(name, cells, expected):
    assert score(YARD, [list(c) for c in cells]) == pytest.approx(expected)


def test_no_leak_through_a_corner_of_walls():
    open_ = get_task("maze").key(Maze(("@..", "...", "..*")))
    corner = ((0, 1), (1, 0))
    key = replace(open_, step=lambda walked, cell: "hits a wall" if cell in corner else open_.step(walked, cell))
    for cells in ([(0, 0), (1, 1)], [(0, 0), (1, 1), (1, 2), (2, 2)], [(0, 0), (0, 1)], [(0, 0), (1, 0), (1, 1)]):
        assert paths.path(key, cells).score == 0


def test_free_cells_listed_row_by_row_are_no_path():
    """A kind of answer that real models give: whatever is free, in reading order, walls left out."""
    rows = ("@#..", "....", "..#.", "...*")
    listed = [(r, c) for r, row in enumerate(rows) for c, mark in enumerate(row) if mark != "#"]
    assert listed[:3] == [(0, 0), (0, 2), (0, 3)]
    assert score(rows, listed) == 0
    rows = ("@..#", "....", "..#.", "...*")
    listed = [(r, c) for r, row in enumerate(rows) for c, mark in enumerate(row) if mark != "#"]
    assert score(rows, listed) == 2 / 6, "the first row is a walk, then it jumps back"


def test_reason_says_which_move_broke_and_why():
    task = get_task("maze")
    for cells, reason, broke in (
        ([[0, 1], [1, 1], [1, 2]], "move 2: (1, 1) -> (1, 2) hits a wall", [1, 2]),
        ([[0, 1], [1, 1], [2, 1], [4, 1]], "move 3: (2, 1) -> (4, 1) is no step to a cell that shares a side", [4, 1]),
        ([[0, 1], [1, 1], [0, 1]], "move 2: (1, 1) -> (0, 1) returns to a cell already walked", [0, 1]),
        ([[0, 1], [1, 1], [1, 0], [1, -1]], "move 3: (1, 0) -> (1, -1) leaves the grid", [1, -1]),
    ):
        verdict = grade(task, Maze(YARD), cells)
        assert verdict.reason == reason
        assert verdict.where["broke"] == broke
    assert grade(task, Maze(YARD), SHORTEST).reason == "reaches the goal in 8 moves (shortest 8)"


# Sixteen schemes

LONG = Maze(("@...#", "##..#", "....*"))  # three rows, five columns
LONG_WALK = [(0, 0), (0, 1), (0, 2), (1, 2), (2, 2), (2, 3), (2, 4)]


def test_rows_and_columns_mixed_up_on_a_board_that_is_not_square():
    """As (x, y) the same walk leaves the board when it is read as (row, column)."""
    verdict = grade(get_task("maze"), LONG, [[c, r] for r, c in LONG_WALK])
    assert verdict.success
    assert SCHEMES[verdict.where["scheme"]].order == (1, 0)
    assert verdict.where["walked"] == [list(c) for c in LONG_WALK]


@pytest.mark.parametrize("scheme", SCHEMES)
@pytest.mark.parametrize(("maze", "cells"), [(LONG, LONG_WALK), (Maze(YARD), SHORTEST)], ids=["3x5", "5x6"])
def test_any_scheme_will_do(maze, cells, scheme):
    height, width = len(maze.rows), len(maze.rows[0])
    told = [list(scheme.write(c, (height, width))) for c in cells]
    assert score(maze, told) == score(maze, told[1:]) == 1
    best = len(cells) - 1
    assert score(maze, told[:3]) == 2 / best
    assert score(maze, told[:-1]) == (best - 1) / best


def test_one_scheme_for_the_whole_answer():
    """A walk that changes its scheme half way is a walk only up to there."""
    for scheme in SCHEMES[1:]:
        told = [list(scheme.write(c, (3, 5))) for c in LONG_WALK]
        assert score(LONG, [list(c) for c in LONG_WALK[:3]] + told[3:]) < 1


def test_a_scheme_that_leaves_the_board_is_of_no_use():
    assert score(("@....", ".....", "....*"), [[0, 0], [0, 1], [0, 2], [0, 3], [0, 4]]) == 4 / 6
    assert score(("@....", ".....", "....*"), [[0, 0], [1, 0], [2, 0], [3, 0], [4, 0]]) == 4 / 6  # swapped
    assert score(("@....", ".....", "....*"), [[0, 0], [0, 1], [0, 2], [0, 3], [0, 4], [0, 5]]) == 4 / 6
    assert score(("@..", "...", "..*"), [[0, 0], [0, 1], [0, 2], [0, 3]]) == 2 / 4


# Paths, by other means


@st.composite
def boards(draw: st.DrawFn, most: int = 4) -> Maze:
    """Small boards of any shape on which the goal can be reached, mirror images of start and goal included."""
    height, width = draw(st.integers(2, most)), draw(st.integers(2, most))
    marks = draw(st.lists(st.sampled_from("...#"), min_size=height * width, max_size=height * width))
    start, goal = draw(st.lists(st.integers(0, height * width - 1), min_size=2, max_size=2, unique=True))
    marks[start], marks[goal] = "@", "*"
    maze = Maze(tuple("".join(marks[r * width : (r + 1) * width]) for r in range(height)))
    if not nx.has_path(free_cells(maze), grids.find(maze.rows, "@"), grids.find(maze.rows, "*")):
        rows = [row.replace("#", ".") for row in maze.rows]
        maze = Maze(tuple(rows))
    return maze


def free_cells(maze: Maze) -> nx.Graph:
    height, width = len(maze.rows), len(maze.rows[0])
    graph = nx.grid_2d_graph(height, width)
    graph.remove_nodes_from([(r, c) for r, c in product(range(height), range(width)) if maze.rows[r][c] == "#"])
    return graph


def naive_score(maze: Maze, cells: Sequence[Sequence[int]]) -> float:
    """Best of the eight symmetries of the board times two index bases, each scored move by move on a graph."""
    graph, start, goal = free_cells(maze), grids.find(maze.rows, "@"), grids.find(maze.rows, "*")
    best = nx.shortest_path_length(graph, start, goal)
    board = np.empty((len(maze.rows), len(maze.rows[0])), dtype=object)
    for cell in np.ndindex(board.shape):
        board[cell] = cell
    found = 0.0
    for turns, mirrored, base in product(range(4), (False, True), (0, 1)):
        image = np.rot90(board.T if mirrored else board, turns)
        at = {(a + base, b + base): image[a, b] for a, b in np.ndindex(image.shape)}
        read: list[Cell | None] = [at.get((a, b)) for a, b in cells]
        if read[0] != start:
            read.insert(0, start)
        moves = 0
        while moves + 1 < len(read) and read[moves] != goal:
            step = read[moves + 1]
            if step in read[: moves + 1] or not graph.has_edge(read[moves], step):
                break
            moves += 1
        found = max(found, min(moves, best) / best if read[moves] == goal else min(moves, best - 1) / best)
    return found


@SEARCH
@given(boards(), st.lists(st.tuples(st.integers(-1, 5), st.integers(-1, 5)), min_size=1, max_size=8))
def test_any_cells_score_as_on_a_graph(maze, cells):
    assert score(maze, cells) == pytest.approx(naive_score(maze, cells))


@SEARCH
@given(boards(), st.randoms(use_true_random=False), st.sampled_from(SCHEMES), st.integers(0, 3))
def test_walks_score_as_on_a_graph(maze, rng, scheme, errors):
    """Random walks, told in any scheme, with some cells wrong or missing."""
    height, width = len(maze.rows), len(maze.rows[0])
    cells = [scheme.write(c, (height, width)) for c in random_walk(rng, grids.find(maze.rows, "@"), 12, height, width)]
    for _ in range(errors):
        at = rng.randrange(len(cells))
        cells[at : at + 1] = [] if rng.random() < 0.5 and len(cells) > 1 else [(rng.randrange(4), rng.randrange(4))]
    assert score(maze, cells) == pytest.approx(naive_score(maze, cells))


@pytest.mark.parametrize(
    "rows", [("@..", "...", "..*"), ("@.#.", "...*", "#..."), (".#.", "@..", "..*", "#.."), ("#.@", "...", "*#.")]
)
def test_every_simple_path_of_a_small_board(rows):
    """All of them, enumerated: the score is what the definition says, and 1 exactly at the goal."""
    maze = Maze(rows)
    graph, key = free_cells(maze), get_task("maze").key(maze)
    to_goal = list(nx.all_simple_paths(graph, key.start, key.goal))
    assert key.optimal == min(map(len, to_goal)) - 1
    assert all(score(maze, path) == 1 for path in to_goal)
    seen = 0
    for end in sorted(graph.nodes - {key.start, key.goal}):
        for path in nx.all_simple_paths(graph.subgraph(graph.nodes - {key.goal}), key.start, end):
            expected = min(len(path) - 1, key.optimal - 1) / key.optimal
            assert paths.path_score(key, path) == pytest.approx(expected)
            assert paths.walk(key, path, scheme=0, skipped=1) == (path, None, "", 0)
            assert score(maze, path) == pytest.approx(naive_score(maze, path))
            assert score(maze, path) >= expected - 1e-12
            seen += 1
    assert seen >= 10


@pytest.mark.parametrize("difficulty", ["easy", "default", "hard"])
def test_optimal_is_what_networkx_finds(difficulty):
    task = get_task("maze")
    for seed in range(120):
        maze = problem(task, seed, difficulty).instance
        graph, key = free_cells(maze), task.key(maze)
        assert key.optimal == nx.shortest_path_length(graph, grids.find(maze.rows, "@"), grids.find(maze.rows, "*"))
        walk = [tuple(cell) for cell in task.solve(maze)]
        assert nx.is_simple_path(graph, walk)
        assert (walk[0], walk[-1], len(walk) - 1) == (key.start, key.goal, key.optimal)
        assert grade(task, maze, nx.shortest_path(graph, key.start, key.goal)).success, "another optimum"


@SEARCH
@given(boards(), st.randoms(use_true_random=False), st.sampled_from(SCHEMES), st.integers(1, 12))
def test_more_of_a_path_never_scores_less(maze, rng, scheme, length):
    height, width = len(maze.rows), len(maze.rows[0])
    walk = random_walk(rng, grids.find(maze.rows, "@"), length, height, width)
    cells = [scheme.write(c, (height, width)) for c in walk]
    cells.insert(rng.randrange(len(cells) + 1), (rng.randrange(5), rng.randrange(5)))
    scores = [score(maze, cells[:n]) for n in range(1, len(cells) + 1)]
    assert scores == sorted(scores)


def random_walk(rng: Any, start: Cell, moves: int, height: int, width: int) -> list[Cell]:
    """Inside the board, walls unseen, no cell twice."""
    cells = [start]
    for _ in range(moves):
        r, c = cells[-1]
        open_ = [
            (a, b)
            for a, b in ((r - 1, c), (r + 1, c), (r, c - 1), (r, c + 1))
            if 0 <= a < height and 0 <= b < width and (a, b) not in cells
        ]
        if not open_:
            break
        cells.append(rng.choice(open_))
    return cells


def test_chance_of_a_random_walk_is_measured(record_property):
    """What the best of sixteen schemes gives to walks that know nothing but the size of the board, or the start too."""
    task, gained = get_task("maze"), {}
    for name in ("start", "anywhere"):
        best, ours, wins = [], [], 0
        for seed in range(120):
            maze, rng = problem(task, seed).instance, random.Random(seed)
            key = task.key(maze)
            for _ in range(8):
                start = key.start if name == "start" else (rng.randrange(7), rng.randrange(7))
                cells = random_walk(rng, start, key.optimal, 7, 7)
                verdict = grade(task, maze, cells)
                best.append(verdict.score)
                wins += verdict.success
                ours.append(paths.path_score(key, paths.walk(key, cells, 0, int(cells[0] == key.start)).cells))
        gained[name] = mean(best), mean(ours), wins / len(best)
        print(f"random walks from {name}: best of 16 {mean(best):.3f}, one scheme {mean(ours):.3f}")
        record_property(f"chance_from_{name}", round(mean(best), 3))
    assert 0.22 < gained["start"][0] < 0.36
    assert 0.18 < gained["start"][1] < 0.30
    assert 0.08 < gained["anywhere"][0] < 0.20
    assert gained["anywhere"][1] < 0.05
    assert all(best >= one and wins < 0.01 for best, one, wins in gained.values())


# Kinship, by other means

WORD = {
    "d": "parent", "u": "child", "ud": "sibling", "dd": "grandparent", "uu": "grandchild", "udd": "aunt_or_uncle",
    "uud": "niece_or_nephew", "uudd": "cousin",
}  # fmt: skip


def naive_kinships(edges: Sequence[tuple[str, str]], x: str, y: str) -> set[str]:
    """Every way from `x` to `y` up and down the family, spelled in letters."""
    family = nx.DiGraph(edges)
    if x not in family or y not in family or x == y:
        return set()
    ways = nx.all_simple_paths(family.to_undirected(), x, y, cutoff=4)
    spelled = {"".join("d" if family.has_edge(a, b) else "u" for a, b in pairwise(w)) for w in ways}
    return {WORD[way] for way in spelled if way in WORD}


def random_family(rng: random.Random) -> list[tuple[str, str]]:
    sizes = [rng.randint(1, 4) for _ in range(rng.randint(2, 4))]
    layers = [[f"{chr(65 + g)}{i}" for i in range(n)] for g, n in enumerate(sizes)]
    return sorted({
        (parent, child)
        for older, younger in pairwise(layers)
        for child in younger
        for parent in rng.sample(older, min(len(older), rng.choice((0, 1, 1, 2))))
    })  # fmt: skip


def test_kinships_are_the_ways_through_the_family():
    seen = set()
    for seed in range(250):
        edges = random_family(random.Random(seed))
        people = sorted({p for edge in edges for p in edge})
        for x, y in product(people, repeat=2):
            if x != y:
                found = kinships(tuple(edges), x, y)
                assert len(found) == len(set(found))
                assert set(found) == naive_kinships(edges, x, y), (edges, x, y)
                assert {INVERSE[r] for r in found} == set(kinships(tuple(edges), y, x))
                seen |= set(found)
    assert seen == set(INVERSE) == set(WORD.values())


@pytest.mark.parametrize("difficulty", ["easy", "default", "hard"])
def test_every_query_has_one_answer_and_no_agent_has_it(difficulty):
    task = get_task("relaquery")
    kinds, known, asked = set(), 0, 0
    for seed in range(60):
        one = problem(task, seed, difficulty)
        family = nx.DiGraph(one.instance.edges)
        assert nx.is_directed_acyclic_graph(family)
        assert not set(one.views[0].edges) & set(one.views[1].edges)
        truth = task.key(one.instance).truth
        assert len({frozenset(pair[1:]) for pair in one.instance.queries}) == len(truth)
        for name, x, y in one.instance.queries:
            assert naive_kinships(one.instance.edges, x, y) == {truth[name][1]}
            assert (truth[name][0], truth[name][2]) == (x, y)
            known += sum(bool(naive_kinships(v.edges, x, y)) for v in one.views)
            asked += 2
            kinds.add(truth[name][1])
    assert known / asked < 0.1
    assert kinds == set(INVERSE) - {"parent", "child"}


# Schedules, by other means


def free_minutes(text: str) -> tuple[dict[str, set[int]], dict[str, list[str]]]:
    """A second reader of the plain frame: for everybody the free minutes of the day, and whom each event needs."""
    people: dict[str, set[int]] = {}
    events: dict[str, list[str]] = {}
    for line in text.splitlines():
        if " needs " in line:
            event, _, names = line.partition(" needs ")
            events[event] = names.split(", ")
        elif "free " in line:
            spans = re.findall(r"(\d\d):(\d\d)-(\d\d):(\d\d)", line)
            people[line.split()[0]] = {
                m for a, b, c, d in spans for m in range(int(a) * 60 + int(b), int(c) * 60 + int(d))
            }
    return people, events


@pytest.mark.parametrize("difficulty", ["easy", "default", "hard"])
def test_feasible_starts_are_those_with_sixty_free_minutes(difficulty):
    task = get_task("schedule")
    for seed in range(60):
        one = problem(task, seed, difficulty)
        people, events = free_minutes(task.render(one.instance, Frame("none")))
        feasible = task.key(one.instance).right
        assert set(events) == set(feasible)
        assert len(set(task.solve(one.instance).values())) == len(events), "two events share their only start"
        for event, names in events.items():
            starts = [m for m in range(0, 24 * 60, 60) if all(set(range(m, m + 60)) <= people[name] for name in names)]
            assert feasible[event] == {f"{m // 60:02d}:00" for m in starts}, (seed, event)
            assert len(starts) == 1
            for view in one.views:
                some, _ = free_minutes(task.render(view, Frame("none")))
                mine = [n for n in names if n in some]
                assert mine
                assert len(mine) < len(names), "an event that one agent can place alone"


SLOTS = ChoiceKey({"demo": frozenset({"09:00", "10:00"}), "retro": frozenset({"12:00"})})


@pytest.mark.parametrize(
    ("answer", "expected"),
    [
        ({"demo": "09:00", "retro": "12:00"}, 1), ({"retro": "12:00", "demo": "10:00"}, 1),
        ({"demo": "09:00", "retro": "13:00"}, 0.5), ({"retro": "12:00"}, 0.5), ({"demo": "12:00"}, 0),
        ({"demo": ["09:00", "10:00"], "retro": {"12:00"}}, 0), ({"demo": None, "retro": 12}, 0),
        ({"Z9": "09:00", "demo": "09:00"}, 0.5), ([["demo", "09:00"], ["retro", "12:00"]], 0), ("demo 09:00", 0),
    ],
)  # fmt: skip
def test_worked_schedules(answer, expected):
    verdict = fields.choices(SLOTS, answer)
    assert (verdict.score, verdict.success) == (expected, expected == 1)


QUERIES = FieldsKey({"q1": ("Ada", "cousin", "Bela"), "q2": ("Cleo", "sibling", "Dima")})


@pytest.mark.parametrize(
    ("answer", "expected"),
    [
        ({"q1": ["Ada", "cousin", "Bela"], "q2": ("Cleo", "sibling", "Dima")}, 1),
        ({"q2": ["Cleo", "sibling", "Dima"], "q3": ["Ada", "cousin", "Bela"]}, 0.5),
        ({"q1": ["Bela", "cousin", "Ada"], "q2": ["Cleo", "sibling"]}, 0),
        ({"q1": ["Ada", "cousin", "Bela", "Bela"], "q2": ["Cleo", "sibling", "Dima"]}, 0.5),
        ({"q1": "Ada cousin Bela", "q2": {"Cleo": "sibling"}}, 0), ({"q1": "cousin"}, 0),
        ({"q1": {"Ada", "cousin", "Bela"}}, 0), ({"q1": np.array(["Ada", "cousin", "Bela"])}, 0),
        ({"q1": [np.array([1, 2]), np.array([1, 2]), 3]}, 0), ([["Ada", "cousin", "Bela"]] * 2, 0),
    ],
)  # fmt: skip
def test_worked_queries(answer, expected):
    verdict = fields.fields(QUERIES, answer)
    assert (verdict.score, verdict.success) == (expected, expected == 1)


def test_reasons_name_the_first_loss():
    assert fields.choices(SLOTS, {"demo": "11:00"}).reason == "0 of 2 items right; demo cannot be '11:00'"
    assert fields.choices(SLOTS, {"demo": "09:00"}).reason == "1 of 2 items right; retro has no value"
    assert fields.choices(SLOTS, {"demo": "09:00"}).where == {"right": ["demo"], "wrong": ["retro"]}
    said = fields.fields(QUERIES, {"q1": ["Ada", "cousin", "Bela"], "q2": 10**5000})
    assert said.reason == "1 of 2 items right; q2 is Cleo sibling Dima, not some int"
    assert said.where == {"right": ["q1"], "wrong": ["q2"]}
    assert grade(get_task("maze"), OPEN, None).reason == "no answer"


# Whatever a search can think of

longs = st.sampled_from([1, -1]).map(lambda sign: sign * 10**5000)  # too long to be printed
scalars = (
    st.none() | st.booleans() | st.integers() | st.integers(-9, 9) | st.floats() | st.text(max_size=8)
    | st.sampled_from(["q1", "demo", "review", "09:00", "Ada", "cousin", math.nan, "\ud800"]) | longs
)  # fmt: skip
jsonish = st.recursive(
    scalars,
    lambda inner: st.lists(inner, max_size=5) | st.dictionaries(st.text(max_size=4) | st.just("q1"), inner, max_size=5),
    max_leaves=12,
)
anything = st.recursive(
    scalars | st.binary(max_size=4) | st.complex_numbers() | st.decimals() | st.fractions() | st.dates() | st.uuids()
    | st.builds(object) | st.just(range(4)) | st.sampled_from([int, len, ..., NotImplemented, np.int64(3), np.eye(2)]),
    lambda inner: st.lists(inner, max_size=4) | st.tuples(inner, inner) | st.lists(inner, max_size=3).map(iter)
    | st.dictionaries(scalars, inner, max_size=4) | st.sets(scalars, max_size=3) | st.frozensets(scalars, max_size=3),
    max_leaves=10,
)  # fmt: skip
cell_lists = st.lists(
    st.lists(st.integers(-2, 9) | longs, min_size=2, max_size=2) | st.lists(scalars, max_size=3), max_size=9
)


def worth(task: Any, answer: Any) -> float:
    instance = problem(task, 0).instance
    verdict = grade(task, instance, answer)
    assert 0 <= verdict.score <= 1
    assert verdict.success is (verdict.score == 1)
    assert verdict.reason
    json.dumps(verdict.where, allow_nan=False)
    return verdict.score


@pytest.mark.parametrize("task", all_tasks(), ids=lambda t: t.name)
@settings(SEARCH, suppress_health_check=[HealthCheck.too_slow])
@given(answer=jsonish | anything | cell_lists)
def test_nothing_raises(task, answer):
    assert worth(task, answer) < 1


@pytest.mark.parametrize("task", [t for t in all_tasks() if t.rule != "number"], ids=lambda t: t.name)
@settings(SEARCH, max_examples=30, suppress_health_check=[HealthCheck.too_slow])
@given(data=st.data())
def test_parts_of_the_answer_with_anything_in_between(task, data):
    """Keeping some parts of the right answer and putting anything in place of the others earns less than all of it."""
    right = task.solve(problem(task, 0).instance)
    parts = sorted(right) if isinstance(right, dict) else range(len(right))
    spoil = data.draw(st.sets(st.sampled_from(parts), min_size=1))
    filled = {p: data.draw(jsonish | anything) for p in sorted(spoil)}
    if isinstance(right, dict):
        answer: Any = {name: filled.get(name, value) for name, value in right.items()}
        if task.rule in ("fields", "choices"):  # each item is worth the same, whatever the others are
            assert worth(task, answer) == pytest.approx(1 - len(spoil) / len(right))
        else:
            assert worth(task, answer) < 1
    else:
        answer = [filled.get(at, value) for at, value in enumerate(right)]
        assert worth(task, answer) < 1


def test_babble_costs_no_time_and_earns_nothing():
    """Very long answers of every kind, the longest that a reply could hold."""
    everywhere = [[r, c] for r, c in product(range(7), repeat=2)]
    task, scores = get_task("maze"), []
    for seed in range(30):
        maze = problem(task, seed).instance
        scores.append(score(maze, everywhere))
        assert score(maze, everywhere * 60) == scores[-1]
    assert mean(scores) < 0.2
    task = get_task("relaquery")
    instance = problem(task, 0).instance
    names = sorted({p for e in instance.edges for p in e})
    every = {f"q{i}": [x, r, y] for i, (r, (x, y)) in enumerate(product(sorted(INVERSE), combinations(names, 2)))}
    assert worth(task, every) <= 0.25
    assert set(RULES) >= {t.rule for t in all_tasks()}
