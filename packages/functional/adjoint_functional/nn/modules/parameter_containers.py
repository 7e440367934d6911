"""Parameters in order, or by name; what is no tensor is kept as it is."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from adjoint_core import Tensor, _core
from adjoint_engine import Parameter

from .module import Module

__all__ = ["ParameterDict", "ParameterList"]


def _parameter(value: Any) -> Any:
    return Parameter(value) if isinstance(value, Tensor) and not isinstance(value, Parameter) else value


class _Parameters(Module):
    """What stands under its name as an attribute."""

    def _names(self) -> list[str]:
        raise NotImplementedError

    def _kind(self, value: Tensor) -> str:
        return value.type()

    def __len__(self) -> int:
        return len(self._names())

    def extra_repr(self) -> str:
        """What each is."""
        lines = []
        for name in self._names():
            value = getattr(self, name)
            if isinstance(value, Tensor):
                size = "x".join(map(str, value.shape))
                place = "" if value.device.type == "cpu" else f" ({value.device})"
                what = "Parameter" if isinstance(value, Parameter) else "Tensor"
                lines.append(f"  ({name}): {what} containing: [{self._kind(value)} of size {size}{place}]")
            else:
                lines.append(f"  ({name}): Object of type: {type(value).__name__}")
        return "\n".join(lines)

    def __repr__(self) -> str:
        lines = self.extra_repr().replace("\n", "\n  ")
        return f"{self._get_name()}(\n  {lines}\n)" if "\n" in lines else f"{self._get_name()}({lines})"

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        raise RuntimeError(f"{type(self).__name__} should not be called.")


class ParameterList(_Parameters):
    """Parameters in a list; tensors become parameters.

    Example::

        >>> [p.requires_grad for p in ad.nn.ParameterList([ad.ones(2)])]
        [True]
    """

    def __init__(self, values: Iterable[Any] | None = None) -> None:
        super().__init__()
        self._size = 0
        if values is not None:
            self.extend(values)

    def _names(self) -> list[str]:
        return [str(i) for i in range(self._size)]

    def _kind(self, value: Tensor) -> str:
        return f"{_core._library()}.{str(value.dtype).partition('.')[2]}"

    def _position(self, index: int) -> str:
        if not -self._size <= index < self._size:
            raise IndexError(f"index {index} is out of range")
        return str(index % self._size)

    def __getitem__(self, index: int | slice) -> Any:
        if isinstance(index, slice):
            return type(self)(getattr(self, name) for name in self._names()[index])
        return getattr(self, self._position(index))

    def __setitem__(self, index: int, value: Any) -> None:
        setattr(self, self._position(index), _parameter(value))

    def __iter__(self) -> Iterator[Any]:
        return iter([getattr(self, name) for name in self._names()])

    def __iadd__(self, values: Iterable[Any]) -> ParameterList:
        return self.extend(values)

    def __dir__(self) -> list[str]:
        return [name for name in super().__dir__() if not name.isdigit()]

    def append(self, value: Any) -> ParameterList:
        """Adds one at the end; returns this list."""
        self._size += 1
        self[self._size - 1] = value
        return self

    def extend(self, values: Iterable[Any]) -> ParameterList:
        """Adds several at the end; returns this list.

        Raises:
            TypeError: a single tensor, or what cannot be iterated over.
        """
        if isinstance(values, Tensor) or not isinstance(values, Iterable):
            raise TypeError(f"ParameterList.extend should be called with an iterable, but got {type(values).__name__}")
        for value in list(values):
            self.append(value)
        return self


class ParameterDict(_Parameters):
    """Parameters by name; tensors become parameters.

    Example::

        >>> ad.nn.ParameterDict({"scale": ad.ones(2)})["scale"].requires_grad
        True
    """

    def __init__(self, parameters: Any = None) -> None:
        super().__init__()
        self._keys: dict[str, None] = {}
        if parameters is not None:
            self.update(parameters)

    def _names(self) -> list[str]:
        return list(self._keys)

    def __getitem__(self, key: str) -> Any:
        if key not in self._keys:
            raise KeyError(key)
        return getattr(self, self._name(key))

    def __setitem__(self, key: str, value: Any) -> None:
        self._keys[self._name(key)] = None
        setattr(self, key, _parameter(value))

    def __delitem__(self, key: str) -> None:
        del self._keys[self._name(key)]
        delattr(self, key)

    @staticmethod
    def _name(key: Any) -> str:
        if not isinstance(key, str):
            raise TypeError(
                f"Index given to ParameterDict cannot be used as a key as it is not a string (type is '{type(key).__name__}')."
            )
        return key

    def __iter__(self) -> Iterator[str]:
        return iter(self._keys)

    def __reversed__(self) -> Iterator[str]:
        return reversed(list(self._keys))

    def __contains__(self, key: object) -> bool:
        return key in self._keys

    def __or__(self, other: ParameterDict) -> ParameterDict:
        both = self.copy()
        both.update(other)
        return both

    def __ror__(self, other: Any) -> Any:
        both = other.copy()
        both.update(self)
        return both

    def __ior__(self, other: ParameterDict) -> ParameterDict:
        self.update(other)
        return self

    def keys(self) -> Iterable[str]:
        """The names."""
        return self._keys.keys()

    def values(self) -> Iterable[Any]:
        """What they name."""
        return [self[key] for key in self._keys]

    def items(self) -> Iterable[tuple[str, Any]]:
        """Both."""
        return [(key, self[key]) for key in self._keys]

    def update(self, parameters: Any) -> None:
        """Takes over the entries of a dict, or pairs."""
        for key, value in parameters.items() if hasattr(parameters, "items") else parameters:
            self[key] = value

    def get(self, key: str, default: Any = None) -> Any:
        """What stands there, or ``default``."""
        return self[key] if key in self else default

    def setdefault(self, key: str, default: Any = None) -> Any:
        """What stands there, which is ``default`` from now on if nothing did."""
        if key not in self:
            self[key] = default
        return self[key]

    def pop(self, key: str) -> Any:
        """Takes one out."""
        value = self[key]
        del self[key]
        return value

    def popitem(self) -> tuple[str, Any]:
        """Takes the last one out."""
        key = next(reversed(list(self._keys)))
        return key, self.pop(key)

    def clear(self) -> None:
        """Takes all out."""
        for key in list(self._keys):
            del self[key]

    def copy(self) -> ParameterDict:
        """One with the same parameters."""
        return ParameterDict(self.items())

    def fromkeys(self, keys: Iterable[str], default: Any = None) -> ParameterDict:
        """One with ``default`` under all names."""
        return ParameterDict((key, default) for key in keys)
