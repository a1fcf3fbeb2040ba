"""Results on disk: nothing finished is lost, nothing is there twice, whatever dies when."""

import fcntl
import itertools
import json
import os
import random
import signal
import subprocess
import sys
import threading
import tracemalloc
from pathlib import Path

import pytest

from collabtax.cassettes import canonical
from collabtax.store import Store, frame, head, key, load, read_lines

ROOT = Path(__file__).parents[1]


def row(seed=0, outcome="scored", model="m", **more):
    return {
        "study": "tax", "task": "maze", "mode": "solo", "models": [model], "condition": "", "seed": seed,
        "settings": "d", "outcome": outcome, "score": None if outcome == "infrastructure" else 1.0, **more,
    }  # fmt: skip


def fill(folder, rows, session=None, name=None):
    """Write rows as one process would; `name` renames its part."""
    store = Store(folder, session)
    for one in rows:
        store.add(one)
    store.close()
    part = max(store.parts.iterdir(), key=lambda p: p.stat().st_mtime_ns)
    if name:
        part.rename(store.parts / f"{store.session:06d}-{name}.jsonl")
    return store


def test_a_row_is_there_as_soon_as_it_is_added(tmp_path):
    store = Store(tmp_path)
    store.add(row(1, text="é\u2028\ud83d\n"))
    assert [r["seed"] for r in load(tmp_path)] == [1]
    assert load(tmp_path)[0]["text"] == "é\u2028\ud83d\n"
    store.add(row(0))
    assert [r["seed"] for r in load(tmp_path)] == [0, 1], "in a fixed order"
    store.close()
    assert Store(tmp_path).session == 2


def test_rows_of_one_rollout_are_one(tmp_path):
    fill(tmp_path, [row(0, text="old"), row(0, text="new"), row(1), row(0, model="n")])
    fill(tmp_path, [row(1, text="later")])
    rows = load(tmp_path)
    assert len(rows) == 3
    assert {r.get("text") for r in rows} == {"new", "later", None}
    assert key(rows[0])[:2] == ("tax", "maze")


def test_a_failure_never_takes_the_place_of_a_result(tmp_path):
    bad, good = row(0, "infrastructure", error="first"), row(0)
    fill(tmp_path, [bad, row(0, "infrastructure", error="second")])
    assert load(tmp_path)[0]["error"] == "second"
    assert Store(tmp_path).ended(failed=False) == set()
    fill(tmp_path, [good])
    fill(tmp_path, [bad])
    assert load(tmp_path) == [good]
    assert Store(tmp_path).ended(failed=False) == {key(good)}
    replay = fill(tmp_path, [bad])
    assert list(replay.own().values()) == [bad], "what the session saw is there to be shown"
    assert list(replay.consolidate().values()) == [good]
    assert replay.own() == {}


@pytest.mark.parametrize("content", ['{"a": 1}\n', "{}\n", "no JSON\n"])
def test_a_run_folder_of_something_else_is_refused_in_one_line(tmp_path, content):
    (tmp_path / "results.jsonl").write_text(content)
    with pytest.raises(ValueError, match="choose another --run") as told:
        Store(tmp_path).probe()
    assert "\n" not in str(told.value)


