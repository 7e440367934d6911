"""Rows of a table by their numbers, for `nn.functional`."""

from __future__ import annotations

import warnings

from adjoint_core import Tensor, _core
from adjoint_core._compose import node
from adjoint_engine._engine import any_lifted

from ..._members import has_more_members


def _padding_row(name: str, weight: Tensor, padding_idx: int | None) -> int:
    """The row that does not count, -1 if there is none."""
    if padding_idx is None:
        return -1
    rows = weight.size(0)
    if not -rows <= padding_idx < rows:
        raise IndexError(f"{name}: padding_idx must be within the {rows} rows of weight, got {padding_idx}")
    return padding_idx % rows


def _shorten_rows(weight: Tensor, input: Tensor, max_norm: float, norm_type: float) -> None:
    """Scales the rows used to norm `max_norm` where they are longer, outside of any graph."""
    table, places = weight.detach(), input.reshape(-1)
    if any_lifted((table, input)):  # members of a batch use rows of their own, more or fewer of them
        if has_more_members(input, weight):
            raise RuntimeError(
                "embedding: vmap: max_norm shortens rows of weight, which are not each member's own, as input's are"
            )
        used = _core.zeros(len(table), dtype=_core.bool, device=table.device).index_fill(0, places, True)
        table.copy_(_core.where(used.unsqueeze(1), _shortened(table, max_norm, norm_type), table))
    else:
        used = places.unique()
        table[used] = _shortened(
            table.index_select(0, used), max_norm, norm_type
        )  # which refuses what is no row, before anything is written


def _shortened(rows: Tensor, max_norm: float, norm_type: float) -> Tensor:
    norms = rows.norm(norm_type, 1, keepdim=True)
    return _core.where(norms > max_norm, rows * (max_norm / (norms + 1e-7)), rows)


def embedding(
    input: Tensor,
    weight: Tensor,
    padding_idx: int | None = None,
    max_norm: float | None = None,
    norm_type: float = 2.0,
    scale_grad_by_freq: bool = False,
    sparse: bool = False,
) -> Tensor:
    """The rows of `weight` that `input` names.

    Arguments:
        input: integers of any shape.
        weight: (rows, features).
        padding_idx: a row whose gradient is zero.
        max_norm: rows that are used and longer than this are first shortened to it, in place and outside of the graph.
        norm_type: the p of that norm.
        scale_grad_by_freq: the gradient of a row is divided by how often it is used.
        sparse: the gradient of `weight` is a sparse tensor of the rows used.

    Example::

        >>> ad.nn.functional.embedding(ad.tensor([1, 0]), ad.tensor([[1., 2.], [3., 4.]]))
        tensor([[3., 4.],
                [1., 2.]])
    """
    if scale_grad_by_freq and sparse and weight.requires_grad:
        raise RuntimeError("embedding: scale_grad_by_freq not supported with sparse gradients")
    if max_norm is not None:
        _shorten_rows(weight, input, max_norm, norm_type)
    return _core._embedding(weight, input, _padding_row("embedding", weight, padding_idx), scale_grad_by_freq, sparse)


def _expect_weights(weights: Tensor | None, input: Tensor, mode: str) -> None:
    if weights is not None and mode != "sum":
        raise NotImplementedError(
            f"embedding_bag: per_sample_weights was not None. per_sample_weights is only supported for mode='sum' (got mode='{mode}')"
        )
    if weights is not None and weights.shape != input.shape:
        raise ValueError(
            f"embedding_bag: If per_sample_weights ({list(weights.shape)}) is not None, then it must have the same shape as the "
            f"input ({list(input.shape)})"
        )


def _composed_bags(
    input: Tensor,
    weight: Tensor,
    offsets: Tensor | None,
    by_frequency: bool,
    mode: str,
    sparse: bool,
    weights: Tensor | None,
    closed: bool,
    padding: int,
) -> Tensor:
    """Bags of integers and complex numbers, and those whose gradient is sparse or divided by how often a row is used."""
    if input.ndim == 2:
        bags, bag = input.size(0), _core.arange(input.size(0), device=input.device).repeat_interleave(input.size(1))
    elif offsets is None:
        raise ValueError("offsets has to be a 1D Tensor but got None")
    else:
        bags = offsets.numel() - closed
        bag = _core.searchsorted(offsets, _core.arange(input.numel(), device=input.device), right=True) - 1
    rows = embedding(input.reshape(-1), weight, None, None, 2.0, by_frequency, sparse)
    if weights is not None:
        rows = rows * weights.reshape(-1, 1)
    out = _core.zeros(bags + 1, weight.size(1), dtype=rows.dtype, device=rows.device)  # the last one takes what does not count
    bag = _core.where(input.reshape(-1) == padding, bags, bag)
    if mode == "max":
        return out.scatter_reduce(0, bag.unsqueeze(1).expand_as(rows), rows, "amax", include_self=False)[:bags]
    total = out.index_add(0, bag, rows)[:bags]
    if mode == "sum":
        return total
    counts = _core.zeros(bags + 1, dtype=_core.int64, device=bag.device).index_add(0, bag, _core.ones_like(bag))[:bags]
    return total / counts.clamp_min(1).unsqueeze(1)


@node("EmbeddingBagBackward0")
def embedding_bag(
    input: Tensor,
    weight: Tensor,
    offsets: Tensor | None = None,
    max_norm: float | None = None,
    norm_type: float = 2,
    scale_grad_by_freq: bool = False,
    mode: str = "mean",
    sparse: bool = False,
    per_sample_weights: Tensor | None = None,
    include_last_offset: bool = False,
    padding_idx: int | None = None,
) -> Tensor:
    """The sum, mean or max of the rows of `weight` that each bag names: rows of a 2-d `input`, or parts of a 1-d one from `offsets`.

    Example::

        >>> ad.nn.functional.embedding_bag(ad.tensor([[0, 1], [1, 1]]), ad.tensor([[1.0], [3.0]]))
        tensor([[2.],
                [3.]])
    """
    if weight.dtype is _core.int64 and input.is_floating_point():
        warnings.warn(
            "Argument order of nn.functional.embedding_bag was changed. Usage `embedding_bag(weight, input, ...)` is deprecated, "
            "and should now be `embedding_bag(input, weight, ...)`.",
            stacklevel=2,
        )
        weight, input = input, weight
    if mode not in ("sum", "mean", "max"):
        raise ValueError(f"mode has to be one of sum, mean or max, got {mode}")
    _expect_weights(per_sample_weights, input, mode)
    if offsets is not None and input.ndim == 2:
        raise ValueError(
            "if input is 2D, then offsets has to be None, as input is treated is a mini-batch of fixed length sequences. "
            f"However, found offsets of type {type(offsets)}"
        )
    if max_norm is not None:
        _shorten_rows(weight, input, max_norm, norm_type)
    padding = _padding_row("embedding_bag", weight, padding_idx)
    if weight.is_floating_point() and not sparse and not scale_grad_by_freq:
        how = ("sum", "mean", "max").index(mode)
        return _core._embedding_bag(weight, input, offsets, per_sample_weights, how, padding, include_last_offset)
    return _composed_bags(
        input, weight, offsets, scale_grad_by_freq, mode, sparse, per_sample_weights, include_last_offset, padding
    )


def one_hot(tensor: Tensor, num_classes: int = -1) -> Tensor:
    """A new last dimension of zeros, with a one at the index.

    Example::

        >>> ad.nn.functional.one_hot(ad.tensor([0, 2]), 3)
        tensor([[1, 0, 0],
                [0, 0, 1]])
    """
    return _core._one_hot(tensor, num_classes)
