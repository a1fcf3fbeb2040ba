"""Features of dialogues: `FEATURES` says what each counts. Texts and views enter; no answer, grade or score does."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from math import fsum
from typing import Any

import numpy as np

from collabtax.prediction.facts import disclosed, private, public_lines
from tasks import Problem, Task

WORD = re.compile(r"\w+")
PROSE = re.compile(r"[^\W\d_]{3}")  # a line without such a word is a drawing or an answer
SENTENCE = re.compile(r"[^.!?\n]+[.!?]*")
ASKING = re.compile(r"\?$|\bplease\b|\btell me\b|\blet me know\b", re.IGNORECASE)
COORDINATE = re.compile(
    r"[(\[] ?-?\d{1,4}(?:, ?-?\d{1,4}){1,2} ?[)\]]|\br\d{1,3},? ?c\d{1,3}\b|\b(?:row|column|col|line|layer) \d{1,4}\b",
    re.IGNORECASE,
)
DISAGREEMENT = re.compile(
    r"\b(?:disagree\w*|(?:do not|don't|cannot|can't) (?:quite )?agree|not (?:agreed|correct|right|true|possible)|isn't "
    r"(?:correct|right|true)|incorrect|wrong|mistake\w*|mistaken|error|however|actually|contradict\w*|conflicts? with|"
    r"inconsistent|mismatch|another result|different result)\b|(?:^|[.!?\n] ?)no\b",
    re.IGNORECASE,
)
AGREEMENT = re.compile(
    r"\b(?:agree|agrees|agreed|yes|correct|exactly|indeed|confirm|confirms|confirmed|okay|ok|fine|great|perfect|good|"
    r"(?:that|that's|that is|you're|you are) right|makes sense|same result)\b",
    re.IGNORECASE,
)


@dataclass(frozen=True)
class Dialogue:
    """One dialogue of two seats with what they were shown. `texts` holds the turns, at least one, by seat."""

    task: Task[Any]
    problem: Problem[Any]
    texts: tuple[tuple[int, str], ...]

    def of_seat(self, seat: int) -> list[str]:
        return [text for who, text in self.texts if who == seat]

    def own_words(self) -> list[str]:
        """The turns without the lines that stand in their speaker's view as it was shown, such as the queries."""
        shown = [
            {line.strip() for line in self.task.render(view, frame).splitlines()}
            for view, frame in zip(self.problem.views, self.problem.frames, strict=True)
        ]
        return ["\n".join(x for x in text.splitlines() if x.strip() not in shown[seat]) for seat, text in self.texts]

    def disclosed(self, seat: int) -> float:
        """Share of what only this seat sees that it has told."""
        views, frame = self.problem.views, self.problem.frames[seat]
        ordered = (views[seat], *(view for other, view in enumerate(views) if other != seat))
        public = public_lines(self.task.render(view, frame) for view in ordered)
        return disclosed(self.task, private(views, seat), public, self.of_seat(seat))


def lengths(dialogue: Dialogue) -> list[int]:
    return [len(text) for _, text in dialogue.texts]


def per_100_words(pattern: re.Pattern[str], texts: Sequence[str], but: re.Pattern[str] | None = None) -> float:
    """Occurrences of `pattern` outside of what `but` matches, in 100 words."""
    words = sum(len(WORD.findall(text)) for text in texts)
    searched = [but.sub(" - ", text) for text in texts] if but else texts
    return 100 * sum(len(pattern.findall(text)) for text in searched) / words if words else 0.0


def agreement(dialogue: Dialogue) -> float:
    return per_100_words(AGREEMENT, dialogue.own_words(), but=DISAGREEMENT)  # "I do not agree" holds no agreement


def questions(dialogue: Dialogue) -> float:
    asked = 0
    for line in "\n".join(dialogue.own_words()).splitlines():
        if PROSE.search(line):
            asked += sum(bool(ASKING.search(one.rstrip(" \"')*_`]"))) for one in SENTENCE.findall(line))
    return asked / len(dialogue.texts)


def variation(values: Sequence[int]) -> float:
    return float(np.std(values) / np.mean(values)) if sum(values) else 0.0


def balance(dialogue: Dialogue) -> float:
    total = sum(lengths(dialogue))
    return sum(map(len, dialogue.of_seat(0))) / total if total else 0.5


# name, what it is, how it is computed; the first one is of the cell, not of a dialogue
FEATURES: tuple[tuple[str, str, Callable[[Dialogue], float] | None], ...] = (
    ("dialogues", "number of dialogues that the cell's means are over (sample size)", None),
    ("turns", "messages of a dialogue", lambda d: len(d.texts)),
    ("characters", "characters of a dialogue", lambda d: sum(lengths(d))),
    ("characters_per_turn", "characters of a message, mean over the dialogue's", lambda d: float(np.mean(lengths(d)))),
    ("opening", "characters of the first message", lambda d: lengths(d)[0]),
    ("last_three", "characters of a message, mean over the last three", lambda d: float(np.mean(lengths(d)[-3:]))),
    ("turn_variation", "standard deviation of the messages' lengths over their mean", lambda d: variation(lengths(d))),
    ("balance", "the initiator's share of the characters", balance),
    ("agreement", "words of agreement in 100 words", agreement),
    ("disagreement", "words of disagreement in 100 words", lambda d: per_100_words(DISAGREEMENT, d.own_words())),
    ("questions", "sentences that ask, a message", questions),
    ("coordinates", "coordinates in 100 words", lambda d: per_100_words(COORDINATE, [text for _, text in d.texts])),
    ("disclosed_1", "share of what only the initiator sees that it has told", lambda d: d.disclosed(0)),
    ("disclosed_2", "share of what only the responder sees that it has told", lambda d: d.disclosed(1)),
)  # fmt: skip
NAMES = tuple(name for name, *_ in FEATURES)


def of_dialogue(dialogue: Dialogue) -> dict[str, float]:
    """Every feature of one dialogue."""
    return {name: float(count(dialogue)) for name, _, count in FEATURES if count}


def of_cell(dialogues: Sequence[dict[str, float]]) -> dict[str, float]:
    """The features of a cell: means over its dialogues, at least one, in whatever order they come."""
    n = len(dialogues)
    means = {name: fsum(one[name] for one in dialogues) / n for name, _, count in FEATURES if count}
    return {"dialogues": float(n), **means}
