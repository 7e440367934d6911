"""What a tensor inside of a transform is made of: what tools ask that look below `vmap`, `grad` and `jvp`."""

from __future__ import annotations

from adjoint_core import Tensor
from adjoint_engine import _engine


def _innermost(tensor: Tensor) -> tuple[int, int, Tensor] | None:
    """The level that the tensor belongs to, its batch dimension or -1, and its value below; None outside of transforms."""
    found = _engine.layer(tensor)
    return None if found is None or found[0] == 0 else found[:3]


def is_functorch_wrapped_tensor(tensor: Tensor) -> bool:
    """Whether the tensor belongs to a transform that runs."""
    return _innermost(tensor) is not None


def is_batchedtensor(tensor: Tensor) -> bool:
    """Whether the innermost transform that the tensor belongs to is a `vmap`."""
    found = _innermost(tensor)
    return found is not None and found[1] >= 0


def is_gradtrackingtensor(tensor: Tensor) -> bool:
    """Whether the innermost transform that the tensor belongs to takes derivatives."""
    found = _innermost(tensor)
    return found is not None and found[1] < 0


def is_functionaltensor(tensor: Tensor) -> bool:
    """False: `functionalize` needs no tensors of its own."""
    return False


def maybe_get_bdim(tensor: Tensor) -> int:
    """Where the batch lies in the value of a batched tensor; -1 for others."""
    found = _innermost(tensor)
    return -1 if found is None else found[1]


def maybe_get_level(tensor: Tensor) -> int:
    """The level that the tensor belongs to, counted from 1; -1 outside of transforms."""
    found = _innermost(tensor)
    return -1 if found is None else found[0]


def maybe_current_level() -> int | None:
    """The level of the innermost transform that runs; None outside."""
    return _engine.level_depth() or None


def get_unwrapped(tensor: Tensor) -> Tensor:
    """The value below the innermost transform that the tensor belongs to."""
    found = _innermost(tensor)
    if found is None:
        raise RuntimeError("get_unwrapped: the tensor belongs to no transform that runs")
    return found[2]


def debug_unwrap(tensor: Tensor, *, recurse: bool = True) -> Tensor:
    """The value below the transforms that the tensor belongs to, for printing and debuggers: with all lanes of a batch.

    Arguments:
        tensor: of a transform or not.
        recurse: below all of them, not the innermost alone.

    Example::

        >>> seen = []
        >>> _ = ad.vmap(lambda x: seen.append(ad.func.debug_unwrap(x).shape) or x)(ad.ones(2, 3))
        >>> seen
        [adjoint.Size([2, 3])]
    """
    found = _innermost(tensor)
    while found is not None:
        tensor = found[2]
        found = _innermost(tensor) if recurse else None
    return tensor
