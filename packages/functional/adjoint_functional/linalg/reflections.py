"""Orthogonal matrices as products of reflections."""

from __future__ import annotations

from adjoint_core import Tensor, _core, linalg
from adjoint_core._compose import check_all, method, node, rounded_once

__all__ = ["householder_product", "ormqr"]


@node("LinalgHouseholderProductBackward0")
@rounded_once
def householder_product(A: Tensor, tau: Tensor) -> Tensor:
    """The first n columns of H_1 H_2 ... H_k, H_i = 1 - tau_i v_i v_iᴴ; v_i is column i of A (..., m, n) below its 1 on the diagonal.

    Example::

        >>> ad.linalg.householder_product(ad.tensor([[0.], [1.]]), ad.tensor([1.]))
        tensor([[ 0.],
                [-1.]])
    """
    m, n = A.shape[-2:]
    if m < n:
        raise RuntimeError("torch.linalg.householder_product: input.shape[-2] must be greater than or equal to input.shape[-1]")
    V = _vectors(A, tau)
    return _reflected(V, tau, _core.eye(m, n, dtype=A.dtype, device=A.device), V[..., :n, :].mH, False)


def _vectors(A: Tensor, tau: Tensor) -> Tensor:
    k = tau.size(-1)
    return A[..., :k].tril(-1) + _core.eye(A.size(-2), k, dtype=A.dtype, device=A.device)


def _reflected(V: Tensor, tau: Tensor, x: Tensor, y: Tensor, adjoint: bool) -> Tensor:
    """H_1 H_2 ... H_k x, or with `adjoint` (H_1 H_2 ... H_k)ᴴ x, where y = Vᴴ x.

    The product is 1 - V T Vᴴ with a triangular T (R. Schreiber and C. Van Loan, A storage-efficient WY representation for products
    of Householder transformations, 1989), here as T = (1 + D S)⁻¹ D, where D has tau on its diagonal and S is what VᴴV has above it.
    """
    D = tau.unsqueeze(-1)
    above = D * (V.mH @ V)
    if adjoint:
        return x - V @ (D.conj() * linalg.solve_triangular(above.mH, y, upper=False, unitriangular=True))
    return x - V @ linalg.solve_triangular(above, D * y, upper=True, unitriangular=True)


@method
@node("OrmqrBackward0")
@rounded_once
def ormqr(input: Tensor, tau: Tensor, other: Tensor, left: bool = True, transpose: bool = False) -> Tensor:
    """Q @ other, or other @ Q if not `left`, where Q (or Qᴴ if `transpose`) is the whole product of the reflections of `householder_product`.

    Example::

        >>> ad.ormqr(ad.tensor([[0.], [1.]]), ad.tensor([1.]), ad.eye(2))
        tensor([[ 0., -1.],
                [-1.,  0.]])
    """
    if not left:
        return ormqr(input, tau, other.mH, True, not transpose).mH
    V = _vectors(input, tau)
    return _reflected(V, tau, other, V.mH @ other, transpose)


check_all(globals(), out=("householder_product", "ormqr"))
