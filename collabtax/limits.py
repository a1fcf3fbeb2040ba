"""How fast an endpoint is asked: as many calls at once, and as many a second, as it accepts.

Two limits, since providers have both kinds. The window bounds the calls under way: until the first refusal it doubles
many times a round trip, since refusals come sooner than answers, but never gets far ahead of what was answered; then it
grows more slowly. The pace bounds the starts a second: there is none until the first refusal; then it is what was
accepted between refusals, and a little more, ever more the longer nothing is refused. An endpoint that takes no call at
all is asked again and again, and the time until it takes one counts for nothing.
"""

from __future__ import annotations

import asyncio
import contextlib
import heapq
import itertools
import math
import os
import random
import time
from collections import deque
from collections.abc import Callable
from pathlib import Path
from typing import Literal

FIRST_WINDOW = 4.0  # calls under way at first
RAMP = 0.05  # seconds in which a full window doubles before the first refusal, twice as many each time without answers
AHEAD = 16, 4  # calls that the ramp allows without any answer, and for each answer more
GROWTH = 0.2  # part of itself by which the window grows in a round trip once a call was refused; until then it doubles
FULL = 1.0  # seconds after which it grows too if it is full and nothing was refused, which mostly is at once
STORM = 3  # failures in a row that halve the window
ENOUGH = 5  # accepted calls that make a measurement of what is allowed
FIRST_PAUSE = 1.0  # seconds after a refusal that does not say how long; doubled while nothing else comes
LONGEST_PAUSE = 60.0  # seconds; an endpoint that wants more is asked again all the same
PATIENCE = 3600.0  # seconds for which an endpoint may refuse every call
LATE = 0.1  # seconds that a start may be late without loss: the next ones come so much earlier
QUIET = 1.0  # seconds in which no call had to wait, after which what was accepted says nothing of what is allowed
LOOK = 0.1  # seconds between two looks at what other processes were told
TELL, NOTHING = 1.0, 0.005  # seconds of waiting that are told at once, and so few that they are not told

Fate = Literal["answered", "refused", "failed", "void"]  # of a call; void: it says nothing about the endpoint


class GivenUp(Exception):
    """The endpoint has refused every call for too long."""


