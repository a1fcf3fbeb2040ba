"""Lines as agents see them: facts told in one of several wordings, and lists of names that a frame calls by numbers."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from functools import cache


@cache
def _pattern(wording: str, word: str) -> tuple[str, re.Pattern[str]]:
    """What stands between two holes of a wording, and the pattern of the whole."""
    holes = re.sub(r"\\\{(\d)\\\}", lambda hole: f"(?P<_{hole[1]}>{word})", re.escape(wording))
    return max(re.split(r"\{\d\}", wording), key=len), re.compile(rf"(?<!\w){holes}(?!\w)")


def read(text: str, wordings: Mapping[str, Sequence[str]], word: str) -> Iterator[tuple[str, ...]]:
    """Everything that the text tells in any of the wordings of a kind, which hold `{0}`, `{1}`, ...: the kind, and what
    stands in the holes. `word` is the pattern, without groups that count, of what may stand there."""
    for kind, ways in wordings.items():
        for way in ways:
            between, pattern = _pattern(way, word)
            if between in text:
                for found in pattern.finditer(text):
                    yield kind, *(found[name] for name in sorted(found.groupdict()))


# Lists of names


class Names(dict[str, str]):
    """The names on a list, by what they are called. To look up anything else raises ValueError."""

    def all(self) -> tuple[str, ...]:
        return tuple(dict.fromkeys(self.values()))

    def __missing__(self, called: str) -> str:
        raise ValueError(f"{called!r} is not on the list")


def numbered(names: Sequence[str], word: str = "", way: int = 0) -> dict[str, str]:
    """What a frame calls names: by themselves, numbered from 1, numbered from 0, or numbered backwards."""
    size = len(names)
    numbers = (range(1, size + 1), range(size), range(size, 0, -1))[way - 1]
    return {name: f"{word} {number}" if way else name for name, number in zip(names, numbers, strict=True)}


def listing(title: str, called: Mapping[str, str]) -> str:
    """The list of names with what they are called; `listed` reads it again."""
    return f"{title}: {', '.join(name if name == sign else f'{sign} is {name}' for name, sign in called.items())}."


def listed(text: str, title: str, pool: Sequence[str]) -> Names:
    """The list of names out of `pool` under a title; empty if there is none."""
    name = rf"(?:[a-z]+ \d+ is )?(?:{'|'.join(pool)})"
    found = re.search(rf"\b{title}: ({name}(?:, {name})*)\.", text)
    told = [entry.rpartition(" is ") for entry in found[1].split(", ")] if found else []
    return Names({sign or name: name for sign, _, name in told})
