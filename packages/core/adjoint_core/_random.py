"""The state of the CPU's default generator."""

from __future__ import annotations

from . import _core
from ._core import Tensor

__all__ = ["get_rng_state", "seed", "set_rng_state"]


def get_rng_state() -> Tensor:
    """The state of the CPU's default generator, as bytes; `cuda.get_rng_state` gives a GPU's.

    Example::

        >>> state = ad.get_rng_state()
        >>> x = ad.rand(2)
        >>> ad.set_rng_state(state)
        >>> ad.equal(ad.rand(2), x)
        True
    """
    return _core.default_generator.get_state()


def set_rng_state(new_state: Tensor) -> None:
    """Brings the CPU's default generator back to what `get_rng_state` returned.

    Example::

        >>> state = ad.get_rng_state()
        >>> x = ad.rand(2)
        >>> ad.set_rng_state(state)
        >>> bool((ad.rand(2) == x).all())
        True
    """
    _core.default_generator.set_state(new_state)


seed = _core.seed
