"""One episode from its first plan to its end, and what can be had again from its trace."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from collabtax.coop.arenas import AnyCooperativeWorld, arenas
from collabtax.coop.minds import Minds
from collabtax.coop.process import Event, Process
from collabtax.coop.repair import Repair
from collabtax.coop.structures import STRUCTURES


async def play(process: Process, minds: Minds, repair: Repair | None = None) -> str:
    """Play an episode to its end; why it ended, in one word: "done" (nothing is left to do), "dead" (nobody lives),
    "steps" or "time". `repair`: one with thresholds of its own."""
    repair = repair or Repair(process.repair)
    while not process.over:
        if process.reasoning:
            await STRUCTURES[process.structure](process, minds)
        elif not (process.waiting and await repair.intervene(process, minds)):
            process.release()
            if not process.reasoning:
                process.step()
    reason = process.over
    process.end(reason)
    return reason


def world_of(trace: Sequence[Event]) -> AnyCooperativeWorld:
    """The world of a trace. Raises ValueError for one that is of another version."""
    start = trace[0]
    world = arenas()[start["world"]].world(len(start["agents"]), start["steps"])
    if world.version != start["version"]:
        raise ValueError(f"{start['world']}: the trace is of version {start['version']}, this is {world.version}")
    return world


def states(trace: Sequence[Event], world: AnyCooperativeWorld | None = None) -> Iterator[Any]:
    """The states of the world, the first and that after each step, had again from the seed and the actions."""
    world = world or world_of(trace)
    state = world.initial(trace[0]["seed"])
    yield state
    for event in trace:
        if event["event"] == "step":
            state = world.step(state, event["actions"])
            yield state


def score(trace: Sequence[Event]) -> float:
    """The sum over all tasks that were completed."""
    return float(sum(event["score"] for event in trace if event["event"] == "completed"))
