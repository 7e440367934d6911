"""The compressed layouts of sparse tensors (CSR, CSC, BSR, BSC): their constructors, and what `Tensor` has for them.

A compressed tensor is a list of positions in row-major order, as a coalesced one of layout `sparse_coo` (core's `sparse.h`); the compressed
and the plain indices are made of it here when they are asked for.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from .. import _core
from .._core import Tensor
from .layouts import BLOCKS, BY_COLUMNS, LAYOUTS, layout, sparse_bsc, sparse_bsr, sparse_coo, sparse_csc, sparse_csr

__all__ = [
    "sparse_bsc_tensor", "sparse_bsr_tensor", "sparse_compressed_tensor", "sparse_csc_tensor", "sparse_csr_tensor",
]  # fmt: skip


def compress(
    x: Tensor, to: layout, blocksize: Sequence[int] | None = None, sparse_dim: int | None = None, int32: bool = False
) -> Tensor:
    """A tensor in a sparse layout."""
    rows, columns = _blocksize(blocksize) if to in BLOCKS else (1, 1)
    return x._to_sparse(sparse_dim, LAYOUTS.index(to) - 1, rows, columns, int32)


def with_parts(x: Tensor, indices: Tensor, values: Tensor) -> Tensor:
    """A sparse tensor as `x`, of other indices and values in the same order."""
    coalesced = not x.is_sparse or x.is_coalesced()
    return _core._sparse_coo_tensor(values, indices, tuple(x.shape), coalesced)._to_sparse(None, *_core._compression(x))


def _blocksize(given: Any) -> tuple[int, int]:
    if not isinstance(given, (tuple, list)) or len(given) != 2 or not all(isinstance(n, int) and n > 0 for n in given):
        raise RuntimeError(f"to_sparse: blocksize must be two positive integers, (rows, columns), got {given!r}")
    return given[0], given[1]


# ---- constructors


def sparse_compressed_tensor(
    compressed_indices: Any,
    plain_indices: Any,
    values: Any,
    size: Sequence[int] | None = None,
    *,
    dtype: Any = None,
    layout: layout,
    device: Any = None,
    pin_memory: bool = False,
    requires_grad: bool = False,
    check_invariants: bool | None = None,
) -> Tensor:
    """A sparse tensor of a compressed layout; gradients flow to `values`.

    Arguments:
        compressed_indices: (batch..., rows + 1): where the values of each row begin in `plain_indices`; of columns for
            ``sparse_csc`` and ``sparse_bsc``; of rows of blocks for those in blocks.
        plain_indices: (batch..., nnz): the column (or row) of each value, or block.
        values: (batch..., nnz, dense dims...), or (batch..., nnz, block rows, block columns, dense dims...).
        size: (batch..., rows, columns, dense dims...); the smallest that holds all positions by default.
        dtype: of the values.
        layout: ``sparse_csr``, ``sparse_csc``, ``sparse_bsr`` or ``sparse_bsc``.
        requires_grad: whether the result is a leaf whose gradient is wanted.
        check_invariants: accepted; positions are always checked. Within a row they are put in order, values at one position add up.

    Raises:
        IndexError: a position lies outside of `size`.
        ShapeError: the indices, `values` and `size` do not fit together.

    Example::

        >>> ad.sparse_compressed_tensor([0, 1, 2], [1, 0], [3.0, 4.0], layout=ad.sparse_csr).to_dense()
        tensor([[0., 3.],
                [4., 0.]])
    """
    if layout not in LAYOUTS[2:]:
        raise RuntimeError(f"sparse_compressed_tensor: expected a compressed layout, as sparse_csr, got {layout}")
    op = f"{str(layout).partition('.')[2]}_tensor"
    compressed, plain = (_indices(op, i) for i in (compressed_indices, plain_indices))
    values = _core.as_tensor(values, dtype=dtype, device=device)
    if requires_grad:
        values = values.detach()
    if min(compressed.ndim, plain.ndim, values.ndim) < 1:
        raise _core.ShapeError(
            f"{op}: indices and values must have a dimension at least, got {compressed}, {plain} and {values}"
        )
    block = _block_of(op, values, plain, layout)
    if size is None:
        size = _smallest(compressed, plain, values, block, layout)
    _check(op, compressed, plain, values, block, tuple(size), layout)
    indices = _coordinates(compressed, plain, layout)
    batches = plain.ndim - 1
    flat = values.flatten(0, batches) if batches else values
    if layout in BLOCKS:
        indices, flat = _elements(indices, block), flat.flatten(0, 2)
    out = _in_order(indices, flat, tuple(size))
    out = compress(out, layout, block, int32=compressed.dtype is _core.int32)
    return out.requires_grad_() if requires_grad else out


def _indices(op: str, given: Any) -> Tensor:
    t = given._alias() if isinstance(given, Tensor) else _core.as_tensor(given)
    if t.numel() == 0 and not isinstance(given, Tensor):
        t = t.to(_core.int64)
    if t.dtype not in (_core.int32, _core.int64):
        raise TypeError(f"{op}: indices must be int32 or int64 tensors, got {t.dtype}")
    return t


def _block_of(op: str, values: Tensor, plain: Tensor, layout: layout) -> tuple[int, int]:
    if layout not in BLOCKS:
        return 1, 1
    if values.ndim < plain.ndim + 2:
        raise _core.ShapeError(
            f"{op}: values must be blocks, (batch..., nnz, rows, columns, dense...), got shape {tuple(values.shape)}"
        )
    return values.shape[plain.ndim], values.shape[plain.ndim + 1]


def _smallest(compressed: Tensor, plain: Tensor, values: Tensor, block: tuple[int, int], layout: layout) -> tuple[int, ...]:
    lines, most = compressed.shape[-1] - 1, int(plain.max()) + 1 if plain.numel() else 0
    rows, columns = (most, lines) if layout in BY_COLUMNS else (lines, most)
    dense = values.shape[plain.ndim + (2 if layout in BLOCKS else 0) :]
    return (*plain.shape[:-1], rows * block[0], columns * block[1], *dense)


def _check(
    op: str, compressed: Tensor, plain: Tensor, values: Tensor, block: tuple[int, int], size: tuple[int, ...], layout: layout
) -> None:
    of, by = ("ccol_indices", "row_indices") if layout in BY_COLUMNS else ("crow_indices", "col_indices")
    batch, n = tuple(plain.shape[:-1]), plain.shape[-1]
    dense = tuple(values.shape[plain.ndim + (2 if layout in BLOCKS else 0) :])
    if compressed.dtype is not plain.dtype:
        raise TypeError(f"{op}: {of} and {by} must have the same dtype, got {compressed.dtype} and {plain.dtype}")
    if tuple(compressed.shape[:-1]) != batch or tuple(values.shape[: plain.ndim]) != (*batch, n):
        shapes = f"{tuple(compressed.shape)}, {tuple(plain.shape)} and {tuple(values.shape)}"
        raise _core.ShapeError(f"{op}: {of}, {by} and values must have the same batches and nnz, got shapes {shapes}")
    if (
        len(size) != len(batch) + 2 + len(dense)
        or size[: len(batch)] != batch
        or size[len(batch) + 2 :] != dense
        or min(size) < 0
    ):
        raise _core.ShapeError(
            f"{op}: size must be (batch..., rows, columns, dense...) for batch {batch} and dense {dense}, got {size}"
        )
    rows, columns = size[len(batch)], size[len(batch) + 1]
    if rows % block[0] or columns % block[1]:
        raise _core.ShapeError(f"{op}: size {size} must be divisible by the blocks, {block}")
    lines, width = rows // block[0], columns // block[1]
    if layout in BY_COLUMNS:
        lines, width = width, lines
    if compressed.shape[-1] != lines + 1:
        raise _core.ShapeError(
            f"{op}: {of}.shape[-1] must be {lines + 1}, one more than compressed lines, got {compressed.shape[-1]}"
        )
    if bool((compressed[..., 0] != 0).any()) or bool((compressed[..., -1] != n).any()):
        raise _core.ShapeError(f"{op}: {of} must begin with 0 and end with nnz, {n}")
    if bool((compressed.diff(dim=-1) < 0).any()):
        raise _core.ShapeError(f"{op}: {of} must not descend")
    if n and bool(((plain < 0) | (plain >= width)).any()):
        raise IndexError(f"{op}: {by} must lie in [0, {width}), got {int(plain.min())} to {int(plain.max())}")


def _coordinates(compressed: Tensor, plain: Tensor, layout: layout) -> Tensor:
    """The positions, (batches + 2, all of them), of values or blocks."""
    lines = compressed.shape[-1] - 1
    counts = compressed.to(_core.int64).diff(dim=-1).reshape(-1)
    line = _core.repeat_interleave(_core.arange(counts.numel(), device=counts.device), counts)
    batch = line // max(lines, 1)
    found = [line % max(lines, 1), plain.to(_core.int64).reshape(-1)]
    if layout in BY_COLUMNS:
        found.reverse()
    for n in reversed(plain.shape[:-1]):
        found.insert(0, batch % n)
        batch = batch // n
    return _core.stack(found)


def _elements(indices: Tensor, block: tuple[int, int]) -> Tensor:
    """The positions of the elements of blocks."""
    batch, at = indices[:-2], indices[-2:]
    inside = _core.stack(_core.meshgrid(_core.arange(block[0]), _core.arange(block[1]), indexing="ij")).reshape(2, 1, -1)
    corner = at * _core.tensor([[block[0]], [block[1]]], device=at.device)
    places = corner.unsqueeze(-1) + inside.to(at.device)
    return _core.cat([batch.unsqueeze(-1).expand(*batch.shape, places.shape[-1]), places]).flatten(1)


def _in_order(indices: Tensor, values: Tensor, size: tuple[int, ...]) -> Tensor:
    """The sparse tensor of these positions; values at one of them add up."""
    key = _key(indices, size)
    if bool((key[1:] > key[:-1]).all()):
        return _core._sparse_coo_tensor(values, indices, size, True)
    order = key.argsort(stable=True)
    key = key[order]
    differ = bool((key[1:] > key[:-1]).all())
    return _core._sparse_coo_tensor(values.index_select(0, order), indices[:, order], size, differ)


def _key(rows: Any, size: Sequence[int]) -> Tensor:
    """The row-major number of each position."""
    key = rows[0]
    for row, n in zip(rows[1:], size[1:], strict=False):
        key = key * n + row
    return key


def sparse_csr_tensor(
    crow_indices: Any, col_indices: Any, values: Any, size: Sequence[int] | None = None, **options: Any
) -> Tensor:
    """A sparse tensor by compressed rows: `sparse_compressed_tensor` of layout ``sparse_csr``, with its options.

    Arguments:
        crow_indices: (batch..., rows + 1), where each of them begins in `col_indices`.
        col_indices: (batch..., nnz).
        values: (batch..., nnz, dense dims...); gradients flow to it.

    Example::

        >>> ad.sparse_csr_tensor([0, 1, 2], [1, 0], [3.0, 4.0]).to_dense()
        tensor([[0., 3.],
                [4., 0.]])
    """
    return sparse_compressed_tensor(crow_indices, col_indices, values, size, layout=sparse_csr, **options)


def sparse_csc_tensor(
    ccol_indices: Any, row_indices: Any, values: Any, size: Sequence[int] | None = None, **options: Any
) -> Tensor:
    """A sparse tensor by compressed columns: `sparse_compressed_tensor` of layout ``sparse_csc``, with its options.

    Arguments:
        ccol_indices: (batch..., columns + 1), where each of them begins in `row_indices`.
        row_indices: (batch..., nnz).
        values: (batch..., nnz, dense dims...); gradients flow to it.

    Example::

        >>> ad.sparse_csc_tensor([0, 1, 2], [1, 0], [3.0, 4.0]).to_dense()
        tensor([[0., 4.],
                [3., 0.]])
    """
    return sparse_compressed_tensor(ccol_indices, row_indices, values, size, layout=sparse_csc, **options)


def sparse_bsr_tensor(
    crow_indices: Any, col_indices: Any, values: Any, size: Sequence[int] | None = None, **options: Any
) -> Tensor:
    """A sparse tensor by compressed rows of blocks: `sparse_compressed_tensor` of layout ``sparse_bsr``, with its options.

    Arguments:
        crow_indices: (batch..., rows of blocks + 1), where each of them begins in `col_indices`.
        col_indices: (batch..., nnz).
        values: (batch..., nnz, block rows, block columns, dense dims...); gradients flow to it.

    Example::

        >>> ad.sparse_bsr_tensor([0, 1], [0], [[[0.0, 3.0], [4.0, 0.0]]]).to_dense()
        tensor([[0., 3.],
                [4., 0.]])
    """
    return sparse_compressed_tensor(crow_indices, col_indices, values, size, layout=sparse_bsr, **options)


def sparse_bsc_tensor(
    ccol_indices: Any, row_indices: Any, values: Any, size: Sequence[int] | None = None, **options: Any
) -> Tensor:
    """A sparse tensor by compressed columns of blocks: `sparse_compressed_tensor` of layout ``sparse_bsc``, with its options.

    Arguments:
        ccol_indices: (batch..., columns of blocks + 1), where each of them begins in `row_indices`.
        row_indices: (batch..., nnz).
        values: (batch..., nnz, block rows, block columns, dense dims...); gradients flow to it.

    Example::

        >>> ad.sparse_bsc_tensor([0, 1], [0], [[[0.0, 3.0], [4.0, 0.0]]]).to_dense()
        tensor([[0., 3.],
                [4., 0.]])
    """
    return sparse_compressed_tensor(ccol_indices, row_indices, values, size, layout=sparse_bsc, **options)


def without_values(*size: Any, layout: layout, dtype: Any = None, device: Any = None, requires_grad: bool = False) -> Tensor:
    """A sparse tensor of zeros."""
    if layout not in (sparse_coo, sparse_csr, sparse_csc):
        raise RuntimeError(f"zeros: not supported for layout {layout}")
    shape = tuple(size[0]) if len(size) == 1 and isinstance(size[0], (tuple, list)) else size
    at, values = _core.zeros(len(shape), 0, dtype=_core.int64, device=device), _core.zeros(0, dtype=dtype, device=device)
    out = compress(_core._sparse_coo_tensor(values, at, shape, True), layout)
    return out.requires_grad_() if requires_grad else out


# ---- what is shown


def _shape_of(x: Tensor) -> tuple[tuple[int, ...], int, int, int, int]:
    """Batches, then rows and columns of blocks, then rows and columns of a block."""
    _, rows, columns, _ = _core._compression(x)
    dims = x._indices().shape[0]
    size = tuple(x.shape)
    return size[: dims - 2], size[dims - 2] // rows, size[dims - 1] // columns, rows, columns


def _blocks(x: Tensor) -> Tensor:
    """The positions of the blocks, (batches + 2, blocks), in row-major order."""
    _, _, _, rows, columns = _shape_of(x)
    at = x._indices()
    if rows * columns == 1:
        return at
    first = at[:, (at[-2] % rows == 0) & (at[-1] % columns == 0)]
    return _core.cat([first[:-2], first[-2:-1] // rows, first[-1:] // columns])


def _compressed_indices(x: Tensor) -> Tensor:
    batch, rows, columns, _, _ = _shape_of(x)
    at = _blocks(x)
    by_columns = x.layout in BY_COLUMNS
    lines, line = (columns, at[-1]) if by_columns else (rows, at[-2])
    counts = _core.bincount(_key([*at[:-2], line], (*batch, lines)), minlength=math.prod(batch) * lines).view(*batch, lines)
    begins = _core.cat([counts.new_zeros(*batch, 1), counts.cumsum(-1)], -1)
    return begins.to(_index_type(x))


def _plain_indices(x: Tensor) -> Tensor:
    batch, rows, columns, _, _ = _shape_of(x)
    at = _blocks(x)
    if x.layout in BY_COLUMNS:
        found = at[-2][_key([*at[:-2], at[-1], at[-2]], (*batch, columns, rows)).argsort()]
    else:
        found = at[-1]
    return found.reshape(*batch, x._nnz()).to(_index_type(x))


def _index_type(x: Tensor) -> Any:
    return _core.int32 if _core._compression(x)[3] else _core.int64


def shown_values(x: Tensor) -> Tensor:
    """The values of a compressed tensor in its order, with their history."""
    batch, rows, columns, r, c = _shape_of(x)
    values, at = x._sparse_values(), x._indices()
    block = (r, c) if x.layout in BLOCKS else ()
    if x.layout is not sparse_csr:
        lines = [(at[-2] // r, rows), (at[-1] // c, columns)]
        if x.layout in BY_COLUMNS:
            lines.reverse()
        places = [*zip(at[:-2], batch, strict=True), *lines, (at[-2] % r, r), (at[-1] % c, c)]
        values = values.index_select(0, _key([p for p, _ in places], [n for _, n in places]).argsort())
    return values.reshape(*batch, x._nnz(), *block, *values.shape[1:]) if batch or block else values


def shown_parts(x: Tensor) -> tuple[Tensor, ...]:
    """The indices and the values of a tensor of any sparse layout, without history."""
    if x.is_sparse:
        return x._indices(), x._values()
    return _compressed_indices(x), _plain_indices(x), shown_values(x._alias())


def _indices_method(name: str, doc: str, of: tuple[layout, ...], get: Any) -> Any:
    def indices(self: Tensor) -> Tensor:
        if self.layout not in of:
            raise RuntimeError(
                f"{name}: expected a tensor of layout {' or '.join(map(str, of))}, got one of layout {self.layout}"
            )
        return get(self)

    indices.__name__, indices.__doc__ = name, doc
    return indices


_BEGINS, _BESIDE = (
    "(batch..., {0} + 1): where the values of each {1} begin.",
    "(batch..., nnz): the {} of each value, or block.",
)
for _name, _doc, _of, _get in (
    ("crow_indices", _BEGINS.format("rows", "row"), (sparse_csr, sparse_bsr), _compressed_indices),
    ("col_indices", _BESIDE.format("column"), (sparse_csr, sparse_bsr), _plain_indices),
    ("ccol_indices", _BEGINS.format("columns", "column"), (sparse_csc, sparse_bsc), _compressed_indices),
    ("row_indices", _BESIDE.format("row"), (sparse_csc, sparse_bsc), _plain_indices),
):
    setattr(Tensor, _name, _indices_method(_name, _doc, _of, _get))


# ---- conversions


def _to_layout(self: Tensor, to: layout, blocksize: Any, dense_dim: int | None) -> Tensor:
    if not _core._is_sparse(self) and self.ndim < 2:
        raise _core.ShapeError(f"to_{str(to).partition('.')[2]}: a matrix is needed at least, got shape {tuple(self.shape)}")
    return compress(self, to, blocksize, None if dense_dim is None else self.ndim - dense_dim)


def _to_sparse_csr(self: Tensor, dense_dim: int | None = None) -> Tensor:
    """In layout ``sparse_csr``: rows compressed. Dimensions before the last two sparse ones are batches of as many values."""
    return _to_layout(self, sparse_csr, None, dense_dim)


def _to_sparse_csc(self: Tensor, dense_dim: int | None = None) -> Tensor:
    """In layout ``sparse_csc``: columns compressed."""
    return _to_layout(self, sparse_csc, None, dense_dim)


def _to_sparse_bsr(self: Tensor, blocksize: Sequence[int], dense_dim: int | None = None) -> Tensor:
    """In layout ``sparse_bsr``: rows of blocks of `blocksize`, (rows, columns), compressed."""
    return _to_layout(self, sparse_bsr, blocksize, dense_dim)


def _to_sparse_bsc(self: Tensor, blocksize: Sequence[int], dense_dim: int | None = None) -> Tensor:
    """In layout ``sparse_bsc``: columns of blocks of `blocksize`, (rows, columns), compressed."""
    return _to_layout(self, sparse_bsc, blocksize, dense_dim)


def _to_sparse_coo(self: Tensor) -> Tensor:
    """The tensor in layout sparse_coo: the same as `to_sparse()`.

    Example::

        >>> ad.eye(2).to_sparse_coo().indices()
        tensor([[0, 1],
                [0, 1]])
    """
    return self.to_sparse()


_to_sparse_coo.__name__ = "to_sparse_coo"
Tensor.to_sparse_csr, Tensor.to_sparse_csc, Tensor.to_sparse_coo = _to_sparse_csr, _to_sparse_csc, _to_sparse_coo
Tensor.to_sparse_bsr, Tensor.to_sparse_bsc = _to_sparse_bsr, _to_sparse_bsc
Tensor.is_sparse_csr = property(lambda self: self.layout is sparse_csr, doc="Whether the layout is ``sparse_csr``.")
