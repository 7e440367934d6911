"""How PyTorch splits modules; here they stay whole."""

from adjoint_functional.distributed.sharding import ColwiseParallel as ColwiseParallel
from adjoint_functional.distributed.sharding import ParallelStyle as ParallelStyle
from adjoint_functional.distributed.sharding import PrepareModuleInput as PrepareModuleInput
from adjoint_functional.distributed.sharding import PrepareModuleOutput as PrepareModuleOutput
from adjoint_functional.distributed.sharding import RowwiseParallel as RowwiseParallel
from adjoint_functional.distributed.sharding import SequenceParallel as SequenceParallel
from adjoint_functional.distributed.sharding import parallelize_module as parallelize_module
