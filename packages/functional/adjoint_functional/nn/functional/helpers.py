"""Helpers that stand beside PyTorch's functions, and that copies of these functions in libraries import."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import adjoint_core as core
from adjoint_core import Tensor
from adjoint_core._warnings import warn

from .linear import linear


def _verify_batch_size(size: Sequence[int]) -> None:
    """Raises ValueError if each channel of a batch has a single value, so that it has no variance."""
    count = size[0]
    for n in size[2:]:
        count *= n
    if count == 1:
        raise ValueError(f"Expected more than 1 value per channel when training, got input size {size}")


def _get_softmax_dim(name: str, ndim: int, stacklevel: int) -> int:
    """The dimension that functions along one took before they asked for it."""
    warn(f"Implicit dimension choice for {name} has been deprecated. Change the call to include dim=X as an argument.")
    return 0 if ndim in (0, 1, 3) else 1


def _none_or_dtype(tensor: Tensor | None) -> Any:
    """The type of a tensor that may be None."""
    if tensor is not None and not isinstance(tensor, Tensor):
        raise RuntimeError("input to _none_or_dtype() must be None or torch.Tensor")
    return None if tensor is None else tensor.dtype


def _canonical_mask(
    mask: Tensor | None, mask_name: str, other_type: Any, other_name: str, target_type: Any, check_other: bool = True
) -> Tensor | None:
    """A mask as numbers that are added to scores: -inf where a mask of truth values is True.

    Raises:
        RuntimeError: the mask is neither of truth values nor of floating point.
    """
    if mask is None:
        return None
    if mask.dtype != core.bool and not mask.is_floating_point():
        raise RuntimeError(f"only bool and floating types of {mask_name} are supported")
    if check_other and other_type is not None and mask.dtype != other_type:
        warn(f"Support for mismatched {mask_name} and {other_name} is deprecated. Use same type for both instead.")
    if mask.dtype == core.bool:
        return core.zeros_like(mask, dtype=target_type).masked_fill_(mask, -core.inf)
    return mask


def _in_projection(
    q: Tensor, k: Tensor, v: Tensor, w_q: Tensor, w_k: Tensor, w_v: Tensor,
    b_q: Tensor | None = None, b_k: Tensor | None = None, b_v: Tensor | None = None,
) -> tuple[Tensor, Tensor, Tensor]:  # fmt: skip
    """Queries, keys and values, each mapped by a weight of its own."""
    width = q.size(-1)
    for name, w, n in (("query", w_q, width), ("key", w_k, k.size(-1)), ("value", w_v, v.size(-1))):
        if tuple(w.shape) != (width, n):
            raise AssertionError(f"expecting {name} weights shape of {(width, n)}, but got {w.shape}")
    for name, b in (("query", b_q), ("key", b_k), ("value", b_v)):
        if b is not None and tuple(b.shape) != (width,):
            raise AssertionError(f"expecting {name} bias shape of {(width,)}, but got {b.shape}")
    return tuple(linear(x, w, b) for x, w, b in ((q, w_q, b_q), (k, w_k, b_k), (v, w_v, b_v)))  # type: ignore[return-value]


def _in_projection_packed(q: Tensor, k: Tensor, v: Tensor, w: Tensor, b: Tensor | None = None) -> list[Tensor]:
    """Queries, keys and values, each mapped by its third of the rows of one weight."""
    biases = (None,) * 3 if b is None else b.chunk(3)
    return [linear(x, rows, bias) for x, rows, bias in zip((q, k, v), w.chunk(3), biases, strict=True)]


def _mha_shape_check(
    query: Tensor, key: Tensor, value: Tensor, key_padding_mask: Tensor | None, attn_mask: Tensor | None, num_heads: int
) -> bool:
    """Whether the query is a batch.

    Raises:
        AssertionError: the other arguments do not fit it.
    """
    n = query.dim()
    if n not in (2, 3):
        raise AssertionError(f"query should be unbatched 2D or batched 3D tensor but received {n}-D query tensor")
    wanted = [("key", key, (n,)), ("value", value, (n,)), ("key_padding_mask", key_padding_mask, (n - 1,))]
    for name, x, ranks in [*wanted, ("attn_mask", attn_mask, (2, 3))]:
        if x is not None and x.dim() not in ranks:
            kind, allowed = "batched" if n == 3 else "unbatched", " or ".join(f"{rank}-D" for rank in ranks)
            raise AssertionError(
                f"For {kind} ({n}-D) `query`, expected `{name}` to be {allowed} but found {x.dim()}-D tensor instead"
            )
    if n == 2 and attn_mask is not None and attn_mask.dim() == 3:
        expected = (num_heads, query.shape[0], key.shape[0])
        if tuple(attn_mask.shape) != expected:
            raise AssertionError(f"Expected `attn_mask` shape to be {expected} but got {attn_mask.shape}")
    return n == 3
