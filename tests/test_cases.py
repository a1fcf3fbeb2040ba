"""Every known failure is a test, and so are its neighbours: the same mistake in another form, kind or place.

The failures were reported against other projects (data/cases/bug_reports.json of the published material). `COVERED`
names the tests of each report; one that nobody covers, or a test that is gone, fails here.
"""

from __future__ import annotations

import ast
import hashlib
import json
import random
from collections.abc import Callable
from pathlib import Path
from typing import Any

import networkx as nx
import numpy as np
import pytest

from collabtax.agents import relayed
from collabtax.replies import ReplyError, read_reply
from collabtax.report.pages import environment
from collabtax.statistics import jackknife, mean_of, t_interval
from graders import RULES
from graders.extract import interpret, outcome, read
from graders.extract.marker import ends
from graders.extract.yaml import load
from tasks.answers import (
    BinsKey,
    CellsForm,
    CellsKey,
    EdgesKey,
    Field,
    FieldsForm,
    FieldsKey,
    Form,
    GridForm,
    GridKey,
    GroupsForm,
    GroupsKey,
    NumberForm,
    NumberKey,
    OrderForm,
    OrderKey,
    PathForm,
    PathKey,
    PathsForm,
    SlotForm,
    TableForm,
    TextForm,
    TextKey,
    TrailForm,
)  # fmt: skip
from tasks.base import seeded
from tasks.frames import SCHEMES
from tasks.relational.trianglecount import trios

# ---- the reports

COVERED: dict[str, tuple[str, ...]] = {
    **dict.fromkeys(
        ("B001", "B002", "B004", "B006", "B076", "B077", "B079", "B089", "B094", "B095", "B098", "B100", "B102", "B103",
         "B107", "B109"),
        ("test_cases::test_what_agents_write",),
    ),
    **dict.fromkeys(
        ("B007", "B008", "B017", "B018", "B019", "B020", "B023"),
        ("test_cases::test_what_model_extractors_write", "test_safe_yaml::test_nothing_changes_type"),
    ),
    "B010": ("test_cases::test_replies_without_words",
             "test_chat::test_faults_that_pass_are_tried_again_and_then_told"),
    "B011": ("test_chat::test_faults_that_stay_fail_at_once", "test_chat::test_a_models_entry_shapes_the_request",
             "test_report::test_parameters_that_a_model_is_asked_without_are_said"),
    "B012": ("test_chat::test_a_models_entry_shapes_the_request",
             "test_chat::test_a_limit_is_corrected_and_not_left_out"),
    "B013": ("test_cases::test_replies_without_words", "test_chat::test_faults_that_stay_fail_at_once"),
    "B014": ("test_cases::test_replies_without_words", "test_chat::test_faults_that_stay_fail_at_once"),
    "B016": ("test_mechanism::test_empty_replies_are_counted_and_told", "test_cases::test_replies_without_words",
             "test_cascade::test_a_judge_that_says_nothing_has_no_verdict"),
    "B025": ("test_tasks::test_same_bytes_in_another_process", "test_cases::test_no_order_of_sets_reaches_a_seed"),
    "B027": ("test_tasks::test_seeds_are_hashed_and_not_added", "test_cases::test_no_order_of_sets_reaches_a_seed"),
    "B029": ("test_settings::test_every_cell_has_an_id_of_its_own",
             "test_settings::test_workers_get_long_cells_beside_short_ones"),
    "B033": ("test_cases::test_nothing_is_worth_nothing", "test_rules::test_no_answer_is_worth_nothing"),
    "B034": ("test_cases::test_what_was_not_asked_about_earns_nothing",
             "test_rules::test_extra_and_repeated_items_never_raise_a_score"),
    "B035": ("test_cases::test_odd_parts_of_an_answer_fail_alone", "test_graders::test_nothing_raises"),
    "B036": ("test_readers::test_what_simulated_models_say_comes_back", "test_tasks::test_contract"),
    "B037": ("test_cases::test_every_best_answer_has_the_full_score", "test_rules::test_worked_examples"),
    "B039": ("test_cases::test_no_answer_is_told_from_a_wrong_one", "test_extract::test_outcome"),
    "B041": ("test_oracles::test_solver_and_grader_agree_with_the_oracle",),
    "B042": ("test_tasks::test_attempts_are_bounded", "test_tasks::test_contract"),
    "B044": ("test_cascade::test_words_that_hold_a_verdict_are_none", "test_cascade::test_verdicts_are_read_strictly"),
    "B046": ("test_cascade::test_two_verdicts_are_none", "test_cascade::test_verdicts_are_read_strictly"),
    "B047": ("test_cascade::test_a_note_to_the_judge_stays_in_the_record",
             "test_cascade::test_probes_tell_who_is_moved_by_order_and_injection"),
    "B050": ("test_cases::test_whatever_a_template_is_called_it_escapes", "test_report::test_hostile_text_stays_text"),
    "B051": ("test_cases::test_whatever_a_template_is_called_it_escapes",
             "test_report::test_what_agents_saw_is_shown_as_they_saw_it"),
    "B052": ("test_cassettes::test_compressed_replies_are_stored_as_text",
             "test_cassettes::test_what_stock_vcrpy_recorded_replays_through_ours"),
    "B053": ("test_cassettes::test_no_secret_reaches_a_file",),
    "B054": ("test_cassettes::test_a_miss_names_the_request_the_difference_and_the_remedy",
             "test_cassettes::test_record_modes"),
    "B058": ("test_chat::test_faults_that_stay_fail_at_once",
             "test_chat::test_words_of_the_endpoint_decide_on_no_retry"),
    "B061": ("test_cases::test_orders_with_nothing_to_compare", "test_rules::test_kendall_is_the_one_of_scipy"),
    "B062": ("test_cases::test_orders_with_nothing_to_compare", "test_rules::test_nobody_gains_by_leaving_a_name_out"),
    "B065": ("test_cases::test_markers", "test_protocols::test_the_marker_as_an_act_of_ones_own"),
    "B066": ("test_protocols::test_an_exchange_is_one_turn_from_each",
             "test_protocols::test_a_failure_leaves_what_was_said", "test_cases::test_replies_without_words"),
    "B067": ("test_cases::test_tiles_are_no_named_axes", "test_cases::test_axes_of_a_board_that_is_not_square",
             "test_graders::test_any_scheme_will_do"),
    "B069": ("test_graders::test_chance_of_a_random_walk_is_measured",
             "test_graders::test_one_scheme_for_the_whole_answer", "test_cases::test_no_scheme_for_each_step"),
    "B070": ("test_statistics::test_both_clusterings_of_the_same_rollouts",
             "test_statistics::test_clusters_of_many_rows_count_once",
             "test_cases::test_rollouts_of_a_task_are_one_unit"),
    "B071": ("test_statistics::test_standard_error_is_the_analytic_one",
             "test_prediction::test_refits_count_a_task_as_often_as_drawn"),
    "B074": ("test_cases::test_replies_without_words", "test_chat::test_the_filter_waits_longer_than_the_network"),
    "B075": ("test_cases::test_words_beside_a_refusal_are_delivered", "test_chat::test_what_counts_as_said"),
    "B085": ("test_cases::test_moves_that_are_none", "test_graders::test_no_leak_through_a_corner_of_walls"),
    "B086": ("test_cases::test_moves_that_are_none", "test_graders::test_free_cells_listed_row_by_row_are_no_path"),
    "B087": ("test_cases::test_moves_that_are_none", "test_graders::test_worked_paths"),
    "B091": ("test_cascade::test_an_outage_leaves_labels_out_and_says_how_many",
             "test_cascade::test_failed_calls_are_missing_and_unreadable_verdicts_are_null"),
    "B092": ("test_cascade::test_kappa_of_one_label_is_undefined", "test_cascade::test_degenerate_tables"),
    "B104": ("test_cases::test_markers", "test_protocols::test_neighbours_of_reported_markers_that_are_an_act"),
    "B105": ("test_cases::test_how_a_dialogue_ends_says_nothing_about_its_answer",
             "test_protocols::test_an_exchange_is_one_turn_from_each"),
    "B111": ("test_cases::test_an_edge_listed_both_ways_is_one",),
}  # fmt: skip


def test_every_report_is_covered_by_tests_that_exist(root: Path) -> None:
    exist = {
        f"{file.stem}::{node.name}"
        for file in (root / "tests").glob("test_*.py")
        for node in ast.walk(ast.parse(file.read_text(encoding="utf-8")))
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
    }
    assert {name for names in COVERED.values() for name in names} <= exist


def reports(shared_path: Callable[[str], Path]) -> dict[str, dict[str, str]]:
    file = shared_path("data/cases/bug_reports.json")
    return {case["id"]: case for case in json.loads(file.read_text(encoding="utf-8"))}


def test_no_report_is_left_out(shared_path: Callable[[str], Path]) -> None:
    published = reports(shared_path)
    assert published.keys() == COVERED.keys()
    for case, neighbours in [*READ.items(), *REPLIES.items()]:
        assert case in ("B018", "B019") or neighbours[0][1] == published[case]["input"], case


L = [[0, 0], [0, 1], [1, 1]]
PATH, CELLS, WALKERS = PathForm(), CellsForm(), PathsForm(("A", "B"))
NUMBER, TEXT, GRID = NumberForm(), TextForm(12), GridForm(2, 3)
GROUPS, TRAIL, NODES = GroupsForm(tuple("ABCDEF"), 3), TrailForm(tuple("ABCD")), TrailForm(tuple("12345"))
ORDER, SLOTS = OrderForm(("Ann", "Bob", "Cid")), SlotForm(("standup", "retro"))
JUGS, POURED = OrderForm(("empty A", "fill B", "pour B->A")), ["fill B", "pour B->A", "empty A"]


def names_of(options: tuple[str, ...], *items: str) -> FieldsForm:
    return FieldsForm({item: Field("name", options) for item in items})


YN, ONE = names_of(("yes", "no"), "q1", "q2"), names_of(("arnold", "carol", "bob"), "q1")
NUMS = FieldsForm({"q1": Field("number"), "q2": Field("number")})
TABLE = TableForm(("house 1", "house 2"), {"colour": ("red", "blue"), "pet": ("cat", "dog")})
BINS = TableForm(("lamp", "vase", "rug"), {"bin": ("bin A", "bin B")})
SEATS = names_of(("yes", "no", "on", "N"), "q1", "q2", "q3", "seat")
TIMES = SlotForm(("A", "B", "C"))
CODES = names_of(("007", "1_0", "null"), "code", "id", "node")
ODD = names_of(
    ("yes", "no", "on", "off", "true", "null", "007", "1_0", "0x1F", "1e3", ".inf", "2024-01-02"), "q1", "q2", "q3"
)
Y, S = {"q1": "yes", "q2": "no"}, {"standup": "14:00", "retro": "09:30"}
TABLED = {"house 1 colour": "red", "house 1 pet": "cat", "house 2 colour": "blue", "house 2 pet": "dog"}
PACKED = {"lamp": "bin A", "vase": "bin B", "rug": "bin A"}


# ---- what agents write

