"""Runs beside each other: models, prompts or versions on the same cells, paired by task and seed (docs/comparing.md).

The first run is what the others are compared with. A difference is always later minus first. What cannot be compared
is counted and named, and never counted as equal.
"""

from __future__ import annotations

import argparse
import base64
import hashlib
import sys
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from statistics import fmean
from typing import TYPE_CHECKING, Any, NamedTuple

from markupsafe import Markup

from collabtax.cells import printable
from collabtax.report.several import LEVEL, holm, p_value
from collabtax.report.summary import label
from collabtax.report.text import interval, number
from collabtax.statistics import Estimate, t_interval
from collabtax.statistics.tax import is_tractable
from tasks import FAMILIES

if TYPE_CHECKING:
    from collabtax.report.figures import Figure
    from collabtax.store import Row

SHOWN = 20  # cells and flips that are listed in the terminal; a page has all flips up to `MOST`
MOST = 2000
INSTANCE = ("difficulty", "task")  # settings and versions under which a seed names another instance
ASKED = "how the models are asked"
Ends = tuple[float, float]  # a value in the first run and in the later one


class Place(NamedTuple):
    """A cell as runs share it; the models are those of the first run, in seat order."""

    study: str
    task: str
    family: str
    mode: str
    models: tuple[str, ...]
    condition: str

    @property
    def told(self) -> str:
        return " ".join(filter(None, (self.task, self.mode, label(self.models), self.condition)))


@dataclass(frozen=True)
class Run:
    """What is compared; `models` are those of its rollouts."""

    name: str
    rollouts: int
    models: tuple[str, ...]


@dataclass(frozen=True)
class Change:
    """A difference over several tasks. `what` is a mode's score or the tax; `scope` a family or "all". `first` and
    `second` are the means of the two runs over the same rollouts. `stands`: told from 0 when all of the comparison's
    changes are read at once (Holm, 5 %)."""

    what: str
    team: str
    condition: str
    scope: str
    first: float
    second: float
    change: Estimate
    tasks: int
    stands: bool = False


@dataclass(frozen=True)
class CellChange:
    """A cell in both runs. `gained` and `lost`: rollouts that succeed only in the second, only in the first run.
    `stands`: told from 0 among all cells of the comparison."""

    place: Place
    first: float
    second: float
    change: Estimate
    gained: int
    lost: int
    stands: bool = False


@dataclass(frozen=True)
class Flip:
    """A rollout that succeeds in one run and not in the other; each end is (outcome, score, success, warning)."""

    place: Place
    seed: int
    first: tuple[str, float, bool, str]
    second: tuple[str, float, bool, str]


@dataclass(frozen=True)
class Setting:
    """Something that the two runs have otherwise, in this many of the cells that both have."""

    name: str
    first: str
    second: str
    cells: int


@dataclass(frozen=True)
class Versus:
    """A later run beside the first one. `same` and `other` count the compared rollouts whose outcome and score are
    equal and not; `apart` says why others cannot be compared: reason -> what. `caution` is "" or what to mind."""

    first: Run
    second: Run
    changes: tuple[Change, ...]
    cells: tuple[CellChange, ...]
    flips: tuple[Flip, ...]
    settings: tuple[Setting, ...]
    same: int
    other: int
    apart: Mapping[str, tuple[str, ...]]
    caution: str


@dataclass(frozen=True)
class Comparison:
    runs: tuple[Run, ...]
    versus: tuple[Versus, ...]


@dataclass
class _Rows:
    """The rollouts of a run by place and seed, and why some of them are not in it."""

    run: Run
    cells: dict[Place, dict[int, Row]] = field(default_factory=dict)
    several: list[str] = field(default_factory=list)


def compare(runs: Sequence[Path], align: Mapping[str, str] | None = None) -> Comparison:
    """Compare stored runs with the first of them; see `compare_rows`.

    Raises:
        ValueError: one line: a run holds no results, or two have nothing in common.
    """
    from collabtax.store import load

    names = [path.name for path in runs]
    told = [path.name if names.count(path.name) == 1 else str(path) for path in runs]
    found = []
    for path, name in zip(runs, told, strict=True):
        try:
            found.append((name, load(path)))
        except OSError as problem:
            raise ValueError(problem.strerror or str(problem)) from None
    return compare_rows(found, align)


