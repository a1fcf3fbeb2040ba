"""The report as pages that open from disk: an index, and the browser of its rollouts (`browser`).

Equal results make equal bytes. What a model said is hostile: templates escape everything, and whatever they print goes
through `visible` first, so that no control character, reordering mark or lone surrogate reaches a page.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterable, Iterator, Sequence
from itertools import groupby
from math import ceil, floor
from pathlib import Path
from typing import Any

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markupsafe import Markup

from collabtax.cascade.stages import STAGES
from collabtax.cassettes import Cassette
from collabtax.models import SIMULATED
from collabtax.report import mechanism
from collabtax.report.files import CHECKOUT as CHECKOUT
from collabtax.report.files import HIDDEN as HIDDEN
from collabtax.report.files import TEMPLATES, Folder, put_styles
from collabtax.report.files import visible as visible
from collabtax.report.replay import command as command
from collabtax.report.several import standing
from collabtax.report.summary import Summary, label, members
from collabtax.report.text import AGREEMENTS, interval, number, seating, verdict
from collabtax.settings import Settings
from collabtax.statistics import TRACTABLE, Estimate
from graders.extract.candidates import WARNINGS


def _finalize(value: Any) -> Any:
    """Applied to whatever a template prints, before it is escaped."""
    return visible(value) if isinstance(value, str) and not isinstance(value, Markup) else value


def environment() -> Environment:
    made = Environment(
        loader=FileSystemLoader(TEMPLATES), autoescape=True, undefined=StrictUndefined, trim_blocks=True,
        lstrip_blocks=True, auto_reload=False, finalize=_finalize,
    )  # fmt: skip
    made.filters |= {
        "number": number,
        "interval": interval,
        "label": label,
        "members": members,
        "verdict": verdict,
        "seating": seating,
    }
    made.filters |= {
        "by_count": enumerate,
        "by_stage": lambda found: [(f"{stage} {STAGES[stage]}", estimate) for stage, estimate in found.items()],
    }
    made.globals |= {"TRACTABLE": TRACTABLE, "WARNINGS": WARNINGS, "AGREEMENTS": AGREEMENTS, "STAGES": STAGES}
    made.tests["simulated"] = lambda name: name.startswith(SIMULATED)
    return made


class Axis:
    """A common scale for the intervals of a table, in steps of a quarter within [-1, 1] or of another size."""

    def __init__(self, estimates: Iterable[Estimate], step: float = 0.25, limit: float = 1.0) -> None:
        ends = [x for e in estimates for x in (e.low, e.value, e.high) if x is not None]
        self.low = max(-limit, step * floor(min([0.0, *ends]) / step))
        self.high = min(limit, step * ceil(max([step, *ends]) / step))
        self.steps = [self.low + step * i for i in range(round((self.high - self.low) / step) + 1)]

    def x(self, value: float) -> str:
        """Where a value is drawn, from 8 to 192 pixels."""
        share = (min(max(value, self.low), self.high) - self.low) / (self.high - self.low)
        return f"{8 + 184 * share:.1f}"


class Scatter:
    """Points in a square of 240 pixels, both axes on one scale, with the line y = x and perhaps another one."""

    def __init__(self, points: Sequence[tuple[float, float, str]], line: tuple[float, float] | None = None) -> None:
        """`points` as x, y and what they are; `line` as slope and intercept."""
        axis = Axis([Estimate(v, None, None, 1, 1, "") for x, y, _ in points for v in (x, y)])
        self.low, self.high, self.steps = axis.low, axis.high, axis.steps
        self.points = [(self.at(x), self.at(-y, up=True), told) for x, y, told in points]
        self.line = line and self.inside(*line)

    def at(self, value: float, up: bool = False) -> str:
        """Where a value is drawn, from 0 to 240; `up`: from below, of the value with its sign turned."""
        low, high = (-self.high, -self.low) if up else (self.low, self.high)
        return f"{240 * (min(max(value, low), high) - low) / (high - low):.1f}"

    def inside(self, slope: float, intercept: float) -> tuple[str, str, str, str] | None:
        """The part of a line that lies in the square, as x and y of its ends; None where none does."""
        ends = {self.low, self.high}
        if slope:
            ends |= {(edge - intercept) / slope for edge in (self.low, self.high)}
        shown = sorted(
            x for x in ends
            if self.low <= x <= self.high and self.low - 1e-9 <= slope * x + intercept <= self.high + 1e-9
        )  # fmt: skip
        if not shown:
            return None
        first, last = ((self.at(x), self.at(-(slope * x + intercept), up=True)) for x in (shown[0], shown[-1]))
        return (*first, *last)


class Report:
    """A report under way: what its pages share."""

    def __init__(self, summary: Summary, settings: Settings, folder: Path) -> None:
        self.summary, self.settings = summary, settings
        rows = [row for c in summary.cells for row in c.rows.values()]
        self.mechanism = mechanism.load(settings.run, rows, summary.taxes)
        self.folder = Folder(folder)

    def index(self) -> None:
        s = self.summary
        shown = [e for line in s.lines for e in (line.tax, line.ratio)] + [p.tax for p, _ in s.pairs]
        axis = Axis(shown + [e for line in s.swept for e in (line.tax, line.ratio)])
        page = environment().get_template("index.html").render(
            root="", settings=self.settings, s=s, axis=axis, places=self.places(), mechanism=self.mechanism,
            **self.drawn(),
            models=[(model, list(own)) for model, own in groupby(s.lines, lambda line: line.model)],
            swept=[(model, list(own)) for model, own in groupby(s.swept, lambda line: line.model)],
            tasks=[(model, list(own)) for model, own in groupby(self.tasks(), lambda line: line["tax"].model)],
        )  # fmt: skip
        self.folder.put("index.html", page.encode())

    def drawn(self) -> dict[str, Any]:
        """What the index draws besides bars on the common scale; empty where there is nothing to draw."""
        null, foreseen = self.summary.null, self.mechanism.foreseen
        slope, intercept = null.slope.value, null.intercept.value
        pairs = [(p.midpoint, p.gap, f"{p.task}, {label(p.models)}") for p in null.points]
        cells = [(x, y, f"{task}, {model}") for task, model, x, y in foreseen.cells] if foreseen else []
        coefficients = [e for _, e in foreseen.coefficients] if foreseen else []
        size = max((abs(x) for e in coefficients for x in (e.low, e.value, e.high) if x is not None), default=0.0)
        return {
            "null": Scatter(pairs, None if slope is None or intercept is None else (slope, intercept)),
            "foresight": Scatter(cells),
            "shares": Axis([Estimate(1.0, None, None, 1, 1, "")]),
            "points": Axis(coefficients, next((s for s in (1.0, 2.5, 5.0, 10.0) if size <= 4 * s), 25.0), 100.0),
            "coefficients_stand": standing(coefficients),
            "members": sorted({m for p, _ in self.summary.pairs for m in p.models}),
            "homo": {
                (c.cell.task, c.cell.models[0]): c.cell.id
                for c in self.summary.cells if (c.cell.mode, c.cell.condition) == ("homo", "")
            },
        }  # fmt: skip

    def places(self) -> dict[str, list[str]]:
        """Where the answers of each model come from, as the recordings say it; unrecorded, as the settings do."""
        found: dict[str, set[str]] = {}
        for c in self.summary.cells:
            for seed in list(c.rows)[:1]:
                with contextlib.suppress(ValueError, OSError):
                    said = getattr(Cassette(self.settings.cassette(c.cell, seed), "none"), "metadata", {})
                    for model, host in said.get("models", {}).items():
                        found.setdefault(str(model), set()).add(str(host))
        names = sorted({m for c in self.summary.cells for m in c.cell.models})
        return {m: sorted(found.get(m, {self.settings.models[m].host})) for m in names}

    def tasks(self) -> Iterator[dict[str, Any]]:
        """A line for each model and task, with what one view alone reaches and the means over readable answers."""
        at = {(c.cell.task, c.cell.mode, c.cell.models[0], c.cell.condition): c for c in self.summary.cells}
        for model in self.summary.taxes.values():
            for task in model.tasks:
                plain = {m: at.get((task.task, m, task.model, "")) for m in ("solo", "homo")}
                views = [at.get((task.task, "half", task.model, v)) for v in ("view1", "view2")]
                yield {"tax": task, "views": views, **plain}


def write(summary: Summary, settings: Settings, folder: Path) -> None:
    """Write the study's pages into `folder`. Files of others stay as they are.

    Raises:
        OSError: the folder cannot be written, or holds somebody else's file where one of ours belongs.
    """
    report = Report(summary, settings, folder)
    put_styles(report.folder)
    report.index()
