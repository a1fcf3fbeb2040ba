"""People as judges: a stratified sample on one page that works from disk, and what its exports say (paper, appendix C).

The page is blind: dialogues come in a drawn order under ids that tell nothing; models, seeds, scores and other judges'
verdicts are not in it.
"""

from __future__ import annotations

import base64
import hashlib
import json
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from collabtax.cascade.stages import STAGES, Dialogue, Row, Verdicts, text_digest, words
from collabtax.cassettes import canonical
from collabtax.store import Key, key
from tasks.base import seeded

FORMAT = "collabtax-annotation-1"


def id_of(row: Row) -> str:
    """A name of a dialogue that tells nothing about it; other words have another one."""
    return hashlib.sha256(canonical([key(dict(row)), text_digest(row)]).encode()).hexdigest()[:12]


def sample(rows: Sequence[Row], size: int, seed: int, verdicts: Mapping[Key, Verdicts] | None = None) -> list[Row]:
    """At most `size` of `rows`, in a drawn order: by turns from every stratum (outcome and category), and in each the
    one whose verdict pattern (of one judge, where there is one), models and task were taken least often so far."""
    rng = seeded("annotation", seed)
    ordered = sorted(rows, key=id_of)
    rng.shuffle(ordered)
    strata: dict[tuple[bool, str], list[Row]] = {}
    for row in ordered:
        strata.setdefault((row["success"], row["family"]), []).append(row)
    taken: list[Row] = []
    used: Counter[Any] = Counter()

    def marks(row: Row) -> list[Any]:
        pattern = tuple((verdicts or {}).get(key(dict(row)), {}).items())
        return [("verdicts", row["success"], pattern), ("models", *row["models"]), ("task", row["task"])]

    while len(taken) < size and any(strata.values()):
        for _, left in sorted(strata.items()):
            if left and len(taken) < size:
                best = min(left, key=lambda row: [used[mark] for mark in marks(row)])
                left.remove(best)
                taken.append(best)
                used.update(marks(best))
    rng.shuffle(taken)
    return taken


def sample_id(rows: Sequence[Row]) -> str:
    """Names a sample, so that pages of different ones do not share their progress."""
    return hashlib.sha256(canonical(sorted(map(id_of, rows))).encode()).hexdigest()[:12]


def page(rows: Sequence[Row]) -> str:
    """The page on these dialogues, in this order: one HTML file that loads nothing and may run its own script only."""
    from collabtax.report.pages import environment

    items = []
    for row in rows:
        one = Dialogue.of(row)
        items.append(
            {"id": id_of(row), "task": one.task.prompt, "views": [one.view(0), one.view(1)], "turns": one.turns}
        )
    questions = [(stage, name, words(stage)) for stage, name in STAGES.items()]
    template = environment().get_template("annotate.html")
    made = template.render(items=items, questions=questions, sample=sample_id(rows), format=FORMAT)
    policy = ["default-src 'none'", "base-uri 'none'", "form-action 'none'"]
    for kind in ("script", "style"):  # whatever an agent said is escaped: these elements are ours
        hashes = " ".join(f"'{_hash(text)}'" for text in re.findall(rf"<{kind}>(.*?)</{kind}>", made, re.S))
        policy.append(f"{kind}-src {hashes}")
    return made.replace("POLICY", "; ".join(policy), 1)


def _hash(text: str) -> str:
    return "sha256-" + base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()


def read_labels(path: Path) -> tuple[str, str, dict[str, Verdicts]]:
    """Annotator, sample and labels (by dialogue id) of an exported file.

    Raises:
        ValueError: no export of an annotation page; names what is wrong.
    """
    try:
        told = json.loads(path.read_text(encoding="utf-8"))
        if told["format"] != FORMAT:
            raise ValueError(f"its format is not {FORMAT}")
        labels: dict[str, Verdicts] = {}
        for item, given in told["labels"].items():
            labels[item] = {stage: given.get(stage) for stage in STAGES}
            if not all(value is None or isinstance(value, bool) for value in labels[item].values()):
                raise ValueError(f"a label of {item!r:.40} is neither true, false nor null")
        return str(told["annotator"]).strip() or path.stem, str(told["sample"]), labels
    except OSError as problem:
        raise ValueError(f"{path} cannot be read: {problem.strerror}") from None
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError) as problem:
        raise ValueError(f"{path} is no export of an annotation page: {problem!r:.120}; export it anew") from None


def labels_by_key(labels: Mapping[str, Verdicts], rows: Sequence[Row]) -> dict[Key, Verdicts]:
    """Labels by rollout; those of dialogues that are not among `rows` are left out."""
    keys = {id_of(row): key(dict(row)) for row in rows}
    return {keys[item]: given for item, given in labels.items() if item in keys}
