"""What libraries that could be exported to ONNX ask when they are imported and run. Nothing is exported: adjoint writes no files of other runtimes."""

from __future__ import annotations

from typing import Any

from . import symbolic_helper as symbolic_helper
from . import symbolic_opset9 as symbolic_opset9
from . import symbolic_opset11 as symbolic_opset11


def is_in_onnx_export() -> bool:
    """False: nothing is exported."""
    return False


def register_custom_op_symbolic(symbolic_name: str, symbolic_fn: Any, opset_version: int, custom_opsets: Any = None) -> None:
    """Nothing: what it would tell an export is never asked for."""


def unregister_custom_op_symbolic(symbolic_name: str, opset_version: int) -> None:
    """Nothing: see `register_custom_op_symbolic`."""


def export(*args: Any, **kwargs: Any) -> Any:
    """Refuses.

    Raises:
        NotImplementedError: always.
    """
    raise NotImplementedError(
        "onnx.export: adjoint writes no files of other runtimes; save the weights, and export them from PyTorch"
    )
