"""The soak (benchmarks/soak.py): what it counts, what its endpoint does, and a short one."""

import asyncio
from collections import Counter
from dataclasses import replace
from pathlib import Path

import pytest

from benchmarks import soak
from benchmarks.soak import FAULTS, Endpoint, Left, Trial, trial
from collabtax.cassettes import Cassette, Conversation
from collabtax.chat import Chat
from collabtax.models import Model
from collabtax.session import Session
from collabtax.store import Store

PASSING = [fault for fault in FAULTS if not fault.storm and fault.times[1] < 6]


def asked(text):
    return Conversation({"model": "sim/scripted=1"}, [{"role": "user", "content": text}])


def test_bought_twice_is_what_was_recorded_and_is_answered_again(tmp_path):
    recorded, torn, lost, new = (asked(text) for text in ("recorded", "torn", "lost", "new"))
    path = tmp_path / "cell" / "0000.yaml"
    with Cassette(path, "new_episodes") as cassette:
        cassette.save(recorded, "http://x", "{}", 0.0)
        cassette.save(torn, "http://x", "{}", 0.0)
    path.write_bytes(path.read_bytes()[:-9])
    assert torn.digest().encode() in path.read_bytes(), "the torn line is long enough to show its digest"
    with Endpoint((), 0, tmp_path) as endpoint:
        for one in (recorded, torn, lost):
            endpoint.bought(one.digest())
        assert (endpoint.twice, endpoint.again) == (0, 0)
        endpoint.kept = {lost.digest()}  # its recording was there when a command had ended, and is gone
        for one in (recorded, torn, lost, new):
            endpoint.bought(one.digest())
        assert (endpoint.twice, endpoint.again) == (2, 1)


def row(seed, outcome="scored", **fields):
    return {
        "study": "tax", "task": "maze", "mode": "solo", "models": ["m"], "condition": "", "seed": seed,
        "settings": "s", "outcome": outcome, "turns": [{"text": "x", "seconds": 1.5}], **fields,
    }  # fmt: skip


def store(folder, rows):
    folder.mkdir(parents=True, exist_ok=True)
    for path in folder.rglob("*.jsonl"):
        path.unlink()
    one = Store(folder, session=1)
    for each in rows:
        one.add(each)
    one.close()


def test_lost_is_what_was_finished_and_is_not_or_is_another(tmp_path):
    with Endpoint((), 0, tmp_path / "cassettes") as endpoint:
        one = Trial("t", tmp_path, endpoint, 4)
        store(tmp_path / "run", [row(0), row(1), row(2, "infrastructure")])
        one.look()
        assert len(one.rows) == 2
        store(tmp_path / "run", [row(0, turns=[{"text": "x", "seconds": 9.0}]), row(1), row(2), row(3)])
        one.look()
        assert one.lost == 0
        store(tmp_path / "run", [row(0, score=0.5), row(2, "infrastructure"), row(3)])
        one.look()
        assert one.lost == 3


def test_tokens_that_are_billed_and_not_in_the_results_are_a_miss(tmp_path):
    with Endpoint((), 0, tmp_path / "cassettes") as endpoint:
        one = Trial("t", tmp_path, endpoint, 4)
        store(tmp_path / "run", [row(0, usage={"prompt": 50, "completion": 7, "cached": 9}), row(1, usage={})])
        endpoint.bill(57)
        assert one.row(Left.of(tmp_path), at_kills=False).notes == []
        endpoint.bill(1)
        assert one.row(Left.of(tmp_path), at_kills=False).notes == ["58 tokens were billed, 57 are in the results"]


def test_a_difference_in_rows_or_recordings_is_named():
    key = ("tax", "maze", "solo", ("m",), "", 1, "s")
    left = Left({key: "a"}, {"cell/0001.yaml": [("d", "x")]})
    assert left.differs(left) == ""
    assert left.first(1) == Left({}, {})
    assert "1 rollouts differ" in left.differs(replace(left, rows={}))
    assert "1 rollouts differ" in replace(left, rows={}).differs(left)
    assert "1 recordings differ" in left.differs(replace(left, calls={"cell/0001.yaml": [("d", "x")] * 2}))


