"""Sparse tree cutting: three agents fell the trees of six cells on a map that they reveal together (swap paper,
appendix C.3; the preset "cut trees, sparse, small" of CREW-Wildfire).

A step is one decision round: the actions of all agents run to completion together, however far somebody walks. Cells
are `(x, y)`, x to the east and y to the south from the north-west corner.
"""

from __future__ import annotations

import random
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import ClassVar

from tasks import drawing
from tasks.base import ATTEMPTS, seeded
from tasks.worlds.base import World

Cell = tuple[int, int]
Rows = tuple[tuple[int, ...], ...]

IDLE, CUT_ALL = "idle", "cut_all"
NO_USE = {  # options of a firefighter that this task has no use for
    "pick_up": "there is no civilian here to pick up",
    "drop": "you carry nobody to drop",
    "spray": "nothing burns, so there is nothing to spray",
    "refill": "your water is not needed and not refilled here",
}
ARGUMENTS = {IDLE: 0, "move": 2, "cut": 1, CUT_ALL: 0, **dict.fromkeys(NO_USE, 0)}
ALIASES = {
    "moveto": "move", "goto": "move", "cuttree": "cut", "cuttrees": "cut", "cutalltrees": CUT_ALL, "wait": IDLE,
    "stay": IDLE, "noop": IDLE, "pickupcivilian": "pick_up", "dropcivilian": "drop", "spraywater": "spray",
    "refillwater": "refill",
}  # fmt: skip
CALL = re.compile(r"([a-z][a-z _-]{0,30}?)[ :]*([(\[].{0,60}[)\]]|[\d+-].{0,60})?")
ARGUMENT_NAME = re.compile(r"\b[a-z]{1,9} ?[=:] ?|(?<=\d) trees?$")
WHOLE = re.compile(r"[+-]?[0-9]{1,4}(?:\.0{1,4})?")
LONGEST = 200  # characters of an action that are read
BLOCKED = "B"  # the mark of a building; other cells are marked by their trees
PIXELS = 18  # of a cell in the drawing


@dataclass(frozen=True)
class ForestState:
    """The map after `round` rounds; all tuples of agents are in seat order."""

    targets: tuple[Cell, ...]
    trees: Rows  # [y][x], 0..3
    buildings: tuple[int, ...]  # [y], bit x is set where a building stands
    seen: tuple[int, ...]  # [y], bit x is set where any agent has revealed the cell
    at: tuple[Cell, ...]
    round: int
    notes: tuple[str, ...]  # what came of each agent's last action


