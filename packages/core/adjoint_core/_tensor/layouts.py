"""How the elements of a tensor lie in memory."""

from __future__ import annotations

from .. import _core

__all__ = ["jagged", "layout", "sparse_bsc", "sparse_bsr", "sparse_coo", "sparse_csc", "sparse_csr", "strided"]


class layout:  # noqa: N801
    """How the elements of a tensor lie in memory: `strided`, `sparse_coo`, or one of the compressed layouts, as `sparse_csr`.

    Example::

        >>> ad.zeros(2).layout
        adjoint.strided
    """

    __slots__ = ("_name",)

    def __init__(self, name: str) -> None:
        self._name = name

    def __repr__(self) -> str:
        return f"{_core._library()}.{self._name}"

    def __reduce__(self) -> str:
        return self._name


strided, sparse_coo, sparse_csr = layout("strided"), layout("sparse_coo"), layout("sparse_csr")
sparse_csc, sparse_bsr, sparse_bsc = layout("sparse_csc"), layout("sparse_bsr"), layout("sparse_bsc")
jagged = layout("jagged")  # of batches of pieces of different lengths: adjoint_functional.nested
LAYOUTS = strided, sparse_coo, sparse_csr, sparse_csc, sparse_bsr, sparse_bsc  # those of sparse.h, in their order
BY_COLUMNS, BLOCKS = (sparse_csc, sparse_bsc), (sparse_bsr, sparse_bsc)
