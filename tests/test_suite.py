"""The suite as its users run it: whole commands in processes of their own."""

import hashlib
import json
import os
import random
import re
import shutil
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest

from collabtax.cassettes import Conversation, read_interactions
from collabtax.cells import Cell
from collabtax.sim.endpoint import Server
from collabtax.store import Store, load
from conftest import THREE

ROOT = Path(__file__).resolve().parents[1]
FAKE_KEY = "sk-proj-0123456789abcdefFAKE"


def command(*arguments):
    return [sys.executable, "-m", "pytest", str(ROOT / "benchmarks"), "-p", "no:cacheprovider", *map(str, arguments)]


def suite(*arguments, check=True, cwd=ROOT, **environment):
    """Run `pytest benchmarks`, at the top of the repository unless told otherwise; returns the finished process."""
    if not any(str(argument).startswith("--task") for argument in arguments):
        arguments = (*arguments, f"--task={','.join(THREE)}")  # all of them would take minutes
    clean = {k: v for k, v in os.environ.items() if not k.startswith(("OPENAI_", "PYTEST_"))}
    done = subprocess.run(
        command(*arguments), cwd=cwd, env={**clean, **environment}, capture_output=True, text=True, timeout=600
    )
    if check:
        assert done.returncode == 0, done.stdout[-3000:] + done.stderr[-2000:]
    return done


def tree(folder):
    """SHA-256 of every file below `folder`."""
    return {
        str(p.relative_to(folder)): hashlib.sha256(p.read_bytes()).hexdigest()
        for p in sorted(folder.rglob("*"))
        if p.is_file()
    }


@pytest.fixture
def endpoint():
    """The simulated endpoint on loopback, with the digests of all requests it answered, in order."""
    answered = []
    with Server(on_reply=lambda body: answered.append(Conversation.of_request(body).digest())) as server:
        server.answered = answered
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield server
        server.shutdown()


@pytest.fixture
def models_file(endpoint, tmp_path):
    path = tmp_path / "models.toml"
    path.write_text(
        f'[models."sim/http"]\nid = "sim/medium"\nbase_url = "{endpoint.url}"\nkey_env = "OPENAI_API_KEY"\n'
        "input = 1.0\noutput = 4.0\n"
    )
    return path


def test_the_default_needs_no_network_and_repeats_to_the_byte(tmp_path):
    runs = {}
    for name, workers, seed in (("first", "0", "1"), ("again", "0", "1"), ("two", "2", "2"), ("four", "4", "3")):
        log = tmp_path / f"{name}.log"
        done = suite(
            "-n", workers, "--run", tmp_path / name,
            PYTHONHASHSEED=seed, GUARD_LOG=str(log), PYTHONPATH=str(ROOT / "tests" / "guard"),
        )  # fmt: skip
        assert not log.exists(), f"{name} reached for the network: {log.read_text()[:300]}"
        runs[name] = tree(tmp_path / name / "report") | {"results": tree(tmp_path / name)["results.jsonl"]}
        counts = re.search(
            r"planned (\d+) = scored (\d+) .*?\+ unreadable (\d+) \+ infrastructure (\d+) \+ skipped (\d+)", done.stdout
        )
        planned, *parts = map(int, counts.groups())
        assert planned == sum(parts)
        assert "index.html" in done.stdout
    assert runs["first"] == runs["again"] == runs["two"] == runs["four"]
    rows = load(tmp_path / "first")
    assert {r["mode"] for r in rows} == {"solo", "half", "homo", "hetero"}
    assert {r["task"] for r in rows} >= {"maze", "relaquery", "schedule"}
    real = [r for r in rows if "qwen2.5-coder-1.5b-instruct" in r["models"]]
    assert {(r["task"], r["mode"]) for r in real} >= {(t, m) for t in ("maze", "schedule") for m in ("solo", "homo")}
    assert not [r for r in rows if r["outcome"] == "infrastructure"]


def test_a_real_models_recordings_name_its_endpoint():
    import zipfile

    found = 0
    for path in (ROOT / "cassettes").rglob("*qwen*.zip"):
        archive = zipfile.ZipFile(path)
        for name in archive.namelist():
            about, interactions = read_interactions(archive.read(name))
            assert about["models"]["qwen2.5-coder-1.5b-instruct"] == "127.0.0.1:8765"
            assert about["recorded"]
            for entry in interactions:
                asked = json.loads(entry["request"]["body"])["model"]
                assert ("in-process" in entry["request"]["uri"]) == asked.startswith("sim/")
                found += asked == "local"
    assert found > 20


