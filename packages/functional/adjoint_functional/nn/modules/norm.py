"""Normalisations with their parameters and running statistics."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import adjoint_core as core
from adjoint_core import Tensor
from adjoint_core._warnings import warn
from adjoint_core._whole import is_whole
from adjoint_engine import Parameter, no_grad

from .. import functional as F
from .. import init
from .linear import parameter
from .module import Module

__all__ = [
    "BatchNorm1d", "BatchNorm2d", "BatchNorm3d", "GroupNorm", "InstanceNorm1d", "InstanceNorm2d", "InstanceNorm3d", "LayerNorm",
    "RMSNorm",
]  # fmt: skip


class _Norm(Module):
    """Weights that start at one, biases that start at zero."""

    weight: Parameter | None
    bias: Parameter | None

    def _affine(self, sizes: tuple[int, ...], weight: bool, bias: bool, device: Any, dtype: Any) -> None:
        self.register_parameter("weight", parameter(*sizes, device=device, dtype=dtype) if weight else None)
        self.register_parameter("bias", parameter(*sizes, device=device, dtype=dtype) if bias else None)

    def reset_parameters(self) -> None:
        """Back to the beginning."""
        if self.weight is not None:
            init.ones_(self.weight)
        if self._parameters.get("bias") is not None:
            init.zeros_(self.bias)


class _NormBase(_Norm):
    """Over all but the channels, perhaps with running statistics."""

    __constants__ = ("track_running_stats", "momentum", "eps", "num_features", "affine")

    _version = 2
    _dims: tuple[int, ...]
    running_mean: Tensor | None
    running_var: Tensor | None
    num_batches_tracked: Tensor | None

    def _make(
        self,
        num_features: int,
        eps: float,
        momentum: float | None,
        affine: bool,
        track: bool,
        bias: bool,
        device: Any,
        dtype: Any,
    ) -> None:
        self.num_features, self.eps, self.momentum, self.affine, self.track_running_stats = (
            num_features,
            eps,
            momentum,
            affine,
            track,
        )
        self._affine((num_features,), affine, affine and bias, device, dtype)
        self.register_buffer("running_mean", core.zeros(num_features, device=device, dtype=dtype) if track else None)
        self.register_buffer("running_var", core.ones(num_features, device=device, dtype=dtype) if track else None)
        self.register_buffer("num_batches_tracked", core.tensor(0, device=device) if track else None)
        self.reset_parameters()

    def reset_running_stats(self) -> None:
        """Forgets what was seen."""
        if self.running_mean is not None and self.running_var is not None and self.num_batches_tracked is not None:
            self.running_mean.zero_()
            self.running_var.fill_(1)
            self.num_batches_tracked.zero_()

    def _load_from_state_dict(self, state_dict: Any, prefix: str, local_metadata: dict[str, Any], *rest: Any) -> None:
        """Files before version 2 do not count batches."""
        key = prefix + "num_batches_tracked"
        if (local_metadata.get("version") or 1) < 2 and self.track_running_stats and key not in state_dict:
            state_dict[key] = core.tensor(0) if self.num_batches_tracked is None else self.num_batches_tracked
        super()._load_from_state_dict(state_dict, prefix, local_metadata, *rest)

    def _check_input_dim(self, input: Tensor) -> None:
        if input.dim() not in self._dims:
            raise ValueError(f"expected {' or '.join(f'{d}D' for d in self._dims)} input (got {input.dim()}D input)")

    def extra_repr(self) -> str:
        """The sizes."""
        text = f"{self.num_features}, eps={self.eps}, momentum={self.momentum}, affine={self.affine}"
        return f"{text}, bias={self.bias is not None}, track_running_stats={self.track_running_stats}"


class _BatchNorm(_NormBase):
    def __init__(
        self,
        num_features: int,
        eps: float = 1e-5,
        momentum: float | None = 0.1,
        affine: bool = True,
        track_running_stats: bool = True,
        device: Any = None,
        dtype: Any = None,
        *,
        bias: bool = True,
    ) -> None:
        super().__init__()
        self._make(num_features, eps, momentum, affine, track_running_stats, bias, device, dtype)

    def forward(self, input: Tensor) -> Tensor:
        """Of the same shape. In training mode with the batch's own statistics, which update the running ones."""
        self._check_input_dim(input)
        rate = self.momentum
        if self.training and self.num_batches_tracked is not None:
            with no_grad():
                self.num_batches_tracked.add_(1)
            rate = 1.0 / float(self.num_batches_tracked) if rate is None else rate
        own = self.training or self.running_mean is None
        kept = not self.training or self.track_running_stats
        mean, var = (self.running_mean, self.running_var) if kept else (None, None)
        return F.batch_norm(input, mean, var, self.weight, self.bias, own, rate or 0.0, self.eps)


