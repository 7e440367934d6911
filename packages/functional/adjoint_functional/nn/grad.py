"""Gradients of convolutions: with respect to the input, and to the weight."""

from __future__ import annotations

from typing import Any

import adjoint_core as core
from adjoint_core import Tensor
from adjoint_engine import enable_grad, grad

from . import functional as F

__all__ = ["conv1d_input", "conv1d_weight", "conv2d_input", "conv2d_weight", "conv3d_input", "conv3d_weight"]


def _input(conv: Any, input_size: Any, weight: Tensor, grad_output: Tensor, options: tuple[Any, ...]) -> Tensor:
    with enable_grad():
        x = core.zeros(tuple(input_size), dtype=weight.dtype, device=weight.device, requires_grad=True)
        return grad(conv(x, weight, None, *options), x, grad_output)[0]


def _weight(conv: Any, input: Tensor, weight_size: Any, grad_output: Tensor, options: tuple[Any, ...]) -> Tensor:
    with enable_grad():
        w = core.zeros(tuple(weight_size), dtype=input.dtype, device=input.device, requires_grad=True)
        return grad(conv(input, w, None, *options), w, grad_output)[0]


def conv1d_input(
    input_size: Any, weight: Tensor, grad_output: Tensor, stride: Any = 1, padding: Any = 0, dilation: Any = 1, groups: int = 1
) -> Tensor:
    """The gradient of `conv1d` with respect to an input of shape ``input_size``.

    Example::

        >>> ad.nn.grad.conv1d_input((1, 1, 3), ad.ones(1, 1, 2), ad.ones(1, 1, 2))
        tensor([[[1., 2., 1.]]])
    """
    return _input(F.conv1d, input_size, weight, grad_output, (stride, padding, dilation, groups))


def conv1d_weight(
    input: Tensor, weight_size: Any, grad_output: Tensor, stride: Any = 1, padding: Any = 0, dilation: Any = 1, groups: int = 1
) -> Tensor:
    """The gradient of `conv1d` with respect to a weight of shape ``weight_size``.

    Example::

        >>> ad.nn.grad.conv1d_weight(ad.ones(1, 1, 3), (1, 1, 2), ad.ones(1, 1, 2))
        tensor([[[2., 2.]]])
    """
    return _weight(F.conv1d, input, weight_size, grad_output, (stride, padding, dilation, groups))


def conv2d_input(
    input_size: Any, weight: Tensor, grad_output: Tensor, stride: Any = 1, padding: Any = 0, dilation: Any = 1, groups: int = 1
) -> Tensor:
    """The gradient of `conv2d` with respect to an input of shape ``input_size``.

    Example::

        >>> ad.nn.grad.conv2d_input((1, 1, 2, 2), ad.ones(1, 1, 2, 2), ad.ones(1, 1, 1, 1))
        tensor([[[[1., 1.],
                  [1., 1.]]]])
    """
    return _input(F.conv2d, input_size, weight, grad_output, (stride, padding, dilation, groups))


def conv2d_weight(
    input: Tensor, weight_size: Any, grad_output: Tensor, stride: Any = 1, padding: Any = 0, dilation: Any = 1, groups: int = 1
) -> Tensor:
    """The gradient of `conv2d` with respect to a weight of shape ``weight_size``.

    Example::

        >>> ad.nn.grad.conv2d_weight(ad.arange(4.0).reshape(1, 1, 2, 2), (1, 1, 1, 1), ad.ones(1, 1, 2, 2))
        tensor([[[[6.]]]])
    """
    return _weight(F.conv2d, input, weight_size, grad_output, (stride, padding, dilation, groups))


def conv3d_input(
    input_size: Any, weight: Tensor, grad_output: Tensor, stride: Any = 1, padding: Any = 0, dilation: Any = 1, groups: int = 1
) -> Tensor:
    """The gradient of `conv3d` with respect to an input of shape ``input_size``.

    Example::

        >>> ad.nn.grad.conv3d_input((1, 1, 1, 1, 2), ad.ones(1, 1, 1, 1, 2), ad.ones(1, 1, 1, 1, 1))
        tensor([[[[[1., 1.]]]]])
    """
    return _input(F.conv3d, input_size, weight, grad_output, (stride, padding, dilation, groups))


def conv3d_weight(
    input: Tensor, weight_size: Any, grad_output: Tensor, stride: Any = 1, padding: Any = 0, dilation: Any = 1, groups: int = 1
) -> Tensor:
    """The gradient of `conv3d` with respect to a weight of shape ``weight_size``.

    Example::

        >>> ad.nn.grad.conv3d_weight(ad.arange(2.0).reshape(1, 1, 1, 1, 2), (1, 1, 1, 1, 1), ad.ones(1, 1, 1, 1, 2))
        tensor([[[[[1.]]]]])
    """
    return _weight(F.conv3d, input, weight_size, grad_output, (stride, padding, dilation, groups))
