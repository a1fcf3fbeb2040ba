"""The report of several studies: one first page for all of them, the same from a session and from stored rows."""

from __future__ import annotations

import csv
import json
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest
from test_report import Page

from collabtax.cells import Cell
from collabtax.progress import Tally
from collabtax.report import commands, finish, overview
from collabtax.report.pages import doubts, ends, headline, is_known
from collabtax.report.summary import summarise
from collabtax.session import Session
from collabtax.settings import settings
from collabtax.statistics import Estimate
from collabtax.study import Number, Told

ROOT = Path(__file__).resolve().parents[1]
TABLE = """
[tool.collabtax]
study = ["tax", "swap", "coop"]
model = ["sim/weak", "sim/strong"]
pair = ["sim/weak,sim/strong"]
intervention = ["all-four"]
task = ["maze", "relaquery", "schedule"]
rollouts = 2
turn_cap = 4

[tool.collabtax.swap]
model = ["sim/mate"]
pair = []
task = ["kitchen-l1"]
episodes = 1

[tool.collabtax.coop]
model = ["sim/crew"]
pair = []
task = ["cube"]
condition = ["repair"]
mode = ["individual"]
turn_cap = 20
"""
FIRSTS = {"index.html", "tax.html", "swap.html", "coop.html", "rollouts.html"}


class Run:
    """A session of all three studies that has ended: what the terminal said, and where its report is."""

    def __init__(self, folder: Path) -> None:
        (folder / "pyproject.toml").write_text(TABLE)
        session = Session({"run": "run", "markdown": str(folder / "summary.md")}, folder)
        cells = [cell for study in session.settings.study for cell in session.settings.cells(study)]
        tally = Tally()
        for cell in cells:
            assert session.run_cell(cell, lambda rollout, name=cell.id: tally.count(name, rollout)) == []  # type: ignore[misc]
        self.lines, _ = finish(session, cells, tally)
        self.settings, self.markdown = session.settings, (folder / "summary.md").read_text()
        self.rows = list(session.store.rows().values())
        session.close()

    @property
    def report(self) -> Path:
        return self.settings.report


@pytest.fixture(scope="module")
def three(tmp_path_factory: pytest.TempPathFactory) -> Run:
    folder = tmp_path_factory.mktemp("three")
    with ThreadPoolExecutor(1) as thread:  # an event loop of Playwright may be in this one
        return thread.submit(Run, folder).result()


def files(folder: Path) -> dict[str, bytes]:
    return {str(p.relative_to(folder)): p.read_bytes() for p in sorted(folder.rglob("*")) if p.is_file()}


def words(path: Path) -> str:
    return " ".join(Page(path.read_text()).words.split())


def test_one_first_page_for_all_studies(three: Run) -> None:
    assert {p.name for p in three.report.glob("*.html")} == FIRSTS
    said = words(three.report / "index.html")
    page = Page((three.report / "index.html").read_text())
    for study, title in (("tax", "Collaboration tax"), ("swap", "One-seat swap"), ("coop", "Cooperative constraints")):
        own = [row for row in three.rows if row["study"] == study]
        assert f"All tables and figures: {title.lower()} Its {len(own)} rollouts" in said
        assert {f"{study}.html", f"rollouts.html#?study={study}"} <= set(page.links)
        assert "index.html" in Page((three.report / f"{study}.html").read_text()).links
    assert f"{len(three.rows)} rollouts in" in said
    assert "of 4 models in 3 studies" in said
    tokens = sum(row["usage"]["prompt"] for row in three.rows), sum(row["usage"]["completion"] for row in three.rows)
    assert f"{tokens[0]:,} prompt and {tokens[1]:,} completion tokens · cost $0.0000" in said
    assert re.search(r"recorded on \d{4}-\d\d-\d\d ·", said)
    assert said.count("a scripted policy, no language model") == 4
    assert len(re.findall(r"<article class=\"card\">", (three.report / "index.html").read_text())) == 9


def test_links_of_all_first_pages_lead_somewhere(three: Run) -> None:
    for name in FIRSTS - {"rollouts.html"}:
        for link in Page((three.report / name).read_text()).links:
            assert (three.report / link.partition("#")[0]).exists(), (name, link)


def test_the_command_makes_the_same_report(three: Run, tmp_path: Path) -> None:
    """From stored rows: same pages of every study, but for what only a session knows (its plan, its recordings)."""
    told = commands.report([three.settings.run], tmp_path / "again")
    assert told[:-1] == three.lines[:-1]
    before, after = files(three.report), files(tmp_path / "again")
    assert set(after) == set(before)
    numbers = re.compile(r"-?\d+\.\d\d")
    for name in FIRSTS - {"rollouts.html"}:
        assert numbers.findall(words(three.report / name)) == numbers.findall(words(tmp_path / "again" / name)), name
    same = [n for n in before if n.startswith(("figures/", "coop/")) and not n.endswith(".html")]
    assert len(same) > 10
    assert {n: before[n] for n in same} == {n: after[n] for n in same}


