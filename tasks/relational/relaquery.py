"""relaquery: kinship queries over parent edges, every edge known to one agent only (paper, appendix F)."""

from __future__ import annotations

import random
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise

from tasks import drawing
from tasks.answers import QueryForm, FieldsKey
from tasks.base import Task, register
from tasks.frames import Frame
from tasks.names import NAMES

PROMPT = """\
Given facts about who is whose parent in one family, answer each query with the closest kinship that follows from all
the facts: what the first person is to the second. People who share at least one parent are siblings. Answer
every query on a line of its own that begins with the query's name, for example `q9: Alf, cousin, Bea`."""

SIZES = {"easy": ((2, 3, 4), 2), "default": ((3, 4, 6), 4), "hard": ((4, 7, 9), 6)}  # people a generation, queries
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

Edge = tuple[str, str]


@dataclass(frozen=True)
class Kin:
    """Parent edges `(parent, child)`, sorted, and queries `(name, subject, object)`."""

    edges: tuple[Edge, ...]
    queries: tuple[tuple[str, str, str], ...]


def kinships(edges: Sequence[Edge], x: str, y: str) -> list[str]:
    """Every kinship in which `x` stands to `y`, closest first."""
    parents: dict[str, set[str]] = {}
    for parent, child in edges:
        parents.setdefault(child, set()).add(parent)

    def of(people: set[str]) -> set[str]:
        return {p for one in people for p in parents.get(one, ())}

    def siblings(one: str) -> set[str]:
        return {c for c, ps in parents.items() if c != one and ps & parents.get(one, set())}

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


WORDINGS = ("{p} is a parent of {c}.", "{c} is a child of {p}.", "One parent of {c} is {p}.", "{p} has the child {c}.")
STYLES = (str, str.upper, "member {}".format, lambda name: f"member {name.upper()}")
NAME = r"(?:member )?([A-Z]\w+)"
FACTS = tuple(re.compile(r"\b" + w[:-1].format(p=NAME, c=NAME)) for w in WORDINGS)
QUERY = re.compile(rf"\b(q\d+): what is {NAME} to {NAME}\?")


