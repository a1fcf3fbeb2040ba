"""Estimators of the one-seat swap: pure functions from stored repetitions to contrasts with intervals (paper, sections
3.2 and 3.3, appendices B, C.5 and C.6). The repetition is the unit: a contrast is worked out in each, then averaged."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from statistics import fmean, stdev
from typing import Any

from collabtax.statistics.intervals import t_interval
from collabtax.swap.configuration import Configuration

Row = Mapping[str, Any]
Values = Mapping[int, float]  # by repetition
RATIO_IN_EACH = ("clinic",)  # families whose premium is the mean of the repetitions' own (design: C.4's tables)


@dataclass(frozen=True)
class Summary:
    """A contrast over repetitions: mean, standard deviation (n - 1), 95 % t interval, and `k` of `n` repetitions whose
    sign is the mean's. None where undefined."""

    mean: float | None
    sd: float | None
    low: float | None
    high: float | None
    k: int
    n: int


@dataclass(frozen=True)
class Repetition:
    """One branch in one repetition: mean score of its episodes in points (0 to 100), sums of progress, published
    messages and their tokens, and the score of each episode in order."""

    score: float
    progress: float
    messages: float
    tokens: float
    episodes: tuple[float, ...] = ()

    def cost(self, what: str) -> float | None:
        """Messages or tokens per unit of progress; None where there was no progress (paper, C.5)."""
        return float(getattr(self, what)) / self.progress if self.progress else None


Reps = Mapping[int, Repetition]


def summary(values: Iterable[float]) -> Summary:
    """Of the values of all repetitions."""
    found = [float(value) for value in values]
    if not found:
        return Summary(None, None, None, None, 0, 0)
    mean, interval = fmean(found), t_interval(found)
    sign = (mean > 0) - (mean < 0)
    return Summary(
        mean, stdev(found) if len(found) > 1 else None, interval.low, interval.high,
        sum(((value > 0) - (value < 0)) == sign for value in found), len(found),
    )  # fmt: skip


def minus(one: Values, other: Values) -> dict[int, float]:
    """Differences in the repetitions that both have."""
    return {rep: one[rep] - other[rep] for rep in sorted(one.keys() & other.keys())}


def mean_over(groups: Sequence[Values]) -> dict[int, float]:
    """In each repetition the mean over the groups that have it: seats are pooled so, both or one of them."""
    reps = sorted({rep for group in groups for rep in group})
    return {rep: fmean(group[rep] for group in groups if rep in group) for rep in reps}


@dataclass(frozen=True)
class Line:
    """All branches of one setting, configuration and pair of models. `seats`: seat -> branch -> repetitions;
    `condition` leaves the seat out."""

    task: str
    family: str
    condition: str
    receiver: str
    newcomer: str
    original: Reps
    seats: Mapping[str, Mapping[str, Reps]] = field(default_factory=dict)

    def scores(self, seat: str, branch: str) -> dict[int, float]:
        """Scores of a branch; the original is the same for all seats."""
        reps = self.original if branch == "original" else self.seats.get(seat, {}).get(branch, {})
        return {rep: one.score for rep, one in reps.items()}

    def difference(self, seat: str, one: str, other: str) -> dict[int, float]:
        """One branch minus another, by repetition."""
        return minus(self.scores(seat, one), self.scores(seat, other))

    def loss(self, seat: str) -> dict[int, float]:
        """Continuity loss D = O - E."""
        return self.difference(seat, "original", "experienced")

    def gain(self, seat: str, branch: str = "experienced") -> dict[int, float]:
        """Experience gain G = E - F, or of a half G_a = S_a - F."""
        return self.difference(seat, branch, "fresh")

    def rewording(self, seat: str) -> dict[int, float]:
        """Cost of rewording W = O - paraphrase."""
        return self.difference(seat, "original", "paraphrase")

    def pooled(self, one: str, other: str) -> dict[int, float]:
        """A difference averaged in each repetition over the seats that were replaced in it."""
        return mean_over([self.difference(seat, one, other) for seat in self.seats])

    def branch(self, branch: str, seat: str = "") -> dict[int, float]:
        """Scores of a branch in the repetitions that have the whole comparison, over one seat or pooled."""
        seats = [seat] if seat else list(self.seats)
        groups = []
        for one in seats:
            whole = self.difference(one, "original", "experienced").keys() & self.gain(one).keys()
            groups.append({rep: value for rep, value in self.scores(one, branch).items() if rep in whole})
        return mean_over(groups)

    def asymmetry(self, branch: str = "experienced") -> dict[int, float]:
        """Seat asymmetry: the gain of the second seat minus that of the first (responder minus initiator); {} for a
        game with one kind of seat."""
        if len(self.seats) != 2:
            return {}
        first, second = self.seats
        return minus(self.gain(second, branch), self.gain(first, branch))

    def terms(self) -> tuple[dict[int, float], dict[int, float]]:
        """The two parts that the seat asymmetry is the sum of: E_second - E_first and F_first - F_second."""
        if len(self.seats) != 2:
            return {}, {}
        first, second = self.seats
        whole = self.asymmetry().keys()
        experienced = minus(self.scores(second, "experienced"), self.scores(first, "experienced"))
        fresh = minus(self.scores(first, "fresh"), self.scores(second, "fresh"))
        return {r: experienced[r] for r in whole}, {r: fresh[r] for r in whole}

    def premium(self, what: str, seat: str = "", branch: str = "experienced") -> float | None:
        """By how many percent a branch costs more `messages` or `tokens` per unit of progress than the original: the
        ratio of costs averaged over repetitions, or, for the clinic, the mean of the repetitions' ratios. None where a
        repetition has no progress, or none is whole."""
        one, other = [], []
        for where in [seat] if seat else self.seats:
            mine = self.seats.get(where, {}).get(branch, {})
            for rep in sorted(mine.keys() & self.original.keys()):
                one.append(mine[rep].cost(what))
                other.append(self.original[rep].cost(what))
        first, second = [c for c in one if c is not None], [c for c in other if c is not None]
        if not one or len(first) < len(one) or len(second) < len(other) or 0 in second:
            return None
        if self.family in RATIO_IN_EACH:
            return fmean(100 * (a / b - 1) for a, b in zip(first, second, strict=True))
        return 100 * (fmean(first) / fmean(second) - 1)

    def cost(self, what: str, branch: str, seat: str = "") -> float | None:
        """Messages or tokens per unit of progress, averaged over repetitions; None where one has no progress."""
        groups = [self.original] if branch == "original" else [
            self.seats.get(where, {}).get(branch, {}) for where in ([seat] if seat else self.seats)
        ]  # fmt: skip
        costs = [one.cost(what) for group in groups for one in group.values()]
        known = [cost for cost in costs if cost is not None]
        return fmean(known) if known and len(known) == len(costs) else None

    def alternating(self) -> Line:
        """The same line as if seats had alternated: each repetition keeps one (paper, appendix A, breadth screen)."""
        seats = list(self.seats)
        kept = {
            seat: {
                branch: {rep: one for rep, one in reps.items() if rep % len(seats) == number}
                for branch, reps in self.seats[seat].items()
            }
            for number, seat in enumerate(seats)
        }
        return replace(self, seats=kept)

    def by_episode(self) -> dict[int, dict[int, float]]:
        """Loss by the number of an episode, from 0, in each repetition, pooled over seats: how it goes on when the team
        plays together after the swap."""
        found: dict[int, dict[int, list[float]]] = {}
        for branches in self.seats.values():
            mine = branches.get("experienced", {})
            for rep in sorted(mine.keys() & self.original.keys()):
                pairs = zip(self.original[rep].episodes, mine[rep].episodes, strict=False)
                for number, (one, other) in enumerate(pairs):
                    found.setdefault(number, {}).setdefault(rep, []).append(one - other)
        return {number: {rep: fmean(v) for rep, v in reps.items()} for number, reps in sorted(found.items())}


