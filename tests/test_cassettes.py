"""Recordings: what is kept, what is found again, what a crash or a stranger's file can do."""

import asyncio
import datetime
import json
import math
import os
import random
import re
import signal
import subprocess
import sys
import threading
import zipfile
from pathlib import Path
from types import SimpleNamespace

import httpx2
import openai
import pytest
import vcr
import yaml
from hypothesis import given, settings
from hypothesis import strategies as st
from test_chat import Endpoint, error, reply

from collabtax import __version__, cassettes, transport
from collabtax.cassettes import Cassette, CassetteMiss, Conversation, compact, pack, read_interactions
from collabtax.chat import Chat
from collabtax.models import Model
from collabtax.sim.endpoint import Server
from collabtax.transport import CassetteTransport

KEY = "sk-fake-0123456789abcdef"
SETTINGS = {"model": "m", "temperature": 0.7}
URL = "http://in-process/v1/chat/completions"


def user(*texts):
    """Messages of a dialogue: the user's and the model's in turn."""
    return [{"role": ("user", "assistant")[i % 2], "content": text} for i, text in enumerate(texts)]


def conversation(*texts, **more):
    return Conversation({**SETTINGS, **more}, user(*texts))


def record(path, *dialogues, mode="new_episodes", about=None):
    """Save the answers of dialogues: each is texts of user and model in turn."""
    with Cassette(path, mode, about) as cassette:
        for texts in dialogues:
            for i in range(1, len(texts), 2):
                asked = Conversation(SETTINGS, user(*texts[:i]))
                if cassette.take(asked.digest()) is None:
                    cassette.save(asked, URL, json.dumps(reply(texts[i])), 0.25)
    return cassette


def said(response):
    return json.loads(response["body"]["string"])["choices"][0]["message"]["content"]


def talk(rollouts, url="http://127.0.0.1:9/v1", mode="new_episodes", turns=3, name="m", chat=False, key=KEY):
    """Run dialogues at once in one process: path -> first prompt. Returns path -> what was said, or the error."""

    async def bare(client, path, prompt):
        messages, heard = [{"role": "user", "content": prompt}], []
        with Cassette(path, mode):
            for turn in range(turns):
                done = await client.chat.completions.create(model=name, messages=messages, temperature=0.7)
                heard.append(done.choices[0].message.content)
                messages = user(*(m["content"] for m in messages), heard[-1], f"turn {turn}")
                await asyncio.sleep(0)
        return heard

    async def through_chat(chat, path, prompt):
        model, heard = Model(name, name, base_url=url), []
        asked = Conversation(model.settings(0.7), [{"role": "user", "content": prompt}])
        with Cassette(path, mode):
            for turn in range(turns):
                heard.append((await chat.complete(model, asked)).text)
                asked.add("assistant", heard[-1])
                asked.add("user", f"turn {turn}")
        return heard

    async def go():
        if chat:
            asker = Chat()
            results = await asyncio.gather(*(through_chat(asker, *r) for r in rollouts.items()), return_exceptions=True)
            await asker.aclose()
        else:
            http = httpx2.AsyncClient(transport=CassetteTransport())
            client = openai.AsyncOpenAI(api_key=key, base_url=url, http_client=http, max_retries=0)
            results = await asyncio.gather(*(bare(client, *r) for r in rollouts.items()), return_exceptions=True)
            await client.close()
        return dict(zip(rollouts, results, strict=True))

    return asyncio.run(go())


@pytest.fixture(autouse=True)
def key(monkeypatch):
    monkeypatch.setenv("OPENAI_API_KEY", KEY)


@pytest.fixture
def counting():
    """An endpoint whose every answer is another one."""
    numbers = iter(range(10**6))
    with Endpoint(lambda body: reply(f"answer {next(numbers)} to {len(body['messages'])}")) as endpoint:
        yield endpoint


# Record and replay


@pytest.mark.parametrize("chat", [False, True], ids=["bare client", "Chat"])
def test_concurrent_rollouts_keep_apart(tmp_path, counting, chat):
    rollouts = {tmp_path / f"{i:04d}.yaml": "the same prompt" for i in range(12)}
    live = talk(rollouts, counting.url, chat=chat)
    heard = [text for texts in live.values() for text in texts]
    assert len(set(heard)) == len(heard) == len(counting.asked) == 36
    replayed = talk(rollouts, mode="none", chat=not chat)
    assert replayed == live
    assert len(counting.asked) == 36
    assert [len(read_interactions(p.read_bytes())[1]) for p in rollouts] == [3] * 12


def test_the_simulated_endpoint_over_http(tmp_path):
    with Server(0) as server:
        threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True).start()
        live = talk({tmp_path / "0.yaml": "hello"}, server.url, name="sim/scripted=5")
        server.shutdown()
    assert talk({tmp_path / "0.yaml": "hello"}, mode="none", name="sim/scripted=5") == live
    assert talk({tmp_path / "0.yaml": "hello"}, mode="none", name="sim/scripted=5", chat=True) == live