def test_an_unusable_run_folder_is_refused_in_one_line(tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(ValueError, match="cannot be stored"):
        Store(tmp_path / "file").probe()
    Store(tmp_path / "new").probe()
    assert list((tmp_path / "new" / "parts").iterdir()) == []


@pytest.mark.parametrize("outcome", ["scored", "no_answer", "unreadable"])
def test_what_counts_as_finished(tmp_path, outcome):
    fill(tmp_path, [row(0, outcome)])
    assert Store(tmp_path).ended(failed=False) == {key(row(0))}


def test_a_torn_line_is_left_out_wherever_it_is_torn(tmp_path):
    fill(tmp_path, [row(0), row(1)], name="h-1")
    part = next((tmp_path / "parts").iterdir())
    whole = part.read_bytes()
    for end in range(len(whole)):
        part.write_bytes(whole[:end])
        assert len(Store(tmp_path).rows()) == whole[:end].count(b"\n")
    fill(tmp_path, [row(1), row(2)])
    assert [r["seed"] for r in Store(tmp_path).consolidate().values()] == [0, 1, 2]


@pytest.mark.parametrize(
    "line",
    [b"nonsense", b"[1]", b"{}", b'{"seed": 1}', b"\xff", b"[" * 100_000, json.dumps(row() | {"seed": []}).encode()],
)
def test_a_whole_line_that_is_no_result_is_told(tmp_path, line):
    (tmp_path / "results.jsonl").write_bytes(json.dumps(row()).encode() + b"\n" + line + b"\n")
    with pytest.raises(ValueError, match=r"results\.jsonl, line 2: not a result") as told:
        load(tmp_path)
    assert "\n" not in str(told.value)


def test_consolidation_does_not_depend_on_parts_and_repeats(tmp_path):
    draw, made = random.Random(3), set()
    rows = [row(s, o) for s in range(12) for o in ("infrastructure", "scored")]
    for attempt in range(6):
        folder = tmp_path / str(attempt)
        shuffled = draw.sample(rows, len(rows))
        cuts = sorted(draw.sample(range(1, len(rows)), attempt))
        for i, (a, b) in enumerate(itertools.pairwise([0, *cuts, len(rows)])):
            fill(folder, shuffled[a:b], name=f"host-{9 - i}")
        Store(folder).consolidate()
        once = (folder / "results.jsonl").read_bytes()
        Store(folder).consolidate()
        assert (folder / "results.jsonl").read_bytes() == once
        assert list((folder / "parts").iterdir()) == []
        assert sorted(os.listdir(folder)) == ["parts", "results.jsonl"]
        made.add(once)
    assert len(made) == 1
    assert made.pop().count(b"\n") == 12


def test_the_part_of_a_living_writer_stays(tmp_path):
    living = Store(tmp_path)
    living.add(row(0))
    fill(tmp_path, [row(1)])
    assert len(Store(tmp_path).consolidate()) == 2
    (part,) = (tmp_path / "parts").iterdir()
    living.add(row(2))
    living.close()
    assert len(load(tmp_path)) == 3
    Store(tmp_path).consolidate()
    assert not part.exists()
    living.add(row(3))
    living.close()
    assert [r["seed"] for r in load(tmp_path)] == [0, 1, 2, 3]


def test_a_writer_whose_part_is_tidied_away_as_it_opens_it_starts_another(tmp_path, monkeypatch):
    fill(tmp_path, [row(0)], session=1)
    flock, raced = fcntl.flock, []

    def late(fd, kind):
        if not raced:
            raced.append(1)
            assert len(Store(tmp_path).consolidate()) == 1
        flock(fd, kind)

    late_store = Store(tmp_path, session=1)
    monkeypatch.setattr(fcntl, "flock", late)
    late_store.add(row(1))
    late_store.close()
    assert [r["seed"] for r in load(tmp_path)] == [0, 1]


def test_a_full_disk_leaves_no_half_line(tmp_path, monkeypatch):
    write, store = os.write, Store(tmp_path)
    store.add(row(0))

    def full(fd, data):
        if len(data) < 100:
            raise OSError(28, "No space left on device")
        return write(fd, data[: len(data) // 2])

    monkeypatch.setattr(os, "write", full)
    with pytest.raises(OSError, match="No space"):
        store.add(row(1))
    monkeypatch.undo()
    store.add(row(2))
    store.close()
    assert [r["seed"] for r in load(tmp_path)] == [0, 2]


def test_tidying_by_many_at_once_loses_nothing(tmp_path):
    seen, stop, errors = [], threading.Event(), []

    def tidy():
        while not stop.is_set():
            try:
                Store(tmp_path).consolidate()
            except Exception as problem:
                errors.append(problem)
                return

    def watch():
        while not stop.is_set():
            seen.append(len(Store(tmp_path).rows()))

    threads = [threading.Thread(target=t) for t in (tidy, tidy, watch)]
    for thread in threads:
        thread.start()
    for session in range(1, 41):
        fill_one = Store(tmp_path, session)
        for seed in range(3):
            fill_one.add(row(session * 10 + seed))
        fill_one.close()
    stop.set()
    for thread in threads:
        thread.join()
    assert errors == []
    assert len(Store(tmp_path).consolidate()) == 120
    assert seen == sorted(seen), "a reader never sees fewer rows than before"


WRITER = """
import sys
from pathlib import Path
from collabtax.store import Store
store, start = Store(Path(sys.argv[1])), int(sys.argv[2])
for seed in range(start, 10**6):
    store.add({"study": "s", "task": "t", "mode": "m", "models": ["a"], "condition": "", "seed": seed, "settings": "d",
               "outcome": "scored", "text": "x" * 5000})
    sys.stdout.write(f"{seed}\\n")
    sys.stdout.flush()
"""


def test_kill_9_loses_no_finished_row(tmp_path):
    draw, done = random.Random(5), 0
    for attempt in range(5):
        writer = [sys.executable, "-c", WRITER, str(tmp_path), str(done)]
        child = subprocess.Popen(writer, stdout=subprocess.PIPE, cwd=ROOT)
        for _ in range(draw.randrange(1, 60)):
            child.stdout.readline()
        os.kill(child.pid, signal.SIGKILL)
        told = child.stdout.read().split()
        child.wait()
        child.stdout.close()
        if attempt % 2:
            Store(tmp_path).consolidate()
        seeds = [r["seed"] for r in load(tmp_path)]
        assert seeds == list(range(len(seeds)))
        assert not told or int(told[-1]) < len(seeds)
        done = len(seeds)
    assert done > 20


HOSTILE = [
    [], [{"text": "x"}], [{"text": ',"turns":[{"outcome":"infrastructure"}'}], {"not": "a list"}, None,
]  # fmt: skip


@pytest.mark.parametrize("turns", HOSTILE)
@pytest.mark.parametrize(
    "answer", [None, 'x,"turns":[', {"a": 1, "turns": [1]}, [{"a": {"b": 0, "turns": []}}], {"turns": [{"turns": [7]}]}]
)
def test_what_is_read_of_a_row_without_its_turns_is_what_is_in_it(answer, turns):
    told = row(3, text="no", answer=answer, error=',"turns":[', turns=turns, usage={"turns": [1]}, cost=0.5)
    found = head(canonical(told).encode() + b"\n")
    assert key(found) == key(told)
    assert (found["outcome"], found["cost"], found["answer"]) == ("scored", 0.5, answer)
    if turns == HOSTILE[1] and not isinstance(answer, dict | list):
        assert "turns" not in found, "the point of it"


def test_outcomes_without_rows_are_those_of_the_rows(tmp_path):
    draw = random.Random(7)
    for session in range(1, 7):
        rows = [row(draw.randrange(9), draw.choice(["infrastructure", "scored", "no_answer"])) for _ in range(9)]
        fill(tmp_path, rows, session)
        if session == 3:
            Store(tmp_path).consolidate()
        store = Store(tmp_path)
        found = store.rows()
        failed = {k for k, r in found.items() if r["outcome"] == "infrastructure"}
        assert store.ended(failed=True) == failed
        assert store.ended(failed=False) == found.keys() - failed
        assert {k: store.find(k) for k in found} == found
        assert store.find(key(row(99))) is None
        assert store.find(key(row(1, model="other"))) is None


def test_reading_what_ended_keeps_no_rows(tmp_path):
    fill(tmp_path, [row(seed, turns=[{"text": "x" * 20_000}], cost=0.25) for seed in range(500)])  # 10 MB
    for read in (
        Store.probe,
        lambda store: store.ended(failed=False),
        Store.spent,
        lambda store: store.find(key(row(4))),
    ):
        store = Store(tmp_path)
        tracemalloc.start()
        read(store)
        most = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        assert most < 2_000_000
    assert store.spent() == 125.0


def test_a_frame_has_a_row_a_rollout(tmp_path):
    pandas = pytest.importorskip("pandas")
    fill(tmp_path, [row(0), row(1, "infrastructure")])
    data = frame(tmp_path)
    assert isinstance(data, pandas.DataFrame)
    assert data.seed.tolist() == [0, 1]
    assert data.score.isna().tolist() == [False, True]
    assert frame(str(tmp_path)).equals(data)


def test_no_results_is_told_with_the_remedy(tmp_path):
    for folder in (tmp_path, tmp_path / "gone"):
        with pytest.raises(FileNotFoundError, match="--run") as told:
            load(folder)
        assert str(folder) in str(told.value)
    assert not (tmp_path / "gone").exists()
    assert Store(tmp_path / "gone").ended(failed=False) == set()


def test_strange_files_in_a_run_are_left_alone(tmp_path):
    fill(tmp_path, [row(0)])
    for name in ("1x-notes.jsonl", "notes.txt", "000001-h-1.jsonl.bak"):
        (tmp_path / "parts" / name).write_text("mine")
    assert len(Store(tmp_path).consolidate()) == 1
    assert len(list((tmp_path / "parts").iterdir())) == 3
    assert list(read_lines(tmp_path / "results.jsonl")) == [row(0)]
