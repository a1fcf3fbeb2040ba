"""What a cook is told of the kitchen. Both are told of all of it, in the same order; only the initiator gets the recipe
(`recipe_text`), which is not part of this."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, NamedTuple

from tasks.worlds.kitchen.layout import Cell, Layout
from tasks.worlds.kitchen.recipes import SEATS, VERBS, kind_of, made_of, may_become
from tasks.worlds.kitchen.state import KitchenState, Utensil

if TYPE_CHECKING:
    from tasks.worlds.kitchen.engine import Kitchen

COMPASS = {"N": "north", "S": "south", "E": "east", "W": "west"}


class Surroundings(NamedTuple):
    """What an agent is told of the layout: counters under headings by who reaches them, and a line on stations."""

    counters: tuple[tuple[str, tuple[Cell, ...]], ...]
    stations: str


@cache
def surroundings(layout: Layout, agent: str) -> Surroundings:
    """Kept, as it is asked for at every step. Counters that nobody reaches are left out."""
    me = SEATS.index(agent)
    mine, theirs, other = layout.seats[me].reach, layout.seats[1 - me].reach, SEATS[1 - me]
    counters = (
        ("Counters that both of you reach:", tuple(c for c in layout.counters if c in mine and c in theirs)),
        ("Counters that only you reach:", tuple(c for c in layout.counters if c not in theirs)),
        (f"Counters that only the {other} reaches:", tuple(c for c in layout.counters if c not in mine)),
    )
    near, far = (", ".join(n for n, at in layout.places.items() if at in reach) for reach in (mine, theirs))
    return Surroundings(
        tuple((heading, cells) for heading, cells in counters if cells),
        f"You reach: {near}; the {other} reaches: {far}",
    )


def observation(kitchen: Kitchen, state: KitchenState, agent: str) -> str:
    """The kitchen in words, one fact a line; cells are written [x,y]."""
    me = SEATS.index(agent)
    other = 1 - me
    mine, theirs = state.cooks[me], state.cooks[other]
    lines = [
        f"Order: {kitchen.order}",
        f"Time step: {state.time} of at most {kitchen.horizon}",
        f"You, the {agent}: at {cell(mine.pose[:2])}, facing {COMPASS[mine.pose.facing]}, "
        f"holding {mine.holds or 'nothing'}",
        f"The {SEATS[other]}: at {cell(theirs.pose[:2])}, facing {COMPASS[theirs.pose.facing]}, "
        f"holding {theirs.holds or 'nothing'}",
        "Utensils:",
    ]
    lines += [
        f"- {name}: {status(kitchen, kind_of(name), utensil)}"
        for name, utensil in zip(kitchen.layout.utensils, state.utensils, strict=True)
    ]
    items = dict(state.counters)
    around = surroundings(kitchen.layout, agent)
    for heading, cells in around.counters:
        lines.append(heading)
        lines += [f"- {cell(at)} -> {items.get(at, 'empty')}" for at in cells]
    lines.append(around.stations)
    if said := feedback(kitchen, state, agent):
        lines.append(f"Last step: {said}")
    return "\n".join(lines)


def cell(at: Cell) -> str:
    return f"[{at[0]},{at[1]}]"


def status(kitchen: Kitchen, kind: str, utensil: Utensil) -> str:
    """What is in a utensil and what can become of it."""
    if kitchen.finished(utensil):
        return f"finished {utensil.product}"
    if utensil.product:
        left = kitchen.processing_time - utensil.age
        return f"making {utensil.product}, {left} step{'' if left == 1 else 's'} left"
    if not utensil.contents:
        return "empty"
    held, contents = " and ".join(utensil.contents), tuple(sorted(utensil.contents))
    if product := made_of(kind, contents):
        return f"holds {held}, not started: {VERBS[kind]} makes {product}"
    if may_become(kind, contents):
        return f"holds {held}, not started: something is still missing"
    return f"holds {held}, not started: fits no recipe, and {VERBS[kind]} would waste it"


def feedback(kitchen: Kitchen, state: KitchenState, agent: str) -> str:
    """What came of the agent's action, and what food was lost in that step."""
    action, result, detail = state.outcomes[SEATS.index(agent)]
    said = {
        "": "",
        "waited": f"{action}: you stayed where you are.",
        "moved": f"{action}: on the way, you went or turned {COMPASS.get(detail, '')}; repeat it to go on.",
        "working": f"{action}: the food is not finished yet, you stand ready; repeat it to go on.",
        "missed": f"{action}: no effect, the other cook was faster.",
        "refused": f"{action} was refused ({detail}).",
        "done": f"{action}: done.",
    }[result]
    return " ".join(filter(None, (said, f"Lost: {state.notice}." if state.notice else "")))
