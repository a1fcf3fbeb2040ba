"""What is in a notebook: its lines labelled as about the task or about the partner, halves made of them, and the same
content in other words (paper, section 4.5, appendices B.3 and F.5)."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from typing import Any

from collabtax.agents import Agent, prompt
from collabtax.models import Model
from collabtax.study import Row, Stage
from collabtax.swap.team import NOTEBOOK_BUDGET, within

LABELS = ("TASK", "PARTNER", "DROP")
TEMPERATURE = 0.0  # of labelling and rewording [our choice]
LINE = re.compile(r"^[\s*>`\"'-]*([a-z_0-9]+-\d+)[\"'*`]*\s*[:=]\s*(.*?)[\s,.]*$", re.I | re.M)


class Unreadable(ValueError):
    """A labeller's reply could not be used, twice."""


def lines_of(role: str, notebook: str) -> dict[str, str]:
    """The lines of a notebook that hold something, as they stand, under ids that stay: role and number."""
    kept = [line for line in notebook.split("\n") if line.strip()]  # other line breaks stay in the line
    return {f"{role}-{number}": line for number, line in enumerate(kept, 1)}


def read_labels(text: str, ids: Sequence[str]) -> dict[str, str]:
    """The label of every line in a labeller's reply: a JSON object, or lines `id: LABEL`.

    Raises:
        ValueError: a line without a label, with something else in its place or with two different ones, or an id that
            is not there; a line for the labeller.
    """
    found: dict[str, str] = {}
    for told, value in pairs(text[:200_000]):
        name, label = told.strip().lower(), value.strip(" \"'`*").upper()
        if name not in ids:
            raise ValueError(f"there is no line {told[:40]!r}")
        if label not in LABELS:
            raise ValueError(f"the label of {name} is {value[:40]!r}; give one of {', '.join(LABELS)}")
        if found.setdefault(name, label) != label:
            raise ValueError(f"line {name} has two labels")
    if missing := [name for name in ids if name not in found]:
        raise ValueError(f"{len(missing)} of {len(ids)} lines have no label, the first is {missing[0]}")
    return {name: found[name] for name in ids}


def pairs(text: str) -> list[tuple[str, str]]:
    """Ids with what stands beside them: of the JSON object in a text, else of its lines. Raises ValueError for an
    object that is no flat one of texts."""
    decoder = json.JSONDecoder(object_pairs_hook=lambda pairs: pairs)  # a dictionary would hide what is there twice
    try:
        found: Any = decoder.raw_decode(text, text.index("{"))[0]
    except (ValueError, RecursionError):
        return LINE.findall(text)
    if not all(isinstance(value, str) for _, value in found):
        raise ValueError("the JSON object must hold a label for each id and nothing else")
    return [(str(name), str(value)) for name, value in found]


async def ask(stage: Stage, model: Model, system: str, user: str, **about: Any) -> str:
    reply = await Agent.start(0, model, TEMPERATURE, ("system", system), ("user", user)).reply(stage.chat)
    stage.transcript.say(0, reply, **about)
    return reply.text


async def labels_by(stage: Stage, model: Model, lines: Mapping[str, str], **about: Any) -> dict[str, str]:
    """One labeller's labels; a reply that cannot be used is asked for once more. Raises Unreadable after that."""
    told = json.dumps(dict(lines), indent=0, ensure_ascii=False)
    try:
        return read_labels(await ask(stage, model, prompt("swap/label_system"), told, **about), list(lines))
    except ValueError as problem:
        again = f"{told}\n\n{prompt('swap/complaint').format(complaint=problem)}"
        text = await ask(stage, model, prompt("swap/label_system"), again, **about, retry=True)
    try:
        return read_labels(text, list(lines))
    except ValueError as problem:
        raise Unreadable(f"labels of {about['role']}'s notebook by {model.name}: {problem}") from None


async def label(stage: Stage, books: Mapping[str, str], labellers: Sequence[Model]) -> dict[str, Any]:
    """Labels of every line of the donor's notebooks, before anything is transferred: by two labellers apart, by an
    adjudicator where they disagree. Returns what is stored. Raises Unreadable."""
    found = []
    for role, notebook in books.items():
        lines = lines_of(role, notebook)
        if not lines:
            continue
        first = await labels_by(stage, labellers[0], lines, kind="label", labeller=1, role=role)
        second = await labels_by(stage, labellers[1], lines, kind="label", labeller=2, role=role)
        open_ = {name: line for name, line in lines.items() if first[name] != second[name]}
        third = await labels_by(stage, labellers[2], open_, kind="adjudicate", role=role) if open_ else {}
        for name, line in lines.items():
            found.append({
                "id": name, "role": role, "text": line, "labels": [first[name], second[name]],
                "label": third.get(name, first[name]),
            })  # fmt: skip
    return {"lines": found}


def half(labelled: Row, role: str, which: str) -> str:
    """The lines of a role's notebook that carry a label, as they stand and in their order."""
    return "\n".join(
        line["text"] for line in labelled["data"]["lines"] if line["role"] == role and line["label"] == which
    )


async def reworded(stage: Stage, model: Model, notebook: str) -> str:
    """The same content in other words, within the same budget; an empty notebook stays empty."""
    if not notebook:
        return ""
    system = prompt("swap/paraphrase_system").format(budget=NOTEBOOK_BUDGET)
    return within(await ask(stage, model, system, notebook, kind="paraphrase"), NOTEBOOK_BUDGET)[0]
