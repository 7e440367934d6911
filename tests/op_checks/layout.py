"""The same numbers at other strides."""

from __future__ import annotations

from typing import Any

import adjoint as ad


def transposed(t: Any) -> Any:
    """Memory in reversed order of dimensions."""
    order = tuple(reversed(range(t.dim())))
    return t.permute(order).contiguous().permute(order)


def strided(t: Any) -> Any:
    """Every second element of a larger tensor that starts later in its memory."""
    if t.dim() == 0:
        return ad.stack([ad.zeros_like(t), t])[1]
    wide = ad.stack([ad.zeros_like(t), t], t.dim()).flatten(-2)
    return wide[..., 1::2]


def expanded(t: Any) -> Any:
    """All rows are one row of memory; the numbers differ from those of `t`."""
    return t[:1].expand(t.shape) if t.dim() and t.shape[0] else t


LAYOUTS = (transposed, strided, expanded)
