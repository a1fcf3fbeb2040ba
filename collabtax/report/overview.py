"""The report's first page: what ran, the numbers that matter, what makes them doubtful, and where everything else is.

It knows studies by what `Told` says, so that it is the same page for one study and for three.
"""

from __future__ import annotations

import contextlib
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from collabtax.cassettes import Cassette
from collabtax.cells import Cell
from collabtax.options import STUDIES
from collabtax.report import exports, figures
from collabtax.report.files import MARK, Folder, put_styles
from collabtax.report.pages import FIGURES, KINDS, environment
from collabtax.settings import Settings
from collabtax.study import Results, Told

FIRST = "index.html"
SHOWN = 3  # numbers of a study
LOUDEST = 4  # warnings of a study that are shown at once; the others are folded away
OUTCOMES = ("scored", "no_answer", "unreadable", "infrastructure")  # of rollouts; what has no row was skipped


@dataclass(frozen=True)
class Part:
    """A study of the report: what its results say, and the results."""

    told: Told
    results: Results

    @property
    def page(self) -> str:
        return f"{self.told.name}.html"

    @property
    def cells(self) -> list[Cell]:
        return [cell for cell, _ in self.results]


@dataclass(frozen=True)
class Amount:
    """What some cells are: rollouts by outcome ("skipped": without a row), tokens, and money of what has a price."""

    cells: int
    outcomes: Counter[str]
    prompt: int
    completion: int
    cost: float
    unpriced: int

    @property
    def planned(self) -> int:
        return self.outcomes.total()

    @property
    def price(self) -> str:
        if self.unpriced:
            return f"${self.cost:.4f} and unknown for {self.unpriced}" if self.cost else "unknown"
        return f"${self.cost:.4f}"


@dataclass(frozen=True)
class Recordings:
    """Where the answers of each model come from, and the first and last day of the recordings, "" if nobody knows."""

    hosts: Mapping[str, Sequence[str]]
    first: str
    last: str


def amount(results: Results) -> Amount:
    rows = [row for _, by_seed in results for row in by_seed.values()]
    there = [row for row in rows if row is not None]
    outcomes = Counter("skipped" if row is None else str(row["outcome"]) for row in rows)
    prompt, completion = (sum(row["usage"].get(kind, 0) for row in there) for kind in ("prompt", "completion"))
    cost = round(sum(sorted(row["cost"] or 0.0 for row in there)), 6)
    return Amount(len(results), outcomes, prompt, completion, cost, sum(row["cost"] is None for row in there))


def recordings(results: Results, settings: Settings) -> Recordings:
    """As recordings of one rollout of each cell say it; where there is none, models are where settings have them."""
    hosts: dict[str, set[str]] = {}
    days: set[str] = set()
    for cell, rows in results:
        for seed in [seed for seed, row in rows.items() if row is not None][:1]:
            with contextlib.suppress(ValueError, OSError):
                said = Cassette(settings.cassette(cell, seed), "none").metadata
                days |= {str(said["recorded"])} if said.get("recorded") else set()
                for model, host in said.get("models", {}).items():
                    hosts.setdefault(str(model), set()).add(str(host))
    names = sorted({m for cell, _ in results for m in cell.models})
    known = {m: sorted(hosts.get(m) or {settings.models[m].host}) for m in names}
    return Recordings(known, min(days, default=""), max(days, default=""))


def unasked(unplayed: Mapping[str, int]) -> list[str]:
    """A warning where recordings were not asked for, as when a prompt was changed; `unplayed` counts them by cell."""
    if not unplayed:
        return []
    named = ", ".join(f"{cell} {n}" for cell, n in sorted(unplayed.items())[:3])
    more = ", …" if len(unplayed) > 3 else ""
    return [f"{sum(unplayed.values())} recordings in {len(unplayed)} cells were not asked for: {named}{more}"]


def lines(parts: Sequence[Part], unplayed: Mapping[str, int]) -> list[str]:
    """What the terminal says, study by study; recordings that were not asked for are told once, by the last one."""
    found: list[str] = []
    for part in parts:
        found += [f"== {part.told.title} =="] * (len(parts) > 1)
        found += part.told.lines(unplayed if part is parts[-1] else {})
    return found


def titles(parts: Sequence[Part]) -> dict[str, str]:
    """The report's first pages, by file: this one, then one of every study."""
    return {FIRST: "overview", **{part.page: part.told.title for part in parts}}


def write(
    parts: Sequence[Part], settings: Settings, folder: Path, unplayed: Mapping[str, int], kinds: Sequence[str] = KINDS
) -> None:
    """Write the pages of all studies, the overview, and the figures as files of `kinds` (`exports.KINDS`).

    Raises:
        ValueError: Parquet is asked for and pyarrow is not there.
        OSError: the folder cannot be written, or holds somebody else's file where one of ours belongs.
    """
    place, pages = Folder(folder), titles(parts)
    drawn = {part.page: part.told.figures() for part in parts}
    for part in parts:
        part.told.write(folder, pages)
        if drawn[part.page]:
            exports.write(drawn[part.page], folder / FIGURES / part.told.name, kinds)
    put_styles(place)
    place.put("figures.css", b"/* " + MARK + b" */\n" + figures.style().encode())
    results = [one for part in parts for one in part.results]
    shown = [
        {
            "part": part, "told": part.told, "amount": amount(part.results), "numbers": part.told.headline()[:SHOWN],
            "warnings": part.told.warnings(), "figure": next((one.html() for one in drawn[part.page]), ""),
        }
        for part in parts
    ]  # fmt: skip
    page = environment().get_template("index.html").render(
        root="", pages=[(file, title) for file, title in pages.items() if file != FIRST], studies=shown,
        total=amount(results), models=recordings(results, settings), settings=settings, unasked=unasked(unplayed),
        outcomes=OUTCOMES, loudest=LOUDEST,
    )  # fmt: skip
    place.put(FIRST, page.encode())
    place.tidy(*(f"{study}.html" for study in STUDIES if f"{study}.html" not in pages))
