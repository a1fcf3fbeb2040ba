"""The pages of the coop study: one of tables, and one for each episode with a timeline above the world, which can be
stepped through. Beside each of these lies its trace as JSON lines.

The world's states are had again from the seed and the actions and drawn by the world. A page holds every piece of these
drawings once and, for each step, how its list of pieces differs from the one before; `coop.js` puts them together as
pictures. Equal results make equal bytes. What a model said goes through `visible` and reaches the page escaped, or as
data that the script puts into text nodes only.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from html import escape
from math import ceil
from pathlib import Path
from typing import Any

from markupsafe import Markup

from collabtax.coop.episode import states, world_of
from collabtax.coop.metrics import forecasts
from collabtax.coop.told import COMPARED, Findings, Line, mean_score_by_step, with_sd
from collabtax.report.files import TEMPLATES, Folder, put_styles, visible
from collabtax.report.pages import Axis, environment
from collabtax.settings import Settings
from collabtax.study import Row
from tasks import drawing
from tasks.worlds.cooperation import CONSTRAINTS

FIRST = "coop.html"  # the name of the study's first page where it is not the report's
EPISODES = 60  # most that have a page, the first seeds of every cell before others; every one has its trace
WORDS = {"R": "reasoning", "W": "waiting", "X": "executing", "I": "interrupted"}
PIECE = re.compile(r"<(?:svg|/svg)[^>]*>|<style>.*?</style>|<text[^>]*>[^<]*</text>|<[^>]*/>|<[^>]*>|[^<]+", re.DOTALL)
LANE, UNIT, LEFT = 34, 5, 70  # pixels of an agent's lane, of a second or step, and of its name
DRAWN = ("colours.css", "drawing.css")  # styles of a drawing, which is shown as a picture of its own


@dataclass(frozen=True)
class Episode:
    """An episode that has a page, at `where` without its suffix."""

    line: Line
    seed: int
    row: Row
    where: str


def write(f: Findings, settings: Settings, folder: Path, pages: Mapping[str, str]) -> None:
    """Write the study's pages and traces into `folder`. Files of others stay as they are.

    Raises:
        OSError: the folder cannot be written, or holds somebody else's file where one of ours belongs.
    """
    place, first = Folder(folder), FIRST if FIRST in pages else "index.html"
    put_styles(place)
    for name in ("coop.css", "coop.js"):
        place.put(name, (TEMPLATES / name).read_bytes())
    everything = list(episodes(f))
    shown = everything[:EPISODES]
    made = environment()
    template = made.get_template("coop_episode.html")
    for at, one in enumerate(shown):
        around = [shown[i].where.removeprefix("coop/") if 0 <= i < len(shown) else "" for i in (at - 1, at + 1)]
        page = template.render(one=one, first=first, around=around, **about(one))
        place.put(f"{one.where}.html", page.encode())
    for one in everything:
        put_trace(folder / f"{one.where}.jsonl", one.row["data"]["trace"])
    scores = [change for one in f.differences for change in (one.changes["score"],)]
    size = max((abs(e.value) for e in scores if e.value is not None), default=1.0)
    page = made.get_template("coop.html").render(
        root="", f=f, settings=settings, first=first, episodes=everything, shown=len(shown), constraints=CONSTRAINTS,
        compared=COMPARED, pages=[(file, title) for file, title in pages.items() if file != first], with_sd=with_sd,
        axis=Axis(scores, nice(size / 3), nice(size / 3) * 4), curves=list(curves(f)),
    )  # fmt: skip
    place.put(first, page.encode())
    place.tidy("coop/*.html")
    tidy_traces(folder, {f"{one.where}.jsonl" for one in everything})


def nice(size: float) -> float:
    """The least of 1, 2.5, 5 or 10 times a power of ten that is not smaller."""
    power = 1.0
    while power > size > 0:
        power /= 10
    while power * 10 < size:
        power *= 10
    return next(power * step for step in (1, 2.5, 5, 10) if power * step >= size) if size > 0 else 1.0


def episodes(f: Findings) -> Iterator[Episode]:
    """All of them, the first seeds of every cell before others."""
    found = [(seed, at) for at, line in enumerate(f.lines) for seed in line.rows]
    for seed, at in sorted(found):
        line = f.lines[at]
        yield Episode(line, seed, line.rows[seed], f"coop/{line.cell.id}-{seed}")


# Traces as files ------------------------------------------------------------------------------------------------------


def put_trace(path: Path, trace: Sequence[Mapping[str, Any]]) -> None:
    """Write a trace, an event a line. Raises FileExistsError rather than replace what is no trace."""
    # ASCII, so that no reader is deceived.
    data = "".join(f"{json.dumps(event, sort_keys=True)}\n" for event in trace).encode()
    if path.exists() and not is_trace(path):
        raise FileExistsError(f"{path.name} in the report's folder is no trace; choose another --report")
    path.parent.mkdir(parents=True, exist_ok=True)
    fresh = path.with_name(path.name + ".tmp")
    try:
        fresh.write_bytes(data)
        os.replace(fresh, path)
    except OSError:
        fresh.unlink(missing_ok=True)
        raise


def is_trace(path: Path) -> bool:
    with path.open("rb") as file:
        try:
            first = json.loads(file.readline(10_000))
        except (ValueError, RecursionError):
            return False
    return isinstance(first, dict) and first.get("event") == "start"


def tidy_traces(folder: Path, written: set[str]) -> None:
    """Remove the traces of an earlier report, and nothing else."""
    for path in folder.glob("coop/*.jsonl"):
        if f"coop/{path.name}" not in written and is_trace(path):
            path.unlink()


# The page of an episode -----------------------------------------------------------------------------------------------


def about(one: Episode) -> dict[str, Any]:
    """What an episode's page shows besides its numbers."""
    trace = one.row["data"]["trace"]
    try:
        drawn = film(states_drawn(trace))
        missing = ""
    except (ValueError, LookupError) as problem:  # of another version, or of a world that is not there any more
        drawn, missing = {"pieces": [], "frames": []}, f"The world is not drawn: {problem}."
    styles = "".join((TEMPLATES / name).read_text(encoding="utf-8") for name in DRAWN)
    data = {"film": drawn, "style": styles, "trace": shown(trace)}
    judged = [found for found in forecasts(trace) if found[1]]
    return {
        "m": one.row["data"]["metrics"], "missing": missing, "timeline": Markup(timeline(trace)),  # noqa: S704
        "data": Markup(embedded(data)), "talks": talks(trace), "judged": judged, "constraints": CONSTRAINTS,  # noqa: S704
    }  # fmt: skip


