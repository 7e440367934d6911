"""`save` and `load`: pickles of anything that holds tensors."""

from __future__ import annotations

import os
import pickle
from contextlib import nullcontext
from typing import IO, Any

from .atomic import replacing

__all__ = ["load", "save"]

File = str | os.PathLike[str] | IO[bytes]


def _opened(f: File, mode: str) -> Any:
    if not isinstance(f, (str, os.PathLike)):
        return nullcontext(f)
    return replacing(f) if mode == "wb" else open(f, mode)


def save(obj: object, f: File, pickle_protocol: int = 4) -> None:
    """Writes `obj`, a tensor or anything that holds tensors, to a file or a path. Files of PyTorch are another format.

    A path is written to in one step: a process that is killed leaves what was there before.

    Example: `save({"w": w}, "state.pkl"); w = load("state.pkl")["w"]`
    """
    with _opened(f, "wb") as file:
        pickle.dump(obj, file, protocol=pickle_protocol)


def load(f: File, map_location: Any = None, *, weights_only: bool = True) -> Any:
    """Reads what `save` wrote.

    With `weights_only`, nothing but tensors, numbers, strings and containers is made from the file: it cannot run code.

    Raises:
        pickle.UnpicklingError: the file holds something else, and `weights_only` is true.
    """
    with _opened(f, "rb") as file:
        return (_WeightsOnly if weights_only else pickle.Unpickler)(file).load()


class _WeightsOnly(pickle.Unpickler):
    """Refuses to import anything but what tensors and containers are made of."""

    _allowed = {
        ("adjoint", "_rebuild"),
        ("adjoint_engine", "_rebuild"),
        ("adjoint_core._tensor", "_rebuild"),
        ("adjoint_core._tensor", "_dtype_named"),
        ("adjoint_core._size", "Size"),
        ("adjoint_core._parameter", "Parameter"),
        ("adjoint_engine._parameter", "Parameter"),
        ("collections", "OrderedDict"),
        ("builtins", "set"),
        ("builtins", "complex"),
    }

    def find_class(self, module: str, name: str) -> Any:
        if (module, name) not in self._allowed:
            raise pickle.UnpicklingError(
                f"Weights only load failed: {module}.{name} was not an allowed global by default; pass weights_only=False if you trust the file"
            )
        return super().find_class(module, name)
