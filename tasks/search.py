"""Search with backtracking for a choice that satisfies constraints."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from tasks.answers import Constraint

STEPS = 5_000  # options that are tried before the search gives up


def first(options: Mapping[str, Sequence[str]], constraints: Sequence[Constraint]) -> dict[str, str]:
    """The first choice of an option for each item that satisfies all constraints; where none is found, all but the last
    ones. Constraints are asked about unfinished choices too, and hold there as long as they are not broken."""
    items = list(options)
    about = [[c.holds for c in constraints if item in c.needs] for item in items]
    alone = [[o for o in options[item] if all(h({item: o}) for h in about[at])] for at, item in enumerate(items)]
    chosen: dict[str, str] = {}
    left = STEPS

    def choose(at: int) -> bool:
        nonlocal left
        if at == len(items):
            return True
        for option in alone[at]:
            left -= 1
            chosen[items[at]] = option
            if left >= 0 and all(holds(chosen) for holds in about[at]) and choose(at + 1):
                return True
        chosen.pop(items[at], None)
        return False

    return chosen if choose(0) or not constraints else first(options, constraints[:-1])
