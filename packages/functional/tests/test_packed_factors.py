"""Factors as LAPACK packs them: reflections of QR, and L and D of symmetric matrices."""

import numpy as np
import pytest

import adjoint as ad
from adjoint.autograd import forward_ad

TYPES = [ad.float32, ad.float64, ad.complex64, ad.complex128]


def drawn(*shape, dtype=ad.float64, seed=0):
    rng = np.random.default_rng([seed, *shape])
    a = rng.standard_normal(shape) + 1j * rng.standard_normal(shape)
    return ad.tensor(a).to(dtype) if dtype.is_complex else ad.tensor(a.real).to(dtype)


def close(a, b):
    ad.testing.assert_close(a, b, rtol=1e-4, atol=1e-4 if a.dtype in (ad.float32, ad.complex64) else 1e-10)


@pytest.mark.parametrize("dtype", TYPES)
@pytest.mark.parametrize("shape", [(4, 4), (5, 3), (3, 5), (2, 4, 3), (0, 3), (3, 0), (9, 6, 3), (7, 3, 6), (70, 40)])
def test_packed_qr(shape, dtype):
    A = drawn(*shape, dtype=dtype)
    a, tau = ad.geqrf(A)
    m, n = shape[-2:]
    k = min(m, n)
    assert tau.shape == (*shape[:-2], k)
    Q = ad.linalg.householder_product(a[..., :k], tau)
    R = a[..., :k, :].triu()
    close(Q @ R, A)
    close(Q.mH @ Q, ad.eye(k, dtype=dtype).expand_as(Q.mH @ Q))
    close(ad.diagonal(R, 0, -2, -1), ad.diagonal(ad.linalg.qr(A).R, 0, -2, -1))
    C = drawn(*shape[:-2], m, 2, dtype=dtype, seed=1)
    full = ad.ormqr(a, tau, ad.eye(m, dtype=dtype).expand(*shape[:-2], m, m))
    close(full[..., :k], Q)
    close(ad.ormqr(a, tau, C), full @ C)
    close(ad.ormqr(a, tau, C, True, True), full.mH @ C)
    close(ad.ormqr(a, tau, C.mT, False), C.mT @ full)
    close(ad.ormqr(a.mT.contiguous().mT, tau, C.mT, False, True), C.mT @ full.mH)


def test_the_last_reflection_of_a_real_square_is_none():
    assert ad.geqrf(drawn(3, 3)).tau[-1] == 0
    assert ad.geqrf(drawn(3, 3, dtype=ad.complex128)).tau[-1] != 0


def test_packed_qr_has_no_derivative():
    A = drawn(3, 3).requires_grad_()
    y = ad.geqrf(A)
    assert y.a.grad_fn.name() == "GeqrfBackward0"
    with pytest.raises(NotImplementedError, match="the derivative for 'geqrf' is not implemented"):
        y.tau.sum().backward()
    with forward_ad.dual_level(), pytest.raises(NotImplementedError, match="geqrf"):
        ad.geqrf(forward_ad.make_dual(A.detach(), A.detach()))


