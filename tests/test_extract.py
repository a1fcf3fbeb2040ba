"""Reading answers out of transcripts: every known form, every envelope, every way to get it wrong that was reported."""

from __future__ import annotations

import json
import re
import sys
from collections import Counter
from collections.abc import Callable
from itertools import pairwise, product
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from graders import paths
from graders.extract import WARNINGS, Extraction, outcome, read
from graders.extract.envelope import peel, without_thoughts
from tasks.answers import Form, PathForm, PathKey, QueryForm, SlotForm
from tasks.frames import SCHEMES

PATH = PathForm()
FAMILY = {
    word: relation
    for relation, words in {
        "parent": "parent mother father",
        "child": "child son daughter",
        "grandparent": "grandparent grandmother grandfather",
        "grandchild": "grandchild grandson granddaughter",
        "great-grandparent": "great-grandparent",
        "sibling": "sibling brother sister",
        "cousin": "cousin",
    }.items()
    for word in words.split()
}
INVERSE = {"parent": "child", "child": "parent", "grandparent": "grandchild", "grandchild": "grandparent"}
INVERSE |= {"sibling": "sibling", "cousin": "cousin"}
KIN = QueryForm({"q1": ("Ann", "Bob"), "q2": ("Cid", "Dan")}, FAMILY, INVERSE)
YESNO = QueryForm({"q1": ("", ""), "q2": ("", "")}, {"yes": "yes", "no": "no"}, {})
SLOTS = SlotForm(("standup", "design_review"))

L = [[0, 0], [0, 1], [1, 1]]


def told(form: Form, *texts: str) -> Extraction:
    """What is read from messages of two agents in turn."""
    return read(form, [("agent 1" if n % 2 == 0 else "agent 2", text) for n, text in enumerate(texts)])


# ---- single messages ------------------------------------------------------------------------------------------------

PATHS = [
    # known answer forms
    ("(0,0) (0,1) (1,1)", L, "clean"),
    ("**Final path:** (0,0) → (0,1) → (1,1). ACTI!", L, "clean"),
    ('- (0,0): start - valid\n- (1,0): "#" - blocked, so not usable\n- (0,1): open\n- (1,1): goal\n\n'
     "Final route: (0,0), (0,1), (1,1)", L, "clean"),
    ("From (0,0) to (0,1), then (0,1) to (1,1). ACTI!", L, "clean"),
    ("Start at row 0, column 0. Move right to (0, 1) (row 0, column 1). Move down to (1, 1).", L, "clean"),
    ("path: [(0,0), (0,1), (1,1)]", L, "clean"),
    ('HTTPError 529: {"error":{"message":"Overloaded"}}', None, "error_text"),
    ("Answer: (0,0) → … → (1,1)", None, "possible"),
    ("My 'P' is at (4,7) no, actually (3,7) no, let me check: column 4, row 7. So (4,7).", [[4, 7]], "possible"),
    ("Answer: E5", [[4, 4]], "possible"),
    # reports
    (r"Final path: \boxed{\text{(0,0)} \rightarrow \text{(0,1)} \rightarrow \text{(1,1)}}", L, "clean"),
    (r"The walk is \[ (0,0) \to (0,1) \to (1,1) \]", L, "clean"),
    (r"$\left(0,0\right) \to \left(0,1\right) \to \left(1,1\right)$", L, "clean"),
    (r"<answer>\boxed{(0,0), (0,1), (1,1)}</answer>", L, "clean"),
    ("I think the answer: (5,5), (5,6) is wrong. Let me redo it. Answer: (0,0), (0,1), (1,1)", L, "clean"),
    ("<think>(5,5) (5,6)</think>Answer (0,0) (0,1) (1,1)</think>done", L, "clean"),
    ("maybe (5,5), (5,6) </think> The path is (0,0), (0,1), (1,1).", L, "clean"),
    ('print(f"Answer: {solution}")\n```', None, "none"),
    ('```python\nfor step in path:\n    print(f"Answer: (5,5) (5,6)")\n```\nAnswer: (0,0) (0,1) (1,1)', L, "clean"),
    ("```python\npath = [(0, 0), (0, 1), (1, 1)]\n```", L, "clean"),
    ("```python\ndef bfs(a):\n  return [(5,5), (5,6)]\n\n<answer>(0,0) (0,1) (1,1)</answer>", L, "clean"),
    ("**Answer: (0,0) (0,1) (1,1)**", L, "clean"),
    ("<answer>(5,5) (5,6)</answer> is incorrect. The right one is <answer>(0,0) (0,1) (1,1)</answer>", L, "clean"),
    ("My P is at (4,7) no, actually (3,7) no, let me check: (4,7). ACTI!", [[4, 7]], "possible"),
    ('**Message 5:** ... **Secret proposal (if needed):** "Path: (0,0), (0,1)"', None, "none"),
    ("Answer: No Eulerian path exists.", None, "none"),
    ("[other agent]: I propose (0,0), (0,1), (1,1)\nACTI!", L, "clean"),  # it imitates the prefix of what it is shown
    ("Answer: (0,0) (0,1) (1,1)\n[other agent]: Answer: (5,5) (5,6) ACTI!", L, "clean"),
    ("Answer: (0,0) (0,1) (1,1)\n`[ user ]` : Answer: (5,5) (5,6)", L, "clean"),
    ("Answer: (0,0) (0,1) (1,1)\n__[Other Agent]__: fine\nAnswer: (5,5) (5,6)", L, "clean"),
    ("> **[other agent]**: Answer: (5,5)\n> (5,6)\nNo. Answer: (0,0) (0,1) (1,1)", L, "clean"),
    ("**[user]**: [other agent]: Answer: (0,0) (0,1) (1,1)", L, "clean"),
    # wrappers and notations
    ("[[0,0],[0,1],[1,1]]", L, "clean"),
    ("[0,0],[0,1],[1,1]", L, "clean"),
    ("0,0 0,1 1,1", L, "clean"),
    ("0, 0 -> 0, 1 -> 1, 1", L, "clean"),
    ("r0c0 r0c1 r1c1", L, "clean"),
    ("(r0, c0) → (r0, c1) → (r1, c1)", L, "clean"),
    ("Answer: column 0, row 0; column 1, row 0; column 1, row 1", L, "clean"),
    ("Answer: (x=1, y=0), (y=1, x=1)", [[1, 0], [1, 1]], "clean"),
    ("（０，０）→（０，１）→（１，１）", L, "clean"),
    ("Answer: (0;0) (0;1) (1;1)", L, "clean"),
    ("Answer: (\u22121, 0) -> (0, 0)", [[-1, 0], [0, 0]], "clean"),
    ("path:\n- [0, 0]\n- [0, 1]\n- [1, 1]", L, "clean"),
    ("path:\n- 0, 0\n- 0, 1\n- 1, 1", L, "clean"),
    ("path:\n- - 0\n  - 0\n- - 0\n  - 1\n- - 1\n  - 1", L, "clean"),
    ('```json\n{"path": [[0, 0], [0, 1], [1, 1]]}\n```', L, "clean"),
    ('{"answer": [{"row": 0, "col": 0}, {"row": 0, "col": 1}, {"row": 1, "col": 1}]}', L, "clean"),
    ("Final path:\n1. (0,0) - start\n2. (0,1): open, right of (0,0)\n3. (1,1) is the goal", L, "clean"),
    ("1. Start at '@' (0,0)\n2. Move right to (0,1) - this is '.'\n3. Move down to (1,1) - this is '*'", L, "possible"),
    ("Final path: (0,0) [start], (0,1) [open], (1,1) [goal]", L, "clean"),
    ("| step | cell |\n|---|---|\n| 1 | (0,0) |\n| 2 | (0,1) |\n| 3 | (1,1) |", L, "clean"),
    ("Answer: A1, A2, B2", L, "clean"),
    ("## Final Answer\n\n(0,0) → (0,1) → (1,1)", L, "clean"),
    ("The final path is `(0,0), (0,1), (1,1)`.", L, "clean"),
    ("(0,0) is the start.\n\nStep 1: (0,0) → (0,1)\nStep 2: (0,1) → (1,1)\n\nACTI!", L, "clean"),
    ("Final walk (1-indexed, row/col): [[0,0],[0,1],[1,1]]", L, "clean"),
    ("FINAL: (0,0), (0,1), (1,1)", L, "clean"),
    # corrections, negations, hypotheses
    ("Final path: (0,0), (1,0), no wait, (0,0), (0,1), (1,1)", L, "clean"),
    ("Final path: (0,0), (0,1), (1,1). Alternative path: (0,0), (1,0), (1,1)", L, "clean"),
    ("For example: (5,5), (5,6). Final path: (0,0), (0,1), (1,1)", L, "clean"),
    ("Instead of (0,0), (1,0), (1,1) take the path (0,0), (0,1), (1,1)", L, "clean"),
    ("Maybe (0,0), (0,1), (1,1)?", L, "possible"),
    ("Should we try (5,5), (5,6)? The path: (0,0), (0,1), (1,1)", L, "clean"),
    ("The walls are at (5,5), (5,6), (5,7). I would go (0,0), (0,1), (1,1).", L, "possible"),
    ("Suppose we go (5,5), (5,6).", None, "none"),
    ("Final path: (0,0), (0,1), (1,1)\n\nCheck: (0,0) is @, (0,1) is '.', (1,1) is '*'. ACTI!", L, "clean"),
    ("Final path: (0,0) -> (0,1) -> (1,1). This path is valid.", L, "clean"),
    # nothing, cut, refused
    ("", None, "empty"),
    ("   \n", None, "empty"),
    ("Hello, what do you see?", None, "none"),
    ("Final path: (0,0) -> (0,1) ->", [[0, 0], [0, 1]], "truncated"),
    ("Final path: [[0,0],[0,1],[1", [[0, 0], [0, 1]], "truncated"),
    ("The final path is", None, "none"),
    ("Final path:", None, "truncated"),
    ("<think>(0,0), (0,1) and then", None, "truncated"),
    ("I'm sorry, but I can't help with that.", None, "refused"),
    ('{"error": {"message": "rate limit"}}', None, "error_text"),
    ("Error code: 429 - too many requests", None, "error_text"),
]  # fmt: skip


