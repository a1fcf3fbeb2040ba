"""How fast an endpoint is asked: as many calls at once, and as many a second, as it accepts.

Two limits, since providers have two kinds. The window bounds the calls under way: it doubles every round trip until
the first refusal, then creeps. The pace bounds the starts a second: none until the first refusal; then what was
accepted between the last two refusals, when the endpoint's budget was used up both times, is what it allows. Both are
probed upwards all the time, the pace ever faster the longer nothing is refused.
"""

from __future__ import annotations

import asyncio
import contextlib
import heapq
import itertools
import math
import os
import time
from collections.abc import Callable
from pathlib import Path
from typing import Literal

LONGEST_PAUSE = 60.0  # seconds; an endpoint that wants more is asked again all the same
FIRST_WINDOW = 4.0  # calls under way at first
CREEP = 0.2  # calls that the window grows by in a round trip once the limit is about known
LESS = 0.85  # of the window that a refusal leaves
FIRST_PAUSE = 0.5  # seconds after a refusal that does not say how long; doubled while nothing else comes
STORM = 3  # failures in a row that shrink the window
ENOUGH = 10  # accepted calls that make a measurement of what is allowed
LATE = 0.1  # seconds that a start may be late without loss: the next ones come so much earlier
QUIET = 1.0  # seconds without a call that waits, after which what was accepted says nothing of what is allowed
LOOK = 0.1  # seconds between two looks at what other processes were told
TELL = 1.0  # seconds of waiting that are told at once ...
NOTHING = 0.005  # ... and so few that they are not told

Fate = Literal["answered", "refused", "failed", "void"]  # of a call; void: says nothing about the endpoint


