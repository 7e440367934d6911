"""What `compile` makes of a module."""

from __future__ import annotations

from typing import Any

from .nn.modules import Module

__all__ = ["OptimizedModule"]


class OptimizedModule(Module):
    """A module around the one that is to be compiled, ``_orig_mod``; it runs as the Python that it is. Whatever else it is asked for is that
    module's, except what modules have themselves: names of parameters begin with ``_orig_mod.``.

    Example::

        >>> compiled = ad.compile(ad.nn.Linear(2, 3))
        >>> list(compiled.state_dict()), compiled.in_features
        (['_orig_mod.weight', '_orig_mod.bias'], 2)
    """

    _orig_mod: Any

    def __init__(self, mod: Module, dynamo_ctx: Any = None) -> None:
        super().__init__()
        self._modules["_orig_mod"] = mod
        del self.__dict__["training"]  # the module's own counts

    def forward(self, *args: Any, **kwargs: Any) -> Any:
        """What the module gives."""
        return self._orig_mod(*args, **kwargs)

    def __getattr__(self, name: str) -> Any:
        modules = self.__dict__.get("_modules", {})
        if name == "_orig_mod" or "_orig_mod" not in modules:  # the second while a copy is made
            return super().__getattr__(name)
        return getattr(modules["_orig_mod"], name)

    def __setattr__(self, name: str, value: Any) -> None:
        own = name in self.__dict__ or name in ("_orig_mod", "forward")
        if own or "_orig_mod" not in self.__dict__.get("_modules", {}):
            super().__setattr__(name, value)
        else:
            setattr(self._orig_mod, name, value)

    def __delattr__(self, name: str) -> None:
        delattr(self._orig_mod, name)

    def __len__(self) -> int:
        return len(self._orig_mod)

    def __dir__(self) -> list[str]:
        return sorted({*super().__dir__(), *dir(self._orig_mod)})
