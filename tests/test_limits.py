"""How fast an endpoint is asked: measured in virtual time against simulated providers, and end to end on loopback."""

import asyncio
import itertools
import math
import os
import random
import sys
import threading
import time as real_time
from pathlib import Path
from types import SimpleNamespace

import httpx2
import openai
import pytest
from test_chat import Endpoint, error, reply

from collabtax import limits
from collabtax.cassettes import Cassette, Conversation
from collabtax.chat import Chat, EndpointError
from collabtax.limits import GivenUp, Limiter
from collabtax.models import Model
from collabtax.sim.endpoint import Server

ROOT = Path(__file__).resolve().parents[1]


class VirtualLoop(asyncio.SelectorEventLoop):
    """An event loop whose clock jumps to the next timer instead of waiting for it."""

    def __init__(self):
        super().__init__()
        self.now = 1000.0
        select = self._selector.select

        def jump(timeout):
            assert timeout is not None, "nobody will ever be woken"
            self.now += max(timeout, 0)
            return select(0)

        self._selector.select = jump

    def time(self):
        return self.now


@pytest.fixture
def clock(monkeypatch):
    """A virtual loop; the wall clock of `limits` goes with it, and `clock.jumped` seconds off."""
    loop = VirtualLoop()
    loop.jumped = 0.0
    monkeypatch.setattr(limits.time, "time", lambda: 1e9 + loop.now + loop.jumped)
    random.seed(1)
    yield loop
    loop.close()


@pytest.fixture
def waits():
    return []


@pytest.fixture
def limiter(waits):
    return Limiter("host", lambda cause, seconds: waits.append((cause, seconds)))


async def one_call(limiter, place=None, seconds=0.3, fate="answered", asked=0.0):
    """Start, last `seconds`, leave. Returns when it started."""
    started = await limiter.start(limiter.place() if place is None else place)
    try:
        await asyncio.sleep(seconds)
    except asyncio.CancelledError:
        limiter.leave(started, "void")
        raise
    limiter.leave(started, fate, asked)
    return started


async def all_of(*calls):
    async with asyncio.TaskGroup() as group:
        tasks = [group.create_task(call) for call in calls]
    return [task.result() for task in tasks]


class Provider:
    """Allows `rate` calls a second with a token bucket of `burst`, and `at_once` at a time; answers after `latency`,
    refuses after `late` seconds."""

    def __init__(
        self, loop, rate=math.inf, burst=math.inf, retry_after=False, at_once=math.inf, latency=0.3, late=0.01
    ):
        self.loop, self.rate, self.burst, self.retry_after, self.at_once = loop, rate, burst, retry_after, at_once
        self.latency, self.late, self.left, self.filled = latency, late, burst, loop.time()
        self.accepted, self.refused, self.under_way, self.most = [], [], 0, 0

    def refuses(self):
        """None, or what it says about waiting."""
        now = self.loop.time()
        if self.rate < math.inf:
            self.left = min(self.burst, self.left + (now - self.filled) * self.rate)
        self.filled = now
        if self.left >= 1 and self.under_way < self.at_once:
            self.left -= 1
            self.accepted.append(now)
            return None
        self.refused.append(now)
        return float(math.ceil((1 - self.left) / self.rate)) if self.retry_after else 0.0

    async def call(self, limiter):
        """One call, until it is answered."""
        place = limiter.place()
        while True:
            started = await limiter.start(place)
            wait = self.refuses()
            if wait is None:
                self.under_way += 1
                self.most = max(self.most, self.under_way)
            fate = "void"
            try:
                await asyncio.sleep(self.late if wait is not None else self.latency)
                fate = "answered" if wait is None else "refused"
            finally:
                self.under_way -= wait is None
                limiter.leave(started, fate, wait or 0.0)
            if wait is None:
                return

    def load(self, seconds, limiters, lanes=64):
        """`lanes` callers at once for `seconds`."""

        async def lane(limiter):
            while True:
                await self.call(limiter)

        async def go():
            try:
                async with asyncio.timeout(seconds):
                    await asyncio.gather(*(lane(limiters[i % len(limiters)]) for i in range(lanes)))
            except TimeoutError:
                pass

        self.loop.run_until_complete(go())


