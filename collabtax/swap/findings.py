"""Rows to findings: everything that terminal, Markdown and pages say of a run of the swap, computed once."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from statistics import fmean, median_low

from collabtax.cells import Cell
from collabtax.models import SIMULATED
from collabtax.report.several import standing
from collabtax.report.summary import CellSummary, Counts, rollouts, summarise_cell
from collabtax.settings import Settings
from collabtax.statistics.intervals import Estimate, power_hint
from collabtax.statistics.swap import (
    COSTS,
    HALVES,
    Composition,
    Contrast,
    Line,
    Summary,
    built,
    changed,
    composition,
    contrasts,
    lines,
    planning,
    summary,
)
from collabtax.study import Results, Row
from collabtax.swap.configuration import Configuration
from collabtax.swap.invariants import violations

FEW = 5  # repetitions, fewer than which are said to tell little [our choice]; the paper has ten
SEATWISE = ("loss", "gain")  # contrasts that the table of seats has
OUTCOMES = ("scored", "no_answer", "unreadable", "infrastructure")
BROKEN = 5  # violations that are told one by one; the page has all


@dataclass(frozen=True)
class SeatRow:
    """A row of the table of seats: means of the branches, both contrasts, premiums in percent; `seat` "" is pooled."""

    seat: str
    original: float | None
    experienced: float | None
    fresh: float | None
    loss: Summary
    gain: Summary
    costs: Mapping[str, tuple[float | None, float | None, float | None]]  # what -> original, experienced, premium
    n: int


@dataclass(frozen=True)
class BranchRow:
    """One branch of a seat: its mean score, and by how many percent it costs more than the original per unit of
    progress, and in its episodes as such."""

    seat: str
    branch: str
    score: float | None
    premiums: Mapping[str, float | None]
    changes: Mapping[str, float | None]
    n: int


@dataclass(frozen=True)
class Finding:
    """What one line says. `left_out`: by seat the planned repetitions that are in no number; `changes`: what its
    condition changes, beside the plain line of the same setting and models."""

    line: Line
    left_out: Mapping[str, tuple[int, ...]]
    changes: tuple[Contrast, ...]

    @property
    def team(self) -> str:
        return self.line.receiver if self.line.receiver == self.line.newcomer else (
            f"{self.line.receiver} -> {self.line.newcomer}"
        )  # fmt: skip

    @property
    def models(self) -> tuple[str, str]:
        return self.line.receiver, self.line.newcomer

    @property
    def name(self) -> str:
        return ", ".join(filter(None, (self.line.task, self.line.condition, self.team)))

    @cached_property
    def contrasts(self) -> tuple[Contrast, ...]:
        return tuple(contrasts(self.line))

    def of(self, seat: str, name: str) -> Summary:
        """A contrast's summary; an empty one where there is none."""
        return next((c.summary for c in self.contrasts if (c.seat, c.name) == (seat, name)), summary(()))

    @cached_property
    def seats(self) -> tuple[SeatRow, ...]:
        return tuple(seat_rows(self.line))

    @cached_property
    def branches(self) -> tuple[BranchRow, ...]:
        """All branches with a newcomer or other words, by seat."""
        line = self.line
        return tuple(
            BranchRow(
                seat, branch, mean(line.scores(branch, seat).values()),
                {what: line.premium(what, seat, branch) for what in COSTS},
                {what: line.change(what, seat, branch) for what in COSTS}, len(line.at(seat, branch)),
            )
            for seat in line.seats for branch in line.seats[seat]
        )  # fmt: skip


@dataclass(frozen=True)
class Formed:
    """Formations of one setting, model and condition: mean scores of receivers and donors, of the first and the last
    episode of all teams, notebooks that were cut to the budget, and empty ones of donors."""

    task: str
    model: str
    condition: str
    receiver: float | None
    donor: float | None
    first: float | None
    last: float | None
    cut: int
    empty: int
    n: int


