"""`jit`: PyTorch's scripts and traces, as pass-throughs. Nothing is compiled: what is scripted or traced runs as the Python that it is."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final, NamedTuple, NoReturn, TypeVar

from adjoint_functional.nn.modules import Module

__all__ = [
    "Attribute", "Final", "ScriptFunction", "ScriptModule", "TracerWarning", "annotate", "export", "fork", "freeze", "ignore", "interface", "is_scripting",
    "is_tracing", "isinstance", "load", "optimize_for_inference", "save", "script", "script_if_tracing", "script_method", "set_fusion_strategy", "trace",
    "trace_module", "unused", "wait",
]  # fmt: skip

T = TypeVar("T")
_isinstance = isinstance


class ScriptModule(Module):
    """A module: there is no other kind here. For programs that derive from it or ask for it."""


class ScriptFunction:
    """What PyTorch makes of a scripted function; here functions stay what they are, so nothing is an instance."""


class Attribute(NamedTuple):
    """A value and its type, of which PyTorch's scripts make an attribute: here it stays the pair."""

    value: Any
    type: Any


class TracerWarning(Warning):
    """What PyTorch warns of while it traces; never raised here."""


def script(obj: T, optimize: Any = None, _frames_up: int = 0, _rcb: Any = None, example_inputs: Any = None) -> T:
    """The function, class or module itself: it runs as Python.

    Example::

        >>> ad.jit.script(abs) is abs
        True
    """
    return obj


def trace(func: T, example_inputs: Any = None, *args: Any, **kwargs: Any) -> T:
    """The function or module itself, which is not run: control flow stays, where PyTorch would freeze it."""
    return func


def trace_module(mod: T, inputs: Any, *args: Any, **kwargs: Any) -> T:
    """The module itself."""
    return mod


def _same(fn: T) -> T:
    """The function itself."""
    return fn


export = interface = script_method = script_if_tracing = unused = _same


def ignore(drop: Any = False, **kwargs: Any) -> Any:
    """The function itself, or a decorator that gives it: `@ignore` and `@ignore()`."""
    return drop if callable(drop) else _same


def load(f: Any, map_location: Any = None, _extra_files: Any = None, _restore_shapes: bool = False) -> NoReturn:
    """Raises NotImplementedError: files of scripts hold programs in TorchScript, which is not run here."""
    raise NotImplementedError("jit.load: files of TorchScript cannot be run here; load a state_dict into the module instead")


def save(m: Any, f: Any, _extra_files: Any = None) -> NoReturn:
    """Raises NotImplementedError: nothing is compiled that a file of scripts could hold."""
    raise NotImplementedError("jit.save: nothing is compiled to TorchScript here; save the module's state_dict instead")


def freeze(mod: T, preserved_attrs: Any = None, optimize_numerics: bool = True) -> T:
    """The module itself."""
    return mod


def optimize_for_inference(mod: T, other_methods: Any = None) -> T:
    """The module itself."""
    return mod


def set_fusion_strategy(strategy: Any) -> Any:
    """Nothing is fused; gives the strategy back."""
    return strategy


def is_scripting() -> bool:
    """False: nothing is compiled."""
    return False


def is_tracing() -> bool:
    """False: nothing is traced."""
    return False


def annotate(the_type: Any, the_value: T) -> T:
    """The value."""
    return the_value


def isinstance(obj: Any, target_type: Any) -> bool:
    """Python's `isinstance`."""
    return _isinstance(obj, target_type)


def fork(func: Callable[..., Any], *args: Any, **kwargs: Any) -> Callable[[], Any]:
    """Calls the function at once; `wait` gives its value.

    Example::

        >>> ad.jit.wait(ad.jit.fork(ad.add, ad.ones(1), 2))
        tensor([3.])
    """
    value = func(*args, **kwargs)
    return lambda: value


def wait(future: Callable[[], Any]) -> Any:
    """The value of what `fork` called.

    Example::

        >>> ad.jit.wait(ad.jit.fork(ad.add, ad.ones(1), 2))
        tensor([3.])
    """
    return future()
