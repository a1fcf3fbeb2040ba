"""Clues to who or what has which place: weighed as the sets of worlds that they leave open, shared out, told and read.

A set of worlds is a whole number with one bit for each world, so that what several clues say together is their `&`, and
how much they leave open is a count of bits. A world is one order of each kind of items; orders count lexicographically,
those of the first kind fastest.
"""

from __future__ import annotations

import random
from abc import abstractmethod
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from itertools import takewhile
from math import factorial
from typing import ClassVar

from tasks import lines
from tasks.base import Task
from tasks.frames import Frame

Clue = tuple[str, ...]  # its kind, and what it is about
Items = tuple[tuple[str, ...], ...]
MOST_WORLDS = factorial(9)  # a set of them takes 45 kB
WEAKEST_OF = 3  # clues that are tried for each one that is drawn
SPLITS = 40  # ways to share the clues out that are tried


@dataclass(frozen=True)
class Puzzle:
    """`items`: for each kind all of its items by name. `clues`, sorted: ("at" or "not at", item, place from "1"),
    ("before", "directly" (before), "next", "same" or "not same", item, item), or what else the task says."""

    items: Items
    clues: tuple[Clue, ...]


# Worlds


@cache
def every(n: int, kinds: int) -> int:
    """All worlds of some kinds of `n` items each. Raises ValueError for too many."""
    if factorial(min(n, 10)) ** kinds > MOST_WORLDS:
        raise ValueError(f"there are too many ways to place {kinds} times {n} items")
    worlds: int = factorial(n) ** kinds
    return (1 << worlds) - 1


@cache
def placings(n: int) -> tuple[tuple[int, ...], ...]:
    """`[item][place]`: the orders of `n` items that give the item the place."""
    size = factorial(max(0, n - 1))
    at = [[0] * n for _ in range(n)]
    for head in range(n):
        at[head][0] = ((1 << size) - 1) << head * size
        for item in (item for item in range(n) if item != head):
            for place in range(1, n):
                at[item][place] |= placings(n - 1)[item - (item > head)][place - 1] << head * size
    return tuple(map(tuple, at))


@cache
def standing(n: int, kinds: int, item: int, place: int) -> int:
    """The worlds that give an item, counted through all kinds, a place."""
    orders, kind = factorial(n), item // n
    size, found = orders**kind, placings(n)[item % n][place]
    if kind:
        found = sum(((1 << size) - 1) << number * size for number in range(orders) if found >> number & 1)
    for later in range(kind + 1, kinds):
        found = sum(found << number * orders**later for number in range(orders))
    return found


@cache
def fitting(n: int, kinds: int, kind: str, a: int, b: int) -> int:
    """The worlds that fit a clue about item `a` and item `b`, or place `b`."""
    if kind == "at":
        return standing(n, kinds, a, b)
    if kind.startswith("not "):
        return every(n, kinds) ^ fitting(n, kinds, kind[4:], a, b)
    found = 0
    for p, q in ((p, q) for p in range(n) for q in range(n)):
        if {"same": p == q, "next": abs(p - q) == 1, "directly": q - p == 1, "before": p < q}[kind]:
            found |= standing(n, kinds, a, p) & standing(n, kinds, b, q)
    return found


def order_at(rank: int, n: int) -> list[int]:
    """The items by place in the order that comes at a rank."""
    left, order = list(range(n)), []
    for size in map(factorial, reversed(range(n))):
        number, rank = divmod(rank, size)
        order.append(left.pop(number))
    return order


def first(worlds: int) -> int:
    """The number of the first world in a set that is not empty."""
    return (worlds & -worlds).bit_length() - 1


def left_open(worlds: int, masks: Iterable[int]) -> int:
    """What clues leave of `worlds`; a clue that contradicts those before it is passed over."""
    for mask in masks:
        worlds = worlds & mask or worlds
    return worlds


def draw(true: Mapping[Clue, int], worlds: int, count: int, rng: random.Random) -> tuple[Clue, ...] | None:
    """`count` of the true clues, sorted, that leave one of `worlds`; None if the draw fails. Kinds of clues come up
    equally often, of every few that come up the weakest is taken, and no clue follows from another one alone."""
    kinds: dict[str, list[Clue]] = {}
    for clue in true:
        kinds.setdefault(clue[0], []).append(clue)
    drawn: list[Clue] = []
    left = worlds
    for _ in range(9 * count):
        tried = [rng.choice(kinds[rng.choice(sorted(kinds))]) for _ in range(WEAKEST_OF)]
        if left.bit_count() > 1:
            tried = [c for c in tried if left & true[c] != left]
        else:  # what is superfluous goes; what is still missing sheds more light on one half of the clues
            for clue in list(drawn):
                if len(drawn) > count and left_open(worlds, [true[c] for c in drawn if c != clue]) == left:
                    drawn.remove(clue)
            if len(drawn) >= count:
                return tuple(sorted(drawn)) if len(drawn) == count else None
        tried = [c for c in tried if all(true[c] & true[d] not in (true[c], true[d]) for d in drawn)]
        if tried:
            drawn.append(max(tried, key=lambda c: (left & true[c]).bit_count()))
            left &= true[drawn[-1]]
    return None


# Telling and reading


def ends(frame: Frame) -> tuple[bool, int]:
    """How a frame counts places: whether from the far end, and from 0 or 1."""
    return bool(frame.variant & 1), 1 - (frame.variant >> 1 & 1)


