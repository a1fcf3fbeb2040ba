"""Sparse tree cutting: worked examples, the map's guarantees, properties over random play."""

import hashlib
import os
import random
import re
import subprocess
import sys
from dataclasses import replace
from itertools import chain, pairwise, permutations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pettingzoo.test import parallel_api_test

from tasks.worlds.forest import IDLE, NO_USE, Forest, ForestState, script
from tasks.worlds.parallel import env

WORLD = Forest()
AGENTS = ("agent_1", "agent_2", "agent_3")
SMALL = Forest(side=8, cells=2, rounds=4, room=1)


def small(cut_limit=None):
    """A small world and a map by hand: targets (1,1) and (6,5), dense (3,3) is none, a building at (0,7)."""
    trees = [[0] * 8 for _ in range(8)]
    trees[1][1] = trees[5][6] = trees[3][3] = 3
    trees[2][2] = 2
    world = replace(SMALL, cut_limit=cut_limit)
    buildings = (0,) * 7 + (1,)
    seen = world._revealed((0,) * 8, [(1, 1)])
    state = ForestState(((1, 1), (6, 5)), tuple(map(tuple, trees)), buildings, seen, ((1, 1),) * 3, 0, ("",) * 3)
    return world, state


def play(world, state, *rounds):
    """The state after rounds, each the actions of the agents in seat order."""
    for actions in rounds:
        state = world.step(state, dict(zip(AGENTS, actions, strict=True)))
    return state


# Worked examples ------------------------------------------------------------------------------------------------------


def test_three_agents_who_cut_the_same_cell_get_its_trees_once():
    world, state = small()
    after = play(world, state, ["cut_all"] * 3)
    assert world.progress(state, after) == 3
    assert after.trees[1][1] == 0
    assert world.rewards(state, after) == dict.fromkeys(AGENTS, 3.0)


def test_removals_add_and_end_at_zero():
    world, state = small()
    assert world.progress(state, play(world, state, ["cut(2)", "cut(2)", IDLE])) == 3
    assert world.progress(state, play(world, state, ["cut(1)", IDLE, "cut(1)"])) == 2
    assert world.progress(state, play(world, state, ["cut(1)", IDLE, IDLE])) == 1


def test_trees_elsewhere_do_not_count():
    world, state = small()
    there = play(world, state, ["move(3,3)", IDLE, IDLE])
    after = play(world, there, ["cut_all", IDLE, IDLE])
    assert after.trees[3][3] == 0
    assert world.progress(there, after) == 0
    assert world.score(after) == 0


def test_cutting_where_no_tree_stands_does_nothing_and_says_so():
    world, state = small()
    there = play(world, state, ["move(5,5)", IDLE, IDLE])
    for action in ("cut(1)", "cut_all"):
        after = play(world, there, [action, IDLE, IDLE])
        assert after.trees == there.trees
        assert "no tree to cut on your cell (5,5)" in world.feedback(after, "agent_1")
        assert world.feedback(after, "agent_2") == "You stayed idle."


def test_an_agent_cannot_cut_where_it_walks_to_in_the_same_round():
    world, state = small()
    after = play(world, state, ["move(6,5)", "cut(1)", IDLE])
    assert (after.trees[5][6], after.trees[1][1]) == (3, 2)
    assert after.at == ((6, 5), (1, 1), (1, 1))


def test_one_tree_a_round_where_that_is_the_limit():
    world, state = small(cut_limit=1)
    after = play(world, state, ["cut_all", "cut(3)", IDLE])
    assert after.trees[1][1] == 1
    assert world.progress(state, play(world, after, ["cut_all", "cut_all", "cut_all"])) == 3


@pytest.mark.parametrize("action", list(NO_USE))
def test_what_this_task_has_no_use_for_is_known_and_rejected(action):
    assert action in WORLD.actions("agent_1")
    assert action not in WORLD.legal(WORLD.initial(0), "agent_1")
    after = WORLD.step(WORLD.initial(0), {"agent_1": action})
    assert f"{action} was rejected: " in WORLD.feedback(after, "agent_1")
    assert after.trees == WORLD.initial(0).trees


def test_twelve_rounds_of_idling():
    state = first = WORLD.initial(5)
    for number in range(12):
        assert not WORLD.is_cut(state), number
        state = WORLD.step(state, {})
    assert WORLD.is_cut(state)
    assert not WORLD.is_over(state)
    assert (WORLD.progress(first, state), WORLD.score(state)) == (0, 0)
    with pytest.raises(ValueError, match="the episode has ended"):
        WORLD.step(state, {})


