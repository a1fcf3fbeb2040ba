"""attrcombo: queries on combinations of attributes, of which each agent knows one half (paper, table 8)."""

from __future__ import annotations

import random
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations

from tasks import clues, drawing
from tasks.answers import Field, FieldsForm, FieldsKey
from tasks.base import Task, register
from tasks.frames import Frame
from tasks.names import COLOURS, THINGS

PROMPT = """\
Some things lie in a store, each with a colour, a material, a size and a weight. Answer the queries about them. A query
"which things" has one answer or several: name them all. "How many" asks for a number. "Heaviest" and "lightest" ask for
one thing; no two weigh the same. Call things by their names. Answer every query on a line of its own that begins with
the query's name, for example `q8: spoon, rope` or `q9: 7`."""

SIZES = {"easy": (6, 2, 2), "default": (8, 3, 4), "hard": (13, 3, 6)}  # things, values an attribute, queries

VALUES = {
    "colour": COLOURS,
    "material": ("brass", "clay", "cork", "leather", "paper", "steel", "wood", "wool"),
    "size": ("large", "medium", "small"),
    "weight": tuple(map(str, range(2, 60))),
}
KINDS = ("which", "count", "heaviest", "which", "count", "lightest")
PAIRINGS = tuple(("weight", other) for other in VALUES if other != "weight")  # what one of the agents may know

Fact = tuple[str, str, str]
Query = tuple[str, ...]
Things = Mapping[str, Mapping[str, str]]

ASKED = {
    "which": ("{0}: which things have {1} {2} and {3} {4}?",),
    "count": ("{0}: how many things have {1} {2} but not {3} {4}?",),
    "heaviest": ("{0}: which is the heaviest of the things with {1} {2}?",),
    "lightest": ("{0}: which is the lightest of the things with {1} {2}?",),
}
TOLD = ("{0} has {1} {2}.", "The {1} of {0} is {2}.")
NUMBERED = "{0} stands for {1}."
THING = rf"[Tt]he (?:{'|'.join(THINGS)})|[Nn]umber \d{{1,2}}"
VALUE = "|".join(value for attribute in list(VALUES)[:3] for value in VALUES[attribute])
WORD = rf"(?:q\d|{'|'.join(VALUES)}|{VALUE}|{THING}|\d{{1,9}} k?g)"


@dataclass(frozen=True)
class Store:
    """`facts`, sorted: (thing, attribute, value). `queries`: (name, "which" or "count", attribute, value, attribute,
    value) or (name, "heaviest" or "lightest", attribute, value)."""

    facts: tuple[Fact, ...]
    queries: tuple[Query, ...]


def table(facts: Sequence[Fact]) -> dict[str, dict[str, str]]:
    """The attributes of every thing."""
    found: dict[str, dict[str, str]] = {}
    for thing, attribute, value in facts:
        found.setdefault(thing, {})[attribute] = value
    return found


def outermost(things: Things, names: Sequence[str], kind: str) -> str:
    """The heaviest or the lightest of some things."""
    return (max if kind == "heaviest" else min)(names, key=lambda name: int(things[name].get("weight", 0)))


def answer_to(things: Things, query: Query) -> str | int | frozenset[str]:
    """What is known about no thing is taken to fit."""
    _, kind, attribute, value, *other = query
    fit = [thing for thing, has in things.items() if has.get(attribute, value) == value]
    if kind == "which":
        return frozenset(thing for thing in fit if things[thing].get(other[0], other[1]) == other[1])
    if kind == "count":
        return sum(things[thing].get(other[0]) != other[1] for thing in fit)
    return outermost(things, fit or list(things), kind)


def is_fair(things: Things, query: Query) -> bool:
    """Whether both halves of a query matter for its answer, which is neither nothing nor, as a number, 0 or 1."""
    _, kind, attribute, value, *other = query
    answer = answer_to(things, query)
    one = [thing for thing, has in things.items() if has[attribute] == value]
    if isinstance(answer, int):
        return 2 <= answer < len(one)
    if kind == "which":
        two = [thing for thing, has in things.items() if has[other[0]] == other[1]]
        return 1 <= len(answer) < min(len(one), len(two))
    return len(one) > 1 and outermost(things, list(things), kind) != answer