def test_an_altered_recording_fails_and_says_what_differs(tmp_path):
    given = [
        "--model",
        "sim/medium",
        "--task",
        "schedule",
        "--mode",
        "homo",
        "--rollouts",
        3,
        "--cassettes",
        tmp_path / "c",
    ]
    suite(*given, "--run", tmp_path / "a")
    path = sorted((tmp_path / "c").rglob("0001.yaml"))[0]
    text = path.read_text()
    where = text.index("home clock", text.index("\n- ") + 5)
    changed = text[:where] + "HOME CLOCK" + text[where + 10 :]
    lines = changed.split("\n")
    body = json.loads(lines[3][2:])
    request = json.loads(body["request"]["body"])
    n = request.pop("n_messages")
    assert n == len(request["messages"])
    body["request"]["headers"]["x-body-sha256"] = [Conversation.of_request(request).digest()]
    lines[3] = "- " + json.dumps(body)
    path.write_text("\n".join(lines))
    done = suite(*given, "--run", tmp_path / "b", "--record-mode", "none", check=False)
    assert done.returncode == 1
    assert "seed 1" in done.stdout
    assert "HOME CLOCK" in done.stdout
    assert "home clock" in done.stdout
    assert "--record-mode=new_episodes" in done.stdout
    assert "infrastructure 1" in done.stdout


def test_live_over_http_then_replayed_without_the_endpoint(endpoint, models_file, tmp_path):
    endpoint.latency = 0.2  # long enough for a line of progress
    given = ["--models", models_file, "--model", "sim/http", "--rollouts", 6, "--cassettes", tmp_path / "c"]
    live = suite("-n", 2, *given, "--run", tmp_path / "live", OPENAI_API_KEY=FAKE_KEY)
    assert re.search(r"\[collabtax\] \d+/12 cells, \d+/72 rollouts, 0 failed, .*tokens, \$\d", live.stdout)
    calls = len(endpoint.answered)
    assert calls == len(set(endpoint.answered)) > 72
    suite(*given, "--run", tmp_path / "live", OPENAI_API_KEY=FAKE_KEY)
    assert len(endpoint.answered) == calls, "a finished run was bought again"
    suite(*given, "--run", tmp_path / "replay", "--record-mode", "none")
    assert len(endpoint.answered) == calls
    assert load(tmp_path / "live") == load(tmp_path / "replay")
    in_process = suite("--model", "sim/medium", "--rollouts", 6, "--cassettes", tmp_path / "d", "--run", tmp_path / "p")
    assert "12 passed" in in_process.stdout
    plain = [(r["task"], r["mode"], r["condition"], r["seed"], r["score"], r["answer"]) for r in load(tmp_path / "p")]
    assert plain == [
        (r["task"], r["mode"], r["condition"], r["seed"], r["score"], r["answer"]) for r in load(tmp_path / "live")
    ]
    for path in (p for p in tmp_path.rglob("*") if p.is_file()):
        assert FAKE_KEY.encode() not in path.read_bytes(), f"the key is in {path}"
    assert FAKE_KEY not in live.stdout + live.stderr


