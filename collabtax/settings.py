"""Options: read once, checked before anything is asked or written, then frozen.

Precedence: command line; the `[tool.collabtax]` table of the pyproject.toml beside the pytest.ini; where no model is
named by either, the embedded default (`cassettes/default.toml`: the shipped models on their shipped cassettes); the
defaults below.
"""

from __future__ import annotations

import difflib
import hashlib
import math
import os
import re
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from collabtax.cassettes import canonical
from collabtax.cells import Cell, slug
from collabtax.models import Model, load_model, read_models
from collabtax.options import CHOICES, MODES, OPTIONS, PROFILES, STUDIES, TABLE_ONLY, choose, flag
from collabtax.study import get_study

KEYS = (*(option[0] for option in OPTIONS), *TABLE_ONLY)


@dataclass(frozen=True)
class Settings:
    """Everything a run is. Paths are absolute."""

    model: tuple[str, ...]
    pair: tuple[tuple[str, str], ...]
    task: tuple[str, ...]
    mode: tuple[str, ...]
    study: tuple[str, ...]
    rollouts: int
    rollouts_of: Mapping[str, int]
    tasks_of: Mapping[str, Sequence[str]]
    seed: int
    intervention: tuple[str, ...]
    sweep: tuple[str, ...]
    friction: str
    difficulty: str
    temperature: float
    turn_cap: int
    critic: bool
    extractor: str
    record_mode: str
    cassettes: Path
    models: Mapping[str, Model]
    run: Path
    report: Path
    concurrency: int
    plan: bool
    embedded: bool
    baseline: Path | None
    update_baseline: bool
    markdown: Path | None
    dask: str
    retry_failed: bool
    max_cost: float  # USD; 0: no limit
    shard: tuple[int, int] | None  # which part, from 1, of how many
    condition: tuple[str, ...]
    seat: str
    labeller: tuple[str, ...]
    plain: bool  # swap and coop: cells without a condition are run too
    real_time: bool  # coop: seconds go by the clock, not by recorded latencies
    episodes: int
    medqa: Path | None
    own: Mapping[str, tuple[Settings, ...]]  # of studies that have tables of their own, each for some models

    @property
    def members(self) -> tuple[str, ...]:
        """Every model that is measured, each once."""
        return tuple(dict.fromkeys((*self.model, *(m for pair in self.pair for m in pair))))

    def parts(self, study: str) -> tuple[Settings, ...]:
        """The settings of a study: those of the run, unless it has tables of its own."""
        return self.own.get(study, (self,))

    def of(self, cell: Cell) -> Settings:
        """The settings of the part of its study that a cell belongs to: the first one with its models."""
        parts = self.parts(cell.study)
        return next((part for part in parts if set(cell.models) <= set(part.members)), parts[0])

    def under(self, cell: Cell) -> Settings:
        """The settings of a cell: those of its study, unless its condition changes them."""
        settings = self.of(cell)
        return get_study(cell.study).under(settings, cell)

    def cells(self, study: str) -> list[Cell]:
        """The cells of `study`, in a fixed order, each once."""
        if study not in self.study:
            return []
        cells: dict[Cell, None] = {}
        for own in self.parts(study):
            some = dict.fromkeys(get_study(study).cells(own))
            cells |= {c: None for c in some if own.shard is None or part_of(c, own.shard[1]) == own.shard[0]}
        return [c for c in cells if all(c.task in self.of(c).tasks_of.get(m, (c.task,)) for m in c.models)]

    def seeds(self, cell: Cell) -> Sequence[int]:
        """The seeds of a cell's rollouts: the same for every mode and model, so that differences are paired."""
        own, study = self.of(cell), get_study(cell.study)
        count = min([own.rollouts, *(own.rollouts_of.get(m, own.rollouts) for m in cell.models)])
        return study.seeds(own, cell, range(own.seed, own.seed + count))

    @property
    def extractors(self) -> tuple[str, ...]:
        """What reads answers: "program" or a model. The first one counts, a second one is compared with it."""
        return extractors(self.extractor)

    def said(self, cell: Cell) -> dict[str, Any]:
        """What changes what a rollout of a cell says or how it is read, apart from cell and seed."""
        return get_study(cell.study).said(self.under(cell), cell)

    def digest(self, cell: Cell, graders: bool = True) -> str:
        """Names the settings of a cell's rollouts: equal digests may be compared and resumed, others may not. Without
        `graders` their version is left out: what was said is then the same, and how it is graded may differ."""
        own, study = self.under(cell), get_study(cell.study)
        asked = [own.models[m].settings(own.temperature) for m in cell.models]
        asked += [own.models[reader].settings(0) for reader in own.extractors if reader != "program"]
        versions = {k: v for k, v in study.versions(cell).items() if graders or k != "graders"}
        return hashlib.sha256(canonical([study.said(own, cell), versions, asked]).encode()).hexdigest()[:12]

    def cassette(self, cell: Cell, seed: int) -> Path:
        """Where a rollout is recorded. Settings that change every request have folders of their own."""
        self = self.of(cell)
        differs = [self.difficulty] * (self.difficulty != "default") + [self.friction] * (self.friction != "natural")
        differs += [f"t{self.temperature:g}"] * (self.temperature != 0.7)
        return self.cassettes.joinpath(cell.study, *differs, cell.id, f"{seed:04d}.yaml")


