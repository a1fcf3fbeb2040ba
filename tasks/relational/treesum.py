"""treesum: coins in a part of a cave, its passages known to one agent and the coins to the other (paper, table 8)."""

from __future__ import annotations

import random
import re
from collections.abc import Container, Iterator, Sequence
from dataclasses import dataclass, replace

from tasks import drawing, facts, graphs, trees
from tasks.answers import NumberForm, NumberKey
from tasks.base import Task, register
from tasks.frames import Frame
from tasks.names import TOWNS

PROMPT = """\
A system of caves has one way in, which ends in the first cave; every other cave can be entered from one cave only. The
caves behind a cave are all those that cannot be reached without passing through it. Every cave holds coins. Find how
many coins there are in the wanted caves together, and give that number, counted in whole coins, for example `905`."""

SIZES = {"easy": (7, 4), "default": (12, 6), "hard": (20, 8)}  # caves, caves summed up (at least)
COINS = range(11, 50)  # in a cave
UNITS = {"coins": 1, "half-coins": 2, "fifth-coins": 5, "tenth-coins": 10}  # how many of them make a coin


@dataclass(frozen=True)
class Caves:
    """`passages`: (cave, the one it is entered from), sorted; `coins`: (cave, coins), sorted; `wanted`: the caves on
    the way between two, or one and all behind it, the second name then being empty."""

    passages: graphs.Edges
    coins: tuple[tuple[str, int], ...]
    wanted: graphs.Edge


def summed(view: Caves) -> list[str]:
    """The wanted caves; where the way between two is not known, just these two."""
    parents = dict(view.passages)
    start, goal = view.wanted
    if not goal:
        return [start, *(name for name in sorted(parents) if name != start and start in trees.climb(parents, name))]
    up, other = trees.climb(parents, start), trees.climb(parents, goal)
    meet = next((name for name in up if name in other), None)
    return [*up[: up.index(meet)], *other[other.index(meet) :: -1]] if meet else [start, goal]


def otherwise(view: Caves, kept: Container[object]) -> Iterator[Caves]:
    """`view` with one fact that is not `kept` told in another way."""
    for cave, number in (held for held in view.coins if held not in kept):
        other = COINS[(number - COINS.start + 13) % len(COINS)]
        yield replace(view, coins=facts.exchanged(view.coins, (cave, number), (cave, other)))
    for gone, come in trees.exchanges(view.passages, kept):
        yield replace(view, passages=facts.exchanged(view.passages, gone, come))


WORDINGS = (
    "{a} is entered from {b}", "{b} opens into {a}", "from {b} a passage goes on to {a}", "{a} lies right behind {b}",
)  # fmt: skip
HELD = re.compile(rf"(?<![\w-]){graphs.NODE} holds (\d+) ({'|'.join(UNITS)})(?![\w-])")
BEHIND = re.compile(rf"Wanted: the coins in {graphs.NODE} and all caves behind it\.")
BETWEEN = re.compile(rf"Wanted: the coins on the way from {graphs.NODE} to {graphs.NODE}, both included\.")


