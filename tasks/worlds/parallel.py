"""Any world as a PettingZoo ParallelEnv, for those who want to train or test with that library. Needs the extra
`worlds`."""

from __future__ import annotations

from typing import Any

import gymnasium
from pettingzoo import ParallelEnv

from tasks.worlds.base import AnyWorld

CHARACTERS = "\n" + "".join(map(chr, range(32, 0x2500)))  # of most languages


class WorldEnv(ParallelEnv):  # type: ignore[misc]  # the library's base class is generic without defaults
    """`world` as an environment: observations are its texts, actions are numbers into `world.actions(agent)`."""

    def __init__(self, world: AnyWorld) -> None:
        self.world = world
        self.metadata = {"name": f"{world.name}_v{world.version}", "render_modes": []}
        self.render_mode = None
        self.possible_agents = list(world.agents)
        self.agents: list[str] = []
        self._spaces = {
            agent: (
                gymnasium.spaces.Text(max_length=world.longest, min_length=0, charset=CHARACTERS),
                gymnasium.spaces.Discrete(len(world.actions(agent))),
            )
            for agent in world.agents
        }
        self._seed = -1
        self.state_: Any = None

    def observation_space(self, agent: str) -> gymnasium.Space[Any]:
        return self._spaces[agent][0]

    def action_space(self, agent: str) -> gymnasium.Space[Any]:
        return self._spaces[agent][1]

    def reset(
        self, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[dict[str, str], dict[str, dict[str, Any]]]:
        """A new episode: of `seed`, or of the seed after the last one."""
        self._seed = self._seed + 1 if seed is None else seed
        self.state_ = self.world.initial(self._seed)
        self.agents = list(self.world.living(self.state_))
        return {a: self.world.observe(self.state_, a) for a in self.agents}, {a: {} for a in self.agents}

    def step(
        self, actions: dict[str, int]
    ) -> tuple[dict[str, str], dict[str, float], dict[str, bool], dict[str, bool], dict[str, dict[str, Any]]]:
        """One step; everything is keyed by the agents that lived before it. Raises ValueError after the end."""
        before, acted = self.state_, list(self.agents)
        told = {agent: self.world.actions(agent)[int(number)] for agent, number in actions.items()}
        self.state_ = after = self.world.step(before, told)
        over, cut = self.world.is_over(after), self.world.is_cut(after)
        living = () if over or cut else self.world.living(after)
        self.agents = [agent for agent in self.agents if agent in living]
        return (
            {agent: self.world.observe(after, agent) for agent in acted},
            self.world.rewards(before, after),
            {agent: over or agent not in self.world.living(after) for agent in acted},
            dict.fromkeys(acted, cut),
            {agent: {"feedback": self.world.feedback(after, agent)} for agent in acted},
        )


def env(world: AnyWorld) -> WorldEnv:
    """`world` as a ParallelEnv."""
    return WorldEnv(world)
