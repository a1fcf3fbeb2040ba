"""The world that agents act in: `Crafter`, by the contracts of `World` and `CooperativeWorld`."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property, lru_cache
from typing import ClassVar, Literal

from tasks.worlds.cooperation import (
    Call,
    Completion,
    CooperativeWorld,
    CoopTask,
    Forecast,
    Inventory,
    Progress,
    Running,
    Tool,
)
from tasks.worlds.cooperation import Place as Cell
from tasks.worlds.crafter import tools
from tasks.worlds.crafter.bits import ones, row_bits
from tasks.worlds.crafter.drawing import drawing
from tasks.worlds.crafter.engine import (
    CrafterState,
    Step,
    body_at,
    can_make,
    can_place,
    mark_at,
    newborn,
)
from tasks.worlds.crafter.generation import Chart, drawn, generate
from tasks.worlds.crafter.observation import observation, settings
from tasks.worlds.crafter.rules import (
    DIRECTIONS,
    INDEX,
    ITEMS,
    LAID,
    LAVA,
    MARKS,
    MATERIALS,
    NAMES,
    STEPS,
    STONE,
    UNSEEN,
    WALKABLE,
    WATER,
    Agent,
    Placement,
    Product,
    Resource,
    Rules,
)

MODES = ("targeted", "nearby")


@dataclass(frozen=True)
class Crafter(CooperativeWorld[CrafterState]):
    """Crafter for a team. In the mode `targeted` a collect serves one cell, in `nearby` (as in the authors' code)
    every cell within `rules.distance`. `score_per_participant`: a completed task scores its reward once for each
    participant (as in the authors' code) or once.

    With a `chart`, a map written by hand (`generation.drawn`), every seed starts on it; without one the map is
    `size` x `size`. `start_spread` keeps the first cells near the middle of the map; 0 is anywhere.
    """

    name: ClassVar[str] = "crafter"
    version: ClassVar[int] = 1
    spatial_tolerance: ClassVar[int] = 1
    temporal_tolerance: ClassVar[int] = 2

    team: int = 3
    size: int = 64
    limit: int = 200  # steps of an episode
    mode: Literal["targeted", "nearby"] = "targeted"
    score_per_participant: bool = True
    start_spread: int = 0
    chart: tuple[str, ...] = ()
    rules: Rules = field(default_factory=Rules)

    def __post_init__(self) -> None:
        if not 1 <= self.team <= 10:
            raise ValueError(f"crafter: team {self.team} is no number from 1 to 10")
        if self.mode not in MODES:
            raise ValueError(f"crafter: mode {self.mode!r} is none of {', '.join(MODES)}")
        if self.size < 8 or self.limit < 1 or self.start_spread < 0:
            raise ValueError("crafter: size is 8 or more, limit 1 or more, start_spread 0 or more")
        if min(self.rules.view) < 1 or not all(side % 2 for side in self.rules.view):
            raise ValueError(
                f"crafter: view {self.rules.view} must be two odd numbers, so that the agent is in the middle"
            )
        if self.rules.distance < 1:
            raise ValueError(f"crafter: distance {self.rules.distance} must be 1 or more")
        if self.chart:
            drawn(self.chart, self.team)

    # World

    @cached_property
    def agents(self) -> tuple[str, ...]:
        return tuple(f"agent_{i}" for i in range(self.team))

    def initial(self, seed: int) -> CrafterState:
        chart = self._chart(seed)
        agents = [newborn(cell, chart.rows, self.rules.vitals, self.rules.view) for cell in chart.starts]
        return CrafterState(seed, 0, chart.rows, tuple(agents), chart.cows, len(chart.cows), ())

    def actions(self, agent: str) -> tuple[str, ...]:
        return self._actions_of[self.seat(agent)]

    def refusal(self, state: CrafterState, agent: str, action: str) -> str:
        """As things stand before the step: what others do in it may make possible what was not, and the reverse."""
        me, (verb, *words) = state.agents[self.seat(agent)], self.words(action)
        if action == "noop":
            return ""
        if not me.alive:
            return f"{action}: you are dead"
        if me.asleep:
            return f"{action}: you are asleep"
        if verb == "move":
            turned = self.direction(words[0])
            x, y = me.x + STEPS[turned][0], me.y + STEPS[turned][1]
            mark = mark_at(state.rows, x, y)
            body = body_at(self, state, x, y)
            if me.facing == turned and (not mark or mark not in WALKABLE + LAVA or body):
                return f"{action}: {body or NAMES.get(mark, 'the edge of the map')} is in the way"
            return ""  # to turn is something, too
        if verb == "collect":
            return self._no_collect(state, me, action, words)
        if verb == "place":
            return can_place(self, state, me, words[0])
        if verb == "make":
            return can_make(self, state.rows, me, words[0])
        if verb == "sleep":
            return "sleep: you are not tired, energy is full" if me.vitals[3] >= self.rules.vitals.most else ""
        return self._no_share(state, me, words)

    def step(self, state: CrafterState, actions: Mapping[str, str]) -> CrafterState:
        self.check(state, actions)
        return Step(self, state, actions).result()

    def observe(self, state: CrafterState, agent: str) -> str:
        return observation(self, state, self.seat(agent))

    def feedback(self, state: CrafterState, agent: str) -> str:
        return state.agents[self.seat(agent)].outcome

    def living(self, state: CrafterState) -> tuple[str, ...]:
        return tuple([name for name, agent in zip(self.agents, state.agents, strict=True) if agent.vitals[0] > 0])

    def rewards(self, before: CrafterState, after: CrafterState) -> dict[str, float]:
        """Each agent's part in what the team scored; together they are the team's score."""
        both = zip(self.agents, before.agents, after.agents, strict=True)
        return {name: b.earned - a.earned for name, a, b in both if a.alive}

    def is_over(self, state: CrafterState) -> bool:
        return not self.living(state)

    def is_cut(self, state: CrafterState) -> bool:
        return state.step >= self.limit and not self.is_over(state)

    def draw(self, state: CrafterState) -> str:
        return drawing(self, state)

    # CooperativeWorld: tasks

    @property
    def reach(self) -> int:  # type: ignore[override]
        return self.rules.distance

    def tasks(self, state: CrafterState) -> tuple[CoopTask, ...]:
        """Every resource that stands and that an agent, dead or alive, has seen; by rows, from the left."""
        found = []
        memories = [agent.memory for agent in state.agents]
        for y, row in enumerate(state.rows):
            if bits := row_bits(row, self._scoring):
                known = 0
                for memory in memories:
                    known |= ~row_bits(memory[y], UNSEEN)
                found += [self.task_at(row[x], x, y) for x in ones(bits & known)]
        return tuple(found)

    def task(self, state: CrafterState, id: str) -> CoopTask | None:
        kind, _, number = id.partition("#")
        cell = self.cell(number)
        mark = MARKS.get(kind, "")
        if cell is None or not mark or mark not in self._scoring or mark_at(state.rows, *cell) != mark:
            return None
        if all(agent.memory[cell[1]][cell[0]] == UNSEEN for agent in state.agents):
            return None
        task = self.task_at(mark, *cell)
        return task if task.id == id else None

    def is_completed(self, state: CrafterState, id: str) -> bool:
        return any(completion.task.id == id for completion in state.completions)

    def place(self, state: CrafterState, agent: str) -> Cell:
        me = state.agents[self.seat(agent)]
        return me.x, me.y

    def inventory(self, state: CrafterState, agent: str) -> Inventory:
        return told(state.agents[self.seat(agent)].items)

    def distance(self, state: CrafterState, task: CoopTask, place: Cell) -> int:
        y, x = divmod(int(task.id.partition("#")[2]), len(state.rows[0]))
        return abs(place[0] - x) + abs(place[1] - y)

    def equipped(self, task: CoopTask, inventory: Inventory) -> bool:
        return not task.capability or any(name == task.capability for name, _ in inventory)

    def targets(self, state: CrafterState, agent: str, action: str) -> tuple[str, ...]:
        verb, *words = self.words(action)
        me = state.agents[self.seat(agent)]
        if verb != "collect" or me.asleep or not me.alive:
            return ()
        cells = sorted(self.worked((me.x, me.y), me.facing, words), key=lambda cell: cell[::-1])
        marks = [(mark_at(state.rows, *cell), cell) for cell in cells]
        return tuple(self.task_at(mark, *cell).id for mark, cell in marks if mark and mark in self._scoring)

    def succeeded(self, before: CrafterState, actions: Mapping[str, str], after: CrafterState, task: CoopTask) -> bool:
        return any(completion.task.id == task.id for completion in self.completions(before, actions, after))

    def completions(
        self, before: CrafterState, actions: Mapping[str, str], after: CrafterState
    ) -> tuple[Completion, ...]:
        return after.completions[len(before.completions) :]

    # CooperativeWorld: tools

    def tools(self) -> tuple[Tool, ...]:
        return self._tools

    def respell(self, tool: str, given: list[str], named: dict[str, str]) -> tuple[list[str], dict[str, str]]:
        return tools.respell(tool, given, named)

    def start(self, call: Call, state: CrafterState, agent: str) -> Running:
        return tools.start(self, call, state, agent)

    def advance(self, running: Running, state: CrafterState) -> Progress:
        return tools.advance(self, running, state)

    def aim(self, state: CrafterState, agent: str, call: Call, place: Cell) -> str:
        return tools.aim(self, state, agent, call, place)

    def duration(self, state: CrafterState, agent: str, call: Call, forecast: Forecast) -> int:
        return tools.duration(self, state, agent, call, forecast)

    def foresee(self, state: CrafterState, agent: str, call: Call, forecast: Forecast) -> Forecast:
        return tools.foresee(self, state, agent, call, forecast)

    # what the other modules of this package ask

    @cached_property
    def settings(self) -> str:
        """What agents are told of the rules at every step."""
        return settings(self)

    def seat(self, agent: str) -> int:
        """The index of an agent. Raises ValueError."""
        if agent not in self._seats:
            raise ValueError(f"crafter: {agent!r} is none of {', '.join(self.agents)}")
        return self._seats[agent]

    def words(self, action: str) -> tuple[str, ...]:
        """An action in words. Raises ValueError."""
        if action not in self._words:
            raise ValueError(f"crafter: {action!r} is no action")
        return self._words[action]

    def direction(self, word: str) -> int:
        return DIRECTIONS.index(word)

    def number(self, x: int, y: int) -> int:
        """The number of a cell, by which it is known to agents."""
        return y * self._width + x

    def cell(self, number: str) -> Cell | None:
        """The cell of a number that was written; None if there is none."""
        if not (number.isascii() and number.isdigit() and len(number) <= 9):
            return None
        y, x = divmod(int(number), self._width)
        return (x, y) if y < self._height else None

    def placement_of(self, item: str) -> Placement:
        return next(p for p in self.rules.placements if p.name == item)

    def product_of(self, item: str) -> Product:
        return next(p for p in self.rules.products if p.name == item)

    def resource_at(self, mark: str) -> Resource | None:
        """What is collected from a cell with a mark; a stone that was placed is one again."""
        return self._resources.get(mark)

    def scores(self, mark: str) -> bool:
        """Whether collecting scores. Placed stones do not, or they could be placed and collected for ever."""
        return mark in self._scoring

    def task_at(self, mark: str, x: int, y: int) -> CoopTask:
        """The task of collecting what is on a cell."""
        resource = self._resources[mark]
        return _task(f"{resource.kind}#{self.number(x, y)}", resource.participants, resource.tool, resource.reward)

    def worked(self, cell: Cell, facing: int, words: list[str] | tuple[str, ...]) -> list[Cell]:
        """The cells that a collect works on: all that are near, the one that is named, or the one in front."""
        x, y = cell
        if self.mode == "nearby":
            return [(x + dx, y + dy) for dx, dy in self.offsets.values()]
        dx, dy = self.offsets[" ".join(words)] if words else STEPS[facing]
        return [(x + dx, y + dy)]

    @cached_property
    def offsets(self) -> dict[str, Cell]:
        """The cells within reach of a collect by what they are called in actions."""
        d = self.rules.distance
        cells = [(dx, dy) for dy in range(-d, d + 1) for dx in range(-d, d + 1) if abs(dx) + abs(dy) <= d]
        return {_called(dx, dy): (dx, dy) for dx, dy in sorted(cells, key=lambda c: (abs(c[0]) + abs(c[1]), c))}

    # private

    def _no_collect(self, state: CrafterState, me: Agent, action: str, words: list[str]) -> str:
        faults = []
        for x, y in self.worked((me.x, me.y), me.facing, words):
            mark = mark_at(state.rows, x, y)
            resource = self.resource_at(mark)
            if mark == WATER or any((cow.x, cow.y) == (x, y) for cow in state.cows):
                return ""
            if resource is None:
                continue
            if resource.tool and not me.items[INDEX[resource.tool]]:
                faults.append(f"{action}: you need a {resource.tool} for {NAMES[mark]}#{self.number(x, y)}")
            elif resource.participants > self.team:
                faults.append(f"{action}: {resource.kind} takes {resource.participants} agents, more than the team has")
            else:
                return ""
        return faults[0] if faults else f"{action}: there is nothing to collect"

    def _no_share(self, state: CrafterState, me: Agent, words: list[str]) -> str:
        to, k = state.agents[self.seat(words[0])], INDEX[words[1]]
        if not to.alive:
            return f"share: {words[0]} is dead"
        if not me.items[k]:
            return f"share: you have no {words[1]}"
        return f"share: {words[0]} has no room" if to.items[k] >= self.rules.item_limit else ""

    def _chart(self, seed: int) -> Chart:
        if self.chart:
            return drawn(self.chart, self.team)
        return generate(seed, self.size, self.team, self.start_spread, self.rules.terrain, self.rules.herd)

    @cached_property
    def _height(self) -> int:
        return len(self.chart) or self.size

    @cached_property
    def _width(self) -> int:
        return len(self.chart[0]) if self.chart else self.size

    @cached_property
    def _seats(self) -> dict[str, int]:
        return {name: i for i, name in enumerate(self.agents)}

    @cached_property
    def _resources(self) -> dict[str, Resource]:
        by_mark = {MARKS[resource.kind]: resource for resource in self.rules.resources}
        return {**by_mark, LAID: by_mark[STONE]} if STONE in by_mark else by_mark

    @cached_property
    def _scoring(self) -> str:
        return "".join(MARKS[resource.kind] for resource in self.rules.resources)

    @cached_property
    def _tools(self) -> tuple[Tool, ...]:
        return tools.offered(self)

    @cached_property
    def _actions_of(self) -> tuple[tuple[str, ...], ...]:
        common = ["noop", *(f"move {word}" for word in DIRECTIONS), "collect"]
        common += [f"collect {where}" for where in self.offsets]
        common += ["sleep", *(f"place {p.name}" for p in self.rules.placements)]
        common += [f"make {p.name}" for p in self.rules.products]
        limit = self.rules.item_limit
        gifts = [f"{k} {n}" for k in self.rules.shareable for n in range(1, limit + 1 if k in MATERIALS else 2)]
        return tuple(
            (*common, *(f"share {other} {gift}" for other in self.agents if other != agent for gift in gifts))
            for agent in self.agents
        )

    @cached_property
    def _words(self) -> dict[str, tuple[str, ...]]:
        return {action: tuple(action.split()) for actions in self._actions_of for action in actions}


@lru_cache(maxsize=50_000)
def _task(id: str, participants: int, capability: str, reward: float) -> CoopTask:
    return CoopTask(id, "collect", participants, capability, reward)


@lru_cache(maxsize=5_000)
def told(items: tuple[int, ...]) -> Inventory:
    """Items by name, only those of which there is at least one."""
    return tuple((name, count) for name, count in zip(ITEMS, items, strict=True) if count)


def _called(dx: int, dy: int) -> str:
    if abs(dx) + abs(dy) <= 1:
        return DIRECTIONS[STEPS.index((dx, dy))] if (dx, dy) != (0, 0) else "here"
    parts = [f"{'up' if dy < 0 else 'down'} {abs(dy)}"] * bool(dy) + [
        f"{'left' if dx < 0 else 'right'} {abs(dx)}"
    ] * bool(dx)
    return " ".join(parts)
