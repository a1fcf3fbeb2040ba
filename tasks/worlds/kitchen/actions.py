"""How an action of the kitchen is written and read: `verb(arguments)`, without blanks.

Reading is lenient where a text has one meaning only: case, blanks, quotes, a missing `()`, a utensil without its
number, the object that `put_obj_in_utensil` does not need. Faults are told as `code: sentence`.
"""

from __future__ import annotations

import re
from functools import cache
from typing import NamedTuple

from tasks.worlds.kitchen.recipes import DISH, INGREDIENTS, OBJECTS, PLATED, PRODUCTS, VERBS, kind_of

COUNTER, INGREDIENT_DISPENSER, DISH_DISPENSER, DELIVERY = (
    "counter",
    "ingredient_dispenser",
    "dish_dispenser",
    "delivery",
)
PICKUP, PLACE, PUT = "pickup", "place_obj_on_counter", "put_obj_in_utensil"
FILL, DELIVER, WAIT = "fill_dish_with_food", "deliver_soup", "wait"
KIND_OF_VERB = {verb: kind for kind, verb in VERBS.items()}
ARGUMENTS = {PICKUP: 2, PLACE: 0, PUT: 1, FILL: 1, DELIVER: 0, WAIT: 1} | dict.fromkeys(KIND_OF_VERB, 1)
LONGEST_WAIT = 5  # enforced upstream, whose prompt speaks of 20
LONGEST_TEXT = 200  # characters of an action that are read; a longer text is no action

_CALL = re.compile(r"([a-z_]+)\s*(?:\(([^()]*)\))?")
_NAMED = re.compile(r"[a-z_]+\s*=\s*")  # an argument given by its name, as in `obj=egg`
_ALIASES = {"deliver": DELIVER, "place_obj": PLACE}  # the first is how the paper prints it


class Action(NamedTuple):
    """A parsed action: what a verb does not need is "" or 0."""

    verb: str
    item: str = ""
    place: str = ""
    steps: int = 0

    def __str__(self) -> str:
        if self.verb == WAIT:
            return f"{WAIT}({self.steps})"
        return f"{self.verb}({','.join(filter(None, (self.item, self.place)))})"


class ActionError(ValueError):
    """A text that is no action; `code` names the broken rule."""

    def __init__(self, code: str, sentence: str) -> None:
        super().__init__(f"{code}: {sentence}")
        self.code = code


def parse_action(text: str, longest_wait: int = LONGEST_WAIT) -> str:
    """The canonical text of the action that `text` writes. Whether it can be done now is not looked at.

    Raises:
        ActionError: a ValueError whose text is `code: sentence`.
    """
    return str(read_action(text, longest_wait))


@cache
def known(action: str) -> Action:
    """`read_action` of a canonical text, kept; only for texts that come from `parse_action` or a world."""
    return read_action(action, 10**9)


def read_action(text: str, longest_wait: int = LONGEST_WAIT) -> Action:
    """`parse_action`, taken apart."""
    cleaned = re.sub(r"[\"'`“”‘’]", "", text[: LONGEST_TEXT + 1]).strip().rstrip(".;").strip().lower()
    call = _CALL.fullmatch(cleaned)
    if len(text) > LONGEST_TEXT or not call:
        raise ActionError("not_an_action", f"{text[:60]!r} is not one action such as pickup(egg,counter)")
    verb, inside = _ALIASES.get(call[1], call[1]), (call[2] or "").strip()
    if verb not in ARGUMENTS:
        raise ActionError("unknown_verb", f"there is no action {verb!r}; actions are {', '.join(ARGUMENTS)}")
    given = [_name(argument) for argument in inside.split(",")] if inside else []
    if verb == PUT and len(given) == 2:
        given = given[1:]
    if len(given) != ARGUMENTS[verb]:
        wanted = f"{ARGUMENTS[verb]} argument{'' if ARGUMENTS[verb] == 1 else 's'}"
        raise ActionError("argument_count", f"{verb} takes {wanted}, not {len(given)}")
    if verb == WAIT:
        return _wait(given[0], longest_wait)
    if verb == PICKUP:
        return _pickup(given[0], _place(given[1]))
    if not given:
        return Action(verb)
    place = _place(given[0])
    if kind_of(place) not in PRODUCTS:
        raise ActionError("wrong_utensil", f"{place} is no utensil; {verb} needs one")
    if kind_of(place) != KIND_OF_VERB.get(verb, kind_of(place)):
        raise ActionError("wrong_utensil", f"{verb} is done with a {KIND_OF_VERB[verb]}, not with {place}")
    return Action(verb, "", place)


def _name(argument: str) -> str:
    return re.sub(r"[\s_-]+", "_", _NAMED.sub("", argument.strip(), count=1).strip())


def _wait(given: str, longest: int) -> Action:
    if not re.fullmatch(r"[0-9]{1,9}", given) or int(given) == 0:
        raise ActionError("wait_length", f"wait takes a whole number of steps from 1 to {longest}, not {given!r}")
    if int(given) > longest:
        raise ActionError("wait_length", f"wait({int(given)}) is too long; the longest is wait({longest})")
    return Action(WAIT, steps=int(given))


def _place(given: str) -> str:
    """A place as it is named: `pot`, `pot_0` and `pot0` are one."""
    if given in (COUNTER, INGREDIENT_DISPENSER, DISH_DISPENSER):
        return given
    kind, number = re.fullmatch(r"(.*?)_?([0-9]{0,3})", given).groups()  # type: ignore[union-attr]  # fits any text
    if kind not in PRODUCTS:
        places = ", ".join((COUNTER, INGREDIENT_DISPENSER, DISH_DISPENSER, *(f"{kind}0" for kind in PRODUCTS)))
        raise ActionError("unknown_place", f"there is no place {given!r}; places are {places}")
    return f"{kind}{int(number or 0)}"


def _pickup(item: str, place: str) -> Action:
    item = item.removeprefix(PLATED.replace(" ", "_"))
    if item not in OBJECTS:
        raise ActionError("unknown_object", f"there is no object {item!r} in this kitchen")
    if place == INGREDIENT_DISPENSER and item == DISH:
        raise ActionError("wrong_dispenser", f"dishes come from the {DISH_DISPENSER}")
    if place == INGREDIENT_DISPENSER and item not in INGREDIENTS:
        raise ActionError("not_raw", f"the {INGREDIENT_DISPENSER} gives raw ingredients only, and {item} is none")
    if place == DISH_DISPENSER and item != DISH:
        raise ActionError("wrong_dispenser", f"the {DISH_DISPENSER} gives dishes only, not {item}")
    return Action(PICKUP, item, place)
