"""The HTTP transport under the official SDK: replays from the rollout's cassette and records into it.

One instance serves all rollouts of a process, over one connection pool. Imported late: httpx2 is not needed to replay.
"""

from __future__ import annotations

import json
import ssl
import time

import httpx2

from collabtax.cassettes import Cassette, Conversation, current
from collabtax.replies import ReplyError, read_reply


def is_answer(text: str, asked: Conversation, cassette: Cassette) -> bool:
    """Whether a reply holds what a model said. Anything else (no choice, no text, filtered, cut JSON) is a fault of the
    way there: it is not recorded, so that no replay or resume repeats it, but what it cost is."""
    try:
        read_reply(text)
    except ReplyError as problem:
        if problem.usage:
            cassette.lose(asked, problem.usage)
        return False
    return True


class CassetteTransport(httpx2.AsyncBaseTransport):
    """Without an open cassette it raises before any traffic."""

    def __init__(self, inner: httpx2.AsyncBaseTransport | None = None, tls: bool = True) -> None:
        """`tls`: load the certificates, which takes a while; without them no https endpoint can be reached."""
        verify = True if tls else ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
        limits = httpx2.Limits(max_connections=None, keepalive_expiry=60)
        self.inner = inner or httpx2.AsyncHTTPTransport(verify=verify, limits=limits)

    async def handle_async_request(self, request: httpx2.Request) -> httpx2.Response:
        cassette = current()
        if not request.url.path.endswith("/chat/completions"):
            raise RuntimeError(f"only chat completions are recorded and replayed, not {request.url.path}")
        asked = Conversation.of_request(json.loads(await request.aread()))
        recorded = cassette.take(asked.digest())
        if recorded is None:
            if not cassette.may_record:
                raise cassette.miss(asked)
            cassette.hold()
            start = time.perf_counter()
            reply = await self.inner.handle_async_request(request)
            try:
                content = await reply.aread()  # decoded, whatever the encoding
            finally:
                await reply.aclose()
            seconds = time.perf_counter() - start
            text = content.decode(errors="replace")
            if not (reply.is_success and is_answer(text, asked, cassette)):
                kept = [
                    (k, v)
                    for k, v in reply.headers.items()
                    if k in ("content-type", "date", "retry-after", "retry-after-ms")
                ]
                return httpx2.Response(reply.status_code, headers=kept, content=content)
            secret = request.headers.get("authorization", "").rpartition(" ")[2]
            url = request.url.copy_with(userinfo=b"", query=None, fragment=None)
            recorded = cassette.save(asked, str(url), text, seconds, secret)
        return httpx2.Response(
            recorded["status"]["code"],
            headers=[(k, v) for k, values in recorded["headers"].items() for v in values],
            content=recorded["body"]["string"].encode(),
            extensions={"seconds": recorded.get("seconds", 0.0)},
        )

    async def aclose(self) -> None:
        await self.inner.aclose()
