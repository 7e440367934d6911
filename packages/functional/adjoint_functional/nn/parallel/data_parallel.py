"""Models on the GPUs of one process."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from adjoint_core import Tensor, cuda
from adjoint_core import device as Device

from ..modules.module import Module


def _indices(device_ids: Any) -> list[int]:
    given = range(cuda.device_count()) if device_ids is None else device_ids
    return [Device("cuda", d).index if isinstance(d, int) else Device(d).index for d in given]


class DataParallel(Module):
    """A model whose inputs are moved to the first of the GPUs, where it computes; without a GPU it is the model itself.

    Several GPUs at once are used by a process each: see `DistributedDataParallel`.

    Arguments:
        module: the model, which is ``module`` of the wrapper.
        device_ids: GPUs; None: all.
        output_device: where results go; the first one by default.

    Example::

        >>> model = ad.nn.DataParallel(ad.nn.Linear(2, 3))
        >>> model(ad.ones(4, 2)).shape, list(model.state_dict())
        (adjoint.Size([4, 3]), ['module.weight', 'module.bias'])
    """

    def __init__(self, module: Any, device_ids: Any = None, output_device: Any = None, dim: int = 0) -> None:
        super().__init__()
        self.module, self.device_ids, self.dim = module, _indices(device_ids), dim
        if self.device_ids:
            self.output_device = self.device_ids[0] if output_device is None else _indices([output_device])[0]
            self.module.to(Device("cuda", self.device_ids[0]))

    def forward(self, *inputs: Any, **kwargs: Any) -> Any:
        """The model's result."""
        if not self.device_ids:
            return self.module(*inputs, **kwargs)
        here = Device("cuda", self.device_ids[0])
        result = self.module(*_moved(inputs, here), **_moved(kwargs, here))
        return _moved(result, Device("cuda", self.output_device))


def _moved(value: Any, to: Device) -> Any:
    if isinstance(value, Tensor):
        return value.to(to)
    if isinstance(value, dict):
        return type(value)({key: _moved(v, to) for key, v in value.items()})
    if isinstance(value, (list, tuple)):
        parts: Iterator[Any] = (_moved(v, to) for v in value)
        return type(value)(*parts) if hasattr(value, "_fields") else type(value)(parts)
    return value


def data_parallel(
    module: Any,
    inputs: Any,
    device_ids: Any = None,
    output_device: Any = None,
    dim: int = 0,
    module_kwargs: dict[str, Any] | None = None,
) -> Any:
    """What `DataParallel` of the module gives for the inputs."""
    given = inputs if isinstance(inputs, tuple) else () if inputs is None else (inputs,)
    return DataParallel(module, device_ids, output_device, dim)(*given, **(module_kwargs or {}))