@pytest.mark.parametrize("retry_after", [True, False])
@pytest.mark.parametrize(
    ("rate", "burst", "processes"),
    [(100, 100, 4), (20, 20, 1), (20, 20, 2), (20, 20, 4), (20, 5, 1), (20, 5, 2), (5, 5, 1), (5, 5, 2)],
)
def test_nearly_all_that_is_allowed_is_used_and_little_is_refused(clock, tmp_path, rate, burst, retry_after, processes):
    provider = Provider(clock, rate, burst, retry_after)
    limiters = [Limiter("host", lambda cause, seconds: None, tmp_path / "notice") for _ in range(processes)]
    provider.load(60, limiters)
    accepted, refused = len(provider.accepted), len(provider.refused)
    assert accepted >= (0.85 if burst == rate else 0.75) * (rate * 60 + burst)
    assert refused <= 0.05 * (accepted + refused)
    late = [at for at in provider.refused if at > 1030]
    assert len(late) <= 0.05 * rate * 30


@pytest.mark.parametrize("retry_after", [True, False])
@pytest.mark.parametrize(("rate", "burst", "processes"), [(20, 20, 1), (20, 20, 4), (20, 5, 1), (20, 5, 2), (5, 5, 1)])
def test_refusals_may_come_from_afar(clock, tmp_path, rate, burst, retry_after, processes):
    provider = Provider(clock, rate, burst, retry_after, late=0.1)
    limiters = [Limiter("host", lambda cause, seconds: None, tmp_path / "notice") for _ in range(processes)]
    provider.load(60, limiters)
    accepted, refused = len(provider.accepted), len(provider.refused)
    assert accepted >= (0.85 if burst == rate else 0.75) * (rate * 60 + burst)
    assert refused <= 0.05 * (accepted + refused)


@pytest.mark.parametrize("at_once", [1, 8, 32])
def test_a_limit_on_calls_at_once_is_found(clock, limiter, at_once):
    provider = Provider(clock, at_once=at_once, latency=1.0)
    provider.load(120, [limiter])
    assert len(provider.accepted) >= 0.75 * 120 * at_once
    assert len(provider.refused) <= (0.15 if at_once == 1 else 0.05) * len(provider.accepted)


def test_without_a_limit_the_window_holds_all_within_three_answers(clock, limiter, waits):
    provider = Provider(clock)
    provider.load(10, [limiter], lanes=200)
    assert starts(provider, 0.04, 0.14, 0.29) == [4, 8, 16], "doubles, ever more slowly while nothing is answered"
    assert starts(provider, 0.31) == [4 + 2 * 17 + 3], "doubles again at the first of 4 answers, then one each"
    assert provider.most == 200
    assert {cause for cause, _ in waits} == {"host: few calls at once at first"}
    assert 0.3 < sum(seconds for _, seconds in waits) < 0.9


def test_without_any_answer_few_are_asked_for_a_second(clock, limiter):
    provider = Provider(clock, latency=2.0)
    provider.load(2, [limiter], lanes=200)
    assert starts(provider, 0.16, 1.14, 1.16) == [16, 16, 32]


def starts(provider, *moments):
    """Calls that were accepted up to so many seconds after the beginning."""
    return [sum(at <= 1000 + moment for at in provider.accepted) for moment in moments]


@pytest.mark.parametrize(("dialogues", "most"), [(1, 1.0), (10, 1.09), (50, 1.2), (256, 1.4)])
def test_a_short_run_pays_little_for_the_slow_start(clock, limiter, dialogues, most):
    provider = Provider(clock)

    async def dialogue():
        for _ in range(6):
            await provider.call(limiter)

    clock.run_until_complete(all_of(*(dialogue() for _ in range(dialogues))))
    assert 6 * 0.3 - 1e-6 <= clock.time() - 1000 <= most * 6 * 0.3 + 1e-6


def test_slow_answers_do_not_keep_the_window_small(clock, limiter):
    provider = Provider(clock, latency=60.0)
    provider.load(10, [limiter], lanes=200)
    assert provider.most == 200
    provider = Provider(clock, rate=20, burst=20, latency=10.0)
    provider.load(120, [Limiter("host", lambda cause, seconds: None)], lanes=400)
    assert len(provider.accepted) >= 0.85 * (120 * 20 + 20)
    assert len(provider.refused) <= 0.05 * len(provider.accepted)


