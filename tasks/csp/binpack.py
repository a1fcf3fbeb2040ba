"""binpack: items into bins that they just fill, sizes known to one agent, capacities to the other (paper, table 8)."""

from __future__ import annotations

import random
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import combinations

from tasks import drawing, facts, lines, search
from tasks.answers import BinsKey, Constraint, TableForm
from tasks.base import Task, register
from tasks.frames import Frame
from tasks.names import COLOURS, THINGS

PROMPT = """\
Put every item into a bin. The sizes of the items in a bin may add up to no more than the bin holds. Some items have to
go into one bin with each other, and some must not. Any packing that keeps to all of this is right. Give every item a
line of its own with the item and the colour of its bin, for example `violin: silver`."""

SIZES = {"easy": (5, 2, 2), "default": (7, 3, 3), "hard": (11, 4, 6)}  # items, bins, pairs
LARGEST = 9  # size of an item
SPARE = 1  # the most that stays empty in a bin, so that few packings are right

WORDINGS = {
    "size": ("The size of the {0} is {1}.",),
    "capacity": ("The capacity of {0} is {1}.",),
    "one": ("The {0} and the {1} go into one bin.",),
    "different": ("The {0} and the {1} go into different bins.",),
}
WORD = r"(?:bin \d|[a-z]+|\d{1,4})"
UNITS = {"litres": 1, "half-litres": 2, "quarter-litres": 4, "decilitres": 10}
STATED = re.compile(rf"Sizes and capacities are told in ({'|'.join(UNITS)})\.")


@dataclass(frozen=True)
class Packing:
    """`sizes` and `capacities` by name; `pairs`, sorted: (item, item, `one` or `different`: the bins they go into)."""

    items: tuple[str, ...]
    bins: tuple[str, ...]
    sizes: tuple[tuple[str, int], ...] = ()
    capacities: tuple[tuple[str, int], ...] = ()
    pairs: tuple[tuple[str, str, str], ...] = ()


def rules(view: Packing) -> list[Constraint]:
    """What a packing, finished or not, has to keep to, as far as it is known."""
    sizes = dict(view.sizes)

    def share(a: str, b: str, how: str, placed: Mapping[str, str]) -> bool:
        return not {a, b} <= placed.keys() or (placed[a] == placed[b]) == (how == "one")

    def fit(name: str, room: int, placed: Mapping[str, str]) -> bool:
        return sum(sizes[item] for item in placed if placed[item] == name) <= room

    pairs = [Constraint(pair[:2], partial(share, *pair), WORDINGS[pair[2]][0].format(*pair)) for pair in view.pairs]
    room = [Constraint(view.items, partial(fit, *known), f"{known[0]} is too small") for known in view.capacities]
    return pairs + room


