"""The gate: how everything recorded is read and graded now, against how it was when the baseline was written.

A baseline is a text file, one JSON line a rollout in a fixed order, that belongs into version control beside the
recordings. It holds what came out (outcome, score, success, warning, answer), not why. Three verdicts: *pass*;
*regression*, with every rollout whose result changed; *cannot compare*, where the two are not about the same thing
(another version of a task, prompt or setting, rollouts that one of them lacks). The last is never a pass.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from collabtax.cassettes import canonical
from collabtax.cells import Cell, printable

if TYPE_CHECKING:
    from collabtax.session import Session

PASS, REGRESSION, CANNOT_COMPARE = 0, 10, 11  # exit codes; pytest's own are 0 to 5
RESULT = ("outcome", "score", "success", "warning", "answer")
SHOWN = 200  # changes that are listed in the terminal; all of them are in the verdict's count

Row = Mapping[str, Any]
Place = tuple[str, str, int]  # study, cell id, seed


def line(cell: Cell, row: Row, basis: str) -> dict[str, Any]:
    """What a baseline holds of a rollout. `basis` names the settings and versions without those of the graders."""
    result = {name: row[name] for name in RESULT}
    return {"study": cell.study, "cell": cell.id, "seed": row["seed"], "basis": basis, **result}


def place(one: Row) -> Place:
    return one["study"], one["cell"], one["seed"]


def write(path: Path, lines: Iterable[Row]) -> None:
    """Write a baseline. The same results give the same bytes."""
    ordered = sorted(lines, key=place)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("".join(canonical(dict(one)) + "\n" for one in ordered), encoding="utf-8")


def read(path: Path) -> dict[Place, Row]:
    """A baseline by rollout. Raises ValueError, in one line, for a file that is none."""
    found: dict[Place, Row] = {}
    try:
        for number, text in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
            one = json.loads(text)
            if not {"basis", *RESULT} <= set(one):
                raise ValueError(f"line {number} is no line of a baseline")
            found[place(one)] = one
    except FileNotFoundError:
        raise ValueError(f"--baseline {path}: there is no such file; write it with --update-baseline") from None
    except (OSError, ValueError, KeyError, TypeError, RecursionError) as problem:
        fault = f"{type(problem).__name__}: {problem}"
        raise ValueError(
            f"--baseline {path} cannot be read ({fault:.200}); write it anew with --update-baseline"
        ) from None
    if not found:
        raise ValueError(f"--baseline {path} is empty; write it with --update-baseline")
    return found


@dataclass
class Comparison:
    """What came out of a comparison: rollouts that are the same, those that changed, and why others are not comparable
    (reason -> rollouts)."""

    same: int = 0
    changed: list[tuple[Row, Row]] = field(default_factory=list)  # (baseline, now)
    apart: dict[str, list[Place]] = field(default_factory=dict)

    @property
    def code(self) -> int:
        return REGRESSION if self.changed else CANNOT_COMPARE if self.apart or not self.same else PASS


def compare(before: Mapping[Place, Row], now: Mapping[Place, Row]) -> Comparison:
    """Compare two sets of lines. Infrastructure failures compare with nothing, not even with themselves."""
    found = Comparison()
    for where in sorted({*before, *now}):
        old, new = before.get(where), now.get(where)
        if old is None:
            why = "not in the baseline"
        elif new is None:
            why = "in the baseline, not in this run"
        elif "infrastructure" in (old["outcome"], new["outcome"]):
            why = "could not be run"
        elif old["basis"] != new["basis"]:
            why = "run with another version of task or prompt, or other settings"
        else:
            if all(old[name] == new[name] for name in RESULT):
                found.same += 1
            else:
                found.changed.append((old, new))
            continue
        found.apart.setdefault(why, []).append(where)
    return found


def shown(one: Row) -> str:
    score = "-" if one["score"] is None else f"{one['score']:.3f}"
    return f"{one['outcome']} {score} ({one['warning'] or 'not read'}) {json.dumps(one['answer'])[:80]}"


def told(found: Comparison, rows: Mapping[Place, Row], commands: Mapping[Place, str], path: str) -> Iterator[str]:
    """A comparison in lines: every change with old, new, reason and command, then the verdict."""
    for old, new in found.changed[:SHOWN]:
        where = place(new)
        yield printable(f"changed: {where[1]} seed {where[2]}: {shown(old)} -> {shown(new)}: {rows[where]['reason']}")
        yield f"  {commands[where]}"
    if len(found.changed) > SHOWN:
        yield f"and {len(found.changed) - SHOWN} changes more"
    for why, places in found.apart.items():
        few = ", ".join(f"{cell} seed {seed}" for _, cell, seed in places[:3])
        yield printable(f"cannot compare: {len(places)} rollouts {why}: {few}" + ", ..." * (len(places) > 3))
    verdict = {PASS: "pass", REGRESSION: "regression", CANNOT_COMPARE: "cannot compare"}[found.code]
    apart = sum(map(len, found.apart.values()))
    yield f"baseline {path}: {verdict} ({found.same} as before, {len(found.changed)} changed, {apart} not comparable)"
    if found.code != PASS:
        yield "if this is what you meant, run it again with --update-baseline and commit the file"


def gate(
    session: Session, path: Path, cells: Iterable[Cell], results: Mapping[Any, Row]
) -> tuple[list[str], int]:  # fmt: skip
    """Compare this run's results with a baseline, or write it; returns lines for the terminal and the exit code."""
    from collabtax.report.pages import command

    settings = session.settings
    cells = list(dict.fromkeys(cells))
    rows: dict[Place, Row] = {}
    now: dict[Place, Row] = {}
    for cell in cells:
        basis = settings.digest(cell, graders=False)
        for key in session.keys(cell).values():
            if (row := results.get(key)) is not None:
                one = json.loads(canonical(line(cell, row, basis)))
                rows[place(one)], now[place(one)] = row, one
    if settings.update_baseline:
        failed = sum(row["outcome"] == "infrastructure" for row in rows.values())
        if failed or not rows:
            return [
                f"baseline {path} is not written: {failed} of {len(rows)} rollouts could not be run"
            ], CANNOT_COMPARE
        write(path, now.values())
        return [f"baseline {path}: {len(now)} rollouts written"], PASS
    found = compare(read(path), now)
    at = {(cell.study, cell.id): cell for cell in cells}
    commands = {
        (s, c, seed): command(at[s, c], seed, settings) for s, c, seed in (place(new) for _, new in found.changed)
    }
    return list(told(found, rows, commands, str(path))), found.code
