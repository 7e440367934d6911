"""Random programs of views and writes in place: every transform gives what plain reverse mode gives, and that differences confirm."""

from __future__ import annotations

import random
from collections.abc import Callable
from typing import Any

import pytest

import adjoint as ad
from adjoint import func, vmap
from adjoint.autograd import forward_ad

VIEWS: dict[str, Callable[[Any], Any]] = {
    "row": lambda t: t[0],
    "columns": lambda t: t[..., 1:],
    "transpose": lambda t: t.transpose(0, -1),
    "flat": lambda t: t.reshape(-1),
    "unsqueeze": lambda t: t.unsqueeze(0),
    "step": lambda t: t[..., ::2],
    "diagonal": lambda t: t.diagonal() if t.dim() > 1 else t[:1],
    "last": lambda t: t[..., -1],
    "narrow": lambda t: t.narrow(0, 0, 1),
}
NEW: dict[str, Callable[[Any, Any], Any]] = {
    "sin": lambda t, u: t.sin(),
    "double": lambda t, u: t * 2,
    "product": lambda t, u: t * (u if u.shape == t.shape else u.sum()),
}
WRITES: dict[str, Callable[[Any, Any], Any]] = {
    "mul_": lambda t, u: t.mul_(1.25),
    "sin_": lambda t, u: t.sin_(),
    "neg_": lambda t, u: t.neg_(),
    "square_": lambda t, u: t.pow_(2),
    "add_": lambda t, u: t.add_(u * 1.0 if u.shape == t.shape else u.mean()),
    "copy_": lambda t, u: t.copy_(u * 1.0 if u.shape == t.shape else u.mean()),
    "clamp_": lambda t, u: t.clamp_(-0.5, 0.8),
    "zero_": lambda t, u: t.zero_(),
    "setitem": lambda t, u: t.__setitem__(-1, u.mean()) if t.dim() else t.fill_(0.5),
}


def program(number: int) -> Callable[[Any], Any]:
    """A scalar function that makes tensors out of earlier ones, writes into some, and weighs a few of them."""
    choose = random.Random(number)
    steps, count = [], 1
    for _ in range(choose.randint(3, 9)):
        kind = choose.choice((VIEWS, WRITES, WRITES, NEW))
        steps.append((kind, choose.choice(list(kind)), choose.randrange(count), choose.randrange(count)))
        count += kind is not WRITES
    results = [choose.randrange(count) for _ in range(2)]

    def run(x: Any) -> Any:
        made = [x.clone()]
        for kind, name, i, j in steps:
            t = made[i]
            if kind is VIEWS:
                made.append(VIEWS[name](t) if t.dim() and t.shape[-1] > 1 else t.unsqueeze(-1))
            elif kind is NEW:
                made.append(NEW[name](t, made[j]))
            else:
                WRITES[name](t, made[j])
        return sum((made[k] * ad.arange(1, made[k].numel() + 1, dtype=x.dtype).reshape(made[k].shape)).sum() for k in results)

    return run


def close(a: Any, b: Any, tolerance: float = 1e-9) -> bool:
    return bool(ad.allclose(a, b, rtol=tolerance, atol=tolerance))


@pytest.mark.parametrize("number", range(80))
def test_transforms_agree(number: int) -> None:
    f = program(number)
    choose = random.Random(-number)
    x, t = (ad.tensor([[choose.uniform(-1, 1) for _ in range(3)] for _ in range(2)], dtype=ad.float64) for _ in range(2))
    leaf = x.clone().requires_grad_()
    try:
        (expected,) = ad.autograd.grad(f(leaf), leaf, materialize_grads=True)
    except RuntimeError as error:
        assert "modified by an inplace operation" in str(error)  # the program overwrites what it needs
        return
    step = 1e-6
    assert abs(((f(x + step * t) - f(x - step * t)) / (2 * step) - (expected * t).sum()).item()) < 1e-6
    along = (expected * t).sum()
    with forward_ad.dual_level():
        tangent = forward_ad.unpack_dual(f(forward_ad.make_dual(x, t))).tangent
    assert close(along, ad.zeros((), dtype=ad.float64) if tangent is None else tangent)
    assert close(func.grad(f)(x), expected) and close(func.jacrev(f)(x), expected) and close(func.jacfwd(f)(x), expected)
    assert close(func.jvp(f, (x,), (t,))[1], along)
    both = ad.stack([x, x])
    assert close(vmap(f)(both)[1], f(x)) and close(vmap(func.grad(f))(both)[1], expected)
    assert close(vmap(lambda x: func.jvp(f, (x,), (t,))[1])(both)[0], along)
