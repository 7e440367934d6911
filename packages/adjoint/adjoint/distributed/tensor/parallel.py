"""How PyTorch splits modules; here they stay whole."""

from adjoint_functional.distributed.plans import ColwiseParallel as ColwiseParallel
from adjoint_functional.distributed.plans import ParallelStyle as ParallelStyle
from adjoint_functional.distributed.plans import PrepareModuleInput as PrepareModuleInput
from adjoint_functional.distributed.plans import PrepareModuleOutput as PrepareModuleOutput
from adjoint_functional.distributed.plans import RowwiseParallel as RowwiseParallel
from adjoint_functional.distributed.plans import SequenceParallel as SequenceParallel
from adjoint_functional.distributed.sharding import parallelize_module as parallelize_module
