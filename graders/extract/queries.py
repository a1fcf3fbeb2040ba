"""The reader of relational queries: triples, sentences, or the relation alone, turned to the direction of the query."""

from __future__ import annotations

import re
from functools import lru_cache
from itertools import pairwise
from typing import Any

from graders.extract.reading import Reading, any_of, plain
from tasks.answers import QueryForm

MOST = 500  # query names and relation words of a text that are looked at, counted from its end
NO_NAME = (
    r"(?!(?:The|Is|So|And|An?|Yes|No|Not|Answer|Query|Question|Relation|Subject|Object|Therefore|Thus|Because"
    r"|Wait|Actually|Sorry)\b)"
)
DEFINES = re.compile(r"[\"')\]]{0,2}[ \t]*(?:\([^()\n]{0,60}\)[ \t]*)?[\"']?[ \t]*(?::|=|->|-|\||\.|\)|\bis\b)", re.I)
OPENS = re.compile(
    r"(?:^|[\n,;{|\[])[ \t]*(?:[-*+][ \t]+|\d{1,3}[.)][ \t]+)?"
    r"(?:[\"']?(?:query|question|id|name)[\"']?[ \t]*:[ \t]*)?[\"'(]{0,2}$",
    re.I,
)
CONCLUDES = re.compile(r"\b(?:so|therefore|thus|hence|which means|actually|wait|sorry)\b|\bno,|=>", re.I)
NEGATES = re.compile(r"\b(?:not|never|neither|nor)\b|n't\b", re.I)
CLAUSE = re.compile(r"[.;!?\n](?=\s|$)|\b(?:who|since|because|and then)\b|, (?:and )?the\b", re.I)
ATTACHED = re.compile(r"[\s\"',|:)_(]{0,12}(?:->)?[\s\"',|:]{0,12}(?:\b(of|to|for)\b|object[\"']?:)?[\s\"']{0,8}", re.I)

PAIRED = re.compile(r"[\s\"']{0,3}(?:,|->|of|to)[\s\"']{0,3}")
EITHER = re.compile(r"s?[\s\"']{0,3}(?:\bor\b|/)[\s\"']{0,3}(?:(?:an?|the) )?", re.I)
LISTED = re.compile(r"(?:[\s,;|\[\]()\"'{}.:-]|->|\d|\band\b){0,12}")


@lru_cache(maxsize=256)
def _query_tools(
    queries: tuple[tuple[str, tuple[str, str]], ...], words: tuple[tuple[str, str], ...]
) -> tuple[re.Pattern[str], re.Pattern[str], re.Pattern[str], dict[str, str], dict[str, str]]:
    """Patterns for query names, relation words and people; what a query name and a relation word stand for."""
    names = {plain(name): name for name, _ in queries}
    names |= {digits[0]: name for name, _ in queries if (digits := re.search(r"\d+$", name))}
    meaning = {plain(word): relation for word, relation in words}
    people = {p: None for _, pair in queries for p in pair if p}
    label = re.compile(
        rf"(?<![\w'-])(?:({any_of(dict(queries))})|(?:query|question)[ _]?#?(\d{{1,4}}))(?![\w'])"
        r"|^[ \t]*(?:[-*][ \t]+)?\(?(\d{1,4})(?=[.):][ \t])",
        re.I | re.M,
    )
    # A word that the table lacks must not be read as the one inside it: great-grandparent, stepmother, mother-in-law.
    relation = re.compile(
        rf"(?<![^\W_])(?<![^\W_]-)(?<!\bgreat[ _])(?<!\bgrand[ _])(?<!\bstep[ _])(?<!\bhalf[ _])"
        rf"(?<!\bfoster[ _])(?<!\badoptive[ _])(?<!\bsecond[ _])(?<!\bthird[ _])({any_of(meaning)})"
        r"s?(?![^\W_])(?!-[A-Za-z]|'s\b)(?![ _]in[ _-]law|[ _,]{1,2}(?:once|twice)[ _]removed)",
        re.I,
    )
    known = rf"(?<!\w)(?i:{any_of(people)})(?!\w)|" if people else ""
    person = re.compile(rf"({known}\b{NO_NAME}[A-Z][\w-]{{0,40}}\b)('s\b|(?<=s)'(?=\s))?")
    return label, relation, person, names, meaning


def _statement(
    form: QueryForm, name: str | None, text: str, tools: Any, least: int = 0
) -> tuple[list[str], int] | None:
    """The triple that `text` states with a relation word from `least` on, turned to the direction of the query, and
    where it ends: the first one about the query's own people, else the first. Subject and object that go unsaid are the
    query's; without a query both have to be said."""
    relation, meaning = tools[1], tools[4]
    words = list(relation.finditer(text))
    torn = {  # between two relations: neither is stated
        m
        for pair in pairwise(words)
        if EITHER.fullmatch(text, pair[0].end(), pair[1].start()) and len({meaning[plain(m[1])] for m in pair}) == 2
        for m in pair
    }
    leads = ((m, re.split(r",|\bbut\b", text[max(0, m.start() - 18) : m.start()])[-1]) for m in words)
    found = [m for m, lead in leads if m not in torn and not NEGATES.search(lead)]
    if not found:
        return None
    last = least or max((m.end() for m in CONCLUDES.finditer(text)), default=0)
    words = [m for m in found if m.start() >= last] or found
    told = [t for t in (_around(form, name, text, word, tools) for word in words[:9]) if t]
    return next((t for t in told if name and (t[0][0], t[0][2]) == form.queries[name]), told[0] if told else None)


