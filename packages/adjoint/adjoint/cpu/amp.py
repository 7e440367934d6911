"""Older names of mixed precision for CPUs."""

from adjoint_functional.amp.legacy import cpu as _names

globals().update(_names)
