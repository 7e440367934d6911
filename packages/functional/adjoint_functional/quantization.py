"""Where a model that could be quantized would leave floating point and come back: as in PyTorch before `convert`, nothing happens there."""

from __future__ import annotations

from typing import Any

from adjoint_core import Tensor

from .nn.modules import Module


class QuantStub(Module):
    """Gives its input, of any shape.

    Example::

        >>> ad.ao.quantization.QuantStub()(ad.ones(2))
        tensor([1., 1.])
    """

    def __init__(self, qconfig: Any = None) -> None:
        super().__init__()
        if qconfig:
            self.qconfig = qconfig

    def forward(self, x: Tensor) -> Tensor:
        """`x`."""
        return x


class DeQuantStub(QuantStub):
    """Gives its input, of any shape."""
