"""What events are called. Names that PyTorch has for the same work are PyTorch's: that is what users look for."""

from __future__ import annotations

from adjoint_engine.operators import event_name

_CONVOLUTIONS = ("conv", "conv_transpose")  # a function of as many dimensions as the weight has


def of_event(kind: str, name: str, rank: int = -1, other_rank: int = -1) -> str:
    """The name of any event; `kind` and `name` as the engine tells them to observers."""
    if kind in ("op", "in_place"):
        return f"aten::{event_name(name, rank, other_rank, kind == 'in_place')}"
    if kind == "evaluation":
        return of_evaluation(name)
    if kind == "node":
        return of_node(name)
    if kind == "backward":
        return "autograd::engine::backward"
    if kind == "function" and name in _CONVOLUTIONS:
        return f"aten::{name}{max(other_rank - 2, 1)}d"
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
    if (
        name == "UnsafeViewBackward0"
    ):  # what the graph calls a product of batches; PyTorch's that views its result has one of BmmBackward0 behind it
        return "BmmBackward0"
    return f"torch::autograd::{name}" if name in ("AccumulateGrad", "CopySlices") else name


def of_evaluation(name: str) -> str:
    """The event's name of a node with its hooks, and with adding up what flows out of it."""
    return f"autograd::engine::evaluate_function: {of_node(name)}"
