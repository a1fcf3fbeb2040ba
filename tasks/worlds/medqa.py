"""Multiple-choice questions: a strict reader of MedQA files (Jin et al. 2021) and invented questions that need no
download.

The invented ones are about illnesses, signs and medicines that do not exist: each is solvable by the rules in its text,
none states anything about medicine.
"""

from __future__ import annotations

import json
import random
import re
import unicodedata
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any

from tasks.base import seeded

LABELS = "ABCDEFGHIJ"
SPLITS = ("train", "dev", "test")
OWN = Path(__file__).with_name("questions.jsonl")

MOST_QUESTIONS = 20_000  # the whole of MedQA has 12,723
LONGEST_LINE = 100_000  # bytes of a record
LONGEST_QUESTION = 10_000  # characters; the longest of the test split has 3,543
LONGEST_OPTION = 1_000

STRAY = re.compile(r"""\s*\n\s*["”]?\s*$""")  # what the published files left behind some options (jind11/MedQA#5)
FIGURE = re.compile(  # words by which a question points to a picture that the files do not hold
    r"\b(?:is|are|as|was|and) shown\b(?! by)|\bshown (?:below|above|in the)\b"
    r"|\bsee (?:the )?(?:image|figure|picture|photo)"
    r"|\b(?:image|figure|exhibit)s? (?:[a-e]|\d|below|above)\b(?<!exhibits a)"
    r"|\b(?:figure|image|picture|exhibit|photograph|photomicrograph|graph|diagram) (?:below|above|shown)\b"
    r"|\bphoto\w*graph (?:of|from)\b|\bphotomicrograph from\b",
    re.IGNORECASE,
)


@dataclass(frozen=True)
class Question:
    """A question with its options by label; `answer` is the label of the right one, `has_figure` whether the text
    points to a picture that is not there (a guess by words)."""

    id: str
    question: str
    options: dict[str, str] = field(hash=False)
    answer: str
    split: str
    has_figure: bool


def load(path: Path | str, options: int = 4) -> list[Question]:
    """The questions of a JSON lines file, in its order: ours, the authors' or the hub's (docs/medqa.md).

    Args:
        options: how many each question has; the swap paper uses the files with four.

    Raises:
        ValueError: with one line that names the file, the line, what was expected and the remedy.
    """
    path = Path(path)
    found: list[Question] = []
    seen: dict[str, int] = {}
    try:
        with path.open("rb") as lines:
            number = 0
            while line := lines.readline(LONGEST_LINE + 1):
                number += 1
                if not line.strip() and len(line) <= LONGEST_LINE:
                    continue
                try:
                    if len(found) >= MOST_QUESTIONS:
                        raise ValueError(f"more than {MOST_QUESTIONS} questions; split the file")
                    question = _read(line, path.stem, number, options)
                    if question.id in seen:
                        raise ValueError(
                            f"id {_shown(question.id)} is that of line {seen[question.id]} too; rename one"
                        )
                except ValueError as error:
                    raise ValueError(f"{path.name}, line {number}: {error}") from error
                seen[question.id] = number
                found.append(question)
    except OSError as error:
        reason = error.strerror or type(error).__name__
        raise ValueError(f"{path.name}: cannot be read ({reason}); give a JSON lines file of questions") from error
    if not found:
        raise ValueError(f"{path.name}: holds no question; give a JSON lines file with one question a line")
    return found


