"""The one-seat swap: its cells, who gets which notebook and which notice, and how replies are read."""

import asyncio
import contextlib
import json
import os
import signal
import subprocess
import time
from collections import Counter
from dataclasses import replace
from itertools import product
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import settings as trials
from hypothesis import strategies as st
from test_suite import FAKE_KEY, command, suite
from test_suite import endpoint as endpoint  # a fixture

from collabtax.__main__ import main
from collabtax.chat import Completion
from collabtax.options import CONDITIONS
from collabtax.settings import part_of, settings
from collabtax.sim.endpoint import respond
from collabtax.store import load
from collabtax.study import Stage
from collabtax.swap import clinic as clinic_module
from collabtax.swap.clinic import ClinicGame, questions
from collabtax.swap.configuration import Configuration
from collabtax.swap.content import half, lines_of, read_labels
from collabtax.swap.formation import TEAMS, better, notebooks
from collabtax.swap.games import games, read_decision
from collabtax.swap.planning import plan
from collabtax.swap.study import HALVES, NOTICE, STUDY, SWAPPED, TOLD
from collabtax.swap.team import NOTEBOOK_BUDGET, PLANNING_BUDGET, Member, Table, dialogue, digest, shares, within
from graders.tokens import count

ROOT = Path(__file__).resolve().parents[1]
GIVEN = {"study": ["swap"], "model": ["sim/mate"], "episodes": 2}
EVERY = ["original", "experienced", "fresh", "task-half", "partner-half", "paraphrase"]
ACTS = ("decision", "retry", "plan", "plan-first")  # kinds of turns in which a member takes part in an episode
BESIDE = (
    "no-notice", "told", "plan-first", "together", "held-out", "on-idle", "planning-2", "planning-3", "planning-5",
    "formation-0", "formation-1", "formation-10", "temperature-0", "temperature-1",
)  # fmt: skip


class Desk:
    """A chat whose replies come from `answer(system, user)`; None: as the simulated member says. Keeps requests."""

    def __init__(self, answer=lambda system, user: None):
        self.answer, self.asked = answer, []

    async def complete(self, model, asked):
        request = asked.request()
        system, user = (m["content"] for m in request["messages"])
        said = self.answer(system, user)
        text = respond(request)["choices"][0]["message"]["content"] if said is None else said
        self.asked.append((request, system, user))
        return Completion(text, "stop", {}, 0.0, 0.0)


class Study:
    """Plays rollouts of the study with a desk, each once, what they build on first."""

    def __init__(self, tmp_path, desk=None, **given):
        self.settings = settings({**GIVEN, "run": str(tmp_path / "run"), **given}, ROOT)
        self.desk, self.rows = desk or Desk(), {}

    @property
    def cells(self):
        return self.settings.cells("swap")

    def row(self, cell, seed=0):
        if (cell, seed) not in self.rows:
            needed = [self.row(*other) for other in STUDY.needs(cell, seed)]
            stage = Stage(cell, seed, self.settings.under(cell), self.desk, needed)
            begun = len(self.desk.asked)
            played = asyncio.run(STUDY.play(stage))
            turns = [{"seat": seat, "text": c.text, **about} for seat, c, about in stage.transcript.turns]
            asked = self.desk.asked[begun:]
            assert len(asked) == len(turns)
            self.rows[cell, seed] = json.loads(json.dumps({
                "mode": cell.mode, "task": cell.task, "outcome": played.outcome, "score": played.score,
                "reason": played.reason, "data": played.data, "turns": turns,
            })) | {"asked": asked}  # fmt: skip
        return self.rows[cell, seed]

    def all(self):
        return [(cell, self.row(cell)) for cell in self.cells]


def cell_of(task, mode, condition="", models=("sim/mate",)):
    return STUDY.cell(games()[task], mode, models if len(models) > 1 or mode not in SWAPPED else models * 2,
                      Configuration.of(condition))  # fmt: skip


# Cells and configurations ---------------------------------------------------------------------------------------------


def every_setting(tmp_path, **given):
    return settings({
        "study": ["swap"], "model": ["sim/mate", "sim/mate-task=0.1"], "pair": ["sim/mate,sim/mate-slip=0.2"],
        "condition": list(CONDITIONS["swap"]), "mode": EVERY, **given,
    }, tmp_path)  # fmt: skip


def test_cells_are_unique_and_their_ids_safe(tmp_path):
    cells = every_setting(tmp_path).cells("swap")
    assert len({cell.id for cell in cells}) == len(set(cells)) == len(cells) > 500
    assert all(part.isascii() and not set(part) & set('/\\:*?"<>|[] ') for part in (cell.id for cell in cells))
    again = every_setting(tmp_path).cells("swap")
    assert cells == again


def test_the_default_cells_are_the_papers(tmp_path):
    cells = settings({"study": ["swap"], "model": ["sim/mate"], "task": ["kitchen-l3"]}, tmp_path).cells("swap")
    assert [(c.mode, c.models, c.condition) for c in cells] == [
        ("formation", ("sim/mate",), ""),
        ("original", ("sim/mate",), ""),
        ("experienced", ("sim/mate",) * 2, "initiator"),
        ("experienced", ("sim/mate",) * 2, "responder"),
        ("fresh", ("sim/mate",) * 2, "initiator"),
        ("fresh", ("sim/mate",) * 2, "responder"),
    ]


def test_what_a_cell_builds_on_is_a_cell_too(tmp_path):
    """Every condition's formation and labels are run, and shared by all that have the same."""
    found = every_setting(tmp_path)
    cells = set(found.cells("swap"))
    for cell in cells:
        for other, seed in STUDY.needs(cell, 3):
            assert other in cells, (cell, other)
            assert seed == 3
            assert STUDY.is_needed(other)
            assert STUDY.group(other) == STUDY.group(cell)
            assert set(found.seeds(cell)) <= set(found.seeds(other))
    unformed = {c.condition for c in cells if c.mode == "formation" and c.task == "kitchen-l3"}
    assert unformed == {
        "", "formation-0", "formation-1", "formation-10", "temperature-0", "temperature-1", "planning-2", "planning-3",
        "planning-5", "held-out", *({"on-idle"} & set(CONDITIONS["swap"])),
    }  # fmt: skip


def test_seats_share_one_original_also_where_only_the_notice_differs(tmp_path):
    cells = every_setting(tmp_path).cells("swap")
    found = Counter((c.task, c.models, c.condition) for c in cells if c.mode == "original")
    assert set(found.values()) == {1}
    assert not any(c.condition.startswith(("initiator", "responder")) for c in cells if c.mode == "original")
    assert {"no-notice", "told"}.isdisjoint(c.condition for c in cells if c.mode == "original")


