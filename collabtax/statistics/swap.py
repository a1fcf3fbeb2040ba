"""Estimators of the one-seat swap: pure functions from stored repetitions to contrasts with intervals (paper, sections
3.2 and 3.3, appendices B, C.5 and C.6). The repetition is the unit: a contrast is worked out in each, then averaged.

Every number about a seat is over its whole repetitions: those in which the original, the experienced and the fresh
branch were scored, as far as these were run at all. So the loss is the difference of the two means beside it.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import combinations
from statistics import fmean, stdev
from typing import Any

from collabtax.statistics.intervals import ROUNDING, Estimate, t_interval
from collabtax.swap.configuration import Configuration

Row = Mapping[str, Any]
Values = Mapping[int, float]  # by repetition
RATIO_IN_EACH = ("clinic",)  # families whose premium is the mean of the repetitions' own (design: C.4's tables)
HALVES = ("partner-half", "task-half")
COSTS = ("messages", "tokens")


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

    @property
    def estimate(self) -> Estimate:
        return Estimate(self.mean, self.low, self.high, self.n, self.n, "95% t over repetitions")

    @property
    def sign(self) -> int:
        """1 or -1 where the interval leaves 0 out and something varied, else 0: nobody can say."""
        if self.low is None or self.high is None or self.high - self.low <= ROUNDING:
            return 0
        return (self.low > 0) - (self.high < 0)


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
    mean, interval = fmean(found), t_interval(found, unit="repetitions")
    return Summary(
        mean, stdev(found) if len(found) > 1 else None, interval.low, interval.high,
        sum(sign(value) == sign(mean) for value in found), len(found),
    )  # fmt: skip


def sign(value: float) -> int:
    """-1, 0 or 1; what rounding leaves is 0."""
    return (value > ROUNDING) - (value < -ROUNDING)


def minus(one: Values, other: Values) -> dict[int, float]:
    """Differences in the repetitions that both have."""
    return {rep: one[rep] - other[rep] for rep in sorted(one.keys() & other.keys())}


def pooled_reps(groups: Sequence[Iterable[int]]) -> list[int]:
    """The repetitions in which seats can be pooled: those that all seats have; where seats alternated, so that no two
    have one in common, those that any has. [] where a seat has none."""
    sets = [set(group) for group in groups]
    if not all(sets) or not sets:
        return []
    alternate = len(sets) > 1 and not any(a & b for a, b in combinations(sets, 2))
    return sorted(set.union(*sets) if alternate else set.intersection(*sets))


def over_seats(groups: Sequence[Values]) -> dict[int, float]:
    """In each repetition the mean over the seats that were replaced in it."""
    return {rep: fmean(group[rep] for group in groups if rep in group) for rep in pooled_reps(groups)}


@dataclass(frozen=True)
class Line:
    """All branches of one setting, configuration and pair of models. `seats`: seat -> branch -> repetitions;
    `condition` leaves the seat out. Where a method takes a seat, "" is all of them pooled."""

    task: str
    family: str
    condition: str
    receiver: str
    newcomer: str
    original: Reps
    seats: Mapping[str, Mapping[str, Reps]] = field(default_factory=dict)

    def whole(self, seat: str = "") -> list[int]:
        """The repetitions that numbers are over."""
        if not seat:
            return pooled_reps([self.whole(one) for one in self.seats])
        branches = self.seats.get(seat, {})
        core = [reps for reps in (self.original, *(branches.get(b, {}) for b in ("experienced", "fresh"))) if reps]
        return sorted(set.intersection(*map(set, core))) if core else []

    def at(self, seat: str, branch: str) -> dict[int, Repetition]:
        """A branch in the whole repetitions of a seat; the original is the same for all seats."""
        reps = self.original if branch == "original" else self.seats.get(seat, {}).get(branch, {})
        return {rep: reps[rep] for rep in self.whole(seat) if rep in reps}

    def scores(self, branch: str, seat: str = "") -> dict[int, float]:
        """Scores of a branch by repetition."""
        if not seat:
            return over_seats([self.scores(branch, one) for one in self.seats])
        return {rep: one.score for rep, one in self.at(seat, branch).items()}

    def difference(self, one: str, other: str, seat: str = "") -> dict[int, float]:
        """One branch minus another, by repetition."""
        if not seat:
            return over_seats([self.difference(one, other, each) for each in self.seats])
        return minus(self.scores(one, seat), self.scores(other, seat))

    def loss(self, seat: str = "") -> dict[int, float]:
        """Continuity loss D = O - E."""
        return self.difference("original", "experienced", seat)

    def gain(self, seat: str = "", branch: str = "experienced") -> dict[int, float]:
        """Experience gain G = E - F, or of a half G_a = S_a - F."""
        return self.difference(branch, "fresh", seat)

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
        experienced = minus(self.scores("experienced", second), self.scores("experienced", first))
        fresh = minus(self.scores("fresh", first), self.scores("fresh", second))
        return {r: experienced[r] for r in whole}, {r: fresh[r] for r in whole}

    def beside_original(self, branch: str, seat: str = "") -> list[tuple[int, Repetition, Repetition]]:
        """Repetition, the original there, and the branch: once for each seat that was replaced in it."""
        reps = self.whole(seat)
        return [
            (rep, self.original[rep], mine[rep])
            for where in ([seat] if seat else self.seats)
            for mine in [self.at(where, branch)]
            for rep in reps
            if rep in mine and rep in self.original
        ]

    def cost(self, what: str, branch: str, seat: str = "") -> float | None:
        """Messages or tokens per unit of progress, averaged over repetitions; None where one has no progress. The
        original's are those beside the experienced branch."""
        pairs = self.beside_original("experienced" if branch == "original" else branch, seat)
        costs = [(original if branch == "original" else mine).cost(what) for _, original, mine in pairs]
        known = [cost for cost in costs if cost is not None]
        return fmean(known) if known and len(known) == len(costs) else None

    def premium(self, what: str, seat: str = "", branch: str = "experienced") -> float | None:
        """By how many percent a branch costs more `messages` or `tokens` per unit of progress than the original: the
        ratio of costs averaged over repetitions, or, for the clinic, the mean of the repetitions' ratios. None where a
        repetition has no progress, or none is whole."""
        pairs = [(mine.cost(what), original.cost(what)) for _, original, mine in self.beside_original(branch, seat)]
        known = [(a, b) for a, b in pairs if a is not None and b]
        if not known or len(known) < len(pairs):
            return None
        if self.family in RATIO_IN_EACH:
            return fmean(100 * (a / b - 1) for a, b in known)
        return 100 * (fmean(a for a, _ in known) / fmean(b for _, b in known) - 1)

    def change(self, what: str, seat: str = "", branch: str = "experienced") -> float | None:
        """By how many percent a branch has more messages or tokens in its episodes, whatever progress they made."""
        pairs = self.beside_original(branch, seat)
        before = sum(float(getattr(original, what)) for _, original, _ in pairs)
        return 100 * (sum(float(getattr(mine, what)) for *_, mine in pairs) / before - 1) if before else None

    def alternating(self, first: int = 0) -> Line:
        """The same line as if seats had alternated from the repetition `first` on: each repetition keeps one (paper,
        appendix A, breadth screen)."""
        seats = list(self.seats)
        kept = {
            seat: {
                branch: {rep: one for rep, one in reps.items() if (rep - first) % len(seats) == number}
                for branch, reps in self.seats[seat].items()
            }
            for number, seat in enumerate(seats)
        }
        return replace(self, seats=kept)

    def by_episode(self) -> dict[int, dict[int, float]]:
        """Loss by the number of an episode, from 0, in each repetition, pooled over seats: how it goes on when the team
        plays together after the swap."""
        found: dict[int, dict[int, list[float]]] = {}
        for rep, original, mine in self.beside_original("experienced"):
            for number, (one, other) in enumerate(zip(original.episodes, mine.episodes, strict=False)):
                found.setdefault(number, {}).setdefault(rep, []).append(one - other)
        return {n: {rep: fmean(v) for rep, v in sorted(reps.items())} for n, reps in sorted(found.items())}


