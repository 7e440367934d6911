"""The names of ``adjoint.func``."""

from ._backend import vmap
from ._func.forward import hessian, jacfwd, jvp, linearize
from ._func.functional_call import functional_call, replace_all_batch_norm_modules_, stack_module_state
from ._func.functionalize import functionalize
from ._func.rearrange import rearrange
from ._func.reverse import grad, grad_and_value, jacrev, vjp
from ._func.wrapped import debug_unwrap

__all__ = [
    "debug_unwrap", "functional_call", "functionalize", "grad", "grad_and_value", "hessian", "jacfwd", "jacrev", "jvp", "linearize", "rearrange", "replace_all_batch_norm_modules_", "stack_module_state", "vjp",
    "vmap",
]  # fmt: skip
