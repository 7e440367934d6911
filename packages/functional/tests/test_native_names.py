"""Functions of PyTorch's top level that give more than their namesakes, and tables of counts and places."""

import math

import numpy as np
import pytest

import adjoint as ad

RNG = np.random.default_rng(0)


def tensor(*shape):
    return ad.from_numpy(RNG.standard_normal(shape))


def test_histograms_are_numpys():
    x, w = tensor(50), tensor(50).abs()
    for bins in (1, 7):
        for density in (False, True):
            found = ad.histogram(x, bins, weight=w, density=density)
            expected = np.histogram(x.numpy(), bins, weights=w.numpy(), density=density)
            np.testing.assert_allclose(found.hist.numpy(), expected[0], atol=1e-12)
            np.testing.assert_allclose(found.bin_edges.numpy(), expected[1], atol=1e-12)
    points = tensor(40, 3)
    found = ad.histogramdd(points, [2, 3, 4], range=(-1, 1) * 3)
    expected = np.histogramdd(points.numpy(), [2, 3, 4], [(-1, 1)] * 3)
    np.testing.assert_array_equal(found.hist.numpy(), expected[0])
    each = ad.histogramdd(points, [1, 5, 2])
    np.testing.assert_array_equal(each.hist.numpy(), np.histogramdd(points.numpy(), [1, 5, 2])[0])
    weight = tensor(40).abs()
    found = ad.histogramdd(points, [ad.tensor([-1.0, 0.0, 0.5], dtype=points.dtype), 1, 3], weight=weight).hist
    edges = [[-1.0, 0.0, 0.5], *np.histogramdd(points.numpy()[:, 1:], [1, 3])[1]]
    np.testing.assert_allclose(found.numpy(), np.histogramdd(points.numpy(), edges, weights=weight.numpy())[0])
    np.testing.assert_allclose(ad.histogramdd(points, [1] * 3, weight=weight).hist.flatten().numpy(), [weight.sum().item()])
    with pytest.raises(RuntimeError, match="must be positive"):
        ad.histogram(x, 0)
    with pytest.raises(RuntimeError, match="is not finite"):
        ad.histogram(ad.tensor([0.0, ad.nan]), 2)


@pytest.mark.parametrize("reduce", ["sum", "mean", "prod", "max", "min"])
def test_segments(reduce):
    x, lengths = tensor(6, 2).requires_grad_(), ad.tensor([2, 0, 3, 1])
    y = ad.segment_reduce(x, reduce, lengths=lengths)
    numpys = {"sum": np.sum, "mean": np.mean, "prod": np.prod, "max": np.max, "min": np.min}[reduce]
    n = x.numpy(force=True)
    for row, (start, end) in enumerate([(0, 2), (2, 2), (2, 5), (5, 6)]):
        if start < end:
            np.testing.assert_allclose(y[row].numpy(force=True), numpys(n[start:end], 0))
    nothing = {"sum": 0, "mean": math.nan, "prod": 1, "max": -math.inf, "min": math.inf}[reduce]
    np.testing.assert_array_equal(y[1].numpy(force=True), [nothing] * 2)
    same = ad.segment_reduce(x, reduce, offsets=ad.tensor([0, 2, 2, 5, 6]))
    np.testing.assert_array_equal(same.numpy(force=True), y.numpy(force=True))
    assert ad.autograd.gradcheck(lambda x: ad.segment_reduce(x, reduce, lengths=ad.tensor([2, 1, 3])), x)
    inner = ad.segment_reduce(x, reduce, offsets=ad.tensor([1, 3, 4]))  # rows before and behind are in none
    ad.testing.assert_close(inner, ad.segment_reduce(x[1:4], reduce, lengths=ad.tensor([2, 1])))
    assert ad.autograd.gradcheck(lambda x: ad.segment_reduce(x, reduce, offsets=ad.tensor([1, 3, 4])), x)
    with pytest.raises(RuntimeError, match="lengths must sum to 6"):
        ad.segment_reduce(x, reduce, lengths=ad.tensor([2, 1]))


def test_low_rank():
    A = tensor(7, 2) @ tensor(2, 5)
    U, S, V = ad.svd_lowrank(A, q=3)
    ad.testing.assert_close(U @ S.diag() @ V.mH, A)
    U, S, V = ad.pca_lowrank(A, q=2)
    ad.testing.assert_close(U @ S.diag() @ V.mH, A - A.mean(0))
    assert ad.svd_lowrank(A.mH, q=2)[0].shape == (5, 2)


