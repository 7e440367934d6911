"""The graph engine of adjoint: reverse mode, forward levels, batching, hooks, custom Functions."""

import os as _os

import adjoint_core as _core  # its library must be mapped before the engine's

from . import _engine as _engine
from . import _tensor as _tensor
from . import forward_ad as forward_ad
from . import graph as graph
from . import trees as trees
from ._backward import GradientEdge as GradientEdge
from ._backward import backward as backward
from ._backward import grad as grad
from ._context import BackwardCFunction as BackwardCFunction
from ._context import FunctionCtx as FunctionCtx
from ._function import Function as Function
from ._function import InplaceFunction as InplaceFunction
from ._function import once_differentiable as once_differentiable
from ._levels import batch_level as batch_level
from ._levels import tangent_level as tangent_level
from ._levels import tape_level as tape_level
from ._modes import enable_grad as enable_grad
from ._modes import inference_mode as inference_mode
from ._modes import is_grad_enabled as is_grad_enabled
from ._modes import is_inference_mode_enabled as is_inference_mode_enabled
from ._modes import no_grad as no_grad
from ._modes import set_grad_enabled as set_grad_enabled
from ._vmap import vmap as vmap

_core._core.skip_prefix(_os.path.dirname(__file__) + _os.sep)
__version__ = "0.1.0"