def test_equal_requests_are_recorded_each_and_replayed_in_order(tmp_path, counting):
    path = tmp_path / "0.yaml"
    model = Model("m", "m", base_url=counting.url)

    async def go(mode, times):
        chat = Chat()
        with Cassette(path, mode) as cassette:
            heard = [(await chat.complete(model, conversation("again"))).text for _ in range(times)]
        await chat.aclose()
        return heard, cassette.unplayed

    live, _ = asyncio.run(go("new_episodes", 4))
    assert len(set(live)) == 4
    assert asyncio.run(go("none", 4)) == (live, 0)
    assert asyncio.run(go("none", 3)) == (live[:3], 1)
    more, _ = asyncio.run(go("new_episodes", 5))
    assert more[:4] == live
    assert more[4] not in live
    with pytest.raises(CassetteMiss, match="recorded 5 times, and played as often already"):
        asyncio.run(go("none", 6))


def test_compressed_replies_are_stored_as_text(tmp_path):
    with Endpoint((200, reply("ünpacked"), {"content-encoding": "gzip"})) as endpoint:
        live = talk({tmp_path / "0.yaml": "x"}, endpoint.url)
    assert "ünpacked" in (tmp_path / "0.yaml").read_text(encoding="utf-8")
    assert talk({tmp_path / "0.yaml": "x"}, mode="none") == live


def test_without_a_cassette_nothing_is_sent(counting):
    async def go(path="/chat/completions"):
        async with httpx2.AsyncClient(transport=CassetteTransport()) as client:
            await client.post(counting.url + path, json={"messages": []})

    with pytest.raises(RuntimeError, match="outside of any cassette"):
        asyncio.run(go())
    assert counting.asked == []


def test_only_chat_completions_pass(tmp_path, counting):
    async def go():
        with Cassette(tmp_path / "0.yaml", "all"):
            async with httpx2.AsyncClient(transport=CassetteTransport()) as client:
                await client.post(counting.url + "/embeddings", json={})

    with pytest.raises(RuntimeError, match="/v1/embeddings"):
        asyncio.run(go())
    assert counting.asked == []


def test_record_modes(tmp_path, counting):
    path, other = tmp_path / "0.yaml", tmp_path / "1.yaml"
    missed = talk({other: "x"}, counting.url, "none")[other]
    assert isinstance(missed, CassetteMiss)
    assert "nothing is recorded" in str(missed)
    assert not other.exists()
    assert counting.asked == []
    live = talk({path: "x"}, counting.url, "once")[path]
    assert len(counting.asked) == 3
    assert talk({path: "x"}, counting.url, "once")[path] == live
    assert isinstance(talk({path: "y"}, counting.url, "once")[path], CassetteMiss)
    assert len(counting.asked) == 3
    assert talk({path: "x"}, counting.url, "new_episodes", turns=4)[path][:3] == live
    assert len(counting.asked) == 4
    anew = talk({path: "x"}, counting.url, "all")[path]
    assert not set(anew) & set(live)
    assert talk({path: "x"}, mode="none")[path] == anew


def test_mode_all_keeps_the_old_recording_until_the_new_one_is_whole(tmp_path, counting):
    path = tmp_path / "0.yaml"
    live = talk({path: "x"}, counting.url)[path]
    before = path.read_bytes()

    def stopped():
        with Cassette(path, "all") as cassette:
            cassette.save(conversation("x"), URL, json.dumps(reply()), 0.0)
            assert path.read_bytes() == before
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        stopped()
    assert path.read_bytes() == before
    with Cassette(path, "all"):
        pass
    assert path.read_bytes() == before
    assert talk({path: "x"}, mode="none")[path] == live
    record(path, ["x", "new"], mode="all")
    assert said(Cassette(path, "none").take(conversation("x").digest())) == "new"
    assert os.listdir(tmp_path) == ["0.yaml"]


def test_a_resume_asks_only_for_what_is_missing(tmp_path, counting):
    path = tmp_path / "0.yaml"
    live = talk({path: "x"}, counting.url, turns=4)[path]
    lines = path.read_bytes().splitlines(keepends=True)
    path.write_bytes(b"".join(lines[:-2]))
    asked = counting.asked[:]
    resumed = talk({path: "x"}, counting.url, turns=4, chat=True)[path]
    assert resumed[:2] == live[:2]
    assert len(counting.asked) == 6
    assert counting.asked[4] == asked[2]
    assert talk({path: "x"}, mode="none", turns=4)[path] == resumed


def test_latency_is_stored_and_told_again(tmp_path, monkeypatch, counting):
    clock = iter([100.0, 101.25])
    monkeypatch.setattr(transport, "time", SimpleNamespace(perf_counter=lambda: next(clock)))
    model = Model("m", "m", base_url=counting.url)

    async def go(mode):
        chat = Chat()
        with Cassette(tmp_path / "0.yaml", mode):
            completion = await chat.complete(model, conversation("x"))
        await chat.aclose()
        return completion.seconds

    assert asyncio.run(go("once")) == 1.25
    assert asyncio.run(go("none")) == 1.25

    async def bare():
        with Cassette(tmp_path / "0.yaml", "none"):
            async with httpx2.AsyncClient(transport=CassetteTransport()) as client:
                body = {**SETTINGS, "messages": user("x")}
                return (await client.post(counting.url + "/chat/completions", json=body)).extensions["seconds"]

    assert asyncio.run(bare()) == 1.25


