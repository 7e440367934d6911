"""`with device:` under the names of PyTorch's inside."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

from adjoint_core import device as _device


class DeviceContext:
    """New tensors lie on `device` within."""

    def __init__(self, device: Any) -> None:
        self.device = _device(device)

    def __enter__(self) -> DeviceContext:
        self.device.__enter__()
        return self

    def __exit__(self, *error: object) -> None:
        self.device.__exit__(*error)


def device_decorator(device: Any, func: Callable[..., Any]) -> Callable[..., Any]:
    """`func`, whose new tensors lie on `device`."""

    @functools.wraps(func)
    def on_device(*args: Any, **kwargs: Any) -> Any:
        with DeviceContext(device):
            return func(*args, **kwargs)

    return on_device


def set_device(device: Any) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """A decorator whose function makes its tensors on `device`."""
    return functools.partial(device_decorator, device)
