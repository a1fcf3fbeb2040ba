"""CUBE: its rules on boards drawn by hand, its tools, and the scripted team."""

from __future__ import annotations

import hashlib
import os
import random
import re
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import replace
from itertools import permutations, product
from types import MappingProxyType
from xml.etree import ElementTree

import numpy as np
import pytest

from tasks.base import seeded
from tasks.worlds.cooperation import CONSTRAINTS, Call, Completion, Forecast, Running, score
from tasks.worlds.cube import Cube
from tasks.worlds.cube_board import MOVES, CubeState, beside, read_map, walkable
from tasks.worlds.cube_script import decide, jobs, plan

KEYS = dict(zip("sudlr", ("stay", *MOVES), strict=True))


def board(layout: str) -> list[str]:
    """The rows of a map, filled up from below to a square."""
    rows = layout.split()
    return rows + ["." * (len(rows[0]) - 1) + "|"] * (len(rows[0]) - len(rows))


def told(world: Cube, keys: str) -> dict[str, str]:
    """Actions by their first letters, in seat order."""
    return {agent: KEYS[key] for agent, key in zip(world.agents, keys, strict=True)}


def shown(world: Cube, state: CubeState) -> list[str]:
    """The inverse of `read_map`."""
    rows = [["."] * (world.size - 1) + ["|"] for _ in range(world.size)]
    for block in state.blocks:
        for row, column in block.cells:
            rows[row][column] = chr(ord("A") + block.number)
    for seat, (row, column) in enumerate(state.agents):
        rows[row][column] = str(seat)
    return ["".join(row) for row in rows]


def play(layout: str, *steps: str, chain: bool = False) -> tuple[Cube, CubeState]:
    """The world of a map and its state after some steps."""
    world = Cube.drawn(board(layout), chain=chain)
    state = world.initial(0)
    assert shown(world, state) == board(layout)
    for keys in steps:
        state = world.step(state, told(world, keys))
    return world, state


def becomes(layout: str, keys: str, expected: str, chain: bool = False) -> tuple[str, ...]:
    """Check what one step makes of a map; what each seat is told of it."""
    world, state = play(layout, keys, chain=chain)
    assert shown(world, state) == board(expected)
    return state.told


def random_actions(world: Cube, rng: random.Random) -> dict[str, str]:
    """To the right more often, so that blocks are delivered."""
    return {agent: rng.choice((*world.actions(agent), *["right"] * 4)) for agent in world.agents}


# pushes, and what the description of the rules leaves open


def test_a_light_block_is_pushed_and_the_pusher_follows():
    assert becomes("0A..|", "r", ".0A.|") == ("you pushed block_0 right",)


def test_a_heavy_block_needs_all_cells_of_its_side():
    said = becomes("0AA..| 1AA..|", "rs", "0AA..| 1AA..|")
    assert said == ("block_0 did not move: 1 of 2 agents pushed it right", "")
    becomes("0AA..| 1AA..|", "rr", ".0AA.| .1AA.|")


@pytest.mark.parametrize(
    ("direction", "face"),
    [
        ("right", ((3, 2), (4, 2), (5, 2))),
        ("left", ((3, 6), (4, 6), (5, 6))),
        ("down", ((2, 3), (2, 4), (2, 5))),
        ("up", ((6, 3), (6, 4), (6, 5))),
    ],
)
def test_three_push_a_block_of_three_in_every_direction(direction, face):
    world = Cube(size=9, team=3, weights=(3,))
    start = CubeState(0, face, (world.initial(0).blocks[0]._replace(row=3, column=3),))
    end = world.step(start, dict.fromkeys(world.agents, direction))
    assert (end.blocks[0].row, end.blocks[0].column) == beside((3, 3), direction)
    assert end.agents == tuple(beside(cell, direction) for cell in face)
    for idle in world.agents:
        stays = world.step(start, {agent: direction for agent in world.agents if agent != idle})
        assert (stays.blocks, stays.agents) == (start.blocks, start.agents)


def test_there_is_no_chain_pushing():
    assert becomes("0AB.|", "r", "0AB.|") == ("block_0 did not move: block_1 is in the way",)
    assert becomes("0A1.|", "rs", "0A1.|")[0] == "block_0 did not move: agent_1 is in the way"
    becomes("0A1.|", "rr", "0A.1|")  # pushes come first: the one ahead was still there


def test_the_border_stops_a_block():
    assert becomes("A...| 0...|", "u", "A...| 0...|") == ("block_0 did not move: the border is in the way",)


