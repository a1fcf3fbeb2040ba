"""Predicting the ratio gap: features worked by hand, a regression checked against its closed form, folds, degenerate
tables, and the proof that no feature knows a score."""

import argparse
import csv
import json
import random
import re
import time
import warnings
from dataclasses import dataclass, replace

import numpy as np
import pytest

from collabtax.prediction.commands import register
from collabtax.prediction.facts import facts, private, public_lines
from collabtax.prediction.features import NAMES, Dialogue, of_cell, of_dialogue
from collabtax.prediction.model import design, predict, refits
from collabtax.prediction.table import CellFeatures, as_csv, table
from collabtax.session import Session
from collabtax.store import load
from conftest import THREE
from tasks import FAMILIES, all_tasks, get_task, problem

# Facts and disclosure


@dataclass(frozen=True)
class View:
    rows: tuple = ()
    layers: tuple = ()
    edges: tuple = ()
    names: tuple = ()
    side: int = 0


def test_facts_of_a_view_by_hand():
    seen = facts(View(rows=("#?", ".@"), layers=(("#?",), ("?.",)), edges=(("a", "b"), ("b", "c")), names=("Ann",)))
    assert seen == {
        ("rows", (2, 2), 0, 0, "#"), ("rows", (2, 2), 1, 0, "."), ("rows", (2, 2), 1, 1, "@"),
        ("layers", 0, (1, 2), 0, 0, "#"), ("layers", 1, (1, 2), 0, 1, "."),
        ("edges", ("a", "b")), ("edges", ("b", "c")), ("names", "Ann"), ("side", 0),
    }  # fmt: skip
    left, right = View(edges=(("a", "b"), ("b", "c"))), View(edges=(("b", "c"), ("c", "d")), names=("Ann",))
    assert private((left, right), 0) == {("edges", ("a", "b"))}
    assert private((left, right), 1) == {("edges", ("c", "d")), ("names", "Ann")}


def test_public_lines_are_those_of_both_views():
    assert public_lines(["a\nq1: who?\nb\nend", "c\nq1: who?\nend"]) == "q1: who?\nend"


@pytest.mark.parametrize("task", all_tasks(), ids=lambda task: task.name)
@pytest.mark.parametrize("friction", ["none", "natural", "strong"])
def test_a_view_that_is_told_is_disclosed(task, friction):
    for seed in (3, 4):
        one = problem(task, seed, friction=friction)
        told = [task.render(view, frame) for view, frame in zip(one.views, one.frames, strict=True)]
        for seat in (0, 1):
            says = Dialogue(
                task, one, ((seat, f"This is all I have:\n{told[seat]}\n\nOver to you."), (1 - seat, "Fine."))
            )
            assert says.disclosed(seat) == 1
            assert says.disclosed(1 - seat) == 0


def relaquery():
    """A problem, and the lines about parents in the first view, told naturally."""
    task = get_task("relaquery")
    one = problem(task, 1, friction="natural")
    return task, one, [line for line in task.render(one.views[0], one.frames[0]).splitlines() if "parent of" in line]


def test_disclosure_counts_private_facts_once():
    task, one, lines = relaquery()
    n = len(lines)
    assert n == len(one.views[0].edges) > 3  # every fact of the view is its own

    def share(*said, seat=0):
        return Dialogue(task, one, (*((seat, text) for text in said), (1, "Go on."))).disclosed(0)

    assert share(lines[0]) == share(lines[0], lines[0]) == pytest.approx(1 / n)
    assert share(f"As far as I see, {lines[0]} Also: {lines[1]}") == pytest.approx(2 / n)
    assert share(lines[0], lines[2]) == pytest.approx(2 / n)
    assert share(*lines) == 1
    assert share(*lines, seat=1) == 0  # that was the other one
    assert share("Zeno is a parent of Quentin.") == 0  # said, but in no view
    assert share("I know five facts about parents.") == 0


# Features by hand


def maze_dialogue(*texts):
    task = get_task("maze")
    return Dialogue(task, problem(task, 1), tuple((i % 2, text) for i, text in enumerate(texts)))


