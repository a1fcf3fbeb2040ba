"""The estimators against hand-worked examples, independent oracles, and simulation."""

from __future__ import annotations

import json
import math
import os
import subprocess
import sys
from collections import Counter
from dataclasses import asdict, replace
from itertools import permutations

import numpy as np
import pytest
import scipy.stats
from hypothesis import given, settings
from hypothesis import strategies as st

from collabtax.statistics import (
    Estimate,
    Scored,
    difference,
    jackknife,
    mean_of,
    over_seeds,
    over_task_means,
    over_tasks,
    pair_table,
    partition,
    power_hint,
    ratio_gap,
    seat_asymmetry,
    shapley,
    t_interval,
    tax,
    taxes,
)

FAMILY = {"maze": "spatial", "cube": "spatial", "graph": "relational", "seating": "csp"}


def cell(mode, models, task, scores, condition="baseline", since=0):
    """Rows of one cell at seeds since, since + 1, ..."""
    return [
        Scored(task, FAMILY[task], mode, models, condition, seed, score) for seed, score in enumerate(scores, since)
    ]


def solo(model, task, scores, **more):
    return cell("solo", (model,), task, scores, **more)


def homo(model, task, scores, **more):
    return cell("homo", (model, model), task, scores, **more)


def hetero(first, second, task, scores, **more):
    return cell("hetero", (first, second), task, scores, **more)


def plain(result):
    """As strict JSON, in which nan is an error."""
    return json.dumps(result, allow_nan=False, default=asdict, sort_keys=True)


unit_scores = st.floats(0, 1) | st.sampled_from([0.0, 0.5, 1.0])


@st.composite
def studies(draw):
    """Ragged rows of two models and their mixed pairs on up to four tasks, cells and seeds missing at will."""
    cells = [
        (mode, models, task)
        for task in FAMILY
        for mode, models in (
            ("solo", ("a",)),
            ("solo", ("b",)),
            ("homo", ("a", "a")),
            ("homo", ("b", "b")),
            ("hetero", ("a", "b")),
            ("hetero", ("b", "a")),
            ("half", ("a",)),
        )
    ]
    rows = []
    for mode, models, task in draw(st.lists(st.sampled_from(cells), min_size=1, max_size=14, unique=True)):
        scores = draw(st.lists(unit_scores, min_size=1, max_size=4))
        rows += cell(mode, models, task, scores, since=draw(st.integers(0, 2)))
    return rows


class TestRows:
    @pytest.mark.parametrize(
        "change",
        [
            {"mode": "duo"},
            {"score": float("nan")},
            {"score": 1.01},
            {"score": -0.1},
            {"models": ("a", "a")},
            {"mode": "homo"},
            {"mode": "homo", "models": ("a", "b")},
            {"mode": "hetero", "models": ("a", "a")},
            {"models": ()},
        ],
    )
    def test_what_makes_no_row_is_refused(self, change):
        with pytest.raises(ValueError):
            replace(solo("a", "maze", [0.5])[0], **change)

    @given(studies(), st.randoms(use_true_random=False))
    def test_partition_ignores_order_and_loses_nothing(self, rows, rng):
        shuffled = rows.copy()
        rng.shuffle(shuffled)
        clusters = partition(rows, lambda row: (row.task, row.mode))
        again = partition(shuffled, lambda row: (row.task, row.mode))
        assert list(again) == list(clusters)
        assert all(Counter(again[key]) == Counter(clusters[key]) for key in clusters)
        assert list(clusters) == sorted(clusters)
        assert sum(map(len, clusters.values())) == len(rows)
        assert all(clusters.values())

    def test_no_rows_no_clusters(self):
        assert partition([], lambda row: row.task) == {}


