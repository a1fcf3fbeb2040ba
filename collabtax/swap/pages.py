"""The pages of the swap: one of tables and figures, and one for each repetition of a line, with the two notebooks of
the swap side by side and what every branch did with them.

Equal results make equal bytes. Notebooks and messages are hostile text: templates escape them.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import reduce
from operator import add
from pathlib import Path
from typing import Any
from urllib.parse import quote

from collabtax.cells import Cell
from collabtax.report import exports, figures
from collabtax.report.figures import Figure
from collabtax.report.files import MARK, TEMPLATES, Folder, put_styles
from collabtax.report.pages import Axis, environment
from collabtax.settings import Settings
from collabtax.statistics.intervals import Estimate
from collabtax.statistics.swap import Contrast, Line, Summary
from collabtax.study import Results, Row
from collabtax.swap.configuration import Configuration
from collabtax.swap.content import lines_of
from collabtax.swap.findings import Finding, Findings
from collabtax.swap.study import HALVES
from collabtax.swap.team import digest
from collabtax.swap.told import MAIN, POOLED, details, percent, sentences

FIRST = "swap.html"  # the name of the study's first page where it is not the report's
FIGURES = "figures/swap/"
EPISODES = 25  # of a branch, most that a page shows one by one; results.jsonl has all
STEPS = (1.0, 2.0, 5.0, 10.0, 25.0, 50.0)  # of an axis, in points


@dataclass(frozen=True)
class NotebookLine:
    """A line of a notebook; `label` and `labels` of both labellers, "" where nobody labelled it."""

    text: str
    label: str
    labels: tuple[str, ...]


@dataclass(frozen=True)
class Notebook:
    """A frozen notebook: whose it is, its hash, its lines."""

    owner: str
    hashed: str
    lines: tuple[NotebookLine, ...]


@dataclass(frozen=True)
class BranchPage:
    """A branch as a page shows it: its row, the link to its rollout, and the text in the seat where that is a half or
    in other words."""

    row: Row
    link: str
    installed: str
    episodes: tuple[Mapping[str, Any], ...]
    more: int


@dataclass(frozen=True)
class SeatPage:
    """A seat that is replaced in a repetition: the member, its own notebook and the donor's, and the branches."""

    seat: str
    member: str
    own: Notebook | None
    donor: Notebook | None
    branches: tuple[BranchPage, ...]


def write(findings: Findings, results: Results, settings: Settings, folder: Path, pages: Mapping[str, str]) -> None:
    """Write the study's pages, its figures and their files into `folder`. Files of others stay as they are.

    Raises:
        OSError: the folder cannot be written, or holds somebody else's file where one of ours belongs.
    """
    place, drawn = Folder(folder), list(drawings(findings))
    first = FIRST if FIRST in pages else "index.html"
    put_styles(place)
    style = (TEMPLATES / "swap.css").read_text(encoding="utf-8") + figures.style()
    place.put("swap.css", b"/* " + MARK + b" */\n" + style.encode())
    if drawn:
        exports.write(drawn, folder / FIGURES)
    book = Book(results)
    links = {id(one): list(book.repetitions(one)) for one in findings.found}
    shared = {"settings": settings, "percent": percent, "link": link, "pooled": POOLED, "first": first}
    made = environment()
    made.filters["total"] = lambda parts: reduce(add, parts)
    page = made.get_template("swap.html").render(
        root="", f=findings, pages=[(file, title) for file, title in pages.items() if file != first],
        figures=[one.html(FIGURES) for one in drawn], sentences=list(sentences(findings)),
        axes={name: axis_of(table) for name, table in tables(findings).items()}, details=details,
        repetitions=links, key=id, breadth=breadth(findings, settings.seed), changed=changed(findings), **shared,
    )  # fmt: skip
    place.put(first, page.encode())
    template = made.get_template("swap_repetition.html")
    for one in findings.found:
        for at, (seed, where) in enumerate(links[id(one)]):
            around = [links[id(one)][i][1] if 0 <= i < len(links[id(one)]) else "" for i in (at - 1, at + 1)]
            page = template.render(
                root="../", finding=one, seed=seed, before=around[0], after=around[1],
                formation=book.formation(one, seed), seats=list(book.seats(one.line, seed)),
                original=book.branch(one.line, "original", "", seed), **shared,
            )  # fmt: skip
            place.put(where, page.encode())
    place.tidy("swap/*.html")


def tables(findings: Findings) -> dict[str, list[Estimate]]:
    """The estimates that share an axis."""
    return {
        name: [s.estimate for one in found for row in one.seats for s in (row.loss, row.gain)]
        + [c.summary.estimate for one in found for c in one.contrasts]
        for name, found in (("plain", findings.plain), ("conditions", findings.conditions))
    }


def axis_of(estimates: Sequence[Estimate]) -> Axis:
    """A scale in points that holds all values and most of their intervals."""
    size = max((abs(e.value) for e in estimates if e.value is not None), default=1.0)
    return Axis(estimates, next((step for step in STEPS if 1.5 * size <= 4 * step), 100.0), 100.0)


