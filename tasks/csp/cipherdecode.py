"""cipherdecode: a message under a substitution cipher, half of the key known to each agent (paper, table 8)."""

from __future__ import annotations

import random
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from string import ascii_uppercase as ALPHABET

from tasks import drawing, facts, lines
from tasks.answers import TextForm, TextKey
from tasks.base import Task, register
from tasks.frames import Frame

PROMPT = """\
Decode a message of code words that mean nothing. Every letter of it was exchanged for another one by a fixed key, the
same letter always for the same, different letters for different ones; the blanks between words were kept. Each line of
the key tells one pair: a letter of the cipher text and the plain letter that it stands for. Give the whole plain
message in capitals, with one blank between words, for example `ZUMBE TROK`."""

SIZES = {"easy": (4, 10), "default": (6, 14), "hard": (9, 20)}  # words, different letters that they are made of

HALVES = 150  # ways to share the key out that are tried

Pair = tuple[str, str]


@dataclass(frozen=True)
class Cipher:
    """The cipher text, and the key to its letters: (cipher letter, plain letter), sorted."""

    text: str
    key: tuple[Pair, ...]


def decoded(text: str, key: Sequence[Pair]) -> str:
    plain = dict(key)
    return "".join(plain.get(letter, letter) for letter in text)


WORDINGS = {
    "pair": ("{0} stands for {1}.", "{1} is written as {0}.", "{0} is the sign of {1}.", "plain {1} became {0}.")
}
NUMBERS = ((1, 1), (0, 1), (26, -1))  # number of A and step from letter to letter, where cipher letters are numbers
HEAD = "Letters of the cipher text are told as numbers: A is {0}, B is {1} and so on."
STATED = re.compile(HEAD.format(r"(\d\d?)", r"(\d\d?)"))
LETTERS = "Letters of the cipher text are told as letters."
LETTER = r"(?:[A-Z]|\d\d?)"
TEXT = re.compile(r"Cipher text: ([A-Z\d]+(?:[ -][A-Z\d]+)*)(?![\w-])")


