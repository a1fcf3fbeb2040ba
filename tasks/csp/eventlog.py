"""eventlog: one night in two logs with different clocks and different names, one for each agent (paper, table 8)."""

from __future__ import annotations

import random
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import product

from tasks import clues, drawing
from tasks.answers import Field, FieldsForm, FieldsKey
from tasks.base import Task, register
from tasks.frames import Frame

PROMPT = """\
Two logs, kept by the porter and by the system of a house, tell of one night. Each goes by a clock of its own; both
clocks run equally fast, but one is some fixed number of minutes ahead of the other. A few events are in both logs, by
different names; you are told which. All others are in one log only. Answer the queries about what really went on when.
A query "how many minutes" asks for a number, "which began first" for one event, and "which events" for one event or
several: name them all. Answer every query on a line of its own that begins with the query's name, for example
`q8: picnic, parade` or `q9: 7`."""

SIZES = {"easy": (3, 1, 2), "default": (5, 2, 4), "hard": (9, 2, 6)}  # events of a log alone, events of both, queries

ALIASES = (  # what the porter calls an event, and what the system calls it
    ("alarm", "siren"), ("argument", "quarrel"), ("backup", "copying"), ("blackout", "outage"),
    ("broadcast", "announcement"), ("cleaning", "scrubbing"), ("concert", "recital"), ("cooling", "venting"),
    ("crash", "collision"), ("delivery", "unpacking"), ("escape", "breakout"), ("evacuation", "clearance"),
    ("fire", "blaze"), ("flooding", "deluge"), ("inspection", "survey"), ("interview", "questioning"),
    ("leak", "seepage"), ("lockdown", "closure"), ("patrol", "rounds"), ("rehearsal", "drill"),
    ("repair", "overhaul"), ("restart", "reboot"), ("search", "sweep"), ("smoke", "fumes"),
)  # fmt: skip
LOGS = ("porter", "system")
NAMES = {log: tuple(pair[i] for pair in ALIASES) for i, log in enumerate(LOGS)}
EVENING, SPAN = 18 * 60, 170  # by the porter's clock all events begin within so many minutes from then on
KINDS = ("overlap", "first", "both", "minutes", "overlap", "first")

Entry = tuple[str, str, int, int]
Query = tuple[str, ...]
Times = Mapping[str, tuple[int, int]]

ASKED = {
    "first": ("{0}: which began first: {1}, {2}, {3} or {4}?",),
    "minutes": ("{0}: how many minutes passed from the start of {1} to the start of {2}?",),
    "both": ("{0}: for how many minutes did {1} and {2} go on at once?",),
    "overlap": ("{0}: which events of the {2} log overlap {1}?",),
}
TOLD = {
    "span": ("{0} log: {1} from {2} to {3}.", "{0} log: until {3}, from {2}: {1}."),
    "begun": ("{0} log: {1} from {2}, lasting {3}.",),
    "ended": ("{0} log: {1} until {2}, lasting {3}.",),
}
TELLINGS = (("span", 0), ("begun", 0), ("ended", 0), ("span", 1))
SAME = {"same": ("What the porter log calls {0}, the system log calls {1}.",)}
CLOCKS = (
    "hours and minutes of the 24-hour clock", "hours and minutes of the 12-hour clock",
    "minutes since the midnight before", "minutes left until the midnight after",
)  # fmt: skip
TIME = r"\d\d:\d\d|\d\d?\.\d\d [ap]m|minute \d{1,4}|midnight minus \d{1,4}"
EVENT = "|".join(name for log in LOGS for name in NAMES[log])
WORD = rf"(?:q\d|{'|'.join(LOGS)}|{EVENT}|{TIME}|\d{{1,4}} min)"


@dataclass(frozen=True)
class Logs:
    """`entries`, sorted: (log, event, start, end), in minutes since midnight by the clock of the log. `same`, sorted:
    (name of an event in the porter's log, in the system's). `queries`: (name, a kind of `ASKED`, what it names)."""

    entries: tuple[Entry, ...]
    same: tuple[tuple[str, str], ...]
    queries: tuple[Query, ...]


