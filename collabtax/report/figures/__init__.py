"""Figures of a report: drawings for pages and files, in words too, with the numbers behind them (docs/figures.md)."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from collabtax.report.figures.base import Figure, style, table
from collabtax.report.figures.mechanism import cascade, coefficients, prediction
from collabtax.report.figures.studies import contrasts, swap, timeline
from collabtax.report.figures.tax import interventions, landscape, null_scatter, pair_map, sweeps, task_gaps
from collabtax.report.several import standing

if TYPE_CHECKING:
    from collabtax.report.mechanism import Mechanism
    from collabtax.report.summary import Summary

__all__ = [
    "Figure",
    "cascade",
    "coefficients",
    "contrasts",
    "interventions",
    "landscape",
    "null_scatter",
    "of",
    "pair_map",
    "prediction",
    "style",
    "swap",
    "sweeps",
    "table",
    "task_gaps",
    "timeline",
]


def of(summary: Summary, mechanism: Mechanism | None = None) -> Iterator[Figure]:
    """The figures that a summary and what was found out about its dialogues have data for, in the order of a page.

    Names are unique; nothing is drawn before it is asked for. Cascades are those of the plain dialogues.
    """
    if any(line.ratio.value is not None for line in summary.lines):
        yield landscape(summary.lines)
    if any(task.ratio.value is not None for model in summary.taxes.values() for task in model.tasks):
        yield task_gaps(summary.taxes)
    if any(team.ratio.value is not None for team in summary.map.values()):
        yield pair_map(summary.map)
    if summary.null.points:
        yield null_scatter(summary.null)
    if any(effect.change.value is not None for effect in summary.effects):
        yield interventions(summary.effects, summary.stands["effects"])
    if any(line.condition and line.tax.value is not None for line in summary.swept):
        said: dict[str, str] = next((row["said"] for cell in summary.cells for row in cell.rows.values()), {})
        yield sweeps(summary.swept, said.get("friction", "natural"), said.get("difficulty", "default"))
    if mechanism:
        judges = list(dict.fromkeys(found.judge for found in mechanism.cascades))
        for found in (one for one in mechanism.cascades if not one.condition):
            yield cascade(found, str(judges.index(found.judge) + 1) if len(judges) > 1 else "")
        if mechanism.foreseen and mechanism.foreseen.cells:
            yield prediction(mechanism.foreseen)
            yield coefficients(mechanism.foreseen, standing(e for _, e in mechanism.foreseen.coefficients))
