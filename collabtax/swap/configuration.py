"""What a cell's condition says: which seat is replaced, and what differs from the default (paper, section 4.1)."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from typing import Any

DEFAULT_FORMATION = 5  # episodes
PART = re.compile(
    r"(formation|temperature|planning)-(\d+)|no-notice|told|plan-first|together|held-out|on-idle|([a-z]+)(?:-|$)"
)


@dataclass(frozen=True)
class Configuration:
    """One configuration. `seat` is "" where nobody is replaced or all seats share a result.

    `formation`: episodes played before the team is frozen. `planners`: members of a team that plans before it acts, 0
    for none. `notice`: the newcomer is told that it is new. `told`: so are those who stay. `plan_first`: a member that
    stays states its plan before the first step. `together`: notebooks go on in the evaluation, so that the loss can be
    followed over episodes played together. `held_out`: evaluated on orders that formation did not have. `on_idle`: a
    member decides only when its last action is done.
    """

    seat: str = ""
    formation: int = DEFAULT_FORMATION
    temperature: float | None = None
    planners: int = 0
    notice: bool = True
    told: bool = False
    plan_first: bool = False
    together: bool = False
    held_out: bool = False
    on_idle: bool = False

    @classmethod
    def of(cls, condition: str) -> Configuration:
        """The inverse of `condition`. Raises ValueError for a text that it cannot have written."""
        found: dict[str, Any] = {}
        at = 0
        while at < len(condition):
            part = PART.match(condition, at)
            if part is None:
                raise ValueError(f"{condition!r} is no condition of the swap study")
            word = part[0].rstrip("-")
            if part[1] == "temperature":
                found["temperature"] = float(part[2])
            elif part[1]:
                found["planners" if part[1] == "planning" else part[1]] = int(part[2])
            elif part[3]:
                found["seat"] = word
            elif word == "no-notice":
                found["notice"] = False
            else:
                found[word.replace("-", "_")] = True
            at = part.end() + (condition[part.end() : part.end() + 1] == "-")
        if (configuration := cls(**found)).condition != condition:  # out of order, twice, or what is the default
            raise ValueError(f"{condition!r} is no condition of the swap study")
        return configuration

    @property
    def condition(self) -> str:
        """As it stands in a cell: the seat, then what differs from the default."""
        return "-".join(
            [
                *([self.seat] if self.seat else []),
                *([f"formation-{self.formation}"] if self.formation != DEFAULT_FORMATION else []),
                *([f"temperature-{self.temperature:g}"] if self.temperature is not None else []),
                *([f"planning-{self.planners}"] if self.planners else []),
                *([] if self.notice else ["no-notice"]),
                *(
                    name.replace("_", "-")
                    for name in ("told", "plan_first", "together", "held_out", "on_idle")
                    if getattr(self, name)
                ),
            ]
        )

    @property
    def formed(self) -> Configuration:
        """The configuration of the formation that this one builds on: only what differs there."""
        return Configuration(
            formation=self.formation, temperature=self.temperature, planners=self.planners, held_out=self.held_out,
            on_idle=self.on_idle,
        )  # fmt: skip

    @property
    def unswapped(self) -> Configuration:
        """That of the original team, which all seats share; without a newcomer nobody can be told of one."""
        return replace(self, seat="", notice=True, told=False)
