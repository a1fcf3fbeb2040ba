"""What a simulated member does and says, from what it observes (see `collabtax.sim.mate`)."""

from __future__ import annotations

import json
import random
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from functools import cache

from collabtax.agents import prompt
from collabtax.sim.mate import LEADERS, MOST_WASTES, Heard, Mind, convention, filled, wastes
from tasks.base import seeded
from tasks.worlds.kitchen.recipes import INGREDIENTS
from tasks.worlds.medqa import own_questions

NEW = ("Hello, I am new on this team.", "I have just joined you.")
NEEDLESS = ("lentil", "chickpea", "peanut", "taro")  # ingredients that no order of the levels played here needs
PLANS = (  # what is said before a step, and before the first one
    "First the ingredients, then the cooking.", "I would begin with what takes longest.",
    "I go step by step and tell you when it is ready.", "Each of us does its part, in order.",
)  # fmt: skip
WASTED = ("I am not sure how you mean that", "That was a detour of mine", "I misread that")
STEP = re.compile(r"^\d+\. (\w+) (\w+) in (\w+) of the (\w+),.*: this makes (\w+)\.$", re.M)
SERVED = re.compile(r"^\d+\. (Fill a dish|No dish)", re.M)
CELL = re.compile(r"^  \((\d+),(\d+)\): (\d+|not)", re.M)
AT = re.compile(r"You are at \((\d+),(\d+)\)")
SPOKEN = re.compile(
    r"^Round (\d+), (\w+), (\w+):\n(?:(?:true|false)\n    )?([A-J])\n    (.*?)(?=\n\nRound \d+, |\Z)", re.M | re.S
)


@dataclass(frozen=True)
class Turn:
    """One request to a member who acts."""

    model: str
    seed: int
    who: Mind
    rng: random.Random
    heard: Heard

    def pick(self, *forms: str) -> str:
        return self.rng.choice(forms)

    @property
    def mine(self) -> list[str]:
        """What it has said so far in this episode, plans apart."""
        return [text for text in self.heard.by(self.who.role) if text not in PLANS]

    @property
    def others(self) -> list[str]:
        return self.heard.words(self.who.role)

    def greeting(self) -> str:
        """What goes before a member's first message: that it is new, its convention, a question for that of others; the
        leader of a team without one proposes it."""
        if self.mine:
            return ""
        told = [self.pick(*NEW)] if self.who.is_new else []
        if self.who.word:
            told.append(self.pick('I say "{0}" when it is ready.', 'As ever: "{0}" means ready.').format(self.who.word))
        elif self.who.is_new:
            told.append(self.pick("How do you tell each other that something is ready?", "What do you say for ready?"))
        elif self.who.role in LEADERS and not self.others:
            word = convention(self.model, self.seed)
            told.append(self.pick('Let us say "{0}" when it is ready.', 'My word for ready is "{0}".').format(word))
        return " ".join(told)

    def wasted(self, task: str, mark: str) -> int:
        """How many things it wastes in this episode."""
        return min(MOST_WASTES, sum(wastes(self.model, self.seed, self.who, task, mark, tuple(self.others))))

    def wasted_so_far(self) -> int:
        return sum(any(form in text for form in WASTED) for text in self.mine)

    def decision(self, action: str, message: str = "") -> str:
        """A reply in one of the forms in which models write JSON."""
        said = " ".join(filter(None, (self.greeting(), message)))
        told = {"action": action, "message": said, "rationale": self.pick("next step", "as planned", "it is due")}
        text = json.dumps(told, indent=self.rng.choice((None, 1)), ensure_ascii=False)
        form = self.pick("{}", "{}", "```json\n{}\n```", "My choice:\n{}")
        return form.replace("{}", text)


def move(model: str, seed: int, who: Mind, user: str, rng: random.Random) -> str:
    """The reply of a member that acts, plans or answers. Raises ValueError for a request that is none."""
    if who.kind == "planning":
        return planned(user, rng)
    if who.kind == "plan_first":
        return rng.choice(PLANS[2:])
    if who.kind == "clinic":
        return consult(Turn(model, seed, who, rng, Heard(())), user)
    told = filled("member_turn", user)
    if told is None:
        raise ValueError("a simulated member is asked for an action and shown nothing")
    turn = Turn(model, seed, who, rng, Heard.of(told["messages"]))
    game: Callable[[Turn, dict[str, str]], str] = fell
    if who.about.startswith(prompt("swap/kitchen_rules")):
        game = lead if who.role == "initiator" else follow
    return game(turn, told)


def planned(user: str, rng: random.Random) -> str:
    """What a member says before the team acts: something at the first step, nothing later."""
    if "Time step: 0 of" not in user:
        return "-"
    return rng.choice((*PLANS[:2], "-"))


# The kitchen ----------------------------------------------------------------------------------------------------------


