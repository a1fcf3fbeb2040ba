"""Figures: numbers are those of the summary, drawings are safe, legible in both modes and equal in every process."""

from __future__ import annotations

import hashlib
import os
import re
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import replace
from functools import cache
from itertools import combinations
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import numpy as np
import pytest

from collabtax.cascade.rates import cascades
from collabtax.cells import Cell
from collabtax.report import figures
from collabtax.report.figures.base import HEAT, NARROW, PALETTE, SERIES, WIDE, Figure, marked, short
from collabtax.report.mechanism import Foreseen
from collabtax.report.summary import Summary, summarise
from collabtax.statistics import Estimate
from collabtax.store import key
from tasks.base import seeded

HOSTILE = "a<script>alert(1)</script>&\"' $x$ \u202e\x1b[31m\x00\ud800 ]]> --> </svg>"
TASKS = {"maze": "spatial", "cube": "spatial", "relaquery": "relational", "graph": "relational", "schedule": "csp"}
SPANS = [
    ("Ann", 0, 4, "reasoning"), ("Ann", 4, 9, "executing"), ("Bob", 0, 6, "waiting"), ("Bob", 6, 9, "resting"),
]  # fmt: skip
MESSAGES = [(2, "Ann", "Bob", "come <b>here</b>"), (5, "Bob", "all", "yes")]


def row(task: str, mode: str, models: tuple[str, ...], condition: str, seed: int, score: float) -> dict[str, Any]:
    """A stored rollout, as far as summaries read it."""
    return {
        "study": "tax", "task": task, "family": TASKS[task], "mode": mode, "models": list(models), "seed": seed,
        "condition": condition, "settings": "s", "outcome": "scored", "score": score, "success": score == 1.0,
        "warning": "clean", "usage": {}, "cost": 0.0, "turns": [], "error": "", "second": None, "reason": "",
        "said": {"friction": "natural", "difficulty": "default"}, "versions": {},
    }  # fmt: skip


@cache
def rows(*models: str) -> tuple[dict[str, Any], ...]:
    """A study of `models`: alone they solve nearly all, together less the later they come; everything is in it."""
    rng = seeded("test_figures", len(models))
    found = []
    sweeps = ("friction-none", "friction-strong", "no-critic")
    for task in TASKS:
        for seed in range(4):
            for i, m in enumerate(models):
                for c in ("", *sweeps):
                    found.append(row(task, "solo", (m,), c, seed, rng.choice([1.0, 1.0, 1.0, 0.9])))
                for c in ("", "all-four", "no-l1", "friction-none", "friction-strong"):
                    found.append(row(task, "homo", (m, m), c, seed, rng.choice([1.0, 0.5, 0.1 * i])))
            for a, b in combinations(models, 2):
                for team in ((a, b), (b, a)):
                    found.append(row(task, "hetero", team, "", seed, rng.choice([1.0, 0.6, 0.2])))
    return tuple(found)


@cache
def summary(*models: str) -> Summary:
    cells: dict[Cell, dict[int, Any]] = {}
    for one in rows(*models):
        cell = Cell("tax", one["task"], one["family"], one["mode"], tuple(one["models"]), one["condition"])
        cells.setdefault(cell, {})[one["seed"]] = one
    return summarise(cells.items())


def foreseen(model: str) -> Foreseen:
    interval = Estimate(2.0, 1.0, 3.0, 4, 4, "95% t over tasks")
    names = [(name, interval) for name in ("turns", f"model {model}", "family csp")]
    return Foreseen((), tuple(names), (("maze", model, 0.1, 0.2), ("cube", model, 0.3, 0.15)))


@cache
def every(*models: str) -> tuple[Figure, ...]:
    """A figure of every kind."""
    return tuple(made(*models))


@cache
def page(figure: Figure) -> str:
    return str(figure.html("figures/"))


def made(*models: str) -> Iterator[Figure]:
    yield from figures.of(summary(*models))
    talked = [r for r in rows(*models) if r["mode"] == "homo" and not r["condition"]]
    verdicts = {key(r): dict.fromkeys(("l1", "l2", "l3", "l4"), r["seed"] > 1) for r in talked}
    for found in cascades(models[0], talked, verdicts):
        yield figures.cascade(found)
    told = foreseen(models[0])
    yield figures.prediction(told)
    yield figures.coefficients(told, frozenset())
    seats = {"L1": [(models[0], 5.0, 2.0, 8.0), ("responder", -1.0, None, None)]}
    yield figures.swap(seats, {"L1": [("responder", 3.0, 1.0, 5.0)]})
    yield figures.contrasts("other", models[0], models[0], "x", {models[0]: [(models[0], 0.1, 0.0, 0.2)]})
    spans = [(models[0] if agent == "Ann" else agent, *rest) for agent, *rest in SPANS]
    yield figures.timeline("trace", models[0], spans, [(1, models[0], "Bob", HOSTILE), *MESSAGES], [(3, HOSTILE)])  # type: ignore[arg-type]