READ: dict[str, list[tuple[Form, str | tuple[str, ...], Any]]] = {
    "B001": [
        (PATH, "Final path: \\boxed{\\text{(0,0)} \\rightarrow \\text{(0,1)} \\rightarrow \\text{(1,1)}}", L),
        (NUMBER, r"The answer is $\boxed{\mathbf{\text{14}}}$", 14),
        (GROUPS, r"\boxed{\{A, B, C\}, \{B, D, F\}}", [["A", "B", "C"], ["B", "D", "F"]]),
        (GROUPS, r"$$\boxed{\left\{\{A,B,C\},\{B,D,F\}\right\}}$$", [["A", "B", "C"], ["B", "D", "F"]]),
        (PATH, r"\boxed{\begin{array}{l}(0,0)\\(0,1)\\(1,1)\end{array}}", L),
        (SLOTS, r"\boxed{\text{standup: } 14{:}00,\ \text{retro: } 09{:}30}", S),
        (NUMBER, r"\boxed{\underline{\text{42}}}", 42),
        (NUMBER, r"\boxed{x = \frac{84}{2} = 42}", 42),
        (PATH, r"\fbox{\textbf{(0,0)}$\to$\textbf{(0,1)}$\to$\textbf{(1,1)}}", L),
        (GRID, r"$$\boxed{\begin{matrix} C & A & T \\ D & O & G \end{matrix}}$$", ["CAT", "DOG"]),
        (GRID, "\\boxed{\\begin{array}{ccc}\nC & A & T \\\\\nD & O & G\n\\end{array}}", ["CAT", "DOG"]),
        (ORDER, r"\boxed{\text{Ann} > \text{Bob} > \text{Cid}}", ["Ann", "Bob", "Cid"]),
        (ORDER, r"\boxed{\text{Ann}, \text{Bob}, \text{Cid}}", ["Ann", "Bob", "Cid"]),
        (YN, r"\boxed{\{q1: \text{yes}, q2: \text{no}\}}", Y),
        (ORDER, r"\boxed{\text{Ann} \succ \text{Bob} \succ \text{Cid}}", ["Ann", "Bob", "Cid"]),
        (ORDER, r"\boxed{\text{Ann} \prec \text{Bob} \prec \text{Cid}}", ["Ann", "Bob", "Cid"]),
        (PATH, r"\boxed {\{(0,0), (0,1), (1,1)\}}", L),
        (PATH, r"\boxed{\mathtt{[[0,0],[0,1],[1,1]]}}", L),
        (TRAIL, r"\boxed{A \xrightarrow{e_{1}} B \xrightarrow{e_{2}} C}", [["A", "B"], ["B", "C"]]),
        (TRAIL, r"\boxed{\text{A}-\text{B}, \text{B}-\text{C}}", [["A", "B"], ["B", "C"]]),
        (NUMBER, r"\boxed{\text{The sum is } \mathbf{42}}", 42),
        (TABLE, r"\boxed{\text{house 1: red, cat; house 2: blue, dog}}", TABLED),
        (
            BINS,
            r"\boxed{\text{lamp} \mapsto \text{bin A},\ \text{vase} \mapsto \text{bin B},\ "
            r"\text{rug} \mapsto \text{bin A}}",
            PACKED,
        ),
    ],
    "B002": [
        (YN, "q1: \\boxed{\\text{Yes}}, q2: \\boxed{\\text{No: they share no ancestor}}", Y),
        (names_of(("yes", "no"), "q1"), r"\boxed{\textrm{Yes}}", {"q1": "yes"}),
        (names_of(("yes", "no"), "q1"), r"\boxed{\mathsf{No}}", {"q1": "no"}),
        (names_of(("yes", "no"), "q1"), r"\boxed{\textsc{no}}", {"q1": "no"}),
        (names_of(("yes", "no"), "q1"), r"\boxed{\textbf{\text{Yes}}}", {"q1": "yes"}),
        (names_of(("yes", "no"), "q1"), r"$\boxed{\textcolor{red}{\text{Yes}}}$", {"q1": "yes"}),
        (names_of(("yes", "no"), "q1"), r"\boxed{\emph{yes}}", {"q1": "yes"}),
        (YN, r"\boxed{\text{q1: Yes; q2: No}}", Y),
        (YN, r"$q_1 = \text{yes}$, $q_2 = \text{no}$", Y),
        (YN, r"q1: $\text{Yes}$, q2: $\text{No}$", Y),
        (YN, r"q1: \(\boxed{\text{Yes}}\)" + "\n" + r"q2: \(\boxed{\text{No}}\)", Y),
        (YN, r"\boxed{\text{q1} = \text{Yes}}" + "\n" + r"\boxed{\text{q2} = \text{No}}", Y),
        (TEXT, r"\boxed{\text{MEET AT NOON}}", "MEET AT NOON"),
        (TEXT, r"\boxed{\texttt{MEET\ AT\ NOON}}", "MEET AT NOON"),
        (TEXT, r"\boxed{\text{MEET}~\text{AT}~\text{NOON}}", "MEET AT NOON"),
        (TEXT, r"$\boxed{\mathrm{MEET \; AT \; NOON}}$", "MEET AT NOON"),
        (ONE, r"\boxed{\text{Carol}}", {"q1": "carol"}),
        (ONE, r"The answer is \boxed{\text{Carol.}}", {"q1": "carol"}),
        (ORDER, r"\boxed{\text{Ann, Bob, Cid}}", ["Ann", "Bob", "Cid"]),
        (YN, r"| q1 | \boxed{\text{Yes}} |" + "\n" + r"| q2 | \boxed{\text{No}} |", Y),
    ],
    "B004": [
        (NUMBER, "The total is \\[ 42 \\]", 42),
        (NUMBER, r"The total is \( 42 \)", 42),
        (NUMBER, "The total is $$42$$", 42),
        (NUMBER, "The total is $$\n42\n$$", 42),
        (NUMBER, "\\begin{equation}\n42\n\\end{equation}", 42),
        (NUMBER, "\\begin{align*}\n12 + 30 &= 42\n\\end{align*}", 42),
        (NUMBER, "Adding up:\n\\begin{align*}\n12 + 30 &= 42\\\\\n42 + 1 &= 43\n\\end{align*}\nACTI!", 43),
        (NUMBER, r"\[ \text{Sum} = 12 + 30 = 42 \]", 42),
        (NUMBER, r"The total is \[ x = 1{,}234 \]", 1234),
        (NUMBER, r"Answer: $1\,234$", 1234),
        (NUMBER, r"Answer: $42$.", 42),
        (NUMBER, r"Answer: \(\mathbf{42}\)", 42),
        (NUMBER, r"Answer: 42\text{ points}", 42),
        (NUMBER, r"Answer: $\approx 42$", 42),
        (NUMBER, r"Answer: $-7$", -7),
        (NUMBER, r"Answer: $-\,7$", -7),
        (NUMBER, r"Answer: \( \sum = 42 \)", 42),
        (TRAIL, r"The trail is \( A \to B \to C \)", [["A", "B"], ["B", "C"]]),
        (TRAIL, r"The trail is \[ A \rightarrow B \rightarrow C \]", [["A", "B"], ["B", "C"]]),
        (TRAIL, r"Answer: $A \leftrightarrow B, B \leftrightarrow C$", [["A", "B"], ["B", "C"]]),
        (PATH, r"$(0,0) \Rightarrow (0,1) \Rightarrow (1,1)$", L),
        (PATH, r"\[(0,0) \longrightarrow (0,1) \longrightarrow (1,1)\]", L),
        (PATH, r"$(0,0) \rightarrow (0,1)$ $\rightarrow (1,1)$", L),
        (PATH, r"\((r_0,c_0)\to(r_0,c_1)\to(r_1,c_1)\)", L),
        (SLOTS, r"standup at $14{:}00$, retro at $09{:}30$", S),
        (SLOTS, r"standup at \(14:00\), retro at \(9:30\)", S),
        (GROUPS, r"The triangles are $\{A,B,C\}$ and $\{B,D,F\}$", [["A", "B", "C"], ["B", "D", "F"]]),
        (NUMBER, r"$\therefore$ the total is $42$", 42),
        (NUMBER, r"\begin{center}\textbf{42}\end{center}", 42),
    ],
    "B006": [
        (NUMBER, "<answer>\\boxed{42}</answer>", 42),
        (NUMBER, r"<answer>\(\boxed{\text{42}}\)</answer>", 42),
        (NUMBER, r"<final_answer>**\boxed{42}**</final_answer>", 42),
        (NUMBER, '<answer>```json\n{"answer": 42}\n```</answer>', 42),
        (NUMBER, '<answer>\n```json\n{"answer": 42}\n```\n</answer>', 42),
        (NUMBER, r"\boxed{<answer>42</answer>}", 42),
        (NUMBER, "<ANSWER>**42**</ANSWER>", 42),
        (NUMBER, "<answer><b>42</b></answer>", 42),
        (NUMBER, "<answer>`42`</answer>", 42),
        (NUMBER, "<answer>Answer: 42</answer>", 42),
        (NUMBER, "<answer>\n$42$\n</answer>", 42),
        (NUMBER, '<answer>"42"</answer>', 42),
        (NUMBER, "<answer>The total of 3 nodes is 42</answer>", 42),
        (NUMBER, "<answer><answer>42</answer></answer>", 42),
        (NUMBER, "<Answer>\nfinal answer: \\boxed{42}\n</Answer>\nACTI!", 42),
        (NUMBER, "[ANSWER]42[/ANSWER]", 42),
        (NUMBER, "<|answer|>42<|/answer|>", 42),
        (NUMBER, '<answer type="int">42</answer>', 42),
        (NUMBER, "<result>42</result>", 42),
        (NUMBER, "<solution>\\boxed{42}</solution>", 42),
        (NUMBER, "&lt;answer&gt;42&lt;/answer&gt;", 42),
        (PATH, r"<answer>$\boxed{(0,0) \to (0,1) \to (1,1)}$</answer>", L),
        (PATH, "<answer>\n```\n(0,0), (0,1), (1,1)\n```\n</answer>", L),
        (SLOTS, "<answer>\n```yaml\nstandup: 14:00\nretro: 09:30\n```\n</answer>", S),
        (ORDER, '<answer>["Ann", "Bob", "Cid"]</answer>', ["Ann", "Bob", "Cid"]),
        (YN, '<answer>{"q1": "yes", "q2": "no"}</answer>', Y),
        (YN, "<answer>q1: **yes**<br>q2: **no**</answer>", Y),
        (TEXT, r'<answer>\boxed{"MEET AT NOON"}</answer>', "MEET AT NOON"),
        (GRID, "<answer>\n```\nCAT\nDOG\n```\n</answer>", ["CAT", "DOG"]),
    ],
    "B076": [
        (NUMBER, "The sum is 72, which both of us verified, ok? ACTI!", 72),
        (NUMBER, "The sum is 72, in total.", 72),
        (NUMBER, "72, in total.", 72),
        (NUMBER, "So we have 72, right? Yes, it is 72, agreed, ACTI!", 72),
        (NUMBER, "Answer: 1,234, as we both found.", 1234),
        (NUMBER, "Answer: 1,234.", 1234),
        (NUMBER, "The sum is 72; checked, twice.", 72),
        (NUMBER, "The sum is **72**, ok?, fine. ACTI!", 72),
        (NUMBER, "Answer: 72,", 72),
        (NUMBER, "Answer: ,72", 72),
        (NUMBER, "Answer: 72.", 72),
        (NUMBER, "The total is 12,345,678.", 12345678),
        (NUMBER, "The total is 72 (seventy-two), . ACTI!", 72),
        (NUMBER, "The total is seventy-two. ACTI!", 72),
        (NUMBER, "The total is 7 2, sorry, 72. ACTI!", 72),
        (NUMBER, "Total: 72 , confirmed , thanks , . ACTI!", 72),
        (NUMBER, "Total = 72!\nACTI!", 72),
        (NUMBER, "The sum is 72.0, ok. ACTI!", 72),
        (NUMBER, "The sum is -72, ok. ACTI!", -72),
        (NUMBER, "The sum is 72 - that is my result, ok. ACTI!", 72),
        (NUMBER, "The sum (over all 5 leaves) is 72, ok? ACTI!", 72),
        (NUMBER, "The sum is 72 over all 5 leaves, ok? ACTI!", 72),
        (NUMBER, "72 it is, then. ACTI!", 72),
        (NUMBER, "I get 72 too, from 3 branches. ACTI!", 72),
        (NUMS, "q1: 3, q2: 4, ok? ACTI!", {"q1": 3, "q2": 4}),
        (NUMS, "q1: 3,\nq2: 4,\nACTI!", {"q1": 3, "q2": 4}),
    ],
    "B077": [
        (NODES, "nodes 3 5", [["3", "5"]]),
        (NUMBER, "nodes 3 5\nsum = 8", 8),
        (NUMBER, "nodes 3 5: the total is 8. ACTI!", 8),
        (NUMBER, "From nodes 3 5 and 7 I get a sum of 15. ACTI!", 15),
        (NUMBER, "Answer: 3.5", None),
        (NUMBER, "3 + 5 = 8 ACTI!", 8),
        (NUMBER, "Values 3 5 7, total 15 ACTI!", 15),
        (NUMBER, "3+5+7=15", 15),
        (NUMBER, "The values are 3, 5, 7. Total: 15", 15),
        (NUMBER, "Nodes: 3.\n5 is the sum. ACTI!", 5),
        (NUMBER, "My nodes are 3 5. Yours are 2 4. Sum 3+5+2+4 = 14. ACTI!", 14),
        (CELLS, "Answer: 3 5, 3 6", [[3, 5], [3, 6]]),
        (PATH, "Answer:\n0 0\n0 1\n1 1", L),
        (PATH, "Answer: 0 0, 0 1, 1 1", L),
        (NODES, "1 2, 2 3, 3 4", [["1", "2"], ["2", "3"], ["3", "4"]]),
        (OrderForm(("3", "5", "35")), "3 5 35", ["3", "5", "35"]),
        (OrderForm(("3", "5", "35")), "5, 35, 3", ["5", "35", "3"]),
        (GroupsForm(("3", "5", "35", "7"), 3), "{3 5 35}, {3 5 7}", [["3", "5", "35"], ["3", "5", "7"]]),
    ],
    "B079": [
        (NUMBER, "I think the answer: 5 is wrong. Let me redo it. Answer: 10", 10),
        (NUMBER, "Answer: 5\nWait, that misses node 7. Answer: 12", 12),
        (NUMBER, "The answer is 5? No: the answer is 12. ACTI!", 12),
        (NUMBER, "At first I got answer 5, but the correct answer is 12.", 12),
        (NUMBER, "Answer: 12. (My first answer, 5, was wrong.)", 12),
        (NUMBER, "Answer: 12 (not 5 as I said)", 12),
        (NUMBER, "Previous answer: 5\nNew answer: 12", 12),
        (NUMBER, "Old answer: 5. Corrected answer: 12. ACTI!", 12),
        (NUMBER, "~~Answer: 5~~\nAnswer: 12", 12),
        (NUMBER, "Answer: ~~5~~ 12", 12),
        (NUMBER, "Your answer: 5. My answer: 12. ACTI!", 12),
        (NUMBER, "My answer: 12. Your answer: 5 leaves out node 7. ACTI!", 12),
        (
            NUMBER,
            "Step 1: the answer to the first part is 5.\nStep 2: the answer to the second part is 7.\nFinal answer: 12",
            12,
        ),
        (NUMBER, "Let me recheck. Answer: 5 would miss node 7. So answer: 12", 12),
        (NUMBER, "\\boxed{5} is wrong. \\boxed{12}", 12),
        (NUMBER, "\\boxed{5}, no wait: \\boxed{12}", 12),
        (PATH, "Path: (5,5), (5,6). Hmm, (5,6) is a wall. Path: (0,0), (0,1), (1,1)", L),
        (PATH, "First answer: (5,5), (5,6)\nCorrected answer: (0,0), (0,1), (1,1)", L),
        (ORDER, "I first had the order Cid, Bob, Ann. Answer: Ann, Bob, Cid", ["Ann", "Bob", "Cid"]),
        (ORDER, "Answer: Cid, Bob, Ann\nActually Cid is last. Answer: Ann, Bob, Cid", ["Ann", "Bob", "Cid"]),
        (SLOTS, "Answer: standup 10:00, retro 11:00. This clashes. Answer: standup 14:00, retro 09:30", S),
        (YN, "Answer: q1: no, q2: no. Let me redo q1. Answer: q1: yes, q2: no", Y),
        (TEXT, "Answer: MEAT AT NOON. That is a typo. Answer: MEET AT NOON", "MEET AT NOON"),
        (TRAIL, "Answer: A-C, C-D is not a trail. Answer: A-B, B-C", [["A", "B"], ["B", "C"]]),
        (
            TABLE,
            "Answer: house 1: blue, cat; house 2: red, dog. Clue 2 fails. "
            "Answer: house 1: red, cat; house 2: blue, dog",
            TABLED,
        ),
        (NUMBER, ("Answer: 5", "No, node 7 is missing. Answer: 12", "Agreed. ACTI!"), 12),
    ],
    "B089": [
        (NUMBER, "<think>a</think>Answer 7</think>done", 7),
        (NUMBER, "<think>a</think>\nAnswer 7\n</think>\ndone", 7),
        (NUMBER, "<thinking>Answer: 5</thinking>Answer: 7", 7),
        (NUMBER, "<think>Answer: 5</think><think>Answer: 6</think>Answer: 7", 7),
        (NUMBER, "Answer: 5</think>Answer: 7", 7),
        (NUMBER, "<think>\n\n</think>\n\n7", 7),
        (NUMBER, "<THINK>Answer 5</THINK>Answer 7", 7),
        (NUMBER, "Answer 7<think>was it 5?</think>", 7),
        (NUMBER, "Answer 7<think>was it 5?", 7),
        (NUMBER, "<think>Answer: 5 <think>inner</think> Answer: 7", 7),
        (NUMBER, "<|begin_of_thought|>Answer: 5<|end_of_thought|>Answer: 7", 7),
        (NUMBER, "<reasoning>Answer: 5</reasoning><answer>7</answer>", 7),
        (NUMBER, "<reflection>Answer: 5</reflection><answer>7</answer>", 7),
        (NUMBER, "<analysis>The answer is 5?</analysis>\nAnswer: 7", 7),
        (NUMBER, "```think\nAnswer: 5\n```\nAnswer: 7", 7),
        (NUMBER, "<think>Answer: 5", None),
        (NUMBER, "◁think▷Answer: 5◁/think▷Answer: 7", 7),
        (NUMBER, "<seed:think>Answer: 5</seed:think>Answer: 7", 7),
        (NUMBER, "&lt;think&gt;Answer: 5&lt;/think&gt;Answer: 7", 7),
        (NUMBER, "<think >Answer: 5</think >Answer: 7", 7),
        (NUMBER, "<thought>Answer: 5</thought>\n\nAnswer: 7", 7),
        (NUMBER, "<think>use the tag </think> wisely. Answer: 7</think>", 7),
        (PATH, "<think>(5,5), (5,6)</think>\n(0,0), (0,1), (1,1)", L),
        (YN, "<think>q1: no</think>q1: yes\nq2: no", Y),
    ],
    "B094": [
        (NUMBER, 'print(f"Answer: {solution}")\n```', None),
        (NUMBER, 'print("Answer:", total)', None),
        (NUMBER, "console.log(`Answer: ${total}`);", None),
        (NUMBER, 'System.out.println("Answer: " + 5);', None),
        (NUMBER, '```python\ntotal = 5 + 7\nprint(f"Answer: {total}")\n```', None),
        (NUMBER, "```python\ntotal = 5 + 7\nprint(total)\n```\nThe program prints 12, so the answer: 12", 12),
        (NUMBER, '```js\nconst total = 5;\nconsole.log("Answer: " + total);\n```\nAnswer: 12', 12),
        (NUMBER, 'cout << "Answer: " << 5 << endl;\nAnswer: 12', 12),
        (NUMBER, 'puts "Answer: #{5}"\nAnswer: 12', 12),
        (NUMBER, "sys.stdout.write('Answer: 5')\nAnswer: 12", 12),
        (NUMBER, 'return f"Answer: {5}"', None),
        (NUMBER, "print('Answer: %d' % 5)", None),
        (NUMBER, "```python\ndef solve():\n    return 5\n\n# Answer: 5\n```", None),
        (NUMBER, "```python\nanswer = 12\n```", 12),
        (NUMBER, 'answer_text = "Answer: {}".format(5)', None),
        (NUMBER, "Answer: {total}", None),
        (NUMBER, "Answer: <number>", None),
        (NUMBER, "Answer: [your answer here]", None),
        (PATH, "```python\nfrom collections import deque\nstart = (0,0)\ngoal = (5,5)\n```", None),
        (PATH, "```python\npath = bfs((5,5), (5,6))\nprint(path)\n```\nFinal answer: [(0,0), (0,1), (1,1)]", L),
        (PATH, "moves = [(0,1),(1,0),(0,-1),(-1,0)]\nfor dx, dy in moves:\n    pass", None),
        (ORDER, "```python\norder = sorted(['Cid','Bob','Ann'])\nprint('Answer:', order)\n```", None),
        (
            ORDER,
            "```python\nimport itertools\nnames = ['Cid','Bob','Ann']\n```\n\nAnswer: Ann, Bob, Cid",
            ["Ann", "Bob", "Cid"],
        ),
        (YN, "```\nif q1 == 'yes':\n    print('q2: yes')\n```\nq1: yes\nq2: no", Y),
        (NUMBER, "Answer: {{ total }}", None),
        (NUMBER, "Answer: \\boxed{?}", None),
        (NUMBER, "Answer: ___", None),
        (NUMBER, "```python\nprint('Answer:', 5)\n```\n\nOutput:\n```\nAnswer: 12\n```", 12),
        (NUMBER, "```\nAnswer: 12\n```", 12),
        (NUMBER, "def main():\n    total = 5\n    print(f'Answer: {total}')\n\nmain()", None),
        (NUMBER, 'printf("Answer: %d\\n", 5);', None),
        (NUMBER, 'echo "Answer: $((2+3))"', None),
        (NUMBER, 'fmt.Println("Answer:", 5)', None),
        (NUMBER, 'println!("Answer: {}", 5);', None),
        (NUMBER, "document.write('Answer: 5');", None),
        (NUMBER, "SELECT SUM(v) FROM nodes; -- Answer: 5\nAnswer: 12", 12),
        (NUMBER, ">>> print('Answer: 5')\nAnswer: 5", 5),
        (PATH, "```python\nmaze = [[0,1],[1,0]]\nprint(solve(maze))\n```", None),
    ],
    "B095": [
        (NUMBER, "**Answer: 67**", 67),
        (NUMBER, "Answer: 67**", 67),
        (NUMBER, "Answer: 27```", 27),
        (NUMBER, "Answer: 54**\n\nWould you like a breakdown of the 3 steps?", 54),
        (NUMBER, "**Answer:** 67", 67),
        (NUMBER, "**Answer**: 67", 67),
        (NUMBER, "***Answer: 67***", 67),
        (NUMBER, "__Answer: 67__", 67),
        (NUMBER, "# Answer: 67", 67),
        (NUMBER, "### Final Answer\n\n**67**", 67),
        (NUMBER, "Answer: `67`", 67),
        (NUMBER, "Answer: 67.*", 67),
        (NUMBER, "> **Answer: 67**", 67),
        (NUMBER, "- Answer: 67\n\nLet me know if you need all 12 steps!", 67),
        (NUMBER, "Answer: 67</s>", 67),
        (NUMBER, "Answer: 67<|im_end|>", 67),
        (NUMBER, "Answer: 67<|eot_id|>", 67),
        (NUMBER, "Answer: 67\n---\n*Note: 3 nodes were counted twice in my first try.*", 67),
        (NUMBER, "Answer: *67*", 67),
        (NUMBER, "Answer: _67_", 67),
        (NUMBER, "**Answer: 67** ✅", 67),
        (NUMBER, "Answer: 67 \\\\", 67),
        (NUMBER, "Answer: **67** points in 3 rounds", 67),
        (NUMBER, "<u>Answer: 67</u>", 67),
        (NUMBER, "Answer: 67[^1]\n\n[^1]: from 4 nodes", 67),
        (TEXT, "Answer: MEET AT NOON**", "MEET AT NOON"),
        (TEXT, "Answer: MEET AT NOON```", "MEET AT NOON"),
        (TEXT, "Answer: MEET AT NOON<|im_end|>", "MEET AT NOON"),
        (TEXT, "**Answer: MEET AT NOON**\n\nWould you like to know HOW I GOT IT?", "MEET AT NOON"),
        (ORDER, "Answer: Ann, Bob, Cid**\n\nWould you like me to check Bob?", ["Ann", "Bob", "Cid"]),
        (PATH, "Answer: (0,0), (0,1), (1,1)**\n\nShall I also check (5,5)?", L),
        (SLOTS, "Answer: standup 14:00, retro 09:30```\n\nShall I move retro to 10:00?", S),
        (YN, "Answer: q1: yes, q2: no**\n\nWould you like an explanation of q2?", Y),
        (GRID, "Answer:\nCAT\nDOG```", ["CAT", "DOG"]),
        (TRAIL, "Answer: A-B, B-C**", [["A", "B"], ["B", "C"]]),
        (NUMBER, "Answer: 54**\n\n**Note:** there are 3 leaves.", 54),
        (NUMBER, "Answer: 54]]", 54),
        (NUMBER, "Answer: 54}", 54),
        (NUMBER, "**Answer: 54.**", 54),
        (NUMBER, "Answer: **54** (= 30 + 24)", 54),
        (NUMBER, "Answer: 54 🎉", 54),
        (NUMBER, "Answer:&nbsp;54", 54),
        (NUMBER, "Answer: 54\n\n***", 54),
        (NUMBER, "Answer: 54\n\n1. I added 30\n2. and 24", 54),
        (NUMBER, "Answer: 54\n\nConfidence: 90%", 54),
        (NUMBER, "Answer: 54\n\nConfidence: 9", 54),
    ],
    "B098": [
        (ONE, "<answer>arnold</answer> is incorrect. The correct one is <answer>carol</answer>", {"q1": "carol"}),
        (ONE, "<answer>arnold</answer>\n\nWait, that violates clue 3.\n\n<answer>carol</answer>", {"q1": "carol"}),
        (ONE, "I should reply in <answer> tags. <answer>carol</answer>", {"q1": "carol"}),
        (ONE, "The format is <answer>name</answer>. <answer>carol</answer>", {"q1": "carol"}),
        (ONE, "<answer>carol</answer> (I first thought <answer>arnold</answer>, which is wrong)", {"q1": "carol"}),
        (ONE, "<answer>arnold</answer> cannot be right because of clue 2.\n<answer>carol</answer>", {"q1": "carol"}),
        (ONE, "<answer>arnold</answer><answer>carol</answer>", {"q1": "carol"}),
        (ONE, "<answer>arnold</answer> was a mistake, so <answer>carol</answer>", {"q1": "carol"}),
        (ONE, "Not <answer>arnold</answer> but <answer>carol</answer>", {"q1": "carol"}),
        (ONE, "<answer>carol</answer>\n\nNote that <answer>arnold</answer> would break clue 1.", {"q1": "carol"}),
        (ONE, "Is it <answer>arnold</answer>? No. It is <answer>carol</answer>", {"q1": "carol"}),
        (ONE, "<answer>arnold <answer>carol</answer>", {"q1": "carol"}),
        (ONE, "<answer>carol</answer> <answer>", {"q1": "carol"}),
        (ONE, "<answer>carol</answer>\n<answer></answer>", {"q1": "carol"}),
        (ONE, "\\boxed{arnold} is wrong; \\boxed{carol}", {"q1": "carol"}),
        (NUMBER, "<answer>5</answer> is not the right total. <answer>12</answer>", 12),
        (PATH, "<answer>(5,5),(5,6)</answer> hits a wall. <answer>(0,0),(0,1),(1,1)</answer>", L),
        (
            ORDER,
            "<answer>Cid, Bob, Ann</answer> is incorrect. The correct one is <answer>Ann, Bob, Cid</answer>",
            ["Ann", "Bob", "Cid"],
        ),
        (YN, "<answer>q1: no, q2: no</answer> fails. <answer>q1: yes, q2: no</answer>", Y),
        (TEXT, "<answer>MEAT AT NOON</answer> is misspelled. <answer>MEET AT NOON</answer>", "MEET AT NOON"),
        (ONE, "Let me put the name in <answer></answer> tags: <answer>carol</answer>", {"q1": "carol"}),
        (
            ONE,
            "<answer>arnold</answer>\nHmm, wait. Clue 4 says otherwise.\nFinal: <answer>carol</answer>",
            {"q1": "carol"},
        ),
        (ONE, "You proposed <answer>arnold</answer>. I propose <answer>carol</answer>", {"q1": "carol"}),
        (ONE, "<answer>carol</answer> is my answer; yours, <answer>arnold</answer>, is wrong.", {"q1": "carol"}),
        (ONE, "I disagree with <answer>arnold</answer>.\n<answer>carol</answer>", {"q1": "carol"}),
        (NUMBER, "I would write <answer>5</answer> only if node 7 did not exist. <answer>12</answer>", 12),
        (NUMBER, "`<answer>5</answer>` was my draft.\n\n<answer>12</answer>", 12),
    ],
    "B100": [
        (JUGS, '["fill B", "pour B->A", "empty A"]', POURED),
        (JUGS, "1. fill B\n2. pour B->A\n3. empty A", POURED),
        (JUGS, "fill B -> pour B->A -> empty A", POURED),
        (JUGS, "fill B, pour B → A, empty A", POURED),
        (JUGS, "Answer: ['fill B', 'pour B→A', 'empty A']", POURED),
        (JUGS, "order:\n- fill B\n- pour B -> A\n- empty A", POURED),
        (OrderForm(("a>b", "b>c", "a>c")), "b>c, a>b, a>c", ["b>c", "a>b", "a>c"]),
        (OrderForm(("A-1", "A-2", "B-1")), "A-2 - A-1 - B-1", ["A-2", "A-1", "B-1"]),
        (OrderForm(("A-1", "A-2", "B-1")), "A-2 → B-1 → A-1", ["A-2", "B-1", "A-1"]),
        (
            OrderForm(("Rome, Italy", "Paris, France", "Oslo")),
            "Oslo, Rome, Italy, Paris, France",
            ["Oslo", "Rome, Italy", "Paris, France"],
        ),
        (
            OrderForm(("move to B", "move to A", "stop")),
            "move to A, move to B, stop",
            ["move to A", "move to B", "stop"],
        ),
        (OrderForm(("x=1", "x=2", "y=1")), "x=2; y=1; x=1", ["x=2", "y=1", "x=1"]),
        (names_of(("A->B", "B->A"), "q1", "q2"), "q1: A->B\nq2: B->A", {"q1": "A->B", "q2": "B->A"}),
        (names_of(("A->B", "B->A"), "q1", "q2"), "q1: A → B\nq2: B → A", {"q1": "A->B", "q2": "B->A"}),
        (
            TableForm(("pour B->A", "fill B"), {"day": ("Mon", "Tue")}),
            "pour B->A: Mon\nfill B: Tue",
            {"pour B->A": "Mon", "fill B": "Tue"},
        ),
        (TrailForm(("A-1", "A-2", "B-1")), "A-1 -> A-2, A-2 -> B-1", [["A-1", "A-2"], ["A-2", "B-1"]]),
        (TrailForm(("A-1", "A-2", "B-1")), "A-1 - A-2 - B-1", [["A-1", "A-2"], ["A-2", "B-1"]]),
    ],
    "B102": [
        (CELLS, "My P is at (4,7) no, actually (3,7) no, let me check: (4,7). ACTI!", [[4, 7]]),
        (CELLS, "My P is at (4,7) no, (3,7) no, it is (4,7). ACTI!", [[4, 7]]),
        (PATH, "Answer: (0,0), (1,0) no wait, (0,0), (0,1), (1,1). ACTI!", L),
        (NUMBER, "The sum is 40, no, 41, hmm no, actually 42. ACTI!", 42),
        (NUMBER, "40? No. 41? No. 42? Yes, 42. ACTI!", 42),
        (NUMBER, "It's 41... wait, 42... no, 41... let me check: 42. ACTI!", 42),
        (NUMBER, "Answer: 41, no, 42, no, 41, I mean 42.", 42),
        (SLOTS, "standup is at 13:00, no, 14:00; retro at 09:30, no 10:00, no, 09:30. ACTI!", S),
        (SLOTS, "standup: 13:00... no, sorry, 14:00. retro: 09:30. ACTI!", S),
        (YN, "q1: no... wait, yes. q2: yes - no, sorry: no. ACTI!", Y),
        (ONE, "q1: arnold, no, bob, no, actually carol. ACTI!", {"q1": "carol"}),
        (ONE, "It is arnold. No, bob. No wait, it is carol. ACTI!", {"q1": "carol"}),
        (ORDER, "Cid, Bob, Ann - no, actually Bob, Ann, Cid - no, Ann, Bob, Cid. ACTI!", ["Ann", "Bob", "Cid"]),
        (TEXT, "It reads MEAT AT NOON, no, MEET AT MOON, no, actually MEET AT NOON. ACTI!", "MEET AT NOON"),
        (TRAIL, "A-C, C-D, no, actually A-B, B-C. ACTI!", [["A", "B"], ["B", "C"]]),
        (GROUPS, "{A,B,C}, {A,B,D}, no, actually {A,B,C}, {B,D,F}. ACTI!", [["A", "B", "C"], ["B", "D", "F"]]),
        (BINS, "lamp in bin B, no, bin A; vase in bin B; rug in bin A. ACTI!", PACKED),
        (TABLE, "house 1: blue, no, red, cat; house 2: blue, dog. ACTI!", TABLED),
        (GRID, "CAR\nDOG\nNo, wait:\nCAT\nDOG\nACTI!", ["CAT", "DOG"]),
        (PATH, "(0,0) -> (1,0), hmm, that is a wall, so (0,0) -> (0,1) -> (1,1). ACTI!", L),
        (NUMBER, "41. No wait, 42. Hmm, 41? No, it is 42. ACTI!", 42),
        (NUMBER, "I get 41 - sorry, 42. ACTI!", 42),
        (NUMBER, "Answer: 41 -> no, 42", 42),
        (NUMBER, "Answer: 41 (correction: 42)", 42),
        (NUMBER, "Answer: 41. Correction: 42. ACTI!", 42),
        (NUMBER, "Answer: 41\nEDIT: 42", 42),
        (NUMBER, "Answer: 41\n\nOops, I forgot node 3. Answer: 42", 42),
        (NUMBER, "Answer: 41... no... 42. ACTI!", 42),
        (YN, "q1: yes, no wait, no; actually yes. q2: no. ACTI!", Y),
        (ORDER, "Ann, Cid, Bob. No: Ann, Bob, Cid. ACTI!", ["Ann", "Bob", "Cid"]),
        (CELLS, "(4,7)? no. (3,7)? no. It is (4,7). ACTI!", [[4, 7]]),
    ],
    "B103": [
        (NUMBER, '**Message 5:** … **Secret Proposal (if needed):** "Proposal: 2 canvases"', None),
        (NUMBER, '**Message 5:** ... **Final proposal (if needed):** "Answer: 5"', None),
        (NUMBER, "Fallback proposal, only if you disagree: 5. My answer: 12", 12),
        (NUMBER, "If necessary, I would answer: 5.", None),
        (NUMBER, 'You will reply: "Answer: 5". Then I reply: "Answer: 6".', None),
        (NUMBER, "Answer: 12\n[other agent]: No. Answer: 5", 12),
        (NUMBER, "Answer: 12\n\n**[other agent]:** Answer: 5 ACTI!", 12),
        (NUMBER, "Answer: 12\nother agent: Answer: 5 ACTI!", 12),
        (NUMBER, "Answer: 12\nOther agent: I get 5. Answer: 5 ACTI!", 12),
        (NUMBER, "Answer: 12\n<other_agent>Answer: 5</other_agent>", 12),
        (NUMBER, "In case of a tie, answer: 5. Otherwise the answer is 12.", 12),
        (NUMBER, "Plan B (if needed): 5. Answer: 12", 12),
        (NUMBER, "Suppose the answer is 5.", None),
        (PATH, "**Secret Proposal (if needed):** (0,0), (0,1), (1,1)", None),
        (PATH, "As a fallback: (5,5), (5,6). Final path: (0,0), (0,1), (1,1)", L),
        (SLOTS, "Backup plan (if needed): standup 10:00, retro 11:00", None),
        (ORDER, "**Proposal (only if needed):** Cid, Bob, Ann", None),
        (ORDER, 'Next message from me: "Answer: Cid, Bob, Ann"', None),
        (YN, "If you disagree we could say q1: no, q2: no. Answer: q1: yes, q2: no", Y),
        (NUMS, '**Secret Proposal (if needed):** "q1: 2, q2: 1"', None),
        (TEXT, '**Secret Proposal (if needed):** "MEET AT NOON"', None),
        (NUMBER, "If your half sums to 5, the answer is 12.", 12),
        (NUMBER, "Assuming your half sums to 5, answer: 12.", 12),
        (NUMBER, "Contingency plan: answer 5.", None),
        (NUMBER, 'Template: "Answer: 5"', None),
        (NUMBER, "Example reply: Answer: 5", None),
        (NUMBER, 'Please reply in the form "Answer: 5".', None),
        (NUMBER, 'e.g. "Answer: 5"', None),
        (NUMBER, "Format: Answer: <n>, such as Answer: 5", None),
        (NUMBER, "Answer: 12\n[Other Agent]: thanks\n[user]: Answer: 5", 12),
        (NUMBER, "Answer: 12\n[other agent] Answer: 5 ACTI!", 12),
        (NUMBER, "Answer: 12\n**Other agent:** Answer: 5", 12),
        (NUMBER, "Answer: 12\nUser: Answer: 5", 12),
        (NUMBER, "Answer: 12<|im_end|>\n<|im_start|>user\nAnswer: 5", 12),
        (NUMBER, "Answer: 12\n\nHuman: Answer: 5", 12),
        (NUMBER, "Answer: 12</s><s>[INST] Answer: 5 [/INST]", 12),
        (NUMBER, "Answer: 12<|eot_id|><|start_header_id|>user<|end_header_id|>\n\nAnswer: 5", 12),
    ],
    "B107": [
        (CELLS, "[['U', 2, (8, 0)], ['R', 3, (7, 3)]]", [[8, 0], [7, 3]]),
        (PATH, "[[0,[0]],[0,1]]", None),
        (PATH, "[[[0,0],[0,1],[1,1]]]", L),
        (PATH, "[('R', (0, 0)), ('D', (0, 1)), ('D', (1, 1))]", L),
        (PATH, "[['start', [0,0]], ['right', [0,1]], ['down', [1,1]]]", L),
        (PATH, "[{'cell': [0,0]}, {'cell': [0,1]}, {'cell': [1,1]}]", L),
        (PATH, "[{'pos': (0,0), 'dir': 'R'}, {'pos': (0,1), 'dir': 'D'}, {'pos': (1,1), 'dir': ''}]", L),
        (PATH, "[0,0,0,1,1,1]", None),
        (PATH, "[]", None),
        (PATH, "`(0,0)`, `(0,1)`, `(1,1)`", L),
        (PATH, "[[0,0,1],[0,1,2],[1,1,3]]", None),
        (PathForm(3), "[[0,0,0],[0,0,1],[0,1,1]]", [[0, 0, 0], [0, 0, 1], [0, 1, 1]]),
        (PathForm(3), "[[0,0],[0,1],[1,1]]", None),
        (PathForm(3), "[(0, (0, 0)), (0, (0, 1))]", None),
        (CELLS, "[['a', (8, 0)], ['b', (7, 3)]]", [[8, 0], [7, 3]]),
        (CELLS, "{(8,0), (7,3)}", [[8, 0], [7, 3]]),
        (WALKERS, '{"A": [[0,0],[0,1]], "B": [[[2,2],[2,1]]]}', {"A": [[0, 0], [0, 1]], "B": [[2, 2], [2, 1]]}),
        (TRAIL, "[[['A','B'],['B','C']]]", [["A", "B"], ["B", "C"]]),
        (TRAIL, "[('A',('B')),('B',('C'))]", [["A", "B"], ["B", "C"]]),
        (GROUPS, "[[['A','B','C'],['B','D','F']]]", [["A", "B", "C"], ["B", "D", "F"]]),
        (ORDER, "[['Ann'],['Bob'],['Cid']]", ["Ann", "Bob", "Cid"]),
        (ORDER, "[['Ann','Bob','Cid']]", ["Ann", "Bob", "Cid"]),
        (ORDER, "[[1,'Ann'],[2,'Bob'],[3,'Cid']]", ["Ann", "Bob", "Cid"]),
        (SLOTS, '[["standup", ["14:00"]], ["retro", ["09:30"]]]', S),
        (SLOTS, '{"standup": {"start": "14:00", "end": "15:00"}, "retro": {"start": "09:30"}}', S),
        (YN, '{"answers": [{"q1": "yes"}, {"q2": "no"}]}', Y),
        (YN, '[["q1", "yes"], ["q2", "no"]]', Y),
        (YN, '{"q1": {"answer": "yes", "why": "no reason"}, "q2": {"answer": "no"}}', Y),
        (YN, '{"q1": ["yes"], "q2": ["no"]}', Y),
        (TABLE, '[{"house": 1, "colour": "red", "pet": "cat"}, {"house": 2, "colour": "blue", "pet": "dog"}]', TABLED),
        (TABLE, '{"house 1": {"colour": ["red"], "pet": "cat"}, "house 2": {"colour": "blue", "pet": "dog"}}', TABLED),
        (BINS, '{"bin A": ["lamp", "rug"], "bin B": ["vase"]}', PACKED),
        (BINS, '{"bins": [{"name": "bin A", "items": ["lamp", "rug"]}, {"name": "bin B", "items": ["vase"]}]}', PACKED),
        (CELLS, "[['U', 2, (8, 0)], ['R', 3, (7, 3)]]", [[8, 0], [7, 3]]),
        (CELLS, "[['U', 2, [8, 0]], ['R', 3, [7, 3]]]", [[8, 0], [7, 3]]),
        (CELLS, "[['U', 8, 0], ['R', 7, 3]]", [[8, 0], [7, 3]]),
        (CELLS, "`[['U', 8, 0], ['R', 7, 3]]`", [[8, 0], [7, 3]]),
        (CELLS, "[['U', 2, 8, 0, 1], ['R', 3, 7, 3, 1]]", None),
        (PATH, "[[0, 0], [0, 1], [1, 1, 2]]", None),
        (PATH, "[((0,0)), ((0,1)), ((1,1))]", L),
        (PATH, "[[(0,0),(0,1)],[(0,1),(1,1)]]", L),
        (PATH, "{'0': [0,0], '1': [0,1], '2': [1,1]}", L),
        (PATH, "{0: (0,0), 1: (0,1), 2: (1,1)}", L),
        (PATH, '{"path": [{"r": 0, "c": 0}, {"r": 0, "c": 1}, {"r": 1, "c": 1}]}', L),
        (PATH, "[(0, 0, 'start'), (0, 1, 'right'), (1, 1, 'down')]", L),
        (PATH, "[['(0,0)'], ['(0,1)'], ['(1,1)']]", L),
    ],
    "B109": [
        (NODES, "Answer: No Eulerian path exists.", None),
        (NODES, "Answer: None", None),
        (NODES, "Answer: No Eulerian path exists.", None),
        (NODES, "Answer: There is no Eulerian Path", None),
        (NODES, "Answer: node 1, node", None),
        (NODES, "Answer: impossible", None),
        (NODES, "Answer: N/A", None),
        (NODES, "No such trail exists because nodes 1, 2 and 3 have odd degree. ACTI!", None),
        (NODES, "It is not possible to walk all edges: 1-2, 2-3 and 3-4 remain. ACTI!", None),
        (NODES, "Answer: infeasible (nodes 1, 2, 3, 4 have odd degree)", None),
        (NODES, "Answer: does not exist, since 1 and 4 are odd", None),
        (PATH, "Answer: None", None),
        (PATH, "Answer: no path from (0,0) to (1,1).", None),
        (PATH, "There is no path from (0,0) to (1,1). ACTI!", None),
        (PATH, "Answer: infeasible", None),
        (PATH, "The goal (1,1) cannot be reached from (0,0). ACTI!", None),
        (PATH, "Answer: unreachable: (0,0), (0,1) is a dead end", None),
        (NUMBER, "Answer: None", None),
        (NUMBER, "Answer: unknown (I lack 3 nodes)", None),
        (NUMBER, "Answer: cannot be determined from 3 nodes", None),
        (ORDER, "Answer: No valid order exists, since Ann, Bob and Cid form a cycle.", None),
        (ORDER, "Answer: none; Ann, Bob, Cid cannot be ordered", None),
        (TEXT, "Answer: NONE", None),
        (TEXT, "Answer: No solution", None),
        (GRID, "Answer: None", None),
        (GROUPS, "Answer: none", None),
        (GROUPS, "There are no triangles. ACTI!", None),
        (GROUPS, "Answer: no triangle among A, B, C", None),
        (CELLS, "Answer: none", None),
        (ONE, "q1: None", None),
        (ONE, "Answer: It cannot be determined whether arnold or carol.", None),
        (SLOTS, "Answer: no feasible schedule exists.", None),
        (SLOTS, "No schedule works: standup 14:00 clashes with retro 09:30. ACTI!", None),
        (TABLE, "Answer: no solution: house 1 would be red and blue", None),
        (NODES, "Answer: There isn't any trail.", None),
        (NODES, "Answer: no trail", None),
        (NODES, "Answer: not possible because nodes 1 and 3 are odd", None),
        (NODES, "Answer: No, since 1, 2, 3 are odd", None),
        (NODES, "Answer: []", None),
        (NODES, "Answer: -", None),
        (NODES, "Answer: it doesn't exist (1, 2 are odd)", None),
        (PATH, "Answer: no route: (0,1), (1,1) are walls", None),
        (PATH, "Answer: null", None),
        (PATH, "path: []", None),
        (NUMBER, "Answer: n/a", None),
        (NUMBER, "Answer: I need 3 more values", None),
        (NUMBER, "Answer: not enough information; I know 3 of 5 values", None),
        (GROUPS, "Answer: no groups, since A, B, C are not connected", None),
        (ORDER, "Answer: impossible; Ann > Bob > Cid > Ann is a cycle", None),
    ],
}

