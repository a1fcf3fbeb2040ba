"""Asking a model: what is sent, what is understood, what is tried again, what is said when all fails."""

import asyncio
import contextlib
import gzip
import json
import socket
import struct
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from types import SimpleNamespace

import pytest

from collabtax import chat as chat_module
from collabtax.cassettes import Cassette, CassetteMiss, Conversation, read_interactions
from collabtax.chat import Chat, EndpointError, masked, wanted_pause, wire
from collabtax.models import Model
from collabtax.replies import ReplyError, read_reply, read_usage

LIMITS = ("max_tokens", "max_completion_tokens")
KEY = "sk-test-0123456789abcdef"


def reply(text="fine", finish="stop", **message):
    """A chat completion as endpoints send it, with the ids and fingerprints they add."""
    return {
        "id": "chatcmpl-Xy12", "object": "chat.completion", "created": 1, "model": "m-26", "system_fingerprint": "fp_9",
        "choices": [{"index": 0, "message": {"role": "assistant", "content": text} | message, "finish_reason": finish}],
        "usage": {"prompt_tokens": 10, "completion_tokens": 5, "total_tokens": 15},
    }  # fmt: skip


class Endpoint(ThreadingHTTPServer):
    """Loopback endpoint that plays a script: a body (200), (status, body, headers), RESET, or a function of the request
    that returns one of them. The last item is repeated. `asked` holds the requests."""

    daemon_threads = True
    request_queue_size = 128
    RESET = object()

    def __init__(self, *script):
        super().__init__(("127.0.0.1", 0), Scripted)
        self.script, self.asked, self.headers, self._lock = list(script), [], [], threading.Lock()
        self.url = f"http://127.0.0.1:{self.server_address[1]}/v1"

    def next(self, body, headers):
        with self._lock:
            self.asked.append(body)
            self.headers.append(headers)
            item = self.script.pop(0) if len(self.script) > 1 else self.script[0]
            return item(body) if callable(item) else item

    def __enter__(self):
        threading.Thread(target=self.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True).start()
        return self

    def __exit__(self, *_):
        self.shutdown()
        self.server_close()


