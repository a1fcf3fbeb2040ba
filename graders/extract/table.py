"""The reader of tables: which option each row takes in each column, told from rows, from options or in columns."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import lru_cache
from itertools import pairwise
from typing import NamedTuple

from graders.extract.names import CORRECTION, NEGATED, Mention, mentions
from graders.extract.reading import Reading
from tasks.answers import TableForm

TIED = re.compile(  # what may stand between a row and its option where nothing says that they are an answer
    r"(?>\([^()\n]{0,40}\)|[\s\"':=|>@,;.()\[\]{}&#+-]|\b(?:is|are|in|at|on|to|the|an?|has|have|with|and|goes?|go|into|takes?|uses?|gets?"
    r"|placed?|put|assign(?:ed|s)?|contains?|holds?|lives?|owns?|drinks?|likes?|wears?|of|for|will|be|should|must|row)\b"
    r"|\b(?:\w{1,20})(?=[\"']?[ \t]?[:=(])|\b(?:house|bin|box|room|slot|position|colou?r|pet|drink|day)\b"
    r"){0,60}+",
    re.I,
)


class Token(NamedTuple):
    row: str  # a row, or "" for an option
    option: str
    start: int
    end: int


@lru_cache(maxsize=256)
def _columns(columns: tuple[tuple[str, tuple[str, ...]], ...]) -> dict[str, str]:
    return {option: column for column, options in columns for option in options}


def _tokens(form: TableForm, text: str, column_of: dict[str, str]) -> list[Token]:
    """Rows and options as they stand; of two of a kind with a correction between them the second one."""
    rows = mentions(form.rows, text, short=True)
    options: list[Mention] = []
    for names in form.columns.values():
        options += mentions(names, text, short=True)
    both = [Token(m.name, "", m.start, m.end) for m in rows] + [Token("", m.name, m.start, m.end) for m in options]
    kept: list[Token] = []
    for token in sorted(both, key=lambda t: (t.start, -t.end, not t.row)):
        if kept and token.start < kept[-1].end:
            continue
        if kept and column_of.get(token.option) == column_of.get(kept[-1].option):
            gap = text[kept[-1].end : token.start] if token.start - kept[-1].end < 60 else "\n"
            if "\n" not in gap and CORRECTION.search(gap):
                token = token._replace(start=kept.pop().start)
        kept.append(token)
    return [t for t in kept if not NEGATED.search(text[max(0, t.start - 40) : t.start])]


def _lines(tokens: list[Token], text: str) -> Iterator[list[Token]]:
    line: list[Token] = []
    for token in tokens:
        if line and "\n" in text[line[-1].end : token.start]:
            yield line
            line = []
        line.append(token)
    if line:
        yield line


def _pairs(tokens: list[Token], text: str, column_of: dict[str, str]) -> Iterator[tuple[Token, Token]]:
    """Rows with options. On a line that begins with a row, options belong to the row before them, or to all that stand
    side by side; else to the row after them, or rows to the option before them. A line with one kind only goes on with
    the heading above it; options below a line of rows belong to these in order."""
    header: list[Token] = []
    head: Token | None = None
    for line in _lines(tokens, text):
        kinds = {bool(t.row) for t in line}
        if kinds == {True} and len(line) > 1 and not (head and head.option):
            header, head = line, None
        elif kinds == {False} and len(line) == len(header) > 1 and len({column_of[t.option] for t in line}) == 1:
            yield from zip(header, line, strict=True)
        elif len(line) == 1 and _heads(text, line[0], head):
            head = line[0]
        elif len(kinds) == 1:
            for token in line if head and bool(head.row) != bool(line[0].row) else ():
                yield (head, token) if head and head.row else (token, head)  # type: ignore[misc]
        else:
            head = None
            yield from _row_first(line) if line[0].row else _option_first(line, text)


def _row_first(line: list[Token]) -> Iterator[tuple[Token, Token]]:
    rows: list[Token] = []
    told = False
    for token in line:
        if token.row:
            rows = [token] if told else [*rows, token]
        else:
            for row in rows:
                yield row, token
        told = bool(token.option)


def _option_first(line: list[Token], text: str) -> Iterator[tuple[Token, Token]]:
    waiting: list[Token] = []  # options since the last row
    last: list[Token] = []  # the options that the last row took
    row: Token | None = None
    for token in line:
        if token.row:
            last = waiting or last
            for option in last:
                yield token, option
            row, waiting = token, []
        elif row and not waiting and OPENED.fullmatch(text, row.end, token.start):  # row (option)
            yield row, token
        else:
            waiting.append(token)
    for option in waiting if row else ():
        yield row, option  # type: ignore[misc]


OPENED = re.compile(r"\s?[(\[]\s?")
ALONE = re.compile(r"[^\w\n]{0,9}(\n|$)")


def _heads(text: str, token: Token, head: Token | None) -> bool:
    """Whether a name stands alone on its line as a heading, under `head` at most."""
    alone = ALONE.match(text, token.end)
    before = text[max(0, token.start - 30) : token.start].rpartition("\n")[2]
    if not alone or (token.option and re.search(r"\w", before)):
        return False
    return ":" in alone[0] or "#" in before or head is None or bool(head.row) == bool(token.row)


def table(form: TableForm, text: str, labelled: bool) -> Reading:
    """A mapping from cell to option; the last definition counts."""
    column_of = _columns(tuple(form.columns.items()))
    tokens = _tokens(form, text, column_of)
    answer: dict[str, str] = {}
    start, end = (tokens[0].start, tokens[0].end) if tokens else (0, 0)
    gaps = {b.start: text[a.end : b.start] for a, b in pairwise(tokens) if b.start - a.end < 100}
    for row, option in _pairs(tokens, text, column_of):
        if not labelled and not TIED.fullmatch(gaps.get(max(row.start, option.start), "\x00")):
            continue
        answer[form.cell(row.row, column_of[option.option])] = option.option
        end = max(end, row.end, option.end)
    if not answer and labelled:
        answer = _by_columns(form, tokens, column_of)
    part = len(answer) < len(form.rows) * len(form.columns)
    return Reading(answer or None, part, not part, bool(tokens), text[start:end])


def _by_columns(form: TableForm, tokens: list[Token], column_of: dict[str, str]) -> dict[str, str]:
    """Options alone, as many of each column as there are rows, in the order of the rows."""
    told: dict[str, list[str]] = {column: [] for column in form.columns}
    for token in tokens:
        if token.option:
            told[column_of[token.option]].append(token.option)
    if any(len(options) not in (0, len(form.rows)) for options in told.values()) or any(t.row for t in tokens):
        return {}
    return {
        form.cell(row, column): option
        for column, options in told.items()
        for row, option in zip(form.rows, options, strict=False)
    }
