"""eulerpath: one walk over all paths of a zoo, every path known to one agent only (paper, table 8)."""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from textwrap import wrap

from tasks import drawing, facts, graphs
from tasks.answers import EdgesKey, TrailForm
from tasks.base import Task, register
from tasks.frames import Frame
from tasks.names import ANIMALS

PROMPT = """\
The enclosures of a zoo, named after their animals, are joined by paths that can be used in both directions. Find a walk
that uses every path exactly once. It may pass an enclosure several times, and begin and end wherever you like. There is
such a walk, and any one counts. Give its paths in order, each as its two enclosures, for example `ape-bat, bat-cow`."""

SIZES = {"easy": (5, 6), "default": (7, 9), "hard": (10, 15)}  # enclosures at most, paths


@dataclass(frozen=True)
class Zoo:
    """`paths`: pairs of enclosures, sorted within and without."""

    paths: graphs.Edges


def longest(paths: graphs.Edges) -> list[str]:
    """The enclosures of a walk over all paths if there is one, else of the longest that turns up.

    Hierholzer's method, from every enclosure, odd ones first: going on while there is a way, and noting enclosures on
    the way back. Where that goes back to another enclosure than the one it came from, the walk is broken off.
    """
    near = graphs.near(paths)
    best: list[str] = []
    for start in sorted(near, key=lambda enclosure: (len(near[enclosure]) % 2 == 0, enclosure)):
        left, stack, walk, due = list(paths), [start], list[str](), ""
        while stack:
            if way := next((path for path in left if stack[-1] in path), None):
                left.remove(way)
                stack.append(way[way[0] == stack[-1]])
            else:
                here = stack.pop()
                walk = [*walk, here] if here == due else [here]
                due = stack[-1] if stack else ""
                best = max(best, walk, key=len)
        if len(best) > len(paths):
            break
    return best


WORDINGS = ("{a} - {b}", "a path joins {a} and {b}", "{a} lies one path from {b}", "path: {a} to {b}")


@register
class EulerPath(Task[Zoo]):
    """The zoo has no two paths between the same enclosures, and its walk does not end where it began."""

    name, family, version, rule, prompt = "eulerpath", "relational", 1, "trail", PROMPT

    def sample(self, rng: random.Random, difficulty: str) -> Zoo | None:
        size, count = SIZES[difficulty]
        names = rng.sample(ANIMALS, size)
        here, paths = names[0], set[graphs.Edge]()
        while len(paths) < count:
            ways = [there for there in names if there != here and graphs.edge(here, there) not in paths]
            if not ways:
                return None
            there = rng.choice(ways)
            paths.add(graphs.edge(here, there))
            here = there
        return Zoo(tuple(sorted(paths))) if here != names[0] else None

    def split(self, instance: Zoo, rng: random.Random) -> tuple[Zoo, ...]:
        return tuple(map(Zoo, graphs.halves(instance.paths, rng)))

    def merge(self, views: Sequence[Zoo]) -> Zoo:
        return Zoo(graphs.union(view.paths for view in views))

    def render(self, view: Zoo, frame: Frame) -> str:
        head = graphs.heading("Enclosures are called by their plain names; a dash is a path.", frame)
        return "\n".join([*head, *graphs.tell(view.paths, WORDINGS, frame)])

    def parse(self, text: str) -> Zoo:
        if not (paths := graphs.read(text, WORDINGS, str.lower)):
            raise ValueError("no paths in the text")
        return Zoo(paths)

    def solve(self, view: Zoo) -> list[list[str]] | None:
        """Of a partial view: a long walk over known paths."""
        return [list(step) for step in pairwise(longest(view.paths))]

    def key(self, instance: Zoo) -> EdgesKey:
        return EdgesKey(instance.paths)

    def form(self, view: Zoo) -> TrailForm:
        return TrailForm(ANIMALS)

    def rivals(self, instance: Zoo, view: Zoo) -> Iterator[Zoo]:
        """The same zoo with one end of an unseen path elsewhere: any walk that was right uses a path that is gone."""
        for gone, come in graphs.exchanges(instance.paths, view.paths):
            paths = facts.exchanged(instance.paths, gone, come)
            if {*gone} & {*come} and len(longest(paths)) > len(paths):
                yield Zoo(paths)

    def corrupt(self, view: Zoo, rng: random.Random) -> Zoo:
        return Zoo(graphs.lie(view.paths, ANIMALS, rng))

    def draw(self, instance: Zoo, answer: object, where: object) -> str:
        kept = where if isinstance(where, dict) else {}
        walked, broke = kept.get("walked", []), kept.get("broke") or []
        at, best = drawing.circle(graphs.nodes(instance.paths)), longest(instance.paths)
        parts = [drawing.edge(at[a], at[b]) for a, b in instance.paths]
        parts += [drawing.edge(at[a], at[b], "right") for a, b in walked]
        for i, step in enumerate(walked, 1):
            (x, y), (to_x, to_y) = (at[n] for n in step)
            nearer = x + 0.7 * (to_x - x), y + 0.7 * (to_y - y)  # the number stands nearer to where the step begins
            parts.append(drawing.edge((x, y), nearer, "right", label=i))
        if len(broke) == 2 and set(broke) <= set(at):
            parts.append(drawing.edge(at[broke[0]], at[broke[1]], "broken"))
        parts += [drawing.node(at[n], n, "start" if n in (best[0], best[-1]) else "node") for n in at]
        lines = [(f"cannot be walked here: {' - '.join(broke):.40}", "wrong")] if broke else []
        lines += [(line, "") for line in wrap(f"One right walk: {' - '.join(best)}", 40)]
        parts += drawing.notes(340, lines)
        return drawing.svg(340, 350 + 20 * len(lines), parts, "the zoo and the walk that was answered")
