"""Tensors among Dask's processes: in frames of their own, as NumPy arrays go.

What passes the scheduler is asked for in pickles of protocol 4, which copy all elements twice at each end; what Dask has a function for is not pickled.
"""

import pickle
from types import ModuleType
from typing import Any

from adjoint_core import Tensor


def _serialize(x: Tensor) -> tuple[dict[str, Any], list[Any]]:
    """Header and frames of a tensor; what only cloudpickle knows how to send (classes and attributes of a user) is left to it."""
    if x.__dict__ or not type(x).__module__.startswith("adjoint"):
        raise NotImplementedError(type(x).__name__)
    frames: list[pickle.PickleBuffer] = []
    header = {"pickle": pickle.dumps(x, protocol=5, buffer_callback=frames.append)}
    return header, [memoryview(frame) for frame in frames]


def _deserialize(header: dict[str, Any], frames: list[Any]) -> Tensor:
    return pickle.loads(header["pickle"], buffers=frames)


def add(protocol: ModuleType) -> None:
    """To `distributed.protocol`: subclasses of tensors are found by their bases."""
    protocol.dask_serialize.register(Tensor, _serialize)
    protocol.dask_deserialize.register(Tensor, _deserialize)