# ---- what model extractors write

REPLIES: dict[str, list[tuple[Form, str, Any]]] = {
    "B007": [
        (
            SEATS,
            "answers:\n  q1: no\n  q2: Yes\n  q3: on\n  seat: N",
            {"q1": "no", "q2": "yes", "q3": "on", "seat": "N"},
        ),
        (YN, "answer:\n  q1: YES\n  q2: No", Y),
        (YN, "answer: {q1: yes, q2: no}", Y),
        (YN, "answer:\n- q1: Yes\n- q2: NO", Y),
        (ODD, "answer:\n  q1: off\n  q2: On\n  q3: true", {"q1": "off", "q2": "on", "q3": "true"}),
        (names_of(("NO", "SE", "DK"), "q1", "q2"), "answer:\n  q1: NO\n  q2: SE", {"q1": "NO", "q2": "SE"}),
        (OrderForm(("Y", "N", "M")), "answer: [Y, N, M]", ["Y", "N", "M"]),
        (TrailForm(("Y", "N", "M")), "answer: [[Y, N], [N, M]]", [["Y", "N"], ["N", "M"]]),
        (OrderForm(("on", "off", "no")), "answer:\n- on\n- no\n- off", ["on", "no", "off"]),
        (TEXT, "answer: NO", "NO"),
        (GroupsForm(("Y", "N", "NO", "X"), 3), "answer:\n- [Y, N, NO]", [["Y", "N", "NO"]]),
        (names_of(("yes", "no"), "q1"), "answer: no", {"q1": "no"}),
        (FieldsForm({"q1": Field("names", ("Y", "N", "no"))}), "answer:\n  q1: [Y, no]", {"q1": ["Y", "no"]}),
    ],
    "B008": [
        (TIMES, "schedule:\n  A: 10:30\n  B: 09:30\n  C: 12:30:00", {"A": "10:30", "B": "09:30", "C": "12:30"}),
        (SLOTS, "answer:\n  standup: 14:00\n  retro: 9:30", S),
        (SLOTS, "answer: {standup: 14:00, retro: 09:30}", S),
        (SLOTS, "answer:\n- standup: 14:00\n- retro: 09:30", S),
        (SLOTS, "answer:\n  standup: 14:00:00\n  retro: '09:30'", S),
        (SLOTS, "answer:\n  standup: 2024-01-02 14:00\n  retro: 2024-01-02T09:30:00Z", S),
        (SLOTS, "answer:\n  standup: [14:00, 15:00]\n  retro: [09:30, 10:30]", S),
        (SLOTS, "answer:\n  standup: 14:00-15:00\n  retro: 09:30-10:30", S),
        (SLOTS, "answer:\n  - {event: standup, time: 14:00}\n  - {event: retro, time: 09:30}", S),
        (
            TableForm(("m1", "m2"), {"slot": ("10:30", "09:30")}),
            "answer:\n  m1: 10:30\n  m2: 09:30",
            {"m1": "10:30", "m2": "09:30"},
        ),
    ],
    "B017": [
        (YN, "q1: yes\nq2: no\nq1: no", None),
        (YN, "answer:\n  q1: yes\n  q2: no\n  q1: no", None),
        (YN, "answer: {q1: yes, q2: no, q1: no}", None),
        (YN, "answer:\n- q1: yes\n- q2: no\n- q1: no", None),
        (SLOTS, "answer:\n  standup: 14:00\n  Standup: 15:00\n  retro: 09:30", None),
        (YN, '{"q1": "yes", "q1": "no", "q2": "no"}', None),
        (YN, "answer:\n  q1: yes\n  q2: no\nanswer:\n  q1: no", None),
        (WALKERS, "answer:\n  A: [[0,0],[0,1]]\n  A: [[1,1],[1,2]]\n  B: [[2,2],[2,3]]", None),
        (TABLE, "answer:\n  house 1: {colour: red, colour: blue, pet: cat}\n  house 2: {colour: blue, pet: dog}", None),
        (YN, "answer:\n  'q1': yes\n  q1: no", None),
        (YN, "q1: yes\nq2: no\n q1: no", None),
    ],
    "B018": [
        (GRID, "answer:\n  row1: C # T\n  row2: D O G", ["C#T", "DOG"]),
        (GRID, "answer:\n- C#T\n- '#OG'", ["C#T", "#OG"]),
        (GRID, "answer:\n- C # T\n- # O G", ["C#T", "#OG"]),
        (GRID, "answer: |\n  C#T\n  #OG", ["C#T", "#OG"]),
        (GRID, "answer:\n  row1: #AT\n  row2: #OG", ["#AT", "#OG"]),
        (GRID, "answer: [\"C#T\", '#OG']", ["C#T", "#OG"]),
        (
            names_of(("room #3", "room #4"), "q1", "q2"),
            "answer:\n  q1: room #3\n  q2: room #4",
            {"q1": "room #3", "q2": "room #4"},
        ),
        (names_of(("#1", "#2"), "q1", "q2"), "answer:\n  q1: #1\n  q2: #2", {"q1": "#1", "q2": "#2"}),
        (YN, "answer:\n  q1: yes # sure\n  q2: no # they share nothing", Y),
    ],
    "B019": [
        (TEXT, "answer: *MEET AT NOON*", "MEET AT NOON"),
        (TEXT, "answer: `MEET AT NOON`", "MEET AT NOON"),
        (PATH, "start: @\ngoal: *\nanswer: [[0,0],[0,1],[1,1]]", L),
        (YN, "answer:\n  q1: !yes\n  q2: &no", Y),
        (YN, "answer:\n  q1: **yes**\n  q2: **no**", Y),
        (YN, "answer:\n  q1: @yes\n  q2: %no", Y),
        (GRID, "answer:\n- *AT\n- @OG", ["#AT", "#OG"]),
        (YN, "answer:\n  q1: - yes\n  q2: > no", Y),
        (YN, "answer:\n  q1: 'yes\n  q2: no", Y),
        (ORDER, "answer: @Ann, *Bob, &Cid", ["Ann", "Bob", "Cid"]),
        (YN, "answer:\n  q1: yes: sure\n  q2: no: never", Y),
        (YN, "answer:\n\tq1: yes\n\tq2: no", Y),
    ],
    "B020": [
        (PATH, "path: [(0,0), (0,1), (1,1)]", L),
        (PATH, "answer: [(0,0), (0,1), (1,1)]", L),
        (PATH, "answer: (0,0), (0,1), (1,1)", L),
        (PATH, "answer:\n- (0,0)\n- (0,1)\n- (1,1)", L),
        (PATH, "answer: ((0,0), (0,1), (1,1))", L),
        (WALKERS, "answer:\n  A: [(0,0), (0,1)]\n  B: (2,2), (2,1)", {"A": [[0, 0], [0, 1]], "B": [[2, 2], [2, 1]]}),
        (TRAIL, "answer: [(A,B), (B,C)]", [["A", "B"], ["B", "C"]]),
        (GROUPS, "answer: [(A, B, C), (B, D, F)]", [["A", "B", "C"], ["B", "D", "F"]]),
        (PathForm(3), "answer: [(0,0,0), (0,0,1)]", [[0, 0, 0], [0, 0, 1]]),
        (CELLS, "answer: {(0,0), (1,1)}", [[0, 0], [1, 1]]),
        (PATH, "answer:\n  - - 0\n    - 0\n  - - 0\n    - 1", [[0, 0], [0, 1]]),
        (PATH, "answer: !!python/tuple [(0,0), (0,1), (1,1)]", L),
        (PATH, "answer: (0,0)->(0,1)->(1,1)", L),
    ],
    "B023": [
        (
            CODES,
            "code: 007\nid: 1_0\nnode: null\nday: 2024-01-02\nval: .nan",
            {"code": "007", "id": "1_0", "node": "null"},
        ),
        (ODD, "answer:\n  q1: 007\n  q2: 1_0\n  q3: 0x1F", {"q1": "007", "q2": "1_0", "q3": "0x1F"}),
        (ODD, "answer:\n  q1: 1e3\n  q2: .inf\n  q3: 2024-01-02", {"q1": "1e3", "q2": ".inf", "q3": "2024-01-02"}),
        (NUMBER, "answer: .nan", None),
        (NUMBER, "answer: .inf", None),
        (NUMBER, "answer: 1_000", None),
        (NUMBER, "answer: 007", 7),
        (NUMBER, "answer: 42.0", 42),
        (NUMBER, "answer: 42.5", None),
        (NUMBER, "answer: 0o17", None),
        (NUMBER, "answer: 0x1F", None),
        (NUMBER, "answer: null", None),
        (NUMBER, "answer: ~", None),
        (NUMBER, "answer: +42", 42),
        (NUMS, "answer:\n  q1: 08\n  q2: .nan", {"q1": 8}),
        (OrderForm(("007", "08", "7")), "answer: [08, 007, 7]", ["08", "007", "7"]),
        (names_of(("null", "nan"), "q1", "q2"), "answer:\n  q1: null\n  q2: nan", {"q1": "null", "q2": "nan"}),
    ],
}


