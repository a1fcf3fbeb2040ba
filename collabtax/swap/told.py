"""What the results of the swap say, in the terminal and in Markdown; its pages are in `pages`."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import ClassVar

from collabtax.cells import printable
from collabtax.report import markdown
from collabtax.report.text import number, table
from collabtax.settings import Settings
from collabtax.statistics.swap import Contrast, Summary
from collabtax.study import Number, Results, Told
from collabtax.swap.findings import SEATWISE, Finding, Findings, SeatRow, findings, interval

POOLED = "both"  # the name of pooled seats
SEATS = ("setting", "team", "seat", "orig", "exp", "fresh", "loss [95 %]", "gain [95 %]", "msg %", "tok %", "n")
CONTRASTS = ("setting", "team", "seat", "contrast", "mean [95 %]", "sd", "k/n")
MAIN = (*SEATWISE, "seat asymmetry")  # contrasts that every line with two seats has
CHANGES = ("setting", "condition", "team", "seat", "contrast", "minus the plain one [95 %]", "k/n")


class SwapTold(Told):
    """What a replaced member costs, seat by seat."""

    name: ClassVar[str] = "swap"
    title: ClassVar[str] = "one-seat swap"
    question: ClassVar[str] = "What does a formed team lose when one of its members is replaced, and by whom best?"

    def __init__(self, results: Results, settings: Settings) -> None:
        self.results, self.settings = results, settings
        self.findings = findings(results, settings)

    def headline(self) -> list[Number]:
        return list(headline(self.findings))

    def warnings(self) -> Sequence[str]:
        return self.findings.warnings

    def lines(self, unplayed: Mapping[str, int]) -> list[str]:
        return list(lines(self.findings, unplayed))

    def markdown(self, compared: Sequence[str]) -> list[str]:
        return list(in_markdown(self.findings, compared))

    def write(self, folder: Path, pages: Mapping[str, str]) -> None:
        from collabtax.swap import pages as swap_pages

        swap_pages.write(self.findings, self.results, self.settings, folder, pages)


def headline(f: Findings) -> Iterator[Number]:
    """Of the comparison that loses most: loss, gain, and how the seats differ."""
    known = [one for one in f.plain or f.found if one.seats and one.seats[-1].loss.mean is not None]
    if not known:
        return
    one = max(known, key=lambda x: (x.seats[-1].loss.mean or 0.0, x.name))
    row, most = one.seats[-1], "largest " * (len(known) > 1)
    said = {
        f"{most}continuity loss": (
            row.loss,
            f"The team scores {number(row.original)} points with its own member and {number(row.experienced)} with an "
            "experienced newcomer",
        ),
        "experience gain": (
            row.gain,
            f"The newcomer that keeps its notebook brings {number(row.experienced)} points, one with an empty notebook "
            f"{number(row.fresh)}",
        ),
        "seat asymmetry": (
            one.of("", "seat asymmetry"),
            "By so many points a notebook is worth more in the second seat than in the first one",
        ),
    }  # fmt: skip
    for name, (found, meaning) in said.items():
        if found.mean is not None:
            ends = "" if found.low is None else f"{number(found.low, '+')} to {number(found.high, '+')}"
            chance = "" if found.sign else "; whether that is more than chance cannot be told"
            yield Number(f"{name}: {one.name}", number(found.mean, "+"), ends, f"{meaning}{chance}.")


def percent(value: float | None) -> str:
    return "-" if value is None else f"{round(value, 1) + 0.0:+.1f}"


def seat_cells(row: SeatRow) -> list[str]:
    """The cells of a row of the table of seats, from the seat on."""
    return [
        row.seat or POOLED, number(row.original), number(row.experienced), number(row.fresh),
        interval(row.loss), interval(row.gain), *(percent(row.costs[what][2]) for what in ("messages", "tokens")),
        str(row.n),
    ]  # fmt: skip


def contrast_cells(one: Contrast) -> list[str]:
    found = one.summary
    return [one.seat or POOLED, one.name, interval(found), number(found.sd), share(found)]


def share(found: Summary) -> str:
    return f"{found.k}/{found.n}"


def details(one: Finding) -> list[Contrast]:
    """The contrasts that the table of seats does not have; nothing for a line that has only those."""
    return [c for c in one.contrasts if c.name not in SEATWISE]


def lines(f: Findings, unplayed: Mapping[str, int]) -> Iterator[str]:
    """The terminal's lines; `unplayed` counts the recordings of each cell that were not asked for."""
    for warning in f.warnings:
        yield f"WARNING: {printable(warning)}"
    if not f.found:
        yield "no branch with a newcomer was scored, so there is nothing to compare"
    yield from seat_table(SEATS, f.plain)
    if f.plain:
        yield ""
        yield from table(
            CONTRASTS,
            [[one.line.task, printable(one.team), *contrast_cells(c)] for one in f.plain for c in details(one)], 4,
        )  # fmt: skip
    if f.conditions:
        yield ""
        yield from seat_table(("condition", *SEATS), f.conditions)
    if changed := [(one, c) for one in f.conditions for c in one.changes if c.name in MAIN]:
        yield ""
        yield from table(
            CHANGES,
            [
                [one.line.task, one.line.condition, printable(one.team), c.seat or POOLED, c.name,
                 interval(c.summary), share(c.summary)]
                for one, c in changed
            ], 5,
        )  # fmt: skip
    said = list(sentences(f))
    yield from ["", *map(printable, said)] if said else []
    yield ""
    if f.power:
        yield f.power
    yield f.counts.line
    yield f.spent
    for note in f.notes:
        yield printable(note)
    if unplayed:
        told = ", ".join(f"{printable(cell)} {n}" for cell, n in sorted(unplayed.items())[:5])
        yield f"recordings that were not asked for: {sum(unplayed.values())} in {len(unplayed)} cells: {told}" + (
            ", ..." if len(unplayed) > 5 else ""
        )