def test_normalisations_with_their_statistics():
    x = tensor(4, 6, 5)
    y, mean, rstd = ad.native_layer_norm(x, [5], None, None, 1e-5)
    ad.testing.assert_close(y, (x - mean) * rstd)
    y, mean, rstd = ad.native_group_norm(x, None, None, 4, 6, 5, 2, 1e-5)
    ad.testing.assert_close(y.view(4, 2, 15), (x.view(4, 2, 15) - mean[..., None]) * rstd[..., None])
    y, mean, rstd = ad.native_batch_norm(x, None, None, None, None, True, 0.1, 1e-5)
    ad.testing.assert_close(y, (x - mean[:, None]) * rstd[:, None])
    assert ad.native_batch_norm(x, None, None, mean, rstd, False, 0.1, 1e-5)[1].shape == (0,)


def test_places_and_hashes():
    assert ad.nonzero_static(ad.tensor([0, 3, 1]), size=3).tolist() == [[1], [2], [-1]]
    assert ad.empty_permuted((2, 3, 4), (2, 0, 1)).stride() == (3, 1, 6)
    x = RNG.integers(0, 2**40, (3, 5))
    assert ad.hash_tensor(ad.from_numpy(x)).item() == np.bitwise_xor.reduce(x, None)
    assert ad.hash_tensor(ad.from_numpy(x), 1).tolist() == np.bitwise_xor.reduce(x, 1).tolist()
    assert ad.hash_tensor(ad.ones(1)).item() == np.float64(1).view(np.int64)
    for dtype in (ad.float16, ad.bfloat16, ad.float64):
        assert ad.hash_tensor(ad.tensor([1.5, 0.0], dtype=dtype)).item() == np.float64(1.5).view(np.int64)
    for dtype in (ad.bool, ad.uint8, ad.int32, ad.uint64):
        assert ad.hash_tensor(ad.tensor([1, 0, 1, 1], dtype=dtype)).item() == 1
    many = ad.arange(140_001) * 7919
    assert ad.hash_tensor(many.reshape(3, -1), 1).tolist() == np.bitwise_xor.reduce(many.numpy().reshape(3, -1), 1).tolist()
    assert many.equal(ad.arange(140_001) * 7919) and ad.hash_tensor(ad.ones(0, 2), 1).shape == (0,)
    parts = [ad.arange(6.0).view(3, 2), ad.arange(10.0).view(5, 2)]
    assert ad._chunk_cat(parts, 0, 2).tolist() == [[0, 1, 2, 3, 0, 1, 2, 3, 4, 5], [4, 5, 0, 0, 6, 7, 8, 9, 0, 0]]


def test_bags_with_their_sizes():
    weight = tensor(4, 2)
    y, bag, size, _ = ad.embedding_bag(weight, ad.tensor([0, 1, 3]), ad.tensor([0, 2]), False, 1)
    ad.testing.assert_close(y[0], (weight[0] + weight[1]) / 2)
    assert bag.tolist() == [0, 0, 1] and size.tolist() == [2, 1]


def test_loss_behind_a_linear_layer():
    x, w, t = tensor(5, 3), tensor(4, 3), ad.tensor([0, 3, 1, 1, 2])
    F = ad.nn.functional
    ad.testing.assert_close(F.linear_cross_entropy(x, w, t), F.cross_entropy(F.linear(x, w), t))


def test_least_squares_say_no_residuals_where_the_rank_is_not_full():
    B = ad.ones(3, 1)
    assert ad.linalg.lstsq(ad.ones(3, 2), B, driver="gelsd").residuals.shape == (0,)
    assert ad.linalg.lstsq(ad.eye(3)[:, :2], B, driver="gelsd").residuals.shape == (1,)
    assert ad.linalg.lstsq(ad.eye(3)[:, :2], B).residuals.shape == (0,)


def test_numbers_are_weak_beside_matrices():
    half = ad.ones(2, 2, dtype=ad.float16)
    assert ad.block_diag(ad.tensor(1.0), half).dtype is ad.float16 and ad.block_diag(ad.ones(1), half).dtype is ad.float32


def test_source_of_nothing_keeps_its_history():
    source = tensor(3).requires_grad_()
    y = ad.zeros(0, dtype=source.dtype).masked_scatter(ad.zeros(0, dtype=ad.bool), source)
    assert ad.autograd.grad(y.sum(), source)[0].tolist() == [0, 0, 0]


