"""Dictionaries by tensors that do not keep them."""

from adjoint_functional.utils.weak import *  # noqa: F403