def seat_table(head: Sequence[str], found: Sequence[Finding]) -> Iterator[str]:
    """The table of seats, with the condition in front where the head has one."""
    if found:
        first = [[one.line.condition] if head[0] == "condition" else [] for one in found]
        body = [
            [*condition, one.line.task, printable(one.team), *seat_cells(row)]
            for one, condition in zip(found, first, strict=True) for row in one.seats
        ]  # fmt: skip
        yield from table(head, body, head.index("seat") + 1)


def sentences(f: Findings) -> Iterator[str]:
    """What follows, in words."""
    for one in f.plain:
        for seat, said in f.verdicts(one).items():
            yield f"{one.name}: replace the {seat}: {said}"
    for one, parts in f.formation:
        yield (
            f"{one.name}: of the {interval(parts['built'])} points that formation built, the notebooks of those who "
            f"stay keep {interval(parts['kept'])}, an imported one brings back {interval(parts['recovered'])}, and "
            f"{interval(parts['left'])} leave with the member"
        )
    for one, planners, reduction, changes in f.planning:
        costs = " and ".join(f"{what} by {interval(s)} %" for what, s in changes.items() if s.n)
        costs = f"; per unit of progress they change {costs}" if costs else ""
        yield f"{one.name}: {planners} planners in place of 2 lower the loss by {interval(reduction)}{costs}"
    for one, by_episode in f.playing_on:
        *losses, ends = by_episode
        yield (
            f"{one.name}: loss by episode played together {', '.join(number(s.mean, '+') for s in losses)}; from the "
            f"first to the last it changes by {interval(ends)}"
        )


def in_markdown(f: Findings, compared: Sequence[str]) -> Iterator[str]:
    """Warnings, the tables, verdicts, counts, and the comparison with a baseline."""
    cell = markdown.cell
    yield "## One-seat swap"
    for warning in f.warnings:
        yield f"\n> **Warning:** {cell(warning)}"
    yield from markdown.table(
        ("condition", *SEATS),
        [
            [cell(one.line.condition), one.line.task, cell(one.team), *seat_cells(row)]
            for one in (*f.plain, *f.conditions) for row in one.seats
        ],
    )  # fmt: skip
    yield from markdown.table(
        CONTRASTS, [[one.line.task, cell(one.team), *contrast_cells(c)] for one in f.plain for c in details(one)]
    )
    if said := list(sentences(f)):
        yield ""
        yield from (f"- {cell(one)}" for one in said)
    yield f"\n{cell(f.counts.line)}; {cell(f.spent)}"
    if f.power:
        yield f"\n{cell(f.power)}"
    if compared:
        yield "\n<details open><summary>Baseline</summary>\n\n```text"
        yield from (line.replace("```", "'''") for line in compared)
        yield "```\n\n</details>"
