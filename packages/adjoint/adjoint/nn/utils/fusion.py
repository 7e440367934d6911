"""Layers fused with the batch norm behind them."""

from adjoint_functional.nn.utils.fusion import *  # noqa: F403