def test_commands_on_the_pages_are_of_their_study(three: Run, tmp_path: Path) -> None:
    """Settings that differ by study stay with it: a dialogue's cap is no limit of an episode."""
    held = commands.Held([three.settings.run])
    found = commands.settings_of(held, three.settings.run, tmp_path)
    assert found.study == ("tax", "swap", "coop")
    assert found.parts("tax")[0].turn_cap == 4
    assert found.parts("swap")[0].episodes == 1
    for study in found.study:
        assert found.parts(study)[0].study == (study,)
        assert set(found.parts(study)[0].model) <= set(found.models)


def test_equal_results_make_equal_bytes(three: Run, tmp_path: Path) -> None:
    for name in ("a", "b"):
        commands.report([three.settings.run], tmp_path / name)
    assert files(tmp_path / "a") == files(tmp_path / "b")


def test_figures_as_files(three: Run, tmp_path: Path) -> None:
    folder = three.report / "figures" / "tax"
    kinds = {p.suffix for p in folder.iterdir()}
    assert kinds == {".svg", ".csv", ".txt"}
    names = {p.stem for p in folder.glob("*.svg")}
    assert names == {p.stem for p in folder.glob("*.csv")} == {
        "landscape", "task-gaps", "pair-map", "additive-null", "interventions",
    }  # fmt: skip
    page = (three.report / "tax.html").read_text()
    for name in names:
        ElementTree.parse(folder / f"{name}.svg")
        assert f'id="chart-{name}"' in page
        assert f'href="figures/tax/{name}.svg"' in page
    with (folder / "landscape.csv").open(newline="") as file:
        rows = list(csv.DictReader(file))
    held = commands.Held([three.settings.run]).results()
    summary = summarise((c, rows_of) for c, rows_of in held.items() if c.study == "tax")
    told = {(line.model, line.scope): line.ratio.value for line in summary.lines}
    assert {(r["model"], r["family"]): float(r["ratio gap"]) if r["ratio gap"] else None for r in rows} == told
    commands.report([three.settings.run], tmp_path / "all", commands.kinds_of("pdf"))
    assert {p.suffix for p in (tmp_path / "all/figures/tax").iterdir()} == {".svg", ".csv", ".pdf", ".txt"}
    assert (tmp_path / "all/figures/tax/landscape.pdf").read_bytes().startswith(b"%PDF")


@pytest.mark.parametrize(
    ("given", "kinds"),
    [("svg,csv", ("svg", "csv")), ("pdf", ("svg", "pdf", "csv")), ("parquet, csv", ("svg", "csv", "parquet"))],
)
def test_kinds_of_figures(given: str, kinds: tuple[str, ...]) -> None:
    assert commands.kinds_of(given) == kinds


def test_an_unknown_kind_of_figure_gets_one_line() -> None:
    with pytest.raises(ValueError, match=r"--figures 'png' is no kind of file; choose of svg, pdf, csv, parquet"):
        commands.kinds_of("svg,png")


def test_a_study_that_is_gone_takes_its_page_along(three: Run, tmp_path: Path) -> None:
    folder = tmp_path / "report"
    commands.report([three.settings.run], folder)
    (folder / "notes.html").write_text("mine")
    held = commands.Held([three.settings.run])
    own = settings({"model": ["sim/weak"], "run": str(three.settings.run)}, ROOT)
    results = [(c, rows) for c, rows in held.results().items() if c.study == "coop"]
    from collabtax.study import get_study

    own = replace(own, models=three.settings.models)
    overview.write([overview.Part(get_study("coop").told(results, own), results)], own, folder, {})
    assert {p.name for p in folder.glob("*.html")} == {"index.html", "coop.html", "rollouts.html", "notes.html"}


# --- what it says


class Said(Told):
    """A study that says what it is given."""

    name, title = "tax", "a study"

    def __init__(self, numbers: list[Number], warnings: list[str]) -> None:
        self.numbers, self.said = numbers, warnings

    def headline(self) -> list[Number]:
        return self.numbers

    def warnings(self) -> list[str]:
        return self.said

    def lines(self, unplayed: Mapping[str, int]) -> list[str]:
        return [f"unplayed {sum(unplayed.values())}"]

    def markdown(self, compared: Any) -> list[str]:
        return []

    def write(self, folder: Path, pages: Mapping[str, str]) -> None:
        folder.mkdir(parents=True, exist_ok=True)
        (folder / "tax.html").write_text('<meta name="generator" content="collabtax-report">')


