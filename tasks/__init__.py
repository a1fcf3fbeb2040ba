"""What is asked: one file a task, grouped by the source of grounding friction. Nothing here knows models or scores."""

from tasks.base import FAMILIES, Problem, Task, all_tasks, get_task, problem, register
from tasks.frames import FRICTIONS, Frame

__all__ = ["FAMILIES", "FRICTIONS", "Frame", "Problem", "Task", "all_tasks", "get_task", "problem", "register"]
