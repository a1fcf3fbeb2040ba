"""What a reply of an endpoint says. Transport and chat read it here alike; needs no HTTP."""

from __future__ import annotations

import json
from typing import Any, Literal


class EndpointError(Exception):
    """A call that the endpoint or the way to it failed, after all retries. Says nothing about the model."""


class ReplyError(EndpointError):
    """A reply that says nothing. `kind`: no text since the tokens ran out ("length"), withheld by a filter ("filter"),
    no text for another reason ("empty"), or not a chat completion at all ("shape")."""

    def __init__(self, kind: Literal["length", "filter", "empty", "shape"], message: str) -> None:
        super().__init__(message)
        self.kind = kind


def read_reply(text: str) -> tuple[str, str, dict[str, int]]:
    """Text, finish reason and usage of a reply. Raises ReplyError for one that says nothing."""
    try:
        reply = json.loads(text)
    except (ValueError, RecursionError):
        raise ReplyError("shape", "the reply is no JSON") from None
    choices = _table(reply).get("choices")
    if not isinstance(choices, list) or not choices or not isinstance(choices[0], dict):
        raise ReplyError("shape", "the reply holds no choice")
    message, finish = _table(choices[0].get("message")), str(choices[0].get("finish_reason") or "stop")
    content, refusal = message.get("content"), message.get("refusal")
    if finish == "content_filter":
        raise ReplyError("filter", "content_filter: the provider's filter withheld the reply")
    if not (isinstance(content, str) and content.strip()):
        if not (isinstance(refusal, str) and refusal.strip()):
            kind: Literal["length", "empty"] = "length" if finish == "length" else "empty"
            raise ReplyError(kind, f"the reply is empty (finish_reason {finish})")
        content, finish = refusal, "refusal"
    told = _table(reply.get("usage"))
    usage = {"prompt": told.get("prompt_tokens"), "completion": told.get("completion_tokens")}
    usage["cached"] = _table(told.get("prompt_tokens_details")).get("cached_tokens")
    usage["reasoning"] = _table(told.get("completion_tokens_details")).get("reasoning_tokens")
    return content, finish, {k: v for k, v in usage.items() if isinstance(v, int) and v > 0}


def _table(value: Any) -> dict[str, Any]:
    return value if isinstance(value, dict) else {}