def in_words(value: object) -> str:
    """An answer of any kind for a drawing."""
    words = ", ".join(map(drawing.plain, value)) if isinstance(value, list) else drawing.plain(value)
    return words[:80] or "nothing"


@register
class AttrCombo(Task[Store]):
    """Each agent knows two attributes of every thing, and every query needs both agents. In a strong frame things have
    numbers instead of names, each agent its own, and weights are told in kilograms or grams."""

    name, family, version, rule, prompt = "attrcombo", "csp", 1, "fields", PROMPT

    def sample(self, rng: random.Random, difficulty: str) -> Store | None:
        size, values, wanted = SIZES[difficulty]
        things = sorted(rng.sample(THINGS, size))
        weights = rng.sample(VALUES["weight"], size)
        facts = [(thing, "weight", weight) for thing, weight in zip(things, weights, strict=True)]
        known = {attribute: sorted(rng.sample(VALUES[attribute], values)) for attribute in list(VALUES)[:3]}
        for attribute, pool in known.items():  # every value about equally often
            column = (pool * size)[:size]
            facts += [(thing, attribute, value) for thing, value in zip(rng.sample(things, size), column, strict=True)]
        lone = rng.choice(PAIRINGS)[1]
        far = [attribute for attribute in known if attribute != lone]
        pairs = [(lone, x, other, y) for other in far for x in known[lone] for y in known[other]]
        pairs += [(other, y, lone, x) for lone, x, other, y in pairs]
        held = table(facts)
        queries: list[Query] = []
        for number, kind in enumerate(KINDS[:wanted], 1):
            about = pairs if kind in ("which", "count") else [(other, value) for other in far for value in known[other]]
            asked = [query[2:] for query in queries]
            fair = [a for a in about if a not in asked and is_fair(held, (f"q{number}", kind, *a))]
            if not fair:
                return None
            queries.append((f"q{number}", kind, *rng.choice(fair)))
        return Store(tuple(sorted(facts)), tuple(queries))

    def split(self, instance: Store, rng: random.Random) -> tuple[Store, ...]:
        """Two attributes each, so that every query asks for one of either agent."""
        pairings = list(PAIRINGS)
        rng.shuffle(pairings)

        def crosses(pairing: tuple[str, str], query: Query) -> bool:
            asked = query[2::2] if len(query) > 4 else ("weight", query[2])
            return (asked[0] in pairing) != (asked[1] in pairing)

        mine = next(p for p in pairings if all(crosses(p, q) for q in instance.queries))
        parts = [tuple(f for f in instance.facts if (f[1] in mine) is first) for first in rng.sample((True, False), 2)]
        return tuple(replace(instance, facts=part) for part in parts)

    def merge(self, views: Sequence[Store]) -> Store:
        facts: dict[tuple[str, str], str] = {}
        for thing, attribute, value in (fact for v in views for fact in v.facts):
            if facts.setdefault((thing, attribute), value) != value:
                raise ValueError(f"the {attribute} of the {thing} is told as {facts[thing, attribute]} and as {value}")
        if len({v.queries for v in views}) > 1:
            raise ValueError("the queries differ")
        return replace(views[0], facts=tuple(sorted((*told, value) for told, value in facts.items())))

    def render(self, view: Store, frame: Frame) -> str:
        things = sorted(table(view.facts))
        called = {thing: f"the {thing}" for thing in things}
        lines = ["Things are called by their names, weights are in kilograms."] if frame.friction == "none" else []
        if frame.friction == "strong":
            turn = frame.variant % 8 % len(things)
            things = (things[turn:] + things[:turn])[:: -1 if frame.variant & 8 else 1]
            lines += [NUMBERED.format(f"Number {number}", called[thing]) for number, thing in enumerate(things, 1)]
            called = {thing: f"number {number}" for number, thing in enumerate(things, 1)}
        for thing, attribute, value in sorted(view.facts, key=lambda fact: things.index(fact[0])):
            told = value if attribute != "weight" else f"{value}000 g" if frame.variant & 8 else f"{value} kg"
            line = TOLD[frame.variant & 1].format(called[thing], attribute, told)
            lines.append(line[0].upper() + line[1:])
        return "\n".join([*lines, *(ASKED[kind][0].format(name, *about) for name, kind, *about in view.queries)])

    def parse(self, text: str) -> Store:
        told = clues.read(text, {"number": (NUMBERED,), "fact": TOLD}, WORD)
        found = [[word.lower().removeprefix("the ") for word in one] for one in told]
        numbers = dict(one[1:] for one in found if one[0] == "number")
        facts = set()
        for _, called, attribute, told_value in (one for one in found if one[0] == "fact"):
            thing = numbers.get(called, called)
            amount, _, unit = told_value.partition(" ")
            value = str(int(amount) // (1000 if unit == "g" else 1)) if unit else amount
            if thing not in THINGS or value not in VALUES.get(attribute, ()):
                raise ValueError(f"{called}, {attribute}, {told_value}: no such thing can be")
            facts.add((thing, attribute, value))
        queries = {name: (name, kind, *about) for kind, name, *about in clues.read(text, ASKED, WORD)}
        for name, _, *about in queries.values():
            if not all(
                value in VALUES.get(attribute, ()) for attribute, value in zip(about[::2], about[1::2], strict=True)
            ):
                raise ValueError(f"{name} asks for what cannot be")
        if not facts or not queries:
            raise ValueError("no things and queries in the text")
        return Store(tuple(sorted(facts)), tuple(queries[name] for name in sorted(queries)))

    def solve(self, view: Store) -> dict[str, str | int | list[str]] | None:
        """Of a partial view: what is not known is taken to fit."""
        things = table(view.facts)
        found = {query[0]: answer_to(things, query) for query in view.queries}
        return {name: sorted(value) if isinstance(value, frozenset) else value for name, value in found.items()}

    def key(self, instance: Store) -> FieldsKey:
        return FieldsKey({query[0]: answer_to(table(instance.facts), query) for query in instance.queries})

    def form(self, view: Store) -> FieldsForm:
        things = tuple(sorted(table(view.facts)))
        fields = {"which": Field("names", things), "count": Field("number")}
        return FieldsForm({name: fields.get(kind, Field("name", things)) for name, kind, *_ in view.queries})

    def rivals(self, instance: Store, view: Store) -> Iterator[Store]:
        """The same things, two of which exchange an attribute that the view does not hold."""
        ours = self.solve(instance)
        held = {attribute for _, attribute, _ in view.facts}
        for attribute in (attribute for attribute in VALUES if attribute not in held):
            for a, b in combinations(sorted(table(instance.facts)), 2):
                swap = {(a, attribute): b, (b, attribute): a}
                facts = ((swap.get((thing, about), thing), about, value) for thing, about, value in instance.facts)
                rival = replace(instance, facts=tuple(sorted(facts)))
                things = table(rival.facts)
                if self.solve(rival) != ours and all(is_fair(things, query) for query in instance.queries):
                    yield rival

    def corrupt(self, view: Store, rng: random.Random) -> Store:
        lost = rng.choice(view.facts)
        others = {value for _, attribute, value in view.facts if attribute == lost[1]}
        pool = VALUES["weight"] if lost[1] == "weight" else sorted(others)
        told = rng.choice([v for v in pool if v != lost[2] and (lost[1] != "weight" or v not in others)])
        return replace(view, facts=tuple(sorted({*view.facts, (*lost[:2], told)} - {lost})))

    def draw(self, instance: Store, answer: object, where: object) -> str:
        given = answer if isinstance(answer, dict) else {}
        things = table(instance.facts)
        parts = [drawing.text(130 + 90 * i, 16, attribute) for i, attribute in enumerate(VALUES)]
        for row, (thing, has) in enumerate(things.items()):
            parts.append(drawing.text(8, 40 + 24 * row, thing, "", "start"))
            for i, attribute in enumerate(VALUES):
                told = has[attribute] + " kg" * (attribute == "weight")
                parts.append(drawing.rect(88 + 90 * i, 24 + 24 * row, 84, 22, "free"))
                parts.append(drawing.text(130 + 90 * i, 40 + 24 * row, told))
        truth = self.solve(instance) or {}
        lines = []
        for name, kind, *about in instance.queries:
            lines.append((name, ASKED[kind][0].format(name, *about)))
            lines.append((name, f"answered: {in_words(given.get(name, 'nothing'))}; right: {in_words(truth[name])}"))
        parts += drawing.notes(30 + 24 * len(things), drawing.verdicts(where, lines))
        height = 45 + 24 * len(things) + 20 * len(lines)
        return drawing.svg(500, height, parts, "the things, the queries and the answers")
