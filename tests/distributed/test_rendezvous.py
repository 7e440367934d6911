"""Processes that no launcher of MPI started: PyTorch's programs start them by `multiprocessing.spawn`, or by hand."""

import os
import subprocess
import sys
import time
from pathlib import Path

import pytest

PROGRAM = str(Path(__file__).parent / "programs" / "met.py")


def outcome(what: str, where: str, ranks: int = 2, **environment: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, PROGRAM, what, str(ranks), where]
    return subprocess.run(command, capture_output=True, text=True, timeout=120, env={**os.environ, **environment}, check=False)


@pytest.mark.parametrize("what", ["train", "again"])
def test_spawned_processes_are_ranks(what, tmp_path):
    done = outcome(what, f"file://{tmp_path}/meeting", 3)
    assert done.returncode == 0, done.stderr
    assert sorted(done.stdout.split("\n")) == ["", *(f"rank {r} is done" for r in range(3))]


def test_by_an_address_in_variables():
    done = outcome("train", "env://", MASTER_ADDR="localhost", MASTER_PORT="29611")
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize(
    ("what", "why"), [("raises", "ValueError: a row is missing"), ("killed", "signal SIGKILL|rank 1 died")]
)
def test_the_error_of_a_rank_ends_all(what, why, tmp_path):
    start = time.monotonic()
    done = outcome(what, f"file://{tmp_path}/meeting")
    assert done.returncode != 0 and any(w in done.stderr for w in why.split("|")), done.stderr
    assert time.monotonic() - start < 40


def start_by_hand(code: str, **environment: str) -> subprocess.Popen[str]:
    code = f"import adjoint as ad, adjoint.distributed as dist\n{code}"
    return subprocess.Popen(
        [sys.executable, "-c", code],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env={**os.environ, **environment},
    )


def test_started_by_hand_with_the_variables_of_torchrun():
    code = "dist.init_process_group(); x = ad.ones(2); dist.all_reduce(x); assert x.tolist() == [2, 2]; print(dist.get_rank())"
    place = {"MASTER_ADDR": "127.0.0.1", "MASTER_PORT": "29612", "WORLD_SIZE": "2"}
    ranks = [start_by_hand(code, RANK=str(r), **place) for r in (1, 0)]
    assert [rank.communicate(timeout=60)[0] for rank in ranks] == ["1\n", "0\n"]


def test_who_does_not_come_is_named(tmp_path):
    code = f"import datetime\ndist.init_process_group('gloo', 'file://{tmp_path}/m', datetime.timedelta(seconds=3), 3, 0)"
    _, words = start_by_hand(code).communicate(timeout=60)
    assert "DistError: init_process_group: ranks [1, 2] of 3 did not come" in words
    code = f"import datetime\ndist.init_process_group('gloo', 'file://{tmp_path}/m', datetime.timedelta(seconds=1), 3, 2)"
    _, words = start_by_hand(code).communicate(timeout=60)
    assert "DistError: init_process_group: rank 2 of 3 waited for rank 0" in words


def test_ranks_that_disagree(tmp_path):
    ranks = [
        start_by_hand(f"dist.init_process_group('gloo', 'file://{tmp_path}/m', None, {size}, {rank})")
        for rank, size in ((0, 2), (1, 3))
    ]
    words = [rank.communicate(timeout=60)[1] for rank in ranks]
    assert "rank 0 expects 2 ranks, another calls itself 1 of 3" in words[0]
    assert "DistError: init_process_group: rank 0 ended before all ranks were there" in words[1]


@pytest.mark.parametrize(
    ("arguments", "why"),
    [
        ("'gloo', 'tcp://x:1', None, 2, 2", r"a world of 2 needs rank in \[0, 1\], got 2"),
        ("'gloo', 'tcp://x:1', None, 2", r"a world of 2 needs rank in \[0, 1\], got -1"),
        ("'gloo', 'http://x:1', None, 2, 0", "init_method must begin with env://, tcp:// or file://, got 'http://x:1'"),
        ("'gloo', None, None, 2, 0", "environment variable MASTER_ADDR expected, but not set"),
        (
            "'nccl', None, None, 3, 7",
            "Error initializing torch.distributed using env:// rendezvous",
        ),  # before what else is wrong
        ("'nccl', None, None, 1, 0", 'backend must be "mpi"'),
    ],
)
def test_bad_places(arguments, why):
    _, words = start_by_hand(f"dist.init_process_group({arguments})").communicate(timeout=60)
    assert why.replace("\\", "") in words.splitlines()[-1]
