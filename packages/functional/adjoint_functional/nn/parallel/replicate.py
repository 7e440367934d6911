"""Copies of a model on several devices, and their calls."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from adjoint_core import Tensor

from .scatter_gather import _device

__all__ = ["parallel_apply", "replicate"]


def replicate(network: Any, devices: Sequence[Any], detach: bool = False) -> list[Any]:
    """A copy of the model for each device. Its parameters are plain tensors made from the model's, whose gradients are the sum over the copies.

    Arguments:
        devices: numbers of GPUs, or devices.
        detach: the copies lead to no gradient of the model.

    Example::

        >>> model = ad.nn.Linear(1, 1, bias=False)
        >>> for copy in ad.nn.parallel.replicate(model, ["cpu", "cpu"]):
        ...     copy(ad.tensor([[3.0]])).backward()
        >>> model.weight.grad
        tensor([[6.]])
    """
    return [_copy(network, _device(device), detach, {}) for device in devices]


def _copy(module: Any, device: Any, detach: bool, made: dict[int, Any]) -> Any:
    if id(module) in made:
        return made[id(module)]
    made[id(module)] = copy = module._replicate_for_data_parallel()

    def moved(t: Tensor | None) -> Tensor | None:
        if t is not None and id(t) not in made:  # tied parameters stay one tensor
            made[id(t)] = (t.detach() if detach else t).to(device)
        return None if t is None else made[id(t)]

    copy._former_parameters = {name: moved(p) for name, p in module._parameters.items()}
    copy.__dict__.update(copy._former_parameters)
    copy._buffers.update((name, moved(b)) for name, b in module._buffers.items())
    copy._modules.update(
        (name, None if child is None else _copy(child, device, detach, made)) for name, child in module._modules.items()
    )
    return copy


def parallel_apply(
    modules: Sequence[Any], inputs: Sequence[Any], kwargs_tup: Sequence[dict[str, Any]] | None = None, devices: Any = None
) -> list[Any]:
    """What each module gives for its inputs. GPUs compute at the same time, as calls return when their work is queued.

    Raises:
        ValueError: lists of different lengths.

    Example::

        >>> ad.nn.parallel.parallel_apply([ad.nn.ReLU(), ad.nn.Flatten(0)], [ad.tensor([-1.0]), (ad.ones(1, 2),)])
        [tensor([0.]), tensor([1., 1.])]
    """
    named = kwargs_tup or [{}] * len(modules)
    if not len(modules) == len(inputs) == len(named) == len(modules if devices is None else devices):
        raise ValueError(f"parallel_apply: {len(modules)} modules got {len(inputs)} inputs and {len(named)} keyword arguments")
    given = [args if isinstance(args, (list, tuple)) else (args,) for args in inputs]
    return [module(*args, **kwargs) for module, args, kwargs in zip(modules, given, named, strict=True)]
