"""What autograd.functional's functions share: tuples of tensors in and out, fresh inputs, and their rules."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

from .._backend import Tensor, grad, is_tracked, zeros_like

Tensors: TypeAlias = tuple[Tensor, ...]
TensorOrTensors: TypeAlias = Tensor | Tensors

OUTPUTS = "outputs of the user-provided function"


def as_tuple(value: Any, what: str, where: str) -> tuple[bool, Tensors]:
    """Whether ``value`` was a tuple, and the tuple of tensors that it is or holds; TypeError otherwise."""
    many = isinstance(value, tuple)
    for index, element in enumerate(value if many else (value,)):
        if not isinstance(element, Tensor):
            culprit = f"value at index {index}" if many else f"given {what}"
            raise TypeError(
                f"The {what} given to {where} must be either a Tensor or a tuple of Tensors but the "
                f"{culprit} has type {type(element)}."
            )
    return many, value if many else (value,)


def as_given(values: Sequence[Any], many: bool) -> Any:
    """The inverse of ``as_tuple``: a tuple if a tuple was given, its only element if not."""
    return tuple(values) if many else values[0]


def fresh(tensors: Tensors, create_graph: bool, needs_grad: bool = True) -> Tensors:
    """New tensors with the same values: attached to the given ones if ``create_graph``, else leaves.

    New objects always, so that a tensor given as an input is told apart from the same tensor captured by ``func``.
    """
    return tuple(
        attached(t, needs_grad)
        if create_graph and (t.requires_grad or is_tracked(t))
        else cut_off(t).requires_grad_(needs_grad)
        for t in tensors
    )


def attached(t: Tensor, needs_grad: bool) -> Tensor:
    """A new tensor with the history and the tangents of ``t``; inside func.jvp it may have to become a leaf first."""
    new = t.clone() if t.is_sparse else t.view_as(t)
    return new if new.requires_grad else new.requires_grad_(needs_grad)


def cut_off(t: Tensor) -> Tensor:
    """The tensor without history; an error where a transform around would take that for a derivative of zero."""
    if is_tracked(t):
        raise RuntimeError(
            "autograd.functional: inside func.grad, vjp or jvp its results would have derivatives of zero. "
            "Use create_graph=True, or func.jacrev, jacfwd, hessian, vjp, jvp instead."
        )
    return t.detach()


def finished(tensors: Tensors, create_graph: bool) -> Tensors:
    """Results without history, unless the caller asked for a graph."""
    return tensors if create_graph else tuple(t.detach() for t in tensors)


@dataclass(frozen=True)
class Call:
    """One evaluation of the user's function on fresh inputs."""

    inputs: Tensors
    outputs: Tensors
    many_inputs: bool
    many_outputs: bool


def call(func: Callable[..., Any], inputs: Any, where: str, create_graph: bool) -> Call:
    """Evaluates ``func`` on fresh copies of ``inputs``; run with grad mode on."""
    many_inputs, given = as_tuple(inputs, "inputs", where)
    leaves = fresh(given, create_graph)
    many_outputs, outputs = as_tuple(func(*leaves), OUTPUTS, where)
    return Call(leaves, outputs, many_inputs, many_outputs)


def require_scalar(many: bool, outputs: Tensors, where: str) -> Tensor:
    """The single one-element output of a function that has a Hessian; RuntimeError otherwise."""
    if many:
        raise RuntimeError(f"The function given to {where} should return a single Tensor")
    if outputs[0].numel() != 1:
        raise RuntimeError(f"The Tensor returned by the function given to {where} should contain a single element")
    return outputs[0]


def directions(v: Any, like: Tensors, many: bool, where: str, create_graph: bool, source: str) -> Tensors:
    """The vector ``v`` as a tuple of the shapes of ``like``; without ``v``, a one if ``like`` is one single element.

    ``source`` says what ``like`` is, for the error: "function returns" or "input to the function is".
    """
    if v is None:
        if len(like) != 1 or like[0].numel() != 1:
            raise RuntimeError(f"The vector v can only be None if the {source} a single Tensor with a single element.")
        return (zeros_like(like[0]) + 1,)
    vectors = fresh(as_tuple(v, "v", where)[1], create_graph, needs_grad=False)
    if len(vectors) != len(like):
        if many:
            raise RuntimeError(f"v is a tuple of invalid length: should be {len(like)} but got {len(vectors)}.")
        raise RuntimeError("The given v should contain a single Tensor.")
    for index, (vector, ref) in enumerate(zip(vectors, like, strict=True)):
        if vector.shape != ref.shape:
            entry = f"Entry {index} in " if many else ""
            raise RuntimeError(f"{entry}v has invalid size: should be {ref.shape} but got {vector.shape}.")
    return vectors


def pull(
    outputs: Tensors,
    inputs: Tensors,
    cotangents: Sequence[Tensor | None],
    create_graph: bool,
    *,
    retain_graph: bool | None = None,
    batched: bool = False,
) -> tuple[Tensor | None, ...]:
    """``grad`` that passes over outputs without history and gives None for inputs that nothing depends on."""
    live = [(y, v) for y, v in zip(outputs, cotangents, strict=True) if y.requires_grad]
    if not live:
        return (None,) * len(inputs)
    return grad(
        [y for y, _ in live],
        inputs,
        [v for _, v in live],
        retain_graph=retain_graph,
        create_graph=create_graph,
        allow_unused=True,
        is_grads_batched=batched,
    )


def zero_filled(values: Sequence[Tensor | None], like: Tensors) -> Tensors:
    """Zeros in place of None: the mathematical value of an absent derivative."""
    return tuple(zeros_like(ref) if value is None else value for value, ref in zip(values, like, strict=True))
