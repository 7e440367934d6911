"""Orthogonal matrices as products of reflections."""

from __future__ import annotations

from typing import Any

from adjoint_core import Tensor, _core, _results
from adjoint_core._compose import check_all, method

__all__ = ["geqrf", "householder_product", "ormqr"]


@method
def geqrf(input: Tensor) -> Any:
    """R of A (..., m, n) = Q R above the diagonal, below it the vectors of reflections whose product is Q, and their factors tau.

    These are what `ormqr` and `linalg.householder_product` take. There is no derivative: `linalg.qr` has one.

    Example::

        >>> ad.geqrf(ad.tensor([[3.0], [4.0]])).a
        tensor([[-5.0000],
                [ 0.5000]])
    """
    return _results.geqrf(*_core._geqrf(input))


def householder_product(A: Tensor, tau: Tensor) -> Tensor:
    """The first n columns of H_1 H_2 ... H_k, H_i = 1 - tau_i v_i v_iᴴ; v_i is column i of A (..., m, n) below its 1 on the diagonal.

    Example::

        >>> ad.linalg.householder_product(ad.tensor([[0.], [1.]]), ad.tensor([1.]))
        tensor([[ 0.],
                [-1.]])
    """
    return _core._householder_product(A, tau)


@method
def ormqr(input: Tensor, tau: Tensor, other: Tensor, left: bool = True, transpose: bool = False) -> Tensor:
    """Q @ other, or other @ Q if not `left`, where Q (or Qᴴ if `transpose`) is the whole product of the reflections of `householder_product`.

    Example::

        >>> ad.ormqr(ad.tensor([[0.], [1.]]), ad.tensor([1.]), ad.eye(2))
        tensor([[ 0., -1.],
                [-1.,  0.]])
    """
    return _core._ormqr(input, tau, other, left, transpose)


check_all(globals(), out=("geqrf", "householder_product", "ormqr"))
