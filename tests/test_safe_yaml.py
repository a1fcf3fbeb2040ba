"""Replies of model extractors: nothing in their YAML changes type, nothing in it can do harm."""

from __future__ import annotations

import json
import sys

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from graders.extract import interpret, yaml
from tasks.answers import PathForm, QueryForm, SlotForm

SAME = [
    # booleans, sexagesimal numbers, comments, indicators, tuples, numbers: what is written stays text
    (
        "answers:\n  q1: no\n  q2: Yes\n  q3: on\n  seat: N",
        {"answers": {"q1": "no", "q2": "Yes", "q3": "on", "seat": "N"}},
    ),
    ("schedule:\n  A: 10:30\n  B: 09:30\n  C: 12:30:00", {"schedule": {"A": "10:30", "B": "09:30", "C": "12:30:00"}}),
    (
        "row0: . . # @ *\nrow1: #..\nnote: door (room #3)",
        {"row0": ". . # @ *", "row1": "#..", "note": "door (room #3)"},
    ),
    ("start: @\ngoal: *g\n", {"start": "@", "goal": "*g"}),
    ("k: &x\np: %\nb: `c`\ne: !r", {"k": "&x", "p": "%", "b": "`c`", "e": "!r"}),
    ("path: [(0,0), (0,1), (1,1)]", {"path": ["(0,0)", "(0,1)", "(1,1)"]}),
    ("path: (0,0), (0,1)", {"path": "(0,0), (0,1)"}),
    (
        "code: 007\nid: 1_0\nnode: null\nday: 2024-01-02\nval: .nan\nhex: 0x1F\nt: ~",
        {"code": "007", "id": "1_0", "node": "null", "day": "2024-01-02", "val": ".nan", "hex": "0x1F", "t": "~"},
    ),
    ("grid:\n- [., #, @, *]\n- . # *\n- # . .", {"grid": [[".", "#", "@", "*"], ". # *", "# . ."]}),
    ("a: |\n  # . @\n  x: y\nb: c", {"a": "# . @\nx: y\n", "b": "c"}),
    ("a: [1,\n (2,3),\n 'x, y', {b: c}]", {"a": ["1", "(2,3)", "x, y", {"b": "c"}]}),
    ('{"a": "b", "c": [1, 2], "d": {"e": "f: g"}}', {"a": "b", "c": ["1", "2"], "d": {"e": "f: g"}}),
    ("a: b: c", {"a": "b: c"}),
    ("x: 'it''s'\ny: \"P\" is start\nz: \"a\\tb\"", {"x": "it's", "y": '"P" is start', "z": "a\tb"}),
    ("a:\n\t- b\n\t- c: d", {"a": ["b", {"c": "d"}]}),
    ("# a remark\na: b", {"a": "b"}),
    ("a: 1\n---\nb: 2\n---\njust text", {"b": "2"}),
    ("- a\n- b", ["a", "b"]),
    ("Sure, here it is:\n```yaml\nanswer: no\n```\nDone: yes", {"answer": "no"}),
    ("The result: as asked\nanswer:\n  q1: on", {"answer": {"q1": "on"}}),
    ("<think>answer: a</think>\nanswer: b", {"answer": "b"}),
    ("a: !!python/object/apply:os.system ['true']", {"a": "!!python/object/apply:os.system ['true']"}),
    ("a: &a [x, y]\nb: [*a, *a]", {"a": "&a [x, y]", "b": ["*a", "*a"]}),
]


@pytest.mark.parametrize(("text", "data"), SAME)
def test_nothing_changes_type(text: str, data: object) -> None:
    assert yaml.load(text) == data


def test_duplicate_keys_are_refused() -> None:
    with pytest.raises(yaml.DuplicateKey, match="q1"):
        yaml.load("q1: yes\nq2: no\nq1: no")
    form = QueryForm({"q1": ("", ""), "q2": ("", "")}, {"yes": "yes", "no": "no"}, {})
    found = interpret(form, "q1: yes\nq2: no\nq1: no")
    assert (found.answer, found.warning) == (None, "possible")
    assert "duplicate key 'q1'" in found.evidence


