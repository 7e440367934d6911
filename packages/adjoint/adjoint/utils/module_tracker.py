"""Which modules are running."""

from adjoint_functional.module_tracker import *  # noqa: F403