def _around(
    form: QueryForm, name: str | None, text: str, word: re.Match[str], tools: Any
) -> tuple[list[str], int] | None:
    """The triple told around one relation word."""
    _, relation, person, _, meaning = tools
    previous = max((m.end() for m in relation.finditer(text, 0, word.start())), default=0)
    said = text[max(previous, word.start() - 80) : word.start()]
    said = CLAUSE.split(said)[-1]
    rest = CLAUSE.split(text[word.end() : word.end() + 100])[0]
    before = [(m[1], bool(m[2])) for m in person.finditer(said) if not relation.fullmatch(m[1])]
    tie = ATTACHED.match(rest)
    follower = person.match(rest, tie.end()) if tie else None
    if follower and follower[2]:  # the parent of Bob's ...
        return None
    after = [follower[1]] if follower else []
    subject: str | None = None
    object_: str | None = None
    if before and before[-1][1]:  # Bob's grandmother (is Ann)
        object_ = before[-1][0]
        subject = (
            before[-2][0]
            if len(before) > 1 and not before[-2][1]
            else next((m[1] for m in person.finditer(rest) if " is " in rest), None)
        )
    elif before and after:
        subject, object_ = before[-1][0], after[0]
    elif len(before) > 1:
        subject, object_ = before[-2][0], before[-1][0]
    elif after:
        second = person.search(rest, follower.end()) if follower else None
        if tie and tie[1]:  # (the) grandmother of Bob (is Ann)
            subject, object_ = second[1] if second and "is" in rest else None, after[0]
        elif follower and second and PAIRED.fullmatch(rest, follower.end(), second.start()):  # grandmother(Ann, Bob)
            subject, object_ = after[0], second[1]
    elif before:
        subject = before[0][0]
    end = word.end() + (follower.end() if follower else 0)
    return _directed(form, name, subject, meaning[plain(word[1])], object_, end)


def _directed(
    form: QueryForm, name: str | None, subject: str | None, relation: str, object_: str | None, end: int
) -> tuple[list[str], int] | None:
    proper = {p.lower(): p for pair in form.queries.values() for p in pair}
    subject, object_ = (p and proper.get(p.lower(), p) for p in (subject, object_))
    if name is None:
        return ([subject, relation, object_], end) if subject and object_ else None
    first, second = form.queries[name]
    if subject in (None, second) and object_ in (None, first) and (subject or object_) and relation in form.inverse:
        return [first, form.inverse[relation], second], end
    return [subject or first, relation, object_ or second], end


def queries(form: QueryForm, text: str, labelled: bool) -> Reading:
    """A mapping from query name to `[subject, relation, object]`; the last definition of a query counts."""
    tools = _query_tools(tuple(form.queries.items()), tuple(form.words.items()))
    label, relation, _, names, _ = tools
    found = list(label.finditer(text))[-MOST:]
    marks = [m for m in found if not m[3] and plain(m[1] or m[2]) in names]
    if not marks and len(found) == len(
        names.keys() & {m[3] for m in found}
    ):  # one numbered line for each query at most
        marks = found
    answer: dict[str, Any] = {}
    start, end = len(text), 0
    for mark, stop in zip(marks, [*(m.start() for m in marks[1:]), len(text)], strict=False):
        name = names[plain(mark[1] or mark[2] or mark[3])]
        if not (DEFINES.match(text, mark.end()) or OPENS.search(text[max(0, mark.start() - 40) : mark.start()])):
            continue
        body = text[mark.end() : min(stop, mark.end() + 500)]
        body = next((p for p in body.split("\n\n") if p.strip(" \t\n:")), "")
        stated = _statement(form, name, body, tools)
        if stated and (not mark[3] or (stated[0][0], stated[0][2]) == form.queries[name]):
            answer[name] = stated[0]
            start, end = min(start, mark.start()), mark.end() + stated[1]
    if not answer:
        answer, start, end = _unnamed(form, text, labelled, tools)
    part = len(answer) < len(form.queries)
    return Reading(answer or None, part, not part, bool(answer or relation.search(text)), text[start:end])


def _unnamed(form: QueryForm, text: str, labelled: bool, tools: Any) -> tuple[dict[str, Any], int, int]:
    """Answers without names of queries: by the two people of each statement, else in the order of the queries."""
    relation = tools[1]
    answer: dict[str, Any] = {}
    spans = [(m.start(), m.end()) for m in relation.finditer(text)][-MOST:]
    pairs = {frozenset(pair): name for name, pair in form.queries.items()}
    used: list[tuple[int, int]] = []
    for start, end in spans:
        head = re.split(r"[.;!?\n]", text[max(0, start - 80) : start])[-1]
        tail = re.split(r"[.;!?\n]", text[start : end + 60])[0]
        stated = _statement(form, None, head + tail, tools, len(head))
        if stated and (name := pairs.get(frozenset((stated[0][0], stated[0][2])))):
            said = stated[0]
            answer[name] = (_directed(form, name, said[0], said[1], said[2], 0) or (said, 0))[0]
            used.append((start - len(head), start + len(tail)))
    if not answer and len(spans) == len(form.queries):
        # Only a list of words; words of another kind may stand around it where it is labelled.
        edges = spans if labelled else [(0, 0), *spans, (len(text), len(text))]
        if not all(LISTED.fullmatch(text, a[1], b[0]) for a, b in pairwise(edges)):
            return {}, 0, 0
        used = spans
        for name, (start, end) in zip(form.queries, spans, strict=True):
            if stated := _statement(form, name, text[start:end], tools):
                answer[name] = stated[0]
    return answer, used[0][0] if used else 0, used[-1][1] if used else 0