NO_ANSWERS = {
    "429": (429, error("rate_limit_exceeded"), {"retry-after": "0"}),
    "500": (500, b"oops", {}),
    "401": (401, error("invalid_api_key"), {}),
    "400": (400, error("unsupported_parameter"), {}),
    "empty choices": {"choices": []},
    "null content": reply(None),
    "filter": reply("half", "content_filter"),
    "cut": json.dumps(reply()).encode()[:70],
    "no JSON": b"<html></html>",
    "a list": b"[1]",
}


@pytest.mark.parametrize("item", NO_ANSWERS.values(), ids=NO_ANSWERS)
def test_what_is_no_answer_is_never_recorded(tmp_path, item):
    path = tmp_path / "0.yaml"
    with Endpoint(item, reply("right")) as endpoint:
        talk({path: "x"}, endpoint.url, turns=1)
        assert not path.exists() or read_interactions(path.read_bytes())[1] == []
        assert talk({path: "x"}, endpoint.url, turns=1, chat=True)[path] == ["right"]
    assert len(endpoint.asked) == 2


def test_no_secret_reaches_a_file(tmp_path):
    echo = {
        "set-cookie": "session=cookie-12345",
        "x-request-id": "req_98765abc",
        "openai-organization": "org-Zx98765Yw",
    }
    told = reply(f"your key is {KEY}, I think") | {"id": f"req_98765abc-{KEY}", "organization": "org-Zx98765Yw"}
    bad = (401, error("invalid_api_key", f"{KEY} of org-Zx98765Yw, req_98765abc"), echo)
    answer = (200, told, {**echo, "x-echo": KEY})
    path = tmp_path / "c" / "0.yaml"

    async def with_a_query():
        with Cassette(path, "new_episodes"):
            async with httpx2.AsyncClient(transport=CassetteTransport()) as client:
                body = {"model": "other", "messages": user("x")}
                for who, sent in (("", {"authorization": f"Bearer {KEY}"}), ("name:passw0rd9@", {})):
                    url = endpoint.url.replace("://", f"://{who}") + "/chat/completions?key=Query7secret"
                    await client.post(url, json=body, headers=sent)

    with Endpoint(*[answer] * 4, reply(), bad) as endpoint:
        live = talk({path: f"what is my key? {KEY}"}, endpoint.url)[path]
        asyncio.run(with_a_query())
        failed = talk({tmp_path / "c" / "1.yaml": "x"}, endpoint.url, chat=True)
    assert f"Bearer {KEY}" in str(endpoint.headers)
    written = [p.read_bytes() for p in tmp_path.rglob("*") if p.is_file()]
    assert len(written) == 1
    secrets = (KEY, "cookie-12345", "req_98765abc", "org-Zx98765Yw", "passw0rd9", "Query7secret", "fp_9", "chatcmpl-")
    for secret in secrets:
        assert secret.encode() not in written[0], secret
        assert secret not in str(failed)
    assert live == ["your key is ***, I think"] * 3
    assert talk({path: f"what is my key? {KEY}"}, mode="none")[path] == live


def test_the_header_tells_where_answers_come_from(tmp_path):
    path = tmp_path / "0.yaml"
    record(path, ["x", "y"], about={"models": {"m": "api.example.com"}})
    whole = yaml.safe_load(path.read_text(encoding="utf-8"))
    assert whole["version"] == 1
    assert whole["metadata"]["models"] == {"m": "api.example.com"}
    assert whole["metadata"]["suite"] == __version__
    assert datetime.date.fromisoformat(str(whole["metadata"]["recorded"]))
    assert Cassette(path, "none").metadata == whole["metadata"]
    assert Model("m", "m", base_url="https://u:p@host:1/v1").host == "host:1"


# The request and its digest

texts = st.text(st.characters() | st.sampled_from("\x7f\x85\x9f\u2028\u2029\ufeff\ufffe\uffff\ud800\udfff\0\U0001f642"))


@given(st.lists(texts, min_size=1, max_size=5), st.permutations(["model", "temperature", "max_tokens", "seed"]))
def test_the_digest_is_of_the_request_alone(contents, keys):
    values = {"model": "m", "temperature": 0.7, "max_tokens": 5, "seed": None}
    grown = Conversation(values)
    for message in user(*contents):
        before = grown.digest()
        grown.add(message["role"], message["content"])
        assert grown.digest() != before
    body = {"messages": [dict(reversed(m.items())) for m in user(*contents)], **{k: values[k] for k in keys}}
    assert Conversation.of_request(json.loads(json.dumps(body))).digest() == grown.digest()
    assert Conversation.of_request(grown.request()).digest() == grown.digest()
    assert Conversation.of_request({**body, "temperature": 0.8}).digest() != grown.digest()


def test_no_part_of_a_message_is_left_out_of_the_digest():
    plain = {"messages": [{"role": "user", "content": "x"}]}
    named = {"messages": [{"role": "user", "content": "x", "name": "Ann"}]}
    parts = {"messages": [{"role": "user", "content": [{"type": "text", "text": "x"}]}]}
    assert len({Conversation.of_request(b).digest() for b in (plain, named, parts)}) == 3


