"""Figures of the tax study, from the parts of a summary."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import groupby
from typing import TYPE_CHECKING

from collabtax.report.figures.base import (
    HEAT,
    NARROW,
    SERIES,
    SIZE,
    Figure,
    Sheet,
    colour,
    key_height,
    marked,
    room,
    short,
    spelled,
    told,
    with_interval,
)
from collabtax.report.figures.forest import Group, Line, Mark, forest, limits, scale
from collabtax.report.summary import label
from collabtax.statistics import TRACTABLE, Estimate, ModelTax, t_interval
from tasks import FAMILIES

if TYPE_CHECKING:
    from collabtax.report import summary
    from collabtax.statistics.pairs import AdditiveNull, TeamGap

CROWD = 4  # models, from which on each task has one mark for all of them
LEVELS = {
    "friction": ("none", "natural", "strong"),
    "difficulty": ("easy", "default", "hard"),
    "second look": ("yes", "no"),
}
INTERVAL = ("low", "high")


def _mark(estimate: Estimate, series: int, tip: str, hollow: bool = False) -> Mark:
    return Mark(estimate.value, estimate.low, estimate.high, series, f"{tip}: {with_interval(estimate)}", hollow)


def landscape(lines: Sequence[summary.Line]) -> Figure:
    """Ratio gap of every model in every family (paper, figure 3): models from the one that loses most to the least."""
    by_model = [(model, list(own)) for model, own in groupby(lines, key=lambda line: line.model)]

    def whole(own: Sequence[summary.Line]) -> float:
        return next((line.ratio.value for line in own if line.scope == "all" and line.ratio.value is not None), -9.0)

    by_model.sort(key=lambda one: (-whole(one[1]), one[0]))
    scopes = [s for s in (*FAMILIES, "all") if any(line.scope == s for line in lines)]
    groups = [
        Group(
            "",
            [
                Line(model, [_mark(x.ratio, scopes.index(x.scope), f"{model}, {x.scope}") for x in own])
                for model, own in by_model
            ],
        )
    ]
    ranked = "; ".join(
        f"{model}: {', '.join(f'{x.scope} {spelled(x.ratio.value)}' for x in own)}" for model, own in by_model
    )
    return Figure(
        "landscape", "Who loses how much, and on what",
        "Ratio gap, (solo − homo) / solo, of every model in every family of tasks and over all of them, with 95 % "
        "intervals: the share of what a model can do alone that is lost when two of it each see half.",
        f"Ratio gaps of {len(by_model)} models by family. {ranked}.",
        ("model", "family", "solo", "homo", "tax", "tax low", "tax high", "ratio gap", *INTERVAL, "tasks"),
        tuple(
            (x.model, x.scope, x.solo, x.homo, *told(x.tax), *told(x.ratio), len(x.tasks))
            for _, own in by_model for x in own
        ),
        lambda width: forest(width, groups, "ratio gap", key=scopes),
    )  # fmt: skip


def task_gaps(taxes: Mapping[str, ModelTax]) -> Figure:
    """Ratio gap by task (paper, figure 6), families together, the largest first.

    Up to three models have a mark each with its interval over seeds; of more, a task has their mean with an interval
    over models (those that solve it alone, if any does), and the table holds each of them.
    """
    models = sorted(taxes)
    here = [task for model in models for task in taxes[model].tasks if task.ratio.value is not None]
    crowded = len(models) >= CROWD
    groups = []
    means = {}
    for family in FAMILIES:
        tasks = sorted({task.task for task in here if task.family == family})
        for name in tasks:
            own = [t for t in here if t.task == name]
            gaps = [t.ratio.value for t in [t for t in own if t.tractable] or own if t.ratio.value is not None]
            means[name] = t_interval(gaps, unit="models")
        tasks.sort(key=lambda name: (-(means[name].value or 0.0), name))
        lines = []
        for name in tasks:
            own = [task for task in here if task.task == name]
            each = [_mark(t.ratio, models.index(t.model), f"{t.model}, {name}", hollow=not t.tractable) for t in own]
            nobody = not any(t.tractable for t in own)
            together = _mark(means[name], 0, f"{name}, mean of {means[name].n} models", hollow=nobody)
            lines.append(Line(name, [together] if crowded else each))
        if lines:
            groups.append(Group(family, lines))
    order = [line.label for group in groups for line in group.lines]
    first = ", ".join(
        f"{name} {spelled(means[name].value)}" for name in sorted(order, key=lambda n: -(means[n].value or 0))[:3]
    )
    whose = (
        f"the mean over those of {len(models)} models that solve it alone (solo at least {TRACTABLE}), with its 95 % "
        "interval over models. Hollow: none does, and it is over all"
        if crowded
        else f"with 95 % intervals over seeds. Hollow: the model does not solve the task alone (solo under "
        f"{TRACTABLE}), so that it is in no mean"
    )
    return Figure(
        "task-gaps", "Where it is lost: the gap by task",
        f"Ratio gap of every task, largest first in each family: {whose}.",
        f"Ratio gaps of {len(order)} tasks and {len(models)} models. On average most is lost on {first or 'none'}.",
        ("family", "task", "model", "solo", "homo", "ratio gap", *INTERVAL, "seeds", "solved alone"),
        tuple(
            (t.family, t.task, t.model, t.solo, t.homo, *told(t.ratio), t.paired, t.tractable)
            for name in order for t in here if t.task == name
        ),
        lambda width: forest(width, groups, "ratio gap", key=() if crowded else models),
    )  # fmt: skip


def pair_map(teams: Mapping[tuple[str, str], TeamGap]) -> Figure:
    """Ratio gap of every team by initiator and responder (paper, figure 9)."""
    members = sorted({model for models in teams for model in models})
    letters = [chr(ord("A") + i) if i < 26 else f"A{i - 25}" for i in range(len(members))]

    def draw(width: float) -> Sheet:
        narrow = width <= NARROW
        left = 30.0 if narrow else max(44 + max(room(short(m)) for m in members), 14 + room("initiator ↓"))
        legend = 18 * len(members) + 10 if narrow else 0
        size = min(92.0, (width - left) / len(members))
        low = min(size, 52.0)
        sheet = Sheet(width, legend + 44 + low * len(members) + 4)
        if narrow:
            for i, model in enumerate(members):
                sheet.text(0, 9 + 18 * i, letters[i], bold=True)
                sheet.text(left, 9 + 18 * i, short(model, 40))
        sheet.text(left, legend + 9, "responder →", "soft")
        if not narrow:
            sheet.text(left - 12, legend + 9, "initiator ↓", "soft", "right")
        for j in range(len(members)):
            sheet.text(left + size * (j + 0.5), legend + 30, letters[j], bold=True, anchor="center")
        for i, first in enumerate(members):
            middle = legend + 42 + low * (i + 0.5)
            sheet.text(left - 12, middle, letters[i] if narrow else f"{short(first)}  {letters[i]}", anchor="right")
            for j, second in enumerate(members):
                team = teams.get((first, second))
                gap = team.ratio.value if team else None
                step = 0 if gap is None else max(0, min(HEAT, round(HEAT * gap)))
                box = sheet.box(
                    left + size * j + 1,
                    legend + 42 + low * i + 1,
                    size - 2,
                    low - 2,
                    f"heat{step}" if step else "card",
                    "line",
                )
                at = left + size * (j + 0.5)
                if team is None or gap is None:
                    sheet.text(at, middle, "·", "soft", "center")
                    continue
                sheet.tip(
                    box, f"{first}, then {second}: {with_interval(team.ratio)}, scores {spelled(team.score.value)}"
                )
                wide = size > 74
                sheet.text(
                    at, middle - 8 * wide, spelled(gap), anchor="center", bold=True, size=SIZE if size > 38 else 9
                )
                if wide and team.ratio.low is not None:
                    said = f"{spelled(team.ratio.low)} to {spelled(team.ratio.high)}"
                    sheet.text(at, middle + 9, said, anchor="center", size=9.5)
        return sheet

    played = sorted(teams.values(), key=lambda team: team.models)
    known = [team for team in played if team.ratio.value is not None]
    most = max(known, key=lambda team: team.ratio.value or 0.0, default=None)
    return Figure(
        "pair-map", "Who with whom",
        "Ratio gap of every team, (better member alone − team) / better member alone, by who speaks first; on the "
        "diagonal, two copies of a model. The redder, the more is lost; a point: not run, or no task can enter.",
        f"Ratio gaps of {len(known)} teams of {len(members)} models"
        + (f"; the most is lost by {label(most.models)}: {with_interval(most.ratio)}." if most else "."),
        ("initiator", "responder", "ratio gap", *INTERVAL, "score", "score low", "score high", "tasks"),
        tuple((*team.models, *told(team.ratio), *told(team.score), len(team.tasks)) for team in played),
        draw, 60 + 92 * len(members) + 180 if len(members) < 6 else 720,
    )  # fmt: skip


def scatter(
    width: float, points: Sequence[tuple[float, float, int, str]], across: str, up: str, key: Sequence[str],
    line: tuple[float, float] | None = None,
) -> Sheet:  # fmt: skip
    """Points (x, y, series, tip) on one scale in both directions, with the line of equal values and perhaps another
    one, as slope and intercept."""
    named = [short(name, 36) for name in key]
    left, narrow = 46.0, width <= NARROW
    top = 18.0 * len(named) + 8 if narrow and named else 6.0
    side = width - left - 8 - (0 if narrow else 260)  # the key stands to the right where there is room
    sheet = Sheet(width, top + side + 48)
    for i, name in enumerate(named):
        x, y = (6.0, 9 + 18.0 * i) if narrow else (width - 240, top + 14 + 22.0 * i)
        sheet.mark(x, y, i)
        sheet.text(x + 11, y, name, "soft", size=SIZE - 0.5)
    axes = sheet.axes(left, top, side, side)
    low, high = limits([value for x, y, *_ in points for value in (x, y)])
    axes.set_xlim(low, high)
    axes.set_ylim(low, high)
    scale(axes, 5)
    scale(axes, 5, up=True)
    axes.plot([low, high], [low, high], color=colour("soft"), linewidth=1.2, dashes=(4, 3), zorder=1)
    if line:
        slope, intercept = line
        ends = [low, high] + ([(end - intercept) / slope for end in (low, high)] if slope else [])
        inside = sorted(x for x in ends if low <= x <= high and low - 1e-9 <= slope * x + intercept <= high + 1e-9)
        if inside:
            shown = [inside[0], inside[-1]]
            axes.plot(shown, [slope * x + intercept for x in shown], color=colour("ink"), linewidth=1.8, zorder=4)
    for x, y, series, tip in points:
        (drawn,) = axes.plot([x], [y], linestyle="none", zorder=3, **marked(series))
        sheet.tip(drawn, tip)
    sheet.text(left + side / 2, top + side + 34, across, "soft", "center")
    sheet.text(8, top + side / 2, up, "soft", "center", turned=True)
    return sheet


def null_scatter(null: AdditiveNull) -> Figure:
    """Gaps of mixed pairs beside the midpoint of their members' (paper, figure 5), with the fit."""
    teams = sorted({p.models for p in null.points})
    few = len(teams) <= 2 * SERIES
    points = [
        (p.midpoint, p.gap, teams.index(p.models) if few else 0,
         f"{p.task}, {label(p.models)}: midpoint {spelled(p.midpoint)}, gap {spelled(p.gap)}")
        for p in null.points
    ]  # fmt: skip
    slope, intercept = null.slope.value, null.intercept.value
    line = None if slope is None or intercept is None else (slope, intercept)
    fit = (
        f"fit: gap = {spelled(slope)} · midpoint {'−' if (intercept or 0) < 0 else '+'} "
        f"{spelled(abs(intercept or 0))}, slope {with_interval(null.slope)}, intercept "
        f"{with_interval(null.intercept, '+')}, R² {with_interval(null.r2)}"
        if line
        else "no fit, as the midpoints do not differ"
    )
    return Figure(
        "additive-null", "Is a pair the average of its members?",
        "A mark is a pair on a task: across, the mean of its members’ ratio gaps in teams of two copies; up, its own. "
        f"On the dashed line a pair loses what its members lose on average, below it less. Solid line, {fit}; "
        f"midpoint − gap {with_interval(null.below, '+')}.",
        f"{len(points)} pairs on tasks, gap against midpoint; {fit}.",
        ("initiator", "responder", "task", "midpoint", "gap"),
        tuple((*p.models, p.task, p.midpoint, p.gap) for p in null.points),
        lambda width: scatter(
            width, points, "midpoint of the members’ ratio gaps", "ratio gap of the pair",
            [f"{a} → {b}" for a, b in teams] if few else (), line,
        ),
    )  # fmt: skip


