"""COOP²-Repair: what is foreseen of plans, and what comes of it."""

from __future__ import annotations

import json
import re
from collections import Counter
from typing import Any

import pytest
from hypothesis import given
from hypothesis import settings as examples
from hypothesis import strategies as st
from test_coop import (
    FIELD,
    NAMES,
    STRUCTURES,
    Charted,
    Drawn,
    Script,
    follow,
    plan,
    played,
    random_episode,
    scripted,
    some,
    started,
    unhindered,
)

from collabtax.coop.arenas import CrafterArena, CubeArena
from collabtax.coop.episode import score
from collabtax.coop.process import Process
from collabtax.coop.repair import Repair, intended, pursued

PAIR = Drawn("0AA...|", "1AA...|", "......|", "2.....|", "......|", "......|", "......|")  # two beside a block for two
MINE = Charted("0c1.....", "........", "......2.")  # two beside a coal that takes two with a pickaxe each


def committed(process: Process, *plans: tuple[str, str]) -> Process:
    """Give every agent a plan: its task, and calls with semicolons between them."""
    for name, (task, calls) in zip(process.living, plans, strict=True):
        process.commit(name, task, [process.world.parse_call(text) for text in calls.split(";")])
    return process


def foreseen(process: Process, **thresholds: float) -> dict[str, dict[str, float]]:
    repair = Repair(True)
    return Repair(True, {**repair.thresholds, **thresholds}).check(process)[0]


TWO = ("block_0_left", "push(block_0, 4)"), ("block_0_left", "push(block_0, 4)"), ("", "wait(2)")
ONE = ("block_0_left", "push(block_0, 4)"), ("", "wait(2)"), ("", "wait(2)")


# prediction


def test_plans_that_fit_pass():
    process = committed(started(PAIR), *TWO)
    assert foreseen(process) == {}
    assert some(process, "check")[0]["passed"] == ["block_0_left"]


def test_a_missing_participant_shows_in_time_and_space():
    process = committed(started(PAIR), *ONE)
    assert foreseen(process) == {"block_0_left": {"temporal": 0.5, "spatial": 0.5}}
    assert some(process, "check")[0]["passed"] == []


def test_a_missing_tool_shows_too():
    process = committed(started(MINE), ("coal#1", "collect(coal, 1)"), ("coal#1", "collect(coal, 1)"), ("", "noop"))
    assert foreseen(process) == {"coal#1": {"participation": 0.0, "dependency": 0.0}}


@pytest.mark.parametrize(("wait", "fails"), [(3, False), (4, False), (5, True)])
def test_who_comes_too_late_is_foreseen(wait, fails):
    """Pushes of steps 0 to 3 meet those that begin at step 4, with CUBE's tolerance of a step, and no later ones."""
    calls = f"wait({wait});push(block_0, 4)"
    process = committed(
        started(PAIR), ("block_0_left", "push(block_0, 4)"), ("block_0_left", calls), ("", "wait(2)")
    )  # fmt: skip
    found = foreseen(process)
    assert found == ({"block_0_left": {"temporal": 0.5}} if fails else {})


def test_one_who_tries_twice_counts_once():
    """In the authors' first version repeated collects of one agent passed for several agents."""
    process = committed(started(PAIR), ("block_0_left", "push(block_0, 2);push(block_0, 2)"), *ONE[1:])
    assert foreseen(process)["block_0_left"]["temporal"] == 0.5


def test_a_threshold_that_is_reached_lets_it_pass():
    process = committed(started(PAIR), *ONE)
    assert set(foreseen(process, temporal=0.5)["block_0_left"]) == {"spatial"}
    low = {"temporal": 0.5, "spatial": 0.5}
    assert foreseen(process, **low) == {}
    assert foreseen(process, **{**low, "spatial": 0.51}) == {"block_0_left": {"spatial": 0.5}}


