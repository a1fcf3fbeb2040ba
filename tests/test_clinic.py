"""The four-agent team: order of speaking, the rule for stopping, what each may read, replies as models write them."""

import json
import os
import random
import re
import subprocess
import sys
import time
import xml.etree.ElementTree as ElementTree
from dataclasses import replace
from itertools import pairwise, permutations, product

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pettingzoo.test import parallel_api_test

from graders.tokens import count
from tasks.worlds.clinic import COORDINATOR, INVALID, PHASES, WAIT, Clinic, ClinicState, Reply, read_reply
from tasks.worlds.medqa import Question, assert_no_leak, own_questions
from tasks.worlds.parallel import env

QUESTION = Question("q-1", "Which one?", {"A": "One", "B": "Two", "C": "Three", "D": "Four"}, "B", "test", False)
WORLD = Clinic((QUESTION,))
SPECIALISTS = ("specialist_1", "specialist_2", "specialist_3")
AGENTS = (*SPECIALISTS, COORDINATOR)


def team(*actions):
    return dict(zip(SPECIALISTS, actions, strict=True))


def round_(analyses, synthesis, reviews, decision):
    """The actions of a round, a mapping for each phase."""
    return [team(*analyses), {COORDINATOR: synthesis}, team(*reviews), {COORDINATOR: decision}]


def play(*phases, world=WORLD, state=None):
    state = state or world.initial(0)
    for actions in phases:
        state = world.step(state, actions)
    return state


AGREED = round_(["answer(A)", "answer(B)", "answer(B)"], "answer(B)", ["agree(B)"] * 3, "answer(B)")
SPLIT = round_(
    ["answer(A)", "answer(B)", "answer(C)"], "answer(B)", ["disagree(A)", "agree(B)", "agree(B)"], "answer(A)"
)


# Order of speaking and the end ----------------------------------------------------------------------------------------


def test_agreement_ends_after_a_round():
    state = play(*AGREED)
    assert WORLD.is_over(state)
    assert not WORLD.is_cut(state)
    assert (WORLD.answer(state), WORLD.score(state), WORLD.messages(state)) == ("B", 100, (8,))
    with pytest.raises(ValueError, match="the episode has ended"):
        WORLD.step(state, {})


def test_disagreement_goes_on_to_the_third_round_and_no_further():
    state = play(*SPLIT, *SPLIT)
    assert not WORLD.is_over(state)
    assert (state.round, state.phase, WORLD.answer(state)) == (3, "analyse", "")
    state = play(*SPLIT, state=state)
    assert WORLD.is_over(state)
    assert (WORLD.answer(state), WORLD.score(state), WORLD.messages(state)) == ("A", 0, (8, 8, 8))


def test_the_decision_of_the_last_round_counts():
    assert WORLD.answer(play(*SPLIT, *AGREED)) == "B"
    late = round_(["answer(B)"] * 3, "answer(B)", ["agree(B)"] * 3, "answer(D)")  # against everybody
    state = play(*SPLIT, *late)
    assert WORLD.is_over(state)
    assert (WORLD.answer(state), WORLD.score(state)) == ("D", 0)


def test_agreement_with_other_labels_is_agreement_and_the_decision_wins():
    state = play(*round_(["answer(C)"] * 3, "answer(A)", ["agree(B)", "agree(C)", "agree(D)"], "answer(B)"))
    assert WORLD.is_over(state)
    assert (WORLD.answer(state), WORLD.score(state)) == ("B", 100)


def test_disagreement_with_the_same_label_is_disagreement():
    state = play(*round_(["answer(B)"] * 3, "answer(B)", ["agree(B)", "agree(B)", "disagree(B)"], "answer(B)"))
    assert not WORLD.is_over(state)
    assert not WORLD.agreed(state, 1)


