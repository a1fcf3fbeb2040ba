"""Answers that are an order of names: by Kendall distance, by circular distance, and by the sets at the top.

Only the first mention of a name counts, unknown names are passed over, and a name that is missing is as wrong as it can
be. Names compare without case.
"""

from __future__ import annotations

from itertools import combinations
from typing import Any

from graders.grade import Grade, name_of, nothing
from tasks.answers import OrderKey


def as_places(key: OrderKey, answer: Any) -> dict[str, int] | None:
    """The place of each known name among the known names given; None for what is no list."""
    if not isinstance(answer, list | tuple) or not answer:
        return None
    known = {name_of(item): item for item in key.order}
    given = dict.fromkeys(known[name] for one in answer if (name := name_of(one)) in known)
    return {item: place for place, item in enumerate(given)}


def kendall(key: OrderKey, answer: Any) -> Grade:
    """Grade an order by 1 - normalised Kendall tau distance: the share of pairs that stand in the right order."""
    places = as_places(key, answer)
    if places is None:
        return nothing("the answer is not a list of names")
    pairs = list(combinations(key.order, 2))
    wrong = [(a, b) for a, b in pairs if not (a in places and b in places and places[a] < places[b])]
    where = {"order": list(places), "wrong": [list(pair) for pair in wrong]}
    if not wrong:
        return Grade(1.0, True, f"all {len(key.order)} in order", where)
    a, b = wrong[0]
    fault = f"{a} does not come before {b}" if {a, b} <= set(places) else f"{a if a not in places else b} is missing"
    return Grade(1 - len(wrong) / len(pairs), False, f"{len(pairs) - len(wrong)} of {len(pairs)} pairs in order; {fault}", where)


def circular(key: OrderKey, answer: Any) -> Grade:
    """Grade an order round a table by 1 - normalised circular distance, under the best rotation.

    The distance is the mean over all names of the seats between where a name sits and where it should; it is divided by
    what it comes to on average over all rotations, so that no order can be further off. A missing name counts as
    half a round. Mirrored orders are other orders.
    """
    places = as_places(key, answer)
    if places is None:
        return nothing("the answer is not a list of names")
    n = len(key.order)

    def apart(turn: int) -> int:
        steps = ((places[item] + turn - seat) % n if item in places else n // 2 for seat, item in enumerate(key.order))
        return sum(min(step, n - step) for step in steps)

    turn = min(range(n), key=apart)
    worst = n * n // 4 if n % 2 == 0 else (n * n - 1) // 4  # summed over names: the average over all rotations
    off = apart(turn)
    here = [item for seat, item in enumerate(key.order) if item in places and (places[item] + turn - seat) % n == 0]
    where = {"order": list(places), "turn": turn, "right": here}
    reason = f"{len(here)} of {n} sit right, all together {off} seats off"
    return Grade(max(0.0, 1 - off / worst), off == 0, reason, where)


def ranking(key: OrderKey, answer: Any) -> Grade:
    """Grade the top of a ranking by the mean over its prefixes of intersection over union; what comes after is not
    looked at, and a success is the exact order."""
    if not isinstance(answer, list | tuple) or not answer:
        return nothing("the answer is not a list of names")
    truth = [name_of(item) for item in key.order]
    given = [name_of(one) for one in answer[: len(truth)]]
    overlaps = []
    for top in range(1, len(truth) + 1):
        ours, theirs = set(truth[:top]), set(given[:top])
        overlaps.append(len(ours & theirs) / len(ours | theirs))
    exact = given == truth
    reason = "the exact order" if exact else f"the top is {', '.join(key.order)}"
    where = {"order": [one for one in given if one in truth], "right": [i for i, (a, b) in enumerate(zip(truth, given, strict=False)) if a == b]}
    return Grade(1.0 if exact else sum(overlaps) / len(overlaps), exact, reason, where)
