"""How far a team came along the reference actions of an order (Sun et al. 2025, section 4; beta 0.95).

A trace is the sequence of one role's accepted actions, useless ones included; a reference is the same of a good run.
Actions are compared without blanks. Nothing here knows a world.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

BETA = 0.95  # weight of the trace's length against the reference's

Actions = Sequence[str]


class Match(NamedTuple):
    """One role's trace against the best of its references: `tes` in [0, 1]; `matched` <= `length` actions of the
    reference numbered `reference` were found among the `taken` ones of the trace."""

    tes: float
    matched: int
    length: int
    taken: int
    reference: int


class TrajectoryScore(NamedTuple):
    """`completeness` is PC in [0, 100], `progress` is P, the reference actions found over all roles."""

    roles: dict[str, Match]
    completeness: float
    progress: int


def matched(reference: Actions, trace: Actions) -> int:
    """The length d of the longest prefix of `reference` that is a subsequence of `trace`."""
    wanted, at = [bare(action) for action in reference], 0
    for action in trace:
        if at < len(wanted) and bare(action) == wanted[at]:
            at += 1
    return at


def tes(reference: Actions, trace: Actions, beta: float = BETA) -> float:
    """Trajectory efficiency (1 + beta^2) d / (l + beta^2 n), in [0, 1]: 1 for the reference itself only.

    Raises:
        ValueError: a reference without actions.
    """
    if not reference:
        raise ValueError("a reference without actions cannot be compared with; give it at least one")
    weight = beta * beta
    return (1 + weight) * matched(reference, trace) / (len(reference) + weight * len(trace))


def best_match(references: Sequence[Actions], trace: Actions, beta: float = BETA) -> Match:
    """The reference with the greatest TES; the first of equal ones.

    Raises:
        ValueError: no references, or one without actions.
    """
    if not references:
        raise ValueError("no references to compare a trace with; give at least one")
    matches = [
        Match(tes(reference, trace, beta), matched(reference, trace), len(reference), len(trace), number)
        for number, reference in enumerate(references)
    ]
    return max(matches, key=lambda match: match.tes)


def trajectory_score(
    references: Sequence[Mapping[str, Actions]], traces: Mapping[str, Actions], beta: float = BETA
) -> TrajectoryScore:
    """PC and progress of an episode. The best reference is chosen for each role on its own, as upstream does.

    Args:
        references: ways to do it, each with the actions of every role.
        traces: the accepted actions of every role.

    Raises:
        ValueError: no references, no roles, or a role that a reference lacks.
    """
    if not traces:
        raise ValueError("no roles to score; give the trace of at least one")
    for role in traces:
        if any(role not in reference for reference in references):
            raise ValueError(f"role {role!r} is not in every reference; traces and references must name the same roles")
    roles = {role: best_match([one[role] for one in references], trace, beta) for role, trace in traces.items()}
    completeness = 100 * sum(match.tes for match in roles.values()) / len(roles)
    return TrajectoryScore(roles, completeness, sum(match.matched for match in roles.values()))


def ites(references: Sequence[Actions], trace: Actions, added: Actions, beta: float = BETA) -> float:
    """What `added` actions after `trace` change in TES, in [-1, 1]; both sides take their own best reference."""
    return best_match(references, [*trace, *added], beta).tes - best_match(references, trace, beta).tes


def success_rate(deliveries: Sequence[int | None], limit: int) -> float:
    """The share of episodes, in [0, 1], that delivered within `limit` steps.

    Args:
        deliveries: the number of steps each episode took to deliver, None where it never did.

    Raises:
        ValueError: no episodes.
    """
    if not deliveries:
        raise ValueError("no episodes to take a success rate of; give at least one")
    return sum(steps is not None and steps <= limit for steps in deliveries) / len(deliveries)


def bare(action: str) -> str:
    """An action without blanks."""
    return "".join(action.split())
