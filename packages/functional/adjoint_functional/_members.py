"""The members of a batch, inside of vmap, for functions that look at the values of their arguments."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from adjoint_core import Tensor, stack
from adjoint_engine import _engine


def _batch_of(tensors: list[Tensor]) -> int:
    """The innermost level that the tensors belong to, if it is one of vmap, else 0."""
    slot: int = _engine.innermost_slot(tensors)
    return slot if slot and _engine.slot_info(slot)[0] == "batch" else 0


def has_more_members(x: Tensor, y: Tensor) -> bool:
    """Whether members of a batch have an x of their own, but the same y."""
    slot = _batch_of([x])
    return bool(slot) and not _engine.is_batched(y, slot)


def call_of_each(f: Callable[..., Tensor], *args: Any) -> Tensor:
    """`f(*args)` of each member of the batch that is innermost, and those of batches around it; what f reads is then its own."""
    slot = _batch_of([a for a in args if isinstance(a, Tensor)])
    if not slot:
        raise RuntimeError("vmap: values of one member of a batch are read inside of another transform")
    batched = [isinstance(a, Tensor) and _engine.is_batched(a, slot) for a in args]
    given = [_engine.unbatch(a, slot, 0) if b else a for a, b in zip(args, batched, strict=True)]
    each = [f(*(a[i] if b else a for a, b in zip(given, batched, strict=True))) for i in range(_engine.slot_info(slot)[2])]
    return _engine.lift_batch(stack(each), slot, 0)
