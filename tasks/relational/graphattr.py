"""graphattr: questions about friends and what they wear and drink, each known to another agent (paper, table 8)."""

from __future__ import annotations

import random
from collections.abc import Container, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import combinations, product
from operator import itemgetter

from tasks import drawing, facts, graphs
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

    friends: graphs.Edges
    people: tuple[Person, ...]
    queries: tuple[Query, ...]


ASKED = {  # kind -> query about a person or a colour, and a colour or a drink
    "count": "how many friends of {a} wear {y}",
    "names": "which friends of {a} drink {y}",
    "most": "who of all in {x} has the most friends that drink {y}",
    "across": "how many friendships join somebody in {x} with somebody in {y}",
}


class Known:
    """What follows from a view. Of a partial one: people of whom nothing is known wear and drink everything, where no
    friendship is known all are friends, and numbers are guessed to be one more than `LEAST`."""

    def __init__(self, view: Party) -> None:
        self.whole = bool(view.friends and view.people)
        self.things = {name: (colour, drink) for name, colour, drink in view.people}
        self.names = sorted({*graphs.nodes(view.friends), *self.things})
        near = graphs.near(view.friends or combinations(self.names, 2))
        self.friends = {name: near.get(name, []) for name in self.names}

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
        if not self.whole:
            return LEAST + 1
        people = [x] if kind == "count" else self.fits(self.names, x)
        return sum(len(self.fits(self.friends.get(name, ()), y)) for name in people)

    def fair(self, query: Query) -> bool:
        """Of a whole instance: whether a query has one answer, and none that half of the facts suggest."""
        _, kind, x, y = query
        truth = self.answer(query)
        if kind == "most":
            popular = max(self.names, key=lambda name: len(self.friends[name]))
            return len(self.fits(self.names, x)) > LEAST and self.leaders(x, y) == [truth] and truth != popular
        size = len(truth) if isinstance(truth, tuple) else int(truth)
        return size >= LEAST and (kind == "across" or size < len(self.friends[x]))


def otherwise(view: Party, kept: Container[object]) -> Iterator[Party]:
    """`view` with one fact that is not `kept` told in another way; lies in turn change different facts."""
    for gone, come in sorted(graphs.exchanges(view.friends, kept), key=itemgetter(1)):
        yield replace(view, friends=facts.exchanged(view.friends, gone, come))
    colours, drinks = ([*dict.fromkeys(person[i] for person in view.people)] for i in (1, 2))
    for value in colours + drinks:
        for person in (person for person in view.people if person not in kept and value not in person):
            told = (person[0], value, person[2]) if value in colours else (person[0], person[1], value)
            yield replace(view, people=facts.exchanged(view.people, person, told))


WORDINGS = (
    "{a} and {b} are friends", "{a} is a friend of {b}", "a friendship ties {a} to {b}", "{a} gets on well with {b}",
)  # fmt: skip
TOLD = (
    "{a} wears {c} and drinks {d}", "{a} is dressed in {c} and has {d}", "{a} has a coat in {c} and a cup of {d}",
    "{a}: {c} coat, {d} to drink",
)  # fmt: skip


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
        friends, people = graphs.union(view.friends for view in views), facts.merged(view.people for view in views)
        return Party(friends, people, views[0].queries)

    def render(self, view: Party, frame: Frame) -> str:
        lines = graphs.heading("People, colours and drinks are called by their plain names.", frame)
        lines += graphs.tell(view.friends, WORDINGS, frame)
        for name, colour, drink in view.people:
            lines.append(TOLD[frame.variant % 4].format(a=graphs.style(name, frame), c=colour, d=drink))
        for q, kind, x, y in view.queries:
            lines.append(f"{q}: {ASKED[kind].format(a=graphs.style(x, frame), x=x, y=y)}?")
        return "\n".join(lines)

    def parse(self, text: str) -> Party:
        friends = graphs.read(text, WORDINGS, str.title)
        told = graphs.found(text, TOLD, c=COLOURS, d=DRINKS)
        people = {(match["a"].title(), match["c"], match["d"]) for match in told}
        queries = {}
        for kind, asked in ASKED.items():
            for match in graphs.found(text, (f"{{q}}: {asked}",), q=(r"q\d+",), x=COLOURS, y=COLOURS + DRINKS):
                thing = match["a"].title() if "{a}" in asked else match["x"]
                queries[match["q"]] = match["q"], kind, thing, match["y"]
        if not queries or not (friends or people):
            raise ValueError("no people and no queries in the text")
        return Party(friends, tuple(sorted(people)), tuple(sorted(queries.values())))

    def solve(self, view: Party) -> dict[str, int | str | list[str]]:
        """Of a partial view: see `Known`."""
        known = Known(view)
        answers = {query[0]: known.answer(query) for query in view.queries}
        return {q: list(answer) if isinstance(answer, tuple) else answer for q, answer in answers.items()}

    def key(self, instance: Party) -> FieldsKey:
        answers = self.solve(instance).items()
        return FieldsKey({q: frozenset(answer) if isinstance(answer, list) else answer for q, answer in answers})

    def form(self, view: Party) -> FieldsForm:
        kinds = {"names": Field("names", NAMES), "most": Field("name", NAMES)}  # the others are counted
        return FieldsForm({q: kinds.get(kind, Field("number")) for q, kind, _, _ in view.queries})

    def rivals(self, instance: Party, view: Party) -> Iterator[Party]:
        """The same party with one unseen fact told otherwise, so that another answer is right."""
        truth = self.solve(instance)
        most = [(x, y) for _, kind, x, y in instance.queries if kind == "most"]
        for rival in otherwise(instance, view.friends + view.people):
            if self.solve(rival) != truth and all(len(Known(rival).leaders(x, y)) == 1 for x, y in most):
                yield rival

    def corrupt(self, view: Party, rng: random.Random) -> Party:
        return facts.harmful(otherwise(view, ()), self.solve, view, rng)

    def draw(self, instance: Party, answer: object, where: object) -> str:
        given, truth = answer if isinstance(answer, dict) else {}, self.solve(instance)
        at = drawing.circle([name for name, _, _ in instance.people], 190)
        parts = [drawing.edge(at[a], at[b]) for a, b in instance.friends]
        asked = {x for _, _, x, _ in instance.queries}
        for name, colour, drink in instance.people:
            parts.append(drawing.node(at[name], name, "start" if name in asked else "node"))
            parts.append(drawing.node((at[name][0], at[name][1] + 24), f"{colour}, {drink}", "free"))
        lines = []
        for q, kind, x, y in instance.queries:
            right, said = (drawing.plain(v).strip("[]").replace("'", "") for v in (truth[q], given.get(q, "nothing")))
            lines.append((q, f"{q}: {ASKED[kind].format(a=x, x=x, y=y)}? {right}; answered {said}"))
        parts += drawing.notes(474, drawing.verdicts(where, lines))
        return drawing.svg(720, 484 + 20 * len(lines), parts, "the people and what was answered about them")