def _read(line: bytes, stem: str, number: int, count: int) -> Question:
    """The question of one line; ValueError says what is wrong with it."""
    if len(line) > LONGEST_LINE:
        raise ValueError(f"longer than {LONGEST_LINE} bytes; give one question a line")
    try:
        record = json.loads(line.decode("utf-8-sig"), object_pairs_hook=once)
    except RecursionError as error:
        raise ValueError("nested too deeply; give one flat JSON object a line") from error
    except UnicodeDecodeError as error:
        raise ValueError(f"byte {error.start} is not UTF-8; save the file as UTF-8") from error
    except json.JSONDecodeError as error:
        raise ValueError(f"no JSON ({error.msg} at character {error.pos}); give one JSON object a line") from error
    if type(record) is not dict:
        raise ValueError(f"a {type(record).__name__}, not an object; give one JSON object a line")
    text = _text(record, "question", LONGEST_QUESTION).strip()
    options = _options(record.get("options"), count)
    answer = record.get("answer_idx")
    if type(answer) is not str or answer not in options:
        raise ValueError(f"answer_idx is {_shown(answer)}; give one of the labels {', '.join(options)}")
    right = STRAY.sub("", _text(record, "answer", LONGEST_OPTION)).strip()
    if right != options[answer]:
        shown = _shown(options[answer])
        raise ValueError(f"answer is {_shown(right)}, but option {answer} is {shown}; correct the one that is wrong")
    split = record.get("split", next((s for s in SPLITS if s in re.split("[^a-z]+", stem.lower())), None))
    if split not in SPLITS:
        raise ValueError(f"split is {_shown(split)}; give {', '.join(SPLITS)}, or name the file after its split")
    name = _text(record, "id", 100).strip() if "id" in record else f"{split}-{number - 1:05}"
    figure = record.get("figure_hint", FIGURE.search(text) is not None)
    if type(figure) is not bool:
        raise ValueError(f"figure_hint is {_shown(figure)}; give true or false, or leave it out")
    return Question(name, text, options, answer, split, figure)


def once(pairs: Sequence[tuple[str, Any]]) -> dict[str, Any]:
    """A JSON object from its fields, each of which may be given once (an `object_pairs_hook`)."""
    known = dict(pairs)
    if len(known) != len(pairs):
        names = [name for name, _ in pairs]
        twice = next(name for name in names if names.count(name) > 1)
        raise ValueError(f"{_shown(twice)} is given twice; keep one")
    return known


def _text(record: dict[str, Any], name: str, longest: int) -> str:
    """A text of a record that is not empty."""
    value = record.get(name)
    if type(value) is not str or not value.strip():
        raise ValueError(f"{name} is {_shown(value)}; give a text that is not empty")
    if len(value) > longest:
        raise ValueError(f"{name} has {len(value)} characters; at most {longest} are read, so shorten it")
    try:
        value.encode()
    except UnicodeEncodeError as error:
        raise ValueError(f"character {error.start} of {name} is half a surrogate pair; write it as UTF-8") from error
    return value


def _options(given: Any, count: int) -> dict[str, str]:
    """The options by label, without what the published files left behind some of them."""
    if type(given) is not dict or tuple(sorted(given)) != tuple(LABELS[:count]):
        shown = ", ".join(map(str, given))[:60] if type(given) is dict else type(given).__name__
        remedy = "take the file with four options" if count == 4 else f"take a file with {count} options"
        raise ValueError(f"options are {shown or 'empty'}, not {', '.join(LABELS[:count])}; {remedy}")
    options = {label: STRAY.sub("", _text(given, label, LONGEST_OPTION)).strip() for label in LABELS[:count]}
    known: dict[str, str] = {}
    for label, option in options.items():
        if not option:
            raise ValueError(f"option {label} is empty; give it a text")
        other = known.setdefault(_normal(option), label)
        if other != label:
            raise ValueError(f"options {other} and {label} say the same, {_shown(option)}; make them differ")
    return options


def _normal(text: str) -> str:
    """A text as it is compared: compatible characters, case, blanks and a last full stop do not matter."""
    return " ".join(unicodedata.normalize("NFKC", text).casefold().split()).rstrip(".").rstrip()


def _shown(value: Any) -> str:
    """A value of a file in one short line."""
    try:
        said = ascii(value)
    except Exception:  # a number with too many digits, a bottomless list
        said = f"some {type(value).__name__}"
    return said if len(said) <= 60 else said[:57] + "..."


