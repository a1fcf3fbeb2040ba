"""How a simulated member of a crew behaves (coop study). It sees the text of its request and nothing else.

In CUBE every member works out from the board, which all see whole, what a good team would do from here on
(`tasks.worlds.cube_script`) and does its part of it, as far as the next change in what is pushed together. So all plans
take the same number of steps, and without faults the crew plays exactly as that team. In Crafter it makes its tools,
mines stones alone, and what takes several with whoever is in sight or has told of it.

Faults are independent draws for a member and an observation, at the rates of knobs. Where a block is pushed by several,
a member at its post (of `late`, `place` and `count` at most one):

- `late`: names the task, but stands by until the others have tried;
- `place`: names the task, but walks off its post and back, as long as the others try;
- `count`: names no task and takes no part.

In Crafter, one who can make its wood pickaxe:

- `tool`: goes to the nearest coal without it; having failed for lack of it, it makes it.

Asked to plan anew in a repair, a member mends its fault at the rate `mend`. `collabtax.sim.crew_truth` says what must
come out.
"""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from string import Formatter

from collabtax.agents import prompt
from tasks.base import seeded

FAULTS = ("late", "place", "count")  # in CUBE, of which a plan has at most one


@dataclass(frozen=True)
class Knobs:
    """Rates in [0, 1]; see the module."""

    late: float = 0.0
    place: float = 0.0
    count: float = 0.0
    tool: float = 0.0
    mend: float = 0.0

    @property
    def fault(self) -> float:
        """The chance that a plan for a block that takes several has a fault."""
        return self.late + self.place + self.count


PRESETS = {
    "sim/crew": Knobs(late=0.10, place=0.10, count=0.10, tool=0.30, mend=0.70),
    "sim/crew-deaf": Knobs(late=0.10, place=0.10, count=0.10, tool=0.30),  # a repair changes nothing
    "sim/crew-perfect": Knobs(),
}


@lru_cache(maxsize=256)
def knobs(model: str) -> Knobs:
    """The knobs of a simulated member: a preset, or its name spells them, like `sim/crew-late=0.3,mend=0.5`.

    Raises:
        ValueError: no such preset or knob, a rate outside of [0, 1], or faults of more than 1 together.
    """
    if model in PRESETS:
        return PRESETS[model]
    given: dict[str, float] = {}
    for part in model.removeprefix("sim/crew-").split(","):
        spelt = re.fullmatch(r"(\w+)=(0?\.\d+|[01](?:\.0*)?)", part)
        if not spelt or spelt[1] not in Knobs.__dataclass_fields__ or float(spelt[2]) > 1:
            raise ValueError(
                f"no simulated model {model!r}; there are {', '.join(PRESETS)}, or rates between 0 and 1 in the name, "
                f"like sim/crew-late=0.3,mend=0.5 (rates: {', '.join(Knobs.__dataclass_fields__)})"
            )
        given[spelt[1]] = float(spelt[2])
    found = Knobs(**given)
    if found.fault > 1 + 1e-9:
        raise ValueError(f"{model!r}: {' + '.join(FAULTS)} are {found.fault:g} together; keep them to 1")
    return found


# Reading a request ----------------------------------------------------------------------------------------------------


@lru_cache(maxsize=64)
def pieces(name: str) -> tuple[tuple[str, str], ...]:
    """The template `coop/name` as pairs of a literal text and the field after it, "" after the last one."""
    return tuple((literal, field or "") for literal, field, *_ in Formatter().parse(prompt(f"coop/{name}")))


def filled(name: str, text: str) -> dict[str, str]:
    """What stands in the fields of a template, each up to the first place where the next literal stands. Raises
    ValueError for a text that was not made from it."""
    at, field, found = 0, "", dict[str, str]()
    for literal, following in pieces(name):
        start = text.find(literal, at)
        if start < 0 or (not field and start != at):
            raise ValueError(
                "a simulated member plays the worlds of the coop study; this request holds none of its texts"
            )
        if field:
            found.setdefault(field, text[at:start] if literal else text[at:])
        at, field = start + len(literal), following
    if field:
        found.setdefault(field, text[at:])
    return found


