"""Answers that give each item its own value: the share of items that are right (paper, table 8)."""

from __future__ import annotations

from typing import Any

from graders.grade import LISTS, Grade, mapped, name_of, nothing, number_of, quoted, share
from tasks.answers import ChoiceKey, FieldsKey, Value

NO_MAPPING = "the answer does not map items to values"


def equal(truth: Value, given: Any) -> bool:
    """Whether a value is the right one: names without case, numbers however written, sets in any order."""
    if isinstance(truth, int):
        return number_of(given) == truth
    if isinstance(truth, str):
        return name_of(given) == name_of(truth)
    if type(given) not in LISTS:
        return False
    names, right = [*map(name_of, given)], [*map(name_of, truth)]
    return set(names) == set(right) if isinstance(truth, frozenset) else names == right


def in_words(truth: Value) -> str:
    """A right value for a reason."""
    if isinstance(truth, frozenset):
        return ", ".join(sorted(truth)) or "nothing"
    return " ".join(truth) if isinstance(truth, tuple) else str(truth)


def fields(key: FieldsKey, answer: Any) -> Grade:
    """Grade a mapping from item to value, exact match for each; unknown items earn nothing."""
    given = mapped(answer)
    if given is None:
        return nothing(NO_MAPPING)
    judged: dict[str, str | None] = {}
    for item, truth in key.truth.items():
        value = given.get(item)
        if value is not None and equal(truth, value):
            judged[item] = None
        else:
            judged[item] = f"is {in_words(truth)}" + ("" if value is None else f", not {quoted(value)}")
    return share(judged, "items right")


def choices(key: ChoiceKey, answer: Any) -> Grade:
    """Grade a mapping from item to value; any of an item's right values is right, unknown items earn nothing."""
    given = mapped(answer)
    if given is None:
        return nothing(NO_MAPPING)
    judged: dict[str, str | None] = {}
    for item, right in key.right.items():
        value = given.get(item)
        if value is not None and name_of(value) in map(name_of, right):
            judged[item] = None
        else:
            judged[item] = "has no value" if value is None else f"cannot be {quoted(value)}"
    return share(judged, "items right")
