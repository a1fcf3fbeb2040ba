"""What must hold of every stored run of the swap whatever the models said: a run of which it does not hold measured
something else than a swap."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import cached_property
from statistics import fmean
from typing import Any

from collabtax.cells import Cell
from collabtax.swap.configuration import Configuration
from collabtax.swap.content import LABELS, lines_of
from collabtax.swap.formation import better
from collabtax.swap.study import HALVES, NOTICE, SWAPPED, TOLD
from collabtax.swap.team import NOTEBOOK_BUDGET, digest
from graders.tokens import count

Row = Mapping[str, Any]
Found = dict[tuple[str, str, str, int], Row]  # by task, model, condition of the formation, repetition
EMPTY = digest("")


class Branch:
    """A stored branch, and what it was built on as far as that is there."""

    def __init__(self, row: Row, formations: Found, labels: Found) -> None:
        self.row, self.data = row, row["data"]
        self.mode, self.seat = str(row["mode"]), str(row["data"]["seat"])
        self.configuration = Configuration.of(row["condition"])
        self._formed, self._labels = formations, labels

    def at(self, found: Found, model: str) -> Row | None:
        return found.get((self.row["task"], model, self.configuration.formed.condition, self.row["seed"]))

    def team(self, which: str, model: str) -> Mapping[str, Any] | None:
        """The stored "receiver" or "donor" of the formation."""
        formed = self.at(self._formed, model)
        team: Mapping[str, Any] | None = formed and formed["data"]["teams"][formed["data"][which]]
        return team

    @cached_property
    def receiver(self) -> Mapping[str, Any] | None:
        return self.team("receiver", self.row["models"][0])

    @cached_property
    def donor(self) -> Mapping[str, Any] | None:
        return self.team("donor", self.row["models"][-1])

    @cached_property
    def labelled(self) -> Row | None:
        return self.at(self._labels, self.row["models"][-1])


def violations(rows: Iterable[Row]) -> list[str]:
    """A line for each thing that does not hold of the scored rollouts among `rows`, in any order; [] if all does."""
    scored = sorted(
        (row for row in rows if row["study"] == "swap" and row["outcome"] == "scored"),
        key=lambda row: (row["task"], row["mode"], row["models"], row["condition"], row["seed"]),
    )
    formations, labels = (
        {(row["task"], row["models"][0], row["condition"], row["seed"]): row for row in scored if row["mode"] == mode}
        for mode in ("formation", "labels")
    )
    found: list[str] = []
    for row in formations.values():
        found += [f"{name(row)}: {problem}" for problem in formed(row)]
    for one, row in labels.items():
        found += [f"{name(row)}: {problem}" for problem in labelled(row, formations.get(one))]
    branches = [Branch(row, formations, labels) for row in scored if row["mode"] not in ("formation", "labels")]
    for branch in branches:
        found += [f"{name(branch.row)}: {problem}" for check in CHECKS for problem in check(branch)]
    return found + list(together(branches))


def name(row: Row) -> str:
    """A rollout, safe to print: names of models are made plain in the id of its cell."""
    cell = Cell("swap", row["task"], row["family"], row["mode"], tuple(row["models"]), row["condition"])
    return f"{cell.id}, repetition {row['seed']}"


def formed(row: Row) -> Iterator[str]:
    """Of a formation: frozen as written, within budget, on equal tasks, and the better team receives."""
    data = row["data"]
    for team, letter in zip(data["teams"], "AB", strict=True):
        for role, text in team["notebooks"].items():
            if digest(text) != team["hashes"][role]:
                yield f"the notebook of team {letter}'s {role} is not the one that was frozen"
            if count(text) > NOTEBOOK_BUDGET:
                yield f"the notebook of team {letter}'s {role} has more than {NOTEBOOK_BUDGET} tokens"
    one, other = ([episode["task"] for episode in team["episodes"]] for team in data["teams"])
    if one != other:
        yield "the two teams were formed on different tasks"
    if data["receiver"] != better([team["scores"] for team in data["teams"]]) or data["donor"] != 1 - data["receiver"]:
        yield "the receiver is not the team with the higher mean score"


def labelled(row: Row, formation: Row | None) -> Iterator[str]:
    """Of labels: each line of the donor's notebooks has one, that of both labellers where they agree."""
    lines = row["data"]["lines"]
    for line in lines:
        if line["label"] not in LABELS or (len(set(line["labels"])) == 1 and line["label"] != line["labels"][0]):
            yield f"the label of line {line['id']} does not follow from those of the labellers"
    if formation is not None:
        team = formation["data"]["teams"][formation["data"]["donor"]]
        for role in sorted({*team["notebooks"], *(line["role"] for line in lines)}):
            mine = [(line["id"], line["text"]) for line in lines if line["role"] == role]
            if mine != list(lines_of(role, team["notebooks"].get(role, "")).items()):
                yield f"the lines that were labelled are not those of the donor's {role}, each once and in order"


