"""Every tensor that the Python program holds, and where."""

from __future__ import annotations

import gc
import sys
from types import FrameType
from typing import Any

from adjoint_core import Tensor
from adjoint_engine._engine import Node

from .._graph.names import locals_of

Held = tuple[Tensor, str, str]

_CONTAINERS = (list, tuple, dict, set, frozenset)


def held() -> tuple[list[Held], list[Node]]:
    """Tensors, each with its name there and who holds it, and nodes of graphs.

    What no Python object refers to is not found: tensors that only graphs keep; the ledger finds them from here.
    """
    objects = gc.get_objects()
    holders: dict[int, Held] = {}
    for frame in sys._current_frames().values():
        _add_locals(frame, holders)
    del frame  # it is this function's own: a cycle
    if any(issubclass(type(o), Tensor) for o in gc.get_referents(*objects)):
        for o in objects:
            if o is not holders:
                _add_members(o, holders)
    holders.update({id(o): (o, "", "") for o in objects if issubclass(type(o), Tensor) and id(o) not in holders})
    return list(holders.values()), [o for o in objects if issubclass(type(o), Node)]


def _add_locals(frame: FrameType | None, holders: dict[int, Held]) -> None:
    """The variables of running functions, which the collector does not list."""
    while frame is not None:
        if frame.f_code.co_name != "<module>" and not frame.f_globals.get("__name__", "").startswith("adjoint_profiler."):
            for name, value in locals_of(frame).items():
                if issubclass(type(value), Tensor):
                    holders.setdefault(id(value), (value, name, f"local of {frame.f_code.co_name}"))
        frame = frame.f_back


def _add_members(o: Any, holders: dict[int, Held]) -> None:
    kind = type(o)
    if kind in (Tensor, Node):
        return
    for member in gc.get_referents(o):
        if issubclass(type(member), Tensor) and id(member) not in holders:
            holders[id(member)] = member, *_where(o, kind, member)


def _where(o: Any, kind: type, member: Tensor) -> tuple[str, str]:
    if kind is dict:
        name = next((key for key, value in o.items() if value is member), None)
        if "__builtins__" in o or "__spec__" in o:
            return str(name), f"global of {o.get('__name__')}"
        return "", "in a dict"
    if kind in _CONTAINERS:
        return "", f"in a {kind.__name__}"
    return "", f"held by a {kind.__name__}"
