"""Answers whose parts constrain each other: items in bins, and placements under constraints. Names without case."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from graders.grade import Grade, mapped, name_of, nothing, share
from tasks.answers import BinsKey, ConstraintsKey


def placed(given: Mapping[str, Any], options: Mapping[str, Iterable[str]]) -> dict[str, str]:
    """The items that are given one of their options, with it."""
    found = {}
    for item, known in options.items():
        name = name_of(given.get(item))
        option = next((option for option in known if name is not None and name_of(option) == name), None)
        if option is not None:
            found[item] = option
    return found


def bins(key: BinsKey, answer: Any) -> Grade:
    """Grade a mapping from item to bin by the share of items in bins that respect capacity and pair rules: an overfull
    bin's items all fail, and so do both items of a broken rule."""
    given = mapped(answer)
    if given is None:
        return nothing("the answer does not map items to bins")
    where = placed(given, dict.fromkeys(key.sizes, key.capacities))
    load = dict.fromkeys(key.capacities, 0)
    for item, bin_ in where.items():
        load[bin_] += key.sizes[item]

    def fault(item: str) -> str | None:
        if item not in where:
            return "is in no bin"
        own = where[item]
        if load[own] > key.capacities[own]:
            return f"is in {own}, which holds {load[own]} of {key.capacities[own]}"
        for pairs, may_share in ((key.together, True), (key.apart, False)):
            for other in (b if item == a else a for a, b in pairs if item in (a, b)):
                if (where.get(other) == own) is not may_share:
                    return f"is in {own} without {other}" if may_share else f"is in {own} with {other}"
        return None

    return share({item: fault(item) for item in key.sizes}, "items packed well")


def constraints(key: ConstraintsKey, answer: Any) -> Grade:
    """Grade a mapping from item to option by the share of constraints it satisfies; an item without a known option
    fails all constraints that need it."""
    given = mapped(answer)
    if given is None:
        return nothing("the answer does not map items to options")
    where = placed(given, key.options)
    judged: dict[str, str | None] = {}
    for number, constraint in enumerate(key.constraints, 1):
        missing = next((item for item in constraint.needs if item not in where), None)
        if missing is not None:
            judged[f"constraint {number}"] = f"({constraint.told}) fails: {missing} is not placed"
        else:
            judged[f"constraint {number}"] = None if constraint.holds(where) else f"({constraint.told}) fails"
    return share(judged, "constraints satisfied")
