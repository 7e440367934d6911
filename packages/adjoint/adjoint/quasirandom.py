"""Sequences that fill a cube evenly."""

from adjoint_functional.quasirandom import *  # noqa: F403
