"""noderanking: the three towns with the most roads, every road known to one agent only (paper, table 8)."""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations

from tasks import drawing, facts, graphs
from tasks.answers import OrderForm, OrderKey
from tasks.base import Task, register
from tasks.frames import Frame
from tasks.names import TOWNS

PROMPT = """\
Given roads between towns, find the three towns at which the most roads end, and put them in order, most roads first. No
two of these three have equally many, and every other town has fewer. Give the three names in order, for example
`Aby, Bex, Cud`."""

SIZES = {"easy": (6, 4), "default": (9, 6), "hard": (14, 8)}  # towns, roads of the busiest
TRIES = 30  # cuts of the roads that are tried


@dataclass(frozen=True)
class Map:
    """`roads`: pairs of towns, sorted within and without."""

    roads: graphs.Edges


def counts(roads: graphs.Edges) -> dict[str, int]:
    """Towns with their numbers of roads, most first, equal ones by name."""
    near = graphs.near(roads)
    return {town: len(near[town]) for town in sorted(near, key=lambda town: (-len(near[town]), town))}


def top(roads: graphs.Edges) -> list[str]:
    return list(counts(roads))[:3]


def decided(roads: graphs.Edges) -> bool:
    """Whether the first four towns all differ in their numbers of roads."""
    return len(set(list(counts(roads).values())[:4])) == 4


WORDINGS = ("{a} - {b}", "a road joins {a} and {b}", "{a} is one road from {b}", "road: {a} to {b}")


@register
class NodeRanking(Task[Map]):
    """Towns 1 to 3 differ by one road each, so that every road of theirs matters, and the fourth has fewer still."""

    name, family, version, rule, prompt = "noderanking", "relational", 1, "ranking", PROMPT

    def sample(self, rng: random.Random, difficulty: str) -> Map | None:
        size, most = SIZES[difficulty]
        names = rng.sample(TOWNS, size)
        left = dict(zip(names, [most, most - 1, most - 2, *(rng.randint(1, most - 3) for _ in names[3:])], strict=True))
        found = set()
        pairs = list(combinations(names, 2))
        rng.shuffle(pairs)
        for a, b in sorted(pairs, key=lambda pair: min(3, names.index(pair[0]))):  # the busy towns choose first
            if left[a] and left[b]:
                left[a] -= 1
                left[b] -= 1
                found.add(graphs.edge(a, b))
        roads = tuple(sorted(found))
        return Map(roads) if decided(roads) else None

    def split(self, instance: Map, rng: random.Random) -> tuple[Map, ...]:
        """Of some halves those whose own leaders agree least with the leaders of the whole."""
        best = top(instance.roads)

        def agreement(cut: Sequence[graphs.Edges]) -> int:
            return sum(a == b for half in cut for a, b in zip(top(half), best, strict=False))

        return tuple(map(Map, graphs.secret_halves(instance.roads, rng, TRIES, agreement)))

    def merge(self, views: Sequence[Map]) -> Map:
        return Map(graphs.union(view.roads for view in views))

    def render(self, view: Map, frame: Frame) -> str:
        head = graphs.heading("Towns are called by their plain names; a dash is a road.", frame)
        return "\n".join([*head, *graphs.tell(view.roads, WORDINGS, frame)])

    def parse(self, text: str) -> Map:
        if not (roads := graphs.read(text, WORDINGS, str.title)):
            raise ValueError("no roads in the text")
        return Map(roads)

    def solve(self, view: Map) -> list[str] | None:
        return top(view.roads) or None

    def key(self, instance: Map) -> OrderKey:
        return OrderKey(tuple(top(instance.roads)))

    def form(self, view: Map) -> OrderForm:
        return OrderForm(TOWNS, length=3)

    def rivals(self, instance: Map, view: Map) -> Iterator[Map]:
        """The same roads with one end of an unseen one moved, so that the order changes."""
        ours = top(instance.roads)
        for gone, come in graphs.exchanges(instance.roads, view.roads):
            roads = facts.exchanged(instance.roads, gone, come)
            if {*gone} & {*come} and top(roads) != ours and decided(roads):
                yield Map(roads)

    def corrupt(self, view: Map, rng: random.Random) -> Map:
        return Map(graphs.lie(view.roads, TOWNS, rng))

    def draw(self, instance: Map, answer: object, where: object) -> str:
        kept = where if isinstance(where, dict) else {}
        found, exact = kept.get("order", []), kept.get("right", [])
        ranked, best = counts(instance.roads), top(instance.roads)
        at = {town: (x + 20, y) for town, (x, y) in drawing.circle(sorted(ranked)).items()}
        parts = [drawing.edge(at[a], at[b]) for a, b in instance.roads]
        for town, count in ranked.items():
            css = "right" if town.casefold() in found else "goal" if town in best else "node"
            parts.append(drawing.node(at[town], f"{town} {count}", css))
        said = [f"{drawing.plain(one):.40}" for one in answer[:3]] if isinstance(answer, list | tuple) else []
        lines = []
        for i, town in enumerate(best):
            css = "right" if i in exact else "wrong" if said else ""
            lines.append((f"{i + 1}. {town}; answered {(said[i:] or ['nothing'])[0]}", css))
        return drawing.svg(380, 410, [*parts, *drawing.notes(340, lines)], "towns with their numbers of roads")
