"""The symbolic tools: each call becomes one primitive action a step, decided on what its agent knows then."""

from __future__ import annotations

import heapq
from dataclasses import dataclass
from typing import TYPE_CHECKING

from tasks.worlds.cooperation import Call, Forecast, Inventory, Parameter, Progress, Running, Tool, end, issue
from tasks.worlds.crafter.engine import mark_at
from tasks.worlds.crafter.observation import nearest
from tasks.worlds.crafter.rules import (
    DIRECTIONS,
    INDEX,
    MARKS,
    MATERIALS,
    STEPS,
    UNSEEN,
    WALKABLE,
    Agent,
)

if TYPE_CHECKING:
    from tasks.worlds.crafter.engine import CrafterState, Rows
    from tasks.worlds.crafter.world import Crafter

Cell = tuple[int, int]
LONGEST_NAVIGATION = 64  # steps [U]
PATIENCE = 3  # steps that a collect waits for others [U]
LONGEST_STAY = 50  # steps of a move, a collect or a noop [our choice]
ALIASES = {"wood": "tree", "drink": "water", "food": "cow"}  # what agents say for what they want [our choice]
COLLECTED_BESIDE = ("water", "cow")


@dataclass(frozen=True)
class Target:
    """What a call is about: its full name and its cell, or why there is none."""

    id: str = ""
    cell: Cell = (0, 0)
    fault: str = ""


def offered(world: Crafter) -> tuple[Tool, ...]:
    """The tools of a world, in the order in which agents are told of them."""
    limit = world.rules.item_limit
    products, placements = ([p.name for p in ps] for ps in (world.rules.products, world.rules.placements))
    return (
        Tool("noop", (Parameter("steps", low=1, high=LONGEST_STAY, default=1),), "do nothing"),
        Tool(
            "move",
            (Parameter("direction", DIRECTIONS), Parameter("steps", low=1, high=LONGEST_STAY, default=1)),
            "walk straight on; a step that is blocked turns you and ends the call",
        ),
        Tool(
            "navigate",
            (
                Parameter("object_type"),
                Parameter("id", default=""),
                Parameter("timeout", low=1, high=LONGEST_NAVIGATION, default=LONGEST_NAVIGATION),
            ),
            f"walk to within distance {world.rules.distance} of something, such as navigate(coal, 1234) or, the "
            "nearest that you know of, navigate(tree); also water, cow, table, furnace and agents that you see",
        ),
        Tool(
            "collect",
            (
                Parameter("target"),
                Parameter("task_id", default=""),
                Parameter("steps", low=1, high=LONGEST_STAY, default=PATIENCE),
            ),
            "collect a resource that is near, trying again for so many steps, so that others can join; also water, cow",
        ),
        Tool("place", (Parameter("item", tuple(placements)),), "place it on the cell that you face"),
        Tool("craft", (Parameter("item", tuple(products)),), "make a tool beside what it takes"),
        Tool("sleep", (), "sleep until your energy is full"),
        Tool(
            "share",
            (
                Parameter("recipient", world.agents),
                Parameter("resource", world.rules.shareable),
                Parameter("quantity", low=1, high=limit, default=1),
            ),
            "give something to an agent, however far away",
        ),
    )


def respell(tool: str, given: list[str], named: dict[str, str]) -> tuple[list[str], dict[str, str]]:
    """`collect(coal#12, 5)` and `navigate(coal#12, 9)`: what follows a full name is the number of steps."""
    if tool in ("collect", "navigate") and len(given) == 2 and "#" in given[0] and "#" not in given[1]:
        return given[:1], {"steps" if tool == "collect" else "timeout": given[1], **named}
    return given, named


def start(world: Crafter, call: Call, state: CrafterState, agent: str) -> Running:
    """A collect or navigation without an id chooses its target here and keeps it."""
    if call.tool not in ("collect", "navigate"):
        return Running(call, agent)
    me = state.agents[world.seat(agent)]
    target = find(world, state, agent, str(call.arguments[0]), str(call.arguments[1]), (me.x, me.y))
    return Running(call, agent, memory=(target.id or None, target.fault, ()))


