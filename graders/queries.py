"""Per-query exact match: the share of queries answered by exactly the right triple (paper, table 8)."""

from __future__ import annotations

from typing import Any

from graders.grade import Grade, quoted
from tasks.answers import QueryKey


def grade(key: QueryKey, answer: Any) -> Grade:
    """Grade a mapping from query name to `[subject, relation, object]`; unknown names earn nothing."""
    if not isinstance(answer, dict):
        return Grade(0.0, False, "the answer does not map queries to triples")
    right: list[str] = []
    wrong: dict[str, str] = {}
    for name, truth in key.truth.items():
        given = answer.get(name)
        if isinstance(given, list | tuple) and all(isinstance(word, str) for word in given) and tuple(given) == truth:
            right.append(name)
        else:
            wrong[name] = " ".join(truth) if given is None else f"{' '.join(truth)}, not {quoted(given)}"
    value = len(right) / len(key.truth)
    where = {"right": right, "wrong": list(wrong)}
    if not wrong:
        return Grade(1.0, True, f"all {len(right)} queries right", where)
    first = next(iter(wrong))
    return Grade(value, False, f"{len(right)} of {len(key.truth)} queries right; {first} is {wrong[first]}", where)
