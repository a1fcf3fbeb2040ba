"""meetingmatrix: meetings onto days and into rooms under rules of which each agent knows half (paper, table 8)."""

from __future__ import annotations

import random
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations, pairwise

from tasks import drawing
from tasks.answers import Constraint, ConstraintsKey, TableForm
from tasks.base import Task, register
from tasks.frames import Frame
from tasks.names import TREES, WEEKDAYS

PROMPT = """\
Give every meeting a day and a room. Two meetings may share a day or a room, but never both. All rules have to be kept;
any plan that keeps them is right. Give every meeting a line of its own with its name, the weekday and the room, each
by its proper name, for example `picnic: Sunday, Ash`."""

SIZES = {"easy": (4, 3, 2), "default": (5, 4, 3), "hard": (7, 5, 4)}  # meetings, days, rooms
MEETINGS = (
    "budget", "hiring", "safety", "travel", "garden", "catering", "website", "library", "parking", "rehearsal",
    "contract", "festival",
)  # fmt: skip
MIX = {  # how many rules of each kind
    "easy": {"earlier": 1, "eve": 1, "together": 1, "apart": 1, "from": 1, "until": 1, "room": 2},
    "default": {"earlier": 2, "eve": 1, "together": 1, "apart": 1, "from": 1, "until": 1, "room": 3},
    "hard": {"earlier": 3, "eve": 2, "together": 1, "apart": 2, "from": 2, "until": 1, "room": 5},
}
TRIES = 4_000  # places looked at before the search for a plan lets one more rule be broken

Rule = tuple[str, str, str]
Plan = dict[str, tuple[str, str]]  # meeting -> day, room


@dataclass(frozen=True)
class Matrix:
    """`rules`: (kind, meeting, what its wording names second), sorted; names in the order of the calendar or sorted."""

    meetings: tuple[str, ...]
    days: tuple[str, ...]
    rooms: tuple[str, ...]
    rules: tuple[Rule, ...]


DAY = WEEKDAYS.index
OF_PAIRS: dict[str, Callable[[int, int], bool]] = {  # of the days of two meetings
    "earlier": lambda a, b: a < b,
    "eve": lambda a, b: a + 1 == b,
    "together": lambda a, b: a == b,
    "apart": lambda a, b: a != b,
}


def holds(rule: Rule, plan: Mapping[str, tuple[str, str]]) -> bool:
    """Whether a plan that holds the meetings of a rule keeps it."""
    kind, meeting, other = rule
    day, room = plan[meeting]
    if kind in OF_PAIRS:
        return OF_PAIRS[kind](DAY(day), DAY(plan[other][0]))
    if kind == "room":
        return room == other
    return DAY(day) >= DAY(other) if kind == "from" else DAY(day) <= DAY(other)


def named(rule: Rule) -> tuple[str, ...]:
    """The meetings of a rule."""
    return rule[1:] if rule[0] in OF_PAIRS else rule[1:2]


def planned(view: Matrix) -> Plan:
    """The first plan that keeps all known rules or, where none does or it is not found in time, as many as possible."""
    plan: Plan = {}
    order = sorted(view.meetings, key=lambda m: -sum(m in named(rule) for rule in view.rules))
    rules = [[r for r in view.rules if m in named(r) and set(named(r)) <= set(order[: i + 1])] for i, m in enumerate(order)]
    places = [(day, room) for day in view.days for room in view.rooms]
    tries = 0

    def place(at: int, faults: int) -> bool:
        nonlocal tries
        if at == len(order):
            return True
        taken = set(plan.values())
        for where in places:
            tries -= 1
            if tries < 0 or where in taken:
                continue
            plan[order[at]] = where
            broken = sum(not holds(rule, plan) for rule in rules[at])
            if broken <= faults and place(at + 1, faults - broken):
                return True
            del plan[order[at]]
        return False

    for faults in range(len(view.rules) + 1):
        tries = TRIES
        if place(0, faults):
            break
    return {m: plan[m] for m in view.meetings if m in plan}