def test_killed_at_random_moments_a_run_ends_as_if_undisturbed(endpoint, models_file, tmp_path):
    """kill -9 of everything, or of a worker first. COLLABTAX_KILLS sets how often."""
    endpoint.latency = 0.02
    kills = int(os.environ.get("COLLABTAX_KILLS", "5"))
    rng = random.Random(11)
    given = ["-n", 2, "--models", models_file, "--model", "sim/http", "--rollouts", 6 + 2 * kills, "--concurrency", 4]
    given.append(f"--task={','.join(THREE)}")
    disturbed = [*given, "--cassettes", tmp_path / "c", "--run", tmp_path / "r"]
    finished, bought, landed = set(), set(), 0
    for number in range(kills):
        begun = len(endpoint.answered)
        process = subprocess.Popen(
            command(*disturbed), cwd=ROOT, env={**os.environ, "OPENAI_API_KEY": FAKE_KEY}, start_new_session=True,
            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
        )  # fmt: skip

        def work(calls, process=process):
            """Wait for so many more calls: moments in the work, whatever the machine's speed."""
            wanted = len(endpoint.answered) + calls
            while len(endpoint.answered) < wanted and process.poll() is None:
                time.sleep(0.002)

        work(rng.randrange(1, 40))
        children = subprocess.run(["pgrep", "-P", str(process.pid)], capture_output=True, text=True).stdout.split()
        if number % 2 and children:
            os.kill(int(rng.choice(children)), signal.SIGKILL)
            work(rng.randrange(1, 20))
        landed += process.poll() is None
        os.killpg(process.pid, signal.SIGKILL)
        process.wait()
        assert not bought & set(endpoint.answered[begun:]), "a finished rollout was bought twice"
        now = Store(tmp_path / "r", session=0).ended(failed=False)
        assert finished <= now, "a finished rollout was lost"
        finished, bought = now, {digest for key in now for digest in recorded(tmp_path / "c", key)}
    assert landed == kills
    assert finished
    suite(*disturbed, OPENAI_API_KEY=FAKE_KEY)
    twice = len(endpoint.answered) - len(set(endpoint.answered))
    assert twice <= kills * 2 * 4, "more was bought twice than was in flight"
    suite(*given, "--cassettes", tmp_path / "u", "--run", tmp_path / "undisturbed", OPENAI_API_KEY=FAKE_KEY)
    assert [plain(r) for r in load(tmp_path / "r")] == [plain(r) for r in load(tmp_path / "undisturbed")]


def recorded(folder, key):
    """Digests of the calls recorded for a rollout, found through the id that its cell has."""
    study, task, mode, models, condition, seed, _ = key
    cell = Cell(study, task, "", mode, models, condition)
    interactions = read_interactions((folder / study / cell.id / f"{seed:04d}.yaml").read_bytes())[1]
    return [entry["request"]["headers"]["x-body-sha256"][0] for entry in interactions]


def plain(row):
    """A row without what differs from call to call: the latencies."""
    turns = [{k: v for k, v in t.items() if k != "seconds"} for t in row["turns"]]
    return {**row, "turns": turns}


def test_plan_sends_and_writes_nothing(endpoint, models_file, tmp_path):
    done = suite(
        "--plan", "-n", 4, "--models", models_file, "--model", "sim/http", "--rollouts", 50,
        "--cassettes", tmp_path / "c", "--run", tmp_path / "r",
    )  # fmt: skip
    assert endpoint.answered == []
    assert not (tmp_path / "r").exists()
    assert not (tmp_path / "c").exists()
    row = next(line for line in done.stdout.splitlines() if line.startswith("sim/http"))
    name, cells, rollouts, finished, had, calls, tokens, cost, least, most = row.split()
    assert (name, cells, rollouts, finished, had) == ("sim/http", "12", "600", "0", "0")
    assert int(calls) >= 600
    assert int(tokens) > 100_000
    assert 0 < float(least) < float(cost) < float(most)
    assert "nothing was sent" in done.stdout


def test_a_plan_is_near_the_truth_and_knows_what_is_recorded(tmp_path):
    given = ["--model", "sim/medium", "--rollouts", 8, "--cassettes", tmp_path / "c", "--run", tmp_path / "r"]
    planned = suite("--plan", *given).stdout
    suite(*given)
    spent = sum(r["usage"]["prompt"] + r["usage"]["completion"] for r in load(tmp_path / "r"))
    tokens = int(next(line for line in planned.splitlines() if line.startswith("sim/medium")).split()[6])
    assert 0.4 * spent < tokens < 2.5 * spent
    after = next(line for line in suite("--plan", *given).stdout.splitlines() if line.startswith("sim/medium"))
    assert after.split()[2:7] == ["96", "96", "0", "0", "0"]
    shutil.rmtree(tmp_path / "r")
    again = next(line for line in suite("--plan", *given).stdout.splitlines() if line.startswith("sim/medium"))
    assert again.split()[2:7] == ["96", "0", "96", "0", "0"]


