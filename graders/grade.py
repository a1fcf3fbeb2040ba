"""What a grading rule returns."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any


def quoted(value: Any) -> str:
    """A short quotation of any value for a reason: numbers too long to print and bottomless lists included."""
    try:
        return f"{value!r:.80}"
    except Exception:
        return f"some {type(value).__name__}"


@dataclass(frozen=True)
class Grade:
    """`score` in [0, 1]; `success` only for a full one; `reason` in words a person can check against the instance;
    `where` is plain JSON that says at which part of the answer the score was lost, for drawing it."""

    score: float
    success: bool
    reason: str
    where: Any = None


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