@pytest.mark.parametrize("affine", [False, True])
def test_the_gradient_of_an_evaluated_batch_norm_leads_to_its_input(affine):
    x, mean, var = tensor(4, 3, 2).requires_grad_(), tensor(3), tensor(3).square() + 0.5
    w, b = (tensor(3).requires_grad_(), tensor(3).requires_grad_()) if affine else (None, None)
    y = ad.nn.functional.batch_norm(x, mean, var, w, b, False, 0.1, 1e-3)
    deviation = (var + 1e-3).sqrt()[:, None]
    wanted = (x - mean[:, None]) / deviation
    ad.testing.assert_close(y, wanted * w[:, None] + b[:, None] if affine else wanted)
    v = tensor(4, 3, 2)
    (g,) = ad.autograd.grad(y, x, v, create_graph=True)
    ad.testing.assert_close(g, v * (w[:, None] if affine else 1) / deviation)
    assert (ad.autograd.grad(g.sum(), x, retain_graph=True)[0] == 0).all()
    if affine:
        ad.testing.assert_close(ad.autograd.grad(g.sum(), w, retain_graph=True)[0], (v / deviation).sum((0, 2)))
    (g,) = ad.autograd.grad(ad.nn.functional.batch_norm(x, mean, var), x, v)
    assert g.grad_fn is None
    if affine:
        ad.testing.assert_close(ad.autograd.grad(y, [w, b], v), ((v * wanted).sum((0, 2)), v.sum((0, 2))))


@pytest.mark.parametrize("reduce", ["max", "min"])
def test_segments_reduce_by_either_name(reduce):
    x, lengths = tensor(6), ad.tensor([2, 0, 4])
    assert ad.equal(ad.segment_reduce(x, "a" + reduce, lengths=lengths), ad.segment_reduce(x, reduce, lengths=lengths))


@pytest.mark.parametrize("mask", [(True, True), (True, False), (False, True), (False, False)])
@pytest.mark.parametrize("n", [2, 3])
def test_cotangents_of_grid_samplers(n: int, mask: tuple[bool, bool]) -> None:
    image = ad.randn(2, 3, *[5] * n, dtype=ad.float64).requires_grad_()
    grid = (ad.rand(2, *[4] * n, n, dtype=ad.float64) * 2 - 1).requires_grad_()
    sampled = ad.grid_sampler(image, grid, 0, 0, False)
    v = ad.randn(sampled.shape, dtype=ad.float64)
    expected = ad.autograd.grad(sampled, (image, grid), v)
    found = getattr(ad.ops.aten, f"grid_sampler_{n}d_backward")(v, image, grid, 0, 0, False, mask)
    with ad.inference_mode():
        inside = getattr(ad.ops.aten, f"grid_sampler_{n}d_backward")(v, image + 0, grid, 0, 0, False, mask)
    assert all(a is b is None or ad.equal(a, b) for a, b in zip(inside, found, strict=True))
    for wanted, cotangent, right in zip(mask, found, expected, strict=True):
        assert ad.allclose(cotangent, right) and not cotangent.requires_grad if wanted else cotangent is None


def test_sums_of_products_with_sparse_matrices() -> None:
    dense, x = ad.tensor([[0.0, 0, 0], [1, 0, 2], [0, 3, 0]]), ad.arange(6.0).view(3, 2)
    start = ad.ones(3, 2).tril()
    rows = ad.hspmm(dense.to_sparse(), x)
    assert rows.indices().tolist() == [[1, 2]] and rows.to_dense().equal(dense @ x)
    expected = ad.addmm(start, dense, x, beta=2, alpha=0.5)
    assert start.to_sparse().sspaddmm(dense.to_sparse(), x, beta=2, alpha=0.5).to_dense().equal(expected)
    assert dense.to_sparse().smm(x).to_dense().equal(dense @ x)
    with pytest.raises(NotImplementedError):
        ad.hspmm(dense, x)


def test_products_that_are_activated() -> None:
    start, a, b = ad.randn(2), ad.randn(3, 4), ad.randn(4, 2)
    y = ad.addmm(start, a, b, beta=2)
    assert ad._addmm_activation(start, a, b, beta=2).equal(y.relu())
    assert start._addmm_activation(a, b, beta=2, use_gelu=True).equal(ad.nn.functional.gelu(y))
