"""Factorisations by random projections, and those that LAPACK keeps packed."""

from __future__ import annotations

from typing import Any

from adjoint_core import Tensor, _core, _results
from adjoint_core._compose import check_all, method, node, rounded_once
from adjoint_core.linalg import qr, svd

__all__ = ["geqrf", "pca_lowrank", "svd_lowrank"]


def _basis(A: Tensor, q: int, niter: int) -> Tensor:
    """Orthonormal columns (..., m, q) whose span holds nearly what A (..., m, n) maps to."""
    Q = qr(A @ _core.randn(A.size(-1), q, dtype=A.dtype, device=A.device))[0]
    for _ in range(niter):
        Q = qr(A.mH @ Q)[0]
        Q = qr(A @ Q)[0]
    return Q


def svd_lowrank(A: Tensor, q: int | None = 6, niter: int | None = 2, M: Tensor | None = None) -> tuple[Tensor, Tensor, Tensor]:
    """U (..., m, q), S (..., q) and V (..., n, q) that nearly make A - M (..., m, n) of low rank: U diag(S) Vᴴ.

    The method is that of Halko, Martinsson and Tropp (2009), algorithm 5.1, with `niter` subspace iterations. It draws random numbers.

    Example::

        >>> ad.svd_lowrank(ad.ones(4, 3), q=1)[1]
        tensor([3.4641])
    """
    q, niter = 6 if q is None else q, 2 if niter is None else niter
    A = A if M is None else A - M.broadcast_to(A.shape)
    if A.size(-2) < A.size(-1):
        V, S, U = svd_lowrank(A.mH, q, niter)
        return U, S, V
    Q = _basis(A, q, niter)
    U, S, Vh = svd(Q.mH @ A, full_matrices=False)
    return Q @ U, S, Vh.mH


def pca_lowrank(A: Tensor, q: int | None = None, center: bool = True, niter: int = 2) -> tuple[Tensor, Tensor, Tensor]:
    """The principal components of the rows of A (..., m, n): `svd_lowrank` of A, less its mean row if `center`; q is at most 6 by default.

    Example::

        >>> ad.pca_lowrank(ad.tensor([[1.0, 0.0], [3.0, 0.0]]), q=1)[1]
        tensor([1.4142])
    """
    m, n = A.shape[-2:]
    q = min(6, m, n) if q is None else q
    if not 0 <= q <= min(m, n):
        raise ValueError(f"pca_lowrank: q must be within 0 and min(m, n) = {min(m, n)}, got {q}")
    if niter < 0:
        raise ValueError(f"pca_lowrank: niter must not be negative, got {niter}")
    return svd_lowrank(A - A.mean(-2, keepdim=True) if center else A, q, niter)


@method
@node("GeqrfBackward0")
@rounded_once
def geqrf(input: Tensor) -> Any:
    """R of A (..., m, n) = Q R above the diagonal, below it the vectors of reflections whose product is Q, and their factors tau.

    These are what `ormqr` and `linalg.householder_product` take.

    Example::

        >>> ad.geqrf(ad.tensor([[3.0], [4.0]])).a
        tensor([[-5.0000],
                [ 0.5000]])
    """
    m, n = input.shape[-2:]
    rest, rows, packed, factors = input, [], [], []
    for _ in range(min(m, n)):
        x = rest[..., 0]
        alpha, length = x[..., 0], x.abs().square().sum(-1).sqrt()
        done = (x[..., 1:].abs().sum(-1) == 0) & ((alpha.imag == 0) if alpha.is_complex() else True)
        beta = -_core.where(alpha.real < 0, -length, length) if alpha.is_complex() else _core.where(alpha < 0, length, -length)
        tau = _core.where(done, 0.0, (beta - alpha) / _core.where(done, 1.0, beta))
        v = x[..., 1:] / _core.where(done, 1.0, alpha - beta).unsqueeze(-1)
        column = _core.cat([_core.ones_like(alpha).unsqueeze(-1), v], -1).unsqueeze(-1)
        other = rest[..., 1:]
        other = other - tau.conj()[..., None, None] * (column @ (column.mH @ other))
        diagonal = _core.where(done, alpha, beta.to(alpha.dtype))
        rows.append(_core.cat([diagonal.unsqueeze(-1), other[..., 0, :]], -1))
        packed.append(v)
        factors.append(tau)
        rest = other[..., 1:, :]
    if not rows:
        return _results.geqrf(input.clone(), input.new_zeros((*input.shape[:-2], 0)))
    tau = _core.stack(factors, -1)
    upper = [_shifted(r, j) for j, r in enumerate(rows)]
    R = _core.stack(upper, -2)
    R = _core.cat([R, R.new_zeros((*R.shape[:-2], m - R.size(-2), n))], -2)
    V = _core.stack([_shifted(v, j + 1) for j, v in enumerate(packed)], -1)
    V = _core.cat([V, V.new_zeros((*V.shape[:-1], n - V.size(-1)))], -1)
    return _results.geqrf(R + V, tau)


def _shifted(x: Tensor, by: int) -> Tensor:
    """Vectors with so many zeros in front."""
    return _core.cat([x.new_zeros((*x.shape[:-1], by)), x], -1)


check_all(globals())