@dataclass
class Sight:
    """A kitchen as it is told: what both cooks hold ("" for nothing), the state of utensils, items on counters."""

    order: str = ""
    holds: str = ""
    theirs: str = ""
    utensils: dict[str, str] = field(default_factory=dict)
    passed: list[str] = field(default_factory=list)  # on counters that both reach
    aside: list[str] = field(default_factory=list)  # on other counters

    @classmethod
    def of(cls, observation: str) -> Sight:
        sight, heading = cls(), ""
        for line in observation.splitlines():
            if line.startswith("- ["):
                item = line.partition(" -> ")[2]
                if item != "empty":
                    (sight.passed if "both" in heading else sight.aside).append(item)
            elif line.startswith("- "):
                name, _, status = line[2:].partition(": ")
                sight.utensils[name] = status
            elif line.startswith("Order: "):
                sight.order = line[7:]
            elif " holding " in line:
                item = line.rpartition(" holding ")[2].replace("nothing", "")
                if line.startswith("You"):
                    sight.holds = item
                else:
                    sight.theirs = item
            else:
                heading = line
        return sight


def is_going_on(told: dict[str, str], action: str) -> bool:
    """Whether the last step was on the way of the same action, so that nothing new is to be said."""
    return told["feedback"].startswith(f"{action}: on the way")


def lead(turn: Turn, told: dict[str, str]) -> str:
    """The initiator's decision: works its own steps of the recipe backwards from what is nearest to the end."""
    sight, steps = Sight.of(told["observation"]), STEP.findall(told["information"])
    served = SERVED.search(told["information"])
    if not steps or served is None:
        return turn.decision("wait(1)", "" if turn.mine else "I have no recipe; do you?")
    own = [step for step in steps if step[3] == "initiator"]
    on_dish, last = served[1] == "Fill a dish", own[-1]
    first = own[0][1]
    asked = "" if turn.mine else request(turn, steps, on_dish)
    if sight.holds == f"dish of {last[4]}" or (sight.holds == last[4] and not on_dish):
        return turn.decision("deliver_soup()", asked)
    if sight.holds == "dish":
        return turn.decision(f"fill_dish_with_food({last[2]})", asked)
    for _, item, utensil, *_ in own:
        if sight.holds == item:
            if item == first and turn.wasted_so_far() < turn.wasted(sight.order, sight.order):
                return turn.decision("place_obj_on_counter()", f"{turn.pick(*WASTED)}; I put {item} down again.")
            return turn.decision(f"put_obj_in_utensil({utensil})", asked)
    if sight.holds:
        return turn.decision("place_obj_on_counter()", asked)
    for verb, _, utensil, _, output in reversed(own):
        status = sight.utensils.get(utensil, "empty")
        is_last = output == last[4]
        if status == f"finished {output}" and not (is_last and on_dish):
            return turn.decision(f"pickup({output},{utensil})", asked)
        if status.startswith(("making", "finished")):
            there = is_last and on_dish and "dish" in sight.passed
            return turn.decision("pickup(dish,counter)" if there else "wait(1)", asked)
        if status.startswith("holds"):
            return turn.decision(f"{verb}({utensil})", asked)
    return turn.decision(f"pickup({first},counter)" if first in sight.passed else "wait(1)", asked)


def request(turn: Turn, steps: Sequence[tuple[str, str, str, str, str]], on_dish: bool) -> str:
    """What the initiator asks for: the raw ingredient, whether it is to be cut, whether a dish is needed."""
    raw = steps[0][1]
    told = turn.pick(f"Please fetch {raw}", f"I need {raw}", f"Get me {raw}")
    if steps[0][3] == "responder":
        told += turn.pick(f", cut it and pass {raw}_slices on", f"; cut it, I take the {raw}_slices from the counter")
    return told + (turn.pick("; then a dish.", ", and a dish after that.") if on_dish else ".")


def follow(turn: Turn, told: dict[str, str]) -> str:
    """The responder's decision: what the initiator asked for, then what is wasted, then the dish."""
    sight = Sight.of(told["observation"])
    asked = [text for text in turn.heard.by("initiator") if wanted(text)]
    if not asked:
        return turn.decision("wait(1)", "" if turn.mine else "What do you need?")
    raw, is_cut, on_dish = wanted(asked[0]), "cut" in asked[0], bool(re.search(r"\bdish\b", asked[0]))
    item = f"{raw}_slices" if is_cut else raw
    word, board = turn.who.word or "ready", sight.utensils.get("chopping_board0", "empty")
    hello = "" if turn.mine else turn.pick("Good.", "All right.", "On my way.")
    place = "place_obj_on_counter()"
    if is_cut and sight.holds == raw:
        return turn.decision("put_obj_in_utensil(chopping_board0)", hello)
    if sight.holds in NEEDLESS:
        said = f"{turn.pick(*WASTED)}: {sight.holds} is of no use."
        return turn.decision(place, hello if is_going_on(told, place) else said)
    if sight.holds:
        said = f"{word}: {sight.holds} is on the counter." if turn.who.word else f"{sight.holds} is {word}."
        return turn.decision(place, hello if is_going_on(told, place) else said)
    if is_cut and board.startswith("holds"):
        return turn.decision("cut(chopping_board0)", hello)
    if is_cut and board.startswith("making"):
        return turn.decision("wait(1)", hello)
    if is_cut and board.startswith("finished"):
        return turn.decision(f"pickup({item},chopping_board0)", hello)
    cooked = any(sight.utensils.get(name, "empty") != "empty" for name in ("pot0", "oven0"))
    theirs = sight.theirs not in ("", "dish", *NEEDLESS)
    if not (item in sight.passed or theirs or cooked):
        return turn.decision(f"pickup({raw},ingredient_dispenser)", hello)
    if turn.wasted_so_far() < turn.wasted(sight.order, sight.order):
        found = [thing for thing in sight.passed + sight.aside if thing in NEEDLESS]
        thing = found[0] if found else seeded("needless", sight.order).choice(NEEDLESS)
        where = "counter" if found else "ingredient_dispenser"
        return turn.decision(f"pickup({thing},{where})", hello)
    has_dish = "dish" in sight.passed or sight.theirs.startswith("dish")
    if on_dish and not has_dish:
        return turn.decision("pickup(dish,dish_dispenser)", hello)
    return turn.decision("wait(1)", hello)


