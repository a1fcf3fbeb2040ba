"""Files for other programs: they read what was written, nothing runs in them, and equal data makes equal bytes."""

from __future__ import annotations

import argparse
import csv
import io
import sys
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from collabtax.report import exports
from collabtax.report.figures import Figure, contrasts
from collabtax.store import Store, load

ROWS = {"g": [("one", 0.125, 0.1, 0.2), ("=cmd|' /C calc'!A0", -0.5, None, None)]}


def figure(name: str = "one") -> Figure:
    return contrasts(name, "Title", "Caption", "axis", ROWS)


def row(seed: int, **more: Any) -> dict[str, Any]:
    return {
        "study": "tax", "task": "maze", "family": "spatial", "mode": "homo", "models": ["a", "b"], "condition": "",
        "seed": seed, "settings": "s", "outcome": "scored", "score": 0.5, "success": False, "warning": "clean",
        "reason": "", "cost": None, "answer": [[0, 1]], "where": None, "said": {"friction": "natural", "turn_cap": 5},
        "versions": {"task": 1}, "usage": {"prompt": 10},
        "turns": [{"seat": 0, "text": "abc"}, {"seat": 1, "text": "de"}], **more,
    }  # fmt: skip


def test_every_kind_of_file_is_one(tmp_path: Path) -> None:
    from pyarrow import parquet

    paths = exports.write([figure("one"), figure("two")], tmp_path / "figures")
    assert [p.name for p in paths] == [f"{n}.{k}" for n in ("one", "two") for k in exports.KINDS]
    svg, pdf, table, columns = (p.read_bytes() for p in paths[:4])
    assert svg == figure().svg.encode()
    assert pdf.startswith(b"%PDF-")
    assert pdf.rstrip().endswith(b"%%EOF")
    assert b"/Type3" not in pdf  # letters are a font, that can be searched and set
    read = list(csv.reader(io.StringIO(table.decode())))
    assert read[0] == ["group", "what", "difference", "low", "high"]
    assert read[1] == ["g", "one", "0.125", "0.1", "0.2"]
    assert read[2] == ["g", "'=cmd|' /C calc'!A0", "-0.5", "", ""]
    assert parquet.read_table(io.BytesIO(columns)).to_pylist() == [
        dict(zip(figure().head, values, strict=True)) for values in figure().rows
    ]


def test_pdf_has_the_text(tmp_path: Path) -> None:
    """Its streams, inflated, show what the SVG says; a second reader of the file format, written here."""
    import re
    import zlib

    pdf = figure().pdf()
    streams = [zlib.decompress(s) for s in re.findall(rb"stream\n(.*?)\nendstream", pdf, re.DOTALL) if s[:1] == b"x"]
    assert any(b"Tj" in s or b"TJ" in s for s in streams)
    assert b"CreationDate" not in pdf


def test_equal_figures_make_equal_bytes(tmp_path: Path) -> None:
    first, second = (
        {p.name: p.read_bytes() for p in exports.write([figure()], tmp_path / name)} for name in ("a", "b")
    )
    assert first == second


def test_files_of_others_stay(tmp_path: Path) -> None:
    exports.write([figure("one"), figure("two")], tmp_path, ("csv",))
    (tmp_path / "notes.csv").write_text("mine")
    exports.write([figure("two")], tmp_path, ("csv",))
    assert sorted(p.name for p in tmp_path.iterdir()) == ["contents.txt", "notes.csv", "two.csv"]
    with pytest.raises(FileExistsError, match=r"notes.csv in .* is not of a report"):
        exports.write([figure("notes")], tmp_path, ("csv",))
    assert (tmp_path / "notes.csv").read_text() == "mine"
    assert (tmp_path / "two.csv").exists()


@pytest.mark.parametrize("name", ["../one", "one/two", "ONE", "", "one.svg"])
def test_names_that_are_none_for_a_file(name: str, tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="is no name for a file"):
        exports.write([figure(name)], tmp_path / "x", ("csv",))
    assert not (tmp_path / "x").exists()


