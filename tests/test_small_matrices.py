"""Batches of small matrices, which are factored many at a time: each as if it were alone."""

import numpy as np
import pytest

import adjoint as ad

linalg = ad.linalg
F = {ad.float32: np.float32, ad.float64: np.float64}


def matrices(batch, m, n, dtype):
    return np.random.default_rng([batch, m, n]).standard_normal((batch, m, n)).astype(F[dtype])


def close(x, y, dtype):
    np.testing.assert_allclose(
        x.numpy(), y, rtol=2e-3 if dtype == ad.float32 else 1e-10, atol=2e-4 if dtype == ad.float32 else 1e-11
    )


@pytest.mark.parametrize("dtype", F, ids=str)
@pytest.mark.parametrize("n", [1, 2, 3, 7, 12, 16, 17])
@pytest.mark.parametrize("batch", [3, 4, 16, 37])
def test_as_numpy_has_it(batch, n, dtype):
    a = matrices(batch, n, n, dtype) + 2 * np.eye(n, dtype=F[dtype])
    b, spd = matrices(batch, n, 3, dtype), a @ a.swapaxes(-1, -2)
    for lies in (lambda x: x, lambda x: x.mT.contiguous().mT):
        x, y = lies(ad.from_numpy(a)), lies(ad.from_numpy(b))
        close(linalg.inv(x) @ x, np.broadcast_to(np.eye(n), a.shape), dtype)
        solution = linalg.solve(x, y)
        close((x @ solution - y) / (x.abs() @ solution.abs()).amax(), np.zeros_like(b), dtype)
        close(linalg.det(x) / ad.from_numpy(np.linalg.det(a)), np.ones(batch), dtype)
        sign, logarithm = linalg.slogdet(x)
        close(sign * logarithm.exp() / linalg.det(x), np.ones(batch), dtype)
        lower = linalg.cholesky(lies(ad.from_numpy(spd)))
        close(lower @ lower.mT / ad.from_numpy(spd).abs().amax(), spd / np.abs(spd).max(), dtype)
        assert not lower.triu(1).any()
        x = x.detach().requires_grad_()
        (g,) = ad.autograd.grad(linalg.solve(x, y).sum(), x)  # -a^-T 1 x^T
        close(x.mT.detach() @ g, -(ad.ones(batch, n, 3, dtype=dtype) @ linalg.solve(x, y).mT).detach().numpy(), dtype)


@pytest.mark.parametrize("shape", [(7, 5), (5, 7), (1, 16), (16, 1), (4, 4)])
def test_factors_of_any_shape(shape):
    a = ad.from_numpy(matrices(21, *shape, ad.float64))
    p, lower, upper = linalg.lu(a)
    close(p @ lower @ upper, a.numpy(), ad.float64)
    for b in range(21):
        alone, together = linalg.lu_factor(a[b]), linalg.lu_factor(a)
        assert alone.pivots.tolist() == together.pivots[b].tolist()
        close(together.LU[b], alone.LU.numpy(), ad.float64)


def test_one_bad_matrix_is_named_and_harms_no_other():
    a = ad.eye(3).repeat(20, 1, 1)
    a[7] = 0.0
    a[7, 0, 0] = 1.0
    assert linalg.inv_ex(a).info.nonzero().tolist() == [[7]] and linalg.inv_ex(a).info[7] == 2
    assert linalg.inv_ex(a).inverse[7].isnan().all() and (linalg.inv_ex(a).inverse[6] == ad.eye(3)).all()
    assert linalg.lu_factor_ex(a).info[7] == 2 and linalg.solve_ex(a, ad.ones(20, 3, 1)).info[7] == 2
    assert linalg.det(a).tolist() == [float(k != 7) for k in range(20)] and linalg.slogdet(a).logabsdet[7] == -float("inf")
    a[7] = -ad.eye(3)
    a[7, 0, 0] = 1.0
    assert linalg.cholesky_ex(a).info.tolist() == [2 * (k == 7) for k in range(20)]
    with pytest.raises(linalg.LinAlgError, match="Batch element 7"):
        linalg.cholesky(a)
    a[7] = float("nan")
    assert (
        linalg.cholesky_ex(a).L[7].isnan().any()
        and (linalg.cholesky_ex(a).L[8] == ad.eye(3)).all()
        and linalg.det(a)[7].isnan()
    )


