"""Judging a stored run, and the judgements on disk: `RUN/judgements/<judge>.jsonl`, one JSON line a rollout.

A line is appended when its dialogue is judged; at the end the file is put in order. What was judged by the same version
of the same judge, of the same words, is not judged again. A call that failed leaves no line: it is missing, not false.
"""

from __future__ import annotations

import asyncio
import fcntl
import json
import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from collabtax.cascade import model as by_model
from collabtax.cascade import rules
from collabtax.cascade.stages import STAGES, Dialogue, Judgement, Row, Verdicts, cell_of, text_digest
from collabtax.cassettes import Cassette, CassetteMiss, canonical
from collabtax.cells import printable, slug
from collabtax.chat import Chat, EndpointError
from collabtax.models import Model
from collabtax.store import Key, key

FOLDER = "judgements"
RULES = "rules"
KEYS = ("study", "task", "mode", "models", "condition", "seed", "settings")


@dataclass(frozen=True)
class Judge:
    """A judge and where its calls are recorded; without a model it is the judge by rules."""

    name: str
    model: Model | None = None
    cassettes: Path | None = None
    record_mode: str = "new_episodes"

    @property
    def version(self) -> str:
        return f"{RULES}-{rules.VERSION}" if self.model is None else by_model.version(self.model)

    def cassette(self, row: Row, kind: str = "judge") -> Cassette:
        """A cassette of its own for what is asked about a rollout."""
        assert self.model is not None
        assert self.cassettes is not None
        path = self.cassettes.joinpath(kind, slug(self.name), cell_of(row).id, f"{row['seed']:04d}.yaml")
        return Cassette(path, self.record_mode, {"models": {self.name: self.model.host}})

    async def judge(self, row: Row, chat: Chat) -> Judgement:
        dialogue = Dialogue.of(row)
        if self.model is None:
            return rules.judge(dialogue)
        with self.cassette(row):
            return await by_model.judge(dialogue, self.model, chat)


@dataclass
class Outcome:
    """What came of judging a run: how many were judged now and before, and a line for each that could not be."""

    judged: int = 0
    kept: int = 0
    failures: list[str] = field(default_factory=list)


def file_of(run: Path, judge: str) -> Path:
    return run / FOLDER / f"{slug(judge)}.jsonl"


def line_of(row: Row, judge: Judge, made: Judgement) -> Row:
    """What is stored."""
    return {
        **{name: row[name] for name in KEYS},
        "judge": judge.name,
        "version": judge.version,
        "said": text_digest(row),
        **made.verdicts,
        "evidence": made.evidence,
    }


def read(path: Path) -> dict[Key, Row]:
    """The lines of a file by rollout, the last one of each; a last line without its end was cut off and is left out.

    Raises:
        ValueError: a whole line is no judgement; names file and line.
    """
    found: dict[Key, Row] = {}
    for number, data in enumerate(path.read_bytes().splitlines(keepends=True) if path.exists() else [], 1):
        if not data.endswith(b"\n"):
            break
        try:
            row = json.loads(data)
            if not all(row[stage] is None or isinstance(row[stage], bool) for stage in STAGES) or not isinstance(
                row["judge"], str
            ):
                raise ValueError("verdicts are true, false or null")
            _ = row["version"], row["said"], row["evidence"]
            found[key(row)] = row
        except (ValueError, KeyError, TypeError, RecursionError) as problem:
            raise ValueError(f"{path}, line {number}: no judgement ({problem!r:.80}); move the file away") from None
    return dict(sorted(found.items()))


def verdicts_of(line: Row) -> Verdicts:
    return {stage: line[stage] for stage in STAGES}


def all_verdicts(run: Path, rows: Sequence[Row]) -> dict[str, dict[Key, Verdicts]]:
    """The verdicts of every judge of a run, by judge and rollout; only those on words that `rows` still say."""
    said = {key(dict(row)): text_digest(row) for row in rows}
    found: dict[str, dict[Key, Verdicts]] = {}
    for path in sorted((run / FOLDER).glob("*.jsonl")):
        for one, line in read(path).items():
            if said.get(one) == line["said"]:
                found.setdefault(line["judge"], {})[one] = verdicts_of(line)
    return found


