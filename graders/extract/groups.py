"""The reader of sets of groups: so many known names each, in brackets, on lines, or told apart by their joints."""

from __future__ import annotations

import re

from graders.extract.names import Chain, Mention, chains, mentions, tuples, unnumbered
from graders.extract.reading import Reading
from tasks.answers import GroupsForm

JOINT = re.compile(
    r"(?>\([^()\n]{1,60}\)|[\s\d,;|><=.+/\"'\[\](){}&~:-]|\b(?:and|is|are|nodes?|triangles?|pairs?|groups?|sets?|with|equals?|matches"
    r"|maps? to|corresponds? to|the"
    r"|same as|also|plus|called|[a-z])\b){0,40}+",
    re.I,
)
REMARK = re.compile(r"\((?=[a-z]{3,20}[ :])[^()\n]{1,200}\)")
BRACKETS = re.compile(r"[(\[{][^()\[\]{}]{1,200}[)\]}]")


def groups(form: GroupsForm, text: str, labelled: bool) -> Reading:
    """A list of groups of names. The first list of groups where it is labelled, unless corrected, else the last one."""
    plain_text = unnumbered(text)
    found = _unremarked(mentions(form.names, plain_text), plain_text)
    chosen: Chain | None = None
    best: list[list[str]] = []
    for chain in chains(plain_text, found, JOINT):
        made = _groups(form, chain, plain_text, labelled)
        if made and (chosen is None or chain.corrects or not labelled):
            chosen, best = chain, made
    if chosen is None or chosen.elided:
        return Reading(hint=len(found) >= form.size)
    unique = list({frozenset(group): group for group in best}.values())
    names = [name for group in unique for name in group]
    solid = len(unique) > 1 and (form.size > 2 or len(set(names)) == len(names))
    return Reading(unique, False, solid, True, text[chosen.start : chosen.end])


def _unremarked(found: list[Mention], text: str) -> list[Mention]:
    """The mentions that do not stand in brackets whose first word is none of them."""
    starts = {m.start for m in found}
    asides = [m.span() for m in REMARK.finditer(text) if m.start() + 1 not in starts]
    kept: list[Mention] = []
    place = 0
    for mention in found:
        while place < len(asides) and asides[place][1] <= mention.start:
            place += 1
        if place == len(asides) or mention.end <= asides[place][0]:
            kept.append(mention)
    return kept


def _groups(form: GroupsForm, chain: Chain, text: str, labelled: bool) -> list[list[str]]:
    """The groups of a chain, those with a name twice left out."""
    size = form.size
    made = _bracketed(chain, text, size) or tuples(chain, size) or _lines(chain, size)
    if not made and labelled and len(chain.items) % size == 0:
        names = chain.names
        made = [names[n : n + size] for n in range(0, len(names), size)]
    return [group for group in made or [] if len(set(group)) == size]


def _bracketed(chain: Chain, text: str, size: int) -> list[list[str]]:
    made: list[list[str]] = []
    place = 0
    for span in BRACKETS.finditer(text, max(0, chain.start - 40), chain.end + 40):
        while place < len(chain.items) and chain.items[place].start < span.start():
            place += 1
        group: list[str] = []
        while place < len(chain.items) and chain.items[place].end <= span.end():
            group.append(chain.items[place].name)
            place += 1
        if len(group) == size:
            made.append(group)
    return made


def _lines(chain: Chain, size: int) -> list[list[str]]:
    """The first names of each line, if no line has fewer than `size`."""
    lines = [[chain.items[0].name]]
    for item, gap in zip(chain.items[1:], chain.gaps, strict=True):
        if "\n" in gap:
            lines.append([])
        lines[-1].append(item.name)
    return [line[:size] for line in lines] if min(map(len, lines)) >= size and len(lines) > 1 else []
