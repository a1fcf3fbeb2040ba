"""The end of a run: its results in one file, a summary in the terminal, a report to open from disk."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collabtax.cells import Cell
    from collabtax.progress import Tally
    from collabtax.session import Session


def finish(session: Session, cells: Sequence[Cell], tally: Tally) -> Iterator[str]:
    """Gather the results, write the report on `cells`, and say what came out, line by line, at last where it is."""
    from collabtax.report import pages, text
    from collabtax.report.summary import summarise

    own = session.store.own()
    try:
        rows = session.store.consolidate()
    except OSError as problem:  # a full disk must not end in a traceback: the parts hold everything
        rows = session.store.rows()
        yield f"results are not gathered in one file: {problem.strerror}; make room and run the same again"
    rows = rows | own if session.settings.record_mode == "none" else rows  # a replay shows what it saw
    results = ((c, {seed: rows.get(key) for seed, key in session.keys(c).items()}) for c in dict.fromkeys(cells))
    summary = summarise(results)
    yield from text.lines(summary, tally.unplayed)
    folder = session.settings.report
    try:
        pages.write(summary, session.settings, folder)
    except OSError as problem:  # results are stored: a full disk or a foreign file must not end in a traceback
        yield f"no report: {problem}; the results are in {shown(session.settings.run)}"
    else:
        yield shown(folder / "index.html")


def shown(path: Path) -> str:
    """`path` as it is best typed here."""
    return str(path.relative_to(Path.cwd()) if path.is_relative_to(Path.cwd()) else path)