def written(time: int, clock: int) -> str:
    if clock == 0:
        return f"{time // 60:02d}:{time % 60:02d}"
    if clock == 1:
        return f"{(time // 60 - 1) % 12 + 1}.{time % 60:02d} {'ap'[time >= 720]}m"
    return f"minute {time}" if clock == 2 else f"midnight minus {1440 - time}"


def minute(told: str) -> int:
    """Inverse of `written` for every clock. Raises ValueError for what is no time."""
    if not re.fullmatch(TIME, told):
        raise ValueError(f"{told!r} is no time")
    first, *more = map(int, re.findall(r"\d+", told))
    if more:
        return (first if ":" in told else first % 12 + 12 * told.endswith("pm")) * 60 + more[0]
    return first if told.startswith("minute") else 1440 - first


def times(logs: Logs, aligned: bool = True) -> dict[str, tuple[int, int]]:
    """Starts and ends by the porter's clock; if no event is known from both logs, as if both clocks agreed."""
    starts = {event: start for _, event, start, _ in logs.entries}
    ahead = next((starts[b] - starts[a] for a, b in logs.same if a in starts and b in starts), 0) if aligned else 0
    shift = {"porter": 0, "system": ahead}
    return {event: (start - shift[log], end - shift[log]) for log, event, start, end in logs.entries}


def shared(one: tuple[int, int], other: tuple[int, int]) -> int:
    """The minutes that two events have in common; below 0 if there is time between them."""
    return min(one[1], other[1]) - max(one[0], other[0])


def answer_to(at: Times, query: Query) -> str | int | frozenset[str]:
    """Where events are unknown: the first that is known, half an hour, a quarter of an hour, or none."""
    _, kind, *about = query
    if kind == "overlap":
        known = at.get(about[0])
        return frozenset(e for e in at if known and e in NAMES[about[1]] and shared(at[e], known) > 0)
    if kind == "first":
        return min(about, key=lambda event: at.get(event, (1440, 0)))
    if not all(event in at for event in about):
        return 30 if kind == "minutes" else 15
    one, other = (at[event] for event in about)
    return other[0] - one[0] if kind == "minutes" else shared(one, other)


def is_fair(at: Times, query: Query, both: Sequence[str]) -> bool:
    """Whether the answer is clear: no near tie, nothing that just touches, no event of `both` logs, not nothing."""
    _, kind, *about = query
    answer = answer_to(at, query)
    if kind == "overlap":
        near = [e for e in at if e != about[0] and e in (*NAMES[about[1]], *both) and shared(at[e], at[about[0]]) >= 0]
        return bool(answer) and answer == frozenset(near) and not {*near} & {*both}
    if kind == "first":
        first, second, *_ = sorted(at[event][0] for event in about)
        return second - first > 1
    lengths = [end - start for start, end in (at[event] for event in about)]
    return isinstance(answer, int) and answer >= 2 and (kind == "minutes" or answer < min(lengths))


def in_words(value: object) -> str:
    """An answer of any kind for a drawing."""
    words = ", ".join(map(drawing.plain, value)) if isinstance(value, list) else drawing.plain(value)
    return words[:80] or "nothing"


