"""binpack: items into bins that they just fill, sizes known to one agent, capacities to the other (paper, table 8)."""

from __future__ import annotations

import random
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import combinations, permutations

from tasks import drawing
from tasks.answers import BinsKey, TableForm
from tasks.base import Task, register
from tasks.frames import Frame
from tasks.names import COLOURS, THINGS

PROMPT = """\
Put every item into a bin. The sizes of the items in a bin may add up to no more than the bin holds. Some items have to
go into one bin with each other, and some must not. Any packing that keeps to all of this is right. Give every item a
line of its own with the item and the colour of its bin, for example `violin: silver`."""

SIZES = {"easy": (5, 2, 2), "default": (7, 3, 3), "hard": (11, 4, 6)}  # items, bins, pairs
LARGEST = 9  # size of an item
SPARE = 1  # the most that stays empty in a bin
TRIES = 5_000  # items put into bins before the search for a packing gives up

Amount = tuple[str, int]
Pair = tuple[str, str, str]


@dataclass(frozen=True)
class Packing:
    """`sizes` and `capacities` by name; `pairs`: (item, item, `one` or `different`: the bins that they go into)."""

    items: tuple[str, ...]
    bins: tuple[str, ...]
    sizes: tuple[Amount, ...]
    capacities: tuple[Amount, ...]
    pairs: tuple[Pair, ...]


def fits(view: Packing, placed: dict[str, str]) -> bool:
    """Whether a packing of all or some items breaks no rule whose facts are known."""
    sizes, load = dict(view.sizes), dict.fromkeys(view.bins, 0)
    for item, name in placed.items():
        load[name] += sizes.get(item, 0)
    return all(load[name] <= capacity for name, capacity in view.capacities) and all(
        (placed[a] == placed[b]) is (how == "one") for a, b, how in view.pairs if a in placed and b in placed
    )


def pack(view: Packing, sizes: dict[str, int], room: dict[str, int]) -> dict[str, str]:
    """The first packing by backtracking, largest items first; if there is none, each item in the roomiest bin."""
    order = sorted(view.items, key=lambda item: -sizes[item])
    placed: dict[str, str] = {}
    left, tries = dict(room), TRIES

    def allowed(item: str, name: str) -> bool:
        return all(
            (placed[b if item == a else a] == name) is (how == "one")
            for a, b, how in view.pairs
            if item in (a, b) and (b if item == a else a) in placed
        )

    def place(at: int) -> bool:
        nonlocal tries
        if at == len(order):
            return True
        item = order[at]
        for name in view.bins:
            if sizes[item] <= left[name] and allowed(item, name) and tries > 0:
                tries -= 1
                placed[item] = name
                left[name] -= sizes[item]
                if place(at + 1):
                    return True
                left[name] += sizes[item]
                del placed[item]
        return False

    if not place(0):
        for item in order:
            placed[item] = max(view.bins, key=lambda name: (allowed(item, name), left[name]))
            left[placed[item]] -= sizes[item]
    return {item: placed[item] for item in view.items}


UNITS = (("litres", 1), ("half-litres", 2), ("quarter-litres", 4), ("decilitres", 10))
PLAIN = "Sizes and capacities are told in litres, bins by their colours."
UNIT = re.compile(r"\bSizes and capacities are told in ([a-z-]+)")
LABEL = r"(bin \d\d?|[a-z]+)"
ITEMS = re.compile(r"\bItems: ([a-z]+(?:, [a-z]+)*)\.")
BINS = re.compile(rf"\bBins: ({LABEL}(?: is [a-z]+)?(?:, {LABEL}(?: is [a-z]+)?)*)\.")
SIZE = re.compile(r"\bThe size of the ([a-z]+) is (\d{1,4})\b")
CAPACITY = re.compile(rf"\bThe capacity of {LABEL} is (\d{{1,4}})\b")
PAIR = re.compile(r"\bThe ([a-z]+) and the ([a-z]+) go into (one bin|different bins)\b")


