"""Readers of sets of cells and of paths of several walkers, on top of the reader of paths."""

from __future__ import annotations

import re
from typing import Any

from graders.extract.names import mentions
from graders.extract.path import APART, CORRECTION, cells_in, path
from graders.extract.reading import Reading
from tasks.answers import CellsForm, PathForm, PathsForm

ROW = re.compile(
    r"\brows?[ _]?(\d{1,6})\b[\"']?[ \t]*(?:\([^()\n]{0,30}\)[ \t]*)?[:=,-]?>?[ \t]*(?:\[[ \t]*)?(?:(?:at|in"
    r"|with)[ \t])?(?:columns?|cols?|c)\b[ \t:=]{0,3}\[?"
                 r"((?:[ \t]*\d{1,6}(?:[ \t]?(?:-|to)[ \t]?\d{1,6})?[ \t]*(?:,|and|&|;)?){1,200})", re.I)  # fmt: skip
ROW_LINE = re.compile(
    r"^[ \t*-]{0,9}row[ _]?(\d{1,6})[ \t]*:[ \t]*\[?"
    r"((?:\d{1,6}(?:[ \t]?-[ \t]?\d{1,6})?(?:[ \t]?[,;][ \t]?|\]?[ \t]*$)){1,200})",
    re.I | re.M,
)
SPAN = re.compile(r"(\d{1,6})(?:[ \t]?(?:-|to)[ \t]?(\d{1,6}))?")
JOINT = re.compile(
    r"(?>'[^'\d\n]{1,12}'|\"[^\"\d\n]{1,12}\"|[\s\d,;:|.\"'\[\](){}>&+-]"
    r"|\b(?:and|also|plus|as well as|then|row|column|cells?|the|start|seed"
    r"|finally|or)\b|\([^()\d\n]{1,40}\)){0,60}+",
    re.I,
)
FILLED = re.compile(r"\b(?:visited|reach\w*|filled)\b[^\n]{0,30}$", re.I)
REACHED = re.compile(r"\b(?:visited|reach\w*|filled|free|open)\b[^\n]{0,30}$", re.I)
MOST = 1000  # names of walkers that are looked at
WIDE = 100  # cells that "columns 1-100" may stand for


def _rows(text: str) -> tuple[list[list[int]], int, int]:
    """The cells of "row 2: columns 1, 3-5"."""
    cells: list[list[int]] = []
    start, end = len(text), 0
    for found in sorted([*ROW.finditer(text), *ROW_LINE.finditer(text)], key=lambda m: m.start()):
        spans = list(SPAN.finditer(found[2]))
        if found.re is ROW and len(spans) < 2 and not (spans and spans[0][2]) and "columns" not in found[0].lower():
            continue
        for span in spans:
            first, last = int(span[1]), int(span[2] or span[1])
            cells += [[int(found[1]), column] for column in range(first, min(last, first + WIDE) + 1)]
        start, end = min(start, found.start()), found.end()
    return cells, start, end


def cells(form: CellsForm, text: str, labelled: bool) -> Reading:
    """A set of cells: the first list of them where it is labelled, unless corrected, else the last list that is not
    about walls."""
    rows, start, end = _rows(text)
    if len(rows) > 1:
        return Reading(_unique(rows), False, True, True, text[start:end])
    runs: list[list[Any]] = []  # cells, start, end, lead
    end = 0
    for cell, begin, stop in cells_in(PathForm(unit=False), text, labelled):
        gap = text[end:begin] if begin - end <= 200 else "\x00"
        listed = (
            bool(runs)
            and runs[-1][4]
            and "\n" in gap
            and bool(JOINT.fullmatch(gap.rpartition("\n")[2]))
            and "\n\n" not in gap
        )
        if runs and not CORRECTION.search(gap) and (JOINT.fullmatch(gap) or listed):
            runs[-1][0].append(cell)
            runs[-1][2] = stop
        else:
            line = text[max(0, begin - 60) : begin].rpartition("\n")[2]
            runs.append([[cell], begin, stop, text[max(end, begin - 60) : begin], bool(JOINT.fullmatch(line))])
        end = stop
    chosen: list[Any] | None = None
    for run in runs:
        if APART.search(run[3]) and not (REACHED if labelled else FILLED).search(run[3]):
            continue
        better = (
            CORRECTION.search(run[3]) or (len(run[0]) > 1 and (not labelled or len(chosen[0]) < 2)) if chosen else True
        )
        if better:
            chosen = run
    if chosen is None or ".." in text[chosen[1] : chosen[2]]:
        return Reading(hint=bool(runs))
    found = _unique(chosen[0])
    return Reading(found, not labelled and len(found) < 2, len(found) > 2, True, text[chosen[1] : chosen[2]])


