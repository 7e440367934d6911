"""Parameters of which a mask sets parts to zero."""

from adjoint_functional.nn.utils.prune import *  # noqa: F403
