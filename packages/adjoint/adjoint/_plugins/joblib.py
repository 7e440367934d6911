"""Tensors among joblib's processes: their bytes as NumPy arrays, large ones of which joblib maps instead of sending them."""

from pickle import PickleBuffer
from types import ModuleType
from typing import Any

import numpy as np

from adjoint_core import Tensor
from adjoint_engine import Parameter


def _reduce(x: Tensor) -> Any:
    function, (kind, *rest) = x.__reduce_ex__(5)
    made_of = (np.frombuffer(part.raw(), np.uint8) if type(part) is PickleBuffer else part for part in rest)
    return function, (kind, *made_of)


def add(reduction: ModuleType) -> None:
    """To `joblib.externals.loky.backend.reduction`, which asks for the exact class."""
    for kind in (Tensor, Parameter):
        reduction.register(kind, _reduce)
