"""Size and speed of the report, measured: `python benchmarks/report_size.py`. Prints the table of docs/report.md.

Rows are real ones of the simulated models on all tasks, told again: other models, other seeds, the words of every line
in another order and other digits, so that nothing is alike that would not be. The report is made by a process of its
own. Where Playwright is installed, the pages are opened in the system's Chromium.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))

from perf import line  # noqa: E402

from tasks.base import seeded  # noqa: E402

CELLS = 704
MAKE = """
import sys
from pathlib import Path
from collabtax.report.commands import report
report([Path(sys.argv[1])], Path(sys.argv[2]))
"""


def played(folder: Path) -> list[dict[str, Any]]:
    """Rollouts of two simulated models on all tasks in all modes, three seeds each."""
    from collabtax.session import Session

    given = {"model": ["sim/weak", "sim/strong"], "pair": ["sim/weak,sim/strong"], "rollouts": 3, "turn_cap": 8}
    session = Session({**given, "run": str(folder), "study": ["tax"]}, folder)
    for cell in session.settings.cells("tax"):
        session.run_cell(cell, lambda rollout: None)
    rows = list(session.store.rows().values())
    session.close()
    return rows


def told_again(text: str, rng: Any) -> str:
    """The words of every line in another order, with other digits."""
    lines = []
    for one in text.split("\n"):
        words = one.split(" ")
        rng.shuffle(words)
        lines.append(re.sub(r"\d", lambda found: str(rng.randrange(10)), " ".join(words)))
    return "\n".join(lines)


def rows(base: list[dict[str, Any]], count: int, letters: int) -> Iterator[dict[str, Any]]:
    """`count` rows in CELLS cells; dialogues of at least `letters` characters in the mean of those that talk."""
    by_cell: dict[tuple[Any, ...], list[dict[str, Any]]] = {}
    for row in base:
        by_cell.setdefault((row["task"], row["mode"], *row["models"], row["condition"]), []).append(row)
    cells = [(cell, copy) for copy in range(CELLS // len(by_cell) + 1) for cell in sorted(by_cell)][:CELLS]
    for number, (cell, copy) in enumerate(sorted(cells)):
        for seed in range(count * (number + 1) // CELLS - count * number // CELLS):
            row, rng = dict(by_cell[cell][seed % 3]), seeded("report size", cell, copy, seed)
            turns = list(row["turns"])
            while letters and sum(len(turn["text"]) for turn in turns) < letters:
                turns += row["turns"]
            row["turns"] = [{**turn, "text": told_again(turn["text"], rng)} for turn in turns]
            row["models"] = [f"made/{name.removeprefix('sim/')}-{copy}" for name in row["models"]]
            row["evidence"], row["seed"] = told_again(row["evidence"], rng), seed
            yield row


def made(run: Path, out: Path) -> tuple[float, float, float]:
    """Wall and CPU seconds and peak MiB of a report."""
    start = time.perf_counter()
    process = subprocess.Popen([sys.executable, "-c", MAKE, str(run), str(out)], cwd=ROOT, stdout=subprocess.DEVNULL)
    _, status, usage = os.wait4(process.pid, 0)
    if os.waitstatus_to_exitcode(status):
        raise SystemExit(f"no report of {run}")
    return time.perf_counter() - start, usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 1024


def opened(out: Path) -> None:
    """What a reader waits for."""
    try:
        from playwright.sync_api import sync_playwright
    except ImportError:
        print("Playwright is not installed: pages are not timed")
        return
    with sync_playwright() as driver:
        browser = driver.chromium.launch(executable_path=shutil.which("chromium"), args=["--no-sandbox"])
        page = browser.new_page(viewport={"width": 1280, "height": 900})
        page.goto((out / "tax.html").as_uri())
        page.wait_for_timeout(500)
        painted = "performance.getEntriesByName('first-contentful-paint')[0].startTime"
        line("  page of all cells painted", page.evaluate(painted) / 1000, "s", "at most 2")

        def seconds(what: str, code: str, target: str = "") -> None:
            timed = f"const t = performance.now(); {code}; return (performance.now() - t) / 1000"
            line(f"  {what}", page.evaluate(f"async () => {{ {timed} }}"), "s", target)

        start = time.perf_counter()
        page.goto((out / "rollouts.html").as_uri())
        page.wait_for_selector("body[data-ready]", timeout=120_000)
        line("  rollouts listed", time.perf_counter() - start, "s")
        seconds("a filter, with all counts", "facets.find(f => f.name === 'task').chosen.add(3); update()")
        seconds("sorted by score", "facets.forEach(f => f.chosen.clear()); sorting = '-score'; update()")
        query = "document.getElementById('query').value = "
        seconds("first search, which loads what was said", f"{query}'combining'; await search()")
        seconds("each further search", f"{query}'final answer 7'; await search()", "about 1")
        seconds("a rollout's page", "location.hash = linkTo(shown[5]); await go()")
        browser.close()


def measure(base: list[dict[str, Any]], count: int, letters: int, folder: Path) -> None:
    run, out = folder / "run", folder / "report"
    run.mkdir(parents=True)
    said = 0
    with (run / "results.jsonl").open("w", encoding="utf-8") as file:
        for row in rows(base, count, letters):
            said += sum(len(turn["text"]) for turn in row["turns"])
            file.write(json.dumps(row, ensure_ascii=False) + "\n")
    seconds, cpu, mib = made(run, out)
    size = {p: p.stat().st_size / 1e6 for p in out.rglob("*") if p.is_file()}
    print(f"{count} rollouts in {CELLS} cells, {said // count} characters said in each")
    line("  generation: wall", seconds, "s", "at most 60 for 100,000")
    line("  generation: CPU, of one process", cpu, "s")
    line("  generation: peak memory", mib, "MiB", "at most 1024")
    line("  all files", sum(size.values()), "MB", "at most 300")
    line("  page of all cells", size[out / "tax.html"] + size[out / "style.css"], "MB", "at most 3")
    opened(out)


def main() -> None:
    with tempfile.TemporaryDirectory() as temporary:
        folder = Path(temporary)
        (folder / "played").mkdir()
        base = played(folder / "played")
        for count, letters in ((CELLS * 50, 0), (100_000, 0), (100_000, 4000)):
            measure(base, count, letters, folder / f"{count}-{letters}")
            shutil.rmtree(folder / f"{count}-{letters}")


if __name__ == "__main__":
    main()