def test_the_last_tree_in_the_last_round_ends_the_episode_and_does_not_cut_it():
    world, state = small()
    state = play(world, state, ["cut_all", "move(6,5)", IDLE], [IDLE] * 3, [IDLE] * 3, [IDLE, "cut_all", IDLE])
    assert (world.is_over(state), world.is_cut(state), world.score(state)) == (True, False, 100)


def test_who_is_done_early_keeps_its_seat_and_hears_the_end():
    world, state = small()
    after = play(world, state, ["cut_all", "move(6,5)", IDLE], [IDLE, "cut_all", "move(0,0)"])
    assert world.is_over(after)
    assert world.living(after) == AGENTS
    assert world.feedback(after, "agent_1") == "You stayed idle."
    assert world.feedback(after, "agent_2") == "You cut 3 trees on (6,5); 0 trees left there."
    assert world.feedback(after, "agent_3") == "You moved to (0,0)."
    final = env(world)
    final.reset(seed=0)
    final.state_ = play(world, state, ["cut_all", "move(6,5)", IDLE])
    listed = world.actions("agent_1")
    observed, rewards, over, cut, told = final.step(
        {"agent_1": listed.index(IDLE), "agent_2": listed.index("cut_all"), "agent_3": listed.index(IDLE)}
    )
    assert observed.keys() == rewards.keys() == over.keys() == cut.keys() == told.keys() == {*AGENTS}
    assert all(over.values())
    assert rewards == dict.fromkeys(AGENTS, 3.0)
    assert final.agents == []


def test_joint_cutting_is_told_to_everybody_who_cut():
    world, state = small()
    after = play(world, state, ["cut(1)", "cut(1)", "cut(1)"])
    assert world.feedback(after, "agent_2") == "You and 2 others cut 3 trees on (1,1); 0 trees left there."
    after = play(world, state, ["cut(1)", "cut(1)", IDLE])
    assert world.feedback(after, "agent_1") == "You and 1 other cut 2 trees on (1,1); 1 tree left there."


# The team by script ---------------------------------------------------------------------------------------------------


def scripted(world, seed):
    policy, state = script(world), world.initial(seed)
    while not (world.is_over(state) or world.is_cut(state)):
        state = world.step(state, {agent: policy(state, agent) for agent in world.agents})
    return state


@pytest.mark.parametrize("seed", range(12))
def test_a_perfect_team_takes_four_rounds(seed):
    state = scripted(WORLD, seed)
    assert (state.round, WORLD.score(state), WORLD.progress(WORLD.initial(seed), state)) == (4, 100, 18)


def test_a_perfect_team_takes_eight_rounds_with_a_tree_a_round():
    state = scripted(Forest(cut_limit=1), 1)
    assert (state.round, WORLD.score(state)) == (8, 100)


# Maps -----------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("seed", range(40))
def test_maps_keep_their_promises(seed):
    state = WORLD.initial(seed)
    x, y = state.at[0]
    assert len({*state.at}) == 1
    assert len({*state.targets}) == 6
    assert all(3 <= a < 27 and 3 <= b < 27 for a, b in (*state.targets, (x, y)))
    assert all(state.trees[b][a] == 3 and abs(a - x) > 3 and abs(b - y) > 3 for a, b in state.targets)
    assert {tree for line in state.trees for tree in line} <= {0, 1, 2, 3}
    assert WORLD.standing(state) == 18
    assert not any(state.trees[b][a] for b in range(30) for a in range(30) if state.buildings[b] >> a & 1)
    revealed = {(a, b) for b in range(30) for a in range(30) if state.seen[b] >> a & 1}
    assert revealed == {(a, b) for b in range(30) for a in range(30) if max(abs(a - x), abs(b - y)) <= 5}


def test_maps_differ_and_are_mixed():
    states = [WORLD.initial(seed) for seed in range(40)]
    assert len({state.trees for state in states}) == 40
    counts = [sum(line.count(trees) for state in states for line in state.trees) for trees in range(4)]
    assert min(counts) > 0.05 * sum(counts)
    built = sum(bin(bits).count("1") for state in states for bits in state.buildings)
    assert built == pytest.approx(0.05 * 40 * 900, rel=0.15)


def test_vegetation_is_smooth():
    """Neighbours differ less than cells far apart, buildings aside."""
    near, far = [], []
    for seed in range(20):
        state = WORLD.initial(seed)
        free = [[not state.buildings[y] >> x & 1 for x in range(30)] for y in range(30)]
        for y in range(30):
            for x in range(15):
                for gap, into in ((1, near), (15, far)):
                    if free[y][x] and free[y][x + gap]:
                        into.append(abs(state.trees[y][x] - state.trees[y][x + gap]))
    assert 3 * sum(near) / len(near) < sum(far) / len(far)


