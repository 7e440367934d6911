"""What checkpoints do with their inputs: cutting them off, the states of the random numbers of their devices."""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Sequence
from typing import Any

from adjoint_core import Tensor, accelerator, cuda

from .. import _engine, trees


def detach_variable(inputs: tuple[Any, ...]) -> tuple[Any, ...]:
    """The inputs, tensors without history and with the ``requires_grad`` that they have.

    Raises:
        RuntimeError: ``inputs`` is no tuple.

    Example::

        >>> detach_variable((ad.ones(1, requires_grad=True).exp(), 2))
        (tensor([2.7183], requires_grad=True), 2)
    """
    if not isinstance(inputs, tuple):
        raise RuntimeError(f"Only tuple of tensors is supported. Got Unsupported input type: {type(inputs).__name__}")
    return tuple(_engine.detach(x).requires_grad_(x.requires_grad) if isinstance(x, Tensor) else x for x in inputs)


def check_backward_validity(inputs: Iterable[Any]) -> None:
    """Warns if no tensor among the inputs requires grad."""
    if not any(x.requires_grad for x in inputs if isinstance(x, Tensor)):
        warnings.warn("None of the inputs have requires_grad=True. Gradients will be None", stacklevel=2)


class DefaultDeviceType:
    """The type of device that ``set_device_states`` means: "cuda" where there is one, unless another was set.

    Example::

        >>> ad.utils.checkpoint.DefaultDeviceType.get_device_type()
        'cpu'
    """

    _default_device_type: str | None = None

    @staticmethod
    def set_device_type(device: str = "cuda") -> None:
        """Chooses the type, "cpu" or "cuda"."""
        DefaultDeviceType._default_device_type = device

    @staticmethod
    def get_device_type() -> str:
        """The type, "cpu" or "cuda"."""
        if DefaultDeviceType._default_device_type is None:
            found = accelerator.current_accelerator(True)
            DefaultDeviceType._default_device_type = found.type if found else "cpu"
        return DefaultDeviceType._default_device_type


def get_device_states(*args: Any) -> tuple[list[int], list[Tensor]]:
    """The indices of the GPUs of the tensors in ``args``, and the states of their random numbers.

    Example::

        >>> get_device_states(ad.ones(1), 2)
        ([], [])
    """
    devices = [t.device.index for t in trees.tree_flatten(args)[0] if isinstance(t, Tensor) and t.device.type != "cpu"]
    return devices, [cuda.get_rng_state(i) for i in devices]


def set_device_states(devices: Sequence[int], states: Sequence[Tensor], *, device_type: str | None = None) -> None:
    """Sets the states of the random numbers of some GPUs, as ``get_device_states`` gave them."""
    if (device_type or DefaultDeviceType.get_device_type()) != "cpu":
        for device, state in zip(devices, states):
            cuda.set_rng_state(state, device)
