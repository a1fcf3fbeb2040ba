"""Names of clusters, given by the describer under the paper's rule: no generic word anywhere in them (appendix B)."""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence

from collabtax.clusters.describe import Describer, text

BLACKLIST = (
    "verification",
    "verify",
    "pool",
    "share",
    "communicate",
    "collaborate",
    "cross-check",
    "calculation",
    "format",
)
# The stems, so that no other form of a word gets by; "information" and "formation" hold one by chance.
FORBIDDEN = re.compile(
    r"verif|pool|shar(?:e|ing)|communicat|collaborat|cross_?check|calculat|(?<!in)format(?!ion)", re.IGNORECASE
)
NAME = re.compile(r"[a-z0-9]+(?:_[a-z0-9]+){1,9}")
TRIES = 3


def forbidden(name: str) -> str:
    """The first forbidden part of a name, "" where there is none."""
    found = FORBIDDEN.search(name)
    return found[0] if found else ""


def read_name(reply: str) -> str:
    """The name in a reply, which may be wrapped in prose or marks; "" where nothing looks like one."""
    lowered = reply.lower()
    if found := NAME.search(lowered.replace("-", "_")):
        return found[0][:80].rstrip("_")
    words = re.findall(r"[a-z0-9]+", next((line for line in lowered.splitlines() if line.strip()), ""))
    return "_".join(words)[:80] if 2 <= len(words) <= 10 else ""


def of_terms(terms: Sequence[str]) -> str:
    """A name made of a cluster's terms, for when the describer gives none that may be used."""
    words = dict.fromkeys(word for term in terms for word in term.split() if not forbidden(word))
    return "_".join(["unnamed", *words][:5])


async def name(notes: Sequence[str], number: int, taken: Collection[str], describer: Describer) -> str:
    """What the describer calls the cluster that these notes are nearest to the middle of; "" where it does not find a
    name that may be used in `TRIES` tries."""
    listed = "\n\n".join(f"- {' '.join(note.split())}" for note in notes)
    agent = describer.agent(text("name_task").format(notes=listed, forbidden=", ".join(BLACKLIST)))
    with describer.cassette("names", number):
        for _ in range(TRIES):
            found = read_name((await describer.ask(agent)).text)
            if found and not forbidden(found) and found not in taken:
                return found
            fault = (
                f"It holds {forbidden(found)!r}."
                if forbidden(found)
                else "It is taken."
                if found
                else "That is no name."
            )
            agent.hear(f"{fault} Give another one.")
    return ""
