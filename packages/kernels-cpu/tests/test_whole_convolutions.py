"""Convolutions of whole numbers go through floats or doubles where all sums are exact: against NumPy's whole numbers, which wrap."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import adjoint as ad

F = ad.nn.functional


def convolved(x: Any, w: Any, stride: int, padding: int) -> Any:
    """Of (batch, channels, length), in int64."""
    x = np.pad(x.astype(np.int64), ((0, 0), (0, 0), (padding, padding)))
    windows = np.lib.stride_tricks.sliding_window_view(x, w.shape[2], 2)[:, :, ::stride]
    with np.errstate(over="ignore"):
        return np.einsum("bclk,ock->bol", windows, w.astype(np.int64))


@pytest.mark.parametrize("dtype", ["int8", "uint8", "int16", "int32", "int64"])
@pytest.mark.parametrize("size", [3, 2**7, 2**11, 2**13, 2**26, 2**31, 2**62])
def test_convolutions_of_whole_numbers(dtype: str, size: int) -> None:
    limits, rng = np.iinfo(dtype), np.random.default_rng(size)
    for _ in range(12):
        groups, each, out = (int(n) for n in rng.integers(1, 4, 3))
        length, kernel, stride, padding = (
            int(rng.integers(4, 40)),
            int(rng.integers(1, 5)),
            *rng.integers([1, 0], [3, 3]).tolist(),
        )
        low, high = max(limits.min, -size), min(limits.max, size)
        x = rng.integers(low, high, (2, groups * each, length), dtype=dtype, endpoint=True)
        w = rng.integers(low, high, (groups * out, each, kernel), dtype=dtype, endpoint=True)
        parts = [convolved(x[:, g * each : (g + 1) * each], w[g * out : (g + 1) * out], stride, padding) for g in range(groups)]
        expected = np.concatenate(parts, 1).astype(dtype)
        found = F.conv1d(ad.from_numpy(x), ad.from_numpy(w), None, stride, padding, 1, groups)
        assert found.dtype is getattr(ad, dtype)
        np.testing.assert_array_equal(found.numpy(), expected)
        plane = F.conv2d(ad.from_numpy(x)[..., None], ad.from_numpy(w)[..., None], None, (stride, 1), (padding, 0), 1, groups)
        np.testing.assert_array_equal(plane[..., 0].numpy(), expected)


@pytest.mark.parametrize("size", [3, 2**11, 2**26, 2**40])
def test_transposed_convolutions_of_whole_numbers(size: int) -> None:
    rng = np.random.default_rng(size)
    for _ in range(12):
        channels, out = (int(n) for n in rng.integers(1, 5, 2))
        length, kernel, stride = int(rng.integers(2, 20)), int(rng.integers(1, 5)), int(rng.integers(1, 3))
        x, w = (rng.integers(-size, size, shape, endpoint=True) for shape in ((2, channels, length), (channels, out, kernel)))
        expected = np.zeros((2, out, (length - 1) * stride + kernel), np.int64)
        with np.errstate(over="ignore"):
            for i in range(length):
                expected[:, :, i * stride : i * stride + kernel] += np.einsum("bc,cok->bok", x[:, :, i], w)
        found = F.conv_transpose1d(ad.from_numpy(x), ad.from_numpy(w), None, stride)
        np.testing.assert_array_equal(found.numpy(), expected)
