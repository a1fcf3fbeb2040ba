"""A team that works by the reference actions of an order: what a perfect pair of cooks would do."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from tasks.worlds.kitchen import actions as verbs
from tasks.worlds.kitchen.actions import Action, known
from tasks.worlds.kitchen.engine import NOTHING, Kitchen
from tasks.worlds.kitchen.recipes import PLATED, SEATS, get_order
from tasks.worlds.kitchen.state import KitchenState

Policy = Callable[[KitchenState, str], str]


def script(order: str, reference: int = 0) -> Policy:
    """A policy that gives each agent its next action of a reference (counted from 0) as soon as it can be done, and
    waits until then. It depends on the state only: after something useless it puts away what it should not hold and
    fetches what it should.

    Raises:
        ValueError: there is no such order or reference.
    """
    references = get_order(order).references
    if not 0 <= reference < len(references):
        raise ValueError(f"{order} has no reference {reference}; it has 0 to {len(references) - 1}")
    kitchen, wanted = Kitchen(order), references[reference]

    def policy(state: KitchenState, agent: str) -> str:
        at = passed(wanted[agent], state.trace(agent))
        if at == len(wanted[agent]):
            return NOTHING
        done, held = wanted[agent][:at], state.cooks[SEATS.index(agent)].holds
        should = held_after(done, order)
        tries = [wanted[agent][at]]
        if held and held != should:
            tries = [f"{verbs.PLACE}()"]
        elif held != should:
            item = should.removeprefix(PLATED)
            again = [action for action in done if action.startswith(f"{verbs.PICKUP}({item},")]
            tries = [str(Action(verbs.PICKUP, item, verbs.COUNTER)), *again]
        return next((action for action in tries if not kitchen.refusal(state, agent, action)), NOTHING)

    return policy


def passed(reference: Sequence[str], trace: Sequence[str]) -> int:
    """How many actions of a reference `trace` has done, in order; useless ones between do not count."""
    at = 0
    for action in trace:
        at += at < len(reference) and action == reference[at]
    return at


def held_after(done: Sequence[str], order: str) -> str:
    """What is in the hand of one who has done these actions of a reference."""
    holds = ""
    for call in map(known, done):
        if call.verb == verbs.PICKUP:
            holds = call.item
        elif call.verb == verbs.FILL:
            holds = PLATED + order
        elif call.verb in (verbs.PUT, verbs.PLACE, verbs.DELIVER):
            holds = ""
    return holds
