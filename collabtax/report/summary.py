"""Rows to numbers: everything that terminal and pages say, computed once. Pure: no files, no clock."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from statistics import median_low
from typing import Any

from collabtax.cells import Cell
from collabtax.models import SIMULATED
from collabtax.options import MODES, SWEEPS
from collabtax.report.several import resolved, standing
from collabtax.statistics import (
    TRACTABLE,
    Estimate,
    ModelTax,
    PairRow,
    Scored,
    difference,
    over_task_means,
    over_tasks,
    pair_table,
    paired,
    partition,
    power_hint,
    seat_asymmetry,
    t_interval,
    taxes,
)
from collabtax.statistics.intervals import over
from collabtax.statistics.pairs import AdditiveNull, Spread, TaskGame, TeamGap, additive_null, team_map
from collabtax.statistics.rows import FloatArray
from tasks import FAMILIES

Row = dict[str, Any]

COUNTED = ("scored", "no_answer", "unreadable")  # outcomes that have a score; "infrastructure" has none
UNREADABLE_ALARM = 0.05  # share of answers that could not be read, above which scores are in doubt
FEW = 8  # tasks, fewer than which say little about tasks in general
SILENT_ALARM = 0.2  # share of rollouts without an answer, half-view ones apart, that calls for a look


@dataclass(frozen=True)
class CellSummary:
    """A cell with its rows by seed. `mean` takes what was not answered or not read as 0, `readable` leaves it out."""

    cell: Cell
    planned: int
    rows: dict[int, Row]
    outcomes: dict[str, int]
    mean: Estimate
    readable: Estimate

    @property
    def told(self) -> str:
        """Outcomes in words, the commonest first."""
        counted = Counter(self.outcomes) + Counter(skipped=self.planned - len(self.rows))
        return ", ".join(f"{n} {name.replace('_', ' ')}" for name, n in counted.most_common())


@dataclass(frozen=True)
class Line:
    """A model over a family or over all tasks. `aside`: no task can enter the means, so solo and homo are over all."""

    model: str
    scope: str
    solo: float | None
    homo: float | None
    tax: Estimate
    ratio: Estimate
    tasks: tuple[str, ...]
    aside: bool


@dataclass(frozen=True)
class Lift:
    """Under an intervention, over a family or all tasks: by how much the team's score differs from the plain
    dialogue's, and the share of the plain tax that this is, undefined where that tax is not told from 0 (table 1)."""

    scope: str
    change: Estimate
    closed: Estimate


@dataclass(frozen=True)
class Effect:
    """An intervention: the tax under it, and by how much the team's score differs from the plain dialogue's, over all
    tasks, with the spread of that difference on each, and by scope (families, then "all")."""

    models: tuple[str, ...]
    condition: str
    tax: Estimate
    change: Estimate
    spreads: tuple[Spread, ...]
    lifts: tuple[Lift, ...]


@dataclass(frozen=True)
class Swept:
    """A model under the settings of a sweep's condition, "" for those of the run: over the tasks that enter there."""

    model: str
    condition: str
    solo: float | None
    homo: float | None
    tax: Estimate
    ratio: Estimate
    tasks: tuple[str, ...]
    spreads: tuple[Spread, ...]


@dataclass(frozen=True)
class Counts:
    """Every planned rollout, once."""

    planned: int
    scored: int
    no_answer: int
    unreadable: int
    infrastructure: int
    skipped: int

    @property
    def line(self) -> str:
        """The counts as a sum; says so when it is none."""
        answered = self.scored + self.no_answer
        total = answered + self.unreadable + self.infrastructure + self.skipped
        return (
            f"planned {self.planned} = scored {answered} (of which {self.no_answer} without an answer) + unreadable "
            f"{self.unreadable} + infrastructure {self.infrastructure} + skipped {self.skipped}"
            + ("" if total == self.planned else f" - DOES NOT ADD UP: {total}")
        )


