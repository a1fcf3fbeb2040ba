"""ancestorpath: chains of bosses in two firms, who reports to whom known to one agent only (paper, table 8)."""

from __future__ import annotations

import random
import re
from collections.abc import Container, Iterator, Sequence, Set
from dataclasses import dataclass, replace
from itertools import pairwise

from tasks import drawing, facts, graphs, trees
from tasks.answers import Field, FieldsForm, FieldsKey
from tasks.base import Task, register
from tasks.frames import Frame
from tasks.names import NAMES

PROMPT = """\
Everybody has one boss at most, and that boss may have a boss too. Each query asks for the chain of command from one
person up to another: the lower person, then that person's boss, then the boss of that one, and so on until the higher
person, both included. Answer every query on a line of its own that begins with the query's name, for example
`q9: Alf, Bea, Cid`."""

SIZES = {"easy": (10, 2), "default": (16, 4), "hard": (26, 6)}  # people, queries
LENGTHS = (5, 6)  # people in a chain; shorter ones cannot be shared out so that neither agent knows all who are in them
FIRMS, REACH = 2, 3  # how many have no boss, and how deep the firms are
SWAPS = 100  # exchanges tried for halves that leave little to guess


@dataclass(frozen=True)
class Firms:
    """`edges`: (person, boss), sorted; `queries`: (name, lower person, higher person)."""

    edges: graphs.Edges
    queries: tuple[tuple[str, str, str], ...]


def guessed(halves: Sequence[Set[graphs.Edge]], chains: Sequence[Sequence[graphs.Edge]]) -> int:
    """How often a half knows of everybody within a chain, and so guesses it easily; far more if it holds all of it."""
    knows = sum(all(a in half or b in half for a, b in pairwise(chain)) for half in halves for chain in chains)
    return knows + 99 * sum(half >= set(chain) for half in halves for chain in chains)


def otherwise(view: Firms, kept: Container[object]) -> Iterator[Firms]:
    """`view` with one person whose boss is not in `kept` under another boss."""
    for gone, come in trees.exchanges(view.edges, kept):
        yield replace(view, edges=facts.exchanged(view.edges, gone, come))


WORDINGS = ("{a} reports to {b}", "{b} is the boss of {a}", "the boss of {a} is {b}", "{b} gives orders to {a}")
QUERY = re.compile(rf"\b(q\d+): the chain from {graphs.NODE} up to {graphs.NODE}(?![\w-])")


@register
class AncestorPath(Task[Firms]):
    """Every chain needs steps of both agents, and for most chains neither agent knows of everybody within it."""

    name, family, version, rule, prompt = "ancestorpath", "relational", 1, "fields", PROMPT

    def sample(self, rng: random.Random, difficulty: str) -> Firms | None:
        people, wanted = SIZES[difficulty]
        names = rng.sample(NAMES, people)
        edges = trees.grown(names, rng, FIRMS, REACH)
        ways = [way for name in names if len(way := trees.climb(dict(edges), name)) >= min(LENGTHS)]
        if len(ways) < wanted:
            return None
        chains = [way[: rng.choice(LENGTHS)] for way in rng.sample(ways, wanted)]
        return Firms(edges, tuple((f"q{i}", chain[0], chain[-1]) for i, chain in enumerate(chains, 1)))

    def split(self, instance: Firms, rng: random.Random) -> tuple[Firms, ...]:
        """Random halves, edges exchanged as long as that leaves less to guess."""
        chains = [list(pairwise(chain)) for chain in self.solve(instance).values()]
        order = rng.sample(instance.edges, len(instance.edges))
        halves = set(order[: len(order) // 2]), set(order[len(order) // 2 :])
        least = guessed(halves, chains)
        for _ in range(SWAPS):
            mine, yours = (rng.choice(sorted(half)) for half in halves)
            tried = halves[0] - {mine} | {yours}, halves[1] - {yours} | {mine}
            if (now := guessed(tried, chains)) <= least:
                least, halves = now, tried
            if not least:
                break
        return tuple(replace(instance, edges=tuple(sorted(half))) for half in halves)

    def merge(self, views: Sequence[Firms]) -> Firms:
        if len({view.queries for view in views}) > 1:
            raise ValueError("the queries differ")
        return replace(views[0], edges=facts.merged(view.edges for view in views))

    def render(self, view: Firms, frame: Frame) -> str:
        lines = graphs.heading("People are called by their plain names, each with the own boss.", frame)
        lines += graphs.tell(view.edges, WORDINGS, frame)
        for q, low, high in view.queries:
            lines.append(f"{q}: the chain from {graphs.style(low, frame)} up to {graphs.style(high, frame)}")
        return "\n".join(lines)

    def parse(self, text: str) -> Firms:
        edges = graphs.read(text, WORDINGS, str.title, directed=True)
        queries = tuple(dict.fromkeys((q, low.title(), high.title()) for q, low, high in QUERY.findall(text)))
        if not edges or not queries:
            raise ValueError("no bosses and no queries in the text")
        return Firms(edges, queries)

    def solve(self, view: Firms) -> dict[str, list[str]]:
        """Of a partial view: as far up as it is known, and from there straight to the higher person."""
        ways = {q: (trees.climb(dict(view.edges), low), high) for q, low, high in view.queries}
        return {q: way[: way.index(high) + 1] if high in way else [*way, high] for q, (way, high) in ways.items()}

    def key(self, instance: Firms) -> FieldsKey:
        return FieldsKey({q: tuple(chain) for q, chain in self.solve(instance).items()})

    def form(self, view: Firms) -> FieldsForm:
        return FieldsForm({q: Field("order", NAMES) for q, _, _ in view.queries})

    def rivals(self, instance: Firms, view: Firms) -> Iterator[Firms]:
        """The same firms with one unseen person under another boss, so that all chains exist and some differ."""
        truth = self.solve(instance)
        for rival in otherwise(instance, view.edges):
            exists = all(high in trees.climb(dict(rival.edges), low) for _, low, high in rival.queries)
            if exists and self.solve(rival) != truth:
                yield rival

    def corrupt(self, view: Firms, rng: random.Random) -> Firms:
        return facts.harmful(otherwise(view, ()), self.solve, view, rng)

    def draw(self, instance: Firms, answer: object, where: object) -> str:
        given = answer if isinstance(answer, dict) else {}
        truth = self.solve(instance)
        said = {q: drawing.plain(given.get(q, "nothing")).strip("[]").replace("'", "") for q in truth}
        notes = drawing.verdicts(where, [(q, f"{q}: {', '.join(truth[q])}; answered {said[q]}") for q in truth])
        at = trees.layout(instance.edges)
        parts = [drawing.edge(at[child], at[parent]) for child, parent in instance.edges]
        for chain, (_, css) in sorted(zip(truth.values(), notes, strict=True), key=lambda drawn: drawn[1][1]):
            parts.append(drawing.line([at[name] for name in chain], css or "goal"))  # what is wrong comes last, on top
        parts += [drawing.node(at[name], name) for name in at]
        top, width = max(y for _, y in at.values()) + 24, max(x for x, _ in at.values()) + 60
        parts += drawing.notes(top, notes)
        size = max(width, 700), top + 20 * len(notes) + 10
        return drawing.svg(*size, parts, "the firms and the chains that were asked for")
