"""The cooperative Crafter: its rules on maps drawn by hand, its numbers against the specification, its parts against
other ways to compute them, and its determinism."""

from __future__ import annotations

import hashlib
import os
import random
import subprocess
import sys
from dataclasses import replace
from itertools import pairwise, permutations, product
from types import MappingProxyType
from xml.etree import ElementTree

import networkx
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tasks.worlds.cooperation import Call, Forecast, score
from tasks.worlds.crafter import bits, script
from tasks.worlds.crafter.engine import CrafterState, mark_at
from tasks.worlds.crafter.generation import generate
from tasks.worlds.crafter.observation import nearest
from tasks.worlds.crafter.rules import (
    DIRECTIONS,
    INDEX,
    ITEMS,
    MARKS,
    NAMES,
    STEPS,
    UNSEEN,
    WALKABLE,
    Cow,
    Cows,
    Rules,
    Terrain,
)
from tasks.worlds.crafter.tools import walk
from tasks.worlds.crafter.world import Crafter

PLAIN = Rules(herd=replace(Cows(), start=0, spawn=0))  # no cows come


def board(*chart: str, **settings: object) -> Crafter:
    team = sum(mark.isdigit() for row in chart for mark in row)
    return Crafter(team=team, chart=chart, **{"rules": PLAIN, **settings})  # type: ignore[arg-type]


def given_items(state: CrafterState, seat: int, **items: int) -> CrafterState:
    agents = list(state.agents)
    counts = [items.get(item, 0) for item in ITEMS]
    agents[seat] = agents[seat]._replace(items=tuple(counts))
    return replace(state, agents=tuple(agents))


def changed(state: CrafterState, seat: int, **fields: object) -> CrafterState:
    agents = list(state.agents)
    agents[seat] = agents[seat]._replace(**fields)
    return replace(state, agents=tuple(agents))


def held(world: Crafter, state: CrafterState, seat: int = 0) -> dict[str, int]:
    return dict(world.inventory(state, world.agents[seat]))


def everybody(world: Crafter, action: str) -> dict[str, str]:
    return dict.fromkeys(world.agents, action)


def run(world: Crafter, state: CrafterState, agent: str, call: str, limit: int = 100) -> tuple[CrafterState, str, str]:
    """The state after a call alone, its outcome and reason."""
    running = world.start(world.parse_call(call), state, agent)
    for _ in range(limit):
        progress = world.advance(running, state)
        if progress.primitive is None:
            return state, progress.outcome, progress.reason
        running = progress.running
        state = world.step(state, {agent: progress.primitive})
    raise AssertionError(f"{call} does not end")


# technology: the two tables of the specification, written out again


@pytest.mark.parametrize(
    ("mark", "tool", "item", "left"),
    [
        ("Y", "", "wood", "."),
        ("#", "wood_pickaxe", "stone", "_"),
        ("c", "wood_pickaxe", "coal", "_"),
        ("i", "stone_pickaxe", "iron", "_"),
        ("d", "iron_pickaxe", "diamond", "_"),
        ("o", "wood_pickaxe", "stone", "_"),
    ],
)
def test_what_resources_need_give_and_leave(mark: str, tool: str, item: str, left: str) -> None:
    world = board(".0.", f"1{mark}2", ".3.")
    bare = world.initial(0)
    acts = {"agent_0": "collect down", "agent_1": "collect right", "agent_2": "collect left", "agent_3": "collect up"}
    ready = bare
    for seat in range(4):
        ready = given_items(ready, seat, **({tool: 1} if tool else {}))
    after = world.step(ready, acts)
    assert mark_at(after.rows, 1, 1) == left
    assert all(held(world, after, seat) == {item: 1, **({tool: 1} if tool else {})} for seat in range(4))
    if tool:
        assert tool in world.refusal(bare, "agent_0", "collect down")
        without = world.step(bare, acts)
        assert without.rows == bare.rows
        assert held(world, without) == {}
        assert tool in world.feedback(without, "agent_0")


COSTS = {
    "make wood_pickaxe": {"wood": 1},
    "make wood_sword": {"wood": 1},
    "make stone_pickaxe": {"wood": 1, "stone": 1},
    "make stone_sword": {"wood": 1, "stone": 1},
    "make iron_pickaxe": {"wood": 1, "coal": 1, "iron": 1},
    "make iron_sword": {"wood": 1, "coal": 1, "iron": 1},
    "place table": {"wood": 2},
    "place furnace": {"stone": 4},
    "place stone": {"stone": 1},
}


@pytest.mark.parametrize("action", COSTS)
def test_every_cost(action: str) -> None:
    world, cost = board("TF.", "..0", "..."), COSTS[action]
    world = board("TF.", ".0.", "...")
    start = world.initial(0)
    product = action.split()[1] if action.startswith("make") else ""
    exact = given_items(start, 0, **cost)
    assert world.refusal(exact, "agent_0", action) == ""
    assert held(world, world.step(exact, {"agent_0": action})) == ({product: 1} if product else {})
    for item in cost:
        short = given_items(start, 0, **{**cost, item: cost[item] - 1})
        assert item in world.refusal(short, "agent_0", action)
        after = world.step(short, {"agent_0": action})
        assert (held(world, after), after.rows) == (held(world, short), short.rows)


@pytest.mark.parametrize("action", [action for action in COSTS if action.startswith("make")])
def test_stations_must_be_near_diagonals_included(action: str) -> None:
    def allowed(*chart: str) -> bool:
        world = board(*chart)
        state = given_items(world.initial(0), 0, **COSTS[action])
        after = world.step(state, {"agent_0": action})
        made = held(world, after).get(action.split()[1], 0) == 1
        assert made == (world.refusal(state, "agent_0", action) == "")
        return made

    with_iron = "iron" in action
    assert allowed("T...", ".0..", "..F.", "....")
    assert allowed("T...", ".0..", "....", "....") == (not with_iron)
    assert not allowed("F...", ".0..", "....", "....")
    assert not allowed("T...", "....", "..0.", "...F")


def test_placing_needs_the_right_ground_and_no_body() -> None:
    onto = {"stone": "._:~l", "table": "._:", "furnace": "._:"}
    for item, mark in product(onto, NAMES):
        world = board("...", ".0.", f".{mark}.")  # agents face down at first
        state = given_items(world.initial(0), 0, **COSTS[f"place {item}"])
        after = world.step(state, {"agent_0": f"place {item}"})
        assert (mark_at(after.rows, 1, 2) == {"stone": "o", "table": "T", "furnace": "F"}[item]) == (
            mark in onto[item] or (item, mark) in (("stone", "o"), ("table", "T"), ("furnace", "F"))
        )
        assert bool(held(world, after)) == (mark not in onto[item])
    for body in "1w":
        world = board("...", ".0.", f".{body}.")
        state = given_items(world.initial(0), 0, stone=1)
        assert "in front of you" in world.refusal(state, "agent_0", "place stone")
        assert held(world, world.step(state, {"agent_0": "place stone"})) == {"stone": 1}


