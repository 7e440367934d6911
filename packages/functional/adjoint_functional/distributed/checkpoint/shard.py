"""State dicts as flat mappings, and tensors of which each rank has a part."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, MutableMapping
from dataclasses import dataclass
from functools import partial
from typing import Any, Protocol, runtime_checkable

from adjoint_core import Tensor


@runtime_checkable
class Stateful(Protocol):
    """What has a state: modules and optimizers, for example. `save` asks for it, `load` gives it back."""

    def state_dict(self) -> dict[str, Any]:
        """The state."""
        ...

    def load_state_dict(self, state_dict: dict[str, Any]) -> Any:
        """Takes a state over."""
        ...


@dataclass
class Shard:
    """This rank's part of a tensor: as a value in a state dict it stands for the whole.

    Arguments:
        tensor: the part.
        offsets: where the part begins in the whole, by dimension.
        size: the shape of the whole.

    Raises:
        ValueError: the part does not lie within the whole.

    Example::

        >>> from adjoint.distributed.checkpoint import Shard
        >>> Shard(ad.ones(2, 3), (4, 0), (6, 3)).size
        (6, 3)
    """

    tensor: Tensor
    offsets: tuple[int, ...]
    size: tuple[int, ...]

    def __post_init__(self) -> None:
        self.offsets, self.size = tuple(self.offsets), tuple(self.size)
        places = list(zip(self.offsets, self.tensor.shape, self.size))
        if not len(self.offsets) == self.tensor.ndim == len(self.size) or any(a < 0 or a + n > whole for a, n, whole in places):
            raise ValueError(
                f"Shard: a part must lie within the whole, got shape {tuple(self.tensor.shape)} at {self.offsets} of {self.size}"
            )


Path = tuple[str | int, ...]


@dataclass(frozen=True)
class Entry:
    """A value of a nested state dict: the keys that lead there, and how to put another in its place."""

    path: Path
    value: Any
    put: Callable[[Any], None]

    @property
    def name(self) -> str:
        """The keys with dots between them."""
        return ".".join(map(str, self.path))


def _holds_tensors(value: Any) -> bool:
    if isinstance(value, Mapping):
        return any(map(_holds_tensors, value.values()))
    return any(map(_holds_tensors, value)) if isinstance(value, (list, tuple)) else isinstance(value, (Tensor, Shard))


def _nested(value: Any) -> bool:
    return len(value) > 0 if isinstance(value, Mapping) else isinstance(value, list) and _holds_tensors(value)


def _entries(value: Any, path: Path = ()) -> Iterator[Entry]:
    """The values of nested mappings, and of lists that hold tensors."""
    for key in value if isinstance(value, Mapping) else range(len(value)):
        here = (*path, key if isinstance(key, int) else str(key))
        if _nested(value[key]):
            yield from _entries(value[key], here)
        else:
            yield Entry(here, value[key], partial(value.__setitem__, key))


def named(state_dict: Mapping[str, Any]) -> dict[str, Entry]:
    """The entries of a state dict by name.

    Raises:
        ValueError: two values have one name.
    """
    found: dict[str, Entry] = {}
    for entry in _entries(state_dict):
        if entry.name in found:
            raise ValueError(f"checkpoint: two values of the state dict have the name {entry.name!r}")
        found[entry.name] = entry
    return found


def states(state_dict: Mapping[str, Any]) -> MutableMapping[str, Any]:
    """The state dict with the states of what has one in its place."""
    return {
        key: value.state_dict() if isinstance(value, Stateful) and not isinstance(value, Tensor) else value
        for key, value in state_dict.items()
    }
