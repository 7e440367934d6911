"""Jacobians, Hessians and their products with vectors."""

from adjoint_functional.functional import hessian as hessian
from adjoint_functional.functional import hvp as hvp
from adjoint_functional.functional import jacobian as jacobian
from adjoint_functional.functional import jvp as jvp
from adjoint_functional.functional import vhp as vhp
from adjoint_functional.functional import vjp as vjp


def __getattr__(name: str) -> object:
    from adjoint_functional._jacobians import steps  # imported when one of its names is first used

    if name in steps.__all__:
        return getattr(steps, name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