def advance(world: Crafter, running: Running, state: CrafterState) -> Progress:
    """The next step of a call."""
    me = state.agents[world.seat(running.agent)]
    if not me.alive:
        return end(running, False, "you are dead")
    call = running.call
    if me.asleep and call.tool != "sleep":
        return Progress(running, "noop", "executing", "you are asleep")  # it waits until its agent wakes
    return _ADVANCE[call.tool](world, running, state, me)


def _noop(world: Crafter, running: Running, state: CrafterState, me: Agent) -> Progress:
    if running.issued == running.call.arguments[0]:
        return end(running, True, "waited")
    return issue(running, "noop")


def _move(world: Crafter, running: Running, state: CrafterState, me: Agent) -> Progress:
    direction, steps = running.call.arguments
    if running.issued and not me.done:
        return end(running, False, me.outcome)
    if running.issued == steps:
        return end(running, True, me.outcome)
    return issue(running, f"move {direction}")


def _navigate(world: Crafter, running: Running, state: CrafterState, me: Agent) -> Progress:
    """Over what the agent has seen and what it has not, never through what it knows to be in the way."""
    id, fault, path = running.memory
    if fault:
        return end(running, False, fault)
    target = find(world, state, running.agent, id, "", (me.x, me.y))
    if target.fault:
        return end(running, False, target.fault)
    distance = world.rules.distance
    here = (me.x, me.y)
    if _moves(here, target.cell) <= distance:
        return end(running, True, f"you are at {id}")
    if running.issued >= int(running.call.arguments[2]):
        return end(running, False, f"{id} was not reached within {running.call.arguments[2]} steps")
    bodies = {cell for cell in _seen_bodies(world, state, me) if cell != here}
    if path and path[0] == here:
        path = path[1:]  # the last step was made
    kept = path and _moves(path[0], here) == 1 and path[0] not in bodies and _moves(path[-1], target.cell) <= distance
    if not kept or any(me.memory[y][x] not in WALKABLE + UNSEEN for x, y in path):
        path = walk(me.memory, here, target.cell, distance, frozenset(bodies))
        if not path:
            if walk(me.memory, here, target.cell, distance, frozenset()):
                return issue(running, "noop", (id, "", ()))  # somebody stands in the way
            return end(running, False, f"there is no way to {id} that you know of")
    dx, dy = path[0][0] - me.x, path[0][1] - me.y
    return issue(running, f"move {DIRECTIONS[STEPS.index((dx, dy))]}", (id, "", path))


def _collect(world: Crafter, running: Running, state: CrafterState, me: Agent) -> Progress:
    id, fault, _ = running.memory
    if fault:
        return end(running, False, fault)
    if running.issued and id in me.got:
        return end(running, True, me.outcome)
    target = find(world, state, running.agent, id, "", (me.x, me.y))
    if target.fault:
        return end(running, False, target.fault)
    if _moves((me.x, me.y), target.cell) > world.rules.distance:
        away = _moves((me.x, me.y), target.cell)
        return end(running, False, f"{id} is {away} steps away, more than {world.rules.distance}; navigate to it first")
    resource = world.resource_at(mark_at(state.rows, *target.cell)) if not id.startswith(COLLECTED_BESIDE) else None
    if running.issued:
        lacks = resource and resource.tool and not me.items[INDEX[resource.tool]]
        if lacks or running.issued == running.call.arguments[2]:
            return end(running, False, me.outcome)
    offset = (target.cell[0] - me.x, target.cell[1] - me.y)
    where = next(name for name, cell in world.offsets.items() if cell == offset)
    return issue(running, f"collect {where}", running.memory)


def _once(world: Crafter, running: Running, state: CrafterState, me: Agent) -> Progress:
    """One action, which has its effect or not."""
    if running.issued:
        return end(running, me.done, me.outcome)
    tool, arguments = running.call.tool, running.call.arguments
    if tool == "share":
        recipient, item, quantity = arguments
        if recipient == running.agent:
            return end(running, False, "share: you cannot give something to yourself")
        action = f"share {recipient} {item} {quantity if item in MATERIALS else 1}"
    else:
        action = f"{'make' if tool == 'craft' else tool} {arguments[0]}"
    if refusal := world.refusal(state, running.agent, action):
        return end(running, False, refusal)
    return issue(running, action)


def _sleep(world: Crafter, running: Running, state: CrafterState, me: Agent) -> Progress:
    if me.asleep:
        return issue(running, "noop")
    if me.vitals[3] >= world.rules.vitals.most:
        return end(running, bool(running.issued), "your energy is full")
    return end(running, False, "you woke up before your energy was full") if running.issued else issue(running, "sleep")