def test_the_window_shrinks_once_for_all_that_was_under_way(clock, limiter):
    limiter.window = 10.0

    async def go():
        await all_of(*(one_call(limiter, fate="refused", seconds=0.1 * n) for n in range(1, 11)))
        first = limiter.window
        await one_call(limiter, fate="refused")
        return first

    assert clock.run_until_complete(go()) == 9, "as many as were under way beside the first"
    assert limiter.window == 1.0, "never more than is used, never below one"


def test_the_window_grows_more_slowly_after_a_refusal(clock, limiter):
    limiter.window = 10.0

    async def go():
        await all_of(*(one_call(limiter, fate="refused" if n == 0 else "answered") for n in range(10)))
        limiter.rate = None  # the window alone
        await all_of(*(one_call(limiter) for _ in range(50)))

    clock.run_until_complete(go())
    assert 10 < limiter.window < 32


def test_failures_shrink_the_window_in_storms_only_and_it_comes_back(clock, limiter, waits):
    limiter.window = 32.0

    async def go():
        for fate in ("failed", "failed", "answered", "failed", "failed", "answered"):
            await one_call(limiter, fate=fate)
        assert limiter.window == 32, "some calls always fail"
        seen = []
        for _ in range(7):
            await all_of(*(one_call(limiter, fate="failed") for _ in range(8)))
            seen.append(int(limiter.window))
        assert seen == sorted(seen, reverse=True)
        assert seen[:2] == [16, 8]
        assert seen[-1] == 1, "once a round trip, and never below one"
        begun = clock.time()
        while limiter.window < 24:
            await all_of(*(one_call(limiter) for _ in range(64)))
        return clock.time() - begun

    assert clock.run_until_complete(go()) < 6
    assert not [cause for cause, _ in waits if "asked to wait" in cause]


def test_a_raised_limit_is_found(clock, limiter):
    provider = Provider(clock, rate=5, burst=5)
    provider.load(60, [limiter])
    provider.rate = provider.burst = 40
    provider.load(120, [limiter])
    assert sum(at > 1170 for at in provider.accepted) > 10 * 3 * 5


def test_a_hiccup_is_forgotten(clock, limiter):
    provider = Provider(clock)
    provider.load(20, [limiter])
    provider.at_once = 0
    provider.load(0.2, [limiter])
    provider.at_once = math.inf
    provider.load(60, [limiter])
    assert sum(at > 1070 for at in provider.accepted) > 0.6 * 10 * 64 / 0.3


@pytest.mark.parametrize("seconds", [1, 5, 30, 300])
@pytest.mark.parametrize("rate", [20, math.inf])
def test_after_an_outage_the_pace_is_what_it_was(clock, limiter, seconds, rate):
    provider = Provider(clock, rate, rate)
    provider.load(30, [limiter])
    provider.at_once = 0
    before = len(provider.refused)
    provider.load(seconds, [limiter])
    assert len(provider.refused) - before <= 70 + 2 * seconds, "those under way, and few that ask again"
    provider.at_once = math.inf
    end = clock.time()
    provider.load(2 * limits.LONGEST_PAUSE, [limiter])
    back = next(at for at in provider.accepted if at >= end)
    assert back <= end + limits.LONGEST_PAUSE
    usual = min(rate, 64 / 0.3)
    assert sum(back + 5 <= at < back + 35 for at in provider.accepted) >= 0.9 * 30 * usual


def test_an_outage_hides_no_lower_limit(clock, limiter):
    provider = Provider(clock, rate=40, burst=40)
    provider.load(30, [limiter])
    provider.at_once = 0
    provider.load(20, [limiter])
    provider.at_once, provider.rate, provider.burst = math.inf, 10, 10
    begun, refused = len(provider.accepted), len(provider.refused)
    provider.load(90, [limiter])
    accepted, refused = len(provider.accepted) - begun, len(provider.refused) - refused
    assert accepted >= 0.75 * 10 * 90
    assert refused <= 0.05 * (accepted + refused)


def test_nobody_calls_before_the_wait_is_over_and_it_is_told_once(clock, limiter, waits):
    async def go():
        await one_call(limiter, seconds=0.1, fate="refused", asked=17.0)
        return await all_of(*(one_call(limiter) for _ in range(3)))

    starts = clock.run_until_complete(go())
    assert min(starts) == pytest.approx(1017.1)
    assert waits[0] == ("host: asked to wait", 17.0)
    assert sum(seconds for _, seconds in waits) <= clock.time() - 1000