@pytest.mark.parametrize(
    "text",
    [
        "[" * 5000,
        "{a: " * 5000,
        "- " * 5000 + "a",
        "a: [" + "b, " * 50_000 + "b]",
        "x" * 300_000,
        "",
        "a: [b",
        "? a\n: b: c",
        "a: b\n c: d",
    ],
)
def test_bad_and_boundless_yaml_is_a_value_error(text: str) -> None:
    with pytest.raises(ValueError):
        yaml.load(text)


def test_aliases_do_not_multiply() -> None:
    bomb = "a0: &a0 [x,x]\n" + "".join(f"a{i}: &a{i} [*a{i - 1}, *a{i - 1}]\n" for i in range(1, 40))
    assert len(json.dumps(yaml.load(bomb))) < 4000
    assert yaml.load("[*a, *a, &b]") == ["*a", "*a", "&b"]


REPLIES = [
    (PathForm(), "answer:\n  - [0, 0]\n  - [0, 1]\nscheme: row, col", [[0, 0], [0, 1]]),
    (PathForm(), "answer: [(0,0), (0,1), (1,1)]", [[0, 0], [0, 1], [1, 1]]),
    (PathForm(), "answer: (0,0), (0,1)", [[0, 0], [0, 1]]),
    (PathForm(), "path: [[0, 0], [0, 1]]", [[0, 0], [0, 1]]),
    (PathForm(), "answer:\n- {row: 0, col: 1}\n- {row: 0, col: 2}", [[0, 1], [0, 2]]),
    (PathForm(), "answer:\n- 0, 0\n- 0, 1", [[0, 0], [0, 1]]),
    (PathForm(), "answer:\n- - 0\n  - 0\n- - 0\n  - 1", [[0, 0], [0, 1]]),
    (PathForm(), '```yaml\nanswer: "(0,0) → (0,1)"\n```', [[0, 0], [0, 1]]),
    (PathForm(3), "answer: [[0,0,0],[0,0,1]]", [[0, 0, 0], [0, 0, 1]]),
    (SlotForm(("a", "b")), "schedule:\n  a: 10:30\n  b: 09:30", {"a": "10:30", "b": "09:30"}),
    (SlotForm(("a", "b")), "answer:\n  a: 16:00 UTC+2\n  b: none", {"a": "14:00"}),
    (SlotForm(("a", "b")), "answer: {a: 9:00, b: '14:00'}", {"a": "09:00", "b": "14:00"}),
    (
        SlotForm(("a", "b")),
        "answer:\n- event: a\n  slot: 10:00\n- event: b\n  slot: 11:00",
        {"a": "10:00", "b": "11:00"},
    ),
]


@pytest.mark.parametrize(("form", "reply", "answer"), REPLIES)
def test_replies_become_structured_answers(form: object, reply: str, answer: object) -> None:
    found = interpret(form, reply)  # type: ignore[arg-type]
    assert (found.answer, found.warning) == (answer, "clean")


def test_query_replies() -> None:
    form = QueryForm(
        {"q1": ("Ann", "Bob"), "q2": ("Cid", "Dan")},
        {"parent": "parent", "child": "child", "grandparent": "grandparent"},
        {"parent": "child", "child": "parent"},
    )
    want = {"q1": ["Ann", "grandparent", "Bob"], "q2": ["Cid", "parent", "Dan"]}
    for reply in (
        "answer:\n  q1: [Ann, grandparent, Bob]\n  q2: {subject: Dan, relation: child, object: Cid}",
        "answer:\n  q1: grandparent\n  q2: parent_of",
        "answer:\n- query: q1\n  subject: Ann\n  relation: grandparent\n  object: Bob\n- query: q2\n  relation: parent",
        "answer: [grandparent, parent]",
    ):
        assert interpret(form, reply).answer == want, reply


@pytest.mark.parametrize(
    ("reply", "answer", "warning"),
    [
        ("answer: null", None, "none"),
        ("answer: ~", None, "none"),
        ("answer:", None, "none"),
        ("", None, "empty"),
        (" \n", None, "empty"),
        ("answer: (0,0) -> ... -> (1,1)", None, "possible"),
        ("Final path: (0,0) -> (0,1)\n  and: [done", [[0, 0], [0, 1]], "possible"),
    ],
)
def test_replies_without_a_clean_answer(reply: str, answer: object, warning: str) -> None:
    found = interpret(PathForm(), reply)
    assert (found.answer, found.warning) == (answer, warning)


