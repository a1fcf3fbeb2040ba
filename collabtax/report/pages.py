"""What all pages are made by, and the page of the tax study.

Equal results make equal bytes. What a model said is hostile: templates escape everything, and whatever they print goes
through `visible` first, so that no control character, reordering mark or lone surrogate reaches a page.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import groupby
from math import ceil, floor
from pathlib import Path
from typing import Any

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markupsafe import Markup

from collabtax.cascade.rates import Cascade
from collabtax.cascade.stages import STAGES
from collabtax.models import SIMULATED
from collabtax.report import figures, mechanism
from collabtax.report.figures import Figure
from collabtax.report.files import CHECKOUT as CHECKOUT
from collabtax.report.files import HIDDEN as HIDDEN
from collabtax.report.files import MARK, TEMPLATES, Folder, put_styles
from collabtax.report.files import visible as visible
from collabtax.report.mechanism import Mechanism
from collabtax.report.replay import command as command
from collabtax.report.several import standing
from collabtax.report.summary import Line, Summary, label, members
from collabtax.report.text import AGREEMENTS, interval, number, seating, verdict
from collabtax.settings import Settings
from collabtax.statistics import TRACTABLE, Estimate
from collabtax.study import Number
from graders.extract.candidates import WARNINGS

FIGURES = "figures"  # the folder of figures as files, one folder a study in it
KINDS = ("svg", "csv")  # files of a figure that every report has; others come when asked for
ONE = Estimate(1.0, None, None, 1, 1, "")  # what an axis of shares reaches to


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


def headline(s: Summary) -> list[Number]:
    """The models that pay the largest and the smallest tax, or of one model the family that costs it most; then the
    best pair and the best intervention, as far as there are any."""
    models = [x for x in s.lines if x.scope == "all" and x.tax.value is not None]
    models.sort(key=lambda line: (-(line.tax.value or 0.0), line.model))
    found = [tax_of(models[0], "largest tax" if len(models) > 1 else "tax")] if models else []
    if len(models) > 1:
        found.append(tax_of(models[-1], "smallest tax"))
    families = [x for x in s.lines if x.scope != "all" and x.tax.value is not None and x.model == models[0].model]
    if len(models) == 1 and len(families) > 1:
        worst = max(families, key=lambda line: line.tax.value or 0.0)
        found.append(tax_of(worst, f"tax on {worst.scope} tasks, the costliest family"))
    pairs = [p for p, _ in s.pairs if p.tax.value is not None]
    if pairs:
        best = min(pairs, key=lambda p: (p.tax.value or 0.0, p.models))
        gain = negative(best.tax)
        found.append(
            Number(
                f"best pair minus its better member: {best.models[0]}, then {best.models[1]}", number(gain.value, "+"),
                ends(gain, "+"),
                f"With {best.models[0]} speaking first the pair scores {number(best.v12.value)}; "
                + told_from(gain, best.tax in s.stands["pairs"], "pairing pays", "the better member alone does better"),
            )
        )  # fmt: skip
    changes = [e for e in s.effects if e.change.value is not None]
    if changes:
        lift = max(changes, key=lambda e: (e.change.value or 0.0, e.models, e.condition))
        found.append(
            Number(
                f"best intervention: {lift.condition}, {label(lift.models)}", number(lift.change.value, "+"),
                ends(lift.change, "+"),
                f"Score under the clause minus that of the plain dialogue, the best of {len(changes)}; "
                + told_from(lift.change, lift.change in s.stands["effects"], "it helps", "it harms"),
            )
        )  # fmt: skip
    return found


def tax_of(line: Line, what: str) -> Number:
    """The tax of a model, over all tasks or a family."""
    share = f": talking costs {100 * line.ratio.value:.0f} % of what it can do" if line.ratio.value is not None else ""
    chance = "" if is_known(line.tax) else "; this may be chance"
    return Number(
        f"{what}: {line.model}", number(line.tax.value), ends(line.tax),
        f"One agent that sees everything scores {number(line.solo)}, two that each see one view score "
        f"{number(line.homo)}{share}{chance}.",
    )  # fmt: skip


def told_from(change: Estimate, stands: bool, better: str, worse: str) -> str:
    """What a difference says, the end of a sentence; `stands`: it is told from 0 with all others of its table."""
    if not is_known(change):
        return "whether that is more than chance cannot be told."
    if not round(change.value or 0.0, 9):
        return "there is no difference."
    said = better if (change.value or 0.0) > 0 else worse
    return f"{said}." if stands else f"{said}, which may be chance when all are read at once."


def is_known(e: Estimate) -> bool:
    """Whether the interval says on which side of 0 a value is, or that it is 0 on every seed."""
    return e.low is not None and e.high is not None and (e.low > 0 or e.high < 0 or e.high - e.low <= 1e-9)


def negative(e: Estimate) -> Estimate:
    value, low, high = (None if end is None else -end for end in (e.value, e.high, e.low))
    return replace(e, value=value, low=low, high=high)


def ends(e: Estimate, sign: str = "") -> str:
    """An interval in words."""
    return "" if e.low is None else f"{number(e.low, sign)} to {number(e.high, sign)}"


def doubts(s: Summary) -> list[str]:
    """What makes the numbers doubtful, loudest first."""
    alone = [note for note in s.notes if not note.startswith("Simulated models")]
    totals = [x for x in s.lines if x.scope == "all" and x.tax.value is not None]
    unsure = [x.model for x in totals if not is_known(x.tax)]
    few = (
        [f"too few rollouts or tasks to say whether {', '.join(unsure)} pay{'s' * (len(unsure) == 1)} a tax at all"]
        if unsure
        else []
    )
    return [*s.warnings, *alone, *few]


def placed(figure: Figure, study: str) -> Markup:
    """A figure with links to its files."""
    links = Markup(" ").join(
        Markup('<a href="{}/{}/{}.{}">{}</a>').format(FIGURES, study, figure.name, kind, kind.upper()) for kind in KINDS
    )
    return Markup('{}\n<p class="chart-files">{}</p>').format(figure.html(), links)


def cascades(found: Mechanism, drawn: Sequence[Figure]) -> Iterator[tuple[Cascade, Markup]]:
    """Every cascade with its figure, or with the figure's numbers alone where the dialogues are no plain ones."""
    plain = (figure for figure in drawn if figure.name.startswith("cascade-"))
    for one in found.cascades:
        if one.condition:
            numbers = figures.cascade(one)
            yield one, Markup('<div class="figures">{}</div>').format(figures.table(numbers.head, numbers.rows))
        else:
            yield one, placed(next(plain), "tax")


