"""What every figure is made of: colours for both modes, a sheet to draw on, SVG that fits a page, the table behind it.

Drawings come from matplotlib in the colours of the light mode. In a page each becomes a CSS variable that `style`
defines for both modes; a file keeps plain colours, which every program reads, and brings rules for the dark mode along.
"""

from __future__ import annotations

import io
import re
import warnings
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cached_property, lru_cache
from typing import TYPE_CHECKING, Any
from xml.etree import ElementTree

from markupsafe import Markup

from collabtax.report.files import visible
from collabtax.statistics import Estimate

if TYPE_CHECKING:
    from matplotlib.artist import Artist
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure as Canvas

PALETTE = {  # role -> colour in light and in dark mode; the series stay apart for colour-blind eyes (tested)
    "ink": ("#1d2430", "#e6e8ec"),
    "soft": ("#5e6776", "#9aa3b2"),
    "line": ("#e2e0da", "#353c47"),
    "card": ("#ffffff", "#1b1f26"),
    "series0": ("#2f5fd0", "#8aadff"),
    "series1": ("#b4570f", "#f0a267"),
    "series2": ("#159a82", "#1f9e83"),
    "series3": ("#7a1c5f", "#d64fb0"),
    "series4": ("#3a2a20", "#f3f0a8"),
    "pale0": ("#c4d2f3", "#34425f"),
    "pale1": ("#ecd4c1", "#56402f"),
    "pale2": ("#c2e6df", "#1e4a42"),
    "pale3": ("#ead0e3", "#5a2a4e"),
}
BAD = ("#c22f3d", "#ff7b86")
HEAT = 10  # steps of a heat map, from nothing to half of BAD
SERIES = 5
MARKERS = ("o", "s", "^", "D", "v", "P", "X")  # with the colour 35 series; a shape tells what a colour cannot
WIDE, NARROW = 720, 330  # pixels of a figure on a wide page and on a telephone
SIZE = 11.5  # pixels of ordinary text
SHOWN = 26  # characters of a name in a drawing; tables hold all of it
CELL = Any  # str | int | float | bool | None
Interval = tuple[str, float | None, float | None, float | None]  # label, mean, low, high

SVG, XLINK = "http://www.w3.org/2000/svg", "http://www.w3.org/1999/xlink"
NUMBER = re.compile(r"-?\d+\.\d+")


def _mix(colour: str, into: str, share: float) -> str:
    ends = [[int(c[i : i + 2], 16) for i in (1, 3, 5)] for c in (colour, into)]
    return "#" + "".join(f"{round(share * a + (1 - share) * b):02x}" for a, b in zip(*ends, strict=True))


def _heat(step: int) -> tuple[str, str]:
    light, dark = (_mix(bad, card, step / HEAT / 2) for bad, card in zip(BAD, PALETTE["card"], strict=True))
    return light, dark


PALETTE |= {f"heat{step}": _heat(step) for step in range(1, HEAT + 1)}
_VARIABLES = {light: f"var(--chart-{role})" for role, (light, _) in PALETTE.items()}
_COLOUR = re.compile(r'(?<=")#[0-9a-f]{6}(?=")')


def colour(role: str) -> str:
    """A role's colour as it is drawn."""
    return PALETTE[role][0]


def one_line(text: str) -> str:
    """Hostile text as one line in which every character can be seen."""
    return " ".join(visible(str(text)).split())


def short(text: str, most: int = SHOWN) -> str:
    """A name for a drawing, its middle left out where it is long."""
    said = one_line(text)
    return said if len(said) <= most else f"{said[: most - most // 2 - 1]}…{said[len(said) - most // 2 :]}"


@lru_cache(maxsize=4096)
def room(text: str, size: float = SIZE, bold: bool = False) -> float:
    """Pixels that a text takes across in DejaVu Sans, which is wider than what most pages are set in."""
    from matplotlib.font_manager import FontProperties
    from matplotlib.textpath import text_to_path

    font = FontProperties(family="DejaVu Sans", size=size, weight="bold" if bold else "normal")
    return float(text_to_path.get_text_width_height_descent(text, font, ismath=False)[0])


def key_places(names: Sequence[str], width: float) -> list[tuple[float, float]]:
    """Where the entries of a key stand, from left to right and in as many lines as it takes."""
    places, x, y = [], 0.0, 9.0
    for name in names:
        wide = 37 + room(name, SIZE - 0.5)
        if x and x + wide - 16 > width:
            x, y = 0.0, y + 19
        places.append((x, y))
        x += wide
    return places


def key_height(names: Sequence[str], width: float) -> float:
    return key_places(names, width)[-1][1] + 15 if names else 0.0