class TestT:
    def test_edge_cases(self):
        assert t_interval([]) == Estimate(None, None, None, 0, 0, "95% t over seeds")
        assert t_interval([0.7], unit="tasks") == Estimate(0.7, None, None, 1, 1, "95% t over tasks")
        assert t_interval([0.1] * 7) == Estimate(0.1, 0.1, 0.1, 7, 7, "95% t over seeds")
        for bad in ([0.1, math.nan], [math.inf, 0]):
            with pytest.raises(ValueError):
                t_interval(bad)
        with pytest.raises(ValueError):
            t_interval([0, 1], level=95)

    def test_by_hand(self):
        # mean 2, standard deviation 1, t(0.975, 2) = 4.302653
        found = t_interval([1, 2, 3])
        assert (found.value, found.n, found.clusters) == (2, 3, 3)
        assert found.high - 2 == pytest.approx(4.302653 / 3**0.5, abs=1e-6)

    @given(st.lists(st.floats(-1, 1), min_size=2, max_size=30), st.sampled_from([0.8, 0.95, 0.99]))
    def test_agrees_with_scipy_whatever_the_order(self, values, level):
        found = t_interval(values, level)
        assert found == t_interval(sorted(values, reverse=True), level)
        if np.ptp(values) > 1e-6:
            low, high = scipy.stats.t.interval(level, len(values) - 1, np.mean(values), scipy.stats.sem(values))
            assert (found.low, found.high) == pytest.approx((low, high), rel=1e-6, abs=1e-9)

    def test_coverage(self):
        """Paired differences of scores bounded and skewed as real ones are: 95 % intervals cover about 95 %."""
        rng = np.random.default_rng(5)
        truth = 0.9 - 0.5
        hits = 0
        for _ in range(600):
            found = t_interval((rng.random(50) < 0.9) * 1.0 - rng.beta(1, 1, 50))
            hits += found.low <= truth <= found.high
        assert 0.925 <= hits / 600 <= 0.975

    def test_power_hint(self):
        hint = power_hint(0.211, 50)
        assert (
            f"{hint.n} rollouts measure to within {hint.half_width:.2f}; {hint.needed} to within "
            f"{hint.needed_half_width:.2f}"
        ) == "50 rollouts measure to within 0.06; 200 to within 0.03"
        differences = np.random.default_rng(1).normal(size=20)
        found = t_interval(differences)
        assert power_hint(float(differences.std(ddof=1)), 20).half_width == pytest.approx(found.high - found.value)
        assert power_hint(0.3, 1).half_width is None
        assert power_hint(0.0, 8).half_width == 0
        for sd, n in ((-1, 5), (math.nan, 5), (0.1, 0)):
            with pytest.raises(ValueError):
                power_hint(sd, n)

    @given(st.floats(0.001, 1), st.integers(2, 2000))
    def test_what_the_hint_says_is_needed_does_suffice(self, sd, n):
        hint = power_hint(sd, n)
        assert hint.needed_half_width <= hint.half_width / 2 * (1 + 1e-12)