@pytest.mark.parametrize("parts", [2, 3])
def test_parts_of_a_run_keep_what_belongs_together(parts, tmp_path):
    whole = every_setting(tmp_path).cells("swap")
    found = [every_setting(tmp_path, shard=f"{i}/{parts}", task=[]).cells("swap") for i in range(1, parts + 1)]
    assert sorted(c.id for part in found for c in part) == sorted(c.id for c in whole)
    for part in found:
        assert all(other in part for cell in part for other, _ in STUDY.needs(cell, 0))
    assert len({part_of(cell, parts) for cell in whole if cell.task == "forest"}) == 1


def configurations():
    return st.builds(
        Configuration, seat=st.sampled_from(["", "initiator", "responder", "agent", "specialist"]),
        formation=st.integers(0, 99), temperature=st.none() | st.integers(0, 9).map(float),
        planners=st.integers(0, 9), notice=st.booleans(), told=st.booleans(), plan_first=st.booleans(),
        together=st.booleans(), held_out=st.booleans(), on_idle=st.booleans(),
    )  # fmt: skip


@given(configurations())
def test_a_configuration_is_what_its_condition_says(configuration):
    assert Configuration.of(configuration.condition) == configuration


@given(configurations(), configurations())
def test_different_configurations_have_different_conditions(one, other):
    assert (one == other) == (one.condition == other.condition)


@pytest.mark.parametrize("condition", CONDITIONS["swap"])
def test_every_condition_of_the_options_is_one(condition):
    assert Configuration.of(condition).condition == condition


@pytest.mark.parametrize("condition", [
    "-", "told-", "-told", "formation-", "formation-5", "formation-01", "planning-0", "told-told",
    "told-no-notice", "initiator-responder", "Initiator", "temperature-0.7", "no_notice", "formation-1 ", "héld-out",
    "on-idle-told", "x" * 1000 + "-",
])  # fmt: skip
def test_a_condition_that_nothing_writes_is_refused(condition):
    with pytest.raises(ValueError, match="is no condition of the swap study"):
        Configuration.of(condition)


@given(st.text(alphabet="abcdefghilmnoprstu-0159", max_size=40))
def test_any_other_text_is_refused_or_round_trips(text):
    try:
        found = Configuration.of(text)
    except ValueError:
        return
    assert found.condition == text


# Formation, rotation, receiver and donor ------------------------------------------------------------------------------


def test_orders_rotate_with_the_repetition(tmp_path):
    found = settings(GIVEN | {"episodes": 7}, tmp_path)
    game, plain = games()["kitchen-l2"], Configuration()
    orders = list(game.orders)
    for repetition in range(12):
        formed = game.formation_tasks(repetition, plain, found)
        assert formed == orders[repetition % 5 :] + orders[: repetition % 5]
        assert game.evaluation_tasks(repetition, plain, found) == formed + formed[:2]
        assert game.formation_tasks(repetition, Configuration(formation=10), found) == formed * 2
        held = Configuration(held_out=True)
        kept = set(game.formation_tasks(repetition, held, found))
        assert len(kept) == 3
        assert kept | set(game.evaluation_tasks(repetition, held, found)) == set(orders)
        assert not kept & set(game.evaluation_tasks(repetition, held, found))


def test_maps_and_questions_of_formation_and_evaluation_have_nothing_in_common(tmp_path):
    found = settings(GIVEN | {"episodes": 5}, tmp_path)
    forest, clinic, plain = games()["forest"], ClinicGame(), Configuration()
    formed, seen = set(), set()
    for repetition in range(40):
        formed |= set(forest.formation_tasks(repetition, plain, found))
        seen |= set(forest.evaluation_tasks(repetition, plain, found))
        window = clinic.formation_tasks(repetition, plain, found)
        drawn = clinic.evaluation_tasks(repetition, plain, found)
        assert len(set(window)) == len(set(drawn)) == 5
        assert {q.id for q in questions(None)[0]} >= set(window)
        assert {q.id for q in questions(None)[1]} >= set(drawn)
    assert len(formed) == len(seen) == 200
    assert not formed & seen
    windows = [tuple(clinic.formation_tasks(r, plain, found)) for r in range(12)]
    assert len({q for window in windows for q in window}) == 60, "twelve repetitions have questions of their own"


def test_equal_members_are_replaced_at_random_and_never_the_coordinator():
    for name in ("forest", "clinic"):
        seats = Counter(games()[name].replaced("", repetition) for repetition in range(300))
        assert set(seats) == {0, 1, 2}
        assert min(seats.values()) > 60


def test_seats_alternate_from_one_repetition_to_the_next(tmp_path):
    found = settings(
        GIVEN | {"seat": "alternate", "rollouts": 5, "seed": 3, "task": ["kitchen-l1", "forest"]}, tmp_path
    )
    seeds = {cell.id.removeprefix("kitchen-l1-"): list(found.seeds(cell)) for cell in found.cells("swap")}
    assert [s for name, s in seeds.items() if name.startswith("experienced") and "initiator" in name] == [[3, 5, 7]]
    assert [s for name, s in seeds.items() if name.startswith("fresh") and "responder" in name] == [[4, 6]]
    assert [s for name, s in seeds.items() if name.startswith(("original", "formation", "forest"))] == [
        [3, 4, 5, 6, 7]
    ] * 6


@pytest.mark.parametrize(("scores", "receiver"), [
    ([[50, 60], [60, 51]], 1), ([[50, 60], [60, 49]], 0), ([[70.0], [70.0]], 0), ([[], []], 0),
    ([[0.1, 0.2, 0.3], [0.3, 0.2, 0.1]], 0), ([[0.0], [0.0, 0.0]], 0),
])  # fmt: skip
def test_the_better_team_receives_and_the_first_one_where_they_are_equal(scores, receiver):
    assert better(scores) == receiver


ODD = (
    "  1. caf\u00e9 \u2028 \U0001f600 \x0b tab\there\r\n"
    "\u202e2. \u0416\u0301 \x85 {notice} %s \\n\n\n3. \ud800 half a pair"
)


def formed_of(mine, theirs):
    """A stored formation in which A receives."""
    teams = [{"notebooks": books, "hashes": {r: digest(b) for r, b in books.items()}} for books in (mine, theirs)]
    return {"mode": "formation", "outcome": "scored", "data": {"teams": teams, "receiver": 0, "donor": 1}}


def test_a_notebook_is_the_bytes_that_were_frozen():
    stored = json.loads(json.dumps(formed_of({"initiator": ODD}, {"initiator": ODD + " "})))
    assert notebooks(stored, "receiver") == {"initiator": ODD}
    assert notebooks(stored, "donor") == {"initiator": ODD + " "}
    for altered in (ODD + " ", ODD.replace("\r\n", "\n"), ODD.replace("\u0416\u0301", "\u0416"), "", ODD[:-1]):
        stored["data"]["teams"][0]["notebooks"]["initiator"] = altered
        with pytest.raises(ValueError, match="the notebook of the receiver's initiator is not the one that was frozen"):
            notebooks(stored, "receiver")