@pytest.mark.parametrize(("text", "answer", "warning"), PATHS)
def test_paths(text: str, answer: Any, warning: str) -> None:
    found = told(PATH, text)
    assert (found.answer, found.warning) == (answer, warning), found


K = {"q1": ["Ann", "grandparent", "Bob"], "q2": ["Cid", "sibling", "Dan"]}
QUERIES = [
    ("q1: Ann grandparent Bob\nq2: Cid sibling Dan", K, "clean"),
    ("q1: (Ann, grandparent_of, Bob), q2: (Cid, sibling_of, Dan)", K, "clean"),
    ("q1: Ann is the grandparent of Bob. q2: Cid is Dan's brother.", K, "clean"),
    ("Q1 -> grandparent; Q2 -> sibling", K, "clean"),
    ("1. grandparent\n2. sibling", K, "clean"),
    ("Query 1: grandparent\nQuery 2: sibling", K, "clean"),
    ("q1: Ann is Bob's grandmother\nq2: Dan's sister is Cid", K, "clean"),
    ("Bob is a grandchild of Ann. Cid and Dan are siblings. ACTI!", K, "clean"),
    ("The grandmother of Bob is Ann, the brother of Dan is Cid.", K, "clean"),
    ("q1: grandchild (Bob, Ann)\nq2: sibling", K, "clean"),
    ('{"q1": "grandparent", "q2": "sibling"}', K, "clean"),
    ('{"q1": ["Ann", "grandparent", "Bob"], "q2": ["Cid", "sibling", "Dan"]}', K, "clean"),
    ("q1:\n  subject: Ann\n  relation: grandparent\n  object: Bob\nq2: [Cid, sibling, Dan]", K, "clean"),
    ('[{"query": "q1", "relation": "grandparent"}, {"query": "q2", "relation": "sibling"}]', K, "clean"),
    ("| Query | Relation |\n|---|---|\n| q1 | grandparent |\n| q2 | sibling |", K, "clean"),
    ("Answer: grandparent, sibling", K, "clean"),
    ("<answer>['grandparent', 'sibling']</answer>", K, "clean"),
    ("**q1**: `grandparent`\n**q2**: *sibling*", K, "clean"),
    ("q1 (Ann → Bob): grandparent\nq2 (Cid → Dan): sibling", K, "clean"),
    ("q1: not parent but grandparent\nq2: cousin, no, sibling", K, "clean"),
    ("Final answers:\nq1: grandparent\nq2: sibling\n\nFor q1, Ann is the parent of Zoe, who bore Bob.", K, "clean"),
    ("q1: grandparent (Ann is the parent of Zoe, who is parent of Bob)\nq2: sibling", K, "clean"),
    ("q1: Ann is the parent of Zoe and Zoe the parent of Bob, so Ann is Bob's grandparent.\nq2: sibling", K, "clean"),
    ("1. Ann is Zoe's parent.\n2. Zoe is Bob's parent.\n3. Cid is Dan's sibling.\n"
     "So Ann is Bob's grandparent.", K, "possible"),
    ("q1: Ann is the mother of Eve and Eve the mother of Bob → Ann is grandparent of Bob\nq2: sibling", K, "clean"),
    ("- **q1** (Ann, Bob): Ann is Bob's **grandparent** (via Zoe)\n- **q2** (Cid, Dan): **sibling**", K, "clean"),
    ("Q1: GRANDPARENT\nQ2: Grand-Parent", {"q1": ["Ann", "grandparent", "Bob"]}, "possible"),
    ("q1: great grandparent\nq2: child",
     {"q1": ["Ann", "great-grandparent", "Bob"], "q2": ["Cid", "child", "Dan"]}, "clean"),
    # a relation that is not in the table is not the one inside it
    ("q1: great-great-grandparent\nq2: step-sister", None, "none"),
    ("q1: mother-in-law\nq2: godparent", None, "none"),
    # other people stay as stated
    ("q1: Eve parent Bob, q2: Cid child Dan", {"q1": ["Eve", "parent", "Bob"], "q2": ["Cid", "child", "Dan"]}, "clean"),
    # the inverse is turned round, and kept as stated if the relation has none
    ("q1: Bob child Ann\nq2: Dan grandparent Cid",
     {"q1": ["Ann", "parent", "Bob"], "q2": ["Cid", "grandchild", "Dan"]}, "clean"),
    ("q1: Bob great-grandparent Ann\nq2: cousin",
     {"q1": ["Bob", "great-grandparent", "Ann"], "q2": ["Cid", "cousin", "Dan"]}, "clean"),
    ("I do not know.", None, "none"),
]  # fmt: skip


