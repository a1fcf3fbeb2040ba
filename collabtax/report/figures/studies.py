"""Figures of the studies of replaced members and of worlds, from plain sequences."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence

from collabtax.report.figures.base import (
    MARKERS,
    NARROW,
    SIZE,
    Figure,
    Interval,
    Sheet,
    colour,
    key_height,
    key_places,
    one_line,
    room,
    short,
    spelled,
)
from collabtax.report.figures.forest import Group, Line, Mark, forest, scale
from collabtax.report.figures.tax import INTERVAL

STATUSES = {  # what an agent is doing -> fill and edge; the letter is written into a bar that has room for it
    "reasoning": ("pale1", "series1"),
    "waiting": ("card", "soft"),
    "executing": ("pale0", "series0"),
    "interrupted": ("pale3", "series3"),
}
OTHER = ("pale2", "series2")
Span = tuple[str, float, float, str]  # agent, from, to, status
Message = tuple[float, str, str, str]  # when, sender, receiver, what it says


def swap(loss: Mapping[str, Sequence[Interval]], gain: Mapping[str, Sequence[Interval]]) -> Figure:
    """What a replaced member costs and what its notebook is worth, seat by seat.

    Args:
        loss: level -> (seat, mean, low, high) of original minus experienced.
        gain: the same of experienced minus fresh.
    """
    both = {"loss": loss, "gain": gain}
    levels = list(dict.fromkeys([*loss, *gain]))
    groups = []
    for level in levels:
        seats = list(dict.fromkeys(seat for found in both.values() for seat, *_ in found.get(level, ())))
        lines = []
        for seat in seats:
            marks = [
                Mark(mean, low, high, series, f"{level}, {seat}, {kind}: {_said(mean, low, high)}")
                for series, (kind, found) in enumerate(both.items())
                for name, mean, low, high in found.get(level, ())
                if name == seat
            ]
            lines.append(Line(seat, marks))
        groups.append(Group(level, lines))
    rows = tuple(
        (level, kind, *one) for level in levels for kind, found in both.items() for one in found.get(level, ())
    )
    return Figure(
        "swap", "What a replaced member costs, seat by seat",
        "Continuity loss: the team with its own member minus the team with an experienced newcomer. Experience gain: "
        "the experienced newcomer minus one with an empty notebook. Means with 95 % intervals.",
        "; ".join(f"{level}, {seat}, {kind}: {_said(*interval)}" for level, kind, seat, *interval in rows) + ".",
        ("level", "contrast", "seat", "mean", *INTERVAL), rows,
        lambda width: forest(
            width, groups, "difference of the score", key=("continuity loss", "experience gain"), signed=True
        ),
    )  # fmt: skip


def contrasts(
    name: str, title: str, caption: str, axis: str, groups: Mapping[str, Sequence[Interval]],
    hollow: Collection[tuple[str, str]] = (),
) -> Figure:  # fmt: skip
    """Any differences with their intervals, in groups: (label, mean, low, high); `hollow` ones, by group and label, are
    of the kind that the caption says."""
    made = [
        Group(group, [Line(what, [Mark(m, low, high, hollow=(group, what) in hollow)]) for what, m, low, high in own])
        for group, own in groups.items()
    ]
    rows = tuple((group, *one) for group, own in groups.items() for one in own)
    return Figure(
        name, title, caption,
        "; ".join(f"{group} {what}: {_said(*interval)}".strip() for group, what, *interval in rows) + ".",
        ("group", "what", "difference", *INTERVAL), rows, lambda width: forest(width, made, axis, signed=True),
    )  # fmt: skip


def timeline(
    name: str, title: str, spans: Sequence[Span], messages: Sequence[Message] = (),
    events: Sequence[tuple[float, str]] = (), axis: str = "primitive steps",
) -> Figure:  # fmt: skip
    """A trace of agents in a world.

    Args:
        name: of the files; letters, digits and "-".
        spans: (agent, from, to, status) on one clock; a status of `STATUSES` or any other.
        messages: (when, sender, receiver, text); a receiver that is no agent, like "all", means everybody.
        events: (when, what), lines across all agents.
        axis: what the clock counts.
    """
    agents = list(dict.fromkeys(agent for agent, *_ in spans))
    kinds = [k for k in [*STATUSES, *dict.fromkeys(status for *_, status in spans)] if any(k == s for *_, s in spans)]
    kinds = list(dict.fromkeys(kinds))
    times = (
        [t for _, start, stop, _ in spans for t in (start, stop)] + [m[0] for m in messages] + [e[0] for e in events]
    )
    first, last = min(times, default=0.0), max(times, default=1.0)

    def draw(width: float) -> Sheet:
        narrow = width <= NARROW
        lane, bar = 46.0, 22.0
        left = 8.0 if narrow else 18 + max((room(short(a, 18)) for a in agents), default=0.0)
        names = [*kinds, *["message"] * bool(messages), *["event"] * bool(events)]
        key = key_height(names, width)
        tall = lane * len(agents) + 8
        sheet = Sheet(width, key + tall + 46)
        _key(sheet, names, kinds)
        axes = sheet.axes(left, key, width - left - 8, tall)
        axes.set_ylim(tall, 0)
        axes.set_yticks([])
        axes.set_xlim(first, last if last > first else first + 1)
        scale(axes, 5 if narrow else 9)
        unit = (width - left - 8) / (last - first or 1)
        middle = {agent: lane * i + 30 for i, agent in enumerate(agents)}
        for agent, y in middle.items():
            sheet.text(0 if not narrow else left, key + (y if not narrow else y - 19), short(agent, 18), bold=narrow)
        for agent, start, stop, status in spans:
            fill, edge = STATUSES.get(status, OTHER)
            bars = axes.barh(
                middle[agent],
                stop - start,
                bar,
                start,
                color=colour(fill),
                edgecolor=colour(edge),
                linewidth=1,
                zorder=2,
            )
            sheet.tip(bars[0], f"{agent}: {status}, {start:g} to {stop:g}")
            if (stop - start) * unit > 16:
                sheet.text(
                    left + unit * ((start + stop) / 2 - first), key + middle[agent], one_line(status)[:1].upper(),
                    "ink", "center", SIZE - 1.5,
                )  # fmt: skip
        for when, _ in events:
            axes.plot([when, when], [0, tall], color=colour("series1"), linewidth=1.4, dashes=(2, 2), zorder=3)
        for when, sender, receiver, said in messages:
            if sender not in middle:
                continue
            for other in [receiver] if receiver in middle else [a for a in agents if a != sender]:
                here, there = middle[sender], middle[other]
                tip = there - 13 if there > here else there + 13
                (drawn,) = axes.plot([when, when], [here, tip], color=colour("ink"), linewidth=1.3, zorder=4)
                axes.plot(
                    [when],
                    [tip],
                    linestyle="none",
                    marker="v" if there > here else "^",
                    markersize=6,
                    color=colour("ink"),
                    zorder=5,
                )
                sheet.tip(drawn, f"{when:g}: {sender} to {other}: {short(said, 200)}")
            axes.plot(
                [when],
                [middle[sender]],
                linestyle="none",
                marker=MARKERS[0],
                markersize=5,
                color=colour("ink"),
                zorder=5,
            )
        sheet.text(left + (width - left - 8) / 2, key + tall + 34, axis, "soft", "center")
        return sheet

    shares = []
    for agent in agents:
        own = {k: sum(stop - start for a, start, stop, s in spans if (a, s) == (agent, k)) for k in kinds}
        total = sum(own.values())
        shares.append(f"{agent}: " + ", ".join(f"{k} {100 * v / total:.0f} %" for k, v in own.items() if v and total))
    rows: list[tuple[str, str, float, float | None, str]] = [
        ("status", a, start, stop, s) for a, start, stop, s in spans
    ]
    rows += [("message", f"{sender} → {receiver}", when, None, said) for when, sender, receiver, said in messages]
    rows += [("event", "", when, None, what) for when, what in events]
    return Figure(
        name, title,
        "What every agent is doing over time (the letter in a bar is its first one); an arrow is a message, from the "
        "agent with "
        "the dot; a dotted line across is an event." if messages or events else "What every agent is doing over time.",
        f"{len(agents)} agents, {first:g} to {last:g}, {len(messages)} messages, {len(events)} events. "
        f"{'; '.join(shares)}.",
        ("kind", "who", "from", "to", "what"), tuple(sorted(rows, key=lambda row: (row[2], row[0], row[1]))), draw,
    )  # fmt: skip


def _key(sheet: Sheet, names: Sequence[str], kinds: Sequence[str]) -> None:
    """The key of a timeline: bars for the statuses, signs for messages and events."""
    for name, (x, y) in zip(names, key_places(names, sheet.width), strict=True):
        if name in kinds:
            fill, edge = STATUSES.get(name, OTHER)
            sheet.box(x + 0.5, y - 6.5, 13, 13, fill, edge)
        else:
            sheet.text(x + 7, y, *(("↓", "ink") if name == "message" else ("┊", "series1")), "center", 13)
        sheet.text(x + 19, y, short(name, 18), "soft", size=SIZE - 0.5)


def _said(mean: float | None, low: float | None, high: float | None) -> str:
    said = spelled(mean, sign="+")
    return said if low is None else f"{said} [{spelled(low, sign='+')}, {spelled(high, sign='+')}]"