def wanted(text: str) -> str:
    """The ingredient that a message names first, "" for none."""
    words = re.findall(r"[a-z_]+", text)
    return next((word for word in words if word in INGREDIENTS and word not in NEEDLESS), "")


# The forest -----------------------------------------------------------------------------------------------------------


def fell(turn: Turn, told: dict[str, str]) -> str:
    """A decision in the forest: every third target cell is a member's own; what it wastes is left standing."""
    targets, at = CELL.findall(told["observation"]), AT.search(told["observation"])
    number = re.fullmatch(r"agent_(\d)", turn.who.role)
    if not targets or at is None or number is None:
        raise ValueError("a simulated member is shown no forest that it knows")
    mine = targets[int(number[1]) - 1 :: 3]
    if not turn.mine:
        said = " and ".join(f"({x},{y})" for x, y, _ in mine)
        return turn.decision("idle", turn.pick(f"I take {said}.", f"{said} are mine.", f"I go to {said}."))
    place = " ".join(f"{x},{y}" for x, y, _ in targets)
    lost = turn.wasted(place, "target cell")
    said = ""
    if lost and not turn.wasted_so_far():
        x, y, _ = mine[-1]
        said = f"{turn.pick(*WASTED)}; does somebody else take ({x},{y})?"
    for x, y, left in mine[: len(mine) - lost]:
        if left != "0":
            return turn.decision("cut_all" if at.groups() == (x, y) else f"move({x},{y})", said)
    return turn.decision("idle", said)


# The clinic -----------------------------------------------------------------------------------------------------------


@cache
def keys() -> dict[str, str]:
    """The right labels of the suite's own questions, by their text: what these members have studied."""
    return {question.question: question.answer for question in own_questions()}


def consult(turn: Turn, user: str) -> str:
    """A reply in the clinic. In the first round specialists go by their own view; later all follow the last decision,
    so that the majority of the first reviews decides."""
    told = filled("clinic_turn", user)
    if told is None:
        raise ValueError("a simulated member is asked for an answer and shown no question")
    labels = re.findall(r"^([A-J]): ", told["options"], re.M)
    spoken = SPOKEN.findall(told["discussion"])
    heard = Heard(tuple((speaker, text) for _, _, speaker, _, text in spoken))
    turn = replace(turn, heard=heard)
    phase = turn.who.phase
    now = [(past, label) for number, past, _, label, _ in spoken if number == told["round"]]
    if turn.who.role == "coordinator":
        weighed = "analyse" if phase == "synthesise" else "review"
        label = majority([label for past, label in now if past == weighed]) or labels[0]
    else:
        label = view(turn, told["question"], labels, phase)
        if decided := [label for _, past, _, label, _ in spoken if past == "decide"]:
            label = decided[-1]
    why = f"{turn.greeting()} {turn.pick('The text leaves only this.', 'The rules say so.', 'This fits best.')}".strip()
    reply: dict[str, object] = {"answer": label, "explanation": why}
    if phase == "review":
        proposed = [label for past, label in now if past == "synthesise"]
        reply = {"agree": [label] == proposed[-1:], "answer": label, "reason": why}
    text = json.dumps(reply, ensure_ascii=False)
    return turn.pick("{}", "```json\n{}\n```").replace("{}", text)


def view(turn: Turn, question: str, labels: Sequence[str], phase: str) -> str:
    """A specialist's own answer; what it makes of others comes in with its review."""
    key = keys().get(question) or seeded("guess", turn.model, question).choice(labels)
    task, partner, slip = wastes(turn.model, turn.seed, turn.who, question, "option", tuple(turn.others))
    if task or slip or (partner and phase == "review"):
        return seeded("wrong", question).choice([label for label in labels if label != key])
    return key


def majority(labels: Sequence[str]) -> str:
    """The label that most name, the first of equal ones; "" for none."""
    return max(labels, key=lambda label: (labels.count(label), -labels.index(label)), default="")