def test_two_who_place_on_the_same_cell() -> None:
    world = board("0.1")
    state = world.initial(0)
    for seat, facing in ((0, 3), (1, 2)):
        state = changed(given_items(state, seat, stone=1), seat, facing=facing)
    after = world.step(state, everybody(world, "place stone"))
    assert after.rows == (".o.",)
    assert held(world, after, 0) != held(world, after, 1)


def test_a_placed_stone_scores_nothing_and_is_no_task() -> None:
    world = board("0.", "..")
    state = given_items(world.initial(0), 0, stone=1, wood_pickaxe=1)
    state = world.step(state, {"agent_0": "place stone"})
    assert world.tasks(state) == ()
    after = world.step(state, {"agent_0": "collect down"})
    assert held(world, after)["stone"] == 1
    assert (after.score, after.completions) == (0, ())


def test_items_are_bounded() -> None:
    world = board("0Y", "T.")
    full = given_items(world.initial(0), 0, wood=20)
    after = world.step(full, {"agent_0": "collect right"})
    assert held(world, after) == {"wood": 20}
    assert after.score == 1  # collected all the same
    tools = given_items(world.initial(0), 0, wood=1, wood_sword=20)
    assert "hold 20" in world.refusal(tools, "agent_0", "make wood_sword")


# vitals


def test_an_idle_agent_wastes_away_as_measured() -> None:
    world = board("0", limit=400)
    state = world.initial(0)
    vitals = [state.agents[0].vitals]
    while not world.is_over(state) and not world.is_cut(state):
        state = world.step(state, {})
        vitals.append(state.agents[0].vitals)
    health, food, drink, energy = zip(*vitals, strict=True)
    assert vitals[200] == (9, 2, 0, 3)  # 7 food, 9 drink, 6 energy lost
    assert [t for t in range(1, 201) if food[t] < food[t - 1]] == [26, 52, 78, 104, 130, 156, 182]
    assert drink.index(0) == 189
    assert [t for t in range(1, 201) if energy[t] < energy[t - 1]] == [31, 62, 93, 124, 155, 186]
    # recovery is reset at 182, 6 at step 188, then falls by 1 a step and passes -15 for the first time at step 210
    assert health.index(8) == 210
    assert health.index(7) == 226
    assert health[-1] == 0  # nine times: 210 + 8 * 16
    assert len(vitals) - 1 == 338
    assert world.is_over(state)
    assert world.living(state) == ()


def test_sleep_lasts_until_energy_is_full() -> None:
    world = board("0")
    state = changed(world.initial(0), 0, vitals=(9, 9, 9, 8), counters=(0, 0, 20, 0))
    assert "not tired" in world.refusal(world.initial(0), "agent_0", "sleep")
    after, outcome, _ = run(world, state, "agent_0", "sleep()")
    # asleep from step 2 on: fatigue falls to 0, then by 1; energy comes when it passes -10, after 1 + 11 steps
    assert (after.step, outcome) == (13, "success")
    assert after.agents[0].vitals[3] == 9
    assert not after.agents[0].asleep
    # hunger: 1 in the step of falling asleep, then 12 x 0.5; recovery: 1, then 12 x 2
    assert after.agents[0].counters == (7, 7, 0, 25)
    asleep = world.step(state, {"agent_0": "sleep"})
    assert world.legal(asleep, "agent_0") == ("noop",)
    assert world.step(asleep, {"agent_0": "collect"}).rows == asleep.rows


def test_damage_wakes() -> None:
    world = board("0")
    state = changed(world.initial(0), 0, vitals=(5, 9, 0, 3), counters=(0, 0, 0, -14.5), asleep=True)
    state = world.step(state, {})
    assert state.agents[0].asleep  # -15 is not beyond the bound
    state = world.step(state, {})
    assert state.agents[0].vitals[0] == 4
    assert not state.agents[0].asleep


def test_water_and_cows() -> None:
    world = board("~0w")
    state = changed(world.initial(0), 0, vitals=(9, 2, 2, 9), counters=(20, 18, 0, 0))
    drunk = world.step(state, {"agent_0": "collect left"})
    assert drunk.agents[0].vitals == (9, 2, 3, 9)
    assert drunk.agents[0].counters[:2] == (21, 0)
    assert drunk.rows == state.rows
    eaten = world.step(state, {"agent_0": "collect right"})
    assert eaten.agents[0].vitals == (9, 8, 2, 9)
    assert eaten.agents[0].counters[:2] == (0, 19)
    assert eaten.cows == ()
    assert eaten.score == 0


def test_lava_kills_and_the_dead_are_gone() -> None:
    world = board("0l.", "c1.", "2..")
    state = world.initial(0)
    for seat in range(3):
        state = given_items(state, seat, wood_pickaxe=1)
    after = world.step(state, {"agent_0": "move right"})
    assert world.living(after) == ("agent_1", "agent_2")
    assert world.rewards(state, after) == {"agent_0": 0, "agent_1": 0, "agent_2": 0}  # told of once more
    assert "dead" in world.observe(after, "agent_0")
    assert world.rewards(after, world.step(after, {})).keys() == {"agent_1", "agent_2"}
    with pytest.raises(ValueError, match="does not act any more"):
        world.step(after, {"agent_0": "noop"})
    task = world.tasks(after)[0]
    assert world.satisfying(after, {"agent_1": "collect left"}, task)["spatial"] == ("agent_1", "agent_2")
    assert "dead" in world.refusal(given_items(after, 1, wood=1), "agent_1", "share agent_0 wood 1")
    gone = changed(after, 0, x=1, y=0)
    assert world.step(gone, {"agent_1": "move up"}).agents[1].vitals[0] == 0  # nobody stands in the way


# cooperation


def test_rewards_of_the_published_table() -> None:
    world = board("0Y#cid")
    memory = changed(world.initial(0), 0, memory=("YYYYYY",))
    rewards = {task.id.split("#")[0]: (task.participants, task.capability, task.reward) for task in world.tasks(memory)}
    assert rewards == {
        "tree": (1, "", 1),
        "stone": (1, "wood_pickaxe", 15),
        "coal": (2, "wood_pickaxe", 75),
        "iron": (3, "stone_pickaxe", 150),
        "diamond": (3, "iron_pickaxe", 600),
    }