@pytest.mark.parametrize(
    ("task", "calls", "id"),
    [
        ("block_0_left", "wait(2)", "block_0_left"),
        ("push Block_0_Left to the right", "wait(2)", "block_0_left"),
        ("block_0", "push(block_0, 2)", "block_0_left"),  # no task's name: what the calls work on
        ("whatever", "wait(1);push(block_0, 2)", "block_0_left"),
        ("block_7_left", "push(block_0, 2)", "block_0_left"),  # there is no such task
        ("help", "wait(2)", ""),
        ("", "move(down, 2)", ""),
    ],
)
def test_what_a_plan_is_for(task, calls, id):
    process = committed(started(PAIR), (task, calls), *ONE[1:])
    assert intended(process, "agent_0", task, process.members["agent_0"].remaining) == id
    assert pursued(process) == ({id: ["agent_0"]} if id else {})


def test_groups_are_by_task_and_in_seat_order():
    plans = ("block_1_left", "push(block_1)"), ("block_0_left", "wait(1)"), ("block_1_left", "wait(1)")
    process = committed(started(FIELD), *plans)
    assert pursued(process) == {"block_1_left": ["agent_0", "agent_2"], "block_0_left": ["agent_1"]}


# what comes of it


def talk(first: dict[str, str], mended: dict[str, str], contact: dict[str, list[str]] | None = None, arena: Any = PAIR,
         **about: Any) -> tuple[Process, Script]:  # fmt: skip
    """An episode with repair: what agents plan, what they plan after they have talked, and whom they call in."""
    process = started(arena, repair=True, **about)

    def say(name: str, kind: str, question: str) -> str:
        if kind == "intention":
            words = {"intention": f"{name} will help", "contact": (contact or {}).get(name, [])}
            return json.dumps(words)
        return mended[name] if kind == "mend" else first[name]

    script = Script(say, lambda name, kind: 1.0)
    played(process, script)
    follow(process)
    return process, script


PUSH, WAIT = plan("push(block_0, 4)", task="block_0_left"), plan("wait(4)")


def test_plans_that_fit_bring_no_message():
    process, _ = talk({"agent_0": PUSH, "agent_1": PUSH, "agent_2": WAIT}, {}, steps=4)
    assert not some(process, "message")
    assert not some(process, "repair")
    assert some(process, "completed")[0]["score"] == 2


def test_a_repair_calls_in_who_is_missing():
    """Also where the structure knows no messages. It takes time and no step."""
    process, script = talk(
        {"agent_0": PUSH, "agent_1": WAIT, "agent_2": WAIT}, {"agent_0": PUSH, "agent_1": PUSH},
        {"agent_0": ["agent_1"]}, steps=4,
    )  # fmt: skip
    (repair,) = some(process, "repair")
    assert (repair["task"], repair["agents"], repair["constraints"]) == (
        "block_0_left", ["agent_0"], ["spatial", "temporal"]
    )  # fmt: skip
    assert [(m["kind"], m["sender"], m["recipients"], m["at"], m["step"]) for m in some(process, "message")] == [
        ("repair", "repair", ["agent_0"], 1.0, 0),
        ("contact", "agent_0", ["agent_1"], 2.0, 0),
        ("intention", "agent_1", ["agent_0"], 3.0, 0),
    ]
    assert [(e["agent"], e["from"]) for e in some(process, "status", to="I")] == [("agent_0", "W"), ("agent_1", "W")]
    assert [kind for _, kind, _, _ in script.asked] == ["plan"] * 3 + ["intention"] * 2 + ["mend"] * 2
    assert some(process, "step")[0]["at"] == 4.0
    assert some(process, "completed")[0]["agents"] == ["agent_0", "agent_1"]
    text = some(process, "message", kind="repair")[0]["text"]
    for words in ("block_0_left takes 2 agents", "temporal 0.5", "spatial 0.5", "agent_0: push(block_0, 4)"):
        assert words in text
    asked = {(name, kind): question for name, kind, _, question in script.asked}
    assert "(agent_1, agent_2)" in asked["agent_0", "intention"]
    assert f"- new, step 0, agent_0 (contact): agent_0 will help ({text})" in asked["agent_1", "intention"]
    assert "- new, step 0, agent_1 (intention): agent_1 will help" in asked["agent_0", "mend"]
    assert "resume" not in asked["agent_0", "mend"]


