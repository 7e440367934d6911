"""How tensors are pickled for another process of this machine: a handle of their memory instead of their elements."""

from __future__ import annotations

import threading
from multiprocessing import reduction
from multiprocessing.reduction import ForkingPickler
from typing import Any

from adjoint_core import Tensor, _core, strided
from adjoint_core._tensor.pickles import _restore, reduce_sparse
from adjoint_core._tensor.shared_memory import shared_copy
from adjoint_engine import Parameter

from .envelope import enclose

__all__ = ["init_reductions", "rebuild_tensor", "reduce_tensor"]


def rebuild_tensor(
    cls: type[Tensor] | None,
    handle: Any,
    nbytes: int,
    dtype: Any,
    place: tuple[tuple[int, ...], tuple[int, ...], int],
    requires_grad: bool,
    state: dict[str, Any],
) -> Tensor:
    """The tensor over memory of another process.

    Arguments:
        handle: gives the descriptor of the memory, of ``nbytes``.
        place: shape, stride and offset there, in elements.

    Raises:
        RuntimeError: the descriptor's file is shorter than that.
    """
    memory = _core._map_shared(handle.detach(), nbytes)
    itemsize = dtype.itemsize
    x = memory[: nbytes // itemsize * itemsize].view(dtype).as_strided(*place)
    return _restore(cls or Tensor, x._alias(), requires_grad, state)


def reduce_tensor(x: Tensor) -> tuple[Any, ...]:
    """For `ForkingPickler`: a leaf as a handle of its memory, which moves to where other processes can map it if it must.

    Where it cannot move, as views or arrays look at it or a thread of a queue pickles it while others compute, a copy is sent.
    Tensors of a GPU are sent by value.

    Raises:
        RuntimeError: the tensor has a history.
    """
    if x.requires_grad and not x.is_leaf:
        raise RuntimeError(
            "Cowardly refusing to serialize non-leaf tensor which requires_grad, since autograd does not support crossing process "
            f"boundaries: its graph ends in {x.grad_fn.name()}. If you just want to transfer the data, call detach() on the tensor "
            "before serializing (e.g., putting it on the queue)."
        )
    cls, state = None if type(x) is Tensor else type(x), dict(x.__dict__)
    if x.layout is not strided:
        return reduce_sparse(x)
    if x.is_cuda or x.is_meta or not x._storage_ptr():
        return x.__reduce_ex__(5)
    memory = _in_shared_memory(x)
    place = (tuple(memory.shape), memory.stride(), memory.storage_offset())
    handle = enclose(memory) or reduction.DupFd(memory._shared_file())
    return rebuild_tensor, (cls, handle, memory._storage_nbytes(), x.dtype, place, x.requires_grad, state)


def _in_shared_memory(x: Tensor) -> Tensor:
    if not x.is_shared() and threading.current_thread() is threading.main_thread():
        try:
            x.share_memory_()
        except RuntimeError:  # others look at it
            return shared_copy(x)
    return x if x.is_shared() else shared_copy(x)


def init_reductions() -> None:
    """From now on what is pickled for `multiprocessing` sends tensors and parameters as handles."""
    for cls in (Tensor, Parameter):
        ForkingPickler.register(cls, reduce_tensor)
