"""Histograms, reductions of segments, and other tables of counts and places."""

from __future__ import annotations

import math
from collections.abc import Sequence
from operator import index
from typing import Any

from adjoint_core import Tensor, _core, _results, finfo
from adjoint_core._compose import check_all, method, node
from adjoint_core._whole import is_whole
from adjoint_engine._engine import is_lifted

__all__ = ["_chunk_cat", "hash_tensor", "histogram", "histogramdd", "nonzero_static", "segment_reduce"]

_INITIAL = {"sum": 0.0, "mean": 0.0, "prod": 1.0, "amax": -math.inf, "amin": math.inf}
_COMBINE = {"sum": 0, "prod": 2, "amax": 3, "amin": 4}  # as core numbers them
_RECORD = {"sum": "sum", "mean": "sum", "prod": "prod", "max": "amax", "min": "amin", "amax": "amax", "amin": "amin"}


def _edges(points: Tensor, each: Sequence[Any], range: Sequence[float] | None) -> list[Tensor]:
    """Of the bins of each coordinate (k, n): as they are given, or of equal bins over the limits, or over the values without them."""
    if range is None and points.numel() and is_lifted(points):
        return [bins if isinstance(bins, Tensor) else _edges_of_lanes(x, bins) for x, bins in zip(points.unbind(1), each)]
    if range is None and points.numel() and any(isinstance(bins, int) for bins in each):
        limits = list(zip(points.amin(0).tolist(), points.amax(0).tolist()))
    else:
        limits = [(0.0, 1.0) if range is None else tuple(range[2 * i : 2 * i + 2]) for i, _ in enumerate(each)]
    edges = []
    for bins, (low, high) in zip(each, limits):
        if isinstance(bins, Tensor):
            edges.append(bins)
            continue
        low, high = _limits(low, high, points.dtype)
        edges.append(_core.linspace(low, high, bins + 1, dtype=points.dtype, device=points.device))
    return edges


def _limits(low: float, high: float, dtype: Any) -> tuple[float, float]:
    """Of a range from the lower to the upper one, between which the type has numbers."""
    if not (math.isfinite(low) and math.isfinite(high)):
        raise RuntimeError(f"histogramdd: range of [{low:g}, {high:g}] is not finite")
    if low > high:
        raise RuntimeError(f"histogramdd: the range's minimum should not exceed its maximum, got [{low:g}, {high:g}]")
    if max(-low, high) > finfo(dtype).max or math.isinf(high - low):
        raise RuntimeError(f"histogramdd: range of [{low:g}, {high:g}] overflows {dtype}")
    return (low - 0.5, high + 0.5) if low == high else (low, high)


def _expect_countable(each: Sequence[Any]) -> None:
    """The cells, with those in front of and behind each row, have numbers."""
    if math.prod(b + 2 if isinstance(b, int) else b.numel() + 1 for b in each) >= 2**60:
        sizes = [b if isinstance(b, int) else b.numel() - 1 for b in each]
        raise RuntimeError(f"histogramdd: a grid of {' x '.join(map(str, sizes))} bins has too many cells")


def _edges_of_lanes(x: Tensor, bins: int) -> Tensor:
    """Of equal bins over the values (k,), inside of transforms, where each member of a batch has other ones."""
    low, high = x.amin(), x.amax()
    if not bool(_core._all_lanes(low.isfinite() & high.isfinite()).all()):
        raise RuntimeError("histogramdd: the range of the values is not finite")
    half = _core.where(low == high, 0.5, 0.0).to(x.dtype)
    return _core.linspace(low - half, high + half, bins + 1, dtype=x.dtype, device=x.device)


def _places(x: Tensor, edges: Tensor) -> Tensor:
    """In which bin each value (k,) falls, counted from one; 0 in front of them, and one more behind the last, which holds its right edge."""
    last = edges[-1:]
    behind = _core.where(
        last == math.inf, math.nan, _core.nextafter(last, _core.full_like(last, math.inf))
    )  # NaN stands behind infinity
    return _core.searchsorted(_core.cat([edges[:-1], behind]), x, right=True)


def _inner_places(x: Tensor, edges: Tensor) -> Tensor:
    """In which bin each value (k,) falls, counted from zero, where all fall into one."""
    return _core.searchsorted(edges[1:-1].contiguous(), x, right=True)


