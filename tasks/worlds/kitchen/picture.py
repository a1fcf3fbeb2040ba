"""A drawing of the kitchen."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tasks.drawing import notes, rect, svg, text
from tasks.worlds.kitchen.layout import FLOOR
from tasks.worlds.kitchen.observation import status
from tasks.worlds.kitchen.recipes import SEATS, kind_of
from tasks.worlds.kitchen.state import KitchenState

if TYPE_CHECKING:
    from tasks.worlds.kitchen.engine import Kitchen

SIDE = 84  # pixels a cell: names of food are written into it
ARROWS = {"N": "↑", "S": "↓", "E": "→", "W": "←"}
LETTERS = 13  # of a name that fit into a cell


def picture(kitchen: Kitchen, state: KitchenState) -> str:
    """The plan with cooks, items and stations, and a line for each thing that has a state."""
    layout, parts = kitchen.layout, []
    named = {cell: name for name, cell in layout.places.items()}
    for y, row in enumerate(layout.rows):
        for x, mark in enumerate(row):
            used = (x, y) in named or (x, y) in layout.counters
            css = "free" if mark == FLOOR else "node" if used else "wall"
            parts.append(rect(x * SIDE + 1, y * SIDE + 1, SIDE - 2, SIDE - 2, css))
            shown = [*_wrapped(named.get((x, y), "")), *_wrapped(state.on((x, y)))]
            for seat, cook in zip(SEATS, state.cooks, strict=True):
                if cook.pose[:2] == (x, y):
                    shown += [f"{ARROWS[cook.pose.facing]} {seat}", *_wrapped(cook.holds)]
            top = y * SIDE + SIDE / 2 + 4 - 7 * (len(shown) - 1)
            parts += [text(x * SIDE + SIDE / 2, top + 14 * i, word) for i, word in enumerate(shown)]
    utensils = [
        f"{name}: {status(kitchen, kind_of(name), utensil)}"
        for name, utensil in zip(layout.utensils, state.utensils, strict=True)
    ]
    done = "delivered" if state.delivered else "not delivered"
    lines = [f"{kitchen.order}, step {state.time} of {kitchen.horizon}: {done}", *utensils]
    hands = ", ".join(f"the {s} holds {c.holds or 'nothing'}" for s, c in zip(SEATS, state.cooks, strict=True))
    width, height = len(layout.rows[0]) * SIDE, len(layout.rows) * SIDE
    parts += notes(height, [(line, "") for line in lines])
    return svg(
        max(width, 8 * max(map(len, lines)) + 16), height + 10 + 20 * len(lines), parts, f"Kitchen: {lines[0]}; {hands}"
    )


def _wrapped(item: str) -> list[str]:
    """A name in short lines."""
    lines: list[str] = []
    for word in item.replace("_", " ").split():
        if lines and len(lines[-1]) + 1 + len(word) <= LETTERS:
            lines[-1] += f" {word}"
        else:
            lines.append(word)
    return lines
