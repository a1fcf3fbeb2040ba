"""What every page has in common: text that cannot deceive, and a folder in which the files of others stay."""

from __future__ import annotations

import contextlib
import os
import re
from pathlib import Path

import collabtax

CHECKOUT = Path(collabtax.__file__).parents[1]  # where the commands on the pages are run
TEMPLATES = CHECKOUT / "report_templates"
STYLES = ("style.css", "colours.css", "drawing.css")
MARK = b'content="collabtax-report"'  # in the first line of every file of ours
HIDDEN = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\xad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b\u200e\u200f\u2028-\u202e\u2060-\u206f\u3164\ufeff"
    "\uffa0\ufff9-\ufffb\ufffe\uffff"
    "\ud800-\udfff\U000e0000-\U000e0fff]"
)


def visible(text: str) -> str:
    """`text` with control characters, invisible ones and marks that reorder text spelled out, like ⟨U+202E⟩."""
    return HIDDEN.sub(lambda found: f"⟨U+{ord(found[0]):04X}⟩", text.replace("\r\n", "\n"))


def ours(path: Path) -> bool:
    """Whether a report wrote this file."""
    with path.open("rb") as file:
        return MARK in file.readline(300)


class Folder:
    """A report's folder, as one writer of it sees it."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.written: set[Path] = set()

    def put(self, where: str, data: bytes) -> None:
        """Write a file. Raises FileExistsError rather than replace somebody else's, OSError where it cannot be."""
        path = self.path / where
        self.written.add(path)
        if path.exists():
            if not ours(path):
                raise FileExistsError(f"{where} in the report's folder is not of a report; choose another --report")
            if path.stat().st_size == len(data) and path.read_bytes() == data:
                return
        path.parent.mkdir(parents=True, exist_ok=True)
        fresh = path.with_name(path.name + ".tmp")
        try:
            fresh.write_bytes(data)
            os.replace(fresh, path)  # a full disk or a kill leaves the old file or the whole new one
        except OSError:
            fresh.unlink(missing_ok=True)
            raise

    def tidy(self, *patterns: str) -> None:
        """Remove what an earlier report left under `patterns`, and nothing else."""
        for pattern in patterns:
            for path in self.path.glob(pattern):
                if path not in self.written and ours(path):
                    path.unlink()
                    with contextlib.suppress(OSError):  # other files are in the folder
                        path.parent.rmdir()


def put_styles(folder: Folder) -> None:
    """Write the stylesheet that all pages share."""
    folder.put("style.css", b"".join((TEMPLATES / name).read_bytes() for name in STYLES))