@dataclass(frozen=True)
class Summary:
    """What a run says. `readings` counts for each team how answers were read (`graders.extract.WARNINGS`),
    `agreement` what two extractors made of the same transcripts. `pairs` come with their seat asymmetry over the same
    tasks; `map` holds every team by initiator and responder, `null` the pairs beside the midpoint of their members.
    By table ("lines", "tasks", "pairs", "games", "seats", "effects", "lifts", "swept"), `stands` holds the differences
    that are told from 0 when all of the table are read at once, and `resolves` says which difference it resolves.
    `hint`, how closely this many rollouts measure, `caveat`, what intervals over few tasks are about, and what
    `resolves` says are "" where there is nothing to say.
    """

    cells: tuple[CellSummary, ...]
    lines: tuple[Line, ...]
    taxes: dict[str, ModelTax]
    pairs: tuple[tuple[PairRow, Estimate], ...]
    map: dict[tuple[str, str], TeamGap]
    null: AdditiveNull
    effects: tuple[Effect, ...]
    swept: tuple[Swept, ...]
    stands: dict[str, frozenset[Estimate]]
    resolves: dict[str, str]
    counts: Counts
    readings: tuple[tuple[str, Counter[str]], ...]
    agreement: Counter[str]
    tokens: tuple[int, int]
    cost: float
    unpriced: int
    warnings: tuple[str, ...]
    notes: tuple[str, ...]
    hint: str
    caveat: str

    @property
    def seats(self) -> tuple[tuple[PairRow, Estimate], ...]:
        """Each two members once, in the order in which their seat asymmetry is told."""
        return tuple((p, seats) for p, seats in self.pairs if first_of_both(p))

    @property
    def games(self) -> tuple[tuple[PairRow, TaskGame, str], ...]:
        """Max-superadditivity by pair and task, with what is told of it when all lines are read at once: "violated",
        "holds" (the pair is better than both) or "not decided"."""
        told = self.stands["games"]
        return tuple(
            (p, g, ("violated" if (g.tax.value or 0) > 0 else "holds") if g.tax in told else "not decided")
            for p, _ in self.pairs
            for g in p.by_task
        )

    @property
    def planned(self) -> tuple[int, int]:
        """The least and the most rollouts that a cell has in the plan."""
        planned = [c.planned for c in self.cells] or [0]
        return min(planned), max(planned)

    @property
    def spent(self) -> str:
        """Tokens and money of all rollouts, those of earlier sessions included."""
        price = f"${self.cost:.4f}" + (f" and price unknown of {rollouts(self.unpriced)}" if self.unpriced else "")
        if self.unpriced and not self.cost:
            price = "price unknown"
        return f"{self.tokens[0]} prompt tokens, {self.tokens[1]} completion tokens, {price}"


