"""Record and replay: one VCR.py cassette a rollout, behind a transport, chosen by context and never by patching.

A cassette is a VCR.py file (version 1) whose every interaction is one line of JSON, which is YAML too: a call is saved
by one append when it ends, a killed run keeps every finished call, and loading needs no YAML parser. A request is found by
the SHA-256 over its settings and messages (`Conversation.digest`), and stored with the messages since the last answer
only, so that a file holds the dialogue once. Packed cassettes of a cell lie in one zip file; any VCR.py file is read.
"""

from __future__ import annotations

import contextlib
import datetime
import difflib
import fcntl
import hashlib
import json
import os
import re
import zipfile
from collections import defaultdict, deque
from collections.abc import Iterator, Sequence
from contextvars import ContextVar
from functools import lru_cache
from pathlib import Path
from typing import Any

from collabtax import __version__

DIGEST = "x-body-sha256"
HEAD = "version: 1\n"
NOT_YAML = re.compile("[\x7f-\x9f\u2028\u2029\ufeff\ufffe\uffff\ud800-\udfff]")  # legal raw in JSON, not in YAML
SECRET = re.compile(r"\b(?:sk|org|proj|user|req|key|Bearer)[-_ ][A-Za-z0-9_-]{6,}")
REPLY_FIELDS = ("object", "model", "choices", "usage")  # of a reply; ids, fingerprints and the like are left out

Message = dict[str, str]


class CassetteMiss(Exception):
    """A request that is not recorded, in a mode that may not ask the endpoint."""


canonical = json.JSONEncoder(sort_keys=True, separators=(",", ":")).encode  # made once: making it is dear
compact = json.JSONEncoder(ensure_ascii=False, separators=(",", ":")).encode


class Conversation:
    """The messages of one agent with one model, and the digest of the request they make, kept up as they grow."""

    def __init__(self, settings: dict[str, Any], messages: Sequence[Message] = ()) -> None:
        self.settings = settings
        self.messages: list[Message] = []
        self.since = 0  # index of the first message after the last answer
        self._hash = hashlib.sha256(canonical(settings).encode())
        for message in messages:
            self.add(message["role"], message["content"])

    @classmethod
    def of_request(cls, body: dict[str, Any]) -> Conversation:
        return cls({k: v for k, v in body.items() if k != "messages"}, body.get("messages") or ())

    def add(self, role: str, content: str) -> None:
        message = {"role": role, "content": content}
        self.messages.append(message)
        self._hash.update(b"\n" + canonical(message).encode())
        if role == "assistant":
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


def read_interactions(data: bytes) -> tuple[dict[str, Any], list[dict[str, Any]]]:
    """Metadata and interactions of a cassette of ours or of stock VCR.py. A torn last line of ours is left out.

    Raises:
        ValueError: neither of both.
    """
    text = data[: data.rfind(b"\n") + 1].decode()
    if not text:
        return {}, []
    head, found, body = text.partition("interactions:\n")
    if found and (not body or body.startswith("- {")) and head.startswith(HEAD):
        about = next((x[10:] for x in head.split("\n") if x.startswith("metadata: {")), "{}")
        return json.loads(about), [json.loads(x[2:]) for x in body.split("\n")[:-1]]
    from vcr.serialize import deserialize
    from vcr.serializers import yamlserializer

    try:
        requests, responses, *metadata = deserialize(text, yamlserializer)
    except Exception as problem:  # a stranger's file: whatever the parser says of it
        raise ValueError(f"not a VCR.py cassette: {problem!s:.200}") from None
    both = zip(requests, responses, strict=True)
    return metadata[0] if metadata else {}, [_stock(q, a) for q, a in both if q.path.endswith("/chat/completions")]


