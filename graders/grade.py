"""What a grading rule returns, and how rules compare values."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

FAR = 10**6  # numbers beyond it are cut to it: no grid reaches that far, no count either


def quoted(value: Any) -> str:
    """A short quotation of any value for a reason: numbers too long to print and bottomless lists included."""
    try:
        return f"{value!r:.80}"
    except Exception:
        return f"some {type(value).__name__}"


def name_of(value: Any) -> str | None:
    """A name as it is compared: without regard to case and blanks; a whole number is the name that it spells."""
    if isinstance(value, int) and not isinstance(value, bool):
        value = str(max(-FAR, min(value, FAR)))
    return " ".join(value[:999].casefold().split()) if isinstance(value, str) else None


def number_of(value: Any) -> int | None:
    """A whole number, given as one, as a float without a fraction, or in digits; cut to `FAR`."""
    if isinstance(value, str) and len(value) < 20:
        text = value.strip().removeprefix("+")
        value = int(text) if text.removeprefix("-").isdecimal() and text.isascii() else None
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    return max(-FAR, min(value, FAR)) if isinstance(value, int) and not isinstance(value, bool) else None


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
