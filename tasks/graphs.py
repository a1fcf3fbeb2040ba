"""Edges between named nodes: told in one of several wordings and styles of names, read again, halved, and exchanged."""

from __future__ import annotations

import random
import re
from collections.abc import Callable, Container, Iterable, Iterator, Sequence
from functools import cache
from itertools import combinations

from tasks import facts
from tasks.frames import Frame

Edge = tuple[str, str]
Edges = tuple[Edge, ...]

CALLED = "(?:(?:node|member) )?"  # what may stand before a name
NODE = rf"{CALLED}([A-Za-z]\w*)"


# Telling and reading


def heading(line: str, frame: Frame) -> list[str]:
    """The line that states the frame; only if it is the plain one, as any other is plain to see."""
    return [line] if frame.friction == "none" else []


def style(name: str, frame: Frame, called: str = "node") -> str:
    """A node's name as a frame writes it: maybe in capitals, and maybe with what nodes are called."""
    name = name.upper() if frame.variant & 4 else name
    return f"{called} {name}" if frame.variant & 8 else name


def tell(edges: Sequence[Edge], wordings: Sequence[str], frame: Frame, called: str = "node") -> list[str]:
    """One line an edge, in one of four wordings, which hold `{a}` and `{b}`."""
    wording = wordings[frame.variant % 4]
    return [wording.format(a=style(a, frame, called), b=style(b, frame, called)) for a, b in edges]


@cache
def _pattern(wording: str, **values: Sequence[str]) -> tuple[str, re.Pattern[str]]:
    """The longest piece of a wording between its holes, and the pattern of the whole."""
    holes = {hole: rf"{CALLED}(?P<{hole}>[A-Za-z]\w*)" for hole in "ab"}
    holes |= {hole: rf"(?P<{hole}>{'|'.join(words)})" for hole, words in values.items()}
    pieces = re.split(r"\{\w\}", wording)
    return max(pieces, key=len), re.compile(rf"(?<![\w-]){wording.format(**holes)}(?![\w-])")


def found(text: str, wordings: Sequence[str], **values: Sequence[str]) -> Iterator[re.Match[str]]:
    """Every place at which one of the wordings is told. Groups are called like the holes: `{a}` and `{b}` are filled by
    names of nodes, other holes by one of their `values`."""
    for wording in wordings:
        piece, pattern = _pattern(wording, **values)
        if piece in text:  # most wordings are not told, and looking for a piece is faster
            yield from pattern.finditer(text)


def read(text: str, wordings: Sequence[str], spell: Callable[[str], str], directed: bool = False) -> Edges:
    """Inverse of `tell` in any frame: all edges, sorted; undirected ones with sorted ends. `spell` turns a name into
    what it is in the instance."""
    edges = {(spell(match["a"]), spell(match["b"])) for match in found(text, wordings)}
    return tuple(sorted(edges if directed else {edge(a, b) for a, b in edges}))


# Edges


def edge(a: str, b: str) -> Edge:
    """An undirected edge."""
    return (a, b) if a < b else (b, a)


def nodes(edges: Sequence[Edge]) -> list[str]:
    return sorted({node for pair in edges for node in pair})


def near(edges: Iterable[Edge]) -> dict[str, list[str]]:
    """For each node those that an edge joins it with."""
    found: dict[str, list[str]] = {}
    for a, b in edges:
        found.setdefault(a, []).append(b)
        found.setdefault(b, []).append(a)
    return found


def union(parts: Iterable[Iterable[Edge]]) -> Edges:
    """All edges of the parts, sorted."""
    return tuple(sorted({pair for part in parts for pair in part}))


def halves(edges: Sequence[Edge], rng: random.Random) -> tuple[Edges, Edges]:
    """Two disjoint halves of the edges, sorted."""
    order = list(edges)
    rng.shuffle(order)
    half = len(order) // 2
    return tuple(sorted(order[:half])), tuple(sorted(order[half:]))


def secret_halves(
    edges: Sequence[Edge], rng: random.Random, tries: int, telling: Callable[[Sequence[Edges]], int]
) -> tuple[Edges, Edges]:
    """Of some random halves the first that are least `telling`."""
    best = halves(edges, rng)
    least = telling(best)
    for _ in range(tries - 1):
        if not least:
            break
        other = halves(edges, rng)
        if (now := telling(other)) < least:
            best, least = other, now
    return best


def exchanges(edges: Sequence[Edge], kept: Container[object]) -> Iterator[tuple[Edge, Edge]]:
    """Undirected edges that are not `kept`, each with those that may take its place between the same nodes."""
    spare = [pair for pair in combinations(nodes(edges), 2) if pair not in edges]
    for gone in edges:
        yield from ((gone, come) for come in spare if gone not in kept)


def lie(edges: Sequence[Edge], pool: Sequence[str], rng: random.Random) -> Edges:
    """One undirected edge exchanged; for one with a node of the `pool` if all nodes are joined already."""
    gone = rng.choice(edges)
    spare = [[pair for pair in combinations(names, 2) if pair not in edges] for names in (nodes(edges), pool)]
    return facts.exchanged(edges, gone, rng.choice(spare[0] or spare[1]))
