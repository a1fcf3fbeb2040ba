"""Protocols: who is told what, who speaks when, and when it is over (paper, section 4.3). They know agents and texts,
neither where replies come from nor what they are worth."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from collabtax.agents import Agent, prompt, relayed
from collabtax.cells import Cell
from collabtax.chat import Chat
from collabtax.options import INTERVENTIONS
from collabtax.settings import Settings
from collabtax.study import Transcript
from graders.extract.marker import ends
from tasks import Problem, Task


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
        opening = prompt(f"tax/{cell.mode}_task").format(task=task.prompt, view=told(task, problem, seat))
        agent = Agent.start(0, models[0], settings.temperature, ("user", opening))
        transcript.say(0, await agent.reply(chat))
        if cell.mode == "solo" and settings.critic:
            agent.hear(prompt("tax/critic"))
            transcript.say(0, await agent.reply(chat))
        transcript.termination = "done"
        return
    system = prompt("tax/collaboration_system")
    for clause in INTERVENTIONS.get(cell.condition, ()):
        system += "\n\n" + prompt(f"tax/clause_{clause}")
    agents = []
    for seat, model in enumerate(models):
        opening = prompt("tax/collaboration_task").format(
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
