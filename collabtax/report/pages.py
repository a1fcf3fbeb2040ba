"""The report as pages that open from disk: an index, a page a cell, a page a rollout.

Equal results make equal bytes. What a model said is hostile: templates escape everything, and whatever they print goes
through `visible` first, so that no control character, reordering mark or lone surrogate reaches a page.
"""

from __future__ import annotations

import contextlib
import json
import os
import re
import shlex
from collections.abc import Iterable, Iterator, Sequence
from itertools import groupby
from math import ceil, floor
from pathlib import Path
from typing import Any

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markupsafe import Markup

import collabtax
from collabtax.cascade.stages import STAGES
from collabtax.cassettes import Cassette
from collabtax.cells import Cell
from collabtax.models import SIMULATED
from collabtax.options import OPTIONS, SWEEPS, flag
from collabtax.protocols import told
from collabtax.report import mechanism
from collabtax.report.several import standing
from collabtax.report.summary import CellSummary, Row, Summary, label, members
from collabtax.report.text import AGREEMENTS, interval, number, seating, verdict
from collabtax.rollouts import cached_problem
from collabtax.settings import Settings
from collabtax.statistics import TRACTABLE, Estimate
from graders.extract.candidates import WARNINGS
from tasks import get_task

CHECKOUT = Path(collabtax.__file__).parents[1]  # where the commands on the pages are run
TEMPLATES = CHECKOUT / "report_templates"
STYLES = ("style.css", "colours.css", "drawing.css")
MARK = b'content="collabtax-report"'  # in the first line of every file of ours
PAGES = 3000  # most rollouts that get a page
HIDDEN = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\xad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b\u200e\u200f\u2028-\u202e\u2060-\u206f\u3164\ufeff"
    "\uffa0\ufff9-\ufffb\ufffe\uffff"
    "\ud800-\udfff\U000e0000-\U000e0fff]"
)