SHOWN, TOLD, WRONG = "\x01\x02\x03"  # stand for the right option in its place, elsewhere, and for a wrong option
PLAIN = str.maketrans(SHOWN + TOLD + WRONG, "   ")
SHORT = 5  # characters from which on an option told again is taken for one
PASSAGE = 24  # characters from which on what was said is found within lines too
MARKS = r"(?:[✓✔☑★←*]|\[x\]|<--?|=>|->|\((?:correct|right|the answer|the key|answer|key|true)\b[^)\n]{0,40}\))"
NAMED = (
    r"(?:answer|key|solution|truth|gold|label|correct|right|reference)(?:[ _]?(?:answer|option|choice|key|label|idx))?"
)
LISTED = r"""(?!["')]{0,2}\s?(?:,|/|\||or\b)\s?(?:or )?["'(]{0,2}[A-J]\b)"""  # as in "the label: A, B, C or D"
BEFORE = re.compile(r"""(?<!\w)([A-J])(["'*_.:)\]\s-]{1,6})$""")  # a label in front of its option


@cache
def _leaks(key: str) -> dict[str, re.Pattern[str]]:
    """How a prompt can give away that `key` is right, once options are replaced by what stands for them."""
    gap, near = r"""[\s"'*_()\[\]:=>→–-]{0,6}""", r"""[ "'*_()\[\]:=>→–-]{0,6}"""
    word = rf"(?<!\w){key}(?!\w)"
    announced = rf"(?i:\b{NAMED}){{0}}(?i:\b(?:is|are|was)\b)?{{0}}(?i:option |choice |label )?{{0}}"
    return {
        "announced": re.compile(
            rf"{announced.format(gap)}(?:{word}(?!\s+[a-z]){LISTED}|{TOLD})|{announced.format(near)}{SHOWN}"
        ),
        "called right": re.compile(
            rf"(?:{word}|[{TOLD}{SHOWN}]){near}(?:is|was) (?:the )?(?i:correct|right|true)\b", re.IGNORECASE
        ),
        "marked": re.compile(rf"(?:{word}[.:)]?|[{TOLD}{SHOWN}])[ \t]*{MARKS}|{MARKS}[ \t]*(?:{word}|[{TOLD}{SHOWN}])"),
    }


def assert_no_leak(prompt: str, question: Question, spoken: Iterable[str] = ()) -> None:
    """Check that a rendered prompt gives the answer away by nothing: the right option is neither announced, marked,
    told a second time nor set out otherwise than the wrong ones.

    Args:
        spoken: passages of the prompt, as they stand in it, that tell what models said (discussion, notebooks). They
            may well argue for an answer, so they are not looked at. Short ones have to stand on lines of their own.

    Raises:
        ValueError: naming the question and where the prompt leaks.
    """
    key, right = question.answer, question.options[question.answer]
    rest = prompt.translate(PLAIN)
    for said in sorted({said.translate(PLAIN).strip() for said in spoken} - {""}, key=lambda said: (-len(said), said)):
        long = len(said) >= PASSAGE  # a single letter would take the labels of the options away too
        rest = rest.replace(said, "\n") if long else f"\n{rest}\n".replace(f"\n{said}\n", "\n\n")
    rest = rest.replace(question.question, "\n")
    frames = {}
    for label, option in sorted(question.options.items(), key=lambda item: -len(item[1])):
        at = _find(rest, option)
        if at < 0:
            continue
        end = at + len(option)
        named = BEFORE.search(rest, max(0, at - 8), at)
        start = named.start() if named and named[1] == label else at
        line = rest[rest.rfind("\n", 0, start) + 1 : start], rest[end:].partition("\n")[0]
        between = named[2] if named and start < at else ""
        frames[label] = (re.sub(r"[\w\s:]+", "", line[0]), between, line[1].rstrip(",; "))
        rest = rest[:start] + (SHOWN if label == key else WRONG) + rest[end:]
    others = {frame for label, frame in frames.items() if label != key}
    if key in frames and len(others) == 1 and frames[key] not in others:
        raise ValueError(f"question {question.id}: the prompt sets the right option out otherwise than the wrong ones")
    while (at := _find(rest, right)) >= 0:
        rest = rest[:at] + TOLD + rest[at + len(right) :]
    alike = others == {frames.get(key)}  # what stands beside every option marks none
    for how, pattern in _leaks(key).items():
        looked = rest.replace(SHOWN, WRONG) if alike and how == "marked" else rest
        if found := pattern.search(looked):
            raise ValueError(f"question {question.id}: the prompt has the answer {how}{_after(rest, found.start())}")
    if TOLD in rest and len(right) >= SHORT:
        where = _after(rest, rest.index(TOLD))
        raise ValueError(f"question {question.id}: the prompt tells the answer again{where}")


