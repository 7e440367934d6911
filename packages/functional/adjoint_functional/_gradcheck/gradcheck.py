"""gradcheck: derivatives against central differences."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from typing import Any

from .._backend import Tensor, finfo, strided
from . import gradient_forms
from .checked_function import Case, by_input_parts, by_output_parts, make_case
from .fast_mode import check_backward_fast, check_forward_fast
from .numerical import as_tuple, is_differentiable
from .report import GradcheckError, Tolerances
from .slow_mode import Options, check_backward, check_constant, check_forward

# What central differences can resolve: the step where rounding and curvature balance (the cube root of the dtype's
# precision), and the relative error that is left there, with a margin.
_STEP, _MARGIN = 1.0 / 3.0, 20.0
_DOUBLE = 1e-15


def gradcheck(
    func: Callable[..., Any],
    inputs: Any,
    *,
    eps: float = 1e-6,
    atol: float = 1e-5,
    rtol: float = 1e-3,
    raise_exception: bool = True,
    nondet_tol: float = 0.0,
    check_undefined_grad: bool = True,
    check_grad_dtypes: bool = False,
    check_batched_grad: bool = False,
    check_batched_forward_grad: bool = False,
    check_forward_ad: bool = False,
    check_backward_ad: bool = True,
    fast_mode: bool = False,
    masked: bool | None = None,
) -> bool:
    """Checks the derivatives of ``func`` at ``inputs`` against central differences.

    For each input that requires grad and each output, the Jacobian got by backward (and by forward mode, if asked)
    must satisfy ``|analytical - numerical| <= atol + rtol * |numerical|`` in every entry, where the numerical one is
    ``(f(x + eps) - f(x - eps)) / (2 * eps)``. Complex outputs are checked as their real and imaginary parts; the
    gradient of a real function of ``z = x + iy`` is ``df/dx + i df/dy``. In lower precision than float64, ``eps`` and
    the tolerances are widened to what central differences can resolve there.

    Arguments:
        func: takes the inputs, returns a tensor or a tuple of tensors.
        inputs: a tensor or a tuple; the tensors that require grad are checked.
        eps: the step of central differences.
        atol, rtol: the tolerances.
        raise_exception: raises on failure; returns False otherwise.
        nondet_tol: by how much two runs of the same backward may differ.
        check_undefined_grad: undefined output gradients must be taken for zeros.
        check_grad_dtypes: a gradient must have its input's dtype (forward mode: its output's).
        check_batched_grad: batched backward (vmap) must equal a loop.
        check_batched_forward_grad: batched forward mode must equal a loop.
        check_forward_ad: checks forward mode.
        check_backward_ad: checks reverse mode.
        fast_mode: compares one number ``v^T J u`` for each pair of input and output; details in slow mode on failure.
        masked: entries that a sparse input does not specify are left out.

    Returns:
        True if all checks pass; False if one fails and ``raise_exception`` is off.

    Raises:
        GradcheckError: a check failed; says which input, output, entry and mode disagree, by how much, and the likely
            cause.
        ValueError: no input requires grad; an output is sparse.
        RuntimeError: an input overlaps itself in memory.
        AssertionError: options contradict each other.

    Example::

        >>> x = ad.tensor([1., 2.], dtype=ad.float64, requires_grad=True)
        >>> gradcheck(lambda x: x.sin() * x, (x,))
        True
    """
    if not (check_forward_ad or check_backward_ad):
        raise AssertionError("Expected at least one of check_forward_ad or check_backward_ad to be True")
    if check_batched_grad and not check_backward_ad:
        raise AssertionError("Setting check_batched_grad=True requires check_backward_ad to be True")
    if check_batched_forward_grad and not check_forward_ad:
        raise AssertionError("Setting check_batched_forward_grad=True requires check_forward_ad to be True")
    try:
        args = as_tuple(inputs)
        _check_inputs(args)
        case = make_case(func, args)
        options = Options(_resolvable(case, Tolerances(eps, atol, rtol)), nondet_tol, check_grad_dtypes, bool(masked))
        if not case.live:
            check_constant(case, options)
            return True
        fast = fast_mode and not any(case.inputs[i].layout is not strided for i in case.which)
        if check_backward_ad:
            for part in by_output_parts(case):
                (check_backward_fast if fast else check_backward)(part, options)
        if check_forward_ad:
            for part in by_input_parts(case):
                (check_forward_fast if fast else check_forward)(part, options)
                if check_undefined_grad:
                    gradient_forms.check_undefined_forward(part)
        if check_batched_forward_grad:
            gradient_forms.check_batched_forward(case)
        if check_batched_grad:
            gradient_forms.check_batched_backward(case)
        if check_backward_ad:
            gradient_forms.check_gradients_form(case, options.masked)
            if check_undefined_grad:
                gradient_forms.check_undefined_backward(case)
    except GradcheckError:
        if raise_exception:
            raise
        return False
    return True


def _check_inputs(inputs: Sequence[Any]) -> None:
    """Something must require grad; inputs should be in double precision and must not overlap themselves."""
    if not any(is_differentiable(x) for x in inputs):
        raise ValueError(
            "gradcheck expects at least one input tensor to require gradient, but none of them have requires_grad=True."
        )
    for index, x in enumerate(inputs):
        if not is_differentiable(x):
            continue
        if finfo(x.dtype).eps > _DOUBLE:
            warnings.warn(
                f"Input #{index} requires gradient and is not a double precision floating point or complex. "
                f"The check is coarse: eps, atol and rtol are widened to what {x.dtype} can resolve.",
                stacklevel=3,
            )
        if x.layout is strided and any(s == 0 and n > 1 for s, n in zip(x.stride(), x.shape, strict=True)):
            raise RuntimeError(
                f"The {index}th input has a dimension with stride 0. gradcheck only supports inputs that are "
                "non-overlapping to be able to compute the numerical gradients correctly. You should call .contiguous "
                "on the input before passing it to gradcheck."
            )


def _resolvable(case: Case, tol: Tolerances) -> Tolerances:
    """The tolerances, widened to what the lowest precision among inputs and outputs can resolve."""
    tensors: list[Tensor] = [case.inputs[i] for i in case.which] + [case.outputs[k] for k in case.live]
    ulp = max((float(finfo(t.dtype).eps) for t in tensors), default=_DOUBLE)
    if ulp <= _DOUBLE:
        return tol
    step = ulp**_STEP
    error = _MARGIN * ulp / step
    return Tolerances(max(tol.eps, step), max(tol.atol, error), max(tol.rtol, error))
