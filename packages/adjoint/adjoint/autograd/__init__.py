"""Reverse and forward mode: the counterpart of torch.autograd."""

from adjoint_core import Tensor as Variable
from adjoint_engine import Function as Function
from adjoint_engine import backward as backward
from adjoint_engine import enable_grad as enable_grad
from adjoint_engine import forward_ad as forward_ad
from adjoint_engine import grad as grad
from adjoint_engine import graph as graph
from adjoint_engine import inference_mode as inference_mode
from adjoint_engine import no_grad as no_grad
from adjoint_engine import set_grad_enabled as set_grad_enabled
from adjoint_functional import functional as functional
from adjoint_functional.checking import gradcheck as gradcheck
from adjoint_functional.checking import gradgradcheck as gradgradcheck

from . import function as function
from . import profiler as profiler

__all__ = [
    "Function",
    "Variable",
    "backward",
    "enable_grad",
    "forward_ad",
    "grad",
    "gradcheck",
    "gradgradcheck",
    "graph",
    "inference_mode",
    "no_grad",
    "set_grad_enabled",
]