@settings(max_examples=60)
@given(st.lists(texts, min_size=2, max_size=4))
def test_every_text_survives_and_the_file_is_yaml(contents):
    asked, answer = conversation(contents[0]), contents[1] + "."
    body = json.dumps(reply(answer), ensure_ascii=len(contents) % 2 == 0)
    data = cassettes.line(cassettes._interaction(asked, URL, cassettes.clean_reply(body), 0.0))
    data = b"version: 1\ninteractions:\n" + data
    entry = read_interactions(data)[1][0]
    assert said(entry["response"]) == answer
    assert json.loads(entry["request"]["body"])["messages"] == user(contents[0])
    assert yaml.load(data, yaml.CSafeLoader)["interactions"] == [entry]
    if len(data) < 700:
        assert yaml.load(data.decode(), yaml.SafeLoader)["interactions"] == [entry]


def test_a_dialogue_is_stored_once(tmp_path):
    def size(calls):
        path = tmp_path / f"{calls}.yaml"
        record(path, [f"{'word ' * 12}{i}" for i in range(2 * calls)])
        return path.stat().st_size

    small, large = size(50), size(100)
    assert large < 2.05 * small
    assert large < 100 * 1024
    packed = tmp_path / "packed"
    packed.mkdir()
    (tmp_path / "100.yaml").rename(packed / "100.yaml")
    assert next(pack(packed)).stat().st_size < 50 * 1024


# Misses

RECORDED = ["Where is the door?", "In row 3.", "And the key?", "Under the mat."]
MISSES = {
    "edited": (
        ["Where is the floor?"],
        {},
        ["call 1", "message 1 (user) differs at character 14", "'Where is the floor"],
    ),
    "longer": (["Where is the door? Tell"], {}, ["message 1 (user) differs at character 19"]),
    "later": ([*RECORDED[:2], "And the lock?"], {}, ["call 2", "message 3 (user) differs at character 9", "key?"]),
    "setting": (RECORDED[:1], {"temperature": 0.2}, ["temperature is 0.2, recorded with 0.7"]),
    "new setting": (RECORDED[:1], {"seed": 4}, ["seed is 4, recorded with None"]),
    "model": (RECORDED[:1], {"model": "other"}, ["model other", "the recordings are of m"]),
    "further": ([*RECORDED, "Thanks"], {}, ["call 3", "the recordings end before message 5"]),
    "answer": ([RECORDED[0], "In row 4.", RECORDED[2]], {}, ["an earlier answer in it differs"]),
}


@pytest.mark.parametrize(("texts", "more", "says"), MISSES.values(), ids=MISSES)
def test_a_miss_names_the_request_the_difference_and_the_remedy(tmp_path, texts, more, says):
    path = tmp_path / "maze-solo-m" / "0007.yaml"
    record(path, RECORDED)
    with Cassette(path, "none") as cassette, pytest.raises(CassetteMiss) as told:
        asyncio.run(Chat().complete(Model("m", "m"), conversation(*texts, **more)))
    for part in (
        *says,
        "maze-solo-m seed 7",
        "maze-solo-m/0007.yaml",
        "--record-mode=new_episodes",
        "--record-mode=all",
    ):
        assert part in str(told.value), str(told.value)
    assert "\n" not in str(told.value)
    assert cassette.unplayed == 2


def test_a_miss_of_a_message_that_is_new_or_missing_and_of_mixed_settings(tmp_path):
    path = tmp_path / "0.yaml"
    both = [{"role": "system", "content": "rules"}, {"role": "user", "content": "x"}]
    cold = {**SETTINGS, "temperature": 0.5}
    with Cassette(path, "once") as cassette:
        cassette.save(Conversation(SETTINGS, both), URL, json.dumps(reply()), 0.0)
        cassette.save(Conversation(cold, user("read this")), URL, json.dumps(reply()), 0.0)
    replaying = Cassette(path, "none")
    assert "message 2 is missing" in str(replaying.miss(Conversation(SETTINGS, both[:1])))
    assert "message 3 is new" in str(replaying.miss(Conversation(SETTINGS, [*both, both[1]])))
    said = str(replaying.miss(Conversation(cold, user("read that"))))
    assert "differs at character 8" in said
    assert "temperature" not in said


def test_unplayed_recordings_are_counted(tmp_path):
    record(tmp_path / "0.yaml", RECORDED)
    cassette = Cassette(tmp_path / "0.yaml", "none")
    assert cassette.unplayed == 2
    assert cassette.take("no such digest") is None
    cassette.take(conversation(RECORDED[0]).digest())
    assert cassette.unplayed == 1


# Crashes


