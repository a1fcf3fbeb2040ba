"""What a grading rule returns, and how rules read values.

Answers are plain JSON, tuples allowed. Types are compared exactly: a subclass or any other object may raise on the most
innocent question, even `isinstance`, so it is never asked one; it counts as a wrong value.
"""

from __future__ import annotations

import re
import reprlib
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

LISTS = (list, tuple)
WHOLE = re.compile(r"\s*[+-]?[0-9]{1,18}\s*")
_short = reprlib.Repr()
_short.maxlist = _short.maxtuple = _short.maxdict = 8
_short.maxlevel, _short.maxstring, _short.maxlong = 3, 80, 80


def quoted(value: Any) -> str:
    """A short quotation of any value for a reason, numbers too long to print and bottomless lists included."""
    try:
        return f"{_short.repr(value):.80}"
    except Exception:
        return f"some {type(value).__name__}"


def listed(answer: Any) -> bool:
    """Whether an answer is a list that is not empty."""
    return type(answer) in LISTS and len(answer) > 0


def mapped(answer: Any) -> dict[str, Any] | None:
    """What a mapping says under texts, None for what is no mapping. Other keys are left behind: looking a name up
    among them would ask them whether they are equal to it."""
    return {key: value for key, value in answer.items() if type(key) is str} if type(answer) is dict else None


def name_of(value: Any) -> str | None:
    """A name as it is compared: without regard to case and blanks; a whole number is the name that it spells."""
    if type(value) is int and abs(value) < 10**9:
        value = str(value)
    return " ".join(value[:99].casefold().split()) or None if type(value) is str else None


def number_of(value: Any) -> int | None:
    """A whole number, given as one, as a float without a fraction, or in digits."""
    if type(value) is str and WHOLE.fullmatch(value[:99]):
        return int(value)
    if type(value) is float and value.is_integer():
        return int(value)
    return value if type(value) is int else None


@dataclass(frozen=True)
class Grade:
    """`score` in [0, 1]; `success` only for a full one; `reason` in words a person can check against the instance;
    `where` is plain JSON that says at which part of the answer the score was lost, for drawing it."""

    score: float
    success: bool
    reason: str
    where: Any = None


def nothing(reason: str) -> Grade:
    """The grade of what cannot be an answer."""
    return Grade(0.0, False, reason)


def share(judged: Mapping[str, str | None], praise: str) -> Grade:
    """The share of items that are right. `judged` says of each item what is wrong with it, None if nothing is; `praise`
    names what right ones are, such as "queries right"."""
    wrong = {name: fault for name, fault in judged.items() if fault is not None}
    right = [name for name in judged if name not in wrong]
    where = {"right": right, "wrong": list(wrong)}
    if not wrong:
        return Grade(1.0, True, f"all {len(right)} {praise}", where)
    first, fault = next(iter(wrong.items()))
    reason = f"{len(right)} of {len(judged)} {praise}; {first} {fault}"
    return Grade(len(right) / len(judged), False, reason, where)
