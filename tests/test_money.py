"""--max-cost: nothing starts once the money is spent, whoever spent it; the report is written and says so."""

import re

import pytest
from test_suite import suite

from collabtax.rollouts import Rollout
from collabtax.session import Session
from collabtax.settings import settings
from collabtax.store import Store, load

MODELS = """
[models."sim/weak"]
base_url = "%s"
input = 1000.0
output = 1000.0
"""


@pytest.fixture
def priced(tmp_path, endpoint_url):
    path = tmp_path / "models.toml"
    path.write_text(MODELS % endpoint_url)
    return f"--models={path}"


@pytest.fixture
def endpoint_url():
    import threading

    from collabtax.sim.endpoint import Server

    with Server() as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield server.url
        server.shutdown()


@pytest.mark.parametrize("workers", [0, 2])
def test_nothing_starts_once_the_money_is_spent(priced, tmp_path, workers):
    given = ("--model=sim/weak", priced, "--task=maze", "--rollouts=20", "--concurrency=2", "--turn-cap=3")
    folders = (f"--cassettes={tmp_path}/c", f"--run={tmp_path}/r")
    done = suite(*given, *folders, "-n", workers, "--max-cost=4", check=False)
    assert done.returncode == 12, done.stdout[-2000:]
    assert "WARNING: --max-cost 4 is reached" in done.stdout
    assert (tmp_path / "r/report/index.html").exists()
    rows = load(tmp_path / "r")
    spent = sum(row["cost"] for row in rows)
    most = max(row["cost"] for row in rows)
    in_flight = 2 * max(1, workers)
    assert 4 <= spent < 4 + in_flight * most
    skipped = int(re.search(r"skipped (\d+)", done.stdout)[1])
    assert skipped == 80 - len(rows) > 0
    again = suite(*given, *folders, "--max-cost=4", check=False)
    assert again.returncode == 12
    assert len(load(tmp_path / "r")) == len(rows), "a run that is spent starts nothing"
    rest = suite(*given, *folders, "--max-cost=1000")
    assert "skipped 0" in rest.stdout


def row(seed, cost):
    told = dict.fromkeys(Rollout.__dataclass_fields__)
    about = {"study": "tax", "task": "maze", "mode": "solo", "models": ["m"], "condition": "", "settings": "s"}
    return {**told, **about, "seed": seed, "outcome": "scored", "cost": cost}


def test_money_is_summed_over_all_writers(tmp_path):
    one, other, reader = (Store(tmp_path, session=1) for _ in range(3))
    assert reader.spent() == 0
    one.add(row(0, 1.5))
    assert reader.spent() == 1.5
    other.session = 2  # as a process on another machine would
    other.add(row(1, 2.0))
    other.add(row(2, None))
    assert reader.spent() == one.spent() == 3.5
    one.close()
    other.close()
    reader.consolidate()
    assert reader.spent() == 3.5, "gathered rows count once"
    assert Store(tmp_path).spent() == 3.5


def test_a_limit_needs_prices(tmp_path):
    with pytest.raises(ValueError, match=r"--max-cost 5 needs a price for unheard-of: give `input` and `output`"):
        settings({"model": ["unheard-of"], "max_cost": "5"}, tmp_path)
    settings({"model": ["sim/weak"], "max_cost": "5"}, tmp_path)
    with pytest.raises(ValueError, match="--max-cost -1"):
        settings({"model": ["sim/weak"], "max_cost": "-1"}, tmp_path)


def test_without_a_limit_nothing_is_read(tmp_path, root, monkeypatch):
    monkeypatch.setattr(Store, "spent", lambda self: 1 / 0)
    given = {
        "model": ["sim/weak"],
        "task": ["maze"],
        "rollouts": 1,
        "cassettes": str(tmp_path / "c"),
        "run": str(tmp_path / "r"),
    }
    session = Session(given, root)
    for cell in session.settings.cells("tax"):
        assert session.run_cell(cell, lambda rollout: None) == []
    session.close()


def test_what_a_call_cost_that_was_given_up_is_in_its_failed_rollout(tmp_path, monkeypatch):
    """Tries that were billed and said nothing were paid for, whatever came of the rollout."""
    from collabtax.chat import Chat, EndpointError

    async def fails(self, model, asked):
        raise EndpointError("an empty reply (after 6 tries)", {"prompt": 600, "completion": 0}, 0.02)

    monkeypatch.setattr(Chat, "complete", fails)
    given = {"model": ["sim/weak"], "task": ["maze"], "mode": ["solo"], "rollouts": 2}
    session = Session(given | {"run": str(tmp_path / "r"), "cassettes": str(tmp_path / "c")}, tmp_path)
    found = []
    assert len(session.run_cell(session.settings.cells("tax")[0], found.append)) == 2
    session.close()
    assert [(r.outcome, r.score, r.usage["prompt"], r.cost) for r in found] == [("infrastructure", None, 600, 0.02)] * 2
    assert Session(given | {"run": str(tmp_path / "r")}, tmp_path).store.spent() == pytest.approx(0.04)
