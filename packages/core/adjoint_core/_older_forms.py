"""Calls in an older order of arguments, a number in front of the tensors that it weighs: `x.add_(0.5, y)` is `x.add_(y, alpha=0.5)`.

Looked at only after a call that did not fit.
"""

from __future__ import annotations

import warnings
from typing import Any

from ._core import Tensor

# Kinds of the positional arguments, T for a tensor and n for a number, and the names of the numbers.
_SUM = {"TnT": ("alpha",)}
_PRODUCT = {"TnTT": ("value",)}
_OF_MATRICES = {"TnTT": ("beta",), "TnnTT": ("beta", "alpha"), "nTTT": ("beta",), "nTnTT": ("beta", "alpha")}
_FORMS = {
    **dict.fromkeys(("add", "sub", "subtract"), _SUM),
    **dict.fromkeys(("addcmul", "addcdiv"), _PRODUCT),
    **dict.fromkeys(("addbmm", "addmm", "addmv", "addr", "baddbmm"), _OF_MATRICES),
}
_warned: set[str] = set()


def call(func: Any, args: tuple[Any, ...]) -> Any:
    """What `func` gives for arguments in the older order; `NotImplemented` if they are none."""
    name = func.__name__
    kinds = "".join("T" if isinstance(a, Tensor) else "n" if isinstance(a, (int, float, complex)) else "?" for a in args)
    given = _FORMS.get(name.rstrip("_"), {}).get(kinds)
    if given is None:
        return NotImplemented
    if name not in _warned:
        _warned.add(name)
        order = ", ".join(f"{word}=..." for word in given)
        warnings.warn(f"This overload of {name} is deprecated: numbers go by name, {name}(..., {order})", stacklevel=2)
    tensors = [a for a in args if isinstance(a, Tensor)]
    numbers = [a for a in args if not isinstance(a, Tensor)]
    return func(*tensors, **dict(zip(given, numbers)))
