"""What events are called. Names that PyTorch has for the same work are PyTorch's: that is what users look for."""

from __future__ import annotations

_SAME_WORK = {
    "conj": "_conj",
    "erf_derivative": "special_erf_backward",
    "gelu_derivative": "gelu_backward",
    "gelu_tanh": "gelu",
    "gelu_tanh_derivative": "gelu_backward",
    "log_softmax": "_log_softmax",
    "logsigmoid": "log_sigmoid",
    "relu_derivative": "threshold_backward",
    "sigmoid_derivative": "sigmoid_backward",
    "silu_derivative": "silu_backward",
    "softmax": "_softmax",
    "tanh_derivative": "tanh_backward",
    "to_device": "_to_copy",
    "to_dtype": "_to_copy",
    "trunc_divide": "div",
    "unique": "_unique2",
    "vector_norm": "linalg_vector_norm",
}
_BY_RANK = {  # of the first operand: batch and channels, then one to three dimensions
    "avg_pool": "avg_pool{}d",
    "avg_pool_vjp": "avg_pool{}d_backward",
    "conv": "conv{}d",
    "max_pool": "max_pool{}d_with_indices",
}
_CONVOLUTION_BACKWARD = ("conv_input_vjp", "conv_weight_vjp")
_PRODUCTS = {(1, 1): "dot", (2, 1): "mv", (2, 2): "mm", (3, 3): "bmm"}


def of_op(record: str, rank: int, other_rank: int, in_place: bool) -> str:
    """The event's name of a call: of the record, the ranks of its first two operands (-1: absent).

    Example::

        >>> of_op("mul", 2, 2, in_place=True), of_op("matmul", 3, 3, in_place=False)
        ('aten::mul_', 'aten::bmm')
    """
    if record == "matmul":
        name = _PRODUCTS.get((rank, other_rank), "matmul")
    elif record in _BY_RANK:
        name = _BY_RANK[record].format(min(max(rank - 2, 1), 3))
    elif record in _CONVOLUTION_BACKWARD:
        name = "convolution_backward"
    else:
        name = _SAME_WORK.get(record, record)
    return f"aten::{name}{'_' if in_place else ''}"


def of_event(kind: str, name: str, rank: int = -1, other_rank: int = -1) -> str:
    """The name of any event; `kind` and `name` as the engine tells them to observers."""
    if kind in ("op", "in_place"):
        return of_op(name, rank, other_rank, kind == "in_place")
    if kind == "evaluation":
        return of_evaluation(name)
    if kind == "node":
        return of_node(name)
    if kind == "backward":
        return "autograd::engine::backward"
    return f"aten::{name}" if kind == "function" else name


def of_key(name: str) -> str:
    """The name under which an event is added up: steps of a program are one row.

    Example::

        >>> of_key("ProfilerStep#3"), of_key("aten::mul")
        ('ProfilerStep*', 'aten::mul')
    """
    return "ProfilerStep*" if name.startswith("ProfilerStep#") else name


def of_node(name: str) -> str:
    """The event's name of a node of backward.

    Example::

        >>> of_node("AccumulateGrad"), of_node("MulBackward0")
        ('torch::autograd::AccumulateGrad', 'MulBackward0')
    """
    return f"torch::autograd::{name}" if name in ("AccumulateGrad", "CopySlices") else name


def of_evaluation(name: str) -> str:
    """The event's name of a node with its hooks, and with adding up what flows out of it."""
    return f"autograd::engine::evaluate_function: {of_node(name)}"