class TestJackknife:
    @given(st.lists(unit_scores, min_size=2, max_size=12))
    def test_of_a_mean_of_single_rows_it_is_students_t(self, values):
        found, plain_t = jackknife(dict(enumerate([v] for v in values)), mean_of, unit="seeds"), t_interval(values)
        assert found.method == plain_t.method
        assert (found.n, found.clusters) == (plain_t.n, plain_t.clusters)
        for name in ("value", "low", "high"):
            assert getattr(found, name) == pytest.approx(getattr(plain_t, name), abs=1e-8)

    @pytest.mark.parametrize("statistic", [mean_of, difference, ratio_gap])
    def test_agrees_with_a_plain_loop(self, statistic):
        """Clusters of unequal size are left out one by one, and the statistic is worked out anew from raw rows."""
        rng = np.random.default_rng(11)
        clusters = {
            f"t{i}": np.column_stack([rng.uniform(0.7, 1, n), rng.random(n)]) for i, n in enumerate([5, 9, 2, 7])
        }
        without = [
            statistic(np.concatenate([t for other, t in clusters.items() if other != name]).mean(axis=0))
            for name in clusters
        ]
        error = math.sqrt(3 / 4 * sum((x - np.mean(without)) ** 2 for x in without))
        found = jackknife(clusters, statistic)
        assert found.value == pytest.approx(statistic(np.concatenate(list(clusters.values())).mean(axis=0)))
        assert found.high - found.value == pytest.approx(scipy.stats.t.ppf(0.975, 3) * error)
        assert found.value - found.low == pytest.approx(found.high - found.value)
        assert (found.n, found.clusters, found.method) == (23, 4, "95% t over clusters")

    @pytest.mark.parametrize("draw", ["normal", "exponential", "uniform"])
    def test_standard_error_is_the_analytic_one(self, draw):
        values = getattr(np.random.default_rng(3), draw)(size=200)
        found = jackknife(dict(enumerate(values[:, None])), mean_of)
        assert (found.high - found.low) / 2 / scipy.stats.t.ppf(0.975, 199) == pytest.approx(
            values.std(ddof=1) / 200**0.5
        )

    def test_a_ratio_has_the_standard_error_of_the_delta_method(self):
        rng = np.random.default_rng(8)
        x, y = rng.uniform(0.7, 1, 400), rng.uniform(0, 1, 400)
        found = over_seeds(np.column_stack([x, y]), ratio_gap)
        influence = (y - y.mean() / x.mean() * x) / x.mean()
        assert (found.high - found.low) / 2 / 1.966 == pytest.approx(influence.std(ddof=1) / 400**0.5, rel=0.01)

    def test_agrees_with_scipy_s_bootstrap_where_there_are_many(self):
        rng = np.random.default_rng(8)
        table = np.column_stack([rng.uniform(0.7, 1, 300), rng.uniform(0, 1, 300)])

        def one(*columns, axis):
            return ratio_gap(np.stack([column.mean(axis=axis) for column in columns], axis=-1))

        oracle = scipy.stats.bootstrap(table.T, one, paired=True, method="percentile", n_resamples=5000, rng=1)
        found = over_seeds(table, ratio_gap)
        width = found.high - found.low
        assert found.low == pytest.approx(oracle.confidence_interval.low, abs=0.05 * width)
        assert found.high == pytest.approx(oracle.confidence_interval.high, abs=0.05 * width)

    def test_clusters_of_many_rows_count_once(self):
        """40 clusters of 25 equal values are 40 observations, not 1,000."""
        values = np.random.default_rng(4).normal(size=40)
        found = jackknife({f"c{i}": np.full(25, v) for i, v in enumerate(values)}, mean_of, unit="tasks")
        alone = t_interval(values, unit="tasks")
        assert (found.low, found.high) == pytest.approx((alone.low, alone.high))
        assert (found.n, found.clusters, found.method) == (1000, 40, "95% t over tasks")

    def test_uneven_clusters_weigh_by_their_rows(self):
        assert jackknife({"x": [0.0] * 3, "y": [1.0]}, mean_of).value == 0.25

    def test_edge_cases(self):
        assert jackknife({}, mean_of) == Estimate(None, None, None, 0, 0, "95% t over clusters")
        lone = jackknife({"x": [1.0, 0.0]}, mean_of)
        assert (lone.value, lone.low, lone.n, lone.clusters) == (0.5, None, 2, 1)
        same = jackknife({"x": [0.5], "y": [0.5]}, mean_of)
        assert (same.low, same.high) == (0.5, 0.5)
        third = over_seeds(np.full((7, 1), 0.1), mean_of)
        assert third.low == third.high == third.value, "rounding makes no width"
        for bad in ({"x": []}, {"x": [math.nan]}, {"x": [1.0], "y": [[1.0, 2.0]]}, {"x": [[[1.0]]]}):
            with pytest.raises(ValueError):
                jackknife(bad, mean_of)

    def test_undefined(self):
        """Without the one instance that is solved there is no ratio: a value, and no interval."""
        found = over_seeds(np.array([[0.0, 0.0], [0.0, 0.0], [1.0, 0.5]]), ratio_gap)
        assert (found.value, found.low, found.high) == (0.5, None, None)
        never = over_seeds(np.array([[0.0, 1.0], [0.0, 0.5]]), ratio_gap)
        assert (never.value, never.low, never.n) == (None, None, 2)


