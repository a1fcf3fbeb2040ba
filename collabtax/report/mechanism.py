"""What the commands `judge`, `predict` and `cluster` left in a run's folder, read for the report.

Their files are written by other sessions, hold model text and may be old or damaged: what cannot be read, or is about
other rollouts than those of the report, becomes one line of `problems`, and nothing is shown of it.
"""

from __future__ import annotations

import json
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass
from math import isfinite
from pathlib import Path
from typing import Any

from collabtax.cascade.agreement import Agreement, Recovery, pairwise, recovery
from collabtax.cascade.judgements import FOLDER, read, verdicts_of
from collabtax.cascade.rates import Cascade, cascades
from collabtax.cascade.stages import STAGES, Row, Verdicts, text_digest
from collabtax.statistics import Estimate, ModelTax
from collabtax.store import Key, key

TRUTHS = 500  # dialogues of simulated models that are played again for what is true of them, 3 ms each
MEMBERS = 12  # rollouts named of a cluster, nearest to its middle first
Judgements = Mapping[str, Mapping[Key, Row]]  # judge -> rollout -> its stored line


@dataclass(frozen=True)
class Verdict:
    """What a judge says of one stage of a rollout; `passed` is None where it has no verdict. Evidence comes as turn
    (0: about no turn), text, and whether the text stands there (None: it is a remark and no quotation)."""

    judge: str
    stage: str
    passed: bool | None
    evidence: tuple[tuple[int, str, bool | None], ...]


@dataclass(frozen=True)
class Fit:
    """A line of the table of fits: what was held out, R2, Spearman's rho, Pearson's r."""

    held: str
    r2: float | None
    spearman: float | None
    pearson: float | None


@dataclass(frozen=True)
class Foreseen:
    """`prediction.json`: fits, coefficients in points of the ratio gap for a standard deviation of an input, and the
    cells as (task, model, gap foreseen out of fold, gap)."""

    fits: tuple[Fit, ...]
    coefficients: tuple[tuple[str, Estimate], ...]
    cells: tuple[tuple[str, str, float, float], ...]


@dataclass(frozen=True)
class Cluster:
    """One of `clusters.json`; members as (task, model, seed, description), nearest to the middle first."""

    name: str
    stage: str
    size: int
    terms: tuple[str, ...]
    families: tuple[tuple[str, int], ...]
    members: tuple[tuple[str, str, int, str], ...]


@dataclass(frozen=True)
class Mechanism:
    """`recoveries`: for each judge how it finds the failures that are known of `known` simulated dialogues."""

    judgements: Judgements
    cascades: tuple[Cascade, ...]
    agreements: tuple[Agreement, ...]
    recoveries: tuple[tuple[str, tuple[Recovery, ...]], ...]
    known: int
    foreseen: Foreseen | None
    clusters: tuple[Cluster, ...]
    describer: str
    problems: tuple[str, ...]

    def verdicts(self, row: Row) -> tuple[Verdict, ...]:
        """On a rollout, by stage and judge."""
        lines = [(judge, line[key(dict(row))]) for judge, line in self.judgements.items() if key(dict(row)) in line]
        return tuple(
            Verdict(judge, stage, line[stage], tuple(evidence(line, stage, len(row["turns"]))))
            for stage in STAGES
            for judge, line in lines
        )


def evidence(line: Row, stage: str, turns: int) -> list[tuple[int, str, bool | None]]:
    """The evidence of a stored judgement on a stage, as far as it is any."""
    found: list[tuple[int, str, bool | None]] = []
    for one in line["evidence"] if isinstance(line["evidence"], list) else []:
        if isinstance(one, dict) and one.get("stage") == stage:
            turn, there = one.get("turn"), one.get("found")
            if not isinstance(turn, int) or isinstance(turn, bool) or not 1 <= turn <= turns:
                turn = 0
            found.append((turn, str(one.get("text", "")), there if isinstance(there, bool) else None))
    return found


def load(run: Path, rows: Sequence[Row], taxes: Mapping[str, ModelTax]) -> Mechanism:
    """What the folder `run` holds about `rows`, of which `taxes` are."""
    problems: list[str] = []
    rows = [row for row in rows if row["mode"] in ("homo", "hetero") and row["outcome"] != "infrastructure"]
    judged = judgements(run, rows, problems)
    verdicts: dict[str, dict[Hashable, Verdicts]] = {
        judge: {one: verdicts_of(line) for one, line in lines.items()} for judge, lines in judged.items()
    }
    known = known_truth(rows) if judged else {}
    tasks: dict[Hashable, str] = {key(dict(row)): row["task"] for row in rows}
    described, clusters = _read(run / "clusters.json", "cluster", clusters_of, problems) or ("", ())
    foreseen = _read(run / "prediction.json", "predict", foreseen_of, problems)
    if foreseen and (stale := other_gaps(foreseen, taxes)):
        problems.append(f"prediction.json {stale}; run predict again")
        foreseen = None
    return Mechanism(
        judgements=judged,
        cascades=tuple(
            one
            for judge in judged
            for one in cascades(judge, rows, {o: verdicts_of(x) for o, x in judged[judge].items()})
        ),
        agreements=tuple(pairwise(verdicts, tasks)) if len(judged) > 1 else (),
        recoveries=tuple(
            (judge, tuple(recovery(stage, verdicts[judge], known) for stage in STAGES))
            for judge in judged
            if any(one in known for one in verdicts[judge])
        ),
        known=len(known),
        foreseen=foreseen,
        clusters=clusters,
        describer=described,
        problems=tuple(problems),
    )


