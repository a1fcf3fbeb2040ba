"""What runs a stored rollout again."""

from __future__ import annotations

import shlex

from collabtax.cells import Cell
from collabtax.options import INTERVENTIONS, OPTIONS, SWEEPS, flag
from collabtax.report.files import CHECKOUT
from collabtax.settings import Settings
from collabtax.study import get_study


def command(cell: Cell, seed: int, settings: Settings) -> str:
    """What runs a rollout again from its recording, in a run of its own. No path of this machine is in it: a folder of
    recordings outside the checkout is left to the reader."""
    settings = settings.of(cell)
    words = ["python", "-m", "pytest", "benchmarks", "-k", f"[{cell.id}]", f"--seed={seed}", "--rollouts=1"]
    words += [f"--study={cell.study}"] * (cell.study != "tax")
    two = len(set(cell.models)) > 1
    words.append(f"--pair={','.join(dict.fromkeys(cell.models))}" if two else f"--model={cell.models[0]}")
    if cell.condition in SWEEPS:
        words.append(f"--sweep={cell.condition}")
    elif cell.condition in INTERVENTIONS:
        words.append(f"--intervention={cell.condition}")
    elif cell.condition and cell.mode != "half":
        words.append(f"--condition={cell.condition}")
    for name, kind, default, *_ in OPTIONS:
        if name in ("friction", "difficulty", "temperature", "turn_cap", "extractor"):
            value = getattr(settings, name)
            default = get_study(cell.study).turn_cap if name == "turn_cap" else default
            words += [f"{flag(name)}={value:g}" if kind is float else f"{flag(name)}={value}"] * (value != default)
    words += ["--no-critic"] * (not settings.critic)
    if settings.cassettes.is_relative_to(CHECKOUT) and settings.cassettes != CHECKOUT / "cassettes":
        words.append(f"--cassettes={settings.cassettes.relative_to(CHECKOUT).as_posix()}")
    return " ".join(map(shlex.quote, [*words, "--record-mode=none", "--run=runs/again"]))
