"""`python -m collabtax judge`, `annotate`, `agreement`."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Hashable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from collabtax.cells import printable
from collabtax.options import RECORD_MODES, choose


def register(commands: Any) -> None:
    """Add the commands to the subparsers of `python -m collabtax`."""
    one = commands.add_parser("judge", help="judge where in the conversation the dialogues of a run failed")
    one.add_argument("run_folder", metavar="RUN", type=Path, help="a run's folder, the one that --run names")
    one.add_argument("--judge", default="rules", metavar="rules|MODEL", help="who judges (default: rules)")
    one.add_argument("--models", type=Path, metavar="FILE", help="models file, as in pytest benchmarks")
    one.add_argument(
        "--cassettes", type=Path, default=Path("cassettes"), metavar="DIR", help="folder of the recordings"
    )
    one.add_argument("--record-mode", default="new_episodes", metavar="MODE", help=", ".join(RECORD_MODES))
    one.add_argument(
        "--concurrency", type=int, default=10, metavar="N", help="dialogues under way at once (default: 10)"
    )
    one.add_argument(
        "--probe", type=int, default=0, metavar="N",
        help="ask a model again about N dialogues, with the options the other way round and with a note to the judge "
        "in the dialogue, and say how often it changed",
    )  # fmt: skip
    one.set_defaults(run=judge)
    one = commands.add_parser("annotate", help="write a page on which people label a sample of the dialogues of a run")
    one.add_argument("run_folder", metavar="RUN", type=Path, help="a run's folder")
    one.add_argument("--out", type=Path, required=True, metavar="FILE", help="the page that is made, an HTML file")
    one.add_argument("--sample", type=int, default=100, metavar="N", help="dialogues on it (default: 100)")
    one.add_argument("--seed", type=int, default=0, metavar="S", help="which sample (default: 0)")
    one.add_argument(
        "--mode", default="homo", metavar="MODE", help="homo, hetero or both (default: homo, as in the paper)"
    )
    one.set_defaults(run=annotate)
    one = commands.add_parser("agreement", help="say how far people and judges agree")
    one.add_argument("run_folder", metavar="RUN", type=Path, help="a run's folder")
    one.add_argument("files", metavar="FILE", type=Path, nargs="+", help="exports of the annotation page")
    one.set_defaults(run=agreement)


def dialogues(run: Path) -> tuple[list[Any], int]:
    """The dialogues of a run that can be judged, and how many others there are. Raises ValueError in one line."""
    from collabtax.cascade.stages import is_judged
    from collabtax.store import load

    try:
        rows = load(run)
    except OSError as problem:
        raise ValueError(problem.strerror or str(problem)) from None
    rows = [row for row in rows if row["mode"] in ("homo", "hetero")]
    judged = [row for row in rows if is_judged(row)]
    if not judged:
        raise ValueError(f"{run} holds no whole dialogue on today's tasks; run cells with --mode homo or hetero first")
    return judged, len(rows) - len(judged)


def judge(given: argparse.Namespace) -> None:
    """Judge the dialogues of a run, and say what came out."""
    from collabtax.cascade import judgements
    from collabtax.cascade.annotation import sample
    from collabtax.store import key

    choose("record_mode", [given.record_mode], RECORD_MODES)
    for name, least in (("concurrency", 1), ("probe", 0)):
        if getattr(given, name) < least:
            raise ValueError(f"--{name} {getattr(given, name)} is too small; the least is {least}")
    one = make_judge(given)
    if given.probe and one.model is None:
        raise ValueError("--probe asks a model again; name one with --judge MODEL")
    rows, others = dialogues(given.run_folder)

    def tell(done: int, of: int) -> None:
        if sys.stderr.isatty():
            print(f"\r{done} of {of} judged", end="" if done < of else "\n", file=sys.stderr, flush=True)

    outcome = judgements.judge_run(given.run_folder, rows, one, given.concurrency, tell)
    path = judgements.file_of(given.run_folder, one.name)
    for line in outcome.failures[:20]:
        print(f"not judged: {line}")
    if len(outcome.failures) > 20:
        print(f"and {len(outcome.failures) - 20} more")
    print(
        f"{one.name}: {outcome.judged} judged, {outcome.kept} judged before, {len(outcome.failures)} not judged, "
        f"{others} left out (broken off, or of another version of their task)"
    )
    verdicts = judgements.all_verdicts(given.run_folder, rows)
    for line in said_of(one.name, rows, verdicts):
        print(line)
    if given.probe:
        mine = verdicts.get(one.name, {})
        chosen = sample([row for row in rows if key(row) in mine], given.probe, 0)
        for line in said_of_probe(judgements.probe_run(chosen, one, mine)):
            print(line)
    print(path)
    if outcome.failures:
        raise ValueError(f"{len(outcome.failures)} dialogues could not be judged; the same command tries them again")


def make_judge(given: argparse.Namespace) -> Any:
    from collabtax.cascade.judgements import RULES, Judge
    from collabtax.models import load_model, read_models

    if given.judge == RULES:
        return Judge(RULES)
    if not given.judge.strip():
        raise ValueError("--judge '' is empty; give rules or the name of a model")
    model = load_model(given.judge, read_models(given.models) if given.models else {})
    if model.in_process:
        raise ValueError(f"--judge {given.judge}: simulated models play tasks and do not judge; give rules or a model")
    if given.record_mode != "none":
        model.key()
    return Judge(given.judge, model, given.cassettes, given.record_mode)


def known_truth(rows: Sequence[Any]) -> dict[Hashable, Any]:
    """What is true of those of `rows` that are dialogues of simulated models as they are today."""
    from collabtax.sim.truth import is_known, truth
    from collabtax.store import key

    found: dict[Hashable, Any] = {}
    for row in rows:
        if is_known(row):
            try:
                found[key(row)] = truth(row)
            except ValueError:  # of other simulated models than today's
                continue
    return found


def said_of(name: str, rows: Sequence[Any], verdicts: Mapping[str, Mapping[Any, Any]]) -> Iterator[str]:
    """Rates of a judge; where there are others or a known truth, agreement."""
    from collabtax.cascade.agreement import pairwise, recovery
    from collabtax.cascade.rates import cascades
    from collabtax.cascade.stages import STAGES
    from collabtax.report.text import number, table
    from collabtax.store import key

    for cascade in cascades(name, rows, verdicts.get(name, {})):
        yield ""
        yield from said_of_cascade(cascade)
    if (mine := verdicts.get(name)) and (known := known_truth(rows)):
        found = [recovery(stage, mine, known) for stage in STAGES]
        body = [
            [
                f"{r.stage} {STAGES[r.stage]}",
                number(r.precision),
                number(r.recall),
                *map(str, (r.failures, r.n, r.silent)),
            ]
            for r in found
        ]
        yield from ("", f"{name} against what is true of simulated dialogues: failures of a stage found")
        yield from table(["stage", "precision", "recall", "failures", "dialogues", "no verdict"], body, 1)
    if len(verdicts) > 1:
        tasks: dict[Hashable, str] = {key(row): row["task"] for row in rows}
        yield from ("", "agreement of judges")
        yield from said_of_agreement(pairwise(verdicts, tasks))


def said_of_cascade(cascade: Any) -> Iterator[str]:
    from collabtax.cascade.stages import STAGES
    from collabtax.report.text import interval, table

    title = f"{cascade.mode}{', ' + cascade.condition if cascade.condition else ''}, judged by {cascade.judge}"
    yield f"{printable(title)}: share of dialogues that pass a stage, with 95 % intervals over tasks"
    body = []
    for stage, name in STAGES.items():
        for category in dict.fromkeys(rate.category for rate in cascade.rates):
            pair = {rate.success: rate for rate in cascade.rates if (rate.stage, rate.category) == (stage, category)}
            cells = [text for ok in (False, True) for text in (interval(pair[ok].passed), str(pair[ok].passed.n))]
            body.append([f"{stage} {name}", category, *cells, str(sum(rate.silent for rate in pair.values()))])
    yield from table(["stage", "category", "failed", "n", "successful", "n", "no verdict"], body, 2)
    yield ""
    yield f"stages that fail, over {cascade.judged} of {cascade.failed} failed dialogues (those with all four verdicts)"
    yield from table(["number", "share"], [[str(count), interval(one)] for count, one in enumerate(cascade.firing)], 1)
    yield ""
    body = []
    for a, name in STAGES.items():
        pairs = [cascade.jaccard.get((a, b)) or cascade.jaccard.get((b, a)) for b in STAGES]
        overlap = [interval(one) if one else "" for one in pairs]
        body.append([f"{a} {name}", interval(cascade.fires[a]), interval(cascade.sole[a]), *overlap])
    yield from table(["stage", "fails", "fails alone", *(f"overlap {b}" for b in STAGES)], body, 1)


def said_of_agreement(found: Sequence[Any]) -> Iterator[str]:
    from collabtax.cascade.agreement import strength
    from collabtax.cascade.stages import STAGES
    from collabtax.report.text import interval, number, table

    body = []
    for one in found:
        prevalence = " ".join(number(share) for share in one.prevalence)
        raters = printable(" x ".join(one.raters))
        items = f"{one.n} of {one.of}"
        row = [raters, f"{one.stage} {STAGES[one.stage]}", interval(one.kappa), strength(one.kappa.value)]
        body.append([*row, number(one.agreed), prevalence, items])
    yield from table(["raters", "stage", "kappa", "", "same label", "share of yes, each", "dialogues"], body, 2)


def said_of_probe(changed: Mapping[str, Sequence[Mapping[str, bool | None]]]) -> Iterator[str]:
    from collabtax.cascade.stages import STAGES
    from collabtax.report.text import table

    body = []
    for kind, rows in changed.items():
        for stage in STAGES:
            told = [row[stage] for row in rows if row[stage] is not None]
            body.append([kind, f"{stage} {STAGES[stage]}", str(sum(map(bool, told))), str(len(told))])
    yield from ("", "verdicts that changed: options the other way round (order), a note to the judge (injection)")
    yield from table(["probe", "stage", "changed", "of"], body, 2)


def annotate(given: argparse.Namespace) -> None:
    """Write the annotation page."""
    from collabtax.cascade.annotation import page, sample
    from collabtax.cascade.judgements import RULES, all_verdicts

    choose("mode", [given.mode], ("homo", "hetero", "both"))
    if given.sample < 1:
        raise ValueError(f"--sample {given.sample} is too small; the least is 1")
    rows, _ = dialogues(given.run_folder)
    wanted = [
        row for row in rows if given.mode in (row["mode"], "both") and (given.mode == "both" or not row["condition"])
    ]
    if not wanted:
        raise ValueError(f"{given.run_folder} holds no {given.mode} dialogue without intervention; try --mode both")
    verdicts = all_verdicts(given.run_folder, rows)
    judges = sorted(verdicts, key=lambda name: (name == RULES, name))  # a model's verdicts first, as in the paper
    chosen = sample(wanted, given.sample, given.seed, verdicts[judges[0]] if judges else None)
    if len(chosen) < given.sample:
        print(f"there are {len(chosen)} dialogues, all of which are on the page")
    try:
        given.out.write_text(page(chosen), encoding="utf-8")
    except OSError as problem:
        raise ValueError(f"--out {given.out}: {problem.strerror}; name a file that can be written") from None
    print(f"{len(chosen)} dialogues in {given.out}; open it in a browser, export, then: "
          f"python -m collabtax agreement {given.run_folder} FILE.json...")  # fmt: skip


def agreement(given: argparse.Namespace) -> None:
    """Say how far people agree with each other, with the judges and with what is known."""
    from collabtax.cascade.agreement import agreement as agree
    from collabtax.cascade.agreement import majority, pairwise
    from collabtax.cascade.annotation import labels_by_key, read_labels
    from collabtax.cascade.judgements import all_verdicts
    from collabtax.cascade.stages import STAGES
    from collabtax.store import key

    rows, _ = dialogues(given.run_folder)
    tasks: dict[Hashable, str] = {key(row): row["task"] for row in rows}
    people: dict[str, Any] = {}
    samples: dict[str, Path] = {}
    for path in given.files:
        name, sample, labels = read_labels(path)
        if name in people:
            raise ValueError(f"{path}: annotator {name!r} has another file among these; give each person one name")
        people[name] = labels_by_key(labels, rows)
        if labels and not people[name]:
            raise ValueError(
                f"{path}: none of its {len(labels)} dialogues is in {given.run_folder}; name the run of its page"
            )
        samples.setdefault(sample, path)
        if lost := len(labels) - len(people[name]):
            print(f"{path}: {lost} of {len(labels)} dialogues are not in this run any more")
    if len(samples) > 1:
        print(
            f"these are of {len(samples)} samples ({', '.join(map(str, samples.values()))}): what all labelled counts"
        )
    if len(people) > 1:
        print("people with each other")
        found = (
            [agree(stage, list(people), list(people.values()), tasks) for stage in STAGES] if len(people) > 2 else []
        )
        for line in said_of_agreement([*found, *pairwise(people, tasks)]):
            print(line)
    several = len(people) > 1
    most = majority(list(people.values())) if several else next(iter(people.values()))
    who = "majority" if several else next(iter(people))
    judges: dict[str, Any] = dict(all_verdicts(given.run_folder, rows))
    if known := known_truth(rows):
        judges["truth"] = known
    if not judges:
        print(f"no judge has judged this run: python -m collabtax judge {given.run_folder}")
        return
    print("\npeople with judges" + (" (what more than half of them say; ties are left out)" if several else ""))
    compared = [
        agree(stage, (who, name), (most, {i: v for i, v in verdicts.items() if i in most}), tasks)
        for name, verdicts in judges.items()
        for stage in STAGES
    ]
    for line in said_of_agreement(compared):
        print(line)
