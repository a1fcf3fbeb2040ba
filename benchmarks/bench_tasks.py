"""How long the parts of every task take, by pytest-benchmark: `pytest benchmarks/bench_tasks.py`.

A regression check is `--benchmark-save=NAME` before a change and `--benchmark-compare
--benchmark-compare-fail=median:25%` after it. Every call is about another of SEEDS instances, so that no cache of the
last one helps.
"""

import random
from itertools import cycle

import pytest

from collabtax.catalogue import PARTS
from collabtax.sim.speech import Voice
from graders import extract, grade
from tasks import Frame, all_tasks, problem

SEEDS = 10


def calls(task, part):
    """A function that does `part` once, for the next instance each time."""
    problems = [problem(task, seed) for seed in range(SEEDS)]
    answers = [task.solve(one.instance) for one in problems]
    told = [task.render(one.views[0], Frame()) for one in problems]
    voices = [Voice(random.Random(seed), task.form(one.instance)) for seed, one in enumerate(problems)]
    said = [[("agent 1", "Done."), ("agent 2", f"{v.final(a)}\nACTI!")] for v, a in zip(voices, answers, strict=True)]
    seeds = cycle(range(SEEDS))
    return {
        "problem": lambda: problem(task, next(seeds)),
        "render": lambda: task.render(problems[next(seeds)].views[0], Frame()),
        "parse": lambda: task.parse(told[next(seeds)]),
        "solve": lambda: task.solve(problems[next(seeds)].instance),
        "grade": lambda: grade(task, problems[at := next(seeds)].instance, answers[at]),
        "read": lambda: extract.read(task.form(problems[at := next(seeds)].instance), said[at]),
    }[part]


@pytest.mark.parametrize("part", [*PARTS, "read"])
@pytest.mark.parametrize("task", all_tasks(), ids=lambda t: t.name)
def test_speed(task, part, benchmark):
    benchmark.group = part
    benchmark.extra_info.update(task=task.name, part=part, version=task.version)
    benchmark(calls(task, part))
