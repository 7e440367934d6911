"""Sizes of windows: one number for all dimensions, or one for each."""

from __future__ import annotations

from collections.abc import Sequence
from operator import index

from adjoint_core._whole import is_whole

Ints = int | Sequence[int]


def per_dimension(v: Ints, n: int) -> list[int]:
    if is_whole(v):
        return [index(v)] * n  # type: ignore[arg-type]
    return list(v) * (n if len(v) == 1 else 1)  # type: ignore[arg-type]
