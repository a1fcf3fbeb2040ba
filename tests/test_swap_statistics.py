"""Estimators of the swap: published values from published repetitions, worked examples, properties."""

from __future__ import annotations

import json
import random
from dataclasses import replace
from statistics import correlation, fmean, stdev

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from collabtax.statistics.swap import (
    Line,
    Repetition,
    built,
    changed,
    composition,
    contrasts,
    lines,
    minus,
    planning,
    pooled_reps,
    summary,
)


@pytest.fixture
def published(shared_path):
    return json.loads(shared_path("data/published/one_seat_swap.json").read_text())


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
    assert line.loss() == {0: 11.0, 1: 11.5}
    one = line.alternating()
    assert one.loss() == {0: 16.0, 1: 6.0}  # repetition 0 initiator, 1 responder
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
        direct = line.difference("original", "fresh", seat)
        assert [line.loss(seat)[r] + line.gain(seat)[r] for r in direct] == pytest.approx(list(direct.values()))
    whole, parts = line.asymmetry(), line.terms()
    assert [parts[0][r] + parts[1][r] for r in whole] == pytest.approx(list(whole.values()))
    assert summary(whole.values()).mean == pytest.approx(fmean(whole.values()))
    other = Line(line.task, line.family, "", "m", "m", line.original, dict(reversed(line.seats.items())))
    assert [-v for v in other.asymmetry().values()] == pytest.approx(list(whole.values()))
    assert line.loss() == pytest.approx(other.loss())


def test_the_interval_holds_the_truth_as_often_as_it_says():
    rng, held = random.Random(5), 0
    for _ in range(2000):
        found = summary(rng.gauss(3, 5) for _ in range(10))
        held += found.low <= 3 <= found.high
    assert 0.94 < held / 2000 < 0.96


def vectors(n, seed=0):
    """Vectors of length n with mean 0 and standard deviation 1 that are uncorrelated with each other, one by one."""
    draws = np.random.default_rng(seed).normal(size=(n, 5))
    basis, _ = np.linalg.qr(np.column_stack([np.ones(n), draws]))
    return iter(basis[:, 1:].T * (n - 1) ** 0.5)


def spread(ci, n):
    """The standard deviation that belongs to a published interval."""
    return (ci[1] - ci[0]) / 2 * n**0.5 / stats.t.ppf(0.975, n - 1)


def correlated(means, sds, covariance, some):
    """Two vectors with these moments, exactly."""
    first, second = next(some), next(some)
    r = covariance / (sds[0] * sds[1])
    assert abs(r) <= 1, "no repetitions can have the published moments"
    return means[0] + sds[0] * first, means[1] + sds[1] * (r * first + (1 - r * r) ** 0.5 * second)


def from_rows(o, losses, gains):
    """The line that the stored rows of a study with these losses and gains make; the seats are initiator, responder."""
    rows = []
    for seed in range(len(losses[0])):
        rows.append(row("original", seed, o))
        for seat, loss, gain in zip(("initiator", "responder"), losses, gains, strict=True):
            e = o - loss[seed]
            rows += [row("experienced", seed, e, seat), row("fresh", seed, e - gain[seed], seat)]
    random.Random(1).shuffle(rows)
    (line,) = lines(rows)
    return line