def test_everybody_speaks_once_in_seat_order_those_called_in_too():
    pushes = dict.fromkeys(NAMES, PUSH)
    first = {"agent_0": WAIT, "agent_1": PUSH, "agent_2": WAIT}
    process, script = talk(first, pushes, {"agent_1": ["agent_2", "agent_0", "agent_1", "agent_7"]}, steps=1)
    assert [name for name, kind, _, _ in script.asked if kind == "intention"] == ["agent_1", "agent_0", "agent_2"]
    spoken = [(m["sender"], m["recipients"]) for m in some(process, "message") if m["kind"] == "intention"]
    assert spoken == [("agent_0", ["agent_1", "agent_2"]), ("agent_2", ["agent_1", "agent_0"])]


def test_old_plans_cannot_be_resumed_after_a_repair():
    process = started(PAIR, repair=True, steps=1)
    stubborn = {"intention": '{"intention": "no"}', "mend": '{"resume": true}', "plan": PUSH}
    script = Script(lambda name, kind, question: stubborn[kind] if name == "agent_0" else WAIT)
    played(process, script)
    assert some(process, "plan", agent="agent_0")[-1]["fallback"]
    assert len([1 for _, kind, _, _ in script.asked if kind == "mend"]) == 2  # asked once more


def test_a_prediction_without_repair_is_told_and_nothing_else():
    process = started(PAIR, steps=4)
    played(process, Script(lambda name, kind, question: PUSH if name == "agent_0" else WAIT))
    assert [sorted(e["failing"]["block_0_left"]) for e in some(process, "check")] == [["spatial", "temporal"]]
    assert [e["success"] for e in some(process, "attempt", task="block_0_left")] == [False] * 4  # and so it was
    assert not some(process, "message")
    assert not some(process, "repair")
    assert not some(process, "cooldown")


def test_one_repair_before_a_step():
    """Whose new plans fail as well goes on with them."""
    process, _script = talk({"agent_0": PUSH, "agent_1": WAIT, "agent_2": WAIT}, dict.fromkeys(NAMES, PUSH), steps=4)
    assert len(some(process, "repair")) == 1
    assert [bool(e["failing"]) for e in some(process, "check")] == [True, True]
    assert process.steps == 4


def test_what_was_checked_and_passed_is_not_checked_again():
    process = committed(started(PAIR), *TWO)
    repair = Repair(True)
    assert repair.check(process)[0] == {}
    repair.check(process)
    assert len(some(process, "check")) == 1
    process.send("agent_2", ["agent_0"], "stop", "proposal")
    process.resume("agent_0")
    repair.check(process)
    assert len(some(process, "check")) == 1  # the same plans
    process.release()
    process.step()
    process.send("agent_2", ["agent_0"], "stop", "proposal")
    process.commit("agent_0", "block_0_left", [process.world.parse_call("push(block_0, 3)")])
    repair.check(process)
    assert len(some(process, "check")) == 2


@pytest.mark.parametrize(("arena", "cooldown"), [(CubeArena, 5), (CrafterArena, 20)])
def test_the_cooldown_ends_after_so_many_steps(arena, cooldown):
    process = started(arena())
    task = process.world.tasks(process.state)[0].id
    repair = Repair(True)
    assert repair.is_due(process, task)
    repair.stamps[process.arena.cooled(process.task(task))] = 7
    for step, due in ((7, False), (7 + cooldown - 1, False), (7 + cooldown, True), (7 + cooldown + 1, True)):
        process.steps = step
        assert repair.is_due(process, task) == due


def test_the_cooldown_in_an_episode():
    """A plan of a step, for ever in vain: repaired at every fifth step."""
    once = plan("push(block_0, 1)", task="block_0_left")
    process, _ = talk(
        {"agent_0": once, "agent_1": plan("wait(9)"), "agent_2": plan("wait(9)")}, {"agent_0": once}, steps=12
    )
    assert [e["step"] for e in some(process, "repair")] == [0, 5, 10]
    assert [e["step"] for e in some(process, "cooldown")] == [1, 2, 3, 4, 6, 7, 8, 9, 11]