def first_page(folder: Path, told: Told, rows: dict[int, Any], unplayed: Mapping[str, int] | None = None) -> str:
    cell = Cell("tax", "maze", "spatial", "solo", ("sim/weak",), "")
    own = settings({"model": ["sim/weak"], "run": str(folder / "run"), "cassettes": str(folder / "none")}, ROOT)
    overview.write([overview.Part(told, [(cell, rows)])], own, folder / "report", unplayed or {})
    return (folder / "report" / "index.html").read_text()


def row(outcome: str, cost: float | None = 0.5) -> dict[str, Any]:
    return {"outcome": outcome, "usage": {"prompt": 1000, "completion": 10}, "cost": cost}


def test_amounts_by_hand() -> None:
    cell = Cell("tax", "maze", "spatial", "solo", ("m",), "")
    rows = {0: row("scored"), 1: row("infrastructure", None), 2: None, 3: row("unreadable"), 4: row("no_answer", 0.25)}
    found = overview.amount([(cell, rows), (replace(cell, mode="homo"), {0: None})])  # type: ignore[arg-type]
    assert (found.cells, found.planned, found.prompt, found.completion) == (2, 6, 4000, 40)
    assert found.outcomes == {"scored": 1, "infrastructure": 1, "skipped": 2, "unreadable": 1, "no_answer": 1}
    assert found.price == "$1.2500 and unknown for 1"
    assert overview.amount([(cell, {0: row("scored", None)})]).price == "unknown"


def test_warnings_are_told_and_long_lists_folded(tmp_path: Path) -> None:
    page = first_page(tmp_path, Said([], [f"doubt {i}" for i in range(6)]), {0: row("scored")}, {"c1": 3, "c2": 1})
    said = " ".join(Page(page).words.split())
    assert "4 recordings in 2 cells were not asked for: c1 3, c2 1." in said
    assert said.count("Warning") == 7
    assert "2 more warnings" in said
    assert page.index("doubt 3") < page.index("<details>") < page.index("doubt 4")
    assert "No number can be told from these rollouts." in said


def test_three_numbers_at_most_and_hostile_ones_stay_text(tmp_path: Path) -> None:
    attack = "<script>alert(1)</script>\u202e"
    numbers = [Number(f"{attack} {i}", "-0.5", "-1 to -0.2" if i else "", attack) for i in range(5)]
    page = first_page(tmp_path, Said(numbers, [attack]), {0: row("scored")}, {attack: 1})
    said = " ".join(Page(page).words.split())
    assert page.count('<article class="card">') == 3
    assert "<script" not in page
    assert "\u202e" not in page
    assert "⟨U+202E⟩ 2" in said
    assert "−0.5" in said
    assert said.count("95 % interval −1 to −0.2") == 2
    assert said.count("no interval") == 1


def test_what_the_terminal_says_of_several_studies() -> None:
    one, other = (overview.Part(Said([], []), []) for _ in range(2))
    assert overview.lines([one], {"a": 2}) == ["unplayed 2"]
    assert overview.lines([one, other], {"a": 2}) == ["== a study ==", "unplayed 0", "== a study ==", "unplayed 2"]


def scored(task: str, mode: str, models: tuple[str, ...], scores: list[float]) -> tuple[Cell, dict[int, Any]]:
    family = {"maze": "spatial", "relaquery": "relational", "schedule": "csp"}[task]
    cell = Cell("tax", task, family, mode, models, "")
    return cell, {
        seed: {
            "outcome": "scored", "score": s, "warning": "clean", "usage": {}, "cost": 0.0, "seed": seed, "second": None,
            "said": {},
        }
        for seed, s in enumerate(scores)
    }  # fmt: skip


def study(**homo: list[float]) -> Any:
    """Models that solve all alone, with given means of their teams by task."""
    tasks = ("maze", "relaquery", "schedule")
    return summarise(
        cell for model, means in homo.items() for task, mean in zip(tasks, means, strict=True)
        for cell in (scored(task, "solo", (model,), [1.0, 1.0]), scored(task, "homo", (model, model), [mean, mean]))
    )  # fmt: skip


