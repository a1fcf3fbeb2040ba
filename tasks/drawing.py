"""A few SVG words shared by the drawings of tasks. Text is escaped here and nowhere else."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from html import escape
from math import cos, hypot, pi, sin

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
        f'<svg xmlns="http://www.w3.org/2000/svg" class="drawing" viewBox="0 0 {width:g} {height:g}" '
        f'width="{width:g}" height="{height:g}" role="img" aria-label="{escape(plain(label))}">{"".join(parts)}</svg>'
    )


def text(x: float, y: float, value: object, css: str = "", anchor: str = "middle") -> str:
    """One escaped piece of text."""
    return f'<text x="{x:g}" y="{y:g}" class="{css}" text-anchor="{anchor}">{escape(plain(value))}</text>'


def rect(x: float, y: float, width: float, height: float, css: str) -> str:
    return f'<rect x="{x:g}" y="{y:g}" width="{width:g}" height="{height:g}" class="{css}"/>'


def line(points: Sequence[tuple[float, float]], css: str) -> str:
    return f'<polyline points="{" ".join(f"{x:g},{y:g}" for x, y in points)}" class="{css}" fill="none"/>'


def ring(x: float, y: float, radius: float, css: str) -> str:
    return f'<circle cx="{x:g}" cy="{y:g}" r="{radius:g}" class="{css}" fill="none"/>'


def tiles(rows: Sequence[str], shown: str = "@*?", css: Mapping[str, str] | None = None) -> list[str]:
    """The cells of a grid: `shown` marks are written out, `css` gives further marks a class."""
    classes = {"#": "wall", "@": "start", "*": "goal", "?": "hidden", **(css or {})}
    parts = []
    for r, row in enumerate(rows):
        for c, mark in enumerate(row):
            parts.append(rect(c * CELL + 1, r * CELL + 1, CELL - 2, CELL - 2, classes.get(mark, "free")))
            if mark in shown:
                parts.append(text(c * CELL + CELL / 2, r * CELL + CELL * 0.66, mark))
    return parts


def centres(cells: Iterable[Sequence[int]]) -> list[tuple[float, float]]:
    """Where on a drawn grid the centres of `(row, column)` cells are."""
    return [(cell[1] * CELL + CELL / 2, cell[0] * CELL + CELL / 2) for cell in cells]


def numbers(walked: Sequence[Sequence[int]], right: float, down: float) -> list[str]:
    """The steps at which a walk is in each of its cells, the first and the last one, beside their centres."""
    parts = []
    for cell in dict.fromkeys(map(tuple, walked[1:])):
        steps = [step for step, other in enumerate(walked) if tuple(other) == cell]
        ((x, y),) = centres([cell])
        parts.append(text(x + right, y + down, "-".join(map(str, dict.fromkeys((steps[0], steps[-1]))))))
    return parts


def walk(rows: Sequence[str], where: object, best: Iterable[Sequence[int]] = ()) -> list[str]:
    """A grid with a best walk, pale, the walk that a grade kept (`where["walked"]`), the step at which it broke
    (`where["broke"]`), and all marks written above."""
    kept = where if isinstance(where, dict) else {}
    walked, broke = centres(kept.get("walked", [])), kept.get("broke")
    parts = [*tiles(rows, ""), line(centres(best), "goal"), line(walked, "walk")]
    if broke and walked:
        ((x, y),) = centres([broke])
        parts += [line([walked[-1], (x, y)], "broken"), ring(x, y, CELL * 0.36, "broken")]
    marks = [((r, c), mark) for r, row in enumerate(rows) for c, mark in enumerate(row) if mark not in "#."]
    return parts + [text(x, y + 5, mark) for cell, mark in marks for x, y in centres([cell])]


def board(rows: Sequence[str], parts: Iterable[str], label: str, lines: Sequence[tuple[str, str]] = ()) -> str:
    """A drawing as large as a grid, with lines of text below it."""
    width, height = len(rows[0]) * CELL, len(rows) * CELL
    widest = max((8 * len(line) + 16 for line, _ in lines), default=0)
    parts = [*parts, *notes(height, lines)]
    return svg(max(width, widest), height + bool(lines) * 10 + 20 * len(lines), parts, label)


def notes(top: float, lines: Iterable[tuple[str, str]]) -> list[str]:
    """Lines of text below a drawing, each with its class: `right`, `wrong` or nothing."""
    return [text(8, top + 18 + 20 * i, value, css, "start") for i, (value, css) in enumerate(lines)]


def verdicts(where: object, lines: Iterable[tuple[str, str]]) -> list[tuple[str, str]]:
    """For `notes`: (item, text) with the class that a grade gave to the item (`where["right"]`, `where["wrong"]`)."""
    kept = where if isinstance(where, dict) else {}
    right, wrong = kept.get("right", ()), kept.get("wrong", ())
    return [(said, "right" if item in right else "wrong" if item in wrong else "") for item, said in lines]


def circle(names: Sequence[str], radius: float = 130) -> dict[str, tuple[float, float]]:
    """Places of names round a circle, the first at the top, then clockwise; the drawing is `2 * radius + 80` wide."""
    turn = [2 * pi * i / len(names) - pi / 2 for i in range(len(names))]
    middle = radius + 40
    return {
        n: (round(middle + radius * cos(a), 1), round(middle + radius * sin(a), 1))
        for n, a in zip(names, turn, strict=True)
    }


def edge(
    a: tuple[float, float], b: tuple[float, float], css: str = "edge", tip: bool = False, label: object = ""
) -> str:
    """A line between two nodes, with an arrow's tip at `b` and a label at its middle where asked for."""
    length = hypot(b[0] - a[0], b[1] - a[1]) or 1
    ux, uy = (b[0] - a[0]) / length, (b[1] - a[1]) / length
    parts = line([a, b], css)
    if tip:
        x, y = b[0] - 18 * ux, b[1] - 18 * uy
        parts += line(
            [(x - 8 * ux - 5 * uy, y - 8 * uy + 5 * ux), (x, y), (x - 8 * ux + 5 * uy, y - 8 * uy - 5 * ux)], css
        )
    if label != "":
        parts += text((a[0] + b[0]) / 2 - 8 * uy, (a[1] + b[1]) / 2 + 8 * ux + 4, label)
    return parts


def node(at: tuple[float, float], name: object, css: str = "node") -> str:
    """A named node."""
    width = max(30, 9 * len(plain(name)) + 10)
    return rect(at[0] - width / 2, at[1] - 12, width, 24, css) + text(at[0], at[1] + 4, name)