class Scripted(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    wbufsize = -1  # one packet a reply: two would wait for each other

    def do_POST(self):
        body = json.loads(self.rfile.read(int(self.headers["content-length"])))
        item = self.server.next(body, dict(self.headers))
        if item is Endpoint.RESET:
            self.wfile.write(b'HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: 500\r\n\r\n{"cho')
            self.wfile.flush()
            self.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
            self.connection.close()
            self.close_connection = True
            return
        status, content, headers = item if isinstance(item, tuple) else (200, item, {})
        data = content if isinstance(content, bytes) else json.dumps(content).encode()
        if headers.get("content-encoding") == "gzip":
            data = gzip.compress(data)
        self.send_response(status)
        for name, value in {"content-type": "application/json", **headers}.items():
            self.send_header(name, value)
        self.send_header("content-length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def log_message(self, *_):
        pass

    def finish(self):
        with contextlib.suppress(OSError):
            super().finish()


@pytest.fixture
def ask(monkeypatch, tmp_path):
    """`ask(endpoint, text)`: one completion over HTTP. `ask.waits` holds cause and seconds of pauses; none is slept."""
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    slept = []

    async def sleep(seconds):
        slept.append(seconds)

    monkeypatch.setattr(chat_module, "asyncio", SimpleNamespace(sleep=sleep))

    def run(endpoint, text="hello", file="c/0.yaml", mode="new_episodes", messages=None, temperature=0.7, **fields):
        url = endpoint if isinstance(endpoint, str) else endpoint.url
        model = Model(**{"name": "m", "id": "m", "base_url": url, **fields})
        asked = Conversation(model.settings(temperature), messages or [{"role": "user", "content": text}])

        async def go():
            chat = Chat(on_wait=lambda cause, seconds: run.waits.append((cause, seconds)))
            try:
                with Cassette(tmp_path / file, mode) as run.cassette:
                    return await chat.complete(model, asked)
            finally:
                await chat.aclose()

        return asyncio.run(go())

    run.waits, run.slept = [], slept
    return run


def recorded(ask):
    """The calls in the last cassette."""
    path = ask.cassette.path
    return read_interactions(path.read_bytes())[1] if path.exists() else []


def error(code, message="no", **more):
    return {"error": {"message": message, "type": code, "code": code, **more}}


FILTERED = error("content_filter", "The response was filtered", innererror={"code": "ResponsibleAIPolicyViolation"})
AGAIN = {
    "409": ((409, error("conflict"), {}), 5, "409"),
    "500": ((500, b"oops", {}), 5, "500"),
    "502": ((502, b"<html>Bad gateway</html>", {"content-type": "text/html"}), 5, "Bad gateway"),
    "529": ((529, error("overloaded_error"), {}), 5, "529"),
    "408": ((408, error("timeout"), {}), 5, "408"),
    "reset": (Endpoint.RESET, 5, "127.0.0.1"),
    "cut JSON": (json.dumps(reply()).encode()[:60], 5, "no JSON"),
    "HTML": (b"<html>hello</html>", 5, "no JSON"),
    "empty choices": ({"choices": [], "prompt_filter_results": [{"content_filter_results": {}}]}, 5, "no choice"),
    "null content": (reply(None), 5, "empty (finish_reason stop)"),
    "blank": (reply(" \n"), 5, "empty"),
    "filter 200": (reply("", "content_filter"), 6, "content_filter"),
    "filter with text": (reply("half an ans", "content_filter"), 6, "content_filter"),
    "filter Azure": ((400, FILTERED, {}), 6, "content_filter"),
    "broken off": (reply("Row 0: . #", "error"), 5, "broke off"),
    "no capacity": (reply("Row 0: . #", "insufficient_system_resource"), 5, "broke off"),
    "aborted": (reply("Row 0: . #", "abort"), 5, "broke off"),
    "error beside": (
        {"choices": [{"message": {"content": "Row"}, "error": {"code": 502, "message": "upstream\nleft"}}]},
        5,
        "finish_reason stop): upstream left",
    ),
    "filter, other words": (reply("Row 0", "sensitive"), 6, "sensitive"),
    "filter, upper case": (reply(None, "SAFETY"), 6, "SAFETY"),
    "unseen": (reply("\u200b\n\ufeff"), 5, "empty"),
    "only thoughts": (reply([{"type": "thinking", "thinking": [{"type": "text", "text": "hm"}]}]), 5, "empty"),
    "odd shapes": ({"choices": [{"message": "text", "finish_reason": 3}], "usage": []}, 5, "empty"),
}
ONCE = {
    "401": (
        (401, error("invalid_api_key", f"Incorrect API key provided: {KEY}"), {}),
        "check the key in OPENAI_API_KEY",
    ),
    "403": ((403, error("forbidden"), {}), "403"),
    "404": ((404, error("model_not_found", "no model m"), {}), "check the model's name"),
    "400": ((400, error("unsupported_parameter", "temperature does not go"), {}), "`refuses` in a models file"),
    "reasoning ate all": (reply(None, "length"), "empty (finish_reason length); raise max_tokens"),
    "only reasoning": (reply("", "length", reasoning_content="Row 0 is"), "finish_reason length"),
    "all eaten, upper case": (reply("", "MAX_TOKENS"), "raise max_tokens or max_completion_tokens"),
    "422": ((422, error("invalid", "extra fields: 'temperature'"), {}), '[models."m"] refuses = ["temperature"]'),
    "too long": ((400, error("context_length_exceeded"), {}), "lower --turn-cap"),
    "too long, other words": ((422, error("x", "the maximum context length is 8192"), {}), "lower --turn-cap"),
    "403, remedy": ((403, error("forbidden"), {}), "what the key in OPENAI_API_KEY may use"),
    "402": ((402, error("invalid_request_error", "Insufficient Balance"), {}), "no quota left"),
    "not paid": ((429, error("billing_not_active"), {}), "no quota left"),
    "quota of another": ((429, error("exceeded_current_quota_error"), {}), "no quota left"),
    "quota": ((429, error("insufficient_quota"), {}), "no quota left"),
}


@pytest.mark.parametrize(("item", "retries", "says"), AGAIN.values(), ids=AGAIN)
def test_faults_that_pass_are_tried_again_and_then_told(ask, item, retries, says):
    with Endpoint(item) as endpoint, pytest.raises(EndpointError) as told:
        ask(endpoint)
    assert len(endpoint.asked) == retries + 1
    assert says in str(told.value)
    assert f"(after {retries + 1} tries)" in str(told.value)
    assert "\n" not in str(told.value)
    assert [seconds for _, seconds in ask.waits] == ask.slept
    assert len(ask.slept) == retries
    assert ask.slept[0] < ask.slept[3]
    assert recorded(ask) == []


@pytest.mark.parametrize("item", [v[0] for v in AGAIN.values()], ids=AGAIN)
def test_an_answer_after_a_fault_counts(ask, item):
    with Endpoint(item, item, reply("at last")) as endpoint:
        assert ask(endpoint).text == "at last"
    assert len(endpoint.asked) == 3
    assert ask("http://127.0.0.1:9/v1", mode="none").text == "at last"
    assert ask.cassette.unplayed == 0
    assert len(ask.slept) == 2, "a replay waits for nothing"


@pytest.mark.parametrize(("mine", "other"), [LIMITS, LIMITS[::-1]])
def test_a_limit_is_corrected_and_not_left_out(ask, mine, other):
    no = error("unsupported_parameter", f"'{mine}' is not supported with this model. Use '{other}' instead.")
    for item, says in (((400, no, {}), "correct the limit or name it"), (reply(None, "length"), f"raise {mine} under")):
        with Endpoint(item) as endpoint, pytest.raises(EndpointError) as told:
            ask(endpoint, parameters={mine: 9})
        assert says in str(told.value)
        assert "refuses" not in str(told.value)


def test_the_parameter_that_is_refused_is_named_even_late_in_a_long_text(ask):
    with (
        Endpoint((400, error("x", f"{'-' * 300} seed is unknown"), {})) as endpoint,
        pytest.raises(EndpointError) as told,
    ):
        ask(endpoint, parameters={"seed": 1, "top_p": 0.5})
    assert 'refuses = ["seed"]' in str(told.value)


@pytest.mark.parametrize(("item", "says"), ONCE.values(), ids=ONCE)
def test_faults_that_stay_fail_at_once(ask, item, says):
    with Endpoint(item) as endpoint, pytest.raises(EndpointError) as told:
        ask(endpoint)
    assert len(endpoint.asked) == 1
    assert ask.slept == []
    assert says in str(told.value)
    assert KEY not in str(told.value)
    assert recorded(ask) == []


def test_the_filter_waits_longer_than_the_network(ask):
    with Endpoint((503, error("overloaded"), {})) as endpoint, pytest.raises(EndpointError):
        ask(endpoint)
    network, ask.slept[:] = list(ask.slept), []
    with Endpoint(reply("", "content_filter")) as endpoint, pytest.raises(EndpointError):
        ask(endpoint)
    assert all(a > b for a, b in zip(ask.slept, network, strict=False))
    assert max(ask.slept) <= chat_module.LONGEST_WAIT


def test_pauses_are_drawn_from_the_request(ask):
    def pauses(text):
        ask.slept.clear()
        with Endpoint((500, b"", {})) as endpoint, pytest.raises(EndpointError):
            ask(endpoint, text)
        return list(ask.slept)

    assert pauses("a") == pauses("a")
    assert pauses("a") != pauses("b")


@pytest.mark.parametrize(
    ("headers", "least"), [({"retry-after": "17"}, 17), ({"retry-after": "2.5"}, 2.5), ({"retry-after-ms": "9000"}, 9)]
)
def test_retry_after_is_honoured(ask, headers, least):
    with Endpoint((503, error("overloaded"), headers), reply()) as endpoint:
        ask(endpoint)
    assert least <= ask.slept[0] <= 1.25 * least


def test_retry_after_may_be_a_date_by_the_endpoints_own_clock(ask):
    headers = {"retry-after": "Mon, 02 Feb 2026 10:00:21 GMT", "date": "Mon, 02 Feb 2026 10:00:00 GMT"}
    assert wanted_pause(headers) == 21
    assert wanted_pause({**headers, "date": "Mon, 02 Feb 2026 11:00:00 GMT"}) == 0
    assert wanted_pause({"retry-after": headers["retry-after"]}) == 0
    assert wanted_pause({**headers, "retry-after": "Mon, 99 Feb"}) == 0


def test_retry_after_is_capped_and_nonsense_is_ignored(ask):
    assert [wanted_pause({"retry-after": v}) for v in ("²", "inf", "nan", "-3", "soon", "")] == [0] * 6
    with Endpoint((503, b"", {"retry-after": "86400"}), reply()) as endpoint:
        ask(endpoint)
    assert ask.slept == [chat_module.LONGEST_WAIT]


@pytest.mark.parametrize("key", [KEY, "gsk_LongKeyOfAnother", "0123456789abcdef0123"])
def test_no_error_names_the_key(ask, monkeypatch, key):
    monkeypatch.setenv("OPENAI_API_KEY", key)
    for item in (
        (401, error("invalid_api_key", f"key {key} of org-AbCdEf12345 is wrong"), {}),
        (500, f"{'x' * 190} {key}".encode(), {}),
        (200, f"<html>{'x' * 60} {key}</html>".encode(), {}),
        (200, f"Bearer {key}".encode(), {}),
        (429, error("insufficient_quota", f"Authorization: Bearer {key}"), {}),
    ):
        with Endpoint(item) as endpoint, pytest.raises(EndpointError) as told:
            ask(endpoint)
        for text in [str(told.value), *(cause for cause, _ in ask.waits)]:
            assert key[:12] not in text
            assert "AbCdEf12345" not in text
    assert told.value.__cause__ is None


@pytest.mark.parametrize(
    "secret", ["gsk_0123456789abcdefXY", "AIzaSy0123456789abcdef-x", "hf_0123456789abcdefXY", "xai-0123456789abcdefXY",
               "bearer 0123456789abcdef", "Basic bmFtZTpwYXNzdzByZA=="]
)  # fmt: skip
def test_keys_of_others_are_masked_and_words_are_not(secret):
    assert masked(f"key {secret} of a bearer token", "") == "key *** of a bearer token"


@pytest.mark.parametrize("key", ["sk-with blank-0123456", "sk-né-0123456789", "sk-line\nbreak-01234"])
def test_a_key_that_cannot_be_sent_is_refused_unnamed(ask, monkeypatch, key):
    monkeypatch.setenv("OPENAI_API_KEY", key)
    with Endpoint(reply()) as endpoint, pytest.raises(ValueError, match="OPENAI_API_KEY") as told:
        ask(endpoint)
    assert key[3:] not in str(told.value)
    assert endpoint.asked == []


def test_the_key_goes_where_it_belongs_and_nowhere_else(ask, monkeypatch):
    monkeypatch.setenv("OTHER_KEY", "other-key-0123456789")
    with Endpoint(reply()) as endpoint:
        ask(endpoint, "a", key_env="OTHER_KEY")
        monkeypatch.delenv("OPENAI_API_KEY")
        ask(endpoint, "b")
    sent = [h.get("authorization", h.get("Authorization")) for h in endpoint.headers]
    assert sent == ["Bearer other-key-0123456789", "Bearer none"]
    with pytest.raises(ValueError, match="OPENAI_API_KEY") as told:
        ask("https://api.example.invalid/v1")
    assert "api.example.invalid" in str(told.value)


@pytest.mark.parametrize("url", ["api.example.com/v1", "http://", "ftp://x/v1", "http://[1/v1"])
def test_an_address_that_is_none_is_refused_before_traffic(ask, monkeypatch, url):
    with pytest.raises(ValueError, match="no address") as told:
        ask(url)
    assert url in str(told.value)
    assert ask.slept == []


def test_nobody_listens(ask):
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    with pytest.raises(EndpointError, match=rf"127\.0\.0\.1:{port}.*after 6 tries"):
        ask(f"http://127.0.0.1:{port}/v1")


def test_what_is_sent_is_what_the_typed_client_sends(ask, monkeypatch):
    import openai

    messages = [
        {"role": "system", "content": "ruled"},
        {"role": "user", "content": 'ünïcode \U0001f642 \u2028 " \\ \0'},
        {"role": "assistant", "content": "yes"},
        {"role": "user", "content": "next"},
    ]
    with Endpoint(reply()) as endpoint:
        ask(endpoint, messages=messages, parameters={"max_tokens": 7, "seed": 3})
        client = openai.OpenAI(api_key=KEY, base_url=endpoint.url)
        client.chat.completions.create(model="m", messages=messages, temperature=0.7, max_tokens=7, seed=3)
        client.close()
    ours, typed = endpoint.asked
    assert ours == typed
    same = ("authorization", "content-type", "accept")
    mine, theirs = ({k.lower(): v for k, v in h.items()} for h in endpoint.headers)
    assert {k: mine[k] for k in same} == {k: theirs[k] for k in same}


def test_half_a_surrogate_pair_is_sent_as_json_can(ask):
    with Endpoint(reply()) as endpoint:
        ask(endpoint, "a\ud83db")
    assert endpoint.asked[0]["messages"][0]["content"] == "a\ud83db"
    assert wire(Conversation({"m": 1}, [{"role": "user", "content": "é"}])).decode().endswith('"é"}]}')


def test_a_models_entry_shapes_the_request(ask):
    with Endpoint(reply()) as endpoint:
        ask(endpoint, id="served", refuses=("temperature",), parameters={"max_completion_tokens": 9})
    sent = endpoint.asked[0]
    assert {k: v for k, v in sent.items() if k != "messages"} == {"model": "served", "max_completion_tokens": 9}


def test_usage_latency_and_price(ask):
    body = reply("ok") | {
        "usage": {
            "prompt_tokens": 1000, "completion_tokens": 200, "total_tokens": 1200,
            "prompt_tokens_details": {"cached_tokens": 400}, "completion_tokens_details": {"reasoning_tokens": 150},
        }
    }  # fmt: skip
    with Endpoint(body) as endpoint:
        said = ask(endpoint, input=1.0, cached=0.5, output=10.0)
    assert said.usage == {"prompt": 1000, "cached": 400, "completion": 200, "reasoning": 150}
    assert said.cost == pytest.approx((600 * 1.0 + 400 * 0.5 + 200 * 10.0) / 1e6)
    assert ask(endpoint.url, mode="none", input=1.0, output=10.0).cost == pytest.approx((1000 + 2000) / 1e6)
    assert ask(endpoint.url, mode="none").cost is None
    assert Model("sim/weak", "sim/weak").price(said.usage) == 0.0
    assert Model("m", "m", input=1.0).price(said.usage) is None
    apart = {"prompt": 10, "cached": 400, "completion": 1}  # cached tokens that the prompt's do not contain
    assert Model("m", "m", input=1.0, cached=0.1, output=2.0).price(apart) == pytest.approx((10 * 0.1 + 2.0) / 1e6)


PRICES = {"input": 1000.0, "output": 2000.0}  # a reply of `reply` costs 10 * 0.001 + 5 * 0.002 = 0.02 USD
SAYS_NOTHING = {
    "null content": reply(None), "filter": reply("half", "content_filter"), "broken off": reply("half", "error"),
    "no choice": reply() | {"choices": []},
}  # fmt: skip


@pytest.mark.parametrize("item", SAYS_NOTHING.values(), ids=SAYS_NOTHING)
def test_what_was_billed_without_an_answer_is_counted_with_it(ask, item):
    with Endpoint(item, item, (500, b"", {}), reply("at last")) as endpoint:
        live = ask(endpoint, **PRICES)
        assert (live.text, live.usage) == ("at last", {"prompt": 30, "completion": 15})
        assert live.cost == pytest.approx(0.06)
        assert ask(endpoint.url, mode="none", **PRICES) == live, "a replay costs what the recording did"
    assert len(recorded(ask)) == 1
    assert len(endpoint.asked) == 4


def test_what_a_call_in_vain_was_billed_is_told_and_kept(ask):
    with Endpoint(reply(None)) as endpoint, pytest.raises(EndpointError) as told:
        ask(endpoint, **PRICES)
    assert told.value.usage == {"prompt": 60, "completion": 30}
    assert told.value.cost == pytest.approx(0.12)
    with Endpoint(reply(None, "length"), reply("at last")) as endpoint:
        with pytest.raises(EndpointError) as told:
            ask(endpoint, **PRICES)
        assert told.value.cost == pytest.approx(0.14), "the next run goes on counting"
        assert ask(endpoint, **PRICES).cost == pytest.approx(0.16)
        assert ask(endpoint, "another", **PRICES).cost == pytest.approx(0.02)
    with Endpoint((500, b"", {})) as endpoint, pytest.raises(EndpointError) as told:
        ask(endpoint, file="c/1.yaml")
    assert (told.value.usage, told.value.cost) == ({}, 0.0)
    with Endpoint(reply(None, "length")) as endpoint, pytest.raises(EndpointError) as told:
        ask(endpoint, file="c/2.yaml")
    assert told.value.cost is None, "billed, at no known price"


@pytest.mark.parametrize(
    "told",
    [
        {"prompt_tokens_details": {"cached_tokens": 40}},  # OpenAI, Groq, Mistral, OpenRouter and others
        {"prompt_cache_hit_tokens": 40, "prompt_cache_miss_tokens": 60},  # DeepSeek
        {"prompt_cache_hit_tokens": 40, "prompt_tokens_details": {"cached_tokens": 40}},  # DeepSeek, both
        {"cached_tokens": 40, "prompt_tokens_details": None},  # Moonshot
        {"cache_read_input_tokens": 40, "cache_creation_input_tokens": 9},  # Anthropic, and gateways to it
        {"cache_read_input_tokens": 40, "prompt_tokens_details": {"cached_tokens": 0}},
        {"cached_tokens": "40", "prompt_cache_hit_tokens": True, "cache_read_input_tokens": 40},
    ],
)
def test_cached_tokens_by_any_name(told):
    usage = read_usage({"prompt_tokens": 100, "completion_tokens": 7, **told})
    assert usage == {"prompt": 100, "completion": 7, "cached": 40}
    price = Model("m", "m", input=1e6, cached=1e5, output=1e6).price(usage)
    assert price == pytest.approx(60 + 4 + 7)


@pytest.mark.parametrize(
    "usage",
    [None, [], "9", {"prompt_tokens": "9", "prompt_tokens_details": 4}, {"prompt_tokens": -1}, {"prompt_tokens": True}],
)
def test_odd_usage_is_no_usage(ask, usage):
    with Endpoint(reply("ok") | {"usage": usage}) as endpoint:
        assert ask(endpoint).usage == {}


@pytest.mark.parametrize(
    ("message", "finish", "said"),
    [
        ({"content": None, "refusal": "I will not"}, "stop", ("I will not", "refusal")),
        ({"content": " ", "refusal": "I will not"}, "stop", ("I will not", "refusal")),
        ({"content": "Row 0", "refusal": "no"}, "stop", ("Row 0", "stop")),
        ({"content": "Row 0"}, "length", ("Row 0", "length")),
        ({"content": "Row 0"}, None, ("Row 0", "stop")),
        ({"content": [{"type": "text", "text": "Row "}, {"type": "text", "text": "0"}]}, "stop", ("Row 0", "stop")),
        ({"content": [{"type": "thinking", "text": "hm"}, {"type": "text", "text": "0"}, 7]}, "stop", ("0", "stop")),
        ({"content": [{"type": "refusal", "refusal": "no"}]}, "stop", ("no", "refusal")),
        ({"content": "Row 0", "tool_calls": None, "reasoning_content": "hm"}, "stop", ("Row 0", "stop")),
    ],
)
def test_what_counts_as_said(ask, message, finish, said):
    body = {"choices": [{"message": message, "finish_reason": finish}]}
    assert read_reply(json.dumps(body))[:2] == said
    with Endpoint(body) as endpoint:
        live = ask(endpoint)
    assert len(endpoint.asked) == 1
    assert (live.text, live.finish) == said
    again = ask(endpoint.url, mode="none")
    assert (again.text, again.finish) == said


@pytest.mark.parametrize(
    ("body", "kind"),
    [
        (reply(None, "length"), "length"),
        (reply("Row 0", "content_filter"), "filter"),
        (reply(None, "stop", refusal=" "), "empty"),
        (reply("", "length of stay"), "empty"),
        (reply("Row 0", "Error"), "broken"),
        (reply([{"type": "text", "text": None}, {"type": "text"}]), "empty"),
        ({"choices": [{"message": "Row 0"}]}, "empty"),
        ({"choices": ["Row 0"]}, "shape"),
        ({"choices": {}}, "shape"),
        ([1], "shape"),
    ],
)
def test_kinds_of_replies_that_say_nothing(body, kind):
    with pytest.raises(ReplyError) as told:
        read_reply(json.dumps(body))
    assert told.value.kind == kind
    assert isinstance(told.value, EndpointError)


@pytest.mark.parametrize("text", ["", '{"cho', "<html>", "[" * 200_000])
def test_what_is_no_json_has_the_wrong_shape(text):
    with pytest.raises(ReplyError, match="no JSON") as told:
        read_reply(text)
    assert told.value.kind == "shape"


def test_words_of_the_endpoint_decide_on_no_retry(ask):
    with (
        Endpoint(b"<html>content_filter, finish_reason length</html>") as endpoint,
        pytest.raises(EndpointError) as told,
    ):
        ask(endpoint)
    assert len(endpoint.asked) == chat_module.NETWORK_RETRIES + 1
    assert "finish_reason length" in str(told.value)


def test_an_answer_of_another_good_status_counts(ask):
    with Endpoint((201, reply(), {})) as endpoint:
        assert ask(endpoint).text == ask(endpoint, mode="none").text == "fine"
    assert len(endpoint.asked) == 1


def test_gzip_and_simulated_models(ask):
    with Endpoint((200, reply("packed"), {"content-encoding": "gzip"})) as endpoint:
        assert ask(endpoint).text == "packed"
    model = Model("sim/scripted=2", "sim/scripted=2")
    asked = Conversation(model.settings(0), [{"role": "user", "content": "x"}])

    async def go(mode):
        with Cassette(ask.cassette.path.with_name("1.yaml"), mode):
            return await Chat().complete(model, asked)

    assert asyncio.run(go("once")) == asyncio.run(go("none"))


def test_no_cassette_no_traffic(ask):
    with Endpoint(reply()) as endpoint:
        model = Model("m", "m", base_url=endpoint.url)
        with pytest.raises(RuntimeError, match="outside of any cassette"):
            asyncio.run(Chat().complete(model, Conversation(model.settings(0.7))))
        with pytest.raises(CassetteMiss):
            ask(endpoint, mode="none")
    assert endpoint.asked == []


def test_a_recording_that_somebody_else_writes_costs_nothing(ask, tmp_path):
    with Cassette(tmp_path / "c" / "0.yaml", "new_episodes") as other, Endpoint(reply()) as endpoint:
        other.hold()
        with pytest.raises(RuntimeError, match="another process"):
            ask(endpoint)
    assert endpoint.asked == []
    assert ask.slept == []