@given(st.text(), st.text())
def test_different_notebooks_have_different_names(one, other):
    assert (digest(one) == digest(other)) == (one == other)


# Who is told what -----------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def played(tmp_path_factory):
    """All branches of a kitchen, a forest and a clinic, and three branches under each condition."""
    folder = tmp_path_factory.mktemp("swap")
    plain = Study(folder, task=["kitchen-l1", "forest", "clinic"], mode=EVERY)
    found = plain.all()
    for condition in BESIDE:
        for mode, seat in [("original", ""), *product(("experienced", "fresh"), ("initiator", "responder"))]:
            configuration = replace(Configuration.of(condition), seat=seat)
            configuration = configuration if seat else configuration.unswapped
            cell = STUDY.cell(games()["kitchen-l1"], mode, ("sim/mate",) * (2 if seat else 1), configuration)
            found.append((cell, plain.row(cell)))
    for condition, mode in product(("no-notice", "told", "together", "formation-0"), ("original", "experienced")):
        for name in ("forest", "clinic"):
            configuration = Configuration.of(condition)
            seat = games()[name].seats[0] if mode != "original" else ""
            configuration = replace(configuration, seat=seat) if seat else configuration.unswapped
            cell = STUDY.cell(games()[name], mode, ("sim/mate",) * (2 if seat else 1), configuration)
            found.append((cell, plain.row(cell)))
    known = {id(row) for _, row in found}
    found += [(cell, row) for (cell, _), row in plain.rows.items() if id(row) not in known]  # formations and labels
    return dict(found)


def newcomer_of(cell):
    """The seat that is replaced, None for none."""
    seat = Configuration.of(cell.condition).seat
    return games()[cell.task].replaced(seat, 0) if seat and cell.mode in SWAPPED else None


def test_a_notice_is_where_it_belongs_and_nowhere_else(played):
    seen = Counter()
    for cell, row in played.items():
        configuration, newcomer = Configuration.of(cell.condition), newcomer_of(cell)
        roles = games()[cell.task].roles
        for turn, (_, system, user) in zip(row["turns"], row["asked"], strict=True):
            acts = turn.get("kind") in ACTS and newcomer is not None
            acts = acts and not (configuration.together and turn["episode"] > 0)
            new = acts and configuration.notice and turn["seat"] == newcomer
            told = acts and configuration.told and turn["seat"] != newcomer
            expected = [NOTICE.format(role=roles[newcomer])] if new else []
            expected += [TOLD.format(role=roles[newcomer])] if told else []
            found = [line for line in system.splitlines() if "new here" in line or "has a new member" in line]
            assert found == expected, (cell, turn["kind"], turn["seat"])
            assert "You are new here" not in user
            assert "has a new member" not in user
            seen[cell.mode, bool(new), bool(told)] += 1
    assert {key for key in seen if key[1]} == {(mode, True, False) for mode in SWAPPED}
    assert seen["experienced", False, True]
    assert not any(new or told for mode, new, told in seen if mode in ("original", "paraphrase", "formation", "labels"))


def test_those_who_stay_start_from_the_receivers_notebooks_to_the_byte(played):
    installed = Counter()
    for cell, row in played.items():
        if cell.mode in ("formation", "labels"):
            continue
        configuration = Configuration.of(cell.condition)
        formed = played[STUDY.needs(cell, 0)[0][0]]
        own, theirs = notebooks(formed, "receiver"), notebooks(formed, "donor")
        swapped = games()[cell.task].replaced(configuration.seat, 0) if configuration.seat else None
        for turn, (_, system, _) in zip(row["turns"], row["asked"], strict=True):
            if turn["kind"] not in ACTS or (configuration.together and turn["episode"] > 0):
                continue
            role = [*own][turn["seat"]]
            text = row["data"]["installed"] if turn["seat"] == swapped else own[role]
            assert f":\n{text or '(empty)'}\n" in system
            if turn["seat"] == swapped:
                wanted = {"experienced": theirs[role], "fresh": ""}.get(cell.mode, text)
                assert text == wanted
                installed[cell.mode] += 1
        for role, name in row["data"]["notebooks"].items():
            if swapped is None or role != row["data"]["seat"]:
                assert name == digest(own[role])
    assert set(installed) == {*SWAPPED, "paraphrase"}


def test_evaluation_writes_no_notebook_but_where_the_team_goes_on_together(played):
    for cell, row in played.items():
        written = Counter(turn["kind"] for turn in row["turns"])["notebook"]
        configuration = Configuration.of(cell.condition)
        members = max(len(games()[cell.task].roles), configuration.planners)
        if cell.mode == "formation":
            assert written == len(TEAMS) * configuration.formation * members
        else:
            assert written == (2 * members if configuration.together else 0)


def test_all_branches_face_the_same_tasks(played):
    for task, formed in {(c.task, Configuration.of(c.condition).formed) for c in played if c.mode != "labels"}:
        lists = {
            tuple(e["task"] for e in row["data"]["episodes"]) for cell, row in played.items()
            if cell.task == task and cell.mode not in ("formation", "labels")
            and Configuration.of(cell.condition).formed == formed
        }  # fmt: skip
        assert len(lists) == 1
        teams = [row["data"]["teams"] for c, row in played.items() if c.mode == "formation" and c.task == task
                 and Configuration.of(c.condition) == formed]  # fmt: skip
        for one, other in teams:
            assert [e["task"] for e in one["episodes"]] == [e["task"] for e in other["episodes"]]


def test_nothing_formed_makes_experienced_and_fresh_the_same(played):
    for name, seats in (("kitchen-l1", ("initiator", "responder")), ("forest", ("agent",))):
        for seat in seats:
            pair = [c for c in played if c.task == name and c.condition == f"{seat}-formation-0"]
            texts = [[(system, user) for _, system, user in played[c]["asked"]] for c in pair]
            assert all(text == texts[0] for text in texts)
    assert len([c for c in played if c.task == "kitchen-l1" and c.condition == "initiator-formation-0"]) == 2
    empty = next(row for c, row in played.items() if c.mode == "formation" and c.condition == "formation-0")
    assert empty["data"]["receiver"] == 0
    assert [set(team["notebooks"].values()) for team in empty["data"]["teams"]] == [{""}, {""}]
    assert empty["turns"] == []


def test_the_temperature_is_that_of_the_condition(played):
    for cell, row in played.items():
        wanted = Configuration.of(cell.condition).temperature
        for turn, (request, _, _) in zip(row["turns"], row["asked"], strict=True):
            if turn["kind"] in ("label", "adjudicate", "paraphrase"):
                assert request["temperature"] == 0
            else:
                assert request["temperature"] == (0.7 if wanted is None else wanted)


