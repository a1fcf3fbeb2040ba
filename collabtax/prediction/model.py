"""Ridge regression of the ratio gap on features of dialogues, with folds that share no task (paper, section 5.4)."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from collabtax.prediction.features import NAMES
from collabtax.prediction.table import CellFeatures
from collabtax.statistics import SEED
from collabtax.statistics.rows import FloatArray
from tasks import FAMILIES

LAMBDA = 1.0  # paper, section 5.4
FOLDS = 5  # the paper does not say how many
LEVEL = 0.95
REFITS = 500


@dataclass(frozen=True)
class Held:
    """How well cells are predicted that were held out, all predictions taken together: R2 (at most 1; 0 is the mean of
    all cells, foreseen), Spearman's rho, Pearson's r. A value is None where the gaps or the predictions do not vary.
    `groups` counts what was held out in turn, folds of tasks, tasks or models; `r2_of` has each one's own R2."""

    r2: float | None
    spearman: float | None
    pearson: float | None
    groups: int
    r2_of: dict[str, float | None]

    @property
    def positive(self) -> int:
        """In how many groups the predictions are better than the group's own mean."""
        return sum(r2 is not None and r2 > 0 for r2 in self.r2_of.values())


@dataclass(frozen=True)
class Coefficient:
    """Change of the predicted gap for one standard deviation of an input, with the percentiles of refits on resampled
    tasks. `constant`: the input is the same in all cells and says nothing."""

    name: str
    value: float
    low: float
    high: float
    constant: bool


@dataclass(frozen=True)
class Prediction:
    """`cells` enter, in this order; `foreseen` are their out-of-fold predictions. Coefficients come largest first.
    `by_model` is None where there is one model."""

    cells: tuple[CellFeatures, ...]
    left_out: dict[str, int]
    in_sample_r2: float | None
    folds: Held
    by_task: Held
    by_model: Held | None
    foreseen: tuple[float, ...]
    coefficients: tuple[Coefficient, ...]


def usable(cells: Sequence[CellFeatures], include_intractable: bool) -> tuple[list[CellFeatures], dict[str, int]]:
    """The cells that have a gap to predict, sorted by task and model; and how many were left out, by reason."""
    kept, left_out = [], dict[str, int]()
    for cell in sorted(cells, key=lambda c: (c.task, c.model)):
        if cell.solo is None:
            reason = "no seed with both a solo and a homo rollout"
        elif cell.gap is None:
            reason = "solo scores 0, so that there is no ratio gap"
        elif not (cell.tractable or include_intractable):
            reason = "not solved alone (solo mean under the target; --include-intractable lets them in)"
        else:
            kept.append(cell)
            continue
        left_out[reason] = left_out.get(reason, 0) + 1
    return kept, left_out


def design(cells: Sequence[CellFeatures]) -> tuple[FloatArray, list[str]]:
    """Inputs (cells, columns) and the columns' names: features, a dummy for every model, one for every family but the
    first. Models need no reference of their own, since ridge makes the fit unique, and one that is held out is then
    foreseen as the average model."""
    models = sorted({cell.model for cell in cells})
    families = [family for family in FAMILIES if family in {cell.family for cell in cells}][1:]
    lines = [
        [*(cell.features[name] for name in NAMES)]
        + [float(cell.model == model) for model in models]
        + [float(cell.family == family) for family in families]
        for cell in cells
    ]
    names = [*NAMES, *(f"model {model}" for model in models), *(f"family {family}" for family in families)]
    return np.array(lines, dtype=np.float64).reshape(len(cells), len(names)), names


def regression() -> Any:
    """What is fitted: inputs standardised on what is fitted, then ridge; the intercept is not penalised."""
    from sklearn.linear_model import Ridge
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import StandardScaler

    return make_pipeline(StandardScaler(), Ridge(alpha=LAMBDA))


