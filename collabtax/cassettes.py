"""Record and replay: one VCR.py cassette a rollout, behind a transport, chosen by context and never by patching.

A cassette is a VCR.py file (version 1) whose every interaction is one line of JSON, which is YAML too: a call is saved
by one append when it ends, a killed run keeps every finished call, and loading needs no YAML parser. A request is
found by the SHA-256 over its settings and messages (`Conversation.digest`), and stored with the messages since the last
answer only, so that a file holds the dialogue once. What was billed without an answer (an empty or filtered reply) is a
comment, which VCR.py does not see: it is never replayed, but counted with the answer that followed. Packed cassettes of
a cell lie in one zip file; any VCR.py file is read.
"""

from __future__ import annotations

import contextlib
import datetime
import difflib
import fcntl
import hashlib
import json
import math
import os
import re
import zipfile
from collections import Counter, defaultdict, deque
from collections.abc import Iterator, Sequence
from contextvars import ContextVar
from functools import lru_cache
from pathlib import Path
from typing import Any

from collabtax import __version__

DIGEST = "x-body-sha256"
HEAD = b"version: 1\n"
LOST = b'# {"lost":'
OURS = re.compile(rb"version: 1\n(?:metadata: (\{.*\})\n)?interactions:\n(?=[-#] \{|[-#]? ?\Z)")
BEGUN = re.compile(rb"version: 1\n(?:m.*\n?)?(?:i[a-z]*:?)?")
SURROGATE = re.compile("[\ud800-\udfff]")
NOT_YAML = re.compile("[\x7f-\x9f\u2028\u2029\ufeff\ufffe\uffff]")  # legal raw in JSON, not in YAML
SECRET = re.compile(
    r"\b(?:sk|org|proj|user|req|key)[-_][A-Za-z0-9_-]{6,}|\b(?:(?:gsk|hf|xai|nvapi|pplx|ghp)[-_]|AIza)[A-Za-z0-9_-]{16,}"
    r"|\bBearer [^\s\"']+|\b(?:bearer|Basic) [^\s\"']{12,}"
)
REPLY_FIELDS = ("object", "model", "choices", "usage")  # of a reply; ids, fingerprints and the like are left out

Message = dict[str, Any]


class CassetteMiss(Exception):
    """A request that is not recorded, in a mode that may not ask the endpoint."""


canonical = json.JSONEncoder(sort_keys=True, separators=(",", ":")).encode  # made once: making it is dear
_compact = json.JSONEncoder(ensure_ascii=False, separators=(",", ":")).encode


def compact(value: Any) -> str:
    """JSON as short as UTF-8 allows: with escapes only where the text holds half a surrogate pair."""
    text = _compact(value)
    return text if text.isascii() or not SURROGATE.search(text) else canonical(value)


class Conversation:
    """The messages of one agent with one model, and the digest of the request they make, kept up as they grow."""

    def __init__(self, settings: dict[str, Any], messages: Sequence[Message] = ()) -> None:
        self.settings = settings
        self.messages: list[Message] = []
        self.since = 0  # index of the first message after the last answer
        self._hash = hashlib.sha256(canonical(settings).encode())
        for message in messages:
            self._append(message)

    @classmethod
    def of_request(cls, body: dict[str, Any]) -> Conversation:
        return cls({k: v for k, v in body.items() if k != "messages"}, body.get("messages") or ())

    def add(self, role: str, content: str) -> None:
        self._append({"role": role, "content": content})

    def _append(self, message: Message) -> None:
        self.messages.append(message)
        self._hash.update(b"\n" + canonical(message).encode())
        if message["role"] == "assistant":
            self.since = len(self.messages)

    def digest(self) -> str:
        """SHA-256 over lines of canonical JSON: the settings, then each message."""
        return self._hash.hexdigest()

    def request(self) -> dict[str, Any]:
        """The whole request."""
        return {**self.settings, "messages": self.messages}

    def stored(self) -> str:
        """The request as stored: without what the file has already told."""
        body = {**self.settings, "messages": self.messages[self.since :], "n_messages": len(self.messages)}
        return compact(body)


