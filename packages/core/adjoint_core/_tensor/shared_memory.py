"""Memory that several processes see."""

from __future__ import annotations

from typing import TypeVar

from .. import _core
from .._core import Tensor
from .compressed import with_parts

T = TypeVar("T", bound=Tensor)


def shared_copy(x: Tensor) -> Tensor:
    """The values of `x`, without history, in new memory that other processes can map; its dimensions lie in the same order."""
    order = dense_order(x) or range(x.ndim)
    source = x._alias().permute(order)
    flat = _core._make_shared(source.numel() * source.element_size())
    out = flat.view(x.dtype)[: source.numel()].view(source.shape)
    return out.copy_(source).permute(inverse(order))._alias()


def dense_order(x: Tensor) -> tuple[int, ...] | None:
    """The order of dimensions in which the elements of `x` lie without gaps; None if there is none."""
    if x.is_contiguous():
        return tuple(range(x.ndim))
    stride = x.stride()
    order = tuple(sorted(range(x.ndim), key=lambda d: -stride[d]))
    return order if x._alias().permute(order).is_contiguous() else None


def inverse(order: tuple[int, ...] | range) -> tuple[int, ...]:
    """The order that takes `order` back."""
    return tuple(sorted(range(len(order)), key=order.__getitem__))


def _share_memory_(self: T) -> T:
    """Moves the memory to where other processes can map it, and returns the tensor; a tensor of a GPU or one that is there stays.

    The memory has no name. It is freed when its last user, in any process, drops it or dies.

    Raises:
        RuntimeError: views, arrays or a graph look at the memory too: they would stay behind; or the system gives no memory.

    Example::

        >>> ad.ones(3).share_memory_().is_shared()
        True
    """
    if _core._is_sparse(self):
        values, indices = shared_copy(self._values()), shared_copy(self._indices())
        self._set_data(with_parts(self, indices, values))
    elif not _is_shared(self):
        _move(self)
    return self


def _move(x: Tensor) -> None:
    """Moves all of its memory; a view takes the tensor along that it is a view of."""
    base = getattr(x, "_base", None)
    family = [x] if base is None or base._storage_ptr() != x._storage_ptr() else [base, x]
    if x._memory_users() > len(family):
        raise RuntimeError(
            "share_memory_: the memory would have to move, but views, arrays or a graph look at it too; share it before they are made"
        )
    places = [(t.shape, t.stride(), t.storage_offset()) for t in family]
    whole = shared_copy(x.untyped_storage()._flat())
    family[0]._set_data(whole.view(family[0].dtype).as_strided(*places[0]), True)
    for view, place in zip(family[1:], places[1:]):
        view._set_data(family[0].untyped_storage()._flat().view(view.dtype).as_strided(*place))


def _is_shared(self: Tensor) -> bool:
    """Whether other processes can see the memory: that of `share_memory_`, or a GPU's."""
    if _core._is_sparse(self):
        return _is_shared(self._indices()) and _is_shared(self._values())
    return self.is_cuda or self._shared_file() >= 0


def _is_distributed(self: Tensor) -> bool:
    """False: a tensor lies in one process."""
    return False


Tensor.share_memory_ = _share_memory_
Tensor.is_distributed = _is_distributed
Tensor.is_shared = _is_shared
