"""Estimators of the tax study: pure functions from scored rollouts to numbers with intervals.

Every number says how many rollouts and independent units it rests on; what is undefined is None, so all of it is
plain JSON after `dataclasses.asdict`. Nothing is drawn at random; the order of rows never matters.
"""

from collabtax.statistics.intervals import (
    SEED,
    Estimate,
    PowerHint,
    difference,
    jackknife,
    mean_of,
    over_seeds,
    over_task_means,
    over_tasks,
    power_hint,
    ratio_gap,
    t_interval,
)
from collabtax.statistics.pairs import PairRow, TaskGame, pair_table, seat_asymmetry, shapley
from collabtax.statistics.rows import Choice, Scored, paired, partition
from collabtax.statistics.tax import TRACTABLE, Headline, ModelTax, TaskTax, tax, taxes

__all__ = [
    "SEED",
    "TRACTABLE",
    "Choice",
    "Estimate",
    "Headline",
    "ModelTax",
    "PairRow",
    "PowerHint",
    "Scored",
    "TaskGame",
    "TaskTax",
    "difference",
    "jackknife",
    "mean_of",
    "over_seeds",
    "over_task_means",
    "over_tasks",
    "pair_table",
    "paired",
    "partition",
    "power_hint",
    "ratio_gap",
    "seat_asymmetry",
    "shapley",
    "t_interval",
    "tax",
    "taxes",
]