_ADVANCE = {
    "noop": _noop,
    "move": _move,
    "navigate": _navigate,
    "collect": _collect,
    "place": _once,
    "craft": _once,
    "share": _once,
    "sleep": _sleep,
}


def find(world: Crafter, state: CrafterState, agent: str, kind: str, id: str, place: Cell) -> Target:
    """What `kind` and `id` mean to an agent: "coal#12", ("coal", "12"), ("coal", "coal#12"), or ("coal", "") for the
    nearest to `place` that it knows of."""
    me = state.agents[world.seat(agent)]
    said, _, number = kind.partition("#")
    if id:
        other, _, told = id.rpartition("#")
        if (number and number != told) or (other and ALIASES.get(other, other) != ALIASES.get(said, said)):
            return Target(fault=f"{kind} and {id} are not the same; name one thing")
        number = told
    said = ALIASES.get(said, said)
    if said.startswith("agent"):
        return _find_agent(world, state, me, said if said in world.agents else f"agent_{number.removeprefix('agent_')}")
    if said == "cow":
        seen = _seen_cows(world, state, me)
        if number:
            cell = seen.get(f"cow#{number}")
            return Target(f"cow#{number}", cell) if cell else Target(fault=f"you see no cow#{number}")
        if not seen:
            return Target(fault="you see no cow")
        return Target(*min(seen.items(), key=lambda item: (_moves(item[1], place), item[0])))
    mark = MARKS.get(said)
    if mark is None:
        return Target(fault=f"{said!r} is none of {', '.join(MARKS)}, cow, agent")
    if not number:
        for _, y, x in nearest(me.memory, mark, *place, 1):
            return Target(f"{said}#{world.number(x, y)}", (x, y))
        return Target(fault=f"you know of no {said}; look around")
    cell = world.cell(number)
    if cell is None:
        return Target(fault=f"{said}#{number[:20]} is not on the map")
    known = me.memory[cell[1]][cell[0]]
    if known not in (mark, UNSEEN):
        return Target(fault=f"{said}#{number} is not there, or not any more")
    return Target(f"{said}#{number}", cell)


def walk(memory: Rows, here: Cell, target: Cell, distance: int, blocked: frozenset[Cell]) -> tuple[Cell, ...]:
    """A shortest walk to within `distance` of a cell by A*, without its first cell; empty if there is none. What has
    not been seen is taken to be free. Among equals, the one that an order of up, down, left, right finds."""
    width, height = len(memory[0]), len(memory)
    free = WALKABLE + UNSEEN
    best = {here: 0}
    came: dict[Cell, Cell] = {}
    edge = [(max(0, _moves(here, target) - distance), 0, 0, here)]
    count = 0
    while edge:
        _, past, _, cell = heapq.heappop(edge)
        if _moves(cell, target) <= distance:
            way = [cell]
            while way[-1] in came:
                way.append(came[way[-1]])
            return tuple(way[-2::-1])
        if -past > best[cell]:
            continue
        for dx, dy in STEPS:
            x, y = other = cell[0] + dx, cell[1] + dy
            if 0 <= x < width and 0 <= y < height and memory[y][x] in free and other not in blocked:
                far = 1 - past
                if far < best.get(other, far + 1):
                    best[other], came[other] = far, cell
                    count += 1
                    ahead = max(0, abs(x - target[0]) + abs(y - target[1]) - distance)
                    heapq.heappush(edge, (far + ahead, -far, count, other))  # of equals the furthest on
    return ()


def aim(world: Crafter, state: CrafterState, agent: str, call: Call, place: Cell) -> str:
    """The task of a collect, as its agent takes it."""
    if call.tool != "collect":
        return ""
    target = find(world, state, agent, str(call.arguments[0]), str(call.arguments[1]), place)
    return target.id if target.id and world.task(state, target.id) else ""