KINDS = {
    "landscape", "task-gaps", "pair-map", "additive-null", "interventions", "sweeps", "cascade-homo", "prediction",
    "coefficients", "swap", "other", "trace",
}  # fmt: skip


def drawings(figure: Figure) -> list[str]:
    """As a file, and the two of the page."""
    return [figure.svg, *re.findall(r"<svg.*?</svg>", page(figure), re.DOTALL)]


def test_there_is_one_of_every_kind() -> None:
    assert {figure.name for figure in every("one", "two")} == KINDS


def test_numbers_are_those_of_the_summary() -> None:
    s = summary("one", "two", "three")
    found = {figure.name: figure for figure in figures.of(s)}
    assert {r[:2] + r[7:] for r in found["landscape"].rows} == {
        (x.model, x.scope, x.ratio.value, x.ratio.low, x.ratio.high, len(x.tasks)) for x in s.lines
    }
    assert {(r[1], r[2], *r[5:8]) for r in found["task-gaps"].rows} == {
        (t.task, t.model, t.ratio.value, t.ratio.low, t.ratio.high) for m in s.taxes.values() for t in m.tasks
    }
    assert {r[:6] for r in found["pair-map"].rows} == {
        (*team, t.ratio.value, t.ratio.low, t.ratio.high, t.score.value) for team, t in s.map.items()
    }
    assert [(*r[:2], *r[3:]) for r in found["additive-null"].rows] == [
        (*p.models, p.midpoint, p.gap) for p in s.null.points
    ]
    assert {(r[1], *r[5:8], r[8]) for r in found["interventions"].rows} == {
        (e.condition, e.change.value, e.change.low, e.change.high, e.change in s.stands["effects"]) for e in s.effects
    }
    assert {(r[0], *r[4:7]) for r in found["sweeps"].rows} == {
        (x.model, x.tax.value, x.tax.low, x.tax.high) for x in s.swept
    }


@pytest.mark.parametrize("models", [("one", "two"), tuple(f"m{i}" for i in range(5))])
def test_marks_stand_where_the_numbers_say(models: tuple[str, ...]) -> None:
    """The tip of every mark names its value; a mark's place on the axis is linear in it."""
    figure = next(f for f in figures.of(summary(*models)) if f.name == "landscape")
    root = ElementTree.fromstring(figure.svg)
    ns = "{http://www.w3.org/2000/svg}"
    places = {}
    for group in root.iter(f"{ns}g"):
        title, use = group.find(f"{ns}title"), group.find(f"{ns}use") if group.find(f"{ns}title") is not None else None
        if title is not None and use is not None:
            places[(title.text or "").partition(":")[0]] = float(use.attrib["x"])
    values = {f"{r[0]}, {r[1]}": r[7] for r in figure.rows}
    assert set(places) == set(values)
    names = sorted(values)
    slope, intercept = np.polyfit([values[n] for n in names], [places[n] for n in names], 1)
    assert slope > 0
    assert max(abs(places[n] - slope * values[n] - intercept) for n in names) < 0.2


def test_many_models_share_a_mark() -> None:
    models = tuple(f"m{i}" for i in range(5))
    gaps = next(f for f in figures.of(summary(*models)) if f.name == "task-gaps")
    assert len(gaps.rows) == 5 * len(TASKS)
    for task in TASKS:
        own = [r[5] for r in gaps.rows if r[1] == task and r[5] is not None]
        assert f"{task}, mean of {len(own)} models: {np.mean(own):.2f}".replace("-", "−") in gaps.svg


def test_a_task_that_some_do_not_solve_alone_has_the_mean_of_the_others() -> None:
    models = tuple(f"m{i}" for i in range(5))
    taxes = dict(summary(*models).taxes)
    for model in models[:2]:
        tasks = tuple(replace(t, tractable=False) if t.task == "maze" else t for t in taxes[model].tasks)
        taxes[model] = replace(taxes[model], tasks=tasks)
    own = [t.ratio.value for m in models[2:] for t in taxes[m].tasks if t.task == "maze" and t.ratio.value is not None]
    assert f"maze, mean of 3 models: {np.mean(own):.2f}".replace("-", "−") in figures.task_gaps(taxes).svg


