"""What a world adds to `World` to be one of cooperative constraints: tasks that need several agents at once, symbolic
tools that are grounded to primitive actions step by step, and what may be expected of a plan.

Four constraints guard every task: `temporal` (enough agents work on it in the same step), `spatial` (enough are near),
`participation` (enough are capable) and `dependency` (enough hold what it needs first). Each is satisfied when the
number N of agents that satisfy it reaches the task's `participants` p; its likelihood is min(1, N / p).
"""

from __future__ import annotations

import json
import re
from abc import abstractmethod
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from types import MappingProxyType
from typing import Any, ClassVar, Literal

from tasks.worlds.base import State, World

CONSTRAINTS = ("temporal", "spatial", "participation", "dependency")
STATUSES = ("pending", "in_progress", "ready", "completed", "removed")
LONGEST_CALL = 500  # characters of a written call that are read; a longer one is refused

Place = tuple[int, int]  # in the world's own order of coordinates
Inventory = tuple[tuple[str, int], ...]  # what an agent holds, by name, only what it has at least one of
Aims = Mapping[str, str]  # agent: id of the task that its call names
NO_AIMS: Aims = MappingProxyType({})


@dataclass(frozen=True)
class CoopTask:
    """A task: `participants` is p, the agents that each constraint asks for; `capability` the item that each of them
    must hold, "" where anybody will do; `reward` what its completion gives."""

    id: str
    kind: str  # what is done to it, such as "push" or "collect"
    participants: int
    capability: str
    reward: float


@dataclass(frozen=True)
class Attempt:
    """One task that at least one agent worked on, or had named in a call, in one step. `counts` holds N of each
    constraint."""

    task: CoopTask
    agents: tuple[str, ...]
    counts: Mapping[str, int]
    success: bool

    @property
    def deficits(self) -> dict[str, float]:
        """1 - min(N / p, 1) for each constraint; all 0 for an attempt that succeeded."""
        return {c: 0.0 if self.success else 1 - likelihood(self.task, c, self.counts[c]) for c in CONSTRAINTS}


@dataclass(frozen=True)
class Completion:
    """A task that was completed, by whom, and what the team scored for it."""

    task: CoopTask
    agents: tuple[str, ...]
    score: float


@dataclass(frozen=True)
class Parameter:
    """A parameter of a tool: one of `choices`, a whole number of `low` to `high`, or, with neither, a name; where that
    is a `prefix` and a number (`block_3`), the number alone will do. Without `default` it must be given."""

    name: str
    choices: tuple[str, ...] = ()
    prefix: str = ""
    low: int | None = None
    high: int | None = None
    default: str | int | None = None

    def read(self, text: str) -> str | int:
        """The value that `text` stands for. Raises ValueError that says what would do."""
        said = text.strip().strip("\"'`")
        if self.low is not None and self.high is not None:
            if re.fullmatch(r"[+-]?[0-9]{1,9}(\.0+)?", said) and self.low <= int(float(said)) <= self.high:
                return int(float(said))
            raise ValueError(f"{self.name} {said[:40]!r} is no whole number from {self.low} to {self.high}")
        word = re.sub(r"[\s-]+", "_", said.lower())
        if self.choices and word not in self.choices:
            raise ValueError(f"{self.name} {said[:40]!r} is none of {', '.join(self.choices)}")
        if self.prefix:
            if number := re.fullmatch(rf"(?:{re.escape(self.prefix)})?[_#]*([0-9]{{1,9}})", word):
                return f"{self.prefix}_{int(number[1])}"
            raise ValueError(f"{self.name} {said[:40]!r} is none of {self.prefix}_<number>")
        if not re.fullmatch(r"[a-z0-9_#]+", word):
            raise ValueError(f"{self.name} {said[:40]!r} is no name (letters, digits, _ and #)")
        return word


