"""What is overridden in a module below is called, and attributes that programs read are there."""

from __future__ import annotations

from typing import Any

import pytest

import adjoint as ad


class Cached(ad.nn.Module):
    """Keeps the square of its factor between calls in evaluation, and a tensor that is neither parameter nor buffer."""

    def __init__(self) -> None:
        super().__init__()
        self.factor = ad.nn.Parameter(ad.ones(1))
        self.square: Any = None
        self.own = ad.ones(1)

    def train(self, mode: bool = True) -> Cached:
        self.square = None
        return super().train(mode)

    def _apply(self, fn: Any, recurse: bool = True) -> Cached:
        self.own = fn(self.own)
        return super()._apply(fn, recurse)

    def forward(self, x: Any) -> Any:
        if self.training or self.square is None:
            self.square = self.factor**2
        return x * self.square


@pytest.mark.parametrize("depth", [0, 1, 2])
def test_train_and_apply_of_modules_below_are_called(depth: int) -> None:
    inner = model = Cached()
    for _ in range(depth):
        model = ad.nn.Sequential(model)
    model.eval()
    assert model(ad.ones(1)).item() == 1
    with ad.no_grad():
        inner.factor.fill_(3)
    assert model.train().eval()(ad.ones(1)).item() == 9
    model.double()
    assert inner.own.dtype is ad.float64 is inner.factor.dtype
    x = ad.ones(1, dtype=ad.float64)
    assert model(x).dtype is ad.float64


def test_a_parameter_in_two_modules_stays_one() -> None:
    a, b = ad.nn.Linear(2, 2), ad.nn.Linear(2, 2)
    b.weight = a.weight
    model = ad.nn.ModuleList([a, b]).double()
    assert model[0].weight is model[1].weight and a.weight.dtype is ad.float64


def test_kinds_and_attributes_of_layers() -> None:
    modules = ad.nn.modules
    conv, turned = ad.nn.Conv2d(2, 3, 1), ad.nn.ConvTranspose1d(2, 3, 1)
    assert isinstance(conv, modules.conv._ConvNd) and isinstance(turned, modules.conv._ConvTransposeNd)
    assert (conv.transposed, conv.output_padding, turned.transposed) == (False, (0, 0), True)
    assert isinstance(ad.nn.BatchNorm2d(2), modules.batchnorm._BatchNorm) and not isinstance(conv, modules.batchnorm._NormBase)
