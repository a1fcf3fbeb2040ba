"""What the agents of an episode are asked, and what is made of their replies."""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from collabtax.agents import Agent, prompt
from collabtax.chat import Completion
from collabtax.coop.arenas import AnyCooperativeWorld, told, written
from collabtax.coop.process import MOST_CALLS, Member, Process
from collabtax.models import Model
from collabtax.study import Stage
from tasks.worlds.cooperation import Call

READ = 50_000  # characters of a reply that are read
OBJECTS = 200  # braces that are tried as the beginning of a JSON object
LONGEST_TEXT = 600  # characters of a message, the rest is left out [our choice]
LONGEST_TASK = 80  # of the words that name a plan's task [our choice]
SHOWN = 8  # latest messages that an agent sees beside new ones [our choice]
STATUS_WORDS = {"R": "thinking", "W": "waiting", "X": "executing", "I": "interrupted"}
REPLIES = {"reply": "reply", "intention": "intention"}  # what is asked for in words: the field that holds it
MAKES_NEW = ("plan", "propose", "lead", "mend")  # what is asked for as a plan, with no going on with an old one


@dataclass(frozen=True)
class Said:
    """What a reply means. `text` is a message, a reply to the leader or an intention."""

    task: str = ""
    calls: tuple[Call, ...] = ()
    resume: bool = False
    fallback: bool = False
    text: str = ""
    assignments: Mapping[str, str] = field(default_factory=dict)
    contact: tuple[str, ...] = ()


@dataclass(frozen=True)
class Reply:
    """What an agent said, and when (ms)."""

    agent: str
    at: int
    said: Said


def line(text: Any, longest: int = LONGEST_TEXT) -> str:
    """Words of a model as one line that is safe to pass on; "" for what is no text."""
    if not isinstance(text, str):
        return ""
    return " ".join(text.encode("utf-8", "replace").decode().split())[:longest]


def objects(text: str) -> list[dict[str, Any]]:
    """The JSON objects in a reply, whatever stands around them; those inside others are left out."""
    text, at, found = text[:READ], 0, []
    decoder = json.JSONDecoder()
    for _ in range(OBJECTS):
        at = text.find("{", at)
        if at < 0:
            break
        try:
            one, at = decoder.raw_decode(text, at)
            found.append(one)
        except (ValueError, RecursionError):
            at += 1
    return found


def read_plan(world: AnyCooperativeWorld, text: str, may_resume: bool, agents: Sequence[str] = ()) -> Said:
    """The plan in a reply: the last object with calls, or with `resume` where that is allowed. `agents`: those who can
    be given assignments. Raises ValueError, in a line for the agent."""
    said = [one for one in objects(text) if "calls" in one or (may_resume and one.get("resume") is True)]
    if not said:
        raise ValueError("it holds no JSON object with calls")
    plan = said[-1]
    listed = plan.get("calls")
    if may_resume and plan.get("resume") is True and not listed:
        return Said(resume=True)
    if isinstance(listed, str):
        listed = [part for part in listed.replace(";", "\n").splitlines() if part.strip()]
    if not isinstance(listed, list) or not 1 <= len(listed) <= MOST_CALLS:
        raise ValueError(f"calls must be a list of 1 to {MOST_CALLS} calls")
    calls = [world.parse_call(call if isinstance(call, str) else json.dumps(call)) for call in listed]
    assigned = plan.get("assignments")
    words = {name: line(assigned.get(name)) for name in agents} if isinstance(assigned, dict) else {}
    return Said(
        line(plan.get("task"), LONGEST_TASK), tuple(calls), text=line(plan.get("message")),
        assignments={name: text for name, text in words.items() if text},
    )  # fmt: skip


def read_words(text: str, key: str, agents: Sequence[str] = ()) -> Said:
    """Words under `key`, or the reply itself where it is no such object; and whom of `agents` it wants to contact."""
    said: dict[str, Any] = next((one for one in reversed(objects(text)) if key in one), {})
    wanted = said.get("contact")
    named = [name for name in wanted if isinstance(name, str)] if isinstance(wanted, list) else []
    contact = tuple(name for name in agents if name in named)
    return Said(text=line(said.get(key)) if said else line(text), contact=contact)


def latency(completion: Completion) -> int:
    """How long a reply took, in ms: as recorded; of a simulated model, which takes no time, half a second and 0.02 s a
    token [our choice]."""
    seconds = completion.seconds or 0.5 + 0.02 * completion.usage.get("completion", 0)
    return max(1, round(1000 * seconds))


