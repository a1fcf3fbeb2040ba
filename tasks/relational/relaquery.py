"""relaquery: kinship queries over parent edges, every edge known to one agent only (paper, appendix F)."""

from __future__ import annotations

import random
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from itertools import pairwise, permutations

from tasks import drawing, facts, graphs
from tasks.answers import FieldsKey, QueryForm
from tasks.base import Task, register
from tasks.frames import Frame
from tasks.names import NAMES

PROMPT = """\
Given facts about who is whose parent in one family, answer each query with the closest kinship that follows from all
the facts: what the first person is to the second. People who share at least one parent are siblings. Answer
every query on a line of its own that begins with the query's name, for example `q9: Alf, cousin, Bea`."""

SIZES = {"easy": ((2, 3, 4), 2), "default": ((3, 4, 6), 4), "hard": ((4, 7, 9), 6)}  # people a generation, queries
TRIES = 60  # cuts of the edges that are tried
TWO_PARENTS = 0.25  # share of children with a second recorded parent

INVERSE = {
    "parent": "child", "grandparent": "grandchild", "sibling": "sibling", "cousin": "cousin",
    "aunt_or_uncle": "niece_or_nephew",
}  # fmt: skip
INVERSE |= {b: a for a, b in INVERSE.items()}
WORDS = {r: r for r in INVERSE} | {
    word: relation
    for relation, words in {
        "parent": "mother father mum mom dad",
        "child": "son daughter",
        "grandparent": "grandmother grandfather grandma grandpa granny",
        "grandchild": "grandson granddaughter",
        "sibling": "brother sister half-sibling half-brother half-sister",
        "cousin": "first-cousin",
        "aunt_or_uncle": "aunt uncle aunt/uncle uncle/aunt pibling uncle-or-aunt",
        "niece_or_nephew": "niece nephew niece/nephew nephew/niece nibling nephew-or-niece",
    }.items()
    for word in words.split()
}


@dataclass(frozen=True)
class Kin:
    """Parent edges `(parent, child)`, sorted, and queries `(name, subject, object)`."""

    edges: graphs.Edges
    queries: tuple[tuple[str, str, str], ...]


@lru_cache(maxsize=512)
def relatives(edges: graphs.Edges) -> tuple[dict[str, set[str]], dict[str, set[str]]]:
    """The parents and the siblings of everybody who has a known parent."""
    parents: dict[str, set[str]] = {}
    for parent, child in edges:
        parents.setdefault(child, set()).add(parent)
    return parents, {
        one: {c for c, theirs in parents.items() if c != one and theirs & ours} for one, ours in parents.items()
    }


def kinships(edges: graphs.Edges, x: str, y: str) -> list[str]:
    """Every kinship in which `x` stands to `y`, closest first."""
    parents, by_name = relatives(edges)

    def of(people: set[str]) -> set[str]:
        return {p for one in people for p in parents.get(one, ())}

    def siblings(one: str) -> set[str]:
        return by_name.get(one, set())

    px, py = of({x}), of({y})
    tests = {
        "parent": x in py,
        "child": y in px,
        "sibling": bool(px & py) and x != y,
        "grandparent": x in of(py),
        "grandchild": y in of(px),
        "aunt_or_uncle": any(x in siblings(p) for p in py),
        "niece_or_nephew": any(y in siblings(p) for p in px),
        "cousin": any(siblings(p) & py for p in px),
    }
    return [relation for relation, holds in tests.items() if holds]


WORDINGS = ("{a} is a parent of {b}", "{b} is a child of {a}", "One parent of {b} is {a}", "{a} has the child {b}")
QUERY = re.compile(rf"\b(q\d+): what is {graphs.NODE} to {graphs.NODE}\?")