def clear(plan: Mapping[str, tuple[str, str]]) -> bool:
    """Whether no two meetings share a day and a room."""
    return len(set(plan.values())) == len(plan)


WORDINGS = {
    "earlier": "The {a} meeting is on an earlier day than the {b} meeting.",
    "eve": "The {a} meeting is on the day right before the {b} meeting.",
    "together": "The {a} meeting and the {b} meeting share a guest who comes on one day only.",
    "apart": "The {a} meeting and the {b} meeting have the same speaker, who can speak once a day.",
    "from": "The {a} meeting cannot be earlier than {b}.",
    "until": "The {a} meeting cannot be later than {b}.",
    "room": "The {a} meeting fits into {b} only.",
}
LABEL = r"((?:day|room) (?:\d\d?|[A-Z])|[A-Z][a-z]+)"
RULES = {
    kind: re.compile(r"\b" + wording[:-1].format(a="([a-z]+)", b="([a-z]+)" if kind in OF_PAIRS else LABEL) + r"\b")
    for kind, wording in WORDINGS.items()
}
ROSTER = r"\b{}: ((?:{})(?:, (?:{}))*)\."
NAMED = rf"{LABEL.replace('(', '(?:', 1)}(?: is [A-Z][a-z]+)?"
PLAIN = "Days and rooms are called by their proper names."


def labels(names: Sequence[str], way: int, word: str, first: str) -> dict[str, str]:
    """What a frame calls days or rooms: by name, in order from `first`, from the one after it, or backwards."""
    signs = [f"{word} {chr(ord(first) + i + (way == 2))}" for i in range(len(names))]
    return dict(zip(names, [names, signs, signs, signs[::-1]][way], strict=True))


def roster(text: str, title: str, known: Sequence[str]) -> dict[str, str]:
    """The names that a telling lists under a title, by what it calls them. Raises ValueError for others than known."""
    found = re.search(ROSTER.format(title, NAMED, NAMED), text)
    told = [entry.rpartition(" is ") for entry in found[1].split(", ")] if found else []
    names = {label or name: name for label, _, name in told}
    if not names or set(names.values()) - set(known):
        raise ValueError(f"no {title.lower()}, or unknown ones")
    return names


@register
class MeetingMatrix(Task[Matrix]):
    """Mostly rules that a random plan breaks, so that guessing earns little. The ban on sharing day and room counts as one
    constraint."""

    name, family, version, rule, prompt = "meetingmatrix", "csp", 1, "constraints", PROMPT

    def sample(self, rng: random.Random, difficulty: str) -> Matrix | None:
        count, wide, high = SIZES[difficulty]
        meetings, rooms = sorted(rng.sample(MEETINGS, count)), sorted(rng.sample(TREES, high))
        begin = rng.randrange(len(WEEKDAYS) - wide + 1)
        days = WEEKDAYS[begin : begin + wide]
        spots = rng.sample([(day, room) for day in days for room in rooms], count)
        plan = dict(zip(meetings, spots, strict=True))
        pairs = rng.sample([p for a, b in combinations(meetings, 2) for p in ((a, b), (b, a))], count * (count - 1))
        rules: list[Rule] = []
        for kind, wanted in MIX[difficulty].items():
            others = pairs if kind in OF_PAIRS else [(m, o) for m in meetings for o in (rooms if kind == "room" else days[1:-1])]
            if kind == "until" and wide == 3 or kind == "from" and wide == 3:
                pass
            used = {frozenset(named(r)) for r in rules if r[0] in OF_PAIRS}
            fit = [(kind, a, b) for a, b in others if frozenset((a, b)) not in used and holds((kind, a, b), plan)]
            if len(fit) < wanted:
                return None
            rules += rng.sample(fit, wanted)
        return Matrix(tuple(meetings), days, tuple(rooms), tuple(sorted(rules)))