@register
class EventLog(Task[Logs]):
    """Every query takes events from either log and is answered wrongly by whoever takes the two clocks for one. In a
    strong frame times are written after one of four clocks, and entries tell an end or a duration."""

    name, family, version, rule, prompt = "eventlog", "csp", 1, "fields", PROMPT

    def sample(self, rng: random.Random, difficulty: str) -> Logs | None:
        alone, both, wanted = SIZES[difficulty]
        ahead = rng.choice((-1, 1)) * rng.randrange(6, 60)
        pairs = rng.sample(ALIASES, 2 * alone + both)
        entries: list[Entry] = []
        for number, names in enumerate(pairs):
            start = EVENING + rng.randrange(SPAN)
            end = start + rng.randrange(8, 45)
            for log, name in zip(LOGS, names, strict=True):
                if number < both or (number % 2 == 0) == (log == "porter"):
                    late = ahead if log == "system" else 0
                    entries.append((log, name, start + late, end + late))
        logs = Logs(tuple(sorted(entries)), tuple(sorted(pairs[:both])), ())
        at, astray = times(logs), times(logs, aligned=False)
        twice = [name for pair in pairs[:both] for name in pair]
        ours, theirs = (
            [name for where, name, *_ in logs.entries if where == log and name not in twice] for log in LOGS
        )
        crossing: list[tuple[str, ...]] = [pair for a, b in product(ours, theirs) for pair in ((a, b), (b, a))]
        about: dict[str, list[tuple[str, ...]]] = {
            "overlap": [*((a, "system") for a in ours), *((b, "porter") for b in theirs)],
            "first": [tuple(rng.sample([*rng.sample(ours, 2), *rng.sample(theirs, 2)], 4)) for _ in range(20)],
            "both": crossing,
            "minutes": crossing,
        }
        queries: list[Query] = []
        for number, kind in enumerate(KINDS[:wanted], 1):
            asked = [(f"q{number}", kind, *what) for what in about[kind] if not any(what == q[2:] for q in queries)]
            fair = [q for q in asked if is_fair(at, q, twice) and answer_to(at, q) != answer_to(astray, q)]
            if not fair:
                return None
            queries.append(rng.choice(fair))
        return replace(logs, queries=tuple(queries))

    def split(self, instance: Logs, rng: random.Random) -> tuple[Logs, ...]:
        """A log each, and a half of what is known about names."""
        same = rng.sample(instance.same, len(instance.same))
        parts = tuple(sorted(same[::2])), tuple(sorted(same[1::2]))
        logs = (tuple(e for e in instance.entries if e[0] == log) for log in rng.sample(LOGS, 2))
        return tuple(replace(instance, entries=log, same=part) for log, part in zip(logs, parts, strict=True))

    def merge(self, views: Sequence[Logs]) -> Logs:
        entries: dict[str, Entry] = {}
        for entry in (e for v in views for e in v.entries):
            if entries.setdefault(entry[1], entry) != entry:
                raise ValueError(f"the times of {entry[1]} are told in two ways")
        if len({v.queries for v in views}) > 1:
            raise ValueError("the queries differ")
        same = tuple(sorted({pair for v in views for pair in v.same}))
        return Logs(tuple(sorted(entries.values())), same, views[0].queries)

    def render(self, view: Logs, frame: Frame) -> str:
        clock, (kind, way) = frame.variant & 3, TELLINGS[frame.variant >> 2]
        lines = [f"Times are told here in {CLOCKS[clock]}."] if frame.friction != "natural" else []
        for log, event, start, end in sorted(view.entries, key=lambda entry: entry[2]):
            one, other = written(end if kind == "ended" else start, clock), f"{end - start} min"
            lines.append(TOLD[kind][way].format(log, event, one, written(end, clock) if kind == "span" else other))
        lines += [SAME["same"][0].format(*pair) for pair in view.same]
        return "\n".join([*lines, *(ASKED[kind][0].format(name, *about) for name, kind, *about in view.queries)])

    def parse(self, text: str) -> Logs:
        entries: dict[str, Entry] = {}
        for kind, log, event, first, second in clues.read(text, TOLD, WORD):
            one, other = minute(first), minute(second) if kind == "span" else int(second.removesuffix(" min"))
            start, end = (one - other, one) if kind == "ended" else (one, other if kind == "span" else one + other)
            if not 0 <= start < end < 1440 or log not in LOGS or event not in NAMES[log]:
                raise ValueError(f"{event} is not in the {log} log between {start} and {end}")
            if entries.setdefault(event, (log, event, start, end)) != (log, event, start, end):
                raise ValueError(f"the times of {event} are told in two ways")
        same = {(a, b) for _, a, b in clues.read(text, SAME, WORD) if (a, b) in ALIASES}
        queries = {name: (name, kind, *about) for kind, name, *about in clues.read(text, ASKED, WORD)}
        for name, kind, *about in queries.values():
            events, logs = (about[:1], about[1:]) if kind == "overlap" else (about, [])
            if not ({*events} <= {*NAMES["porter"], *NAMES["system"]} and {*logs} <= {*LOGS}):
                raise ValueError(f"{name} names what is in no log")
        if not entries or not queries:
            raise ValueError("no log and no queries in the text")
        asked = tuple(queries[name] for name in sorted(queries))
        return Logs(tuple(sorted(entries.values())), tuple(sorted(same)), asked)

    def solve(self, view: Logs) -> dict[str, str | int | list[str]] | None:
        """Of a partial view: see `answer_to`."""
        found = {query[0]: answer_to(times(view), query) for query in view.queries}
        return {name: sorted(value) if isinstance(value, frozenset) else value for name, value in found.items()}

    def key(self, instance: Logs) -> FieldsKey:
        return FieldsKey({query[0]: answer_to(times(instance), query) for query in instance.queries})

    def form(self, view: Logs) -> FieldsForm:
        fields = {}
        for name, kind, *about in view.queries:
            options = tuple(about) if kind == "first" else NAMES[about[1]] if kind == "overlap" else ()
            fields[name] = Field({"first": "name", "overlap": "names"}.get(kind, "number"), options)
        return FieldsForm(fields)

    def rivals(self, instance: Logs, view: Logs) -> Iterator[Logs]:
        """The same night, with the other log's own events all so many minutes earlier or later."""
        twice = [name for pair in instance.same for name in pair]
        for late in sorted(range(-45, 46), key=abs):
            move = {e[1]: 0 if e in view.entries or e[1] in twice else late for e in instance.entries}
            entries = tuple((log, e, start + move[e], end + move[e]) for log, e, start, end in instance.entries)
            rival = replace(instance, entries=entries)
            fair = all(is_fair(times(rival), query, twice) for query in instance.queries)
            if fair and self.solve(rival) != self.solve(instance):
                yield rival

    def corrupt(self, view: Logs, rng: random.Random) -> Logs:
        log, event, start, end = rng.choice(view.entries)
        late = rng.choice((-1, 1)) * rng.randrange(5, 30)
        lie = (log, event, start + late, end + late)
        return replace(view, entries=tuple(lie if e[1] == event else e for e in view.entries))

    def draw(self, instance: Logs, answer: object, where: object) -> str:
        given = answer if isinstance(answer, dict) else {}
        at, truth = times(instance), self.solve(instance) or {}
        begin, twice = min(start for start, _ in at.values()), [name for pair in instance.same for name in pair]
        parts = []
        for row, (log, event, start, end) in enumerate(instance.entries):
            x, y = 190 + 2 * (at[event][0] - begin), 8 + 22 * row
            css = "goal" if event in twice else "node" if log == "porter" else "wall"
            parts.append(drawing.text(8, y + 14, f"{log}: {event}", "", "start"))
            parts.append(drawing.rect(x, y, 2 * (end - start), 18, css))
            told = f"{written(start, 0)}-{written(end, 0)}"
            parts.append(drawing.text(x + 2 * (end - start) + 4, y + 14, told, "", "start"))
        lines = []
        for name, kind, *about in instance.queries:
            lines.append((name, ASKED[kind][0].format(name, *about)))
            lines.append((name, f"answered: {in_words(given.get(name, 'nothing'))}; right: {in_words(truth[name])}"))
        top = 22 * len(instance.entries) + 8
        parts += drawing.notes(top, drawing.verdicts(where, lines))
        title = "the night by the porter's clock, with times as in the logs, and the queries with their answers"
        return drawing.svg(740, top + 15 + 20 * len(lines), parts, title)