@pytest.mark.parametrize("silent", [INVALID, WAIT, "answer(B)", "agree(E)"])
def test_a_review_that_cannot_be_read_is_no_agreement(silent):
    wide = Clinic((QUESTION, replace(QUESTION, id="q-2", options={**QUESTION.options, "E": "Five"})))
    state = play(*round_(["answer(B)"] * 3, "answer(B)", ["agree(B)", silent, "agree(B)"], "answer(B)"), world=wide)
    assert not wide.is_over(state)
    assert wide.messages(state) == (7,)


def test_a_decision_that_cannot_be_read_is_wrong_and_stays_in():
    bad = [*AGREED[:3], {COORDINATOR: INVALID}]
    state = play(*bad)
    assert WORLD.is_over(state)
    assert (WORLD.answer(state), WORLD.score(state), WORLD.messages(state)) == ("", 0, (7,))
    state = play(*AGREED[:1], {}, {}, {})
    assert not WORLD.is_over(state)
    assert WORLD.messages(state) == (3,)
    assert WORLD.messages(WORLD.initial(0)) == ()


def test_the_rule_for_stopping_against_its_words():
    """All agreements and disagreements of three rounds: over after the first round in which all three agree."""
    for votes in product(product([True, False], repeat=3), repeat=3):
        last = next((number for number, vote in enumerate(votes) if all(vote)), 2)
        state = WORLD.initial(0)
        for number, vote in enumerate(votes[: last + 1]):
            assert not WORLD.is_over(state)
            reviews = ["agree(B)" if yes else "disagree(B)" for yes in vote]
            state = play(*round_(["answer(A)"] * 3, "answer(C)", reviews, f"answer({'ABC'[number]})"), state=state)
        assert WORLD.is_over(state)
        assert WORLD.answer(state) == "ABC"[last]
        assert WORLD.messages(state) == (8,) * (last + 1)


def test_only_the_agents_of_the_phase_act():
    state, acting = WORLD.initial(0), []
    for actions in AGREED:
        acting.append((state.round, state.phase, WORLD.acting(state)))
        state = WORLD.step(state, actions)
    assert acting == [
        (1, "analyse", SPECIALISTS),
        (1, "synthesise", (COORDINATOR,)),
        (1, "review", SPECIALISTS),
        (1, "decide", (COORDINATOR,)),
    ]
    assert WORLD.acting(state) == ()


def test_speaking_out_of_turn_or_in_the_wrong_form_has_no_effect():
    state = WORLD.initial(0)
    after = WORLD.step(state, {**AGREED[0], COORDINATOR: "answer(A)"})
    assert after.said == play(AGREED[0]).said
    assert WORLD.feedback(after, COORDINATOR).startswith("answer(A) was rejected: it is not your turn in the phase")
    after = WORLD.step(state, team("agree(A)", "answer(A)", "disagree(A)"))
    assert after.said == ((WAIT, "answer(A)", WAIT),)
    assert "agree is not for the phase analyse, where you answer" in WORLD.feedback(after, "specialist_1")
    assert WORLD.feedback(after, "specialist_2") == ""
    assert (
        WORLD.feedback(WORLD.step(state, team(INVALID, WAIT, WAIT)), "specialist_1") == "Your reply could not be read."
    )


def test_legal_actions_by_phase():
    state, legal = WORLD.initial(0), []
    for actions in AGREED:
        legal.append((WORLD.legal(state, "specialist_2"), WORLD.legal(state, COORDINATOR)))
        state = WORLD.step(state, actions)
    answers = tuple(f"answer({label})" for label in "ABCD")
    votes = tuple(f"{verb}({label})" for verb in ("agree", "disagree") for label in "ABCD")
    assert legal[0] == ((WAIT, *answers, INVALID), (WAIT,))
    assert legal[1] == ((WAIT,), (WAIT, *answers, INVALID))
    assert legal[2] == ((WAIT, *votes, INVALID), (WAIT,))
    assert legal[3] == ((WAIT,), (WAIT, *answers, INVALID))
    assert WORLD.actions("specialist_1") == (WAIT, *answers, *votes, INVALID)


