"""The suite's own speed, measured: `make perf`. Prints the table that docs/performance.md states.

Everything runs in processes of its own; CPU seconds are user plus system time of the whole command, what pytest's bare
start costs is measured in the same session and taken off where it says so. Medians of REPEATS runs.
"""

from __future__ import annotations

import contextlib
import json
import os
import re
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
REPEATS = 3


def measure(
    arguments: list[str], repeats: int = REPEATS, before: Callable[[], None] = lambda: None, cwd: Path = ROOT
) -> dict[str, float]:
    """Median wall and CPU seconds and peak memory (MiB) of a command."""
    found: dict[str, list[float]] = {"wall": [], "cpu": [], "mib": []}
    for _ in range(repeats):
        before()
        start = time.perf_counter()
        process = subprocess.Popen(arguments, cwd=cwd, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        _, status, usage = os.wait4(process.pid, 0)
        found["wall"].append(time.perf_counter() - start)
        if os.waitstatus_to_exitcode(status) not in (0, 5):
            raise SystemExit(f"failed: {' '.join(arguments)}")
        found["cpu"].append(usage.ru_utime + usage.ru_stime)
        found["mib"].append(usage.ru_maxrss / 1024)
    return {name: statistics.median(values) for name, values in found.items()}


def pytest(*arguments: object) -> list[str]:
    """A pytest command. Hypothesis, a test dependency, imports itself into every session's summary: left out."""
    plugins = ["-p", "no:cacheprovider", "-p", "no:hypothesispytest"]
    return [sys.executable, "-m", "pytest", "-q", *plugins, *map(str, arguments)]


def line(what: str, value: float, unit: str, target: str = "") -> None:
    print(f"{what:<66} {value:>9.2f} {unit:<8} {target}", flush=True)


def dialogues(folder: Path) -> None:
    """500 dialogues of six messages, recorded, graded, stored and reported: one whole command."""
    run, cassettes = folder / "run", folder / "cassettes"
    cell = ["benchmarks", "--task", "maze", "--mode", "homo", "--rollouts", 500, "--cassettes", cassettes, "--run", run]

    def fresh() -> None:
        shutil.rmtree(folder, ignore_errors=True)

    bare = measure(pytest("benchmarks", "--collect-only", "-k", "nothing"))
    live = measure(pytest(*cell, "--model", "sim/scripted=3"), before=fresh)
    tenth = measure(pytest(*cell, "--model", "sim/scripted=3", "--rollouts", 50), before=fresh)
    line("500 dialogues of 6 messages, whole command: wall", live["wall"], "s", "at most 3")
    line("  CPU a call beyond pytest's start", (live["cpu"] - bare["cpu"]) / 3000 * 1000, "ms", "at most 0.5")
    line("  of that, what each further call costs (500 against 50)", (live["cpu"] - tenth["cpu"]) / 2700 * 1000, "ms")
    line("  peak memory", live["mib"], "MiB", "at most 100")
    line("  pytest's start with this plugin and the embedded default's cells", bare["cpu"], "CPU-s")


def replays(folder: Path) -> None:
    """CPU of a replayed call for short and long dialogues, in this process, report left out."""
    from collabtax.session import Session

    for messages in (6, 20, 100):
        rollouts = 1800 // messages
        shutil.rmtree(folder, ignore_errors=True)
        given = {
            "model": [f"sim/scripted={messages // 2}"], "mode": ["homo"], "task": ["maze"], "rollouts": rollouts,
            "turn_cap": 100, "cassettes": str(folder / "c"), "run": str(folder / "r"),
        }  # fmt: skip
        for mode in ("new_episodes", "none"):
            session = Session({**given, "record_mode": mode}, ROOT)
            cell = session.settings.cells("tax")[0]
            start = time.process_time()
            failed = session.run_cell(cell, lambda rollout: None)
            spent = time.process_time() - start
            session.close()
            assert not failed, failed[:3]
        per_call = spent / rollouts / messages * 1000
        line(f"replay of dialogues of {messages} messages: CPU a call", per_call, "ms", "at most 0.5, constant")
        if messages == 100:
            loose = sum(p.stat().st_size for p in (folder / "c").rglob("*.yaml")) / rollouts / 1024
            subprocess.run(
                [sys.executable, "-m", "collabtax", "pack", str(folder / "c")],
                cwd=ROOT,
                check=True,
                stdout=subprocess.DEVNULL,
            )
            packed = sum(p.stat().st_size for p in (folder / "c").rglob("*.zip")) / rollouts / 1024
            line("  cassette of 100 calls, loose", loose, "KiB")
            line("  cassette of 100 calls, packed", packed, "KiB", "at most 50")


@contextlib.contextmanager
def served(latency: float) -> Iterator[str]:
    """The address of a simulated endpoint that answers after `latency` seconds."""
    command = [sys.executable, "-m", "collabtax", "sim", "--port", "0", "--latency", str(latency)]
    with subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, text=True) as server:
        try:
            assert server.stdout is not None
            url = re.search(r"http\S+", server.stdout.readline())
            assert url is not None
            yield url[0]
        finally:
            server.terminate()


