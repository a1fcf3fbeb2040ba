"""A team that plays by a script: it gathers wood, makes its tools, and mines together what takes several. It shares
what its members have seen. What an agent does next follows from what is known alone, so that whoever can fill in
`Knowledge`, from a state or from texts, can play it."""

from __future__ import annotations

import heapq
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import TYPE_CHECKING

from tasks.worlds.cooperation import Call
from tasks.worlds.crafter.engine import has_station, mark_at
from tasks.worlds.crafter.observation import nearest
from tasks.worlds.crafter.rules import (
    DIRECTIONS,
    INDEX,
    LAID,
    MARKS,
    NAMES,
    STEPS,
    STONE,
    TREE,
    UNSEEN,
    VITALS,
    WALKABLE,
    WATER,
    Resource,
)

if TYPE_CHECKING:
    from tasks.worlds.crafter.engine import CrafterState, Rows
    from tasks.worlds.crafter.world import Crafter

Cell = tuple[int, int]
WAIT = 6  # steps that one waits beside a resource for others
LOW = 2  # food or drink at which one looks for more
CREW = 3  # agents that go about together
NEEDED = 4  # how much more that is worth which somebody needs for an iron pickaxe
SPARE_WOOD, SPARE_STONE = 3, 4  # kept for a table and a tool, and for a furnace
REUSE = 9  # moves to a table or a furnace that are better than another one


@dataclass(frozen=True)
class Member:
    """What is known of a living agent. `items` are counts of ITEMS."""

    place: Cell
    facing: int
    items: tuple[int, ...]
    vitals: tuple[int, ...]

    def has(self, item: str) -> int:
        return not item or self.items[INDEX[item]]


@dataclass(frozen=True)
class Knowledge:
    """What is known to whoever decides: the map as far as it was seen, the living members, and where cows are."""

    rows: Rows
    members: Mapping[str, Member]
    cows: tuple[Cell, ...] = ()


def knowledge(world: Crafter, state: CrafterState) -> Knowledge:
    """What all agents of a state together have seen."""
    rows, blank = [], UNSEEN * len(state.rows[0])
    for y, row in enumerate(state.rows):
        told = [agent.memory[y] for agent in state.agents if agent.memory[y] != blank]
        if told and row not in told:
            row = "".join([m if any(t[x] != UNSEEN for t in told) else UNSEEN for x, m in enumerate(row)])
        rows.append(row if told else blank)
    members = {
        name: Member((a.x, a.y), a.facing, a.items, a.vitals)
        for name, a in zip(world.agents, state.agents, strict=True)
        if a.alive
    }
    return Knowledge(tuple(rows), members, tuple((cow.x, cow.y) for cow in state.cows if rows[cow.y][cow.x] != UNSEEN))


def next_call(world: Crafter, known: Knowledge, agent: str) -> Call:
    """What a living agent should do next."""
    me = known.members[agent]
    return (
        _survive(world, known, me)
        or _craft(world, known, me)
        or _mine_together(world, known, agent)
        or _stock(world, known, me)
        or _approach(world, known, me, WATER if STONE not in _dug(me) else STONE)
        or Call("noop", (1,))
    )


def decide(world: Crafter, state: CrafterState) -> dict[str, str]:
    """The primitive action of every living agent: the first one of its next call."""
    known = knowledge(world, state)
    actions = {}
    for agent in world.living(state):
        progress = world.advance(world.start(next_call(world, known, agent), state, agent), state)
        actions[agent] = progress.primitive or "noop"
    return actions


def play(world: Crafter, seed: int) -> CrafterState:
    """The state at the end of an episode in which every agent plays the script."""
    state = world.initial(seed)
    while not (world.is_over(state) or world.is_cut(state)):
        state = world.step(state, decide(world, state))
    return state


# what to do, most urgent first; None where there is nothing to do


def _survive(world: Crafter, known: Knowledge, me: Member) -> Call | None:
    food, drink = me.vitals[VITALS.index("food")], me.vitals[VITALS.index("drink")]
    if drink <= LOW and (call := _gather(world, known, me, WATER, explore=False)):
        return call
    if food <= LOW and known.cows:
        cow = min(known.cows, key=lambda cell: (_moves(me.place, cell), cell))
        if _moves(me.place, cow) <= world.rules.distance:
            return Call("collect", ("cow", "", 1))
        return _follow(world, known, me, _route(world, known, me, lambda cell: _moves(cell, cow) <= 1))
    return None