@dataclass(frozen=True)
class Tool:
    """A symbolic tool as agents may call it; `summary` tells them what it does."""

    name: str
    parameters: tuple[Parameter, ...] = ()
    summary: str = ""

    @property
    def usage(self) -> str:
        """How it is called, such as `move(direction, steps=1)`."""
        told = [p.name if p.default is None else f"{p.name}={p.default}" for p in self.parameters]
        return f"{self.name}({', '.join(told)})"

    def bind(self, given: Sequence[str], named: Mapping[str, str]) -> Call:
        """A call with arguments by order and by name. Raises ValueError."""
        names = [p.name for p in self.parameters]
        if len(given) > len(names) or not set(named) <= {*names[len(given) :]}:
            raise ValueError(f"{self.name}: arguments do not fit; call it as {self.usage}")
        said = {**dict(zip(names, given, strict=False)), **named}
        values: list[str | int] = []
        for parameter in self.parameters:
            if parameter.name in said:
                try:
                    values.append(parameter.read(said[parameter.name]))
                except ValueError as error:
                    raise ValueError(f"{self.name}: {error}") from None
            elif parameter.default is None:
                raise ValueError(f"{self.name}: {parameter.name} is missing; call it as {self.usage}")
            else:
                values.append(parameter.default)
        return Call(self.name, tuple(values))


@dataclass(frozen=True)
class Call:
    """A call of a tool, all arguments filled in, in the order of its parameters."""

    tool: str
    arguments: tuple[str | int, ...] = ()

    def __str__(self) -> str:
        return f"{self.tool}({', '.join(map(str, self.arguments))})"


@dataclass(frozen=True)
class Running:
    """A call that an agent has begun. It is *pending* until its first `advance`. `memory` is the world's own, plain
    immutable data."""

    call: Call
    agent: str
    issued: int = 0  # primitive actions so far
    memory: Any = None


@dataclass(frozen=True)
class Progress:
    """What a running call does next. While it is `executing`, `primitive` is the action for this step; once it has
    come to an end there is none, and `reason` says why in one line."""

    running: Running
    primitive: str | None
    outcome: Literal["executing", "success", "failed"]
    reason: str = ""


def issue(running: Running, primitive: str, memory: Any = None) -> Progress:
    """`running` goes on with one more primitive action."""
    return Progress(replace(running, issued=running.issued + 1, memory=memory), primitive, "executing")


def end(running: Running, success: bool, reason: str) -> Progress:
    """`running` has come to its end."""
    return Progress(running, None, "success" if success else "failed", reason)


@dataclass(frozen=True)
class Forecast:
    """Where an agent is expected to be, and with what, `steps` primitive steps from now."""

    place: Place
    inventory: Inventory = ()
    steps: int = 0


@dataclass(frozen=True)
class Work:
    """A stretch of steps, both ends included, in which an agent's plan works on a task."""

    agent: str
    first: int
    last: int
    forecast: Forecast = field(repr=False)  # when it begins


def likelihood(task: CoopTask, constraint: str, count: int) -> float:
    """min(1, N / p); 1 for the dependency of a task that needs no item."""
    if constraint == "dependency" and not task.capability:
        return 1.0
    return min(1.0, count / task.participants)


def score(trace: Iterable[Completion]) -> float:
    """The score of an episode: the sum over what was completed."""
    return sum(completion.score for completion in trace)