@pytest.mark.parametrize("asked", [86400.0, math.inf])
def test_a_wait_is_capped(clock, limiter, asked):
    async def go():
        await one_call(limiter, fate="refused", asked=asked)
        return await one_call(limiter)

    assert clock.run_until_complete(go()) == pytest.approx(1060.3)


def test_without_retry_after_pauses_double_and_end(clock, limiter, waits):
    async def go():
        place, starts = limiter.place(), []
        for _ in range(12):
            starts.append(await one_call(limiter, place, seconds=0.01, fate="refused"))
        return starts

    starts = clock.run_until_complete(go())
    gaps = [b - a for a, b in itertools.pairwise(starts)]
    assert gaps[:4] == pytest.approx([1, 2, 4, 8], abs=0.05)
    assert max(gaps) <= limits.LONGEST_PAUSE + 0.1
    assert {cause for cause, _ in waits} == {"host: asked to wait"}


def test_other_processes_learn_of_a_wait(clock, tmp_path):
    told = []
    one, other = (Limiter("host", lambda *told_: told.append(told_), tmp_path / "new" / "n") for _ in range(2))

    async def go():
        await one_call(other)
        await one_call(one, fate="refused", asked=20.0)
        return await one_call(other)

    assert 1020.6 <= clock.run_until_complete(go()) <= 1020.6 + 1 / 3 + 0.01
    assert told[1][0] == told[0][0] == "host: asked to wait"
    assert [path.name for path in (tmp_path / "new").iterdir()] == ["n"]


def spoil(path, content):
    if content == "folder":
        path.mkdir()
    elif content == "pipe":
        os.mkfifo(path)
    elif content == "loop":
        path.symlink_to(path)
    elif content == "device":
        path.symlink_to("/dev/zero")
    else:
        path.write_bytes(content)


NOTICES = [
    b"", b" ", b"soon", b"nan", b"inf", b"-inf", b"1e999", b"-5", b"\xff\xfe", b"[1]", b"9" * 10_000_000,
    b"1000000999999", b"1000000500.0 7", "folder", "pipe", "loop", "device",
]  # fmt: skip


@pytest.mark.parametrize("content", NOTICES, ids=lambda c: repr(c)[:20])
def test_a_spoilt_notice_stops_nobody(clock, tmp_path, content):
    spoil(tmp_path / "n", content)
    limiter = Limiter("host", lambda cause, seconds: None, tmp_path / "n")

    async def go():
        started = await one_call(limiter)
        await one_call(limiter, fate="refused", asked=5.0)  # writes, or cannot
        return started, await one_call(limiter)

    first, second = clock.run_until_complete(go())
    assert first == 1000.0
    assert 1005.6 <= second <= 1006.6


def test_a_notice_counts_once_whatever_the_clock_does(clock, tmp_path):
    limiter = Limiter("host", lambda cause, seconds: None, tmp_path / "n")
    (tmp_path / "n").write_text(f"{1e9 + 1030} 1")

    async def go():
        starts = [await one_call(limiter)]
        for clock.jumped in (-20.0, -3600.0, 7200.0):
            starts.append(await one_call(limiter))
        return starts

    first, *rest = clock.run_until_complete(go())
    assert 1030 <= first <= 1031
    assert max(rest) <= first + 4


def test_a_folder_that_cannot_be_written_hurts_nobody(clock, tmp_path):
    (tmp_path / "file").write_text("")
    limiter = Limiter("host", lambda cause, seconds: None, tmp_path / "file" / "n")

    async def go():
        await one_call(limiter, fate="refused", asked=2.0)
        return await one_call(limiter)

    assert 1002.3 <= clock.run_until_complete(go()) <= 1003


def test_first_come_first_served_and_a_refused_call_keeps_its_place(clock, limiter):
    limiter.window = limiter._doubles_to = 1.0
    order = []

    async def call(name, fates):
        place = limiter.place()
        for fate in fates:
            started = await limiter.start(place)
            order.append(name)
            await asyncio.sleep(0.1)
            limiter.leave(started, fate)

    clock.run_until_complete(
        all_of(call("a", ["answered"]), call("b", ["refused", "refused", "answered"]), call("c", ["answered"]))
    )
    assert order == ["a", "b", "b", "b", "c"]


