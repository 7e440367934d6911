"""Functions that PyTorch has taken away and still names: each raises, and says what stands in its place."""

from __future__ import annotations

from typing import Any, NoReturn

from adjoint_core import Tensor
from adjoint_core._compose import method

__all__ = ["eig", "lstsq", "matrix_rank", "solve", "symeig"]


def _removed(name: str, instead: str) -> NoReturn:
    raise RuntimeError(f"This function was deprecated since version 1.9 and is now removed. `{name}`: use {instead}")


@method
def solve(input: Tensor, A: Tensor, *, out: Any = None) -> NoReturn:
    """The older name of `linalg.solve`, whose arguments are the other way round. It raises RuntimeError, as in PyTorch."""
    _removed("solve", "`linalg.solve(A, B)`, whose arguments are reversed, and `linalg.lu_factor` for the factors")


@method
def lstsq(input: Tensor, A: Tensor, *, out: Any = None) -> NoReturn:
    """The older name of `linalg.lstsq`, whose arguments are the other way round. It raises RuntimeError, as in PyTorch."""
    _removed("lstsq", "`linalg.lstsq(A, B)`, whose arguments are reversed, and `linalg.qr` for the factors")


def matrix_rank(input: Tensor, tol: float | None = None, symmetric: bool = False, *, out: Any = None) -> NoReturn:
    """The older name of `linalg.matrix_rank`. It raises RuntimeError, as in PyTorch."""
    _removed("matrix_rank", "`linalg.matrix_rank`")


@method
def eig(self: Tensor, eigenvectors: bool = False, *, e: Any = None, v: Any = None) -> NoReturn:
    """The older name of `linalg.eig`, which gives complex tensors. It raises RuntimeError, as in PyTorch."""
    _removed("eig", "`linalg.eigvals` or `linalg.eig`, which give complex tensors")


@method
def symeig(input: Tensor, eigenvectors: bool = False, upper: bool = True, *, out: Any = None) -> NoReturn:
    """The older name of `linalg.eigh`, which reads the other triangle. It raises RuntimeError, as in PyTorch."""
    _removed("symeig", "`linalg.eigvalsh` or `linalg.eigh`, with UPLO='U' where upper=True")
