"""Function transforms: grad, vjp, jvp, jacrev, jacfwd, hessian, vmap."""

from adjoint_functional.func import *  # noqa: F403