@pytest.mark.parametrize(("each", "total"), [(True, 1800), (False, 600)])
def test_a_diamond_of_three(each: bool, total: float) -> None:
    world = board(".0.", "1d2", score_per_participant=each)
    state = world.initial(0)
    for seat in range(3):
        state = given_items(state, seat, iron_pickaxe=1)
    acts = {"agent_0": "collect down", "agent_1": "collect right", "agent_2": "collect left"}
    after = world.step(state, acts)
    assert after.score == total
    assert world.rewards(state, after) == dict.fromkeys(world.agents, total / 3)
    (completion,) = world.completions(state, acts, after)
    assert (completion.agents, score([completion])) == (world.agents, total)
    assert world.is_completed(after, "diamond#4")
    assert world.status(after, completion.task) == "completed"
    assert world.status(state, completion.task) == "ready"


def test_worked_vector_of_a_lone_coal_collector() -> None:
    world = board("0c...1")
    state = given_items(world.initial(0), 0, wood_pickaxe=1)
    acts = {"agent_0": "collect right", "agent_1": "noop"}
    after = world.step(state, acts)
    (attempt,) = world.attempts(state, acts, after)
    assert not attempt.success
    assert {c: attempt.deficits[c] for c in ("spatial", "temporal", "dependency")} == {
        "spatial": 0.5,
        "temporal": 0.5,
        "dependency": 0.5,
    }
    assert "2 agents must collect it together, 1 did" in world.feedback(after, "agent_0")
    other = given_items(state, 1, wood_pickaxe=1)  # far away; dependency counts the whole team
    (attempt,) = world.attempts(other, acts, world.step(other, acts))
    assert (attempt.deficits["dependency"], attempt.deficits["spatial"]) == (0, 0.5)
    assert after.rows == state.rows


def test_worked_vector_of_iron_with_two_pickaxes() -> None:
    world = board(".0.", "1i2")
    state = world.initial(0)
    for seat in (0, 1):
        state = given_items(state, seat, stone_pickaxe=1)
    acts = {"agent_0": "collect down", "agent_1": "collect right", "agent_2": "collect left"}
    (attempt,) = world.attempts(state, acts, world.step(state, acts))
    assert not attempt.success
    assert {c: pytest.approx(attempt.deficits[c]) for c in ("spatial", "temporal", "dependency")} == {
        "spatial": 0,
        "temporal": 0,
        "dependency": 1 / 3,
    }


def test_one_who_calls_twice_counts_once() -> None:
    world = board("0c.1", mode="nearby")
    state = given_items(world.initial(0), 0, wood_pickaxe=1)
    acts = {"agent_0": "collect"}
    aims = {"agent_0": "coal#1"}
    after = world.step(state, acts)
    assert after.rows == state.rows
    (attempt,) = world.attempts(state, acts, after, aims)
    assert attempt.counts["temporal"] == 1
    plans = {"agent_0": [Call("collect", ("coal", "1", 3)), Call("collect", ("coal", "1", 3))]}
    assert world.expected(state, plans, attempt.task)["temporal"] == 0.5


def test_who_is_two_moves_off_or_diagonal_does_not_take_part() -> None:
    world = board("0c.", "..1")
    state = world.initial(0)
    for seat in (0, 1):
        state = given_items(state, seat, wood_pickaxe=1)
    for action in (a for a in world.actions("agent_1") if a.startswith("collect")):
        after = world.step(state, {"agent_0": "collect right", "agent_1": action})
        assert after.rows == state.rows
    close = changed(state, 1, x=2, y=0)
    assert world.step(close, {"agent_0": "collect right", "agent_1": "collect left"}).score == 150


def test_targeted_collect_serves_its_target_only_and_nearby_all() -> None:
    chart = ("#Y#", "w0~", "...")
    for mode, wanted in (("targeted", {"wood": 1}), ("nearby", {"wood": 1})):
        world = board(*chart, mode=mode)
        state = changed(world.initial(0), 0, vitals=(9, 3, 3, 9))
        after = world.step(state, {"agent_0": "collect up"})
        assert held(world, after) == wanted
        assert after.agents[0].vitals[1:3] == ((3, 3) if mode == "targeted" else (9, 4))
    chart = (".Y.", "#0#")
    for mode, wanted in (
        ("targeted", {"wood": 1, "wood_pickaxe": 1}),
        ("nearby", {"wood": 1, "stone": 2, "wood_pickaxe": 1}),
    ):
        world = board(*chart, mode=mode)
        state = given_items(world.initial(0), 0, wood_pickaxe=1)
        after = world.step(state, {"agent_0": "collect up"})
        assert held(world, after) == wanted
        assert world.targets(state, "agent_0", "collect up") == (
            ("tree#1",) if mode == "targeted" else ("tree#1", "stone#3", "stone#5")
        )
    facing = board("0Y").initial(0)
    world = board("0Y")
    assert held(world, world.step(facing, {"agent_0": "collect"})) == {}  # faces down
    assert held(world, world.step(changed(facing, 0, facing=3), {"agent_0": "collect"})) == {"wood": 1}


def test_nearby_counts_everybody_who_collects_beside_the_cell() -> None:
    world = board("0c1", mode="nearby")
    state = world.initial(0)
    for seat in (0, 1):
        state = given_items(state, seat, wood_pickaxe=1)
    assert world.step(state, everybody(world, "collect up")).score == 150
    strict = board("0c1")
    assert strict.step(state, everybody(strict, "collect up")).score == 0


def test_what_is_impossible_for_a_small_team_is_told() -> None:
    world = board("0i.", "..1")
    state = given_items(world.initial(0), 0, stone_pickaxe=1)
    assert "Impossible for this team: iron, diamond" in world.observe(state, "agent_0")
    assert "3 agents, impossible" in world.observe(state, "agent_0")
    assert "more than the team has" in world.refusal(state, "agent_0", "collect right")
    assert "Impossible for this team: nothing" in Crafter().settings


def test_a_larger_distance_has_its_own_actions() -> None:
    world = board("0.Y", "...", "Y..", rules=replace(PLAIN, distance=2))
    assert {"collect right 2", "collect down 1 right 1", "collect here"} <= {*world.actions("agent_0")}
    after = world.step(world.initial(0), {"agent_0": "collect right 2"})
    assert (after.rows[0], held(world, after)) == ("...", {"wood": 1})


# sharing