@register
class TreeSum(Task[Caves]):
    """Under strong friction the coins may be told in parts of a coin, whose name says how many of them make one."""

    name, family, version, rule, prompt = "treesum", "relational", 1, "number", PROMPT

    def sample(self, rng: random.Random, difficulty: str) -> Caves | None:
        size, least = SIZES[difficulty]
        names = rng.sample(TOWNS, size)
        coins = tuple((name, rng.choice(COINS)) for name in sorted(names))
        caves = Caves(trees.grown(names, rng), coins, ("", ""))
        behind = [(name, "") for name in names[1:]]
        ways = {name: trees.climb(dict(caves.passages), name) for name in names}
        between = [(a, b) for a in names for b in names if a not in ways[b] and b not in ways[a]]
        asked = [replace(caves, wanted=wanted) for wanted in rng.choice((behind, between))]
        fit = [one for one in asked if least <= len(summed(one)) <= size - 2]
        return rng.choice(fit) if fit else None

    def split(self, instance: Caves, rng: random.Random) -> tuple[Caves, ...]:
        views = replace(instance, coins=()), replace(instance, passages=())
        return views if rng.random() < 0.5 else views[::-1]

    def merge(self, views: Sequence[Caves]) -> Caves:
        if len({view.wanted for view in views}) > 1:
            raise ValueError("the wanted caves differ")
        passages, coins = facts.merged(view.passages for view in views), facts.merged(view.coins for view in views)
        return Caves(passages, coins, views[0].wanted)

    def render(self, view: Caves, frame: Frame) -> str:
        unit = list(UNITS)[frame.variant % len(UNITS)]
        start, goal = (graphs.style(cave, frame) if cave else "" for cave in view.wanted)
        lines = graphs.heading("Caves are called by their plain names; coins are counted whole.", frame)
        lines += graphs.tell(view.passages, WORDINGS, frame)
        lines += [f"{graphs.style(cave, frame)} holds {number * UNITS[unit]} {unit}" for cave, number in view.coins]
        between, behind = f"on the way from {start} to {goal}, both included", f"in {start} and all caves behind it"
        return "\n".join([*lines, f"Wanted: the coins {between if goal else behind}."])

    def parse(self, text: str) -> Caves:
        passages = graphs.read(text, WORDINGS, str.title, directed=True)
        held = {(cave.title(), *divmod(int(number), UNITS[unit])) for cave, number, unit in HELD.findall(text)}
        asked = BETWEEN.search(text) or BEHIND.search(text)
        if not asked or not (passages or held):
            raise ValueError("no caves, or none that are wanted, in the text")
        if any(rest for _, _, rest in held):
            raise ValueError("a cave holds a part of a coin")
        coins = tuple(sorted((cave, number) for cave, number, _ in held))
        return Caves(passages, coins, (asked[1].title(), asked[2].title() if asked.re is BETWEEN else ""))

    def solve(self, view: Caves) -> int:
        """Of a partial view: as many coins in every unknown cave as caves hold on average."""
        coins = dict(view.coins)
        return sum(coins.get(name, sum(COINS) // len(COINS)) for name in summed(view))

    def key(self, instance: Caves) -> NumberKey:
        return NumberKey(self.solve(instance))

    def form(self, view: Caves) -> NumberForm:
        return NumberForm()

    def rivals(self, instance: Caves, view: Caves) -> Iterator[Caves]:
        """The same caves with one unseen fact told otherwise, so that the sum differs."""
        truth = self.solve(instance)
        yield from (rival for rival in otherwise(instance, view.passages + view.coins) if self.solve(rival) != truth)

    def corrupt(self, view: Caves, rng: random.Random) -> Caves:
        return facts.harmful(otherwise(view, ()), self.solve, view, rng)

    def draw(self, instance: Caves, answer: object, where: object) -> str:
        coins, wanted = dict(instance.coins), summed(instance)
        at = trees.layout(instance.passages, 108)
        parts = []
        for child, parent in instance.passages:
            parts.append(drawing.edge(at[child], at[parent], "goal" if {child, parent} <= set(wanted) else "edge"))
        for cave in at:
            css = "start" if cave in instance.wanted else "goal" if cave in wanted else "node"
            parts.append(drawing.node(at[cave], f"{cave} {coins[cave]}", css))
        top, width = max(y for _, y in at.values()) + 20, max(x for x, _ in at.values()) + 60
        right, said = self.solve(instance), drawing.plain(answer)
        parts += drawing.notes(top, [
            (f"{' + '.join(str(coins[cave]) for cave in wanted)} = {right}", ""),
            (f"answered {said}", "right" if said.strip() == str(right) else "wrong"),
        ])  # fmt: skip
        return drawing.svg(max(width, 420), top + 50, parts, "the caves, the coins in them, and which are wanted")