def compare_rows(runs: Sequence[tuple[str, Iterable[Row]]], align: Mapping[str, str] | None = None) -> Comparison:
    """Compare (name, rollouts) of two or more runs with the first.

    A cell is compared with that of the same task, mode, condition and models. `align` says which model of a later run
    stands for which of the first one (first -> later); where each has just one model that the other has not, these two
    are aligned without being told. Rollouts are paired by seed; ones that could not be run have no pair.

    Raises:
        ValueError: fewer than two runs, an aligned model that a run has not, or nothing to compare.
    """
    if len(runs) < 2:
        raise ValueError(f"a comparison takes two runs, got {len(runs)}; name another one")
    first, *others = (_gathered(name, rows) for name, rows in runs)
    versus = [_versus(first, other, align or {}) for other in others]
    by_change = iter(_standing([c.change for v in versus for c in v.changes]))
    by_cell = iter(_standing([c.change for v in versus for c in v.cells]))
    return Comparison(
        (first.run, *(other.run for other in others)),
        tuple(
            replace(
                v,
                changes=tuple(replace(c, stands=next(by_change)) for c in v.changes),
                cells=tuple(
                    sorted(
                        (replace(c, stands=next(by_cell)) for c in v.cells),
                        key=lambda c: (-abs(c.change.value or 0.0), not c.stands, c.place),
                    )
                ),
            )
            for v in versus
        ),
    )


def _gathered(name: str, rows: Iterable[Row]) -> _Rows:
    """The rollouts of a run. Of a cell that was run under several settings those of most rollouts count."""
    under: dict[Place, dict[str, dict[int, Row]]] = {}
    total, models = 0, set[str]()
    for row in rows:
        place = Place(row["study"], row["task"], row["family"], row["mode"], tuple(row["models"]), row["condition"])
        under.setdefault(place, {}).setdefault(row["settings"], {})[row["seed"]] = row
        total += 1
        models.update(row["models"])
    found = _Rows(Run(name, total, tuple(sorted(models))))
    for place, settings in sorted(under.items()):
        most = min(settings, key=lambda digest: (-len(settings[digest]), digest))
        found.cells[place] = settings[most]
        if len(settings) > 1:
            found.several.append(f"{place.told} in {name}")
    return found


def _aligned(first: _Rows, second: _Rows, align: Mapping[str, str]) -> dict[str, str]:
    """The model of the second run that stands for each of the first one."""
    for run, names in ((first.run, align), (second.run, align.values())):
        for name in names:
            if name not in run.models:
                raise ValueError(f"{name!r} is no model of {run.name}; it has {', '.join(run.models)}")
    found = {m: m for m in first.run.models if m in second.run.models and m not in align.values()} | dict(align)
    alone = [m for m in first.run.models if m not in found]
    free = [m for m in second.run.models if m not in found.values()]
    return found | ({alone[0]: free[0]} if len(alone) == len(free) == 1 else {})


def _versus(first: _Rows, second: _Rows, align: Mapping[str, str]) -> Versus:
    models = _aligned(first, second, align)
    partner: dict[Place, Place] = {}
    for place in first.cells:
        if all(m in models for m in place.models):
            there = place._replace(models=tuple(models[m] for m in place.models))
            if there in second.cells:
                partner[place] = there
    apart: dict[str, list[str]] = defaultdict(list)
    apart[f"cell only in {first.run.name}"] = [p.told for p in first.cells if p not in partner]
    apart[f"cell only in {second.run.name}"] = [p.told for p in second.cells if p not in set(partner.values())]
    apart["cell run under several settings: those of most rollouts are compared"] = [*first.several, *second.several]
    pairs: dict[Place, dict[int, tuple[Row, Row]]] = {}
    differing: dict[str, Counter[tuple[str, str]]] = defaultdict(Counter)
    flips, same, other = [], 0, 0
    for place, there in partner.items():
        ours, theirs = first.cells[place], second.cells[there]
        for name, both in _differing(ours, theirs).items():
            differing[name][both] += 1
        for seed in sorted({*ours, *theirs}):
            if seed not in ours or seed not in theirs:
                run = second.run if seed in theirs else first.run
                apart[f"rollout only in {run.name}"].append(f"{place.told} seed {seed}")
            elif ours[seed]["score"] is None or theirs[seed]["score"] is None:
                apart["rollout that could not be run in one of them"].append(f"{place.told} seed {seed}")
            else:
                a, b = ours[seed], theirs[seed]
                pairs.setdefault(place, {})[seed] = a, b
                equal = (a["outcome"], a["score"], a["success"]) == (b["outcome"], b["score"], b["success"])
                same, other = same + equal, other + (not equal)
                if a["success"] != b["success"]:
                    flips.append(Flip(place, seed, _end(a), _end(b)))
    if not pairs:
        left = [m for m in first.run.models if m not in models]
        hint = f"; say which model stands for {left[0]} with --align {left[0]} MODEL" if left else ""
        raise ValueError(f"{first.run.name} and {second.run.name} have no rollout in common{hint}")
    settings = [Setting("model", a, b, sum(a in p.models for p in partner)) for a, b in models.items() if a != b]
    settings += [
        Setting(name, a, b, n) for name, found in sorted(differing.items()) for (a, b), n in sorted(found.items())
    ]
    moved = [name for name in INSTANCE if any(s.name in (name, f"version of {name}") for s in settings)]
    return Versus(
        first.run,
        second.run,
        tuple(_changes(pairs, first.cells, {p: second.cells[partner[p]] for p in pairs})),
        tuple(_cell(place, list(seeds.values())) for place, seeds in pairs.items()),
        tuple(flips),
        tuple(settings),
        same,
        other,
        {why: tuple(what) for why, what in apart.items() if what},
        "equal seeds are not equal instances here, as difficulty or tasks differ: read means, no single rollouts"
        if moved
        else "",
    )


