"""A state as a drawing."""

from __future__ import annotations

from itertools import groupby
from typing import TYPE_CHECKING

from tasks import drawing as words
from tasks.worlds.crafter.rules import NAMES

if TYPE_CHECKING:
    from tasks.worlds.crafter.engine import CrafterState
    from tasks.worlds.crafter.world import Crafter

SIDE = 10  # pixels a cell
COLOURS = {
    "grass": "#9c7",
    "path": "#cba",
    "sand": "#ed9",
    "water": "#59d",
    "lava": "#e52",
    "tree": "#374",
    "stone": "#888",
    "laid_stone": "#aaa",
    "coal": "#222",
    "iron": "#c85",
    "diamond": "#eff",
    "table": "#953",
    "furnace": "#555",
    "cow": "#642",
    "agent": "#c0c",
}
STYLE = "".join(f".crafter-{kind}{{fill:{colour}}}" for kind, colour in COLOURS.items())


def drawing(world: Crafter, state: CrafterState) -> str:
    """An SVG: a rectangle for each run of equal cells in a row, cows small, agents as squares with their numbers."""
    parts = [f"<style>{STYLE}</style>"]
    for y, row in enumerate(state.rows):
        x = 0
        for mark, run in groupby(row):
            length = len(list(run))
            parts.append(words.rect(x * SIDE, y * SIDE, length * SIDE, SIDE, f"crafter-{NAMES[mark]}"))
            x += length
    for cow in state.cows:
        parts.append(words.rect(cow.x * SIDE + 2, cow.y * SIDE + 3, SIDE - 4, SIDE - 5, "crafter-cow"))
    lines, where = [], []
    for i, (name, agent) in enumerate(zip(world.agents, state.agents, strict=True)):
        at = f"at ({agent.x}, {agent.y})" if agent.alive else "dead"
        where.append(f"{name} {at}")
        lines.append((f"{name} {at}, earned {agent.earned:g}", "" if agent.alive else "wrong"))
        if agent.alive:
            parts.append(words.rect(agent.x * SIDE, agent.y * SIDE, SIDE, SIDE, "crafter-agent"))
            parts.append(words.text(agent.x * SIDE + SIDE / 2, agent.y * SIDE - 2, i))
    width, height = len(state.rows[0]) * SIDE, len(state.rows) * SIDE
    lines.insert(0, (f"step {state.step} of {world.limit}, score {state.score:g}", ""))
    label = f"crafter, step {state.step}, score {state.score:g}: {'; '.join(where)}"
    return words.svg(max(width, 340), height + 30 + 20 * len(lines), [*parts, *words.notes(height, lines)], label)
