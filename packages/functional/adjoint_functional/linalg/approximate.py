"""Factorisations by random projections."""

from __future__ import annotations

from adjoint_core import Tensor, _core
from adjoint_core._compose import check_all
from adjoint_core.linalg import qr, svd

__all__ = ["pca_lowrank", "svd_lowrank"]


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


check_all(globals())
