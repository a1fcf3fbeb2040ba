"""A cell's rollouts: played by its study, recorded, stored as one record each. Callable without pytest."""

from __future__ import annotations

import asyncio
import traceback
from collections.abc import Awaitable, Callable, Iterable
from dataclasses import dataclass, field
from typing import Any

from collabtax import __version__
from collabtax.cassettes import Cassette, CassetteMiss
from collabtax.cells import Cell, printable
from collabtax.chat import Chat, Completion, EndpointError
from collabtax.settings import Settings
from collabtax.study import Played, Row, Stage, get_study

NOT_STORED = ("unplayed",)
WHERE_THERE = ("data",)  # stored by studies that have some


@dataclass(frozen=True)
class Rollout:
    """One record, plain JSON: what is needed to re-grade and to explain. `score` is None exactly for infrastructure
    failures; `no_answer` and `unreadable` score 0 and are counted apart. `cost` is None where a price is not known.
    `second` is what a second extractor read, if there is one; `data` what the study keeps besides."""

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
    data: dict[str, Any] = field(default_factory=dict)
    unplayed: int = field(default=0, compare=False)  # recordings that were not asked for

    def row(self) -> Row:
        """What is stored."""
        return {k: v for k, v in vars(self).items() if k not in NOT_STORED and (v or k not in WHERE_THERE)}


async def run_rollout(cell: Cell, seed: int, settings: Settings, chat: Chat, needed: list[Row]) -> Rollout:
    """Run one rollout, which builds on those `needed`. Whatever fails (endpoint, recording, disk, suite) becomes its
    outcome, never an exception: other rollouts are under way beside it, and paid for."""
    settings, study = settings.under(cell), get_study(cell.study)
    stage = Stage(cell, seed, settings, chat, needed)
    played, error, unplayed = Played("infrastructure", 0.0, False), "", 0
    try:
        for other in needed:
            if other["outcome"] == "infrastructure":
                raise EndpointError(f"{other['mode']} of {other['task']}, which it builds on, failed: {other['error']}")
        about = {"models": {m: settings.models[m].host for m in study.asks(settings, cell)}}
        with Cassette(settings.cassette(cell, seed), settings.record_mode, about) as cassette:
            played = await study.play(stage)
        unplayed = cassette.unplayed
    except Exception as problem:
        if isinstance(problem, EndpointError) and problem.usage:  # tries that were billed and said nothing
            stage.extra.append(Completion("", "error", problem.usage, 0.0, problem.cost))
        error = str(problem) or type(problem).__name__
        if not isinstance(problem, EndpointError | CassetteMiss | OSError):
            error = f"{type(problem).__name__} in {traceback.extract_tb(problem.__traceback__)[-1].name}: {error}"
    turns = [
        {"seat": seat, "text": c.text, "finish": c.finish, "usage": c.usage, "seconds": c.seconds, **about}
        for seat, c, about in stage.transcript.turns
    ]
    completions = [c for _, c, _ in stage.transcript.turns] + stage.extra
    costs = [c.cost for c in completions]
    usage: dict[str, int] = {}
    for completion in completions:
        for kind, tokens in completion.usage.items():
            usage[kind] = usage.get(kind, 0) + tokens
    return Rollout(
        study=cell.study, task=cell.task, family=cell.family, mode=cell.mode, models=list(cell.models),
        condition=cell.condition, seed=seed, settings=settings.digest(cell), said=settings.said(cell),
        versions={**study.versions(cell), "suite": __version__}, outcome=played.outcome,
        score=None if played.outcome == "infrastructure" else played.score, success=played.success,
        reason=played.reason, where=played.where, answer=played.answer, warning=played.warning,
        evidence=played.evidence, second=played.second, termination=stage.transcript.termination or "error",
        turns=turns, usage=usage, cost=None if None in costs else round(sum(c for c in costs if c), 9),
        error=printable(error), data=played.data, unplayed=unplayed,
    )  # fmt: skip


async def run_cell(
    seeds: Iterable[int], concurrency: int, run: Callable[[int], Awaitable[None]], may_start: Callable[[], bool]
) -> None:
    """`run` the rollouts of a cell at `seeds`, `concurrency` at once; `may_start` is asked before each."""
    waiting = iter(seeds)

    async def lane() -> None:
        for seed in waiting:  # lanes share the iterator: no task exists before its turn
            if not may_start():
                return
            await run(seed)

    async with asyncio.TaskGroup() as lanes:
        for _ in range(concurrency):
            lanes.create_task(lane())
            await asyncio.sleep(0)  # lets the calls of earlier lanes out before the next one gets ready
