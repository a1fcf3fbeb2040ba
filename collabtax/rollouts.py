"""A cell's rollouts: problem -> conversation -> answer -> grade -> record. Callable without pytest."""

from __future__ import annotations

import asyncio
import json
import traceback
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any

import graders
from collabtax import __version__
from collabtax.agents import Agent, prompt
from collabtax.cassettes import Cassette, CassetteMiss, canonical
from collabtax.cells import Cell, printable
from collabtax.chat import Chat, Completion, EndpointError
from collabtax.protocols import Transcript, run
from collabtax.settings import Settings
from graders import Grade, extract
from tasks import Problem, Task, get_task, problem
from tasks.answers import Form, as_data

EXTRACTOR_TEMPERATURE = 0.5  # paper, appendix I


SHAPES = {
    "path": "a list of all cells in order, each a list of its coordinates as they were written.",
    "paths": "a mapping from each walker to the list of its cells in order, each a list of two numbers as written.",
    "cells": "a list of all cells, each a list of two numbers as they were written.",
    "trail": "a list of edges in order, each a list of its two nodes.",
    "groups": "a list of groups, each a list of names.",
    "order": "a list of names in order.",
    "number": "a whole number.",
    "text": "a text.",
    "grid": "a list of texts, one for each line of the grid, with `#` for cells without a letter.",
    "fields": "a mapping from each item to its value: a name, a list of names or a whole number, as its kind says.",
    "table": "a mapping from each row to the list of its values, one for each column.",
    "queries": "a mapping from each query to a list of three texts (person, kinship, person).",
    "slots": "a mapping from each event to its start time.",
}


def schema(form: Form) -> str:
    """What a model extractor is told about the shape of the answer: the names in it, nothing of its truth."""
    names = {name: value for name, value in as_data(form).items() if name not in ("words", "inverse")}
    return f"{SHAPES[form.kind]} The names in it: {json.dumps(names)}\n"


@dataclass(frozen=True)
class Rollout:
    """One record, plain JSON: what is needed to re-grade and to explain. `score` is None exactly for infrastructure
    failures; `no_answer` and `unreadable` score 0 and are counted apart. `cost` is None where a price is not known.
    `second` is what a second extractor read, if there is one."""

    study: str
    task: str
    family: str
    mode: str
    models: list[str]
    condition: str
    seed: int
    settings: str
    said: dict[str, Any]
    versions: dict[str, Any]
    outcome: str
    score: float | None
    success: bool
    reason: str
    where: Any
    answer: Any
    warning: str
    evidence: str
    second: dict[str, Any] | None
    termination: str
    turns: list[dict[str, Any]]
    usage: dict[str, int]
    cost: float | None
    error: str
    unplayed: int = field(default=0, compare=False)  # recordings that were not asked for; not stored

    def row(self) -> dict[str, Any]:
        """What is stored."""
        return {k: v for k, v in vars(self).items() if k != "unplayed"}


@lru_cache(maxsize=4096)
def cached_problem(task: Task[Any], seed: int, difficulty: str, friction: str) -> Problem[Any]:
    """Modes and models share their instances."""
    return problem(task, seed, difficulty, friction)