def test_the_reward_comes_with_the_last_decision():
    state, rewards = WORLD.initial(0), []
    for actions in (*SPLIT, *AGREED):
        after = WORLD.step(state, actions)
        rewards.append(WORLD.rewards(state, after)["specialist_3"])
        state = after
    assert rewards == [0] * 7 + [1]
    assert WORLD.progress(WORLD.initial(0), state) == 1


def test_two_rounds_of_two_specialists():
    world = Clinic((QUESTION,), specialties=("x", "y"), rounds=2)
    phases = [
        {"specialist_1": "answer(A)", "specialist_2": "answer(A)"},
        {COORDINATOR: "answer(A)"},
        {"specialist_1": "agree(A)", "specialist_2": "disagree(B)"},
        {COORDINATOR: "answer(A)"},
    ]
    state = play(*phases, *phases, world=world)
    assert world.is_over(state)
    assert world.messages(state) == (6, 6)


# What each may read ---------------------------------------------------------------------------------------------------


def test_what_is_visible_when():
    state = WORLD.initial(0)
    seen = {}
    for actions in (*SPLIT, *AGREED[:3]):
        for agent in WORLD.acting(state):
            seen[state.round, state.phase, agent] = WORLD.visible(state, agent)
        state = WORLD.step(state, actions)
    seen[2, "decide", COORDINATOR] = WORLD.visible(state, COORDINATOR)
    first = tuple(
        (1, phase, who)
        for phase in PHASES
        for who in (SPECIALISTS if phase in ("analyse", "review") else (COORDINATOR,))
    )
    for agent in SPECIALISTS:
        assert seen[1, "analyse", agent] == ()
        assert seen[1, "review", agent] == tuple(
            item for item in first if item in ((1, "analyse", agent), (1, "synthesise", COORDINATOR))
        )
        assert seen[2, "analyse", agent] == first  # upstream shows nothing of earlier rounds here
        assert seen[2, "review", agent] == (*first, (2, "analyse", agent), (2, "synthesise", COORDINATOR))
    assert seen[1, "synthesise", COORDINATOR] == first[:3]
    assert seen[1, "decide", COORDINATOR] == (first[3], *first[4:7])
    assert seen[2, "synthesise", COORDINATOR] == (*first, *((2, "analyse", agent) for agent in SPECIALISTS))
    assert seen[2, "decide", COORDINATOR] == (
        *first,
        (2, "synthesise", COORDINATOR),
        *((2, "review", agent) for agent in SPECIALISTS),
    )
    assert len(WORLD.visible(play(*SPLIT, *AGREED), "specialist_1")) == 16


def test_the_others_analyses_of_a_round_change_nothing_for_a_specialist():
    for analyses in permutations(["answer(A)", "answer(C)"]):
        one = play(team("answer(D)", *analyses))
        assert WORLD.observe(one, "specialist_1") == WORLD.observe(play(team("answer(D)", WAIT, WAIT)), "specialist_1")
    assert WORLD.observe(play(*AGREED[:2]), "specialist_1").count("answer(A)") == 1  # its own


def test_the_second_round_reads_the_first():
    text = WORLD.observe(play(*SPLIT), "specialist_3")
    assert "Round 2 of 3, phase analyse. You are a specialist in radiology. It is your turn." in text
    assert "Round 1, analyse, specialist_1: answer(A)" in text
    assert "Round 1, review, specialist_1: disagree(A)" in text
    assert "Round 1, decide, coordinator: answer(A)" in text


def test_the_coordinator_is_told_how_things_stand():
    assert WORLD.status(play(*AGREED[:3])) == "All reviewers agree. Another round is available (round 1 of 3)."
    assert WORLD.status(play(*SPLIT[:3])) == "Not all reviewers agree. Another round is available (round 1 of 3)."
    state = play(*SPLIT, *SPLIT, *SPLIT[:3])
    assert WORLD.status(state) == "Not all reviewers agree. No further round is available (round 3 of 3)."
    assert WORLD.status(state) in WORLD.observe(state, COORDINATOR)
    assert WORLD.status(state) not in WORLD.observe(state, "specialist_1")


