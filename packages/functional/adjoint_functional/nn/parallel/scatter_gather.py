"""Batches split over devices and put together again."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import adjoint_core as core
from adjoint_core import Tensor
from adjoint_core import device as Device

__all__ = ["gather", "scatter", "scatter_kwargs"]


def _remade(kind: Any, values: Any) -> Any:
    return kind(*values) if hasattr(kind, "_fields") else kind(values)


def _device(target: Any) -> Device:
    return Device("cuda", target) if isinstance(target, int) else Device(target)


def scatter(inputs: Any, target_gpus: Sequence[Any], dim: int = 0) -> Any:
    """A list with what each device gets: chunks of tensors along ``dim``, in the containers they were in; of anything else each gets it all.

    Arguments:
        target_gpus: numbers of GPUs, or devices.

    Raises:
        RuntimeError: there is a tensor, and no device.

    Example::

        >>> [part["x"].tolist() for part in scatter({"x": ad.arange(3), "name": "a"}, ["cpu", "cpu"])]
        [[0, 1], [2]]
    """
    if isinstance(inputs, Tensor):
        if not target_gpus:
            raise RuntimeError("scatter: expected at least one device to scatter to, got none")
        chunks = inputs.chunk(len(target_gpus), dim)
        return tuple(chunk.to(_device(target)) for chunk, target in zip(chunks, target_gpus, strict=False))
    if isinstance(inputs, dict) and inputs:
        items = zip(*(scatter(item, target_gpus, dim) for item in inputs.items()), strict=False)
        return [type(inputs)(item) for item in items]
    if isinstance(inputs, (list, tuple)) and inputs:
        values = zip(*(scatter(value, target_gpus, dim) for value in inputs), strict=False)
        return [_remade(type(inputs), value) for value in values]
    return [inputs for _ in target_gpus]


def scatter_kwargs(inputs: tuple[Any, ...], kwargs: dict[str, Any] | None, target_gpus: Sequence[Any], dim: int = 0) -> Any:
    """Two tuples as long as each other: what each device gets of the arguments, and of those with names."""
    here = scatter(inputs, target_gpus, dim) if inputs else []
    named = scatter(kwargs, target_gpus, dim) if kwargs else []
    length = max(len(here), len(named))
    return (*here, *[()] * (length - len(here))), (*named, *[{} for _ in range(length - len(named))])


def gather(outputs: Any, target_device: Any, dim: int = 0) -> Any:
    """What devices gave as one: tensors concatenated along ``dim`` on a device, those without dimensions as a vector.

    Raises:
        ValueError: dictionaries of different keys.

    Example::

        >>> gather([(ad.ones(1), ad.tensor(1.)), (ad.zeros(2), ad.tensor(2.))], "cpu")
        (tensor([1., 0., 0.]), tensor([1., 2.]))
    """
    first = outputs[0]
    if isinstance(first, Tensor):
        moved = [output.to(_device(target_device)) for output in outputs]
        return core.cat([x.reshape(1) for x in moved] if first.ndim == 0 else moved, 0 if first.ndim == 0 else dim)
    if first is None:
        return None
    if isinstance(first, dict):
        if any(output.keys() != first.keys() for output in outputs):
            raise ValueError("gather: dictionaries must have the same keys")
        return type(first)((key, gather([output[key] for output in outputs], target_device, dim)) for key in first)
    return _remade(type(first), (gather(values, target_device, dim) for values in zip(*outputs, strict=True)))