def summarise(results: Iterable[tuple[Cell, Mapping[int, Row | None]]]) -> Summary:
    """The summary of cells with the row of each planned seed, None where there is none."""
    found = [summarise_cell(cell, rows) for cell, rows in results]
    cells = tuple(sorted(found, key=lambda c: order(c.cell)))
    scored = [
        Scored(c.cell.task, c.cell.family, c.cell.mode, c.cell.models, c.cell.condition, seed, row["score"])
        for c in cells for seed, row in c.rows.items() if row["outcome"] in COUNTED
    ]  # fmt: skip
    by_model = taxes(scored, condition="", solo_condition="")
    pairs = tuple(
        (p, seat_asymmetry((row for row in scored if row.task in p.tasks), *p.models, condition=""))
        for p in pair_table(scored, condition="", solo_condition="")
    )
    outcomes: Counter[str] = sum((Counter(c.outcomes) for c in cells), Counter())
    rows = [row for c in cells for row in c.rows.values()]
    planned = sum(c.planned for c in cells)
    ended = {outcome: outcomes[outcome] for outcome in (*COUNTED, "infrastructure")}
    counts = Counts(planned=planned, skipped=planned - len(rows), **ended)
    by_line = tuple(line for m in by_model.values() for line in lines(m))
    by_effect = tuple(effects(scored, by_model, [p for p, _ in pairs]))
    by_setting = tuple(swept(scored, by_model))
    tables = {
        "lines": [line.tax for line in by_line],
        "tasks": [t.tax for m in by_model.values() for t in m.tasks],
        "pairs": [p.tax for p, _ in pairs],
        "games": [g.tax for p, _ in pairs for g in p.by_task],
        "seats": [seats for p, seats in pairs if first_of_both(p)],
        "effects": [e.change for e in by_effect],
        "lifts": [one.change for e in by_effect for one in e.lifts if one.scope != "all"],
        "swept": [line.tax for line in by_setting],
    }
    return Summary(
        cells=cells, taxes=by_model, lines=by_line, pairs=pairs,
        map=team_map(scored, condition="", solo_condition="") if pairs else {},
        null=additive_null(scored, condition="", solo_condition=""),
        swept=by_setting, effects=by_effect, stands={name: standing(table) for name, table in tables.items()},
        resolves={
            "lines": resolved((m.overall.tax, spreads(m)) for m in by_model.values()),
            "pairs": resolved((p.tax, [g.spread for g in p.by_task]) for p, _ in pairs),
            "effects": resolved((e.change, e.spreads) for e in by_effect),
            "swept": resolved((line.tax, line.spreads) for line in by_setting),
        }, counts=counts,
        readings=tuple(readings(cells)), agreement=Counter(r["second"]["agreement"] for r in rows if r.get("second")),
        tokens=(sum(r["usage"].get("prompt", 0) for r in rows), sum(r["usage"].get("completion", 0) for r in rows)),
        cost=round(sum(sorted(r["cost"] or 0.0 for r in rows)), 6), unpriced=sum(r["cost"] is None for r in rows),
        warnings=tuple(warnings(cells, counts)), notes=tuple(notes(cells, by_model)), hint=hint(by_model),
        caveat=caveat([(len(x.tasks), x.tax) for some in (by_line, [p for p, _ in pairs]) for x in some]),
    )  # fmt: skip


def order(cell: Cell) -> tuple[Any, ...]:
    """Cells by family, task, mode, models, condition."""
    return (
        cell.study,
        FAMILIES.index(cell.family),
        cell.task,
        MODES["tax"].index(cell.mode),
        cell.models,
        cell.condition,
    )


def summarise_cell(cell: Cell, rows: Mapping[int, Row | None]) -> CellSummary:
    there = {seed: row for seed, row in sorted(rows.items()) if row is not None}
    scores = [r["score"] for r in there.values() if r["outcome"] in COUNTED]
    readable = [r["score"] for r in there.values() if r["outcome"] == "scored"]
    outcomes = dict(Counter(row["outcome"] for row in there.values()))
    return CellSummary(cell, len(rows), there, outcomes, t_interval(scores), t_interval(readable))


def lines(model: ModelTax) -> Iterable[Line]:
    """A line for each family, then one for all."""
    for head in (*(model.families[f] for f in FAMILIES if f in model.families), model.overall):
        solo, homo, mine = head.solo, head.homo, [t for t in model.tasks if head.scope in (t.family, "all")]
        if not head.tasks:
            solo, homo = (mean(getattr(t, mode).value for t in mine) for mode in ("solo_all", "homo_all"))
        yield Line(model.model, head.scope, solo, homo, head.tax, head.ratio, head.tasks, not head.tasks)


def mean(values: Iterable[float | None]) -> float | None:
    """Mean of what is defined."""
    return t_interval(value for value in values if value is not None).value