class TestOverTasks:
    def test_is_t_over_the_tasks_values(self):
        rng = np.random.default_rng(11)
        tables = {
            f"t{i}": np.column_stack([rng.uniform(0.8, 1, n), rng.random(n)]) for i, n in enumerate([5, 12, 30, 8])
        }
        values = [1 - b / a for a, b in (table.mean(axis=0) for table in tables.values())]
        oracle = scipy.stats.ttest_1samp(values, 0).confidence_interval()
        found = over_tasks(tables, ratio_gap)
        assert (found.value, found.low, found.high) == pytest.approx((np.mean(values), oracle.low, oracle.high))
        assert (found.n, found.clusters, found.method) == (55, 4, "95% t over tasks")

    def test_one_task_is_measured_over_its_seeds_and_says_so(self):
        table = np.array([[1.0, 0.5], [0.9, 0.6], [1.0, 0.9]])
        found, alone = over_tasks({"maze": table}, difference), t_interval([0.5, 0.3, 0.1])
        assert (found.value, found.low, found.high) == pytest.approx((alone.value, alone.low, alone.high))
        assert (found.n, found.clusters, found.method) == (3, 3, "95% t over seeds, one of the tasks only")
        assert over_tasks({}, difference).method == "95% t over tasks"

    def test_tasks_without_a_value_stay_out(self):
        tables = {"a": np.array([[0.0, 0.0]] * 4), "b": np.array([[1.0, 0.5]] * 2), "c": np.array([[1.0, 0.3]] * 3)}
        found = over_tasks(tables, ratio_gap)
        assert (found.value, found.n, found.clusters) == (pytest.approx(0.6), 5, 2)
        assert over_tasks({task: tables[task] for task in "ab"}, ratio_gap).method.endswith("one of the tasks only")

    @pytest.mark.parametrize(("tasks", "seeds"), [(3, 20), (8, 5), (12, 20)])
    def test_coverage(self, tasks, seeds):
        """A mean tax over tasks that are themselves a sample; the standard error of 500 studies is one point."""
        rng, hits = np.random.default_rng([12, tasks]), 0
        for _ in range(500):
            levels = rng.normal(0.3, 0.15, tasks)
            found = over_tasks({i: rng.normal(level, 0.3, (seeds, 1)) for i, level in enumerate(levels)}, mean_of)
            hits += found.low <= 0.3 <= found.high
        assert 0.92 <= hits / 500 <= 0.98

    def test_both_clusterings_of_the_same_rollouts(self):
        """Over 1,600 rollouts and over 32 tasks, each naming its unit; ignoring tasks is far too narrow here."""
        rng = np.random.default_rng(13)
        scores = {f"t{i:02}": rng.normal(rng.uniform(), 0.05, (50, 1)) for i in range(32)}
        by_rollout = t_interval(np.concatenate(list(scores.values()))[:, 0], unit="rollouts")
        by_task = over_tasks(scores, mean_of)
        assert by_rollout.value == pytest.approx(by_task.value)
        assert (by_rollout.n, by_rollout.clusters, by_task.n, by_task.clusters) == (1600, 1600, 1600, 32)
        assert "rollouts" in by_rollout.method
        assert "tasks" in by_task.method
        assert by_task.high - by_task.low > 5 * (by_rollout.high - by_rollout.low)

    def test_ratio_of_task_means(self):
        """0.1 of 0.2 and 0.3 of 0.6 are half of all; a task near 0 does not blow it up like a mean of ratios."""
        tables = {"a": [[0.1, 0.2]] * 3, "b": [[0.3, 0.6], [0.3, 0.6]], "c": [[0.05, 0.0001]]}
        tables = {task: np.array(table) for task, table in tables.items()}

        def share(means):
            return means[..., 0] / means[..., 1]

        found = over_task_means({task: tables[task] for task in "ab"}, share)
        assert (found.value, found.n, found.clusters) == (pytest.approx(0.5), 5, 2)
        assert found.low == pytest.approx(found.high)
        assert over_task_means(tables, share).value == pytest.approx(0.45 / 0.8001)
        assert over_task_means({"a": tables["a"]}, share).method.endswith("one of the tasks only")

    @given(
        st.dictionaries(
            st.text(max_size=3),
            st.lists(st.tuples(unit_scores, unit_scores), min_size=1, max_size=5),
            min_size=1,
            max_size=4,
        ),
        st.randoms(use_true_random=False),
    )
    @settings(deadline=None)
    def test_order_does_not_matter_and_values_stay_in_range(self, clusters, rng):
        clusters = {key: np.array(rows) for key, rows in clusters.items()}
        shuffled = {
            key: np.array(rng.sample(rows.tolist(), len(rows)))
            for key, rows in rng.sample(sorted(clusters.items(), key=lambda one: one[0]), len(clusters))
        }
        for estimator in (jackknife, over_tasks, over_task_means):
            for statistic, least in ((mean_of, 0), (difference, -1), (ratio_gap, -math.inf)):
                found = estimator(clusters, statistic)
                assert found == estimator(shuffled, statistic)
                assert found.value is None or least - 1e-9 <= found.value <= 1 + 1e-9
                assert (found.low is None) == (found.high is None)
                if found.low is not None:
                    assert found.low <= found.value <= found.high
                plain(found)