def test_observation_by_hand():
    assert WORLD.observe(play(AGREED[0]), COORDINATOR).splitlines() == [
        "Which one?",
        "A: One",
        "B: Two",
        "C: Three",
        "D: Four",
        "Round 1 of 3, phase synthesise. You are the coordinator. It is your turn.",
        "Round 1, analyse, specialist_1: answer(A)",
        "Round 1, analyse, specialist_2: answer(B)",
        "Round 1, analyse, specialist_3: answer(B)",
    ]


def test_nothing_tells_the_key():
    """The same episode with every other key looks the same to everybody."""
    rng = random.Random(2)
    for key in "ACD":
        other = Clinic((replace(QUESTION, answer=key),))
        state = WORLD.initial(0)
        while not WORLD.is_over(state):
            for agent in AGENTS:
                assert WORLD.observe(state, agent) == other.observe(state, agent)
                assert WORLD.legal(state, agent) == other.legal(state, agent)
            state = WORLD.step(state, {agent: rng.choice(WORLD.legal(state, agent)) for agent in WORLD.acting(state)})
        assert [WORLD.observe(state, a) for a in AGENTS] == [other.observe(state, a) for a in AGENTS]
    for question in own_questions():
        world = Clinic((question,))
        for agent in AGENTS:
            assert_no_leak(world.observe(world.initial(0), agent), question)


# Questions and the contract -------------------------------------------------------------------------------------------


def test_seeds_go_through_the_questions():
    world = Clinic(tuple(own_questions()))
    assert [world.initial(seed).question for seed in (0, 1, 120, 121)] == ["own-train-00000", "own-train-00001"] * 2
    assert world.begin("own-test-00003").question == "own-test-00003"
    assert world.question(world.begin("own-test-00003")).split == "test"
    with pytest.raises(ValueError, match="no question 'test-00003'; it is none of the 120 given"):
        world.begin("test-00003")


def test_questions_with_more_options():
    wide = replace(QUESTION, id="q-2", options={**QUESTION.options, "E": "Five"}, answer="E")
    world = Clinic((QUESTION, wide))
    assert "answer(E)" in world.actions("specialist_1")
    assert "answer(E)" not in world.legal(world.begin("q-1"), "specialist_1")
    assert "answer(E)" in world.legal(world.begin("q-2"), "specialist_1")
    assert "E is no label of this question; choose one of A, B, C, D" in world.refusal(
        world.begin("q-1"), "specialist_1", "answer(E)"
    )


def test_worlds_that_cannot_be():
    for fields in (
        {"questions": ()},
        {"questions": (QUESTION,), "rounds": 0},
        {"questions": (QUESTION,), "specialties": ()},
    ):
        with pytest.raises(ValueError, match="are the least"):
            Clinic(**fields)
    with pytest.raises(ValueError, match="two questions have the same id"):
        Clinic((QUESTION, QUESTION))


@pytest.mark.parametrize(
    ("actions", "message"),
    [
        ({"specialist_4": WAIT}, "'specialist_4' does not act"),
        ({COORDINATOR: "agree(A)"}, "no action of coordinator"),
        ({"specialist_1": "answer(E)"}, "no action of specialist_1"),
        ({"specialist_1": ""}, "no action"),
    ],
)
def test_what_a_step_must_not_be_given(actions, message):
    with pytest.raises(ValueError, match=message):
        WORLD.step(WORLD.initial(0), actions)


def test_pettingzoo_takes_it(capsys):
    world = Clinic(tuple(own_questions()))
    parallel_api_test(env(world), num_cycles=60)
    space = env(world).observation_space(COORDINATOR)
    assert all(space.contains(world.observe(world.initial(seed), COORDINATOR)) for seed in range(120))


