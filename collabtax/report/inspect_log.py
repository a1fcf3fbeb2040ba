"""Stored runs as logs that Inspect AI reads: one a team, mode and condition, its samples being tasks at seeds.

Format: version 2 of Inspect's evaluation log in JSON, which `inspect_ai.log.read_eval_log` reads (0.3.285 does).
In a sample the messages of a single agent, or of the initiator, are the assistant's and those of its partner are the
user's: Inspect knows one model in a conversation. Rows hold no date, so all logs are of the same day in 1970.
"""

from __future__ import annotations

import hashlib
import json
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from collabtax.cells import slug
from collabtax.store import Row

CREATED = "1970-01-01T00:00:00+00:00"
ENDS = {"stop": "stop", "length": "max_tokens", "content_filter": "content_filter"}
Team = tuple[str, str, tuple[str, ...], str]  # study, mode, models, condition


def write(runs: Sequence[Path], folder: Path) -> list[Path]:
    """Write the logs of `runs` into `folder`; returns their paths. Files of the same names are replaced.

    Raises:
        ValueError: a run holds no results, or two of them differ on a cell.
        OSError: the folder cannot be written.
    """
    from collabtax.report.commands import Held

    teams: dict[Team, list[Row]] = {}
    for row in Held(runs).whole():
        team = row["study"], row["mode"], tuple(row["models"]), row["condition"]
        teams.setdefault(team, []).append(sample(row))
    folder.mkdir(parents=True, exist_ok=True)
    paths = []
    for team, samples in sorted(teams.items()):
        path = folder / f"1970-01-01T00-00-00-00-00_{name_of(team)}_{digest(*team)}.json"
        path.write_text(json.dumps(log(team, samples), ensure_ascii=True, sort_keys=True) + "\n", encoding="ascii")
        paths.append(path)
    return paths


def name_of(team: Team) -> str:
    study, mode, models, condition = team
    told = filter(None, (study, mode, "+".join(slug(m) for m in dict.fromkeys(models)), condition))
    return "-".join(told).replace("_", "-")  # Inspect parts file names at underscores; the id after them keeps apart


def digest(*parts: Any) -> str:
    """An id as Inspect's are: 22 letters and digits."""
    return hashlib.sha256(json.dumps(parts).encode()).hexdigest()[:22]


def log(team: Team, samples: Sequence[Row]) -> Row:
    """The log of a team over the samples of its tasks."""
    study, mode, models, condition = team
    scored = [s["scores"]["score"]["value"] for s in samples if s["scores"]]
    usage: Counter[str] = Counter()
    for one in samples:
        usage.update({k: v for k, v in one["output"]["usage"].items() if isinstance(v, int)})
    metrics = {"mean": {"name": "mean", "value": sum(scored) / len(scored)}} if scored else {}
    about = {"study": study, "mode": mode, "models": list(models), "condition": condition}
    return {
        "version": 2,
        "status": "success",
        "eval": {
            "eval_id": digest("eval", *team), "run_id": digest("run", *team), "task_id": digest("task", *team),
            "created": CREATED, "task": name_of(team), "task_version": 0, "model": " + ".join(dict.fromkeys(models)),
            "dataset": {"name": study, "samples": len(samples), "sample_ids": [s["id"] for s in samples]},
            "config": {"epochs": 1}, "metadata": about, "packages": {},
        },
        "plan": {"name": "plan", "steps": [{"solver": mode, "params": about}]},
        "results": {
            "total_samples": len(samples), "completed_samples": len(scored),
            "scores": [{"name": "score", "scorer": "score", "scored_samples": len(scored),
                        "unscored_samples": len(samples) - len(scored), "metrics": metrics}],
        },
        "stats": {"started_at": CREATED, "completed_at": CREATED,
                  "model_usage": {models[0]: dict(usage)} if usage else {}},
        "samples": list(samples),
    }  # fmt: skip


def sample(row: Row) -> Row:
    """A rollout as a sample."""
    turns, infrastructure = row["turns"], row["outcome"] == "infrastructure"
    said = list(messages(row))
    last = turns[-1]["text"] if turns else ""
    score = {
        "value": row["score"], "answer": json.dumps(row["answer"]), "explanation": text(row["reason"]),
        "metadata": {"outcome": row["outcome"], "success": row["success"], "reading": text(row["warning"])},
    }  # fmt: skip
    return {
        "id": f"{row['task']}-{row['seed']}", "epoch": 1, "input": f"{row['task']}, seed {row['seed']}", "target": "",
        "messages": said,
        "output": {
            "model": row["models"][turns[-1]["seat"]] if turns else row["models"][0],
            "choices": [{"message": {"role": "assistant", "content": text(last)},
                         "stop_reason": ENDS.get(turns[-1]["finish"], "unknown")}] if turns else [],
            "completion": text(last), "usage": usage_of(row["usage"]),
            "time": round(sum(turn["seconds"] or 0.0 for turn in turns), 3),
        },
        "scores": None if infrastructure else {"score": score},
        "error": {"message": text(row["error"]), "traceback": "", "traceback_ansi": ""} if infrastructure else None,
        "metadata": {"task": row["task"], "family": row["family"], "seed": row["seed"], "ended": row["termination"],
                     "settings": row["settings"], "said": row["said"], "versions": row["versions"]},
    }  # fmt: skip


def messages(row: Row) -> Iterator[Row]:
    """Who said what."""
    for number, turn in enumerate(row["turns"], 1):
        model = row["models"][turn["seat"]] if turn["seat"] < len(row["models"]) else row["models"][0]
        about = {"id": digest(row["task"], row["seed"], number), "content": text(turn["text"])}
        if turn["seat"] == 0:
            yield {**about, "role": "assistant", "source": "generate", "model": model}
        else:
            yield {**about, "role": "user", "source": "generate", "metadata": {"seat": turn["seat"], "model": model}}


def usage_of(tokens: Row) -> dict[str, int]:
    """Tokens under Inspect's names."""
    prompt, completion = (int(tokens.get(kind, 0)) for kind in ("prompt", "completion"))
    named = {"input_tokens": prompt, "output_tokens": completion, "total_tokens": prompt + completion}
    return named | ({"input_tokens_cache_read": int(tokens["cached"])} if "cached" in tokens else {})


def text(value: str) -> str:
    """`value` without what no UTF-8 can hold."""
    return value.encode("utf-8", "replace").decode()