def test_a_list_that_names_other_files_removes_none_of_them(tmp_path: Path) -> None:
    folder = tmp_path / "figures"
    folder.mkdir()
    (tmp_path / "keep.csv").write_text("mine")
    (folder / "contents.txt").write_text("../keep.csv: x\n/etc/one.csv\n")
    exports.write([figure()], folder, ("csv",))
    assert (tmp_path / "keep.csv").exists()


def test_results_are_flat_with_a_line_each() -> None:
    found = exports.results([row(0), row(1, second={"answer": 1}, usage={"completion": 3})])
    assert list(found)[:8] == ["study", "task", "family", "mode", "initiator", "models", "condition", "seed"]
    assert found["models"] == ["a + b"] * 2
    assert found["initiator"] == ["a"] * 2
    assert found["said.friction"] == ["natural"] * 2
    assert (found["turns"], found["characters"]) == ([2, 2], [5, 5])
    assert found["usage.prompt"] == [10, None]
    assert found["usage.completion"] == [None, 3]
    assert found["answer"] == ["[[0,1]]"] * 2
    assert found["second"] == [None, '{"answer":1}']
    assert all(len(column) == 2 for column in found.values())


TEXTS = st.text(max_size=12) | st.sampled_from(
    ["=1+1", "+a", "-b", "@c", "\td", "a,b", 'q"q', "two\nlines", "\ud800", "\x00"]
)
CELLS = st.none() | st.booleans() | st.integers(-(2**70), 2**70) | st.floats(allow_nan=False, width=32) | TEXTS


@given(st.lists(st.tuples(CELLS, TEXTS), min_size=1, max_size=6))
@settings(max_examples=100, deadline=None)
def test_other_readers_read_what_was_written(lines: list[tuple[Any, str]]) -> None:
    from pyarrow import parquet

    columns = {"any": [a for a, _ in lines], "text": [b for _, b in lines]}
    read = list(csv.reader(io.StringIO(exports.as_csv(columns).decode(), newline="")))
    assert len(read) == 1 + len(lines)
    for (_, said), (_, there) in zip(lines, read[1:], strict=True):
        assert not there.startswith(exports.FORMULA)
        plain = said.encode("utf-8", "backslashreplace").decode()
        assert there in (plain, f"'{plain}")
    table = parquet.read_table(io.BytesIO(exports.as_parquet(columns))).to_pydict()
    assert table["text"] == [b.encode("utf-8", "backslashreplace").decode() for _, b in lines]
    for wrote, got in zip(columns["any"], table["any"], strict=True):
        assert (wrote is None) == (got is None)
        assert isinstance(got, str | type(None)) or got == wrote


def test_parquet_without_pyarrow(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    with pytest.raises(ValueError, match="Parquet needs pyarrow: install the extra `frame`, or write CSV"):
        exports.write([figure()], tmp_path, ("parquet",))
    monkeypatch.setattr(exports, "find_spec", lambda name: None)
    assert [p.suffix for p in exports.write([figure()], tmp_path)] == [".svg", ".pdf", ".csv"]


def test_command(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    import pandas

    store = Store(tmp_path / "run")
    for seed in range(3):
        store.add(row(seed))
    store.close()
    parser = argparse.ArgumentParser()
    exports.register(parser.add_subparsers())
    for name in ("a.csv", "a.parquet"):
        given = parser.parse_args(["export", str(tmp_path / "run"), "--out", str(tmp_path / name)])
        given.run(given)
        assert capsys.readouterr().out == f"3 rollouts in {tmp_path / name}\n"
    assert len(load(tmp_path / "run")) == 3
    by_csv, by_parquet = pandas.read_csv(tmp_path / "a.csv"), pandas.read_parquet(tmp_path / "a.parquet")
    assert list(by_csv.columns) == list(by_parquet.columns)
    assert by_csv["score"].tolist() == by_parquet["score"].tolist() == [0.5] * 3
    for arguments, said in (
        ([str(tmp_path / "none"), "--out", "a.csv"], "no results in"),
        ([str(tmp_path / "run"), "--out", "a.json"], "ends in neither .csv nor .parquet"),
        ([str(tmp_path / "run"), "--out", str(tmp_path / "no" / "a.csv")], "cannot be written"),
    ):
        given = parser.parse_args(["export", *arguments])
        with pytest.raises(ValueError, match=said):
            given.run(given)
