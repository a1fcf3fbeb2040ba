"""Questions: the reader's checks, MedQA as published, our invented questions against a second solver, leaks."""

import json
import re
import unicodedata
from collections import Counter
from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tasks.worlds.medqa import OWN, PER_SPLIT, Question, assert_no_leak, dump, invent, load, own_questions

RECORD = {
    "id": "test-00007",
    "question": "A made-up sign is seen. Which one is it?",
    "options": {"A": "First", "B": "Second", "C": "Third", "D": "Fourth"},
    "answer_idx": "C",
    "answer": "Third",
    "split": "test",
}


def write(tmp_path, *records, name="questions.jsonl"):
    path = tmp_path / name
    path.write_text("".join((r if type(r) is str else json.dumps(r)) + "\n" for r in records), encoding="utf-8")
    return path


def changed(**fields):
    return {**RECORD, **fields}


# Reading --------------------------------------------------------------------------------------------------------------


def test_our_format(tmp_path):
    given_ = changed(figure_hint=True, meta_info="step1")
    assert load(write(tmp_path, given_)) == [
        Question("test-00007", RECORD["question"], RECORD["options"], "C", "test", True)
    ]


def test_the_format_of_authors_and_hub(tmp_path):
    record = {k: v for k, v in RECORD.items() if k not in ("id", "split")}
    record |= {"meta_info": "step2&3", "metamap_phrases": ["a sign", "made up"]}
    for name, split in [("phrases_no_exclude_train.jsonl", "train"), ("test.jsonl", "test"), ("dev.jsonl", "dev")]:
        found = load(write(tmp_path, record, changed(question="Another?", id="own"), name=name))
        assert [q.id for q in found] == [f"{split}-00000", "own"]
        assert [q.split for q in found] == [split, "test"]


def test_ids_count_lines_so_that_blank_ones_do_not_shift_them(tmp_path):
    record = {k: v for k, v in RECORD.items() if k != "id"}
    assert [q.id for q in load(write(tmp_path, record, "", record))] == ["test-00000", "test-00002"]


@pytest.mark.parametrize("stray", ['\n"', "\n", '  \n "  ', "\n”"])
def test_what_published_files_left_behind_options_is_removed(tmp_path, stray):
    options = {**RECORD["options"], "C": "Third" + stray}
    for answer in ("Third", "Third" + stray):
        found = load(write(tmp_path, changed(options=options, answer=answer)))[0]
        assert found.options["C"] == "Third"


def test_quotes_that_belong_to_an_option_stay(tmp_path):
    options = {**RECORD["options"], "A": 'He says "no"', "B": 'Two\n"lines" of it'}
    found = load(write(tmp_path, changed(options=options)))[0]
    assert (found.options["A"], found.options["B"]) == ('He says "no"', 'Two\n"lines" of it')


def test_options_come_by_label(tmp_path):
    options = dict(reversed(RECORD["options"].items()))
    assert [*load(write(tmp_path, changed(options=options)))[0].options] == ["A", "B", "C", "D"]


def test_a_byte_order_mark_is_no_fault(tmp_path):
    path = tmp_path / "q.jsonl"
    path.write_bytes(b"\xef\xbb\xbf" + json.dumps(RECORD).encode())
    assert load(path)[0].id == "test-00007"


@pytest.mark.parametrize(
    ("text", "has_figure"),
    [
        ("An ECG is shown. What next?", True),
        ("The findings are shown below. What next?", True),
        ("A lesion is seen (see image). What next?", True),
        ("Radiographs are obtained (Figures A and B). What next?", True),
        ("A photograph of the rash is taken. What next?", True),
        ("She exhibits a tremor. What next?", False),
        ("Cells that are shown by cytometry to grow. What next?", False),
        ("Imaging shows nothing. What next?", False),
        ("She cannot figure it out. What next?", False),
    ],
)
def test_figures_are_guessed_where_the_file_does_not_say(tmp_path, text, has_figure):
    assert load(write(tmp_path, changed(question=text)))[0].has_figure is has_figure
    assert load(write(tmp_path, changed(question=text, figure_hint=not has_figure)))[0].has_figure is not has_figure


# Refusing -------------------------------------------------------------------------------------------------------------

