"""Normalisation: over features, channels, groups, neighbours."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from adjoint_core import Tensor, _core
from adjoint_core._compose import node, rounded_once


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
    if input.ndim == 1 and not input.numel():  # no sample of no channel
        return batch_norm(input[None], running_mean, running_var, weight, bias, False)[0]
    if training and input.ndim > 1 and input.size(0) * math.prod(input.shape[2:]) == 1:
        raise ValueError(f"Expected more than 1 value per channel when training, got input size {input.shape}")
    return _core._batch_norm(input, running_mean, running_var, weight, bias, training, momentum, eps)


def _unsmoothed(x: Tensor, weight: Tensor | None, bias: Tensor | None) -> Tensor:
    """Over all but the first two dimensions, without an eps: where nothing varies 0, and so is its derivative."""
    wide = x.float() if x.dtype in (_core.float16, _core.bfloat16) else x
    dims = list(range(2, x.ndim))
    variance, mean = _core.var_mean(wide, dims, correction=0, keepdim=True)
    varies = variance != 0
    y = (wide - mean) * _core.where(varies, _core.where(varies, variance, 1).rsqrt(), 0)
    shape = (-1, *[1] * len(dims))
    if weight is not None:
        y = y * weight.reshape(shape)
    return (y if bias is None else y + bias.reshape(shape)).to(x.dtype)


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
    if (running_mean is None) != (running_var is None):
        raise ValueError("instance_norm: running_mean and running_var must either both be None or neither be None")
    if not use_input_stats:
        return batch_norm(input, running_mean, running_var, weight, bias, False, momentum, eps)
    n, c = input.shape[:2]
    if math.prod(input.shape[2:]) == 1:
        raise ValueError(f"Expected more than 1 spatial element when training, got input size {input.shape}")
    for running, batch in ((running_mean, input.flatten(2).mean(2)), (running_var, input.flatten(2).var(2))):
        if running is not None:
            if not (running.dtype is _core.float32 and input.dtype in (_core.float16, _core.bfloat16)):
                _core._expect_type("instance_norm", "running statistics", running, "input", input)
            running.data.copy_((1 - momentum) * running.data + momentum * batch.data.mean(0))
    _core._expect_parameters("instance_norm", input, weight, bias)
    if eps == 0:
        return _unsmoothed(input, weight, bias)
    return _core._grouped_norm(input, n * c, math.prod(input.shape[2:]), weight, bias, eps)


@node("NativeGroupNormBackward0")
def group_norm(
    input: Tensor, num_groups: int, weight: Tensor | None = None, bias: Tensor | None = None, eps: float = 1e-5
) -> Tensor:
    """Zero mean and unit variance over each of `num_groups` groups of channels, then weight and bias.

    Example::

        >>> ad.nn.functional.group_norm(ad.tensor([[1., 3.]]), 1)
        tensor([[-1.0000,  1.0000]])
    """
    groups, elements = _group_sizes(input, num_groups)
    if groups * elements == num_groups:
        raise ValueError(f"Expected more than 1 value per channel when training, got input size {list(input.shape)}")
    _core._expect_parameters("group_norm", input, weight, bias)
    return _core._grouped_norm(input, groups, elements, weight, bias, eps)


def _group_sizes(input: Tensor, num_groups: int) -> tuple[int, int]:
    """How many groups there are in all, and of how many elements."""
    if input.ndim < 2:
        raise RuntimeError(f"group_norm: Expected at least 2 dimensions for input tensor but received {input.ndim}")
    if num_groups <= 0:
        raise RuntimeError(f"group_norm: Expected num_groups to be greater than 0, got {num_groups}")
    n, c, *rest = input.shape
    if c % num_groups:
        raise RuntimeError(
            "group_norm: Expected number of channels in input to be divisible by num_groups, "
            f"but got input of shape {list(input.shape)} and num_groups={num_groups}"
        )
    return n * num_groups, c // num_groups * math.prod(rest)


@rounded_once
def normalize(input: Tensor, p: float = 2.0, dim: Any = 1, eps: float = 1e-12) -> Tensor:
    """x divided by its norm along `dim`, or by eps where that is larger.

    Example::

        >>> ad.nn.functional.normalize(ad.tensor([[3., 4.]]))
        tensor([[0.6000, 0.8000]])
    """
    return input / input.norm(p, dim, keepdim=True).clamp_min(eps)


@rounded_once
def local_response_norm(input: Tensor, size: int, alpha: float = 1e-4, beta: float = 0.75, k: float = 1.0) -> Tensor:
    """x divided by a power of the mean square over `size` neighbouring channels.

    Example::

        >>> ad.nn.functional.local_response_norm(ad.ones(1, 2, 1), size=2, alpha=2.0, beta=1.0)
        tensor([[[0.5000],
                 [0.3333]]])
    """
    if input.ndim < 3:
        raise ValueError(f"Expected 3D or higher dimensionality input (got {input.ndim} dimensions)")
    if input.numel() == 0:
        return input
    if size <= 0:
        raise RuntimeError(f"local_response_norm: size should be greater than zero, but got {size}")
    before, after = [0] * input.ndim, [0] * input.ndim
    before[1], after[1] = size // 2, (size - 1) // 2
    squares = _core._pad(input * input, before, after, 0.0).unfold(1, size, 1)
    whole = not (input.is_floating_point() or input.is_complex())  # then so is the mean
    mean = squares.sum(-1) // size if whole else squares.mean(-1)
    return input / (mean * alpha + k).pow(beta)
