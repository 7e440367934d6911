"""autograd.functional: products of a Jacobian or a Hessian with a vector."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from .._backend import Tensor, enable_grad, forward_ad, zeros_like
from . import strict as _strict
from .inputs_outputs import (
    OUTPUTS,
    TensorOrTensors,
    Tensors,
    as_given,
    as_tuple,
    call,
    directions,
    finished,
    fresh,
    pull,
    require_scalar,
    zero_filled,
)

_FROM_INPUT = "input to the user-provided function is"
_FROM_OUTPUT = "user-provided function returns"


def vjp(
    func: Callable[..., Any],
    inputs: TensorOrTensors,
    v: TensorOrTensors | None = None,
    create_graph: bool = False,
    strict: bool = False,
) -> tuple[Any, Any]:
    """Vector-Jacobian product: ``v^H J`` at ``inputs``, by one backward pass.

    Arguments:
        func: takes tensors, returns a tensor or a tuple of tensors.
        inputs: a tensor or a tuple of tensors of any shapes, floating-point or complex.
        v: the cotangents, of the outputs' shapes; may be left out for a single one-element output (then 1).
        create_graph: makes outputs and product differentiable.
        strict: raises where an input has no influence, instead of giving zeros.

    Returns:
        ``(func(*inputs), product)``; the product has the inputs' shapes and dtypes, and is a tuple if they are.

    Raises:
        TypeError: inputs, ``v`` or outputs are not tensors.
        RuntimeError: ``v`` is missing or has invalid size; an independence in strict mode.

    Example::

        >>> vjp(lambda x: (x * x).sum(), ad.tensor([1., 2.]))[1]
        tensor([2., 4.])
    """
    with enable_grad():
        c = call(func, inputs, "vjp", create_graph)
        if strict:
            _strict.check_outputs(c.outputs)
        cotangents = directions(v, c.outputs, c.many_outputs, "vjp", create_graph, _FROM_OUTPUT)
        gradients = pull(c.outputs, c.inputs, cotangents, create_graph)
        if strict:
            _strict.check_gradient(gradients, create_graph)
        product = zero_filled(gradients, c.inputs)
    outputs = finished(c.outputs, create_graph)
    return as_given(outputs, c.many_outputs), as_given(finished(product, create_graph), c.many_inputs)


def _lacks_forward_rule(error: Exception) -> bool:
    # Both "must implement the jvp function ... forward mode AD" (custom Functions) and operators without a rule.
    return "forward" in str(error).lower()


def _push(outputs: Tensors, inputs: Tensors, tangents: Tensors, create_graph: bool) -> tuple[Tensor | None, ...]:
    """``J v`` in reverse mode: ``v -> J v`` is the transpose of the linear map ``u -> J^T u``."""
    probes = tuple(zeros_like(y).requires_grad_() for y in outputs)
    return pull(pull(outputs, inputs, probes, True), probes, tangents, create_graph)


def _dual_call(func: Callable[..., Any], inputs: Tensors, tangents: Tensors, where: str) -> tuple[Tensors, bool, Tensors]:
    duals = tuple(forward_ad.make_dual(x, v) for x, v in zip(inputs, tangents, strict=True))
    many, outputs = as_tuple(func(*duals), OUTPUTS, where)
    return duals, many, outputs


def jvp(
    func: Callable[..., Any],
    inputs: TensorOrTensors,
    v: TensorOrTensors | None = None,
    create_graph: bool = False,
    strict: bool = False,
) -> tuple[Any, Any]:
    """Jacobian-vector product: ``J v`` at ``inputs``, by one forward pass.

    In forward mode; in reverse mode (the transpose of the vjp) where ``strict`` asks about the graph, or where a
    custom Function has no ``jvp``.

    Arguments:
        func: takes tensors, returns a tensor or a tuple of tensors.
        inputs: a tensor or a tuple of tensors.
        v: the tangents, of the inputs' shapes; may be left out for a single one-element input (then 1).
        create_graph: makes outputs and product differentiable.
        strict: raises where an output has no influence from the inputs, instead of giving zeros.

    Returns:
        ``(func(*inputs), product)``; the product has the outputs' shapes, and is a tuple if they are.

    Raises:
        TypeError: inputs, ``v`` or outputs are not tensors.
        RuntimeError: ``v`` is missing or has invalid size; an independence in strict mode.

    Example::

        >>> jvp(lambda x: x * x, ad.tensor([1., 2.]), ad.tensor([1., 1.]))[1]
        tensor([2., 4.])
    """
    with enable_grad():
        many_inputs, given = as_tuple(inputs, "inputs", "jvp")
        leaves = fresh(given, create_graph)
        tangents = directions(v, leaves, many_inputs, "jvp", create_graph, _FROM_INPUT)
        if not strict:
            try:
                with forward_ad.dual_level():
                    _, many, duals = _dual_call(func, leaves, tangents, "jvp")
                    pairs = [forward_ad.unpack_dual(y) for y in duals]
                outputs = tuple(pair.primal for pair in pairs)
                product = zero_filled([pair.tangent for pair in pairs], outputs)
                return (
                    as_given(finished(outputs, create_graph), many),
                    as_given(finished(product, create_graph), many),
                )
            except (RuntimeError, NotImplementedError) as error:
                if not _lacks_forward_rule(error):
                    raise
        many, outputs = as_tuple(func(*leaves), OUTPUTS, "jvp")
        if strict:
            _strict.check_outputs(outputs)
            _strict.check_gradient(pull(outputs, leaves, outputs, False, retain_graph=True), False)
        columns = _push(outputs, leaves, tangents, create_graph)
        if strict:
            _strict.check_tangents(columns, create_graph)
        product = zero_filled(columns, outputs)
    return as_given(finished(outputs, create_graph), many), as_given(finished(product, create_graph), many)


def vhp(
    func: Callable[..., Any],
    inputs: TensorOrTensors,
    v: TensorOrTensors | None = None,
    create_graph: bool = False,
    strict: bool = False,
) -> tuple[Any, Any]:
    """Vector-Hessian product: ``v^T H`` at ``inputs``, by two backward passes.

    Arguments:
        func: takes tensors, returns a single tensor with one element.
        inputs: a tensor or a tuple of tensors.
        v: of the inputs' shapes; may be left out for a single one-element input (then 1).
        create_graph: makes output and product differentiable.
        strict: raises where the gradient has no influence from an input, instead of giving zeros.

    Returns:
        ``(func(*inputs), product)``; the product has the inputs' shapes, and is a tuple if they are.

    Raises:
        TypeError: inputs, ``v`` or output are not tensors.
        RuntimeError: the output is not one element; ``v`` is missing or has invalid size; an independence in strict mode.

    Example::

        >>> vhp(lambda x: (x ** 3).sum(), ad.tensor([1., 2.]), ad.tensor([1., 1.]))[1]
        tensor([ 6., 12.])
    """
    with enable_grad():
        c = call(func, inputs, "vhp", create_graph)
        vectors = directions(v, c.inputs, c.many_inputs, "vhp", create_graph, _FROM_INPUT)
        output = require_scalar(c.many_outputs, c.outputs, "vhp")
        if strict:
            _strict.check_outputs(c.outputs)
        gradients = pull((output,), c.inputs, (None,), True)
        if strict:
            _strict.check_gradient(gradients, create_graph=False)
            _strict.check_first_of_two(gradients)
        pairs = [(g, u) for g, u in zip(gradients, vectors, strict=True) if g is not None]
        products = pull(tuple(g for g, _ in pairs), c.inputs, [u for _, u in pairs], create_graph)
        if strict:
            _strict.check_hessian(products, create_graph)
        product = zero_filled(products, c.inputs)
    return finished((output,), create_graph)[0], as_given(finished(product, create_graph), c.many_inputs)


def hvp(
    func: Callable[..., Any],
    inputs: TensorOrTensors,
    v: TensorOrTensors | None = None,
    create_graph: bool = False,
    strict: bool = False,
) -> tuple[Any, Any]:
    """Hessian-vector product: ``H v`` at ``inputs``, forward over reverse: one backward pass on dual numbers.

    The tangent of the gradient in direction ``v``; it costs about twice a gradient, less than ``vhp``. In reverse
    mode where ``strict`` asks about the graph, or where a custom Function has no ``jvp``.

    Arguments:
        func: takes tensors, returns a single tensor with one element.
        inputs: a tensor or a tuple of tensors.
        v: of the inputs' shapes; may be left out for a single one-element input (then 1).
        create_graph: makes output and product differentiable.
        strict: raises where the gradient has no influence from an input, instead of giving zeros.

    Returns:
        ``(func(*inputs), product)``; the product has the inputs' shapes, and is a tuple if they are.

    Raises:
        TypeError: inputs, ``v`` or output are not tensors.
        RuntimeError: the output is not one element; ``v`` is missing or has invalid size; an independence in strict mode.

    Example::

        >>> hvp(lambda x: (x ** 4).sum(), ad.tensor([1., 2.]), ad.tensor([1., 1.]))[1]
        tensor([12., 48.])
    """
    if strict:
        return _hvp_in_reverse(func, inputs, v, create_graph, strict)
    try:
        return _hvp_forward_over_reverse(func, inputs, v, create_graph)
    except (RuntimeError, NotImplementedError) as error:
        if not _lacks_forward_rule(error):
            raise
    return _hvp_in_reverse(func, inputs, v, create_graph, strict)


def _hvp_forward_over_reverse(
    func: Callable[..., Any], inputs: TensorOrTensors, v: TensorOrTensors | None, create_graph: bool
) -> tuple[Any, Any]:
    with enable_grad():
        many_inputs, given = as_tuple(inputs, "inputs", "hvp")
        leaves = fresh(given, create_graph)
        tangents = directions(v, leaves, many_inputs, "hvp", create_graph, _FROM_INPUT)
        with forward_ad.dual_level():
            duals, many, outputs = _dual_call(func, leaves, tangents, "hvp")
            output = require_scalar(many, outputs, "hvp")
            gradients = pull((output,), duals, (None,), create_graph)
            columns = [None if g is None else forward_ad.unpack_dual(g).tangent for g in gradients]
            primal = forward_ad.unpack_dual(output).primal
        product = zero_filled(columns, leaves)
    return finished((primal,), create_graph)[0], as_given(finished(product, create_graph), many_inputs)


def _hvp_in_reverse(
    func: Callable[..., Any],
    inputs: TensorOrTensors,
    v: TensorOrTensors | None,
    create_graph: bool,
    strict: bool,
) -> tuple[Any, Any]:
    with enable_grad():
        c = call(func, inputs, "hvp", create_graph)
        tangents = directions(v, c.inputs, c.many_inputs, "hvp", create_graph, _FROM_INPUT)
        output = require_scalar(c.many_outputs, c.outputs, "hvp")
        if strict:
            _strict.check_outputs(c.outputs)
        gradients = pull((output,), c.inputs, (None,), True)
        if strict:
            _strict.check_gradient(gradients, create_graph=False)
            _strict.check_first_of_two(gradients)
        columns = _push(zero_filled(gradients, c.inputs), c.inputs, tangents, create_graph)
        if strict:
            _strict.check_hessian(columns, create_graph)
        product = zero_filled(columns, c.inputs)
    return finished((output,), create_graph)[0], as_given(finished(product, create_graph), c.many_inputs)
