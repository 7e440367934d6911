"""Processes for the tests of the GPU side.

The driver, Triton's interpreter and where kernels come from are chosen once for a process, and no other test should find a GPU that is
none. So only a process that was asked for one of these folders and nothing else makes its choice; otherwise each file of them runs in a
process of its own.
"""

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

OUTSIDE = dict(os.environ)  # as it was before anything was chosen
_chosen: list[str] = []  # the folder, once its choice is made


def module_of(folder: str, choose: Callable[[], None], parent: pytest.Collector, path: Path) -> "OwnProcess | None":
    """For `pytest_pycollect_makemodule`: None where this process has made, or makes now, the choice that a folder's tests want."""
    asked = [Path(argument.partition("::")[0]).resolve() for argument in parent.config.args]
    if not all(path.is_relative_to(Path(__file__).parent / folder) for path in asked):
        return OwnProcess.from_parent(parent, path=path)
    if not _chosen:
        _chosen.append(folder)
        choose()
    return None


class OwnProcess(pytest.File):
    """A file of tests as one test, which passes if one of them has passed and none failed."""

    def collect(self) -> "list[Run]":
        return [Run.from_parent(self, name="in a process of its own")]


class Run(pytest.Item):
    def runtest(self) -> None:
        command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", str(self.path)]
        if expression := self.config.getoption("keyword"):
            command += ["-k", expression]
        done = subprocess.run(command, cwd=self.config.rootpath, env=OUTSIDE, capture_output=True, text=True, check=False)
        if done.returncode not in (0, pytest.ExitCode.NO_TESTS_COLLECTED):
            raise AssertionError(done.stdout[-4000:] + done.stderr[-2000:])
        outcome = done.stdout.rstrip().rpartition("\n")[2]
        self.add_report_section("call", "outcome", outcome)
        if " passed" not in outcome:
            pytest.skip(f"no test has run: {outcome}")

    def repr_failure(self, excinfo: pytest.ExceptionInfo[BaseException], style: object = None) -> str:
        return str(excinfo.value)
