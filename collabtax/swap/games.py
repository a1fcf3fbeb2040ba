"""What a team can be formed on and evaluated in: a game knows its seats, its tasks, and how an episode is played. The
two embodied games share one loop; the clinic has its own (`collabtax.swap.clinic`)."""

from __future__ import annotations

import contextlib
import json
import random
import re
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from functools import cache, lru_cache
from typing import Any, ClassVar

from collabtax.agents import prompt
from collabtax.settings import Settings
from collabtax.swap.configuration import Configuration
from collabtax.swap.planning import plan
from collabtax.swap.team import HEARD, Episode, Member, Table, Team, dialogue, quoted
from graders.trajectories import trajectory_score
from tasks.base import seeded
from tasks.worlds.base import AnyWorld
from tasks.worlds.forest import Forest
from tasks.worlds.kitchen import Kitchen, get_order, orders_of, parse_action, recipe_text

LISTED = 60  # legal actions that are written out; beyond that their forms are [our choice]


class Game(ABC):
    """One setting of the study (paper, section 4.1)."""

    name: ClassVar[str]  # the task of its cells
    family: ClassVar[str]
    version: ClassVar[int]
    seats: ClassVar[tuple[str, ...]]  # that a condition can name as replaced
    roles: ClassVar[tuple[str, ...]]  # of the acting members, in seat order
    planning: ClassVar[bool] = False  # whether a planning phase can come before each step
    held_out: ClassVar[bool] = False  # whether tasks can be held back from formation

    def replaced(self, seat: str, repetition: int) -> int:
        """The index of the member that is replaced in a repetition: the one of that seat."""
        return self.roles.index(seat)

    @property
    @abstractmethod
    def decisions(self) -> int:
        """The most that a team is asked in an episode, retries apart."""

    @abstractmethod
    def formation_tasks(self, repetition: int, configuration: Configuration, settings: Settings) -> list[str]:
        """Names of the tasks that a team is formed on, in order."""

    @abstractmethod
    def evaluation_tasks(self, repetition: int, configuration: Configuration, settings: Settings) -> list[str]:
        """Names of the tasks that every branch of a repetition is evaluated on, in order."""

    @abstractmethod
    async def play(self, task: str, team: Team, table: Table, configuration: Configuration) -> Episode:
        """Play one episode."""

    @abstractmethod
    def about(self, member: Member) -> str:
        """Role and rules, as a member is told them."""


