"""The report: nothing a model says gets out of its box, every number adds up, every link leads somewhere."""

from __future__ import annotations

import base64
import json
import re
import zlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from html.parser import HTMLParser
from pathlib import Path
from typing import Any, Protocol
from urllib.parse import unquote

import pytest

from collabtax.progress import Tally
from collabtax.report import browser, commands, finish, inspect_log, pages, text
from collabtax.report.summary import Summary, caveat, label, summarise
from collabtax.session import Session
from collabtax.settings import Settings
from collabtax.statistics import Estimate, PairRow
from collabtax.store import Store, load
from conftest import THREE

TAGS = re.findall(
    r"\w+",
    "html head meta title link body header nav main section article h1 h2 h3 p a span b strong bdi code pre mark div "
    "ul li dl dt dd table thead tbody tr th td details summary figure figcaption svg path circle text rect polyline "
    "g defs use desc",
)
ATTRIBUTES = re.findall(
    r"[\w:-]+",
    "lang charset name content rel href aria-label aria-labelledby class id role title scope rowspan accesskey viewbox "
    "width height d cx cy r x y xmlns fill points text-anchor open tabindex http-equiv stroke stroke-width "
    "stroke-linejoin stroke-linecap stroke-dasharray stroke-dashoffset stroke-opacity fill-opacity fill-rule opacity "
    "font-size font-weight transform xlink:href xmlns:xlink version",
)
VOID = {"meta", "link"}
MAP = "> . < ^ v & #"
ATTACK = (
    '</pre></article><script>alert(1)</script><img src=x onerror=alert(1)> " \' "onmouseover="x {{ 7 * 7 }} &lt; '
    f"\x1b[31mred\x1b[0m \x00 \x08 \x9b \u202egnp.exe \u2066 \u200b \ufeff \ud800 \U000e0041\n{MAP}\n" + "A" * 100_000
)