async def run_rollout(cell: Cell, seed: int, settings: Settings, chat: Chat) -> Rollout:
    """Run one rollout. Whatever fails (endpoint, recording, disk, suite) becomes its outcome, never an exception: other
    rollouts are under way beside it, and paid for."""
    task, settings = get_task(cell.task), settings.under(cell)
    transcript, extra, unplayed = Transcript(), list[Completion](), 0
    extraction, grade, readings = extract.Extraction(None, "", ""), Grade(0.0, False, ""), list[extract.Extraction]()
    outcome, error = "infrastructure", ""
    try:
        one = cached_problem(task, seed, settings.difficulty, settings.friction)
        about = {"models": {m: settings.models[m].host for m in cell.models}}
        with Cassette(settings.cassette(cell, seed), settings.record_mode, about) as cassette:
            await run(cell, task, one, settings, chat, transcript)
            for reader in settings.extractors:
                readings.append(await read_answer(task, one, transcript, reader, settings, chat, extra))
            extraction = readings[0]
        unplayed = cassette.unplayed
        grade = graders.grade(task, one.instance, extraction.answer)
        outcome = {"answered": "scored"}.get(kind := extract.outcome(extraction), kind)
    except Exception as problem_:
        error = str(problem_) or type(problem_).__name__
        if not isinstance(problem_, EndpointError | CassetteMiss | OSError):
            error = f"{type(problem_).__name__} in {traceback.extract_tb(problem_.__traceback__)[-1].name}: {error}"
    turns = [
        {"seat": seat, "text": c.text, "finish": c.finish, "usage": c.usage, "seconds": c.seconds}
        for seat, c in transcript.turns
    ]
    completions = [c for _, c in transcript.turns] + extra
    costs = [c.cost for c in completions]
    usage: dict[str, int] = {}
    for completion in completions:
        for kind, tokens in completion.usage.items():
            usage[kind] = usage.get(kind, 0) + tokens
    return Rollout(
        study=cell.study, task=cell.task, family=cell.family, mode=cell.mode, models=list(cell.models),
        condition=cell.condition, seed=seed, settings=settings.digest(cell), said=settings.said,
        versions={**settings.versions(cell), "suite": __version__}, outcome=outcome,
        score=None if outcome == "infrastructure" else grade.score, success=grade.success, reason=grade.reason,
        where=grade.where, answer=extraction.answer, warning=extraction.warning, evidence=extraction.evidence,
        second=second(settings.extractors, readings),
        termination=transcript.termination or "error", turns=turns, usage=usage,
        cost=None if None in costs else round(sum(c for c in costs if c), 9), error=printable(error), unplayed=unplayed,
    )  # fmt: skip


def second(readers: Sequence[str], readings: Sequence[extract.Extraction]) -> dict[str, Any] | None:
    """What the second reader of two made of a transcript, and whether it is what the first made of it."""
    if len(readings) < 2:
        return None
    answers = [reading.answer for reading in readings]
    both = "neither" if answers == [None, None] else "first only" if answers[1] is None else "second only"
    if None not in answers:
        both = "equal" if canonical(answers[0]) == canonical(answers[1]) else "differ"
    return {"extractor": readers[1], "answer": answers[1], "warning": readings[1].warning, "agreement": both}


async def read_answer(
    task: Task[Any], one: Problem[Any], transcript: Transcript, reader: str, settings: Settings, chat: Chat,
    extra: list[Completion],
) -> extract.Extraction:  # fmt: skip
    """The answer of a transcript, read by the program or, as in the paper, by a model that sees task and dialogue."""
    form = task.form(one.instance)
    turns = [(f"agent {seat + 1}", completion.text) for seat, completion in transcript.turns]
    if reader == "program":
        return extract.read(form, turns)
    record = "\n\n".join(f"[{speaker}]: {text}" for speaker, text in turns).replace("</record>", "</ record>")
    request = prompt("extractor_task").format(task=task.prompt, record=record, schema=schema(form))
    model = settings.models[reader]
    messages = ("system", prompt("extractor_system")), ("user", request)
    reply = await Agent.start(0, model, EXTRACTOR_TEMPERATURE, *messages).reply(chat)
    extra.append(reply)
    return extract.interpret(form, reply.text)


async def run_cell(
    cell: Cell, seeds: Iterable[int], settings: Settings, chat: Chat, done: Callable[[Rollout], None],
    may_start: Callable[[], bool] = lambda: True,
) -> None:  # fmt: skip
    """Run the rollouts of `cell` at `seeds`, `settings.concurrency` at once; `done` gets each as it ends, `may_start`
    is asked before each."""
    waiting = iter(seeds)

    async def lane() -> None:
        for seed in waiting:  # lanes share the iterator: no task exists before its turn
            if not may_start():
                return
            done(await run_rollout(cell, seed, settings, chat))

    async with asyncio.TaskGroup() as lanes:
        for _ in range(settings.concurrency):
            lanes.create_task(lane())
            await asyncio.sleep(0)  # lets the calls of earlier lanes out before the next one gets ready
