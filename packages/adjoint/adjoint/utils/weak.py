"""Dictionaries by tensors that do not keep them."""

from adjoint_functional.weak import *  # noqa: F403
