"""The process of an episode: agents that reason, wait, execute and are interrupted; plans that are unrolled into the
world step by step; and a trace of it all (paper, sections 3 and 4).

Time is counted in milliseconds of reasoning, whole numbers, so that sums are exact; steps of the world take none. The
trace is a list of plain events. Each has `event`, `at` (seconds of reasoning) and `step` (steps of the world that were
completed by then; a step and what came of it count that step itself), and besides:

    start        world, version, seed, agents, structure, repair, steps, seconds
    status       agent, from, to: R reasoning, W waiting, X executing, I interrupted; all begin in R
    plan         agent, plan (its number), task (in the agent's words), calls, fallback
    message      sender, recipients, text, kind: request, reply, assignment, proposal, repair, intention, contact
    call         agent, call, outcome (success, failed), reason: a call has ended
    step         actions (by agent), aims (task by agent, of calls under way), and where there are any
                 missed (agents by task, whose calls for it failed since the step before without coming to an action)
    attempt      task, kind, participants (how many it takes), agents, counts (by constraint), success
    completed    task, agents, score
    task         task, status: as in `tasks.worlds.cooperation.STATUSES`, when it changes
    capability   agent, inventory: when it changes, and at the start where there is any
    check        failing (task: likelihoods below their threshold, by constraint), passed (tasks)
    repair       task, agents (that pursue it), constraints (that are likely to fail)
    cooldown     task: likely to fail, but repaired not long ago
    left         agent: it has died
    end          reason: done, dead, steps, time
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

from collabtax.coop.arenas import Arena, written
from tasks.worlds.cooperation import Attempt, Call, CoopTask, Progress, Running

Status = Literal["R", "W", "X", "I"]  # reasoning, waiting, executing, interrupted
Event = dict[str, Any]
LEGAL = frozenset({("R", "W"), ("W", "X"), ("X", "R"), ("W", "I"), ("X", "I"), ("I", "W")})
READY = ("W", "X")
MOST_CALLS = 6  # of a plan
GONE = ("completed", "removed")  # statuses of a task that is over


@dataclass(frozen=True)
class Plan:
    """What an agent means to do: `task` in its own words, and calls. `number` counts its plans from 1."""

    number: int
    task: str
    calls: tuple[Call, ...]
    fallback: bool = False


@dataclass(frozen=True)
class Message:
    step: int
    sender: str
    recipients: tuple[str, ...]
    text: str
    kind: str


@dataclass
class Member:
    """One agent. `at` is the call of its plan that runs, `running` how far that is, and `next` its next primitive
    action, once it is known. `busy`: the time (ms) until which it reasons."""

    name: str
    status: Status = "R"
    plan: Plan | None = None
    at: int = 0
    running: Running | None = None
    next: Progress | None = None
    busy: int = 0
    outcomes: list[str] = field(default_factory=list)  # of the plan's calls so far
    unread: list[Message] = field(default_factory=list)
    read: list[Message] = field(default_factory=list)

    def turn(self, status: Status) -> None:
        """Change the status. Raises ValueError where that is not a legal transition."""
        if (self.status, status) not in LEGAL:
            raise ValueError(f"{self.name} cannot go from {self.status} to {status}")
        self.status = status

    @property
    def remaining(self) -> tuple[Call, ...]:
        """The calls of its plan that have not ended, if it still follows one."""
        return self.plan.calls[self.at :] if self.plan and self.status != "R" else ()


class Process:
    """An episode under way. `seconds` and `steps` are what it may take."""

    def __init__(
        self, arena: Arena, team: int, seed: int, *, structure: str, repair: bool, steps: int, seconds: float
    ) -> None:
        self.arena, self.world = arena, arena.world(team, steps)
        self.state = self.first = self.world.initial(seed)
        self.structure, self.repair = structure, repair
        self.members = {name: Member(name) for name in self.world.agents}
        self.now, self.budget = 0, round(seconds * 1000)  # ms
        self.steps, self.limit = 0, steps
        self.trace: list[Event] = []
        self._tasks: dict[str, str] = {}  # status by id
        self._held: dict[str, dict[str, int]] = {}  # inventory by agent
        self._missed: dict[str, set[str]] = {}  # task: agents whose calls for it failed before they could act
        self.log(
            "start", world=arena.name, version=self.world.version, seed=seed, agents=list(self.world.agents),
            structure=structure, repair=repair, steps=steps, seconds=seconds,
        )  # fmt: skip
        for name in self.members:
            self._hold(name)
        self._follow_tasks()

    def log(self, event: str, **about: Any) -> None:
        """Add to the trace; what comes after the time is up has not happened."""
        if self.now <= self.budget:
            self.trace.append({"event": event, "at": self.now / 1000, "step": self.steps, **about})

    # who is at what

    @property
    def living(self) -> tuple[str, ...]:
        return self.world.living(self.state)

    @property
    def reasoning(self) -> tuple[str, ...]:
        """Living agents that have to decide before the world can move on."""
        return tuple(name for name in self.living if self.members[name].status not in READY)

    @property
    def waiting(self) -> tuple[str, ...]:
        return tuple(name for name in self.living if self.members[name].status == "W")

    @property
    def is_late(self) -> bool:
        """Whether there is no time left to reason."""
        return self.now >= self.budget

    @property
    def over(self) -> str:
        """Why the episode has ended, in one word; "" while it goes on."""
        if self.world.is_over(self.state):
            return "done" if self.living else "dead"
        if self.steps >= self.limit or self.world.is_cut(self.state):
            return "steps"
        return "time" if self.now > self.budget or (self.reasoning and self.is_late) else ""

    def turn(self, name: str, status: Status) -> None:
        member = self.members[name]
        before = member.status
        member.turn(status)
        self.log("status", agent=name, **{"from": before, "to": status})

    # the cognitive layer

    def reach(self, time: int) -> None:
        """Let the clock go on to `time` (ms), if it is not there yet."""
        self.now = max(self.now, time)

    def commit(self, name: str, task: str, calls: Sequence[Call], fallback: bool = False) -> None:
        """An agent that reasons or was interrupted has a new plan, and waits for the others."""
        if not 1 <= len(calls) <= MOST_CALLS:
            raise ValueError(f"{name}: a plan has 1 to {MOST_CALLS} calls, not {len(calls)}")
        member = self.members[name]
        number = member.plan.number + 1 if member.plan else 1
        self.turn(name, "W")
        member.plan = Plan(number, task, tuple(calls), fallback)
        member.at, member.running, member.next, member.outcomes = 0, None, None, []
        texts = [written(self.world, call) for call in calls]
        self.log("plan", agent=name, plan=number, task=task, calls=texts, fallback=fallback)

    def resume(self, name: str) -> None:
        """An agent that was interrupted goes on with its plan."""
        if self.members[name].status != "I":
            raise ValueError(f"{name} was not interrupted, so there is nothing to resume")
        self.turn(name, "W")

    def send(self, sender: str, recipients: Iterable[str], text: str, kind: str) -> None:
        """Send a message, which interrupts whoever is ready, and is kept for whoever reasons. One without words, or to
        nobody that lives, is none."""
        living = self.living
        to = tuple(name for name in recipients if name in living and name != sender)
        if not to or not text:
            return
        self.log("message", sender=sender, recipients=list(to), text=text, kind=kind)
        for name in to:
            self.members[name].unread.append(Message(self.steps, sender, to, text, kind))
            if self.members[name].status in READY:
                self.turn(name, "I")

    # the primitive layer

    def release(self) -> None:
        """All agents that wait execute from now on, together; whose plan cannot even begin reasons again."""
        if self.reasoning:
            raise RuntimeError(f"{', '.join(self.reasoning)} not ready")
        for name in self.waiting:
            self.turn(name, "X")
        for name in self.living:
            self._settle(name)

    def step(self) -> None:
        """One primitive step of all living agents. Raises RuntimeError unless all of them execute."""
        living, world, before = self.living, self.world, self.state
        actions, aims = {}, {}
        for name in living:
            member = self.members[name]
            if member.status != "X" or member.next is None or member.next.primitive is None:
                raise RuntimeError(f"{name} does not execute")
            actions[name] = member.next.primitive
            if aim := world.aim(before, name, member.next.running.call, world.place(before, name)):
                aims[name] = aim
        missed, self._missed = {task: sorted(who) for task, who in sorted(self._missed.items())}, {}
        self.state = world.step(before, actions)
        self.steps += 1
        self.log("step", actions=actions, aims=aims, **({"missed": missed} if missed else {}))
        for attempt in attempts(world, before, actions, self.state, aims, missed):
            self.log(
                "attempt", task=attempt.task.id, kind=attempt.task.kind, participants=attempt.task.participants,
                agents=list(attempt.agents), counts=dict(attempt.counts), success=attempt.success,
            )  # fmt: skip
        for one in world.completions(before, actions, self.state):
            self.log("completed", task=one.task.id, agents=list(one.agents), score=one.score)
        for name in living:
            self._hold(name)
        self._follow_tasks()
        for name in living:
            member = self.members[name]
            member.running, member.next = member.next.running if member.next else None, None
            if name in self.living:
                self._settle(name)
            else:
                self.log("left", agent=name)

    def end(self, reason: str) -> None:
        self.now = min(self.now, self.budget)
        self.log("end", reason=reason)

    def _settle(self, name: str) -> None:
        """Bring an agent's plan to its next primitive action; without one it reasons again."""
        member = self.members[name]
        assert member.plan is not None
        while member.next is None:
            if member.at == len(member.plan.calls):
                self.turn(name, "R")
                return
            call = member.plan.calls[member.at]
            running = member.running or self.world.start(call, self.state, name)
            progress = self.world.advance(running, self.state)
            if progress.outcome == "executing":
                member.next = progress
                return
            member.running = None
            text = written(self.world, call)
            member.outcomes.append(f"{text}: {progress.outcome}, {progress.reason}")
            self.log("call", agent=name, call=text, outcome=progress.outcome, reason=progress.reason)
            if progress.outcome == "failed":
                aim = self.world.aim(self.state, name, call, self.world.place(self.state, name))
                if aim and not running.issued:
                    self._missed.setdefault(aim, set()).add(name)
                self.turn(name, "R")
                return
            member.at += 1

    def _hold(self, name: str) -> None:
        held = dict(self.world.inventory(self.state, name))
        if held != self._held.get(name, {}):
            self._held[name] = held
            self.log("capability", agent=name, inventory=held)

    def _follow_tasks(self) -> None:
        """Tell of every task whose status has changed."""
        world, state = self.world, self.state
        places = [world.place(state, name) for name in self.living]
        found = {task.id: task for task in world.tasks(state)}
        for id, task in found.items():
            near = any(world.distance(state, task, place) <= world.reach for place in places)
            self._tell_task(id, world.status(state, task) if near else "pending")
        for id in [id for id, status in self._tasks.items() if id not in found and status not in GONE]:
            self._tell_task(id, "completed" if world.is_completed(state, id) else "removed")

    def _tell_task(self, id: str, status: str) -> None:
        if self._tasks.get(id) != status:
            self._tasks[id] = status
            self.log("task", task=id, status=status)

    def task(self, id: str) -> CoopTask | None:
        return self.world.task(self.state, id)


def attempts(
    world: Any, before: Any, actions: Mapping[str, str], after: Any, aims: Mapping[str, str],
    missed: Mapping[str, Sequence[str]],
) -> list[Attempt]:  # fmt: skip
    """The attempts of a step, by task. `missed`: agents whose calls for a task failed since the step before, without
    coming to an action: too far away, or without the tool. They have attempted it too."""
    found = {attempt.task.id: attempt for attempt in world.attempts(before, actions, after, aims)}
    for task, agents in missed.items():
        for attempt in world.attempts(before, actions, after, {**aims, **dict.fromkeys(agents, task)}):
            if attempt.task.id == task:
                found[task] = attempt
    return [found[id] for id in sorted(found)]