def clean_reply(text: str) -> str:
    """A recorded reply: without ids and fingerprints. Anything that is no JSON object is kept, secrets masked."""
    try:
        reply = json.loads(text)
    except ValueError:
        return SECRET.sub("***", text)
    if not isinstance(reply, dict):
        return SECRET.sub("***", text)
    return compact({k: reply[k] for k in REPLY_FIELDS if k in reply})


def line(interaction: dict[str, Any]) -> bytes:
    text = NOT_YAML.sub(lambda m: f"\\u{ord(m[0]):04x}", compact(interaction))
    return b"- " + text.encode() + b"\n"


def is_begun(data: bytes) -> bool:
    """Whether `data` is what a torn first write of ours leaves, if only nothing."""
    return HEAD.startswith(data) or BEGUN.fullmatch(data) is not None


def read_interactions(data: bytes) -> tuple[dict[str, Any], list[dict[str, Any]]]:
    """Metadata and interactions of a cassette of ours or of stock VCR.py. A torn last line of ours is left out.

    Raises:
        ValueError: neither of both.
    """
    if is_begun(data):
        return {}, []
    if head := OURS.match(data):
        body = data[head.end() : data.rfind(b"\n") + 1].decode()
        entries = [json.loads(x[2:]) for x in body.split("\n")[:-1] if not x.startswith("#")]
        for entry in entries:
            _check(entry)
        return json.loads(head[1] or b"{}"), entries
    import yaml
    from vcr.serialize import deserialize
    from vcr.serializers import yamlserializer

    try:
        text = data.decode()
        if any(isinstance(e, yaml.ScalarEvent) and e.value == "<<" for e in yaml.parse(text, yaml.CSafeLoader)):
            raise ValueError("merge keys, which VCR.py never writes")  # a few lines of them fill any memory
        requests, responses, *metadata = deserialize(text, yamlserializer)
        both = [(q, a) for q, a in zip(requests, responses, strict=True) if q.path.endswith("/chat/completions")]
        return metadata[0] if metadata else {}, [_stock(q, a) for q, a in both if a["status"]["code"] == 200]
    except Exception as problem:  # a stranger's file: whatever its parsers say of it
        said = " ".join(str(problem).split())
        raise ValueError(f"not a VCR.py cassette: {said:.200}") from None


def read_lost(data: bytes) -> dict[str, Counter[str]]:
    """Tokens by kind that were billed without an answer, by the digest of the request."""
    found: dict[str, Counter[str]] = defaultdict(Counter)
    for text in data[: data.rfind(b"\n") + 1].split(b"\n") if LOST in data else ():
        if text.startswith(LOST):
            with contextlib.suppress(
                ValueError, KeyError, TypeError, AttributeError, RecursionError
            ):  # another comment
                told = json.loads(text[2:])
                usage = {kind: n for kind, n in told["usage"].items() if type(n) is int and n > 0}
                found[told["lost"]].update(usage)
    return found


def _check(entry: Any) -> None:
    """Raise ValueError for a line of ours that replaying would stumble over."""
    try:
        request, response = entry["request"], entry["response"]
        texts = [request["headers"][DIGEST][0], request["body"], response["body"]["string"]]
        texts += [v for values in response["headers"].values() for v in values]
        seconds = response.get("seconds", 0.0)
        timed = isinstance(seconds, int | float) and 0 <= seconds < math.inf
        if timed and all(isinstance(x, str) for x in texts) and isinstance(response["status"]["code"], int):
            return
    except (KeyError, TypeError, IndexError, AttributeError):
        pass
    raise ValueError("a line is no recorded call; remove it, or record anew with --record-mode=all")


def _stock(request: Any, response: dict[str, Any]) -> dict[str, Any]:
    from vcr.filters import decode_response

    asked = Conversation.of_request(json.loads(request.body_bytes or b"{}"))
    return _interaction(asked, request.uri, decode_response(response)["body"]["string"].decode(), 0.0)


def _interaction(asked: Conversation, url: str, text: str, seconds: float) -> dict[str, Any]:
    return {
        "request": {"method": "POST", "uri": url, "body": asked.stored(), "headers": {DIGEST: [asked.digest()]}},
        "response": {
            "status": {"code": 200, "message": "OK"},
            "headers": {"content-type": ["application/json"]},
            "body": {"string": text},
            "seconds": round(seconds, 3),
        },
    }


