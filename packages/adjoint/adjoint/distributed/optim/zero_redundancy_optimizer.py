"""ZeroRedundancyOptimizer."""

from adjoint_functional.distributed.optim.zero_redundancy_optimizer import ZeroRedundancyOptimizer as ZeroRedundancyOptimizer