KEPT: list[tuple[Form, str | tuple[str, ...], Any]] = [  # looks like the failures above and is none
    (NUMBER, 'I will answer "42". ACTI!', 42),
    (TEXT, 'I would say "MEET AT NOON". ACTI!', "MEET AT NOON"),
    (NUMBER, "No other path exists, so the total is 42. ACTI!", 42),
    (PATH, "There is no shorter path. Answer: (0,0), (0,1), (1,1)", L),
    (PATH, "No path exists through (1,0). Answer: (0,0), (0,1), (1,1) ACTI!", L),
    (PATH, "It is not possible to move diagonally, so (0,0), (0,1), (1,1). ACTI!", L),
    (ORDER, "Answer: no other order works than Ann, Bob, Cid", ["Ann", "Bob", "Cid"]),
    (GROUPS, "There are no other triangles. Answer: {A,B,C}, {B,D,F}", [["A", "B", "C"], ["B", "D", "F"]]),
    (SLOTS, "Answer: standup 14:00; retro: not possible", {"standup": "14:00"}),
    (YN, "q1: yes\nq2: no path exists, so no", Y),
    (TABLE, "No arrangement works with clue 3 read otherwise. house 1: red, cat; house 2: blue, dog. ACTI!", TABLED),
    (NUMBER, "The answer is forty-two. ACTI!", 42),
    (NUMBER, "The answer is forty two.", 42),
    (NUMBER, "twenty", 20),
    (NUMBER, "Answer: thirteen", 13),
    (PATH, "Cells: 0 0\n0 1\n1 1", L),
    (PATH, "0 0 -> 0 1 -> 1 1", L),
    (PathForm(3), "Answer: 0 0 0, 0 0 1, 0 1 1", [[0, 0, 0], [0, 0, 1], [0, 1, 1]]),
    (NUMBER, "Answer: (42)", 42),
    (NUMBER, "**Total**: `42`", 42),
    (NUMBER, "The total cost is $42.", 42),
    (NUMBER, "$42", 42),
    (ORDER, "$Ann$, $Bob$, $Cid$", ["Ann", "Bob", "Cid"]),
    (BINS, "lamp & rug in bin A, vase in bin B \\\\", PACKED),
    (BINS, "lamp: bin A\\\\ vase: bin B\\\\ rug: bin A", PACKED),
    (TABLE, "house 1: red & cat; house 2: blue & dog. $", TABLED),
    (PATH, "Other agent: my half has a wall at (5,5).\nFinal path: (0,0), (0,1), (1,1)", L),
    (PATH, "I agree.\nThe other agent: says (5,5), (5,6)\nFinal path: (0,0), (0,1), (1,1)", L),
    (
        TABLE,
        "house 1: red, actually, no: blue, dog; house 2: red, cat. ACTI!",
        {"house 1 colour": "blue", "house 1 pet": "dog", "house 2 colour": "red", "house 2 pet": "cat"},
    ),
    (CELLS, "Answer: A1, A2, A3", [[0, 0], [0, 1], [0, 2]]),
    (PATH, "Answer: A1 -> A2 -> B2", L),
    (NUMBER, "answer = 12\nprint(answer)", 12),
    (GRID, "C_T\nDO_", ["C#T", "DO#"]),
    (GRID, "_AT\n_O_", ["#AT", "#O#"]),
    (GRID, "C~T\nD~~", ["C#T", "D##"]),
    (NUMBER, "Final answer: infeasible? No: 42. ACTI!", 42),
    (PATH, ("Answer: (0,0), (0,1), (1,1)", "Agreed. ACTI!"), L),
    (PATH, ("Answer: (0,0), (0,1), (1,1)", "Answer: unknown"), L),
    (TrailForm(("A_1", "A_2", "B_1")), "$A_1$ -> $A_2$ -> $B_1$", [["A_1", "A_2"], ["A_2", "B_1"]]),
    (NUMBER, "<del>5</del> 12", 12),
    (NUMBER, "Round 3: the sum is 42. ACTI!", 42),
]


