"""Slots: the share of events placed at a time at which everybody they need is there (paper, table 8)."""

from __future__ import annotations

from typing import Any

from graders.grade import Grade, quoted, share
from tasks.answers import SlotKey


def grade(key: SlotKey, answer: Any) -> Grade:
    """Grade a mapping from event to a time `HH:MM` in UTC; any feasible time is right, unknown events earn nothing."""
    if not isinstance(answer, dict):
        return Grade(0.0, False, "the answer does not map events to times")
    judged: dict[str, str | None] = {}
    for event, feasible in key.feasible.items():
        given = answer.get(event)
        if isinstance(given, str) and given in feasible:
            judged[event] = None
        else:
            judged[event] = "is not placed" if given is None else f"cannot be at {quoted(given)}"
    return share(judged, "events feasible")
