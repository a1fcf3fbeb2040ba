"""What is measured of a trace, against examples worked by hand and a count written a second time."""

from __future__ import annotations

import json
import random
from statistics import mean, stdev
from typing import Any

import pytest

from collabtax.coop.metrics import deficit, forecasts, judged, measure, pooled, repeats
from tasks.worlds.cooperation import CONSTRAINTS

Event = dict[str, Any]


def event(name: str, /, at: float = 0.0, step: int = 0, **about: Any) -> Event:
    return {"event": name, "at": at, "step": step, **about}


def start(*agents: str) -> Event:
    return event(
        "start", world="cube", version=1, seed=0, agents=list(agents), structure="chain", repair=True, steps=50,
        seconds=120.0,
    )  # fmt: skip


def status(agent: str, change: str, at: float, step: int = 0) -> Event:
    return event("status", at, step, agent=agent, **{"from": change[0], "to": change[1]})


def attempt(
    task: str, participants: int, temporal: int, spatial: int, dependency: int, success: bool = False, step: int = 0
) -> Event:
    counts = {"temporal": temporal, "spatial": spatial, "participation": dependency, "dependency": dependency}
    return event(
        "attempt", step=step, task=task, kind="x", participants=participants, agents=["a"], counts=counts,
        success=success,
    )  # fmt: skip


@pytest.mark.parametrize(
    ("tried", "expected"),
    [  # the design's vectors: temporal, spatial, dependency
        (attempt("coal#1", 2, 1, 1, 1), (0.5, 0.5, 0.5)),
        (attempt("iron#1", 3, 3, 3, 2), (0.0, 0.0, 1 / 3)),
        (attempt("block_1_left", 3, 2, 2, 3), (1 / 3, 1 / 3, 0.0)),
        (attempt("block_1_left", 3, 2, 2, 3, success=True), (0.0, 0.0, 0.0)),
        (attempt("tree#1", 1, 4, 4, 4), (0.0, 0.0, 0.0)),  # more than enough is no negative deficit
        (attempt("coal#1", 2, 0, 0, 0), (1.0, 1.0, 1.0)),
    ],
)
def test_deficits_of_an_attempt(tried: Event, expected: tuple[float, ...]) -> None:
    found = [deficit(tried, c) for c in ("temporal", "spatial", "dependency")]
    assert found == pytest.approx(expected)


HAND = [
    start("a", "b"),
    status("a", "RW", 1.0),  # a decides for 1.0 s
    event("plan", 1.0, agent="a", plan=1, task="block_1_left", calls=["push(block_1)"], fallback=False),
    event("message", 1.0, sender="a", recipients=["b"], text="hi", kind="proposal"),
    status("b", "RW", 3.5),  # b for 3.5 s
    event("plan", 3.5, agent="b", plan=1, task="fallback", calls=["move(right)"], fallback=True),
    event("check", 3.5, failing={"block_1_left": {"temporal": 0.5}}, passed=["block_2_left"]),
    event("repair", 3.5, task="block_1_left", agents=["a"], constraints=["temporal"]),
    event("message", 3.5, sender="repair", recipients=["a", "b"], text="look", kind="repair"),
    status("a", "WI", 3.5),
    status("b", "WI", 3.5),
    event("message", 4.0, sender="a", recipients=["b"], text="I push", kind="intention"),
    status("a", "IW", 5.0),  # 1.5 s
    status("b", "IW", 6.5),  # 3.0 s
    event("plan", 6.5, agent="b", plan=2, task="block_1_left", calls=["push(block_1)"], fallback=False),
    event("check", 6.5, failing={}, passed=["block_1_left"]),
    status("a", "WX", 6.5),
    status("b", "WX", 6.5),
    event("step", 6.5, 1, actions={"a": "right", "b": "right"}, aims={}),
    attempt("block_1_left", 2, 1, 2, 2, step=1),
    event("step", 6.5, 2, actions={"a": "right", "b": "right"}, aims={}),
    attempt("block_1_left", 2, 2, 2, 2, success=True, step=2),
    event("completed", 6.5, 2, task="block_1_left", agents=["a", "b"], score=2),
    event("left", 6.5, 2, agent="b"),
    status("a", "XR", 6.5, 2),
    event("end", 8.0, 2, reason="time"),  # a decides for 1.5 s more, b is dead
]


def test_a_trace_by_hand() -> None:
    m = measure(HAND)
    assert (m["score"], m["steps"], m["score_per_step"], m["seconds"]) == (2.0, 2, 1.0, 8.0)
    assert (m["plans"], m["plans_per_agent"], m["fallbacks"]) == (3, 1.5, 1)
    assert (m["messages"], m["interruptions"]) == (3, 2)  # a broadcast counts once
    assert m["decision_by_agent"] == {"a": 4.0, "b": 6.5}
    assert m["decision"] == 10.5
    assert (m["attempts"], m["failed"]) == (2, 1)
    assert m["deficits"] == {"temporal": 0.25, "spatial": 0.0, "participation": 0.0, "dependency": 0.0}
    assert m["repairs"] == {"checks": 2, "talks": 1, "tasks": 1, "cooldowns": 0, "messages": 2, "seconds": 3.0}
    assert (m["end"], m["world"], m["structure"], m["agents"], m["repair"]) == ("time", "cube", "chain", 2, True)
    assert json.loads(json.dumps(m)) == m


def test_nothing_is_none_and_no_trace_is_refused() -> None:
    m = measure([start("a"), event("end", reason="time")])
    assert m["score_per_step"] is None
    assert set(m["deficits"].values()) == {None}
    assert (m["forecasts"]["precision"], m["forecasts"]["recall"]) == (None, None)
    for broken in ([], HAND[1:]):
        with pytest.raises(ValueError, match="begins with the event start"):
            measure(broken)