def states_drawn(trace: Sequence[Mapping[str, Any]]) -> Iterator[str]:
    """The drawings of the start and of what came of each step."""
    events = [dict(event) for event in trace]
    world = world_of(events)
    return (world.draw(state) for state in states(events, world))


def film(drawings: Iterable[str]) -> dict[str, Any]:
    """Drawings as `pieces`, each of which is there once, and `frames`: edits [from, removed, inserted pieces] that make
    the list of one drawing's pieces out of that before it; to be done from the last to the first."""
    numbers: dict[str, int] = {}
    before: list[int] = []
    frames = []
    for svg in drawings:
        now = [numbers.setdefault(piece, len(numbers)) for piece in PIECE.findall(svg)]
        edits = SequenceMatcher(None, before, now, autojunk=False).get_opcodes() if before else [
            ("insert", 0, 0, 0, len(now))
        ]  # fmt: skip
        frames.append([[i, j - i, now[k:m]] for what, i, j, k, m in edits if what != "equal"])
        before = now
    return {"pieces": list(numbers), "frames": frames}


def shown(value: Any) -> Any:
    """Plain data in which every character can be seen."""
    if isinstance(value, str):
        return visible(value)
    if isinstance(value, Mapping):
        return {visible(str(key)): shown(one) for key, one in value.items()}
    return [shown(one) for one in value] if isinstance(value, list | tuple) else value


def embedded(data: Any) -> str:
    """JSON that can stand inside of a script element: it holds no character that HTML knows."""
    text = json.dumps(data, separators=(",", ":"))
    return text.replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026")


