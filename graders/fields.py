"""Answers that give each item its own value: the share of items that are right (paper, table 8)."""

from __future__ import annotations

from typing import Any

from graders.grade import Grade, name_of, nothing, number_of, quoted, share
from tasks.answers import ChoiceKey, FieldsKey, Value


def equal(truth: Value, given: Any) -> bool:
    """Whether a value is the right one: names without case, numbers however written, sets in any order."""
    if isinstance(truth, int):
        return number_of(given) == truth
    if isinstance(truth, str):
        return name_of(given) == name_of(truth)
    if not isinstance(given, list | tuple | frozenset):
        return False
    names = [name_of(one) for one in given]
    told = [name_of(one) for one in truth]
    return set(names) == set(told) if isinstance(truth, frozenset) else names == told


def in_words(truth: Value) -> str:
    """A right value for a reason."""
    if isinstance(truth, frozenset):
        return ", ".join(sorted(truth)) or "nothing"
    return " ".join(truth) if isinstance(truth, tuple) else str(truth)


def fields(key: FieldsKey, answer: Any) -> Grade:
    """Grade a mapping from item to value, exact match for each; unknown items earn nothing."""
    if not isinstance(answer, dict):
        return nothing("the answer does not map items to values")
    judged: dict[str, str | None] = {}
    for item, truth in key.truth.items():
        given = answer.get(item)
        right = given is not None and equal(truth, given)
        judged[item] = None if right else f"is {in_words(truth)}" + ("" if given is None else f", not {quoted(given)}")
    return share(judged, "items right")


def choices(key: ChoiceKey, answer: Any) -> Grade:
    """Grade a mapping from item to value; any of an item's right values is right, unknown items earn nothing."""
    if not isinstance(answer, dict):
        return nothing("the answer does not map items to values")
    judged: dict[str, str | None] = {}
    for item, right in key.right.items():
        given = answer.get(item)
        if isinstance(given, str) and given in right:
            judged[item] = None
        else:
            judged[item] = "has no value" if given is None else f"cannot be {quoted(given)}"
    return share(judged, "items right")
