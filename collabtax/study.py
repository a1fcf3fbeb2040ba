"""What a study is to the rest of the suite: its cells, how one rollout of them is played, what it depends on, and what
its results say. The spine (session, rollouts, plugin, plan, cluster, store, report) knows studies by nothing else."""

from __future__ import annotations

import hashlib
import importlib
from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

from collabtax.cassettes import canonical
from collabtax.options import STUDIES

if TYPE_CHECKING:
    from collabtax.cells import Cell
    from collabtax.chat import Chat, Completion
    from collabtax.report.figures import Figure
    from collabtax.settings import Settings

Row = dict[str, Any]  # a rollout as it is stored
Results = Sequence[tuple["Cell", Mapping[int, Row | None]]]  # rollouts by seed, None: missing


@dataclass
class Transcript:
    """What was said: for each turn the seat, the completion and what else is to be known of it (`about`, plain data);
    and why it ended, in one word."""

    turns: list[tuple[int, Completion, dict[str, Any]]] = field(default_factory=list)
    termination: str = ""

    def say(self, seat: int, completion: Completion, **about: Any) -> None:
        self.turns.append((seat, completion, about))


@dataclass
class Stage:
    """What a rollout is played with. `settings` are those of the cell; `needed` are the stored rollouts that it builds
    on, in the order of `Study.needs`. `transcript` grows as it goes, so that a failure leaves what was said; `extra`
    takes completions that cost money and are no turns."""

    cell: Cell
    seed: int
    settings: Settings
    chat: Chat
    needed: list[Row]
    transcript: Transcript = field(default_factory=Transcript)
    extra: list[Completion] = field(default_factory=list)


@dataclass(frozen=True)
class Played:
    """What came of a rollout that ran: `outcome` is "scored", "no_answer" or "unreadable"; `score` lies in [0, 1];
    `data` is what the study wants to keep besides, plain JSON."""

    outcome: str
    score: float
    success: bool
    reason: str = ""
    where: Any = None
    answer: Any = None
    warning: str = ""
    evidence: str = ""
    second: dict[str, Any] | None = None
    data: dict[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class Load:
    """What one rollout takes: calls, and tokens by kind as in a record's usage."""

    calls: float
    usage: Mapping[str, float]


@dataclass(frozen=True)
class Number:
    """A number that matters: what it is of, its value, its 95 % interval like "0.25 to 0.36" ("" without one), and what
    it means, in a sentence or two."""

    label: str
    value: str
    interval: str
    sentence: str


class Told(ABC):
    """What a study's results say."""

    name: ClassVar[str]  # of the study
    title: ClassVar[str]  # the study in two or three words
    question: ClassVar[str] = ""  # what it asks, in a sentence

    def headline(self) -> Sequence[Number]:
        """The numbers that matter, the first one first; the report's first page shows three."""
        return ()

    def warnings(self) -> Sequence[str]:
        """What makes the numbers doubtful, loudest first; sentences without their full stops."""
        return ()

    def figures(self) -> Sequence[Figure]:
        """The figures of the study's pages, which the report also writes as files, into `figures/NAME/`."""
        return ()

    @abstractmethod
    def lines(self, unplayed: Mapping[str, int]) -> list[str]:
        """For the terminal; `unplayed`: recordings that were not asked for, by cell."""

    @abstractmethod
    def markdown(self, compared: Sequence[str]) -> list[str]:
        """For a pull request; `compared`: what a comparison with a baseline said."""

    @abstractmethod
    def write(self, folder: Path, pages: Mapping[str, str]) -> None:
        """Write the study's pages into the report, `NAME.html` first; `pages`: file -> title of the report's first page
        and of the first one of every study, this one included. Raises OSError."""


class Study(ABC):
    """One study. `tasks` are (name, family); `modes` and `conditions` what its cells may have there; `rollouts` how
    many of each cell are run unless told."""

    name: ClassVar[str]
    modes: ClassVar[tuple[str, ...]]
    conditions: ClassVar[tuple[str, ...]]
    rollouts: ClassVar[int]
    turn_cap: ClassVar[int] = 0  # exchanges or steps, unless told; 0: what the protocol itself allows
    basis: ClassVar[str]  # of `loads`, for the reader of a plan

    @property
    @abstractmethod
    def tasks(self) -> tuple[tuple[str, str], ...]:
        """Name and family of every task, in a fixed order."""

    @abstractmethod
    def cells(self, settings: Settings) -> Iterable[Cell]:
        """The cells that `settings` ask for, in a fixed order."""

    @abstractmethod
    def length(self, cell: Cell) -> int:
        """Calls of one of the cell's rollouts, roughly."""

    @abstractmethod
    def said(self, settings: Settings, cell: Cell) -> dict[str, Any]:
        """Settings that change what a rollout of `cell` says or how it is read, apart from cell and seed."""

    @abstractmethod
    def versions(self, cell: Cell) -> dict[str, int | str]:
        """Versions of what the cell's scores depend on. The one of `graders` may change without anything being said
        anew."""

    @abstractmethod
    async def play(self, stage: Stage) -> Played:
        """Play one rollout. Whatever it raises makes the rollout an infrastructure failure."""

    @abstractmethod
    def loads(self, settings: Settings, cell: Cell) -> tuple[Load, Load, Load]:
        """Least, expected and most that a rollout takes, from the texts that would be sent."""

    @abstractmethod
    def told(self, results: Results, settings: Settings) -> Told:
        """What the results say."""

    def check(self, settings: Settings) -> None:
        """Raise ValueError, in one line, for settings that the study cannot run with."""
        return None

    def under(self, settings: Settings, cell: Cell) -> Settings:
        """The settings of a cell, where its condition changes those of the run."""
        return settings

    def asks(self, settings: Settings, cell: Cell) -> tuple[str, ...]:
        """The models that a rollout of a cell asks: its own, and those that read or label beside them."""
        return cell.models

    def seeds(self, settings: Settings, cell: Cell, seeds: range) -> Sequence[int]:
        """Which of a run's seeds a cell has."""
        return seeds

    def needs(self, cell: Cell, seed: int) -> tuple[tuple[Cell, int], ...]:
        """Rollouts that this one builds on. They are run once, however many need them."""
        return ()

    def is_needed(self, cell: Cell) -> bool:
        """Whether rollouts of other cells build on this one's."""
        return False

    def group(self, cell: Cell) -> str:
        """Cells of one group belong on one machine, since they share what they build on."""
        return cell.id


@cache
def get_study(name: str) -> Study:
    """The study called `name`, one of `STUDIES`; only what is asked for is loaded."""
    assert name in STUDIES
    study: Study = importlib.import_module(f"collabtax.{name}.study").STUDY
    return study


@cache
def prompts_digest(study: str) -> str:
    """Names the wording of all texts of a study's protocol."""
    folder = Path(__file__).parent / "prompts" / study
    texts = [(p.name, p.read_text(encoding="utf-8")) for p in sorted(folder.glob("*.txt"))]
    return hashlib.sha256(canonical(texts).encode()).hexdigest()[:8]