def _craft(world: Crafter, known: Knowledge, me: Member) -> Call | None:
    """Make the next pickaxe, or gather what it takes as far as one can alone."""
    for item in ("wood_pickaxe", "stone_pickaxe", "iron_pickaxe"):
        if me.has(item):
            continue
        cost = dict(world.product_of(item).cost)
        if any(me.has(name) < cost.get(name, 0) for name in ("coal", "iron")):
            return None
        far = len(known.rows) + len(known.rows[0])
        return _make(world, known, me, item, REUSE) or _make(world, known, me, item, far)
    return None


def _make(world: Crafter, known: Knowledge, me: Member, item: str, worth: int) -> Call | None:
    """Make something at stations that stand no more than `worth` moves away, or else at new ones."""
    product = world.product_of(item)
    needed = dict(product.cost)
    standing = []
    if all(me.has(name) >= number for name, number in product.cost):
        marks = {station: world.placement_of(station).becomes for station in product.stations}
        standing = [s for s in marks if any(far[0] <= worth for far in nearest(known.rows, marks[s], *me.place, 1))]
    lacking = [station for station in product.stations if station not in standing]
    for name, number in (cost for station in lacking for cost in world.placement_of(station).cost):
        needed[name] = needed.get(name, 0) + number
    for name, number in needed.items():
        if me.has(name) < number:
            return _gather(world, known, me, TREE if name == "wood" else MARKS[name])

    def there(cell: Cell) -> bool:
        return all(has_station(world, known.rows, *cell, station) for station in standing)

    if not there(me.place):
        return _follow(world, known, me, _route(world, known, me, there))
    return _put(world, known, me, lacking[0]) if lacking else Call("craft", (item,))


def _stock(world: Crafter, known: Knowledge, me: Member) -> Call | None:
    """Gather what later tools take; then mine stones for their score, and look for more on the way."""
    if me.has("wood") < SPARE_WOOD and not me.has("iron_pickaxe"):
        return _gather(world, known, me, TREE)
    if me.has("stone") < SPARE_STONE:
        return _gather(world, known, me, STONE)
    return _approach(world, known, me, UNSEEN)


def _mine_together(world: Crafter, known: Knowledge, agent: str) -> Call | None:
    """Go to one's place beside the most profitable resource for one's crew, and collect it there."""
    crew = next(crew for crew in _crews(world, known) if agent in crew)
    best: tuple[float, Cell, Resource, dict[str, Cell]] | None = None
    for resource in world.rules.resources:
        if resource.participants < 2:
            continue
        able = [name for name in crew if known.members[name].has(resource.tool)]
        if len(able) < resource.participants:
            continue
        for y, row in enumerate(known.rows):
            x = row.find(MARKS[resource.kind])
            while x >= 0:
                slots = _slots(world, known, (x, y), able)
                if len(slots) >= resource.participants:
                    time = max(_moves(known.members[name].place, slot) for name, slot in slots.items())
                    wanted = (
                        any(not known.members[n].has(resource.gives) for n in slots) and resource.gives != "diamond"
                    )
                    worth = resource.reward * len(slots) * (NEEDED if wanted else 1)
                    found = (worth / (time + 4), (x, y), resource, slots)
                    if best is None or found[:2] > best[:2]:
                        best = found
                x = row.find(MARKS[resource.kind], x + 1)
    if best is None or agent not in best[3]:
        return None
    _, (x, y), resource, slots = best
    me = known.members[agent]
    slack = max(_moves(known.members[name].place, slot) for name, slot in slots.items()) - _moves(
        me.place, slots[agent]
    )
    if slack > WAIT and me.has("wood_pickaxe"):  # others will be long: mine what is near meanwhile
        stones = nearest(known.rows, STONE, *me.place, 1)
        if stones and stones[0][0] <= slack // 3 and (call := _gather(world, known, me, STONE, explore=False)):
            return call
    if me.place == slots[agent]:
        return Call("collect", (resource.kind, str(world.number(x, y)), WAIT))
    return _follow(world, known, me, _route(world, known, me, lambda cell: cell == slots[agent]))


def _crews(world: Crafter, known: Knowledge) -> list[tuple[str, ...]]:
    """The living, parted into crews whose members are near each other: the nearest three, then the rest again."""
    left, crews = sorted(known.members), []
    while len(left) > CREW:
        places = {name: known.members[name].place for name in left}
        rest = len(left) - CREW

        def apart(crew: Sequence[str], places: Mapping[str, Cell] = places) -> int:
            return sum(_moves(places[a], places[b]) for a, b in combinations(crew, 2))

        def cost(crew: tuple[str, ...], left: list[str] = left, rest: int = rest) -> int:
            others = [name for name in left if name not in crew] if rest <= CREW else []
            return apart(crew) + apart(others)

        crew = min(combinations(left, CREW), key=lambda c: (cost(c), c))
        crews.append(crew)
        left = [name for name in left if name not in crew]
    return [*crews, tuple(left)]


