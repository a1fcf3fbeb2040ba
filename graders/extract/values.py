"""Readers of single values: a whole number, a text in capitals."""

from __future__ import annotations

import re

from graders.extract.names import CORRECTION
from graders.extract.reading import Reading
from tasks.answers import NumberForm, TextForm

MOST = 200  # numbers of a line, lines of a text that are looked at
UNITS = (
    "zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve",
    "thirteen", "fourteen", "fifteen", "sixteen", "seventeen", "eighteen", "nineteen",
)  # fmt: skip
TENS = ("twenty", "thirty", "forty", "fifty", "sixty", "seventy", "eighty", "ninety")
DIGITS = r"(?<![\w.])(?<!\d,)[-+]?(?:\d{1,3}(?:,\d{3}){1,4}|\d{1,15})(?:\.0{1,4})?(?![\w%]|\.\d|,\d{3}|:\d)"
NUMBER = re.compile(
    rf"({DIGITS})|\b(?:({'|'.join(TENS)})(?:[ -]({'|'.join(UNITS[1:10])}))?|({'|'.join(UNITS)}))\b"
    r"(?![ -](?:hundred|thousand))",
    re.I,
)
EQUALS = re.compile(
    r"(?:=|->|:|\b(?:is|are|was|equals?|totals?|makes|gives|comes? to|sums? to|adds? up to|answer|final|get"
    r"|have|found|count))\s{0,3}"
    r"(?:(?:now|then|thus|therefore|indeed|exactly|a total of|the|number|total|sum|be|of) ?){0,3}[\s:=\"']{0,5}$",
    re.I,
)
COUNTS = re.compile(r"\b(?:message|turn|round) ?#?$", re.I)  # its number is not the answer
TOTAL = re.compile(
    r"\W{0,5}(?:so|therefore|thus|hence|together|in total|(?:the )?(?:grand |final )?(?:total|sum|answer|result))\b",
    re.I,
)
WORD = re.compile(r"\w")
BARE = 24  # characters around a number that says all by itself
ADDS = re.compile(r"\s{0,3}(?:[+*/×=:]|->|-\s?\d|(?:plus|minus|times|and|is|are)\b)")


def _value(found: re.Match[str]) -> int:
    if found[2]:
        return 10 * TENS.index(found[2].lower()) + 20 + (UNITS.index(found[3].lower()) if found[3] else 0)
    if found[4]:
        return UNITS.index(found[4].lower())
    return int(found[1].replace(",", "").partition(".")[0])


def number_in(text: str) -> tuple[int, int, int] | None:
    """The number that a line gives and where it stands: at its head, or behind "is" or "=", the last such one; else
    its last one. What a correction replaces does not count."""
    found_all = [m for m in NUMBER.finditer(text) if not COUNTS.search(text[max(0, m.start() - 12) : m.start()])]
    if not found_all:
        return None
    if corrected := [m.end() for m in CORRECTION.finditer(text) if m.end() <= found_all[-1].start()]:
        found_all = [m for m in found_all if m.start() >= corrected[-1]]
        text = " " * corrected[-1] + text[corrected[-1] :]
    first = found_all[0]
    if not re.search(r"\w", text[: first.start()]) and not ADDS.match(text, first.end()):
        return _value(first), first.start(), first.end()
    chosen = found_all[-1] if re.search(r"\w", text[: first.start()]) else first
    for one in reversed(found_all[-MOST:]):
        if EQUALS.search(text[max(0, one.start() - 60) : one.start()]) and not ADDS.match(text, one.end()):
            chosen = one
            break
    return _value(chosen), chosen.start(), chosen.end()


def number(form: NumberForm, text: str, labelled: bool) -> Reading:
    """A whole number: of the first line with one where it is labelled, unless corrected, else of the last one."""
    at = 0
    chosen: tuple[int, str] | None = None
    for line in text.split("\n"):
        if NUMBER.search(line) and (
            chosen is None
            or not labelled
            or CORRECTION.search(line)
            or (TOTAL.match(line) and WORD.search(NUMBER.split(chosen[1], maxsplit=1)[0]))
        ):
            chosen = at, line
        at += len(line) + 1
    found = number_in(chosen[1]) if chosen else None
    if not chosen or not found:
        return Reading()
    number_, start, end = found[0], chosen[0] + found[1], chosen[0] + found[2]
    part = not labelled and len(text) - (end - start) > BARE
    return Reading(number_, part, False, True, text[start:end])


