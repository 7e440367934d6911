"""The members of a batch, inside of vmap, for functions that look at the values of their arguments."""

from __future__ import annotations

from adjoint_core import Tensor
from adjoint_engine import _engine


def has_more_members(x: Tensor, y: Tensor) -> bool:
    """Whether members of a batch, of any that is open, have an x of their own, but the same y."""
    return not set(_engine.batches_of(x)) <= set(_engine.batches_of(y))
