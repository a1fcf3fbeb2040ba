"""The simulated study (benchmarks/simulated_study.py): its truth against whole dialogues, its intervals against other
libraries, and a small study that passes with the right truth and fails with a wrong one."""

from argparse import Namespace
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace

import numpy as np
import pytest
import scipy.stats

from benchmarks.simulated_study import (
    ESTIMANDS,
    RATIOS,
    TIERS,
    Levels,
    as_given,
    by_chance,
    compared,
    coverage,
    expected,
    far,
    homo,
    intervals,
    likelihood,
    main,
    mean_of_all_tasks,
    outcomes,
    ratios,
    run,
    solo,
    study,
    worth,
)
from collabtax.agents import prompt, relayed
from collabtax.sim.policy import knobs
from collabtax.sim.truth import truth
from collabtax.statistics import over_seeds, ratio_gap
from collabtax.tax.protocols import told
from tasks import all_tasks, get_task, problem
from tasks.base import seeded

MODEL = "sim/l1=0.4,l2=0.3,l3=0.4,l4=0.5,slip=0.2,spatial_l4=0.9,csp_l3=0.1"


def drawn(row):
    """The faults that were drawn for both seats of a stored dialogue, as bits of an index of `outcomes`, and the views
    as those who fabricate told them."""
    task = get_task(row["task"])
    rates = knobs(MODEL, task.family)
    one = problem(task, row["seed"])
    bits, lies = [], []
    for seat, stages in ((0, ("l1", "l2", "l3", "l4")), (1, ("l1", "l3", "l4"))):
        opening = ("You speak first.", "The other agent speaks first.")[seat]
        text = prompt("tax/collaboration_task").format(task=task.prompt, view=told(task, one, seat), opening=opening)
        draws = seeded("policy", MODEL, "\n\n".join([text, *([relayed(row["turns"][0]["text"])] * seat)]))
        found = {name: draws.random() for name in vars(rates)}
        bits += [found[stage] < getattr(rates, stage) for stage in stages]
        lies.append(task.corrupt(one.views[seat], seeded("lie", found["l1"])))
    return sum(bit << 6 - i for i, bit in enumerate(bits)), one, lies


def test_the_truth_is_what_whole_dialogues_earn(tmp_path):
    options = {"model": [MODEL], "mode": ["homo"], "rollouts": 4, "turn_cap": 8}
    rows = run({"task": [task.name for task in all_tasks()], **options}, tmp_path)
    seen, elsewise = set(), []
    for row in rows:
        index, one, lies = drawn(row)
        scores, passed = outcomes(get_task(row["task"]), one, lies)
        assert passed[index].tolist() == [row["success"], *truth(row).values()], (row["task"], row["seed"])
        if scores[index] != pytest.approx(row["score"]):
            elsewise.append((row["task"], row["seed"], row["success"]))
        seen.add(index)
    assert len(rows) == 128
    # who agrees restates the answer, at times in another scheme; of a wrong path another part may then be right
    assert len(elsewise) <= 3, elsewise
    assert not any(success for *_, success in elsewise)
    assert len(seen) > 40, "dialogues of all kinds were compared"


def test_mean_scores_by_hand():
    """Without fabrications a dialogue ends wrong only if the initiator proposes from its own view (it did not ask, or
    did not combine) and the responder agrees without recomputing."""
    known, model = worth("schedule", range(30)), "sim/l2=0.2,l3=0.5,l4=0.9,slip=0.2,mend=0.25"
    half = known.scores[:, 0b0100001].mean()
    assert 0 < half < 1
    assert expected(known, homo(model)) == pytest.approx(1 - (1 - 0.8 * 0.5) * 0.9 * (1 - half))
    assert expected(known, homo(model, "all-four")) == pytest.approx(1 - (1 - 0.94 * 0.85) * 0.27 * (1 - half))
    assert expected(known, solo(model)) == pytest.approx(0.85 + 0.15 * known.solo[:, 1].mean())
    assert likelihood(model, "sim/weak", "no-l4", "csp").sum() == pytest.approx(1)


def test_chance_has_the_mean_that_is_expected():
    known = worth("maze", range(40))
    cells = [solo(MODEL), homo(MODEL), homo(MODEL, "no-l3"), ("hetero", (MODEL, "sim/strong"), "")]
    found = by_chance(known, cells, 20, 4000, np.random.default_rng(1))
    for cell in cells:
        assert found[cell].mean() == pytest.approx(expected(known, cell), abs=4 * found[cell].std() / 4000**0.5)
    together = np.corrcoef(found[homo(MODEL)], found[homo(MODEL, "no-l3")])[0, 1]
    assert together > 0.2, "a model is the same one with and without an intervention"


def test_a_family_has_the_rates_of_its_own():
    model = "sim/l4=0.2,spatial_l4=0.9,csp_slip=0.5"
    assert [knobs(model, family).l4 for family in ("spatial", "relational", "csp", "")] == [0.9, 0.2, 0.2, 0.2]
    assert [knobs(model, family).slip for family in ("spatial", "csp", "")] == [0, 0.5, 0]
    assert knobs("sim/weak", "spatial") == knobs("sim/weak")
    for odd in ("sim/maze_l4=0.2", "sim/spatial_l9=0.2", "sim/spatial_l4=1.2", "sim/_l4=0.2", "sim/spatial_=0.2"):
        with pytest.raises(ValueError, match=r"rates between 0 and 1 in the name.*families: spatial") as problem:
            knobs(odd)
        assert odd in str(problem.value)
        assert "\n" not in str(problem.value)


