"""Functions of the `torch` namespace below those of `nn.functional`: they give more results, or take arguments by position and number."""

from __future__ import annotations

from collections.abc import Sequence

from adjoint_core import Tensor, _core
from adjoint_core._compose import check_all, method

from .. import functional as _functional

__all__ = [
    "_addmm_activation", "_native_batch_norm_legit", "_unsafe_masked_index", "_unsafe_masked_index_put_accumulate", "cosine_embedding_loss",
    "embedding_bag", "grid_sampler", "grid_sampler_2d", "grid_sampler_3d", "hinge_embedding_loss", "margin_ranking_loss",
    "native_batch_norm", "native_group_norm", "native_layer_norm", "poisson_nll_loss",
]  # fmt: skip

_REDUCTIONS = ("none", "mean", "sum")
_BAGS = ("sum", "mean", "max")


@method
def _addmm_activation(
    input: Tensor, mat1: Tensor, mat2: Tensor, *, beta: float = 1, alpha: float = 1, use_gelu: bool = False
) -> Tensor:
    """`relu` of `addmm`, or `gelu`."""
    found = _core.addmm(input, mat1, mat2, beta=beta, alpha=alpha)
    return _functional.gelu(found) if use_gelu else _functional.relu(found)


# ---- normalisations with their statistics


def native_layer_norm(
    input: Tensor, normalized_shape: Sequence[int], weight: Tensor | None, bias: Tensor | None, eps: float
) -> tuple[Tensor, Tensor, Tensor]:
    """`nn.functional.layer_norm`, with the means and the inverse deviations.

    Example::

        >>> ad.native_layer_norm(ad.tensor([1.0, 3.0]), [2], None, None, 0.0)[1]
        tensor([2.])
    """
    return _core._native_layer_norm(input, normalized_shape, weight, bias, eps)


