"""The judge by rules: program text decides what can be decided from a dialogue, and says None where it cannot.

Facts: a task's own parser reads what a message tells of its view, and `merge` says what is in it: `a` holds `b` exactly
if putting both together gives `a` again. Questions and recomputation are told by English wording.
"""

from __future__ import annotations

import re
from typing import Any

from collabtax.cascade.stages import STAGES, Dialogue, Judgement, Verdicts
from graders import extract
from graders.extract.envelope import without_thoughts
from graders.extract.speakers import defused, own, unprefixed
from tasks.frames import Frame

VERSION = 1  # raised whenever a verdict can change
LONGEST = 160  # characters of a quotation

FINAL = re.compile(r"^\W{0,20}final\b.*", re.I | re.M | re.S)  # the answer is no statement of given facts
FRAME = re.compile(r"\bdiffer\b|do not tell of the same")  # how `merge` refuses what is no telling of the same problem
HEADING = re.compile(
    r"\b(?:combin(?:ed|ing)|merg(?:ed|ing)|integrat(?:ed|ing|ion)|put(?:ting)? (?:it|them|both|everything) together"
    r"|together we have|both (?:parts|views|halves|maps|lists)|full (?:map|grid|picture|list|view))\b",
    re.I,
)
REQUEST = re.compile(
    r"\b(?:please|(?:can|could|would|will) you)\b[^.?!]{0,40}\b(?:state|tell|share|give|list|describe|send|show|specify"
    r"|report|provide|say|name|repeat|write)\b"
    r"|^\W*(?:(?:now|then|so|and|next|also|first)\W+)?(?:(?:tell|give|show|send) me"
    r"|(?:share|describe|list|state) your)\b",
    re.I,
)
QUESTION = re.compile(
    r"\b(?:what|which|where|who|whom|when|how|is|are|does|do|did|have|has|can|could|was|were)\b"
    r"[^?]*\?",
    re.I,
)
TO_PARTNER = re.compile(r"\b(?:you|your|yours)\b", re.I)
SOCIAL = re.compile(  # asks for consent or opinion, not for facts
    r"\b(?:agree|ready|shall we|should (?:we|i)|do you want|would you like|what do you think|your (?:thoughts|opinion)"
    r"|any (?:questions|objections|thoughts|ideas)|sounds? (?:good|right|fine)|looks? (?:good|right|correct|fine|ok)"
    r"|(?:does|do|is|are|was) (?:that|this|it|these|they|everything|my \w+|the answer)\b[^?]{0,40}\b(?:right|correct|ok"
    r"|okay|good|fine|clear|acceptable|sense|work|match|valid)|make sense|proceed|how (?:shall|should|do) we|can we"
    r"|(?:propose|proposal|suggest)\b|(?:feel|thinking) (?:about|of)|how (?:can|may) i"
    r"|how(?:'s| is| about) (?:this|that)\b)",
    re.I,
)
REWORK = re.compile(
    r"\b(?:i|i['’]ve|we|we['’]ve)\b(?! (?:will|shall|would|could|should|can|cannot|may|must|did not|didn['’]t|have not"
    r"|haven['’]t|need))[^.!?\n]{0,40}?\b(?:re-?(?:comput|calculat|check|deriv|walk|trac|verifi|count|work|solv|evaluat)\w*"
    r"|double-?checked|verified|walked|traced|checked|counted|went (?:through|over|along)"
    r"|worked (?:it )?(?:out|through))\b",
    re.I,
)
STEP = re.compile(
    r"^\W{0,20}(?:step\b|\d{1,3}[.):]|[-*•]|\().{0,200}?(?:[=✓✔→]|->|\b(?:ok|okay|valid|free|open|clear|holds|satisfied|fits?|correct"
    r"|match(?:es)?|allowed|true)\b)",
    re.I | re.M,
)
RESULT = re.compile(r"\b(?:result|get|got|come|came|arrive|find|found)\b", re.I)
SENTENCE = re.compile(r"[^.!?]+(?:[.!?]+(?!\w)|$|[.!?])")

Remark = tuple[int | None, str]  # turn, counted from 1, and what is to be said of it
STEPS = 3  # lines that check something and show work without saying so
PROPOSAL = re.compile(r"\b(?:propos(?:e|al|ed)|final(?: answer)?|my answer|suggest(?:ed|ion)?)\b", re.I)


def judge(dialogue: Dialogue) -> Judgement:
    """Judge a dialogue. Never raises for any text."""
    written = [(seat, without_thoughts(text)[0]) for seat, text in dialogue.turns]
    said = [(seat, own(text)) for seat, text in written]  # a question in somebody else's name asks nobody
    facts = _Facts(dialogue, written)
    proposals = [i for i, (_, text) in enumerate(said) if _proposes(dialogue, text)]
    verdicts: Verdicts = dict.fromkeys(STAGES)
    verdicts["l1"], grounds = facts.grounded()
    verdicts["l3"], blocks = facts.integrated(proposals[-1] if proposals else len(said) - 1)
    remarks = [("l1", *one) for one in grounds] + [("l3", *one) for one in blocks]
    quotes: list[tuple[str, int, str]] = []
    if _is_english(said):
        given = [f"{dialogue.task.prompt}\n{dialogue.view(seat)}" for seat in (0, 1)]
        asked = ((i + 1, question(text, given[seat])) for i, (seat, text) in enumerate(said))
        shown = (
            (i + 1, rework(text, i in proposals))
            for i, (seat, text) in enumerate(said)
            if any(said[p][0] != seat for p in proposals if p < i)
        )
        for stage, found in (("l2", asked), ("l4", shown)):
            first = next((one for one in found if one[1]), None)
            verdicts[stage] = first is not None
            quotes += [(stage, *first)] if first else []
    else:
        why = "not in English letters: the wording of questions and checks is not known"
        remarks += [("l2", None, why), ("l4", None, why)]
    evidence: list[dict[str, Any]] = [
        {"stage": stage, "turn": turn, "text": text[:LONGEST], "found": None} for stage, turn, text in remarks
    ]
    evidence += [
        {"stage": stage, "turn": turn, "text": text[:LONGEST], "found": text in dialogue.turns[turn - 1][1]}
        for stage, turn, text in quotes
    ]
    return Judgement(verdicts, evidence)


