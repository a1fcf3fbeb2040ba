"""The rollout browser in a real browser: nothing runs that a model said, filters and search count right, keys work."""

from __future__ import annotations

import json
import os
import re
import shutil
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from collabtax.report import browser
from collabtax.session import Session
from conftest import THREE

playwright = pytest.importorskip("playwright.sync_api", reason="Playwright is not installed")
CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
pytestmark = pytest.mark.skipif(CHROMIUM is None, reason="no Chromium is installed")

ATTACKS = (
    "</script><script>window.broken = 1</script>",
    "</textarea><img src=x onerror='window.broken = 2'><svg onload='window.broken = 3'>",
    "<a href=\"javascript:window.broken = 4\" onmouseover='window.broken = 5'>click</a>",
    "\u202egnp.exe \u2066isolated \u200bhidden \ufeff",
    "\x1b[31mred\x1b[0m \x00 \x08 \x9b",
    "lone \ud800 and \udfff",
    "line\u2028separator\u2029paragraph",
    '"); alert(1); collabtax("x", "',
    "*/ window.broken = 6 /*",
    "A" * 1_000_000,
)


def play(folder: Path, **given: Any) -> tuple[Session, list[dict[str, Any]]]:
    """A run of simulated models: its session and what is stored."""

    def played() -> tuple[Session, list[dict[str, Any]]]:
        chosen = {"model": ["sim/weak", "sim/strong"], "task": THREE, "rollouts": 4, "turn_cap": 6, "run": "run"}
        session = Session({**chosen, **given}, folder)
        for cell in session.settings.cells("tax"):
            session.run_cell(cell, lambda rollout: None)
        session.close()
        return session, list(session.store.rows().values())

    with ThreadPoolExecutor(1) as thread:  # Playwright's own event loop runs in this one
        return thread.submit(played).result()


@pytest.fixture(scope="module")
def chromium() -> Iterator[Any]:
    with playwright.sync_playwright() as driver:
        opened = driver.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox", "--disable-gpu"])
        yield opened
        opened.close()


@pytest.fixture(scope="module")
def shown(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, list[dict[str, Any]]]:
    """A report's folder, and its rows in the order of the page."""
    folder = tmp_path_factory.mktemp("shown")
    session, rows = play(folder)
    browser.write(rows, folder / "report", session.settings)
    return folder / "report", rows


@pytest.fixture
def page(chromium: Any) -> Iterator[Any]:
    """A page of which every message in the console is a failure."""
    said: list[str] = []
    opened = chromium.new_page(viewport={"width": 1280, "height": 900})
    opened.set_default_timeout(20_000)
    opened.on("console", lambda message: said.append(message.text))
    opened.on("pageerror", lambda error: said.append(str(error)))
    opened.on(
        "request", lambda request: None if request.url.startswith(("file:", "data:")) else said.append(request.url)
    )
    opened.on("dialog", lambda dialog: said.append(dialog.message))
    yield opened
    opened.close()
    assert not said


def visit(page: Any, folder: Path, address: str = "") -> None:
    page.goto("about:blank")
    page.goto(f"{(folder / 'rollouts.html').as_uri()}{address}")
    page.wait_for_selector("body[data-ready]")


def until(page: Any, condition: str) -> None:
    """Wait for it. Playwright's own waiting evaluates text, which the page's policy forbids."""
    for _ in range(200):
        if page.evaluate(condition):
            return
        page.wait_for_timeout(50)
    raise AssertionError(f"never came true: {condition}")


def count(page: Any) -> int:
    """How many rollouts the page says that it lists."""
    return int(re.match(r"[\d,]+", page.text_content("#state"))[0].replace(",", ""))  # type: ignore[index]


def address(row: dict[str, Any]) -> str:
    return f"#tax/{browser.cell_of(row).id}/{row['seed']}"


