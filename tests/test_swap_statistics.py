"""Estimators of the swap: published values from published repetitions, worked examples, properties."""

from __future__ import annotations

import json
import random
from statistics import correlation, fmean

import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from collabtax.statistics.swap import Line, Repetition, lines, minus, planning, summary


@pytest.fixture(scope="module")
def published():
    from conftest import shared

    return json.loads(shared("data/published/one_seat_swap.json").read_text())


def near(got, told):
    """Equal as far as two printed decimals tell."""
    return got == pytest.approx(told, abs=0.0051)


def test_table_s4_gives_the_published_summaries(published):
    values, said = published["table_S4"]["rows"], {row["id"]: row for row in published["table_S3"]["rows"]}
    checked = 0
    for name, reps in values.items():
        row = said.get(name) or next(r for r in published["table_5"]["rows"] if r["id"] == name)
        found = summary(reps)
        assert near(found.mean, row["mean"])
        assert (found.k, found.n) == (row["k"], 10)
        assert near(found.low, row["ci"][0])
        assert near(found.high, row["ci"][1])
        if "sd" in row:
            assert near(found.sd, row["sd"])
        checked += 1
    assert checked == 5


def test_table_s4_gives_what_the_text_says_of_it(published):
    table = published["table_S4"]
    rows, claims = table["rows"], table["derived_claims"]
    whole, partner = rows["delta_seat_whole"], rows["delta_seat_partner_half"]
    assert correlation(whole, partner) == pytest.approx(claims["corr_whole_partner"], abs=0.0051)
    left = minus(dict(enumerate(partner)), dict(enumerate(whole)))
    said = next(r for r in published["table_S3"]["rows"] if near(r["mean"], 0.07) and near(r["sd"], 2.13))
    found = summary(left.values())
    assert near(found.mean, said["mean"])
    assert near(found.sd, said["sd"])
    assert (found.k, found.n) == (said["k"], 10)
    out = {rep - 1 for rep in claims["excluding_reps"]}
    for name, claim in (("delta_seat_whole", "excluded_delta_seat_whole"),
                        ("delta_seat_partner_half", "excluded_delta_seat_partner")):  # fmt: skip
        kept = summary(v for i, v in enumerate(rows[name]) if i not in out)
        assert near(kept.mean, claims[claim]["mean"])
        assert near(kept.low, claims[claim]["ci"][0])
        assert near(kept.high, claims[claim]["ci"][1])
        assert kept.k == kept.n == 7
    assert max(rows["rewording_cost_initiator"] + rows["rewording_cost_responder"]) == claims["max_rewording_cost"]


def test_intervals_of_table_s3_are_t_intervals(published):
    for row in published["table_S3"]["rows"]:
        if row.get("sd") is None:
            continue
        half = stats.t.ppf(0.975, 9) * row["sd"] / 10**0.5
        assert (row["ci"][1] - row["ci"][0]) / 2 == pytest.approx(half, abs=0.012)


def test_published_branch_means_fit_together(published):
    """Loss and gain of Table 1 and 3 follow from their printed branch means, up to the rounding of two of them."""
    for table in ("table_1", "table_3"):
        for row in published[table]["rows"]:
            one = Repetition(row["O"], 1, 1, 1), Repetition(row["E"], 1, 1, 1), Repetition(row["F"], 1, 1, 1)
            line = Line(
                "t", "kitchen", "", "m", "m", {0: one[0]}, {"s": {"experienced": {0: one[1]}, "fresh": {0: one[2]}}}
            )
            assert line.loss("s")[0] == pytest.approx(row["loss"], abs=0.0151)
            assert line.gain("s")[0] == pytest.approx(row["gain"], abs=0.0151)
    level3 = {row["seat"]: row for row in published["table_3"]["rows"] if row["level"] == "L3"}
    seats = {
        seat: {"experienced": {0: Repetition(row["E"], 1, 1, 1)}, "fresh": {0: Repetition(row["F"], 1, 1, 1)}}
        for seat, row in level3.items()
    }
    line = Line("k", "kitchen", "", "m", "m", {0: Repetition(70.30, 1, 1, 1)}, seats)
    assert line.asymmetry()[0] == pytest.approx(15.03, abs=0.021)
    experienced, fresh = line.terms()
    assert experienced[0] == pytest.approx(10.02, abs=0.011)
    assert experienced[0] + fresh[0] == pytest.approx(line.asymmetry()[0])


def test_published_premiums_are_ratios_of_printed_costs(published):
    for row in published["table_1"]["rows"]:
        clinic = row["setting"].startswith("MedQA")
        for what, name in (("messages", "msg"), ("tokens", "tok")):
            costs = row[f"{name}_per_P_O"], row[f"{name}_per_P_E"]
            reps = [Repetition(0, 1, c, c) for c in costs]
            line = Line(
                "t", "clinic" if clinic else "kitchen", "", "m", "m", {0: reps[0]}, {"s": {"experienced": {0: reps[1]}}}
            )
            slack = 0.6 if what == "messages" else 0.05  # two costs printed with two decimals
            assert line.premium(what) == pytest.approx(row[f"{name}_premium_pct"], abs=slack)


def reps(*scores, messages=10, tokens=100, progress=5):
    return {i: Repetition(s, progress, messages, tokens, (s,)) for i, s in enumerate(scores)}


def two_seats(o, ei, fi, er, fr):
    seats = {"initiator": {"experienced": reps(*ei), "fresh": reps(*fi)},
             "responder": {"experienced": reps(*er), "fresh": reps(*fr)}}  # fmt: skip
    return Line("kitchen-l3", "kitchen", "", "m", "m", reps(*o), seats)