class Cassette:
    """The recorded calls of one rollout. Use it as a context manager: leaving it closes the file."""

    def __init__(self, path: Path, mode: str, about: dict[str, Any] | None = None) -> None:
        """Args:
        path: `…/cell/seed.yaml`; packed, it is the member `seed.yaml` of `…/cell.zip`.
        mode: one of `collabtax.options.RECORD_MODES`.
        about: what the header of a new file says (models, endpoints).

        Raises:
            ValueError: the file is not a cassette.
        """
        self.path, self.mode, self.about = path, mode, about or {}
        self._fd: int | None = None
        self._interactions: list[dict[str, Any]] = []
        self._waiting: dict[str, deque[dict[str, Any]]] = defaultdict(deque)
        self.metadata: dict[str, Any] = {}
        self._lost: dict[str, Counter[str]] = defaultdict(Counter)
        data = None if mode == "all" else self._read()
        self._whole = (data or b"").rfind(b"\n") + 1  # bytes of whole lines that are known
        self._foreign = data is not None and not (OURS.match(data) or is_begun(data))  # nothing is appended to it
        if data is not None:
            try:
                self.metadata, self._interactions = read_interactions(data)
                if not (isinstance(self.metadata, dict) and isinstance(self.metadata.get("models", {}), dict)):
                    raise ValueError("its header has no table of models; record anew with --record-mode=all")
            except (ValueError, RecursionError) as problem:
                raise ValueError(f"cassette {self.shown}: {problem}") from None
            self._lost = self._lost if self._foreign else read_lost(data)
            for entry in self._interactions:
                self._waiting[entry["request"]["headers"][DIGEST][0]].append(entry["response"])
        open_end = mode in ("new_episodes", "all") or (mode == "once" and self.is_empty)
        self.may_record = open_end and not self._foreign

    def _read(self) -> bytes | None:
        if self.path.exists():
            return self.path.read_bytes()
        archive = _packed_in(self.path.parent)
        try:
            packed = _archive(archive)
            return packed.read(self.path.name) if packed and self.path.name in packed.namelist_set else None
        except Exception as problem:  # a stranger's file: zipfile lets many kinds through
            raise ValueError(f"packed cassettes {archive.name}: {problem or type(problem).__name__}") from None

    def take(self, digest: str) -> dict[str, Any] | None:
        """The next unplayed recording of a request; equal requests are replayed in the order of their recording."""
        if not (answers := self._waiting.get(digest)):
            return None
        return answers.popleft()

    @property
    def shown(self) -> str:
        """The file as messages name it: within its folder, since results hold no path of a machine."""
        return f"{self.path.parent.name}/{self.path.name}"

    @property
    def is_empty(self) -> bool:
        return not self._interactions

    @property
    def unplayed(self) -> int:
        return sum(map(len, self._waiting.values()))

    def save(self, asked: Conversation, url: str, text: str, seconds: float, secret: str = "") -> dict[str, Any]:
        """Append one answered call, by one write; `secret` is masked should it occur. Returns the recorded response."""
        text = clean_reply(text)
        entry = _interaction(asked, url, text.replace(secret, "***") if len(secret) > 7 else text, seconds)
        data = line(entry)
        if len(secret) > 7:
            data = data.replace(secret.encode(), b"***")
        self._append(data)
        response: dict[str, Any] = entry["response"]
        return response

    def lose(self, asked: Conversation, usage: dict[str, int]) -> None:
        """Note tokens that were billed for a reply that is no answer."""
        self._append(b"# " + compact({"lost": asked.digest(), "usage": usage}).encode() + b"\n")
        self._lost[asked.digest()].update(usage)

    def take_lost(self, digest: str) -> dict[str, int]:
        """Tokens that were billed for a request beside its answer and are not taken yet."""
        return dict(self._lost.pop(digest, {}))

    def _append(self, data: bytes) -> None:
        fd = self.hold()
        size = os.fstat(fd).st_size
        if not size:
            today = datetime.datetime.now(datetime.UTC).date().isoformat()
            about = {**self.about, "recorded": today, "suite": __version__}
            data = HEAD + f"metadata: {json.dumps(about)}\ninteractions:\n".encode() + data
        try:
            while data:
                data = data[os.write(fd, data) :]
        except OSError:  # a full disk: later calls must not follow half a line
            os.ftruncate(fd, size)
            raise

    def hold(self) -> int:
        """Take the file for writing, before anything is paid for. Raises RuntimeError where somebody else has it."""
        if self._fd is not None:
            return self._fd
        told, asked = self.metadata.get("models", {}), self.about.get("models", {})
        for model in sorted(told.keys() & asked.keys()):
            if told[model] != asked[model] and self.mode != "all" and not self.is_empty:
                raise RuntimeError(
                    f"cassette {self.shown} holds answers of {model} from {told[model]}, not {asked[model]}: "
                    "use another --cassettes, or --record-mode=all"
                )
        self.path.parent.mkdir(parents=True, exist_ok=True)
        if self.mode != "all" and not self.path.exists() and (packed := self._read()):
            fresh = self.path.with_suffix(f".{os.getpid()}.tmp")
            fresh.write_bytes(packed)
            with contextlib.suppress(FileExistsError):  # another process was faster
                os.link(fresh, self.path)
            fresh.unlink()
        fd = os.open(self._target, os.O_RDWR | os.O_CREAT | os.O_APPEND, 0o644)
        try:
            fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
            if not os.fstat(fd).st_nlink:  # its last holder has removed it
                raise BlockingIOError
        except BlockingIOError:
            os.close(fd)
            raise RuntimeError(f"cassette {self.shown} is being written by another process") from None
        data = b"" if self.mode == "all" else os.pread(fd, os.fstat(fd).st_size, 0)
        if self.mode != "all" and data.rfind(b"\n") + 1 != self._whole:
            os.close(fd)
            raise RuntimeError(f"cassette {self.shown} has grown by another process; the next run goes on from there")
        whole = data.rfind(b"\n") + 1 if OURS.match(data) else 0
        os.ftruncate(fd, whole)  # cuts a torn last line
        self._fd = fd
        if self.is_empty and told != asked:  # of no answer, from elsewhere: only what it cost stays
            os.ftruncate(fd, 0)
            if lost := [text for text in data[:whole].splitlines(keepends=True) if text.startswith(LOST)]:
                self._append(b"".join(lost))
        return fd

    @property
    def _target(self) -> Path:
        """In mode `all` the old recording stays until the new one is whole."""
        return self.path.with_suffix(".yaml.new") if self.mode == "all" else self.path

    def miss(self, asked: Conversation) -> CassetteMiss:
        """The error for a request without a recording: which, how it differs from the nearest, what to do."""
        call = sum(m["role"] == "assistant" for m in asked.messages) + 1
        seed = self.path.stem.lstrip("0") or "0"
        who = f"{self.path.parent.name} seed {seed}, model {asked.settings.get('model')}, call {call}"
        remedy = "record it with --record-mode=new_episodes, or anew with --record-mode=all"
        if self._foreign:
            remedy = "nothing is added to a file that VCR.py itself wrote: move it away, or use --record-mode=all"
        if not self._interactions:
            return CassetteMiss(f"{who}: nothing is recorded in {self.shown}; {remedy}")
        try:
            difference = self._difference(asked)
        except (ValueError, LookupError, TypeError, AttributeError):  # of a file that was not made by us
            difference = "it cannot be compared with what is recorded"
        return CassetteMiss(f"{who}: not recorded in {self.shown}; {difference}; {remedy}")

    def _difference(self, asked: Conversation) -> str:
        if (digest := asked.digest()) in self._waiting:
            times = sum(entry["request"]["headers"][DIGEST][0] == digest for entry in self._interactions)
            return f"it is recorded {times} time{'s' * (times > 1)}, and played as often already"
        stored = [json.loads(entry["request"]["body"]) for entry in self._interactions]
        mine = [s for s in stored if s.get("model") == asked.settings.get("model")]
        if not mine:
            return f"the recordings are of {', '.join(sorted({str(s.get('model')) for s in stored}))}"

        def off(recorded: dict[str, Any]) -> list[str]:
            keys = (set(asked.settings) | set(recorded)) - {"messages", "n_messages"}
            return sorted(k for k in keys if asked.settings.get(k) != recorded.get(k))

        least = min(map(off, mine), key=len)
        if least:
            near = next(s for s in mine if off(s) == least)
            return "; ".join(f"{k} is {asked.settings.get(k)!r}, recorded with {near.get(k)!r}" for k in least)
        mine = [s for s in mine if not off(s)]
        start = 0
        for end in range(1, len(asked.messages) + 1):
            if end < len(asked.messages) and asked.messages[end]["role"] != "assistant":
                continue
            told, begun = asked.messages[start:end], start
            start = end + 1
            peers = [s["messages"] for s in mine if s["n_messages"] - len(s["messages"]) == begun]
            if told in peers:
                continue
            if not peers:
                return f"the recordings end before message {begun + 1}"
            near = max(peers, key=lambda p: difflib.SequenceMatcher(None, canonical(p), canonical(told)).quick_ratio())
            for i, (a, b) in enumerate(zip(told, near, strict=False)):
                if a != b:
                    pairs = enumerate(zip(a["content"], b["content"], strict=False))
                    at = next((k for k, (x, y) in pairs if x != y), min(len(a["content"]), len(b["content"])))
                    cut = slice(max(0, at - 20), at + 40)
                    return (
                        f"message {begun + i + 1} ({a['role']}) differs at character {at + 1}: "
                        f"asked {a['content'][cut]!r}, recorded {b['content'][cut]!r}"
                    )
            return f"message {begun + min(len(near), len(told)) + 1} is {'new' if len(told) > len(near) else 'missing'}"
        return "an earlier answer in it differs from the recorded one"

    def __enter__(self) -> Cassette:
        self._token = CURRENT.set(self)
        return self

    def __exit__(self, kind: object, *_: object) -> None:
        CURRENT.reset(self._token)
        if self._fd is not None:
            if not os.fstat(self._fd).st_size:  # held, but nothing came of it
                self._target.unlink()
            elif self.mode == "all" and kind is None:
                os.replace(self._target, self.path)
            os.close(self._fd)
            self._fd = None