def test_the_order_of_families_is_put_in():
    known = [worth(name, range(8)) for name in ("maze", "relaquery", "schedule")]
    for model in TIERS:
        gaps = {one.family: 1 - expected(one, homo(model)) / expected(one, solo(model)) for one in known}
        assert gaps["spatial"] > gaps["relational"] > gaps["csp"]


def test_how_far_is_far():
    chance = np.random.default_rng(2).normal(0.3, 0.1, 4000)
    assert far(0.496, chance, summed=True) == pytest.approx(0.05, abs=0.01)
    assert far(0.9, chance, summed=True) == pytest.approx(2 * scipy.stats.norm.sf(6), rel=0.9)
    assert far(0.9, chance, summed=False) == pytest.approx(2 / 4001)
    assert far(0.2, np.full(9, 0.2), summed=False) == 1
    assert far(0.3, np.full(9, 0.2), summed=True) == 0


def test_intervals_over_seeds_agree_with_scipy():
    rng = np.random.default_rng(3)
    a, b = rng.random((12, 2)), rng.random((12, 2)) * 0.5
    welch = scipy.stats.ttest_ind(a[:, 0] - a[:, 1], b[:, 1] - b[:, 0], equal_var=False).confidence_interval()
    assert as_given({0: a, 1: b}, ratio=False) == pytest.approx((welch.low / 2, welch.high / 2))
    table = rng.uniform(0.5, 1, (400, 2))
    found = over_seeds(table, ratio_gap)
    assert as_given({0: table}, ratio=True) == pytest.approx((found.low, found.high), rel=0.01)


@pytest.mark.parametrize("estimand", ESTIMANDS)
def test_the_means_of_drawn_studies_are_known(estimand):
    rng = np.random.default_rng(4)
    levels = Levels.draw(rng, 5, estimand)
    means = np.array([table.mean(axis=0) for table in levels.study(rng, 40_000, estimand).values()])
    seen = ratio_gap(means) if estimand == "ratio gap" else means[:, 0] - means[:, 1]
    assert seen == pytest.approx(levels.truth(estimand), abs=0.01)


def test_the_mean_over_all_tasks_by_hand():
    """Of Beta(2, 3): mean 0.4, and mean of x (1 - x) 0.2."""
    assert mean_of_all_tasks("tax") == pytest.approx(0.4 * 0.6 - 0.05 / 2, abs=0.001)
    assert mean_of_all_tasks("seat asymmetry") == pytest.approx(-2 * 0.2 * 0.2 * 0.6, abs=0.001)
    assert mean_of_all_tasks("change") == pytest.approx(0.4 * 0.6 * 0.7, abs=0.001)
    assert mean_of_all_tasks("equal models") == 0


def test_coverage_counts_what_it_should():
    found = coverage("tax", "drawn", 8, 5, 300)
    assert 0.90 <= found.held["t over tasks"] / 300 <= 0.99
    assert found.held["t over seeds"] < found.held["t over tasks"], "tasks are no sample of tasks when taken as given"
    null = coverage("equal models", "drawn", 32, 5, 300)
    assert all(null.held[method] + null.found[method] == 300 for method in null.held)
    assert 3 <= null.found["t over tasks"] <= 30, "5 % of findings where there is nothing"
    same = {i: np.full((4, 2), 0.5) for i in range(3)}
    assert set(intervals(same, "tax").values()) == {(0.0, 0.0)}


@pytest.mark.parametrize("kind", RATIOS)
def test_intervals_of_ratios_hold_them(kind):
    assert 0.89 <= ratios(kind, 12, 200) / 200 <= 0.99


def test_a_small_study_passes_with_the_right_truth_only(capsys):
    with ThreadPoolExecutor(1) as pool:
        found = study(pool, ["relaquery", "schedule"], Namespace(seeds=8, known=30, further=0, draws=1000))
    assert compared(found)
    said = capsys.readouterr().out
    assert "0 silent, 0 wrong" in said
    assert "scores [1.0]" in said
    idle = {
        name: replace(one, stages={cell: one.stages[(*cell[:2], "")] for cell in one.stages})
        for name, one in found.items()
    }
    assert not compared(idle), "clauses that are said to do nothing, and do something"


@pytest.mark.parametrize(
    ("given", "said"),
    [
        (["--task", "mase", "--task", "cube"], "'mase' is not known; known: blueprintmaze"),
        (["--task", "maze"], "name two or more"),
        (["--seeds", "1"], "'1' is no whole number from 2 on"),
        (["--studies", "many"], "'many' is no whole number from 1 on"),
    ],
)
def test_wrong_options_are_named(capsys, given, said):
    with pytest.raises(SystemExit):
        main(given)
    assert said in capsys.readouterr().err
