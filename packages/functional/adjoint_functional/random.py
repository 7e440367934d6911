"""Random numbers of the thread and of the devices: seeds and states. The namespace ``random``."""

from __future__ import annotations

import contextlib
import warnings
from collections.abc import Generator, Iterable
from typing import Any

import adjoint_core as core
from adjoint_core import default_generator as default_generator
from adjoint_core import get_rng_state as get_rng_state
from adjoint_core import initial_seed as initial_seed
from adjoint_core import manual_seed as manual_seed
from adjoint_core import seed as seed
from adjoint_core import set_rng_state as set_rng_state

__all__ = ["default_generator", "fork_rng", "get_rng_state", "initial_seed", "manual_seed", "seed", "set_rng_state"]


@contextlib.contextmanager
def fork_rng(
    devices: Iterable[Any] | None = None,
    enabled: bool = True,
    _caller: str = "fork_rng",
    _devices_kw: str = "devices",
    device_type: str = "cuda",
) -> Generator[None]:
    """A context after which random numbers go on as if nothing had been drawn in it.

    Arguments:
        devices: GPUs whose generators are put back too; None: all. The CPU's always is.
        enabled: False: nothing is put back.

    Raises:
        RuntimeError: the type of device is neither ``"cuda"`` nor ``"cpu"``.

    Example::

        >>> _ = ad.manual_seed(0)
        >>> with ad.random.fork_rng():
        ...     inside = ad.rand(2)
        >>> bool((ad.rand(2) == inside).all())
        True
    """
    if device_type not in ("cuda", "cpu"):
        raise RuntimeError(f"fork_rng: torch has no module of `{device_type}`: device type 'cpu' or 'cuda' expected")
    if not enabled:
        yield
        return
    count = core.cuda.device_count() if device_type == "cuda" else 0
    if devices is None and count > 1:
        warnings.warn(
            f"CUDA reports that you have {count} available devices, and you have used {_caller} without explicitly specifying which "
            f"devices are being used. The generators of all of them are put back: name the devices you use with `{_devices_kw}`.",
            stacklevel=3,
        )
    gpus = list(range(count)) if devices is None else list(devices)
    state = get_rng_state()
    of_gpus = [core.cuda.get_rng_state(gpu) for gpu in gpus]
    try:
        yield
    finally:
        set_rng_state(state)
        for gpu, its in zip(gpus, of_gpus):
            core.cuda.set_rng_state(its, gpu)