class BatchNorm1d(_BatchNorm):
    """Each channel of (N, C) or (N, C, L) to zero mean and unit variance over the batch, then weight and bias.

    Example::

        >>> ad.nn.BatchNorm1d(2)(ad.tensor([[1.0, 2.0], [3.0, 2.0]])).round().tolist()
        [[-1.0, 0.0], [1.0, 0.0]]
    """

    _dims = (2, 3)


class BatchNorm2d(_BatchNorm):
    """Each channel of (N, C, H, W) to zero mean and unit variance over the batch, then weight and bias.

    Example::

        >>> ad.nn.BatchNorm2d(3)(ad.ones(2, 3, 4, 4)).shape
        adjoint.Size([2, 3, 4, 4])
    """

    _dims = (4,)


class BatchNorm3d(_BatchNorm):
    """Each channel of (N, C, D, H, W) to zero mean and unit variance over the batch, then weight and bias.

    Example::

        >>> ad.nn.BatchNorm3d(3).running_var.tolist()
        [1.0, 1.0, 1.0]
    """

    _dims = (5,)


class _InstanceNorm(_NormBase):
    def __init__(
        self,
        num_features: int,
        eps: float = 1e-5,
        momentum: float = 0.1,
        affine: bool = False,
        track_running_stats: bool = False,
        device: Any = None,
        dtype: Any = None,
        *,
        bias: bool = True,
    ) -> None:
        super().__init__()
        self._make(num_features, eps, momentum, affine, track_running_stats, bias, device, dtype)

    def forward(self, input: Tensor) -> Tensor:
        """Of the same shape; the batch dimension may be absent."""
        self._check_input_dim(input)
        alone = input.dim() == self._dims[0]
        x = input.unsqueeze(0) if alone else input
        if x.size(1) != self.num_features and self.affine:
            raise ValueError(
                f"expected input's size at dim={0 if alone else 1} to match num_features ({self.num_features}), but got: {x.size(1)}."
            )
        if x.size(1) != self.num_features:
            warn(
                f"input's size at dim={0 if alone else 1} does not match num_features. You can silence this warning by not passing in "
                "num_features, which is not used because affine=False"
            )
        own = self.training or not self.track_running_stats
        y = F.instance_norm(x, self.running_mean, self.running_var, self.weight, self.bias, own, self.momentum or 0.0, self.eps)
        return y.squeeze(0) if alone else y


class InstanceNorm1d(_InstanceNorm):
    """Each channel of each sample of (N, C, L) or (C, L) to zero mean and unit variance.

    Example::

        >>> ad.nn.InstanceNorm1d(3)(ad.ones(2, 3, 4)).shape
        adjoint.Size([2, 3, 4])
    """

    _dims = (2, 3)


class InstanceNorm2d(_InstanceNorm):
    """Each channel of each sample of (N, C, H, W) or (C, H, W) to zero mean and unit variance.

    Example::

        >>> ad.nn.InstanceNorm2d(3)(ad.ones(2, 3, 4, 4)).shape
        adjoint.Size([2, 3, 4, 4])
    """

    _dims = (3, 4)


class InstanceNorm3d(_InstanceNorm):
    """Each channel of each sample of (N, C, D, H, W) or (C, D, H, W) to zero mean and unit variance.

    Example::

        >>> ad.nn.InstanceNorm3d(1)(ad.ones(1, 2, 2, 2)).shape
        adjoint.Size([1, 2, 2, 2])
    """

    _dims = (4, 5)


