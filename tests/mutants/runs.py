"""Runs of tests in forks of this process, which has imported all but the package already."""

import functools
import json
import os
import resource
import signal
import sys
import tempfile
import threading
import time
from pathlib import Path
from types import FrameType
from typing import Any, Protocol

# ruff: noqa: F401 - imported once here, not in every run
import hypothesis.extra.numpy
import numpy as np
import pytest
import scipy.optimize
import scipy.special
import scipy.stats

OPTIONS = [
    *("-q", "-p", "no:cacheprovider", "-m", "not slow and not browser"),
    *("-W", "ignore::pytest.PytestAssertRewriteWarning"),  # of what is imported here already
]


class Plugin(Protocol):
    """Something that pytest tells what happens, with a result to send back."""

    def start(self) -> None:
        """Prepare what has to be ready before the package is imported."""

    def result(self) -> Any:
        """Return what becomes JSON."""


class Calls:
    """Which functions of the package each test calls, how long it takes, and whether it passes.

    Functions that run while a module is imported are called only once, so they count for all tests.
    The same holds for shared fixtures, and for results that a function keeps.
    """

    def __init__(self, package: Path, rooms: tuple[str, ...]) -> None:
        self.package, self.rooms = f"{package}/", rooms
        self.codes: dict[int, Any] = {}  # by identity: a hash of code goes through all of it
        self.of_fixture: dict[str, dict[int, Any]] = {}
        self.at_import: dict[int, Any] = {}
        self.tests: dict[str, Any] = {}
        self.failed: set[str] = set()

    def start(self) -> None:
        threading.settrace(self._see)
        sys.settrace(self._see)

    def _see(self, frame: FrameType, event: str, _: Any) -> None:
        code = frame.f_code
        if event != "call" or id(code) in self.codes:
            return
        self.codes[id(code)] = code
        if code.co_filename.startswith(self.package):
            above = frame.f_back
            while above is not None:
                if above.f_code.co_name == "<module>" and self.package in above.f_code.co_filename:
                    self.at_import[id(code)] = code
                above = above.f_back

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_protocol(self, item: pytest.Item) -> Any:
        for name, module in list(sys.modules.items()):
            if name.startswith(tuple(f"rue.{room}" for room in self.rooms)):
                for value in vars(module).values():
                    if isinstance(value, functools._lru_cache_wrapper):
                        value.cache_clear()
        self.codes = {}
        begin = time.process_time()
        outcome = yield
        seconds, codes = time.process_time() - begin, dict(self.codes)
        for name in getattr(item, "fixturenames", ()):
            codes |= self.of_fixture.get(name, {})
        self.tests[item.nodeid] = {"seconds": seconds, "calls": self._names(codes)}
        return outcome

    @pytest.hookimpl(wrapper=True)
    def pytest_fixture_setup(self, fixturedef: Any) -> Any:
        outer, self.codes = self.codes, {}
        outcome = yield
        self.of_fixture.setdefault(fixturedef.argname, {}).update(self.codes)
        self.codes |= outer
        return outcome

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        if not report.passed:
            self.failed.add(report.nodeid)

    def _names(self, codes: dict[int, Any]) -> list[str]:
        return sorted(
            f"{code.co_filename.removeprefix(self.package)}:{code.co_firstlineno}"
            for code in codes.values()
            if code.co_filename.startswith(self.package) and code.co_name != "<module>"
        )

    def result(self) -> Any:
        passed = {name: test for name, test in self.tests.items() if name not in self.failed}
        return {"tests": passed, "at_import": self._names(self.at_import)}


class First:
    """The first test that fails, of chosen ones in the given order."""

    def __init__(self, tests: list[str]) -> None:
        self.order = {test: place for place, test in enumerate(tests)}
        self.failed: str | None = None

    def start(self) -> None:
        pass

    @pytest.hookimpl(trylast=True)
    def pytest_collection_modifyitems(self, items: list[pytest.Item]) -> None:
        items[:] = sorted(
            (item for item in items if item.nodeid in self.order),
            key=lambda item: self.order[item.nodeid],
        )

    def pytest_collectreport(self, report: pytest.CollectReport) -> None:
        if report.failed:
            self.failed = self.failed or f"import of {report.nodeid}"

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        if report.failed:
            self.failed = self.failed or report.nodeid

    def result(self) -> Any:
        return self.failed


def run(copy: Path, plugin: Plugin, arguments: list[str], limit: float, *, keep: bool) -> Any:
    """Run pytest in a fork on the copy, and return the plugin's result.

    It is "timeout" after so many seconds of the processor, or ten times as many of the clock (a
    busy machine is no hang), and "crash" if the process dies or pytest cannot start.
    Code is kept compiled only on request: a mutant's must not be taken for that of the next.
    """
    with tempfile.TemporaryDirectory() as folder:
        answer = Path(folder, "answer.json")
        process = os.fork()
        if not process:
            try:
                os.setsid()
                resource.setrlimit(resource.RLIMIT_CPU, (round(limit), round(limit) + 1))
                os.chdir(copy)
                for number in (1, 2):
                    os.dup2(os.open(os.devnull, os.O_WRONLY), number)
                os.environ["PYTHONPATH"] = str(copy / "src")
                sys.path[:0] = [str(copy / "src")]
                sys.dont_write_bytecode = not keep
                plugin.start()
                code = pytest.main([*OPTIONS, *arguments], plugins=[plugin])
                sys.settrace(None)
                if code in (0, 1, 2, 5):  # passed, failed, not collected, none
                    answer.write_text(json.dumps(plugin.result()))
            finally:
                os._exit(0)
        begin = time.monotonic()
        while (state := os.waitpid(process, os.WNOHANG)) == (0, 0):
            if time.monotonic() - begin > 10 * limit:
                os.killpg(process, signal.SIGKILL)
                os.waitpid(process, 0)
                return "timeout"
            time.sleep(0.05)
        if os.WIFSIGNALED(state[1]) and os.WTERMSIG(state[1]) == signal.SIGXCPU:
            return "timeout"
        return json.loads(answer.read_text()) if answer.exists() else "crash"
