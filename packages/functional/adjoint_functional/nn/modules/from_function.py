"""Layers that are a function of `nn.functional` with its keywords kept.

`layer("ELU", F.elu, "alpha inplace")` makes a module whose constructor takes `alpha` and `inplace`, with the function's defaults,
and whose `forward` takes what the function takes in front.
"""

from __future__ import annotations

import inspect
import sys
from collections.abc import Callable
from typing import Any

from adjoint_core._warnings import warn

from ..functional.loss.reduction import reduction_of
from .module import Module

_OLDER = ("size_average", "reduce")  # of losses: what `reduction` says today
_MOVES = ("weight", "pos_weight")  # of losses: buffers


class _FromFunction(Module):
    """A function of `nn.functional` as a module."""

    _function: Callable[..., Any]
    _keywords: inspect.Signature
    _handed: dict[str, str]  # the function's keywords, and which attributes hold them
    _trains = False
    _renamed: dict[str, str] = {}  # older names of arguments, and today's

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__()
        try:
            bound = self._keywords.bind(*args, **kwargs)
        except TypeError as error:
            raise TypeError(f"{type(self).__name__}: {error}") from None
        bound.apply_defaults()
        given = bound.arguments
        if "reduction" in given:
            older = (given.pop(name, None) for name in _OLDER)
            given["reduction"] = reduction_of(*older, given["reduction"])
        for old, name in self._renamed.items():
            if (value := given.pop(old, None)) is not None:
                warn(f"keyword argument `{old}` is deprecated and renamed to `{name}`", FutureWarning)
                given[name] = value
        for name, value in given.items():
            if name in _MOVES:
                self.register_buffer(name, value)
            else:
                setattr(self, self._handed[name], value)
        self._settle()

    def _settle(self) -> None:
        """Brings the attributes into their final form."""

    def forward(self, *inputs: Any) -> Any:
        """The function's value."""
        keywords = {name: getattr(self, attribute) for name, attribute in self._handed.items()}
        if self._trains:
            keywords["training"] = self.training
        return type(self)._function(*inputs, **keywords)

    def extra_repr(self) -> str:
        """The constructor's arguments, as far as a kind of layers shows them."""
        return self._shown(*(name for name in self._handed.values() if name != "inplace" or self.inplace))

    def _shown(self, *names: str) -> str:
        values = {name: getattr(self, name) for name in names}
        return ", ".join(f"{k}={v!r}" if isinstance(v, str) else f"{k}={v}" for k, v in values.items() if v is not None)


def _constructor(arguments: list[inspect.Parameter]) -> Any:
    def __init__(self: Any, *args: Any, **kwargs: Any) -> None:
        _FromFunction.__init__(self, *args, **kwargs)

    this = inspect.Parameter("self", inspect.Parameter.POSITIONAL_OR_KEYWORD)
    __init__.__signature__ = inspect.Signature([this, *arguments])  # type: ignore[attr-defined]
    return __init__


def _documentation(function: Callable[..., Any]) -> str:
    """The function's first sentence and its example, which the module hands on to it."""
    sentence, _, rest = (inspect.getdoc(function) or "").partition("\n")
    example = rest[rest.find("Example::") :] if "Example::" in rest else ""
    return f"`nn.functional.{function.__name__}` as a module: {sentence}\n\n{example}".rstrip()


def layer(
    name: str,
    function: Callable[..., Any],
    arguments: str = "",
    *kinds: type,
    attributes: dict[str, str] | None = None,
    unsaid: tuple[str, ...] = (),
    renamed: dict[str, str] | None = None,
    **defaults: Any,
) -> Any:
    """The module ``name`` for ``function``, whose constructor takes ``arguments`` (words) in this order.

    Arguments:
        kinds: bases that say what it is, and how it is shown.
        attributes: for arguments that are kept under another name, which.
        unsaid: arguments that PyTorch does not count among ``__constants__``.
        renamed: older names of arguments, which come last, and today's.
        defaults: of arguments, where they are not the function's.
    """
    known = inspect.signature(function).parameters
    kept = []
    for word in arguments.split():
        parameter = known[word].replace(kind=inspect.Parameter.POSITIONAL_OR_KEYWORD)
        kept.append(parameter.replace(default=defaults[word]) if word in defaults else parameter)
    for old in renamed or ():
        kept.append(inspect.Parameter(old, inspect.Parameter.POSITIONAL_OR_KEYWORD, default=None, annotation="float | None"))
    handed = {word: (attributes or {}).get(word, word) for word in arguments.split() if word not in _OLDER}
    contents = {
        "__doc__": _documentation(function),
        "__module__": sys._getframe(1).f_globals["__name__"],
        "__constants__": [held for word, held in handed.items() if word not in (*_MOVES, *unsaid)],
        "_function": staticmethod(function),
        "_keywords": inspect.Signature(kept),
        "__init__": _constructor(kept),
        "_handed": handed,
        "_trains": "training" in known,
        "_renamed": renamed or {},
    }
    return type(name, kinds or (_FromFunction,), contents)
