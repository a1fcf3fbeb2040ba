"""Edges as agents see them: told in one of several wordings, in one of several styles of names, and read again."""

from __future__ import annotations

import random
import re
from collections.abc import Sequence

from tasks.frames import Frame

Edge = tuple[str, str]

STYLES = ("{}", "{}", "node {}", "node {}")  # the second and fourth one in capitals
NODE = r"(?:node )?([A-Za-z]\w*)"


def style(name: str, frame: Frame) -> str:
    """A node's name as a frame writes it; `canonical` reads it again."""
    number = frame.variant // 4
    return STYLES[number].format(name.upper() if number % 2 else name)


def canonical(name: str, like: str) -> str:
    """A name as it is spelled in the instance, where names are spelled like `like`: `title` or `lower`."""
    return name.title() if like == "title" else name.lower()


def tell(edges: Sequence[Edge], wordings: Sequence[str], frame: Frame) -> list[str]:
    """One line an edge, in the frame's wording; wordings hold `{a}` and `{b}`."""
    wording = wordings[frame.variant % 4 % len(wordings)]
    return [wording.format(a=style(a, frame), b=style(b, frame)) for a, b in edges]


def read(text: str, wordings: Sequence[str], like: str, directed: bool) -> tuple[Edge, ...]:
    """Inverse of `tell` for any frame: all edges told in any wording, sorted; undirected ones with sorted ends."""
    edges = set()
    for wording in wordings:
        pattern = re.escape(wording).replace(r"\{a\}", NODE).replace(r"\{b\}", NODE)
        for found in re.findall(rf"(?<![\w-]){pattern}(?![\w-])", text):
            a, b = (canonical(name, like) for name in found)
            if wording.index("{b}") < wording.index("{a}"):
                a, b = b, a
            edges.add((a, b) if directed else (min(a, b), max(a, b)))
    return tuple(sorted(edges))


def halves(edges: Sequence[Edge], rng: random.Random) -> tuple[tuple[Edge, ...], tuple[Edge, ...]]:
    """Two disjoint halves of the edges, sorted."""
    order = list(edges)
    rng.shuffle(order)
    half = len(order) // 2
    return tuple(sorted(order[:half])), tuple(sorted(order[half:]))


def union(parts: Sequence[Sequence[Edge]]) -> tuple[Edge, ...]:
    """All edges of the parts, sorted."""
    return tuple(sorted({edge for part in parts for edge in part}))