class Limiter:
    """Lets calls to one endpoint start, in the order of their places. Lives in one event loop."""

    def __init__(self, host: str, on_wait: Callable[[str, float], None], notice: Path | None = None) -> None:
        """`notice`: the file through which processes tell each other how long the endpoint wants to be left alone."""
        self.host, self.under_way, self.window = host, 0, FIRST_WINDOW
        self.rate: float | None = None  # starts a second that the endpoint is taken to allow
        self._on_wait, self._notice = on_wait, notice
        self._places = itertools.count()
        self._line: list[tuple[int, asyncio.Future[float]]] = []  # a heap; who left it falls out once first
        self._timer: asyncio.TimerHandle | None = None
        self._doubles_to = math.inf  # window up to which it doubles
        self._guessed = False  # the rate, and not measured
        self._ramp = RAMP  # seconds until a full window doubles
        self._answered = 0  # calls so far
        self._latency = 0.3  # of the last answer
        self._full_since = 0.0  # the window, with calls that wait for it
        self._open_at = self._next = -math.inf  # no start before these: by a pause, by the pace
        self._probe = -math.inf  # when the first call after the last pause started
        self._shrunk = self._waited = self._looked = -math.inf  # when last
        self._accepted = 0  # calls so far
        self._marks = deque([(0.0, 0)], maxlen=10)  # when the budget was used up, and calls accepted by then
        self._refusals = self._failures = 0  # in a row
        self._refusing_since: float | None = None
        self._cause, self._told = "", 0.0  # why calls wait, and up to when that is noted
        self._owed: dict[str, float] = {}  # seconds of waiting, by cause, still to be told
        self._seen = b""  # the notice that is known

    def place(self) -> int:
        """A place in the line. A call keeps it over all its tries."""
        return next(self._places)

    async def start(self, place: int) -> float:
        """Wait until a call may start; returns when that was. `leave` must follow. Raises GivenUp."""
        loop = asyncio.get_running_loop()
        now = loop.time()
        if self._is_given_up(now):
            raise GivenUp
        self._look(now)
        if not self._line:
            if self.under_way < int(self.window) and now >= max(self._open_at, self._next):
                if now - self._waited > QUIET:
                    self.rate = self._pace(self._waited)
                    self._marks.clear()
                    self._marks.append((now, self._accepted))
                return self._begin(now)
            self._told = max(now, self._open_at)
        waiter: asyncio.Future[float] = loop.create_future()
        heapq.heappush(self._line, (place, waiter))
        self._wake(now)
        try:
            return await waiter
        except asyncio.CancelledError:
            if waiter.done() and not waiter.cancelled() and not waiter.exception():  # its turn had come
                self.leave(waiter.result(), "void")
            raise

    def leave(self, started: float, fate: Fate, asked: float = 0.0) -> None:
        """A call has ended. `asked`: seconds that a refusing endpoint asked to wait, 0 if it did not say."""
        now = asyncio.get_running_loop().time()
        news = started >= self._shrunk  # what was under way at the last shrinking belongs to the same event
        if fate == "answered":
            if news and self._refusals > 1:  # it had taken none
                self._forget(self._open_at, self._marks[-1][1])
            self._refusals = self._failures = 0
            self._ramp = RAMP
            self._answered += 1
            self._latency, self._refusing_since = max(now - started, 0.001), None
            if self.under_way >= int(self.window):
                self._grow(1.0)
        elif fate == "refused":
            self._uncount(started)
            if self._refusing_since is None:
                self._refusing_since = now
            if started > self._shrunk:  # a pause follows, so that what started then was under way
                self._refusals += 1
                window = self._shrink(min(self.window, self.under_way - 1), now)
                if self._refusals > 1 and started <= self._probe:  # it takes no call now, at whatever pace
                    self._forget(now, self._accepted)
                else:
                    self._doubles_to = window
                    self._measure(now)
                asked = asked or FIRST_PAUSE * 2 ** min(self._refusals - 1, 10)
                asked = max(asked, min(2 / (self.rate or 1.0), 2.0))  # else the budget of a slow one is used up at once
            elif self._guessed and self._answered < AHEAD[0] and len(self._marks) > 1:  # the guess was too high
                (begun, before), (end, accepted) = self._marks[-2], self._marks[-1]
                seen = max(accepted - before, 1) / max(end - begun, self._latency)
                self.rate = min(self.rate or math.inf, seen)
            if now + asked > self._open_at:
                self._pause(now, asked)
                self._write(now)
            if self._is_given_up(now):
                for _, waiter in self._line:
                    if not waiter.done():
                        waiter.set_exception(GivenUp())
                self._line.clear()
        elif fate == "failed":
            self._failures += 1
            if self._failures >= STORM and news:
                if self._failures == STORM:
                    self._doubles_to = max(1.0, 0.8 * min(self.window, self._doubles_to))
                self._shrink(self.window / 2, now)
        else:
            self._uncount(started)
        self.under_way -= 1
        self._wake(now)

    def _is_given_up(self, now: float) -> bool:
        return self._refusing_since is not None and now - self._refusing_since > PATIENCE

    def _grow(self, calls: float) -> None:
        self.window += calls if self.window < self._doubles_to else GROWTH * calls

    def _shrink(self, window: float, now: float) -> float:
        self.window, self._shrunk = max(1.0, window), now
        self._full_since = now
        return self.window

    def _begin(self, now: float) -> float:
        self.under_way += 1
        self._accepted += 1
        if self._probe < self._open_at:
            self._probe = now
        if (pace := self._pace(now)) is not None:
            self._next = max(self._next, now - LATE) + 1 / pace
        return now

    def _uncount(self, started: float) -> None:
        """A call that was counted when it started was not accepted."""
        self._accepted -= 1
        for number, (at, accepted) in enumerate(self._marks):
            if at >= started:
                self._marks[number] = (at, accepted - 1)

    def _pace(self, now: float) -> float | None:
        """Starts a second that are tried now."""
        if self.rate is None:
            return None
        at, accepted = self._marks[-1]
        now = max(now, at)
        if self._guessed:
            return self.rate * (1 + min((self._accepted - accepted) / 20, (now - at) / 4))
        return self.rate * (1.02 + max((self._accepted - accepted) / 300, (now - at) / 60) ** 2)

    def _forget(self, until: float, accepted: int) -> None:
        """Nothing was accepted since the budget was used up last: take all that was seen for so much later."""
        at, before = self._marks[-1]
        late, more = max(until - at, 0.0), accepted - before
        self._marks = deque(((at + late, seen + more) for at, seen in self._marks), maxlen=self._marks.maxlen)

    def _measure(self, now: float) -> None:
        """The budget is used up: what was accepted since another time that it was is what the endpoint allows, unless
        it had all that it can hold in between. Then it allows more, up to the pace at which it refused."""
        pace = self._pace(now)
        for at, accepted in reversed(self._marks):
            if self._accepted - accepted >= ENOUGH:
                least = (self._accepted - accepted) / max(now - at, 0.001)
                most = least if pace is None else min(max(pace, least), 2 * least)
                self.rate, self._guessed = least + (most - least) / 4, pace is None  # the first may be far too low
                break
        else:
            self._guessed = True
            if pace is None:
                self.rate = max(self.under_way, 1) / self._latency
            elif self._accepted > self._marks[-1][1]:  # else it does not take any call now, at whatever pace
                self.rate = pace * 0.7
        self.rate = max(self.rate or 0.0, 1 / LONGEST_PAUSE)
        self._marks.append((now, self._accepted))

    def _wake(self, now: float) -> None:
        """Start whoever may, and see to it that the next one will."""
        before, self._cause = self._cause, ""
        while self._line:
            _, waiter = self._line[0]
            if not waiter.done():
                if self.under_way >= int(self.window):
                    slow = math.isinf(self._doubles_to)
                    self._cause = "few calls at once at first" if slow else "takes no more calls at once"
                    if before != self._cause:
                        self._full_since = max(now, self._open_at)
                    if self._failures:
                        break
                    ramps = slow and self.window < AHEAD[0] + AHEAD[1] * self._answered
                    patience = self._ramp if ramps else FULL
                    if now < self._full_since + patience:
                        self._wake_at(self._full_since + patience)
                        break
                    self._grow(self.window)
                    self._ramp = min(2 * self._ramp, FULL)
                    self._full_since = now
                    continue
                if (at := max(self._open_at, self._next)) > now:
                    self._cause = "takes no more calls a second"
                    self._wake_at(at)
                    break
                waiter.set_result(self._begin(now))
            heapq.heappop(self._line)
        if before:
            self._waited = now
            self._owe(before, now)
            if (owed := sum(self._owed.values())) > TELL or (owed > NOTHING and not self._cause):
                self._tell()

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

    def _owe(self, cause: str, until: float) -> None:
        """The line did not move until then: time on the clock, however many calls stand in it."""
        if until > self._told:
            self._owed[cause] = self._owed.get(cause, 0.0) + until - self._told
            self._told = until

    def _tell(self) -> None:
        for cause, seconds in self._owed.items():
            if seconds > NOTHING:
                self._on_wait(f"{self.host}: {cause}", seconds)
        self._owed.clear()

    def _pause(self, now: float, seconds: float) -> None:
        """Let nobody start for a while. It is told at once, since nothing will happen until then."""
        until = now + min(seconds, LONGEST_PAUSE)
        if until <= self._open_at:
            return
        if self._cause:
            self._owe(self._cause, now)
        self._told, self._open_at = max(now, self._open_at), until
        self._owe("asked to wait", until)
        self._tell()
        self._next = until
        if self._notice and self.rate:  # else all processes would start at that moment
            self._next += random.random() / self.rate
        self._full_since = until

    def _look(self, now: float) -> None:
        """What other processes were told. A notice counts once and for LONGEST_PAUSE at most, whatever it says."""
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
            if self._accepted - self._marks[-1][1] >= ENOUGH or self.rate is None:
                self._measure(now)
            self._shrunk = now
            self._pause(now, left)

    def _write(self, now: float) -> None:
        """Tell other processes how long the pause is."""
        if self._notice is None:
            return
        said = f"{time.time() + self._open_at - now:.3f} {os.getpid()}".encode()
        fresh = self._notice.with_name(f"{self._notice.name}.{os.getpid()}.tmp")
        with contextlib.suppress(OSError):  # they will be refused themselves
            fresh.parent.mkdir(parents=True, exist_ok=True)
            fresh.write_bytes(said)
            os.replace(fresh, self._notice)
            self._seen = said
