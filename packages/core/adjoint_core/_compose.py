"""How functions composed in Python join those of the records: half precision, what they say of wrong arguments, `out=`, methods."""

from __future__ import annotations

import functools
import importlib
from collections.abc import Callable, Container, Sequence
from types import FunctionType
from typing import Any, TypeVar

from . import _core
from ._core import Tensor

F = TypeVar("F", bound=Callable[..., Any])

_OTHER_NAMES: dict[str, tuple[str, ...]] = {  # NumPy's, and those that PyTorch takes besides the ones of its pages
    **{
        "axis": ("dim",),
        "keepdims": ("keepdim",),
        "x": ("input",),
        "a": ("input",),
        "x2": ("other",),
        "b": ("B",),
        "other": ("B",),
    },
    **{"input": ("A", "x", "B", "tensor"), "input2": ("L",), "element": ("elements",), "test_element": ("test_elements",)},
    **{"sections": ("indices_or_sections",), "indices": ("indices_or_sections",)},
}


def _wrong_argument(f: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]) -> tuple[str, Any] | None:
    """The first argument that should be a tensor and is none."""
    import inspect

    signature = inspect.signature(f)
    for name, value in signature.bind(*args, **kwargs).arguments.items():
        wanted = str(signature.parameters[name].annotation)
        if wanted == "Tensor" or (wanted == "Tensor | None" and value is not None):
            if not isinstance(value, Tensor):
                return name, value
    return None


def _renamed(f: Callable[..., Any], kwargs: dict[str, Any]) -> dict[str, Any]:
    """The arguments by the function's own names."""
    import inspect

    own = inspect.signature(f).parameters
    found = {k: k if k in own else next((name for name in _OTHER_NAMES.get(k, ()) if name in own), k) for k in kwargs}
    fits = len(set(found.values())) == len(kwargs) and all(name in own for name in found.values())
    return {found[k]: v for k, v in kwargs.items()} if fits else kwargs


def without_effect(found: Tensor, *inputs: Tensor) -> Tensor:
    """The result, recorded as a function of inputs by which its derivatives are zero."""
    for x in inputs:
        if x.requires_grad and (x.is_floating_point() or x.is_complex()):
            found = found + -x.unsqueeze(0)[:0].sum().to(found.dtype)  # the sum of nothing; -0 leaves the signs of zeros
    return found


def with_out(f: F) -> F:
    """The function, which takes `out=` too: a tensor for its result, or as many tensors as it has results."""

    @functools.wraps(f)
    def call(*args: Any, out: Any = None, **kwargs: Any) -> Any:
        result = f(*args, **kwargs)
        return result if out is None else _core._put_out(f.__name__, result, out)

    return call  # type: ignore[return-value]


def checked(f: F) -> F:
    """The function, whose errors about an argument of another type name the function, and the argument if it should be a tensor.

    It takes NumPy's names of arguments too, `axis` for `dim`: they are tried after a call that did not fit.
    """

    @functools.wraps(f)
    def call(*args: Any, **kwargs: Any) -> Any:
        try:
            return f(*args, **kwargs)
        except (AttributeError, TypeError) as error:
            return _explained(f, call, args, kwargs, error)

    return call  # type: ignore[return-value]


def _explained(f: Any, again: Any, args: Any, kwargs: Any, error: Exception) -> Any:
    """The result with other names of arguments, or a better error."""
    if (renamed := _renamed(f, kwargs)).keys() != kwargs.keys():
        return again(*args, **renamed)
    try:
        wrong = _wrong_argument(f, args, kwargs)
    except TypeError:  # arguments that the function does not have: it said so
        raise error from None
    if wrong is not None:
        text = f"{f.__name__}: argument '{wrong[0]}' must be Tensor, not {type(wrong[1]).__name__}"
    elif isinstance(error, TypeError) and f.__name__ not in str(error):
        text = f"{f.__name__}: {error}"
    else:
        raise error
    raise TypeError(text) from error


_CHECKING = checked(lambda: None).__code__


def explain(f: Any, args: Any, kwargs: Any, error: Exception) -> Any:
    """What `checked` around a function says of an error that the function below gave when it was called without its wrappers."""
    below = f
    while getattr(below, "__code__", None) is not _CHECKING:
        below = getattr(below, "__wrapped__", None)
        if below is None:
            raise error
    return _explained(below.__wrapped__, f, args, kwargs, error)


def rounded_once(f: F) -> F:
    """The function, which computes in single precision where all its floating-point tensors are of one half type.

    Its results are rounded to that type once, at their end, and so are its gradients. For functions of several steps that round
    each, and that write into no argument. A `dtype` that is asked for is computed in.
    """

    @functools.wraps(f)
    def call(*args: Any, **kwargs: Any) -> Any:
        half = _core._half_type(args, kwargs)
        if half is None or kwargs.get("dtype") is not None:
            return f(*args, **kwargs)
        wide: Any = _cast((args, kwargs), half, _core.float32)
        return _cast(f(*wide[0], **wide[1]), _core.float32, half)

    return call  # type: ignore[return-value]


