"""cuDNN, which adjoint does not use: kernels for GPUs are its own. Programs may set the switches; nobody reads them."""

from collections.abc import Iterator as _Iterator
from contextlib import contextmanager as _contextmanager
from typing import Any as _Any

enabled = True
benchmark = deterministic = allow_tf32 = False
benchmark_limit = 10


def is_available() -> bool:
    """False."""
    return False


def version() -> None:
    """None: there is none."""


def is_acceptable(tensor: _Any) -> bool:
    """Whether cuDNN could work on the tensor: no."""
    return False


@_contextmanager
def flags(**switches: _Any) -> _Iterator[None]:
    """Sets switches inside of a `with`."""
    before = {name: globals()[name] for name in switches}
    globals().update(switches)
    try:
        yield
    finally:
        globals().update(before)
