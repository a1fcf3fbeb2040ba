"""crossword: six crossing words to be picked from two lists, one list known to each agent (paper, table 8)."""

from __future__ import annotations

import random
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import combinations, islice, permutations, product
from math import prod

from tasks import drawing
from tasks.answers import GridForm, GridKey
from tasks.base import Task, register
from tasks.frames import Frame
from tasks.words import FIVE

PROMPT = """\
Fill a small crossword: a square of five lines with five places each. Its first, third and last line hold a word each,
read from left to right; its first, third and last column hold a word each, read from the top down. The four places at
which the second or fourth line meets the second or fourth column are black. One list holds the words that may stand
across (in the lines), another one those that may stand down (in the columns); each has more words than are needed, and
no word is used twice. Exactly one filling fits both lists. Give the five lines from top to bottom, with `#` for a black
place. A filling looks like this (its words are invented):
KALOM
E#E#I
TAVIR
U#U#O
PODAN"""

SIZES = {
    "easy": (5, 9),
    "default": (6, 18),
    "hard": (9, 30),
}  # words of a list, fillings that it alone allows (at least)
BLACK = ((1, 1), (1, 3), (3, 1), (3, 3))
USED = (0, 2, 4)  # lines and columns that hold a word
OWN = 4  # fillings that the right lines alone allow, and the right columns
TRIES = 20_000  # ways to set the lines that are looked at; all of 28 words

Words = tuple[str, ...]
Index = dict[str, list[str]]


@dataclass(frozen=True)
class Lists:
    """Words that may stand in the lines and in the columns, both sorted."""

    across: Words
    down: Words


def indexed(words: Sequence[str]) -> Index:
    """Words by their letters at the crossings."""
    found: Index = {}
    for word in words:
        found.setdefault(word[::2], []).append(word)
    return found


ANY = indexed(FIVE)
BEGUN = {crossed[:2] for crossed in ANY}
STARTS = {word[0]: [w for w in FIVE if w[0] == word[0]] for word in FIVE}


def crossing(lines: Words, index: Index) -> list[list[str]]:
    """For each column the words of `index` that cross three lines."""
    return [index.get(lines[0][at] + lines[1][at] + lines[2][at], []) for at in USED]


def fillings(across: Words, index: Index) -> Iterator[tuple[Words, Words]]:
    """All fillings, as the words of the lines and of the columns."""
    for lines in islice(permutations(across, 3), TRIES):
        for columns in product(*crossing(lines, index)):
            if len({*lines, *columns}) == 6:
                yield lines, columns


def crossword(rng: random.Random, first: str) -> tuple[Words, Words] | None:
    """The lines and columns of a random crossword over all our words, `first` on top; None if it does not come off."""
    starts = [STARTS.get(first[at], []) for at in USED]
    for _ in range(400 * all(starts)):
        a, b = rng.choice(starts[0]), rng.choice(starts[1])
        if a[2] + b[2] in BEGUN and a[4] + b[4] in BEGUN:
            fits = [c for c in starts[2] if a[2] + b[2] + c[2] in ANY and a[4] + b[4] + c[4] in ANY]
            if fits:
                columns = (a, b, rng.choice(fits))
                lines = (first, *(rng.choice(ANY["".join(column[at] for column in columns)]) for at in (2, 4)))
                if len({*lines, *columns}) == 6:
                    return lines, columns
    return None


def best(across: Words, index: Index) -> tuple[Words, Words] | None:
    """The first filling; where there is none, three lines that most columns cross, the other columns left open."""
    if len(across) < 3:
        return None
    if found := next(fillings(across, index), None):
        return found
    ways = (tuple(c[0] if c else "?????" for c in crossing(lines, index)) for lines in permutations(across[:28], 3))
    return max(zip(permutations(across[:28], 3), ways, strict=True), key=lambda way: -way[1].count("?????"))


