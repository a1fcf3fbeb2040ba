"""crossword: six crossing words to be picked from two lists, one list known to each agent (paper, table 8)."""

from __future__ import annotations

import random
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from itertools import combinations, islice, permutations, product
from string import ascii_uppercase

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

SIZES = {"easy": 2, "default": 3, "hard": 4}  # crosswords whose lines, or whose columns, make up a list
OWN = 4  # fillings that the right lines alone allow, and the right columns (at least)
TRIES = 5_000  # ways to set the lines that are looked at; all of 17 words
USED = (0, 2, 4)  # lines and columns that hold a word

Words = tuple[str, ...]
Index = dict[str, list[str]]  # words by their letters at the crossings


@dataclass(frozen=True)
class Lists:
    """Words that may stand in the lines and in the columns, both sorted."""

    across: Words
    down: Words


def indexed(words: Sequence[str]) -> Index:
    found: Index = {}
    for word in words:
        found.setdefault(word[::2], []).append(word)
    return found


ANY = indexed(FIVE)
BEGUN = {crossed[:2] for crossed in ANY}
STARTS = {letter: [word for word in FIVE if word[0] == letter] for letter in ascii_uppercase}


def crossing(lines: Words, index: Index) -> Iterator[Words]:
    """All ways to cross three lines with words of `index`."""
    a, b, c = lines
    return product(*(index.get(a[at] + b[at] + c[at], ()) for at in USED))


def fillings(across: Words, index: Index) -> Iterator[tuple[Words, Words]]:
    """All fillings, as the words of the lines and of the columns."""
    for lines in islice(permutations(across, 3), TRIES):
        for columns in crossing(lines, index):
            if len({*lines, *columns}) == 6:
                yield lines, columns


@lru_cache(1000)
def first_filling(across: Words, down: Words) -> tuple[Words, Words] | None:
    """The first filling from two lists; a grader asks for it again and again."""
    return next(fillings(across, indexed(down)), None)


def crossword(rng: random.Random) -> tuple[Words, Words]:
    """The lines and columns of a random crossword over all our words."""
    while True:
        top = rng.choice(FIVE)
        a, b = (rng.choice(STARTS[top[at]] or FIVE) for at in USED[:2])
        if a[2] + b[2] in BEGUN and a[4] + b[4] in BEGUN:
            for c in rng.sample(STARTS[top[4]], len(STARTS[top[4]])):
                middle, bottom = (ANY.get(a[at] + b[at] + c[at], ()) for at in USED[1:])
                if a[0] + b[0] == top[0:4:2] and middle and bottom:
                    lines = (top, rng.choice(middle), rng.choice(bottom))
                    if len({*lines, a, b, c}) == 6:
                        return lines, (a, b, c)


