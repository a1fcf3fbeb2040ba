"""`--plan`: what would run and what it would cost, from the texts that would be sent. Nothing is sent."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from collabtax.agents import prompt
from collabtax.cassettes import Cassette
from collabtax.cells import Cell, printable
from collabtax.options import INTERVENTIONS
from collabtax.protocols import told
from collabtax.session import Session
from tasks import get_task, problem

SAMPLE = 3  # seeds of a cell whose texts are rendered to estimate their length
EXCHANGES = 3.0  # exchanges that a dialogue is expected to take, unless the cap is lower
REPLY = 150  # tokens that a reply is expected to have
LETTERS = 4.0  # characters a token

BASIS = (
    f"expected: {EXCHANGES:g} exchanges a dialogue, {REPLY} tokens a reply, {LETTERS:g} characters a token, prompts as "
    f"rendered for {SAMPLE} seeds of each cell"
)


@dataclass(frozen=True)
class Estimate:
    """Expected numbers of a cell: rollouts, those of them that are finished, those to run that have a recording, calls,
    tokens, USD (None: no price)."""

    cell: Cell
    rollouts: int
    finished: int
    recorded: int
    calls: float
    prompt_tokens: float
    completion_tokens: float
    cost: float | None


def estimate(cell: Cell, session: Session) -> Estimate:
    """What the rollouts of `cell` would take that are neither finished nor recorded."""
    settings, seeds = session.settings, session.todo(cell)
    planned = settings.seeds(cell)
    recorded = sum(
        settings.record_mode != "all" and not Cassette(settings.cassette(cell, s), "none").is_empty for s in seeds
    )
    task = get_task(cell.task)
    views = []
    for seed in planned[:SAMPLE]:
        one = problem(task, seed, settings.difficulty, settings.friction)
        views.append(len(told(task, one, None if cell.mode == "solo" else 0)))
    opening = (len(task.prompt) + len(prompt("collaboration_task")) + sum(views) / len(views)) / LETTERS
    if cell.mode in ("homo", "hetero"):
        calls = 2 * min(EXCHANGES, settings.turn_cap)
        clauses = [prompt(f"clause_{name}") for name in INTERVENTIONS.get(cell.condition, ())]
        opening += sum(map(len, (prompt("collaboration_system"), *clauses))) / LETTERS
    else:
        calls = 1 + (cell.mode == "solo" and settings.critic)
    sent = calls * opening + REPLY * calls * (calls - 1) / 2  # every call sends the history again
    left = len(seeds) - recorded
    share = left / len(cell.models)
    costs = [
        settings.models[m].price({"prompt": round(sent * share), "completion": round(calls * REPLY * share)})
        for m in cell.models
    ]
    spoken = calls * REPLY
    read = opening + spoken
    for reader in settings.extractors:
        if reader != "program":  # one more call, which reads the whole record
            costs.append(settings.models[reader].price({"prompt": round(read * left), "completion": round(REPLY * left)}))
            calls, sent, spoken = calls + 1, sent + read, spoken + REPLY
    cost = None if None in costs else sum(c for c in costs if c is not None)
    return Estimate(
        cell, len(planned), len(planned) - len(seeds), recorded, calls * left, sent * left, spoken * left, cost
    )


def plan(cells: Sequence[Cell], session: Session) -> list[str]:
    """The plan in lines: a table a model or pair, and the sum."""
    groups: dict[str, list[Estimate]] = {}
    for cell in cells:
        groups.setdefault(" + ".join(dict.fromkeys(cell.models)), []).append(estimate(cell, session))
    columns = "rollouts", "finished", "recorded"
    head = f"{'models':<44} {'cells':>6} {' '.join(f'{c:>9}' for c in columns)} {'calls':>8} {'tokens':>10} {'USD':>10}"
    lines = [head]
    groups["all"] = [e for group in groups.values() for e in group]
    for name, group in groups.items():
        costs = [e.cost for e in group]
        price = "unknown" if None in costs else f"{sum(c for c in costs if c is not None):.4f}"
        tokens = sum(e.prompt_tokens + e.completion_tokens for e in group)
        counted = [sum(getattr(e, column) for e in group) for column in columns]
        lines.append(
            f"{printable(name)[:44]:<44} {len(group):>6} {' '.join(f'{n:>9}' for n in counted)} "
            f"{sum(e.calls for e in group):>8.0f} {tokens:>10.0f} {price:>10}"
        )
    return [*lines, BASIS, "nothing was sent"]