def told(word: str, frame: Frame) -> str:
    """A word of the cipher text as a frame tells it; `read` reads it again."""
    if frame.variant < 4:
        return word
    first, step = NUMBERS[frame.variant // 4 - 1]
    return "-".join(str(first + step * ALPHABET.index(letter)) for letter in word)


def read(word: str, first: int, step: int) -> str:
    """Inverse of `told`. Raises ValueError for a number that is none of a letter."""
    if word.isalpha():
        return word
    places = [(int(number) - first) * step for number in word.split("-")]
    if not all(0 <= place < len(ALPHABET) for place in places):
        raise ValueError(f"{word} holds a number that is none of a letter")
    return "".join(ALPHABET[place] for place in places)


@register
class CipherDecode(Task[Cipher]):
    """Words are random letters: of plain English words half of the key is enough to guess nearly the whole message.
    Each agent can read half of the text. No letter stands for itself, which is not told."""

    name, family, version, rule, prompt = "cipherdecode", "csp", 1, "text", PROMPT

    def sample(self, rng: random.Random, difficulty: str) -> Cipher | None:
        count, size = SIZES[difficulty]
        letters = rng.sample(ALPHABET, size)
        words = ["".join(rng.sample(letters, rng.choice((4, 5)))) for _ in range(count)]
        ring = rng.sample(ALPHABET, len(ALPHABET))
        key = dict(zip(ring, ring[1:] + ring[:1], strict=True))
        text = decoded(" ".join(words), tuple(key.items()))
        return Cipher(text, tuple(sorted((c, p) for p, c in key.items() if c in text)))

    def split(self, instance: Cipher, rng: random.Random) -> tuple[Cipher, ...]:
        """Of some random halves of the key that which holds and lacks two letters each of the most words."""
        words = [frozenset(word) for word in instance.text.split()]

        def fairness(half: list[Pair]) -> int:
            known = {c for c, _ in half}
            return sum(2 <= len(word & known) <= len(word) - 2 for word in words)

        half = max((rng.sample(instance.key, len(instance.key) // 2) for _ in range(HALVES)), key=fairness)
        rest = tuple(pair for pair in instance.key if pair not in half)
        return replace(instance, key=tuple(sorted(half))), replace(instance, key=rest)

    def merge(self, views: Sequence[Cipher]) -> Cipher:
        if len({v.text for v in views}) > 1:
            raise ValueError("the cipher texts differ")
        return Cipher(views[0].text, facts.merged((v.key for v in views), about=-1))

    def render(self, view: Cipher, frame: Frame) -> str:
        first, step = NUMBERS[frame.variant // 4 - 1]
        head = HEAD.format(first, first + step) if frame.variant >= 4 else LETTERS
        words = " ".join(told(word, frame) for word in view.text.split())
        pairs = [WORDINGS["pair"][frame.variant % 4].format(told(c, frame), p) for c, p in view.key]
        return "\n".join([head] * (frame.friction != "natural") + [f"Cipher text: {words}", *pairs])

    def parse(self, text: str) -> Cipher:
        stated, message = STATED.search(text), TEXT.search(text)
        if message is None:
            raise ValueError("no cipher text in the text")
        first, second = (int(stated[1]), int(stated[2])) if stated else NUMBERS[0]
        words = [read(word, first, second - first) for word in message[1].split()]
        pairs = [(read(c, first, second - first), p) for _, c, p in lines.read(text, WORDINGS, LETTER)]
        return Cipher(" ".join(words), facts.merged([pairs], about=-1))

    def solve(self, view: Cipher) -> str | None:
        """Of a partial view: unknown cipher letters are taken to stand for the first plain letters that are left."""
        known = dict(view.key)
        letters = [c for c in ALPHABET if c in view.text and c not in known]
        left = [p for p in ALPHABET if p not in known.values()]
        return decoded(view.text, (*view.key, *zip(letters, left, strict=False)))

    def key(self, instance: Cipher) -> TextKey:
        return TextKey(decoded(instance.text, instance.key))

    def form(self, view: Cipher) -> TextForm:
        return TextForm(len(view.text))

    def rivals(self, instance: Cipher, view: Cipher) -> Iterator[Cipher]:
        """The same cipher text under a key in which two letters that the view lacks are exchanged."""
        for (c, p), (d, q) in combinations([pair for pair in instance.key if pair not in view.key], 2):
            key = {**dict(instance.key), c: q, d: p}
            yield replace(instance, key=tuple(key.items()))

    def corrupt(self, view: Cipher, rng: random.Random) -> Cipher:
        c, _ = rng.choice(view.key)
        wrong = rng.choice([p for p in ALPHABET if p != c and p not in dict(view.key).values()])
        return replace(view, key=tuple({**dict(view.key), c: wrong}.items()))

    def draw(self, instance: Cipher, answer: object, where: object) -> str:
        kept = where if isinstance(where, dict) else {}
        right, plain = kept.get("right", []), self.key(instance).text
        given = iter("".join(kept.get("given", "").split()))  # the grade leaves blanks out
        titles = enumerate(("cipher", "answered", "right"))
        parts = [drawing.text(78, 24 + 30 * i, title, "", "end") for i, title in titles]
        for at, letter in enumerate(instance.text):
            x = 98 + 22 * at
            if letter != " ":
                parts.append(drawing.rect(x - 10, 6, 20, 26, "free"))
                parts += [drawing.text(x, 24, letter), drawing.text(x, 84, plain[at])]
                parts.append(drawing.text(x, 54, next(given, ""), "right" if at in right else "wrong"))
        width = 98 + 22 * len(instance.text)
        return drawing.svg(width, 96, parts, "the cipher text, the message as answered and as it is")
