"""Per-query exact match: the share of queries answered by exactly the right triple (paper, table 8)."""

from __future__ import annotations

from typing import Any

from graders.grade import Grade, quoted, share
from tasks.answers import QueryKey


def grade(key: QueryKey, answer: Any) -> Grade:
    """Grade a mapping from query name to `[subject, relation, object]`; unknown names earn nothing."""
    if not isinstance(answer, dict):
        return Grade(0.0, False, "the answer does not map queries to triples")
    judged: dict[str, str | None] = {}
    for name, truth in key.truth.items():
        given = answer.get(name)
        if isinstance(given, list | tuple) and all(isinstance(word, str) for word in given) and tuple(given) == truth:
            judged[name] = None
        else:
            judged[name] = f"is {' '.join(truth)}" + ("" if given is None else f", not {quoted(given)}")
    return share(judged, "queries right")
