"""Jacobians, Hessians and their products with vectors."""

from adjoint_functional.functional import hessian as hessian
from adjoint_functional.functional import hvp as hvp
from adjoint_functional.functional import jacobian as jacobian
from adjoint_functional.functional import jvp as jvp
from adjoint_functional.functional import vhp as vhp
from adjoint_functional.functional import vjp as vjp
