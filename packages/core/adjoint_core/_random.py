"""The state of the CPU's default generator."""

from __future__ import annotations

from . import _core
from ._core import Tensor

__all__ = ["get_rng_state", "seed", "set_rng_state"]


def get_rng_state() -> Tensor:
    """The state of the CPU's default generator, as bytes; `cuda.get_rng_state` gives a GPU's.

    Example: `state = get_rng_state(); x = rand(2); set_rng_state(state)  # rand(2) is x again`
    """
    return _core.default_generator.get_state()


def set_rng_state(new_state: Tensor) -> None:
    """Brings the CPU's default generator back to what `get_rng_state` returned."""
    _core.default_generator.set_state(new_state)


seed = _core.seed
