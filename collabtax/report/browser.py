"""The rollout browser: one page for any number of rollouts, and data files that it loads as it needs them.

A page that is opened from disk may load scripts and nothing else, so data comes as scripts: `data/KIND-NNNNN.js` calls
`collabtax(name, text)`, the text being JSON, compressed by zlib, in base64. Kinds:

- `index`: columns of BLOCK rollouts each, what filters and sorting need; all of them are loaded at once;
- `rollouts`: whole rollouts, in files of about CHUNK bytes; search reads them all, a rollout's page one of them;
- `texts`: views and drawings, each once however many rollouts share it.

`manifest-00000.js` says what there is. Equal rows make equal bytes. Whatever a model said goes through `visible` before
it is stored, and the page puts it into text nodes only.
"""

from __future__ import annotations

import base64
import contextlib
import hashlib
import json
import re
import zlib
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

from collabtax.cascade.judgements import FOLDER as JUDGEMENTS
from collabtax.cascade.judgements import read
from collabtax.cascade.stages import STAGES, cell_of, text_digest
from collabtax.cells import Cell
from collabtax.report.files import HIDDEN, MARK, TEMPLATES, Folder, put_styles, visible
from collabtax.report.mechanism import Verdict, evidence
from collabtax.report.replay import command
from collabtax.settings import Settings
from collabtax.store import Key, Row, key
from collabtax.tax.protocols import told as told_view
from collabtax.tax.study import cached_problem
from tasks import get_task

INSTANCES = 2_000  # of a task, most that are made again for their views and drawings, about 2 ms each
BLOCK = 25_000  # rollouts a file of the index
CHUNK = 1 << 20  # bytes of JSON in a file before it is compressed, at most by one item more
REASON = 120  # characters of a reason in the list; the rollout's page has it whole
OUTCOMES = ("success", "partial", "failure", "no answer", "unreadable", "infrastructure")
DRAWN = ("colours.css", "drawing.css")  # the styles of a drawing, which is shown as a picture of its own
SHOWN = ("seat", "text", "finish", "usage", "seconds")  # of a turn; what else a study keeps of it is shown as data
SUSPECT = re.compile(HIDDEN.pattern + r"|\\[bfru]")  # what JSON holds where a text in it may not be visible
Rollout = tuple[str, str, str, tuple[str, ...], str, int]  # a key without the settings: study, task, ..., seed


@dataclass(frozen=True)
class Explained:
    """What a rollout's page shows besides its record: `views` as name and text, one a seat; `asked`, the task as it was
    put to each; `drawing`, an SVG; `missing`, why there is none of it."""

    views: tuple[tuple[str, str], ...] = ()
    asked: str = ""
    drawing: str = ""
    missing: str = ""


class Problems:
    """Views and drawings of the tax study's rollouts, made again from their seeds, as far as there is time."""

    def __init__(self, most: int = INSTANCES) -> None:
        self.most = most  # of each task under each setting
        self.made: dict[tuple[str, str, str], set[int]] = {}  # task, difficulty, friction -> seeds

    def explain(self, row: Row) -> Explained:
        """What each agent was told and the drawing, or the reason why there is none."""
        if row["study"] != "tax":
            return Explained(missing="nothing is drawn for this study")
        try:
            task, said, seed = get_task(row["task"]), row["said"], row["seed"]
            if task.version != row["versions"]["task"]:
                return Explained(missing=f"{task.name} has changed since: its instances are others now")
            seeds = self.made.setdefault((task.name, said["difficulty"], said["friction"]), set())
            if seed not in seeds and len(seeds) >= self.most:
                return Explained(
                    missing=f"only the first {self.most} instances of a task are drawn; this one: python -m collabtax "
                    f"play {task.name} --seed {seed} --difficulty {said['difficulty']} --friction {said['friction']}"
                )
            seeds.add(seed)
            half = int(row["condition"][4:]) - 1 if row["mode"] == "half" else 0
            seats = (None,) if row["mode"] == "solo" else (half,) if row["mode"] == "half" else (0, 1)
            where = task.name, seed, said["difficulty"], said["friction"]
            answered = json.dumps([row["answer"], row["where"]])
            return Explained(views_of(*where, seats), task.prompt, drawing_of(*where, answered))
        except (ValueError, TypeError, LookupError, AttributeError) as problem:
            return Explained(missing=f"no drawing: {problem!r:.200}")


@lru_cache(maxsize=4096)
def views_of(
    name: str, seed: int, difficulty: str, friction: str, seats: tuple[int | None, ...]
) -> tuple[tuple[str, str], ...]:
    """What each seat was told; None is one that saw the whole instance."""
    task = get_task(name)
    one = cached_problem(task, seed, difficulty, friction)
    return tuple(("the whole instance" if s is None else f"view {s + 1}", told_view(task, one, s)) for s in seats)


@lru_cache(maxsize=4096)
def drawing_of(name: str, seed: int, difficulty: str, friction: str, answered: str) -> str:
    """The drawing of an answer and where it broke, both as JSON: many cells have the same ones."""
    task = get_task(name)
    return task.draw(cached_problem(task, seed, difficulty, friction).instance, *json.loads(answered))