def test_the_plan_hangs_on_seed_and_request_and_not_on_their_order(tmp_path):
    def plan(seed, digests):
        with Endpoint(PASSING, seed, tmp_path) as endpoint:
            met = [(digest, fault.name) for digest in digests if (fault := endpoint.fate(digest))]
            assert endpoint.injected == len(met)
            return sorted(met)

    digests = [asked(str(n)).digest() for n in range(400)] * 3
    assert plan(1, digests) == plan(1, digests[::-1])
    assert plan(1, digests) != plan(2, digests)
    tries = Counter(digest for digest, _ in plan(1, digests))
    assert 60 < len(tries) < 140, "a quarter of them"
    assert set(tries.values()) == {1, 2}
    assert {name for _, name in plan(1, digests)} == {fault.name for fault in PASSING}
    with Endpoint(FAULTS[:1], 1, tmp_path) as endpoint:
        refused = sum(endpoint.fate(digest) is not None for digest in digests[: 3 * soak.EVERY])
        assert refused == 3 * soak.STORM
    for_good = next(fault for fault in FAULTS if fault.times == (6, 6))
    with Endpoint([replace(for_good, share=1.0)], 1, tmp_path) as endpoint:
        assert [endpoint.fate("d") is not None for _ in range(7)] == [True] * 6 + [False]


def test_after_each_fault_the_answer_comes(tmp_path, monkeypatch):
    """All faults side by side, with their real waits."""
    monkeypatch.setattr(soak, "HANG", 0.2)

    async def ask(fault):
        with trial(fault.name, [replace(fault, share=1.0, times=(1, 1))], 1) as one:
            model, chat = Model("m", "sim/scripted=1", base_url=one.endpoint.url), Chat()
            with Cassette(one.cassettes / "0.yaml", "new_episodes"):
                said = await chat.complete(model, Conversation(model.settings(0.7), asked("x").messages))
            await chat.aclose()
            return said.text, one.endpoint

    async def every():
        return await asyncio.gather(*map(ask, PASSING))

    for fault, (text, endpoint) in zip(PASSING, asyncio.run(every()), strict=True):
        assert text.endswith("ACTI!"), fault.name
        assert (endpoint.injected, endpoint.retries) == (1, 0 if fault.answers else 1), fault.name
        assert (endpoint.twice, endpoint.again) == (0, 0), fault.name


@pytest.fixture
def reference(root):
    """What the suite leaves without pytest, faults or kills."""
    with trial("undisturbed", (), 1, rollouts=2, tasks=["maze"]) as one:
        one.folder.joinpath("models.toml").write_text(one.models())
        given = {
            "models": str(one.folder / "models.toml"), "model": ["sim/http"], "task": ["maze"], "rollouts": 2,
            "cassettes": str(one.cassettes), "run": str(one.run_folder),
        }  # fmt: skip
        session = Session(given, Path(root))
        for cell in session.settings.cells("tax"):
            assert session.run_cell(cell, lambda rollout: None) == []
        session.close()
        yield Left.of(one.folder)


def test_a_short_soak(reference):
    fault = next(fault for fault in FAULTS if fault.name == "empty choices")
    with trial("short", [replace(fault, times=(1, 1))], 1, rollouts=2, latency=0.05, tasks=["maze"]) as one:
        process = one.start()
        soak.wait_for_calls(one, process, 6)
        assert process.poll() is None
        soak.kill_group(process)
        one.end(process)
        assert len(one.rows) < len(reference.rows) == 8
        one.complete()
        found = one.row(reference, at_kills=True)
    assert not found.missed, found
    assert found.injected == found.retries > 0
    assert found.sessions == 2
    assert found.again <= soak.WORKERS * soak.CONCURRENCY
    assert found.calls == found.injected + len([c for calls in reference.calls.values() for c in calls]) + found.again