class CooperativeWorld(World[State]):
    """A world with cooperative tasks and tools. Whoever brings an own world implements the abstract methods; all are
    pure, like those of `World`. `reach` is the largest `distance` that satisfies the spatial constraint."""

    reach: int
    spatial_tolerance: ClassVar[int] = 0  # further off than `reach` that a forecast still takes as near
    temporal_tolerance: ClassVar[int] = 0  # steps between two stretches of work that a forecast still takes as one

    # tasks

    @abstractmethod
    def tasks(self, state: State) -> tuple[CoopTask, ...]:
        """The active tasks, in a fixed order."""

    @abstractmethod
    def task(self, state: State, id: str) -> CoopTask | None:
        """The active task called `id`, if there is one."""

    @abstractmethod
    def is_completed(self, state: State, id: str) -> bool:
        """Whether the task was completed in this episode."""

    @abstractmethod
    def place(self, state: State, agent: str) -> Place:
        """Where an agent is."""

    @abstractmethod
    def inventory(self, state: State, agent: str) -> Inventory:
        """What an agent holds: its capability."""

    @abstractmethod
    def distance(self, state: State, task: CoopTask, place: Place) -> int:
        """Moves from `place` to the task by Manhattan distance, as its spatial constraint measures them."""

    @abstractmethod
    def equipped(self, task: CoopTask, inventory: Inventory) -> bool:
        """Whether one who holds `inventory` is capable of taking part."""

    @abstractmethod
    def targets(self, state: State, agent: str, action: str) -> tuple[str, ...]:
        """The ids of active tasks that a primitive action works on, where the agent is now."""

    @abstractmethod
    def succeeded(self, before: State, actions: Mapping[str, str], after: State, task: CoopTask) -> bool:
        """Whether the work on an active task had its effect in this step."""

    @abstractmethod
    def completions(self, before: State, actions: Mapping[str, str], after: State) -> tuple[Completion, ...]:
        """What was completed in this step."""

    # tools

    @abstractmethod
    def tools(self) -> tuple[Tool, ...]:
        """Every tool, in the order in which agents are told of them."""

    @abstractmethod
    def start(self, call: Call, state: State, agent: str) -> Running:
        """Begin a call. What cannot be done shows at the first `advance`."""

    @abstractmethod
    def advance(self, running: Running, state: State) -> Progress:
        """The next step of a call, seen from the state in which its primitive action would be done. Called once
        before every primitive step; when a call has ended, the next one of the plan may act in the same step."""

    @abstractmethod
    def aim(self, state: State, agent: str, call: Call, place: Place) -> str:
        """The id of the task that a call, made at `place`, is work on; "" if of none."""

    @abstractmethod
    def foresee(self, state: State, agent: str, call: Call, forecast: Forecast) -> Forecast:
        """What to expect after a call made at `forecast`, taking for granted that it does all that it wants. Adds
        the steps that it is expected to take, at least 1."""

    # what follows from them

    def duration(self, state: State, agent: str, call: Call, forecast: Forecast) -> int:
        """How many steps a call is expected to take."""
        return self.foresee(state, agent, call, forecast).steps - forecast.steps

    def status(self, state: State, task: CoopTask) -> str:
        """One of STATUSES: nobody near, somebody near, enough capable agents near, completed, gone without that."""
        if self.task(state, task.id) is None:
            return "completed" if self.is_completed(state, task.id) else "removed"
        satisfied = self.satisfying(state, {}, task)
        able = {*satisfied["participation"]}
        near = satisfied["spatial"]
        ready = sum(agent in able for agent in near) >= task.participants
        return "ready" if ready else "in_progress" if near else "pending"

    def satisfying(
        self, state: State, actions: Mapping[str, str], task: CoopTask, aims: Aims = NO_AIMS
    ) -> dict[str, tuple[str, ...]]:
        """The living agents that satisfy each constraint of a task, given what they are about to do: near it, capable
        of it, holding what it needs, and working on it, which is to have named it in a call (`aims`) or, without a
        call, to do what works on it."""
        living = self.living(state)
        able = tuple(a for a in living if self.equipped(task, self.inventory(state, a)))
        return {
            "temporal": tuple(a for a in living if task.id in self._worked(state, a, actions, aims)),
            "spatial": tuple(a for a in living if self.distance(state, task, self.place(state, a)) <= self.reach),
            "participation": able,
            "dependency": able,
        }

    def likelihoods(
        self, state: State, actions: Mapping[str, str], task: CoopTask, aims: Aims = NO_AIMS
    ) -> dict[str, float]:
        """p^c of each constraint: 1 exactly where it is satisfied."""
        satisfied = self.satisfying(state, actions, task, aims)
        return {c: likelihood(task, c, len(satisfied[c])) for c in CONSTRAINTS}

    def attempts(
        self, before: State, actions: Mapping[str, str], after: State, aims: Aims = NO_AIMS
    ) -> tuple[Attempt, ...]:
        """The tasks that were worked on in a step, by id. `aims` names the task of each agent whose call is work on
        one, whether or not it came to a primitive action: who calls from too far away has attempted it too."""
        workers: dict[str, list[str]] = {}
        for agent in self.living(before):
            for id in self._worked(before, agent, actions, aims):
                workers.setdefault(id, []).append(agent)
        attempts = []
        for id, agents in sorted(workers.items()):
            if (task := self.task(before, id)) is not None:
                satisfied = self.satisfying(before, actions, task, aims)
                counts = {c: len(satisfied[c]) for c in CONSTRAINTS}
                attempts.append(Attempt(task, tuple(agents), counts, self.succeeded(before, actions, after, task)))
        return tuple(attempts)

    def _worked(self, state: State, agent: str, actions: Mapping[str, str], aims: Aims) -> tuple[str, ...]:
        if agent in aims:
            return (aims[agent],)
        return self.targets(state, agent, actions[agent]) if agent in actions else ()

    def parse_call(self, text: str) -> Call:
        """Read a call that a model wrote: `push(block_3, 4)`, `push block_3 4`, `push(id=block_3, steps=4)` or
        `{"tool": "push", "arguments": {"id": "block_3"}}`. Raises ValueError, in one line."""
        if len(text) > LONGEST_CALL:
            raise ValueError(f"a call of {len(text)} characters is too long; write one call, such as {self._usages()}")
        name, given, named = _read_json(text) if text.strip().startswith("{") else _read_call(text)
        tool = {tool.name: tool for tool in self.tools()}.get(name)
        if tool is None:
            raise ValueError(f"{name[:40]!r} is no tool; the tools are {self._usages()}")
        return tool.bind(*self.respell(name, given, named))

    def respell(self, tool: str, given: list[str], named: dict[str, str]) -> tuple[list[str], dict[str, str]]:
        """Arguments as `tools` has them, from other ways in which a world lets them be written."""
        return given, named

    def _usages(self) -> str:
        return ", ".join(tool.usage for tool in self.tools())

    def works(self, state: State, agent: str, calls: Iterable[Call]) -> dict[str, list[Work]]:
        """When and where the rest of an agent's plan is expected to work on which tasks."""
        forecast = Forecast(self.place(state, agent), self.inventory(state, agent))
        found: dict[str, list[Work]] = {}
        for call in calls:
            after = self.foresee(state, agent, call, forecast)
            if id := self.aim(state, agent, call, forecast.place):
                found.setdefault(id, []).append(Work(agent, forecast.steps, after.steps - 1, forecast))
            forecast = after
        return found

    def expected(self, state: State, plans: Mapping[str, Sequence[Call]], task: CoopTask) -> dict[str, float]:
        """The likelihood of each constraint of a task under the remaining calls of the agents that pursue it: the
        most agents whose work falls together, who are near when they work, who are capable at all, and who hold
        what is needed when they work. An agent counts once, however often it works."""
        works = [w for agent, calls in plans.items() for w in self.works(state, agent, calls).get(task.id, [])]
        together = max(
            (len({w.agent for w in works if w.first <= at.first <= w.last + self.temporal_tolerance}) for at in works),
            default=0,
        )
        near = {
            w.agent
            for w in works
            if self.distance(state, task, w.forecast.place) <= self.reach + self.spatial_tolerance
        }
        holding = {w.agent for w in works if self.equipped(task, w.forecast.inventory)}
        able = {a for a in self.living(state) if self.equipped(task, self.inventory(state, a))} | holding
        counts = {
            "temporal": together,
            "spatial": len(near),
            "participation": len(able),
            "dependency": len(holding),
        }
        return {c: likelihood(task, c, counts[c]) for c in CONSTRAINTS}


