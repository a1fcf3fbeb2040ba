"""What an agent is told of a state, in words. Everything in it follows from what the agent sees, holds and remembers;
looking changes nothing."""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache
from typing import TYPE_CHECKING

from tasks.worlds.crafter.bits import fill, ones, row_bits, spread, window_bits
from tasks.worlds.crafter.rules import (
    DIRECTIONS,
    FURNACE,
    GRASS,
    INDEX,
    ITEMS,
    LAVA,
    MARKS,
    NAMES,
    PATH,
    SAND,
    STEPS,
    TABLE,
    VITALS,
    WALKABLE,
    WATER,
    Agent,
)

if TYPE_CHECKING:
    from tasks.worlds.crafter.engine import CrafterState, Rows
    from tasks.worlds.crafter.world import Crafter

GROUND = GRASS + PATH + SAND + WATER + LAVA  # told without a number in the view
UTILITIES = (TABLE, FURNACE, WATER)
OUTSIDE = "---"


def observation(world: Crafter, state: CrafterState, seat: int) -> str:
    """The text for one agent, the dead included."""
    me = state.agents[seat]
    name = world.agents[seat]
    head = f"You are {name}. Step {state.step} of {world.limit}, {world.limit - state.step} left."
    if not me.alive:
        return f"{head}\nYou are dead: {me.outcome or 'you do not act any more'}."
    width, height = world.rules.view
    left, top = me.x - width // 2, me.y - height // 2
    bodies = _bodies(world, state, me, left, top)
    vitals = ", ".join([f"{vital} {value}" for vital, value in zip(VITALS, me.vitals, strict=True)])
    ahead = (me.x + STEPS[me.facing][0], me.y + STEPS[me.facing][1])
    lines = [
        head,
        world.settings,
        _team(world, state, seat, left, top),
        f"Vitals (0 to {world.rules.vitals.most}): {vitals}{'; you are asleep' if me.asleep else ''}",
        f"Inventory: {_items(me.items)}",
        f"Position: ({me.x}, {me.y}), x grows to the right, y downwards. You face {DIRECTIONS[me.facing]}: "
        f"{bodies.get(ahead) or _label_at(state.rows, *ahead)}",
        f"View, x from {left} to {left + width - 1}:",
        *_view(state.rows, bodies, left, top, width, height, name, (me.x, me.y)),
        *_targets(world, state.rows, me, left, top),
        *_utilities(world, state, me, bodies, left, top),
        *_remembered(world, me, left, top),
    ]
    if me.events:
        lines += ["Lately:", *me.events[-world.rules.events_told :]]
    return "\n".join(lines)


def settings(world: Crafter) -> str:
    """What is to be scored and how, the same at every step."""
    d = world.rules.distance
    told, impossible = [], []
    for r in world.rules.resources:
        tool = f"each with a {r.tool}" if r.tool else "no tool"
        whom = " for each of them" if world.score_per_participant else ""
        told.append(f"{r.kind}: {_agents(r.participants)}, {tool}, {_points(r.reward)}{whom}")
        if r.participants > world.team:
            impossible.append(r.kind)
    where = "every cell within that distance" if world.mode == "nearby" else "the one cell that is named or faced"
    return (
        f"Score as much as you can as a team. A resource is collected when enough agents within distance {d} of it "
        f"(moves, not diagonal) collect it in the same step. A collect works on {where}.\n"
        f"{'; '.join(told)}\nImpossible for this team: {', '.join(impossible) or 'nothing'}"
    )


def nearest(
    memory: Rows, mark: str, x: int, y: int, count: int, window: tuple[int, int, int, int] | None = None
) -> list[tuple[int, int, int]]:
    """The `count` nearest cells with a mark in what an agent remembers, as (moves, y, x), nearest first; with a
    `window` (left, top, right, bottom, the last two not included) only those outside it."""
    found: list[tuple[int, int, int]] = []
    if mark not in "".join(memory):
        return found  # several times as fast as to look through the rows
    for off, row in sorted([(abs(row - y), row) for row, line in enumerate(memory) if mark in line]):
        if len(found) == count and off > found[-1][0]:
            break
        bits = row_bits(memory[row], mark)
        if window and window[1] <= row < window[3]:
            bits &= ~((1 << window[2]) - (1 << max(0, window[0])))
        before, after = bits & ((2 << x) - 1), bits >> (x + 1)
        for _ in range(count):  # the first few on either side suffice
            if before:
                column = before.bit_length() - 1
                before ^= 1 << column
                found.append((x - column + off, row, column))
            if after:
                column = (after & -after).bit_length() + x
                after &= after - 1
                found.append((column - x + off, row, column))
        found.sort()
        del found[count:]
    return found


def _team(world: Crafter, state: CrafterState, seat: int, left: int, top: int) -> str:
    """Who there is, and where those are that can be seen."""
    width, height = world.rules.view
    told = []
    for i, (name, agent) in enumerate(zip(world.agents, state.agents, strict=True)):
        if i == seat:
            told.append(f"{name} (you)")
        elif not agent.alive:
            told.append(f"{name} (dead)")
        elif 0 <= agent.x - left < width and 0 <= agent.y - top < height:
            told.append(f"{name} at ({agent.x}, {agent.y}){', asleep' if agent.asleep else ''}")
        else:
            told.append(f"{name} out of sight")
    return f"Team: {'; '.join(told)}"


