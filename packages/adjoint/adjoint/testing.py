"""Comparisons with messages that say where values differ, and tensors to try functions on."""

from adjoint_functional.testing import *  # noqa: F403
