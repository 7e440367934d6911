"""Every name this package takes from core and engine: the one place to look, or to re-point."""

from adjoint_core import (
    Tensor,
    allclose,
    arange,
    complex,
    eye,
    finfo,
    ones,
    ones_like,
    promote_types,
    sparse_coo_tensor,
    stack,
    zeros,
    zeros_like,
)
from adjoint_engine import (
    UndefinedGrad,
    enable_grad,
    forward_ad,
    grad,
    tangent_level,
    tape_level,
    vmap,
)
from adjoint_engine.trees import TreeSpec, tree_flatten, tree_map, tree_unflatten

__all__ = [
    "Tensor",
    "TreeSpec",
    "UndefinedGrad",
    "allclose",
    "arange",
    "complex",
    "enable_grad",
    "eye",
    "finfo",
    "forward_ad",
    "grad",
    "ones",
    "ones_like",
    "promote_types",
    "sparse_coo_tensor",
    "stack",
    "tangent_level",
    "tape_level",
    "tree_flatten",
    "tree_map",
    "tree_unflatten",
    "vmap",
    "zeros",
    "zeros_like",
]
