"""How long statements take."""

from adjoint_functional.benchmark import *  # noqa: F403
from adjoint_functional.benchmark_tables import *  # noqa: F403
