"""`python -m collabtax report RUN... [--out DIR] [--figures KINDS] [--inspect]`: the report of stored runs, without
pytest."""

from __future__ import annotations

import argparse
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from collabtax.report import exports
from collabtax.store import Key, Row, key, read_lines

if TYPE_CHECKING:
    from collabtax.cells import Cell
    from collabtax.settings import Settings

Place = tuple[int, int]  # the run's number and the row's in it
SHARED = ("said", "versions", "models")  # of a row: equal in many rows, so they are held once


def register(commands: Any) -> None:
    """Add the command to a parser's."""
    one = commands.add_parser("report", help="write the report of stored runs")
    one.add_argument("runs", type=Path, nargs="+", metavar="RUN", help="folders that --run named")
    one.add_argument("--out", type=Path, metavar="DIR", help="where to write it (default: report in the first run)")
    one.add_argument("--inspect", action="store_true", help="also write logs for the viewer of Inspect AI, in inspect/")
    one.add_argument(
        "--figures", default="svg,csv", metavar="KINDS", help="files of each figure, in figures/, beside SVG and CSV, "
        f"which the pages link: of {', '.join(exports.KINDS)}, several with commas",
    )  # fmt: skip
    one.set_defaults(run=run)


def kinds_of(given: str) -> tuple[str, ...]:
    """Kinds of files of figures, those that pages link always among them. Raises ValueError in one line."""
    from collabtax.report.pages import KINDS

    asked = [kind.strip() for kind in given.split(",")]
    if odd := [kind for kind in asked if kind not in exports.KINDS]:
        raise ValueError(f"--figures {odd[0]!r} is no kind of file; choose of {', '.join(exports.KINDS)}")
    return tuple(kind for kind in exports.KINDS if kind in (*KINDS, *asked))


def run(given: argparse.Namespace) -> None:
    """Write the report and say what the runs say."""
    out = given.out or given.runs[0] / "report"
    try:
        for line in report(given.runs, out, kinds_of(given.figures)):
            print(line)
        if given.inspect:
            from collabtax.report.inspect_log import write

            for path in write(given.runs, out / "inspect"):
                print(path)
    except OSError as problem:
        raise ValueError(f"no report in {out}: {problem}") from problem


def report(runs: Sequence[Path], out: Path, kinds: Sequence[str] = ("svg", "csv")) -> list[str]:
    """Write the report of stored `runs` into `out`, figures as files of `kinds`; returns what the terminal says, the
    report's first page at last.

    Rollouts of several runs are put together. Rows are read twice and never held whole: the numbers need little of
    them. Where a run holds a cell under several settings or versions, the report is on those of most rollouts, and the
    pages of these show how the others were graded.

    Raises:
        ValueError: one line: a run holds no results, two of them differ on a cell, or pyarrow is not there for Parquet.
        OSError: `out` cannot be written.
    """
    from collabtax.report import browser, overview
    from collabtax.study import get_study

    held = Held(runs)
    found, settings = held.results(), settings_of(held, runs[0], out)
    parts = []
    for study in settings.study:
        results = [(cell, rows) for cell, rows in found.items() if cell.study == study]
        parts.append(overview.Part(get_study(study).told(results, settings.parts(study)[0]), results))
    said = overview.lines(parts, {})
    overview.write(parts, settings, out, {}, kinds)
    browser.write(held.whole(), out, settings, runs=runs, earlier=held.earlier())
    return [*said, str(out / "index.html")]


