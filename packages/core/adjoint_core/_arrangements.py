"""Shapes, joins, index tables and selections made of other operations."""

from __future__ import annotations

import builtins
import itertools
from collections.abc import Callable, Sequence
from typing import Any

from . import _core
from ._compose import check_all, inplace_method, method
from ._core import Tensor

__all__ = [
    "as_strided_scatter", "block_diag", "cartesian_prod", "combinations", "dsplit", "expand_copy", "hsplit", "index_reduce", "msort", "put", "range", "renorm", "tril_indices",
    "triu_indices", "unique_consecutive", "unravel_index", "unsafe_chunk", "unsafe_split", "unsafe_split_with_sizes", "vander", "view_copy", "vsplit",
]  # fmt: skip


# ---- tables


def combinations(input: Tensor, r: int = 2, with_replacement: bool = False) -> Tensor:
    """All ways to take r elements of a vector in order, as rows.

    Example: `combinations(tensor([1, 2, 3]))  # tensor([[1, 2], [1, 3], [2, 3]])`
    """
    choose = itertools.combinations_with_replacement if with_replacement else itertools.combinations
    rows = list(choose(builtins.range(input.size(0)), r))
    at = _core.tensor(rows, dtype=_core.int64).reshape(-1, r)
    return input[_core._cuda.uploaded(at, input.device)]


def cartesian_prod(*tensors: Tensor) -> Tensor:
    """All tuples of elements of the given vectors, as rows."""
    if len(tensors) == 1:
        return tensors[0].view(-1)
    return _core.stack([x.reshape(-1) for x in _core.meshgrid(*tensors, indexing="ij")], 1)


def _triangle(keep: Callable[[Tensor, int], Tensor], row: int, col: int, offset: int, dtype: Any, device: Any) -> Tensor:
    inside = keep(_core.ones(row, col, dtype=_core.bool), offset)
    places = inside.nonzero().T.contiguous().to(dtype or _core.int64)
    return _core._cuda.uploaded(places, _core.device(device or "cpu"))


def tril_indices(row: int, col: int, offset: int = 0, *, dtype: Any = None, device: Any = None) -> Tensor:
    """The (2, n) positions of the lower triangle of a (row, col) matrix, row by row."""
    return _triangle(_core.tril, row, col, offset, dtype, device)


def triu_indices(row: int, col: int, offset: int = 0, *, dtype: Any = None, device: Any = None) -> Tensor:
    """The (2, n) positions of the upper triangle of a (row, col) matrix, row by row.

    Example: `triu_indices(2, 2)  # tensor([[0, 0, 1], [0, 1, 1]])`
    """
    return _triangle(_core.triu, row, col, offset, dtype, device)


def vander(x: Tensor, N: int | None = None, increasing: bool = False) -> Tensor:  # noqa: N803
    """The powers of a vector as columns, from the highest down unless `increasing`."""
    powers = _core.arange(x.size(0) if N is None else N, device=x.device)
    return x.unsqueeze(-1) ** (powers if increasing else powers.flip(0))


def unravel_index(indices: Tensor, shape: int | Sequence[int]) -> tuple[Tensor, ...]:
    """Positions in a flat array as one index for each dimension of `shape`."""
    if indices.is_floating_point() or indices.is_complex() or indices.dtype is _core.bool:
        raise TypeError(f"expected 'indices' to be integer dtype, but got {indices.dtype}")
    if not isinstance(shape, (int, tuple, list)):
        raise TypeError(f"expected 'shape' to be int or sequence of ints, but got {type(shape)}")
    sizes = (shape,) if isinstance(shape, int) else tuple(shape)
    for n in sizes:
        if not isinstance(n, int):
            raise TypeError(f"expected 'shape' sequence to only contain ints, but got {type(n)}")
    if any(n < 0 for n in sizes):
        raise ValueError(f"'shape' cannot have negative values, but got {sizes}")
    out, indices = [], indices.long()  # sizes may be above what a small type holds
    for n in reversed(sizes):
        out.append(indices % n)
        indices = indices // n
    return tuple(reversed(out))


def range(start: float, end: float | None = None, step: float = 1, *, dtype: Any = None, **options: Any) -> Tensor:
    """Values from `start` to `end`, with `end`: `arange` is the usual one."""
    first, last = (0, start) if end is None else (start, end)
    n = int((last - first) / step) + 1
    return _core.arange(0, n, dtype=dtype or _core.get_default_dtype(), **options) * step + first


# ---- pieces and joins


def _splits(name: str, dim: int, least: int) -> Callable[[Tensor, int | Sequence[int]], tuple[Tensor, ...]]:
    def split(input: Tensor, indices_or_sections: int | Sequence[int]) -> tuple[Tensor, ...]:
        if input.ndim < least:
            raise RuntimeError(
                f"{name} requires a tensor with at least {least} dimension, but got a tensor with {input.ndim} dimensions!"
            )
        along = 0 if input.ndim == 1 else dim
        n = indices_or_sections
        if isinstance(n, int) and (n <= 0 or input.size(along) % n):
            raise RuntimeError(
                f"{name} attempted to split along dimension {along}, but the size of the dimension {input.size(along)} is not divisible by the split_size {n}!"
            )
        return _core.tensor_split(input, n, along)

    split.__name__ = name
    split.__doc__ = f"Views of the pieces along dimension {dim}, as `tensor_split` makes them."
    return method(split)