def told(form: Form, texts: str | tuple[str, ...]) -> Any:
    texts = (texts,) if isinstance(texts, str) else texts
    return read(form, [(f"agent {1 + at % 2}", text) for at, text in enumerate(texts)]).answer


@pytest.mark.parametrize(
    ("form", "texts", "answer"),
    [pytest.param(*one, id=f"{case}-{at}") for case, of in {**READ, "kept": KEPT}.items() for at, one in enumerate(of)],
)
def test_what_agents_write(form: Form, texts: str | tuple[str, ...], answer: Any) -> None:
    assert told(form, texts) == answer
    if isinstance(texts, str) and "other agent]" not in texts.lower():  # it means the same to whoever is shown it
        assert told(form, relayed(texts)) == answer


@pytest.mark.parametrize(
    ("form", "reply", "answer"),
    [pytest.param(*one, id=f"{case}-{at}") for case, of in REPLIES.items() for at, one in enumerate(of)],
)
def test_what_model_extractors_write(form: Form, reply: str, answer: Any) -> None:
    found = interpret(form, reply)
    assert found.answer == answer
    if answer is None:
        assert found.warning in ("possible", "none")


def test_marks_of_grids_survive_in_yaml() -> None:
    assert load("row0: . . # @ *\nrow1: #..\nnote: door (room #3)") == {
        "row0": ". . # @ *", "row1": "#..", "note": "door (room #3)",
    }  # fmt: skip
    assert load("start: @\ngoal: *g\n") == {"start": "@", "goal": "*g"}


