"""Quantiles, medians, modes and counts; means without NaN."""

from __future__ import annotations

import math
from typing import Any

from adjoint_core import Tensor, _core, _results
from adjoint_core._compose import check_all, method, node, rounded_once
from adjoint_engine import _engine

__all__ = ["histc", "mode", "nanmean", "nanquantile", "quantile"]


def _quantile(x: Tensor, q: Any, dim: int | None, keepdim: bool, interpolation: str, skip_nan: bool, name: str) -> Tensor:
    if interpolation not in ("linear", "lower", "higher", "midpoint", "nearest"):
        raise RuntimeError(
            f"{name}() interpolation must be one of linear, lower, higher, midpoint or nearest, but got {interpolation}"
        )
    if not x.is_floating_point():
        raise RuntimeError(f"{name}() input tensor must be either float or double dtype, got {x.dtype}")
    given = q if isinstance(q, Tensor) else _core.tensor(q, dtype=x.dtype, device="cpu")
    if given.ndim > 1:
        raise RuntimeError(f"{name}() q must be a scalar or 1D tensor, got {given.ndim} dimensions")
    if given.dtype is not x.dtype:
        raise RuntimeError(f"{name}() q tensor must be same dtype as the input tensor, got {given.dtype} and {x.dtype}")
    # As in PyTorch, values on a GPU are not looked at: the host would wait for them.
    if given.is_cpu and not all(0 <= v <= 1 for v in _core._all_lanes(given).reshape(-1).tolist()):
        raise RuntimeError(f"{name}() q must be in the range [0, 1], got {q}")
    q = (
        given
        if isinstance(q, Tensor)
        else _core.full((), q, dtype=x.dtype, device=x.device)
        if given.ndim == 0
        else given.to(x.device)
    )
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
@rounded_once
def quantile(input: Tensor, q: Any, dim: int | None = None, keepdim: bool = False, *, interpolation: str = "linear") -> Tensor:
    """The q-quantiles along `dim` (of all elements, if none); several `q` give a new first dimension.

    Example::

        >>> ad.quantile(ad.tensor([0.0, 1.0, 3.0]), 0.75)
        tensor(2.)
    """
    return _quantile(input, q, dim, keepdim, interpolation, False, "quantile")


@method
@rounded_once
def nanquantile(
    input: Tensor, q: Any, dim: int | None = None, keepdim: bool = False, *, interpolation: str = "linear"
) -> Tensor:
    """Quantiles of the elements that are not NaN.

    Example::

        >>> ad.nanquantile(ad.tensor([1.0, float('nan'), 3.0]), 0.5)
        tensor(2.)
    """
    return _quantile(input, q, dim, keepdim, interpolation, True, "nanquantile")


@method
@rounded_once
def nanmean(input: Tensor, dim: Any = None, keepdim: bool = False, *, dtype: Any = None) -> Tensor:
    """The mean of the elements that are not NaN.

    Example::

        >>> ad.nanmean(ad.tensor([1.0, float('nan'), 3.0]))
        tensor(2.)
    """
    return _core.nansum(input, dim, keepdim, dtype=dtype) / (~input.isnan()).sum(dim, keepdim)


@method
@node("ModeBackward0")
def mode(input: Tensor, dim: int = -1, keepdim: bool = False) -> Any:
    """The most frequent value along `dim`, the smallest of those, and its last index.

    Example::

        >>> ad.mode(ad.tensor([1, 2, 2])).values
        tensor(2)
    """
    if input.ndim == 0:
        input.unsqueeze(0).size(dim)  # says what is wrong with it
        return _results.mode(input.clone(), _core.zeros_like(input, dtype=_core.int64))
    values, order = input.sort(dim, stable=True)
    v = values.detach().movedim(dim, -1)
    at = _core.arange(v.size(-1), device=v.device)
    begins = _core.where(v[..., 1:] == v[..., :-1], 0, at[1:])  # of the run of equal values that each is in
    begins = _core.cat([_core.zeros_like(v[..., :1], dtype=_core.int64), begins], -1).cummax(-1).values
    last = (at - begins).argmax(-1, keepdim=True).movedim(-1, dim)  # of the first longest run
    value, index = values.gather(dim, last), order.gather(dim, last)
    return _results.mode(value, index) if keepdim else _results.mode(value.squeeze(dim), index.squeeze(dim))


@method
@rounded_once
def histc(input: Tensor, bins: int = 100, min: float = 0, max: float = 0) -> Tensor:
    """How many elements fall into each of `bins` equal parts of [min, max], which default to the extremes. Has no gradient.

    Raises:
        RuntimeError: fewer than one part, or a range that is empty or not finite; of extremes on a GPU, or inside vmap, nobody looks.

    Example::

        >>> ad.histc(ad.tensor([1.0, 2.0, 1.0]), bins=4, min=0, max=3)
        tensor([0., 2., 1., 0.])
    """
    if bins < 1:
        raise RuntimeError(f"histc: bins must be > 0, but got {bins}")
    if max < min:
        raise RuntimeError(f"histc: max must be larger than min, got {max} and {min}")
    x = input.detach().reshape(-1)
    of_values, seen = min == max and x.numel() > 0, x.is_cpu and not _engine.any_lifted((x,))
    low, high = (float(min), float(max)) if not of_values else (x.amin(), x.amax())  # type: ignore[assignment]
    first, last = (float(low), float(high)) if seen else (float(min), float(max))
    if not (math.isfinite(first) and math.isfinite(last)):
        raise RuntimeError(f"histc: range of [{first:g}, {last:g}] is not finite")
    if seen and (counts := _core._histc(x, bins, *((first - 1, last + 1) if first == last else (first, last)))) is not None:
        return counts
    if not of_values:
        low, high = (_core.full((), v, dtype=x.dtype, device=x.device) for v in (low, high))
    one_value = low == high
    low, high = _core.where(one_value, low - 1, low), _core.where(one_value, high + 1, high)
    part = _core.where(x.clamp(low, high) == x, (x - low) * bins / (high - low), bins + 1)  # `bins` at the right edge
    counts = _core.zeros(bins + 2, dtype=x.dtype, device=x.device).scatter_add(0, part.long(), _core.ones_like(x))
    return _core.cat([counts[: bins - 1], counts[bins - 1 : bins + 1].sum(0, keepdim=True)])


check_all(globals(), out=("histc", "mode", "nanmean", "nanquantile", "quantile"))
