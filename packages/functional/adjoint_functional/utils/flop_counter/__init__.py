"""`utils.flop_counter`: the floating-point operations of products, convolutions and attention, by module and operation."""

from .counter import FlopCounterMode as FlopCounterMode
from .formulas import conv_flop_count as conv_flop_count
from .formulas import flop_registry as flop_registry
from .formulas import register_flop_formula as register_flop_formula

__all__ = ["FlopCounterMode", "register_flop_formula"]