def wander(world, seed):
    """States of random play with legal and illegal actions."""
    rng, states = random.Random(seed), [world.initial(seed)]
    while not world.is_over(states[-1]):
        acts = {}
        for agent in world.agents:
            legal = world.legal(states[-1], agent)
            if rng.random() < 0.9:
                acts[agent] = rng.choice(legal if rng.random() < 0.8 else world.actions(agent))
        states.append(world.step(states[-1], acts))
    return states


@given(st.integers(0, 10**6))
@settings(max_examples=80, deadline=None, derandomize=True, database=None)
def test_random_play_keeps_the_rules(seed):
    world = Clinic(tuple(own_questions()[:10]))
    states = wander(world, seed)
    assert len(states) - 1 in (4, 8, 12)
    last = states[-1]
    assert not any(map(world.is_cut, states))
    assert sum(world.messages(last)) <= 2 * (len(states) - 1)
    assert world.score(last) in (0, 100)
    assert sum(world.rewards(*pair)[COORDINATOR] for pair in pairwise(states)) == (world.score(last) / 100)
    for before, after in pairwise(states):
        assert after.said[:-1] == before.said
        assert len(after.said[-1]) == (3 if before.phase in ("analyse", "review") else 1)


def test_the_order_of_agents_does_not_matter():
    state = WORLD.initial(0)
    for actions in (*SPLIT, *AGREED):
        one = WORLD.step(state, actions)
        assert WORLD.step(state, dict(reversed(actions.items()))) == one
        state = one
    for order in permutations(range(3)):  # seats turned: labels turn with them, the answer stays
        turned = [
            team(*([*actions.values()][i] for i in order)) if len(actions) == 3 else actions
            for actions in (*SPLIT, *AGREED)
        ]
        other = play(*turned)
        assert WORLD.answer(other) == WORLD.answer(state)
        assert other.heard(1, "review") == tuple(state.heard(1, "review")[i] for i in order)


@pytest.mark.parametrize("looks", [0, 1, 5])
def test_looking_changes_nothing(looks):
    state = WORLD.initial(0)
    for actions in AGREED:
        for _ in range(looks):
            assert len({WORLD.observe(state, "specialist_1") for _ in range(2)}) == 1
            WORLD.draw(state)
        state = WORLD.step(state, actions)
    assert state == play(*AGREED)
    assert state == ClinicState("q-1", play(*AGREED).said, ("",) * 4)


TRAJECTORY = """
import hashlib, random
from tasks.worlds.clinic import Clinic
from tasks.worlds.medqa import own_questions
digest = hashlib.sha256()
world = Clinic(tuple(own_questions()))
for seed in range(20):
    rng, state = random.Random(seed), world.initial(seed)
    while not world.is_over(state):
        state = world.step(state, {a: rng.choice(world.legal(state, a)) for a in world.agents})
        digest.update((repr(state) + "".join(world.observe(state, a) for a in world.agents)).encode())
        digest.update(world.draw(state).encode())
print(digest.hexdigest())
"""


def test_every_process_plays_the_same_game():
    found = set()
    for seed in ("0", "1", "4242"):
        environment = {**os.environ, "PYTHONHASHSEED": seed}
        done = subprocess.run([sys.executable, "-c", TRAJECTORY], env=environment, capture_output=True, check=True)
        found.add(done.stdout)
    assert len(found) == 1
    assert len(found.pop().strip()) == 64


def test_drawing_is_xml_and_escaped():
    hostile = Clinic((replace(QUESTION, id='"><script>x</script>\x00'),))
    root = ElementTree.fromstring(hostile.draw(play(*SPLIT, *AGREED, world=hostile)))
    assert root.get("aria-label") == 'question "><script>x</script>\ufffd, 2 rounds: the team answered B; right is B'
    tag = "{http://www.w3.org/2000/svg}"
    boxes = [rect.get("class") for rect in root.findall(f"{tag}rect")]
    assert len(boxes) == 16
    assert boxes.count("right") == 4 + 7
    assert "unfinished" in WORLD.draw(WORLD.initial(0))


