"""graphattr: questions about friends and what they wear and drink, each known to another agent (paper, table 8)."""

from __future__ import annotations

import random
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import combinations, product

from tasks import drawing, graphs
from tasks.answers import Field, FieldsForm, FieldsKey
from tasks.base import Task, register
from tasks.frames import Frame
from tasks.names import COLOURS, DRINKS, NAMES

PROMPT = """\
Given who is friends with whom (always both ways), what colour everybody wears and what everybody drinks, answer the
queries. Each is answered by a number, by one name (there is always exactly one who fits), or by all names that fit.
Answer every query on a line of its own that begins with the query's name, for example `q7: 12`, `q8: Alf` or
`q9: Bea, Cid`."""

SIZES = {"easy": (7, 10, 2), "default": (9, 17, 4), "hard": (13, 30, 6)}  # people, friendships, queries
VALUES = 3  # colours worn, and drinks drunk
LEAST = 2  # the smallest number, and the fewest names, that are asked for

Person = tuple[str, str, str]
Query = tuple[str, str, str, str]
Value = int | str | tuple[str, ...]


@dataclass(frozen=True)
class Party:
    """`friends`: pairs of people, sorted within and without; `people`: (name, colour, drink), sorted; `queries`: (name,
    kind, first thing asked about, second thing asked about)."""

    friends: tuple[graphs.Edge, ...]
    people: tuple[Person, ...]
    queries: tuple[Query, ...]


ASKED = {  # kind -> query
    "count": "how many friends of {x} wear {y}?",
    "names": "which friends of {x} drink {y}?",
    "most": "who of all in {x} has the most friends that drink {y}?",
    "across": "how many friendships join somebody in {x} with somebody in {y}?",
}
NAMED = ("count", "names")  # kinds that begin with a person


class Known:
    """What follows from a view. Of a partial one: people of whom nothing is known wear and drink everything, where no
    friendship is known all are friends, and numbers are guessed to be one more than `LEAST`."""

    def __init__(self, view: Party) -> None:
        self.pairs = view.friends
        self.things = {name: (colour, drink) for name, colour, drink in view.people}
        self.names = sorted({name for pair in view.friends for name in pair} | set(self.things))
        self.friends: dict[str, list[str]] = {name: [] for name in self.names}
        for a, b in view.friends or combinations(self.names, 2):
            self.friends[a].append(b)
            self.friends[b].append(a)

    def fits(self, names: Sequence[str], value: str) -> list[str]:
        """Those who wear or drink `value`."""
        return [name for name in names if value in self.things.get(name, (value,))]

    def leaders(self, colour: str, drink: str) -> list[str]:
        """Who of those in a colour has the most friends with a drink: one name, or several if they are level."""
        counts = {name: len(self.fits(self.friends[name], drink)) for name in self.fits(self.names, colour)}
        return [name for name in counts if counts[name] == max(counts.values())]

    def answer(self, query: Query) -> Value:
        _, kind, x, y = query
        if kind == "most":
            return next(iter(self.leaders(x, y)), "")
        if kind == "names":
            return tuple(sorted(self.fits(self.friends.get(x, ()), y)))
        if not (self.pairs and self.things):
            return LEAST + 1
        if kind == "count":
            return len(self.fits(self.friends.get(x, ()), y))
        return sum(len(self.fits(self.friends[name], y)) for name in self.fits(self.names, x))

    def fair(self, query: Query) -> bool:
        """Of a whole instance: whether a query has one answer, and none that half of the facts suggest."""
        _, kind, x, y = query
        truth = self.answer(query)
        if kind == "most":
            popular = max(self.names, key=lambda name: len(self.friends[name]))
            return len(self.fits(self.names, x)) > LEAST and self.leaders(x, y) == [truth] and truth != popular
        size = len(truth) if isinstance(truth, tuple) else int(truth)
        return size >= LEAST and (kind == "across" or size < len(self.friends[x]))


