"""The reader of grids of letters: lines with or without blanks, tables, JSON, numbered rows."""

from __future__ import annotations

import re

from graders.extract.reading import Reading
from tasks.answers import GridForm

BLACK = "#._*-=■□█▪▓⬛⬜◼◻▮▢@+?~"
LABEL = re.compile(
    r"[ \t]*(?:[-*+][ \t]+)?(?:(?:row|line|across|r)[ \t]?#?\d{1,3}[ \t]*[:.)=|-]?|\d{1,3}[ \t]*[:.)|])[ \t]*", re.I
)
SEPARATORS = re.compile(r"[\s,;|\"'\[\]{}()]+")
EMPTY = re.compile(r"[\s\[\](){},|+=-]*")
LIST = re.compile(r"\[([^\[\]\n]{1,2000})\]")
INLINE = re.compile(r"\b(?:row|line)[ \t]?#?\d{1,3}[ \t]*[:.)=-]?[ \t]", re.I)


def _row(form: GridForm, line: str, inside: bool = False) -> str | None:
    """A line as a row, or None if it is none: as long as the grid is wide, or nearly. `inside`: rows stand above it."""
    if len(line) > 20 * form.width + 60:
        return None
    label = LABEL.match(line)
    if label and label.end() < len(line.rstrip()):
        line = line[label.end() :]
    parts = [part for part in SEPARATORS.split(line) if part]
    bullet = bool(parts) and parts[0] in ("-", "*", "+")
    marked = bullet or (bool(parts) and parts[0].isdigit())
    if (len(parts) == form.width + 1 and marked) or (len(parts) == 2 and bullet and len(parts[1]) == form.width):
        parts = parts[1:]
    row = "".join(parts)
    if len(row) == form.width + 1 and row[-1] in ".?!":
        row = row[:-1]
    spaced = len(parts) > 1 and all(len(part) == 1 for part in parts)
    if len(parts) > 1 and not spaced and len(row) != form.width:
        return None
    if len(parts) > 1 and not spaced and row != row.upper():  # words
        return None
    if not row or not all(c.isalpha() or c in BLACK for c in row):
        return None
    if inside and spaced and 1 < len(row) <= 2 * form.width:
        return "".join(c.upper() if c.isalpha() else "#" for c in row)
    if len(row) != form.width and not (
        abs(len(row) - form.width) <= max(2, form.width // 4) and (spaced or row == row.upper()) and len(row) > 1
    ):
        return None
    return "".join(c.upper() if c.isalpha() else "#" for c in row)


def _inline(form: GridForm, text: str) -> list[str] | None:
    """Rows on one line: quoted, in lists of letters, or parted by signs."""
    text = INLINE.sub(" ", text)
    lists = [_row(form, m[1]) for m in LIST.finditer(text)]
    rows = [row for row in lists if row and len(row) == form.width]
    if len(rows) != form.height:
        words = [part for part in re.split(r"[\s,;/|\"'\[\]()]+", text) if part]
        rows = [row for word in words if len(word) == form.width and (row := _row(form, word))]
        if len(rows) != form.height or len(words) > form.height + 3:
            return None
    return rows


def grid(form: GridForm, text: str, labelled: bool) -> Reading:
    """The lines of a grid: the first block as high as the form where it is labelled, else the last one."""
    blocks: list[tuple[list[str], int, int]] = []
    at, open_ = 0, False
    for line in text.split("\n"):
        short = len(line) < 40 * form.height * max(form.width, 1) + 200
        inside = _inline(form, line) if short and len(line) >= form.height * (form.width + 1) - 1 else None
        row = _row(form, line, open_) if line.strip() and not inside else None
        if inside:
            blocks.append((inside, at, at + len(line)))
            open_ = False
        elif row:
            if not open_ or len(blocks[-1][0]) >= form.height:
                blocks.append(([], at, at))
            rows, start, _ = blocks[-1]
            rows.append(row)
            blocks[-1] = rows, start, at + len(line)
            open_ = True
        elif not EMPTY.fullmatch(line):
            open_ = False
        at += len(line) + 1
    whole = [b for b in blocks if len(b[0]) == form.height and all(len(row) == form.width for row in b[0])]
    if whole:
        rows, start, end = whole[0 if labelled else -1]
        return Reading(rows, False, True, True, text[start:end])
    ragged = [b for b in blocks if len(b[0]) > 1 or (form.height == 1 and b[0])]
    if not ragged:
        return Reading(hint=False)
    rows, start, end = max(ragged, key=lambda b: len(b[0]))
    return Reading(rows, len(rows) < form.height, False, True, text[start:end])
