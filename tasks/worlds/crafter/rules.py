"""What there is in the world of Crafter and every number of its rules.

Sources: S the paper, U the authors' public code, CR Crafter 1.8.3 as measured, [our choice] else.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import NamedTuple

GRASS, PATH, SAND, WATER, LAVA = ".", "_", ":", "~", "l"
TREE, STONE, COAL, IRON, DIAMOND = "Y", "#", "c", "i", "d"
LAID, TABLE, FURNACE = "o", "T", "F"  # a laid stone is one that an agent has placed
UNSEEN = " "  # in what an agent remembers
NAMES = {
    GRASS: "grass",
    PATH: "path",
    SAND: "sand",
    WATER: "water",
    LAVA: "lava",
    TREE: "tree",
    STONE: "stone",
    COAL: "coal",
    IRON: "iron",
    DIAMOND: "diamond",
    LAID: "laid_stone",
    TABLE: "table",
    FURNACE: "furnace",
}
MARKS = {name: mark for mark, name in NAMES.items()}
WALKABLE = GRASS + PATH + SAND  # for cows; agents may step on lava too, and die
COW = "w"  # in maps written by hand: a cow on grass

MATERIALS = ("wood", "stone", "coal", "iron", "diamond")
TOOLS = ("wood_pickaxe", "stone_pickaxe", "iron_pickaxe", "wood_sword", "stone_sword", "iron_sword")
ITEMS = MATERIALS + TOOLS
INDEX = {item: i for i, item in enumerate(ITEMS)}  # of counts in `Agent.items`
VITALS = ("health", "food", "drink", "energy")

DIRECTIONS = ("up", "down", "left", "right")
STEPS = ((0, -1), (0, 1), (-1, 0), (1, 0))  # x grows to the right, y downwards

Cost = tuple[tuple[str, int], ...]


@dataclass(frozen=True)
class Resource:
    """What is collected from a cell: `participants` agents who hold `tool` must do so together. `leaves` is the mark
    that the cell gets."""

    kind: str
    gives: str
    participants: int
    tool: str  # "" for none
    base: float
    tier: int
    leaves: str

    @property
    def reward(self) -> float:
        """r for one unit: base x p x (1 + tier / 2) [U]."""
        return self.base * self.participants * (1 + 0.5 * self.tier)


RESOURCES = (  # participation, tools, bases, tiers [U, the paper's configuration]; what is left [CR]
    Resource("tree", "wood", 1, "", 1, 0, GRASS),
    Resource("stone", "stone", 1, "wood_pickaxe", 10, 1, PATH),
    Resource("coal", "coal", 2, "wood_pickaxe", 25, 1, PATH),
    Resource("iron", "iron", 3, "stone_pickaxe", 25, 2, PATH),
    Resource("diamond", "diamond", 3, "iron_pickaxe", 80, 3, PATH),
)


@dataclass(frozen=True)
class Product:
    """What is made beside `stations`, which stand in the square of side 2 * `Rules.near` + 1 around the agent."""

    name: str
    cost: Cost
    stations: tuple[str, ...]


PRODUCTS = (  # [CR]
    Product("wood_pickaxe", (("wood", 1),), ("table",)),
    Product("stone_pickaxe", (("wood", 1), ("stone", 1)), ("table",)),
    Product("iron_pickaxe", (("wood", 1), ("coal", 1), ("iron", 1)), ("table", "furnace")),
    Product("wood_sword", (("wood", 1),), ("table",)),
    Product("stone_sword", (("wood", 1), ("stone", 1)), ("table",)),
    Product("iron_sword", (("wood", 1), ("coal", 1), ("iron", 1)), ("table", "furnace")),
)


@dataclass(frozen=True)
class Placement:
    """What is placed on the cell that an agent faces, if its mark is in `onto`; `becomes` is the mark it gets."""

    name: str
    cost: Cost
    onto: str
    becomes: str


PLACEMENTS = (  # [CR]
    Placement("stone", (("stone", 1),), GRASS + SAND + PATH + WATER + LAVA, LAID),
    Placement("table", (("wood", 2),), GRASS + SAND + PATH, TABLE),
    Placement("furnace", (("stone", 4),), GRASS + SAND + PATH, FURNACE),
)


@dataclass(frozen=True)
class Vitals:
    """Vitals run from 0 to `most`. A counter that exceeds its bound is reset and moves its vital by 1 [CR]."""

    most: int = 9
    hunger: float = 25  # food - 1 beyond it
    thirst: float = 20  # drink - 1
    fatigue: float = 30  # energy - 1
    rest: float = -10  # energy + 1 below it
    recovery: float = 25  # health + 1
    wasting: float = -15  # health - 1 below it
    awake: float = 1  # what hunger, thirst and recovery grow by a step
    asleep: float = 0.5  # what hunger and thirst grow by a step of sleep
    recovery_asleep: float = 2
    wasting_awake: float = 1
    wasting_asleep: float = 0.5
    drink: int = 1  # gained from water
    food: int = 6  # gained from a cow


@dataclass(frozen=True)
class Cows:
    """How cows appear, walk and disappear [CR, U]."""

    start: float = 0.015  # chance of a cow on a cell of grass at the start
    start_distance: int = 3  # Manhattan, from every agent; further off than this
    move: float = 0.5  # chance of a step
    every: int = 10  # steps between two looks at the balance
    chunk: int = 12  # side of the squares that are looked at
    grass: int = 30  # least cells of grass in a square that should hold cows
    least: int = 1
    greatest: int = 2
    spawn: float = 0.01  # chance that a missing cow appears, on a random cell of grass
    despawn: float = 0.1  # chance that a surplus cow goes
    distance: int = 5  # Manhattan, from every agent; a cow does not come or go nearer than this


@dataclass(frozen=True)
class Terrain:
    """Thresholds of generation [CR where not said otherwise]; names say which noise or draw they are compared with."""

    amplitude: float = 0.8  # of our value noise, which is not Crafter's simplex noise [our choice]
    start: float = 0.5
    shore: float = 0.1
    mountain: float = 0.22  # 0.15 in Crafter, where stones outnumber trees; see `ordered` [our choice]
    cave: float = 0.15
    cave_height: float = 0.3
    tunnel: float = 0.4
    coal: float = 0.0
    coal_share: float = 0.15
    iron: float = 0.4
    iron_share: float = 0.25
    diamond_height: float = 0.18
    diamond_share: float = 0.006
    lava_height: float = 0.3
    lava: float = 0.35
    sand: float = -0.2
    sand_from: float = 0.25
    sand_to: float = 0.35
    water: float = 0.3
    tree: float = -0.1  # 0 in Crafter [our choice]
    tree_share: float = 0.4  # 0.2 in Crafter [our choice]
    least: tuple[tuple[str, int], ...] = (("tree", 30), ("stone", 30), ("coal", 4), ("iron", 3), ("diamond", 1))
    # `least`: cells of a kind that can be reached from every start by walking and mining [our choice]
    ordered: bool = True  # whether within reach each kind in `least` is more frequent than the next one [our choice]
    attempts: int = 100  # maps tried for one seed


@dataclass(frozen=True)
class Rules:
    """All numbers but the size of map, team and episode."""

    distance: int = 1  # d, Manhattan; facing does not matter [U]
    near: int = 1  # how far off a station may be, diagonals included [CR]
    item_limit: int = 20  # [U]
    view: tuple[int, int] = (9, 7)  # cells seen, width and height, both odd [U]
    targets: int = 8  # listed in an observation [U]
    utilities: int = 3  # [U]
    cows: int = 3
    remembered: int = 2  # places of a kind told of from memory [our choice]
    events_kept: int = 10  # [U]
    events_told: int = 5  # [U]
    resources: tuple[Resource, ...] = RESOURCES
    products: tuple[Product, ...] = PRODUCTS
    placements: tuple[Placement, ...] = PLACEMENTS
    shareable: tuple[str, ...] = ITEMS
    vitals: Vitals = field(default_factory=Vitals)
    herd: Cows = field(default_factory=Cows)
    terrain: Terrain = field(default_factory=Terrain)


class Agent(NamedTuple):
    """One agent in a state. It is dead when its health is 0."""

    x: int
    y: int
    facing: int  # of DIRECTIONS
    vitals: tuple[int, int, int, int]  # VITALS
    counters: tuple[float, float, float, float]  # hunger, thirst, fatigue, recovery
    asleep: bool
    items: tuple[int, ...]  # counts of ITEMS
    memory: tuple[str, ...]  # the map as last seen, UNSEEN where it never was
    earned: float
    done: bool  # whether the last action had its effect
    outcome: str  # what came of it, in one line
    got: tuple[str, ...]  # ids of what was collected in the last step
    events: tuple[str, ...]  # the latest ones, oldest first

    @property
    def alive(self) -> bool:
        return self.vitals[0] > 0


class Cow(NamedTuple):
    number: int
    x: int
    y: int
