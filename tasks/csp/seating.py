"""seating: who sits where round a table, from clues of which each agent holds half (paper, table 8)."""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence
from functools import cache
from itertools import combinations, permutations

from tasks import clues, drawing, lines
from tasks.answers import OrderForm, OrderKey
from tasks.base import register
from tasks.clues import Clue, Items, Puzzle
from tasks.frames import Frame
from tasks.names import NAMES

PROMPT = """\
Some people sit round a table, no seat is empty, and everybody faces the middle of the table. Find out how they sit from
the clues, all of which are true. Exactly one seating fits all clues: a seating that is turned is still the same, one
that is mirrored is another. Name all people in the order in which they sit, going clockwise as seen from above,
beginning with anybody, for example `Alf, Bea, Cid`."""

SIZES = {"easy": (5, 4), "default": (7, 6), "hard": (9, 10)}  # people, clues; odd: nobody sits opposite to anybody
STEPS = 3  # most seats that a clue counts

WORDINGS = {
    "step": (
        "{1} is the {2} person clockwise from {0}.",
        "{1} is the {2} person to the left of {0}.",
        "{0} is the {2} person anticlockwise from {1}.",
        "{0} is the {2} person to the right of {1}.",
    ),
    "beside": ("{0} sits next to {1}.", "{0} and {1} are neighbours."),
    "apart": ("{0} does not sit next to {1}.", "{0} and {1} are no neighbours."),
}
ORDINALS = ("first", "second", "third", "fourth", "fifth", "sixth", "seventh", "eighth")
PLAIN = "Clockwise is told here as seen from above, and left and right as of people who face the middle of the table."
TURNED = "Clockwise is told here as seen from below, and left and right as of people who turn their backs to the table."
WORD = rf"(?:{'|'.join(NAMES + ORDINALS)})"


def sits(n: int, person: int, seat: int) -> int:
    """The seatings that give a person a seat, counted clockwise from the first person."""
    if person and seat % n:
        return clues.placings(n - 1)[person - 1][seat % n - 1]
    return 0 if person or seat % n else clues.every(n - 1, 1)


@cache
def fitting(n: int, kind: str, a: int, b: int, seats: int = 0) -> int:
    """The seatings that fit a clue about persons `a` and `b`."""
    if kind == "apart":
        return clues.every(n - 1, 1) ^ fitting(n, "beside", a, b)
    if kind == "beside":
        return fitting(n, "step", a, b, 1) | fitting(n, "step", b, a, 1)
    found = 0
    for seat in range(n):
        found |= sits(n, a, seat) & sits(n, b, seat + seats)
    return found


def seen(clue: Clue, turned: bool) -> Clue:
    """A clue as told from below, or from above; its own inverse."""
    return (clue[0], clue[2], clue[1], *clue[3:]) if turned and clue[0] == "step" else clue


def meant(told: Clue, people: Sequence[str], turned: bool) -> Clue:
    """A told clue as a puzzle has it. Raises ValueError for one about people who are not at the table."""
    kind, a, b, *ordinal = told
    if a == b or not {a, b} <= {*people} or not {*ordinal} <= {*ORDINALS[: len(people) - 1]}:
        raise ValueError(f"a clue tells of {' and '.join(told[1:])}, which is not possible at the table")
    if kind == "step":
        return seen((kind, a, b, str(ORDINALS.index(ordinal[0]) + 1)), turned)
    return kind, *sorted((a, b))


@register
class Seating(clues.ClueTask):
    """A world is an order of all people but the first one by name, clockwise from there. Clues are ("step", from whom,
    to whom, seats clockwise) and ("beside" or "apart", two people by name).

    In a strong frame the table is told clockwise or anticlockwise, by the hands of a clock or of the people, from above
    or from below."""

    name, family, version, rule, prompt = "seating", "csp", 1, "circular", PROMPT
    framed = ("step",)

    def sample(self, rng: random.Random, difficulty: str) -> Puzzle | None:
        size, count = SIZES[difficulty]
        return self.compose((tuple(sorted(rng.sample(NAMES, size))),), count, rng)

    def every(self, items: Items) -> int:
        return clues.every(len(items[0]) - 1, 1)

    def fitting(self, items: Items, clue: Clue) -> int:
        (people,) = items
        return fitting(len(people), clue[0], *(people.index(w) if w in people else int(w) for w in clue[1:]))

    def world(self, items: Items, number: int) -> list[list[str]]:
        (people,) = items
        return [[people[0], *(people[i + 1] for i in clues.order_at(number, len(people) - 1))]]

    def placed(self, world: Sequence[Sequence[str]]) -> Iterator[Clue]:
        for row in world:
            yield from (("step", row[0], person, str(seats)) for seats, person in enumerate(row) if seats)

    def possible(self, items: Items) -> Iterator[Clue]:
        (people,) = items
        for a, b in permutations(people, 2):
            yield from (("step", a, b, str(seats)) for seats in range(1, min(STEPS, len(people) // 2) + 1))
        for pair in combinations(people, 2):
            yield from (("beside", *pair), ("apart", *pair))

    def opposite(self, clue: Clue) -> Clue:
        kind, a, b, *rest = clue
        if kind == "step":
            return kind, b, a, *rest
        return "beside" if kind == "apart" else "apart", *sorted((a, b))

    def render(self, view: Puzzle, frame: Frame) -> str:
        turned = bool(frame.variant & 1)
        told = [TURNED if turned else PLAIN] if frame.friction != "natural" else []
        told.append(lines.listing("People", lines.numbered(view.items[0])))
        for clue in view.clues:
            kind, a, b, *seats = seen(clue, turned)
            way = frame.variant >> 1 & 3 if kind == "step" else frame.variant >> 3
            told.append(WORDINGS[kind][way].format(a, b, *(ORDINALS[int(number) - 1] for number in seats)))
        return "\n".join(told)

    def parse(self, text: str) -> Puzzle:
        items = clues.lists(text, {"People": NAMES})
        told = {meant(clue, items[0], TURNED in text) for clue in lines.read(text, WORDINGS, WORD)}
        return Puzzle(items, tuple(sorted(told)))

    def solve(self, view: Puzzle) -> list[str] | None:
        """Clockwise from the first one by name. Of a partial view: the first seating that fits."""
        return self.world(view.items, clues.first(self.open(view)))[0]

    def key(self, instance: Puzzle) -> OrderKey:
        return OrderKey(tuple(self.solve(instance) or ()))

    def form(self, view: Puzzle) -> OrderForm:
        return OrderForm(view.items[0], circular=True)

    def draw(self, instance: Puzzle, answer: object, where: object) -> str:
        kept = where if isinstance(where, dict) else {}
        right, n, turn = self.solve(instance) or [], len(instance.items[0]), kept.get("turn", 0)
        outer, inner = (list(drawing.circle(instance.items[0], radius).values()) for radius in (140, 75))
        parts = [drawing.ring(180, 180, 108, "edge")]
        parts += [drawing.node(at, person) for at, person in zip(outer, right, strict=True)]
        for place, person in enumerate(kept.get("order", ())):
            x, y = inner[(place + turn) % n]
            css = "right" if person in kept.get("right", ()) else "wrong"
            parts.append(drawing.node((x + 65, y + 65), person, css))
        parts += drawing.notes(355, [(line, "") for line in self.render(instance, Frame()).split("\n")[1:]])
        size = 420, 370 + 20 * len(instance.clues)
        return drawing.svg(*size, parts, "the table: outside who sits there, inside who was answered, and the clues")