@pytest.mark.parametrize(("text", "answer", "warning"), QUERIES)
def test_queries(text: str, answer: Any, warning: str) -> None:
    found = told(KIN, text)
    assert (found.answer, found.warning) == (answer, warning), found


def test_words_in_boxes_are_not_lost() -> None:
    found = told(YESNO, r"q1: \boxed{\text{Yes}}, q2: \boxed{\text{No: they share no ancestor}}")
    assert found.answer == {"q1": ["", "yes", ""], "q2": ["", "no", ""]}


T = {"standup": "14:00", "design_review": "09:30"}
TIMES = [
    ("standup: 14:00\ndesign_review: 9:30", T, "clean"),
    ("standup -> 2 pm, Design-Review -> 9:30 a.m.", T, "clean"),
    ("Standup at 14:00 UTC and design review at 11:30 UTC+2", T, "clean"),
    ("standup: 14:00-15:00; design_review: 0930", T, "clean"),
    ("standup: 14h, design review: 9h30", T, "clean"),
    ("standup: 2-3pm\ndesign review: 9:30-10:30", T, "clean"),
    ("standup: 14:00Z\ndesign_review: 2024-05-01T09:30Z", T, "clean"),
    ("standup: 16:00 GMT+2\ndesign_review: 15:00 UTC+05:30", T, "clean"),
    ("standup: 09:00 (UTC-5)\ndesign_review: 9:30 UTC", T, "clean"),
    ("standup: 14:00:00+00:00\ndesign_review: 04:30:00-05:00", T, "clean"),
    ("standup: 16:00 Berlin time (14:00 UTC)\ndesign_review: 9:30", T, "clean"),
    ("standup: 14:00 UTC (16:00 UTC+2)\ndesign_review: 9:30", T, "clean"),
    ("| Event | Time |\n|---|---|\n| standup | 14:00 |\n| design_review | 9:30 |", T, "clean"),
    ('{"standup": "14:00", "design_review": "09:30"}', T, "clean"),
    ('[{"event": "standup", "time": "14:00"}, {"event": "design_review", "time": "09:30"}]', T, "clean"),
    ("- time: 14:00\n  event: standup\n- time: 9:30\n  event: design_review", T, "clean"),
    ("14:00 - standup\n09:30 - design review", T, "clean"),
    ("**standup**: `14:00`\n**design_review**: `09:30`", T, "clean"),
    ("Final schedule: standup 14:00, design_review 9:30. ACTI!", T, "clean"),
    ("1. standup — 14:00–14:30 UTC (Ann, Bob)\n2. design_review — 09:30 UTC (Cid)", T, "clean"),
    ("So the standup can be placed at 14:00 UTC and the design review goes to 9:30.", T, "clean"),
    (r"\boxed{\text{standup: 14:00, design\_review: 09:30}}", T, "clean"),
    ("standup: 13:00, no, 14:00. design_review: not 9:00 but 9:30", T, "clean"),
    ("standup: noon\ndesign_review: midnight", {"standup": "12:00", "design_review": "00:00"}, "clean"),
    ("standup: 12 am\ndesign_review: 12 pm", {"standup": "00:00", "design_review": "12:00"}, "clean"),
    ("standup: 01:00 UTC+2\ndesign_review: 8:00", {"standup": "23:00", "design_review": "08:00"}, "clean"),
    ("standup: none, design review: 9:30", {"design_review": "09:30"}, "clean"),
    ("standup: 14:00, design review: not possible", {"standup": "14:00"}, "clean"),
    ('{"standup": null, "design_review": "9:30"}', {"design_review": "09:30"}, "clean"),
    ("Answer: At 10:00 Ann is free. standup: 14:00, design_review: 9:30", T, "clean"),
    ("standup: 16:00 CEST\ndesign_review: 9:30", {"design_review": "09:30"}, "possible"),
    ("For the standup Ann is free from 9:00 to 11:00.", None, "possible"),
    ("standup: 25:00\ndesign_review: 9:75", None, "none"),
]


