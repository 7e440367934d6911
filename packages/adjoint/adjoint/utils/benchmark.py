"""How long statements take."""

from adjoint_functional.utils.benchmark import *  # noqa: F403
from adjoint_functional.utils.benchmark_tables import *  # noqa: F403
