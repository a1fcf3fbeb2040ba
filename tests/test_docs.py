"""What the documents show works: their Python runs, their options exist, their links lead somewhere."""

import re
import shlex
import sys
import types
from pathlib import Path

import pytest
import yaml
from test_tasks import check_contract

from collabtax.models import load_model, read_models
from collabtax.options import OPTIONS, flag
from collabtax.session import Session
from tasks import all_tasks, base

ROOT = Path(__file__).resolve().parents[1]
PAGES = sorted(
    [ROOT / "README.md", ROOT / "CHANGELOG.md", ROOT / "cassettes" / "README.md", *(ROOT / "docs").glob("*.md")]
)


def blocks(language):
    for page in PAGES:
        for number, code in enumerate(
            re.findall(rf"^```{language}\n(.*?)^```", page.read_text(), re.MULTILINE | re.DOTALL)
        ):
            yield pytest.param(code, id=f"{page.name}-{number}")


@pytest.mark.parametrize("code", list(blocks("python")))
def test_python_runs(code, tmp_path, monkeypatch):
    given = {"model": ["sim/strong"], "task": ["maze"], "rollouts": 1}
    session = Session({**given, "cassettes": str(tmp_path / "c"), "run": str(tmp_path / "runs" / "my-run")}, ROOT)
    for cell in session.settings.cells("tax"):
        session.run_cell(cell, lambda rollout: None)
    session.close()
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("tasks.base._REGISTRY", dict(base._REGISTRY))
    known = {task.name for task in all_tasks()}
    module = types.ModuleType("a_document", "What a document shows.")
    monkeypatch.setitem(sys.modules, "a_document", module)  # dataclasses look their module up
    exec(compile(code, "a document", "exec"), module.__dict__)
    for task in all_tasks():
        if task.name not in known:
            check_contract(task, range(20))


@pytest.mark.parametrize("code", list(blocks("toml")))
def test_models_files_are_read(code, tmp_path):
    path = tmp_path / "models.toml"
    path.write_text(code)
    entries = read_models(path)
    assert entries
    for name in entries:
        assert load_model(name, entries).name == name


def workflows():
    for path in sorted((ROOT / "docs" / "ci").glob("*.yml")):
        for job, steps in yaml.safe_load(path.read_text())["jobs"].items():
            for number, step in enumerate(steps["steps"]):
                if "run" in step:
                    yield pytest.param(step["run"], id=f"{path.name}-{job}-{number}")


@pytest.mark.parametrize("code", [*blocks("sh"), *workflows()])
def test_commands_use_options_that_exist(code):
    known = {flag(name) for name, *_ in OPTIONS} | {
        "-n",
        "-m",
        "-k",
        "-q",
        "-r",
        "--port",
        "--nthreads",
        "--require-hashes",
    }
    for line in code.splitlines():
        words = shlex.split(line, comments=True)
        if words[:1] == ["make"]:
            assert re.search(rf"^{words[1]}:", (ROOT / "Makefile").read_text(), re.MULTILINE)
        used = [w.partition("=")[0] for w in words if w.startswith("-")]
        assert [w for w in used if w not in known and not w.startswith("--benchmark-")] == []
        assert all((ROOT / w).exists() for w in words if w.startswith("benchmarks/"))


@pytest.mark.parametrize("page", PAGES, ids=lambda p: p.name)
def test_links_lead_somewhere(page):
    for target in re.findall(r"\]\(([^)#]+)(?:#[^)]*)?\)", page.read_text()):
        assert (page.parent / target).exists(), target


def test_options_in_prose_exist():
    known = {flag(name) for name, *_ in OPTIONS} | {"--help", "--nthreads"}
    for page in PAGES:
        for option in re.findall(r"`(--[a-z][a-z-]*)", page.read_text()):
            assert option in known or option.startswith("--benchmark-"), (page.name, option)