def test_a_block_moves_at_most_once_in_a_step():
    """(a) Of pushes in two directions the first of up, down, left and right is done."""
    said = becomes(".0..| 1A..|", "dr", "....| 10..| .A..|")
    assert said[1] == "block_0 did not move right: it has moved otherwise in this step"


def test_opposite_full_pushes_cancel():
    """(c)"""
    for chain in (False, True):
        said = becomes("0A1.|", "rl", "0A1.|", chain)
        assert said == tuple(f"block_0 did not move: it was pushed {other} as well" for other in ("left", "right"))


def test_of_two_who_walk_into_one_cell_the_first_seat_wins():
    """(d) In upstream both could enter."""
    assert "agent_0 is in the way" in becomes("0.1.| ...A|", "rl", ".01.| ...A|")[1]
    assert "agent_0 is in the way" in becomes("1.0.| ...A|", "lr", "10..| ...A|")[1]


def test_nobody_trades_places():
    """(d) Neither two nor a ring of four."""
    becomes("01..| ...A|", "rl", "01..| ...A|")
    becomes("01..| 32A.|", "rdlu", "01..| 32A.|")


def test_one_follows_only_an_earlier_seat_or_a_pusher():
    """(d) Pushes come before walks."""
    becomes("10..| ...A|", "rr", ".10.| ...A|")
    becomes("01..| ...A|", "rr", "0.1.| ...A|")
    becomes("01A.|", "rr", ".01A|")


def test_delivery_is_at_once():
    """(e) What it covered is free for the next push of the same step; low numbers are pushed first."""
    world, state = play("..0A|", "r")
    assert (state.score, state.blocks, world.is_over(state), world.is_cut(state)) == (1, (), True, False)
    becomes("....2| ..0AA| ..1AA| B....|", "rrd", "....2| ...0.| ...1.| B....|")  # who pushed elsewhere stays
    becomes("0B1A|", "rr", ".0B1|")
    becomes("0A1B|", "rr", "0A.1|")


def test_chains_of_the_first_version():
    """(f) Weights add up, surplus pushers follow, an agent in the row weighs 1 or adds its push."""
    assert "1 of 2 agents" in becomes("0AB..|", "r", "0AB..|", True)[0]
    assert "2 of 3 agents" in becomes("0AAB.| 1AA..|", "rr", "0AAB.| 1AA..|", True)[0]
    becomes("01AB..|", "rr", ".01AB.|", True)
    becomes("01A...|", "rr", ".01A..|", True)
    becomes("0A1...|", "rs", "0A1...|", True)
    becomes("0A1B..|", "rr", ".0A1B.|", True)
    becomes("01AB|", "rr", ".01A|", True)  # the one in front is delivered
    becomes("01A2|", "rrs", "01A2|", True)  # no agent is pushed into the goal
    assert becomes("01A2..|", "rrs", ".01A2.|", True)[2] == "you were pushed right"


def test_rewards_share_a_delivery_and_charge_each_step():
    world, start = play("..0AA| ..1AA| B....|")
    end = world.step(start, told(world, "rr"))
    assert (start.score, end.score, len(end.blocks)) == (0, 2, 1)
    assert world.rewards(start, end) == dict.fromkeys(world.agents, 0.99)
    assert world.rewards(end, world.step(end, {})) == dict.fromkeys(world.agents, -0.01)


# what holds on every board


def oracle(world: Cube, state: CubeState, actions: Mapping[str, str]) -> tuple[list[complex], dict[int, set[complex]]]:
    """The rules once more, written with complex numbers and without any table that is kept up to date: where agents
    and blocks are after a step."""
    delta = {"up": -1 + 0j, "down": 1 + 0j, "left": -1j, "right": 1j}
    agents = [complex(*place) for place in state.agents]
    blocks = {block.number: {complex(*cell) for cell in block.cells} for block in state.blocks}
    wish = [delta.get(actions[name], 0) for name in world.agents]
    facing = [
        next((n for n, cells in blocks.items() if a + d in cells), None) for a, d in zip(agents, wish, strict=True)
    ]
    moved = set()
    for d in delta.values():
        for n in sorted(blocks):
            pushers = [i for i in range(len(agents)) if facing[i] == n and wish[i] == d]
            against = [i for i in range(len(agents)) if facing[i] == n and wish[i] == -d]
            weight = len(blocks[n]) ** 0.5
            new = {cell + d for cell in blocks[n]}
            solid = {*agents}.union(*(cells for m, cells in blocks.items() if m != n))
            inside = all(0 <= cell.real < world.size and 0 <= cell.imag < world.size for cell in new)
            if len(pushers) >= weight > len(against) and n not in moved and inside and not new & solid:
                moved.add(n)
                blocks[n] = new
                for i in pushers:
                    agents[i] += d
                if any(cell.imag == world.size - 1 for cell in new):
                    del blocks[n]
    for i, d in enumerate(wish):
        cell = agents[i] + d
        free = cell not in {*agents}.union(*blocks.values())
        if d and facing[i] is None and free and 0 <= cell.real < world.size and 0 <= cell.imag < world.size - 1:
            agents[i] = cell
    return agents, blocks


