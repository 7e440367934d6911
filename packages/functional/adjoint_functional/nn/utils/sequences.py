"""Sequences of different lengths as one padded tensor, and back."""

from __future__ import annotations

from collections.abc import Sequence

import adjoint_core as core
from adjoint_core import Tensor

from .. import functional as F

__all__ = ["pad_sequence", "unpad_sequence"]


def pad_sequence(
    sequences: Tensor | Sequence[Tensor], batch_first: bool = False, padding_value: float = 0.0, padding_side: str = "right"
) -> Tensor:
    """Stacks sequences (L_i, ...) of different lengths into (max L, N, ...), or (N, max L, ...) if ``batch_first``.

    Arguments:
        sequences: tensors that agree in all dimensions but the first.
        padding_value: what follows shorter sequences.
        padding_side: "right", or "left": what stands before them.

    Raises:
        RuntimeError: no sequences, or another side.

    Example::

        >>> ad.nn.utils.rnn.pad_sequence([ad.ones(2), ad.ones(3)], batch_first=True, padding_value=-1.0)
        tensor([[ 1.,  1., -1.],
                [ 1.,  1.,  1.]])
    """
    if padding_side not in ("left", "right"):
        raise RuntimeError(f"pad_sequence: Expected padding_side to be one of left or right, but got {padding_side}.")
    listed = list(sequences)
    if not listed:
        raise RuntimeError("pad_sequence: received an empty list of sequences")
    longest = max(x.size(0) for x in listed)
    padded = []
    for x in listed:
        missing = longest - x.size(0)
        widths = (missing, 0) if padding_side == "left" else (0, missing)
        padded.append(F.pad(x, (*(0, 0) * (x.dim() - 1), *widths), value=padding_value) if missing else x)
    return core.stack(padded, 0 if batch_first else 1)


def unpad_sequence(padded_sequences: Tensor, lengths: Tensor | Sequence[int], batch_first: bool = False) -> list[Tensor]:
    """The sequences, without what follows their lengths: views of the padded tensor.

    Example::

        >>> [x.tolist() for x in ad.nn.utils.rnn.unpad_sequence(ad.ones(3, 2), [1, 2])]
        [[1.0], [1.0, 1.0]]
    """
    rows = padded_sequences if batch_first else padded_sequences.transpose(0, 1)
    return [row[: int(n)] for row, n in zip(rows.unbind(0), lengths, strict=True)]
