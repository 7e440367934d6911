"""The steps of autograd.functional under PyTorch's private names, for libraries that take them one by one."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from .._backend import Tensor, zeros
from .inputs_outputs import Tensors, as_tuple, fresh, pull

__all__ = [
    "_as_tuple", "_autograd_grad", "_construct_standard_basis_for", "_grad_postprocess", "_grad_preprocess", "_tuple_postprocess",
]  # fmt: skip


def _as_tuple(inp: Any, arg_name: str | None = None, fn_name: str | None = None) -> tuple[bool, Tensors]:
    if arg_name is None and fn_name is None:
        return (True, inp) if isinstance(inp, tuple) else (False, (inp,))
    return as_tuple(inp, str(arg_name), str(fn_name))


def _grad_preprocess(inputs: Sequence[Any], create_graph: bool, need_graph: bool) -> tuple[Any, ...]:
    return tuple(fresh((x,), create_graph, need_graph)[0] if isinstance(x, Tensor) else x for x in inputs)


def _grad_postprocess(inputs: Any, create_graph: bool) -> Any:
    """Results without history, in tuples of any depth, unless there was to be a graph."""
    if create_graph:
        return inputs
    return inputs.detach() if isinstance(inputs, Tensor) else tuple(_grad_postprocess(x, create_graph) for x in inputs)


def _tuple_postprocess(res: Any, to_unpack: bool | tuple[bool, bool]) -> Any:
    """The only elements of tuples that stand for what was no tuple: outside, and, for a pair of flags, inside too."""
    outer, inner = to_unpack if isinstance(to_unpack, tuple) else (to_unpack, True)
    found = res if inner else tuple(row[0] for row in res)
    return found if outer else found[0]


def _autograd_grad(
    outputs: Any,
    inputs: Tensors,
    grad_outputs: Sequence[Tensor | None] | None = None,
    create_graph: bool = False,
    retain_graph: bool | None = None,
    is_grads_batched: bool = False,
) -> tuple[Tensor | None, ...]:
    cotangents = (None,) * len(outputs) if grad_outputs is None else grad_outputs
    return pull(outputs, inputs, cotangents, create_graph, retain_graph=retain_graph, batched=is_grads_batched)


def _construct_standard_basis_for(tensors: Tensors, tensor_numels: Sequence[int]) -> Tensors:
    """For each tensor a matrix of a row for each element of all of them: the unit vectors, cut into columns."""
    if not tensors or len(tensors) != len(tensor_numels):
        raise AssertionError(f"_construct_standard_basis_for: expected tensors and the number of elements of each, got {len(tensors)} and {len(tensor_numels)}")  # fmt: skip
    rows, at, blocks = sum(tensor_numels), 0, []
    for x, n in zip(tensors, tensor_numels, strict=True):
        block = zeros((rows, n), dtype=x.dtype, device=x.device)
        block[at : at + n].fill_diagonal_(1)
        blocks.append(block)
        at += n
    return tuple(blocks)
