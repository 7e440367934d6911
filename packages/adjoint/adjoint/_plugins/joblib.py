"""Tensors among joblib's processes: their bytes as NumPy arrays, large ones of which joblib maps instead of sending them."""

import sys
from pickle import PickleBuffer
from types import ModuleType
from typing import Any

from adjoint_core import Tensor, _core
from adjoint_engine import Parameter


def _reduce(x: Tensor) -> Any:
    function, made_of = x.__reduce_ex__(5)
    if "numpy" not in sys.modules:  # joblib does without, and maps nothing then
        return function, made_of
    return function, tuple(_array(part) if type(part) is PickleBuffer else part for part in made_of)


def _array(memory: PickleBuffer) -> Any:
    return _core._from_buffer(memory, _core.uint8, share=True).numpy()


def add(reduction: ModuleType) -> None:
    """To `joblib.externals.loky.backend.reduction`, which asks for the exact class."""
    for kind in (Tensor, Parameter):
        reduction.register(kind, _reduce)