def test_a_study_with_the_moments_of_table_s5_gives_table_s5(published):
    """Means and intervals of the seats, of their mean and of their difference fix two means, two spreads and the
    covariance: a study that has them must give all six rows."""
    n, said = published["table_S5"]["n"], {r["id"]: r for r in published["table_S5"]["rows"]}
    sd = {name: spread(one["ci"], n) for name, one in said.items()}
    (li, lr), (gi, gr) = (
        [(said[f"{what}_{seat}"]["mean"], sd[f"{what}_{seat}"]) for seat in ("initiator", "responder")]
        for what in ("loss", "gain")
    )
    some = vectors(n)
    losses = correlated(
        (li[0], lr[0]), (li[1], lr[1]), (4 * sd["loss_both_averaged"] ** 2 - li[1] ** 2 - lr[1] ** 2) / 2, some
    )
    gains = correlated((gi[0], gr[0]), (gi[1], gr[1]), (gi[1] ** 2 + gr[1] ** 2 - sd["delta_seat"] ** 2) / 2, some)
    found = {(c.seat, c.name): c.summary for c in contrasts(from_rows(75.0, losses, gains))}
    for name, where in {
        "loss_initiator": ("initiator", "loss"), "loss_responder": ("responder", "loss"),
        "loss_both_averaged": ("", "loss"), "gain_initiator": ("initiator", "gain"),
        "gain_responder": ("responder", "gain"), "delta_seat": ("", "seat asymmetry"),
    }.items():  # fmt: skip
        assert found[where].n == n
        assert near(found[where].mean, said[name]["mean"])
        assert near(found[where].low, said[name]["ci"][0])
        assert near(found[where].high, said[name]["ci"][1])


@pytest.mark.parametrize("level", ["L1", "L2", "L3"])
def test_a_study_with_the_moments_of_tables_3_and_s3_gives_them(published, level):
    said = {r["id"]: r for r in published["table_S3"]["rows"]}
    seats = {r["seat"]: r for r in published["table_3"]["rows"] if r["level"] == level}
    gain, delta = [said[f"{level}_{seat}_gain"] for seat in seats], said[f"{level}_delta_seat"]
    some = vectors(10, seed=3)
    gains = correlated(
        [g["mean"] for g in gain], [g["sd"] for g in gain],
        (gain[0]["sd"] ** 2 + gain[1]["sd"] ** 2 - delta["sd"] ** 2) / 2, some,
    )  # fmt: skip
    losses = [one["loss"] + 3 * next(some) for one in seats.values()]
    line = from_rows(seats["initiator"]["O"], losses, gains)
    found = {(c.seat, c.name): c.summary for c in contrasts(line)}
    for (seat, one), g in zip(seats.items(), gain, strict=True):
        assert found[seat, "loss"].mean == pytest.approx(one["loss"])
        assert fmean(line.scores("experienced", seat).values()) == pytest.approx(one["E"], abs=0.0151)
        assert fmean(line.scores("fresh", seat).values()) == pytest.approx(one["F"], abs=0.0251)
        assert near(found[seat, "gain"].sd, g["sd"])
        assert found[seat, "gain"].low == pytest.approx(g["ci"][0], abs=0.012)  # of printed mean and deviation
        assert found[seat, "gain"].high == pytest.approx(g["ci"][1], abs=0.012)
    assert found["", "seat asymmetry"].mean == pytest.approx(delta["mean"], abs=0.0151)
    assert near(found["", "seat asymmetry"].sd, delta["sd"])
    if level == "L3":
        text = published["table_3"]["text"]
        for seat in seats:
            assert found[seat, "incumbent - fresh"].mean == pytest.approx(
                text[f"incumbent_over_fresh_{seat}"], abs=0.0151
            )


