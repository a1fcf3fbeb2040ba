"""Figures and results as files for other programs: SVG, PDF, CSV, Parquet. Equal data makes equal bytes."""

from __future__ import annotations

import argparse
import csv
import io
import re
from collections.abc import Iterable, Mapping, Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any

from collabtax.cassettes import canonical

if TYPE_CHECKING:
    from collabtax.report.figures import Figure

KINDS = ("svg", "pdf", "csv", "parquet")
CONTENTS = "contents.txt"
HEADLINE = "Figures of a report and the numbers behind them; written anew with it. Other files in this folder stay."
NAMED = re.compile(rf"[a-z0-9][a-z0-9-]*\.(?:{'|'.join(KINDS)})")
FORMULA = ("=", "+", "-", "@", "\t", "\r")  # what a text in a CSV file must not begin with: spreadsheets run it

FIRST = (  # columns of results that say which rollout it is and what came out; the others follow by name
    "study", "task", "family", "mode", "initiator", "models", "condition", "seed", "outcome", "score", "success",
    "warning", "reason", "turns", "characters", "cost",
)  # fmt: skip

Value = str | int | float | bool | None


def available() -> tuple[str, ...]:
    """The kinds of files that can be written here: Parquet needs pyarrow."""
    return KINDS if find_spec("pyarrow") else KINDS[:-1]


def write(figures: Iterable[Figure], folder: Path, kinds: Sequence[str] = ()) -> list[Path]:
    """Write figures and the numbers behind them into `folder`, with a list of them; those of an earlier report go.

    `kinds` are of `KINDS`, by default all that are `available`.

    Raises:
        ValueError: Parquet is asked for and pyarrow is not there, or a figure's name is none for a file.
        FileExistsError: a file of somebody else has one of the names.
        OSError: the folder cannot be written.
    """
    listed = folder / CONTENTS
    before = set(NAMED.findall(listed.read_text(encoding="utf-8"))) if listed.exists() else set()
    files: dict[str, bytes] = {}
    lines = [HEADLINE, ""]
    for figure in figures:
        for kind in kinds or available():
            name = f"{figure.name}.{kind}"
            if not NAMED.fullmatch(name) or name in files:
                raise ValueError(f"figure {figure.name!r} is no name for a file of its own; use a-z, 0-9 and -")
            files[name] = content(figure, kind)
            lines.append(f"{name}: {figure.title}")
    if foreign := [name for name in files if name not in before and (folder / name).exists()]:
        raise FileExistsError(f"{foreign[0]} in {folder.name} is not of a report; move it away")
    folder.mkdir(parents=True, exist_ok=True)
    for name in sorted(before - set(files)):
        (folder / name).unlink(missing_ok=True)
    listed.write_text("\n".join(lines) + "\n", encoding="utf-8", errors="backslashreplace")  # first: names what follows
    for name, data in files.items():
        (folder / name).write_bytes(data)
    return [folder / name for name in files]


def content(figure: Figure, kind: str) -> bytes:
    """A figure as a file of one of `KINDS`; CSV and Parquet hold its numbers."""
    if kind == "svg":
        return figure.svg.encode()
    if kind == "pdf":
        return figure.pdf()
    columns = {name: [row[i] for row in figure.rows] for i, name in enumerate(figure.head)}
    return as_csv(columns) if kind == "csv" else as_parquet(columns)


def results(rows: Sequence[Mapping[str, Any]]) -> dict[str, list[Value]]:
    """Stored rollouts as columns of equal length, a value a rollout: nested values under joined names, like
    `said.friction`; of the turns their number and characters; what is nested deeper as JSON."""
    flat = [flattened(row) for row in rows]
    known = dict.fromkeys(name for row in flat for name in row)
    names = [*(name for name in FIRST if name in known), *sorted(name for name in known if name not in FIRST)]
    return {name: [row.get(name) for row in flat] for name in names}


