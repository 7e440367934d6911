"""More than one process: collectives over MPI, data parallel, sharded optimizers."""

import importlib as _importlib
import sys as _sys

from adjoint_functional.distributed import *  # noqa: F403

_PARTS = ("nn", "nn.functional")
for _part in _PARTS:
    _sys.modules[f"{__name__}.{_part}"] = _importlib.import_module(f"adjoint_functional.distributed.{_part}")
nn = _sys.modules[f"{__name__}.nn"]
