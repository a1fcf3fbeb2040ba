"""meetingmatrix: meetings onto days and into rooms under rules of which each agent knows half (paper, table 8)."""

from __future__ import annotations

import random
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

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
    "default": {"earlier": 1, "eve": 2, "together": 1, "apart": 1, "from": 1, "until": 1, "room": 3},
    "hard": {"earlier": 2, "eve": 3, "together": 1, "apart": 2, "from": 2, "until": 1, "room": 5},
}
TRIES = 10_000  # places looked at before the search for a plan lets one more rule be broken

Rule = tuple[str, str, str]
Plan = dict[str, tuple[str, str]]  # meeting -> day, room


@dataclass(frozen=True)
class Matrix:
    """`rules`: (kind, meeting, what its wording names second), sorted; names in the order of the calendar or sorted."""

    meetings: tuple[str, ...]
    days: tuple[str, ...]
    rooms: tuple[str, ...]
    rules: tuple[Rule, ...]


DAY = {day: at for at, day in enumerate(WEEKDAYS)}
OF_PAIRS: dict[str, Callable[[int, int], bool]] = {  # of the days of two meetings
    "earlier": lambda a, b: a < b,
    "eve": lambda a, b: a + 1 == b,
    "together": lambda a, b: a == b,
    "apart": lambda a, b: a != b,
}
ALIKE = ("together", "apart")  # kinds that say the same of both meetings


def holds(rule: Rule, plan: Mapping[str, tuple[str, str]]) -> bool:
    """Whether a plan that holds the meetings of a rule keeps it."""
    kind, meeting, other = rule
    day, room = plan[meeting]
    if kind in OF_PAIRS:
        return OF_PAIRS[kind](DAY[day], DAY[plan[other][0]])
    if kind == "room":
        return room == other
    return DAY[day] >= DAY[other] if kind == "from" else DAY[day] <= DAY[other]


def named(rule: Rule) -> tuple[str, ...]:
    """The meetings of a rule."""
    return rule[1:] if rule[0] in OF_PAIRS else rule[1:2]


def planned(view: Matrix, most: int) -> Plan:
    """The first plan that breaks the fewest rules, at most `most` of them; empty if none is found within `TRIES`."""
    plan: Plan = {}
    order = sorted(view.meetings, key=lambda m: -sum(m in named(rule) for rule in view.rules))
    settled = [set(order[: at + 1]) for at in range(len(order))]
    rules = [
        [r for r in view.rules if m in named(r) and settled[at].issuperset(named(r))] for at, m in enumerate(order)
    ]
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
            left = faults
            for rule in rules[at]:
                left -= not holds(rule, plan)
                if left < 0:
                    break
            if left >= 0 and place(at + 1, left):
                return True
            del plan[order[at]]
        return False

    for faults in range(most + 1):
        tries = TRIES
        if place(0, faults):
            break
    return {m: plan[m] for m in view.meetings if m in plan}


def ordered(kind: str, a: str, b: str) -> Rule:
    """A rule; the meetings of one that says the same of both are sorted."""
    return (kind, min(a, b), max(a, b)) if kind in ALIKE else (kind, a, b)


def told(rule: Rule) -> str:
    """A rule in plain words."""
    return WORDINGS[rule[0]].format(a=rule[1], b=rule[2])[:-1]


def contraries(rule: Rule, view: Matrix) -> list[Rule]:
    """Rules about the same meeting or meetings that cannot hold where this one holds."""
    kind, a, b = rule
    if kind == "room":
        return [(kind, a, room) for room in view.rooms if room != b]
    if kind == "from":
        return [("until", a, day) for day in view.days if DAY[day] < DAY[b]]
    if kind == "until":
        return [("from", a, day) for day in view.days if DAY[day] > DAY[b]]
    return [({"together": "apart", "apart": "together"}[kind], a, b) if kind in ALIKE else (kind, b, a)]