# Replies --------------------------------------------------------------------------------------------------------------

LABELS = ("A", "B", "C", "D")


@pytest.mark.parametrize(
    "text",
    [
        '{"answer": "B", "explanation": "It fits."}',
        '```json\n{"answer": "B", "explanation": "It fits."}\n```',
        'Here it is {as asked}:\n{ "answer" : " b " , "explanation" : " It fits. " }\nThank you {all}.',
        '{"explanation": "It fits.", "answer": "B", "confidence": 0.9, "notes": {"answer": "A", "explanation": ""}}',
        '<think>Is it {"answer": "A", "explanation": "No."}?</think>{"answer": "B", "explanation": "It fits."}',
        '{"answer": "B", "explanation": "It fits."}}',
        '{"answer": "B", "explanation": "It fits.", "seed": ' + "9" * 5000 + "}",
    ],
)
def test_answers_are_read(text):
    reply = read_reply("analyse", text, LABELS)
    assert reply == Reply("B", "It fits.")
    assert reply.action == "answer(B)"
    assert reply.published == "B\nIt fits."


def test_reviews_are_read():
    reply = read_reply("review", '{"agree": true, "answer": "C", "reason": "Yes."}', LABELS)
    assert (reply.action, reply.published) == ("agree(C)", "true\nC\nYes.")
    reply = read_reply("review", '{"agree": false, "answer": "C", "reason": "No."}', LABELS)
    assert (reply.action, reply.published) == ("disagree(C)", "false\nC\nNo.")
    assert count(reply.published) == 6


@pytest.mark.parametrize(
    "value", ['"true"', '"false"', '"yes"', "1", "0", "null", "[]", '["true"]', '"I do not agree, true enough"', "1.0"]
)
def test_agreement_is_a_json_boolean_or_nothing(value):
    reply = read_reply("review", f'{{"agree": {value}, "answer": "C", "reason": "r"}}', LABELS)
    assert reply == "agree must be the JSON value true or false, without quotes"
    missing = read_reply("review", '{"answer": "C", "reason": "yes, I agree, true"}', LABELS)
    assert missing == reply


@pytest.mark.parametrize("phase", PHASES)
@pytest.mark.parametrize("label", ['"E"', '"B. Two"', '"AB"', '"A or B"', '""', "2", "null", '["B"]', "true", '"Ｂ"'])
def test_labels_are_among_the_options_or_nothing(phase, label):
    text = f'{{"agree": true, "answer": {label}, "explanation": "e", "reason": "r"}}'
    assert read_reply(phase, text, LABELS) == "answer must be one of the labels A, B, C, D"


COMPLAINTS = [
    ("", "no JSON object"),
    ("I answer B.", "no JSON object"),
    ("['B']", "no JSON object"),
    ("{'answer': 'B', 'explanation': 'x'}", "no JSON object"),
    ('{"answer": "B", "explanation": "x"', "no well-formed JSON object"),
    ('{"answer": "B" "explanation": "x"} {"answer": "A", "explanation": "y"}', "no well-formed"),
    ('{"answer": "B", "explanation": "x"} {"answer": "B", "explanation": "x"}', "several JSON objects"),
    ('{"answer": "B", "explanation": "x"}\n{}', "several JSON objects"),
    ('{answer: "C", then: {"answer": "B", "explanation": "x"}}', "inside braces that are not JSON"),
    ('{"answer": "A", "answer": "B", "explanation": "x"}', "'answer' is given twice"),
    ('{"answer": "B", "explanation": "x", "more": {"a": 1, "a": 2}}', "'a' is given twice"),
    ('{"answer": "B"}', "explanation must be a text"),
    ('{"answer": "B", "reason": "x"}', "explanation must be a text"),
    ('{"answer": "B", "explanation": ["x"]}', "explanation must be a text"),
    ('{"answer": "B", "explanation": 5}', "explanation must be a text"),
    ('{"a":' * 50_000, "longer than|nested too deeply"),
    ('{"a":' * 19_000, "nested too deeply"),
    ("{" * 90_000, "no JSON object"),
    ('{"' * 45_000, "no well-formed"),
    ("{ " * 45_000 + '"', "inside braces|no JSON object"),
    ("x" * 100_001, "longer than 100000 characters"),
]