SMALL = {"size": 7, "weights": (1, 1, 1, 2), "limit": 10**9}


@pytest.mark.parametrize("team", [3, 6])
def test_the_engine_agrees_with_a_second_one(team):
    world, delivered, pushes = Cube(team=team, **SMALL), 0, 0
    for seed in range(12):
        rng, state = seeded("oracle", seed), world.initial(seed)
        for _ in range(150):
            actions = random_actions(world, rng)
            agents, blocks = oracle(world, state, actions)
            state = world.step(state, actions)
            pushes += len(state.pushes)
            assert [complex(*place) for place in state.agents] == agents
            assert {block.number: {complex(*cell) for cell in block.cells} for block in state.blocks} == blocks
            if world.is_over(state):
                break
        delivered += len(state.delivered)
    assert delivered > 5
    assert pushes > 50


@pytest.mark.parametrize("chain", [False, True])
def test_no_two_bodies_share_a_cell_in_ten_thousand_steps(chain):
    world = Cube(team=6, chain=chain, **SMALL)
    rng, seed, delivered = seeded("bodies"), 0, 0
    state = world.initial(seed)
    for _ in range(10_000):
        before, state = state, world.step(state, random_actions(world, rng))
        covered = [cell for block in state.blocks for cell in block.cells]
        assert len({*state.agents, *covered}) == len(state.agents) + len(covered)
        assert all(walkable(world.size, cell) for cell in (*state.agents, *covered))
        assert all(abs(a - c) + abs(b - d) <= 1 for (a, b), (c, d) in zip(before.agents, state.agents, strict=True))
        old = {block.number: block for block in before.blocks}
        assert all(abs(old[b.number].row - b.row) + abs(old[b.number].column - b.column) <= 1 for b in state.blocks)
        assert state.score + sum(block.weight for block in state.blocks) == world.total
        if world.is_over(state) or rng.random() < 0.005:
            delivered, seed = delivered + len(state.delivered), seed + 1
            state = world.initial(seed)
    assert delivered > 30


@pytest.mark.parametrize("layout", ["0A.1.| .2BB.| ..BB.|", "01...| 2AAB.| .AA..|"])
def test_permuting_agents_changes_nothing_but_names(layout):
    """All orders of three agents, all that they may want: blocks go the same ways; and so do agents, but where two walk
    into one cell or to where somebody stands, in which case the seat decides."""
    world, start = play(layout)
    told_apart = 0
    for wanted in product(KEYS.values(), repeat=3):
        intents = dict(zip(start.agents, wanted, strict=True))
        walks = [beside(p, d) for p, d in intents.items() if d != "stay" and beside(p, d) not in start.cover]
        contended = len({*walks}) < len(walks) or any(cell in intents for cell in walks)
        outcomes = []
        for places in permutations(start.agents):
            actions = {agent: intents[place] for agent, place in zip(world.agents, places, strict=True)}
            end = world.step(replace(start, agents=places), actions)
            assert len({*end.agents, *end.cover}) == 3 + len(end.cover)
            outcomes.append((end.blocks, end.score, dict(zip(places, end.agents, strict=True))))
        assert all(outcome[:2] == outcomes[0][:2] for outcome in outcomes)
        if not contended:
            assert all(outcome == outcomes[0] for outcome in outcomes)
            told_apart += 1
    assert told_apart > 40


def trajectory(reverse: bool = False, looks: int = 0) -> str:
    """A digest of all states and texts of an episode of random actions."""
    world = Cube(team=6, limit=200)
    rng, state = seeded("trajectory"), world.initial(5)
    digest = hashlib.sha256()
    while not world.is_cut(state):
        actions = random_actions(world, rng)
        for _ in range(looks):
            assert [world.observe(state, agent) for agent in world.agents]
            world.arrays(state)
            world.draw(state)
        state = world.step(state, dict(reversed(actions.items())) if reverse else actions)
        digest.update(f"{state}{world.observe(state, 'agent_3')}".encode())
    return digest.hexdigest()


