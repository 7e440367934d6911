"""Linear algebra under the names of the `torch` namespace and as methods of `Tensor`; `linalg` has the newer forms."""

from __future__ import annotations

from typing import Any

from .. import _core, _results
from .._compose import check_all, method
from .._core import Tensor
from . import factorisations, systems
from .factorisations import lu_unpack

__all__ = ["cholesky", "det", "inverse", "lu", "lu_solve", "lu_unpack", "qr", "slogdet", "svd", "triangular_solve"]


@method
def det(input: Tensor) -> Tensor:
    """The determinants of (..., n, n) matrices: `linalg.det`."""
    return _core._det(input)


@method
def slogdet(input: Tensor) -> Any:
    """The sign of the determinant and the logarithm of its absolute value: `linalg.slogdet`."""
    return systems.slogdet(input)


@method
def inverse(input: Tensor) -> Tensor:
    """The inverse of (..., n, n) matrices: `linalg.inv`."""
    return systems.inv(input)


@method
def cholesky(input: Tensor, upper: bool = False) -> Tensor:
    """The Cholesky factor: `linalg.cholesky`."""
    return factorisations.cholesky(input, upper=upper)


@method
def lu(input: Tensor, pivot: bool = True, get_infos: bool = False) -> Any:
    """LU and pivots of `linalg.lu_factor_ex`, and its info if asked for."""
    factors = tuple(factorisations.lu_factor_ex(input, pivot=pivot))
    return factors if get_infos else factors[:2]


@method
def lu_solve(input: Tensor, LU_data: Tensor, LU_pivots: Tensor) -> Tensor:
    """X of A X = input, given the LU and pivots of A: `linalg.lu_solve` with its operands in another order."""
    return systems.lu_solve(LU_data, LU_pivots, input)


@method
def qr(input: Tensor, some: bool = True) -> Any:
    """Q and R: `linalg.qr`, complete unless `some`."""
    return factorisations.qr(input, "reduced" if some else "complete")


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
    X = systems.solve_triangular(A.mT if transpose else A, input, upper=upper != transpose, unitriangular=unitriangular)
    return _results.triangular_solve(X, A.clone())


Tensor.matrix_exp = _core.matrix_exp
check_all(
    globals(),
    out=(
        "cholesky",
        "inverse",
        "lu",
        "lu_solve",
        "lu_unpack",
        "qr",
        "svd",
        "triangular_solve",
    ),
)
