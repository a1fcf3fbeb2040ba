"""One reader for each kind of answer: from peeled text to a `Reading`.

A reader is a function of the form, the text, and whether the text was offered as the answer (`labelled`) or is only
what a message says. A new kind is one more function in `READERS`; where answers are looked for is not its concern.
Readers never raise, and their patterns bound every repetition, so that time stays linear in the text.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from graders.extract.path import path
from graders.extract.queries import queries
from graders.extract.reading import Reading
from graders.extract.slots import slots
from tasks.answers import Form

READERS: dict[str, Callable[[Any, str, bool], Reading]] = {"path": path, "queries": queries, "slots": slots}


def reading(form: Form, text: str, labelled: bool) -> Reading:
    """What the reader of `form`'s kind makes of `text`."""
    return READERS[form.kind](form, text, labelled)
