"""What a view states, fact by fact, and how much of it a speaker has told."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import fields
from typing import Any, TypeAlias

from tasks import Task

Fact: TypeAlias = tuple[Any, ...]
DRAWN = frozenset(".#?@*")  # marks of which every drawn view has some
UNKNOWN = "?"


def facts(view: Any) -> frozenset[Fact]:
    """The facts of a view, a frozen dataclass of plain data: each visible mark of a drawing with its place, each
    entry of a list wherever it stands, each single value; all with the name of their field."""
    return frozenset((one.name, *fact) for one in fields(view) for fact in _facts(getattr(view, one.name)))


def _facts(value: Any) -> Iterator[Fact]:
    if not isinstance(value, tuple):
        yield (value,)
    elif _is_drawing(value):
        shape = len(value), len(value[0])
        yield from ((shape, r, c, m) for r, row in enumerate(value) for c, m in enumerate(row) if m != UNKNOWN)
    elif value and all(isinstance(part, tuple) and _is_drawing(part) for part in value):
        for layer, part in enumerate(value):
            yield from ((layer, *fact) for fact in _facts(part))
    else:
        yield from ((entry,) for entry in value)


def _is_drawing(value: tuple[Any, ...]) -> bool:
    texts = all(isinstance(row, str) for row in value)
    return bool(value) and texts and len(set(map(len, value))) == 1 and not DRAWN.isdisjoint("".join(value))


def private(views: tuple[Any, ...], seat: int) -> frozenset[Fact]:
    """What the view of `seat` states and no other view does."""
    others = (facts(view) for other, view in enumerate(views) if other != seat)
    return facts(views[seat]).difference(*others)


def public_lines(told: Iterable[str]) -> str:
    """The lines that all views, told in one frame, have in common, in the order of the first."""
    first, *others = (text.splitlines() for text in told)
    return "\n".join(line for line in first if all(line in lines for lines in others))


def disclosed(task: Task[Any], wanted: frozenset[Fact], public: str, messages: Iterable[str]) -> float:
    """Share of the facts `wanted` that a speaker has told in `messages`, as far as the task's own reader understands
    them; 1 where there is nothing to tell.

    A message is read as it is, and once more with the public lines after it, since a reader may need what both sides
    know (a list of names, the queries) and nobody repeats that with every fact.
    """
    told = set[Fact]()
    for message in messages:
        for text in (message, f"{message}\n\n{public}"):
            try:
                view = task.parse(text)
            except (ValueError, LookupError):
                continue
            told |= wanted & facts(view)
    return len(told) / len(wanted) if wanted else 1.0
