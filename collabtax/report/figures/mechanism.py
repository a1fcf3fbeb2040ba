"""Figures of why pairs fail: stages of the cascade, the gap foreseen."""

from __future__ import annotations

from typing import TYPE_CHECKING

from collabtax.cascade.stages import STAGES
from collabtax.report.figures.base import (
    NARROW,
    SERIES,
    SIZE,
    Figure,
    Sheet,
    colour,
    spelled,
    told,
    with_interval,
)
from collabtax.report.figures.forest import Group, Line, Mark, forest
from collabtax.report.figures.tax import INTERVAL, scatter
from tasks import FAMILIES

if TYPE_CHECKING:
    from collabtax.cascade.rates import Cascade, Rate
    from collabtax.report.mechanism import Foreseen
    from collabtax.statistics import Estimate

MOST = 24  # coefficients that are drawn; the table has all
MODES = {"homo": "two copies of a model", "hetero": "mixed pairs"}


def cascade(found: Cascade, mark: str = "") -> Figure:
    """How often failed and successful dialogues pass each stage, by category (paper, figures 2 and 8); `mark` tells the
    figures of several judges apart."""
    who = f"{MODES.get(found.mode, found.mode)}{', ' * bool(found.condition)}{found.condition}"
    panels = {stage: [r for r in found.rates if r.stage == stage] for stage in STAGES}
    categories = [c for c in (*FAMILIES, "all") if any(r.category == c for r in found.rates)]

    def draw(width: float) -> Sheet:
        across = 1 if width <= NARROW else 2
        gap, left, bar = 34.0, 78.0, 12.0
        block = 2 * bar + 12
        tall = 26 + block * len(categories) + 12
        each = (width - gap * (across - 1)) / across
        sheet = Sheet(width, 30 + tall * -(-len(STAGES) // across))
        for x, role, edge, name in (
            (0.0, "pale0", "series0", "failed dialogues"),
            (140.0, "series0", "series0", "successful ones"),
        ):
            sheet.box(x + 0.5, 3.5, 12, 12, role, edge)
            sheet.text(x + 18, 9.5, name, "soft", size=SIZE - 0.5)
        for i, (stage, rates) in enumerate(panels.items()):
            x, top = (each + gap) * (i % across), 30 + tall * (i // across)
            sheet.text(x, top + 10, f"{stage} {STAGES[stage]}", bold=True)
            inner = each - left - 36
            axes = sheet.axes(x + left, top + 24, inner, block * len(categories))
            axes.set_xlim(0, 1)
            axes.set_ylim(block * len(categories), 0)
            axes.set_xticks([0, 0.5, 1], ["", "", ""])
            axes.set_yticks([])
            for j, category in enumerate(categories):
                sheet.text(x, top + 24 + block * (j + 0.5), category)
                for success in (False, True):
                    rate = _rate(rates, category, success)
                    if rate is None or rate.passed.value is None:
                        continue
                    passed, share, y = rate.passed, rate.passed.value, block * j + 6 + bar * (0.5 + success)
                    drawn = axes.barh(
                        y, share, bar - 1, color=colour("series0" if success else "pale0"),
                        edgecolor=colour("series0"), linewidth=1, zorder=2,
                    )  # fmt: skip
                    sheet.tip(
                        drawn[0],
                        f"{stage}, {category}, {'successful' if success else 'failed'}: {with_interval(passed)} of "
                        f"{passed.n} dialogues, {rate.silent} without a verdict",
                    )
                    if passed.low is not None:
                        ends = [max(0.0, passed.low), min(1.0, passed.high or 0.0)]
                        for role, thick in (("card", 3.6), ("ink", 1.4)):  # the seam tells it from a dark bar
                            axes.plot(ends, [y, y], color=colour(role), linewidth=thick, zorder=3)
                    sheet.text(x + each, top + 24 + y, spelled(share), "soft", "right", SIZE - 1)
        return sheet

    return Figure(
        "-".join(filter(None, ("cascade", found.mode, found.condition, mark))),
        f"Which stages dialogues pass: {who}",
        f"Share of failed and of successful dialogues that pass a stage, by category, with 95 % intervals; judged by "
        f"{found.judge}.",
        f"{who}, judged by {found.judge}. "
        + "; ".join(
            f"{stage} {STAGES[stage]}: {with_interval(bad.passed)} of failed, {with_interval(good.passed)} of "
            f"successful dialogues"
            for stage, rates in panels.items()
            if (bad := _rate(rates, "all", False)) and (good := _rate(rates, "all", True))
        ) + ".",
        ("stage", "category", "outcome", "share passed", *INTERVAL, "dialogues", "without a verdict"),
        tuple(
            (f"{r.stage} {STAGES[r.stage]}", r.category, "successful" if r.success else "failed", *told(r.passed),
             r.passed.n, r.silent)
            for r in found.rates
        ),
        draw,
    )  # fmt: skip


def _rate(rates: list[Rate], category: str, success: bool) -> Rate | None:
    return next((r for r in rates if (r.category, r.success) == (category, success)), None)


def prediction(foreseen: Foreseen) -> Figure:
    """Foreseen and measured ratio gaps (paper, figure 4)."""
    models = sorted({model for _, model, *_ in foreseen.cells})
    few = len(models) <= 2 * SERIES
    points = [
        (x, y, models.index(model) if few else 0, f"{task}, {model}: foreseen {spelled(x)}, measured {spelled(y)}")
        for task, model, x, y in foreseen.cells
    ]
    fits = "; ".join(
        f"{'in the sample' if fit.held == 'nothing' else f'held out {fit.held}'}: R² {spelled(fit.r2)}"
        + f", Spearman {spelled(fit.spearman)}" * (fit.spearman is not None)
        for fit in foreseen.fits
    )
    return Figure(
        "prediction", "The gap foreseen from how the dialogues went",
        f"A mark is a model on a task, foreseen by a fit that has not seen the task; on the dashed line it is "
        f"foreseen. Fit {fits}.",
        f"{len(points)} foreseen and measured ratio gaps. {fits}.",
        ("task", "model", "foreseen", "gap"), foreseen.cells,
        lambda width: scatter(
            width, points, "ratio gap foreseen, its task held out", "ratio gap", models if few else ()
        ),
    )  # fmt: skip


def coefficients(foreseen: Foreseen, stands: frozenset[Estimate]) -> Figure:
    """Coefficients of the fit (paper, figure 7), those of models in a colour of their own; `stands` are told from 0
    together."""
    shown = foreseen.coefficients[:MOST]
    kinds = ["of the dialogues", "which model, which family"]
    groups = [
        Group(
            "",
            [
                Line(
                    name.replace("_", " "),
                    [Mark(e.value, e.low, e.high, int(name.startswith(("model ", "family "))), name, e not in stands)],
                )
                for name, e in shown
            ],
        )
    ]
    more = len(foreseen.coefficients) - len(shown)
    return Figure(
        "coefficients", "What goes with a larger gap",
        "Change of the ratio gap, in points, for one standard deviation of an input, with 95 % intervals over tasks. "
        "Filled: told from 0 when all are read at once (Holm, 5 %). No effects: what is said may be caused by an "
        "error as well as cause it."
        + f" {more} smaller ones are in the table." * bool(more),
        "Largest coefficients, in points: "
        + "; ".join(f"{name.replace('_', ' ')} {spelled(e.value, 1, '+')}" for name, e in shown[:6]) + ".",
        ("input", "points", *INTERVAL, "told from 0"),
        tuple((name.replace("_", " "), *told(e), e in stands) for name, e in foreseen.coefficients),
        lambda width: forest(width, groups, "points of the ratio gap", key=kinds, signed=True, digits=1),
    )  # fmt: skip
