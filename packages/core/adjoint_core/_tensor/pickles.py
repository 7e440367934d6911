"""Copies of tensors, and pickles."""

from __future__ import annotations

import copy
import copyreg

from .. import _core
from .._core import Tensor
from .naming import method, needs_grad
from .shared_memory import dense_order, inverse

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

CLASSES_ABOVE: dict[str, Any] = {}
"Classes that files of PyTorch name and core does not know: the packages above it put them here."


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
    indices: Tensor,
    values: Tensor,
    shape: tuple[int, ...],
    coalesced: bool,
    requires_grad: bool,
    state: dict[str, Any],
    compression: tuple[int, int, int, bool] = (0, 1, 1, False),
) -> Tensor:
    x = _core._sparse_coo_tensor(values, indices, shape, coalesced)._to_sparse(None, *compression)
    return _restore(Tensor, x, requires_grad, state)


def _rebuild_meta(
    cls: type[Tensor] | None,
    dtype: Any,
    shape: tuple[int, ...],
    stride: tuple[int, ...],
    requires_grad: bool,
    state: dict[str, Any],
) -> Tensor:
    return _restore(cls or Tensor, _core.empty_strided(shape, stride, dtype=dtype, device="meta"), requires_grad, state)


def reduce_sparse(x: Tensor) -> Any:
    """What pickles write of a sparse tensor."""
    parts = x._indices(), x._values(), tuple(x.shape), not x.is_sparse or x.is_coalesced()
    return _rebuild_sparse, (*parts, needs_grad(x), dict(x.__dict__), _core._compression(x))


def _out_of_band(lent: Any) -> Any:
    from pickle import PickleBuffer

    return PickleBuffer(lent)


@method
def __reduce_ex__(self: Tensor, protocol: int) -> Any:
    cls = type(self)
    if _core._is_sparse(self):
        return reduce_sparse(self)
    if self.is_meta:
        place = self.dtype, tuple(self.shape), self.stride(), needs_grad(self)
        return _rebuild_meta, (None if cls is Tensor else cls, *place, dict(self.__dict__))
    order = dense_order(self) if protocol >= 5 and not self.is_contiguous() else None
    source = self if order is None else self._alias().permute(order)
    lent = _core._lend(source)
    data = _out_of_band(lent) if protocol >= 5 else bytes(lent)
    made_of = (None if cls is Tensor else cls, data, self.dtype, tuple(source.shape), needs_grad(self), dict(self.__dict__))
    return _rebuild, made_of if order is None else (*made_of, order)


@method
def __sizeof__(self: Tensor) -> int:
    """Its bytes, those of its elements among them: what schedulers ask before they move it."""
    return object.__sizeof__(self) + self.numel() * self.element_size()


@method
def __copy__(self: Tensor) -> Tensor:
    return _restore(type(self), self._alias(), needs_grad(self), dict(self.__dict__))


@method
def __deepcopy__(self: Tensor, memo: dict[int, Any]) -> Tensor:
    if id(self) in memo:
        return memo[id(self)]
    if not getattr(self, "is_leaf", True):
        raise RuntimeError(
            "Only Tensors created explicitly by the user (graph leaves) support the deepcopy protocol at the moment.  "
            "If you were attempting to deepcopy a module, this may be because of a parametrization."
        )
    shared = memo.setdefault("adjoint storages", {})  # type: ignore[call-overload]
    place = 0 if _core._is_sparse(self) else self.data_ptr()
    key = (self._storage_ptr(), place, tuple(self.shape), tuple(self.stride()))
    if key not in shared:
        shared[key] = self._alias().clone()
    out = memo[id(self)] = _restore(type(self), shared[key]._alias(), needs_grad(self), None)
    grad = getattr(self, "grad", None)
    if grad is not None:
        out.grad = copy.deepcopy(grad, memo)
    if self.__dict__:
        out.__dict__.update(copy.deepcopy(self.__dict__, memo))
    return out


def _dtype_named(name: str) -> Any:
    return getattr(_core, name)


copyreg.pickle(_core.dtype, lambda t: (_dtype_named, (t.name,)))  # type: ignore[arg-type]

for _function in (_rebuild, _rebuild_meta, _rebuild_sparse, _dtype_named):
    _function.__module__ = __package__  # the name in files, whichever file of the room it is in
