"""The parts of `Tensor` that are written in Python: conversion, copying, printing, and names derived from others."""

from __future__ import annotations

import copy
import copyreg
import math
import pickle

from . import _core
from ._core import Tensor
from ._printing import tensor_repr
from ._shared import dense_order, inverse

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from typing import Any

_TYPE_NAMES = {
    "Float": _core.float32,
    "Double": _core.float64,
    "Half": _core.float16,
    "BFloat16": _core.bfloat16,
    "Byte": _core.uint8,
    "Char": _core.int8,
    "Short": _core.int16,
    "Int": _core.int32,
    "Long": _core.int64,
    "Bool": _core.bool,
    "UInt16": _core.uint16,
    "UInt32": _core.uint32,
    "UInt64": _core.uint64,
    "ComplexFloat": _core.complex64,
    "ComplexDouble": _core.complex128,
}


def _method(f: Callable[..., Any]) -> Callable[..., Any]:
    setattr(Tensor, f.__name__, f)
    return f


def _needs_grad(x: Tensor) -> bool:
    return getattr(x, "requires_grad", False)


# ---- NumPy


@_method
def numpy(self: Tensor, *, force: bool = False) -> Any:
    """A NumPy array that shares this tensor's memory."""
    if _needs_grad(self):
        if not force:
            raise RuntimeError("Can't call numpy() on Tensor that requires grad. Use tensor.detach().numpy() instead.")
        return _core._array_of(self._alias())
    return _core._array_of(self)


@_method
def __array__(self: Tensor, dtype: Any = None, copy: bool | None = None) -> Any:
    array = self.numpy()
    if dtype is not None and array.dtype != dtype:
        if copy is False:
            raise ValueError("a copy is needed to change the type")
        return array.astype(dtype)
    return array.copy() if copy else array


@_method
def __array_wrap__(self: Tensor, array: Any, context: Any = None, return_scalar: bool = False) -> Tensor:
    return _core.from_numpy(array) if getattr(array, "ndim", 0) else _core.tensor(array)


Tensor.__array_priority__ = 1000

# ---- printing


@_method
def __repr__(self: Tensor, *, tensor_contents: Any = None) -> str:
    return tensor_repr(self)


@_method
def __format__(self: Tensor, spec: str) -> str:
    if self.ndim == 0 and type(self) is Tensor and (spec or self._storage_ptr()):
        return format((self._alias() if self._storage_ptr() else self).item(), spec)
    return format(repr(self), spec) if spec == "" else object.__format__(self, spec)


# ---- copies and pickles


def _rebuild(
    cls: type[Tensor] | None,
    data: Any,
    dtype: Any,
    shape: tuple[int, ...],
    requires_grad: bool,
    state: dict[str, Any] | None,
    order: tuple[int, ...] | None = None,
) -> Tensor:
    x = _core._from_buffer(data, dtype).view(shape)
    if order is not None:
        x = x.permute(inverse(order))
    return _restore(cls or Tensor, x._alias(), requires_grad, state)


def _restore(cls: type[Tensor], x: Tensor, requires_grad: bool, state: dict[str, Any] | None) -> Tensor:
    if cls is not Tensor:
        x = Tensor._make_subclass(cls, x)
    if requires_grad:
        x.requires_grad = True
    if state:
        x.__dict__.update(state)
    return x


def _rebuild_sparse(
    indices: Tensor, values: Tensor, shape: tuple[int, ...], coalesced: bool, requires_grad: bool, state: dict[str, Any]
) -> Tensor:
    return _restore(Tensor, _core._sparse_coo_tensor(values, indices, shape, coalesced), requires_grad, state)


@_method
def __reduce_ex__(self: Tensor, protocol: int) -> Any:
    cls = type(self)
    if self.is_sparse:
        parts = self._indices(), self._values(), tuple(self.shape), self.is_coalesced()
        return _rebuild_sparse, (*parts, _needs_grad(self), dict(self.__dict__))
    order = dense_order(self) if protocol >= 5 and not self.is_contiguous() else None
    source = self if order is None else self._alias().permute(order)
    lent = _core._lend(source)
    data = pickle.PickleBuffer(lent) if protocol >= 5 else bytes(lent)
    made_of = (None if cls is Tensor else cls, data, self.dtype, tuple(source.shape), _needs_grad(self), dict(self.__dict__))
    return _rebuild, made_of if order is None else (*made_of, order)


@_method
def __copy__(self: Tensor) -> Tensor:
    return _restore(type(self), self._alias(), _needs_grad(self), dict(self.__dict__))


@_method
def __deepcopy__(self: Tensor, memo: dict[int, Any]) -> Tensor:
    if id(self) in memo:
        return memo[id(self)]
    if not getattr(self, "is_leaf", True):
        raise RuntimeError(
            "Only Tensors created explicitly by the user (graph leaves) support the deepcopy protocol at the moment.  "
            "If you were attempting to deepcopy a module, this may be because of a parametrization."
        )
    shared = memo.setdefault("adjoint storages", {})  # type: ignore[call-overload]
    place = 0 if self.is_sparse else self.data_ptr()
    key = (self._storage_ptr(), place, tuple(self.shape), tuple(self.stride()))
    if key not in shared:
        shared[key] = self._alias().clone()
    out = memo[id(self)] = _restore(type(self), shared[key]._alias(), _needs_grad(self), None)
    grad = getattr(self, "grad", None)
    if grad is not None:
        out.grad = copy.deepcopy(grad, memo)
    if self.__dict__:
        out.__dict__.update(copy.deepcopy(self.__dict__, memo))
    return out