class Embodied(Game):
    """A game in a world: at each step every member chooses one action, and may say something to all."""

    in_turn: ClassVar[bool]  # whether later seats already hear what earlier ones say at this step

    @abstractmethod
    def world(self, task: str) -> AnyWorld: ...

    @abstractmethod
    def start(self, world: AnyWorld, task: str) -> Any: ...

    @abstractmethod
    def parse(self, world: AnyWorld, text: str) -> str:
        """The action that a text means. Raises ValueError, in a line for the agent."""

    @abstractmethod
    def actions(self, world: AnyWorld) -> str:
        """The forms of all actions, for the system message."""

    @abstractmethod
    def information(self, world: AnyWorld, task: str, member: Member) -> str:
        """What a member may know of the task."""

    @abstractmethod
    def outcome(self, world: AnyWorld, first: Any, last: Any) -> tuple[float, int, int, dict[str, Any]]:
        """Score in [0, 100], progress, the highest progress, and what else is kept."""

    def legal(self, world: AnyWorld, state: Any, agent: str) -> str:
        """What can be done now, written out where that is short."""
        found = world.legal(state, agent)
        return "\n".join(f"- {action}" for action in found[:LISTED])

    def is_done(self, world: AnyWorld, begun: Any, state: Any, agent: str, action: str) -> bool:
        """Whether an action that was begun at another state has come to its end."""
        return True

    async def play(self, task: str, team: Team, table: Table, configuration: Configuration) -> Episode:
        world = self.world(task)
        first = state = self.start(world, task)
        acting = [member for member in team if member.acts]
        taken: list[dict[str, str]] = []
        seen: dict[int, set[str]] = {}  # by seat: lines of what it last observed
        running: dict[int, tuple[Any, str]] = {}  # by seat: the state in which its action was begun, and the action
        recorded = 0  # messages that are in everybody's record already
        if configuration.plan_first:
            await self.state_plan(world, state, task, team, table)
        most = table.stage.settings.turn_cap
        while not (world.is_over(state) or world.is_cut(state) or (most and len(taken) >= most)):
            step = len(taken)
            if configuration.planners:
                known = {member.seat: self.seen(world, state, task, member) for member in team}
                await plan(team, table, step, known)
            heard = list(table.published)
            chosen: dict[str, str] = {}
            for member, agent in zip(acting, world.agents, strict=True):
                if configuration.on_idle and member.seat in running:
                    begun, action = running[member.seat]
                    if not self.is_done(world, begun, state, agent, action) and not world.refusal(state, agent, action):
                        chosen[agent] = action
                        continue
                if self.in_turn:
                    heard = list(table.published)
                action = await self.decide(world, state, task, member, agent, table, heard, step)
                chosen[agent], running[member.seat] = action, (state, action)
            state = world.step(state, chosen)
            taken.append(chosen)
            for member, agent in zip(acting, world.agents, strict=True):
                table.note(member.seat, f"step {step}: I chose {chosen[agent]}. {world.feedback(state, agent)}".strip())
                lines = world.observe(state, agent).splitlines()
                fresh = [line for line in lines if line not in seen.get(member.seat, ())]  # in the order as told
                table.note(member.seat, "I then observed: " + " | ".join(fresh))
                seen[member.seat] = set(lines)
            for message in table.published[recorded:]:
                for member in team:
                    table.note(member.seat, f"step {message.step}: {message.speaker} said: {quoted(message.text)}")
            recorded = len(table.published)
        score, progress, most, detail = self.outcome(world, first, state)
        ended = "done" if world.is_over(state) else "cap"
        for member in team:
            table.note(member.seat, f"The episode ended ({ended}) after {len(taken)} steps; score {score:.0f} of 100.")
        return Episode(
            task, round(score, 4), progress, most, len(taken), len(table.published), table.tokens, ended,
            table.invalid, table.retries, {**detail, "actions": [list(step.values()) for step in taken]},
        )  # fmt: skip

    def seen(self, world: AnyWorld, state: Any, task: str, member: Member) -> str:
        """What a member may know before it plans: a planner sees what the first acting seat sees of the world."""
        agent = world.agents[member.seat if member.acts else 0]
        return f"{self.information(world, task, member)}\n\n{world.observe(state, agent)}".strip()

    async def state_plan(self, world: AnyWorld, state: Any, task: str, team: Team, table: Table) -> None:
        """The first acting member that is no newcomer tells the team its plan before the first step."""
        member = next((m for m in team if m.acts and not m.newcomer), team[0])
        system = prompt("swap/plan_first_system").format(about=self.about(member), **member.bound)
        reply = await table.ask(member, system, self.seen(world, state, task, member), kind="plan-first")
        table.publish(-1, member.role, reply.text)

    async def decide(
        self, world: AnyWorld, state: Any, task: str, member: Member, agent: str, table: Table,
        heard: Sequence[Any], step: int,
    ) -> str:  # fmt: skip
        """One member's action; its message is published. A reply that cannot be used is asked for once more, with the
        reason; then the member does nothing in this step."""
        system = prompt("swap/member_system").format(
            about=self.about(member), actions=self.actions(world), **member.bound
        )
        told = prompt("swap/member_turn").format(
            information=self.information(world, task, member) or "(none)",
            observation=without(world.observe(state, agent), world.feedback(state, agent)),
            messages=dialogue(heard[-HEARD:]),
            feedback=world.feedback(state, agent) or "(none)",
            legal=self.legal(world, state, agent),
        )
        complaint = ""
        for attempt in ("decision", "retry"):
            user = told if not complaint else f"{told}\n\n{prompt('swap/complaint').format(complaint=complaint)}"
            reply = await table.ask(member, system, user, kind=attempt, step=step)
            try:
                said = read_decision(reply.text)
                table.publish(step, member.role, said["message"])
                action = self.parse(world, said["action"])
                complaint = world.refusal(state, agent, action)
            except ValueError as problem:
                complaint = str(problem)
            if not complaint:
                return action
            table.retries += attempt == "decision"
        table.invalid += 1
        return world.actions(agent)[0]


