"""Which kernel computes attention: the namespace ``nn.attention``. There is one here, and every choice leads to it."""

from __future__ import annotations

import contextlib
from collections.abc import Generator
from enum import IntEnum

__all__ = ["SDPBackend", "sdpa_kernel"]


class SDPBackend(IntEnum):
    """Kernels of PyTorch, by name."""

    ERROR = -1
    MATH = 0
    FLASH_ATTENTION = 1
    EFFICIENT_ATTENTION = 2
    CUDNN_ATTENTION = 3
    OVERRIDEABLE = 4


@contextlib.contextmanager
def sdpa_kernel(backends: list[SDPBackend] | SDPBackend, set_priority: bool = False) -> Generator[None]:
    """A context that changes nothing: there is one kernel.

    Raises:
        AssertionError: not backends.

    Example::

        >>> with ad.nn.attention.sdpa_kernel(ad.nn.attention.SDPBackend.MATH):
        ...     y = ad.nn.functional.scaled_dot_product_attention(*[ad.ones(1, 2, 4)] * 3)
    """
    given = [backends] if isinstance(backends, SDPBackend) else list(backends)
    if not all(isinstance(b, SDPBackend) for b in given):
        raise AssertionError("Backend must be an instance of SDPBackend or a list of SDPBackend instances")
    yield
