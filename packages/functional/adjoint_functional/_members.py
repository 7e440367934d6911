"""The members of a batch, inside of vmap, for functions that look at the values of their arguments."""

from __future__ import annotations

from adjoint_core import Tensor
from adjoint_engine import _engine


def _batch_of(tensors: list[Tensor]) -> int:
    """The innermost level that the tensors belong to, if it is one of vmap, else 0."""
    slot: int = _engine.innermost_slot(tensors)
    return slot if slot and _engine.slot_info(slot)[0] == "batch" else 0


def has_more_members(x: Tensor, y: Tensor) -> bool:
    """Whether members of a batch have an x of their own, but the same y."""
    slot = _batch_of([x])
    return bool(slot) and not _engine.is_batched(y, slot)