def test_a_whole_trajectory_is_the_same_in_every_process(root):
    """Crafter#36 and #31, PettingZoo#1437: other hash seeds, other orders of the actions, looking or not."""
    code = "import sys; sys.path.insert(0, 'tests'); import test_cube; print(test_cube.trajectory())"
    said = {
        subprocess.run(
            [sys.executable, "-c", code],
            env={**os.environ, "PYTHONHASHSEED": seed, "PYTHONPATH": str(root)},
            cwd=root,
            capture_output=True,
            text=True,
            check=True,
        ).stdout.strip()
        for seed in ("1", "2")
    }
    assert said == {trajectory(), trajectory(reverse=True), trajectory(looks=1), trajectory(looks=5)}


def test_boards_by_seed():
    worlds = [Cube(team=3), Cube(team=6)]
    for seed in range(100):
        few, many = (world.initial(seed) for world in worlds)
        assert few == worlds[0].initial(seed)
        assert few.blocks == many.blocks
        assert [block.weight for block in few.blocks] == [1, 1, 1, 2, 2, 2, 3, 3, 3]
        assert len(few.cover) == 42  # none lies on another
        assert all(1 <= b.row <= 13 - b.weight and 1 <= b.column <= 13 - b.weight for b in few.blocks)
        assert all(column == 0 for _, column in many.agents)
        assert len({*many.agents}) == 6
    assert len({worlds[0].initial(seed).blocks for seed in range(100)}) == 100
    assert worlds[0].total == 18


@pytest.mark.parametrize(
    ("numbers", "said"),
    [
        ({"team": 0}, "team 0 must be from 1 to the size 15"),
        ({"team": 16}, "team 16"),
        ({"weights": (13,)}, "weights (13,) must be from 1 to the size minus 3, 12"),
        ({"weights": ()}, "weights ()"),
        ({"limit": 0}, "limit 0"),
    ],
)
def test_numbers_that_make_no_world(numbers, said):
    with pytest.raises(ValueError) as caught:
        Cube(**numbers)
    assert said in str(caught.value)


def test_blocks_that_do_not_fit_name_the_seed():
    with pytest.raises(ValueError, match=r"seed 7: weights \(3, 3\) do not fit a board of 6"):
        Cube(size=6, weights=(3, 3)).initial(7)


@pytest.mark.parametrize(
    "layout",
    ["0A.| .A.| ...|", "0.A| ..| ..|", "00A.|", "1A..|", "0...|", "A...|", "0a..|", "A..0"],
)
def test_maps_that_are_no_boards(layout):
    with pytest.raises(ValueError):
        read_map(board(layout))


def test_what_a_step_must_not_be_given():
    world, state = play("0A..|")
    for actions in ({"agent_0": "fly"}, {"agent_1": "stay"}, {"agent_0": "Right"}):
        with pytest.raises(ValueError):
            world.step(state, actions)
    over = world.step(world.step(world.step(state, told(world, "r")), told(world, "r")), told(world, "r"))
    with pytest.raises(ValueError, match="has ended"):
        world.step(over, {})
    cut = replace(state, step=world.limit)
    assert world.is_cut(cut)
    with pytest.raises(ValueError, match="has ended"):
        world.step(cut, {})
    assert world.step(state, MappingProxyType({"agent_0": "right"})).step == 1  # nothing is written into it


def test_what_is_refused_has_no_effect():
    world = Cube(team=6, **SMALL)
    refused = 0
    for seed in range(60):
        rng, state = seeded("refused", seed), world.initial(seed)
        for _ in range(10):
            actions = random_actions(world, rng)
            for agent in world.agents:
                for action in world.actions(agent):
                    if world.refusal(state, agent, action):
                        refused += 1
                        with_it = world.step(state, {**actions, agent: action})
                        without = world.step(state, {**actions, agent: "stay"})
                        assert (with_it.agents, with_it.blocks) == (without.agents, without.blocks)
            assert world.refusal(state, "agent_0", "stay") == ""
            state = world.step(state, actions)
            if world.is_over(state):
                break
    assert refused > 500


@pytest.mark.parametrize(
    ("agent", "action", "said"),
    [
        ("agent_0", "up", "there the board ends"),
        ("agent_0", "right", ""),
        ("agent_1", "right", "agents may not enter the goal"),
        ("agent_2", "right", ""),
        ("agent_2", "up", "block_1 cannot be pushed up where it is"),
    ],
)
def test_refusals(agent, action, said):
    world, state = play("0A.B1| ...2.|")
    assert said in world.refusal(state, agent, action) if said else not world.refusal(state, agent, action)


