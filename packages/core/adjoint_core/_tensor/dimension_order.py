"""`Tensor.dim_order`: in which order the dimensions lie in memory."""

from __future__ import annotations

from itertools import pairwise

from .. import _core
from .._core import Tensor
from .naming import method

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any


def _is_channels_last(x: Tensor) -> bool:
    return x.ndim == 4 and x.is_contiguous(memory_format=_core.channels_last)


def _lies_inside(x: Tensor, a: int, b: int) -> int:
    """Whether dimension `a` lies inside of `b` (1) or outside (-1); 0 where the strides do not tell."""
    s, t = x.stride(a), x.stride(b)
    if s == 0 or t == 0:
        return 0
    if s != t:
        return 1 if s < t else -1
    return 1 if x.size(a) < x.size(b) else 0


def _sorted_by_strides(x: Tensor) -> list[int]:
    """The dimensions, outermost first; those that the strides do not tell apart stay in their order."""
    order = list(range(x.ndim))
    for last in range(x.ndim - 2, -1, -1):
        moving = last
        for other in range(last + 1, x.ndim):
            way = _lies_inside(x, order[moving], order[other])
            if way < 0:
                break
            if way > 0:
                order[moving], order[other] = order[other], order[moving]
                moving = other
    return order


def _is_ambiguous(x: Tensor) -> bool:
    if 1 in x.shape or any(s == t for s, t in pairwise(x.stride())):
        return True
    return not x.is_contiguous() and x.ndim > 1 and (0 in x.stride() or len({*x.stride()}) < x.ndim)


@method
def dim_order(self: Tensor, ambiguity_check: bool | list[Any] = False) -> tuple[int, ...]:
    """The dimensions in the order in which they lie in memory, outermost first.

    Arguments:
        ambiguity_check: True: there must be no other order; a list of memory formats: or the tensor must have exactly one of them.

    Raises:
        RuntimeError: it does not hold.
        TypeError: neither a bool nor a list of memory formats.

    Example::

        >>> ad.zeros(2, 3).t().dim_order()
        (1, 0)
    """
    formats = [] if isinstance(ambiguity_check, bool) else ambiguity_check
    if not isinstance(formats, list) or not all(isinstance(form, _core.memory_format) for form in formats):
        raise TypeError("The ambiguity_check argument must be a bool or a list of memory formats.")
    contiguous, channels_last = self.is_contiguous(), _is_channels_last(self)
    plain = contiguous != channels_last
    if ambiguity_check is not False and _is_ambiguous(self):
        if not plain or sum(self.is_contiguous(memory_format=form) for form in formats) != 1:
            raise RuntimeError(
                "The tensor does not have unique dim order, or cannot map to exact one of the given memory formats."
            )
    if plain:
        return tuple(range(self.ndim)) if contiguous else (0, *range(2, self.ndim), 1)
    return tuple(_sorted_by_strides(self))
