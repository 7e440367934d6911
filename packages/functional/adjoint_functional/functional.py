"""The names of ``adjoint.autograd.functional``."""

from ._jacobians.jacobian import hessian, jacobian
from ._jacobians.products import hvp, jvp, vhp, vjp

__all__ = ["hessian", "hvp", "jacobian", "jvp", "vhp", "vjp"]
