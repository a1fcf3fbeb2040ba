"""Rollouts on a Dask cluster: the same results as on one machine, and a killed worker loses nothing."""

import os
import signal
import subprocess
import sys
import threading
import time

import pytest
from test_suite import FAKE_KEY, ROOT, suite

from collabtax import cluster as cluster_module
from collabtax.session import Session
from collabtax.sim.endpoint import Server
from collabtax.store import load, merge

distributed = pytest.importorskip("distributed", reason="the `cluster` extra is not installed")
GIVEN = ("--task=maze,schedule", "--rollouts=6", "--turn-cap=3")


@pytest.fixture
def cluster(tmp_path):
    """A scheduler and two workers, processes of their own: its address and the workers."""
    environment = {**os.environ, "PYTHONPATH": str(ROOT), "OPENAI_API_KEY": FAKE_KEY}
    quiet = {"cwd": tmp_path, "env": environment, "stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
    dask = [sys.executable, "-m", "distributed.cli.dask_scheduler", "--host=127.0.0.1", "--port=0", "--no-dashboard"]
    scheduler = subprocess.Popen([*dask, f"--scheduler-file={tmp_path}/scheduler.json"], **quiet)
    worker = [sys.executable, "-m", "distributed.cli.dask_worker", f"--scheduler-file={tmp_path}/scheduler.json"]
    worker += ["--nthreads=4", "--no-nanny", "--no-dashboard", "--host=127.0.0.1"]
    workers = [subprocess.Popen([*worker, f"--name=w{i}"], **quiet) for i in range(2)]
    try:
        from distributed import Client

        for _ in range(100):
            if (tmp_path / "scheduler.json").exists():
                break
            time.sleep(0.2)
        with Client(scheduler_file=str(tmp_path / "scheduler.json"), set_as_default=False) as client:
            client.wait_for_workers(2, timeout=60)
            address = client.scheduler.address
        yield address, workers
    finally:
        for process in (*workers, scheduler):
            process.kill()
            process.wait()


def results(folder):
    """Rows without what differs between two runs of the same."""
    return [
        {k: v for k, v in row.items() if k != "turns"} | {"said": [t["text"] for t in row["turns"]]}
        for row in load(folder)
    ]


def test_one_machine_four_shards_and_a_cluster_leave_the_same_results(cluster, tmp_path):
    address, _ = cluster
    given = ("--model=sim/weak", "--rollouts=3", "--turn-cap=3")
    suite(*given, f"--cassettes={tmp_path}/c0", f"--run={tmp_path}/one")
    parts = [tmp_path / f"part{i}" for i in range(1, 5)]
    for i, part in enumerate(parts, 1):
        suite(*given, f"--shard={i}/4", f"--cassettes={tmp_path}/c{i}", f"--run={part}")
    assert merge(parts, tmp_path / "merged") == sum(len(load(part)) for part in parts) == 36
    done = suite(*given, f"--cassettes={tmp_path}/c5", f"--run={tmp_path}/many", f"--dask={address}")
    assert "planned 36 = scored" in done.stdout
    one, merged, many = ((tmp_path / run / "results.jsonl").read_bytes() for run in ("one", "merged", "many"))
    assert one.count(b"\n") == 36
    assert one == merged == many
    assert (tmp_path / "many/report/index.html").exists()
    names = {p.name for p in (tmp_path / "many").glob("parts/*")}
    assert not names, "everything is gathered"


def test_however_few_are_handed_out_at_once_all_run(tmp_path, monkeypatch):
    """More rollouts than are handed out at first, to a cluster whose second worker comes late."""
    monkeypatch.setattr(cluster_module, "AHEAD", 2)
    monkeypatch.setattr(cluster_module, "LOOK", 0.0)
    given = {
        "model": ["sim/weak"], "task": ["maze"], "rollouts": 9, "turn_cap": 2,
        "cassettes": str(tmp_path / "c"), "run": str(tmp_path / "r"),
    }  # fmt: skip
    session, done, handed_out = Session(given, ROOT), [], []
    quiet = {"protocol": "tcp://", "host": "127.0.0.1", "dashboard_address": None}
    with distributed.LocalCluster(n_workers=1, threads_per_worker=1, processes=False, **quiet) as local:

        def count(cell, rollout):
            done.append(rollout.outcome)
            handed_out.append(len(local.scheduler.tasks))
            if len(done) == 5:
                local.scale(2)

        chosen = session.settings.cells("tax")
        assert cluster_module.run(local.scheduler_address, session, given, ROOT, chosen, count) == []
    session.close()
    assert len(done) == len(load(tmp_path / "r")) == len(chosen) * 9
    assert max(handed_out[:4]) <= 2 * 1 + 1
    assert max(handed_out) > 2 * 1 + 1


def test_a_killed_worker_loses_nothing(cluster, tmp_path):
    address, workers = cluster
    with Server(latency=0.05) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        (tmp_path / "models.toml").write_text(
            f'[models."sim/http"]\nid = "sim/medium"\nbase_url = "{server.url}"\nkey_env = "OPENAI_API_KEY"\n'
        )
        given = (f"--models={tmp_path}/models.toml", "--model=sim/http", *GIVEN)
        killed_at: list[int] = []

        def kill():
            while (count := sum(len(p.read_bytes().splitlines()) for p in (tmp_path / "r/parts").glob("*.jsonl"))) < 5:
                time.sleep(0.05)
            workers[0].send_signal(signal.SIGKILL)
            killed_at.append(count)

        killer = threading.Thread(target=kill, daemon=True)
        killer.start()
        done = suite(
            *given, f"--cassettes={tmp_path}/c", f"--run={tmp_path}/r", f"--dask={address}", OPENAI_API_KEY=FAKE_KEY
        )
        killer.join(timeout=10)
        assert 5 <= killed_at[0] < 48, "killed in the midst of it"
        assert workers[0].wait(timeout=10) == -signal.SIGKILL
        assert "infrastructure 0 + skipped 0" in done.stdout
        suite(*given, f"--cassettes={tmp_path}/c0", f"--run={tmp_path}/undisturbed", OPENAI_API_KEY=FAKE_KEY)
        server.shutdown()
    assert results(tmp_path / "r") == results(tmp_path / "undisturbed")


def test_a_cluster_that_is_not_there_is_said_in_one_line(tmp_path):
    done = suite("--model=sim/weak", *GIVEN, f"--run={tmp_path}/r", "--dask=tcp://127.0.0.1:1", check=False)
    assert done.returncode == 4
    assert "no scheduler can be reached" in done.stdout + done.stderr
    assert "Traceback" not in done.stdout + done.stderr
