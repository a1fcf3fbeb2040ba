"""`python -m collabtax extract`, the Markdown summary and the agreement of two extractors."""

import io
import json
import sys
from collections import Counter

import pytest

from collabtax.__main__ import main
from collabtax.progress import Tally
from collabtax.report import finish
from collabtax.report.markdown import cell
from collabtax.session import Session


@pytest.mark.parametrize(
    ("arguments", "text", "answer", "warning"),
    [
        (["--type=path"], "FINAL: (0,0) -> (0,1)", [[0, 0], [0, 1]], "clean"),
        (["--type=path"], "I have no idea.", None, "none"),
        (["--type=path"], "", None, "empty"),
        (["--type=slots", '--form={"events": ["demo", "retro"]}'], "demo: 09:00\nretro: 1 pm",
         {"demo": "09:00", "retro": "13:00"}, "clean"),
        (["--type=path", "--yaml"], "answer: [[0, 0], [0, 1]]\nscheme: as written", [[0, 0], [0, 1]], "clean"),
        (["--type=path", "--messages"],
         json.dumps([{"speaker": "a", "text": "FINAL: (0,0), (0,1)"}, {"text": "I agree. ACTI!"}]),
         [[0, 0], [0, 1]], "clean"),
    ],
)  # fmt: skip
def test_answers_are_read_as_json(arguments, text, answer, warning, tmp_path, capsys, monkeypatch):
    (tmp_path / "said.txt").write_text(text)
    monkeypatch.setattr(sys, "stdin", io.StringIO(text))
    for source in (str(tmp_path / "said.txt"), "-"):
        assert main(["extract", *arguments, source]) == 0
        found = json.loads(capsys.readouterr().out)
        assert (found["answer"], found["warning"]) == (answer, warning)
        assert set(found) == {"answer", "warning", "evidence", "outcome"}


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["--type=poem", "FILE"], "kind 'poem' is none of path, "),
        (["--type=order", "FILE"], "--type order --form '{}'"),
        (["--type=order", "--form={", "FILE"], "--form takes a JSON object"),
        (["--type=path", "--form=[]", "FILE"], "--form takes a JSON object"),
        (["--type=path", "gone.txt"], "gone.txt cannot be read"),
        (["--type=path", "--messages", "FILE"], "is no JSON list of messages"),
    ],
)
def test_what_cannot_be_read_is_said_in_one_line(arguments, said, tmp_path, capsys):
    (tmp_path / "said.txt").write_text('{"text": 1}')
    assert main(["extract", *(str(tmp_path / "said.txt") if a == "FILE" else a for a in arguments)]) == 2
    error = capsys.readouterr().err
    assert said in error
    assert error.count("\n") == 1


def run(tmp_path, root, **given):
    options = {
        "model": ["sim/weak"],
        "task": ["maze", "schedule"],
        "mode": ["solo", "homo"],
        "rollouts": 4,
        "turn_cap": 3,
    }
    session = Session({**options, "cassettes": str(tmp_path / "c"), "run": str(tmp_path / "r"), **given}, root)
    cells, tally = session.settings.cells("tax"), Tally()
    for one in cells:
        session.run_cell(one, lambda rollout, name=one.id: tally.count(name, rollout))
    lines, _ = finish(session, cells, tally)
    session.close()
    return lines, list(session.store.rows().values())


def test_two_extractors_are_compared(tmp_path, root):
    lines, rows = run(tmp_path, root, extractor="program,sim/extractor")
    found = Counter(row["second"]["agreement"] for row in rows)
    assert found.total() == len(rows) == 16
    assert found["equal"] >= 14
    told = next(line for line in lines if line.startswith("extractors, over 16 transcripts: "))
    assert f"{found['equal']} equal" in told
    pages = (tmp_path / "r" / "report" / "tax.html").read_text()
    assert "Two extractors read the same 16 transcripts" in pages
    _, turned = run(tmp_path / "turned", root, extractor="sim/extractor,program")
    assert [row["second"]["answer"] for row in turned] == [row["answer"] for row in rows]
    alone, rows = run(tmp_path / "alone", root)
    assert {row["second"] for row in rows} == {None}
    assert not any(line.startswith("extractors") for line in alone)


def test_the_report_tells_how_answers_were_read(tmp_path, root):
    _, rows = run(tmp_path, root)
    page = (tmp_path / "r" / "report" / "tax.html").read_text()
    counts = Counter(row["warning"] for row in rows)
    section = page.partition('<section id="readings">')[2].partition("</section>")[0]
    assert f'<td class="n">{counts["clean"]}</td>' in section
    assert "error text" in section


def test_the_summary_in_markdown(tmp_path, root, monkeypatch):
    monkeypatch.setenv("GITHUB_STEP_SUMMARY", str(tmp_path / "step.md"))
    (tmp_path / "step.md").write_text("before\n")
    run(tmp_path, root)
    page = (tmp_path / "step.md").read_text()
    assert page.startswith("before\n## Collaboration tax\n")
    rows = [line for line in page.splitlines() if line.startswith("|")]
    assert {row.count("|") for row in rows} == {8}
    assert any("| all |" in row for row in rows)
    assert "planned 16 = scored" in page
    run(tmp_path / "b", root, markdown=str(tmp_path / "own.md"))
    assert (tmp_path / "own.md").exists()


@pytest.mark.parametrize("name", ["a|b", "<script>", "**x**", "`x`", "[x](y)", "a\nb", "\x1b[1m", "$x$", "@all", "#1"])
def test_names_cannot_leave_their_cell(name):
    told = cell(name)
    assert not set(told.replace("&#", "").replace(";", "")) & set("|<>`*_[]\\~$@!\n\x1b")
