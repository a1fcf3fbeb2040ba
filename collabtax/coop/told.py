"""What the results of the coop study say, in the terminal and in Markdown; its pages are in `pages`."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import fmean
from typing import TYPE_CHECKING, Any, ClassVar

from collabtax.cells import Cell, printable
from collabtax.coop.metrics import Metrics, Repeats, repeats
from collabtax.coop.study import Configuration
from collabtax.report import markdown
from collabtax.report.several import standing
from collabtax.report.text import interval, number, table
from collabtax.settings import Settings
from collabtax.statistics.intervals import Estimate, t_interval
from collabtax.study import Number, Results, Row, Told
from tasks.worlds.cooperation import CONSTRAINTS

if TYPE_CHECKING:
    from collabtax.report.figures import Figure

MEASURES: Mapping[str, Callable[[Metrics], float | None]] = {  # the paper's eight, the last one by constraint below
    "score": lambda m: m["score"],
    "steps": lambda m: m["steps"],
    "score/step": lambda m: m["score_per_step"],
    "plans/agent": lambda m: m["plans_per_agent"],
    "msg": lambda m: m["messages"],
    "intr": lambda m: m["interruptions"],
    "dec s": lambda m: m["decision"],
}
KEYS = ("world", "structure", "agents", "repair", "model")
FEW = 5  # episodes of a setting, fewer than which are said to tell little [our choice]
COMPARED = ("score", "msg", "dec s", *CONSTRAINTS)  # what repair is compared by


def deficit(constraint: str) -> Callable[[Metrics], float | None]:
    """In percent, as the paper tells it."""

    def of(m: Metrics) -> float | None:
        found = m["deficits"][constraint]
        return None if found is None else 100.0 * found

    return of


ALL: Mapping[str, Callable[[Metrics], float | None]] = {**MEASURES, **{c: deficit(c) for c in CONSTRAINTS}}


@dataclass(frozen=True)
class Line:
    """One setting: a cell and its episodes by seed."""

    cell: Cell
    rows: Mapping[int, Row]

    @property
    def configuration(self) -> Configuration:
        return Configuration.of(self.cell.condition)

    @property
    def metrics(self) -> dict[int, Metrics]:
        return {seed: row["data"]["metrics"] for seed, row in self.rows.items()}

    @property
    def keys(self) -> tuple[str, ...]:
        """World, structure, number of agents, repair, model."""
        c = self.configuration
        return self.cell.task, self.cell.mode, str(c.team), "on" if c.repair else "off", self.cell.models[0]

    def over(self, measure: str) -> Repeats:
        return repeats(ALL[measure](m) for m in self.metrics.values())

    def share(self, what: str) -> float | None:
        """Precision or recall of forecasts, over all episodes together."""
        found = [m["forecasts"] for m in self.metrics.values()]
        hits, wrong = (
            sum(f["hits"] for f in found),
            sum(f["false_alarms" if what == "precision" else "misses"] for f in found),
        )
        return hits / (hits + wrong) if hits + wrong else None

    def total(self, what: str) -> int:
        """Of the repairs of all episodes."""
        return sum(m["repairs"][what] for m in self.metrics.values())


@dataclass(frozen=True)
class Difference:
    """Repair on minus off in the same worlds, by measure."""

    on: Line
    off: Line
    seeds: tuple[int, ...]
    changes: Mapping[str, Estimate]

    @property
    def name(self) -> str:
        world, structure, agents, _, model = self.on.keys
        return f"{world}, {structure}, {agents} agents, {model}"


@dataclass(frozen=True)
class Findings:
    """Everything that is told. `missing` counts episodes that were planned and are not there, by outcome or "not run";
    `stands`: differences that are told from 0 when all are read at once."""

    lines: tuple[Line, ...]
    differences: tuple[Difference, ...]
    planned: int
    missing: Counter[str]
    stands: frozenset[Estimate]
    spent: str

    @property
    def counts(self) -> str:
        found = sum(len(line.rows) for line in self.lines)
        rest = ", ".join(f"{n} {what}" for what, n in sorted(self.missing.items()))
        return f"{found} of {self.planned} episodes were scored{f'; {rest}' if rest else ''}"

    @property
    def sentences(self) -> list[str]:
        """What follows, in words."""
        said = []
        for world in dict.fromkeys(line.cell.task for line in self.lines):
            own = [line for line in self.lines if line.cell.task == world and not line.configuration.repair]
            scored = [(mean, line) for line in own if (mean := line.over("score").mean) is not None]
            if len(scored) > 1:
                ends = (f(scored, key=lambda one: one[0]) for f in (max, min))
                high, low = (
                    f"{number(mean)} ({line.keys[4]}, {line.keys[1]}, {line.keys[2]} agents)" for mean, line in ends
                )
                said.append(f"{world}: without repair mean scores reach from {low} to {high}")
        for one in self.differences:
            change = one.changes["score"]
            if change.value is None:
                continue
            if change.low is None:
                verdict = "; there is no interval, so it may be chance"
            elif change in self.stands:
                verdict = ""
            elif change.low == change.high:
                verdict = ", the same in every world"
            else:
                verdict = ", which may be chance"
            said.append(f"{one.name}: repair changes the score by {interval(change, '+')}{verdict}")
        return said


def findings(results: Results) -> Findings:
    """Of the study's cells."""
    lines, missing, planned, rows = [], Counter[str](), 0, list[Row]()
    for cell, by_seed in results:
        planned += len(by_seed)
        found = {}
        for seed, row in by_seed.items():
            if row is None:
                missing["not run"] += 1
                continue
            rows.append(row)
            if row["outcome"] == "scored" and "metrics" in row.get("data", {}):
                found[seed] = row
            else:
                missing[row["outcome"]] += 1
        lines.append(Line(cell, found))
    lines.sort(key=lambda line: (line.cell.task, line.cell.models, line.configuration.team, line.cell.mode,
                                 line.configuration.repair))  # fmt: skip
    off = {line.keys[:3] + line.keys[4:]: line for line in lines if not line.configuration.repair}
    pairs = [
        (line, off[line.keys[:3] + line.keys[4:]])
        for line in lines if line.configuration.repair and line.keys[:3] + line.keys[4:] in off
    ]  # fmt: skip
    differences = tuple(difference(on, plain) for on, plain in pairs)
    stands = standing(one.changes["score"] for one in differences)
    return Findings(tuple(lines), differences, planned, missing, stands, spent(rows))


