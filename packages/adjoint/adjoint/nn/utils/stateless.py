"""Modules as functions of their parameters."""

from adjoint_functional.func import functional_call as functional_call
