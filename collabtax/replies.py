"""What a reply of an endpoint says. Transport and chat read it here alike; needs no HTTP."""

from __future__ import annotations

import json
from typing import Any, Literal

LENGTH = {"length", "max_tokens", "max_output_tokens"}  # finish reasons, as providers spell them
FILTER = {"content_filter", "sensitive", "safety", "recitation", "prohibited_content", "blocklist", "spii"}
CACHED = (  # what providers call the prompt's cached tokens, where they are not in prompt_tokens_details
    "prompt_cache_hit_tokens",  # DeepSeek
    "cached_tokens",  # Moonshot
    "cache_read_input_tokens",  # Anthropic, and gateways to it
)
BROKEN = {"error", "abort", "aborted", "cancelled", "network_error", "insufficient_system_resource"}


class EndpointError(Exception):
    """A call that the endpoint or the way to it failed, after all retries. Says nothing about the model. `usage` and
    `cost` (USD, None where no price is known) are of replies that were billed and said nothing."""

    def __init__(self, message: str, usage: dict[str, int] | None = None, cost: float | None = 0.0) -> None:
        super().__init__(message)
        self.usage, self.cost = usage or {}, cost


class ReplyError(EndpointError):
    """A reply that says nothing. `kind`: no text since the tokens ran out ("length"), withheld by a filter ("filter"),
    no text for another reason ("empty"), broken off by the provider, whatever it holds ("broken"), or not a chat
    completion at all ("shape")."""

    def __init__(
        self, kind: Literal["length", "filter", "empty", "broken", "shape"], message: str, usage: dict[str, int]
    ) -> None:
        super().__init__(message, usage)
        self.kind = kind


def read_reply(text: str) -> tuple[str, str, dict[str, int]]:
    """Text, finish reason and usage of a reply. Raises ReplyError for one that says nothing."""
    try:
        reply = json.loads(text)
    except (ValueError, RecursionError):
        raise ReplyError("shape", "the reply is no JSON", {}) from None
    usage = read_usage(_table(reply).get("usage"))
    choices = _table(reply).get("choices")
    if not isinstance(choices, list) or not choices or not isinstance(choices[0], dict):
        raise ReplyError("shape", "the reply holds no choice", usage)
    message, finish = _table(choices[0].get("message")), str(choices[0].get("finish_reason") or "stop")
    content, refusal = _words(message.get("content"), "text"), message.get("refusal")
    if finish.lower() in FILTER:
        raise ReplyError("filter", f"{finish}: the provider's filter withheld the reply", usage)
    if finish.lower() in BROKEN or _table(choices[0].get("error")):
        said = " ".join(str(_table(choices[0].get("error")).get("message") or "").split())[:200]
        said = f"the provider broke off the reply (finish_reason {finish}){said and f': {said}'}"
        raise ReplyError("broken", said, usage)
    if not _says(content):
        content = refusal if isinstance(refusal, str) else _words(message.get("content"), "refusal")
        if not _says(content):
            kind: Literal["length", "empty"] = "length" if finish.lower() in LENGTH else "empty"
            raise ReplyError(kind, f"the reply is empty (finish_reason {finish})", usage)
        finish = "refusal"
    return content, finish, usage


def read_usage(told: Any) -> dict[str, int]:
    """Tokens by kind: prompt, of them cached, completion, of them reasoning; without those that are not told."""
    told = _table(told)
    cached = [_table(told.get("prompt_tokens_details")).get("cached_tokens"), *map(told.get, CACHED)]
    usage = {
        "prompt": told.get("prompt_tokens"),
        "completion": told.get("completion_tokens"),
        "cached": max(filter(_is_count, cached), default=0),
        "reasoning": _table(told.get("completion_tokens_details")).get("reasoning_tokens"),
    }
    return {kind: tokens for kind, tokens in usage.items() if _is_count(tokens)}


def _is_count(value: Any) -> bool:
    return type(value) is int and value > 0


def _words(content: Any, kind: str) -> str:
    """A message's content; of one that comes in parts, those of `kind`, so that thoughts are left out."""
    if isinstance(content, list):
        parts = [part.get(kind) for part in map(_table, content) if part.get("type") == kind]
        return "".join(part for part in parts if isinstance(part, str))
    return content if isinstance(content, str) and kind == "text" else ""


def _says(text: str) -> bool:
    """Whether anything in `text` can be seen."""
    return any(c.isprintable() and not c.isspace() for c in text)


def _table(value: Any) -> dict[str, Any]:
    return value if isinstance(value, dict) else {}
