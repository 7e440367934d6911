"""The names of ``adjoint.autograd.functional``."""

from ._jacobian import hessian, jacobian
from ._products import hvp, jvp, vhp, vjp

__all__ = ["hessian", "hvp", "jacobian", "jvp", "vhp", "vjp"]