def histogramdd(
    input: Tensor,
    bins: Any,
    *,
    range: Sequence[float] | None = None,
    weight: Tensor | None = None,
    density: bool = False,
) -> Any:
    """How many of the points `input` (..., n) fall into each cell of a grid, and the edges of its cells. Has no gradient.

    `bins` is a number, a number for each of the n coordinates, or their edges; `range` has two limits for each. `weight` (...) counts a
    point otherwise than once, `density` divides by the sum and by the volumes.

    Example::

        >>> ad.histogramdd(ad.tensor([[0.0, 1.0], [1.0, 1.0]]), [2, 1]).hist
        tensor([[1.],
                [1.]])
    """
    if not input.is_floating_point():
        raise NotImplementedError(f"histogramdd: not implemented for {input.dtype}")
    points = input.detach().reshape(-1, input.size(-1))
    n = points.size(1)
    each = [index(b) if is_whole(b) else b for b in ([bins] * n if is_whole(bins) else bins)]
    if len(each) != n:
        raise RuntimeError(f"histogramdd: expected {n} sequences of bin edges or numbers of bins, got {len(each)}")
    if any(isinstance(b, int) and b <= 0 for b in each):
        raise RuntimeError(f"histogramdd: the number of bins must be positive, got {each}")
    if any(isinstance(b, Tensor) and b.numel() < 2 for b in each):
        raise RuntimeError("histogramdd: edges of bins must be at least 2 numbers")
    _expect_countable(each)
    for b in each:
        if isinstance(b, Tensor):
            _core._expect_type("histogramdd", "bins", b, "input", input)
    edges = _edges(points, each, range)
    if weight is not None:
        _core._expect_type("histogramdd", "weight", weight, "input", input)
        if weight.shape != input.shape[:-1]:
            raise RuntimeError(
                f"histogramdd: weight must have the shape of the points, {list(input.shape[:-1])}, got {list(weight.shape)}"
            )
        weight = weight.detach().reshape(-1)
    hist = _core._histogram(points, edges, weight)
    if hist is None:
        hist = _composed_histogram(points, edges, each, weight, range is None)
    if density:
        hist = hist / hist.sum()
        for i, e in enumerate(edges):
            hist = hist / e.diff().reshape([1] * i + [-1] + [1] * (n - i - 1))
    return _results.histogramdd(hist, tuple(edges))


def _composed_histogram(
    points: Tensor, edges: Sequence[Tensor], each: Sequence[Any], weight: Tensor | None, from_values: bool
) -> Tensor:
    """The counts, made of other operations. from_values: equal bins were made of the values, so that all fall into one."""
    place: Any = None  # in a grid of all bins; where some points fall into none, with one more at both ends of each row
    cells = []
    for i, (b, e) in enumerate(zip(each, edges)):
        all_fall = from_values and isinstance(b, int)
        cells.append(b if all_fall else e.numel() + 1)
        if cells[-1] > 1:
            x = points[:, i].contiguous()
            own = _inner_places(x, e) if all_fall else _places(x, e)
            place = own if place is None else own.add(place, alpha=cells[-1])
    total = math.prod(cells)
    if place is None:
        flat = points.new_full((1,), len(points)) if weight is None else weight.sum()
    elif weight is None:
        flat = _core.bincount(place, minlength=total).to(points.dtype)
    else:
        flat = points.new_zeros(total).scatter_add(0, place, weight)
    inner = tuple(slice(1, c - 1) if c == e.numel() + 1 else slice(None) for c, e in zip(cells, edges))
    return flat.reshape(cells)[inner].contiguous()


@method
def histogram(
    input: Tensor,
    bins: Any = 100,
    *,
    range: Sequence[float] | None = None,
    weight: Tensor | None = None,
    density: bool = False,
) -> Any:
    """How many elements fall into each bin, and the edges of the bins: so many equal ones, or those that a tensor names. Has no gradient.

    Example::

        >>> ad.histogram(ad.tensor([0.0, 1.0, 1.0]), 2).hist
        tensor([1., 2.])
    """
    if not isinstance(bins, Tensor) and bins <= 0:
        raise RuntimeError(f"histogram: bins must be positive, got {bins}")
    if weight is not None and weight.shape == input.shape:
        weight = weight.reshape(-1)
    found = histogramdd(input.reshape(-1, 1), [bins], range=range, weight=weight, density=density)
    return _results.histogram(found[0], found[1][0])


