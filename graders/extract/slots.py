"""The reader of schedules: events and the times they are placed at, in UTC."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import lru_cache
from typing import Any

from graders.extract.reading import Reading, any_of, plain
from tasks.answers import SlotForm

CLOCK = (
    r"(?<![\d:.,/+-])(?P<h>[01]?\d|2[0-4])(?:[:.h](?P<m>[0-5]\d)(?P<s>:[0-5]\d(?:\.\d{1,6})?)?(?![\d:]|\.\d)"
    r"|(?=\s?(?:(?:-|to)\s?\d{1,2}(?::\d\d)?\s?)?[ap]\.?m\b)|h(?!\w))"
    r"(?:\s?(?P<half>[ap])\.?m\b\.?)?"
    r"(?(s)|(?:\s{0,2}(?:-|to|until|till)\s{0,2}\d{1,2}(?:[:.h]\d\d)?(?:\s?(?P<half2>[ap])\.?m\b)?)?)"
    r"|(?<![\d:.,/+-])(?P<h4>[01]\d|2[0-3])(?P<m4>[0-5]\d)(?![\d:/-])(?:\s?h(?:rs|ours)?\b)?"
    r"|\b(?P<word>noon|midnight)\b"
)
ZONE = re.compile(
    r"\s{0,2}\(?(?:(?:UTC|GMT)\s?(?P<sign>[+-])\s?(?P<zh>1[0-4]|0?\d)(?::?(?P<zm>[0-5]\d))?(?!\d)|(?P<utc>UTC|GMT|Z)\b"
    r"|(?P<sign2>[+-])(?P<zh2>1[0-4]|0\d):?(?P<zm2>[0-5]\d)(?!\d)|(?P<other>(?-i:[CEMPW]E?[SD]?T|[BIJ]ST"
    r"|A[EW][SD]T|NZ[SD]T)\b))",
    re.I,
)
NO_TIME = (
    r"\b(?:none|null|n/a|impossible|unplaced|unschedulable|not (?:possible|placed|scheduled|feasible)"
    r"|no (?:common |feasible )?(?:slot|time)|cannot be (?:placed|scheduled|held))\b"
)
# Words that may stand between an event and its time. Atomic: an item that could be read in two ways is not tried again.
PLACES = re.compile(
    r"(?>\([^()\n]{0,40}\)|[\s\"':=|>@,()\[\]{}-]|\b(?:at|is|are|starts?|on|to|will|be|set|for"
    r"|scheduled|placed|held|begins?"
    r"|from|between|the|use|takes? place|meeting|time|slot|start|event|utc|but"
    r"|can|should|we|have|goes|fits|works|today|day|mon(?:day)?"
    r"|tue(?:s(?:day)?)?|wed(?:nesday)?|thu(?:rs(?:day)?)?|fri(?:day)?|T)\b|\d{4}-\d\d-\d\dT?){0,60}+",
    re.I,
)


@lru_cache(maxsize=256)
def _slot_tools(events: tuple[str, ...]) -> tuple[re.Pattern[str], dict[str, str]]:
    names = {plain(e): e for e in events}
    event = rf"(?<![\w-])(?P<event>{any_of(names)})(?![\w-])"
    no = r"\b(?P<no>no,|wait\b|oops|i meant?\b|actually|sorry|correction|instead|scratch)"
    return re.compile(
        rf"{event}|(?P<none>{NO_TIME})|{no}|\b(?P<not>not )?(?:(?:\d{{4}}-\d\d-\d\d)?T)?(?:{CLOCK})", re.I
    ), names


def _time(found: re.Match[str], text: str) -> tuple[str, int, int] | None:
    """Time `HH:MM` in UTC, how sure that is (2 said so, 1 converted, 0 unsaid), and where it ends; None if unknown."""
    if found["word"]:
        minutes = 720 if found["word"].lower() == "noon" else 0
    else:
        minutes = int(found["h"] or found["h4"]) * 60 + int(found["m"] or found["m4"] or 0)
        half = (found["half"] or found["half2"] or "").lower()
        if half and minutes < 13 * 60:
            minutes = minutes % 720 + (720 if half == "p" else 0)
    zone, end, sure = ZONE.match(text, found.end()), found.end(), 0
    # "-15:00" straight after a time is the end of a span; only after seconds is it surely an offset.
    if zone and (not zone["sign2"] or zone["sign2"] == "+" or found["s"]):
        if zone["other"]:
            return None
        sure, end = (2 if zone["utc"] else 1), zone.end()
        shift = int(zone["zh"] or zone["zh2"] or 0) * 60 + int(zone["zm"] or zone["zm2"] or 0)
        minutes -= -shift if "-" in (zone["sign"], zone["sign2"]) else shift
    return f"{minutes // 60 % 24:02d}:{minutes % 60:02d}", sure, end


Token = tuple[str, Any, int, int]  # event, time, none or no (a correction); value; start; end


def _pairs(tokens: list[Token], text: str) -> Iterator[tuple[str, str | None, bool, int]]:
    """Events with their times (None: expressly without), whether the words between them tie them, and where it ends.

    An event takes the times that follow it, or the one before it where a line, or the whole of a list whose lines hold
    one or the other, goes from time to event.
    """
    lines: list[list[Token]] = []
    end = -1
    for token in tokens:
        if end < 0 or "\n" in text[end : token[2]]:
            lines.append([])
        lines[-1].append(token)
        end = token[3]
    turned = bool(tokens) and tokens[0][0] == "time" and tokens[-1][0] == "event"
    event, event_end, best, tied = "", 0, -1, False
    held: Token | None = None
    for line in lines:
        mixed = len({t[0] for t in line} & {"event", "time"}) == 2
        early = line[0][0] == "time" and line[-1][0] == "event" if mixed else turned
        for token in line:
            kind, value, start, end = token
            if kind == "event":
                if held and early:
                    yield value, held[1][0], bool(PLACES.fullmatch(text, held[3], start)), end
                event, event_end, best, tied, held = value, end, -1, False, None
            elif kind == "no":
                best = -1
            elif early:
                held = token if kind == "time" else None
            elif event and kind == "none" and best < 0:
                best = 3
                yield event, None, start - event_end <= 40, end
            elif event and kind == "time" and value[1] > best:
                tied = tied or bool(PLACES.fullmatch(text, event_end, start))
                best = value[1]
                yield event, value[0], tied, end


def slots(form: SlotForm, text: str, labelled: bool) -> Reading:
    """A mapping from event to `HH:MM` in UTC, None where the text expressly leaves the event out."""
    pattern, names = _slot_tools(form.events)
    tokens: list[Token] = []
    for found in pattern.finditer(text):
        if found["event"]:
            tokens.append(("event", names[plain(found["event"])], found.start(), found.end()))
        elif found["none"] or found["no"]:
            tokens.append(("none" if found["none"] else "no", None, found.start(), found.end()))
        elif not found["not"] and (time := _time(found, text)):
            tokens.append(("time", time, found.start(), time[2]))
    answer: dict[str, str | None] = {}
    loose: dict[str, str | None] = {}
    start = next((t[2] for t in tokens), 0)
    end = start
    for event, value, tied, stop in _pairs(tokens, text):
        (answer if tied else loose)[event] = value
        end = stop
    if labelled:
        answer = loose | answer
    part = len(answer) < len(form.events)
    return Reading(answer or None, part, not part, bool(answer or loose), text[start:end])
