"""A convolution or a linear layer and the batch norm behind it as one layer, for evaluation."""

from __future__ import annotations

import copy
from typing import TypeVar

import adjoint_core as core
from adjoint_core import Tensor
from adjoint_engine import Parameter

from ..modules.module import Module

__all__ = ["fuse_conv_bn_eval", "fuse_conv_bn_weights", "fuse_linear_bn_eval", "fuse_linear_bn_weights"]

M = TypeVar("M", bound=Module)


def _fused(
    weight: Tensor,
    bias: Tensor | None,
    mean: Tensor,
    var: Tensor,
    eps: float,
    gain: Tensor | None,
    shift: Tensor | None,
    dim: int,
) -> tuple[Parameter, Parameter]:
    scale = core.rsqrt(var + eps) * (1.0 if gain is None else gain)
    shape = [1] * weight.dim()
    shape[dim] = -1
    moved = ((0.0 if bias is None else bias) - mean) * scale + (0.0 if shift is None else shift)
    new = (weight * scale.reshape(shape)).to(weight.dtype)
    return Parameter(new.detach(), weight.requires_grad), Parameter(moved.to(weight.dtype).detach(), weight.requires_grad)


def fuse_conv_bn_weights(
    conv_w: Tensor,
    conv_b: Tensor | None,
    bn_rm: Tensor,
    bn_rv: Tensor,
    bn_eps: float,
    bn_w: Tensor | None,
    bn_b: Tensor | None,
    transpose: bool = False,
) -> tuple[Parameter, Parameter]:
    """The weight and the bias of a convolution that does both.

    Example::

        >>> one = ad.ones(1)
        >>> w, b = ad.nn.utils.fuse_conv_bn_weights(ad.full((1, 1, 1), 2.0), one, one, one, 0.0, one, one)
        >>> w.item(), b.item()
        (2.0, 1.0)
    """
    return _fused(conv_w, conv_b, bn_rm, bn_rv, bn_eps, bn_w, bn_b, 1 if transpose else 0)


def fuse_linear_bn_weights(
    linear_w: Tensor, linear_b: Tensor | None, bn_rm: Tensor, bn_rv: Tensor, bn_eps: float, bn_w: Tensor, bn_b: Tensor
) -> tuple[Parameter, Parameter]:
    """The weight and the bias of a linear layer that does both.

    Example::

        >>> one = ad.ones(1)
        >>> w, b = ad.nn.utils.fuse_linear_bn_weights(ad.tensor([[2.0]]), one, one, one, 0.0, one, one)
        >>> w.item(), b.item()
        (2.0, 1.0)
    """
    return _fused(linear_w, linear_b, bn_rm, bn_rv, bn_eps, bn_w, bn_b, 0)


def _layer(layer: M, bn: Module, dim: int) -> M:
    if layer.training or bn.training:
        raise AssertionError("Fusion only for eval!")
    fused = copy.deepcopy(layer)
    fused.weight, fused.bias = _fused(
        layer.weight, layer.bias, bn.running_mean, bn.running_var, bn.eps, bn.weight, bn.bias, dim
    )
    return fused


def fuse_conv_bn_eval(conv: M, bn: Module, transpose: bool = False) -> M:
    """A convolution that does both, in evaluation mode.

    Raises:
        AssertionError: one of them is in training mode.

    Example::

        >>> conv, bn = ad.nn.Conv1d(2, 3, 1).eval(), ad.nn.BatchNorm1d(3).eval()
        >>> x = ad.randn(1, 2, 4)
        >>> ad.allclose(ad.nn.utils.fusion.fuse_conv_bn_eval(conv, bn)(x), bn(conv(x)), atol=1e-6)
        True
    """
    return _layer(conv, bn, 1 if transpose else 0)


def fuse_linear_bn_eval(linear: M, bn: Module) -> M:
    """A linear layer that does both, in evaluation mode.

    Raises:
        AssertionError: one of them is in training mode, or the sizes differ.

    Example::

        >>> linear, bn = ad.nn.Linear(2, 3).eval(), ad.nn.BatchNorm1d(3).eval()
        >>> x = ad.rand(4, 2)
        >>> ad.allclose(ad.nn.utils.fuse_linear_bn_eval(linear, bn)(x), bn(linear(x)), atol=1e-6)
        True
    """
    if linear.out_features != bn.num_features and bn.num_features != 1:
        raise AssertionError("To fuse, linear.out_features == bn.num_features or bn.num_features == 1")
    return _layer(linear, bn, 0)
