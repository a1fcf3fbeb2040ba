"""What a reader returns, and what readers of names share."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Reading:
    """`answer` is None if nothing was read. `part`: more of the answer may stand elsewhere. `solid`: well-formed enough
    to be taken for an answer even where nothing says so. `hint`: something of the kind is there. `text`: what was read.
    In a mapping the value None means that the text expressly leaves the item open."""

    answer: Any = None
    part: bool = True
    solid: bool = False
    hint: bool = False
    text: str = ""


def plain(words: str) -> str:
    return " ".join(re.split(r"[\s_-]+", words.strip().lower())).replace(" >", ">").replace("> ", ">")


def spelling(name: str) -> str:
    """A pattern for a name, with blanks, hyphens and underscores alike, and blanks around arrows or not."""
    words = r"[\s_-]{1,3}".join(map(re.escape, re.split(r"[\s_-]+", name.strip())))
    return re.sub(r"(?:\[\\s_-\]\{1,3\})?>", r"[\\s_-]{0,3}>\\s?", words)


def any_of(words: Mapping[str, Any]) -> str:
    """A pattern for any of `words`, longest first, whole words only, with blanks, hyphens and underscores alike."""
    ordered = sorted(words, key=len, reverse=True)
    return "|".join(map(spelling, ordered)) or r"(?!)"
