"""Derivatives with respect to tensors beside Python numbers keep the precision of the tensor."""

import math

import pytest

import adjoint as ad


def slope(f) -> float:
    x = ad.tensor([0.7], dtype=ad.float64, requires_grad=True)
    return ad.autograd.grad(f(x).sum(), x)[0].item()


@pytest.mark.parametrize(
    ("f", "expected"),
    [
        (lambda x: ad.pow(2.5, x), 2.5**0.7 * math.log(2.5)),
        (lambda x: ad.pow(2, x), 2**0.7 * math.log(2)),
        (lambda x: ad.lerp(x, x.detach() + 1, 0.3), 0.7),
        (lambda x: x / 3, 1 / 3),
        (lambda x: 1 / x, -1 / 0.49),
        (lambda x: x**0.1, 0.1 * 0.7**-0.9),
    ],
)
def test_numbers_are_double(f, expected):
    assert slope(f) == pytest.approx(expected, rel=4e-16)
