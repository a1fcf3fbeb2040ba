"""Prefixes of relayed messages, `[other agent]:` and `[user]:`, where an agent writes them itself.

What the relay defuses and what extraction leaves unread is decided here, for both alike.
"""

from __future__ import annotations

import re

BRACKETED = r"[\[［]\s*(other[\s_-]{1,3}agent|user)\s*[\]］]"
PREFIX = BRACKETED + r"([*_`]*)\s*[:：]"
ITEM = r"(?:[ \t>*_`#+-]*\d{1,3}[.)])?[ \t>*_`#+-]*"  # marks of lists, headings and quotations
IMITATED = re.compile(rf"(?:[\s*_`#+-]*(?:\d{{1,3}}[.)][\s*_`]*)?{PREFIX}[*_`]*+\s*+)+", re.I)
FORGED = re.compile(rf"^({ITEM}){PREFIX}", re.I | re.M)
SPOKEN = re.compile(  # not the relay's prefix, but words of the other agent all the same; only that line
    rf"\n{ITEM}(?:the[ ])?other[ _]agent[*_`]*[ ]?[:：].*|<other[ _]agent>[^<]{{0,2000}}</other[ _]agent>", re.I
)
TEMPLATE = re.compile(  # the beginning of a turn of others, as templates of models and habits of theirs mark it
    r"<\|(?:im_start|start_header_id)\|>\s*(?:user|system)|<start_of_turn>\s*user|\[INST\]"
    r"|\n[ \t*]{0,9}(?:human|user)[*]{0,2}[ ]?[:：]",
    re.I,
)
QUOTED = re.compile(rf"^[ \t*_`]*>[ \t>*_`]*{PREFIX}.*(?:\n[ \t]*>.*)*", re.I | re.M)


def unprefixed(text: str) -> str:
    """`text` without the prefixes at its beginning, by which models imitate the messages that they are shown."""
    imitated = IMITATED.match(text)
    return text[imitated.end() :] if imitated else text


def defused(text: str) -> str:
    """`text` with round brackets in the prefixes at the beginning of a line, for an agent speaks only as itself."""
    return FORGED.sub(r"\1(\2)\3:", text)


def own(text: str) -> str:
    """What the speaker says as itself: without prefixes at the beginning; a quotation (`>`) under a forged prefix is
    left out, and from a forged line on everything."""
    text = SPOKEN.sub("\n", QUOTED.sub("", unprefixed(text)))
    starts = [found.start() for found in (FORGED.search(text), TEMPLATE.search(text, 1)) if found]
    return text[: min(starts)] if starts else text
