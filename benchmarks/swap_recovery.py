"""Whether the swap study finds what is known of simulated members: `python benchmarks/swap_recovery.py`.

Formed teams of `sim/mate` models go through the whole suite; losses, gains, the asymmetry of the seats, the effects of
both halves and the cost of rewording are compared, within their t intervals over repetitions, with what
`collabtax.sim.mate_truth` derives, and with 0 for the model to which nothing can be learnt.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))

from collabtax.rollouts import Rollout  # noqa: E402
from collabtax.sim.mate import knobs  # noqa: E402
from collabtax.sim.mate_truth import ACTIONS, effects  # noqa: E402
from collabtax.statistics.intervals import Estimate, t_interval  # noqa: E402

MODES = ["original", "experienced", "fresh", "task-half", "partner-half", "paraphrase"]
Check = tuple[str, Estimate, float]  # what is compared, what was found, what is true
Scores = Mapping[tuple[str, str], Mapping[int, float]]  # (branch, seat) -> score in points by repetition


def measured(game: str, model: str, repetitions: int, folder: Path) -> Scores:
    """The scores of all branches, by repetition. Raises RuntimeError where a rollout could not be run."""
    from collabtax.session import Session
    from collabtax.swap.configuration import Configuration

    given: dict[str, Any] = {
        "study": ["swap"], "model": [model], "task": [game], "mode": MODES, "rollouts": repetitions,
        "cassettes": str(folder / "cassettes"), "run": str(folder / "run"),
    }  # fmt: skip
    session, scores = Session(given, ROOT), dict[tuple[str, str], dict[int, float]]()
    try:
        for cell in session.settings.cells("swap"):
            seat = Configuration.of(cell.condition).seat
            rollouts: list[Rollout] = []
            failures = session.run_cell(cell, rollouts.append)
            scores[cell.mode, seat] = {rollout.seed: 100 * (rollout.score or 0.0) for rollout in rollouts}
            if failures:
                raise RuntimeError(f"{cell.id}: {failures[0]}")
    finally:
        session.close()
    return scores


def check(scores: Scores, game: str, model: str, level: float = 0.95) -> list[Check]:
    """Every contrast of a game with its truth."""
    truth = effects(game, knobs(model))
    seats = list(truth.loss)

    def contrast(*terms: tuple[int, str, str]) -> Estimate:
        """Of branches with their signs, a repetition at a time."""
        first = scores[terms[0][1:]]
        return t_interval(
            (sum(sign * scores[branch, seat][b] for sign, branch, seat in terms) for b in first),
            level, unit="repetitions",
        )  # fmt: skip

    found: list[Check] = []
    for seat in seats:
        original, gain = (1, "original", ""), (-1, "fresh", seat)
        found.append((f"loss, {seat}", contrast(original, (-1, "experienced", seat)), truth.loss[seat]))
        found.append((f"gain, {seat}", contrast((1, "experienced", seat), gain), truth.gain[seat]))
        for branch, values in truth.halves.items():
            found.append((f"gain of {branch}, {seat}", contrast((1, branch, seat), gain), values[seat]))
        found.append((f"rewording, {seat}", contrast(original, (-1, "paraphrase", seat)), truth.rewording[seat]))
    for branch, value in (truth.asymmetry or {}).items():
        other, one = seats
        terms = (1, branch, one), (-1, "fresh", one), (-1, branch, other), (1, "fresh", other)
        found.append((f"seat asymmetry of {branch}", contrast(*terms), value))
    return found


def within(estimate: Estimate, expected: float) -> bool:
    """Whether an interval holds the truth, up to the rounding of stored scores."""
    if estimate.low is None or estimate.high is None:
        return False
    return estimate.low - 1e-3 <= expected <= estimate.high + 1e-3


def main(arguments: Iterable[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--repetitions", type=int, default=20)
    parser.add_argument("--games", nargs="+", default=[*ACTIONS, "forest", "clinic"])
    parser.add_argument("--models", nargs="+", default=["sim/mate", "sim/mate-routine", "sim/mate-control"])
    given = parser.parse_args(None if arguments is None else list(arguments))
    missed = refuted = total = 0
    for model in given.models:
        for game in given.games:
            with tempfile.TemporaryDirectory() as folder:
                scores = measured(game, model, given.repetitions, Path(folder))
            wide = check(scores, game, model, level=0.999)
            for (name, estimate, expected), (_, outer, _) in zip(check(scores, game, model), wide, strict=True):
                verdict = "" if within(estimate, expected) else "  missed" if within(outer, expected) else "  REFUTED"
                missed, refuted, total = missed + bool(verdict), refuted + ("REF" in verdict), total + 1
                print(
                    f"{model:<18} {game:<11} {name:<32} {estimate.value:7.2f} [{estimate.low:7.2f}, "
                    f"{estimate.high:7.2f}]  true {expected:7.2f}{verdict}",
                    flush=True,
                )
    print(f"{total - missed} of {total} intervals hold the truth; about 95% of them should (contrasts share branches)")
    print(f"{refuted} truths lie outside of an interval of 99.9%; none should")
    return int(refuted > 0)


if __name__ == "__main__":
    raise SystemExit(main())
