"""Rows of a run to a table: one line a (task, model) with the features of its dialogues and the gap to be predicted."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from math import isfinite
from typing import Any

from collabtax.prediction.features import NAMES, Dialogue, of_cell, of_dialogue
from collabtax.statistics import Scored, paired, partition, ratio_gap
from collabtax.statistics.tax import is_tractable
from collabtax.tax.study import cached_problem
from tasks import get_task

Row = dict[str, Any]
REMEDY = "replay the run into a new folder: the same command with --record-mode=none and another --run"


@dataclass(frozen=True)
class CellFeatures:
    """A (task, model). `solo`, `homo` and `gap` = (solo - homo) / solo are over the seeds that both modes have; None
    without such seeds, `gap` also where solo is 0. `tractable` is about all solo rollouts."""

    task: str
    family: str
    model: str
    solo: float | None
    homo: float | None
    gap: float | None
    tractable: bool
    features: dict[str, float]


def plain(rows: Iterable[Row], mode: str) -> list[Row]:
    """The rows of the tax study in `mode` that have a score and were run without an intervention."""
    wanted = [r for r in rows if (r["study"], r["mode"], r["condition"]) == ("tax", mode, "")]
    return [r for r in wanted if r["outcome"] != "infrastructure"]


def check_alike(rows: Sequence[Row]) -> None:
    """Raise ValueError where rollouts of a cell cannot be put together, or their views cannot be made again."""
    settings: dict[tuple[str, ...], str] = {}
    said: dict[str, Any] = {}
    for row in rows:
        cell = (row["task"], row["mode"], row["models"][0])
        if settings.setdefault(cell, row["settings"]) != row["settings"]:
            raise ValueError(f"{' '.join(cell)!r} was run with several settings or versions; {REMEDY}")
        for name, value in row["said"].items():
            if said.setdefault(name, value) != value:
                raise ValueError(f"the run has rollouts with {name} {said[name]!r} and {value!r}; give a run with one")
        if row["versions"]["task"] != (version := get_task(row["task"]).version):
            played = row["versions"]["task"]
            raise ValueError(f"{row['task']} was run at version {played}, which is now {version}; {REMEDY}")


def dialogue(row: Row) -> Dialogue:
    """The dialogue of a row, with its views made again from the seed."""
    task = get_task(row["task"])
    one = cached_problem(task, row["seed"], row["said"]["difficulty"], row["said"]["friction"])
    return Dialogue(task, one, tuple((turn["seat"], turn["text"]) for turn in row["turns"]))


def table(rows: Iterable[Row]) -> list[CellFeatures]:
    """A line for each (task, model) with homogeneous dialogues, sorted by both.

    Raises:
        ValueError: no such dialogues, or what `check_alike` says.
    """
    rows = list(rows)
    solo, homo = plain(rows, "solo"), plain(rows, "homo")
    if not homo:
        raise ValueError("the run holds no homogeneous dialogues without an intervention; run with --mode=solo,homo")
    check_alike(solo + homo)
    measured: dict[tuple[str, str], list[dict[str, float]]] = {}
    for row in sorted(homo, key=lambda r: (r["task"], r["seed"], r["models"][0])):  # models share their instances
        measured.setdefault((row["task"], row["models"][0]), []).append(of_dialogue(dialogue(row)))
    scores = partition(map(scored, solo + homo), lambda row: (row.task, row.models[0]))
    return [_cell(scores[key], measured[key]) for key in sorted(measured)]


def scored(row: Row) -> Scored:
    models = tuple(row["models"])
    return Scored(row["task"], row["family"], row["mode"], models, row["condition"], row["seed"], row["score"])


def _cell(rows: list[Scored], measured: list[dict[str, float]]) -> CellFeatures:
    solo, homo = ([row for row in rows if row.mode == mode] for mode in ("solo", "homo"))
    both, _ = paired(solo, homo)
    means = both.mean(axis=0) if len(both) else None
    gap = float(ratio_gap(means)) if means is not None else None
    return CellFeatures(
        task=rows[0].task,
        family=rows[0].family,
        model=rows[0].models[0],
        solo=float(means[0]) if means is not None else None,
        homo=float(means[1]) if means is not None else None,
        gap=gap if gap is not None and isfinite(gap) else None,
        tractable=bool(solo) and is_tractable(sum(row.score for row in solo) / len(solo)),
        features=of_cell(measured),
    )


def as_csv(cells: Sequence[CellFeatures]) -> str:
    """The table as CSV with a heading; empty where something is not defined."""
    out = io.StringIO()
    lines = csv.writer(out, lineterminator="\n")
    lines.writerow(["task", "family", "model", "solo", "homo", "ratio_gap", "tractable", *NAMES])
    for c in cells:
        numbers = ["" if x is None else f"{x:.6g}" for x in (c.solo, c.homo, c.gap)]
        features = (f"{c.features[name]:.6g}" for name in NAMES)
        lines.writerow([c.task, c.family, c.model, *numbers, "yes" if c.tractable else "no", *features])
    return out.getvalue()