def test_gifts() -> None:
    world = board("0....1....2")
    state = given_items(world.initial(0), 0, wood=3, wood_pickaxe=1)
    after = world.step(state, {"agent_0": "share agent_2 wood 5"})  # no more than there is, from any distance
    assert (held(world, after, 0), held(world, after, 2)) == ({"wood_pickaxe": 1}, {"wood": 3})
    assert "agent_0 gave you 3 wood" in world.observe(after, "agent_2")
    assert "no coal" in world.refusal(state, "agent_0", "share agent_1 coal 1")
    assert not [a for a in world.actions("agent_0") if a.startswith("share agent_0") or "health" in a]
    passed = world.step(state, {"agent_0": "share agent_1 wood_pickaxe 1", "agent_1": "noop"})
    assert held(world, passed, 1) == {"wood_pickaxe": 1}


def test_a_gift_arrives_before_the_recipient_acts() -> None:
    world = board("0..1#")
    state = given_items(world.initial(0), 0, wood_pickaxe=1)
    after = world.step(state, {"agent_0": "share agent_1 wood_pickaxe 1", "agent_1": "collect right"})
    assert held(world, after, 1) == {"stone": 1, "wood_pickaxe": 1}


def test_the_order_of_the_actions_does_not_matter() -> None:
    world = board("0.1", ".2.", "3.4")
    state = world.initial(0)
    for seat in range(5):
        state = given_items(state, seat, wood=9, stone=1)
    acts = {a: f"share agent_{2 if a != 'agent_2' else 0} wood {n + 1}" for n, a in enumerate(world.agents)}
    for given_ in (acts, {**acts, "agent_0": "move right", "agent_1": "move left"}):
        after = {world.step(state, dict(order)) for order in permutations(given_.items())}
        assert len(after) == 1


def test_gifts_that_do_not_fit_are_cut_evenly() -> None:
    world = board("0.1.2")
    state = given_items(world.initial(0), 2, wood=15)
    state = given_items(given_items(state, 0, wood=9), 1, wood=1)
    after = world.step(state, {"agent_0": "share agent_2 wood 9", "agent_1": "share agent_2 wood 1"})
    # 5 fit: one gives its 1, the other 4
    assert [held(world, after, seat).get("wood", 0) for seat in range(3)] == [5, 0, 20]
    equal = given_items(given_items(state, 0, wood=9), 1, wood=9)
    after = world.step(equal, {"agent_0": "share agent_2 wood 9", "agent_1": "share agent_2 wood 9"})
    assert [held(world, after, seat).get("wood", 0) for seat in range(3)] == [7, 7, 19]  # 2 each; the odd one stays


# moving


def test_moves_of_several() -> None:
    world = board("0.1", "23.")
    state = world.initial(0)
    swap = world.step(state, {"agent_2": "move right", "agent_3": "move left"})
    assert [(a.x, a.y) for a in swap.agents] == [(a.x, a.y) for a in state.agents]
    assert "agent_3 is in the way" in world.feedback(swap, "agent_2")
    follow = world.step(state, {"agent_2": "move right", "agent_3": "move right"})
    assert [(a.x, a.y) for a in follow.agents[2:]] == [(1, 1), (2, 1)]
    contest = world.step(state, {"agent_0": "move right", "agent_1": "move left", "agent_3": "move up"})
    assert [(a.x, a.y) for a in contest.agents].count((1, 0)) == 1
    winners = set()
    for seed in range(30):
        after = world.step(world.initial(seed), {"agent_0": "move right", "agent_1": "move left"})
        winners.add([(a.x, a.y) for a in after.agents].index((1, 0)))
    assert winners == {0, 1}  # nobody always wins


def test_borders_end_the_map_on_every_side() -> None:
    for x, y in product((0, 3), repeat=2):
        rows = [["."] * 4 for _ in range(4)]
        rows[y][x] = "0"
        rows[y][x - 1 if x else 1] = "T"
        rows[3 - y][x] = "Y"  # on the opposite side: nothing wraps
        rows[y][3 - x] = "Y"
        world = board(*map("".join, rows))
        state = given_items(world.initial(0), 0, wood=1)
        assert held(world, world.step(state, {"agent_0": "make wood_pickaxe"})) == {"wood_pickaxe": 1}
        for direction in DIRECTIONS:
            assert held(world, world.step(state, {"agent_0": f"collect {direction}"})) == {"wood": 1}
        for direction, (dx, dy) in zip(DIRECTIONS, STEPS, strict=True):
            after = world.step(state, {"agent_0": f"move {direction}"})
            inside = 0 <= x + dx < 4 and 0 <= y + dy < 4 and mark_at(state.rows, x + dx, y + dy) == "."
            assert (after.agents[0].x, after.agents[0].y) == ((x + dx, y + dy) if inside else (x, y))
            assert after.agents[0].facing == DIRECTIONS.index(direction)
        assert world.observe(state, "agent_0").count("---") > 9
    world = board("....", "0T..")
    assert world.refusal(changed(world.initial(0), 0, facing=2), "agent_0", "move left").endswith("is in the way")


def test_cows_are_bodies() -> None:
    world = board("0w", rules=replace(PLAIN, herd=replace(PLAIN.herd, move=0)))
    state = world.initial(0)
    after = world.step(state, {"agent_0": "move right"})
    assert (after.agents[0].x, world.feedback(after, "agent_0")) == (
        0,
        "move right: cow#0 is in the way; you face it now",
    )
    assert "cow#0" in world.observe(after, "agent_0")
    for seed in range(20):  # and do not leave grass, sand and path
        pen = board("~w~", ".l0", rules=replace(PLAIN, herd=replace(PLAIN.herd, move=1)))
        state = pen.initial(seed)
        for _ in range(5):
            state = pen.step(state, {})
        assert state.cows == (Cow(0, 1, 0),)


def test_cows_are_kept_in_balance() -> None:
    chart = (*["." * 12] * 11, "0" + "." * 11)
    world = board(*chart, limit=2000, rules=replace(PLAIN, herd=replace(Cows(), spawn=0.5)))
    state = world.initial(3)
    counts = []
    for step in range(1, 201):
        before, state = state, world.step(state, {})
        counts.append(len(state.cows))
        assert state.cows == before.cows or step % 10 == 0 or len(state.cows) == len(before.cows)
    assert counts[0] == 0
    assert max(counts) == 1  # the least that there should be
    crowd = replace(state, cows=tuple(Cow(100 + i, i, 0) for i in range(8)))
    for _ in range(1500):
        crowd = world.step(crowd, {}) if world.living(crowd) else crowd
    assert len(crowd.cows) < 8


