"""Products with a sparse matrix under their older names."""

from __future__ import annotations

from adjoint_core import Tensor, mm
from adjoint_core._compose import check_all

__all__ = ["dsmm", "hsmm", "smm", "spmm"]


def spmm(input: Tensor, mat2: Tensor) -> Tensor:
    """`mm`, of which one factor may be sparse: $(n, k)$ and $(k, m)$ give $(n, m)$.

    Example::

        >>> ad.spmm(ad.eye(2).to_sparse(), ad.ones(2, 1)).tolist()
        [[1.0], [1.0]]
    """
    return mm(input, mat2)


def dsmm(input: Tensor, mat2: Tensor) -> Tensor:
    """`spmm`, by its name for a dense result.

    Example::

        >>> ad.dsmm(ad.eye(2).to_sparse(), ad.ones(2, 1))
        tensor([[1.],
                [1.]])
    """
    return mm(input, mat2)


def hsmm(input: Tensor, mat2: Tensor) -> Tensor:
    """`spmm`, by its name for a dense result of a hybrid tensor.

    Example::

        >>> ad.hsmm(ad.eye(2).to_sparse(), ad.ones(2, 1))
        tensor([[1.],
                [1.]])
    """
    return mm(input, mat2)


def smm(input: Tensor, mat2: Tensor) -> Tensor:
    """`spmm`, as a sparse tensor.

    Example::

        >>> ad.smm(ad.eye(2).to_sparse(), ad.ones(2, 1)).is_sparse
        True
    """
    return mm(input, mat2).to_sparse()


check_all(globals())
