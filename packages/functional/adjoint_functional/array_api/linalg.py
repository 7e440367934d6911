"""The standard's extension for linear algebra."""

from __future__ import annotations

from typing import NamedTuple

import adjoint_core as core
from adjoint_core import Tensor, dtype
from adjoint_core.linalg import cholesky as _cholesky
from adjoint_core.linalg import det as det
from adjoint_core.linalg import eig as _eig
from adjoint_core.linalg import eigh as _eigh
from adjoint_core.linalg import eigvals as eigvals
from adjoint_core.linalg import eigvalsh as eigvalsh
from adjoint_core.linalg import inv as inv
from adjoint_core.linalg import qr as _qr
from adjoint_core.linalg import slogdet as _slogdet
from adjoint_core.linalg import solve as _solve
from adjoint_core.linalg import svd as _svd
from adjoint_core.linalg import svdvals as svdvals

from .. import linalg as _own
from .elementwise import of_one_type
from .products import matmul as matmul
from .products import matrix_transpose as matrix_transpose
from .products import tensordot as tensordot
from .products import vecdot as vecdot
from .reductions import sum as _sum

__all__ = [
    *("cholesky", "cross", "det", "diagonal", "eig", "eigh", "eigvals", "eigvalsh", "inv", "matmul", "matrix_norm"),
    *("matrix_power", "matrix_rank", "matrix_transpose", "outer", "pinv", "qr", "slogdet", "solve", "svd", "svdvals"),
    *("tensordot", "trace", "vecdot", "vector_norm"),
]


class Eigen(NamedTuple):
    """Eigenvalues and the vectors that belong to them, as columns."""

    eigenvalues: Tensor
    eigenvectors: Tensor


class QR(NamedTuple):
    """A matrix with orthonormal columns and an upper triangular one."""

    Q: Tensor
    R: Tensor


class SignedLogDet(NamedTuple):
    """The sign of a determinant and the logarithm of its size."""

    sign: Tensor
    logabsdet: Tensor


class SVD(NamedTuple):
    """Left singular vectors, singular values, and right singular vectors as rows."""

    U: Tensor
    S: Tensor
    Vh: Tensor


def cholesky(x: Tensor, /, *, upper: bool = False) -> Tensor:
    """The triangular L of `x = L L^H`, or the upper one, of matrices `(..., n, n)`.

    Example::

        >>> ad.array_api.linalg.cholesky(ad.eye(2)).shape
        adjoint.Size([2, 2])
    """
    return _cholesky(x, upper=upper)


def cross(x1: Tensor, x2: Tensor, /, *, axis: int = -1) -> Tensor:
    """The cross products of vectors of length 3 along an axis; ValueError for another length.

    Example::

        >>> ad.array_api.linalg.cross(ad.ones(3), ad.ones(3))
        tensor([0., 0., 0.])
    """
    a, b = of_one_type(x1, x2)
    if a.shape[axis] != 3 or b.shape[axis] != 3:
        raise ValueError(f"cross: vectors must have length 3, got {a.shape[axis]} and {b.shape[axis]}")
    return core.linalg.cross(*core.broadcast_tensors(a, b), dim=axis)


def diagonal(x: Tensor, /, *, offset: int = 0) -> Tensor:
    """A diagonal of matrices `(..., m, n)`, as the last axis.

    Example::

        >>> ad.array_api.linalg.diagonal(ad.ones(2, 2))
        tensor([1., 1.])
    """
    return core.diagonal(x, offset, -2, -1)


def eig(x: Tensor, /) -> Eigen:
    """Eigenvalues and eigenvectors, complex, of matrices `(..., n, n)`.

    Example::

        >>> ad.array_api.linalg.eig(ad.eye(2)).eigenvalues
        tensor([1.+0.j, 1.+0.j])
    """
    return Eigen(*_eig(x))


def eigh(x: Tensor, /) -> Eigen:
    """Eigenvalues, in order, and eigenvectors of Hermitian matrices `(..., n, n)`.

    Example::

        >>> ad.array_api.linalg.eigh(ad.eye(2)).eigenvalues
        tensor([1., 1.])
    """
    return Eigen(*_eigh(x))


