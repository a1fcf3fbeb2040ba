"""What must come out of two drills, from the rates of a simulated crew (`collabtax.sim.crew`).

`push`: CUBE with one block of weight w for a team of w. The crew walks to its posts without faults. Then it pushes in
rounds of k = min(10, pushes to go, steps left); each member has a fault at the rate r = late + place + count, by
itself. With f faulty members the round moves the block k cells where f = 0; else it stays, and each of the k steps is
an attempt of w - f members, unless f = w. The temporal deficit of each is f / w; the spatial one is the share of those
who walk off, in all steps but the first. A repair, where it is due, mends each fault at the rate `mend`; there is none
where all idle and name no task. Hence, pooled over attempts and whatever the length of an episode, the temporal deficit
is (r - r^w) / (1 - r^w) without repair [Wald's identity]. With repair in every round and without `count` the faults
that are left are f (1 - mend) on average, also where f = w. `push` counts all of this step by step.

`mine`: Crafter with two members beside a coal and three trees each. Each forgets its pickaxe at the rate t = tool,
tries the coal for a step, fails, and makes the pickaxe. Where both forget, that is one attempt: nobody holds a pickaxe,
both work. Where one does, it is two: alone and without a pickaxe, then the other one alone, the only one that holds
one. At last both mine the coal in one attempt. With repair t is tool (1 - mend).
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from math import comb

from collabtax.sim.crew import Knobs
from tasks.worlds.cooperation import CONSTRAINTS

LONGEST = 10  # steps of a round


@dataclass(frozen=True)
class Truth:
    """Expected sums of an episode: attempts, their deficits by constraint, and the score, which is 0 or `most`."""

    attempts: float
    deficits: dict[str, float]
    score: float
    most: float

    @property
    def pooled(self) -> dict[str, float | None]:
        """Deficits over all attempts of many episodes."""
        return {c: self.deficits[c] / self.attempts if self.attempts else None for c in CONSTRAINTS}


def push(
    rates: Knobs, *, weight: int, pushes: int, column: int, steps: int, repair: bool, cooldown: int = 1
) -> Truth:  # fmt: skip
    """A drill in CUBE from when all are at their posts. `pushes` are to go from the block's `column`, `steps` are left;
    a repair is due `cooldown` steps after the last one."""

    @cache
    def rest(done: int, step: int, stamp: int) -> tuple[float, float, float, float]:
        """Expected attempts, temporal and spatial deficits and score from here on."""
        k = min(LONGEST, pushes - done, steps - step)
        if k <= 0:
            return 0.0, 0.0, 0.0, float(weight) if done == pushes else 0.0
        off = rates.place if k > 1 and column + done >= 2 else 0.0  # there is room to walk off
        total = [0.0] * 4
        for away, named, unnamed, chance in _faults(weight, off, rates.late + rates.place - off, rates.count):
            is_due = repair and away + named + unnamed > 0 and unnamed < weight and step - stamp >= cooldown
            after = rest(done, step + k, step if is_due else stamp), rest(done + k, step + k, step if is_due else stamp)
            for still_away, still, p in _left(away, named + unnamed, rates.mend if is_due else 0.0):
                faulty = still_away + still
                one = list(after[faulty == 0])
                if faulty < weight:
                    one[0] += k
                    one[1] += k * faulty / weight
                    one[2] += (k - 1) * still_away / weight
                total = [t + chance * p * x for t, x in zip(total, one, strict=True)]
        return total[0], total[1], total[2], total[3]

    attempts, temporal, spatial, score = rest(0, 0, -cooldown)
    none = dict.fromkeys(CONSTRAINTS, 0.0)
    return Truth(attempts, {**none, "temporal": temporal, "spatial": spatial}, score, float(weight))


def _faults(team: int, *rates: float) -> list[tuple[int, int, int, float]]:
    """How many members have each of three faults, and with what probability."""
    a, b, c = rates
    return [
        (i, j, k, comb(team, i) * comb(team - i, j) * comb(team - i - j, k)
         * a**i * b**j * c**k * max(0.0, 1 - a - b - c) ** (team - i - j - k))
        for i in range(team + 1) for j in range(team + 1 - i) for k in range(team + 1 - i - j)
    ]  # fmt: skip


def _left(away: int, others: int, mend: float) -> list[tuple[int, int, float]]:
    """How many of those who walk off, and of others with a fault, keep it, and with what probability."""
    return [
        (i, j, comb(away, i) * comb(others, j) * (1 - mend) ** (i + j) * mend ** (away + others - i - j))
        for i in range(away + 1) for j in range(others + 1)
    ]  # fmt: skip


def mine(rates: Knobs, repair: bool, reward: float = 150.0) -> Truth:
    """A drill in Crafter; `reward` is what a coal scores for both together."""
    t = rates.tool * (1 - rates.mend) if repair else rates.tool
    one, both = 2 * t * (1 - t), t * t
    without = one * (1 + 0.5) + both
    found = {"temporal": one * (0.5 + 0.5), "spatial": 0.0, "participation": without, "dependency": without}
    return Truth(1 + 2 * one + both, found, reward, reward)
