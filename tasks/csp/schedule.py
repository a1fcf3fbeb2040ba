"""schedule: events for people in several time zones, half of the calendars known to each agent (paper, appendix F)."""

from __future__ import annotations

import random
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import combinations

from tasks import drawing
from tasks.answers import ChoiceKey, SlotForm
from tasks.base import Task, register
from tasks.frames import Frame
from tasks.names import NAMES

PROMPT = """\
Place every event at a time at which everybody it needs is free. Each event lasts one hour and starts on the full hour;
events do not compete with each other. Give every event a line of its own with its name and the time at which it
starts, in UTC on the 24-hour clock, for example `picnic: 07:00`."""

SIZES = {"easy": (4, 2, 4), "default": (6, 4, 6), "hard": (10, 7, 6)}  # people, events, free hours (at least)
HOURS = range(8, 20)  # starts that are considered, in UTC
EVENTS = ("review", "standup", "demo", "retro", "planning", "handover", "training", "interview", "workshop", "briefing")
LEAST = 3  # starts that each half of the calendars leaves open for an event


Person = tuple[str, int, tuple[int, ...]]


@dataclass(frozen=True)
class Calendar:
    """`people`: (name, home clock minus UTC in hours, free hours as starts in UTC), by name; `events`: (event, whom it
    needs)."""

    people: tuple[Person, ...]
    events: tuple[tuple[str, tuple[str, ...]], ...]


def feasible(people: Sequence[Person], needed: Sequence[str]) -> list[int]:
    """Starts at which all of `needed` whose calendar is known are free."""
    hours = set(HOURS)
    for name, _, free in people:
        if name in needed:
            hours &= set(free)
    return sorted(hours)


def crosses(half: Sequence[Person], people: Sequence[Person], needed: Sequence[str]) -> bool:
    """Whether an event needs people of `half` and of the rest, and either side alone leaves `LEAST` starts open."""
    sides = half, [p for p in people if p not in half]
    return all(any(p[0] in needed for p in side) and len(feasible(side, needed)) >= LEAST for side in sides)


def clock(hour: int) -> str:
    return f"{hour:02d}:00"


def half_day_clock(hour: int) -> str:
    return f"{(hour - 1) % 12 + 1} {'am' if hour % 24 < 12 else 'pm'}"


def read_clock(text: str) -> int:
    """Inverse of both clocks."""
    told = re.fullmatch(r"(\d\d?)(?::00)?(?: ([ap]m))?", text)
    if told is None:
        raise ValueError(f"{text!r} is no full hour")
    return int(told[1]) if told[2] is None else int(told[1]) % 12 + 12 * (told[2] == "pm")


PERSON = re.compile(r"(\w+) \(home clock UTC([+-]\d\d?)\): free ([\d:, apm-]+) (home time|office time|UTC)\b")
EVENT = re.compile(rf"\b({'|'.join(EVENTS)}) needs ((?:{'|'.join(NAMES)})(?:, (?:{'|'.join(NAMES)}))*)\b")
OFFICE = re.compile(r"Office time is UTC([+-]\d\d?)\.")


