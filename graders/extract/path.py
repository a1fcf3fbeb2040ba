"""The reader of paths: cells in brackets, in words, bare or as tiles, in chains and in lists with remarks."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache

from graders.extract.reading import Reading
from tasks.answers import PathForm

NUMBER = r"-?\d{1,6}(?!\d)"
NUMBERS = re.compile(r"-?\d{1,6}")
NAMED = (  # of two axes: "C3, C4" are tiles
    r"(?<![A-Za-z])(rows?|columns?|cols?"
    r"|[rcxy])[\"']?\s{0,3}[:=#_]?\s{0,3}(\d{1,6})(?!\d)[\"']?\s{0,3}(?:,|;|/|and)?\s{0,9}"
    r"[\"']?(?!\1)(rows?|columns?|cols?|[rcxy])[\"']?\s{0,3}[:=#_]?\s{0,3}(\d{1,6})(?!\d)"
)
TILE = re.compile(r"(?<![A-Za-z\d])([A-Z])([1-9]\d?)(?![A-Za-z\d])")
LETTER = re.compile(r"[^\W\d_]")
BULLET = re.compile(
    r"[ \t]*(?:(?:[-*+>]|\(?\d{1,4}[.):]|(?:step|move)s?[ _]?\d{1,4}[.):]?|\d{1,4} \|)[ \t]*){0,3}", re.I
)
MOVES = re.compile(
    r"\b(?:start(?:s|ing)?|begin(?:s|ning)?|from|at|to|then|and|next|now|finally|move[sd]?|moving|go(?:es"
    r"|ing)?|goal|end"
    r"|destination|steps?|walk|head|continue|turn|right|left|up|down|north|south|east|west|(?:up"
    r"|down)wards?|reach(?:es|ing)?"
    r"|arrive|enter|t|time|tick|waits?|waiting|stays?|staying|cells?|position|the|into|onto|in|via"
    r"|through|again|once|finish)\b"
    r"|'[^'\n]{1,12}'|\"[^\"\n]{1,12}\"|[\[(][^\[\]()\d\n]{1,30}[\])]",
    re.I,
)
BARRED = re.compile(r"(?<!not )(?:blocked|\bwall|invalid|impassable|[\"'(]#)", re.I)
APART = re.compile(
    r"\b(?:walls?|blocked|obstacles?|hidden|unknown|masked|visible|free|open|see|neighbou?rs?|dead ends?|visited)\b"
    r"(?:(?!, so\b)[^\n.!?]){0,30}$",
    re.I,
)
STEPS = re.compile(r"\b(?:to|go|move|step|enter|take|so)[\s:'\"]{0,3}$", re.I)
WAITS = re.compile(r"\b(?:wait|stay)", re.I)
TAIL = re.compile(r"(?:\s{0,3}(?:->|,)\s{0,3}[(\[]?(?:wait|stay)(?:s|ing)?\b[)\]]?){1,50}", re.I)
PAIR = re.compile(r"\bto\b|->")  # between the ends of a step
PAIRED = re.compile(r"\b(?:then|from|and|next)\b|[,;\n]", re.I)  # between two steps
CORRECTION = re.compile(
    r"\bno\b(?=\s?[,.!:;-]|\s(?:wait|actually))|\b(?:actually|wait|sorry|correction"
    r"|scratch that|i meant?|oops|rather|hm+)\b",
    re.I,
)


@lru_cache(maxsize=8)
def _cell_patterns(dims: int) -> tuple[re.Pattern[str], re.Pattern[str], re.Pattern[str]]:
    """Cells in brackets or named coordinates; bare ones, tried where the text has none of those; a list of cells
    whose coordinates are parted by blanks alone."""
    more = rf"(?:\s{{0,9}}[,;]\s{{0,9}}{NUMBER}){{{dims - 1}}}"
    nested = rf"- +-[ ]+{NUMBER}" + rf"\s{{1,20}}- +{NUMBER}" * (dims - 1)
    bare = rf"(?<![\d.,:-])(?<!\d, ){NUMBER}(?: ?, ?{NUMBER}){{{dims - 1}}}(?! ?, ?\d|[\d:])"
    spaced = rf"(?>{NUMBER}(?: {NUMBER}){{{dims - 1}}})(?! ?\d)"
    return (
        re.compile(rf"[(\[]\s{{0,9}}{NUMBER}{more},?\s{{0,9}}[)\]]" + (f"|{NAMED}" if dims == 2 else ""), re.I),
        re.compile(f"{nested}|{bare}"),
        re.compile(rf"(?<![\w.,:-])(?<![,\d] ){spaced}(?:[ \t]{{0,3}}(?:,|;|->|\n)[ \t]{{0,3}}{spaced})+(?![.:]?\d)"),
    )


def _cell(found: re.Match[str]) -> list[int]:
    """The coordinates as written; named ones as (row, column) or (x, y) in whatever order they are named."""
    if found.re.groups == 4 and found[1]:
        first, second = int(found[2]), int(found[4])
        return [second, first] if found[1][0] in "cCyY" and found[3][0] in "rRxX" else [first, second]
    if found.re is TILE:
        return [ord(found[1]) - ord("A"), int(found[2]) - 1]
    return [int(n) for n in NUMBERS.findall(found[0])]


def _wordless(text: str) -> bool:
    """Nothing but punctuation, numbers and words of movement."""
    return not LETTER.search(text) or not LETTER.search(MOVES.sub("", text))


def _leads(line: str) -> bool:
    """Whether a line that begins like this begins with its cell, bullets and words of movement aside."""
    bullet = BULLET.match(line)
    return len(line) < 60 and _wordless(line[bullet.end() if bullet else 0 :])


@dataclass
class _Run:
    """Cells that follow each other in the text, and where."""

    cells: list[list[int]]
    start: int
    end: int
    listed: bool  # its line begins with it, so the next line may go on
    lead: str  # what stands before it
    form: PathForm
    elided: bool = False
    paired: bool = False  # the cell before ended a step told as "a to b"
    jumps: int = 0  # steps to a cell that shares no side

    @property
    def solid(self) -> bool:
        return len(self.cells) > 1 and not self.jumps

    def _jump(self) -> bool:
        far = sum(abs(x - y) for x, y in zip(self.cells[-2], self.cells[-1], strict=True))
        return self.form.unit and far != 1 and not (self.form.waits and far == 0)

    def add(self, cell: list[int], gap: str) -> None:
        waits = self.form.waits and not (PAIRED.search(gap) and self.paired)
        self.paired = bool(PAIR.search(gap)) and not (self.paired and cell == self.cells[-1])
        if self.form.waits and cell != self.cells[-1] and self.cells[-1] not in self.cells[-2:-1]:
            self.cells += [self.cells[-1]] * len(WAITS.findall(gap))
        if waits or cell != self.cells[-1]:
            self.cells.append(cell)
            self.jumps += self._jump()

    def drop(self) -> None:
        if len(self.cells) > 1:
            self.jumps -= self._jump()
            self.cells.pop()


def cells_in(form: PathForm, text: str, labelled: bool) -> list[tuple[list[int], int, int]]:
    """Every cell of a text as written, with where it stands."""
    boxed, bare, spaced = _cell_patterns(form.dims)
    found = list(boxed.finditer(text))
    if not found and (listed := spaced.search(text)):
        one = re.compile(NUMBER + f" {NUMBER}" * (form.dims - 1))
        found = list(one.finditer(text, *listed.span()))
    found = found or list(bare.finditer(text))
    if not found and labelled and form.dims == 2:
        found = list(TILE.finditer(text))
    return [(_cell(match), match.start(), match.end()) for match in found]


def _runs(form: PathForm, text: str, labelled: bool) -> list[_Run]:
    runs: list[_Run] = []
    end = 0
    aside = False  # a remark has begun on the line of a listed cell
    for cell, start, stop in cells_in(form, text, labelled):
        gap, end = text[end:start], stop
        line = gap if "\n" in gap else text[max(0, start - 60) : start]
        line = line.rpartition("\n")[2]
        aside = aside and "\n" not in gap
        run = runs[-1] if runs and len(gap) <= 240 else None
        # The first cell again, and not by a walk round: the path is told once more.
        again = run and cell == run.cells[0] and len(run.cells) > 1 and ("\n" in gap or ":" in gap or run.jumps)
        if aside and not CORRECTION.search(gap):
            continue
        if run and not again and _wordless(gap):
            run.elided = run.elided or ".." in gap
        elif run and not again and run.listed and "\n" in gap and _leads(line):
            if BARRED.search(gap):  # a list of checks, and the cell before did not pass
                run.drop()
        elif run and run.listed and "\n" not in gap and text[run.end] not in ".!?" and not CORRECTION.search(gap):
            aside = True
            continue
        else:
            runs.append(_Run([cell], start, end, _leads(line), gap[-60:], form))
            continue
        run.add(cell, gap)
        run.end = end
    return runs


def _better(run: _Run, chosen: _Run | None, labelled: bool) -> bool:
    """Whether a later run of cells is rather the answer than the one chosen so far."""
    if labelled:
        if chosen is None or (run.solid and not chosen.solid) or len(chosen.cells) < 2 <= len(run.cells):
            return True
        return bool(CORRECTION.search(run.lead)) and (len(run.cells) > 1 or len(chosen.cells) == 1)
    if APART.search(run.lead) or (chosen and chosen.solid and not run.solid):
        return False
    return run.solid or len(run.cells) > 2 or bool(STEPS.search(run.lead) or CORRECTION.search(run.lead))


TUPLE = r"[(\[]\s{0,3}-?\d{1,6}(?:\s{0,3}[,;]\s{0,3}-?\d{1,6}){1,5}\s{0,3}[)\]]"
GOES_ON = re.compile(rf"\s{{0,3}}(?:,|;|->)?\s{{0,3}}{TUPLE}")
GOES_BEFORE = re.compile(rf"{TUPLE}\s{{0,3}}(?:,|;|->)?\s{{0,3}}$")


def _is_torn(run: _Run, text: str) -> bool:
    """Whether the list that a run belongs to goes on with something that is no cell: `[[0, 0], [0, 1], [1, 1, 2]]`."""
    around = GOES_ON.match(text, run.end), GOES_BEFORE.search(text[max(0, run.start - 60) : run.start])
    return any(len(NUMBERS.findall(other[0])) != run.form.dims for other in around if other)


def path(form: PathForm, text: str, labelled: bool) -> Reading:
    """A list of cells `[a, b]` as written. Where several are offered: the first one that can be walked, unless it is
    corrected; in text that nobody labelled: the last one that can be walked and is not about walls or views."""
    runs = _runs(form, text, labelled)
    chosen: _Run | None = None
    for run in runs:
        if _better(run, chosen, labelled):
            chosen = run
    if chosen is None or chosen.elided or _is_torn(chosen, text):
        return Reading(hint=bool(runs))
    if form.waits and (tail := TAIL.match(text, chosen.end)):
        chosen.cells += [chosen.cells[-1]] * len(WAITS.findall(tail[0]))
    return Reading(chosen.cells, len(chosen.cells) < 2, chosen.solid, True, text[chosen.start : chosen.end])