def seen(clue: Clue, n: int, backwards: bool, base: int) -> Clue:
    """A clue about a row of `n` places, as told from either end and counted from `base`."""
    kind, a, b = clue
    if kind in ("at", "not at"):
        return kind, a, str((n - int(b) if backwards else int(b) - 1) + base)
    return (kind, b, a) if backwards and kind in ("before", "directly") else clue


def meant(told: Clue, items: Items, backwards: bool, base: int) -> Clue:
    """Inverse of `seen`. Raises ValueError for a clue about what is not there."""
    kind, a, b = told
    known, n = [item for each in items for item in each], len(items[0])
    if kind in ("at", "not at") and a in known and b.isdigit() and 0 <= int(b) - base < n:
        return kind, a, str(n - int(b) + base if backwards else int(b) - base + 1)
    if kind in ("at", "not at") or a == b or a not in known or b not in known:
        raise ValueError(f"a clue tells of {a} and {b}, which have no place here")
    return (kind, b, a) if backwards and kind in ("before", "directly") else told


def lists(text: str, pools: Mapping[str, Sequence[str]]) -> Items:
    """The items listed under the titles of the pools they are from, up to the first title that is missing. Raises
    ValueError if there are none, or not as many of each kind, or too many."""
    found = tuple(takewhile(bool, (lines.listed(text, title, pool).all() for title, pool in pools.items())))
    if len({len(each) for each in found}) != 1 or len(found[0]) < 3:
        raise ValueError("no items to place in the text, or not as many of each kind")
    every(len(found[0]), len(found))
    return found


# Tasks


class ClueTask(Task[Puzzle]):
    """What tasks of clues share. Worlds are rows of places with an item of each kind, unless a task overrides that."""

    framed: ClassVar[tuple[str, ...]]  # kinds of clues that not every frame tells alike; either agent has one

    def every(self, items: Items) -> int:
        """All worlds."""
        return every(len(items[0]), len(items))

    def fitting(self, items: Items, clue: Clue) -> int:
        """The worlds that fit a clue."""
        kind, a, b = clue
        known = [item for each in items for item in each]
        return fitting(len(items[0]), len(items), kind, known.index(a), known.index(b) if b in known else int(b) - 1)

    def world(self, items: Items, number: int) -> list[list[str]]:
        """The items of each kind by place, in the world of a bit."""
        found = []
        for each in items:
            number, rank = divmod(number, factorial(len(each)))
            found.append([each[i] for i in order_at(rank, len(each))])
        return found

    def placed(self, world: Sequence[Sequence[str]]) -> Iterator[Clue]:
        """Clues that leave no other world open."""
        for row in world:
            yield from (("at", item, str(place)) for place, item in enumerate(row, 1))

    @abstractmethod
    def possible(self, items: Items) -> Iterator[Clue]:
        """All clues that might be told, true or not."""

    @abstractmethod
    def opposite(self, clue: Clue) -> Clue:
        """A clue that contradicts another one."""

    def weighed(self, items: Items, clues: Iterable[Clue]) -> dict[Clue, int]:
        return {clue: self.fitting(items, clue) for clue in clues}

    def open(self, puzzle: Puzzle) -> int:
        """The worlds that fit all clues, or all but those that contradict others."""
        return left_open(self.every(puzzle.items), self.weighed(puzzle.items, puzzle.clues).values())

    def compose(self, items: Items, count: int, rng: random.Random) -> Puzzle | None:
        """A puzzle of `count` clues with one solution; None if the draw fails."""
        worlds = self.every(items)
        truth = rng.randrange(worlds.bit_length())
        masks = self.weighed(items, self.possible(items))
        drawn = draw({clue: mask for clue, mask in masks.items() if mask >> truth & 1}, worlds, count, rng)
        return Puzzle(items, drawn) if drawn and sum(clue[0] in self.framed for clue in drawn) > 1 else None

    def split(self, instance: Puzzle, rng: random.Random) -> tuple[Puzzle, ...]:
        """Half of the clues each: of some ways to halve them the one that leaves most open to whom it leaves less."""
        best: tuple[tuple[bool, int], tuple[Puzzle, ...]] = ((False, -1), ())
        clues = list(instance.clues)
        for _ in range(SPLITS):
            rng.shuffle(clues)
            half = len(clues) // 2
            views = tuple(replace(instance, clues=tuple(sorted(part))) for part in (clues[:half], clues[half:]))
            apart = all(any(clue[0] in self.framed for clue in view.clues) for view in views)
            best = max(best, ((apart, min(self.open(view).bit_count() for view in views)), views), key=lambda b: b[0])
        return best[1]

    def merge(self, views: Sequence[Puzzle]) -> Puzzle:
        """Clues that contradict each other are all kept."""
        if len({v.items for v in views}) > 1:
            raise ValueError("the views do not tell of the same items")
        return replace(views[0], clues=tuple(sorted({clue for v in views for clue in v.clues})))

    def rivals(self, instance: Puzzle, view: Puzzle) -> Iterator[Puzzle]:
        """What the view says, and places that make another world the only one."""
        worlds = self.open(view)
        others = worlds & ~self.open(instance)
        for number in dict.fromkeys((first(others), others.bit_length() - 1)) if others else ():
            told, left = set(view.clues), worlds
            for clue, mask in self.weighed(view.items, self.placed(self.world(view.items, number))).items():
                if left & mask != left:
                    told.add(clue)
                    left &= mask
            yield replace(view, clues=tuple(sorted(told)))

    def corrupt(self, view: Puzzle, rng: random.Random) -> Puzzle:
        clue = rng.choice(view.clues)
        return replace(view, clues=tuple(sorted({*view.clues, self.opposite(clue)} - {clue})))
