"""The contract of cooperative worlds, on a quarry of a few lines that a user could have written."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import ClassVar

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tasks.worlds.cooperation import (
    CONSTRAINTS,
    LONGEST_CALL,
    STATUSES,
    Call,
    Completion,
    CooperativeWorld,
    CoopTask,
    Forecast,
    Inventory,
    Parameter,
    Place,
    Progress,
    Running,
    Tool,
    end,
    issue,
    score,
)


@dataclass(frozen=True)
class Pit:
    places: tuple[int, ...]
    tools: tuple[str, ...]
    rocks: tuple[tuple[str, int, int, str], ...]  # id, where on the line, p, tool
    dug: tuple[str, ...] = ()
    step: int = 0


@dataclass(frozen=True)
class Quarry(CooperativeWorld[Pit]):
    """Agents on a line dig rocks that need some of them, within one step and with a tool."""

    name: ClassVar[str] = "quarry"
    version: ClassVar[int] = 1
    temporal_tolerance: ClassVar[int] = 2
    spatial_tolerance: ClassVar[int] = 1
    team: int = 3
    reach: int = 1

    @property
    def agents(self) -> tuple[str, ...]:
        return tuple(f"agent_{i}" for i in range(self.team))

    def initial(self, seed: int) -> Pit:
        return Pit((0,) * self.team, ("",) * self.team, (("coal_1", 5, 2, "pick"),))

    def actions(self, agent: str) -> tuple[str, ...]:
        return ("noop", "left", "right", "collect", "make")

    def refusal(self, state: Pit, agent: str, action: str) -> str:
        return ""

    def step(self, state: Pit, actions: Mapping[str, str]) -> Pit:
        self.check(state, actions)
        done = []
        for task in self.tasks(state):
            ready = [a for a in self.agents if task.id in self.targets(state, a, actions.get(a, "noop"))]
            if sum(self.equipped(task, self.inventory(state, a)) for a in ready) >= task.participants:
                done.append(task.id)
        moves = {"left": -1, "right": 1}
        places = tuple(p + moves.get(actions.get(a, ""), 0) for p, a in zip(state.places, self.agents, strict=True))
        tools = tuple("pick" if actions.get(a) == "make" else t for t, a in zip(state.tools, self.agents, strict=True))
        rocks = tuple(rock for rock in state.rocks if rock[0] not in done)
        return Pit(places, tools, rocks, (*state.dug, *done), state.step + 1)

    def observe(self, state: Pit, agent: str) -> str:
        return str(state)

    def feedback(self, state: Pit, agent: str) -> str:
        return ""

    def living(self, state: Pit) -> tuple[str, ...]:
        return self.agents

    def rewards(self, before: Pit, after: Pit) -> dict[str, float]:
        return dict.fromkeys(self.agents, 0.0)

    def is_over(self, state: Pit) -> bool:
        return not state.rocks

    def is_cut(self, state: Pit) -> bool:
        return False

    def draw(self, state: Pit) -> str:
        return ""

    def tasks(self, state: Pit) -> tuple[CoopTask, ...]:
        return tuple(CoopTask(id, "collect", p, tool, 10 * p) for id, _, p, tool in state.rocks)

    def task(self, state: Pit, id: str) -> CoopTask | None:
        return next((task for task in self.tasks(state) if task.id == id), None)

    def is_completed(self, state: Pit, id: str) -> bool:
        return id in state.dug

    def place(self, state: Pit, agent: str) -> Place:
        return state.places[self.agents.index(agent)], 0

    def inventory(self, state: Pit, agent: str) -> Inventory:
        tool = state.tools[self.agents.index(agent)]
        return ((tool, 1),) if tool else ()

    def distance(self, state: Pit, task: CoopTask, place: Place) -> int:
        return abs(next(at for id, at, _, _ in state.rocks if id == task.id) - place[0])

    def equipped(self, task: CoopTask, inventory: Inventory) -> bool:
        return not task.capability or task.capability in dict(inventory)

    def targets(self, state: Pit, agent: str, action: str) -> tuple[str, ...]:
        if action != "collect":
            return ()
        place = self.place(state, agent)
        return tuple(t.id for t in self.tasks(state) if self.distance(state, t, place) <= self.reach)

    def succeeded(self, before: Pit, actions: Mapping[str, str], after: Pit, task: CoopTask) -> bool:
        return task.id in after.dug and task.id not in before.dug

    def completions(self, before: Pit, actions: Mapping[str, str], after: Pit) -> tuple[Completion, ...]:
        tasks = [t for t in self.tasks(before) if self.succeeded(before, actions, after, t)]
        return tuple(Completion(t, self.satisfying(before, actions, t)["temporal"], t.reward) for t in tasks)

    def tools(self) -> tuple[Tool, ...]:
        rock = Parameter("rock", prefix="coal")
        return (
            Tool("go", (Parameter("to", low=0, high=99),)),
            Tool("collect", (rock, Parameter("steps", low=1, high=3, default=3))),
            Tool("make", (Parameter("item", ("pick",), default="pick"),)),
            Tool("noop"),
        )

    def start(self, call: Call, state: Pit, agent: str) -> Running:
        return Running(call, agent)

    def advance(self, running: Running, state: Pit) -> Progress:
        if running.call.tool == "collect" and running.call.arguments[0] in state.dug:
            return end(running, True, "collected")
        if running.issued == (running.call.arguments[1] if running.call.tool == "collect" else 1):
            return end(running, running.call.tool != "collect", "time is up")
        return issue(running, {"collect": "collect", "make": "make"}.get(running.call.tool, "noop"))

    def aim(self, state: Pit, agent: str, call: Call, place: Place) -> str:
        return str(call.arguments[0]) if call.tool == "collect" else ""

    def foresee(self, state: Pit, agent: str, call: Call, forecast: Forecast) -> Forecast:
        if call.tool == "go":
            to = int(call.arguments[0])
            steps = max(1, abs(to - forecast.place[0]) - self.reach)
            return replace(forecast, place=(to, 0), steps=forecast.steps + steps)
        if call.tool == "make":
            return replace(forecast, inventory=(("pick", 1),), steps=forecast.steps + 1)
        return replace(forecast, steps=forecast.steps + (int(call.arguments[1]) if call.tool == "collect" else 1))


WORLD = Quarry()
COAL = ("coal_1", 5, 2, "pick")
IRON = ("iron_1", 5, 3, "stone_pick")


def attempt(state: Pit, actions: dict[str, str], aims: dict[str, str] | None = None):
    return WORLD.attempts(state, actions, WORLD.step(state, actions), aims or {})


def rounded(values: Mapping[str, float]) -> list[float]:
    return [round(values[c], 4) for c in CONSTRAINTS]


def test_one_agent_alone_at_a_coal_for_two():
    """The first worked vector of the specification: every deficit is a half."""
    (found,) = attempt(Pit((5, 0, 9), ("pick", "", ""), (COAL,)), {"agent_0": "collect"})
    assert (found.agents, found.success, rounded(found.deficits)) == (("agent_0",), False, [0.5] * 4)


def test_three_agents_at_an_iron_with_two_tools():
    """The second: only the tool is short, by a third."""
    state = Pit((4, 5, 6), ("stone_pick", "stone_pick", ""), (IRON,))
    (found,) = attempt(state, dict.fromkeys(WORLD.agents, "collect"))
    assert not found.success
    assert rounded(found.deficits) == [0, 0, pytest.approx(1 / 3, abs=1e-4), pytest.approx(1 / 3, abs=1e-4)]


def test_success_has_no_deficits_whatever_the_counts():
    state = Pit((5, 6, 0), ("pick", "pick", ""), (COAL,))
    actions = {"agent_0": "collect", "agent_1": "collect"}
    (found,) = attempt(state, actions)
    assert found.success
    assert rounded(found.deficits) == [0] * 4
    (done,) = WORLD.completions(state, actions, WORLD.step(state, actions))
    assert (done.task.id, done.agents, score([done, done])) == ("coal_1", ("agent_0", "agent_1"), 40)


def test_a_call_from_afar_is_an_attempt_that_lacks_nearness_only():
    """Who names the task works on it in time, even where the primitive action reaches nothing."""
    state = Pit((5, 0, 9), ("pick", "pick", ""), (COAL,))
    actions = {"agent_0": "collect", "agent_1": "collect"}
    (loose,) = attempt(state, actions)
    assert (loose.agents, rounded(loose.deficits)) == (("agent_0",), [0.5, 0.5, 0, 0])
    (aimed,) = attempt(state, actions, {"agent_0": "coal_1", "agent_1": "coal_1"})
    assert (aimed.agents, rounded(aimed.deficits)) == (("agent_0", "agent_1"), [0, 0.5, 0, 0])
    assert attempt(state, {}, {"agent_2": "coal_99"}) == ()  # no such task


def test_nobody_tries_no_attempt():
    assert attempt(Pit((5, 5, 5), ("pick",) * 3, (COAL,)), {"agent_0": "make"}) == ()


def test_dependency_counts_all_agents_and_each_once():
    """JaxMARL#167 summed the acting agent only; particle-envs#67 counted an agent as its own partner."""
    state = Pit((5, 5, 90), ("pick", "", "pick"), (COAL,))
    found = WORLD.satisfying(state, {"agent_0": "collect"}, WORLD.tasks(state)[0])
    assert found["dependency"] == found["participation"] == ("agent_0", "agent_2")
    assert found["spatial"] == ("agent_0", "agent_1")
    assert found["temporal"] == ("agent_0",)
    assert rounded(WORLD.likelihoods(state, {"agent_0": "collect"}, WORLD.tasks(state)[0])) == [0.5, 1, 1, 1]