def test_targets_are_apart_unless_there_is_no_room():
    dense = Forest(offset=300)  # so that there is room
    for seed in range(10):
        cells = dense.initial(seed).targets
        gaps = [max(abs(a - c), abs(b - d)) for (a, b), (c, d) in permutations(cells, 2)]
        assert min(gaps) >= 3
    crowded = Forest(separation=1000, patience=3)  # too far for any two cells: halved until they fit
    assert len(crowded.initial(0).targets) == 6


def test_a_map_that_cannot_be_is_refused_with_its_seed():
    with pytest.raises(ValueError, match=r"forest, seed 4: no map with 6 target cells in 200 draws; ask for fewer"):
        Forest(side=10, offset=-500).initial(4)


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({"cut_limit": 0}, "cut_limit 0 is no number of trees"),
        ({"rounds": 0}, "rounds is 0"),
        ({"cells": -1}, "cells is -1"),
        ({"band": (0.9, 0.1)}, r"band \(0.9, 0.1\)"),
    ],
)
def test_impossible_numbers_are_refused(fields, message):
    with pytest.raises(ValueError, match=message):
        Forest(**fields)


# What agents see ------------------------------------------------------------------------------------------------------


def window(text):
    """The lines of the map in an observation, as {y: marks}."""
    return {int(y): marks for y, marks in re.findall(r"^ *(-?\d+) ([-0-3B*]{21})$", text, re.MULTILINE)}


def test_observation_by_hand():
    world, state = small()
    world = replace(world, window=2, reveal=1)
    state = replace(state, seen=world._revealed((0,) * 8, [(1, 1), (1, 7)]), at=((1, 1), (1, 6), (6, 0)))
    text = world.observe(state, "agent_1")
    assert text.splitlines() == [
        "Round 1 of 4.",
        "You are at (1,1). 3 trees now.",
        "Target cells, 3 trees each at first:",
        "  (1,1): 3 trees now",
        "  (6,5): not seen yet",
        "Map around you, x from -1 to 3, a line for each y; a digit counts trees, B is a building, - not seen yet or "
        "outside, * you:",
        " -1 -----",
        "  0 -000-",
        "  1 -0*0-",
        "  2 -002-",
        "  3 -----",
    ]
    assert "  7 -B00-" in world.observe(state, "agent_2")


@pytest.mark.parametrize("seed", range(6))
def test_the_map_is_shared_and_shows_what_was_revealed(seed):
    """Against a set of revealed cells kept beside the world."""
    rng = random.Random(seed)
    state = WORLD.initial(seed)
    known = {
        (x, y)
        for x in range(30)
        for y in range(30)
        if all(abs(p - q) <= 5 for p, q in zip((x, y), state.at[0], strict=True))
    }
    for _ in range(4):
        goals = [(rng.randrange(30), rng.randrange(30)) for _ in AGENTS]
        for start, goal in zip(state.at, goals, strict=True):
            x, y = start
            while (x, y) != goal:
                x += (goal[0] > x) - (goal[0] < x)
                y += (goal[1] > y) - (goal[1] < y)
                known |= {(a, b) for a in range(x - 5, x + 6) for b in range(y - 5, y + 6)}
        state = play(WORLD, state, [f"move({x},{y})" for x, y in goals])
        for agent, (x, y) in zip(AGENTS, state.at, strict=True):
            rows = window(WORLD.observe(state, agent))
            assert list(rows) == list(range(y - 10, y + 11))
            for row, marks in rows.items():
                for column, mark in zip(range(x - 10, x + 11), marks, strict=True):
                    if (column, row) == (x, y):
                        assert mark == "*"
                    elif not (0 <= column < 30 and 0 <= row < 30) or (column, row) not in known:
                        assert mark == "-"
                    elif state.buildings[row] >> column & 1:
                        assert mark == "B"
                    else:
                        assert mark == str(state.trees[row][column])


def test_others_are_not_told_where_one_is():
    state = play(WORLD, WORLD.initial(0), ["move(29,29)", IDLE, IDLE])
    other = replace(state, at=((0, 0), *state.at[1:]))
    assert WORLD.observe(state, "agent_2") == WORLD.observe(other, "agent_2")


