"""The contract of a task, its registry, and the one way in which a seed becomes an instance and its views.

An *instance* is the view that holds every fact, so both share one type: a frozen dataclass of plain data. Everything
else (modes, extraction, grading, report, simulated models, contract tests) works from the methods of `Task`.
"""

from __future__ import annotations

import hashlib
import importlib
import pkgutil
import random
from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from importlib.metadata import entry_points
from typing import Any, ClassVar, Generic, TypeVar

from tasks.answers import Form, Key
from tasks.frames import Frame, draw_frames

FAMILIES = ("spatial", "relational", "csp")
DIFFICULTIES = ("easy", "default", "hard")
ENTRY_POINTS = "collabtax.tasks"  # group of entry points under which other packages offer tasks
ATTEMPTS = 200  # instances tried for one seed before the generator is declared broken

View = TypeVar("View")
Answer = Any  # JSON-able; its shape belongs to the task's `Form`


def seeded(*parts: object) -> random.Random:
    """A generator keyed by the SHA-256 of `parts`: neighbouring seeds share nothing, no global state is touched.

    The standard library's Mersenne Twister is used because its integer streams are the same on every Python that we
    support, while numpy only promises its streams within one release.
    """
    return random.Random(hashlib.sha256("/".join(map(str, parts)).encode()).digest())


class Task(ABC, Generic[View]):
    """One task. Methods are pure; a subclass is stateless and registered with `@register`."""

    name: ClassVar[str]
    family: ClassVar[str]  # one of FAMILIES
    version: ClassVar[int]  # raised whenever instances, views or texts change
    rule: ClassVar[str]  # the grading rule, a key of `graders.RULES`
    prompt: ClassVar[str]  # what is asked, and how the answer is to be written

    @abstractmethod
    def sample(self, rng: random.Random, difficulty: str) -> View | None:
        """Draw an instance; None when the draw is no good and another one is wanted."""

    @abstractmethod
    def split(self, instance: View, rng: random.Random) -> tuple[View, ...]:
        """Share the facts out: together the views hold exactly the instance."""

    @abstractmethod
    def merge(self, views: Sequence[View]) -> View:
        """Put views together. Raises ValueError, naming the fact, where they contradict each other."""

    @abstractmethod
    def render(self, view: View, frame: Frame) -> str:
        """Tell a view in a frame."""

    @abstractmethod
    def parse(self, text: str) -> View:
        """Inverse of `render`, in any frame, from any text that holds a told view. Raises ValueError if none does."""

    @abstractmethod
    def solve(self, view: View) -> Answer:
        """The canonical answer to an instance; on a partial view the best guess that takes unknowns as harmless."""

    @abstractmethod
    def key(self, instance: View) -> Key:
        """What the grading rule needs to know."""

    @abstractmethod
    def form(self, view: View) -> Form:
        """What a reader of answers may know: the kind of answer and the names in it, nothing that tells the truth."""

    @abstractmethod
    def rivals(self, instance: View, view: View) -> Iterator[View]:
        """Other solvable instances that contain `view`: the candidates for showing that it alone does not decide.

        Where a rule accepts several answers, only such in which the canonical answer to `instance` is wrong.
        """

    def complete(self, view: View, other: View) -> View | None:
        """`view` with its hidden part taken from `other`, an instance of another seed: a draw of what may be hidden,
        for estimating what a view is worth. It need not be solvable. None if that cannot be done; then rivals of
        rivals are taken."""
        return None

    @abstractmethod
    def corrupt(self, view: View, rng: random.Random) -> View:
        """The view with one known fact told wrongly."""

    @abstractmethod
    def draw(self, instance: View, answer: Answer, where: Any) -> str:
        """An SVG of the instance with an answer on it; `where` is the grade's. All text in it is escaped."""


@dataclass(frozen=True)
class Problem(Generic[View]):
    """A task at a seed: the instance, its views, the frame each view is told in, why each view is not enough, and how
    many draws it took."""

    instance: View
    views: tuple[View, ...]
    frames: tuple[Frame, ...]
    witnesses: tuple[View, ...]  # for each view another instance that contains it, on which our answer is wrong
    draws: int = 1


def problem(task: Task[View], seed: int, difficulty: str = "default", friction: str = "natural") -> Problem[View]:
    """The problem of `task` at `seed`. The instance does not depend on `friction`.

    Raises:
        ValueError: no such difficulty, or no acceptable instance within `ATTEMPTS` draws, which is a fault of the
            generator.
    """
    if difficulty not in DIFFICULTIES:
        raise ValueError(f"difficulty {difficulty!r} is none of {', '.join(DIFFICULTIES)}")
    for attempt in range(ATTEMPTS):
        rng = seeded(task.name, task.version, difficulty, seed, attempt)
        instance = task.sample(rng, difficulty)
        if instance is None:
            continue
        views = task.split(instance, rng)
        answer = task.solve(instance)
        witnesses = []
        for view in views:
            if task.merge((view, instance)) != instance:
                raise ValueError(f"task {task.name}, seed {seed}: a view states a fact that the instance does not hold")
            other = next((r for r in task.rivals(instance, view) if task.solve(r) != answer), None)
            if other is not None:
                witnesses.append(other)
        if len(witnesses) == len(views):
            frames = draw_frames(friction, len(views), seeded(task.name, task.version, seed, "frames"))
            return Problem(instance, views, frames, tuple(witnesses), attempt + 1)
    raise ValueError(f"task {task.name}, seed {seed}, {difficulty}: no acceptable instance in {ATTEMPTS} draws")


_REGISTRY: dict[str, Task[Any]] = {}


def register(cls: type[Task[Any]]) -> type[Task[Any]]:
    """Class decorator: make a task known under its name. Raises ValueError for a second task of that name."""
    if cls.family not in FAMILIES:
        raise ValueError(f"task {cls.name}: family {cls.family!r} is none of {', '.join(FAMILIES)}")
    known = type(_REGISTRY.get(cls.name, cls))  # the class itself may come again when its module is reloaded
    if cls.name in _REGISTRY and (known.__module__, known.__qualname__) != (cls.__module__, cls.__qualname__):
        raise ValueError(f"task {cls.name}: the name is taken by {known.__module__}")
    _REGISTRY[cls.name] = cls()
    return cls


@cache
def _load() -> None:
    for family in FAMILIES:
        package = importlib.import_module(f"tasks.{family}")
        for module in pkgutil.iter_modules(package.__path__):
            importlib.import_module(f"tasks.{family}.{module.name}")
    for point in entry_points(group=ENTRY_POINTS):  # tasks of other packages: a module that registers them
        try:
            point.load()
        except Exception as error:
            fault = f"{type(error).__name__}: {error}"
            raise ValueError(
                f"tasks of {point.value} (entry point {point.name!r}) cannot be loaded: {fault}"
            ) from error


def all_tasks() -> list[Task[Any]]:
    """Every known task, by family in the order of `FAMILIES`, then by name."""
    _load()
    return sorted(_REGISTRY.values(), key=lambda t: (FAMILIES.index(t.family), t.name))


def get_task(name: str) -> Task[Any]:
    """The task called `name`. Raises ValueError that lists the known names."""
    _load()
    if name not in _REGISTRY:
        raise ValueError(f"no task {name!r}; known tasks: {', '.join(sorted(_REGISTRY))}")
    return _REGISTRY[name]
