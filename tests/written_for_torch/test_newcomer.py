"""What programs written for PyTorch found: its other spellings, and corners of composed functions."""

from __future__ import annotations

import math
import operator
from typing import Any

import pytest

import adjoint as ad

F = ad.nn.functional


def test_view_of_another_dtype_at_every_level() -> None:
    bits, x = ad.ones(3).view(ad.int32) + 1, ad.ones(3)
    assert ad.vmap(lambda x: x.view(ad.int32) + 1)(x).tolist() == bits.tolist()
    assert ad.vmap(ad.vmap(lambda x: x.view(ad.int32) + 1))(x.reshape(1, 3))[0].tolist() == bits.tolist()
    seen = []
    ad.func.grad(lambda x: (seen.append((x.view(ad.int32) + 1).tolist()), x.sum())[1])(x)
    ad.func.jvp(lambda x: (seen.append((x.view(ad.int32) + 1).tolist()), x)[1], (x,), (x,))
    assert seen == [bits.tolist()] * 2
    leaf = ad.ones(3, requires_grad=True)
    assert not leaf.view(ad.int32).requires_grad
    assert ad.vmap(lambda x: ad.nextafter(x, 2 * x))(x).tolist() == ad.nextafter(x, 2 * x).tolist()


def test_as_strided_under_vmap_reads_its_own_lane() -> None:
    x = ad.arange(6.0).reshape(2, 3)
    assert ad.vmap(lambda x: x.as_strided((2,), (1,), 1))(x).tolist() == [[1, 2], [4, 5]]
    g = ad.vmap(ad.func.grad(lambda x: (x.as_strided((2,), (1,), 1) ** 2).sum()))(x)
    assert g.tolist() == [[0, 2, 4], [0, 8, 10]]
    with pytest.raises(RuntimeError, match="lane"):
        ad.vmap(lambda x: x.as_strided((4,), (1,), 0))(x)


@pytest.mark.parametrize("padding", ["border", "reflection"])
def test_grid_sample_has_no_derivative_where_it_clips(padding: str) -> None:
    image = ad.arange(16.0).reshape(1, 1, 4, 4)
    grid = F.affine_grid(ad.tensor([[[1.0, 0, 0], [0, 1.0, 0]]]), [1, 1, 4, 4], True).requires_grad_()
    F.grid_sample(image, grid, padding_mode=padding, align_corners=True).sum().backward()
    assert ad.allclose(grid.grad[0, 0, :, 0], ad.tensor([0.0, 1.5, 1.5, 0.0]))
    (g,) = ad.autograd.grad(F.grid_sample(image, grid, "nearest", align_corners=True).sum(), grid)
    assert not g.any()


def test_products_with_factors_that_are_not_whole() -> None:
    n, v = ad.ones(2, 2, dtype=ad.int64), ad.ones(2, dtype=ad.int64)
    assert ad.addmv(v, n, v, alpha=2.5).tolist() == [5, 5]


@pytest.mark.parametrize("dtype", [ad.float32, ad.float64, ad.float16, ad.int64, ad.uint8])
def test_median_of_many(dtype: ad.dtype) -> None:
    """Of which only those near the middle of a sample are ordered; sorted, periodic and constant ones mislead the sample."""
    spread = ad.arange(20_001) * 7919 % 20_011
    for x in (spread, spread % 13, spread.sort().values, ad.arange(20_001) % 19 * 5, ad.ones(20_001)):
        x = (x % 199).to(dtype) if dtype in (ad.uint8, ad.float16) else x.to(dtype)
        values, order = x.sort(stable=True)
        found = x.median(0)
        assert (found.values, found.indices) == (values[10_000], order[10_000])


