"""Fast mode: one number for each pair of input and output, ``v^T J u``, instead of all entries of ``J``.

The directions ``u`` and ``v`` are fixed, positive and of unit length (complex ``u``: one direction for each part).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from .._backend import Tensor, zeros_like
from .analytical import along, check_reentrant, dense, gradients, push, spread
from .checked_function import Case
from .numerical import moved, slope
from .report import GradcheckError, Mismatch, headline
from .slow_mode import Options, check_backward, check_forward

_GOLDEN, _SQRT2, _SQRT3 = 0.6180339887498949, 0.4142135623730951, 0.7320508075688772


def _direction(like: Tensor, seed: float) -> Tensor:
    raw = spread(like, seed)
    return raw / (raw * raw).sum().sqrt() if raw.numel() else raw


def _slopes(case: Case, which: int, u: Tensor, unit: Any, eps: float) -> list[Tensor]:
    """Flat ``J u`` for each output, by central differences along ``unit * u``; ``unit`` is 1 or 1j."""
    return slope(case.func, case.inputs, which, moved(case.inputs[which], ..., lambda step: step * u), eps * unit, eps)


def _projected(v: Tensor, ju: Tensor) -> Tensor:
    return (ju * v.reshape(-1).to(ju.dtype)).sum()


def _check(case: Case, options: Options, forward: bool, analytical: Callable[[int, int, list[Tensor], Tensor], Tensor]) -> None:
    """Compares ``v^T J u`` for all pairs; on a difference, slow mode finds the details."""
    for i in case.which:
        x = case.inputs[i]
        us = [_direction(x, seed) for seed in ((_GOLDEN, _SQRT2) if x.is_complex() else (_GOLDEN,))]
        columns = [_slopes(case, i, u, unit, options.tol.eps) for u, unit in zip(us, (1, 1j), strict=False)]
        for k in case.live:
            v = _direction(case.outputs[k], _SQRT3)
            parts = [_projected(v, column[k]) for column in columns]
            n = parts[0] + 1j * parts[1] if x.is_complex() else parts[0]
            a = analytical(k, i, us, v)
            weight = sum(float(u.sum()) for u in us) * float(v.sum())
            if not options.tol.scaled(weight).close(a, n):
                _fail(case, case.mismatch(a, n, k, i, options.tol, forward), options, forward)


def _fail(case: Case, m: Mismatch, options: Options, forward: bool) -> None:
    head = headline(m) + "\nThe above quantities relating the numerical and analytical jacobians are computed in fast mode.\n"
    try:
        (check_forward if forward else check_backward)(case, options)
    except GradcheckError as details:
        raise GradcheckError(f"{head}\nIn slow mode:\n{details}") from None
    raise GradcheckError(
        f"{head}\nFast gradcheck failed but element-wise differences are small. This means that the test might've "
        "passed in slow_mode! Many small differences add up along one direction; pass `fast_mode=False`."
    )


def check_backward_fast(case: Case, options: Options) -> None:
    """As ``_slow.check_backward``, in one direction only; inputs must be dense."""

    def analytical(k: int, i: int, us: list[Tensor], v: Tensor) -> Tensor:
        x, y = case.inputs[i], case.outputs[k]
        g, again = (dense(gradients(y, [x], v)[0], x) for _ in range(2))
        if options.check_grad_dtypes and g.dtype != x.dtype:
            raise GradcheckError("Gradient has dtype mismatch: a gradient must have the dtype of its input")
        if g.shape != x.shape:
            raise GradcheckError("Analytical gradient has incorrect size: a gradient must have the shape of its input")
        check_reentrant([g], [again], options.nondet_tol)
        if not x.is_complex():
            return (g * us[0]).sum()
        if not g.is_complex():
            return (g * us[0]).sum() + 0j * g.sum()
        return (g.real * us[0]).sum() + 1j * (g.imag * us[1]).sum()

    _check(case, options, False, analytical)


def check_forward_fast(case: Case, options: Options) -> None:
    """As ``_slow.check_forward``, in one direction only; inputs must be dense and real."""

    pushed: dict[int, list[tuple[Tensor, Tensor | None]]] = {}  # all outputs at once: one run for each input

    def analytical(k: int, i: int, us: list[Tensor], v: Tensor) -> Tensor:
        if i not in pushed:
            pushed[i] = push(case.func, case.inputs, along(case.inputs, i, us[0]))
        y, t = pushed[i][k]
        if options.check_grad_dtypes and t is not None and t.dtype != y.dtype:
            raise GradcheckError(f"Forward AD gradient has dtype mismatch. Got {t.dtype} for an output of {y.dtype}")
        return _projected(v, (zeros_like(y) if t is None else t).reshape(-1))

    _check(case, options, True, analytical)