def _find(text: str, words: str) -> int:
    """Where `words` stand as whole words; -1 if nowhere."""
    at = text.find(words)
    while at >= 0:
        end = at + len(words)
        before, after = text[at - 1 : at] if at else "", text[end : end + 1]
        if not (before.isalnum() and words[0].isalnum()) and not (after.isalnum() and words[-1].isalnum()):
            return at
        at = text.find(words, at + 1)
    return -1


def _after(text: str, at: int) -> str:
    """A place in a text by the words before it."""
    return f", after {_shown(text[max(0, at - 30) : at])}"


ILLNESSES = (
    "Brulka fever", "Tozmire", "Quellan ague", "Ondrip", "Vashling", "Pemmerot", "Ysk pallor", "Garnoth", "Luvendry",
    "Skorvel", "Mimbrel cough", "Hadzick",
)  # fmt: skip
MEDICINES = (
    "arvoline", "bixtrum", "coldrane", "dwemmol", "estquill", "fenzubar", "gorvix", "hespolate", "irnwater", "jolquine",
    "krevmint", "lumbrazol",
)  # fmt: skip
SIGNS = (
    "striped elbows", "humming ears", "blue shadows", "square pupils", "ticking knees", "glowing hiccups",
    "backward sneezes", "feathered eyelids", "magnetic thumbs", "echoing yawns", "a checkered tongue", "floating hair",
)  # fmt: skip
TRAITS = (
    "eats moss", "sleeps by day", "lives above the clouds", "keeps bees", "wears copper", "was born in a boat",
    "paints with mud", "walks on stilts",
)  # fmt: skip
WARDS = ("the moss ward", "the tower ward", "the lake ward", "the amber ward", "the wind ward", "the root ward")
WORLD = "On the made-up moon Tessaly, where nothing works as on Earth, "
PER_SPLIT = 60  # of each split: twelve formations of five training questions without a repetition


def own_questions() -> list[Question]:
    """The invented questions: 60 of `train` and 60 of `test`, four options each, every label right equally often."""
    return list(_own())


@cache
def _own() -> tuple[Question, ...]:
    return tuple(load(OWN))