def effects(scored: Sequence[Scored], by_model: dict[str, ModelTax], pairs: Sequence[PairRow]) -> Iterable[Effect]:
    """Each intervention beside the plain dialogue of the same seeds, over the tasks of the headline."""
    teams = [row for row in scored if row.mode in ("homo", "hetero")]
    solos = [row for row in scored if row.mode == "solo" and not row.condition]
    enters: dict[tuple[str, ...], tuple[str, ...]] = {p.models: p.tasks for p in pairs}
    enters.update({(name, name): model.overall.tasks for name, model in by_model.items()})
    for condition in sorted({row.condition for row in teams} - {"", *SWEEPS}):
        under: dict[tuple[str, ...], Estimate] = {
            p.models: p.tax for p in pair_table(scored, condition=condition, solo_condition="")
        }
        found = taxes(scored, condition=condition, solo_condition="")
        under.update({(name, name): model.overall.tax for name, model in found.items()})
        for models, mine in partition(teams, lambda row: row.models).items():
            if any(row.condition == condition for row in mine):
                entered = [row for row in mine if row.task in enters.get(models, ())]
                both = lined_up(entered, condition, [])
                alone = [[row for row in solos if row.models[0] == name] for name in members(models)]
                found_lifts = lifts(both, lined_up(entered, condition, alone), {r.task: r.family for r in entered})
                yield Effect(
                    models, condition, under.get(models, t_interval(())), found_lifts[-1].change,
                    tuple(Spread.of(table[:, 0] - table[:, 1]) for table in both.values()), found_lifts,
                )  # fmt: skip


def lined_up(team: Sequence[Scored], condition: str, alone: Sequence[Sequence[Scored]]) -> dict[str, FloatArray]:
    """Scores (n, 2 + members) by task, by seed: under the condition, plain, and alone; without tasks that have none."""
    cells = partition(team, lambda row: (row.task, row.condition))
    solos = [partition(rows, lambda row: row.task) for rows in alone]
    found = {
        task: paired(cells.get((task, condition), []), cells.get((task, ""), []), *(one.get(task, []) for one in solos))
        for task in dict.fromkeys(task for task, _ in cells)
    }
    return {task: table for task, (table, _) in found.items() if len(table)}


def lifts(
    both: Mapping[str, FloatArray], with_solos: Mapping[str, FloatArray], family: Mapping[str, str]
) -> tuple[Lift, ...]:
    """For each family, then for all tasks, from the tables of `lined_up` without and with the members alone."""
    found = []
    for scope in (*(f for f in FAMILIES if f in family.values()), "all"):
        mine, whole = (
            {t: table for t, table in some.items() if scope in (family[t], "all")} for some in (both, with_solos)
        )
        plain = over_tasks(whole, plain_tax)
        closed = over_task_means(whole, share_closed) if plain.low is not None and plain.low > 0 else t_interval(())
        found.append(Lift(scope, over_tasks(mine, difference), closed))
    return tuple(found)


def plain_tax(means: FloatArray) -> FloatArray:
    """Statistic: the better member's score minus the plain dialogue's."""
    best: FloatArray = means[..., 2:].max(axis=-1)
    return best - means[..., 1]


def share_closed(means: FloatArray) -> FloatArray:
    """Statistic: the lift over the plain tax; nan where that is 0."""
    return over(difference(means), plain_tax(means))


def swept(scored: Sequence[Scored], by_model: dict[str, ModelTax]) -> Iterable[Swept]:
    """Each model under each condition of a sweep, and under the run's own settings."""
    there = {row.condition for row in scored}
    conditions = [sweep for sweep in SWEEPS if sweep in there]
    found = {c: taxes(scored, condition="" if c == "no-critic" else c, solo_condition=c) for c in conditions}
    for model in sorted(by_model) if conditions else ():
        for condition, models in (("", by_model), *found.items()):
            if model in models:
                head = models[model].overall
                yield Swept(
                    model, condition, head.solo, head.homo, head.tax, head.ratio, head.tasks, spreads(models[model])
                )


def spreads(model: ModelTax) -> tuple[Spread, ...]:
    """Of the tax, on each task of the headline."""
    return tuple(
        Spread(t.tax.value, t.sd, t.paired)
        for t in model.tasks
        if t.task in model.overall.tasks and t.tax.value is not None
    )


def first_of_both(pair: PairRow) -> bool:
    """Whether this is the order in which what both orders say of the seats is said, once."""
    return pair.models[0] < pair.models[1]


def readings(cells: Sequence[CellSummary]) -> Iterable[tuple[str, Counter[str]]]:
    """For each team how its answers were read; rollouts that could not be run are left out."""
    found: dict[str, Counter[str]] = {}
    for c in cells:
        told = (row["warning"] for row in c.rows.values() if row["outcome"] in COUNTED)
        found.setdefault(label(c.cell.models), Counter()).update(told)
    return sorted(found.items())


