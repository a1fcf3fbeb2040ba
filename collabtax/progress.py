"""Progress of a run: counted where rollouts end, shown by the process that owns the terminal, under xdist too.

Workers send what they did since the last message as an extra test report, the one channel that reaches the controller
from local processes, over ssh and without xdist alike.
"""

from __future__ import annotations

import time
from dataclasses import dataclass, field
from typing import Any

import pytest

from collabtax.cells import printable

WHEN = "progress"  # the `when` of our extra reports
EVERY = 0.5  # seconds between two messages of a worker
LINE_EVERY = 2.0  # seconds between two lines in the terminal


@dataclass
class Tally:
    """What has happened: rollouts by outcome, tokens, money, calls."""

    outcomes: dict[str, int] = field(default_factory=dict)
    resumed: int = 0  # rollouts that were finished before
    tokens: int = 0
    cost: float = 0.0
    unpriced: int = 0
    unplayed: dict[str, int] = field(default_factory=dict)  # cell -> recordings that were not asked for
    waiting: dict[str, float] = field(default_factory=dict)  # cause -> seconds of waiting
    cells: int = 0

    def count(self, cell: str, rollout: Any) -> None:
        self.outcomes[rollout.outcome] = self.outcomes.get(rollout.outcome, 0) + 1
        self.tokens += rollout.usage.get("prompt", 0) + rollout.usage.get("completion", 0)
        self.cost += rollout.cost or 0.0
        self.unpriced += rollout.cost is None
        if rollout.unplayed:
            self.unplayed[cell] = self.unplayed.get(cell, 0) + rollout.unplayed

    def add(self, other: dict[str, Any]) -> None:
        for name, value in other.items():
            if isinstance(value, dict):
                mine = getattr(self, name)
                for k, v in value.items():
                    mine[k] = mine.get(k, 0) + v
            else:
                setattr(self, name, getattr(self, name) + value)

    @property
    def done(self) -> int:
        return sum(self.outcomes.values())

    def line(self, planned_rollouts: int, planned_cells: int, seconds: float) -> str:
        """One line: cells and rollouts done, failed, rate, tokens, money, time left, and the chief cause of waiting."""
        failed = self.outcomes.get("infrastructure", 0)
        rate = self.done / seconds if seconds > 0 else 0.0
        done = self.done + self.resumed
        left = max(planned_rollouts - done, 0) / rate if rate else 0.0
        price = f"${self.cost:.4f}" + ("+?" if self.unpriced else "")
        text = (
            f"[collabtax] {self.cells}/{planned_cells} cells, {done}/{planned_rollouts} rollouts, "
            f"{failed} failed, {rate:.1f}/s, {self.tokens / 1000:.0f}k tokens, {price}, {duration(left)} left"
        )
        if self.waiting:
            cause, waited = max(self.waiting.items(), key=lambda item: item[1])
            text += f"; waited {duration(waited)} for: {cause[:80]}"
        return text


def duration(seconds: float) -> str:
    whole = round(seconds)
    return (
        f"{whole}s" if whole < 60 else f"{whole // 60}m{whole % 60:02d}s" if whole < 3600 else f"{seconds / 3600:.1f}h"
    )


class Sender:
    """A worker's side: gathers, and sends at most every `EVERY` seconds and at the end of a case."""

    def __init__(self, item: pytest.Item) -> None:
        self.item, self.tally, self.sent = item, Tally(), time.monotonic()

    def waited(self, cause: str, seconds: float) -> None:
        """A call is about to wait; it is told before it does."""
        cause = printable(cause)
        self.tally.waiting[cause] = self.tally.waiting.get(cause, 0.0) + seconds
        if time.monotonic() - self.sent > EVERY:
            self.flush()

    def count(self, cell: str, rollout: Any) -> None:
        self.tally.count(cell, rollout)
        if time.monotonic() - self.sent > EVERY:
            self.flush()

    def flush(self, cells: int = 0) -> None:
        self.tally.cells = cells
        told, self.tally, self.sent = vars(self.tally), Tally(), time.monotonic()
        when: Any = WHEN  # no phase of a test, so that no other plugin takes it for one
        report = pytest.TestReport(
            self.item.nodeid, self.item.location, {}, "passed", None, when, user_properties=[(WHEN, told)]
        )
        self.item.ihook.pytest_runtest_logreport(report=report)


class Display:
    """The terminal's side."""

    def __init__(self, terminal: Any, planned_rollouts: int, planned_cells: int) -> None:
        """`terminal`: pytest's terminal reporter, None where there is none."""
        self.terminal, self.tally, self.begun, self.shown = terminal, Tally(), time.monotonic(), time.monotonic()
        self.planned_rollouts, self.planned_cells = planned_rollouts, planned_cells

    def receive(self, told: dict[str, Any]) -> None:
        self.tally.add(told)
        now = time.monotonic()
        if now - self.shown > LINE_EVERY:
            self.shown = now
            if self.terminal is not None:
                self.terminal.ensure_newline()
                self.terminal.write_line(self.tally.line(self.planned_rollouts, self.planned_cells, now - self.begun))
