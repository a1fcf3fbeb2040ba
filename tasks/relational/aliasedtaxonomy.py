"""aliasedtaxonomy: one tree of creatures under two systems of names, each known to one agent (paper, table 8)."""

from __future__ import annotations

import random
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import combinations

from tasks import drawing, facts, graphs, trees
from tasks.answers import GroupsForm, GroupsKey
from tasks.base import Task, register
from tasks.frames import Frame
from tasks.names import COLOURS

PROMPT = """\
Two catalogues list the same creatures, each under names of its own: which is a kind of which other, and what colour it
has. Colours mean the same in both. There is exactly one way to match the names of one catalogue with those of the
other so that kinds and colours agree. Give all pairs of names that mean the same creature, for example
`wug-dax, fep-toma`."""

SIZES = {"easy": (5, 2), "default": (8, 3), "hard": (13, 4)}  # creatures, colours
TOP = "creature"  # what the topmost kind is a kind of
LATIN = (
    "abrix", "calvus", "dentor", "ferula", "gravix", "hirtum", "lobata", "macron", "nodosa", "orvium", "palmix",
    "querta", "rigax", "selvax", "tardus", "umbrel", "vertix", "zonaria",
)  # fmt: skip
FOLK = (
    "bogling", "crestie", "dapper", "flitter", "grubkin", "hopwing", "jumbler", "knobtail", "longshank", "mudpole",
    "nibbler", "pipfoot", "quillback", "rustler", "snouty", "thornlet", "whiskin", "yowler",
)  # fmt: skip

Creature = tuple[str, str, str]
Creatures = tuple[Creature, ...]


@dataclass(frozen=True)
class Catalogues:
    """Creatures under the names of either system, each with what it is a kind of and its colour, sorted."""

    latin: Creatures
    folk: Creatures


def catalogues(parts: Iterable[Iterable[Creature]]) -> Catalogues:
    """Creatures sorted into the catalogue that has their name; others are left out."""
    known = facts.merged(parts)
    return Catalogues(*(tuple(creature for creature in known if creature[0] in names) for names in (LATIN, FOLK)))


def kinds(creatures: Creatures) -> dict[str, list[tuple[str, str]]]:
    """The kinds of each creature with how they and all below them look, sorted by that; `TOP` has what has no other."""
    known = {name for name, _, _ in creatures}
    below: dict[str, list[tuple[str, str]]] = {}

    def look(above: str) -> str:
        below[above] = sorted(
            (colour + look(name), name)
            for name, parent, colour in creatures
            if (parent if parent in known else TOP) == above
        )
        return f"({','.join(shape for shape, _ in below[above])})"

    look(TOP)
    return below


def aligned(view: Catalogues) -> list[list[str]]:
    """Pairs found from the top down: of the kinds of a creature those are the same that look the same."""
    latin, folk = kinds(view.latin), kinds(view.folk)
    pairs: list[list[str]] = []

    def match(one: str, other: str) -> None:
        for (_, ours), (_, theirs) in zip(latin[one], folk[other], strict=False):
            pairs.append([ours, theirs])
            match(ours, theirs)

    match(TOP, TOP)
    return sorted(pairs)


def renamed(creatures: Creatures, names: dict[str, str]) -> Creatures:
    return tuple(sorted((names.get(n, n), names.get(parent, parent), colour) for n, parent, colour in creatures))


WORDINGS = (
    "{a} is a kind of {b} and is {c}", "{a}, which is {c}, belongs to {b}", "to {b} belongs {a}, coloured {c}",
    "{c} in colour, {a} is one sort of {b}",
)  # fmt: skip


