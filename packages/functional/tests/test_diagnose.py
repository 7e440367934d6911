"""Planted bugs: gradcheck must name the cause of each."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

import adjoint as ad

Fn = Callable[[Any], Any]


def planted(forward: Fn, backward: Callable[[Any, Any], Any]) -> Fn:
    """A function of one tensor with a backward of its own."""

    class Planted(ad.autograd.Function):
        @staticmethod
        def forward(ctx: Any, x: Any) -> Any:
            ctx.save_for_backward(x)
            return forward(x)

        @staticmethod
        def backward(ctx: Any, g: Any) -> Any:
            (x,) = ctx.saved_tensors
            return backward(x, g)

    return Planted.apply


def real(*values: float) -> Any:
    return ad.tensor(values, dtype=ad.float64, requires_grad=True)


def square() -> Any:
    return ad.tensor([[1.0, 2.0], [3.0, 5.0]], dtype=ad.float64, requires_grad=True)


def counter() -> Fn:
    calls: list[int] = []

    def noisy(x: Any) -> Any:
        calls.append(1)
        return x * 2 + 0.1 * (len(calls) % 3)

    return noisy


W = ad.tensor([[1.0, 2.0], [-3.0, 4.0]], dtype=ad.float64)

BUGS: dict[str, tuple[Fn, Any, str]] = {
    "factor": (planted(lambda x: x * x, lambda x, g: g * x), real(1.0, 3.0), "a missing factor"),
    "mean as sum": (planted(lambda x: x.mean(), lambda x, g: g.expand(3)), real(1.0, 2.0, 4.0), "sum or mean"),
    "sign": (planted(lambda x: x.cos(), lambda x, g: g * x.sin()), real(1.0, 3.0), "a wrong sign"),
    "own value": (planted(lambda x: x**3, lambda x, g: 3 * g * x), real(2.0, 3.0), "input's own value"),
    "output's value": (planted(lambda x: x.exp(), lambda x, g: g * 1.0), real(0.3, 1.0), "output's own value"),
    "transposed matrix": (planted(lambda x: W @ x, lambda x, g: W @ g), real(1.0, 2.0), "transposed"),
    "transposed gradient": (planted(lambda x: x * W, lambda x, g: (g * W).t()), square(), "transposed"),
    "detached": (lambda x: x.detach().sin() + 0 * x, real(1.0, 2.0), "a missing derivative"),
    "lost path": (lambda x: x * 2 + x.detach().flip(0), real(1.0, 2.0), "a missing contribution"),
    "extra path": (planted(lambda x: x * 2, lambda x, g: g * 2 + g.sum()), real(1.0, 2.0, 5.0), "an added constant"),
    "not inverted roll": (planted(lambda x: x.roll(1), lambda x, g: g.roll(1)), real(1.0, 2.0, 4.0), "transpose"),
    "kink": (lambda x: x.relu(), real(0.0, 1.0), "a kink"),
    "jump": (lambda x: x * (x > 0).to(x.dtype) + (x > 0).to(x.dtype), real(0.0), "a jump"),
    "inner float32": (lambda x: x.to(ad.float32).sin().to(ad.float64), real(1.0, 2.0), "precision"),
    "eps too large": (lambda x: (100 * x).sin(), real(1.0), "precision"),
    "not finite": (planted(lambda x: x.sqrt(), lambda x, g: g * x * float("inf") * 0), real(1.0), "not finite"),
    "noise": (counter(), real(1.0, 2.0), "non-determinism"),
    "conjugate": (
        planted(lambda z: z * z, lambda z, g: g * 2 * z),
        ad.tensor([1 + 2j, 2 - 1j], dtype=ad.complex128, requires_grad=True),
        "conjugate",
    ),
    "rounding": (planted(lambda x: x.round(), lambda x, g: g), real(1.2, 3.3), "a derivative of a constant"),
}


@pytest.mark.parametrize("name", BUGS)
def test_cause_is_named(name: str) -> None:
    func, x, cause = BUGS[name]
    eps = 1e-2 if name == "eps too large" else 1e-6
    with pytest.raises(RuntimeError) as caught:
        ad.autograd.gradcheck(func, (x,), eps=eps)
    message = str(caught.value)
    assert "mismatch for output 0 with respect to input 0" in message
    assert "numerical:" in message
    assert "analytical:" in message
    assert cause in message.split("Likely cause: ")[1]


def test_message_places_the_worst_entry() -> None:
    def backward(x: Any, g: Any) -> Any:
        wrong = g * 2 * x
        wrong[1, 0] = wrong[1, 0] + 0.5
        return wrong

    with pytest.raises(RuntimeError) as caught:
        ad.autograd.gradcheck(planted(lambda x: x * x, backward), (square(),))
    message = str(caught.value)
    assert "d output[0, 0] / d input[1, 0]" in message
    assert "difference 0.5" in message
    assert "reverse mode" in message


def test_forward_mode_is_named() -> None:
    class Bad(ad.autograd.Function):
        @staticmethod
        def forward(ctx: Any, x: Any) -> Any:
            return x * 2

        @staticmethod
        def backward(ctx: Any, g: Any) -> Any:
            return g * 2

        @staticmethod
        def jvp(ctx: Any, t: Any) -> Any:
            return t * 3

    with pytest.raises(RuntimeError, match="forward mode mismatch") as caught:
        ad.autograd.gradcheck(Bad.apply, (real(1.0, 2.0),), check_forward_ad=True)
    assert "the jvp gives 1.5 times" in str(caught.value)