def _end(row: Row) -> tuple[str, float, bool, str]:
    return row["outcome"], row["score"], row["success"], row["warning"]


def _differing(ours: Mapping[int, Row], theirs: Mapping[int, Row]) -> dict[str, tuple[str, str]]:
    """What a cell's two sets of rollouts were run with otherwise, by name."""
    a, b = next(iter(ours.values())), next(iter(theirs.values()))
    found = {}
    for kind, prefix in (("said", ""), ("versions", "version of ")):
        for name in sorted({*a[kind], *b[kind]}):
            values = a[kind].get(name, "-"), b[kind].get(name, "-")
            if values[0] != values[1]:
                found[f"{prefix}{name}"] = (str(values[0]), str(values[1]))
    if not found and a["models"] == b["models"] and a["settings"] != b["settings"]:
        found[ASKED] = (str(a["settings"]), str(b["settings"]))  # endpoint parameters, known by their digest only
    return found


def _cell(place: Place, both: Sequence[tuple[Row, Row]]) -> CellChange:
    return CellChange(
        place,
        fmean(a["score"] for a, _ in both),
        fmean(b["score"] for _, b in both),
        t_interval(b["score"] - a["score"] for a, b in both),
        sum(b["success"] and not a["success"] for a, b in both),
        sum(a["success"] and not b["success"] for a, b in both),
    )


def _changes(
    pairs: Mapping[Place, Mapping[int, tuple[Row, Row]]],
    first: Mapping[Place, Mapping[int, Row]],
    second: Mapping[Place, Mapping[int, Row]],
) -> Iterator[Change]:
    """Taxes by team, then scores by mode and team; by family, where there are several, and over all tasks.

    A tax is over the tasks that the model solves alone in both runs.
    """
    groups: dict[tuple[str, ...], dict[str, tuple[str, list[Ends]]]] = {}
    for place, seeds in pairs.items():
        group = (place.study, f"{place.mode} score", label(place.models), place.condition)
        ends = [(a["score"], b["score"]) for a, b in seeds.values()]
        groups.setdefault(group, {})[place.task] = place.family, ends
        solo = [place._replace(mode="solo", models=place.models[:1], condition=c) for c in (place.condition, "")]
        alone = next((one for one in solo if one in pairs), None)
        if (
            place.mode == "homo"
            and alone
            and all(is_tractable(_mean(cells[alone].values())) for cells in (first, second))
        ):
            shared = [(pairs[alone][seed], both) for seed, both in seeds.items() if seed in pairs[alone]]
            taxes = [(s[0]["score"] - h[0]["score"], s[1]["score"] - h[1]["score"]) for s, h in shared]
            if taxes:
                group = (place.study, "tax", label(place.models), place.condition)
                groups.setdefault(group, {})[place.task] = place.family, taxes
    for (_, what, team, condition), by_task in sorted(groups.items(), key=lambda one: (one[0][1] != "tax", one[0])):
        there = {family for family, _ in by_task.values()}
        families = [f for f in FAMILIES if f in there] + sorted(there - set(FAMILIES))
        for scope in [*families, "all"] if len(families) > 1 else ["all"]:
            tables = [ends for _, (family, ends) in sorted(by_task.items()) if scope in (family, "all")]
            before, after = (fmean(fmean(end[i] for end in ends) for ends in tables) for i in (0, 1))
            yield Change(what, team, condition, scope, before, after, _over(tables), len(tables))