def invent() -> list[Question]:
    """The invented questions made anew, as `questions.jsonl` has them."""
    made: list[Question] = []
    texts: list[str] = []
    for split in ("train", "test"):
        rng = seeded("own questions", 1, split)
        keys = [*LABELS[:4]] * (PER_SPLIT // 4)
        rng.shuffle(keys)
        for number, key in enumerate(keys):
            text, right, wrong = _KINDS[number % len(_KINDS)](rng)
            while text in texts:
                text, right, wrong = _KINDS[number % len(_KINDS)](rng)
            texts.append(text)
            rng.shuffle(wrong)
            options = {label: right if label == key else wrong.pop() for label in LABELS[:4]}
            made.append(Question(f"own-{split}-{number:05}", text, options, key, split, False))
    return made


def dump(questions: Iterable[Question]) -> str:
    """Questions as the text of a JSON lines file that `load` reads back."""
    records = (
        {
            "id": q.id,
            "question": q.question,
            "options": q.options,
            "answer_idx": q.answer,
            "answer": q.options[q.answer],
            "split": q.split,
            "figure_hint": q.has_figure,
        }
        for q in questions
    )
    return "".join(json.dumps(record, ensure_ascii=False) + "\n" for record in records)


def _listed(words: Sequence[str], last: str = "and") -> str:
    return f"{', '.join(words[:-1])} {last} {words[-1]}" if len(words) > 1 else words[0]


def _illness(rng: random.Random) -> tuple[str, str, list[str]]:
    """The one illness all of whose signs a patient shows: the text, the right option, three wrong ones."""
    shown: list[str] = []
    triples: list[list[str]] = []
    while sum(set(triple) <= set(shown) for triple in triples) != 1 or len({*map(frozenset, triples)}) != 4:
        signs, names = rng.sample(SIGNS, 6), rng.sample(ILLNESSES, 4)
        triples = [rng.sample(signs, 3) for _ in names]
        shown = sorted({*triples[0], rng.choice(signs)})
    order = rng.sample(range(4), 4)
    table = " ".join(f"{names[i]}: {_listed(triples[i])}." for i in order)
    absent = [sign for sign in signs if sign not in shown]
    rng.shuffle(shown)
    text = (
        f"{WORLD}a patient has an illness exactly when all three of its signs are there; further signs mean nothing. "
        f"The signs are these. {table} A patient shows {_listed(shown)}, but not {_listed(absent, 'or')}. "
        "Which illness is it?"
    )
    return text, names[0], names[1:]


def _medicine(rng: random.Random) -> tuple[str, str, list[str]]:
    """The first medicine of a list that nothing forbids for a patient."""
    illness, names, traits = rng.choice(ILLNESSES), rng.sample(MEDICINES, 4), rng.sample(TRAITS, 5)
    first = rng.randrange(1, 4)  # the first ones are forbidden
    own = [*traits[:first], *traits[4:]]
    rng.shuffle(own)
    bans = " ".join(
        f"Whoever {trait} must not take {name}." for name, trait in sorted(zip(names, traits, strict=False))
    )
    text = (
        f"{WORLD}{illness} is treated with the first medicine of this list that the patient may take: "
        f"{', '.join(names)}. {bans} A patient with {illness} {_listed(own)}. Which medicine is given?"
    )
    return text, names[first], [name for name in names if name != names[first]]


def _dose(rng: random.Random) -> tuple[str, str, list[str]]:
    """A dose by weight that is halved by a trait and cut off at a limit."""
    medicine, (halving, other) = rng.choice(MEDICINES), rng.sample(TRAITS, 2)
    drops, stones = rng.choice((4, 6, 8)), rng.randrange(5, 13)
    halved = rng.random() < 0.5
    whole = drops * stones
    dose = whole // 2 if halved else whole
    most = rng.choice((dose - drops, dose + drops, dose + 3 * drops))
    right = min(dose, most)
    wrong = sorted({whole, whole // 2, dose, most, dose + 1, 2 * whole} - {right})
    trait = halving if halved else other
    text = (
        f"{WORLD}the dose of {medicine} is {drops} drops for each stone of weight. Whoever {halving} gets half of "
        f"that. In any case nobody gets more than {most} drops. A patient weighs {stones} stones and {trait}. "
        "Which dose is given?"
    )
    return text, f"{right} drops", [f"{number} drops" for number in rng.sample(wrong, 3)]


def _ward(rng: random.Random) -> tuple[str, str, list[str]]:
    """The ward for a sum of points."""
    signs, wards = rng.sample(SIGNS, 5), rng.sample(WARDS, 4)
    points = [rng.randrange(1, 6) for _ in signs]
    low = rng.randrange(3, 5)
    limits = (low, low + rng.randrange(2, 4), low + rng.randrange(5, 7))
    shown = rng.sample(range(5), rng.randrange(1, 5))
    total = sum(points[i] for i in shown)
    right = wards[sum(total > limit for limit in limits)]
    table = _listed([f"{sign} {number}" for sign, number in zip(signs, points, strict=True)])
    text = (
        f"{WORLD}every sign counts points: {table}. A patient goes to {wards[0]} with up to {limits[0]} points in all, "
        f"to {wards[1]} with up to {limits[1]}, to {wards[2]} with up to {limits[2]}, and to {wards[3]} with more. "
        f"A patient shows {_listed([signs[i] for i in shown])} and nothing else. Where does the patient go?"
    )
    return text, right, [ward for ward in wards if ward != right]


_KINDS = (_illness, _medicine, _dose, _ward)