@pytest.mark.parametrize(
    ("call", "text"),
    [
        (lambda: ad.geqrf(ad.ones(3)), "geqrf: input must have at least 2 dimensions"),
        (lambda: ad.geqrf(ad.ones(3, 2).half()), "not implemented for"),
        (lambda: ad.linalg.householder_product(ad.ones(3), ad.ones(1)), "must have at least 2 dimensions"),
        (lambda: ad.linalg.householder_product(ad.ones(2, 3), ad.ones(1)), "greater than or equal to input.shape"),
        (lambda: ad.linalg.householder_product(ad.ones(3, 2), ad.ones(3)), "greater than or equal to tau.shape"),
        (lambda: ad.linalg.householder_product(ad.ones(2, 3, 2), ad.ones(2)), "tau.ndim equal to 1"),
        (lambda: ad.linalg.householder_product(ad.ones(2, 3, 2), ad.ones(1, 2)), "got \\[1\\]"),
        (lambda: ad.linalg.householder_product(ad.ones(3, 2), ad.ones(2).double()), "tau dtype"),
        (lambda: ad.ormqr(ad.ones(3, 2), ad.ones(2), ad.ones(3)), "other must have at least 2 dimensions"),
        (lambda: ad.ormqr(ad.ones(3, 2), ad.ones(2), ad.ones(4, 3)), "other.shape\\[-2\\] must be equal to input"),
        (lambda: ad.ormqr(ad.ones(3, 2), ad.ones(2), ad.ones(4, 2), False), "other.shape\\[-1\\] must be equal to input"),
        (lambda: ad.ormqr(ad.ones(3, 2), ad.ones(3), ad.ones(3, 3)), "tau.shape\\[-1\\] must be equal to min"),
        (lambda: ad.ormqr(ad.ones(2, 3, 2), ad.ones(2, 2), ad.ones(3, 2)), "other.ndim equal to 2"),
        (lambda: ad.ormqr(ad.ones(2, 3, 2), ad.ones(2, 2), ad.ones(1, 3, 2)), "batch dimensions of other"),
        (lambda: ad.ormqr(ad.ones(3, 2), ad.ones(2), ad.ones(3, 2).double()), "same dtype"),
    ],
)
def test_what_reflections_refuse(call, text):
    with pytest.raises((RuntimeError, NotImplementedError), match=text):
        call()


def of_blocks(LD, pivots, hermitian):
    """P L D Lᴴ Pᵀ: rows are exchanged where a block is eliminated, in what is left of the matrix."""
    LD, pivots = LD.numpy(), pivots.numpy()
    n = len(pivots)
    A, blocks = np.diag(np.diag(LD)), []
    k = 0
    while k < n:
        blocks.append((k, 1 if pivots[k] > 0 else 2))
        k += blocks[-1][1]
    conj = np.conj if hermitian else lambda x: x
    for k, wide in blocks:
        if wide == 2:
            A[k + 1, k], A[k, k + 1] = LD[k + 1, k], conj(LD[k + 1, k])
    for k, wide in reversed(blocks):
        L = np.eye(n, dtype=LD.dtype)
        L[k + wide :, k : k + wide] = LD[k + wide :, k : k + wide]
        A = L @ A @ conj(L).T
        order = np.arange(n)
        own, other = k + wide - 1, abs(pivots[k]) - 1
        order[[own, other]] = order[[other, own]]
        A = A[order][:, order]
    return ad.tensor(A)


@pytest.mark.parametrize("dtype", TYPES)
@pytest.mark.parametrize("hermitian", [False, True])
@pytest.mark.parametrize("n", [1, 2, 3, 5, 12, 90])
def test_factors_of_symmetric_matrices(n, hermitian, dtype):
    A = drawn(n, n, dtype=dtype)
    A = A + (A.mH if hermitian else A.mT)
    A.fill_diagonal_(0) if n > 1 else None  # blocks of two
    f = ad.linalg.ldl_factor(A, hermitian=hermitian)
    assert ad.equal(f.LD, f.LD.tril()) and f.pivots.dtype == ad.int32
    assert n == 1 or (f.pivots < 0).any()
    close(of_blocks(f.LD, f.pivots, hermitian), A)
    other = ad.linalg.ldl_factor(A.tril() + 7 * ad.ones_like(A).triu(1), hermitian=hermitian)  # what is above is not read
    assert ad.equal(f.LD, other.LD)
    B = drawn(n, 2, dtype=dtype, seed=1)
    X = ad.linalg.ldl_solve(*f, B, hermitian=hermitian)
    # The solution of a system beside this one: some of these matrices have a condition of 20,000.
    wide = A.to(ad.complex128)
    near = 4 * ad.finfo(A.dtype).eps * ad.linalg.norm(wide) * ad.linalg.norm(X)
    assert ((wide @ X.to(wide.dtype) - B.to(wide.dtype)).abs() <= near).all()
    assert ad.equal(X, ad.linalg.ldl_solve(f.LD, f.pivots.long(), B, hermitian=hermitian))


