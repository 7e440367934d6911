"""Which kernel computes attention."""

from adjoint_functional.nn.attention import *  # noqa: F403
