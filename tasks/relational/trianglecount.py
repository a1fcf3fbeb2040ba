"""trianglecount: all trios of mutual friends, every friendship known to one agent only (paper, table 8)."""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations

from tasks import drawing, graphs
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
TRIES = 40  # cuts of the friendships of which the one with the fewest trios on one side is taken


@dataclass(frozen=True)
class Friends:
    """`pairs` of friends, sorted within and without."""

    pairs: tuple[graphs.Edge, ...]


def people(pairs: Sequence[graphs.Edge]) -> list[str]:
    return sorted({name for pair in pairs for name in pair})


def trios(pairs: Sequence[graphs.Edge]) -> list[list[str]]:
    known, names = set(pairs), people(pairs)
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
        best = min(
            (graphs.halves(instance.pairs, rng) for _ in range(TRIES)),
            key=lambda cut: sum(len(trios(half)) for half in cut),
        )
        return tuple(map(Friends, best))

    def merge(self, views: Sequence[Friends]) -> Friends:
        return Friends(graphs.union([v.pairs for v in views]))

    def render(self, view: Friends, frame: Frame) -> str:
        head = ["People are called by their plain names; a dash is a friendship."] * (frame.friction == "none")
        return "\n".join([*head, *graphs.tell(view.pairs, WORDINGS, frame)])

    def parse(self, text: str) -> Friends:
        pairs = graphs.read(text, WORDINGS, "title", directed=False)
        if not pairs:
            raise ValueError("no friendships in the text")
        return Friends(pairs)

    def solve(self, view: Friends) -> list[list[str]] | None:
        """Of a partial view without a trio: every group that lacks a single friendship."""
        known = set(view.pairs)
        groups = map(list, combinations(people(view.pairs), 3))
        return trios(view.pairs) or [g for g in groups if sum(p in known for p in combinations(g, 2)) == 2] or None

    def key(self, instance: Friends) -> GroupsKey:
        return GroupsKey(frozenset(map(frozenset, trios(instance.pairs))))

    def form(self, view: Friends) -> GroupsForm:
        return GroupsForm(NAMES, 3)

    def rivals(self, instance: Friends, view: Friends) -> Iterator[Friends]:
        """The same friends with an unseen friendship exchanged for another one, so that the trios differ."""
        ours = trios(instance.pairs)
        spare = [pair for pair in combinations(people(instance.pairs), 2) if pair not in instance.pairs]
        for gone in instance.pairs:
            for other in spare if gone not in view.pairs else ():
                pairs = tuple(sorted({*instance.pairs, other} - {gone}))
                if (found := trios(pairs)) and found != ours:
                    yield Friends(pairs)

    def corrupt(self, view: Friends, rng: random.Random) -> Friends:
        lost = rng.choice(view.pairs)
        spare = [[p for p in combinations(some, 2) if p not in view.pairs] for some in (people(view.pairs), NAMES)]
        return Friends(tuple(sorted({*view.pairs, rng.choice(spare[0] or spare[1])} - {lost})))

    def draw(self, instance: Friends, answer: object, where: object) -> str:
        kept = where if isinstance(where, dict) else {}
        right, wrong = kept.get("right", []), kept.get("wrong", [])
        at = drawing.circle(people(instance.pairs))
        truth = trios(instance.pairs)
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
