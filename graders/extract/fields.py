"""The reader of values for items: each a name, a set or an order of names, or a number, as its field says."""

from __future__ import annotations

import re
from functools import lru_cache
from itertools import pairwise
from typing import Any

from graders.extract.names import CORRECTION, chains, mentions, outside, unnumbered
from graders.extract.reading import Reading, any_of, plain
from graders.extract.values import number_in
from tasks.answers import Field, FieldsForm

MOST = 500  # item names of a text that are looked at, counted from its end
DEFINES = re.compile(
    r"[\"')\]]{0,2}[ \t]*(?:\([^()\n]{0,200}\)|\[[^\[\]\n]{0,60}\](?=:))?[\"']?[ \t]*(?:'s )?(?:(?:the "
    r")?(?:answer|value|result) ?)?(?:[\"']?:|=|->|-|\||\.|\)|(?<=\"),|\bis\b|\bare\b|\n)[ \t:=>\"'|]*",
    re.I,
)
KEY = re.compile(r"^\W{0,9}(?:answer|value|result)[\"']?[ \t]*[:=][ \t]*", re.I)
ALONE = re.compile(r"^[\"')\]]{0,2}[ \t]*\n")  # it stands at the end of a line, so it is a heading or no definition
OPENS = re.compile(r"[\s*#>\"'(\[{-]*")
SAYS = re.compile(r"[ \t]+(?=[A-Za-z(])[^\n.;:|]{0,60}?(?:\bis\b|\bare\b|:|=|->)", re.I)
EMPTY = re.compile(
    r"[\W_]*(?:(?:there (?:is|are) )?none|nobody|no one|no-one|nothing|empty(?: (?:set|list))?"
    r"|(?:there (?:is|are) )?no(?:ne)? "
    r"(?!of)\w+s\b|null|n/a|∅|\[\s*\]|\{\s*\}|set\(\))(?:\W|$)|\W*(?:\[\s*\]|\{\s*\}|∅)|\s*-\s*$",
    re.I,
)
OPEN = re.compile(
    r"[\W_]*(?:null|unknown|undetermined|n/a|none|cannot be (?:determined|known)|not (?:known|determined|possible))\b",
    re.I,
)
CONCLUDES = re.compile(
    r"\b(?:so|therefore|thus|hence|which means|answer(?: is)?|actually|wait|sorry)\b:?|=>|->|\?", re.I
)


@lru_cache(maxsize=256)
def _labels(items: tuple[str, ...]) -> tuple[re.Pattern[str], dict[str, str]]:
    """A pattern for the names of items, also for "query 1" and for numbered lines where the names end in numbers."""
    items = tuple(name for name in items if name.strip())
    names = {plain(name): name for name in items}
    digits = {d[0]: name for name in items if (d := re.search(r"\d+$", name))}
    if len(digits) != len(items):
        digits = {}
    return re.compile(
        rf"(?<![\w-])(?:({any_of(dict.fromkeys(items))})|(?:query|question|answer|item)[ _]?#?(\d{{1,4}}))(?![\w'])"
        r"|^[ \t]*(?:[-*][ \t]+)?\(?(\d{1,4})(?=[.):][ \t])",
        re.I | re.M,
    ), digits | names


def value(field: Field, text: str) -> Any:
    """What a text says for a field, None if nothing."""
    text = next((p for p in text.split("\n\n") if p.strip(" \t\n:")), "")
    if field.kind == "number":
        line = next((one for one in text.split("\n") if number_in(one)), "")
        found = number_in(line)
        if found is None and re.match(r"\W*(?:none|no|nobody|nothing)\b", text, re.I):
            return 0
        return None if found is None else found[0]
    if field.kind == "names" and EMPTY.match(text):
        return []
    text = unnumbered(text)
    found_names = mentions(field.options, text, short=True)
    if field.kind == "name":
        found_names = [
            m for m in found_names if not re.search(r"\bnot (?:\w+ )?$", text[max(0, m.start - 15) : m.start])
        ]
        return _one(text, [(m.name, m.start, m.end) for m in found_names])
    made = chains(text, outside(found_names, text))
    if not made:
        return [] if field.kind == "names" and EMPTY.match(text) else None
    chosen = made[0]
    for chain in made[1:]:
        if chain.corrects or CONCLUDES.search(chain.lead):
            chosen = chain
    if field.kind == "names":
        return list(dict.fromkeys(chosen.names))
    return [a for a, b in pairwise([*chosen.names, ""]) if a != b]


