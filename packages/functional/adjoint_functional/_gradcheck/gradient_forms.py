"""Checks beside the Jacobians: the form of gradients, undefined gradients, and batched ones."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from typing import Any

from .._backend import Tensor, UndefinedGrad, allclose, forward_ad, grad, stack, strided, vmap, zeros_like
from .analytical import push, spread
from .checked_function import Case
from .numerical import is_differentiable
from .report import GradcheckError

_MAY_BREAK = (
    "Backwards compatibility: New undefined gradient support checking feature is enabled by default, but it may break existing "
    "callers of this function. If this is true for you, you can call this function with `check_undefined_grad=False` to disable it."
)
_SEEDS = (0.6180339887498949, 0.4142135623730951)


def check_gradients_form(case: Case, masked: bool) -> None:
    """Gradients must have their inputs' dtype, device, shape and layout, and vanish with the output's gradient."""
    inputs = [case.inputs[i] for i in case.which]
    outputs = [case.outputs[k] for k in case.live]
    found = grad(outputs, inputs, [zeros_like(y) for y in outputs], retain_graph=True, allow_unused=True)
    for i, x, g in zip(case.which, inputs, found, strict=True):
        if g is None:
            continue
        if g.layout is not strided and x.layout is strided and masked:
            g = g.to_dense()
        for what, got, wanted in (("type", g.dtype, x.dtype), ("device", g.device, x.device), ("size", g.shape, x.shape)):
            if got != wanted:
                raise GradcheckError(f"grad is incorrect {what} for input {i}: got {got}, expected {wanted}")
        if g.layout is not strided and x.layout is strided:
            raise GradcheckError(f"grad is incorrect layout for input {i}: got {g.layout}, expected {x.layout}")
        if g.layout is not strided and g.sparse_dim() != x.sparse_dim():
            raise GradcheckError(
                f"grad is sparse tensor, but has incorrect sparse_dim {g.sparse_dim()}, expected {x.sparse_dim()}, for input {i}"
            )
        values = g.to_dense() if g.layout is not strided else g
        if bool((values != 0).any()):
            raise GradcheckError(
                f"backward not multiplied by grad_output: with a zero grad_output the gradient of input {i} is not zero"
            )


def check_undefined_backward(case: Case) -> None:
    """A backward whose output gradients are undefined (None), all or one of them, must take them for zeros."""
    if not case.live:
        return
    count = len(case.live)
    groups = [frozenset(range(count))] + ([frozenset([k]) for k in range(count)] if count > 1 else [])
    for undefined in groups:
        fresh = [y for y in case.func(*case.inputs) if y.requires_grad]
        inputs = [case.inputs[i] for i in case.which]
        outputs = [UndefinedGrad()(y) if k in undefined else y for k, y in enumerate(fresh)]
        try:
            found = grad(outputs, inputs, [zeros_like(y) for y in outputs], allow_unused=True)
        except RuntimeError as error:
            warnings.warn(_MAY_BREAK, stacklevel=3)
            raise GradcheckError(
                "Expected backward function to handle undefined output grads: with ctx.set_materialize_grads(False) a "
                f"gradient may be None, and counts as zero. It raised: {error}"
            ) from error
        for i, g in zip(case.which, found, strict=True):
            if g is not None and bool(((g.to_dense() if g.layout is not strided else g) != 0).any()):
                raise GradcheckError(
                    "Expected all input grads to be undefined or zero when all output grads are undefined or zero; "
                    f"the gradient of input {i} is not. A None gradient in backward must count as zero."
                )


def check_undefined_forward(case: Case) -> None:
    """An input without a tangent must act as one with a zero tangent."""
    tangents = {i: _tangent(case.inputs[i], 0) for i in case.which}
    for i in case.which:
        without = {j: t for j, t in tangents.items() if j != i}
        zero = push(case.func, case.inputs, {**without, i: zeros_like(case.inputs[i])})
        none = push(case.func, case.inputs, without)
        for k, ((y, expected), (_, got)) in enumerate(zip(zero, none, strict=True)):
            if not _equal(got, expected, y):
                raise GradcheckError(
                    f"Mismatch in tangent values for output with index: {case.positions[k]} when input: {i} has an "
                    f"undefined tangent value. Got: {got} but expected: {expected}"
                )


def _tangent(x: Tensor, number: int) -> Tensor:
    values = (spread(x, _SEEDS[number]) - 0.5).to(x.dtype)
    return values.to_sparse() if x.layout is not strided else values


def _equal(a: Tensor | None, b: Tensor | None, like: Tensor) -> bool:
    return bool(allclose(zeros_like(like) if a is None else a, zeros_like(like) if b is None else b))


def _differ(kind: str, output: int, which: int, got: Any, expected: Any) -> GradcheckError:
    return GradcheckError(
        f"For output {output} and input {which}:\n\ngradcheck or gradgradcheck failed while testing batched gradient "
        f"computation ({kind}): one batched pass (vmap) differs from one pass for each lane. Look for an operation "
        f"whose batching is wrong, or disable the check.\n\nGot:\n{got}\n\nExpected:\n{expected}"
    )


def check_batched_backward(case: Case) -> None:
    """Gradients for a batch of output gradients must equal those taken one by one."""
    places = [i for i in case.which if case.inputs[i].layout is strided]
    inputs = [case.inputs[i] for i in places]
    for k in case.live if places else ():
        y = case.outputs[k]
        lanes = [_tangent(y, lane) for lane in range(2)]

        def back(v: Tensor, batched: bool, y: Tensor = y) -> Sequence[Tensor | None]:
            return grad(y, inputs, [v], retain_graph=True, allow_unused=True, is_grads_batched=batched)

        single = [back(v, False) for v in lanes]
        try:
            batch = back(stack(lanes), True)
        except RuntimeError as error:
            raise GradcheckError(
                f"While computing batched gradients, got: {error}\n\ngradcheck or gradgradcheck failed while testing "
                "batched gradient computation; pass `check_batched_grad=False` to skip it."
            ) from error
        for n, i in enumerate(places):
            for lane, expected in enumerate(row[n] for row in single):
                got = batch[n]
                if not _equal(None if got is None else got[lane], expected, inputs[n]):
                    raise _differ("reverse mode", case.positions[k], i, got, expected)


def check_batched_forward(case: Case) -> None:
    """Tangents for a batch of input tangents must equal those taken one by one."""
    for i in case.which:
        x = case.inputs[i]
        if x.layout is not strided:
            continue
        lanes = [_tangent(x, lane) for lane in range(2)]

        def forth(v: Tensor, i: int = i) -> tuple[Tensor, ...]:
            with forward_ad.dual_level():  # custom Functions without setup_context take part, as in forward mode alone
                args = [a.detach() if is_differentiable(a) else a for a in case.inputs]
                args[i] = forward_ad.make_dual(args[i], v)
                pairs = [forward_ad.unpack_dual(y) for y in case.func(*args)]
                return tuple(zeros_like(y) if t is None else t for y, t in pairs)

        single = [forth(v) for v in lanes]
        try:
            batch = vmap(forth)(stack(lanes))
        except RuntimeError as error:
            raise GradcheckError(
                f"While computing batched gradients, got: {error}\n\ngradcheck failed while testing batched gradient "
                "computation with forward-mode AD; pass `check_batched_forward_grad=False` to skip it."
            ) from error
        for k in range(len(case.outputs)):
            for lane, expected in enumerate(row[k] for row in single):
                if not _equal(batch[k][lane], expected, expected):
                    raise _differ("forward mode", case.positions[k], i, batch[k], expected)