def _mean(rows: Iterable[Row]) -> float:
    return fmean([row["score"] for row in rows if row["score"] is not None] or [0.0])


def _over(tables: Sequence[Sequence[Ends]]) -> Estimate:
    """Mean over tasks of later minus first, with a t interval over tasks; over seeds where there is one task only."""
    differences = [[b - a for a, b in values] for values in tables]
    if len(differences) == 1:
        return t_interval(differences[0], unit="seeds, one of the tasks only")
    over = t_interval((fmean(values) for values in differences), unit="tasks")
    return replace(over, n=sum(map(len, differences)))


def _p(estimate: Estimate) -> float | None:
    """Of the t test; where all differences are one and the same and not 0, of the sign-flip test, which is exact."""
    found = p_value(estimate)
    if found is None and estimate.value and estimate.low is not None:
        return float(2 * 0.5**estimate.clusters)
    return found


def _standing(estimates: Sequence[Estimate]) -> list[bool]:
    """Which of a table's differences are told from 0 when all are read at once."""
    ps = [_p(estimate) for estimate in estimates]
    known = iter(holm([p for p in ps if p is not None]))
    return [p is not None and next(known) <= LEVEL for p in ps]


# --- what it says ---


def changed(v: Versus) -> list[CellChange]:
    """The cells that changed most, `SHOWN` of them; none that did not change."""
    return [c for c in v.cells if c.change.value][:SHOWN]


def counted(v: Versus) -> str:
    """The compared rollouts in one line."""
    up, down = (sum(f.second[2] is one for f in v.flips) for one in (True, False))
    return (
        f"{v.same + v.other} rollouts in {len(v.cells)} cells compared: {v.same} as before, {v.other} otherwise, of "
        f"which {up} now succeed and {down} no longer do"
    )


def named(c: Change) -> str:
    return " ".join(filter(None, (c.what, c.team, c.condition)))


def end(one: tuple[str, float, bool, str]) -> str:
    """One end of a flip."""
    outcome, score, _, warning = one
    return f"{outcome.replace('_', ' ')} {score:.2f} ({warning or 'not read'})"


def verdict(v: Versus) -> str:
    """What stands, in a sentence."""
    if not v.other:
        return "Every rollout that can be compared came out the same."
    stands = [c for c in v.changes if c.stands]
    if not stands:
        return f"None of the {len(v.changes)} differences below is told from chance when all are read at once."
    told = "; ".join(f"{named(c)} ({c.scope}) {interval(c.change, '+')}" for c in stands[:3])
    return f"Told from chance when all {len(v.changes)} are read at once: {told}" + (
        f"; and {len(stands) - 3} more." if len(stands) > 3 else "."
    )


def text(found: Comparison) -> Iterator[str]:
    """For the terminal: printable ASCII."""
    from collabtax.report.text import table

    for v in found.versus:
        yield printable(f"{v.second.name} minus {v.first.name}: {verdict(v)}")
        yield printable(counted(v))
        if v.caution:
            yield f"NOTE: {v.caution}"
        for s in v.settings:
            yield printable(f"differs: {s.name}: {s.first} -> {s.second} ({s.cells} cells)")
        yield ""
        yield from table(
            ("what", "scope", "first", "later", "later - first [95 % interval]", "stands", "tasks"),
            [
                [printable(named(c)), c.scope, number(c.first), number(c.second), interval(c.change, "+"),
                 "yes" if c.stands else "", str(c.tasks)]
                for c in v.changes
            ], 2,
        )  # fmt: skip
        if cells := changed(v):
            yield ""
            yield from table(
                ("cells that changed most", "first", "later", "later - first [95 % interval]", "stands", "+", "-"),
                [
                    [printable(c.place.told), number(c.first), number(c.second), interval(c.change, "+"),
                     "yes" if c.stands else "", str(c.gained), str(c.lost)]
                    for c in cells
                ], 1,
            )  # fmt: skip
        if v.flips:
            yield ""
        for f in v.flips[:SHOWN]:
            yield printable(f"flipped: {f.place.told} seed {f.seed}: {end(f.first)} -> {end(f.second)}")
        if len(v.flips) > SHOWN:
            yield f"and {len(v.flips) - SHOWN} more rollouts flipped; --html FILE lists them"
        for why, what in v.apart.items():
            few = ", ".join(what[:3])
            yield printable(f"cannot compare: {len(what)} x {why}: {few}" + ", ..." * (len(what) > 3))
        yield ""


