"""`nested`: batches of tensors of different sizes, without padding. See `NestedTensor`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import adjoint_core as core
from adjoint_core import Tensor, dtype, jagged, strided
from adjoint_core import layout as Layout

from .calls import is_batch
from .tensor import NestedTensor, offsets_of

__all__ = [
    "as_nested_tensor", "masked_select", "narrow", "nested_tensor", "nested_tensor_from_jagged", "to_padded_tensor",
]  # fmt: skip


def _known(name: str, layout: Layout | None) -> Layout:
    layout = layout or strided
    if layout not in (strided, jagged):
        raise RuntimeError(f"{name}: Specified layout is unsupported for nested tensors: {layout}; it is strided or jagged")
    return layout


def _batch(name: str, pieces: list[Tensor], layout: Layout) -> NestedTensor:
    if len({x.ndim for x in pieces}) > 1:
        raise RuntimeError(f"{name}: all tensors must have as many dimensions, got {[x.ndim for x in pieces]}")
    if layout is strided:
        return NestedTensor.of_pieces(pieces)
    if not pieces or pieces[0].ndim == 0:
        raise RuntimeError(f"{name}: the layout jagged takes at least one tensor, of at least one dimension")
    ragged = [d for d in range(pieces[0].ndim) if len({x.shape[d] for x in pieces}) > 1] or [0]
    if len(ragged) > 1:
        raise RuntimeError(
            f"{name}: pieces of the layout jagged differ in one dimension, got shapes {[tuple(x.shape) for x in pieces]}"
        )
    lengths = [x.shape[ragged[0]] for x in pieces]
    return NestedTensor.of_row(core.cat(pieces, ragged[0]), ragged[0], offsets_of(lengths, pieces[0].device))


def nested_tensor(
    tensor_list: Sequence[Any],
    *,
    dtype: dtype | None = None,
    layout: Layout | None = None,
    device: Any = None,
    requires_grad: bool = False,
    pin_memory: bool = False,
) -> NestedTensor:
    """A batch with copies of tensors, or of what makes tensors; without their history.

    Arguments:
        tensor_list: one piece each, of as many dimensions.
        layout: `strided`, for pieces of any shapes, or `jagged`, for those that differ in one dimension: they lie in a row.

    Raises:
        RuntimeError: the pieces do not fit the layout.

    Example::

        >>> x = ad.nested.nested_tensor([ad.ones(2), ad.ones(3)], layout=ad.jagged)
        >>> (x * 2).sum(1)
        tensor([4., 6.])
    """
    made = [core.as_tensor(x, dtype=dtype, device=device).detach().clone() for x in tensor_list]
    batch = _batch("nested_tensor", [x.pin_memory() for x in made] if pin_memory else made, _known("nested_tensor", layout))
    return batch.requires_grad_(requires_grad)


def as_nested_tensor(
    ts: Tensor | Sequence[Tensor], dtype: dtype | None = None, device: Any = None, layout: Layout | None = None
) -> NestedTensor:
    """A batch of tensors, with their history: derivatives reach them. A tensor's pieces are its rows.

    Raises:
        TypeError: something else than tensors.
        RuntimeError: the pieces do not fit the layout.

    Example::

        >>> a = ad.ones(2, requires_grad=True)
        >>> (ad.nested.as_nested_tensor([a, ad.ones(3)]) * 3).values().sum().backward()
        >>> a.grad
        tensor([3., 3.])
    """
    if is_batch(ts) and _known("as_nested_tensor", layout) is ts.layout:  # type: ignore[union-attr]
        return ts.to(dtype=dtype or ts.dtype, device=device or ts.device)  # type: ignore[union-attr, return-value]
    if not isinstance(ts, (Tensor, list, tuple)) or not all(isinstance(t, Tensor) for t in ts):
        raise TypeError(
            f"as_nested_tensor(): Expected first argument to be a tensor or a list / tuple of tensors, got {type(ts).__name__}"
        )
    pieces = [t.to(dtype=dtype or t.dtype, device=device or t.device) for t in ts]
    return _batch("as_nested_tensor", pieces, _known("as_nested_tensor", layout))


def nested_tensor_from_jagged(
    values: Tensor,
    offsets: Tensor | None = None,
    lengths: Tensor | None = None,
    jagged_dim: int | None = None,
    min_seqlen: int | None = None,
    max_seqlen: int | None = None,
) -> NestedTensor:
    """The batch whose pieces lie in ``values`` one after another, which it shares memory with.

    Arguments:
        offsets: where each piece begins and the last one ends, (batch + 1,) whole numbers.
        lengths: how long they are, (batch,): by themselves, or with offsets where they do not fill their places.
        jagged_dim: the ragged dimension of the batch, 1 by default.
        min_seqlen, max_seqlen: the lengths of the shortest and the longest piece; taken for PyTorch's sake, nothing here needs them.

    Raises:
        RuntimeError: neither offsets nor lengths, or two of them that do not fit.

    Example::

        >>> x = ad.nested.nested_tensor_from_jagged(ad.arange(5.0), ad.tensor([0, 2, 5]))
        >>> [piece.tolist() for piece in x]
        [[0.0, 1.0], [2.0, 3.0, 4.0]]
    """
    at = 0 if jagged_dim is None else jagged_dim - 1
    if not 0 <= at < max(values.ndim, 1):
        raise RuntimeError(f"nested_tensor_from_jagged: jagged_dim must be in [1, {values.ndim}], got {jagged_dim}")
    if offsets is None:
        if lengths is None:
            raise RuntimeError("nested_tensor_from_jagged(): At least one of offsets or lengths is required.")
        offsets, lengths = core.cat([lengths.new_zeros(1), lengths.cumsum(0)]), None
    if lengths is not None and len(lengths) != len(offsets) - 1:
        raise RuntimeError(
            f"nested_tensor_from_jagged: lengths must have an element less than offsets, got {len(lengths)} and {len(offsets)}"
        )
    return NestedTensor.of_row(values, at, offsets, lengths)


def narrow(
    tensor: Tensor, dim: int, start: int | Tensor, length: int | Tensor, layout: Layout | None = strided
) -> NestedTensor:
    """The batch of pieces of the rows of a tensor, each of its own start and length along ``dim``, which must be 1.

    Raises:
        RuntimeError: another ``dim``, or rows that are shorter than their pieces.

    Example::

        >>> x = ad.nested.narrow(ad.arange(6.0).view(2, 3), 1, ad.tensor([0, 1]), ad.tensor([1, 2]))
        >>> [piece.tolist() for piece in x]
        [[0.0], [4.0, 5.0]]
    """
    if dim != 1:
        raise RuntimeError(f"narrow: only dim=1 is supported for nested tensors, got {dim}")
    n, whole = tensor.shape[:2]
    starts = [start] * n if isinstance(start, int) else start.tolist()
    lengths = [length] * n if isinstance(length, int) else length.tolist()
    if any(s < 0 or k < 0 or s + k > whole for s, k in zip(starts, lengths, strict=True)):
        raise RuntimeError(f"narrow: start and start + length must lie in [0, {whole}], got {starts} and lengths {lengths}")
    if _known("narrow", layout) is strided:
        return NestedTensor.of_pieces([row.narrow(0, s, k) for row, s, k in zip(tensor, starts, lengths, strict=True)])
    first = core.tensor(
        [i * whole + s for i, s in enumerate(starts)] + [(n - 1) * whole + starts[-1] + lengths[-1]], device=tensor.device
    )
    return NestedTensor.of_row(tensor.flatten(0, 1), 0, first, core.tensor(lengths, device=tensor.device))


def masked_select(tensor: Tensor, mask: Tensor) -> NestedTensor:
    """The elements of each row for which ``mask`` is true, (batch, n): a jagged batch.

    Raises:
        RuntimeError: the layouts are not strided, or the mask does not broadcast.

    Example::

        >>> x = ad.nested.masked_select(ad.arange(4.0).view(2, 2), ad.tensor([[True, False], [True, True]]))
        >>> [piece.tolist() for piece in x]
        [[0.0], [2.0, 3.0]]
    """
    if tensor.layout is not strided or mask.layout is not strided:
        raise RuntimeError(f"masked_select requires a strided tensor and mask, got layouts {tensor.layout} and {mask.layout}")
    mask = mask.expand_as(tensor)
    counts = mask.flatten(1).sum(1) if mask.ndim > 1 else mask.to(core.int64)
    return NestedTensor.of_row(tensor.masked_select(mask), 0, core.cat([counts.new_zeros(1), counts.cumsum(0)]))


def to_padded_tensor(input: NestedTensor, padding: float, output_size: Sequence[int] | None = None) -> Tensor:
    """One tensor, in which smaller pieces are followed by ``padding``.

    Raises:
        RuntimeError: ``output_size`` is smaller than a piece.

    Example::

        >>> ad.nested.to_padded_tensor(ad.nested.nested_tensor([[1, 2], [3]]), 0)
        tensor([[1, 2],
                [3, 0]])
    """
    return input.to_padded_tensor(padding, output_size)
