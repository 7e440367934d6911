"""Collectives under mpiexec."""

from __future__ import annotations

from collections.abc import Callable

import pytest


@pytest.mark.parametrize("ranks", [2, 3])
def test_collectives(checks: Callable[..., None], ranks: int) -> None:
    checks("collectives.py", ranks)


def test_collectives_with_checks_of_each_call(checks: Callable[..., None]) -> None:
    checks("collectives.py", 2, ADJOINT_DISTRIBUTED_DEBUG="DETAIL")


def test_collectives_with_sums_in_a_fixed_order(checks: Callable[..., None]) -> None:
    checks("collectives.py", 3, ADJOINT_DISTRIBUTED_FIXED_ORDER="1")
