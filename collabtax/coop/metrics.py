"""What is measured of an episode, from its trace alone (paper, section 6), and of the repeats of a cell."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from statistics import fmean, stdev
from typing import Any

from collabtax.statistics.intervals import t_interval
from tasks.worlds.cooperation import CONSTRAINTS

Event = Mapping[str, Any]
Metrics = dict[str, Any]
BUSY = ("R", "I")  # statuses in which an agent decides
TALK = ("repair", "intention", "contact")  # messages of a repair


def measure(trace: Sequence[Event]) -> Metrics:
    """All of an episode.

    Returns:
        world, structure, repair, agents, end: as the trace has them
        score, steps, score_per_step (None without a step), seconds (when it ended)
        plans, plans_per_agent, fallbacks (plans that stand in for unreadable ones)
        messages (a broadcast counts once), interruptions (entries into I), decision (seconds, summed over agents in R
        and I), decision_by_agent
        attempts, failed, deficits (mean over attempts by constraint; None without an attempt)
        repair: checks, talks, tasks (repaired), cooldowns (tasks left alone), messages, seconds (that talks took until
        all were ready)
        forecasts: see `Forecasts`, with precision and recall

    Raises:
        ValueError: a trace that does not begin with `start`.
    """
    if not trace or trace[0]["event"] != "start":
        raise ValueError("a trace begins with the event start; this is none, or is cut off at its front")
    start, last = trace[0], trace[-1]
    agents = start["agents"]
    kinds = [event["event"] for event in trace]
    tries = [event for event in trace if event["event"] == "attempt"]
    score = sum(event["score"] for event in trace if event["event"] == "completed")
    steps, plans = kinds.count("step"), kinds.count("plan")
    decision = decision_seconds(trace)
    forecasts = judged(trace)
    return {
        "world": start["world"], "structure": start["structure"], "repair": start["repair"], "agents": len(agents),
        "end": last["reason"] if last["event"] == "end" else "",
        "score": float(score), "steps": steps, "score_per_step": score / steps if steps else None,
        "seconds": last["at"], "plans": plans, "plans_per_agent": plans / len(agents),
        "fallbacks": sum(event["fallback"] for event in trace if event["event"] == "plan"),
        "messages": kinds.count("message"),
        "interruptions": sum(event["event"] == "status" and event["to"] == "I" for event in trace),
        "decision": round(sum(decision.values()), 3), "decision_by_agent": decision,
        "attempts": len(tries), "failed": sum(not event["success"] for event in tries),
        "deficits": {c: fmean(deficit(event, c) for event in tries) if tries else None for c in CONSTRAINTS},
        "repairs": repairs(trace),
        "forecasts": vars(forecasts) | {"precision": forecasts.precision, "recall": forecasts.recall},
    }  # fmt: skip


def deficit(attempt: Event, constraint: str) -> float:
    """1 - min(N / p, 1); 0 for an attempt that succeeded (authors' code)."""
    if attempt["success"]:
        return 0.0
    return 1.0 - min(float(attempt["counts"][constraint]) / float(attempt["participants"]), 1.0)


def decision_seconds(trace: Sequence[Event]) -> dict[str, float]:
    """Seconds that each agent spent reasoning or interrupted; waiting is no deciding (authors' code). All begin by
    reasoning; who has died decides no more."""
    since: dict[str, float] = dict.fromkeys(trace[0]["agents"], 0.0)
    spent = dict.fromkeys(since, 0.0)
    for event in trace:
        if event["event"] == "status":
            name = event["agent"]
            if event["from"] in BUSY and name in since:
                spent[name] += event["at"] - since.pop(name)
            if event["to"] in BUSY:
                since[name] = event["at"]
        elif event["event"] == "left":
            since.pop(event["agent"], None)
    for name, begun in since.items():
        spent[name] += trace[-1]["at"] - begun
    return {name: round(seconds, 3) for name, seconds in spent.items()}


def repairs(trace: Sequence[Event]) -> dict[str, Any]:
    """How often plans were checked, and what was done about it. A talk repairs all tasks that are due at once."""
    kinds = [event["event"] for event in trace]
    seconds, begun = 0.0, -1.0
    deciding = set(trace[0]["agents"])
    for event in trace:
        if event["event"] == "status":
            (deciding.add if event["to"] in BUSY else deciding.discard)(event["agent"])
            if begun >= 0 and not deciding:
                seconds, begun = seconds + event["at"] - begun, -1.0
        elif event["event"] == "left":
            deciding.discard(event["agent"])
        elif event["event"] == "repair" and begun < 0:
            begun = event["at"]
    return {
        "checks": kinds.count("check"),
        "talks": len({event["step"] for event in trace if event["event"] == "repair"}),
        "tasks": kinds.count("repair"), "cooldowns": kinds.count("cooldown"),
        "messages": sum(event["event"] == "message" and event["kind"] in TALK for event in trace),
        "seconds": round(seconds + (trace[-1]["at"] - begun if begun >= 0 else 0.0), 3),
    }  # fmt: skip


# Were the forecasts right? --------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Forecasts:
    """What became of forecasts [our choice]. Checks in a row that say the same of a task are one forecast; it ends with
    a check that says otherwise of it, or that does not name it any more, as nobody pursues it. If it was attempted
    until then, it has failed unless an attempt succeeded. If not, nothing is known: among those that foresaw a failure
    these are mostly the ones that a repair has prevented."""

    hits: int  # a failure foreseen, and it failed
    false_alarms: int  # a failure foreseen, and it succeeded
    misses: int  # success foreseen, and it failed
    fine: int  # success foreseen, and it succeeded
    unattempted: int  # a failure foreseen, and not attempted
    untried: int  # success foreseen, and not attempted

    @property
    def precision(self) -> float | None:
        """Of failures that were foreseen and attempted, the share that failed."""
        return _share(self.hits, self.false_alarms)

    @property
    def recall(self) -> float | None:
        """Of what was attempted and failed, the share that was foreseen."""
        return _share(self.hits, self.misses)


def judged(trace: Sequence[Event]) -> Forecasts:
    """All forecasts of an episode."""
    outcomes = [(failing, came) for _, failing, came in forecasts(trace)]
    return Forecasts(
        hits=outcomes.count((True, "failed")), false_alarms=outcomes.count((True, "succeeded")),
        misses=outcomes.count((False, "failed")), fine=outcomes.count((False, "succeeded")),
        unattempted=outcomes.count((True, "")), untried=outcomes.count((False, "")),
    )  # fmt: skip


def forecasts(trace: Sequence[Event]) -> Iterator[tuple[str, bool, str]]:
    """Task, whether it was foreseen to fail, and what came of it: "failed", "succeeded", "" for not attempted."""
    open_: dict[str, tuple[bool, str]] = {}
    for event in trace:
        if event["event"] == "check":
            said = {**dict.fromkeys(event["failing"], True), **dict.fromkeys(event["passed"], False)}
            for task in list(open_):
                if open_[task][0] != said.get(task):
                    yield task, *open_.pop(task)
            for task, failing in said.items():
                open_.setdefault(task, (failing, ""))
        elif event["event"] == "attempt" and event["task"] in open_:
            failing, came = open_[event["task"]]
            open_[event["task"]] = failing, "succeeded" if event["success"] or came == "succeeded" else "failed"
    for task, (failing, came) in open_.items():
        yield task, failing, came


def _share(part: int, rest: int) -> float | None:
    return part / (part + rest) if part + rest else None


# Over repeats ---------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Repeats:
    """Mean, standard deviation (n - 1) and 95 % t interval over `n` repeats; None where undefined."""

    mean: float | None
    sd: float | None
    low: float | None
    high: float | None
    n: int


def repeats(values: Iterable[float | None]) -> Repeats:
    """Of the repeats in which the value is defined."""
    found = [float(value) for value in values if value is not None]
    if not found:
        return Repeats(None, None, None, None, 0)
    interval = t_interval(found, unit="repeats")
    return Repeats(interval.value, stdev(found) if len(found) > 1 else None, interval.low, interval.high, len(found))


def pooled(measured: Iterable[Metrics]) -> dict[str, float | None]:
    """Deficits over all attempts of several episodes, each attempt of the same weight."""
    some = [m for m in measured if m["attempts"]]
    total = sum(m["attempts"] for m in some)
    return {c: sum(m["attempts"] * m["deficits"][c] for m in some) / total if total else None for c in CONSTRAINTS}
