"""The board of CUBE: its state, and where on it one can stand and push. Cells are (row, column) from the top left."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

from tasks.worlds.cooperation import Place

STAY = "stay"
MOVES = {"up": (-1, 0), "down": (1, 0), "left": (0, -1), "right": (0, 1)}  # in the order in which pushes happen
OPPOSITE = {"up": "down", "down": "up", "left": "right", "right": "left"}


def beside(place: Place, direction: str, steps: int = 1) -> Place:
    """The cell `steps` away in a direction, on the board or not."""
    return place[0] + steps * MOVES[direction][0], place[1] + steps * MOVES[direction][1]


def manhattan(a: Place, b: Place) -> int:
    return abs(a[0] - b[0]) + abs(a[1] - b[1])


class Block(NamedTuple):
    """A square of side `weight`; `row` and `column` are those of its top left cell."""

    number: int
    weight: int
    row: int
    column: int

    @property
    def name(self) -> str:
        return f"block_{self.number}"

    @property
    def cells(self) -> list[Place]:
        """All cells that it covers, row by row."""
        side = range(self.weight)
        return [(self.row + r, self.column + c) for r in side for c in side]

    def face(self, side: str) -> list[Place]:
        """The cells along one side, on the board or not; from the left one it is pushed to the right."""
        rows, columns = range(self.row, self.row + self.weight), range(self.column, self.column + self.weight)
        if side in ("left", "right"):
            column = self.column - 1 if side == "left" else self.column + self.weight
            return [(row, column) for row in rows]
        row = self.row - 1 if side == "up" else self.row + self.weight
        return [(row, column) for column in columns]

    def pushed(self, direction: str) -> Block:
        """The block one cell further."""
        return Block(self.number, self.weight, *beside((self.row, self.column), direction))

    def side_of(self, place: Place) -> str:
        """The side along which `place` lies; "" where it does not touch."""
        return next((side for side in MOVES if place in self.face(side)), "")


class Push(NamedTuple):
    """A push that moved a block: the number of the one that was touched, whither, and the seats of who pushed."""

    block: int
    direction: str
    seats: tuple[int, ...]


@dataclass(frozen=True)
class CubeState:
    """`agents` in seat order, `blocks` by number, `delivered` in that order, off the board (row and column -1).
    `pushes` and `told` are of the step that led here: what was pushed, and a line for each agent."""

    step: int
    agents: tuple[Place, ...]
    blocks: tuple[Block, ...]
    delivered: tuple[Block, ...] = ()
    pushes: tuple[Push, ...] = ()
    told: tuple[str, ...] = ()

    @cached_property
    def cover(self) -> dict[Place, int]:
        """The number of the block on each covered cell."""
        return {cell: block.number for block in self.blocks for cell in block.cells}

    @property
    def score(self) -> int:
        return sum(block.weight for block in self.delivered)

    def block(self, number: int) -> Block | None:
        """The block of that number, if it is still there."""
        return next((block for block in self.blocks if block.number == number), None)


def walkable(size: int, cell: Place) -> bool:
    """Whether agents may ever stand there: on the board and not in its last column, the goal."""
    return 0 <= cell[0] < size and 0 <= cell[1] < size - 1


def usable(size: int, block: Block, side: str) -> bool:
    """Whether agents could stand along a side and the block move away from them, if nothing else were on the board."""
    ahead = block.face(OPPOSITE[side])
    return all(walkable(size, cell) for cell in block.face(side)) and all(
        0 <= r < size and 0 <= c < size for r, c in ahead
    )


def far(size: int, goals: Iterable[Place], blocked: Collection[Place]) -> dict[Place, int]:
    """The moves from every cell to the nearest of `goals` by free cells, nearest first; goals may be blocked."""
    found = dict.fromkeys((goal for goal in goals if walkable(size, goal)), 0)
    edge = list(found)
    for cell in edge:  # which grows
        row, column = cell
        for other in ((row - 1, column), (row + 1, column), (row, column - 1), (row, column + 1)):
            if other not in found and other not in blocked and walkable(size, other):
                found[other] = found[cell] + 1
                edge.append(other)
    return found


def read_map(rows: Iterable[str]) -> CubeState:
    """A first state from a square map: `.` free, digits the agents by seat, letters the blocks (each a square; `A` is
    block_0), `|` or `.` the goal in the last column. Raises ValueError for any other map."""
    lines = [row.strip() for row in rows]
    marks: dict[str, list[Place]] = {}
    for r, line in enumerate(lines):
        if len(line) != len(lines):
            raise ValueError(f"row {r} of the map has {len(line)} cells but the map has {len(lines)} rows")
        for c, mark in enumerate(line):
            if mark not in ".|":
                marks.setdefault(mark, []).append((r, c))
    blocks = []
    for mark in sorted(marks):
        (row, column), weight = marks[mark][0], round(len(marks[mark]) ** 0.5)
        block = Block(ord(mark) - ord("A"), weight, row, column)
        if mark.isdigit():
            if len(marks[mark]) > 1 or column == len(lines) - 1:
                raise ValueError(f"agent {mark} of the map must be in one cell that is not in the last column")
        elif not "A" <= mark <= "Z" or block.cells != marks[mark] or column + weight >= len(lines):
            raise ValueError(f"{mark!r} of the map is no letter of a square that ends before the last column")
        else:
            blocks.append(block)
    seats = sorted(mark for mark in marks if mark.isdigit())
    if seats != [str(seat) for seat in range(len(seats))] or not seats or not blocks:
        raise ValueError("a map needs a block, and agents that are numbered from 0")
    return CubeState(0, tuple(marks[seat][0] for seat in seats), tuple(blocks))
