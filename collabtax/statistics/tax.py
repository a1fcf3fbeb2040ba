"""The collaboration tax: what a model loses when two copies of it each see one view (paper, section 3, equation 1).

Solo and homo rollouts of a task are paired by seed, which fixes instance and partition. Over tasks, each task weighs
the same; the ratio of a family is the mean of the ratios of its tasks (as in the paper's figures), not the ratio of
the means. A task that a model does not solve alone says nothing about coordination (appendix A.6): it keeps its own
values, marked, but for that model it stays out of the means unless asked for.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from math import fsum
from typing import TypeAlias, Unpack

from collabtax.statistics.intervals import (
    ROUNDING,
    Estimate,
    difference,
    over_seeds,
    over_tasks,
    ratio_gap,
    t_interval,
)
from collabtax.statistics.rows import Choice, FloatArray, Scored, entering, paired, partition

TRACTABLE = 0.8  # least solo mean at which a gap can be read as one of coordination


@dataclass(frozen=True, slots=True)
class TaskTax:
    """One model on one task.

    `solo`, `homo`, `tax` = solo - homo (in [-1, 1]) and `ratio` = tax / solo (at most 1, undefined where solo is 0) are
    over the `paired` seeds; `unpaired` counts the rollouts without a partner at their seed. `sd` is the standard
    deviation of the paired differences. `solo_all` and `homo_all` are over all rollouts of their mode; `tractable`
    compares `solo_all` with the target and is None without solo rollouts.
    """

    model: str
    family: str
    task: str
    solo: float | None
    homo: float | None
    tax: Estimate
    ratio: Estimate
    sd: float | None
    paired: int
    unpaired: int
    solo_all: Estimate
    homo_all: Estimate
    tractable: bool | None


_Cell: TypeAlias = tuple[TaskTax, FloatArray]  # with the paired scores (n, 2) that it is made of


@dataclass(frozen=True, slots=True)
class Headline:
    """One model over several tasks: means over `tasks`; `left_out` says why for every other one.

    `scope` is a family or "all". With no task left, all values are undefined and `reason` says so. `ratio` is over the
    tasks that have one.
    """

    scope: str
    solo: float | None
    homo: float | None
    tax: Estimate
    ratio: Estimate
    tasks: tuple[str, ...]
    left_out: dict[str, str]
    reason: str | None


@dataclass(frozen=True, slots=True)
class ModelTax:
    """All of one model: by task, by family (`families`, by name), and over all tasks (`overall`)."""

    model: str
    tasks: tuple[TaskTax, ...]
    families: dict[str, Headline]
    overall: Headline


def tax(rows: Iterable[Scored], model: str, **choice: Unpack[Choice]) -> ModelTax:
    """The tax of one model; see `taxes`. A model without rows has no tasks and an undefined headline."""
    found = taxes((row for row in rows if row.models[0] == model), **choice)
    return found.get(model) or ModelTax(model, (), {}, _headline("all", [], False))


def taxes(rows: Iterable[Scored], **choice: Unpack[Choice]) -> dict[str, ModelTax]:
    """The tax of every model that has solo or homo rows, by model; rows of other modes are passed over.

    Within a task intervals are over seeds, over several tasks they are over the tasks' values; with a single task the
    interval is that of the task, as `method` says.

    Raises:
        ValueError: several conditions and none named, a seed twice in a cell, a task in two families.
    """
    solo, homo = entering(rows, ("homo",), choice)
    intractable = choice.get("include_intractable", False)
    models: dict[str, list[_Cell]] = {}
    for (model, _), group in partition(solo + homo, lambda row: (row.models[0], row.task)).items():
        models.setdefault(model, []).append(_task_tax(group))
    result = {}
    for model, cells in models.items():
        families = {
            family: _headline(family, [cell for cell in cells if cell[0].family == family], intractable)
            for family in sorted({cell.family for cell, _ in cells})
        }
        tasks = tuple(cell for cell, _ in cells)
        result[model] = ModelTax(model, tasks, families, _headline("all", cells, intractable))
    return result


def is_tractable(solo: float) -> bool:
    """Whether a solo mean reaches the target; one that equals it but for rounding does."""
    return solo >= TRACTABLE - ROUNDING


def one_family(group: list[Scored]) -> str:
    """The family of the rows of one task.

    Raises:
        ValueError: they name several.
    """
    families = sorted({row.family for row in group})
    if len(families) > 1:
        raise ValueError(f"task {group[0].task} is in several families: {', '.join(families)}")
    return families[0]


def _task_tax(group: list[Scored]) -> _Cell:
    """The solo and homo rows of one (model, task) as their tax and the paired scores, an array (n, 2)."""
    modes = partition(group, lambda row: row.mode)
    solo, homo = modes.get("solo", []), modes.get("homo", [])
    table, unpaired = paired(solo, homo)
    n = len(table)
    solo_all = t_interval(row.score for row in solo)
    return TaskTax(
        model=group[0].models[0],
        family=one_family(group),
        task=group[0].task,
        solo=float(table[:, 0].mean()) if n else None,
        homo=float(table[:, 1].mean()) if n else None,
        tax=over_seeds(table, difference),
        ratio=over_seeds(table, ratio_gap),
        sd=float((table[:, 0] - table[:, 1]).std(ddof=1)) if n > 1 else None,
        paired=n,
        unpaired=unpaired,
        solo_all=solo_all,
        homo_all=t_interval(row.score for row in homo),
        tractable=None if solo_all.value is None else is_tractable(solo_all.value),
    ), table


def _headline(scope: str, cells: list[_Cell], include_intractable: bool) -> Headline:
    left_out = {}
    for cell, _ in cells:
        if not cell.paired:
            left_out[cell.task] = "no seed with both a solo and a homo rollout"
        elif not (cell.tractable or include_intractable):
            left_out[cell.task] = f"solo mean {cell.solo_all.value:.3f} is under {TRACTABLE}"
    kept = [(cell, table) for cell, table in cells if cell.task not in left_out]
    tables = {cell.task: table for cell, table in kept}
    reason = None
    if not kept:
        reason = (
            f"none of {len(cells)} tasks can enter: " + "; ".join(sorted(set(left_out.values())))
            if cells
            else "no rollouts"
        )
    return Headline(
        scope=scope,
        solo=_mean([cell.solo for cell, _ in kept]),
        homo=_mean([cell.homo for cell, _ in kept]),
        tax=over_tasks(tables, difference),
        ratio=over_tasks(tables, ratio_gap),
        tasks=tuple(cell.task for cell, _ in kept),
        left_out=left_out,
        reason=reason,
    )


def _mean(values: list[float | None]) -> float | None:
    defined = [value for value in values if value is not None]
    return fsum(defined) / len(defined) if defined else None
