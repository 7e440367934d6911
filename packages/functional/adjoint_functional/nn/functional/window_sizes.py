"""Sizes of windows: one number for all dimensions, or one for each."""

from __future__ import annotations

from collections.abc import Sequence

Ints = int | Sequence[int]


def per_dimension(v: Ints, n: int) -> list[int]:
    return [v] * n if isinstance(v, int) else list(v) * (n if len(v) == 1 else 1)
