"""Sorting on the device: the CPU's results to the last position, of equal elements, NaN and zeros of both signs."""

import numpy as np
import pytest
from device_checks import arrays

import adjoint as ad

WHOLE = [ad.int64, ad.int32, ad.int16, ad.int8, ad.uint8, ad.uint16, ad.uint32, ad.uint64, ad.bool]
TYPES = [ad.float64, ad.float32, ad.float16, ad.bfloat16, *WHOLE]


def made(shape, dtype, seed=0):
    """Few different values, so that many are equal."""
    random = np.random.default_rng(seed)
    x = random.integers(-6, 7, shape) * 9
    if dtype.is_floating_point:
        x = x / 2
        special = [np.nan, -np.nan, np.inf, -np.inf, -0.0]
        x.reshape(-1)[random.integers(0, x.size, len(special))] = special
    elif dtype in WHOLE[4:]:
        x = np.abs(x)
    return ad.tensor(x).to(dtype)


def same(call, x):
    device, host = call(x.cuda()), call(x)
    for d, h in zip(device, host, strict=True):
        assert d.is_cuda and d.dtype == h.dtype and d.shape == h.shape
    for d, h in zip(arrays(device), arrays(host), strict=True):
        np.testing.assert_array_equal(d, h)
        np.testing.assert_array_equal(np.signbit(d), np.signbit(h))


def calls(dim, n):
    yield from (lambda x, d=d: x.sort(dim, descending=d) for d in (False, True))
    yield from (lambda x, k=k, m=m: x.topk(k, dim, m) for k, m in ((0, True), (n // 2, True), (n, False)))
    yield lambda x: x.median(dim)
    yield lambda x: x.nanmedian(dim)
    yield lambda x: (x.argsort(dim), *x.kthvalue((n + 1) // 2, dim))


@pytest.mark.parametrize("dtype", TYPES, ids=lambda t: t.name)
@pytest.mark.parametrize(("shape", "dim"), [((1,), 0), ((5, 4, 3), 1), ((2, 37), 1)])
def test_short_lines(shape, dim, dtype):
    for call in calls(dim, shape[dim]):
        same(call, made(shape, dtype))


LONG = [((2, 530, 2), 1, ad.int16), ((1100,), 0, ad.bfloat16), ((1100,), 0, ad.uint8), ((1025, 2), 0, ad.bool)]


@pytest.mark.parametrize(("shape", "dim", "dtype"), LONG, ids=lambda x: str(x))
def test_long_lines(shape, dim, dtype):
    """By radix, over several blocks."""
    for call in (
        lambda x: x.sort(dim),
        lambda x: x.sort(dim, descending=True),
        lambda x: x.median(dim),
        lambda x: x.nanmedian(dim),
        lambda x: x.topk(7, dim),
    ):
        same(call, made(shape, dtype))


@pytest.mark.parametrize("dtype", [ad.float32, ad.int64], ids=lambda t: t.name)
def test_long_lines_of_wide_elements(dtype):
    same(lambda x: x.sort(), made((1030,), dtype))
    same(lambda x: x.median(0), ad.arange(1030).sin() if dtype == ad.float32 else ad.arange(1030) * -(2**40))


def test_lines_that_the_positions_cannot_count():
    with pytest.raises(
        NotImplementedError, match="median: no kernel for device cuda for more than 2147483647 elements along a"
    ):
        ad.zeros(1, dtype=ad.int8, device="cuda").expand(2**31).median(0)
