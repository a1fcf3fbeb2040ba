"""The summary in the terminal: aligned tables, ASCII only, one line an item."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

from collabtax.cells import printable
from collabtax.report.summary import Summary, label
from collabtax.statistics import TRACTABLE, Estimate, PairRow

MOST_GAMES = 40  # lines of pairs by task in the terminal, beyond which only those are shown that are told from 0
AGREEMENTS = ("equal", "differ", "first only", "second only", "neither")


def number(value: float | None, sign: str = "") -> str:
    """Two digits; "-" where undefined; never "-0.00"."""
    return "-" if value is None else f"{round(value, 2) + 0.0:{sign}.2f}"


def interval(estimate: Estimate, sign: str = "") -> str:
    """A value with its interval, as far as there is one."""
    if estimate.low is None:
        return number(estimate.value, sign)
    return f"{number(estimate.value, sign)} [{number(estimate.low, sign)}, {number(estimate.high, sign)}]"


def verdict(pair: PairRow) -> str:
    """How a pair does beside the better member of each task, and what follows for max-superadditivity."""
    tax, tasks = pair.tax, pair.tasks
    if tax.value is None:
        return "no task can enter (" + "; ".join(f"{task}: {why}" for task, why in pair.left_out.items()) + ")"
    low, high, least = tax.low, tax.high, 1e-9  # less is rounding
    where = f"over {len(tasks)} tasks" if len(tasks) > 1 else f"on {tasks[0]}"
    seeds = f"{tax.n} seed{'s' * (tax.n != 1)}{' in all' * (len(tasks) > 1)}"
    if max(map(abs, (tax.value, low or 0.0, high or 0.0))) <= least:
        said = "as much as"
    elif tax.value < 0:
        ends = (None, None) if low is None or high is None else (-high, -low)
        said = f"{interval(replace(tax, value=-tax.value, low=ends[0], high=ends[1]))} more than"
    else:
        said = f"{interval(tax)} less than"
    if low is None or high is None:
        then = "; there is no interval, so it may be chance"
    elif low > least:
        then = "; max-superadditivity is violated"
    elif high < -least or high - low <= least:
        then = "; max-superadditivity holds"
    else:
        then = ", which may be chance"
    return f"{where}, {seeds}, the pair scores {said} its better member{then}"


def seating(pair: PairRow, seats: Estimate, stands: bool, pairs: int) -> str:
    """Which member to put second; `stands`: whether that holds when the seats of all `pairs` are read at once."""
    if seats.value is None:
        return "the two orders have no rollout in common, so nothing is known of the seats"
    second = 1 if seats.value >= 0 else 0  # the member that does better there
    if second == 0:
        low, high = (None if end is None else -end for end in (seats.high, seats.low))
        seats = replace(seats, value=-seats.value, low=low, high=high)
    name, alone, other = pair.models[second], (pair.v1, pair.v2)[second].value, (pair.v1, pair.v2)[1 - second].value
    if alone is not None and other is not None and abs(alone - other) > 1e-9:
        kind = "stronger" if alone > other else "weaker"
        name = f"the {kind} model ({name}, alone {number(alone)}, the other {number(other)})"
    gain = interval(seats, "+")
    if seats.low is None:
        return f"with {name} second it scores {gain}; there is no interval, so it may be chance"
    if seats.low <= 0:
        return f"the order is not decided: with {name} second it scores {gain}, which may be chance"
    told = f"put {name} second: {gain}"
    return told if stands else f"{told}; that may be chance when the seats of all {pairs} pairs are read at once"


def aligned(estimate: Estimate, sign: str = "") -> str:
    """A value with its interval, of one width."""
    value, low, high = (number(x, sign).rjust(5) for x in (estimate.value, estimate.low, estimate.high))
    return value + (" " * 15 if estimate.low is None else f" [{low}, {high}]")


def table(head: Sequence[str], body: Sequence[Sequence[str]], left: int) -> Iterator[str]:
    """Lines of a table whose first `left` columns are aligned to the left."""
    widths = [max(len(row[i]) for row in (head, *body)) for i in range(len(head))]
    for row in (head, ["-" * width for width in widths], *body):
        cells = zip(row, widths, strict=True)
        yield "  ".join(c.ljust(w) if i < left else c.rjust(w) for i, (c, w) in enumerate(cells)).rstrip()


def games(summary: Summary) -> Iterator[str]:
    """Max-superadditivity by pair and task. Of many lines only those are shown of which something is told."""
    found = summary.games
    shown = [line for line in found if line[2] != "not decided"] if len(found) > MOST_GAMES else list(found)
    if shown:
        yield ""
        yield from table(
            ("initiator", "responder", "task", "v1", "v2", "v12", "tax [95 % interval]", "max-superadditivity"),
            [
                [*map(printable, pair.models), g.task, number(g.v1), number(g.v2), number(g.v12), aligned(g.tax), told]
                for pair, g, told in sorted(shown, key=lambda line: (line[0].models, -(line[1].tax.value or 0.0)))
            ], 3,
        )  # fmt: skip
    if found:
        count = {told: sum(line[2] == told for line in found) for told in ("violated", "holds", "not decided")}
        yield (
            f"max-superadditivity by task, {len(found)} lines read at once (Holm, 5 %): "
            + ", ".join(f"{told} on {n}" for told, n in count.items())
            + (
                f"; the {count['not decided']} of which nothing is told are not shown"
                if len(found) > len(shown)
                else ""
            )
        )


def lines(summary: Summary, unplayed: Mapping[str, int]) -> Iterator[str]:
    """The summary; `unplayed` counts the recordings of each cell that were not asked for."""
    for warning in summary.warnings:
        yield f"WARNING: {printable(warning)}"
    if summary.lines:
        body, before = [], ""
        for line in summary.lines:
            around = "({})" if line.aside and line.solo is not None else "{}"
            name, before = "" if line.model == before else printable(line.model), line.model
            values = (
                around.format(number(line.solo)),
                around.format(number(line.homo) if line.homo is not None else "-"),
            )
            body.append([name, line.scope, *values, aligned(line.tax), aligned(line.ratio), str(len(line.tasks))])
        yield from table(
            ("model", "family", "solo", "homo", "tax [95 % interval]", "ratio gap [95 % interval]", "tasks"), body, 2
        )
        if any(line.aside for line in summary.lines):
            yield f"(in brackets: over all tasks, as none can enter: solo under {TRACTABLE}, or no seed in both modes)"
        yield from filter(None, [summary.resolves["lines"]])
    if summary.pairs:
        yield ""
        yield from table(
            ("initiator", "responder", "v1", "v2", "v12", "tax [95 % interval]", "phi1", "phi2", "minus other order"),
            [
                [*map(printable, pair.models), number(pair.v1.value), number(pair.v2.value), number(pair.v12.value),
                 aligned(pair.tax), number(pair.phi1.value), number(pair.phi2.value), aligned(seats, "+")]
                for pair, seats in summary.pairs
            ], 2,
        )  # fmt: skip
        for pair, seats in summary.seats:
            told = seating(pair, seats, seats in summary.stands["seats"], len(summary.seats))
            yield printable(f"{label(pair.models)}: {told}")
        yield from filter(None, [summary.resolves["pairs"]])
        yield from games(summary)
    if summary.effects:
        yield ""
        yield from table(
            ("team", "intervention", "tax [95 % interval]", "score minus plain dialogue"),
            [
                [printable(label(e.models)), e.condition, aligned(e.tax), aligned(e.change, "+")]
                for e in summary.effects
            ], 2,
        )  # fmt: skip
        yield from filter(None, [summary.resolves["effects"]])
        yield ""
        standing = summary.stands["effects"] | summary.stands["lifts"]
        yield from table(
            ("team", "intervention", "family", "score minus plain dialogue", "share of the tax closed", "stands"),
            [
                [printable(label(e.models)), e.condition, one.scope, aligned(one.change, "+"), aligned(one.closed, "+"),
                 "yes" if one.change in standing else ""]
                for e in summary.effects for one in e.lifts
            ], 3,
        )  # fmt: skip
    if summary.swept:
        yield ""
        yield from table(
            ("model", "settings", "solo", "homo", "tax [95 % interval]", "ratio gap [95 % interval]", "tasks"),
            [
                [printable(s.model), s.condition or "as run", number(s.solo), number(s.homo), aligned(s.tax),
                 aligned(s.ratio), str(len(s.tasks))]
                for s in summary.swept
            ], 2,
        )  # fmt: skip
        yield from filter(None, [summary.resolves["swept"]])
    yield ""
    if summary.agreement:
        told = ", ".join(f"{summary.agreement[how]} {how}" for how in AGREEMENTS)
        yield f"extractors, over {summary.agreement.total()} transcripts: {told}"
    yield summary.counts.line
    yield summary.spent
    if summary.hint:
        yield summary.hint
    if summary.caveat:
        yield summary.caveat
    for note in summary.notes:
        yield printable(note)
    if unplayed:
        told = ", ".join(f"{printable(cell)} {n}" for cell, n in sorted(unplayed.items())[:5])
        yield f"recordings that were not asked for: {sum(unplayed.values())} in {len(unplayed)} cells: {told}" + (
            ", ..." if len(unplayed) > 5 else ""
        )