@register
class RelaQuery(Task[Kin]):
    name, family, version, rule, prompt = "relaquery", "relational", 1, "fields", PROMPT

    def sample(self, rng: random.Random, difficulty: str) -> Kin | None:
        sizes, wanted = SIZES[difficulty]
        people = rng.sample(NAMES, sum(sizes))
        generations = [people[sum(sizes[:i]) : sum(sizes[: i + 1])] for i in range(len(sizes))]
        edges = set()
        for older, younger in pairwise(generations):
            for child in younger:
                edges |= {(p, child) for p in rng.sample(older, 2 if rng.random() < TWO_PARENTS else 1)}
        ordered = tuple(sorted(edges))
        by_kinship: dict[str, list[Edge]] = {}
        for x in people:
            for y in people:
                found = kinships(ordered, x, y) if x != y else []
                if len(found) == 1 and found[0] not in ("parent", "child"):
                    by_kinship.setdefault(found[0], []).append((x, y))
        kinds = sorted(by_kinship)
        if len(kinds) < min(wanted, 4):
            return None
        rng.shuffle(kinds)
        pairs: list[Edge] = []
        while len(pairs) < wanted:  # kinships take turns, so that no single guess does well on all queries
            left = [p for p in by_kinship[kinds[len(pairs) % len(kinds)]] if p not in pairs and p[::-1] not in pairs]
            if not left:
                return None
            pairs.append(rng.choice(left))
        return Kin(ordered, tuple((f"q{i + 1}", x, y) for i, (x, y) in enumerate(pairs)))

    def split(self, instance: Kin, rng: random.Random) -> tuple[Kin, ...]:
        """Edge-disjoint halves; of 60 random ones, that in which most queries are open to both agents."""
        best: tuple[int, tuple[Kin, ...]] = (-1, ())
        for _ in range(60):
            edges = list(instance.edges)
            rng.shuffle(edges)
            half = len(edges) // 2
            views = tuple(replace(instance, edges=tuple(sorted(part))) for part in (edges[:half], edges[half:]))
            is_open = sum(not kinships(v.edges, x, y) for v in views for _, x, y in instance.queries)
            if is_open > best[0]:
                best = is_open, views
            if is_open == len(views) * len(instance.queries):
                break
        return best[1]

    def merge(self, views: Sequence[Kin]) -> Kin:
        queries = next((v.queries for v in views if v.queries), ())
        if any(v.queries != queries for v in views if v.queries):
            raise ValueError("the queries differ")
        return Kin(tuple(sorted({e for v in views for e in v.edges})), queries)

    def render(self, view: Kin, frame: Frame) -> str:
        def told(name: str) -> str:
            return STYLES[frame.variant // 4](name)

        wording = WORDINGS[frame.variant % 4]
        lines = [wording.format(p=told(p), c=told(c)) for p, c in view.edges]
        lines += [f"{q}: what is {told(x)} to {told(y)}?" for q, x, y in view.queries]
        if frame.friction == "none":
            lines.insert(0, f"Kinships are called {', '.join(sorted(INVERSE))}; facts are told as parent of child.")
        return "\n".join(lines)

    def parse(self, text: str) -> Kin:
        edges = set()
        for pattern, wording in zip(FACTS, WORDINGS, strict=True):
            for a, b in pattern.findall(text):
                pair = a.title(), b.title()
                edges.add(pair if wording.index("{p}") < wording.index("{c}") else pair[::-1])
        queries = tuple(dict.fromkeys((q, x.title(), y.title()) for q, x, y in QUERY.findall(text)))
        if not edges:
            raise ValueError("no fact about a parent in the text")
        return Kin(tuple(sorted(edges)), queries)

    def solve(self, view: Kin) -> dict[str, list[str]] | None:
        """Where no kinship follows from a partial view the guess is a cousin."""
        return {q: [x, (kinships(view.edges, x, y) or ["cousin"])[0], y] for q, x, y in view.queries} or None

    def key(self, instance: Kin) -> FieldsKey:
        return FieldsKey({q: (x, kinships(instance.edges, x, y)[0], y) for q, x, y in instance.queries})

    def form(self, view: Kin) -> QueryForm:
        return QueryForm({q: (x, y) for q, x, y in view.queries}, WORDS, INVERSE)

    def rivals(self, instance: Kin, view: Kin) -> Iterator[Kin]:
        """The same family with one unseen edge bound to another parent, all queries still having one answer."""
        people = sorted({p for e in instance.edges for p in e})
        children = {c for _, c in instance.edges}
        for parent, child in instance.edges:
            if (parent, child) in view.edges:
                continue
            for other in people:
                if other in (parent, child) or (other in children) != (parent in children):
                    continue
                edges = tuple(sorted({*instance.edges, (other, child)} - {(parent, child)}))
                if len(edges) == len(instance.edges) and all(
                    len(kinships(edges, x, y)) == 1 for _, x, y in instance.queries
                ):
                    yield replace(instance, edges=edges)

    def corrupt(self, view: Kin, rng: random.Random) -> Kin:
        parent, child = rng.choice(view.edges)
        people = sorted({p for e in view.edges for p in e} | {p for _, x, y in view.queries for p in (x, y)})
        other = rng.choice([p for p in people if p not in (parent, child) and (p, child) not in view.edges])
        return replace(view, edges=tuple(sorted({*view.edges, (other, child)} - {(parent, child)})))

    def draw(self, instance: Kin, answer: object, where: object) -> str:
        depth: dict[str, int] = {}
        for _ in instance.edges:
            for parent, child in instance.edges:
                depth[child] = max(depth.get(child, 0), depth.setdefault(parent, 0) + 1)
        rows = [sorted(p for p in depth if depth[p] == d) for d in range(max(depth.values()) + 1)]
        wide = max(map(len, rows))
        at: dict[str, tuple[float, float]] = {}
        for d, row in enumerate(rows):
            at |= {person: ((i + 0.5) * 90 * wide / len(row), d * 80 + 26) for i, person in enumerate(row)}
        parts = [drawing.line([at[p], at[c]], "edge") for p, c in instance.edges]
        for person, (x, y) in at.items():
            parts += [drawing.rect(x - 30, y - 14, 60, 24, "node"), drawing.text(x, y + 4, person)]
        verdict = where if isinstance(where, dict) else {}
        for i, (q, triple) in enumerate(self.key(instance).truth.items()):
            css = "right" if q in verdict.get("right", ()) else "wrong" if q in verdict.get("wrong", ()) else ""
            parts.append(drawing.text(8, len(rows) * 80 + 16 + 20 * i, f"{q}: {' '.join(triple)}", css, "start"))
        return drawing.svg(90 * wide, len(rows) * 80 + 20 * len(instance.queries) + 10, parts, "the family")