def bodies_are_apart(state: CrafterState) -> bool:
    cells = [(a.x, a.y) for a in state.agents if a.alive] + [(c.x, c.y) for c in state.cows]
    return len(cells) == len({*cells}) and all(mark_at(state.rows, *cell) in [*WALKABLE, "l"] for cell in cells)


def random_actions(world: Crafter, state: CrafterState, rng: random.Random) -> dict[str, str]:
    """Mostly moves and collects; a tenth of anything."""
    acts = {}
    for agent in world.living(state):
        kind = rng.random()
        often = [f"move {d}" for d in DIRECTIONS] if kind < 0.6 else [f"collect {d}" for d in DIRECTIONS]
        acts[agent] = rng.choice(often if kind < 0.9 else world.actions(agent))
    return acts


def test_no_two_bodies_in_a_cell_in_10000_random_steps() -> None:
    crowd = ("0.w.1..", ".#Y~w.2", "w.3..o.", "4..T.w5", ".w.....")
    worlds = [
        board(*crowd, limit=1000, rules=Rules(herd=replace(Cows(), move=0.9))),
        board(*crowd, limit=1000, mode="nearby"),
        Crafter(team=6, size=24, limit=1000, rules=Rules(terrain=replace(Terrain(), least=(), ordered=False))),
    ]
    steps = 0
    for seed in range(100):
        world = worlds[seed % 3]
        state, rng = world.initial(seed), random.Random(seed)
        while steps < (seed + 1) * 100 and not world.is_over(state):
            before, acts = state, random_actions(world, state, rng)
            state = world.step(state, MappingProxyType(acts))
            steps += 1
            assert bodies_are_apart(state)
            assert all(0 <= count <= 20 for agent in state.agents for count in agent.items)
            assert all(0 <= value <= 9 for agent in state.agents for value in agent.vitals)
            assert sum(world.rewards(before, state).values()) == state.score - before.score
            for agent, action in acts.items():
                if world.refusal(before, agent, action) and not world.feedback(state, agent).startswith("you"):
                    seat = world.seat(agent)
                    assert state.agents[seat].facing == before.agents[seat].facing
    assert steps == 10_000


def canonical(world: Crafter, state: CrafterState, names: dict[str, str]) -> tuple[object, ...]:
    """A state with agents renamed, their order and the order of simultaneous lines forgotten."""

    def renamed(text: str) -> str:
        for old, new in names.items():
            text = text.replace(old, new.replace("agent", "member"))
        return " ".join(sorted(text.replace(",", "").split()))

    people = {
        names[name]: (*agent[:10], renamed(agent.outcome), agent.got, tuple(sorted(map(renamed, agent.events))))
        for name, agent in zip(world.agents, state.agents, strict=True)
    }
    done = [(c.task, sorted(names[a] for a in c.agents), c.score) for c in state.completions]
    return state.rows, state.cows, sorted(people.items()), done


@pytest.mark.parametrize("mode", ["targeted", "nearby"])
def test_permuting_agents_changes_nothing_but_names(mode: str) -> None:
    chart = ("0.#1.w", ".Yc.3.", "w..2~l")
    world = board(*chart, mode=mode)
    for order in permutations(range(4)):
        other = board(*(r.translate(str.maketrans("0123", "".join(map(str, order)))) for r in chart), mode=mode)
        names = {f"agent_{i}": f"agent_{order[i]}" for i in range(4)}
        same = {name: name for name in world.agents}
        a, b = world.initial(7), other.initial(7)
        for seat in range(4):
            a = given_items(a, seat, wood=15, wood_pickaxe=1, stone=2)
            b = given_items(b, seat, wood=15, wood_pickaxe=1, stone=2)
        rng = random.Random(5)
        for _ in range(25):
            acts = {}
            for agent in world.living(a):
                verbs = [f"move {d}" for d in DIRECTIONS] * 3 + [f"collect {d}" for d in DIRECTIONS]
                verbs += ["place stone", "place table", "sleep", "noop"]
                verbs += [f"share {to} wood {n}" for to in world.agents if to != agent for n in (1, 9)]
                acts[agent] = rng.choice(verbs)
            told = {}
            for agent, action in acts.items():
                words = [names.get(word, word) for word in action.split()]
                told[names[agent]] = " ".join(words)
            a, b = world.step(a, acts), other.step(b, told)
            assert canonical(world, a, names) == canonical(other, b, same)


# determinism


def fingerprint(world: Crafter, seed: int, steps: int, looks: int = 1, backwards: bool = False) -> str:
    """The digest of a trajectory of random actions with every observation in it."""
    told = hashlib.sha256()
    state, rng = world.initial(seed), random.Random(seed)
    for _ in range(steps):
        acts = random_actions(world, state, rng)
        if backwards:
            acts = dict(reversed(acts.items()))
        state = world.step(state, acts)
        for _ in range(looks):
            seen = [world.observe(state, agent) for agent in world.agents]
        told.update(repr((state.rows, state.agents, state.cows, state.completions)).encode())
    if looks:
        told.update("".join([*seen, world.draw(state)]).encode())
        told.update(repr(world.tasks(state)).encode())
    return told.hexdigest()


def test_the_same_trajectory_in_other_processes_and_orders() -> None:
    world = Crafter(team=6)
    here = fingerprint(world, 11, 40)
    assert here == fingerprint(Crafter(team=6), 11, 40)
    assert here == fingerprint(world, 11, 40, backwards=True)
    assert here != fingerprint(world, 12, 40)
    code = "from tests.test_crafter import *; print(fingerprint(Crafter(team=6), 11, 40))"
    for hashes in ("0", "4242"):
        environment = {**os.environ, "PYTHONHASHSEED": hashes, "PYTHONPATH": os.pathsep.join(sys.path)}
        told = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, env=environment, check=True)
        assert told.stdout.strip() == here


def test_looking_changes_nothing() -> None:
    world = Crafter()
    states = []
    for looks in (0, 1, 5):
        state, rng = world.initial(4), random.Random(4)
        for _ in range(80):
            state = world.step(state, random_actions(world, state, rng))
            texts = {world.observe(state, agent) for agent in world.agents for _ in range(looks)}
            assert len(texts) <= 3
        states.append(state)
    assert states[0] == states[1] == states[2]


def test_daylight_has_no_effect() -> None:
    world = board(".Y.", ".0.", "~..", limit=400)

    def view(state: CrafterState) -> str:
        text = world.observe(state, "agent_0")
        return text[text.index("Inventory") :]

    state = world.initial(0)
    first = view(state)
    for _ in range(180):
        state = world.step(state, {})
        assert view(state) == first


