"""eventlog: one night in two logs with different clocks and different names, one for each agent (paper, table 8)."""

from __future__ import annotations

import random
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from tasks import drawing, facts, lines, queries
from tasks.answers import Field, FieldsForm, FieldsKey
from tasks.base import Task, register
from tasks.frames import Frame
from tasks.queries import Query

PROMPT = """\
Two logs, kept by the porter and by the system of a house, tell of one night. Each goes by a clock of its own; both
clocks run equally fast, but one is some fixed number of minutes ahead of the other. A few events are in both logs, by
different names; you are told which. All others are in one log only. Answer the queries about what really went on when.
A query "how many minutes" asks for a number, "which began first" for one event, and "which events" for one event or
several: name them all. Events overlap if they have at least a minute in common. Answer every query on a line of its own
that begins with the query's name, for example `q8: picnic, parade` or `q9: 7`."""

SIZES = {"easy": (3, 1, 2), "default": (5, 2, 4), "hard": (9, 2, 6)}  # events of a log alone, events of both, queries
EVENING, SPAN = 18 * 60, 170  # by the porter's clock all events begin within so many minutes from then on

ALIASES = (  # what the porter calls an event, and what the system calls it
    ("alarm", "siren"), ("argument", "quarrel"), ("backup", "copying"), ("blackout", "outage"),
    ("broadcast", "announcement"), ("cleaning", "scrubbing"), ("concert", "recital"), ("cooling", "venting"),
    ("crash", "collision"), ("delivery", "unpacking"), ("escape", "breakout"), ("evacuation", "clearance"),
    ("fire", "blaze"), ("flooding", "deluge"), ("inspection", "survey"), ("interview", "questioning"),
    ("leak", "seepage"), ("lockdown", "closure"), ("patrol", "rounds"), ("rehearsal", "drill"),
    ("repair", "overhaul"), ("restart", "reboot"), ("search", "sweep"), ("smoke", "fumes"),
)  # fmt: skip
LOGS = ("porter", "system")
NAMES = dict(zip(LOGS, zip(*ALIASES, strict=True), strict=True))

ASKED = {
    "overlap": "{0}: which events of the other log overlap {1}?",
    "first": "{0}: which began first: {1}, {2}, {3} or {4}?",
    "minutes": "{0}: how many minutes passed from the start of {1} to the start of {2}?",
}
WORDINGS = {
    "entry": (
        "{0} log: {1} from {2} to {3}.", "{0} log: from {2} to {3}, {1}.",
        "{0} log: {1} until {3}, from {2}.", "{0} log: until {3}, from {2}, {1}.",
    ),
}  # fmt: skip
SAME = {"same": ("What the porter log calls {0}, the system log calls {1}.",)}
CLOCKS = tuple(f"{unit} {end}" for unit in ("hours and minutes", "minutes")
               for end in ("since the midnight before", "left until the midnight after"))  # fmt: skip
STATED = re.compile(rf"Times are told here in ({'|'.join(CLOCKS)})\.")
EVENTS = tuple(name for pair in ALIASES for name in pair)
WORD = rf"(?:q\d|{'|'.join(LOGS + EVENTS)}|\d\d:\d\d|\d{{1,4}})"

Times = tuple[int, int]
UNKNOWN = (1440, 1440)  # such events are taken to come last and to take no time


@dataclass(frozen=True)
class Logs:
    """`entries`, sorted: (log, event, (start, end)), in minutes since midnight by the clock of the log. `same`, sorted:
    (name of an event in the porter's log, in the system's). `queries`: (name, a kind of `ASKED`, events)."""

    entries: tuple[tuple[str, str, Times], ...]
    same: tuple[tuple[str, str], ...]
    queries: tuple[Query, ...]


def written(time: int, clock: int) -> str:
    """A time by one of the `CLOCKS`."""
    time = 1440 - time if clock % 2 else time
    return str(time) if clock // 2 else f"{time // 60:02d}:{time % 60:02d}"


def minute(told: str, clock: int) -> int:
    """Inverse of `written`. Raises ValueError for what is no time."""
    hours, _, minutes = told.rpartition(":")
    time = 60 * int(hours or 0) + int(minutes)
    return 1440 - time if clock % 2 else time


