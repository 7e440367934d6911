"""Which part of a sharded tensor a process holds: none is sharded."""

from adjoint_functional.distributed.sharding import (
    compute_local_shape_and_global_offset as compute_local_shape_and_global_offset,
)
