"""Simulated models are an instrument: what was put in must come out of the whole harness, within its own intervals."""

import json
import urllib.request
from itertools import product

import pytest
from scipy.stats import binomtest

import graders
from collabtax.agents import prompt
from collabtax.session import Session
from collabtax.sim import policy
from collabtax.sim.endpoint import Server, respond
from collabtax.sim.speech import ASK
from collabtax.statistics import Scored, tax
from conftest import THREE
from tasks import get_task, problem
from tasks.base import seeded


def measure(tmp_path, root, **given):
    """Rows of a run in this process."""
    options = {
        "cassettes": str(tmp_path / "cassettes"),
        "run": str(tmp_path / "run"),
        "mode": ["solo", "homo"],
        "task": THREE,
        **given,
    }
    session = Session(options, root)
    for cell in session.settings.cells("tax"):
        assert session.run_cell(cell, lambda rollout: None) == []
    rows = list(session.store.consolidate().values())
    session.close()
    return rows


def scored(rows):
    return [
        Scored(r["task"], r["family"], r["mode"], tuple(r["models"]), r["condition"], r["seed"], r["score"])
        for r in rows
    ]


def true_means(rates, seeds):
    """Expected solo and homo score of a model on schedule, worked out from its rates alone.

    Without fabrications a dialogue ends wrong only if the initiator proposes from its own view (it did not ask, or did
    not combine) and the responder agrees without recomputing; it then earns what that half view earns.
    """
    task = get_task("schedule")
    own = 1 - (1 - rates.l2) * (1 - rates.l3)
    solo = homo = 0.0
    for seed in seeds:
        one = problem(task, seed)
        half = graders.grade(task, one.instance, task.solve(one.views[0])).score
        homo += 1 - own * rates.l4 * (1 - half)
        slips = [task.solve(task.corrupt(one.instance, seeded("truth", seed, i))) for i in range(20)]
        slipped = sum(graders.grade(task, one.instance, a).score for a in slips) / len(slips)
        solo += 1 - rates.slip * (1 - rates.mend) * (1 - slipped)
    return solo / len(seeds), homo / len(seeds)


def test_known_tax_is_recovered(tmp_path, root):
    covered = []
    for number, (l2, l3, l4, slip) in enumerate(product((0.1, 0.5), (0.0, 0.3), (0.4, 0.9), (0.0, 0.2))):
        model = f"sim/l2={l2},l3={l3},l4={l4},slip={slip}"
        rows = measure(tmp_path / str(number), root, model=[model], task=["schedule"], rollouts=60)
        solo, homo = true_means(policy.knobs(model), range(60))
        found = tax(scored(rows), model).tasks[0]
        assert found.paired == 60
        assert found.tax.value == pytest.approx(solo - homo, abs=0.15)
        covered.append(found.tax.low <= solo - homo <= found.tax.high)
    assert sum(covered) >= 14, f"only {sum(covered)} of 16 intervals of 95 % hold the true tax"


def test_no_fault_no_tax_and_every_fault_full_tax(tmp_path, root):
    rows = measure(tmp_path / "a", root, model=["sim/perfect"], rollouts=10)
    assert {r["score"] for r in rows} == {1.0}
    rows = measure(tmp_path / "b", root, model=["sim/l2=1,l4=1"], task=["schedule"], rollouts=20)
    half = [
        graders.grade(t, p.instance, t.solve(p.views[0])).score
        for t in [get_task("schedule")]
        for p in [problem(t, s) for s in range(20)]
    ]
    assert [r["score"] for r in rows if r["mode"] == "homo"] == pytest.approx(half)


def stages(row):
    """Which stages a dialogue shows, read from its text: (facts told falsely by each who told some, asked, combined,
    recomputed); None where a stage had no occasion."""
    task = get_task(row["task"])
    one = problem(task, row["seed"])
    lies = []
    for turn in row["turns"][:2]:
        told = policy.parsed(task, turn["text"])
        if told is not None:
            lies.append(told != one.views[turn["seat"]])
    asked = any(question in row["turns"][0]["text"] for question in ASK)
    combined = "Combining both parts" in row["turns"][2]["text"] if asked else None
    return lies, asked, combined, "recomputed" in row["turns"][-1]["text"] or "every step" in row["turns"][-1]["text"]