@register
class AliasedTaxonomy(Task[Catalogues]):
    """The names are invented, so that no word suggests what it means; each colour occurs at least twice, so that it
    takes the tree to tell creatures apart."""

    name, family, version, rule, prompt = "aliasedtaxonomy", "relational", 1, "pairs", PROMPT

    def sample(self, rng: random.Random, difficulty: str) -> Catalogues | None:
        size, colours = SIZES[difficulty]
        latin, folk = rng.sample(LATIN, size), rng.sample(FOLK, size)
        worn = rng.choices(rng.sample(COLOURS, colours), k=size)
        parents = dict(trees.grown(latin, rng))
        creatures = tuple(sorted((n, parents.get(n, TOP), colour) for n, colour in zip(latin, worn, strict=True)))
        apart = all(len(dict(below)) == len(below) for below in kinds(creatures).values())  # no two kinds look the same
        if min(map(worn.count, worn)) < 2 or not apart:
            return None
        return Catalogues(creatures, renamed(creatures, dict(zip(latin, folk, strict=True))))

    def split(self, instance: Catalogues, rng: random.Random) -> tuple[Catalogues, ...]:
        return replace(instance, folk=()), replace(instance, latin=())

    def merge(self, views: Sequence[Catalogues]) -> Catalogues:
        return catalogues(view.latin + view.folk for view in views)

    def render(self, view: Catalogues, frame: Frame) -> str:
        lines = graphs.heading("Names and colours are plain words; each line tells one of the creatures.", frame)
        for name, parent, colour in view.latin + view.folk:
            above = TOP if parent == TOP else graphs.style(parent, frame)
            lines.append(WORDINGS[frame.variant % 4].format(a=graphs.style(name, frame), b=above, c=colour))
        return "\n".join(lines)

    def parse(self, text: str) -> Catalogues:
        found = graphs.found(text, WORDINGS, c=COLOURS)
        view = catalogues([[(match["a"].lower(), match["b"].lower(), match["c"]) for match in found]])
        if not view.latin + view.folk:
            raise ValueError("no creature in the text")
        return view

    def solve(self, view: Catalogues) -> list[list[str]] | None:
        """Of one catalogue alone nothing can be said."""
        return aligned(view) or None

    def key(self, instance: Catalogues) -> GroupsKey:
        return GroupsKey(frozenset(map(frozenset, aligned(instance))))

    def form(self, view: Catalogues) -> GroupsForm:
        return GroupsForm(LATIN + FOLK, 2)

    def rivals(self, instance: Catalogues, view: Catalogues) -> Iterator[Catalogues]:
        """Two names exchanged in the catalogue that the view does not hold."""
        field = "folk" if view.latin else "latin"
        creatures = getattr(instance, field)
        for (a, *_), (b, *_) in combinations(creatures, 2):
            yield replace(instance, **{field: renamed(creatures, {a: b, b: a})})

    def corrupt(self, view: Catalogues, rng: random.Random) -> Catalogues:
        """A creature told to be a kind of another one."""
        field = rng.choice([field for field in ("latin", "folk") if getattr(view, field)])
        creatures = getattr(view, field)
        colours = {name: colour for name, _, colour in creatures}
        edges = [(name, parent) for name, parent, _ in creatures if parent != TOP]
        gone, come = ((*edge, colours[edge[0]]) for edge in rng.choice(list(trees.exchanges(edges))))
        return replace(view, **{field: facts.exchanged(creatures, gone, come)})

    def draw(self, instance: Catalogues, answer: object, where: object) -> str:
        kept = where if isinstance(where, dict) else {}
        alias, colour = dict(aligned(instance)), {name: colour for name, _, colour in instance.latin}
        edges = [(name, parent) for name, parent, _ in instance.latin if parent != TOP]
        at = trees.layout(edges, 96, 100)
        parts = [drawing.edge(at[name], (at[parent][0], at[parent][1] + 48)) for name, parent in edges]
        for name, (x, y) in at.items():
            hit = sorted((name, alias[name])) in kept.get("right", ())
            parts += [drawing.node((x, y), name), drawing.node((x, y + 24), alias[name], "right" if hit else "node")]
            parts.append(drawing.node((x, y + 48), colour[name], "free"))
        top, width = max(y for _, y in at.values()) + 66, max(x for x, _ in at.values()) + 60
        wrong = [(f"not the same: {' and '.join(pair)}", "wrong") for pair in kept.get("wrong", [])[:8]]
        parts += drawing.notes(top, wrong)
        size = max(width, 320), top + 20 * len(wrong) + 10
        return drawing.svg(*size, parts, "the creatures under both of their names")
