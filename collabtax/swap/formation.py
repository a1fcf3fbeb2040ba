"""Formation: two teams play the same episodes, and every member rewrites its notebook after each; then they are frozen
(paper, section 3.1, appendices A and F.4)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from statistics import fmean
from typing import Any

from collabtax.agents import prompt
from collabtax.models import Model
from collabtax.study import Row, Stage
from collabtax.swap.configuration import Configuration
from collabtax.swap.games import Game
from collabtax.swap.team import NOTEBOOK_BUDGET, Episode, Member, Table, Team, digest, within, worded

TEAMS = ("A", "B")
RECORD = 400  # latest lines of its own experience that a member writes its notebook from [our choice]


def empty_team(game: Game, model: Model, configuration: Configuration) -> Team:
    """A team without experience: the acting members, then those that only plan."""
    roles = [*game.roles, *(f"planner_{i + 1}" for i in range(configuration.planners - len(game.roles)))]
    return tuple(Member(seat, role, model, acts=seat < len(game.roles)) for seat, role in enumerate(roles))


async def rewritten(game: Game, member: Member, table: Table, episode: Episode) -> tuple[Member, bool]:
    """The member with its notebook after an episode, and whether that had to be cut to the budget: written from the
    old one, its own record, and what came out."""
    system = prompt("swap/notebook_system").format(budget=NOTEBOOK_BUDGET, about=game.about(member), role=member.role)
    user = prompt("swap/notebook_turn").format(
        notebook=member.notebook or "(empty)",
        task=episode.task,
        record="\n".join(table.records.get(member.seat, [])[-RECORD:]) or "(nothing)",
        outcome=f"score {episode.score:.1f} of 100; progress {episode.progress} of {episode.most}; {episode.ended}",
    )
    reply = await table.ask(member, system, user, kind="notebook")
    text, cut = within(worded(reply.text), NOTEBOOK_BUDGET)
    return replace(member, notebook=text), cut


async def played(
    game: Game, task: str, team: Team, stage: Stage, configuration: Configuration, **about: Any
) -> tuple[Episode, Table]:
    table = Table(stage, about)
    return await game.play(task, team, table, configuration), table


async def form(game: Game, stage: Stage, configuration: Configuration, tasks: Sequence[str]) -> dict[str, Any]:
    """Form both teams. Returns what is stored: per team the notebooks by role with their hashes, scores and episodes;
    and who receives and who gives."""
    model = stage.settings.models[stage.cell.models[0]]
    teams: list[dict[str, Any]] = []
    for name in TEAMS:
        team, episodes, cuts = empty_team(game, model, configuration), list[Episode](), 0
        for number, task in enumerate(tasks):
            episode, table = await played(game, task, team, stage, configuration, side=name, episode=number)
            episodes.append(episode)
            members = []
            for member in team:
                fresh, cut = await rewritten(game, member, table, episode)
                members.append(fresh)
                cuts += cut
            team = tuple(members)
        teams.append({
            "notebooks": {member.role: member.notebook for member in team},
            "hashes": {member.role: digest(member.notebook) for member in team},
            "scores": [episode.score for episode in episodes],
            "episodes": [episode.row() for episode in episodes],
            "cut": cuts,
        })  # fmt: skip
    receiver = better([team["scores"] for team in teams])
    return {"teams": teams, "receiver": receiver, "donor": 1 - receiver}


def better(scores: Sequence[Sequence[float]]) -> int:
    """The team with the higher mean score; the first one where they are equal (paper, appendix A)."""
    means = [fmean(one) if one else 0.0 for one in scores]
    return means.index(max(means))


def notebooks(formed: Row, which: str) -> dict[str, str]:
    """The frozen notebooks, by role, of the "receiver" or the "donor" of a stored formation.

    Raises:
        ValueError: a notebook is not, byte for byte, the one that was hashed.
    """
    team = formed["data"]["teams"][formed["data"][which]]
    for role, text in team["notebooks"].items():
        if digest(text) != team["hashes"][role]:
            raise ValueError(f"the notebook of the {which}'s {role} is not the one that was frozen")
    return dict(team["notebooks"])