FAULTS = [
    (changed(answer_idx="E"), "answer_idx is 'E'; give one of the labels A, B, C, D"),
    (changed(answer_idx=2), "answer_idx is 2; give one of the labels"),
    (changed(answer_idx="c"), "answer_idx is 'c'"),
    (changed(answer_idx=None), "answer_idx is None"),
    (changed(answer_idx=["C"]), r"answer_idx is \['C'\]"),
    (changed(answer="Second"), "answer is 'Second', but option C is 'Third'; correct the one that is wrong"),
    (changed(answer=""), "answer is ''; give a text that is not empty"),
    (changed(question=" \n"), "question is ' .*give a text that is not empty"),
    (changed(question=7), "question is 7"),
    (changed(question="x" * 10_001), "question has 10001 characters; at most 10000"),
    (changed(question="\ud800"), "character 0 of question is half a surrogate pair"),
    (
        changed(options={**RECORD["options"], "A": "SECOND."}),
        "options A and B say the same, 'Second'; make them differ",
    ),
    (changed(options={**RECORD["options"], "A": "ﬁrst  x", "D": "First X"}), "options A and D say the same"),
    (changed(options={**RECORD["options"], "A": '\n"'}), "option A is empty"),
    (changed(options={**RECORD["options"], "A": "y" * 1001}), "A has 1001 characters"),
    (changed(options={**RECORD["options"], "E": "Fifth"}), "options are A, B, C, D, E, not A, B, C, D; take the file"),
    (changed(options={"A": "First", "B": "Second"}), "options are A, B, not A, B, C, D"),
    (changed(options={}), "options are empty"),
    (changed(options=["First", "Second", "Third", "Fourth"]), "options are list, not"),
    (changed(split="validation"), "split is 'validation'; give train, dev, test"),
    (changed(split=None), "split is None"),
    (changed(figure_hint="false"), "figure_hint is 'false'; give true or false"),
    (changed(id=""), "id is ''"),
    (changed(id=3), "id is 3"),
    ("[1, 2]", "a list, not an object"),
    ("{", "no JSON"),
    ('{"question": 1, "question": 2}', "'question' is given twice; keep one"),
    (json.dumps(RECORD)[:-1] + ', "options": {"A": "x", "A": "y"}}', "'A' is given twice"),
    ("[" * 5000 + "]" * 5000, "nested too deeply"),
    ('{"a": ' + "9" * 5000 + "}", "integer"),
    (" " * 100_001, "longer than 100000 bytes"),
]


@pytest.mark.parametrize(("record", "message"), FAULTS)
def test_faults_are_told_in_one_line_with_file_and_line(tmp_path, record, message):
    with pytest.raises(ValueError, match=message) as error:
        load(write(tmp_path, changed(id="first", question="Fine?"), record, name="mine.jsonl"))
    said = str(error.value)
    assert said.startswith("mine.jsonl, line 2: ")
    assert "\n" not in said
    assert len(said) < 250


def test_two_records_with_one_id(tmp_path):
    with pytest.raises(ValueError, match="line 3: id 'test-00007' is that of line 1 too; rename one"):
        load(write(tmp_path, RECORD, "", changed(question="Another?")))


def test_ids_that_share_only_their_digits_are_two(tmp_path):
    assert len(load(write(tmp_path, RECORD, changed(id="train-00007")))) == 2


def test_five_options_only_where_they_are_asked_for(tmp_path):
    path = write(tmp_path, changed(options={**RECORD["options"], "E": "Fifth"}))
    assert [*load(path, options=5)[0].options] == [*"ABCDE"]
    with pytest.raises(ValueError, match="not A, B, C, D, E; take a file with 5 options"):
        load(write(tmp_path, RECORD), options=5)


def test_a_file_without_a_split(tmp_path):
    record = {k: v for k, v in RECORD.items() if k != "split"}
    with pytest.raises(ValueError, match="split is None; give train, dev, test, or name the file after its split"):
        load(write(tmp_path, record, name="contest.jsonl"))


def test_bytes_that_are_no_text(tmp_path):
    path = tmp_path / "q.jsonl"
    path.write_bytes(b'{"question": "\xff"}')
    with pytest.raises(ValueError, match=r"q\.jsonl, line 1: byte 14 is not UTF-8; save the file as UTF-8"):
        load(path)