def spelled(value: float | None, digits: int = 2, sign: str = "") -> str:
    """A number in a drawing, with a true minus sign; never minus zero."""
    return "–" if value is None else f"{round(value, digits) + 0.0:{sign}.{digits}f}".replace("-", "−")


def told(estimate: Estimate) -> tuple[float | None, float | None, float | None]:
    """Three cells of a table: value, low, high."""
    return estimate.value, estimate.low, estimate.high


def with_interval(estimate: Estimate, sign: str = "") -> str:
    """A value and its interval in words of a drawing."""
    said = spelled(estimate.value, sign=sign)
    if estimate.low is None:
        return said
    return f"{said} [{spelled(estimate.low, sign=sign)}, {spelled(estimate.high, sign=sign)}]"


class Sheet:
    """A drawing under way. Pixels are counted from the top left; axes and texts are placed by them."""

    def __init__(self, width: float, height: float) -> None:
        from matplotlib.figure import Figure as Canvas

        self.width, self.height = width, height
        self.canvas: Canvas = Canvas(figsize=(width / 72, height / 72), dpi=72)
        self.tips: dict[str, str] = {}

    def axes(self, left: float, top: float, width: float, height: float) -> Axes:
        """Bare axes: a grid, ticks without marks, no frame."""
        box = (left / self.width, 1 - (top + height) / self.height, width / self.width, height / self.height)
        made = self.canvas.add_axes(box)
        made.tick_params(length=0, pad=4, labelsize=SIZE - 1, colors=colour("soft"))
        made.grid(visible=True, color=colour("line"), linewidth=1)
        made.set_axisbelow(True)
        for spine in made.spines.values():
            spine.set_visible(False)
        return made

    def text(
        self, x: float, y: float, said: str, role: str = "ink", anchor: str = "left", size: float = SIZE,
        bold: bool = False, turned: bool = False,
    ) -> None:  # fmt: skip
        """Text whose middle line is at `y`."""
        self.canvas.text(
            x / self.width, 1 - y / self.height, said, color=colour(role), ha=anchor, va="center", fontsize=size,
            fontweight="bold" if bold else "normal", rotation=90 if turned else 0,
        )  # fmt: skip

    def box(self, left: float, top: float, width: float, height: float, role: str, edge: str | None = None) -> Artist:
        """A filled rectangle."""
        from matplotlib.patches import Rectangle

        made = Rectangle(
            (left / self.width, 1 - (top + height) / self.height), width / self.width, height / self.height,
            facecolor=colour(role), edgecolor=colour(edge) if edge else "none", linewidth=1,
            transform=self.canvas.transFigure,
        )  # fmt: skip
        self.canvas.add_artist(made)
        return made

    def mark(self, x: float, y: float, series: int, hollow: bool = False) -> None:
        """The mark of a series, for a key."""
        from matplotlib.lines import Line2D

        style = marked(series, hollow)
        at = [x / self.width], [1 - y / self.height]
        self.canvas.add_artist(Line2D(*at, transform=self.canvas.transFigure, linestyle="none", **style))

    def key(self, names: Sequence[str]) -> None:
        """A key of series along the top."""
        for series, (name, (x, y)) in enumerate(zip(names, key_places(names, self.width), strict=True)):
            self.mark(x + 6, y, series)
            self.text(x + 17, y, name, "soft", size=SIZE - 0.5)

    def tip(self, artist: Artist, said: str) -> None:
        """What is shown when the pointer rests on `artist`."""
        name = f"tip{len(self.tips)}"
        artist.set_gid(name)
        self.tips[name] = one_line(said)


