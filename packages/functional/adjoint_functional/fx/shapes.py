"""`ShapeProp`: runs a program, and notes at each node what its tensors are."""

from __future__ import annotations

import traceback
from typing import Any, NamedTuple

import adjoint_core as core
from adjoint_core import Tensor

from .interpreter import Interpreter
from .node import Node, map_aggregate

_FORMATS = (core.contiguous_format, core.channels_last, core.channels_last_3d)


class TensorMetadata(NamedTuple):
    """What a tensor is, without its values."""

    shape: Any
    dtype: Any
    requires_grad: bool
    stride: tuple[int, ...]
    memory_format: Any
    is_quantized: bool
    qparams: dict[str, Any]


def _described(value: Any) -> Any:
    if not isinstance(value, Tensor):
        return value
    dims = {core.channels_last: 4, core.channels_last_3d: 5}
    layout = next((f for f in _FORMATS if value.ndim == dims.get(f, value.ndim) and value.is_contiguous(memory_format=f)), None)
    return TensorMetadata(value.shape, value.dtype, value.requires_grad, value.stride(), layout, False, {})


class ShapeProp(Interpreter):
    """Runs a program: `node.meta` then has `tensor_meta`, what the tensors of the result are, and `type`.

    Example::

        >>> traced = ad.fx.symbolic_trace(lambda x: x.sum(0))
        >>> ad.fx.passes.shape_prop.ShapeProp(traced).propagate(ad.ones(2, 3))
        tensor([2., 2., 2.])
        >>> [node.meta["tensor_meta"].shape for node in traced.graph.nodes]
        [adjoint.Size([2, 3]), adjoint.Size([3]), adjoint.Size([3])]
    """

    def __init__(self, gm: Any, fake_mode: Any = None) -> None:
        super().__init__(gm)

    def run_node(self, n: Node) -> Any:
        """The value of one node, of which is noted what it is."""
        try:
            result = super().run_node(n)
        except Exception as error:
            traceback.print_exc()
            raise RuntimeError(f"ShapeProp error for: node={n.format_node()} with meta={n.meta}") from error
        found: list[Tensor] = []
        map_aggregate(result, lambda leaf: found.append(leaf) if isinstance(leaf, Tensor) else None)
        if found:
            n.meta["tensor_meta"] = map_aggregate(result, _described)
        n.meta["type"] = type(result)
        return result

    def propagate(self, *args: Any) -> Any:
        """What the program returns for these arguments."""
        return self.run(*args)