def test_a_torn_end_is_ignored_and_cut(tmp_path):
    path = tmp_path / "0.yaml"
    record(path, ["a", "b", "c", "d"], about={"models": {"m": "h"}})
    whole = path.read_bytes()
    for end in range(len(whole) + 1):
        data = whole[:end]
        path.write_bytes(data)
        kept = max(0, data.count(b"\n") - 3)
        for mode in ("none", "once"):
            assert Cassette(path, mode).unplayed == kept
        with Cassette(path, "new_episodes") as cassette:
            assert cassette.unplayed == kept
            cassette.save(conversation("new"), URL, json.dumps(reply()), 0.0)
        healed = path.read_bytes()
        assert len(read_interactions(healed)[1]) == kept + 1
        if kept == 2 or end % 97 == 0:
            assert len(yaml.load(healed, yaml.CSafeLoader)["interactions"]) == kept + 1


def test_a_second_writer_is_refused_before_it_pays(tmp_path, counting):
    path = tmp_path / "0.yaml"
    for mode in ("new_episodes", "all"):
        with Cassette(path, mode) as first:
            first.save(conversation("x"), URL, json.dumps(reply()), 0.0)
            told = talk({path: "y"}, counting.url, mode)[path]
            assert "being written by another process" in str(told)
    assert counting.asked == []
    assert len(talk({path: "y"}, counting.url)[path]) == 3


def test_a_file_that_was_held_in_vain_is_not_left(tmp_path):
    with Cassette(tmp_path / "0.yaml", "once") as cassette:
        cassette.hold()
        assert (tmp_path / "0.yaml").exists()
    assert list(tmp_path.iterdir()) == []