def test_features_of_a_small_dialogue():
    texts = (
        "Hello there",
        "Yes, (0, 1) is free.",
        "No, that is wrong. Is row 2 free?",
        "ok",
    )  # 11, 20, 33, 2 characters
    found = of_dialogue(maze_dialogue(*texts))
    assert found["turns"] == 4
    assert found["characters"] == 66
    assert found["characters_per_turn"] == 16.5
    assert found["opening"] == 11
    assert found["last_three"] == pytest.approx(55 / 3)
    assert found["turn_variation"] == pytest.approx(np.std([11, 20, 33, 2]) / 16.5)
    assert found["balance"] == pytest.approx(44 / 66)
    words = 2 + 5 + 8 + 1  # Hello there | Yes 0 1 is free | No that is wrong Is row 2 free | ok
    assert found["agreement"] == pytest.approx(100 * 2 / words)  # yes, ok
    assert found["disagreement"] == pytest.approx(100 * 2 / words)  # no, wrong
    assert found["coordinates"] == pytest.approx(100 * 2 / words)  # (0, 1), row 2
    assert found["questions"] == 1 / 4
    assert found["disclosed_1"] == found["disclosed_2"] == 0
    assert set(found) == {*NAMES} - {"dialogues"}


def test_one_message_and_silence():
    found = of_dialogue(maze_dialogue("ACTI!"))
    assert (found["turns"], found["last_three"], found["turn_variation"], found["balance"]) == (1, 5, 0, 1)
    assert of_dialogue(maze_dialogue("", ""))["balance"] == 0.5


@pytest.mark.parametrize(
    ("text", "agrees", "disagrees", "asks"),
    [
        ("I agree.", 1, 0, 0),
        ("I do not agree.", 0, 1, 0),
        ("I don't agree, your path is incorrect.", 0, 2, 0),
        ("I disagree", 0, 1, 0),
        ("That's right, go right.", 1, 0, 0),  # the direction is no agreement
        ("That is not correct.", 0, 1, 0),
        ("No. There is no wall.", 0, 1, 0),  # "no wall" contradicts nobody
        ("Please state what you know about it.", 0, 0, 1),
        ("What is at (1, 2)? And at (1, 3)?", 0, 0, 2),
        ("Could you please tell me all?", 0, 0, 1),
        ('Is that "K"?', 0, 0, 1),
        ("? ? . #\n# ? ? .", 0, 0, 0),  # hidden cells of a drawing
        ("..K?\nP?.?", 0, 0, 0),
        ("Agreed, agreed!", 2, 0, 0),
    ],
)
def test_markers(text, agrees, disagrees, asks):
    found, words = of_dialogue(maze_dialogue(text)), len(re.findall(r"\w+", text))
    assert round(found["agreement"] * words / 100, 9) == agrees
    assert round(found["disagreement"] * words / 100, 9) == disagrees
    assert found["questions"] == asks


@pytest.mark.parametrize(
    ("text", "count"),
    [
        ("(1, 2) -> (1,3) -> [2, 3]", 3),
        ("(0,1,2) lies in layer 2", 2),
        ("r3c4, row 3, column 4 and col 5", 4),
        ("I have 12 coins and (about) 3 keys", 0),
        ("(1, 2, 3, 4)", 0),
    ],
)
def test_coordinates(text, count):
    words = len(re.findall(r"\w+", text))
    assert round(of_dialogue(maze_dialogue(text))["coordinates"] * words / 100, 9) == count


def test_queries_that_are_retold_are_no_questions():
    task, one, _ = relaquery()
    told = task.render(one.views[0], one.frames[0])
    assert told.count("?") > 2
    assert of_dialogue(Dialogue(task, one, ((0, told), (1, "What else?"))))["questions"] == 1 / 2


def test_features_of_a_cell_are_means_in_any_order():
    found = [of_dialogue(maze_dialogue("a" * n, "b" * (7 * n % 5))) for n in (1, 3, 9)]
    cell = of_cell(found)
    assert cell["dialogues"] == 3
    assert cell["opening"] == pytest.approx(13 / 3)
    assert cell == of_cell(found[::-1])


def test_hostile_text_is_counted_in_a_moment():
    parts = (
        "(1," * 40_000,
        "no " * 40_000,
        "row " * 40_000,
        "?" * 100_000,
        "don't " * 30_000,
        "a." * 60_000,
        "\n" * 90_000,
    )
    started = time.perf_counter()
    found = of_dialogue(maze_dialogue(*parts, "\ud800 \x00 \u202e", "# " * 30_000))
    assert all(np.isfinite(value) for value in found.values())
    assert time.perf_counter() - started < 5


