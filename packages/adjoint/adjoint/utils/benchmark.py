"""How long statements take."""

from adjoint_functional.benchmark import *  # noqa: F403
