"""What a profile was asked to record, under the names that PyTorch gives it."""

from __future__ import annotations

import enum
from dataclasses import dataclass
from typing import Any

from adjoint_core import cuda


class ProfilerActivity(enum.Enum):
    """Groups of what can be recorded. Ours are the CPU's and CUDA's."""

    CPU = 0
    XPU = 1
    CUDA = 2
    HPU = 3
    MTIA = 4
    PrivateUse1 = 5


class ProfilerState(enum.Enum):
    """What records."""

    Disabled = 0
    CPU = 1
    CUDA = 2
    NVTX = 3
    ITT = 4
    PRIVATEUSE1 = 5
    KINETO = 6
    KINETO_GPU_FALLBACK = 7
    KINETO_PRIVATEUSE1_FALLBACK = 8
    KINETO_PRIVATEUSE1 = 9


@dataclass(frozen=True)
class ProfilerConfig:
    """The choices of one profile."""

    state: ProfilerState
    report_input_shapes: bool
    profile_memory: bool
    with_stack: bool
    with_flops: bool
    with_modules: bool
    experimental_config: Any = None
    trace_id: str = ""


class ExperimentalConfig:
    """Accepted where PyTorch takes its experimental options: those that matter here have parameters of their own.

    Example::

        >>> ExperimentalConfig(verbose=True).verbose
        True
    """

    def __init__(self, **options: Any) -> None:
        self.__dict__.update(options)


def kineto_available() -> bool:
    """Whether PyTorch's tracing library is there. It is not needed: the engine records for itself.

    Example::

        >>> kineto_available()
        False
    """
    return False


def supported_activities() -> set[ProfilerActivity]:
    """What can be recorded on this machine.

    Example::

        >>> ProfilerActivity.CPU in supported_activities()
        True
    """
    return {ProfilerActivity.CPU, ProfilerActivity.CUDA} if cuda.is_available() else {ProfilerActivity.CPU}