def test_files_that_are_not_there_or_empty(tmp_path):
    with pytest.raises(ValueError, match=r"no.jsonl: cannot be read \(No such file or directory\); give"):
        load(tmp_path / "no.jsonl")
    with pytest.raises(ValueError, match="cannot be read"):
        load(tmp_path)
    with pytest.raises(ValueError, match=r"empty\.jsonl: holds no question"):
        load(write(tmp_path, "", name="empty.jsonl"))


def test_too_many_questions(tmp_path, monkeypatch):
    monkeypatch.setattr("tasks.worlds.medqa.MOST_QUESTIONS", 2)
    with pytest.raises(ValueError, match="line 3: more than 2 questions; split the file"):
        load(write(tmp_path, *(changed(id=str(i)) for i in range(3))))


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from([*"ABCD", "x"]), inner, max_size=4),
    max_leaves=6,
)


@given(st.dictionaries(st.sampled_from([*RECORD]), json_values, min_size=1, max_size=2))
@settings(max_examples=200, deadline=None, derandomize=True, database=None)
def test_any_record_is_read_or_refused_in_one_line(tmp_path_factory, fields):
    path = tmp_path_factory.mktemp("q") / "q.jsonl"
    path.write_text(json.dumps(changed(**fields)))
    try:
        question = load(path)[0]
    except ValueError as error:
        assert re.fullmatch(r"q\.jsonl, line 1: [^\n]{5,220}", str(error)), str(error)  # noqa: PT017
        return
    assert question.answer in question.options
    assert len({option.casefold() for option in question.options.values()}) == 4


# MedQA as published ---------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def medqa():
    from conftest import shared

    return load(shared("data/medqa/test.jsonl"))


def test_the_test_split(medqa):
    assert len(medqa) == 1273
    assert Counter(q.answer for q in medqa) == {"A": 353, "B": 309, "C": 346, "D": 265}
    assert sum(q.has_figure for q in medqa) == 99
    assert {q.split for q in medqa} == {"test"}
    assert len({q.question for q in medqa}) == 1273
    assert medqa[0].id == "test-00000"
    assert not any('\n"' in option for q in medqa for option in q.options.values())


def test_the_training_questions(medqa, shared_path):
    training = load(shared_path("data/medqa/train_30.jsonl"))
    assert len(training) == 30
    assert {q.split for q in training} == {"train"}
    assert not {q.question for q in training} & {q.question for q in medqa}
    assert not {q.id for q in training} & {q.id for q in medqa}


def test_the_guess_of_figures_finds_those_marked_in_the_published_copy(medqa, tmp_path, shared_path):
    lines = shared_path("data/medqa/test.jsonl").read_text().splitlines()
    unmarked = [{k: v for k, v in json.loads(line).items() if k != "figure_hint"} for line in lines]
    guessed = load(write(tmp_path, *unmarked))
    both = sum(a.has_figure and b.has_figure for a, b in zip(medqa, guessed, strict=True))
    assert both == 99
    assert 99 <= sum(q.has_figure for q in guessed) <= 115  # the marks miss some, such as "(Figures A and B)"


def test_published_files_in_the_format_of_the_hub(medqa, tmp_path, shared_path):
    lines = shared_path("data/medqa/test.jsonl").read_text().splitlines()
    hub = []
    for line in lines:
        record = json.loads(line)
        record = {k: record[k] for k in ("question", "answer", "options", "meta_info", "answer_idx")}
        hub.append(record | {"metamap_phrases": ["phrase"] * 40})
    found = load(write(tmp_path, *hub, name="phrases_no_exclude_test.jsonl"))
    assert [replace(q, has_figure=False) for q in found] == [replace(q, has_figure=False) for q in medqa]


# Our questions --------------------------------------------------------------------------------------------------------


def words(listed):
    return [word for word in re.split(r", | and | or ", listed) if word]


