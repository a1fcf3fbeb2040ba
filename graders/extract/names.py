"""Where known names stand in a text, and the chains that they form; what the readers of names share.

A chain is a sequence of names with nothing but joints between them: punctuation, arrows, list marks, a few words. In a
list whose lines begin with a name, what else a line says is a remark.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from typing import NamedTuple

from graders.extract.reading import plain, spelling

MOST = 10_000  # names of a text that are looked at, counted from its beginning
ASIDE = re.compile(r"(?<=[\w\"']) ?\([^()\n]{1,200}\)")
FAR = 300  # characters between two names of a chain at the most
CORRECTION = re.compile(
    r"\bno\b(?=\s?(?:[,!:;-]|\.{1,3})\s|\s(?:wait|actually))|\bedit(?=:)"
    r"|\b(?:actually|wait|sorry|correct(?:ion|ed)|scratch that|i meant?|oops"
    r"|or rather|instead)\b|(?<=\.\. )let me (?:re-?|double-?)?check\b",
    re.I,
)
NEGATED = re.compile(
    r"(?:\b(?:not|never|neither|nor|without|except|cannot|instead of|rather than)|n't)\s(?:(?:be|the|an?"
    r"|in|at|on|have|use) ){0,2}\W{0,3}$",
    re.I,
)
BULLET = r"[ \t]*(?:(?:[-*+>#]{1,3}|\(?\d{1,4}[.):]|\d{1,4}(?:st|nd|rd|th)\b[.:]?)[ \t]*){0,3}"
KINDS = (
    "node|vertex|town|city|village|person|item|course|task|house|robot|point|stop|station|seat|position"
    "|place|number|rank|top"
)
NUMERAL = r"first|second|third|fourth|fifth|sixth|seventh|eighth|ninth|tenth|last"
WORDS = (
    rf"{KINDS}|{NUMERAL}|(?:first|last)ly|then|next|and|finally|followed by|before|precedes|to|from|comes?"
    rf"|by|goes|go|take|is|the|on|at|in|with|degree|edges?|connections?|points?|score"
    r"|(?-i:[a-z]+_[a-z]+)"
)
JOINT = re.compile(
    rf"(?>\([^()\n]{{1,60}}\)|[\s\d,;:|><=.+/\"'\[\](){{}}&#~≻≺-]|\b(?:{WORDS})s?\b|\b\d{{1,3}}(?:st|nd|rd|th)\b"
    r"){0,40}+",
    re.I,
)


class Mention(NamedTuple):
    name: str
    start: int
    end: int


def _pattern(name: str) -> str:
    words = spelling(name)
    return f"(?-i:{words})" if len(name.strip()) == 1 else words  # "a" is a word, "A" a name


@lru_cache(maxsize=256)
def shorts(names: tuple[str, ...]) -> dict[str, str]:
    """Last words by which names can be told that share all others: "1" for "house 1"."""
    split = [re.split(r"[\s_-]+", name.strip()) for name in names]
    last = {words[-1]: name for words, name in zip(split, names, strict=True)}
    shared = {plain(" ".join(words[:-1])) for words in split}
    return last if len(last) == len(names) > 1 and len(shared) == 1 and "" not in shared else {}


@lru_cache(maxsize=256)
def _finder(names: tuple[str, ...], short: bool) -> tuple[re.Pattern[str], dict[str, str]]:
    meaning = {plain(name): name for name in names if name.strip()}
    ordered = sorted((n for n in names if n.strip()), key=len, reverse=True)
    either = "|".join(map(_pattern, ordered)) or r"(?!)"
    pattern = rf"(?<!\w)(?<!\w')(?<!\d\.)({either})(?!\w|\.\d)"
    if short and (last := shorts(names)):
        meaning = {plain(word): name for word, name in last.items()} | meaning
        alone = "|".join(map(_pattern, sorted(last, key=len, reverse=True)))
        pattern += (
            rf"|(?:^|(?<=[\n:=>|,;(\"'\[{{])|(?<=[:=>|,;(] )|(?<=\bin )|(?<=\band )|(?<=#)|(?<=\bhouse )"
            rf"|(?<=\bposition )|(?<=\bseat )|(?<=\brow )|(?<=\bplace ))({alone})(?!\w|\.\d)"
        )
    return re.compile(pattern, re.I), meaning


def mentions(names: Sequence[str], text: str, short: bool = False) -> list[Mention]:
    """Where `names` stand in `text`, in whatever case; those of one letter in their own. `short`: also by their last
    words, where these stand alone."""
    pattern, meaning = _finder(tuple(names), short)
    found: list[Mention] = []
    for match in pattern.finditer(text):
        if len(found) == MOST:
            break
        name = meaning.get(plain(match[0]))
        if name is not None:
            found.append(Mention(name, match.start(), match.end()))
    return found


MARK = re.compile(r"^([ \t]*(?:[-*+][ \t]+)?)(\(?\d{1,4}[.)])(?=[ \t]+\S)", re.M)
RANKED = re.compile(r"\b(?:position|place|seat|rank|step|spot)s?[ _#]{0,2}\d{1,4}\b", re.I)


def unnumbered(text: str) -> str:
    """`text` with the numbers of list items blanked, so that no name made of digits is found there."""
    if not any(map(str.isdigit, text)):
        return text
    text = MARK.sub(lambda m: m[1] + " " * len(m[2]), text)
    return RANKED.sub(lambda m: " " * len(m[0]), text)


@dataclass
class Chain:
    """Names that follow each other in the text; `gaps` stand between them, `lead` before."""

    items: list[Mention]
    lead: str
    listed: bool  # its line begins with it, so the next line may go on
    gaps: list[str] = field(default_factory=list)

    @property
    def names(self) -> list[str]:
        return [item.name for item in self.items]

    @property
    def start(self) -> int:
        return self.items[0].start

    @property
    def end(self) -> int:
        return self.items[-1].end

    @property
    def elided(self) -> bool:
        return any("..." in gap for gap in self.gaps)

    @property
    def corrects(self) -> bool:
        return bool(CORRECTION.search(self.lead))


UNKNOWN = re.compile(
    r"[\s\"']{0,3}(,|;|->|>)[\s\"']{0,3}(?:[^\s,;>-]{1,40}(?: [^\s,;>-]{1,40})?[\s\"']{0,3}\1[\s\"']{0,3}){1,3}"
)  # in a list


def chains(text: str, found: Sequence[Mention], joint: re.Pattern[str] = JOINT) -> list[Chain]:
    """The chains that mentions form in `text`, in its order. What is negated is left out, and so are remarks."""
    made: list[Chain] = []
    end = 0
    aside = False  # a remark has begun on the line of a listed name
    for mention in found:
        gap = text[end : mention.start] if mention.start - end <= FAR else "\x00\n"
        before = text[max(end, mention.start - 60) : mention.start]
        end = mention.end
        aside = aside and "\n" not in gap
        corrects = bool(CORRECTION.search(before))
        if NEGATED.search(before) or (aside and not corrects):
            continue
        line = text[max(0, mention.start - 60) : mention.start].rpartition("\n")[2]
        leads = len(line) < 60 and bool(joint.fullmatch(line))
        chain = made[-1] if made and not corrects else None
        lists = chain and chain.listed and "\n" in gap and "\n\n" not in gap and leads
        if chain and ((joint.fullmatch(gap) and gap.count("\n") <= 2) or lists or UNKNOWN.fullmatch(gap)):
            chain.items.append(mention)
            chain.gaps.append("\n" if lists else gap)
        elif chain and chain.listed and "\n" not in gap and text[chain.end : chain.end + 1] not in (".", "!", "?"):
            aside = True
        else:
            made.append(Chain([mention], before, leads))
    return made


def kind_of(gap: str) -> str:
    """What tells one gap from another: brackets, new lines, signs and words, not blanks, quotes or numbers."""
    gap = re.sub(r"\([^()\n]*\)", "", gap)
    kind = re.sub(r"[\s\d\"']+", lambda m: "\n" if "\n" in m[0] else "", gap.lower())
    return kind.strip("\n") if kind.strip("\n.)") else kind


def tuples(chain: Chain, size: int) -> list[list[str]] | None:
    """A chain as groups of `size` names, if what stands within groups differs from what stands between them."""
    names = chain.names
    if len(names) < size:
        return None
    kinds = [kind_of(gap) for gap in chain.gaps]
    places = [set(kinds[place::size]) for place in range(size)]
    if any(len(inner) > 1 or inner & places[-1] for inner in places[:-1]) or (size == 2 and len(names) == 3):
        return None
    return [names[n : n + size] for n in range(0, len(names) - size + 1, size)]


def outside(found: list[Mention], text: str) -> list[Mention]:
    """The mentions that do not stand in brackets behind another one."""
    ends = {m.end for m in found}
    asides = [m.span() for m in ASIDE.finditer(text)] if "(" in text else []
    spans = [(a, b) for a, b in asides if a in ends or (a - 1 in ends and text[a - 1] in "\"'")]
    kept: list[Mention] = []
    place = 0
    for mention in found:
        while place < len(spans) and spans[place][1] <= mention.start:
            place += 1
        if place == len(spans) or mention.end <= spans[place][0]:
            kept.append(mention)
    return kept