def endpoint(folder: Path) -> None:
    """50 dialogues of six messages against a loopback endpoint with 300 ms latency; the ideal is 6 x 0.3 s."""
    code = (
        "import sys, time, pathlib\n"
        "from collabtax.session import Session\n"
        "s = Session({'models': sys.argv[1], 'model': ['sim/http'], 'mode': ['homo'], 'task': ['maze'],\n"
        "  'rollouts': 50, 'concurrency': 50,\n"
        "  'cassettes': sys.argv[2] + '/c', 'run': sys.argv[2] + '/r'}, pathlib.Path('.').resolve())\n"
        "import openai, httpx2, collabtax.transport\n"
        "c = s.settings.cells('tax')[0]\n"
        "t = time.perf_counter(); f = s.run_cell(c, lambda r: None); t = time.perf_counter() - t\n"
        "s.close(); assert not f, f[:2]; print(t)\n"
    )
    folder.mkdir(exist_ok=True)
    models, took = folder / "models.toml", []
    with served(0.3) as url:
        models.write_text(f'[models."sim/http"]\nid = "sim/scripted=3"\nbase_url = "{url}"\n')
        for number in range(REPEATS):
            command = [sys.executable, "-c", code, str(models), str(folder / str(number))]
            done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True)
            took.append(float(done.stdout.split()[-1]))
    line("50 dialogues against 300 ms latency: wall over ideal", statistics.median(took) / 1.8, "x", "at most 1.1")


def collection(folder: Path) -> None:
    """704 cells collected, and what a session pays that has no use for the plugin."""
    models = [part for n in range(176) for part in ("--model", f"sim/scripted={n + 1}")]
    found = measure(pytest("--collect-only", "benchmarks", "--task", "maze", "--run", folder / "r", *models))
    line("704 cells collected", found["cpu"], "CPU-s", "at most 1.5")
    folder.mkdir(exist_ok=True)
    (folder / "test_nothing.py").write_text("def test_nothing():\n    pass\n")
    (folder / "pytest.ini").write_text("[pytest]\n")
    here = ["--rootdir", folder, "-c", folder / "pytest.ini", folder / "test_nothing.py"]
    with_plugin, without = [], []
    for _ in range(9):  # in turn, since the machine's speed drifts
        without.append(measure(pytest(*here), 1)["cpu"])
        with_plugin.append(measure(pytest("-p", "collabtax.plugin", *here), 1)["cpu"])
    extra = statistics.median(a - b for a, b in zip(with_plugin, without, strict=True))
    line("a session that does not use the plugin pays", extra * 1000, "ms", "under 30")


ORDERED = """
import json
import os

import collabtax.cells

if os.environ["ORDER"] != "zigzag":
    longest = os.environ["ORDER"] == "longest first"
    collabtax.cells.zigzag = lambda cells, workers, length: sorted(cells, key=lambda c: -length(c) * longest)
calls = []


def pytest_runtest_logreport(report):
    if report.when == "call":
        calls.append((report.start, report.stop))


def pytest_sessionfinish(session):
    if not hasattr(session.config, "workerinput"):
        with open(os.environ["TIMES"], "w") as file:
            json.dump(calls, file)
"""
ORDERS = (("zigzag", 1), ("as collected", 1), ("longest first", 1), ("as collected", 1000), ("zigzag", 1000))
WORKERS = 4


