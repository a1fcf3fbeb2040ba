"""Rollouts as tasks of a Dask cluster (`--dask ADDRESS`, the `cluster` extra).

The process that reads the command line hands rollouts out and keeps the display and the report; workers run them one by
one, as many at a time as they have threads, and write recordings and results into the run's folders, each under its own
name, as every other worker of the suite does. The folders have to be the same ones for all machines. A worker that dies
loses nothing: its tasks are handed out again, and a rollout goes on from its cassette.
"""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Sequence
from functools import cache
from itertools import islice
from pathlib import Path
from types import SimpleNamespace
from typing import Any

from collabtax.cells import Cell
from collabtax.session import Session

Told = dict[str, Any]  # what a rollout sends back: outcome, usage, cost, error, recordings that it did not ask for
AHEAD = 20  # rollouts handed out for each thread of the cluster: enough to keep it busy, few enough to stop soon
LOOK = 5.0  # seconds after which the threads are counted again: workers come late, and go


@cache
def session(given: str, root: str, number: int) -> Session:
    """This process's session for a run; tasks of one run share it."""
    return Session(json.loads(given), Path(root), number)


@cache
def cells(given: str, root: str, number: int, study: str) -> dict[str, Cell]:
    """The cells of a study by id."""
    return {cell.id: cell for cell in session(given, root, number).settings.cells(study)}


def release(given: str, root: str, number: int) -> None:
    """Let go of a worker's file of results, so that they can be gathered."""
    session(given, root, number).store.close()


async def rollout(given: str, root: str, number: int, study: str, name: str, seed: int) -> Told | None:
    """Run one rollout in a worker. None if nothing may start any more (`--max-cost`)."""
    mine = session(given, root, number)
    cell = cells(given, root, number, study)[name]
    if not mine.may_start():
        return None
    done = await mine.rollout(cell, seed)
    return {name: getattr(done, name) for name in ("outcome", "usage", "cost", "error", "unplayed")}


def run(
    address: str, mine: Session, given: dict[str, Any], root: Path, chosen: Sequence[Cell],
    count: Callable[[Cell, Any], None],
) -> list[str]:  # fmt: skip
    """Run what is not finished of `chosen` on the cluster at `address`; `count` gets each rollout as it ends.

    Returns:
        One line for each rollout that could not be run.

    Raises:
        ValueError: one line: Dask is not installed, or the cluster cannot be reached.
    """
    try:
        from distributed import Client, as_completed
    except ImportError:
        raise ValueError("--dask needs the `cluster` extra: python -m pip install distributed") from None
    try:
        client = Client(address, timeout="30s")
    except (OSError, ValueError, TimeoutError) as problem:
        raise ValueError(f"--dask {address}: no scheduler can be reached there ({problem})") from None
    failures: list[str] = []
    shared = json.dumps(given, sort_keys=True), str(root), mine.store.session
    waiting = iter([(cell, seed) for cell in chosen for seed in mine.todo(cell)])
    with client:
        threads, counted = sum(client.nthreads().values()) or 1, time.monotonic()
        of: dict[str, tuple[Cell, int]] = {}

        def submit(most: int) -> list[Any]:
            """Hand out rollouts; keys name them, so that Dask knows a task that it has to run again."""
            futures = []
            for cell, seed in islice(waiting, max(most, 0)):
                name = f"{mine.settings.digest(cell)}-{mine.store.session}-{cell.study}-{cell.id}-{seed}"
                futures.append(
                    client.submit(rollout, *shared, cell.study, cell.id, seed, key=name, pure=False, retries=3)
                )
                of[name] = cell, seed
            return futures

        pending = as_completed(submit(AHEAD * threads))
        for future in pending:
            cell, seed = of.pop(future.key)
            if future.status == "finished":
                told = future.result()
                if told is not None:
                    count(cell, SimpleNamespace(**told))
                if told is None or told["outcome"] == "infrastructure":
                    why = told["error"] if told else "nothing was started any more after --max-cost"
                    failures.append(f"{cell.id} seed {seed}: {why}")
            else:  # the suite, not the endpoint: a worker without the code, or one that dies again and again
                failures.append(f"{cell.id} seed {seed}: {future.exception()!r:.300}")
            if time.monotonic() - counted > LOOK:
                threads, counted = sum(client.nthreads().values()) or 1, time.monotonic()
            for new in submit(AHEAD * threads - len(of)):
                pending.add(new)
        client.run(release, *shared)
    return sorted(failures)
