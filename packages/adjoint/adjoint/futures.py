"""Values that another thread will have."""

from adjoint_functional.futures import *  # noqa: F403