@pytest.mark.parametrize("dtype", F, ids=str)
@pytest.mark.parametrize("m, n", [(1, 1), (3, 3), (7, 4), (4, 7), (16, 16), (16, 1), (1, 16)])
def test_orthogonal_factors(m, n, dtype):
    a = matrices(37, m, n, dtype)
    a[5] = 0
    a[6] *= 1e30 if dtype == ad.float32 else 1e300  # squares of these overflow
    a[7] *= 1e-30 if dtype == ad.float32 else 1e-300
    for mode in ("reduced", "complete"):
        q, r = linalg.qr(ad.from_numpy(a), mode=mode)
        close(q.mT @ q, np.broadcast_to(np.eye(q.size(-1)), (37, q.size(-1), q.size(-1))), dtype)
        scale = np.abs(a).max((-2, -1), keepdims=True) + (np.abs(a).max((-2, -1), keepdims=True) == 0)
        close(q @ (r / ad.from_numpy(scale)), a / scale, dtype)
        assert not r.tril(-1).any()
        alone = linalg.qr(ad.from_numpy(a[3]), mode=mode)[0]  # the same signs
        close(q[3], alone.numpy(), dtype)


def scaled(a, dtype):
    """Among them one of zeros, one of rank 1, one whose squares overflow and one whose squares vanish."""
    a[5], a[6] = 0, a[6, :1] * np.arange(1, a.shape[-2] + 1, dtype=F[dtype])[:, None]
    a[7] *= 1e30 if dtype == ad.float32 else 1e300
    a[8] *= 1e-30 if dtype == ad.float32 else 1e-300
    scale = np.abs(a).max((-2, -1), keepdims=True)
    return a, np.where(scale == 0, 1, scale)


@pytest.mark.parametrize("dtype", F, ids=str)
@pytest.mark.parametrize("m, n", [(1, 1), (2, 2), (3, 3), (7, 4), (4, 7), (16, 16), (16, 1), (1, 16)])
def test_singular_values(m, n, dtype):
    a, scale = scaled(matrices(37, m, n, dtype), dtype)
    u, s, vh = linalg.svd(ad.from_numpy(a), full_matrices=False)
    close(u * (s / ad.from_numpy(scale[..., 0])).unsqueeze(-2) @ vh, a / scale, dtype)
    for q in (u, vh.mT):
        close(q.mT @ q, np.broadcast_to(np.eye(min(m, n)), (37, min(m, n), min(m, n))), dtype)
    assert (s.diff() <= 0).all() and (s >= 0).all()
    close(s / ad.from_numpy(scale[..., 0]), np.linalg.svd((a / scale).astype(np.float64))[1], dtype)
    close(linalg.svdvals(ad.from_numpy(a)) / ad.from_numpy(scale[..., 0]), (s / ad.from_numpy(scale[..., 0])).numpy(), dtype)
    full = linalg.svd(ad.from_numpy(a))
    assert full.U.shape == (37, m, m) and full.Vh.shape == (37, n, n)


@pytest.mark.parametrize("dtype", F, ids=str)
@pytest.mark.parametrize("n", [1, 2, 3, 8, 16])
def test_eigenvalues(n, dtype):
    a = matrices(37, n, n, dtype)
    a, scale = scaled(a + a.swapaxes(-1, -2), dtype)
    a = np.tril(a)
    whole = a + np.tril(a, -1).swapaxes(-1, -2)
    w, v = linalg.eigh(ad.from_numpy(np.tril(a) + np.triu(np.full_like(a, 9), 1)))  # the upper triangle is not read
    close(v.mT @ v, np.broadcast_to(np.eye(n), a.shape), dtype)
    close(v * (w / ad.from_numpy(scale[..., 0])).unsqueeze(-2) @ v.mT, whole / scale, dtype)
    assert (w.diff() >= 0).all()
    close(linalg.eigvalsh(ad.from_numpy(a)) / ad.from_numpy(scale[..., 0]), (w / ad.from_numpy(scale[..., 0])).numpy(), dtype)


