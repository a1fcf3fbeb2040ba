"""What stands around an answer and is peeled off before it is read; everything here is linear in the text.

Thoughts, programs and the words of others go; bold, boxes, tags, formulas, tables and fences leave their content.
A box or an answer tag becomes `<answer>...</answer>`, the only mark-up that `candidates` has to know.
"""

from __future__ import annotations

import re
import unicodedata

from graders.extract.speakers import own


class _Folder(dict[int, str]):
    """Compatibility folding character by character: normalising whole strings is quadratic in combining marks."""

    def __missing__(self, code: int) -> str:
        self[code] = unicodedata.normalize("NFKC", chr(code))
        return self[code]


FOLD = _Folder()
for _many, _one in (
    ("→⇒➔➜➝➞⟶⟹➡↦⟼►▶", "->"),
    ("−–—‒‐‑―•◦▪‣·", "-"),
    ("↔⟷⇔⇄⟺", "-"),
    ("≡", "="),
    ("≻", ">"),
    ("‘’‚‛′", "'"),
    ("“”„‟″", '"'),
    ("⟨〈", "("),
    ("⟩〉", ")"),
    ("【", "["),
    ("】", "]"),
    ("、", ","),
    ("\u200b\u200c\u200d\u2060\ufeff\ufe0f\u20e3", ""),  # invisible, or the box of a key-cap digit
):
    FOLD.update(dict.fromkeys(map(ord, _many), _one))
NON_ASCII = re.compile(r"[^\x00-\x7f]+")


def fold(text: str) -> str:
    """`text` with Unicode look-alikes (arrows, dashes, quotes, spaces, full-width signs) written in ASCII."""
    if not text.isascii():
        text = NON_ASCII.sub(lambda run: run[0].translate(FOLD), text)
    return text.replace("\r\n", "\n").replace("\r", "\n")


THOUGHT = re.compile(
    r"(?:<(?=/?\w{1,12}>)|(?-i:\[(?=/?THINK\])))(/?)(?:think|thinking|thought|reasoning|scratchpad)[>\]]", re.I
)


def without_thoughts(text: str) -> tuple[str, bool]:
    """`text` without its thinking parts, and whether one of them was left open.

    A closing tag that nothing opened ends a thought that began with the text, unless a tag came before it.
    """
    kept: list[str] = []
    inside, seen, at = False, False, 0
    for tag in THOUGHT.finditer(text):
        closing = bool(tag[1])
        if closing and not inside and not seen:
            kept.clear()
        elif not inside:
            kept.append(text[at : tag.start()])
        inside, seen, at = not closing, True, tag.end()
    if not inside:
        kept.append(text[at:])
    return "\n".join(part for part in kept if part.strip()), inside


FENCE = re.compile(r"^[ \t>]{0,8}(?:```|~~~)[\w+-]{0,20}[ \t]*$", re.M)
PROGRAM = re.compile(
    r"^(?:[ \t]{0,40}(?:(?:f?print|printf|System\.out\.print\w{0,3}|fmt\.Print\w{0,2})\s?\("
    r"|def \w|class \w{1,40}[:(]|import \w|from \w[\w.]{0,40} import|console\.log"
    r"|echo [\"'$]|println!|document\.write|(?:std::)?cout ?<<|puts [\"']|sys\.stdout|Console\.Write|alert\("
    r"|#include|elif |(?:for|while|if) [^\n]{1,120}:[ \t]*$|(?:const|let|var) \w{1,40} ?=)|[ \t]{2,40}return\b"
    r"|[^\n]{0,80}\{\}[^\n]{0,40}\.format\(|[^\n]{0,80}\bf[\"'][^\"'\n]{0,120}\{)",
    re.M,
)
TAGGED = re.compile(r"^[ \t]*<answer>", re.M | re.I)
ASSIGNS = re.compile(r"(?:[ \t]+|(?!(?:final_)?(?:answer|result|solution|path|total)\b))[a-z_]\w{0,40} ?[+-]?= ?[^=\s]")
RESUMES = re.compile(r"^\W{0,12}(?:(?:the )?final|answer)\b", re.M | re.I)


def without_code(text: str) -> str:
    """`text` without lines of a program, and without the assignments that stand right above or below them."""
    lines = text.split("\n")
    code = [bool(PROGRAM.match(line)) for line in lines]
    for ahead in (range(1, len(lines)), range(len(lines) - 2, -1, -1)):
        step = ahead.step
        for at in ahead:
            code[at] = code[at] or (code[at - step] and bool(ASSIGNS.match(lines[at])))
    return "\n".join(line for line, drop in zip(lines, code, strict=True) if not drop)


def without_programs(text: str) -> str:
    """`text` without fenced blocks that hold a line of a program, and without such lines elsewhere.

    A block that is never closed ends where an answer begins, any block where an answer tag does.
    """
    if not PROGRAM.search(text):
        return FENCE.sub("", text)
    parts = FENCE.split(text)
    for number, part in enumerate(parts):
        if not PROGRAM.search(part):
            continue
        if number % 2 == 0:
            parts[number] = without_code(part)
        else:
            resumed = RESUMES.search(part) if number == len(parts) - 1 else TAGGED.search(part)
            parts[number] = part[resumed.start() :] if resumed else ""
    return "\n".join(parts)