# Action texts ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "action"),
    [
        ("IDLE()", "idle"),
        ("wait", "idle"),
        (" `move(4, 7)`. ", "move(4,7)"),
        ("Move to (x=4, y=7)", "move(4,7)"),
        ("move_to [4;7]", "move(4,7)"),
        ("move((04,7.0))", "move(4,7)"),
        ("move 4 7", "move(4,7)"),
        ("'cut 2 trees'", "cut(2)"),
        ("cut(k=1)", "cut(1)"),
        ("CutAll", "cut_all"),
        ("cut all\n trees", "cut_all"),
        ("cut(all)", "cut_all"),
        ("pickup()", "pick_up"),
    ],
)
def test_actions_are_read_leniently(text, action):
    assert WORLD.parse_action(text) == action


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("move(30,7)", r"\(30,7\) is outside the map: x and y go from 0 to 29"),
        ("move(-1,0)", r"\(-1,0\) is outside"),
        ("move(4)", "move takes two whole numbers in brackets, not '4'"),
        ("move(4.5,7)", "two whole numbers"),
        ("move", "two whole numbers"),
        ("move(4,7), cut_all", "is no action|two whole numbers"),
        ("move(4,7)\nmove(5,5)", "two whole numbers"),
        ("cut(0)", r"cut\(0\) is impossible: k goes from 1 to 3"),
        ("cut(4)", "impossible"),
        ("cut(1e9)", "one whole number"),
        ("idle(3)", "no number"),
        ("fly(1,2)", "'fly.1,2.' is no action; choose one of idle, move"),
        ("", "is no action"),
        ("move(" + "9" * 100_000 + ",1)", "is no action"),
        ("__import__('os').system('true')", "is no action"),
        ("\ud800\x00\u202e", "is no action"),
        (None, "not NoneType"),
        (["move(1,1)"], "not list"),
    ],
)
def test_what_is_no_action_is_refused_with_a_reason(text, reason):
    with pytest.raises(ValueError, match=reason) as error:
        WORLD.parse_action(text)
    assert "\n" not in str(error.value)
    assert len(str(error.value)) < 200


def test_every_action_reads_back():
    actions = WORLD.actions("agent_2")
    assert actions[0] == IDLE
    assert len(actions) == len({*actions}) == 1 + 900 + 3 + 1 + 4
    assert [WORLD.parse_action(action) for action in actions] == [*actions]


@given(st.text(max_size=60) | st.from_regex(r"(move|cut|idle) ?\(?[-0-9, x=]{0,9}\)?", fullmatch=True))
@settings(max_examples=400, deadline=None, derandomize=True, database=None)
def test_reading_gives_an_action_or_a_reason(text):
    try:
        action = WORLD.parse_action(text)
    except ValueError:
        return
    assert action in WORLD._known("agent_1")


# Properties -----------------------------------------------------------------------------------------------------------


def wander(world, seed, rounds):
    """States of random play that often cuts and often walks to targets."""
    rng, state = random.Random(seed), world.initial(seed % 20)
    states = [state]
    while len(states) <= rounds and not (world.is_over(state) or world.is_cut(state)):
        acts = {}
        for agent in world.agents:
            goal = rng.choice(state.targets)
            acts[agent] = rng.choice(
                [rng.choice(world.actions(agent)), "move({},{})".format(*goal), "cut(1)", "cut(2)", "cut_all"]
            )
        state = world.step(state, acts)
        states.append(state)
    return states


@given(st.integers(0, 10**6), st.sampled_from([None, 1, 2]))
@settings(max_examples=60, deadline=None, derandomize=True, database=None)
def test_random_play_keeps_the_rules(seed, limit):
    world = Forest(cut_limit=limit)
    states = wander(world, seed, 12)
    for before, after in pairwise(states):
        flat = zip(chain(*after.trees), chain(*before.trees), strict=True)
        assert all(0 <= new <= old for new, old in flat)
        assert all(0 <= x < 30 and 0 <= y < 30 for x, y in after.at)
        assert all(new & old == old for new, old in zip(after.seen, before.seen, strict=True))
        assert after.round == before.round + 1
        gained = world.progress(before, after)
        assert 0 <= gained <= (9 if limit is None else 3 * limit)
    total = world.progress(states[0], states[-1])
    assert 0 <= total <= 18
    assert world.score(states[-1]) == pytest.approx(100 * total / 18)
    assert total == sum(world.progress(*pair) for pair in pairwise(states))
    assert world.is_over(states[-1]) == (total == 18)


