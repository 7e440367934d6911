"""autograd.functional: whole Jacobians and Hessians."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from .._backend import Tensor, enable_grad, stack, zeros
from .._func.forward import jacfwd
from .._func.reverse import grad as func_grad
from .._func.reverse import unit_vectors
from . import strict as _strict
from .inputs_outputs import (
    OUTPUTS,
    Call,
    TensorOrTensors,
    Tensors,
    as_given,
    as_tuple,
    call,
    cut_off,
    finished,
    pull,
    require_scalar,
    zero_filled,
)

_STRATEGIES = ("forward-mode", "reverse-mode")


def _check_options(create_graph: bool, strict: bool, vectorize: bool, strategy: str) -> None:
    if strategy not in _STRATEGIES:
        raise AssertionError(
            'Expected strategy to be either "forward-mode" or "reverse-mode". Hint: If your function has more outputs '
            f'than inputs, "forward-mode" tends to be more performant. Otherwise, prefer "reverse-mode". Got {strategy!r}.'
        )
    forward = strategy == "forward-mode"
    if forward and create_graph:
        raise NotImplementedError(
            'autograd.functional.jacobian: `create_graph=True` and `strategy="forward-mode"` are not supported '
            'together. Please either set `create_graph=False` or `strategy="reverse-mode"`.'
        )
    if forward and strict:
        raise RuntimeError(
            'autograd.functional.jacobian: `strict=True` and `strategy="forward-mode"` are not supported together. '
            'Please either set `strict=False` or `strategy="reverse-mode"`.'
        )
    if forward and not vectorize:
        raise NotImplementedError(
            "Computing Jacobian using forward-AD or forward-over-reverse Hessian is only implemented for `vectorize=True`."
        )
    if strict and vectorize:
        raise RuntimeError(
            "autograd.functional.jacobian: `strict=True` and `vectorized=True` are not supported together. "
            "Please either set `strict=False` or `vectorize=False`."
        )


def _blocks_of(c: Call, index: int, create_graph: bool, strict: bool, vectorize: bool) -> Tensors:
    """The Jacobian of one output: for each input a tensor of shape ``output.shape + input.shape``."""
    y = c.outputs[index]
    shapes = [(*y.shape, *x.shape) for x in c.inputs]
    if y.numel() == 0 or not y.requires_grad:
        return tuple(zeros(s, dtype=x.dtype, device=x.device) for s, x in zip(shapes, c.inputs, strict=True))
    cotangents = unit_vectors(y)
    if vectorize:
        found = pull((y,), c.inputs, (cotangents,), create_graph, retain_graph=True, batched=True)
        return tuple(
            zeros(s, dtype=x.dtype, device=x.device) if g is None else g.reshape(s)
            for g, s, x in zip(found, shapes, c.inputs, strict=True)
        )
    rows = []
    for cotangent in cotangents.unbind(0):
        row = pull((y,), c.inputs, (cotangent,), create_graph, retain_graph=True)
        if strict:
            _strict.check_row(row, index, create_graph)
        rows.append(zero_filled(row, c.inputs))
    columns = zip(*rows, strict=True)
    return tuple(stack(list(column)).reshape(s) for column, s in zip(columns, shapes, strict=True))


def jacobian(
    func: Callable[..., Any],
    inputs: TensorOrTensors,
    create_graph: bool = False,
    strict: bool = False,
    vectorize: bool = False,
    strategy: str = "reverse-mode",
) -> Any:
    """The Jacobian of ``func`` at ``inputs``: ``J[i][j]`` holds d output_i / d input_j.

    Arguments:
        func: takes tensors, returns a tensor or a tuple of tensors.
        inputs: a tensor or a tuple of tensors.
        create_graph: makes the result differentiable.
        strict: raises where an output has no influence from an input, instead of giving zeros.
        vectorize: all rows (or columns) in one batched pass per output (or input) instead of one pass each.
        strategy: "reverse-mode" (row by row) or "forward-mode" (column by column; needs ``vectorize``).

    Returns:
        A tensor of shape ``output.shape + input.shape``; a tuple of them, over inputs or over outputs, if inputs or
        outputs are a tuple; a tuple over outputs of tuples over inputs if both are. The dtype is the input's in
        reverse mode, the output's in forward mode.

    Raises:
        TypeError: inputs or outputs are not tensors.
        RuntimeError: an independence in strict mode; ``strict`` with ``vectorize`` or forward mode.
        NotImplementedError: forward mode without ``vectorize``, or with ``create_graph``.
        AssertionError: unknown strategy.

    Example::

        >>> jacobian(lambda x: x * x, ad.tensor([1., 2.]))
        tensor([[2., 0.],
                [0., 4.]])
    """
    _check_options(create_graph, strict, vectorize, strategy)
    if strategy == "forward-mode":
        return _jacobian_forward(func, inputs)
    with enable_grad():
        c = call(func, inputs, "jacobian", create_graph)
        if strict:
            _strict.check_outputs(c.outputs)
        blocks = [_blocks_of(c, i, create_graph, strict, vectorize) for i in range(len(c.outputs))]
    rows = [as_given(finished(row, create_graph), c.many_inputs) for row in blocks]
    return as_given(rows, c.many_outputs)


def _jacobian_forward(func: Callable[..., Any], inputs: TensorOrTensors) -> Any:
    many_inputs, given = as_tuple(inputs, "inputs", "jacobian")
    many_outputs = False

    def tupled(*args: Tensor) -> Tensors:
        nonlocal many_outputs
        many_outputs, outputs = as_tuple(func(*args), OUTPUTS, "jacobian")
        return outputs

    with enable_grad():
        rows = jacfwd(tupled, tuple(range(len(given))))(*map(cut_off, given))
    return as_given([as_given(finished(row, False), many_inputs) for row in rows], many_outputs)


def hessian(
    func: Callable[..., Any],
    inputs: TensorOrTensors,
    create_graph: bool = False,
    strict: bool = False,
    vectorize: bool = False,
    outer_jacobian_strategy: str = "reverse-mode",
) -> Any:
    """The Hessian of a scalar function at ``inputs``: ``H[i][j]`` holds d2 output / d input_i d input_j.

    The Jacobian of the gradient; the gradient is always taken in reverse mode.

    Arguments:
        func: takes tensors, returns a single tensor with one element.
        inputs: a tensor or a tuple of tensors.
        create_graph: makes the result differentiable.
        strict: raises where the gradient has no influence from an input, instead of giving zeros.
        vectorize: all rows (or columns) in one batched pass per input.
        outer_jacobian_strategy: "reverse-mode", or "forward-mode" (forward over reverse; needs ``vectorize``).

    Returns:
        A tensor of shape ``input.shape + input.shape``, or a tuple of tuples of shapes ``input_i.shape +
        input_j.shape`` if the inputs are a tuple.

    Raises:
        TypeError: inputs or output are not tensors.
        RuntimeError: the output is not one element; an independence in strict mode.
        NotImplementedError: forward mode without ``vectorize``, or with ``create_graph``.
        AssertionError: unknown strategy.

    Example::

        >>> hessian(lambda x: (x ** 3).sum(), ad.tensor([1., 2.]))
        tensor([[ 6.,  0.],
                [ 0., 12.]])
    """
    many, given = as_tuple(inputs, "inputs", "hessian")
    _check_options(create_graph, strict, vectorize, outer_jacobian_strategy)

    def scalar(*args: Tensor) -> Tensor:
        many_outputs, outputs = as_tuple(func(*args), OUTPUTS, "hessian")
        if strict:
            _strict.check_outputs(outputs)
        return require_scalar(many_outputs, outputs, "hessian").reshape(())

    def gradient(*args: Tensor) -> Tensors:
        found = pull((scalar(*args),), args, (None,), True)
        if strict:
            _strict.check_first_of_two(found)
        return zero_filled(found, args)

    if outer_jacobian_strategy == "forward-mode":
        result = _jacobian_forward(func_grad(scalar, tuple(range(len(given)))), given)
    else:
        result = jacobian(gradient, given, create_graph, strict, vectorize)
    return result if many else result[0][0]