def test_drawings_are_xml_and_refer_to_nothing_outside() -> None:
    for figure in every(HOSTILE, "two"):
        assert set(re.findall(r"[^\x20-\x7e\n]", figure.svg)) <= set("…–−→↓←’·²φ×⟨⟩┊"), figure.name
        for source in drawings(figure):
            root = ElementTree.fromstring(source)
            for element in root.iter():
                tag = element.tag.rpartition("}")[2]
                assert tag in {"svg", "g", "path", "text", "use", "defs", "title", "desc", "style"}
                assert tag != "style" or source == figure.svg
                for name, value in element.attrib.items():
                    assert not name.startswith("on")
                    assert name != "style"
                    assert not name.endswith("href") or value.startswith("#")
            assert root.attrib["role"] == "img"
            assert len(root.attrib["aria-label"]) > 30
            assert "url(" not in source
            ids = re.findall(r' id="(\w+)"', source)
            assert len(ids) == len(set(ids))
            assert set(re.findall(r'href="#(\w+)"', source)) == set(ids)


def test_hostile_names_stay_names() -> None:
    for figure in every(HOSTILE, "two"):
        html = page(figure)
        assert "<script" not in html
        assert "<b>" not in html
        assert not re.search("[\x00-\x09\x0b-\x1f\u202e\ud800-\udfff]", html)
        assert "⟨U+202E⟩" in html, figure.name
        assert "$x$" in html, figure.name  # is no formula
        assert html.count("</svg>") == html.count("<svg") == 2
        assert figure.name in KINDS


def test_a_name_is_no_formula() -> None:
    figure = next(iter(figures.of(summary("a $x^2$ b", "two"))))
    assert ">a $x^2$ b</text>" in figure.svg


def test_ids_of_a_page_are_its_own() -> None:
    ids = re.findall(r' id="([\w-]+)"', "".join(map(page, every("one", "two"))))
    assert len(ids) == len(set(ids)) > 12


def test_a_fragment_holds_all_its_numbers() -> None:
    for figure in every("one", "two"):
        html = page(figure)
        assert html.startswith(f'<figure class="chart" id="chart-{figure.name}">')
        assert html.count("<tr>") == 1 + len(figure.rows)
        assert len(re.findall(r"<td", html)) == len(figure.head) * len(figure.rows)
        assert all(f'href="figures/{figure.name}.{kind}"' in html for kind in ("svg", "pdf", "csv"))


def luminance(colour: str) -> float:
    """WCAG 2.2."""
    parts = [int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5)]
    linear = [p / 12.92 if p <= 0.04045 else ((p + 0.055) / 1.055) ** 2.4 for p in parts]
    return float(np.dot(linear, [0.2126, 0.7152, 0.0722]))


def contrast(a: str, b: str) -> float:
    low, high = sorted((luminance(a), luminance(b)))
    return (high + 0.05) / (low + 0.05)


@pytest.mark.parametrize("mode", [0, 1])
def test_contrast(mode: int) -> None:
    """Text 4.5:1 on everything that it stands on, marks 3:1 on the card."""
    card = PALETTE["card"][mode]
    assert all(contrast(PALETTE[role][mode], card) >= 4.5 for role in ("ink", "soft"))
    below = [*(f"heat{i}" for i in range(1, HEAT + 1)), *(role for role in PALETTE if role.startswith("pale"))]
    assert all(contrast(PALETTE["ink"][mode], PALETTE[role][mode]) >= 4.5 for role in below)
    assert all(contrast(PALETTE[f"series{i}"][mode], card) >= 3 for i in range(SERIES))
    text = {found for f in every("one", "two") for found in re.findall(r"<text[^>]*fill=\"(#\w+)\"", f.svg)}
    assert text <= {PALETTE[role][0] for role in ("ink", "soft", "series1")}  # series1: the sign of an event, 13 pixels
    assert contrast(PALETTE["series1"][mode], card) >= 4.5


def lab(colour: str, eye: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    parts = np.array([int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5)])
    linear = np.clip(eye @ np.where(parts <= 0.04045, parts / 12.92, ((parts + 0.055) / 1.055) ** 2.4), 0, 1)
    xyz = np.array([[0.4125, 0.3576, 0.1804], [0.2127, 0.7152, 0.0722], [0.0193, 0.1192, 0.9503]]) @ linear
    x, y, z = np.cbrt(np.maximum(xyz / [0.9505, 1, 1.0888], 1e-4))
    return np.array([116 * y - 16, 500 * (x - y), 200 * (y - z)])


