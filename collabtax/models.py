"""Models and their endpoints: what differs between providers is data in a table, never code.

Facts are looked up in the user's models file (`--models`), then in `models.toml` beside this module; a model in neither
is taken as one that any OpenAI-compatible endpoint knows by that name.
"""

from __future__ import annotations

import os
import tomllib
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

SIMULATED = "sim/"  # models of this suite, served in process unless their entry has a base_url
DEFAULT_URL = "https://api.openai.com/v1"


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
        """The API key. Raises ValueError with the remedy where one is needed and not set."""
        if key := os.environ.get(self.key_env):
            return key
        if urlsplit(self.url).hostname in ("127.0.0.1", "localhost", "::1"):
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
        if self.input is None or self.output is None:
            return None
        cached = usage.get("cached", 0)
        full = usage.get("prompt", 0) - cached
        dear = full * self.input + cached * (self.input if self.cached is None else self.cached)
        return (dear + usage.get("completion", 0) * self.output) / 1e6


FIELDS = {f.name for f in fields(Model)} - {"name"}


def read_models(path: Path) -> dict[str, dict[str, Any]]:
    """The entries of a models file. Raises ValueError that names the file, the entry and what is known."""
    try:
        entries = tomllib.loads(path.read_text(encoding="utf-8")).get("models", {})
    except (OSError, tomllib.TOMLDecodeError) as problem:
        raise ValueError(f"models file {path}: {problem}") from None
    for name, entry in entries.items():
        if unknown := sorted(set(entry) - FIELDS):
            raise ValueError(f"models file {path}: {name}: unknown {unknown[0]!r}; known: {', '.join(sorted(FIELDS))}")
    return dict(entries)


def load_model(name: str, entries: dict[str, dict[str, Any]]) -> Model:
    """The model called `name`, with what `entries` (a models file) or the shipped table say of it."""
    entry = entries.get(name) or read_models(Path(__file__).with_name("models.toml")).get(name, {})
    return Model(**{"name": name, "id": name, **entry, "refuses": tuple(entry.get("refuses", ()))})
