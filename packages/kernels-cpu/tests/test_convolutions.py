"""Convolutions of generated shapes in narrow types beside float64: of small whole numbers, of which every order of sums gives the same."""

from __future__ import annotations

import random
from typing import Any

import numpy as np
import pytest

import adjoint as ad

F = ad.nn.functional


def drawn(seed: int) -> tuple[Any, list[Any], dict[str, Any]]:
    """A function, its operands without a 0 among them, and its options."""
    draw = random.Random(seed)
    n, groups = draw.choice((1, 2, 2, 3, 3)), draw.choice((1, 1, 1, 2, 3))
    kernel = [draw.choice((1, 2, 3, 3, 5, 12 if n < 3 else 7)) for _ in range(n)]
    channels, out = draw.choice((1, 2, 3, 8, 16, 17, 40)), draw.choice((1, 3, 8, 16, 17, 40))
    batch, transposed = draw.choice((1, 2, 9 if n < 3 else 3)), draw.random() < 0.4
    stride = [draw.choice((1, 1, 2, 3)) for _ in kernel]
    dilation = [draw.choice((1, 1, 2 if k < 5 else 1)) for k in kernel]
    reach = [d * (k - 1) for k, d in zip(kernel, dilation)]
    sides = [draw.choice((3, 7, 16, 28, 33) if n < 3 else (2, 5, 12)) for _ in kernel]
    padding = [draw.choice((0, r // 2, r)) for r in reach]
    if transposed:
        padding = [min(p, r // 2) for p, r in zip(padding, reach)]
    else:
        padding = [max(p, (r + 2 - s) // 2) for p, r, s in zip(padding, reach, sides)]
    options = dict(stride=stride, padding=padding, dilation=dilation)
    rng = np.random.default_rng(seed)
    image = (batch, groups * channels, *sides)
    weight = (groups * channels, out, *kernel) if transposed else (groups * out, channels, *kernel)
    operands = [rng.choice([-2.0, -1.0, 1.0, 2.0], s) for s in (image, weight)]
    return getattr(F, f"conv{'_transpose' * transposed}{n}d"), operands, dict(groups=groups, **options)


def results(seed: int, dtype: str, infinite: bool) -> list[np.ndarray]:
    f, operands, options = drawn(seed)
    if infinite:
        operands[0][(0, -1, *(s // 2 for s in operands[0].shape[2:]))] = np.inf
    xs = [ad.from_numpy(a).to(getattr(ad, dtype)).requires_grad_() for a in operands]
    y = f(*xs, **options)
    v = ad.from_numpy(np.random.default_rng(seed + 1).choice([-1.0, 1.0], tuple(y.shape))).to(getattr(ad, dtype))
    return [r.detach().double().numpy() for r in (y, *ad.autograd.grad(y, xs, v))]


@pytest.mark.parametrize("dtype", ["bfloat16", "float32"])
@pytest.mark.parametrize("seed", range(60))
def test_whole_numbers_are_exact(seed: int, dtype: str) -> None:
    wide, narrow = results(seed, "float64", False), results(seed, dtype, False)
    for a, b in zip(wide, narrow, strict=True):
        np.testing.assert_array_equal(ad.from_numpy(a).to(getattr(ad, dtype)).double().numpy(), b)
    threads = ad.get_num_threads()
    ad.set_num_threads(3 - min(threads, 2))
    try:
        for a, b in zip(narrow, results(seed, dtype, False), strict=True):
            np.testing.assert_array_equal(a, b)
    finally:
        ad.set_num_threads(threads)


@pytest.mark.parametrize("seed", range(0, 60, 3))
def test_what_is_not_finite_stays_where_it_belongs(seed: int) -> None:
    for a, b in zip(results(seed, "float64", True), results(seed, "bfloat16", True), strict=True):
        np.testing.assert_array_equal(np.isfinite(a), np.isfinite(b))


def test_a_bias_is_added_before_bfloat16_is_rounded() -> None:
    rng = np.random.default_rng(0)
    x, w, bias = (ad.from_numpy(rng.standard_normal(s)).to(ad.bfloat16) for s in ((2, 20, 9, 9), (24, 20, 3, 3), (24,)))
    exact = F.conv2d(x.double(), w.double(), bias.double())
    assert (F.conv2d(x, w, bias).double() - exact).abs().div(exact.abs() + 1).max() < 2**-8 * 1.01


def test_rows_of_a_kernel_one_element_wide_are_not_left_out_together() -> None:
    """Where the first of some taps reads padding the others may not: of an image whose planes are as high as the kernel they lie evenly apart."""
    for sides, kernel, padding in (
        ((4, 9, 16), (1, 7, 1), (0, 3, 0)),
        ((4, 1, 32), (3, 3, 1), (1, 1, 0)),
        ((7, 7, 3), (2, 5, 1), (2, 1, 1)),
    ):
        x, w = ad.ones(1, 8, *sides), ad.ones(16, 8, *kernel)
        exact = F.conv3d(x, w, padding=padding)
        assert ad.equal(F.conv3d(x.to(ad.bfloat16), w.to(ad.bfloat16), padding=padding).float(), exact)
