"""Singular values and Hermitian eigenvalues of small matrices on the device, by Jacobi's method: values, vectors, derivatives, captures."""

import warnings

import numpy as np
import pytest
from device_checks import agree, real_parts

import adjoint as ad


def drawn(dtype, *sizes, kind="full"):
    r = np.random.default_rng(7)
    a = r.standard_normal(sizes) + (1j * r.standard_normal(sizes) if dtype.is_complex else 0)
    if kind == "of less rank":
        a[..., -1] = 2 * a[..., 0]
        a[..., 1] = 0
    if kind == "nothing":
        a[:] = 0
    if kind == "huge":
        a *= 1e30
    return ad.tensor(a).to(dtype)


def close(a, b, dtype, scale=1.0):
    wide = ad.complex128 if dtype.is_complex else ad.float64
    bound = 60 * ad.finfo(dtype).eps * scale
    ad.testing.assert_close(a.to(wide), b.to(wide), rtol=0, atol=bound)


@pytest.mark.parametrize("full", [False, True])
@pytest.mark.parametrize("sizes", [(2, 1, 1), (6, 3), (3, 6), (2, 5, 5)], ids=str)
@pytest.mark.parametrize("kind", ["full", "of less rank", "nothing", "huge"])
@pytest.mark.parametrize("dtype", [ad.float32, ad.complex128], ids=lambda t: t.name)
def test_singular_values(dtype, kind, sizes, full):
    if kind == "of less rank" and min(sizes[-2:]) < 3:
        pytest.skip("has no columns to take away")
    x = drawn(dtype, *sizes, kind=kind)
    with warnings.catch_warnings():
        warnings.simplefilter("error")  # nothing goes to the CPU
        u, s, vh = (t.cpu() for t in ad.linalg.svd(x.cuda(), full_matrices=full))
    expected = ad.linalg.svd(x, full_matrices=full)
    assert [t.shape for t in (u, s, vh)] == [t.shape for t in expected] and [t.dtype for t in (u, s, vh)] == [
        t.dtype for t in expected
    ]
    k, size = min(sizes[-2:]), max(1.0, expected.S.max().item())
    close(s / size, expected.S / size, s.dtype)
    close((u[..., :k] * (s / size)[..., None, :]) @ vh[..., :k, :], x / size, dtype)
    close(u.mH @ u, ad.eye(u.size(-1)).expand(*sizes[:-2], -1, -1), dtype)
    close(vh @ vh.mH, ad.eye(vh.size(-2)).expand(*sizes[:-2], -1, -1), dtype)
    close(ad.linalg.svdvals(x.cuda()).cpu() / size, expected.S / size, s.dtype)


@pytest.mark.parametrize("n", [1, 2, 5, 9])
@pytest.mark.parametrize("kind", ["full", "nothing", "huge", "opposite"])
@pytest.mark.parametrize("dtype", [ad.float32, ad.complex128], ids=lambda t: t.name)
def test_eigenvalues(dtype, kind, n):
    """Only the lower triangle is read; eigenvalues of opposite sign and equal size are kept apart."""
    x = drawn(dtype, 2, n, n, kind=kind)
    x = (x + x.mH) / 2
    if kind == "opposite":
        x = ad.diag_embed((-1.0) ** ad.arange(n)).to(dtype).expand(2, n, n)
        q = ad.linalg.qr(drawn(dtype, 2, n, n)).Q
        x = q @ x @ q.mH
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        w, v = (t.cpu() for t in ad.linalg.eigh((x + ad.ones(n, n).triu(1)).cuda()))
    expected = ad.linalg.eigvalsh(x)
    size = max(1.0, expected.abs().max().item())
    close(w / size, expected / size, w.dtype)
    close((x / size) @ v, v * (w / size)[..., None, :], dtype)
    close(v.mH @ v, ad.eye(n).expand(2, n, n), dtype)
    close(ad.linalg.eigvalsh(x.cuda(), UPLO="U").cpu() / size, expected / size, w.dtype)


@pytest.mark.parametrize("dtype", [ad.float64, ad.complex128], ids=lambda t: t.name)
def test_derivatives(dtype):
    """Of losses that do not depend on signs and phases."""
    x, weights = drawn(dtype, 2, 4, 3), ad.arange(1.0, 4.0, dtype=ad.float64)

    def of_both(x):
        weight = weights.to(x.device)
        x = x.requires_grad_()
        u, s, vh = ad.linalg.svd(x, full_matrices=False)
        w, v = ad.linalg.eigh(x.mH @ x)
        loss = (
            (s * weight).sum()
            + (((u * weight) @ vh) * x.conj().detach()).real.sum()
            + (w * weight).sum()
            + (v.abs() ** 2 @ weight).square().sum()
        )
        return ad.autograd.grad(loss, x)

    agree(real_parts(of_both(x.cuda())), real_parts(of_both(x.clone())), dtype)


def test_what_it_is_not_for_goes_to_the_cpu():
    for x, full in ((ad.eye(65), False), (ad.eye(3, 140), True)):
        u, s, vh = ad.linalg.svd(x.cuda(), full_matrices=full)
        ad.testing.assert_close(s.cpu(), ad.ones(len(s)))
        assert u.is_cuda and vh.shape[-2] == (140 if full else 65)
    assert ad.linalg.svd(ad.zeros(3, 0, device="cuda"))[0].tolist() == ad.eye(3).tolist()


@pytest.mark.parametrize("call", [ad.linalg.svd, ad.linalg.svdvals, ad.linalg.eigh], ids=lambda f: f.__name__)
@pytest.mark.parametrize("wrong", [float("nan"), float("inf")])
def test_errors_are_the_cpu_s(call, wrong):
    x = ad.eye(3).repeat(2, 1, 1)
    x[1, 2, 0] = wrong

    def text(x):
        with pytest.raises(ad.linalg.LinAlgError) as told:
            call(x)
        return str(told.value).partition(" (error code")[0]

    assert text(x.cuda()) == text(x)


def test_a_graph_takes_it():
    x = drawn(ad.float32, 5, 4).cuda()
    graph = ad.cuda.CUDAGraph()
    with ad.cuda.graph(graph):
        u, s, vh = ad.linalg.svd(x, full_matrices=False)
        w, v = ad.linalg.eigh(x.mT @ x)
    for scale in (1.0, 3.0):
        x.mul_(scale)
        graph.replay()
        ad.testing.assert_close((u * s) @ vh, x)
        ad.testing.assert_close(w.flip(0).sqrt(), s, rtol=1e-5, atol=1e-4)
        ad.testing.assert_close((v * w) @ v.mT, x.mT @ x, rtol=1e-4, atol=1e-4)
    x.fill_(float("nan"))
    graph.replay()
    assert s.isnan().all() and w.isnan().all()