class Minds:
    """The agents' side of an episode: all of them are the same model. With `real_time` a reply takes what it takes by
    the wall clock, waiting for its turn included, and not what was recorded; such an episode cannot be replayed."""

    def __init__(self, process: Process, stage: Stage, real_time: bool = False) -> None:
        self.process, self.stage, self.real_time = process, stage, real_time
        self.model: Model = stage.settings.models[stage.cell.models[0]]
        self.systems = {name: system(process, name) for name in process.members}

    async def ask(self, asked: Mapping[str, str], outside: Sequence[str] = ()) -> list[Reply]:
        """Ask agents at the same time, each for a kind of reply. `outside`: whom they may contact.

        Returns:
            Their replies, the earliest first; of several at the same time, in seat order.
        """
        begun = {name: max(self.process.now, self.process.members[name].busy) for name in asked}
        users = {name: self.user(name, kind, outside) for name, kind in asked.items()}
        heard: dict[str, list[tuple[Completion, int]]] = {name: [] for name in asked}
        replies = await asyncio.gather(
            *(self._reply(name, kind, users[name], heard[name], outside) for name, kind in asked.items()),
            return_exceptions=True,
        )
        for name, kind in asked.items():  # in seat order, whoever was the first
            at = begun[name]
            for number, (completion, took) in enumerate(heard[name]):
                about = {"kind": kind, "agent": name, "step": self.process.steps, "at": at / 1000}
                seat = self.process.world.agents.index(name)
                self.stage.transcript.say(seat, completion, **about, **({"retry": True} if number else {}))
                at += took
        for problem in replies:
            if isinstance(problem, BaseException):
                raise problem
        found = []
        for (name, _), said in zip(asked.items(), replies, strict=True):
            assert isinstance(said, Said)
            at = begun[name] + sum(took for _, took in heard[name])
            self.process.members[name].busy = at
            found.append(Reply(name, at, said))
        return sorted(found, key=lambda reply: reply.at)

    async def _reply(
        self, name: str, kind: str, user: str, heard: list[tuple[Completion, int]], outside: Sequence[str]
    ) -> Said:
        """One agent's reply; a plan that cannot be used is asked for once more, then the fallback takes its place."""
        seat = self.process.world.agents.index(name)
        messages = ("system", self.systems[name]), ("user", user)
        agent = Agent.start(seat, self.model, self.stage.settings.temperature, *messages)
        others = tuple(other for other in self.process.living if other != name)
        for attempt in range(2):
            begun = time.monotonic()
            completion = await agent.reply(self.stage.chat)
            wall = max(1, round(1000 * (time.monotonic() - begun)))
            heard.append((completion, wall if self.real_time else latency(completion)))
            if kind in REPLIES:
                return read_words(completion.text, REPLIES[kind], outside)
            try:
                return read_plan(self.process.world, completion.text, kind not in MAKES_NEW, others)
            except ValueError as fault:
                if not attempt:
                    agent.hear(prompt("coop/retry").format(fault=line(str(fault))))
        calls = tuple(self.process.world.parse_call(call) for call in self.process.arena.fallback)
        return Said("fallback", calls, fallback=True)

    def user(self, name: str, kind: str, outside: Sequence[str] = ()) -> str:
        """What an agent is asked; the messages in it are read then."""
        process = self.process
        member = process.members[name]
        unread, member.unread = member.unread, []
        messages = [f"- step {m.step}, {m.sender} ({m.kind}): {m.text}" for m in member.read[-SHOWN:]]
        messages += [f"- new, step {m.step}, {m.sender} ({m.kind}): {m.text}" for m in unread]
        member.read += unread
        task, calls = process.arena.example
        others = [other for other in process.living if other != name]
        asked = prompt(f"coop/asked_{kind}").format(
            task=task, calls=", ".join(f'"{call}"' for call in calls), others=", ".join(others),
            other=others[0] if others else "", outside=", ".join(outside) or "nobody is left",
        )  # fmt: skip
        status = [
            f"{n} {STATUS_WORDS[m.status] if n in process.living else 'dead'}" for n, m in process.members.items()
        ]
        return prompt("coop/turn").format(
            step=process.steps, steps=process.limit, left=max(0, process.budget - process.now) // 1000,
            team=", ".join(status), observation=process.world.observe(process.state, name),
            plan=planned(process.world, member), messages="\n".join(messages) or "(none)", asked=asked,
        )  # fmt: skip


def planned(world: AnyCooperativeWorld, member: Member) -> str:
    """An agent's plan as it stands, for itself."""
    if member.plan is None:
        return "(none yet)"
    lines = [f"Task: {member.plan.task or '(not named)'}", *(f"- {outcome}" for outcome in member.outcomes)]
    lines += [f"- {written(world, call)}: {'under way' if member.running and not n else 'to come'}"
              for n, call in enumerate(member.remaining)]  # fmt: skip
    return "\n".join(lines if member.remaining else [*lines, "It is over."])


def system(process: Process, name: str) -> str:
    """What an agent is told for the whole episode."""
    names = ", ".join(process.members)
    leader = next(iter(process.members))
    role = process.structure if process.structure != "centralized" else "leader" if name == leader else "follower"
    talk = prompt(f"coop/structure_{role}").format(leader=leader, names=names)
    if process.repair:
        talk += f"\n{prompt('coop/structure_repair')}"
    return prompt("coop/system").format(
        agent=name, team=len(process.members), names=names, rules=process.arena.rules(process.world), most=MOST_CALLS,
        tools="\n".join(told(tool) for tool in process.world.tools()),
        structure=talk, steps=process.limit, seconds=f"{process.budget / 1000:g}",
    )  # fmt: skip
