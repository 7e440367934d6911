"""Functions of `nn.functional` that PyTorch also has at the top, some with arguments in another order."""

from __future__ import annotations

from collections.abc import Sequence

from adjoint_core import Tensor
from adjoint_core._compose import check_all
from adjoint_core._warnings import warn_once

from ...linalg import matrix_power, multi_dot
from .. import functional as _functional
from . import (
    adaptive_avg_pool1d,
    avg_pool1d,
    bilinear,
    celu,
    celu_,
    channel_shuffle,
    conv1d,
    conv2d,
    conv3d,
    conv_transpose1d,
    conv_transpose2d,
    conv_transpose3d,
    cosine_similarity,
    hardshrink,
    max_pool1d,
    max_pool2d,
    max_pool3d,
    pairwise_distance,
    pixel_shuffle,
    pixel_unshuffle,
    prelu,
    rms_norm,
    rrelu,
    rrelu_,
    selu,
    selu_,
    threshold_,
)

__all__ = [
    "adaptive_avg_pool1d", "adaptive_max_pool1d", "alpha_dropout", "avg_pool1d", "batch_norm", "bilinear",
    "binary_cross_entropy_with_logits", "celu", "celu_", "chain_matmul", "channel_shuffle", "constant_pad_nd", "conv1d", "conv2d", "conv3d", "conv_transpose1d", "conv_transpose2d",
    "conv_transpose3d", "cosine_similarity", "ctc_loss", "dropout_", "embedding", "group_norm", "hardshrink", "instance_norm", "kl_div",
    "layer_norm", "matrix_power", "max_pool1d", "max_pool2d", "max_pool3d", "pairwise_distance", "pixel_shuffle",
    "pixel_unshuffle", "prelu", "rms_norm", "rrelu", "rrelu_", "selu", "selu_", "threshold", "threshold_", "triplet_margin_loss",
]  # fmt: skip

for _name in ("hardshrink", "matrix_power", "prelu"):
    setattr(Tensor, _name, globals()[_name])


def adaptive_max_pool1d(input: Tensor, output_size: int | Sequence[int]) -> tuple[Tensor, Tensor]:
    """The largest element of each of so many windows, and where it stands.

    Example::

        >>> ad.adaptive_max_pool1d(ad.tensor([[1.0, 5.0, 2.0, 3.0]]), 2)
        (tensor([[5., 3.]]), tensor([[1, 3]]))
    """
    return _functional.adaptive_max_pool1d_with_indices(input, output_size)


def alpha_dropout(input: Tensor, p: float, train: bool) -> Tensor:
    """Dropout that keeps mean and variance of selu activations.

    Example::

        >>> ad.alpha_dropout(ad.ones(2), 0.5, False)
        tensor([1., 1.])
    """
    return _functional.alpha_dropout(input, p, train)


def dropout_(input: Tensor, p: float, train: bool) -> Tensor:
    """Zeroes elements in place with probability p and scales the others by 1 / (1 - p).

    Example::

        >>> ad.dropout_(ad.ones(2), 0.5, False)
        tensor([1., 1.])
    """
    return _functional.dropout(input, p, train, inplace=True)


def embedding(
    weight: Tensor, indices: Tensor, padding_idx: int = -1, scale_grad_by_freq: bool = False, sparse: bool = False
) -> Tensor:
    """The rows of `weight` that `indices` names.

    Example::

        >>> ad.embedding(ad.tensor([[1.0, 2.0], [3.0, 4.0]]), ad.tensor([1, 0]))
        tensor([[3., 4.],
                [1., 2.]])
    """
    return _functional.embedding(
        indices, weight, None if padding_idx < 0 else padding_idx, None, 2.0, scale_grad_by_freq, sparse
    )


def batch_norm(
    input: Tensor,
    weight: Tensor | None,
    bias: Tensor | None,
    running_mean: Tensor | None,
    running_var: Tensor | None,
    training: bool,
    momentum: float,
    eps: float,
    cudnn_enabled: bool = True,
) -> Tensor:
    """Zero mean and unit variance for each channel (dimension 1), then weight and bias.

    Example::

        >>> ad.batch_norm(ad.tensor([[1.0], [3.0]]), None, None, None, None, True, 0.1, 0.0)
        tensor([[-1.],
                [ 1.]])
    """
    return _functional.batch_norm(input, running_mean, running_var, weight, bias, training, momentum, eps)


def instance_norm(
    input: Tensor,
    weight: Tensor | None,
    bias: Tensor | None,
    running_mean: Tensor | None,
    running_var: Tensor | None,
    use_input_stats: bool,
    momentum: float,
    eps: float,
    cudnn_enabled: bool = True,
) -> Tensor:
    """Zero mean and unit variance for each sample and channel, then weight and bias.

    Example::

        >>> ad.instance_norm(ad.tensor([[[1.0, 3.0]]]), None, None, None, None, True, 0.1, 0.0)
        tensor([[[-1.,  1.]]])
    """
    return _functional.instance_norm(input, running_mean, running_var, weight, bias, use_input_stats, momentum, eps)


