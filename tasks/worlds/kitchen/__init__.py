"""The kitchen: two cooks, one order, counters between them (Collab-Overcooked, Sun et al. 2025)."""

from tasks.worlds.kitchen.actions import ActionError, parse_action
from tasks.worlds.kitchen.engine import Kitchen
from tasks.worlds.kitchen.layout import Layout, Pose
from tasks.worlds.kitchen.recipes import ORDERS, SEATS, Order, get_order, orders_of, recipe_text
from tasks.worlds.kitchen.scripted import script
from tasks.worlds.kitchen.state import Cook, Event, KitchenState, Outcome, Utensil

__all__ = [
    "ORDERS",
    "SEATS",
    "ActionError",
    "Cook",
    "Event",
    "Kitchen",
    "KitchenState",
    "Layout",
    "Order",
    "Outcome",
    "Pose",
    "Utensil",
    "get_order",
    "orders_of",
    "parse_action",
    "recipe_text",
    "script",
]
