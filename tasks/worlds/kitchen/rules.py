"""Why an action cannot be done: one code a rule, in the order in which they are checked.

The rules are those of the upstream validator, but for what upstream leaves out and then does wrongly: reach is checked
for every action, a utensil takes no more than its capacity, and only finished food is delivered.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from tasks.worlds.kitchen import actions as verbs
from tasks.worlds.kitchen.actions import Action
from tasks.worlds.kitchen.recipes import DISH, MEALS, PLATED, SEATS, food_of
from tasks.worlds.kitchen.state import NO_UTENSIL, KitchenState, Utensil

if TYPE_CHECKING:
    from tasks.worlds.kitchen.engine import Kitchen

SEAT_OF_VERB = {
    "cook": "initiator",
    "bake": "initiator",
    verbs.FILL: "initiator",
    verbs.DELIVER: "initiator",
    "cut": "responder",
    "stir": "responder",
}


def may(agent: str, verb: str) -> bool:
    """Whether a seat's interface has a verb."""
    return SEAT_OF_VERB.get(verb, agent) == agent


def refusal(kitchen: Kitchen, state: KitchenState, agent: str, call: Action) -> str:
    """Why an action cannot be done now, as `code: sentence`; "" where it can."""
    if call.verb == verbs.WAIT:
        return ""
    if not may(agent, call.verb):
        return f"not_your_action: only the {SEAT_OF_VERB[call.verb]} can {call.verb}"
    if call.place not in kitchen.layout.places and call.place not in ("", verbs.COUNTER):
        return f"unknown_place: there is no {call.place} in this kitchen"
    at = kitchen.utensil(state, call.place) if call.place in kitchen.number else NO_UTENSIL
    holds = state.cooks[SEATS.index(agent)].holds
    match call.verb:
        case verbs.PICKUP:
            return _pickup(kitchen, state, agent, call, at, holds)
        case verbs.PLACE:
            if not holds:
                return "hand_empty: your hand is empty, there is nothing to put down"
            if not kitchen.targets(state, agent, call):
                return "no_empty_counter: no counter within your reach is empty; take something off one first"
            return ""
        case verbs.PUT:
            return _put(kitchen, agent, call, at, holds)
        case verbs.FILL:
            return _fill(kitchen, agent, call, at, holds)
        case verbs.DELIVER:
            return _deliver(kitchen, agent, holds)
        case _:
            return _start(kitchen, agent, call, at, holds)


def _pickup(kitchen: Kitchen, state: KitchenState, agent: str, call: Action, at: Utensil, holds: str) -> str:
    item, place = call.item, call.place
    if at.product and not kitchen.finished(at):
        return busy(place)
    if item == kitchen.order == at.product and kitchen.recipe.on_dish:
        return f"needs_dish: {item} is served on a dish; hold a dish and use {verbs.FILL}({place})"
    if place == verbs.COUNTER:
        if not kitchen.targets(state, agent, call):
            return f"not_on_counter: there is no {item} on a counter within your reach; wait until one is there"
    elif not kitchen.reaches(agent, place):
        return unreachable(place)
    if holds:
        return f"hand_not_empty: you hold {holds}; put it down first"
    if place in kitchen.number and at.product != item:
        held = f"it holds {at.product}" if at.product else "nothing in it is finished"
        return f"not_in_utensil: there is no {item} to take from {place}; {held}"
    return ""


def _put(kitchen: Kitchen, agent: str, call: Action, at: Utensil, holds: str) -> str:
    if at.product:
        return full_of(call.place, at) if kitchen.finished(at) else busy(call.place)
    if not kitchen.reaches(agent, call.place):
        return unreachable(call.place)
    if not holds:
        return "hand_empty: your hand is empty; pick an ingredient up first"
    if holds == DISH or holds.startswith(PLATED):
        return f"dish_in_hand: a {holds} does not go into {call.place}; only ingredients do"
    if len(at.contents) >= kitchen.capacity:
        return f"utensil_full: {call.place} holds {kitchen.capacity} ingredients already; start it"
    return ""


def _fill(kitchen: Kitchen, agent: str, call: Action, at: Utensil, holds: str) -> str:
    if not kitchen.recipe.on_dish:
        return f"no_dish_needed: {kitchen.order} is served without a dish; pick it up from the utensil"
    if not at.product:
        return f"nothing_to_fill: there is no food in {call.place} that is finished or being made"
    if not kitchen.reaches(agent, call.place):
        return unreachable(call.place)
    if holds != DISH:
        return f"no_dish_in_hand: you hold {holds or 'nothing'}; pick a dish up first"
    return ""


def _deliver(kitchen: Kitchen, agent: str, holds: str) -> str:
    if not holds:
        return "hand_empty: your hand is empty, there is nothing to deliver"
    if food_of(holds) not in MEALS:
        return f"not_finished_food: {holds} is no finished food; deliver {kitchen.order}"
    if not kitchen.reaches(agent, verbs.DELIVERY):
        return unreachable(verbs.DELIVERY)
    return ""


def _start(kitchen: Kitchen, agent: str, call: Action, at: Utensil, holds: str) -> str:
    if not kitchen.reaches(agent, call.place):
        return unreachable(call.place)
    if not at.contents:
        return f"utensil_empty_on_start: there is nothing in {call.place}; put an ingredient in first"
    if at.product:
        return full_of(call.place, at) if kitchen.finished(at) else busy(call.place)
    if holds:
        return f"hand_not_empty: you hold {holds}; put it down before you {call.verb}"
    return ""


def busy(place: str) -> str:
    return f"utensil_busy: {place} is still working; wait until it has finished"


def full_of(place: str, at: Utensil) -> str:
    return f"food_inside: {place} holds finished {at.product}; take that out first"


def unreachable(place: str) -> str:
    return f"unreachable: you cannot get to {place}; ask the other cook or use a counter between you"
