"""What programs ask of PyTorch's symbolic numbers, of which there are none: numbers are Python's; and of its build."""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import Any

import adjoint_core as core
from adjoint_core import Tensor
from adjoint_core._warnings import warn_once

__all__ = [
    "SymBool", "SymFloat", "SymInt", "get_num_interop_threads", "is_distributed", "set_default_tensor_type", "set_flush_denormal",
    "set_num_interop_threads", "sym_float", "sym_int", "sym_ite", "sym_max", "sym_min", "sym_not", "sym_sqrt", "sym_sum",
]  # fmt: skip

has_lapack = has_openmp = has_spectral = True
has_mkl = False


class SymInt:
    """A size that PyTorch's compiler does not know yet; there are none."""


class SymFloat:
    """A number that PyTorch's compiler does not know yet; there are none."""


class SymBool:
    """A truth that PyTorch's compiler does not know yet; there are none."""


def sym_int(a: float) -> int:
    """`int`.

    Example::

        >>> ad.sym_int(3.7)
        3
    """
    return int(a)


def sym_float(a: float) -> float:
    """`float`.

    Example::

        >>> ad.sym_float(3)
        3.0
    """
    return float(a)


def sym_max(a: float, b: float) -> float:
    """The larger one, a float if one of them is.

    Example::

        >>> ad.sym_max(3, 2.0)
        3.0
    """
    return float(max(a, b)) if isinstance(a, float) or isinstance(b, float) else max(a, b)


def sym_min(a: float, b: float) -> float:
    """The smaller one, a float if one of them is.

    Example::

        >>> ad.sym_min(3, 2)
        2
    """
    return float(min(a, b)) if isinstance(a, float) or isinstance(b, float) else min(a, b)


def sym_not(a: bool) -> bool:
    """`not`.

    Example::

        >>> ad.sym_not(True)
        False
    """
    return not a


def sym_ite(b: bool, t: Any, f: Any) -> Any:
    """`t if b else f`.

    Example::

        >>> ad.sym_ite(True, 1, 2)
        1
    """
    return t if b else f


def sym_sum(args: Iterable[int]) -> int:
    """`sum`.

    Example::

        >>> ad.sym_sum([1, 2])
        3
    """
    return sum(args)


def sym_sqrt(a: float) -> float:
    """`math.sqrt`.

    Example::

        >>> ad.sym_sqrt(4)
        2.0
    """
    return math.sqrt(a)


def get_num_interop_threads() -> int:
    """1: operations run one after the other, each on `get_num_threads()` threads.

    Example::

        >>> ad.get_num_interop_threads()
        1
    """
    return 1


def set_num_interop_threads(n: int) -> None:
    """Nothing: operations run one after the other.

    Raises:
        RuntimeError: not positive.

    Example::

        >>> ad.set_num_interop_threads(1)
    """
    if n <= 0:
        raise RuntimeError(f"set_num_interop_threads: expected a positive number, got {n}")


def set_flush_denormal(mode: bool) -> bool:
    """False: numbers below the smallest normal one are kept, and this cannot be changed.

    Example::

        >>> ad.set_flush_denormal(True)
        False
    """
    return False


def is_distributed(input: Tensor) -> bool:
    """False: the elements of a tensor lie in one process.

    Example::

        >>> ad.is_distributed(ad.ones(1))
        False
    """
    return False


_TYPES = {"Half": core.float16, "BFloat16": core.bfloat16, "Float": core.float32, "Double": core.float64}


def set_default_tensor_type(t: Any) -> None:
    """The older form of `set_default_dtype` and `set_default_device`: a class of tensors, or its name.

    Raises:
        TypeError: not a type of floating-point tensors.

    Example::

        >>> import warnings
        >>> warnings.simplefilter("ignore")
        >>> ad.set_default_tensor_type("torch.DoubleTensor")
        >>> ad.ones(1).dtype
        adjoint.float64
        >>> ad.set_default_tensor_type(ad.FloatTensor)
    """
    name = t if isinstance(t, str) else f"{t.__module__}.{t.__name__}"
    kind = name.rpartition(".")[2].removesuffix("Tensor") or "Float"
    if kind not in _TYPES or not name.endswith("Tensor"):
        raise TypeError(f"set_default_tensor_type: only floating-point types are supported as the default type, got {name}")
    warn_once(
        "torch.set_default_tensor_type() is deprecated as of PyTorch 2.1, please use torch.set_default_dtype() and "
        "torch.set_default_device() as alternatives."
    )
    core.set_default_dtype(_TYPES[kind])
    core._core._set_default_device(core.device("cuda") if ".cuda." in name else None)
