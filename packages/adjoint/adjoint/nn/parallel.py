"""Modules that train in several processes."""

import sys as _sys

from adjoint_functional.nn.parallel import *  # noqa: F403
from adjoint_functional.nn.parallel import distributed as distributed

_sys.modules[f"{__name__}.distributed"] = distributed
