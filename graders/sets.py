"""Answers made of names that belong together: groups, pairs, and trails over edges. Names compare without case.

One malformed group makes the whole answer malformed; an unknown name only makes its group wrong.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from typing import Any

from graders.grade import LISTS, Grade, listed, name_of, nothing, quoted
from tasks.answers import EdgesKey, GroupsKey

Group = tuple[str, ...]


def as_groups(answer: Any, size: int, spelling: Mapping[str | None, str]) -> list[Group] | None:
    """`answer` as groups of `size` names each, known ones as `spelling` has them; None if it is anything else."""
    if not listed(answer):
        return None
    groups = []
    for group in answer:
        if type(group) not in LISTS or len(group) != size:
            return None
        names = [name for name in map(name_of, group) if name is not None]
        if len(names) != size:
            return None
        groups.append(tuple(spelling.get(name, name) for name in names))
    return groups


def compared(key: GroupsKey, answer: Any, both: bool) -> Grade:
    """The right groups among the given ones, as a share of those on either side (`both`) or on the longer side."""
    size = max(map(len, key.groups))
    given = as_groups(answer, size, {name_of(name): name for group in key.groups for name in group})
    if given is None:
        return nothing(f"the answer is not a list of groups of {size} names")
    found = dict.fromkeys(map(frozenset, given))
    right = sorted(sorted(group) for group in key.groups if group in found)
    missing = sorted(sorted(group) for group in key.groups if group not in found)
    wrong = [sorted(group) for group in found if group not in key.groups]
    whole = len(key.groups) + len(wrong) if both else max(len(key.groups), len(found))
    where = {"right": right, "wrong": wrong[:50], "missing": missing}
    reason = f"{len(right)} of {len(key.groups)} found, and {len(wrong)} that do not belong"
    reason += f"; missing: {' '.join(missing[0])}" if missing else ""
    return Grade(len(right) / whole, not wrong and not missing, reason, where)


def groups(key: GroupsKey, answer: Any) -> Grade:
    """Grade a set of groups by intersection over union with the right set."""
    return compared(key, answer, both=True)


def pairs(key: GroupsKey, answer: Any) -> Grade:
    """Grade a set of groups by the share that is right: of the right ones or, if more are given, of the given ones.

    A guess in place of a missing group costs nothing, as with items of a mapping; all beyond their number does.
    """
    return compared(key, answer, both=False)


def trail(key: EdgesKey, answer: Any) -> Grade:
    """Grade a list of edges by the share of all edges that its longest valid prefix covers: each edge exists, begins
    where the one before ended, and is used as often as it exists. An edge may be written from either end; what comes
    after the last edge is not looked at."""
    given = as_groups(answer, 2, {name_of(node): node for edge in key.edges for node in edge})
    if given is None:
        return nothing("the answer is not a list of edges of two nodes")
    exist = Counter(map(frozenset, key.edges))
    walked, fault = max((follow(exist, given, start) for start in given[0]), key=lambda found: len(found[0]))
    where = {"walked": walked, "broke": [*given[len(walked)]] if fault else None}
    reason = f"covers {len(walked)} of {len(key.edges)} edges" + (f"; {fault}" if fault else "")
    return Grade(len(walked) / len(key.edges), len(walked) == len(key.edges), reason, where)


def follow(exist: Counter[frozenset[str]], given: list[Group], here: str) -> tuple[list[list[str]], str]:
    """The longest prefix that is a trail from `here` over edges that exist, each in the direction in which it is
    walked, and what is wrong with the next edge; empty if nothing is."""
    unused = exist.copy()
    walked: list[list[str]] = []
    for u, v in given[: exist.total()]:
        edge = frozenset((u, v))
        if here not in edge or not unused[edge]:
            why = f"does not begin at {quoted(here)}" if here not in edge else "is walked again"
            return walked, f"edge {len(walked) + 1}, {quoted(f'{u}-{v}')}, {why if exist[edge] else 'does not exist'}"
        unused[edge] -= 1
        walked.append([here, v if here == u else u])
        here = walked[-1][1]
    return walked, ""