# The table


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    """A run of two simulated models on three tasks."""
    folder = tmp_path_factory.mktemp("prediction")
    given = {"model": ["sim/weak", "sim/strong"], "task": THREE, "mode": ["solo", "homo"], "rollouts": 3}
    given |= {"cassettes": str(folder / "c"), "run": str(folder / "run")}
    session = Session(given, folder)
    for cell in session.settings.cells("tax"):
        assert session.run_cell(cell, lambda rollout: None) == []
    session.close()
    return folder / "run"


def test_features_follow_what_simulated_models_do(tmp_path):
    """Models that always ask hear the other view; models that never ask do not (`collabtax.sim.policy`)."""
    given = {"model": ["sim/perfect", "sim/l2=1"], "task": THREE, "mode": ["homo"], "rollouts": 3}
    session = Session({**given, "cassettes": str(tmp_path / "c"), "run": str(tmp_path / "run")}, tmp_path)
    for cell in session.settings.cells("tax"):
        assert session.run_cell(cell, lambda rollout: None) == []
    session.close()
    for cell in table(load(tmp_path / "run")):
        asks = cell.model == "sim/perfect"
        assert cell.features["disclosed_1"] == 1
        assert cell.features["disclosed_2"] == asks
        assert (cell.features["questions"] > 0) == asks
        assert cell.features["balance"] > 0.5 or asks


def test_gaps_by_hand(run):
    rows = [row for row in load(run) if row["task"] == "maze" and row["models"][0] == "sim/weak"]
    solo = {row["seed"]: row for row in rows if row["mode"] == "solo"}
    homo = {row["seed"]: row for row in rows if row["mode"] == "homo"}
    for seed, (alone, together) in enumerate([(0.9, 0.5), (0.7, 0.3), (0.1, 0.9)]):
        solo[seed]["score"], homo[seed]["score"] = alone, together
    del homo[2]  # seed 2 has no partner, and counts for tractability only
    [cell] = table([*solo.values(), *homo.values()])
    assert (cell.task, cell.family, cell.model, cell.tractable) == ("maze", "spatial", "sim/weak", False)
    assert (cell.solo, cell.homo, cell.gap) == pytest.approx((0.8, 0.4, 0.5))
    assert cell.features["dialogues"] == 2
    for row in solo.values():
        row["score"] = 0.0
    [cell] = table([*solo.values(), *homo.values()])
    assert (cell.solo, cell.gap) == (0, None)
    [cell] = table(homo.values())
    assert (cell.solo, cell.homo, cell.gap, cell.tractable) == (None, None, None, False)


def test_no_feature_knows_a_score(run):
    """Whatever is graded, extracted or measured alone may change: the features stay what they are."""
    rows, rng = load(run), random.Random(7)
    before = {(c.task, c.model): c.features for c in table(rows)}
    changed = []
    for row in rows:
        if row["mode"] == "solo":
            row = {**row, "turns": []}
        changed.append(row | {"score": rng.random(), "success": rng.random() < 0.5, "answer": None, "where": None})
        changed[-1] |= {"outcome": rng.choice(["scored", "no_answer", "unreadable"]), "reason": "x", "evidence": "x"}
        changed[-1] |= {"termination": "cap", "usage": {}, "cost": 9.0, "warning": "x"}
    after = {(c.task, c.model): c.features for c in table(changed)}
    assert before == after
    assert [c.gap for c in table(changed)] != [c.gap for c in table(rows)]


def test_rows_come_in_any_order_and_others_are_passed_over(run):
    rows = load(run)
    one = table(rows)
    other = [row | {"condition": "all-four"} for row in rows if row["mode"] == "homo"]
    failed = [row | {"outcome": "infrastructure", "score": None, "seed": 99, "turns": []} for row in rows]
    mixed = rows + other + failed
    random.Random(1).shuffle(mixed)
    assert table(mixed) == one
    assert [(c.task, c.model) for c in one] == sorted((t, m) for t in THREE for m in ("sim/weak", "sim/strong"))


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"settings": "other"}, "was run with several settings or versions; replay the run into a new folder"),
        ({"versions": {"task": 0}}, "was run at version 0, which is now"),
        ({"said": {"difficulty": "hard", "friction": "natural"}}, "with difficulty 'default' and 'hard'"),
    ],
)
def test_rows_that_do_not_belong_together_are_refused(run, change, said):
    rows = load(run)
    rows[-1] = rows[-1] | change
    with pytest.raises(ValueError) as caught:
        table(rows)
    assert said in str(caught.value)
    assert "\n" not in str(caught.value)