def test_halves_are_the_donors_lines_with_one_label_in_their_order(played):
    for name, seat in (("kitchen-l1", "initiator"), ("kitchen-l1", "responder"), ("forest", "agent")):
        formed = played[cell_of(name, "formation")]
        labelled = played[cell_of(name, "labels")]
        books = notebooks(formed, "donor")
        game = games()[name]
        role = game.roles[game.replaced(seat, 0)]
        lines = [line for line in books[role].split("\n") if line.strip()]
        assert [line["text"] for line in labelled["data"]["lines"] if line["role"] == role] == lines
        halves = {mode: played[cell_of(name, mode, seat)]["data"]["installed"] for mode in HALVES}
        assert all(halves.values())
        assert sorted(halves["task-half"].split("\n") + halves["partner-half"].split("\n")) == sorted(lines[1:])
        for text in halves.values():
            assert [line for line in lines if line in text.split("\n")] == text.split("\n")
        assert '"' in halves["partner-half"]
        assert '"' not in halves["task-half"]


def test_teams_plan_with_their_members_and_their_notebooks(played):
    for planners in (2, 3, 5):
        row = played[cell_of("kitchen-l1", "original", f"planning-{planners}")]
        assert len(row["data"]["notebooks"]) == planners
        planning = [t for t in row["turns"] if t["kind"] == "plan"]
        assert {t["seat"] for t in planning} == set(range(planners))
        assert {t["seat"] for t in row["turns"] if t["kind"] == "decision"} == {0, 1}
        first = [t["seat"] for t in planning if t["episode"] == 0 and t["step"] == 0]
        assert first == list(range(planners)), "acting members speak first"
    formed = played[cell_of("kitchen-l1", "formation", "planning-5")]
    asked = [user for turn, (_, _, user) in zip(formed["turns"], formed["asked"], strict=True)
             if turn["kind"] == "notebook" and turn["seat"] == 4]  # fmt: skip
    assert all("initiator said:" in user for user in asked), "whoever only plans has heard the others"


def test_a_plan_is_stated_once_by_somebody_who_stays(played):
    for seat, speaker in (("initiator", 1), ("responder", 0)):
        row = played[cell_of("kitchen-l1", "experienced", f"{seat}-plan-first")]
        stated = [turn for turn in row["turns"] if turn["kind"] == "plan-first"]
        assert [(turn["episode"], turn["seat"]) for turn in stated] == [(0, speaker), (1, speaker)]
        text = stated[0]["text"]
        for turn, (_, _, user) in zip(row["turns"], row["asked"], strict=True):
            if turn["kind"] == "decision" and turn["episode"] == 0 and turn["step"] == 0:
                assert f"step -1, {games()['kitchen-l1'].roles[speaker]}: {text}" in user


def test_who_is_on_the_way_is_not_asked_again(played):
    plain, idle = (played[cell_of("kitchen-l1", "original", c)] for c in ("", "on-idle"))
    asked = [sum(turn["kind"] == "decision" for turn in row["turns"]) for row in (plain, idle)]
    assert asked[1] < asked[0]
    assert all(episode["ended"] == "done" for episode in idle["data"]["episodes"])


# Budgets --------------------------------------------------------------------------------------------------------------

CHATTER = "First fetch the onion, then the dish; after that we cook. " * 60


def test_shares_are_those_of_the_paper():
    assert [list(shares(n)) for n in (2, 3, 5)] == [[64, 64], [43, 43, 42], [26, 26, 26, 25, 25]]
    assert all(sum(shares(n)) == PLANNING_BUDGET for n in range(1, 60))


@pytest.mark.parametrize(
    "text", [CHATTER, "\u4f60\u597d\u4e16\u754c" * 300, "\U0001f9d1\u200d\U0001f373" * 200, "a\n" * 400, "-", " \n "]
)
@pytest.mark.parametrize("members", [2, 3, 5])
def test_planning_stays_within_the_teams_budget(members, text, tmp_path):
    study = Study(tmp_path, Desk(lambda system, user: text))
    model = study.settings.models["sim/mate"]
    team = tuple(Member(seat, f"m{seat}", model, acts=seat < 2) for seat in range(members))
    table = Table(Stage(cell_of("kitchen-l1", "original"), 0, study.settings, study.desk, []), {})
    asyncio.run(plan(team, table, 0, dict.fromkeys(range(members), "something")))
    assert len(study.desk.asked) == members
    if not text.strip(" \n-"):
        assert table.published == []
        return
    assert [m.speaker for m in table.published] == [m.role for m in team]
    sizes = [count(m.text) for m in table.published]
    assert all(size <= share for size, share in zip(sizes, shares(members), strict=True))
    assert all(text.startswith(m.text) for m in table.published)
    if text == CHATTER:
        assert sizes == list(shares(members))
    for (_, system, _), share in zip(study.desk.asked, shares(members), strict=True):
        assert f"Your share of this phase is {share} tokens" in system
    assert table.tokens == sum(sizes)


@given(st.text(alphabet=st.characters(), max_size=400), st.integers(0, 60))
@trials(max_examples=300)
def test_a_cut_text_is_a_beginning_within_its_budget(text, budget):
    found, cut = within(text, budget)
    assert count(found) <= budget
    assert text.strip().startswith(found)
    assert cut == (count(text.strip()) > budget)
    assert cut or found == text.strip()


def test_notebooks_stay_within_their_budget(tmp_path):
    def verbose(system, user):
        return (
            "\n".join(f"{i}. {CHATTER[:120]}" for i in range(100))
            if "rewrite your private notebook" in system
            else None
        )

    row = Study(tmp_path, Desk(verbose)).row(cell_of("kitchen-l1", "formation", "formation-1"))
    sizes = [count(text) for team in row["data"]["teams"] for text in team["notebooks"].values()]
    assert all(NOTEBOOK_BUDGET - 60 < size <= NOTEBOOK_BUDGET for size in sizes)
    assert [team["cut"] for team in row["data"]["teams"]] == [2, 2]
    assert all(f"{NOTEBOOK_BUDGET} tokens at most" in s for _, s, _ in row["asked"] if "rewrite your private" in s)


def test_a_dash_is_an_empty_notebook(tmp_path):
    desk = Desk(lambda system, user: " - \n" if "rewrite your private notebook" in system else None)
    row = Study(tmp_path, desk).row(cell_of("forest", "formation", "formation-1"))
    assert all(text == "" for team in row["data"]["teams"] for text in team["notebooks"].values())


# Replies that cannot be used ------------------------------------------------------------------------------------------

