"""What a file may name, and what it means here."""

from __future__ import annotations

import importlib
from pickle import Unpickler as _Unpickler
from pickle import UnpicklingError
from typing import IO, Any

from .safe_globals import SAFE
from .torch_files import MEANINGS

_ALLOWED = {
    ("adjoint", "_rebuild"),
    ("adjoint_engine", "_rebuild"),
    ("adjoint_core._tensor", "_rebuild"),
    ("adjoint_core._tensor", "_rebuild_meta"),
    ("adjoint_core._tensor", "_rebuild_sparse"),
    ("adjoint_core._tensor", "_dtype_named"),
    ("adjoint_core._size", "Size"),
    ("adjoint_engine._parameter", "Parameter"),
    ("collections", "OrderedDict"),
    ("collections", "defaultdict"),
    ("collections", "Counter"),
    ("builtins", "set"),
    ("builtins", "complex"),
    ("builtins", "bytearray"),
    ("_codecs", "encode"),  # what bytes are in old protocols
}


class Unpickler(_Unpickler):
    """Knows PyTorch's names. With `weights_only` it imports nothing but what tensors and containers are made of."""

    def __init__(self, file: IO[bytes], reader: Any, weights_only: bool) -> None:
        super().__init__(file)
        self.reader, self.weights_only = reader, weights_only

    def persistent_load(self, pid: Any) -> Any:
        if self.reader is None:
            raise UnpicklingError("load: the file names memory that it does not hold: it is no file of save")
        return self.reader.memory(pid)

    def find_class(self, module: str, name: str) -> Any:
        module = "builtins" if module == "__builtin__" else module  # Python 2's name, which old protocols use
        if (module, name) in MEANINGS:
            return MEANINGS[module, name]
        if self.weights_only and f"{module}.{name}" in SAFE:
            return SAFE[f"{module}.{name}"]
        if not self.weights_only and module.partition(".")[0] == "torch":  # a class of PyTorch: ours of the same name
            return getattr(importlib.import_module("adjoint" + module.removeprefix("torch")), name)
        if self.weights_only and (module, name) not in _ALLOWED:
            raise UnpicklingError(
                f"Weights only load failed: {module}.{name} was not an allowed global by default; name it to serialization.add_safe_globals, "
                "or pass weights_only=False if you trust the file"
            )
        return super().find_class(module, name)
