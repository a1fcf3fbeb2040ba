"""COOP²-Repair: before plans are carried out, tasks that they are likely to miss are found, and those who pursue them
talk and plan anew (paper, section 5)."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field

from collabtax.agents import prompt
from collabtax.coop.arenas import written
from collabtax.coop.minds import Minds
from collabtax.coop.process import Process
from collabtax.coop.structures import decide
from tasks.worlds.cooperation import CONSTRAINTS, Call

SENDER = "repair"  # of the message that opens a talk
Failing = dict[str, dict[str, float]]  # task: likelihood by constraint, of those below their thresholds


@dataclass
class Repair:
    """Checks, and where it is `on` repairs, the plans of an episode. `stamps` holds the step of the last repair by what
    it cooled down; `passed` plans that were checked and found good."""

    on: bool
    thresholds: Mapping[str, float] = field(default_factory=lambda: dict.fromkeys(CONSTRAINTS, 1.0))
    stamps: dict[str, int] = field(default_factory=dict)
    passed: set[tuple[object, ...]] = field(default_factory=set)
    last: int = -1  # the step before which the last repair was

    async def intervene(self, process: Process, minds: Minds) -> bool:
        """Check the plans when all agents are ready and some have new ones; whether a repair has interrupted them.
        There is at most one before a step [our choice]."""
        failing, groups = self.check(process)
        if not (self.on and failing) or self.last == process.steps:
            return False
        due = {task: found for task, found in failing.items() if self.is_due(process, task)}
        if not due:
            for task in failing:
                process.log("cooldown", task=task)
            return False
        self.last = process.steps
        for task in due:
            self.stamps[self._key(process, task)] = process.steps
        for task, found in due.items():
            process.log("repair", task=task, agents=groups[task], constraints=sorted(found))
        channel = sorted({name for task in due for name in groups[task]}, key=process.world.agents.index)
        await self._talk(process, minds, channel, context(process, due, groups))
        return True

    def check(self, process: Process) -> tuple[Failing, dict[str, list[str]]]:
        """Tasks that are likely to be missed, and the agents that pursue each task."""
        signature = tuple(
            (name, m.plan and m.plan.number, m.plan and m.plan.task, m.status, m.at, m.remaining)
            for name, m in ((name, process.members[name]) for name in process.living)
        )
        groups = pursued(process)
        if signature in self.passed:
            return {}, groups
        failing: Failing = {}
        for id, names in groups.items():
            task = process.task(id)
            assert task is not None
            plans = {name: process.members[name].remaining for name in names}
            expected = process.world.expected(process.state, plans, task)
            below = {c: round(p, 3) for c, p in expected.items() if p < self.thresholds[c]}
            if below:
                failing[id] = below
        if not failing:
            self.passed.add(signature)
        if groups:
            process.log("check", failing=failing, passed=[id for id in groups if id not in failing])
        return failing, groups

    def is_due(self, process: Process, task: str) -> bool:
        """Whether the task, or its kind, was not repaired lately."""
        stamp = self.stamps.get(self._key(process, task))
        return stamp is None or process.steps - stamp >= process.arena.cooldown

    def _key(self, process: Process, id: str) -> str:
        task = process.task(id)
        assert task is not None
        return process.arena.cooled(task)

    async def _talk(self, process: Process, minds: Minds, channel: list[str], about: str) -> None:
        """One round of intentions in seat order, in which others may be called in, and then new plans of all."""
        process.send(SENDER, channel, about, "repair")
        silent = list(channel)
        while silent and not process.is_late:
            name = silent.pop(0)
            outside = [other for other in process.living if other not in channel]
            (reply,) = await minds.ask({name: "intention"}, outside)
            process.reach(reply.at)
            process.send(name, channel, reply.said.text, "intention")
            for other in reply.said.contact:
                process.send(name, (other,), f"{reply.said.text} ({about})", "contact")
            channel += reply.said.contact
            silent = sorted([*silent, *reply.said.contact], key=process.world.agents.index)
        if not process.is_late:
            await decide(process, minds, "mend")


def pursued(process: Process) -> dict[str, list[str]]:
    """The agents that pursue each active task, by task in the order of their seats: the task that the plan's
    specification names, else the first one that its remaining calls work on."""
    groups: dict[str, list[str]] = {}
    for name in process.living:
        member = process.members[name]
        if member.plan and (id := intended(process, name, member.plan.task, member.remaining)):
            groups.setdefault(id, []).append(name)
    return groups


def intended(process: Process, name: str, specification: str, calls: tuple[Call, ...]) -> str:
    """The id of the active task that a plan is for; "" for none."""
    for word in map(str, re.findall(r"[a-z0-9_#]+", specification.lower())):
        if process.task(word) is not None:
            return word
    works: Mapping[str, object] = process.world.works(process.state, name, calls)
    return next((id for id in works if process.task(id) is not None), "")


def context(process: Process, failing: Failing, groups: Mapping[str, list[str]]) -> str:
    """What those who talk are told of the tasks that are likely to be missed, in one line."""
    parts = []
    for id, found in failing.items():
        task = process.task(id)
        assert task is not None
        why = "; ".join(f"{c} {p:g}, {prompt(f'coop/mend_{c}')}" for c, p in found.items())
        plans = "; ".join(f"{name}: {calls(process, name)}" for name in groups[id])
        whom = f" with a {task.capability} each" if task.capability else ""
        parts.append(f"{id} takes {task.participants} agents{whom}. Likely to fail: {why}. Plans: {plans}.")
    return " ".join(parts)


def calls(process: Process, name: str) -> str:
    """The remaining calls of an agent."""
    return ", ".join(written(process.world, call) for call in process.members[name].remaining)