@pytest.mark.parametrize(("text", "answer", "warning"), TIMES)
def test_slots(text: str, answer: Any, warning: str) -> None:
    found = told(SLOTS, text)
    assert (found.answer, found.warning) == (answer, warning), found


# ---- neighbours of the reported kinds of failure -------------------------------------------------------------------


NEAR_PATHS: list[tuple[str, Any]] = [
    # LaTeX around cells
    (r"\boxed{\color{red}{(0,0)} \to \color{red}{(0,1)} \to \color{red}{(1,1)}}", L),
    (r"\boxed{\textsf{(0,0)} \xrightarrow{R} \textsf{(0,1)} \xrightarrow{D} \textsf{(1,1)}}", L),
    (r"$(0,0) \leadsto (0,1) \leadsto (1,1)$", L),
    (r"$\langle 0,0\rangle \to \langle 0,1\rangle \to \langle 1,1\rangle$", L),
    (r"\boxed{\mathbf{(0,0)} \Rightarrow \mathbf{(0,1)} \Rightarrow \mathbf{(1,1)}}", L),
    (r"\begin{equation}(0,0)\to(0,1)\to(1,1)\end{equation}", L),
    # thoughts and programs
    ("[THINK](5,5), (5,6)[/THINK](0,0), (0,1), (1,1)", L),
    ("<scratchpad>(5,5), (5,6)</scratchpad>(0,0), (0,1), (1,1)", L),
    ('printf("Answer: (%d,%d)\\n", 5, 6);', None),
    ('System.out.println("Answer: (5,5), (5,6)");', None),
    ('"Answer: {}".format([(5,5),(5,6)])', None),
    # the last answer, whatever announces it
    ("Answer: (5,5), (5,6). Oops. The correct path: (0,0), (0,1), (1,1)", L),
    ("Answer: (5,5), (5,6).\nHmm, that path is blocked. The answer should be (0,0), (0,1), (1,1)", L),
    ("Final path: (0,0), (1,0), (1,1)\n\nOops, I meant (0,0), (0,1), (1,1).", L),
    # tags in prose
    ("Instead of <answer>(5,5), (5,6)</answer> it must be <answer>(0,0), (0,1), (1,1)</answer>", L),
    ("<answer>(0,0), (0,1), (1,1)</answer> is right, <answer>(5,5), (5,6)</answer> is wrong.", L),
    ("<answer>(5,5), (5,6)</answer> was a mistake; <answer>(0,0), (0,1), (1,1)</answer> is right.", L),
    # hypotheses and examples
    ("Answer: (0,0), (0,1), (1,1)\n---\nTell me if you want something else, e.g. (5,5), (5,6)!", L),
    ("As a fallback, path: (0,0), (0,1)", None),
    ("Secret note (if required): Path: (0,0), (0,1)", None),
    # that there is no path is no path between the cells named
    ("There is no valid path from (0,0) to (1,1).", None),
    ("No path from (0,0) to (5,5) exists. ACTI!", None),
    ("Answer: There is no path between (0,0) and (1,1).", None),
    ("Final answer: no route exists from (0,0) to (0,1)", None),
    ("It is impossible to get from (0,0) to (1,1).", None),
    ("There is no shorter path than (0,0), (0,1), (1,1). ACTI!", L),
    ("The path (0,0), (0,1), (1,1) is fine, there is no path from (1,0).", L),
    ("Final path: (0,0), (0,1), (1,1) (no path exists via (1,0))", L),
    ("[Think] the path: (0,0), (0,1), (1,1)", L),
    ("step1: (0,0)\nstep2: (0,1)\nstep3: (1,1)", L),
]


@pytest.mark.parametrize(("text", "answer"), NEAR_PATHS)
def test_neighbours_of_reported_paths(text: str, answer: Any) -> None:
    assert told(PATH, text).answer == answer


@pytest.mark.parametrize(
    "said",
    ["foster parent", "adoptive parent", "second cousin", "cousin once removed", "cousin, twice removed",
     "grand parent", "parent or grandparent", "parent/grandparent", "a parent or a cousin"],
)  # fmt: skip
def test_a_relation_that_is_only_part_of_what_is_said_is_not_read(said: str) -> None:
    assert told(KIN, f"q1: {said}\nq2: sibling").answer == {"q2": K["q2"]}


@pytest.mark.parametrize(
    "text",
    ["q1: parent. Wait, actually grandparent.\nq2: sibling", "q1: cousin. Sorry, grandparent\nq2: sibling",
     '[{"id": "q1", "relation": "grandparent"}, {"id": "q2", "relation": "sibling"}]',
     "- name: q1\n  relation: grandparent\n- name: q2\n  relation: sibling",
     "q1: grandmother or grandparent\nq2: sibling", "q1: parent or grandparent, so grandparent\nq2: sibling"],
)  # fmt: skip
def test_neighbours_of_reported_queries(text: str) -> None:
    assert told(KIN, text).answer == K


@pytest.mark.parametrize(
    "text",
    ["standup: between 14:00 and 15:00\ndesign_review: 9:30", "standup: Monday 14:00\ndesign_review: Tuesday 09:30",
     "standup: {start: 14:00, end: 15:00}\ndesign_review: {start: 09:30, end: 10:30}",
     "standup: 13:00. Wait, 14:00\ndesign_review: 9:30", "standup: 13:00, oops, 14:00\ndesign_review: 9:30",
     "standup: instead of 13:00 use 14:00; design_review: 9:30", "standup: T14:00\ndesign_review: T09:30",
     "At 14:00 the standup, at 9:30 the design review.", r"standup: \boxed{14{:}00}, design_review: \boxed{09{:}30}",
     "The standup meeting takes place at 14:00 and the design review meeting at 9:30."],
)  # fmt: skip
def test_neighbours_of_reported_slots(text: str) -> None:
    assert told(SLOTS, text).answer == T


# ---- transcripts ----------------------------------------------------------------------------------------------------

