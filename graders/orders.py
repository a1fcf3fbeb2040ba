"""Answers that are an order of names: by Kendall distance, by circular distance, and by the sets at the top.

Only the first mention of a name counts. Names compare without case. A missing name costs at least as much as the worst
place for it, so that nobody gains by leaving out what is uncertain.
"""

from __future__ import annotations

from itertools import combinations
from typing import Any

from graders.grade import Grade, listed, name_of, nothing
from tasks.answers import OrderKey

NO_LIST = "the answer is not a list of names"


def as_places(key: OrderKey, answer: Any) -> dict[str, int] | None:
    """The place of each known name among the known names given, unknown ones passed over; None for what is no list."""
    if not listed(answer):
        return None
    known = {name_of(item): item for item in key.order}
    given = dict.fromkeys(known[name] for one in answer if (name := name_of(one)) in known)
    return {item: place for place, item in enumerate(given)}


def kendall(key: OrderKey, answer: Any) -> Grade:
    """Grade an order by 1 - normalised Kendall tau distance: the share of pairs that stand in the right order. Pairs
    with a missing name do not."""
    places = as_places(key, answer)
    if places is None:
        return nothing(NO_LIST)
    pairs = list(combinations(key.order, 2))
    wrong = [(a, b) for a, b in pairs if not (a in places and b in places and places[a] < places[b])]
    where = {"order": list(places), "wrong": [[*pair] for pair in wrong]}
    if not wrong:
        return Grade(1.0, True, f"all {len(key.order)} in order", where)
    missing = [item for item in key.order if item not in places]
    fault = f"{missing[0]} is missing" if missing else "{} does not come before {}".format(*wrong[0])
    right = len(pairs) - len(wrong)
    return Grade(right / len(pairs), False, f"{right} of {len(pairs)} pairs in order; {fault}", where)


def circular(key: OrderKey, answer: Any) -> Grade:
    """Grade an order round a table by 1 - normalised circular distance, under the best rotation.

    The distance sums, over all names, the seats between where a name sits and where it should, the shorter way round.
    It is divided by its average over all rotations, which is the same for every order: the best rotation is never
    beyond it, and an order that is equally far off under all of them, such as a mirrored one of an odd number, has 0.
    A missing name counts as a whole round, since it may spare each other name half a seat.
    """
    places = as_places(key, answer)
    if places is None:
        return nothing(NO_LIST)
    n = len(key.order)
    ahead = [places[item] - seat for seat, item in enumerate(key.order) if item in places]

    def distance(turn: int) -> int:
        return sum(min((step + turn) % n, (-step - turn) % n) for step in ahead) + n * (n - len(ahead))

    turn = min(range(n), key=distance)
    off, average = distance(turn), n * n // 4
    seated = [item for seat, item in enumerate(key.order) if item in places and (places[item] + turn) % n == seat]
    where = {"order": list(places), "turn": turn, "right": seated}
    reason = f"{len(seated)} of {n} sit right, all together {off} seats off"
    return Grade(max(0.0, 1 - off / average), off == 0, reason, where)


def ranking(key: OrderKey, answer: Any) -> Grade:
    """Grade the top of a ranking by the mean over its prefixes of intersection over union; what comes after is not
    looked at. A missing place counts as a wrong name. All prefixes agree only if the order is the exact one."""
    if not listed(answer):
        return nothing(NO_LIST)
    truth = [name_of(item) for item in key.order]
    given = list(dict.fromkeys(map(name_of, answer)))[: len(truth)]
    score = 0.0
    for top in range(1, len(truth) + 1):
        shared = len(set(truth[:top]) & set(given[:top]))
        score += shared / (2 * top - shared) / len(truth)
    exact = given == truth
    where = {
        "order": [name for name in given if name in truth],
        "right": [place for place, (a, b) in enumerate(zip(truth, given, strict=False)) if a == b],
    }
    reason = f"the top is {', '.join(key.order)}" + (", as answered" if exact else "")
    return Grade(1.0 if exact else score, exact, reason, where)