def test_headline_of_the_tax_by_hand() -> None:
    """Taxes 0.5, 0.6, 0.4 of model a: mean 0.5, t interval 0.5 +- 4.303 * 0.1 / sqrt(3)."""
    one = headline(study(a=[0.5, 0.4, 0.6]))
    assert [(n.label, n.value) for n in one] == [
        ("tax: a", "0.50"), ("tax on relational tasks, the costliest family: a", "0.60"),
    ]  # fmt: skip
    assert one[0].interval == "0.25 to 0.75"
    assert one[0].sentence == (
        "One agent that sees everything scores 1.00, two that each see one view score 0.50: talking costs 50 % of what "
        "it can do."
    )
    two = headline(study(a=[0.5, 0.4, 0.6], b=[1.0, 0.4, 1.0], c=[0.9, 0.9, 0.9]))
    assert [(n.label, n.value) for n in two] == [("largest tax: a", "0.50"), ("smallest tax: c", "0.10")]
    assert headline(study(b=[1.0, 0.4, 1.0]))[0].sentence.endswith("it can do; this may be chance.")


def test_doubts_of_the_tax() -> None:
    assert doubts(study(a=[0.5, 0.4, 0.6])) == []
    (said,) = doubts(study(a=[0.5, 0.4, 0.6], b=[1.0, 0.4, 1.0]))
    assert said == "too few rollouts or tasks to say whether b pays a tax at all"
    assert doubts(study(a=[1.0, 1.0, 1.0])) == [], "a tax of 0 on every seed is known"


@pytest.mark.parametrize(
    ("low", "high", "known"),
    [
        (0.1, 0.2, True),
        (-0.2, -0.1, True),
        (-0.1, 0.1, False),
        (0.0, 0.2, False),
        (0.0, 0.0, True),
        (None, None, False),
    ],
)
def test_what_is_known(low: float | None, high: float | None, known: bool) -> None:
    estimate = Estimate(0.0, low, high, 3, 3, "")
    assert is_known(estimate) == known
    assert ends(estimate) == ("" if low is None else f"{low:.2f} to {high:.2f}")


def test_every_study_has_numbers_with_sentences(three: Run) -> None:
    from collabtax.study import get_study

    held, found = commands.Held([three.settings.run]).results(), {}
    for name in ("tax", "swap", "coop"):
        results = [(c, rows) for c, rows in held.items() if c.study == name]
        told = get_study(name).told(results, three.settings.parts(name)[0])
        found[name] = list(told.headline())
        assert told.question
        assert len(found[name]) >= 3, name
        for number in found[name]:
            assert re.fullmatch(r"[+-]?\d+\.\d\d( %)?", number.value), number
            assert re.fullmatch(r"([+-]?\d+\.\d\d to [+-]?\d+\.\d\d)?", number.interval), number
            assert number.sentence.endswith(".")
        assert name == "tax" or any("tell little" in said for said in told.warnings()), name


# --- where else it is read


def test_markdown_of_three_studies(three: Run) -> None:
    titles = [line for line in three.markdown.splitlines() if line.startswith("## ")]
    assert titles == ["## Collaboration tax", "## One-seat swap", "## Cooperative constraints"]
    assert three.markdown.count("\n| ") > 10


def test_junit_and_step_summary_of_three_studies(tmp_path: Path) -> None:
    """`--junitxml` has a case a cell of every study, and a job's page the summary of each."""
    (tmp_path / "pyproject.toml").write_text(
        TABLE.replace('"relaquery", "schedule"', "")
        .replace('"maze", ', '"maze"')
        .replace("rollouts = 2", "rollouts = 1")
    )
    (tmp_path / "pytest.ini").write_text(f"[pytest]\npythonpath = {ROOT}\n")
    (tmp_path / "conftest.py").write_text('pytest_plugins = ("collabtax.plugin",)\n')
    for study in ("tax", "swap", "coop"):
        shutil.copy(ROOT / "benchmarks" / f"test_{study}.py", tmp_path)
    line = [sys.executable, "-m", "pytest", "-q", "--junitxml=junit.xml", "--run=run", "-p", "no:cacheprovider"]
    env = {**os.environ, "GITHUB_STEP_SUMMARY": str(tmp_path / "step.md"), "PYTHONPATH": str(ROOT)}
    done = subprocess.run(line, cwd=tmp_path, env=env, capture_output=True, text=True, timeout=280)
    assert done.returncode == 0, done.stdout + done.stderr
    cases = ElementTree.parse(tmp_path / "junit.xml").getroot().findall(".//testcase")
    rows = [json.loads(text) for text in (tmp_path / "run" / "results.jsonl").read_text().splitlines()]
    for study in ("tax", "swap", "coop"):
        own = [case for case in cases if case.attrib["classname"] == f"test_{study}"]
        cells = {(r["task"], r["mode"], *r["models"], r["condition"]) for r in rows if r["study"] == study}
        assert len(own) == len(cells) > 0
    assert not [case for case in cases if len(case)], "a failure or an error"
    step = (tmp_path / "step.md").read_text()
    assert re.findall(r"^## .*", step, re.M) == [
        "## Collaboration tax",
        "## One-seat swap",
        "## Cooperative constraints",
    ]
    assert (tmp_path / "run/report/index.html").exists()


