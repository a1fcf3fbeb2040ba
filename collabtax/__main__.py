"""`python -m collabtax COMMAND`: what is not a pytest session."""

from __future__ import annotations

import argparse
import json
import sys
import zipfile
from pathlib import Path

from collabtax.cascade import commands as cascade
from collabtax.clusters import commands as clusters
from collabtax.prediction import commands as prediction
from collabtax.report import commands as reports
from collabtax.report import compare, exports
from tasks.answers import FORMS


def sim(given: argparse.Namespace) -> None:
    """Serve the simulated models until Ctrl-C."""
    from collabtax.sim.endpoint import Server

    if not 0 <= given.latency < 3600:
        raise ValueError(f"--latency {given.latency:g} is no number of seconds from 0 to 3600")
    try:
        server = Server(
            given.port, given.latency, rate=given.rate, burst=given.burst, retry_after=not given.no_retry_after
        )
    except (OSError, OverflowError) as problem:
        raise ValueError(f"port {given.port}: {problem}; try another --port") from problem
    print(f"simulated models at {server.url} (stop with Ctrl-C)", flush=True)
    try:
        server.serve_forever()
    except KeyboardInterrupt:
        server.server_close()


def pack(given: argparse.Namespace) -> None:
    """Put the cassettes of each cell into one zip file."""
    from collabtax.cassettes import pack as pack_cells

    if not given.folder.is_dir():
        raise ValueError(f"{given.folder} is no folder; give the one that --cassettes names")
    try:
        for path in pack_cells(given.folder):
            print(path)
    except (OSError, zipfile.BadZipFile) as problem:
        raise ValueError(f"{given.folder} cannot be packed: {problem}; move the file away") from problem


def merge(given: argparse.Namespace) -> None:
    """Put the runs of several machines together."""
    from collabtax.store import merge as merge_runs

    try:
        count = merge_runs(given.runs, given.out)
    except OSError as problem:
        raise ValueError(str(problem)) from problem
    print(f"{count} rollouts of {len(given.runs)} runs in {given.out}")


def tasks(given: argparse.Namespace) -> None:
    """List the tasks, write their gallery, or state their figures."""
    from collabtax.catalogue import about, figures, gallery, restate, table, timed
    from tasks import all_tasks

    if given.gallery:
        for name, content in gallery(all_tasks()).items():
            path = given.gallery / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(content, encoding="utf-8")
        print(given.gallery / "gallery.md")
        return
    if given.figures:
        times, (benchmark, page) = timed(given.figures[0]), given.figures
        if missing := [task.name for task in all_tasks() if task.name not in times]:
            raise ValueError(f"{benchmark} does not time {', '.join(missing)}; make figures")
        found = {}
        for task in all_tasks():
            found[task.name] = figures(task, times[task.name])
            print(
                f"{task.name}: ceiling {found[task.name].ceiling:.2f}, chance {found[task.name].chance:.2f}", flush=True
            )
        page.write_text(restate(page.read_text(encoding="utf-8"), table(all_tasks(), found)), encoding="utf-8")
        return
    described = [about(task) for task in all_tasks()]
    if given.json:
        print(json.dumps(described, indent=1))
        return
    for one in described:
        print(f"{one['name']:<16} {one['family']:<11} {one['answer']:<8} {one['rule']:<12} {one['summary']}")


def play(given: argparse.Namespace) -> None:
    """Play a task in the terminal."""
    from collabtax.play import play as play_task
    from tasks import get_task

    play_task(get_task(given.task), given.seed, given.difficulty, given.friction, given.view, given.svg)


def extract(given: argparse.Namespace) -> None:
    """Read the answer out of a text, or out of a JSON list of messages, and print it as JSON."""
    from graders import extract
    from tasks.answers import from_data

    try:
        form = from_data({"kind": given.type, **json.loads(given.form)})
    except (ValueError, TypeError, AttributeError) as problem:
        fields = "a JSON object with the fields of the form in tasks/answers.py"
        raise ValueError(
            f"--type {given.type} --form {given.form!r:.200}: {problem}; --form takes {fields}"
        ) from problem
    try:
        text = sys.stdin.read() if str(given.file) == "-" else given.file.read_text(encoding="utf-8")
    except (OSError, UnicodeError) as problem:
        raise ValueError(f"{given.file} cannot be read: {problem}") from problem
    turns = [("agent 1", text)]
    if given.messages:
        try:
            turns = [(str(one.get("speaker", "agent")), str(one["text"])) for one in json.loads(text)]
        except (ValueError, TypeError, KeyError, AttributeError, RecursionError) as problem:
            raise ValueError(
                f"{given.file} is no JSON list of messages with `speaker` and `text`: {problem}"
            ) from problem
    found = extract.interpret(form, text) if given.yaml else extract.read(form, turns)
    said = {**vars(found), "outcome": extract.outcome(found)}
    print(json.dumps(said, indent=1))


