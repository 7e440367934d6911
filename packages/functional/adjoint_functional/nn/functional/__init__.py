"""`nn.functional`: activations, layers and losses as functions, with PyTorch's signatures."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

from adjoint_core import Tensor, _core
from adjoint_core._compose import check_all

from ...statistics import pdist
from .activation import (
    celu,
    elu,
    gelu,
    glu,
    hardshrink,
    hardsigmoid,
    hardswish,
    hardtanh,
    leaky_relu,
    log_softmax,
    logsigmoid,
    mish,
    prelu,
    relu,
    relu6,
    selu,
    sigmoid,
    silu,
    softmax,
    softmin,
    softplus,
    softshrink,
    softsign,
    tanh,
    tanhshrink,
    threshold,
    write,
)
from .attention import ctc_loss, multi_head_attention_forward
from .convolution import (
    adaptive_avg_pool1d,
    adaptive_avg_pool2d,
    adaptive_avg_pool3d,
    avg_pool1d,
    avg_pool2d,
    avg_pool3d,
    conv1d,
    conv2d,
    conv3d,
    conv_transpose1d,
    conv_transpose2d,
    conv_transpose3d,
    max_pool1d,
    max_pool2d,
    max_pool3d,
)
from .dropout import (
    dropout1d,
    dropout2d,
    dropout3d,
    gumbel_softmax,
    rrelu,
)
from .embedding import embedding, embedding_bag
from .loss import (
    binary_cross_entropy,
    binary_cross_entropy_with_logits,
    cosine_embedding_loss,
    cross_entropy,
    gaussian_nll_loss,
    hinge_embedding_loss,
    huber_loss,
    kl_div,
    l1_loss,
    margin_ranking_loss,
    mse_loss,
    multi_margin_loss,
    multilabel_margin_loss,
    multilabel_soft_margin_loss,
    nll_loss,
    poisson_nll_loss,
    smooth_l1_loss,
    soft_margin_loss,
    triplet_margin_loss,
    triplet_margin_with_distance_loss,
)
from .patches import (
    adaptive_max_pool1d,
    adaptive_max_pool2d,
    adaptive_max_pool3d,
    channel_shuffle,
    fold,
    local_response_norm,
    lp_pool1d,
    lp_pool2d,
    pixel_shuffle,
    pixel_unshuffle,
    unfold,
)
from .resample import affine_grid, grid_sample, interpolate, upsample, upsample_bilinear, upsample_nearest
from .unpooling import max_unpool1d, max_unpool2d, max_unpool3d

__all__ = [
    "adaptive_avg_pool1d", "adaptive_avg_pool2d", "adaptive_avg_pool3d", "adaptive_max_pool1d", "adaptive_max_pool2d",
    "adaptive_max_pool3d", "affine_grid",
    "alpha_dropout", "avg_pool1d", "avg_pool2d", "avg_pool3d", "batch_norm", "bilinear", "binary_cross_entropy",
    "binary_cross_entropy_with_logits", "celu", "celu_", "channel_shuffle", "conv1d", "conv2d", "conv3d",
    "conv_transpose1d", "conv_transpose2d", "conv_transpose3d", "cosine_embedding_loss", "cosine_similarity",
    "cross_entropy", "ctc_loss", "dropout", "dropout1d", "dropout2d", "dropout3d", "elu", "elu_", "embedding", "embedding_bag", "fold",
    "gaussian_nll_loss", "gelu", "glu", "grid_sample", "group_norm", "gumbel_softmax", "hardshrink", "hardsigmoid",
    "hardswish", "hardtanh", "hardtanh_", "hinge_embedding_loss", "huber_loss", "instance_norm", "interpolate", "kl_div",
    "l1_loss", "layer_norm", "leaky_relu", "leaky_relu_", "linear", "local_response_norm", "log_softmax", "logsigmoid",
    "lp_pool1d", "lp_pool2d", "margin_ranking_loss", "max_pool1d", "max_pool2d", "max_pool3d", "max_unpool1d", "max_unpool2d",
    "max_unpool3d", "mish", "mse_loss", "multi_head_attention_forward", "multi_margin_loss", "multilabel_margin_loss",
    "multilabel_soft_margin_loss", "nll_loss", "normalize", "one_hot", "pad", "pairwise_distance",
    "pdist", "pixel_shuffle", "pixel_unshuffle", "poisson_nll_loss", "prelu", "relu", "relu6", "relu_", "rms_norm", "rrelu",
    "rrelu_", "scaled_dot_product_attention", "selu", "selu_", "sigmoid", "silu", "smooth_l1_loss", "soft_margin_loss",
    "softmax", "softmin", "softplus", "softshrink", "softsign", "tanh", "tanhshrink", "threshold", "threshold_",
    "triplet_margin_loss", "triplet_margin_with_distance_loss", "unfold", "upsample", "upsample_bilinear", "upsample_nearest",
]  # fmt: skip


def _in_place(f: Callable[..., Tensor]) -> Callable[..., Tensor]:
    def write_here(input: Tensor, *args: Any, **kwargs: Any) -> Tensor:
        return f(input, *args, **kwargs, inplace=True)

    write_here.__name__ = f.__name__ + "_"
    write_here.__doc__ = f"`{f.__name__}` in place."
    return write_here


celu_, elu_, hardtanh_, leaky_relu_ = (_in_place(f) for f in (celu, elu, hardtanh, leaky_relu))
relu_, rrelu_, selu_, threshold_ = (_in_place(f) for f in (relu, rrelu, selu, threshold))


def linear(input: Tensor, weight: Tensor, bias: Tensor | None = None) -> Tensor:
    """x @ weight.T + bias; weight is (out, in).

    Example::

        >>> ad.nn.functional.linear(ad.tensor([1., 2.]), ad.tensor([[1., 1.], [0., 1.]]))
        tensor([3., 2.])
    """
    return _core._linear(input, weight, bias)


def bilinear(input1: Tensor, input2: Tensor, weight: Tensor, bias: Tensor | None = None) -> Tensor:
    """x1 @ weight[k] @ x2 for each k; weight is (out, in1, in2).

    Example::

        >>> ad.nn.functional.bilinear(ad.ones(1, 2), ad.ones(1, 3), ad.ones(4, 2, 3))
        tensor([[6., 6., 6., 6.]])
    """
    y = _core.einsum("...i,kij,...j->...k", input1, weight, input2)
    return y if bias is None else y + bias


def one_hot(tensor: Tensor, num_classes: int = -1) -> Tensor:
    """A new last dimension of zeros, with a one at the index.

    Example::

        >>> ad.nn.functional.one_hot(ad.tensor([0, 2]), 3)
        tensor([[1, 0, 0],
                [0, 0, 1]])
    """
    return _core._one_hot(tensor, num_classes)


def dropout(input: Tensor, p: float = 0.5, training: bool = True, inplace: bool = False) -> Tensor:
    """Zeroes elements with probability p and scales the others by 1 / (1 - p).

    Example::

        >>> ad.nn.functional.dropout(ad.ones(3), training=False)
        tensor([1., 1., 1.])
    """
    if not 0 <= p <= 1:
        raise ValueError(f"dropout probability has to be between 0 and 1, but got {p}")
    return write(input, _core._dropout(input, p, training), inplace)


def alpha_dropout(input: Tensor, p: float = 0.5, training: bool = False, inplace: bool = False) -> Tensor:
    """Dropout that keeps mean and variance of selu activations.

    Example::

        >>> ad.nn.functional.alpha_dropout(ad.ones(3))
        tensor([1., 1., 1.])
    """
    if not 0 <= p <= 1:
        raise ValueError(f"alpha_dropout: dropout probability has to be between 0 and 1, but got {p}")
    if not training or p == 0:
        return input
    if p == 1:
        return write(input, input * 0, inplace)
    dropped = -1.7580993408473766
    a = ((1 - p) * (1 + p * dropped**2)) ** -0.5
    keep = _core.rand_like(input) >= p
    return write(input, _core.where(keep, input, dropped) * a - a * dropped * p, inplace)


def pad(input: Tensor, pad: Sequence[int], mode: str = "constant", value: float | None = None) -> Tensor:
    """Pads from the last dimension on: (left, right, top, bottom, ...); negative amounts crop.

    Example::

        >>> ad.nn.functional.pad(ad.tensor([1., 2.]), (1, 2))
        tensor([0., 1., 2., 0., 0.])
    """
    if len(pad) % 2 or len(pad) > 2 * input.ndim:
        raise RuntimeError("Padding length must be divisible by 2 and at most twice the number of dimensions of the input.")
    before, after = [0] * input.ndim, [0] * input.ndim
    for i in range(len(pad) // 2):
        before[-1 - i], after[-1 - i] = pad[2 * i], pad[2 * i + 1]
    if mode == "constant":
        if isinstance(value, complex):
            inside = _core._pad(_core.ones_like(input, dtype=_core.bool), before, after, 0.0)
            return _core.where(inside, _core._pad(input, before, after, 0.0), value)
        return _core._pad(input, before, after, float(value or 0.0))
    for dim, (left, right) in enumerate(zip(before, after, strict=True)):
        if left or right:
            input = input.index_select(dim, _core._cuda.uploaded(_source(mode, input.size(dim), left, right), input.device))
    return input


def _source(mode: str, n: int, left: int, right: int) -> Tensor:
    at = _core.arange(-left, n + right)
    if mode == "replicate":
        return at.clamp(0, n - 1)
    if mode == "circular":
        first, last = max(-left, 0), n - max(-right, 0)  # what is cropped does not come round again
        return (at - first) % (last - first) + first
    if mode != "reflect":
        raise NotImplementedError(f"Unrecognised padding mode {mode}")
    if max(left, right) >= n:
        raise RuntimeError(f"pad: reflected padding must be smaller than the dimension, got {max(left, right)} for {n}")
    return n - 1 - (n - 1 - at.abs()).abs()


# ---- normalisation


def layer_norm(
    input: Tensor, normalized_shape: Sequence[int], weight: Tensor | None = None, bias: Tensor | None = None, eps: float = 1e-5
) -> Tensor:
    """Zero mean and unit variance over the last dimensions, then weight and bias.

    Example::

        >>> ad.nn.functional.layer_norm(ad.tensor([1., 3.]), (2,))
        tensor([-1.0000,  1.0000])
    """
    return _core._layer_norm(input, normalized_shape, weight, bias, eps)


def rms_norm(input: Tensor, normalized_shape: Sequence[int], weight: Tensor | None = None, eps: float | None = None) -> Tensor:
    """Unit mean square over the last dimensions, then weight.

    Example::

        >>> ad.nn.functional.rms_norm(ad.tensor([3., 3.]), (2,))
        tensor([1., 1.])
    """
    return _core._rms_norm(input, normalized_shape, weight, eps)


def batch_norm(
    input: Tensor,
    running_mean: Tensor | None,
    running_var: Tensor | None,
    weight: Tensor | None = None,
    bias: Tensor | None = None,
    training: bool = False,
    momentum: float = 0.1,
    eps: float = 1e-5,
) -> Tensor:
    """Zero mean and unit variance for each channel (dimension 1), then weight and bias.

    Example::

        >>> ad.nn.functional.batch_norm(ad.tensor([[1.], [3.]]), None, None, training=True)
        tensor([[-1.0000],
                [ 1.0000]])
    """
    if training and input.numel() == input.size(1):
        raise ValueError(f"Expected more than 1 value per channel when training, got input size {input.shape}")
    return _core._batch_norm(input, running_mean, running_var, weight, bias, training, momentum, eps)


def _affine(x: Tensor, weight: Tensor | None, bias: Tensor | None) -> Tensor:
    shape = [1, -1] + [1] * (x.ndim - 2)
    x = x if weight is None else x * weight.view(shape)
    return x if bias is None else x + bias.view(shape)


def instance_norm(
    input: Tensor,
    running_mean: Tensor | None = None,
    running_var: Tensor | None = None,
    weight: Tensor | None = None,
    bias: Tensor | None = None,
    use_input_stats: bool = True,
    momentum: float = 0.1,
    eps: float = 1e-5,
) -> Tensor:
    """Zero mean and unit variance for each sample and channel, then weight and bias.

    Example::

        >>> ad.nn.functional.instance_norm(ad.tensor([[[1., 3.]]]))
        tensor([[[-1.0000,  1.0000]]])
    """
    if not use_input_stats:
        return batch_norm(input, running_mean, running_var, weight, bias, False, momentum, eps)
    n, c = input.shape[:2]
    for running, batch in ((running_mean, input.flatten(2).mean(2)), (running_var, input.flatten(2).var(2))):
        if running is not None:
            running.data.copy_((1 - momentum) * running.data + momentum * batch.data.mean(0))
    return _affine(layer_norm(input.reshape(n * c, -1), [input.numel() // (n * c)], eps=eps).view_as(input), weight, bias)


def group_norm(
    input: Tensor, num_groups: int, weight: Tensor | None = None, bias: Tensor | None = None, eps: float = 1e-5
) -> Tensor:
    """Zero mean and unit variance over each of `num_groups` groups of channels, then weight and bias.

    Example::

        >>> ad.nn.functional.group_norm(ad.tensor([[1., 3.]]), 1)
        tensor([[-1.0000,  1.0000]])
    """
    if input.ndim < 2:
        raise RuntimeError(f"group_norm: Expected at least 2 dimensions for input tensor but received {input.ndim}")
    if num_groups <= 0:
        raise RuntimeError(f"group_norm: Expected num_groups to be greater than 0, got {num_groups}")
    n, c = input.shape[:2]
    if c % num_groups:
        raise RuntimeError(
            "group_norm: Expected number of channels in input to be divisible by num_groups, "
            f"but got input of shape {list(input.shape)} and num_groups={num_groups}"
        )
    size = c // num_groups * math.prod(input.shape[2:])
    return _affine(layer_norm(input.reshape(n * num_groups, size), [size], eps=eps).view(input.shape), weight, bias)


def normalize(input: Tensor, p: float = 2.0, dim: Any = 1, eps: float = 1e-12) -> Tensor:
    """x divided by its norm along `dim`, or by eps where that is larger.

    Example::

        >>> ad.nn.functional.normalize(ad.tensor([[3., 4.]]))
        tensor([[0.6000, 0.8000]])
    """
    return input / input.norm(p, dim, keepdim=True).clamp_min(eps)


def cosine_similarity(x1: Tensor, x2: Tensor, dim: int = 1, eps: float = 1e-8) -> Tensor:
    """The cosine of the angle between vectors along `dim`.

    Example::

        >>> ad.nn.functional.cosine_similarity(ad.tensor([[1., 0.]]), ad.tensor([[3., 4.]]))
        tensor([0.6000])
    """
    x1, x2 = _core.broadcast_tensors(x1, x2)
    a = x1 / x1.norm(2, dim, keepdim=True).clamp_min(eps)
    b = x2 / x2.norm(2, dim, keepdim=True).clamp_min(eps)
    return (a * b).sum(dim)


def pairwise_distance(x1: Tensor, x2: Tensor, p: float = 2.0, eps: float = 1e-6, keepdim: bool = False) -> Tensor:
    """The norm of x1 - x2 + eps along the last dimension.

    Example::

        >>> ad.nn.functional.pairwise_distance(ad.zeros(1, 2), ad.tensor([[3., 4.]]))
        tensor([5.0000])
    """
    return (x1 - x2 + eps).norm(p, -1, keepdim)


def scaled_dot_product_attention(
    query: Tensor,
    key: Tensor,
    value: Tensor,
    attn_mask: Tensor | None = None,
    dropout_p: float = 0.0,
    is_causal: bool = False,
    scale: float | None = None,
    enable_gqa: bool = False,
) -> Tensor:
    """softmax(query @ key.T * scale + mask) @ value, over the last two dimensions.

    With `enable_gqa`, the heads of the query (third dimension from the end) share fewer heads of key and value.

    Example::

        >>> ad.nn.functional.scaled_dot_product_attention(ad.ones(1, 2, 4), ad.ones(1, 3, 4), ad.ones(1, 3, 5)).shape
        adjoint.Size([1, 2, 5])
    """
    if enable_gqa:
        key, value = (x.repeat_interleave(query.size(-3) // x.size(-3), -3) for x in (key, value))
    scores = query @ key.mT * (query.size(-1) ** -0.5 if scale is None else scale)
    if is_causal:
        attn_mask = _core.ones(query.size(-2), key.size(-2), dtype=_core.bool, device=query.device).tril()
    if attn_mask is not None:
        scores = _core.where(attn_mask, scores, -float("inf")) if attn_mask.dtype is _core.bool else scores + attn_mask
    return dropout(softmax(scores, -1), dropout_p, dropout_p > 0) @ value


check_all(
    globals(),
    out=(
        "adaptive_avg_pool3d",
        "avg_pool2d",
        "avg_pool3d",
        "elu",
        "gelu",
        "glu",
        "hardsigmoid",
        "hardswish",
        "hardtanh",
        "leaky_relu",
        "linear",
        "logsigmoid",
        "mish",
        "normalize",
        "silu",
        "softplus",
        "softshrink",
    ),  # fmt: skip
)