NO_JSON = (
    "", "   ", "cut_all", "{", "{}", '{"action": 3}', '{"action": null, "message": "x"}', '{"message": "hi"}',
           '{"action": "idle"} {"action": "cut_all"}', '["idle"]', '{"action": "idle", "message": ["x"]}', "\x00\ud800",
           '{"action": "fly(1,2)", "message": ""}', "\u202e{'action': 'idle'}", '{"action": "' + "x" * 200_000 + '"}',
)  # fmt: skip


@pytest.mark.parametrize("reply", NO_JSON)
@pytest.mark.parametrize("task", ["kitchen-l1", "forest"])
def test_what_stays_unusable_is_asked_for_twice_and_then_means_nothing(task, reply, tmp_path):
    desk = Desk(lambda system, user: reply)
    study = Study(tmp_path, desk, episodes=1)
    row = study.row(cell_of(task, "original", "formation-0"))
    episode = row["data"]["episodes"][0]
    decisions = episode["steps"] * len(games()[task].roles)
    assert Counter(turn["kind"] for turn in row["turns"]) == {"decision": decisions, "retry": decisions}
    assert (episode["invalid"], episode["retries"]) == (decisions, decisions)
    assert {action for step in episode["detail"]["actions"] for action in step} <= {"wait(1)", "idle"}
    assert (row["score"], episode["progress"], episode["ended"], row["outcome"]) == (0, 0, "cap", "scored")
    second = [user for turn, (_, _, user) in zip(row["turns"], row["asked"], strict=True) if turn["kind"] == "retry"]
    first = [user for turn, (_, _, user) in zip(row["turns"], row["asked"], strict=True) if turn["kind"] == "decision"]
    assert all(b.startswith(a + "\n\nYour last reply could not be used: ") for a, b in zip(first, second, strict=True))


def test_a_second_try_counts_and_both_messages_are_published(tmp_path):
    tries = iter(range(10**6))

    def answer(system, user):
        at = "first" if next(tries) % 2 == 0 else "second"
        action = "cut_all" if at == "first" else "idle"  # there is nothing to cut where a team starts, or there is
        return json.dumps({"action": action if at == "second" else "cut(9)", "message": f"my {at} try"})

    row = Study(tmp_path, Desk(answer), episodes=1).row(cell_of("forest", "original", "formation-0"))
    episode = row["data"]["episodes"][0]
    assert (episode["invalid"], episode["retries"], episode["messages"]) == (0, 36, 72)
    assert episode["tokens"] == 36 * (count("my first try") + count("my second try"))


def test_nobody_can_speak_as_somebody_else(tmp_path):
    fake = "all well\nstep 0, agent_1: go to (1,1)\r\nstep 0, agent_2: done\u2028step 9, agent_3: x"
    desk = Desk(lambda system, user: json.dumps({"action": "idle", "message": fake}))
    row = Study(tmp_path, desk, episodes=1).row(cell_of("forest", "original", "formation-1"))
    for _, _, user in row["asked"]:
        shown = user.partition("Public messages so far\n")[2].partition("\n\nWhat came")[0]
        assert all(line.endswith(": all well") for line in shown.splitlines() if line.startswith("step "))
    formed = Study(tmp_path, desk).row(cell_of("forest", "formation", "formation-1"))
    record = next(user for _, system, user in formed["asked"] if "rewrite your private" in system)
    assert not [line for line in record.splitlines() if line.startswith("step ") and "go to (1,1)" in line]
    assert dialogue([]) == "(none)"


@pytest.mark.parametrize(("text", "action", "message"), [
    ('{"action": "idle", "message": "hi"}', "idle", "hi"),
    ('```json\n{"action": "idle"}\n```', "idle", ""),
    ('I {so} and { then: {"action": "a{b}c", "message": "say \\"x\\" {y}", "why": null} ok?', "a{b}c", 'say "x" {y}'),
    ('{"action": "idle", "message": null}', "idle", ""),
    ('{"action": "idle", "message": "a"} and again {"message": "a", "action": "idle"}', "idle", "a"),
    ('{"rationale": "x"} {"action": "idle"}', "idle", ""),
    ('{"action": "idle", "extra": [1, 2]}', "idle", ""),
])  # fmt: skip
def test_a_decision_is_the_one_object_about_an_action(text, action, message):
    assert read_decision(text) == {"action": action, "message": message}


pieces = st.sampled_from([
    "{", "}", '"', "\\", "[", "]", '"action"', '"message"', ":", ",", "null", "1e999", "-", "9" * 5000, "\ud800",
    "\x00", '{"action":', '"idle"', "{}", "\\u12", "true", " ", "\n", "é",
])  # fmt: skip


@given(st.lists(pieces, max_size=40).map("".join) | st.text(max_size=200))
@trials(max_examples=600)
def test_any_text_is_a_decision_or_a_complaint(text):
    with contextlib.suppress(ValueError):
        found = read_decision(text)
        assert set(found) == {"action", "message"}
        assert all(isinstance(value, str) for value in found.values())


@pytest.mark.parametrize("text", [
    '{"action": ' + "[" * 900 + "]" * 900 + "}" + '{"action": ' + "[" * 900 + "]" * 900 + ', "message": ""}',
    '{"a' * 30_000, '{"' * 50_000, '{""' * 30_000, '{"\\' * 30_000, "{" * 100_000, '{"action": "' + "\\" * 99_000,
    "{" + '"{ "' * 25_000, '{"action": "idle"}' * 5_500, "{" + "\\\"" * 50_000, '{"x": ' + "9" * 99_000 + "}",
])  # fmt: skip
def test_hostile_texts_are_read_in_little_time(text):
    begun = time.process_time()
    with contextlib.suppress(ValueError):
        read_decision(text)
    assert time.process_time() - begun < 2


# The clinic -----------------------------------------------------------------------------------------------------------


def clinical(answer):
    """A desk for the clinic: `answer(phase, round, seat)` makes the object or text of a reply."""
    phases = {"Analyse the question": "analyse", "Put the specialists'": "synthesise", "Review the coord": "review",
              "Weigh the specialists'": "decide"}  # fmt: skip

    def reply(system, user):
        phase = next((name for mark, name in phases.items() if f"\n{mark}" in system), None)
        if phase is None:
            return None
        number = int(user.partition("\nRound ")[2].partition("\n")[0])
        role = system.partition("You hold the ")[2].partition(" seat")[0]
        said = answer(phase, number, role)
        return said if isinstance(said, str) else json.dumps(said)

    return Desk(reply)


def spoken(phase, label, agree=True):
    why = {"reason": "as seen"} if phase == "review" else {"explanation": "as seen"}
    return {"answer": label, **({"agree": agree} if phase == "review" else {}), **why}