def interventions(effects: Sequence[summary.Effect], stands: frozenset[Estimate]) -> Figure:
    """Lift of every intervention by team (paper, table 1); `stands` are the changes that are told from 0 together."""
    by_team: dict[tuple[str, ...], list[summary.Effect]] = {}
    for effect in effects:
        by_team.setdefault(effect.models, []).append(effect)
    groups = [
        Group(
            label(models),
            [
                Line(e.condition, [_mark(e.change, 0, f"{label(models)}, {e.condition}", e.change not in stands)])
                for e in own
            ],
        )
        for models, own in by_team.items()
    ]
    return Figure(
        "interventions", "What the clauses change",
        "Score under an intervention minus that of the plain dialogue of the same seeds, with 95 % intervals; right "
        f"of 0 it helps. Filled: told from 0 when all {len(effects)} are read at once (Holm, 5 %).",
        "Change of the score by team and intervention. "
        + "; ".join(f"{label(e.models)}, {e.condition}: {with_interval(e.change, '+')}" for e in effects) + ".",
        ("team", "intervention", "tax", "tax low", "tax high", "change", *INTERVAL, "told from 0"),
        tuple((label(e.models), e.condition, *told(e.tax), *told(e.change), e.change in stands) for e in effects),
        lambda width: forest(width, groups, "score minus plain dialogue", signed=True),
    )  # fmt: skip