@pytest.mark.parametrize("after", [0.05, 0.1, 0.15])
def test_who_is_cancelled_takes_no_slot(clock, limiter, after):
    limiter.window, limiter._doubles_to = 1.0, 1.0

    async def go():
        holder = asyncio.create_task(one_call(limiter, seconds=0.1))
        await asyncio.sleep(0)
        waiting = [asyncio.create_task(one_call(limiter, seconds=9)) for _ in range(20)]
        clock.call_later(after, lambda: [task.cancel() for task in waiting])
        await asyncio.wait([holder, *waiting])
        assert limiter.under_way == 0
        return clock.time(), await one_call(limiter)

    now, started = clock.run_until_complete(go())
    assert started == now


def test_who_is_cancelled_as_its_turn_comes_passes_it_on(clock, limiter):
    limiter.window = limiter._doubles_to = 1.0

    async def go():
        started = await limiter.start(limiter.place())
        second, third = (asyncio.create_task(one_call(limiter)) for _ in range(2))
        await asyncio.sleep(0.1)
        limiter.leave(started, "answered")  # the second's turn
        second.cancel()
        await asyncio.wait([second, third])
        assert second.cancelled()
        return third.result()

    assert clock.run_until_complete(go()) == pytest.approx(1000.1)
    assert limiter.under_way == 0


def test_waiting_is_told_by_the_clock_and_seldom(clock, limiter, waits):
    provider = Provider(clock, rate=20, burst=20)
    provider.load(60, [limiter])
    assert 40 < sum(seconds for _, seconds in waits) < 60.01
    assert len(waits) < 300
    assert min(seconds for _, seconds in waits) > limits.NOTHING
    assert {cause for cause, _ in waits} <= {
        "host: few calls at once at first", "host: asked to wait", "host: takes no more calls a second",
        "host: takes no more calls at once",
    }  # fmt: skip


def test_an_endpoint_that_refuses_all_for_an_hour_is_given_up(clock, limiter):
    async def call():
        place = limiter.place()
        while True:
            await one_call(limiter, place, seconds=0.01, fate="refused", asked=30.0)

    async def go():
        ends = await asyncio.gather(*(call() for _ in range(20)), return_exceptions=True)
        assert all(isinstance(end, GivenUp) for end in ends)
        with pytest.raises(GivenUp):
            await limiter.start(limiter.place())

    clock.run_until_complete(go())
    assert 3600 < clock.time() - 1000 < 3700
    assert limiter.under_way == 0


# Through Chat


@pytest.fixture
def talk(clock, monkeypatch, tmp_path):
    """`talk(chat, model, n, text)`: a completion in virtual time; `talk.endpoints[url]` answers requests."""
    monkeypatch.setenv("OPENAI_API_KEY", "sk-test-0123456789abcdef")
    endpoints = {}

    def client(self, model):
        async def post(path, **_):
            await asyncio.sleep(0.3)
            status, body, headers = endpoints[model.url]()
            request = httpx2.Request("POST", model.url)
            answer = httpx2.Response(status, json=body, headers=headers, request=request, extensions={"seconds": 0.3})
            if status != 200:
                raise openai.APIStatusError("no", response=answer, body=None)
            return answer

        return SimpleNamespace(post=post)

    monkeypatch.setattr(Chat, "_client", client)

    async def run(chat, url, number, text="hello"):
        model = Model("m", "m", base_url=url)
        with Cassette(tmp_path / url[-1] / f"{number}.yaml", "new_episodes"):
            said = await chat.complete(model, Conversation(model.settings(0), [{"role": "user", "content": text}]))
        return said.text, clock.time() - 1000

    run.endpoints = endpoints
    return run


LIMITED = (429, error("rate_limit_exceeded"), {"retry-after": "40"})


def test_waiting_for_one_endpoint_holds_up_no_other(clock, talk):
    refusals = iter([LIMITED] * 3)
    talk.endpoints["http://127.0.0.1/a"] = lambda: next(refusals, (200, reply(), {}))
    talk.endpoints["http://127.0.0.1/b"] = lambda: (200, reply(), {})
    chat = Chat()
    calls = [talk(chat, f"http://127.0.0.1/{'ab'[n % 2]}", n) for n in range(8)]
    done = clock.run_until_complete(all_of(*calls))
    assert max(when for _, when in done[1::2]) < 1
    assert min(when for _, when in done[::2]) > 0.2
    assert sum(when > 40 for _, when in done[::2]) >= 3


