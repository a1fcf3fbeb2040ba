"""Estimators of the tax study: pure functions from scored rollouts to numbers with intervals.

Every number says how many rollouts and independent units it rests on; what is undefined is None, so all of it is
plain JSON after `dataclasses.asdict`. Randomness comes from an explicit seed; the order of rows never matters.
"""

from collabtax.statistics.intervals import (
    DRAWS,
    SEED,
    Estimate,
    PowerHint,
    bootstrap,
    difference,
    mean_of,
    nested_bootstrap,
    power_hint,
    ratio_gap,
    replicates,
    t_interval,
)
from collabtax.statistics.pairs import PairRow, pair_table, seat_asymmetry, shapley
from collabtax.statistics.rows import Scored, paired, partition
from collabtax.statistics.tax import TRACTABLE, Headline, ModelTax, TaskTax, tax, taxes

__all__ = [
    "DRAWS",
    "SEED",
    "TRACTABLE",
    "Estimate",
    "Headline",
    "ModelTax",
    "PairRow",
    "PowerHint",
    "Scored",
    "TaskTax",
    "bootstrap",
    "difference",
    "mean_of",
    "nested_bootstrap",
    "pair_table",
    "paired",
    "partition",
    "power_hint",
    "ratio_gap",
    "replicates",
    "seat_asymmetry",
    "shapley",
    "t_interval",
    "tax",
    "taxes",
]
