"""What the swap says: every number follows from stored rows, a run that broke its rules is told so, hostile text stays
in its box, and verdicts say nothing that intervals do not."""

import copy
import json
import random
import re
from dataclasses import replace
from html.parser import HTMLParser
from pathlib import Path

import pytest

from collabtax.cells import Cell
from collabtax.chat import Completion
from collabtax.report.files import visible
from collabtax.session import Session
from collabtax.settings import settings
from collabtax.statistics.swap import lines as lines_of_rows
from collabtax.study import get_study
from collabtax.swap.configuration import Configuration
from collabtax.swap.findings import FEW, findings, verdict
from collabtax.swap.invariants import violations
from collabtax.swap.study import NOTICE
from collabtax.swap.team import digest
from collabtax.swap.told import SwapTold

ROOT = Path(__file__).resolve().parents[1]
SEATS = ("initiator", "responder")
BRANCHES = ("experienced", "fresh", "task-half", "partner-half", "paraphrase")
ATTACK = (
    '</pre></ol></main><script>alert(1)</script><img src=x onerror=alert(1)> " \' "onmouseover="x {{ 7 * 7 }} &lt; '
    "| ` \x1b[31mred \x00 \u202egnp.exe \u2066 \ud800"
)
TAGS = re.findall(
    r"\w+",
    "html head meta title link body header nav main section article h1 h2 h3 p a span b strong bdi code pre ul ol li "
    "dl dt dd table thead tbody tr th td details summary figure figcaption svg g path circle text rect use defs desc "
    "polyline div",
)


# --- rows of a whole study as it is stored, with scores as given


def row(mode, models, condition, seed, score, **data):
    return {
        "study": "swap", "task": "kitchen-l3", "family": "kitchen", "mode": mode, "models": list(models), "seed": seed,
        "condition": condition, "settings": "s", "said": {}, "versions": {}, "outcome": "scored",
        "score": score / 100, "success": True, "reason": "", "error": "", "turns": [], "usage": {"prompt": 10,
        "completion": 2}, "cost": 0.0, "data": data,
    }  # fmt: skip


def episode(task, score, messages=8):
    return {
        "task": task, "score": score, "progress": 4, "most": 16, "steps": 9, "messages": messages, "tokens": 80,
        "ended": "done", "invalid": 0, "retries": 0,
        "detail": {"events": {"initiator": ["pickup(a,b)"], "responder": ["deliver_soup()"]}, "tes": {"initiator": 1.0,
        "responder": 0.5}, "delivered": True, "actions": [["wait(1)", "wait(1)"]]},
    }  # fmt: skip


def branch(mode, models, condition, seed, score, **data):
    episodes = [episode(f"order {i}", score + shift) for i, shift in enumerate((-1.0, 1.0))]
    sums = {what: sum(e[what] for e in episodes) for what in ("progress", "messages", "tokens")}
    return row(mode, models, condition, seed, score, episodes=episodes, **sums, **data)


def books(model, seed, team):
    return {
        role: f"1. order 0 takes an onion\n2. my partner {team}{seed} says {model} to the {role}\nheading"
        for role in SEATS
    }