@pytest.mark.parametrize(
    ("places", "tools", "status"),
    [
        ((0, 0, 0), ("", "", ""), "pending"),
        ((4, 0, 0), ("pick", "", ""), "in_progress"),
        ((4, 5, 0), ("pick", "", ""), "in_progress"),
        ((4, 5, 0), ("pick", "", "pick"), "in_progress"),  # the other tool is far away
        ((4, 6, 0), ("pick", "pick", ""), "ready"),
    ],
)
def test_status(places, tools, status):
    state = Pit(places, tools, (COAL,))
    task = WORLD.tasks(state)[0]
    assert WORLD.status(state, task) == status in STATUSES
    assert WORLD.status(replace(state, rocks=()), task) == "removed"
    assert WORLD.status(replace(state, rocks=(), dug=("coal_1",)), task) == "completed"


# what is expected of plans


def expect(state: Pit, **plans: str) -> list[float]:
    calls = {agent: [WORLD.parse_call(text) for text in said.split(";")] for agent, said in plans.items()}
    return rounded(WORLD.expected(state, calls, WORLD.tasks(state)[0]))


NEAR = Pit((5, 6, 0), ("pick", "pick", ""), (COAL,))


def test_a_feasible_pair_of_plans_lacks_nothing():
    assert expect(NEAR, agent_0="collect(1)", agent_1="collect(1)") == [1, 1, 1, 1]


