"""Batch norm over the batches of all processes."""

from __future__ import annotations

from typing import Any

import adjoint_core as core
from adjoint_core import Tensor
from adjoint_engine import no_grad

from .norm import _BatchNorm

__all__ = ["SyncBatchNorm"]


class SyncBatchNorm(_BatchNorm):
    """`BatchNorm2d` of any number of dimensions, whose statistics in training are those of the batches of all processes together.

    Arguments:
        process_group: the processes; None: all. Where `distributed` is not initialised, or the process is alone, it is a batch norm.

    Example::

        >>> model = ad.nn.SyncBatchNorm.convert_sync_batchnorm(ad.nn.Sequential(ad.nn.Conv1d(1, 2, 1), ad.nn.BatchNorm1d(2)))
        >>> type(model[1]).__name__, model(ad.ones(3, 1, 4)).shape
        ('SyncBatchNorm', adjoint.Size([3, 2, 4]))
    """

    def __init__(
        self,
        num_features: int,
        eps: float = 1e-5,
        momentum: float | None = 0.1,
        affine: bool = True,
        track_running_stats: bool = True,
        process_group: Any = None,
        device: Any = None,
        dtype: Any = None,
        *,
        bias: bool = True,
    ) -> None:
        super().__init__(num_features, eps, momentum, affine, track_running_stats, device, dtype, bias=bias)
        self.process_group = process_group

    def _check_input_dim(self, input: Tensor) -> None:
        if input.dim() < 2:
            raise ValueError(f"expected at least 2D input (got {input.dim()}D input)")

    def _check_non_zero_input_channels(self, input: Tensor) -> None:
        if input.size(1) == 0:
            raise ValueError("SyncBatchNorm number of input channels should be non-zero")

    def forward(self, input: Tensor) -> Tensor:
        """(N, C, ...), to the same shape."""
        self._check_input_dim(input)
        self._check_non_zero_input_channels(input)
        own = self.training or self.running_mean is None
        if not (own and self._shared()):
            return super().forward(input)
        from ...distributed.nn.functional import all_reduce

        dims, shape = [d for d in range(input.dim()) if d != 1], [1, -1] + [1] * (input.dim() - 2)
        count = core.full((1,), float(input.numel() // input.size(1)), dtype=input.dtype, device=input.device)
        sums = all_reduce(core.cat([input.sum(dims), count]), group=self.process_group)
        total = sums[-1:].detach()
        mean = sums[:-1] / total
        centred = input - mean.view(shape)
        var = all_reduce((centred * centred).sum(dims), group=self.process_group) / total
        if self.training:
            self._follow(mean.detach(), var.detach(), total)
        y = centred * core.rsqrt(var + self.eps).view(shape)
        y = y if self.weight is None else y * self.weight.view(shape)
        return y if self.bias is None else y + self.bias.view(shape)

    def _shared(self) -> bool:
        """Whether there are other processes."""
        from ... import distributed

        return distributed.is_initialized() and distributed.get_world_size(self.process_group) > 1

    @no_grad()
    def _follow(self, mean: Tensor, var: Tensor, total: Tensor) -> None:
        """Moves the running statistics towards those of the batch."""
        if self.running_mean is None or self.running_var is None or self.num_batches_tracked is None:
            return
        self.num_batches_tracked.add_(1)
        rate = 1.0 / float(self.num_batches_tracked) if self.momentum is None else self.momentum
        self.running_mean.lerp_(mean, rate)
        self.running_var.lerp_(var * (total / (total - 1)), rate)

    @classmethod
    def convert_sync_batchnorm(cls, module: Any, process_group: Any = None) -> Any:
        """The module with its batch norms, and those below it, replaced by ones over all processes, which share their tensors."""
        converted = module
        if isinstance(module, _BatchNorm):
            options = (
                module.num_features,
                module.eps,
                module.momentum,
                module.affine,
                module.track_running_stats,
                process_group,
            )
            converted = cls(*options, bias=module.bias is not None)
            converted._parameters.update(module._parameters)
            converted._buffers.update(module._buffers)
            converted.training = module.training
        for name, child in module.named_children():
            converted.add_module(name, cls.convert_sync_batchnorm(child, process_group))
        return converted
