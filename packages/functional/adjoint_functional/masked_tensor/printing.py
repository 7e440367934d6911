"""Masked tensors as text: `--` where nothing is."""

from __future__ import annotations

from adjoint_core import Tensor

__all__ = ["text"]


def _number(value: float | int | bool) -> str:
    return f"{value:8.4f}" if isinstance(value, float) else str(value)


def _rows(data: Tensor, mask: Tensor) -> str:
    if data.dim() == 1:
        told = [(_number(value), there) for value, there in zip(data.tolist(), mask.tolist(), strict=True)]
        width = max((len(number) if there else 8 for number, there in told), default=8)
        return "[" + ", ".join(number if there else "--".rjust(width) for number, there in told) + "]"
    parts = (_rows(d, m).replace("\n", "\n  ") for d, m in zip(data, mask, strict=True))
    return "[\n  " + ",\n  ".join(parts) + "\n]"


def text(data: Tensor, mask: Tensor) -> str:
    """A number with its mask, or rows.

    Example::

        >>> print(text(ad.tensor([1.0, 2.0]), ad.tensor([True, False])))
        MaskedTensor(
          [  1.0000,       --]
        )
    """
    if data.dim() == 0:
        there = bool(mask)
        return f"MaskedTensor({_number(data.item()) if there else '--'}, {there})"
    return "MaskedTensor(\n  " + _rows(data, mask).replace("\n", "\n  ") + "\n)"
