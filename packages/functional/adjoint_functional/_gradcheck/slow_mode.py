"""Slow mode: every entry of every Jacobian."""

from __future__ import annotations

from dataclasses import dataclass

from .._backend import Tensor
from .analytical import backward_jacobians, forward_jacobians
from .checked_function import Case
from .diagnosis import explain
from .numerical import jacobian_wrt
from .report import GradcheckError, Tolerances


@dataclass(frozen=True)
class Options:
    """What a check has to know beside the case."""

    tol: Tolerances
    nondet_tol: float
    check_grad_dtypes: bool
    masked: bool


def numerical_jacobians(case: Case, options: Options) -> dict[int, tuple[Tensor, ...]]:
    """For each differentiable input its numerical Jacobians, one for each output."""
    inputs = case.inputs if options.masked else case.with_full_patterns()
    return {i: jacobian_wrt(case.func, i, inputs, case.outputs, options.tol.eps) for i in case.which}


def check_constant(case: Case, options: Options) -> None:
    """A function none of whose outputs requires grad must not vary."""
    for i, matrices in numerical_jacobians(case, options).items():
        for k, n in enumerate(matrices):
            if bool((n != 0).any()):
                raise GradcheckError(
                    "Numerical gradient for function expected to be zero: no output requires grad, yet output "
                    f"{case.positions[k]} varies with input {i} (largest slope {float(n.abs().max()):.3g}).\n"
                    "Likely cause: the function detaches its input (.detach(), .data, NumPy, no_grad)."
                )


def check_backward(case: Case, options: Options) -> None:
    """Compares reverse mode with central differences; GradcheckError at the first mismatch."""
    numerical = numerical_jacobians(case, options)
    inputs = [case.inputs[i] for i in case.which]
    for k in case.live:
        found = backward_jacobians(inputs, case.outputs[k], options.nondet_tol, options.check_grad_dtypes)
        for i, a in zip(case.which, found, strict=True):
            compare(case, a, numerical[i][k], k, i, options, forward=False)


def check_forward(case: Case, options: Options) -> None:
    """Compares forward mode with central differences; GradcheckError at the first mismatch."""
    numerical = numerical_jacobians(case, options)
    for i in case.which:
        found = forward_jacobians(case.func, case.inputs, i, case.outputs, options.check_grad_dtypes)
        for k in case.live:
            compare(case, found[k], numerical[i][k], k, i, options, forward=True)


def compare(case: Case, a: Tensor, n: Tensor, output: int, which: int, options: Options, *, forward: bool) -> None:
    """GradcheckError, with its diagnosis, if two Jacobians disagree."""
    if not options.tol.close(a, n):
        raise GradcheckError(explain(case.mismatch(a, n, output, which, options.tol, forward)))