def part_of(cell: Cell, parts: int) -> int:
    """Which of `parts` parts of a study a cell belongs to, from 1: the same on every machine, whatever else is run."""
    return (
        int.from_bytes(hashlib.sha256(f"{cell.study}/{get_study(cell.study).group(cell)}".encode()).digest()[:8], "big")
        % parts
        + 1
    )


def read_shard(told: str) -> tuple[int, int] | None:
    """Part and number of parts in `I/N`. Raises ValueError in one line."""
    if not told:
        return None
    found = re.fullmatch(r"([1-9]\d{0,4})/([1-9]\d{0,4})", told)
    if not found or int(found[1]) > int(found[2]):
        raise ValueError(f"--shard {told!r} is not a part of some, like 2/4")
    return int(found[1]), int(found[2])


def extractors(told: str) -> tuple[str, ...]:
    return tuple(reader.strip() for reader in told.split(","))


def convert(name: str, kind: type, value: Any) -> Any:
    """One option's value from the command line or a table. Raises ValueError in one line."""
    if kind is list:
        values = value if isinstance(value, list | tuple) else [value]
        if odd := [v for v in values if not isinstance(v, str)]:
            raise ValueError(f"{flag(name)} {odd[0]!r} is not a text; write it in quotes")
        if name in ("model", "pair", "labeller"):
            return tuple(dict.fromkeys(v.strip() for v in values))
        parts = tuple(dict.fromkeys(part.strip() for v in values for part in v.split(",") if part.strip()))
        if values and not parts:
            raise ValueError(f"{flag(name)} {values[0]!r} is empty; leave it out for all, or name what is wanted")
        return parts
    if kind is str:
        if not isinstance(value, str):
            raise ValueError(f"{flag(name)} {value!r} is not a text; write it in quotes")
        return value.strip()
    if kind is bool:
        if not isinstance(value, bool):
            raise ValueError(f"{flag(name)} {value!r} is neither true nor false")
        return value
    try:
        if isinstance(value, bool) or (kind is int and isinstance(value, float)):
            raise ValueError
        number = kind(value)
        if not math.isfinite(number):
            raise ValueError
        return number
    except (TypeError, ValueError, OverflowError):
        raise ValueError(f"{flag(name)} {value!r} is not {'a whole number' if kind is int else 'a number'}") from None


def read_table(path: Path, *keys: str, known: Sequence[str] | None = KEYS) -> dict[str, Any]:
    """A table of options in a TOML file; {} where file or table are missing. `known`: the keys that it may have, None
    for any. Raises ValueError naming what is off."""
    try:
        table: Any = tomllib.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        return {}
    except (OSError, ValueError) as problem:
        raise ValueError(f"{path}: {problem}") from None
    for key in keys:
        table = table.get(key, {}) if isinstance(table, dict) else table
    if not isinstance(table, dict):
        raise ValueError(f"{path}: [{'.'.join(keys)}] is no table; write its options below a line [{'.'.join(keys)}]")
    for key in table if known is not None else ():
        if known is not None and key not in known:
            near = difflib.get_close_matches(key, known, 1)
            hint = f" (did you mean {near[0]}?)" if near else ""
            raise ValueError(f"{path}: unknown option {key!r}{hint}; known: {', '.join(known)}")
    return dict(table)


def read_profile(path: Path, name: str) -> dict[str, Any]:
    """The options of a profile: one of ours, or a table `[tool.collabtax-profiles.NAME]` of the user. Raises
    ValueError."""
    own = read_table(path, "tool", "collabtax-profiles", known=None)
    choose("profile", [name], [*PROFILES, *own])
    return read_table(path, "tool", "collabtax-profiles", name) if name in own else PROFILES[name]


