"""How a simulated model behaves. It sees the text of its messages and nothing else.

A dialogue of two simulated models goes: the initiator tells its view [L1: or a fabricated one] and asks for the other
one [L2: or not]; who was asked tells its view, who was not says so little that nothing can be combined; who knows both
views combines them and proposes [L3: or proposes from its own view]; who gets a proposal recomputes it from what it
knows and keeps or replaces it [L4: or agrees]. Each fault is an independent draw keyed by the model and the task text,
so that a reply depends on its request alone. Alone, a model slips at its `slip` rate and its second look mends some.
"""

from __future__ import annotations

import json
import random
import re
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any

from collabtax.agents import prompt
from collabtax.sim.speech import Voice
from graders import extract
from tasks import FAMILIES, Task, all_tasks
from tasks.answers import from_data
from tasks.base import seeded
from tasks.frames import Frame
from tasks.relational.relaquery import INVERSE, WORDS


@dataclass(frozen=True)
class Knobs:
    """Rates in [0, 1]: `l1` fabricates a fact, `l2` does not ask, `l3` does not combine, `l4` agrees without
    recomputing, `slip` errs alone, `mend` of slips the second look mends."""

    l1: float = 0.0
    l2: float = 0.0
    l3: float = 0.0
    l4: float = 0.0
    slip: float = 0.0
    mend: float = 0.0


PRESETS = {
    "sim/weak": Knobs(l1=0.30, l2=0.35, l3=0.35, l4=0.70, slip=0.20, mend=0.25),
    "sim/medium": Knobs(l1=0.15, l2=0.20, l3=0.20, l4=0.50, slip=0.08, mend=0.25),
    "sim/strong": Knobs(l1=0.04, l2=0.06, l3=0.06, l4=0.25, slip=0.02, mend=0.50),
    "sim/perfect": Knobs(),
    "sim/extractor": Knobs(),
}
RELIEF = 0.3  # what a clause leaves of the rate it is aimed at


SCRIPTED = re.compile(r"sim/scripted=([1-9]\d{0,2})")  # says that many set lines: for measuring the harness itself


def knobs(model: str, family: str = "") -> Knobs:
    """The knobs of a simulated model on tasks of `family`: a preset, or its name spells them, like `sim/l1=0.2`.

    A rate that names a family, as in `sim/l4=0.2,spatial_l4=0.6`, is that of its tasks in place of the plain one.

    Raises:
        ValueError: no such preset, knob or family, or a rate outside of [0, 1].
    """
    if model in PRESETS or SCRIPTED.fullmatch(model):
        return PRESETS.get(model, Knobs())
    given: dict[str, float] = {}
    for part in model.removeprefix("sim/").split(","):
        spelt = re.fullmatch(rf"((?:{'|'.join(FAMILIES)})_)?(\w+)=(0?\.\d+|[01](?:\.0*)?)", part)
        if not spelt or spelt[2] not in Knobs.__dataclass_fields__:
            raise ValueError(
                f"no simulated model {model!r}; there are {', '.join(PRESETS)}, or rates between 0 and 1 in the name, "
                f"like sim/l1=0.2,slip=0.1,spatial_l1=0.4 (rates: {', '.join(Knobs.__dataclass_fields__)}; "
                f"families: {', '.join(FAMILIES)})"
            )
        given[f"{spelt[1] or ''}{spelt[2]}"] = float(spelt[3])
    return Knobs(**{n: given.get(f"{family}_{n}", given.get(n, 0.0)) for n in Knobs.__dataclass_fields__})


@lru_cache(maxsize=4096)
def parsed(task: Task[Any], text: str) -> Any:
    """The view told in `text`, or None."""
    try:
        return task.parse(text)
    except ValueError:
        return None


@lru_cache(maxsize=1024)
def recognised(text: str) -> tuple[Task[Any], Any]:
    """The task that a text is about and the view it tells. Raises ValueError where there is none."""
    for task in all_tasks():
        if task.prompt in text and (view := parsed(task, text)) is not None:
            return task, view
    raise ValueError("a simulated model plays the tasks of this suite; this request holds none of their texts")


@lru_cache(maxsize=1)
def clauses() -> dict[str, str]:
    return {name: prompt(f"tax/clause_{name}") for name in ("l1", "l2", "l3", "l4")}


