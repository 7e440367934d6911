"""Linear algebra under the names of the `torch` namespace and as methods of `Tensor`; `linalg` has the newer forms."""

from __future__ import annotations

from typing import Any

from .. import _core, _results
from .._compose import check_all, method, node
from .._core import Tensor
from .._tensor.layouts import strided
from .._warnings import warn_once
from . import factorisations, systems
from .factorisations import lu_unpack

__all__ = ["cholesky", "det", "inverse", "lu", "lu_solve", "lu_unpack", "qr", "slogdet", "svd", "triangular_solve"]


def _deprecated(old: str, new: str, hint: str) -> None:
    warn_once(f"torch.{old} is deprecated in favor of torch.{new} and will be removed in a future PyTorch release. {hint}")


@method
def det(input: Tensor) -> Tensor:
    """The determinants of (..., n, n) matrices: `linalg.det`.

    Example::

        >>> ad.det(ad.tensor([[1.0, 2.0], [3.0, 4.0]]))
        tensor(-2.)
    """
    return _core._det(input)


@method
def slogdet(input: Tensor) -> Any:
    """The sign of the determinant and the logarithm of its absolute value: `linalg.slogdet`.

    Example::

        >>> ad.slogdet(ad.tensor([[0.0, 1.0], [1.0, 0.0]]))
        adjoint.return_types.linalg_slogdet(
        sign=tensor(-1.),
        logabsdet=tensor(0.))
    """
    return systems.slogdet(input)


@method
def inverse(input: Tensor) -> Tensor:
    """The inverse of (..., n, n) matrices: `linalg.inv`.

    Example::

        >>> ad.inverse(ad.tensor([[2.0, 0.0], [0.0, 4.0]]))
        tensor([[0.5000, 0.0000],
                [-0.0000, 0.2500]])
    """
    return systems.inv(input)


@method
def cholesky(input: Tensor, upper: bool = False) -> Tensor:
    """The Cholesky factor: `linalg.cholesky`.

    Example::

        >>> ad.cholesky(ad.tensor([[4.0, 2.0], [2.0, 2.0]]))
        tensor([[2., 0.],
                [1., 1.]])
    """
    _deprecated("cholesky", "linalg.cholesky", "linalg.cholesky(A).mH is the upper factor.")
    return factorisations.cholesky(input, upper=upper)


@method
def lu(input: Tensor, pivot: bool = True, get_infos: bool = False) -> Any:
    """LU and pivots of `linalg.lu_factor_ex`, and its info if asked for.

    Example::

        >>> ad.lu(ad.tensor([[1.0, 2.0], [2.0, 1.0]]))
        (tensor([[2.0000, 1.0000],
                [0.5000, 1.5000]]), tensor([2, 2], dtype=adjoint.int32))
    """
    _deprecated("lu", "linalg.lu_factor / torch.linalg.lu_factor_ex", "Both take pivot, the second gives info.")
    factors = tuple(factorisations.lu_factor_ex(input, pivot=pivot))
    return factors if get_infos else factors[:2]


@method
def lu_solve(input: Tensor, LU_data: Tensor, LU_pivots: Tensor) -> Tensor:
    """X of A X = input, given the LU and pivots of A: `linalg.lu_solve` with its operands in another order.

    Example::

        >>> LU, pivots = ad.lu(ad.tensor([[1.0, 2.0], [2.0, 1.0]]))
        >>> ad.lu_solve(ad.tensor([[3.0], [3.0]]), LU, pivots)
        tensor([[1.],
                [1.]])
    """
    _deprecated("lu_solve", "linalg.lu_solve", "Write linalg.lu_solve(LU, pivots, B).")
    return systems.lu_solve(LU_data, LU_pivots, input)


@method
def qr(input: Tensor, some: bool = True) -> Any:
    """Q and R: `linalg.qr`, complete unless `some`.

    Example::

        >>> Q, R = ad.qr(ad.tensor([[3.0, 1.0], [4.0, 2.0]]))
        >>> Q @ R
        tensor([[3.0000, 1.0000],
                [4.0000, 2.0000]])
    """
    _deprecated("qr", "linalg.qr", "Write linalg.qr(A, 'reduced' if some else 'complete').")
    return _results.older_qr(*factorisations.qr(input, "reduced" if some else "complete"))


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
@node("TriangularSolveBackward0")
def triangular_solve(input: Tensor, A: Tensor, upper: bool = True, transpose: bool = False, unitriangular: bool = False) -> Any:
    """X of A X = input, or of Aᵀ X = input if `transpose`, and a copy of A: `linalg.solve_triangular`.

    A sparse A is made dense; its copy is then empty, as in PyTorch.

    Example::

        >>> ad.triangular_solve(ad.tensor([[3.0], [4.0]]), ad.tensor([[1.0, 1.0], [0.0, 2.0]])).solution
        tensor([[1.],
                [2.]])
    """
    _deprecated("triangular_solve", "linalg.solve_triangular", "Write linalg.solve_triangular(A, B, upper=upper).")
    sparse = A.layout is not strided
    matrix = A.to_dense() if sparse else A
    X = _core._solve_triangular(matrix.mT if transpose else matrix, input, upper != transpose, True, unitriangular)
    return _results.triangular_solve(X, input.new_empty(0) if sparse else A.clone())


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