# observations


def test_the_observation_tells_the_board():
    world, state = play("0.AAB.| ..AA..| .1....|")
    text = world.observe(state, "agent_1")
    assert "You are agent_1 at (2, 1). Others: agent_0 at (0, 0)." in text
    assert (
        "block_0: weight 2, needs 2 at once, scores 2, top left (0, 2), rows 0 to 1, columns 2 to 3; stand on (0, 1), "
        "(1, 1) to push it right, 3 from the goal, way blocked by block_1" in text
    )
    assert "block_1: weight 1" in text
    assert "stand on (0, 3) to push it right, 2 from the goal, way clear" in text
    assert "Delivered: none." in text
    assert len(text) < world.longest


@pytest.mark.parametrize("team", [1, 3, 6])
def test_an_observation_can_be_read_back(team):
    world, rng = Cube(team=team, **SMALL), seeded("read", team)
    for seed in range(5):
        state = world.initial(seed)
        for _ in range(60):
            for agent in world.agents:
                assert world.read(world.observe(state, agent)) == replace(state, pushes=(), told=())
            state = world.step(state, random_actions(world, rng))
            if world.is_over(state):
                break
    text = world.observe(world.initial(0), "agent_0")
    for other in ("hello", text.replace("agent_0", "agent_9"), text.replace("Delivered: none", "Delivered: block_99")):
        with pytest.raises(ValueError, match="no observation"):
            world.read(other)


def test_arrays():
    world, state = play("0.AA.| ..AA.| .1B..|")
    seen = world.arrays(state)
    assert seen.shape == (6, 6, 5)
    assert seen[:, :, 0].tolist()[:3] == [[1, 0, 0, 0, 0, 0], [0] * 6, [0, 1, 0, 0, 0, 0]]
    assert seen[:, :, 1].tolist()[:3] == [[0, 0, 2, 2, 0, 0], [0, 0, 2, 2, 0, 0], [0, 0, 1, 0, 0, 0]]
    assert seen[:, :, 2].tolist() == [[0, 0, 0, 0, 0, 1]] * 6
    assert (seen[0, 0, 3], seen[2, 1, 3], seen[:, :, 3].sum()) == (1, 2, 3)
    assert (seen[1, 3, 4], seen[2, 2, 4], seen[:, :, 4].sum()) == (1, 2, 6)
    seen[:] = 9
    assert not np.array_equal(seen, world.arrays(state))  # upstream gave one array to all


def test_drawing():
    world = Cube(team=6)
    root = ElementTree.fromstring(world.draw(world.initial(1)))
    words = [element.text for element in root.iter("{http://www.w3.org/2000/svg}text")]
    assert [word for word in words if word in {str(seat) for seat in range(6)}] == [str(seat) for seat in range(6)]
    assert sum(re.fullmatch(r"[0-8]:[123]", str(word)) is not None for word in words) == 9
    assert "9 blocks left, score 0 of 18" in root.attrib["aria-label"]


# with PettingZoo


def test_the_parallel_api():
    api = pytest.importorskip("pettingzoo.test").parallel_api_test
    from tasks.worlds.parallel import env

    api(env(Cube(team=3)), num_cycles=120)
    made = env(Cube(team=6, limit=4))
    assert made.action_space("agent_0") is made.action_space("agent_0")
    first, _ = made.reset(seed=3)
    assert made.reset(seed=3)[0] == first
    assert made.reset()[0] != first
    for left in (3, 2, 1, 0):
        _, rewards, over, cut, _ = made.step(dict.fromkeys(made.agents, 0))
        assert (set(over.values()), set(cut.values()), len(rewards)) == ({False}, {left == 0}, 6)
    assert made.agents == []
    with pytest.raises(ValueError):
        made.step({"agent_0": 0})
    made = env(Cube.drawn(board("..0A|")))
    made.reset(seed=0)
    _, rewards, over, cut, _ = made.step({"agent_0": 4})
    assert (rewards, over, cut, made.agents) == ({"agent_0": 0.99}, {"agent_0": True}, {"agent_0": False}, [])


# cooperation


