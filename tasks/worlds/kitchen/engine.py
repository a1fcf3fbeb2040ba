"""The kitchen of Collab-Overcooked (Sun et al. 2025) as an engine of texts: two cooks in corridors that never meet,
who hand food over on the counters between them until one order is delivered.

An action is a native one of that benchmark, such as `pickup(egg,counter)`. Each step decides anew: the action is
expanded to its next primitive, so that repeating an action goes on with it.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import ClassVar, NamedTuple

from tasks.worlds.base import World
from tasks.worlds.kitchen import actions as verbs
from tasks.worlds.kitchen.actions import Action, known
from tasks.worlds.kitchen.layout import INTERACT, PUBLISHED, STAY, Cell, Layout
from tasks.worlds.kitchen.observation import feedback, observation
from tasks.worlds.kitchen.picture import picture
from tasks.worlds.kitchen.recipes import (
    DISH,
    INGREDIENTS,
    MEALS,
    OBJECTS,
    PLATED,
    PRODUCTS,
    REFERENCE_TIMES,
    SEATS,
    VERBS,
    Order,
    food_of,
    get_order,
    kind_of,
    made_of,
)
from tasks.worlds.kitchen.rules import may, refusal
from tasks.worlds.kitchen.state import Cook, Event, KitchenState, Outcome, Utensil

VANISHING = ("apple", "carrot", "onion", "potato", "tofu")  # upstream takes what is made of these for meals
NOTHING = "wait(1)"


class Menu(NamedTuple):
    """The actions of a seat: what dispensers give, what can be picked up elsewhere by item, all `others`, and the order
    of all."""

    others: list[str]
    dispensed: list[str]
    found: dict[str, list[str]]
    order: dict[str, int]


@dataclass(frozen=True)
class Kitchen(World[KitchenState]):
    """A kitchen with one order. Nothing in it is random.

    Raises:
        ValueError: an unknown order, or a number out of its range.
    """

    order: str
    processing_time: int = 3  # steps from a start until the food can be taken
    capacity: int = 3  # inputs of a utensil
    reward: float = 20.0  # of the right delivery, to either agent
    longest_wait: int = verbs.LONGEST_WAIT
    horizon_factor: float = 1.5  # of the level's reference time
    steps: int = 0  # the limit of steps; 0 takes the whole part of factor times reference time: 24, 34, 52 on L1 to L3
    layout: Layout = PUBLISHED
    as_recorded: bool = False  # do what the upstream engine does with an action that has become impossible

    name: ClassVar[str] = "kitchen"
    version: ClassVar[int] = 1

    def __post_init__(self) -> None:
        get_order(self.order)
        for field in ("processing_time", "capacity", "longest_wait"):
            if getattr(self, field) < 1:
                raise ValueError(f"kitchen: {field} is {getattr(self, field)}; it must be at least 1")
        if self.steps < 0 or self.horizon < 1:
            raise ValueError(f"kitchen: a limit of {self.steps or self.horizon} steps; it must be at least 1")

    @property
    def agents(self) -> tuple[str, ...]:
        return SEATS

    @cached_property
    def recipe(self) -> Order:
        return get_order(self.order)

    @cached_property
    def horizon(self) -> int:
        """The number of steps after which an episode is cut."""
        return self.steps or int(self.horizon_factor * REFERENCE_TIMES[self.recipe.level])

    def initial(self, seed: int = 0) -> KitchenState:
        """The first state; `seed` is not used, as nothing is random."""
        return KitchenState(
            0, tuple(Cook(start) for start in self.layout.starts), (Utensil(),) * len(self.layout.utensils)
        )

    def actions(self, agent: str) -> tuple[str, ...]:
        return self._actions_of[agent]

    @cached_property
    def _actions_of(self) -> dict[str, tuple[str, ...]]:
        return {agent: tuple(map(str, self._possible(agent))) for agent in SEATS}

    def _possible(self, agent: str) -> list[Action]:
        found = [Action(verbs.WAIT, steps=n) for n in range(1, self.longest_wait + 1)]
        found.append(Action(verbs.PLACE))
        found += [Action(verbs.PICKUP, item, verbs.COUNTER) for item in OBJECTS]
        if self.reaches(agent, verbs.INGREDIENT_DISPENSER):
            found += [Action(verbs.PICKUP, item, verbs.INGREDIENT_DISPENSER) for item in INGREDIENTS]
        if self.reaches(agent, verbs.DISH_DISPENSER):
            found.append(Action(verbs.PICKUP, DISH, verbs.DISH_DISPENSER))
        for utensil in self.layout.utensils:
            if self.reaches(agent, utensil):
                kind = kind_of(utensil)
                found.append(Action(verbs.PUT, place=utensil))
                found += [Action(verb, place=utensil) for verb in (VERBS[kind], verbs.FILL) if may(agent, verb)]
                found += [Action(verbs.PICKUP, item, utensil) for item in PRODUCTS[kind]]
        if may(agent, verbs.DELIVER) and self.reaches(agent, verbs.DELIVERY):
            found.append(Action(verbs.DELIVER))
        return found

    def reaches(self, agent: str, place: str) -> bool:
        """Whether an agent gets to a station."""
        return place in self._stations_of[agent]

    @cached_property
    def _stations_of(self) -> dict[str, frozenset[str]]:
        return {
            agent: frozenset(name for name, cell in self.layout.places.items() if cell in seat.reach)
            for agent, seat in zip(SEATS, self.layout.seats, strict=True)
        }

    @cached_property
    def number(self) -> dict[str, int]:
        """The place of each utensil in `KitchenState.utensils`."""
        return {name: at for at, name in enumerate(self.layout.utensils)}

    def finished(self, utensil: Utensil) -> bool:
        """Whether its product can be taken."""
        return bool(utensil.product) and utensil.age >= self.processing_time

    def utensil(self, state: KitchenState, name: str) -> Utensil:
        return state.utensils[self.number[name]]

    # What can be done -------------------------------------------------------------------------------------------------

    def refusal(self, state: KitchenState, agent: str, action: str) -> str:
        """As in the base class; `action` is any canonical text (`parse_action`). The line is `code: sentence`."""
        return refusal(self, state, agent, known(action))

    def legal(self, state: KitchenState, agent: str) -> tuple[str, ...]:
        """As in the base class, without asking about things that are nowhere or about a second thing in the hand."""
        menu = self._menus[agent]
        found = [action for action in menu.others if not self.refusal(state, agent, action)]
        if not state.cooks[SEATS.index(agent)].holds:
            found += menu.dispensed
            items = [food_of(item) for _, item in state.counters] + [utensil.product for utensil in state.utensils]
            for item in dict.fromkeys(items):
                found += [action for action in menu.found.get(item, ()) if not self.refusal(state, agent, action)]
        return tuple(sorted(found, key=menu.order.__getitem__))

    @cached_property
    def _menus(self) -> dict[str, Menu]:
        menus = {}
        for agent in SEATS:
            actions = self.actions(agent)
            pickups = [(action, known(action)) for action in actions if known(action).verb == verbs.PICKUP]
            sources = (verbs.INGREDIENT_DISPENSER, verbs.DISH_DISPENSER)
            found: dict[str, list[str]] = {}
            for action, call in pickups:
                if call.place not in sources:
                    found.setdefault(call.item, []).append(action)
            menus[agent] = Menu(
                [action for action in actions if known(action).verb != verbs.PICKUP],
                [action for action, call in pickups if call.place in sources],
                found,
                {action: at for at, action in enumerate(actions)},
            )
        return menus

    # What is done -----------------------------------------------------------------------------------------------------

    def targets(self, state: KitchenState, agent: str, call: Action) -> list[Cell]:
        """The cells that an action may be done at, in the order that decides between equally near ones."""
        reach, shared = self.layout.seats[SEATS.index(agent)].reach, self.layout.shared
        if call.verb == verbs.PICKUP and call.place == verbs.COUNTER:
            cells = [cell for cell, item in state.counters if food_of(item) == call.item and cell in reach]
            return [cell for cell in cells if cell not in shared] or cells
        if call.verb == verbs.PLACE:
            taken = [cell for cell, _ in state.counters]
            cells = [cell for cell in self.layout.counters if cell in reach and cell not in taken]
            return [cell for cell in cells if cell in shared] or cells
        place = self.layout.places.get(verbs.DELIVERY if call.verb == verbs.DELIVER else call.place)
        return [place] if place in reach else []

    def primitive(self, state: KitchenState, agent: str, action: str) -> str:
        """The next primitive of an action: a direction, INTERACT or STAY. A subclass may put noise here."""
        call = known(action)
        if call.verb == verbs.WAIT:
            return STAY
        seat = SEATS.index(agent)
        ways = self.layout.seats[seat].ways[state.cooks[seat].pose]
        found = [ways[cell] for cell in self.targets(state, agent, call)]
        return min(found, key=lambda way: way.cost).first if found else STAY

    def step(self, state: KitchenState, actions: Mapping[str, str]) -> KitchenState:
        """As in the base class: the initiator interacts, then the responder, then both move, then utensils go on."""
        self.check(state, actions)
        told = [actions.get(agent, NOTHING) for agent in SEATS]
        outcomes, primitives = [], []
        for agent, action in zip(SEATS, told, strict=True):
            refused = "" if self.as_recorded else self.refusal(state, agent, action)
            primitive = STAY if refused else self.primitive(state, agent, action)
            primitives.append(primitive)
            outcomes.append(Outcome(action, *(("refused", refused) if refused else ("moved", primitive))))
        after = replace(state, notice="") if state.notice else state
        for seat, (action, primitive) in enumerate(zip(told, primitives, strict=True)):
            if primitive == INTERACT:
                after, result = self._interact(after, seat, known(action))
                outcomes[seat] = Outcome(action, result)
            elif outcomes[seat].detail == STAY:
                outcomes[seat] = Outcome(action, "waited")
        return KitchenState(
            state.time + 1,
            tuple(
                cook if primitive in (INTERACT, STAY) else cook._replace(pose=self.layout.moved(cook.pose, primitive))
                for cook, primitive in zip(after.cooks, primitives, strict=True)
            ),
            tuple(u._replace(age=u.age + 1) if u.product and not self.finished(u) else u for u in after.utensils),
            after.counters,
            after.events,
            tuple(outcomes),
            after.delivered,
            after.notice,
        )

    def _interact(self, state: KitchenState, seat: int, call: Action) -> tuple[KitchenState, str]:
        """One cook interacts with the faced cell; returns the state after it and the result. What the other cook has
        changed in the same step counts."""
        agent, holds, cell = SEATS[seat], state.cooks[seat].holds, state.cooks[seat].pose.faced
        if self.as_recorded and (odd := self._as_upstream(state, seat, call)):
            return odd, "done"
        if self.refusal(state, agent, str(call)) or cell not in self.targets(state, agent, call):
            return state, "missed"
        event = Event(state.time, agent, str(call))
        match call.verb:
            case verbs.PICKUP if call.place == verbs.COUNTER:
                left = tuple((at, item) for at, item in state.counters if at != cell)
                return done(state, event, seat, state.on(cell), counters=left), "done"
            case verbs.PICKUP if call.place not in self.number:
                return done(state, event, seat, call.item), "done"
            case verbs.PICKUP:
                return done(state, event, seat, call.item, utensils=self._with(state, call.place, Utensil())), "done"
            case verbs.PLACE:
                return done(state, event, seat, "", counters=(*state.counters, (cell, holds))), "done"
            case verbs.PUT:
                filled = Utensil((*self.utensil(state, call.place).contents, holds))
                return done(state, event, seat, "", utensils=self._with(state, call.place, filled)), "done"
            case verbs.FILL:
                at = self.utensil(state, call.place)
                if not self.finished(at):
                    return state, "working"
                emptied = self._with(state, call.place, Utensil())
                return done(state, event, seat, PLATED + at.product, utensils=emptied), "done"
            case verbs.DELIVER:
                right = holds == (PLATED + self.order if self.recipe.on_dish else self.order)
                notice = "" if right else f"{holds} was delivered, but the order is {self.order}; it is gone"
                return done(state, event, seat, "", delivered=right, notice=notice), "done"
            case _:
                contents = self.utensil(state, call.place).contents
                product = made_of(kind_of(call.place), tuple(sorted(contents)))
                started, notice = Utensil(contents, product), ""
                if not product:
                    started = Utensil()
                    notice = f"{call.place} makes nothing of {' and '.join(contents)}; its contents are gone"
                utensils = self._with(state, call.place, started)
                return done(state, event, seat, holds, utensils=utensils, notice=notice), "done"

    def _as_upstream(self, state: KitchenState, seat: int, call: Action) -> KitchenState | None:
        """What the upstream engine makes of an interaction that we refuse; None where it does nothing odd."""
        agent, holds = SEATS[seat], state.cooks[seat].holds
        raw = food_of(holds) not in MEALS and not holds.startswith(PLATED)
        if call.verb == verbs.DELIVER and raw and any(name in holds for name in VANISHING):
            return done(state, Event(state.time, agent, str(call)), seat, "")
        if call.verb not in (verbs.PUT, verbs.FILL) or self.utensil(state, call.place).product:
            return None
        event = Event(state.time, agent, f"{verbs.PUT}({call.place})")
        contents = self.utensil(state, call.place).contents
        if call.verb == verbs.PUT and holds and len(contents) >= self.capacity:  # told at every step, and never done
            return done(state, event, seat, holds)
        if call.verb == verbs.FILL and holds.startswith(PLATED):  # the full dish goes in like an ingredient
            return done(state, event, seat, "", utensils=self._with(state, call.place, Utensil((*contents, holds))))
        return None

    def _with(self, state: KitchenState, name: str, utensil: Utensil) -> tuple[Utensil, ...]:
        """The utensils with one exchanged."""
        return tuple(utensil if n == name else u for n, u in zip(self.layout.utensils, state.utensils, strict=True))

    def is_done(self, begun: KitchenState, state: KitchenState, agent: str, action: str) -> bool:
        """Whether an action that `agent` began in state `begun` has come to its end in `state`, for those who ask an
        agent again only then. One that has become impossible never comes to it: `refusal` tells."""
        call, holds = known(action), state.cooks[SEATS.index(agent)].holds
        match call.verb:
            case verbs.WAIT:
                return state.time - begun.time >= call.steps
            case verbs.PICKUP:
                return food_of(holds) == call.item
            case verbs.FILL:
                return holds.startswith(PLATED)
            case verbs.PLACE | verbs.PUT | verbs.DELIVER:
                return not holds
            case _:
                return any(
                    event.action == action and event.agent == agent for event in state.events[len(begun.events) :]
                )

    # What is told -----------------------------------------------------------------------------------------------------

    def observe(self, state: KitchenState, agent: str) -> str:
        return observation(self, state, agent)

    def feedback(self, state: KitchenState, agent: str) -> str:
        return feedback(self, state, agent)

    def draw(self, state: KitchenState) -> str:
        return picture(self, state)

    def living(self, state: KitchenState) -> tuple[str, ...]:
        return SEATS

    def rewards(self, before: KitchenState, after: KitchenState) -> dict[str, float]:
        return dict.fromkeys(SEATS, self.reward if after.delivered and not before.delivered else 0.0)

    def is_over(self, state: KitchenState) -> bool:
        return state.delivered

    def is_cut(self, state: KitchenState) -> bool:
        return not state.delivered and state.time >= self.horizon


def done(
    state: KitchenState,
    event: Event,
    seat: int,
    holds: str,
    *,
    counters: tuple[tuple[Cell, str], ...] | None = None,
    utensils: tuple[Utensil, ...] | None = None,
    delivered: bool = False,
    notice: str = "",
) -> KitchenState:
    """The state after an accepted action: who holds what then, and what else it changed."""
    cooks = tuple(cook._replace(holds=holds) if at == seat else cook for at, cook in enumerate(state.cooks))
    return KitchenState(
        state.time,
        cooks,
        state.utensils if utensils is None else utensils,
        state.counters if counters is None else counters,
        (*state.events, event),
        state.outcomes,
        delivered or state.delivered,
        "; ".join(filter(None, (state.notice, notice))),
    )