@node("SegmentReduceBackward0")
def segment_reduce(
    data: Tensor,
    reduce: str,
    *,
    lengths: Tensor | None = None,
    indices: Tensor | None = None,
    offsets: Tensor | None = None,
    axis: int = 0,
    unsafe: bool = False,
    initial: float | None = None,
) -> Tensor:
    """The "sum", "mean", "prod", "max" or "min" (also "amax", "amin") of segments along `axis`, which has the lengths or begins and ends given.

    `lengths` (..., s) or `offsets` (..., s + 1) have the dimensions of `data` up to `axis`. `initial` takes part in each segment.

    Example::

        >>> ad.segment_reduce(ad.tensor([1.0, 2.0, 3.0]), "sum", lengths=ad.tensor([2, 1]))
        tensor([3., 3.])
    """
    if data.dtype is _core.bool:
        raise NotImplementedError("segment_reduce: not implemented for adjoint.bool")
    if reduce not in _RECORD:
        raise RuntimeError(f"segment_reduce: reduce must be one of {sorted(_RECORD)}, got {reduce!r}")
    record = _RECORD[reduce]
    if (lengths is None) == (offsets is None) or indices is not None:
        raise RuntimeError("segment_reduce: one of lengths and offsets must be given, and no indices")
    if offsets is not None and (offsets.ndim == 0 or offsets.size(-1) == 0):
        raise RuntimeError(
            f"segment_reduce: offsets must have one element more than there are segments, got {list(offsets.shape)}"
        )
    for name, given in (("lengths", lengths), ("offsets", offsets)):
        if given is not None and given.dtype not in (_core.int32, _core.int64):
            raise RuntimeError(f"segment_reduce: {name} must be of type int32 or int64, got {given.dtype}")
    n, axis = data.size(axis), axis + data.ndim if axis < 0 else axis
    bounds, ahead = (lengths.cumsum(-1), 0) if lengths is not None else (offsets, 1)  # rows ahead of the first are in none
    s = bounds.size(-1) - ahead  # type: ignore[union-attr]
    if not unsafe:
        _check_bounds(bounds, lengths, n)
    begin = _INITIAL[record] if initial is None else initial
    own = bounds if ahead else _core.cat([bounds.new_zeros((*bounds.shape[:-1], 1)), bounds], -1)
    y = _core._segments(data, own.long(), axis, _COMBINE[record], begin)
    if y is None:
        y = _composed_segments(data, bounds, s, ahead, axis, record, begin)
    if reduce == "mean":
        count = own.clamp(0, n).diff().clamp_min(0) if lengths is None else lengths
        count = count.reshape(*count.shape, *[1] * (data.ndim - axis - 1))
        y = y / count if initial is None else y / count.clamp_min(1)
    return y


def _check_bounds(bounds: Tensor, lengths: Tensor | None, n: int) -> None:
    """Raises if segments do not fit n rows: their ends, where their lengths are given, or else all their bounds."""
    if lengths is None:
        good = (bounds[..., 0] >= 0) & (bounds[..., -1] <= n) & (bounds.diff() >= 0).all(-1)
    else:
        good = (bounds[..., -1] == n) & ((lengths >= 0) & (lengths <= n)).all(-1) if lengths.size(-1) else _core.tensor(n == 0)
    if not bool(_core._all_lanes(good).all()):
        rule = (
            f"offsets must not decrease and lie in 0 to {n}"
            if lengths is None
            else f"lengths must sum to {n} and not be negative"
        )
        raise RuntimeError(f"segment_reduce: {rule}, got {bounds if lengths is None else lengths}")


def _composed_segments(data: Tensor, bounds: Tensor, s: int, ahead: int, axis: int, record: str, begin: float) -> Tensor:
    """Rows of s segments joined by a scatter. ahead: bounds are those of their beginnings too."""
    n = data.size(axis)
    if ahead and bounds.ndim == 1 and bounds.is_cpu and not is_lifted(bounds):  # rows in no segment are not looked at
        first, last = bounds[0].item(), bounds[-1].item()
        if 0 <= first <= last <= n:
            data, bounds, n = data.narrow(axis, first, last - first), bounds - first, last - first
    position = _core.arange(n, device=bounds.device).expand(*bounds.shape[:-1], n).contiguous()
    segment = _core.searchsorted(bounds.contiguous(), position, right=True)  # s + ahead behind the last one
    tail = [1] * (data.ndim - axis - 1)
    target = list(data.shape)
    target[axis] = s + ahead + 1
    start = _core.full(target, begin, dtype=data.dtype, device=data.device)
    at = segment.reshape(*segment.shape, *tail).expand(data.shape)
    return start.scatter_reduce(axis, at, data, record).narrow(axis, ahead, s)


