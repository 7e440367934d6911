"""The default generators of GPUs: seeds and states."""

from __future__ import annotations

from .. import _core

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable
    from typing import Any

    from .._core import Tensor


def _generator(device: Any) -> _core.Generator:
    if isinstance(device, int):
        device = _core.device("cuda", device)
    elif _core.device(device).type != "cuda":
        raise ValueError(f"cuda: expected a cuda device, got {device!r}")
    return _core.device_generator(device)


def _all() -> list[_core.Generator]:
    return [_generator(i) for i in range(_core._cuda.device_count())]


def manual_seed(seed: int) -> None:
    """Restarts the default generator of the current GPU; without a GPU, nothing happens.

    Example::

        >>> ad.cuda.manual_seed(0)  # doctest: +SKIP
        >>> x = ad.rand(3, device="cuda")  # doctest: +SKIP
    """
    seed = int(seed)
    if _core._cuda.device_count():
        _generator("cuda").manual_seed(seed)


def manual_seed_all(seed: int) -> None:
    """Restarts the default generators of all GPUs."""
    seed = int(seed)
    for generator in _all():
        generator.manual_seed(seed)


def seed() -> None:
    """Restarts the default generator of the current GPU from a random seed."""
    if _core._cuda.device_count():
        _generator("cuda").seed()


def seed_all() -> None:
    """Restarts the default generators of all GPUs from one random seed."""
    for number, generator in enumerate(_all()):
        if number == 0:
            first = generator.seed()
        else:
            generator.manual_seed(first)


def initial_seed() -> int:
    """The seed of the current GPU's default generator.

    Raises:
        RuntimeError: there is no GPU.
    """
    return _generator("cuda").initial_seed()


def get_rng_state(device: Any = "cuda") -> Tensor:
    """The state of a GPU's default generator, as bytes on the CPU.

    Raises:
        RuntimeError: there is no such GPU.
    """
    return _generator(device).get_state()


def set_rng_state(new_state: Tensor, device: Any = "cuda") -> None:
    """Brings the default generator of a GPU back to what `get_rng_state` returned."""
    _generator(device).set_state(new_state)


def get_rng_state_all() -> list[Tensor]:
    """The states of the default generators of all GPUs."""
    return [generator.get_state() for generator in _all()]


def set_rng_state_all(new_states: Iterable[Tensor]) -> None:
    """Brings the default generators of the GPUs back to what `get_rng_state_all` returned."""
    for generator, state in zip(_all(), new_states, strict=True):
        generator.set_state(state)
