"""Linear algebra under the names of the `torch` namespace and as methods of `Tensor`, composed of what `linalg` has."""

from __future__ import annotations

import math
from typing import Any

from adjoint_core import Tensor, _core
from adjoint_core._compose import check_all, method, node
from adjoint_core.linalg import cholesky, eigh, solve_triangular

from .least_squares import pinv
from .reflections import geqrf, ormqr  # noqa: F401
from .reflections import householder_product as orgqr

__all__ = ["cholesky_inverse", "cholesky_solve", "geqrf", "lobpcg", "logdet", "orgqr", "ormqr", "pinverse"]


@method
def logdet(input: Tensor) -> Tensor:
    """The logarithm of the determinant: -inf for singular matrices, NaN for negative determinants of real ones.

    Example::

        >>> ad.logdet(2 * ad.eye(2))
        tensor(1.3863)
    """
    sign, logarithm = _core._slogdet(input)
    return logarithm + sign.log() if input.is_complex() else _core.where(sign < 0, math.nan, logarithm)


@method
@node("CholeskySolveBackward0")
def cholesky_solve(input: Tensor, L: Tensor, upper: bool = False) -> Tensor:
    """X of A X = input, given the Cholesky factor L of A.

    Example::

        >>> ad.cholesky_solve(ad.ones(2, 1), 2 * ad.eye(2))
        tensor([[0.2500],
                [0.2500]])
    """
    first, second = (L.mH, L) if upper else (L, L.mH)
    return solve_triangular(second, solve_triangular(first, input, upper=False), upper=True)


@method
@node("CholeskyInverseBackward0")
def cholesky_inverse(input: Tensor, upper: bool = False) -> Tensor:
    """The inverse of A, given its Cholesky factor `input`.

    Example::

        >>> ad.cholesky_inverse(ad.tensor([[2.0, 0.0], [0.0, 1.0]]))
        tensor([[0.2500, 0.0000],
                [0.0000, 1.0000]])
    """
    return cholesky_solve(_core.eye(input.size(-1), dtype=input.dtype, device=input.device), input, upper)


@method
def pinverse(input: Tensor, rcond: float = 1e-15) -> Tensor:
    """The pseudo-inverse: `linalg.pinv` with another default.

    Example::

        >>> ad.pinverse(ad.tensor([[2.0], [0.0]]))
        tensor([[0.5000, 0.0000]])
    """
    return pinv(input, rtol=rcond)


def lobpcg(
    A: Tensor,
    k: int | None = None,
    B: Tensor | None = None,
    X: Tensor | None = None,
    n: int | None = None,
    iK: Tensor | None = None,
    niter: int | None = None,
    tol: float | None = None,
    largest: bool | None = None,
    method: str | None = None,
    tracker: Any = None,
    ortho_iparams: dict[str, int] | None = None,
    ortho_fparams: dict[str, float] | None = None,
    ortho_bparams: dict[str, bool] | None = None,
) -> tuple[Tensor, Tensor]:
    """The ``k`` largest (or smallest) eigenvalues of ``A x = lambda B x``, and eigenvectors with ``X.mH @ B @ X = 1``.

    A direct method finds all pairs and returns these, exact to rounding: what steers an iteration (``iK``, ``niter``, ``tol``, ``method``,
    ``tracker`` and the last three) is accepted and not needed. Differentiable in ``A`` and ``B``, where all eigenvalues differ.

    Arguments:
        A: (..., m, m), symmetric, dense or sparse.
        k: how many; by default as many as ``X`` has columns, else 1.
        B: (..., m, m), symmetric and positive definite; the identity by default.
        X: (..., m, n), a guess: only its number of columns counts.
        n: that number where there is no guess.
        largest: the largest ones, descending (the default), or the smallest, ascending.

    Raises:
        ValueError: m is less than 3 ``k``.

    Example::

        >>> ad.lobpcg(ad.diag(ad.tensor([1.0, 5.0, 2.0])))[0]
        tensor([5.])
    """
    A = A.to_dense() if A.is_sparse else A
    count = k if k is not None else X.size(-1) if X is not None else 1
    if not 0 < 3 * max(count, n or 0) <= A.size(-1):
        raise ValueError(
            f"LOBPCG algorithm is not applicable when the number of A rows (={A.size(-1)}) is smaller than 3 x the number of requested "
            f"eigenpairs (={max(count, n or 0)})"
        )
    A = (A + A.mH) / 2
    if B is None:
        values, vectors = eigh(A)
    else:
        L = cholesky(B.to_dense() if B.is_sparse else B)
        half = solve_triangular(L, A, upper=False)
        values, vectors = eigh(solve_triangular(L, half.mH, upper=False))
        vectors = solve_triangular(L.mH, vectors, upper=True)
    chosen = _core.arange(count, device=values.device)
    if largest is None or largest:
        chosen = A.size(-1) - 1 - chosen
    return values[..., chosen], vectors[..., chosen]


Tensor.orgqr = orgqr
check_all(globals(), out=("cholesky_inverse", "cholesky_solve"))