class Shelf:
    """Numbered items of one kind, written in files as they come."""

    def __init__(self, folder: Folder, kind: str, size: int = CHUNK) -> None:
        self.folder, self.kind, self.size = folder, kind, size
        self.starts: list[int] = []  # number of the first item of each file
        self.count, self._held, self._bytes = 0, list[str](), 0

    def add(self, item: Any) -> int:
        """The number of the item."""
        text = as_json(item)
        if not self._held:
            self.starts.append(self.count)
        self._held.append(text)
        self._bytes += len(text)
        self.count += 1
        if self._bytes >= self.size:
            self.close()
        return self.count - 1

    def close(self) -> None:
        """Write what is held."""
        if self._held:
            put(self.folder, f"{self.kind}-{len(self.starts) - 1:05d}", f"[{','.join(self._held)}]")
            self._held.clear()
            self._bytes = 0


class Texts:
    """Texts that many rollouts share, each on the shelf once."""

    def __init__(self, shelf: Shelf) -> None:
        self.shelf = shelf
        self._known: dict[bytes, int] = {}  # by hash, so that texts need not stay in memory

    def number(self, text: str) -> int:
        name = hashlib.sha256(text.encode()).digest()
        if name not in self._known:
            self._known[name] = self.shelf.add(text)
        return self._known[name]


def put(folder: Folder, name: str, text: str) -> None:
    """Write a data file that hands `text` over under `name`."""
    packed = base64.b64encode(zlib.compress(text.encode(), 6))
    folder.put(f"data/{name}.js", b"/* " + MARK + b' */\ncollabtax("' + name.encode() + b'", "' + packed + b'");\n')


def plain(value: Any) -> Any:
    """`value` with every text in it made visible."""
    if isinstance(value, str):
        return visible(value)
    if isinstance(value, dict):
        return {visible(str(k)): plain(v) for k, v in value.items()}
    return [plain(v) for v in value] if isinstance(value, list | tuple) else value


def as_json(value: Any) -> str:
    """`value` as JSON in which every text is visible. What is stored goes through here, so that nothing is left out."""
    text = json.dumps(value, ensure_ascii=False, separators=(",", ":"))
    return json.dumps(plain(value), ensure_ascii=False, separators=(",", ":")) if SUSPECT.search(text) else text


def told(value: Any) -> str:
    """An answer, or whatever a study keeps, in one text."""
    return json.dumps(value, ensure_ascii=False, sort_keys=True)


def outcome(row: Row) -> str:
    """One of OUTCOMES."""
    if row["outcome"] != "scored":
        return str(row["outcome"]).replace("_", " ")
    return "success" if row["success"] else "partial" if row["score"] else "failure"


class Codes:
    """Words as numbers, in the order in which they come."""

    def __init__(self, words: Iterable[str] = ()) -> None:
        self.numbers = {word: i for i, word in enumerate(words)}

    def __getitem__(self, word: str) -> int:
        return self.numbers.setdefault(word, len(self.numbers))

    def __iter__(self) -> Any:
        return iter(self.numbers)


