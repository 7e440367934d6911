"""Ranks that fail in one way or another; the first argument says how."""

from __future__ import annotations

import os
import signal
import sys
import time
from datetime import timedelta

import adjoint as ad
import adjoint.distributed as dist

how = sys.argv[1]
dist.init_process_group("mpi", timeout=timedelta(seconds=3 if how == "absent" else 60))
K, R = dist.get_world_size(), dist.get_rank()
x = ad.ones(1000)
dist.all_reduce(x)

if how == "raise" and R == 1:
    raise ValueError("a bad apple")
elif how == "raise" and R == 2:
    dist.recv(x, 1)  # a message is waited for as a collective is
elif how == "kill" and R == int(sys.argv[2]):
    os.kill(os.getpid(), signal.SIGKILL)
elif how == "random":
    seconds = float(sys.argv[2])
    model = ad.nn.parallel.DistributedDataParallel(ad.nn.Linear(50, 50))
    begun = time.monotonic()
    while True:
        if R == 1 and time.monotonic() - begun > seconds:
            os.kill(os.getpid(), signal.SIGKILL)
        model(ad.ones(5, 50)).sum().backward()
elif how == "exit" and R == 1:
    sys.exit(0)
elif how == "absent" and R == 1:
    time.sleep(5)
elif how == "caught":
    try:
        if R == 1:
            raise KeyError("not here")
        dist.barrier(async_op=True).wait()
    except dist.DistBackendError as error:
        assert error.rank == 1, error
        print(f"rank {R} saves its work: {error}", flush=True)
        sys.exit(0)
elif how == "computing" and R == 0:
    begun = time.monotonic()  # this rank is in no collective when another raises
    while time.monotonic() - begun < 1:
        ad.ones(100, 100) @ ad.ones(100, 100)
elif how == "computing" and R == 1:
    raise ValueError("a bad apple")
dist.all_reduce(x)
if how == "disagree":
    dist.set_debug_level(dist.DebugLevel.DETAIL)
    y, z = ad.ones(2, 3 + (R == 1)), ad.ones(2, dtype=ad.float64 if R == 1 else ad.float32)
    calls = [
        lambda: dist.all_reduce(x) if R else dist.broadcast(x, 0),
        lambda: dist.all_reduce(y),
        lambda: dist.all_reduce(z),
        lambda: dist.broadcast(x, int(R == 1)),
        lambda: dist.barrier() if R == 1 else dist.all_reduce(x),
    ]
    for call in calls:
        try:
            call()
        except dist.DistBackendError as error:
            print(f"rank {R}: {error}", flush=True)
        dist.all_reduce(x)  # nothing was sent: ranks can go on
print(f"rank {R} went on", flush=True)
