"""Parts of a study on several machines: together they are the whole, and what does not fit together is refused."""

import pytest
from test_suite import suite

from collabtax.__main__ import main
from collabtax.settings import part_of, settings
from collabtax.store import Store, load, merge

GIVEN = {"model": ["sim/weak", "sim/strong"], "pair": ["sim/weak,sim/strong"]}


@pytest.mark.parametrize("parts", [1, 2, 3, 4, 7])
def test_parts_are_disjoint_and_whole(parts, tmp_path):
    whole = settings(GIVEN, tmp_path).cells("tax")
    found = [settings({**GIVEN, "shard": f"{i}/{parts}"}, tmp_path).cells("tax") for i in range(1, parts + 1)]
    assert sorted(c.id for part in found for c in part) == sorted(c.id for c in whole)
    assert all(len(part) > len(whole) / parts / 2 for part in found)


def test_a_cell_stays_in_its_part_whatever_else_is_run(tmp_path):
    few = settings({**GIVEN, "task": ["maze"], "shard": "2/3"}, tmp_path).cells("tax")
    all_ = settings({**GIVEN, "shard": "2/3"}, tmp_path).cells("tax")
    assert set(few) <= set(all_)
    assert {part_of(cell, 3) for cell in all_} == {2}


@pytest.mark.parametrize("told", ["0/3", "4/3", "1", "1/0", "a/b", "-1/2", "1/2/3", "1/999999999"])
def test_a_part_that_is_none_is_refused(told, tmp_path):
    with pytest.raises(ValueError, match=r"--shard .* is not a part of some, like 2/4"):
        settings({**GIVEN, "shard": told}, tmp_path)


def test_four_shards_are_one_run(tmp_path):
    given = ("--model=sim/weak", "--rollouts=3", "--turn-cap=3")
    suite(*given, f"--cassettes={tmp_path}/c", f"--run={tmp_path}/whole")
    for i in range(1, 5):
        suite(*given, f"--shard={i}/4", f"--cassettes={tmp_path}/c{i}", f"--run={tmp_path}/r{i}")
    assert main(["merge", f"{tmp_path}/all", *(f"{tmp_path}/r{i}" for i in range(1, 5))]) == 0
    assert (tmp_path / "all/results.jsonl").read_bytes() == (tmp_path / "whole/results.jsonl").read_bytes()
    done = suite(*given, f"--cassettes={tmp_path}/c9", f"--run={tmp_path}/all")
    assert "planned 36 = scored" in done.stdout
    assert not (tmp_path / "c9").exists(), "nothing is asked again"


def row(seed=0, **changes):
    return {
        "study": "tax", "task": "maze", "mode": "solo", "models": ["m"], "condition": "", "seed": seed, "settings": "s",
        "outcome": "scored", "score": 1.0,
    } | changes  # fmt: skip


def store(folder, *rows):
    one = Store(folder, session=1)
    for each in rows:
        one.add(each)
    one.close()
    return folder


def test_what_does_not_fit_together_is_refused(tmp_path):
    a = store(tmp_path / "a", row(0), row(1))
    same = store(tmp_path / "same", row(1), row(2))
    other = store(tmp_path / "other", row(1, score=0.5))
    changed = store(tmp_path / "changed", row(5, settings="t"))
    assert merge([a, same], tmp_path / "out") == 3
    with pytest.raises(ValueError, match=r"maze-solo-m seed 1 has one result in .*a and another in .*other"):
        merge([a, other], tmp_path / "no")
    with pytest.raises(ValueError, match="different settings"):
        merge([a, changed], tmp_path / "no")
    with pytest.raises(ValueError, match="holds results already"):
        merge([a], tmp_path / "out")
    with pytest.raises(FileNotFoundError, match="no results"):
        merge([a, tmp_path / "empty"], tmp_path / "no")
    assert not (tmp_path / "no").exists()
    assert load(a) == [row(0), row(1)]


def test_the_command_says_what_is_wrong_in_one_line(tmp_path, capsys):
    assert main(["merge", f"{tmp_path}/out", f"{tmp_path}/none"]) == 2
    assert capsys.readouterr().err.count("\n") == 1
