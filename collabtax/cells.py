"""Cells: what is measured. The same deterministic list in every worker."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass

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


def zigzag(cells: Sequence[Cell], workers: int, length: Callable[[Cell], float]) -> list[Cell]:
    """`cells` in an order in which workers that take them one by one, two at first, end at about the same time: for
    each worker a long one beside a short one, then the others, the longest first."""
    ordered = sorted(cells, key=lambda cell: -length(cell))
    pairs = min(workers, len(ordered) // 2)
    short = ordered[len(ordered) - pairs :][::-1]
    first = [cell for both in zip(ordered[:pairs], short, strict=True) for cell in both]
    return first + ordered[pairs : len(ordered) - pairs]