def _dtype_named(name: str) -> Any:
    return getattr(_core, name)


copyreg.pickle(_core.dtype, lambda t: (_dtype_named, (t.name,)))  # type: ignore[arg-type]

# ---- types and memory


def _is_cpu(self: Tensor) -> bool:
    """Whether the memory is the host's."""
    return self.device.type == "cpu"


def _is_cuda(self: Tensor) -> bool:
    """Whether the memory is a GPU's."""
    return self.device.type == "cuda"


Tensor.is_cpu, Tensor.is_cuda = property(_is_cpu), property(_is_cuda)


def _type(self: Tensor, dtype: Any = None, non_blocking: bool = False) -> Any:
    """The name of this tensor's type, or this tensor with another element type."""
    if dtype is None:
        place = "cuda." if self.is_cuda else ""
        return next(f"{_core._library()}.{place}{n}Tensor" for n, t in _TYPE_NAMES.items() if t is self.dtype)
    if isinstance(dtype, str):
        place, _, name = dtype.rpartition(".")
        name = name.removesuffix("Tensor")
        if name not in _TYPE_NAMES:
            raise ValueError(f"type: invalid type: '{dtype}'")
        device = "cpu" if not place.endswith(".cuda") else self.device if self.is_cuda else "cuda"
        return self.to(device, _TYPE_NAMES[name], non_blocking=non_blocking)
    return self.to(getattr(dtype, "dtype", dtype))  # FloatTensor has a dtype


Tensor.type = _type


def _get_data(self: Tensor) -> Tensor:
    return self._alias()


def _set_data(self: Tensor, source: Tensor) -> None:
    self._set_data(source)


Tensor.data = property(_get_data, _set_data, doc="The values without history.")
for _name, _value in {
    "is_quantized": False,
    "is_meta": False,
    "is_nested": False,
    "is_mkldnn": False,
}.items():
    setattr(Tensor, _name, _value)


@_method
def set_(
    self: Tensor, source: Any = None, storage_offset: int = 0, size: Sequence[int] | None = None, stride: Sequence[int] = ()
) -> Tensor:
    """Looks at other memory from now on; counts as a write to this tensor.

    Arguments:
        source: a tensor, whose memory and shape it takes, or a `Storage`; none empties the tensor.
        storage_offset: the first element in that memory.
        size: the shape; that of `source` by default, all of a storage.
        stride: of each dimension; those of a contiguous tensor by default.

    Example: `x.set_(y.storage(), 1, (2, 2), (4, 1))`
    """
    place = _core.empty(0, dtype=self.dtype, device=self.device) if source is None else source
    flat = place if isinstance(place, Tensor) else place._flat()
    if flat.dtype != self.dtype:
        if isinstance(place, Tensor):
            raise RuntimeError(f"set_: Expected a source of the type of the tensor, {self.dtype}, got {flat.dtype}")
        flat = flat.view(self.dtype)
    if size is not None:
        flat = flat._alias().as_strided(size, stride or _core.empty(size, dtype=self.dtype).stride(), storage_offset)
    self._bump_version()
    self._set_data(flat, True)
    return self


def _reorder(x: Tensor, memory_format: Any) -> None:
    """Gives the elements in memory the places that the format has for this shape; nothing moves."""
    x._set_data(x._alias().as_strided(x.shape, _core.empty(x.shape, memory_format=memory_format).stride()), True)


@_method
def resize_(self: Tensor, *size: Any, memory_format: Any = _core.contiguous_format) -> Tensor:
    """Changes the shape in place; memory grows if it must, and new elements are uninitialised.

    Raises:
        RuntimeError: memory that views, NumPy arrays or a graph share would have to grow; `preserve_format`.
    """
    shape = size[0] if len(size) == 1 and isinstance(size[0], (tuple, list)) else size
    if memory_format is _core.preserve_format:
        raise RuntimeError(f"resize_: Unsupported memory format {memory_format}")
    if tuple(shape) != tuple(self.shape):
        n = math.prod(shape)
        if n > self.numel() and self._memory_is_shared():
            raise RuntimeError("resize_: Trying to resize storage that is not resizable: others share its memory")
        flat = self._alias().reshape(-1)
        if n > flat.numel():
            flat = _core.cat([flat, _core.empty(n - flat.numel(), dtype=self.dtype, device=self.device)])
        self._bump_version()
        self._set_data(flat[:n].view(tuple(shape)), True)
    if memory_format is not _core.contiguous_format:
        _reorder(self, memory_format)
    return self


@_method
def resize_as_(self: Tensor, other: Tensor, *, memory_format: Any = None) -> Tensor:
    """Changes the shape in place to that of `other`, and with a memory format the order; `preserve_format` takes that of `other`."""
    resize_(self, tuple(other.shape))
    if memory_format is _core.preserve_format:
        formats = _core.channels_last, _core.channels_last_3d, _core.contiguous_format
        memory_format = next(f for f in formats if f is formats[-1] or other.is_contiguous(memory_format=f))
    if memory_format is not None:
        _reorder(self, memory_format)
    return self


@_method
def __reversed__(self: Tensor) -> Tensor:
    return self if self.ndim == 0 else self.flip(0)


def _names(self: Tensor) -> list[str]:
    found = set(dir(self.__class__)) | set(self.__dict__)
    return sorted(found if self.is_cuda else found - {"__cuda_array_interface__"})


Tensor.__dir__ = _names  # a function __dir__ here would be the module's
