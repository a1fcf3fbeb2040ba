"""Results on disk: one JSON line a rollout, written by one call when it ends; nothing finished is ever lost.

A run is a folder: `results.jsonl` holds its rollouts in a fixed order; `parts/` holds what sessions have written since,
one file a process, the session's number first in its name. Where a rollout was run again the later session counts.
"""

from __future__ import annotations

import contextlib
import fcntl
import json
import os
import socket
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from collabtax.cassettes import canonical

if TYPE_CHECKING:
    import pandas

Row = dict[str, Any]
Key = tuple[str, str, str, tuple[str, ...], str, int, str]


def key(row: Row) -> Key:
    """What a row is the result of: two rows with one key are the same rollout."""
    models = tuple(row["models"])
    return row["study"], row["task"], row["mode"], models, row["condition"], row["seed"], row["settings"]


TURNS = b',"turns":['  # the longest part of a row by far, and in the order of its names behind all that `key` needs


def head(data: bytes) -> Row:
    """What stands in a line before its turns, at a fraction of the cost. Inside of a text the mark cannot stand, since
    quotes are escaped there; in a nested table it leaves a brace open."""
    start, mark, _ = data.partition(TURNS)
    row: Row
    with contextlib.suppress(ValueError):
        row = json.loads(start + b"}" if mark else data)
        return row
    row = json.loads(data)
    return row


def read_lines(path: Path, parse: Callable[[bytes], Row] = json.loads) -> Iterator[Row]:
    """The whole rows of a file; a last line without its end was cut off by a crash and is left out.

    Raises:
        ValueError: a whole line is not a result; names file and line.
    """
    with path.open("rb") as file:
        for number, data in enumerate(file, 1):
            if not data.endswith(b"\n"):
                return
            try:
                row = parse(data)
                hash((key(row), row["outcome"]))
            except (ValueError, KeyError, TypeError, RecursionError) as problem:
                raise ValueError(f"{path}, line {number}: not a result ({problem!r:.80})") from None
            yield row


