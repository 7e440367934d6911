"""Data parallel and sharded optimizers under mpiexec."""

from __future__ import annotations

from collections.abc import Callable

import pytest


@pytest.mark.parametrize("ranks", [2, 3])
def test_data_parallel(checks: Callable[..., None], ranks: int) -> None:
    checks("data_parallel.py", ranks)


def test_data_parallel_with_checks_of_each_call(checks: Callable[..., None]) -> None:
    checks("data_parallel.py", 2, ADJOINT_DISTRIBUTED_DEBUG="DETAIL", ADJOINT_DISTRIBUTED_FIXED_ORDER="1")