def labels(bins: Sequence[str], frame: Frame) -> list[str]:
    """What a frame calls the bins: by colour, by number from 1, by number from 0, by number from the last one."""
    signs = [f"bin {i}" for i in range(len(bins) + 1)]
    return [list(bins), signs[1:], signs[:-1], signs[:0:-1]][frame.variant // 4]


@register
class BinPack(Task[Packing]):
    """Bins leave at most `SPARE` empty, so that few packings are right."""

    name, family, version, rule, prompt = "binpack", "csp", 1, "bins", PROMPT

    def sample(self, rng: random.Random, difficulty: str) -> Packing | None:
        count, wide, rules = SIZES[difficulty]
        items, bins = sorted(rng.sample(THINGS, count)), sorted(rng.sample(COLOURS, wide))
        sizes = tuple((item, rng.randint(2, LARGEST)) for item in items)
        placed = {item: rng.choice(bins) for item in items}
        load = {name: sum(size for item, size in sizes if placed[item] == name) for name in bins}
        if len(set(load.values())) < 2 or min(map(list(placed.values()).count, bins)) < 2:
            return None  # bins that hold the same could be exchanged, and a bin for one item tells too much
        pairs = [(a, b, "one" if placed[a] == placed[b] else "different") for a, b in combinations(items, 2)]
        one = rng.sample([p for p in pairs if p[2] == "one"], rules // 2)
        different = rng.sample([p for p in pairs if p[2] == "different"], rules - rules // 2)
        capacities = tuple((name, load[name] + rng.randint(0, SPARE)) for name in bins)
        return Packing(tuple(items), tuple(bins), sizes, capacities, tuple(sorted(one + different)))

    def split(self, instance: Packing, rng: random.Random) -> tuple[Packing, ...]:
        return replace(instance, capacities=(), pairs=()), replace(instance, sizes=())

    def merge(self, views: Sequence[Packing]) -> Packing:
        if any((v.items, v.bins) != (views[0].items, views[0].bins) for v in views):
            raise ValueError("the items or the bins differ")
        sizes, capacities, pairs = dict[str, int](), dict[str, int](), dict[tuple[str, str], str]()
        for view in views:
            for kept, facts in ((sizes, view.sizes), (capacities, view.capacities)):
                for name, amount in facts:
                    if kept.setdefault(name, amount) != amount:
                        raise ValueError(f"{name} is told as {kept[name]} and as {amount}")
            for a, b, how in view.pairs:
                if pairs.setdefault((a, b), how) != how:
                    raise ValueError(f"{a} and {b} go into one bin and into different bins")
        told = tuple(sorted((a, b, how) for (a, b), how in pairs.items()))
        return replace(
            views[0], sizes=tuple(sorted(sizes.items())), capacities=tuple(sorted(capacities.items())), pairs=told
        )

    def render(self, view: Packing, frame: Frame) -> str:
        unit, factor = UNITS[frame.variant % 4]
        named = dict(zip(view.bins, labels(view.bins, frame), strict=True))
        lines = {"none": [PLAIN], "strong": [f"Sizes and capacities are told in {unit}."]}.get(frame.friction, [])
        bins = (f"{label} is {name}" if label != name else name for name, label in named.items())
        lines += [f"Items: {', '.join(view.items)}.", f"Bins: {', '.join(bins)}."]
        lines += [f"The size of the {item} is {size * factor}." for item, size in view.sizes]
        lines += [f"The capacity of {named[name]} is {room * factor}." for name, room in view.capacities]
        return "\n".join(
            lines + [f"The {a} and the {b} go into {how} bin{'s' * (how != 'one')}." for a, b, how in view.pairs]
        )

    def parse(self, text: str) -> Packing:
        items, bins, unit = ITEMS.search(text), BINS.search(text), UNIT.search(text)
        if not items or not bins:
            raise ValueError("no items or no bins in the text")
        factor = dict(UNITS).get(unit[1] if unit else "litres")
        named = {label: name or label for label, _, name in (told.partition(" is ") for told in bins[1].split(", "))}
        empty = Packing(tuple(dict.fromkeys(items[1].split(", "))), tuple(dict.fromkeys(named.values())), (), (), ())
        found = [replace(empty, sizes=((item, int(told)),)) for item, told in SIZE.findall(text)]
        found += [replace(empty, capacities=((named.get(b, b), int(told)),)) for b, told in CAPACITY.findall(text)]
        found += [replace(empty, pairs=((min(a, b), max(a, b), how.split()[0]),)) for a, b, how in PAIR.findall(text)]
        view = self.merge([empty, *found])
        if {*view.items, *(x for x, _ in view.sizes), *(x for p in view.pairs for x in p[:2])} - set(THINGS):
            raise ValueError("an item has another name than any that there are")
        if set(named.values()) - set(COLOURS) or {b for b, _ in view.capacities} - set(view.bins):
            raise ValueError("a bin has another name than any that there are")
        if factor is None or any(amount % factor for _, amount in view.sizes + view.capacities):
            raise ValueError("an amount is no number of whole litres")
        return replace(
            view,
            sizes=tuple((item, size // factor) for item, size in view.sizes),
            capacities=tuple((name, room // factor) for name, room in view.capacities),
        )

    def solve(self, view: Packing) -> dict[str, str] | None:
        """Of a partial view: unknown bins are taken to be alike and just large enough, unknown items to be alike."""
        sizes, room = dict(view.sizes), dict(view.capacities)
        usual = max(1, sum(room.values()) // len(view.items))
        sizes = {item: sizes.get(item, usual) for item in view.items}
        enough = -(-sum(sizes.values()) // len(view.bins)) + SPARE
        return pack(view, sizes, {name: room.get(name, enough) for name in view.bins})

    def key(self, instance: Packing) -> BinsKey:
        together, apart = (
            tuple((a, b) for a, b, how in instance.pairs if how == kind) for kind in ("one", "different")
        )
        return BinsKey(dict(instance.sizes), dict(instance.capacities), together, apart)

    def form(self, view: Packing) -> TableForm:
        return TableForm(view.items, {"bin": view.bins})

    def rivals(self, instance: Packing, view: Packing) -> Iterator[Packing]:
        """The unseen capacities, or the unseen sizes, dealt out in another way, so that our packing breaks a rule."""
        ours = self.solve(instance) or {}
        facts = instance.sizes if view.capacities else instance.capacities
        for amounts in permutations([amount for _, amount in facts]):
            dealt = tuple((name, amount) for (name, _), amount in zip(facts, amounts, strict=True))
            other = replace(instance, sizes=dealt) if view.capacities else replace(instance, capacities=dealt)
            if not fits(other, ours) and fits(other, self.solve(other) or {}):
                yield other

    def corrupt(self, view: Packing, rng: random.Random) -> Packing:
        """A pair told as its contrary, or else a size of 1 to 4 more or less."""
        if view.pairs:
            at = rng.randrange(len(view.pairs))
            a, b, how = view.pairs[at]
            told = (a, b, "different" if how == "one" else "one")
            return replace(view, pairs=(*view.pairs[:at], told, *view.pairs[at + 1 :]))
        at = rng.randrange(len(view.sizes))
        item, size = view.sizes[at]
        wrong = rng.choice([n for n in range(max(1, size - 4), size + 5) if n != size])
        return replace(view, sizes=(*view.sizes[:at], (item, wrong), *view.sizes[at + 1 :]))

    def draw(self, instance: Packing, answer: object, where: object) -> str:
        given = answer if type(answer) is dict else {}
        told = {item: given.get(item) for item in instance.items}
        placed = {item: " ".join(name.casefold().split()) for item, name in told.items() if type(name) is str}
        sizes, best = dict(instance.sizes), self.solve(instance) or {}
        load = [sum(sizes[item] for item in placed if placed[item] == name) for name in instance.bins]
        scale = 220 / max(*load, *(room for _, room in instance.capacities))
        parts, base = [], 252.0
        for at, (name, room) in enumerate(instance.capacities):
            x, top = 10 + 130 * at, base
            parts.append(drawing.text(x + 55, 18, f"{name}: {load[at]} of {room}", "" if load[at] <= room else "wrong"))
            parts.append(drawing.rect(x, base - scale * room, 110, scale * room, "free"))
            for item in (item for item in instance.items if placed.get(item) == name):
                top -= scale * sizes[item]
                css = drawing.verdicts(where, [(item, "")])[0][1]
                parts.append(drawing.rect(x + 4, top + 1, 102, scale * sizes[item] - 2, "node"))
                parts.append(drawing.text(x + 55, top + scale * sizes[item] / 2 + 4, f"{item} {sizes[item]}", css))
        lines = [(f"{a} and {b}: {how} bin{'s' * (how != 'one')}", "") for a, b, how in instance.pairs]
        lost = [item for item in instance.items if placed.get(item) not in instance.bins]
        lines += [(f"in no bin: {', '.join(lost)}", "wrong")] if lost else []
        lines += [
            (f"one right packing has in {b}: {', '.join(i for i in best if best[i] == b)}", "") for b in instance.bins
        ]
        parts += drawing.notes(base + 4, lines)
        width = max(520, 10 + 130 * len(load))
        return drawing.svg(width, base + 16 + 20 * len(lines), parts, "the bins as they were filled")