@dataclass(frozen=True)
class Findings:
    """What a run says. `stands`: by table ("seats", "contrasts", "conditions", "changes") the differences that are
    told from 0 when all of the table are read at once (Holm), and `asked` how many that are."""

    found: tuple[Finding, ...]
    cells: tuple[CellSummary, ...]
    formed: tuple[Formed, ...]
    compositions: Mapping[tuple[str, str, str], Mapping[str, Mapping[int, Composition]]]  # task, model, condition
    violations: tuple[str, ...]
    counts: Counts
    warnings: tuple[str, ...]
    notes: tuple[str, ...]
    spent: str
    power: str
    stands: Mapping[str, frozenset[Estimate]]
    asked: Mapping[str, int]

    def verdicts(self, one: Finding) -> dict[str, str]:
        """What to do with a newcomer's notebook, by seat, in words."""
        stand = self.stands["seats"] | self.stands["contrasts"] | self.stands["conditions"]
        told = {}
        for seat in one.line.seats:
            said, evidence, rest = verdict(one.line, seat)
            if evidence is not None and evidence.estimate not in stand:
                said += ", which may be chance when all of the table are read at once"
            told[seat] = said + rest
        return told

    @property
    def plain(self) -> list[Finding]:
        return [one for one in self.found if not one.line.condition]

    @property
    def conditions(self) -> list[Finding]:
        return [one for one in self.found if one.line.condition]

    def under(self, condition: str, like: Line) -> Line | None:
        """The line of the same setting and models under another condition."""
        return next((f.line for f in self.found if same(f.line, like) and f.line.condition == condition), None)

    @cached_property
    def formation(self) -> list[tuple[Finding, dict[str, Summary]]]:
        """Where what formation built goes, of each line that is formed beside an unformed one."""
        found = []
        for one in self.found:
            unformed, configuration = self.under("formation-0", one.line), Configuration.of(one.line.condition)
            if unformed and configuration == Configuration(formation=configuration.formation) and one.line != unformed:
                parts = built(unformed, one.line)
                if parts["built"]:
                    found.append((one, {name: summary(values.values()) for name, values in parts.items()}))
        return found

    @cached_property
    def planning(self) -> list[tuple[Finding, str, Summary, dict[str, Summary]]]:
        """What more planners change, from two on: the wider team's finding, its planners, the reduction of the loss,
        and the change of the experienced branch's costs in percent."""
        found = []
        for one in self.found:
            two, configuration = self.under("planning-2", one.line), Configuration.of(one.line.condition)
            if two and configuration.planners > 2 and configuration == Configuration(planners=configuration.planners):
                reduction, changes = planning(two, one.line)
                found.append((
                    one, str(configuration.planners), summary(reduction.values()),
                    {what: summary(values.values()) for what, values in changes.items()},
                ))  # fmt: skip
        return found

    @cached_property
    def playing_on(self) -> list[tuple[Finding, list[Summary]]]:
        """Loss by episode of the teams that play on together after the swap, and last what it changes from the first
        to the last one."""
        found = []
        for one in self.found:
            if Configuration.of(one.line.condition).together and (by := one.line.by_episode()):
                first, last = by[min(by)], by[max(by)]
                ends = {rep: last[rep] - first[rep] for rep in last if rep in first}
                found.append((one, [summary(v.values()) for v in (*by.values(), ends)]))
        return found


def same(one: Line, other: Line) -> bool:
    return (one.task, one.receiver, one.newcomer) == (other.task, other.receiver, other.newcomer)


def mean(values: Iterable[float]) -> float | None:
    found = list(values)
    return fmean(found) if found else None


def findings(results: Results, settings: Settings) -> Findings:
    """What the results of a run's cells say."""
    cells = tuple(summarise_cell(cell, rows) for cell, rows in results)
    rows = [row for c in cells for row in c.rows.values()]
    made = lines(rows)
    planned: dict[tuple[str, str, str, str], set[int]] = {}  # repetitions by task, condition with seat, models
    for c, (_, seeds) in zip(cells, results, strict=True):
        if c.cell.mode in ("experienced", "fresh"):
            planned.setdefault((c.cell.task, c.cell.condition, *ends(c.cell)), set()).update(seeds)
    found = []
    for line in made:
        configuration = Configuration.of(line.condition)
        plain = next((x for x in made if same(x, line) and not x.condition), None) if line.condition else None
        left = {}
        for seat in line.seats:
            condition = replace(configuration, seat=seat).condition
            wanted = planned.get((line.task, condition, line.receiver, line.newcomer), set())
            left[seat] = tuple(sorted(wanted - set(line.whole(seat))))
        found.append(Finding(line, left, tuple(changed(line, plain)) if plain else ()))
    broken = tuple(violations(rows))
    counted = Counter(row["outcome"] for row in rows)
    everything = sum(c.planned for c in cells)
    counts = Counts(
        planned=everything, skipped=everything - len(rows), **{outcome: counted[outcome] for outcome in OUTCOMES}
    )
    formations = tuple(formed(cells))
    labelled = [c for c in cells if c.cell.mode == "labels"]
    compositions = {(c.cell.task, c.cell.models[0], c.cell.condition): composition(c.rows.values()) for c in labelled}
    plain_found, under = ([f for f in found if bool(f.line.condition) == b] for b in (False, True))
    tables = {
        "seats": [s.estimate for f in plain_found for row in f.seats for s in (row.loss, row.gain)],
        "contrasts": [c.summary.estimate for f in plain_found for c in f.contrasts if c.name not in SEATWISE],
        "conditions": [s.estimate for f in under for row in f.seats for s in (row.loss, row.gain)],
        "changes": [c.summary.estimate for f in under for c in f.changes],
    }
    return Findings(
        tuple(found), cells, formations, {k: v for k, v in compositions.items() if v}, broken, counts,
        tuple(warnings(found, rows, counts, broken)), tuple(notes(found, formations, rows)), spent(rows),
        power(plain_found or found),
        {name: standing(table) for name, table in tables.items()}, {name: len(table) for name, table in tables.items()},
    )  # fmt: skip