def _one(text: str, found: list[tuple[str, int, int]]) -> str | None:
    """The name that a text settles on: one at its head, unless corrected; else the first one after what concludes."""
    if not found:
        return None
    line_end = text.find("\n", found[0][2])
    line = text if line_end < 0 else text[:line_end]
    found = [one for one in found if one[2] <= len(line)]
    for one in reversed(found):
        previous = max((f[2] for f in found if f[2] <= one[1]), default=0)
        if previous and CORRECTION.search(line[previous : one[1]]):
            return one[0]
    if not re.search(r"\w", line[: found[0][1]]):
        return found[0][0]
    last = max((m.end() for m in CONCLUDES.finditer(line)), default=0)
    return next((name for name, start, _ in found if start >= last), found[0][0])


def fields(form: FieldsForm, text: str, labelled: bool) -> Reading:
    """A mapping from item to its value, None where the text expressly leaves it open; the last definition counts."""
    label, names = _labels(tuple(form.items))
    found = list(label.finditer(text))[-MOST:]
    marks = [m for m in found if not m[3] and plain(m[1] or m[2]) in names]
    if not marks and {m[3] for m in found} & names.keys() and len(found) == len({m[3] for m in found}):
        marks = [m for m in found if m[3] in names]
    answer: dict[str, Any] = {}
    start, end = len(text), 0
    held: list[tuple[str, int, str]] = []
    defined = [(mark, begin) for mark in marks if (begin := _begin(mark, text))]
    for (mark, begin), stop in zip(defined, [*(m.start() for m, _ in defined[1:]), len(text)], strict=False):
        held.append((names[plain(mark[1] or mark[2] or mark[3])], mark.start(), text[begin : min(stop, begin + 1000)]))
    if not held and labelled and len(form.items) == 1:
        held = [(next(iter(form.items)), 0, text[:1000])]
    elif not held:
        lines = [line for line in text.strip().split("\n\n")[0].split("\n") if line.strip()]
        given = zip(form.items.values(), lines, strict=False)
        if len(lines) == len(form.items) and all(len(one) < 60 and _given(f, one) is not None for f, one in given):
            held = [(name, text.find(line), line) for name, line in zip(form.items, lines, strict=True)]
    for name, at, body in held:
        given = _given(form.items[name], body)
        if given is None and not OPEN.match(body):
            continue
        if given is not None or name not in answer:
            answer[name] = given
        start, end = min(start, at), max(end, at + len(name) + len(body.split("\n\n")[0]))
    part = sum(v is not None for v in answer.values()) < len(form.items)
    return Reading(
        answer or None, len(answer) < len(form.items), not part, bool(answer or held), text[start:end].strip()
    )


def _begin(mark: re.Match[str], text: str) -> int:
    """Where the value of an item begins whose name stands at `mark`; 0 if that is no definition."""
    defines = DEFINES.match(text, mark.end())
    if (
        defines
        and ALONE.search(defines[0])
        and not OPENS.fullmatch(text[max(0, mark.start() - 40) : mark.start()].rpartition("\n")[2])
    ):
        defines = None
    defines = defines or SAYS.match(text, mark.end())
    return defines.end() if defines else 0


def _given(field: Field, body: str) -> Any:
    """The value in a body; of a table row, in its last cell."""
    body = KEY.sub("", body, count=1)
    cells = body.split("\n")[0].split("|") if "|" in body.split("\n")[0] else []
    for cell in reversed(cells):
        if cell.strip() and (found := value(field, cell)) is not None:
            return found
    return value(field, body)
