"""The separate halves of gradcheck: one kind of Jacobian each."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from typing import Any

from .._backend import Tensor
from .analytical import Backward, distance
from .numerical import as_tuple, is_differentiable, jacobian_wrt


def _warn(name: str) -> None:
    warnings.warn(
        f"`{name}` was part of PyTorch's private API and not meant to be exposed; it is kept for old code. Please use `gradcheck`, "
        "or `autograd.functional.jacobian` for a Jacobian.",
        FutureWarning,
        stacklevel=3,
    )


def get_numerical_jacobian(
    fn: Callable[[Any], Any], inputs: Any, target: Any = None, eps: float = 1e-3, grad_out: float = 1.0
) -> list[Tensor]:
    """The numerical Jacobian of a single-output function by each differentiable tensor of ``target``.

    Arguments:
        fn: takes ``inputs`` as one argument, returns a real tensor.
        inputs: a tensor or a tuple.
        target: the tensors to differentiate by, among ``inputs``; all of them by default.
        eps: the step.
        grad_out: must be 1.

    Returns:
        For each tensor a matrix of shape ``(input.numel(), output.numel())``.

    Raises:
        ValueError: ``grad_out`` is not 1, or the output is complex.

    Example::

        >>> x = ad.tensor([1., 2.], dtype=ad.float64, requires_grad=True)
        >>> import warnings
        >>> with warnings.catch_warnings(action="ignore"):
        ...     get_numerical_jacobian(lambda inputs: inputs[0] * inputs[0], (x,))[0].numel()
        4
    """
    _warn("get_numerical_jacobian")
    if grad_out != 1.0:
        raise ValueError("Expected grad_out to be 1.0. get_numerical_jacobian no longer supports values of grad_out != 1.0.")
    args = as_tuple(inputs)

    def spread_out(*values: Any) -> tuple[Any, ...]:
        return as_tuple(fn(values))

    output = spread_out(*args)[0]
    if output.is_complex():
        raise ValueError(
            "Expected output to be non-complex. get_numerical_jacobian no longer supports functions that return "
            "complex outputs."
        )
    targets = args if target is None else as_tuple(target)
    picked = [i for i, x in enumerate(args) if is_differentiable(x) and any(x is t for t in targets)]
    return [jacobian_wrt(spread_out, i, args, (output,), eps)[0] for i in picked]


def get_numerical_jacobian_wrt_specific_input(
    fn: Callable[..., Any],
    input_idx: int,
    inputs: Sequence[Any],
    outputs: Sequence[Tensor],
    eps: float,
    input: Tensor | None = None,
    is_forward_ad: bool = False,
) -> tuple[Tensor, ...]:
    """The numerical Jacobians of all outputs by one input.

    Arguments:
        fn: takes ``*inputs``, returns a tensor or a tuple of tensors.
        input_idx: the position of the input.
        outputs: what ``fn`` returns.
        eps: the step.
        input: stands in for ``inputs[input_idx]``.
        is_forward_ad: outputs may be complex; the input must be real.

    Returns:
        For each output a matrix of shape ``(input.numel(), output.numel())``.

    Raises:
        AssertionError: an output is complex without ``is_forward_ad``, or changes shape or dtype.

    Example::

        >>> x = ad.tensor([1., 2.], dtype=ad.float64, requires_grad=True)
        >>> get_numerical_jacobian_wrt_specific_input(ad.sin, 0, (x,), (x.sin(),), 1e-6)[0].numel()
        4
    """
    x = inputs[input_idx] if input is None else input
    if any(y.is_complex() for y in outputs) and (x.is_complex() or not is_forward_ad):
        raise AssertionError("Expected the outputs to be real-valued, not complex.")
    return jacobian_wrt(fn, input_idx, inputs, outputs, eps, x)


def get_analytical_jacobian(
    inputs: Any, output: Tensor, nondet_tol: float = 0.0, grad_out: float = 1.0
) -> tuple[tuple[Tensor, ...], bool, bool, bool]:
    """The Jacobians of one output by reverse mode, and whether its gradients are well formed.

    Arguments:
        inputs: a tensor or a tuple; those that require grad are used.
        output: a real tensor computed from them.
        nondet_tol: by how much two runs of the backward may differ.
        grad_out: must be 1.

    Returns:
        ``(jacobians, reentrant, correct_grad_sizes, correct_grad_types)``, with Jacobians of shape
        ``(input.numel(), output.numel())``.

    Raises:
        ValueError: ``grad_out`` is not 1, or the output is complex.

    Example::

        >>> x = ad.tensor([1., 2.], requires_grad=True)
        >>> import warnings
        >>> with warnings.catch_warnings(action="ignore"):
        ...     get_analytical_jacobian((x,), x * x)[1:]
        (True, True, True)
    """
    _warn("get_analytical_jacobian")
    if grad_out != 1.0:
        raise ValueError("Expected grad_out to be 1.0. get_analytical_jacobian no longer supports values of grad_out != 1.0.")
    if output.is_complex():
        raise ValueError(
            "Expected output to be non-complex. get_analytical_jacobian no longer supports functions that return "
            "complex outputs."
        )
    leaves = [x for x in as_tuple(inputs) if is_differentiable(x)]
    first, second = Backward(leaves, output), Backward(leaves, output)
    reentrant = distance(first.jacobians, second.jacobians) <= nondet_tol
    return tuple(first.jacobians), reentrant, first.sizes_agree, first.dtypes_agree
