"""What a grading rule returns."""

from __future__ import annotations

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