@register
class Schedule(Task[Calendar]):
    name, family, version, rule, prompt = "schedule", "csp", 1, "choices", PROMPT

    def sample(self, rng: random.Random, difficulty: str) -> Calendar | None:
        size, wanted, hours = SIZES[difficulty]
        people = []
        for name in sorted(rng.sample(NAMES, size)):
            free: set[int] = set()
            while len(free) < hours:
                start = rng.choice(HOURS)
                free |= set(range(start, min(start + rng.choice((1, 2, 3)), HOURS.stop)))
            people.append((name, rng.randrange(-5, 5), tuple(sorted(free))))
        half = rng.sample(people, size // 2)
        fit: dict[int, list[tuple[str, ...]]] = {}  # the one feasible start -> who could need it
        for needed in combinations(people, 2 if size < 6 else 3):
            names = tuple(p[0] for p in needed)
            if crosses(half, people, names) and len(starts := feasible(people, names)) == 1:
                fit.setdefault(starts[0], []).append(names)
        if len(fit) < wanted:
            return None
        events = rng.sample(EVENTS, wanted)
        needs = [rng.choice(fit[start]) for start in rng.sample(sorted(fit), wanted)]  # no start serves two events
        return Calendar(tuple(people), tuple(zip(events, needs, strict=True)))

    def split(self, instance: Calendar, rng: random.Random) -> tuple[Calendar, ...]:
        """Half of the calendars each, so that every event needs both halves and neither half pins it down."""
        halves = list(combinations(instance.people, len(instance.people) // 2))
        rng.shuffle(halves)
        fits = (h for h in halves if all(crosses(h, instance.people, needed) for _, needed in instance.events))
        first = next(fits, halves[0])
        rest = tuple(p for p in instance.people if p not in first)
        return replace(instance, people=first), replace(instance, people=rest)

    def merge(self, views: Sequence[Calendar]) -> Calendar:
        people: dict[str, Person] = {}
        for person in (p for v in views for p in v.people):
            if people.setdefault(person[0], person) != person:
                raise ValueError(f"the calendar of {person[0]} is told in two ways")
        told = [v.events for v in views if v.events]
        if len(set(told)) > 1:
            raise ValueError("the events differ")
        return Calendar(tuple(sorted(people.values())), told[0] if told else ())

    def render(self, view: Calendar, frame: Frame) -> str:
        shift = frame.variant % 12 - 7  # keeps every told hour between 01:00 and 24:00
        write = half_day_clock if frame.variant >= 12 else clock
        told = [f"Office time is UTC{shift:+d}."] if frame.friction == "strong" else []
        for name, offset, free in view.people:
            zones = {"none": ("UTC", 0), "natural": ("home time", offset), "strong": ("office time", shift)}
            zone, base = zones[frame.friction]
            starts, ends = [h for h in free if h - 1 not in free], [h + 1 for h in free if h + 1 not in free]
            windows = ", ".join(f"{write(s + base)}-{write(e + base)}" for s, e in zip(starts, ends, strict=True))
            told.append(f"{name} (home clock UTC{offset:+d}): free {windows} {zone}")
        return "\n".join(told + [f"{event} needs {', '.join(needed)}" for event, needed in view.events])

    def parse(self, text: str) -> Calendar:
        people, office = [], OFFICE.search(text)
        for name, offset, windows, zone in PERSON.findall(text):
            if zone == "office time" and office is None:
                raise ValueError("office time is used but not explained")
            base = int(offset) if zone == "home time" else int(office[1]) if zone == "office time" and office else 0
            free: list[int] = []
            for start, _, end in (window.partition("-") for window in windows.split(", ")):
                free += range(read_clock(start) - base, (read_clock(end) or 24) - base)
            people.append((name, int(offset), tuple(free)))
        if not people:
            raise ValueError("no calendar in the text")
        events = dict.fromkeys((event, tuple(names.split(", "))) for event, names in EVENT.findall(text))
        return Calendar(tuple(sorted(dict.fromkeys(people))), tuple(events))

    def solve(self, view: Calendar) -> dict[str, str] | None:
        """The earliest start that the known calendars allow; an event that they rule out is guessed to be the first."""
        hours = {event: feasible(view.people, needed) or HOURS for event, needed in view.events}
        return {event: clock(h[0]) for event, h in hours.items()} or None

    def key(self, instance: Calendar) -> ChoiceKey:
        return ChoiceKey({e: frozenset(map(clock, feasible(instance.people, needed))) for e, needed in instance.events})

    def form(self, view: Calendar) -> SlotForm:
        return SlotForm(tuple(event for event, _ in view.events))

    def rivals(self, instance: Calendar, view: Calendar) -> Iterator[Calendar]:
        """The same day with two hours exchanged in every calendar that the view does not hold."""
        ours = [feasible(instance.people, needed)[0] for _, needed in instance.events]
        for a, b in combinations(HOURS, 2):
            swap = {a: b, b: a}
            people = [
                (name, offset, tuple(sorted(swap.get(h, h) for h in free)))
                for name, offset, free in instance.people
                if (name, offset, free) not in view.people
            ]
            rival = replace(instance, people=tuple(sorted((*people, *view.people))))
            starts = [feasible(rival.people, needed) for _, needed in instance.events]
            if all(starts) and any(hour not in hours for hour, hours in zip(ours, starts, strict=True)):
                yield rival

    def corrupt(self, view: Calendar, rng: random.Random) -> Calendar:
        person = name, offset, free = view.people[rng.randrange(len(view.people))]
        lost, gained = rng.choice(free), rng.choice([h for h in HOURS if h not in free])
        lie = (name, offset, tuple(sorted({*free, gained} - {lost})))
        return replace(view, people=tuple(lie if p == person else p for p in view.people))

    def draw(self, instance: Calendar, answer: object, where: object) -> str:
        given = answer if isinstance(answer, dict) else {}
        parts = [drawing.text(110 + 34 * i, 14, clock(h)[:2]) for i, h in enumerate(HOURS)]
        for row, (name, offset, free) in enumerate(instance.people):
            parts.append(drawing.text(88, 36 + 24 * row, f"{name} {offset:+d}", "", "end"))
            for i, hour in enumerate(HOURS):
                parts.append(drawing.rect(94 + 34 * i, 22 + 24 * row, 32, 20, "free" if hour in free else "wall"))
        top = 40 + 24 * len(instance.people)
        said = []
        for event, needed in instance.events:
            able = ", ".join(map(clock, feasible(instance.people, needed)))
            told = f"feasible {able}; answered {drawing.plain(given.get(event, 'nothing'))}"
            said.append((event, f"{event} needs {', '.join(needed)}; {told}"))
        parts += drawing.notes(top - 18, drawing.verdicts(where, said))
        return drawing.svg(520, top + 20 * len(said), parts, "the day in UTC: who is free when")
