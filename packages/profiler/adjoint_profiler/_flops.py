"""How many floating-point operations a call takes, from the shapes of its operands. A multiplication with an addition are two."""

from __future__ import annotations

from collections.abc import Sequence
from math import prod
from typing import TypeAlias

Shape: TypeAlias = Sequence[int]


def flops(record: str, operands: Sequence[Shape], results: Sequence[Shape]) -> int:
    """For products of matrices, convolutions, sums and products of elements; 0 for all others.

    Example::

        >>> flops("matmul", [(8, 4), (4, 2)], [(8, 2)])
        128
    """
    if not results:
        return 0
    if record == "matmul":
        return 2 * prod(results[0]) * operands[0][-1]
    if record in ("conv", "conv_input_vjp"):  # each output, or each of its cotangents, meets a kernel's window
        image = results[0] if record == "conv" else operands[0]
        return 2 * prod(image) * prod(operands[1][1:])
    if record == "conv_weight_vjp":
        return 2 * prod(operands[1]) * prod(results[0][1:])
    return prod(results[0]) if record in ("add", "sub", "mul", "div") else 0