def rows(filling: tuple[Words, Words]) -> list[str]:
    lines, columns = filling
    return [lines[r // 2] if r in USED else "#".join(column[r] for column in columns) for r in range(5)]


LIST = re.compile(r"\b(Across|Down): ([A-Za-z-]+(?:, [A-Za-z-]+)*)\.")
BACKWARDS = "Words are told from their last letter to their first."
ON_SIDE = "The square lies on its side here: what is told as across stands down in the answer, and the other way round."
PLAIN = "Words are told as they are read, and stand across and down as in the answer."
SPELLINGS = (str, str.lower, "-".join, lambda word: "-".join(word.lower()))


@register
class Crossword(Task[Lists]):
    """All words of a list are lines (or columns) of crosswords over our words, so that it alone fits several of them.

    In a frame the first bit of `variant` says whether words are told backwards, the second whether across and down are
    exchanged; the others pick a spelling."""

    name, family, version, rule, prompt = "crossword", "csp", 1, "grid", PROMPT

    def sample(self, rng: random.Random, difficulty: str) -> Lists | None:
        right = crossword(rng)
        while any(len(list(islice(crossing(words, ANY), OWN))) < OWN for words in right):
            right = crossword(rng)
        lines, columns = (
            {*words, *(word for _ in range(SIZES[difficulty] - 1) for word in crossword(rng)[side])}
            for side, words in enumerate(right)
        )
        lists = Lists(tuple(sorted(lines)), tuple(sorted(columns)))
        is_one = len(list(islice(fillings(lists.across, indexed(lists.down)), 2))) == 1
        return lists if is_one and not lines & columns else None

    def split(self, instance: Lists, rng: random.Random) -> tuple[Lists, ...]:
        return replace(instance, down=()), replace(instance, across=())

    def merge(self, views: Sequence[Lists]) -> Lists:
        """All words that somebody tells: a list is what may be used, and a wrong word in it contradicts nothing."""
        across, down = {word for v in views for word in v.across}, {word for v in views for word in v.down}
        return Lists(tuple(sorted(across)), tuple(sorted(down)))

    def render(self, view: Lists, frame: Frame) -> str:
        backwards, on_side, spell = frame.variant & 1, frame.variant & 2, SPELLINGS[frame.variant // 4]
        heads = [BACKWARDS] * bool(backwards) + [ON_SIDE] * bool(on_side)
        told = [] if frame.friction == "natural" else heads or [PLAIN]
        lists = (view.down, view.across) if on_side else (view.across, view.down)
        for title, words in zip(("Across", "Down"), lists, strict=True):
            if words:
                told.append(f"{title}: {', '.join(spell(word[::-1] if backwards else word) for word in words)}.")
        return "\n".join(told)

    def parse(self, text: str) -> Lists:
        found: dict[str, set[str]] = {"Across": set(), "Down": set()}
        for title, told in LIST.findall(text):
            words = told.replace("-", "").upper().split(", ")
            found[title] |= {word[::-1] if BACKWARDS in text else word for word in words}
        across, down = (tuple(sorted(words)) for words in found.values())
        if not (across or down) or any(len(word) != 5 for word in across + down):
            raise ValueError("no list of words in the text, or a word that has not five letters")
        return Lists(down, across) if ON_SIDE in text else Lists(across, down)

    def solve(self, view: Lists) -> list[str] | None:
        """Of a partial view: where a list is unknown or fits nowhere, any of our words may stand in its place."""
        found = first_filling(view.across, view.down) or next(fillings(view.across, ANY), None)
        if found is None and (turned := next(fillings(view.down, ANY), None)):
            found = turned[::-1]
        return rows(found) if found else None

    def key(self, instance: Lists) -> GridKey:
        return GridKey(tuple(self.solve(instance) or ()))

    def form(self, view: Lists) -> GridForm:
        return GridForm(5, 5)

    def rivals(self, instance: Lists, view: Lists) -> Iterator[Lists]:
        """Another crossword with words of the seen list; of the unseen one some of the other words are kept."""
        seen, unseen = (instance.across, instance.down) if view.across else (instance.down, instance.across)
        _, crossed = next(fillings(seen, indexed(unseen)))
        kept = sorted(unseen, key=lambda word: word in crossed)  # the right words go first
        for _, columns in fillings(seen, ANY):
            if not {*columns} & {*seen, *unseen}:
                for rest in combinations(kept, len(unseen) - 3):
                    other = tuple(sorted(columns + rest))
                    if len(list(islice(fillings(seen, indexed(other)), 2))) == 1:
                        yield Lists(seen, other) if view.across else Lists(other, seen)
                        break

    def corrupt(self, view: Lists, rng: random.Random) -> Lists:
        words = view.across + view.down
        lost, told = rng.choice(words), rng.choice([word for word in FIVE if word not in words])
        across, down = (tuple(sorted(told if w == lost else w for w in half)) for half in (view.across, view.down))
        return Lists(across, down)

    def draw(self, instance: Lists, answer: object, where: object) -> str:
        kept = where if isinstance(where, dict) else {}
        given, right = kept.get("rows", []), kept.get("right", [])
        parts = [drawing.text(85, 14, "answered"), drawing.text(285, 14, "right")]
        for left, shown in ((0, given), (200, self.key(instance).rows)):
            for r, c in product(range(5), repeat=2):
                x, y, is_black = left + 34 * c, 24 + 34 * r, bool(r % 2 and c % 2)
                parts.append(drawing.rect(x + 1, y + 1, 32, 32, "wall" if is_black else "free"))
                letter = shown[r][c] if r < len(shown) and c < len(shown[r]) else ""
                css = "" if left else "right" if [r, c] in right else "wrong"
                if letter.strip() and not is_black:
                    parts.append(drawing.text(x + 17, y + 22, letter, css))
        return drawing.svg(371, 196, parts, "the square as it was answered, and as it is right")