WORDINGS = {
    "earlier": "The {a} meeting is on an earlier day than the {b} meeting.",
    "eve": "The {a} meeting is on the day right before the {b} meeting.",
    "together": "The {a} meeting and the {b} meeting share a guest who comes on one day only.",
    "apart": "The {a} meeting and the {b} meeting have the same speaker, who can speak only once a day.",
    "from": "The {a} meeting cannot be earlier than {b}.",
    "until": "The {a} meeting cannot be later than {b}.",
    "room": "The {a} meeting fits into {b} only.",
}
MEETINGS_TOLD = re.compile(r"\bMeetings: ([a-z]+(?:, [a-z]+)*)\.")
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
    """Mostly rules that a random plan breaks, so that guessing earns little. That no two meetings share day and room
    counts as one constraint."""

    name, family, version, rule, prompt = "meetingmatrix", "csp", 1, "constraints", PROMPT

    def sample(self, rng: random.Random, difficulty: str) -> Matrix | None:
        count, wide, high = SIZES[difficulty]
        meetings, rooms = sorted(rng.sample(MEETINGS, count)), sorted(rng.sample(TREES, high))
        begin = rng.randrange(len(WEEKDAYS) - wide + 1)
        days = WEEKDAYS[begin : begin + wide]
        spots = rng.sample([(day, room) for day in days for room in rooms], count)
        plan = dict(zip(meetings, spots, strict=True))
        rules: list[Rule] = []
        for kind in (kind for kind, wanted in MIX[difficulty].items() for _ in range(wanted)):
            others = {"from": days[1:], "until": days[:-1], "room": rooms}.get(kind, meetings)
            bound = [frozenset(named(rule)) for rule in rules if rule[0] in OF_PAIRS]
            fit = [ordered(kind, a, b) for a in meetings for b in others if a != b and frozenset((a, b)) not in bound]
            fit = [rule for rule in fit if rule not in rules and holds(rule, plan)]
            if not fit:
                return None
            rules.append(rng.choice(fit))
        found = Matrix(tuple(meetings), days, tuple(rooms), tuple(sorted(rules)))
        return found if planned(found, 0) else None

    def split(self, instance: Matrix, rng: random.Random) -> tuple[Matrix, ...]:
        """Every other rule of each kind."""
        kinds = rng.sample(list(WORDINGS), len(WORDINGS))
        order = sorted(rng.sample(instance.rules, len(instance.rules)), key=lambda rule: kinds.index(rule[0]))
        return tuple(replace(instance, rules=tuple(sorted(half))) for half in (order[::2], order[1::2]))

    def merge(self, views: Sequence[Matrix]) -> Matrix:
        """Rules that cannot all be kept are no contradiction here: only a plan shows that."""
        if any(replace(v, rules=()) != replace(views[0], rules=()) for v in views):
            raise ValueError("the meetings, days or rooms differ")
        return replace(views[0], rules=tuple(sorted({rule for v in views for rule in v.rules})))

    def render(self, view: Matrix, frame: Frame) -> str:
        days = labels(view.days, frame.variant % 4, "day", "0")
        rooms = labels(view.rooms, frame.variant // 4, "room", "A")
        lines = [PLAIN] * (frame.friction == "none") + [f"Meetings: {', '.join(view.meetings)}."]
        for title, names in (("Days", days), ("Rooms", rooms)):
            lines.append(f"{title}: {', '.join(n if n == sign else f'{sign} is {n}' for n, sign in names.items())}.")
        called = days | rooms
        return "\n".join(lines + [WORDINGS[kind].format(a=a, b=called.get(b, b)) for kind, a, b in view.rules])

    def parse(self, text: str) -> Matrix:
        listed = MEETINGS_TOLD.search(text)
        days, rooms = roster(text, "Days", WEEKDAYS), roster(text, "Rooms", TREES)
        meetings = tuple(dict.fromkeys(listed[1].split(", "))) if listed else ()
        found = {ordered(k, a, b) for k, pattern in RULES.items() for a, b in pattern.findall(text)}
        called = days | rooms
        rules = tuple(sorted((k, a, b if k in OF_PAIRS else called.get(b, b)) for k, a, b in found))
        view = Matrix(meetings, tuple(dict.fromkeys(days.values())), tuple(dict.fromkeys(rooms.values())), rules)
        for kind, a, b in rules:
            known = {"from": view.days, "until": view.days, "room": view.rooms}.get(kind, meetings)
            if a == b or a not in meetings or b not in known:
                raise ValueError(f"a rule is about {a} and {b}, which are not both listed")
        if not meetings or set(meetings) - set(MEETINGS):
            raise ValueError("no meetings, or unknown ones")
        return view

    def solve(self, view: Matrix) -> dict[str, str] | None:
        cell = self.form(view).cell
        answer: dict[str, str] = {}
        for meeting, (day, room) in planned(view, len(view.rules)).items():
            answer |= {cell(meeting, "day"): day, cell(meeting, "room"): room}
        return answer or None

    def key(self, instance: Matrix) -> ConstraintsKey:
        form = self.form(instance)

        def read(given: Mapping[str, str], meetings: Sequence[str]) -> dict[str, tuple[str, str]]:
            return {m: (given[form.cell(m, "day")], given[form.cell(m, "room")]) for m in meetings}

        def kept(rule: Rule) -> Callable[[Mapping[str, str]], bool]:
            return lambda given: holds(rule, read(given, named(rule)))

        def needs(meetings: Sequence[str]) -> tuple[str, ...]:
            return tuple(form.cell(m, column) for m in meetings for column in form.columns)

        constraints = [Constraint(needs(named(rule)), kept(rule), told(rule)) for rule in instance.rules]

        def alone(given: Mapping[str, str]) -> bool:
            return len(set(read(given, instance.meetings).values())) == len(instance.meetings)

        constraints.append(Constraint(needs(instance.meetings), alone, "no two meetings share a day and a room"))
        options = {form.cell(m, c): names for m in instance.meetings for c, names in form.columns.items()}
        return ConstraintsKey(options, tuple(constraints))

    def form(self, view: Matrix) -> TableForm:
        return TableForm(view.meetings, {"day": view.days, "room": view.rooms})

    def rivals(self, instance: Matrix, view: Matrix) -> Iterator[Matrix]:
        """The same rules but for an unseen one that our plan breaks now."""
        ours = planned(instance, 0)
        for rule in (rule for rule in instance.rules if rule not in view.rules):
            rules = [r for r in instance.rules if r != rule]
            for other in contraries(rule, instance):
                rival = replace(instance, rules=tuple(sorted([*rules, other])))
                if other not in rules and not holds(other, ours) and planned(rival, 0):
                    yield rival

    def corrupt(self, view: Matrix, rng: random.Random) -> Matrix:
        lost = rng.choice(view.rules)
        told_as = rng.choice([rule for rule in contraries(lost, view) if rule not in view.rules])
        return replace(view, rules=tuple(sorted({*view.rules, told_as} - {lost})))

    def draw(self, instance: Matrix, answer: object, where: object) -> str:
        given = answer if type(answer) is dict else {}
        cell, best, parts = self.form(instance).cell, planned(instance, 0), []
        said = {}
        for meeting in instance.meetings:
            spot = (given.get(cell(meeting, "day")), given.get(cell(meeting, "room")))
            said[meeting] = tuple(" ".join(s.split()).title() if type(s) is str else "" for s in spot)
        for column, day in enumerate(instance.days):
            parts.append(drawing.text(130 + 110 * column, 18, day))
        for row, room in enumerate(instance.rooms):
            parts.append(drawing.text(66, 54 + 56 * row, room, "", "end"))
            for column, day in enumerate(instance.days):
                x, y = 129 + 110 * column, 44 + 56 * row
                parts.append(drawing.rect(x - 53, y - 18, 106, 52, "free"))
                here = [m for m in instance.meetings if said[m] == (day, room)]
                notes = [(m, "wrong" if len(here) > 1 else "") for m in here]
                notes += [(f"({m})", "right") for m in instance.meetings if best[m] == (day, room) != said[m]]
                parts += [drawing.text(x, y + 14 * i, note, css) for i, (note, css) in enumerate(notes)]
        told_rules = [(f"constraint {i}", c.told) for i, c in enumerate(self.key(instance).constraints, 1)]
        lines = drawing.verdicts(where, told_rules)
        lines.append(("in round brackets: one right plan, where it differs", ""))
        top = 34 + 56 * len(instance.rooms)
        width = max(780, 80 + 110 * len(instance.days))
        parts += drawing.notes(top, lines)
        return drawing.svg(width, top + 16 + 20 * len(lines), parts, "the plan as it was answered")
