"""The table of options: pytest options, table keys and `--help` are all made from it. Imports nothing heavy."""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Sequence
from typing import Any

RECORD_MODES = ("none", "once", "new_episodes", "all")
CLAUSES = ("l1", "l2", "l3", "l4")
INTERVENTIONS = {"all-four": CLAUSES} | {f"no-{c}": tuple(x for x in CLAUSES if x != c) for c in CLAUSES}
SWEEPS: dict[str, dict[str, Any]] = {  # a condition -> the settings that its cells have in place of the run's
    "friction-none": {"friction": "none"},
    "friction-natural": {"friction": "natural"},
    "friction-strong": {"friction": "strong"},
    "difficulty-easy": {"difficulty": "easy"},
    "difficulty-default": {"difficulty": "default"},
    "difficulty-hard": {"difficulty": "hard"},
    "no-critic": {"critic": False},
}
STUDIES: tuple[str, ...] = ("tax", "swap", "coop")
MODES = {  # by study
    "tax": ("solo", "half", "homo", "hetero"),
    "swap": ("formation", "original", "experienced", "fresh", "task-half", "partner-half", "paraphrase", "labels"),
    "coop": ("individual", "centralized", "chain"),
}
FAMILIES = {
    "tax": ("spatial", "relational", "csp"), "swap": ("kitchen", "forest", "clinic"), "coop": ("cube", "crafter"),
}  # fmt: skip
FORMATIONS = (0, 1, 5, 10)  # episodes that a team plays before it is frozen; 5 unless told
PLANNERS = (2, 3, 5)  # members of a team that plans together before it acts
CONDITIONS = {
    "swap": (
        *(f"formation-{n}" for n in FORMATIONS if n != 5), "temperature-0", "temperature-1",
        *(f"planning-{n}" for n in PLANNERS), "no-notice", "told", "plan-first", "together", "held-out", "on-idle",
    ),
    "coop": ("repair", "6-agents", "6-agents-repair"),
}  # fmt: skip
SEATS = ("both", "alternate", "initiator", "responder", "agent", "specialist")