def rows(lines: Words, columns: Words) -> list[str]:
    return [lines[r // 2] if r in USED else "#".join(column[r] for column in columns) for r in range(5)]


LIST = re.compile(r"\b(Across|Down): ([A-Za-z-]+(?:, [A-Za-z-]+)*)\.")
BACKWARDS = "Words are told from their last letter to their first."
ON_SIDE = "The square lies on its side here: what is told as across stands down in the answer, and the other way round."
PLAIN = "Words are told as they are read, and stand across and down as in the answer."
SPELLINGS = (str, str.lower, "-".join, lambda word: "-".join(word.lower()))


@register
class Crossword(Task[Lists]):
    """Decoys are lines of other crosswords over our words, so that a list alone fits several of them.

    In a frame the first bit of `variant` says whether words are told backwards, the second whether across and down are
    exchanged; the others pick a spelling."""

    name, family, version, rule, prompt = "crossword", "csp", 1, "grid", PROMPT

    def sample(self, rng: random.Random, difficulty: str) -> Lists | None:
        length, ways = SIZES[difficulty]
        drawn = (crossword(rng, rng.choice(FIVE)) or () for _ in range(200))
        lists: list[Words] = []
        for words in next((d for d in drawn if d and all(prod(map(len, crossing(w, ANY))) >= OWN for w in d)), ()):
            for _ in range(30):
                told = words
                while len(told) < length:  # where only two are missing, the other crossword has one of ours
                    first = rng.choice(told if length - len(told) < 3 else FIVE)
                    told += tuple(word for word in (crossword(rng, first) or [()])[0] if word not in told)
                if len(told) == length and len(list(islice(fillings(told, ANY), ways))) == ways:
                    lists.append(tuple(sorted(told)))
                    break
        if len(lists) < 2 or set(lists[0]) & set(lists[1]):
            return None
        is_one = len(list(islice(fillings(lists[0], indexed(lists[1])), 2))) == 1
        return Lists(*lists) if is_one else None

    def split(self, instance: Lists, rng: random.Random) -> tuple[Lists, ...]:
        return replace(instance, down=()), replace(instance, across=())

    def merge(self, views: Sequence[Lists]) -> Lists:
        """All words that somebody tells: a list is what may be used, and a wrong word in it contradicts nothing."""
        across, down = (tuple(sorted({word for words in told for word in words})) for told in (
            [v.across for v in views], [v.down for v in views]
        ))  # fmt: skip
        return Lists(across, down)

    def render(self, view: Lists, frame: Frame) -> str:
        backwards, on_side, spell = frame.variant & 1, frame.variant & 2, SPELLINGS[frame.variant // 4]
        heads = [BACKWARDS] * bool(backwards) + [ON_SIDE] * bool(on_side)
        lines = [] if frame.friction == "natural" else heads or [PLAIN]
        for told, words in zip(
            ("Across", "Down"), (view.down, view.across) if on_side else (view.across, view.down), strict=True
        ):
            if words:
                lines.append(f"{told}: {', '.join(spell(w[::-1] if backwards else w) for w in words)}.")
        return "\n".join(lines)

    def parse(self, text: str) -> Lists:
        found: dict[str, set[str]] = {"Across": set(), "Down": set()}
        for told, words in LIST.findall(text):
            found[told] |= {word.replace("-", "").upper() for word in words.split(", ")}
        if BACKWARDS in text:
            found = {told: {word[::-1] for word in words} for told, words in found.items()}
        across, down = (tuple(sorted(words)) for words in found.values())
        if not across and not down:
            raise ValueError("no list of words in the text")
        if any(len(word) != 5 for word in across + down):
            raise ValueError("a word has not five letters")
        return Lists(down, across) if ON_SIDE in text else Lists(across, down)

    def solve(self, view: Lists) -> list[str] | None:
        """Of a partial view: where a list is unknown, any of our words may stand in its place."""
        if view.across:
            found = best(view.across, indexed(view.down) if view.down else ANY)
        else:
            found = best(view.down, ANY)
            found = found and found[::-1]
        return rows(*found) if found else None

    def key(self, instance: Lists) -> GridKey:
        return GridKey(tuple(rows(*next(fillings(instance.across, indexed(instance.down))))))

    def form(self, view: Lists) -> GridForm:
        return GridForm(5, 5)

    def rivals(self, instance: Lists, view: Lists) -> Iterator[Lists]:
        """Another crossword with words of the seen list; of the unseen one some of the other words are kept."""
        is_across = bool(view.across)
        seen, unseen = (instance.across, instance.down) if is_across else (instance.down, instance.across)
        used, crossed = next(fillings(seen, indexed(unseen)))
        kept = [word for word in unseen if word not in crossed] + list(crossed)
        for lines, columns in fillings(seen, ANY):
            if lines == used or set(columns) & set(seen):
                continue
            for rest in combinations([word for word in kept if word not in columns], len(unseen) - 3):
                other = tuple(sorted(columns + rest))
                if len(list(islice(fillings(seen, indexed(other)), 2))) == 1:
                    yield Lists(seen, other) if is_across else Lists(other, seen)
                    break

    def corrupt(self, view: Lists, rng: random.Random) -> Lists:
        lists = {"across": view.across, "down": view.down}
        which = rng.choice([name for name, words in lists.items() if words])
        lost = rng.choice(lists[which])
        told = rng.choice([word for word in FIVE if word not in view.across + view.down])
        return replace(view, **{which: tuple(sorted({*lists[which], told} - {lost}))})

    def draw(self, instance: Lists, answer: object, where: object) -> str:
        kept = where if isinstance(where, dict) else {}
        given, right = kept.get("rows", []), kept.get("right", [])
        parts = [drawing.text(85, 14, "answered"), drawing.text(285, 14, "right")]
        for left, shown in ((0, given), (200, self.key(instance).rows)):
            for r, c in product(range(5), repeat=2):
                x, y = left + 34 * c, 24 + 34 * r
                parts.append(drawing.rect(x + 1, y + 1, 32, 32, "wall" if (r, c) in BLACK else "free"))
                letter = shown[r][c] if r < len(shown) and c < len(shown[r]) else ""
                css = "" if left else "right" if [r, c] in right else "wrong"
                if letter.strip() and (r, c) not in BLACK:
                    parts.append(drawing.text(x + 17, y + 22, letter, css))
        return drawing.svg(371, 196, parts, "the square as it was answered, and as it is right")