def test_a_missing_participant_shows_in_time_and_place_and_tool():
    assert expect(NEAR, agent_0="collect(1)") == [0.5, 0.5, 1, 0.5]


def test_repeated_collects_of_one_agent_count_once():
    assert expect(NEAR, agent_0="collect(1);collect(1);collect(1)")[0] == 0.5


@pytest.mark.parametrize(("late", "together"), [(0, 1), (1, 1), (2, 1), (3, 0.5)])
def test_work_falls_together_within_two_steps(late, together):
    """Agent 0 digs in steps 0 to 2; agent 1 begins `late` steps after the last of them: two are tolerated."""
    waits = ";".join(["noop"] * (2 + late))
    assert expect(NEAR, agent_0="collect(1)", agent_1=f"{waits};collect(1)")[0] == together


def test_three_that_overlap_only_in_pairs_are_two():
    """Steps 0-2, 4-6 and 6-8: neighbours are near enough in time, the first and the last are not."""
    state = Pit((5, 5, 5), ("pick",) * 3, (("coal_1", 5, 3, "pick"),))
    four, six = ";".join(["noop"] * 4), ";".join(["noop"] * 6)
    plans = {"agent_0": "collect(1)", "agent_1": f"{four};collect(1)", "agent_2": f"{six};collect(1)"}
    assert expect(state, **plans)[0] == round(2 / 3, 4)


@pytest.mark.parametrize(("place", "near"), [(3, 1), (2, 0.5), (7, 1), (8, 0.5)])
def test_one_further_than_reach_is_taken_as_near(place, near):
    state = replace(NEAR, places=(5, place, 0))
    assert expect(state, agent_0="collect(1)", agent_1="collect(1)")[1] == near