@pytest.mark.parametrize(("text", "complaint"), COMPLAINTS)
def test_complaints(text, complaint):
    start = time.perf_counter()
    said = read_reply("synthesise", text, LABELS)
    assert time.perf_counter() - start < 5
    assert isinstance(said, str)
    assert re.search(complaint, said), said
    assert "\n" not in said
    assert len(said) < 150


def test_texts_are_kept_as_they_are_but_writable():
    hostile = "</script>{{ 7*7 }} \u202e ../../etc/passwd\x00"
    reply = read_reply("decide", json.dumps({"answer": "A", "explanation": hostile}), LABELS)
    assert reply.text == hostile
    reply = read_reply("decide", '{"answer": "A", "explanation": "half \\ud800 pair"}', LABELS)
    assert reply.text == "half ? pair"
    assert reply.published.encode()
    reply = read_reply("decide", '{"answer": "A", "explanation": "two\nlines"}', LABELS)
    assert reply.text == "two\nlines"
    assert read_reply("decide", '{"answer": "A", "explanation": ""}', LABELS) == Reply("A", "")


def test_there_is_no_fifth_phase():
    with pytest.raises(ValueError, match="phase 'vote' is none of analyse, synthesise, review, decide"):
        read_reply("vote", "{}", LABELS)


@given(
    st.sampled_from(PHASES),
    st.sampled_from(LABELS),
    st.text(max_size=50),
    st.booleans(),
    st.text("`json\n Ok.", max_size=12),
)
@settings(max_examples=200, deadline=None, derandomize=True, database=None)
def test_what_is_asked_for_is_read_whatever_stands_around(phase, label, text, agree, around):
    record = {"answer": label, "explanation": text}
    if phase == "review":
        record = {"agree": agree, "answer": label, "reason": text}
    reply = read_reply(phase, f"{around}{json.dumps(record)}{around}", LABELS)
    assert isinstance(reply, Reply)
    assert (reply.answer, reply.text, reply.agree) == (label, text.strip(), agree if phase == "review" else None)
    wanted = {"review": "agree" if agree else "disagree"}.get(phase, "answer")
    assert reply.action == f"{wanted}({label})"
    assert reply.action in WORLD.actions("specialist_1" if phase in ("analyse", "review") else COORDINATOR)


@given(st.text(max_size=80) | st.text('{}":,[]tru eAB\\n', max_size=60), st.sampled_from(PHASES))
@settings(max_examples=500, deadline=None, derandomize=True, database=None)
def test_any_text_is_read_or_complained_about(text, phase):
    reply = read_reply(phase, text, LABELS)
    assert isinstance(reply, Reply) or (reply and "\n" not in reply)


# The published table --------------------------------------------------------------------------------------------------


def test_the_rule_of_messages_reproduces_the_published_costs():
    """Messages for each right answer, times accuracy, are messages for each question: 8 a round, and little more than a
    round, as a team has whose reviewers nearly always agree (swap paper, table 2)."""
    accuracy = {"original": 0.9071, "experienced": 0.8842}
    published = {"original": 8.83, "experienced": 9.29}
    rounds = {branch: published[branch] * accuracy[branch] / 8 for branch in published}
    assert rounds["original"] == pytest.approx(1.0, abs=0.005)
    assert rounds["experienced"] == pytest.approx(1.027, abs=0.002)
    one, two = sum(WORLD.messages(play(*AGREED))), sum(WORLD.messages(play(*SPLIT, *AGREED)))
    more = round(1000 * (rounds["experienced"] - 1))
    mean = (one * (1000 - more) + two * more) / 1000
    assert mean / accuracy["experienced"] == pytest.approx(published["experienced"], abs=0.01)