@register
class RelaQuery(Task[Kin]):
    name, family, version, rule, prompt = "relaquery", "relational", 1, "fields", PROMPT

    def sample(self, rng: random.Random, difficulty: str) -> Kin | None:
        sizes, wanted = SIZES[difficulty]
        people = rng.sample(NAMES, sum(sizes))
        generations = [people[sum(sizes[:i]) : sum(sizes[: i + 1])] for i in range(len(sizes))]
        drawn = set()
        for older, younger in pairwise(generations):
            for child in younger:
                drawn |= {(p, child) for p in rng.sample(older, 2 if rng.random() < TWO_PARENTS else 1)}
        edges = tuple(sorted(drawn))
        by_kinship: dict[str, list[graphs.Edge]] = {}
        for x, y in permutations(people, 2):
            found = kinships(edges, x, y)
            if len(found) == 1 and found[0] not in ("parent", "child"):
                by_kinship.setdefault(found[0], []).append((x, y))
        kinds = sorted(by_kinship)
        if len(kinds) < min(wanted, 4):
            return None
        rng.shuffle(kinds)
        pairs: list[graphs.Edge] = []
        while len(pairs) < wanted:  # kinships take turns, so that no single guess does well on all queries
            left = [p for p in by_kinship[kinds[len(pairs) % len(kinds)]] if p not in pairs and p[::-1] not in pairs]
            if not left:
                return None
            pairs.append(rng.choice(left))
        return Kin(edges, tuple((f"q{i}", x, y) for i, (x, y) in enumerate(pairs, 1)))

    def split(self, instance: Kin, rng: random.Random) -> tuple[Kin, ...]:
        """Halves that leave most queries open to both agents."""

        def answered(cut: Sequence[graphs.Edges]) -> int:
            return sum(bool(kinships(half, x, y)) for half in cut for _, x, y in instance.queries)

        return tuple(
            replace(instance, edges=half) for half in graphs.secret_halves(instance.edges, rng, TRIES, answered)
        )

    def merge(self, views: Sequence[Kin]) -> Kin:
        """A view may come without queries."""
        queries = {view.queries for view in views} - {()}
        if len(queries) > 1:
            raise ValueError("the queries differ")
        return Kin(graphs.union(view.edges for view in views), next(iter(queries), ()))

    def render(self, view: Kin, frame: Frame) -> str:
        lines = graphs.heading(
            f"Kinships are called {', '.join(sorted(INVERSE))}; facts are told as parent of child.", frame
        )
        lines += [f"{told}." for told in graphs.tell(view.edges, WORDINGS, frame, "member")]
        for q, x, y in view.queries:
            lines.append(f"{q}: what is {graphs.style(x, frame, 'member')} to {graphs.style(y, frame, 'member')}?")
        return "\n".join(lines)

    def parse(self, text: str) -> Kin:
        edges = graphs.read(text, WORDINGS, str.title, directed=True)
        queries = tuple(dict.fromkeys((q, x.title(), y.title()) for q, x, y in QUERY.findall(text)))
        if not edges:
            raise ValueError("no fact about a parent in the text")
        return Kin(edges, queries)

    def solve(self, view: Kin) -> dict[str, list[str]]:
        """Where no kinship follows from a partial view the guess is a cousin."""
        return {q: [x, (kinships(view.edges, x, y) or ["cousin"])[0], y] for q, x, y in view.queries}

    def key(self, instance: Kin) -> FieldsKey:
        return FieldsKey({q: (x, kinships(instance.edges, x, y)[0], y) for q, x, y in instance.queries})

    def form(self, view: Kin) -> QueryForm:
        return QueryForm({q: (x, y) for q, x, y in view.queries}, WORDS, INVERSE)

    def rivals(self, instance: Kin, view: Kin) -> Iterator[Kin]:
        """The same family with one unseen edge bound to another parent, all queries still having one answer."""
        people, children = graphs.nodes(instance.edges), {child for _, child in instance.edges}
        for parent, child in (edge for edge in instance.edges if edge not in view.edges):
            for other in people:
                alike = (other in children) == (parent in children)
                if alike and other != child and (other, child) not in instance.edges:
                    edges = facts.exchanged(instance.edges, (parent, child), (other, child))
                    if all(len(kinships(edges, x, y)) == 1 for _, x, y in instance.queries):
                        yield replace(instance, edges=edges)

    def corrupt(self, view: Kin, rng: random.Random) -> Kin:
        parent, child = rng.choice(view.edges)
        people = sorted({p for e in view.edges for p in e} | {p for _, *asked in view.queries for p in asked})
        other = rng.choice([p for p in people if p != child and (p, child) not in view.edges])
        return replace(view, edges=facts.exchanged(view.edges, (parent, child), (other, child)))

    def draw(self, instance: Kin, answer: object, where: object) -> str:
        depth: dict[str, int] = {}
        for _ in instance.edges:
            for parent, child in instance.edges:
                depth[child] = max(depth.get(child, 0), depth.setdefault(parent, 0) + 1)
        rows = [sorted(p for p in depth if depth[p] == d) for d in range(max(depth.values()) + 1)]
        width, top = 90 * max(map(len, rows)), 80 * len(rows) - 30
        at = {p: ((i + 0.5) * width / len(row), 80 * d + 26) for d, row in enumerate(rows) for i, p in enumerate(row)}
        parts = [drawing.edge(at[parent], at[child]) for parent, child in instance.edges]
        parts += [drawing.node(at[person], person) for person in at]
        lines = [(q, f"{q}: {' '.join(triple)}") for q, triple in self.solve(instance).items()]
        parts += drawing.notes(top, drawing.verdicts(where, lines))
        return drawing.svg(width, top + 20 * len(lines) + 10, parts, "the family")