def spent(rows: Sequence[Row]) -> str:
    """Tokens and money of all episodes."""
    tokens = [sum(row["usage"].get(kind, 0) for row in rows) for kind in ("prompt", "completion")]
    costs = [row["cost"] for row in rows]
    price = "price unknown" if None in costs else f"${sum(sorted(costs)):.4f}"
    return f"{tokens[0]} prompt tokens, {tokens[1]} completion tokens, {price}"


def difference(on: Line, off: Line) -> Difference:
    """Paired by seed, which is the world."""
    a, b = on.metrics, off.metrics
    seeds = tuple(sorted(a.keys() & b.keys()))
    changes = {}
    for name in COMPARED:
        both = [(ALL[name](a[seed]), ALL[name](b[seed])) for seed in seeds]
        changes[name] = t_interval([x - y for x, y in both if x is not None and y is not None], unit="worlds")
    return Difference(on, off, seeds, changes)


TIMELINES = 6  # settings whose first episode is drawn as a figure
WORDS = {"R": "reasoning", "W": "waiting", "X": "executing", "I": "interrupted"}


def spans(trace: Sequence[Mapping[str, Any]]) -> list[tuple[str, float, float, str]]:
    """Agent, from, to and status, in seconds, of everything that a trace says agents were at."""
    since: dict[str, tuple[float, str]] = dict.fromkeys(trace[0]["agents"], (0.0, "R"))
    found = []
    for event in trace:
        if event["event"] == "status":
            start, status = since[event["agent"]]
            if event["at"] > start:
                found.append((event["agent"], start, event["at"], WORDS[status]))
            since[event["agent"]] = event["at"], event["to"]
    end = trace[-1]["at"]
    return found + [(agent, start, end, WORDS[status]) for agent, (start, status) in since.items() if end > start]