QUOTED = re.compile(r"\"([^\"\n]{1,400})\"|(?<!\w)'([^'\n]{1,400})'(?!\w)")
CAPITALS = re.compile(r"(?<![A-Za-z'])[A-Z](?:[A-Z\d \t/|,.!?'_-]{0,400}[A-Z])?(?![A-Za-z'])")
LINE = re.compile(r"[^\n]+")
LETTER = re.compile(r"[^\W\d_]")
SCANNED = 20_000  # characters that are looked at
CODED = re.compile(r"\b(?:cipher ?text|ciphers?|coded|encrypted|encoded|key|alphabet|letters?)\b[^\n.]{0,30}$", re.I)
DECODED = re.compile(
    r"\b(?:decod|decrypt|decipher|translat|read|say|plain ?text)(?:s|es|ed|ing)?(?: (?:to|as|into|it|is"
    r"|the|text|message)){0,3}\W{0,4}$",
    re.I,
)
SPELLED = re.compile(r"(?:[A-Z][ \t/|-]{1,4}){3,400}[A-Z]?")


def spelled(text: str) -> str:
    """A text in capitals with single blanks between its words; letters that stand apart from each other are joined."""
    text = text.upper().strip()
    if SPELLED.fullmatch(text.strip(" \t.,!?")):
        parts = re.split(r"[ \t]{2,}|[ \t]*[/|][ \t]*|[ \t]+-[ \t]+", text)
        text = " ".join(re.sub(r"[\s-]", "", part) for part in parts)
    return " ".join(re.sub(r"[^\w]|_", " ", text.replace("'", "")).split())


def text(form: TextForm, text: str, labelled: bool) -> Reading:
    """A text in capitals: what is quoted or stands in capitals and has about the right length; the first one where it
    is labelled, unless corrected, else the last one. Where it is labelled and has none, its first line counts."""
    chosen: tuple[str, int, int] | None = None
    first: tuple[str, int, int] | None = None
    offset = 0 if labelled else max(0, len(text) - SCANNED)
    stacked: list[tuple[str, int, int]] = []  # lines in capitals, one below the other
    lines = 0
    shown = list(LINE.finditer(text[offset : offset + SCANNED]))
    for found in shown[:MOST] if labelled else shown[-MOST:]:
        line, at = found[0], offset + found.start()
        lines += bool(line.strip())
        spans = [(m[1] or m[2], m.start(), m.end()) for m in QUOTED.finditer(line)]
        spans = spans or [(m[0], m.start(), m.end()) for m in CAPITALS.finditer(line)]
        for said, start, end in spans:
            lead = line[max(0, start - 60) : start]
            if not _near(form, said) or CODED.search(lead):
                continue
            turns = DECODED.search(lead) or lead.rstrip().endswith(("->", "="))
            if (
                chosen is None
                or not labelled
                or CORRECTION.search(lead)
                or (turns and "\n" not in text[chosen[2] : at + start])
            ):
                chosen = said, at + start, at + end
        if CAPITALS.fullmatch(line.strip()):
            stacked.append((line, at, at + len(line)))
        if first is None and LETTER.search(line):
            first = re.split(r" \(|\. |[;!]", line.strip(" \t*-:\"'"))[0], at, at + len(line)
    whole = len(stacked) > 1 and (
        len(stacked) == lines or (labelled and first is not None and stacked[0][1] == first[1])
    )
    if chosen is None and whole:
        said = "  ".join(line for line, _, _ in stacked)
        chosen = (said, stacked[0][1], stacked[-1][2]) if _near(form, said) else None
    if chosen is None and (labelled or len(stacked) == lines == 1):
        chosen = first
    if chosen is None or not (answer := spelled(chosen[0])):
        return Reading()
    solid = bool(DECODED.search(text[max(0, chosen[1] - 60) : chosen[1]]))
    part = not (labelled or solid or len(stacked) == lines)
    return Reading(answer, part, solid, True, text[chosen[1] : chosen[2]])


def _near(form: TextForm, one: str) -> bool:
    """Whether a text is about as long as the answer."""
    length = len(spelled(one))
    return 0.6 * form.length - 2 <= length <= 1.5 * form.length + 4
