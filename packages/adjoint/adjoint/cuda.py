"""Whether there is a GPU."""

from adjoint_core.cuda import *  # noqa: F403