Read = tuple[str, list[str], dict[str, str]]  # the tool's name, arguments by order, arguments by name


def _read_call(text: str) -> Read:
    found = re.match(r"[\s`\"'*\-]*(?:[0-9]+[.)]\s*)?([A-Za-z_]+)\s*(.*)", text, re.DOTALL)
    if not found:
        raise ValueError(f"{text[:40]!r} is no call; write it as tool(argument, argument)")
    name, rest = found[1].lower(), found[2].strip()
    if rest.startswith("("):
        inside, closed, _ = rest[1:].partition(")")
        if not closed:
            raise ValueError(f"{name}: the bracket is not closed")
        parts = inside.split(",") if inside.strip() else []
    else:
        parts = re.split(r"[\s,]+", rest.rstrip("`.;")) if rest.strip("`.;") else []
    given, named = [], {}
    for part in parts:
        key, equals, value = part.partition("=")
        if equals:
            named[key.strip().lower()] = value
        elif named:
            raise ValueError(f"{name}: {part.strip()[:40]!r} has no name but follows one that has")
        else:
            given.append(part)
    return name, given, named


def _read_json(text: str) -> Read:
    try:
        said = json.loads(text)
    except (ValueError, RecursionError):
        raise ValueError(f"{text[:40]!r} is no JSON; write the call as tool(argument, argument)") from None
    name = next((said[key] for key in ("tool", "name", "action") if key in said), None)
    arguments: Any = next((said[key] for key in ("arguments", "args", "parameters", "params") if key in said), {})
    if not isinstance(name, str) or not isinstance(arguments, dict | list):
        raise ValueError('a call in JSON is {"tool": name, "arguments": {parameter: value}}')
    if isinstance(arguments, list):
        return name.lower(), [str(value) for value in arguments], {}
    return name.lower(), [], {str(key).lower(): str(value) for key, value in arguments.items()}
