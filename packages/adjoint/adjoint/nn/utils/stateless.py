"""Modules as functions of their parameters."""

from adjoint_functional._func.functional_call import _reparametrize_module as _reparametrize_module
from adjoint_functional.func import functional_call as functional_call
