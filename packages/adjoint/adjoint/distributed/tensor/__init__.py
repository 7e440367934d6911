"""Classes of tensors that are spread over processes, of which there are none."""

from adjoint_functional.distributed.plans import Partial as Partial
from adjoint_functional.distributed.plans import Placement as Placement
from adjoint_functional.distributed.plans import Replicate as Replicate
from adjoint_functional.distributed.plans import Shard as Shard
from adjoint_functional.distributed.plans import _StridedShard as _StridedShard
from adjoint_functional.distributed.sharding import DeviceMesh as DeviceMesh
from adjoint_functional.distributed.sharding import DTensor as DTensor
from adjoint_functional.distributed.sharding import distribute_module as distribute_module
from adjoint_functional.distributed.sharding import distribute_tensor as distribute_tensor
from adjoint_functional.distributed.sharding import init_device_mesh as init_device_mesh
