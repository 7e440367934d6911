"""Ranks that no launcher of MPI started; the first argument says what happens, the others where they meet."""

import os
import signal
import sys

import adjoint as ad
import adjoint.distributed as dist
import adjoint.multiprocessing as mp
from adjoint.nn.parallel import DistributedDataParallel


def train(rank: int, size: int) -> None:
    ad.manual_seed(0)
    model = DistributedDataParallel(ad.nn.Linear(3, 1, bias=False))
    x = ad.arange(12.0).view(4, 3)
    share = x[rank::size]
    model(share).square().sum().mul(size).backward()  # averages over ranks: their sum
    alone = ad.nn.Linear(3, 1, bias=False)
    alone.load_state_dict(model.module.state_dict())
    alone(x).square().sum().backward()
    assert ad.allclose(model.module.weight.grad, alone.weight.grad), (model.module.weight.grad, alone.weight.grad)


def again(rank: int, size: int) -> None:
    dist.destroy_process_group()
    dist.init_process_group("gloo", rank=rank, world_size=size)
    train(rank, size)


def raises(rank: int, size: int) -> None:
    if rank == 1:
        raise ValueError("a row is missing")
    dist.barrier()


def killed(rank: int, size: int) -> None:
    if rank == 1:
        os.kill(os.getpid(), signal.SIGKILL)
    dist.barrier()


def run(rank: int, size: int, what: str, where: str) -> None:
    dist.init_process_group("gloo", init_method=where, rank=rank, world_size=size)
    assert (dist.get_rank(), dist.get_world_size()) == (rank, size)
    globals()[what](rank, size)
    print(f"rank {rank} is done\n", end="", flush=True)


if __name__ == "__main__":
    what, size, where = sys.argv[1], int(sys.argv[2]), sys.argv[3]
    mp.spawn(run, args=(size, what, where), nprocs=size)