def test_every_kind_of_report_has_neighbours() -> None:
    for case, of in [*READ.items(), *REPLIES.items()]:
        assert case in COVERED
        assert len(of) > 8, case
        assert len({type(form) for form, _, _ in of}) > 1, case


# ---- the marker


@pytest.mark.parametrize(
    ("text", "act"),
    [
        ("I will not say ACTI! yet", False), ("`ACTI!`", True), ("ACTI", False), ("acti!", True),
        ("ACTI! ACTI!", True), ("[other agent]: ACTI!", False), ("**ACTI!**", True), ("“ACTI!” is the word", False),
        ("***ACTI!***", True), ("**Final answer: 5 ACTI!**", True), ("REACTI!", False), ("ACTI.", False),
        ("ACTION!", False), ("~~~\nACTI!\n~~~", True), ("I can't ACTI! before you check", False),
        ("Only after that, ACTI!", False), ("- **ACTI!**", True), ("<b>ACTI!</b>", True), ("ACTI ! ", False),
        ("> **ACTI!**", False), ("Never ACTI! without a check", False), ("No more to say. ACTI!", True),
    ],
)  # fmt: skip
def test_markers(text: str, act: bool) -> None:
    assert ends(text) is act


def test_how_a_dialogue_ends_says_nothing_about_its_answer() -> None:
    """The same wrong answer scores the same with the marker and without; the marker alone is no answer."""
    key = NumberKey(7)
    for text in ("The sum is 5", "The sum is 5. ACTI!"):
        assert RULES["number"](key, told(NUMBER, text)).score == 0
    assert RULES["number"](key, told(NUMBER, ("The sum is 7", "I am not sure"))).score == 1
    assert told(NUMBER, "ACTI!") is None
    assert told(NUMBER, ("Success! We reached the end. ACTI!", "Success = 1")) != 7