def test_filters_count_what_is_there(page: Any, shown: tuple[Path, list[dict[str, Any]]]) -> None:
    """Every count beside a value is that of a plain loop over the rows, also once other filters are set."""
    folder, rows = shown

    def counts() -> dict[str, dict[str, int]]:
        found: dict[str, dict[str, int]] = page.evaluate(
            "Object.fromEntries(facets.filter(f => !f.hidden).map(f => [f.name, Object.fromEntries("
            "f.lines.map(l => [l.whole.querySelector('bdi').textContent, Number(l.told.textContent)]))]))"
        )
        return found

    values = {
        "task": lambda r: [r["task"]], "mode": lambda r: [r["mode"]], "condition": lambda r: [r["condition"] or "none"],
        "model": lambda r: sorted(set(r["models"])), "outcome": lambda r: [browser.outcome(r)],
        "reading": lambda r: [r["warning"].replace("_", " ")],
    }  # fmt: skip

    def by_hand(chosen: dict[str, set[str]]) -> dict[str, Counter[str]]:
        return {
            name: Counter(
                value for row in rows
                if all(set(values[o](row)) & picked for o, picked in chosen.items() if o != name)
                for value in of(row)
            ) for name, of in values.items()
        }  # fmt: skip

    visit(page, folder)
    assert count(page) == len(rows)
    for chosen in ({}, {"mode": {"homo"}}, {"mode": {"homo", "solo"}, "outcome": {"success"}}, {"model": {"sim/weak"}}):
        visit(page, folder, "#?" + "&".join(f"{name}={v}" for name, picked in chosen.items() for v in sorted(picked)))
        told = counts()
        for name, expected in by_hand(chosen).items():
            if name in told:
                assert {k: n for k, n in told[name].items() if n} == dict(expected), (chosen, name)
        passing = [r for r in rows if all(set(values[o](r)) & picked for o, picked in chosen.items())]
        assert count(page) == len(passing)
    visit(page, folder)
    page.locator("#facets label").filter(has_text=re.compile(r"^\s*homo\s")).click()
    page.locator("#facets label").filter(has_text=re.compile(r"^\s*sim/weak\s")).click()
    assert count(page) == sum(r["mode"] == "homo" and "sim/weak" in r["models"] for r in rows)
    assert "mode=homo" in page.url
    page.click("#clear")
    assert count(page) == len(rows)


@pytest.mark.parametrize(
    "query", ["final answer", '"final answer:"', "FINAL", '"(0, 1), (0,"', "no such words", "parent"]
)
def test_search_finds_what_was_said(page: Any, shown: tuple[Path, list[dict[str, Any]]], query: str) -> None:
    folder, rows = shown
    words = [query.strip('"')] if query.startswith('"') else query.split()
    said = ["\n".join(turn["text"] for turn in row["turns"]).lower() for row in rows]
    expected = sum(all(word.lower() in text for word in words) for text in said)
    visit(page, folder)
    page.keyboard.press("/")
    assert page.evaluate("document.activeElement.id") == "query"
    page.fill("#query", query)
    until(page, "document.getElementById('found').textContent.endsWith('say so')")
    assert count(page) == expected
    assert expected or query == "no such words"
    page.reload()  # the search is in the address
    page.wait_for_selector("body[data-ready]")
    assert count(page) == expected