class Limiter:
    """Lets calls to one endpoint start, in the order of their places. Lives in one event loop."""

    def __init__(self, host: str, on_wait: Callable[[str, float], None], notice: Path | None = None) -> None:
        """`notice`: the file through which processes tell each other that the endpoint refuses."""
        self.host, self.under_way, self.window = host, 0, FIRST_WINDOW
        self.rate: float | None = None  # starts a second, as last measured
        self._refusing_since: float | None = None  # the first refusal after the last answer
        self._on_wait, self._notice = on_wait, notice
        self._places = itertools.count()
        self._line: list[tuple[int, asyncio.Future[float]]] = []  # a heap; cancelled ones fall out when they are first
        self._timer: asyncio.TimerHandle | None = None
        self._threshold = math.inf  # window below which it doubles
        self._latency = 1.0  # of the last answer
        self._open_at = self._next = -math.inf  # no start before these: pause, pace
        self._shrunk = self._busy = self._looked = -math.inf  # when last
        self._since, self._accepted = 0.0, 0  # what was accepted since when
        self._failed = self._pauses = 0  # in a row
        self._told = 0.0  # up to when waiting has been told
        self._cause = ""  # why calls wait
        self._seen = b""  # the notice that is known

    def place(self) -> int:
        """A place in the line. A call keeps it over all its tries."""
        return next(self._places)

    def refused_for(self) -> float:
        """Seconds since the first refusal after the last answer."""
        return 0.0 if self._refusing_since is None else asyncio.get_running_loop().time() - self._refusing_since

    async def start(self, place: int) -> float:
        """Wait until a call may start; returns when that was. `leave` must follow."""
        loop = asyncio.get_running_loop()
        now = loop.time()
        self._look(now)
        if not self._line and self.under_way < int(self.window) and now >= max(self._open_at, self._next):
            if now - self._busy > QUIET:
                self._since, self._accepted = now, 0
            return self._begin(now)
        if not self._line:
            self._told = max(now, self._open_at)
        waiter: asyncio.Future[float] = loop.create_future()
        heapq.heappush(self._line, (place, waiter))
        self._wake(now)
        try:
            return await waiter
        except asyncio.CancelledError:
            if not waiter.cancelled():  # its turn had come
                self.leave(waiter.result(), "void")
            raise

    def leave(self, started: float, fate: Fate, pause: float = 0.0) -> None:
        """A call has ended; `pause`: seconds that the endpoint, refusing, asked for, 0 if it did not say."""
        now = asyncio.get_running_loop().time()
        new_round = started >= self._shrunk  # calls that were under way when it shrank tell nothing new
        if fate == "answered":
            self._failed = self._pauses = 0
            self._latency, self._refusing_since = now - started, None
            if self.under_way >= int(self.window):
                self.window += 1 if self.window < self._threshold else CREEP / self.window
        elif fate == "refused":
            self._refusing_since = now if self._refusing_since is None else self._refusing_since
            if started >= self._since:
                self._accepted -= 1
            if new_round:
                left = LESS if math.isfinite(self._threshold) else 0.5  # it has doubled: half of it was accepted
                self.window = self._threshold = max(1.0, left * min(self.window, self.under_way))
                self._shrunk = now
                self._measure(now)
                self._pauses += 1
                pause = pause or FIRST_PAUSE * 2 ** min(self._pauses - 1, 10)
            if now + pause > self._open_at:
                self._pause(now, pause)
                self._write(now)
        elif fate == "failed":
            self._failed += 1
            if self._failed >= STORM and new_round:
                if self._failed == STORM:
                    self._threshold = max(1.0, LESS * min(self.window, self._threshold))
                self.window = max(1.0, self.window / 2)
                self._shrunk = now
        else:
            self._accepted -= started >= self._since
        self.under_way -= 1
        self._wake(now)

    def _begin(self, now: float) -> float:
        self.under_way += 1
        self._accepted += 1
        if self.rate is not None:
            probing = max(self._accepted / 400, (now - self._since) / 80) ** 2
            self._next = max(self._next, now - LATE) + 1 / (self.rate * (1.02 + probing))
        return now

    def _wake(self, now: float) -> None:
        """Start whoever may, and see to it that the next one will."""
        before, self._cause = self._cause, ""
        while self._line:
            _, waiter = self._line[0]
            if not waiter.done():
                if self.under_way >= int(self.window):
                    self._cause = "slow start" if math.isinf(self._threshold) else "takes no more calls at once"
                    break
                if (at := max(self._open_at, self._next)) > now:
                    self._cause = "takes no more calls a second"
                    self._wake_at(at)
                    break
                waiter.set_result(self._begin(now))
            heapq.heappop(self._line)
        if before:
            self._busy = now
            if now - self._told > (TELL if before == self._cause else NOTHING):
                self._tell(before, now)

    def _wake_at(self, at: float) -> None:
        if self._timer is not None:
            if self._timer.when() == at:
                return
            self._timer.cancel()
        self._timer = asyncio.get_running_loop().call_at(at, self._on_time)

    def _on_time(self) -> None:
        self._timer = None
        now = asyncio.get_running_loop().time()
        self._look(now)
        self._wake(now)

    def _tell(self, cause: str, until: float) -> None:
        """Tell of the time in which calls had to wait: what passed on the clock, however many did."""
        self._on_wait(f"{self.host}: {cause}", until - self._told)
        self._told = until

    def _pause(self, now: float, seconds: float) -> None:
        """Let nobody start for a while. It is told now, since nothing will happen until then."""
        if (until := now + min(seconds, LONGEST_PAUSE)) > self._open_at:
            if self._cause and now - self._told > NOTHING:
                self._tell(self._cause, now)
            self._told = max(now, self._open_at)
            self._open_at = until
            self._tell("asked to wait", until)

    def _measure(self, now: float) -> None:
        """The budget is used up: what was accepted since the last time that it was is what the endpoint allows."""
        if self._accepted >= ENOUGH:
            self.rate = self._accepted / max(now - self._since, 0.001)
        elif self.rate is None:
            self.rate = max(self.under_way, 1) / max(self._latency, 0.001)
        else:
            self.rate *= 0.7
            return
        self._since, self._accepted = now, 0

    def _look(self, now: float) -> None:
        """What other processes were told. Each notice counts once and for LONGEST_PAUSE at most, whatever it says."""
        if self._notice is None or now - self._looked < LOOK:
            return
        self._looked = now
        try:
            file = os.open(self._notice, os.O_RDONLY | os.O_NONBLOCK)
            try:
                said = os.read(file, 64)
            finally:
                os.close(file)
            if said == self._seen:
                return
            self._seen = said
            left = float(said.split()[0]) - time.time()
        except (OSError, ValueError, IndexError):
            return
        if 0 < left <= LONGEST_PAUSE and now + left > self._open_at:
            if self.rate is None or self._accepted >= ENOUGH:
                self._measure(now)
            self._shrunk = now
            self._pause(now, left)

    def _write(self, now: float) -> None:
        """Tell other processes how long the pause is."""
        if self._notice is None:
            return
        said = f"{time.time() + self._open_at - now:.3f} {os.getpid()}".encode()
        fresh = self._notice.with_suffix(f".{os.getpid()}.tmp")
        with contextlib.suppress(OSError):  # they will be refused themselves
            fresh.parent.mkdir(parents=True, exist_ok=True)
            fresh.write_bytes(said)
            os.replace(fresh, self._notice)
            self._seen = said
