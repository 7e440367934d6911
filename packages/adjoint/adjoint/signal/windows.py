"""Windows."""

from adjoint_functional.signal.windows import *  # noqa: F403