hsplit = _splits("hsplit", 1, 1)
vsplit = _splits("vsplit", 0, 2)
dsplit = _splits("dsplit", 2, 3)


def block_diag(*tensors: Tensor) -> Tensor:
    """A matrix with the given matrices along its diagonal and zeros elsewhere."""
    blocks = [x.reshape(1, -1) if x.ndim < 2 else x for x in tensors]
    width = sum(x.size(1) for x in blocks)
    rows, left = [], 0
    for x in blocks:
        rows.append(_core._pad(x, [0, left], [0, width - left - x.size(1)], 0.0))
        left += x.size(1)
    return _core.cat(rows)


@method
def msort(input: Tensor) -> Tensor:
    """Sorted along the first dimension."""
    return input.sort(0).values


@method
def sum_to_size(self: Tensor, *size: Any) -> Tensor:
    """Sums over what was broadcast from `size`: the reverse of `expand`."""
    target = list(size[0]) if len(size) == 1 and not isinstance(size[0], int) else list(size)
    extra = self.ndim - len(target)
    if extra < 0 or any(n not in (1, m) for n, m in zip(target, self.shape[extra:])):
        raise RuntimeError(f"size {target} is not expandable to size {list(self.shape)}.")
    dims = [d for d, m in enumerate(self.shape) if d < extra or (target[d - extra] == 1 and m != 1)]
    return self.sum(dims).reshape(target) if dims else self


# ---- values by position


def _expect_puttable(x: Tensor, index: Tensor, source: Tensor) -> None:
    for name, position, value in (("index", 1, index), ("source", 2, source)):
        if not isinstance(value, Tensor):
            raise TypeError(f"put_(): argument '{name}' (position {position}) must be Tensor, not {type(value).__name__}")
    if index.dtype != _core.int64:
        raise RuntimeError(f"put_(): Expected a long tensor for index, but got {index.dtype}")
    if x.dtype != source.dtype:
        raise RuntimeError(
            f"put_(): self and source expected to have the same dtype, but got self.dtype = {x.dtype} and source.dtype = {source.dtype}"
        )
    if source.numel() != index.numel():
        raise IndexError(
            "put_(): Expected source and index to have the same number of elements, "
            f"but got source.numel() = {source.numel()}, index.numel() = {index.numel()}"
        )
    if x.numel() == 0 and index.numel() > 0:
        raise IndexError("put_(): Tried to put elements into an empty tensor")


@method
def put(input: Tensor, index: Tensor, source: Tensor, accumulate: bool = False) -> Tensor:
    """`input`, seen as a vector, with source at `index`."""
    _expect_puttable(input, index, source)
    return input.reshape(-1).index_put((index.reshape(-1),), source.reshape(-1), accumulate).reshape(input.shape)


@method
def put_(self: Tensor, index: Tensor, source: Tensor, accumulate: bool = False) -> Tensor:
    """The in-place form of `put`: where the tensor is contiguous, only what is written is touched."""
    if not self.is_contiguous():
        return self.copy_(put(self.clone(), index, source, accumulate))
    _expect_puttable(self, index, source)
    self.view(-1).index_put_((index.reshape(-1),), source.reshape(-1), accumulate)
    return self


@inplace_method
def index_reduce(input: Tensor, dim: int, index: Tensor, source: Tensor, reduce: str, *, include_self: bool = True) -> Tensor:
    """Row i of `source` along `dim` is reduced ("prod", "mean", "amax", "amin") into row index[i] of `input`."""
    if reduce not in ("prod", "mean", "amax", "amin"):
        raise RuntimeError(f"index_reduce(): Expected reduce to be one of prod, mean, amax or amin but got {reduce}.")
    if input.ndim == 0:
        row = index_reduce(input.reshape(1), dim, index.reshape(1), source.reshape(1), reduce, include_self=include_self)
        return row.reshape(())
    shape = [1] * source.ndim
    shape[dim] = -1
    return input.scatter_reduce(dim, index.view(shape).expand_as(source), source, reduce, include_self=include_self)


@inplace_method
def renorm(input: Tensor, p: float, dim: int, maxnorm: float) -> Tensor:
    """Slices along `dim` whose p-norm is above `maxnorm` are scaled down to it."""
    if input.ndim < 2:
        raise RuntimeError(f"renorm: input needs at least 2 dimensions, got {input.ndim} dimensions")
    if maxnorm < 0:
        raise RuntimeError(f"renorm: expected maxnorm to be >= 0 but got {maxnorm}")
    if isinstance(p, complex) or p <= 0:
        raise RuntimeError(f"renorm: non-positive-norm not supported, got {p}")
    others = [d for d, _ in enumerate(input.shape) if d != dim % input.ndim]
    norm = _core._vector_norm(input, p, others, True, None)
    return input * _core.where(norm > maxnorm, maxnorm / (norm + 1e-7), 1.0)


