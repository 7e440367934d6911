"""Optimizers whose state is shared out among ranks."""

import sys as _sys

from adjoint_functional.distributed.optim import *  # noqa: F403
from adjoint_functional.distributed.optim import zero_redundancy_optimizer as zero_redundancy_optimizer

_sys.modules[f"{__name__}.zero_redundancy_optimizer"] = zero_redundancy_optimizer
