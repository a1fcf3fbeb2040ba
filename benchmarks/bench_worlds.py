"""How fast worlds are, by pytest-benchmark: `pytest benchmarks/bench_worlds.py`. One call is one step of an episode
with what every agent is told, so that operations per second are steps per second."""

from itertools import cycle

import pytest

from tasks.worlds.kitchen import Kitchen, script

WORLDS = [  # name, a function that makes the world, one that makes a policy(state, agent) for it
    ("kitchen", lambda: Kitchen("baked_pumpkin_soup"), lambda world: script(world.order)),
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
