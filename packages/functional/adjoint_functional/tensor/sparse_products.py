"""Products with a sparse matrix under their older names."""

from __future__ import annotations

from adjoint_core import Tensor, addmm, mm, sparse_coo_tensor
from adjoint_core._compose import check_all, method

__all__ = ["dsmm", "hsmm", "hspmm", "smm", "spmm", "sspaddmm"]


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


def hspmm(mat1: Tensor, mat2: Tensor) -> Tensor:
    """The product of a sparse and a dense matrix as a hybrid tensor, of the rows where `mat1` has elements.

    Example::

        >>> ad.hspmm(ad.tensor([[0.0, 0.0], [0.0, 2.0]]).to_sparse(), ad.ones(2, 2)).values()
        tensor([[2., 2.]])
    """
    if not mat1.is_sparse:
        raise NotImplementedError(f"hspmm: expected a sparse matrix and a dense one, got {mat1.layout}")
    rows = mat1.coalesce().indices()[0].unique()
    return sparse_coo_tensor(rows[None], mm(mat1, mat2)[rows], (mat1.size(0), mat2.size(1)), is_coalesced=True)


@method
def sspaddmm(input: Tensor, mat1: Tensor, mat2: Tensor, *, beta: float = 1, alpha: float = 1) -> Tensor:
    """`addmm` of a sparse `input` and a sparse `mat1`, as a sparse tensor.

    Example::

        >>> eye = ad.eye(2).to_sparse()
        >>> ad.sspaddmm(eye, eye, ad.ones(2, 2)).to_dense()
        tensor([[2., 1.],
                [1., 2.]])
    """
    return addmm(input.to_dense(), mat1, mat2, beta=beta, alpha=alpha).to_sparse()


@method
def smm(input: Tensor, mat2: Tensor) -> Tensor:
    """`spmm`, as a sparse tensor.

    Example::

        >>> ad.smm(ad.eye(2).to_sparse(), ad.ones(2, 1)).is_sparse
        True
    """
    return mm(input, mat2).to_sparse()


check_all(globals())
