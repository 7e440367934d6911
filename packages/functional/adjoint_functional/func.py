"""The names of ``adjoint.func``."""

from ._backend import vmap
from ._forward import hessian, jacfwd, jvp, linearize
from ._reverse import grad, grad_and_value, jacrev, vjp

__all__ = ["grad", "grad_and_value", "hessian", "jacfwd", "jacrev", "jvp", "linearize", "vjp", "vmap"]
