"""Actions at levels: vmap, forward mode, functional transforms in each other, and tensors that leave them."""

from __future__ import annotations

import random
from typing import Any

import adjoint as ad
from adjoint import func
from adjoint.autograd import forward_ad

from .pool import State, action


def body(s: State, r: random.Random) -> Any:
    """A function of tensors made of a few actions, which may put what it gets where it outlives its level."""
    own = s.later(r)

    def f(*given: Any) -> Any:
        x = given[0]
        if own.random() < 0.3:
            s.put(x, own)
        if own.random() < 0.4:
            s.inner(own, 2)
        how = own.randrange(9)
        y = (
            lambda: x * 2,
            lambda: x.sin(),
            lambda: x * s.partner(own, x),
            lambda: s.pick(own),
            lambda: x.mul_(2),
            lambda: x[0],
            lambda: given[-1] @ x,
            lambda: s.pick(own).mul_(x),
            lambda: x.view(-1),
        )[how]()
        return y.sum() if own.random() < 0.6 else y

    return f


@action(12)
def transforms(s: State, r: random.Random) -> Any:
    x, f = s.floating(r), body(s, r)
    for _ in range(r.randint(0, 2)):
        f = r.choice(
            (
                func.grad,
                ad.vmap,
                func.jacrev,
                func.jacfwd,
                func.hessian,
                func.functionalize,
                lambda f: func.grad_and_value(f),
                lambda f: ad.vmap(f, in_dims=-1, out_dims=r.choice((0, -1, None))),
            )
        )(f)
    ways = (lambda: f(x), lambda: func.jvp(f, (x,), (s.partner(r, x),)), lambda: func.vjp(f, x)[0], lambda: vjp_later(s, r, f, x), lambda: func.linearize(f, x),
            lambda: ad.vmap(f, in_dims=(0, None), randomness="different")(x, s.pick(r)), lambda: ad.autograd.functional.hessian(f, x), lambda: ad.autograd.functional.jvp(f, x, x),
            lambda: ad.vmap(f, chunk_size=1)(x), lambda: ad.autograd.functional.jacobian(f, x, vectorize=r.random() < 0.5, create_graph=True), lambda: func.hessian(f)(x))  # fmt: skip
    return r.choice(ways)()


def vjp_later(s: State, r: random.Random, f: Any, x: Any) -> Any:
    y, pull = func.vjp(f, x)
    s.keep(lambda: pull(ad.ones_like(y)), r)
    return pull(s.partner(r, y))


@action(8)
def duals(s: State, r: random.Random) -> Any:
    with forward_ad.dual_level():
        for _ in range(r.randint(1, 3)):
            t = s.floating(r)
            dual = forward_ad.make_dual(t, s.partner(r, t) if r.random() < 0.5 else ad.ones_like(t))
            s.put(dual, r)
        s.inner(r, 6)
        parts = forward_ad.unpack_dual(s.floating(r))
        if r.random() < 0.3:
            parts.tangent.mul_(2)
    return tuple(parts)


@action(2)
def unbalanced_levels(s: State, r: random.Random) -> None:
    level = forward_ad.enter_dual_level()
    try:
        s.inner(r, 3)
    finally:
        forward_ad.exit_dual_level(level=r.choice((level, None))) if r.random() < 0.9 else forward_ad.exit_dual_level(
            level=level + 1
        )


@action(3)
def in_a_level(s: State, r: random.Random) -> Any:
    """Whole actions under vmap, on tensors that know of no level and on some that do."""
    own = s.later(r)

    def f(x: Any) -> Any:
        s.put(x, own)
        s.inner(own, 6)
        return s.pick(own)

    x = s.floating(r)
    return r.choice(
        (
            lambda: ad.vmap(f)(x),
            lambda: func.grad(lambda x: f(x).sum())(x),
            lambda: func.jvp(f, (x,), (x,)),
            lambda: ad.vmap(ad.vmap(f))(x),
        )
    )()


@action(3)
def a_module(s: State, r: random.Random) -> Any:
    layer = r.choice(
        (ad.nn.Linear(3, 3), ad.nn.BatchNorm1d(3), ad.nn.LSTM(3, 2), ad.nn.Sequential(ad.nn.Linear(3, 2), ad.nn.ReLU()))
    )
    p = next(layer.parameters())
    ways = (lambda: setattr(p, "data", s.pick(r)), lambda: ad.nn.utils.parametrizations.weight_norm(layer), lambda: layer.double(), lambda: layer.to("meta"), lambda: s.put(p, r),
            lambda: layer.load_state_dict({k: s.pick(r) for k in layer.state_dict()}), lambda: func.functional_call(layer, {"weight": s.pick(r)}, s.floating(r)))  # fmt: skip
    if r.random() < 0.6:
        s.put(r.choice(ways)(), r)
    return layer(s.floating(r))


@action(3)
def a_step(s: State, r: random.Random) -> None:
    make = r.choice((ad.optim.SGD, ad.optim.Adam, ad.optim.RMSprop, ad.optim.AdamW))
    optimizer = make([t for t in s.tensors if t.is_leaf and t.requires_grad][:3], lr=0.1)
    for _ in range(2):
        optimizer.step()
        s.inner(r, 2)
    r.choice((lambda: optimizer.zero_grad(), lambda: optimizer.load_state_dict(optimizer.state_dict())))()