def order(folder: Path) -> None:
    """Share of the workers' time in which they work, by the order of cells and by how many xdist hands out at once: 3
    rollouts at once in each of 64 cells of 1 to 24 calls, answered after 0.1 s."""
    from tasks import all_tasks

    folder.mkdir(exist_ok=True)
    (folder / "ordered.py").write_text(ORDERED)
    with served(0.1) as url:
        (folder / "models.toml").write_text(
            "".join(f'[models."sim/{n}"]\nid = "sim/scripted={n}"\nbase_url = "{url}"\n' for n in (4, 12))
        )
        for number, (name, chunk) in enumerate(ORDERS):
            given = ["--models", folder / "models.toml", "--model", "sim/4", "--model", "sim/12", "--rollouts", 3]
            given += ["--cassettes", folder / f"c{number}", "--run", folder / f"r{number}"]
            given += ["-n", WORKERS, "--maxschedchunk", chunk, "-p", "ordered"]
            given += [part for task in [task.name for task in all_tasks()][:8] for part in ("--task", task)]
            times = folder / f"{number}.json"
            environment = {**os.environ, "ORDER": name, "TIMES": str(times), "PYTHONPATH": str(folder)}
            subprocess.run(pytest("benchmarks", *given), cwd=ROOT, env=environment, check=True, capture_output=True)
            calls = json.loads(times.read_text())
            lasted = max(stop for _, stop in calls) - min(start for start, _ in calls)
            share = sum(stop - start for start, stop in calls) / lasted / WORKERS
            line(f"{len(calls)} cells, {name}, at most {chunk} handed out at once", share * 100, "% busy")


INSPECT = """
from inspect_ai import Task, eval, task
from inspect_ai.dataset import MemoryDataset, Sample
from inspect_ai.model import ChatMessageUser, get_model, ModelOutput
from inspect_ai.scorer import includes
from inspect_ai.solver import solver

@solver
def dialogue():
    async def solve(state, generate):
        model = get_model()
        mine, theirs = [ChatMessageUser(content=state.input_text)], [ChatMessageUser(content=state.input_text)]
        for turn in range(6):
            history, other = (mine, theirs) if turn % 2 == 0 else (theirs, mine)
            out = await model.generate(history)
            history.append(out.message)
            other.append(ChatMessageUser(content="[other agent]: " + out.completion))
        state.output = out
        return state
    return solve

@task
def dialogues():
    samples = [Sample(input=f"maze {i}: " + "# . ? " * 40, target="ACTI") for i in range(500)]
    return Task(dataset=MemoryDataset(samples), solver=dialogue(), scorer=includes())

if __name__ == "__main__":
    outputs = (ModelOutput.from_content("mockllm/model", "my part has a free cell. ACTI!") for _ in range(10000))
    model = get_model("mockllm/model", custom_outputs=outputs)
    eval(dialogues(), model=model, display="none", log_dir="logs", max_samples=50)
"""


def neighbour(folder: Path) -> None:
    """The same work on Inspect AI, if INSPECT_PYTHON names an interpreter that has it."""
    python = os.environ.get("INSPECT_PYTHON")
    if not python:
        print("Inspect AI: not measured (INSPECT_PYTHON names no interpreter that has it)")
        return
    folder.mkdir(exist_ok=True)
    (folder / "dialogues.py").write_text(INSPECT)
    found = measure([python, "dialogues.py"], 2, cwd=folder)
    line("Inspect AI, the same 500 dialogues: wall", found["wall"], "s")
    line("  CPU a call, whole command", found["cpu"] / 3000 * 1000, "ms")
    line("  peak memory", found["mib"], "MiB")


def main() -> None:
    sys.path.insert(0, str(ROOT))
    print(
        f"Python {sys.version.split()[0]}, {os.cpu_count()} cores, load {os.getloadavg()[0]:.1f}, medians of {REPEATS}"
    )
    with tempfile.TemporaryDirectory() as name:
        for number, part in enumerate((dialogues, replays, endpoint, order, collection, neighbour)):
            part(Path(name) / str(number))


if __name__ == "__main__":
    main()