def test_a_worked_example():
    line = two_seats([70, 72], [54, 55], [62, 60], [64, 66], [57, 60])
    assert list(line.loss("initiator").values()) == [16, 17]
    assert list(line.gain("initiator").values()) == [-8, -5]
    assert list(line.gain("responder").values()) == [7, 6]
    assert list(line.asymmetry().values()) == [15, 11]
    assert [list(t.values()) for t in line.terms()] == [[10, 11], [5, 0]]
    assert line.pooled("original", "experienced") == {0: 11.0, 1: 11.5}
    one = line.alternating()
    assert one.pooled("original", "experienced") == {0: 16.0, 1: 6.0}  # repetition 0 initiator, 1 responder
    found = summary([15, 11])
    assert (found.mean, found.k, found.n) == (13, 2, 2)
    assert found.sd == pytest.approx(8**0.5)
    assert found.low == pytest.approx(13 - 12.706204736 * 2)


def test_costs_without_progress_are_unavailable_and_nothing_is_dropped():
    line = two_seats([70, 72], [54, 55], [62, 60], [64, 66], [57, 60])
    idle = {**line.seats["initiator"]["experienced"], 1: Repetition(0.0, 0, 40, 400, (0.0,))}
    seats = {**line.seats, "initiator": {**line.seats["initiator"], "experienced": idle}}
    line = Line(line.task, line.family, "", "m", "m", line.original, seats)
    assert line.premium("messages", "initiator") is None
    assert line.premium("messages") is None
    assert line.premium("messages", "responder") == 0.0
    assert len(line.loss("initiator")) == 2


def test_the_premium_of_the_clinic_is_the_mean_of_ratios():
    original = {0: Repetition(0, 1, 8, 8), 1: Repetition(0, 1, 16, 16)}
    experienced = {0: Repetition(0, 1, 16, 16), 1: Repetition(0, 1, 16, 16)}
    told = {}
    for family in ("kitchen", "clinic"):
        told[family] = Line("t", family, "", "m", "m", original, {"s": {"experienced": experienced}}).premium(
            "messages"
        )
    assert told == {"kitchen": pytest.approx(100 * (16 / 12 - 1)), "clinic": 50.0}


def test_planning_width():
    def line(e, messages):
        return Line(
            "k", "kitchen", "", "m", "m", reps(70, 70), {"initiator": {"experienced": reps(*e, messages=messages)}}
        )

    reduction, changes = planning(line([60, 61], 10), line([66, 68], 15))
    assert reduction == {0: 6.0, 1: 7.0}
    assert changes["messages"] == {0: pytest.approx(50), 1: pytest.approx(50)}


def row(mode, seed, score, condition="", models=("m",), task="kitchen-l3"):
    episodes = [{"score": score}, {"score": score}]
    return {
        "study": "swap", "task": task, "family": "kitchen", "mode": mode, "models": list(models), "seed": seed,
        "condition": condition, "outcome": "scored", "score": score / 100,
        "data": {"episodes": episodes, "progress": 4, "messages": 8, "tokens": 80},
    }  # fmt: skip


def test_lines_are_made_of_rows_in_any_order():
    rows = [row("formation", 0, 50)]
    for seed in range(3):
        rows.append(row("original", seed, 70 + seed))
        for seat in ("initiator", "responder"):
            rows += [row("experienced", seed, 60, seat, ("m", "m")), row("fresh", seed, 50, seat, ("m", "m"))]
        rows.append(row("original", seed, 40, "formation-0"))
        rows.append(row("experienced", seed, 41, "initiator-formation-0-no-notice", ("m", "n")))
    found = lines(rows)
    assert [(x.condition, x.newcomer, list(x.seats)) for x in found] == [
        ("", "m", ["initiator", "responder"]), ("formation-0-no-notice", "n", ["initiator"])
    ]  # fmt: skip
    assert found[1].loss("initiator") == {0: -1.0, 1: -1.0, 2: -1.0}
    shuffled = list(rows)
    random.Random(3).shuffle(shuffled)
    again = sorted(lines(shuffled), key=lambda x: x.condition)
    assert [(x, list(x.seats)) for x in again] == [(x, list(x.seats)) for x in found]
    broken = {**rows[1], "outcome": "infrastructure", "score": None}
    assert len(lines([broken, *rows[2:]])[0].original) == 2


points = st.floats(0, 100).map(lambda x: round(x, 3))


@given(st.lists(st.tuples(points, points, points, points, points), min_size=2, max_size=8))
def test_contrasts_add_up(reps_):
    line = two_seats(*(list(column) for column in zip(*reps_, strict=True)))
    for seat in line.seats:
        direct = line.difference(seat, "original", "fresh")
        assert [line.loss(seat)[r] + line.gain(seat)[r] for r in direct] == pytest.approx(list(direct.values()))
    whole, parts = line.asymmetry(), line.terms()
    assert [parts[0][r] + parts[1][r] for r in whole] == pytest.approx(list(whole.values()))
    assert summary(whole.values()).mean == pytest.approx(fmean(whole.values()))
    other = Line(line.task, line.family, "", "m", "m", line.original, dict(reversed(line.seats.items())))
    assert [-v for v in other.asymmetry().values()] == pytest.approx(list(whole.values()))
    assert line.pooled("original", "experienced") == pytest.approx(other.pooled("original", "experienced"))


def test_the_interval_holds_the_truth_as_often_as_it_says():
    rng, held = random.Random(5), 0
    for _ in range(2000):
        found = summary(rng.gauss(3, 5) for _ in range(10))
        held += found.low <= 3 <= found.high
    assert 0.94 < held / 2000 < 0.96