def times(logs: Logs) -> dict[str, Times]:
    """Starts and ends by the porter's clock; if no event is known from both logs, as if both clocks agreed."""
    told = {event: at for _, event, at in logs.entries}
    ahead = next((told[b][0] - told[a][0] for a, b in logs.same if a in told and b in told), 0)
    shift = {"porter": 0, "system": ahead}
    return {event: (start - shift[log], end - shift[log]) for log, event, (start, end) in logs.entries}


def of_the_other_log(event: str) -> tuple[str, ...]:
    """All names in the log that does not hold an event."""
    return NAMES["porter" if event in NAMES["system"] else "system"]


def answer_to(at: dict[str, Times], query: Query) -> str | int | frozenset[str]:
    _, kind, first, *more = query
    if kind == "overlap":
        start, end = at.get(first, UNKNOWN)
        others = [event for event in at if event in of_the_other_log(first)]
        return frozenset(event for event in others if at[event][0] < end and start < at[event][1])
    if kind == "first":
        return min(first, *more, key=lambda event: at.get(event, UNKNOWN))
    return at.get(more[0], UNKNOWN)[0] - at.get(first, UNKNOWN)[0]


def is_fair(at: dict[str, Times], query: Query) -> bool:
    """Whether a query has one answer, which is neither nothing nor a negative number."""
    _, kind, *about = query
    answer = answer_to(at, query)
    if kind == "first":
        return len({at[event][0] for event in about}) == len(about)
    return answer > 1 if isinstance(answer, int) else bool(answer)


