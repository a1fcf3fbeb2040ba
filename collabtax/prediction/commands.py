"""`predict` and `features`: the ratio gap from how the dialogues went, and the table that it rests on."""

from __future__ import annotations

import argparse
import json
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

from collabtax.cells import printable

if TYPE_CHECKING:
    from collabtax.prediction.model import Held, Prediction
    from collabtax.prediction.table import CellFeatures

SHOWN = 12  # coefficients in the terminal


def register(commands: Any) -> None:
    """Add the commands to the subparsers of `python -m collabtax`."""
    one = commands.add_parser("predict", help="predict the ratio gap from features of the dialogues (ridge)")
    one.add_argument("folder", type=Path, help="a run: the folder that --run names")
    one.add_argument("--json", type=Path, metavar="FILE", help="where else than in the run to write it")
    one.add_argument(
        "--include-intractable", action="store_true", help="let cells in whose model does not solve the task alone"
    )
    one.set_defaults(run=run_predict)
    one = commands.add_parser("features", help="write the features of the dialogues, a line a model and task")
    one.add_argument("folder", type=Path, help="a run: the folder that --run names")
    one.add_argument("--csv", type=Path, required=True, metavar="FILE", help="where to write the table")
    one.set_defaults(run=run_features)


def read(folder: Path) -> list[CellFeatures]:
    from collabtax.prediction.table import table
    from collabtax.store import load

    try:
        return table(load(folder))
    except OSError as problem:
        raise ValueError(str(problem)) from None


def write(path: Path, text: str) -> None:
    try:
        path.write_text(text, encoding="utf-8")
    except OSError as problem:
        raise ValueError(f"{path} cannot be written: {problem.strerror}; choose another place") from None


def run_predict(given: argparse.Namespace) -> None:
    """Print fit and coefficients, and write them with the cells into the run's folder."""
    from collabtax.prediction.model import predict

    found = predict(read(given.folder), include_intractable=given.include_intractable)
    for path in filter(None, (given.folder / "prediction.json", given.json)):
        write(path, as_json(found))
    print("\n".join(told(found)))


def run_features(given: argparse.Namespace) -> None:
    """Write the table of features as CSV."""
    from collabtax.prediction.table import as_csv

    cells = read(given.folder)
    write(given.csv, as_csv(cells))
    print(f"{len(cells)} cells in {given.csv}")


def as_json(found: Prediction) -> str:
    """All of a prediction, for figures: the cells with gap and out-of-fold prediction, fits, coefficients."""
    data = asdict(found)
    for cell, foreseen in zip(data["cells"], data.pop("foreseen"), strict=True):
        cell["foreseen"] = foreseen
    return json.dumps(_rounded(data), indent=1, sort_keys=True) + "\n"


def _rounded(value: Any) -> Any:
    """Nine decimals: what lies behind them differs between machines."""
    if isinstance(value, dict):
        return {k: _rounded(v) for k, v in value.items()}
    if isinstance(value, list | tuple):
        return [_rounded(v) for v in value]
    return round(value, 9) + 0.0 if isinstance(value, float) else value


def told(found: Prediction) -> list[str]:
    """The terminal's lines."""
    cells = found.cells
    tasks, models = len({c.task for c in cells}), len({c.model for c in cells})
    lines = [f"ratio gap of {len(cells)} cells ({tasks} tasks, {models} models), ridge with lambda 1", ""]
    lines += [f"left out {n}: {reason}" for reason, n in found.left_out.items()]
    lines += [f"{'':<22} {'R2':>7} {'Spearman':>9} {'Pearson':>8}"]
    lines += [f"{'in the sample':<22} {_number(found.in_sample_r2):>7}"]
    lines += [_line(f"{found.folds.groups} folds by task", found.folds)]
    lines += [_line("leave one task out", found.by_task, f"; {found.by_task.positive} of {tasks} tasks above 0")]
    lines += [
        _line("leave one model out", found.by_model)
        if found.by_model
        else "leave one model out: there is one model only"
    ]
    lines += ["", f"{'coefficient, a standard deviation':<34} {'points':>7}   95 % over tasks"]
    for one in found.coefficients[:SHOWN]:
        span = f"{100 * one.low:+.1f} to {100 * one.high:+.1f}"
        lines.append(f"{printable(one.name):<34} {100 * one.value:>+7.1f}   {span}")
    if constant := [c.name for c in found.coefficients if c.constant]:
        lines.append(f"the same in all cells: {', '.join(constant)}")
    return lines


def _number(value: float | None) -> str:
    return "-" if value is None else f"{value:.3f}"


def _line(name: str, held: Held, more: str = "") -> str:
    return f"{name:<22} {_number(held.r2):>7} {_number(held.spearman):>9} {_number(held.pearson):>8}{more}"
