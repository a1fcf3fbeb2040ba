"""The gate: what it lets pass, what it calls a regression, and what it refuses to compare."""

import json
import re
import shlex
import subprocess
import sys

import pytest
from test_suite import ROOT, suite

from collabtax.baseline import CANNOT_COMPARE, PASS, REGRESSION, compare, place, read, write


def one(seed, **changes):
    line = {
        "study": "tax", "cell": "maze-solo-m", "seed": seed, "basis": "b", "outcome": "scored", "score": 0.5,
        "success": False, "warning": "clean", "answer": [[0, 0]],
    }  # fmt: skip
    return line | changes


def lines(*rows):
    return {place(row): row for row in rows}


BEFORE = lines(*(one(seed) for seed in range(3)))


@pytest.mark.parametrize(
    ("now", "code", "same", "changed", "apart"),
    [
        (BEFORE, PASS, 3, 0, []),
        (BEFORE | lines(one(1, score=0.75)), REGRESSION, 2, 1, []),
        (BEFORE | lines(one(1, score=0.25)), REGRESSION, 2, 1, []),
        (BEFORE | lines(one(1, outcome="unreadable", score=0.0, answer=None)), REGRESSION, 2, 1, []),
        (BEFORE | lines(one(1, warning="possible")), REGRESSION, 2, 1, []),
        (BEFORE | lines(one(1, answer=[[1, 1]])), REGRESSION, 2, 1, []),
        (BEFORE | lines(one(1, success=True)), REGRESSION, 2, 1, []),
        (BEFORE | lines(one(1, basis="c")), CANNOT_COMPARE, 2, 0, ["run with another version"]),
        (BEFORE | lines(one(1, basis="c", score=0.25)), CANNOT_COMPARE, 2, 0, ["run with another version"]),
        (BEFORE | lines(one(1, outcome="infrastructure", score=None)), CANNOT_COMPARE, 2, 0, ["could not be run"]),
        (BEFORE | lines(one(3)), CANNOT_COMPARE, 3, 0, ["not in the baseline"]),
        (lines(one(0), one(1)), CANNOT_COMPARE, 2, 0, ["not in this run"]),
        (lines(one(0), one(1, score=0.0)), REGRESSION, 1, 1, ["not in this run"]),
        ({}, CANNOT_COMPARE, 0, 0, ["not in this run"]),
    ],
)
def test_verdicts(now, code, same, changed, apart):
    found = compare(BEFORE, now)
    assert (found.code, found.same, len(found.changed)) == (code, same, changed)
    assert len(found.apart) == len(apart)
    assert all(part in why for part, why in zip(apart, found.apart, strict=True))


def test_nothing_against_nothing_is_no_pass():
    assert compare({}, {}).code == CANNOT_COMPARE
    failed = lines(one(0, outcome="infrastructure", score=None))
    assert compare(failed, failed).code == CANNOT_COMPARE


def test_a_baseline_is_read_as_it_was_written(tmp_path):
    write(tmp_path / "deep" / "b.jsonl", reversed(BEFORE.values()))
    assert read(tmp_path / "deep" / "b.jsonl") == BEFORE
    write(tmp_path / "c.jsonl", BEFORE.values())
    assert (tmp_path / "c.jsonl").read_bytes() == (tmp_path / "deep" / "b.jsonl").read_bytes()


@pytest.mark.parametrize("text", ["", "{", "[]\n", "{}\n", '{"study": 1}\n', "\x00", "[" * 99999])
def test_what_is_no_baseline_is_refused_in_a_line(text, tmp_path):
    (tmp_path / "b.jsonl").write_text(text)
    with pytest.raises(ValueError, match=r"--baseline .*b\.jsonl.*--update-baseline") as caught:
        read(tmp_path / "b.jsonl")
    assert "\n" not in str(caught.value)


SELECTED = ("--model=sim/weak", "--task=maze,schedule", "--rollouts=4", "--turn-cap=3")


@pytest.fixture(scope="module")
def recorded(tmp_path_factory):
    """Recordings of some cells and the baseline of them."""
    folder = tmp_path_factory.mktemp("recorded")
    suite(*SELECTED, f"--cassettes={folder}/c", f"--run={folder}/r0")
    gate = (*SELECTED, "--record-mode=none", f"--cassettes={folder}/c", f"--baseline={folder}/b.jsonl")
    done = suite(*gate, "--update-baseline", f"--run={folder}/r1")
    assert "b.jsonl: 32 rollouts written" in done.stdout
    return folder, gate


def test_the_gate_passes_what_did_not_change(recorded):
    folder, gate = recorded
    for workers in (0, 2):
        done = suite(*gate, f"--run={folder}/r2", "-n", workers)
        assert "b.jsonl: pass (32 as before, 0 changed, 0 not comparable)" in done.stdout


def test_a_changed_grade_fails_with_what_shows_it(recorded, tmp_path):
    """The baseline is altered in place of the grader: two results that today's code does not come to."""
    folder, gate = recorded
    rows = [json.loads(text) for text in (folder / "b.jsonl").read_text().splitlines()]
    for row in rows[3:5]:
        row["score"] = 0.123
    write(tmp_path / "b.jsonl", rows)
    done = suite(*gate, f"--baseline={tmp_path}/b.jsonl", f"--run={tmp_path}/r", check=False)
    assert done.returncode == REGRESSION
    assert "regression (30 as before, 2 changed, 0 not comparable)" in done.stdout
    said = done.stdout.splitlines()
    at = next(i for i, text in enumerate(said) if text.startswith("changed: "))
    assert "scored 0.123" in said[at]
    assert " -> " in said[at]
    words = [word for word in shlex.split(said[at + 1]) if not word.startswith("--run")]
    again = [sys.executable, *words[1:], f"--cassettes={folder}/c", f"--run={tmp_path}/again"]
    shown = subprocess.run(again, cwd=ROOT, capture_output=True, text=True, check=True)
    assert "planned 1 = scored 1" in shown.stdout


@pytest.mark.parametrize(
    ("more", "said"),
    [
        (("--mode=solo",), "in the baseline, not in this run"),
        (("--rollouts=5",), "could not be run|not in the baseline"),
        (("--no-critic",), "could not be run|another version of task or prompt"),
    ],
)
def test_another_selection_is_not_compared(recorded, tmp_path, more, said):
    _, gate = recorded
    done = suite(*gate, *more, f"--run={tmp_path}/r", check=False)
    assert done.returncode == CANNOT_COMPARE, done.stdout[-2000:]
    assert re.search(said, done.stdout)
    assert ": cannot compare (" in done.stdout


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("--baseline=nowhere.jsonl",), "there is no such file"),
        (("--update-baseline",), "--update-baseline has no file to write"),
        (("--baseline=b.jsonl", "--model=sim/weak"), "is about recordings; add --record-mode=none"),
    ],
)
def test_bad_input_is_said_before_anything_runs(arguments, said, tmp_path):
    done = suite(*arguments, f"--run={tmp_path}/r", check=False)
    assert done.returncode == 4
    assert said in " ".join((done.stdout + done.stderr).split())
    assert not (tmp_path / "r" / "results.jsonl").exists()
