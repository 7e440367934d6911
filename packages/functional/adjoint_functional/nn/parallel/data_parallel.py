"""Models on the GPUs of one process."""

from __future__ import annotations

from typing import Any

from adjoint_core import cuda
from adjoint_core import device as Device
from adjoint_engine import is_grad_enabled

from ..modules.module import Module
from .replicate import parallel_apply, replicate
from .scatter_gather import _device, gather, scatter_kwargs


def _indices(device_ids: Any) -> list[int]:
    given = range(cuda.device_count()) if device_ids is None else device_ids
    return [Device("cuda", d).index if isinstance(d, int) else Device(d).index for d in given]


class DataParallel(Module):
    """A model of which each GPU computes a part of the batch; without a GPU it is the model itself, on one it computes there.

    Each call copies the model to the GPUs. A process for each GPU is faster: see `DistributedDataParallel`.

    Arguments:
        module: the model, which is ``module`` of the wrapper; it lies on the first of several GPUs.
        device_ids: GPUs; None: all.
        output_device: where results go; the first one by default.
        dim: the dimension of the batch.

    Example::

        >>> model = ad.nn.DataParallel(ad.nn.Linear(2, 3))
        >>> model(ad.ones(4, 2)).shape, list(model.state_dict())
        (adjoint.Size([4, 3]), ['module.weight', 'module.bias'])
    """

    dim = 0

    def __init__(self, module: Any, device_ids: Any = None, output_device: Any = None, dim: int = 0) -> None:
        super().__init__()
        self.module, self.device_ids = module, _indices(device_ids)
        if self.device_ids:
            self.dim = dim
            self.output_device = self.device_ids[0] if output_device is None else _indices([output_device])[0]
        if len(self.device_ids) == 1:
            self.module.to(Device("cuda", self.device_ids[0]))

    def forward(self, *inputs: Any, **kwargs: Any) -> Any:
        """The model's result."""
        if not self.device_ids:
            return self.module(*inputs, **kwargs)
        first = _device(self.device_ids[0])
        for t in (*self.module.parameters(), *self.module.buffers()):
            if t.device != first:
                said = f"must have its parameters and buffers on device {first} (device_ids[0]) but found one of them on device: {t.device}"
                raise RuntimeError(f"module {said}")
        given, named = self.scatter(inputs, kwargs, self.device_ids)
        if not given:
            given, named = ((),), ({},)
        if len(self.device_ids) == 1:
            return self.module(*given[0], **named[0])
        replicas = self.replicate(self.module, self.device_ids[: len(given)])
        return self.gather(self.parallel_apply(replicas, given, named), self.output_device)

    def replicate(self, module: Any, device_ids: Any) -> list[Any]:
        """A copy for each GPU."""
        return replicate(module, device_ids, not is_grad_enabled())

    def scatter(self, inputs: Any, kwargs: Any, device_ids: Any) -> Any:
        """What each GPU gets of the arguments, and of those with names."""
        return scatter_kwargs(inputs, kwargs, device_ids, self.dim)

    def parallel_apply(self, replicas: Any, inputs: Any, kwargs: Any) -> list[Any]:
        """What each copy gives."""
        return parallel_apply(replicas, inputs, kwargs, self.device_ids[: len(replicas)])

    def gather(self, outputs: Any, output_device: Any) -> Any:
        """The results as one."""
        return gather(outputs, output_device, self.dim)


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
