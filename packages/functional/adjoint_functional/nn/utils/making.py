"""Modules made without initial values, and with weights in another order in memory."""

from __future__ import annotations

import inspect
from typing import Any, TypeVar

from ..modules.convolution import Conv2d, Conv3d, ConvTranspose2d, ConvTranspose3d
from ..modules.module import Module

M = TypeVar("M", bound=Module)


def skip_init(module_cls: type[M], *args: Any, **kwargs: Any) -> M:
    """A module of the class with memory as it comes: its values are still to be given, and no random number is drawn for them.

    Raises:
        RuntimeError: the class is no module, or takes no ``device``.

    Example::

        >>> ad.nn.utils.skip_init(ad.nn.Linear, 2, 3).weight.shape
        adjoint.Size([3, 2])
    """
    if not issubclass(module_cls, Module):
        raise RuntimeError(f"Expected a Module; got {module_cls}")
    if "device" not in inspect.signature(module_cls).parameters:
        raise RuntimeError("Module must support a 'device' arg to skip initialization")
    device = kwargs.pop("device", "cpu")
    return module_cls(*args, **kwargs, device="meta").to_empty(device=device)  # without memory there are no draws either


def _converted(module: M, kinds: tuple[type, ...], memory_format: Any) -> M:
    for m in module.modules():
        if isinstance(m, kinds):
            weight: Any = m.weight
            weight.data = weight.detach().clone().contiguous(memory_format=memory_format)
    return module


def convert_conv2d_weight_memory_format(module: M, memory_format: Any) -> M:
    """Puts the weights of all convolutions over images in another order in memory.

    Example::

        >>> net = ad.nn.utils.convert_conv2d_weight_memory_format(ad.nn.Conv2d(2, 2, 2), ad.channels_last)
        >>> net.weight.is_contiguous(memory_format=ad.channels_last)
        True
    """
    return _converted(module, (Conv2d, ConvTranspose2d), memory_format)


def convert_conv3d_weight_memory_format(module: M, memory_format: Any) -> M:
    """`convert_conv2d_weight_memory_format`, of convolutions over volumes.

    Example::

        >>> net = ad.nn.utils.convert_conv3d_weight_memory_format(ad.nn.Conv3d(2, 2, 2), ad.channels_last_3d)
        >>> net.weight.is_contiguous(memory_format=ad.channels_last_3d)
        True
    """
    return _converted(module, (Conv3d, ConvTranspose3d), memory_format)