def main(arguments: list[str] | None = None) -> int:
    """Run a command; returns the exit code, 2 with one line on stderr for bad input."""
    parser = argparse.ArgumentParser(prog="python -m collabtax", description=__doc__)
    commands = parser.add_subparsers(dest="command", required=True)
    one = commands.add_parser("sim", help="serve the simulated models as an OpenAI-compatible endpoint on loopback")
    one.add_argument("--port", type=int, default=8123, metavar="P", help="port (default: 8123; 0: any free one)")
    one.add_argument("--latency", type=float, default=0.0, metavar="S", help="seconds added to each reply")
    one.add_argument("--rate", type=float, metavar="R", help="calls a second that are answered; others get a 429")
    one.add_argument("--burst", type=int, default=10, metavar="B", help="calls that may come at once (default: 10)")
    one.add_argument("--no-retry-after", action="store_true", help="do not say how long to wait")
    one.set_defaults(run=sim)
    one = commands.add_parser("pack", help="put the cassettes of each cell into one zip file")
    one.add_argument("folder", type=Path, help="a folder of cassettes")
    one.set_defaults(run=pack)
    one = commands.add_parser("merge", help="put the runs of several machines together")
    one.add_argument("out", type=Path, help="the run that is made")
    one.add_argument("runs", type=Path, nargs="+", help="folders that --run named")
    one.set_defaults(run=merge)
    one = commands.add_parser("tasks", help="list the tasks")
    one.add_argument("--json", action="store_true", help="as JSON, with prompts and sizes")
    one.add_argument("--gallery", type=Path, metavar="DIR", help="write gallery.md and its drawings into a folder")
    one.add_argument(
        "--figures", type=Path, nargs=2, metavar=("BENCHMARK", "PAGE"), help="measure all, state it in a page (minutes)"
    )
    one.set_defaults(run=tasks)
    one = commands.add_parser("play", help="play a task: both views, your answer, its grade, a drawing")
    one.add_argument("task", help="a task's name; `tasks` lists them")
    one.add_argument("--seed", type=int, default=0, metavar="N", help="which instance (default: 0)")
    one.add_argument("--difficulty", default="default", metavar="SIZE", help="easy, default or hard")
    one.add_argument("--friction", default="natural", metavar="LEVEL", help="none, natural or strong")
    one.add_argument(
        "--view", type=int, choices=(1, 2), help="show one view only, as an agent that plays alone gets it"
    )
    one.add_argument("--svg", type=Path, metavar="FILE", help="where to put the drawing (default: TASK-SEED.svg)")
    one.set_defaults(run=play)
    cascade.register(commands)
    prediction.register(commands)
    clusters.register(commands)
    for part in (reports, compare, exports):
        part.register(commands)
    one = commands.add_parser("extract", help="read the answer out of a text and print it as JSON")
    one.add_argument("file", type=Path, help="a file with one message; - for standard input")
    one.add_argument("--type", required=True, metavar="TYPE", help=f"kind of answer: {', '.join(FORMS)}")
    one.add_argument(
        "--form", default="{}", metavar="JSON", help='what else its form says, like {"items": ["Ann", "Bob"]}'
    )
    one.add_argument("--messages", action="store_true", help="the file is a JSON list of {speaker, text}")
    one.add_argument("--yaml", action="store_true", help="the file is the reply of a model extractor")
    one.set_defaults(run=extract)
    given = parser.parse_args(arguments)
    try:
        given.run(given)
    except ValueError as problem:
        print(problem, file=sys.stderr)
        return 2
    return 0


if __name__ == "__main__":
    sys.exit(main())