class Store:
    """One process's hand on the results of a run."""

    def __init__(self, folder: Path, session: int | None = None) -> None:
        """`session` numbers the sessions of a run; None takes the next number."""
        self.folder, self.parts = folder, folder / "parts"
        numbers = [int(p.name[:6]) for p in self._part_files()]
        self.session = max(numbers, default=0) + 1 if session is None else session
        self._fd: int | None = None
        self._seen: dict[Path, tuple[int, int]] = {}  # inode and how far `spent` has read
        self._costs: dict[Key, float] = {}

    def _files(self) -> list[Path]:
        """Those that hold results, the oldest first."""
        return [path for path in (self.folder / "results.jsonl", *self._part_files()) if path.exists()]

    def _part_files(self) -> list[Path]:
        return sorted(self.parts.glob("[0-9][0-9][0-9][0-9][0-9][0-9]-*.jsonl"))

    def add(self, row: Row) -> None:
        """Store a finished rollout."""
        if self._fd is None:
            self._fd = self._open()
        data = memoryview(canonical(row).encode() + b"\n")
        size = os.fstat(self._fd).st_size
        try:
            while data:
                data = data[os.write(self._fd, data) :]
        except OSError:  # a full disk: later rows must not follow half a line
            os.ftruncate(self._fd, size)
            raise

    def _open(self) -> int:
        self.parts.mkdir(parents=True, exist_ok=True)
        path = self.parts / f"{self.session:06d}-{socket.gethostname()}-{os.getpid()}.jsonl"
        while True:
            fd = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o644)
            fcntl.flock(fd, fcntl.LOCK_EX)  # as long as it is held, nobody tidies the file away
            if os.fstat(fd).st_nlink:
                return fd
            os.close(fd)  # tidied away just before

    def close(self) -> None:
        if self._fd is not None:
            os.close(self._fd)
            self._fd = None

    def rows(self) -> dict[Key, Row]:
        """All results of the run, in a fixed order."""
        with self._lock(fcntl.LOCK_SH):
            return self._rows()

    @contextlib.contextmanager
    def _lock(self, kind: int) -> Iterator[None]:
        """Readers share the folder, one process at a time tidies it: rows in a part are never between two places."""
        try:
            fd = os.open(self.folder, os.O_RDONLY)
        except FileNotFoundError:  # nothing to read
            yield
            return
        try:
            fcntl.flock(fd, kind)
            yield
        finally:
            os.close(fd)

    def own(self) -> dict[Key, Row]:
        """What this session has written so far and `consolidate` has not gathered yet, in a fixed order."""
        paths = [p for p in self._part_files() if int(p.name[:6]) == self.session]
        return dict(sorted({key(row): row for path in paths for row in read_lines(path)}.items()))

    def probe(self) -> None:
        """Raise ValueError, in one line, where results cannot be stored or those that are there cannot be read."""
        try:
            self.parts.mkdir(parents=True, exist_ok=True)
            trial = self.parts / f"trial.{os.getpid()}.tmp"
            trial.write_bytes(b" " * 4096)
            trial.unlink()
            with self._lock(fcntl.LOCK_SH):
                for path in self._files():
                    deque(read_lines(path), maxlen=0)
        except OSError as problem:
            raise ValueError(
                f"results cannot be stored in {self.folder}: {problem.strerror}; choose another --run"
            ) from None
        except ValueError as problem:
            raise ValueError(f"{problem}; move the file away, or choose another --run") from None

    def _rows(self) -> dict[Key, Row]:
        found: dict[Key, Row] = {}
        for path in self._files():
            for row in read_lines(path):
                before = found.get(key(row))
                if before is None or row["outcome"] != "infrastructure" or before["outcome"] == "infrastructure":
                    found[key(row)] = row
        return dict(sorted(found.items()))

    def find(self, one: Key) -> Row | None:
        """The result of one rollout; of others it reads nothing."""
        mark = canonical({"seed": one[5], "settings": one[6]})[1:-1].encode()  # side by side in every row of ours
        found: Row | None = None
        with self._lock(fcntl.LOCK_SH):
            for path in self._files():
                with path.open("rb") as file:
                    for data in file:
                        if mark in data and data.endswith(b"\n") and key(row := json.loads(data)) == one:
                            before = found and found["outcome"]
                            if before in (None, "infrastructure") or row["outcome"] != "infrastructure":
                                found = row
        return found

    def spent(self) -> float:
        """USD that the rollouts of the run have cost so far, those of other processes and machines included. Each call
        reads what was written since the last one."""
        for path in self._files():
            try:
                file = path.open("rb")
            except FileNotFoundError:  # tidied away just now
                continue
            with file:
                inode, start = self._seen.get(path, (0, 0))
                if os.fstat(file.fileno()).st_ino != inode:
                    inode, start = os.fstat(file.fileno()).st_ino, 0
                file.seek(start)
                for data in file:
                    if not data.endswith(b"\n"):  # under way
                        break
                    row, start = head(data), start + len(data)
                    self._costs[key(row)] = row["cost"] or 0.0
                self._seen[path] = inode, start
        return sum(self._costs.values())

    def ended(self, failed: bool) -> set[Key]:
        """The rollouts that failed for a cause outside of the models, or those that did not and need not be run
        again."""
        outcomes: dict[Key, str] = {}
        with self._lock(fcntl.LOCK_SH):
            for path in self._files():
                for row in read_lines(path, head):
                    one, outcome = key(row), row["outcome"]
                    if outcome != "infrastructure" or outcomes.get(one, outcome) == outcome:
                        outcomes[one] = outcome
        return {one for one, outcome in outcomes.items() if (outcome == "infrastructure") is failed}

    def consolidate(self) -> dict[Key, Row]:
        """Gather everything in `results.jsonl`, in a fixed order, then tidy away the parts that it holds."""
        self.folder.mkdir(parents=True, exist_ok=True)
        with self._lock(fcntl.LOCK_EX), contextlib.ExitStack() as stack:
            ended = []
            for path in self._part_files():
                file = stack.enter_context(path.open("rb"))
                with contextlib.suppress(BlockingIOError):  # its worker is alive and may still write
                    fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
                    ended.append(path)
            rows = self._rows()
            fresh = self.folder / "results.tmp"
            try:
                with fresh.open("w", encoding="utf-8") as out:
                    for row in rows.values():
                        out.write(canonical(row) + "\n")
                    out.flush()
                    os.fsync(out.fileno())
                os.replace(fresh, self.folder / "results.jsonl")
            except OSError:  # the parts still hold everything
                fresh.unlink(missing_ok=True)
                raise
            for path in ended:
                path.unlink()
        return rows


def merge(folders: Sequence[str | Path], out: str | Path) -> int:
    """Put the results of several runs into a new one, as parts of a study that ran on several machines.

    Returns:
        The number of rollouts.

    Raises:
        ValueError: one line: a rollout is in two of the runs with different results, a cell was run with different
            settings, or `out` holds results already. Nothing is written then.
        FileNotFoundError: a folder holds no results.
    """
    rows: dict[Key, Row] = {}
    origin: dict[Key, str | Path] = {}
    settings: dict[tuple[Any, ...], tuple[str, str | Path]] = {}
    for folder in folders:
        for row in load(folder):
            one, cell = key(row), key(row)[:5]
            digest, other = settings.setdefault(cell, (row["settings"], folder))
            name = f"{row['task']}-{row['mode']}-{'+'.join(row['models'])}"
            if digest != row["settings"]:
                raise ValueError(f"{name} was run with different settings in {other} and in {folder}; merge them apart")
            if canonical(rows.setdefault(one, row)) != canonical(row):
                raise ValueError(f"{name} seed {row['seed']} has one result in {origin[one]} and another in {folder}")
            origin.setdefault(one, folder)
    store = Store(Path(out), session=1)
    if store.rows():
        raise ValueError(f"{out} holds results already; name a new folder")
    for row in rows.values():
        store.add(row)
    store.close()
    return len(store.consolidate())


def load(folder: str | Path) -> list[Row]:
    """The results of a run, in a fixed order. Raises FileNotFoundError where there are none."""
    store = Store(Path(folder), session=0)
    rows = list(store.rows().values())
    if not rows:
        raise FileNotFoundError(f"no results in {folder}; give the folder that --run names")
    return rows


def frame(folder: str | Path) -> pandas.DataFrame:
    """The results of a run as a data frame, a row a rollout; needs pandas (the `frame` extra)."""
    import pandas

    return pandas.DataFrame(load(folder))
