"""What the study adds to a world to play it: its size, its texts, and the numbers of its process. Whoever brings a
world of their own adds an `Arena` for it."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from functools import cache
from typing import Any, ClassVar

from collabtax.agents import prompt
from tasks.worlds.cooperation import Call, CooperativeWorld, CoopTask, Tool
from tasks.worlds.crafter.rules import Cost
from tasks.worlds.crafter.world import Crafter
from tasks.worlds.cube import Cube

AnyCooperativeWorld = CooperativeWorld[Any]
SECONDS = 120.0  # of an episode (the authors' code, also for CUBE)


class Arena(ABC):
    """One world of the study."""

    name: ClassVar[str]  # the task of its cells
    version: ClassVar[int]  # of its world
    steps: ClassVar[int]  # of an episode at most
    patience: ClassVar[float]  # seconds that a leader waits for replies
    cooldown: ClassVar[int]  # steps between two repairs of the same kind
    fallback: ClassVar[tuple[str, ...]]  # calls of the plan of an agent that makes none
    example: ClassVar[tuple[str, tuple[str, ...]]]  # a task and calls for it, as agents are shown

    @abstractmethod
    def world(self, team: int, steps: int) -> AnyCooperativeWorld: ...

    @abstractmethod
    def rules(self, world: AnyCooperativeWorld) -> str:
        """What agents are told of the world, apart from what they observe."""

    @abstractmethod
    def most(self, world: AnyCooperativeWorld, first: Any) -> float:
        """The score for everything that the world holds when an episode starts."""

    def cooled(self, task: CoopTask) -> str:
        """What a repair of a task cools down: the task itself, unless the world knows better."""
        return task.id


class CubeArena(Arena):
    name, version, steps = "cube", Cube.version, 50
    patience, cooldown = 10.0, 5
    fallback = ("move(right, 2)", "move(down, 1)")
    example = ("block_3_left", ("navigate(block_3, 30, left)", "push(block_3, 10)"))

    def world(self, team: int, steps: int) -> AnyCooperativeWorld:
        return Cube(team=team, limit=steps)

    def rules(self, world: AnyCooperativeWorld) -> str:
        assert isinstance(world, Cube)
        return prompt("coop/rules_cube").format(size=world.size)

    def most(self, world: AnyCooperativeWorld, first: Any) -> float:
        return float(sum(block.weight for block in first.blocks))


class CrafterArena(Arena):
    name, version, steps = "crafter", Crafter.version, 200
    patience, cooldown = 30.0, 20
    fallback = ("move(left, 2)", "collect(wood)")
    example = ("tree#1234", ("navigate(tree, 1234)", "collect(tree, 1234)"))

    def world(self, team: int, steps: int) -> AnyCooperativeWorld:
        return Crafter(team=team, limit=steps)

    def rules(self, world: AnyCooperativeWorld) -> str:
        assert isinstance(world, Crafter)
        made = [f"- place({p.name}): {_cost(p.cost)}, on the cell that you face" for p in world.rules.placements]
        made += [
            f"- craft({p.name}): {_cost(p.cost)}, close to a {' and a '.join(p.stations)}" for p in world.rules.products
        ]
        return prompt("coop/rules_crafter").format(products="\n".join(made))

    def most(self, world: AnyCooperativeWorld, first: Any) -> float:
        """Everything on the map, each resource mined by no more agents than it takes."""
        assert isinstance(world, Crafter)
        tasks = [
            world.task_at(mark, x, y) for y, row in enumerate(first.rows) for x, mark in enumerate(row)
            if world.scores(mark)
        ]  # fmt: skip
        return float(
            sum(
                task.reward * (task.participants if world.score_per_participant else 1)
                for task in tasks if task.participants <= world.team
            )
        )  # fmt: skip

    def cooled(self, task: CoopTask) -> str:
        """The kind of resource."""
        return task.id.partition("#")[0]


def _cost(cost: Cost) -> str:
    return ", ".join(f"{number} {name}" for name, number in cost)


def told(tool: Tool) -> str:
    """A tool as agents are told of it."""
    ranges = [
        f"{p.name}: {', '.join(p.choices) if p.choices else f'{p.low} to {p.high}'}"
        for p in tool.parameters if p.choices or p.low is not None
    ]  # fmt: skip
    return f"- {tool.usage}: {tool.summary}{''.join(f'; {one}' for one in ranges)}"


def written(world: AnyCooperativeWorld, call: Call) -> str:
    """A call as an agent may write it: `world.parse_call` reads it back."""
    tool = next(tool for tool in world.tools() if tool.name == call.tool)
    given = list(zip(tool.parameters, call.arguments, strict=True))
    while given and given[-1][0].default == given[-1][1]:
        given.pop()
    words: list[str] = []
    by_name = False
    for parameter, value in given:
        if value == "":
            by_name = True  # those after it have lost their place
        else:
            words.append(f"{parameter.name}={value}" if by_name else str(value))
    return f"{call.tool}({', '.join(words)})"


@cache
def arenas() -> Mapping[str, Arena]:
    """All arenas by name."""
    return {arena.name: arena for arena in (CubeArena(), CrafterArena())}