def _slots(world: Crafter, known: Knowledge, target: Cell, able: Sequence[str]) -> dict[str, Cell]:
    """Cells beside a resource for those who can mine it, the nearest agent first."""
    free = [(target[0] + dx, target[1] + dy) for dx, dy in STEPS]
    standing = WALKABLE + UNSEEN + TREE + STONE + LAID
    free = [cell for cell in free if (mark := mark_at(known.rows, *cell)) and mark in standing]
    slots: dict[str, Cell] = {}
    for name in sorted(able, key=lambda name: (_moves(known.members[name].place, target), name)):
        if free:
            place = known.members[name].place
            slots[name] = min(free, key=lambda cell: (_moves(place, cell), cell))
            free.remove(slots[name])
    return slots


# how to do it


def _gather(world: Crafter, known: Knowledge, me: Member, mark: str, explore: bool = True) -> Call | None:
    """Collect the nearest one, or go there, or look for one."""
    for dx, dy in STEPS:
        x, y = me.place[0] + dx, me.place[1] + dy
        if mark_at(known.rows, x, y) == mark:
            return Call("collect", (NAMES[mark], str(world.number(x, y)), 1))
    return _approach(world, known, me, mark) or (_approach(world, known, me, UNSEEN) if explore else None)


def _approach(world: Crafter, known: Knowledge, me: Member, mark: str) -> Call | None:
    def beside(cell: Cell) -> bool:
        return any(mark_at(known.rows, cell[0] + dx, cell[1] + dy) == mark for dx, dy in STEPS)

    return _follow(world, known, me, _route(world, known, me, beside))


def _put(world: Crafter, known: Knowledge, me: Member, item: str) -> Call | None:
    """Place something, after turning to where there is room for it."""
    bodies = {member.place for member in known.members.values()} | {*known.cows}
    onto = world.placement_of(item).onto
    free = []
    for direction, (dx, dy) in enumerate(STEPS):
        cell = me.place[0] + dx, me.place[1] + dy
        mark = mark_at(known.rows, *cell)
        if mark and mark in onto and mark in WALKABLE and cell not in bodies:
            free.append(direction)
    if me.facing in free:
        return Call("place", (item,))
    return Call("move", (DIRECTIONS[free[0]], 1)) if free else _gather(world, known, me, STONE)


def _follow(world: Crafter, known: Knowledge, me: Member, route: Sequence[Cell]) -> Call | None:
    """The first step of a route, or what clears the way for it."""
    if not route:
        return None
    x, y = route[0]
    mark = mark_at(known.rows, x, y)
    if mark not in WALKABLE + UNSEEN:
        return Call("collect", (NAMES[mark], str(world.number(x, y)), 1))
    return Call("move", (DIRECTIONS[STEPS.index((x - me.place[0], y - me.place[1]))], 1))


def _dug(me: Member) -> str:
    """What an agent can clear out of its way alone."""
    return TREE + STONE + LAID if me.has("wood_pickaxe") else TREE


def _route(world: Crafter, known: Knowledge, me: Member, goal: Callable[[Cell], bool]) -> list[Cell]:
    """A cheapest route to a cell that is a goal, without its first cell; what is dug through costs two steps, or one
    where it scores well. Empty if there is none or one is there."""
    rows, dug, here = known.rows, _dug(me), me.place
    bodies = {member.place for member in known.members.values()} | {*known.cows}
    price = {**dict.fromkeys(WALKABLE + UNSEEN, 2), **dict.fromkeys(dug, 4)}
    if STONE in dug:
        price[STONE] = 3
    best, came = {here: 0}, dict[Cell, Cell]()
    edge = [(0, here)]
    while edge:
        cost, cell = heapq.heappop(edge)
        if cost > best[cell]:
            continue
        if goal(cell):
            way = [cell]
            while way[-1] in came:
                way.append(came[way[-1]])
            return way[-2::-1]
        for dx, dy in STEPS:
            other = (cell[0] + dx, cell[1] + dy)
            mark = mark_at(rows, *other)
            if mark in price and other not in bodies and cost + price[mark] < best.get(other, 1 << 30):
                best[other], came[other] = cost + price[mark], cell
                heapq.heappush(edge, (best[other], other))
    return []


def _moves(a: Cell, b: Cell) -> int:
    return abs(a[0] - b[0]) + abs(a[1] - b[1])