def judgements(run: Path, rows: Sequence[Row], problems: list[str]) -> dict[str, dict[Key, Row]]:
    """The stored judgements of every judge on `rows`, only those on words that these still say."""
    paths = sorted((run / FOLDER).glob("*.jsonl"))
    said = {key(dict(row)): text_digest(row) for row in rows} if paths else {}
    found: dict[str, dict[Key, Row]] = {}
    for path in paths:
        try:
            lines = read(path)
        except (ValueError, OSError) as problem:
            problems.append(f"{FOLDER}/{path.name} cannot be read: {str(problem).removeprefix(f'{path}, ')}")
            continue
        for one, line in lines.items():
            if said.get(one) == line["said"]:
                found.setdefault(line["judge"], {})[one] = line
    return found


def known_truth(rows: Sequence[Row]) -> dict[Hashable, Verdicts]:
    """What is true of the dialogues of simulated models, of the lowest seeds where they are many."""
    from collabtax.cascade import commands

    first = sorted(rows, key=lambda row: row["seed"])[:TRUTHS]
    return dict(commands.known_truth(first))


def _read(path: Path, command: str, make: Any, problems: list[str]) -> Any:
    """What `make` makes of a JSON file; None where it is not there or is something else."""
    try:
        return make(json.loads(path.read_text(encoding="utf-8")))
    except FileNotFoundError:
        return None
    except (OSError, ValueError, KeyError, TypeError, AttributeError, RecursionError) as problem:
        problems.append(f"{path.name} is not what {command} of today writes ({problem!r:.80}); run {command} again")
        return None


def number(value: Any) -> float:
    """A finite number. Raises TypeError or ValueError for anything else."""
    if isinstance(value, bool) or not isinstance(value, int | float) or not isfinite(value):
        raise TypeError(f"{value!r:.40} is no number")
    return float(value)


def optional(value: Any) -> float | None:
    return None if value is None else number(value)


def points(coefficient: Any) -> tuple[float, float, float]:
    """Its value and interval, in points of the ratio gap."""
    value, low, high = (100 * number(coefficient[part]) for part in ("value", "low", "high"))
    return value, low, high


def foreseen_of(data: Any) -> Foreseen:
    tasks = len({cell["task"] for cell in data["cells"]})
    folds, by_task, by_model = data["folds"], data["by_task"], data["by_model"]
    held = [(f"{folds['groups']} folds by task", folds), (f"each of {tasks} tasks in turn", by_task)]
    held += [(f"each of {by_model['groups']} models in turn", by_model)] if by_model else []
    method = f"95% of refits on resampled tasks, {tasks} of them"
    return Foreseen(
        fits=(
            Fit("nothing", optional(data["in_sample_r2"]), None, None),
            *(Fit(name, *(optional(one[value]) for value in ("r2", "spearman", "pearson"))) for name, one in held),
        ),
        coefficients=tuple(
            (str(one["name"]), Estimate(*points(one), n=len(data["cells"]), clusters=tasks, method=method))
            for one in data["coefficients"]
            if not one["constant"]
        ),
        cells=tuple(
            (str(one["task"]), str(one["model"]), number(one["foreseen"]), number(one["gap"])) for one in data["cells"]
        ),
    )


def other_gaps(foreseen: Foreseen, taxes: Mapping[str, ModelTax]) -> str:
    """What shows that a prediction was made from other rollouts than `taxes` were; "" if nothing does."""
    here = {(task.task, name): task for name, model in taxes.items() for task in model.tasks}
    for task, model, _, gap in foreseen.cells:
        own = here[task, model].ratio.value if (task, model) in here else None
        if own is None:
            return f"speaks of {model} on {task}, of which this report has no ratio gap"
        if abs(own - gap) > 1e-6:
            return f"is of other rollouts: the ratio gap of {model} on {task} is {own:.3f} here and {gap:.3f} there"
    return ""


def clusters_of(data: Any) -> tuple[str, tuple[Cluster, ...]]:
    return str(data["describer"]), tuple(
        Cluster(
            name=str(one["name"]),
            stage=str(one["stage"]).lower(),
            size=int(number(one["size"])),
            terms=tuple(map(str, one["terms"])),
            families=tuple((str(family), int(number(n))) for family, n in one["families"].items()),
            members=tuple(
                (str(m["task"]), str(m["model"]), int(number(m["seed"])), str(m["text"]))
                for m in one["members"][:MEMBERS]
            ),
        )
        for one in data["clusters"]
    )