def without(observation: str, feedback: str) -> str:
    """An observation without the line that tells the feedback, which has a place of its own in the message."""
    return "\n".join(line for line in observation.splitlines() if not (feedback and line.endswith(feedback)))


OBJECT = re.compile(r"\{(?:[^{}\"]|\"(?:[^\"\\]|\\.)*\")*\}", re.S)  # braces without braces in them


def read_decision(text: str) -> dict[str, str]:
    """Action and message of a reply: the one JSON object in it, whatever stands around.

    Raises:
        ValueError: none or several, or one that is not about an action; a line for the agent.
    """
    found: list[dict[str, Any]] = []
    for match in OBJECT.finditer(text[:100_000]):
        with contextlib.suppress(ValueError, RecursionError):  # no JSON, or lists in lists without end
            one = json.loads(match[0])
            if "action" in one and one not in found:
                found.append(one)
    if len(found) != 1:
        which = "no" if not found else "more than one"
        raise ValueError(f"your reply holds {which} JSON object with an action; return one")
    action, message = found[0]["action"], found[0].get("message") or ""
    if not isinstance(action, str) or not isinstance(message, str):
        raise ValueError("action and message must be texts; write both in quotes")
    return {"action": action, "message": message}


def rotated(names: Sequence[str], start: int, count: int) -> list[str]:
    """`count` of `names` in their order, from `start` on and around."""
    return [names[(start + i) % len(names)] for i in range(count)]


class KitchenGame(Embodied):
    """Collab-Overcooked on one level (paper, C.2): five orders, score 100 x the mean TES of both roles, progress the
    matched actions of both."""

    family = "kitchen"
    version = 1
    seats = roles = ("initiator", "responder")
    planning = held_out = in_turn = True
    level: ClassVar[int]

    @property
    def decisions(self) -> int:
        return len(self.roles) * Kitchen(self.orders[0]).horizon

    @property
    def orders(self) -> tuple[str, ...]:
        return orders_of(self.level)

    def split(self, repetition: int, held_out: bool) -> tuple[list[str], list[str]]:
        """Orders for formation and for evaluation: the same, in an order that rotates with the repetition; or the first
        three of them and the others."""
        names = rotated(self.orders, repetition, len(self.orders))
        return (names[:3], names[3:]) if held_out else (names, names)

    def formation_tasks(self, repetition: int, configuration: Configuration, settings: Settings) -> list[str]:
        return rotated(self.split(repetition, configuration.held_out)[0], 0, configuration.formation)

    def evaluation_tasks(self, repetition: int, configuration: Configuration, settings: Settings) -> list[str]:
        return rotated(self.split(repetition, configuration.held_out)[1], 0, settings.episodes)

    def world(self, task: str) -> Kitchen:
        return Kitchen(task)

    def start(self, world: AnyWorld, task: str) -> Any:
        return world.initial(0)

    def parse(self, world: AnyWorld, text: str) -> str:
        return parse_action(text)

    def actions(self, world: AnyWorld) -> str:
        return prompt("swap/kitchen_actions")

    def information(self, world: AnyWorld, task: str, member: Member) -> str:
        return recipe_text(task) if member.role == "initiator" else ""

    def legal(self, world: AnyWorld, state: Any, agent: str) -> str:
        found = world.legal(state, agent)
        dispensed = [a[len("pickup(") : a.index(",")] for a in found if a.endswith(",ingredient_dispenser)")]
        lines = [f"- {action}" for action in found if not action.endswith(",ingredient_dispenser)")]
        if dispensed:
            lines.append(f"- pickup(THING,ingredient_dispenser), where THING is one of {', '.join(dispensed)}")
        return "\n".join(lines)

    def is_done(self, world: AnyWorld, begun: Any, state: Any, agent: str, action: str) -> bool:
        assert isinstance(world, Kitchen)
        return world.is_done(begun, state, agent, action)

    def about(self, member: Member) -> str:
        role = f"\n\n{prompt(f'swap/kitchen_{member.role}')}" if member.acts else ""
        return prompt("swap/kitchen_rules") + role

    def outcome(self, world: AnyWorld, first: Any, last: Any) -> tuple[float, int, int, dict[str, Any]]:
        assert isinstance(world, Kitchen)
        references = get_order(world.order).references
        traces = {role: last.trace(role) for role in self.roles}
        found = trajectory_score(references, traces)
        most = sum(map(len, references[0].values()))
        return found.completeness, found.progress, most, {
            "delivered": last.delivered, "events": {role: list(trace) for role, trace in traces.items()},
            "tes": {role: round(found.roles[role].tes, 6) for role in self.roles},
        }  # fmt: skip