@dataclass(frozen=True)
class Contrast:
    """A difference in points, repetition by repetition; `seat` is "" where seats are pooled or compared."""

    seat: str
    name: str
    values: Values

    @property
    def summary(self) -> Summary:
        return summary(self.values.values())


def contrasts(line: Line) -> Iterator[Contrast]:
    """All that a line has something for, in the order of tables S3 and S5: seat by seat, pooled, between the seats."""
    found: list[tuple[str, str, Values]] = []
    for seat in (*line.seats, *([""] if len(line.seats) > 1 else [])):
        found += [(seat, "loss", line.loss(seat)), (seat, "gain", line.gain(seat))]
    for seat in line.seats:
        found.append((seat, "incumbent - fresh", line.difference("original", "fresh", seat)))
        for half in HALVES:
            name = half.replace("-", " ")
            found.append((seat, f"gain of the {name}", line.gain(seat, half)))
            found.append((seat, f"{name} - whole", line.difference(half, "experienced", seat)))
        found.append((seat, "cost of rewording", line.difference("original", "paraphrase", seat)))
    whole, (experienced, fresh) = line.asymmetry(), line.terms()
    found += [("", "seat asymmetry", whole), ("", "experienced term", experienced), ("", "fresh term", fresh)]
    for half in HALVES:
        name, mine = half.replace("-", " "), line.asymmetry(half)
        found.append(("", f"seat asymmetry, {name}", mine))
        found.append(("", f"seat asymmetry, {name} - whole", minus(mine, whole)))
    yield from (Contrast(*one) for one in found if one[2])


