"""Statistics and numerical integration made of other operations."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from adjoint_core import Tensor, _core, _results
from adjoint_core._compose import check_all, method

__all__ = [
    "cdist", "corrcoef", "cov", "cumulative_trapezoid", "dist", "gradient", "histc", "mode", "nanmean", "nanmedian", "nanquantile", "pdist",
    "quantile", "trapezoid", "trapz",
]  # fmt: skip


# ---- order statistics


def _quantile(x: Tensor, q: Any, dim: int | None, keepdim: bool, interpolation: str, skip_nan: bool, name: str) -> Tensor:
    if interpolation not in ("linear", "lower", "higher", "midpoint", "nearest"):
        raise RuntimeError(
            f"{name}() interpolation must be one of linear, lower, higher, midpoint or nearest, but got {interpolation}"
        )
    if not x.is_floating_point():
        raise RuntimeError(f"{name}() input tensor must be either float or double dtype, got {x.dtype}")
    q = q if isinstance(q, Tensor) else _core.tensor(q, dtype=x.dtype, device=x.device)
    if q.ndim > 1:
        raise RuntimeError(f"{name}() q must be a scalar or 1D tensor, got {q.ndim} dimensions")
    if q.dtype is not x.dtype:
        raise RuntimeError(f"{name}() q tensor must be same dtype as the input tensor, got {q.dtype} and {x.dtype}")
    if not all(0 <= v <= 1 for v in q.reshape(-1).tolist()):
        raise RuntimeError(f"{name}() q must be in the range [0, 1], got {q}")
    dim = dim if x.ndim else None
    shape = [1] * x.ndim if dim is None else [1 if d == dim % x.ndim else n for d, n in enumerate(x.shape)]
    x = (x.reshape(-1) if dim is None else x.movedim(dim, -1)).sort(-1).values
    if x.size(-1) == 0:
        raise RuntimeError(f"{name}() input tensor must be non-empty")
    y = _at_quantiles(x, q.reshape(-1), interpolation, skip_nan).movedim(-1, 0)
    if keepdim:
        y = y.reshape([-1, *shape])
    return y if q.ndim else y.squeeze(0)


def _at_quantiles(x: Tensor, q: Tensor, interpolation: str, skip_nan: bool) -> Tensor:
    """Sorted rows (..., n) at quantiles (k,): (..., k)."""
    nan = x.isnan()
    last = (~nan).sum(-1, keepdim=True).clamp_min(1) - 1 if skip_nan else x.size(-1) - 1
    rank = (q * last).expand(*x.shape[:-1], q.numel())
    below, above = rank.detach().floor(), rank.detach().ceil()
    if interpolation in ("lower", "higher", "nearest"):
        at = {"lower": below, "higher": above, "nearest": rank.detach().round()}[interpolation]
        y = x.gather(-1, at.long())
    else:
        weight = _core.full_like(below, 0.5) if interpolation == "midpoint" else rank - below
        y = _core.lerp(x.gather(-1, below.long()), x.gather(-1, above.long()), weight)
    unknown = nan.all(-1, keepdim=True) if skip_nan else nan.any(-1, keepdim=True)
    return y.masked_fill(unknown, math.nan)


@method
def quantile(input: Tensor, q: Any, dim: int | None = None, keepdim: bool = False, *, interpolation: str = "linear") -> Tensor:
    """The q-quantiles along `dim` (of all elements, if none); several `q` give a new first dimension.

    Example: `quantile(tensor([0.0, 1.0, 3.0]), 0.75)  # tensor(2.)`
    """
    return _quantile(input, q, dim, keepdim, interpolation, False, "quantile")


@method
def nanquantile(
    input: Tensor, q: Any, dim: int | None = None, keepdim: bool = False, *, interpolation: str = "linear"
) -> Tensor:
    """Quantiles of the elements that are not NaN."""
    return _quantile(input, q, dim, keepdim, interpolation, True, "nanquantile")


@method
def nanmean(input: Tensor, dim: Any = None, keepdim: bool = False, *, dtype: Any = None) -> Tensor:
    """The mean of the elements that are not NaN."""
    return _core.nansum(input, dim, keepdim, dtype=dtype) / (~input.isnan()).sum(dim, keepdim)


@method
def nanmedian(input: Tensor, dim: int | None = None, keepdim: bool = False) -> Any:
    """The lower median of the elements that are not NaN, along `dim` with its indices."""
    x, along = (input.reshape(-1), 0) if dim is None else (input, dim)
    values, order = x.sort(along)
    middle = ((~values.isnan()).sum(along, keepdim=True) - 1).clamp_min(0) // 2
    value, index = values.gather(along, middle), order.gather(along, middle)
    if not keepdim or dim is None:
        value, index = value.squeeze(along), index.squeeze(along)
    if dim is not None:
        return _results.nanmedian(value, index)
    if not x.is_floating_point():
        return value
    equal = (x == value) | (x.isnan() & value.isnan())
    return _core.where(equal, x, -math.inf).amax()  # all that equal the median share its gradient


@method
def mode(input: Tensor, dim: int = -1, keepdim: bool = False) -> Any:
    """The most frequent value along `dim`, the smallest of those, and its last index.

    Example: `mode(tensor([1, 2, 2])).values  # tensor(2)`
    """
    if input.ndim == 0:
        return _results.mode(input.clone(), _core.zeros_like(input, dtype=_core.int64))
    values, order = input.sort(dim, stable=True)
    v = values.detach().movedim(dim, -1)
    count = (v.unsqueeze(-1) == v.unsqueeze(-2)).sum(-1)
    first = count.argmax(-1, keepdim=True)
    last = (first + count.gather(-1, first) - 1).movedim(-1, dim)
    value, index = values.gather(dim, last), order.gather(dim, last)
    return _results.mode(value, index) if keepdim else _results.mode(value.squeeze(dim), index.squeeze(dim))


@method
def histc(input: Tensor, bins: int = 100, min: float = 0, max: float = 0) -> Tensor:
    """How many elements fall into each of `bins` equal parts of [min, max], which default to the extremes. Has no gradient."""
    x = input.detach().reshape(-1)
    low, high = (_core.full((), float(v), dtype=x.dtype, device=x.device) for v in (min, max))
    if min == max and x.numel():
        low, high = x.amin(), x.amax()
    one_value = low == high
    low, high = _core.where(one_value, low - 1, low), _core.where(one_value, high + 1, high)
    part = ((x - low) * (bins / (high - low))).clamp(0, bins - 1).long()
    outside = ~((x >= low) & (x <= high))
    part = part.masked_fill(outside, bins)
    return _core.zeros(bins + 1, dtype=x.dtype, device=x.device).scatter_add(0, part, _core.ones_like(x))[:bins]


# ---- covariance and distances


def _check_weights(samples: int, fweights: Tensor | None, aweights: Tensor | None) -> None:
    for name, w in (("fweights", fweights), ("aweights", aweights)):
        if w is None:
            continue
        if w.ndim > 1:
            raise RuntimeError(
                f"cov(): expected {name} to have one or fewer dimensions but got {name} with {w.ndim} dimensions"
            )
        if w.is_floating_point() != (name == "aweights") or w.is_complex():
            kind = "floating point" if name == "aweights" else "integral"
            raise RuntimeError(f"cov(): expected {name} to have {kind} dtype but got {name} with {w.dtype} dtype")
        if w.numel() != samples:
            raise RuntimeError(
                f"cov(): expected {name} to have the same numel as there are observations in the input but got {w.numel()} != {samples}"
            )
        if bool(_core._all_lanes(w < 0).any()):
            raise RuntimeError(f"cov(): {name} cannot be negative")


@method
def cov(input: Tensor, *, correction: int = 1, fweights: Tensor | None = None, aweights: Tensor | None = None) -> Tensor:
    """The covariance matrix of variables in rows, (n, samples) -> (n, n); one variable has a 0-d variance.

    Arguments:
        correction: what is taken from the number of samples.
        fweights: how often each sample counts, integers.
        aweights: the importance of each sample.
    """
    if input.ndim > 2:
        raise RuntimeError(
            f"cov(): expected input to have two or fewer dimensions but got an input with {input.ndim} dimensions"
        )
    x = input.reshape(1, -1) if input.ndim < 2 else input
    x = x if x.is_floating_point() or x.is_complex() else x.to(_core.get_default_dtype())
    _check_weights(x.size(1), fweights, aweights)
    w = fweights
    if aweights is not None:
        w = aweights if w is None else w * aweights
    if w is None:
        total, mean, scaled = x.size(1), x.mean(1, keepdim=True), None
    else:
        total = w.sum()
        mean = (x * w).sum(1, keepdim=True) / total
        scaled = w
    if aweights is None or correction == 0:
        norm = total - correction
    else:
        norm = total - correction * (w * aweights).sum() / total
    centred = x - mean
    c = centred @ (centred if scaled is None else centred * scaled).mH
    c = c / (norm.clamp_min(0) if isinstance(norm, Tensor) else max(norm, 0))
    return c.squeeze()


@method
def corrcoef(input: Tensor) -> Tensor:
    """The correlation matrix of variables in rows."""
    c = cov(input)
    if c.ndim == 0:
        return c / c
    s = c.diagonal().real.sqrt() if c.is_complex() else c.diagonal().sqrt()
    c = c / s.unsqueeze(1) / s
    return c if c.is_complex() else c.clamp(-1, 1)


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


# ---- integrals and differences


def _areas(y: Tensor, x: Tensor | None, dx: Any, dim: int) -> Tensor:
    n = y.size(dim)
    middle = (y.narrow(dim, 1, n - 1) + y.narrow(dim, 0, n - 1)) / 2 if n else y.narrow(dim, 0, 0)
    if x is None:
        return middle * (1 if dx is None else dx)
    if dx is not None:
        raise RuntimeError("trapezoid() can't have both x and dx")
    if x.ndim == 1:
        return middle * x.diff().reshape([-1] + [1] * ((-dim - 1) if dim < 0 else y.ndim - 1 - dim))
    return middle * x.diff(dim=dim)


def trapezoid(y: Tensor, x: Tensor | None = None, *, dx: Any = None, dim: int = -1) -> Tensor:
    """The integral along `dim` by the trapezoidal rule, at positions `x` or steps of `dx` (1).

    Example: `trapezoid(tensor([1.0, 2.0, 3.0]))  # tensor(4.)`
    """
    return _areas(y, x, dx, dim).sum(dim)


def trapz(y: Tensor, x: Tensor | None = None, *, dx: Any = None, dim: int = -1) -> Tensor:
    """Another name of `trapezoid`."""
    return trapezoid(y, x, dx=dx, dim=dim)


def cumulative_trapezoid(y: Tensor, x: Tensor | None = None, *, dx: Any = None, dim: int = -1) -> Tensor:
    """The running integral along `dim`, one element shorter than y."""
    return _areas(y, x, dx, dim).cumsum(dim)


def _differences(y: Tensor, x: Tensor, edge_order: int) -> Tensor:
    """dy/dx along the last dimension: second order inside, of `edge_order` at the edges."""
    h = x.diff()
    left, right = h[:-1], h[1:]
    inside = (
        -right / (left * (left + right)) * y[..., :-2]
        + (right - left) / (left * right) * y[..., 1:-1]
        + left / (right * (left + right)) * y[..., 2:]
    )
    slopes = y.diff() / h
    first, last = slopes[..., :1], slopes[..., -1:]
    if edge_order == 2:
        first = first - (slopes[..., 1:2] - first) * h[0] / (h[0] + h[1])
        last = last + (last - slopes[..., -2:-1]) * h[-1] / (h[-1] + h[-2])
    return _core.cat([first, inside, last], -1)


@method
def gradient(
    input: Tensor, *, spacing: Any = None, dim: int | Sequence[int] | None = None, edge_order: int = 1
) -> tuple[Tensor, ...]:
    """Finite differences of samples along each of `dim` (all), as a tuple.

    Arguments:
        spacing: the step (1), one for each dimension, or tensors of positions.
        edge_order: 1 or 2, the accuracy at the edges.
    Example: `gradient(tensor([0.0, 1.0, 4.0, 9.0]))  # (tensor([1., 2., 4., 5.]),)`
    """
    if edge_order not in (1, 2):
        raise RuntimeError(f"gradient only supports edge_order=1 and edge_order=2, got {edge_order}")
    dims = range(input.ndim) if dim is None else (dim,) if isinstance(dim, int) else dim
    for d in dims:
        if sum(d % max(input.ndim, 1) == e % max(input.ndim, 1) for e in dims) > 1:
            raise RuntimeError(f"gradient: dim {d} appears multiple times in the list of dims")
    spacing = 1 if spacing is None else spacing
    steps = list(spacing) if isinstance(spacing, (tuple, list)) else [spacing] * len(dims)
    if len(steps) != len(dims):
        raise RuntimeError(
            f"gradient expected spacing to be one number or one for each of {len(dims)} dimensions, got {len(steps)}"
        )
    out = []
    for d, step in zip(dims, steps):
        n = input.size(d)
        if n < edge_order + 1:
            raise RuntimeError("gradient expected each dimension size to be at least edge_order+1")
        real = (
            input.dtype.to_real()
            if input.is_complex()
            else input.dtype
            if input.is_floating_point()
            else _core.get_default_dtype()
        )
        x = step if isinstance(step, Tensor) and step.ndim else _core.arange(n, dtype=real, device=input.device) * step
        out.append(_differences(input.movedim(d, -1), x, edge_order).movedim(-1, d))
    return tuple(out)


check_all(globals(), out=("histc", "mode", "nanmean", "nanmedian", "nanquantile", "quantile"))