# The regression


def synthetic(seed, tasks=30, models=("a", "b", "c", "d"), noise=0.05, slope=0.1, feature=None):
    """Cells whose gap is made of an intercept by model and family and slopes on two features."""
    rng = np.random.default_rng(seed)
    cells = []
    for t in range(tasks):
        family = FAMILIES[t % 3]
        for m, model in enumerate(models):
            values = dict(zip(NAMES, rng.normal(size=len(NAMES)), strict=True))
            gap = 0.3 + slope * values["turns"] - 0.5 * slope * values["questions"] + 0.1 * m - 0.1 * (family == "csp")
            gap += noise * rng.normal()
            cells.append(CellFeatures(f"t{t:02d}", family, model, 1.0, 1 - gap, gap, True, values))
            if feature:
                cells[-1] = feature(cells[-1], rng)
    return cells


def closed_form(x, y, held_x):
    """Ridge with lambda 1 on standardised inputs, written down: coefficients, and predictions for `held_x`."""
    mean, sd = x.mean(axis=0), x.std(axis=0)
    sd[sd == 0] = 1
    z = (x - mean) / sd
    beta = np.linalg.solve(z.T @ z + np.eye(z.shape[1]), z.T @ (y - y.mean()))
    return beta, y.mean() + (held_x - mean) / sd @ beta


def test_refits_count_a_task_as_often_as_drawn():
    """Each refit is the ridge in which a cell weighs as often as its task was drawn."""
    cells = synthetic(3, tasks=7)
    x, _ = design(cells)
    y, tasks = np.array([cell.gap for cell in cells]), np.array([cell.task for cell in cells])
    found, rng = refits(x, y, tasks, 5, 11), np.random.default_rng([11, 7, 5])
    names = sorted(set(tasks))
    for coefficients in found:
        drawn = [names[i] for i in rng.integers(7, size=7)]
        assert len(set(drawn)) < 7
        weight = np.array([drawn.count(task) for task in tasks], dtype=float)
        mean = weight @ x / weight.sum()
        sd = np.sqrt(weight @ (x - mean) ** 2 / weight.sum())
        z = (x - mean) / np.where(sd > 1e-12, sd, 1)
        beta = np.linalg.solve(
            z.T @ (weight[:, None] * z) + np.eye(z.shape[1]), z.T @ (weight * (y - weight @ y / weight.sum()))
        )
        assert coefficients == pytest.approx(beta, abs=1e-9)


def parts(cells):
    cells = sorted(cells, key=lambda c: (c.task, c.model))
    x, names = design(cells)
    return (
        x,
        names,
        np.array([c.gap for c in cells]),
        *(np.array([getattr(c, n) for c in cells]) for n in ("task", "model")),
    )


