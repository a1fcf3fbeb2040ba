"""The coop study: its cells, and how an episode of one is played and scored (COOP², sections 6 and 7)."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from collabtax.cells import Cell
from collabtax.coop.arenas import SECONDS, arenas
from collabtax.coop.episode import play, score
from collabtax.coop.minds import Minds, system
from collabtax.coop.process import Process
from collabtax.options import CONDITIONS, MODES
from collabtax.study import Load, Played, Results, Stage, Study, Told, prompts_digest

if TYPE_CHECKING:
    from collabtax.settings import Settings

PROTOCOL_VERSION = 1  # raised whenever what is sent changes by other means than a file in prompts/coop/
SCORING_VERSION = 1
TEAM = 3  # agents, where the condition names no other number
PLANS = (3, 8, 20)  # of an agent in an episode: least, expected, most
TALK = {"individual": 1.0, "chain": 1.5, "centralized": 2.0}  # calls for each plan, roughly
REPLY = (40, 90, 250)  # tokens
LETTERS = 4.0  # characters a token


@dataclass(frozen=True)
class Configuration:
    """What a condition says."""

    team: int = TEAM
    repair: bool = False

    @classmethod
    def of(cls, condition: str) -> Configuration:
        """Raises ValueError for a condition that there is not."""
        if condition not in ("", *CONDITIONS["coop"]):
            raise ValueError(f"{condition!r} is no condition of the coop study: {', '.join(CONDITIONS['coop'])}")
        return cls(6 if condition.startswith("6-agents") else TEAM, condition.endswith("repair"))


class Coop(Study):
    """A rollout is one episode in the world of its seed, so that structures, teams and repair are compared on the same
    worlds [our choice; the authors' code repeats one seed, 42]."""

    name = "coop"
    modes = MODES["coop"]
    conditions = CONDITIONS["coop"]
    rollouts = 5
    basis = (
        f"{PLANS[1]} plans of each agent ({PLANS[0]} to {PLANS[2]}), half of them talked about in a chain and all "
        f"under a leader, {REPLY[1]} tokens a reply, prompts as rendered at the start"
    )

    @property
    def tasks(self) -> tuple[tuple[str, str], ...]:
        return tuple((name, name) for name in arenas())

    def cells(self, settings: Settings) -> Iterator[Cell]:
        """Every world under every structure, plain and under each condition."""
        for name in settings.task:
            for model in settings.members:
                for mode in settings.mode:
                    for condition in (*[""] * settings.plain, *settings.condition):
                        if condition in ("", *CONDITIONS["coop"]):
                            yield Cell("coop", name, name, mode, (model,), condition)

    def length(self, cell: Cell) -> int:
        return round(Configuration.of(cell.condition).team * PLANS[1] * TALK[cell.mode])

    def said(self, settings: Settings, cell: Cell) -> dict[str, Any]:
        real = {"real_time": True} if settings.real_time else {}
        steps = settings.turn_cap or arenas()[cell.task].steps
        return {"temperature": settings.temperature, "seconds": SECONDS, "steps": steps, **real}

    def versions(self, cell: Cell) -> dict[str, int | str]:
        return {
            "task": arenas()[cell.task].version, "prompts": prompts_digest("coop"), "protocol": PROTOCOL_VERSION,
            "graders": SCORING_VERSION,
        }  # fmt: skip

    async def play(self, stage: Stage) -> Played:
        """The score in [0, 1] is the share of what the world held at the start: of CUBE's 18, of all resources on the
        map of Crafter, which no team gets round to in an episode. The score itself is in the metrics."""
        from collabtax.coop.metrics import measure

        process = begin(stage.cell, stage.seed, stage.settings.turn_cap)
        minds = Minds(process, stage, real_time=stage.settings.real_time)
        stage.transcript.termination = await play(process, minds)
        share = score(process.trace) / process.arena.most(process.world, process.first)
        events = [event["event"] for event in process.trace]
        interruptions = sum(e["event"] == "status" and e["to"] == "I" for e in process.trace)
        return Played(
            "scored", round(min(1.0, share), 6), share >= 1,
            answer=[score(process.trace), process.steps, events.count("plan"), events.count("message"), interruptions],
            data={"trace": process.trace, "metrics": measure(process.trace)},
        )  # fmt: skip

    def loads(self, settings: Settings, cell: Cell) -> tuple[Load, Load, Load]:
        process = begin(cell, settings.seed, settings.turn_cap)
        name = process.world.agents[0]
        sent = (len(system(process, name)) + len(process.world.observe(process.state, name)) + 800) / LETTERS
        found = []
        for plans, reply in zip(PLANS, REPLY, strict=True):
            calls = plans * len(process.members) * TALK[cell.mode]
            found.append(Load(calls, {"prompt": calls * sent, "completion": calls * reply}))
        return found[0], found[1], found[2]

    def told(self, results: Results, settings: Settings) -> Told:
        from collabtax.coop.told import CoopTold

        return CoopTold(results, settings)


def begin(cell: Cell, seed: int, steps: int = 0) -> Process:
    """The start of an episode of a cell; `steps`: its limit, 0 for the world's own."""
    arena, configuration = arenas()[cell.task], Configuration.of(cell.condition)
    return Process(
        arena, configuration.team, seed, structure=cell.mode, repair=configuration.repair, steps=steps or arena.steps,
        seconds=SECONDS,
    )  # fmt: skip


STUDY = Coop()
