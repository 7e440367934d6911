"""Padding: with a constant, or with what the tensor has elsewhere."""

from __future__ import annotations

from collections.abc import Sequence

from adjoint_core import Tensor, _core

_BORDERS = {"replicate": 0, "reflect": 1, "circular": 2}


def pad(input: Tensor, pad: Sequence[int], mode: str = "constant", value: float | None = None) -> Tensor:
    """Pads from the last dimension on: (left, right, top, bottom, ...); negative amounts crop.

    Example::

        >>> ad.nn.functional.pad(ad.tensor([1., 2.]), (1, 2))
        tensor([0., 1., 2., 0., 0.])
    """
    if len(pad) % 2 or len(pad) > 2 * input.ndim:
        raise RuntimeError("Padding length must be divisible by 2 and at most twice the number of dimensions of the input.")
    before, after = [0] * input.ndim, [0] * input.ndim
    for i in range(len(pad) // 2):
        before[-1 - i], after[-1 - i] = pad[2 * i], pad[2 * i + 1]
    if mode == "constant":
        if isinstance(value, complex):
            inside = _core._pad(_core.ones_like(input, dtype=_core.bool), before, after, 0.0)
            return _core.where(inside, _core._pad(input, before, after, 0.0), value)
        return _core._pad(input, before, after, float(value or 0.0))
    if mode not in _BORDERS:
        raise NotImplementedError(f"Unrecognised padding mode {mode}")
    if value:
        raise RuntimeError(f"pad: mode {mode!r} takes no value, got {value}")
    if not len(pad) // 2 < input.ndim <= len(pad) // 2 + 2:
        raise NotImplementedError(f"pad: padding of size {len(pad)} is not supported for {input.ndim}D input in mode {mode}")
    return _core._pad_around(input, before, after, _BORDERS[mode])
