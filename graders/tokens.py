"""Tokens of a published text, counted the same whichever model wrote it: the o200k_base encoding (swap paper, appendix
C.5). Markers such as `<|endoftext|>` are counted as the plain text that they are in a message."""

from __future__ import annotations

from functools import cache
from typing import Any

ENCODING = "o200k_base"


@cache
def _encoder() -> Any:
    from rs_bpe.bpe import openai  # late: reads its vocabulary, some 0.1 seconds

    return openai.o200k_base()


def _writable(text: str) -> str:
    """`text` with every lone surrogate as one question mark: UTF-8 has no such characters. The length stays."""
    return text.encode("utf-8", "replace").decode()


def count(text: str) -> int:
    """How many tokens `text` has; 0 for an empty one."""
    return int(_encoder().count(_writable(text)))


def clip(text: str, most: int) -> str:
    """A beginning of `text` of at most `most` tokens, as long as whole tokens and whole characters allow.

    Raises:
        ValueError: `most` is negative.
    """
    if most < 0:
        raise ValueError(f"a text cannot be clipped to {most} tokens; 0 or more are expected")
    known = _writable(text)
    tokens = _encoder().encode(known)
    if len(tokens) <= most:
        return text
    for kept in range(most, 0, -1):
        start = _encoder().decode(tokens[:kept])  # None where the last token ends within a character
        if start is not None and count(start) <= most:  # a beginning can be cut into other tokens than the whole text
            return text[: len(start)]
    return ""
