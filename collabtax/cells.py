"""Cells: what is measured. The same deterministic list in every worker."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

MODES = ("solo", "half", "homo", "hetero")
RESERVED = {"con", "prn", "aux", "nul", *(f"{d}{n}" for d in ("com", "lpt") for n in range(1, 10))}
PLAIN = re.compile(r"[a-z0-9][a-z0-9._-]{0,58}[a-z0-9_-]|[a-z0-9]")
TAKEN = re.compile(
    r".*(?:_[0-9a-f]{6}|-view\d|-all-four|-no-l\d|-no-critic|-friction-[a-z]+|-difficulty-[a-z]+)"
)  # ends as a hash or a condition does


def slug(name: str) -> str:
    """`name` as part of a file name and test id: itself where that is safe on every system, else with a hash that
    keeps apart what looks alike."""
    if PLAIN.fullmatch(name) and name.split(".")[0] not in RESERVED and not TAKEN.fullmatch(name):
        return name
    safe = re.sub(r"[^A-Za-z0-9.-]+", "_", name).strip("._")[:40]
    return f"{safe}_{hashlib.sha256(name.encode('utf-8', 'surrogatepass')).hexdigest()[:6]}"


def printable(text: str) -> str:
    """`text` in one line of printable ASCII: what an endpoint says can neither colour nor move the terminal."""
    return "".join(c if " " <= c <= "~" else c.encode("unicode-escape").decode() for c in text)


@dataclass(frozen=True)
class Cell:
    """One cell of a study. `models` are in seat order; `condition` is an intervention, or the view in `half`."""

    study: str
    task: str
    family: str
    mode: str
    models: tuple[str, ...]
    condition: str = ""

    @property
    def id(self) -> str:
        """Readable, unique, safe as a pytest id and as a folder name."""
        seats = self.models[:1] if len(set(self.models)) == 1 else self.models
        return "-".join(filter(None, (self.task, self.mode, "+".join(map(slug, seats)), self.condition)))


LENGTH = {"half": 1, "solo": 2, "homo": 6, "hetero": 6}  # calls of a rollout, roughly


def zigzag(cells: Sequence[Cell], workers: int) -> list[Cell]:
    """`cells` in an order in which workers that take them one by one, two at first, end at about the same time: for
    each worker a long one beside a short one, then the others, the longest first."""
    ordered = sorted(cells, key=lambda cell: -LENGTH[cell.mode])
    pairs = min(workers, len(ordered) // 2)
    short = ordered[len(ordered) - pairs :][::-1]
    first = [cell for both in zip(ordered[:pairs], short, strict=True) for cell in both]
    return first + ordered[pairs : len(ordered) - pairs]


def tax_cells(
    tasks: Sequence[tuple[str, str]],
    models: Sequence[str],
    pairs: Sequence[tuple[str, str]],
    modes: Sequence[str],
    interventions: Sequence[str],
    sweeps: Sequence[str] = (),
) -> Iterator[Cell]:
    """The cells of the tax study (paper, section 4.3): `tasks` are (name, family). A pair runs in both orders; its
    members also run solo, which its tax needs; interventions concern dialogues only, sweeps dialogues and solo, apart
    from the critic, which only solo has."""
    talking = [sweep for sweep in sweeps if sweep != "no-critic"]
    conditions = ("", *interventions, *talking)
    for name, family in tasks:
        for model in models:
            if "solo" in modes:
                yield from (Cell("tax", name, family, "solo", (model,), c) for c in ("", *sweeps))
            if "half" in modes:
                yield from (Cell("tax", name, family, "half", (model,), f"view{v}") for v in (1, 2))
            if "homo" in modes:
                yield from (Cell("tax", name, family, "homo", (model, model), c) for c in conditions)
        if "hetero" in modes:
            for a, b in pairs:
                for seats in ((a, b), (b, a)):
                    yield from (Cell("tax", name, family, "hetero", seats, c) for c in conditions)
