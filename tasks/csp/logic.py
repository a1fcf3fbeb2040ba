"""logic: who lives where with what, in a row of houses; half of the clues known to each agent (paper, appendix E)."""

from __future__ import annotations

import random
import re
from collections.abc import Iterator
from itertools import combinations, product

from tasks import clues, drawing, lines
from tasks.answers import FieldsKey, TableForm
from tasks.base import register
from tasks.clues import Clue, Items, Puzzle
from tasks.frames import Frame
from tasks.names import ANIMALS, COLOURS, DRINKS, NAMES

PROMPT = """\
Houses stand in a row. Every house has one item of each kind listed below, and every item is in exactly one house. Find
out what is where from the clues, all of which are true. "Next to" means on either side; "at one position" means in the
same house. Exactly one solution fits all clues. Answer with one line for each position, counted from 1 at the left end
as seen from the street, and name its items in it, for example `1: Alf, rum, parrot`."""

SIZES = {"easy": (3, 3, 8), "default": (4, 3, 12), "hard": (4, 4, 16)}  # houses, kinds of items, clues

POOLS = {"People": NAMES, "Drinks": DRINKS, "Pets": ANIMALS, "Colours": COLOURS}
COLUMNS = ("person", "drink", "pet", "colour")
PHRASES = ("{}", "the {} drinker", "the {} owner", "the {} house")
WORDINGS = {
    "at": ("{0} is at position {1}.", "Position {1} has {0}."),
    "not at": ("{0} is not at position {1}.", "Position {1} does not have {0}."),
    "same": ("{0} and {1} are at one position.", "{0} goes with {1}."),
    "not same": ("{0} and {1} are not at one position.", "{0} does not go with {1}."),
    "next": ("{0} is next to {1}.", "{0} and {1} are neighbours."),
    "directly": ("{0} is directly left of {1}.", "{1} is directly right of {0}."),
    "before": ("{0} is somewhere left of {1}.", "{1} is somewhere right of {0}."),
}
LIES = {"at": "not at", "not at": "at", "same": "not same", "not same": "same", "next": "same"}
ROW = "Positions are counted here from {0} at the left end, as seen from the {1}."
STATED = re.compile(ROW.format("([01])", "(street|back)"))
ITEM = {item.lower(): (item, PHRASES[kind].format(item)) for kind, pool in enumerate(POOLS.values()) for item in pool}
WORD = rf"(?:(?:(?:[Tt]he|[Ii]tem) )?(?i:{'|'.join(ITEM)})(?: (?:drinker|owner|house))?|\d)"


def item_in(word: str) -> str:
    """The item that a word of a clue names, or the word itself."""
    return next((ITEM[part][0] for part in word.lower().split() if part in ITEM), word)


@register
class Logic(clues.ClueTask):
    """Clues about two items are about items of two kinds. In a strong frame the row is seen from the street or from its
    back, positions count from 0 or 1, relations have other words, and items are named without their kind."""

    name, family, version, rule, prompt = "logic", "csp", 1, "fields", PROMPT
    framed = ("at", "not at", "directly", "before")

    def sample(self, rng: random.Random, difficulty: str) -> Puzzle | None:
        size, kinds, count = SIZES[difficulty]
        items = tuple(tuple(sorted(rng.sample(pool, size))) for pool in list(POOLS.values())[:kinds])
        return self.compose(items, count, rng)

    def possible(self, items: Items) -> Iterator[Clue]:
        for a in (item for each in items for item in each):
            for place in range(1, len(items[0]) + 1):
                yield from (("at", a, str(place)), ("not at", a, str(place)))
        for a, b in (pair for ours, theirs in combinations(items, 2) for pair in product(ours, theirs)):
            yield from ((kind, a, b) for kind in ("same", "not same", "next", "directly", "before"))
            yield from ((kind, b, a) for kind in ("directly", "before"))

    def opposite(self, clue: Clue) -> Clue:
        kind, a, b = clue
        return (LIES[kind], a, b) if kind in LIES else (kind, b, a)

    def render(self, view: Puzzle, frame: Frame) -> str:
        behind, base = clues.ends(frame)
        told = [ROW.format(base, "back" if behind else "street")] if frame.friction != "natural" else []
        told += [lines.listing(title, lines.numbered(each)) for title, each in zip(POOLS, view.items, strict=False)]
        for clue in view.clues:
            kind, *about = clues.seen(clue, len(view.items[0]), behind, base)
            for at, word in enumerate(about):
                if not word.isdigit():
                    about[at] = f"item {word.upper()}" if frame.variant & 8 else ITEM[word.lower()][1]
            line = WORDINGS[kind][frame.variant >> 2 & 1].format(*about)
            told.append(line[0].upper() + line[1:])
        return "\n".join(told)

    def parse(self, text: str) -> Puzzle:
        items, said = clues.lists(text, POOLS), STATED.search(text)
        behind, base = (said[2] == "back", int(said[1])) if said else (False, 1)
        read = ((kind, item_in(a), item_in(b)) for kind, a, b in lines.read(text, WORDINGS, WORD))
        return Puzzle(items, tuple(sorted({clues.meant(clue, items, behind, base) for clue in read})))

    def solve(self, view: Puzzle) -> dict[str, str] | None:
        """Of a partial view: the first world that fits."""
        columns = dict(zip(COLUMNS, self.world(view.items, clues.first(self.open(view))), strict=False))
        form = self.form(view)
        return {form.cell(row, c): columns[c][at] for at, row in enumerate(form.rows) for c in columns}

    def key(self, instance: Puzzle) -> FieldsKey:
        return FieldsKey(self.solve(instance) or {})

    def form(self, view: Puzzle) -> TableForm:
        rows = tuple(str(place) for place in range(1, len(view.items[0]) + 1))
        return TableForm(rows, dict(zip(COLUMNS, view.items, strict=False)))

    def draw(self, instance: Puzzle, answer: object, where: object) -> str:
        given = answer if isinstance(answer, dict) else {}
        right, kinds = self.solve(instance) or {}, len(instance.items)
        parts = []
        for at, ((cell, item), (_, css)) in enumerate(
            zip(right.items(), drawing.verdicts(where, right.items()), strict=True)
        ):
            x, y = 140 + 120 * (at // kinds), 30 + 46 * (at % kinds)
            parts.append(drawing.rect(x - 56, y, 112, 42, css or "free"))
            parts.append(drawing.text(x, y + 17, given.get(cell, "nothing"), css))
            parts.append(drawing.text(x, y + 35, "" if css == "right" else f"is {item}"))
        parts += [drawing.text(140 + 120 * at, 20, place) for at, place in enumerate(self.form(instance).rows)]
        parts += [drawing.text(8, 46 * row + 55, column, "", "start") for row, column in enumerate(COLUMNS[:kinds])]
        parts += drawing.notes(
            46 * kinds + 35, [(line, "") for line in self.render(instance, Frame()).split("\n")[kinds:]]
        )
        size = 90 + 120 * len(instance.items[0]), 46 * kinds + 50 + 20 * len(instance.clues)
        return drawing.svg(*size, parts, "the houses as answered, what else is there, and the clues")
