"""Orthogonal matrices as products of reflections."""

from __future__ import annotations

from adjoint_core import Tensor, _core
from adjoint_core._compose import check_all, method, rounded_once

__all__ = ["householder_product", "ormqr"]


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
    return _reflected(A, tau, _core.eye(m, n, dtype=A.dtype, device=A.device), range(tau.size(-1) - 1, -1, -1), False)


def _reflected(A: Tensor, tau: Tensor, x: Tensor, order: range, adjoint: bool) -> Tensor:
    """H_i ... H_j x for the reflections of `order`, the last one leftmost; `adjoint`: of their conjugate transposes."""
    V = A.tril(-1) + _core.eye(*A.shape[-2:], dtype=A.dtype, device=A.device)
    factors = tau.conj() if adjoint else tau
    for i in order:
        v = V[..., i : i + 1]
        x = x - factors[..., i, None, None] * (v @ (v.mH @ x))
    return x


@method
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
    k = tau.size(-1)
    return _reflected(input, tau, other, range(k) if transpose else range(k - 1, -1, -1), transpose)


check_all(globals(), out=("householder_product", "ormqr"))