def _bodies(world: Crafter, state: CrafterState, me: Agent, left: int, top: int) -> dict[tuple[int, int], str]:
    """Cows and living agents in the view, by their cells."""
    width, height = world.rules.view
    right, bottom = left + width, top + height
    found = {(x, y): f"cow#{k}" for k, x, y in state.cows if left <= x < right and top <= y < bottom}
    for name, agent in zip(world.agents, state.agents, strict=True):
        if left <= agent.x < right and top <= agent.y < bottom and agent.vitals[0] > 0:
            found[agent.x, agent.y] = name
    return found


@lru_cache(maxsize=20_000)
def _labels(row: str, y: int) -> tuple[str, ...]:
    """A row of the map as the view tells it: three letters, and the number of what can be worked on."""
    width = len(row)
    return tuple([NAMES[m][:3] if m in GROUND else f"{NAMES[m][:3]}#{y * width + x}" for x, m in enumerate(row)])


def _view(
    rows: Rows,
    bodies: dict[tuple[int, int], str],
    left: int,
    top: int,
    width: int,
    height: int,
    name: str,
    here: tuple[int, int],
) -> Iterator[str]:
    wide, high = len(rows[0]), len(rows)
    by_row: dict[int, list[tuple[int, str]]] = {}
    for (x, y), body in bodies.items():
        by_row.setdefault(y, []).append((x, body if (x, y) != here else "you"))
    before, after = [OUTSIDE] * max(0, -left), [OUTSIDE] * max(0, left + width - wide)
    for y in range(top, top + height):
        if 0 <= y < high:
            cells = [*before, *_labels(rows[y], y)[max(0, left) : left + width], *after]
            for x, body in by_row.get(y, ()):
                cells[x - left] = body
        else:
            cells = [OUTSIDE] * width
        yield f"y {y}: {' '.join(cells)}"


def _targets(world: Crafter, rows: Rows, me: Agent, left: int, top: int) -> list[str]:
    """Visible resources that can be walked to within the view, the nearest of every kind first."""
    width, height = world.rules.view
    stride = width + 1
    visible = "".join([row[max(0, left) : left + width] for row in rows[max(0, top) : top + height]])
    present = [(resource, mark) for resource in world.rules.resources if (mark := MARKS[resource.kind]) in visible]
    if not present:
        return ["Targets in view: none"]
    free = window_bits(rows, WALKABLE, left, top, width, height)
    here = 1 << (me.y - top) * stride + me.x - left
    reach = fill(here, free | here, stride)
    for _ in range(world.rules.distance):
        reach = spread(reach, stride)
    ranked = []
    for resource, mark in present:
        cells = [divmod(bit, stride) for bit in ones(window_bits(rows, mark, left, top, width, height) & reach)]
        near = sorted([(abs(left + x - me.x) + abs(top + y - me.y), top + y, left + x) for y, x in cells])
        ranked += [
            (rank, -resource.reward, cell, resource, mark) for rank, cell in enumerate(near[: world.rules.targets])
        ]
    if not ranked:
        return ["Targets in view: none"]
    ranked.sort(key=lambda r: r[:3])
    lines = ["Targets in view:"]
    for _, _, (moves, y, x), resource, mark in ranked[: world.rules.targets]:
        ready = "ready" if not resource.tool or me.items[INDEX[resource.tool]] else f"needs_tool {resource.tool}"
        if resource.participants > world.team:
            ready = "impossible"
        lines.append(
            f"- {NAMES[mark]}#{world.number(x, y)} at ({x}, {y}), distance {moves}, {_points(resource.reward)}, "
            f"{_agents(resource.participants)}, {ready}"
        )
    return lines


def _utilities(
    world: Crafter, state: CrafterState, me: Agent, bodies: dict[tuple[int, int], str], left: int, top: int
) -> list[str]:
    """The nearest table, furnace and water, in view or remembered, and cows in view."""
    told = []
    for mark in UTILITIES[: world.rules.utilities]:
        for moves, y, x in nearest(me.memory, mark, me.x, me.y, 1):
            told.append(f"{NAMES[mark]}#{world.number(x, y)} at ({x}, {y}), distance {moves}")
    cows = [(abs(x - me.x) + abs(y - me.y), body, x, y) for (x, y), body in bodies.items() if body.startswith("cow")]
    told += [f"{body} at ({x}, {y}), distance {moves}" for moves, body, x, y in sorted(cows)[: world.rules.cows]]
    return [f"Utilities: {'; '.join(told)}"] if told else []


def _remembered(world: Crafter, me: Agent, left: int, top: int) -> list[str]:
    """The nearest resources that were seen and are out of view now; they may be gone."""
    width, height = world.rules.view
    window = (left, top, left + width, top + height)
    told = []
    for resource in world.rules.resources:
        mark = MARKS[resource.kind]
        for moves, y, x in nearest(me.memory, mark, me.x, me.y, world.rules.remembered, window):
            told.append(f"{resource.kind}#{world.number(x, y)} at ({x}, {y}), distance {moves}")
    return [f"Remembered, out of view: {'; '.join(told)}"] if told else []


def _label_at(rows: Rows, x: int, y: int) -> str:
    if not (0 <= y < len(rows) and 0 <= x < len(rows[0])):
        return "the edge of the map"
    mark = rows[y][x]
    return NAMES[mark] if mark in GROUND else f"{NAMES[mark]}#{y * len(rows[0]) + x}"


@lru_cache(maxsize=5_000)
def _items(items: tuple[int, ...]) -> str:
    return ", ".join([f"{name} {count}" for name, count in zip(ITEMS, items, strict=True) if count]) or "nothing"


def _points(reward: float) -> str:
    return f"{reward:g} point{'s' if reward != 1 else ''}"


def _agents(count: int) -> str:
    return f"{count} agent{'s' if count > 1 else ''}"
