"""The one-seat swap: its cells, and how a formation and a branch are played (paper, section 3).

A rollout is a repetition: of a formation, of the labels of its donor's notebooks, or of one branch's evaluation.
Branches build on the formation of their repetition, which is run once, however many need it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from statistics import fmean
from typing import TYPE_CHECKING, Any

from collabtax.cells import Cell
from collabtax.models import Model
from collabtax.options import CONDITIONS, MODES
from collabtax.study import Load, Played, Results, Stage, Study, Told, prompts_digest
from collabtax.swap.configuration import Configuration
from collabtax.swap.content import Unreadable, half, label, reworded
from collabtax.swap.formation import empty_team, form, notebooks, played, rewritten
from collabtax.swap.games import Game, games
from collabtax.swap.team import Episode, Member, Team, digest

if TYPE_CHECKING:
    from collabtax.settings import Settings

PROTOCOL_VERSION = 1  # raised whenever what is sent changes by other means than a file in prompts/swap/
SCORING_VERSION = 1
SHARED = ("formation", "labels")  # modes that other cells build on
SWAPPED = ("experienced", "fresh", "task-half", "partner-half")  # branches with a newcomer
HALVES = {"task-half": "TASK", "partner-half": "PARTNER"}
BRANCHES = ("original", "experienced", "fresh")  # that run unless others are named
NOTICE = "You are new here: this is the first episode that you play with this team, in the {role} seat."
TOLD = "The {role} seat has a new member: this is the first episode that it plays with your team."
REPLY = (30, 80, 200)  # tokens of a decision: least, expected, most
PROMPT = 1500  # tokens of the texts of a decision, roughly


class Swap(Study):
    name = "swap"
    modes = MODES["swap"]
    conditions = CONDITIONS["swap"]
    rollouts = 10
    basis = f"{PROMPT} tokens of prompt and {REPLY[1]} of reply a decision, half of the steps that an episode may have"

    @property
    def tasks(self) -> tuple[tuple[str, str], ...]:
        return tuple((game.name, game.family) for game in games().values())

    def cells(self, settings: Settings) -> Iterator[Cell]:
        """For each setting: the formation of every model, the original team, and each branch in each seat, newcomers of
        every pair's second model included; labels where they are asked for or halves are made from them."""
        wanted = [m for m in settings.mode if m not in SHARED] if "formation" not in settings.mode else [*BRANCHES]
        wanted = [m for m in MODES["swap"] if m in wanted]
        for name in settings.task:
            game = games()[name]
            seats = [seat for seat in game.seats if settings.seat in ("both", "alternate", seat)]
            for configuration in configurations(settings, game):
                teams = [(m, m) for m in settings.model] + [x for a, b in settings.pair for x in ((a, b), (b, a))]
                members = settings.members
                needs_labels = bool(set(HALVES) & set(wanted)) or settings.mode == ("labels",)
                for model in members:
                    yield self.cell(game, "formation", (model,), configuration.formed)
                    if needs_labels:
                        yield self.cell(game, "labels", (model,), configuration.formed)
                    if "original" in wanted:
                        yield self.cell(game, "original", (model,), configuration.unswapped)
                for mode in wanted:
                    for receiver, newcomer in teams if mode in SWAPPED else [(m, m) for m in settings.model]:
                        for seat in seats if mode != "original" else ():
                            models = (receiver, newcomer) if mode in SWAPPED else (receiver,)
                            yield self.cell(game, mode, models, replace(configuration, seat=seat))

    @staticmethod
    def cell(game: Game, mode: str, models: tuple[str, ...], configuration: Configuration) -> Cell:
        return Cell("swap", game.name, game.family, mode, models, configuration.condition)

    def seeds(self, settings: Settings, cell: Cell, seeds: range) -> Sequence[int]:
        """Repetitions; where seats alternate, every second one replaces in a seat."""
        game, seat = games()[cell.task], Configuration.of(cell.condition).seat
        if settings.seat == "alternate" and seat in game.seats:
            return seeds[game.seats.index(seat) :: len(game.seats)]
        return seeds

    def check(self, settings: Settings) -> None:
        if settings.medqa is not None:
            from collabtax.swap.clinic import questions

            questions(settings.medqa)

    def length(self, cell: Cell) -> int:
        return 2000 if cell.mode == "formation" else 100 if cell.mode == "labels" else 500

    def under(self, settings: Settings, cell: Cell) -> Settings:
        temperature = Configuration.of(cell.condition).temperature
        return settings if temperature is None else replace(settings, temperature=temperature)

    def asks(self, settings: Settings, cell: Cell) -> tuple[str, ...]:
        return (*cell.models, *(settings.labeller if cell.mode in ("labels", "paraphrase") else ()))

    def said(self, settings: Settings, cell: Cell) -> dict[str, Any]:
        said: dict[str, Any] = {"temperature": settings.temperature}
        if settings.turn_cap and cell.family != "clinic":
            said["turn_cap"] = settings.turn_cap
        if cell.mode not in SHARED:
            said["episodes"] = settings.episodes
        if cell.mode in ("labels", "paraphrase", *HALVES):
            said["labellers"] = list(settings.labeller)
        if cell.family == "clinic" and settings.medqa is not None:
            from collabtax.swap.clinic import digest_of

            said["questions"] = digest_of(settings.medqa)
        return said

    def versions(self, cell: Cell) -> dict[str, int | str]:
        return {
            "task": games()[cell.task].version, "prompts": prompts_digest("swap"), "protocol": PROTOCOL_VERSION,
            "graders": SCORING_VERSION,
        }  # fmt: skip

    def needs(self, cell: Cell, seed: int) -> tuple[tuple[Cell, int], ...]:
        if cell.mode == "formation":
            return ()
        game, formed = games()[cell.task], Configuration.of(cell.condition).formed
        needed = [self.cell(game, "formation", (model,), formed) for model in dict.fromkeys(cell.models)]
        if cell.mode in HALVES:
            needed.append(self.cell(game, "labels", cell.models[-1:], formed))
        return tuple((other, seed) for other in needed)

    def is_needed(self, cell: Cell) -> bool:
        return cell.mode in SHARED

    def group(self, cell: Cell) -> str:
        """All cells of one setting: the formations of a model may be needed by every team that it joins."""
        return cell.task

    async def play(self, stage: Stage) -> Played:
        cell, settings = stage.cell, stage.settings
        game, configuration = games()[cell.task], Configuration.of(cell.condition)
        if cell.mode == "formation":
            data = await form(game, stage, configuration, game.formation_tasks(stage.seed, configuration, settings))
            stage.transcript.termination = "done"
            score = fmean(data["teams"][data["receiver"]]["scores"] or [0.0])
            return Played("scored", score / 100, True, data=data)
        if cell.mode == "labels":
            books = notebooks(stage.needed[0], "donor")
            stage.transcript.termination = "done"
            try:
                return Played("scored", 1.0, True, data=await label(stage, books, self.labellers(stage)))
            except Unreadable as problem:
                return Played("unreadable", 0.0, False, str(problem))
        if cell.mode in HALVES and stage.needed[-1]["outcome"] == "unreadable":
            stage.transcript.termination = "done"
            return Played("unreadable", 0.0, False, stage.needed[-1]["reason"])
        team, newcomer = await self.team(stage, game, configuration)
        begun = team
        tasks = game.evaluation_tasks(stage.seed, configuration, settings)
        episodes: list[Episode] = []
        for number, task in enumerate(tasks):
            episode, table = await played(game, task, team, stage, configuration, episode=number)
            episodes.append(episode)
            if configuration.together:
                team = tuple([(await rewritten(game, member, table, episode))[0] for member in team])
                team = tuple(replace(member, notice="") for member in team)  # nobody is new any more
        stage.transcript.termination = "done"
        totals = {k: sum(getattr(episode, k) for episode in episodes) for k in ("progress", "messages", "tokens")}
        score = fmean(episode.score for episode in episodes)
        return Played(
            "scored", round(score / 100, 6), all(episode.ended == "done" for episode in episodes),
            answer=[[e.task, e.score, e.progress, e.messages, e.tokens] for e in episodes],
            data={
                "episodes": [episode.row() for episode in episodes], **totals,
                "seat": "" if newcomer is None else newcomer.role,
                "notebooks": {member.role: digest(member.notebook) for member in begun},
                "notices": {member.role: member.notice for member in begun if member.notice},
                "installed": "" if newcomer is None else newcomer.notebook,
            },
        )  # fmt: skip

    def labellers(self, stage: Stage) -> list[Model]:
        """Two labellers and an adjudicator; the last one named takes the places that are left."""
        names = [*stage.settings.labeller, *stage.cell.models[-1:]][:3]
        names += [names[-1]] * (3 - len(names))
        return [stage.settings.models[name] for name in names]

    async def team(self, stage: Stage, game: Game, configuration: Configuration) -> tuple[Team, Member | None]:
        """The team of a branch, and who is replaced in it, by whomever (paper, B.1). Notebooks of those who stay are
        the receiver's, byte for byte."""
        cell, settings = stage.cell, stage.settings
        own = notebooks(stage.needed[0], "receiver")
        model = settings.models[cell.models[0]]
        team = [replace(member, notebook=own[member.role]) for member in empty_team(game, model, configuration)]
        if cell.mode == "original":
            return tuple(team), None
        seat = game.replaced(configuration.seat, stage.seed)
        role = team[seat].role
        if cell.mode == "paraphrase":
            text = await reworded(stage, self.labellers(stage)[-1], own[role])
            team[seat] = replace(team[seat], notebook=text)
            return tuple(team), team[seat]
        donor = next(row for row in reversed(stage.needed) if row["mode"] == "formation")
        text = ""
        if cell.mode == "experienced":
            text = notebooks(donor, "donor")[role]
        elif cell.mode in HALVES:
            text = half(stage.needed[-1], role, HALVES[cell.mode])
        notice = NOTICE.format(role=role) if configuration.notice else ""
        team[seat] = replace(
            team[seat], model=settings.models[cell.models[-1]], notebook=text, notice=notice, newcomer=True
        )
        if configuration.told:
            team = [m if m.newcomer else replace(m, notice=TOLD.format(role=role)) for m in team]
        return tuple(team), team[seat]

    def loads(self, settings: Settings, cell: Cell) -> tuple[Load, Load, Load]:
        configuration = Configuration.of(cell.condition)
        episodes = 2 * configuration.formation if cell.mode == "formation" else settings.episodes
        steps = games()[cell.task].decisions
        found = []
        for part, reply in zip((0.25, 0.5, 1.0), REPLY, strict=True):
            calls = episodes * steps * part * (1 + configuration.planners / 2)
            calls += 2 * len(games()[cell.task].roles) * configuration.formation * (cell.mode == "formation")
            if cell.mode == "labels":
                calls = 6.0 * part
            found.append(Load(calls, {"prompt": calls * PROMPT, "completion": calls * reply}))
        return found[0], found[1], found[2]

    def told(self, results: Results, settings: Settings) -> Told:
        from collabtax.swap.told import SwapTold

        return SwapTold(results, settings)


def configurations(settings: Settings, game: Game) -> list[Configuration]:
    """The default and each condition that the game can have."""
    found = [*([Configuration()] if settings.plain else []), *map(Configuration.of, settings.condition)]
    return [
        c for c in dict.fromkeys(found)
        if (game.planning or not (c.planners or c.plan_first or c.on_idle)) and (game.held_out or not c.held_out)
    ]  # fmt: skip


STUDY = Swap()