class TestTax:
    def test_by_hand(self):
        rows = solo("m", "maze", [1, 1, 0.8, 1]) + homo("m", "maze", [0.5, 0.25, 0.4, 1.0], since=1)
        found = tax(rows, "m")
        (maze,) = found.tasks
        # seeds 1, 2, 3 pair: 1 - 0.5, 0.8 - 0.25, 1 - 0.4
        assert (maze.paired, maze.unpaired, maze.tractable) == (3, 2, True)
        assert maze.solo == pytest.approx(2.8 / 3)
        assert maze.homo == pytest.approx(1.15 / 3)
        assert maze.tax.value == pytest.approx(0.55)
        assert maze.ratio.value == pytest.approx(1.65 / 2.8)
        assert maze.sd == pytest.approx(0.05)
        assert maze.tax.high - maze.tax.value == pytest.approx(4.302653 * 0.05 / 3**0.5)
        assert maze.solo_all.value == pytest.approx(0.95)
        assert maze.homo_all.value == pytest.approx(2.15 / 4)
        assert found.overall.tax == replace(maze.tax, method="95% t over seeds, one of the tasks only")
        assert found.overall.ratio == replace(maze.ratio, method="95% t over seeds, one of the tasks only")
        assert found.overall.ratio.value == maze.ratio.value

    def test_each_task_weighs_the_same_and_ratios_are_averaged(self):
        rows = (
            solo("m", "maze", [1.0] * 10)
            + homo("m", "maze", [0.2] * 10)
            + solo("m", "cube", [0.8] * 2)
            + homo("m", "cube", [0.6] * 2)
            + solo("m", "seating", [0.9] * 3)
            + homo("m", "seating", [1.0] * 3)
        )
        found = tax(rows, "m")
        spatial, csp = found.families["spatial"], found.families["csp"]
        assert list(found.families) == ["csp", "spatial"]
        assert spatial.tax.value == pytest.approx((0.8 + 0.2) / 2)
        assert spatial.ratio.value == pytest.approx((0.8 + 0.25) / 2)  # not 1.0 / 1.8
        assert (spatial.solo, spatial.homo) == pytest.approx((0.9, 0.4))
        assert (spatial.tax.n, spatial.tax.clusters) == (12, 2)
        assert csp.tax.value == pytest.approx(-0.1)
        assert csp.tax.method.endswith("one of the tasks only")
        assert found.overall.tax.value == pytest.approx(0.9 / 3)
        assert found.overall.tasks == ("cube", "maze", "seating")

    def test_intractable_tasks_stay_out_of_that_models_means(self):
        rows = [
            row
            for model, weak in (("m", 0.5), ("n", 0.9))
            for row in solo(model, "maze", [weak] * 3)
            + homo(model, "maze", [0.3] * 3)
            + solo(model, "graph", [0.8] * 3)
            + homo(model, "graph", [0.7] * 3)
        ]
        found = taxes(rows)
        assert found["m"].overall.tasks == ("graph",)
        assert found["m"].overall.left_out == {"maze": "solo mean 0.500 is under 0.8"}
        assert found["n"].overall.left_out == {}
        alone = found["m"].families["spatial"]
        assert (alone.tax.value, alone.ratio.value, alone.solo, alone.tasks) == (None, None, None, ())
        assert alone.reason == "none of 1 tasks can enter: solo mean 0.500 is under 0.8"
        maze = found["m"].tasks[1]
        assert (maze.task, maze.tractable) == ("maze", False)
        assert maze.tax.value == pytest.approx(0.2)
        asked = taxes(rows, include_intractable=True)["m"]
        assert asked.overall.tasks == ("graph", "maze")
        assert asked.overall.tax.value == pytest.approx(0.15)

    def test_no_solo_score_no_ratio(self):
        rows = (
            solo("m", "maze", [0, 0])
            + homo("m", "maze", [0.5, 0])
            + solo("m", "graph", [1, 1])
            + homo("m", "graph", [0.5, 0.5])
        )
        found = tax(rows, "m", include_intractable=True)
        assert found.tasks[1].ratio.value is None
        assert found.overall.tax.value == pytest.approx((-0.25 + 0.5) / 2)
        assert (found.overall.ratio.value, found.overall.ratio.n) == (0.5, 2)

    def test_half_a_study(self):
        found = tax(solo("m", "maze", [1, 0.9]) + cell("half", ("m",), "maze", [0.1], condition="view1"), "m")
        (maze,) = found.tasks
        assert (maze.paired, maze.unpaired, maze.tax.value, maze.solo) == (0, 2, None, None)
        assert maze.solo_all.value == pytest.approx(0.95)
        assert found.overall.left_out == {"maze": "no seed with both a solo and a homo rollout"}
        assert tax(homo("m", "maze", [1]), "m").tasks[0].tractable is None
        nothing = tax([], "m")
        assert (nothing.tasks, nothing.overall.reason) == ((), "no rollouts")
        assert taxes([]) == {}

    def test_conditions_are_never_mixed(self):
        rows = solo("m", "maze", [1, 1]) + homo("m", "maze", [0, 0]) + homo("m", "maze", [0.5, 0.5], condition="no-l1")
        with pytest.raises(ValueError, match="baseline, no-l1"):
            taxes(rows)
        assert tax(rows, "m", condition="no-l1").overall.tax.value == 0.5
        assert tax(rows, "m", condition="baseline").overall.tax.value == 1

    def test_what_cannot_be_right_is_refused(self):
        with pytest.raises(ValueError, match="a seed occurs twice"):
            taxes(solo("m", "maze", [1]) * 2)
        with pytest.raises(ValueError, match="several families"):
            taxes(solo("m", "maze", [1]) + [replace(row, family="csp") for row in homo("m", "maze", [1])])

    @given(studies(), st.randoms(use_true_random=False))
    @settings(deadline=None, max_examples=40)
    def test_order_bounds_and_json(self, rows, rng):
        shuffled = rng.sample(rows, len(rows))
        found = taxes(rows)
        assert plain(found) == plain(taxes(shuffled))
        assert plain(pair_table(rows)) == plain(pair_table(shuffled))
        for model in found.values():
            for task in model.tasks:
                assert task.paired * 2 + task.unpaired == task.solo_all.n + task.homo_all.n
                if task.tax.value is not None:
                    assert -1 <= task.tax.value <= 1
                    assert task.tax.value == pytest.approx(task.solo - task.homo, abs=1e-9)
            for scope in (*model.families.values(), model.overall):
                assert (scope.tax.value is None) == (scope.reason is not None)
                assert set(scope.tasks).isdisjoint(scope.left_out)

    def test_hash_seed_does_not_matter(self):
        code = (
            "import json, dataclasses, random\n"
            "from collabtax.statistics import Scored, taxes, pair_table\n"
            "r = random.Random(2)\n"
            "rows = {Scored(t, 'csp', mode, models, 'baseline', s, r.random()) for t in 'xyz' for s in range(9)\n"
            "        for mode, models in (('solo', ('a',)), ('solo', ('b',)), ('homo', ('a', 'a')),\n"
            "                             ('hetero', ('a', 'b')))}\n"
            "print(json.dumps([f(rows, include_intractable=True) for f in (taxes, pair_table)],\n"
            "                 default=dataclasses.asdict))\n"
        )
        runs = {
            subprocess.run(
                [sys.executable, "-c", code],
                env={**os.environ, "PYTHONHASHSEED": seed, "PYTHONPATH": os.pathsep.join(["", *sys.path])},
                capture_output=True,
                text=True,
                check=True,
            ).stdout
            for seed in ("1", "2")
        }
        assert len(runs) == 1

    def test_work_grows_with_the_rows_and_no_faster(self, monkeypatch):
        """However many models and tasks there are, each row is grouped twice."""
        grouped = []

        def count_rows(rows, by):
            rows = list(rows)
            grouped.append(len(rows))
            return partition(rows, by)

        module = sys.modules["collabtax.statistics.tax"]  # the package has a function of this name
        monkeypatch.setattr(module, "partition", count_rows)
        rows = [
            row
            for model in "abcde"
            for task in FAMILY
            for row in solo(model, task, [0.9, 1, 0.95]) + homo(model, task, [0.5, 0.6, 0.4])
        ]
        assert len(taxes(rows)) == 5
        assert sum(grouped) == 2 * len(rows)