@dataclass(frozen=True)
class Request:
    """What a member is asked. `kind` is of the question, as in `prompts/coop/asked_*`; `statuses` says who is at what;
    `messages` holds a line each."""

    model: str
    agent: str
    team: tuple[str, ...]
    kind: str
    observation: str
    plan: str
    statuses: dict[str, str]
    messages: tuple[str, ...]
    outside: tuple[str, ...]  # whom it may contact in a repair

    @property
    def others(self) -> tuple[str, ...]:
        return tuple(name for name in self.team if name != self.agent and self.statuses.get(name) != "dead")

    @property
    def is_alone(self) -> bool:
        """Whether others are in the middle of their plans, so that nothing can be begun together."""
        return any(self.statuses.get(name) == "executing" for name in self.others)

    def draw(self, what: str) -> float:
        """A number from 0 to 1 that is the same whenever this member sees the same."""
        return seeded("crew", self.model, self.agent, self.observation, what).random()

    def fault(self) -> str:
        """The fault of a plan for what takes several; "" for none."""
        rates, at = knobs(self.model), self.draw("fault")
        for name in FAULTS:
            rate = getattr(rates, name)
            if at < rate:
                return "" if self.is_mended else name
            at -= rate
        return ""

    def forgets_tool(self) -> bool:
        return self.draw("tool") < knobs(self.model).tool and not self.is_mended

    @property
    def is_mended(self) -> bool:
        return self.kind == "mend" and self.draw("mend") < knobs(self.model).mend


def read(model: str, messages: Sequence[dict[str, str]]) -> Request:
    """Raises ValueError for a chat that is none of the coop study's."""
    said = [message["content"] for message in messages]
    if len(said) < 2:
        raise ValueError("a chat with a simulated member has a system message and a question")
    system, turn = filled("system", said[0]), filled("turn", said[1])
    kind = re.match(r"Asked: (\w+)", turn["asked"])
    if kind is None:
        raise ValueError("the question does not say what is asked for")
    outside = filled("asked_intention", turn["asked"])["outside"] if kind[1] == "intention" else ""
    team = tuple(system["names"].split(", "))
    return Request(
        model, system["agent"], team, kind[1], turn["observation"], turn["plan"],
        dict(re.findall(r"(\w+) (\w+)", turn["team"])), tuple(turn["messages"].splitlines()),
        tuple(name for name in outside.split(", ") if name in team),
    )  # fmt: skip


# Replying -------------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Move:
    """What a member decides: the task that it names, its calls, who has to take part, and where the task is."""

    task: str
    calls: tuple[str, ...]
    partners: tuple[str, ...] = ()
    where: str = ""

    @property
    def told(self) -> str:
        return f"I go for {self.task}{self.where}." if self.partners else ""


def reply(model: str, messages: list[dict[str, str]], seed: int = 0) -> str:
    """The next message of `model` in the chat `messages`. Requests of this study differ by themselves, so `seed` plays
    no part.

    Raises:
        ValueError: no such model, or the chat is not of the coop study.
    """
    from collabtax.sim import crew_moves

    knobs(model)  # raises for a model that is not there
    request = read(model, messages)
    if request.kind == "revise":
        return json.dumps({"resume": True})
    move = crew_moves.move(request)
    if request.kind == "reply":
        return json.dumps({"reply": move.told or "Nothing to tell."})
    if request.kind == "intention":
        contact = [name for name in move.partners if name in request.outside]
        return json.dumps({"intention": move.told or "I plan anew.", "contact": contact})
    said: dict[str, object] = {"task": move.task, "calls": list(move.calls)}
    if request.kind == "propose" and move.told:
        said["message"] = move.told
    if request.kind == "lead":
        said["assignments"] = dict.fromkeys(move.partners, f"Join me at {move.task}{move.where}.")
    return json.dumps(said)