def test_a_task_for_each_side_that_can_be_used():
    """None in a corner; and nobody can stand between a block and the goal."""
    world, state = play("A.....| .BB...| .BB..0| .....C|")
    ids = {task.id for task in world.tasks(state)}
    assert ids == {*(f"block_1_{side}" for side in MOVES), "block_2_left", "block_2_up", "block_2_down"}
    task = world.task(state, "block_1_left")
    assert task is not None
    assert (task.kind, task.participants, task.capability, task.reward) == ("push", 2, "", 2)
    assert world.task(state, "block_0_left") is world.task(state, "block_9_up") is world.task(state, "nonsense") is None
    assert world.aim(state, "agent_0", Call("push", ("block_2", 1)), (2, 5)) == "block_2_up"


def test_worked_deficits_of_two_at_a_block_for_three():
    """The worked vector of the specification, by pushes and by plain walks into the side."""
    world, state = play("0AAA..| 1AAA..| .AAA..| 2.....|")
    actions = told(world, "rrs")
    after = world.step(state, actions)
    (found,) = world.attempts(state, actions, after)
    assert (found.task.id, found.agents, found.success) == ("block_0_left", ("agent_0", "agent_1"), False)
    assert [round(found.deficits[c], 4) for c in CONSTRAINTS] == [0.3333, 0.3333, 0, 0]
    aim = world.aim(state, "agent_2", Call("push", ("block_0", 1)), world.place(state, "agent_2"))
    (found,) = world.attempts(state, actions, after, {"agent_2": aim})  # a call from where there is no contact
    assert found.agents == world.agents
    assert [round(found.deficits[c], 4) for c in CONSTRAINTS] == [0, 0.3333, 0, 0]
    assert world.likelihoods(state, actions, found.task)["temporal"] == pytest.approx(2 / 3)
    assert world.attempts(state, told(world, "sss"), state) == ()


def test_attempts_from_two_sides_are_two():
    world, state = play(".0..| 1A..|")
    actions = told(world, "dr")
    found = world.attempts(state, actions, world.step(state, actions))
    assert [(a.task.id, a.agents, a.success) for a in found] == [
        ("block_0_left", ("agent_1",), False),
        ("block_0_up", ("agent_0",), True),
    ]


def test_status_from_pending_to_completed():
    world, state = play("0.AA..| 1.AA..| ......| ......| B.....|")
    task = world.task(state, "block_0_left")
    right = world.task(state, "block_0_right")
    assert task is not None
    assert right is not None
    seen = [world.status(state, task)]
    for keys in ("rs", "sr", "rr", "rr", "rr"):
        before, actions = state, told(world, keys)
        state = world.step(state, actions)
        seen.append(world.status(state, task))
    assert seen == ["pending", "in_progress", "ready", "ready", "ready", "completed"]
    assert world.status(state, right) == "removed"
    assert world.completions(before, actions, state) == (Completion(task, ("agent_0", "agent_1"), 2),)


# tools


def perform(world: Cube, state: CubeState, **texts: str) -> tuple[CubeState, dict[str, list[str]]]:
    """Let agents do calls, separated by semicolons, one after the other: the last state, and how each call ended."""
    calls = {agent: [world.parse_call(text) for text in said.split(";")] for agent, said in texts.items()}
    running: dict[str, Running] = {}
    ends: dict[str, list[str]] = {agent: [] for agent in texts}
    for _ in range(200):
        actions = {}
        for agent in texts:
            while agent not in actions and (agent in running or calls[agent]):
                if agent not in running:
                    running[agent] = world.start(calls[agent].pop(0), state, agent)
                progress = world.advance(running[agent], state)
                assert progress == world.advance(running[agent], state)  # looking changes nothing
                if progress.primitive is None:
                    ends[agent].append(f"{progress.outcome}: {progress.reason}")
                    del running[agent]
                else:
                    assert progress.outcome == "executing"
                    running[agent], actions[agent] = progress.running, progress.primitive
        if not actions:
            return state, ends
        state = world.step(state, actions)
    raise AssertionError("the calls do not end")


FREE = "0.....| ..AA..| ..AA1.| B.....|"


