"""Older names of mixed precision for GPUs."""

from adjoint_functional.amp.legacy import cuda as _names

globals().update(_names)
