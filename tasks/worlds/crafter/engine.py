"""One step of the world. The result does not depend on the order of the agents: what two of them want at once is
given to both, to neither, or by a draw between the cells that they stand on."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from tasks.base import seeded
from tasks.worlds.cooperation import Completion
from tasks.worlds.crafter.rules import (
    GRASS,
    INDEX,
    ITEMS,
    LAVA,
    NAMES,
    STEPS,
    UNSEEN,
    WALKABLE,
    WATER,
    Agent,
    Cow,
    Vitals,
)

if TYPE_CHECKING:
    from tasks.worlds.crafter.world import Crafter

Cell = tuple[int, int]  # x, y
Rows = tuple[str, ...]
VOID = ""  # beyond the map


@dataclass(frozen=True)
class CrafterState:
    """Everything there is at a step. `agents` are in seat order, dead ones included."""

    seed: int
    step: int
    rows: Rows
    agents: tuple[Agent, ...]
    cows: tuple[Cow, ...]
    bred: int  # cows that there ever were: the number of the next one
    completions: tuple[Completion, ...]  # of the whole episode, oldest first

    @property
    def score(self) -> float:
        return sum(completion.score for completion in self.completions)


def mark_at(rows: Rows, x: int, y: int) -> str:
    """The mark of a cell; VOID beyond the map, on every side."""
    return rows[y][x] if 0 <= y < len(rows) and 0 <= x < len(rows[0]) else VOID


def put(rows: Rows, x: int, y: int, mark: str) -> Rows:
    """The map with one cell changed; all other rows are shared."""
    row = rows[y]
    return (*rows[:y], row[:x] + mark + row[x + 1 :], *rows[y + 1 :])


def seen(memory: Rows, rows: Rows, x: int, y: int, view: tuple[int, int]) -> Rows:
    """An agent's memory of the map after a look around from a cell."""
    left, right = max(0, x - view[0] // 2), min(len(rows[0]), x + view[0] // 2 + 1)
    top, bottom = max(0, y - view[1] // 2), min(len(rows), y + view[1] // 2 + 1)
    new = None
    for i in range(top, bottom):
        part = rows[i][left:right]
        known = memory[i]
        if known[left:right] != part:
            new = new or list(memory)
            new[i] = known[:left] + part + known[right:]
    return tuple(new) if new else memory


def has_station(world: Crafter, rows: Rows, x: int, y: int, station: str) -> bool:
    """Whether a table or a furnace is near a cell."""
    near, mark = world.rules.near, world.placement_of(station).becomes
    left = max(0, x - near)
    return any(mark in row[left : x + near + 1] for row in rows[max(0, y - near) : y + near + 1])


def can_place(world: Crafter, state: CrafterState, agent: Agent, item: str) -> str:
    """Why an agent cannot place an item where it faces; "" where it can."""
    placement = world.placement_of(item)
    if fault := unpaid(agent.items, placement.cost):
        return f"cannot place {item}: {fault}"
    x, y = agent.x + STEPS[agent.facing][0], agent.y + STEPS[agent.facing][1]
    if body := body_at(world, state, x, y):
        return f"cannot place {item}: {body} is in front of you"
    mark = mark_at(state.rows, x, y)
    if not mark or mark not in placement.onto:
        onto = ", ".join(NAMES[m] for m in placement.onto)
        return f"cannot place {item}: you face {NAMES.get(mark, 'the edge of the map')}, which is none of {onto}"
    return ""


def can_make(world: Crafter, rows: Rows, agent: Agent, item: str) -> str:
    """Why an agent cannot make an item; "" where it can."""
    product = world.product_of(item)
    for station in product.stations:
        if not has_station(world, rows, agent.x, agent.y, station):
            return f"cannot make {item}: no {station} nearby"
    if agent.items[INDEX[item]] >= world.rules.item_limit:
        return f"cannot make {item}: you hold {world.rules.item_limit} already"
    fault = unpaid(agent.items, product.cost)
    return f"cannot make {item}: {fault}" if fault else ""


def unpaid(items: Sequence[int], cost: Sequence[tuple[str, int]]) -> str:
    """What is missing for a cost, in words."""
    missing = [f"{n} {name} (you have {items[INDEX[name]]})" for name, n in cost if items[INDEX[name]] < n]
    return f"it takes {' and '.join(missing)}" if missing else ""


def body_at(world: Crafter, state: CrafterState, x: int, y: int) -> str:
    """Who stands on a cell; "" if nobody does."""
    for name, agent in zip(world.agents, state.agents, strict=True):
        if agent.x == x and agent.y == y and agent.alive:
            return name
    return next((f"cow#{cow.number}" for cow in state.cows if cow.x == x and cow.y == y), "")


def age(vitals: Vitals, agent: Agent) -> tuple[tuple[int, int, int, int], tuple[float, float, float, float], bool]:
    """Vitals, counters and sleep of an agent a step later, before it acts."""
    health, food, drink, energy = agent.vitals
    hunger, thirst, fatigue, recovery = agent.counters
    asleep = agent.asleep
    pace = vitals.asleep if asleep else vitals.awake
    hunger, thirst = hunger + pace, thirst + pace
    fatigue = min(fatigue - 1, 0) if asleep else fatigue + 1
    if hunger > vitals.hunger:
        hunger, food = 0, max(0, food - 1)
    if thirst > vitals.thirst:
        thirst, drink = 0, max(0, drink - 1)
    if fatigue > vitals.fatigue:
        fatigue, energy = 0, max(0, energy - 1)
    elif fatigue < vitals.rest:
        fatigue, energy = 0, min(vitals.most, energy + 1)
    if food and drink and (energy or asleep):
        recovery += vitals.recovery_asleep if asleep else vitals.awake
    else:
        recovery -= vitals.wasting_asleep if asleep else vitals.wasting_awake
    hurt = False
    if recovery > vitals.recovery:
        recovery, health = 0, min(vitals.most, health + 1)
    elif recovery < vitals.wasting:
        recovery, health, hurt = 0, health - 1, True
    return (
        (health, food, drink, energy),
        (hunger, thirst, fatigue, recovery),
        asleep and energy < vitals.most and not hurt,
    )


class Step:
    """The work of one step: what changes, by seat, until `result` puts it into a state again."""

    def __init__(self, world: Crafter, state: CrafterState, actions: Mapping[str, str]) -> None:
        self.world, self.state, self.rules = world, state, world.rules
        self.number = state.step + 1
        self.rows, self.cows, self.bred = state.rows, list(state.cows), state.bred
        before = state.agents
        self.cells: list[Cell] = [(a.x, a.y) for a in before]
        self.facing = [a.facing for a in before]
        self.items: list[list[int]] = [list(a.items) for a in before]
        self.earned = [a.earned for a in before]
        self.vitals = [list(a.vitals) for a in before]
        self.counters = [list(a.counters) for a in before]
        self.asleep = [a.asleep for a in before]
        self.outcome = [""] * len(before)
        self.done = [False] * len(before)
        self.got: list[tuple[str, ...]] = [()] * len(before)
        self.heard: list[list[str]] = [[] for _ in before]  # events beside the own outcome
        self.completed: list[Completion] = []
        self.living = [i for i, a in enumerate(before) if a.alive]
        self.verbs: dict[str, list[tuple[int, tuple[str, ...]]]] = {}
        for i in self.living:
            vitals, counters, asleep = age(self.rules.vitals, before[i])
            self.vitals[i], self.counters[i], self.asleep[i] = list(vitals), list(counters), asleep
            if before[i].asleep and not asleep:
                self.heard[i].append("you wake up")
        for i in self.living:  # by seat: the order of `actions` does not matter
            action = actions.get(world.agents[i], "noop")
            if before[i].asleep:
                if action != "noop":
                    self.outcome[i] = f"{action}: you are asleep"
            elif self.vitals[i][0] > 0 and action != "noop":
                verb, *arguments = world.words(action)
                self.verbs.setdefault(verb, []).append((i, tuple(arguments)))
        self.living = [i for i in self.living if self.vitals[i][0] > 0]

    def result(self) -> CrafterState:
        """The state after all phases, in the order of the specification: share, place, collect, the rest, objects."""
        verbs = self.verbs
        if "share" in verbs:
            self._share(verbs["share"])
        if "place" in verbs:
            self._place(verbs["place"])
        if "collect" in verbs:
            self._collect(verbs["collect"])
        for i, (item,) in verbs.get("make", ()):
            self._make(i, item)
        for i, _ in verbs.get("sleep", ()):
            self.asleep[i] = self.done[i] = self.vitals[i][3] < self.rules.vitals.most
            self.outcome[i] = "you fall asleep" if self.asleep[i] else "sleep: you are not tired, energy is full"
        if "move" in verbs:
            self._move(verbs["move"])
        self._walk_cows()
        return self._state()

    # phases

    def _share(self, wanted: list[tuple[int, tuple[str, ...]]]) -> None:
        """All gifts at once, out of what there was before. Gifts that do not fit together are cut to a common size."""
        gifts: dict[tuple[int, int], dict[int, int]] = {}  # by recipient and item: giver, number
        for i, (to, item, quantity) in wanted:
            j, k = self.world.seat(to), INDEX[item]
            number = min(int(quantity), self.items[i][k])
            if j not in self.living:
                self.outcome[i] = f"share: {to} is dead"
            elif not number:
                self.outcome[i] = f"share: you have no {item}"
            else:
                gifts.setdefault((j, k), {})[i] = number
        room = {to: self.rules.item_limit - self.items[to[0]][to[1]] for to in gifts}
        for (j, k), by in gifts.items():
            size = max(by.values())
            while sum(min(size, number) for number in by.values()) > room[j, k]:
                size -= 1
            for i, number in by.items():
                moved = min(size, number)
                self.items[i][k] -= moved
                self.items[j][k] += moved
                names, item = self.world.agents, ITEMS[k]
                self.done[i] = moved > 0
                self.outcome[i] = (
                    f"you gave {moved} {item} to {names[j]}" if moved else f"share: {names[j]} has no room"
                )
                if moved:
                    self.heard[j].append(f"{names[i]} gave you {moved} {item}")

    def _place(self, wanted: list[tuple[int, tuple[str, ...]]]) -> None:
        sites: dict[Cell, list[tuple[int, str]]] = {}
        for i, (item,) in wanted:
            if fault := can_place(self.world, self.state, self._agent(i), item):
                self.outcome[i] = fault
            else:
                sites.setdefault(self._ahead(i), []).append((i, item))
        for cell, rivals in sites.items():
            winner = self._drawn(cell, [i for i, _ in rivals])
            for i, item in rivals:
                if i != winner:
                    self.outcome[i] = f"place {item}: somebody else placed something there in the same step"
                    continue
                placement = self.world.placement_of(item)
                self._pay(i, placement.cost)
                self.rows = put(self.rows, *cell, placement.becomes)
                self.done[i] = True
                self.outcome[i] = f"you placed {item} at ({cell[0]}, {cell[1]})"

    def _collect(self, wanted: list[tuple[int, tuple[str, ...]]]) -> None:
        """Everybody who works on a cell takes part; a cell that yields does so for all of them alike."""
        workers: dict[Cell, list[int]] = {}
        for i, words in wanted:
            for cell in self.world.worked(self.cells[i], self.facing[i], words):
                workers.setdefault(cell, []).append(i)
        said: list[list[str]] = [[] for _ in self.cells]
        for cell in sorted(workers):
            self._work(cell, workers[cell], said)
        for i, words in wanted:
            self.done[i] = bool(self.got[i])
            self.outcome[i] = "; ".join(said[i]) or f"{' '.join(('collect', *words))}: there is nothing to collect"

    def _work(self, cell: Cell, workers: list[int], said: list[list[str]]) -> None:
        """What comes of the collecting on one cell."""
        x, y = cell
        vitals = self.rules.vitals
        cow = next((cow for cow in self.cows if (cow.x, cow.y) == cell), None)
        mark = mark_at(self.rows, x, y)
        if cow:
            self.cows.remove(cow)
            for i in workers:
                self.vitals[i][1] = min(vitals.most, self.vitals[i][1] + vitals.food)
                self.counters[i][0] = 0
                self._gain(i, f"cow#{cow.number}", "you ate a cow", said)
        elif mark == WATER:
            for i in workers:
                self.vitals[i][2] = min(vitals.most, self.vitals[i][2] + vitals.drink)
                self.counters[i][1] = 0
                self._gain(i, f"water#{self.world.number(x, y)}", "you drank water", said)
        elif resource := self.world.resource_at(mark):
            id, tool = f"{NAMES[mark]}#{self.world.number(x, y)}", resource.tool
            able = [i for i in workers if not tool or self.items[i][INDEX[tool]]]
            for i in workers:
                if i not in able:
                    said[i].append(f"{id}: you need a {tool}")
            if len(able) < resource.participants:
                for i in able:
                    lack = f"{resource.participants} agents must collect it together, {len(able)} did"
                    said[i].append(f"{id}: {lack}")
                return
            self.rows = put(self.rows, x, y, resource.leaves)
            k = INDEX[resource.gives]
            names = [self.world.agents[i] for i in sorted(able)]
            scores = self.world.scores(mark)
            each = resource.reward if self.world.score_per_participant else resource.reward / len(able)
            for i in able:
                self.items[i][k] = min(self.rules.item_limit, self.items[i][k] + 1)
                self.earned[i] += each * scores
                others = [name for name in names if name != self.world.agents[i]]
                company = f" together with {', '.join(others)}" * bool(others)
                self._gain(i, id, f"you collected {resource.gives} from {id}{company}", said)
            if scores:
                total = resource.reward * (len(able) if self.world.score_per_participant else 1)
                self.completed.append(Completion(self.world.task_at(mark, x, y), tuple(names), total))

    def _make(self, i: int, item: str) -> None:
        if fault := can_make(self.world, self.rows, self._agent(i), item):
            self.outcome[i] = fault
            return
        self._pay(i, self.world.product_of(item).cost)
        self.items[i][INDEX[item]] += 1
        self.done[i] = True
        self.outcome[i] = f"you made {item}"

    def _move(self, wanted: list[tuple[int, tuple[str, ...]]]) -> None:
        """All moves at once. Who leaves a cell makes it free for a follower; two never swap places; a cell that
        several want goes to one of them by a draw, and the others stay."""
        waiting: dict[Cell, list[int]] = {}
        for i, (word,) in wanted:
            self.facing[i] = self.world.direction(word)
            x, y = self._ahead(i)
            mark = mark_at(self.rows, x, y)
            if mark and mark in WALKABLE + LAVA:
                waiting.setdefault((x, y), []).append(i)
            else:
                self.outcome[i] = f"move {word}: {self._told(mark, x, y)} is in the way; you face it now"
        bodies = self._bodies()
        while free := [cell for cell in waiting if cell not in bodies]:
            moved = {cell: self._drawn(cell, waiting.pop(cell)) for cell in free}  # the rest stays where it is
            for cell, i in moved.items():
                del bodies[self.cells[i]]
                bodies[cell] = self.world.agents[i]
                self.cells[i] = cell
                self.done[i] = True
                self.outcome[i] = f"you moved to ({cell[0]}, {cell[1]})"
                if mark_at(self.rows, *cell) == LAVA:
                    self.vitals[i][0] = 0
                    self.outcome[i] = "you stepped into lava and died"
        for i, (word,) in wanted:
            if not self.outcome[i]:
                body = bodies[self._ahead(i)]
                self.outcome[i] = f"move {word}: {body} is in the way; you face it now"

    def _walk_cows(self) -> None:
        """Cows move after all agents, one after the other in the order in which they were born."""
        herd, state = self.rules.herd, self.state
        rng = seeded("crafter", state.seed, self.number, "cows")
        draws = [rng.random() for _ in self.cows]
        taken = {self.cells[i] for i in self.living if self.vitals[i][0] > 0}
        taken.update((cow.x, cow.y) for cow in self.cows)
        rows, move = self.rows, herd.move
        height, width = len(rows), len(rows[0])
        for k, draw in enumerate(draws):
            if draw < move:
                cow = self.cows[k]
                dx, dy = STEPS[int(draw / move * 4)]
                x, y = cow[1] + dx, cow[2] + dy
                if 0 <= x < width and 0 <= y < height and rows[y][x] in WALKABLE and (x, y) not in taken:
                    taken.remove((cow[1], cow[2]))
                    taken.add((x, y))
                    self.cows[k] = Cow(cow[0], x, y)
        if self.number % herd.every == 0:
            self._balance(taken)

    def _balance(self, taken: set[Cell]) -> None:
        herd, size = self.rules.herd, self.rules.herd.chunk
        rng = seeded("crafter", self.state.seed, self.number, "balance")
        people = [self.cells[i] for i in self.living if self.vitals[i][0] > 0]
        by_chunk: dict[Cell, list[Cow]] = {}
        for cow in self.cows:
            by_chunk.setdefault((cow.x // size, cow.y // size), []).append(cow)
        for top in range(0, len(self.rows), size):
            for left in range(0, len(self.rows[0]), size):
                draw, pick = rng.random(), rng.random()
                cows = by_chunk.get((left // size, top // size), [])
                if len(cows) > herd.greatest and draw < herd.despawn:
                    cow = cows[int(pick * len(cows))]
                    if _far((cow.x, cow.y), people, herd.distance):
                        self.cows.remove(cow)
                elif len(cows) < herd.least and draw < herd.spawn:
                    rows = [row[left : left + size] for row in self.rows[top : top + size]]
                    grass = [(left + x, top + y) for y, row in enumerate(rows) for x, m in enumerate(row) if m == GRASS]
                    cell = grass[int(pick * len(grass))] if len(grass) >= herd.grass else None
                    if cell and cell not in taken and _far(cell, people, herd.distance):
                        self.cows.append(Cow(self.bred, *cell))
                        self.bred += 1

    # helpers

    def _state(self) -> CrafterState:
        agents = []
        rules, view = self.rules, self.rules.view
        for i, before in enumerate(self.state.agents):
            if not before.alive:
                agents.append(before._replace(got=(), outcome="", done=False) if before.outcome else before)
                continue
            x, y = self.cells[i]
            vitals = self.vitals[i]
            if vitals[0] <= 0 and not self.outcome[i]:
                self.outcome[i] = "you died of hunger, thirst or exhaustion"
            heard = self.heard[i]
            if self.outcome[i] and not self.outcome[i].startswith("you moved"):
                heard.append(self.outcome[i])
            events = before.events
            if heard:
                events = (*events, *(f"step {self.number}: {event}" for event in heard))[-rules.events_kept :]
            counters = self.counters[i]
            agents.append(
                Agent(
                    x,
                    y,
                    self.facing[i],
                    (max(0, vitals[0]), vitals[1], vitals[2], vitals[3]),
                    (counters[0], counters[1], counters[2], counters[3]),
                    self.asleep[i],
                    tuple(self.items[i]),
                    seen(before.memory, self.rows, x, y, view),
                    self.earned[i],
                    self.done[i],
                    self.outcome[i],
                    self.got[i],
                    events,
                )
            )
        state = self.state
        completions = (*state.completions, *self.completed) if self.completed else state.completions
        return CrafterState(state.seed, self.number, self.rows, tuple(agents), tuple(self.cows), self.bred, completions)

    def _agent(self, i: int) -> Agent:
        """Agent `i` with what has changed so far in this step, as far as costs and cells ask for it."""
        x, y = self.cells[i]
        return self.state.agents[i]._replace(x=x, y=y, facing=self.facing[i], items=tuple(self.items[i]))

    def _bodies(self) -> dict[Cell, str]:
        bodies = {(cow.x, cow.y): f"cow#{cow.number}" for cow in self.cows}
        bodies.update((self.cells[i], self.world.agents[i]) for i in self.living)
        return bodies

    def _ahead(self, i: int) -> Cell:
        (x, y), (dx, dy) = self.cells[i], STEPS[self.facing[i]]
        return x + dx, y + dy

    def _drawn(self, cell: Cell, rivals: list[int]) -> int:
        """One of those who want the same cell; seats do not matter, only the cells that they stand on."""
        if len(rivals) == 1:
            return rivals[0]
        rng = seeded("crafter", self.state.seed, self.number, "conflict", *cell)
        return rng.choice(sorted(rivals, key=self.cells.__getitem__))

    def _pay(self, i: int, cost: Sequence[tuple[str, int]]) -> None:
        for name, number in cost:
            self.items[i][INDEX[name]] -= number

    def _gain(self, i: int, id: str, words: str, said: list[list[str]]) -> None:
        self.got[i] = (*self.got[i], id)
        said[i].append(words)

    def _told(self, mark: str, x: int, y: int) -> str:
        return f"{NAMES[mark]}#{self.world.number(x, y)}" if mark else "the edge of the map"


def _far(cell: Cell, people: Sequence[Cell], distance: int) -> bool:
    return all(abs(cell[0] - x) + abs(cell[1] - y) >= distance for x, y in people)


def blank(rows: Rows) -> Rows:
    """The memory of somebody who has seen nothing."""
    return (UNSEEN * len(rows[0]),) * len(rows)


def newborn(cell: Cell, rows: Rows, vitals: Vitals, view: tuple[int, int]) -> Agent:
    """An agent at the start: full vitals, nothing in hand, facing down [CR]."""
    full = (vitals.most, vitals.most, vitals.most, vitals.most)
    memory = seen(blank(rows), rows, *cell, view)
    return Agent(*cell, 1, full, (0, 0, 0, 0), False, (0,) * len(ITEMS), memory, 0.0, True, "", (), ())