def matrix_norm(x: Tensor, /, *, keepdims: bool = False, ord: float | str | None = "fro") -> Tensor:
    """Norms of matrices `(..., m, n)`: Frobenius, "nuc", 1, -1, 2, -2, inf, -inf.

    Example::

        >>> ad.array_api.linalg.matrix_norm(ad.ones(2, 2))
        tensor(2.)
    """
    return _own.matrix_norm(x, "fro" if ord is None else ord, keepdim=keepdims)


def matrix_power(x: Tensor, n: int, /) -> Tensor:
    """Matrices `(..., m, m)` to an integer power.

    Example::

        >>> ad.array_api.linalg.matrix_power(ad.eye(2), 3)[0, 0]
        tensor(1.)
    """
    return _own.matrix_power(x, n)


def matrix_rank(x: Tensor, /, *, rtol: float | Tensor | None = None) -> Tensor:
    """How many singular values of matrices `(..., m, n)` are above `rtol` times their largest.

    Example::

        >>> ad.array_api.linalg.matrix_rank(ad.ones(2, 2))
        tensor(1)
    """
    return _own.matrix_rank(x, rtol=rtol)


def outer(x1: Tensor, x2: Tensor, /) -> Tensor:
    """The products of each element of one vector with each of the other.

    Example::

        >>> ad.array_api.linalg.outer(ad.ones(2), ad.ones(3)).shape
        adjoint.Size([2, 3])
    """
    return core.outer(*of_one_type(x1, x2))


def pinv(x: Tensor, /, *, rtol: float | Tensor | None = None) -> Tensor:
    """Pseudo-inverses of matrices `(..., m, n)`.

    Example::

        >>> ad.array_api.linalg.pinv(ad.ones(2, 1))
        tensor([[0.5000, 0.5000]])
    """
    return _own.pinv(x, rtol=rtol)


def qr(x: Tensor, /, *, mode: str = "reduced") -> QR:
    """Matrices `(..., m, n)` as products of an orthogonal and an upper triangular one; "reduced" or "complete".

    Example::

        >>> ad.array_api.linalg.qr(ad.eye(2)).R.shape
        adjoint.Size([2, 2])
    """
    return QR(*_qr(x, mode))


def slogdet(x: Tensor, /) -> SignedLogDet:
    """Signs of determinants of matrices `(..., n, n)` and logarithms of their sizes.

    Example::

        >>> ad.array_api.linalg.slogdet(ad.eye(2)).sign
        tensor(1.)
    """
    return SignedLogDet(*_slogdet(x))


def solve(x1: Tensor, x2: Tensor, /) -> Tensor:
    """The solutions of `x1 @ x = x2`; `x2` is a vector if it has one axis, else matrices.

    Example::

        >>> ad.array_api.linalg.solve(ad.eye(2), ad.ones(2))
        tensor([1., 1.])
    """
    a, b = of_one_type(x1, x2)
    if b.ndim == 1:
        return _solve(a, b.expand(*a.shape[:-1]).unsqueeze(-1)).squeeze(-1)
    shape = core.broadcast_shapes(a.shape[:-2], b.shape[:-2])
    return _solve(a, b.expand(*shape, *b.shape[-2:]))


def svd(x: Tensor, /, *, full_matrices: bool = True) -> SVD:
    """Singular values, in falling order, and vectors of matrices `(..., m, n)`.

    Example::

        >>> ad.array_api.linalg.svd(ad.eye(2)).S
        tensor([1., 1.])
    """
    return SVD(*_svd(x, full_matrices))


def trace(x: Tensor, /, *, offset: int = 0, dtype: dtype | None = None) -> Tensor:
    """The sums along a diagonal of matrices `(..., m, n)`.

    Example::

        >>> ad.array_api.linalg.trace(ad.ones(2, 2))
        tensor(2.)
    """
    return _sum(diagonal(x, offset=offset), axis=-1, dtype=dtype)


def vector_norm(x: Tensor, /, *, axis: int | tuple[int, ...] | None = None, keepdims: bool = False, ord: float = 2) -> Tensor:
    """Norms of vectors along axes; of all elements, for None.

    Example::

        >>> ad.array_api.linalg.vector_norm(ad.tensor([3.0, 4.0]))
        tensor(5.)
    """
    if axis == ():
        return core.abs(x) if ord else (x != 0).to(core.abs(x).dtype)
    return _own.vector_norm(x, ord, dim=axis, keepdim=keepdims)
