"""Floating-point operations counted by module and operation."""

from adjoint_functional.utils.flop_counter import *  # noqa: F403
from adjoint_functional.utils.flop_counter import conv_flop_count as conv_flop_count
from adjoint_functional.utils.flop_counter import flop_registry as flop_registry
