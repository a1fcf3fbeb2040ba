"""Where in a transcript the final answer is. The precedence, from the first that applies:

1. Messages are taken from the last to the first; the first one that offers a whole answer decides.
2. Within a message an *explicit* answer comes before any other: what stands in an answer tag or box, then what follows
   "final ...", "answer" or the like; the last such one counts. Next comes what follows another label ("path:",
   "schedule is"), then what the rest of the message says if it is well-formed and complete, which is explicit only
   beside the marker `ACTI!` or where the message says nothing else.
3. A message that only agrees stands for the latest offer before it, whoever made it, and makes that offer explicit. So
   does one that goes through some cells of that offer again without a strong label.
4. Never an answer: what is called wrong, given as an example or under a condition ("if needed"), or quoted in order to
   be refused. What is explored ("maybe", "try", "would be", a question) counts only if there is nothing firmer at all.
5. Within one answer a correction ("no, actually") counts instead of what it corrects.
6. A mapping whose explicit answer leaves items out is filled up from earlier offers.

Explicit answers are read as `clean`. Those that need the end of 2, the exception in 4, or 6, and those that a later
message neither repeats nor agrees to, are `possible`. `envelope` has removed thoughts, programs and forged turns.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import Any

from graders.extract.envelope import peel
from graders.extract.kinds import KINDS, Kind, reading
from graders.extract.marker import MARKER, ends
from graders.extract.reading import Reading
from tasks.answers import Form

WARNINGS = ("clean", "possible", "truncated", "empty", "error_text", "refused", "none")


@dataclass(frozen=True)
class Extraction:
    """`answer` is structured JSON as told in tasks.answers, or None; `warning` one of `WARNINGS`; `evidence` the text
    that it was read from, 500 characters of it at the most."""

    answer: Any | None
    warning: str
    evidence: str


def outcome(extraction: Extraction) -> str:
    """`answered`, `unreadable` (something that looks like an answer could not be read) or `no_answer`."""
    if extraction.answer is not None:
        return "answered"
    return "unreadable" if extraction.warning in ("possible", "truncated", "error_text") else "no_answer"


AGREES = re.compile(
    r"\b(?:agree[ds]?|agreement|confirm(?:ed|s)?|correct|yes|yep|right|good|great|perfect|excellent"
    r"|verified|accept(?:ed)?|valid"
    r"|done|same|ok(?:ay)?|no changes?|consistent)\b",
    re.I,
)
DISAGREES = re.compile(
    r"\b(?:disagree|wrong|in(?:correct|valid)|mistake|not (?:agree|correct|valid|right)|(?:don't|can't|cannot) agree)\b"
    r"|^no\b",
    re.I,
)

SENTENCE = re.compile(
    r"(\n|(?<=[.!?;])(?<!\be\.g\.)[ \t]+|,[ \t]+(?=(?:so|the|my|our|instead|actually|final)\b|<answer>)"
    r"|(?<=</answer>)[ \t]+(?=\())"
)
NEVER = re.compile(
    r"\b(?:(?:is|are|was|were) (?:also )?(?:wrong|incorrect|invalid|mistaken|not (?:valid|correct|right|allowed|the ))"
    r"|(?:is|was|are)n't (?:valid|correct|right|allowed|the )"
    r"|(?:doesn't|does not|won't|will not|didn't|can't|cannot) (?:work|be (?:right|correct))"
    r"|hits? (?:a|the) wall|if (?:needed|necessary|required)|as a (?:fallback|backup)"
    r"|impossible to (?:get|go|reach|move)"
    r"|(?<!there )is (?:no|not an?) (?:valid )?(?:triangle|edge|pair|group|tour|solution|answer)"
    r"|for (?:example|instance)|e\.g|suppose|hypothetical\w*|contingency|template|such as (?:\W{0,3})(?:answer|path)"
    r"|(?:would|will) (?:break|violate|contradict)|cannot be (?:determined|known) (?:whether|which|who|if)"
    r"|(?:next|future|later) message"
    r"|(?:(?:you|they|partner|agent)(?:'ll| will| would| then)|(?:then i|i then)(?:'ll| will)?) (?:then )?"
    r"(?:reply|answer|respond|say|write)(?=[^\n.!?\"]{0,20}\")"
    r"|disagree|(?:your|partner's|previous|earlier|old) (?:\w{1,12} ){0,2}(?:has|had|contains) an? (?:error|mistake))\b"
    r"|[✗✘❌]|\bexamples?(?: \w{1,12}){0,2}:|\b(?:in|of) the form(?:at)? [\"'`]"
    r"|(?:^|[\n.:!?;])\W{0,4}(?:(?:there (?:is|was|exists)|there's) )?"  # there is no path between these cells
    r"no (?:(?:valid|possible|feasible|open|clear) )?"
    r"(?:path|route|walk|way) (?:exists |is possible )?(?:from|between)\b",
    re.I,
)
EXPLORES = re.compile(
    r"\b(?:would be|could|might|maybe|perhaps|possibly|try(?:ing)?|attempt|alternative(?:ly)?"
    r"|(?:an)?other (?:possible )?(?:path|route|option)|if (?:we|you|i|it|that|the)|should we|shall we|what if)\b"
    r"|^[ \t]*>|\?[ \t]*$",
    re.I,
)
ANSWERS = (
    r"(?:answers?|solutions?|paths?|routes?|walks?|ways?|trails?|tours?|circuits?|cycles?|order(?:ing)?s?|schedules?"
    r"|slots?|assignments?|arrangements?|packings?|plans?|triangles?|groups?|pairs?|cells?)"
)
IMPOSSIBLE = re.compile(  # says that there is no answer; what follows is why
    rf"(?<!\()\bno (?:(?!other|more|further|shorter|better|cheaper)\w+ ){{0,2}}{ANSWERS}\b"
    r"(?: \w+)? (?:exists?|works?|is possible|fits|can (?:exist|be found))\b"
    r"(?! (?:via|through|past|over|there|here|that|which))"
    r"|\b(?:im|not )possible to (?:walk|visit|order|sort|schedule|place|pack|fit|solve|cover|traverse|decode"
    r"|determine)\b"
    rf"|(?:^\W{{0,5}}|\b(?:answer|result|{ANSWERS})\b\W{{1,5}})(?:it(?:'s| is)? |is )?(?:none|unknown|undetermined|n/a"
    r"|impossible|infeasible|unsolvable|unreachable|not (?:possible|feasible)|does not exist|doesn't exist"
    rf"|cannot be \w+ed|no (?:\w+ )?{ANSWERS}\b)"
    r"(?=[ \t]*(?:[,;:(.-]|(?:since|because|as|for|from|among|between|whether|when)\b))"
    r"|\b(?:answer|result)\W{1,5}(?:no(?=, (?:since|because|as)\b)|(?:not enough|insufficient|too little)\b"
    r"|i (?:still )?(?:need|lack|miss)\b)",
    re.I,
)
NEVER_LISTED = re.compile(f"{NEVER.pattern}|{IMPOSSIBLE.pattern}", re.I)
QUOTATION = re.compile(r"^[ \t]*>[^\n]*", re.M)
DROPPED = re.compile(
    r"\b(?:instead of|rather than)\b[^\n.;]{0,80}?(?=\b(?:use|take|go|but|we|i|it|let|choose)\b|[.;\n]|$)"
    r"|\bnot (?=[(\[\d])[^\n.;,]{0,40}?(?=\bbut\b|[.;,\n]|$)",
    re.I,
)

NOUNS = "answers? paths? routes? walks? schedules? solutions? assignments? placements? plans? results? final"
LABEL = (
    r"[\"']?[ \t]{0,9}(?:\((?!-?\d+\s?[,;])[^()\n]{0,40}\)[ \t]{0,9})?"
    r"(?:(?:from|for|of|to|in|using|with|that|which|we|agreed|list|as|cells)\b[^\n:=.\d(\[]{0,60}?)?"
    r"(?::|=|->|\b(?:is|are|should be|must be)\b:?|\n|(?=[(\[\d]))"
)
GENERAL = NOUNS.replace("?", "").split() + NOUNS.replace("s?", "").split()
STRONG = re.compile(r"\b(?:final|agreed|confirmed|definitive)\b[^\n.:]{0,30}$", re.I)
WEAK = re.compile(
    r"\b(?:your|previous|earlier|wrong|old|partner's|their|alternative|(?:an)?other|possible|candidate"
    r"|initial|first|partial)\b"
    r"[^\n.:]{0,30}$",
    re.I,
)
CAPITALS = re.compile(r"\b[A-Z]+\b")
GIVEN = re.compile(  # what an agent was given is called like an answer, too
    r"\b(?:my|half|part(?:ial)?|view|side|given|(?:en)?coded|encrypted|cipher(?:ed)?|sub)\b[^\n.:]{0,30}$", re.I
)
MOST = 200  # labels and boxes of a message that are looked at, counted from its end
BARE = 24  # characters that may stand around an answer for it to be all that a message says
BOX = re.compile(r"<(/?)answer>")
CUT = re.compile(
    r"(?:->|[,(\[{:=+]|[(\[]\s{0,3}-?\d{1,6}(?:\s{0,3},\s{0,3}-?\d{0,6})?)$|\b(?:and|to|then|the)$"  # in mid-sentence
)
ERROR = re.compile(
    r"\s*(?:\{?\s*\"?error\"?\s*:|Error code:"
    r"|HTTP(?:/[\d.]+)? [45]\d\d|[45]\d\d (?:Too|Internal|Bad|Service|Gateway|Client)"
    r"|\w*(?:Error|Exception)\b[^\n]{0,60}?(?:\b[45]\d\d\b|rate|timed? ?out|overload|connection|\{)"
    r"|rate limit|request timed out|upstream error|overloaded)",
    re.I,
)
NOTHING = (
    r"\W{0,8}(?:(?:there is|i have|we have|it is|it|is|answer|:)[\s:]+){0,3}"
    r"(?:no (?:complete |final |valid )?(?:answer|solution)|none\b|unknown\b|undetermined|"
    r"not (?:known|determined|possible|feasible)|infeasible|impossible|unsolvable|unreachable"
    r"|cannot be (?:determined|found|solved))"
)
OPEN = re.compile(rf"{NOTHING}\W*(?:ACTI!|\Z|\n)", re.I)  # where an answer was asked for
DECLINES = re.compile(rf"\b(?:final|answer)\b{NOTHING}", re.I)  # they say that they have none
REFUSES = re.compile(
    r"\bI(?:'m| am)? (?:sorry,? (?:but )?I )?(?:can't|can ?not|won't|am unable to|unable to|not able to) "
    r"(?:help|assist|comply|answer|continue|provide|fulfil|do that)|content (?:filter|policy|management)",
    re.I,
)


@lru_cache
def announces(nouns: str) -> re.Pattern[str]:
    """What announces an answer of a kind that is called so."""
    return re.compile(rf"\b({'|'.join(f'{NOUNS} {nouns}'.split())})\b" + LABEL, re.I)


def firm(text: str, kind: Kind, explored: bool = False) -> str:
    """`text` without sentences that are never an answer, and unless `explored` without those that only explore."""
    never = NEVER if kind.by_item else NEVER_LISTED
    if not (
        never.search(text)
        or DROPPED.search(text)
        or (not explored and EXPLORES.search(text))
        or "?" in text
        or ">" in text
    ):
        return text
    parts = SENTENCE.split(DROPPED.sub(" ", text if explored else QUOTATION.sub("", text)))
    leads = False  # the sentence before was dropped and goes on: it ends with a colon, or explores up to a semicolon
    lead = ""  # the sentence before, if it was dropped
    for number in range(0, len(parts), 2):
        sentence = parts[number].strip()
        if sentence:
            said = CAPITALS.sub(" ", sentence) if kind.capitals else sentence
            explores = not explored and bool(EXPLORES.search(said))
            if not NEVER.search(lead) and "<answer>" in sentence:  # whatever is said about it, it is offered
                leads = explores = False
            drop = leads or explores or bool(never.search(said))
            lead = said if drop else ""
            leads = drop and (
                sentence.endswith(":")
                or (sentence.endswith(";") and (leads or explores or bool(IMPOSSIBLE.search(said))))
            )
            if drop:
                parts[number] = ""
            back = number - 2  # what the question mark at the end of this sentence asks about begins further up
            while explores and sentence.endswith("?") and back >= 0 and parts[back].rstrip().endswith(";"):
                parts[back] = ""
                back -= 2
    return "".join(parts)


class Message:
    """One message, peeled; everything else about it is found when it is asked for."""

    def __init__(self, text: str) -> None:
        self.raw = text
        text, self.cut = peel(text)
        self.text = MARKER.sub(" ", text).strip()
        self.cut = self.cut or bool(CUT.search(self.text[-40:]))

    @cached_property
    def marked(self) -> bool:
        return ends(self.raw)

    @cached_property
    def agrees(self) -> bool:
        return not DISAGREES.search(self.text[:2000]) and (self.marked or bool(AGREES.search(self.text[:2000])))

    def offers(self, kind: Kind, explored: bool = False) -> Iterator[tuple[str, int]]:
        """Texts that may be the answer, best first: 2 for a box or strong label, 1 for another label, 0 for all."""
        if ERROR.match(self.raw):
            return
        text = firm(self.text, kind, explored)
        opened = -1
        boxes: list[str] = []
        for tag in BOX.finditer(text):
            if tag[1] and opened >= 0:
                boxes.append(text[opened : tag.start()])
            opened = -1 if tag[1] else tag.end()
        for box in boxes[: -MOST - 1 : -1]:
            yield box, 2
        text = BOX.sub(" ", text)
        strong: list[tuple[int, int]] = []
        labels: list[tuple[int, int]] = []
        for label in announces(kind.nouns).finditer(text):
            lead = re.split(r"[.;!?\n]", text[max(0, label.start() - 50) : label.start()])[-1]
            if label[1].lower().startswith(("answer", "final")) or STRONG.search(lead):
                if not WEAK.search(lead):
                    strong.append(label.span())
            elif not WEAK.search(lead) and not (label[1].lower() not in GENERAL and GIVEN.search(lead)):
                labels.append(label.span())
        for level, spans in ((2, strong), (1, labels)):
            stop = len(text)
            for begin, end in spans[: -MOST - 1 : -1]:
                yield text[end:stop], level
                stop = begin
        yield text, 0


@dataclass(frozen=True)
class Offer:
    """A reading, at what level it was offered (see `Message.offers`) and whether its message made it explicit."""

    reading: Reading
    level: int
    explicit: bool


def best(form: Form, message: Message, explored: bool = False) -> tuple[Offer | None, bool]:
    """The offer of a message, and whether there was anything that looked like one."""
    partial: Offer | None = None
    hint = False
    for text, level in message.offers(KINDS[form.kind], explored):
        if level > 0 and OPEN.match(text):
            if level == 2 and not partial and not KINDS[form.kind].by_item:  # what else it says is no answer then
                return None, False
            continue
        found = reading(form, text, level > 0)
        hint = hint or found.hint
        if found.answer is None:
            continue
        bare = len(message.text) - len(found.text) <= BARE
        offer = Offer(found, level, level > 0 or bare or message.marked)
        if not found.part and (level > 0 or found.solid or bare):
            return offer, hint
        partial = partial or offer
    return partial, hint


def _item(item: Any) -> Any:
    """An item of a list to compare: names that belong together in any order, the numbers of a cell in theirs."""
    if not isinstance(item, list):
        return item
    return frozenset(item) if all(isinstance(one, str) for one in item) else tuple(item)


def checks(later: Any, earlier: Any) -> bool:
    """Whether a list is only some of an earlier one: cells of a path that somebody goes through again to check them."""
    if not (isinstance(later, list) and isinstance(earlier, list)) or (later[0], later[-1]) == (
        earlier[0],
        earlier[-1],
    ):
        return False
    known = set(map(_item, earlier))
    return len(later) < len(earlier) and all(_item(item) in known for item in later)


def read(form: Form, turns: Sequence[tuple[str, str]]) -> Extraction:
    """The final answer that the agents give in `turns` of (speaker, text), oldest first; turns of `user` and `system`
    are not theirs. Never raises; time and memory are linear in the text."""
    texts = [text for speaker, text in turns if speaker not in ("user", "system") and text.strip()]
    if not texts:
        return Extraction(None, "empty", "")
    messages: list[Message] = []
    merged: dict[str, Any] = {}
    partial: Offer | None = None
    pending: tuple[Offer, str] | None = None  # whole, but perhaps only a check of an earlier answer
    endorsed, doubted, hint = False, False, False
    for text in reversed(texts):
        message = Message(text)
        messages.append(message)
        offer, hinted = best(form, message)
        hint = hint or hinted
        if offer and not offer.reading.part and not merged:
            clean = (offer.explicit or endorsed) and not doubted
            if pending and not checks(pending[0].reading.answer, offer.reading.answer):
                break
            pending = offer, "clean" if clean else "possible"
            if offer.level == 2 or isinstance(offer.reading.answer, dict):
                break
        elif offer and not pending:
            partial = partial or offer
            if isinstance(offer.reading.answer, dict):
                merged = offer.reading.answer | merged
                if not offer.reading.part:
                    break
        if message.agrees:
            endorsed = True
        elif not pending:
            doubted = True
    if pending:
        return _given(pending[0].reading, pending[1], messages)
    for message in (
        () if partial else (m for m in messages if EXPLORES.search(m.text) or "?" in m.text or ">" in m.text)
    ):
        partial, hinted = best(form, message, explored=True)
        hint = hint or hinted
        if partial:
            break
    if partial:
        found = partial.reading
        sure = partial.explicit and not found.part and merged == found.answer
        return _given(Reading(merged or found.answer, text=found.text), "clean" if sure else "possible", messages)
    return _nothing(texts[-1], messages[0], hint)


def _given(found: Reading, warning: str, messages: list[Message]) -> Extraction:
    answer = found.answer
    if isinstance(answer, dict):
        answer = {name: value for name, value in answer.items() if value is not None}
        if not answer:
            return Extraction(None, "none", found.text.strip()[:500])
    if len(messages) == 1 and messages[0].cut:
        warning = "truncated"
    return Extraction(answer, warning, found.text.strip()[:500])


def _nothing(raw: str, last: Message, hint: bool) -> Extraction:
    """Why nothing was read, by the last message."""
    evidence = (last.text or raw.strip())[:500]
    if ERROR.match(raw):
        return Extraction(None, "error_text", evidence)
    if last.cut:
        return Extraction(None, "truncated", evidence)
    if REFUSES.search(last.text[:1000]):
        return Extraction(None, "refused", evidence)
    if DECLINES.search(last.text[-2000:]):
        return Extraction(None, "none", evidence)
    return Extraction(None, "possible" if hint else "none", evidence)
