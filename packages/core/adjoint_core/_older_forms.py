"""Calls in an older order of arguments, a number in front of the tensors that it weighs: `x.add_(0.5, y)` is `x.add_(y, alpha=0.5)`.

Looked at only after a call that did not fit.
"""

from __future__ import annotations

from typing import Any

from ._core import Tensor
from ._warnings import warn_once

_NUMBERS = {"alpha", "beta", "value"}
_MATRICES = {
    "addbmm": ("batch1", "batch2"),
    "addmm": ("mat1", "mat2"),
    "addmv": ("mat", "vec"),
    "addr": ("vec1", "vec2"),
    "baddbmm": ("batch1", "batch2"),
}
_FORMS: dict[str, tuple[tuple[str, ...], ...]] = {
    **dict.fromkeys(("add", "sub"), (("input", "alpha", "other"),)),
    **dict.fromkeys(("rsub", "subtract"), (("input", "other", "alpha"),)),
    **dict.fromkeys(("addcmul", "addcdiv"), (("input", "value", "tensor1", "tensor2"),)),
    **{name: (("beta", "input", *pair), ("beta", "input", "alpha", *pair)) for name, pair in _MATRICES.items()},
}
"The parameters in the older order; methods have `input` in front."

_SCALAR = ("add", "sub", "rsub", "subtract")
"Functions that take numbers for tensors; the last two have an older order only where `other` is one."


def _is_number(value: Any) -> bool:
    if isinstance(value, Tensor):
        return value.ndim == 0 and not value.requires_grad
    return isinstance(value, (int, float, complex))


def _bound(name: str, form: tuple[str, ...], args: tuple[Any, ...], named: dict[str, Any]) -> dict[str, Any] | None:
    """The arguments by name, if they are of this form."""
    given = dict(zip(form, args, strict=False))
    if len(args) > len(form) or given.keys() & named.keys() or (given | named).keys() - {"out"} != set(form):
        return None
    given |= named
    for word in form:
        number = word in _NUMBERS or word == "other" and name in ("rsub", "subtract")
        fits = _is_number(given[word]) if number else isinstance(given[word], Tensor)
        if not fits and (number or name not in _SCALAR or not _is_number(given[word])):
            return None
    return given


def call(func: Any, args: tuple[Any, ...], named: dict[str, Any]) -> Any:
    """What `func` gives for arguments in the older order; `NotImplemented` if they are none."""
    name = func.__name__.rstrip("_")
    for form in _FORMS.get(name, ()):
        if isinstance(func, type(Tensor.add)):
            form = ("input", *(word for word in form if word != "input"))
        given = _bound(name, form, args, named)
        if given is None:
            continue
        numbers = {word: given.pop(word) for word in form if word in _NUMBERS}
        if name not in ("rsub", "subtract"):
            order = ", ".join(f"{word}=..." for word in numbers)
            warn_once(f"This overload of {name} is deprecated: numbers go by name, {name}(..., {order})")
        out = {"out": given.pop("out")} if "out" in given else {}
        values = {word: n.item() if isinstance(n, Tensor) else n for word, n in numbers.items()}
        return func(*(given[word] for word in form if word in given), **values, **out)
    return NotImplemented
