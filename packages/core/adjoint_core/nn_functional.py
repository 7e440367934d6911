"""`nn.functional`: activations and layers as functions, with PyTorch's signatures; losses are in `_losses`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from . import _core
from ._core import Tensor
from ._losses import (
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
    nll_loss,
    poisson_nll_loss,
    smooth_l1_loss,
    soft_margin_loss,
    triplet_margin_loss,
)

__all__ = [
    "adaptive_avg_pool1d", "adaptive_avg_pool2d", "alpha_dropout", "avg_pool1d", "avg_pool2d", "avg_pool3d", "batch_norm", "bilinear",
    "binary_cross_entropy", "binary_cross_entropy_with_logits", "celu", "conv1d", "conv2d", "conv3d", "cosine_embedding_loss",
    "cosine_similarity", "cross_entropy", "dropout", "elu", "embedding", "gaussian_nll_loss", "gelu", "glu", "group_norm", "hardsigmoid",
    "hardswish", "hardtanh", "hinge_embedding_loss", "huber_loss", "instance_norm", "kl_div", "l1_loss", "layer_norm", "leaky_relu",
    "linear", "log_softmax", "logsigmoid", "margin_ranking_loss", "max_pool1d", "max_pool2d", "max_pool3d", "mish", "mse_loss",
    "nll_loss", "normalize", "one_hot", "pad", "pairwise_distance", "poisson_nll_loss", "prelu", "relu", "relu6", "rms_norm",
    "scaled_dot_product_attention", "selu", "sigmoid", "silu", "smooth_l1_loss", "soft_margin_loss", "softmax", "softmin", "softplus",
    "softshrink", "softsign", "tanh", "tanhshrink", "threshold", "triplet_margin_loss",
]  # fmt: skip

Ints = int | Sequence[int]


def _write(x: Tensor, y: Tensor, inplace: bool) -> Tensor:
    return x.copy_(y) if inplace else y


# ---- activations


def relu(input: Tensor, inplace: bool = False) -> Tensor:
    """max(0, x)."""
    return input.relu_() if inplace else input.relu()


def sigmoid(input: Tensor) -> Tensor:
    """1 / (1 + exp(-x))."""
    return _core.sigmoid(input)


def tanh(input: Tensor) -> Tensor:
    """The hyperbolic tangent."""
    return _core.tanh(input)


def gelu(input: Tensor, approximate: str = "none") -> Tensor:
    """x times the normal distribution function at x; `approximate="tanh"` for the tanh form."""
    if approximate not in ("none", "tanh"):
        raise RuntimeError("approximate argument must be either none or tanh.")
    return _core._gelu(input, approximate == "tanh")


def silu(input: Tensor, inplace: bool = False) -> Tensor:
    """x * sigmoid(x)."""
    return _write(input, _core._silu(input), inplace)


def mish(input: Tensor, inplace: bool = False) -> Tensor:
    """x * tanh(softplus(x))."""
    return _write(input, _core._mish(input), inplace)


def softplus(input: Tensor, beta: float = 1, threshold: float = 20) -> Tensor:
    """log(1 + exp(beta * x)) / beta; x itself where beta * x > threshold."""
    return _core._softplus(input, beta, threshold)


def softsign(input: Tensor) -> Tensor:
    """x / (1 + |x|)."""
    return _core._softsign(input)


def logsigmoid(input: Tensor) -> Tensor:
    """log(sigmoid(x))."""
    return _core._logsigmoid(input)


def elu(input: Tensor, alpha: float = 1.0, inplace: bool = False) -> Tensor:
    """x if x > 0, else alpha * (exp(x) - 1)."""
    return _write(input, _core._elu(input, alpha), inplace)


def celu(input: Tensor, alpha: float = 1.0, inplace: bool = False) -> Tensor:
    """x if x > 0, else alpha * (exp(x / alpha) - 1)."""
    return _write(input, alpha * _core._elu(input / alpha, 1.0), inplace)


def selu(input: Tensor, inplace: bool = False) -> Tensor:
    """The self-normalising elu."""
    scale, alpha = 1.0507009873554804934193349852946, 1.6732632423543772848170429916717
    return _write(input, scale * _core._elu(input, alpha), inplace)


def leaky_relu(input: Tensor, negative_slope: float = 0.01, inplace: bool = False) -> Tensor:
    """x if x > 0, else negative_slope * x."""
    return _write(input, _core._leaky_relu(input, negative_slope), inplace)


def prelu(input: Tensor, weight: Tensor) -> Tensor:
    """x if x > 0, else weight * x, with one weight for all or for each channel (dimension 1)."""
    if weight.numel() > 1 and input.ndim > 2:
        weight = weight.view([-1] + [1] * (input.ndim - 2))
    return _core.where(input > 0, input, weight * input)


def hardtanh(input: Tensor, min_val: float = -1.0, max_val: float = 1.0, inplace: bool = False) -> Tensor:
    """x clamped to [min_val, max_val]."""
    return _write(input, _core._hardtanh(input, min_val, max_val), inplace)


def relu6(input: Tensor, inplace: bool = False) -> Tensor:
    """x clamped to [0, 6]."""
    return hardtanh(input, 0.0, 6.0, inplace)


def hardsigmoid(input: Tensor, inplace: bool = False) -> Tensor:
    """relu6(x + 3) / 6."""
    return _write(input, _core._hardsigmoid(input), inplace)


def hardswish(input: Tensor, inplace: bool = False) -> Tensor:
    """x * hardsigmoid(x)."""
    return _write(input, _core._hardswish(input), inplace)


def softshrink(input: Tensor, lambd: float = 0.5) -> Tensor:
    """x moved towards zero by lambd; zero within."""
    return _core.where(input > lambd, input - lambd, _core.where(input < -lambd, input + lambd, 0.0 * input))


def tanhshrink(input: Tensor) -> Tensor:
    """x - tanh(x)."""
    return input - _core.tanh(input)


def threshold(input: Tensor, threshold: float, value: float, inplace: bool = False) -> Tensor:
    """x where x > threshold, else value."""
    return _write(input, _core.where(input > threshold, input, value), inplace)


def glu(input: Tensor, dim: int = -1) -> Tensor:
    """The first half along `dim` times the sigmoid of the second."""
    a, b = input.chunk(2, dim)
    return a * b.sigmoid()


def _softmax_dim(dim: int | None, ndim: int) -> int:
    return dim if dim is not None else 0 if ndim in (0, 1, 3) else 1


def softmax(input: Tensor, dim: int | None = None, _stacklevel: int = 3, dtype: Any = None) -> Tensor:
    """exp(x) divided by its sum along `dim`."""
    return _core.softmax(input, _softmax_dim(dim, input.ndim), dtype)


def softmin(input: Tensor, dim: int | None = None, _stacklevel: int = 3, dtype: Any = None) -> Tensor:
    """softmax(-x)."""
    return _core.softmax(-input, _softmax_dim(dim, input.ndim), dtype)


def log_softmax(input: Tensor, dim: int | None = None, _stacklevel: int = 3, dtype: Any = None) -> Tensor:
    """log(softmax(x))."""
    return _core.log_softmax(input, _softmax_dim(dim, input.ndim), dtype)


# ---- layers


def linear(input: Tensor, weight: Tensor, bias: Tensor | None = None) -> Tensor:
    """x @ weight.T + bias; weight is (out, in)."""
    return _core._linear(input, weight, bias)


def bilinear(input1: Tensor, input2: Tensor, weight: Tensor, bias: Tensor | None = None) -> Tensor:
    """x1 @ weight[k] @ x2 for each k; weight is (out, in1, in2)."""
    y = _core.einsum("...i,kij,...j->...k", input1, weight, input2)
    return y if bias is None else y + bias


def embedding(
    input: Tensor, weight: Tensor, padding_idx: int | None = None, max_norm: float | None = None, norm_type: float = 2.0,
    scale_grad_by_freq: bool = False, sparse: bool = False,
) -> Tensor:  # fmt: skip
    """The rows of `weight` that `input` names."""
    if max_norm is not None or scale_grad_by_freq or sparse:
        raise NotImplementedError("embedding: max_norm, scale_grad_by_freq and sparse are not supported")
    padding = -1 if padding_idx is None else padding_idx % weight.size(0)
    return _core._embedding(weight, input, padding)


def one_hot(tensor: Tensor, num_classes: int = -1) -> Tensor:
    """A new last dimension of zeros, with a one at the index."""
    return _core._one_hot(tensor, num_classes)


def dropout(input: Tensor, p: float = 0.5, training: bool = True, inplace: bool = False) -> Tensor:
    """Zeroes elements with probability p and scales the others by 1 / (1 - p)."""
    if not 0 <= p <= 1:
        raise ValueError(f"dropout probability has to be between 0 and 1, but got {p}")
    return _write(input, _core._dropout(input, p, training), inplace)


def alpha_dropout(input: Tensor, p: float = 0.5, training: bool = False, inplace: bool = False) -> Tensor:
    """Dropout that keeps mean and variance of selu activations."""
    if not training or p == 0:
        return input
    dropped = -1.7580993408473766
    a = ((1 - p) * (1 + p * dropped**2)) ** -0.5
    keep = _core.rand_like(input) >= p
    return _write(input, _core.where(keep, input, dropped) * a - a * dropped * p, inplace)


def _tuple(v: Ints, n: int) -> list[int]:
    return [v] * n if isinstance(v, int) else list(v) * (n if len(v) == 1 else 1)


def _conv(n: int, x: Tensor, weight: Tensor, bias: Tensor | None, stride: Ints, padding: Ints | str, dilation: Ints, groups: int) -> Tensor:
    stride, dilation = _tuple(stride, n), _tuple(dilation, n)
    batched = x.ndim == n + 2
    if not batched and x.ndim != n + 1:
        raise RuntimeError(f"Expected {n + 1}D (unbatched) or {n + 2}D (batched) input to conv{n}d, but got input of size: {list(x.shape)}")
    if not batched:
        x = x.unsqueeze(0)
    if padding == "same":
        if any(s != 1 for s in stride):
            raise RuntimeError("padding='same' is not supported for strided convolutions")
        total = [d * (k - 1) for d, k in zip(dilation, weight.shape[2:], strict=True)]
        before = [t // 2 for t in total]
        if any(t % 2 for t in total):
            x = _core._pad(x, [0] * x.ndim, [0, 0] + [t % 2 for t in total], 0.0)
        amount = before
    else:
        amount = [0] * n if padding == "valid" else _tuple(padding, n)  # type: ignore[arg-type]
    y = _core._conv(x, weight, bias, stride, amount, dilation, groups)
    return y if batched else y.squeeze(0)


def conv1d(
    input: Tensor, weight: Tensor, bias: Tensor | None = None, stride: Ints = 1, padding: Ints | str = 0, dilation: Ints = 1, groups: int = 1
) -> Tensor:
    """Cross-correlation of (n, c, length) with weight (out, c / groups, k)."""
    return _conv(1, input, weight, bias, stride, padding, dilation, groups)


def conv2d(
    input: Tensor, weight: Tensor, bias: Tensor | None = None, stride: Ints = 1, padding: Ints | str = 0, dilation: Ints = 1, groups: int = 1
) -> Tensor:
    """Cross-correlation of (n, c, h, w) with weight (out, c / groups, kh, kw)."""
    return _conv(2, input, weight, bias, stride, padding, dilation, groups)


def conv3d(
    input: Tensor, weight: Tensor, bias: Tensor | None = None, stride: Ints = 1, padding: Ints | str = 0, dilation: Ints = 1, groups: int = 1
) -> Tensor:
    """Cross-correlation of (n, c, d, h, w) with weight (out, c / groups, kd, kh, kw)."""
    return _conv(3, input, weight, bias, stride, padding, dilation, groups)


def _pool(n: int, x: Tensor, kernel: Ints, stride: Ints | None, padding: Ints, call: Any) -> Any:
    size = _tuple(kernel, n)
    step = _tuple(stride, n) if stride is not None and stride != [] else size
    batched = x.ndim == n + 2
    result = call(x if batched else x.unsqueeze(0), size, step, _tuple(padding, n))
    if batched:
        return result
    return tuple(r.squeeze(0) for r in result) if isinstance(result, tuple) else result.squeeze(0)


def _max_pool(
    n: int, x: Tensor, kernel: Ints, stride: Ints | None, padding: Ints, dilation: Ints, ceil_mode: bool, return_indices: bool
) -> Any:
    def call(x: Tensor, size: list[int], step: list[int], pad: list[int]) -> Any:
        return _core._max_pool(x, size, step, pad, _tuple(dilation, n), ceil_mode)

    values, indices = _pool(n, x, kernel, stride, padding, call)
    return (values, indices) if return_indices else values


def max_pool1d(
    input: Tensor, kernel_size: Ints, stride: Ints | None = None, padding: Ints = 0, dilation: Ints = 1, ceil_mode: bool = False, return_indices: bool = False
) -> Any:
    """The maximum of each window of (n, c, length)."""
    return _max_pool(1, input, kernel_size, stride, padding, dilation, ceil_mode, return_indices)


def max_pool2d(
    input: Tensor, kernel_size: Ints, stride: Ints | None = None, padding: Ints = 0, dilation: Ints = 1, ceil_mode: bool = False, return_indices: bool = False
) -> Any:
    """The maximum of each window of (n, c, h, w)."""
    return _max_pool(2, input, kernel_size, stride, padding, dilation, ceil_mode, return_indices)


def max_pool3d(
    input: Tensor, kernel_size: Ints, stride: Ints | None = None, padding: Ints = 0, dilation: Ints = 1, ceil_mode: bool = False, return_indices: bool = False
) -> Any:
    """The maximum of each window of (n, c, d, h, w)."""
    return _max_pool(3, input, kernel_size, stride, padding, dilation, ceil_mode, return_indices)


def _avg_pool(n: int, x: Tensor, kernel: Ints, stride: Ints | None, padding: Ints, ceil_mode: bool, count_include_pad: bool) -> Tensor:
    def call(x: Tensor, size: list[int], step: list[int], pad: list[int]) -> Tensor:
        return _core._avg_pool(x, size, step, pad, ceil_mode, count_include_pad)

    return _pool(n, x, kernel, stride, padding, call)


def avg_pool1d(
    input: Tensor, kernel_size: Ints, stride: Ints | None = None, padding: Ints = 0, ceil_mode: bool = False, count_include_pad: bool = True
) -> Tensor:
    """The mean of each window of (n, c, length)."""
    return _avg_pool(1, input, kernel_size, stride, padding, ceil_mode, count_include_pad)


def avg_pool2d(
    input: Tensor, kernel_size: Ints, stride: Ints | None = None, padding: Ints = 0, ceil_mode: bool = False, count_include_pad: bool = True,
    divisor_override: int | None = None,
) -> Tensor:  # fmt: skip
    """The mean of each window of (n, c, h, w)."""
    if divisor_override is None:
        return _avg_pool(2, input, kernel_size, stride, padding, ceil_mode, count_include_pad)
    kh, kw = _tuple(kernel_size, 2)
    return _avg_pool(2, input, kernel_size, stride, padding, ceil_mode, True) * (kh * kw / divisor_override)


def avg_pool3d(
    input: Tensor, kernel_size: Ints, stride: Ints | None = None, padding: Ints = 0, ceil_mode: bool = False, count_include_pad: bool = True
) -> Tensor:
    """The mean of each window of (n, c, d, h, w)."""
    return _avg_pool(3, input, kernel_size, stride, padding, ceil_mode, count_include_pad)


def _adaptive(x: Tensor, dim: int, size: int) -> Tensor:
    n = x.size(dim)
    pieces = [x.narrow(dim, i * n // size, -(-(i + 1) * n // size) - i * n // size).mean(dim, keepdim=True) for i in range(size)]
    return _core.cat(pieces, dim)


def adaptive_avg_pool1d(input: Tensor, output_size: Ints) -> Tensor:
    """Means over `output_size` nearly equal windows of the last dimension."""
    return _adaptive(input, -1, _tuple(output_size, 1)[0])


def adaptive_avg_pool2d(input: Tensor, output_size: int | Sequence[int | None]) -> Tensor:
    """Means over nearly equal windows of the last two dimensions; None keeps a size."""
    sizes = [output_size] * 2 if isinstance(output_size, int) else list(output_size)
    for dim, size in zip((-2, -1), sizes, strict=True):
        if size is not None:
            input = _adaptive(input, dim, size)
    return input


def pad(input: Tensor, pad: Sequence[int], mode: str = "constant", value: float | None = None) -> Tensor:
    """Pads from the last dimension on: (left, right, top, bottom, ...); negative amounts crop."""
    if len(pad) % 2 or len(pad) > 2 * input.ndim:
        raise RuntimeError("Padding length must be divisible by 2 and at most twice the number of dimensions of the input.")
    before, after = [0] * input.ndim, [0] * input.ndim
    for i in range(len(pad) // 2):
        before[-1 - i], after[-1 - i] = pad[2 * i], pad[2 * i + 1]
    if mode == "constant":
        return _core._pad(input, before, after, float(value or 0.0))
    for dim, (left, right) in enumerate(zip(before, after, strict=True)):
        if left or right:
            input = input.index_select(dim, _source(mode, input.size(dim), left, right))
    return input


def _source(mode: str, n: int, left: int, right: int) -> Tensor:
    at = _core.arange(-left, n + right)
    if mode == "replicate":
        return at.clamp(0, n - 1)
    if mode == "circular":
        return at % n
    if mode != "reflect":
        raise NotImplementedError(f"Unrecognised padding mode {mode}")
    if max(left, right) >= n:
        raise RuntimeError(f"pad: reflected padding must be smaller than the dimension, got {max(left, right)} for {n}")
    return n - 1 - (n - 1 - at.abs()).abs()


# ---- normalisation


def layer_norm(input: Tensor, normalized_shape: Sequence[int], weight: Tensor | None = None, bias: Tensor | None = None, eps: float = 1e-5) -> Tensor:
    """Zero mean and unit variance over the last dimensions, then weight and bias."""
    return _core._layer_norm(input, normalized_shape, weight, bias, eps)


def rms_norm(input: Tensor, normalized_shape: Sequence[int], weight: Tensor | None = None, eps: float | None = None) -> Tensor:
    """Unit mean square over the last dimensions, then weight."""
    return _core._rms_norm(input, normalized_shape, weight, eps)


def batch_norm(
    input: Tensor, running_mean: Tensor | None, running_var: Tensor | None, weight: Tensor | None = None, bias: Tensor | None = None,
    training: bool = False, momentum: float = 0.1, eps: float = 1e-5,
) -> Tensor:  # fmt: skip
    """Zero mean and unit variance for each channel (dimension 1), then weight and bias."""
    if training and input.numel() == input.size(1):
        raise ValueError(f"Expected more than 1 value per channel when training, got input size {input.shape}")
    return _core._batch_norm(input, running_mean, running_var, weight, bias, training, momentum, eps)


def _affine(x: Tensor, weight: Tensor | None, bias: Tensor | None) -> Tensor:
    shape = [1, -1] + [1] * (x.ndim - 2)
    x = x if weight is None else x * weight.view(shape)
    return x if bias is None else x + bias.view(shape)


def instance_norm(
    input: Tensor, running_mean: Tensor | None = None, running_var: Tensor | None = None, weight: Tensor | None = None,
    bias: Tensor | None = None, use_input_stats: bool = True, momentum: float = 0.1, eps: float = 1e-5,
) -> Tensor:  # fmt: skip
    """Zero mean and unit variance for each sample and channel, then weight and bias."""
    if not use_input_stats:
        return batch_norm(input, running_mean, running_var, weight, bias, False, momentum, eps)
    n, c = input.shape[:2]
    for running, batch in ((running_mean, input.flatten(2).mean(2)), (running_var, input.flatten(2).var(2))):
        if running is not None:
            running.data.copy_((1 - momentum) * running.data + momentum * batch.data.mean(0))
    return _affine(layer_norm(input.reshape(n * c, -1), [input.numel() // (n * c)], eps=eps).view_as(input), weight, bias)


def group_norm(input: Tensor, num_groups: int, weight: Tensor | None = None, bias: Tensor | None = None, eps: float = 1e-5) -> Tensor:
    """Zero mean and unit variance over each of `num_groups` groups of channels, then weight and bias."""
    n, c = input.shape[:2]
    if c % num_groups:
        raise RuntimeError(f"Expected number of channels in input to be divisible by num_groups, but got input of shape {list(input.shape)} and num_groups={num_groups}")
    flat = input.reshape(n * num_groups, -1)
    return _affine(layer_norm(flat, [flat.size(1)], eps=eps).view(input.shape), weight, bias)


def normalize(input: Tensor, p: float = 2.0, dim: Any = 1, eps: float = 1e-12) -> Tensor:
    """x divided by its norm along `dim`, or by eps where that is larger."""
    return input / input.norm(p, dim, keepdim=True).clamp_min(eps)


def cosine_similarity(x1: Tensor, x2: Tensor, dim: int = 1, eps: float = 1e-8) -> Tensor:
    """The cosine of the angle between vectors along `dim`."""
    a = x1 / x1.norm(2, dim, keepdim=True).clamp_min(eps)
    b = x2 / x2.norm(2, dim, keepdim=True).clamp_min(eps)
    return (a * b).sum(dim)


def pairwise_distance(x1: Tensor, x2: Tensor, p: float = 2.0, eps: float = 1e-6, keepdim: bool = False) -> Tensor:
    """The norm of x1 - x2 + eps along the last dimension."""
    return (x1 - x2 + eps).norm(p, -1, keepdim)


def scaled_dot_product_attention(
    query: Tensor, key: Tensor, value: Tensor, attn_mask: Tensor | None = None, dropout_p: float = 0.0, is_causal: bool = False,
    scale: float | None = None,
) -> Tensor:  # fmt: skip
    """softmax(query @ key.T * scale + mask) @ value, over the last two dimensions."""
    scores = query @ key.mT * (query.size(-1) ** -0.5 if scale is None else scale)
    if is_causal:
        attn_mask = _core.ones(query.size(-2), key.size(-2), dtype=_core.bool).tril()
    if attn_mask is not None:
        scores = _core.where(attn_mask, scores, -float("inf")) if attn_mask.dtype is _core.bool else scores + attn_mask
    return dropout(softmax(scores, -1), dropout_p, dropout_p > 0) @ value