def visible(text: str) -> str:
    """`text` with control characters, invisible ones and marks that reorder text spelled out, like ⟨U+202E⟩."""
    return HIDDEN.sub(lambda found: f"⟨U+{ord(found[0]):04X}⟩", text.replace("\r\n", "\n"))


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
        self.summary, self.settings, self.folder = summary, settings, folder
        ranked = sorted(
            (rank, i, seed) for i, c in enumerate(summary.cells) for rank, seed in enumerate(c.rows)
        )  # the lowest seeds of every cell first
        self.paged = {(summary.cells[i].cell.id, seed) for _, i, seed in ranked[:PAGES]}
        rows = [row for c in summary.cells for row in c.rows.values()]
        self.mechanism = mechanism.load(settings.run, rows, summary.taxes)
        self.written: set[Path] = set()
        env = environment()
        self.templates = {name: env.get_template(f"{name}.html") for name in ("index", "cell", "rollout")}

    def put(self, where: str, text: str) -> None:
        """Write a file of the report. Raises FileExistsError rather than replace somebody else's."""
        path, data = self.folder / where, text.encode()
        self.written.add(path)
        if path.exists():
            if not ours(path):
                raise FileExistsError(f"{where} in the report's folder is not of a report; choose another --report")
            if path.read_bytes() == data:
                return
        path.parent.mkdir(parents=True, exist_ok=True)
        fresh = path.with_name(path.name + ".tmp")
        try:
            fresh.write_bytes(data)
            os.replace(fresh, path)  # a full disk or a kill leaves the old file or the whole new one
        except OSError:
            fresh.unlink(missing_ok=True)
            raise

    def render(self, template: str, where: str, **values: Any) -> None:
        self.put(
            where, self.templates[template].render(root="../" * where.count("/"), settings=self.settings, **values)
        )

    def tidy(self) -> None:
        """Remove pages that an earlier report left, and nothing else."""
        for pattern in ("cells/*.html", "rollouts/*/*.html"):
            for path in self.folder.glob(pattern):
                if path not in self.written and ours(path):
                    path.unlink()
                    with contextlib.suppress(OSError):  # other files are in the folder
                        path.parent.rmdir()

    def index(self) -> None:
        s = self.summary
        shown = [e for line in s.lines for e in (line.tax, line.ratio)] + [p.tax for p, _ in s.pairs]
        axis = Axis(shown + [e for line in s.swept for e in (line.tax, line.ratio)])
        self.render(
            "index", "index.html", s=s, axis=axis, places=self.places(), mechanism=self.mechanism, **self.drawn(),
            models=[(model, list(own)) for model, own in groupby(s.lines, lambda line: line.model)],
            swept=[(model, list(own)) for model, own in groupby(s.swept, lambda line: line.model)],
            tasks=[(model, list(own)) for model, own in groupby(self.tasks(), lambda line: line["tax"].model)],
        )  # fmt: skip

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
            "pages": {
                (c.cell.task, c.cell.models[0], seed): f"rollouts/{c.cell.id}/{seed:04d}.html"
                for c in self.summary.cells if (c.cell.mode, c.cell.condition) == ("homo", "")
                for seed in c.rows if (c.cell.id, seed) in self.paged
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

    def cell(self, c: CellSummary) -> None:
        links = [(seed, row, (c.cell.id, seed) in self.paged) for seed, row in c.rows.items()]
        self.render("cell", f"cells/{c.cell.id}.html", c=c, links=links, unpaged=sum(not paged for *_, paged in links))
        shown = [seed for seed, _, paged in links if paged]
        for before, seed, after in zip([None, *shown], shown, [*shown[1:], None], strict=False):
            self.rollout(c, seed, before, after)

    def rollout(self, c: CellSummary, seed: int, before: int | None, after: int | None) -> None:
        row, cell = c.rows[seed], c.cell
        views, drawing = self.problem(cell, row)
        siblings = [
            o.cell for o in self.summary.cells
            if o.cell.task == cell.task and o.cell != cell and set(o.cell.models) & set(cell.models)
            and (o.cell.id, seed) in self.paged
        ]  # fmt: skip
        self.render(
            "rollout", f"rollouts/{cell.id}/{seed:04d}.html", cell=cell, row=row, seed=seed, before=before, after=after,
            views=views, drawing=drawing, siblings=siblings, turns=list(turns(row)), asked=get_task(cell.task).prompt,
            verdicts=self.mechanism.verdicts(row),
            answer=json.dumps(row["answer"], ensure_ascii=False, sort_keys=True), second=row.get("second"),
            second_answer=json.dumps((row.get("second") or {}).get("answer"), ensure_ascii=False, sort_keys=True),
            command=command(cell, seed, self.settings), elsewhere=not self.settings.cassettes.is_relative_to(CHECKOUT),
            seconds=sum(turn["seconds"] or 0.0 for turn in row["turns"]),
        )  # fmt: skip

    def problem(self, cell: Cell, row: Row) -> tuple[list[tuple[str, str]], Markup | str]:
        """What each agent was told, and the drawing; in place of what cannot be made, the reason."""
        task = get_task(cell.task)
        try:
            settings = self.settings.under(cell)
            one = cached_problem(task, row["seed"], settings.difficulty, settings.friction)
            half = int(cell.condition[4:]) - 1 if cell.mode == "half" else 0
            seats: list[int | None] = [None] if cell.mode == "solo" else [half] if cell.mode == "half" else [0, 1]
            views = [
                ("the whole instance" if seat is None else f"view {seat + 1}", told(task, one, seat)) for seat in seats
            ]
            return views, Markup(visible(task.draw(one.instance, row["answer"], row["where"])))  # noqa: S704 - tasks escape
        except (ValueError, TypeError, LookupError, AttributeError) as problem:
            return [], f"no drawing: {problem!r:.200}"


def turns(row: Row) -> Iterator[dict[str, Any]]:
    """The turns of a rollout; the last one that holds the answer's evidence is cut at it, to have it marked."""
    evidence = row["evidence"].strip()
    last = max((i for i, t in enumerate(row["turns"]) if evidence and evidence in t["text"]), default=None)
    for i, turn in enumerate(row["turns"]):
        start = turn["text"].rfind(evidence) if i == last else len(turn["text"])
        stop = start + len(evidence)
        cut = turn["text"][:start], turn["text"][start:stop], turn["text"][stop:]
        yield {**turn, "number": i + 1, "cut": cut, "model": row["models"][turn["seat"]]}


def command(cell: Cell, seed: int, settings: Settings) -> str:
    """What runs a rollout again from its recording, in a run of its own. No path of this machine is in it: a folder of
    recordings outside the checkout is left to the reader."""
    words = ["python", "-m", "pytest", "benchmarks", "-k", f"[{cell.id}]", f"--seed={seed}", "--rollouts=1"]
    words.append(f"--pair={','.join(cell.models)}" if cell.mode == "hetero" else f"--model={cell.models[0]}")
    if cell.mode != "half" and cell.condition:
        words.append(f"--{'sweep' if cell.condition in SWEEPS else 'intervention'}={cell.condition}")
    for name, kind, default, *_ in OPTIONS:
        if name in ("friction", "difficulty", "temperature", "turn_cap", "extractor"):
            value = getattr(settings, name)
            words += [f"{flag(name)}={value:g}" if kind is float else f"{flag(name)}={value}"] * (value != default)
    words += ["--no-critic"] * (not settings.critic)
    if settings.cassettes.is_relative_to(CHECKOUT) and settings.cassettes != CHECKOUT / "cassettes":
        words.append(f"--cassettes={settings.cassettes.relative_to(CHECKOUT).as_posix()}")
    return " ".join(map(shlex.quote, [*words, "--record-mode=none", "--run=runs/again"]))


def ours(path: Path) -> bool:
    """Whether a report wrote this file."""
    with path.open("rb") as file:
        return MARK in file.readline(300)


def write(summary: Summary, settings: Settings, folder: Path) -> None:
    """Write the report into `folder`. Files of others stay as they are.

    Raises:
        OSError: the folder cannot be written, or holds somebody else's file where one of ours belongs.
    """
    report = Report(summary, settings, folder)
    styles = [(TEMPLATES / name).read_text(encoding="utf-8") for name in STYLES]
    report.put("style.css", "".join(styles))
    report.index()
    for cell in summary.cells:
        report.cell(cell)
    report.tidy()
