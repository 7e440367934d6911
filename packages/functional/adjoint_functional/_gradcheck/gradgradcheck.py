"""gradgradcheck: second derivatives, by a gradcheck of the gradient."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from .._backend import Tensor, grad
from .analytical import spread
from .checked_function import is_value
from .gradcheck import gradcheck
from .numerical import as_tuple, is_differentiable
from .report import GradcheckError

_SEED = 0.6180339887498949


def _grad_output(y: Tensor, non_contiguous: bool) -> Tensor:
    """Fixed numbers in [-1, 1) of the shape of ``y``, strided if asked."""
    shape = (*y.shape, 2) if non_contiguous else tuple(y.shape)
    values = spread(y, _SEED, shape) * 2 - 1
    if y.is_complex():
        values = values * (1 + 0.5j)
    return (values[..., 0] if non_contiguous else values).to(y.dtype).detach().requires_grad_()


def _differentiable_outputs(func: Callable[..., Any], inputs: tuple[Any, ...]) -> list[Tensor]:
    return [y for y in as_tuple(func(*inputs)) if is_value(y) and y.requires_grad]


def _gradient(func: Callable[..., Any], inputs: tuple[Any, ...]) -> Callable[..., tuple[Tensor, ...]]:
    """``(inputs, grad_outputs) -> gradients``, by the inputs that require grad here."""
    wanted = [i for i, x in enumerate(inputs) if is_differentiable(x)]

    def gradient(*values: Any) -> tuple[Tensor, ...]:
        points, vectors = values[: len(inputs)], values[len(inputs) :]
        leaves = [points[i].requires_grad_() for i in wanted]  # forward mode hands over tensors that do not require grad
        outputs = _differentiable_outputs(func, points)
        found = grad(outputs, leaves, list(vectors), create_graph=True, allow_unused=True)
        return tuple(g for g in found if g is not None)

    return gradient


def gradgradcheck(
    func: Callable[..., Any],
    inputs: Any,
    grad_outputs: Any = None,
    *,
    eps: float = 1e-6,
    atol: float = 1e-5,
    rtol: float = 1e-3,
    gen_non_contig_grad_outputs: bool = False,
    raise_exception: bool = True,
    nondet_tol: float = 0.0,
    check_undefined_grad: bool = True,
    check_grad_dtypes: bool = False,
    check_batched_grad: bool = False,
    check_fwd_over_rev: bool = False,
    check_rev_over_rev: bool = True,
    fast_mode: bool = False,
    masked: bool = False,
) -> bool:
    """Checks second derivatives: ``gradcheck`` of ``(inputs, grad_outputs) -> gradients of func``.

    Arguments:
        func, inputs: as for ``gradcheck``.
        grad_outputs: a tensor or a tuple, one for each differentiable output; fixed scattered numbers if left out.
        gen_non_contig_grad_outputs: makes those that are left out non-contiguous.
        check_fwd_over_rev: checks forward over reverse.
        check_rev_over_rev: checks reverse over reverse.
        eps, atol, rtol, raise_exception, nondet_tol, check_undefined_grad, check_grad_dtypes, check_batched_grad,
            fast_mode, masked: as for ``gradcheck``.

    Returns:
        True if all checks pass; False if one fails and ``raise_exception`` is off.

    Raises:
        GradcheckError: a check failed.
        AssertionError: options contradict each other.

    Example::

        >>> x = ad.tensor([1., 2.], dtype=ad.float64, requires_grad=True)
        >>> gradgradcheck(lambda x: x.sin() * x, (x,))
        True
    """
    if not (check_fwd_over_rev or check_rev_over_rev):
        raise AssertionError("Expected at least one of check_fwd_over_rev or check_rev_over_rev to be True")
    if check_undefined_grad and not check_rev_over_rev:
        raise AssertionError("Setting check_undefined_grad=True requires check_rev_over_rev to be True")
    if check_batched_grad and not check_rev_over_rev:
        raise AssertionError("Setting check_batched_grad=True requires check_rev_over_rev to be True")
    args = as_tuple(inputs)

    if grad_outputs is None:
        cotangents = tuple(_grad_output(y, gen_non_contig_grad_outputs) for y in _differentiable_outputs(func, args))
    else:
        cotangents = as_tuple(grad_outputs)

    try:
        return gradcheck(
            _gradient(func, args),
            args + cotangents,
            eps=eps,
            atol=atol,
            rtol=rtol,
            nondet_tol=nondet_tol,
            check_undefined_grad=check_undefined_grad,
            check_grad_dtypes=check_grad_dtypes,
            check_batched_grad=check_batched_grad,
            check_forward_ad=check_fwd_over_rev,
            check_backward_ad=check_rev_over_rev,
            fast_mode=fast_mode,
            masked=masked,
        )
    except GradcheckError as error:
        if not raise_exception:
            return False
        raise GradcheckError(f"{error}\n{_note(len(args))}") from None


def _note(count: int) -> str:
    return (
        f"In gradgradcheck the function is (inputs, grad_outputs) -> gradients: inputs {count} and above are the "
        "grad_outputs, and output k is the gradient of the k-th input that has one. A custom Function fails here when "
        "its backward reads an intermediate kept as ctx.name instead of by save_for_backward: the dependence of the "
        "intermediate on the input is lost."
    )
