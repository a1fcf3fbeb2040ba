"""A task in one file: every mode, the simulated models, the report and the contract work, nothing else changed."""

import random
import re
from dataclasses import dataclass

import pytest
from test_report import browsed
from test_tasks import check_contract

from collabtax.progress import Tally
from collabtax.report import finish
from collabtax.session import Session
from tasks import Task, base, drawing
from tasks.answers import ChoiceKey, SlotForm
from tasks.base import register

TOY = "Add the two numbers of each line and read the sum as an hour. Give each line's name and that hour: `w: 03:00`."


@dataclass(frozen=True)
class Numbers:
    """(line, first number or None, second number or None)."""

    lines: tuple[tuple[str, int | None, int | None], ...]


class ToyTask(Task[Numbers]):
    name, family, version, rule, prompt = "toy", "csp", 1, "choices", TOY

    def sample(self, rng, difficulty):
        count = {"easy": 2, "default": 3, "hard": 5}[difficulty]
        return Numbers(tuple((name, rng.randrange(1, 10), rng.randrange(1, 10)) for name in "abcdefgh"[:count]))

    def split(self, instance, rng: random.Random):
        return tuple(
            Numbers(tuple((n, a if seat == 0 else None, b if seat == 1 else None) for n, a, b in instance.lines))
            for seat in (0, 1)
        )

    def merge(self, views):
        lines = []
        for parts in zip(*(v.lines for v in views), strict=True):
            known = [{p[i] for p in parts} - {None} for i in (1, 2)]
            if any(len(k) > 1 for k in known):
                raise ValueError(f"line {parts[0][0]} is told in two ways")
            lines.append((parts[0][0], *(k.pop() if k else None for k in known)))
        return Numbers(tuple(lines))

    def render(self, view, frame):
        head = {"none": "Order: first, second\n", "natural": "", "strong": f"Unit: 1/{frame.variant}\n"}[frame.friction]
        unit = frame.variant if frame.friction == "strong" else 1
        return head + "\n".join(
            f"{n} has {'?' if a is None else a * unit} and {'?' if b is None else b * unit}" for n, a, b in view.lines
        )

    def parse(self, text):
        unit = int(m[1]) if (m := re.search(r"^[\s>]*Unit: 1/(\d+)$", text, re.MULTILINE)) else 1
        found = re.findall(r"^[\s>]*(\w) has (\?|\d+) and (\?|\d+)$", text, re.MULTILINE)
        if not found:
            raise ValueError("no numbers in the text")
        return Numbers(
            tuple(
                (n, *(None if x == "?" else int(x) // unit for x in (a, b)))
                for n, a, b in {f[0]: f for f in found}.values()
            )
        )

    def solve(self, view):
        return {n: f"{(a or 0) + (b or 0):02d}:00" for n, a, b in view.lines}

    def key(self, instance):
        return ChoiceKey({event: frozenset({hour}) for event, hour in self.solve(instance).items()})

    def form(self, view):
        return SlotForm(tuple(n for n, _, _ in view.lines))

    def rivals(self, instance, view):
        hidden = [(n, a if v is not None else a % 9 + 1, b if w is not None else b % 9 + 1)
                  for (n, a, b), (_, v, w) in zip(instance.lines, view.lines, strict=True)]  # fmt: skip
        yield Numbers(tuple(hidden))

    def corrupt(self, view, rng):
        n, a, b = view.lines[0]
        return Numbers(((n, a and a % 9 + 1, b if a else b % 9 + 1), *view.lines[1:]))

    def draw(self, instance, answer, where):
        told = f"{self.solve(instance)} {str(where)[:80]}"
        return drawing.svg(200, 40, [drawing.text(10, 20, told, "", "start")], "the sums")


@pytest.fixture
def toy():
    base.all_tasks()
    register(ToyTask)
    yield base.get_task("toy")
    del base._REGISTRY["toy"]


def test_a_task_in_one_file_runs_everywhere(toy, tmp_path, root):
    check_contract(toy, range(20))
    given = {
        "model": ["sim/weak", "sim/strong"], "pair": ["sim/weak,sim/strong"], "task": ["toy"], "rollouts": 6,
        "cassettes": str(tmp_path / "c"), "run": str(tmp_path / "r"),
    }  # fmt: skip
    session, tally = Session(given, root), Tally()
    cells = session.settings.cells("tax")
    assert {c.mode for c in cells} == {"solo", "half", "homo", "hetero"}
    for cell in cells:
        assert session.run_cell(cell, lambda rollout, cell=cell: tally.count(cell.id, rollout)) == []
    lines, _ = finish(session, cells, tally)
    session.close()
    assert any("planned 60 = scored 60" in line for line in lines), lines
    report = tmp_path / "r" / "report"
    shown = browsed(session)
    assert len(shown) == 60
    assert all("the sums" in str(one) for one in shown.values()), "each is drawn"
    assert "toy" in (report / "tax.html").read_text()
