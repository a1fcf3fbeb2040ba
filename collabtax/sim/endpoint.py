"""Simulated models as an OpenAI-compatible endpoint: in process (`respond`) or on loopback (`serve`)."""

from __future__ import annotations

import json
import math
import sys
import threading
import time
from collections.abc import Callable
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from collabtax.sim.cast import names, reply

MOST = 8_000_000  # bytes of a request


def tokens(text: str) -> int:
    """A rough count, four characters a token: simulated models have no vocabulary."""
    return -(-len(text) // 4)


def respond(body: dict[str, Any]) -> dict[str, Any]:
    """The reply of a chat completion request. Raises ValueError for a request no simulated model can answer."""
    messages = body.get("messages")
    if not isinstance(messages, list) or not all(
        isinstance(m, dict) and isinstance(m.get("content"), str) for m in messages
    ):
        raise ValueError("messages must be a list of role and text content")
    seed = body.get("seed", 0)
    if not isinstance(seed, int):
        raise ValueError("seed must be a whole number")
    text = reply(str(body.get("model")), messages, seed)
    prompt, completion = sum(tokens(m["content"]) + 4 for m in messages), tokens(text)
    return {
        "object": "chat.completion",
        "model": body["model"],
        "choices": [{"index": 0, "message": {"role": "assistant", "content": text}, "finish_reason": "stop"}],
        "usage": {"prompt_tokens": prompt, "completion_tokens": completion, "total_tokens": prompt + completion},
    }


class Handler(BaseHTTPRequestHandler):
    """`GET /v1/models`, `POST /v1/chat/completions`."""

    protocol_version = "HTTP/1.1"
    wbufsize = -1  # head and body leave together: two small packets would wait for each other
    server: Server

    def send(self, status: int, body: dict[str, Any], **headers: str) -> None:
        data = json.dumps(body).encode()
        self.send_response(status)
        for name, value in headers.items():
            self.send_header(name.replace("_", "-"), value)
        self.send_header("content-type", "application/json")
        self.send_header("content-length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def do_GET(self) -> None:
        if self.path.rstrip("/") == "/v1/models":
            self.send(200, {"object": "list", "data": [{"id": name, "object": "model"} for name in names()]})
        else:
            self.send(404, {"error": {"message": f"no page {self.path}", "code": "not_found"}})

    def do_POST(self) -> None:
        try:
            length = min(int(self.headers.get("content-length", 0)), MOST)
            body = json.loads(self.rfile.read(length))
            if wait := self.server.refuses():
                told = {"retry_after": str(math.ceil(wait))} if self.server.retry_after else {}
                self.send(429, {"error": {"message": "too many requests", "code": "rate_limit_exceeded"}}, **told)
                return
            time.sleep(self.server.latency)
            if not str(body.get("model")).startswith("sim/"):
                message = f"no model {body.get('model')!r} here; this endpoint serves simulated models, named sim/..."
                self.send(404, {"error": {"message": message, "code": "model_not_found"}})
                return
            reply = respond(body)
            if self.server.on_reply:
                self.server.on_reply(body)
            self.send(200, reply)
        except ConnectionError:
            self.close_connection = True  # the client has gone
        except (ValueError, AttributeError) as problem:
            self.send(400, {"error": {"message": str(problem), "code": "invalid_request"}})

    def log_message(self, format: str, *args: Any) -> None:
        pass


class Server(ThreadingHTTPServer):
    """The endpoint on loopback; `latency` seconds are added to each reply; port 0 takes a free one. With a `rate` it
    takes that many calls a second, `burst` at once (as many as in a second, unless given), and refuses others."""

    daemon_threads = True

    def handle_error(self, request: Any, client_address: Any) -> None:
        """A client that goes away is nothing to report; anything else is."""
        if not isinstance(sys.exception(), ConnectionError):
            super().handle_error(request, client_address)

    request_queue_size = 512

    def __init__(
        self, port: int = 0, latency: float = 0.0, on_reply: Callable[[dict[str, Any]], None] | None = None,
        rate: float | None = None, burst: float | None = None, retry_after: bool = True,
    ) -> None:  # fmt: skip
        """`retry_after`: whether a refusal says how long to wait, in whole seconds."""
        super().__init__(("127.0.0.1", port), Handler)
        self.latency, self.on_reply = latency, on_reply
        self.rate, self.retry_after = rate, retry_after
        self.burst = max(1.0, rate or 1.0) if burst is None else burst
        self.accepted = self.refused = 0
        self._left, self._filled = self.burst, time.monotonic()  # a token bucket
        self._lock = threading.Lock()

    def refuses(self) -> float:
        """Count a call. Returns the seconds until it would be accepted, 0 where it is."""
        with self._lock:
            if self.rate:
                now = time.monotonic()
                self._left = min(self.burst, self._left + (now - self._filled) * self.rate)
                self._filled = now
                if self._left < 1:
                    self.refused += 1
                    return (1 - self._left) / self.rate
                self._left -= 1
            self.accepted += 1
            return 0.0

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_address[1]}/v1"