@pytest.mark.parametrize(
    ("layout", "text", "end", "place", "steps"),
    [
        (FREE, "move(right, 3)", "success: walked 3 right", (0, 3), 3),
        (FREE, "move(right, 10)", "failed: no step right was possible after 5 of 10", (0, 5), 6),
        (FREE, "navigate(block_0)", "success: arrived at block_0", (1, 1), 2),
        (FREE, "navigate(block, 0, side=up)", "success: arrived at block_0", (0, 2), 2),
        (FREE, "navigate(agent_1)", "success: arrived at agent_1", (1, 4), 5),
        (FREE, "navigate(goal)", "success: arrived at goal", (0, 5), 5),
        (FREE, "navigate(block_0, 1)", "failed: not at block_0 after 1 steps", (1, 0), 1),
        (FREE, "navigate(block_7)", "failed: block_7 is not there", (0, 0), 0),
        (FREE, "navigate(moon)", "failed: moon is not there", (0, 0), 0),
        ("0.AB..|", "navigate(block_1)", "failed: no way leads to block_1", (0, 0), 0),
        ("0..1A.|", "navigate(block_0, 4)", "failed: not at block_0 after 4 steps", (0, 2), 4),
        (FREE, "wait(4)", "success: waited 4", (0, 0), 4),
        (FREE, "noop", "success: waited 1", (0, 0), 1),
        ("0A...|", "push(block_0, 2)", "success: block_0 was pushed right 2 times", (0, 2), 2),
        ("0A...| B....|", "push(block_0, 10)", "success: block_0 was pushed right 4 times and is deliver", (0, 4), 4),
        (FREE, "push(block_0)", "failed: no contact: you do not stand beside block_0", (0, 0), 0),
        (FREE, "push(block_9)", "failed: block_9 is not on the board", (0, 0), 0),
        (
            "0AA..| 1AA..|",
            "push(0, 3)",
            "failed: block_0 did not move in 3 steps. block_0 did not move: 1 of 2 agents pushed it right",
            (0, 0),
            3,
        ),
        (
            "0AB..|",
            "push(0)",
            "failed: block_0 did not move in 1 steps. block_0 did not move: block_1 is in the way",
            (0, 0),
            1,
        ),
    ],
)
def test_tools(layout, text, end, place, steps):
    world, state = play(layout)
    state, ends = perform(world, state, agent_0=text)
    assert ends["agent_0"][0].startswith(end)
    assert (state.agents[0], state.step) == (place, steps)


def test_a_push_waits_for_others():
    world, state = play("0AA...| .AA...| 1.....|")
    state, ends = perform(world, state, agent_0="push(0, 5)", agent_1="wait(1);navigate(block_0);push(0, 2)")
    assert ends["agent_0"] == ["success: block_0 was pushed right 2 times"]
    assert ends["agent_1"][2] == "success: block_0 was pushed right 2 times"
    assert (state.blocks[0].column, state.step) == (3, 5)


def test_a_block_that_others_push_away_ends_a_push():
    world, state = play(".1...| 0AB..|")
    _, ends = perform(world, state, agent_0="push(0, 5)", agent_1="push(0, 1)")
    assert ends["agent_0"] == ["failed: block_0 was pushed right 0 times, then others moved it away from you"]
    assert ends["agent_1"] == ["success: block_0 was pushed down 1 times"]


def test_navigation_goes_round_bodies_and_waits_for_none_that_stands():
    world, state = play("0.AA..| 1.AA..|")
    state, _ = perform(world, state, agent_0="navigate(block_0)", agent_1="navigate(block_0)")
    assert (state.agents, state.step) == (((0, 1), (1, 1)), 1)
    world, state = play("..B...| 01A...| ..C...|")
    state, _ = perform(world, state, agent_0="navigate(block_1)", agent_1="navigate(block_2, side=left)")
    assert state.agents == ((0, 1), (2, 1))


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("push(block_3, 4)", "push(block_3, 4)"),
        ("Push block 3", "push(block_3, 1)"),
        ("push(goal)", "block 'goal' is none of block_<number>"),
        ("push(3)", "push(block_3, 1)"),
        ("navigate(block, 3)", "navigate(block_3, 30, left)"),
        ('navigate("block", "block_3", 12)', "navigate(block_3, 12, left)"),
        ("navigate(goal)", "navigate(goal, 30, left)"),
        ("navigate(agent_1, timeout=100, side=up)", "navigate(agent_1, 100, up)"),
        ("move(UP)", "move(up, 1)"),
        ("move(north)", "direction 'north' is none of up, down, left, right"),
        ("push(3, 11)", "steps '11' is no whole number from 1 to 10"),
        ("navigate(goal, 101)", "no whole number from 1 to 100"),
        ("jump(3)", "is no tool"),
    ],
)
def test_calls_as_written(text, said):
    try:
        found = str(Cube().parse_call(text))
    except ValueError as error:
        found = str(error)
    assert any(part in found for part in said.split("|"))


# what is expected of plans


def expect(world: Cube, state: CubeState, id: str, **plans: str) -> list[float]:
    calls = {agent: [world.parse_call(text) for text in said.split(";")] for agent, said in plans.items()}
    task = world.task(state, id)
    assert task is not None
    found = world.expected(state, calls, task)
    return [found[c] for c in CONSTRAINTS]


