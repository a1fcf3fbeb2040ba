"""Trajectory scores against worked numbers, an implementation written differently, and published facts."""

from __future__ import annotations

import json
from fractions import Fraction
from itertools import combinations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from graders.trajectories import (
    Match,
    best_match,
    ites,
    matched,
    success_rate,
    tes,
    trajectory_score,
)
from tasks.base import seeded
from tasks.worlds.kitchen import ORDERS, SEATS

WEIGHT = Fraction(361, 400)  # 0.95 squared
ACTIONS = st.lists(st.sampled_from("abcd"), max_size=8)


def slow_prefix(reference, trace):
    """The longest prefix that can be picked out of the trace, by trying every choice of places."""
    return max(
        k
        for k in range(min(len(reference), len(trace)) + 1)
        if any(
            all(trace[i] == r for i, r in zip(at, reference, strict=False)) for at in combinations(range(len(trace)), k)
        )
    )


def other_prefix(reference, trace):
    """The same by asking an iterator for each action of shorter and shorter prefixes."""
    for k in range(len(reference), 0, -1):
        left = iter(trace)
        if all(action in left for action in reference[:k]):
            return k
    return 0


def other_tes(reference, trace):
    """F-measure of the share of the reference that was found and the share of the trace that was useful."""
    d = Fraction(other_prefix(reference, trace))
    if d == 0:
        return Fraction(0)
    recall, precision = d / len(reference), d / len(trace)
    return (1 + WEIGHT) * precision * recall / (WEIGHT * recall + precision) if trace else Fraction(0)


def test_vectors_of_the_specification(shared_path):
    vectors = json.loads(shared_path("data/overcooked/recipes.json").read_text())["tes_test_vectors"]
    assert len(vectors) == 6
    for one in vectors:
        assert matched(one["reference"], one["trace"]) == one["d"], one["name"]
        assert tes(one["reference"], one["trace"]) == pytest.approx(one["tes"], abs=1e-9), one["name"]


def test_worked_example_is_not_the_longest_common_subsequence():
    """Reference 5, trace 5, d 3: (1.9025 * 3) / (5 + 0.9025 * 5) = 0.6; the last action, alone in its place, does not
    count, though it would in a longest common subsequence."""
    assert tes("abcde", "abcxe") == pytest.approx(0.6)
    assert matched("abcde", "bcde") == 0


def test_twenty_thousand_random_traces_against_another_implementation():
    rng = seeded("trajectories", 1)
    for _ in range(20_000):
        references = [
            [rng.choice("abcdef") for _ in range(rng.randint(1, 12))] for _ in range(rng.choice((1, 1, 2, 6)))
        ]
        trace = [rng.choice("abcdef") for _ in range(rng.randint(0, 25))]
        if rng.random() < 0.5:  # traces that follow a reference with some useless actions between
            trace = [x for r in references[0][: rng.randint(0, 12)] for x in (r, *trace[: rng.randint(0, 2)])]
        found = best_match(references, trace)
        expected = [other_tes(reference, trace) for reference in references]
        assert found.tes == pytest.approx(float(max(expected)), abs=1e-12)
        assert found.matched == other_prefix(references[found.reference], trace)


@given(ACTIONS, ACTIONS)
@settings(max_examples=150, deadline=None)
def test_one_pass_finds_what_trying_every_choice_finds(reference, trace):
    assert matched(reference, trace) == slow_prefix(reference, trace)


@given(ACTIONS.filter(len), ACTIONS, st.sampled_from("abcd"))
def test_a_score_is_one_for_the_reference_only_and_useless_actions_lower_it(reference, trace, action):
    score = tes(reference, trace)
    assert 0 <= score <= 1
    assert (score == pytest.approx(1)) == (trace == reference)
    if matched(reference, [*trace, action]) == matched(reference, trace) > 0:
        assert ites([reference], trace, [action]) < 0
    elif matched(reference, [*trace, action]) > matched(reference, trace):
        assert ites([reference], trace, [action]) > 0


def test_blanks_in_actions_do_not_matter():
    assert tes(["pickup(egg,counter)"], ["pickup(egg, counter) "]) == 1


def test_each_role_takes_its_own_best_reference():
    """Of either reference alone, one role would have d 1 of 2 and TES 0.5, so that a joint choice would give 75."""
    references = [{"a": ["x", "y"], "b": ["p", "q"]}, {"a": ["y", "x"], "b": ["q", "p"]}]
    score = trajectory_score(references, {"a": ["x", "y"], "b": ["q", "p"]})
    assert score.completeness == 100
    assert score.progress == 4
    assert (score.roles["a"].reference, score.roles["b"].reference) == (0, 1)


def test_roles_are_not_mixed_up():
    """One perfect role of five actions, one that did nothing: PC 50, progress 5."""
    references = [{"initiator": list("abcde"), "responder": list("xy")}]
    score = trajectory_score(references, {"responder": [], "initiator": list("abcde")})
    assert score.roles["initiator"] == Match(1.0, 5, 5, 5, 0)
    assert score.roles["responder"] == Match(0.0, 0, 2, 0, 0)
    assert (score.completeness, score.progress) == (50, 5)


def test_success_counts_deliveries_up_to_the_limit():
    assert success_rate([24, 25, None, 3], 24) == 0.5


def test_empty_input_is_refused_with_a_reason():
    for call in (
        lambda: success_rate([], 24),
        lambda: best_match([], ["a"]),
        lambda: tes([], ["a"]),
        lambda: trajectory_score([{"a": ["x"]}], {}),
        lambda: trajectory_score([{"a": ["x"]}], {"b": ["x"]}),
    ):
        with pytest.raises(ValueError, match=r"at least one|same roles"):
            call()


def test_lengths_of_references_are_the_published_minimum_actions(shared_path):
    """Sun et al., Table 3: least actions of both roles, and those of the responder, by level."""
    published = json.loads(shared_path("data/published/collab_overcooked.json").read_text())[
        "table_3_recipe_statistics"
    ]
    for order in ORDERS.values():
        for one in order.references:
            lengths = [len(one[seat]) for seat in SEATS]
            assert sum(lengths) == published["minimum_actions"][order.level - 1], order.name
            assert lengths[1] == published["minimum_collaborative_actions"][order.level - 1], order.name


def test_useless_actions_cost_what_recorded_runs_show():
    """An L1 responder that does 1, 2 or 3 useless actions: 1.9025 * 2 / (2 + 0.9025 n) for n = 3, 4, 5."""
    reference = ORDERS["boiled_egg"].references[0]["responder"]
    for useless, expected in ((0, 1), (1, 0.808285), (2, 0.678253), (3, 0.584261)):
        assert tes(reference, [*reference, *["pickup(egg,counter)"] * useless]) == pytest.approx(expected, abs=1e-6)