class KitchenL1(KitchenGame):
    name, level = "kitchen-l1", 1


class KitchenL2(KitchenGame):
    name, level = "kitchen-l2", 2


class KitchenL3(KitchenGame):
    name, level = "kitchen-l3", 3


class ForestGame(Embodied):
    """CREW-Wildfire's sparse tree cutting (paper, C.3): three equal members, one of whom is replaced at random; score
    and progress are trees of the target cells."""

    name = family = "forest"
    version = 1
    seats = ("agent",)
    roles = ("agent_1", "agent_2", "agent_3")
    decisions = len(roles) * Forest.rounds
    in_turn = False

    def replaced(self, seat: str, repetition: int) -> int:
        return seeded("forest", "replaced", repetition).randrange(len(self.roles))

    def formation_tasks(self, repetition: int, configuration: Configuration, settings: Settings) -> list[str]:
        return [f"map-{maps('formation', repetition, i)}" for i in range(configuration.formation)]

    def evaluation_tasks(self, repetition: int, configuration: Configuration, settings: Settings) -> list[str]:
        return [f"map-{maps('evaluation', repetition, i)}" for i in range(settings.episodes)]

    def world(self, task: str) -> Forest:
        return Forest()

    def start(self, world: AnyWorld, task: str) -> Any:
        return begun(world, int(task.removeprefix("map-")))

    def parse(self, world: AnyWorld, text: str) -> str:
        assert isinstance(world, Forest)
        return world.parse_action(text)

    def actions(self, world: AnyWorld) -> str:
        return prompt("swap/forest_actions")

    def legal(self, world: AnyWorld, state: Any, agent: str) -> str:
        others = [action for action in apart_from_moves(world) if not world.refusal(state, agent, action)]
        return "\n".join(f"- {action}" for action in ("move(x,y) to any cell of the map", *others))

    def information(self, world: AnyWorld, task: str, member: Member) -> str:
        return ""

    def about(self, member: Member) -> str:
        return prompt("swap/forest_rules")

    def outcome(self, world: AnyWorld, first: Any, last: Any) -> tuple[float, int, int, dict[str, Any]]:
        assert isinstance(world, Forest)
        return world.score(last), world.progress(first, last), world.most, {"standing": world.standing(last)}


@cache
def apart_from_moves(world: AnyWorld) -> tuple[str, ...]:
    """The actions of a forest that are no moves, which are very many."""
    return tuple(action for action in world.actions(world.agents[0]) if not action.startswith("move"))


@lru_cache(maxsize=256)
def begun(world: AnyWorld, seed: int) -> Any:
    """The map of a seed, which every branch of a repetition begins on."""
    return world.initial(seed)


def maps(*parts: object) -> int:
    """The seed of a map: those of formation and evaluation, and of all repetitions, differ."""
    return random.Random(seeded("forest", *parts).getrandbits(64)).randrange(10**9)


@cache
def games() -> Mapping[str, Game]:
    """All games by the name of their cells' task, in the order of the paper."""
    from collabtax.swap.clinic import ClinicGame

    return {g.name: g for g in (KitchenL1(), KitchenL2(), KitchenL3(), ForestGame(), ClinicGame())}