class CoopTold(Told):
    """What teams achieve in worlds with cooperative constraints, and what repair changes."""

    name: ClassVar[str] = "coop"
    title: ClassVar[str] = "cooperative constraints"
    question: ClassVar[str] = (
        "What do teams achieve where tasks take several agents at once, and does talking about foreseen failures help?"
    )

    def __init__(self, results: Results, settings: Settings) -> None:
        self.settings = settings
        self.findings = findings(results)

    def headline(self) -> list[Number]:
        return list(headline(self.findings))

    def warnings(self) -> list[str]:
        return list(warnings(self.findings))

    def figures(self) -> Sequence[Figure]:
        """A timeline of the first episode of each of the first settings."""
        from collabtax.report.figures import timeline

        drawn = []
        for place, line in enumerate(self.findings.lines[:TIMELINES], 1):
            trace = next(iter(line.rows.values()))["data"]["trace"]
            talk = [
                (event["at"], event["sender"], ", ".join(event["recipients"]), event["text"])
                for event in trace if event["event"] == "message"
            ]  # fmt: skip
            done = [(event["at"], f"completed {event['task']}") for event in trace if event["event"] == "completed"]
            title = f"{line.cell.task}, {line.cell.mode}, {line.cell.condition or 'plain'}"
            drawn.append(timeline(f"timeline-{place}", title, spans(trace), talk[:200], done[:60], "seconds"))
        return tuple(drawn)

    def lines(self, unplayed: Mapping[str, int]) -> list[str]:
        return list(lines(self.findings, unplayed))

    def markdown(self, compared: Sequence[str]) -> list[str]:
        return list(in_markdown(self.findings, compared))

    def write(self, folder: Path, pages: Mapping[str, str]) -> None:
        from collabtax.coop import pages as coop_pages

        coop_pages.write(self.findings, self.settings, folder, pages)


def headline(f: Findings) -> Iterator[Number]:
    """The best score without repair, the largest change of a score by repair, the largest deficit without repair."""
    plain = [line for line in f.lines if line.rows and not line.configuration.repair]
    if plain:
        best = max(plain, key=lambda line: (line.over("score").mean or 0.0, line.keys))
        found = best.over("score")
        yield Number(
            f"best mean score: {name_of(best)}", number(found.mean), ends(found.low, found.high),
            f"Mean over {len(best.rows)} episodes, in {number(best.over('steps').mean)} steps each, without repair.",
        )  # fmt: skip
    changes = [(c, one) for one in f.differences if (c := one.changes["score"]).value is not None]
    if changes:
        change, one = max(changes, key=lambda x: (abs(x[0].value or 0.0), x[1].name))
        sure = change in f.stands
        yield Number(
            f"repair on minus off: {one.name}", number(change.value, "+"), ends(change.low, change.high, "+"),
            "What talking about foreseen failures changes in the score, in the same worlds"
            + ("." if sure else "; whether that is more than chance cannot be told."),
        )  # fmt: skip
    lacks = [(x, line, c) for line in plain for c in CONSTRAINTS if (x := line.over(c)).mean is not None]
    if lacks:
        lack, line, constraint = max(lacks, key=lambda x: (x[0].mean or 0.0, x[1].keys, x[2]))
        yield Number(
            f"largest deficit: {constraint}, {name_of(line)}", f"{number(lack.mean)} %", ends(lack.low, lack.high),
            f"Of the {constraint} needs of an attempt so much was missing, on average.",
        )  # fmt: skip


def name_of(line: Line) -> str:
    world, structure, agents, _, model = line.keys
    return f"{world}, {structure}, {agents} agents, {model}"


def ends(low: float | None, high: float | None, sign: str = "") -> str:
    return "" if low is None else f"{number(low, sign)} to {number(high, sign)}"


def warnings(f: Findings) -> Iterator[str]:
    """What makes the numbers doubtful."""
    for what, n in sorted(f.missing.items()):
        yield f"{n} of {f.planned} episodes are in no mean: {what.replace('_', ' ')}"
    few = [line for line in f.lines if len(line.rows) < FEW]
    if few:
        yield (
            f"{len(few)} of {len(f.lines)} settings rest on fewer than {FEW} episodes, which tell little; --rollouts 5 "
            "is the default"
        )