def results(score, n=10, model="m", newcomer="", branches=BRANCHES, seats=SEATS, condition=""):
    """The cells of one team and their rows by repetition; `score(mode, seat, seed)` in points."""
    newcomer, found = newcomer or model, {}
    configuration = Configuration.of(condition)

    def add(one, mode, models, where, seed):
        cell = Cell("swap", "kitchen-l3", "kitchen", mode, models, where)
        found.setdefault(cell, {})[seed] = one

    for seed in range(n):
        for name in dict.fromkeys((model, newcomer)):
            teams = []
            for team, scores in (("A", [60.0, 70.0]), ("B", [50.0, 60.0])):
                held = books(name, seed, team)
                teams.append({
                    "notebooks": held, "hashes": {r: digest(t) for r, t in held.items()}, "scores": scores, "cut": 0,
                    "episodes": [episode(f"order {i}", s) for i, s in enumerate(scores)],
                })  # fmt: skip
            where = configuration.formed.condition
            formed = row("formation", [name], where, seed, 65.0, teams=teams, receiver=0, donor=1)
            add(formed, "formation", (name,), where, seed)
            told = [
                {"id": f"{role}-{i}", "role": role, "text": text, "label": label, "labels": [label, other]}
                for role in SEATS
                for i, (text, label, other) in enumerate(
                    zip(books(name, seed, "B")[role].split("\n"), ("TASK", "PARTNER", "DROP"),
                        ("TASK", "PARTNER", "TASK"), strict=True), 1)
            ]  # fmt: skip
            add(row("labels", [name], where, seed, 100.0, lines=told), "labels", (name,), where, seed)
        own, donated = books(model, seed, "A"), books(newcomer, seed, "B")
        hashed = {role: digest(text) for role, text in own.items()}
        original = configuration.unswapped.condition
        one = branch("original", [model], original, seed, score("original", "", seed), seat="", notebooks=hashed,
                     notices={}, installed="")  # fmt: skip
        add(one, "original", (model,), original, seed)
        for seat in seats:
            parts = donated[seat].split("\n")
            texts = {
                "experienced": donated[seat], "fresh": "", "task-half": parts[0], "partner-half": parts[1],
                "paraphrase": "in other words",
            }  # fmt: skip
            for mode in branches:
                models = (model,) if mode == "paraphrase" else (model, newcomer)
                notices = {} if mode == "paraphrase" else {seat: NOTICE.format(role=seat)}
                where = replace(configuration, seat=seat).condition
                one = branch(mode, models, where, seed, score(mode, seat, seed), seat=seat, notices=notices,
                             notebooks={**hashed, seat: digest(texts[mode])}, installed=texts[mode])  # fmt: skip
                add(one, mode, models, where, seed)
    return list(found.items())


TRUTH = {  # the paper's case: a leader is worse off with a donor's notebook, a follower better
    ("original", ""): 80, ("experienced", "initiator"): 64, ("fresh", "initiator"): 72, ("task-half", "initiator"): 73,
    ("partner-half", "initiator"): 64, ("paraphrase", "initiator"): 80, ("experienced", "responder"): 74,
    ("fresh", "responder"): 67, ("task-half", "responder"): 68, ("partner-half", "responder"): 74,
    ("paraphrase", "responder"): 80,
}  # fmt: skip


def known(truth=TRUTH, noise=1.0, seed=0):
    def score(mode, seat, repetition):
        return truth[mode, seat] + noise * random.Random(f"{seed}/{mode}/{seat}/{repetition}").gauss(0, 1)

    return score


def given(**more):
    return settings({"model": ["sim/mate"], "study": ["swap"], **more}, ROOT)


def rows_of(found):
    return [one for _, rows in found for one in rows.values() if one is not None]


# --- a run played by a scripted chat, through session and store


class Scripted:
    """Members that wait and talk; their notebooks and messages are hostile, and the first team says more."""

    async def complete(self, model, asked):
        system, user = (m["content"] for m in asked.request()["messages"])
        if "PARTNER:" in system:
            text = json.dumps({key: ("TASK", "PARTNER", "DROP")[i % 3] for i, key in enumerate(json.loads(user))})
        elif "rewrite your private notebook" in system:
            text = f"1. {ATTACK}\n2. the other one waits\n\n3. {len(user) % 7}"
        elif "in other words" in system:
            text = f"differently {ATTACK}"
        else:
            text = json.dumps({"action": "wait(1)", "message": ATTACK, "rationale": ""})
        return Completion(text, "stop", {"prompt": 10, "completion": 3}, 0.0, 0.0)

    async def aclose(self):
        pass


@pytest.fixture(scope="module")
def played(tmp_path_factory):
    """Results and settings of a run of all branches, two repetitions."""
    folder = tmp_path_factory.mktemp("swap")
    session = Session(
        {"study": ["swap"], "model": ["sim/mate"], "rollouts": 2, "episodes": 2, "task": ["kitchen-l1"],
         "mode": ["original", *BRANCHES], "run": str(folder / "run"), "cassettes": str(folder / "c")}, ROOT,
    )  # fmt: skip
    session._chat = Scripted()
    cells = session.settings.cells("swap")
    for cell in cells:
        assert session.run_cell(cell, lambda rollout: None) == []
    rows = session.store.consolidate()
    session.close()
    return [(c, {seed: rows[key] for seed, key in session.keys(c).items()}) for c in cells], session.settings


# --- what must hold