def test_a_plan_learns_from_what_ran(tmp_path, endpoint, models_file):
    """A quarter of the rollouts ran; the plan for the rest is within a quarter of what the rest then costs."""
    given = [
        "--models",
        models_file,
        "--model",
        "sim/http",
        "--turn-cap",
        4,
        "--cassettes",
        tmp_path / "c",
        "--run",
        tmp_path / "r",
    ]
    suite(*given, "--rollouts", 5, OPENAI_API_KEY=FAKE_KEY)
    before = sum(row["cost"] for row in load(tmp_path / "r"))
    planned = suite("--plan", *given, "--rollouts", 20).stdout
    cost, least, most = map(float, next(x for x in planned.splitlines() if x.startswith("sim/http")).split()[-3:])
    suite(*given, "--rollouts", 20, OPENAI_API_KEY=FAKE_KEY)
    true = sum(row["cost"] for row in load(tmp_path / "r")) - before
    assert 0.75 * true < cost < 1.25 * true
    assert least < true < most


def test_failures_alone_can_be_retried(tmp_path):
    given = [
        "--model",
        "sim/strong",
        "--task",
        "maze",
        "--rollouts",
        3,
        "--cassettes",
        tmp_path / "c",
        "--run",
        tmp_path / "r",
    ]
    suite(*given)
    rows = load(tmp_path / "r")
    assert len(rows) == 12
    kept = [r | {"outcome": "infrastructure", "score": None} if i < 2 else r for i, r in enumerate(rows) if i != 5]
    shutil.rmtree(tmp_path / "r")
    store = Store(tmp_path / "r", session=1)
    for row in kept:
        store.add(row)
    store.close()
    store.consolidate()
    done = suite(*given, "--retry-failed")
    assert "infrastructure 0 + skipped 1" in done.stdout, "what never ran stays as it is"
    assert len(load(tmp_path / "r")) == 11
    assert "skipped 0" in suite(*given).stdout


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["--model", "sim/medium", "--task", "mase"], "--task 'mase' is not known (did you mean maze?)"),
        (["--model", "sim/middle"], "no simulated model 'sim/middle'"),
        (["--model", "gpt-4.1-nano"], "set the variable OPENAI_API_KEY"),
        (["--pair", "sim/weak"], "--pair 'sim/weak' is not two different models"),
        (["--rollouts", "many"], "--rollouts 'many' is not a whole number"),
        (["--models", "nowhere.toml", "--model", "x"], "nowhere.toml"),
    ],
)
def test_bad_input_is_one_line_before_any_call(tmp_path, arguments, said):
    for workers in ("0", "2"):
        done = suite("-n", workers, *arguments, "--run", tmp_path / "r", check=False)
        assert done.returncode == 4, done.stdout
        lines = [line for line in (done.stdout + done.stderr).splitlines() if said in line]
        assert len(lines) == 1, done.stdout + done.stderr
        assert "Traceback" not in done.stdout + done.stderr
        assert not (tmp_path / "r").exists()


def test_standard_selection_works(tmp_path):
    given = ["--model", "sim/strong", "--rollouts", 2, "--cassettes", tmp_path / "c", "--run", tmp_path / "r"]
    assert "4 passed" in suite(*given, "-m", "spatial").stdout
    done = suite(*given, "-k", "schedule-homo")
    assert "1 passed" in done.stdout
    assert "planned 2 =" in done.stdout
    assert "--rollouts=N" in suite("--help").stdout


def test_a_stopped_run_counts_what_was_skipped(tmp_path):
    given = ["--model", "sim/strong", "--rollouts", 2, "--cassettes", tmp_path / "c", "--run", tmp_path / "r"]
    suite(*given, "-m", "spatial")
    path = sorted((tmp_path / "c").rglob("*.yaml"))[0]
    path.write_text('version: 1\ninteractions:\n- {"request": 1}\n')
    shutil.rmtree(tmp_path / "r")
    done = suite(*given, "-m", "spatial", "-x", check=False)
    assert done.returncode == 1
    planned, skipped = re.search(r"planned (\d+) = .* skipped (\d+)", done.stdout).groups()
    assert planned == "8"
    assert int(skipped) > 0
    assert str(path.name) in done.stdout


@pytest.mark.parametrize("spread", [("-n", 2), ("--tx", "2*popen", "--dist", "load"), ("-p", "no:terminal")])
def test_no_way_of_running_turns_a_plan_into_calls(endpoint, models_file, tmp_path, spread):
    given = ["--models", models_file, "--model", "sim/http", "--rollouts", 2, "--cassettes", tmp_path / "c"]
    done = suite("--plan", *spread, *given, "--run", tmp_path / "r")
    assert "nothing was sent" in done.stdout
    assert endpoint.answered == []
    assert not (tmp_path / "r").exists()


