"""What is true of a dialogue of simulated models: the faults that were drawn for them and had an occasion to show.

The policy is run again on the stored texts, and every reply must come out as it is stored: so the draws are the ones
that were made. A fault without an occasion (a partner that was never asked cannot fabricate) does not show; a stage
that an earlier fault kept from happening was not passed.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from collabtax.agents import prompt, relayed
from collabtax.options import INTERVENTIONS
from collabtax.sim.policy import RELIEF, SCRIPTED, Knobs, Mind, knobs
from collabtax.tax.protocols import told
from collabtax.tax.study import cached_problem
from tasks import get_task
from tasks.base import seeded


@dataclass
class Watched(Mind):
    """A mind that notes which faults had an occasion, on which alone a knob is asked for, and whether they struck."""

    struck: dict[str, bool] = field(default_factory=dict)

    def fails(self, name: str) -> bool:
        self.struck[name] = super().fails(name)
        return self.struck[name]


def is_known(row: Mapping[str, Any]) -> bool:
    """Whether a stored rollout is a whole dialogue of simulated models, so that its truth can be recomputed."""
    simulated = all(model.startswith("sim/") and not SCRIPTED.fullmatch(model) for model in row["models"])
    return simulated and row["mode"] in ("homo", "hetero") and row["termination"] in ("marker", "cap")


def truth(row: Mapping[str, Any]) -> dict[str, bool]:
    """Which of the stages l1 to l4 (grounded, queried, integrated, re-derived) a stored dialogue passed.

    Raises:
        ValueError: it is no such dialogue, or not one that today's simulated models hold.
    """
    who = f"{row['task']} seed {row['seed']} of {' + '.join(row['models'])}"
    if not is_known(row):
        raise ValueError(f"{who}: no whole dialogue of simulated models, so its truth is not known")
    task = get_task(row["task"])
    one = cached_problem(task, row["seed"], row["said"]["difficulty"], row["said"]["friction"])
    heard: list[list[str]] = [[], []]
    said: list[list[str]] = [[], []]
    passed = {"l1": True, "l2": False, "l3": False, "l4": False}
    for turn in row["turns"]:
        seat = turn["seat"]
        model = row["models"][seat]
        opening = prompt("tax/collaboration_task").format(
            task=task.prompt,
            view=told(task, one, seat),
            opening="You speak first." if seat == 0 else "The other agent speaks first.",
        )
        first = "\n\n".join([opening, *(heard[seat][:1] if seat else [])])
        draws = seeded("policy", model, first)
        rates = knobs(model, task.family)
        rates = replace(rates, **{n: getattr(rates, n) * RELIEF for n in INTERVENTIONS.get(row["condition"], ())})
        mind = Watched(
            task, task.parse(told(task, one, seat)), rates, {n: draws.random() for n in vars(Knobs())}, draws
        )
        partner = [
            text.removeprefix("[other agent]: ") if i == 0 and seat else text for i, text in enumerate(heard[seat])
        ]
        if mind.in_dialogue(partner, said[seat]) != turn["text"]:
            raise ValueError(f"{who}: the simulated models of this version say something else; run it anew")
        passed["l1"] &= not mind.struck.get("l1", False)
        for stage in ("l2", "l3", "l4"):
            passed[stage] |= not mind.struck.get(stage, True)
        said[seat].append(turn["text"])
        heard[1 - seat].append(relayed(turn["text"]))
    return passed
