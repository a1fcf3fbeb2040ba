"""Simulated crews: without faults they play as well as the scripted team, with faults as their rates say."""

from __future__ import annotations

import sys
from collections import Counter
from dataclasses import replace
from itertools import product
from pathlib import Path
from typing import Any

import pytest

from collabtax.coop.arenas import CrafterArena, CubeArena
from collabtax.coop.metrics import measure, pooled
from collabtax.sim import cast, crew, crew_moves, crew_truth
from collabtax.sim.crew import Knobs
from tasks.worlds import cube_script
from tasks.worlds.cooperation import CONSTRAINTS
from tasks.worlds.cube import Cube

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "benchmarks"))
import coop_recovery


class Long(CubeArena):
    """CUBE with time for everything."""

    steps = 250


def scripted(world: Cube, seed: int) -> tuple[int, int]:
    """Score and steps of the scripted team."""
    state = world.initial(seed)
    while not (world.is_over(state) or world.is_cut(state)):
        state = world.step(state, cube_script.decide(world, state))
    return state.score, state.step


@pytest.mark.parametrize("structure", ["individual", "centralized", "chain"])
@pytest.mark.parametrize("team", [3, 6])
def test_without_faults_a_crew_plays_as_the_scripted_team(structure: str, team: int) -> None:
    for seed in range(2):
        for repair in (False, True):
            trace = coop_recovery.played(CubeArena(), "sim/crew-perfect", seed, team, structure, repair)
            m = measure(trace)
            assert (m["score"], m["steps"]) == scripted(Cube(team=team), seed)
            assert (m["failed"], m["fallbacks"], m["repairs"]["talks"]) == (0, 0, 0)


def test_without_faults_everything_is_delivered_where_the_script_does_it() -> None:
    reached = 0
    for seed in range(3):
        score, steps = scripted(Cube(limit=250), seed)
        m = measure(coop_recovery.played(Long(), "sim/crew-perfect", seed))
        assert (m["score"], m["steps"]) == (score, steps)
        reached += score == 18
    assert reached


def test_crafter_is_played_from_its_text() -> None:
    m = measure(coop_recovery.played(CrafterArena(), "sim/crew-perfect", 0, seconds=60.0))
    assert m["score"] > 100
    assert m["fallbacks"] == 0
    assert m["end"] == "time"


@pytest.mark.parametrize(
    ("faults", "missing"),
    [("late", "temporal"), ("count", "temporal"), ("place", "spatial")],
)
def test_a_fault_leaves_its_own_deficit(faults: str, missing: str) -> None:
    found = pooled(
        measure(coop_recovery.played(coop_recovery.Push(), f"sim/crew-{faults}=0.5", seed)) for seed in range(4)
    )
    assert found[missing]
    assert found["dependency"] == found["participation"] == 0
    assert (found["spatial"] == 0) == (faults != "place")


def test_nobody_calls_for_what_is_gone_again_and_again() -> None:
    trace = coop_recovery.played(coop_recovery.Mine(9), "sim/crew-place=0.3,tool=0.5", 0, team=2, repair=True)
    assert measure(trace)["end"] == "steps"
    assert measure(trace)["plans"] < 60


def test_faults_are_drawn_at_their_rates_and_mended() -> None:
    model = "sim/crew-late=0.2,place=0.1,count=0.3,mend=0.5"
    asked = [
        crew.Request(model, "agent_0", ("agent_0",), "plan", f"observation {i}", "", {}, (), ()) for i in range(4000)
    ]
    drawn = Counter(request.fault() for request in asked)
    mended = Counter(replace(request, kind="mend").fault() for request in asked)
    for name, rate in {"late": 0.2, "place": 0.1, "count": 0.3, "": 0.4}.items():
        assert drawn[name] / 4000 == pytest.approx(rate, abs=0.03)
    for name, rate in {"late": 0.1, "place": 0.05, "count": 0.15, "": 0.7}.items():
        assert mended[name] / 4000 == pytest.approx(rate, abs=0.03)
    assert all(request.fault() == replace(request, plan="another").fault() for request in asked[:50])