def solve(text):
    """The text of the right option, worked out from the words of an invented question."""
    if "Which illness" in text:
        table = text.partition("The signs are these. ")[2].partition(" A patient shows")[0]
        signs = {name: words(listed) for name, listed in re.findall(r"([^:.]+): ([^.]+)\.", table)}
        shown = words(re.search(r"A patient shows (.+?), but not", text)[1])
        absent = words(re.search(r"but not (.+?)\. Which", text)[1])
        assert not {*shown} & {*absent}
        fitting = [name.strip() for name, three in signs.items() if not [sign for sign in three if sign not in shown]]
        assert len(signs) == 4
        assert all(len(three) == 3 for three in signs.values())
    elif "Which medicine" in text:
        order = words(re.search(r"may take: ([^.]+)\.", text)[1])
        bans = {name: trait for trait, name in re.findall(r"Whoever (.+?) must not take (\w+)\.", text)}
        illness = re.search(r"as on Earth, (.+?) is treated", text)[1]
        patient = words(re.search(rf"A patient with {illness} (.+?)\. Which", text)[1])
        fitting = [name for name in order if bans[name] not in patient][:1]
        assert {*bans} == {*order}
    elif "Which dose" in text:
        drops, most, stones = map(int, re.findall(r"\b\d+\b", text))
        halving = re.search(r"Whoever (.+?) gets half", text)[1]
        trait = re.search(r"stones and (.+?)\. Which", text)[1]
        dose = drops * stones / (2 if trait == halving else 1)
        assert dose == int(dose)
        fitting = [f"{int(min(most, dose))} drops"]
    else:
        points = re.search(r"counts points: ([^.]+)\.", text)[1]
        worth = {sign: int(number) for sign, number in re.findall(r"(?:^|, | and )(.+?) (\d)(?=,| and|$)", points)}
        shown = words(re.search(r"A patient shows (.+?) and nothing else", text)[1])
        total = sum(worth[sign] for sign in shown)
        wards = re.findall(r"to (the \w+ ward) with (?:up to (\d+)|more)", text)
        fitting = [ward for ward, limit in wards if not limit or total <= int(limit)][:1]
        assert len(worth) == 5
        assert len(wards) == 4
    assert len(fitting) == 1
    return fitting[0]


@pytest.mark.parametrize("question", own_questions(), ids=lambda q: q.id)
def test_an_invented_question_has_the_answer_that_its_rules_give(question):
    right = solve(question.question)
    assert [label for label, option in question.options.items() if option == right] == [question.answer]


def test_the_solver_tells_a_changed_question_apart():
    """So that the test above can fail."""
    question = next(q for q in own_questions() if "Which dose" in q.question)
    assert solve(question.question.replace("more than ", "more than 0")) == solve(question.question)
    assert solve(re.sub(r"more than \d+", "more than 1", question.question)) == "1 drops"


