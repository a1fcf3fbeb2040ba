"""Do the measures of the coop study recover what is known of a simulated crew? `python benchmarks/coop_recovery.py`.

Two drills (`collabtax.sim.crew_truth`) are played with the process and the repair of the study. Pooled deficits and
mean scores are compared with what the crew's rates say; a z of more than 4 in a line is a failure.
"""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from math import sqrt
from pathlib import Path
from statistics import fmean
from types import SimpleNamespace
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from collabtax.cells import Cell
from collabtax.chat import Completion
from collabtax.coop.arenas import Arena, CrafterArena, CubeArena
from collabtax.coop.episode import play
from collabtax.coop.metrics import Metrics, measure
from collabtax.coop.minds import Minds
from collabtax.coop.process import Event, Process
from collabtax.models import Model
from collabtax.sim import crew, crew_truth
from collabtax.sim.crew_truth import Truth
from collabtax.study import Stage
from tasks.worlds import cube_script
from tasks.worlds.cooperation import CONSTRAINTS
from tasks.worlds.crafter.world import Crafter
from tasks.worlds.cube import Cube

MODELS = ("sim/crew-perfect", "sim/crew-deaf", "sim/crew", "sim/crew-late=0.3,mend=1", "sim/crew-place=0.3,tool=0.5",
          "sim/crew-count=0.4,tool=0.8,mend=0.5")  # fmt: skip
EPISODES = 60  # of each line, a few minutes in all
MOST_Z = 4.0


class Push(CubeArena):
    """CUBE with one block that takes all; a repair is due in every round."""

    cooldown = 1

    def world(self, team: int, steps: int) -> Cube:
        return Cube(team=team, weights=(team,), limit=steps)


class Mine(CrafterArena):
    """A coal between two agents with three trees each; what lies to the left tells one map from another."""

    steps = 20

    def __init__(self, number: int) -> None:
        left = "." * (number % 40)
        self.rows = tuple(f"{left}{row}{'.' * (number // 40)}" for row in (".Y.Y.", "Y0c1Y", ".Y.Y."))

    def world(self, team: int, steps: int) -> Crafter:
        return Crafter(team=team, chart=self.rows, limit=steps)


class InProcess:
    """A chat with simulated members, without recordings."""

    async def complete(self, model: Model, asked: Any) -> Completion:
        text = crew.reply(model.name, [dict(message) for message in asked.messages])
        return Completion(text, "stop", {"completion": -(-len(text) // 4)}, 0.0, 0.0)


def played(
    arena: Arena, model: str, seed: int, team: int = 3, structure: str = "individual", repair: bool = False,
    seconds: float = 1000.0,
) -> list[Event]:  # fmt: skip
    """The trace of an episode."""
    process = Process(arena, team, seed, structure=structure, repair=repair, steps=arena.steps, seconds=seconds)
    known: Any = SimpleNamespace(models={model: Model(model, model)}, temperature=0.7)
    chat: Any = InProcess()
    stage = Stage(Cell("coop", arena.name, arena.name, structure, (model,)), seed, known, chat, [])
    asyncio.run(play(process, Minds(process, stage)))
    return process.trace


@dataclass(frozen=True)
class Line:
    """One number of a drill: what was measured, what must come out, and how far apart they are in standard errors."""

    drill: str
    model: str
    repair: bool
    what: str
    measured: float
    expected: float
    z: float


def drill_push(model: str, seeds: range, repair: bool) -> tuple[list[Metrics], list[Truth]]:
    measured, expected = [], []
    for seed in seeds:
        arena, rates = Push(), crew.knobs(model)
        measured.append(measure(played(arena, model, seed, repair=repair)))
        world = arena.world(3, arena.steps)
        state = world.initial(seed)
        while not any(world.step(state, cube_script.decide(world, state)).pushes):  # all walk to their posts
            state = world.step(state, cube_script.decide(world, state))
        (block,) = state.blocks
        expected.append(
            crew_truth.push(
                rates, weight=3, pushes=world.size - block.column - 3, column=block.column,
                steps=arena.steps - state.step, repair=repair,
            )
        )  # fmt: skip
    return measured, expected


def drill_mine(model: str, seeds: range, repair: bool) -> tuple[list[Metrics], list[Truth]]:
    rates = crew.knobs(model)
    measured = [measure(played(Mine(seed), model, 0, team=2, repair=repair)) for seed in seeds]
    for one in measured:  # trees are collected by one agent each, and are no part of the drill
        one["attempts"], one["score"] = one["attempts"] - 6, one["score"] - 6
        one["deficits"] = {c: d * (one["attempts"] + 6) / one["attempts"] for c, d in one["deficits"].items()}
    return measured, [crew_truth.mine(rates, repair)] * len(measured)


def lines(models: Sequence[str] = MODELS, episodes: int = EPISODES) -> Iterator[Line]:
    """All numbers of both drills. A pooled deficit's standard error is that of a ratio over episodes."""
    for name, drill in (("push", drill_push), ("mine", drill_mine)):
        for model in models:
            for repair in (False, True):
                measured, truths = drill(model, range(episodes), repair)
                score = [m["score"] for m in measured]
                yield line(
                    name, model, repair, "score", score, [1.0] * episodes, fmean(t.score for t in truths),
                    fmean(t.score * (t.most - t.score) for t in truths),
                )  # fmt: skip
                attempts = [float(m["attempts"]) for m in measured]
                total = sum(t.attempts for t in truths)
                for c in CONSTRAINTS:
                    sums = [m["attempts"] * (m["deficits"][c] or 0.0) for m in measured]
                    yield line(name, model, repair, c, sums, attempts, sum(t.deficits[c] for t in truths) / total)


def line(
    drill: str, model: str, repair: bool, what: str, parts: Sequence[float], wholes: Sequence[float], expected: float,
    known: float | None = None,
) -> Line:  # fmt: skip
    """`known`: the variance of a part, where theory says it."""
    ratio, n = sum(parts) / sum(wholes), len(parts)
    square = sum((p - expected * w) ** 2 for p, w in zip(parts, wholes, strict=True)) / (n - 1)
    error = sqrt((square if known is None else known) / n) / fmean(wholes)
    apart = ratio - expected
    return Line(drill, model, repair, what, ratio, expected, 0.0 if abs(apart) < 1e-9 else apart / max(error, 1e-9))


def main() -> int:
    found = []
    print(f"{'drill':6}{'model':38}{'repair':8}{'what':15}{'measured':>10}{'expected':>10}{'z':>7}")
    for one in lines():
        found.append(one)
        repair = "on" if one.repair else "off"
        print(f"{one.drill:6}{one.model:38}{repair:8}{one.what:15}{one.measured:10.4f}{one.expected:10.4f}{one.z:7.2f}")
    wrong = [one for one in found if abs(one.z) > MOST_Z]
    print(f"{len(found)} numbers, {len(wrong)} further than {MOST_Z:g} standard errors from what is known")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