def settings(given: Mapping[str, Any], root: Path) -> Settings:
    """The settings of a run from `given` options (only those that were given) and the tables below `root`.

    Raises:
        ValueError: one line that names the value, what was expected and the remedy.
    """
    table = read_table(root / "pyproject.toml", "tool", "collabtax")
    if wanted := convert("profile", str, given.get("profile", table.get("profile", ""))):
        table |= read_profile(root / "pyproject.toml", wanted)
    table |= given
    embedded = not (table.get("model") or table.get("pair"))
    if embedded:
        folder = root / (convert("cassettes", str, table.get("cassettes", "")) or "cassettes")
        table = read_table(folder / "default.toml") | table
    own = {study: tables(study, table.pop(study, {})) for study in STUDIES}
    shipped = [s for s in STUDIES if s == "tax" or own[s]] if embedded else ["tax"]
    studies = convert("study", list, table.get("study", shipped)) or STUDIES
    choose("study", studies, STUDIES)
    known = dict(task for study in studies for task in get_study(study).tasks)
    built = {
        s: tuple(build(s, {**table, **part, **given}, root, embedded, known) for part in own[s] or [{}])
        for s in studies
    }
    every = [one for parts in built.values() for one in parts]
    if not any(one.task for one in every):
        asked = {name: convert(name, list, table.get(name, ())) for name in ("task", "family")}
        said = " ".join(f"{flag(name)} {','.join(got)}" for name, got in asked.items())
        raise ValueError(f"no task is left: {said}")
    if not any(one.mode for one in every):
        modes = ", ".join(mode for study in studies for mode in MODES[study])
        raise ValueError(f"--mode {','.join(convert('mode', list, table['mode']))} is none of these: {modes}")
    if len(every) == 1:
        return every[0]
    models = {name: model for one in every for name, model in one.models.items()}
    return replace(every[0], study=tuple(built), models=models, own=built)


def tables(study: str, own: Any) -> list[dict[str, Any]]:
    """A study's own options: a table, or several, each for models of its own. Raises ValueError in one line."""
    found = own if isinstance(own, list) else [own] if own else []
    for one in found:
        if not isinstance(one, dict):
            raise ValueError(f"{study} {one!r:.100} is no table; write its options below a line [{study}]")
        choose(study, one, [key for key in KEYS if key not in STUDIES])
    return [dict(one) for one in found]