class Page(HTMLParser):
    """A parsed page: what is in it, and whether its tags are closed in order."""

    def __init__(self, source: str) -> None:
        super().__init__()
        self.tags: set[str] = set()
        self.attributes: set[str] = set()
        self.links: list[str] = []
        self.pre: list[str] = []
        self.words = ""
        self.open: list[str] = []
        self.feed(source)
        self.close()
        assert not self.open, f"left open: {self.open}"

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.add(tag)
        self.attributes |= {name for name, _ in attrs}
        self.links += [value or "" for name, value in attrs if name == "href"]
        if tag == "pre":
            self.pre.append("")
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.handle_starttag(tag, attrs)
        self.handle_endtag(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        self.words += data
        if "pre" in self.open:
            self.pre[-1] += data


Made = Callable[..., tuple[Session, list[str]]]


@pytest.fixture
def made(tmp_path: Path) -> Any:
    """Runs the cells of some options in a folder and finishes: the session and the lines of the terminal."""
    opened: list[Session] = []

    def make(folder: str = "a", change: Callable[[dict[str, Any]], None] | None = None, **given: Any) -> Any:
        root = tmp_path / folder
        root.mkdir(exist_ok=True)
        chosen = {"model": ["sim/weak"], "task": THREE, "rollouts": 2, "run": "run", **given}
        session = Session(chosen, root)
        opened.append(session)
        tally, cells = Tally(), session.settings.cells("tax")
        for cell in cells:
            session.run_cell(cell, lambda rollout, name=cell.id: tally.count(name, rollout))  # type: ignore[misc]
        if change:
            store = Store(session.settings.run, session.store.session)
            rows = store.rows().values()
            for part in store.parts.iterdir():
                part.unlink()
            for row in rows:
                change(row)
                store.add(row)
            store.close()
        return session, finish(session, cells, tally)[0]

    yield make
    for session in opened:
        session.close()


def summary_of(session: Session) -> Summary:
    rows = session.store.rows()
    cells = session.settings.cells("tax")
    return summarise((cell, {s: rows.get(k) for s, k in session.keys(cell).items()}) for cell in cells)


class Reported(Protocol):
    """What has a report on disk."""

    settings: Settings


def files(session: Reported) -> Mapping[str, bytes]:
    folder = session.settings.report
    return {str(p.relative_to(folder)): p.read_bytes() for p in sorted(folder.rglob("*")) if p.is_file()}


def data(session: Reported, kind: str) -> list[Any]:
    """What the data files of a kind hold."""
    found = []
    for name, content in files(session).items():
        if name.startswith(f"data/{kind}-"):
            called = re.search(rb'collabtax\("([a-z]+-\d{5})", "([A-Za-z0-9+/=]*)"\);', content)
            assert called
            assert name == f"data/{called[1].decode()}.js"
            found.append(json.loads(zlib.decompress(base64.b64decode(called[2]))))
    return found


def browsed(session: Reported) -> dict[str, dict[str, Any]]:
    """Every rollout that the browser shows, by its address, with the texts that it refers to."""
    (manifest,) = data(session, "manifest")
    columns: dict[str, list[Any]] = {}
    for part in data(session, "index"):
        for name, values in part.items():
            columns.setdefault(name, []).extend(values)
    rollouts, texts = ([one for part in data(session, kind) for one in part] for kind in ("rollouts", "texts"))
    assert {len(values) for values in columns.values()} <= {manifest["count"]} == {len(rollouts)}
    found = {}
    for i, one in enumerate(rollouts):
        cell = manifest["cells"][columns["cell"][i]]
        for name in ("asked", "drawing"):
            one[name] = texts[one[name]] if name in one else ""
        one["views"] = [texts[number] for _, number in one.get("views", [])]
        one["outcome"] = manifest["outcomes"][columns["outcome"][i]]
        one["command"] = f"{cell['command'][0]}--seed={columns['seed'][i]}{cell['command'][1]}"
        found[f"{cell['study']}/{cell['id']}/{columns['seed'][i]}"] = one
    assert len(found) == manifest["count"]
    return found


def check(session: Reported) -> dict[str, Page]:
    """Every page is well-formed, holds what we put into pages and nothing else, and all its links lead somewhere."""
    addresses = {f"rollouts.html#{address}" for address in browsed(session)}
    found = {}
    for name, content in files(session).items():
        source = content.decode()
        assert not pages.HIDDEN.search(source.replace("\r\n", "").replace("\n", "")), name
        if name.endswith(".html") and name != "rollouts.html":
            page = found[name] = Page(source)
            assert page.tags <= set(TAGS), page.tags - set(TAGS)
            assert page.attributes <= set(ATTRIBUTES), page.attributes - set(ATTRIBUTES)
            for link in page.links:
                assert re.fullmatch(
                    r"[A-Za-z0-9._+/-]*(#\w+)?|rollouts\.html#\?(cell|study)=[\w.%+-]+|rollouts\.html#tax/[\w.%+-]+/\d+",
                    link,
                )
                assert (session.settings.report / name).parent.joinpath(link.partition("#")[0]).exists(), (name, link)
                assert not link.startswith("rollouts.html#tax/") or unquote(link) in addresses
    return found


def test_pages_and_terminal(made: Made) -> None:
    session, lines = made(model=["sim/weak", "sim/strong"], pair=["sim/weak,sim/strong"])
    found = check(session)
    assert list(found) == ["index.html", "tax.html"]
    shown = browsed(session)
    assert set(shown) == {f"tax/{c.id}/{seed}" for c in session.settings.cells("tax") for seed in (0, 1)}
    assert Path(lines[-1]) == session.settings.report / "index.html"
    assert all(line.isascii() and line.isprintable() for line in lines[:-1])
    assert any(line.startswith("initiator") for line in lines)
    assert "simulated" in found["index.html"].words


def test_what_agents_saw_is_shown_as_they_saw_it(made: Made) -> None:
    from collabtax.tax.protocols import told
    from collabtax.tax.study import cached_problem
    from tasks import get_task

    session, _ = made(mode=["homo", "solo"], rollouts=1)
    check(session)
    shown = browsed(session)
    for cell in session.settings.cells("tax"):
        one = shown[f"tax/{cell.id}/0"]
        task, problem = get_task(cell.task), cached_problem(get_task(cell.task), 0, "default", "natural")
        seats = (0, 1) if cell.mode == "homo" else (None,)
        assert one["views"] == [told(task, problem, seat) for seat in seats]
        assert one["asked"] == task.prompt
        row = next(r for r in session.store.rows().values() if r["task"] == cell.task and r["mode"] == cell.mode)
        assert one["drawing"] == task.draw(problem.instance, row["answer"], row["where"])
        assert f"-k '[{cell.id}]' --seed=0" in one["command"]


def test_the_command_runs_the_rollout_again(made: Made) -> None:
    session, _ = made(mode=["homo"], task=["maze"], intervention=["no-l1"], friction="strong", no_critic=True, seed=3)
    plain, clause = session.settings.cells("tax")
    assert pages.command(clause, 4, session.settings) == (
        f"python -m pytest benchmarks -k '[{clause.id}]' --seed=4 --rollouts=1 --model=sim/weak --intervention=no-l1 "
        "--friction=strong --no-critic --record-mode=none --run=runs/again"
    )
    assert f"[{plain.id}]" not in f"[{clause.id}]"


def test_hostile_text_stays_text(made: Made) -> None:
    def attack(row: dict[str, Any]) -> None:
        row |= {"reason": ATTACK, "warning": ATTACK, "evidence": "<script>alert(1)</script>", "error": ATTACK}
        row |= {"termination": ATTACK, "answer": {ATTACK: [ATTACK]}, "usage": {"<b>": 1, "prompt": 2}}
        row["turns"] = [{**turn, "text": ATTACK, "finish": "<i>"} for turn in row["turns"]]
        if row["where"] is not None:
            row["where"] = {"walked": [], "broke": None, "right": [ATTACK], "wrong": []}

    session, _ = made(change=attack, mode=["solo", "homo"])
    check(session)
    for name, content in files(session).items():
        assert b"alert" not in content, name
    for one in browsed(session).values():
        assert not pages.HIDDEN.search(json.dumps(one, ensure_ascii=False))
        for turn in one["turns"]:
            assert "<script>alert(1)</script>" in turn["text"]
            assert f"\n{MAP}\n" in turn["text"]
            assert "A" * 100_000 in turn["text"]
            assert "⟨U+001B⟩[31mred" in turn["text"]
            assert "⟨U+202E⟩gnp.exe" in turn["text"]
        assert "<script" not in one["drawing"]


def test_hostile_names_stay_names(made: Made) -> None:
    name = "../<script>\x1b[2J\"'\u202ealert</script>"
    session, lines = made(model=[name], record_mode="none", task=["maze"])
    assert all(line.isascii() and line.isprintable() for line in lines[:-1])
    found = check(session)
    assert "<script>" in found["index.html"].words
    assert all(".." not in Path(n).parts for n in found)


@pytest.mark.parametrize("text_", [MAP, "a\r\nb", "tab\there"])
def test_visible_keeps_what_is_harmless(text_: str) -> None:
    assert pages.visible(text_) == text_.replace("\r", "")


@pytest.mark.parametrize("letter", "\u034f\u115f\u1160\u17b4\u180b\u3164\uffa0")
def test_letters_that_nobody_sees_are_spelled_out(letter: str) -> None:
    assert pages.visible(f"A{letter}B") == f"A⟨U+{ord(letter):04X}⟩B"


def test_parameters_that_a_model_is_asked_without_are_said(made: Made) -> None:
    session, _ = made(model=["gpt-5", "gpt-4o-mini"], record_mode="none", task=["maze"], rollouts=1)
    assert check(session)["index.html"].words.count("recorded, asked without temperature") == 1


def test_markup_in_names_is_escaped_once() -> None:
    template = pages.environment().from_string("<pre>{{ x }}</pre>")
    assert template.render(x=MAP) == "<pre>&gt; . &lt; ^ v &amp; #</pre>"


@pytest.mark.parametrize("record_mode", ["new_episodes", "none"])
def test_equal_results_make_equal_bytes(made: Made, record_mode: str) -> None:
    given = {"pair": ["sim/weak,sim/strong"], "intervention": ["no-l2"], "turn_cap": 6, "record_mode": record_mode}
    (first, _), (second, _) = made("a", **given), made("somewhere else", **given)
    assert files(first) == files(second)
    assert not any(str(first.settings.run.parent).encode() in data for data in files(first).values())


def test_counts_add_up(made: Made) -> None:
    outcomes = iter(["scored", "no_answer", "unreadable", "infrastructure"] * 100)

    def spread(row: dict[str, Any]) -> None:
        row["outcome"] = next(outcomes)
        row["score"] = {"scored": 1.0, "infrastructure": None}.get(row["outcome"], 0.0)
        row["cost"] = None

    made(mode=["solo", "homo"], rollouts=4)
    session, lines = made(change=spread, mode=["solo", "homo"], rollouts=4, record_mode="none", run="again")
    line = next(line for line in lines if line.startswith("planned"))
    planned, scored, empty, unreadable, infrastructure, skipped = map(int, re.findall(r"\d+", line))
    assert planned == scored + unreadable + infrastructure + skipped == 24
    assert (scored, empty, unreadable, infrastructure, skipped) == (12, 6, 6, 6, 0)
    assert any(line.startswith("WARNING: 33% of the answers of sim/weak could not be read (6 of 18)") for line in lines)
    assert any("price unknown" in line for line in lines)
    summary = summary_of(session)
    assert all(c.mean.n == c.planned - c.outcomes["infrastructure"] for c in summary.cells)
    assert all(c.mean.value == 1 / 3 and c.readable.value == 1.0 for c in summary.cells)
    (session.settings.run / "results.jsonl").write_text("")
    assert summary_of(session).counts.line.endswith("infrastructure 0 + skipped 24")


def test_a_wrong_sum_is_said() -> None:
    from collabtax.report.summary import Counts

    assert "DOES NOT ADD UP" in Counts(3, 1, 0, 0, 0, 0).line


def test_interventions_do_not_touch_the_baseline(made: Made) -> None:
    plain, _ = made("a", pair=["sim/weak,sim/strong"], rollouts=6, turn_cap=6)
    both, lines = made("b", pair=["sim/weak,sim/strong"], rollouts=6, turn_cap=6, intervention=["all-four", "no-l3"])
    first, second = summary_of(plain), summary_of(both)
    assert (first.lines, first.pairs, first.hint) == (second.lines, second.pairs, second.hint)
    assert not first.effects
    assert {(e.models, e.condition) for e in second.effects} >= {(("sim/weak", "sim/weak"), "all-four")}
    assert any("all-four" in line for line in lines)
    by_hand = {
        c.cell.task: sum(row["score"] for row in c.rows.values()) / 6
        for c in second.cells
        if (c.cell.mode, c.cell.models[0], c.cell.condition) == ("homo", "sim/weak", "")
    }
    (overall,) = (line for line in second.lines if (line.model, line.scope) == ("sim/weak", "all"))
    assert overall.tasks
    assert overall.homo == pytest.approx(sum(by_hand[task] for task in overall.tasks) / len(overall.tasks))


@pytest.mark.parametrize("given", [
    {"rollouts": 1}, {"record_mode": "none"},
    {"record_mode": "none", "mode": ["hetero"], "pair": ["sim/weak,sim/strong"]},
    {"mode": ["half"]}, {"mode": ["solo"]}, {"mode": ["hetero"], "pair": ["sim/weak,sim/strong"], "model": []},
    {"mode": ["homo"], "intervention": ["all-four"], "rollouts": 1},
])  # fmt: skip
def test_runs_with_little_in_them(made: Made, given: dict[str, Any]) -> None:
    session, lines = made(**given)
    check(session)
    assert any(line.startswith("planned") for line in lines)
    if given.get("record_mode") == "none":
        assert any("could not be run" in line for line in lines)


def test_a_run_without_a_single_result(made: Made, tmp_path: Path) -> None:
    session = Session({"model": ["sim/weak"], "run": "run"}, tmp_path)
    lines, _ = finish(session, session.settings.cells("tax"), Tally())
    session.close()
    assert "WARNING" in lines[0]
    assert list(check(session)) == ["index.html", "tax.html"]
    assert not browsed(session)


def test_a_model_that_fails_alone_is_said_to(made: Made) -> None:
    def fail(row: dict[str, Any]) -> None:
        if row["models"] == ["sim/weak"]:
            row["score"] = 0.05
        elif row["models"] == ["sim/perfect"] and row["task"] == "maze":
            row["score"] = 0.5

    session, lines = made(model=["sim/weak", "sim/perfect"], change=fail, mode=["solo", "homo"])
    assert "sim/weak solves only 0.05 of what it sees alone; its tax says nothing about coordination" in lines
    assert "sim/perfect: left out of the headline means, as its solo mean is under 0.8: maze 0.50" in lines
    assert "its tax says nothing about coordination" in check(session)["tax.html"].words
    (aside,) = (line for line in summary_of(session).lines if (line.model, line.scope) == ("sim/weak", "all"))
    assert aside.aside
    assert aside.solo is not None
    assert aside.tax.value is None


def test_unplayed_recordings_are_said(made: Made) -> None:
    session, _ = made(task=["maze"])
    tally = Tally(unplayed={"maze-solo-x": 3, "maze-homo-x": 1})
    lines, _ = finish(session, session.settings.cells("tax"), tally)
    assert any("not asked for: 4 in 2 cells: maze-homo-x 1, maze-solo-x 3" in line for line in lines)


def test_only_so_many_instances_are_made_again(made: Made, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(browser.Problems.__init__, "__defaults__", (2,))
    session, _ = made(task=["maze"], mode=["solo", "homo"], rollouts=5)
    check(session)
    for address, one in browsed(session).items():
        seed = int(address.rpartition("/")[2])
        assert bool(one["drawing"]) == bool(one["views"]) == (seed < 2)
        assert (f"play maze --seed {seed} " in one.get("missing", "")) == (seed >= 2)


def test_an_instance_of_another_version_is_not_shown(made: Made) -> None:
    def older(row: dict[str, Any]) -> None:
        row["versions"] = {**row["versions"], "task": 0}

    session, _ = made(change=older, task=["maze"], mode=["homo"], rollouts=1)
    (one,) = browsed(session).values()
    assert one["missing"] == "maze has changed since: its instances are others now"
    assert not one["views"]


def test_files_of_others_stay(made: Made, tmp_path: Path) -> None:
    folder = tmp_path / "mine"
    folder.mkdir()
    (folder / "index.html").write_text("<title>collabtax of somebody else</title>")
    session, lines = made(task=["maze"], rollouts=2, report=str(folder))
    assert lines[-1].startswith("no report: index.html")
    assert "somebody else" in (folder / "index.html").read_text()
    (folder / "index.html").unlink()
    session, _ = made(task=["maze"], rollouts=2, report=str(folder))
    stale = folder / "data" / "rollouts-00007.js"
    stale.write_bytes((folder / "data" / "rollouts-00000.js").read_bytes())
    note = stale.with_name("note.js")
    note.write_text("read this one again")
    session, _ = made(task=["maze"], rollouts=1, report=str(folder))
    assert not stale.exists()
    assert note.exists()
    note.unlink()
    check(session)


def test_tables_are_aligned() -> None:
    lines = list(text.table(("name", "n"), [("a", "1"), ("longer", "100")], 1))
    assert lines == ["name      n", "------  ---", "a         1", "longer  100"]
    assert text.number(-0.0001) == "0.00"


def test_numbers_of_the_page_are_those_of_the_summary(made: Made) -> None:
    session, lines = made(rollouts=8, model=["sim/weak", "sim/strong"], pair=["sim/weak,sim/strong"], turn_cap=8)
    summary, source = summary_of(session), (session.settings.report / "tax.html").read_text()
    words = check(session)["tax.html"].words
    read = [line for line in summary.lines if not line.aside]
    assert {line.model for line in read} == {"sim/weak", "sim/strong"}
    for estimate in [e for line in read for e in (line.tax, line.ratio)]:
        assert re.search(r"\[.*\]", text.interval(estimate))
        told = re.escape(f'<td class="n" title="{estimate.method}">{text.interval(estimate)}')
        assert re.search(told + r'(<b class="star">\*</b>)?</td>', source)
    for pair, seats in summary.pairs:
        assert pair.tasks
        for estimate in (pair.v1, pair.v2, pair.v12, pair.tax, pair.phi1, pair.phi2):
            assert text.interval(estimate).replace(" ", "", 1) in words
        assert text.interval(seats, "+").replace(" ", "", 1) in words
        assert text.verdict(pair) in words
    assert summary.counts.line in words
    assert summary.hint in lines
    assert re.fullmatch(r"on one task 8 \D+ \+-0\.\d\d \(95 %\); 32 to within \+-0\.\d\d", summary.hint)
    assert summary.hint.replace("+-", "±") in words
    assert summary.caveat.startswith("with one task an interval is over its seeds only; over few tasks")
    assert summary.caveat in lines
    assert summary.caveat in words


@pytest.mark.parametrize(
    ("tasks", "told"),
    [((), ""), ((8, 32), ""), ((1,), "with one task an"), ((7,), "over few tasks (under eight) an interval speaks")],
)
def test_what_intervals_over_few_tasks_are_about(tasks: tuple[int, ...], told: str) -> None:
    there, none = Estimate(0.5, 0.4, 0.6, 20, 2, ""), Estimate(0.5, None, None, 1, 1, "")
    found = caveat([(n, there) for n in tasks] + [(1, none), (2, none)])
    assert found.startswith(told)
    assert bool(found) == bool(told)


@pytest.mark.parametrize(
    ("tax", "told"),
    [
        ((0.13, 0.03, 0.25), "0.13 [0.03, 0.25] less than its better member; max-superadditivity is violated"),
        ((0.05, -0.02, 0.13), "0.05 [-0.02, 0.13] less than its better member, which may be chance"),
        ((0.05, 0.0, 0.13), "0.05 [0.00, 0.13] less than its better member, which may be chance"),
        ((-0.05, -0.13, 0.02), "0.05 [-0.02, 0.13] more than its better member, which may be chance"),
        ((-0.13, -0.25, -0.03), "0.13 [0.03, 0.25] more than its better member; max-superadditivity holds"),
        ((0.0, 0.0, 0.0), "as much as its better member; max-superadditivity holds"),
        ((0.5, None, None), "0.50 less than its better member; there is no interval, so it may be chance"),
    ],
)
def test_the_verdict_on_a_pair_is_that_of_its_interval(
    tax: tuple[float | None, float | None, float | None], told: str
) -> None:
    some = Estimate(0.5, 0.4, 0.6, 40, 2, "")
    gap = Estimate(*tax, n=40, clusters=2, method="")
    pair = PairRow(("a", "b"), some, some, some, gap, some, some, 1, ("maze", "schedule"), {})
    assert text.verdict(pair) == f"over 2 tasks, 40 seeds in all, the pair scores {told}"


def test_seats_are_compared_on_the_tasks_of_the_pair(made: Made) -> None:
    def fail(row: dict[str, Any]) -> None:
        if row["mode"] == "solo" and row["task"] == "maze":
            row["score"] = 0.1
        elif row["mode"] == "hetero":
            row["score"] = 1.0 if row["task"] == "maze" and row["models"][0] == "sim/weak" else 0.5

    session, _ = made(change=fail, model=[], pair=["sim/weak,sim/strong"], mode=["solo", "hetero"])
    for pair, seats in summary_of(session).pairs:
        assert "maze" not in pair.tasks
        assert pair.tasks
        assert (seats.value, seats.n) == (0.0, 2 * len(pair.tasks))


def test_what_the_page_says_about_rollouts(made: Made) -> None:
    equal, _ = made("a", model=["sim/weak", "sim/strong"], rollouts=3, seed=4, mode=["solo", "homo"])
    words = check(equal)["tax.html"].words
    assert "3 rollouts of each cell, from seed 4 on, the same for every mode and model" in words
    assert "without a partner" not in words
    fewer, _ = made("b", model=["sim/weak", "sim/strong"], rollouts=3, rollouts_of={"sim/weak": 1}, mode=["solo"])
    words = check(fewer)["tax.html"].words
    assert "1 to 3 rollouts of each cell, from seed 0 on" in words
    assert "the same for every" not in words


def test_seeds_without_a_partner_are_told(made: Made) -> None:
    def fail(row: dict[str, Any]) -> None:
        if row["mode"] == "homo" and row["seed"] == 1:
            row |= {"outcome": "infrastructure", "score": None}

    made(task=["maze"], mode=["solo", "homo"], rollouts=3)
    session, _ = made(change=fail, task=["maze"], mode=["solo", "homo"], rollouts=3, record_mode="none")
    assert "1 seed without a partner left out" in check(session)["tax.html"].words


def test_a_team_has_one_name(made: Made) -> None:
    assert label(["a", "b"]) == "a + b"
    assert label(["a", "a"]) == label(["a"]) == "a"
    session, lines = made(model=["sim/weak"], pair=["sim/weak,sim/strong"], task=["maze"], intervention=["no-l1"])
    found = check(session)

    words = found["tax.html"].words.replace(" simulated", "")
    assert all(label(cell.cell.models) in words for cell in summary_of(session).cells)
    effects = lines[next(i for i, line in enumerate(lines) if line.startswith("team")) + 2 :]
    names = {"sim/strong", "sim/strong + sim/weak", "sim/weak", "sim/weak + sim/strong"}
    assert {line.split("  ")[0] for line in effects[:4]} == names


def test_the_command_finds_the_recordings(made: Made) -> None:
    session, _ = made(task=["maze"], mode=["solo"])
    (cell,) = session.settings.cells("tax")
    for folder, told in (("cassettes", ""), ("my tapes/a", " '--cassettes=my tapes/a'")):
        moved = replace(session.settings, cassettes=pages.CHECKOUT / folder)
        assert f"--model=sim/weak{told} --record-mode=none" in pages.command(cell, 0, moved)
    assert all("--cassettes" not in one["command"] for one in browsed(session).values())


def test_a_sweep_shows_the_tax_under_each_setting(made: Made) -> None:
    sweep = ["friction-none,friction-strong,difficulty-easy,no-critic"]
    session, lines = made(model=["sim/medium"], mode=["solo", "homo"], rollouts=4, turn_cap=4, sweep=sweep)
    found = {s.condition: s for s in summary_of(session).swept}
    assert list(found) == ["", "friction-none", "friction-strong", "difficulty-easy", "no-critic"]
    assert found["no-critic"].homo == found[""].homo
    plain = summary_of(session).taxes["sim/medium"].overall
    assert (found[""].tax, found[""].solo) == (plain.tax, plain.solo)
    assert sum("friction-strong" in line for line in lines) == 1
    page = (session.settings.report / "tax.html").read_text()
    assert "difficulty-easy" in page.partition('id="sweeps"')[2].partition("</section>")[0]
    rows = {row["condition"]: row["said"] for row in session.store.rows().values()}
    assert rows["friction-strong"]["friction"] == "strong"
    assert rows["no-critic"]["critic"] is False
    assert rows[""]["friction"] == "natural"
    shown = {address: one for address, one in browsed(session).items() if "maze-homo-" in address}
    assert "each line runs from" in next(str(one["views"]) for a, one in shown.items() if "friction-strong" in a)
    assert "--sweep=friction-strong" in next(one["command"] for a, one in shown.items() if "friction-strong" in a)


def test_a_disk_that_fills_up_leaves_no_half_page(made: Made, monkeypatch: pytest.MonkeyPatch) -> None:
    """A page is the old one or the new one; what is cut off is never taken for somebody else's file afterwards."""
    session, _ = made(rollouts=1)
    whole = (session.settings.report / "style.css").read_bytes()
    (session.settings.report / "style.css").write_bytes(whole + b"/* older */")
    write = Path.write_bytes

    def full(self: Path, data: bytes) -> int:
        write(self, data[: len(data) // 2])
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(Path, "write_bytes", full)
    with pytest.raises(OSError, match="No space"):
        pages.write(summary_of(session), session.settings, session.settings.report)
    monkeypatch.undo()
    assert (session.settings.report / "style.css").read_bytes() == whole + b"/* older */"
    assert not list(session.settings.report.rglob("*.tmp"))
    pages.write(summary_of(session), session.settings, session.settings.report)
    assert (session.settings.report / "style.css").read_bytes() == whole


@dataclass
class Again:
    """A report of the same run somewhere else."""

    settings: Settings


def stored(made: Made, folder: str = "a", change: Any = None, **given: Any) -> Path:
    session, _ = made(folder, change, **given)
    return session.settings.run


def test_the_command_makes_the_report_of_the_run(made: Made, tmp_path: Path) -> None:
    """From stored rows alone: the numbers of the run's own report, and the same rollouts."""
    session, lines = made(
        model=["sim/weak", "sim/strong"], pair=["sim/weak,sim/strong"], intervention=["no-l1"], turn_cap=4
    )
    told = commands.report([session.settings.run], tmp_path / "again")
    assert told[:-1] == lines[:-1]
    again = Again(replace(session.settings, report=tmp_path / "again"))
    assert browsed(again) == browsed(session)
    assert list(check(again)) == ["index.html", "tax.html"]
    numbers = re.compile(r"-?\d+\.\d\d")
    words = [
        [Page((folder / name).read_text()).words for name in ("index.html", "tax.html")]
        for folder in (session.settings.report, tmp_path / "again")
    ]
    assert [numbers.findall(one) for one in words[0]] == [numbers.findall(one) for one in words[1]]


def test_runs_are_put_together(made: Made, tmp_path: Path) -> None:
    first = stored(made, "a", task=["maze"], mode=["solo"])
    second = stored(made, "b", task=["maze"], mode=["homo"])
    told = commands.report([first, second, first], tmp_path / "both")
    assert any(line.startswith("planned 4 = scored 4") for line in told)
    third = stored(made, "c", task=["maze"], mode=["homo"], turn_cap=1)
    with pytest.raises(ValueError, match=r"maze-homo was run with different settings in .*b/run and in .*c/run"):
        commands.report([second, third], tmp_path / "both")
    other = stored(made, "d", lambda row: row.update(score=0.25), task=["maze"], mode=["homo"])
    with pytest.raises(ValueError, match=r"maze seed 0 has one result in .*b/run and another in .*d/run"):
        commands.report([second, other], tmp_path / "both")
    with pytest.raises(ValueError, match=r"no results in .*nothing; give the folder that --run names"):
        commands.report([tmp_path / "nothing"], tmp_path / "both")


def test_grades_under_other_versions_are_kept(made: Made, tmp_path: Path) -> None:
    """Of a run that was graded twice the page shows the grades of most rollouts and how the other ones were."""
    run = stored(made, task=["maze"], mode=["homo"], rollouts=3)
    rows = load(run)
    store = Store(run)
    for row in rows[:2]:
        store.add({**row, "settings": "0" * 12, "score": 0.125, "success": False, "reason": "graded before"})
    store.close()
    told = commands.report([run], tmp_path / "again")
    assert any(line.startswith("planned 3 = scored 3") for line in told)
    shelf = tmp_path / "again" / "data" / "rollouts-00000.js"
    found = json.loads(zlib.decompress(base64.b64decode(shelf.read_text().split('"')[-2])))
    assert [[e["reason"] for e in one.get("earlier", [])] for one in found] == [
        ["graded before"],
        ["graded before"],
        [],
    ]
    assert [one["settings"] for one in found] == [row["settings"] for row in rows]


def test_logs_for_inspect(made: Made, tmp_path: Path) -> None:
    """What Inspect's reader demands of a log (its schema, version 2), and the numbers of the run."""

    def fail(row: dict[str, Any]) -> None:
        if row["mode"] == "homo" and row["seed"] == 1 and row["task"] == "maze":
            row |= {"outcome": "infrastructure", "score": None, "error": "no credit \ud800"}

    run = stored(
        made,
        change=fail,
        model=["sim/weak", "sim/strong"],
        pair=["sim/weak,sim/strong"],
        mode=["solo", "homo", "hetero"],
    )
    rows = load(run)
    paths = inspect_log.write([run], tmp_path / "logs")
    assert len(paths) == len({(r["mode"], tuple(r["models"])) for r in rows}) == 6
    seen = []
    for path in paths:
        stamp, task, name = path.stem.split("_")
        assert re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d-\d\d-\d\d[+-]\d\d-\d\d", stamp)
        log = json.loads(path.read_text())
        assert (log["version"], log["status"]) == (2, "success")
        spec = log["eval"]
        assert {"created", "task", "dataset", "model", "config"} <= set(spec)
        assert (spec["task"], len(name)) == (task, 22)
        samples = log["samples"]
        assert len({s["id"] for s in samples}) == len(samples) == log["results"]["total_samples"]
        mine = {
            f"{r['task']}-{r['seed']}": r
            for r in rows
            if r["mode"] == spec["metadata"]["mode"] and r["models"] == spec["metadata"]["models"]
        }
        assert {s["id"] for s in samples} == set(mine)
        for s in samples:
            row = mine[s["id"]]
            assert {"id", "epoch", "input", "target"} <= set(s)
            assert [m["content"] for m in s["messages"]] == [turn["text"] for turn in row["turns"]]
            assert [m["role"] for m in s["messages"]] == [("assistant", "user")[turn["seat"]] for turn in row["turns"]]
            assert s["output"]["usage"]["input_tokens"] == row["usage"]["prompt"]
            if row["outcome"] == "infrastructure":
                assert s["error"]["message"] == "no credit ?"
                assert s["scores"] is None
            else:
                assert s["scores"]["score"]["value"] == row["score"]
        scores = [r["score"] for r in mine.values() if r["score"] is not None]
        (told,) = log["results"]["scores"]
        assert told["metrics"]["mean"]["value"] == pytest.approx(sum(scores) / len(scores))
        assert told["unscored_samples"] == len(mine) - len(scores)
        seen += samples
    assert len(seen) == len(rows)


def test_inspect_reads_them(made: Made, tmp_path: Path) -> None:
    reader = pytest.importorskip("inspect_ai.log", reason="inspect_ai is not installed; it is no dependency")
    run = stored(made, model=["sim/weak"], mode=["solo", "homo"])
    for path in inspect_log.write([run], tmp_path / "logs"):
        log = reader.read_eval_log(str(path))
        assert log.samples
        assert log.results.scores[0].metrics["mean"].value >= 0
    assert len(reader.list_eval_logs(str(tmp_path / "logs"))) == 2