def test_a_full_disk_leaves_no_half_line(tmp_path, monkeypatch):
    path = tmp_path / "0.yaml"
    record(path, ["a", "b"])
    write = os.write

    def full(fd, data):
        if len(data) < 100:
            raise OSError(28, "No space left on device")
        return write(fd, data[: len(data) // 2])

    with Cassette(path, "new_episodes") as cassette:
        monkeypatch.setattr(os, "write", full)
        with pytest.raises(OSError, match="No space"):
            cassette.save(conversation("lost"), URL, json.dumps(reply()), 0.0)
        monkeypatch.undo()
        cassette.save(conversation("kept"), URL, json.dumps(reply()), 0.0)
    assert Cassette(path, "none").unplayed == 2


WRITER = """
import sys
from pathlib import Path
from collabtax.cassettes import Cassette, Conversation
path, start = Path(sys.argv[1]), int(sys.argv[2])
text = '{"choices": [{"message": {"role": "assistant", "content": "%s"}}]}' % ("x" * 3000)
with Cassette(path, "new_episodes") as cassette:
    for i in range(start, 10**6):
        cassette.save(Conversation({"model": "m"}, [{"role": "user", "content": str(i)}]), "http://h/v1", text, 0.0)
        sys.stdout.write(f"{i}\\n")
        sys.stdout.flush()
"""


def test_kill_9_loses_no_finished_call(tmp_path):
    path, draw, done = tmp_path / "0.yaml", random.Random(4), 0
    for _ in range(5):
        writer = [sys.executable, "-c", WRITER, str(path), str(done)]
        child = subprocess.Popen(writer, stdout=subprocess.PIPE, cwd=Path(__file__).parents[1])
        for _ in range(draw.randrange(1, 60)):
            child.stdout.readline()
        os.kill(child.pid, signal.SIGKILL)
        told = child.stdout.read().split()
        child.wait()
        child.stdout.close()
        stored = [
            json.loads(e["request"]["body"])["messages"][0]["content"] for e in read_interactions(path.read_bytes())[1]
        ]
        assert stored == [str(i) for i in range(len(stored))], "none twice, none missing"
        assert not told or int(told[-1]) < len(stored)
        done = len(stored)
    assert done > 20


def lossy(path):
    """A cassette of two calls, each with losses before its answer, and losses after the last."""
    asked = [conversation("one"), conversation("one", "1", "two"), conversation("one", "1", "two", "2", "three")]
    with Cassette(path, "new_episodes") as cassette:
        for number, one in enumerate(asked):
            cassette.lose(one, {"prompt": 10})
            cassette.lose(one, {"prompt": 10, "completion": 1})
            if number < 2:
                cassette.save(one, URL, json.dumps(reply(str(number + 1))), 0.25)
    return asked


def test_what_was_billed_in_vain_is_a_comment_and_counts_once(tmp_path):
    path = tmp_path / "c" / "0.yaml"
    asked = lossy(path)
    data = path.read_bytes()
    assert [entry["response"]["body"]["string"].count("content") for entry in read_interactions(data)[1]] == [1, 1]
    document = yaml.safe_load(data)
    assert len(document["interactions"]) == 2
    with vcr.VCR(record_mode="none").use_cassette(str(path)) as tape:
        assert len(tape.requests) == 2
    for _ in range(2):
        cassette = Cassette(path, "none")
        assert [cassette.take_lost(one.digest()) for one in asked] == [{"prompt": 20, "completion": 1}] * 3
        assert cassette.take_lost(asked[0].digest()) == {}
        path = path if _ else next(pack(tmp_path)).with_suffix("") / "0.yaml"  # packed likewise


def test_a_cell_that_was_billed_for_nothing_has_no_recording(tmp_path):
    path, asked = tmp_path / "0.yaml", conversation("x")
    with Cassette(path, "new_episodes", {"models": {"m": "h"}}) as cassette:
        cassette.lose(asked, {"prompt": 7})
    for mode in ("once", "new_episodes"):
        again = Cassette(path, mode)
        assert again.is_empty
        assert again.may_record
        assert again.metadata["models"] == {"m": "h"}
    with Cassette(path, "none") as cassette, pytest.raises(CassetteMiss, match="nothing is recorded"):
        raise cassette.miss(asked)
    whole = path.read_bytes()
    for end in range(len(whole)):
        path.write_bytes(whole[:end])
        with Cassette(path, "new_episodes") as cassette:
            assert cassette.take_lost(asked.digest()) == {}
            cassette.save(asked, URL, json.dumps(reply("1")), 0.25)
        assert len(read_interactions(path.read_bytes())[1]) == 1


def test_an_endpoint_that_only_cost_may_be_left_for_another(tmp_path):
    path, asked = tmp_path / "0.yaml", conversation("x")
    with Cassette(path, "new_episodes", {"models": {"m": "first"}}) as cassette:
        cassette.lose(asked, {"prompt": 7})
    with Cassette(path, "new_episodes", {"models": {"m": "second"}}) as cassette:
        cassette.lose(asked, {"prompt": 5})
        cassette.save(asked, URL, json.dumps(reply("1")), 0.25)
    again = Cassette(path, "none")
    assert again.metadata["models"] == {"m": "second"}
    assert again.take_lost(asked.digest()) == {"prompt": 12}
    with pytest.raises(RuntimeError, match="holds answers of m from second"):
        Cassette(path, "new_episodes", {"models": {"m": "third"}}).hold()


@pytest.mark.parametrize(
    "comment", ["", "{", '{"lost":', '{"lost": 7}', '{"lost": "x", "usage": 3}', '{"lost":[],"usage":{"prompt":1}}',
                '{"lost":"DIGEST","usage":{"prompt":-5,"cached":"9","completion":true,"reasoning":1e99}}',
                '{"lost":' + "[" * 100_000],
)  # fmt: skip
def test_comments_of_strangers_cost_nothing(tmp_path, comment):
    path, asked = tmp_path / "0.yaml", conversation("x")
    record(path, ["x", "1"])
    path.write_bytes(path.read_bytes() + f"# {comment}\n".replace("DIGEST", asked.digest()).encode())
    cassette = Cassette(path, "new_episodes")
    assert cassette.take_lost(asked.digest()) == {}
    assert said(cassette.take(asked.digest())) == "1"


# VCR.py


def test_stock_vcrpy_reads_ours(tmp_path):
    path = tmp_path / "0.yaml"
    odd = "a\x7f\x85\u2028\ufeff\ufffe\ud83d \U0001f642 \0"
    record(path, ["one", odd], ["two", "plain"], about={"models": {"m": "h"}})
    before = path.read_bytes()
    with vcr.VCR(record_mode="none").use_cassette(str(path)) as tape:
        assert [said({"body": {"string": r["body"]["string"].decode()}}) for r in tape.responses] == [odd, "plain"]
        assert [r.uri for r in tape.requests] == [URL, URL]
        with httpx2.Client() as client:
            heard = [client.post(URL, json={}).json()["choices"][0]["message"]["content"] for _ in range(2)]
        assert heard == [odd, "plain"]
    assert path.read_bytes() == before


@pytest.mark.parametrize("encoding", [{}, {"content-encoding": "gzip"}], ids=["plain", "gzip"])
def test_what_stock_vcrpy_recorded_replays_through_ours(tmp_path, encoding):
    path = tmp_path / "0.yaml"
    limited = (429, error("rate_limit_exceeded"), {"retry-after": "0", "retry-after-ms": "1"})
    with Endpoint(limited, (200, reply("first ü"), encoding), (200, reply("second"), encoding)) as endpoint:
        with vcr.VCR(record_mode="once").use_cassette(str(path)):
            client = openai.OpenAI(api_key=KEY, base_url=endpoint.url)
            for messages in (user("x"), user("x", "first ü", "turn 0")):
                client.chat.completions.create(model="m", messages=messages, temperature=0.7)
            client.close()
        assert len(endpoint.asked) == 3
    stock = path.read_bytes()
    assert stock.startswith(b"interactions:")
    for chat in (False, True):
        assert talk({path: "x"}, mode="none", turns=2, chat=chat) == {path: ["first ü", "second"]}
    path.write_bytes(stock.rstrip(b"\n"))
    assert Cassette(path, "none").unplayed == 2


@pytest.mark.parametrize("mode", ["new_episodes", "once"])
def test_nothing_is_added_to_a_file_that_vcrpy_wrote(tmp_path, counting, mode):
    path = tmp_path / "0.yaml"
    with vcr.VCR(record_mode="once").use_cassette(str(path)):
        client = openai.OpenAI(api_key=KEY, base_url=counting.url)
        client.chat.completions.create(model="m", messages=user("x"), temperature=0.7)
        client.close()
    stock = path.read_bytes()
    told = talk({path: "x"}, counting.url, mode)[path]
    assert "move it away" in str(told)
    assert path.read_bytes() == stock
    assert len(counting.asked) == 1


# Packed cells


def test_a_packed_cell_replays_the_same_and_can_grow(tmp_path, counting):
    cell = tmp_path / "tax" / "maze-solo-gpt-4.1"
    rollouts = {cell / f"{i:04d}.yaml": "x" for i in range(3)}
    live = talk(rollouts, counting.url)
    loose = {p.name: p.read_bytes() for p in rollouts}
    target = cell.with_name(cell.name + ".zip")
    assert list(pack(tmp_path)) == [target]
    packed = target.read_bytes()
    assert not cell.exists()
    assert talk(rollouts, mode="none", chat=True) == live
    assert isinstance(talk({cell / "0009.yaml": "x"}, mode="none")[cell / "0009.yaml"], CassetteMiss)
    assert list(pack(tmp_path)) == []
    cell.mkdir()
    for name, data in reversed(loose.items()):
        (cell / name).write_bytes(data)
    assert list(pack(tmp_path)) == [target]
    assert target.read_bytes() == packed
    grown = talk(rollouts, counting.url, turns=4)
    assert {p: texts[:3] for p, texts in grown.items()} == live
    assert len(counting.asked) == 12
    assert list(pack(tmp_path)) == [target]
    assert talk(rollouts, mode="none", turns=4) == grown
    anew = talk(rollouts, counting.url, "all")
    assert talk(rollouts, mode="none") == anew


def test_a_cell_under_way_is_not_packed(tmp_path):
    record(tmp_path / "a" / "0.yaml", ["x", "y"])
    record(tmp_path / "b" / "0.yaml", ["x", "y"])
    with Cassette(tmp_path / "a" / "0.yaml", "new_episodes") as cassette:
        cassette.hold()
        assert list(pack(tmp_path)) == [tmp_path / "b.zip"]
    assert (tmp_path / "a" / "0.yaml").exists()


# Strangers' files

HEAD = b"version: 1\ninteractions:\n"
BODY = "{method: POST, uri: 'http://h/v1/chat/completions', body: '{}', headers: {}}"
OK = "{status: {code: 200, message: OK}, headers: {}, body: {string: '{}'}}"
BOMB = b"a: &a {k: v}\n" + b"".join(
    f"{c}: &{c} {{<<: [{', '.join([f'*{p}'] * 12)}]}}\n".encode()
    for p, c in zip("abcdefghij", "bcdefghijk", strict=True)
)
LISTS = b"metadata:\n  a: &a [x, x, x]\n" + b"".join(
    f"  {c}: &{c} [{', '.join([f'*{p}'] * 12)}]\n".encode() for p, c in zip("abcdefgh", "bcdefghi", strict=True)
)
HOSTILE = {
    "python tag": b"version: 1\ninteractions:\n- !!python/object/apply:os.system ['touch MARK']\n",
    "python name": b"interactions: !!python/name:os.system ''\nversion: 1\n",
    "merge bomb": BOMB + b"interactions: []\nversion: 1\n",
    "list bomb": LISTS + f"interactions:\n- request: {BODY}\n  response: *i\nversion: 1\n".encode(),
    "bomb as body": LISTS + b"interactions:\n- request: {method: POST, uri: 'http://h/chat/completions', body: *i, "
    + f"headers: {{}}}}\n  response: {OK}\n".encode(),
    "text": b"hello\n",
    "nothing but a list": b"- a\n- b\n",
    "old": b"- request: {}\n  response: {}\n",
    "bytes": b"\xff\xfe\x00\n",
    "bytes in ours": HEAD + b'- {"request": "\xff"}\n',
    "no JSON": HEAD + b'- {"request": nonsense}\n',
    "deep": HEAD + b'- {"a":' + b"[" * 100_000 + b"\n",
    "a list in ours": HEAD + b"- {}\n",
    "no digest": HEAD + b'- {"request": {"headers": {}}, "response": {}}\n',
    "digest a list": HEAD + b'- {"request": {"headers": {"x-body-sha256": [[]]}, "body": "{}"}, "response": {}}\n',
    "body a number": HEAD
    + b'- {"request": {"headers": {"x-body-sha256": ["d"]}, "body": "{}"}, "response": {"status": {"code": 200}, '
    b'"headers": {}, "body": {"string": 5}}}\n',
    "head a list": b"version: 1\nmetadata: {]}\ninteractions:\n- {}\n",
}  # fmt: skip


@pytest.mark.parametrize("data", HOSTILE.values(), ids=HOSTILE)
@pytest.mark.parametrize("packed", [False, True], ids=["loose", "packed"])
def test_a_hostile_file_is_refused_in_one_line(tmp_path, monkeypatch, data, packed):
    monkeypatch.chdir(tmp_path)
    path = tmp_path / "cell" / "0.yaml"
    if packed:
        with zipfile.ZipFile(tmp_path / "cell.zip", "w") as archive:
            archive.writestr("0.yaml", data)
    else:
        path.parent.mkdir()
        path.write_bytes(data)
    before = sorted(tmp_path.rglob("*"))
    with pytest.raises(ValueError) as told:
        Cassette(path, "none")
    assert "cell/0.yaml" in str(told.value)
    assert str(tmp_path) not in str(told.value), "results hold no path of a machine"
    assert "\n" not in str(told.value)
    assert len(str(told.value)) < 500 + len(str(path))
    assert sorted(tmp_path.rglob("*")) == before


def test_a_recording_that_cannot_be_compared_is_a_plain_miss(tmp_path):
    path = tmp_path / "0.yaml"
    record(path, ["x", "y"])
    path.write_bytes(path.read_bytes().replace(rb"\"n_messages\":1", rb"\"n_messages\":[]"))
    assert "not recorded" in str(Cassette(path, "none").miss(conversation("z")))
    path.write_bytes(path.read_bytes().replace(rb"{\"model\"", rb"\"model\""))
    assert "cannot be compared" in str(Cassette(path, "none").miss(conversation("z")))


def test_a_hostile_archive_touches_nothing(tmp_path):
    cell = tmp_path / "in" / "cell"
    cell.parent.mkdir()
    outside = tmp_path / "x.yaml"
    with zipfile.ZipFile(tmp_path / "in" / "cell.zip", "w") as archive:
        archive.writestr("../../x.yaml", b"evil")
        archive.writestr("/0.yaml", b"evil")
    assert Cassette(cell / "0.yaml", "none").is_empty
    record(cell / "0.yaml", ["x", "y"])
    assert list(pack(tmp_path)) == [tmp_path / "in" / "cell.zip"]
    assert Cassette(cell / "0.yaml", "none").unplayed == 1
    assert not outside.exists()
    assert sorted(p.name for p in tmp_path.rglob("*")) == ["cell.zip", "in"]


@pytest.mark.parametrize("break_it", ["no zip", "bad sum", "unknown method"])
def test_a_broken_archive_is_refused_in_one_line(tmp_path, break_it):
    target = tmp_path / "cell.zip"
    with zipfile.ZipFile(target, "w") as archive:
        archive.writestr("0.yaml", b"version: 1\ninteractions:\n")
    data = bytearray(target.read_bytes())
    if break_it == "no zip":
        data = data[:-10]
    elif break_it == "bad sum":
        data[data.index(b"version")] ^= 1
    else:
        at = data.index(b"PK\x01\x02")
        data[8] = data[at + 10] = 77
    target.write_bytes(data)
    with pytest.raises(ValueError, match=r"cell\.zip") as told:
        Cassette(tmp_path / "cell" / "0.yaml", "none")
    assert "\n" not in str(told.value)


def test_compact_json_is_the_same_json():
    for value in ("é", "\ud83d", {"b": 1, "a": "\u2028"}):
        assert json.loads(compact(value)) == value
    assert compact("é") == '"é"'
    assert compact("\ud83d").isascii()


def test_once_takes_a_file_in_which_nothing_was_recorded_for_no_cassette(tmp_path):
    path = tmp_path / "0.yaml"
    for begun in (b"", b"version: 1\n", b"version: 1\nmetadata: {}\ninteractions:\n"):
        path.write_bytes(begun)
        assert Cassette(path, "once").may_record
    record(path, ["x", "y"])
    assert not Cassette(path, "once").may_record


@pytest.mark.parametrize("models", [None, [1], "m"])
def test_a_header_without_a_table_of_models_is_refused(tmp_path, models):
    path = tmp_path / "c" / "0.yaml"
    record(path, ("a", "b"), about={"models": {"m": "h"}})
    whole = path.read_bytes()
    path.write_bytes(whole.replace(b'{"m": "h"}', json.dumps(models).encode()))
    assert path.read_bytes() != whole
    with pytest.raises(ValueError, match=r"c/0\.yaml: its header has no table of models.*--record-mode=all"):
        Cassette(path, "new_episodes", {"models": {"m": "h"}})


@pytest.mark.parametrize("seconds", ["x", None, -1, math.nan, math.inf, [1]])
def test_a_time_that_is_none_is_refused(tmp_path, seconds):
    path = tmp_path / "c" / "0.yaml"
    record(path, ("a", "b"))
    whole = path.read_bytes()
    path.write_bytes(re.sub(rb'"seconds":[0-9.]+', b'"seconds":' + json.dumps(seconds).encode(), whole))
    assert path.read_bytes() != whole
    with pytest.raises(ValueError, match="a line is no recorded call"):
        Cassette(path, "none")


def test_what_another_process_recorded_meanwhile_is_not_bought_again(tmp_path):
    """Opened, then overtaken: the call is not made, and the next run replays it."""
    path, asked = tmp_path / "c.yaml", conversation("hello")
    answer = json.dumps({"choices": [{"message": {"content": "hi"}, "finish_reason": "stop"}]})
    with Cassette(path, "new_episodes") as late:
        assert late.take(asked.digest()) is None
        with Cassette(path, "new_episodes") as early:
            early.save(asked, "http://127.0.0.1/v1/chat/completions", answer, 0.1)
        with pytest.raises(RuntimeError, match="has grown by another process; the next run goes on from there"):
            late.hold()
    with Cassette(path, "new_episodes") as again:
        assert again.take(asked.digest()) is not None