def test_forecasts_follow_calls():
    """The second agent makes its tool and walks before it digs; a tool made later than the work is none."""
    state = Pit((5, 0, 0), ("pick", "", ""), (COAL,))
    assert expect(state, agent_0="collect(1)", agent_1="collect(1)") == [1, 0.5, 0.5, 0.5]
    good = "make;go(5);collect(1)"  # 1 + 4 steps: digs from step 5, others until 2
    assert expect(state, agent_0="collect(1)", agent_1=good) == [0.5, 1, 1, 1]
    assert expect(state, agent_0="noop;collect(1)", agent_1=good) == [1, 1, 1, 1]
    assert expect(state, agent_0="noop;collect(1)", agent_1="go(5);collect(1);make")[3] == 0.5
    (work,) = WORLD.works(state, "agent_1", [WORLD.parse_call(c) for c in good.split(";")])["coal_1"]
    assert (work.first, work.last, work.forecast) == (5, 7, Forecast((5, 0), (("pick", 1),), 5))


def test_no_plan_at_all():
    assert expect(NEAR) == [0, 0, 1, 0]


# calls as models write them


@pytest.mark.parametrize(
    "text",
    [
        "collect(coal_4, 2)",
        " - `collect(coal_4, 2)`",
        "2. Collect(coal_4,2).",
        'collect("coal 4", steps=2)',
        "collect(rock=coal#4, steps = 2)",
        "collect(4, 2)",
        "collect(Coal4, 2.0) to get it",
        "collect coal_4 2",
        "COLLECT coal-4, 2;",
        '{"tool": "collect", "arguments": {"rock": "coal_4", "steps": 2}}',
        '{"name": "collect", "args": [4, "2"]}',
    ],
)
def test_one_call_in_many_spellings(text):
    call = WORLD.parse_call(text)
    assert (str(call), call) == ("collect(coal_4, 2)", Call("collect", ("coal_4", 2)))


def test_defaults_are_filled_in():
    assert str(WORLD.parse_call("collect(4)")) == "collect(coal_4, 3)"
    assert str(WORLD.parse_call("make()")) == str(WORLD.parse_call("make")) == "make(pick)"
    assert str(WORLD.parse_call("noop")) == "noop()"


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "write it as tool("),
        ("dig(4)", "'dig' is no tool; the tools are go(to), collect(rock, steps=3)"),
        ("collect()", "rock is missing; call it as collect(rock, steps=3)"),
        ("collect(4, 9)", "steps '9' is no whole number from 1 to 3"),
        ("collect(4, 99999999999999999999)", "no whole number"),
        ("collect(4, -1)", "no whole number"),
        ("collect(4, 1.5)", "no whole number"),
        ("collect(4, 2, 2)", "do not fit"),
        ("collect(4, depth=2)", "do not fit"),
        ("collect(4, rock=4)", "do not fit"),
        ("collect(rock=4, 2)", "has no name"),
        ("collect(4", "not closed"),
        ("collect(<b>)", "rock '<b>' is none of coal_<number>"),
        ("make(<b>)", "item '<b>' is none of pick"),
        ("make(sword)", "item 'sword' is none of pick"),
        ("{", "no JSON"),
        ('{"tool": 3}', "a call in JSON is"),
        ('{"tool": "go", "arguments": 3}', "a call in JSON is"),
        ("noop " * LONGEST_CALL, "too long"),
    ],
)
def test_errors_say_in_one_line_what_would_do(text, said):
    with pytest.raises(ValueError) as caught:
        WORLD.parse_call(text)
    assert said in str(caught.value)
    assert "\n" not in str(caught.value)
    assert len(str(caught.value)) < 300


@given(st.text(max_size=80) | st.from_regex(r"(go|collect|make|noop)\(.{0,40}\)?", fullmatch=True))
def test_whatever_is_written_is_a_call_or_a_value_error(text):
    try:
        call = WORLD.parse_call(text)
    except ValueError:
        return
    assert WORLD.parse_call(str(call)) == call


def test_a_call_runs_to_its_end():
    state = NEAR
    running = WORLD.start(WORLD.parse_call("collect(1, 2)"), state, "agent_0")
    assert running.issued == 0  # pending
    said = []
    for _ in range(3):
        progress = WORLD.advance(running, state)
        said.append((progress.primitive, progress.outcome))
        running = progress.running
    assert said == [("collect", "executing"), ("collect", "executing"), (None, "failed")]
    assert WORLD.duration(state, "agent_0", running.call, Forecast((5, 0))) == 2
