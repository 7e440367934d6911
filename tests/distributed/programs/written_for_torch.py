"""A program written for PyTorch, as it stands; the test knows what PyTorch 2.13 prints on two ranks."""

import torch
import torch.distributed as dist
import torch.distributed.nn.functional as DF
import torch.nn as nn
import torch.optim as optim
from torch.distributed.algorithms.ddp_comm_hooks import default_hooks as default
from torch.distributed.optim import ZeroRedundancyOptimizer
from torch.nn.parallel import DistributedDataParallel as DDP
from torch.utils.data import DataLoader, TensorDataset
from torch.utils.data.distributed import DistributedSampler


def main():
    dist.init_process_group("gloo")
    rank, world = dist.get_rank(), dist.get_world_size()
    xs = torch.arange(64.0).reshape(32, 2) / 64
    data = TensorDataset(xs, xs.sum(1, keepdim=True) ** 2)
    sampler = DistributedSampler(data, shuffle=False)
    loader = DataLoader(data, batch_size=4, sampler=sampler)
    for make, hook in (
        (optim.SGD, None),
        (lambda p, lr: ZeroRedundancyOptimizer(p, optim.Adam, lr=lr), default.fp16_compress_hook),
    ):
        model = nn.Sequential(nn.Linear(2, 4), nn.Tanh(), nn.Linear(4, 1))
        with torch.no_grad():
            for i, p in enumerate(model.parameters()):
                p.copy_(torch.linspace(-1, 1, p.numel()).reshape(p.shape) * (i + 1) / 4)
        ddp = DDP(model)
        if hook is not None:
            ddp.register_comm_hook(None, hook)
        opt = make(ddp.parameters(), lr=0.05)
        for epoch in range(3):
            sampler.set_epoch(epoch)
            for x, y in loader:
                opt.zero_grad()
                loss = nn.functional.mse_loss(ddp(x), y)
                loss.backward()
                opt.step()
            t = torch.tensor([loss.item()])
            dist.all_reduce(t, op=dist.ReduceOp.SUM)
            if rank == 0:
                print(f"epoch {epoch} {t.item() / world:.3f}")
    x = torch.tensor([1.0, 2.0]) * (rank + 1)
    x.requires_grad_()
    y = torch.stack(list(DF.all_gather(x))).prod(0).sum() * (rank + 1)
    y.backward()
    got = [torch.zeros(2) for _ in range(world)]
    dist.all_gather(got, x.grad)
    objects = [None] * world
    dist.all_gather_object(objects, {"rank": rank})
    group = dist.new_group([0, 1])
    t = torch.full((1,), float(rank))
    dist.broadcast(t, src=1, group=group, async_op=True).wait()
    if rank == 0:
        print([g.tolist() for g in got], objects, t.item())
    dist.barrier()
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
