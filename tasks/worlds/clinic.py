"""A team of three specialists and a coordinator that answers a multiple-choice question (swap paper, appendix C.4).

A step is one phase of a round: the specialists analyse, the coordinator synthesises, the specialists review, the
coordinator decides. The engine knows labels only; what is said beside them is the protocol's.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar

from tasks import drawing
from tasks.worlds.base import World
from tasks.worlds.medqa import Question, once

PHASES = ("analyse", "synthesise", "review", "decide")
VERBS = {"analyse": ("answer",), "synthesise": ("answer",), "review": ("agree", "disagree"), "decide": ("answer",)}
WEIGHED = {"synthesise": "analyse", "decide": "review"}  # what the coordinator reads in its phases
COORDINATOR = "coordinator"
WAIT, INVALID = "wait", "invalid"
LONGEST_REPLY = 100_000  # characters that are read
START = re.compile(r"\{(?=\s*[\"}])")  # where an object begins; other braces are prose


@dataclass(frozen=True)
class ClinicState:
    """`said` holds the finished phases in order, each the actions of its agents in seat order."""

    question: str  # its id
    said: tuple[tuple[str, ...], ...] = ()
    notes: tuple[str, ...] = ()  # what came of each agent's last action, in seat order

    @property
    def round(self) -> int:
        """The round of the phase that comes next, from 1 on."""
        return len(self.said) // len(PHASES) + 1

    @property
    def phase(self) -> str:
        """The phase that comes next."""
        return PHASES[len(self.said) % len(PHASES)]

    def heard(self, number: int, phase: str) -> tuple[str, ...]:
        """What was said in a phase of round `number`; () if that has not come to pass."""
        at = (number - 1) * len(PHASES) + PHASES.index(phase)
        return self.said[at] if at < len(self.said) else ()


@dataclass(frozen=True)
class Reply:
    """A reply that was understood. `agree` is None outside reviews; `text` is the explanation or the reason."""

    answer: str
    text: str
    agree: bool | None = None

    @property
    def action(self) -> str:
        """The reply as an action of the engine."""
        verb = "answer" if self.agree is None else "agree" if self.agree else "disagree"
        return f"{verb}({self.answer})"

    @property
    def published(self) -> str:
        """What the team reads and what is counted (swap paper, C.5)."""
        agreed = [] if self.agree is None else [json.dumps(self.agree)]
        return "\n".join([*agreed, self.answer, self.text])


@dataclass(frozen=True)
class Clinic(World[ClinicState]):
    """`questions` are what an episode's seed chooses from. Whoever says nothing in a phase of its own, or nothing
    readable, publishes no message, agrees to nothing and decides for nothing [our choice]."""

    name: ClassVar[str] = "clinic"
    version: ClassVar[int] = 1
    longest: ClassVar[int] = 30_000

    questions: tuple[Question, ...]
    specialties: tuple[str, ...] = ("internal medicine", "surgery", "radiology")  # a specialist each [upstream]
    rounds: int = 3

    def __post_init__(self) -> None:
        if not self.questions or not self.specialties or self.rounds < 1:
            raise ValueError("clinic: a question, a specialty and a round are the least; give one of each or more")
        if len(self._by_id) != len(self.questions):
            raise ValueError("clinic: two questions have the same id; give each question once")

    @cached_property
    def _by_id(self) -> dict[str, Question]:
        return {question.id: question for question in self.questions}

    @cached_property
    def specialists(self) -> tuple[str, ...]:
        return tuple(f"specialist_{seat + 1}" for seat in range(len(self.specialties)))

    @cached_property
    def agents(self) -> tuple[str, ...]:
        return (*self.specialists, COORDINATOR)

    @cached_property
    def labels(self) -> tuple[str, ...]:
        """Every label of any question."""
        return tuple(sorted({label for question in self.questions for label in question.options}))

    def initial(self, seed: int) -> ClinicState:
        """Seeds go through the questions in turn."""
        return ClinicState(self.questions[seed % len(self.questions)].id, (), ("",) * len(self.agents))

    def begin(self, question: str) -> ClinicState:
        """The first state for the question of that id. Raises ValueError if there is none."""
        if question not in self._by_id:
            raise ValueError(f"clinic: no question {question!r}; it is none of the {len(self.questions)} given")
        return ClinicState(question, (), ("",) * len(self.agents))

    def question(self, state: ClinicState) -> Question:
        """The question of an episode, with its key: not for the eyes of agents."""
        return self._by_id[state.question]

    def actions(self, agent: str) -> tuple[str, ...]:
        verbs = ("answer",) if agent == COORDINATOR else ("answer", "agree", "disagree")
        return (WAIT, *(f"{verb}({label})" for verb in verbs for label in self.labels), INVALID)

    def acting(self, state: ClinicState) -> tuple[str, ...]:
        """The agents of the phase that comes next; () at the end."""
        if self.is_over(state):
            return ()
        return self.specialists if state.phase in ("analyse", "review") else (COORDINATOR,)

    def refusal(self, state: ClinicState, agent: str, action: str) -> str:
        if action == WAIT:
            return ""
        if agent not in self.acting(state):
            return f"it is not your turn in the phase {state.phase}; wait"
        if action == INVALID:
            return ""
        verb, label = action[:-1].split("(")
        if verb not in VERBS[state.phase]:
            return f"{verb} is not for the phase {state.phase}, where you {' or '.join(VERBS[state.phase])}"
        if label not in self.question(state).options:
            return f"{label} is no label of this question; choose one of {', '.join(self.question(state).options)}"
        return ""

    def step(self, state: ClinicState, actions: Mapping[str, str]) -> ClinicState:
        self.check(state, actions)
        acting = self.acting(state)
        said: list[str] = []
        notes: list[str] = []
        for agent in self.agents:
            action = actions.get(agent, WAIT)
            refused = self.refusal(state, agent, action)
            if refused:
                notes.append(f"{action} was rejected: {refused}.")
            elif agent not in acting:
                notes.append("")
            else:
                notes.append({WAIT: "You said nothing.", INVALID: "Your reply could not be read."}.get(action, ""))
            if agent in acting:
                said.append(WAIT if refused else action)
        return ClinicState(state.question, (*state.said, tuple(said)), tuple(notes))

    def agreed(self, state: ClinicState, number: int) -> bool:
        """Whether all specialists agreed in the reviews of round `number`, whatever labels they named beside it."""
        reviews = state.heard(number, "review")
        return bool(reviews) and all(review.startswith("agree(") for review in reviews)

    def status(self, state: ClinicState) -> str:
        """What the coordinator is told before it decides: whether all agreed, and whether a round remains."""
        agreed = "All reviewers agree." if self.agreed(state, state.round) else "Not all reviewers agree."
        remains = "Another round is available" if state.round < self.rounds else "No further round is available"
        return f"{agreed} {remains} (round {state.round} of {self.rounds})."

    def visible(self, state: ClinicState, agent: str) -> tuple[tuple[int, str, str], ...]:
        """What `agent` may read when it acts next, as (round, phase, speaker) in the order of speaking.

        All earlier rounds; of this one the coordinator's synthesis and, for a specialist, its own analysis, for the
        coordinator the analyses when it synthesises and the reviews when it decides (swap paper, F.2).
        """
        shown = []
        for at, actions in enumerate(state.said):
            number, phase = at // len(PHASES) + 1, PHASES[at % len(PHASES)]
            speakers = self.specialists if phase in ("analyse", "review") else (COORDINATOR,)
            for speaker, action in zip(speakers, actions, strict=True):
                past = number < state.round or self.is_over(state)
                weighed = agent == COORDINATOR and WEIGHED.get(state.phase) == phase
                if _label(action) and (past or phase == "synthesise" or speaker == agent or weighed):
                    shown.append((number, phase, speaker))
        return tuple(shown)

    def told(self, state: ClinicState, number: int, phase: str, speaker: str) -> str:
        """The action of `speaker` in a phase that is past."""
        if speaker == COORDINATOR:
            return state.heard(number, phase)[0]
        return state.heard(number, phase)[self.specialists.index(speaker)]

    def observe(self, state: ClinicState, agent: str) -> str:
        question = self.question(state)
        lines = [question.question, *(f"{label}: {option}" for label, option in question.options.items())]
        if self.is_over(state):
            lines.append(f"The team answered {self.answer(state) or 'nothing readable'}.")
        else:
            role = "the coordinator"
            if agent != COORDINATOR:
                role = f"a specialist in {self.specialties[self.specialists.index(agent)]}"
            turn = "It is your turn." if agent in self.acting(state) else "It is not your turn."
            lines.append(f"Round {state.round} of {self.rounds}, phase {state.phase}. You are {role}. {turn}")
            if agent == COORDINATOR and state.phase == "decide":
                lines.append(self.status(state))
        for number, phase, speaker in self.visible(state, agent):
            lines.append(f"Round {number}, {phase}, {speaker}: {self.told(state, number, phase, speaker)}")
        note = self.feedback(state, agent)
        return "\n".join([*lines, *([f"Last action: {note}"] if note else [])])

    def feedback(self, state: ClinicState, agent: str) -> str:
        return state.notes[self.agents.index(agent)]

    def living(self, state: ClinicState) -> tuple[str, ...]:
        return self.agents

    def is_over(self, state: ClinicState) -> bool:
        """After a decision that follows three agreements, or after that of the last round."""
        whole, rest = divmod(len(state.said), len(PHASES))
        return not rest and whole > 0 and (whole >= self.rounds or self.agreed(state, whole))

    def is_cut(self, state: ClinicState) -> bool:
        """Never: the last round ends an episode by its rules."""
        return False

    def answer(self, state: ClinicState) -> str:
        """The label of the last round's decision; "" while there is none, or where it could not be read."""
        return _label(state.said[-1][0]) if self.is_over(state) else ""

    def score(self, state: ClinicState) -> float:
        """100 for the right answer, else 0."""
        return 100.0 * (self.answer(state) == self.question(state).answer)

    def progress(self, before: ClinicState, after: ClinicState) -> int:
        """1 for the step that ends with the right answer, else 0 (swap paper, C.4: P = I)."""
        return int(self.score(after) - self.score(before)) // 100

    def rewards(self, before: ClinicState, after: ClinicState) -> dict[str, float]:
        return dict.fromkeys(self.agents, float(self.progress(before, after)))

    def messages(self, state: ClinicState) -> tuple[int, ...]:
        """Published contributions by round, 8 in a whole one with three specialists: each that has a label."""
        counts = [0] * -(-len(state.said) // len(PHASES))
        for at, actions in enumerate(state.said):
            counts[at // len(PHASES)] += sum(1 for action in actions if _label(action))
        return tuple(counts)

    def draw(self, state: ClinicState) -> str:
        width, height = 130, 34
        parts = [drawing.text((i + 1.5) * width, 22, phase) for i, phase in enumerate(PHASES)]
        key = self.question(state).answer
        lines = 1
        for number in range(1, self.rounds + 1):
            if not state.heard(number, PHASES[0]):
                break
            for agent in self.agents:
                y = lines * height
                parts.append(drawing.text(8, y + 22, f"{number} {agent}", anchor="start"))
                for i, phase in enumerate(PHASES):
                    speaks = (agent == COORDINATOR) == (phase in ("synthesise", "decide"))
                    if speaks and state.heard(number, phase):
                        action = self.told(state, number, phase, agent)
                        css = "right" if _label(action) == key else "wrong"
                        parts.append(drawing.rect((i + 1) * width + 2, y + 2, width - 4, height - 4, css))
                        parts.append(drawing.text((i + 1.5) * width, y + 22, action))
                lines += 1
        end = f"the team answered {self.answer(state) or 'nothing readable'}" if self.is_over(state) else "unfinished"
        label = f"question {state.question}, {len(self.messages(state))} rounds: {end}; right is {key}"
        return drawing.svg(5 * width, lines * height, parts, label)


def _label(action: str) -> str:
    """The label in an action; "" where it has none."""
    return action.partition("(")[2].rstrip(")")


def read_reply(phase: str, text: str, labels: Sequence[str]) -> Reply | str:
    """What a model replied in a phase, or a complaint in one line that it can be shown.

    Wanted is one JSON object, `{"answer": label, "explanation": text}` or, in reviews, `{"agree": boolean, "answer":
    label, "reason": text}`. Let pass are fences and text around it, further fields, line breaks inside texts, case and
    blanks of a label, and thoughts before `</think>`; but not two objects, a field given twice, or an agreement that is
    no JSON boolean.

    Raises:
        ValueError: there is no such phase.
    """
    if phase not in PHASES:
        raise ValueError(f"phase {phase!r} is none of {', '.join(PHASES)}")
    try:
        found = _one_object(text.rpartition("</think>")[2])
    except ValueError as error:
        return str(error)
    agree = None
    if phase == "review":
        agree = found.get("agree")
        if type(agree) is not bool:
            return "agree must be the JSON value true or false, without quotes"
    said = found.get("answer")
    known = {label.casefold(): label for label in labels}
    if type(said) is not str or said.strip().casefold() not in known:
        return f"answer must be one of the labels {', '.join(labels)}"
    name = "reason" if phase == "review" else "explanation"
    why = found.get(name)
    if type(why) is not str:
        return f"{name} must be a text"
    return Reply(known[said.strip().casefold()], why.encode("utf-8", "replace").decode().strip(), agree)


def _one_object(text: str) -> dict[str, Any]:
    """The one JSON object in a text, in time linear in the text. Raises ValueError with a complaint."""
    if len(text) > LONGEST_REPLY:
        raise ValueError(f"the reply is longer than {LONGEST_REPLY} characters; give a short JSON object")
    decoder = json.JSONDecoder(object_pairs_hook=once, parse_int=_no_number, parse_float=_no_number, strict=False)
    found: list[dict[str, Any]] = []
    at = 0
    while start := START.search(text, at):
        prose = text[at : start.start()]
        if prose.count("{") > prose.count("}"):
            raise ValueError("the JSON object is inside braces that are not JSON; give it alone")
        try:
            value, at = decoder.raw_decode(text, start.start())
        except json.JSONDecodeError as error:
            raise ValueError(f"the reply holds no well-formed JSON object ({error.msg})") from error
        except RecursionError as error:
            raise ValueError("the JSON object is nested too deeply; give the plain fields") from error
        found.append(value)
        if len(found) > 1:
            raise ValueError("the reply holds several JSON objects; give one")
    if not found:
        raise ValueError("the reply holds no JSON object; give one with the fields that were asked for")
    return found[0]


def _no_number(digits: str) -> None:
    """Numbers are in no field of ours, and Python refuses to read very long ones."""
