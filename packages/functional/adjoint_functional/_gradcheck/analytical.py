"""Analytical Jacobians: by backward, one output entry at a time, or by forward mode, one input entry at a time."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from .._backend import Tensor, forward_ad, grad, ones, stack, strided, zeros, zeros_like
from .numerical import as_tuple, is_differentiable
from .report import NONDETERMINISTIC, GradcheckError


def _dense(g: Tensor) -> Tensor:
    return g.to_dense() if g.layout is not strided else g


def dense(g: Tensor | None, x: Tensor) -> Tensor:
    """A gradient of ``x`` as a dense tensor without history; zeros for None."""
    return zeros_like(x) if g is None else _dense(g).detach()


def unit(like: Tensor, number: int) -> Tensor:
    """A dense one-hot tensor of the shape, dtype and device of ``like``."""
    flat = zeros(like.numel(), dtype=like.dtype, device=like.device)
    flat[number] = 1
    return flat.reshape(like.shape)


def gradients(output: Tensor, inputs: Sequence[Tensor], cotangent: Tensor) -> tuple[Tensor | None, ...]:
    """One backward that keeps the graph; None for inputs that ``output`` does not depend on."""
    return grad(output, list(inputs), [cotangent], retain_graph=True, allow_unused=True)


class Backward:
    """The Jacobians of one real output by several inputs, in reverse mode, and what was wrong with the gradients."""

    def __init__(self, inputs: Sequence[Tensor], output: Tensor) -> None:
        self.sizes_agree = True
        self.dtypes_agree = True
        columns: list[list[Tensor]] = [[] for _ in inputs]
        for number in range(output.numel()):
            found = gradients(output, inputs, unit(output, number))
            for column, g, x in zip(columns, found, inputs, strict=True):
                column.append(self._checked(g, x))
        self.jacobians = [
            stack(column, 1) if column else zeros(x.numel(), 0, dtype=x.dtype, device=x.device)
            for column, x in zip(columns, inputs, strict=True)
        ]

    def _checked(self, g: Tensor | None, x: Tensor) -> Tensor:
        blank = zeros(x.numel(), dtype=x.dtype, device=x.device)
        if g is None:
            return blank
        self.dtypes_agree &= g.dtype == x.dtype
        if g.shape != x.shape:
            self.sizes_agree = False
            return blank
        return _dense(g).detach().reshape(-1)


def distance(a: Sequence[Tensor], b: Sequence[Tensor]) -> float:
    """The largest absolute difference between two lists of tensors; NaN in both places counts as equal."""
    gaps = [(x - y).abs() for x, y in zip(a, b, strict=True) if x.numel()]
    return max((float(gap[gap == gap].max()) for gap in gaps if bool((gap == gap).any())), default=0.0)


def backward_jacobians(inputs: Sequence[Tensor], output: Tensor, nondet_tol: float, check_grad_dtypes: bool) -> list[Tensor]:
    """The Jacobians of one output, computed twice.

    Raises:
        GradcheckError: a gradient has a wrong size or (if asked) dtype, or the two runs differ by more than the
            tolerance.
    """
    first, second = Backward(inputs, output), Backward(inputs, output)
    if check_grad_dtypes and not first.dtypes_agree:
        raise GradcheckError("Gradient has dtype mismatch: a gradient must have the dtype of its input")
    if not first.sizes_agree:
        raise GradcheckError("Analytical gradient has incorrect size: a gradient must have the shape of its input")
    check_reentrant(first.jacobians, second.jacobians, nondet_tol)
    return first.jacobians


def check_reentrant(first: Sequence[Tensor], second: Sequence[Tensor], nondet_tol: float) -> None:
    """GradcheckError if two runs of the same backward differ by more than the tolerance."""
    gap = distance(first, second)
    if gap > nondet_tol:
        raise GradcheckError(NONDETERMINISTIC.format(tol=nondet_tol, gap=gap))


def push(fn: Callable[..., Any], inputs: Sequence[Any], tangents: dict[int, Tensor]) -> list[tuple[Tensor, Tensor | None]]:
    """The outputs of ``fn`` with their tangents, for tangents of some of the inputs; none of them requires grad."""
    with forward_ad.dual_level():
        args = [x.detach() if is_differentiable(x) else x for x in inputs]
        for i, t in tangents.items():
            args[i] = forward_ad.make_dual(args[i], t)
        outputs = [y for y in as_tuple(fn(*args)) if isinstance(y, Tensor)]
        pairs = [forward_ad.unpack_dual(y) for y in outputs]
        return [(pair.primal.detach(), None if pair.tangent is None else pair.tangent.detach()) for pair in pairs]


def along(inputs: Sequence[Any], which: int, tangent: Tensor) -> dict[int, Tensor]:
    """The tangent of one input, and zeros for the others that are differentiable."""
    return {i: zeros_like(x) for i, x in enumerate(inputs) if is_differentiable(x)} | {which: tangent}


def forward_jacobians(
    fn: Callable[..., Any], inputs: Sequence[Any], which: int, outputs: Sequence[Tensor], check_grad_dtypes: bool
) -> list[Tensor]:
    """For each output its Jacobian by the real input number ``which``, in forward mode.

    Raises:
        GradcheckError: a tangent's dtype is not that of its output (if asked).
    """
    x = inputs[which]
    rows: list[list[Tensor]] = [[] for _ in outputs]
    for number in range(x.numel()):
        for row, y, (_, t) in zip(rows, outputs, push(fn, inputs, along(inputs, which, _like(x, number))), strict=True):
            if check_grad_dtypes and t is not None and t.dtype != y.dtype:
                raise GradcheckError(f"Forward AD gradient has dtype mismatch. Got {t.dtype} for an output of {y.dtype}")
            blank = zeros(y.numel(), dtype=y.dtype, device=y.device)
            row.append(blank if t is None else _dense(t).reshape(-1))
    return [
        stack(row) if row else zeros(0, y.numel(), dtype=y.dtype, device=y.device) for row, y in zip(rows, outputs, strict=True)
    ]


def _like(x: Tensor, number: int) -> Tensor:
    return unit(x, number).to_sparse() if x.layout is not strided else unit(x, number)


def spread(like: Tensor, seed: float, shape: Sequence[int] | None = None) -> Tensor:
    """Fixed, evenly spread numbers in [0, 1) in the shape of ``like``: the fractional parts of multiples of ``seed``.

    They take the place of random numbers, so that a check repeats exactly and leaves the generators alone.
    """
    shape = list(like.shape if shape is None else shape)
    dtype = like.dtype if like.is_floating_point() else like.real.dtype if like.is_complex() else None
    numbers = ones(shape, device=like.device).double().reshape(-1).cumsum(0) * seed
    numbers = (numbers - numbers.floor()).reshape(shape)
    return numbers if dtype is None else numbers.to(dtype)
