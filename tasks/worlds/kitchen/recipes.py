"""What the kitchen's data file says: ingredients, what utensils make of what, orders and their reference actions.

Facts of Collab-Overcooked (Sun et al. 2025) in a structure of our own; `recipes.json` names the state they are from.
"""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

SEATS = ("initiator", "responder")
DISH = "dish"
PLATED = "dish of "  # before the name of the food on a dish

_DATA = json.loads(Path(__file__).with_name("recipes.json").read_text(encoding="utf-8"))

LAYOUT: dict[str, Any] = _DATA["layout"]
INGREDIENTS: tuple[str, ...] = tuple(_DATA["ingredients"])
VERBS: dict[str, str] = _DATA["verbs"]  # kind of utensil -> the verb that starts it
PRODUCTS: dict[str, dict[str, tuple[str, ...]]] = {  # kind of utensil -> product -> what goes in
    kind: {product: tuple(inputs) for product, inputs in table.items()} for kind, table in _DATA["products"].items()
}
MEALS: dict[str, bool] = _DATA["meals"]  # what may be delivered -> whether on a dish
REFERENCE_TIMES: dict[int, int] = {int(level): time for level, time in _DATA["reference_times"].items()}
OBJECTS: tuple[str, ...] = (*INGREDIENTS, *dict.fromkeys(p for table in PRODUCTS.values() for p in table), DISH)


class RecipeStep(NamedTuple):
    """One processing of a recipe and the seat that can do it."""

    seat: str
    verb: str
    utensil: str
    inputs: tuple[str, ...]
    output: str


class Order(NamedTuple):
    """One order: `raw` counts its raw ingredients; each of `references` gives every seat the accepted actions of one
    good way to deliver it."""

    name: str
    level: int
    on_dish: bool
    raw: dict[str, int]
    steps: tuple[RecipeStep, ...]
    references: tuple[dict[str, tuple[str, ...]], ...]


ORDERS: dict[str, Order] = {
    name: Order(
        name,
        order["level"],
        MEALS[name],
        order["raw"],
        tuple(
            RecipeStep(seat, verb, utensil, tuple(inputs), out) for seat, verb, utensil, inputs, out in order["steps"]
        ),
        tuple({seat: tuple(actions) for seat, actions in one.items()} for one in order["references"]),
    )
    for name, order in _DATA["orders"].items()
}


def get_order(name: str) -> Order:
    """The order called `name`. Raises ValueError that lists the known ones."""
    if name not in ORDERS:
        raise ValueError(f"no order {name!r} in the kitchen; known orders: {', '.join(ORDERS)}")
    return ORDERS[name]


def orders_of(level: int) -> tuple[str, ...]:
    """The orders of a level in their fixed order. Raises ValueError for an unknown level."""
    if level not in REFERENCE_TIMES:
        raise ValueError(f"no level {level!r} in the kitchen; levels are {', '.join(map(str, REFERENCE_TIMES))}")
    return tuple(name for name, order in ORDERS.items() if order.level == level)


def kind_of(utensil: str) -> str:
    """What `pot0` is: `pot`."""
    return utensil.rstrip("0123456789")


@cache
def made_of(kind: str, contents: tuple[str, ...]) -> str:
    """What a utensil of a kind makes of sorted `contents`; "" where it makes nothing of them."""
    return next((product for product, inputs in PRODUCTS[kind].items() if tuple(sorted(inputs)) == contents), "")


@cache
def may_become(kind: str, contents: tuple[str, ...]) -> bool:
    """Whether something can be added to `contents` so that a utensil of a kind makes something of them."""
    return any(
        len(inputs) > len(contents) and all(contents.count(item) <= inputs.count(item) for item in contents)
        for inputs in PRODUCTS[kind].values()
    )


def food_of(item: str) -> str:
    """The food on a dish, or the item itself where it is no filled dish."""
    return item.removeprefix(PLATED)


def recipe_text(order: str, processing_time: int = 3) -> str:
    """The recipe in words, which is for the initiator only. It names no counter and no action of the interface.

    Raises:
        ValueError: there is no such order.
    """
    recipe = get_order(order)
    raw = ", ".join(f"{count} {name}" for name, count in recipe.raw.items())
    lines = [f"Recipe of {recipe.name}", f"Raw ingredients: {raw}."]
    for number, step in enumerate(recipe.steps, 1):
        given = " and ".join(step.inputs)
        lines.append(
            f"{number}. {step.verb} {given} in {step.utensil} of the {step.seat}, {processing_time} steps: "
            f"this makes {step.output}."
        )
    last = recipe.steps[-1].utensil
    serving = "Fill a dish with it from" if recipe.on_dish else "No dish is needed: take it out of"
    lines.append(f"{len(recipe.steps) + 1}. {serving} {last} and deliver it.")
    return "\n".join(lines)
