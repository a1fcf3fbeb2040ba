"""Every task against an oracle that shares no code with it: the solver's answer is right, and where a score compares
with one answer it is the only one."""

from __future__ import annotations

import importlib
import inspect
import pkgutil

import oracles
import pytest

from graders import grade
from tasks import all_tasks, problem

MODULES = [importlib.import_module(f"oracles.{module.name}") for module in pkgutil.iter_modules(oracles.__path__)]
FOUND = {
    name: found
    for module in MODULES
    for name, found in inspect.getmembers(module, inspect.isfunction)
    if found.__module__ == module.__name__ and not name.startswith("_")
}
SEVERAL = {name for module in MODULES for name in getattr(module, "SEVERAL", ())}
TASKS = {task.name: task for task in all_tasks()}


def test_every_oracle_is_one_of_a_task():
    assert set(FOUND) <= set(TASKS)
    assert set(FOUND) >= SEVERAL
    ours = {name for name, task in TASKS.items() if type(task).__module__.startswith("tasks.")}
    assert ours - set(FOUND) == {"maze", "relaquery", "schedule"}, "these three have theirs in test_graders.py"


@pytest.mark.parametrize("name", sorted(FOUND))
def test_solver_and_grader_agree_with_the_oracle(name):
    task = TASKS[name]
    for difficulty, seeds in (("easy", 10), ("default", 20)):
        for seed in range(seeds):
            instance = problem(task, seed, difficulty).instance
            right = FOUND[name](instance)
            assert right, seed
            if name not in SEVERAL:
                assert len(right) == 1, f"seed {seed}: {len(right)} answers are right, and the grader knows one"
            for answer in right:
                verdict = grade(task, instance, answer)
                assert verdict.success, (seed, answer, verdict.reason)
            assert grade(task, instance, task.solve(instance)).success