def native_group_norm(
    input: Tensor, weight: Tensor | None, bias: Tensor | None, N: int, C: int, HxW: int, group: int, eps: float
) -> tuple[Tensor, Tensor, Tensor]:
    """`nn.functional.group_norm`, with the means and the inverse deviations (N, group).

    Example::

        >>> ad.native_group_norm(ad.ones(1, 2, 1), None, None, 1, 2, 1, 1, 0.5)[1]
        tensor([[1.]])
    """
    return _core._native_group_norm(input, N, group, C // group * HxW, weight, bias, eps)


def native_batch_norm(
    input: Tensor,
    weight: Tensor | None,
    bias: Tensor | None,
    running_mean: Tensor | None,
    running_var: Tensor | None,
    training: bool,
    momentum: float,
    eps: float,
) -> tuple[Tensor, Tensor, Tensor]:
    """`nn.functional.batch_norm`, with the means and the inverse deviations that it took of the input: none, outside of training.

    Example::

        >>> ad.native_batch_norm(ad.tensor([[1.0], [3.0]]), None, None, None, None, True, 0.1, 0.0)[1]
        tensor([2.])
    """
    if training:
        return _core._native_batch_norm(input, running_mean, running_var, weight, bias, momentum, eps)
    y = _functional.batch_norm(input, running_mean, running_var, weight, bias, training, momentum, eps)
    return y, input.new_empty(0), input.new_empty(0)


def _native_batch_norm_legit(
    input: Tensor,
    weight: Tensor | None,
    bias: Tensor | None,
    running_mean: Tensor | bool | None,
    running_var: Tensor | float | None,
    training: bool | float,
    momentum: float | None = None,
    eps: float | None = None,
) -> tuple[Tensor, Tensor, Tensor]:
    """`native_batch_norm`, whose running statistics may be left out."""
    if momentum is None or eps is None:
        return native_batch_norm(input, weight, bias, None, None, running_mean, running_var, training)  # type: ignore[arg-type]
    return native_batch_norm(input, weight, bias, running_mean, running_var, training, momentum, eps)  # type: ignore[arg-type]


# ---- grids and bags


def grid_sampler(input: Tensor, grid: Tensor, interpolation_mode: int, padding_mode: int, align_corners: bool) -> Tensor:
    """`nn.functional.grid_sample` with modes by number: bilinear, nearest, bicubic; zeros, border, reflection.

    Example::

        >>> ad.grid_sampler(ad.arange(4.0).reshape(1, 1, 2, 2), ad.zeros(1, 1, 1, 2), 0, 0, True)
        tensor([[[[1.5000]]]])
    """
    return _core._grid_sample(input, grid, interpolation_mode, padding_mode, align_corners)


grid_sampler_2d = grid_sampler_3d = grid_sampler


def embedding_bag(
    weight: Tensor,
    indices: Tensor,
    offsets: Tensor,
    scale_grad_by_freq: bool = False,
    mode: int = 0,
    sparse: bool = False,
    per_sample_weights: Tensor | None = None,
    include_last_offset: bool = False,
    padding_idx: int | None = None,
) -> tuple[Tensor, Tensor, Tensor, Tensor]:
    """`nn.functional.embedding_bag` with the mode by number (sum, mean, max), with the bag of each index and the sizes of bags twice.

    Example::

        >>> ad.embedding_bag(ad.ones(2, 1), ad.tensor([0, 1, 1]), ad.tensor([0, 1]), False, 1)[2]
        tensor([1, 2])
    """
    y = _functional.embedding_bag(
        indices, weight, offsets, None, 2.0, scale_grad_by_freq, _BAGS[mode], sparse, per_sample_weights,
        include_last_offset, padding_idx,
    )  # fmt: skip
    starts = offsets[:-1] if include_last_offset else offsets
    bag = _core.searchsorted(starts, _core.arange(indices.numel(), dtype=starts.dtype, device=starts.device), right=True) - 1
    size = _core.zeros(starts.numel(), dtype=starts.dtype, device=starts.device).index_add(
        0, bag, _core.ones_like(bag, dtype=starts.dtype)
    )
    return y, bag.to(indices.dtype), size, size.clone()


# ---- losses, their reductions by number


def cosine_embedding_loss(input1: Tensor, input2: Tensor, target: Tensor, margin: float = 0.0, reduction: int = 0) -> Tensor:
    """`nn.functional.cosine_embedding_loss`.

    Example::

        >>> ad.cosine_embedding_loss(ad.ones(1, 2), -ad.ones(1, 2), ad.tensor([1]))
        tensor([2.])
    """
    return _functional.cosine_embedding_loss(input1, input2, target, margin, reduction=_REDUCTIONS[reduction])


def hinge_embedding_loss(input: Tensor, target: Tensor, margin: float = 1.0, reduction: int = 0) -> Tensor:
    """`nn.functional.hinge_embedding_loss`.

    Example::

        >>> ad.hinge_embedding_loss(ad.tensor([0.5, 0.25]), ad.tensor([1, -1]))
        tensor([0.5000, 0.7500])
    """
    return _functional.hinge_embedding_loss(input, target, margin, reduction=_REDUCTIONS[reduction])


def margin_ranking_loss(input1: Tensor, input2: Tensor, target: Tensor, margin: float = 0.0, reduction: int = 0) -> Tensor:
    """`nn.functional.margin_ranking_loss`.

    Example::

        >>> ad.margin_ranking_loss(ad.tensor([1.0]), ad.tensor([3.0]), ad.tensor([1]))
        tensor([2.])
    """
    return _functional.margin_ranking_loss(input1, input2, target, margin, reduction=_REDUCTIONS[reduction])


def poisson_nll_loss(input: Tensor, target: Tensor, log_input: bool, full: bool, eps: float, reduction: int) -> Tensor:
    """`nn.functional.poisson_nll_loss`.

    Example::

        >>> ad.poisson_nll_loss(ad.tensor([0.0]), ad.tensor([2.0]), True, False, 1e-8, 1)
        tensor(1.)
    """
    return _functional.poisson_nll_loss(input, target, log_input, full, None, eps, reduction=_REDUCTIONS[reduction])


# ---- reads and writes through a mask


def _within(input: Tensor, indices: Sequence[Tensor | None]) -> tuple[object, ...]:
    """The positions, brought within the tensor."""
    return tuple(slice(None) if i is None else i.clamp(-n, n - 1) for i, n in zip(indices, input.shape))


def _unsafe_masked_index(input: Tensor, mask: Tensor, indices: Sequence[Tensor | None], fill: float) -> Tensor:
    """The elements at the positions, and `fill` where the mask does not hold, whatever the position."""
    return input[_within(input, indices)].masked_fill(~mask, fill)


def _unsafe_masked_index_put_accumulate(
    input: Tensor, mask: Tensor, indices: Sequence[Tensor | None], values: Tensor
) -> Tensor:
    """The tensor with values added at the positions where the mask holds."""
    y = input.clone()
    added = values.masked_fill(~mask, 0)
    return y.index_put(_within(input, indices), added, accumulate=True)  # type: ignore[arg-type]


check_all(globals())
