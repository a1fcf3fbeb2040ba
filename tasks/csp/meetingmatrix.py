"""meetingmatrix: meetings onto days and into rooms under rules of which each agent knows half (paper, table 8)."""

from __future__ import annotations

import random
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import product

from tasks import drawing, lines, search
from tasks.answers import Constraint, ConstraintsKey, TableForm
from tasks.base import Task, register
from tasks.frames import Frame
from tasks.names import TREES, WEEKDAYS

PROMPT = """\
Give every meeting a day and a room. Two meetings may share a day or a room, but never both. All rules have to be kept;
any plan that keeps them is right. Give every meeting a line of its own with its name, the weekday and the room, each
by its proper name, for example `picnic: Sunday, Ash`."""

SIZES = {"easy": (4, 3, 2, 1), "default": (5, 4, 3, 2), "hard": (7, 5, 4, 4)}  # meetings, days, rooms, rules of a kind
MEETINGS = (
    "budget", "hiring", "safety", "travel", "garden", "catering", "website", "library", "parking", "rehearsal",
    "contract", "festival",
)  # fmt: skip

WORDINGS = {
    "earlier": ("The {0} meeting is on an earlier day than the {1} meeting.",),
    "eve": ("The {0} meeting is on the day right before the {1} meeting.",),
    "day": ("The {0} meeting can only be on {1}.",),
    "room": ("The {0} meeting fits into {1} only.",),
}
WORD = r"(?:(?:day|room) \d\d?|\w+)"

Rule = tuple[str, str, str]


@dataclass(frozen=True)
class Matrix:
    """`rules`, sorted: (a kind of `WORDINGS`, meeting, meeting or day or room). Days as in the week, others by name."""

    meetings: tuple[str, ...]
    days: tuple[str, ...]
    rooms: tuple[str, ...]
    rules: tuple[Rule, ...]


def is_kept(rule: Rule, plan: Mapping[str, str]) -> bool:
    """Whether a plan, which gives `budget day` a day and so on, keeps a rule, or may keep it when it is complete."""
    kind, meeting, other = rule
    if kind in ("day", "room"):
        return plan.get(f"{meeting} {kind}", other) == other
    a, b = (plan.get(f"{name} day") for name in (meeting, other))
    if a is None or b is None:
        return True
    days = WEEKDAYS.index(b) - WEEKDAYS.index(a)
    return days == 1 if kind == "eve" else days > 0


def is_apart(meetings: Sequence[str], plan: Mapping[str, str]) -> bool:
    """Whether no two meetings share both day and room."""
    spots = [(plan.get(f"{m} day"), plan.get(f"{m} room")) for m in meetings]
    known = [spot for spot in spots if None not in spot]
    return len(set(known)) == len(known)


def others(rule: Rule, view: Matrix) -> list[Rule]:
    """Rules of the same kind, about the same meeting, that contradict a rule."""
    kind, a, b = rule
    names = {"day": view.days, "room": view.rooms}.get(kind)
    return [(kind, a, name) for name in names if name != b] if names else [(kind, b, a)]