def judge_run(
    run: Path, rows: Sequence[Row], judge: Judge, concurrency: int = 1,
    tell: Callable[[int, int], None] = lambda done, of: None,
) -> Outcome:  # fmt: skip
    """Judge `rows` of the run in the folder `run`; `tell` gets how many of how many are done.

    Raises:
        ValueError: another process is judging this run by the same judge, or its file cannot be read or written.
    """
    path = file_of(run, judge.name)
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        lock = os.open(path.parent / f".{path.stem}.lock", os.O_RDWR | os.O_CREAT, 0o644)
    except OSError as problem:
        raise ValueError(f"judgements cannot be stored in {path.parent}: {problem.strerror}") from None
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        return _judge_run(path, rows, judge, concurrency, tell)
    except BlockingIOError:
        raise ValueError(f"another process is judging {run} by {judge.name}; wait for it to end") from None
    except OSError as problem:
        raise ValueError(f"judgements cannot be stored in {path}: {problem.strerror}") from None
    finally:
        os.close(lock)


def _judge_run(
    path: Path, rows: Sequence[Row], judge: Judge, concurrency: int, tell: Callable[[int, int], None]
) -> Outcome:
    before = read(path)
    outcome = Outcome()
    todo = []
    for row in rows:
        old = before.get(key(dict(row)))
        fresh = old is not None and (old["version"], old["said"]) == (judge.version, text_digest(row))
        todo += [] if fresh and judge.record_mode != "all" else [row]
    outcome.kept = len(rows) - len(todo)
    data = path.read_bytes() if path.exists() else b""
    with path.open("ab") as out:
        out.truncate(data.rfind(b"\n") + 1)  # cuts a torn last line

        def done(line: Row) -> None:
            out.write(canonical(line).encode() + b"\n")
            out.flush()
            outcome.judged += 1
            tell(outcome.judged, len(todo))

        asyncio.run(_judge_all(todo, judge, concurrency, done, outcome.failures))
    ordered = path.with_suffix(f".{os.getpid()}.tmp")
    ordered.write_bytes(b"".join(canonical(line).encode() + b"\n" for line in read(path).values()))
    os.replace(ordered, path)
    outcome.failures.sort()
    return outcome


async def _judge_all(
    rows: Sequence[Row], judge: Judge, concurrency: int, done: Callable[[Row], None], failures: list[str]
) -> None:
    chat = Chat()
    waiting = iter(rows)

    async def lane() -> None:
        for row in waiting:
            try:
                done(line_of(row, judge, await judge.judge(row, chat)))
            except OSError:
                raise
            except Exception as problem:  # other dialogues are under way beside it, and paid for
                known = isinstance(problem, EndpointError | CassetteMiss | RuntimeError | ValueError)
                said = str(problem) if known else f"{type(problem).__name__}: {problem}"
                failures.append(f"{cell_of(row).id} seed {row['seed']}: {printable(said)}")

    try:
        async with asyncio.TaskGroup() as lanes:
            for _ in range(concurrency):
                lanes.create_task(lane())
                await asyncio.sleep(0)
    except* OSError as group:
        raise group.exceptions[0] from None
    finally:
        await chat.aclose()


def probe_run(rows: Sequence[Row], judge: Judge, verdicts: dict[Key, Verdicts]) -> dict[str, list[dict[str, Any]]]:
    """By kind of probe ("order", "injection"): for each of `rows` whether the verdicts changed, by stage.

    Raises:
        ValueError: a call failed.
    """
    found: dict[str, list[dict[str, Any]]] = {"order": [], "injection": []}

    async def run() -> None:
        chat = Chat()
        try:
            for row in rows:
                assert judge.model is not None
                with judge.cassette(row, "judge-probe"):
                    changed = await by_model.probe(Dialogue.of(row), verdicts[key(dict(row))], judge.model, chat)
                for kind, by_stage in changed.items():
                    found[kind].append(by_stage)
        except (EndpointError, CassetteMiss, RuntimeError) as problem:
            raise ValueError(printable(str(problem))) from None
        finally:
            await chat.aclose()

    asyncio.run(run())
    return found
