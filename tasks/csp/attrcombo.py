"""attrcombo: queries on combinations of attributes, of which each agent knows one half (paper, table 8)."""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import combinations, permutations, product

from tasks import drawing, facts, lines, queries
from tasks.answers import Field, FieldsForm, FieldsKey
from tasks.base import Task, register
from tasks.frames import Frame
from tasks.names import COLOURS, THINGS
from tasks.queries import Query

PROMPT = """\
Some things lie in a store, each with a colour, a material, a shape and a size. Answer the queries about them. A query
"which things" has one answer or several: name them all. "How many" asks for a number. Call things by their names.
Answer every query on a line of its own that begins with the query's name, for example `q8: spoon, rope` or `q9: 7`."""

SIZES = {"easy": (6, 2, 2), "default": (8, 3, 4), "hard": (13, 3, 6)}  # things, values of an attribute, queries

VALUES = {
    "colour": COLOURS,
    "material": ("brass", "clay", "cork", "leather", "paper", "steel", "wood", "wool"),
    "shape": ("conical", "flat", "hollow", "long", "round", "square"),
    "size": ("large", "medium", "small", "tiny"),
}
ASKED = {
    "which": "{0}: which things have {1} {2} and {3} {4}?",
    "count": "{0}: how many things have {1} {2} but not {3} {4}?",
}
WORDINGS = {"has": ("{0} has {1} {2}.", "the {1} of {0} is {2}.", "{2} is the {1} of {0}.", "{0}: {1} {2}.")}
WORD = rf"(?:thing \d\d?|q\d|{'|'.join(word for pool in ((*VALUES,), *VALUES.values(), THINGS) for word in pool)})"


@dataclass(frozen=True)
class Store:
    """`facts`, sorted: (thing, attribute, value). `queries`: (name, a kind of `ASKED`, attribute, value, attribute,
    value)."""

    facts: tuple[tuple[str, str, str], ...]
    queries: tuple[Query, ...]


def table(store: Store) -> dict[str, dict[str, str]]:
    """The attributes of every thing."""
    found: dict[str, dict[str, str]] = {}
    for thing, attribute, value in store.facts:
        found.setdefault(thing, {})[attribute] = value
    return found


def answer_to(things: dict[str, dict[str, str]], query: Query) -> int | frozenset[str]:
    """What is known about no thing is taken to fit."""
    _, kind, one, value, other, wanted = query
    fit = [thing for thing, has in things.items() if has.get(one, value) == value]
    if kind == "count":
        return sum(things[thing].get(other) != wanted for thing in fit)
    return frozenset(thing for thing in fit if things[thing].get(other, wanted) == wanted)


def is_fair(things: dict[str, dict[str, str]], query: Query) -> bool:
    """Whether both halves of a query matter for its answer, which is not nothing."""
    halves = [sum(has[query[at]] == query[at + 1] for has in things.values()) for at in (2, 4)]
    answer = answer_to(things, query)
    return 0 < answer < halves[0] if isinstance(answer, int) else 0 < len(answer) < min(halves)


