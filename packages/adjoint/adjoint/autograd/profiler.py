"""The profiler (see the package adjoint-profiler)."""

from adjoint_profiler import *  # noqa: F403