@register
class BinPack(Task[Packing]):
    """In a strong frame amounts are told in one of four units, and bins are called by numbers."""

    name, family, version, rule, prompt = "binpack", "csp", 1, "bins", PROMPT

    def sample(self, rng: random.Random, difficulty: str) -> Packing | None:
        count, wide, paired = SIZES[difficulty]
        items, bins = sorted(rng.sample(THINGS, count)), sorted(rng.sample(COLOURS, wide))
        sizes = tuple((item, rng.randint(2, LARGEST)) for item in items)
        placed = {item: rng.choice(bins) for item in items}
        load = {name: sum(size for item, size in sizes if placed[item] == name) for name in bins}
        if len(set(load.values())) < 2 or min(map(list(placed.values()).count, bins)) < 2:
            return None  # bins that hold the same could be exchanged, and a bin for one item tells too much
        pairs = [(a, b, "one" if placed[a] == placed[b] else "different") for a, b in combinations(items, 2)]
        one = rng.sample([p for p in pairs if p[2] == "one"], paired // 2)
        different = rng.sample([p for p in pairs if p[2] == "different"], paired - paired // 2)
        capacities = tuple((name, load[name] + rng.randint(0, SPARE)) for name in bins)
        return Packing(tuple(items), tuple(bins), sizes, capacities, tuple(sorted(one + different)))

    def split(self, instance: Packing, rng: random.Random) -> tuple[Packing, ...]:
        return replace(instance, capacities=(), pairs=()), replace(instance, sizes=())

    def merge(self, views: Sequence[Packing]) -> Packing:
        if len({(v.items, v.bins) for v in views}) > 1:
            raise ValueError("the items or the bins differ")
        sizes, capacities = (
            facts.merged((v.sizes for v in views), about=-1),
            facts.merged((v.capacities for v in views), about=-1),
        )
        return replace(
            views[0], sizes=sizes, capacities=capacities, pairs=facts.merged((v.pairs for v in views), about=-1)
        )

    def render(self, view: Packing, frame: Frame) -> str:
        unit, factor = list(UNITS.items())[frame.variant % 4]
        bins = lines.numbered(view.bins, "bin", frame.variant // 4)
        told = [f"Sizes and capacities are told in {unit}."] if frame.friction != "natural" else []
        told += [lines.listing("Items", lines.numbered(view.items)), lines.listing("Bins", bins)]
        told += [WORDINGS["size"][0].format(item, size * factor) for item, size in view.sizes]
        told += [WORDINGS["capacity"][0].format(bins[name], room * factor) for name, room in view.capacities]
        return "\n".join(told + [WORDINGS[how][0].format(a, b) for a, b, how in view.pairs])

    def parse(self, text: str) -> Packing:
        items, bins = lines.listed(text, "Items", THINGS), lines.listed(text, "Bins", COLOURS)
        factor = UNITS[stated[1] if (stated := STATED.search(text)) else "litres"]
        if not items or not bins:
            raise ValueError("no items or no bins in the text")
        sizes, capacities, pairs = [], [], []
        for kind, a, b in lines.read(text, WORDINGS, WORD):
            if kind in ("one", "different"):
                pairs.append((min(items[a], items[b]), max(items[a], items[b]), kind))
            elif int(b) % factor:
                raise ValueError(f"{b} is no number of whole litres")
            elif kind == "size":
                sizes.append((items[a], int(b) // factor))
            else:
                capacities.append((bins[a], int(b) // factor))
        told = facts.merged([sizes], about=-1), facts.merged([capacities], about=-1), facts.merged([pairs], about=-1)
        return Packing(items.all(), bins.all(), *told)

    def solve(self, view: Packing) -> dict[str, str] | None:
        """Of a partial view: unknown bins are taken to be alike and just large enough, unknown items to be alike."""
        usual = max(1, sum(room for _, room in view.capacities) // len(view.items))
        sizes = {**dict.fromkeys(view.items, usual), **dict(view.sizes)}
        enough = -(-sum(sizes.values()) // len(view.bins)) + SPARE
        capacities = {**dict.fromkeys(view.bins, enough), **dict(view.capacities)}
        full = replace(view, sizes=tuple(sizes.items()), capacities=tuple(capacities.items()))
        largest_first = sorted(view.items, key=lambda item: -sizes[item])
        return search.first(dict.fromkeys(largest_first, view.bins), rules(full))

    def key(self, instance: Packing) -> BinsKey:
        pairs = (tuple(pair[:2] for pair in instance.pairs if pair[2] == how) for how in ("one", "different"))
        return BinsKey(dict(instance.sizes), dict(instance.capacities), *pairs)

    def form(self, view: Packing) -> TableForm:
        return TableForm(view.items, {"bin": view.bins})

    def rivals(self, instance: Packing, view: Packing) -> Iterator[Packing]:
        """Two unseen capacities, or two unseen sizes, exchanged, so that our packing breaks a rule."""
        ours, facts = self.solve(instance) or {}, instance.sizes if view.capacities else instance.capacities
        for (a, x), (b, y) in combinations(facts, 2):
            swapped = tuple({**dict(facts), a: y, b: x}.items())
            other = replace(instance, sizes=swapped) if view.capacities else replace(instance, capacities=swapped)
            theirs, told = self.solve(other) or {}, rules(other)
            if all(rule.holds(theirs) for rule in told) and not all(rule.holds(ours) for rule in told):
                yield other

    def corrupt(self, view: Packing, rng: random.Random) -> Packing:
        """A pair told as its contrary, or else a size of 1 to 4 more or less."""
        if view.pairs:
            lost = a, b, how = rng.choice(view.pairs)
            told = (a, b, "different" if how == "one" else "one")
            return replace(view, pairs=tuple(told if pair == lost else pair for pair in view.pairs))
        item, size = rng.choice(view.sizes)
        wrong = rng.choice([n for n in range(max(1, size - 4), size + 5) if n != size])
        return replace(view, sizes=tuple({**dict(view.sizes), item: wrong}.items()))

    def draw(self, instance: Packing, answer: object, where: object) -> str:
        given = answer if type(answer) is dict else {}
        placed = {item: " ".join(drawing.plain(given.get(item)).casefold().split()) for item in instance.items}
        sizes, best = dict(instance.sizes), self.solve(instance) or {}
        load = {name: sum(sizes[item] for item in placed if placed[item] == name) for name in instance.bins}
        scale = 220 / max(*load.values(), *(room for _, room in instance.capacities))
        parts, base = [], 252.0
        for at, (name, room) in enumerate(instance.capacities):
            x, top, css = 10 + 130 * at, base, "wrong" if load[name] > room else ""
            parts.append(drawing.text(x + 55, 18, f"{name}: {load[name]} of {room}", css))
            parts.append(drawing.rect(x, base - scale * room, 110, scale * room, "free"))
            for item in (item for item in placed if placed[item] == name):
                top -= scale * sizes[item]
                ((said, css),) = drawing.verdicts(where, [(item, f"{item} {sizes[item]}")])
                parts.append(drawing.rect(x + 4, top + 1, 102, scale * sizes[item] - 2, "node"))
                parts.append(drawing.text(x + 55, top + scale * sizes[item] / 2 + 4, said, css))
        notes = [(WORDINGS[how][0].format(a, b), "") for a, b, how in instance.pairs]
        lost = [item for item in placed if placed[item] not in instance.bins]
        notes += [(f"in no bin: {', '.join(lost)}", "wrong")] if lost else []
        notes += [(f"one right packing has in {b}: {', '.join(i for i in best if best[i] == b)}", "") for b in load]
        parts += drawing.notes(base + 4, notes)
        width, height = max(520, 10 + 130 * len(load)), base + 16 + 20 * len(notes)
        return drawing.svg(width, height, parts, "the bins as they were filled")
