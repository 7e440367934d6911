"""Distances between tensors, and between the rows of tensors."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import cast

from adjoint_core import Tensor, _core
from adjoint_core._compose import check_all, method, node, rounded_once, without_effect
from adjoint_engine._engine import is_lifted

__all__ = ["cdist", "dist", "pdist"]


@method
@node("DistBackward0")
@rounded_once
def dist(input: Tensor, other: Tensor, p: float = 2) -> Tensor:
    """The p-norm of input - other.

    Example::

        >>> ad.dist(ad.tensor([0.0, 3.0]), ad.tensor([4.0, 0.0]))
        tensor(5.)
    """
    return _core._vector_norm(input - other, p, None, False, None)


def _norms(apart: Tensor, p: float, dim: int = -1) -> Tensor:
    if p == 0:
        return _core.where(apart.isnan().any(dim), math.nan, (apart != 0).sum(dim).to(apart.dtype))
    return _core._vector_norm(apart, p, dim, False, None)


def _counted(of: Callable[..., Tensor], *rows: Tensor) -> Tensor:
    """For p = 0 the coordinates that differ are counted: the derivative is 0 everywhere."""
    return without_effect(of(*(x.detach() for x in rows), 0.0), *rows)


def _of_rows(x1: Tensor, x2: Tensor, p: float, dim: int) -> Tensor:
    """Between the rows of x1 (..., n, d) and the rows of x2, or with dim = -3 its columns; the coordinates of their differences lie along dim."""
    apart = x1.unsqueeze(-2) - x2.unsqueeze(-3) if dim == -1 else x1.mT.unsqueeze(-1) - x2.unsqueeze(-2)
    return _norms(apart, p, dim)


def _again(x1: Tensor, x2: Tensor, p: float, dim: int) -> Tensor:
    from adjoint_engine.checkpoint import checkpoint  # many imports, for few programs

    return cast(Tensor, checkpoint(_of_rows, x1, x2, p, dim, use_reentrant=False, preserve_rng_state=False))


_MODES = ("use_mm_for_euclid_dist_if_necessary", "use_mm_for_euclid_dist", "donot_use_mm_for_euclid_dist")


@node("CdistBackward0")
@rounded_once
def cdist(x1: Tensor, x2: Tensor, p: float = 2.0, compute_mode: str = "use_mm_for_euclid_dist_if_necessary") -> Tensor:
    """The distances between rows: (..., n, d) and (..., m, d) give (..., n, m). The gradient at distance 0 is 0.

    For p = 2 and more than 25 rows of many coordinates they are made of a product of matrices, unless `compute_mode` is
    "donot_use_mm_for_euclid_dist": faster, and less exact for rows that are close to each other.

    Example::

        >>> ad.cdist(ad.tensor([[0.0, 0.0]]), ad.tensor([[3.0, 4.0]]))
        tensor([[5.]])
    """
    if x1.ndim < 2 or x2.ndim < 2 or x1.size(-1) != x2.size(-1):
        raise RuntimeError(f"cdist: inputs must be (..., n, d) and (..., m, d), got {list(x1.shape)} and {list(x2.shape)}")
    if not p >= 0:
        raise RuntimeError(f"cdist only supports non-negative p values, got {p}")
    if compute_mode not in _MODES:
        raise ValueError(f"{compute_mode} is not a valid value for compute_mode")
    if p == 0 and (x1.requires_grad or x2.requires_grad):
        return _counted(cdist, x1, x2)
    if not x1.size(-1):
        p = 1  # of nothing, which has no largest
    n, m = x1.size(-2), x2.size(-2)
    if p in (0, 1, 2) and x1.is_floating_point() and x2.is_floating_point():
        return _core._distances(x1, x2, max(n, m) > 25 and compute_mode != "donot_use_mm_for_euclid_dist", int(p))
    lanes = max(math.prod(x1.shape[:-2]), math.prod(x2.shape[:-2]))
    rows = max(1, 2**20 // max(1, lanes * m * x1.size(-1)))  # so many at a time stay in the cache
    dim = -1 if m < x1.size(-1) else -3  # the longer dimension is the last
    if dim == -3:
        x2 = x2.mT.contiguous()
    if rows >= n:
        return _of_rows(x1, x2, p, dim)
    # Differences are taken again in the backward: together they are n m d numbers. Levels of func have no checkpoints.
    of_rows = _of_rows if is_lifted(x1) or is_lifted(x2) else _again
    return _core.cat([of_rows(x, x2, p, dim) for x in x1.split(rows, -2)], -2)


@node("PdistBackward0")
@rounded_once
def pdist(input: Tensor, p: float = 2.0) -> Tensor:
    """The distances between each two rows of (n, d), as a vector of n (n - 1) / 2.

    Example::

        >>> ad.pdist(ad.tensor([[0.0, 0.0], [3.0, 4.0], [0.0, 1.0]]))
        tensor([5.0000, 1.0000, 4.2426])
    """
    if input.ndim != 2:
        raise RuntimeError(f"pdist only supports 2D tensors, got: {input.ndim}D")
    if p < 0:
        raise RuntimeError(f"pdist only supports non-negative p values, got {p}")
    if p == 0 and input.requires_grad:
        return _counted(pdist, input)
    if p == 2 and input.is_floating_point():
        return _core._pair_distances(input)
    if not input.size(1):
        p = 1  # of nothing, which has no largest
    n = input.size(0)
    pairs = _core.ones(n, n, dtype=_core.bool).triu(1).nonzero(as_tuple=True)
    i, j = (_core._cuda.uploaded(side, input.device) for side in pairs)
    return _norms(input[i] - input[j], p)


check_all(globals())
