"""The marker by which an agent ends a dialogue; the protocols stop at it, and extraction takes it for a signature."""

from __future__ import annotations

import re

from graders.extract.envelope import without_thoughts
from graders.extract.speakers import FORGED

MARKER = re.compile(r"(?<![^\W_])ACTI[!！]", re.I)
BEFORE = 300  # characters before a marker that are looked at
QUOTES = tuple("\"'“”‘’«»")
# What concludes lifts the condition that a sentence begins with; a comma only ends a clause.
CONCLUSION = re.compile(r".*(?:,|—|\band)\s+(?:so|therefore|thus|hence)\b(?! (?:that|far|do|am|is)\b)", re.I)
CLAUSE = re.compile(r".*(?:,\s+(?=[^\W\d_]|[*_`~]|$)|—|\s[-–]+\s)")
SPEAK = r"(?:say|write|emit|send|reply|respond|type|output|post)\b"
# A sentence that begins so sets conditions or asks for something.
LEAD = re.compile(
    r"\W*(?:(?:and|but|then|or|ok|okay|good|great|fine|yes|agreed|now|also|just|only|simply|do not|don['’]t"
    r"|never)\W+)*"
    rf"(?:(?:if|when|whenever|unless|until|before|whether|please|wait|assuming|provided|in case|as long as"
    rf"|should (?:you|we|both))\b|(?:confirm|finish|end|close|conclude) (?:\w+ )?with\b|once\b(?! (?:more|again))"
    rf"|as soon as\b|after\b(?! \w+ing\b)|{SPEAK})",
    re.I,
)
# A clause that speaks about the marker: words that do so wherever they stand, and words that do so close to it.
MENTION = re.compile(
    rf"\b(?:if|unless|until|marker|word|please|{SPEAK})\b"
    r"|(?:\b(?:not|never|cannot)|n['’]t)\b(?:\W+(?!and\b)\w+){0,5}\W*$"
    r"|^\W*(?:and )?then\W*$"
    r"|\b(?:your|the|the (?:token|signal|keyword|command|phrase|code)(?: is)?|hold(?:ing)? (?:off(?: on)?|back)"
    r"|early for|withhold|refuse to)\W*$"
    r"|\b(?:without|before|after|when|once|whether|said|says|saying|writes|writing|wrote|sent|typed|emits|emitted"
    r"|use|using|instead of"
    r"|rather than|shall|should|would|could|may|might|can|want|wait|ready|going to|like to)"
    r"(?:\W+(?:we|you|i|me|both|all|it|the|an?|your|my|our|his|their|to|for|with|by|of|now|then|also|just|only|already"
    r"|finally|safely|simply|more|end|finish|close|conclude|stop|answer|see|add|be))*\W*$",
    re.I,
)
# What ends so, with a colon, passes on the marker of somebody else.
REPORTS = re.compile(
    r"^\W*(?:(?:the|my|your) )?(?:other )?(?:agent|partner|user)\W*$"
    r"|\b(?:you|they|agent|partner|user)\W+(?:just )?(?:said|wrote|sent|typed|replied|answered)\W*$",
    re.I,
)
# Words after the marker that go on about it; in capitals they begin another sentence.
GOES_ON = re.compile(
    r"(?:yet|not|later|or|is|was|has|needs|came|from me|isn['’]t|wasn['’]t|means|ends"
    r"|comes|marker|word|may|must|can|could|should|would|will|if|when|once|only|unless|until|before"
    r"|after|as soon)\b"
)


def ends(text: str) -> bool:
    """Whether a message ends the dialogue: it holds `ACTI!` as the speaker's own act.

    Bold, fenced and inline-code markers count, in either case. A marker in quotation marks, in a line quoted with `>`
    or with a forged speaker, within thoughts, or as the word of a question does not. Nor does one in a clause that
    negates, requests or mentions it ("do not write ACTI! yet", "you could ACTI! now", "ACTI! is the word"), or in a
    sentence that begins with a condition ("if you agree, ACTI!"); other clauses may say what they like ("I could verify
    every step, so ACTI!").
    """
    return any(map(_acts, without_thoughts(text)[0].split("\n")))


def _acts(line: str) -> bool:
    first = MARKER.search(line)
    if not first or line.lstrip().startswith(">") or FORGED.match(line, 0, first.start()):
        return False
    for found in MARKER.finditer(line, first.start()):
        before = line[max(0, found.start() - BEFORE) : found.start()].rstrip("*_`~")
        after = line[found.end() : found.end() + 40].lstrip("*_`~")
        if before.endswith(QUOTES) or after.startswith(QUOTES):
            continue
        after = after.lstrip("*_`~ (")
        if after.startswith("?") or GOES_ON.match(after):
            continue
        *earlier, sentence = re.split(r"[.!?;]", before)[-1].split(":")
        if earlier and not sentence.strip(" *_`~") and (LEAD.match(earlier[-1]) or REPORTS.search(earlier[-1])):
            continue
        if concluded := CONCLUSION.match(sentence):
            sentence = sentence[concluded.end() :]
        if not LEAD.match(sentence) and not MENTION.search(CLAUSE.sub("", sentence)):
            return True
    return False
