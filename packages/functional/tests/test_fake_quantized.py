"""What quantized numbers would be, as floating-point ones."""

from __future__ import annotations

import math
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import adjoint as ad


@given(st.floats(0.01, 2), st.integers(-8, 7), st.integers(0, 1000))
def test_numbers_are_rounded_to_steps_and_clipped(scale: float, zero: int, seed: int) -> None:
    x = ad.randn(20, generator=ad.Generator().manual_seed(seed)).mul_(3).requires_grad_()
    y = ad.fake_quantize_per_tensor_affine(x, scale, zero, -8, 7)
    low, high = (-8 - zero) * scale, (7 - zero) * scale
    steps = (y / scale).detach()
    assert (steps - steps.round()).abs().max() < 1e-4 and y.min() >= low - 1e-4 and y.max() <= high + 1e-4
    inside = (x > low - scale / 2) & (x < high + scale / 2)
    assert ((x - y).abs()[inside] <= scale / 2 + 1e-4).all()
    (slope,) = ad.autograd.grad(y.sum(), x)
    clear = ((x - low + scale / 2).abs() > 1e-4) & ((x - high - scale / 2).abs() > 1e-4)  # of a number at an edge either holds
    assert slope[clear].equal(inside[clear].float())


@pytest.mark.parametrize("zero", [ad.tensor([0, -3, 5], dtype=ad.int32), ad.tensor([0.0, -3.0, 5.0])])
def test_channels_have_steps_of_their_own(zero: Any) -> None:
    x, scale = ad.randn(4, 3, 2).mul_(2), ad.tensor([0.1, 0.4, 1.0])
    y = ad.fake_quantize_per_channel_affine(x, scale, zero, 1, -8, 7)
    for c in range(3):
        one = ad.fake_quantize_per_tensor_affine(x[:, c], scale[c], int(zero[c]), -8, 7)
        ad.testing.assert_close(y[:, c], one)


def test_numbers_that_are_none_and_arguments_that_do_not_fit() -> None:
    x = ad.tensor([math.nan, math.inf, -math.inf], requires_grad=True)
    y = ad.fake_quantize_per_tensor_affine(x, 0.5, 0, -4, 3)
    y.sum().backward()
    assert y.tolist() == [-2.0, 1.5, -2.0] and x.grad.tolist() == [0, 0, 0]
    assert ad.fake_quantize_per_tensor_affine(ad.ones(1).half(), 0.25, 0, 0, 255).dtype is ad.float16
    two = ad.ones(2)
    for call, error in (
        (lambda: ad.fake_quantize_per_tensor_affine(two, 0.1, 300, 0, 255), RuntimeError),
        (lambda: ad.fake_quantize_per_tensor_affine(two, two[0], ad.tensor(0), 9, 0), RuntimeError),
        (lambda: ad.fake_quantize_per_tensor_affine(two.long(), 0.1, 0, 0, 255), NotImplementedError),
        (lambda: ad.fake_quantize_per_channel_affine(two, two, two.int() + 9, 0, 0, 5), RuntimeError),
        (lambda: ad.fake_quantize_per_channel_affine(two, two[:1], two.int(), 0, 0, 5), RuntimeError),
        (lambda: ad.fake_quantize_per_channel_affine(two, two, two.int(), -1, 0, 5), RuntimeError),
    ):
        with pytest.raises(error):
            call()
