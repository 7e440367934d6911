"""Custom Functions and what belongs to them."""

from adjoint_engine import BackwardCFunction as BackwardCFunction
from adjoint_engine import Function as Function
from adjoint_engine import FunctionCtx as FunctionCtx
from adjoint_engine import FunctionCtx as _ContextMethodMixin  # noqa: F401  the name of 1.8
from adjoint_engine import FunctionMeta as FunctionMeta
from adjoint_engine import InplaceFunction as InplaceFunction
from adjoint_engine import NestedIOFunction as NestedIOFunction
from adjoint_engine import once_differentiable as once_differentiable
