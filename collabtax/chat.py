"""The one way to ask a model: replay, simulated model or endpoint; retries; usage. Above it nobody knows HTTP."""

from __future__ import annotations

import asyncio
import contextlib
import hashlib
import json
import math
import random
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from email.utils import parsedate_to_datetime
from pathlib import Path
from typing import TYPE_CHECKING

from collabtax.cassettes import SECRET, Conversation, current
from collabtax.limits import PATIENCE, Fate, GivenUp, Limiter
from collabtax.models import Model
from collabtax.replies import EndpointError as EndpointError
from collabtax.replies import ReplyError, read_reply

if TYPE_CHECKING:
    import httpx2
    import openai

TIMEOUT, CONNECT = 120.0, 60.0  # seconds a call and to connect (paper, appendix J; starved cores connect slowly)
NETWORK_RETRIES, FILTER_RETRIES = 5, 6  # paper, appendix J
LONGEST_WAIT = 60.0  # seconds between two tries
LETTERS = 4  # characters a token, roughly: what is far beyond a model's context is not sent
BROKE = ("insufficient_quota", "exceeded_current_quota_error", "billing_hard_limit_reached", "billing_not_active")
FATAL = (*BROKE, "invalid_api_key", "model_not_found")
TOO_LONG = ("context_length_exceeded", "maximum context length", "exceed_context_size")
LIMITS = ("max_completion_tokens", "max_tokens")  # a model knows the one or the other


@dataclass(frozen=True)
class Completion:
    """What a model said. `finish` is the provider's reason for stopping, "refusal" where only a refusal was given;
    `usage` counts tokens (prompt, cached, completion, reasoning), with those of earlier tries that were billed and said
    nothing; `seconds` is the latency, in a replay the recorded one; `cost` is in USD, None where no price is known."""

    text: str
    finish: str
    usage: dict[str, int]
    seconds: float
    cost: float | None


def wanted_pause(headers: Mapping[str, str]) -> float:
    """Seconds that the endpoint asks to wait before the next try; 0 where it does not say."""
    for name, unit in (("retry-after-ms", 1000.0), ("retry-after", 1.0)):
        with contextlib.suppress(ValueError):
            seconds = float(headers.get(name, "")) / unit
            return seconds if 0 < seconds < math.inf else 0.0
    with contextlib.suppress(ValueError):  # a date; the endpoint's own clock says how far away it is
        until, now = (parsedate_to_datetime(headers.get(name, "")) for name in ("retry-after", "date"))
        return max((until - now).total_seconds(), 0.0)
    return 0.0


