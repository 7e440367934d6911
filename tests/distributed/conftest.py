"""Tests of more than one process: each starts mpiexec once, on a program of checks."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

PROGRAMS = Path(__file__).parent / "programs"
# Open MPI refuses to run as root, which tests in containers are; kernels with one thread leave the cores to the ranks.
ROOT = {"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1", "OMP_NUM_THREADS": "1"}
Start = Callable[..., subprocess.CompletedProcess[str]]


@pytest.fixture
def start() -> Start:
    """Runs a program on some ranks: ``start("collectives.py", 3, ...)``. One that does not end in time fails the test."""

    def run(
        program: str, ranks: int, *arguments: str, seconds: float = 120, **environment: str
    ) -> subprocess.CompletedProcess[str]:
        what = [str(PROGRAMS / program)] if program.endswith(".py") else ["-m", program]
        command = [sys.executable, "-m", "adjoint.distributed.run", "-n", str(ranks), *what, *arguments]
        outside = {k: v for k, v in os.environ.items() if not k.startswith("ADJOINT_DISTRIBUTED")}
        process = subprocess.Popen(
            command,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            env={**outside, **ROOT, **environment},
            start_new_session=True,
        )
        try:
            out, err = process.communicate(timeout=seconds)
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGTERM)
            try:
                out, err = process.communicate(timeout=10)
            except subprocess.TimeoutExpired:
                os.killpg(process.pid, signal.SIGKILL)
                out, err = process.communicate()
            pytest.fail(f"{program} on {ranks} ranks hangs:\n{out[-3000:]}\n{err[-3000:]}")
        return subprocess.CompletedProcess(command, process.returncode, out, err)

    return run


@pytest.fixture
def checks(start: Start) -> Callable[..., None]:
    """Runs all checks of a program, which says when it has done them."""

    def run(program: str, ranks: int, **environment: str) -> None:
        done = start(program, ranks, **environment)
        assert done.returncode == 0, done.stdout[-2000:] + done.stderr[-4000:]
        assert done.stdout.count("all checks hold") == ranks, done.stdout

    return run
