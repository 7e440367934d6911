"""PyTorch's compiler, as a pass-through."""

from adjoint_functional.compiler import *  # noqa: F403