def ends(cell: Cell) -> tuple[str, str]:
    """Receiver and newcomer."""
    return cell.models[0], cell.models[-1]


def seat_rows(line: Line) -> Iterator[SeatRow]:
    """Seat by seat, then pooled where there is more than one."""
    for seat in (*line.seats, *([""] if len(line.seats) > 1 else [])):
        original, experienced, fresh = (
            mean(line.scores(branch, seat).values()) for branch in ("original", "experienced", "fresh")
        )
        costs = {
            what: (line.cost(what, "original", seat), line.cost(what, "experienced", seat), line.premium(what, seat))
            for what in COSTS
        }
        loss, gain = summary(line.loss(seat).values()), summary(line.gain(seat).values())
        yield SeatRow(seat, original, experienced, fresh, loss, gain, costs, len(line.whole(seat)))


def formed(cells: Sequence[CellSummary]) -> Iterator[Formed]:
    """Every cell of formations of which one was played or kept empty."""
    for c in cells:
        there = [row["data"] for row in c.rows.values() if c.cell.mode == "formation" and row["outcome"] == "scored"]
        if there:
            parts = {part: [data["teams"][data[part]] for data in there] for part in ("receiver", "donor")}
            scores = {part: [team["scores"] for team in some if team["scores"]] for part, some in parts.items()}
            played = scores["receiver"] + scores["donor"]
            yield Formed(
                task=c.cell.task, model=c.cell.models[0], condition=c.cell.condition,
                receiver=mean(map(fmean, scores["receiver"])), donor=mean(map(fmean, scores["donor"])),
                first=mean(one[0] for one in played), last=mean(one[-1] for one in played),
                cut=sum(team["cut"] for some in parts.values() for team in some),
                empty=sum(not text for team in parts["donor"] for text in team["notebooks"].values()), n=len(there),
            )  # fmt: skip


def verdict(line: Line, seat: str) -> tuple[str, Summary | None, str]:
    """What to do with the notebook of a newcomer in this seat, the contrast that says so (only one whose interval
    leaves 0 out does), and what the team still loses then."""
    gain = summary(line.gain(seat).values())
    if not gain.n:
        return "nothing to compare: it takes the branches experienced and fresh", None, ""
    instead = {half: summary(line.difference(half, "experienced", seat).values()) for half in HALVES}
    better = [
        half for half, change in instead.items()
        if change.sign > 0 and summary(line.gain(seat, half).values()).sign >= 0
    ]  # fmt: skip
    evidence: Summary
    if better:
        chosen = max(better, key=lambda half: instead[half].mean or 0.0)
        evidence = instead[chosen]
        dropped = "partner" if chosen == "task-half" else "task"
        said = f"drop its {dropped} lines ({interval(evidence)} over its whole notebook)"
    elif gain.sign > 0:
        chosen, evidence, said = "experienced", gain, f"keep the notebook ({interval(gain)} over an empty one)"
    elif gain.sign < 0:
        chosen, evidence = "fresh", gain
        said = f"empty its notebook ({interval(negative(gain))} over the donor's)"
    else:
        return f"too few repetitions to say (its notebook is worth {interval(gain)}, {repetitions(gain.n)})", None, ""
    return said, evidence, left(summary(line.difference("original", chosen, seat).values()))


def left(loss: Summary) -> str:
    """What the team still loses, as the end of a verdict."""
    if not loss.n:
        return ""
    if loss.sign > 0:
        return f"; the team still loses {interval(loss, '')}"
    if loss.sign < 0:
        return f"; the team gains {interval(negative(loss), '')} over its own member"
    return f"; what the team still loses is not told from 0 ({interval(loss)})"


def negative(one: Summary) -> Summary:
    low, high = (None if end is None else -end for end in (one.high, one.low))
    return Summary(None if one.mean is None else -one.mean, one.sd, low, high, one.k, one.n)