# the ParallelEnv


@pytest.mark.filterwarnings("error")
def test_it_is_a_parallel_env() -> None:
    pytest.importorskip("pettingzoo")
    from pettingzoo.test import parallel_api_test

    from tasks.worlds.parallel import env

    made = env(Crafter(team=3, limit=50))
    parallel_api_test(made, num_cycles=200)
    assert made.action_space("agent_0") is made.action_space("agent_0")
    assert made.observation_space("agent_0") is made.observation_space("agent_0")
    first, _ = made.reset(seed=3)
    again, _ = made.reset(seed=3)
    other, _ = made.reset()
    assert first == again != other
    for _ in range(50):
        _, _, ended, cut, _ = made.step(dict.fromkeys(made.agents, 0))
    assert made.agents == []
    assert not any(ended.values())
    assert all(cut.values())
    with pytest.raises(ValueError, match="has ended"):
        made.step({})


def test_death_in_the_parallel_env_is_told_once() -> None:
    pytest.importorskip("pettingzoo")
    from tasks.worlds.parallel import env

    world = board("0l", "1.")
    made = env(world)
    made.reset(seed=0)
    observations, rewards, ended, cut, infos = made.step({"agent_0": world.actions("agent_0").index("move right")})
    assert "dead" in observations["agent_0"]
    assert ended == {"agent_0": True, "agent_1": False}
    assert "lava" in infos["agent_0"]["feedback"]
    assert made.agents == ["agent_1"]
    assert rewards.keys() == cut.keys() == {"agent_0", "agent_1"}
    assert made.step({"agent_1": 0})[0].keys() == {"agent_1"}


def test_what_step_refuses() -> None:
    world = board("0.", "1.")
    state = world.initial(0)
    for acts, message in (
        ({"agent_0": "fly"}, "'fly' is no action"),
        ({"agent_7": "noop"}, "'agent_7' does not act"),
        ({"agent_0": "share agent_0 wood 1"}, "is no action"),
    ):
        with pytest.raises(ValueError, match=message):
            world.step(state, acts)
    for fault, message in (
        ({"team": 0}, "team 0"),
        ({"mode": "near"}, "mode 'near' is none of targeted, nearby"),
        ({"rules": Rules(view=(8, 7))}, "two odd numbers"),
        ({"chart": ("0.", "1"), "team": 2}, "row 1 has 1 cells"),
        ({"chart": ("0?",), "team": 1}, "is none of"),
        ({"chart": ("00",), "team": 1}, "starts twice"),
        ({"chart": ("0.",), "team": 2}, "needs each digit below 2"),
    ):
        with pytest.raises(ValueError, match=message):
            Crafter(**fault)  # type: ignore[arg-type]


# maps


def test_what_every_map_guarantees() -> None:
    """Reachability by another library: whatever is not water or lava can be walked on or mined."""
    order = ("tree", "stone", "coal", "iron", "diamond")
    for seed in range(30):
        world = Crafter(team=6 if seed % 2 else 3)
        state = world.initial(seed)
        graph = networkx.grid_2d_graph(64, 64)
        graph.remove_nodes_from([n for n in [*graph] if state.rows[n[1]][n[0]] in "~l"])
        starts = [(a.x, a.y) for a in state.agents]
        reach = networkx.node_connected_component(graph, starts[0])
        counts = dict.fromkeys(order, 0)
        for x, y in reach:
            if (kind := NAMES[state.rows[y][x]]) in counts:
                counts[kind] += 1
        assert {*starts} <= reach
        assert len({*starts}) == world.team
        assert all(state.rows[y][x] == "." for x, y in starts)
        assert all(counts[kind] >= n for kind, n in zip(order, (30, 30, 4, 3, 1), strict=True))
        assert all(counts[a] > counts[b] for a, b in pairwise(order))
        assert {len(row) for row in state.rows} == {64}
        assert bodies_are_apart(state)
        assert all(abs(c.x - x) + abs(c.y - y) > 3 for c in state.cows for x, y in starts)
    near = Crafter(start_spread=6).initial(1)
    assert all(abs(a.x - 32) + abs(a.y - 32) <= 6 for a in near.agents)


def test_an_impossible_map_is_refused_with_its_seed() -> None:
    terrain = replace(Terrain(), least=(("diamond", 5000),), attempts=2)
    with pytest.raises(ValueError, match=r"seed 9: none of 2 maps of side 16 has 5000 diamond"):
        generate(9, 16, 3, 0, terrain, Cows())


# parts against other ways to compute them

ROWS = st.lists(st.text(alphabet=".#Y~c_", min_size=9, max_size=9), min_size=1, max_size=12).map(tuple)