class Held:
    """What stays in memory of some runs: their rows without what only a rollout's own page shows."""

    def __init__(self, runs: Sequence[Path]) -> None:
        self.runs = runs
        self.rows: dict[Key, Row] = {}
        self.places: dict[Key, Place] = {}
        same: dict[str, Any] = {}
        judged = any((run / "judgements").is_dir() for run in runs)  # judgements are of words, which are then needed
        for place, row in self._read():
            one = key(row)
            before = self.rows.get(one)
            slim = {k: same.setdefault(v, v) if isinstance(v, str) and len(v) < 40 else v for k, v in row.items()}
            slim |= {"answer": None, "where": None, "evidence": ""}
            slim |= {k: same.setdefault(repr(row[k]), row[k]) for k in SHARED}
            slim["turns"] = [{"seat": t["seat"], "text": t["text"]} for t in row["turns"]] if judged else []
            if before is not None and self.places[one][0] != place[0] and not equal(before, slim):
                where = f"{self.runs[self.places[one][0]]} and another in {self.runs[place[0]]}"
                raise ValueError(f"{row['task']} seed {row['seed']} has one result in {where}; report them apart")
            if before is None or row["outcome"] != "infrastructure" or before["outcome"] == "infrastructure":
                self.rows[one], self.places[one] = slim, place
        self.chosen = self._choose()

    def _read(self) -> Iterator[tuple[Place, Row]]:
        """Every row of every run, in the order of `Store.rows`."""
        for number, run in enumerate(self.runs):
            count = 0
            for path in (run / "results.jsonl", *sorted((run / "parts").glob("[0-9]*-*.jsonl"))):
                for row in read_lines(path) if path.exists() else ():
                    yield (number, count), row
                    count += 1
            if not count:
                raise ValueError(f"no results in {run}; give the folder that --run names")

    def _choose(self) -> dict[tuple[Any, ...], str]:
        """For each cell the settings that are reported: those of most rollouts, at a tie the last by name."""
        counted: dict[tuple[Any, ...], Counter[tuple[str, int]]] = {}
        for one in self.rows:
            counted.setdefault(one[:5], Counter())[one[6], self.places[one][0]] += 1
        for cell, found in counted.items():
            runs = {run: {digest for digest, other in found if other == run} for _, run in found}
            first = min(runs)
            for run, digests in runs.items():
                if not digests & runs[first]:
                    raise ValueError(
                        f"{cell[1]}-{cell[2]} was run with different settings in {self.runs[first]} and in "
                        f"{self.runs[run]}; report them apart"
                    )
        most = {}
        for cell, found in counted.items():
            total: Counter[str] = Counter()
            for (digest, _), n in found.items():
                total[digest] += n
            most[cell] = max(total, key=lambda digest: (total[digest], digest))
        return most

    def results(self) -> dict[Cell, dict[int, Row | None]]:
        """The reported rows of each cell, by seed."""
        from collabtax.cascade.stages import cell_of

        found: dict[Cell, dict[int, Row | None]] = {}
        for one, row in sorted(self.rows.items()):
            if self.chosen[one[:5]] == one[6]:
                found.setdefault(cell_of(row), {})[row["seed"]] = row
        return found

    def earlier(self) -> dict[Any, list[Row]]:
        """The rows that are not reported, by the rollout that they are also of."""
        found: dict[Any, list[Row]] = {}
        for one, row in sorted(self.rows.items()):
            if self.chosen[one[:5]] != one[6]:
                found.setdefault(one[:6], []).append(row)
        return found

    def whole(self) -> Iterator[Row]:
        """The reported rows as they are stored, read again."""
        for place, row in self._read():
            one = key(row)
            if self.places[one] == place and self.chosen[one[:5]] == one[6]:
                yield row


def equal(one: Row, other: Row) -> bool:
    return {k: v for k, v in one.items() if k != "unplayed"} == {k: v for k, v in other.items() if k != "unplayed"}


def settings_of(held: Held, run: Path, out: Path) -> Settings:
    """Settings as those of `run` were, as far as its rows tell them, of each study; the rest has its defaults."""
    from collabtax.options import STUDIES

    found = held.results()
    by_study = {s: {cell: rows for cell, rows in found.items() if cell.study == s} for s in STUDIES}
    built = {study: settings_of_study(study, results, run, out) for study, results in by_study.items() if results}
    first = next(iter(built.values()))
    if len(built) == 1:
        return first
    models = {name: model for one in built.values() for name, model in one.models.items()}
    return replace(first, study=tuple(built), models=models, own={study: (one,) for study, one in built.items()})


def settings_of_study(study: str, results: dict[Cell, dict[int, Row | None]], run: Path, out: Path) -> Settings:
    """Settings of one study, from its rows; those of cells without a condition count first."""
    from collabtax.models import load_model
    from collabtax.options import INTERVENTIONS, MODES, SWEEPS
    from collabtax.report.files import CHECKOUT
    from collabtax.settings import settings

    names = dict.fromkeys(m for cell in results for m in cell.models)
    said: dict[str, Any] = {}
    for cell, rows in sorted(results.items(), key=lambda one: bool(one[0].condition)):
        for row in rows.values() if cell.condition not in SWEEPS else ():
            for name, value in row["said"].items() if row else ():
                said.setdefault(name, value)
    base = settings({"model": ["sim/weak"], "run": str(run.absolute()), "report": str(out.absolute())}, CHECKOUT)
    conditions = dict.fromkeys(cell.condition for cell in results)
    known = {name: value for name, value in said.items() if hasattr(base, name)}
    return replace(
        base, **known,
        model=tuple(names), models={name: load_model(name, {}) for name in names},
        pair=tuple(dict.fromkeys((c.models[0], c.models[1]) for c in results if c.mode == "hetero")),
        task=tuple(dict.fromkeys(c.task for c in results)), study=(study,),
        mode=tuple(m for m in MODES[study] if any(c.mode == m for c in results)),
        intervention=tuple(c for c in INTERVENTIONS if c in conditions),
        sweep=tuple(c for c in SWEEPS if c in conditions),
        condition=tuple(c for c in conditions if c), rollouts=max(map(len, results.values())),
        seed=min(seed for rows in results.values() for seed in rows), record_mode="none", embedded=False,
    )  # fmt: skip
