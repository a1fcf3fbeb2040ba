"""The four stages, and what every judge of them gets and gives. Questions are files in `prompts/`: models, people and
docs are all told the same words."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any

from collabtax.cassettes import canonical
from collabtax.cells import Cell
from collabtax.tax.protocols import told
from collabtax.tax.study import cached_problem
from tasks import Problem, Task, all_tasks, get_task

STAGES = {"l1": "grounded", "l2": "queried", "l3": "integrated", "l4": "re-derived"}
Verdicts = dict[str, bool | None]  # stage -> passed, failed, or None where it cannot be said
Row = Mapping[str, Any]


@cache
def words(name: str) -> str:
    """A text for judges: a stage's question, or what goes around it."""
    return (Path(__file__).parent / "prompts" / f"{name}.txt").read_text(encoding="utf-8").strip()


@dataclass(frozen=True)
class Judgement:
    """`evidence` holds mappings with `stage`, `turn` (counted from 1, None where it is about no turn), `text`, and
    `found`: whether the text stands in that turn, or None where it is a remark and no quotation."""

    verdicts: Verdicts
    evidence: list[dict[str, Any]] = field(default_factory=list)


@dataclass(frozen=True)
class Dialogue:
    """What is judged. Nothing in it tells how the rollout was scored."""

    task: Task[Any]
    problem: Problem[Any]
    turns: tuple[tuple[int, str], ...]  # seat, text

    @classmethod
    def of(cls, row: Row) -> Dialogue:
        """The dialogue of a stored rollout that `is_judged`."""
        task = get_task(row["task"])
        problem = cached_problem(task, row["seed"], row["said"]["difficulty"], row["said"]["friction"])
        return cls(task, problem, tuple((turn["seat"], turn["text"]) for turn in row["turns"]))

    def view(self, seat: int) -> str:
        """A seat's view as it was told."""
        return told(self.task, self.problem, seat)


def is_judged(row: Row) -> bool:
    """Whether a stored rollout is a whole dialogue about a task of this suite as it is today."""
    versions = {task.name: task.version for task in all_tasks()}
    whole = row["mode"] in ("homo", "hetero") and row["outcome"] != "infrastructure" and bool(row["turns"])
    return whole and versions.get(row["task"]) == row["versions"]["task"]


def text_digest(row: Row) -> str:
    """Names what was said: a judgement counts for these words only."""
    said = [[turn["seat"], turn["text"]] for turn in row["turns"]]
    return hashlib.sha256(canonical(said).encode()).hexdigest()[:12]


def cell_of(row: Row) -> Cell:
    return Cell(row["study"], row["task"], row["family"], row["mode"], tuple(row["models"]), row["condition"])