@method
def unique_consecutive(input: Tensor, return_inverse: bool = False, return_counts: bool = False, dim: int | None = None) -> Any:
    """One of each run of equal elements, or of equal slices along `dim`.

    Example: `unique_consecutive(tensor([1, 1, 2, 1]))  # tensor([1, 2, 1])`
    """
    x, along = (input.reshape(-1), 0) if dim is None else (input, dim)
    rows = x.detach().movedim(along, 0)
    rows = rows.flatten(1) if rows.ndim > 1 else rows.unsqueeze(1)
    starts = _core.cat([_core.ones(min(1, rows.size(0)), dtype=_core.bool), (rows[1:] != rows[:-1]).any(1)])
    at = starts.nonzero().reshape(-1)
    values = x.index_select(along, at)
    out = [values]
    if return_inverse:
        inverse = starts.cumsum(0) - 1
        out.append(inverse.reshape(input.shape) if dim is None else inverse)
    if return_counts:
        out.append(_core.cat([at, _core.tensor([rows.size(0)])]).diff())
    return tuple(out) if len(out) > 1 else values


def _unique_slices(input: Tensor, return_inverse: bool, return_counts: bool, dim: int) -> Any:
    """The distinct slices along `dim` in lexicographic order: `unique` with a dim."""
    rows = input.detach().movedim(dim, 0).reshape(input.size(dim), -1)
    order = _core.arange(rows.size(0), device=input.device)
    for column in reversed(rows.unbind(1)):
        order = order[column[order].argsort(stable=True)]
    values, inverse, counts = unique_consecutive(input.index_select(dim, order), True, True, dim)
    inverse = _core.empty_like(inverse).scatter(0, order, inverse)
    out = (values, *([inverse] if return_inverse else []), *([counts] if return_counts else []))
    return out if len(out) > 1 else values


# ---- other names: views that are always copies, cuts without the bookkeeping of views


def expand_copy(input: Tensor, size: Sequence[int]) -> Tensor:
    """`expand` into new memory."""
    return input.expand(size).clone()


def view_copy(input: Tensor, size: Any) -> Tensor:
    """`view`, of other sizes or as another type, into new memory."""
    return input.view(size).clone()


@method
def as_strided_scatter(
    input: Tensor, src: Tensor, size: Sequence[int], stride: Sequence[int], storage_offset: int | None = None
) -> Tensor:
    """A copy of the input in which `src` stands where `as_strided` with these arguments looks.

    Example: `as_strided_scatter(zeros(2, 2), ones(2), (2,), (3,))  # tensor([[1., 0.], [0., 1.]])`
    """
    y = input.clone()
    y.as_strided(size, stride, storage_offset).copy_(src)
    return y


def _copying(name: str) -> None:
    view = getattr(_core, name)

    def copy(*args: Any, **kwargs: Any) -> Any:
        y = view(*args, **kwargs)
        return tuple(x.clone() for x in y) if isinstance(y, tuple) else y.clone()

    copy.__name__ = name + "_copy"
    copy.__doc__ = f"`{name}` into new memory."
    _add(copy)


def _add(f: Callable[..., Any], *names: str) -> None:
    for name in names or (f.__name__,):
        globals()[name] = f
        __all__.append(name)


for _name in (
    "as_strided", "diagonal", "narrow", "permute", "select", "split", "split_with_sizes", "squeeze", "t", "transpose", "unbind",
    "unfold", "unsqueeze", "view_as_complex", "view_as_real",
):  # fmt: skip
    _copying(_name)
method(globals()["narrow_copy"])


@method
def unsafe_split_with_sizes(input: Tensor, split_sizes: Sequence[int], dim: int = 0) -> tuple[Tensor, ...]:
    """`split_with_sizes` in pieces that may be written in place."""
    ends = itertools.accumulate(split_sizes)
    return tuple(input.narrow(dim, end - n, n) for end, n in zip(ends, split_sizes))


@method
def unsafe_split(input: Tensor, split_size: int | Sequence[int], dim: int = 0) -> tuple[Tensor, ...]:
    """`split` in pieces that may be written in place."""
    return unsafe_split_with_sizes(input, [y.size(dim) for y in input.detach().split(split_size, dim)], dim)


@method
def unsafe_chunk(input: Tensor, chunks: int, dim: int = 0) -> tuple[Tensor, ...]:
    """`chunk` in pieces that may be written in place."""
    return unsafe_split_with_sizes(input, [y.size(dim) for y in input.detach().chunk(chunks, dim)], dim)


check_all(globals(), out=[name for name in __all__ if name.endswith("_copy")] + ["index_reduce", "msort", "range", "renorm"])