class Chat:
    """Completions for all rollouts of a process. Its methods run in one event loop."""

    def __init__(
        self, on_wait: Callable[[str, float], None] = lambda cause, seconds: None, shared: Path | None = None
    ) -> None:
        """`on_wait` gets cause and seconds of waiting; `shared`: a folder in which the processes of a run tell each
        other about endpoints that refuse calls."""
        self._limiters: dict[tuple[str, str], Limiter] = {}
        self._shared = shared
        self._clients: dict[tuple[str, str], openai.AsyncOpenAI] = {}
        self._pools: dict[bool, httpx2.AsyncClient] = {}  # with TLS and without
        self._on_wait = on_wait

    async def complete(self, model: Model, asked: Conversation) -> Completion:
        """Ask `model`. The open cassette answers where it can.

        Raises:
            CassetteMiss: not recorded, and the record mode does not allow to ask.
            EndpointError: the endpoint failed for good.
            RuntimeError: no cassette is open, or another process is writing it.
        """
        cassette, digest = current(), asked.digest()
        recorded = cassette.take(digest)
        if recorded is None and not cassette.may_record:
            raise cassette.miss(asked)
        if recorded is None and model.in_process:
            from collabtax.sim.endpoint import respond

            try:
                reply = respond(asked.request())
            except ValueError as problem:
                raise EndpointError(str(problem)) from None
            recorded = cassette.save(asked, "http://in-process/v1/chat/completions", json.dumps(reply), 0.0)
        if recorded is not None:
            text, seconds = recorded["body"]["string"], recorded.get("seconds", 0.0)
        else:
            try:
                text, seconds = await self._ask(model, asked)
            except EndpointError as problem:
                problem.usage = cassette.take_lost(digest)
                problem.cost = model.price(problem.usage) if problem.usage else 0.0
                raise
        said, finish, usage = read_reply(text)
        cost = model.price(usage)
        if lost := cassette.take_lost(digest):
            extra = model.price(lost)
            cost = None if cost is None or extra is None else cost + extra
            usage = {kind: usage.get(kind, 0) + lost.get(kind, 0) for kind in {**usage, **lost}}
        return Completion(said, finish, usage, seconds, cost)

    async def _ask(self, model: Model, asked: Conversation) -> tuple[str, float]:
        import httpx2
        import openai

        if model.context and (size := sum(len(m["content"]) for m in asked.messages) // LETTERS) > model.context:
            raise EndpointError(f"about {size} tokens do not fit into the {model.context} that {model.name} takes")
        client, key, limiter = self._client(model), model.key(), self._limiter(model)
        body = wire(asked)
        rng = random.Random(asked.digest())
        tries, place, cause = 0, limiter.place(), model.host
        while True:
            allowed, wait, least = NETWORK_RETRIES, 0.5, 0.0
            fate: Fate = "void"
            try:
                started = await limiter.start(place)
            except GivenUp:
                minutes = f"for {PATIENCE / 60:.0f} minutes it refused every call"
                raise EndpointError(f"{cause} ({minutes}; run the same again once it has room)") from None
            try:
                # The SDK's own entry for plain requests: its typed one walks the whole history on every call.
                reply = await client.post(
                    "/chat/completions",
                    cast_to=httpx2.Response,
                    content=body,
                    options={"headers": {"content-type": "application/json"}},
                )
                fate = "answered"
                read_reply(reply.text)
                return reply.text, reply.extensions["seconds"]  # the transport took it for an answer and recorded it
            except ReplyError as problem:
                cause = f"{model.host}: {masked(str(problem), key)}"
                if problem.kind == "shape":
                    cause += f": {masked(reply.text, key)[:80]!r}"
                elif problem.kind == "length":  # the next try would cost as much and end the same way
                    limit = next((k for k in LIMITS if k in asked.settings), " or ".join(reversed(LIMITS)))
                    raise EndpointError(f"{cause}; raise {limit} under `parameters` in a models file") from None
                elif problem.kind == "filter":
                    allowed, wait = FILTER_RETRIES, 2.0
            except openai.APIStatusError as problem:
                cause, least = explain(problem, model, key), wanted_pause(problem.response.headers)
                fate = "failed" if problem.status_code == 408 or problem.status_code >= 500 else "answered"
                if "content_filter" in problem.response.text:
                    allowed, wait = FILTER_RETRIES, 2.0
                elif (problem.status_code not in (408, 409, 429) and problem.status_code < 500) or any(
                    word in problem.response.text for word in FATAL
                ):
                    raise EndpointError(cause) from None
                elif problem.status_code == 429:
                    fate = "refused"
            except openai.APIConnectionError as problem:
                fate, reason = "failed", problem.__cause__
                cause = f"{model.host}: {masked(str(reason or ''), key) or type(reason or problem).__name__}"
            finally:
                limiter.leave(started, fate, least)
            if fate == "refused":  # the limiter waits: no try is lost
                continue
            tries += 1
            if tries > allowed:
                raise EndpointError(f"{cause} (after {tries} tries)")
            draw = rng.random()
            pause = min(LONGEST_WAIT, max(wait * 2**tries * (0.75 + 0.5 * draw), least * (1 + 0.25 * draw)))
            self._on_wait(cause, pause)
            await asyncio.sleep(pause)

    def _client(self, model: Model) -> openai.AsyncOpenAI:
        """One client an endpoint; all share their connections."""
        import httpx2
        import openai

        from collabtax.transport import CassetteTransport

        where, tls = (model.url, model.key_env), model.url.startswith("https:")
        if where not in self._clients:
            timeout = httpx2.Timeout(TIMEOUT, connect=CONNECT)
            if tls not in self._pools:
                self._pools[tls] = httpx2.AsyncClient(transport=CassetteTransport(tls=tls), timeout=timeout)
            self._clients[where] = openai.AsyncOpenAI(
                api_key=model.key(), base_url=model.url, http_client=self._pools[tls], max_retries=0, timeout=timeout
            )
        return self._clients[where]

    def _limiter(self, model: Model) -> Limiter:
        """One limiter an endpoint, since it counts by key."""
        where = (model.url, model.key_env)
        if where not in self._limiters:
            name = hashlib.sha256(" ".join(where).encode()).hexdigest()[:16]
            notice = self._shared / name if self._shared else None
            self._limiters[where] = Limiter(model.host, self._on_wait, notice)
        return self._limiters[where]

    async def aclose(self) -> None:
        for pool in self._pools.values():
            await pool.aclose()


def wire(asked: Conversation) -> bytes:
    """A request as it is sent. Half a surrogate pair, which a reply may hold, exists in no UTF-8: it is escaped."""
    try:
        return json.dumps(asked.request(), ensure_ascii=False).encode()
    except UnicodeEncodeError:
        return json.dumps(asked.request()).encode()


def masked(text: str, key: str) -> str:
    """`text` without the key in use and without what looks like a key or an id of an account."""
    return SECRET.sub("***", text.replace(key, "***") if len(key) > 7 else text)


def explain(problem: openai.APIStatusError, model: Model, key: str) -> str:
    """One line about a refused request, with the remedy where there is one, and no secret."""
    text, code = problem.response.text, problem.status_code
    said = " ".join(masked(text, key).split())[:200]
    remedy = {
        401: f"; check the key in {model.key_env}",
        403: f"; check what the key in {model.key_env} may use",
        404: "; check the model's name and its base_url",
    }.get(code, "")
    if code == 402 or any(word in text for word in BROKE):
        remedy = "; the account has no quota left: add credit or use another key"
    elif code in (400, 413, 422) and any(word in text for word in TOO_LONG):
        remedy = "; the dialogue is longer than the model takes: lower --turn-cap, or use a model with more context"
    elif code in (400, 422) and any(word in text and word in model.parameters for word in LIMITS):
        remedy = f"; under `parameters` in a models file, correct the limit or name it {' or '.join(LIMITS)}"
    elif code in (400, 422):
        remedy = "; parameters a model refuses are listed under `refuses` in a models file"
        if named := [k for k in model.settings(1.0) if k != "model" and re.search(rf"\b{re.escape(k)}\b", text)]:
            remedy += f": [models.{json.dumps(model.name)}] refuses = {json.dumps(named)}"
    return f"{model.host} answered {problem.status_code}: {said}{remedy}"