class LayerNorm(_Norm):
    """Zero mean and unit variance over the last dimensions, whose sizes are ``normalized_shape``, then weight and bias.

    Example::

        >>> ad.nn.LayerNorm(2)(ad.tensor([1.0, 3.0])).round().tolist()
        [-1.0, 1.0]
    """

    __constants__ = ("normalized_shape", "eps", "elementwise_affine")

    def __init__(
        self,
        normalized_shape: int | Sequence[int],
        eps: float = 1e-5,
        elementwise_affine: bool = True,
        bias: bool = True,
        device: Any = None,
        dtype: Any = None,
    ) -> None:
        super().__init__()
        self.normalized_shape = (normalized_shape,) if is_whole(normalized_shape) else tuple(normalized_shape)
        self.eps, self.elementwise_affine = eps, elementwise_affine
        self._affine(self.normalized_shape, elementwise_affine, elementwise_affine and bias, device, dtype)
        self.reset_parameters()

    def forward(self, input: Tensor) -> Tensor:
        """Of the same shape."""
        return F.layer_norm(input, self.normalized_shape, self.weight, self.bias, self.eps)

    def extra_repr(self) -> str:
        """The sizes."""
        affine = f"elementwise_affine={self.elementwise_affine}, bias={self.bias is not None}"
        return f"{self.normalized_shape}, eps={self.eps}, {affine}"


class RMSNorm(_Norm):
    """A root mean square of one over the last dimensions, then weight.

    Example::

        >>> ad.nn.RMSNorm(2)(ad.tensor([3.0, 3.0])).round().tolist()
        [1.0, 1.0]
    """

    __constants__ = ("normalized_shape", "eps", "elementwise_affine")

    def __init__(
        self,
        normalized_shape: int | Sequence[int],
        eps: float | None = None,
        elementwise_affine: bool = True,
        device: Any = None,
        dtype: Any = None,
    ) -> None:
        super().__init__()
        self.normalized_shape = (normalized_shape,) if is_whole(normalized_shape) else tuple(normalized_shape)
        self.eps, self.elementwise_affine = eps, elementwise_affine
        self.register_parameter(
            "weight", parameter(*self.normalized_shape, device=device, dtype=dtype) if elementwise_affine else None
        )
        self.reset_parameters()

    def forward(self, input: Tensor) -> Tensor:
        """Of the same shape."""
        return F.rms_norm(input, self.normalized_shape, self.weight, self.eps)

    def extra_repr(self) -> str:
        """The sizes."""
        return f"{self.normalized_shape}, eps={self.eps}, elementwise_affine={self.elementwise_affine}"


class GroupNorm(_Norm):
    """Zero mean and unit variance over each of ``num_groups`` groups of channels, then weight and bias per channel.

    Example::

        >>> ad.nn.GroupNorm(2, 4)(ad.ones(1, 4, 3)).shape
        adjoint.Size([1, 4, 3])
    """

    __constants__ = ("num_groups", "num_channels", "eps", "affine")

    def __init__(
        self,
        num_groups: int,
        num_channels: int,
        eps: float = 1e-5,
        affine: bool = True,
        device: Any = None,
        dtype: Any = None,
        *,
        bias: bool = True,
    ) -> None:
        super().__init__()
        if num_groups <= 0 or num_channels % num_groups:
            raise ValueError(f"num_channels ({num_channels}) must be divisible by num_groups ({num_groups})")
        self.num_groups, self.num_channels, self.eps, self.affine = num_groups, num_channels, eps, affine
        self._affine((num_channels,), affine, affine and bias, device, dtype)
        self.reset_parameters()

    def forward(self, input: Tensor) -> Tensor:
        """Of the same shape."""
        return F.group_norm(input, self.num_groups, self.weight, self.bias, self.eps)

    def extra_repr(self) -> str:
        """The sizes."""
        return f"{self.num_groups}, {self.num_channels}, eps={self.eps}, affine={self.affine}, bias={self.bias is not None}"
