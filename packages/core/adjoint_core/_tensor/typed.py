"""Types of tensors as classes, `FloatTensor` and its kin, and numbers under the names of the namespace."""

from __future__ import annotations

import functools
import math
from types import FunctionType
from typing import Any

from .. import _core
from .._compose import check_all, method
from .._core import Tensor
from .._whole import is_whole
from .naming import TYPE_NAMES
from .sparse import sparse_coo_tensor

__all__ = ["e", "inf", "nan", "newaxis", "pi", "typename"]

inf, nan, pi, e, newaxis = math.inf, math.nan, math.pi, math.e, None


class _TypeOf(type):
    """Makes `FloatTensor` a type of tensors and a constructor of them."""

    dtype: Any
    space: str  # "", or where the type is found: cuda, sparse

    def __instancecheck__(cls, instance: Any) -> bool:
        if not isinstance(instance, Tensor) or instance.dtype is not cls.dtype:
            return False
        return instance.is_cuda == (cls.space == "cuda") and instance.is_sparse == (cls.space == "sparse")

    def __call__(cls, *args: Any) -> Tensor:
        if cls.space == "sparse":
            return _new_sparse(cls.dtype, *args)
        made = _new(cls.dtype, *args)
        return made.to(cls.space) if cls.space else made


@functools.cache
def type_of(name: str, space: str = "") -> _TypeOf:
    """`FloatTensor` and its kin; a name that is none is an AttributeError."""
    dtype = None if name.startswith("Complex") else TYPE_NAMES.get(name.removesuffix("Tensor"))
    if dtype is None or not name.endswith("Tensor"):
        raise AttributeError(f"no type of tensors is called {name!r}")
    where = f"adjoint.{space}".rstrip(".")
    return _TypeOf(name, (), {"dtype": dtype, "space": space, "__module__": where, "__doc__": f"Tensors of {dtype!r}."})


def _new_sparse(dtype: Any, *args: Any) -> Tensor:
    """Of indices, values and maybe a size; empty if given a size, or nothing."""
    if all(isinstance(a, int) for a in args):
        return sparse_coo_tensor(args or (0,), dtype=dtype)
    return sparse_coo_tensor(*args, dtype=dtype)


def _new(dtype: Any, *args: Any) -> Tensor:
    """Uninitialised if given sizes, else of the data, in the memory of an array that has the type."""
    if not args:
        return _core.empty(0, dtype=dtype)
    if isinstance(args[0], _core.Size):
        return _core.empty(args[0], dtype=dtype)
    if all(is_whole(a) and not isinstance(a, Tensor) for a in args):
        return _core.empty(*args, dtype=dtype)
    return args[0].to(dtype) if isinstance(args[0], Tensor) else _core.as_tensor(args[0], dtype=dtype)


for _name in TYPE_NAMES:
    if not _name.startswith("Complex"):
        globals()[_name + "Tensor"] = type_of(_name + "Tensor")
        __all__.append(_name + "Tensor")


@method
def new(self: Tensor, *args: Any) -> Tensor:
    """A tensor of this type: uninitialised if given sizes, else with the data; a sparse one of indices, values and a size.

    Example: `sparse.new(sparse._indices(), sparse._values() + 1, sparse.shape)`
    """
    return (_new_sparse if self.is_sparse else _new)(self.dtype, *args)


def typename(obj: Any) -> str:
    """`adjoint.FloatTensor` for a tensor, the name of a class or function, the name of its type for anything else.

    Example::

        >>> ad.typename(ad.zeros(2)), ad.typename(1.0), ad.typename(int)
        ('adjoint.FloatTensor', 'float', 'int')
    """
    if isinstance(obj, Tensor):
        return obj.type()
    return _full_name(obj if isinstance(obj, (type, FunctionType)) else type(obj))


def _full_name(kind: type | FunctionType) -> str:
    return kind.__qualname__ if kind.__module__ == "builtins" else f"{kind.__module__}.{kind.__qualname__}"


check_all(globals())
