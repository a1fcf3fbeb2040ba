"""The pytest plugin: hooks only. Nothing heavy is imported before a run needs it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from collabtax.progress import WHEN, Display, Sender, Tally

if TYPE_CHECKING:
    from collabtax.cells import Cell
    from collabtax.session import Session

SESSION: pytest.StashKey[Session] = pytest.StashKey()
PREFIX = "collabtax_"
SPENT = 12  # exit code where --max-cost was reached


def pytest_addoption(parser: pytest.Parser) -> None:
    """The options of `collabtax.options`, in a group of their own."""
    from collabtax.options import OPTIONS, flag

    group = parser.getgroup("collabtax", "collabtax: what teams of language models pay to coordinate")
    for name, kind, _, metavar, text in OPTIONS:
        how: dict[str, Any] = {"dest": PREFIX + name, "default": None, "help": text}
        if kind is bool:
            group.addoption(flag(name), action="store_const", const=True, **how)
        else:
            group.addoption(flag(name), action="append" if kind is list else "store", metavar=metavar, **how)


def pytest_configure(config: pytest.Config) -> None:
    config.addinivalue_line("markers", "study(name): a case of this study; it runs once for each of its cells")
    from collabtax.options import CHOICES

    for name in (*CHOICES["family"], *CHOICES["mode"]):
        config.addinivalue_line("markers", f"{marker(name)}: cells of this family or mode")
    if config.getoption("numprocesses", None) and config.getoption("maxschedchunk", None) is None:
        config.option.maxschedchunk = 1  # a case is a whole cell: handing them out singly keeps all workers busy
    if not hasattr(config, "workerinput"):
        config.pluginmanager.register(Controller(config), "collabtax-controller")


def pytest_unconfigure(config: pytest.Config) -> None:
    if (session := config.stash.get(SESSION, None)) is not None:
        session.close()


def given_options(config: pytest.Config) -> dict[str, Any]:
    """The options of ours that were given, by name; folders and files relative to where the user stands."""
    given = {
        k.removeprefix(PREFIX): v for k, v in vars(config.option).items() if k.startswith(PREFIX) and v is not None
    }
    for name in ("run", "report", "cassettes", "models", "baseline", "markdown"):
        if given.get(name):
            given[name] = str(config.invocation_params.dir / given[name])
    return given


def session_of(config: pytest.Config) -> Session:
    """This process's session, made when it is first needed. Raises pytest.UsageError, in one line, for bad input."""
    if SESSION not in config.stash:
        from collabtax.session import Session

        number = getattr(config, "workerinput", {}).get("collabtax_session")
        try:
            session = Session(given_options(config), Path(config.rootpath), number)
            if not session.settings.plan:
                session.check_keys()
        except ValueError as problem:
            raise pytest.UsageError(str(problem)) from None
        config.stash[SESSION] = session
    return config.stash[SESSION]


@pytest.hookimpl(tryfirst=True)
def pytest_cmdline_main(config: pytest.Config) -> None:
    if config.getoption(f"{PREFIX}plan", None) and hasattr(config.option, "numprocesses"):
        config.option.numprocesses, config.option.tx, config.option.dist = None, [], "no"  # a plan needs no workers


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    from collabtax.cells import zigzag

    study = metafunc.definition.get_closest_marker("study")
    if study is not None and "cell" in metafunc.fixturenames:
        try:
            cells = session_of(metafunc.config).settings.cells(study.args[0])
        except pytest.UsageError as problem:
            pytest.exit(str(problem), returncode=pytest.ExitCode.USAGE_ERROR)
        if workers := getattr(metafunc.config, "workerinput", {}).get("workercount"):
            from collabtax.study import get_study

            cells = zigzag(cells, workers, get_study(study.args[0]).length)
        marks = [[getattr(pytest.mark, marker(name)) for name in (c.family, c.mode)] for c in cells]
        metafunc.parametrize("cell", [pytest.param(c, id=c.id, marks=m) for c, m in zip(cells, marks, strict=True)])


def marker(name: str) -> str:
    """The marker of a family or mode: `-m "fresh and kitchen"` takes names without dashes."""
    return name.replace("-", "_")


@pytest.fixture
def run_cell(request: pytest.FixtureRequest) -> Iterator[Any]:
    """A function that runs the rollouts of a cell that are not finished and returns a line for each that failed."""
    sender, session = Sender(request.node), session_of(request.config)

    def run(cell: Cell) -> list[str]:
        todo = session.todo(cell)
        sender.tally.resumed += len(session.settings.seeds(cell)) - len(todo)
        return session.run_cell(cell, lambda rollout: sender.count(cell.id, rollout), sender.waited, todo)

    yield run
    sender.flush(cells=1)


def pytest_report_teststatus(report: Any) -> tuple[str, str, str] | None:
    return ("", "", "") if getattr(report, "when", None) == WHEN else None