class Browser:
    """A browser under way."""

    def __init__(self, folder: Folder, judges: Sequence[str]) -> None:
        self.folder, self.judges = folder, tuple(judges)
        self.rollouts, self.texts = Shelf(folder, "rollouts"), Texts(Shelf(folder, "texts"))
        self.cells: dict[Cell, int] = {}
        self.outcomes, self.warnings, self.ends = Codes(OUTCOMES), Codes(), Codes()
        self.columns: dict[str, list[Any]] = {}
        self.starts: list[int] = []  # of the files of the index

    def add(self, row: Row, about: Explained, verdicts: Sequence[Verdict], earlier: Sequence[Row]) -> None:
        self.rollouts.add(self.whole(row, about, verdicts, earlier))
        if len(self.columns.get("seed", ())) == BLOCK:
            self.flush()
        if not self.columns:
            self.starts.append(self.rollouts.count - 1)
        line = {
            "cell": self.cells.setdefault(cell_of(row), len(self.cells)),
            "seed": row["seed"],
            "outcome": self.outcomes[outcome(row)],
            "score": None if row["score"] is None else round(row["score"], 4),
            "warning": self.warnings[row["warning"].replace("_", " ") or "not read"],
            "end": self.ends[row["termination"]],
            "turns": len(row["turns"]),
            "tokens": sum(n for n in (row["usage"].get(k, 0) for k in ("prompt", "completion")) if isinstance(n, int)),
            "cost": row["cost"],
            "reason": str(row["reason"] or row["error"])[:REASON],
            "stages": [packed([v for v in verdicts if v.judge == judge]) for judge in self.judges],
        }
        for name, value in line.items():
            self.columns.setdefault(name, []).append(value)

    def whole(self, row: Row, about: Explained, verdicts: Sequence[Verdict], earlier: Sequence[Row]) -> dict[str, Any]:
        """A rollout as its page shows it."""
        found = {
            "turns": [
                {"seat": turn["seat"], "text": turn["text"], "finish": turn["finish"],
                 "usage": turn["usage"], "seconds": turn["seconds"],
                 "data": {k: v for k, v in turn.items() if k not in SHOWN} or None}
                for turn in row["turns"]
            ],
            "answer": told(row["answer"]), "evidence": row["evidence"].strip(),
            "reason": row["reason"], "error": row["error"], "second": row.get("second"),
            "usage": row["usage"], "said": row["said"], "settings": row["settings"],
            "versions": row["versions"], "data": told(row["data"]) if row.get("data") else None,
            "views": [[name, self.texts.number(visible(text))] for name, text in about.views],
            "asked": self.texts.number(visible(about.asked)) if about.asked else None,
            "drawing": self.texts.number(visible(about.drawing)) if about.drawing else None,
            "missing": about.missing,
            "verdicts": [
                [v.judge, v.stage, v.passed, [[turn, text, there] for turn, text, there in v.evidence]]
                for v in verdicts
            ],
            "earlier": [
                {"settings": e["settings"], "versions": e["versions"], "outcome": outcome(e),
                 "score": e["score"], "reason": str(e["reason"] or e["error"])} for e in earlier
            ],
        }  # fmt: skip
        return {k: v for k, v in found.items() if v not in (None, "", [], {})}

    def flush(self) -> None:
        """Write the columns that are held."""
        if self.columns:
            put(self.folder, f"index-{len(self.starts) - 1:05d}", as_json(self.columns))
            self.columns = {}

    def close(self, settings: Settings) -> None:
        self.flush()
        self.rollouts.close()
        self.texts.shelf.close()
        manifest = {
            "count": self.rollouts.count,
            "starts": {"index": self.starts, "rollouts": self.rollouts.starts, "texts": self.texts.shelf.starts},
            "cells": [
                {**vars(cell), "id": cell.id,
                 "command": command(cell, 0, settings).partition("--seed=0")[::2]}
                for cell in self.cells
            ],
            "outcomes": list(self.outcomes), "warnings": list(self.warnings), "ends": list(self.ends),
            "stages": STAGES, "judges": self.judges,
            "style": "".join((TEMPLATES / name).read_text(encoding="utf-8") for name in DRAWN),
        }  # fmt: skip
        put(self.folder, "manifest-00000", as_json(manifest))


def packed(verdicts: Sequence[Verdict]) -> int:
    """What a judge says of all stages as one number in base 3, the first stage last: 0 no verdict, 1 failed, 2 passed;
    -1 where it has not judged."""
    said = {v.stage: 0 if v.passed is None else 1 + v.passed for v in verdicts}
    return sum(said.get(stage, 0) * 3**i for i, stage in enumerate(STAGES)) if said else -1


def rollout_of(row: Row) -> Rollout:
    return key(row)[:-1]


class Verdicts:
    """What judges said of the rollouts of some runs, as `judge` left it: only of words that still stand there."""

    def __init__(self, runs: Iterable[Path]) -> None:
        found: dict[str, dict[Key, Mapping[str, Any]]] = {}
        for path in (path for run in runs for path in sorted((run / JUDGEMENTS).glob("*.jsonl"))):
            with contextlib.suppress(ValueError, OSError):  # the report's first page says that it cannot be read
                for one, line in read(path).items():
                    found.setdefault(str(line["judge"]), {})[one] = line
        self.lines = dict(sorted(found.items()))

    def of(self, row: Row) -> list[Verdict]:
        """On a rollout, by stage and judge."""
        one = key(row)
        lines = [(judge, lines[one]) for judge, lines in self.lines.items() if one in lines]
        said = text_digest(row) if lines else ""
        return [
            Verdict(judge, stage, line[stage], tuple(evidence(line, stage, len(row["turns"]))))
            for stage in STAGES
            for judge, line in lines
            if line["said"] == said
        ]


def write(
    rows: Iterable[Row],
    folder: Path,
    settings: Settings,
    *,
    runs: Sequence[Path] = (),
    explain: Callable[[Row], Explained] | None = None,
    earlier: Mapping[Rollout, Sequence[Row]] | None = None,
) -> int:
    """Write the browser of `rows`, of any studies, into `folder`: `rollouts.html`, its styles and script, and `data/`.
    Returns how many rollouts it shows.

    `rows` are read once, in the order in which the page lists them, one in memory at a time. What judges said is read
    from `runs`, or from the run of the settings; `explain` says what a page shows besides its record (default: views
    and drawings of the tax study), `earlier` how rollouts were graded under other settings or versions.

    Raises:
        OSError: the folder cannot be written, or holds somebody else's file where one of ours belongs.
    """
    place, verdicts, explain = Folder(folder), Verdicts(runs or [settings.run]), explain or Problems().explain
    put_styles(place)
    for name in ("rollouts.html", "browser.js"):
        place.put(name, (TEMPLATES / name).read_bytes())
    made = Browser(place, list(verdicts.lines))
    for row in rows:
        made.add(row, explain(row), verdicts.of(row), (earlier or {}).get(rollout_of(row), ()))
    made.close(settings)
    place.tidy("data/*.js", "cells/*.html", "rollouts/*/*.html")
    return made.rollouts.count
