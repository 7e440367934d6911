"""Modules in order, or by name."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from .module import Module

__all__ = ["ModuleDict", "ModuleList", "Sequential"]


class _List(Module):
    """What behaves like a list; entry i is named str(i)."""

    def _values(self) -> list[Any]:
        return list(self._modules.values())

    def _refill(self, values: Iterable[Any]) -> Any:
        self._modules.clear()
        for i, value in enumerate(values):
            self.add_module(str(i), value)
        return self

    def __len__(self) -> int:
        return len(self._modules)

    def __iter__(self) -> Iterator[Any]:
        return iter(self._values())

    def __getitem__(self, index: int | slice) -> Any:
        found = self._values()[index]
        return type(self)()._refill(found) if isinstance(index, slice) else found

    def __setitem__(self, index: int, value: Any) -> None:
        setattr(self, str(range(len(self))[index]), value)

    def __delitem__(self, index: int | slice) -> None:
        values = self._values()
        del values[index]
        self._refill(values)

    def append(self, module: Any) -> Any:
        """Adds one at the end; returns this list."""
        self.add_module(str(len(self)), module)  # None has an entry too
        return self

    def extend(self, modules: Iterable[Any]) -> Any:
        """Adds several at the end; returns this list."""
        for module in list(modules):
            self.append(module)
        return self

    def insert(self, index: int, module: Any) -> Any:
        """Puts one before the entry ``index``."""
        values = self._values()
        values.insert(index, module)
        return self._refill(values)

    def pop(self, key: int | slice) -> Any:
        """Takes one out."""
        found = self[key]
        del self[key]
        return found

    def __add__(self, other: Iterable[Any]) -> Any:
        return type(self)()._refill([*self, *other])

    def __iadd__(self, other: Iterable[Any]) -> Any:
        return self.extend(other)


class Sequential(_List):
    """Modules one after the other: each takes what the one before gave.

    Arguments:
        args: modules, or one dict of modules by name.

    Example::

        >>> ad.nn.Sequential(ad.nn.Flatten(), ad.nn.ReLU())(-ad.ones(1, 2, 2))
        tensor([[0., 0., 0., 0.]])
    """

    def __init__(self, *args: Any) -> None:
        super().__init__()
        by_name = (
            args[0].items() if len(args) == 1 and isinstance(args[0], Mapping) else ((str(i), m) for i, m in enumerate(args))
        )
        for name, module in by_name:
            self.add_module(name, module)

    def __getitem__(self, index: int | slice) -> Any:
        if isinstance(index, slice):
            return Sequential(dict(list(self._modules.items())[index]))
        return super().__getitem__(index)

    def __setitem__(self, index: int, value: Any) -> None:
        setattr(self, list(self._modules)[index], value)

    def insert(self, index: int, module: Any) -> Any:
        """Puts one before the entry ``index``, which must lie within."""
        if not -len(self) <= index <= len(self):
            raise IndexError(f"Index out of range: {index}")
        return super().insert(index, module)

    def _times(self, factor: int) -> list[Any]:
        if factor <= 0:
            raise ValueError(f"Non-positive multiplication factor {factor} for {type(self)}")
        return self._values() * factor

    def __mul__(self, other: int) -> Any:
        return Sequential(*self._times(other)) if isinstance(other, int) else NotImplemented

    __rmul__ = __mul__

    def __imul__(self, other: int) -> Any:
        return self._refill(self._times(other)) if isinstance(other, int) else NotImplemented

    def forward(self, input: Any) -> Any:
        """The last module's output."""
        for module in self:
            input = module(input)
        return input


class ModuleList(_List):
    """Modules in a list; it has no ``forward``.

    Example::

        >>> len(ad.nn.ModuleList([ad.nn.ReLU(), ad.nn.Tanh()]))
        2
    """

    def __init__(self, modules: Iterable[Module] | None = None) -> None:
        super().__init__()
        if modules is not None:  # an `extend` of a subclass may need what its own constructor has not made yet
            self.extend(modules)

    def __repr__(self) -> str:
        """Runs of equal modules are printed once."""
        runs: list[list[Any]] = []
        for i, text in enumerate(repr(m) for m in self):
            if runs and runs[-1][2] == text:
                runs[-1][1] = i
            else:
                runs.append([i, i, text])
        if not runs:
            return f"{self._get_name()}()"
        lines = [f"({a}): {t}" if a == b else f"({a}-{b}): {b - a + 1} x {t}" for a, b, t in runs]
        return f"{self._get_name()}(\n  " + "\n  ".join(line.replace("\n", "\n  ") for line in lines) + "\n)"


class ModuleDict(Module):
    """Modules by name; it has no ``forward``.

    Example::

        >>> list(ad.nn.ModuleDict({"act": ad.nn.ReLU()}))
        ['act']
    """

    def __init__(self, modules: Any = None) -> None:
        super().__init__()
        if modules is not None:  # as in ModuleList
            self.update(modules)

    def update(self, values: Any) -> None:
        """Takes over the entries of a dict, or pairs."""
        for name, value in values.items() if hasattr(values, "items") else values:
            self[name] = value

    def __getitem__(self, key: str) -> Any:
        return self._modules[key]

    def __setitem__(self, key: str, value: Any) -> None:
        self.add_module(key, value)

    def __delitem__(self, key: str) -> None:
        del self._modules[key]

    def __len__(self) -> int:
        return len(self._modules)

    def __iter__(self) -> Iterator[str]:
        return iter(self._modules)

    def __contains__(self, key: str) -> bool:
        return key in self._modules

    def keys(self) -> Iterable[str]:
        """The names."""
        return self._modules.keys()

    def values(self) -> Iterable[Any]:
        """What they name."""
        return self._modules.values()

    def items(self) -> Iterable[tuple[str, Any]]:
        """Both."""
        return self._modules.items()

    def pop(self, key: str) -> Any:
        """Takes one out."""
        return self._modules.pop(key)

    def clear(self) -> None:
        """Takes all out."""
        self._modules.clear()
