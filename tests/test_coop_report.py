"""The pages of the coop study: what is told is what was measured, drawings come back, hostile text stays text."""

from __future__ import annotations

import asyncio
import json
import re
import shutil
import subprocess
from itertools import pairwise
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from collabtax.cells import Cell
from collabtax.chat import Completion
from collabtax.coop import pages
from collabtax.coop.arenas import CubeArena
from collabtax.coop.episode import play
from collabtax.coop.metrics import measure
from collabtax.coop.minds import Minds
from collabtax.coop.process import Process
from collabtax.coop.told import CoopTold, mean_score_by_step
from collabtax.models import Model
from collabtax.sim import crew
from collabtax.study import Stage

ATTACK = (
    "</script><script>document.title='broken'</script><img src=x onerror=\"document.title='broken'\">\u202egnp \x1b[31m"
)
CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
FIRST = {"index.html": "cooperative constraints"}


class Hostile:
    """A crew whose every plan and message carries an attack."""

    async def complete(self, model: Model, asked: Any) -> Completion:
        said = json.loads(crew.reply("sim/crew-count=0.5", [dict(message) for message in asked.messages]))
        said.update({key: f"{said[key]} {ATTACK}" for key in ("task", "intention", "reply") if key in said})
        said["message"] = ATTACK
        text = json.dumps(said)
        return Completion(text, "stop", {"prompt": 5, "completion": -(-len(text) // 4)}, 0.0, 0.0)


def row(structure: str, repair: bool, seed: int, model: str) -> dict[str, Any]:
    arena = CubeArena()
    process = Process(arena, 3, seed, structure=structure, repair=repair, steps=12, seconds=200.0)
    known: Any = SimpleNamespace(models={model: Model(model, model)}, temperature=0.7)
    chat: Any = Hostile()
    stage = Stage(Cell("coop", "cube", "cube", structure, (model,)), seed, known, chat, [])
    asyncio.run(play(process, Minds(process, stage)))
    return {
        "outcome": "scored", "usage": {"prompt": 5, "completion": 7}, "cost": 0.25,
        "data": {"trace": process.trace, "metrics": measure(process.trace)},
    }  # fmt: skip


MODEL = f"m|{ATTACK}"


@pytest.fixture(scope="module")
def told() -> CoopTold:
    results = []
    for condition in ("", "repair"):
        cell = Cell("coop", "cube", "cube", "chain", (MODEL,), condition)
        rows: dict[int, Any] = {seed: row("chain", bool(condition), seed, MODEL) for seed in range(2)}
        if condition:
            rows[2], rows[3] = None, {"outcome": "infrastructure", "usage": {}, "cost": 0.0}
        results.append((cell, rows))
    return CoopTold(results, SimpleNamespace(temperature=0.7))  # type: ignore[arg-type]


def test_the_terminal_tells_what_was_measured(told: CoopTold) -> None:
    said = told.lines({"cell": 3})
    assert all(" " <= c <= "~" for line in said for c in line)
    off, on = told.findings.lines
    assert [line.configuration.repair for line in (off, on)] == [False, True]
    score = sum(m["score"] for m in off.metrics.values()) / 2
    assert f"{score:.2f}" in next(line for line in said if line.startswith("cube") and " off " in line)
    assert "4 of 6 episodes were scored; 1 infrastructure, 1 not run" in said
    assert any("$1.0000" in line for line in said)
    (one,) = told.findings.differences
    change = sum(on.metrics[s]["score"] - off.metrics[s]["score"] for s in (0, 1)) / 2
    assert one.changes["score"].value == pytest.approx(change)
    assert one.seeds == (0, 1)
    assert any("repair changes the score by" in line for line in said)
    assert "recordings that were not asked for: 3 in 1 cells: cell 3" in said


def test_markdown_cannot_be_left(told: CoopTold) -> None:
    said = "\n".join(told.markdown(["fine"]))
    assert "<script" not in said
    assert "<img" not in said
    assert "\u202e" not in said
    tables = [line for line in said.splitlines() if line.startswith("| cube")]
    assert len(tables) == 5
    assert len({line.count("|") for line in tables[:2]}) == 1


def test_the_curve_of_the_score(told: CoopTold) -> None:
    line = told.findings.lines[0]
    curve = mean_score_by_step(line)
    assert curve[0] == 0
    assert curve == sorted(curve)
    assert curve[-1] == pytest.approx(sum(m["score"] for m in line.metrics.values()) / 2)


def played_back(film: dict[str, Any]) -> list[str]:
    """What the page's script does, written down a second time."""
    found, pieces = [], list[int]()
    for edits in film["frames"]:
        for at, removed, inserted in reversed(edits):
            pieces = pieces[:at] + inserted + pieces[at + removed :]
        found.append("".join(film["pieces"][number] for number in pieces))
    return found


@pytest.mark.parametrize("world", ["cube", "crafter"])
def test_films_hold_every_drawing(world: str, told: CoopTold) -> None:
    if world == "cube":
        drawn = list(pages.states_drawn(told.findings.lines[0].rows[0]["data"]["trace"]))
    else:
        from tasks.worlds.crafter import script
        from tasks.worlds.crafter.world import Crafter

        crafter = Crafter(limit=6)
        state = crafter.initial(0)
        drawn = [crafter.draw(state)]
        while not crafter.is_cut(state):
            state = crafter.step(state, script.decide(crafter, state))
            drawn.append(crafter.draw(state))
    film = pages.film(drawn)
    assert played_back(film) == drawn
    assert len(drawn) > 5
    assert len(json.dumps(film)) < sum(map(len, drawn)) / 2


def test_pages_are_the_same_bytes_and_those_of_others_stay(told: CoopTold, tmp_path: Path) -> None:
    told.write(tmp_path, FIRST)
    first = {p.relative_to(tmp_path): p.read_bytes() for p in sorted(tmp_path.rglob("*")) if p.is_file()}
    told.write(tmp_path, FIRST)
    assert first == {p.relative_to(tmp_path): p.read_bytes() for p in sorted(tmp_path.rglob("*")) if p.is_file()}
    assert sum(p.suffix == ".jsonl" for p in first) == sum(
        p.parent.name == "coop" and p.suffix == ".html" for p in first
    )
    assert max(map(len, first.values())) < 400_000
    for name in (p for p in first if p.suffix == ".jsonl"):
        trace = [json.loads(line) for line in first[name].splitlines()]
        assert measure(trace)["score"] == float(sum(e["score"] for e in trace if e["event"] == "completed"))
    foreign = tmp_path / "coop" / "mine.jsonl"
    foreign.write_text("mine")
    stale = tmp_path / "coop" / "old-0.jsonl"
    stale.write_text('{"event": "start", "at": 0}\n')
    told.write(tmp_path, FIRST)
    assert foreign.read_text() == "mine"
    assert not stale.exists()
    next(tmp_path.glob("coop/cube*.jsonl")).write_text("mine")
    with pytest.raises(FileExistsError, match="no trace"):
        told.write(tmp_path, FIRST)


def test_hostile_text_is_escaped(told: CoopTold, tmp_path: Path) -> None:
    told.write(tmp_path, FIRST)
    for page in tmp_path.rglob("*.html"):
        text = page.read_text(encoding="utf-8")
        assert "document.title='broken'</script>" not in text
        assert "<img src=x" not in text
        assert "\u202e" not in text
        assert "\x1b" not in text
    episode = next(p for p in tmp_path.glob("coop/*.html") if "repair-0" in p.name).read_text(encoding="utf-8")
    data = json.loads(re.findall(r'<script type="application/json" id="episode">(.*?)</script>', episode)[0])
    assert any("⟨U+202E⟩gnp" in e.get("text", "") for e in data["trace"])


@pytest.mark.skipif(CHROMIUM is None, reason="no Chromium is installed")
def test_an_episode_is_stepped_through_in_a_browser(told: CoopTold, tmp_path: Path) -> None:
    told.write(tmp_path, FIRST)
    page = next(p for p in tmp_path.glob("coop/*.html") if "repair-0" in p.name)
    flags = ["--headless", "--no-sandbox", "--disable-gpu", f"--user-data-dir={tmp_path / 'profile'}", "--dump-dom"]
    found = subprocess.run([str(CHROMIUM), *flags, page.as_uri()], capture_output=True, timeout=120, check=True)
    text = found.stdout.decode()
    assert "<title>cube, chain, 0</title>" in text  # not "broken"
    happened = re.findall(r'<ul class="happened" id="happened">(.*?)</ul>', text, re.DOTALL)[0]
    assert "agent_0 plans (1)" in happened
    assert "&lt;img src=x" in happened
    assert re.search(r'<img id="world"[^>]*src="data:image/svg\+xml,%3Csvg', text)
    assert re.search(r'<output id="told"[^>]*>step 0 of 12, [\d.]+ s</output>', text)


def test_a_trace_is_known_again_however_its_keys_are_ordered(tmp_path: Path) -> None:
    """Rows that were stored come back with sorted keys; those of this process do not."""
    trace = [{"event": "start", "at": 0.0, "agents": ["agent_0"], "world": "cube"}, {"event": "end", "at": 1.0}]
    stored = [dict(sorted(event.items())) for event in trace]
    path, found = tmp_path / "coop" / "x-0.jsonl", set()
    for one in (trace, stored, trace):
        pages.put_trace(path, one)
        found.add(path.read_bytes())
    assert len(found) == 1


def test_timelines_are_figures_whose_spans_fill_an_episode(told: CoopTold) -> None:
    from collabtax.coop.told import spans

    drawn = told.figures()
    assert drawn
    assert all(figure.svg.startswith("<svg") and figure.rows for figure in drawn)
    trace = next(iter(told.findings.lines[0].rows.values()))["data"]["trace"]
    end = trace[-1]["at"]
    for agent in trace[0]["agents"]:
        mine = sorted((start, stop) for who, start, stop, _ in spans(trace) if who == agent)
        assert mine[0][0] == 0.0
        assert all(one[1] == other[0] for one, other in pairwise(mine))
        assert mine[-1][1] == end
