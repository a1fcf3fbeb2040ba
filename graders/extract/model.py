"""The answer of a model extractor: a reply in YAML with `answer:` and, where one applies, `scheme:`.

The scheme is not needed: rules that accept several schemes try them all. YAML is imported where it is used, since most
runs never need it.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from graders.extract.candidates import Extraction, read
from graders.extract.envelope import peel
from graders.extract.kinds import reading
from graders.extract.reading import plain
from tasks.answers import FieldsForm, Form, PathsForm, QueryForm, SlotForm

if TYPE_CHECKING:
    from graders.extract.yaml import Data

NOTHING = ("", "null", "~", "none", "n/a", "no answer", "unknown")


def as_text(data: Data, depth: int = 0) -> str:
    """Loaded YAML written down again for a reader: inner lists in brackets, mappings as `key: value`."""
    if isinstance(data, str):
        return data
    if isinstance(data, list):
        if any(isinstance(item, str) and "," in item for item in data):  # - 0, 0
            return "".join(f"\n- {as_text(item, depth + 1)}" for item in data)
        inner = ", ".join(as_text(item, depth + 1) for item in data)
        return f"[{inner}]"
    pairs = (f"{key}: {as_text(value, depth + 1)}" for key, value in data.items())
    return "\n".join(pairs) if depth == 0 else f"{{{', '.join(pairs)}}}"


NAMED = re.compile(r"^[ \t]*(?:- )?[\"']?([\w -]{1,60}?)[\"']?[ \t]*:(?=\s)", re.M)


def items(form: Form) -> set[str]:
    """The items that a mapping gives values to, none for other kinds of answers."""
    match form:
        case FieldsForm():
            names: Iterable[str] = form.items
        case QueryForm():
            names = form.queries
        case SlotForm():
            names = form.events
        case PathsForm():
            names = form.walkers
        case _:
            names = ()
    return {plain(name) for name in names}


def twice(data: Any) -> str | None:
    """A key that a mapping, or a list of mappings with one key each, names again, in whatever case."""
    if isinstance(data, list) and all(isinstance(item, dict) and len(item) == 1 for item in data):
        keys = [key for item in data for key in item]
    else:
        keys = list(data) if isinstance(data, dict) else []
    seen: set[str] = set()
    for key in map(plain, keys):
        if key in seen:
            return key
        seen.add(key)
    return None


def interpret(form: Form, reply: str) -> Extraction:
    """The structured answer in a model extractor's `reply`. Never raises.

    A reply that is no YAML is read like a message, with the warning `possible`; one with a duplicate key is refused.
    """
    from graders.extract import yaml

    if not reply.strip():
        return Extraction(None, "empty", "")
    try:
        data: Any = yaml.load(reply)
    except yaml.DuplicateKey as error:
        return Extraction(None, "possible", str(error)[:500])
    except ValueError:
        data = None
        if repeated := twice([{name: ""} for name in NAMED.findall(reply) if plain(name) in items(form)]):
            return Extraction(None, "possible", f"duplicate key {repeated!r:.80}")
    if isinstance(data, dict):
        data = next((v for k, v in data.items() if k.strip().lower() in ("answer", "answers")), data)
    if repeated := twice(data):
        return Extraction(None, "possible", f"duplicate key {repeated!r:.80}")
    if isinstance(data, str) and data.partition(" #")[0].strip().lower() in NOTHING:
        return Extraction(None, "none", reply.strip()[:500])
    if data is not None:
        text, cut = peel(as_text(data))
        found = reading(form, text, labelled=True)
        if found.answer is not None:
            answer = found.answer
            if isinstance(answer, dict):
                answer = {name: value for name, value in answer.items() if value is not None}
                if not answer:
                    return Extraction(None, "none", found.text.strip()[:500])
            return Extraction(answer, "truncated" if cut else "clean", found.text.strip()[:500])
    other = read(form, [("extractor", reply)])
    return Extraction(other.answer, "possible", other.evidence) if other.warning == "clean" else other
