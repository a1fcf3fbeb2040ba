"""Rooted trees and forests: grown, climbed, changed, and laid out for drawing. An edge is `(child, parent)`."""

from __future__ import annotations

import random
from collections.abc import Container, Iterator, Mapping, Sequence

from tasks.graphs import Edge, Edges, nodes

Parents = Mapping[str, str]  # child -> parent; from a text that somebody garbled it may run in circles


def grown(names: Sequence[str], rng: random.Random, roots: int = 1, reach: int = 5, most: int = 3) -> Edges:
    """A random forest whose first `roots` names have no parent. The smaller `reach`, the deeper it is; nobody has more
    than `most` children."""
    edges: list[Edge] = []
    for at in range(roots, len(names)):
        having = [parent for _, parent in edges]
        edges.append((names[at], rng.choice([n for n in names[max(0, at - reach) : at] if having.count(n) < most])))
    return tuple(sorted(edges))


def climb(parents: Parents, name: str) -> list[str]:
    """The way up from `name`, which comes first, as far as it is known."""
    way = [name]
    while (parent := parents.get(way[-1])) is not None and parent not in way:
        way.append(parent)
    return way


def exchanges(edges: Sequence[Edge], kept: Container[object] = ()) -> Iterator[tuple[Edge, Edge]]:
    """Edges that are not `kept`, each with those that lead to another parent instead, without a circle."""
    parents = dict(edges)
    ways = {name: climb(parents, name) for name in nodes(edges)}
    for child, parent in (edge for edge in edges if edge not in kept):
        for other, way in ways.items():
            if other != parent and child not in way:
                yield (child, parent), (child, other)


def layout(edges: Sequence[Edge], width: float = 84, height: float = 64) -> dict[str, tuple[float, float]]:
    """Where to draw each name: roots at the top, leaves `width` apart, each parent above the middle of its children."""
    parents = dict(edges)
    at: dict[str, tuple[float, float]] = {}
    leaves = 0

    def place(name: str, depth: int) -> float:
        nonlocal leaves
        below = [place(child, depth + 1) for child, parent in edges if parent == name]
        if not below:
            leaves += 1
        x = (below[0] + below[-1]) / 2 if below else (leaves - 0.5) * width
        at[name] = x, depth * height + 20
        return x

    for root in sorted({parent for _, parent in edges if parent not in parents}):
        place(root, 0)
    return at