def changed(line: Line, plain: Line) -> Iterator[Contrast]:
    """What a condition changes: each contrast of `line` minus the same one of `plain`, by repetition."""
    before = {(one.seat, one.name): one.values for one in contrasts(plain)}
    for one in contrasts(line):
        if values := minus(one.values, before.get((one.seat, one.name), {})):
            yield Contrast(one.seat, one.name, values)


def built(unformed: Line, formed: Line) -> dict[str, dict[int, float]]:
    """Where what formation built goes when a member is replaced (paper, section 4.3): `built`, the formed team minus
    an unformed one with a fresh newcomer, is the sum of what the notebooks of those who stay keep (`kept`), what an
    imported one brings back (`recovered`) and what leaves with the member (`left`)."""
    nothing = unformed.scores("fresh")
    parts = {
        "built": minus(formed.scores("original"), nothing),
        "kept": minus(formed.scores("fresh"), nothing),
        "recovered": formed.gain(),
        "left": formed.loss(),
    }
    whole = set.intersection(*(set(part) for part in parts.values()))
    return {name: {rep: part[rep] for rep in sorted(whole)} for name, part in parts.items()}


def planning(two: Line, five: Line) -> tuple[dict[int, float], dict[str, dict[int, float]]]:
    """What more planners change: the reduction z = D(2) - D(5) by repetition, and by how many percent the experienced
    branch's costs change (paper, B.3), for "messages" and "tokens". A repetition without progress has no cost."""
    changes: dict[str, dict[int, float]] = {}
    for what in COSTS:
        before, after = (
            over_seats([
                {rep: cost for rep, one in line.at(seat, "experienced").items() if (cost := one.cost(what)) is not None}
                for seat in line.seats
            ])
            for line in (two, five)
        )  # fmt: skip
        changes[what] = {
            rep: 100 * (after[rep] / before[rep] - 1) for rep in sorted(before.keys() & after.keys()) if before[rep]
        }
    return minus(two.loss(), five.loss()), changes


def repetition(row: Row) -> Repetition:
    """What a stored branch came to in one repetition."""
    data = row["data"]
    episodes = tuple(float(episode["score"]) for episode in data["episodes"])
    score = fmean(episodes) if episodes else 100 * float(row["score"])
    return Repetition(score, data["progress"], data["messages"], data["tokens"], episodes)


def lines(rows: Iterable[Row]) -> list[Line]:
    """All lines that stored rows of the study make, in the order in which they come; formations, labels and rollouts
    that have no score have none."""
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
        ordered = {seat: seats[seat] for seat in sorted(seats)}  # initiator, responder
        original = originals.get((task, shared, receiver), {})
        found.append(Line(task, family, condition, receiver, newcomer, original, ordered))
    return found


@dataclass(frozen=True)
class Composition:
    """How many lines of notebooks have each label, and on how many both labellers agreed (table S6)."""

    task: int
    partner: int
    drop: int
    agreed: int

    @property
    def lines(self) -> int:
        return self.task + self.partner + self.drop

    def __add__(self, other: Composition) -> Composition:
        return Composition(
            self.task + other.task, self.partner + other.partner, self.drop + other.drop, self.agreed + other.agreed
        )

    def share(self, what: str) -> float | None:
        """Percent of the lines that are `what`: a label, or "agreed"."""
        return 100 * float(getattr(self, what)) / self.lines if self.lines else None


def composition(rows: Iterable[Row]) -> dict[str, dict[int, Composition]]:
    """Of the notebooks of stored labels, by role and repetition."""
    found: dict[str, dict[int, Composition]] = {}
    for row in rows:
        for line in row["data"]["lines"] if row["mode"] == "labels" and row["outcome"] == "scored" else ():
            label, reps = line["label"], found.setdefault(line["role"], {})
            one = Composition(
                label == "TASK", label == "PARTNER", label == "DROP", line["labels"][0] == line["labels"][1]
            )
            reps[row["seed"]] = reps.get(row["seed"], Composition(0, 0, 0, 0)) + one
    return {role: dict(sorted(reps.items())) for role, reps in sorted(found.items())}
