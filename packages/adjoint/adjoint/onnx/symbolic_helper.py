"""What functions that describe an operator to ONNX are decorated with."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any


def parse_args(*arg_descriptors: str) -> Callable[[Any], Any]:
    """Leaves the function as it is: no export calls it."""
    return lambda function: function


def quantized_args(*arg_q_descriptors: bool, **options: Any) -> Callable[[Any], Any]:
    """Leaves the function as it is: no export calls it."""
    return lambda function: function
