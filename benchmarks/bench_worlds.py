"""How fast worlds are, by pytest-benchmark: `pytest benchmarks/bench_worlds.py`. One call is one step of an episode
with what every agent is told, so that operations per second are steps per second."""

from itertools import cycle

import pytest

from tasks.base import seeded
from tasks.worlds import forest, kitchen
from tasks.worlds.crafter.world import Crafter
from tasks.worlds.cube import Cube


def at_random(world):
    """A policy that does anything: what bodies do to each other is part of the cost."""
    rng = seeded("bench", world.name)
    return lambda state, agent: rng.choice(world.actions(agent))


WORLDS = [  # name, a function that makes the world, one that makes a policy(state, agent) for it
    ("kitchen", lambda: kitchen.Kitchen("baked_pumpkin_soup"), lambda world: kitchen.script(world.order)),
    ("forest", forest.Forest, forest.script),
    ("cube, 3 agents", lambda: Cube(team=3), at_random),
    ("cube, 6 agents", lambda: Cube(team=6), at_random),
    ("crafter, 3 agents", lambda: Crafter(team=3), at_random),
    ("crafter, 6 agents", lambda: Crafter(team=6), at_random),
]


def played(world, policy):
    """The states of an episode but for the last one, each with what its agents do there."""
    state, found = world.initial(0), []
    while not (world.is_over(state) or world.is_cut(state)):
        actions = {agent: policy(state, agent) for agent in world.living(state)}
        found.append((state, actions))
        state = world.step(state, actions)
    return found


@pytest.mark.parametrize("told", ["observed", "observed and legal"])
@pytest.mark.parametrize(("name", "make", "team"), WORLDS, ids=[name for name, _, _ in WORLDS])
def test_speed(name, make, team, told, benchmark):
    world = make()
    moments = cycle(played(world, team(world)))

    def step():
        state, actions = next(moments)
        for agent in world.living(state):
            world.observe(state, agent)
            if told == "observed and legal":
                world.legal(state, agent)
        world.step(state, actions)

    benchmark.group = f"worlds: {told}"
    benchmark.extra_info.update(world=name, version=world.version)
    benchmark(step)