def members(models: Sequence[str]) -> tuple[str, ...]:
    """The models of a team, initiator first, each once."""
    return tuple(dict.fromkeys(models))


def label(models: Sequence[str]) -> str:
    """A team, the same everywhere: initiator + responder, or the one model. (`team` of words.html is this in HTML.)"""
    return " + ".join(members(models))


def warnings(cells: Sequence[CellSummary], counts: Counts) -> Iterable[str]:
    """What makes the numbers doubtful, loudest first."""
    teams: dict[str, Counter[str]] = {}
    spoke: Counter[str] = Counter()  # half-view rollouts apart: they rarely can have an answer
    for c in cells:
        teams.setdefault(label(c.cell.models), Counter()).update(c.outcomes)
        if c.cell.mode != "half":
            spoke.update(c.outcomes)
    for name, got in sorted(teams.items()):
        answers = sum(got[o] for o in COUNTED)
        if got["unreadable"] > UNREADABLE_ALARM * answers:
            yield (
                f"{got['unreadable'] / answers:.0%} of the answers of {name} could not be read ({got['unreadable']} of "
                f"{answers}) and count as 0: read some before you trust its scores"
            )
    if spoke["no_answer"] > SILENT_ALARM * (answers := sum(spoke[o] for o in COUNTED)):
        yield f"{spoke['no_answer'] / answers:.0%} of the rollouts ended without an answer, which counts as 0"
    if counts.infrastructure:
        errors = (r["error"] for c in cells for r in c.rows.values() if r["outcome"] == "infrastructure")
        yield f"{rollouts(counts.infrastructure)} could not be run and are in no mean; the first: {next(errors):.300}"
    if counts.skipped:
        yield f"{rollouts(counts.skipped)} of the plan were not run; start the same command again to add them"


def rollouts(n: int) -> str:
    return f"{n} rollout{'s' * (n != 1)}"


def notes(cells: Sequence[CellSummary], by_model: dict[str, ModelTax]) -> Iterable[str]:
    """What stays out of the means, and which models the numbers are of."""
    for name, model in by_model.items():
        under = [t for t in model.tasks if t.tractable is False]
        alone = mean(t.solo_all.value for t in model.tasks)
        if under and len(under) == len([t for t in model.tasks if t.tractable is not None]):
            yield f"{name} solves only {alone:.2f} of what it sees alone; its tax says nothing about coordination"
        elif under:
            left = ", ".join(f"{t.task} {t.solo_all.value:.2f}" for t in under)
            yield f"{name}: left out of the headline means, as its solo mean is under {TRACTABLE}: {left}"
    if simulated := sorted({m for c in cells for m in c.cell.models if m.startswith(SIMULATED)}):
        yield f"Simulated models, which are scripted policies and no language models: {', '.join(simulated)}"


def hint(by_model: dict[str, ModelTax]) -> str:
    """How closely this many rollouts measure the tax on one task, from the spread of the paired differences."""
    usable = [(t.sd, t.paired) for m in by_model.values() for t in m.tasks if t.sd is not None and t.tractable]
    if not usable or not any(sd for sd, _ in usable):
        return ""
    sd = (sum(sd * sd for sd, _ in usable) / len(usable)) ** 0.5
    power = power_hint(sd, median_low(n for _, n in usable))
    return (
        f"on one task {power.n} rollouts measure a tax to within +-{power.half_width:.2f} (95 %); {power.needed} to "
        f"within +-{power.needed_half_width:.2f}"
    )


def caveat(found: Iterable[tuple[int, Estimate]]) -> str:
    """What intervals over so few tasks are about; `found` are numbers of tasks with the estimate over them."""
    over = {tasks for tasks, estimate in found if estimate.low is not None}
    told = ["with one task an interval is over its seeds only"] * (1 in over)
    if any(1 < tasks < FEW for tasks in over):
        told.append(
            f"over few tasks (under eight) {'it' if told else 'an interval'} speaks for tasks in general only as far "
            "as these are like the rest"
        )
    return "; ".join(told)