@register
class MeetingMatrix(Task[Matrix]):
    """That no two meetings share day and room is one constraint. In a strong frame days and rooms have numbers."""

    name, family, version, rule, prompt = "meetingmatrix", "csp", 1, "constraints", PROMPT

    def sample(self, rng: random.Random, difficulty: str) -> Matrix | None:
        count, wide, high, each = SIZES[difficulty]
        meetings, rooms = sorted(rng.sample(MEETINGS, count)), sorted(rng.sample(TREES, high))
        begin = rng.randrange(len(WEEKDAYS) - wide + 1)
        days = WEEKDAYS[begin : begin + wide]
        plan: dict[str, str] = {}
        for meeting, (day, room) in zip(meetings, rng.sample(list(product(days, rooms)), count), strict=True):
            plan |= {f"{meeting} day": day, f"{meeting} room": room}
        rules: list[Rule] = []
        for kind in WORDINGS:
            pairs = [(a, b) for a in meetings for b in {"day": days, "room": rooms}.get(kind, meetings) if a != b]
            kept = [(kind, a, b) for a, b in pairs if is_kept((kind, a, b), plan) and ("earlier", a, b) not in rules]
            if len(kept) < each:
                return None
            rules += rng.sample(kept, each)
        return Matrix(tuple(meetings), days, tuple(rooms), tuple(sorted(rules)))

    def split(self, instance: Matrix, rng: random.Random) -> tuple[Matrix, ...]:
        """Half of the rules of each kind."""
        order = sorted(rng.sample(instance.rules, len(instance.rules)), key=lambda rule: rule[0])
        return tuple(replace(instance, rules=tuple(sorted(half))) for half in (order[::2], order[1::2]))

    def merge(self, views: Sequence[Matrix]) -> Matrix:
        """Rules that cannot all be kept are no contradiction here: only a plan shows that."""
        if len({replace(v, rules=()) for v in views}) > 1:
            raise ValueError("the meetings, days or rooms differ")
        return replace(views[0], rules=tuple(sorted({rule for v in views for rule in v.rules})))

    def render(self, view: Matrix, frame: Frame) -> str:
        days = lines.numbered(view.days, "day", frame.variant % 4)
        rooms = lines.numbered(view.rooms, "room", frame.variant // 4)
        told = ["Days and rooms are called as in these lists."] if frame.friction != "natural" else []
        told += [lines.listing("Meetings", lines.numbered(view.meetings))]
        told += [lines.listing("Days", days), lines.listing("Rooms", rooms)]
        called = days | rooms
        return "\n".join(told + [WORDINGS[kind][0].format(a, called.get(b, b)) for kind, a, b in view.rules])

    def parse(self, text: str) -> Matrix:
        pools = {"Meetings": MEETINGS, "Days": WEEKDAYS, "Rooms": TREES}
        meetings, days, rooms = (lines.listed(text, title, pool) for title, pool in pools.items())
        if not (meetings and days and rooms):
            raise ValueError("no meetings, days or rooms in the text")
        second = {"day": days, "room": rooms}
        rules = {(kind, meetings[a], second.get(kind, meetings)[b]) for kind, a, b in lines.read(text, WORDINGS, WORD)}
        return Matrix(meetings.all(), days.all(), rooms.all(), tuple(sorted(rules)))

    def solve(self, view: Matrix) -> dict[str, str] | None:
        key = self.key(view)
        return search.first(key.options, key.constraints)

    def key(self, instance: Matrix) -> ConstraintsKey:
        form = self.form(instance)
        options = {form.cell(m, column): names for column, names in form.columns.items() for m in form.rows}
        apart = partial(is_apart, form.rows)
        constraints = [Constraint(tuple(options), apart, "no two meetings share a day and a room")]
        for rule in instance.rules:
            kind, a, b = rule
            needs = (f"{a} {kind}",) if kind in form.columns else (f"{a} day", f"{b} day")
            constraints.append(Constraint(needs, partial(is_kept, rule), WORDINGS[kind][0].format(a, b)))
        return ConstraintsKey(options, tuple(constraints))

    def form(self, view: Matrix) -> TableForm:
        return TableForm(view.meetings, {"day": view.days, "room": view.rooms})

    def rivals(self, instance: Matrix, view: Matrix) -> Iterator[Matrix]:
        """An unseen rule told otherwise, so that our plan breaks it."""
        for rule in (rule for rule in instance.rules if rule not in view.rules):
            for other in others(rule, instance):
                rival = replace(instance, rules=tuple(sorted({*instance.rules, other} - {rule})))
                plan = self.solve(rival) or {}
                if len(rival.rules) == len(instance.rules) and all(c.holds(plan) for c in self.key(rival).constraints):
                    yield rival

    def corrupt(self, view: Matrix, rng: random.Random) -> Matrix:
        lost = rng.choice(view.rules)
        told = rng.choice([rule for rule in others(lost, view) if rule not in view.rules])
        return replace(view, rules=tuple(sorted({*view.rules, told} - {lost})))

    def draw(self, instance: Matrix, answer: object, where: object) -> str:
        given, best = answer if type(answer) is dict else {}, self.solve(instance) or {}
        said = {cell: " ".join(drawing.plain(given.get(cell)).split()).title() for cell in best}
        parts = [drawing.text(129 + 110 * column, 18, day) for column, day in enumerate(instance.days)]
        parts += [drawing.text(66, 54 + 56 * row, room, "", "end") for row, room in enumerate(instance.rooms)]
        for (column, day), (row, room) in product(enumerate(instance.days), enumerate(instance.rooms)):
            x, y = 129 + 110 * column, 44 + 56 * row
            parts.append(drawing.rect(x - 53, y - 18, 106, 52, "free"))
            here, right = (
                [m for m in instance.meetings if (plan[f"{m} day"], plan[f"{m} room"]) == (day, room)]
                for plan in (said, best)
            )
            notes = [(m, "wrong" if len(here) > 1 else "") for m in here]
            notes += [(f"({m})", "right") for m in right if m not in here]
            parts += [drawing.text(x, y + 14 * i, note, css) for i, (note, css) in enumerate(notes)]
        told = [(f"constraint {i}", c.told) for i, c in enumerate(self.key(instance).constraints, 1)]
        below = [*drawing.verdicts(where, told), ("in round brackets: one right plan, where it differs", "")]
        top = 34 + 56 * len(instance.rooms)
        parts += drawing.notes(top, below)
        width, height = max(600, 80 + 110 * len(instance.days)), top + 16 + 20 * len(below)
        return drawing.svg(width, height, parts, "the plan as answered")