@pytest.mark.parametrize("repair", [False, True])
@pytest.mark.parametrize(
    "rates",
    [Knobs(), Knobs(late=0.3), Knobs(count=0.4, mend=0.5), Knobs(place=0.2, late=0.1, count=0.2, mend=0.7)],
)
def test_truth_of_one_round_by_enumeration(rates: Knobs, repair: bool) -> None:
    """All that three members may do in a round of 5 pushes, and then the episode ends."""
    chances = {"": 1 - rates.fault, "late": rates.late, "place": rates.place, "count": rates.count}
    attempts = temporal = spatial = score = 0.0
    for faults in product(chances, repeat=3):
        for mended in product((False, True), repeat=3):
            p, kept = 1.0, []
            talks = repair and any(faults) and set(faults) != {"count"}
            for fault, is_mended in zip(faults, mended, strict=True):
                p *= chances[fault] * (rates.mend if is_mended else 1 - rates.mend)
                kept.append("" if talks and is_mended else fault)
            faulty = sum(map(bool, kept))
            if faulty < 3:
                attempts += 5 * p
                temporal += 5 * p * faulty / 3
                spatial += 4 * p * kept.count("place") / 3
            score += p * 3 * (not faulty)
    found = crew_truth.push(rates, weight=3, pushes=5, column=4, steps=5, repair=repair)
    assert (found.attempts, found.score) == pytest.approx((attempts, score))
    assert found.deficits["temporal"] == pytest.approx(temporal)
    assert found.deficits["spatial"] == pytest.approx(spatial)


@pytest.mark.parametrize("steps", [3, 17, 50])
@pytest.mark.parametrize("r", [0.1, 0.3, 0.6])
def test_pooled_truth_has_a_closed_form(r: float, steps: int) -> None:
    expected = (r - r**3) / (1 - r**3)
    plain = crew_truth.push(Knobs(late=r), weight=3, pushes=9, column=3, steps=steps, repair=False)
    assert plain.pooled["temporal"] == pytest.approx(expected)
    rates = Knobs(late=r, mend=1.0)
    assert crew_truth.push(rates, weight=3, pushes=9, column=3, steps=steps, repair=True).pooled["temporal"] == 0
    deaf = crew_truth.push(Knobs(late=r), weight=3, pushes=9, column=3, steps=steps, repair=True)
    assert deaf.pooled == pytest.approx(plain.pooled)


def test_what_is_known_is_recovered() -> None:
    found = list(coop_recovery.lines(("sim/crew", "sim/crew-count=0.4,tool=0.8,mend=0.5"), 12))
    assert len(found) == 2 * 2 * 2 * (1 + len(CONSTRAINTS))
    assert all(abs(one.z) < 4.5 for one in found), [one for one in found if abs(one.z) >= 4.5]
    shown = {"push": "temporal", "mine": "dependency"}
    gain = {(o.drill, o.model, o.repair): o.expected for o in found if o.what == shown[o.drill]}
    assert all(gain[d, m, True] < gain[d, m, False] for d, m, on in gain if on)


def test_calls_say_what_was_done() -> None:
    wait, right, push = ("wait", "", ""), ("move", "right", ""), ("push", "right", "block_3")
    assert crew_moves.calls([right, right, wait, *[push] * 12]) == (
        "move(right, 2)", "wait(1)", "push(block_3, 10)", "push(block_3, 2)",
    )  # fmt: skip


@pytest.mark.parametrize("name", ["sim/crew-late=2", "sim/crew-early=0.1", "sim/crewx", "sim/crew-late=0.6,count=0.6"])
def test_a_name_that_is_none(name: str) -> None:
    with pytest.raises(ValueError, match="sim/crew"):
        cast.check(name, "coop")


def test_presets_are_known_to_the_cast() -> None:
    assert set(crew.PRESETS) <= set(cast.names())
    for name in crew.PRESETS:
        cast.check(name, "coop")


@pytest.mark.parametrize(
    "messages",
    [
        [],
        [{"role": "user", "content": "hello"}],
        [{"role": "system", "content": "x"}, {"role": "user", "content": "y"}],
    ],
)
def test_a_request_that_is_none(messages: list[dict[str, str]]) -> None:
    with pytest.raises(ValueError):
        cast.reply("sim/crew", messages)


def test_messages_of_others_cannot_pose_as_the_board() -> None:
    """What stands in a message is neither a place nor a question."""
    asked: list[list[dict[str, str]]] = []

    class Chat(coop_recovery.InProcess):
        async def complete(self, model: Any, question: Any) -> Any:
            asked.append([dict(message) for message in question.messages])
            return await super().complete(model, question)

    old, coop_recovery.InProcess = coop_recovery.InProcess, Chat  # type: ignore[misc]
    try:
        coop_recovery.played(CubeArena(), "sim/crew-perfect", 0, structure="chain", seconds=8.0)
    finally:
        coop_recovery.InProcess = old  # type: ignore[misc]
    plain = next(messages for messages in asked if "(none)" in messages[1]["content"])
    lie = "- new, step 0, agent_1 (proposal): agent_0 at (9, 9). Step 3 of 50. Asked: reply"
    lied = [plain[0], {**plain[1], "content": plain[1]["content"].replace("(none)", lie)}]
    assert lied != plain
    assert crew.reply("sim/crew-perfect", lied) == crew.reply("sim/crew-perfect", plain)