@pytest.mark.parametrize("n", [13, 80, 127, 128, 700, 10007])
def test_medians_of_rows_are_where_a_stable_sort_puts_them(n: int) -> None:
    ad.manual_seed(n)
    x = ad.randn(6, n)
    x[1] = x[1].round()
    x[2] = x[2].sort()[0]
    x[3] = ad.where(x[3] < 0.3, -math.inf, x[3])
    x[4] = ad.where(x[4] < 0.3, x[4], math.inf)
    x[5] = ad.arange(n) % 3
    for rows in (x, x.double(), x.nan_to_num(0, 9, -9).long()):
        values, order = rows.sort(1, stable=True)
        found = rows.median(1)
        assert found.values.equal(values[:, (n - 1) // 2]) and found.indices.equal(order[:, (n - 1) // 2])
    x[0, n // 2] = math.nan
    assert x.median(1).indices[0] == n // 2


def test_median_shares_its_gradient_at_ties() -> None:
    for f in (ad.median, ad.nanmedian):
        x = ad.tensor([2.0, 2.0, 2.0, 1.0, 5.0], requires_grad=True)
        y = f(x)
        y.backward()
        assert y.item() == 2 and ad.allclose(x.grad, ad.tensor([1.0, 1.0, 1.0, 0.0, 0.0]) / 3)
    assert ad.median(ad.tensor([1.0, math.nan])).isnan()


def test_index_fill_counts_a_repeated_place_once() -> None:
    value = ad.tensor(2.0, requires_grad=True)
    y = ad.zeros(3, 2).index_fill(0, ad.tensor([1, 1, -1]), value)
    y.sum().backward()
    assert y.tolist() == [[0, 0], [2, 2], [2, 2]] and value.grad.item() == 4


def test_integer_dtypes() -> None:
    assert ad.arange(7 / 2, dtype=ad.int64).tolist() == [0, 1, 2]
    assert ad.arange(0, 5, 1.5, dtype=ad.int32).tolist() == [0, 1, 2, 3]
    assert ad.full((3,), 1.7).cumsum(0, dtype=ad.int32).dtype is ad.int32
    assert ad.cumprod(ad.tensor([2, 3]), 0, dtype=ad.int16).dtype is ad.int16
    assert ad.allclose(ad.special.log_ndtr(ad.tensor([0, 1])), ad.special.log_ndtr(ad.tensor([0.0, 1.0])))
    assert ad.special.ndtri(ad.tensor([0, 1])).tolist() == [-math.inf, math.inf]


def test_entr() -> None:
    x = ad.tensor([0.0, 1.0, -1.0], requires_grad=True)
    y = ad.special.entr(x)
    y.sum().backward()
    assert y.tolist() == [0, 0, -math.inf]
    assert x.grad[:2].tolist() == [math.inf, -1] and x.grad[2].isnan()


def test_variables_without_dimensions() -> None:
    one = ad.tensor(1.0)
    assert one.quantile(0.5, 0).item() == 1 and one.kthvalue(1).indices.item() == 0
    assert [i.tolist() for i in one.nonzero(as_tuple=True)] == [[0]]
    assert [i.tolist() for i in ad.where(one)] == [[0]] and [i.tolist() for i in ad.where(one - one)] == [[]]
    assert one.scatter(0, ad.tensor(0), 2.0, reduce="add").item() == 3
    assert ad.cov(ad.rand(1, 4)).shape == ad.corrcoef(ad.rand(1, 4)).shape == ()
    with pytest.raises(RuntimeError, match="out of range"):
        ad.ones(3).kthvalue(4)


def test_scatter_that_combines() -> None:
    x, at = ad.full((2, 2), 3.0), ad.tensor([[1], [0]])
    assert x.scatter(1, at, 2.0, reduce="add").tolist() == [[3, 5], [5, 3]]
    assert x.scatter_(1, at, ad.full((2, 1), 2.0), reduce="multiply").tolist() == [[3, 6], [6, 3]]
    with pytest.raises(RuntimeError, match="add or multiply"):
        x.scatter(1, at, 2.0, reduce="max")


def test_unique_slices() -> None:
    x = ad.tensor([[1, 2], [1, 2], [0, 3]])
    values, inverse, counts = ad.unique(x, dim=0, return_inverse=True, return_counts=True)
    assert (values.tolist(), inverse.tolist(), counts.tolist()) == ([[0, 3], [1, 2]], [1, 1, 0], [1, 2])


def test_images_and_attention() -> None:
    assert F.unfold(ad.ones(0, 2, 4, 4), 2).shape == (0, 8, 9)
    assert F.group_norm(ad.ones(0, 4, 3), 2).shape == (0, 4, 3)
    assert F.interpolate(ad.arange(4.0).reshape(1, 1, 4), size=2, mode="area").tolist() == [[[0.5, 2.5]]]
    q, k = ad.rand(1, 4, 3, 2), ad.rand(1, 2, 3, 2)
    wide = k.repeat_interleave(2, 1)
    grouped = F.scaled_dot_product_attention(q, k, k, enable_gqa=True)
    assert ad.allclose(grouped, F.scaled_dot_product_attention(q, wide, wide))


def test_losses() -> None:
    x, var = ad.rand(2, 3), ad.tensor([0.5, 2.0])
    assert F.gaussian_nll_loss(x, x, var).item() == F.gaussian_nll_loss(x, x, var.unsqueeze(-1)).item()
    with pytest.raises(ValueError, match="var is of incorrect size"):
        F.gaussian_nll_loss(x, x, ad.ones(3))
    assert ad.kl_div(x.log(), x, 2).item() == F.kl_div(x.log(), x, reduction="sum").item()
    assert ad.equal(ad.kl_div(x.log(), x), F.kl_div(x.log(), x, reduction="none"))
    sign = ad.ones(2, 3)
    for loss in (
        ad.hinge_embedding_loss(x, sign),
        ad.margin_ranking_loss(x, x, sign),
        ad.binary_cross_entropy_with_logits(x, x),
    ):
        assert loss.shape == (2, 3)
    assert ad.triplet_margin_loss(x, x, x).shape == ad.cosine_embedding_loss(x, x, ad.ones(2)).shape == (2,)
    assert ad.ctc_loss(ad.rand(5, 2, 4), ad.tensor([[1, 2], [2, 3]]), ad.tensor([5, 5]), ad.tensor([2, 2])).shape == (2,)
    assert ad.norm(ad.eye(3), p="nuc").item() == 3


def test_names_of_numpy() -> None:
    x = ad.arange(6.0).reshape(2, 3)
    assert x.sum(axis=0, keepdims=True).tolist() == [[3, 5, 7]]
    assert ad.cat([x, x], axis=1).shape == (2, 6)
    assert x.swapaxes(axis0=0, axis1=1).shape == ad.swapaxes(x, axis0=0, axis1=1).shape == (3, 2)
    assert ad.add(x1=x, x2=x).tolist() == (2 * x).tolist()
    assert ad.softmax(x, **{"axis": 1}).tolist() == ad.softmax(x, 1).tolist()
    assert ad.sum(x, axis=0, out=ad.empty(3)).tolist() == [3, 5, 7]
    with pytest.raises(IndexError):
        x.sum(axis=5)
    with pytest.raises(TypeError, match="axes"):
        x.sum(axes=0)


@pytest.mark.parametrize(
    "path", ["nanmean", "nanmedian", "mode", "trapezoid", "cumulative_trapezoid", "linalg.norm", "linalg.vector_norm", "fft.fft", "fft.irfft", "fft.fftn"]
)  # fmt: skip
def test_axis_of_functions_written_in_python(path: str) -> None:
    f: Any = operator.attrgetter(path)(ad)
    x = ad.arange(6.0).view(2, 3)
    assert str(f(x, axis=0)) == str(f(x, dim=0)) != str(f(x, dim=1))
    if path in ("nanmean", "nanmedian", "mode"):
        assert str(getattr(x, path)(axis=0, keepdims=True)) == str(f(x, dim=0, keepdim=True))
    with pytest.raises(TypeError):
        f(x, axis=0, dim=0)
    with pytest.raises(TypeError, match="nothing"):
        f(x, nothing=0)


def test_shapes_as_keywords() -> None:
    x = ad.arange(6.0)
    assert x.view(size=(2, 3)).shape == x.reshape(shape=(2, 3)).shape == (2, 3)
    assert x.view(2, 3).permute(dims=(1, 0)).shape == (3, 2)
    assert x.expand(size=(2, 6)).shape == ad.tile(x, dims=(2, 1)).shape == (2, 6)
    assert ad.zeros(3, layout=ad.strided, pin_memory=False).shape == (3,)
    with pytest.raises(TypeError):
        x.sum(layout=ad.strided)
    with pytest.raises(TypeError):
        ad.ones(3, layout=ad.sparse_coo)


def test_sizes_of_factories_as_keywords() -> None:
    assert ad.rand(size=(2, 3)).shape == ad.randn(size=(2, 3), dtype=ad.float64).shape == (2, 3)
    assert ad.ones(1).new_zeros(size=(2, 3)).tolist() == [[0.0] * 3] * 2


def test_common_divisors_and_multiples() -> None:
    a, b = ad.tensor([12, 0, -4, 0]), ad.tensor([-18, 5, 6, 0])
    assert ad.gcd(a, b).tolist() == [6, 5, 2, 0] and ad.lcm(a, b).tolist() == [36, 0, 12, 0]
    with pytest.raises(RuntimeError, match="gcd: expected integers"):
        ad.gcd(a, 1.0 * b)


@pytest.mark.parametrize("dtype", [ad.float32, ad.float16, ad.int64, ad.uint8])
def test_isin_of_many(dtype: ad.dtype) -> None:
    """Many are looked for in their order; a million of them among as many take no memory of both."""
    x, tested = (ad.arange(60) * 7 % 50).view(3, 20).to(dtype), ad.arange(0, 90, 3).to(dtype)
    wanted = [[bool(v % 3 == 0) for v in row] for row in x.tolist()]
    assert ad.isin(x, tested).tolist() == wanted
    assert ad.isin(x, tested, invert=True).tolist() == [[not v for v in row] for row in wanted]
    assert ad.vmap(lambda row: ad.isin(row, tested))(x).tolist() == wanted
    many = ad.arange(1_000_000)
    assert ad.isin(many, many + 500_000).sum() == 500_000
    assert ad.isin(ad.tensor([math.nan, -0.0]), ad.cat([ad.arange(20.0), ad.tensor([math.nan])])).tolist() == [False, True]


@pytest.mark.parametrize("dtype", [ad.float32, ad.float64])
@pytest.mark.parametrize("p", [3.0, 2.5, 0.5, -1.0, 20.0])
def test_norms_of_any_order(dtype: ad.dtype, p: float) -> None:
    """Also of numbers whose powers leave the type, and of zeros."""
    ad.manual_seed(0)
    x = ad.randn(7, 33, dtype=dtype)
    for scale in (1.0, 1e-14, 1e14):
        exact = ((x.double() * scale / scale).abs() ** p).sum(1) ** (1 / p) * scale
        ad.testing.assert_close(
            ad.linalg.vector_norm(x * scale, p, 1).double(), exact, rtol=1e-5 if dtype is ad.float32 else 1e-13, atol=0
        )
    x[2] = 0
    assert ad.linalg.vector_norm(x, p, 1)[2] == 0 and ad.linalg.vector_norm(ad.tensor([math.inf, 1.0]), 3.0) == math.inf
    assert ad.linalg.vector_norm(ad.tensor([math.nan, 1.0]), p).isnan()


def test_histc_of_no_parts_and_no_range() -> None:
    x = ad.tensor([1.0, 2.0])
    with pytest.raises(RuntimeError, match="bins must be > 0, but got 0"):
        ad.histc(x, bins=0)
    with pytest.raises(RuntimeError, match="max must be larger than min"):
        ad.histc(x, 4, 3, 1)
    for call in (lambda: ad.histc(x, 4, 0, float("inf")), lambda: ad.histc(x / 0, 4), lambda: ad.histc(x * float("nan"), 4)):
        with pytest.raises(RuntimeError, match="is not finite"):
            call()