def otherwise(view: Party, kept: Party) -> Iterator[Party]:
    """`view` with one fact that `kept` does not hold told in another way; lies in turn change different facts."""
    lost = [pair for pair in view.friends if pair not in kept.friends]
    for told in combinations(Known(view).names, 2) if lost else ():
        if told not in view.friends:
            for pair in lost:
                yield replace(view, friends=tuple(sorted({*view.friends, told} - {pair})))
    colours, drinks = ((*dict.fromkeys(person[i] for person in view.people),) for i in (1, 2))
    for value in colours + drinks:
        for person in (person for person in view.people if person not in kept.people and value not in person):
            changed = (person[0], value, person[2]) if value in colours else (person[0], person[1], value)
            yield replace(view, people=tuple(sorted({*view.people, changed} - {person})))


WORDINGS = (
    "{a} and {b} are friends", "{a} is a friend of {b}", "a friendship ties {a} to {b}", "{a} gets on well with {b}",
)  # fmt: skip
TOLD = (
    "{n} wears {c} and drinks {d}", "{n} is dressed in {c} and has {d}", "{n} has a coat in {c} and a cup of {d}",
    "{n}: {c} coat, {d} to drink",
)  # fmt: skip
THING = {"n": graphs.NODE, "c": f"({'|'.join(COLOURS)})", "d": f"({'|'.join(DRINKS)})"}
PEOPLE = re.compile("|".join(rf"(?<![\w-]){told.format(**THING)}(?![\w-])" for told in TOLD))
QUERIES = {
    kind: re.compile(
        r"\b(q\d+): " + asked.replace("?", r"\?").format(x=graphs.NODE if kind in NAMED else r"(\w+)", y=r"(\w+)")
    )
    for kind, asked in ASKED.items()
}