EYES = {  # Machado, Oliveira, Fernandes 2009, severity 1, on linear RGB
    "all cones": np.eye(3),
    "protanopia": np.array([[0.1523, 1.0526, -0.2049], [0.1145, 0.7863, 0.0992], [-0.0039, -0.0481, 1.0520]]),
    "deuteranopia": np.array([[0.3673, 0.8607, -0.2280], [0.2801, 0.6725, 0.0476], [-0.0118, 0.0429, 0.9689]]),
    "tritanopia": np.array([[1.2555, -0.0767, -0.1788], [-0.0784, 0.9308, 0.1476], [0.0047, 0.6914, 0.3039]]),
}


@pytest.mark.parametrize("eye", EYES)
@pytest.mark.parametrize("mode", [0, 1])
def test_series_differ_for_every_eye(eye: str, mode: int) -> None:
    colours = [lab(PALETTE[f"series{i}"][mode], EYES[eye]) for i in range(SERIES)]
    assert min(float(np.linalg.norm(a - b)) for a, b in combinations(colours, 2)) > 18
    styles = [(marked(i)["color"], marked(i)["marker"]) for i in range(35)]
    assert len(set(styles)) == 35


def test_both_modes_have_all_colours() -> None:
    css = figures.style()
    light, dark = css.split("@media (prefers-color-scheme: dark)")
    for figure in every("one", "two"):
        html = page(figure)
        for role in set(re.findall(r"var\(--chart-(\w+)\)", html)):
            assert f"--chart-{role}: {PALETTE[role][0]};" in light
            assert f"--chart-{role}: {PALETTE[role][1]};" in dark
        assert not re.search(r'(?:fill|stroke)="#', html)
        for colour in set(re.findall(r'fill="(#\w{6})"', figure.svg)):
            assert f'[fill="{colour}"]{{fill:' in figure.svg


def test_nothing_is_drawn_outside() -> None:
    """Text of a wide drawing and of a narrow one stays on its sheet, in a font wider than that of most pages."""
    from collabtax.report.figures.base import room

    long = "a-model-of-an-endpoint-with-a-very-long-name/and-a-version-2026-11-30"
    for figure in (*every(long, "two"), *every("a", "b")):
        for width in {figure.width, NARROW}:
            source = figure._svg(width)
            for attributes, said in re.findall(r"<text([^>]*)>([^<]*)</text>", source):
                if "transform" in attributes:
                    continue
                x = float(re.findall(r' x="(-?[\d.]+)"', attributes)[0])
                size = float(re.findall(r'font-size="([\d.]+)"', attributes)[0])
                wide = room(said.replace("&lt;", "<").replace("&gt;", ">"), size, "font-weight" in attributes)
                anchor = (re.findall(r'text-anchor="(\w+)"', attributes) or ["start"])[0]
                start = x - {"start": 0.0, "middle": 0.5, "end": 1.0}[anchor] * wide
                assert start > -1.5, (figure.name, width, said)
                assert start + wide < width + 1.5, (figure.name, width, said)


def test_nothing_to_show_gives_no_figure() -> None:
    assert list(figures.of(summarise([]))) == []
    assert figures.timeline("empty", "Nothing", []).svg
    assert figures.swap({}, {}).svg


def test_names_are_shortened_in_the_middle() -> None:
    assert short("sim/weak") == "sim/weak"
    assert short("x" * 20 + "y" * 20) == "x" * 12 + "…" + "y" * 13
    assert short("a\n b") == "a b"


def test_timeline_says_what_agents_did() -> None:
    figure = figures.timeline("t", "T", SPANS, MESSAGES)
    assert "Ann: reasoning 44 %, executing 56 %" in figure.alternative
    assert [r[0] for r in figure.rows] == ["status", "status", "message", "status", "message", "status"]
    assert WIDE > NARROW
    assert "5: Bob to Ann: yes" in figure.svg


def digests() -> str:
    """Of every SVG file, some PDF files and some fragments."""
    found = tuple(made("one", "two"))
    data = [*(f.svg.encode() for f in found), *(f.pdf() for f in found[::4]), *(f.html().encode() for f in found[1::6])]
    return " ".join(hashlib.sha256(one).hexdigest() for one in data)


def test_bytes_are_the_same_in_every_process(root: Path) -> None:
    here = Path(__file__).parent
    seed = "0" if os.environ.get("PYTHONHASHSEED") == "3" else "3"
    other = subprocess.run(
        [sys.executable, "-c", "import test_figures; print(test_figures.digests())"], capture_output=True, text=True,
        env={**os.environ, "PYTHONHASHSEED": seed, "PYTHONPATH": f"{root}:{here}"}, check=True, cwd=here,
    )  # fmt: skip
    assert other.stdout.strip() == digests()
    assert len(other.stdout.split()) == len(KINDS) + 3 + 2
