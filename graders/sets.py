"""Answers made of names that belong together: groups, pairs, and trails over edges. Names compare without case."""

from __future__ import annotations

from collections import Counter
from typing import Any

from graders.grade import Grade, name_of, nothing
from tasks.answers import EdgesKey, GroupsKey

Group = frozenset[str]


def as_groups(answer: Any, size: int) -> list[tuple[str, ...]] | None:
    """`answer` as tuples of `size` names each, or None if it is anything else."""
    if not isinstance(answer, list | tuple) or not answer:
        return None
    groups = []
    for group in answer:
        if not isinstance(group, list | tuple) or len(group) != size:
            return None
        names = tuple(name for name in map(name_of, group) if name)
        if len(names) != size:
            return None
        groups.append(names)
    return groups


def _compared(key: GroupsKey, answer: Any, union: bool) -> Grade:
    sizes = {len(group) for group in key.groups}
    given = as_groups(answer, max(sizes))
    if given is None:
        return nothing(f"the answer is not a list of groups of {max(sizes)} names")
    spelled = {frozenset(n for n in map(name_of, group) if n): sorted(group) for group in key.groups}
    found = set(map(frozenset, given))
    right = [group for known, group in spelled.items() if known in found]
    missing = [group for known, group in spelled.items() if known not in found]
    wrong = sorted(sorted(group) for group in found if group not in spelled)
    whole = len(spelled) + len(wrong) if union else max(len(spelled), len(found))
    where = {"right": sorted(right), "wrong": wrong[:50], "missing": sorted(missing)}
    reason = f"{len(right)} of {len(spelled)} found, and {len(wrong)} that do not belong"
    return Grade(len(right) / whole, not wrong and not missing, reason, where)


def groups(key: GroupsKey, answer: Any) -> Grade:
    """Grade a set of groups by intersection over union with the right set."""
    return _compared(key, answer, union=True)


def pairs(key: GroupsKey, answer: Any) -> Grade:
    """Grade a set of groups by the share that is right: of the right ones or, if more are given, of the given ones."""
    return _compared(key, answer, union=False)


def trail(key: EdgesKey, answer: Any) -> Grade:
    """Grade a list of edges by the share of all edges that its longest valid prefix covers: each edge exists, begins
    where the one before ended, and is used as often as it exists. An edge may be written from either end."""
    given = as_groups(answer, 2)
    if given is None:
        return nothing("the answer is not a list of edges of two nodes")
    edges = [tuple(name_of(n) or "" for n in edge) for edge in key.edges]
    left = Counter(map(frozenset, edges))
    best: tuple[list[list[str]], str] = ([], "")
    for start in given[0]:  # the first edge may be written either way round
        here, unused, walked, fault = start, left.copy(), list[list[str]](), ""
        for u, v in given:
            if here not in (u, v):
                fault = f"edge {len(walked) + 1} does not begin at {here}"
            elif not left[frozenset((u, v))]:
                fault = f"edge {len(walked) + 1}: there is no edge between {u} and {v}"
            elif not unused[frozenset((u, v))]:
                fault = f"edge {len(walked) + 1} walks {u}-{v} again"
            if fault:
                break
            unused[frozenset((u, v))] -= 1
            there = v if here == u else u
            walked.append([here, there])
            here = there
        if not best[1] or len(walked) > len(best[0]):
            best = walked, fault
    walked, fault = best
    where = {"walked": walked, "broke": list(given[len(walked)]) if fault else None}
    reason = f"covers {len(walked)} of {len(edges)} edges" + (f"; {fault}" if fault else "")
    return Grade(len(walked) / len(edges), len(walked) == len(edges), reason, where)