class _Facts:
    """What the messages tell of the views, as far as the task can read it."""

    def __init__(self, dialogue: Dialogue, written: list[tuple[int, str]]) -> None:
        self.task, self.views = dialogue.task, dialogue.problem.views
        self.said = [(seat, defused(unprefixed(text))) for seat, text in written]  # as the partner gets it
        self.told = [self._read(FINAL.sub("", text)) for _, text in self.said]

    def _read(self, text: str) -> Any:
        try:
            return self.task.parse(text)
        except (ValueError, RecursionError):
            return None

    def _join(self, *parts: Any) -> Any:
        """The parts together, None where they contradict each other."""
        try:
            return self.task.merge(parts)
        except ValueError:
            return None

    def _sources(self, turn: int) -> list[Any]:
        """What the speaker of a turn can have its facts from: everything it knows, or where that contradicts itself
        its own view, with and without single messages of its partner."""
        seat = self.said[turn][0]
        heard = [self.told[i] for i in range(turn) if self.said[i][0] != seat and self.told[i] is not None]
        view = self.views[seat]
        joint = self._join(view, *heard)
        return [joint] if joint is not None else [view, *heard, *(j for h in heard if (j := self._join(view, h)))]

    def grounded(self) -> tuple[bool | None, list[Remark]]:
        """The verdict, and turns with what is wrong in them. What no part can be compared with decides nothing."""
        wrong, checked = list[Remark](), 0
        for turn, stated in enumerate(self.told):
            if stated is None:
                continue
            sources = self._sources(turn)
            if any(self._join(source, stated) == source for source in sources):
                checked += 1
                continue
            try:
                self.task.merge((self.views[self.said[turn][0]], stated))
                fault = "states what neither the speaker's part nor the other agent's words hold"
            except ValueError as problem:
                fault = str(problem)
            if not FRAME.search(fault):
                wrong.append((turn + 1, fault))
        if wrong or checked:
            return not wrong, wrong
        return None, [(None, "no message tells its facts in a form that the task can read")]

    def _tells_both(self, stated: Any, one: Any, other: Any) -> bool:
        """Whether a telling holds a fair part of what only the one view holds, and of what only the other one does: a
        third of the lines that tell it, two at least where there are so many."""
        lines = [set(self.task.render(view, Frame()).splitlines()) for view in (stated, one, other)]
        for part, mine, theirs in ((other, lines[1], lines[2]), (one, lines[2], lines[1])):
            only, beyond = len(mine - theirs), len(lines[0] - theirs)
            if self._join(part, stated) == part or beyond < max(min(2, only), only // 3):
                return False
        return True

    def integrated(self, last: int) -> tuple[bool | None, list[Remark]]:
        """The verdict on the turns up to `last`, and the turn that decided it."""
        doubtful = None
        for turn, stated in enumerate(self.told[: last + 1]):
            seat, text = self.said[turn]
            heading = HEADING.search(text)
            if stated is None:
                if heading and len(FINAL.sub("", text[heading.end() :]).split()) >= 12:
                    doubtful = turn
                continue
            known = any(self._join(source, stated) == source for source in self._sources(turn))
            if (known or heading) and self._tells_both(stated, self.views[seat], self.views[1 - seat]):
                return True, [(turn + 1, "states facts of both parts")]
        if doubtful is not None:
            return None, [(doubtful + 1, "speaks of a combined state that the task cannot read")]
        return False, []


def _proposes(dialogue: Dialogue, text: str) -> bool:
    found = extract.read(dialogue.task.form(dialogue.problem.instance), [("agent", text)])
    return found.answer is not None and (found.warning == "clean" or bool(PROPOSAL.search(text)))


def _is_english(said: list[tuple[int, str]]) -> bool:
    letters = [c for _, text in said for c in text if c.isalpha()]
    return 2 * sum(c.isascii() for c in letters) >= len(letters)


def _spelled(text: str) -> str:
    return " ".join(re.findall(r"\w+", text.casefold()))


def question(text: str, given: str = "") -> str:
    """The first sentence that asks a partner for facts, "" where there is none. What stands in `given`, the problem as
    the speaker was told it, is an echo and no question."""
    told, last = f" {_spelled(given)} ", text.rstrip().rpartition("\n\n")[2]
    for line in text.splitlines():
        for sentence in SENTENCE.findall(line):
            if SOCIAL.search(sentence) or f" {_spelled(sentence)} " in told:
                continue
            asks = "?" in sentence and QUESTION.search(sentence)
            if REQUEST.search(sentence) or (asks and (TO_PARTNER.search(sentence) or sentence in last)):
                return str(sentence.strip())
    return ""


def rework(text: str, answers: bool) -> str:
    """Where a message shows that its author computed an answer itself, "" where it does not; `answers`: whether it
    holds an answer."""
    claim = REWORK.search(text)
    if claim and (answers or RESULT.search(text)):
        return text[claim.start() :].partition("\n")[0]
    steps = [line.strip() for line in FINAL.sub("", text).splitlines() if STEP.search(line)]
    return steps[0] if len(steps) >= STEPS else ""