def test_spectra_of_what_is_not_finite():
    a = ad.eye(3).repeat(20, 1, 1)
    a[7, 1, 1] = float("inf")
    with pytest.raises(linalg.LinAlgError, match="Batch element 7.*non-finite"):
        linalg.svd(a)
    b = ad.eye(3).repeat(20, 1, 1)
    assert (linalg.svdvals(b) == 1).all() and (linalg.eigvalsh(b) == 1).all()
    b[0] = ad.tensor([[2.0, 0, 0], [0, -1, 0], [0, 0, 2.0]])
    assert linalg.eigvalsh(b)[0].tolist() == [-1, 2, 2] and linalg.svdvals(b)[0].tolist() == [2, 2, 1]


@pytest.mark.parametrize("m, n", [(6, 4), (4, 6), (5, 5)])
@pytest.mark.parametrize("least", [1e-3, 0.0])
def test_least_squares_of_any_rank(m, n, least):
    k = min(m, n)
    u, v = (np.linalg.qr(matrices(8, s, k, ad.float64))[0] for s in (m, n))
    s = np.linspace(1, 2, k)
    s[-1] = least
    a, b = (u * s) @ v.swapaxes(-1, -2), matrices(8, m, 3, ad.float64)
    found = linalg.lstsq(ad.from_numpy(a), ad.from_numpy(b))
    close(found.solution / 1e3, np.linalg.pinv(a, 1e-10) @ b / 1e3, ad.float64)
    assert (found.rank == (k if least else k - 1)).all()


def test_one_matrix_over_and_over():
    a = ad.from_numpy(matrices(1, 4, 4, ad.float64)).expand(30, 4, 4)
    assert (linalg.inv(a) == linalg.inv(a)[:1]).all() and (
        linalg.solve(a, a[:, :, :1]) == linalg.solve(a, a[:, :, :1])[:1]
    ).all()


def test_the_number_of_threads_changes_no_bit():
    a, threads = ad.from_numpy(matrices(2000, 6, 6, ad.float32)), ad.get_num_threads()
    found = []
    for n in (1, 2, 3):
        ad.set_num_threads(n)
        found.append(
            (
                linalg.inv(a),
                linalg.det(a),
                *linalg.svd(a),
                *linalg.eigh(a),
                *linalg.qr(a),
                linalg.cholesky(a @ a.mT + ad.eye(6)),
                linalg.solve(a, a[:, :, :2]),
            )
        )
    ad.set_num_threads(threads)
    for other in found[1:]:
        assert all((x == y).all() for x, y in zip(found[0], other, strict=True))


@pytest.mark.parametrize("n", [3, 40])
@pytest.mark.parametrize("batch", [(), (5,)])
def test_the_minor_in_which_a_nan_stands_is_named(n, batch):
    a = ad.eye(n, dtype=ad.float64).expand(*batch, n, n).clone()
    a[..., 1, 1] = float("nan")
    assert (ad.linalg.cholesky_ex(a).info == 2).all()
    with pytest.raises(ad.linalg.LinAlgError, match="minor of order 2"):
        ad.linalg.cholesky(a)


@pytest.mark.parametrize("dtype", F, ids=str)
@pytest.mark.parametrize("n", [2, 3, 5, 8])
def test_vectors_of_a_few_are_those_of_each(n, dtype):
    a = ad.from_numpy(matrices(10, n, n, dtype))
    for of in (linalg.svd, lambda x: linalg.eigh(x + x.mT)):
        together = of(a)
        for b in range(10):
            for part, alone in zip(together, of(a[b])):
                close(part[b], alone.numpy(), dtype)
