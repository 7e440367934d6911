"""Every tensor that the Python program holds, and where."""

from __future__ import annotations

import gc
import os
import sys
import sysconfig
import threading
from collections.abc import Iterator
from types import FrameType, ModuleType
from typing import Any

from adjoint_core import Tensor
from adjoint_engine._engine import Node

from .._graph.names import locals_of, tensors_of

Held = tuple[Tensor, str, str]

_CONTAINERS = (list, tuple, dict, set, frozenset)
_INSTALLED = tuple(sysconfig.get_paths()[k] + os.sep for k in ("stdlib", "platstdlib", "purelib", "platlib"))


def held() -> tuple[list[Held], list[Node]]:
    """Tensors, each with its name there and who holds it, and nodes of graphs.

    What no Python object refers to is not found: tensors that only graphs keep; the ledger finds them from here.
    """
    objects = gc.get_objects()
    holders: dict[int, Held] = {}
    for name, value, where in _local_variables():
        if issubclass(type(value), Tensor):
            holders.setdefault(id(value), (value, name, where))
    if any(issubclass(type(o), Tensor) for o in gc.get_referents(*objects)):
        members: dict[int, Held] = {}
        for o in objects:
            if o is not holders:
                _add_members(o, members)
        holders = members | holders
    holders.update({id(o): (o, "", "") for o in objects if issubclass(type(o), Tensor) and id(o) not in holders})
    _name_members(holders)
    return list(holders.values()), [o for o in objects if issubclass(type(o), Node)]


def _local_variables() -> Iterator[tuple[str, Any, str]]:
    """Those of running functions, this thread's first and innermost first, and where they are; the collector does not list them."""
    others = [frame for thread, frame in sys._current_frames().items() if thread != threading.get_ident()]
    frames: list[FrameType | None] = [*others, sys._getframe()]
    while frames:
        frame = frames.pop()
        while frame is not None:
            if frame.f_code.co_name != "<module>" and not frame.f_globals.get("__name__", "").startswith("adjoint_profiler."):
                for name, value in locals_of(frame).items():
                    yield name, value, f"local of {frame.f_code.co_name}"
            frame = frame.f_back


def _global_variables() -> Iterator[tuple[str, Any, str]]:
    """Those of the program's own modules."""
    for module in list(sys.modules.values()):
        variables = vars(module) if issubclass(type(module), ModuleType) else {}  # nothing of the user's is run
        file = variables.get("__file__")
        if isinstance(file, str) and not file.startswith(_INSTALLED):
            for name, value in list(variables.items()):
                if not name.startswith("__"):
                    yield name, value, f"global of {variables['__name__']}"


def _name_members(holders: dict[int, Held]) -> None:
    """Tensors of containers and objects get the name of the variable that holds these."""
    unnamed = {key for key, (_, name, _) in holders.items() if not name}
    scopes: dict[str, dict[str, Any]] = {}
    for name, value, scope in (v for source in (_local_variables, _global_variables) for v in source()):
        scopes.setdefault(scope, {}).setdefault(name, value)
    for scope, variables in scopes.items():
        if not unnamed:
            return
        for path, tensor in tensors_of(variables):
            if id(tensor) in unnamed:
                unnamed.remove(id(tensor))
                holders[id(tensor)] = tensor, path, scope


def _add_members(o: Any, members: dict[int, Held]) -> None:
    """Of several holders the same is chosen each time, in whatever order the collector lists them."""
    kind = type(o)
    if kind in (Tensor, Node):
        return
    for member in gc.get_referents(o):
        if issubclass(type(member), Tensor):
            found = member, *_where(o, kind, member)
            members[id(member)] = min(members.get(id(member), found), found, key=lambda h: (not h[1], h[2], h[1]))


def _where(o: Any, kind: type, member: Tensor) -> tuple[str, str]:
    if kind is dict:
        name = next((key for key, value in o.items() if value is member), None)
        if "__builtins__" in o or "__spec__" in o:
            return str(name), f"global of {o.get('__name__')}"
        return "", "in a dict"
    if kind in _CONTAINERS:
        return "", f"in a {kind.__name__}"
    return "", f"held by a {kind.__name__}"