M = [[0, 0], [1, 0], [1, 1]]
DIALOGUES = [
    # the last explicit answer wins; agreement stands for the latest offer, whoever made it
    (PATH, ["Final path: (0,0), (1,0), (1,1)", "Final path: (0,0), (0,1), (1,1). ACTI!"], L, "clean"),
    (PATH, ["Final path: (0,0), (0,1), (1,1)", "Agreed. ACTI!"], L, "clean"),
    (PATH, ["Final path: (0,0), (0,1), (1,1)", "**ACTI!**"], L, "clean"),
    (PATH, ["Path: (0,0),(1,0)", "No, (1,0) is a wall. Let's go (0,0),(0,1),(1,1).", "Agreed. ACTI!"], L, "clean"),
    (PATH, ["I propose the path (0,0), (0,1), (1,1).", "Are you sure?", "Yes, I am. ACTI!"], L, "possible"),
    (PATH, ["Final path: (0,0), (0,1), (1,1)", "I cannot see that."], L, "possible"),
    # going through the cells again is no new answer; a shorter way from the same start to the same goal is one
    (PATH, ["Path: (0,0), (0,1), (1,1)", "Agreed: (0,1) -> (1,1) is open on my map. ACTI!"], L, "clean"),
    (PATH, ["Path: (0,0), (0,1), (1,1)", "The path is valid: (0,0) and (0,1) are open. ACTI!"], L, "clean"),
    (PATH, ["Path: (0,0), (1,0), (2,0), (2,1), (1,1)", "Shorter: (0,0), (1,0), (1,1). ACTI!"], M, "clean"),
    # quoting in order to refuse
    (PATH, ["Path: (0,0), (0,1), (1,1)", "Your path (0,0), (1,0), (1,1) is wrong. ACTI!"], L, "possible"),
    # an abbreviated answer stands for the full one before it
    (PATH, ["Path: (0,0), (0,1), (1,1)", "Final answer: (0,0) → … → (1,1). ACTI!"], L, "clean"),
    # a critic that changes nothing, and one that does
    (PATH, ["Final path: (0,0), (0,1), (1,1)", "The solution is correct. No changes."], L, "clean"),
    (PATH, ["Final path: (0,0), (1,0), (1,1)", "The path hits a wall. Final path: (0,0), (0,1), (1,1)"], L, "clean"),
    # a dialogue that ends before there was a path (one move is all it agreed on)
    (
        PATH,
        [
            "My current position is at (0,0) marked with @.\nI’ll propose my first move: move right to (0,1).",
            "Move right to (0,1).",
            "I agree. Let’s both move right to (0,1). What do you see after moving?",
            "ACTI!",
        ],
        [[0, 1]],
        "possible",
    ),
    # the route, not the map before it and not the check after it
    (
        PATH,
        [
            "Combined map (0-indexed):\nRow 2: . # # # . . *\nRow 3: . . @ . # . . <- start (3,3)\n\n"
            "Proposed route: (3,3), (3,4), (3,5), (3,6), (2,6)\n\nCheck walls: (3,4) is '.', (3,5) is '.', (3,6) is\n"
            "'.', (2,6) is '*'. ACTI!"
        ],
        [[3, 3], [3, 4], [3, 5], [3, 6], [2, 6]],
        "clean",
    ),
    # mappings are filled up from earlier offers, but not where an item is expressly left out
    (SLOTS, ["standup: 14:00, design_review: 9:00", "Fine, but design_review: 9:30. ACTI!"], T, "possible"),
    (SLOTS, ["standup: 14:00", "Agreed. design_review: 9:30", "ACTI!"], T, "possible"),
    (SLOTS, ["standup: 14:00, design_review: 9:00", "standup: none, design_review: 9:30. ACTI!"],
     {"design_review": "09:30"}, "clean"),
    (KIN, ["q1: parent, q2: sibling", "q1 is wrong. q1: grandparent. ACTI!"], K, "possible"),
    (KIN, ["Final answers: q1: grandparent, q2: sibling", "Confirmed. ACTI!"], K, "clean"),
    # what goes wrong at the end
    (PATH, ["Final path: (0,0), (0,1), (1,1)", ""], L, "clean"),
    (PATH, ["Hello", "Error code: 500 - internal"], None, "error_text"),
    (PATH, ["Hello", "I am unable to continue."], None, "refused"),
]  # fmt: skip


@pytest.mark.parametrize(("form", "texts", "answer", "warning"), DIALOGUES)
def test_precedence(form: Form, texts: list[str], answer: Any, warning: str) -> None:
    found = told(form, *texts)
    assert (found.answer, found.warning) == (answer, warning), found


def test_only_agents_are_read() -> None:
    turns = [
        ("user", "Answer like this: (5,5), (5,6)"),
        ("agent", "Path: (0,0), (0,1), (1,1)"),
        ("system", "stop (9,9)"),
    ]
    assert read(PATH, turns).answer == L
    assert read(PATH, turns[:1]).warning == "empty"
    assert read(PATH, []) == Extraction(None, "empty", "")


def test_marker_rules() -> None:
    """An answer in plain words is explicit beside the marker, not beside a sentence about the marker."""
    words = "I go (0,0), (0,1), (1,1) and that is the whole of it on both maps. "
    for marker in ("ACTI!", "acti!", "**ACTI!**", "`ACTI!`", "ACTI! ACTI!", "\n[other agent]: fine. ACTI!"):
        assert told(PATH, f"{words}{marker}").warning == ("possible" if marker[0] == "\n" else "clean"), marker
    for marker in ("I will not say ACTI! yet", "ACTI", "<think>ACTI!</think>", "When you agree, say ACTI!"):
        assert told(PATH, words + marker).warning == "possible", marker


@pytest.mark.parametrize(
    ("warning", "unread"),
    [("clean", "no_answer"), ("possible", "unreadable"), ("truncated", "unreadable"), ("error_text", "unreadable"),
     ("empty", "no_answer"), ("refused", "no_answer"), ("none", "no_answer")],
)  # fmt: skip
def test_outcome(warning: str, unread: str) -> None:
    assert outcome(Extraction(L, warning, "")) == "answered"
    assert outcome(Extraction({}, warning, "")) == "answered"
    assert outcome(Extraction(None, warning, "")) == unread