def test_invented_questions_are_balanced_and_enough_for_ten_repetitions():
    questions = own_questions()
    assert PER_SPLIT >= 50
    for split in ("train", "test"):
        part = [q for q in questions if q.split == split]
        assert len(part) == PER_SPLIT
        assert Counter(q.answer for q in part) == dict.fromkeys("ABCD", PER_SPLIT // 4)
        keys = "".join(q.answer for q in part)
        assert "ABCDABCD" not in keys
        assert not any(keys.startswith(keys[:n] * 3) for n in range(1, 13))
    assert len({q.question for q in questions}) == len({q.id for q in questions}) == 2 * PER_SPLIT
    assert not any(q.has_figure for q in questions)


def test_no_shortcut_answers_invented_questions():
    """Neither the longest or shortest option nor the first or last one told is right much more often than one in
    four."""
    questions = own_questions()
    tries = {
        "longest": lambda q: max(q.options, key=lambda label: len(q.options[label])),
        "shortest": lambda q: min(q.options, key=lambda label: len(q.options[label])),
        "first told": lambda q: min(q.options, key=lambda label: q.question.find(q.options[label])),
        "last told": lambda q: max(q.options, key=lambda label: q.question.find(q.options[label])),
    }
    for name, choose in tries.items():
        hits = sum(choose(q) == q.answer for q in questions)
        assert hits <= 0.45 * len(questions), name


def test_the_file_is_what_the_generator_makes():
    assert OWN.read_text(encoding="utf-8") == dump(invent())
    assert own_questions() == invent()
    assert own_questions() is not own_questions()


def test_the_file_is_plain_ascii_and_says_that_it_is_made_up():
    assert OWN.read_bytes().isascii()
    assert all("made-up moon" in q.question for q in own_questions())


@given(st.lists(st.text(st.characters(exclude_categories=("Cs",)), min_size=1, max_size=30), min_size=5, max_size=5))
@settings(max_examples=150, deadline=None, derandomize=True, database=None)
def test_what_is_dumped_is_read_back(tmp_path_factory, texts):
    texts = [f"{i}{text}".strip() for i, text in enumerate(texts)]
    texts = [text if "\n" not in text else "".join(text.split("\n")) for text in texts]
    texts = [text.strip() for text in texts]
    plain = {unicodedata.normalize("NFKC", text).casefold() for text in texts[1:]}
    if len(plain) < 4:
        return
    question = Question("q-1", texts[0], dict(zip("ABCD", texts[1:], strict=True)), "B", "dev", False)
    path = tmp_path_factory.mktemp("q") / "q.jsonl"
    path.write_text(dump([question]), encoding="utf-8")
    assert load(path) == [question]


# Leaks ----------------------------------------------------------------------------------------------------------------

TEMPLATES = {
    "analysis": (
        "You are specialist_1, a specialist in internal medicine in a medical multiple-choice team.\n"
        "PRIVATE NOTEBOOK\n{notebook}\nUse only the supplied labels. Do not use or request the reference answer.\n"
        'Return only: {{"answer": "one supplied option label", "explanation": "public explanation"}}\n'
        "QUESTION\n{question}\nANSWER OPTIONS\n{options}\nROUND 1\n"
    ),
    "decision": (
        "You are the coordinator. STATUS\nNot all reviewers agree. Another round is available (round 2 of 3).\n"
        "QUESTION\n{question}\n\nANSWER OPTIONS\n{options}\n\nTHREE REVIEWS\n{notebook}\n"
        "The label is one of A, B, C or D; the correct one is not known to you. Answer: a label and why.\n"
    ),
}
LAYOUTS = {
    "lines": lambda q: "\n".join(f"{label}. {option}" for label, option in q.options.items()),
    "brackets": lambda q: "\n".join(f"({label}) {option}" for label, option in q.options.items()),
    "bold": lambda q: "\n".join(f"**{label}.** {option}" for label, option in q.options.items()),
    "bullets": lambda q: "\n".join(f"* {label}) {option}" for label, option in q.options.items()),
    "table": lambda q: "\n".join(f"| {label} | {option} |" for label, option in q.options.items()),
    "after a heading": lambda q: "Options: " + "\n".join(f"{label}: {option}" for label, option in q.options.items()),
    "one line": lambda q: "; ".join(f"{label}: {option}" for label, option in q.options.items()),
    "json": lambda q: json.dumps(q.options, indent=1, ensure_ascii=False),
}
SPOKEN = "specialist_2: The correct answer is {key}, {right}, because it fits. Answer: {key}"


def rendered(question, template, layout, notebook=""):
    return TEMPLATES[template].format(
        question=question.question, options=LAYOUTS[layout](question), notebook=notebook or "(empty)"
    )


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("template", TEMPLATES)
def test_ordinary_prompts_do_not_leak(template, layout):
    for question in own_questions():
        assert_no_leak(rendered(question, template, layout), question)


@pytest.mark.parametrize("template", TEMPLATES)
def test_ordinary_prompts_of_published_questions_do_not_leak(template, medqa):
    alarms = []
    for question in medqa:
        try:
            assert_no_leak(rendered(question, template, "lines"), question)
        except ValueError as error:
            alarms.append(str(error))
    assert alarms == []


def test_models_may_argue_for_the_answer():
    for question in own_questions()[:20]:
        said = SPOKEN.format(key=question.answer, right=question.options[question.answer])
        prompt = rendered(question, "decision", "lines", said)
        assert_no_leak(prompt, question, [said])
        with pytest.raises(ValueError, match=f"question {question.id}: the prompt has the answer announced"):
            assert_no_leak(prompt, question)


@pytest.mark.parametrize(
    "said", ["A", "B", "D\n", ":", " ", ".", "Answer: {key}", "{key}", "{right}", "{key}: {right}"]
)
def test_what_little_models_say_does_not_make_a_prompt_look_leaky(said):
    for question in own_questions()[:20]:
        text = said.format(key=question.answer, right=question.options[question.answer])
        for layout in ("lines", "brackets"):
            assert_no_leak(rendered(question, "analysis", layout, text), question, [text, text])


def test_short_sayings_do_not_hide_a_leak():
    for question in own_questions()[:20]:
        prompt = f"{rendered(question, 'analysis', 'lines')}\nThe answer is {question.answer}"
        with pytest.raises(ValueError, match="announced"):
            assert_no_leak(prompt, question, [question.answer, "is", "answer"])


LEAKS = {
    "announced": "Answer: {key}",
    "announced in words": "The correct answer is {right}.",
    "field": '"answer_idx": "{key}"',
    "field of text": '"answer": "{right}"',
    "key": "key={key}",
    "gold": "Gold label -> {key}",
    "bold": "**Correct option:** **{key}**",
    "reference": "Reference answer ({key})",
    "called right": "{key} is correct",
    "called right in words": "{right} is the correct one",
    "told again": "Think of {right} above all.",
}


@pytest.mark.parametrize("leak", LEAKS)
@pytest.mark.parametrize("layout", LAYOUTS)
def test_leaks_are_found(leak, layout):
    for question in own_questions()[:12]:
        hint = LEAKS[leak].format(key=question.answer, right=question.options[question.answer])
        for prompt in (
            rendered(question, "analysis", layout) + hint + "\n",
            hint + "\n" + rendered(question, "analysis", layout),
            rendered(question, "analysis", layout, hint),
        ):
            with pytest.raises(ValueError, match=f"question {question.id}: the prompt"):
                assert_no_leak(prompt, question)


@pytest.mark.parametrize(
    "mark", ["{} ✓", "{} (correct)", "{} *", "**{}**", "* {}", "[x] {}", "{} <-- ", "{} (the key)", "-> {}", "{}!"]
)
def test_marked_options_are_found(mark):
    for question in own_questions()[:12]:
        lines = LAYOUTS["lines"](question).split("\n")
        at = [*question.options].index(question.answer)
        lines[at] = mark.format(lines[at])
        with pytest.raises(ValueError, match=r"marked|announced|otherwise"):
            assert_no_leak("\n".join([question.question, *lines]), question)


def test_a_marked_wrong_option_is_no_leak_of_the_answer():
    question = own_questions()[0]
    wrong = next(label for label in question.options if label != question.answer)
    assert_no_leak(f"{rendered(question, 'analysis', 'lines')}\nIt was first thought that {wrong} fits.", question)


@pytest.mark.parametrize(
    "words", ["Answer: A, B, C or D.", "Give the label A/B/C/D.", 'Return {{"answer": "A|B|C|D"}}', "Answer: A letter."]
)
def test_a_list_of_all_labels_is_no_leak(words):
    for question in own_questions()[:12]:
        assert_no_leak(f"{words}\n{rendered(question, 'analysis', 'lines')}", question)


def test_the_message_does_not_pass_the_leak_on_and_is_one_line():
    question = own_questions()[1]
    right = question.options[question.answer]
    with pytest.raises(ValueError) as error:
        assert_no_leak(f"{rendered(question, 'analysis', 'lines')}\nAnswer: {right}", question)
    assert right not in str(error.value).partition("after")[0]
    assert "\n" not in str(error.value)


def test_an_answer_within_another_option_is_no_leak():
    question = Question("q", "Which?", {"A": "Copper dust", "B": "Copper", "C": "Tin", "D": "Zinc"}, "B", "test", False)
    assert_no_leak("QUESTION\nWhich?\nA. Copper dust\nB. Copper\nC. Tin\nD. Zinc", question)
    with pytest.raises(ValueError, match="tells the answer again"):
        assert_no_leak("QUESTION\nWhich?\nA. Copper dust\nB. Copper\nC. Tin\nD. Zinc\nCopper!", question)


@given(st.text(max_size=200))
@settings(max_examples=200, deadline=None, derandomize=True, database=None)
def test_any_prompt_is_looked_through(prompt):
    try:
        assert_no_leak(prompt, own_questions()[0], [prompt[:5], ""])
    except ValueError as error:
        assert str(error).startswith("question own-train-00000")  # noqa: PT017
