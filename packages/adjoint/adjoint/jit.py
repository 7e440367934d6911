"""PyTorch's scripts and traces, as pass-throughs."""

from adjoint_functional.futures import Future as Future
from adjoint_functional.jit import *  # noqa: F403

Error = RuntimeError  # what a script that fails raises in PyTorch; here the function's own error comes out