def test_a_screen_with_the_moments_of_table_s1_gives_it_and_table_1(published):
    """Five repetitions replaced each seat: pooled, every repetition has the seat that was replaced in it."""
    said, some, rows = {r["seat"]: r for r in published["table_S1"]["rows"]}, vectors(5), []
    for number, seat in enumerate(("initiator", "responder")):
        one = said[seat]
        gains = one["gain"] + spread(one["gain_ci"], 5) * next(some)
        for i, gain in enumerate(gains):
            seed = 2 * i + number
            rows += [row("original", seed, one["O"]), row("experienced", seed, one["E"], seat)]
            rows.append(row("fresh", seed, one["E"] - gain, seat))
    (line,) = lines(rows)
    screen = next(r for r in published["table_1"]["rows"] if r["setting"].endswith("L3"))
    for seat in ("initiator", "responder"):
        found = summary(line.gain(seat).values())
        assert (found.n, near(found.mean, said[seat]["gain"])) == (5, True)
        assert found.low == pytest.approx(said[seat]["gain_ci"][0], abs=0.011)
        assert found.high == pytest.approx(said[seat]["gain_ci"][1], abs=0.011)
    assert line.whole() == list(range(10))
    assert summary(line.gain().values()).mean == pytest.approx(screen["gain"], abs=0.0051)
    assert summary(line.loss().values()).mean == pytest.approx(screen["loss"], abs=0.0151)
    for branch, name in (("original", "O"), ("experienced", "E"), ("fresh", "F")):
        assert fmean(line.scores(branch).values()) == pytest.approx(screen[name], abs=0.0051)


def test_the_five_episode_row_and_its_three_repetitions(published):
    row5 = next(r for r in published["table_2_reconstructed"]["rows"] if r["setting"] == "5 episodes (default)")
    rest = row5["loss_without_outliers"] + spread(row5["loss_without_outliers_ci"], 7) * next(vectors(7, seed=5))
    found = summary([*rest, *row5["outlier_reps"].values()])
    assert near(found.mean, row5["loss"])
    assert found.low == pytest.approx(row5["loss_ci"][0], abs=0.03)
    assert found.high == pytest.approx(row5["loss_ci"][1], abs=0.03)
    assert (row5["loss_initiator_reps"] + row5["loss_responder_reps"]) / 2 == pytest.approx(found.mean, abs=0.0051)


def test_what_formation_built_goes_where_the_paper_says(published):
    said = published["table_2_reconstructed"]
    rows = {r["setting"]: r for r in said["rows"]}
    none, ten = rows["0 episodes"], rows["10 episodes"]

    def line(o, e, f):
        seats = {"initiator": {"experienced": reps(e, e), "fresh": reps(f, f)}}
        return Line("kitchen-l3", "kitchen", "", "m", "m", reps(o, o), seats)

    parts = built(line(none["O"], none["E"], none["F"]), line(ten["O"], ten["E_derived"], ten["F_derived"]))
    means = {name: fmean(values.values()) for name, values in parts.items()}
    claims = said["text_claims"]
    assert means["built"] == pytest.approx(claims["formation_gain_after_10"])
    assert means["kept"] == pytest.approx(claims["kept_by_retained_notebook"])
    assert means["recovered"] == pytest.approx(claims["recovered_by_import"])
    assert means["left"] == pytest.approx(claims["left_with_member"])
    assert means["built"] == pytest.approx(means["kept"] + means["recovered"] + means["left"])


def test_table_s6_from_its_lines(published):
    table, rows, agreed = published["table_S6"], [], 0
    for one in table["rows"]:
        told = []
        for role in ("initiator", "responder"):
            for label in ("task", "partner", "drop"):
                for _ in range(one[role][label]):
                    other = "DROP" if label != "drop" and agreed < table["text"]["adjudicated"] else label.upper()
                    agreed += other != label.upper()
                    told.append({"role": role, "label": label.upper(), "labels": [label.upper(), other]})
        rows.append({"mode": "labels", "outcome": "scored", "seed": one["rep"], "data": {"lines": told}})
    found = composition([*rows, {"mode": "labels", "outcome": "unreadable", "data": {}}])
    whole = None
    for role, said in table["totals"].items():
        total = None
        for one in table["rows"]:
            mine = found[role][one["rep"]]
            assert (mine.lines, mine.task, mine.partner, mine.drop) == tuple(one[role].values())
            total = mine if total is None else total + mine
        assert (total.lines, total.task, total.partner, total.drop) == tuple(said.values())
        assert total.share("task") == pytest.approx(table["text"]["task_share_pct"][role], abs=0.051)
        assert total.share("partner") == pytest.approx(table["text"]["partner_share_pct"][role], abs=0.051)
        whole = total if whole is None else whole + total
    assert (whole.lines, whole.agreed, whole.drop) == (141, 121, 3)
    assert whole.share("agreed") == pytest.approx(table["text"]["agreement_pct"], abs=0.051)