def test_without_a_terminal_results_and_report_are_written(tmp_path):
    given = ["--model", "sim/strong", "--rollouts", 1, "-m", "spatial", "--cassettes", tmp_path / "c"]
    suite(*given, "--run", tmp_path / "r", "-p", "no:terminal")
    assert (tmp_path / "r" / "results.jsonl").exists()
    assert (tmp_path / "r" / "report" / "index.html").exists()


def test_a_failed_replay_shows_its_failures_and_loses_no_result(tmp_path):
    given = [
        "--model",
        "sim/strong",
        "--rollouts",
        3,
        "--task",
        "maze",
        "--mode",
        "homo",
        "--cassettes",
        tmp_path / "c",
    ]
    given += ["--run", tmp_path / "r"]
    suite(*given)
    paid = load(tmp_path / "r")
    shutil.rmtree(tmp_path / "c")
    failed = suite(*given, "--record-mode", "none", check=False)
    assert failed.returncode == 1
    assert "infrastructure 3" in failed.stdout
    assert load(tmp_path / "r") == paid
    assert "scored 3" in suite(*given).stdout
    assert not (tmp_path / "c").exists(), "a finished rollout was run again"


@pytest.mark.parametrize("workers", ["0", "2"])
def test_a_run_folder_that_cannot_be_used_is_told_before_any_call(endpoint, models_file, tmp_path, workers):
    given = [
        "-n",
        workers,
        "--models",
        models_file,
        "--model",
        "sim/http",
        "--rollouts",
        2,
        "--cassettes",
        tmp_path / "c",
    ]
    (tmp_path / "file").write_text("")
    (tmp_path / "other").mkdir()
    (tmp_path / "other" / "results.jsonl").write_text('{"a": 1}\n')
    for folder in ("file", "other"):
        done = suite(*given, "--run", tmp_path / folder, check=False, OPENAI_API_KEY=FAKE_KEY)
        assert done.returncode == 4
        assert "choose another --run" in done.stdout + done.stderr
        assert "Traceback" not in done.stdout + done.stderr
    assert endpoint.answered == []


@pytest.mark.parametrize("workers", ["0", "2"])
def test_folders_are_meant_from_where_the_user_stands(tmp_path, workers):
    (tmp_path / "m.toml").write_text('[models."sim/strong"]\ncontext = 1000\n')
    given = ["--model", "sim/strong", "--rollouts", 1, "-m", "spatial", "--models", "m.toml", "--cassettes", "cc"]
    suite("-n", workers, *given, "--run", "rr", "--report", "rep", cwd=tmp_path)
    assert sorted(p.name for p in tmp_path.glob("[a-z]*")) == ["cc", "m.toml", "rep", "rr"]


def test_a_cassette_holds_one_endpoint_a_model(endpoint, models_file, tmp_path):
    given = ["--model", "sim/http", "--rollouts", 1, "--task", "maze", "--mode", "solo", "--cassettes", tmp_path / "c"]
    suite("--models", models_file, *given, "--no-critic", "--run", tmp_path / "a", OPENAI_API_KEY=FAKE_KEY)
    with Server() as other:
        threading.Thread(target=other.serve_forever, daemon=True).start()
        models_file.write_text(models_file.read_text().replace(endpoint.url, other.url))
        done = suite("--models", models_file, *given, "--run", tmp_path / "b", check=False, OPENAI_API_KEY=FAKE_KEY)
        other.shutdown()
    assert done.returncode == 1
    assert f"not {other.url.removeprefix('http://').removesuffix('/v1')}" in done.stdout
    assert len(endpoint.answered) == 1


def test_a_report_that_cannot_be_written_is_no_success(tmp_path):
    (tmp_path / "rep").mkdir()
    (tmp_path / "rep" / "index.html").write_text("somebody else's")
    given = ["--model", "sim/strong", "--rollouts", 1, "-m", "spatial", "--cassettes", tmp_path / "c"]
    done = suite(*given, "--run", tmp_path / "r", "--report", tmp_path / "rep", check=False)
    assert done.returncode == 1
    assert "no report:" in done.stdout
    assert (tmp_path / "rep" / "index.html").read_text() == "somebody else's"
    assert (tmp_path / "r" / "results.jsonl").exists()
