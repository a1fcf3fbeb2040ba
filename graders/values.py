"""Answers that are one value: a number, a text, a grid of letters. Letters compare without case."""

from __future__ import annotations

from typing import Any

from graders.grade import Grade, listed, nothing, number_of, quoted
from tasks.answers import GridKey, NumberKey, TextKey

LONGEST = 9999  # characters of a text that are looked at


def number(key: NumberKey, answer: Any) -> Grade:
    """Grade a number: right or wrong."""
    given = number_of(answer)
    if given is None:
        return nothing("the answer is not a whole number")
    right = given == key.number
    return Grade(float(right), right, f"is {key.number}" + ("" if right else f", not {quoted(given)}"))


def text(key: TextKey, answer: Any) -> Grade:
    """Grade a text by the share of letters that are right in their places, of the longer text if lengths differ.

    Blanks are left out on both sides: the cipher text shows where words end, so they are no work, and counting them
    would pay for a text without a right letter.
    """
    given = "".join(answer[:LONGEST].upper().split()) if type(answer) is str else ""
    if not given:
        return nothing("the answer is not a text")
    places = [place for place, mark in enumerate(key.text) if mark != " "]
    right = [place for place, mark in zip(places, given, strict=False) if mark == key.text[place]]
    whole = max(len(given), len(places))
    where = {"right": right, "given": given[: 2 * len(key.text)]}
    if len(right) == whole:
        return Grade(1.0, True, "every letter is right", where)
    return Grade(len(right) / whole, False, f"{len(right)} of {whole} letters are right", where)


def grid(key: GridKey, answer: Any) -> Grade:
    """Grade lines of letters by the share of letter cells that are right; what stands elsewhere is not looked at.

    A line that is not as long as the grid is wide is read without its blanks, as in `C A T`.
    """
    if not listed(answer):
        return nothing("the answer is not a list of lines")
    width = len(key.rows[0])
    lines = []
    for row in range(len(key.rows)):
        line = answer[row][:LONGEST].upper() if row < len(answer) and type(answer[row]) is str else ""
        lines.append(line if len(line) == width else "".join(line.split()))
    if not any(lines):
        return nothing("the answer is not a list of lines")
    letters = [(r, c) for r, row in enumerate(key.rows) for c, mark in enumerate(row) if mark != "#"]
    wrong = [(r, c) for r, c in letters if lines[r][c : c + 1] != key.rows[r][c]]
    right = [[*cell] for cell in letters if cell not in set(wrong)]
    where = {"right": right, "rows": [line[:width] for line in lines]}
    reason = f"{len(right)} of {len(letters)} letters are right"
    if wrong:
        r, c = wrong[0]
        reason += f"; line {r + 1}, place {c + 1} is {key.rows[r][c]}, not {quoted(lines[r][c : c + 1])}"
    return Grade(len(right) / len(letters), not wrong, reason, where)