def test_expectations():
    world, state = play("0..AA..| 1..AA..|")
    both = "navigate(block_0);push(0, 2)"
    assert expect(world, state, "block_0_left", agent_0=both, agent_1=both) == [1, 1, 1, 1]
    assert expect(world, state, "block_0_left", agent_0=both) == [0.5, 0.5, 1, 1]
    assert expect(world, state, "block_0_left", agent_0=both, agent_1="push(0, 4)") == [1, 0.5, 1, 1]
    assert expect(world, state, "block_0_right", agent_0=both, agent_1=both) == [0, 0, 1, 1]
    walk = "move(right, 2);move(right, 1)"
    assert expect(world, state, "block_0_left", agent_0=walk, agent_1=walk) == [1, 1, 1, 1]


@pytest.mark.parametrize(("wait", "together"), [(1, 1), (2, 0.5)])
def test_work_falls_together_within_one_step(wait, together):
    world, state = play("0AA..| 1AA..|")
    found = expect(world, state, "block_0_left", agent_0="push(0, 1)", agent_1=f"wait({wait});push(0, 1)")
    assert found[0] == together


@pytest.mark.parametrize(
    ("text", "place", "steps"),
    [
        ("navigate(block_0)", (1, 1), 2),
        ("navigate(goal)", (0, 5), 5),
        ("navigate(nowhere)", (0, 0), 1),
        ("move(down, 4)", (4, 0), 4),
        ("move(right, 10)", (0, 5), 10),
        ("wait(7)", (0, 0), 7),
        ("noop", (0, 0), 1),
        ("push(1, 3)", (0, 0), 3),
    ],
)
def test_forecasts(text, place, steps):
    world, state = play(FREE)
    start = Forecast(state.agents[0], (), 10)
    call = world.parse_call(text)
    assert world.foresee(state, "agent_0", call, start) == Forecast(place, (), 10 + steps)
    assert world.duration(state, "agent_0", call, start) == steps


def test_a_forecast_of_a_push_ends_with_the_delivery():
    world, state = play("..0A..|")
    assert world.foresee(state, "agent_0", world.parse_call("push(0, 10)"), Forecast((0, 2))) == Forecast((0, 5), (), 3)


# the scripted team


@pytest.mark.parametrize(("team", "seed"), [(3, 0), (3, 1), (6, 0), (6, 37), (6, 45)])
def test_the_scripted_team_delivers_everything(team, seed):
    """And makes no attempt in vain; seeds on which a careless order of pushes would block the rest are among them."""
    world = Cube(team=team, limit=250)
    state, trace = world.initial(seed), []
    while not world.is_over(state):
        before, actions = state, decide(world, state)
        state = world.step(state, actions)
        assert all(attempt.success for attempt in world.attempts(before, actions, state))
        trace += world.completions(before, actions, state)
    assert state.score == score(trace) == 18
    assert [c.task.id for c in trace] == [f"{block.name}_left" for block in state.delivered]
    assert all(len(c.agents) == c.task.participants for c in trace)


@pytest.mark.parametrize(("team", "seed"), [(3, 1), (6, 2)])
def test_the_scripted_team_plays_by_tools_too(team, seed):
    """Every agent plans for itself, from the text that it sees."""
    world = Cube(team=team, limit=600)
    state = world.initial(seed)
    calls: dict[str, list[Call]] = {agent: [] for agent in world.agents}
    running: dict[str, Running] = {}
    while not (world.is_over(state) or world.is_cut(state)):
        actions = {}
        for agent in world.agents:
            for _ in range(8):
                if agent not in running:
                    calls[agent] = calls[agent] or list(plan(world, world.read(world.observe(state, agent)), agent))
                    running[agent] = world.start(calls[agent].pop(0), state, agent)
                progress = world.advance(running[agent], state)
                if progress.primitive is not None:
                    running[agent], actions[agent] = progress.running, progress.primitive
                    break
                del running[agent]
                if progress.outcome == "failed":
                    calls[agent] = []
        state = world.step(state, actions)
    assert state.score == 18


def test_a_board_that_no_team_can_clear_is_played_as_far_as_it_goes():
    """Three blocks that hold each other: nothing is left to do, and the script says so instead of looking for ever."""
    world = Cube(limit=400)
    state = world.initial(62)
    for _ in range(150):
        state = world.step(state, decide(world, state))
    assert jobs(world, state) == []
    assert 0 < state.score < 18