def drawings(findings: Findings) -> Iterator[Figure]:
    """The figures that there is data for."""
    levels = {one.line.task if alone(findings.plain, one) else one.name: one for one in findings.plain}
    if levels:
        yield figures.swap(
            *({level: [(row.seat or POOLED, *drawn(row.loss if which == "loss" else row.gain)) for row in one.seats]
               for level, one in levels.items()} for which in ("loss", "gain"))
        )  # fmt: skip
    groups: dict[str, list[tuple[str, float | None, float | None, float | None]]] = {}
    for one in findings.found:
        if findings.conditions:
            row = one.seats[-1]
            groups.setdefault(f"{one.line.task}, {one.team}", []).append(
                (one.line.condition or "as run", *drawn(row.loss))
            )
    if groups:
        yield figures.contrasts(
            "swap-conditions", "What a replaced member costs under each condition",
            "Continuity loss, the team with its own member minus the team with an experienced newcomer, pooled over "
            "seats. Means with 95 % intervals.", "continuity loss, points", groups,
        )  # fmt: skip
    if findings.playing_on:
        yield figures.contrasts(
            "swap-episodes", "The loss as the new team plays on",
            "Continuity loss in each episode after the swap, notebooks being rewritten after each. Means with 95 % "
            "intervals.", "continuity loss, points",
            {
                one.name: [(f"episode {i}", *drawn(s)) for i, s in enumerate(losses[:-1], 1)]
                for one, losses in findings.playing_on
            },
        )  # fmt: skip


def breadth(findings: Findings, first: int) -> list[Finding]:
    """The plain findings with more than one seat as if seats had alternated; none where they did."""
    return [
        replace(one, line=one.line.alternating(first)) for one in findings.plain
        if len(one.line.seats) > 1 and all(one.line.whole(seat) == one.line.whole() for seat in one.line.seats)
    ]  # fmt: skip


def changed(findings: Findings) -> list[tuple[Finding, Contrast]]:
    """What conditions change, in the contrasts that every line has."""
    return [(one, c) for one in findings.conditions for c in one.changes if c.name in MAIN]


def alone(found: Sequence[Finding], one: Finding) -> bool:
    """Whether no other team plays the same setting."""
    return sum(other.line.task == one.line.task for other in found) == 1


def drawn(one: Summary) -> tuple[float | None, float | None, float | None]:
    return one.mean, one.low, one.high


def link(cell: Cell, seed: int | None = None) -> str:
    """Where the browser of rollouts shows a cell, or one rollout of it."""
    if seed is None:
        return f"rollouts.html#?cell={quote(cell.id, safe='')}"
    return f"rollouts.html#{'/'.join(quote(part, safe='') for part in (cell.study, cell.id, str(seed)))}"


class Book:
    """The rows of a run, as pages ask for them."""

    def __init__(self, results: Results) -> None:
        self.rows = {(cell, seed): row for cell, rows in results for seed, row in rows.items() if row is not None}

    def row(
        self, line: Line, mode: str, models: tuple[str, ...], configuration: Configuration, seed: int
    ) -> Row | None:
        found = self.rows.get((Cell("swap", line.task, line.family, mode, models, configuration.condition), seed))
        return found if found and found["outcome"] == "scored" else None

    def repetitions(self, one: Finding) -> Iterator[tuple[int, str]]:
        """Every repetition of a line of which a branch was scored, and its page."""
        line = one.line
        name = Cell("swap", line.task, line.family, "swap", (line.receiver, line.newcomer), line.condition).id
        seeds = {seed for branches in line.seats.values() for reps in branches.values() for seed in reps}
        yield from ((seed, f"swap/{name}-{seed:04d}.html") for seed in sorted(seeds))

    def formation(self, one: Finding, seed: int) -> list[tuple[str, Row]]:
        """The formations that the repetition is made of, by model: the receiver's, then the newcomer's."""
        line, formed = one.line, Configuration.of(one.line.condition).formed
        found = []
        for model in dict.fromkeys((line.receiver, line.newcomer)):
            row = self.row(line, "formation", (model,), formed, seed)
            if row is not None:
                found.append((model, row))
        return found

    def branch(self, line: Line, mode: str, seat: str, seed: int) -> BranchPage | None:
        configuration = Configuration.of(line.condition)
        models: tuple[str, ...] = (line.receiver, line.newcomer)
        if mode == "original":
            configuration, models = configuration.unswapped, (line.receiver,)
        else:
            configuration = replace(configuration, seat=seat)
            models = (line.receiver,) if mode == "paraphrase" else models
        row = self.row(line, mode, models, configuration, seed)
        if row is None:
            return None
        cell = Cell("swap", line.task, line.family, mode, models, configuration.condition)
        episodes = row["data"]["episodes"]
        shown = row["data"]["installed"] if mode in (*HALVES, "paraphrase") else ""
        return BranchPage(row, link(cell, seed), shown, tuple(episodes[:EPISODES]), max(0, len(episodes) - EPISODES))

    def seats(self, line: Line, seed: int) -> Iterator[SeatPage]:
        formed = Configuration.of(line.condition).formed
        receiver = self.row(line, "formation", (line.receiver,), formed, seed)
        donor = self.row(line, "formation", (line.newcomer,), formed, seed)
        labelled = self.row(line, "labels", (line.newcomer,), formed, seed)
        for seat, modes in line.seats.items():
            branches = [b for mode in modes if (b := self.branch(line, mode, seat, seed)) is not None]
            if branches:
                role = branches[0].row["data"]["seat"]
                yield SeatPage(
                    seat, role, notebook(receiver, "receiver", role, None), notebook(donor, "donor", role, labelled),
                    tuple(branches),
                )  # fmt: skip


def notebook(formation: Row | None, which: str, role: str, labelled: Row | None) -> Notebook | None:
    """A frozen notebook of a formation, its lines with their labels where there are some."""
    if formation is None:
        return None
    data = formation["data"]
    text = data["teams"][data[which]]["notebooks"][role]
    labels = {line["id"]: line for line in labelled["data"]["lines"]} if labelled else {}
    lines = []
    for name, line in lines_of(role, text).items():
        known = labels.get(name)
        lines.append(NotebookLine(line, known["label"] if known else "", tuple(known["labels"]) if known else ()))
    return Notebook(f"team {'AB'[data[which]]}", digest(text), tuple(lines))
