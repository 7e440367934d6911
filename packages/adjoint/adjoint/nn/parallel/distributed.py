"""DistributedDataParallel."""

from adjoint_functional.nn.parallel.distributed import DistributedDataParallel as DistributedDataParallel