def build(
    study: str, table: Mapping[str, Any], root: Path, embedded: bool, known: Mapping[str, str]
) -> Settings:  # fmt: skip
    """The settings of a study that a table of options makes; `known`: family by task, of all studies that run. Raises
    ValueError in one line."""
    value = {}
    for name, kind, default, *_ in OPTIONS:
        value[name] = convert(name, kind, table.get(name, default))
        if kind is str and default and not value[name]:
            raise ValueError(f"{flag(name)} '' is empty; leave it out for {default}")
    for name, choices in CHOICES.items():
        if got := value[name]:
            choose(name, got if isinstance(got, tuple) else (got,), choices)
    for name, least in (
        ("rollouts", 1 if "rollouts" in table else 0),
        ("turn_cap", 1 if "turn_cap" in table else 0),
        ("concurrency", 1),
        ("seed", 0),
        ("temperature", 0),
        ("max_cost", 0),
        ("episodes", 1),
    ):
        if not value[name] >= least:
            raise ValueError(f"{flag(name)} {value[name]} is too small; the least is {least}")
    choose("task", value["task"], list(known))
    pairs = []
    for text in value["pair"]:
        members = tuple(part.strip() for part in re.split(r",(?!\s*\w+=)", text))  # sim/l1=0.1,l2=0.2 is one name
        if len(members) != 2 or not all(members) or members[0] == members[1]:
            raise ValueError(f"--pair {text!r} is not two different models with a comma between them, like --pair A,B")
        pairs.append((members[0], members[1]))
    if not all(value["model"]):
        raise ValueError("--model '' is empty; give the name that the endpoint knows the model by")
    if embedded and not (value["model"] or pairs):
        default = root / value["cassettes"] / "default.toml"
        raise ValueError(f"no model: give --model NAME, or restore {default} for the embedded default")
    entries = read_models(root / value["models"]) if value["models"] else {}
    names = [*value["model"], *(m for p in pairs for m in p)]
    readers = extractors(value["extractor"])
    if not all(readers) or len(readers) > 2 or len(set(readers)) < len(readers):
        raise ValueError(f"--extractor {value['extractor']!r} is not program, a model, or two of them with a comma")
    names += [reader for reader in readers if reader != "program"]
    names += value["labeller"]
    for name in names:
        if name.startswith("sim/") and "base_url" not in entries.get(name, {}):
            from collabtax.sim.cast import check

            check(name, study)
    rollouts_of = table.get("rollouts_of", {})
    if not isinstance(rollouts_of, dict):
        raise ValueError(f"rollouts_of {rollouts_of!r} is no table; write a line MODEL = NUMBER for each model")
    for name, number in rollouts_of.items():
        if not isinstance(number, int) or isinstance(number, bool) or number < 1:
            raise ValueError(f"rollouts_of {name} {number!r} is not a whole number from 1")
    tasks_of = table.get("tasks_of", {})
    if not isinstance(tasks_of, dict) or not all(isinstance(names, list) for names in tasks_of.values()):
        raise ValueError(f"tasks_of {tasks_of!r:.200} is no table; write a line MODEL = [TASK, ...] for each model")
    for names_of in tasks_of.values():
        choose("task", names_of, list(known))
    modes = [mode for mode in MODES[study] if not value["mode"] or mode in value["mode"]]
    record_mode = value["record_mode"] or ("none" if embedded else "new_episodes")
    if value["baseline"] and record_mode != "none":
        raise ValueError(f"--baseline {value['baseline']} is about recordings; add --record-mode=none")
    if value["update_baseline"] and not value["baseline"]:
        raise ValueError("--update-baseline has no file to write; name it with --baseline FILE")
    cassettes = root / value["cassettes"]
    chosen = tuple(
        name for name, family in get_study(study).tasks
        if (not value["task"] or name in value["task"]) and (not value["family"] or family in value["family"])
    )  # fmt: skip
    if modes == ["hetero"] and not pairs:
        raise ValueError("--mode hetero has no pair to run; name one, like --pair A,B")
    markdown = value["markdown"] or os.environ.get("GITHUB_STEP_SUMMARY", "")
    models = {name: load_model(name, entries) for name in dict.fromkeys(names)}
    if value["max_cost"]:
        for model in models.values():
            if not model.in_process and model.price({"prompt": 1, "completion": 1}) is None:
                raise ValueError(
                    f"--max-cost {value['max_cost']:g} needs a price for {model.name}: "
                    "give `input` and `output` in a models file"
                )
    said = [value[k] for k in ("friction", "difficulty", "temperature", "turn_cap", "no_critic", "extractor")]
    said += [study] * (study != "tax")
    name = "embedded" if embedded else "+".join(map(slug, models))[:60]
    mark = hashlib.sha256(
        canonical([said, sorted(names), value["cassettes"], record_mode == "none"]).encode()
    ).hexdigest()
    run = root / value["run"] if value["run"] else root / "runs" / f"{name}-{mark[:8]}"
    built = Settings(
        model=value["model"], pair=tuple(pairs), task=chosen, mode=tuple(modes), study=(study,),
        rollouts=value["rollouts"] or get_study(study).rollouts, rollouts_of=rollouts_of, tasks_of=tasks_of,
        seed=value["seed"],
        intervention=value["intervention"], sweep=value["sweep"],
        friction=value["friction"], difficulty=value["difficulty"],
        temperature=value["temperature"], turn_cap=value["turn_cap"] or get_study(study).turn_cap,
        critic=not value["no_critic"], extractor=value["extractor"], record_mode=record_mode, cassettes=cassettes,
        models=models, run=run,
        report=root / value["report"] if value["report"] else run / "report", concurrency=value["concurrency"],
        plan=value["plan"], embedded=embedded, baseline=root / value["baseline"] if value["baseline"] else None,
        update_baseline=value["update_baseline"], markdown=root / markdown if markdown else None,
        dask=value["dask"], retry_failed=value["retry_failed"], max_cost=value["max_cost"],
        shard=read_shard(value["shard"]), condition=value["condition"], seat=value["seat"], labeller=value["labeller"],
        real_time=convert("real_time", bool, table.get("real_time", False)),
        plain=convert("plain", bool, table.get("plain", True)),
        episodes=value["episodes"], medqa=root / value["medqa"] if value["medqa"] else None, own={},
    )  # fmt: skip
    get_study(study).check(built)
    return built
