"""Faults, tried: `python benchmarks/soak.py`. Prints what docs/soak.md states; exit 1 where a target is missed.

Whole commands (`pytest benchmarks -n 2 ...`) meet an endpoint on loopback that fails by a seeded plan, full disks,
folders that cannot be written, a jumping clock and signal 9; the same command is run again until all is finished. What
is left is compared with an undisturbed run. Targets: no finished rollout lost, nothing finished bought twice, results
equal, and all that the endpoint billed, for replies without text too, in the results' usage.

The endpoint counts a call as bought once it is answered in full. One that is bought again is bought twice if a
recording of it was there; if not, its answer was on the way at a kill or did not fit on the disk: it is counted apart.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import os
import random
import shutil
import signal
import socket
import struct
import subprocess
import sys
import tempfile
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))

from collabtax.cassettes import DIGEST, Conversation, canonical, read_interactions  # noqa: E402
from collabtax.sim.endpoint import Handler, Server, respond  # noqa: E402
from collabtax.store import Key, Store, key  # noqa: E402
from tasks.base import seeded  # noqa: E402

TASKS = ("maze", "relaquery", "schedule")  # one of each family
WORKERS, CONCURRENCY = 2, 4
FEW, MANY = 4, 40  # rollouts a cell: of a trial, of one with kills
STORM, EVERY = 8, 60  # of so many calls so many are refused
HANG = 2.0  # seconds of silence before the connection ends
DRIPS = 20  # pieces of a reply that drips
LANES = 4  # trials at once: most of them wait
AGAIN = 6  # times that a command is run at most until it has finished
PAID = ("prompt", "completion")  # kinds of tokens; others are part of these
PATIENCE = 300.0  # seconds after which a command counts as hanging


# Faults of the endpoint


@dataclass(frozen=True)
class Fault:
    """`send` writes what the client gets in place of a reply, or the reply in an odd way (`answers`). A `share` of the
    calls meets it, each for `times` (least, most) tries; a storm refuses all calls for a while. What is `billed` tells
    the usage of the reply."""

    name: str
    send: Callable[[Faulty, dict[str, Any]], None]
    share: float = 0.25
    times: tuple[int, int] = (1, 2)
    storm: bool = False
    answers: bool = False
    billed: bool = False


def status(code: int, word: str, **headers: str) -> Callable[[Faulty, dict[str, Any]], None]:
    """An error of the provider."""
    return lambda handler, reply: handler.send(code, {"error": {"message": word, "code": word}}, **headers)


def raw(change: Callable[[bytes], bytes]) -> Callable[[Faulty, dict[str, Any]], None]:
    """A body that is what `change` makes of the reply's."""
    return lambda handler, reply: handler.send_bytes(change(json.dumps(reply).encode()))


def tokens(reply: dict[str, Any]) -> int:
    """What a reply is billed for."""
    return int(reply["usage"]["total_tokens"])


def choice(**fields: Any) -> Callable[[Faulty, dict[str, Any]], None]:
    """A reply whose choice has other fields."""
    return lambda handler, reply: handler.send(200, reply | {"choices": [reply["choices"][0] | fields]})


def cut(share: float) -> Callable[[Faulty, dict[str, Any]], None]:
    """The connection is reset after a share of the reply, 0 for before its head."""

    def send(handler: Faulty, reply: dict[str, Any]) -> None:
        data = json.dumps(reply).encode()
        if share:
            handler.head(len(data))
            handler.wfile.write(data[: int(len(data) * share)])
            handler.wfile.flush()
        handler.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        handler.connection.close()
        handler.close_connection = True

    return send


def hang(handler: Faulty, reply: dict[str, Any]) -> None:
    time.sleep(HANG)
    handler.close_connection = True


