"""CUBE: square blocks are pushed across a board into its last column, each by as many agents at once as it is wide.

The rules are those of the variant that the coop study uses; where its description leaves them open, they are fixed
here [our choice]: a block moves and an agent pushes at most once in a step; full pushes on a block from opposite sides
cancel; pushes come before walks, up before down, left and right, low block numbers first; of several who walk into one
free cell the first seat wins; nobody trades places, and who follows needs a leader of an earlier seat.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import TYPE_CHECKING, Any, ClassVar

from tasks import drawing
from tasks.base import seeded
from tasks.worlds import cube_tools
from tasks.worlds.cooperation import (
    Call,
    Completion,
    CooperativeWorld,
    CoopTask,
    Forecast,
    Inventory,
    Place,
    Progress,
    Running,
    Tool,
)
from tasks.worlds.cube_board import (
    MOVES,
    OPPOSITE,
    STAY,
    Block,
    CubeState,
    Push,
    beside,
    manhattan,
    read_map,
    usable,
    walkable,
)

if TYPE_CHECKING:
    import numpy as np

BOARDS = 1000  # boards drawn for one seed before the numbers are declared impossible
ACTIONS = (STAY, *MOVES)
AGENT_AT = r"(agent_\d+) at \((\d+), (\d+)\)"
BLOCK_AT = r"^block_(\d+): weight (\d+),.* top left \((\d+), (\d+)\)"


@dataclass(frozen=True)
class Cube(CooperativeWorld[CubeState]):
    """The numbers of the paper, with three agents. `chain` lets pushes go through rows of blocks and agents, as in
    the first version of CUBE: the weights add up, and an agent in the row weighs 1 unless it pushes the same way, and
    then adds its force. `layout` is a hand-written map (`cube_board.read_map`) to start from whatever the seed."""

    name: ClassVar[str] = "cube"
    version: ClassVar[int] = 1
    temporal_tolerance: ClassVar[int] = 1
    spatial_tolerance: ClassVar[int] = 0

    size: int = 15
    team: int = 3
    weights: tuple[int, ...] = (1, 1, 1, 2, 2, 2, 3, 3, 3)
    limit: int = 50
    step_cost: float = 0.01
    chain: bool = False
    layout: tuple[str, ...] = ()
    reach: int = 0

    def __post_init__(self) -> None:
        if not 1 <= self.team <= self.size:
            raise ValueError(f"cube: team {self.team} must be from 1 to the size {self.size}, one agent a row")
        fit = bool(self.weights) and 1 <= min(self.weights) <= max(self.weights) <= self.size - 3
        if not fit and not self.layout:
            raise ValueError(f"cube: weights {self.weights} must be from 1 to the size minus 3, {self.size - 3}")
        if self.limit < 1:
            raise ValueError(f"cube: limit {self.limit} must be at least one step")

    @classmethod
    def drawn(cls, layout: Iterable[str], **numbers: Any) -> Cube:
        """The world of a hand-written map, which gives size, team and weights. Raises ValueError for a bad map."""
        rows = tuple(row.strip() for row in layout)
        state = read_map(rows)
        weights = tuple(block.weight for block in state.blocks)
        return cls(size=len(rows), team=len(state.agents), weights=weights, layout=rows, **numbers)

    @cached_property
    def agents(self) -> tuple[str, ...]:  # kept, as it is asked for at every step
        return tuple(f"agent_{seat}" for seat in range(self.team))

    @property
    def total(self) -> int:
        """The score for all blocks."""
        return sum(self.weights)

    # the engine

    def initial(self, seed: int) -> CubeState:
        """Blocks in the order of `weights` and agents in column 0; the blocks do not depend on the team. Raises
        ValueError where the blocks do not fit."""
        if self.layout:
            return read_map(self.layout)
        rows = seeded(self.name, self.version, seed, "agents").sample(range(self.size), self.team)
        return CubeState(0, tuple((row, 0) for row in rows), self._scatter(seed))

    def _scatter(self, seed: int) -> tuple[Block, ...]:
        rng = seeded(self.name, self.version, seed, "blocks")
        heavy_first = sorted(range(len(self.weights)), key=lambda number: -self.weights[number])
        for _ in range(BOARDS):
            blocks: list[Block] = []
            covered: set[Place] = set()
            for number in heavy_first:
                weight = self.weights[number]
                last = self.size - weight - 2
                block = Block(number, weight, rng.randint(1, last), rng.randint(1, last))
                if covered.isdisjoint(block.cells):
                    covered.update(block.cells)
                    blocks.append(block)
            if len(blocks) == len(self.weights):
                return tuple(sorted(blocks))
        raise ValueError(f"cube, seed {seed}: weights {self.weights} do not fit a board of {self.size}; use fewer")

    def actions(self, agent: str) -> tuple[str, ...]:
        return ACTIONS

    def refusal(self, state: CubeState, agent: str, action: str) -> str:
        """Only what is certain to be in vain: bodies in the way may leave, and others may help to push."""
        if action == STAY:
            return ""
        cell = beside(self.place(state, agent), action)
        if not walkable(self.size, cell) and cell not in state.cover:
            inside = 0 <= cell[0] < self.size and 0 <= cell[1] < self.size
            return f"no step {action}: {'agents may not enter the goal' if inside else 'there the board ends'}"
        block = state.block(state.cover.get(cell, -1))
        if block and not usable(self.size, block, OPPOSITE[action]):
            return f"{block.name} cannot be pushed {action} where it is"
        return ""

    def step(self, state: CubeState, actions: Mapping[str, str]) -> CubeState:
        self.check(state, actions)
        return _Moment(self, state, [actions.get(agent, STAY) for agent in self.agents]).after()

    def feedback(self, state: CubeState, agent: str) -> str:
        return state.told[self.agents.index(agent)] if state.told else ""

    def living(self, state: CubeState) -> tuple[str, ...]:
        return self.agents

    def rewards(self, before: CubeState, after: CubeState) -> dict[str, float]:
        """The cost of a step, and an equal share of what was delivered."""
        return dict.fromkeys(self.agents, (after.score - before.score) / self.team - self.step_cost)

    def is_over(self, state: CubeState) -> bool:
        return not state.blocks

    def is_cut(self, state: CubeState) -> bool:
        return state.step >= self.limit and not self.is_over(state)

    def observe(self, state: CubeState, agent: str) -> str:
        """The whole board in words; `read` is its inverse."""
        seat = self.agents.index(agent)
        others = ", ".join(
            f"{name} at {place}" for name, place in zip(self.agents, state.agents, strict=True) if name != agent
        )
        return (
            f"Step {state.step} of {self.limit}. Score {state.score} of {self.total}.\n"
            f"Cells are (row, column), counted from 0 at the top left, to {self.size - 1}. Column {self.size - 1} is "
            f"the goal.\nYou are {agent} at {state.agents[seat]}. Others: {others or 'none'}.\n"
            f"{_scene(self.size, state.agents, state.blocks, state.delivered)}"
        )

    def read(self, text: str) -> CubeState:
        """The state that an observation tells of, without what happened in the step before. Raises ValueError where
        `text` is no observation."""
        step = re.search(r"^Step (\d+) of", text, re.MULTILINE)
        places = {name: (int(row), int(column)) for name, row, column in re.findall(AGENT_AT, text)}
        delivered = re.search(r"^Delivered: (.*)\.$", text, re.MULTILINE)
        gone = [int(number) for number in re.findall(r"block_(\d{1,9})", delivered[1] if delivered else "")]
        known = sorted(places) == sorted(self.agents) and all(number < len(self.weights) for number in gone)
        if not step or not delivered or not known:
            raise ValueError(f"{text[:40]!r} is no observation of a cube with a team of {self.team}")
        return CubeState(
            int(step[1]),
            tuple(places[agent] for agent in self.agents),
            tuple(Block(*map(int, numbers)) for numbers in re.findall(BLOCK_AT, text, re.MULTILINE)),
            tuple(Block(number, self.weights[number], -1, -1) for number in gone),
        )

    def arrays(self, state: CubeState) -> np.ndarray[Any, Any]:
        """The board as numbers, size x size x 5: agents (0 or 1), weights, goal (0 or 1), seat + 1 and block number + 1
        (0 where there is none). A new array at each call."""
        import numpy as np

        board = np.zeros((self.size, self.size, 5), dtype=np.int16)
        board[:, -1, 2] = 1
        for seat, place in enumerate(state.agents):
            board[place][[0, 3]] = 1, seat + 1
        for block in state.blocks:
            for cell in block.cells:
                board[cell][[1, 4]] = block.weight, block.number + 1
        return board

    def draw(self, state: CubeState) -> str:
        rows = ["." * (self.size - 1) + "*"] * self.size
        cell = drawing.CELL
        parts = drawing.tiles(rows, "")
        for block in state.blocks:
            side = block.weight * cell - 4
            parts.append(drawing.rect(block.column * cell + 2, block.row * cell + 2, side, side, "wall"))
            middle = (block.column + block.weight / 2) * cell, (block.row + block.weight / 2) * cell
            parts.append(drawing.text(middle[0], middle[1] + 5, f"{block.number}:{block.weight}"))
        for seat, (x, y) in enumerate(drawing.centres(state.agents)):
            parts += [drawing.ring(x, y, cell * 0.36, "edge"), drawing.text(x, y + 5, seat)]
        said = f"CUBE after step {state.step}: {len(state.blocks)} blocks left, score {state.score} of {self.total}"
        return drawing.board(rows, parts, said, [(said, "")])

    # cooperation

    def tasks(self, state: CubeState) -> tuple[CoopTask, ...]:
        """A task for each side of a block that can be used where the block is: agents would stand on the board, and
        the block stay on it. Other bodies may be in the way."""
        return tuple(_task(block, side) for block in state.blocks for side in MOVES if usable(self.size, block, side))

    def task(self, state: CubeState, id: str) -> CoopTask | None:
        name, _, side = id.rpartition("_")
        block = state.block(cube_tools.numbered(name))
        return _task(block, side) if block and side in MOVES and usable(self.size, block, side) else None

    def is_completed(self, state: CubeState, id: str) -> bool:
        """A block is delivered by pushing it from its left side, so the tasks of the other sides are removed."""
        return id in [_task(block, "left").id for block in state.delivered]

    def place(self, state: CubeState, agent: str) -> Place:
        return state.agents[self.agents.index(agent)]

    def inventory(self, state: CubeState, agent: str) -> Inventory:
        return ()

    def distance(self, state: CubeState, task: CoopTask, place: Place) -> int:
        """To the nearest cell along the side, so 0 for who touches it."""
        name, _, side = task.id.rpartition("_")
        block = state.block(cube_tools.numbered(name))
        if block is None:
            raise ValueError(f"cube: {task.id} is no task on this board")
        return min(manhattan(place, cell) for cell in block.face(side))

    def equipped(self, task: CoopTask, inventory: Inventory) -> bool:
        return True

    def targets(self, state: CubeState, agent: str, action: str) -> tuple[str, ...]:
        return self._touched(state, self.place(state, agent), action)

    def _touched(self, state: CubeState, place: Place, action: str) -> tuple[str, ...]:
        number = state.cover.get(beside(place, action), -1) if action in MOVES else -1
        block = state.block(number)
        return (_task(block, OPPOSITE[action]).id,) if block and usable(self.size, block, OPPOSITE[action]) else ()

    def succeeded(self, before: CubeState, actions: Mapping[str, str], after: CubeState, task: CoopTask) -> bool:
        """Whether the block was pushed from that side."""
        return any(f"block_{push.block}_{OPPOSITE[push.direction]}" == task.id for push in after.pushes)

    def completions(self, before: CubeState, actions: Mapping[str, str], after: CubeState) -> tuple[Completion, ...]:
        found = []
        for block in after.delivered[len(before.delivered) :]:
            seats = next((push.seats for push in after.pushes if push.block == block.number), ())
            found.append(Completion(_task(block, "left"), tuple(self.agents[s] for s in seats), block.weight))
        return tuple(found)

    def tools(self) -> tuple[Tool, ...]:
        return cube_tools.TOOLS

    def respell(self, tool: str, given: list[str], named: dict[str, str]) -> tuple[list[str], dict[str, str]]:
        """`navigate(block, 3)` is `navigate(block_3)`, and `push block 3` is `push(block_3)`."""
        kind = given[0].strip("\"'` ").lower() if tool in ("navigate", "push") and len(given) > 1 else ""
        if kind in ("block", "agent"):
            number = given[1].strip("\"'` ").lower().removeprefix(kind).lstrip("_ #")
            return [f"{kind}_{number}", *given[2:]], named
        return given, named

    def start(self, call: Call, state: CubeState, agent: str) -> Running:
        return Running(call, agent)

    def advance(self, running: Running, state: CubeState) -> Progress:
        return cube_tools.advance(self.size, self.agents, running, state)

    def aim(self, state: CubeState, agent: str, call: Call, place: Place) -> str:
        """A push aims at the side that it touches, or else the nearest one; a walk into a block pushes it too."""
        if call.tool == "move":
            return "".join(self._touched(state, place, str(call.arguments[0])))
        block = state.block(cube_tools.numbered(str(call.arguments[0]))) if call.tool == "push" else None
        return _task(block, cube_tools.aimed_side(block, place)).id if block else ""

    def foresee(self, state: CubeState, agent: str, call: Call, forecast: Forecast) -> Forecast:
        return cube_tools.foresee(self.size, self.agents, call, state, forecast)


def _task(block: Block, side: str) -> CoopTask:
    return CoopTask(f"{block.name}_{side}", "push", block.weight, "", block.weight)


class _Moment:
    """One step of all agents at once, while it is being worked out."""

    def __init__(self, world: Cube, state: CubeState, wanted: list[str]) -> None:
        self.world, self.state, self.wanted = world, state, wanted
        self.places = list(state.agents)
        self.stands = {place: seat for seat, place in enumerate(state.agents)}
        self.blocks = {block.number: block for block in state.blocks}
        self.cover = state.cover
        self.told = [""] * len(wanted)
        self.pushed: set[int] = set()  # numbers of blocks that have moved
        self.carried: set[int] = set()  # seats that have pushed or been pushed
        self.pushes: list[Push] = []
        self.delivered: list[Block] = []

    def after(self) -> CubeState:
        teams = self._teams()
        full = {key for key, seats in teams.items() if len(seats) >= self.blocks[key[1]].weight}
        for key in sorted(teams, key=lambda key: (ACTIONS.index(key[0]), key[1])):
            direction, number = key
            if key in full and (OPPOSITE[direction], number) in full:
                why = f"block_{number} did not move: it was pushed {OPPOSITE[direction]} as well"
            else:
                why = self._push(direction, number, teams[key])
            for seat in teams[key]:
                if not (why and seat in self.carried):  # else it has been told of a push that went on
                    self.told[seat] = why or f"you pushed block_{number} {direction}"
        pushers = {seat for seats in teams.values() for seat in seats}
        for seat, direction in enumerate(self.wanted):
            if direction != STAY and seat not in pushers and seat not in self.carried:
                self.told[seat] = self._walk(seat, direction) or f"you moved {direction}"
        return CubeState(
            self.state.step + 1,
            tuple(self.places),
            tuple(self.blocks.values()) if self.pushes else self.state.blocks,
            (*self.state.delivered, *self.delivered),
            tuple(self.pushes),
            tuple(self.told),
        )

    def _teams(self) -> dict[tuple[str, int], list[int]]:
        """Who pushes which block whither, as all stand when the step begins."""
        teams: dict[tuple[str, int], list[int]] = {}
        for seat, direction in enumerate(self.wanted):
            if direction != STAY:
                cell = beside(self.places[seat], direction)
                while (
                    self.world.chain and (ahead := self.stands.get(cell, -1)) >= 0 and self.wanted[ahead] == direction
                ):
                    cell = beside(cell, direction)  # who pushes a pusher pushes the block
                if (number := self.cover.get(cell)) is not None:
                    teams.setdefault((direction, number), []).append(seat)
        return teams

    def _push(self, direction: str, number: int, seats: list[int]) -> str:
        """Push a block and whatever may go with it; or say why not."""
        name = f"block_{number}"
        if number not in self.blocks or number in self.pushed:
            return f"{name} did not move {direction}: it has moved otherwise in this step"
        row, riders, obstacle = self._row(direction, number)
        weight = sum(self.blocks[n].weight for n in row) + sum(self.wanted[r] != direction for r in riders)
        team = {*seats, *(rider for rider in riders if self.wanted[rider] == direction)} - self.carried
        if len(team) < weight:
            return f"{name} did not move: {len(team)} of {weight} agents pushed it {direction}"
        if obstacle:
            return f"{name} did not move: {obstacle} is in the way"
        if self.cover is self.state.cover:
            self.cover = dict(self.cover)
        old = [self.blocks[n] for n in row]
        for cell in (cell for block in old for cell in block.cells):
            del self.cover[cell]
        for block in (block.pushed(direction) for block in old):
            self.pushed.add(block.number)
            if block.column + block.weight == self.world.size:
                self.delivered.append(block._replace(row=-1, column=-1))
                del self.blocks[block.number]
            else:
                self.blocks[block.number] = block
                self.cover.update(dict.fromkeys(block.cells, block.number))
        carried = sorted({*seats, *riders} - self.carried)
        for seat in carried:
            del self.stands[self.places[seat]]
            self.places[seat] = beside(self.places[seat], direction)
        self.stands.update((self.places[seat], seat) for seat in carried)
        self.carried.update(carried)
        for rider in riders:
            self.told[rider] = f"you were pushed {direction}"
        self.pushes += [Push(n, direction, tuple(sorted(team))) for n in row]
        return ""

    def _row(self, direction: str, number: int) -> tuple[list[int], list[int], str]:
        """The blocks and seats that a push would move, and what stops it, if anything."""
        row, riders = [number], list[int]()
        cells = self.blocks[number].face(direction)  # that must be free
        for cell in cells:  # which grows
            if not (0 <= cell[0] < self.world.size and 0 <= cell[1] < self.world.size):
                return row, riders, "the border"
            other, seat = self.cover.get(cell), self.stands.get(cell)
            if other is not None and other not in row:
                if not self.world.chain:
                    return row, riders, f"block_{other}"
                if other in self.pushed:
                    return row, riders, f"block_{other}, which has moved already,"
                row.append(other)
                cells += self.blocks[other].face(direction)
            if seat is not None and seat not in riders:
                ahead = beside(cell, direction)
                if not self.world.chain or seat in self.carried or not walkable(self.world.size, ahead):
                    return row, riders, self.world.agents[seat]
                riders.append(seat)
                cells.append(ahead)
        return row, riders, ""

    def _walk(self, seat: int, direction: str) -> str:
        """Move an agent to a free cell; or say why not."""
        cell = beside(self.places[seat], direction)
        if not walkable(self.world.size, cell):
            inside = 0 <= cell[0] < self.world.size and 0 <= cell[1] < self.world.size
            return f"you did not move {direction}: " + ("agents may not enter the goal" if inside else "the board ends")
        if cell in self.cover:
            return f"you did not move {direction}: block_{self.cover[cell]} is in the way"
        if cell in self.stands:
            return f"you did not move {direction}: {self.world.agents[self.stands[cell]]} is in the way"
        del self.stands[self.places[seat]]
        self.places[seat] = cell
        self.stands[cell] = seat
        return ""


@lru_cache(maxsize=64)  # the same for every agent
def _scene(size: int, agents: tuple[Place, ...], blocks: tuple[Block, ...], delivered: tuple[Block, ...]) -> str:
    cover = {cell: block.name for block in blocks for cell in block.cells}
    cover.update({place: f"agent_{seat}" for seat, place in enumerate(agents)})
    lines = ["Delivered: " + (", ".join(block.name for block in delivered) or "none") + ".", "Blocks:"]
    for block in blocks:
        right, rows = block.column + block.weight, range(block.row, block.row + block.weight)
        ahead = (cover.get((row, column)) for column in range(right, size) for row in rows)
        found = list(dict.fromkeys(name for name in ahead if name))
        lines.append(
            f"{block.name}: weight {block.weight}, needs {block.weight} at once, scores {block.weight}, top left "
            f"({block.row}, {block.column}), rows {block.row} to {rows[-1]}, columns {block.column} to {right - 1}; "
            f"stand on {', '.join(map(str, block.face('left')))} to push it right, {size - right} from the goal, "
            f"way {'blocked by ' + ', '.join(found) if found else 'clear'}"
        )
    return "\n".join(lines)