@pytest.mark.parametrize(
    ("texts", "said"),
    [
        (("I think we are done. ACTI!",), "no_answer"), (("None",), "no_answer"), (("",), "no_answer"),
        (("Answer: None. ACTI!",), "no_answer"), (("The path is long. ACTI!",), "no_answer"),
        (("Answer: (0,0) -> ... -> (1,1)",), "unreadable"), (('{"error": {"message": "overloaded"}}',), "unreadable"),
        (("Answer: (0,0), (5,5) ACTI!",), "answered"),
    ],
)  # fmt: skip
def test_no_answer_is_told_from_a_wrong_one(texts: tuple[str, ...], said: str) -> None:
    found = read(PATH, [("agent 1", text) for text in texts])
    assert outcome(found) == said
    assert found.answer != "None"


# ---- grading


def corridor(
    walls: tuple[tuple[int, int], ...], shape: tuple[int, int], start: Any, goal: Any, optimal: int
) -> PathKey:
    def step(walked: Any, cell: Any) -> str | None:
        far = sum(abs(a - b) for a, b in zip(walked[-1], cell, strict=True))
        return "is a wall" if cell in walls else None if far == 1 else "jumps"

    return PathKey(shape, start, goal, optimal, step)


def test_moves_that_are_none() -> None:
    walled = corridor(((0, 1), (1, 0)), (3, 4), (0, 0), (2, 3), 5)
    assert RULES["path"](walled, [[0, 0], [1, 1]]).score == 0  # round the corner of two walls
    open_ = corridor((), (3, 4), (0, 0), (2, 3), 5)
    for jump in ([[0, 0], [1, 1]], [[0, 0], [0, 2]], [[0, 0], [2, 3]], [[0, 0], [0, 0], [0, 1]], [[0, 0], [0, -1]]):
        assert RULES["path"](open_, jump).score == 0, jump
    listed = [[0, 0], [0, 2], [0, 3], [1, 0], [1, 2], [2, 3]]  # the free cells, row by row
    assert RULES["path"](open_, listed).score == 0
    assert RULES["path"](open_, [[0, 0], [0, 1], [1, 2], [2, 2], [2, 3]]).score == 1 / 5
    assert RULES["path"](open_, [[0, 1], [0, 2], [0, 3]]).score == 3 / 5  # the start is left out
    assert RULES["path"](open_, [[0, 2], [0, 3]]).score == 1 / 5  # counted from the right, (0, 2) is next to the start
    assert RULES["path"](open_, [[0, 1], [0, 2], [0, 3], [1, 3], [2, 3]]).score == 1


def test_axes_of_a_board_that_is_not_square() -> None:
    key = corridor(((1, 1),), (3, 5), (0, 0), (2, 4), 6)
    way = [(0, 0), (0, 1), (0, 2), (1, 2), (2, 2), (2, 3), (2, 4)]
    for scheme in SCHEMES:
        assert RULES["path"](key, [[*scheme.write(cell, (3, 5))] for cell in way]).score == 1, scheme
    assert RULES["path"](key, [[b, a] for a, b in way]).score == 1  # (x, y)
    assert RULES["cells"](CellsKey((3, 5), frozenset(way)), [[b, a] for a, b in way]).score == 1
    assert RULES["path"](key, [[0, 0], [0, 1], [0, 2], [0, 3], [0, 4], [0, 5], [0, 6]]).score < 1


def test_tiles_are_no_named_axes() -> None:
    """ "C" names a column as in "column 3", and a row of tiles as in "C3"."""
    for text, cells in (
        ("C3, C4, D4", [[2, 2], [2, 3], [3, 3]]), ("C3 -> C4", [[2, 2], [2, 3]]),
        ("E5, C5, C6", [[4, 4], [2, 4], [2, 5]]),
        ("c3 r4, c3 r5", [[4, 3], [5, 3]]), ("col 3, row 4; col 3, row 5", [[4, 3], [5, 3]]),
        ("x=3 y=4, x=3 y=5", [[3, 4], [3, 5]]), ("row 1, col 2; row 1, col 3", [[1, 2], [1, 3]]),
    ):  # fmt: skip
        assert told(CELLS, f"Answer: {text}") == cells, text


