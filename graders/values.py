"""Answers that are one value: a number, a text, a grid of letters. Letters compare without case."""

from __future__ import annotations

from typing import Any

from graders.grade import Grade, nothing, number_of, quoted
from tasks.answers import GridKey, NumberKey, TextKey


def number(key: NumberKey, answer: Any) -> Grade:
    """Grade a number: right or wrong."""
    given = number_of(answer)
    if given is None:
        return nothing("the answer is not a whole number")
    right = given == key.number
    return Grade(float(right), right, f"is {key.number}" + ("" if right else f", not {given}"))


def text(key: TextKey, answer: Any) -> Grade:
    """Grade a text by the share of characters that are right in their places; of the longer text, if lengths differ."""
    if not isinstance(answer, str) or not answer.strip():
        return nothing("the answer is not a text")
    given = " ".join(answer[:9999].upper().split())
    right = [a == b for a, b in zip(key.text, given, strict=False)]
    where = {"right": [place for place, same in enumerate(right) if same], "given": given[: 2 * len(key.text)]}
    if given == key.text:
        return Grade(1.0, True, "every character is right", where)
    longer = max(len(given), len(key.text))
    return Grade(sum(right) / longer, False, f"{sum(right)} of {longer} characters are right", where)


def grid(key: GridKey, answer: Any) -> Grade:
    """Grade lines of letters by the share of letter cells that are right; what stands elsewhere is not looked at."""
    if not isinstance(answer, list | tuple) or not answer:
        return nothing("the answer is not a list of lines")
    lines = [line.upper() if isinstance(line, str) else "" for line in answer[: len(key.rows)]]
    if not any(lines):
        return nothing("the answer is not a list of lines")
    letters = [(r, c) for r, row in enumerate(key.rows) for c, mark in enumerate(row) if mark != "#"]
    right = [(r, c) for r, c in letters if r < len(lines) and lines[r][c : c + 1] == key.rows[r][c]]
    where = {"right": [list(cell) for cell in right], "rows": [line[: len(key.rows[0])] for line in lines]}
    reason = f"{len(right)} of {len(letters)} letters are right"
    wrong = next(((r, c) for r, c in letters if (r, c) not in right), None)
    if wrong:
        found = lines[wrong[0]][wrong[1] : wrong[1] + 1] if wrong[0] < len(lines) else ""
        reason += f"; line {wrong[0] + 1}, place {wrong[1] + 1} is {key.rows[wrong[0]][wrong[1]]}, not {quoted(found)}"
    return Grade(len(right) / len(letters), wrong is None, reason, where)
