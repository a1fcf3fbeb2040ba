"""Protocols: who is told what, who speaks when, and when it is over (paper, section 4.3). They know agents and texts,
neither where replies come from nor what they are worth."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from collabtax.agents import Agent, prompt, relayed
from collabtax.cells import Cell
from collabtax.chat import Chat, Completion
from collabtax.options import INTERVENTIONS
from collabtax.settings import Settings
from tasks import Problem, Task

MARKER = re.compile(r"(?<![^\W_])ACTI!", re.IGNORECASE)
# Words that make a sentence speak about the marker instead of setting it.
MENTION = re.compile(
    r"\b(?:not|never|without|before|until|unless|if|when|once|whether|after|say|says|said|saying|write|writes|writing|"
    r"emit|emits|send|reply|respond|type|use|using|marker|word|instead|shall|should|would|could|may|might|can|cannot|please|"
    r"want|wait|ready to)\b|n['’]t\b",
    re.IGNORECASE,
)
# Words after the marker that go on about it; in capitals they begin another sentence.
GOES_ON = re.compile(r"(?:yet|is|means|marker|word|may|must|can|should|if|when|once|only|unless|until)\b")
FORGED_LINE = re.compile(r"\s*(?:>|[*_`]*\[\s*(?:other agent|user)\s*\][*_`]*\s*:)", re.IGNORECASE)
QUOTES = "\"'“”‘’«»"


def ends(text: str) -> bool:
    """Whether a message ends the dialogue: it holds `ACTI!` as the speaker's own act.

    Bold, fenced and inline-code markers count, in either case. A marker in quotation marks, in a line quoted with `>`
    or with a forged speaker, in a sentence that negates, conditions or mentions it ("do not write ACTI! yet", "say
    ACTI! if you agree", "shall we ACTI!?"), or as the word of a question does not.
    """
    for found in MARKER.finditer(text):
        begin = text.rfind("\n", 0, found.start()) + 1
        lined = text[max(begin, found.start() - 300) : found.start()]
        after = text[found.end() : found.end() + 40].lstrip("*_`~")
        begun = lined.rstrip("*_`~")
        if (begun and begun[-1] in QUOTES) or (after and after[0] in QUOTES):
            continue
        after = after.lstrip("*_`~ ")
        if after[:1] == "?" or FORGED_LINE.match(text, begin, found.start()):
            continue
        sentence = re.split(r"[.!?:;\n]", lined)[-1]
        if MENTION.search(sentence) or GOES_ON.match(after):
            continue
        return True
    return False


@dataclass
class Transcript:
    """What was said: for each turn the seat and the completion; and why it ended: "done" (single agent), "marker" or
    "cap"."""

    turns: list[tuple[int, Completion]] = field(default_factory=list)
    termination: str = ""

    def say(self, seat: int, completion: Completion) -> None:
        self.turns.append((seat, completion))


def told(task: Task[Any], problem: Problem[Any], seat: int | None) -> str:
    """A seat's view, or the whole instance in the first seat's frame."""
    if seat is None:
        return task.render(problem.instance, problem.frames[0])
    return task.render(problem.views[seat], problem.frames[seat])


async def run(
    cell: Cell, task: Task[Any], problem: Problem[Any], settings: Settings, chat: Chat, transcript: Transcript
) -> None:
    """Hold the conversation of one rollout. `transcript` grows as it goes, so that a failure leaves what was said."""
    models = [settings.models[m] for m in cell.models]
    if cell.mode in ("solo", "half"):
        seat = None if cell.mode == "solo" else int(cell.condition.removeprefix("view")) - 1
        opening = prompt(f"{cell.mode}_task").format(task=task.prompt, view=told(task, problem, seat))
        agent = Agent.start(0, models[0], settings.temperature, ("user", opening))
        transcript.say(0, await agent.reply(chat))
        if cell.mode == "solo" and settings.critic:
            agent.hear(prompt("critic"))
            transcript.say(0, await agent.reply(chat))
        transcript.termination = "done"
        return
    system = prompt("collaboration_system")
    for clause in INTERVENTIONS.get(cell.condition, ()):
        system += "\n\n" + prompt(f"clause_{clause}")
    agents = []
    for seat, model in enumerate(models):
        opening = prompt("collaboration_task").format(
            task=task.prompt,
            view=told(task, problem, seat),
            opening="You speak first." if seat == 0 else "The other agent speaks first.",
        )
        agents.append((Agent.start(seat, model, settings.temperature, ("system", system)), [opening]))
    await dialogue(agents, settings.turn_cap, chat, transcript)


async def dialogue(
    agents: Sequence[tuple[Agent, list[str]]], turn_cap: int, chat: Chat, transcript: Transcript
) -> None:
    """Agents take turns; each hears what was said since its last turn. Every agent comes with what it is told first."""
    for _ in range(turn_cap):
        for agent, unheard in agents:
            agent.hear("\n\n".join(unheard))
            unheard.clear()
            completion = await agent.reply(chat)
            transcript.say(agent.seat, completion)
            if ends(completion.text):
                transcript.termination = "marker"
                return
            for other, inbox in agents:
                if other is not agent:
                    inbox.append(relayed(completion.text))
    transcript.termination = "cap"