def test_a_run_holds_to_its_rules(played):
    rows = rows_of(played[0])
    assert len(rows) == 2 * (3 + 2 * len(BRANCHES))
    assert violations(rows) == []
    assert violations(rows_of(results(known()))) == []
    two = rows_of(results(known(), newcomer="n", branches=BRANCHES[:4], n=1))
    assert violations(two) == []
    unannounced = rows_of(results(known(), condition="no-notice", n=1))  # and yet there are notices
    assert len(violations(unannounced)) == 2 * 4


def other(mode, seat="initiator", seed=1):
    """Finds a row of a run."""

    def pick(rows):
        return next(
            r for r in rows
            if r["mode"] == mode and r["seed"] == seed and r["condition"] in ("", *((seat,) if seat else ()))
        )  # fmt: skip

    return pick


BREAKS = {  # what is done to which row -> what is said of it
    "another notebook of who stays": (
        other("fresh"), lambda r: r["data"]["notebooks"].update(responder=digest("x")),
        "the responder, who stays, is not the one that was frozen",
    ),
    "a notice in the original": (
        other("original"), lambda r: r["data"].update(notices={"initiator": "You are new"}),
        "a notice went to initiator; it belongs to nobody",
    ),
    "no notice to the newcomer": (
        other("experienced"), lambda r: r["data"].update(notices={}), "a notice went to nobody; it belongs to initiator"
    ),
    "a notice to all": (
        other("task-half"), lambda r: r["data"]["notices"].update(responder="new"), "a notice went to initiator, res",
    ),
    "a notice in other words": (
        other("fresh"), lambda r: r["data"].update(notices={"initiator": "hello"}), "in the words agreed",
    ),
    "a notice with the same words in a paraphrase": (
        other("paraphrase"), lambda r: r["data"].update(notices={"initiator": NOTICE.format(role="initiator")}),
        "belongs to nobody",
    ),
    "another task": (
        other("fresh", "responder"), lambda r: r["data"]["episodes"][0].update(task="another"),
        "evaluated on other tasks than",
    ),
    "a task less": (
        other("fresh"), lambda r: r["data"]["episodes"].pop(), "evaluated on other tasks than",
    ),
    "a notebook written": (
        other("experienced"), lambda r: r["turns"].append({"kind": "notebook"}), "notebooks were written 1 times",
    ),
    "a fresh newcomer with a notebook": (
        other("fresh"), lambda r: r["data"].update(installed="x"), "the fresh initiator has a notebook",
    ),
    "the receiver's notebook for the donor's": (
        other("experienced"), lambda r: r["data"]["notebooks"].update(initiator=digest("x")),
        "the experienced initiator has not the donor's notebook",
    ),
    "a line too much in a half": (
        other("task-half"), lambda r: r["data"].update(installed=r["data"]["installed"] + "\nmore"),
        "the task-half is not the lines of the donor's initiator with the label TASK",
    ),
    "a line less among the labels": (
        other("labels"), lambda r: r["data"]["lines"].pop(0), "each once and in order",
    ),
    "a line changed among the labels": (
        other("labels"), lambda r: r["data"]["lines"][0].update(text="changed"), "each once and in order",
    ),
    "another label than both labellers'": (
        other("labels"), lambda r: r["data"]["lines"][0].update(label="PARTNER"), "does not follow from those",
    ),
    "a notebook changed after it was frozen": (
        other("formation"), lambda r: r["data"]["teams"][0]["notebooks"].update(initiator="changed"),
        "the notebook of team A's initiator is not the one that was frozen",
    ),
    "a notebook over the budget": (
        other("formation"), lambda r: r["data"]["teams"][1].update(
            notebooks={**r["data"]["teams"][1]["notebooks"], "initiator": "onion " * 1200},
            hashes={**r["data"]["teams"][1]["hashes"], "initiator": digest("onion " * 1200)}),
        "more than 1000 tokens",
    ),
    "the worse team receives": (
        other("formation"), lambda r: r["data"]["teams"][0].update(scores=[0.0, 0.0]), "the receiver is not the team",
    ),
    "teams formed on different tasks": (
        other("formation"), lambda r: r["data"]["teams"][0]["episodes"][0].update(task="x"), "on different tasks",
    ),
    "another seat": (
        other("fresh"), lambda r: r["data"].update(seat="responder"), "another member is replaced than in",
    ),
    "a member less": (
        other("original"), lambda r: r["data"]["notebooks"].pop("responder"), "other members than the one that was",
    ),
    "a sum that is none": (
        other("original"), lambda r: r["data"].update(messages=1), "the messages of the branch are not the sum",
    ),
    "a score that is no mean": (
        other("original"), lambda r: r.update(score=0.1), "the score of the branch is not the mean",
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", BREAKS)
def test_what_is_broken_is_told(name):
    pick, damage, said = BREAKS[name]
    rows = rows_of(results(known(), n=2))
    damage(pick(rows))
    found = violations(rows)
    assert any(said in line for line in found), found
    assert all("repetition 1" in line for line in found)


def test_nothing_formed_means_nothing_to_hold():
    empty = {role: digest("") for role in SEATS}
    rows = rows_of(results(known(), n=1, condition="formation-0", branches=("experienced", "fresh")))
    for one in rows:
        if one["mode"] == "formation":
            for team in one["data"]["teams"]:
                team.update(notebooks=dict.fromkeys(SEATS, ""), hashes=dict(empty), scores=[], episodes=[])
        elif one["mode"] != "labels":
            one["data"].update(notebooks=dict(empty), installed="")
    rows = [one for one in rows if one["mode"] != "labels"]
    assert violations(rows) == []
    formed_less = [one for one in rows if one["mode"] != "formation"]
    assert violations(formed_less) == []
    other("experienced")(
        [{**one, "seed": 1, "condition": one["condition"].removesuffix("-formation-0")} for one in formed_less]
    )["data"]["notebooks"].update(initiator=digest("x"))
    assert any("though nothing was formed" in line for line in violations(formed_less))


def test_what_stays_is_compared_across_branches_even_without_the_formation():
    rows = [one for one in rows_of(results(known(), n=1)) if one["mode"] not in ("formation", "labels")]
    assert violations(rows) == []
    other("fresh", seed=0)(rows)["data"]["notebooks"].update(responder=digest("x"))
    assert any("the responder, who stays, has another notebook than in" in line for line in violations(rows))


def test_who_is_told_of_a_newcomer():
    """Where those who stay are told and the newcomer is not, a line to the newcomer is one too many."""
    rows = rows_of(results(known(), n=1, condition="no-notice-told", branches=("experienced",), seats=SEATS[:1]))
    swapped = next(one for one in rows if one["mode"] == "experienced")
    told = "The initiator seat has a new member: this is the first episode that it plays with your team."
    swapped["data"]["notices"] = {"responder": told}
    assert violations(rows) == []
    swapped["data"]["notices"] = {"responder": told, "initiator": told}
    assert len(violations(rows)) == 1


def test_rollouts_without_a_score_break_nothing():
    rows = rows_of(results(known(), n=1))
    for one in rows:
        one.update(outcome="infrastructure", score=None, data={})
    assert violations(rows) == []


# --- what is told


def test_terminal_numbers_are_those_of_the_rows(played):
    told = SwapTold(*played)
    text = "\n".join(told.lines({"kitchen-l1-x": 3}))
    (line,) = lines_of_rows(rows_of(played[0]))
    for seat in SEATS:
        row_ = next(x for x in text.splitlines() if re.match(rf"kitchen-l1 +sim/mate +{seat} ", x)).split()
        loss, gain = (sum(v.values()) / len(v) for v in (line.loss(seat), line.gain(seat)))
        assert row_[2] == seat
        assert (row_[6], row_[9]) == (f"{loss + 0.0:+.2f}", f"{gain + 0.0:+.2f}")
        assert row_[-1] == "2"
    assert "planned 26 = scored 26" in text
    assert "kitchen-l1-x 3" in text
    assert "fewer than 5 repetitions" in text
    assert "Simulated models" in text
    assert text.isascii()
    assert all(" " <= c <= "~" or c == "\n" for c in text)


def test_known_effects_give_these_words():
    found = findings(results(known()), given())
    (one,) = found.found
    said = found.verdicts(one)
    assert said["initiator"].startswith("drop its partner lines (+")
    assert said["responder"].startswith("keep the notebook (+")
    assert "; the team still loses" in said["responder"]
    assert "chance" not in "".join(said.values())
    assert not found.violations
    assert not found.warnings
    for (mode, seat), value in TRUTH.items():
        got = one.line.scores(mode, seat or "initiator")
        assert abs(sum(got.values()) / 10 - value) < 1.5
    assert one.of("", "seat asymmetry").low < 15 < one.of("", "seat asymmetry").high
    assert abs(one.of("", "experienced term").mean - 10) < 1.5


def test_without_halves_a_harmful_notebook_is_emptied():
    found = findings(results(known(), branches=("experienced", "fresh")), given())
    said = found.verdicts(found.found[0])
    assert said["initiator"].startswith("empty its notebook (+")
    assert said["responder"].startswith("keep the notebook")


def test_a_half_that_is_worse_than_nothing_is_not_advised():
    truth = {**TRUTH, ("experienced", "initiator"): 40, ("task-half", "initiator"): 50}
    line = lines_of_rows(rows_of(results(known(truth))))[0]
    assert verdict(line, "initiator")[0].startswith("empty its notebook")


@pytest.mark.parametrize("seed", range(5))
def test_without_an_effect_nothing_is_advised_for_sure(seed):
    """Noise alone: what an interval lets through by chance is said to be chance."""
    truth = dict.fromkeys(TRUTH, 70)
    found = findings(results(known(truth, noise=5, seed=seed)), given())
    for said in found.verdicts(found.found[0]).values():
        assert said.startswith("too few repetitions to say") or "may be chance" in said


def test_equal_values_are_no_evidence():
    line = lines_of_rows(rows_of(results(known(noise=0), n=3)))[0]
    assert verdict(line, "responder")[0].startswith("too few repetitions to say")


def test_the_order_of_rows_and_seeds_changes_nothing(tmp_path):
    plain = results(known(), n=4)
    mixed = [(cell, dict(random.Random(1).sample(sorted(rows.items()), len(rows)))) for cell, rows in plain]
    one, other_ = (SwapTold(found, given()) for found in (plain, mixed))
    assert one.lines({}) == other_.lines({})
    for told, folder in ((one, "a"), (other_, "b")):
        told.write(tmp_path / folder, {"index.html": "one-seat swap"})
    files = sorted(p.relative_to(tmp_path / "a") for p in (tmp_path / "a").rglob("*.*") if p.suffix != ".parquet")
    assert len(files) > 5
    for path in files:
        assert (tmp_path / "a" / path).read_bytes() == (tmp_path / "b" / path).read_bytes(), path


def test_what_is_missing_is_said_and_left_out():
    found = results(known(), n=6)
    for cell, rows in found:
        if cell.mode == "fresh" and cell.condition == "responder":
            rows[2].update(outcome="infrastructure", score=None, error="503", data={})
        if cell.mode == "experienced" and cell.condition == "initiator":
            rows[4] = None
        if cell.mode == "task-half" and cell.condition == "initiator":
            rows[0].update(outcome="unreadable", score=0.0, reason="labels of nothing", data={})
    told = findings(found, given())
    (one,) = told.found
    assert [row.n for row in one.seats] == [5, 5, 4]
    assert one.of("initiator", "gain of the task half").n == 4
    text = "\n".join((*told.warnings, *told.notes))
    assert "left out of its numbers" in text
    assert "responder: left out of its numbers, as not every branch was scored there: repetition 2" in text
    assert "1 rollout could not be run" in text
    assert "labels could not be read" in text
    assert "labels of nothing" in text
    assert "1 rollout of the plan were not run" in text
    assert told.counts.planned == 6 * 13
    assert "DOES NOT ADD UP" not in told.counts.line


def test_few_repetitions_and_no_progress_are_warned_of():
    assert not any("fewer than" in w for w in findings(results(known(), n=FEW), given()).warnings)
    assert any("fewer than" in w for w in findings(results(known(), n=FEW - 1), given()).warnings)
    found = results(known(), n=5)
    for one in rows_of(found):
        if one["mode"] == "experienced" and one["seed"] == 0:
            one["data"]["progress"] = 0
            for e in one["data"]["episodes"]:
                e["progress"] = 0
    told = findings(found, given())
    assert any("no premium for kitchen-l3, m" in w for w in told.warnings)
    assert told.found[0].seats[0].n == 5
    assert told.found[0].seats[0].costs["messages"][2] is None


def test_a_broken_rule_is_the_first_thing_said(tmp_path):
    found = results(known(), n=5)
    other("original")(rows_of(found))["data"].update(notices={"initiator": "x"})
    told = SwapTold(found, given())
    assert told.lines({})[0].startswith("WARNING: 1 thing that must hold of every swap does not")
    assert "a notice went to initiator" in told.lines({})[1]
    told.write(tmp_path, {"index.html": "one-seat swap"})
    assert "broken: kitchen-l3-original-m" in (tmp_path / "index.html").read_text()


def test_conditions_are_told_beside_the_plain_line():
    changed = {**TRUTH, ("experienced", "initiator"): 74}
    found = results(known(), n=6) + [
        pair for pair in results(known(changed), n=6, condition="told") if pair[0].mode not in ("formation", "labels")
    ]
    merged = {}
    for cell, rows in found:
        merged.setdefault(cell, rows)
    for cell, rows in merged.items():
        for one in rows.values():
            if "told" in cell.condition:
                seat, stays = SEATS if one["data"]["seat"] == "initiator" else SEATS[::-1]
                if one["data"]["notices"]:
                    one["data"]["notices"][stays] = (
                        f"The {seat} seat has a new member: this is the first episode that it plays with your team."
                    )
    told = SwapTold(list(merged.items()), given())
    assert told.findings.violations == ()
    text = told.lines({})
    assert any(re.match(r"told +kitchen-l3 +m +initiator ", line) for line in text)
    change = next(line for line in text if re.match(r"kitchen-l3 +told +m +initiator +loss ", line))
    assert -11 < float(change.split()[5]) < -9


def test_seats_that_alternate_are_pooled_over_all_repetitions():
    found = results(known(), n=8)
    for cell, rows in found:
        seat = Configuration.of(cell.condition).seat
        for seed in list(rows):
            if seat and seed % 2 != SEATS.index(seat):
                del rows[seed]
    told = findings(found, given(seat="alternate"))
    assert [row.n for row in told.found[0].seats] == [4, 4, 8]
    assert not any("left out" in note for note in told.notes)
    assert told.found[0].of("", "seat asymmetry").n == 0


def test_teams_of_two_models_have_lines_of_their_own():
    found = results(known(), n=5, model="m") + results(known(), n=5, model="m", newcomer="n", branches=BRANCHES[:4])
    merged = {}
    for cell, rows in found:
        merged.setdefault(cell, rows)
    told = SwapTold(list(merged.items()), given())
    assert told.findings.violations == ()
    assert [one.team for one in told.findings.found] == ["m", "m -> n"]
    assert any("m -> n: replace the responder: keep the notebook" in line for line in told.lines({}))


def test_markdown(played):
    found = results(known(), n=5, model="<script>|`x")
    text = "\n".join(SwapTold(found, given()).markdown(["```", "changed"]))
    assert text.startswith("## One-seat swap")
    assert "<script>" not in text
    assert "'''" in text
    table = [line for line in text.splitlines() if line.startswith("| ")]
    assert {line.count("|") for line in table if "initiator" in line and "loss" not in line} <= {8, 13}
    assert "- kitchen-l3" in text
    assert SwapTold(*played).markdown([])[0] == "## One-seat swap"


# --- pages


class Page(HTMLParser):
    """What a page holds."""

    def __init__(self, source):
        super().__init__()
        self.tags, self.attributes, self.links, self.words = set(), set(), [], ""
        self.open = []
        self.feed(source)
        assert not self.open

    def handle_starttag(self, tag, attrs):
        self.tags.add(tag)
        self.attributes |= {name for name, _ in attrs}
        self.links += [value for name, value in attrs if name in ("href", "src")]
        if tag not in ("meta", "link"):
            self.open.append(tag)

    def handle_startendtag(self, tag, attrs):
        self.handle_starttag(tag, attrs)
        self.open.pop()

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        self.words += data


@pytest.fixture(scope="module")
def report(played, tmp_path_factory):
    folder = tmp_path_factory.mktemp("report")
    SwapTold(*played).write(folder, {"index.html": "collaboration tax", "swap.html": "one-seat swap"})
    return folder


def test_pages_hold_hostile_text_in_their_boxes(report):
    pages = [report / "swap.html", *sorted((report / "swap").glob("*.html"))]
    assert len(pages) == 3
    assert not (report / "index.html").exists()  # another study's
    for path in pages:
        source = path.read_text(encoding="utf-8")
        page = Page(source.replace("<!doctype html>", ""))
        assert page.tags <= set(TAGS), page.tags - set(TAGS)
        assert not {name for name in page.attributes if name.startswith("on") or name == "style"}
        assert "\u202e" not in source
        assert "default-src 'none'" in source
        for link in page.links:
            file = link.partition("#")[0]
            if file and not file.endswith(("rollouts.html", "index.html")):  # written by others
                assert (path.parent / file).exists(), link
    words = Page(pages[1].read_text(encoding="utf-8").replace("<!doctype html>", "")).words
    assert " ".join(visible(ATTACK.replace("\ud800", "?")).split())[:60] in " ".join(words.split())


def test_a_repetition_shows_both_notebooks_their_labels_and_what_was_told(report, played):
    rows = rows_of(played[0])
    formed = next(r for r in rows if r["mode"] == "formation" and r["seed"] == 1)["data"]
    labels = next(r for r in rows if r["mode"] == "labels" and r["seed"] == 1)["data"]["lines"]
    page = next((report / "swap").glob("*-0001.html")).read_text(encoding="utf-8")
    for which in ("receiver", "donor"):
        for hashed in formed["teams"][formed[which]]["hashes"].values():
            assert f"<code>{hashed}</code>" in page
    for label in ("TASK", "PARTNER", "DROP"):
        assert page.count(f">{label}</b>") == sum(line["label"] == label for line in labels)
    told = Page(page.replace("<!doctype html>", "")).words
    assert told.count(NOTICE.format(role="initiator")) == 4  # experienced, fresh and both halves
    assert told.count("No notice.") == 3  # the original and two paraphrases
    assert "wait(1)" not in told  # waiting is no event of a kitchen
    assert "← before" in told


def test_first_page_has_the_numbers_of_the_terminal(tmp_path):
    told = SwapTold(results(known(), n=5), given())
    told.write(tmp_path, {"index.html": "one-seat swap"})
    words = " ".join(Page((tmp_path / "index.html").read_text().replace("<!doctype html>", "")).words.split())
    for line in told.lines({}):
        if line.startswith("kitchen-l3, m: replace"):
            assert line in words
    for row_ in told.findings.found[0].seats:
        assert f"{row_.loss.mean:+.2f}" in words
    assert "checked on every stored branch" in words
    swapped = (tmp_path / "swap" / "kitchen-l3-swap-m-0003.html").read_text(encoding="utf-8")
    own, donors = swapped.split("The donor’s notebook")[:2]
    assert "my partner A3 says m to the initiator" in own
    assert "my partner B3 says m to the initiator" in donors
    assert "my partner B3" not in own
    assert {p.name for p in (tmp_path / "figures" / "swap").iterdir()} >= {"swap.svg", "swap.csv", "swap.pdf"}


def test_pages_of_an_earlier_report_go_and_those_of_others_stay(tmp_path):
    told = SwapTold(results(known(), n=2), given())
    told.write(tmp_path, {"index.html": "one-seat swap"})
    assert len(list((tmp_path / "swap").glob("*.html"))) == 2
    (tmp_path / "swap" / "mine.html").write_text("mine")
    SwapTold(results(known(), n=1), given()).write(tmp_path, {"index.html": "one-seat swap"})
    assert {p.name for p in (tmp_path / "swap").glob("*.html")} == {"kitchen-l3-swap-m-0000.html", "mine.html"}
    (tmp_path / "swap.css").write_text("mine")
    with pytest.raises(FileExistsError):
        told.write(tmp_path, {"index.html": "one-seat swap"})


def test_a_run_without_a_comparison_says_so(tmp_path):
    found = [pair for pair in results(known(), n=2) if pair[0].mode in ("formation", "original")]
    told = SwapTold(found, given())
    assert "nothing to compare" in "\n".join(told.lines({}))
    told.write(tmp_path, {"index.html": "one-seat swap"})
    assert (tmp_path / "index.html").exists()


def test_the_study_uses_it(played):
    told = get_study("swap").told(*copy.deepcopy(played))
    assert isinstance(told, SwapTold)
    assert (told.name, told.title) == ("swap", "one-seat swap")