def test_the_order_of_agents_does_not_matter():
    """Neither the order in which actions are given nor which seat acts how."""
    rng = random.Random(1)
    for seed in range(8):
        states = wander(WORLD, seed, 5)
        state = states[-1] if not WORLD.is_over(states[-1]) else states[0]
        acts = [rng.choice(["cut(1)", "cut(2)", "cut_all", "move(3,4)", IDLE, "move(20,20)"]) for _ in AGENTS]
        one = WORLD.step(state, dict(zip(AGENTS, acts, strict=True)))
        assert WORLD.step(state, dict(reversed(list(zip(AGENTS, acts, strict=True))))) == one
        for order in permutations(range(3)):
            turned = replace(state, at=tuple(state.at[i] for i in order))
            other = WORLD.step(turned, {AGENTS[k]: acts[i] for k, i in enumerate(order)})
            assert (other.trees, other.seen) == (one.trees, one.seen)
            assert other.at == tuple(one.at[i] for i in order)
            assert other.notes == tuple(one.notes[i] for i in order)


@pytest.mark.parametrize("looks", [0, 1, 5])
def test_looking_changes_nothing(looks):
    state = WORLD.initial(3)
    seen = []
    for round_ in range(3):
        texts = [[WORLD.observe(state, agent) for agent in AGENTS] for _ in range(looks)]
        assert all(text == texts[0] for text in texts)
        seen += texts[:1]
        WORLD.draw(state) if looks else None
        state = WORLD.step(state, {"agent_1": f"move({round_},5)", "agent_2": "cut(1)"})
    assert state == play(WORLD, WORLD.initial(3), *[(f"move({r},5)", "cut(1)", IDLE) for r in range(3)])


TRAJECTORY = """
import hashlib
from tasks.worlds.forest import Forest, script
digest = hashlib.sha256()
for seed in range(4):
    world = Forest()
    state, policy = world.initial(seed), script(world)
    while not (world.is_over(state) or world.is_cut(state)):
        state = world.step(state, {agent: policy(state, agent) for agent in world.agents})
        digest.update((repr(state) + "".join(world.observe(state, a) for a in world.agents)).encode())
        digest.update(world.draw(state).encode())
print(digest.hexdigest())
"""


def test_every_process_plays_the_same_game():
    found = set()
    for seed in ("0", "1", "4242"):
        environment = {**os.environ, "PYTHONHASHSEED": seed}
        done = subprocess.run([sys.executable, "-c", TRAJECTORY], env=environment, capture_output=True, check=True)
        found.add(done.stdout)
    assert len(found) == 1
    assert len(found.pop().strip()) == 64


def test_maps_stay_as_they_are():
    """Raise `Forest.version` and change this digest where maps are meant to change: recordings depend on them."""
    maps = repr([(s.targets, s.trees, s.buildings, s.at) for s in map(WORLD.initial, range(3))])
    assert WORLD.version == 1
    assert hashlib.sha256(maps.encode()).hexdigest() == (
        "d14ce430ba2be87bd17c848602c296ee85bf5315994ffc44b7619511b5b53339"
    )


# Contract -------------------------------------------------------------------------------------------------------------


def test_pettingzoo_takes_it(capsys):
    parallel_api_test(env(WORLD), num_cycles=60)
    parallel_api_test(env(Forest(cut_limit=1, side=20, cells=3)), num_cycles=30)


def test_observations_are_short_and_in_the_space():
    space = env(WORLD).observation_space("agent_1")
    for state in wander(WORLD, 7, 12):
        for agent in AGENTS:
            assert space.contains(WORLD.observe(state, agent))


@pytest.mark.parametrize(
    ("actions", "message"),
    [
        ({"agent_9": IDLE}, "'agent_9' does not act"),
        ({"agent_1": "move(30,0)"}, "is no action"),
        ({"agent_1": "x"}, "x"),
    ],
)
def test_what_a_step_must_not_be_given(actions, message):
    with pytest.raises(ValueError, match=message):
        WORLD.step(WORLD.initial(0), actions)


def test_drawing_is_xml_with_a_text_alternative():
    import xml.etree.ElementTree as ElementTree

    world, state = small()
    after = play(world, state, ["cut_all", "move(6,5)", IDLE])
    root = ElementTree.fromstring(world.draw(after))
    assert root.get("aria-label") == (
        "round 1 of 4: 3 of 6 target trees cut; agent_1 at (1,1), agent_2 at (6,5), agent_3 at (1,1)"
    )
    tag = "{http://www.w3.org/2000/svg}"
    assert len(root.findall(f"{tag}rect")) == 64
    assert [rect.get("class") for rect in root.findall(f"{tag}rect")].count("right") == 1
    assert len(root.findall(f"{tag}circle")) == 3