BRACE = re.compile(r"(\\(?:boxed|fbox)\s{0,3})?\{|\}")
LATEX = [
    (
        re.compile(
            r"\\(?:text|textbf|textit|textsf|texttt|textrm|textsc|emph|underline|mathrm|mathbf|mathit|mathsf|mathtt|"
            r"operatorname|mbox)\s?\{([^{}]*)\}"
        ),
        r"\1",
    ),
    (re.compile(r"(?<=\d)\\[,;:! ](?=\d{3}(?!\d))|(?<=[-+])\\[,;:! ](?=\d)"), ""),  # 1\,234
    (re.compile(r"\\\\(?:\s?\[\d[^\[\]\n]{0,9}\])?"), "\n"),
    (re.compile(r"\\(?:begin|end)\s?\{[A-Za-z]{1,20}\*?\}(?:\s?\{[lcr|@ ]{0,40}\})?"), "\n"),
    (re.compile(r"(?<!\\)&(?!\w{1,6};)"), " "),
    (
        re.compile(
            r"\\(?:long)?(?:[rR]ightarrow|to|implies|mapsto|leadsto"
            r"|xrightarrow(?:\s?\{(?:[^{}]|\{[^{}]{0,20}\}){0,60}\})?)(?![A-Za-z])"
        ),
        "->",
    ),
    (re.compile(r"\\(?:long)?[lL]eftrightarrow(?![A-Za-z])"), "-"),
    (re.compile(r"\\(?:succ|gt)(?![A-Za-z])"), ">"),
    (re.compile(r"\\(?:prec|lt)(?![A-Za-z])"), "<"),
    (re.compile(r"\\(?:triangle|therefore|approx|sum)(?![A-Za-z])"), " "),
    (re.compile(r"\\(?:left|right|quad|qquad|displaystyle|big[lr]?|[,;:! \[\]()])(?![A-Za-z])"), " "),
    (re.compile(r"\\(?:text)?color\s?\{[^{}]*\}"), " "),
    (re.compile(r"\\langle(?![A-Za-z])"), "("),
    (re.compile(r"\\rangle(?![A-Za-z])"), ")"),
    (re.compile(r"\{([:,;.])\}"), r"\1"),
    (re.compile(r"\\([_{}#%&$])"), r"\1"),
    (re.compile(r"\$"), " "),
]
SUBSCRIPT = re.compile(r"(?<![A-Za-z\d_])([a-z])_\{?(\d{1,3})\}?(?![\w{])")


def without_formulas(text: str) -> str:
    """`text` with boxes as answer tags, braces matched, and other LaTeX reduced to its content."""
    if "\\" not in text and "$" not in text:
        return text
    text = SUBSCRIPT.sub(r"\1\2", text)
    parts: list[str] = []
    boxes: list[bool] = []  # for each open brace, whether it is a box's
    at = 0
    for brace in BRACE.finditer(text):
        opens = brace[0] != "}"
        if opens:
            boxes.append(bool(brace[1]))
        if boxes and (boxes[-1] if opens else boxes.pop()):
            parts += text[at : brace.start()], "<answer>" if opens else "</answer>"
            at = brace.end()
    text = "".join([*parts, text[at:]])
    for _ in range(2):  # \text within \mathbf
        text = LATEX[0][0].sub(LATEX[0][1], text)
    for pattern, plain in LATEX[1:]:
        text = pattern.sub(plain, text)
    return text


ANSWER = re.compile(r"<(/?) ?(?:final[_ -]?)?(?:answer|final)>", re.I)
BREAK = re.compile(r"<(?:br|li|tr|p|/p|/tr|/li)\b ?/?>", re.I)
TAG = re.compile(r"</?(?!/?answer>)[A-Za-z][\w-]{0,20}(?: [^<>\n]{0,80})?/?>")
RULE = re.compile(r"^[ \t]*\|?(?:[ \t]*:?-+:?[ \t]*\|)+[ \t:-]*$", re.M)
EDGE = re.compile(r"^[ \t]*\|[ \t]*|(?<![ \t])[ \t]*\|[ \t]*$", re.M)
MARKS = re.compile(
    r"\*\*|__(?=\w)|(?<=\w)__|`|(?<![\w*])\*(?=[^\s*])|(?<=[^\s*])\*(?![\w*])"
    r"|(?<!\w)_(?=\d[\d,.]{0,20}_(?!\w))|(?<=\d)_(?!\w)"
)
STRUCK = re.compile(r"(?<![\w~])~~(?=[^\s~])[^~\n]{1,300}~~(?![\w~])|<(del|strike)>[^<\n]{1,300}</\1>", re.I)


def peel(text: str) -> tuple[str, bool]:
    """What a message says without its wrappers, and whether it breaks off inside one of them.

    Turns of others that the speaker wrote itself count for nothing; see `speakers`.
    """
    text, cut = without_thoughts(text)
    text = without_formulas(STRUCK.sub(" ", without_programs(fold(own(text)).strip())))
    if "<" in text:
        text = TAG.sub(" ", BREAK.sub("\n", ANSWER.sub(r"<\1answer>", text)))
        cut = cut or text.count("<answer>") > text.count("</answer>")
    if "|" in text:
        text = EDGE.sub("", RULE.sub("", text))
    return MARKS.sub("", text).strip(), cut
