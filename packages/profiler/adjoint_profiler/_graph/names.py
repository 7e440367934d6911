"""What the user calls his tensors: found among the variables of the calling function."""

from __future__ import annotations

import inspect
import sys
import types
from collections.abc import Iterator, Mapping
from typing import Any

from adjoint_core import Tensor
from adjoint_engine import _engine

_DEPTH, _MOST = 4, 20_000
_OPAQUE = (
    str,
    bytes,
    int,
    float,
    complex,
    type,
    types.ModuleType,
    types.FunctionType,
    types.BuiltinFunctionType,
    types.FrameType,
)

Key = tuple[int, int]  # a node and which of its outputs


def of_frame(frame: types.FrameType | None) -> dict[Key, str]:
    """The names of tensors with history in a frame's variables, `model.layers[0].weight` included; locals come first."""
    if frame is None:
        return {}
    scopes = [locals_of(frame), frame.f_globals]
    return of_mapping({name: value for scope in reversed(scopes) for name, value in scope.items() if not name.startswith("_")})


def locals_of(frame: types.FrameType) -> dict[str, Any]:
    """The variables of a running function. Before 3.13 a look leaves a copy with the frame that would keep them alive."""
    variables = dict(frame.f_locals)
    if sys.version_info < (3, 13) and frame.f_code.co_flags & inspect.CO_OPTIMIZED:
        frame.f_locals.clear()
    return variables


def of_mapping(variables: Mapping[str, Any]) -> dict[Key, str]:
    """The shortest name of each tensor with history."""
    found: dict[Key, str] = {}
    for name, tensor in tensors_of(variables):
        if tensor.requires_grad:
            found.setdefault(_engine.edge_key(tensor), name)
    return found


def tensors_of(variables: Mapping[str, Any]) -> Iterator[tuple[str, Tensor]]:
    """Tensors with their names, those of containers and objects after the variables that hold these."""
    seen: set[int] = set()
    level: list[tuple[str, Any]] = list(variables.items())
    for _ in range(_DEPTH):
        below: list[tuple[str, Any]] = []
        for name, value in level:
            if issubclass(type(value), Tensor):
                yield name, value
            elif id(value) not in seen and not _is_opaque(type(value)) and len(below) < _MOST:
                seen.add(id(value))
                below.extend(_members(name, value))
        level = below


def _is_opaque(kind: type) -> bool:
    """Whether it holds no tensors of the user's: ledgers, for one, are long, and what is looked at is bounded."""
    return issubclass(kind, _OPAQUE) or str(kind.__module__).startswith("adjoint_profiler.")


def _members(name: str, value: Any) -> Iterator[tuple[str, Any]]:
    """What a container or an object holds; nothing of the user's is run."""
    kind = type(value)
    if issubclass(kind, dict):
        yield from ((f"{name}[{key!r}]", member) for key, member in list(dict.items(value))[:_MOST])
    elif issubclass(kind, list | tuple):
        yield from ((f"{name}[{i}]", member) for i, member in enumerate(value[:_MOST]))
    else:
        try:
            attributes = object.__getattribute__(value, "__dict__")
        except AttributeError:
            return
        yield from ((f"{name}.{key}", member) for key, member in list(attributes.items()) if isinstance(key, str))
