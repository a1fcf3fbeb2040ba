"""What a kitchen is made of at one moment. Everything is immutable, so that no two states share what changes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

from tasks.worlds.kitchen.layout import Cell, Pose


class Cook(NamedTuple):
    """A cook's pose and the item in hand, "" for none."""

    pose: Pose
    holds: str = ""


class Utensil(NamedTuple):
    """What is in a utensil; `product` is "" until it is started, `age` counts the steps since then."""

    contents: tuple[str, ...] = ()
    product: str = ""
    age: int = 0


class Event(NamedTuple):
    """An accepted action and the step it took effect in."""

    time: int
    agent: str
    action: str


class Outcome(NamedTuple):
    """What came of an agent's action in a step. `result` is done, moved, waited, working, missed, refused or ""
    before the first step; `detail` a direction or the refusal."""

    action: str = ""
    result: str = ""
    detail: str = ""


NO_UTENSIL = Utensil()


@dataclass(frozen=True, slots=True)
class KitchenState:
    """`cooks` and `outcomes` are in seat order, `utensils` in the order of the layout, `counters` holds the items in
    the order in which they were put down; `notice` tells of food lost in the last step."""

    time: int
    cooks: tuple[Cook, ...]
    utensils: tuple[Utensil, ...]
    counters: tuple[tuple[Cell, str], ...] = ()
    events: tuple[Event, ...] = ()
    outcomes: tuple[Outcome, ...] = (Outcome(), Outcome())
    delivered: bool = False
    notice: str = ""

    def on(self, cell: Cell) -> str:
        """The item on a counter, "" for none."""
        return next((item for at, item in self.counters if at == cell), "")

    def trace(self, agent: str) -> tuple[str, ...]:
        """The accepted actions of an agent, in order."""
        return tuple(event.action for event in self.events if event.agent == agent)