def sweeps(swept: Sequence[summary.Swept], friction: str = "natural", difficulty: str = "default") -> Figure:
    """The tax against friction, difficulty and the second look; `friction` and `difficulty` are the run's own."""
    places = {"friction": friction, "difficulty": difficulty, "second look": "yes"}
    models = sorted({line.model for line in swept})
    panels: dict[str, list[tuple[str, int, summary.Swept]]] = {}
    for what, levels in LEVELS.items():
        own = [(levels.index(level), line) for line in swept if (level := _level(what, line.condition)) in levels]
        said = {(line.model, place) for place, line in own}
        base = [
            (levels.index(places[what]), line) for line in swept
            if not line.condition and (line.model, levels.index(places[what])) not in said
        ]  # fmt: skip
        if own:
            panels[what] = [
                (line.model, at, line) for at, line in sorted([*own, *base], key=lambda x: (x[1].model, x[0]))
            ]

    def draw(width: float) -> Sheet:
        narrow = width <= NARROW
        across = 1 if narrow else len(panels)
        left, gap, tall = 42.0, 26.0, 190.0
        names = [short(name) for name in models]
        key = key_height(names, width)
        each = (width - left - 8 - gap * (across - 1)) / across
        sheet = Sheet(width, key + (tall + 66) * -(-len(panels) // across) + 4)
        sheet.key(names)
        low, high = limits([x for panel in panels.values() for *_, line in panel for x in told(line.tax)])
        for i, (what, lines) in enumerate(panels.items()):
            x, top = left + (each + gap) * (i % across), key + 4 + (tall + 66) * (i // across)
            axes = sheet.axes(x, top + 22, each, tall)
            axes.set_ylim(low, high)
            axes.set_xlim(-0.4, len(LEVELS[what]) - 0.6)
            scale(axes, 5, up=True)
            axes.set_xticks(range(len(LEVELS[what])), LEVELS[what])
            axes.grid(visible=False, axis="x")
            axes.axhline(0, color=colour("soft"), linewidth=1, zorder=1)
            axes.tick_params(labelleft=i % across == 0)
            sheet.text(x, top + 8, {"second look": "second look of solo"}.get(what, what), bold=True)
            for series, model in enumerate(models):
                own = [
                    (at + min(0.09, 0.7 / len(models)) * (series - (len(models) - 1) / 2), line)
                    for name, at, line in lines
                    if name == model
                ]
                known = [(at, line, line.tax.value) for at, line in own if line.tax.value is not None]
                style = marked(series)
                axes.plot([at for at, *_ in known], [tax for *_, tax in known], color=style["color"], linewidth=1.4)
                for at, line, tax in known:
                    if line.tax.low is not None and line.tax.high is not None:
                        axes.plot([at, at], [line.tax.low, line.tax.high], color=style["color"], linewidth=1.8)
                    (drawn,) = axes.plot([at], [tax], linestyle="none", zorder=3, **style)
                    sheet.tip(drawn, f"{model}, {line.condition or 'as run'}: {with_interval(line.tax)}")
        sheet.text(8, key + 26 + tall / 2, "tax", "soft", "center", turned=True)
        return sheet

    return Figure(
        "sweeps", "The tax under other settings",
        "Tax (solo − homo) with 95 % intervals against how far apart the agents’ frames start (friction), the size of "
        "the instances (difficulty), and with or without the second look that solo takes at its answer.",
        "Tax by model and setting. "
        + "; ".join(f"{x.model}, {x.condition or 'as run'}: {with_interval(x.tax)}" for x in swept) + ".",
        ("model", "settings", "solo", "homo", "tax", *INTERVAL, "ratio gap", "ratio low", "ratio high", "tasks"),
        tuple(
            (x.model, x.condition or "as run", x.solo, x.homo, *told(x.tax), *told(x.ratio), len(x.tasks))
            for x in swept
        ),
        draw,
    )  # fmt: skip


def _level(what: str, condition: str) -> str:
    """Where a sweep's condition stands on the scale of `what`; "" where it is of another one."""
    if what == "second look":
        return "no" if condition == "no-critic" else ""
    return condition.removeprefix(f"{what}-") if condition.startswith(f"{what}-") else ""