TWO = SlotForm(("a", "b"))


@pytest.mark.parametrize(
    "reply",
    ["answer:\n  a: 10:30\n  A: 11:00\n  b: 9:30", "answer:\n- a: 10:30\n- a: 11:00\n- b: 9:30",
     "answer: {a: 10:30, b: 9:30, a: 11:00}", "answer:\n  a: 10:30\n  'a': 11:00\n  b: 9:30",
     "answer:\n  a: 10:30\n  b: 9:30\nanswer:\n  a: 11:00", 'answer: {"a": "10:30", "b": "9:30", "a": "11:00"}'],
)  # fmt: skip
def test_an_item_given_twice_is_refused_in_every_notation(reply: str) -> None:
    found = interpret(TWO, reply)
    assert (found.answer, found.warning) == (None, "possible")
    assert "duplicate key" in found.evidence


@pytest.mark.parametrize(
    ("text", "data"),
    [
        ("a: {b: [x, {c: #}]}", {"a": {"b": ["x", {"c": "#"}]}}),
        ("{b: {c: [@, *]}}", {"b": {"c": ["@", "*"]}}),
        ("a: - b", {"a": "- b"}),
        ("a: : b", {"a": ": b"}),
        ("a: [[0,0], [0,1]] # ours", {"a": [["0", "0"], ["0", "1"]]}),
        ("- [0, 0] # start\n- [0, 1]", [["0", "0"], ["0", "1"]]),
        ("a: {b: c}  # so", {"a": {"b": "c"}}),
        ("a: [., #, @]", {"a": [".", "#", "@"]}),
    ],
)
def test_neighbours_of_reported_yaml(text: str, data: object) -> None:
    assert yaml.load(text) == data


@pytest.mark.parametrize(
    ("reply", "answer", "warning"),
    [
        ("answer: null # (0,0), (0,1) was refused", None, "none"),
        ("answer: none  # they had (0,0), (0,1)", None, "none"),
        ("answer: {path: [[0,0], [0,1]]}", [[0, 0], [0, 1]], "clean"),
        ("answer: [[0,0],[0,1]] # ours", [[0, 0], [0, 1]], "clean"),
        ("answer:\n  - [0, 0] # start\n  - [0, 1] # goal", [[0, 0], [0, 1]], "clean"),
        ("answer:\n  step1: (0,0)\n  step2: (0,1)", [[0, 0], [0, 1]], "clean"),
    ],
)
def test_neighbours_of_reported_replies(reply: str, answer: object, warning: str) -> None:
    found = interpret(PathForm(), reply)
    assert (found.answer, found.warning) == (answer, warning)


def texts_only(data: object) -> bool:
    if isinstance(data, list):
        return all(map(texts_only, data))
    if isinstance(data, dict):
        return all(isinstance(k, str) and texts_only(v) for k, v in data.items())
    return isinstance(data, str)


BITS = st.sampled_from(
    [
        *"[]{}(),:#@*&!|>%`'\"-?~.\n\t ",
        "- ",
        ": ",
        "\n  ",
        "answer",
        "---\n",
        "<<",
        "...",
        "0",
        "no",
        "| \n",
        "```",
        "\x00",
        "\ud800",
    ]
)


@settings(max_examples=300, deadline=None)
@given(st.one_of(st.text(), st.lists(BITS, max_size=40).map("".join)))
def test_any_text_gives_texts_or_a_value_error(text: str) -> None:
    try:
        data = yaml.load(text)
    except ValueError:
        return
    assert texts_only(data)


@settings(max_examples=200, deadline=None)
@given(st.dictionaries(st.text("abcxyz_0", min_size=1), st.text("ab 01.:#@*&!|%,()[]{}'\"-", min_size=1), min_size=1))
def test_values_survive_as_they_are_written(data: dict[str, str]) -> None:
    """One value a line: what is written after the key is what comes out, unless it is a quoted or flow value."""
    lines = {k: v for k, v in data.items() if v == v.strip() and v[:1] not in "[{'\"|-" and v}
    if lines:
        assert yaml.load("\n".join(f"{k}: {v}" for k, v in lines.items())) == lines


def test_yaml_is_not_imported_by_the_extractor() -> None:
    import subprocess

    code = "import sys, graders.extract; sys.exit('yaml' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code]).returncode == 0