def flattened(row: Mapping[str, Any]) -> dict[str, Value]:
    """One stored rollout without nesting."""
    found: dict[str, Value] = {}
    for name, value in row.items():
        if name == "turns":
            found["turns"], found["characters"] = len(value), sum(len(turn["text"]) for turn in value)
        elif name == "models":
            found["initiator"], found["models"] = str(value[0]), " + ".join(map(str, value))
        elif name in ("said", "versions", "usage"):
            found |= {f"{name}.{key}": _plain(part) for key, part in sorted(value.items())}
        else:
            found[name] = _plain(value)
    return found


def _plain(value: Any) -> Value:
    return value if value is None or isinstance(value, str | int | float) else canonical(value)


def as_csv(columns: Mapping[str, Sequence[Value]]) -> bytes:
    """Columns as CSV in UTF-8. None is empty, truth is true or false; a text that a spreadsheet would run as a formula
    begins with an apostrophe."""
    out = io.StringIO()
    writer = csv.writer(out)  # ends lines with \r\n, as RFC 4180 has it, and so quotes both in a text
    writer.writerow([_guarded(name) for name in columns])
    writer.writerows([_guarded(value) for value in line] for line in zip(*columns.values(), strict=True))
    return out.getvalue().encode("utf-8", "backslashreplace")


def _guarded(value: Value) -> Value:
    if isinstance(value, bool):
        return str(value).lower()
    return f"'{value}" if isinstance(value, str) and value.startswith(FORMULA) else value


def as_parquet(columns: Mapping[str, Sequence[Value]]) -> bytes:
    """Columns as Parquet, typed: truth, whole numbers, numbers, or text where a column mixes them.

    Raises:
        ValueError: pyarrow is not installed.
    """
    try:
        import pyarrow
        from pyarrow import parquet
    except ModuleNotFoundError:
        raise ValueError("Parquet needs pyarrow: install the extra `frame`, or write CSV") from None
    arrays = {}
    for name, values in columns.items():
        kinds = {type(value) for value in values if value is not None}
        if kinds <= {bool}:
            made = pyarrow.array(values, pyarrow.bool_())
        elif kinds == {int} and all(-(2**63) <= int(value) < 2**63 for value in values if value is not None):
            made = pyarrow.array(values, pyarrow.int64())
        elif kinds <= {int, float} and all(type(value) is not int or abs(value) <= 2**53 for value in values):
            made = pyarrow.array([None if value is None else float(value) for value in values], pyarrow.float64())
        else:
            made = pyarrow.array([None if value is None else _text(value) for value in values], pyarrow.string())
        arrays[_text(name)] = made
    out = io.BytesIO()
    parquet.write_table(pyarrow.table(arrays), out, compression="zstd")
    return out.getvalue()


def _text(value: Value) -> str:
    said = str(value).lower() if isinstance(value, bool) else str(value)
    return said.encode("utf-8", "backslashreplace").decode()


def write_results(rows: Sequence[Mapping[str, Any]], path: Path) -> None:
    """Write rollouts to `path`, a line each; its ending says whether as CSV or as Parquet.

    Raises:
        ValueError: another ending, or pyarrow is not there.
        OSError: `path` cannot be written.
    """
    writers = {".csv": as_csv, ".parquet": as_parquet}
    if path.suffix not in writers:
        raise ValueError(f"{path} ends in neither .csv nor .parquet; choose one of them")
    path.write_bytes(writers[path.suffix](results(rows)))


def register(commands: Any) -> None:
    """Add the command to the subparsers of `python -m collabtax`."""
    one = commands.add_parser("export", help="write the rollouts of a run as CSV or Parquet, a line each")
    one.add_argument("folder", metavar="RUN", type=Path, help="a run: the folder that --run names")
    one.add_argument("--out", type=Path, required=True, metavar="FILE", help="a file that ends in .csv or .parquet")
    one.set_defaults(run=run)


def run(given: argparse.Namespace) -> None:
    """Write the rollouts of a run. Raises ValueError in one line."""
    from collabtax.store import load

    try:
        rows = load(given.folder)
    except OSError as problem:
        raise ValueError(problem.strerror or str(problem)) from None
    try:
        write_results(rows, given.out)
    except OSError as problem:
        raise ValueError(f"{given.out} cannot be written: {problem.strerror}; choose another place") from None
    print(f"{len(rows)} rollouts in {given.out}")