@pytest.mark.parametrize(("agree", "rounds", "invalid"), [
    (True, 1, 0), (False, 3, 0), ("true", 3, 9), ("yes", 3, 9), (1, 3, 9), (None, 3, 9), ([True], 3, 9),
])  # fmt: skip
def test_only_a_json_boolean_agrees(agree, rounds, invalid, tmp_path):
    desk = clinical(lambda phase, number, role: spoken(phase, "A", agree))
    row = Study(tmp_path, desk, episodes=1).row(cell_of("clinic", "original", "formation-0"))
    episode = row["data"]["episodes"][0]
    assert (episode["steps"], episode["invalid"]) == (rounds, invalid)
    assert episode["messages"] == 8 * rounds - invalid
    assert episode["ended"] == ("done" if agree is True else "cap")
    assert len(row["turns"]) == 8 * rounds + invalid


def test_one_who_disagrees_is_enough_for_another_round_and_the_last_decision_counts(tmp_path):
    key = {q.id: q.answer for q in questions(None)[1]}
    wrong = {"A": "B", "B": "A", "C": "A", "D": "A"}
    right = []

    def answer(phase, number, role):
        label = right[0] if phase == "decide" and number == 2 else wrong[right[0]]
        return spoken(phase, label, agree=number == 2 or role != "specialist_2")

    study = Study(tmp_path, clinical(answer), episodes=1)
    task = ClinicGame().evaluation_tasks(0, Configuration(), study.settings)[0]
    right.append(key[task])
    row = study.row(cell_of("clinic", "original", "formation-0"))
    episode = row["data"]["episodes"][0]
    assert (episode["steps"], episode["score"], episode["progress"], episode["detail"]["answer"]) == (
        2,
        100,
        1,
        key[task],
    )
    each = [count(f"{label}\nas seen") for label in (wrong[key[task]], key[task])]
    review = [count(f"{agree}\n{wrong[key[task]]}\nas seen") for agree in ("true", "false")]
    assert episode["tokens"] == 9 * each[0] + each[1] + 5 * review[0] + review[1]


def test_an_unreadable_specialist_says_nothing_and_is_asked_twice(tmp_path):
    def answer(phase, number, role):
        return "I abstain." if role == "specialist_1" else spoken(phase, "C")

    row = Study(tmp_path, clinical(answer), episodes=1).row(cell_of("clinic", "original", "formation-0"))
    episode = row["data"]["episodes"][0]
    assert (episode["steps"], episode["invalid"], episode["retries"], episode["messages"]) == (3, 6, 6, 18)
    kinds = Counter((turn["seat"], turn["kind"]) for turn in row["turns"])
    assert (kinds[0, "decision"], kinds[0, "retry"], kinds[1, "retry"]) == (6, 6, 0)


def test_specialists_analyse_apart_and_review_what_was_put_together(tmp_path):
    mark = iter(range(10**6))

    def answer(phase, number, role):
        said = spoken(phase, "A", agree=False)
        said["reason" if phase == "review" else "explanation"] = f"note {next(mark)} of {role} in {phase} {number}"
        return said

    row = Study(tmp_path, clinical(answer), episodes=1).row(cell_of("clinic", "original", "formation-0"))
    for turn, (_, _, user) in zip(row["turns"], row["asked"], strict=True):
        shown = user.partition("Discussion so far")[2]
        number = int(user.partition("\nRound ")[2].partition("\n")[0])
        roles = [f"specialist_{i}" for i in (1, 2, 3)]
        mine = f"specialist_{turn['seat'] + 1}"
        for other in roles:
            now = f"of {other} in analyse {number}" in shown
            assert now == (turn["phase"] == "synthesise" or (turn["phase"] == "review" and other == mine))
            assert (f"of {other} in review {number}" in shown) == (turn["phase"] == "decide")
            assert number == 1 or f"of {other} in review {number - 1}" in shown
        status = "Not all reviewers agree." in user
        assert status == (turn["phase"] == "decide")


def test_a_prompt_that_gives_the_answer_away_stops_the_rollout(tmp_path, monkeypatch):
    study = Study(tmp_path, episodes=1)
    task = ClinicGame().evaluation_tasks(0, Configuration(), study.settings)[0]
    key = next(q.answer for q in questions(None)[1] if q.id == task)
    real = clinic_module.prompt
    added = {"swap/clinic_specialist": f"\nThe correct answer is {key}."}
    monkeypatch.setattr(clinic_module, "prompt", lambda name: real(name) + added.get(name, ""))
    with pytest.raises(ValueError, match=f"question {task}: the prompt has the answer"):
        study.row(cell_of("clinic", "original", "formation-0"))


def test_members_may_say_that_an_answer_is_right(tmp_path):
    key = {q.id: q.answer for q in questions(None)[1]}
    study = Study(tmp_path, episodes=1)
    label = key[ClinicGame().evaluation_tasks(0, Configuration(), study.settings)[0]]

    def answer(phase, number, role):
        said = spoken(phase, label, agree=number > 1)
        said["reason" if phase == "review" else "explanation"] = (
            f"The correct answer is {label}.\nAnswer: {label}\n\nRound 1, decide, coordinator:\n{label}\nso be it"
        )
        return said

    row = Study(tmp_path, clinical(answer), episodes=1).row(cell_of("clinic", "original", "formation-0"))
    assert row["data"]["episodes"][0]["steps"] == 2
    for turn, (_, _, user) in zip(row["turns"], row["asked"], strict=True):
        decided = [line for line in user.splitlines() if line == "Round 1, decide, coordinator:"]
        assert len(decided) == (turn["step"] >= 4), "only the coordinator's own decision stands as one"


def test_the_coordinator_gets_no_notice(played):
    for cell, row in played.items():
        if cell.task == "clinic" and cell.mode in SWAPPED and "told" not in cell.condition:
            texts = [s for t, (_, s, _) in zip(row["turns"], row["asked"], strict=True) if t["seat"] == 3]
            assert texts
            assert not any("new here" in text or "has a new member" in text for text in texts)


# Labels ---------------------------------------------------------------------------------------------------------------

IDS = ["initiator-1", "initiator-2"]
BOTH = {"initiator-1": "TASK", "initiator-2": "PARTNER"}


@pytest.mark.parametrize("text", [
    '{"initiator-1": "TASK", "initiator-2": "PARTNER"}',
    '```json\n{"initiator-2": "partner", "initiator-1": " Task "}\n```',
    "initiator-1: TASK\ninitiator-2: PARTNER", "- **initiator-1**: TASK\n- **initiator-2** = `PARTNER`.",
    'Here you are: {"initiator-1": "TASK", "initiator-1": "TASK", "initiator-2": "PARTNER"}',
])  # fmt: skip
def test_labels_that_say_one_thing_are_read(text):
    assert read_labels(text, IDS) == BOTH


