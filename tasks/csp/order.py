"""order: the one order of a line of people, from clues of which each agent holds half (paper, table 8)."""

from __future__ import annotations

import random
import re
from collections.abc import Iterator
from itertools import permutations

from tasks import clues, drawing, lines
from tasks.answers import OrderForm, OrderKey
from tasks.base import register
from tasks.clues import Clue, Items, Puzzle
from tasks.frames import Frame
from tasks.names import NAMES

PROMPT = """\
Some people stand in a line. Find the order in which they stand from the clues, all of which are true. "Directly" and
"just" mean that nobody is between the two. Exactly one order fits all clues. Give the names of all people from the
first of the line to the last, for example `Alf, Bea, Cid`."""

SIZES = {"easy": (5, 6), "default": (7, 8), "hard": (9, 12)}  # people, clues

WORDINGS = {
    "before": ("{0} comes before {1}.", "{1} comes after {0}.", "{0} is ahead of {1}.", "{1} is behind {0}."),
    "directly": (
        "{0} comes directly before {1}.", "{1} comes directly after {0}.",
        "{0} is just ahead of {1}.", "{1} is just behind {0}.",
    ),
    "at": ("{0} is number {1}.",) * 4,
    "not at": ("{0} is not number {1}.",) * 4,
}  # fmt: skip
LINE = "The line is told from its {0} person, who is number {1}."
STATED = re.compile(LINE.format("(first|last)", "([01])"))
WORD = rf"(?:{'|'.join(NAMES)}|\d)"


@register
class Order(clues.ClueTask):
    """In a strong frame the line is told from either end, counted from 0 or 1, in one of four wordings: "before" and
    "number 2" of one agent may be "behind" and "number 4" of the other."""

    name, family, version, rule, prompt = "order", "csp", 1, "kendall", PROMPT
    framed = tuple(WORDINGS)

    def sample(self, rng: random.Random, difficulty: str) -> Puzzle | None:
        size, count = SIZES[difficulty]
        return self.compose((tuple(sorted(rng.sample(NAMES, size))),), count, rng)

    def possible(self, items: Items) -> Iterator[Clue]:
        (people,) = items
        for a, b in permutations(people, 2):
            yield from (("before", a, b), ("directly", a, b))
        for a in people:
            for place in range(1, len(people) + 1):
                yield from (("at", a, str(place)), ("not at", a, str(place)))

    def opposite(self, clue: Clue) -> Clue:
        kind, a, b = clue
        return {"at": ("not at", a, b), "not at": ("at", a, b)}.get(kind, (kind, b, a))

    def render(self, view: Puzzle, frame: Frame) -> str:
        (people,), (backwards, base) = view.items, clues.ends(frame)
        told = [LINE.format("last" if backwards else "first", base)] if frame.friction != "natural" else []
        told.append(lines.listing("People", lines.numbered(people)))
        for clue in view.clues:
            kind, *about = clues.seen(clue, len(people), backwards, base)
            told.append(WORDINGS[kind][frame.variant >> 2].format(*about))
        return "\n".join(told)

    def parse(self, text: str) -> Puzzle:
        items, said = clues.lists(text, {"People": NAMES}), STATED.search(text)
        backwards, base = (said[1] == "last", int(said[2])) if said else (False, 1)
        told = {clues.meant(clue, items, backwards, base) for clue in lines.read(text, WORDINGS, WORD)}
        return Puzzle(items, tuple(sorted(told)))

    def solve(self, view: Puzzle) -> list[str] | None:
        """Of a partial view: the first order that fits."""
        return self.world(view.items, clues.first(self.open(view)))[0]

    def key(self, instance: Puzzle) -> OrderKey:
        return OrderKey(tuple(self.solve(instance) or ()))

    def form(self, view: Puzzle) -> OrderForm:
        return OrderForm(view.items[0])

    def draw(self, instance: Puzzle, answer: object, where: object) -> str:
        given = where.get("order", []) if isinstance(where, dict) else []
        right = self.solve(instance) or []
        fits = self.open(Puzzle(instance.items, tuple(self.placed([given])))) if len(given) == len(right) else 0
        parts = []
        for row, (title, order) in enumerate((("answered", given), ("right", right))):
            parts.append(drawing.text(8, 34 + 54 * row, title, "", "start"))
            for i, person in enumerate(order):
                css = "node" if row else "right" if person == right[i] else "wrong"
                parts.append(drawing.node((110 + 75 * i, 30 + 54 * row), person, css))
                parts.append(drawing.text(110 + 75 * i, 58 + 54 * row, i + 1))
        said = []
        for clue, mask in self.weighed(instance.items, instance.clues).items():
            said.append((WORDINGS[clue[0]][0].format(*clue[1:]), "right" if mask & fits else "wrong" if given else ""))
        parts += drawing.notes(120, said)
        size = 90 + 75 * len(right), 135 + 20 * len(said)
        return drawing.svg(*size, parts, "the line as answered, the line as it is, and the clues that the answer fits")
