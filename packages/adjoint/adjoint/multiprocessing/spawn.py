"""One function in several processes, whose errors are raised where they are joined."""

from adjoint_functional.multiprocessing.spawning import *  # noqa: F403
