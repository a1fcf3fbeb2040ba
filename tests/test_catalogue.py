"""The commands for people who look at tasks: listing, gallery, playing; and tasks that come from other packages."""

import json
import sys
from xml.etree import ElementTree

import pytest

from collabtax.__main__ import main
from collabtax.catalogue import PARTS, Figures, about, babble, ceiling, chance, completions, gallery, table
from graders import grade
from tasks import Frame, all_tasks, base, get_task, problem
from tasks.base import seeded

TASKS = pytest.mark.parametrize("task", all_tasks(), ids=lambda t: t.name)


def test_tasks_are_listed(capsys):
    assert main(["tasks"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert [line.split()[0] for line in lines] == [t.name for t in all_tasks()]
    assert main(["tasks", "--json"]) == 0
    listed = json.loads(capsys.readouterr().out)
    assert [one["name"] for one in listed] == [t.name for t in all_tasks()]
    for one in listed:
        assert one["prompt"] == get_task(one["name"]).prompt
        assert set(one["sizes"]) == {"easy", "default", "hard"}
        assert one["summary"]


@TASKS
def test_the_gallery_is_up_to_date(task, root):
    """`make gallery` writes it."""
    for name, content in gallery([task]).items():
        written = (root / "docs" / name).read_text()
        if name.endswith(".md"):
            content = content.partition(f"## {task.name}\n")[2].strip()
        assert content in written, f"{name} is out of date: make gallery"
    ElementTree.fromstring((root / "docs" / "gallery" / f"{task.name}.svg").read_text())


@TASKS
def test_the_figures_are_of_this_version(task, root):
    row = next(
        (r for r in (root / "docs/tasks.md").read_text().splitlines() if f"[{task.name}](gallery.md#{task.name})" in r),
        "",
    )
    cells = [cell.strip() for cell in row.strip("|").split("|")]
    assert cells[1:2] == [str(task.version)], f"docs/tasks.md is out of date for {task.name}: make figures"
    assert cells[2:4] == [about(task)["answer"], task.rule]


@TASKS
def test_random_answers_are_well_formed_and_worth_little(task):
    for seed in range(10):
        one = problem(task, seed)
        answer = babble(task.key(one.instance), task.form(one.instance), seeded("babble", seed))
        verdict = grade(task, one.instance, answer)
        assert "not a list" not in verdict.reason
        assert "does not map" not in verdict.reason
        json.dumps(answer)
    level, added = chance(task, range(20))
    assert 0 <= level < 0.85
    assert added is None or 0 <= added <= level + 1e-9


@TASKS
def test_completions_hold_the_view_and_differ(task):
    one = problem(task, 3)
    for view in one.views:
        found = [c for c, _ in zip(completions(task, one.instance, view, seeded(1)), range(10), strict=False)]
        assert len(found) == 10
        assert all(task.merge((view, c)) == c for c in found)
        assert len(set(found)) > 1


def test_the_ceiling_of_a_task_that_half_a_view_solves_is_one():
    schedule = get_task("schedule")

    class Open(type(schedule)):  # both views hold everything
        def split(self, instance, rng):
            return instance, instance

        def rivals(self, instance, view):
            yield from ()

    assert 0 < ceiling(schedule, range(2)) < 0.8
    with pytest.raises(ValueError, match="no acceptable"):
        ceiling(Open(), range(1))


def test_the_table_states_what_was_measured():
    maze = get_task("maze")
    found = table([maze], {"maze": Figures(100, 0.25, 0.125, None, 0.5, dict.fromkeys(PARTS, 1.5))}).splitlines()
    assert len({line.count("|") for line in found}) == 1
    assert "0.25 | 0.12 |  | 0.50 | 1.50" in found[2]


def test_playing(capsys, monkeypatch, tmp_path):
    task = get_task("maze")
    one = problem(task, 7)
    right = "the walk is " + " -> ".join(f"({r}, {c})" for r, c in task.solve(one.instance))
    monkeypatch.setattr(sys, "stdin", iter([f"{right}\n", "\n", "never read\n"]))
    assert main(["play", "maze", "--seed", "7", "--svg", str(tmp_path / "m.svg")]) == 0
    said = capsys.readouterr().out
    assert all(task.render(view, Frame()) in said for view in one.views)
    assert "score 1.000" in said
    assert "a right answer" not in said
    assert "walk" in (tmp_path / "m.svg").read_text()
    monkeypatch.setattr(sys, "stdin", iter([]))
    assert main(["play", "maze", "--view", "2", "--svg", str(tmp_path / "m.svg")]) == 0
    said = capsys.readouterr().out
    assert "score 0.000" in said
    assert "View 1" not in said


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["play", "labyrinth"], "no task 'labyrinth'; known tasks: "),
        (["play", "maze", "--difficulty", "huge"], "difficulty 'huge' is none of"),
        (["play", "maze", "--friction", "much"], "friction 'much' is none of"),
    ],
)
def test_bad_input_is_said_in_one_line(arguments, said, capsys):
    assert main(arguments) == 2
    error = capsys.readouterr().err
    assert said in error
    assert error.count("\n") == 1


@pytest.fixture
def package(tmp_path, monkeypatch):
    """Installs a package of one module with an entry point, as pip would leave it."""

    def install(code):
        info = tmp_path / "elsewhere-1.0.dist-info"
        info.mkdir()
        (info / "METADATA").write_text("Metadata-Version: 2.1\nName: elsewhere\nVersion: 1.0\n")
        (info / "entry_points.txt").write_text("[collabtax.tasks]\nmine = elsewhere_tasks\n")
        (tmp_path / "elsewhere_tasks.py").write_text(code)

    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setattr("tasks.base._REGISTRY", dict(base._REGISTRY))
    base._load.cache_clear()
    yield install
    sys.modules.pop("elsewhere_tasks", None)
    base._load.cache_clear()


def test_tasks_of_other_packages_are_known(package, capsys):
    package(
        "from tasks import register\nfrom tasks.spatial.maze import MazeTask\n\n\n@register\nclass Mine(MazeTask):\n"
        "    name = 'minefield'\n"
    )
    assert get_task("minefield").family == "spatial"
    assert main(["tasks"]) == 0
    assert "minefield" in capsys.readouterr().out


def test_a_package_that_cannot_be_loaded_is_named(package, capsys):
    package("raise RuntimeError('out of order')")
    assert main(["tasks"]) == 2
    assert (
        "tasks of elsewhere_tasks (entry point 'mine') cannot be loaded: RuntimeError: out of order"
        in capsys.readouterr().err
    )