class TestPairs:
    def test_by_hand(self):
        rows = (
            solo("a", "maze", [1, 1])
            + solo("b", "maze", [0.2, 0.4])
            + hetero("a", "b", "maze", [0.7, 0.5])
            + solo("a", "graph", [0.5, 0.5])
            + solo("b", "graph", [0.9, 0.9])
            + hetero("a", "b", "graph", [1, 1])
            + solo("a", "cube", [0.1])
            + solo("b", "cube", [0.2])
            + hetero("a", "b", "cube", [0.2])
            + solo("a", "seating", [1])
            + hetero("a", "b", "seating", [0.3])
        )
        (row,) = pair_table(rows)
        assert row.models == ("a", "b")
        assert row.tasks == ("graph", "maze")
        assert row.left_out == {
            "cube": "better solo mean 0.200 is under 0.8",
            "seating": "no seed with both solo rollouts and one of the team",
        }
        # v1 = (0.5 + 1) / 2, v2 = (0.9 + 0.3) / 2, v12 = (1 + 0.6) / 2
        assert (row.v1.value, row.v2.value, row.v12.value) == pytest.approx((0.75, 0.6, 0.8))
        assert row.tax.value == pytest.approx((-0.1 + 0.4) / 2)  # better member of each task
        assert row.tasks_violated == 1
        assert (row.phi1.value, row.phi2.value) == pytest.approx((0.475, 0.325))
        assert (row.tax.n, row.tax.clusters) == (4, 2)
        everything = pair_table(rows, include_intractable=True)[0]
        assert everything.tasks == ("cube", "graph", "maze")
        assert everything.v1.value == pytest.approx((0.1 + 0.5 + 1) / 3)
        assert everything.tasks_violated == 1

    def test_orders_are_pairs_of_their_own_and_the_rest_is_passed_over(self):
        rows = (
            solo("a", "maze", [1])
            + solo("b", "maze", [1])
            + hetero("b", "a", "maze", [0.5])
            + hetero("a", "b", "maze", [0.4])
            + homo("a", "maze", [0])
        )
        assert [(row.models, row.v12.value) for row in pair_table(rows)] == [(("a", "b"), 0.4), (("b", "a"), 0.5)]
        assert pair_table([]) == ()
        (empty,) = pair_table(hetero("a", "b", "maze", [0.4]))
        assert (empty.tax.value, empty.tasks_violated, empty.tasks) == (None, 0, ())

    @given(studies())
    @settings(deadline=None, max_examples=60)
    def test_propositions(self, rows):
        for row in pair_table(rows, include_intractable=True):
            if row.tax.value is None:
                continue
            v1, v2, v12 = row.v1.value, row.v2.value, row.v12.value
            # proposition 2: a positive tax is the failure of max-superadditivity, on the averages or on one task
            assert row.tax.value >= max(v1, v2) - v12 - 1e-9
            assert 0 <= row.tasks_violated <= len(row.tasks)
            assert row.tax.value <= 1e-9 or row.tasks_violated
            if len(row.tasks) == 1:
                assert row.tax.value == pytest.approx(max(v1, v2) - v12, abs=1e-9)
                assert row.tasks_violated == (row.tax.value > 1e-9)
            assert row.phi1.value + row.phi2.value == pytest.approx(v12)
            # proposition 4: under subadditivity both members lose, by the same amount (equation 10)
            loss = (v1 + v2 - v12) / 2
            assert v1 - row.phi1.value == pytest.approx(loss, abs=1e-9)
            assert v2 - row.phi2.value == pytest.approx(loss, abs=1e-9)

    def test_each_task_by_hand(self):
        rows = (
            solo("a", "maze", [1, 0.8, 0.9])
            + solo("b", "maze", [0.2, 0.4, 0.3])
            + hetero("a", "b", "maze", [0.7, 0.5, 0.3])
            + solo("a", "graph", [0.5, 0.5])
            + solo("b", "graph", [0.9, 0.9])
            + hetero("a", "b", "graph", [1, 1])
        )
        graph, maze = pair_table(rows)[0].by_task
        assert (graph.task, graph.family, maze.task, maze.family) == ("graph", "relational", "maze", "spatial")
        assert (maze.v1, maze.v2, maze.v12) == pytest.approx((0.9, 0.3, 0.5))
        alone = t_interval([0.3, 0.3, 0.6])  # the better member of the task, seed by seed
        assert (maze.tax.value, maze.tax.low, maze.tax.high) == pytest.approx((alone.value, alone.low, alone.high))
        assert maze.spread == (pytest.approx(0.4), pytest.approx(math.sqrt(0.03)), 3)
        assert (graph.tax.value, graph.tax.low, graph.tax.high) == pytest.approx((-0.1, -0.1, -0.1))
        assert graph.spread == (pytest.approx(-0.1), pytest.approx(0), 2)
        alone = pair_table([row for row in rows if row.task == "maze"])[0]
        assert alone.tax == replace(maze.tax, method="95% t over seeds, one of the tasks only")

    def test_rounding_alone_violates_nothing(self):
        """The same three scores at other seeds, so that their sums may round differently."""
        row = pair_table(
            solo("a", "maze", [0.9, 0.8, 0.9])
            + solo("b", "maze", [0.1] * 3)
            + hetero("a", "b", "maze", [0.8, 0.9, 0.9])
        )[0]
        assert row.tasks_violated == 0
        assert row.tax.value == pytest.approx(0, abs=1e-9)

    def test_seat_asymmetry(self):
        rows = (
            hetero("a", "b", "maze", [0.9, 0.7, 0.8])
            + hetero("b", "a", "maze", [0.5, 0.5, 0.5])
            + hetero("a", "b", "graph", [0.2, 0.4])
            + hetero("b", "a", "graph", [0.4, 0.4, 1], since=1)
            + hetero("a", "c", "maze", [1])
            + hetero("a", "b", "cube", [1])
            + solo("a", "maze", [1])
        )
        found = seat_asymmetry(rows, "a", "b")
        assert found.value == pytest.approx((0.3 + 0.0) / 2)  # graph pairs at seed 1 only
        assert (found.n, found.clusters) == (4, 2)
        assert seat_asymmetry(rows, "b", "a").value == pytest.approx(-found.value)
        lone = seat_asymmetry([row for row in rows if row.task == "maze"], "a", "b")
        assert (lone.value, lone.method) == (pytest.approx(0.3), "95% t over seeds, one of the tasks only")
        assert seat_asymmetry(rows, "a", "c").value is None