def with_sd(found: Repeats) -> str:
    return number(found.mean) if found.sd is None else f"{number(found.mean)} ({number(found.sd)})"


def main_rows(f: Findings) -> list[list[str]]:
    return [[*line.keys, *(with_sd(line.over(name)) for name in MEASURES), str(len(line.rows))] for line in f.lines]


def deficit_rows(f: Findings) -> list[list[str]]:
    return [
        [*line.keys, *(with_sd(line.over(c)) for c in CONSTRAINTS), str(line.total("checks")), str(line.total("talks")),
         str(line.total("cooldowns")), number(line.share("precision")), number(line.share("recall"))]
        for line in f.lines
    ]  # fmt: skip


def difference_rows(f: Findings) -> list[list[str]]:
    return [
        [
            *one.on.keys[:3],
            one.on.keys[4],
            *(interval(one.changes[name], "+") for name in COMPARED),
            str(len(one.seeds)),
        ]
        for one in f.differences
    ]


MAIN_HEAD = (*KEYS, *MEASURES, "n")
DEFICIT_HEAD = (*KEYS, *(f"{c} %" for c in CONSTRAINTS), "checks", "talks", "cooled", "precision", "recall")
DIFFERENCE_HEAD = ("world", "structure", "agents", "model", *COMPARED, "n")


def lines(f: Findings, unplayed: Mapping[str, int]) -> Iterator[str]:
    """The terminal's lines; `unplayed` counts the recordings of each cell that were not asked for."""
    for head, rows, left in (
        (MAIN_HEAD, main_rows(f), 5), (DEFICIT_HEAD, deficit_rows(f), 5), (DIFFERENCE_HEAD, difference_rows(f), 4),
    ):  # fmt: skip
        if rows:
            if head is not MAIN_HEAD:
                yield ""
            if head is DIFFERENCE_HEAD:
                yield "repair on minus off, in the same worlds [95 % t interval]"
            yield from table(head, [[*map(printable, row)] for row in rows], left)
    if said := f.sentences:
        yield from ["", *map(printable, said)]
    yield ""
    yield f.counts
    yield f.spent
    if unplayed:
        told = ", ".join(f"{printable(cell)} {n}" for cell, n in sorted(unplayed.items())[:5])
        yield f"recordings that were not asked for: {sum(unplayed.values())} in {len(unplayed)} cells: {told}" + (
            ", ..." if len(unplayed) > 5 else ""
        )


def in_markdown(f: Findings, compared: Sequence[str]) -> Iterator[str]:
    """The tables, what follows, counts, and the comparison with a baseline."""
    cell = markdown.cell
    yield "## Cooperative constraints"
    yield from markdown.table(MAIN_HEAD, [[*map(cell, row)] for row in main_rows(f)])
    yield from markdown.table(DEFICIT_HEAD, [[*map(cell, row)] for row in deficit_rows(f)])
    if f.differences:
        yield "\nRepair on minus off, in the same worlds [95 % t interval]:"
    yield from markdown.table(DIFFERENCE_HEAD, [[*map(cell, row)] for row in difference_rows(f)])
    if said := f.sentences:
        yield ""
        yield from (f"- {cell(one)}" for one in said)
    yield f"\n{cell(f.counts)}; {cell(f.spent)}"
    if compared:
        yield "\n<details open><summary>Baseline</summary>\n\n```text"
        yield from (line.replace("```", "'''") for line in compared)
        yield "```\n\n</details>"


def mean_score_by_step(line: Line) -> list[float]:
    """The mean score of a line's episodes after each step; an episode that has ended keeps its score."""
    curves = []
    for row in line.rows.values():
        scores, total = [0.0], 0.0
        for event in row["data"]["trace"]:
            if event["event"] == "step":
                scores.append(total)
            elif event["event"] == "completed":
                total += event["score"]
                scores[-1] = total
        curves.append(scores)
    longest = max(map(len, curves), default=0)
    return [fmean(curve[min(step, len(curve) - 1)] for curve in curves) for step in range(longest)]
