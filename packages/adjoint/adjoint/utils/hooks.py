"""Handles of registered hooks."""

from adjoint_engine.graph import RemovableHandle as RemovableHandle