def markdown(found: Comparison) -> Iterator[str]:
    """For a pull request or the page of a CI job: what is long is folded away."""
    from collabtax.report.markdown import cell, table

    yield "## Comparison of runs"
    for v in found.versus:
        yield f"\n### {cell(v.second.name)} minus {cell(v.first.name)}\n"
        yield f"**{cell(verdict(v))}** {cell(counted(v))}."
        if v.caution:
            yield f"\n> **Note:** {cell(v.caution)}."
        yield from table(
            ["setting", cell(v.first.name), cell(v.second.name), "cells"],
            [[*map(cell, (s.name, s.first, s.second)), str(s.cells)] for s in v.settings],
        )
        lines = [
            ["✱" if c.stands else "", cell(named(c)), c.scope, number(c.first), number(c.second),
             interval(c.change, "+"), str(c.tasks)]
            for c in v.changes
        ]  # fmt: skip
        head = ["", "what", "scope", "first", "later", "later − first", "tasks"]
        yield from table(head, [line for line in lines if line[0] or line[2] == "all"])
        rest = [line for line in lines if not line[0] and line[2] != "all"]
        yield from _folded("by family", table(head, rest), bool(rest))
        yield "\n✱ told from 0 when all of the comparison are read at once (Holm, 5 %)."
        cells = [
            [cell(c.place.told), number(c.first), number(c.second), interval(c.change, "+"), str(c.gained), str(c.lost)]
            for c in changed(v)
        ]
        yield from _folded(
            f"{len(cells)} cells that changed most",
            table(["cell", "first", "later", "later − first", "gained", "lost"], cells),
            bool(cells),
        )
        flips = [[cell(f.place.told), str(f.seed), cell(end(f.first)), cell(end(f.second))] for f in v.flips[:SHOWN]]
        of = f"{len(flips)} of {len(v.flips)}" if len(v.flips) > len(flips) else f"{len(flips)}"
        yield from _folded(f"{of} flipped rollouts", table(["cell", "seed", "first", "later"], flips), bool(flips))
        apart = [[str(len(what)), cell(why), cell(", ".join(what[:3]))] for why, what in v.apart.items()]
        yield from _folded("what cannot be compared", table(["", "why", "such as"], apart), bool(apart))


def _folded(title: str, lines: Iterable[str], there: bool) -> Iterator[str]:
    if there:
        yield f"\n<details><summary>{title}</summary>"
        yield from lines
        yield "\n</details>"


def figures(found: Comparison) -> Iterator[Figure]:
    """The changes of every later run, and its cells that changed most."""
    from collabtax.report.figures import contrasts

    filled = "Filled: told from 0 when all of them are read at once (Holm, 5 %)."
    for i, v in enumerate(found.versus, 1):
        groups: dict[str, list[tuple[str, float | None, float | None, float | None]]] = {}
        for c in v.changes:
            groups.setdefault(named(c), []).append((c.scope, c.change.value, c.change.low, c.change.high))
        yield contrasts(
            f"changes-{i}", f"{v.second.name} minus {v.first.name}",
            "Paired by task and seed, with 95 % intervals over tasks. Right of 0 the later run has more: of a score "
            f"that is better, of a tax worse. {filled}",
            "later − first", groups, [(named(c), c.scope) for c in v.changes if not c.stands],
        )  # fmt: skip
        if cells := changed(v):
            yield contrasts(
                f"cells-{i}", "Cells that changed most",
                f"Score, later − first, with 95 % intervals over seeds. {filled}", "later − first",
                {"": [(c.place.told, c.change.value, c.change.low, c.change.high) for c in cells]},
                [("", c.place.told) for c in cells if not c.stands],
            )  # fmt: skip


def html(found: Comparison) -> str:
    """A page that stands alone: no script, no other file."""
    from collabtax.report.figures import style, table
    from collabtax.report.files import STYLES, TEMPLATES, visible

    css = "".join((TEMPLATES / name).read_text(encoding="utf-8") for name in STYLES) + style()
    drawn = iter(figures(found))
    body = []
    for v in found.versus:
        body.append(Markup("<section><h2>{} minus {}</h2>").format(visible(v.second.name), visible(v.first.name)))
        body.append(Markup('<p class="lead">{}</p><p class="facts">{}.</p>').format(visible(verdict(v)), counted(v)))
        if v.caution:
            body.append(Markup('<p class="warning"><strong>Note</strong> {}.</p>').format(v.caution))
        body.append(next(drawn).html())
        if changed(v):
            body.append(next(drawn).html())
        for title, head, rows in tables(v):
            made = Markup("<h3>{}</h3>{}")
            if len(rows) > SHOWN:
                made = Markup("<details><summary>{}</summary>{}</details>")
                title += f" ({len(rows)})"
            body.append(made.format(title, table(head, rows)) if rows else Markup(""))
        body.append(Markup("</section>"))
    digest = base64.b64encode(hashlib.sha256(css.encode()).digest()).decode()
    names = ", ".join(visible(run.name) for run in found.runs)
    return _PAGE.format(digest=digest, css=Markup(css), runs=names, body=Markup("\n").join(body))  # noqa: S704 - our own


