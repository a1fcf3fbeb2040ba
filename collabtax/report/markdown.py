"""The summary as Markdown, for a pull request or the page of a CI job (`--markdown FILE`, `GITHUB_STEP_SUMMARY`)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from collabtax.cells import printable
from collabtax.report.summary import Summary
from collabtax.report.text import interval, number


def cell(text: str) -> str:
    """One cell of a table: what a model is called can neither leave it nor be read as HTML."""
    return printable(text).translate({ord(c): f"&#{ord(c)};" for c in "|<>&`*_[]\\~$@#!"})


def table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> Iterator[str]:
    if rows:
        yield ""
        for row in (head, ["---"] * len(head), *rows):
            yield f"| {' | '.join(row)} |"


def lines(summary: Summary, compared: Sequence[str]) -> Iterator[str]:
    """Warnings, the table of models, pairs, counts, and the comparison with a baseline."""
    yield "## Collaboration tax"
    for warning in summary.warnings:
        yield f"\n> **Warning:** {cell(warning)}"
    yield from table(
        ["model", "family", "solo", "homo", "tax", "ratio gap", "tasks"],
        [
            [
                cell(x.model),
                x.scope,
                number(x.solo),
                number(x.homo),
                interval(x.tax),
                interval(x.ratio),
                str(len(x.tasks)),
            ]
            for x in summary.lines
        ],
    )
    yield from table(
        ["initiator", "responder", "pair", "tax", "minus other order"],
        [
            [*map(cell, pair.models), number(pair.v12.value), interval(pair.tax), interval(seats, "+")]
            for pair, seats in summary.pairs
        ],
    )
    yield f"\n{cell(summary.counts.line)}; {cell(summary.spent)}"
    if compared:
        yield "\n<details open><summary>Baseline</summary>\n\n```text"
        yield from (line.replace("```", "'''") for line in compared)
        yield "```\n\n</details>"