_segment_reduce = segment_reduce  # as PyTorch names it below its checks


def _bits(x: Tensor) -> Tensor:
    return x.to(_core.float64).view(_core.int64) if x.is_floating_point() else x.to(_core.int64)


def _joined_by_halves(x: Tensor) -> Tensor:
    """Bits (..., n) joined along the last dimension: the second half with the first, until one is left."""
    n = x.size(-1)
    step = max(1, 2**16 // max(1, math.prod(x.shape[:-1])))  # so many at a time stay in the cache
    joined = _bits(x[..., :step]).clone() if n else x.new_zeros((*x.shape[:-1], 1), dtype=_core.int64)
    for i in range(step, n, step):
        part = _bits(x[..., i : i + step])
        joined[..., : part.size(-1)].bitwise_xor_(part)
    while (n := joined.size(-1)) > 1:
        half = (n + 1) // 2
        joined[..., : n - half].bitwise_xor_(joined[..., half:])
        joined = joined[..., :half]
    return joined.squeeze(-1)


@method
def hash_tensor(input: Tensor, dim: Any = (), *, keepdim: bool = False, mode: int = 0) -> Tensor:
    """The bits of all elements, as 64-bit numbers, joined by exclusive or along `dim`, or of all: uint64.

    Example::

        >>> ad.hash_tensor(ad.tensor([1, 2, 4]))
        tensor(7, dtype=adjoint.uint64)
    """
    if mode:
        raise RuntimeError(f"hash_tensor: mode must be 0, got {mode}")
    if input.is_complex():
        raise NotImplementedError(f"hash_tensor: not implemented for {input.dtype}")
    dims = [dim] if is_whole(dim) else list(dim or ())
    if not input.numel() and not dims:
        raise RuntimeError("hash_tensor: of no elements, along which `dim` must be said")
    dims = sorted(d % max(input.ndim, 1) for d in dims or range(input.ndim)) if input.ndim else []
    for d in dims:
        if not input.size(d):
            raise IndexError(f"hash_tensor: Expected reduction dim {d} to have non-zero size.")
    rest = [d for d in range(input.ndim) if d not in dims]
    x = input.detach()
    n = math.prod(input.size(d) for d in dims)
    x = x.permute(rest + dims).reshape([input.size(d) for d in rest] + [n]) if rest else x.reshape(-1)
    joined = _core._joined_bits(x.reshape(-1, x.size(-1))) if x.numel() else None
    x = _joined_by_halves(x) if joined is None else joined.reshape(x.shape[:-1])
    shape = [1 if d in dims else n for d, n in enumerate(input.shape)]
    return (x.reshape(shape) if keepdim else x).to(_core.uint64)


@method
def nonzero_static(input: Tensor, *, size: int, fill_value: int = -1) -> Tensor:
    """The first `size` positions of elements other than zero, (size, ndim), with rows of `fill_value` where there are fewer.

    Example::

        >>> ad.nonzero_static(ad.tensor([0, 3]), size=2)
        tensor([[ 1],
                [-1]])
    """
    if size < 0:
        raise RuntimeError(f"nonzero_static: 'size' must be a non-negative integer, got {size}")
    if size == 0:
        return input.new_empty((0, input.ndim), dtype=_core.int64)
    chosen = input.reshape(-1) != 0
    rank = chosen.cumsum(0) - 1
    rank = _core.where(chosen & (rank < size), rank, size)  # all others go to one place more
    nothing = _core.full((size + 1,), -1, dtype=_core.int64, device=input.device)
    at = nothing.scatter(0, rank, _core.arange(chosen.numel(), device=input.device))[:size, None]
    shape = _core.tensor(input.shape, dtype=_core.int64, device=input.device)
    steps = _core.tensor([math.prod(input.shape[d + 1 :]) for d in range(input.ndim)], dtype=_core.int64, device=input.device)
    return _core.where(at < 0, fill_value, at // steps.clamp_min(1) % shape.clamp_min(1))


def _chunk_cat(tensors: Sequence[Tensor], dim: int, num_chunks: int) -> Tensor:
    """Tensors in so many chunks along `dim`, filled with zeros to equal ones, flattened behind it and joined there."""
    return _core._chunk_cat(tensors, dim, num_chunks)


check_all(globals(), out=("hash_tensor", "nonzero_static", "_chunk_cat"))
