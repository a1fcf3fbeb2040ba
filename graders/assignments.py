"""Answers whose parts constrain each other: items in bins, and placements under constraints. Names without case."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from graders.grade import Grade, name_of, nothing, share
from tasks.answers import BinsKey, ConstraintsKey


def placed(answer: dict[Any, Any], items: Iterable[str], options: Iterable[str]) -> dict[str, str]:
    """The items that are given a known option, with it."""
    known = {name_of(option): option for option in options}
    return {item: known[name] for item in items if (name := name_of(answer.get(item))) in known}


def bins(key: BinsKey, answer: Any) -> Grade:
    """Grade a mapping from item to bin by the share of items in bins that respect capacity and pair rules: an overfull
    bin's items all fail, and so do both items of a broken rule."""
    if not isinstance(answer, dict):
        return nothing("the answer does not map items to bins")
    where = placed(answer, key.sizes, key.capacities)
    load = dict.fromkeys(key.capacities, 0)
    for item, bin_ in where.items():
        load[bin_] += key.sizes[item]
    judged: dict[str, str | None] = {}
    for item in key.sizes:
        bin_ = where.get(item)
        mates = [b if a == item else a for a, b in key.together if item in (a, b)]
        rivals = [b if a == item else a for a, b in key.apart if item in (a, b)]
        if bin_ is None:
            judged[item] = "is in no bin"
        elif load[bin_] > key.capacities[bin_]:
            judged[item] = f"is in {bin_}, which holds {load[bin_]} of {key.capacities[bin_]}"
        elif lost := next((m for m in mates if where.get(m) != bin_), None):
            judged[item] = f"is not with {lost}"
        elif met := next((r for r in rivals if where.get(r) == bin_), None):
            judged[item] = f"is with {met}"
        else:
            judged[item] = None
    return share(judged, "items packed well")


def constraints(key: ConstraintsKey, answer: Any) -> Grade:
    """Grade a mapping from item to option by the share of constraints it satisfies; an item without a known option
    fails all constraints that need it."""
    if not isinstance(answer, dict):
        return nothing("the answer does not map items to options")
    given: dict[str, str] = {}
    for item, options in key.options.items():
        given |= placed(answer, [item], options)
    judged: dict[str, str | None] = {}
    for number, constraint in enumerate(key.constraints, 1):
        missing = next((item for item in constraint.needs if item not in given), None)
        if missing is not None:
            fault: str | None = f"({constraint.told}) fails: {missing} is not placed"
        else:
            fault = None if constraint.holds(given) else f"({constraint.told}) fails"
        judged[f"constraint {number}"] = fault
    return share(judged, "constraints satisfied")
