"""Factorisations and spectra of matrices, as `linalg` has them. Leading dimensions are a batch; float16 and bfloat16 are refused.

A matrix that cannot be factorised raises `linalg.LinAlgError`, which names its place in the batch.
"""

from __future__ import annotations

from typing import Any

from .. import _core, _results
from .._compose import check_all, node
from .._core import Tensor

__all__ = [
    "cholesky", "cholesky_ex", "eig", "eigh", "eigvals", "eigvalsh", "ldl_factor", "ldl_factor_ex", "lu", "lu_factor", "lu_factor_ex", "lu_unpack", "qr",
    "svd", "svdvals",
]  # fmt: skip


def cholesky(A: Tensor, *, upper: bool = False) -> Tensor:
    """The lower triangle L of A = L Lᴴ for positive definite A (..., n, n), of which the lower triangle is read.

    `upper` gives Lᴴ and reads the upper triangle. The gradient is Hermitian.

    Example::

        >>> ad.linalg.cholesky(ad.tensor([[4., 2.], [2., 2.]]))
        tensor([[2., 0.],
                [1., 1.]])
    """
    return _core._cholesky(A, upper, True)[0]


def cholesky_ex(A: Tensor, *, upper: bool = False, check_errors: bool = False) -> Any:
    """`cholesky` and, instead of an error, the order of the leading minor that is not positive definite (int32; 0: none).

    Example::

        >>> ad.linalg.cholesky_ex(-ad.eye(2)).info
        tensor(1, dtype=adjoint.int32)
    """
    return _results.cholesky_ex(*_core._cholesky(A, upper, check_errors))


def ldl_factor(A: Tensor, *, hermitian: bool = False) -> Any:
    """L and D of A = P L D Lᵀ Pᵀ for symmetric A (..., n, n), of which the lower triangle is read, in one matrix, and the exchanged rows.

    D has blocks of one or two rows on its diagonal. Rows are counted from 1 (int32), negative for both rows of a block of two. `hermitian`: with
    Lᴴ for Lᵀ, for Hermitian A. `ldl_solve` takes what this gives. There is no derivative.

    Raises:
        LinAlgError: A block of D is zero.

    Example::

        >>> ad.linalg.ldl_factor(ad.tensor([[2., 4.], [4., 2.]])).pivots
        tensor([-2, -2], dtype=adjoint.int32)
    """
    return _results.ldl_factor(*_core._ldl_factor(A, hermitian, True)[:2])


def ldl_factor_ex(A: Tensor, *, hermitian: bool = False, check_errors: bool = False) -> Any:
    """`ldl_factor` and, instead of an error, which block of D is zero (int32, from 1; 0: none).

    Example::

        >>> ad.linalg.ldl_factor_ex(ad.zeros(2, 2)).info
        tensor(1, dtype=adjoint.int32)
    """
    return _results.ldl_factor_ex(*_core._ldl_factor(A, hermitian, check_errors))


def _expect_pivot(pivot: bool, op: str) -> None:
    if not pivot:
        raise RuntimeError(f"{op}: LU without pivoting is not implemented on the CPU")


def lu_factor(A: Tensor, *, pivot: bool = True) -> Any:
    """A = P L U for A (..., m, n): L and U in one matrix, and the exchanged rows (int32, counted from 1).

    Example::

        >>> ad.linalg.lu_factor(ad.tensor([[1., 2.], [2., 2.]])).LU
        tensor([[2.0000, 2.0000],
                [0.5000, 1.0000]])
    """
    _expect_pivot(pivot, "linalg.lu_factor")
    return _results.lu_factor(*_core._lu_factor(A, True)[:2])


def lu_factor_ex(A: Tensor, *, pivot: bool = True, check_errors: bool = False) -> Any:
    """`lu_factor` and, instead of an error, which pivot is zero (int32, from 1; 0: none).

    Example::

        >>> ad.linalg.lu_factor_ex(ad.zeros(2, 2)).info
        tensor(1, dtype=adjoint.int32)
    """
    _expect_pivot(pivot, "linalg.lu_factor")
    return _results.lu_factor_ex(*_core._lu_factor(A, check_errors))


def lu(A: Tensor, *, pivot: bool = True) -> Any:
    """P (..., m, m), L (..., m, k) and U (..., k, n) of A = P L U, where k = min(m, n).

    Example::

        >>> P, L, U = ad.linalg.lu(ad.tensor([[1., 2.], [2., 2.]]))
        >>> P @ L @ U
        tensor([[1., 2.],
                [2., 2.]])
    """
    _expect_pivot(pivot, "linalg.lu")
    LU, pivots, _ = _core._lu_factor(A, False)
    return _results.lu(*lu_unpack(LU, pivots))