@pytest.mark.parametrize("condition", ["", "all-four", "no-l2"])
def test_stage_rates_are_recovered_and_clauses_move_them(tmp_path, root, condition):
    model = "sim/l1=0.3,l2=0.4,l3=0.35,l4=0.6"
    given = {"intervention": [condition]} if condition else {}
    rows = measure(tmp_path, root, model=[model], task=["schedule"], mode=["homo"], rollouts=150, **given)
    rows = [r for r in rows if r["condition"] == condition and len(r["turns"]) == 4]
    rates = vars(policy.knobs(model)) | {}
    eased = {"": (), "all-four": ("l1", "l2", "l3", "l4"), "no-l2": ("l1", "l3", "l4")}[condition]
    true = {k: rates[k] * (policy.RELIEF if k in eased else 1) for k in ("l1", "l2", "l3", "l4")}
    seen = [stages(r) for r in rows]
    assert len(seen) == 150
    counts = {
        "l1": [lie for lies, *_ in seen for lie in lies],
        "l2": [not asked for _, asked, _, _ in seen],
        "l3": [not combined for _, asked, combined, _ in seen if asked],
        "l4": [not recomputed for *_, recomputed in seen],
    }
    for stage, fired in counts.items():
        low, high = binomtest(sum(fired), len(fired)).proportion_ci(0.99)
        assert low <= true[stage] <= high, (stage, true[stage], sum(fired), len(fired))


def test_a_reply_depends_on_its_request_alone():
    task = get_task("maze")
    one = problem(task, 5)
    text = prompt("tax/solo_task").format(task=task.prompt, view=task.render(one.instance, one.frames[0]))
    body = {"model": "sim/weak", "messages": [{"role": "user", "content": text}], "temperature": 0.7}
    assert respond(body) == respond(json.loads(json.dumps(body)))


def test_the_loopback_endpoint_speaks_the_protocol_and_refuses_other_names():
    with Server() as server:
        import threading

        threading.Thread(target=server.serve_forever, daemon=True).start()

        def post(body):
            data = body if isinstance(body, bytes) else json.dumps(body).encode()
            request = urllib.request.Request(
                f"{server.url}/chat/completions", data, {"content-type": "application/json"}
            )
            try:
                with urllib.request.urlopen(request, timeout=20) as reply:
                    return reply.status, json.load(reply)
            except urllib.error.HTTPError as problem:
                return problem.code, json.load(problem)

        task = get_task("relaquery")
        one = problem(task, 0)
        text = prompt("tax/half_task").format(task=task.prompt, view=task.render(one.views[0], one.frames[0]))
        ask = {"messages": [{"role": "user", "content": text}]}
        status, reply = post({"model": "sim/medium", **ask})
        assert status == 200
        assert reply["choices"][0]["finish_reason"] == "stop"
        assert reply["usage"]["total_tokens"] > 0
        assert post({"model": "gpt-4.1-nano", **ask})[0] == 404, "a simulation must not pass for a real model"
        assert post({"model": "sim/unheard-of", **ask})[0] == 400
        assert post({"model": "sim/medium", "messages": [{"role": "user", "content": "Hello"}]})[0] == 400
        for garbage in (b"", b"[]", b"{", b'{"model": "sim/medium", "messages": 3}', b"\xff"):
            assert post(garbage)[0] in (400, 404)
        with urllib.request.urlopen(f"{server.url}/models", timeout=20) as reply:
            assert {"sim/weak", "sim/medium", "sim/strong"} <= {m["id"] for m in json.load(reply)["data"]}
        server.shutdown()


@pytest.mark.parametrize(
    "name", ["sim/", "sim/l1", "sim/l1=2", "sim/l9=0.1", "sim/l1=-1", "sim/l1=nan", "sim/scripted=0"]
)
def test_a_wrong_name_lists_the_right_ones(name):
    with pytest.raises(ValueError, match="sim/weak") as problem_:
        policy.knobs(name)
    assert "\n" not in str(problem_.value)


def test_the_simulated_extractor_reads_what_the_program_reads(tmp_path, root):
    given = {"model": ["sim/weak"], "rollouts": 8, "mode": ["solo", "homo"]}
    program = measure(tmp_path / "a", root, **given)
    model = measure(tmp_path / "b", root, extractor="sim/extractor", **given)
    assert [r["answer"] for r in model] == [r["answer"] for r in program]
    assert any(r["answer"] for r in program)
