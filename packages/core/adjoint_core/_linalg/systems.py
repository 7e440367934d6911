"""Linear systems, inverses and determinants, as `linalg` has them. Leading dimensions are a batch and broadcast."""

from __future__ import annotations

from typing import Any

from .. import _core, _results
from .._compose import check_all, node
from .._core import Tensor

__all__ = ["det", "inv", "inv_ex", "ldl_solve", "lu_solve", "slogdet", "solve", "solve_ex", "solve_triangular"]


def solve(A: Tensor, B: Tensor, *, left: bool = True) -> Tensor:
    """X of A X = B, or of X A = B, for A (..., n, n) and B (..., n, k); B may be vectors (..., n) if `left`.

    Raises:
        LinAlgError: A is singular.

    Example::

        >>> ad.linalg.solve(ad.tensor([[2., 0.], [0., 4.]]), ad.tensor([2., 2.]))
        tensor([1.0000, 0.5000])
    """
    return _core._solve(A, B, left)


def solve_ex(A: Tensor, B: Tensor, *, left: bool = True, check_errors: bool = False) -> Any:
    """`solve` and, instead of an error, which pivot of A is zero (int32, from 1; 0: none).

    Example::

        >>> ad.linalg.solve_ex(ad.zeros(2, 2), ad.ones(2)).info
        tensor(1, dtype=adjoint.int32)
    """
    if check_errors:
        solve(A, B, left=left)
    result, factors = _core._solve_unchecked(A, B, left)
    zero = (factors.diagonal(0, -2, -1) == 0).to(_core.int32)
    if zero.size(-1) == 0:
        return _results.solve_ex(result, zero.sum(-1).to(_core.int32))
    first, any_zero = zero.argmax(-1), zero.amax(-1)
    return _results.solve_ex(result, ((first + 1) * any_zero).to(_core.int32))


def solve_triangular(A: Tensor, B: Tensor, *, upper: bool, left: bool = True, unitriangular: bool = False) -> Tensor:
    """X of A X = B, or of X A = B, where only the upper or lower triangle of A (..., n, n) is read; B (..., n, k).

    `unitriangular` takes the diagonal of A as ones. A zero on the diagonal gives infinities. B is taken in A's type; a complex B makes A complex.

    Example::

        >>> ad.linalg.solve_triangular(ad.tensor([[2., 1.], [0., 1.]]), ad.tensor([[3.], [1.]]), upper=True)
        tensor([[1.],
                [1.]])
    """
    if A.dtype != B.dtype and A.is_floating_point() | A.is_complex() and B.is_floating_point() | B.is_complex():
        kind = _core.promote_types(A.dtype, B.dtype) if B.is_complex() else A.dtype
        A, B = A.to(kind), B.to(kind)
    return _core._solve_triangular(A, B, upper, left, unitriangular)


def inv(A: Tensor) -> Tensor:
    """The inverse of A (..., n, n).

    Raises:
        LinAlgError: A is singular.

    Example::

        >>> ad.linalg.inv(ad.tensor([[[2.]], [[4.]]])).flatten()
        tensor([0.5000, 0.2500])
    """
    return _core._inv(A, True)[0]


def inv_ex(A: Tensor, *, check_errors: bool = False) -> Any:
    """`inv` and, instead of an error, which pivot is zero (int32, from 1; 0: none).

    Example::

        >>> ad.linalg.inv_ex(ad.eye(2)).info
        tensor(0, dtype=adjoint.int32)
    """
    return _results.inv_ex(*_core._inv(A, check_errors))


def ldl_solve(LD: Tensor, pivots: Tensor, B: Tensor, *, hermitian: bool = False) -> Tensor:
    """X of A X = B from the LD and pivots that `ldl_factor` gives of A. Differentiable in B.

    Example::

        >>> ad.linalg.ldl_solve(*ad.linalg.ldl_factor(ad.tensor([[0., 2.], [2., 0.]])), ad.ones(2, 1))
        tensor([[0.5000],
                [0.5000]])
    """
    return _core._ldl_solve(LD, pivots, B, hermitian)


@node("LinalgLuSolveBackward0")
def lu_solve(LU: Tensor, pivots: Tensor, B: Tensor, *, left: bool = True, adjoint: bool = False) -> Tensor:
    """X of A X = B (or X A = B, or with Aᴴ for A) from the LU and pivots that `lu_factor` gives of A.

    Example::

        >>> ad.linalg.lu_solve(*ad.linalg.lu_factor(ad.tensor([[2., 0.], [0., 4.]])), ad.ones(2, 1))
        tensor([[0.5000],
                [0.2500]])
    """
    if not left:
        return lu_solve(LU, pivots, B.mH, adjoint=not adjoint).mH
    order = _core._lu_permutation(pivots, LU.size(-1))
    if not adjoint:
        Y = solve_triangular(LU, _rows(B, order), upper=False, unitriangular=True)
        return solve_triangular(LU, Y, upper=True)
    Y = solve_triangular(LU.mH, solve_triangular(LU.mH, B, upper=False), upper=True, unitriangular=True)
    return _rows(Y, order.argsort(-1))


def _rows(x: Tensor, order: Tensor) -> Tensor:
    """The rows of matrices x in the order (..., n), whose batches broadcast."""
    batch = _core.broadcast_shapes(x.shape[:-2], order.shape[:-1])
    return x.expand(*batch, *x.shape[-2:]).gather(-2, order[..., None].expand(*batch, *x.shape[-2:]))


def det(A: Tensor) -> Tensor:
    """The determinants of A (..., n, n). Their derivatives are right at singular matrices too.

    Example::

        >>> ad.linalg.det(ad.tensor([[1., 2.], [3., 4.]]))
        tensor(-2.)
    """
    return _core._det(A)


def slogdet(A: Tensor) -> Any:
    """The sign (the phase) of the determinant and the logarithm of its absolute value: 0 and -inf for singular A (..., n, n).

    Example::

        >>> ad.linalg.slogdet(-ad.eye(3))
        adjoint.return_types.linalg_slogdet(
        sign=tensor(-1.),
        logabsdet=tensor(0.))
    """
    return _results.slogdet(*_core._slogdet(A))


check_all(globals(), out=__all__)
