"""A few SVG words shared by the drawings of tasks. Text is escaped here and nowhere else."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from html import escape

CELL = 34  # pixels a grid cell


UNPRINTABLE = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")  # no character of XML


def plain(value: object) -> str:
    """Any value as characters that XML has, not escaped yet."""
    try:
        said = str(value)
    except Exception:  # a number with too many digits, a bottomless list
        said = f"some {type(value).__name__}"
    return UNPRINTABLE.sub("\ufffd", said)


def svg(width: float, height: float, parts: Iterable[str], label: str) -> str:
    """Wrap `parts` into a drawing of `width` x `height` pixels with an accessible name."""
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width:g} {height:g}" width="{width:g}" '
        f'height="{height:g}" role="img" aria-label="{escape(plain(label))}">{"".join(parts)}</svg>'
    )


def text(x: float, y: float, value: object, css: str = "", anchor: str = "middle") -> str:
    """One escaped piece of text."""
    return f'<text x="{x:g}" y="{y:g}" class="{css}" text-anchor="{anchor}">{escape(plain(value))}</text>'


def rect(x: float, y: float, width: float, height: float, css: str) -> str:
    return f'<rect x="{x:g}" y="{y:g}" width="{width:g}" height="{height:g}" class="{css}"/>'


def line(points: Sequence[tuple[float, float]], css: str) -> str:
    return f'<polyline points="{" ".join(f"{x:g},{y:g}" for x, y in points)}" class="{css}" fill="none"/>'


def grid(rows: Sequence[str], where: object) -> str:
    """A grid with the walk that a grade kept (`where["walked"]`) and the cell at which it broke (`where["broke"]`)."""
    kept = where if isinstance(where, dict) else {}
    parts = []
    for r, row in enumerate(rows):
        for c, mark in enumerate(row):
            css = {"#": "wall", "@": "start", "*": "goal", "?": "hidden"}.get(mark, "free")
            parts.append(rect(c * CELL + 1, r * CELL + 1, CELL - 2, CELL - 2, css))
            if mark in "@*?":
                parts.append(text(c * CELL + CELL / 2, r * CELL + CELL * 0.66, mark))
    centre = [(c * CELL + CELL / 2, r * CELL + CELL / 2) for r, c in kept.get("walked", [])]
    if len(centre) > 1:
        parts.append(line(centre, "walk"))
    broke = kept.get("broke")
    if broke and centre and 0 <= broke[0] < len(rows) and 0 <= broke[1] < len(rows[0]):
        x, y = broke[1] * CELL + CELL / 2, broke[0] * CELL + CELL / 2
        parts.append(line([centre[-1], (x, y)], "broken"))
        parts.append(f'<circle cx="{x:g}" cy="{y:g}" r="{CELL * 0.36:g}" class="broken" fill="none"/>')
    return svg(len(rows[0]) * CELL, len(rows) * CELL, parts, "the grid with the walk that was answered")
