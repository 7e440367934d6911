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


class FSDPModule:
    """What `fully_shard` makes of a module; there are none."""

    def __new__(cls, *args: Any, **kwargs: Any) -> NoReturn:
        """Raises NotImplementedError."""
        _refuse("FSDPModule")


class FullyShardedDataParallel(_Sharded, Module):
    """A module whose parameters are spread over processes; there are none."""


def init_device_mesh(device_type: str, mesh_shape: Any, **kwargs: Any) -> NoReturn:
    """Raises NotImplementedError: tensors are not sharded."""
    _refuse("init_device_mesh")


def distribute_tensor(tensor: Tensor, *args: Any, **kwargs: Any) -> NoReturn:
    """Raises NotImplementedError: tensors are not sharded."""
    _refuse("distribute_tensor")


def compute_local_shape_and_global_offset(global_shape: Any, mesh: Any, placements: Any) -> NoReturn:
    """Raises NotImplementedError: tensors are not sharded."""
    _refuse("compute_local_shape_and_global_offset")


def all_to_all_single_autograd(input: Tensor, *args: Any, **kwargs: Any) -> NoReturn:
    """Raises NotImplementedError: distributed.nn.functional has collectives with derivatives."""
    _refuse("all_to_all_single_autograd")


class HuggingFaceStorageReader(_Sharded):
    """Reads a model file by file for the ranks that hold its parts."""


class HuggingFaceStorageWriter(_Sharded):
    """Writes a model of which each rank holds a part."""


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
