"""`cluster`: what the failed dialogues of a run have in common."""

from __future__ import annotations

import argparse
import asyncio
import hashlib
import json
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from collabtax.cells import printable
from collabtax.options import RECORD_MODES, choose

if TYPE_CHECKING:
    from collabtax.clusters.describe import Described, Describer
    from collabtax.clusters.grouping import Group

EXAMPLES = 3
NOTES = 10  # descriptions nearest to the middle of a cluster that its name is made from


def register(commands: Any) -> None:
    """Add the command to the subparsers of `python -m collabtax`."""
    one = commands.add_parser("cluster", help="describe failed dialogues by a model, and cluster the descriptions")
    one.add_argument("folder", type=Path, help="a run: the folder that --run names")
    one.add_argument("--describer", required=True, metavar="MODEL", help="the model that describes, like gpt-4o-mini")
    one.add_argument("--models", type=Path, metavar="FILE", help="models file")
    one.add_argument(
        "--cassettes", type=Path, default=Path("cassettes"), metavar="DIR", help="folder of the recordings"
    )
    one.add_argument("--record-mode", default="new_episodes", metavar="MODE", help=", ".join(RECORD_MODES))
    one.add_argument("--k", type=int, metavar="N", help="number of clusters (default: by the paper's rule)")
    one.add_argument("--descriptions", type=int, metavar="N", help="dialogues to describe, at most (default: 700)")
    one.set_defaults(run=run_cluster)


def run_cluster(given: argparse.Namespace) -> None:
    """Describe, cluster, name; print the clusters and write them into the run's folder."""
    from collabtax.chat import Chat
    from collabtax.clusters.describe import DESCRIPTIONS, Describer, failed, spread
    from collabtax.models import load_model, read_models
    from collabtax.store import load

    choose("record_mode", [given.record_mode], RECORD_MODES)
    most = DESCRIPTIONS if given.descriptions is None else given.descriptions
    for flag, number in (("--descriptions", most), ("--k", given.k)):
        if number is not None and number < 2:
            raise ValueError(f"{flag} {number} is no number from 2")
    model = load_model(given.describer, read_models(given.models) if given.models else {})
    if model.in_process:
        raise ValueError(f"--describer {model.name}: no simulated model describes dialogues; name another model")
    if given.record_mode != "none":
        model.key()
    try:
        rows = spread(failed(load(given.folder)), most)
        said = asyncio.run(_run(rows, Describer(model, given.cassettes, given.record_mode, Chat(_waiting)), given.k))
        path = given.folder / "clusters.json"
        path.write_text(json.dumps(said, indent=1, sort_keys=True) + "\n", encoding="utf-8")
    except OSError as problem:
        raise ValueError(str(problem)) from None
    print("\n".join(told(said)))


def _waiting(cause: str, seconds: float) -> None:
    if seconds >= 1:
        print(printable(f"waiting {seconds:.0f} s: {cause}"), flush=True)


async def _run(rows: Sequence[dict[str, Any]], describer: Describer, k: int | None) -> dict[str, Any]:
    from collabtax.clusters.describe import describe

    try:
        described = await describe(rows, describer)
        return await cluster(described, describer, k)
    finally:
        await describer.chat.aclose()


async def cluster(described: Sequence[Described], describer: Describer, k: int | None) -> dict[str, Any]:
    """Cluster and name descriptions; their order does not matter. Returns what is stored: plain JSON."""
    from collabtax.cassettes import CassetteMiss
    from collabtax.clusters import describe, grouping
    from collabtax.clusters.names import name, of_terms
    from collabtax.replies import EndpointError

    usable = sorted((d for d in described if d.text), key=lambda d: (d.task, d.model, d.seed))
    families = [d.family for d in usable]
    vectors = grouping.vectors([d.text for d in usable])
    if k is None:
        labels, tried = grouping.choose_k(vectors, families)
    elif k > vectors.distinct:
        raise ValueError(f"--k {k} is more than the {vectors.distinct} different descriptions; give fewer")
    else:
        labels = grouping.k_means(vectors, k)
        tried = {k: grouping.dominated(labels, families)}
    clusters: list[dict[str, Any]] = []
    for number, group in enumerate(grouping.groups(vectors, labels, families)):
        notes = [usable[i].text for i in group.members[:NOTES]]
        try:
            called = await name(notes, number, [c["name"] for c in clusters], describer)
        except (EndpointError, CassetteMiss, OSError, RuntimeError) as problem:
            raise ValueError(f"cluster {number + 1} has no name: {printable(str(problem))}") from None
        clusters.append(_cluster(group, usable, called or of_terms(group.terms), bool(called)))
    prompts = "".join(map(describe.text, ("describe_system", "describe_task", "name_task")))
    return {
        "describer": describer.model.name,
        "temperature": describe.TEMPERATURE,
        "prompts": hashlib.sha256(prompts.encode()).hexdigest()[:12],
        "cost": describer.cost,
        "refused": len(described) - len(usable),
        "k": len(clusters),
        "by_rule": k is None,
        "dominated": {str(tried_k): share for tried_k, share in tried.items()},
        "clusters": clusters,
    }


def _cluster(group: Group, described: Sequence[Described], name: str, named: bool) -> dict[str, Any]:
    members = [described[i] for i in group.members]
    return {
        "name": name,
        "named_by": "describer" if named else "terms",
        "size": len(members),
        "terms": list(group.terms),
        "families": group.families,
        "tasks": dict(Counter(d.task for d in members).most_common()),
        "stage": group.stage,
        "cosines": group.stages,
        "members": [{"task": d.task, "model": d.model, "seed": d.seed, "text": d.text} for d in members],
    }


def told(said: dict[str, Any]) -> list[str]:
    """The terminal's lines."""
    n = sum(c["size"] for c in said["clusters"])
    how = "the fewest of which each is dominated by one family" if said["by_rule"] else "as --k says"
    cost = "" if said["cost"] is None else f"; ${said['cost']:.4f}"
    lines = [f"{n} failed dialogues described by {printable(said['describer'])}, {said['k']} clusters ({how}){cost}"]
    if said["refused"]:
        lines.append(f"{said['refused']} descriptions were refused and are left out")
    for one in sorted(said["clusters"], key=lambda c: (c["stage"] or "L9", -c["size"], c["name"])):
        family, task = next(iter(one["families"])), next(iter(one["tasks"]))
        share = one["families"][family] / one["size"]
        lines += ["", f"{one['stage'] or '--'}  {one['name']}  n = {one['size']}, {family} {share:.0%}, mostly {task}"]
        lines.append(f"    terms: {printable(', '.join(one['terms']))}")
        examples = (f"{d['task']} {d['model']} seed {d['seed']}" for d in one["members"][:EXAMPLES])
        lines.append(f"    such as: {printable('; '.join(examples))}")
    return lines
