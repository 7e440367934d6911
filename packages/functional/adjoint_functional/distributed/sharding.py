"""What PyTorch spreads over processes by meshes, for libraries that ask what they were given. Nothing is sharded: nothing is an instance."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, NoReturn

from adjoint_core import Tensor
from adjoint_functional.nn.modules import Module


def _refuse(name: str) -> NoReturn:
    raise NotImplementedError(
        f"distributed: {name}: tensors are not sharded over processes here; nn.parallel.DistributedDataParallel is there"
    )


class _Sharded:
    def __init__(self, *args: Any, **kwargs: Any) -> None:
        _refuse(type(self).__name__)


class DTensor(Tensor):
    """A tensor of which each process holds a part; there are none."""

    def __new__(cls, *args: Any, **kwargs: Any) -> NoReturn:
        """Raises NotImplementedError."""
        _refuse("DTensor")

    @staticmethod
    def from_local(local_tensor: Tensor, *args: Any, **kwargs: Any) -> NoReturn:
        """Raises NotImplementedError."""
        _refuse("DTensor.from_local")


class DeviceMesh(_Sharded):
    """Processes as an array; there are none."""


class Placement(_Sharded):
    """How a tensor lies on a dimension of a mesh."""


class Shard(Placement):
    """Split along a dimension."""


class Replicate(Placement):
    """Whole on each process."""


class Partial(Placement):
    """Summands on each process."""


class ParallelStyle(_Sharded):
    """How a module is split."""


class ColwiseParallel(ParallelStyle):
    """By the columns of a weight."""


class RowwiseParallel(ParallelStyle):
    """By the rows of a weight."""


class SequenceParallel(ParallelStyle):
    """By the dimension of a sequence."""


class PrepareModuleInput(ParallelStyle):
    """What happens to the arguments of a module."""


class PrepareModuleOutput(ParallelStyle):
    """What happens to the result of a module."""


class FSDPModule:
    """What `fully_shard` makes of a module; there are none."""

    def __new__(cls, *args: Any, **kwargs: Any) -> NoReturn:
        """Raises NotImplementedError."""
        _refuse("FSDPModule")


class FullyShardedDataParallel(_Sharded, Module):
    """A module whose parameters are spread over processes; there are none."""


class MixedPrecisionPolicy(_Sharded):
    """In which types a sharded module computes."""


class MixedPrecision(_Sharded):
    """In which types a sharded module computes."""


class CPUOffload(_Sharded):
    """Whether parameters wait in the memory of the CPU."""


def init_device_mesh(device_type: str, mesh_shape: Any, **kwargs: Any) -> NoReturn:
    """Raises NotImplementedError: tensors are not sharded."""
    _refuse("init_device_mesh")


def distribute_tensor(tensor: Tensor, *args: Any, **kwargs: Any) -> NoReturn:
    """Raises NotImplementedError: tensors are not sharded."""
    _refuse("distribute_tensor")


def distribute_module(module: Module, *args: Any, **kwargs: Any) -> NoReturn:
    """Raises NotImplementedError: tensors are not sharded."""
    _refuse("distribute_module")


def parallelize_module(module: Module, *args: Any, **kwargs: Any) -> NoReturn:
    """Raises NotImplementedError: tensors are not sharded."""
    _refuse("parallelize_module")


def fully_shard(module: Any, **kwargs: Any) -> NoReturn:
    """Raises NotImplementedError: tensors are not sharded."""
    _refuse("fully_shard")


@contextmanager
def implicit_replication() -> Iterator[None]:
    """Tensors beside a `DTensor` count as whole on each process: there is none to be beside."""
    yield