# --- in a browser


CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
AXE = next((p for p in (ROOT / "node_modules/axe-core/axe.min.js",) if p.exists()), None)


@pytest.fixture(scope="module")
def chromium(three: Run) -> Iterator[Any]:
    playwright = pytest.importorskip("playwright.sync_api", reason="Playwright is not installed")
    if CHROMIUM is None:
        pytest.skip("no Chromium is installed")
    with playwright.sync_playwright() as driver:
        opened = driver.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox", "--disable-gpu"])
        yield opened
        opened.close()


def opened(chromium: Any, path: Path, width: int, scheme: str, said: list[str]) -> Any:
    page = chromium.new_page(viewport={"width": width, "height": 900}, color_scheme=scheme)
    page.set_default_timeout(60_000)
    page.on("console", lambda message: said.append(message.text))
    page.on("pageerror", lambda error: said.append(str(error)))
    page.on("request", lambda request: None if request.url.startswith(("file:", "data:")) else said.append(request.url))
    page.goto(path.as_uri())
    return page


def shown_pages(three: Run) -> list[Path]:
    """Every first page, and one of each kind that they lead to."""
    more = [next(iter(sorted((three.report / kind).glob("*.html")))) for kind in ("swap", "coop")]
    return [three.report / name for name in sorted(FIRSTS)] + more


@pytest.mark.parametrize(("width", "scheme"), [(1280, "light"), (1280, "dark"), (390, "light"), (390, "dark")])
def test_no_page_complains_or_overflows(chromium: Any, three: Run, width: int, scheme: str) -> None:
    """The policy forbids inline styles and scripts, and whatever breaks it is told in the console."""
    for path in shown_pages(three):
        said: list[str] = []
        page = opened(chromium, path, width, scheme, said)
        page.wait_for_timeout(100)
        assert page.evaluate("document.documentElement.scrollWidth <= innerWidth"), path.name
        assert page.evaluate("getComputedStyle(document.body).maxWidth") != "none", "the styles are there"
        page.close()
        assert not said, path.name


@pytest.mark.parametrize(("width", "scheme"), [(1280, "light"), (1280, "dark"), (390, "light")])
def test_axe_finds_nothing(chromium: Any, three: Run, width: int, scheme: str) -> None:
    """Contrast, landmarks, names and what the keyboard reaches. .ci/run fetches axe; `npm install` does it here."""
    if AXE is None:
        pytest.skip("axe-core is not installed; `npm install --no-save --no-package-lock axe-core@4` does it")
    for path in shown_pages(three):
        if path.name == "rollouts.html":
            continue  # its policy forbids scripts from elsewhere
        page = opened(chromium, path, width, scheme, [])
        if path.name in ("index.html", "tax.html"):
            page.evaluate("document.querySelectorAll('details').forEach(one => { one.open = true; })")
        page.evaluate(AXE.read_text(encoding="utf-8"))
        found = page.evaluate(
            "axe.run(document, {preload: false, runOnly: ['wcag2a', 'wcag2aa', 'wcag21aa', 'best-practice']})"
            ".then(r => r.violations.map(v => v.id + ': ' + v.nodes.map(n => n.html.slice(0, 150)).slice(0, 3)))"
        )
        page.close()
        assert found == [], path.name


def test_the_keyboard_reaches_every_link_and_table(chromium: Any, three: Run) -> None:
    """Tab goes through the first page in the order of reading, with a mark that can be seen, and Enter follows."""
    page = opened(chromium, three.report / "index.html", 1280, "light", [])
    wanted = page.evaluate(
        "[...document.querySelectorAll('a, summary, [tabindex=\"0\"]')].filter(one => one.checkVisibility()).length"
    )
    assert wanted > 15
    reached = []
    for _ in range(wanted):
        page.keyboard.press("Tab")
        reached.append(page.evaluate(
            "(e => [e.getBoundingClientRect().top + scrollY, getComputedStyle(e).outlineStyle])(document.activeElement)"
        ))  # fmt: skip
    assert [top for top, _ in reached] == sorted(top for top, _ in reached)
    assert all(outline != "none" for _, outline in reached)
    page.goto((three.report / "index.html").as_uri())
    page.keyboard.press("Tab")
    page.keyboard.press("Enter")
    page.wait_for_url("**/tax.html")
    page.close()
