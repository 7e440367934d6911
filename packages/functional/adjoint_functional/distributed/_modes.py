"""What holds for all collectives of this process: the debug mode, and the order of sums."""

from __future__ import annotations

import os
from enum import Enum


class DebugLevel(Enum):
    """How much is checked; DETAIL compares what all ranks call before every collective."""

    OFF = 0
    INFO = 1
    DETAIL = 2


_DETAIL = DebugLevel.DETAIL


class _Modes:
    debug = DebugLevel[os.environ.get("ADJOINT_DISTRIBUTED_DEBUG", "OFF").upper() or "OFF"]
    fixed = os.environ.get("ADJOINT_DISTRIBUTED_FIXED_ORDER", "0") == "1"


def get_debug_level() -> DebugLevel:
    """What is checked: the variable ADJOINT_DISTRIBUTED_DEBUG (OFF, INFO, DETAIL), or what was set since."""
    return _Modes.debug


def is_ordinary() -> bool:
    """Whether ranks compare nothing before a collective, and sums run as the backend likes."""
    return _Modes.debug is not _DETAIL and not _Modes.fixed


def set_debug_level(level: DebugLevel) -> None:
    """Sets what is checked. All ranks must set the same."""
    if not isinstance(level, DebugLevel):
        raise TypeError(f"set_debug_level: a DebugLevel is needed, got {level!r}")
    _Modes.debug = level


def is_fixed_order() -> bool:
    """Whether sums over ranks run in a fixed tree."""
    return _Modes.fixed


def set_fixed_order(fixed: bool) -> None:
    """Sums over ranks run in a fixed tree, or as MPI likes (the default). All ranks must set the same.

    In the fixed tree neighbours are added first, then pairs of neighbours, and so on; half precision is added in float32 and rounded
    once. The bits of the result depend on the operands and the number of ranks only, not on the network, the sizes of messages or
    the version of MPI. The variable ADJOINT_DISTRIBUTED_FIXED_ORDER=1 does the same.

    Example::

        >>> import adjoint.distributed as dist
        >>> dist.set_fixed_order(True)
        >>> dist.is_fixed_order()
        True
        >>> dist.set_fixed_order(False)
    """
    _Modes.fixed = bool(fixed)