def duration(world: Crafter, state: CrafterState, agent: str, call: Call, forecast: Forecast) -> int:
    """Navigation goes straight, a collect for others waits as long as it may, all else takes its steps [U]."""
    if call.tool in ("move", "noop"):
        return int(call.arguments[-1])
    if call.tool == "navigate":
        target = find(world, state, agent, str(call.arguments[0]), str(call.arguments[1]), forecast.place)
        if target.fault:
            return 1
        return min(int(call.arguments[2]), max(1, _moves(forecast.place, target.cell) - world.rules.distance))
    if call.tool == "collect":
        task = world.task(state, aim(world, state, agent, call, forecast.place))
        return int(call.arguments[2]) if task and task.participants > 1 else 1
    if call.tool == "sleep":
        vitals = world.rules.vitals
        missing = vitals.most - state.agents[world.seat(agent)].vitals[3]
        return max(1, missing * (1 - int(vitals.rest)))
    return 1


def foresee(world: Crafter, state: CrafterState, agent: str, call: Call, forecast: Forecast) -> Forecast:
    """Where the call leads and what it yields and costs if all goes well."""
    steps = forecast.steps + duration(world, state, agent, call, forecast)
    place, held = forecast.place, dict(forecast.inventory)
    if call.tool == "move":
        dx, dy = STEPS[world.direction(str(call.arguments[0]))]
        n = int(call.arguments[1])
        width, height = len(state.rows[0]), len(state.rows)
        place = (min(max(place[0] + n * dx, 0), width - 1), min(max(place[1] + n * dy, 0), height - 1))
    elif call.tool in ("navigate", "collect"):
        target = find(world, state, agent, str(call.arguments[0]), str(call.arguments[1]), place)
        if call.tool == "navigate" and not target.fault:
            place = _beside(place, target.cell, world.rules.distance)
        elif resource := world.resource_at(MARKS.get(target.id.partition("#")[0], "")):
            held[resource.gives] = held.get(resource.gives, 0) + 1
    elif call.tool in ("craft", "place"):
        item = str(call.arguments[0])
        making = world.product_of(item) if call.tool == "craft" else world.placement_of(item)
        for name, number in making.cost:
            held[name] = held.get(name, 0) - number
        if call.tool == "craft":
            held[item] = held.get(item, 0) + 1
    elif call.tool == "share":
        held[str(call.arguments[1])] = held.get(str(call.arguments[1]), 0) - int(call.arguments[2])
    return Forecast(place, _positive(held), steps)


def _positive(held: dict[str, int]) -> Inventory:
    return tuple((name, held[name]) for name in INDEX if held.get(name, 0) > 0)


def _beside(place: Cell, target: Cell, distance: int) -> Cell:
    """The cell within `distance` of the target that one who comes straight from `place` enters first."""
    dx, dy = place[0] - target[0], place[1] - target[1]
    if abs(dx) + abs(dy) <= distance:
        return place
    if abs(dx) >= abs(dy):
        keep = min(abs(dx), distance)
        return target[0] + (keep if dx > 0 else -keep), target[1] + max(keep - distance, min(distance - keep, dy))
    keep = min(abs(dy), distance)
    return target[0] + max(keep - distance, min(distance - keep, dx)), target[1] + (keep if dy > 0 else -keep)


def _find_agent(world: Crafter, state: CrafterState, me: Agent, name: str) -> Target:
    if name not in world.agents:
        return Target(fault=f"{name[:40]!r} is none of {', '.join(world.agents)}")
    other = state.agents[world.seat(name)]
    if not other.alive:
        return Target(fault=f"{name} is dead")
    return (
        Target(name, (other.x, other.y))
        if _in_view(world, me, other.x, other.y)
        else Target(fault=f"{name} is out of sight")
    )


def _in_view(world: Crafter, me: Agent, x: int, y: int) -> bool:
    width, height = world.rules.view
    return abs(x - me.x) <= width // 2 and abs(y - me.y) <= height // 2


def _seen_cows(world: Crafter, state: CrafterState, me: Agent) -> dict[str, Cell]:
    return {f"cow#{cow.number}": (cow.x, cow.y) for cow in state.cows if _in_view(world, me, cow.x, cow.y)}


def _seen_bodies(world: Crafter, state: CrafterState, me: Agent) -> list[Cell]:
    others = [(a.x, a.y) for a in state.agents if a.alive and _in_view(world, me, a.x, a.y)]
    return [*others, *_seen_cows(world, state, me).values()]


def _moves(a: Cell, b: Cell) -> int:
    return abs(a[0] - b[0]) + abs(a[1] - b[1])