@pytest.mark.parametrize("seed", range(5))
def test_coefficients_and_folds_equal_the_closed_form(seed):
    cells = synthetic(seed, tasks=7, models=("a", "b", "c"), noise=0.3)
    found = predict(cells, draws=2)
    x, names, y, tasks, models = parts(cells)
    beta, _ = closed_form(x, y, x)
    assert {c.name: c.value for c in found.coefficients} == pytest.approx(dict(zip(names, beta, strict=True)), abs=1e-9)
    values = [abs(c.value) for c in found.coefficients]
    assert values == sorted(values, reverse=True)

    def without(groups, group_sets):
        foreseen = np.full(len(y), np.nan)
        for held_out in group_sets:
            test = np.isin(groups, held_out)
            assert np.isnan(foreseen[test]).all()  # each cell is held out once
            foreseen[test] = closed_form(x[~test], y[~test], x[test])[1]
        return foreseen

    def r2(foreseen):
        return 1 - ((y - foreseen) ** 2).sum() / ((y - y.mean()) ** 2).sum()

    folds = [name.split(", ") for name in found.folds.r2_of]
    assert found.folds.groups == len(folds) == 5
    assert sorted(t for fold in folds for t in fold) == sorted(set(tasks))  # a task is in one fold, as a whole
    foreseen = without(tasks, folds)
    assert list(found.foreseen) == pytest.approx(foreseen.tolist(), abs=1e-9)
    ranks = [np.argsort(np.argsort(v)) for v in (y, foreseen)]
    assert found.folds.r2 == pytest.approx(r2(foreseen))
    assert found.folds.pearson == pytest.approx(np.corrcoef(y, foreseen)[0, 1])
    assert found.folds.spearman == pytest.approx(np.corrcoef(*ranks)[0, 1])
    assert found.by_task.r2 == pytest.approx(r2(without(tasks, [[t] for t in sorted(set(tasks))])))
    assert found.by_model.r2 == pytest.approx(r2(without(models, [[m] for m in "abc"])))
    assert (found.by_task.groups, found.by_model.groups) == (7, 3)


def test_known_coefficients_are_recovered_and_their_intervals_hold_them():
    inside = total = 0
    for seed in range(5):
        cells = synthetic(seed, tasks=60)
        found = predict(cells, draws=40)
        x, names, *_ = parts(cells)
        sd = dict(zip(names, x.std(axis=0), strict=True))
        by_name = {c.name: c for c in found.coefficients}
        truth = {
            "turns": 0.1,
            "questions": -0.05,
            "family csp": -0.1,
            "opening": 0.0,
            "balance": 0.0,
            "characters": 0.0,
        }
        for name, raw in truth.items():
            assert by_name[name].value == pytest.approx(raw * sd[name], abs=0.015)
            inside += by_name[name].low <= raw * sd[name] <= by_name[name].high
            total += 1
        steps = [by_name[f"model {m}"].value / sd[f"model {m}"] for m in "abcd"]
        assert np.diff(steps) == pytest.approx([0.1] * 3, abs=0.03)
        assert found.folds.r2 > 0.8
    assert inside / total > 0.8


def test_noise_is_not_predicted():
    fits = []
    for seed in range(8):
        cells = synthetic(seed, slope=0.0)
        rng = np.random.default_rng([seed, 1])
        fits.append(predict([replace(c, gap=float(rng.normal())) for c in cells], draws=2))
    assert np.mean([f.folds.r2 for f in fits]) < 0
    assert max(f.folds.r2 for f in fits) < 0.15
    assert min(f.in_sample_r2 for f in fits) > 0.05  # which is why it is judged out of the folds


def test_what_is_particular_to_a_task_helps_no_other():
    """Each task has a gap of its own and a feature that names the task: with folds across tasks this must not help."""
    for seed in range(4):
        rng = np.random.default_rng(seed)
        own, mark = rng.normal(size=30), rng.normal(size=30)

        def particular(cell, _, own=own, mark=mark):
            t = int(cell.task[1:])
            return replace(cell, gap=float(own[t]), features={**cell.features, "coordinates": float(mark[t])})

        found = predict(synthetic(seed, feature=particular), draws=2)
        assert found.folds.r2 < 0.1
        assert found.by_task.r2 < 0.1


def test_an_unseen_model_is_ranked_but_its_level_is_not_known():
    """The paper's finding, in a table that has it: slopes are shared, intercepts belong to models (section 5.4)."""
    for seed in range(4):
        found = predict(synthetic(seed, slope=0.2), draws=2)
        assert found.by_model.spearman > 0.5
        assert found.by_model.r2 < found.folds.r2 - 0.2
        assert found.by_task.positive > 20


def test_order_and_repetition_change_nothing():
    cells = synthetic(3, tasks=8)
    one = predict(cells, draws=20)
    shuffled = random.Random(2).sample(cells, len(cells))
    assert predict(shuffled, draws=20) == one


def test_one_task_is_refused_and_one_model_said():
    cells = synthetic(1, tasks=6)
    with pytest.raises(ValueError, match="cells of at least 2 tasks, found 1"):
        predict([c for c in cells if c.task == "t00"])
    with pytest.raises(ValueError, match=r"found 0; left out are 24: solo scores 0"):
        predict([replace(c, gap=None, solo=0.0) for c in cells])
    found = predict([c for c in cells if c.model == "a"], draws=2)
    assert found.by_model is None
    assert found.by_task.groups == 6


