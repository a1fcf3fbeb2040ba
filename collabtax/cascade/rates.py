"""How often the stages are passed, by outcome and category, and how they fail together (paper, figures 2 and 8, tables
6 and 7).

A stage *fires* on a dialogue when its verdict is "failed". Shares are over dialogues, as in the paper, hence ratios of
two numbers a task; intervals are over tasks. A dialogue without a verdict (None) enters nothing that needs it, and is
counted.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations

from collabtax.cascade.agreement import over_rows
from collabtax.cascade.stages import STAGES, Row, Verdicts
from collabtax.statistics import Estimate, mean_of, partition
from collabtax.statistics.intervals import Statistic, over
from collabtax.statistics.rows import FloatArray
from collabtax.store import Key, key

ALL = "all"


@dataclass(frozen=True)
class Rate:
    """The share of dialogues that pass a stage; `silent`: how many have no verdict on it."""

    stage: str
    category: str
    success: bool
    passed: Estimate
    silent: int


@dataclass(frozen=True)
class Cascade:
    """What a judge says of the dialogues of a mode and condition. All but `rates` is over the failed ones: `firing` the
    shares with 0 to 4 stages firing; `fires` and `sole` the shares by stage, alone in `sole`; `jaccard` by two stages
    how many fire both, of those that fire one or both. `judged` of the `failed` ones have all four verdicts."""

    judge: str
    mode: str
    condition: str
    rates: list[Rate]
    firing: list[Estimate]
    fires: dict[str, Estimate]
    sole: dict[str, Estimate]
    jaccard: dict[tuple[str, str], Estimate]
    failed: int
    judged: int


def share(means: FloatArray) -> FloatArray:
    """Statistic: the first column's mean of the second's; nan where that is 0."""
    return over(means[..., 0], means[..., 1])


def _share(rows: Sequence[tuple[Row, Verdicts]], values: Iterable[Sequence[float]], statistic: Statistic) -> Estimate:
    return over_rows([row["task"] for row, _ in rows], list(values), statistic, bounds=(0, 1))


def cascades(judge: str, rows: Iterable[Row], verdicts: Mapping[Key, Verdicts]) -> list[Cascade]:
    """Of each mode and condition in `rows` that has verdicts, in a fixed order."""
    judged = [(row, verdicts[one]) for row in rows if (one := key(dict(row))) in verdicts]
    cells = partition(judged, lambda told: (told[0]["mode"], told[0]["condition"]))
    ranked = sorted(cells, key=lambda cell: (cell[0] != "homo", *cell))
    return [_cascade(judge, mode, condition, cells[mode, condition]) for mode, condition in ranked]


def _cascade(judge: str, mode: str, condition: str, judged: Sequence[tuple[Row, Verdicts]]) -> Cascade:
    families = [*dict.fromkeys(sorted(row["family"] for row, _ in judged)), ALL]
    rates = []
    for stage in STAGES:
        for category in families:
            for success in (False, True):
                of = [(r, v) for r, v in judged if r["success"] == success and category in (r["family"], ALL)]
                told = [(r, v) for r, v in of if v[stage] is not None]
                passed = _share(told, ([float(bool(v[stage]))] for _, v in told), mean_of)
                rates.append(Rate(stage, category, success, passed, len(of) - len(told)))
    failed = [(r, v) for r, v in judged if not r["success"]]
    whole = [(r, v) for r, v in failed if None not in v.values()]
    fired = [[not v[stage] for stage in STAGES] for _, v in whole]
    firing = [_share(whole, ([float(sum(one) == count)] for one in fired), mean_of) for count in range(len(STAGES) + 1)]
    fires, sole, jaccard = {}, {}, {}
    for i, stage in enumerate(STAGES):
        told = [(r, v) for r, v in failed if v[stage] is not None]
        fires[stage] = _share(told, ([float(not v[stage])] for _, v in told), mean_of)
        sole[stage] = _share(whole, ([float(one[i] and sum(one) == 1)] for one in fired), mean_of)
    for a, b in combinations(STAGES, 2):
        told = [(r, v) for r, v in failed if v[a] is not None and v[b] is not None]
        both = ([float(not v[a] and not v[b]), float(not v[a] or not v[b])] for _, v in told)
        jaccard[a, b] = _share(told, both, share)
    return Cascade(judge, mode, condition, rates, firing, fires, sole, jaccard, len(failed), len(whole))
