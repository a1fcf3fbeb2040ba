"""Asking a model what went wrong in failed dialogues: every answer is recorded, so that it all resumes and replays."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Iterable, Sequence
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any

from collabtax.agents import Agent
from collabtax.cassettes import Cassette, CassetteMiss
from collabtax.cells import Cell, printable, slug
from collabtax.chat import Chat, Completion
from collabtax.models import Model
from collabtax.prediction.table import check_alike, dialogue, plain
from collabtax.replies import EndpointError
from tasks.base import seeded

TEMPERATURE = 0.2  # paper, appendix B
DESCRIPTIONS = 700  # paper, appendix B
CONCURRENCY = 10

Row = dict[str, Any]


@cache
def text(name: str) -> str:
    """A prompt of this package."""
    return (Path(__file__).parent / f"{name}.txt").read_text(encoding="utf-8").strip()


@dataclass(frozen=True)
class Described:
    """A failed dialogue and what the describer said of it. `text` is "" where it refused."""

    task: str
    family: str
    model: str
    seed: int
    text: str

    @property
    def rollout(self) -> str:
        return printable(f"{self.task} {self.model} seed {self.seed}")


@dataclass
class Describer:
    """A model that is asked, where its answers are recorded, and what they cost in USD (None: a price is not known)."""

    model: Model
    cassettes: Path
    record_mode: str
    chat: Chat = field(default_factory=Chat)
    cost: float | None = 0.0

    def cassette(self, folder: str, number: int) -> Cassette:
        path = self.cassettes / "clusters" / slug(self.model.name) / folder / f"{number:04d}.yaml"
        return Cassette(path, self.record_mode, {"models": {self.model.name: self.model.host}})

    def agent(self, request: str, system: str = "") -> Agent:
        messages = [("system", system)] * bool(system) + [("user", request)]
        return Agent.start(0, self.model, TEMPERATURE, *messages)

    async def ask(self, agent: Agent) -> Completion:
        reply = await agent.reply(self.chat)
        self.cost = None if self.cost is None or reply.cost is None else self.cost + reply.cost
        return reply


def failed(rows: Iterable[Row]) -> list[Row]:
    """The homogeneous dialogues without an intervention that did not succeed, whatever the reason.

    Raises:
        ValueError: there is none, or they cannot be shown again (`check_alike`).
    """
    found = [row for row in plain(rows, "homo") if not row["success"]]
    if not found:
        raise ValueError("the run holds no failed homogeneous dialogues; run with --mode=homo, or name another run")
    check_alike(found)
    return found


def spread(rows: Sequence[Row], most: int) -> list[Row]:
    """At most `most` rows, as evenly over (task, model) as they come, the lowest seeds of each."""
    place: dict[tuple[str, str], int] = {}
    turns = []
    for row in sorted(rows, key=_key):
        cell = row["task"], row["models"][0]
        place[cell] = place.get(cell, -1) + 1
        turns.append((place[cell], seeded("describe", *cell).random(), row))
    chosen = sorted(turns, key=lambda turn: turn[:2])[:most]
    return sorted((row for *_, row in chosen), key=_key)


def _key(row: Row) -> tuple[str, str, int]:
    return row["task"], row["models"][0], row["seed"]


def request(row: Row) -> str:
    """What the describer reads: problem, both views as shown, dialogue; neither models, score nor truth."""
    one = dialogue(row)
    first, second = (
        one.task.render(view, frame) for view, frame in zip(one.problem.views, one.problem.frames, strict=True)
    )
    said = "\n\n".join(f"[agent {seat + 1}]: {spoken}" for seat, spoken in one.texts)
    said = said.replace("</conversation>", "</ conversation>")
    return text("describe_task").format(task=one.task.prompt, first=first, second=second, conversation=said)


async def describe(rows: Sequence[Row], describer: Describer) -> list[Described]:
    """A description of each row, in their order, several asked at once.

    Raises:
        ValueError: one could not be had; says how many are recorded. Those under way are waited for, none is started.
    """
    found: dict[int, Described] = {}
    broken: list[str] = []

    async def one(number: int) -> None:
        row = rows[number]
        cell = Cell("tax", row["task"], row["family"], "homo", tuple(row["models"]))
        with describer.cassette(cell.id, row["seed"]):
            reply = await describer.ask(describer.agent(request(row), text("describe_system")))
        said = "" if reply.finish == "refusal" else reply.text.strip()
        found[number] = Described(row["task"], row["family"], row["models"][0], row["seed"], said)

    async def lane(waiting: Iterable[int]) -> None:
        for number in waiting:  # lanes share the iterator
            if broken:
                return
            if cause := await attempt(one, number):
                broken.append(cause)

    waiting = iter(range(len(rows)))
    await asyncio.gather(*(lane(waiting) for _ in range(CONCURRENCY)))
    if broken:
        raise ValueError(f"{len(found)} of {len(rows)} descriptions are there; {broken[0]}; the same again goes on")
    return [found[number] for number in sorted(found)]


async def attempt(work: Callable[[int], Awaitable[None]], number: int) -> str:
    """Do it; returns why it could not be done, in one line, or ""."""
    try:
        await work(number)
    except (EndpointError, CassetteMiss, OSError, RuntimeError, ValueError) as problem:
        return printable(str(problem) or type(problem).__name__)
    return ""