@dataclass(frozen=True)
class Forest(World[ForestState]):
    """The default is the small preset [U] with the cap of the paper [S]; the map's numbers are upstream's, its noise is
    our own, and its cells do not block the way."""

    name: ClassVar[str] = "forest"
    version: ClassVar[int] = 1

    side: int = 30
    seats: int = 3
    cells: int = 6  # target cells
    height: int = 3  # trees of a dense cell: what every target cell holds at first
    rounds: int = 12
    cut_limit: int | None = None  # trees that one agent can cut in a round; None: as many as there are
    window: int = 10  # cells from an agent to the edge of what it is shown
    reveal: int = 5  # cells around an agent that it reveals, also on its way
    offset: int = 20  # vegetation, in hundredths
    scale: float = 20.0  # cells between the knots of the coarsest noise
    octaves: int = 4
    built: float = 0.05  # share of cells that a building takes
    band: tuple[float, float] = (0.1, 0.9)  # where agents start and targets lie, in sides
    room: int = 10  # dense cells that a map must offer for each target, so that targets need not touch
    separation: int = 3  # least distance of targets from each other, in king's moves; halved after `patience` failures
    patience: int = 200

    def __post_init__(self) -> None:
        if self.cut_limit is not None and self.cut_limit < 1:
            raise ValueError(f"forest: cut_limit {self.cut_limit} is no number of trees; give None or 1 or more")
        for field in ("side", "seats", "cells", "height", "rounds", "octaves", "room", "separation", "patience"):
            if getattr(self, field) < 1:
                raise ValueError(f"forest: {field} is {getattr(self, field)}; give 1 or more")
        if not 0 <= self.band[0] < self.band[1] <= 1:
            raise ValueError(f"forest: band {self.band} is no part of the side; give two shares such as (0.1, 0.9)")

    @cached_property
    def agents(self) -> tuple[str, ...]:  # kept, as it is asked for at every step
        return tuple(f"agent_{seat + 1}" for seat in range(self.seats))

    @property
    def most(self) -> int:
        """The highest progress: all trees of all target cells."""
        return self.cells * self.height

    def initial(self, seed: int) -> ForestState:
        """The map of `seed`. Raises ValueError, naming the seed, if `ATTEMPTS` maps have too few dense cells."""
        for attempt in range(ATTEMPTS):
            rng = seeded(self.name, self.version, seed, attempt)
            trees, buildings = self._grow(rng)
            low, high = (int(share * self.side) for share in self.band)
            start = (rng.randrange(low, high), rng.randrange(low, high))
            targets = self._place(trees, start, range(low, high), rng)
            if targets:
                at = (start,) * self.seats
                seen = self._revealed((0,) * self.side, [start])
                return ForestState(targets, trees, buildings, seen, at, 0, ("",) * self.seats)
        raise ValueError(
            f"forest, seed {seed}: no map with {self.cells} target cells in {ATTEMPTS} draws; "
            "ask for fewer cells, a larger side or a higher offset"
        )

    def _grow(self, rng: random.Random) -> tuple[Rows, tuple[int, ...]]:
        """Trees and buildings of all cells: vegetation levels 0..4 stand for rock, brush and 1, 2, 3 trees."""
        noise = _noise(self.side, self.scale, self.octaves, rng)
        trees, buildings = [], []
        for line in noise:
            taken = [rng.random() < self.built for _ in line]
            levels = [min(4, max(0, int(2.5 * (value + 0.01 * self.offset) + 2.5))) for value in line]
            trees.append(
                tuple(0 if b else max(0, level - 4 + self.height) for level, b in zip(levels, taken, strict=True))
            )
            buildings.append(sum(1 << x for x, b in enumerate(taken) if b))
        return tuple(trees), tuple(buildings)

    def _place(self, trees: Rows, start: Cell, band: range, rng: random.Random) -> tuple[Cell, ...]:
        """Target cells: dense ones, on neither the rows nor the columns near the start, and apart. () if there are too
        few."""
        near = self.side // 10
        dense = [
            (x, y)
            for y in band
            for x in band
            if trees[y][x] == self.height and abs(x - start[0]) > near and abs(y - start[1]) > near
        ]
        if len(dense) < self.room * self.cells:
            return ()
        chosen: list[Cell] = []
        apart, failures = self.separation, 0
        while len(chosen) < self.cells:
            cell = rng.choice(dense)
            if all(_distance(cell, other) >= apart for other in chosen):
                chosen.append(cell)
                continue
            failures += 1
            if failures % self.patience == 0:
                apart = max(1, apart // 2)
        return tuple(sorted(chosen))

    def _revealed(self, seen: tuple[int, ...], way: list[Cell]) -> tuple[int, ...]:
        """`seen` and what lies around the cells of `way`."""
        rows = [*seen]
        for x, y in way:
            left, right = max(0, x - self.reveal), min(self.side - 1, x + self.reveal)
            bits = (1 << right + 1) - (1 << left)
            for row in range(max(0, y - self.reveal), min(self.side - 1, y + self.reveal) + 1):
                rows[row] |= bits
        return tuple(rows)

    def actions(self, agent: str) -> tuple[str, ...]:
        return self._actions_of_all

    @cached_property
    def _actions_of_all(self) -> tuple[str, ...]:
        moves = (f"move({x},{y})" for y in range(self.side) for x in range(self.side))
        cuts = (f"cut({trees})" for trees in range(1, self.height + 1))
        return (IDLE, *moves, *cuts, CUT_ALL, *NO_USE)

    def parse_action(self, text: str) -> str:
        """The action that `text` means, as it stands in `actions`: case, blanks, quotes and brackets do not matter, and
        numbers may be named (`Move to (x=4, y=7)`).

        Raises:
            ValueError: with a line for the agent, where `text` is no action or one with numbers out of range.
        """
        if not isinstance(text, str):
            raise ValueError(f"an action is a text such as move(4,7), not {type(text).__name__}")
        said = " ".join(text[: LONGEST + 1].lower().split()).strip(" \"'`*.;")
        found = CALL.fullmatch(said) if len(said) <= LONGEST else None
        word = re.sub("[ _-]", "", found[1]) if found else ""
        name = ALIASES.get(word) or next((known for known in ARGUMENTS if known.replace("_", "") == word), "")
        if not found or not name:
            raise ValueError(f"{said[:40]!r} is no action; choose one of idle, move(x,y), cut(k), {CUT_ALL}")
        given = ARGUMENT_NAME.sub("", (found[2] or "").strip("()[] "))
        if name == "cut" and given == "all":
            return CUT_ALL
        parts = re.split("[ ,;]+", given) if given else []
        if len(parts) != ARGUMENTS[name] or not all(map(WHOLE.fullmatch, parts)):
            needs = {0: "no number", 1: "one whole number", 2: "two whole numbers"}[ARGUMENTS[name]]
            raise ValueError(f"{name} takes {needs} in brackets, not {given[:40]!r}")
        numbers = [int(part.partition(".")[0]) for part in parts]
        if name == "move":
            if not all(0 <= number < self.side for number in numbers):
                raise ValueError(
                    f"({numbers[0]},{numbers[1]}) is outside the map: x and y go from 0 to {self.side - 1}"
                )
        elif name == "cut" and not 1 <= numbers[0] <= self.height:
            raise ValueError(f"cut({numbers[0]}) is impossible: k goes from 1 to {self.height}")
        return f"{name}({','.join(map(str, numbers))})" if numbers else name

    def refusal(self, state: ForestState, agent: str, action: str) -> str:
        x, y = state.at[self.agents.index(agent)]
        if action in NO_USE:
            return f"{NO_USE[action]}; you stay idle"
        if action.startswith("cut") and not state.trees[y][x]:
            return f"there is no tree to cut on your cell ({x},{y}); you stay idle"
        return ""

    def step(self, state: ForestState, actions: Mapping[str, str]) -> ForestState:
        self.check(state, actions)
        done = [actions.get(agent, IDLE) for agent in self.agents]
        refused = [self.refusal(state, agent, action) for agent, action in zip(self.agents, done, strict=True)]
        wanted = [0 if refused[seat] else self._trees(action) for seat, action in enumerate(done)]
        trees = [[*line] for line in state.trees]
        for seat, (x, y) in enumerate(state.at):
            trees[y][x] = max(0, trees[y][x] - wanted[seat])
        at, seen = [*state.at], state.seen
        for seat, action in enumerate(done):
            if action.startswith("move"):
                x, y = map(int, action[5:-1].split(","))
                seen = self._revealed(seen, _way(at[seat], (x, y)))
                at[seat] = (x, y)
        notes = []
        for seat, action in enumerate(done):
            x, y = state.at[seat]
            if refused[seat]:
                notes.append(f"{action} was rejected: {refused[seat]}.")
            elif action.startswith("move"):
                notes.append(f"You moved to ({at[seat][0]},{at[seat][1]}).")
            elif wanted[seat]:
                fell, left = state.trees[y][x] - trees[y][x], trees[y][x]
                others = sum(1 for other in range(self.seats) if wanted[other] and state.at[other] == (x, y)) - 1
                who = f"You and {others} other{'s' * (others > 1)}" if others else "You"
                notes.append(f"{who} cut {_trees(fell)} on ({x},{y}); {_trees(left)} left there.")
            else:
                notes.append("You stayed idle.")
        return ForestState(
            state.targets,
            tuple(map(tuple, trees)),
            state.buildings,
            seen,
            tuple(at),
            state.round + 1,
            tuple(notes),
        )

    def _trees(self, action: str) -> int:
        """How many trees an action would cut at most."""
        if not action.startswith("cut"):
            return 0
        asked = self.height if action == CUT_ALL else int(action[4:-1])
        return asked if self.cut_limit is None else min(asked, self.cut_limit)

    def observe(self, state: ForestState, agent: str) -> str:
        seat = self.agents.index(agent)
        x, y = state.at[seat]
        lines = [
            f"Round {min(state.round + 1, self.rounds)} of {self.rounds}.",
            f"You are at ({x},{y}). {self._ground(state, (x, y))}.",
            f"Target cells, {self.height} trees each at first:",
            *(f"  ({tx},{ty}): {self._ground(state, (tx, ty))}" for tx, ty in state.targets),
            f"Map around you, x from {x - self.window} to {x + self.window}, a line for each y; a digit counts trees, "
            f"{BLOCKED} is a building, - not seen yet or outside, * you:",
        ]
        for row in range(y - self.window, y + self.window + 1):
            marks = "".join(
                "*" if (column, row) == (x, y) else self._mark(state, (column, row))
                for column in range(x - self.window, x + self.window + 1)
            )
            lines.append(f"{row:>3} {marks}")
        if state.notes[seat]:
            lines.append(f"Last action: {state.notes[seat]}")
        return "\n".join(lines)

    def _mark(self, state: ForestState, cell: Cell) -> str:
        x, y = cell
        if not (0 <= x < self.side and 0 <= y < self.side and state.seen[y] >> x & 1):
            return "-"
        return BLOCKED if state.buildings[y] >> x & 1 else str(state.trees[y][x])

    def _ground(self, state: ForestState, cell: Cell) -> str:
        """A cell in words, as far as it is seen."""
        mark = self._mark(state, cell)
        return {"-": "not seen yet", BLOCKED: "a building"}.get(mark) or f"{_trees(int(mark))} now"

    def feedback(self, state: ForestState, agent: str) -> str:
        return state.notes[self.agents.index(agent)]

    def living(self, state: ForestState) -> tuple[str, ...]:
        return self.agents

    def standing(self, state: ForestState) -> int:
        """Trees that stand on target cells."""
        return sum(state.trees[y][x] for x, y in state.targets)

    def progress(self, before: ForestState, after: ForestState) -> int:
        """Trees of target cells cut between two states; trees elsewhere do not count (swap paper, C.3)."""
        return self.standing(before) - self.standing(after)

    def score(self, state: ForestState) -> float:
        """The share of target trees that are cut, 0..100."""
        return 100 * (self.most - self.standing(state)) / self.most

    def rewards(self, before: ForestState, after: ForestState) -> dict[str, float]:
        """Everybody gets the team's progress."""
        return dict.fromkeys(self.agents, float(self.progress(before, after)))

    def is_over(self, state: ForestState) -> bool:
        return not self.standing(state)

    def is_cut(self, state: ForestState) -> bool:
        return state.round >= self.rounds and not self.is_over(state)

    def draw(self, state: ForestState) -> str:
        parts = []
        for y in range(self.side):
            for x in range(self.side):
                css = "hidden" if state.seen[y] >> x & 1 else "node"
                if state.buildings[y] >> x & 1:
                    css = "wall"
                elif (x, y) in state.targets:
                    css = "wrong" if state.trees[y][x] else "right"
                parts.append(drawing.rect(x * PIXELS + 1, y * PIXELS + 1, PIXELS - 2, PIXELS - 2, css))
                if state.trees[y][x]:
                    parts.append(drawing.text((x + 0.5) * PIXELS, (y + 0.75) * PIXELS, state.trees[y][x]))
        for seat, (x, y) in enumerate(state.at):  # agents may share a cell: rings of growing size
            parts.append(drawing.ring((x + 0.5) * PIXELS, (y + 0.5) * PIXELS, PIXELS / 2 + 2 + 3 * seat, "broken"))
        places = ", ".join(f"{agent} at ({x},{y})" for agent, (x, y) in zip(self.agents, state.at, strict=True))
        cut = self.most - self.standing(state)
        label = f"round {state.round} of {self.rounds}: {cut} of {self.most} target trees cut; {places}"
        return drawing.svg(self.side * PIXELS, self.side * PIXELS, parts, label)


def script(world: Forest) -> Callable[[ForestState, str], str]:
    """A policy of a team that shares the target cells out by seat and fells them in turn: all trees in 4 rounds by
    default, in 8 of the default map with `cut_limit` 1."""

    def act(state: ForestState, agent: str) -> str:
        seat = world.agents.index(agent)
        mine = [(x, y) for x, y in state.targets[seat :: world.seats] if state.trees[y][x]]
        if not mine:
            return IDLE
        return CUT_ALL if state.at[seat] == mine[0] else f"move({mine[0][0]},{mine[0][1]})"

    return act


def _trees(number: int) -> str:
    return f"{number} tree{'s' * (number != 1)}"


def _distance(one: Cell, other: Cell) -> int:
    """In king's moves."""
    return max(abs(one[0] - other[0]), abs(one[1] - other[1]))


def _way(start: Cell, goal: Cell) -> list[Cell]:
    """The cells of a walk by king's moves, diagonal ones first; both ends are in it."""
    way = [start]
    while way[-1] != goal:
        x, y = way[-1]
        way.append((x + _sign(goal[0] - x), y + _sign(goal[1] - y)))
    return way


def _sign(number: int) -> int:
    return (number > 0) - (number < 0)


def _noise(side: int, scale: float, octaves: int, rng: random.Random) -> list[list[float]]:
    """Smooth value noise between -2 and 2, [y][x]: each octave has knots twice as dense and weighs half as much."""
    total = [[0.0] * side for _ in range(side)]
    for octave in range(octaves):
        step, weight = scale / 2**octave, 0.5**octave
        knots = [[rng.uniform(-1, 1) for _ in range(int(side / step) + 2)] for _ in range(int(side / step) + 2)]
        for y in range(side):
            row, down = divmod(y / step, 1)
            down *= down * (3 - 2 * down)
            upper, lower = knots[int(row)], knots[int(row) + 1]
            for x in range(side):
                column, right = divmod(x / step, 1)
                right *= right * (3 - 2 * right)
                c = int(column)
                above = upper[c] + (upper[c + 1] - upper[c]) * right
                below = lower[c] + (lower[c + 1] - lower[c]) * right
                total[y][x] += weight * (above + (below - above) * down)
    return total