CURRENT: ContextVar[Cassette] = ContextVar("cassette")


def current() -> Cassette:
    """The cassette of the rollout under way. Raises RuntimeError where none is open."""
    try:
        return CURRENT.get()
    except LookupError:
        raise RuntimeError("a request outside of any cassette: open one around the rollout") from None


class _Zip(zipfile.ZipFile):
    """A packed cell, kept open by the process that reads it."""

    def __init__(self, path: str) -> None:
        super().__init__(path)
        self.namelist_set = frozenset(self.namelist())


@lru_cache(maxsize=8)
def _opened(path: str, _size: int, _mtime: int) -> _Zip:
    return _Zip(path)


def _archive(path: Path) -> _Zip | None:
    try:
        stat = path.stat()
    except FileNotFoundError:
        return None
    return _opened(str(path), stat.st_size, stat.st_mtime_ns)


def _packed_in(cell: Path) -> Path:
    return cell.with_name(cell.name + ".zip")


def pack(folder: Path) -> Iterator[Path]:
    """Put the loose cassettes of each cell below `folder` into one zip file a cell and remove them. Yields the files.

    Members have no date, so that equal cassettes make equal files; unpacking is `unzip`. A cell that is being recorded
    is left alone.
    """
    for cell in sorted({p.parent for p in folder.rglob("*.yaml")}):
        with contextlib.ExitStack() as held:
            loose = sorted(cell.glob("*.yaml"))
            try:
                for path in loose:
                    fcntl.flock(held.enter_context(path.open("rb")), fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                continue
            members = {p.name: p.read_bytes() for p in loose}
            target = _packed_in(cell)
            if target.exists():
                with zipfile.ZipFile(target) as old:
                    members = {name: old.read(name) for name in old.namelist()} | members
            fresh = target.with_suffix(".tmp")
            with zipfile.ZipFile(fresh, "w", zipfile.ZIP_DEFLATED) as archive:
                for name in sorted(members):
                    member = zipfile.ZipInfo(name, (1980, 1, 1, 0, 0, 0))
                    archive.writestr(member, members[name], zipfile.ZIP_DEFLATED, 9)
            os.replace(fresh, target)
            for path in loose:
                path.unlink()
        with contextlib.suppress(OSError):  # something else lies in the folder
            cell.rmdir()
        yield target
