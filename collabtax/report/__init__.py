"""The end of a run: its results in one file, a summary in the terminal, a report to open from disk."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collabtax.cells import Cell
    from collabtax.progress import Tally
    from collabtax.session import Session


def finish(session: Session, cells: Sequence[Cell], tally: Tally) -> tuple[list[str], int]:
    """Gather the results, write the report on `cells`, compare with the baseline if there is one.

    Returns:
        Lines that say what came out and at last where it is, and the exit code of the comparison, 0 without one.
    """
    from collabtax.baseline import gate
    from collabtax.report import browser, overview
    from collabtax.study import get_study

    said: list[str] = []
    own = session.store.own()
    try:
        rows = session.store.consolidate()
    except OSError as problem:  # a full disk must not end in a traceback: the parts hold everything
        rows = session.store.rows()
        said.append(f"results are not gathered in one file: {problem.strerror}; make room and run the same again")
    rows = rows | own if session.settings.record_mode == "none" else rows  # a replay shows what it saw
    parts = []
    for study in session.settings.study:
        results = [
            (c, {seed: rows.get(key) for seed, key in session.keys(c).items()})
            for c in dict.fromkeys(cells) if c.study == study
        ]  # fmt: skip
        if results:
            told = get_study(study).told(results, session.settings.parts(study)[0])
            parts.append(overview.Part(told, results))
    said += overview.lines(parts, tally.unplayed)
    compared: list[str] = []
    verdict = 0
    if session.settings.baseline:
        compared, verdict = gate(session, session.settings.baseline, cells, rows)
    folder, summary_file = session.settings.report, session.settings.markdown
    try:
        if summary_file:
            with summary_file.open("a", encoding="utf-8") as out:
                for part in parts:
                    lines = part.told.markdown(compared if part is parts[0] else ())
                    out.writelines(f"{line}\n" for line in lines)
        overview.write(parts, session.settings, folder, tally.unplayed)
        keys = {key for c in dict.fromkeys(cells) for key in session.keys(c).values()}
        browser.write((row for key, row in rows.items() if key in keys), folder, session.settings)
    except OSError as problem:  # results are stored: a full disk or a foreign file must not end in a traceback
        return [*said, *compared, f"no report: {problem}; the results are in {shown(session.settings.run)}"], verdict
    return [*said, *compared, shown(folder / "index.html")], verdict


def shown(path: Path) -> str:
    """`path` as it is best typed here."""
    return str(path.relative_to(Path.cwd()) if path.is_relative_to(Path.cwd()) else path)