def test_thoughts_are_removed_once_and_purely() -> None:
    text = "<think>a</think>Answer 7</think>done"
    assert without_thoughts(text) == without_thoughts(text) == ("Answer 7\ndone", False)
    assert "Answer 7" in peel(text)[0]
    assert without_thoughts("a</think>b") == ("b", False)
    assert without_thoughts("a<think>b") == ("a", True)


# ---- the whole matrix: envelope x form x base x directions x order of axes ----------------------------------------

ENVELOPES: dict[str, Callable[[str], str]] = {
    "bare": lambda a: a,
    "label": lambda a: f"Final path: {a}",
    "heading": lambda a: f"We are done.\n\n## Final Answer\n\n{a}\n\nACTI!",
    "bold": lambda a: f"**Final path:** **{a}** ACTI!",
    "ticks": lambda a: f"The final answer is `{a}`.",
    "fence": lambda a: f"Here it is:\n```\n{a}\n```\nACTI!",
    "json fence": lambda a: f"```json\n{a}\n```",
    "tag": lambda a: f"I checked everything.\n<answer>{a}</answer>",
    "final tag": lambda a: f"<final>\n{a}\n</final>",
    "box": lambda a: rf"So we get \boxed{{{a}}}.",
    "text in box": lambda a: rf"\[ \boxed{{\text{{{a}}}}} \]",
    "thought": lambda a: f"<think>perhaps (7,7), (7,8)?</think>\nAnswer: {a}",
    "lone thought": lambda a: f"perhaps (7,7), (7,8)?</think>Answer: {a}",
    "refused first": lambda a: f"Answer: (7,7), (7,8) is wrong. Answer: {a}",
    "example first": lambda a: f"For example (7,7), (7,8).\nFinal answer: {a}",
    "asked later": lambda a: f"Final answer: {a}\n\nDo you agree?",
}
NOTATIONS: dict[str, Callable[[list[tuple[int, int]]], str]] = {
    "arrows": lambda p: " → ".join(f"({a},{b})" for a, b in p),
    "ascii arrows": lambda p: "->".join(f"({a}, {b})" for a, b in p),
    "commas": lambda p: ", ".join(f"({a}, {b})" for a, b in p),
    "spaces": lambda p: " ".join(f"({a},{b})" for a, b in p),
    "list of lists": lambda p: json.dumps(p),
    "lists": lambda p: ", ".join(f"[{a},{b}]" for a, b in p),
    "python": lambda p: str(p),
    "bare": lambda p: " ".join(f"{a},{b}" for a, b in p),
    "lines": lambda p: "\n".join(f"- [{a}, {b}]" for a, b in p),
    "bare lines": lambda p: "\n".join(f"- {a}, {b}" for a, b in p),
    "numbered": lambda p: "\n".join(f"{n}. ({a},{b})" for n, (a, b) in enumerate(p, 1)),
    "remarks": lambda p: "\n".join(f"{n}. ({a},{b}) - seen by me" for n, (a, b) in enumerate(p, 1)),
    "from to": lambda p: ", then ".join(f"({a},{b}) to ({c},{d})" for (a, b), (c, d) in pairwise(p)),
    "words": lambda p: ", ".join(f"row {a}, column {b}" for a, b in p),
    "words turned": lambda p: "; ".join(f"column {b}, row {a}" for a, b in p),
    "short words": lambda p: " -> ".join(f"r{a}c{b}" for a, b in p),
    "full width": lambda p: "".join(f"（{a}，{b}）" for a, b in p),
    "objects": lambda p: json.dumps([{"row": a, "col": b} for a, b in p]),
}
WALK = [(0, 1), (1, 1), (1, 2), (2, 2), (2, 3)]
KEY = PathKey((3, 5), WALK[0], WALK[-1], len(WALK) - 1, lambda walked, cell: None if cell in WALK else "hits a wall")


@pytest.mark.parametrize(("envelope", "notation"), [*product(ENVELOPES, NOTATIONS)])
def test_matrix_of_paths(envelope: str, notation: str) -> None:
    """Every path comes back as it was written and scores fully, in every scheme, on a board that is not square."""
    for scheme in SCHEMES:
        written = [scheme.write(cell, KEY.shape) for cell in WALK]
        found = told(PATH, ENVELOPES[envelope](NOTATIONS[notation](written)))
        assert found.answer == [list(cell) for cell in written], (scheme, found)
        assert found.warning == "clean", (scheme, found)
        assert paths.path(KEY, found.answer).success


TRIPLES: dict[str, Callable[[str, str, str, str], str]] = {
    "alone": lambda q, s, r, o: f"{q}: {r}",
    "triple": lambda q, s, r, o: f"{q}: ({s}, {r}, {o})",
    "underscore": lambda q, s, r, o: f"{q}: {s} {r}_of {o}",
    "sentence": lambda q, s, r, o: f"{q}: {s} is the {r} of {o}.",
    "possessive": lambda q, s, r, o: f"{q}: {s} is {o}'s {r}",
    "answer": lambda q, s, r, o: f"- {q} -> {r}",
    "upper": lambda q, s, r, o: f"{q.upper()} = {r.upper()}",
}


@pytest.mark.parametrize(("envelope", "notation", "turned"), [*product(ENVELOPES, TRIPLES, (False, True))])
def test_matrix_of_queries(envelope: str, notation: str, turned: bool) -> None:
    for one, two in product(("parent", "child", "grandparent", "grandchild"), repeat=2):
        lines = []
        for name, relation in (("q1", one), ("q2", two)):
            first, second = KIN.queries[name]
            if turned and notation not in ("alone", "answer", "upper"):
                first, relation, second = second, INVERSE[relation], first
            lines.append(TRIPLES[notation](name, first, relation, second))
        found = told(KIN, ENVELOPES[envelope]("\n".join(lines)))
        assert found.answer == {"q1": ["Ann", one, "Bob"], "q2": ["Cid", two, "Dan"]}, found
        assert found.warning == "clean", found