@node("LuUnpackBackward0")
def lu_unpack(LU_data: Tensor, LU_pivots: Tensor, unpack_data: bool = True, unpack_pivots: bool = True) -> Any:
    """P, L and U from what `lu_factor` gives; what is not asked for is an empty tensor.

    Example::

        >>> ad.lu_unpack(*ad.linalg.lu_factor(ad.tensor([[1., 2.], [2., 2.]]))).L
        tensor([[1.0000, 0.0000],
                [0.5000, 1.0000]])
    """
    if LU_data.ndim < 2:
        raise RuntimeError(f"lu_unpack: Expected tensor with 2 or more dimensions. Got size: {list(LU_data.shape)} instead")
    m, n = LU_data.shape[-2:]
    k = min(m, n)
    P = L = U = _core.empty(0, dtype=LU_data.dtype, device=LU_data.device)
    if unpack_pivots:
        P = _core.eye(m, dtype=LU_data.dtype, device=LU_data.device)[_core._lu_permutation(LU_pivots, m)].mT.contiguous()
    if unpack_data:
        L = LU_data[..., :k].tril(-1) + _core.eye(m, k, dtype=LU_data.dtype, device=LU_data.device)
        U = LU_data[..., :k, :].triu()
    return _results.lu_unpack(P, L, U)


def qr(A: Tensor, mode: str = "reduced") -> Any:
    """Q with orthonormal columns and an upper triangle R, A = Q R, for A (..., m, n); k = min(m, n).

    mode "reduced": Q (..., m, k), R (..., k, n); "complete": Q (..., m, m), R (..., m, n), which has no derivative if m > n;
    "r": the R of "reduced" and an empty Q.

    Example::

        >>> ad.linalg.qr(ad.tensor([[3., 1.], [4., 2.]])).R
        tensor([[-5.0000, -2.2000],
                [ 0.0000,  0.4000]])
    """
    if mode not in ("reduced", "complete", "r"):
        raise RuntimeError(
            f"qr received unrecognized mode '{mode}' but expected one of 'reduced' (default), 'r', or 'complete'"
        )
    Q, R = _core._qr(A, mode == "complete")
    return _results.qr(_core.empty(0, dtype=A.dtype, device=A.device) if mode == "r" else Q, R)


def _expect_triangle(UPLO: str) -> bool:
    if UPLO.upper() not in ("L", "U"):
        raise RuntimeError(f"Expected UPLO argument to be 'L' or 'U', but got {UPLO}")
    return UPLO.upper() == "U"


def eigh(A: Tensor, UPLO: str = "L") -> Any:
    """Eigenvalues (..., n), ascending, and orthonormal eigenvectors (columns of (..., n, n)) of Hermitian A, of which a triangle is read.

    Gradients through the eigenvectors need distinct eigenvalues and, for complex A, a loss that does not depend on their phases.

    Example::

        >>> ad.linalg.eigh(ad.tensor([[2., 0.], [0., 1.]])).eigenvalues
        tensor([1., 2.])
    """
    return _results.eigh(*_core._eigh(A, _expect_triangle(UPLO)))


def eigvalsh(A: Tensor, UPLO: str = "L") -> Tensor:
    """The eigenvalues of `eigh`; their gradient is finite for repeated ones too.

    Example::

        >>> ad.linalg.eigvalsh(ad.eye(2))
        tensor([1., 1.])
    """
    return _core._eigvalsh(A, _expect_triangle(UPLO))


def eig(A: Tensor) -> Any:
    """Eigenvalues (..., n) and eigenvectors (columns of norm 1 of (..., n, n)) of A, complex in any case, in no order.

    Gradients need distinct eigenvalues, and a loss that does not depend on the phases of the vectors.

    Example::

        >>> ad.linalg.eig(ad.tensor([[2., 0.], [0., 1.]])).eigenvalues.real.sort().values
        tensor([1., 2.])
    """
    return _results.eig(*_core._eig(A))


def eigvals(A: Tensor) -> Tensor:
    """The eigenvalues of `eig`.

    Example::

        >>> ad.linalg.eigvals(ad.tensor([[0., 1.], [-1., 0.]])).abs()
        tensor([1., 1.])
    """
    return _core._eigvals(A)


def _expect_driver(driver: str | None) -> None:
    if driver is not None:
        raise RuntimeError(
            "torch.linalg.svd: keyword argument `driver=` is only supported on CUDA inputs with cuSOLVER backend."
        )


def svd(A: Tensor, full_matrices: bool = True, *, driver: str | None = None) -> Any:
    """A = U diag(S) Vh for A (..., m, n): orthonormal columns in U, rows in Vh, and S (..., min(m, n)), descending.

    `full_matrices` fills U and Vh up to square ones; nothing is said of the derivative of what is filled in. Gradients through U and Vh
    need distinct singular values and, for complex A, a loss that does not depend on their phases.

    Example::

        >>> ad.linalg.svd(ad.tensor([[0., 2.], [1., 0.]])).S
        tensor([2., 1.])
    """
    _expect_driver(driver)
    return _results.svd(*_core._svd(A, full_matrices))


def svdvals(A: Tensor, *, driver: str | None = None) -> Tensor:
    """The singular values of A (..., m, n), descending; their gradient is finite for repeated ones too.

    Example::

        >>> ad.linalg.svdvals(ad.tensor([[0., 2.], [1., 0.]]))
        tensor([2., 1.])
    """
    _expect_driver(driver)
    return _core._svdvals(A)


check_all(globals(), out=__all__)