def talks(trace: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """The repairs: the step, the tasks with constraints, who talked, what was said, and what was planned then."""
    found: list[dict[str, Any]] = []
    for event in trace:
        if event["event"] == "repair":
            if not found or found[-1]["step"] != event["step"]:
                found.append({"step": event["step"], "tasks": [], "said": [], "plans": []})
            found[-1]["tasks"].append((event["task"], event["constraints"], event["agents"]))
        elif found and found[-1]["step"] == event["step"]:
            if event["event"] == "message" and event["kind"] in ("intention", "contact"):
                found[-1]["said"].append((event["sender"], event["recipients"], event["text"], event["kind"]))
            elif event["event"] == "plan":
                found[-1]["plans"].append((event["agent"], event["task"], event["calls"]))
    return found


def at(event: Mapping[str, Any]) -> float:
    """Where an event is drawn: a second of reasoning and a step of the world take the same width."""
    return LEFT + UNIT * (float(event["at"]) + float(event["step"]))


def timeline(trace: Sequence[Mapping[str, Any]]) -> str:
    """Who did what when: a lane an agent with its statuses, plans and messages."""
    agents, last = trace[0]["agents"], trace[-1]
    middle = {name: 34 + LANE * i for i, name in enumerate(agents)}
    width, height = at(last) + 20, 34 + LANE * len(agents) + 10
    since = dict.fromkeys(agents, ("R", LEFT * 1.0))
    bars, marks = [], []

    def bar(name: str, end: float) -> None:
        status, begun = since[name]
        if end > begun:
            bars.append(
                f'<rect x="{begun:g}" y="{middle[name] - 9}" width="{end - begun:g}" height="18" class="status '
                f'{WORDS[status]}"><title>{escape(name)}: {WORDS[status]}</title></rect>'
            )

    for event in trace:
        x, kind = at(event), event["event"]
        if kind == "status":
            bar(event["agent"], x)
            since[event["agent"]] = event["to"], x
        elif kind == "left":
            bar(event["agent"], x)
            since[event["agent"]] = "R", width + 1  # nothing any more
            marks.append(drawing.text(x + 4, middle[event["agent"]] + 4, "†", "wrong"))
        elif kind == "plan":
            css = "plan fallback" if event["fallback"] else "plan"
            marks.append(f'<path class="{css}" d="M{x:g} {middle[event["agent"]] - 12}v24"/>')
        elif kind == "message":
            ends = [middle[name] for name in event["recipients"] if name in middle]
            begin = middle.get(event["sender"], 14)
            marks += [f'<path class="message" d="M{x:g} {begin}V{end}m-3 {-5 if end > begin else 5}l3 '
                      f'{5 if end > begin else -5}l3 {-5 if end > begin else 5}"/>' for end in ends]  # fmt: skip
        elif kind == "completed":
            marks.append(f'<path class="gain" d="M{x:g} 18V{height - 4:g}"/>')
        elif kind == "repair":
            marks.append(f'<path class="repair" d="M{x:g} 18V{height - 4:g}"/>')
    for name in agents:
        bar(name, min(at(last), width))
    names = [drawing.text(4, y + 4, name, anchor="start") for name, y in middle.items()]
    scale = [
        drawing.text(at(event), 12, event["step"]) for event in trace
        if event["event"] == "step" and event["step"] % 10 == 0
    ]  # fmt: skip
    now = f'<path id="now" class="now" d="M{LEFT} 0V{height:g}"/>'
    said = f"{len(agents)} agents over {last['step']} steps and {last['at']:g} seconds"
    svg = drawing.svg(width, height, [*bars, *marks, *names, *scale, now], f"Timeline of {said}")
    return svg.replace('class="drawing"', 'class="drawing timeline"', 1)


# Curves ---------------------------------------------------------------------------------------------------------------


def curves(f: Findings) -> Iterator[tuple[str, Markup]]:
    """The mean score over steps, a panel for each world, size of the team and model: structures as lines, with repair
    dashed."""
    panels: dict[tuple[str, ...], list[Line]] = {}
    for line in f.lines:
        if line.rows:
            panels.setdefault((line.keys[0], line.keys[2], line.keys[4]), []).append(line)
    for (world, agents, model), lines in panels.items():
        found = [(line, mean_score_by_step(line)) for line in lines]
        most = nice(max(max(curve) for _, curve in found)) or 1.0
        longest = max(len(curve) for _, curve in found) - 1 or 1
        wide, high = 300, 160
        parts = [drawing.line([(40, 10), (40, 10 + high), (40 + wide, 10 + high)], "edge")]
        parts += [
            drawing.text(36, 14, f"{most:g}", anchor="end"), drawing.text(36, 14 + high, 0, anchor="end"),
            drawing.text(40 + wide, 28 + high, f"step {longest}", anchor="end"),
        ]  # fmt: skip
        for line, curve in found:
            points = [(40 + wide * i / longest, 10 + high * (1 - y / most)) for i, y in enumerate(curve)]
            rounded = [(round(x, 1), round(y, 1)) for x, y in points]
            css = f"curve {line.keys[1]}{' mended' if line.configuration.repair else ''}"
            title = f"{line.keys[1]}, repair {line.keys[3]}: {curve[-1]:g} at the end"
            parts.append(f"<g><title>{title}</title>{drawing.line(rounded, css)}</g>")
        said = visible(f"{world}, {agents} agents, {model}: mean score over steps")
        svg = drawing.svg(wide + 50, ceil(high + 36), parts, said)
        yield f"{world}, {agents} agents, {model}", Markup(svg)  # noqa: S704
