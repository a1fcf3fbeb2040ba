"""Queries about facts, answered by names, sets of names or numbers: told, read, and drawn with their answers."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from tasks import drawing, lines
from tasks.answers import FieldsKey

Query = tuple[str, ...]  # its name, its kind, and what it is about
Asked = Mapping[str, str]  # the wording of each kind


def tell(queries: Sequence[Query], asked: Asked) -> list[str]:
    return [asked[kind].format(name, *about) for name, kind, *about in queries]


def read(text: str, asked: Asked, word: str) -> tuple[Query, ...]:
    """Inverse of `tell`, sorted by name. Raises ValueError if there are none."""
    told = lines.read(text, {kind: [wording] for kind, wording in asked.items()}, word)
    found = {name: (name, kind, *about) for kind, name, *about in told}
    if not found:
        raise ValueError("no queries in the text")
    return tuple(found[name] for name in sorted(found))


def same(parts: Sequence[tuple[Query, ...]]) -> tuple[Query, ...]:
    """The queries that all parts hold. Raises ValueError if they differ."""
    if len(set(parts)) > 1:
        raise ValueError("the queries differ")
    return parts[0]


def answers(key: FieldsKey) -> dict[str, object]:
    """The right answers as JSON."""
    return {name: sorted(value) if isinstance(value, frozenset) else value for name, value in key.truth.items()}


def notes(
    queries: Sequence[Query], asked: Asked, key: FieldsKey, answer: object, where: object
) -> Iterator[tuple[str, str]]:
    """Two lines a query for `drawing.notes`."""
    given, truth = answer if isinstance(answer, dict) else {}, answers(key)
    for (name, *_), told in zip(queries, tell(queries, asked), strict=True):
        ours, theirs = (
            ", ".join(map(drawing.plain, value)) if isinstance(value, list) else drawing.plain(value)
            for value in (truth[name], given.get(name, "nothing"))
        )
        said = [(name, told), (name, f"answered: {theirs[:80] or 'nothing'}; right: {ours}")]
        yield from drawing.verdicts(where, said)
