"""The public names: what the reference lists, and what tests hold it to."""

from __future__ import annotations

import importlib
import pkgutil
import types
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TypeVar

import adjoint

APART = {
    "adjoint.as_torch",
    "adjoint.utils.tensorboard",
}  # importing one renames everything, and it has a page of its own; one needs a package
HOME_OF_HOMES = ("adjoint.nn.modules", "adjoint.optim.")  # PyTorch's places of classes that live a floor higher


@dataclass(frozen=True)
class Name:
    """One public name of a module."""

    module: str
    name: str
    value: object

    @property
    def path(self) -> str:
        """As a user writes it, in full."""
        return f"{self.module}.{self.name}"


def below(package: types.ModuleType) -> Iterator[str]:
    """The modules that lie as files below a package, public ones only."""
    for info in pkgutil.iter_modules(package.__path__, package.__name__ + "."):
        if "._" in info.name or info.name in APART:
            continue
        yield info.name
        if info.ispkg:
            yield from below(importlib.import_module(info.name))


def modules() -> list[str]:
    """All public modules, by path."""
    return sorted({"adjoint", *below(adjoint), *(f"adjoint.{name}" for name in adjoint._LATER)})


def is_ours(value: object) -> bool:
    """Made here, and not a name that a module happens to import."""
    if isinstance(value, types.ModuleType | TypeVar):
        return False
    home = getattr(value, "__module__", None) or type(value).__module__
    return str(home).startswith("adjoint") or type(value).__module__.startswith("adjoint")


def public(module: str) -> list[Name]:
    """The public names of a module, sorted."""
    space = importlib.import_module(module)
    listed = getattr(space, "__all__", None)
    found = [(name, getattr(space, name)) for name in (listed or dir(space)) if not name.startswith("_")]
    found = [(name, value) for name, value in found if not isinstance(value, types.ModuleType)]
    return [Name(module, name, value) for name, value in sorted(found) if listed or is_ours(value)]


def attributes(cls: type) -> list[Name]:
    """The public attributes of a class that are its own or inherited from a private one of this library."""
    owners = {name: owner for owner in reversed(cls.__mro__) for name in vars(owner)}
    ours = [name for name, owner in owners.items() if not name.startswith("_") and owner.__module__.startswith("adjoint")]
    kept = [name for name in ours if owners[name] is cls or owners[name].__name__.startswith("_") or cls is adjoint.Tensor]
    return [Name(f"{cls.__module__}.{cls.__qualname__}", name, getattr(cls, name)) for name in sorted(kept)]


def homes() -> dict[int, Name]:
    """For each function and class the name under which it is described: the shortest path that leads to it."""
    found: dict[int, Name] = {}
    for module in modules():
        for name in public(module):
            if not callable(name.value):
                continue
            known = found.get(id(name.value))
            if known is None or rank(name) < rank(known):
                found[id(name.value)] = name
    return found


def rank(name: Name) -> tuple[bool, bool, int, str]:
    """Its own name first, then few steps."""
    own = getattr(name.value, "__name__", name.name)
    return name.name != own, name.module.startswith(HOME_OF_HOMES), name.path.count("."), name.path
