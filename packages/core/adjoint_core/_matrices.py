"""Linear algebra under the names of the `torch` namespace and as methods of `Tensor`; `linalg` has the newer forms."""

from __future__ import annotations

import math
from typing import Any

from . import _core, _factorisations, _least_squares, _results, _systems
from ._compose import check_all, method
from ._core import Tensor
from ._factorisations import householder_product as orgqr
from ._factorisations import lu_unpack

__all__ = [
    "cholesky", "cholesky_inverse", "cholesky_solve", "det", "inverse", "lobpcg", "logdet", "lu", "lu_solve", "lu_unpack", "orgqr", "ormqr", "pinverse", "qr",
    "slogdet", "svd", "triangular_solve",
]  # fmt: skip


@method
def det(input: Tensor) -> Tensor:
    """The determinants of (..., n, n) matrices: `linalg.det`."""
    return _core._det(input)


@method
def slogdet(input: Tensor) -> Any:
    """The sign of the determinant and the logarithm of its absolute value: `linalg.slogdet`."""
    return _systems.slogdet(input)


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
def inverse(input: Tensor) -> Tensor:
    """The inverse of (..., n, n) matrices: `linalg.inv`."""
    return _systems.inv(input)


@method
def cholesky(input: Tensor, upper: bool = False) -> Tensor:
    """The Cholesky factor: `linalg.cholesky`."""
    return _factorisations.cholesky(input, upper=upper)


@method
def cholesky_solve(input: Tensor, L: Tensor, upper: bool = False) -> Tensor:
    """X of A X = input, given the Cholesky factor L of A.

    Example::

        >>> ad.cholesky_solve(ad.ones(2, 1), 2 * ad.eye(2))
        tensor([[0.2500],
                [0.2500]])
    """
    first, second = (L.mH, L) if upper else (L, L.mH)
    return _systems.solve_triangular(second, _systems.solve_triangular(first, input, upper=False), upper=True)


@method
def cholesky_inverse(input: Tensor, upper: bool = False) -> Tensor:
    """The inverse of A, given its Cholesky factor `input`."""
    return cholesky_solve(_core.eye(input.size(-1), dtype=input.dtype, device=input.device), input, upper)


@method
def lu(input: Tensor, pivot: bool = True, get_infos: bool = False) -> Any:
    """LU and pivots of `linalg.lu_factor_ex`, and its info if asked for."""
    factors = tuple(_factorisations.lu_factor_ex(input, pivot=pivot))
    return factors if get_infos else factors[:2]


@method
def lu_solve(input: Tensor, LU_data: Tensor, LU_pivots: Tensor) -> Tensor:
    """X of A X = input, given the LU and pivots of A: `linalg.lu_solve` with its operands in another order."""
    return _systems.lu_solve(LU_data, LU_pivots, input)


@method
def pinverse(input: Tensor, rcond: float = 1e-15) -> Tensor:
    """The pseudo-inverse: `linalg.pinv` with another default."""
    return _least_squares.pinv(input, rtol=rcond)


@method
def qr(input: Tensor, some: bool = True) -> Any:
    """Q and R: `linalg.qr`, complete unless `some`."""
    return _factorisations.qr(input, "reduced" if some else "complete")


@method
def svd(input: Tensor, some: bool = True, compute_uv: bool = True) -> Any:
    """U, S and V (not its conjugate transpose) of input = U diag(S) Vᴴ; zeros for U and V unless `compute_uv`.

    Example::

        >>> ad.svd(ad.tensor([[0., 2.], [1., 0.]])).S
        tensor([2., 1.])
    """
    if compute_uv:
        U, S, Vh = _core._svd(input, not some)
        return _results.thin_svd(U, S, Vh.mH)
    m, n = input.shape[-2:]
    return _results.thin_svd(
        input.new_zeros(*input.shape[:-2], m, m), _core._svdvals(input), input.new_zeros(*input.shape[:-2], n, n)
    )


@method
def triangular_solve(input: Tensor, A: Tensor, upper: bool = True, transpose: bool = False, unitriangular: bool = False) -> Any:
    """X of A X = input, or of Aᵀ X = input if `transpose`, and a copy of A: `linalg.solve_triangular`."""
    X = _systems.solve_triangular(A.mT if transpose else A, input, upper=upper != transpose, unitriangular=unitriangular)
    return _results.triangular_solve(X, A.clone())


@method
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
    return _factorisations._reflected(input, tau, other, range(k) if transpose else range(k - 1, -1, -1), transpose)


for _name, _f in (("orgqr", orgqr), ("matrix_exp", _core.matrix_exp)):
    setattr(Tensor, _name, _f)


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
        values, vectors = _factorisations.eigh(A)
    else:
        L = _factorisations.cholesky(B.to_dense() if B.is_sparse else B)
        half = _systems.solve_triangular(L, A, upper=False)
        values, vectors = _factorisations.eigh(_systems.solve_triangular(L, half.mH, upper=False))
        vectors = _systems.solve_triangular(L.mH, vectors, upper=True)
    chosen = _core.arange(count)
    if largest is None or largest:
        chosen = A.size(-1) - 1 - chosen
    return values[..., chosen], vectors[..., chosen]


check_all(
    globals(),
    out=(
        "cholesky",
        "cholesky_inverse",
        "cholesky_solve",
        "inverse",
        "lu",
        "lu_solve",
        "lu_unpack",
        "orgqr",
        "ormqr",
        "qr",
        "svd",
        "triangular_solve",
    ),
)
