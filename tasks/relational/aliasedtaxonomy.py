"""aliasedtaxonomy: one tree of creatures under two systems of names, each known to one agent (paper, table 8)."""

from __future__ import annotations

import random
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, fields, replace
from itertools import chain, combinations

from tasks import drawing, graphs, trees
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


@dataclass(frozen=True)
class Catalogues:
    """Creatures under the names of either system, each with what it is a kind of and its colour, sorted."""

    latin: tuple[Creature, ...]
    folk: tuple[Creature, ...]


def kinds(creatures: Sequence[Creature]) -> dict[str, list[str]]:
    """The kinds of each creature; those of nothing that is known are kinds of `TOP`."""
    known = {name for name, _, _ in creatures}
    below: dict[str, list[str]] = {}
    for name, parent, _ in creatures:
        below.setdefault(parent if parent in known else TOP, []).append(name)
    return below


def shapes(creatures: Sequence[Creature], below: dict[str, list[str]]) -> dict[str, str]:
    """For each creature how it and all below it look, names apart."""
    colours = {name: colour for name, _, colour in creatures}
    found: dict[str, str] = {}

    def look(name: str) -> str:
        found[name] = f"{colours.get(name)}({','.join(sorted(map(look, below.get(name, []))))})"
        return found[name]

    look(TOP)
    return found


def aligned(view: Catalogues) -> list[list[str]]:
    """Pairs found from the top down: those that look the same together, then what is left, as far as it goes."""
    latin, folk = kinds(view.latin), kinds(view.folk)
    shape = shapes(view.latin, latin) | shapes(view.folk, folk)
    pairs: list[list[str]] = []

    def match(ours: str, theirs: str) -> None:
        left, open_ = latin.get(ours, []), folk.get(theirs, [])
        for exact in (True, False):
            for one in list(left):
                other = next((o for o in open_ if not exact or shape[o] == shape[one]), None)
                if other:
                    left, open_ = [n for n in left if n != one], [n for n in open_ if n != other]
                    pairs.append([one, other])
                    match(one, other)

    match(TOP, TOP)
    return sorted(pairs)


def told_apart(creatures: Sequence[Creature]) -> bool:
    """Whether no two kinds of the same creature look the same, so that nothing can be matched in two ways."""
    below = kinds(creatures)
    shape = shapes(creatures, below)
    return all(len({shape[name] for name in names}) == len(names) for names in below.values())


def catalogues(creatures: Iterable[Creature]) -> Catalogues:
    """Creatures sorted into the catalogue that has their name; others are left out. ValueError if one is told in two
    ways."""
    known: dict[str, Creature] = {}
    for creature in creatures:
        if known.setdefault(creature[0], creature) != creature:
            raise ValueError(f"{creature[0]} is told in two ways")
    return Catalogues(*(tuple(sorted(known[name] for name in names if name in known)) for names in (LATIN, FOLK)))


def renamed(creatures: Sequence[Creature], names: dict[str, str]) -> tuple[Creature, ...]:
    return tuple(sorted((names.get(n, n), names.get(parent, parent), colour) for n, parent, colour in creatures))


WORDINGS = (
    "{n} is a kind of {p} and is {c}", "{n}, which is {c}, belongs to {p}", "to {p} belongs {n}, coloured {c}",
    "{c} in colour, {n} is one sort of {p}",
)  # fmt: skip
PART = {part: rf"(?:node )?(?P<{part}>[A-Za-z]\w*)" for part in "np"} | {"c": f"(?P<c>{'|'.join(COLOURS)})"}
TOLD = [re.compile(rf"(?<![\w-]){wording.format(**PART)}(?![\w-])") for wording in WORDINGS]


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
        if min(map(worn.count, worn)) < 2 or not told_apart(creatures):
            return None
        return Catalogues(creatures, renamed(creatures, dict(zip(latin, folk, strict=True))))

    def split(self, instance: Catalogues, rng: random.Random) -> tuple[Catalogues, ...]:
        return replace(instance, folk=()), replace(instance, latin=())

    def merge(self, views: Sequence[Catalogues]) -> Catalogues:
        return catalogues(chain.from_iterable(view.latin + view.folk for view in views))

    def render(self, view: Catalogues, frame: Frame) -> str:
        def told(name: str) -> str:
            return name if name == TOP else graphs.style(name, frame)

        wording = WORDINGS[frame.variant % 4]
        head = ["Names and colours are plain words; each line tells one of the creatures."] * (frame.friction == "none")
        return "\n".join(head + [wording.format(n=told(n), p=told(p), c=c) for n, p, c in view.latin + view.folk])

    def parse(self, text: str) -> Catalogues:
        found = [match for pattern in TOLD for match in pattern.finditer(text)]
        view = catalogues((match["n"].lower(), match["p"].lower(), match["c"]) for match in found)
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
        for field in (f.name for f in fields(view) if not getattr(view, f.name)):
            creatures = getattr(instance, field)
            for (a, *_), (b, *_) in combinations(creatures, 2):
                yield replace(instance, **{field: renamed(creatures, {a: b, b: a})})

    def corrupt(self, view: Catalogues, rng: random.Random) -> Catalogues:
        """A creature told to be a kind of another one."""
        lies = []
        for field in ("latin", "folk"):
            creatures = getattr(view, field)
            parents = {name: parent for name, parent, _ in creatures}
            for creature in creatures:
                for other in trees.elsewhere(parents, creature[0], list(parents)) if creature[1] != TOP else ():
                    lies.append((field, creature, other))
        field, creature, other = rng.choice(lies)
        told = {*getattr(view, field), (creature[0], other, creature[2])} - {creature}
        return replace(view, **{field: tuple(sorted(told))})

    def draw(self, instance: Catalogues, answer: object, where: object) -> str:
        kept = where if isinstance(where, dict) else {}
        alias, colour = dict(aligned(instance)), {name: colour for name, _, colour in instance.latin}
        at = trees.layout([(name, parent) for name, parent, _ in instance.latin if parent != TOP], 96, 100)
        parts = [drawing.edge(at[n], (at[p][0], at[p][1] + 48)) for n, p, _ in instance.latin if p != TOP]
        for name, (x, y) in at.items():
            hit = sorted((name, alias[name])) in kept.get("right", ())
            parts += [drawing.node((x, y), name), drawing.node((x, y + 24), alias[name], "right" if hit else "node")]
            parts.append(drawing.node((x, y + 48), colour[name], "free"))
        top, width = max(y for _, y in at.values()) + 66, max(x for x, _ in at.values()) + 60
        wrong = [f"not the same: {' and '.join(pair)}" for pair in kept.get("wrong", [])[:8]]
        parts += drawing.notes(top, [(said, "wrong") for said in wrong])
        return drawing.svg(
            max(width, 320), top + 20 * len(wrong) + 10, parts, "the creatures under both of their names"
        )
