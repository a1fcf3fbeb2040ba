"""Independent ways to find right answers: another library, SAT, brute force. Nothing here uses a task's own solver.

Each function is named after its task; it takes an instance and returns the list of all right answers, in the shape in
which the task's solver gives one. A module's `SEVERAL` names the tasks whose graders accept each of several answers.
`tests/test_oracles.py` runs them all.
"""