@register
class EventLog(Task[Logs]):
    """Every query takes events from either log and is answered wrongly by whoever takes the two clocks for one. In a
    strong frame times are written after one of four clocks, and entries have one of four wordings."""

    name, family, version, rule, prompt = "eventlog", "csp", 1, "fields", PROMPT

    def sample(self, rng: random.Random, difficulty: str) -> Logs | None:
        alone, both, wanted = SIZES[difficulty]
        ahead = rng.choice((-1, 1)) * rng.randrange(6, 60)
        pairs = rng.sample(ALIASES, both + 2 * alone)
        entries = []
        for number, (ours, theirs) in enumerate(pairs):
            start = EVENING + rng.randrange(SPAN)
            end = start + rng.randrange(8, 45)
            if number < both + alone:
                entries.append(("porter", ours, (start, end)))
            if not both <= number < both + alone:
                entries.append(("system", theirs, (start + ahead, end + ahead)))
        logs = Logs(tuple(sorted(entries)), tuple(sorted(pairs[:both])), ())
        at, astray = times(logs), times(replace(logs, same=()))
        asked: list[Query] = []
        for _ in range(20 * wanted):
            kind = list(ASKED)[len(asked) % len(ASKED)]
            about = [ours for ours, _ in rng.sample(pairs[both : both + alone], 2)]
            about += [theirs for _, theirs in rng.sample(pairs[both + alone :], 2)]
            about = {"overlap": about[1:2], "first": about, "minutes": about[1:3]}[kind]
            query = (f"q{len(asked) + 1}", kind, *rng.sample(about, len(about)))
            is_new = all(set(about) != set(q[2:]) for q in asked)
            if is_new and is_fair(at, query) and answer_to(at, query) != answer_to(astray, query):
                asked.append(query)
            if len(asked) == wanted:
                return replace(logs, queries=tuple(asked))
        return None

    def split(self, instance: Logs, rng: random.Random) -> tuple[Logs, ...]:
        """A log each, and a half of what is known about names."""
        same = rng.sample(instance.same, len(instance.same))
        parts = tuple(sorted(same[::2])), tuple(sorted(same[1::2]))
        logs = (tuple(entry for entry in instance.entries if entry[0] == log) for log in rng.sample(LOGS, 2))
        return tuple(replace(instance, entries=log, same=part) for log, part in zip(logs, parts, strict=True))

    def merge(self, views: Sequence[Logs]) -> Logs:
        same = tuple(sorted({pair for v in views for pair in v.same}))
        return Logs(facts.merged((v.entries for v in views), about=-1), same, queries.same([v.queries for v in views]))

    def render(self, view: Logs, frame: Frame) -> str:
        clock, wording = frame.variant % 4, WORDINGS["entry"][frame.variant // 4]
        told = [f"Times are told here in {CLOCKS[clock]}."] if frame.friction != "natural" else []
        for log, event, (start, end) in sorted(view.entries, key=lambda entry: entry[2]):
            told.append(wording.format(log, event, written(start, clock), written(end, clock)))
        told += [SAME["same"][0].format(*pair) for pair in view.same]
        return "\n".join(told + queries.tell(view.queries, ASKED))

    def parse(self, text: str) -> Logs:
        stated, entries = STATED.search(text), []
        clock = CLOCKS.index(stated[1]) if stated else 0
        for _, log, event, *told in lines.read(text, WORDINGS, WORD):
            start, end = (minute(time, clock) for time in told)
            if not 0 <= start < end < 1440 or event not in NAMES.get(log, ()):
                raise ValueError(f"{event} is not in the {log} log between {start} and {end}")
            entries.append((log, event, (start, end)))
        same = {(a, b) for _, a, b in lines.read(text, SAME, WORD) if (a, b) in ALIASES}
        asked = queries.read(text, ASKED, WORD)
        if not entries or any(event not in EVENTS for query in asked for event in query[2:]):
            raise ValueError("no log in the text, or queries about other things than events")
        return Logs(facts.merged([entries], about=-1), tuple(sorted(same)), asked)

    def solve(self, view: Logs) -> dict[str, object] | None:
        """Of a partial view: see `UNKNOWN`."""
        return queries.answers(self.key(view))

    def key(self, instance: Logs) -> FieldsKey:
        at = times(instance)
        return FieldsKey({query[0]: answer_to(at, query) for query in instance.queries})

    def form(self, view: Logs) -> FieldsForm:
        fields = {}
        for name, kind, first, *more in view.queries:
            names = Field("name", (first, *more)), Field("names", of_the_other_log(first))
            fields[name] = {"first": names[0], "overlap": names[1]}.get(kind, Field("number"))
        return FieldsForm(fields)

    def rivals(self, instance: Logs, view: Logs) -> Iterator[Logs]:
        """The same night, with the other log's own events all so many minutes earlier or later."""
        twice, ours = {name for pair in instance.same for name in pair}, self.solve(instance)
        for late in sorted(range(-45, 46), key=abs):
            entries = []
            for entry in instance.entries:
                log, event, (start, end) = entry
                moves = entry not in view.entries and event not in twice
                entries.append((log, event, (start + late, end + late)) if moves else entry)
            rival = replace(instance, entries=tuple(entries))
            if self.solve(rival) != ours and all(is_fair(times(rival), query) for query in instance.queries):
                yield rival

    def corrupt(self, view: Logs, rng: random.Random) -> Logs:
        lost = log, event, (start, end) = rng.choice(view.entries)
        late = rng.choice((-1, 1)) * rng.randrange(5, 30)
        lie = (log, event, (start + late, end + late))
        return replace(view, entries=tuple(lie if entry == lost else entry for entry in view.entries))

    def draw(self, instance: Logs, answer: object, where: object) -> str:
        at, twice = times(instance), {name for pair in instance.same for name in pair}
        begin, parts = min(start for start, _ in at.values()), []
        for row, (log, event, told) in enumerate(instance.entries):
            x, y, width = 190 + 2 * (at[event][0] - begin), 8 + 22 * row, 2 * (told[1] - told[0])
            css = "goal" if event in twice else "node" if log == "porter" else "wall"
            parts.append(drawing.text(8, y + 14, f"{log}: {event}", "", "start"))
            parts.append(drawing.rect(x, y, width, 18, css))
            parts.append(drawing.text(x + width + 4, y + 14, "-".join(written(time, 0) for time in told), "", "start"))
        notes = list(queries.notes(instance.queries, ASKED, self.key(instance), answer, where))
        top = 22 * len(instance.entries) + 8
        parts += drawing.notes(top, notes)
        title = "the night by the porter's clock, with times as in the logs, and the queries with their answers"
        return drawing.svg(740, top + 15 + 20 * len(notes), parts, title)