CLOCKS: dict[str, Callable[[int, int], str]] = {
    "plain": lambda h, m: f"{h:02d}:{m:02d}",
    "short": lambda h, m: f"{h}:{m:02d}",
    "half day": lambda h, m: f"{h % 12 or 12}:{m:02d} {'pm' if h >= 12 else 'am'}",
    "HALF DAY": lambda h, m: f"{h % 12 or 12}:{m:02d}{'PM' if h >= 12 else 'AM'}",
    "utc": lambda h, m: f"{h:02d}:{m:02d} UTC",
    "zulu": lambda h, m: f"{h:02d}:{m:02d}Z",
    "east": lambda h, m: f"{(h + 2) % 24:02d}:{m:02d} UTC+2",
    "west": lambda h, m: f"{(h - 7) % 24:02d}:{m:02d} (GMT-07:00)",
    "span": lambda h, m: f"{h:02d}:{m:02d}-{(h + 1) % 24:02d}:{m:02d}",
    "span in a zone": lambda h, m: f"{(h + 1) % 24:02d}:{m:02d} to {(h + 2) % 24:02d}:{m:02d} UTC+1",
    "h": lambda h, m: f"{h}h{m:02d}",
    "digits": lambda h, m: f"{h:02d}{m:02d}",
}
PLACED: dict[str, Callable[[str, str], str]] = {
    "colon": lambda e, t: f"{e}: {t}",
    "arrow": lambda e, t: f"- {e} → {t}",
    "at": lambda e, t: f"{e.replace('_', ' ')} at {t}",
    "cells": lambda e, t: f"| {e} | {t} |",
}


@pytest.mark.parametrize(("envelope", "clock", "placed"), [*product(ENVELOPES, CLOCKS, PLACED)])
def test_matrix_of_slots(envelope: str, clock: str, placed: str) -> None:
    for (h1, m1), (h2, m2) in (((14, 0), (9, 30)), ((0, 0), (12, 15)), ((23, 30), (1, 0))):
        text = "\n".join(
            PLACED[placed](e, CLOCKS[clock](h, m)) for e, h, m in (("standup", h1, m1), ("design_review", h2, m2))
        )
        found = told(SLOTS, ENVELOPES[envelope](text))
        assert found.answer == {"standup": f"{h1:02d}:{m1:02d}", "design_review": f"{h2:02d}:{m2:02d}"}, found
        assert found.warning == "clean", found


# ---- published material ----------------------------------------------------------------------------------------------