def planning(two: Line, five: Line) -> tuple[dict[int, float], dict[str, dict[int, float]]]:
    """What more planners change: the reduction z = D(2) - D(5) by repetition, and by how many percent the experienced
    branch's costs change (paper, B.3), for "messages" and "tokens"."""
    loss = [line.pooled("original", "experienced") for line in (two, five)]
    changes: dict[str, dict[int, float]] = {}
    for what in ("messages", "tokens"):
        costs = []
        for line in (two, five):
            groups = [branches.get("experienced", {}) for branches in line.seats.values()]
            known = [{rep: c for rep, one in group.items() if (c := one.cost(what)) is not None} for group in groups]
            costs.append(mean_over(known))
        changes[what] = {
            rep: 100 * (costs[1][rep] / costs[0][rep] - 1)
            for rep in sorted(costs[0].keys() & costs[1].keys())
            if costs[0][rep]
        }
    return minus(loss[0], loss[1]), changes


def repetition(row: Row) -> Repetition:
    """What a stored branch came to in one repetition."""
    data = row["data"]
    episodes = tuple(float(episode["score"]) for episode in data["episodes"])
    score = fmean(episodes) if episodes else 100 * float(row["score"])
    return Repetition(score, data["progress"], data["messages"], data["tokens"], episodes)


def lines(rows: Iterable[Row]) -> list[Line]:
    """All lines that stored rows of the study make, in the order in which they come; formations, labels and rollouts
    that could not be run have none."""
    originals: dict[tuple[str, str, str], dict[int, Repetition]] = {}
    swapped: dict[tuple[str, str, str, str, str], dict[str, dict[str, dict[int, Repetition]]]] = {}
    for row in rows:
        if row["mode"] in ("formation", "labels") or row["outcome"] != "scored":
            continue
        configuration, models = Configuration.of(row["condition"]), row["models"]
        if row["mode"] == "original":
            key = row["task"], configuration.condition, models[0]
            originals.setdefault(key, {})[row["seed"]] = repetition(row)
            continue
        where = row["task"], row["family"], replace(configuration, seat="").condition, models[0], models[-1]
        seats = swapped.setdefault(where, {})
        seats.setdefault(configuration.seat, {}).setdefault(row["mode"], {})[row["seed"]] = repetition(row)
    found = []
    for (task, family, condition, receiver, newcomer), seats in swapped.items():
        shared = Configuration.of(condition).unswapped.condition
        ordered = {seat: seats[seat] for seat in sorted(seats)}
        original = originals.get((task, shared, receiver), {})
        found.append(Line(task, family, condition, receiver, newcomer, original, ordered))
    return found