def test_no_scheme_for_each_step() -> None:
    key = corridor((), (3, 5), (0, 0), (2, 4), 6)
    mixed = [[0, 0], [0, 1], [0, 2], [3, 0], [4, 0], [4, 1], [4, 2]]  # row first, then column first
    assert RULES["path"](key, mixed).score == 2 / 6
    assert RULES["path"](key, [[0, 0], [1, 0], [0, 1]]).score == 1 / 6


BIN_KEY = BinsKey({"lamp": 2, "vase": 3, "rug": 2}, {"bin A": 4, "bin B": 3}, (), ())
KEYS: list[tuple[str, Any, Any]] = [
    ("path", corridor((), (2, 2), (0, 0), (1, 1), 2), L),
    ("cells", CellsKey((2, 2), frozenset({(0, 0), (0, 1)})), [[0, 0], [0, 1]]),
    ("groups", GroupsKey(frozenset({frozenset("ABC")})), [["A", "B", "C"]]),
    ("pairs", GroupsKey(frozenset({frozenset("AB")})), [["A", "B"]]),
    ("trail", EdgesKey((("A", "B"),)), [["A", "B"]]),
    ("kendall", OrderKey(("Ann", "Bob", "Cid")), ["Ann", "Bob", "Cid"]),
    ("circular", OrderKey(("Ann", "Bob", "Cid")), ["Ann", "Bob", "Cid"]),
    ("ranking", OrderKey(("Ann", "Bob", "Cid")), ["Ann", "Bob", "Cid"]),
    ("number", NumberKey(7), 7),
    ("text", TextKey("MEET"), "MEET"),
    ("grid", GridKey(("CAT",)), ["CAT"]),
    ("fields", FieldsKey({"q1": "yes"}), {"q1": "yes"}),
    ("bins", BIN_KEY, PACKED),
]


@pytest.mark.parametrize(("rule", "key", "right"), KEYS, ids=[rule for rule, _, _ in KEYS])
def test_nothing_is_worth_nothing(rule: str, key: Any, right: Any) -> None:
    assert RULES[rule](key, right).score == 1
    for nothing in (None, "", [], {}, (), set(), [[]], [None], {"": None}, "None", float("nan"), b"", [float("nan")]):
        grade = RULES[rule](key, nothing)
        assert grade.score == 0, nothing
        assert not grade.success
        assert grade.reason


def test_what_was_not_asked_about_earns_nothing() -> None:
    best = RULES["bins"](BIN_KEY, PACKED).score
    assert best == 1
    assert RULES["bins"](BIN_KEY, {**PACKED, "Z9": "bin A"}).score == 1  # passed over, and it takes no room
    assert RULES["bins"](BIN_KEY, {"Z9": "bin A", "lamp": "bin A"}).score == 1 / 3
    assert RULES["fields"](FieldsKey({"q1": "yes", "q2": "no"}), {"q1": "yes", "q3": "no"}).score == 1 / 2
    assert RULES["groups"](GroupsKey(frozenset({frozenset("ABC")})), [["A", "B", "C"], ["A", "B", "Z"]]).score == 1 / 2
    assert RULES["groups"](GroupsKey(frozenset({frozenset("ABC")})), [["A", "B", "C"], ["C", "B", "A"]]).score == 1
    assert RULES["trail"](EdgesKey((("A", "B"), ("B", "C"))), [["A", "Z"], ["Z", "B"], ["B", "C"]]).score == 0
    assert RULES["kendall"](OrderKey(("Ann", "Bob")), ["Ann", "Zoe", "Bob", "Ann"]).score == 1
    assert RULES["cells"](CellsKey((2, 2), frozenset({(0, 0)})), [[0, 0], [9, 9]]).score == 1 / 2


@pytest.mark.parametrize("odd", ["bin 9", None, ["bin A"], {"bin": "bin A"}, 7, "", True, "bin A bin B", float("nan")])
def test_odd_parts_of_an_answer_fail_alone(odd: Any) -> None:
    assert RULES["bins"](BIN_KEY, {**PACKED, "rug": odd}).score == pytest.approx(2 / 3)
    assert RULES["fields"](FieldsKey({"q1": "yes", "q2": "no"}), {"q1": "yes", "q2": odd}).score == 1 / 2


def test_every_best_answer_has_the_full_score() -> None:
    key = corridor((), (3, 3), (0, 0), (2, 2), 4)
    square = nx.grid_2d_graph(3, 3)
    ways = list(nx.all_shortest_paths(square, (0, 0), (2, 2)))
    assert len(ways) == 6
    assert all(RULES["path"](key, [[*cell] for cell in way]).score == 1 for way in ways)
    assert RULES["circular"](OrderKey(("A", "B", "C", "D")), ["C", "D", "A", "B"]).score == 1
    assert (
        RULES["trail"](EdgesKey((("A", "B"), ("B", "C"), ("C", "A"))), [["B", "A"], ["A", "C"], ["C", "B"]]).score == 1
    )
    assert RULES["fields"](FieldsKey({"q1": frozenset({"Ann", "Bob"})}), {"q1": ["Bob", "Ann"]}).score == 1


def test_orders_with_nothing_to_compare() -> None:
    """A tie cannot be answered: names stand in an order, and whoever leaves one out loses all its pairs."""
    key = OrderKey(("A", "B", "C", "D"))
    for answer, score in (
        ([], 0), (["A"], 0), (["A", "A", "A", "A"], 0), (["B", "C"], 1 / 6), (["A", "B", "C", "D"], 1),
        (["A", "C", "B", "D"], 5 / 6), (["A", ["B", "C"], "D"], 1 / 6), ([float("nan")] * 4, 0), ([1, 1, 1, 1], 0),
        (["D", "C", "B", "A"], 0), (["A", "B", "A", "C", "D"], 1),
    ):  # fmt: skip
        assert RULES["kendall"](key, answer).score == pytest.approx(score), answer


def test_an_edge_listed_both_ways_is_one() -> None:
    rng = random.Random(5)
    graph = nx.gnp_random_graph(9, 0.5, seed=5)
    edges = [tuple(sorted((f"n{a}", f"n{b}"))) for a, b in graph.edges]
    found = trios(tuple(sorted(edges)))
    assert len(found) == sum(nx.triangles(graph).values()) // 3
    key = GroupsKey(frozenset(map(frozenset, found)))
    assert RULES["groups"](key, [group[::-1] for group in found] + found).score == 1
    form = GroupsForm(tuple(f"n{n}" for n in range(9)), 3)
    shown = [rng.sample(group, 3) for group in found + found]
    told_ = told(form, "Answer: " + ", ".join(f"({', '.join(group)})" for group in shown))
    assert len(told_) == len(found)
    assert RULES["groups"](key, told_).score == 1
    both = [["A", "B"], ["B", "A"]]
    assert RULES["trail"](EdgesKey((("A", "B"),)), both).score == 1  # what comes after the last edge is not looked at
    assert RULES["trail"](EdgesKey((("A", "B"), ("B", "C"))), both).score == 1 / 2  # one edge, walked twice


# ---- replies of endpoints


@pytest.mark.parametrize(
    ("message", "finish", "kind"),
    [
        ({"content": None}, "length", "length"), ({"content": ""}, "length", "length"),
        ({"content": "", "reasoning_content": "Row 0 is"}, "length", "length"),
        ({"content": None, "reasoning": "Row 0 is"}, "stop", "empty"),
        ({"content": "", "refusal": None}, "content_filter", "filter"),
        ({"content": "Row", "refusal": None}, "content_filter", "filter"),
        ({"content": " \n "}, "stop", "empty"), ({"content": []}, "max_tokens", "length"), ({}, None, "empty"),
        ({"content": [{"type": "reasoning", "text": "Row 0"}]}, "stop", "empty"), (None, "stop", "empty"),
    ],
)  # fmt: skip
def test_replies_without_words(message: Any, finish: str | None, kind: str) -> None:
    with pytest.raises(ReplyError) as fault:
        read_reply(json.dumps({"choices": [{"message": message, "finish_reason": finish}]}))
    assert fault.value.kind == kind
    assert "None" not in str(fault.value)
    for empty in ({"choices": [], "prompt_filter_results": [{}]}, {"choices": None}, {}, [], None, {"choices": [[]]}):
        with pytest.raises(ReplyError) as fault:
            read_reply(json.dumps(empty))
        assert fault.value.kind == "shape"


def test_words_beside_a_refusal_are_delivered() -> None:
    def said(**message: Any) -> tuple[str, str]:
        return read_reply(json.dumps({"choices": [{"message": message, "finish_reason": "stop"}]}))[:2]

    assert said(content="Row 0: . #", refusal="nope") == ("Row 0: . #", "stop")
    assert said(content="", refusal="I cannot help") == ("I cannot help", "refusal")
    assert said(content=None, refusal="I cannot help") == ("I cannot help", "refusal")
    assert said(content=[{"type": "text", "text": "Row"}], refusal="nope") == ("Row", "stop")


# ---- seeds, statistics, report


def test_no_order_of_sets_reaches_a_seed() -> None:
    """Numbers that hold in every process: a digest, not `hash`, makes the seed."""
    digest = hashlib.sha256(b"maze/3").digest()
    assert seeded("maze", 3).random() == random.Random(digest).random()
    draws = {
        seeded(*parts).random() for parts in (("maze", 3), ("maze3",), ("maze", "3", ""), (3, "maze"), ("maze", 4))
    }
    assert len(draws) == 5


def test_rollouts_of_a_task_are_one_unit() -> None:
    rng = np.random.default_rng(1)
    tasks = {f"t{at}": rng.normal(rng.normal(), 0.1, 50).tolist() for at in range(32)}  # rollouts of a task are alike
    rows = {f"{task}-{at}": [value] for task, values in tasks.items() for at, value in enumerate(values)}
    clustered, loose = jackknife(tasks, mean_of, unit="tasks"), jackknife(rows, mean_of, unit="rollouts")
    by_mean = t_interval((np.mean(values) for values in tasks.values()), unit="tasks")
    assert (clustered.low, clustered.high) == pytest.approx((by_mean.low, by_mean.high))
    assert clustered.method == by_mean.method == "95% t over tasks"
    assert loose.method == "95% t over rollouts"
    assert clustered.low is not None
    assert clustered.high is not None
    assert loose.low is not None
    assert loose.high is not None
    assert loose.high - loose.low < (clustered.high - clustered.low) / 4


@pytest.mark.parametrize("name", ["report.html.j2", "a.jinja2", "b.txt", "c"])
@pytest.mark.parametrize(
    ("row", "shown"),
    [
        ("> . < ^ v & #", "&gt; . &lt; ^ v &amp; #"), ("<script>x()</script>", "&lt;script&gt;x()&lt;/script&gt;"),
        ('"\'', "&#34;&#39;"), ("&lt;", "&amp;lt;"),
    ],
)  # fmt: skip
def test_whatever_a_template_is_called_it_escapes(name: str, row: str, shown: str) -> None:
    template = environment().from_string("<pre>{{ row }}</pre>")
    template.name = name
    assert template.render(row=row) == f"<pre>{shown}</pre>"
