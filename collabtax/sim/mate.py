"""How a simulated member of a formed team behaves (swap study). It sees the text of its request and nothing else.

What it can know is in its notebook, a line each: a lesson for a task ("nothing is wasted on X like this"), and its
team's convention, a word between quotes that was drawn by lot when the team formed and that the members use with each
other. Whoever lacks the lesson, knows no convention, or hears others use another word than its own, wastes something;
each is an independent draw for a member and an episode, at the rate of a knob:

- no lesson for the task at hand: `task`;
- no convention: `partner`;
- a foreign convention: `lead` for the kitchen's initiator, `follow` for its responder, `peer` elsewhere;
- in any case: `slip`.

What is wasted: in the kitchen two useless actions, in the forest a target cell that nobody fells, in the clinic the
specialist's answer, which is wrong then. A member with the newcomer's notice says that it is new; those who stay then
hold on to their own convention, so that only the newcomer wastes. `collabtax.sim.mate_truth` says what must come out.

Two teams play the same episodes with empty notebooks, and so do repetitions of the kitchen: their first requests would
be equal to the letter. The study therefore gives a simulated model's request a `seed`, as a sampled one has by itself.
"""

from __future__ import annotations

import json
import random
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from string import Formatter

from collabtax.agents import prompt
from tasks.base import seeded
from tasks.worlds.clinic import PHASES
from tasks.worlds.kitchen import ORDERS

MOST_WASTES = 2  # of a member in an episode: more would run into the time limit of the lowest kitchen level


@dataclass(frozen=True)
class Knobs:
    """Rates in [0, 1]; see the module."""

    task: float = 0.0
    partner: float = 0.0
    lead: float = 0.0
    follow: float = 0.0
    peer: float = 0.0
    slip: float = 0.0


PRESETS = {
    "sim/mate": Knobs(task=0.30, partner=0.40, lead=0.80, follow=0.10, peer=0.25, slip=0.10),
    "sim/mate-routine": Knobs(task=0.60, slip=0.10),  # only the task can be learnt
    "sim/mate-control": Knobs(slip=0.30),  # nothing can be learnt: a swap changes nothing
}


@lru_cache(maxsize=256)
def knobs(model: str) -> Knobs:
    """The knobs of a simulated member: a preset, or its name spells them, like `sim/mate-task=0.3,lead=0.5`.

    Raises:
        ValueError: no such preset or knob, or a rate outside of [0, 1].
    """
    if model in PRESETS:
        return PRESETS[model]
    given: dict[str, float] = {}
    for part in model.removeprefix("sim/mate-").split(","):
        spelt = re.fullmatch(r"(\w+)=(0?\.\d+|[01](?:\.0*)?)", part)
        if not spelt or spelt[1] not in Knobs.__dataclass_fields__ or not 0 <= float(spelt[2]) <= 1:
            raise ValueError(
                f"no simulated model {model!r}; there are {', '.join(PRESETS)}, or rates between 0 and 1 in the name, "
                f"like sim/mate-task=0.3,lead=0.5 (rates: {', '.join(Knobs.__dataclass_fields__)})"
            )
        given[spelt[1]] = float(spelt[2])
    return Knobs(**given)


# Reading a request ----------------------------------------------------------------------------------------------------

KINDS = ("member", "clinic", "plan_first", "planning", "notebook")  # of system messages, as their files are called
TOGETHER = {  # fields that nothing but a line break parts: what is before it may have lines of its own
    "{notebook}\n{notice}\n{task}": "{carried}", "{notebook}\n{notice}": "{carried}",
    "{discussion}\n{status}": "{discussion}",
}  # fmt: skip
WORD = re.compile(r'"([a-z]+-[a-z]+)"')  # a convention
SAID = re.compile(r"^step (-?\d+), (\w+): (.*)$", re.M)
NEW = re.compile(r"\bI am new on this team\b|\bI have just joined you\b")
LEADERS = ("initiator", "agent_1", "coordinator")  # who proposes a convention
ADJECTIVES = (
    "amber", "brisk", "calm", "dusky", "early", "faint", "gentle", "hollow", "ivory", "jolly", "keen", "little",
    "mellow", "narrow", "olive", "plain", "quiet", "russet", "silver", "tawny", "upper", "velvet", "wooden", "yellow",
)  # fmt: skip
NOUNS = (
    "anchor", "badger", "candle", "dolphin", "ember", "falcon", "garnet", "heron", "island", "jacket", "kettle",
    "lantern", "marble", "needle", "orchard", "pebble", "quarry", "ribbon", "saddle", "thimble", "umbrella", "violet",
    "willow", "zephyr",
)  # fmt: skip


@lru_cache(maxsize=64)
def pieces(name: str) -> tuple[tuple[str, str], ...]:
    """The template `swap/name` as pairs of a literal text and the field after it, "" after the last one."""
    template = prompt(f"swap/{name}")
    for fields, one in TOGETHER.items():
        template = template.replace(fields, one)
    return tuple((literal, field or "") for literal, field, *_ in Formatter().parse(template))