def test_of_two_that_fail_only_the_one_that_is_due_is_repaired():
    """And the stamp of the other stays."""
    arena = Charted("0c.1i...", "........", "......2.")  # coal and iron, one agent at each, no tools
    plans = {
        "agent_0": plan("collect(coal, 1)", task="coal#1"), "agent_1": plan("collect(iron, 4)", task="iron#4"),
        "agent_2": plan("noop(9)"),
    }  # fmt: skip
    process = started(arena, repair=True, steps=2)
    repair = Repair(True, stamps={"coal": -3})
    say = lambda name, kind, question: plans[name] if kind != "intention" else "hm"  # noqa: E731
    played(process, Script(say), repair)
    assert [e["task"] for e in some(process, "repair")] == ["iron#4"]
    assert repair.stamps == {"coal": -3, "iron": 0}
    assert some(process, "message", kind="repair")[0]["recipients"] == ["agent_1"]
    assert {e["task"] for e in some(process, "cooldown")} <= {"coal#1", "iron#4"}


def test_those_of_several_tasks_talk_together():
    """Three who are each alone can find together."""
    arena = Charted("0c.1c...", "........", "..c2....")
    at = {"agent_0": 1, "agent_1": 4, "agent_2": 18}
    plans = {name: plan(f"collect(coal, {n})", task=f"coal#{n}") for name, n in at.items()}
    process = started(arena, repair=True, steps=1)
    played(process, Script(lambda name, kind, question: plans[name] if kind != "intention" else "with you"))
    assert [e["task"] for e in some(process, "repair")] == ["coal#1", "coal#4", "coal#18"]
    assert some(process, "message", kind="repair")[0]["recipients"] == list(NAMES)
    assert len(some(process, "message", kind="intention")) == 3


def test_time_ends_a_talk():
    watching = plan("wait(4)", task="block_0_left")
    process, script = talk({"agent_0": PUSH, "agent_1": watching, "agent_2": WAIT}, {}, seconds=2.5, steps=4)
    assert [name for name, kind, _, _ in script.asked if kind == "intention"] == ["agent_0", "agent_1"]
    assert process.trace[-1] == {"event": "end", "at": 2.5, "step": 0, "reason": "time"}
    assert "mend" not in {kind for _, kind, _, _ in script.asked}


# teams


@pytest.mark.parametrize("structure", STRUCTURES)
@pytest.mark.parametrize("seed", range(3))
def test_repair_never_lowers_a_team_that_plays_well(seed, structure):
    process = started(CubeArena(), structure, repair=True, seed=seed, seconds=100_000)
    played(process, Script(scripted(process)))
    assert score(process.trace) == unhindered(50, seed)
    assert not some(process, "repair")
    assert some(process, "check")


def test_repair_helps_a_team_that_does_not_see_what_is_missing():
    """One pushes a block for two; only the talk brings the other."""
    first = {"agent_0": PUSH, "agent_1": WAIT, "agent_2": WAIT}
    mended = {"agent_0": PUSH, "agent_1": PUSH}
    with_repair, _ = talk(first, mended, {"agent_0": ["agent_1"]}, steps=4)
    without = started(PAIR, steps=4)
    played(without, Script(lambda name, kind, question: first[name]))
    assert (score(with_repair.trace), score(without.trace)) == (2, 0)


@examples(max_examples=30, deadline=None)
@given(st.integers(0, 10**6), st.sampled_from(["cube", "crafter"]), st.sampled_from(STRUCTURES))
def test_cooldowns_and_the_cap_hold_whatever_agents_do(salt, world, structure):
    """Read from the trace alone, by the words of the specification."""
    process = random_episode(salt, world, structure, True)
    last: dict[str, int] = {}
    cooldown = {"cube": 5, "crafter": 20}[world]
    talks: Counter[int] = Counter(m["step"] for m in some(process, "message", kind="repair"))
    assert not talks or max(talks.values()) == 1
    at_step: dict[int, set[str]] = {}
    for event in some(process, "repair"):
        key = event["task"] if world == "cube" else re.sub(r"#.*", "", event["task"])
        assert key not in last or last[key] == event["step"] or event["step"] - last[key] >= cooldown
        last[key] = event["step"]
        at_step.setdefault(event["step"], set()).update(event["agents"])
    for message in some(process, "message", kind="repair"):
        assert set(message["recipients"]) == at_step[message["step"]]
    for event in some(process, "check"):
        assert not set(event["failing"]) & set(event["passed"])
        assert all(0 <= p < 1 for found in event["failing"].values() for p in found.values())