class TestShapley:
    @staticmethod
    def by_orderings(v, players):
        """The definition in the proof of proposition 3: marginal contributions averaged over all orders of arrival."""
        shares = dict.fromkeys(players, 0.0)
        orders = list(permutations(players))
        for order in orders:
            for i, player in enumerate(order):
                before = frozenset(order[:i])
                shares[player] += (v[before | {player}] - v[before]) / len(orders)
        return shares

    @given(st.integers(1, 5), st.data())
    def test_agrees_with_the_definition(self, n, data):
        players = [f"p{i}" for i in range(n)]
        v = {
            frozenset(p for i, p in enumerate(players) if bits >> i & 1): data.draw(st.floats(-1, 1)) if bits else 0.0
            for bits in range(2**n)
        }
        found = shapley(v)
        assert found == pytest.approx(self.by_orderings(v, players), abs=1e-9)
        assert sum(found.values()) == pytest.approx(v[frozenset(players)], abs=1e-9)
        assert found == shapley(dict(reversed(list(v.items()))))

    @given(unit_scores, unit_scores, unit_scores)
    def test_two_players_have_the_closed_form(self, v1, v2, v12):
        found = shapley({frozenset({1}): v1, frozenset({2}): v2, frozenset({1, 2}): v12})
        assert found == pytest.approx({1: (v1 + v12 - v2) / 2, 2: (v2 + v12 - v1) / 2})
        if v12 < v1 + v2 - 1e-9:
            assert found[1] < v1
            assert found[2] < v2

    def test_glove_game_null_player_and_symmetry(self):
        gloves = {frozenset(s): float("L" in s and len(s) > 1) for s in ("L", "r", "s", "Lr", "Ls", "rs", "Lrs")}
        assert shapley(gloves) == pytest.approx({"L": 2 / 3, "r": 1 / 6, "s": 1 / 6})
        idle = {frozenset(s): float("a" in s) for s in ("a", "b", "ab")}
        assert shapley(idle) == {"a": 1.0, "b": 0.0}
        assert shapley({}) == {}

    def test_games_that_are_none(self):
        with pytest.raises(ValueError, match=r"\['a'\]"):
            shapley({frozenset("b"): 0.5, frozenset("ab"): 1.0})
        with pytest.raises(ValueError, match="empty"):
            shapley({frozenset(): 0.5, frozenset("a"): 1.0})


@pytest.mark.parametrize("level", [0, 1, 95, -0.5, math.nan, math.inf])
@pytest.mark.parametrize("values", [[], [1.0], [1.0, 1.0], [0.0, 1.0]])
def test_a_level_is_checked_whatever_the_data(values, level):
    clusters = {i: [value] for i, value in enumerate(values)}
    for estimate in (
        lambda: t_interval(values, level),
        lambda: jackknife(clusters, mean_of, level),
        lambda: over_tasks({key: np.array([value]) for key, value in clusters.items()}, mean_of, level),
        lambda: power_hint(0.1, len(values) + 1, level),
    ):
        with pytest.raises(ValueError, match="is not between 0 and 1"):
            estimate()


@pytest.mark.parametrize("score", [None, "0.5", [], math.nan, -0.1, 2, 1j])
def test_what_is_no_score_makes_no_row(score):
    with pytest.raises(ValueError, match="score"):
        solo("m", "maze", [score])


@pytest.mark.parametrize("worth", [math.nan, math.inf, -math.inf])
def test_a_worth_that_is_not_finite_is_refused(worth):
    with pytest.raises(ValueError, match="not finite"):
        shapley({frozenset("a"): 1.0, frozenset("b"): worth, frozenset("ab"): 1.0})
