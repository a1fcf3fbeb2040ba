"""The simulated models, by what they can play. A name says which one it is: `sim/mate…` and `sim/crew…` play the worlds
of the swap and the coop study, all others the tasks of the tax."""

from __future__ import annotations

import importlib
from collections.abc import Sequence
from typing import Protocol, cast

ROLES: dict[str, str] = {"sim/mate": "collabtax.sim.mate", "sim/crew": "collabtax.sim.crew"}
STUDIES = {"tax": "collabtax.sim.policy", "swap": ROLES["sim/mate"], "coop": ROLES["sim/crew"]}


class Role(Protocol):
    """A module that plays simulated models."""

    PRESETS: dict[str, object]

    def knobs(self, model: str) -> object:
        """Its rates. Raises ValueError for a name that is none of its models'."""

    def reply(self, model: str, messages: list[dict[str, str]], seed: int = 0) -> str:
        """The next message; `seed` tells samples of equal requests apart. Raises ValueError where the chat is not
        about what it plays."""


def role(model: str) -> Role:
    name = next((module for prefix, module in ROLES.items() if model.startswith(prefix)), "collabtax.sim.policy")
    return cast(Role, importlib.import_module(name))


def check(model: str, study: str) -> None:
    """Raise ValueError, in one line, for a simulated model that is not there or does not play `study`."""
    role(model).knobs(model)
    if role(model) is not importlib.import_module(STUDIES[study]):
        presets = ", ".join(cast(Role, importlib.import_module(STUDIES[study])).PRESETS)
        raise ValueError(f"--model {model!r} does not play the {study} study; simulated models that do: {presets}")


def reply(model: str, messages: list[dict[str, str]], seed: int = 0) -> str:
    """The next message of `model` in the chat `messages`. Raises ValueError."""
    return role(model).reply(model, messages, seed) if seed else role(model).reply(model, messages)


def names() -> Sequence[str]:
    """All presets."""
    modules = ("collabtax.sim.policy", *ROLES.values())
    return [name for module in modules for name in cast(Role, importlib.import_module(module)).PRESETS]
