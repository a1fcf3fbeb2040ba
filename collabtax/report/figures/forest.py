"""Estimates with their intervals, a line each, one below the other: the form of most figures."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from collabtax.report.figures.base import NARROW, SIZE, Sheet, colour, key_height, marked, room, short, spelled

if TYPE_CHECKING:
    from matplotlib.axes import Axes

PRINTED = 142  # pixels of a value with its interval


@dataclass(frozen=True)
class Mark:
    """A value with its interval. `hollow` ones are of a lesser kind, as the figure says."""

    value: float | None
    low: float | None = None
    high: float | None = None
    series: int = 0
    tip: str = ""
    hollow: bool = False


@dataclass(frozen=True)
class Line:
    label: str
    marks: Sequence[Mark]


@dataclass(frozen=True)
class Group:
    title: str
    lines: Sequence[Line]


def limits(values: Iterable[float | None], zero: bool = True) -> tuple[float, float]:
    """Ends of an axis around `values`, and around 0 where `zero` says so, with some air."""
    known = [value for value in values if value is not None] + [0.0] * zero
    low, high = (min(known), max(known)) if known else (0.0, 1.0)
    air = 0.04 * (high - low) or 0.5
    return low - air, high + air


def ends(groups: Iterable[Group]) -> Iterable[float | None]:
    for group in groups:
        for line in group.lines:
            for mark in line.marks:
                yield from (mark.value, mark.low, mark.high)


def forest(
    width: float, groups: Sequence[Group], axis: str, *, key: Sequence[str] = (), signed: bool = False, digits: int = 2
) -> Sheet:
    """A sheet with the groups below each other on one axis, zero marked. Lines with one mark have it printed too.

    On a narrow sheet labels stand above their marks, on others to the left.
    """
    narrow = width <= NARROW
    printed = all(len(line.marks) == 1 for group in groups for line in group.lines)
    longest = max((room(short(line.label)) for group in groups for line in group.lines), default=0.0)
    left = 8.0 if narrow else longest + 18
    right = 8.0 if narrow or not printed else PRINTED
    heights = [[max(20.0, 10 * len(line.marks) + 10) + 15 * narrow for line in group.lines] for group in groups]
    titles = [24 if group.title else 4 for group in groups]
    tall = sum(map(sum, heights)) + sum(titles) or 20.0
    names = [short(name) for name in key]
    top = key_height(names, width)
    high_up = tall > 420  # then the axis has its numbers above too
    top += 20 if high_up else 4
    sheet = Sheet(width, top + tall + 48)
    sheet.key(names)
    axes = sheet.axes(left, top, width - left - right, tall)
    axes.set_ylim(tall, 0)
    axes.set_xlim(*limits(ends(groups)))
    scale(axes, 4 if narrow else 7)
    axes.tick_params(labeltop=high_up)
    axes.set_yticks([])
    axes.axvline(0, color=colour("soft"), linewidth=1, zorder=1)
    sheet.text(left + (width - left - right) / 2, top + tall + 34, axis, "soft", "center")
    y = 0.0
    for group, title, each in zip(groups, titles, heights, strict=True):
        if group.title:
            sheet.box(0, top + y - 1, width, 24, "card")  # the grid does not run through words
            sheet.text(0, top + y + 13, short(group.title, 44), bold=True)
        y += title
        for line, height in zip(group.lines, each, strict=True):
            middle = y + 15 * narrow + (height - 15 * narrow) / 2
            if narrow:
                sheet.box(0, top + y + 1 - 2 * printed, width, 15 + 2 * printed, "card")
            sheet.text(0, top + (y + 8 if narrow else middle), short(line.label))
            if printed and line.marks[0].value is not None:
                mark = line.marks[0]
                said = spelled(mark.value, digits, "+" if signed else "")
                if mark.low is not None:
                    said += (
                        f" [{', '.join(spelled(end, digits, '+' if signed else '') for end in (mark.low, mark.high))}]"
                    )
                sheet.text(width, top + (y + 8 if narrow else middle), said, "soft", "right", SIZE - 0.5)
            for i, mark in enumerate(line.marks):
                draw_mark(sheet, axes, mark, middle + 10 * (i - (len(line.marks) - 1) / 2))
            y += height
            if len(line.marks) > 1:
                axes.axhline(y, color=colour("line"), linewidth=1, zorder=0)
    return sheet


def draw_mark(sheet: Sheet, axes: Axes, mark: Mark, y: float) -> None:
    """A mark with its interval at the height `y`."""
    if mark.value is None:
        return
    style = marked(mark.series, mark.hollow)
    if mark.low is not None and mark.high is not None:
        axes.plot([mark.low, mark.high], [y, y], color=style["color"], linewidth=1.8, solid_capstyle="butt", zorder=2)
    (drawn,) = axes.plot([mark.value], [y], linestyle="none", zorder=3, **style)
    if mark.tip:
        sheet.tip(drawn, mark.tip)


def scale(axes: Axes, steps: int, up: bool = False) -> None:
    """Few round ticks, with as many digits as they need, on the axis across or, with `up`, on the other one."""
    from matplotlib.ticker import FuncFormatter, MaxNLocator

    one = axes.yaxis if up else axes.xaxis
    one.set_major_locator(MaxNLocator(steps, steps=[1, 2, 2.5, 5, 10]))
    one.set_major_formatter(FuncFormatter(lambda value, _: f"{round(value, 6) + 0.0:g}".replace("-", "−")))