@settings(max_examples=150, deadline=None)
@given(ROWS, st.integers(-3, 11), st.integers(-3, 14), st.sampled_from(["#", ".Y", "c"]))
def test_windows_of_bits(rows: tuple[str, ...], left: int, top: int, marks: str) -> None:
    found = {(bit % 6, bit // 6) for bit in bits.ones(bits.window_bits(rows, marks, left, top, 5, 3))}
    cells = product(range(5), range(3))
    assert found == {(x, y) for x, y in cells if (m := mark_at(rows, left + x, top + y)) and m in marks}


@settings(max_examples=150, deadline=None)
@given(ROWS, st.integers(0, 8), st.integers(0, 11), st.integers(1, 3), st.booleans())
def test_nearest_by_looking_everywhere(rows: tuple[str, ...], x: int, y: int, count: int, cut: bool) -> None:
    y = min(y, len(rows) - 1)
    window = (x - 2, y - 1, x + 3, y + 2) if cut else None
    every = [
        (abs(a - x) + abs(b - y), b, a)
        for b, row in enumerate(rows)
        for a, mark in enumerate(row)
        if mark == "c" and not (window and window[0] <= a < window[2] and window[1] <= b < window[3])
    ]
    assert nearest(rows, "c", x, y, count, window) == sorted(every)[:count]


@pytest.mark.parametrize("seed", range(40))
def test_walks_are_shortest(seed: int) -> None:
    rng, side = random.Random(seed), 30
    rows = tuple("".join(rng.choices("._#Y~", (30, 30, 20, 10, 10), k=side)) for _ in range(side))
    cells = [(x, y) for y in range(side) for x in range(side)]
    here, target = rng.sample(cells, 2)
    distance = 1 + seed % 2
    graph = networkx.grid_2d_graph(side, side)
    graph.remove_nodes_from([c for c in cells if rows[c[1]][c[0]] not in WALKABLE and c != here])
    lengths = networkx.single_source_shortest_path_length(graph, here)
    near = [n for c, n in lengths.items() if abs(c[0] - target[0]) + abs(c[1] - target[1]) <= distance]
    way = walk(rows, here, target, distance, frozenset())
    assert len(way) == (min(near) if near else 0)
    for a, b in pairwise((here, *way)):
        assert graph.has_edge(a, b)


def test_reachable_targets_are_told() -> None:
    world = board("#####....", "#Y..#....", "#...#..0c", "####Y...1")
    text = world.observe(world.initial(0), "agent_0")
    assert "- coal#26 at (8, 2), distance 1, 75 points, 2 agents, needs_tool wood_pickaxe" in text
    assert "- tree#31 at (4, 3), distance 4, 1 point, 1 agent, ready" in text
    assert "tree#10" not in text.split("Targets")[1].split("Utilities")[0]  # behind stone and out of view


def test_what_leaves_the_view_is_remembered() -> None:
    world = board("Y0...........", "~............")
    state = world.initial(0)
    assert "Remembered" not in world.observe(state, "agent_0")
    for _ in range(7):
        state = world.step(state, {"agent_0": "move right"})
    text = world.observe(state, "agent_0")
    assert "Remembered, out of view: tree#0 at (0, 0), distance 8" in text
    assert "water#13 at (0, 1), distance 9" in text
    assert len(text) < world.longest


def test_a_task_is_active_from_first_sight() -> None:
    world = board("0.......Y", "1........")
    state = world.initial(0)
    assert world.tasks(state) == ()
    assert world.task(state, "tree#8") is None
    for _ in range(4):
        state = world.step(state, {"agent_1": "move right"})
    assert [task.id for task in world.tasks(state)] == ["tree#8"]
    assert world.task(state, "tree#8") == world.tasks(state)[0]
    for id in ("tree#08", "tree#9", "coal#8", "tree#99999999999", "tree", "tree#²", "grass#1"):
        assert world.task(state, id) is None


# tools


def test_calls_are_read_leniently() -> None:
    world = Crafter()
    same = Call("collect", ("coal", "12", 3))
    assert world.parse_call("collect(coal, 12)") == same
    assert world.parse_call("collect(coal, 12, 3)") == same
    assert world.parse_call("collect(target=coal, task_id=12)") == same
    assert world.parse_call("collect(coal#12, 5)") == Call("collect", ("coal#12", "", 5))
    assert world.parse_call("navigate(coal#12)") == Call("navigate", ("coal#12", "", 64))
    assert world.parse_call('{"tool": "craft", "arguments": {"item": "wood pickaxe"}}') == Call(
        "craft", ("wood_pickaxe",)
    )
    for text in (
        "dig(coal)",
        "move(north)",
        "place(house)",
        "share(agent_9, wood)",
        "craft()",
        "navigate(coal, 1, 65)",
    ):
        with pytest.raises(ValueError) as caught:
            world.parse_call(text)
        assert "\n" not in str(caught.value)


def test_navigation_reaches_what_it_is_told_of_round_what_is_in_the_way() -> None:
    world = board("0........", ".~~~~~~~.", ".....c...")
    state, outcome, _ = run(world, world.initial(0), "agent_0", "navigate(coal, 23)")
    assert outcome == "success"
    assert world.place(state, "agent_0") in ((4, 2), (6, 2), (5, 1))
    assert state.step == 6  # down twice, then right four times; the coal was seen from there
    _, outcome, reason = run(world, world.initial(0), "agent_0", "navigate(diamond)")
    assert (outcome, reason) == ("failed", "you know of no diamond; look around")
    _, outcome, reason = run(world, state, "agent_0", "navigate(iron, 23)")
    assert (outcome, reason) == ("failed", "iron#23 is not there, or not any more")
    _, outcome, reason = run(world, world.initial(0), "agent_0", "navigate(coal, 23, 3)")
    assert (outcome, reason) == ("failed", "coal#23 was not reached within 3 steps")
    shut = board("0~c", "~~.")
    _, outcome, reason = run(shut, shut.initial(0), "agent_0", "navigate(coal)")
    assert (outcome, reason) == ("failed", "there is no way to coal#2 that you know of")
    for kind in ("gold", "agent", "agent_7", "cow", "coal#999"):
        assert run(shut, shut.initial(0), "agent_0", f"navigate({kind})")[1] == "failed"


def test_navigation_waits_for_a_body_and_goes_round_where_it_can() -> None:
    narrow = board("0w.Y", rules=replace(PLAIN, herd=replace(PLAIN.herd, move=0)))
    assert run(narrow, narrow.initial(0), "agent_0", "navigate(tree, 3, 5)")[2].endswith("not reached within 5 steps")
    wide = board("0w.Y", "....", rules=replace(PLAIN, herd=replace(PLAIN.herd, move=0)))
    state, outcome, _ = run(wide, wide.initial(0), "agent_0", "navigate(tree)")
    assert (outcome, state.step) == ("success", 4)


def test_collect_waits_for_others() -> None:
    world = board("0c1")
    state = world.initial(0)
    for seat in (0, 1):
        state = given_items(state, seat, wood_pickaxe=1)
    alone, outcome, reason = run(world, state, "agent_0", "collect(coal, 1)")
    assert (outcome, alone.step) == ("failed", 3)
    assert "2 agents must collect it together, 1 did" in reason
    running = world.start(world.parse_call("collect(coal)"), state, "agent_0")
    now = state
    for step in range(3):
        progress = world.advance(running, now)
        assert progress.primitive == "collect right"
        running = progress.running
        now = world.step(now, {"agent_0": "collect right", **({"agent_1": "collect left"} if step == 2 else {})})
    assert world.advance(running, now).outcome == "success"
    assert now.score == 150
    bare = given_items(state, 0)
    after, outcome, reason = run(world, bare, "agent_0", "collect(coal, 1, 9)")
    assert (outcome, after.step, "wood_pickaxe" in reason) == ("failed", 1, True)  # it does not go on in vain
    far = board("0..c")
    assert "navigate to it first" in run(far, far.initial(0), "agent_0", "collect(coal)")[2]


def test_the_other_tools() -> None:
    world = board("0...#", "T....")
    state = given_items(world.initial(0), 0, wood=3, stone=5)
    state = changed(state, 0, x=1, facing=3)
    moved, outcome, _ = run(world, state, "agent_0", "move(right, 2)")
    assert (world.place(moved, "agent_0"), outcome) == ((3, 0), "success")
    blocked, outcome, reason = run(world, state, "agent_0", "move(right, 5)")
    assert (world.place(blocked, "agent_0"), outcome) == ((3, 0), "failed")
    assert "stone#4 is in the way" in reason
    made, outcome, _ = run(world, state, "agent_0", "craft(stone_pickaxe)")
    assert (held(world, made), outcome) == ({"wood": 2, "stone": 4, "stone_pickaxe": 1}, "success")
    assert run(world, made, "agent_0", "craft(iron_pickaxe)")[1] == "failed"
    placed, outcome, _ = run(world, state, "agent_0", "place(furnace)")
    assert (placed.rows[0], outcome) == ("..F.#", "success")
    waited, outcome, _ = run(world, state, "agent_0", "noop(4)")
    assert (waited.step, outcome) == (4, "success")
    assert run(world, state, "agent_0", "sleep")[1:] == ("failed", "your energy is full")
    team = board("0..1")
    rich = given_items(team.initial(0), 0, wood=3, iron_pickaxe=1)
    given_, outcome, _ = run(team, rich, "agent_0", "share(agent_1, wood, 9)")
    assert (held(team, given_, 1), outcome) == ({"wood": 3}, "success")
    assert run(team, rich, "agent_0", "share(agent_1, iron_pickaxe, 2)")[1] == "success"
    assert run(team, rich, "agent_0", "share(agent_0, wood, 2)")[1] == "failed"


def test_forecasts() -> None:
    world = board("0.....c..1", "T.........")
    state = changed(world.initial(0), 0, memory=world.initial(0).rows)
    state = given_items(state, 0, wood=2)
    here = Forecast((0, 0), world.inventory(state, "agent_0"))

    def after(call: str, forecast: Forecast = here) -> Forecast:
        return world.foresee(state, "agent_0", world.parse_call(call), forecast)

    assert after("navigate(coal, 6)") == Forecast((5, 0), (("wood", 2),), 5)  # Manhattan 6 - 1
    assert after("navigate(table)") == Forecast((0, 0), (("wood", 2),), 1)  # at least 1
    assert after("move(right, 4)") == Forecast((4, 0), (("wood", 2),), 4)
    assert after("craft(wood_pickaxe)").inventory == (("wood", 1), ("wood_pickaxe", 1))
    assert after("place(table)").inventory == ()
    assert after("collect(coal, 6)").inventory == (("wood", 2), ("coal", 1))
    assert after("collect(coal, 6)").steps == 3
    assert after("share(agent_1, wood, 1)").inventory == (("wood", 1),)
    assert world.duration(state, "agent_0", world.parse_call("noop(3)"), here) == 3


def test_expected_failures_of_plans() -> None:
    """Windows of work meet within two steps of each other, and near is d + 1."""
    world = board("0.c...1...")
    state = world.initial(0)
    for seat in range(2):
        state = given_items(changed(state, seat, memory=state.rows), seat, wood_pickaxe=1)
    task = world.task(state, "coal#2")
    assert task is not None
    first = [world.parse_call(c) for c in ("navigate(coal, 2)", "collect(coal, 2, 3)")]
    assert world.expected(state, {"agent_0": first}, task) == {
        "temporal": 0.5,
        "spatial": 0.5,
        "participation": 1,
        "dependency": 0.5,
    }
    for wait, together in ((1, 1), (2, 1), (3, 0.5)):  # agent_0 works in steps 1 to 3, agent_1 from wait + 3 on
        second = [world.parse_call(c) for c in (f"noop({wait})", "navigate(coal, 2)", "collect(coal, 2, 3)")]
        (work,) = world.works(state, "agent_1", second)["coal#2"]
        assert (work.first, work.last) == (wait + 3, wait + 5)
        expected = world.expected(state, {"agent_0": first, "agent_1": second}, task)
        assert expected["temporal"] == together
        assert (expected["spatial"], expected["dependency"]) == (1, 1)
    bare = given_items(state, 1)
    second = [world.parse_call(c) for c in ("navigate(coal, 2)", "collect(coal, 2, 3)")]
    assert world.expected(bare, {"agent_0": first, "agent_1": second}, task)["dependency"] == 0.5


# the script and the drawing


@pytest.mark.parametrize(("team", "seed"), [(3, 0), (6, 4)])
def test_the_scripted_team_mines_together(team: int, seed: int) -> None:
    world = Crafter(team=team)
    state = script.play(world, seed)
    kinds = [completion.task.id.split("#")[0] for completion in state.completions]
    assert state.step == 200
    assert kinds.count("coal") >= 1
    assert kinds.count("iron") >= 1
    assert any(agent.items[INDEX["iron_pickaxe"]] for agent in state.agents)
    assert state.score == score(state.completions) == sum(agent.earned for agent in state.agents)
    assert all(len(c.agents) >= c.task.participants for c in state.completions)
    assert len({c.task.id for c in state.completions}) == len(state.completions)


def test_the_scripted_team_mines_a_diamond_that_is_near() -> None:
    world = board("YYY.0.YYY", "YYY...YYY", "..1...2..", "#########", "#c##i##c#", "####d####", "#########")
    state = script.play(world, 0)
    assert {completion.task.id.split("#")[0] for completion in state.completions} == {*MARKS} & {
        "tree",
        "stone",
        "coal",
        "iron",
        "diamond",
    }


def test_the_script_knows_only_what_somebody_has_seen() -> None:
    world = Crafter()
    state = world.initial(2)
    known = script.knowledge(world, state)
    shown = sum(mark != UNSEEN for row in known.rows for mark in row)
    assert 0 < shown <= 3 * 63
    hidden = replace(
        state,
        rows=tuple(
            "".join("#" if k == UNSEEN else m for m, k in zip(r, s, strict=True))
            for r, s in zip(state.rows, known.rows, strict=True)
        ),
    )
    for agent in world.agents:
        assert script.next_call(world, known, agent) == script.next_call(world, script.knowledge(world, hidden), agent)


def test_drawings_are_well_formed() -> None:
    world = Crafter(team=6)
    state = world.step(world.initial(0), everybody(world, "move up"))
    drawing = ElementTree.fromstring(world.draw(state))
    assert drawing.attrib["aria-label"].startswith("crafter, step 1, score 0: agent_0 at (")
    classes = [part.attrib.get("class", "") for part in drawing.iter() if part.tag.endswith("rect")]
    assert classes.count("crafter-agent") == 6
    assert classes.count("crafter-cow") == len(state.cows)
