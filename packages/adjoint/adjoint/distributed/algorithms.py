"""Uneven inputs and communication hooks."""

import sys as _sys

from adjoint_functional.distributed.algorithms import *  # noqa: F403
from adjoint_functional.distributed.algorithms import ddp_comm_hooks as ddp_comm_hooks
from adjoint_functional.distributed.algorithms import join as join
from adjoint_functional.distributed.algorithms.ddp_comm_hooks import default_hooks as _default_hooks

_sys.modules[f"{__name__}.join"] = join
_sys.modules[f"{__name__}.ddp_comm_hooks"] = ddp_comm_hooks
_sys.modules[f"{__name__}.ddp_comm_hooks.default_hooks"] = _default_hooks
