"""PyTorch's scripts and traces, as pass-throughs."""

from adjoint_functional.futures import Future as Future
from adjoint_functional.jit import *  # noqa: F403
from adjoint_functional.jit import script_if_tracing as _script_if_tracing  # noqa: F401
from adjoint_functional.jit import unused as _overload  # noqa: F401  # a form of a function that scripts would choose among
from adjoint_functional.jit import unused as _overload_method  # noqa: F401

Error = RuntimeError  # what a script that fails raises in PyTorch; here the function's own error comes out
