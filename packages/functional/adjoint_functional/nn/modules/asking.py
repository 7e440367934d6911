"""Layers call functions straight, until the first class with `__torch_function__` is there: from then on by their public faces, which ask it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from adjoint_core._compose import face_of
from adjoint_core._tensor.subclasses import when_asked

from .. import functional as F
from .from_function import _FromFunction


def _kinds(kind: type[_FromFunction]) -> Iterator[type[_FromFunction]]:
    for below in kind.__subclasses__():
        yield below
        yield from _kinds(below)


def _show_faces() -> None:
    for name, f in list(vars(F).items()):
        setattr(F, name, face_of(f))
    for kind in _kinds(_FromFunction):
        if (f := vars(kind).get("_function")) is not None:
            own: Any = kind
            own._function = staticmethod(face_of(f.__func__))


def let_layers_ask() -> None:
    """Is called when the public `nn.functional` is there."""
    when_asked(_show_faces)