def drip(handler: Faulty, reply: dict[str, Any]) -> None:
    data = json.dumps(reply).encode()
    handler.head(len(data))
    for number in range(DRIPS):
        handler.wfile.write(data[len(data) * number // DRIPS : len(data) * (number + 1) // DRIPS])
        handler.wfile.flush()
        time.sleep(HANG / DRIPS)


FAULTS = (
    Fault("429 storms with Retry-After", status(429, "rate_limit_exceeded", retry_after="1"), storm=True),
    Fault("429 storms without Retry-After", status(429, "rate_limit_exceeded"), storm=True),
    Fault("500", status(500, "server_error")),
    Fault("502", status(502, "bad_gateway")),
    Fault("503 with Retry-After", status(503, "overloaded", retry_after="1")),
    Fault("529", status(529, "overloaded_error")),
    Fault("500 until the call is given up", status(500, "server_error"), share=0.03, times=(6, 6)),
    Fault("connection reset before the reply", cut(0)),
    Fault("connection reset in the reply", cut(0.5)),
    Fault("silence, then the end", hang),
    Fault("truncated JSON", raw(lambda data: data[: len(data) // 2])),
    Fault("no JSON", raw(lambda data: b"<html>Please wait</html>")),
    Fault("slow drip", drip, answers=True),
    Fault("empty choices", lambda handler, reply: handler.send(200, reply | {"choices": []}), billed=True),
    Fault("filtered reply", choice(message={"content": ""}, finish_reason="content_filter"), billed=True),
    Fault("null content", choice(message={"role": "assistant", "content": None}), billed=True),
)


class Faulty(Handler):
    """Answers chat completions, unless the plan has a fault for the call."""

    server: Endpoint

    def do_POST(self) -> None:
        try:
            length = int(self.headers["content-length"])
            if len(data := self.rfile.read(length)) < length:
                raise ConnectionError
            body = json.loads(data)
            digest, reply = Conversation.of_request(body).digest(), respond(body)
            time.sleep(self.server.latency)
            fault = self.server.fate(digest)
            if fault is None or fault.answers:
                self.server.bought(digest)
            if fault is None or fault.answers or fault.billed:
                self.server.bill(tokens(reply))
            if fault is None:
                self.send(200, reply)
            else:
                fault.send(self, reply)
        except ConnectionError:
            self.close_connection = True  # the client has gone

    def head(self, length: int) -> None:
        self.send_response(200)
        self.send_header("content-type", "application/json")
        self.send_header("content-length", str(length))
        self.end_headers()

    def send_bytes(self, data: bytes) -> None:
        self.head(len(data))
        self.wfile.write(data)

    def finish(self) -> None:
        with contextlib.suppress(OSError):
            super().finish()


class Endpoint(Server):
    """The simulated endpoint with `faults`. Which call meets which fault how often hangs on the seed and the request
    alone, storms on the number of calls so far."""

    def __init__(self, faults: Sequence[Fault], seed: int, cassettes: Path, latency: float = 0.0) -> None:
        super().__init__(latency=latency)
        self.RequestHandlerClass = Faulty
        self.storms = [fault for fault in faults if fault.storm]
        self.others = [fault for fault in faults if not fault.storm]
        self.seed, self.cassettes = seed, cassettes
        self.injected = self.retries = self.twice = self.again = self.calls = 0
        self.billed = 0  # tokens
        self.kept: set[str] = set()  # digests of calls that were recorded when a command had ended
        self._tries: Counter[str] = Counter()
        self._failed: set[str] = set()  # digests whose last try met a fault
        self._bought: set[str] = set()
        self._mutex = threading.Lock()

    def fate(self, digest: str) -> Fault | None:
        """What becomes of a call that has just come in."""
        with self._mutex:
            self.calls += 1
            self.retries += digest in self._failed
            self._failed.discard(digest)
            fault = self._plan(digest)
            if fault:
                self.injected += 1
            if fault and not fault.answers:
                self._failed.add(digest)
            return fault

    def _plan(self, digest: str) -> Fault | None:
        rng = seeded("soak", self.seed, digest)
        if self.storms and (self.calls + self.seed) % EVERY < STORM:
            return self.storms[self.calls // EVERY % len(self.storms)]
        if self.others:
            fault = rng.choice(self.others)
            if rng.random() < fault.share and self._tries[digest] < rng.randint(*fault.times):
                self._tries[digest] += 1
                return fault
        return None

    def bill(self, tokens: int) -> None:
        with self._mutex:
            self.billed += tokens

    def bought(self, digest: str) -> None:
        """A call is answered in full."""
        with self._mutex:
            if digest in self._bought:
                if digest in self.kept or is_recorded(self.cassettes, digest):
                    self.twice += 1
                else:
                    self.again += 1
            self._bought.add(digest)


# What is left of a run


def calls_in(data: bytes) -> list[tuple[str, str]]:
    """Digest and reply of every call that is whole in a cassette."""
    entries = read_interactions(data)[1]
    return [(entry["request"]["headers"][DIGEST][0], entry["response"]["body"]["string"]) for entry in entries]


def recordings(folder: Path) -> dict[str, list[tuple[str, str]]]:
    """The recorded calls, by cassette."""
    return {str(path.relative_to(folder)): calls_in(path.read_bytes()) for path in sorted(folder.rglob("*.yaml"))}


def is_recorded(folder: Path, digest: str) -> bool:
    """Whether a cassette holds the call, and all of it."""
    files = (path.read_bytes() for path in folder.rglob("*.yaml"))
    return any(digest == d for data in files if digest.encode() in data for d, _ in calls_in(data))


def finished(run: Path) -> dict[Key, str]:
    """The finished rollouts of a run, without what differs from call to call: latencies, and what tries cost that were
    billed in vain."""
    rows = Store(run, session=0).rows().values()
    return {key(row): canonical(plain(row)) for row in rows if row["outcome"] != "infrastructure"}


def plain(row: dict[str, Any]) -> dict[str, Any]:
    turns = [{k: v for k, v in turn.items() if k not in ("seconds", "usage")} for turn in row["turns"]]
    return {k: v for k, v in row.items() if k not in ("usage", "cost")} | {"turns": turns}


def counted(run: Path) -> int:
    """Tokens in the results of a run."""
    return sum(n for row in Store(run, session=0).rows().values() for n in map(row["usage"].get, PAID) if n)


@dataclass
class Left:
    """What an undisturbed run leaves."""

    rows: dict[Key, str]
    calls: dict[str, list[tuple[str, str]]]

    @classmethod
    def of(cls, folder: Path) -> Left:
        return cls(finished(folder / "run"), recordings(folder / "cassettes"))

    def first(self, rollouts: int) -> Left:
        """Of the first `rollouts` seeds."""
        return Left(
            {k: row for k, row in self.rows.items() if k[5] < rollouts},
            {path: calls for path, calls in self.calls.items() if int(Path(path).stem) < rollouts},
        )

    def differs(self, other: Left) -> str:
        """How `other` differs, "" if it does not."""
        pairs: list[tuple[str, dict[Any, Any], dict[Any, Any]]] = [
            ("rollouts", self.rows, other.rows),
            ("recordings", self.calls, other.calls),
        ]
        for name, mine, theirs in pairs:
            odd = [k for k in {**mine, **theirs} if mine.get(k) != theirs.get(k)]
            if odd:
                return f"{len(odd)} {name} differ, the first is {odd[0]}"
        return ""


# Trials


@dataclass
class Trial:
    """A command that is run until it has finished, with what disturbs it."""

    name: str
    folder: Path
    endpoint: Endpoint
    rollouts: int
    tasks: Sequence[str] = TASKS
    injected: int = 0  # faults that the endpoint does not count
    sessions: int = 0
    lost: int = 0
    rows: dict[Key, str] = field(default_factory=dict)
    said: list[str] = field(default_factory=list)  # what was not as it should be
    output: str = ""

    @property
    def run_folder(self) -> Path:
        return self.folder / "run"

    @property
    def cassettes(self) -> Path:
        return self.folder / "cassettes"

    def arguments(self) -> list[str]:
        plugins = ["-p", "no:cacheprovider", "-p", "no:hypothesispytest", "-n", str(WORKERS)]
        given = ["--models", self.folder / "models.toml", "--model", "sim/http", "--rollouts", self.rollouts]
        given += ["--concurrency", CONCURRENCY, "--task", ",".join(self.tasks)]
        given += ["--cassettes", self.cassettes, "--run", self.run_folder]
        return [sys.executable, "-m", "pytest", str(ROOT / "benchmarks"), *plugins, *map(str, given)]

    def models(self) -> str:
        """The models file."""
        return f'[models."sim/http"]\nid = "sim/medium"\nbase_url = "{self.endpoint.url}"\ninput = 1.0\noutput = 4.0\n'

    def start(self, *wrapper: str, **environment: str) -> subprocess.Popen[str]:
        """The command in a process group of its own; its output goes to a pipe that nobody needs to read in time."""
        self.sessions += 1
        (self.folder / "models.toml").write_text(self.models())
        clean = {k: v for k, v in os.environ.items() if not k.startswith(("OPENAI_", "PYTEST_", "GITHUB_"))}
        return subprocess.Popen(
            [*wrapper, *self.arguments()], cwd=ROOT, env=clean | environment, start_new_session=True, text=True,
            stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
        )  # fmt: skip

    def run(self, *wrapper: str, **environment: str) -> int:
        """The command to its end. Returns its exit code."""
        return self.end(self.start(*wrapper, **environment))

    def end(self, process: subprocess.Popen[str]) -> int:
        try:
            self.output = process.communicate(timeout=PATIENCE)[0]
        except subprocess.TimeoutExpired:
            self.said.append(f"session {self.sessions} hung for {PATIENCE:g} s")
        kill_group(process)
        process.wait()
        if "Traceback" in self.output or "INTERNALERROR" in self.output:
            self.said.append(f"session {self.sessions} ended in a traceback: {self.output[-3000:]}")
        self.look()
        return process.returncode

    def look(self) -> None:
        """After a command: what was there must still be there, and must not be bought again."""
        now = finished(self.run_folder)
        self.lost += sum(now.get(k) != row for k, row in self.rows.items())
        self.rows = now
        self.endpoint.kept |= {digest for calls in recordings(self.cassettes).values() for digest, _ in calls}

    def complete(self, **environment: str) -> None:
        for _ in range(AGAIN):
            if self.run(**environment) == 0:
                return
        self.said.append(f"not finished after {self.sessions} sessions: {self.output[-1500:]}")

    def row(self, reference: Left, at_kills: bool) -> Row:
        odd = reference.first(self.rollouts).differs(Left.of(self.folder))
        if self.endpoint.again and not at_kills:
            self.said.append(f"{self.endpoint.again} answered calls were not recorded")
        if self.endpoint.billed != (mine := counted(self.run_folder)) and not at_kills:
            self.said.append(f"{self.endpoint.billed} tokens were billed, {mine} are in the results")
        one = self.endpoint
        injected = one.injected + self.injected
        notes = [*self.said, *[odd] * bool(odd)]
        return Row(
            self.name, injected, one.retries, self.sessions, one.calls, one.again, self.lost, one.twice, not odd, notes
        )


@dataclass
class Row:
    """A line of the table."""

    fault: str
    injected: int
    retries: int
    sessions: int
    calls: int
    again: int
    lost: int
    twice: int
    equal: bool
    notes: list[str]

    NAMES = (
        "fault", "injected", "retries seen", "commands", "calls", "asked again, since in flight or not stored",
        "rollouts lost", "bought twice", "results equal",
    )  # fmt: skip

    @property
    def missed(self) -> bool:
        return bool(self.lost or self.twice or not self.equal or self.notes or not self.injected)

    def __str__(self) -> str:
        cells = (self.fault, self.injected, self.retries, self.sessions, self.calls, self.again, self.lost, self.twice)
        return f"| {' | '.join(map(str, cells))} | {'yes' if self.equal else 'NO'} |"


def kill_group(process: subprocess.Popen[str]) -> None:
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.killpg(process.pid, signal.SIGKILL)


def children(process: subprocess.Popen[str]) -> list[int]:
    told = subprocess.run(["pgrep", "-P", str(process.pid)], capture_output=True, text=True, check=False)
    return sorted(map(int, told.stdout.split()))


def on_disk(trial: Trial) -> None:
    """A file size limit that grows from session to session: writes end in mid-line, as on a full disk."""
    for limit in (5_000, 10_000, 20_000, 40_000):
        trial.injected += trial.run("prlimit", f"--fsize={limit}") != 0
    trial.complete()


def on_tmpfs(trial: Trial) -> None:
    """A file system of its own that is full at first; room is made from session to session."""
    subprocess.run(["mount", "-t", "tmpfs", "-o", "size=160k", "soak", trial.folder], check=True)
    for size in ("160k", "320k", "480k", "1m"):
        subprocess.run(["mount", "-o", f"remount,size={size}", trial.folder], check=True)
        trial.injected += trial.run() != 0
    subprocess.run(["mount", "-o", "remount,size=256m", trial.folder], check=True)
    trial.complete()


def read_only(trial: Trial) -> None:
    """Folders that cannot be written from the start, then in mid-run."""
    bound = ("setpriv", "--bounding-set=-dac_override,-dac_read_search") if os.geteuid() == 0 else ()
    for folder in (trial.run_folder, trial.cassettes):
        folder.mkdir()
        folder.chmod(0o555)
        trial.injected += trial.run(*bound) != 0
        folder.chmod(0o755)
        if trial.endpoint.calls:
            trial.said.append(f"{trial.endpoint.calls} calls were sent that {folder.name} could not store")
    process = trial.start(*bound)
    wait_for_calls(trial, process, 40)
    folders = [trial.folder, *(path for path in trial.folder.rglob("*") if path.is_dir())]
    for folder in folders:
        folder.chmod(0o555)
    trial.injected += trial.end(process) != 0
    for folder in folders:
        folder.chmod(0o755)
    trial.complete()


CLOCK = '''"""A clock that jumps: every few readings it is off by something else."""
import os
import random
import time

TRUE = time.time
RNG = random.Random(int(os.environ["SOAK_SEED"]))
NOW = {"off": 0.0, "left": 0}


def jumping():
    if not NOW["left"]:
        NOW.update(off=RNG.choice((-4e8, -86400, -3600, -1, 1, 3600, 86400, 4e8)), left=RNG.randrange(1, 20))
        with open(os.environ["SOAK_LOG"], "ab") as log:
            log.write(b".")
    NOW["left"] -= 1
    return TRUE() + NOW["off"]


time.time = jumping
time.time_ns = lambda: int(jumping() * 1e9)
'''


def on_clock(trial: Trial) -> None:
    """`time.time` jumps by up to twelve years, both ways, in all processes; the endpoint refuses and says how long."""
    place, log = trial.folder / "clock", trial.folder / "jumps"
    place.mkdir()
    (place / "sitecustomize.py").write_text(CLOCK)
    trial.complete(PYTHONPATH=str(place), SOAK_SEED=str(trial.endpoint.seed), SOAK_LOG=str(log))
    trial.injected += log.stat().st_size


def wait_for_calls(trial: Trial, process: subprocess.Popen[str], calls: int) -> None:
    """Wait for so many more calls: moments in the work, whatever the machine's speed."""
    wanted, until = trial.endpoint.calls + calls, time.monotonic() + PATIENCE
    while trial.endpoint.calls < wanted and process.poll() is None and time.monotonic() < until:
        time.sleep(0.002)


def gathering(trial: Trial, process: subprocess.Popen[str]) -> None:
    """Wait for the moment in which results are gathered in one file."""
    fresh, until = trial.run_folder / "results.tmp", time.monotonic() + PATIENCE
    while not fresh.exists() and process.poll() is None and time.monotonic() < until:
        time.sleep(0.0005)


def killed(trial: Trial, kills: int, deadline: float = float("inf")) -> None:
    """`kills` times signal 9: a worker, the controller alone, whose workers live on for a while beside the next
    command, or all of them; in the work, at any time of a command, and while results are gathered."""
    rng = random.Random(trial.endpoint.seed)
    landed: Counter[str] = Counter()
    groups: list[subprocess.Popen[str]] = []
    everything, lasted = trial.rollouts * len(trial.tasks) * 4, 5.0
    while landed.total() < kills and time.monotonic() < deadline:
        process = trial.start()
        begun = time.monotonic()
        groups.append(process)
        threading.Thread(target=process.communicate, daemon=True).start()  # the pipe must not fill
        if len(trial.rows) < everything and rng.random() < 0.8:
            for _ in range(rng.randrange(6)):
                wait_for_calls(trial, process, rng.randrange(1, 20))
                workers = children(process)
                if workers and process.poll() is None:
                    os.kill(rng.choice(workers), signal.SIGKILL)
                    landed["worker"] += 1
            wait_for_calls(trial, process, rng.randrange(1, 20))
        elif rng.random() < 0.5:
            with contextlib.suppress(subprocess.TimeoutExpired):
                process.wait(rng.uniform(0.0, lasted))
        else:
            gathering(trial, process)
            time.sleep(rng.uniform(0.0, 0.02))
        if process.poll() is not None:
            lasted = time.monotonic() - begun
            continue
        whom = rng.choice(("controller", "all"))
        landed[whom] += 1
        if whom == "all":
            kill_group(process)
        else:
            process.kill()
        process.wait()
        trial.look()
    trial.complete()
    for process in groups:
        kill_group(process)  # workers whose controller was killed
    trial.injected += landed.total()
    trial.name += f" ({', '.join(f'{n} {whom}' for whom, n in sorted(landed.items()))})"
    if trial.endpoint.again > landed.total() * WORKERS * CONCURRENCY:
        trial.said.append(f"{trial.endpoint.again} calls were bought again, more than were in flight")


@contextlib.contextmanager
def trial(
    name: str,
    faults: Sequence[Fault],
    seed: int,
    rollouts: int = FEW,
    latency: float = 0.0,
    tasks: Sequence[str] = TASKS,
) -> Iterator[Trial]:
    """A trial in a folder and at an endpoint of its own."""
    with contextlib.ExitStack() as stack:
        folder = Path(tempfile.mkdtemp(prefix="soak-"))
        stack.callback(shutil.rmtree, folder, ignore_errors=True)
        endpoint = stack.enter_context(Endpoint(faults, seed, folder / "cassettes", latency))
        threading.Thread(target=endpoint.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True).start()
        stack.callback(endpoint.shutdown)
        yield Trial(name, folder, endpoint, rollouts, tasks)
        if os.path.ismount(folder):
            subprocess.run(["umount", folder], check=True)


def undisturbed(rollouts: int, tasks: Sequence[str] = TASKS) -> Left:
    """What the same command leaves when nothing goes wrong."""
    with trial("undisturbed", (), 0, rollouts, tasks=tasks) as one:
        one.complete()
        assert not one.said, one.said
        assert not one.endpoint.twice + one.endpoint.again
        return Left.of(one.folder)


@dataclass(frozen=True)
class Plan:
    """A trial to come: faults of the endpoint and seconds of its replies, rollouts a cell, what is done, and whether
    answered calls may be asked again."""

    name: str
    faults: Sequence[Fault]
    disturb: Callable[[Trial], None] = Trial.complete
    rollouts: int = FEW
    latency: float = 0.0
    again: bool = False


def planned(kills: int, deadline: float) -> list[Plan]:
    """All trials."""
    plans = [Plan(fault.name, (fault,)) for fault in FAULTS]
    plans += [Plan("clock jumps, with 429 storms", FAULTS[:2], on_clock)]
    plans += [Plan("folder read-only", (), read_only, latency=0.02)]
    if shutil.which("prlimit"):
        plans += [Plan("file size limit", (), on_disk, again=True)]
    if os.geteuid() == 0 and sys.platform == "linux":
        plans += [Plan("disk full", (), on_tmpfs, again=True)]
    quick = [fault for fault in FAULTS if fault.times[1] < 3 and fault.send is not hang]
    some = kills // 5

    def few(one: Trial) -> None:
        killed(one, some, deadline)

    def many(one: Trial) -> None:
        killed(one, kills - some, deadline)

    plans += [Plan("all faults of the endpoint, and kill -9", quick, few, FEW * 2, 0.02, again=True)]
    return [*plans, Plan("kill -9", (), many, MANY, 0.02, again=True)]


def soak(minutes: float, kills: int, seed: int, only: str) -> int:
    """Run all trials whose name holds `only`. Returns the exit code."""
    begun = time.monotonic()
    deadline = begun + 60 * minutes
    print(f"Python {sys.version.split()[0]}, {os.cpu_count()} cores, load {os.getloadavg()[0]:.1f}, seed {seed}\n")
    plans = [one for one in planned(kills, deadline) if only in one.name]
    reference = undisturbed(max(one.rollouts for one in plans))
    print(f"| {' | '.join(Row.NAMES)} |\n|{'---|' * len(Row.NAMES)}", flush=True)

    def run(one: Plan) -> Row | None:
        if time.monotonic() > deadline:
            return None
        with trial(one.name, one.faults, seed, one.rollouts, one.latency) as it:
            one.disturb(it)
            return it.row(reference, one.again)

    rows: list[Row] = []
    with ThreadPoolExecutor(LANES) as lanes:
        under_way = [lanes.submit(run, one) for one in reversed(plans)]  # those with kills take longest
        for trying in reversed(under_way):
            if (row := trying.result()) is not None:
                rows.append(row)
                print(row, flush=True)
    print(f"\n{time.monotonic() - begun:.0f} s, load {os.getloadavg()[0]:.1f}")
    for row in rows:
        for note in row.notes if row.notes or row.injected else ["nothing was injected"]:
            print(f"{row.fault}: {note}")
    if len(rows) < len(plans):
        print(f"{len(plans) - len(rows)} trials were not begun: the time was up (--minutes)")
    return int(any(row.missed for row in rows))


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument(
        "--minutes", type=float, default=10.0, help="nothing new is begun after that long (default: 10)"
    )
    parser.add_argument("--kills", type=int, default=100, help="processes killed, if there is time (default: 100)")
    parser.add_argument("--seed", type=int, default=1, help="of the faults and of the moments of kills (default: 1)")
    parser.add_argument("--only", default="", help="trials whose name holds this text")
    return soak(**vars(parser.parse_args()))


if __name__ == "__main__":
    sys.exit(main())