def test_every_file_is_searched(page: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """With many small files: each word is found exactly where it is, and each rollout opens."""
    monkeypatch.setattr(browser, "BLOCK", 5)
    monkeypatch.setattr(browser.Shelf.__init__, "__defaults__", (3000,))
    session, rows = play(tmp_path, task=["maze"], rollouts=3)
    for i, row in enumerate(rows):
        row["turns"][0]["text"] += f" token{i}end"
    browser.write(rows, tmp_path / "report", session.settings)
    assert len(list((tmp_path / "report" / "data").glob("index-*.js"))) == -(-len(rows) // 5)
    assert len(list((tmp_path / "report" / "data").glob("rollouts-*.js"))) > 5
    visit(page, tmp_path / "report")
    for i in range(0, len(rows), 4):
        page.evaluate(f"document.getElementById('query').value = 'token{i}end'")
        found = page.evaluate("search().then(() => shown)")
        assert found == [i]
        visit(page, tmp_path / "report", address(rows[i]))
        assert f"token{i}end" in page.text_content("#dialogue")
        assert page.text_content("h1").endswith(f"seed {rows[i]['seed']}")


def test_sorting_and_keys(page: Any, shown: tuple[Path, list[dict[str, Any]]]) -> None:
    folder, rows = shown
    visit(page, folder, "#?mode=homo")
    homo = [row for row in rows if row["mode"] == "homo"]
    page.get_by_role("button", name="score").click()
    assert page.evaluate("shown.map(i => columns.score[i])") == sorted(round(r["score"], 4) for r in homo)
    page.get_by_role("button", name="score").click()
    ordered = page.evaluate("shown.map(i => columns.score[i])")
    assert ordered == sorted(ordered, reverse=True)
    page.focus("#grid")
    for key in ("ArrowDown", "ArrowDown", "ArrowUp", "End", "ArrowDown", "Home", "ArrowDown"):
        page.keyboard.press(key)
    assert page.evaluate("active") == 1
    assert page.get_attribute("#grid", "aria-activedescendant") == "line1"
    page.keyboard.press("Enter")
    page.wait_for_selector("#dialogue")
    second = page.evaluate("shown[1]")
    assert page.evaluate("open") == second
    assert page.evaluate("document.activeElement.id") == "heading"
    page.keyboard.press("ArrowRight")
    until(page, f"open === {page.evaluate('shown[2]')}")
    page.keyboard.press("ArrowLeft")
    until(page, f"open === {second}")
    page.keyboard.press("Escape")
    page.wait_for_selector("#list:not([hidden])")
    assert page.evaluate("[active, shown.length, sorting]") == [1, len(homo), "-score"]
    page.go_back()  # the rollout again, by the browser's own button
    until(page, f"open === {second}")


def test_a_rollout_has_everything(page: Any, shown: tuple[Path, list[dict[str, Any]]]) -> None:
    from collabtax.tax.protocols import told
    from collabtax.tax.study import cached_problem
    from tasks import get_task

    folder, rows = shown
    row = next(r for r in rows if r["mode"] == "homo" and r["task"] == "relaquery" and not r["success"])
    visit(page, folder, address(row))
    problem = cached_problem(get_task("relaquery"), row["seed"], "default", "natural")
    views = [told(get_task("relaquery"), problem, seat) for seat in (0, 1)]
    assert page.locator("#views .view pre").all_text_contents() == views
    assert page.locator("#dialogue .turn > pre").all_text_contents() == [turn["text"] for turn in row["turns"]]
    lanes = [
        re.search(r"lane(\d)", c)[1]
        for c in page.locator("#dialogue .turn").evaluate_all("all => all.map(e => e.className)")
    ]  # type: ignore[index]
    assert lanes == [str(turn["seat"]) for turn in row["turns"]]
    left, right = (page.locator(f"#dialogue .lane{seat}").first.bounding_box() for seat in (0, 1))
    assert left["x"] + left["width"] <= right["x"]
    picture = page.locator(".drawing img")
    assert picture.evaluate("e => e.decode().then(() => e.naturalWidth)") > 50
    assert f"-k '[{browser.cell_of(row).id}]' --seed={row['seed']}" in page.text_content(".command")
    assert row["settings"] in page.text_content("#history")
    marks = page.locator("#dialogue mark.view0, #dialogue mark.view1")
    for i in range(marks.count()):  # a marked line stands in the view that is named, and in no other
        line, view = marks.nth(i).text_content(), int(marks.nth(i).get_attribute("class")[-1])
        holders = [n for n, text in enumerate(views) if any(line in one for one in text.split("\n"))]
        assert holders == [view]
    untold = [
        line for line in views[0].split("\n") if line not in views[1] and any(line in t["text"] for t in row["turns"])
    ]
    assert page.locator("#views mark.view0").count() == len(untold) > 0


def test_verdicts_and_earlier_grades(page: Any, tmp_path: Path) -> None:
    from collabtax.cascade.judgements import Judge, file_of, line_of
    from collabtax.cascade.rules import judge
    from collabtax.cascade.stages import Dialogue

    session, rows = play(tmp_path, task=["maze"], mode=["homo"], rollouts=6)
    verdicts = [judge(Dialogue.of(row)) for row in rows]
    path = file_of(session.settings.run, "rules")
    path.parent.mkdir(parents=True)
    lines = [line_of(row, Judge("rules"), made) for row, made in zip(rows, verdicts, strict=True)]
    lines[-1]["said"] = "other words"
    path.write_text("".join(json.dumps(line) + "\n" for line in lines))
    older = {**rows[0], "settings": "0" * 12, "score": 0.125, "reason": "graded by hand"}
    browser.write(rows, tmp_path / "report", session.settings, earlier={browser.rollout_of(rows[0]): [older]})
    visit(page, tmp_path / "report")
    assert {made.verdicts["l4"] for made in verdicts} >= {True, False}
    for stage in ("l1", "l2", "l3", "l4"):
        expected = [i for i, made in enumerate(verdicts[:-1]) if made.verdicts[stage] is False]
        for f in page.query_selector_all("#facets label"):
            if f.text_content().strip().startswith(stage) and expected:
                f.click()
                assert page.evaluate("shown") == expected
                f.click()
    visit(page, tmp_path / "report", address(rows[0]))
    assert page.locator("#verdicts tbody tr").count() == 4
    assert "graded by hand" in page.text_content("#history")
    assert "0.13" in page.text_content("#history")
    visit(page, tmp_path / "report", address(rows[-1]))
    assert page.locator("#verdicts").count() == 0


def test_nothing_that_a_model_said_gets_out(page: Any, tmp_path: Path) -> None:
    session, rows = play(tmp_path, task=["maze"], mode=["homo"], rollouts=6, model=["sim/weak"])
    for i, attack in enumerate(ATTACKS):
        row = rows[i % len(rows)]
        row |= {"reason": attack, "error": attack, "evidence": attack, "answer": {attack[:50]: attack}}
        row |= {"termination": attack[:60], "warning": attack[:60], "usage": {"<b>": 1, "prompt": 2}}
        row["turns"] = [*row["turns"], {"seat": 1, "text": attack, "finish": attack[:60], "usage": {}, "seconds": 0.0}]
    rows = [json.loads(json.dumps(row)) for row in rows]  # as they are stored
    browser.write(rows, tmp_path / "report", session.settings)
    visit(page, tmp_path / "report")
    assert count(page) == len(rows)
    allowed = {"index", "rollouts", "texts", "manifest"}
    for row in rows:
        visit(page, tmp_path / "report", address(row))
        page.wait_for_selector("#dialogue")
        more = page.locator("#dialogue button:has-text('show all')")
        for _ in range(more.count()):
            more.first.click()
        said = page.locator("#dialogue .turn > pre").all_text_contents()
        assert said == [browser.visible(turn["text"]) for turn in row["turns"]]
        assert page.evaluate("window.broken") is None
        assert page.locator("main script, main svg, main iframe, main a[href^=javascript]").count() == 0
        assert page.evaluate("document.scripts.length") == 1
        assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
        assert page.locator("h1").bounding_box()["y"] < 200
    assert {p.name.split("-")[0] for p in (tmp_path / "report" / "data").iterdir()} == allowed


def test_the_policy_holds(chromium: Any, shown: tuple[Path, list[dict[str, Any]]]) -> None:
    """Even a script in the page's own data cannot add markup, evaluate text, or reach a network."""
    opened = chromium.new_page()
    opened.goto((shown[0] / "rollouts.html").as_uri())
    opened.wait_for_selector("body[data-ready]")
    refused = """async code => {
        const made = document.createElement("script");
        try { await ({
            markup: () => { document.body.innerHTML = "<p>"; },
            text: () => { setTimeout("1"); },
            script: () => { made.src = "data:text/javascript,1"; },
            data: () => { addresses.createScriptURL("../elsewhere-00000"); },
            net: () => fetch("http://127.0.0.1:9/"),
        })[code](); } catch (problem) { return problem.name; }
        return "";
    }"""
    for code in ("markup", "text", "script", "data", "net"):
        assert opened.evaluate(refused, code), code
    opened.close()


@pytest.mark.parametrize("width", [1280, 390])
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_fits_and_reads(chromium: Any, shown: tuple[Path, list[dict[str, Any]]], width: int, scheme: str) -> None:
    """Nothing is wider than the window; where axe-core is at hand, it finds no fault."""
    folder, rows = shown
    given = {"viewport": {"width": width, "height": 844}, "color_scheme": scheme}
    axe = Path(os.environ.get("COLLABTAX_AXE", "node_modules/axe-core/axe.min.js"))
    context = chromium.new_context(**given, bypass_csp=axe.exists())
    opened = context.new_page()
    for where in ("", address(next(r for r in rows if r["mode"] == "homo"))):
        visit(opened, folder, where)
        assert opened.evaluate("document.documentElement.scrollWidth <= innerWidth")
        if axe.exists():
            opened.evaluate(axe.read_text(encoding="utf-8"))
            faults = opened.evaluate(
                "axe.run({resultTypes: ['violations']}).then(r => r.violations.map(v => [v.id, v.nodes[0].html]))"
            )
            assert not faults
    dark = opened.evaluate("getComputedStyle(document.body).backgroundColor")
    assert (dark == "rgb(20, 23, 28)") is (scheme == "dark")
    context.close()
    if not axe.exists():
        pytest.skip("axe-core is not at hand: `npm install --no-save axe-core`, or name axe.min.js in COLLABTAX_AXE")


def test_missing_data_is_said(page: Any, shown: tuple[Path, list[dict[str, Any]]], tmp_path: Path) -> None:
    shutil.copytree(shown[0], tmp_path / "report")
    (tmp_path / "report" / "data" / "texts-00000.js").write_text("/* cut off */\n")
    visit(page, tmp_path / "report", address(next(r for r in shown[1] if r["mode"] == "homo")))
    assert page.text_content("#rollout") == "texts-00000 holds nothing"
    visit(page, tmp_path / "report", "#tax/no-such-cell/0")
    assert "no rollout has the address" in page.text_content("#found")


def test_equal_rows_make_equal_bytes(shown: tuple[Path, list[dict[str, Any]]], tmp_path: Path) -> None:
    session, rows = play(tmp_path)
    browser.write(iter(rows), tmp_path / "again", session.settings)
    first, second = (
        {str(p.relative_to(f)): p.read_bytes() for p in f.rglob("*") if p.is_file()}
        for f in (shown[0], tmp_path / "again")
    )
    assert first == second
    assert str(tmp_path).encode() not in b"".join(second.values())