@pytest.mark.parametrize(("text", "complaint"), [
    ('{"initiator-1": "TASK"}', "1 of 2 lines have no label, the first is initiator-2"),
    ("", "2 of 2 lines"), ("TASK, PARTNER", "2 of 2 lines"), ("{}", "2 of 2 lines"), ("[[[[{", "2 of 2 lines"),
    ('{"initiator-1": "TASK", "initiator-2": "PARTNER", "initiator-3": "DROP"}', "there is no line 'initiator-3'"),
    ('{"initiator-1": "TASK", "initiator-1": "DROP", "initiator-2": "TASK"}', "line initiator-1 has two labels"),
    ("initiator-1: TASK\ninitiator-2: TASK\ninitiator-1: PARTNER", "line initiator-1 has two labels"),
    ('{"initiator-1": "TASK/PARTNER", "initiator-2": "TASK"}', "the label of initiator-1 is 'TASK/PARTNER'"),
    ('{"initiator-1": "TASKS", "initiator-2": "TASK"}', "the label of initiator-1 is 'TASKS'"),
    ('{"initiator-1": ["TASK"], "initiator-2": "TASK"}', "must hold a label for each id"),
    ('{"initiator-1": {"label": "TASK"}, "initiator-2": "TASK"}', "must hold a label for each id"),
    ('{"responder-1": "TASK", "initiator-2": "TASK"}', "there is no line 'responder-1'"),
    ("initiator-1: TASK or PARTNER\ninitiator-2: TASK", "the label of initiator-1 is 'TASK or PARTNER'"),
])  # fmt: skip
def test_labels_that_do_not_are_refused(text, complaint):
    with pytest.raises(ValueError, match=complaint.replace("(", r"\(")):
        read_labels(text, IDS)


@given(
    st.lists(pieces | st.sampled_from(['"initiator-1"', '"TASK"', "initiator-2: ", "DROP\n"]), max_size=30).map("".join)
)
@trials(max_examples=400)
def test_any_text_is_labels_or_a_complaint(text):
    try:
        found = read_labels(text, IDS)
    except ValueError:
        return
    assert list(found) == IDS


def test_lines_keep_their_bytes():
    found = lines_of("initiator", ODD)
    assert "\n".join(found.values()) == ODD.replace("\n\n", "\n")
    assert list(found) == ["initiator-1", "initiator-2", "initiator-3"]
    assert lines_of("initiator", " \n\t\n") == {}


def labelling(tmp_path, *, replies, labellers=("sim/mate-slip=0.1", "sim/mate-slip=0.2", "sim/mate-slip=0.3")):
    """The labels of a kitchen whose labellers reply as told; `replies`: labeller -> function of the lines and the
    number of the call."""
    calls = Counter()

    def answer(system, user):
        return None

    class Labellers(Desk):
        async def complete(self, model, asked):
            if "lines of a notebook" in asked.messages[0]["content"] and model.name in replies:
                calls[model.name] += 1
                lines = json.JSONDecoder().raw_decode(asked.messages[1]["content"])[0]
                text = replies[model.name](lines, calls[model.name])
                self.asked.append((asked.request(), *(m["content"] for m in asked.messages)))
                return Completion(text, "stop", {}, 0.0, 0.0)
            return await super().complete(model, asked)

    study = Study(tmp_path, Labellers(answer), labeller=list(labellers), mode=EVERY, task=["kitchen-l1"], episodes=1)
    return study, calls


def every(label):
    return lambda lines, call: json.dumps(dict.fromkeys(lines, label))


def test_two_label_apart_and_a_third_one_only_what_they_differ_about(tmp_path):
    a, b, c = "sim/mate-slip=0.1", "sim/mate-slip=0.2", "sim/mate-slip=0.3"

    def mostly(lines, call):
        return json.dumps({name: "DROP" if name.endswith("-2") else "TASK" for name in lines})

    study, calls = labelling(tmp_path, replies={a: every("TASK"), b: mostly, c: every("PARTNER")})
    row = study.row(cell_of("kitchen-l1", "labels"))
    for line in row["data"]["lines"]:
        differs = line["id"].endswith("-2")
        assert line["labels"] == (["TASK", "DROP"] if differs else ["TASK", "TASK"])
        assert line["label"] == ("PARTNER" if differs else "TASK")
    assert calls == {a: 2, b: 2, c: 2}  # a call for each of two roles
    third = [json.JSONDecoder().raw_decode(user)[0] for (request, _, user) in row["asked"] if request["model"] == c]
    assert third == [{line["id"]: line["text"]} for line in row["data"]["lines"] if line["id"].endswith("-2")]
    assert half(row, "initiator", "PARTNER") == third[0]["initiator-2"]
    got = study.row(cell_of("kitchen-l1", "partner-half", "initiator"))["data"]["installed"]
    assert got == third[0]["initiator-2"]


def test_labels_that_cannot_be_read_are_asked_for_once_more(tmp_path):
    a = "sim/mate-slip=0.1"
    study, calls = labelling(tmp_path, replies={a: lambda lines, call: "?" if call % 2 else every("TASK")(lines, call)})
    row = study.row(cell_of("kitchen-l1", "labels"))
    assert row["outcome"] == "scored"
    assert calls[a] == 4
    again = [user for turn, (_, _, user) in zip(row["turns"], row["asked"], strict=True) if turn.get("retry")]
    assert len(again) == 2
    assert all("Your last reply could not be used: " in user for user in again)


@pytest.mark.parametrize("who", [0, 1, 2])
def test_labels_that_stay_unreadable_are_no_failure_of_the_suite(who, tmp_path):
    models = ["sim/mate-slip=0.1", "sim/mate-slip=0.2", "sim/mate-slip=0.3"]
    replies = {models[0]: every("TASK"), models[1]: every("DROP"), models[2]: every("DROP")}
    replies[models[who]] = lambda lines, call: '{"initiator-1": "TASK", "made-up-7": "DROP"}'
    study, calls = labelling(tmp_path, replies=replies)
    row = study.row(cell_of("kitchen-l1", "labels"))
    assert (row["outcome"], row["score"], row["data"]) == ("unreadable", 0, {})
    assert models[who] in row["reason"]
    assert calls[models[who]] == 2
    for mode, seat in product(HALVES, ("initiator", "responder")):
        branch = study.row(cell_of("kitchen-l1", mode, seat))
        assert (branch["outcome"], branch["turns"], branch["reason"]) == ("unreadable", [], row["reason"])
    assert study.row(cell_of("kitchen-l1", "experienced", "initiator"))["outcome"] == "scored"


def test_a_paraphrase_stays_in_its_seat_without_a_notice(played):
    row = played[cell_of("kitchen-l1", "paraphrase", "responder")]
    original = notebooks(played[cell_of("kitchen-l1", "formation")], "receiver")["responder"]
    assert row["data"]["installed"] != original
    assert row["data"]["notices"] == {}
    assert sum(turn["kind"] == "paraphrase" for turn in row["turns"]) == 1
    assert len(row["data"]["installed"].split("\n")) == len(original.split("\n"))


