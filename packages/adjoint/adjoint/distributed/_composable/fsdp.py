"""`distributed.fsdp` under its older name."""

from adjoint_functional.distributed.plans import MixedPrecisionPolicy as MixedPrecisionPolicy
from adjoint_functional.distributed.sharding import FSDPModule as FSDPModule
from adjoint_functional.distributed.sharding import fully_shard as fully_shard