def test_a_refused_call_loses_no_try(clock, talk):
    script = iter([LIMITED] * 30 + [(500, {}, {})] * 5)
    talk.endpoints["http://127.0.0.1/a"] = lambda: next(script, (200, reply("at last"), {}))
    waits = []
    said, when = clock.run_until_complete(talk(Chat(lambda *told: waits.append(told)), "http://127.0.0.1/a", 0))
    assert said == "at last"
    assert 1200 < when < 1400
    assert [told[1] for told in waits if "asked" in told[0]] == [40.0] * 30


def test_chat_gives_up_after_an_hour_and_says_why(clock, talk):
    talk.endpoints["http://127.0.0.1/a"] = lambda: (429, error("rate_limit_exceeded", "requests per day"), {})
    chat = Chat()
    for number in range(3):
        with pytest.raises(EndpointError, match="60 minutes") as told:
            clock.run_until_complete(talk(chat, "http://127.0.0.1/a", number))
        assert number or "requests per day" in str(told.value)
        assert "127.0.0.1" in str(told.value)
    assert 3600 < clock.time() - 1000 < 3700, "later calls fail at once"


def test_keys_of_one_endpoint_are_limited_apart(monkeypatch):
    monkeypatch.setenv("A", "a")
    monkeypatch.setenv("B", "b")
    chat = Chat(shared=Path("x"))
    of = [chat._limiter(Model("m", "m", base_url="http://h/v1", key_env=key)) for key in ("A", "B", "A")]
    assert of[0] is of[2]
    assert of[0] is not of[1]
    assert of[0]._notice != of[1]._notice


@pytest.mark.parametrize("retry_after", [True, False])
def test_a_limited_endpoint_is_used_well_over_http(tmp_path, retry_after):
    waits = []
    with Server(latency=0.05, rate=40, burst=10, retry_after=retry_after) as server:
        threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True).start()

        async def go():
            chat = Chat(lambda cause, seconds: waits.append(cause), tmp_path / "shared")

            async def one(number):
                model = Model("sim/http", "sim/scripted=2", base_url=server.url)
                with Cassette(tmp_path / "c" / f"{number}.yaml", "new_episodes"):
                    await chat.complete(model, Conversation(model.settings(0), [{"role": "user", "content": "x"}]))

            await all_of(*map(one, range(60)))
            await chat.aclose()

        begun = real_time.monotonic()
        asyncio.run(go())
        took = real_time.monotonic() - begun
        server.shutdown()
    assert server.accepted == 60
    assert 0 < server.refused < server.accepted  # a starved machine is refused more often
    assert took > 1.2
    assert any("asked to wait" in cause for cause in waits)
    assert list((tmp_path / "shared").iterdir())


def test_the_endpoint_says_how_long_to_wait_or_not():
    for retry_after in (True, False):
        with Server(rate=0.5, burst=1, retry_after=retry_after) as server:
            threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True).start()
            ask = {"model": "sim/scripted=1", "messages": [{"role": "user", "content": "x"}]}
            told = [httpx2.post(f"{server.url}/chat/completions", json=ask) for _ in range(3)]
            server.shutdown()
        assert [one.status_code for one in told] == [200, 429, 429]
        assert told[1].headers.get("retry-after") == ("2" if retry_after else None)
        assert (server.accepted, server.refused) == (1, 2)


def test_a_real_429_is_waited_for(tmp_path, monkeypatch):
    monkeypatch.setenv("OPENAI_API_KEY", "sk-test-0123456789abcdef")
    limited = (429, error("rate_limit_exceeded"), {"retry-after-ms": "700"})
    with Endpoint(limited, reply("at last")) as endpoint:

        async def go():
            chat, model = Chat(), Model("m", "m", base_url=endpoint.url)
            with Cassette(tmp_path / "0.yaml", "new_episodes"):
                said = await chat.complete(model, Conversation(model.settings(0), [{"role": "user", "content": "x"}]))
            await chat.aclose()
            return said.text

        begun = real_time.monotonic()
        assert asyncio.run(go()) == "at last"
        assert real_time.monotonic() - begun >= 0.7
    assert len(endpoint.asked) == 2


def test_the_measuring_script_works(monkeypatch):
    monkeypatch.syspath_prepend(str(ROOT / "benchmarks"))
    import throughput

    one = throughput.measure(2, 8, processes=2, rate=10, retry_after="no")
    assert 2 <= one["accepted"] <= 30
    free = throughput.measure(2, 8)
    assert free["refused"] == 0
    assert 4 <= free["calls"] <= 8 * 2 / throughput.LATENCY
    sys.modules.pop("throughput")
