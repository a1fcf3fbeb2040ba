"""Models and their endpoints: what differs between providers is data in a table, never code.

Facts are looked up in the user's models file (`--models`), then in `models.toml` beside this module; a model in neither
is taken as one that any OpenAI-compatible endpoint knows by that name.
"""

from __future__ import annotations

import json
import math
import os
import re
import tomllib
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

SIMULATED = "sim/"  # models of this suite, served in process unless their entry has a base_url
DEFAULT_URL = "https://api.openai.com/v1"
SNAPSHOT = re.compile(r"-20\d\d-\d\d-\d\d$")


@dataclass(frozen=True)
class Model:
    """A model under the name it is measured by."""

    name: str
    id: str  # the name the endpoint knows it by
    base_url: str | None = None  # None: OPENAI_BASE_URL, or the official endpoint
    key_env: str = "OPENAI_API_KEY"  # the variable that holds the key; keys stand in no file
    input: float | None = None  # USD per million prompt tokens
    cached: float | None = None  # USD per million prompt tokens read from the provider's cache
    output: float | None = None  # USD per million completion tokens
    refuses: tuple[str, ...] = ()  # request parameters to leave out, such as temperature
    parameters: dict[str, Any] = field(default_factory=dict)  # request parameters to add, such as max_tokens
    context: int | None = None  # tokens that fit into one request with its answer

    @property
    def in_process(self) -> bool:
        return self.name.startswith(SIMULATED) and self.base_url is None

    @property
    def url(self) -> str:
        return self.base_url or os.environ.get("OPENAI_BASE_URL") or DEFAULT_URL

    @property
    def host(self) -> str:
        """What a cassette says about where its answers come from."""
        return "in-process" if self.in_process else urlsplit(self.url).netloc.rpartition("@")[2]

    def key(self) -> str:
        """The API key. Raises ValueError, with the remedy, for one that is needed and not set or cannot be sent."""
        host = address(self.url)
        if not host:
            where = "base_url" if self.base_url else "OPENAI_BASE_URL"
            raise ValueError(f"model {self.name!r}: {where} {self.url!r} is no address like {DEFAULT_URL}; correct it")
        if key := os.environ.get(self.key_env, "").strip():
            if re.search(r"[^!-~]", key):
                raise ValueError(f"the key in {self.key_env} holds a blank or a letter that no key has: set it anew")
            return key
        if host in ("127.0.0.1", "localhost", "::1"):
            return "none"
        raise ValueError(f"model {self.name!r} needs a key for {self.host}: set the variable {self.key_env}")

    def settings(self, temperature: float) -> dict[str, Any]:
        """The request without its messages."""
        wanted = {"model": self.id, "temperature": temperature, **self.parameters}
        return {k: v for k, v in wanted.items() if k not in self.refuses}

    def price(self, usage: dict[str, int]) -> float | None:
        """USD of a call with `usage` (prompt, cached, completion tokens); None where no price is known."""
        if self.in_process:
            return 0.0
        if self.input is None or self.output is None or "prompt" not in usage:  # unpriced, or not counted
            return None
        cached = min(usage.get("cached", 0), usage["prompt"])  # some count what they cached apart
        full = usage["prompt"] - cached
        dear = full * self.input + cached * (self.input if self.cached is None else self.cached)
        return (dear + usage.get("completion", 0) * self.output) / 1e6


def address(url: str) -> str | None:
    """The host that `url` leads to over HTTP, None where it leads nowhere."""
    try:
        parts = urlsplit(url)
        return parts.hostname if parts.scheme in ("http", "https") else None
    except ValueError:
        return None


def _is_text(value: Any) -> bool:
    return isinstance(value, str) and bool(value.strip())


def _is_price(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and 0 <= value < math.inf


def _is_json(value: Any) -> bool:
    try:
        return isinstance(value, dict) and bool(json.dumps(value, allow_nan=False))
    except (TypeError, ValueError):
        return False


TABLES = "[models.NAME] tables"
FIELDS: dict[str, tuple[Callable[[Any], bool], str]] = {
    "id": (_is_text, "a name"),
    "base_url": (lambda v: isinstance(v, str) and address(v) is not None, f"an address like {DEFAULT_URL}"),
    "key_env": (_is_text, "the name of a variable"),
    "input": (_is_price, "USD per million tokens"),
    "cached": (_is_price, "USD per million tokens"),
    "output": (_is_price, "USD per million tokens"),
    "refuses": (lambda v: isinstance(v, list) and all(map(_is_text, v)), "a list of parameters"),
    "parameters": (_is_json, "a table of parameters that JSON can hold"),
    "context": (lambda v: isinstance(v, int) and not isinstance(v, bool) and v > 0, "a number of tokens"),
}


def read_models(path: Path) -> dict[str, dict[str, Any]]:
    """The entries of a models file. Raises ValueError that names the file, the entry and what is known."""
    try:
        table = tomllib.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        raise ValueError(f"models file {path} is not there; --models names a TOML file of {TABLES}") from None
    except (OSError, ValueError) as problem:
        raise ValueError(f"models file {path}: {problem}; --models names a TOML file of {TABLES}") from None
    entries = table.pop("models", {})
    if table or not isinstance(entries, dict):
        raise ValueError(f"models file {path}: {next(iter(table), 'models')!r} is out of place; expected are {TABLES}")
    for name, entry in entries.items():
        if not isinstance(entry, dict):
            raise ValueError(f"models file {path}: {name}: {entry!r} is no table; write [models.{json.dumps(name)}]")
        for key, value in entry.items():
            if key not in FIELDS:
                raise ValueError(f"models file {path}: {name}: unknown {key!r}; known: {', '.join(sorted(FIELDS))}")
            check, wanted = FIELDS[key]
            if not check(value):
                raise ValueError(f"models file {path}: {name}: {key} {value!r} is not {wanted}")
    return dict(entries)


def load_model(name: str, entries: dict[str, dict[str, Any]]) -> Model:
    """The model called `name`, with what `entries` (a models file) or the shipped table say of it; a dated snapshot is
    as the shipped table says of the model without the date."""
    shipped = read_models(Path(__file__).with_name("models.toml"))
    entry = entries.get(name) or shipped.get(name) or shipped.get(SNAPSHOT.sub("", name), {})
    return Model(**{"name": name, "id": name, **entry, "refuses": tuple(entry.get("refuses", ()))})
