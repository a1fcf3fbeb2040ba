"""`--plan`: what would run and what it would cost, from the texts that would be sent and from what ran before.
Nothing is sent."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from statistics import mean

from collabtax.cassettes import Cassette
from collabtax.cells import Cell, printable
from collabtax.session import Session
from collabtax.store import Key, Row
from collabtax.study import Load, get_study

BASIS = (
    "basis: rollouts of this run where there are some (expected: mean of the cell, else of the models in this mode; "
    "least and most: the extremes); elsewhere {}"
)


@dataclass(frozen=True)
class Estimate:
    """Of a cell: rollouts, those of them that are finished, those to run that have a recording; the expected calls and
    tokens of the others, and their cost in USD: least, expected and most (None: no price)."""

    cell: Cell
    rollouts: int
    finished: int
    recorded: int
    calls: float
    tokens: float
    cost: tuple[float, float, float] | None


def from_rows(rows: Sequence[Row], extra: int) -> tuple[Load, Load, Load]:
    """Least, expected and most of a rollout, from some that ran; `extra` calls each are no turns."""
    kinds = sorted({kind for row in rows for kind in row["usage"]})
    loads = [Load(len(row["turns"]) + extra, row["usage"]) for row in rows]
    loads.sort(key=lambda load: sum(load.usage.values()))
    usage = {kind: mean(load.usage.get(kind, 0) for load in loads) for kind in kinds}
    return loads[0], Load(mean(load.calls for load in loads), usage), loads[-1]


def estimate(cell: Cell, session: Session, ran: Mapping[Key, Row]) -> Estimate:
    """What the rollouts of `cell` would take that are neither finished nor recorded; `ran` are the run's results."""
    settings, seeds = session.settings.under(cell), session.todo(cell)
    recorded = sum(
        settings.record_mode != "all" and not Cassette(settings.cassette(cell, s), "none").is_empty for s in seeds
    )
    usable = [row for row in ran.values() if row["outcome"] != "infrastructure" and row["usage"]]
    alike = [r for r in usable if r["mode"] == cell.mode and tuple(r["models"]) == cell.models]
    same = [r for r in alike if r["task"] == cell.task and r["condition"] == cell.condition]
    readers = [reader for reader in settings.extractors if reader != "program"]
    loads = from_rows(same or alike, len(readers)) if alike else get_study(cell.study).loads(settings, cell)
    left = len(seeds) - recorded
    costs = [cost(cell, session, load) for load in loads]
    total = None if None in costs else tuple(left * c for c in costs if c is not None)
    return Estimate(
        cell, len(settings.seeds(cell)), len(settings.seeds(cell)) - len(seeds), recorded, loads[1].calls * left,
        left * (loads[1].usage.get("prompt", 0) + loads[1].usage.get("completion", 0)),
        None if total is None else (total[0], total[1], total[2]),
    )  # fmt: skip


def cost(cell: Cell, session: Session, load: Load) -> float | None:
    """USD of a rollout whose tokens are shared evenly by its models, None without a price."""
    scale = 1_000_000  # prices are worked out for whole tokens
    prices = []
    for name in cell.models:
        usage = {kind: round(scale * tokens / len(cell.models)) for kind, tokens in load.usage.items()}
        price = session.settings.models[name].price(usage)
        prices.append(None if price is None else price / scale)
    return None if None in prices else sum(p for p in prices if p is not None)


def plan(cells: Sequence[Cell], session: Session) -> list[str]:
    """The plan in lines: a table a model or pair, and the sum."""
    groups: dict[str, list[Estimate]] = {}
    ran = session.store.rows()
    for cell in cells:
        groups.setdefault(" + ".join(dict.fromkeys(cell.models)), []).append(estimate(cell, session, ran))
    columns = "rollouts", "finished", "recorded"
    head = f"{'models':<44} {'cells':>6} {' '.join(f'{c:>9}' for c in columns)} {'calls':>8} {'tokens':>10} {'USD':>10}"
    lines = [f"{head} {'least':>10} {'most':>10}"]
    groups["all"] = [e for group in groups.values() for e in group]
    for name, group in groups.items():
        costs = [e.cost for e in group]
        prices = ["unknown", "", ""]
        if None not in costs:
            prices = [f"{sum(c[i] for c in costs if c):.4f}" for i in (1, 0, 2)]
        counted = [sum(getattr(e, column) for e in group) for column in columns]
        lines.append(
            f"{printable(name)[:44]:<44} {len(group):>6} {' '.join(f'{n:>9}' for n in counted)} "
            f"{sum(e.calls for e in group):>8.0f} {sum(e.tokens for e in group):>10.0f} "
            + " ".join(f"{price:>10}" for price in prices).rstrip()
        )
    return [
        *lines,
        "finished rollouts are reused, recorded ones replayed and graded anew, the others asked",
        *(BASIS.format(get_study(study).basis) for study in dict.fromkeys(cell.study for cell in cells)),
        "nothing was sent",
    ]