def test_halves_and_rewording_by_hand():
    whole = two_seats([70, 72], [54, 55], [62, 60], [64, 66], [57, 60])
    more = {"initiator": {"task-half": reps(64, 61), "partner-half": reps(54, 54), "paraphrase": reps(69, 73)},
            "responder": {"task-half": reps(58, 60), "partner-half": reps(65, 66)}}  # fmt: skip
    line = replace(whole, seats={seat: {**whole.seats[seat], **more[seat]} for seat in whole.seats})
    found = {(c.seat, c.name): list(c.values.values()) for c in contrasts(line)}
    assert found["initiator", "gain of the task half"] == [2, 1]
    assert found["initiator", "task half - whole"] == [10, 6]
    assert found["responder", "partner half - whole"] == [1, 0]
    assert found["", "seat asymmetry, task half"] == [-1, -1]
    assert found["", "seat asymmetry, partner half"] == [16, 12]
    assert found["", "seat asymmetry, partner half - whole"] == [1, 1]
    assert found["initiator", "cost of rewording"] == [1, -1]
    assert ("responder", "cost of rewording") not in found


def test_what_a_condition_changes_is_paired_by_repetition():
    plain = two_seats([70, 72], [54, 55], [62, 60], [64, 66], [57, 60])
    told = two_seats([70, 72, 9], [60, 65, 9], [62, 60, 9], [64, 66, 9], [57, 60, 9])
    found = {(c.seat, c.name): c.values for c in changed(told, plain)}
    assert found["initiator", "loss"] == {0: -6, 1: -10}
    assert found["", "seat asymmetry"] == {0: -6, 1: -10}
    assert set(found["responder", "gain"].values()) == {0}


def test_loss_by_episode():
    def one(*scores):
        return Repetition(fmean(scores), 1, 1, 1, scores)

    seats = {"a": {"experienced": {0: one(50, 60), 1: one(40, 70)}}, "b": {"experienced": {0: one(70, 70)}}}
    line = Line("t", "kitchen", "", "m", "m", {0: one(70, 70), 1: one(80, 80)}, seats)
    assert line.by_episode() == {0: {0: 10.0}, 1: {0: 5.0}}  # repetition 1 lacks seat b
    line = replace(line, seats={"a": seats["a"]})
    assert line.by_episode() == {0: {0: 20.0, 1: 40.0}, 1: {0: 10.0, 1: 10.0}}


def test_costs_and_premiums_of_seats_by_hand():
    line = two_seats([70, 72], [54, 55], [62, 60], [64, 66], [57, 60])
    talks = {0: Repetition(0, 5, 20, 100), 1: Repetition(0, 10, 20, 100)}
    seats = {**line.seats, "initiator": {**line.seats["initiator"], "experienced": talks}}
    line = replace(line, seats=seats)
    assert line.cost("messages", "original", "initiator") == 2
    assert line.cost("messages", "experienced", "initiator") == 3
    assert line.premium("messages", "initiator") == pytest.approx(50)
    assert line.premium("messages") == pytest.approx(25)  # seats weigh the same
    assert line.change("messages", "initiator") == pytest.approx(100)


def test_pooling_takes_what_all_seats_have_or_what_each_has_alone():
    assert pooled_reps([[0, 1, 2], [1, 2, 3]]) == [1, 2]
    assert pooled_reps([[0, 2], [1, 3]]) == [0, 1, 2, 3]
    assert pooled_reps([[0, 2], []]) == []
    assert pooled_reps([[3, 1]]) == [1, 3]
    assert pooled_reps([]) == []