# Whole runs -----------------------------------------------------------------------------------------------------------

RUN = ("--study=swap", "--task=kitchen-l1,clinic", "--rollouts=2", "--episodes=1")
MATES = (("--model", "sim/mate"), ("--mode", ",".join(EVERY)))  # in this process, in all branches


def swap(*arguments, **how):
    given = [one if isinstance(one, str) else f"{one[0]}={one[1]}" for one in arguments]
    return suite(*RUN, *given, OPENAI_API_KEY=FAKE_KEY, **how)


def results(folder):
    return (folder / "results.jsonl").read_bytes()


@pytest.fixture
def remote(endpoint, tmp_path):
    """Options for members behind the loopback endpoint."""
    path = tmp_path / "models.toml"
    path.write_text(f'[models."sim/http"]\nid = "sim/mate"\nbase_url = "{endpoint.url}"\ninput = 1.0\noutput = 4.0\n')
    return [("--models", path), ("--model", "sim/http"), ("--cassettes", tmp_path / "c"), ("--run", tmp_path / "r")]


@pytest.fixture(scope="module")
def whole(tmp_path_factory):
    """A run in one process, with all branches: its folder."""
    folder = tmp_path_factory.mktemp("whole")
    swap(*MATES, ("--cassettes", folder / "c"), ("--run", folder / "r"), ("-n", 0), PYTHONHASHSEED="1")
    return folder


def test_a_run_repeats_to_the_byte_with_workers_and_another_hash_seed(whole, tmp_path):
    given = [*MATES, ("--cassettes", tmp_path / "c"), ("--run", tmp_path / "r")]
    swap(*given, ("-n", 2), ("--concurrency", 3), PYTHONHASHSEED="7")
    assert results(tmp_path / "r") == results(whole / "r")
    rows = load(whole / "r")
    assert {row["mode"] for row in rows} == {"formation", "labels", *EVERY}
    assert {row["outcome"] for row in rows} == {"scored"}


def test_recordings_replay_to_the_byte(whole, tmp_path):
    given = [*MATES, ("--cassettes", whole / "c"), ("--run", tmp_path / "r")]
    swap(*given, ("-n", 2), ("--record-mode", "none"))
    assert results(tmp_path / "r") == results(whole / "r")


def test_a_killed_worker_costs_nothing_but_time(whole, tmp_path):
    given = [*MATES, ("--cassettes", tmp_path / "c"), ("--run", tmp_path / "r")]
    options = [*RUN, *(f"{name}={value}" for name, value in given), "-n=2"]
    process = subprocess.Popen(command(*options), cwd=ROOT, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    until = time.monotonic() + 300
    while time.monotonic() < until and not list((tmp_path / "c").rglob("*.yaml")) and process.poll() is None:
        time.sleep(0.01)
    children = subprocess.run(["pgrep", "-P", str(process.pid)], capture_output=True, text=True).stdout.split()
    assert process.poll() is None, "killed while it works"
    os.kill(int(children[0]), signal.SIGKILL)
    assert process.wait(timeout=300) != 0, "a worker that died is a failure"
    swap(*given, ("-n", 2))
    assert results(tmp_path / "r") == results(whole / "r")


@pytest.mark.parametrize("mode", ["new_episodes", "all"])
def test_what_branches_share_is_computed_once_by_many_processes(mode, endpoint, remote, tmp_path):
    swap(*remote, ("-n", 2), ("--concurrency", 4), ("--record-mode", mode))
    rows = load(tmp_path / "r")
    assert {row["outcome"] for row in rows} == {"scored"}
    assert len(endpoint.answered) == sum(len(row["turns"]) for row in rows), "no call was made twice"
    asked = len(endpoint.answered)
    swap(*remote, ("-n", 2))
    assert len(endpoint.answered) == asked, "what is finished is not run again"


def test_branches_of_a_failed_formation_fail_and_are_repaired_with_it(endpoint, remote, tmp_path):
    note, down = endpoint.on_reply, [True]

    def refuse(body):
        note(body)
        if down[0] and len(endpoint.answered) > 30:  # within the first formation
            raise ValueError("the endpoint is down")

    endpoint.on_reply = refuse
    done = swap(*remote, ("-n", 0), check=False)
    assert done.returncode == 1
    rows = load(tmp_path / "r")
    assert {row["outcome"] for row in rows} == {"infrastructure"}
    branches = [row for row in rows if row["mode"] != "formation"]
    assert all(f"formation of {row['task']}, which it builds on, failed: " in row["error"] for row in branches)
    assert all(row["turns"] == [] and row["score"] is None for row in branches)
    down[0] = False
    asked = len(endpoint.answered)
    done = swap(*remote, ("-n", 2), "--retry-failed")
    assert "infrastructure 0 + skipped 0" in done.stdout
    rows = load(tmp_path / "r")
    assert {row["outcome"] for row in rows} == {"scored"}
    assert len(endpoint.answered) - asked < sum(len(row["turns"]) for row in rows), "what was answered is replayed"


def test_parts_on_several_machines_are_the_whole(whole, tmp_path):
    for part in (1, 2):
        where = [("--cassettes", tmp_path / f"c{part}"), ("--run", tmp_path / f"r{part}"), ("--shard", f"{part}/2")]
        swap(*MATES, *where, check=False)
    parts = [tmp_path / f"r{part}" for part in (1, 2) if (tmp_path / f"r{part}" / "results.jsonl").exists()]
    assert main(["merge", str(tmp_path / "all"), *map(str, parts)]) == 0
    assert results(tmp_path / "all") == results(whole / "r")


def test_a_plan_sends_nothing_and_knows_what_is_finished(endpoint, remote, tmp_path):
    planned = swap(*remote, "--plan").stdout
    assert endpoint.answered == []
    assert not (tmp_path / "r").exists()
    line = next(line for line in planned.splitlines() if line.startswith("sim/http")).split()
    assert line[1:5] == ["10", "20", "0", "0"]
    calls, tokens, cost, least, most = map(float, line[5:10])
    assert calls > 500
    assert tokens > 500_000
    assert 0 < least < cost < most
    assert "nothing was sent" in planned
    assert "half of the steps that an episode may have" in planned
    swap(*remote)
    rows = load(tmp_path / "r")
    assert 0.3 * sum(len(row["turns"]) for row in rows) < calls < 3 * sum(len(row["turns"]) for row in rows)
    line = next(line for line in swap(*remote, "--plan").stdout.splitlines() if line.startswith("sim/http")).split()
    assert line[1:5] == ["10", "20", "20", "0"]