def marked(series: int, hollow: bool = False, size: float = 7.5) -> dict[str, Any]:
    """The style of a series' mark: its colour and shape, a seam in the colour of the card between marks that touch."""
    hue = colour(f"series{series % SERIES}")
    shape = MARKERS[(series // SERIES + series) % len(MARKERS)]
    face, edge, width = (colour("card"), hue, 1.6) if hollow else (hue, colour("card"), 0.7)
    return {
        "marker": shape, "markersize": size, "color": hue, "markerfacecolor": face, "markeredgecolor": edge,
        "markeredgewidth": width,
    }  # fmt: skip


@dataclass(frozen=True)
class Figure:
    """A finished figure: what it shows in words, its drawing for a page and for a file, the numbers behind it.

    `rows` hold texts, numbers and None, one cell for each of `head`. `draw` makes the drawing for a width in pixels;
    `width` is the one it has where there is room.
    """

    name: str
    title: str
    caption: str
    alternative: str
    head: tuple[str, ...]
    rows: tuple[tuple[CELL, ...], ...]
    draw: Callable[[float], Sheet] = field(repr=False, compare=False)
    width: float = WIDE

    def _svg(self, width: float) -> str:
        sheet, out = _drawn(self.draw, width, f"{self.name}-{width:g}"), io.StringIO()
        with _quietly(f"{self.name}-{width:g}"):
            sheet.canvas.savefig(out, format="svg", transparent=True, metadata={"Date": None, "Creator": None})
        return _tidied(out.getvalue(), one_line(self.title), one_line(self.alternative), sheet.tips)

    @cached_property
    def svg(self) -> str:
        """The SVG file's text: plain colours, and rules for the dark mode."""
        rules = "".join(
            f'[{what}="{light}"]{{{what}:{dark}}}' for light, dark in PALETTE.values() for what in ("fill", "stroke")
        )
        plain = self._svg(self.width)
        found = [rule for rule in re.findall(r"\[.*?\}", rules) if rule[1 : rule.index("]")] in plain]
        style = f"<style>@media (prefers-color-scheme: dark){{{''.join(found)}}}</style>"
        return plain.replace(" role=", ' font-family="sans-serif" role=', 1).replace("<g", f"{style}<g", 1) + "\n"

    def pdf(self) -> bytes:
        """The PDF file: vectors and embedded fonts, in the colours of the light mode on white."""
        sheet, out = _drawn(self.draw, self.width, self.name), io.BytesIO()
        with _quietly(self.name):
            about = {"CreationDate": None, "Producer": None, "Creator": None, "Title": one_line(self.title)}
            sheet.canvas.savefig(out, format="pdf", facecolor=colour("card"), metadata=about)
        return out.getvalue()

    def html(self, files: str = "") -> Markup:
        """The figure as a fragment of a page whose styles include `style`. `files`: the folder of its exported files,
        with a slash at its end, to be linked."""
        drawings = {"chart-wide": self.width, "chart-narrow": NARROW} if self.width > NARROW else {"": self.width}
        both = ""
        for css, width in drawings.items():
            coloured = _COLOUR.sub(lambda found: _VARIABLES.get(found[0], found[0]), self._svg(width))
            both += coloured.replace("<svg", f'<svg class="{css}"', 1) if css else coloured
        kinds = ("svg", "pdf", "csv") if files else ()
        links = Markup(" ").join(
            Markup('<a href="{}{}.{}">{}</a>').format(files, self.name, kind, kind.upper()) for kind in kinds
        )
        return Markup(
            '<figure class="chart" id="chart-{}"><figcaption><strong>{}</strong> {}</figcaption>\n'
            '<div class="chart-drawing">{}</div>\n'
            "<details><summary>The numbers of this figure</summary>{}</details>{}</figure>"
        ).format(
            self.name, one_line(self.title), one_line(self.caption), Markup(both), table(self.head, self.rows),  # noqa: S704
            Markup('\n<p class="chart-files">{}</p>').format(links) if links else "",
        )  # fmt: skip


def table(head: Sequence[str], rows: Sequence[Sequence[CELL]]) -> Markup:
    """A table of a page; numbers are right-aligned, with three digits."""
    numeric = [all(_is_number(row[i]) or row[i] is None for row in rows) for i in range(len(head))] if rows else []
    classes = [Markup(' class="n"') if n else Markup("") for n in numeric or [False] * len(head)]
    lines = [(Markup("<th{}>{}</th>"), head), *((Markup("<td{}>{}</td>"), row) for row in rows)]
    top, *body = (
        Markup("<tr>{}</tr>\n").format(
            Markup("").join(cell.format(css, _shown(value)) for css, value in zip(classes, line, strict=True))
        )
        for cell, line in lines
    )
    made = Markup(
        '<div class="wide" tabindex="0"><table class="tight"><thead>{}</thead><tbody>\n{}</tbody></table></div>'
    )
    return made.format(top, Markup("").join(body))


def _is_number(value: CELL) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _shown(value: CELL) -> str:
    if value is None:
        return "–"
    if isinstance(value, bool):
        return "yes" if value else "no"
    return spelled(value, 3) if isinstance(value, float) else one_line(str(value))


RULES = """.chart { margin: 1.4rem 0 0; padding: 1rem 1.2rem; min-width: 0; background: var(--chart-card);
  border: 1px solid var(--chart-line); border-radius: .7rem; }
.chart figcaption { margin: 0 0 .8rem; color: var(--chart-soft); font-size: .88rem; max-width: 46rem; }
.chart figcaption strong { display: block; color: var(--chart-ink); font-size: 1rem; }
.chart svg { display: block; max-width: 100%; height: auto; font-variant-numeric: tabular-nums; }
.chart svg.chart-narrow { display: none; }
.chart-files { margin: .6rem 0 0; font-size: .8rem; display: flex; gap: .9rem; }
@media (max-width: 810px) {
  .chart { padding: .8rem .7rem; }
  .chart svg.chart-wide { display: none; } .chart svg.chart-narrow { display: block; }
}
"""


def style() -> str:
    """The rules that figures need in a page's style sheet."""
    light, dark = (" ".join(f"--chart-{role}: {both[i]};" for role, both in PALETTE.items()) for i in (0, 1))
    return f":root {{ {light} }}\n@media (prefers-color-scheme: dark) {{ :root {{ {dark} }} }}\n{RULES}"


@contextmanager
def _quietly(salt: str) -> Iterator[None]:
    """Inside, matplotlib draws as figures do, whatever a user's configuration says; `salt` makes ids a figure's own."""
    import matplotlib as mpl

    with warnings.catch_warnings(), mpl.rc_context():
        warnings.filterwarnings("ignore", message="Glyph .* missing")  # a name in a script that the font has not
        mpl.rcdefaults()
        mpl.rcParams.update(
            {
                "svg.hashsalt": salt, "svg.fonttype": "none", "pdf.fonttype": 42, "font.family": "DejaVu Sans",
                "text.parse_math": False, "path.simplify": False, "axes.xmargin": 0, "axes.ymargin": 0,
            }
        )  # fmt: skip
        yield


def _drawn(draw: Callable[[float], Sheet], width: float, salt: str) -> Sheet:
    with _quietly(salt):
        return draw(width)


_DROPPED = ("style", "id", "clip-path", "font-family", "text-align")  # everything is drawn inside its limits: no clips


def _tidied(source: str, title: str, alternative: str, tips: dict[str, str]) -> str:
    """matplotlib's SVG without what a page refuses or does not need: style sheets and style attributes (presentation
    attributes in their place), metadata, ids that nothing refers to, more than a tenth of a pixel."""
    ElementTree.register_namespace("", SVG)
    ElementTree.register_namespace("xlink", XLINK)
    root = ElementTree.fromstring(source)  # noqa: S314 - matplotlib's own
    used = set(re.findall(r'href="#(\w+)"', source))
    made = ElementTree.Element(f"{{{SVG}}}svg")
    _, _, width, height = root.attrib["viewBox"].split()
    made.attrib |= {
        "viewBox": f"0 0 {float(width):g} {float(height):g}",
        "width": f"{float(width):g}",
        "height": f"{float(height):g}",
        "role": "img",
        "aria-label": alternative,
    }
    for tag, said in (("title", title), ("desc", alternative)):
        ElementTree.SubElement(made, f"{{{SVG}}}{tag}").text = said
    body = ElementTree.SubElement(made, f"{{{SVG}}}g", {"stroke-linejoin": "round", "stroke-linecap": "butt"})
    for child in root:
        _copy(child, body, used, tips)
    return ElementTree.tostring(made, encoding="unicode")


def _copy(source: ElementTree.Element, into: ElementTree.Element, used: set[str], tips: dict[str, str]) -> None:
    tag = source.tag.removeprefix(f"{{{SVG}}}") if isinstance(source.tag, str) else ""
    if tag in ("", "metadata", "style", "clipPath"):
        return
    own = {k: v for k, v in source.attrib.items() if k not in _DROPPED}
    for part in filter(None, (one.strip() for one in source.attrib.get("style", "").split(";"))):
        name, _, value = (text.strip() for text in part.partition(":"))
        if name not in _DROPPED and not (name == "stroke-linejoin" and value in ("miter", "round")):
            own[name] = value.removesuffix("px")
    if tag == "text" and "rotate(-0 " in own.get("transform", ""):
        del own["transform"]
    identity = source.attrib.get("id", "")
    if identity in used:
        own["id"] = identity
    for name in ("d", "x", "y", "width", "height", "transform", "stroke-width", "font-size"):
        if name in own:
            own[name] = NUMBER.sub(lambda found: f"{round(float(found[0]), 1) + 0.0:g}", " ".join(own[name].split()))
    hollow = tag == "g" and not own and identity not in tips
    target = into if hollow else ElementTree.SubElement(into, source.tag, own)
    if identity in tips:
        ElementTree.SubElement(target, f"{{{SVG}}}title").text = tips[identity]
    if tag == "text":
        target.text = source.text
    for child in source:
        _copy(child, target, used, tips)
    if tag == "defs" and not len(target):
        into.remove(target)
