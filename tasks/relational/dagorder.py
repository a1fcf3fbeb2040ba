"""dagorder: the one order that all precedences allow, every precedence known to one agent only (paper, table 8)."""

from __future__ import annotations

import random
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import combinations, pairwise

from tasks import drawing, facts, graphs
from tasks.answers import OrderForm, OrderKey
from tasks.base import Task, register
from tasks.frames import Frame
from tasks.names import THINGS

PROMPT = """\
Things are to be packed one after another. Given for some pairs which of the two is to be packed earlier, find the order
of all things. Exactly one order keeps to everything that is given. Give all things in order, the first one first, for
example `axe, bell, cup`."""

SIZES = {"easy": (6, 3), "default": (8, 4), "hard": (12, 8)}  # things, precedences beside those between neighbours


@dataclass(frozen=True)
class Packing:
    """`things` by name; `before`: (earlier, later), sorted."""

    things: tuple[str, ...]
    before: graphs.Edges


def ordered(things: Sequence[str], before: graphs.Edges) -> list[str]:
    """Again and again the thing for which the fewest things have to be waited, the first by name of several."""
    order: list[str] = []
    while len(order) < len(things):
        left = [t for t in things if t not in order]
        order.append(min(left, key=lambda t: sum(b == t and a in left for a, b in before)))
    return order


WORDINGS = ("{a} goes in before {b}", "{b} goes in after {a}", "{a} precedes {b}", "{b} has to wait for {a}")
LISTED = re.compile(rf"To be packed: ({graphs.NODE}(?:, {graphs.NODE})*)\.")


@register
class DagOrder(Task[Packing]):
    """Exactly one order is possible because every two neighbours of it are a precedence (a Hamiltonian path)."""

    name, family, version, rule, prompt = "dagorder", "relational", 1, "kendall", PROMPT

    def sample(self, rng: random.Random, difficulty: str) -> Packing | None:
        size, more = SIZES[difficulty]
        order = rng.sample(THINGS, size)
        chain = list(pairwise(order))
        others = rng.sample([pair for pair in combinations(order, 2) if pair not in chain], more)
        return Packing(tuple(sorted(order)), tuple(sorted(chain + others)))

    def split(self, instance: Packing, rng: random.Random) -> tuple[Packing, ...]:
        """By turns along the order, so that an agent never knows three things in a row; then the other precedences."""
        chain = list(pairwise(ordered(instance.things, instance.before)))
        others = [pair for pair in instance.before if pair not in chain]
        dealt = [*chain, *rng.sample(others, len(others))]
        turn = rng.randrange(2)
        return tuple(replace(instance, before=tuple(sorted(dealt[first::2]))) for first in (turn, 1 - turn))

    def merge(self, views: Sequence[Packing]) -> Packing:
        if len({view.things for view in views}) > 1:
            raise ValueError("the lists of things differ")
        before = graphs.union(view.before for view in views)
        if both := next(((a, b) for a, b in before if (b, a) in before), None):
            raise ValueError(f"{both[0]} is told to go in before {both[1]} and after it")
        return replace(views[0], before=before)

    def render(self, view: Packing, frame: Frame) -> str:
        head = graphs.heading("Things are called by their plain names; the earlier one is told first.", frame)
        listed = ", ".join(graphs.style(thing, frame) for thing in view.things)
        return "\n".join([*head, f"To be packed: {listed}.", *graphs.tell(view.before, WORDINGS, frame)])

    def parse(self, text: str) -> Packing:
        listed, before = LISTED.search(text), graphs.read(text, WORDINGS, str.lower, directed=True)
        if not listed or not before:
            raise ValueError("no list of things and no precedence in the text")
        things = {name.lower() for name in re.findall(graphs.NODE, listed[1])}
        return Packing(tuple(sorted(things)), before)

    def solve(self, view: Packing) -> list[str] | None:
        return ordered(view.things, view.before)

    def key(self, instance: Packing) -> OrderKey:
        return OrderKey(tuple(ordered(instance.things, instance.before)))

    def form(self, view: Packing) -> OrderForm:
        return OrderForm(view.things)

    def rivals(self, instance: Packing, view: Packing) -> Iterator[Packing]:
        """What the view holds, in the order in which two neighbours have changed places that it knows nothing of."""
        order = ordered(instance.things, instance.before)
        for i, (a, b) in enumerate(pairwise(order)):
            if (a, b) not in view.before:
                other = [*order[:i], b, a, *order[i + 2 :]]
                yield replace(instance, before=graphs.union([view.before, pairwise(other)]))

    def corrupt(self, view: Packing, rng: random.Random) -> Packing:
        a, b = rng.choice(view.before)
        return replace(view, before=facts.exchanged(view.before, (a, b), (b, a)))

    def draw(self, instance: Packing, answer: object, where: object) -> str:
        """On the left the right order with all precedences, on the right the answered one."""
        kept = where if isinstance(where, dict) else {}
        given = kept.get("order", [])
        wrong = {thing for pair in kept.get("wrong", []) if set(pair) <= set(given) for thing in pair}
        order = ordered(instance.things, instance.before)
        ours = {thing: (150.0, 24.0 + 44 * i) for i, thing in enumerate(order)}
        theirs = {thing: (320.0, 24.0 + 44 * i) for i, thing in enumerate(given)}
        parts = []
        for a, b in instance.before:
            (x, top), (_, end) = ours[a], ours[b]
            if end - top == 44:
                parts.append(drawing.edge(ours[a], ours[b], tip=True))
            else:
                bend = (x - 40 - 0.28 * (end - top), (top + end) / 2)
                parts += [drawing.line([(x, top), bend], "edge"), drawing.edge(bend, (x - 24, end), tip=True)]
        parts += [drawing.edge(ours[t], theirs[t], "wrong" if t in wrong else "right") for t in given]
        parts += [drawing.node(ours[t], t, "goal" if t in given or not given else "wrong") for t in order]
        parts += [drawing.node(theirs[t], t, "wrong" if t in wrong else "right") for t in given]
        return drawing.svg(380, 44 * len(order) + 4, parts, "the right order and the answered one")