def records(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


def test_published_answer_forms(shared_path: Callable[[str], Path]) -> None:
    for case in records(shared_path("data/cases/answer_forms.jsonl")):
        if case["type"] == "path":
            assert told(PATH, case["raw"]).answer == case["expected"], case


def test_published_reports(shared_path: Callable[[str], Path]) -> None:
    """The reports whose input is a path or a pair of queries; the others belong to other kinds or modules."""
    cases = {c["id"]: c for c in json.loads(shared_path("data/cases/bug_reports.json").read_text(encoding="utf-8"))}
    assert told(PATH, cases["B001"]["input"]).answer == L
    assert told(YESNO, cases["B002"]["input"]).answer == {"q1": ["", "yes", ""], "q2": ["", "no", ""]}
    assert told(PATH, cases["B094"]["input"]).warning == "none"
    assert told(PATH, cases["B102"]["input"]).answer == [[4, 7]]
    assert told(PATH, cases["B109"]["input"]).answer is None
    for case in cases.values():
        for form in (PATH, KIN, SLOTS):
            found = told(form, case["input"])
            assert found.warning in WARNINGS


TERMS = (
    "wife husband mother father son daughter brother sister grandmother grandfather grandson granddaughter nephew niece"
)
TERMS += " aunt uncle sibling parent child cousin mother-in-law father-in-law son-in-law daughter-in-law"
TERMS += " brother-in-law sister-in-law"


def test_family_words_agree_with_published_extraction(shared_path: Callable[[str], Path]) -> None:
    words = {w: w for w in TERMS.split()}
    for case in records(shared_path("data/transcripts/reasoning_gym_eval/family_relationships.jsonl")):
        pair = re.search(r"(?:What is|How is|What relation is) (\w+) (?:to|related to) (\w+)", case["prompt"])
        assert pair
        found = told(QueryForm({"q1": (pair[1], pair[2])}, words, {}), case["response"])
        theirs = case["their_extracted"] or case["response"]
        assert found.answer, case["id"]
        assert found.answer["q1"][1] == theirs.strip().lower(), case["id"]


# Replies to multiple choice whose words say something else than the option they pick, checked by hand: the words give
# what was read here, or (minimax-01-94, mistral-large-2411-437, qwq-32b-preview-158) repeat the list of options.
TORN = 21


def test_relations_in_words_against_the_option_picked(shared_path: Callable[[str], Path]) -> None:
    terms = (
        "parent,child,grandparent,grandchild,great grandparent,great grandchild,sibling,aunt or uncle,niece or nephew"
    )
    relations = terms.split(",")
    words = {r: r for r in relations} | {"aunt": relations[7], "uncle": relations[7]}
    words |= {"niece": relations[8], "nephew": relations[8]}
    turned = dict(zip(relations, [relations[i] for i in (1, 0, 3, 2, 5, 4, 6, 8, 7)], strict=True))
    count: Counter[str] = Counter()
    for case in records(shared_path("data/transcripts/farel_bench/farel_sample.jsonl")):
        pair = re.search(r"What is (\w+)'s? relationship to (\w+)", case["prompt"])
        options = dict(re.findall(r"^(\d)\. \w+ is \w+'s? (.*)\.$", case["prompt"], re.M))
        picked = options.get((case["tag_values"] or ["?"])[-1].strip())
        if not pair or not picked:
            continue
        found = told(QueryForm({"q1": (pair[1], pair[2])}, words, turned), case["response"])
        if found.answer:
            count["same" if found.answer["q1"][1] == picked else "torn"] += 1
        else:
            count["no words" if found.warning == "none" else "unread"] += 1
    assert count["same"] >= 101
    assert count["torn"] <= TORN
    assert count["unread"] <= 3


def test_replies_to_step_counts_offer_their_walk_or_nothing(shared_path: Callable[[str], Path]) -> None:
    """The prompts ask for a number, so only walks told in passing can be read; none of them is a single stray cell."""
    found = {
        c["id"]: told(PATH, c["response"])
        for c in records(shared_path("data/transcripts/reasoning_gym_eval/maze.jsonl"))
    }
    walks = {name[len("rg-maze-") :]: len(e.answer) - 1 for name, e in found.items() if e.answer and len(e.answer) > 2}
    assert walks == {
        "easy-anthropic_claude-3.5-sonnet-15-0": 7,
        "easy-anthropic_claude-sonnet-4-15-0": 7,
        "easy-anthropic_claude-sonnet-4-24-0": 10,
        "easy-anthropic_claude-sonnet-4-34-0": 5,
        "easy-anthropic_claude-sonnet-4-45-0": 5,
        "easy-meta-llama_llama-4-scout-32-0": 6,
    }
    assert Counter(e.warning for e in found.values())["empty"] == 5


# ---- hostile text ----------------------------------------------------------------------------------------------------

FORMS: tuple[Form, ...] = (PATH, PathForm(3), KIN, YESNO, SLOTS, QueryForm({}, {}, {}), SlotForm(()))


def fits(form: Form, answer: Any) -> bool:
    """Whether an answer has the form that tasks.answers promises."""
    json.dumps(answer)
    if answer is None:
        return True
    if isinstance(form, PathForm):
        return bool(answer) and all(
            len(c) == form.dims and all(type(x) is int and abs(x) < 10**6 for x in c) for c in answer
        )
    if isinstance(form, QueryForm):
        relations = {*form.words.values(), *form.inverse.values()}
        return all(
            k in form.queries and len(v) == 3 and v[1] in relations and all(isinstance(x, str) for x in v)
            for k, v in answer.items()
        )
    return all(k in form.events and re.fullmatch(r"([01]\d|2[0-3]):[0-5]\d", v) for k, v in answer.items())


PIECES = st.sampled_from(
    [
        *"()[]{}|:.?,9\n $`²٣\x00\ud800（０\u0301→…",
        *("(0,0)", "(0,1)", "row 1", "col 2", "r1c2", "0,0", "A1", "...", " -> ", "- ", "1.", "\n\n", "**"),
        *("<answer>", "</answer>", "<think>", "</think>", "\\boxed{", "\\text{", "```", "```py\n", "print(", "f'{"),
        *("q1", "q2", "Q1", "Ann", "Bob", "'s ", "parent", "grandparent", " of ", " is ", "not ", "no, "),
        *("standup", "design review", "14:00", "pm", "UTC", "UTC+2", "+2", "Z", "none"),
        *("Final answer", "Answer: ", "path", "schedule is ", "ACTI!", "maybe ", "e.g. ", "wrong", "instead of "),
        *("[other agent]:", "Error code: 500"),
    ]
)


@settings(max_examples=400, deadline=None)
@given(st.lists(st.one_of(st.text(max_size=60), st.lists(PIECES, max_size=30).map("".join)), max_size=4))
def test_any_text_gives_an_extraction_in_form(texts: list[str]) -> None:
    for form in FORMS:
        found = told(form, *texts)
        assert found == told(form, *texts)
        assert found.warning in WARNINGS
        assert len(found.evidence) <= 500
        assert fits(form, found.answer), found
        assert outcome(found) in ("answered", "unreadable", "no_answer")


HOSTILE = [
    *("(", "(0,", "0,", "(0,0)", "(0,0) (0,1) ", "- [0,0] a (1,1)\n", "- - 0\n", "row 0 ", "-", "1. ", "|", " ", "\n"),
    *(
        "answer:",
        "<answer>(0,0) ",
        "\\boxed{(0,0)",
        "\\text{",
        "*a",
        "f'{",
        "```\n",
        "<think>",
        "</think>",
        "\u0301\u0323",
    ),
    *("q1: parent ", "Ann is Bob's parent. ", "standup 14:00 ", "14:00 standup\n", "(at)"),
    *("instead of ", "maybe? ", "? ", "not ", "ACTI! ", "[other agent]: \n", "the answer is wrong. "),
]


def work(form: Form, text: str) -> int:
    """Calls made while reading, of Python functions and of built-in ones (a scan of a pattern is one)."""
    calls = 0

    def count(frame: object, event: str, arg: object) -> None:
        nonlocal calls
        calls += event in ("call", "c_call")

    before = sys.getprofile()
    sys.setprofile(count)
    try:
        told(form, text)
    finally:
        sys.setprofile(before)
    return calls


@pytest.mark.parametrize("piece", HOSTILE)
def test_work_grows_linearly(piece: str) -> None:
    for form in (PATH, KIN, SLOTS):
        for lead in ("Answer: ", "standup "):
            small, large = (work(form, lead + piece * (size // len(piece))) for size in (4000, 16_000))
            assert large <= 4.4 * small + 500, (form.kind, lead)


@pytest.mark.parametrize(
    ("form", "piece"),
    [
        (PATH, "(0,0) (0,1) "),
        (PATH, "instead of "),
        (SLOTS, "(at)"),
        (SLOTS, " "),
        (KIN, "Ann is Bob's parent. "),
        (KIN, "answer:"),
    ],
)
def test_a_megabyte_is_read(form: Form, piece: str) -> None:
    text = "standup: " + piece * (1_000_000 // len(piece)) + "|"
    assert told(form, text).warning in WARNINGS


def test_long_answers_come_back_whole() -> None:
    walk = [[n // 1000, n % 1000] for n in range(60_000)]
    assert told(PATH, "Final path: " + json.dumps(walk)).answer == walk


@pytest.mark.parametrize(
    "said",
    ["FINAL: I have no answer", "**Final answer:** none", "FINAL: I have no answer.", "The answer is: unknown",
     "Final answer: it cannot be determined. ACTI!", "Answer: not possible"],
)  # fmt: skip
def test_saying_that_there_is_no_answer_is_no_answer_and_not_unreadable(said):
    form = QueryForm({"q1": ("Ann", "Bob")}, FAMILY, INVERSE)
    for before in ("Ann is a parent of Cid.\nq1: what is Ann to Bob?", "Hello"):
        found = read(form, [("a", before), ("b", said)])
        assert (found.answer, found.warning, outcome(found)) == (None, "none", "no_answer")
