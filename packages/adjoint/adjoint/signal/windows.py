"""Windows."""

from adjoint_core.signal_windows import *  # noqa: F403
