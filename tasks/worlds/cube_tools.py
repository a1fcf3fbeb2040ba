"""The symbolic tools of CUBE, grounded to one primitive action a step, and what to expect of a call."""

from __future__ import annotations

from dataclasses import replace

from tasks.worlds.cooperation import Call, Forecast, Parameter, Place, Progress, Running, Tool, end, issue
from tasks.worlds.cube_board import MOVES, OPPOSITE, STAY, Block, CubeState, beside, far, manhattan, walkable

STEPS = Parameter("steps", low=1, high=10, default=1)
TOOLS = (
    Tool("move", (Parameter("direction", tuple(MOVES)), STEPS), "walk; ends with the first step that is in vain"),
    Tool(
        "navigate",
        (
            Parameter("target"),
            Parameter("timeout", low=1, high=100, default=30),
            Parameter("side", tuple(MOVES), default="left"),
        ),
        "go to the nearest free cell along a side of a block (block_3), beside an agent (agent_1) or before the goal",
    ),
    Tool(
        "push",
        (Parameter("block", prefix="block"), STEPS),
        "push the block that you touch away from you, again and again, while you wait for others to push with you",
    ),
    Tool("wait", (STEPS,), "stay where you are"),
    Tool("noop", (), "do nothing for one step"),
)


def advance(size: int, agents: tuple[str, ...], running: Running, state: CubeState) -> Progress:
    """See `CooperativeWorld.advance`."""
    place = state.agents[agents.index(running.agent)]
    tool, arguments = running.call.tool, running.call.arguments
    if tool == "push":
        return _push(agents.index(running.agent), running, state)
    if tool == "navigate":
        return _navigate(size, agents, running, state)
    if tool == "move":
        direction, steps = str(arguments[0]), int(arguments[1])
        if running.issued and place == running.memory:
            return end(running, False, f"no step {direction} was possible after {running.issued - 1} of {steps}")
        if running.issued == steps:
            return end(running, True, f"walked {steps} {direction}")
        return issue(running, direction, place)
    steps = int(arguments[0]) if tool == "wait" else 1
    return end(running, True, f"waited {steps}") if running.issued == steps else issue(running, STAY)


def _push(seat: int, running: Running, state: CubeState) -> Progress:
    """Memory: the direction, how often the block has moved, and the step in which the last push was done."""
    name, steps = str(running.call.arguments[0]), int(running.call.arguments[1])
    direction, moved, last = running.memory or ("", 0, -1)
    number = numbered(name)
    if last == state.step - 1:
        moved += any(p.block == number and p.direction == direction and seat in p.seats for p in state.pushes)
    block = state.block(number)
    side = block.side_of(state.agents[seat]) if block else ""
    told = f"{name} was pushed {direction} {moved} times"
    if block is None:
        return end(running, moved > 0, f"{told} and is delivered" if moved else f"{name} is not on the board")
    if not running.issued and not side:
        return end(running, False, f"no contact: you do not stand beside {name}")
    if running.issued and direction != OPPOSITE.get(side):
        return end(running, moved > 0, f"{told}, then others moved it away from you")
    if running.issued == steps:
        why = state.told[seat] if state.told else ""
        return end(running, moved > 0, told if moved else f"{name} did not move in {steps} steps. {why}".strip())
    direction = OPPOSITE[side]
    return issue(running, direction, (direction, moved, state.step))


def _navigate(size: int, agents: tuple[str, ...], running: Running, state: CubeState) -> Progress:
    target, timeout = str(running.call.arguments[0]), int(running.call.arguments[1])
    seat = agents.index(running.agent)
    place = state.agents[seat]
    goals = destinations(size, agents, running.call, state)
    others = [other for i, other in enumerate(state.agents) if i != seat]
    if goals is None:
        return end(running, False, f"{target} is not there, or is none of block_<n>, agent_<n>, goal")
    if place in goals:
        return end(running, True, f"arrived at {target}")
    if running.issued == timeout:
        return end(running, False, f"not at {target} after {timeout} steps")
    bodies = {*others, *state.cover}
    free = [goal for goal in goals if goal not in bodies]
    step = _downhill(place, far(size, free, bodies), bodies)
    if step == STAY:  # other agents are in the way: they may leave, so go as near as they let
        open_ = [goal for goal in goals if goal not in state.cover]
        distances = far(size, open_, state.cover)
        if place not in distances:
            return end(running, False, f"no way leads to {target}")
        step = _downhill(place, distances, bodies)
    return issue(running, step)


def _downhill(place: Place, distances: dict[Place, int], bodies: set[Place]) -> str:
    """The first direction to a free cell that is nearer; STAY if there is none."""
    here = distances.get(place)
    for direction in MOVES:
        cell = beside(place, direction)
        if here is not None and cell not in bodies and distances.get(cell, here) < here:
            return direction
    return STAY


def destinations(size: int, agents: tuple[str, ...], call: Call, state: CubeState) -> list[Place] | None:
    """Where `navigate` may end, occupied or not; None where there is no such target."""
    target, side = str(call.arguments[0]), str(call.arguments[2])
    if target == "goal":
        return [(row, size - 2) for row in range(size)]
    if target in agents:
        place = state.agents[agents.index(target)]
        cells = [beside(place, direction) for direction in MOVES]
    elif block := state.block(numbered(target)):
        cells = block.face(side)
    else:
        return None
    return [cell for cell in cells if walkable(size, cell)]


def numbered(name: str) -> int:
    """The number in `block_3`; -1 where the name is no block's."""
    number = name.removeprefix("block_")
    return int(number) if name.startswith("block_") and number.isdecimal() and len(number) < 10 else -1


def aimed_side(block: Block, place: Place) -> str:
    """The side from which one at `place` pushes: the one touched, else the nearest, the left one first."""
    sides = ("left", *(side for side in MOVES if side != "left"))
    return min(sides, key=lambda side: min(manhattan(place, cell) for cell in block.face(side)))


def foresee(size: int, agents: tuple[str, ...], call: Call, state: CubeState, forecast: Forecast) -> Forecast:
    """See `CooperativeWorld.foresee`. Blocks are taken to be where they are now."""
    place, steps = forecast.place, 1
    if call.tool == "navigate":
        goals = destinations(size, agents, call, state) or [place]
        place = min(goals, key=lambda goal: manhattan(forecast.place, goal))
        steps = max(1, manhattan(forecast.place, place))
    elif call.tool in ("move", "push"):
        steps, direction = int(call.arguments[1]), str(call.arguments[0])
        if call.tool == "push":
            block = state.block(numbered(direction))
            side = block.side_of(place) if block else ""
            direction = OPPOSITE.get(side, "")
            if block and side == "left":  # it is gone, and the push over, once it touches the goal
                steps = min(steps, max(1, size - block.column - block.weight))
        for _ in range(steps):
            if direction and walkable(size, beside(place, direction)):
                place = beside(place, direction)
    elif call.tool == "wait":
        steps = int(call.arguments[0])
    return replace(forecast, place=place, steps=forecast.steps + steps)