@register
class AttrCombo(Task[Store]):
    """Each agent knows two attributes of every thing, and every query needs both agents. In a strong frame things are
    called by numbers, each agent's its own, and facts have one of four wordings."""

    name, family, version, rule, prompt = "attrcombo", "csp", 1, "fields", PROMPT

    def sample(self, rng: random.Random, difficulty: str) -> Store | None:
        size, values, wanted = SIZES[difficulty]
        things = rng.sample(THINGS, size)
        facts, used = [], {}
        for attribute, pool in VALUES.items():  # every value about equally often
            used[attribute] = rng.sample(pool, values)
            dealt = rng.sample(things, size)
            facts += [(thing, attribute, used[attribute][at % values]) for at, thing in enumerate(dealt)]
        store = Store(tuple(sorted(facts)), ())
        a, b, c, d = rng.sample(list(VALUES), 4)  # the first two for one agent
        pairs = [pair for one, other in product((a, b), (c, d)) for pair in permutations((one, other))]
        about = [(one, x, other, y) for one, other in pairs for x in used[one] for y in used[other]]
        asked: list[Query] = []
        for number in range(1, wanted + 1):
            drawn = [(f"q{number}", list(ASKED)[number % 2], *what) for what in rng.sample(about, len(about))]
            fair = [q for q in drawn if q[2:] not in [other[2:] for other in asked] and is_fair(table(store), q)]
            asked += fair[:1]
        return replace(store, queries=tuple(asked)) if len(asked) == wanted else None

    def split(self, instance: Store, rng: random.Random) -> tuple[Store, ...]:
        """Two attributes each, so that every query asks for one of either agent."""
        pairs = rng.sample(list(combinations(VALUES, 2)), 6)
        mine = next(p for p in pairs if all((q[2] in p) != (q[4] in p) for q in instance.queries))
        parts = (tuple(f for f in instance.facts if (f[1] in mine) is first) for first in (True, False))
        return tuple(replace(instance, facts=part) for part in parts)

    def merge(self, views: Sequence[Store]) -> Store:
        return Store(facts.merged((v.facts for v in views), about=-1), queries.same([v.queries for v in views]))

    def render(self, view: Store, frame: Frame) -> str:
        called = lines.numbered(list(table(view)), "thing", frame.variant // 4)
        told = ["Things are called as in this list."] if frame.friction != "natural" else []
        told.append(lines.listing("Things", called))
        wording = WORDINGS["has"][frame.variant % 4]
        told += [wording.format(called[thing], attribute, value) for thing, attribute, value in view.facts]
        return "\n".join(told + queries.tell(view.queries, ASKED))

    def parse(self, text: str) -> Store:
        things = lines.listed(text, "Things", THINGS)
        told = [(things[thing], attribute, value) for _, thing, attribute, value in lines.read(text, WORDINGS, WORD)]
        asked = queries.read(text, ASKED, WORD)
        about = [pair for query in asked for pair in (query[2:4], query[4:])] + [fact[1:] for fact in told]
        if not told or any(value not in VALUES.get(attribute, ()) for attribute, value in about):
            raise ValueError("no facts in the text, or some about what no thing can have")
        return Store(facts.merged([told], about=-1), asked)

    def solve(self, view: Store) -> dict[str, object] | None:
        """Of a partial view: see `answer_to`."""
        return queries.answers(self.key(view))

    def key(self, instance: Store) -> FieldsKey:
        things = table(instance)
        return FieldsKey({query[0]: answer_to(things, query) for query in instance.queries})

    def form(self, view: Store) -> FieldsForm:
        fields = {"which": Field("names", tuple(table(view))), "count": Field("number")}
        return FieldsForm({name: fields[kind] for name, kind, *_ in view.queries})

    def rivals(self, instance: Store, view: Store) -> Iterator[Store]:
        """The same things, two of which exchange an attribute that the view does not hold."""
        ours = self.solve(instance)
        unseen = [fact for fact in instance.facts if fact not in view.facts]
        for one, other in combinations(unseen, 2):
            if one[1] == other[1] and one[2] != other[2]:
                swapped = {one: (*one[:2], other[2]), other: (*other[:2], one[2])}
                rival = replace(instance, facts=tuple(swapped.get(fact, fact) for fact in instance.facts))
                if self.solve(rival) != ours and all(is_fair(table(rival), query) for query in instance.queries):
                    yield rival

    def corrupt(self, view: Store, rng: random.Random) -> Store:
        lost = thing, attribute, value = rng.choice(view.facts)
        wrong = rng.choice(sorted({fact[2] for fact in view.facts if fact[1] == attribute} - {value}))
        return replace(view, facts=tuple((thing, attribute, wrong) if fact == lost else fact for fact in view.facts))

    def draw(self, instance: Store, answer: object, where: object) -> str:
        parts = [drawing.text(130 + 90 * i, 16, attribute) for i, attribute in enumerate(VALUES)]
        for row, (thing, has) in enumerate(table(instance).items()):
            parts.append(drawing.text(8, 40 + 24 * row, thing, "", "start"))
            for i, attribute in enumerate(VALUES):
                parts.append(drawing.rect(88 + 90 * i, 24 + 24 * row, 84, 22, "free"))
                parts.append(drawing.text(130 + 90 * i, 40 + 24 * row, has[attribute]))
        notes = list(queries.notes(instance.queries, ASKED, self.key(instance), answer, where))
        top = 30 + 6 * len(instance.facts)
        parts += drawing.notes(top, notes)
        return drawing.svg(500, top + 15 + 20 * len(notes), parts, "the things, the queries and the answers")
