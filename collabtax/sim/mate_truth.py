"""What must come out of a swap of simulated members: expected scores of branches, and the contrasts made of them.

They hold for teams that have been formed in the default configuration, so that every member that stays knows a lesson
for each task and its team's convention, and for newcomers that are told so. Derivation, with rates as in
`collabtax.sim.mate` and k the number of things that a member wastes in an episode, at most two, from independent draws:

- kitchen: a role with l reference actions takes l + 2k, so its TES is (1 + b^2) l / (l + b^2 (l + 2k)) with b = 0.95;
  the score is 100 times the mean of both roles;
- forest: a member leaves k of its two target cells standing: 100 (1 - sum of k / 6);
- clinic: a specialist is wrong where k > 0, all wrong ones with the same label, and two of three decide.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import product

from collabtax.sim.mate import MOST_WASTES, Knobs
from graders.trajectories import BETA

ACTIONS = {"kitchen-l1": (5, 2), "kitchen-l2": (5, 5), "kitchen-l3": (9, 7)}  # of a reference, by seat
SEATS = {"forest": 3, "clinic": 3}
LACKS = {  # branch -> what the newcomer goes without: the lesson; its partner's convention (none, or a foreign one)
    "original": (False, ""), "paraphrase": (False, ""), "experienced": (False, "foreign"), "fresh": (True, "none"),
    "task-half": (False, "none"), "partner-half": (True, "foreign"),
}  # fmt: skip


def chances(game: str, branch: str, seat: str, rates: Knobs) -> list[list[float]]:
    """For each seat the chances of the things that its member may waste."""
    lesson, word = LACKS[branch]
    foreign = {"initiator": rates.lead, "responder": rates.follow}.get(seat, rates.peer)
    newcomer = [rates.slip, rates.task * lesson, {"": 0.0, "none": rates.partner, "foreign": foreign}[word]]
    at = ["initiator", "responder"].index(seat) if game in ACTIONS and seat else 0
    seats = len(ACTIONS[game]) if game in ACTIONS else SEATS[game]
    return [newcomer if i == at else [rates.slip] for i in range(seats)]


def wasted(chances: Sequence[float]) -> list[float]:
    """The probabilities of wasting 0, 1 and 2 things, from the chance of each thing by itself."""
    found = [0.0] * (MOST_WASTES + 1)
    for draws in product((False, True), repeat=len(chances)):
        p = 1.0
        for chance, struck in zip(chances, draws, strict=True):
            p *= chance if struck else 1 - chance
        found[min(MOST_WASTES, sum(draws))] += p
    return found


def score(game: str, branch: str, seat: str, rates: Knobs) -> float:
    """The expected score, 0 to 100, of a branch of `game` with `seat` replaced."""
    seats = [wasted(one) for one in chances(game, branch, seat, rates)]
    if game in ACTIONS:
        weight = BETA * BETA
        efficiency = [
            sum(p * (1 + weight) * length / (length + weight * (length + 2 * k)) for k, p in enumerate(one))
            for length, one in zip(ACTIONS[game], seats, strict=True)
        ]
        return 100 * sum(efficiency) / len(efficiency)
    if game == "forest":
        return 100 * (1 - sum(k * p for one in seats for k, p in enumerate(one)) / 6)
    right = 0.0
    for wrong in product((False, True), repeat=len(seats)):
        p = 1.0
        for one, is_wrong in zip(seats, wrong, strict=True):
            p *= 1 - one[0] if is_wrong else one[0]
        right += p * (sum(wrong) < 2)
    return 100 * right


@dataclass(frozen=True)
class Effects:
    """Contrasts of a game in points, by seat: continuity loss O - E, experience gain E - F, the gains of the halves,
    and the cost of rewording; `asymmetry` is the gain of the responder less that of the initiator, of whole notebooks
    and of each half, None where seats are alike."""

    loss: dict[str, float]
    gain: dict[str, float]
    halves: dict[str, dict[str, float]]
    rewording: dict[str, float]
    asymmetry: dict[str, float] | None


def effects(game: str, rates: Knobs) -> Effects:
    """What a study of `game` with these rates has to find."""
    seats = ("initiator", "responder") if game in ACTIONS else ("agent" if game == "forest" else "specialist",)
    found = {branch: {seat: score(game, branch, seat, rates) for seat in seats} for branch in LACKS}

    def less(branch: str, other: str) -> dict[str, float]:
        return {seat: found[branch][seat] - found[other][seat] for seat in seats}

    gains = {branch: less(branch, "fresh") for branch in ("experienced", "task-half", "partner-half")}
    asymmetry = {branch: gain["responder"] - gain["initiator"] for branch, gain in gains.items() if len(seats) == 2}
    return Effects(
        less("original", "experienced"), gains["experienced"],
        {branch: gains[branch] for branch in ("task-half", "partner-half")}, less("original", "paraphrase"),
        asymmetry or None,
    )  # fmt: skip