def test_systems_of_symmetric_matrices_broadcast():
    A = drawn(4, 3, 3)
    f = ad.linalg.ldl_factor(A + A.mT)
    X = ad.linalg.ldl_solve(*f, drawn(2, 1, 3, 2))
    close((A + A.mT) @ X, drawn(2, 1, 3, 2).expand(2, 4, 3, 2))
    assert ad.linalg.ldl_factor(ad.ones(0, 2, 2)).pivots.shape == (0, 2)
    assert ad.linalg.ldl_solve(*ad.linalg.ldl_factor(ad.ones(0, 0)), ad.ones(0, 2)).shape == (0, 2)


def test_blocks_that_are_zero():
    f = ad.linalg.ldl_factor_ex(ad.zeros(2, 3, 3))
    assert f.info.tolist() == [1, 1] and f.pivots.tolist() == [[1, 2, 3]] * 2
    with pytest.raises(ad.linalg.LinAlgError, match="Block 1 of D is zero"):
        ad.linalg.ldl_factor(ad.zeros(3, 3))
    with pytest.raises(ad.linalg.LinAlgError, match="Batch element 0"):
        ad.linalg.ldl_factor_ex(ad.zeros(2, 3, 3), check_errors=True)


def test_factors_of_symmetric_matrices_have_no_derivative():
    A = ad.eye(3).requires_grad_()
    f = ad.linalg.ldl_factor(A)
    with pytest.raises(NotImplementedError, match="ldl_factor"):
        f.LD.sum().backward()
    B = ad.ones(3, 1).requires_grad_()
    ad.linalg.ldl_solve(f.LD.detach() * 2, f.pivots, B).sum().backward()
    assert B.grad.tolist() == [[0.5]] * 3


@pytest.mark.parametrize(
    ("pivots", "text"),
    [([0, 1], ">= 1"), ([1, 3], "<= LD.size"), ([1, -2], "in pairs"), ([-1, -2], "in pairs"), ([-2, 2], "in pairs")],
)
def test_pivots_that_no_factorisation_gives(pivots, text):
    with pytest.raises(RuntimeError, match=text):
        ad.linalg.ldl_solve(ad.eye(2), ad.tensor(pivots, dtype=ad.int32), ad.ones(2, 1))


@pytest.mark.parametrize(
    ("call", "text"),
    [
        (lambda: ad.linalg.ldl_factor(ad.ones(3)), "at least 2 dimensions"),
        (lambda: ad.linalg.ldl_factor(ad.ones(3, 2)), "square matrices"),
        (lambda: ad.linalg.ldl_factor(ad.ones(2, 2).long()), "floating point or complex"),
        (lambda: ad.linalg.ldl_solve(ad.eye(2), ad.tensor([1, 2]), ad.ones(3, 1)), "Incompatible matrix sizes"),
        (lambda: ad.linalg.ldl_solve(ad.eye(2), ad.tensor([1.0, 2.0]), ad.ones(2, 1)), "pivots to be integers"),
        (lambda: ad.linalg.ldl_solve(ad.eye(2), ad.tensor([1]), ad.ones(2, 1)), "pivots with shape"),
        (lambda: ad.linalg.ldl_solve(ad.eye(2), ad.tensor([1, 2]), ad.ones(2, 1).double()), "same dtype"),
        (lambda: ad.linalg.ldl_solve(ad.eye(2), ad.tensor([1, 2]), ad.ones(2)), "at least 2 dimensions"),
    ],
)
def test_what_symmetric_factors_refuse(call, text):
    with pytest.raises(RuntimeError, match=text):
        call()