def predict(
    cells: Sequence[CellFeatures], *, include_intractable: bool = False, folds: int = FOLDS, draws: int = REFITS,
    seed: int = SEED,
) -> Prediction:  # fmt: skip
    """Fit and judge the regression; the order of cells does not matter.

    Raises:
        ValueError: fewer than two tasks have a cell with a gap.
    """
    from sklearn.model_selection import GroupKFold, LeaveOneGroupOut

    kept, left_out = usable(cells, include_intractable)
    tasks, models = (np.array([getattr(cell, name) for cell in kept]) for name in ("task", "model"))
    if (found := len(set(tasks))) < 2:
        why = "".join(f"; left out are {n}: {reason}" for reason, n in left_out.items())
        raise ValueError(f"folds by task need cells of at least 2 tasks, found {found}{why}")
    x, names = design(kept)
    y = np.array([cell.gap for cell in kept], dtype=np.float64)
    fitted = regression().fit(x, y)
    in_folds, foreseen = held(x, y, GroupKFold(min(folds, found)), tasks)
    by_task, _ = held(x, y, LeaveOneGroupOut(), tasks)
    by_model = held(x, y, LeaveOneGroupOut(), models)[0] if len(set(models)) > 1 else None
    values = fitted[-1].coef_
    low, high = np.quantile(refits(x, y, tasks, draws, seed), [0.5 - LEVEL / 2, 0.5 + LEVEL / 2], axis=0)
    constant = np.ptp(x, axis=0) == 0
    coefficients = [Coefficient(*map(_plain, one)) for one in zip(names, values, low, high, constant, strict=True)]
    return Prediction(
        cells=tuple(kept),
        left_out=left_out,
        in_sample_r2=agreement(y, fitted.predict(x))[0],
        folds=in_folds,
        by_task=by_task,
        by_model=by_model,
        foreseen=tuple(map(float, foreseen)),
        coefficients=tuple(sorted(coefficients, key=lambda c: (-abs(c.value), c.name))),
    )


def _plain(value: Any) -> Any:
    return value.item() if isinstance(value, np.generic) else value


def held(x: FloatArray, y: FloatArray, splitter: Any, groups: NDArray[Any]) -> tuple[Held, FloatArray]:
    """Judge predictions of cells (n,) that a fit did not see; every cell is held out once, together with its group."""
    from sklearn.model_selection import cross_val_predict

    foreseen: FloatArray = cross_val_predict(regression(), x, y, groups=groups, cv=splitter)
    r2_of: dict[str, float | None] = {}
    for _, test in splitter.split(x, y, groups):
        r2_of[", ".join(sorted(set(groups[test])))] = agreement(y[test], foreseen[test])[0]
    return Held(*agreement(y, foreseen), len(r2_of), r2_of), foreseen


def agreement(y: FloatArray, foreseen: FloatArray) -> tuple[float | None, float | None, float | None]:
    """R2, Spearman's rho and Pearson's r; None where not defined."""
    from scipy.stats import pearsonr, spearmanr
    from sklearn.metrics import r2_score

    if len(y) < 2 or np.ptp(y) < 1e-12:
        return None, None, None
    r2 = float(r2_score(y, foreseen))
    if np.ptp(foreseen) < 1e-12:
        return r2, None, None
    with warnings.catch_warnings():  # nearly constant predictions
        warnings.simplefilter("ignore")
        return r2, float(spearmanr(y, foreseen).statistic), float(pearsonr(y, foreseen).statistic)


def refits(x: FloatArray, y: FloatArray, tasks: NDArray[Any], draws: int, seed: int) -> FloatArray:
    """Coefficients (draws, columns) of refits on tasks drawn with replacement, as many as there are, each with all its
    cells."""
    members = [np.flatnonzero(tasks == task) for task in sorted(set(tasks))]
    rng = np.random.default_rng([seed, len(members), draws])
    found = np.empty((draws, x.shape[1]))
    for i in range(draws):
        drawn = np.concatenate([members[j] for j in rng.integers(len(members), size=len(members))])
        found[i] = regression().fit(x[drawn], y[drawn])[-1].coef_
    return found
