"""Which modules are running."""

from adjoint_functional.utils.module_tracker import *  # noqa: F403