def interval(one: Summary, sign: str = "+") -> str:
    """A mean with its interval, two digits."""
    from collabtax.report.text import interval as told

    return told(one.estimate, sign)


def repetitions(n: int) -> str:
    return f"{n} repetition{'s' * (n != 1)}"


def power(found: Sequence[Finding]) -> str:
    """How closely so many repetitions measure, by setting, from the spread of the contrasts of each seat; "" if nobody
    can say."""
    told = []
    for task in dict.fromkeys(one.line.task for one in found):
        rows = [row for one in found if one.line.task == task for row in one.seats if row.seat]
        usable = [(s.sd, s.n) for row in rows for s in (row.loss, row.gain) if s.sd]
        if usable:
            hint = power_hint(fmean(sd * sd for sd, _ in usable) ** 0.5, median_low(n for _, n in usable))
            told.append(
                f"{task}: {repetitions(hint.n)} to within +-{hint.half_width:.2f}, {hint.needed} would to within "
                f"+-{hint.needed_half_width:.2f}"
            )
    said = (
        "how closely loss and gain of a seat are measured, in points (half of a 95 % interval; less is not told from 0)"
    )
    return f"{said}: {'; '.join(told)}" if told else ""


def warnings(found: Sequence[Finding], rows: Sequence[Row], counts: Counts, broken: Sequence[str]) -> Iterator[str]:
    """What makes the numbers doubtful, loudest first."""
    if broken:
        yield (
            f"{len(broken)} thing{'s' * (len(broken) != 1)} that must hold of every swap "
            f"{'do' if len(broken) != 1 else 'does'} not: read no number below before that is explained"
        )
        yield from (f"broken: {problem}" for problem in broken[:BROKEN])
    if counts.infrastructure:
        errors = (row["error"] for row in rows if row["outcome"] == "infrastructure")
        yield f"{rollouts(counts.infrastructure)} could not be run and are in no mean; the first: {next(errors):.300}"
    if counts.unreadable:
        reasons = (row["reason"] for row in rows if row["outcome"] == "unreadable")
        yield (
            f"labels could not be read, so that {rollouts(counts.unreadable)} are in no mean; the first: "
            f"{next(reasons):.300}"
        )
    if counts.skipped:
        yield f"{rollouts(counts.skipped)} of the plan were not run; start the same command again to add them"
    few = {f.name: min(len(f.line.whole(seat)) for seat in f.line.seats) for f in found}
    few = {name: n for name, n in few.items() if n < FEW}
    if few:
        least = min(few, key=lambda name: few[name])
        yield (
            f"{len(few)} of {len(found)} comparisons rest on fewer than {FEW} repetitions of a seat (the least: "
            f"{least}, {few[least]}), which tell little; --rollouts 10 is what the paper has"
        )
    costless = [f.name for f in found if any(r.n and r.costs["messages"][2] is None and r.original for r in f.seats)]
    if costless:
        yield (
            f"no premium for {', '.join(costless[:3])}{' and others' * (len(costless) > 3)}: in some repetition a "
            "branch made no progress at all"
        )


def notes(found: Sequence[Finding], formations: Sequence[Formed], rows: Sequence[Row]) -> Iterator[str]:
    """What is left out, and what else a reader should know."""
    for f in found:
        for seat, reps in f.left_out.items():
            if reps:
                yield (
                    f"{f.name}, {seat}: left out of its numbers, as not every branch was scored there: "
                    f"{'repetitions' if len(reps) > 1 else 'repetition'} {', '.join(map(str, reps))}"
                )
    for one in formations:
        if one.cut:
            yield f"{one.task}, {one.model}: {one.cut} notebooks were cut to the budget during formation"
        if one.empty and one.first is not None:
            yield f"{one.task}, {one.model}: {one.empty} notebooks of donors are empty, though the teams were formed"
    if simulated := sorted({m for row in rows for m in row["models"] if m.startswith(SIMULATED)}):
        yield f"Simulated models, which are scripted policies and no language models: {', '.join(simulated)}"


def spent(rows: Sequence[Row]) -> str:
    """Tokens and money of all rollouts, those of earlier sessions included."""
    tokens = [sum(row["usage"].get(kind, 0) for row in rows) for kind in ("prompt", "completion")]
    unpriced = sum(row["cost"] is None for row in rows)
    cost = sum(sorted(row["cost"] or 0.0 for row in rows))
    price = "price unknown" if unpriced and not cost else f"${cost:.4f}" + (
        f" and price unknown of {rollouts(unpriced)}" if unpriced else ""
    )  # fmt: skip
    return f"{tokens[0]} prompt tokens, {tokens[1]} completion tokens, {price}"