def test_seats_alternate_from_the_first_repetition_of_a_run():
    line = two_seats([70] * 4, [1] * 4, [0] * 4, [2] * 4, [0] * 4)
    assert line.alternating(1).whole("initiator") == [1, 3]
    assert line.alternating(0).whole("initiator") == [0, 2]
    assert line.alternating().alternating().whole() == [0, 1, 2, 3]


def test_a_sign_that_rounding_made_is_none():
    found = summary([0.1 + 0.2 - 0.3, 0.0])
    assert found.k == 2
    assert summary([1.0, 1.0]).sign == 0  # nothing varied: a width of zero is no evidence
    assert summary([1.0, 1.1]).sign == 1
    assert summary([-1.0, -1.1]).sign == -1
    assert summary([5.0]).sign == 0


@given(
    st.lists(st.tuples(points, points, points, points, points), min_size=3, max_size=8),
    st.sets(st.tuples(st.sampled_from(["original", "experienced", "fresh"]), st.booleans(), st.integers(0, 7))),
)
def test_means_and_contrasts_are_over_the_same_repetitions(reps_, gone):
    """However repetitions are missing, the loss of a seat is the difference of the means beside it, and n says of how
    many; a repetition with a hole is in none of them."""
    whole = two_seats(*(list(column) for column in zip(*reps_, strict=True)))
    out = {rep for branch, _, rep in gone if branch == "original"}
    seats = {
        seat: {
            branch: {rep: v for rep, v in there.items() if (branch, bool(number), rep) not in gone}
            for branch, there in whole.seats[seat].items()
        }
        for number, seat in enumerate(whole.seats)
    }
    line = replace(whole, original={r: v for r, v in whole.original.items() if r not in out}, seats=seats)
    if not line.original or not all(line.seats[s][b] for s in line.seats for b in line.seats[s]):
        return
    for seat in ("initiator", "responder"):
        left_ = [
            rep for rep in range(len(reps_))
            if rep in line.original and all(rep in line.seats[seat][b] for b in ("experienced", "fresh"))
        ]  # fmt: skip
        assert line.whole(seat) == left_ == list(line.loss(seat)) == list(line.gain(seat))
        if left_:
            o, e, f = (fmean(line.scores(b, seat).values()) for b in ("original", "experienced", "fresh"))
            assert fmean(line.loss(seat).values()) == pytest.approx(o - e, abs=1e-9)
            assert fmean(line.gain(seat).values()) == pytest.approx(e - f, abs=1e-9)
            assert {r: whole.loss(seat)[r] for r in left_} == line.loss(seat)
    assert list(line.asymmetry()) == [r for r in line.whole("initiator") if r in line.whole("responder")]


def test_contrasts_recover_what_was_put_in():
    """A study of many repetitions with known branch means: every contrast lies within its interval."""
    rng, truth = random.Random(11), {"O": 80, "Ei": 64, "Fi": 70, "Er": 75, "Fr": 66}
    draws = {name: [] for name in truth}
    for _ in range(400):
        shared_ = rng.gauss(0, 8)
        for name, value in truth.items():
            draws[name].append(value + shared_ + rng.gauss(0, 4))
    line = two_seats(draws["O"], draws["Ei"], draws["Fi"], draws["Er"], draws["Fr"])
    found = {(c.seat, c.name): c.summary for c in contrasts(line)}
    wanted = {
        ("initiator", "loss"): 16, ("initiator", "gain"): -6, ("responder", "loss"): 5, ("responder", "gain"): 9,
        ("", "loss"): 10.5, ("", "seat asymmetry"): 15, ("", "experienced term"): 11, ("", "fresh term"): 4,
    }  # fmt: skip
    for where, value in wanted.items():
        assert abs(found[where].mean - value) < 3 * found[where].sd / 20
        assert found[where].sd < 9  # what repetitions share is gone: its spread alone is 8, and differences double it
    assert stdev(draws["O"]) > 8
