"""Pooling: windows at the edges, and grids of windows that differ in size."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

import adjoint as ad

F = ad.nn.functional


@given(
    st.integers(1, 6),
    st.integers(1, 4),
    st.integers(1, 3),
    st.integers(0, 3),
    st.integers(1, 4),
    st.sampled_from([ad.float64, ad.int64]),
)
def test_max_pool_is_that_of_its_windows(size, kernel, stride, padding, dilation, dtype):
    x = (7 * ad.arange(size) % 5 - 9).to(dtype).reshape(1, 1, size)
    starts = range(-padding, size + padding - dilation * (kernel - 1), stride)
    windows = [[i for k in range(kernel) if 0 <= (i := start + k * dilation) < size] for start in starts]
    if padding > kernel // 2 or not windows or not all(windows):
        with pytest.raises(RuntimeError, match="max_pool"):
            F.max_pool1d(x, kernel, stride, padding, dilation)
        return
    values, at = F.max_pool1d(x, kernel, stride, padding, dilation, return_indices=True)
    row = x.flatten().tolist()
    assert values.flatten().tolist() == [max(row[i] for i in w) for w in windows]
    assert at.flatten().tolist() == [max(w, key=lambda i: row[i]) for w in windows]


@given(st.integers(1, 7), st.integers(1, 7), st.integers(1, 8), st.integers(1, 8))
def test_adaptive_pools_are_those_of_their_windows(height, width, rows, columns):
    x = (ad.arange(height * width, dtype=ad.float64) * 37 % 11).reshape(1, 1, height, width).requires_grad_()
    cells = [
        x[
            ..., i * height // rows : -(-(i + 1) * height // rows), j * width // columns : -(-(j + 1) * width // columns)
        ].flatten()
        for i in range(rows)
        for j in range(columns)
    ]
    weights = ad.arange(rows * columns, dtype=ad.float64)
    for pool, of in ((F.adaptive_avg_pool2d, ad.mean), (F.adaptive_max_pool2d, lambda c: c[c.argmax()])):
        one, other = pool(x, (rows, columns)).flatten(), ad.stack([of(c) for c in cells])
        assert ad.allclose(one, other)
        (g,), (h,) = (ad.autograd.grad(v @ weights, x, retain_graph=True) for v in (one, other))
        assert ad.allclose(g, h)


@pytest.mark.parametrize("pool", ["max_pool", "avg_pool"])
@pytest.mark.parametrize("n", [1, 2, 3])
def test_images_without_channels_are_refused(pool, n):
    call = getattr(F, f"{pool}{n}d")
    for shape in ((0,), (2, 0)):
        with pytest.raises(RuntimeError, match="non-zero size for non-batch dimensions"):
            call(ad.ones(*shape, *[4] * n), 2)
    assert call(ad.ones(0, 2, *[4] * n), 2).shape == (0, 2, *[2] * n)


@pytest.mark.parametrize("n", [2, 3])
def test_cotangents_of_maxima_are_a_function_of_ops(n):
    x = ad.randn(2, 3, *[5] * n, dtype=ad.float64, requires_grad=True)
    values, at = getattr(F, f"max_pool{n}d")(x, 3, 2, 1, return_indices=True)
    v = ad.randn(values.shape, dtype=ad.float64, requires_grad=True)
    backward = getattr(ad.ops.aten, f"max_pool{n}d_with_indices_backward")
    found = backward.default(v, x, 3, 2, 1, 1, False, at)
    assert ad.equal(found, ad.autograd.grad(values, x, v)[0])
    assert ad.equal(ad.autograd.grad(found.sum(), v)[0], ad.ones_like(v))


@pytest.mark.parametrize(("pool", "shape"), [(F.fractional_max_pool2d, (5, 6)), (F.fractional_max_pool3d, (5, 6, 4))])
def test_how_many_windows_at_random_places_fit(pool, shape):
    """As in PyTorch one less in a volume, and none at all anywhere."""
    n = len(shape)
    most = [size - 1 - (n == 3) for size in shape]
    assert pool(ad.zeros(1, 1, *shape), 2, output_size=most).shape == (1, 1, *most)
    assert pool(ad.zeros(1, 1, *shape), 2, output_size=[0] * n).numel() == 0
    for d in range(n):
        with pytest.raises(RuntimeError, match="do not fit"):
            pool(ad.zeros(1, 1, *shape), 2, output_size=[m + (i == d) for i, m in enumerate(most)])