class Controller:
    """The side of the process that owns the terminal: progress, plan, summary, report."""

    def __init__(self, config: pytest.Config) -> None:
        self.config = config
        self.display: Display | None = None
        self.cells: list[Cell] = []
        self.lines: list[str] = []
        self.failures: list[str] = []  # of a cluster

    @property
    def terminal(self) -> Any:
        """pytest's terminal reporter, None where it is switched off."""
        return self.config.pluginmanager.get_plugin("terminalreporter")

    @property
    def planning(self) -> bool:
        return bool(self.config.getoption(f"{PREFIX}plan", None))

    def pytest_sessionstart(self) -> None:
        """Bad input is told before anything is collected."""
        if given_options(self.config):
            session_of(self.config)

    @pytest.hookimpl(optionalhook=True)
    def pytest_configure_node(self, node: Any) -> None:
        """Every xdist worker writes into the session that the controller opened."""
        node.workerinput["collabtax_session"] = session_of(self.config).store.session

    def pytest_collection_finish(self, session: pytest.Session) -> None:
        self.select([item.nodeid for item in session.items])

    @pytest.hookimpl(optionalhook=True)
    def pytest_xdist_node_collection_finished(self, ids: Sequence[str]) -> None:
        self.select(ids)

    def select(self, ids: Sequence[str]) -> None:
        """Learn which cells will run from the ids of the cases, and whether their results can be stored."""
        if self.cells or SESSION not in self.config.stash:
            return
        session = session_of(self.config)
        known = {cell.id: cell for study in session.settings.study for cell in session.settings.cells(study)}
        self.cells = [known[name] for i in ids if (name := i.partition("[")[2][:-1]) in known]
        if not self.cells or self.planning or self.config.option.collectonly:
            return
        try:
            session.store.probe()
            if session.settings.baseline and not session.settings.update_baseline:
                from collabtax.baseline import read

                read(session.settings.baseline)
        except ValueError as problem:
            pytest.exit(str(problem), returncode=pytest.ExitCode.USAGE_ERROR)
        planned = sum(len(session.settings.seeds(c)) for c in self.cells)
        self.display = Display(self.terminal, planned, len(self.cells))

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtestloop(self) -> bool | None:
        """`--plan` prints the plan in place of running, `--dask` runs the cells elsewhere."""
        if self.display is not None and session_of(self.config).settings.dask:
            return self.run_on_cluster()
        if not self.planning or not self.cells:
            return None
        from collabtax.plan import plan

        try:
            lines = plan(self.cells, session_of(self.config))
        except (ValueError, OSError) as problem:
            raise pytest.UsageError(str(problem)) from None
        for line in lines:
            self.terminal.write_line(line) if self.terminal else print(line)
        return True

    def run_on_cluster(self) -> bool:
        """Run all cells on a Dask cluster in place of the cases."""
        from collabtax.cluster import run

        session, display = session_of(self.config), self.display
        assert display is not None
        display.tally.resumed = sum(len(session.settings.seeds(c)) - len(session.todo(c)) for c in self.cells)

        def count(cell: Cell, rollout: Any) -> None:
            tally = Tally()
            tally.count(cell.id, rollout)
            display.receive(vars(tally))

        try:
            given = given_options(self.config)
            self.failures = run(session.settings.dask, session, given, Path(self.config.rootpath), self.cells, count)
        except ValueError as problem:
            raise pytest.UsageError(str(problem)) from None
        return True

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtest_logreport(self, report: Any) -> None:
        if getattr(report, "when", None) == WHEN and self.display is not None:
            self.display.receive(dict(report.user_properties)[WHEN])

    def pytest_sessionfinish(self, session: pytest.Session) -> None:
        """Gather results and write the report, with a terminal or without."""
        if self.display is None:
            return
        from collabtax.report import finish

        settings = session_of(self.config).settings
        self.lines, verdict = finish(session_of(self.config), self.cells, self.display.tally)
        if self.failures:
            self.lines = [*self.failures[:20], *self.lines]
            session.exitstatus = pytest.ExitCode.TESTS_FAILED
        if verdict:
            session.exitstatus = verdict
        if (most := settings.max_cost) and session_of(self.config).store.spent() >= most:
            session.exitstatus = SPENT
            self.lines.insert(0, f"WARNING: --max-cost {most:g} is reached; what was not started is counted as skipped")
        if self.lines[-1].startswith("no report:") and session.exitstatus == pytest.ExitCode.OK:
            session.exitstatus = pytest.ExitCode.TESTS_FAILED  # who publishes the report must not take it for done

    def pytest_terminal_summary(self, terminalreporter: Any) -> None:
        if self.lines:
            terminalreporter.section("collabtax")
            for line in self.lines:
                terminalreporter.write_line(line)
