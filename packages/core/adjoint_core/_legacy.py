"""Older names of PyTorch that code still uses: typed constructors, layouts, storages, `new`, `typename`."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

from . import _core
from ._compose import check_all, method
from ._core import Tensor
from ._tensor import _TYPE_NAMES

__all__ = [
    "Storage", "e", "inf", "is_storage", "layout", "nan", "newaxis", "pi", "sparse_bsc", "sparse_bsr", "sparse_coo", "sparse_csc",
    "sparse_csr", "strided", "typename",
]  # fmt: skip

inf, nan, pi, e, newaxis = math.inf, math.nan, math.pi, math.e, None


class layout:  # noqa: N801
    """How the elements of a tensor lie in memory: `strided` or `sparse_coo`."""

    __slots__ = ("_name",)

    def __init__(self, name: str) -> None:
        self._name = name

    def __repr__(self) -> str:
        return f"{_core._library()}.{self._name}"

    def __reduce__(self) -> str:
        return self._name


strided, sparse_coo, sparse_csr = layout("strided"), layout("sparse_coo"), layout("sparse_csr")
sparse_csc, sparse_bsr, sparse_bsc = layout("sparse_csc"), layout("sparse_bsr"), layout("sparse_bsc")


class _TypeOf(type):
    """Makes `FloatTensor` a type of tensors and a constructor of them."""

    dtype: Any

    def __instancecheck__(cls, instance: Any) -> bool:
        return isinstance(instance, Tensor) and instance.dtype is cls.dtype

    def __call__(cls, *args: Any) -> Tensor:
        return _new(cls.dtype, *args)


def _new(dtype: Any, *args: Any) -> Tensor:
    """Uninitialised if given sizes, else a copy of the data."""
    if not args:
        return _core.empty(0, dtype=dtype)
    if isinstance(args[0], _core.Size):
        return _core.empty(args[0], dtype=dtype)
    if all(isinstance(a, int) for a in args):
        return _core.empty(*args, dtype=dtype)
    return args[0].to(dtype) if isinstance(args[0], Tensor) else _core.tensor(args[0], dtype=dtype)


for _name, _dtype in _TYPE_NAMES.items():
    if not _name.startswith("Complex"):
        globals()[_name + "Tensor"] = _TypeOf(
            _name + "Tensor", (), {"dtype": _dtype, "__module__": "adjoint", "__doc__": f"Tensors of {_dtype!r}."}
        )
        __all__.append(_name + "Tensor")


@method
def new(self: Tensor, *args: Any) -> Tensor:
    """A tensor of this type: uninitialised if given sizes, else with a copy of the data."""
    return _new(self.dtype, *args)


@method
def new_empty_strided(
    self: Tensor,
    size: Any,
    stride: Any,
    *,
    dtype: Any = None,
    device: Any = None,
    requires_grad: bool = False,
    pin_memory: bool = False,
) -> Tensor:
    """Uninitialised memory of this type with the given strides."""
    device = self.device if device is None else device
    kind = dtype or self.dtype
    return _core.empty_strided(size, stride, dtype=kind, device=device, requires_grad=requires_grad, pin_memory=pin_memory)


def typename(obj: Any) -> str:
    """`adjoint.FloatTensor` for a tensor, the name of its type for anything else."""
    return obj.type() if isinstance(obj, Tensor) else f"{type(obj).__module__}.{type(obj).__qualname__}"


class Storage:
    """The memory that a tensor and its views share."""

    def __init__(self, tensor: Tensor, itemsize: int) -> None:
        self._tensor, self._itemsize = tensor, itemsize

    def data_ptr(self) -> int:
        """The address of the first byte."""
        return self._tensor.data_ptr() - self._tensor.storage_offset() * self._tensor.element_size()

    def nbytes(self) -> int:
        """How many bytes."""
        return self._tensor._storage_nbytes()

    def size(self) -> int:
        """How many elements; bytes if untyped."""
        return self.nbytes() // self._itemsize

    __len__ = size

    def _flat(self) -> Tensor:
        x = self._tensor.detach()
        n = self.nbytes() // x.element_size()
        return x.as_strided((n,), (1,), 0)

    def is_shared(self) -> bool:
        """Whether other processes can see it."""
        return self._tensor.is_shared()

    def share_memory_(self) -> Storage:
        """Moves it to where other processes can see it; see `Tensor.share_memory_`."""
        self._tensor.share_memory_()
        return self

    def tolist(self) -> list[Any]:
        """The elements in the order of memory."""
        return self._flat().tolist()

    def __getitem__(self, i: int) -> Any:
        return self._flat()[i].item()


@method
def storage(self: Tensor) -> Storage:
    """The memory behind this tensor, counted in its elements."""
    return Storage(self, self.element_size())


@method
def untyped_storage(self: Tensor) -> Storage:
    """The memory behind this tensor, counted in bytes."""
    return Storage(self, 1)


def is_storage(obj: Any) -> bool:
    """Whether `obj` is the memory of a tensor."""
    return isinstance(obj, Storage)


def _elements(name: str, x: Tensor) -> None:
    if getattr(x, "requires_grad", False):
        raise RuntimeError(f"Can't call {name}() on Variable that requires grad. Use var.detach().{name}() instead.")


@method
def apply_(self: Tensor, callable: Callable[[Any], Any]) -> Tensor:
    """Replaces each element by what a Python function makes of it: slow."""
    _elements("apply_", self)
    return self.copy_(_core.tensor([callable(v) for v in self.reshape(-1).tolist()], dtype=self.dtype).reshape(self.shape))


@method
def map_(self: Tensor, tensor: Tensor, callable: Callable[[Any, Any], Any]) -> Tensor:
    """Replaces each element by a Python function of it and of the element of `tensor`: slow."""
    _elements("map_", self)
    other = tensor.expand(self.shape).reshape(-1).tolist()
    values = [callable(a, b) for a, b in zip(self.reshape(-1).tolist(), other)]
    return self.copy_(_core.tensor(values, dtype=self.dtype).reshape(self.shape))


@method
def fill_diagonal_(self: Tensor, fill_value: Any, wrap: bool = False) -> Tensor:
    """Writes `fill_value` on the main diagonal; with `wrap`, again below a tall matrix."""
    if self.ndim < 2:
        raise RuntimeError("dimensions must larger than 1")
    if self.ndim > 2 and len(set(self.shape)) != 1:
        raise RuntimeError("all dimensions of input must be of equal length")
    n = min(self.shape)
    if self.ndim == 2 and wrap and self.size(0) > self.size(1):
        at = _core.arange(0, self.numel(), self.size(1) + 1, device=self.device)
        self[at // self.size(1), at % self.size(1)] = fill_value
    else:
        self[(_core.arange(n, device=self.device),) * self.ndim] = fill_value
    return self


Tensor.__div__, Tensor.__rdiv__ = Tensor.__truediv__, Tensor.__rtruediv__  # type: ignore[attr-defined]
for _name, _value in {"is_mps": False, "is_xpu": False, "is_sparse_csr": False}.items():
    setattr(Tensor, _name, _value)


check_all(globals())
