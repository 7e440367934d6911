"""PyTorch's scripts and traces, as pass-throughs."""

from adjoint_functional.jit import *  # noqa: F403
