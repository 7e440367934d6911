"""Distances between tensors, and between the rows of tensors."""

from __future__ import annotations

from adjoint_core import Tensor, _core
from adjoint_core._compose import check_all, method

__all__ = ["cdist", "dist", "pdist"]


@method
def dist(input: Tensor, other: Tensor, p: float = 2) -> Tensor:
    """The p-norm of input - other."""
    return _core._vector_norm(input - other, p, None, False, None)


def cdist(x1: Tensor, x2: Tensor, p: float = 2.0, compute_mode: str = "use_mm_for_euclid_dist_if_necessary") -> Tensor:
    """The distances between rows: (..., n, d) and (..., m, d) give (..., n, m). The gradient at distance 0 is 0.

    Example: `cdist(tensor([[0.0, 0.0]]), tensor([[3.0, 4.0]]))  # tensor([[5.]])`
    """
    if x1.ndim < 2 or x2.ndim < 2 or x1.size(-1) != x2.size(-1):
        raise RuntimeError(f"cdist: inputs must be (..., n, d) and (..., m, d), got {list(x1.shape)} and {list(x2.shape)}")
    if p < 0:
        raise RuntimeError(f"cdist only supports non-negative p values, got {p}")
    return _core._vector_norm(x1.unsqueeze(-2) - x2.unsqueeze(-3), p, -1, False, None)


def pdist(input: Tensor, p: float = 2.0) -> Tensor:
    """The distances between each two rows of (n, d), as a vector of n (n - 1) / 2."""
    if input.ndim != 2:
        raise RuntimeError(f"pdist only supports 2D tensors, got: {input.ndim}D")
    n = input.size(0)
    pairs = _core.ones(n, n, dtype=_core.bool).triu(1).nonzero(as_tuple=True)
    i, j = (_core._cuda.uploaded(side, input.device) for side in pairs)
    return _core._vector_norm(input[i] - input[j], p, -1, False, None)


check_all(globals())