def _unique(cells: list[list[int]]) -> list[list[int]]:
    return [list(cell) for cell in dict.fromkeys(map(tuple, cells))]


HEADS = re.compile(
    r"[\"')\]]{0,2}(?:'s)?[^\n:=|(\[]{0,40}(?:\((?=\W{0,3}[A-Za-z]{3})(?:[^()\n]"
    r"|\([^()\n]{0,20}\)){0,80}\)|\[[^\[\]\n]{0,40}\](?=:))?[^\n:=|(\[]{0,20}(?::|=|->|\||\n|(?=[(\[]))",
    re.I,
)


def paths(form: PathsForm, text: str, labelled: bool) -> Reading:
    """A mapping from walker to its cells: what stands between its name and the next one. The first path of several
    cells where it is labelled, unless corrected, else the last one; or one cell from each of several places."""
    one = PathForm(waits=form.waits)
    found_marks = [
        (m, HEADS.match(text, m.end)) for m in mentions(form.walkers, _without_cells(text), short=True)[:MOST]
    ]
    marks = [m for m, heads in found_marks if heads]
    begins = [heads.end() for _, heads in found_marks if heads]
    columns = _in_columns(form, text, marks)
    if columns:
        return Reading(columns, len(columns) < len(form.walkers), True, True, text[marks[0].start :])
    answer: dict[str, Any] = {}
    steps: dict[str, list[list[int]]] = {}
    start, end = (marks[0].start, marks[0].end) if marks else (0, 0)
    stops = [*(m.start for m in marks[1:]), len(text)]
    for mark, begin, stop in zip(marks, begins, stops, strict=False):
        body = text[begin:stop]
        found = path(one, body, labelled=True)
        if found.answer is None or not (labelled or found.solid or len(found.answer) == 1):
            continue
        if len(found.answer) == 1:
            steps.setdefault(mark.name, []).append(found.answer[0])
        elif mark.name not in answer or not labelled or CORRECTION.search(text[max(0, mark.start - 60) : mark.start]):
            answer[mark.name] = found.answer
        else:
            continue
        end = begin + body.find(found.text) + len(found.text)
    if not answer and all(len(cells) > 1 for cells in steps.values()):
        answer = steps
    elif answer:
        answer = {name: cells for name, cells in steps.items() if len(cells) == 1} | answer
    elif labelled:
        answer = steps
    part = len(answer) < len(form.walkers)
    solid = not part and all(len(cells) > 1 for cells in answer.values())
    return Reading(answer or None, part, solid, bool(marks), text[start:end])


def _without_cells(text: str) -> str:
    """`text` with the digits of its cells as other signs, so that no walker is found there."""
    parts: list[str] = []
    at = 0
    for _, start, end in cells_in(PathForm(), text, False):
        parts += text[at:start], "#" * (end - start)
        at = end
    return "".join([*parts, text[at:]])


def _in_columns(form: PathsForm, text: str, marks: list[Any]) -> dict[str, list[list[int]]] | None:
    """The paths in a table with a column for each walker."""
    for first in range(len(marks)):
        header = marks[first : first + len(form.walkers)]
        if len({m.name for m in header}) < len(form.walkers) or "\n" in text[header[0].start : header[-1].end]:
            continue
        if cells_in(PathForm(), text[header[0].start : header[-1].end], False):
            continue
        answer: dict[str, list[list[int]]] = {m.name: [] for m in header}
        for line in text[header[-1].end :].split("\n")[1:]:
            found = cells_in(PathForm(), line, False) if line.strip() else []
            if len(found) == len(header):
                for mark, cell in zip(header, found, strict=True):
                    answer[mark.name].append(cell[0])
            elif line.strip():
                break
        if all(answer.values()):
            return answer
        return None
    return None
