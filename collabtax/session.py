"""What one process holds while it runs cells: settings, results, the event loop and the chat client in it."""

from __future__ import annotations

import asyncio
import fcntl
import hashlib
import json
import os
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from functools import cached_property
from pathlib import Path
from typing import Any

from collabtax.cassettes import canonical
from collabtax.cells import Cell
from collabtax.chat import Chat
from collabtax.rollouts import Rollout, run_cell, run_rollout
from collabtax.settings import settings
from collabtax.store import Key, Store, key
from collabtax.study import Row, get_study

SPENT = "nothing was started any more after --max-cost"


class Session:
    """Settings are checked when it is made; folders, keys and connections are touched when a cell needs them."""

    def __init__(self, given: Mapping[str, Any], root: Path, number: int | None = None) -> None:
        """`given`: options that were given; `number`: the session's, from the process that opened it."""
        self.settings = settings(given, root)
        self.store = Store(self.settings.run, number)
        self._broken = ""  # why results can no longer be stored
        self._needed: dict[tuple[Cell, int], asyncio.Task[Row]] = {}
        self._runner = asyncio.Runner()
        self._waited: Callable[[str, float], None] = lambda cause, seconds: None
        self._chat = Chat(
            on_wait=lambda cause, seconds: self._waited(cause, seconds), shared=self.settings.run / "endpoints"
        )

    @cached_property
    def _finished(self) -> set[Key]:
        """Rollouts that need not run: none in a replay, which costs nothing and shows what the code does today."""
        return set() if self.settings.record_mode in ("none", "all") else self.store.ended(failed=False)

    @cached_property
    def _failed(self) -> set[Key]:
        return self.store.ended(failed=True)

    def check_keys(self) -> None:
        """Raise ValueError for a model that may be asked and whose key is not set."""
        if self.settings.record_mode != "none":
            for model in self.settings.models.values():
                if not model.in_process:
                    model.key()

    def keys(self, cell: Cell) -> dict[int, Key]:
        """The key of each of the cell's rollouts, by seed."""
        digest = self.settings.digest(cell)
        return {seed: key({**vars(cell), "seed": seed, "settings": digest}) for seed in self.settings.seeds(cell)}

    def todo(self, cell: Cell) -> list[int]:
        """Seeds of the cell's rollouts that are not finished; with `--retry-failed` only those that failed."""
        if self.settings.retry_failed:
            return [seed for seed, one in self.keys(cell).items() if one in self._failed]
        return [seed for seed, one in self.keys(cell).items() if one not in self._finished]

    def run_cell(
        self, cell: Cell, count: Callable[[Rollout], None], waited: Callable[[str, float], None] | None = None,
        todo: Sequence[int] | None = None,
    ) -> list[str]:  # fmt: skip
        """Run what is not finished of `cell`; `count` gets each rollout once it is stored, `waited` gets cause and
        seconds of each pause before a call is tried again; `todo` are the seeds, where they are known.

        Returns:
            One line for each rollout that could not be run. Once a result could not be stored nothing runs any more.
        """
        failures: list[str] = []
        self._waited = waited or self._waited

        async def run(seed: int) -> None:
            rollout = await self.rollout(cell, seed)
            if rollout.outcome == "infrastructure":
                failures.append(f"seed {rollout.seed}: {rollout.error}")
            count(rollout)

        if not self._broken and not self.settings.plan:
            seeds = self.todo(cell) if todo is None else todo
            try:
                self._runner.run(run_cell(seeds, self.settings.concurrency, run, self.may_start))
            except* OSError as group:
                self._broken = f"results cannot be stored: {group.exceptions[0]}; make room and run the same again"
            finally:
                self.store.close()
        return [*sorted(failures), *filter(None, [self._broken])]

    async def rollout(self, cell: Cell, seed: int) -> Rollout:
        """Run one rollout in the caller's event loop, and store it; what it builds on comes first, once."""
        study = get_study(cell.study)
        if study.is_needed(cell):
            return Rollout(**await self.shared(cell, seed))
        needed = [await self.shared(other, at) for other, at in study.needs(cell, seed)]
        done = await run_rollout(cell, seed, self.settings, self._chat, needed)
        self.store.add(done.row())
        return done

    async def shared(self, cell: Cell, seed: int) -> Row:
        """The result of a rollout that others build on: run by whoever needs it first, in this process or another."""
        if (cell, seed) not in self._needed:
            self._needed[cell, seed] = asyncio.create_task(self._once(cell, seed))
        return await self._needed[cell, seed]

    async def _once(self, cell: Cell, seed: int) -> Row:
        key = self.keys(cell)[seed]
        async with self._alone(key):
            if (mode := self.settings.record_mode) != "none":
                found = self.store.own().get(key) if mode == "all" else self.store.find(key)  # anew, but once a session
                if found is not None and found["outcome"] != "infrastructure":
                    return found
            needed = [await self.shared(other, at) for other, at in get_study(cell.study).needs(cell, seed)]
            done = await run_rollout(cell, seed, self.settings, self._chat, needed)
            self.store.add(done.row())
            row: Row = json.loads(canonical(done.row()))  # as others read it from the store
            return row

    @asynccontextmanager
    async def _alone(self, key: Key) -> AsyncIterator[None]:
        """Only one process at a time runs the rollout of `key`. A replay costs nothing and waits for nobody."""
        if self.settings.record_mode == "none":
            yield
            return
        name = hashlib.sha256(canonical(key).encode()).hexdigest()[:16]
        folder = self.settings.run / "shared"
        folder.mkdir(parents=True, exist_ok=True)
        fd = os.open(folder / f"{name}.lock", os.O_RDWR | os.O_CREAT, 0o644)
        try:
            while True:
                try:
                    fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
                    break
                except BlockingIOError:
                    await asyncio.sleep(0.2)
            yield
        finally:
            os.close(fd)

    def may_start(self) -> bool:
        """Whether there is money for another rollout; once there is not, none starts any more."""
        most = self.settings.max_cost
        if most and not self._broken and (spent := self.store.spent()) >= most:
            self._broken = f"{SPENT} {most:g}: the run has cost ${spent:.4f}; a higher one goes on from here"
        return not self._broken

    def close(self) -> None:
        self._runner.run(self._chat.aclose())
        self._runner.close()
        self.store.close()
