"""Saves on some ranks what others load: checkpoints.py FOLDER save|load"""

import sys

import adjoint as ad
import adjoint.distributed as dist
from adjoint.distributed import checkpoint
from adjoint.distributed.checkpoint import Shard

ROWS = 7


def part(whole, rank, count):
    """The rows of a rank."""
    bounds = [ROWS * i // count for i in range(count + 1)]
    return Shard(whole[bounds[rank] : bounds[rank + 1]].clone(), (bounds[rank], 0), (ROWS, 5))


def save(folder, whole, rank, count):
    """In the foreground, and in the background while collectives go on and values change."""
    state = {
        "rows": part(whole, rank, count),
        "everywhere": whole * 2,
        f"of {rank}": ad.full((2,), float(rank)),
        "ranks": count,
    }
    checkpoint.save(state, checkpoint_id=f"{folder}/foreground")
    saving = checkpoint.async_save(state, checkpoint_id=f"{folder}/background")
    dist.all_reduce(ad.ones(3))
    state["everywhere"].zero_()
    saving.result(60)


def main(folder, task):
    dist.init_process_group("mpi")
    rank, count = dist.get_rank(), dist.get_world_size()
    whole = ad.arange(ROWS * 5.0).view(ROWS, 5)
    if task == "save":
        save(folder, whole, rank, count)
    for name in ("foreground", "background"):
        state = {"rows": part(ad.zeros(ROWS, 5), rank, count), "everywhere": ad.zeros(ROWS, 5), "of 0": ad.ones(2), "ranks": 0}
        checkpoint.load(state, checkpoint_id=f"{folder}/{name}")
        assert ad.equal(state["rows"].tensor, part(whole, rank, count).tensor) and ad.equal(state["everywhere"], whole * 2)
        assert state["of 0"].tolist() == [0, 0] and state["ranks"] == 3
    print("all checks hold", flush=True)
    dist.destroy_process_group()


if __name__ == "__main__":
    main(*sys.argv[1:])