def tables(v: Versus) -> Iterator[tuple[str, tuple[str, ...], list[tuple[Any, ...]]]]:
    """The tables of a page: title, head, lines."""
    ends = ("first", "later", "later − first", "low", "high", "stands")
    yield (
        "Settings that differ", ("setting", v.first.name, v.second.name, "cells"),
        [(s.name, s.first, s.second, s.cells) for s in v.settings],
    )  # fmt: skip
    yield (
        "Differences", ("what", "scope", *ends, "tasks"),
        [
            (named(c), c.scope, c.first, c.second, c.change.value, c.change.low, c.change.high, c.stands, c.tasks)
            for c in v.changes
        ],
    )  # fmt: skip
    yield (
        "Cells", ("cell", *ends, "gained", "lost"),
        [
            (c.place.told, c.first, c.second, c.change.value, c.change.low, c.change.high, c.stands, c.gained, c.lost)
            for c in v.cells
        ],
    )  # fmt: skip
    yield (
        "Rollouts that flipped", ("cell", "seed", "first", "later"),
        [(f.place.told, f.seed, end(f.first), end(f.second)) for f in v.flips[:MOST]],
    )  # fmt: skip
    yield (
        "What cannot be compared", ("why", "how many", "such as"),
        [(why, len(what), ", ".join(what[:5])) for why, what in v.apart.items()],
    )  # fmt: skip


_PAGE = Markup("""<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="generator" content="collabtax-report">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'sha256-{digest}'">
<meta name="viewport" content="width=device-width, initial-scale=1"><meta name="color-scheme" content="light dark">
<title>Comparison of runs</title><style>{css}</style></head>
<body><header class="top"><h1>Comparison of runs</h1><p class="lead">{runs}</p>
<p class="facts">A difference is later minus first, paired by task and seed, each task weighing the same. It stands if
it is told from 0 when all of its table are read at once (Holm, 5 %).</p></header>
<main>
{body}
</main></body></html>
""")


def register(commands: Any) -> None:
    """Add the command to the subparsers of `python -m collabtax`."""
    one = commands.add_parser("compare", help="compare runs: models, prompts or versions on the same cells")
    _arguments(one)
    one.set_defaults(run=run)


def _arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "runs", type=Path, nargs="+", metavar="RUN", help="folders that --run named, the first is the base"
    )
    parser.add_argument(
        "--align", action="append", default=[], nargs=2, metavar="MODEL",
        help="a model of the first run, and the one of the others that is compared with it",
    )  # fmt: skip
    parser.add_argument("--html", type=Path, metavar="FILE", help="write it as a page too")
    parser.add_argument("--markdown", type=Path, metavar="FILE", help="add it to a file, as Markdown")


def run(given: argparse.Namespace) -> None:
    """Compare, print, and write what was asked for. Raises ValueError in one line."""
    found = compare(given.runs, dict(given.align))
    for line in text(found):
        print(line)
    writers: list[tuple[Path | None, str, Callable[[], str]]] = [
        (given.html, "w", lambda: html(found)),
        (given.markdown, "a", lambda: "".join(f"{line}\n" for line in markdown(found))),
    ]
    for path, how, make in writers:
        if path:
            try:
                with path.open(how, encoding="utf-8", errors="backslashreplace") as out:
                    out.write(make())
            except OSError as problem:
                raise ValueError(f"{path} cannot be written: {problem.strerror}; choose another place") from None


def main(arguments: Sequence[str] | None = None) -> int:
    """The command by itself; returns the exit code, 2 with one line on stderr for bad input."""
    parser = argparse.ArgumentParser(prog="python -m collabtax compare", description=__doc__)
    _arguments(parser)
    try:
        run(parser.parse_args(arguments))
    except ValueError as problem:
        print(problem, file=sys.stderr)
        return 2
    return 0