@register
class GraphAttr(Task[Party]):
    name, family, version, rule, prompt = "graphattr", "relational", 1, "fields", PROMPT

    def sample(self, rng: random.Random, difficulty: str) -> Party | None:
        size, count, wanted = SIZES[difficulty]
        names = sorted(rng.sample(NAMES, size))
        colours, drinks = rng.sample(COLOURS, VALUES), rng.sample(DRINKS, VALUES)
        people = tuple((name, rng.choice(colours), rng.choice(drinks)) for name in names)
        party = Party(tuple(sorted(rng.sample(list(combinations(names, 2)), count))), people, ())
        known = Known(party)
        things: dict[str, list[tuple[str, str]]] = {
            "count": list(product(names, colours)), "names": list(product(names, drinks)),
            "most": list(product(colours, drinks)), "across": list(combinations(colours, 2)),
        }  # fmt: skip
        kinds = rng.sample(sorted(ASKED), len(ASKED))
        queries: list[Query] = []
        for i in range(wanted):
            kind = kinds[i % len(kinds)]
            by_answer: dict[Value, list[Query]] = {}  # so that no answer is much more likely than another
            for x, y in things[kind]:
                query = f"q{i + 1}", kind, x, y
                if known.fair(query) and all(query[1:] != other[1:] for other in queries):
                    by_answer.setdefault(known.answer(query), []).append(query)
            if not by_answer:
                return None
            queries.append(rng.choice(rng.choice(list(by_answer.values()))))
        return replace(party, queries=tuple(queries))

    def split(self, instance: Party, rng: random.Random) -> tuple[Party, ...]:
        views = replace(instance, people=()), replace(instance, friends=())
        return views if rng.random() < 0.5 else views[::-1]

    def merge(self, views: Sequence[Party]) -> Party:
        if len({view.queries for view in views}) > 1:
            raise ValueError("the queries differ")
        people: dict[str, Person] = {}
        for person in (p for view in views for p in view.people):
            if people.setdefault(person[0], person) != person:
                raise ValueError(f"the clothes or the drink of {person[0]} are told in two ways")
        return Party(graphs.union([view.friends for view in views]), tuple(sorted(people.values())), views[0].queries)

    def render(self, view: Party, frame: Frame) -> str:
        told = TOLD[frame.variant % 4]
        lines = ["People, colours and drinks are called by their plain names."] * (frame.friction == "none")
        lines += graphs.tell(view.friends, WORDINGS, frame)
        lines += [told.format(n=graphs.style(name, frame), c=colour, d=drink) for name, colour, drink in view.people]
        for q, kind, x, y in view.queries:
            lines.append(f"{q}: " + ASKED[kind].format(x=graphs.style(x, frame) if kind in NAMED else x, y=y))
        return "\n".join(lines)

    def parse(self, text: str) -> Party:
        people = {tuple(filter(None, found)) for found in PEOPLE.findall(text)}
        queries = {
            q: (q, kind, x.title() if kind in NAMED else x, y)
            for kind, pattern in QUERIES.items()
            for q, x, y in pattern.findall(text)
        }
        friends = graphs.read(text, WORDINGS, "title", directed=False)
        if not queries or not (friends or people):
            raise ValueError("no people and no queries in the text")
        known = tuple(sorted((name.title(), colour, drink) for name, colour, drink in people))
        return Party(friends, known, tuple(sorted(queries.values())))

    def solve(self, view: Party) -> dict[str, int | str | list[str]] | None:
        """Of a partial view: see `Known`."""
        known = Known(view)
        answers = {query[0]: known.answer(query) for query in view.queries}
        return {q: list(answer) if isinstance(answer, tuple) else answer for q, answer in answers.items()}

    def key(self, instance: Party) -> FieldsKey:
        answers = self.solve(instance) or {}
        return FieldsKey({q: frozenset(value) if isinstance(value, list) else value for q, value in answers.items()})

    def form(self, view: Party) -> FieldsForm:
        kinds = {"names": Field("names", NAMES), "most": Field("name", NAMES)}  # the others are counted
        return FieldsForm({q: kinds.get(kind, Field("number")) for q, kind, _, _ in view.queries})

    def rivals(self, instance: Party, view: Party) -> Iterator[Party]:
        """The same party with one unseen fact told otherwise, so that another answer is right."""
        truth = self.solve(instance)
        most = [(x, y) for _, kind, x, y in instance.queries if kind == "most"]
        for rival in otherwise(instance, view):
            if self.solve(rival) != truth and all(len(Known(rival).leaders(x, y)) == 1 for x, y in most):
                yield rival

    def corrupt(self, view: Party, rng: random.Random) -> Party:
        """A lie that changes what the view suggests, and so does harm."""
        lies = list(otherwise(view, replace(view, friends=(), people=())))
        rng.shuffle(lies)
        return next((lie for lie in lies if self.solve(lie) != self.solve(view)), lies[0])

    def draw(self, instance: Party, answer: object, where: object) -> str:
        given, truth = answer if isinstance(answer, dict) else {}, self.solve(instance) or {}
        at = drawing.circle([name for name, _, _ in instance.people], 190)
        parts = [drawing.edge(at[a], at[b]) for a, b in instance.friends]
        asked = {x for _, _, x, _ in instance.queries}
        for name, colour, drink in instance.people:
            parts.append(drawing.node(at[name], name, "start" if name in asked else "node"))
            parts.append(drawing.node((at[name][0], at[name][1] + 24), f"{colour}, {drink}", "free"))
        lines = []
        for q, kind, x, y in instance.queries:
            right, said = (drawing.plain(v).strip("[]").replace("'", "") for v in (truth[q], given.get(q, "nothing")))
            lines.append((q, f"{q}: {ASKED[kind].format(x=x, y=y)} {right}; answered {said}"))
        parts += drawing.notes(474, drawing.verdicts(where, lines))
        return drawing.svg(720, 484 + 20 * len(lines), parts, "the people and what was answered about them")