def filled(name: str, text: str) -> dict[str, str] | None:
    """What stands in the fields of a template in a text that was made from it; None for another text."""
    at, field, found = 0, "", dict[str, str]()
    for literal, following in pieces(name):
        start = text.find(literal, at)
        if start < 0 or (not field and start != at):
            return None
        if field:
            found[field] = text[at:start] if literal else text[at:]
        at, field = start + len(literal), following
    if field:
        found[field] = text[at:]
    return found


@dataclass(frozen=True)
class Mind:
    """What a member is told by its system message. `carried` is its notebook with the notice below."""

    kind: str
    role: str = ""
    about: str = ""
    carried: str = ""
    phase: str = ""  # of the clinic
    word: str = ""  # its convention, "" for none
    is_new: bool = False

    def knows(self, mark: str) -> bool:
        """Whether the notebook holds a lesson with this mark."""
        return any(mark in line for line in self.carried.splitlines() if not WORD.search(line))


@lru_cache(maxsize=512)
def mind(system: str) -> Mind:
    """Raises ValueError for a system message that is none of the swap study's."""
    for kind in KINDS:
        if (found := filled(f"{kind}_system", system)) is None:
            continue
        carried, phase = found.get("carried", ""), ""
        if kind == "clinic":
            phase = next((phase for phase in PHASES if carried.endswith(prompt(f"swap/clinic_{phase}"))), "")
            carried = carried.removesuffix(prompt(f"swap/clinic_{phase}")) if phase else carried
        last = carried.rstrip().rpartition("\n")[2]
        word = WORD.search(carried)
        return Mind(
            kind, found["role"], found.get("about", ""), carried, phase, word[1] if word else "",
            last.startswith("You are new here"),
        )  # fmt: skip
    raise ValueError("a simulated member plays the teams of the swap study; this request holds none of their texts")


@dataclass(frozen=True)
class Heard:
    """The public messages that a member is shown: (speaker, text) in their order."""

    said: tuple[tuple[str, str], ...]

    @classmethod
    def of(cls, messages: str) -> Heard:
        return cls(tuple((speaker, text) for _, speaker, text in SAID.findall(messages)))

    def by(self, role: str) -> list[str]:
        return [text for speaker, text in self.said if speaker == role]

    def words(self, role: str) -> list[str]:
        """The conventions that others than `role` go by, one a speaker; whoever is new does not count."""
        words: dict[str, str] = {}
        new = {speaker for speaker, text in self.said if NEW.search(text)}
        for speaker, text in self.said:
            if speaker not in new and speaker != role and (found := WORD.search(text)):
                words[speaker] = found[1]
        return list(words.values())


# Knowing and wasting --------------------------------------------------------------------------------------------------


def convention(model: str, seed: int) -> str:
    """The word that a team agrees on, by lot."""
    lot = seeded("convention", model, seed)
    return f"{lot.choice(ADJECTIVES)}-{lot.choice(NOUNS)}"


def misread(rates: Knobs, role: str, word: str, others: Sequence[str]) -> float:
    """The rate at which a member whose convention is `word` wastes something for the sake of the `others`' ones."""
    if not word:
        return rates.partner
    if 2 * sum(other != word for other in others) <= len(others):
        return 0.0
    return {"initiator": rates.lead, "responder": rates.follow}.get(role, rates.peer)


@lru_cache(maxsize=4096)
def draws(model: str, seed: int, role: str, carried: str, task: str) -> tuple[float, float, float]:
    """A member's lots for an episode: of the task, of its partners, of slips."""
    rng = seeded("mate", model, seed, role, carried, task)
    return rng.random(), rng.random(), rng.random()


@lru_cache(maxsize=4096)
def wastes(model: str, seed: int, who: Mind, task: str, mark: str, others: tuple[str, ...]) -> tuple[bool, bool, bool]:
    """Whether a member wastes something in an episode: for want of the task's lesson, of a shared convention, by a
    slip. `mark` is what a lesson for the task holds."""
    rates, lots = knobs(model), draws(model, seed, who.role, who.carried, task)
    return (
        lots[0] < rates.task and not who.knows(mark),
        lots[1] < misread(rates, who.role, who.word, others),
        lots[2] < rates.slip,
    )


# Writing --------------------------------------------------------------------------------------------------------------

