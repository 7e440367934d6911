"""Sequences of different lengths packed for recurrent layers: step after step, the elements of the sequences that last that long."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import adjoint_core as core
from adjoint_core import Tensor

from .sequences import pad_sequence, unpad_sequence

__all__ = [
    "PackedSequence", "invert_permutation", "pack_padded_sequence", "pack_sequence", "pad_packed_sequence", "unpack_sequence",
]  # fmt: skip


class _Packed(NamedTuple):
    data: Tensor
    batch_sizes: Tensor
    sorted_indices: Tensor | None
    unsorted_indices: Tensor | None


class PackedSequence(_Packed):
    """What ``pack_padded_sequence`` gives and recurrent layers take: the longest sequence first.

    ``data`` is (sum of lengths, ...), ``batch_sizes`` says how many sequences last each step, ``sorted_indices`` which one stands
    where, and ``unsorted_indices`` is the inverse; both are None for sequences that came in order.

    Example::

        >>> packed = ad.nn.utils.rnn.pack_sequence([ad.tensor([1, 2, 3]), ad.tensor([4])])
        >>> packed.data, packed.batch_sizes
        (tensor([1, 4, 2, 3]), tensor([2, 1, 1]))
    """

    def __new__(
        cls,
        data: Tensor,
        batch_sizes: Tensor,
        sorted_indices: Tensor | None = None,
        unsorted_indices: Tensor | None = None,
    ) -> PackedSequence:
        if unsorted_indices is None:
            unsorted_indices = invert_permutation(sorted_indices)
        return super().__new__(cls, data, batch_sizes, sorted_indices, unsorted_indices)

    @property
    def is_cuda(self) -> bool:
        """Whether the elements are on a GPU."""
        return bool(self.data.is_cuda)

    def to(self, *args: Any, **kwargs: Any) -> PackedSequence:
        """With ``data.to(...)``; the order goes along to the device."""
        data = self.data.to(*args, **kwargs)
        order = (None if t is None else t.to(data.device) for t in (self.sorted_indices, self.unsorted_indices))
        return PackedSequence(data, self.batch_sizes, *order)

    def cpu(self) -> PackedSequence:
        """On the CPU."""
        return self.to("cpu")

    def cuda(self, device: Any = "cuda") -> PackedSequence:
        """On a GPU."""
        return self.to(device)

    def is_pinned(self) -> bool:
        """Whether the elements are in page-locked memory."""
        return bool(self.data.is_pinned())

    def pin_memory(self) -> PackedSequence:
        """In page-locked memory, from which copies to a GPU need not wait."""
        order = (None if t is None else t.pin_memory() for t in (self.sorted_indices, self.unsorted_indices))
        return PackedSequence(self.data.pin_memory(), self.batch_sizes, *order)

    def double(self) -> PackedSequence:
        """With elements of double precision."""
        return self.to(core.float64)

    def float(self) -> PackedSequence:
        """With elements of single precision."""
        return self.to(core.float32)

    def half(self) -> PackedSequence:
        """With elements of half precision."""
        return self.to(core.float16)

    def long(self) -> PackedSequence:
        """With elements of type int64."""
        return self.to(core.int64)

    def int(self) -> PackedSequence:
        """With elements of type int32."""
        return self.to(core.int32)

    def short(self) -> PackedSequence:
        """With elements of type int16."""
        return self.to(core.int16)

    def char(self) -> PackedSequence:
        """With elements of type int8."""
        return self.to(core.int8)

    def byte(self) -> PackedSequence:
        """With elements of type uint8."""
        return self.to(core.uint8)


def invert_permutation(permutation: Tensor | None) -> Tensor | None:
    """The inverse of a permutation; None is the one that moves nothing.

    Example::

        >>> invert_permutation(ad.tensor([2, 0, 1]))
        tensor([1, 2, 0])
    """
    return None if permutation is None else permutation.argsort()


def _places(counts: Sequence[int], batch: int) -> Tensor:
    """Where the packed elements stand among (steps · batch)."""
    return core.tensor([t * batch + k for t, n in enumerate(counts) for k in range(n)])


def pack_padded_sequence(
    input: Tensor, lengths: Tensor | Sequence[int], batch_first: bool = False, enforce_sorted: bool = True
) -> PackedSequence:
    """Packs padded sequences, (T, B, ...) or with ``batch_first`` (B, T, ...).

    Arguments:
        input: what follows the length of a sequence is left out.
        lengths: of the B sequences, at least 1.
        enforce_sorted: they must come with the longest first; otherwise they are put in order.

    Raises:
        RuntimeError: no elements, another number of lengths, a length that is not in [1, T], or lengths out of order.

    Example::

        >>> x = ad.tensor([[1, 2, 0], [3, 0, 0], [4, 5, 6]])
        >>> packed = ad.nn.utils.rnn.pack_padded_sequence(x, [2, 1, 3], batch_first=True, enforce_sorted=False)
        >>> packed.data, packed.batch_sizes
        (tensor([4, 1, 3, 5, 2, 6]), tensor([3, 2, 1]))
    """
    name = "pack_padded_sequence"
    if input.numel() == 0:
        raise RuntimeError(f"{name}: Cannot pack empty tensors.")
    x = input.transpose(0, 1) if batch_first else input
    given = core.as_tensor(lengths, dtype=core.int64)
    if given.dim() != 1:
        raise RuntimeError(
            f"{name}: 'lengths' argument should be a 1D CPU int64 tensor, but got {given.dim()}D {given.device.type} Long tensor"
        )
    sizes: list[Any] = given.tolist()
    if len(sizes) != x.size(1):
        raise RuntimeError(
            f"{name}: Expected `len(lengths)` to be equal to batch_size, but got {len(sizes)} (batch_size={x.size(1)})"
        )
    if min(sizes) <= 0:
        raise RuntimeError(
            f"{name}: Length of all samples has to be greater than 0, but found an element in 'lengths' that is <= 0"
        )
    if max(sizes) > x.size(0):
        raise RuntimeError(f"{name}: lengths must be at most the number of steps {x.size(0)}, got {max(sizes)}")
    order = None
    if not enforce_sorted:
        places = sorted(range(len(sizes)), key=lambda k: -sizes[k])
        sizes = [sizes[k] for k in places]
        order = core.tensor(places, device=input.device)
        x = x.index_select(1, order)
    if sizes != sorted(sizes, reverse=True):
        raise RuntimeError(
            f"{name}: `lengths` array must be sorted in decreasing order when `enforce_sorted` is True. You can pass "
            "`enforce_sorted=False` to pack_padded_sequence and/or pack_sequence to sidestep this requirement if you do not need "
            "ONNX exportability."
        )
    counts = [sum(n > t for n in sizes) for t in range(sizes[0])]
    data = x.flatten(0, 1).index_select(0, _places(counts, x.size(1)).to(input.device))
    return PackedSequence(data, core.tensor(counts), order)


def pad_packed_sequence(
    sequence: PackedSequence, batch_first: bool = False, padding_value: float = 0.0, total_length: int | None = None
) -> tuple[Tensor, Tensor]:
    """The padded sequences, (T, B, ...) or with ``batch_first`` (B, T, ...), in the order in which they were packed, and their lengths.

    Raises:
        ValueError: ``total_length``, the T to pad to, is below the longest sequence.

    Example::

        >>> rnn = ad.nn.utils.rnn
        >>> x, lengths = rnn.pad_packed_sequence(rnn.pack_sequence([ad.ones(2), ad.ones(1)]), batch_first=True)
        >>> x, lengths
        (tensor([[1., 1.],
                [1., 0.]]), tensor([2, 1]))
    """
    counts: list[int] = sequence.batch_sizes.tolist()
    steps, batch, data = len(counts), counts[0], sequence.data
    if total_length is not None:
        if total_length < steps:
            raise ValueError(
                "Expected total_length to be at least the length of the longest sequence in input, but got "
                f"total_length={total_length} and max sequence length being {steps}"
            )
        steps = total_length
    empty = core.full((steps * batch, *data.shape[1:]), padding_value, dtype=data.dtype, device=data.device)
    x = empty.index_copy(0, _places(counts, batch).to(data.device), data).unflatten(0, (steps, batch))
    lengths = core.tensor([sum(n > k for n in counts) for k in range(batch)])
    x = x.transpose(0, 1) if batch_first else x
    if sequence.unsorted_indices is not None:  # the result lies without gaps, as programs expect that view it
        x, lengths = (
            x.index_select(0 if batch_first else 1, sequence.unsorted_indices),
            lengths[sequence.unsorted_indices.cpu()],
        )
    return x, lengths


def pack_sequence(sequences: Sequence[Tensor], enforce_sorted: bool = True) -> PackedSequence:
    """Packs sequences (L_i, ...) of different lengths; see ``pack_padded_sequence``.

    Example::

        >>> ad.nn.utils.rnn.pack_sequence([ad.tensor([1, 2, 3]), ad.tensor([4])]).data
        tensor([1, 4, 2, 3])
    """
    return pack_padded_sequence(pad_sequence(sequences), [x.size(0) for x in sequences], enforce_sorted=enforce_sorted)


def unpack_sequence(packed_sequences: PackedSequence) -> list[Tensor]:
    """The sequences that were packed.

    Example::

        >>> rnn = ad.nn.utils.rnn
        >>> rnn.unpack_sequence(rnn.pack_sequence([ad.tensor([1, 2, 3]), ad.tensor([4])]))
        [tensor([1, 2, 3]), tensor([4])]
    """
    return unpad_sequence(*pad_packed_sequence(packed_sequences, batch_first=True), batch_first=True)
