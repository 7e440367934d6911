"""How conversions of modules treat parameters: what may become the rule."""

from adjoint_functional.nn.conversion import *  # noqa: F403