def retained(branch: Branch) -> Iterator[str]:
    """Those who stay have the receiver's notebooks, byte for byte."""
    if branch.receiver is None:
        return
    if branch.data["notebooks"].keys() != branch.receiver["hashes"].keys():
        yield "the team has other members than the one that was formed"
    for role, hashed in branch.receiver["hashes"].items():
        if role != branch.seat and branch.data["notebooks"].get(role) != hashed:
            yield f"the notebook of the {role}, who stays, is not the one that was frozen"


def installed(branch: Branch) -> Iterator[str]:
    """The seat that is replaced holds what its branch says: the donor's notebook, none, or a half of the donor's."""
    text, role = branch.data["installed"], branch.seat
    if (branch.mode == "original") != (role == ""):
        yield "a member is replaced in the original, or nobody in a branch"
        return
    if role and branch.data["notebooks"].get(role) != digest(text):
        yield f"the notebook of the {role}, the seat that is replaced, is not the one that is stored beside it"
    if branch.mode == "fresh" and text:
        yield f"the fresh {role} has a notebook"
    loaded = branch.data["notebooks"].get(role)
    if branch.mode == "experienced" and branch.donor is not None and loaded != branch.donor["hashes"][role]:
        yield f"the experienced {role} has not the donor's notebook"
    if branch.mode in HALVES and branch.labelled is not None:
        mine = [line for line in branch.labelled["data"]["lines"] if line["role"] == role]
        half = [line["text"] for line in mine if line["label"] == HALVES[branch.mode]]
        if text != "\n".join(half):
            yield f"the {branch.mode} is not the lines of the donor's {role} with the label {HALVES[branch.mode]}"


def noticed(branch: Branch) -> Iterator[str]:
    """Only newcomers are told that they are new, and the others only where the condition says so."""
    wanted: dict[str, str] = {}
    if branch.mode in SWAPPED:
        role = branch.seat
        told = TOLD.format(role=role)
        wanted = {r: told for r in branch.data["notebooks"] if branch.configuration.told and r != role}
        wanted |= {role: NOTICE.format(role=role)} if branch.configuration.notice else {}
    if branch.data["notices"] != wanted:
        told = ", ".join(sorted(branch.data["notices"])) or "nobody"
        yield f"a notice went to {told}; it belongs to {', '.join(sorted(wanted)) or 'nobody'}, in the words agreed"


def frozen(branch: Branch) -> Iterator[str]:
    """Nobody writes a notebook while a branch is evaluated, unless the team goes on together."""
    written = sum(turn.get("kind") == "notebook" for turn in branch.row["turns"])
    if written and not branch.configuration.together:
        yield f"notebooks were written {written} times during the evaluation"


def sums(branch: Branch) -> Iterator[str]:
    """Totals are those of the episodes."""
    episodes = branch.data["episodes"]
    for what in ("progress", "messages", "tokens"):
        if branch.data[what] != sum(episode[what] for episode in episodes):
            yield f"the {what} of the branch are not the sum over its episodes"
    if episodes and not math.isclose(
        100 * branch.row["score"], fmean(episode["score"] for episode in episodes), abs_tol=1e-3
    ):
        yield "the score of the branch is not the mean of its episodes"


CHECKS: tuple[Callable[[Branch], Iterator[str]], ...] = (retained, installed, noticed, frozen, sums)


def together(branches: Iterable[Branch]) -> Iterator[str]:
    """What branches of one repetition share: their tasks; with what differs between them, the seat that is replaced
    and the notebooks of those who stay; and, where nothing was formed, all that an experienced and a fresh newcomer
    have."""
    tasks: dict[tuple[Any, ...], tuple[Branch, list[str]]] = {}
    seats: dict[tuple[Any, ...], Branch] = {}
    kept: dict[tuple[Any, ...], tuple[Branch, str]] = {}
    for branch in branches:
        row, configuration = branch.row, branch.configuration
        mine = [episode["task"] for episode in branch.data["episodes"]]
        where = row["task"], row["seed"]
        asked = row["said"].get("episodes"), row["said"].get("questions")  # models may be evaluated on more or fewer
        first, wanted = tasks.setdefault((*where, *asked, configuration.held_out), (branch, mine))
        if mine != wanted:
            yield f"{name(row)}: evaluated on other tasks than {name(first.row)}"
        if branch.seat:
            other = seats.setdefault((*where, configuration.seat), branch)
            if branch.seat != other.seat:
                yield f"{name(row)}: another member is replaced than in {name(other.row)}"
        for role, hashed in branch.data["notebooks"].items():
            if role != branch.seat:
                begun = (*where, row["models"][0], configuration.formed.condition, role)
                before, wanted_hash = kept.setdefault(begun, (branch, hashed))
                if hashed != wanted_hash:
                    yield f"{name(row)}: the {role}, who stays, has another notebook than in {name(before.row)}"
        if configuration.formation == 0 and set(branch.data["notebooks"].values()) - {EMPTY}:
            yield f"{name(row)}: there is a notebook, though nothing was formed"
