"""How an answer becomes a score: reading it out of a transcript (`extract`) and grading it (`RULES`)."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from graders import assignments, fields, orders, paths, plans, sets, values
from graders.grade import Grade
from tasks.base import Task

VERSION = 1  # raised whenever any score or any reading of an answer can change

RULES: dict[str, Callable[[Any, Any], Grade]] = {
    "path": paths.path,
    "cheapest": paths.cheapest,
    "route": paths.route,
    "cells": paths.cells,
    "joint": plans.joint,
    "links": plans.links,
    "groups": sets.groups,
    "pairs": sets.pairs,
    "trail": sets.trail,
    "kendall": orders.kendall,
    "circular": orders.circular,
    "ranking": orders.ranking,
    "number": values.number,
    "text": values.text,
    "grid": values.grid,
    "fields": fields.fields,
    "choices": fields.choices,
    "bins": assignments.bins,
    "constraints": assignments.constraints,
}


def grade(task: Task[Any], instance: Any, answer: Any) -> Grade:
    """Grade a structured answer, however malformed. Never raises for any `answer`.

    Returns:
        A grade whose score lies in [0, 1]; 1 exactly for a full success; 0 with a reason for nothing.
    """
    if answer is None:
        return Grade(0.0, False, "no answer")
    return RULES[task.rule](task.key(instance), answer)


__all__ = ["RULES", "VERSION", "Grade", "grade"]
