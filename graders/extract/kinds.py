"""One reader for each kind of answer: from peeled text to a `Reading`.

A reader is a function of the form, the text, and whether the text was offered as the answer (`labelled`) or is only
what a message says. A new kind is one more entry in `KINDS`; where answers are looked for is not its concern.
Readers never raise, and their patterns bound every repetition, so that time stays linear in the text.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

from graders.extract.cells import cells, paths
from graders.extract.fields import fields
from graders.extract.grid import grid
from graders.extract.groups import groups
from graders.extract.path import path
from graders.extract.queries import queries
from graders.extract.reading import Reading
from graders.extract.sequences import order, trail
from graders.extract.slots import slots
from graders.extract.table import table
from graders.extract.values import number, text
from tasks.answers import Form


class Kind(NamedTuple):
    """How answers of a kind are read and what they are called. `capitals`: their words are in capitals, which say
    nothing about the speaker's mind. `by_item`: "none" and "no path" may be the value of an item."""

    read: Callable[[Any, str, bool], Reading]
    nouns: str = ""
    capitals: bool = False
    by_item: bool = False


KINDS: dict[str, Kind] = {
    "path": Kind(path),
    "paths": Kind(paths),
    "cells": Kind(cells, "cells region set"),
    "trail": Kind(trail, "trail tour edges sequence circuit"),
    "groups": Kind(groups, "groups triangles pairs alignment matching mapping triples"),
    "order": Kind(order, "order ordering ranking sequence seating arrangement"),
    "number": Kind(number, "sum total"),
    "text": Kind(text, "message plaintext decoded decrypted", capitals=True),
    "grid": Kind(grid, "grid fill crossword words", capitals=True),
    "fields": Kind(fields, by_item=True),
    "table": Kind(table, "table packing arrangement grid"),
    "queries": Kind(queries, by_item=True),
    "slots": Kind(slots),
}


def reading(form: Form, text: str, labelled: bool) -> Reading:
    """What the reader of `form`'s kind makes of `text`."""
    return KINDS[form.kind].read(form, text, labelled)