def layer_norm(
    input: Tensor,
    normalized_shape: Sequence[int],
    weight: Tensor | None = None,
    bias: Tensor | None = None,
    eps: float = 1e-5,
    cudnn_enable: bool = True,
) -> Tensor:
    """Zero mean and unit variance over the last dimensions, then weight and bias.

    Example::

        >>> ad.layer_norm(ad.tensor([1.0, 3.0]), [2], eps=0.0)
        tensor([-1.,  1.])
    """
    return _functional.layer_norm(input, normalized_shape, weight, bias, eps)


def group_norm(
    input: Tensor,
    num_groups: int,
    weight: Tensor | None = None,
    bias: Tensor | None = None,
    eps: float = 1e-5,
    cudnn_enabled: bool = True,
) -> Tensor:
    """Zero mean and unit variance over each of `num_groups` groups of channels, then weight and bias.

    Example::

        >>> ad.group_norm(ad.tensor([[1.0, 3.0]]), 1, eps=0.0)
        tensor([[-1.,  1.]])
    """
    return _functional.group_norm(input, num_groups, weight, bias, eps)


# What the functions below take by number; unlike those of nn.functional they leave it at none.
_REDUCTIONS = ("none", "mean", "sum")


def binary_cross_entropy_with_logits(
    input: Tensor, target: Tensor, weight: Tensor | None = None, pos_weight: Tensor | None = None, reduction: int = 0
) -> Tensor:
    """Cross entropy of truth values with probabilities sigmoid(input).

    Example::

        >>> ad.binary_cross_entropy_with_logits(ad.tensor([0.0]), ad.tensor([1.0]))
        tensor([0.6931])
    """
    return _functional.binary_cross_entropy_with_logits(
        input, target, weight, reduction=_REDUCTIONS[reduction], pos_weight=pos_weight
    )


def kl_div(input: Tensor, target: Tensor, reduction: int = 0, *, log_target: bool = False) -> Tensor:
    """target * (log(target) - input).

    Example::

        >>> ad.kl_div(ad.tensor([0.5, 0.5]).log(), ad.tensor([1.0, 0.0]), reduction=2)
        tensor(0.6931)
    """
    return _functional.kl_div(input, target, reduction=_REDUCTIONS[reduction], log_target=log_target)


def ctc_loss(
    log_probs: Tensor,
    targets: Tensor,
    input_lengths: Tensor | Sequence[int],
    target_lengths: Tensor | Sequence[int],
    blank: int = 0,
    reduction: int = 0,
    zero_infinity: bool = False,
) -> Tensor:
    """Minus the log-probability of label sequences, summed over all their alignments with the input.

    Example::

        >>> ad.ctc_loss(ad.full((2, 1, 2), 0.5).log(), ad.tensor([[1]]), [2], [1])
        tensor([0.2877])
    """
    return _functional.ctc_loss(log_probs, targets, input_lengths, target_lengths, blank, _REDUCTIONS[reduction], zero_infinity)


def triplet_margin_loss(
    anchor: Tensor,
    positive: Tensor,
    negative: Tensor,
    margin: float = 1.0,
    p: float = 2.0,
    eps: float = 1e-6,
    swap: bool = False,
    reduction: int = 0,
) -> Tensor:
    """How much nearer than `margin` the negative is to the anchor, compared with the positive.

    Example::

        >>> ad.triplet_margin_loss(ad.zeros(1, 1), ad.zeros(1, 1), ad.tensor([[0.25]]))
        tensor([0.7500])
    """
    return _functional.triplet_margin_loss(anchor, positive, negative, margin, p, eps, swap, reduction=_REDUCTIONS[reduction])


def chain_matmul(*matrices: Tensor) -> Tensor:
    """The product of matrices in the cheapest order: another way to call `linalg.multi_dot`.

    Example::

        >>> ad.chain_matmul(ad.ones(2, 3), ad.ones(3, 4), ad.ones(4, 1))
        tensor([[12.],
                [12.]])
    """
    warn_once(
        "torch.chain_matmul is deprecated and will be removed in a future PyTorch release. Use torch.linalg.multi_dot instead, "
        "which accepts a list of two or more tensors rather than multiple parameters."
    )
    return matrices[0] if len(matrices) == 1 else multi_dot(matrices)


def threshold(input: Tensor, threshold: float, value: float) -> Tensor:
    """x where x > threshold, `value` elsewhere.

    Example::

        >>> ad.threshold(ad.tensor([0.5, 2.0]), 1.0, -1.0)
        tensor([-1.,  2.])
    """
    return _functional.threshold(input, threshold, value)


def constant_pad_nd(input: Tensor, pad: Sequence[int], value: float = 0) -> Tensor:
    """`nn.functional.pad` with a constant: pairs of widths from the last dimension on.

    Example::

        >>> ad.constant_pad_nd(ad.ones(1), (0, 2))
        tensor([1., 0., 0.])
    """
    return _functional.pad(input, list(pad), "constant", value)


check_all(globals(), out=("threshold",))
