"""trianglecount: all trios of mutual friends, every friendship known to one agent only (paper, table 8)."""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations

from tasks import drawing, facts, graphs
from tasks.answers import GroupsForm, GroupsKey
from tasks.base import Task, register
from tasks.frames import Frame
from tasks.names import NAMES

PROMPT = """\
Given who is friends with whom, find every trio, that is every group of three people in which each is friends with both
of the others. Friendship is mutual. Give each trio once, in round brackets, in any order, for example
`(Alf, Bea, Cid), (Bea, Dot, Eve)`."""

# people, friendships, trios at least and at most
SIZES = {"easy": (6, 8, 2, 3), "default": (8, 13, 3, 6), "hard": (12, 22, 6, 10)}
TRIES = 40  # cuts of the friendships that are tried


@dataclass(frozen=True)
class Friends:
    """`pairs` of friends, sorted within and without."""

    pairs: graphs.Edges


def trios(pairs: graphs.Edges) -> list[list[str]]:
    known, names = set(pairs), graphs.nodes(pairs)
    return [[a, b, c] for a, b in pairs for c in names if c > b and (a, c) in known and (b, c) in known]


WORDINGS = ("{a} - {b}", "{a} and {b} are friends", "{a} has {b} for a friend", "friends: {a} with {b}")


@register
class TriangleCount(Task[Friends]):
    name, family, version, rule, prompt = "trianglecount", "relational", 1, "groups", PROMPT

    def sample(self, rng: random.Random, difficulty: str) -> Friends | None:
        size, count, least, most = SIZES[difficulty]
        names = sorted(rng.sample(NAMES, size))
        pairs = tuple(sorted(rng.sample(list(combinations(names, 2)), count)))
        return Friends(pairs) if least <= len(trios(pairs)) <= most else None

    def split(self, instance: Friends, rng: random.Random) -> tuple[Friends, ...]:
        """Halves such that, as far as possible, no trio is known to one agent."""

        def known(cut: Sequence[graphs.Edges]) -> int:
            return sum(len(trios(half)) for half in cut)

        return tuple(map(Friends, graphs.secret_halves(instance.pairs, rng, TRIES, known)))

    def merge(self, views: Sequence[Friends]) -> Friends:
        return Friends(graphs.union(view.pairs for view in views))

    def render(self, view: Friends, frame: Frame) -> str:
        head = graphs.heading("People are called by their plain names; a dash is a friendship.", frame)
        return "\n".join([*head, *graphs.tell(view.pairs, WORDINGS, frame)])

    def parse(self, text: str) -> Friends:
        if not (pairs := graphs.read(text, WORDINGS, str.title)):
            raise ValueError("no friendships in the text")
        return Friends(pairs)

    def solve(self, view: Friends) -> list[list[str]] | None:
        """Of a partial view without a trio: every group that lacks a single friendship."""
        known = set(view.pairs)
        groups = map(list, combinations(graphs.nodes(view.pairs), 3))
        return trios(view.pairs) or [g for g in groups if sum(p in known for p in combinations(g, 2)) == 2] or None

    def key(self, instance: Friends) -> GroupsKey:
        return GroupsKey(frozenset(map(frozenset, trios(instance.pairs))))

    def form(self, view: Friends) -> GroupsForm:
        return GroupsForm(NAMES, 3)

    def rivals(self, instance: Friends, view: Friends) -> Iterator[Friends]:
        """The same friends with an unseen friendship exchanged for another one, so that the trios differ."""
        ours = trios(instance.pairs)
        for gone, come in graphs.exchanges(instance.pairs, view.pairs):
            pairs = facts.exchanged(instance.pairs, gone, come)
            if (found := trios(pairs)) and found != ours:
                yield Friends(pairs)

    def corrupt(self, view: Friends, rng: random.Random) -> Friends:
        return Friends(graphs.lie(view.pairs, NAMES, rng))

    def draw(self, instance: Friends, answer: object, where: object) -> str:
        kept = where if isinstance(where, dict) else {}
        right, wrong = kept.get("right", []), kept.get("wrong", [])
        at, truth = drawing.circle(graphs.nodes(instance.pairs)), trios(instance.pairs)
        parts = []
        for pair in instance.pairs:
            whole = [trio for trio in truth if set(pair) <= set(trio)]
            css = "right" if any(trio in right for trio in whole) else "goal" if whole else "edge"
            parts.append(drawing.edge(at[pair[0]], at[pair[1]], css))
        parts += [drawing.node(at[name], name) for name in at]
        verdicts = [(trio, ("found", "right") if trio in right else ("missed", "wrong")) for trio in truth]
        lines = [(f"{', '.join(trio)}: {said}", css) for trio, (said, css) in verdicts]
        lines += [(f"{', '.join(group)}: no trio", "wrong") for group in wrong[:5]]
        parts += drawing.notes(340, lines)
        return drawing.svg(340, 350 + 20 * len(lines), parts, "the friends and the trios that were answered")
