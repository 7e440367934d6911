"""More than one process: collectives over MPI, data parallel, sharded optimizers."""

import importlib as _importlib

from adjoint_functional.distributed import *  # noqa: F403


def __getattr__(name: str) -> object:
    if name in ("algorithms", "checkpoint", "device_mesh", "fsdp", "nn", "optim", "tensor"):  # imported when first used
        return _importlib.import_module("." + name, __name__)
    if name in ("DeviceMesh", "init_device_mesh"):
        return getattr(_importlib.import_module(".device_mesh", __name__), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