def _stock(request: Any, response: dict[str, Any]) -> dict[str, Any]:
    body = Conversation.of_request(json.loads(request.body or b"{}"))
    kept = {**response, "body": {"string": (response["body"]["string"] or b"").decode()}}
    return {
        "request": {"method": "POST", "uri": request.uri, "body": body.stored(), "headers": {DIGEST: [body.digest()]}},
        "response": kept,
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
        self.played = self.recorded = 0
        self._fd: int | None = None
        self._interactions: list[dict[str, Any]] = []
        self._waiting: dict[str, deque[dict[str, Any]]] = defaultdict(deque)
        data = self._read()
        self.may_record = mode in ("new_episodes", "all") or (mode == "once" and data is None)
        if data is not None and mode != "all":
            try:
                self.metadata, self._interactions = read_interactions(data)
                for entry in self._interactions:
                    self._waiting[entry["request"]["headers"][DIGEST][0]].append(entry["response"])
            except (ValueError, KeyError, TypeError, IndexError) as problem:
                raise ValueError(f"cassette {path}: {problem}") from None

    def _read(self) -> bytes | None:
        if self.path.exists():
            return self.path.read_bytes()
        packed = _archive(self.path.parent.with_suffix(self.path.parent.suffix + ".zip"))
        return packed.read(self.path.name) if packed and self.path.name in packed.namelist_set else None

    def take(self, digest: str) -> dict[str, Any] | None:
        """The next unplayed recording of a request; equal requests are replayed in the order of their recording."""
        if not (answers := self._waiting.get(digest)):
            return None
        self.played += 1
        return answers.popleft()

    @property
    def is_empty(self) -> bool:
        return not self._interactions

    @property
    def unplayed(self) -> int:
        return sum(map(len, self._waiting.values()))

    def save(self, asked: Conversation, url: str, text: str, seconds: float, secret: str = "") -> dict[str, Any]:
        """Append one answered call, by one write; `secret` is masked should it occur. Returns the recorded response."""
        response = {
            "status": {"code": 200, "message": "OK"},
            "headers": {"content-type": ["application/json"]},
            "body": {"string": clean_reply(text)},
            "seconds": round(seconds, 3),
        }
        request = {"method": "POST", "uri": url, "body": asked.stored(), "headers": {DIGEST: [asked.digest()]}}
        data = line({"request": request, "response": response})
        if len(secret) > 7:
            data = data.replace(secret.encode(), b"***")
        if self._fd is None:
            self._fd = self._open()
        while data:
            data = data[os.write(self._fd, data) :]
        self.recorded += 1
        return response

    def _open(self) -> int:
        packed = None if self.path.exists() or self.mode == "all" else self._read()
        self.path.parent.mkdir(parents=True, exist_ok=True)
        fd = os.open(self._target, os.O_RDWR | os.O_CREAT | os.O_APPEND, 0o644)
        try:
            fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            os.close(fd)
            raise RuntimeError(f"cassette {self.path} is being written by another process") from None
        if packed:
            os.write(fd, packed)
        data = b"" if self.mode == "all" else os.pread(fd, os.fstat(fd).st_size, 0)
        os.ftruncate(fd, data.rfind(b"\n") + 1)  # cuts a torn last line
        if b"\ninteractions:\n" not in data:
            os.ftruncate(fd, 0)
            today = datetime.datetime.now(datetime.UTC).date().isoformat()
            about = {**self.about, "recorded": today, "suite": __version__}
            os.write(fd, f"{HEAD}metadata: {json.dumps(about)}\ninteractions:\n".encode())
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
        if not self._interactions:
            return CassetteMiss(f"{who}: nothing is recorded in {self.path}; {remedy}")
        return CassetteMiss(f"{who}: not recorded in {self.path}; {self._difference(asked)}; {remedy}")

    def _difference(self, asked: Conversation) -> str:
        stored = [json.loads(entry["request"]["body"]) for entry in self._interactions]
        mine = [s for s in stored if s.get("model") == asked.settings.get("model")]
        if not mine:
            return f"the recordings are of {', '.join(sorted({str(s.get('model')) for s in stored}))}"
        for key in sorted(set(asked.settings) | (set(mine[0]) - {"messages", "n_messages"})):
            if asked.settings.get(key) != mine[0].get(key):
                return f"{key} is {asked.settings.get(key)!r}, recorded with {mine[0].get(key)!r}"
        start = 0
        for end in range(1, len(asked.messages) + 1):
            if end < len(asked.messages) and asked.messages[end]["role"] != "assistant":
                continue
            told, begun = asked.messages[start:end], start
            start = end + 1
            peers = [s["messages"] for s in mine if s["n_messages"] == end]
            if told in peers:
                continue
            if not peers:
                return f"the recordings end before message {end}"
            near = max(peers, key=lambda p: difflib.SequenceMatcher(None, canonical(p), canonical(told)).quick_ratio())
            for i, (a, b) in enumerate(zip(told, near, strict=False)):
                if a != b:
                    at = next(
                        (k for k, (x, y) in enumerate(zip(a["content"], b["content"], strict=False)) if x != y), 0
                    )
                    at = at or min(len(a["content"]), len(b["content"])) if a["content"][:1] == b["content"][:1] else 0
                    cut = slice(max(0, at - 20), at + 40)
                    return (
                        f"message {begun + i + 1} ({a['role']}) differs at character {at + 1}: "
                        f"asked {a['content'][cut]!r}, recorded {b['content'][cut]!r}"
                    )
            return f"message {begun + len(near) + 1} is new"
        if any(s["n_messages"] == len(asked.messages) for s in mine):
            return "its recording was played already, or an earlier answer differs from the recorded one"
        return "the messages agree as far as recorded"

    def __enter__(self) -> Cassette:
        self._token = CURRENT.set(self)
        return self

    def __exit__(self, kind: object, *_: object) -> None:
        CURRENT.reset(self._token)
        if self._fd is not None:
            os.close(self._fd)
            if self.mode == "all" and kind is None:
                os.replace(self._target, self.path)
            self._fd = None


CURRENT: ContextVar[Cassette] = ContextVar("cassette")


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
    try:
        return _opened(str(path), stat.st_size, stat.st_mtime_ns)
    except zipfile.BadZipFile as problem:
        raise ValueError(f"packed cassettes {path}: {problem}") from None


def pack(folder: Path) -> Iterator[Path]:
    """Put the loose cassettes of each cell below `folder` into one zip file a cell and remove them. Yields the files.

    Members have no date, so that equal cassettes make equal files; unpacking is `unzip`.
    """
    for cell in sorted({p.parent for p in folder.rglob("*.yaml")}):
        target = cell.with_suffix(cell.suffix + ".zip")
        loose = sorted(cell.glob("*.yaml"))
        members = {p.name: p.read_bytes() for p in loose}
        if target.exists():
            with zipfile.ZipFile(target) as old:
                members = {name: old.read(name) for name in old.namelist()} | members
        fresh = target.with_suffix(".tmp")
        with zipfile.ZipFile(fresh, "w", zipfile.ZIP_DEFLATED) as archive:
            for name in sorted(members):
                archive.writestr(zipfile.ZipInfo(name, (1980, 1, 1, 0, 0, 0)), members[name], zipfile.ZIP_DEFLATED, 9)
        os.replace(fresh, target)
        for path in loose:
            path.unlink()
        with contextlib.suppress(OSError):  # something else lies in the folder
            cell.rmdir()
        yield target
