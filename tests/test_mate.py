"""Simulated members are an instrument: what a swap of them costs and gains is known, and the study must find it."""

import importlib.util
import json
import time
from dataclasses import replace
from itertools import product

import pytest
from test_swap import EVERY, ROOT, Study, cell_of

from collabtax.sim import cast, mate
from collabtax.sim.endpoint import respond
from collabtax.sim.mate import PRESETS, Knobs, filled, knobs, label, labelled, reply, reworded
from collabtax.sim.mate_truth import ACTIONS, LACKS, effects, score, wasted
from collabtax.swap.configuration import Configuration
from collabtax.swap.games import games
from collabtax.swap.study import NOTICE
from graders.trajectories import tes
from tasks.base import seeded

SEATS = dict.fromkeys(ACTIONS, ("initiator", "responder")) | {"forest": ("agent",), "clinic": ("specialist",)}


def recovery():
    """The script that checks the recovery of known effects."""
    spec = importlib.util.spec_from_file_location("swap_recovery", ROOT / "benchmarks" / "swap_recovery.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


# Names ----------------------------------------------------------------------------------------------------------------


def test_a_name_says_the_rates():
    assert knobs("sim/mate-task=0.3,partner=.4,lead=1,follow=0.0") == Knobs(task=0.3, partner=0.4, lead=1.0)
    assert knobs("sim/mate") == PRESETS["sim/mate"]
    assert set(PRESETS) <= set(cast.names())
    cast.check("sim/mate-slip=0.5", "swap")


@pytest.mark.parametrize("name", [
    "sim/mate-", "sim/mates", "sim/mate-task", "sim/mate-task=2", "sim/mate-task=1.5", "sim/mate-tusk=0.1",
    "sim/mate-task=-0.1", "sim/mate task=0.1", "sim/mate-task=0.1,", "sim/mate-task=nan", "sim/mate-task=0.1;slip=1",
])  # fmt: skip
def test_another_name_is_refused_with_what_there_is(name):
    with pytest.raises(ValueError, match=r"no simulated model .*; there are sim/mate, .*rates: task, partner, lead"):
        cast.check(name, "swap")


# What must come out ---------------------------------------------------------------------------------------------------


def test_expected_scores_by_hand():
    """L3: initiator 9 and responder 7 reference actions; a waste adds two, and b^2 is 0.9025."""
    one_waste = 1.9025 * 9 / (9 + 0.9025 * 11)
    assert one_waste == pytest.approx(tes(["a"] * 9, ["a"] * 9 + ["b"] * 2))
    assert score("kitchen-l3", "fresh", "initiator", Knobs(task=1)) == pytest.approx(50 * (1 + one_waste))
    assert score("kitchen-l3", "experienced", "initiator", Knobs(task=1)) == pytest.approx(100)
    two = 1.9025 * 2 / (2 + 0.9025 * 6)
    half = 1.9025 * 2 / (2 + 0.9025 * 4)
    rates = Knobs(task=0.5, partner=0.5)
    assert score("kitchen-l1", "fresh", "responder", rates) == pytest.approx(50 * (1 + 0.25 + 0.5 * half + 0.25 * two))
    assert score("forest", "fresh", "agent", Knobs(task=0.5, partner=1)) == pytest.approx(100 * (1 - 1.5 / 6))
    assert score("clinic", "original", "", Knobs(slip=0.3)) == pytest.approx(78.4)
    assert score("clinic", "fresh", "specialist", Knobs(slip=0.3, task=1)) == pytest.approx(100 * 0.49)
    assert wasted([0.5, 0.5, 0.5]) == [0.125, 0.375, 0.5]


@pytest.mark.parametrize("game", SEATS)
def test_the_control_has_no_effects_and_routine_no_partner(game):
    control = effects(game, PRESETS["sim/mate-control"])
    told = [*control.loss.values(), *control.gain.values(), *control.rewording.values()]
    told += [value for half in control.halves.values() for value in half.values()]
    assert told == pytest.approx([0.0] * len(told))
    assert score(game, "original", "", PRESETS["sim/mate-control"]) < 99
    routine = effects(game, PRESETS["sim/mate-routine"])
    assert [*routine.loss.values()] == pytest.approx([0.0] * len(SEATS[game]))
    assert routine.halves["partner-half"] == pytest.approx(dict.fromkeys(SEATS[game], 0.0))
    assert routine.halves["task-half"] == pytest.approx(routine.gain)
    assert min(routine.gain.values()) > 1


def test_the_default_has_the_shape_of_the_papers_finding():
    """A leader is better off without foreign experience, a follower with it; the partner's lines say so, the task's do
    not."""
    found = effects("kitchen-l3", PRESETS["sim/mate"])
    assert found.gain["initiator"] < 0 < found.gain["responder"]
    assert min(found.loss.values()) > 0
    assert found.asymmetry["partner-half"] > 10 * found.asymmetry["task-half"] > 0


CERTAIN = [
    Knobs(), Knobs(task=1), Knobs(partner=1), Knobs(lead=1, peer=1), Knobs(follow=1), Knobs(slip=1),
    Knobs(task=1, partner=1), Knobs(task=1, lead=1, peer=1, slip=1), Knobs(1, 1, 1, 1, 1, 1),
]  # fmt: skip


def spelt(rates):
    return "sim/mate-" + ",".join(f"{name}={value:g}" for name, value in vars(rates).items())


@pytest.mark.parametrize("rates", CERTAIN, ids=spelt)
@pytest.mark.parametrize("game", ["kitchen-l1", "kitchen-l2", "forest", "clinic"])
def test_where_nothing_is_left_to_chance_every_branch_scores_as_expected(game, rates, tmp_path):
    """Rates of 0 and 1 only: what is played must be what was derived, in every branch and seat."""
    study = Study(tmp_path, model=[spelt(rates)], task=[game], mode=EVERY, episodes=1)
    for cell in study.cells:
        row = study.row(cell)
        seat = Configuration.of(cell.condition).seat
        if cell.mode in LACKS:
            expected = score(game, cell.mode, seat, rates)
            assert 100 * row["score"] == pytest.approx(expected, abs=0.01), (cell.mode, seat)
            assert sum(episode["invalid"] + episode["retries"] for episode in row["data"]["episodes"]) == 0


@pytest.mark.parametrize("rates", [Knobs(1, 1, 1, 1, 1, 1), Knobs(lead=1)], ids=spelt)
def test_so_it_is_on_the_hardest_level(rates, tmp_path):
    study = Study(tmp_path, model=[spelt(rates)], task=["kitchen-l3"], mode=EVERY, episodes=1)
    for cell in study.cells:
        if cell.mode in LACKS:
            seat = Configuration.of(cell.condition).seat
            assert 100 * study.row(cell)["score"] == pytest.approx(
                score("kitchen-l3", cell.mode, seat, rates), abs=0.01
            )


def test_nothing_formed_is_nothing_to_lose(tmp_path):
    model = spelt(Knobs(task=1, partner=1))
    study = Study(tmp_path, model=[model], task=["kitchen-l1"], episodes=1)
    cells = [cell_of("kitchen-l1", "original", "formation-0", (model,))]
    for mode, seat in product(("experienced", "fresh"), ("initiator", "responder")):
        cells.append(cell_of("kitchen-l1", mode, f"{seat}-formation-0", (model, model)))
    assert len({study.row(cell)["score"] for cell in cells}) == 1


def test_without_a_notice_both_are_misled(tmp_path):
    """Nobody says that it is new, so neither gives way: each wastes at the rate of its own seat."""
    model = spelt(Knobs(lead=1, follow=1))
    study = Study(tmp_path, model=[model], task=["kitchen-l1"], episodes=1)
    told, untold = (
        study.row(cell_of("kitchen-l1", "experienced", condition, (model, model)))
        for condition in ("initiator", "initiator-no-notice")
    )

    def tes_of(row):
        return row["data"]["episodes"][0]["detail"]["tes"]

    assert tes_of(told)["responder"] == 1
    assert tes_of(told)["initiator"] == tes_of(untold)["initiator"] < 1
    assert tes_of(untold)["responder"] < 1


def test_who_goes_on_together_learns_the_teams_convention(tmp_path):
    model = spelt(Knobs(lead=1, follow=1, peer=1))
    for game, seat in (*product(["kitchen-l1"], SEATS["kitchen-l1"]), ("forest", "agent"), ("clinic", "specialist")):
        study = Study(tmp_path, model=[model], task=[game], episodes=3)
        found = {}
        for condition in ("", "-together"):
            row = study.row(cell_of(game, "experienced", f"{seat}{condition}", (model, model)))
            found[condition] = [episode["score"] for episode in row["data"]["episodes"]]
        if game != "clinic":  # where one of three cannot turn the answer
            assert all(value < 100 for value in found[""])
            assert found["-together"][0] < 100
        assert found["-together"][1:] == [100, 100]


@pytest.fixture(scope="module")
def studied(tmp_path_factory):
    """Scores of small studies of two games, a model each."""
    folder = tmp_path_factory.mktemp("studied")
    found = (("forest", "sim/mate"), ("kitchen-l1", "sim/mate-control"))
    return {(game, model): recovery().measured(game, model, 8, folder / game) for game, model in found}


def test_known_effects_come_out_within_their_intervals(studied):
    """A quick part of benchmarks/swap_recovery.py."""
    script = recovery()
    for (game, model), scores in studied.items():
        checks = script.check(scores, game, model, level=0.999)
        assert len(checks) == (5 if game == "forest" else 13)
        for name, estimate, expected in checks:
            assert script.within(estimate, expected), (name, estimate, expected)
            assert estimate.low < estimate.high, "there is noise to see through"


def test_the_recovery_can_fail(studied, monkeypatch):
    script = recovery()
    monkeypatch.setattr(script, "effects", lambda game, rates: effects(game, replace(rates, peer=1.0, partner=1.0)))
    checks = script.check(studied["forest", "sim/mate"], "forest", "sim/mate")
    assert not all(script.within(estimate, expected) for _, estimate, expected in checks)


def test_the_study_finds_each_premium_positive(tmp_path):
    """A newcomer introduces itself and asks: more is said for the same progress."""
    study = Study(tmp_path, task=["kitchen-l2"], episodes=3)
    costs = {}
    for mode, seats in (("original", [""]), ("experienced", SEATS["kitchen-l2"])):
        rows = [study.row(cell_of("kitchen-l2", mode, seat, ("sim/mate",) * (2 if seat else 1)), seed)
                for seat, seed in product(seats, range(3))]  # fmt: skip
        costs[mode] = sum(r["data"]["tokens"] for r in rows) / sum(r["data"]["progress"] for r in rows)
    assert costs["experienced"] > costs["original"]


# Replies --------------------------------------------------------------------------------------------------------------


def test_a_reply_depends_on_its_request_alone(tmp_path):
    study = Study(tmp_path, task=["kitchen-l1", "clinic"], mode=EVERY)
    study.all()
    asked = [(request, turn["text"]) for row in study.rows.values()
             for turn, (request, _, _) in zip(row["turns"], row["asked"], strict=True)]  # fmt: skip
    rng = seeded("order")
    rng.shuffle(asked)
    for cached in (mate.mind, mate.draws, mate.wastes, mate.knobs):
        cached.cache_clear()
    for request, text in asked[:800]:
        assert respond(json.loads(json.dumps(request)))["choices"][0]["message"]["content"] == text


def test_teams_draw_conventions_of_their_own_and_keep_them(tmp_path):
    study = Study(tmp_path, task=["kitchen-l1"])
    words = []
    for seed in range(6):
        row = study.row(cell_of("kitchen-l1", "formation"), seed)
        for team in row["data"]["teams"]:
            found = {mate.WORD.search(text)[1] for text in team["notebooks"].values()}
            assert len(found) == 1, "both members note the same word"
            words += found
            assert all(order in text for text in team["notebooks"].values() for order in games()["kitchen-l1"].orders)
    assert len(set(words)) > 10


def test_requests_carry_a_seed_for_simulated_models_only(tmp_path):
    from collabtax.models import Model

    study = Study(tmp_path, task=["kitchen-l1"])
    row = study.row(cell_of("kitchen-l1", "formation"))
    seeds = {turn["side"]: request["seed"] for turn, (request, _, _) in zip(row["turns"], row["asked"], strict=True)}
    assert seeds["A"] != seeds["B"]
    from collabtax.study import Stage
    from collabtax.swap.team import Table

    table = Table(Stage(cell_of("kitchen-l1", "formation"), 0, study.settings, study.desk, []), {"side": "A"})
    real = Model("some-model", "some-model")
    assert table.sampled(real) is real
    with pytest.raises(ValueError, match="seed must be a whole number"):
        respond({"model": "sim/mate", "messages": [{"role": "user", "content": "x"}], "seed": "7"})


def test_replies_vary_in_wording(tmp_path):
    row = Study(tmp_path, task=["kitchen-l2"], episodes=5).row(cell_of("kitchen-l2", "original"))
    texts = [turn["text"] for turn in row["turns"]]
    assert any(text.startswith("```json") for text in texts)
    assert any(text.startswith("{") for text in texts)
    assert len(set(texts)) > len(texts) / 10


def test_lines_are_labelled_for_what_they_are():
    lines = {
        "a-1": 'In this team "amber-heron" means: it is ready, go ahead. The others expect to hear it from me.',
        "a-2": "boiled_egg: fetch, prepare and hand over in the order of the recipe, each thing once.", "a-3": "Notes",
        "a-4": "Each target cell belongs to one member.", "a-5": "Strike out each option that the text rules out.",
    }  # fmt: skip
    assert [label(line) for line in lines.values()] == ["PARTNER", "TASK", "DROP", "TASK", "TASK"]
    for draw in range(5):
        text = labelled(json.dumps(lines, indent=0) + "\n\nYour last reply", seeded(draw))
        assert json.loads(text.strip("`json\n"))["a-1"] == "PARTNER"


def test_rewording_changes_words_and_keeps_what_they_say(tmp_path):
    row = Study(tmp_path, task=["kitchen-l3"]).row(cell_of("kitchen-l3", "formation"))
    for text in row["data"]["teams"][0]["notebooks"].values():
        told = reworded(text, seeded("x"))
        before, after = text.split("\n"), told.split("\n")
        assert len(before) == len(after)
        assert [label(line) for line in before] == [label(line) for line in after]
        assert mate.WORD.search(text)[1] == mate.WORD.search(told)[1]
        assert all(one != other for one, other in zip(before[1:], after[1:], strict=True))
        assert [order in told for order in games()["kitchen-l3"].orders] == [True] * 5


def test_a_template_is_read_back():
    text = "You hold the responder seat of a team. Before its members act, everybody may say how to go on.\n\nYour"
    assert filled("planning_system", text) is None
    notebook = "1. x\n\n2. y {z}\nEach time you are asked"
    system = STUDY_SYSTEM.format(role="initiator", about="a\n\nb", actions="- c", notebook=notebook, notice="")
    assert filled("member_system", system)["carried"].startswith("1. x")
    new = STUDY_SYSTEM.format(
        role="initiator", about="a", actions="c", notebook="(empty)", notice=NOTICE.format(role="initiator") + "\n"
    )
    assert mate.mind(new).is_new
    assert not mate.mind(system).is_new


STUDY_SYSTEM = (ROOT / "collabtax" / "prompts" / "swap" / "member_system.txt").read_text(encoding="utf-8").strip()


@pytest.mark.parametrize("messages", [
    [], [{"role": "user", "content": "hello"}],
    [{"role": "system", "content": "You hold the x seat of a team."}, {"role": "user", "content": "?"}],
    [{"role": "system", "content": STUDY_SYSTEM.format(role="x", about="y", actions="z", notebook="", notice="")},
     {"role": "user", "content": "what now?"}],
])  # fmt: skip
def test_another_chat_is_refused(messages):
    with pytest.raises(ValueError, match="simulated"):
        reply("sim/mate", messages, 1)


def test_replies_take_little_time(tmp_path):
    study = Study(tmp_path, task=["kitchen-l3"])
    row = study.row(cell_of("kitchen-l3", "formation"))
    requests = [request for request, _, _ in row["asked"]]
    begun = time.process_time()
    for request in requests:
        respond(request)
    each = (time.process_time() - begun) / len(requests)
    assert each < 0.002, f"{1000 * each:.2f} ms a reply"
