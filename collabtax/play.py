"""A task in the terminal, for its author and for anybody who wants to know what is asked."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

from collabtax.catalogue import drawn
from collabtax.cells import printable
from graders import extract, grade
from tasks import Task, problem


def play(task: Task[Any], seed: int, difficulty: str, friction: str, view: int | None, svg: Path | None) -> None:
    """Show the task and its views, read an answer from the terminal, and show how it was read and graded.

    The answer is what is typed up to an empty line, in any form in which a model might give it; nothing gives up.
    The drawing of the instance with the answer on it goes to `svg`.
    """
    one = problem(task, seed, difficulty, friction)
    print(f"{task.name}, seed {seed}, {difficulty}\n\n{task.prompt}")
    for number, (part, frame) in enumerate(zip(one.views, one.frames, strict=True), 1):
        if view in (None, number):
            print(f"\nView {number}:\n{task.render(part, frame)}")
    print("\nYour answer, then an empty line:", flush=True)
    lines: list[str] = []
    for line in sys.stdin:
        if not line.strip() and lines:
            break
        lines.append(line.rstrip("\n"))
    answer = extract.read(task.form(one.instance), [("player", "FINAL: " + "\n".join(lines))])
    verdict = grade(task, one.instance, answer.answer)
    right = json.dumps(task.solve(one.instance))
    print(f"read as: {printable(json.dumps(answer.answer))} ({answer.warning})")
    print(f"score {verdict.score:.3f}: {printable(verdict.reason)}")
    if not verdict.success:
        print(f"a right answer: {right}")
    path = svg or Path(f"{task.name}-{seed}.svg")
    path.write_text(drawn(task, one, answer.answer), encoding="utf-8")
    print(f"drawn in {path}")
