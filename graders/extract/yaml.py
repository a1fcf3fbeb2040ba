"""YAML as models write it, read so that nothing changes type: only text, lists and mappings of text come out.

PyYAML does the parsing (its event parser, in C where that is built). Before it a pass over the lines quotes what YAML
would refuse or cut although it is plain text to its writer: `start: @`, `row0: . # *`, tuples, values with colons.
What remains is bounded: size, depth, number of values; aliases and tags never take effect.
"""

from __future__ import annotations

import re
from typing import Any

import yaml

from graders.extract.envelope import fold, without_thoughts

Data = str | list["Data"] | dict[str, "Data"]

SIZE = 200_000  # characters; an extractor's reply has a few hundred
DEPTH = 32
VALUES = 20_000
LOADER: Any = getattr(yaml, "CBaseLoader", yaml.BaseLoader)


class DuplicateKey(ValueError):
    """A mapping names one key twice."""


FENCED = re.compile(r"^[ \t]{0,8}```[\w+-]{0,20}[ \t]*\n(.*?)(?:^[ \t]{0,8}```|\Z)", re.M | re.S)
OPENING = re.compile(r"^[\"']?(?:answers?|scheme|schema)[\"']?[ \t]*:", re.M | re.I)
KEYED = re.compile(
    r"([ \t]*(?:- +)*)"
    r"((?:\"[^\"\n]*\"|'[^'\n]*'|[^\s\[\]{},\"'#:-][^:\n]{0,80}?|-[^\s:][^:\n]{0,80}?)[ \t]*:(?:[ \t]+|$))?"
    r"(.*)"
)
BLOCK = re.compile(r"[|>][+-]?\d?$")
QUOTED = re.compile(r"\"(?:[^\"\\]|\\.)*\"|'(?:[^']|'')*'")
FLOW = re.compile(r"\"(?:[^\"\\]|\\.)*\"|'(?:[^']|'')*'|[\[\]{},]|\([^()\n]*\)|[^\[\]{},\"'(]+|.")
COLON = re.compile(r"(:(?:[ \t]+|$))")
SPECIAL = re.compile(r"[@*&%!|>#`?\"'(\]},]|[-?:](?:[ \t]|$)")
REMARK = re.compile(r"(?<=[\]}])[ \t]{1,20}#[^\[\]{}\"']*$")  # no YAML if it were text


def _quote(text: str) -> str:
    return "'" + text.replace("'", "''") + "'"


def _value(text: str) -> str:
    """A value on its line, quoted where YAML would not take it as the text that it is."""
    text = text.strip()
    if not text or QUOTED.fullmatch(text):
        return text
    hurt = SPECIAL.match(text) or " #" in text or ": " in text or text.endswith(":")
    return _quote(text) if hurt else text


def _flow(line: str) -> str:
    """A line within brackets or braces, its plain items quoted one by one."""
    parts: list[str] = []
    word = ""
    for item in [*FLOW.findall(line), ","]:
        if item not in "[]{}," and not QUOTED.fullmatch(item):
            word += item
            continue
        if plain := word.strip():
            key, colon, value = COLON.split(plain, maxsplit=1) if COLON.search(plain) else ("", "", plain)
            parts.append(f"{_value(key)}{colon} {_value(value)}" if colon else _value(value))
        word = ""
        parts.append(item)
    return "".join(parts[:-1])


def _prepare(text: str) -> str:
    """The pre-pass. Lines of block scalars stay as they are."""
    lines: list[str] = []
    depth, block = 0, -1
    for line in text.expandtabs(2).split("\n"):
        bare = line.strip()
        indent = len(line) - len(line.lstrip())
        if block >= 0 and (indent > block or not bare):
            lines.append(line)
            continue
        block = -1
        if depth == 0 and (not bare or bare in ("---", "...") or bare.startswith("#")):
            lines.append(line)
            continue
        lead, key, value = ("", "", line) if depth else KEYED.match(line).groups("")  # type: ignore[union-attr]
        if key and SPECIAL.match(key):
            key = key if QUOTED.match(key) else _quote(key.rstrip()[:-1].rstrip()) + ": "
        if BLOCK.fullmatch(value.strip()):
            block = indent
        elif depth or value.lstrip()[:1] in ("[", "{"):
            value = _flow(REMARK.sub("", value))
            opened = QUOTED.sub("", value)
            depth = max(0, depth + opened.count("[") + opened.count("{") - opened.count("]") - opened.count("}"))
        else:
            value = _value(value)
        lines.append(lead + key + value)
    return "\n".join(lines)


def _documents(text: str) -> list[Data]:
    """Build every document from parser events.

    Raises:
        DuplicateKey: naming the key.
        ValueError: for anything that is too deep or has too many values.
        yaml.YAMLError: for what is no YAML.
    """
    documents: list[Data] = []
    stack: list[tuple[Data, list[str]]] = []  # open collections, each with the key that waits for its value
    for number, event in enumerate(yaml.parse(text, Loader=LOADER)):
        if number > VALUES or len(stack) > DEPTH:
            raise ValueError("the YAML is too large or too deep")
        node: Data
        if isinstance(event, yaml.ScalarEvent):
            node = event.value
        elif isinstance(event, yaml.AliasEvent):
            node = f"*{event.anchor}"
        elif isinstance(event, yaml.CollectionStartEvent):
            stack.append(([] if isinstance(event, yaml.SequenceStartEvent) else {}, []))
            continue
        elif isinstance(event, yaml.CollectionEndEvent):
            node = stack.pop()[0]
        else:
            continue
        if not stack:
            documents.append(node)
            continue
        parent, waiting = stack[-1]
        if isinstance(parent, list):
            parent.append(node)
        elif isinstance(parent, dict) and waiting:
            parent[waiting.pop()] = node
        elif isinstance(parent, dict):
            key = node if isinstance(node, str) else repr(node)
            if key in parent:
                raise DuplicateKey(f"duplicate key {key!r:.80}")
            waiting.append(key)
    return documents


def load(text: str) -> Data:
    """The YAML in a reply: the last mapping among its documents, else the last document.

    Fences, thoughts and prose before a line `answer:` are left out.

    Raises:
        DuplicateKey: a mapping names one key twice.
        ValueError: no YAML, or too large, too deep.
    """
    if len(text) > SIZE:
        raise ValueError(f"the reply has {len(text)} characters, more than {SIZE}")
    text = without_thoughts(fold(text))[0]
    if fenced := FENCED.findall(text):
        text = fenced[-1]
    elif opening := OPENING.search(text):
        text = text[opening.start() :] if "---" not in text else text
    try:
        documents = _documents(_prepare(text))
    except yaml.YAMLError as error:
        raise ValueError(f"no YAML: {error}") from error
    if not documents:
        raise ValueError("the reply is empty")
    return next((d for d in reversed(documents) if isinstance(d, dict)), documents[-1])