def test_constant_inputs_and_equal_gaps():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        cells = [replace(c, features={**c.features, "dialogues": 50.0}) for c in synthetic(1, tasks=6)]
        constant = [c for c in predict(cells, draws=5).coefficients if c.constant]
        assert [(c.name, c.value, c.low, c.high) for c in constant] == [("dialogues", 0, 0, 0)]
        found = predict([replace(c, gap=0.25) for c in cells], draws=2)
        assert (found.in_sample_r2, found.folds.r2, found.folds.spearman, found.folds.pearson) == (None,) * 4
        same = [replace(c, features=dict.fromkeys(NAMES, 1.0), model="a", family="csp") for c in cells]
        assert predict(same, draws=2).folds.spearman is None or abs(predict(same, draws=2).folds.spearman) <= 1


def test_cells_without_a_gap_or_a_solver_are_left_out_and_counted():
    cells = synthetic(1, tasks=6)
    cells[0], cells[1] = replace(cells[0], gap=None, solo=0.0), replace(cells[1], solo=None, gap=None)
    cells[2] = replace(cells[2], tractable=False)
    found = predict(cells, draws=2)
    assert len(found.cells) == 21
    assert sorted(found.left_out.values()) == [1, 1, 1]
    assert len(predict(cells, draws=2, include_intractable=True).cells) == 22


def test_families_are_told_against_the_first():
    _, names = design(synthetic(1, tasks=3))
    assert names == [*NAMES, "model a", "model b", "model c", "model d", "family relational", "family csp"]
    assert not any(name.startswith("family") for name in design(synthetic(1, tasks=1))[1])


# Commands


def command(*arguments):
    parser = argparse.ArgumentParser()
    register(parser.add_subparsers(required=True))
    given = parser.parse_args([str(a) for a in arguments])
    given.run(given)


def test_predict_prints_and_writes(run, tmp_path, capsys):
    command("predict", run, "--json", tmp_path / "p.json", "--include-intractable")
    said = capsys.readouterr().out
    assert "ratio gap of 6 cells (3 tasks, 2 models), ridge with lambda 1" in said
    assert "3 folds by task" in said
    assert "the same in all cells: dialogues" in said
    text = (run / "prediction.json").read_text()
    assert text == (tmp_path / "p.json").read_text()
    data = json.loads(text)
    assert {c["task"] for c in data["cells"]} == set(THREE)
    assert all(set(c["features"]) == set(NAMES) and isinstance(c["foreseen"], float) for c in data["cells"])


def test_features_are_a_table(run, tmp_path, capsys):
    command("features", run, "--csv", tmp_path / "f.csv")
    assert "6 cells in" in capsys.readouterr().out
    lines = list(csv.DictReader((tmp_path / "f.csv").open()))
    cells = table(load(run))
    assert [(x["task"], x["model"]) for x in lines] == [(c.task, c.model) for c in cells]
    for line, cell in zip(lines, cells, strict=True):
        assert all(float(line[name]) == pytest.approx(cell.features[name], rel=1e-5) for name in NAMES)
        assert float(line["ratio_gap"]) == pytest.approx(cell.gap, rel=1e-5)
    assert as_csv([replace(cells[0], gap=None, model="a,b\nc")]).count('"a,b\nc",') == 1


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["predict", "gone"], "no results in"),
        (["features", "RUN", "--csv", "gone/f.csv"], "gone/f.csv cannot be written"),
        (["predict", "SOLO"], "no homogeneous dialogues without an intervention"),
    ],
)
def test_bad_input_gets_one_line(arguments, said, run, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "solo").mkdir()
    solo = [json.dumps(row) + "\n" for row in load(run) if row["mode"] == "solo"]
    (tmp_path / "solo" / "results.jsonl").write_text("".join(solo))
    with pytest.raises(ValueError) as caught:
        command(*({"RUN": run, "SOLO": tmp_path / "solo"}.get(a, a) for a in arguments))
    assert said in str(caught.value)
    assert "\n" not in str(caught.value)