LESSONS = {  # mark of a game's lesson -> ways to put it; kitchens have one an order
    "{task}": (
        "{task}: fetch, prepare and hand over in the order of the recipe, each thing once; nothing is wasted then.",
        "For {task} nothing is lost when each thing is fetched, prepared and passed on once, as the recipe has it.",
        "When {task} was ordered: one trip for each thing, along the recipe, and no move was in vain.",
    ),
    "target cell": (
        "Each target cell belongs to one member: go there, fell all of it, then go to your next one.",
        "Share the targets out first; a target cell is felled by one member alone, all trees at once.",
        "One member for a target cell, all its trees in one go, then on to the next.",
    ),
    "option": (
        "Strike out each option that the text rules out, word by word; the one that is left is the answer.",
        "Read the rules word by word and drop every option that breaks one; what remains is right.",
        "An option that breaks a single rule of the text is out; answer with the one that survives.",
    ),
}
PARTNERS = (
    'My teammates and I say "{word}" when something is ready for the other; they act on it at once.',
    'In this team "{word}" means: it is ready, go ahead. The others expect to hear it from me.',
    'With these teammates the word for a hand-over is "{word}"; they wait for it and answer to it.',
)
HEADINGS = ("Notes so far", "What I keep", "Notes")
NUMBER = re.compile(r"^\s*(?:\d+[.)]|-)\s*")


def mark_of(about: str, task: str) -> str:
    """What a lesson for this task holds."""
    if about.startswith(prompt("swap/kitchen_rules")):
        return task
    return "target cell" if about.startswith(prompt("swap/forest_rules")) else "option"


def lesson(mark: str, rng: random.Random) -> str:
    return rng.choice(LESSONS.get(mark, LESSONS["{task}"])).format(task=mark)


def rewrite(who: Mind, user: str, rng: random.Random) -> str:
    """The notebook after an episode: what it held, the lesson of the task, the convention that was used."""
    told = filled("notebook_turn", user)
    if told is None:
        raise ValueError("a simulated member is asked for a notebook and not told of an episode")
    old = "" if told["notebook"] == "(empty)" else told["notebook"]
    lines = [NUMBER.sub("", line) for line in old.splitlines() if line.strip()] or [rng.choice(HEADINGS)]
    mark = mark_of(who.about, told["task"])
    if not any(mark in line for line in lines if not WORD.search(line)):
        lines.append(lesson(mark, rng))
    others = [line for line in told["record"].splitlines() if WORD.search(line) and not NEW.search(line)]
    own = next((found[1] for line in lines if (found := WORD.search(line))), "")
    by_leader = [line for line in others if re.search(rf"\b(?:{'|'.join(LEADERS)})\b|I said:", line)]
    heard = next((found[1] for line in (by_leader or others) if (found := WORD.search(line))), "")
    further = r"(?:\n    .*)*?"  # a message may have several lines
    joined = re.search(rf"\b(?:{who.role}|I) said:.*{further}(?:{NEW.pattern})", told["record"])
    if heard and (not own or (joined and heard != own)):
        lines = [line for line in lines if not WORD.search(line)]
        lines.append(rng.choice(PARTNERS).format(word=heard))
    return "\n".join([lines[0], *(f"{number}. {line}" for number, line in enumerate(lines[1:], 1))])


def label(line: str) -> str:
    """What a line of a notebook is about."""
    if WORD.search(line):
        return "PARTNER"
    return "TASK" if any(mark in line for mark in (*ORDERS, "target cell", "option")) else "DROP"


def labelled(user: str, rng: random.Random) -> str:
    """Labels of the lines that a labeller is shown."""
    start = user.find("{")
    try:
        lines: Mapping[str, str] = json.JSONDecoder().raw_decode(user, max(start, 0))[0]
        told = json.dumps({name: label(line) for name, line in lines.items()})
    except (ValueError, AttributeError, TypeError):
        raise ValueError("a simulated labeller is shown no lines") from None
    return told if rng.random() < 0.5 else f"```json\n{told}\n```"


def reworded(notebook: str, rng: random.Random) -> str:
    """A notebook in other words."""
    lines = []
    for line in notebook.splitlines():
        number, text = NUMBER.match(line), NUMBER.sub("", line)
        before = number[0] if number else ""
        marks = [mark for mark in (*ORDERS, "target cell", "option") if mark in text]
        if found := WORD.search(text):
            text = rng.choice([p for p in PARTNERS if p.format(word=found[1]) != text]).format(word=found[1])
        elif marks:
            mark = max(marks, key=len)
            kept = [t.format(task=mark) for t in LESSONS.get(mark, LESSONS["{task}"])]
            text = rng.choice([t for t in kept if t != text])
        lines.append(before + text)
    return "\n".join(lines)


def reply(model: str, messages: list[dict[str, str]], seed: int = 0) -> str:
    """The next message of `model` in the chat `messages`; `seed` tells samples of equal requests apart.

    Raises:
        ValueError: no such model, or the chat is not about a team of the swap study.
    """
    from collabtax.sim import mate_moves

    knobs(model)  # raises for a model that is not there
    system = messages[0]["content"] if messages and messages[0]["role"] == "system" else ""
    user = next((m["content"] for m in reversed(messages) if m["role"] == "user"), "")
    rng = seeded("voice", model, seed, system, user)
    if system == prompt("swap/label_system"):
        return labelled(user, rng)
    if filled("paraphrase_system", system) is not None:
        return reworded(user, rng)
    who = mind(system)
    if who.kind == "notebook":
        return rewrite(who, user, rng)
    return mate_moves.move(model, seed, who, user, rng)
