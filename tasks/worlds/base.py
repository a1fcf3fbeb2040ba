"""The contract of a world: a small exact engine that agents act in, step by step.

A world is a frozen dataclass whose fields are the numbers of its rules; a state is a frozen dataclass too, so that no
two states share anything that changes. All methods are pure: the same seed and actions give the same states in every
process, however often they are looked at. Actions are texts from a finite list. `parallel.env` makes any world a
PettingZoo ParallelEnv.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from typing import Any, ClassVar, Generic, TypeVar

State = TypeVar("State")


class World(ABC, Generic[State]):
    """One world with its numbers. `agents` are names in seat order; `longest` bounds the characters of an
    observation."""

    name: ClassVar[str]
    version: ClassVar[int]  # raised whenever states, observations or rules change
    longest: ClassVar[int] = 20_000

    @property
    @abstractmethod
    def agents(self) -> tuple[str, ...]:
        """All agents, in seat order."""

    @abstractmethod
    def initial(self, seed: int) -> State:
        """The first state. Everything random in the episode follows from `seed`."""

    @abstractmethod
    def actions(self, agent: str) -> tuple[str, ...]:
        """Every action that `agent` can ever take, in a fixed order; the first one does nothing."""

    @abstractmethod
    def refusal(self, state: State, agent: str, action: str) -> str:
        """Why `action` cannot be done now, in one line for the agent to read; "" where it can."""

    @abstractmethod
    def step(self, state: State, actions: Mapping[str, str]) -> State:
        """One step of all living agents at once; who is not named does nothing. What cannot be done has no effect.

        Raises:
            ValueError: an agent that does not live, an action that is not in `actions`, or an episode that has ended.
        """

    @abstractmethod
    def observe(self, state: State, agent: str) -> str:
        """What `agent` sees, told in words: the same text however often it is asked for."""

    @abstractmethod
    def feedback(self, state: State, agent: str) -> str:
        """What came of the agent's action in the step that led here, in one line; "" where there is nothing to say."""

    @abstractmethod
    def living(self, state: State) -> tuple[str, ...]:
        """Agents that still act, in seat order."""

    @abstractmethod
    def rewards(self, before: State, after: State) -> dict[str, float]:
        """What each agent that lived before gets for the step between two states."""

    @abstractmethod
    def is_over(self, state: State) -> bool:
        """Whether the episode has ended by its own rules."""

    @abstractmethod
    def is_cut(self, state: State) -> bool:
        """Whether the episode has reached its limit of steps without having ended."""

    @abstractmethod
    def draw(self, state: State) -> str:
        """An SVG of the state (`tasks.drawing`), with a text alternative; all text in it is escaped."""

    def legal(self, state: State, agent: str) -> tuple[str, ...]:
        """The actions that can be done now."""
        return tuple(action for action in self.actions(agent) if not self.refusal(state, agent, action))

    def check(self, state: State, actions: Mapping[str, str]) -> None:
        """Raise ValueError for what `step` must not be given."""
        if self.is_over(state) or self.is_cut(state):
            raise ValueError(f"{self.name}: the episode has ended; start another one")
        for agent, action in actions.items():
            if agent not in self.living(state):
                raise ValueError(f"{self.name}: {agent!r} does not act any more, or never did")
            if action not in self._known(agent):
                raise ValueError(f"{self.name}: {action!r} is no action of {agent}")

    def _known(self, agent: str) -> frozenset[str]:
        """`actions` for looking up; kept, as it is asked for at every step."""
        kept: dict[str, frozenset[str]] = self.__dict__.setdefault("_actions", {})
        if agent not in kept:
            kept[agent] = frozenset(self.actions(agent))
        return kept[agent]


AnyWorld = World[Any]
