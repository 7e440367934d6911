"""Forked processes are no ranks: what becomes of them says nothing of the rank, and they do not hide its death."""

from __future__ import annotations

import os
import signal
import time

import adjoint as ad
import adjoint.distributed as dist

dist.init_process_group("mpi")
x = ad.ones(3)
dist.all_reduce(x)
for ending in ("exits", "is terminated", "stays"):
    child = os.fork()
    if not child:
        if ending == "exits":
            os._exit(0)  # as processes of multiprocessing do
        time.sleep(4)
        os._exit(0)
    if ending == "is terminated":
        os.kill(child, signal.SIGTERM)
    if ending != "stays":
        os.waitpid(child, 0)
        dist.all_reduce(x)
print(f"rank {dist.get_rank()} is well", flush=True)
dist.all_reduce(x)
time.sleep(0.5)
if dist.get_rank() == 1:
    os.kill(os.getpid(), signal.SIGKILL)
dist.all_reduce(x)
