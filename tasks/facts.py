"""Facts, each a tuple that begins with what it is about: put together, exchanged, and lied about."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterable
from typing import Any, TypeVar

Fact = TypeVar("Fact", bound=tuple[Any, ...])
View = TypeVar("View")


def merged(parts: Iterable[Iterable[Fact]], about: int = 1) -> tuple[Fact, ...]:
    """All facts of the parts, sorted. Raises ValueError where two begin with the same `about` things and differ;
    -1 are all but the last."""
    known: dict[tuple[Any, ...], Fact] = {}
    for fact in (fact for part in parts for fact in part):
        if known.setdefault(fact[:about], fact) != fact:
            raise ValueError(f"told in two ways: {known[fact[:about]]} and {fact}")
    return tuple(sorted(known.values()))


def exchanged(facts: Iterable[Fact], gone: Fact, come: Fact) -> tuple[Fact, ...]:
    """The facts with one told in another way, sorted."""
    return tuple(sorted({*facts, come} - {gone}))


def harmful(lies: Iterable[View], solve: Callable[[View], object], view: View, rng: random.Random) -> View:
    """One of the lies about a view; of those that change what it suggests if there are any."""
    shuffled = list(lies)
    rng.shuffle(shuffled)
    suggested = solve(view)
    return next((lie for lie in shuffled if solve(lie) != suggested), shuffled[0])
