"""The collaboration tax: what a team loses by splitting a problem that one agent could see whole (paper, section 4).

This file says what its cells are and plays one rollout: problem -> conversation -> answer -> grade."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cached_property, lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

import graders
from collabtax.agents import Agent, prompt
from collabtax.cassettes import canonical
from collabtax.cells import Cell
from collabtax.options import INTERVENTIONS, MODES, SWEEPS
from collabtax.study import Load, Number, Played, Results, Stage, Study, Told, prompts_digest
from collabtax.tax.protocols import run, told
from graders import extract
from tasks import Problem, Task, all_tasks, get_task, problem
from tasks.answers import Form, as_data

if TYPE_CHECKING:
    from collabtax.report.figures import Figure
    from collabtax.report.mechanism import Mechanism
    from collabtax.report.summary import Summary
    from collabtax.settings import Settings

PROTOCOL_VERSION = 1  # raised whenever what is sent changes by other means than a file in prompts/tax/
SAMPLE = 3  # seeds of a cell whose texts are rendered to estimate their length
EXCHANGES = (1.0, 3.0)  # exchanges that a dialogue takes at least, and is expected to take; at most it is the cap
REPLY = (40, 150, 600)  # tokens that a reply has at least, is expected to have, and has at most
LETTERS = 4.0  # characters a token
LENGTH = {"half": 1, "solo": 2, "homo": 6, "hetero": 6}  # calls of a rollout, roughly
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


@lru_cache(maxsize=4096)
def cached_problem(task: Task[Any], seed: int, difficulty: str, friction: str) -> Problem[Any]:
    """Modes and models share their instances."""
    return problem(task, seed, difficulty, friction)


def tax_cells(
    tasks: Sequence[tuple[str, str]],
    models: Sequence[str],
    pairs: Sequence[tuple[str, str]],
    modes: Sequence[str],
    interventions: Sequence[str],
    sweeps: Sequence[str] = (),
) -> Iterator[Cell]:
    """The cells of the tax study (paper, section 4.3): `tasks` are (name, family). A pair runs in both orders; its
    members also run solo, which its tax needs; interventions concern dialogues only, sweeps dialogues and solo, apart
    from the critic, which only solo has."""
    talking = [sweep for sweep in sweeps if sweep != "no-critic"]
    conditions = ("", *interventions, *talking)
    for name, family in tasks:
        for model in models:
            if "solo" in modes:
                yield from (Cell("tax", name, family, "solo", (model,), c) for c in ("", *sweeps))
            if "half" in modes:
                yield from (Cell("tax", name, family, "half", (model,), f"view{v}") for v in (1, 2))
            if "homo" in modes:
                yield from (Cell("tax", name, family, "homo", (model, model), c) for c in conditions)
        if "hetero" in modes:
            for a, b in pairs:
                for seats in ((a, b), (b, a)):
                    yield from (Cell("tax", name, family, "hetero", seats, c) for c in conditions)


def second(readers: Sequence[str], readings: Sequence[extract.Extraction]) -> dict[str, Any] | None:
    """What the second reader of two made of a transcript, and whether it is what the first made of it."""
    if len(readings) < 2:
        return None
    answers = [reading.answer for reading in readings]
    both = "neither" if answers == [None, None] else "first only" if answers[1] is None else "second only"
    if None not in answers:
        both = "equal" if canonical(answers[0]) == canonical(answers[1]) else "differ"
    return {"extractor": readers[1], "answer": answers[1], "warning": readings[1].warning, "agreement": both}


async def read_answer(task: Task[Any], one: Problem[Any], stage: Stage, reader: str) -> extract.Extraction:
    """The answer of a transcript, read by the program or, as in the paper, by a model that sees task and dialogue."""
    form = task.form(one.instance)
    turns = [(f"agent {seat + 1}", completion.text) for seat, completion, _ in stage.transcript.turns]
    if reader == "program":
        return extract.read(form, turns)
    record = "\n\n".join(f"[{speaker}]: {text}" for speaker, text in turns).replace("</record>", "</ record>")
    request = prompt("tax/extractor_task").format(task=task.prompt, record=record, schema=schema(form))
    model = stage.settings.models[reader]
    messages = ("system", prompt("tax/extractor_system")), ("user", request)
    reply = await Agent.start(0, model, EXTRACTOR_TEMPERATURE, *messages).reply(stage.chat)
    stage.extra.append(reply)
    return extract.interpret(form, reply.text)


class Tax(Study):
    name = "tax"
    modes = MODES["tax"]
    conditions = (*INTERVENTIONS, *SWEEPS)
    rollouts, turn_cap = 50, 50
    basis = (
        f"{EXCHANGES[1]:g} exchanges a dialogue (least {EXCHANGES[0]:g}, most the cap), {REPLY[1]} tokens "
        f"a reply ({REPLY[0]} to {REPLY[2]}), {LETTERS:g} characters a token, prompts as "
        f"rendered for {SAMPLE} seeds of each cell"
    )

    @property
    def tasks(self) -> tuple[tuple[str, str], ...]:
        return tuple((task.name, task.family) for task in all_tasks())

    def cells(self, settings: Settings) -> Iterable[Cell]:
        tasks = [(name, get_task(name).family) for name in settings.task]
        return tax_cells(tasks, settings.members, settings.pair, settings.mode, settings.intervention, settings.sweep)

    def length(self, cell: Cell) -> int:
        return LENGTH[cell.mode]

    def under(self, settings: Settings, cell: Cell) -> Settings:
        return replace(settings, **SWEEPS[cell.condition]) if cell.condition in SWEEPS else settings

    def asks(self, settings: Settings, cell: Cell) -> tuple[str, ...]:
        return (*cell.models, *(reader for reader in settings.extractors if reader != "program"))

    def said(self, settings: Settings, cell: Cell) -> dict[str, Any]:
        said = {
            "friction": settings.friction, "difficulty": settings.difficulty, "temperature": settings.temperature,
            "turn_cap": settings.turn_cap, "critic": settings.critic, "extractor": settings.extractor,
        }  # fmt: skip
        idle = {"solo": ("turn_cap",), "half": ("turn_cap", "critic")}.get(cell.mode, ("critic",))
        return {k: v for k, v in said.items() if k not in idle}

    def versions(self, cell: Cell) -> dict[str, int | str]:
        return {
            "task": get_task(cell.task).version, "prompts": prompts_digest("tax"), "protocol": PROTOCOL_VERSION,
            "graders": graders.VERSION,
        }  # fmt: skip

    async def play(self, stage: Stage) -> Played:
        cell, settings, task = stage.cell, stage.settings, get_task(stage.cell.task)
        one = cached_problem(task, stage.seed, settings.difficulty, settings.friction)
        await run(cell, task, one, settings, stage.chat, stage.transcript)
        readings = [await read_answer(task, one, stage, reader) for reader in settings.extractors]
        grade, kind = graders.grade(task, one.instance, readings[0].answer), extract.outcome(readings[0])
        return Played(
            {"answered": "scored"}.get(kind, kind), grade.score, grade.success, grade.reason, grade.where,
            readings[0].answer, readings[0].warning, readings[0].evidence, second(settings.extractors, readings),
        )  # fmt: skip

    def loads(self, settings: Settings, cell: Cell) -> tuple[Load, Load, Load]:
        task = get_task(cell.task)
        views = []
        for seed in list(settings.seeds(cell))[:SAMPLE]:
            one = problem(task, seed, settings.difficulty, settings.friction)
            views.append(len(told(task, one, None if cell.mode == "solo" else 0)))
        opening = (len(task.prompt) + len(prompt("tax/collaboration_task")) + sum(views) / len(views)) / LETTERS
        dialogue = cell.mode in ("homo", "hetero")
        if dialogue:
            clauses = [prompt(f"tax/clause_{name}") for name in INTERVENTIONS.get(cell.condition, ())]
            opening += sum(map(len, (prompt("tax/collaboration_system"), *clauses))) / LETTERS
        exchanges = (*(min(e, settings.turn_cap) for e in EXCHANGES), float(settings.turn_cap))
        found = []
        for exchange, reply in zip(exchanges, REPLY, strict=True):
            calls = 2 * exchange if dialogue else 1.0 + (cell.mode == "solo" and settings.critic)
            sent = calls * opening + reply * calls * (calls - 1) / 2  # every call sends the history again
            spoken = calls * reply
            read = sum(reader != "program" for reader in settings.extractors)  # a call each, about all of it
            usage = {"prompt": sent + read * (opening + spoken), "completion": spoken + read * reply}
            found.append(Load(calls + read, usage))
        return found[0], found[1], found[2]

    def told(self, results: Results, settings: Settings) -> Told:
        from collabtax.report.summary import summarise

        return TaxTold(summarise(results), settings)


class TaxTold(Told):
    """What the tax of a run's models is, in the terminal, in Markdown and in pages."""

    name, title = "tax", "collaboration tax"
    question = "How much is lost when two agents see half of a task each and must talk, against one that sees it all?"

    def __init__(self, summary: Summary, settings: Settings) -> None:
        self.summary, self.settings = summary, settings

    @cached_property
    def mechanism(self) -> Mechanism:
        """What other commands found out about the same rollouts."""
        from collabtax.report import mechanism

        rows = [row for c in self.summary.cells for row in c.rows.values()]
        return mechanism.load(self.settings.run, rows, self.summary.taxes)

    def headline(self) -> Sequence[Number]:
        from collabtax.report.pages import headline

        return headline(self.summary)

    def warnings(self) -> Sequence[str]:
        from collabtax.report.pages import doubts

        return doubts(self.summary)

    def figures(self) -> Sequence[Figure]:
        from collabtax.report import figures

        return tuple(figures.of(self.summary, self.mechanism))

    def lines(self, unplayed: Mapping[str, int]) -> list[str]:
        from collabtax.report import text

        return list(text.lines(self.summary, unplayed))

    def markdown(self, compared: Sequence[str]) -> list[str]:
        from collabtax.report import markdown

        return list(markdown.lines(self.summary, compared))

    def write(self, folder: Path, pages: Mapping[str, str]) -> None:
        from collabtax.report import pages as tax_pages

        tax_pages.write(self.summary, self.settings, folder, pages, self.mechanism)


STUDY = Tax()
