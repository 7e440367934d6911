"""Classes of modules that are spread over processes, of which there are none."""

from adjoint_functional.distributed.plans import CPUOffload as CPUOffload
from adjoint_functional.distributed.plans import CPUOffloadPolicy as CPUOffloadPolicy
from adjoint_functional.distributed.plans import MixedPrecision as MixedPrecision
from adjoint_functional.distributed.plans import MixedPrecisionPolicy as MixedPrecisionPolicy
from adjoint_functional.distributed.plans import OffloadPolicy as OffloadPolicy
from adjoint_functional.distributed.sharding import FSDPModule as FSDPModule
from adjoint_functional.distributed.sharding import FullyShardedDataParallel as FullyShardedDataParallel
from adjoint_functional.distributed.sharding import fully_shard as fully_shard
