"""graphpath: the one shortest path between two towns, every road known to one agent only (paper, table 8)."""

from __future__ import annotations

import random
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import combinations, pairwise

from tasks import drawing, facts, graphs
from tasks.answers import GroupsKey, TrailForm
from tasks.base import Task, register
from tasks.frames import Frame
from tasks.names import TOWNS

PROMPT = """\
Given roads that can be used in both directions, find the journey between two towns that uses the fewest roads. Exactly
one journey uses the fewest. Give its roads in order, each as its two towns, for example `Aby-Bex, Bex-Cud`."""

SIZES = {"easy": (7, 8, 3), "default": (10, 13, 4), "hard": (16, 22, 5)}  # towns, roads, roads of the journey


@dataclass(frozen=True)
class Roads:
    """`roads`: pairs of towns, sorted within and without; `journey`: from where to where."""

    roads: graphs.Edges
    journey: graphs.Edge


def journeys(roads: graphs.Edges, start: str, goal: str) -> list[list[str]]:
    """All shortest journeys, at most two of them."""
    near = graphs.near(roads)
    found, seen = [[start]], {start}
    while found and not any(walk[-1] == goal for walk in found):
        found = [[*walk, town] for walk in found for town in near.get(walk[-1], ()) if town not in seen]
        seen |= {walk[-1] for walk in found}
    return [walk for walk in found if walk[-1] == goal][:2]


WORDINGS = ("{a} - {b}", "a road joins {a} and {b}", "{a} is one road from {b}", "road: {a} to {b}")
ASKED = re.compile(rf"Wanted: the journey from {graphs.NODE} to {graphs.NODE}\.")


@register
class GraphPath(Task[Roads]):
    name, family, version, rule, prompt = "graphpath", "relational", 1, "pairs", PROMPT

    def sample(self, rng: random.Random, difficulty: str) -> Roads | None:
        towns, count, length = SIZES[difficulty]
        names = rng.sample(TOWNS, towns)
        roads = tuple(sorted(rng.sample(list(combinations(sorted(names), 2)), count)))
        pairs = [p for p in combinations(names, 2) if len(j := journeys(roads, *p)) == 1 and len(j[0]) == length + 1]
        return Roads(roads, rng.choice(pairs)) if pairs else None

    def split(self, instance: Roads, rng: random.Random) -> tuple[Roads, ...]:
        return tuple(replace(instance, roads=half) for half in graphs.halves(instance.roads, rng))

    def merge(self, views: Sequence[Roads]) -> Roads:
        if len({view.journey for view in views}) > 1:
            raise ValueError("the journeys differ")
        return replace(views[0], roads=graphs.union(view.roads for view in views))

    def render(self, view: Roads, frame: Frame) -> str:
        start, goal = (graphs.style(town, frame) for town in view.journey)
        head = graphs.heading("Towns are called by their plain names; a dash is a road.", frame)
        return "\n".join(
            [*head, *graphs.tell(view.roads, WORDINGS, frame), f"Wanted: the journey from {start} to {goal}."]
        )

    def parse(self, text: str) -> Roads:
        asked, roads = ASKED.search(text), graphs.read(text, WORDINGS, str.title)
        if not asked or not roads:
            raise ValueError("no roads and no journey in the text")
        return Roads(roads, (asked[1].title(), asked[2].title()))

    def solve(self, view: Roads) -> list[list[str]] | None:
        """Of a partial view: where no journey is known, a road straight from start to goal."""
        walk = next(iter(journeys(view.roads, *view.journey)), view.journey)
        return [list(road) for road in pairwise(walk)]

    def key(self, instance: Roads) -> GroupsKey:
        return GroupsKey(frozenset(map(frozenset, pairwise(journeys(instance.roads, *instance.journey)[0]))))

    def form(self, view: Roads) -> TrailForm:
        return TrailForm(TOWNS)

    def rivals(self, instance: Roads, view: Roads) -> Iterator[Roads]:
        """The same roads with an unseen one moved, so that another journey is the only shortest one."""
        ours = journeys(instance.roads, *instance.journey)
        for gone, come in graphs.exchanges(instance.roads, view.roads):
            roads = facts.exchanged(instance.roads, gone, come)
            if (found := journeys(roads, *instance.journey)) != ours and len(found) == 1:
                yield replace(instance, roads=roads)

    def corrupt(self, view: Roads, rng: random.Random) -> Roads:
        return replace(view, roads=graphs.lie(view.roads, TOWNS, rng))

    def draw(self, instance: Roads, answer: object, where: object) -> str:
        kept = where if isinstance(where, dict) else {}
        at = drawing.circle(graphs.nodes(instance.roads))
        right, wrong = (kept.get(which, []) for which in ("right", "wrong"))
        best = [sorted(road) for road in self.solve(instance) or []]
        parts = []
        for a, b in instance.roads:
            css = "right" if [a, b] in right else "goal" if [a, b] in best else "edge"
            parts.append(drawing.edge(at[a], at[b], css))
        parts += [drawing.node(at[t], t, "start" if t in instance.journey else "node") for t in at]
        parts += drawing.notes(340, [(f"not a road of the journey: {' - '.join(pair)}", "wrong") for pair in wrong[:5]])
        return drawing.svg(340, 350 + 20 * min(5, len(wrong)), parts, "the roads and the journey that was answered")
