"""Profiling a program step by step: the counterpart of torch.profiler."""

from adjoint_profiler.schedule import *  # noqa: F403
from adjoint_profiler.schedule import _ExperimentalConfig as _ExperimentalConfig
