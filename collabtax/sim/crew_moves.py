"""What a simulated member of a crew plans, from what it observes (see `collabtax.sim.crew`)."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import groupby

from collabtax.sim.crew import Move, Request
from tasks.base import seeded
from tasks.worlds import cube_script
from tasks.worlds.cube import BLOCK_AT, Cube
from tasks.worlds.cube_board import OPPOSITE, STAY, CubeState, beside, walkable

MOST_CALLS = 6  # of a plan
MOST_STEPS = 10  # of a plan in CUBE, as of its tools


def move(request: Request) -> Move:
    """What a member decides. Raises ValueError for an observation of neither world."""
    if "Cells are (row, column)" in request.observation:
        return _cube(request)
    return _crafter(request)


# CUBE -----------------------------------------------------------------------------------------------------------------

Doing = tuple[str, str, str]  # of one step: "wait", "move" or "push"; direction; block


@dataclass(frozen=True)
class Stretch:
    """What a good team does from a state on, by agent and step, until what it pushes together changes."""

    doings: tuple[tuple[Doing, ...], ...]
    together: dict[str, tuple[int, ...]]  # block that takes several: seats that push it, all the way

    @property
    def steps(self) -> int:
        return len(self.doings[0])


def _cube(request: Request) -> Move:
    world = board(request.observation, len(request.team))
    state, seat = world.read(request.observation), request.team.index(request.agent)
    if request.is_alone:
        return Move("waiting", ("wait(1)",))
    found = stretch(world, state)
    block = next((name for name, seats in found.together.items() if seat in seats), "")
    doings = found.doings[seat]
    task = next((f"{name}_{OPPOSITE[direction]}" for what, direction, name in doings if what == "push"), "walking")
    if not block:
        return Move(task, calls(doings))
    partners = tuple(request.team[other] for other in found.together[block] if other != seat)
    fault = request.fault()
    if fault:
        doings = _faulty(world, state, seat, doings, fault)
    return Move("resting" if fault == "count" else task, calls(doings), partners)


def _faulty(world: Cube, state: CubeState, seat: int, doings: tuple[Doing, ...], fault: str) -> tuple[Doing, ...]:
    """The doings of one who should push all the way. Walking off takes two steps and a free cell; else it is late."""
    wait, steps = ("wait", "", ""), len(doings)
    direction = doings[0][1]
    away = beside(state.agents[seat], OPPOSITE[direction])
    free = walkable(world.size, away) and away not in state.cover and away not in state.agents
    if fault == "place" and steps > 1 and free:
        return (("move", OPPOSITE[direction], ""), *[wait] * (steps - 2), ("move", direction, ""))
    return (wait,) * steps


@lru_cache(maxsize=256)
def board(observation: str, team: int) -> Cube:
    """The world of an observation; of delivered blocks nothing but the number is known."""
    size = re.search(r"to (\d+)\. Column", observation)
    limit = re.search(r"^Step \d+ of (\d+)\.", observation)
    if not size or not limit:
        raise ValueError(f"{observation[:40]!r} is no observation of CUBE")
    weights = {int(number): int(weight) for number, weight, *_ in re.findall(BLOCK_AT, observation, re.MULTILINE)}
    last = max(map(int, re.findall(r"block_(\d+)", observation)), default=0)
    return Cube(
        size=int(size[1]) + 1, team=team, weights=tuple(weights.get(n, 1) for n in range(last + 1)), limit=int(limit[1])
    )


@lru_cache(maxsize=512)  # all members of a crew ask for the same
def stretch(world: Cube, state: CubeState) -> Stretch:
    """See `Stretch`; at least one step."""
    doings: list[list[Doing]] = [[] for _ in world.agents]
    together: dict[str, tuple[int, ...]] | None = None
    while not (world.is_over(state) or world.is_cut(state)) and len(doings[0]) < MOST_STEPS:
        step, after = _step(world, state)
        joint = {
            state.block(push.block).name: push.seats  # type: ignore[union-attr]
            for push in after.pushes if len(push.seats) > 1
        }  # fmt: skip
        fits = all(len(calls([*own, one])) <= MOST_CALLS for own, one in zip(doings, step, strict=True))
        if together is not None and (joint != together or not fits):
            break
        together = joint
        for own, one in zip(doings, step, strict=True):
            own.append(one)
        state = after
    return Stretch(tuple(map(tuple, doings)), together or {})


def _step(world: Cube, state: CubeState) -> tuple[list[Doing], CubeState]:
    """What each agent does in a step of the good team; who would do something in vain waits."""
    actions = cube_script.decide(world, state)
    while True:
        after = world.step(state, actions)
        pushing = {seat: push for push in after.pushes for seat in push.seats}
        vain = [
            name for seat, name in enumerate(world.agents)
            if actions.get(name, STAY) != STAY and seat not in pushing and after.agents[seat] == state.agents[seat]
        ]  # fmt: skip
        if not vain:
            break
        actions = {**actions, **dict.fromkeys(vain, STAY)}
    done: list[Doing] = []
    for seat, name in enumerate(world.agents):
        action = actions.get(name, STAY)
        if seat in pushing:
            done.append(("push", action, f"block_{pushing[seat].block}"))
        else:
            done.append(("wait", "", "") if action == STAY else ("move", action, ""))
    return done, after


def calls(doings: Iterable[Doing]) -> tuple[str, ...]:
    """Doings of single steps as calls."""
    made = []
    for (what, direction, block), run in groupby(doings):
        steps = len(list(run))
        about = {"wait": "", "move": f"{direction}, ", "push": f"{block}, "}[what]
        while steps:
            made.append(f"{what}({about}{min(steps, MOST_STEPS)})")
            steps -= min(steps, MOST_STEPS)
    return tuple(made)


# Crafter --------------------------------------------------------------------------------------------------------------

THING = re.compile(r"(\w+)#(\d+) at \((\d+), (\d+)\), distance (\d+)")
WOOD = 3  # for a table and a pickaxe
NEAR = 9  # moves to a table that are better than another one
FAR = 15  # moves to where others call
JOINT = (("iron", "stone_pickaxe", 3), ("coal", "wood_pickaxe", 2))  # what is mined together, the best first
FRESH = 10  # steps for which a call to join is followed
PATIENCE = 8  # steps that one tries to mine it
LOW = 2  # drink at which one looks for water


@dataclass(frozen=True)
class Thing:
    """Something that an observation tells of."""

    kind: str
    number: int
    x: int
    y: int
    distance: int

    @property
    def id(self) -> str:
        return f"{self.kind}#{self.number}"

    @property
    def way(self) -> tuple[str, ...]:
        return (f"navigate({self.kind}, {self.number})",) if self.distance > 1 else ()

    def collected(self, steps: int = 1) -> tuple[str, ...]:
        return (*self.way, f"collect({self.kind}, {self.number}, {steps})")


@dataclass(frozen=True)
class Sight:
    """An observation of Crafter as its reader needs it: things by kind, the nearest first."""

    step: int
    place: tuple[int, int]
    faced: str
    held: dict[str, int]
    vitals: dict[str, int]
    things: dict[str, tuple[Thing, ...]]
    team: tuple[str, ...]  # others in sight

    def nearest(self, kind: str) -> Thing | None:
        return next(iter(self.things.get(kind, ())), None)


@lru_cache(maxsize=512)
def sight(text: str) -> Sight:
    """Raises ValueError where `text` is no observation of Crafter."""
    at = re.search(r"^Position: \((\d+), (\d+)\).*You face \w+: (.*)$", text, re.MULTILINE)
    held = re.search(r"^Inventory: (.*)$", text, re.MULTILINE)
    vitals = re.search(r"^Vitals[^:]*: (.*)$", text, re.MULTILINE)
    team = re.search(r"^Team: (.*)$", text, re.MULTILINE)
    step = re.search(r" Step (\d+) of ", text)
    if not step or not at or not held or not vitals or not team:
        raise ValueError(f"{text[:40]!r} is an observation of no world that a simulated member plays")
    found: dict[str, dict[int, Thing]] = {}
    for kind, *numbers in THING.findall(text):
        one = Thing(kind, *map(int, numbers))
        found.setdefault(kind, {})[one.number] = one
    counts = [{name: int(number) for name, number in re.findall(r"(\w+) (\d+)", s)} for s in (held[1], vitals[1])]
    return Sight(
        int(step[1]), (int(at[1]), int(at[2])), at[3], counts[0], counts[1],
        {kind: tuple(sorted(own.values(), key=lambda t: (t.distance, t.number))) for kind, own in found.items()},
        tuple(re.findall(r"(agent_\d+) at ", team[1])),
    )  # fmt: skip


def _crafter(request: Request) -> Move:
    seen = sight(request.observation)
    water = seen.nearest("water")
    if seen.vitals.get("drink", 9) <= LOW and water:
        return Move("water", (*water.collected(), *water.collected()[-1:]))
    return _tool(request, seen) or _join(request, seen) or _mine(seen) or _look(request, seen)


def _tool(request: Request, seen: Sight) -> Move | None:
    """Make the next pickaxe, or gather what it takes."""
    if seen.held.get("stone_pickaxe"):
        return None
    item = "stone_pickaxe" if seen.held.get("wood_pickaxe") else "wood_pickaxe"
    wood, table = seen.held.get("wood", 0), seen.nearest("table")
    if table and table.distance > NEAR:
        table = None
    if item == "stone_pickaxe" and (not table or not seen.held.get("stone") or not wood):
        return None
    if table and wood:
        coal = seen.nearest("coal")
        if item == "wood_pickaxe" and coal and request.forgets_tool() and "failed" not in request.plan:
            return Move(coal.id, coal.collected(PATIENCE), seen.team, f" at ({coal.x}, {coal.y})")
        beside = max(abs(table.x - seen.place[0]), abs(table.y - seen.place[1])) <= 1
        return Move("tools", (*(() if beside else table.way), f"craft({item})"))
    if wood >= WOOD:
        if seen.faced in ("grass", "sand", "path"):
            return Move("tools", ("place(table)",))
        return _step_aside(request)
    trees = seen.things.get("tree", ())[: WOOD - wood]
    return Move("wood", tuple(call for tree in trees for call in tree.collected())) if trees else None


def _join(request: Request, seen: Sight) -> Move | None:
    """Mine what takes several: what is in view when others are, or what others have told of. Whoever has tried in vain
    does something else for once."""
    for kind, tool, several in JOINT:
        if not seen.held.get(tool) or f"({kind}" in request.plan:
            continue
        near = seen.nearest(kind)
        if near and near.distance <= FAR and len(seen.team) >= several - 1:
            return Move(near.id, near.collected(PATIENCE), seen.team, f" at ({near.x}, {near.y})")
        for said in reversed(request.messages):
            found = re.search(rf"step (\d+), .*\b{kind}#(\d+) at \((\d+), (\d+)\)", said)
            if found and int(found[1]) >= seen.step - FRESH:
                number, x, y = map(int, found.groups()[1:])
                distance = abs(x - seen.place[0]) + abs(y - seen.place[1])
                if distance <= FAR:
                    told = Thing(kind, number, x, y, distance)
                    return Move(told.id, told.collected(PATIENCE), request.others, f" at ({x}, {y})")
    return None


def _mine(seen: Sight) -> Move | None:
    stones = seen.things.get("stone", ())[:3] if seen.held.get("wood_pickaxe") else ()
    if not stones:
        return None
    return Move(stones[0].id, tuple(call for stone in stones for call in stone.collected())[:MOST_CALLS])


def _step_aside(request: Request) -> Move:
    rng = seeded("crew", request.agent, request.observation, "aside")
    return Move("walking", (f"move({rng.choice(('up', 'down', 'left', 'right'))}, 1)",))


def _look(request: Request, seen: Sight) -> Move:
    """Walk on to where there may be something; the same way for a while."""
    rng = seeded("crew", request.agent, seen.place[0] // 8, seen.place[1] // 8)
    ways: Sequence[str] = rng.sample(("up", "down", "left", "right"), 4)
    failed = len(re.findall(r"^- move\(", request.plan, re.MULTILINE)) if "failed" in request.plan else 0
    tried = re.findall(r"^- move\((\w+)", request.plan, re.MULTILINE)
    way = next((w for w in ways if not failed or w not in tried), ways[0])
    return Move("looking", (f"move({way}, 4)",))