# name, type (bool: a switch; list: may be repeated), default, metavar, help
OPTIONS: tuple[tuple[str, type, Any, str, str], ...] = (
    ("profile", str, "", "NAME", "options under one name: quick (3 rollouts, 8 exchanges, solo and homo), paper "
     "(as in the paper), ci (replay only), or one of your own in pyproject.toml"),
    ("model", list, (), "NAME", "a model to measure; may be repeated; without any, the embedded default runs"),
    ("pair", list, (), "A,B", "a pair of models to measure, in both orders; may be repeated"),
    ("task", list, (), "NAME", "a task, or several with commas (default: all)"),
    ("family", list, (), "NAME", "a family of tasks: spatial, relational, csp; in swap kitchen, forest, clinic; in "
     "coop cube, crafter (default: all)"),
    ("mode", list, (), "NAME", "solo, half, homo, hetero; in swap a branch: original, experienced, fresh, task-half, "
     "partner-half, paraphrase (default: the first three); in coop a structure: individual, centralized, chain; "
     "several with commas (default: all)"),
    ("study", list, (), "NAME", "a study: tax, swap, coop (default: tax where a model is named, else all)"),
    ("rollouts", int, 0, "N", "rollouts of each cell, in swap repetitions (default: 50; swap 10, coop 5)"),
    ("max_cost", float, 0.0, "USD", "start no rollout once those of this run have cost this much, all workers and "
     "machines together; exit code 12 (default: no limit)"),
    ("shard", str, "", "I/N", "run the I-th of N parts of the cells only; `python -m collabtax merge` puts "
     "their runs together"),
    ("seed", int, 0, "N", "first seed; a rollout's seed picks its instance and views (default: 0)"),
    ("intervention", list, (), "NAME", f"beside the plain dialogue: {', '.join(INTERVENTIONS)}; several with commas"),
    ("sweep", list, (), "NAME", f"beside the plain cells: cells under {', '.join(SWEEPS)}; several with commas"),
    ("condition", list, (), "NAME", "swap and coop, beside the plain cells: "
     f"{', '.join(c for some in CONDITIONS.values() for c in some)}; several with commas"),
    ("seat", str, "both", "WHICH", "swap: replace in both seats of every repetition, alternate, or replace in "
     "one seat only: initiator, responder, agent, specialist (default: both)"),
    ("episodes", int, 5, "N", "swap: episodes in which a branch is evaluated (default: 5)"),
    ("labeller", list, (), "NAME", "swap: models that label lines of notebooks, two and an adjudicator, who also "
     "rewords; may be repeated (default: the model itself)"),
    ("medqa", str, "", "FILE", "swap: questions of the clinic, MedQA's JSON lines (default: questions made up for it)"),
    ("friction", str, "natural", "LEVEL", "how far apart the agents' frames start: none, natural, strong"),
    ("difficulty", str, "default", "SIZE", "size of the instances: easy, default, hard"),
    ("temperature", float, 0.7, "T", "sampling temperature of the agents (default: 0.7)"),
    ("turn_cap", int, 0, "N", "exchanges, one turn from each agent, after which a dialogue ends (default: 50); in swap "
     "and coop steps after which an episode ends (default: its own limit)"),
    ("no_critic", bool, False, "", "leave out the second look that solo takes at its answer"),
    ("extractor", str, "program", "program|MODEL", "what reads the answer out of a transcript (default: program); of "
     "two with a comma the first one counts and their agreement is told"),
    ("record_mode", str, "", "MODE", "none: replay only (default without --model); once; new_episodes: replay, then "
     "record (default with --model); all: record anew"),
    ("cassettes", str, "cassettes", "DIR", "folder of the recordings (default: cassettes)"),
    ("models", str, "", "FILE", "models file: endpoints, key variables, prices, refused parameters, context sizes"),
    ("run", str, "", "DIR", "folder of the results; a run that is there is resumed (default: runs/ and a name made of "
     "the settings)"),
    ("report", str, "", "DIR", "folder of the HTML report (default: report in the run's folder)"),
    ("baseline", str, "", "FILE", "compare how recordings are read and graded with this file; exit code 10: something "
     "changed, 11: cannot be compared"),
    ("update_baseline", bool, False, "", "write the --baseline file from this run instead of comparing with it"),
    ("markdown", str, "", "FILE", "add the summary to a file, as Markdown (default: $GITHUB_STEP_SUMMARY, where it "
     "is set)"),
    ("concurrency", int, 10, "N", "rollouts under way at once in each process (default: 10)"),
    ("dask", str, "", "ADDRESS", "run on the Dask cluster whose scheduler is at this address, like tcp://10.0.0.1:8786"),
    ("retry_failed", bool, False, "", "of a run that is there, run only what failed for a cause outside of the models"),
    ("plan", bool, False, "", "say what would run, how many calls and tokens and what it would cost, and stop"),
)  # fmt: skip
CHOICES: dict[str, Sequence[str]] = {
    "mode": tuple(mode for some in MODES.values() for mode in some),
    "study": STUDIES,
    "condition": tuple(condition for some in CONDITIONS.values() for condition in some),
    "seat": SEATS,
    "intervention": tuple(INTERVENTIONS),
    "sweep": tuple(SWEEPS),
    "friction": ("none", "natural", "strong"),
    "difficulty": ("easy", "default", "hard"),
    "record_mode": RECORD_MODES,
    "family": tuple(family for some in FAMILIES.values() for family in some),
}
PROFILES: dict[str, dict[str, Any]] = {  # options by name of the profile; what is given beside it wins
    "quick": {"rollouts": 3, "turn_cap": 8, "mode": ["solo", "homo"]},
    "paper": {"temperature": 0.7, "friction": "natural", "difficulty": "default"},
    "ci": {"record_mode": "none"},
}
# Keys of tables alone: model -> fewer rollouts or tasks; coop by the clock on the wall; whether cells without a
# condition are run beside those with one; a study's own options.
TABLE_ONLY = ("rollouts_of", "tasks_of", "real_time", "plain", *STUDIES)


def flag(name: str) -> str:
    return "--" + name.replace("_", "-")


def choose(name: str, values: Iterable[str], known: Sequence[str]) -> None:
    """Raise ValueError, in one line that names the right ones, for the first value that is not known."""
    for value in values:
        if value not in known:
            near = difflib.get_close_matches(value, known, 1)
            hint = f" (did you mean {near[0]}?)" if near else ""
            raise ValueError(f"{flag(name)} {value!r} is not known{hint}; known: {', '.join(known)}")
