"""Products and powers of matrices and vectors."""

from __future__ import annotations

from collections.abc import Sequence

from adjoint_core import Tensor, _core
from adjoint_core._compose import check_all, rounded_once
from adjoint_core.linalg import inv

__all__ = ["matrix_power", "multi_dot", "vander", "vecdot"]


def vecdot(x: Tensor, y: Tensor, *, dim: int = -1) -> Tensor:
    """sum(conj(x) * y) along `dim`; other dimensions broadcast.

    Example::

        >>> ad.linalg.vecdot(ad.tensor([1., 2.]), ad.tensor([3., 4.]))
        tensor(11.)
    """
    halves = x.dtype is y.dtype and x.dtype in (_core.float16, _core.bfloat16)
    if halves and x.shape == y.shape and x.ndim:  # a product of matrices is rounded once
        return (x.movedim(dim, -1).unsqueeze(-2) @ y.movedim(dim, -1).unsqueeze(-1)).squeeze((-2, -1))
    return (x.conj() * y).sum(dim)


def matrix_power(A: Tensor, n: int) -> Tensor:
    """A @ A @ ... @ A, n times, for square matrices (..., m, m), each product rounded; a negative n multiplies inverses.

    Example::

        >>> ad.linalg.matrix_power(ad.tensor([[1., 1.], [0., 1.]]), 3)
        tensor([[1., 3.],
                [0., 1.]])
    """
    if A.ndim < 2 or A.size(-1) != A.size(-2):
        raise RuntimeError(f"linalg.matrix_power: A must be batches of square matrices, got shape {list(A.shape)}")
    if n < 0:
        return _inverse_power(A, -n)
    if n == 0:
        never = _core.zeros_like(A, dtype=_core.bool)
        return _core.where(never, A, _core.eye(A.size(-1), dtype=A.dtype, device=A.device))  # a gradient of zeros
    if n == 1:
        return A.clone()
    half = A if n < 4 else matrix_power(A, n // 2)
    return half @ half if n % 2 == 0 else half @ half @ A


@rounded_once
def _inverse_power(A: Tensor, n: int) -> Tensor:
    return matrix_power(inv(A), n)


def multi_dot(tensors: Sequence[Tensor]) -> Tensor:
    """The product of two or more matrices in the cheapest order; the first and the last may be vectors. Each product is rounded.

    Example::

        >>> ad.linalg.multi_dot([ad.ones(2, 3), ad.ones(3, 4), ad.ones(4)])
        tensor([12., 12.])
    """
    return _core._multi_dot(tensors)


@rounded_once
def vander(x: Tensor, *, N: int | None = None) -> Tensor:
    """The powers 0 to N - 1 (n - 1, if not given) of each element of x (..., n) along a new last dimension.

    Example::

        >>> ad.linalg.vander(ad.tensor([2., 3.]), N=3)
        tensor([[1., 2., 4.],
                [1., 3., 9.]])
    """
    x = x.reshape(1) if x.ndim == 0 else x
    count = x.size(-1) if N is None else N
    if count <= 1:
        raise RuntimeError(f"N must be greater than 1, got {count}")
    powers = x.unsqueeze(-1).expand(*x.shape, count - 1).cumprod(-1)
    return _core.cat([_core.ones_like(powers[..., :1]), powers], -1)


check_all(globals(), out=("matrix_power", "multi_dot", "vecdot"))
