"""Where ``to`` of modules is told to move."""

from __future__ import annotations

from typing import Any

import adjoint_core as core
from adjoint_core import Tensor
from adjoint_core import device as Device
from adjoint_core._tensor.naming import as_dtype


def parse_to(*args: Any, **kwargs: Any) -> tuple[Any, Any, bool, Any]:
    """The device, dtype, `non_blocking` and memory format of ``to(device)``, ``to(dtype)``, ``to(device, dtype)`` or ``to(tensor)``.

    Example::

        >>> parse_to("cpu", ad.float64)
        (device(type='cpu'), adjoint.float64, False, None)
    """
    device, dtype, layout = (kwargs.pop(name, None) for name in ("device", "dtype", "memory_format"))
    non_blocking = kwargs.pop("non_blocking", False)
    for given in (*args, *(kwargs.pop(name) for name in ("tensor", "other") if name in kwargs)):
        if isinstance(given, Tensor):
            device, dtype = given.device, given.dtype
        elif isinstance(as_dtype(given), core.dtype):
            dtype = given
        elif isinstance(given, bool):
            non_blocking = given
        elif given is not None:
            device = given
    return None if device is None else Device(device), as_dtype(dtype), non_blocking, layout
