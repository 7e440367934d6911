"""Derivatives of collectives under mpiexec."""

from __future__ import annotations

from collections.abc import Callable

import pytest


@pytest.mark.parametrize("ranks", [2, 3])
def test_derivatives(checks: Callable[..., None], ranks: int) -> None:
    checks("derivatives.py", ranks)