def reply(model: str, messages: list[dict[str, str]], seed: int = 0) -> str:
    """The next message of `model` in the chat `messages`; without `seed`, as the instances differ by themselves.

    Raises:
        ValueError: no such model, or the chat is not about a task of this suite.
    """
    knobs(model)  # raises for a model that is not there
    system = messages[0]["content"] if messages[0]["role"] == "system" else ""
    if script := SCRIPTED.fullmatch(model):
        return scripted(int(script[1]), messages)
    said = [m["content"] for m in messages if m["role"] != "system"]
    if not said:
        raise ValueError("a chat needs a user message")
    if system == prompt("tax/extractor_system"):
        return extract_answer(said[-1])
    task, view = recognised(said[0].partition("\n[other agent]: ")[0])
    rates = knobs(model, task.family)
    rates = replace(rates, **{n: getattr(rates, n) * RELIEF for n, clause in clauses().items() if clause in system})
    draws = seeded("policy", model, said[0])
    mind = Mind(task, view, rates, {n: draws.random() for n in Knobs.__dataclass_fields__}, draws)
    if not system:
        return mind.alone(second_look=len(said) > 1)
    heard = [m["content"] for m in messages if m["role"] == "user"]
    opening = heard[0].partition("\n[other agent]: ")[2]
    partner = ([opening] if opening else []) + heard[1:]
    return mind.in_dialogue(partner, [m["content"] for m in messages if m["role"] == "assistant"])


def scripted(lines: int, messages: list[dict[str, str]]) -> str:
    """Set lines; the responder ends the dialogue with its last one."""
    said = sum(m["role"] == "assistant" for m in messages) + 1
    first = next(m["content"] for m in messages if m["role"] == "user")
    if said < lines or (messages[0]["role"] == "system" and "\n[other agent]: " not in first):
        return f"This is message {said} of {lines}: my part has a free cell to the east of the third row, and no wall."
    return "FINAL: (0, 0), (0, 1), (1, 1)\nACTI!"


def extract_answer(request: str) -> str:
    """What `sim/extractor` makes of an extraction request: it reads the record with the program extractor."""
    task = next((t for t in all_tasks() if t.prompt in request), None)
    if task is None:
        raise ValueError("this extraction request holds no task of this suite")
    record = request.partition("<record>")[2].rpartition("</record>")[0]
    turns = re.split(r"\n\n\[(agent \d+)\]: ", "\n\n" + record.strip())
    data = json.loads(request.rpartition("The names in it: ")[2].partition("\n")[0])
    if data["kind"] == "queries":
        data |= {"words": WORDS, "inverse": INVERSE}
    form = from_data(data)
    found = extract.read(form, list(zip(turns[1::2], turns[2::2], strict=True)))
    return Voice(random.Random(0), form).yaml(found.answer)


@dataclass
class Mind:
    """One agent's wits: what it knows, which faults were drawn for it."""

    task: Task[Any]
    view: Any
    rates: Knobs
    draws: dict[str, float]
    rng: random.Random

    def fails(self, name: str) -> bool:
        return self.draws[name] < float(getattr(self.rates, name))

    def answer(self, view: Any) -> Any:
        return self.task.solve(view)

    def alone(self, second_look: bool) -> str:
        voice = Voice(self.rng, self.task.form(self.view))
        slipped = self.fails("slip") and not (second_look and self.fails("mend"))
        answer = self.answer(self.task.corrupt(self.view, seeded("slip", self.draws["slip"])) if slipped else self.view)
        return voice.solution(answer, second_look)

    def in_dialogue(self, heard: list[str], said: list[str]) -> str:
        voice = Voice(self.rng, self.task.form(self.view))
        told = [v for text in heard if (v := parsed(self.task, text)) is not None]
        combined = self.combine(told[0]) if told else None
        last = heard[-1] if heard else ""
        found = extract.read(self.task.form(self.view), [("partner", last)]) if last else None
        if found is not None and found.answer is not None and self.is_proposal(last, found.warning):
            return self.judge(voice, found.answer, combined)
        if said:
            if combined is None or self.fails("l3"):
                return voice.proposal(self.answer(self.view), None)
            return voice.proposal(self.answer(combined), self.shown(combined))
        if heard and not voice.is_question(last):
            return voice.small_talk()
        mine = self.task.corrupt(self.view, seeded("lie", self.draws["l1"])) if self.fails("l1") else self.view
        return voice.share(self.shown(mine), ask=combined is None and not self.fails("l2"))

    def is_proposal(self, text: str, warning: str) -> bool:
        """Whether a message that an answer can be read from offers one; cells and names of a told view are none."""
        return "final" in text.lower() or (warning == "clean" and parsed(self.task, text) is None)

    def judge(self, voice: Voice, proposal: Any, combined: Any) -> str:
        """Accept a proposal, or recompute it from both views, as far as they are known."""
        if self.fails("l4"):
            return voice.accept(proposal)
        own = self.answer(self.view if combined is None else combined)
        return voice.recomputed(own if own is not None else proposal, own == proposal or own is None)

    def shown(self, view: Any) -> str:
        return self.task.render(view, Frame())

    def combine(self, other: Any) -> Any:
        """Both views together; where they contradict each other, one's own eyes count."""
        try:
            return self.task.merge((self.view, other))
        except ValueError:
            return None