def tasks(s: Summary) -> Iterator[dict[str, Any]]:
    """A line for each model and task, with what one view alone reaches and the means over readable answers."""
    at = {(c.cell.task, c.cell.mode, c.cell.models[0], c.cell.condition): c for c in s.cells}
    for model in s.taxes.values():
        for task in model.tasks:
            plain = {m: at.get((task.task, m, task.model, "")) for m in ("solo", "homo")}
            views = [at.get((task.task, "half", task.model, v)) for v in ("view1", "view2")]
            yield {"tax": task, "views": views, **plain}


def write(
    s: Summary, settings: Settings, folder: Path, pages: Mapping[str, str] | None = None, found: Mechanism | None = None
) -> None:
    """Write the page of the tax study into `folder`; `found`: what other commands found out about its rollouts, read
    from the run's folder unless given. Files of others stay as they are.

    Raises:
        OSError: the folder cannot be written, or holds somebody else's file where one of ours belongs.
    """
    place = Folder(folder)
    if found is None:
        found = mechanism.load(settings.run, [row for c in s.cells for row in c.rows.values()], s.taxes)
    drawn = list(figures.of(s, found))
    put_styles(place)
    place.put("figures.css", b"/* " + MARK + b" */\n" + figures.style().encode())
    page = environment().get_template("tax.html").render(
        root="", settings=settings, s=s, mechanism=found, axis=Axis(p.tax for p, _ in s.pairs), shares=Axis([ONE]),
        pages=[(file, title) for file, title in (pages or {}).items() if file != "tax.html"],
        figures={figure.name: placed(figure, "tax") for figure in drawn if not figure.name.startswith("cascade-")},
        cascades=list(cascades(found, drawn)),
        models=[(model, list(own)) for model, own in groupby(s.lines, lambda line: line.model)],
        swept=[(model, list(own)) for model, own in groupby(s.swept, lambda line: line.model)],
        tasks=[(model, list(own)) for model, own in groupby(tasks(s), lambda line: line["tax"].model)],
        games=sorted(s.games, key=lambda one: (one[2] == "not decided", one[0].models, -(one[1].tax.value or 0.0))),
        coefficients_stand=standing(e for _, e in found.foreseen.coefficients) if found.foreseen else frozenset(),
        homo={
            (c.cell.task, c.cell.models[0]): c.cell.id
            for c in s.cells if (c.cell.mode, c.cell.condition) == ("homo", "")
        },
    )  # fmt: skip
    place.put("tax.html", page.encode())