def check(failing: list[str], passed: list[str]) -> Event:
    return event("check", failing={task: {"temporal": 0.0} for task in failing}, passed=passed)


def fails(task: str) -> Event:
    return attempt(task, 2, 1, 2, 2)


def works(task: str) -> Event:
    return attempt(task, 2, 2, 2, 2, success=True)


@pytest.mark.parametrize(
    ("events", "expected"),
    [
        ([check(["g"], []), fails("g")], [("g", True, "failed")]),
        ([check(["g"], []), works("g")], [("g", True, "succeeded")]),
        ([check([], ["g"]), fails("g"), fails("g")], [("g", False, "failed")]),
        ([check([], ["g"]), fails("g"), works("g")], [("g", False, "succeeded")]),  # who came first had to wait
        ([check([], ["g"]), fails("g"), check([], ["g"]), works("g")], [("g", False, "succeeded")]),  # one forecast
        ([check(["g"], []), check([], ["g"]), works("g")], [("g", True, ""), ("g", False, "succeeded")]),  # repaired
        ([check(["g"], []), fails("g"), check([], ["h"]), works("g")], [("g", True, "failed"), ("h", False, "")]),
        ([fails("g"), check([], ["h"])], [("h", False, "")]),  # before any forecast
    ],
)
def test_what_became_of_forecasts(events: list[Event], expected: list[tuple[str, bool, str]]) -> None:
    assert list(forecasts([start("a"), *events])) == expected


def test_precision_and_recall() -> None:
    trace = [start("a"), check(["a", "b", "c"], ["d", "e", "f"]), fails("a"), fails("b"), works("c"), fails("d"),
             works("e")]  # fmt: skip
    found = judged(trace)
    assert (found.hits, found.false_alarms, found.misses, found.fine, found.untried, found.unattempted) == (
        2, 1, 1, 1, 1, 0,
    )  # fmt: skip
    assert (found.precision, found.recall) == (2 / 3, 2 / 3)


@pytest.mark.parametrize("seed", range(20))
def test_deciding_counted_a_second_way(seed: int) -> None:
    """Millisecond by millisecond, on random traces."""
    rng = random.Random(seed)
    agents, trace, now = ["a", "b", "c"], [start("a", "b", "c")], 0
    at = dict.fromkeys(agents, "R")
    busy = dict.fromkeys(agents, 0)
    for _ in range(60):
        took = rng.randrange(40)
        for name in agents:
            busy[name] += took * (at[name] in "RI")
        now += took
        name = rng.choice(agents)
        to = rng.choice({"R": "W", "W": "XI", "X": "RI", "I": "W"}[at[name]])
        trace.append(status(name, at[name] + to, now / 1000))
        at[name] = to
    trace.append(event("end", now / 1000, reason="time"))
    assert measure(trace)["decision_by_agent"] == pytest.approx({name: ms / 1000 for name, ms in busy.items()})


def test_repeats_against_printed_t_values() -> None:
    values = [809.0, 790.5, 850.25, 700.0, 888.0]
    found = repeats([*values, None])
    assert (found.n, found.mean) == (5, mean(values))
    assert found.sd == pytest.approx(stdev(values))
    half = 2.776 * stdev(values) / 5**0.5  # t for 4 degrees of freedom, from a table
    assert found.mean is not None
    assert found.high is not None
    assert found.high - found.mean == pytest.approx(half, rel=1e-3)
    assert repeats([]).mean is None
    assert repeats([None]).n == 0
    assert (repeats([3.0]).sd, repeats([3.0]).low) == (None, None)


def test_pooling_weighs_attempts() -> None:
    one = measure([start("a"), fails("g")])
    other = measure([start("a"), *[works("g")] * 3])
    found = pooled([one, other, measure([start("a")])])
    assert found["temporal"] == pytest.approx(0.5 / 4)
    assert set(pooled([]).values()) == {None}
    assert set(found) == set(CONSTRAINTS)


def test_published_numbers_follow_from_printed_scores(shared_path: Any) -> None:
    """Ratios and changes that the paper prints, from the means that it prints; means of 5 whole scores."""
    published = json.loads(shared_path("data/published/coop2.json").read_text())
    scores = {(s["model"], s["structure"], s["n"]): s["score"] for s in published["ma_crafter_score"]}
    for score in scores.values():  # five repeats whose scores are whole: repeats() gives the printed mean back
        total = round(5 * score)
        parts = [total // 5] * 4 + [total - 4 * (total // 5)]
        assert repeats(map(float, parts)).mean == pytest.approx(score)
    large = {n: scores["GPT-5.4", "Individual", n] for n in (3, 6)}
    mini = {n: scores["GPT-5.4-mini", "Individual", n] for n in (3, 6)}
    found = {
        "score GPT-5.4 / GPT-5.4-mini, 3 agents": large[3] / mini[3],
        "score GPT-5.4 / Llama-Scout, 3 agents": large[3] / scores["Llama-4-Scout-17B-16E", "Individual", 3],
        "score GPT-5.4 / GPT-5.4-mini, 6 agents": large[6] / mini[6],
        "GPT-5.4 Individual 3 to 6 agents, percent change": 100 * (large[6] / large[3] - 1),
        "GPT-5.4-mini 6 agents Individual to Centralized, percent change": 100
        * (scores["GPT-5.4-mini", "Centralized", 6] / mini[6] - 1),
        "GPT-5.4 3 agents Individual to Centralized, percent change": 100
        * (scores["GPT-5.4", "Centralized", 3] / large[3] - 1),
    }
    printed = {r["what"]: r for r in published["ratios"]}
    for what, value in found.items():
        assert value == pytest.approx(printed[what]["derived"], abs=0.06), what