def node(name: str) -> Callable[[F], F]:
    """The function, the node of whose results is called so, as in PyTorch, whatever operations it is made of."""
    kept = _core._node_name(name)

    def decorate(f: F) -> F:
        @functools.wraps(f)
        def call(*args: Any, **kwargs: Any) -> Any:
            return _core._composed(kept, f, args, kwargs)

        call._node = kept  # type: ignore[attr-defined]
        return call  # type: ignore[return-value]

    return decorate


_ROUNDING = rounded_once(lambda: None).__code__
_UNSEEN = (_ROUNDING, node("")(lambda: None).__code__)
_WRAPPERS = {*_UNSEEN, with_out(lambda: None).__code__, checked(lambda: None).__code__}


def _cast(value: Any, old: Any, new: Any) -> Any:
    """The value with its tensors of type `old` cast to `new`."""
    if isinstance(value, Tensor):
        return value.to(new) if value.dtype is old else value
    if isinstance(value, dict):
        return {name: _cast(part, old, new) for name, part in value.items()}
    if type(value) in (list, tuple):
        return type(value)(_cast(part, old, new) for part in value)
    return value


def _unwrapped(f: Any) -> tuple[Any, bool, Any]:
    """The function without what stands in this file around it, whether `rounded_once` is a part of that, and the name that `node` gives."""
    rounds, name = False, getattr(f, "_node", None)
    while f.__code__ in _WRAPPERS:
        rounds |= f.__code__ is _ROUNDING
        f = f.__wrapped__
    return f, rounds, name


def _composition(f: Any) -> Any:
    """The function itself, below `rounded_once` and `node`."""
    while f.__code__ in _UNSEEN:
        f = f.__wrapped__
    return f


def check_all(namespace: dict[str, Any], out: Container[str] = (), space: str = "composed") -> None:
    """Makes all public functions of a module checked, and lets those named in `out` take it.

    Calls whose arguments need no word of Python go straight to C++ where `core/python` has them under the name of `space` (`functional.cpp`,
    `composed.cpp`).
    Functions that only hand their arguments on say themselves what they expect.
    """
    for name in namespace["__all__"]:
        f = namespace[name]
        if isinstance(f, FunctionType):
            f.__dict__.setdefault("_plain", f"{space}.{name}")  # what another namespace has too is the first one's
        if not isinstance(f, FunctionType) or hasattr(own := _composition(f), "__wrapped__"):
            continue
        f = checked(f)
        namespace[name] = f = with_out(f) if name in out else f
        if f is not own:
            f.__module__ = namespace["__name__"]  # where pickles find it


# ---- the functions that users call


_faces: dict[Any, tuple[Any, str, str]] = {}  # of a function: what users see, and where


_spaces: set[str] = set()  # the namespaces that are made so


def make_face(namespace: dict[str, Any], later: Sequence[str] = ()) -> None:
    """Lets all functions of a public namespace that take or make tensors ask first who answers their calls with `__torch_function__`.

    Namespaces named in `later` do the same when they are imported.
    """
    _spaces.update((namespace["__name__"], *later))
    for name, f in namespace.items():
        kinds = f.__annotations__ if isinstance(f, FunctionType) and name[0] != "_" else {}
        if kinds.get("return") == "Tensor" or any("Tensor" in str(kind) for word, kind in kinds.items() if word != "return"):
            if f not in _faces:
                asking = _core._asking(f, getattr(f, "_plain", None), *_unwrapped(f))
                _faces[f] = asking, namespace["__name__"], name
            namespace[name] = _faces[f][0]


def face_of(f: Any) -> Any:
    """What users see of a function: itself, where it asks nobody."""
    return _faces[f][0] if isinstance(f, FunctionType) and f in _faces else f


def faces() -> list[Any]:
    """The namespaces that are made so."""
    return [importlib.import_module(name) for name in sorted(_spaces)]


def _found(module: str, name: str) -> Any:
    return getattr(importlib.import_module(module), name)


def reduced(f: Any) -> Any:
    """How what users see of a function is pickled: by its name."""
    return _found, _faces[f][1:]


# ---- methods of `Tensor`


def method(f: F) -> F:
    """The function is a method of `Tensor` too, under its name."""
    setattr(Tensor, f.__name__, checked(f) if "dim" in _composition(f).__code__.co_varnames else f)
    return f


def inplace_method(f: F) -> F:
    """The function is a method of `Tensor` too, and `name_` writes its result into the tensor."""

    def write(self: Tensor, *args: Any, **kwargs: Any) -> Tensor:
        found = f(self.clone(), *args, **kwargs)  # what f saves must not be overwritten
        if not _core.can_cast(found.dtype, self.dtype):
            raise RuntimeError(
                f"{f.__name__}_: result type {found.dtype} can't be cast to the desired output type {self.dtype}"
            )
        return self.copy_(found)

    write.__name__ = f.__name__ + "_"
    write.__doc__ = f"The in-place form of `{f.__name__}`."
    setattr(Tensor, write.__name__, write)
    return method(f)
